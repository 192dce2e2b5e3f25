// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Patterns that were switched on and off: those that are kept match the same names as all of them
 * would, and none is kept that has no effect.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/test/tap.h"
#include "user/trace/demangle.h"
#include "user/trace/glob.h"
#include "user/trace/wishes.h"

#define SEQUENCES	1000
#define WISHES		24
#define PAIRS		12000

static const enum jf_kind kinds[] = { JF_KIND_ANY, JF_KIND_NOTE, JF_KIND_FUNCTION };
static const char *const groups[] = { "", "", "a:", "b:", "*:", "a*:", "?:", "[ab]:" };
static const char *const names[] = {
	"*", "f", "g", "f*", "*f", "fa", "fa*", "?", "[fg]", "\\f", "s::f", "s::*", "s::f(int)", "s::f*", "_Z1f", "_Z*", "_*",
	"s::t<int>", "int*", "int s::t<int>(int)", "s", "",
};
static const char *const symbols[] = { "f", "g", "fa", "fab", "_Z1f", "_Z1t", "_Z1g", "s" };

/* As __cxa_demangle(). */
static char *demangle(const char *name, char *buf, size_t *size, int *status)
{
	(void)buf, (void)size;
	*status = 0;
	if (!strcmp(name, "_Z1f"))
		return strdup("s::f(int)");
	if (!strcmp(name, "_Z1t"))
		return strdup("int s::t<int>(int)");
	return strdup("g(char const*)");
}

/* An object has two names, as that of a symbolic link. */
static bool fits(const struct jf_wish *w, enum jf_kind kind, const char *name)
{
	static const char *const of[] = { "a", "b" };
	unsigned int i;

	if (!jf_wish_fits(w, kind))
		return false;
	if (kind == JF_KIND_NOTE)
		return jf_glob_matches_probe(w->glob, "a", name);
	for (i = 0; i < 2; i++)
		if (jf_glob_matches_probe(w->glob, of[i], name) || jf_demangled_fits(demangle, w->glob, of[i], name))
			return true;
	return false;
}

static bool is_on(const struct jf_wish *w, enum jf_kind kind, const char *name)
{
	while (w && !fits(w, kind, name))
		w = w->next;
	return w && w->on;
}

static unsigned int number(const struct jf_wish *w)
{
	unsigned int num = 0;

	for (; w; w = w->next)
		num++;
	return num;
}

static unsigned int any(unsigned int below)
{
	static uint64_t seed = 1;

	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % below;
}

#define ANY_OF(list)	((list)[any(sizeof(list) / sizeof((list)[0]))])

static struct jf_wish *make(enum jf_kind kind, const char *glob, bool on)
{
	struct jf_wish *w = jf_wish_new(kind, glob, NULL, NULL, on);

	if (!w) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	return w;
}

static void compare(const struct jf_wish *kept, const struct jf_wish *all)
{
	unsigned int i, k;

	for (k = 1; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
			CHECK(is_on(kept, kinds[k], symbols[i]) == is_on(all, kinds[k], symbols[i]), "kind %d, %s after %s", (int)kinds[k],
			      symbols[i], all->glob);
}

static void test_same(void)
{
	unsigned int i, n, kept_all = 0, num_all = 0;

	for (i = 0; i < SEQUENCES; i++) {
		struct jf_wish *kept = NULL, *all = NULL, *w;

		for (n = 0; n < WISHES; n++) {
			enum jf_kind kind = ANY_OF(kinds);
			bool on = any(2);
			char glob[64];

			snprintf(glob, sizeof(glob), "%s%s", ANY_OF(groups), ANY_OF(names));
			w = make(kind, glob, on);
			w->next = all;
			all = w;
			jf_wish_add(&kept, make(kind, glob, on));
			compare(kept, all);
		}
		kept_all += number(kept);
		num_all += n;
		jf_wishes_forget(&kept);
		jf_wishes_forget(&all);
	}
	CHECK(kept_all < num_all * 3 / 4, "%u of %u are kept", kept_all, num_all);
	finish("those that are kept match what all of them would");
}

/* With a pattern that stays, and before which others came. */
static void cycles(const char *stays, const char *format, const char *off)
{
	struct jf_wish *list = NULL;
	char glob[64];
	int i;

	jf_wish_add(&list, make(JF_KIND_FUNCTION, stays, true));
	for (i = 0; i < PAIRS; i++) {
		snprintf(glob, sizeof(glob), format, i);
		jf_wish_add(&list, make(JF_KIND_FUNCTION, glob, true));
		snprintf(glob, sizeof(glob), off, i);
		jf_wish_add(&list, make(JF_KIND_FUNCTION, glob, false));
	}
	CHECK(number(list) == 1 && !strcmp(list->glob, stays), "%s, %s: %u wishes", stays, format, number(list));
	jf_wishes_forget(&list);
}

static void test_growth(void)
{
	struct jf_wish *list = NULL;
	char glob[64];
	int i;

	cycles("p:work", "p:f%d", "p:f%d");
	cycles("p:work", "p:f%d", "f%d");
	cycles("work", "p:f%d", "p:f%d");
	cycles("p:work*", "p:f%d", "p:f%d");
	cycles("p:work", "p:f%d*", "p:f%d*");
	cycles("p:work", "lib%d.so:f*", "lib%d.so:f*");
	cycles("p:work", "lib%d.so:f1", "lib%d.so:f*");
	for (i = 0; i < PAIRS; i++) {
		snprintf(glob, sizeof(glob), "p:f%d", i);
		jf_wish_add(&list, make(JF_KIND_FUNCTION, glob, true));
	}
	CHECK(number(list) == PAIRS, "%u wishes", number(list));
	/* These take names away that another one switches on. */
	jf_wish_add(&list, make(JF_KIND_FUNCTION, "p:f*", true));
	CHECK(number(list) == 1, "%u wishes", number(list));
	for (i = 0; i < 100; i++) {
		snprintf(glob, sizeof(glob), "p:f%d", i);
		jf_wish_add(&list, make(JF_KIND_FUNCTION, glob, false));
	}
	CHECK(number(list) == 101, "%u wishes", number(list));
	jf_wish_add(&list, make(JF_KIND_FUNCTION, "p:f*", false));
	CHECK(!list, "%u wishes", number(list));
	jf_wish_add(&list, make(JF_KIND_FUNCTION, "p:*x", true));
	jf_wish_add(&list, make(JF_KIND_FUNCTION, "p:fox", false));
	CHECK(number(list) == 2, "%u wishes", number(list));
	jf_wish_add(&list, make(JF_KIND_FUNCTION, "p:*x", false));
	CHECK(!list, "%u wishes", number(list));
	jf_wishes_forget(&list);
	finish("what was switched on and off is gone");
}

int main(void)
{
	printf("TAP version 13\n");
	test_same();
	test_growth();
	return tap_end();
}
