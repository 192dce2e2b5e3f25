// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Names of C++ and Rust functions (demangle.h). Nothing here looks at the locale. */
#include "demangle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "glob.h"

#define GROUP_MAX	256
/* "17h", sixteen digits, "E" */
#define HASH_LENGTH	20

/* --- Rust -------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_rust(const char *name)
{
	size_t len = strlen(name);
	const char *hash = name + len - HASH_LENGTH;

	return len > HASH_LENGTH + 3 && !strncmp(name, "_ZN", 3) && !strncmp(hash, "17h", 3) && name[len - 1] == 'E' &&
	       strspn(hash + 3, "0123456789abcdef") == 16;
}

/* A character's word between two '$'; 0: it has no such word. */
static char rust_escape(const char *text, size_t len)
{
	static const struct {
		const char	*word;
		char		c;
	} words[] = {
		{ "SP", '@' }, { "BP", '*' }, { "RF", '&' }, { "LT", '<' }, { "GT", '>' }, { "LP", '(' }, { "RP", ')' }, { "C", ',' },
	};
	unsigned long c;
	char *end;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == len && !strncmp(words[i].word, text, len))
			return words[i].c;
	if (len < 2 || len > 4 || *text != 'u')
		return 0;
	c = strtoul(text + 1, &end, 16);
	return end == text + len && c >= ' ' && c < 127 ? (char)c : 0;
}

/*
 * One part of a path. @to gets no longer: each escape is longer than its character, and ".." is
 * "::".
 */
static char *rust_part(char *to, const char *from, size_t len)
{
	const char *end = from + len, *next;
	char c;

	/* A part that begins with an escape has a '_' before it. */
	if (len > 1 && from[0] == '_' && from[1] == '$')
		from++;
	while (from < end) {
		if (end - from > 1 && from[0] == '.' && from[1] == '.') {
			*to++ = ':';
			*to++ = ':';
			from += 2;
			continue;
		}
		next = *from == '$' ? memchr(from + 1, '$', (size_t)(end - from - 1)) : NULL;
		c = next ? rust_escape(from + 1, (size_t)(next - from - 1)) : 0;
		*to++ = c ? c : *from;
		from = c ? next + 1 : from + 1;
	}
	return to;
}

static char *demangle_rust(const char *name)
{
	size_t len = strlen(name), num;
	const char *at = name + 3, *end = name + len - HASH_LENGTH;
	/* For each part a length of one digit at least, and "::" in place of it. */
	char *text = malloc(2 * len), *to = text;

	while (text && at < end) {
		for (num = 0; at < end && is_digit(*at) && num < len; at++)
			num = num * 10 + (size_t)(*at - '0');
		if (!num || num > (size_t)(end - at)) {
			free(text);
			return NULL;
		}
		if (to != text) {
			*to++ = ':';
			*to++ = ':';
		}
		to = rust_part(to, at, num);
		at += num;
	}
	if (text)
		*to = 0;
	return text;
}

/* --- C++ --------------------------------------------------------------------------------- */

char *jf_demangle(jf_cxa_fn *cxa, const char *name)
{
	int status = -1;
	char *text;

	if (name[0] != '_' || name[1] != 'Z' || strlen(name) > JF_MANGLED_MAX)
		return NULL;
	text = is_rust(name) ? demangle_rust(name) : NULL;
	if (text || !cxa)
		return text;
	text = cxa(name, NULL, NULL, &status);
	if (!status)
		return text;
	free(text);
	return NULL;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

/* Where brackets are open none but their own ends them; '<' of an operator is no bracket. */
static int depth_of(char c)
{
	return c == '(' || c == '<' || c == '{' || c == '[' ? 1 : c == ')' || c == '>' || c == '}' || c == ']' ? -1 : 0;
}

/* The end of "operator()", "operator<<", "operator new[]", "operator int", or NULL. */
static char *pass_operator(char *at)
{
	static const char *const signs[] = {
		"()", "[]", "<=>", "->*", "<<=", ">>=", "->", "<<", ">>", "<=", ">=", "<", ">", " new[]", " delete[]", " new", " delete",
	};
	size_t i;

	if (strncmp(at, "operator", 8) || is_word(at[8]))
		return NULL;
	at += 8;
	for (i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (strncmp(at, signs[i], strlen(signs[i])))
			continue;
		at += strlen(signs[i]);
		/* "operator<< <int>(...)" */
		return at + (at[0] == ' ' && at[1] == '<');
	}
	/* To a type: its blanks are no ends. */
	while (*at && *at != '(')
		at++;
	return at;
}

/*
 * Of "int shop::add<int>(int, int) const": where the name begins, and where its parameters do, or
 * NULL. A list before "::" belongs to a function in which this one is, and so to the name.
 */
static char *find_name(char *text, char **params)
{
	char *begin = text, *at = text, *next;
	int depth = 0;

	*params = NULL;
	while (*at) {
		next = !depth && (at == text || !is_word(at[-1])) ? pass_operator(at) : NULL;
		if (next) {
			at = next;
			continue;
		}
		if (!depth && *at == '(' && at != begin && !*params)
			*params = at;
		depth += depth_of(*at);
		if (depth < 0)
			depth = 0;
		at++;
		if (!depth && at[-1] == ')' && !strncmp(at, "::", 2))
			*params = NULL;
		else if (!depth && at[-1] == ' ' && !*params)
			begin = at;
	}
	return begin;
}

char *jf_demangled_short(char *text)
{
	char *params, *begin = find_name(text, &params);

	if (params)
		*params = 0;
	return begin;
}

bool jf_demangled_fits(jf_cxa_fn *cxa, const char *glob, const char *group, const char *name)
{
	const char *colon = jf_group_end(glob);
	char part[GROUP_MAX], *text, *begin;
	bool fits = false;

	/* Jumps of its function alone enter a cold part: the function's name does not mean it. */
	if (name[0] != '_' || name[1] != 'Z' || (jf_is_cold(name) && !strstr(glob, "cold")))
		return false;
	if (colon) {
		if ((size_t)(colon - glob) >= sizeof(part))
			return false;
		memcpy(part, glob, (size_t)(colon - glob));
		part[colon - glob] = 0;
		if (!jf_glob_matches(part, group))
			return false;
		glob = colon + 1;
	}
	text = jf_demangle(cxa, name);
	if (!text)
		return false;
	fits = jf_glob_matches(glob, text);
	if (!fits) {
		char *params;

		begin = find_name(text, &params);
		fits = begin != text && jf_glob_matches(glob, begin);
		if (!fits && params) {
			*params = 0;
			fits = jf_glob_matches(glob, begin);
		}
	}
	free(text);
	return fits;
}
