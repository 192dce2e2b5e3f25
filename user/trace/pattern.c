// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The text by which a user names probes (pattern.h). */
#include "pattern.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((__format__(__printf__, 2, 3)))
static int wrong(struct jf_pattern *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->why, sizeof(p->why), format, args);
	va_end(args);
	return -EINVAL;
}

/* True: it leads from an argument to a member. */
static bool is_member(const char *text, size_t len)
{
	return jf_choice_path(text) == len && strcspn(text, "-.[") < len;
}

/* There is room: it is shorter than the pattern. */
static int add_member(struct jf_pattern *p, const char *text, size_t len)
{
	size_t at = strlen(p->members), i;
	unsigned int nr = 1;

	for (i = 0; i < at; i++)
		nr += p->members[i] == ',';
	if (at && nr == JF_SHOWN_MAX)
		return wrong(p, "it names more than %d members", JF_SHOWN_MAX);
	if (at)
		p->members[at++] = ',';
	memcpy(p->members + at, text, len);
	return 0;
}

/* Moves a part of the brackets past the blanks before it. Its length, without those after it. */
static size_t part_of(const char **text, size_t *whole)
{
	size_t len;

	*text += strspn(*text, " ");
	*whole = len = strcspn(*text, ",)");
	while (len && (*text)[len - 1] == ' ')
		len--;
	return len;
}

static int parse_argument(struct jf_pattern *p, const char *text, size_t len, unsigned int arg, unsigned int *nr)
{
	if (len && arg >= JF_ARGS_MAX)
		return wrong(p, "it speaks of more than %d arguments", JF_ARGS_MAX);
	if (len == 6 && !strncmp(text, "string", 6)) {
		if ((*nr)++ == JF_STRINGS_MAX)
			return wrong(p, "more than %d of its arguments are strings", JF_STRINGS_MAX);
		p->strings |= (uint16_t)(1U << arg);
	} else if (len && strspn(text, "_") != len) {
		return wrong(p, "'%.*s%s' in its brackets is neither string, nor _ for what is none, nor a member as order->price",
			     len > 20 ? 20 : (int)len, text, len > 20 ? "..." : "");
	}
	return 0;
}

/* The parts of the brackets. Members have no place among the arguments. */
static int parse_types(struct jf_pattern *p, const char *types)
{
	unsigned int arg = 0, nr = 0;
	size_t len, whole;
	int err = 0;

	for (; !err; types += whole + 1) {
		len = part_of(&types, &whole);
		if (is_member(types, len))
			err = add_member(p, types, len);
		else
			err = parse_argument(p, types, len, arg++, &nr);
		if (types[whole] == ')')
			break;
	}
	return err;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A type that C++ has without a declaration: as demanglers write it. */
static bool is_builtin(const char *word, size_t len)
{
	static const char *const names[] = {
		"void", "bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "wchar_t", "char8_t",
		"char16_t", "char32_t", "__int128", "...",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == len && !strncmp(word, names[i], len))
			return true;
	return false;
}

/* True: a part of this list is a member, and each other one is a word. */
static bool has_members(const char *text)
{
	bool found = false, member;
	size_t len, whole;

	for (text++;; text += whole + 1) {
		len = part_of(&text, &whole);
		member = is_member(text, len);
		if (!member && strspn(text, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") < len)
			return false;
		found |= member;
		if (text[whole] != ',')
			return found && text[whole] == ')' && !text[whole + 1];
	}
}

/* True: a list of types of C++ begins with this bracket. */
static bool is_parameters(const char *text)
{
	const char *p = text + 1;
	size_t len;

	if (has_members(text))
		return false;
	/* With one word of strings all of them are such words. */
	for (len = strcspn(p, ",)"); ; p += len + 1, len = strcspn(p, ",)")) {
		if ((!strncmp(p, "string", 6) && !is_word(p[6])) || (len && strspn(p, "_") == len))
			return false;
		if (p[len] != ',')
			break;
	}
	p = text + 1;
	if (strpbrk(p, " &*<>:([]"))
		return true;
	for (;; p += len + 1) {
		len = strcspn(p, ",)");
		if (is_builtin(p, len) || (*p >= 'A' && *p <= 'Z'))
			return true;
		if (p[len] != ',')
			return p[len] == ')' && p[len + 1];
	}
}

/* Each bracket has another one. */
static bool is_balanced(const char *text)
{
	unsigned int depth = 0;

	for (; *text; text++) {
		if (*text == ')' && !depth--)
			return false;
		depth += *text == '(';
	}
	return !depth;
}

static const char *types_of(const char *text)
{
	const char *types = text + strcspn(text, "(");

	/* "operator()" is a name. */
	while (types - text >= 8 && !strncmp(types - 8, "operator()", 10))
		types += 2 + strcspn(types + 2, "(");
	return *types && is_balanced(text) && is_parameters(types) ? text + strlen(text) : types;
}

const char *jf_pattern_types(const char *text)
{
	size_t len = (size_t)(jf_choice_begin(text) - text);
	char part[2 * JF_PATTERN_MAX];

	/* It is no pattern. */
	if (len >= sizeof(part))
		return text + len;
	memcpy(part, text, len);
	part[len] = 0;
	return text + (types_of(part) - part);
}

/* Of any probe: whether it has the names is not known yet. */
static int parse_choice(struct jf_pattern *p, const char *choice)
{
	struct jf_choice c;

	p->choice = choice + (*choice == ' ');
	if (jf_choice_parse(&c, p->choice, NULL))
		return wrong(p, "%.*s", (int)sizeof(p->why) - 1, c.why);
	return 0;
}

int jf_pattern_parse(struct jf_pattern *p, const char *text)
{
	size_t size, len;
	const char *end;

	memset(p, 0, sizeof(*p));
	if (!strncmp(text, "call>", 5) && !jf_kind_min(&(const char *){ text }, &p->min))
		return wrong(p, "'%.20s' has no duration as 'call>1ms/' has: a number, and ns, us, ms or s", text);
	p->kind = jf_kind_of(&text);
	end = jf_choice_begin(text);
	size = (size_t)(end - text);
	len = (size_t)(jf_pattern_types(text) - text);
	if (!size)
		return wrong(p, "it is empty");
	if (size >= sizeof(p->glob))
		return wrong(p, "it has more than %zu characters", sizeof(p->glob) - 1);
	if (!len)
		return wrong(p, "no name is before its bracket");
	if (jf_choice_comma(text) < text + len)
		return wrong(p, "it has a comma that is in no brackets");
	memcpy(p->glob, text, len);
	if (len == size && !is_balanced(p->glob))
		return wrong(p, "its brackets are no pairs");
	if (parse_choice(p, end))
		return -EINVAL;
	if (len == size)
		return 0;
	if (strcspn(text + len + 1, "()") != size - len - 2 || text[size - 1] != ')')
		return wrong(p, "it has one pair of brackets at most, at its end");
	if (parse_types(p, text + len + 1))
		return -EINVAL;
	if (p->kind == JF_KIND_TIME && *p->members)
		return wrong(p, "sums of calls have no members");
	if ((p->kind == JF_KIND_NOTE || p->kind == JF_KIND_EVENT) && *p->members)
		return wrong(p, "members are those of functions' arguments");
	if ((p->kind == JF_KIND_CALL || p->kind == JF_KIND_TIME) && (p->strings || !*p->members))
		return wrong(p, "of calls no argument is recorded as a string");
	return 0;
}
