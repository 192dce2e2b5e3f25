// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Options that say which records are made: they become a part of each pattern. */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool any_choice(const struct options *o)
{
	unsigned int i = 0;

	while (i < o->num_globs && !*jf_choice_begin(o->globs[i]))
		i++;
	return i < o->num_globs;
}

bool is_condition(const char *text)
{
	struct jf_choice c;
	char clause[JF_CHOICE_MAX + 4];

	if ((size_t)snprintf(clause, sizeof(clause), "if %s", text) >= sizeof(clause))
		return fail("--if: the expression has more than %d characters", JF_CHOICE_MAX - 4), false;
	if (jf_choice_parse(&c, clause, NULL))
		return fail("--if '%s': %s", text, c.why), false;
	if (c.every || c.max)
		return fail("--if '%s': it is more than an expression: --every and --max are options", text), false;
	return true;
}

/* The option as an expression, in which the name is a text, for free(); NULL: no memory. */
static char *caller_test(const char *glob)
{
	static const char begin[] = "caller =~ \"";
	char *text = malloc(sizeof(begin) + 2 * strlen(glob) + 1), *to;

	if (!text)
		return NULL;
	to = stpcpy(text, begin);
	for (; *glob; *to++ = *glob++)
		if (*glob == '"' || *glob == '\\')
			*to++ = '\\';
	strcpy(to, "\"");
	return text;
}

bool is_caller(const char *glob)
{
	char *text = caller_test(glob), clause[JF_CHOICE_MAX + 4];
	struct jf_choice c;
	bool fits;

	if (!text)
		return fail("%s", strerror(ENOMEM)), false;
	fits = *glob && (size_t)snprintf(clause, sizeof(clause), "if %s", text) < sizeof(clause) && !jf_choice_parse(&c, clause, NULL);
	if (!fits)
		fail("--caller '%s': %s", glob, *glob ? "the name is too long for a filter" : "the name is empty");
	free(text);
	return fits;
}

bool is_of_calls(const char *pattern)
{
	return jf_kind_of(&pattern) == JF_KIND_CALL;
}

/* "call>1ms/GLOB" in place of "call/GLOB". */
static int add_min(const char *min, const char **pattern)
{
	char *text;

	if (strncmp(*pattern, "call/", 5))
		return STATUS_OK;
	if (asprintf(&text, "call>%s/%s", min, *pattern + 5) < 0)
		return fail("%s", strerror(ENOMEM));
	*pattern = text;
	return STATUS_OK;
}

/* "GLOB WORD VALUE" in place of "GLOB". */
static int add_clause(const char *words, const char *value, const char **pattern)
{
	char *text;

	if (!value)
		return STATUS_OK;
	if (asprintf(&text, "%s %s %s", *pattern, words, value) < 0)
		return fail("%s", strerror(ENOMEM));
	*pattern = text;
	return STATUS_OK;
}

static int add_caller(const char *glob, const char **pattern)
{
	char *text = glob ? caller_test(glob) : NULL;
	int status = glob && !text ? fail("%s", strerror(ENOMEM)) : add_clause("if", text, pattern);

	free(text);
	return status;
}

/*
 * First the user's expression, whose columns a message names. The limits of the pattern itself
 * come before those of all.
 */
static int add_all(const struct options *o, bool times, const char **pattern)
{
	bool calls = times || is_of_calls(*pattern);
	int status = o->min ? add_min(o->min, pattern) : STATUS_OK;
	struct jf_choice own;

	/* One that does not parse was refused before, or is in the end. */
	jf_choice_parse(&own, jf_choice_begin(*pattern), NULL);
	if (!status)
		status = add_clause("if", o->condition, pattern);
	if (!status)
		status = add_caller(o->caller, pattern);
	if (!status)
		status = add_clause("if tid ==", o->tid, pattern);
	if (!status && calls)
		status = add_clause("if depth <", o->depth, pattern);
	if (!status && !own.every)
		status = add_clause("every", o->every, pattern);
	if (!status && !own.max)
		status = add_clause("max", o->most, pattern);
	if (!status && !is_pattern(*pattern))
		status = STATUS_USAGE;
	return status;
}

/* "call/GLOB" in place of "GLOB". */
static int make_call(const char **pattern)
{
	const char *rest = *pattern;
	char *text;

	if (jf_kind_of(&rest) != JF_KIND_ANY)
		return STATUS_OK;
	if (asprintf(&text, "call/%s", *pattern) < 0)
		return fail("%s", strerror(ENOMEM));
	*pattern = text;
	return STATUS_OK;
}

/*
 * --min and --max-depth are of calls. Patterns that name no kind are of calls then, unless some
 * pattern names it.
 */
static int make_calls(struct options *o, bool of_pid, int argc, char **argv)
{
	int k, status = STATUS_OK;
	unsigned int i;

	for (i = 0; i < o->num_globs; i++)
		if (is_of_calls(o->globs[i]))
			return STATUS_OK;
	for (k = 1; of_pid && k < argc; k++)
		if (is_of_calls(argv[k]))
			return STATUS_OK;
	for (i = 0; i < o->num_globs && !status; i++)
		status = make_call(&o->globs[i]);
	for (k = 1; of_pid && k < argc && !status; k++)
		status = make_call((const char **)(uintptr_t)&argv[k]);
	return status;
}

int choose(struct options *o, bool of_pid, bool times, int argc, char **argv)
{
	unsigned int calls = times, all = 0, i;
	int k, status = STATUS_OK;

	if (!o->min && !o->condition && !o->caller && !o->tid && !o->depth && !o->every && !o->most)
		return STATUS_OK;
	if ((o->min || o->depth) && !times)
		status = make_calls(o, of_pid, argc, argv);
	for (i = 0; i < o->num_globs && !status; i++, all++) {
		calls += is_of_calls(o->globs[i]);
		status = add_all(o, times, &o->globs[i]);
	}
	for (k = 1; of_pid && k < argc && !status; k++, all++) {
		calls += is_of_calls(argv[k]);
		status = add_all(o, times, (const char **)(uintptr_t)&argv[k]);
	}
	if (!status && !all && !o->min)
		return fail("which probes? --if, --caller, --tid, --max-depth, --every and --max are for those of -e GLOB"), STATUS_USAGE;
	if (!status && !calls && (o->min || o->depth))
		return fail("%s is for calls, and no pattern is of calls: -e 'call/...', or without a kind", o->min ? "--min" : "--max-depth"), STATUS_USAGE;
	return status;
}

int all_are_counted(const struct options *o)
{
	struct jf_choice c;
	unsigned int i;

	for (i = 0; i < o->num_globs; i++) {
		const char *text = jf_choice_begin(o->globs[i]);

		if (!jf_choice_parse(&c, text, NULL) && (c.every || c.max))
			return fail("'%s': all calls for which 'if' holds are counted: 'every' and 'max' are for records", o->globs[i]), STATUS_USAGE;
	}
	return STATUS_OK;
}
