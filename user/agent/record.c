// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The code that a thread runs at a probe: the record goes straight into the ring.
 *
 * The thread is anywhere in a program that knows nothing of this, maybe in malloc(), with the
 * dynamic linker's lock, or in a signal handler. So: no register but general ones is used (the
 * Makefile says so to the compiler), since callers may know which ones a function leaves alone; no
 * function of libc is called, for it may be a probe itself; there is no lock.
 *
 * The rare work of the ring, the first record of a thread and the next packet, is done aside
 * (aside.c).
 *
 * The thread may be on a small stack (sigaltstack()): some hundred bytes are all that a record
 * takes of it.
 *
 * Whether a probe is on is read in a read section, which jf_probes_off() waits for.
 */
#include "ring.h"
#include "record.h"
#include "pair.h"
#include "members.h"
#include "memory.h"
#include "chosen.h"
#include "watch.h"
#include "spot.h"
#include "value.h"
#include "own.h"
#include "aside.h"
#include "saved.h"
#include "seccomp.h"

#include <cpuid.h>
#include <string.h>
#include <sys/mman.h>

#include <jumpfunc/record.h>

#include "user/trace/choice.h"
#include "user/trace/pattern.h"

struct jf_spot **jf_spots;
/* Objects have come or gone while another thread had the lock of come.c, or beneath a filter. */
bool jf_look_again;
/* For entry.S: is there the instruction that keeps all registers. */
uint8_t jf_have_xsave JF_HIDDEN;

/* entry.S calls this. */
JF_HIDDEN void jf_agent_record(struct jf_saved *s);

static const struct jf_spot *spots_at(const struct jf_saved *s)
{
	uint32_t number;

	/* After the call: nopl number(%rax). */
	memcpy(&number, (const char *)s->ret + 3, sizeof(number));
	/* Acquire: pairs with jf_point_join(). */
	return __atomic_load_n(&jf_spots[number], __ATOMIC_ACQUIRE);
}

/* Its records, if there are any: a function can be looked at, and not be recorded. */
__attribute__((__noinline__))
static void lose_here(const struct jf_saved *s)
{
	const struct jf_spot *spot;

	/* Acquire: pairs with jf_point_join(). */
	for (spot = spots_at(s); spot; spot = __atomic_load_n(&spot->next, __ATOMIC_ACQUIRE))
		if (!spot->hook && __atomic_load_n(&spot->on, __ATOMIC_RELAXED))
			jf_lose();
}

/* A thread without the C library's variables: of a call it loses one record. */
__attribute__((__noinline__))
static void pass_by(const struct jf_saved *s)
{
	const struct jf_spot *spot;

	/* Acquire: pairs with jf_point_join(). */
	for (spot = spots_at(s); spot; spot = __atomic_load_n(&spot->next, __ATOMIC_ACQUIRE)) {
		if (spot->watch)
			jf_watch_call(spot, s->reg, false);
		if (spot->hook)
			/* Pairs with jf_agent_unlock(): the next command looks. */
			__atomic_store_n(&jf_look_again, true, __ATOMIC_SEQ_CST);
		else if (!spot->exit && __atomic_load_n(&spot->on, __ATOMIC_RELAXED))
			jf_lose();
	}
}

/*
 * By its variables the thread is in the agent. True if it is another thread with the same, and
 * records. A place that it comes by beside that one is counted.
 */
__attribute__((__noinline__))
static bool is_other(const struct jf_saved *s)
{
	enum jf_other other = jf_aside_other((uintptr_t)s);

	if (other == JF_OTHER_RUNS)
		lose_here(s);
	if (other == JF_OTHER_GONE)
		jf_scratch_give();
	return other == JF_OTHER_GONE;
}

/* --- records ----------------------------------------------------------------------- */

static void put_function(uint64_t *to, const struct jf_spot *spot, const struct jf_saved *s)
{
	to[0] = spot->at;
	to[1] = *(const uint64_t *)s->reg[4];
	switch (spot->registers) {
	default:
		to[7] = s->reg[9];
		/* fallthrough */
	case 5:
		to[6] = s->reg[8];
		/* fallthrough */
	case 4:
		to[5] = s->reg[1];
		/* fallthrough */
	case 3:
		to[4] = s->reg[2];
		/* fallthrough */
	case 2:
		to[3] = s->reg[6];
		/* fallthrough */
	case 1:
		to[2] = s->reg[7];
		/* fallthrough */
	case 0:
		break;
	}
}

static void put_all(const struct jf_spot *spot, const struct jf_saved *s, char *at)
{
	unsigned int i;

	if (spot->function)
		put_function((uint64_t *)(void *)at, spot, s);
	for (i = 0; i < spot->nr; i++)
		if (spot->operand[i].kind)
			jf_put(at + spot->operand[i].at, &spot->operand[i], jf_value(&spot->operand[i], s));
}

static void record(const struct jf_spot *spot, const struct jf_saved *s, uint32_t what)
{
	__JF_SLOT(slot);
	char *at = (char *)__jf_reserve(&slot, spot->size, (uint16_t)what);

	if (!at)
		return;
	put_all(spot, s, at);
	slot.id = (uint16_t)what;
}

static uint64_t argument(const struct jf_spot *spot, const struct jf_saved *s, unsigned int i)
{
	static const uint8_t regs[] = { 7, 6, 2, 1, 8, 9 };

	return spot->function ? s->reg[regs[i % sizeof(regs)]] : jf_value(&spot->operand[i], s);
}

/*
 * The pointers as they were when their strings were copied: a note's may be in memory that another
 * thread writes.
 */
static void put_pointers(const struct jf_spot *spot, const uint64_t *pointer, uint32_t what, char *at)
{
	unsigned int i, nr = 0;

	/* A function's are in registers, and its operands are others. */
	if (spot->function)
		return;
	for (i = 0; i < spot->nr && nr < JF_STRINGS_MAX; i++)
		if (what >> (16 + i) & 1)
			jf_put(at + spot->operand[i].at, &spot->operand[i], pointer[nr++]);
}

/* They cost most: a system call for each. Apart, as others need no such stack. */
__attribute__((__noinline__))
static void record_into(char *text, unsigned int size, const struct jf_spot *spot, const struct jf_saved *s, uint32_t what)
{
	unsigned int len = 0, i, nr = 0;
	uint64_t pointer[JF_STRINGS_MAX];
	__JF_SLOT(slot);
	char *at;

	for (i = 0; i < JF_ARGS_MAX && nr < JF_STRINGS_MAX; i++)
		if (what >> (16 + i) & 1) {
			pointer[nr] = argument(spot, s, i);
			len += jf_memory_string(text + len, size, pointer[nr++]);
		}
	at = (char *)__jf_reserve(&slot, (uint64_t)spot->size + len, (uint16_t)what);
	if (!at)
		return;
	put_all(spot, s, at);
	put_pointers(spot, pointer, what, at);
	for (i = 0; i < len; i++)
		at[spot->size + i] = text[i];
	slot.id = (uint16_t)what;
}

/*
 * In the midst of another record of strings, on whichever stack: the part of them that fits there.
 */
__attribute__((__noinline__))
static void record_nested(const struct jf_spot *spot, const struct jf_saved *s, uint32_t what)
{
	char text[JF_STRINGS_MAX * JF_STRING_NESTED];

	record_into(text, JF_STRING_NESTED, spot, s, what);
}

static void record_strings(const struct jf_spot *spot, const struct jf_saved *s, uint32_t what)
{
	char *text = jf_scratch_take();

	if (!text) {
		record_nested(spot, s, what);
		return;
	}
	record_into(text, JF_STRING_SIZE, spot, s, what);
	jf_scratch_give();
}

/* --- which records are made ------------------------------------------------------------ */

/**
 * struct here - a thread that comes by
 * @chosen: which records are made
 * @spot: where
 * @s:    its registers
 */
struct here {
	const struct jf_chosen	*chosen;
	const struct jf_spot	*spot;
	const struct jf_saved	*s;
};

/* It has two callers, of which one is for each filter. */
static inline __attribute__((__always_inline__))
uint64_t value_here(unsigned int from, const void *arg)
{
	const struct here *h = (const struct here *)arg;

	switch (from) {
	case JF_FROM_IP:
		return h->spot->at;
	case JF_FROM_CALLER:
		return *(const uint64_t *)h->s->reg[4];
	case JF_FROM_TID:
		return jf_tid();
	}
	if (from >= JF_FROM_VECTOR)
		return jf_value(&h->spot->operand[from % JF_FROM_VECTOR], h->s);
	return argument(h->spot, h->s, from);
}

static bool memory_here(const struct jf_step *step, uint64_t *value, const void *arg)
{
	return jf_chosen_memory(((const struct here *)arg)->chosen, step, value, value_here, arg);
}

/* Apart: a probe without such a choice needs no room on the stack for it. */
__attribute__((__noinline__))
static bool is_chosen(struct jf_chosen *chosen, const struct jf_spot *spot, const struct jf_saved *s)
{
	const struct here here = { chosen, spot, s };

	return jf_choice_passes(&chosen->choice, value_here, memory_here, &here);
}

static void put_here(void *to, const void *arg)
{
	const struct here *h = (const struct here *)arg;

	put_all(h->spot, h->s, (char *)to);
}

__attribute__((__noinline__))
static void record_members(const struct jf_shown *shown, const struct jf_spot *spot, const struct jf_saved *s)
{
	const struct here here = { NULL, spot, s };
	uint64_t reg[JF_REGISTERS];
	unsigned int i;

	for (i = 0; i < JF_REGISTERS; i++)
		reg[i] = argument(spot, s, i);
	jf_members_record(shown, reg, put_here, &here);
}

static void record_one(const struct jf_spot *spot, const struct jf_saved *s)
{
	/* Once: the number and its meaning. */
	uint32_t what = __atomic_load_n(&spot->what, __ATOMIC_RELAXED);
	/* Acquire: pairs with replace(), in choose.c. */
	struct jf_chosen *chosen = __atomic_load_n(&spot->chosen, __ATOMIC_ACQUIRE);
	/* Acquire: pairs with replace(), in shown.c. */
	const struct jf_shown *shown = __atomic_load_n(&spot->shown, __ATOMIC_ACQUIRE);

	if (chosen && !is_chosen(chosen, spot, s))
		return;
	if (shown)
		record_members(shown, spot, s);
	else if (what >> 16)
		record_strings(spot, s, what);
	else
		record(spot, s, what);
}

static void come_by(const struct jf_spot *spot, struct jf_saved *s)
{

	if (spot->hook) {
		/* Pairs with jf_agent_unlock(): the next command looks. */
		if (jf_is_quiet())
			__atomic_store_n(&jf_look_again, true, __ATOMIC_SEQ_CST);
		else if (__atomic_load_n(&spot->on, __ATOMIC_RELAXED))
			jf_agent_aside(spot->hook);
		return;
	}
	if (spot->watch) {
		jf_watch_call(spot, s->reg, true);
		if (!__atomic_load_n(&spot->on, __ATOMIC_RELAXED))
			return;
	}
	if (__builtin_expect(jf_watch_is_blind(), 0)) {
		if (!spot->exit && __atomic_load_n(&spot->on, __ATOMIC_RELAXED))
			jf_lose();
		return;
	}
	if (!__jf_reader && !jf_aside_packet(0))
		return;
	s->reg[4] = (uint64_t)(s + 1);
	jf_read_lock();
	/* Acquire: pairs with jf_probes_on(). With it comes all else of the probe. */
	if (__atomic_load_n(&spot->on, __ATOMIC_ACQUIRE)) {
		if (spot->call)
			jf_pair(spot, s);
		else
			record_one(spot, s);
	}
	jf_read_unlock();
}

/**
 * jf_record_share() - another one will have this thread's variables, and run beside it
 */
void jf_record_share(void)
{
	jf_own_mark = JF_OWN_SHARED;
}

void jf_agent_record(struct jf_saved *s)
{
	const struct jf_spot *spot, *watched = NULL;
	uint64_t mark = jf_own(s);
	bool shared = mark != JF_OWN_MARK;

	if (__builtin_expect(shared, 0) && mark != JF_OWN_SHARED) {
		pass_by(s);
		return;
	}
	if (__builtin_expect(shared, 0) && jf_is_quiet()) {
		if (!jf_agent_busy)
			lose_here(s);
		return;
	}
	if (__builtin_expect(shared, 0) && !jf_turn_take())
		return;
	if (!jf_agent_busy || is_other(s)) {
		/* Acquire: pairs with jf_point_join(). */
		for (spot = spots_at(s); spot;
		     spot = __atomic_load_n(&spot->next, __ATOMIC_ACQUIRE)) {
			come_by(spot, s);
			if (spot->watch == JF_WATCH_SIGACTION)
				watched = spot;
		}
		/* It is recorded as it was called. */
		if (watched)
			jf_watch_handler(s->reg);
	}
	if (__builtin_expect(shared, 0))
		jf_turn_end();
}

static bool has_xsave(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE;
}

/**
 * jf_record_begin() - before any probe's code is executed
 *
 * Return: 0, -ENOMEM
 */
int jf_record_begin(void)
{
	if (jf_spots)
		return 0;
	jf_have_xsave = has_xsave();
	jf_own_begin();
	jf_tid_begin();
	jf_spots = mmap(NULL, JF_SPOTS_MAX * sizeof(*jf_spots), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (jf_spots == MAP_FAILED)
		jf_spots = NULL;
	return jf_spots ? 0 : -ENOMEM;
}
