// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * common/x86/protocol.h with guards that are no breakpoints, in a world that looks at each
 * step. A CPU that fetches may get each byte with any value that it had since the
 * last sync; the result has to be the old instruction, the new one, or a guard, at any time.
 *
 * usage: test_guard
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tap.h"
#include "common/x86/insn.h"

#define SITES	3
#define AT	0x1000ULL
#define NEVER	99

struct jf_poke {
	unsigned int	at;
	jf_insn_t	old, new;
	uint8_t		guard;
};

/* Which byte the guard stands in for. */
static int head_of(const struct jf_poke *p)
{
	return jf_insn_byte(p->old, 0) == JF_OPCODE_CALL ? JF_INSN_SIZE - 1 : 0;
}

static uint8_t text[SITES][JF_INSN_SIZE];
/* The values of each byte since the last sync; up to four values. */
static struct {
	uint8_t value[4];
	unsigned int nr;
} seen[SITES][JF_INSN_SIZE];
static jf_insn_t words[SITES];
static unsigned int syncs, swaps, foreign_at;
static const struct jf_poke *batch;
static unsigned int batch_nr;

static bool had(unsigned int s, int b, uint8_t value)
{
	unsigned int i;

	for (i = 0; i < seen[s][b].nr; i++)
		if (seen[s][b].value[i] == value)
			return true;
	return false;
}

static bool only(unsigned int s, int b, uint8_t value)
{
	return had(s, b, value) && seen[s][b].nr == 1;
}

static bool tail_is(const struct jf_poke *p, jf_insn_t insn)
{
	int b;

	for (b = 0; b < JF_INSN_SIZE; b++)
		if (b != head_of(p) && !only(p->at, b, jf_insn_byte(insn, b)))
			return false;
	return true;
}

static bool is_flip(const struct jf_poke *p)
{
	return p->guard != JF_OPCODE_INT3 && (head_of(p) ? (uint32_t)p->old == (uint32_t)p->new : p->old >> 8 == p->new >> 8);
}

static void put(unsigned int s, int b, uint8_t value)
{
	text[s][b] = value;
	if (!had(s, b, value) && seen[s][b].nr < 4)
		seen[s][b].value[seen[s][b].nr++] = value;
}

/* A branch that will fall through: it has a guard that does so. */
static bool is_late(const struct jf_poke *p)
{
	return p->guard != JF_OPCODE_INT3 && p->new == JF_INSN_NOP5;
}

/* The possible results of a CPU that fetches this site now. */
static void look(const struct jf_poke *p)
{
	unsigned int i, s = p->at;

	/* The opcode of a call is one at all times. */
	if (head_of(p))
		CHECK(only(s, 0, jf_insn_byte(p->old, 0)), "another opcode at %u", s);
	for (i = 0; i < seen[s][head_of(p)].nr; i++) {
		uint8_t head = seen[s][head_of(p)].value[i];

		if (head == JF_OPCODE_INT3 && foreign_at == s)
			continue;
		if (head == p->guard && !is_flip(p)) {
			CHECK(!is_late(p) || jf_insn_byte(p->old, head_of(p)) == p->guard ||
			      words[s] == p->new, "new, and it can fail, at %u", s);
			continue;
		}
		if (head == jf_insn_byte(p->old, head_of(p)) && tail_is(p, p->old)) {
			CHECK(is_flip(p) || is_late(p) || words[s] == p->old,
			      "old after new at %u", s);
			continue;
		}
		CHECK(head == jf_insn_byte(p->new, head_of(p)) && tail_is(p, p->new),
		      "%#x and a mixture at %u", head, s);
		CHECK(words[s] == p->new, "new, and the word is old, at %u", s);
	}
}

static void look_at_all(void)
{
	unsigned int i;

	for (i = 0; i < batch_nr; i++)
		look(&batch[i]);
}

static bool unplanted;

/* --- the world ---------------------------------------------------------------- */

static inline jf_insn_t jf_world_load(const struct jf_poke *p)
{
	return jf_insn_load(text[p->at]);
}

static inline void jf_world_store(const struct jf_poke *p, int i, uint8_t byte)
{
	put(p->at, i, byte);
	look_at_all();
}

static inline bool jf_world_swap(const struct jf_poke *p, uint8_t from, uint8_t to)
{
	if (swaps++ == foreign_at)
		text[p->at][head_of(p)] = JF_OPCODE_INT3;
	if (text[p->at][head_of(p)] != from)
		return false;
	put(p->at, head_of(p), to);
	look_at_all();
	return true;
}

static inline void jf_world_publish(const struct jf_poke *p)
{
	words[p->at] = p->new;
	look_at_all();
}

static inline void jf_world_sync(void)
{
	unsigned int s;
	int b;

	for (s = 0; s < SITES; s++)
		for (b = 0; b < JF_INSN_SIZE; b++) {
			seen[s][b].value[0] = text[s][b];
			seen[s][b].nr = 1;
		}
	syncs++;
	look_at_all();
}

#define jf_world_guard(p)	((p)->guard)
#define jf_world_head(p)	head_of(p)
#define jf_world_planted()	(!unplanted)

#include "common/x86/protocol.h"

/* --- tests -------------------------------------------------------------------- */

static void begin(const struct jf_poke *pokes, unsigned int nr)
{
	unsigned int i;

	batch = pokes;
	batch_nr = 0;
	for (i = 0; i < nr; i++) {
		jf_insn_store(text[pokes[i].at], pokes[i].old);
		words[pokes[i].at] = pokes[i].old;
	}
	jf_world_sync();
	batch_nr = nr;
	syncs = 0;
	swaps = 0;
	foreign_at = NEVER;
}

static jf_insn_t jmp(unsigned int to)
{
	jf_insn_t insn = 0;

	must(jf_insn_jmp(&insn, AT, AT + to), "a jump");
	return insn;
}

static jf_insn_t call(unsigned int distance)
{
	return JF_OPCODE_CALL | (jf_insn_t)distance << 8;
}

static void run(const char *name, const struct jf_poke *pokes, unsigned int nr,
		unsigned int want)
{
	unsigned int i;

	begin(pokes, nr);
	CHECK(jf_proto_live(pokes, nr) == 0, "it failed");
	CHECK(syncs == want, "%u syncs instead of %u", syncs, want);
	for (i = 0; i < nr; i++)
		CHECK(jf_insn_load(text[pokes[i].at]) == pokes[i].new &&
		      words[pokes[i].at] == pokes[i].new, "site %u in the end", i);
	finish(name);
}

/* The guard of the second site meets a byte that another writer stored. */
static void refused(const struct jf_poke *pokes, unsigned int nr, unsigned int at)
{
	unsigned int i;

	begin(pokes, nr);
	foreign_at = at;
	CHECK(jf_proto_live(pokes, nr) == -EBUSY, "it did not fail");
	CHECK(syncs == 1, "%u syncs", syncs);
	for (i = 0; i < nr; i++) {
		bool foreign = text[pokes[i].at][head_of(&pokes[i])] == JF_OPCODE_INT3;

		CHECK(foreign == (pokes[i].at == at), "an INT3 at %u", i);
		CHECK(foreign || jf_insn_load(text[pokes[i].at]) == pokes[i].old,
		      "site %u has changed", i);
		CHECK(words[pokes[i].at] == pokes[i].old, "word %u has changed", i);
	}
	finish("another writer's byte: all sites are as before");
}

/* All guards are where they should be, but for those that the world knows. */
static void undone(const struct jf_poke *pokes, unsigned int nr)
{
	unsigned int i;

	begin(pokes, nr);
	unplanted = true;
	CHECK(jf_proto_live(pokes, nr) == -EIO, "it did not fail");
	unplanted = false;
	CHECK(syncs == 2, "%u syncs", syncs);
	for (i = 0; i < nr; i++)
		CHECK(jf_insn_load(text[pokes[i].at]) == pokes[i].old &&
		      words[pokes[i].at] == pokes[i].old, "site %u has changed", i);
	finish("guards that could not be set: all sites are as before");
}

/* A site without a guard is not written, and may be another writer's byte by now. */
static void spared(const struct jf_poke *pokes, unsigned int nr, unsigned int at)
{
	begin(pokes, nr);
	foreign_at = at;
	put(at, 0, JF_OPCODE_INT3);
	swaps = NEVER + 1;
	unplanted = true;
	CHECK(jf_proto_live(pokes, nr) == -EIO, "it did not fail");
	unplanted = false;
	CHECK(text[at][0] == JF_OPCODE_INT3, "it was overwritten");
	finish("guards that could not be set: what had none is not written");
}

/* From each place at which it may have stopped. */
static void finished(const struct jf_poke *pokes, unsigned int nr)
{
	unsigned int at, i, late = 0;

	for (i = 0; i < nr; i++)
		late |= is_late(&pokes[i]);
	for (at = 0; at < 4; at++) {
		begin(pokes, nr);
		CHECK(jf_proto_plant(pokes, nr) == 0, "it failed");
		jf_world_sync();
		jf_proto_publish(pokes, nr);
		if (jf_proto_late_guards(pokes, nr))
			jf_world_sync();
		/* Half of the tails, all, half of the heads, all. */
		jf_proto_tails(pokes, at ? nr : nr / 2);
		if (at > 1) {
			jf_world_sync();
			jf_proto_heads(pokes, at > 2 ? nr : nr / 2);
		}
		syncs = 0;
		jf_proto_finish(pokes, nr);
		CHECK(syncs == 2 + late, "%u syncs", syncs);
		for (i = 0; i < nr; i++)
			CHECK(jf_insn_load(text[pokes[i].at]) == pokes[i].new,
			      "site %u in the end", i);
	}
	finish("what stopped half way is finished from there");
}

static void calls_in_place(jf_insn_t a, jf_insn_t b)
{
	/* From the trampoline to two targets, and back; the last byte alone; beside other kinds. */
	jf_insn_t t = call(0x00001234), x = call(0xfff0a1b2), y = call(0x00345678), far = call(0x01001234);
	const struct jf_poke calls[] = { { 0, t, x, 0xfd }, { 1, x, y, 0xfd }, { 2, y, t, 0xfa } };
	const struct jf_poke last_byte[] = { { 0, t, far, 0xfd } };
	const struct jf_poke beside[] = {
		{ 0, a, b, JF_OPCODE_TEST }, { 1, t, x, 0xfd }, { 2, b, JF_INSN_NOP5, JF_OPCODE_TEST },
	};
	/* One that a change left with its guard. */
	const struct jf_poke again[] = { { 0, (t & 0xffffffff) | 0xfdULL << 32, x, 0xfd } };

	run("calls", calls, 3, 3);
	run("a call of which the last byte changes: one sync", last_byte, 1, 1);
	run("a call beside a trampoline and a branch", beside, 3, 4);
	run("a call with a guard that was left", again, 1, 3);
	refused(calls, 3, 1);
	undone(calls, 3);
	finished(calls, 3);
	finished(beside, 3);
}

int main(void)
{
	const uint8_t test = JF_OPCODE_TEST, int3 = JF_OPCODE_INT3;
	jf_insn_t a = jmp(0x12345678), b = jmp(0x7654321f), c = jmp(0x11111111);
	jf_insn_t skip_a = jf_insn_skip_of(a), skip_b = jf_insn_skip_of(b), skip;
	const struct jf_poke jumps[] = { { 0, a, b, test }, { 1, b, c, test }, { 2, c, a, test } };
	const struct jf_poke on[] = { { 0, skip_a, a, test }, { 1, b, skip_b, test } };
	const struct jf_poke grows[] = { { 0, skip_a, b, test } };
	const struct jf_poke all[] = { { 0, skip_a, a, test }, { 1, a, b, test }, { 2, c, a, int3 } };
	const struct jf_poke off[] = { { 0, a, skip_a, test }, { 1, a, b, test } };
	const struct jf_poke equal[] = { { 0, skip_a, a, int3 } };
	const jf_insn_t nop = JF_INSN_NOP5;
	const struct jf_poke branches_on[] = { { 0, nop, a, test }, { 1, nop, b, test } };
	const struct jf_poke branches_off[] = { { 0, a, nop, test }, { 1, b, nop, test } };
	const struct jf_poke both[] = { { 0, nop, a, test }, { 1, b, nop, test }, { 2, c, a, test } };
	const struct jf_poke mixed[] = { { 0, a, nop, test }, { 1, b, c, test }, { 2, skip_a, nop, test } };
	const struct jf_poke nops[] = { { 0, a, nop, int3 }, { 1, nop, b, int3 } };

	CHECK(!jf_insn_skip(&skip, AT, AT + 0x12345678) && skip == skip_a, "jf_insn_skip()");
	finish("the two ways to encode a skip");
	run("jumps after a guard", jumps, 3, 3);
	run("flips: one sync", on, 2, 1);
	run("a flip that gets another operand first", grows, 1, 3);
	run("flips, guards and INT3s in one batch", all, 3, 3);
	run("a flip that must wait for the guards of others", off, 2, 3);
	run("INT3: also where one byte differs", equal, 1, 3);
	run("branches, from nop to jump", branches_on, 2, 3);
	run("branches, from jump to nop", branches_off, 2, 3);
	run("branches both ways beside a trampoline", both, 3, 4);
	run("branches to a nop, one from a guard that was left", mixed, 3, 4);
	run("INT3: branches both ways", nops, 2, 3);
	calls_in_place(a, b);
	refused(jumps, 3, 1);
	refused(branches_on, 2, 1);
	undone(jumps, 3);
	undone(all, 3);
	undone(both, 3);
	undone(branches_on, 2);
	spared(both, 3, 1);
	finished(jumps, 3);
	finished(branches_on, 2);
	finished(branches_off, 2);
	finished(both, 3);
	return tap_end();
}
