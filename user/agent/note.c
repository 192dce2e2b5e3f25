// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * USDT notes: section .note.stapsdt, as <sys/sdt.h> makes them.
 *
 *   | length of the owner | of the rest | 3 | "stapsdt" 0 | address | base | semaphore |
 *     provider 0 name 0 arguments 0
 *
 * The base is where the linker had .stapsdt.base; where that is now, all addresses have moved
 * (prelink).
 */
#include "note.h"
#include "elf.h"

#include <string.h>

#define OWNER		"stapsdt"
#define TYPE		3

/* The text at @at, and where the next one begins; NULL: it does not end. */
static const char *text(const uint8_t *data, size_t size, size_t *at)
{
	const uint8_t *start = data + *at, *end;

	if (*at >= size)
		return NULL;
	end = (const uint8_t *)memchr(start, 0, size - *at);
	if (!end)
		return NULL;
	*at = (size_t)(end - data) + 1;
	return (const char *)start;
}

static bool take(const uint8_t *desc, size_t size, uint64_t base, struct jf_note *n)
{
	uint64_t words[3];
	size_t at = sizeof(words);

	if (size < at)
		return false;
	memcpy(words, desc, sizeof(words));
	n->pc = words[0];
	n->semaphore = words[2];
	if (base) {
		n->pc += base - words[1];
		if (n->semaphore)
			n->semaphore += base - words[1];
	}
	n->provider = text(desc, size, &at);
	n->name = n->provider ? text(desc, size, &at) : NULL;
	n->args = n->name ? text(desc, size, &at) : NULL;
	return n->args && *n->provider && *n->name;
}

/**
 * jf_notes() - all USDT notes of a section
 * @notes: the section
 * @base:  address of .stapsdt.base, or 0
 * @fn:    is called for each; ends it by another value than 0
 * @arg:   its last argument
 *
 * Other notes are passed over, a broken one ends it.
 *
 * Return: 0, what @fn returned, or -EINVAL
 */
int jf_notes(const struct jf_section *notes, uint64_t base, jf_note_fn *fn, void *arg)
{
	size_t at = 0, left;
	uint32_t head[3];
	int ret = 0;

	while (!ret && notes->size - at >= sizeof(head)) {
		const uint8_t *owner = notes->data + at + sizeof(head), *desc;
		uint64_t owner_size, size;
		struct jf_note n;

		memcpy(head, notes->data + at, sizeof(head));
		left = notes->size - at - sizeof(head);
		owner_size = ((uint64_t)head[0] + 3) & ~UINT64_C(3);
		size = ((uint64_t)head[1] + 3) & ~UINT64_C(3);
		if (owner_size > left || head[1] > left - owner_size)
			return -EINVAL;
		desc = owner + owner_size;
		if (head[2] == TYPE && head[0] == sizeof(OWNER) && !memcmp(owner, OWNER, sizeof(OWNER)) &&
		    take(desc, head[1], base, &n))
			ret = fn(&n, arg);
		/* The last one may end without its padding. */
		if (size > left - owner_size)
			break;
		at += sizeof(head) + owner_size + size;
	}
	return ret;
}
