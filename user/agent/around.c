// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The bytes at a point: whose they are, and which of them belong to other points, before it or
 * beside it.
 */
#include "around.h"
#include "point.h"
#include "detour.h"
#include "displace.h"
#include "module.h"

#include <string.h>

#include "user/lib/text.h"

#define JMP		0xe9

/*
 * True if its code has copies of it. Another file's may begin as it does: an instruction has more
 * bytes than a jump.
 */
static bool is_copied(const struct jf_point *t, const struct jf_detour *d)
{
	return jf_module_shows(t->at, d->nr_insn + JF_TEXT_MAX) && !memcmp((const void *)t->at, d->insn, d->nr_insn);
}

bool jf_point_fits(const struct jf_point *t, const struct jf_detour *d)
{
	const struct jf_text_poke *poke = &d->poke;
	uint32_t rel = (uint32_t)(jf_detour_lead(d) - (t->at + JF_TEXT_MAX));
	uint8_t jump[JF_TEXT_MAX];

	if (!is_copied(t, d) || memcmp((const void *)t->at, poke->old, poke->num))
		return false;
	if (poke->new[0] != JMP)
		return true;
	memcpy(jump, (const void *)t->at, sizeof(jump));
	memcpy(jump, poke->new, poke->num);
	return !memcmp(jump + 1, &rel, sizeof(rel));
}

/* The bytes of its file there, with those that other points have written. */
static unsigned int find_text(const struct jf_point *t, uint8_t *text)
{
	const struct jf_point *n;
	int i, k;

	memcpy(text, t->text, t->nr_text);
	for (i = 1 - JF_TEXT_MAX; i < t->nr_text; i++) {
		n = i ? jf_point_at(t->at + (uintptr_t)(intptr_t)i) : NULL;
		for (k = 0; n && n->led && k < n->detour.poke.num; k++)
			if (i + k >= 0 && i + k < t->nr_text && n->detour.poke.new[k] != n->detour.poke.old[k])
				text[i + k] = n->detour.poke.new[k];
	}
	return t->nr_text;
}

const char *jf_point_changed(const struct jf_point *t)
{
	const uint8_t *now = (const uint8_t *)t->at;
	uint8_t text[JF_TEXT_MAX];
	unsigned int i, num = find_text(t, text);

	if (!jf_module_shows(t->at, num))
		return "its text cannot be read";
	if (!memcmp(now, text, num))
		return NULL;
	for (i = 0; i < num; i++)
		if (now[i] == 0xcc && text[i] != 0xcc)
			return "another's breakpoint";
	return "other bytes than its file has";
}

/**
 * jf_point_stands() - does the text of a point lead to its code, as it was written
 * @t: which
 *
 * A breakpoint that a debugger or a uprobe has set since does not count.
 */
bool jf_point_stands(const struct jf_point *t)
{
	const uint8_t *now = (const uint8_t *)t->at;
	unsigned int i;

	if (!jf_module_shows(t->at, t->detour.poke.num))
		return false;
	for (i = 0; i < t->detour.poke.num; i++)
		if (now[i] != t->detour.poke.new[i] && now[i] != 0xcc)
			return false;
	return true;
}

/**
 * jf_point_is_ours() - true if the text there shows that the agent has written it
 * @t: which, that stands
 *
 * A breakpoint does not: the kernel sets one for a uprobe wherever its file is mapped anew.
 */
bool jf_point_is_ours(const struct jf_point *t)
{
	const struct jf_text_poke *poke = &t->detour.poke;
	const uint8_t *now = (const uint8_t *)t->at;
	unsigned int i;

	for (i = 0; i < poke->num; i++)
		if (now[i] == poke->new[i] && now[i] != poke->old[i] && now[i] != 0xcc)
			return true;
	return false;
}

/**
 * jf_point_restored() - true if another patcher has put back the bytes of the file
 * @t: which, that was led and does not stand
 *
 * Return: true: it is led no more
 */
bool jf_point_restored(struct jf_point *t)
{
	if (t->nr_text < t->detour.poke.num)
		return false;
	t->led = false;
	if (!jf_point_changed(t))
		return true;
	t->led = true;
	return false;
}

/**
 * jf_point_keep() - it will be forgotten, and something is mapped where it was
 * @t: which
 *
 * Text that is neither ours nor its file's is another patcher's, which may execute the text
 * that it found there, a jump of ours, in a copy, or write it back.
 */
void jf_point_keep(struct jf_point *t)
{
	t->kept = t->led && jf_point_changed(t);
}

bool jf_point_covered(uintptr_t at)
{
	const struct jf_point *t;
	unsigned int i;

	for (i = 1; i < JF_TEXT_MAX; i++) {
		t = jf_point_at(at - i);
		if (t && (t->led || t->planned) && t->detour.way != JF_WAY_BREAK)
			return true;
	}
	return false;
}

/* True if an instruction of @t ends at the begin of @to. */
static bool leads_to(const struct jf_point *t, const struct jf_point *to)
{
	struct jf_code none = { NULL, 0, 0, t->at };
	struct jf_moved moved;
	size_t n = 0;

	while (t->at + n < to->at && n < t->nr_text) {
		if (jf_displace(&none, t->text + n, t->nr_text - n, t->at + n, &moved) == -EILSEQ)
			return false;
		n += moved.len;
	}
	return t->at + n == to->at;
}

struct jf_point *jf_point_follower(const struct jf_point *t, unsigned int i)
{
	struct jf_point *n = jf_point_at(t->at + i);

	return n && n->module == t->module && leads_to(t, n) ? n : NULL;
}

unsigned int jf_point_ways(const struct jf_point *t)
{
	unsigned int ways = ~0U, i;

	if (jf_point_covered(t->at))
		return 0;
	for (i = 1; i < JF_TEXT_MAX; i++) {
		const struct jf_point *n = jf_point_at(t->at + i);

		if (!n || !(n->led || n->planned))
			continue;
		/*
		 * The other one's code goes back to where a jump over several instructions would
		 * be.
		 */
		ways &= ~(1U << JF_WAY_SPAN);
		if (n->planned || !jf_point_follower(t, i))
			ways &= 1U << JF_WAY_BREAK;
	}
	return ways;
}
