// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The common part of the module and the library beside the codec, on made-up functions and
 * probes: common/circle.h and common/probe_array.h. Each result is compared with that of
 * a plain search or of a plain sort. Prints TAP.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FUNCS	5
#define PROBES	6

/* A function leads to @next, and falls back to @back; NULL: that is no trampoline. */
struct jf_ctl {
	uint64_t	mark;
	struct jf_ctl	*todo, *next, *back;
};

static struct jf_ctl *jf_circle_next(const struct jf_ctl *ctl)
{
	return ctl->next;
}

static struct jf_ctl *jf_circle_back(const struct jf_ctl *ctl)
{
	return ctl->back;
}

#include "common/circle.h"

struct jf_probe {
	void	*func;
	void	*data;
	int	prio;
};

#include "common/probe_array.h"

static unsigned int state = 1;

static unsigned int rnd(unsigned int below)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % below;
}

/* True if a path of at most @steps leads from @from to @to. */
static bool leads(const struct jf_ctl *from, const struct jf_ctl *to, int steps)
{
	if (!from || !steps)
		return false;
	return from->next == to || from->back == to ||
	       leads(from->next, to, steps - 1) || leads(from->back, to, steps - 1);
}

static int circles(void)
{
	struct jf_ctl f[FUNCS] = { 0 };
	int round, i, bad = 0, found = 0;

	for (round = 0; round < 5000; round++) {
		for (i = 0; i < FUNCS; i++) {
			f[i].next = rnd(3) ? NULL : &f[rnd(FUNCS)];
			f[i].back = rnd(3) ? NULL : &f[rnd(FUNCS)];
		}
		for (i = 0; i < FUNCS; i++) {
			bool is = leads(&f[i], &f[i], FUNCS);

			bad += jf_in_circle(&f[i]) != is;
			found += is;
		}
	}
	return bad || !found;
}

/* True if they are in order of priority, and within one in the order of their addition. */
static bool in_order(const struct jf_probe *p, size_t num)
{
	size_t i;

	for (i = 1; i < num; i++)
		if (p[i - 1].prio < p[i].prio ||
		    (p[i - 1].prio == p[i].prio && p[i - 1].func > p[i].func))
			return false;
	return true;
}

static int probes(void)
{
	struct jf_probe a[PROBES], b[PROBES], c;
	char func[PROBES], data[2];
	int round, bad = 0;
	size_t i, num;

	for (round = 0; round < 5000; round++) {
		for (num = 0; num < PROBES; num++) {
			c = (struct jf_probe){ &func[num], &data[rnd(2)], (int)rnd(3) };
			jf_array_add(b, num ? a : NULL, num, &c);
			memcpy(a, b, sizeof(a));
			bad += jf_array_count(a, num + 1, jf_probe_same, &c) != 1;
			bad += !in_order(a, num + 1);
		}
		while (num) {
			c = a[rnd((unsigned int)num)];
			/* The same function with other data is another probe. */
			c.data = c.data == &data[0] ? &data[1] : &data[0];
			bad += jf_array_count(a, num, jf_probe_same, &c) != 0;
			c.data = c.data == &data[0] ? &data[1] : &data[0];
			jf_array_del(b, a, num, jf_probe_same, &c);
			num--;
			memcpy(a, b, sizeof(a));
			bad += jf_array_count(a, num, jf_probe_same, &c) != 0;
			bad += !in_order(a, num);
			for (i = 0; i < num; i++)
				bad += jf_array_count(a, num, jf_probe_same, &a[i]) != 1;
		}
	}
	return bad;
}

int main(void)
{
	int rc = 0, bad;

	printf("TAP version 13\n1..2\n");
	bad = circles();
	rc |= bad;
	printf("%sok 1 - a function that calls itself is found, and no other\n", bad ? "not " : "");
	bad = probes();
	rc |= bad;
	printf("%sok 2 - arrays of probes are in order, and hold what was added and not removed\n",
	       bad ? "not " : "");
	return !!rc;
}
