// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The agent's reader of lines about arguments and names, for fuzz_types. */
#include <assert.h>

#include "user/agent/types.c"
#include "fuzz_types.h"

static bool is_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void check_field(const struct jf_event_field *f)
{
	const struct jf_event_label *l;

	assert(is_size(f->size) && f->count == 1 && is_name(f->name, strlen(f->name)));
	for (l = f->labels; l && l->name; l++)
		assert(is_name(l->name, strlen(l->name)));
}

static void check_member(const struct jf_member *m, const struct jf_path *path)
{
	assert(is_path(m->field[0].name, strlen(m->field[0].name)) && m->field[1].kind == __JF_FIELD_END);
	if (m->why) {
		assert(*m->why);
		return;
	}
	assert(path->reg < JF_REGISTERS && path->num && path->num <= JF_LOADS_MAX && path->size);
	assert(path->text || path->size <= 8);
	assert(path->shift + path->bits <= 8 * path->size);
}

static void check_probe(const struct jf_agent_probe *p)
{
	unsigned int i;

	assert(p->nr_fields <= JF_FUNCTION_FIELDS + JF_VECTORS_MAX + JF_STRINGS_MAX && p->spot.nr <= JF_VECTORS_MAX);
	assert(p->spot.registers <= JF_REGISTERS && p->spot.size <= 8 * p->nr_fields && !(p->known_strings >> JF_REGISTERS));
	for (i = 0; i < p->nr_fields; i++)
		check_field(&p->fields[i]);
	for (i = 0; i < p->spot.nr; i++)
		assert(p->spot.operand[i].base < JF_VECTORS_MAX && p->spot.operand[i].at + p->spot.operand[i].size <= p->spot.size);
	assert(p->nr_members <= JF_PATHS_MAX);
	for (i = 0; i < p->nr_members; i++)
		check_member(&p->members[i], &p->path[i]);
}

static const char *const names[] = { "ip", "caller", "arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "ret", "duration" };

/* As jf_probe_function() and jf_probe_call() make it, which need all of the agent. */
static void make_probe(struct jf_agent_probe *p, enum jf_kind kind)
{
	p->kind = kind;
	p->spot.function = kind == JF_KIND_FUNCTION;
	p->spot.registers = JF_REGISTERS;
	for (p->nr_fields = 0; p->nr_fields < JF_FUNCTION_FIELDS + (kind == JF_KIND_CALL ? 2 : 0); p->nr_fields++)
		p->fields[p->nr_fields] = (struct jf_event_field){ .name = names[p->nr_fields], .size = 8, .count = 1 };
	p->spot.size = 8 * p->nr_fields;
}

/* The probe's own. */
static bool is_own(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && name != names[i]; i++)
		;
	return i < sizeof(names) / sizeof(names[0]);
}

static void forget_probe(struct jf_agent_probe *p)
{
	unsigned int i;

	for (i = 0; i < p->nr_fields; i++)
		forget_field(&(struct jf_event_field){ .labels = p->fields[i].labels, .name = is_own(p->fields[i].name) ? NULL : p->fields[i].name });
	jf_types_forget(p);
	free(p);
}

static void apply(const struct line *l, enum jf_kind kind)
{
	struct jf_module m = { .path = (char *)(uintptr_t)l->path };
	struct jf_agent_probe *p = calloc(1, sizeof(*p));

	make_probe(p, kind);
	jf_types_apply(p, &m, l->at);
	check_probe(p);
	forget_probe(p);
}

static int see_name(const struct jf_symbol *symbol, void *arg)
{
	*(size_t *)arg += *symbol->name && !strchr(symbol->name, '\n');
	return 0;
}

/* A name that two arguments have is no error of jf-trace's: debug information says so. */
static bool has_twice(const char *text)
{
	const char *a, *b;
	size_t len;

	for (a = text; *a; a += strcspn(a, " ") + !!a[strcspn(a, " ")])
		for (b = text, len = strcspn(a, "=") + 1; b < a; b += strcspn(b, " ") + 1)
			if (!strncmp(a, b, len))
				return true;
	return false;
}

static bool is_taken_whole(const char *text)
{
	struct argument a[VALUES_MAX];
	struct members m = { NULL, NULL, 0 };
	int num = take_all(text, a, &m);

	if (num < 0)
		return false;
	forget(&m);
	drop(a, (unsigned int)num);
	return true;
}

static void check_all(bool ours)
{
	size_t i, seen = 0;

	for (i = 0; i < nr_lines; i++) {
		if (ours && !has_twice(lines[i].text) && !is_taken_whole(lines[i].text)) {
			fprintf(stderr, "the agent does not take '%s'\n", lines[i].text);
			abort();
		}
		apply(&lines[i], JF_KIND_FUNCTION);
		apply(&lines[i], JF_KIND_CALL);
	}
	for (i = 0; i < nr_named && i < 64; i++) {
		struct jf_module m = { .path = (char *)(uintptr_t)named[i].path, .stamp = named[i].stamp };

		seen = 0;
		assert(!jf_types_names(&m, see_name, &seen) && seen);
	}
}

void read_lines(const char *from, size_t size, bool ours)
{
	char *text = calloc(size + 1, 1);
	size_t num = 0, i;

	memcpy(text, from, size);
	for (i = 0; i < size; i++)
		num += text[i] == '\n';
	nr_lines = nr_named = 0;
	if (!take_text(text))
		return;
	/* No name of a file or of a function begins a line, or ends one. */
	assert(!ours || nr_lines + nr_named == num);
	check_all(ours);
	free(lines);
	free(named);
	free(text);
	lines = NULL;
	named = NULL;
}
