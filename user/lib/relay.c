// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Relays: the code for calls that change in place without breakpoints.
 *
 * A call is five bytes: an opcode, which stays, and a distance of four bytes. A write of text is
 * sure to be one store only if it is one byte. So bytes change one by one, and each mixture of the
 * old distance and the new one has to lead to some code. That code is a relay: one jump through the
 * pointer of the function, like the one in the trampoline. The protocol is the one of
 * common/x86/protocol.h. Its head is the last byte of the call. Its guard is a value of this byte
 * that leads some ten MiB away, to free memory:
 *
 *	bytes at a site		 where a call leads
 *	E8 O1 O2 O3 O4		 the old target
 *   1	E8 O1 O2 O3 GG		 the old target, or a relay
 *	sync, pointer = new
 *   2	E8 N1 N2 N3 GG		 a relay: one of eight, by which of three bytes are new
 *	sync
 *   3	E8 N1 N2 N3 N4		 a relay, or the new target
 *	sync
 *
 * The way back has the same mixtures, and so the same relays. A call in place can therefore go back
 * to the trampoline at any time, and needs no memory for that. If the relays of a change cannot be
 * had, since other memory is in the way, a call goes by the trampoline.
 *
 * A thread may stand at a relay for any time. So relays stay as they are until their object is
 * gone. Two functions that want the same address do not share it: the second one is refused.
 *
 * The heap (brk()) and the first thread's stack grow until they come upon a mapping. No page is in
 * their way. A program that is not PIE has memory for relays nowhere else, so its calls go by the
 * trampoline.
 *
 * No memory is writable and executable at once. The bytes of a page are noted in ordinary memory,
 * and the writer of text writes them at the begin of a transaction.
 */
#include "lib.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES	4096
/* jmp *distance(%rip) */
#define RELAY_SIZE	6
/* So many pages an object has at most, 4 MiB; or as many as its text. */
#ifndef RELAY_PAGES
#define RELAY_PAGES	1024
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE	0x100000
#endif

/**
 * struct jf_relays - a page of relays
 * @addr:  where it is
 * @begin: the first byte that is not written yet
 * @end:   after the last one; not above @begin: all are written
 * @used:  a bit for each byte that belongs to a relay
 * @bytes: the page as it is, or will be
 */
struct jf_relays {
	uintptr_t	addr;
	size_t		begin, end;
	uint8_t		used[PAGE_BYTES / 8];
	uint8_t		bytes[PAGE_BYTES];
};

/* Some page has something that is not written. */
static bool unwritten;

/* Where the page at @addr is in the list, or would be. */
static size_t position(const struct jf_mod *m, uintptr_t addr)
{
	size_t low = 0, high = m->num_relays;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->relays[mid]->addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct jf_relays *find(const struct jf_mod *m, uintptr_t addr)
{
	uintptr_t page = addr & ~(uintptr_t)(PAGE_BYTES - 1);
	size_t at = position(m, page);

	return at < m->num_relays && m->relays[at]->addr == page ? m->relays[at] : NULL;
}

static bool make_room(struct jf_mod *m)
{
	struct jf_relays **more;
	size_t max = m->max_relays ? m->max_relays * 2 : 16, text = (m->text_end - m->text) / PAGE_BYTES;

	if (m->num_relays < m->max_relays)
		return true;
	more = m->num_relays < (text > RELAY_PAGES ? text : RELAY_PAGES) ? jf_realloc(m->relays, max * sizeof(*more)) : NULL;
	if (!more)
		return false;
	m->relays = more;
	m->max_relays = max;
	return true;
}

/* A filter or a policy lets nothing become executable: it is not asked for each call again. */
static bool denied;

/* Nothing of others is there, also on kernels that take the address for a wish. */
static bool map_page(uintptr_t page)
{
	void *p;

	if (denied || jf_is_heap(page, PAGE_BYTES) || jf_is_below_stack(page))
		return false;
	p = mmap((void *)page, PAGE_BYTES, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	/* Lower addresses are refused to all. */
	if (p == MAP_FAILED && page >= 1UL << 20)
		denied |= errno == EPERM || errno == EACCES;
	if (p != MAP_FAILED && p != (void *)page)
		munmap(p, PAGE_BYTES);
	return p == (void *)page;
}

static struct jf_relays *add_page(struct jf_mod *m, uintptr_t page)
{
	struct jf_relays *r = make_room(m) ? jf_zalloc(sizeof(*r)) : NULL;
	size_t at = position(m, page);

	if (!r || !map_page(page)) {
		jf_free(r);
		return NULL;
	}
	r->addr = page;
	r->begin = PAGE_BYTES;
	memmove(m->relays + at + 1, m->relays + at, (m->num_relays - at) * sizeof(*m->relays));
	m->relays[at] = r;
	m->num_relays++;
	return r;
}

/* The jump at @addr. False: it does not reach its pointer. */
static bool encode(uint8_t *code, uintptr_t addr, uintptr_t pointer)
{
	int64_t distance = (int64_t)(pointer - (addr + RELAY_SIZE));
	int32_t field = (int32_t)distance;

	code[0] = 0xff;
	code[1] = 0x25;
	memcpy(code + 2, &field, sizeof(field));
	return distance == field;
}

static bool is_used(const struct jf_relays *r, size_t at)
{
	return r->used[at / 8] & 1 << at % 8;
}

/* True if the byte at @addr belongs to no relay, or (@same) is @byte already. */
static bool fits(struct jf_mod *m, uintptr_t addr, uint8_t byte, bool *same)
{
	struct jf_relays *r = find(m, addr);
	size_t at = addr % PAGE_BYTES;

	if (!r)
		r = add_page(m, addr - at);
	if (!r)
		return false;
	*same &= is_used(r, at) && r->bytes[at] == byte;
	return *same || !is_used(r, at);
}

static void note(struct jf_mod *m, uintptr_t addr, uint8_t byte)
{
	struct jf_relays *r = find(m, addr);
	size_t at = addr % PAGE_BYTES;

	r->bytes[at] = byte;
	r->used[at / 8] |= (uint8_t)(1 << at % 8);
}

/* The noted relay at @addr will be written, or (not @keep) its room is free: no call uses it. */
static void settle(struct jf_mod *m, uintptr_t addr, bool keep)
{
	size_t i;

	for (i = 0; i < RELAY_SIZE; i++) {
		struct jf_relays *r = find(m, addr + i);
		size_t at = (addr + i) % PAGE_BYTES;

		if (!keep) {
			r->used[at / 8] &= (uint8_t)~(1 << at % 8);
			continue;
		}
		if (at < r->begin)
			r->begin = at;
		if (at >= r->end)
			r->end = at + 1;
	}
	unwritten |= keep;
}

/* One at @addr, that jumps through @pointer: there is one, or there is room for it (*@added). */
static bool add_relay(struct jf_mod *m, uintptr_t addr, uintptr_t pointer, bool *added)
{
	const struct jf_relays *r = find(m, addr);
	size_t at = addr % PAGE_BYTES, i;
	uint8_t code[RELAY_SIZE];
	bool same = true;

	*added = false;
	if (!encode(code, addr, pointer))
		return false;
	/* Mostly, since each call of the function asks for the same ones. */
	if (r && at <= PAGE_BYTES - RELAY_SIZE && is_used(r, at) && !memcmp(r->bytes + at, code, RELAY_SIZE))
		return true;
	for (i = 0; i < RELAY_SIZE; i++) {
		bool before = same;

		if (!fits(m, addr + i, code[i], &same) || (i && before != same))
			return false;
	}
	*added = !same;
	for (i = 0; i < RELAY_SIZE && !same; i++)
		note(m, addr + i, code[i]);
	return true;
}

static bool is_relay(const struct jf_mod *m, uintptr_t addr)
{
	const struct jf_relays *r = find(m, addr);

	return r && is_used(r, addr % PAGE_BYTES);
}

static uintptr_t leads_to(uintptr_t addr, jf_insn_t insn)
{
	return addr + JF_INSN_SIZE + (uintptr_t)(intptr_t)(int32_t)(insn >> 8);
}

/*
 * All that a mixture of @old and @new may lead to, with @guard as the last byte. False: none of
 * them is added, so other functions can have the place.
 */
static bool add_mixtures(const struct jf_site *s, jf_insn_t old, jf_insn_t new, uint8_t guard)
{
	uintptr_t pointer = (uintptr_t)&jf_func_of(s->ctl->ent)->func, added[8];
	size_t num = 0;
	int i, b;

	for (i = 0; i < 8; i++) {
		jf_insn_t mixed = (jf_insn_t)guard << 32;
		bool is_new;

		for (b = 0; b < 3; b++)
			mixed |= ((i & 1 << b ? new : old) >> 8 * (b + 1) & 0xff) << 8 * (b + 1);
		if (!add_relay(s->ctl->mod, leads_to(s->addr, mixed), pointer, &is_new))
			break;
		if (is_new)
			added[num++] = leads_to(s->addr, mixed);
	}
	while (num)
		settle(s->ctl->mod, added[--num], i == 8);
	return i == 8;
}

/*
 * The first guards lie far apart: below an object, then above it, since a program's heap grows
 * above it. All others below follow. Each leads to 16 MiB of its own, so functions that want the
 * same address have many to choose from.
 */
static const uint8_t first_guards[] = { 0xfd, 0xfa, 0xf4, 0xe8, 0xd0, 0xa0, 0x06, 0x0c, 0x18, 0x30, 0x60 };
#define LAST_GUARD	0xfe
#define GUARDS		(sizeof(first_guards) + LAST_GUARD - 0x7f)

static uint8_t guard_number(size_t i)
{
	return i < sizeof(first_guards) ? first_guards[i] : (uint8_t)(LAST_GUARD - (i - sizeof(first_guards)));
}

bool jf_relays_for(struct jf_site *s, jf_insn_t old, jf_insn_t new)
{
	size_t i;

	if (jf_page_size() != PAGE_BYTES)
		return false;
	for (i = 0; i < GUARDS; i++) {
		uint8_t g = guard_number(i);

		/* After a change that stopped half way the old distance may have this guard. */
		if (g == JF_OPCODE_INT3 || g == jf_insn_byte(new, 4) ||
		    (g == jf_insn_byte(old, 4) && !is_relay(s->ctl->mod, leads_to(s->addr, old))))
			continue;
		if (!add_mixtures(s, old, new, g))
			continue;
		s->guard = g;
		return true;
	}
	return false;
}

static int write_page(struct jf_relays *r)
{
	int err = r->begin < r->end ?
		jf_writer_write(r->addr + r->begin, r->bytes + r->begin, r->end - r->begin) : 0;

	if (err)
		return err;
	r->begin = PAGE_BYTES;
	r->end = 0;
	return 0;
}

int jf_relays_write(bool *some)
{
	struct jf_mod *m;
	int err = 0;
	size_t i;

	*some = unwritten;
	if (!unwritten)
		return 0;
	for (m = jf_mods; m; m = m->next)
		for (i = 0; i < m->num_relays && !err; i++)
			err = write_page(m->relays[i]);
	unwritten = err;
	return err;
}

void jf_relays_free(struct jf_mod *m)
{
	while (m->num_relays) {
		struct jf_relays *r = m->relays[--m->num_relays];

		munmap((void *)r->addr, PAGE_BYTES);
		jf_free(r);
	}
	jf_free(m->relays);
}
