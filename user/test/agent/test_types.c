// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The agent's file of arguments and names: each object finds its own names, at a cost that does not
 * grow with the names of others, and lines end where they end.
 */
#include <string.h>

static unsigned long compared;

static int counted(const char *a, const char *b)
{
	compared++;
	return strcmp(a, b);
}

#undef strcmp
#define strcmp(a, b)	counted(a, b)
#include "user/agent/types.c"
#undef strcmp
#include "user/test/tap.h"

#define NAMES	64

static void forget_text(char *text)
{
	free(lines);
	free(named);
	free(text);
	lines = NULL;
	named = NULL;
	nr_lines = nr_named = 0;
}

/* Lines of all objects, those of one object apart from each other. */
static char *names_of(unsigned int objects)
{
	unsigned int i, k;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	for (k = 0; k < NAMES; k++)
		for (i = 0; i < objects; i++)
			fprintf(f, "/usr/lib/x86_64-linux-gnu/lib%u.so %x +10 %x.2.3 name_%u_%u\n", i, k * 16, 7 + i, i, k);
	fclose(f);
	return text;
}

/**
 * struct expected - names of an object
 * @nr:   its number
 * @next: which name comes
 */
struct expected {
	unsigned int	nr;
	unsigned int	next;
};

static int one_name(const struct jf_symbol *s, void *arg)
{
	struct expected *e = (struct expected *)arg;
	char name[32];

	snprintf(name, sizeof(name), "name_%u_%u", e->nr, e->next);
	CHECK(!strcmp(s->name, name) && s->value == e->next * 16 && s->size == 16, "%s, not %s", s->name, name);
	e->next++;
	return 0;
}

static void look(unsigned int nr)
{
	struct expected e = { nr, 0 };
	char path[64];
	struct jf_module m = { .path = path, .stamp = { 7 + nr, 2, 3 } };

	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/lib%u.so", nr);
	CHECK(!jf_types_names(&m, one_name, &e) && e.next == NAMES, "%u of %u names", e.next, NAMES);
	/* Another file of that path. */
	m.stamp.nanoseconds++;
	e.next = 0;
	CHECK(!jf_types_names(&m, one_name, &e) && !e.next, "%u names of another file", e.next);
}

/* Comparisons of names for an object, if there are so many. */
static unsigned long cost(unsigned int objects)
{
	char *text = names_of(objects);
	unsigned int i;

	compared = 0;
	CHECK(take_text(text), "no line is used");
	for (i = 0; i < objects; i++)
		look(i);
	forget_text(text);
	return compared / objects;
}

static void growth(void)
{
	unsigned long few = cost(10), more = cost(100), many = cost(1000);

	printf("# comparisons an object: %lu with 10 objects, %lu with 100, %lu with 1000\n", few, more, many);
	CHECK(many < 4 * few, "with a hundred times as many objects, each costs %lu, not %lu", many, few);
	finish("names of many objects");
}

/* In memory of its own size, as no file is. */
static void line_ends(const char *args)
{
	char *text = strdup(args);
	struct argument a[VALUES_MAX];
	struct members m = { NULL, NULL, 0 };
	int num = take_all(text, a, &m);

	CHECK(num < 0, "'%s' has %d values", args, num);
	if (num >= 0) {
		forget(&m);
		drop(a, (unsigned int)num);
	}
	free(text);
}

/* Each beginning of a line that is a line with none of its ends. */
static void ends(void)
{
	static const char *const whole[] = { "ret=-4@%rax{A:1,LOW:-3}", "a=8s@%xmm0", "first=-2@%rsi", "f=8f@%xmm7", "o.p->q[3]=-8b3.12@%rdi+8-16{A:1}", "o.p=?it_is_not" };
	char part[64];
	size_t i, n, least;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		/* The register is the shortest end. */
		least = strchr(whole[i], '%') ? (size_t)(strchr(whole[i], '%') - whole[i]) : strlen("o.p=");
		for (n = 1; n <= least; n++) {
			snprintf(part, sizeof(part), "%.*s", (int)n, whole[i]);
			line_ends(part);
		}
	}
	finish("lines that end early");
}

int main(void)
{
	growth();
	ends();
	return tap_end();
}
