// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The kernel gives the filters of a thread as they were installed, in classic BPF. All that a
 * filter can look at is known for a call that is about to be made: its number, its arguments and
 * the address after it. So the steps are executed as the kernel executes them. Any step that is not
 * one of seccomp's, or whose result depends on the machine, makes the value unknown.
 */
#include "filter.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

/* The kernel's PTRACE_SECCOMP_GET_FILTER, SECCOMP_RET_ACTION_FULL and values for that. */
#define GET_FILTER	0x420c
#define VALUE_ACTION	0xffff0000U
#define VALUE_LOG	0x7ffc0000U
#define VALUE_ALLOW	0x7fff0000U

enum { LD = 0, LDX = 1, ST = 2, STX = 3, ALU = 4, JMP = 5, RET = 6, MISC = 7 };
#define CLASS(code)	((code) & 7)
#define BY_X		0x08U
/* Of RET. */
#define OF_A		0x10U
/* Of LD and LDX. */
enum { IMM = 0x00, ABS = 0x20, MEM = 0x60, LEN = 0x80 };
/* Of ALU, with BY_X or without. */
enum { ADD = 0x00, SUB = 0x10, MUL = 0x20, DIV = 0x30, OR = 0x40, AND = 0x50, LSH = 0x60, RSH = 0x70, NEG = 0x80, XOR = 0xa0 };
/* Of JMP. */
enum { JA = 0x00, JEQ = 0x10, JGT = 0x20, JGE = 0x30, JSET = 0x40 };
/* Of MISC. */
enum { TAX = 0x00, TXA = 0x80 };
#define WORDS		16U

/**
 * struct machine - that executes a filter
 * @a:    accumulator
 * @x:    index
 * @word: of memory
 * @call: that is asked for
 */
struct machine {
	uint32_t			a;
	uint32_t			x;
	uint32_t			word[WORDS];
	const struct filter_call	*call;
};

/* LD and LDX. */
static bool load(struct machine *m, const struct filter_step *s)
{
	uint32_t *to = CLASS(s->code) == LD ? &m->a : &m->x;

	switch (s->code & ~7U) {
	case IMM:
		*to = s->k;
		return true;
	case MEM:
		if (s->k >= WORDS)
			return false;
		*to = m->word[s->k];
		return true;
	case LEN:
		*to = sizeof(*m->call);
		return true;
	case ABS:
		if (to != &m->a || s->k % 4 || s->k >= sizeof(*m->call))
			return false;
		memcpy(to, (const char *)m->call + s->k, sizeof(*to));
		return true;
	}
	return false;
}

static bool store(struct machine *m, const struct filter_step *s)
{
	if (s->code & ~7U || s->k >= WORDS)
		return false;
	m->word[s->k] = CLASS(s->code) == ST ? m->a : m->x;
	return true;
}

static bool compute(struct machine *m, const struct filter_step *s)
{
	uint32_t by = s->code & BY_X ? m->x : s->k;

	switch (s->code & ~(7U | BY_X)) {
	case ADD:
		m->a += by;
		return true;
	case SUB:
		m->a -= by;
		return true;
	case MUL:
		m->a *= by;
		return true;
	case DIV:
		m->a = by ? m->a / by : 0;
		return by;
	case OR:
		m->a |= by;
		return true;
	case AND:
		m->a &= by;
		return true;
	case XOR:
		m->a ^= by;
		return true;
	case LSH:
		m->a = by < 32 ? m->a << by : 0;
		return by < 32;
	case RSH:
		m->a = by < 32 ? m->a >> by : 0;
		return by < 32;
	case NEG:
		m->a = -m->a;
		return !(s->code & BY_X);
	}
	return false;
}

/* How many steps are left out. */
static bool jump(const struct machine *m, const struct filter_step *s, size_t *over)
{
	uint32_t with = s->code & BY_X ? m->x : s->k;

	switch (s->code & ~(7U | BY_X)) {
	case JA:
		*over = s->k;
		return !(s->code & BY_X);
	case JEQ:
		*over = m->a == with ? s->yes : s->no;
		return true;
	case JGT:
		*over = m->a > with ? s->yes : s->no;
		return true;
	case JGE:
		*over = m->a >= with ? s->yes : s->no;
		return true;
	case JSET:
		*over = m->a & with ? s->yes : s->no;
		return true;
	}
	return false;
}

static bool move(struct machine *m, const struct filter_step *s)
{
	uint16_t way = s->code & ~7U;

	if (way == TAX)
		m->x = m->a;
	else if (way == TXA)
		m->a = m->x;
	return way == TAX || way == TXA;
}

/* All but RET. */
static bool execute(struct machine *m, const struct filter_step *s, size_t *over)
{
	switch (CLASS(s->code)) {
	case LD:
	case LDX:
		return load(m, s);
	case ST:
	case STX:
		return store(m, s);
	case ALU:
		return compute(m, s);
	case JMP:
		return jump(m, s, over);
	}
	return move(m, s);
}

uint32_t filter_value(const struct filter_step *step, size_t num, const struct filter_call *call)
{
	struct machine m = { .call = call };
	size_t at, over;

	/* Jumps go forward alone. */
	for (at = 0; at < num; at += 1 + over) {
		over = 0;
		if (step[at].code == RET)
			return step[at].k;
		if (step[at].code == (RET | OF_A))
			return m.a;
		if (CLASS(step[at].code) == RET || !execute(&m, &step[at], &over) || over >= num - at)
			return FILTER_UNKNOWN;
	}
	return FILTER_UNKNOWN;
}

bool filters_allow(pid_t tid, const struct filter_call *call)
{
	static struct filter_step step[FILTER_STEPS_MAX];
	unsigned long i;
	uint32_t value;
	long num;

	for (i = 0; ; i++) {
		/* The first call tells the number alone. */
		num = ptrace(GET_FILTER, tid, (void *)i, NULL);
		if (num < 0)
			return i && errno == ENOENT;
		if (!num || num > (long)FILTER_STEPS_MAX || ptrace(GET_FILTER, tid, (void *)i, step) != num)
			return false;
		value = filter_value(step, (size_t)num, call) & VALUE_ACTION;
		if (value != VALUE_ALLOW && value != VALUE_LOG)
			return false;
	}
}
