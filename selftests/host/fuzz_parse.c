// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libFuzzer target for the debugfs parser: any bytes, as one write. The parser's results are
 * compared with a second reading of the rules, that reads from the end of a word to its start and
 * from numbers to digits.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* Print all candidates and compare, where there are few of them. */
static void number(const char *s, unsigned int max)
{
	unsigned int n = 12345, i;
	int err = jf_parse_number(s, max, &n);
	char again[12];

	if (!err) {
		must(n <= max);
		snprintf(again, sizeof(again), "%u", n);
		must(!strcmp(again, s));
		return;
	}
	must(err == -EINVAL && n == 12345);
	for (i = 0; i <= max && i < 100; i++) {
		snprintf(again, sizeof(again), "%u", i);
		must(strcmp(again, s));
	}
}

static bool space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* A number from 1 on, which fits, or 0. */
static unsigned int rank_of(const char *s, const char *end)
{
	unsigned long long n = 0;

	if (s == end || *s == '0')
		return 0;
	for (; s < end; s++) {
		if (*s < '0' || *s > '9' || n > UINT_MAX)
			return 0;
		n = 10 * n + (unsigned int)(*s - '0');
	}
	return n > UINT_MAX ? 0 : (unsigned int)n;
}

/* By searching: true if the word is the assignment @a. */
static bool assignment(const char *word, size_t len, const struct jf_assignment *a)
{
	const char *end = word + len, *equals = end, *colon = NULL, *hash, *p;

	for (p = end; p-- > word;)
		if (*p == '=')
			equals = p;
	for (p = equals; p-- > word;)
		if (*p == ':')
			colon = p;
	if (equals == end || equals + 1 == end)
		return false;
	p = colon ? colon + 1 : word;
	hash = memchr(p, '#', (size_t)(equals - p));
	if (!hash)
		hash = equals;
	if (p == hash || colon == word || (hash < equals && !rank_of(hash + 1, equals)))
		return false;
	if (!a)
		return true;
	must(!a->module == !colon);
	if (colon)
		must(strlen(a->module) == (size_t)(colon - word) &&
		     !memcmp(a->module, word, strlen(a->module)));
	must(a->rank == (hash < equals ? rank_of(hash + 1, equals) : 0));
	must(strlen(a->name) == (size_t)(hash - p) && !memcmp(a->name, p, strlen(a->name)));
	must(strlen(a->target) == (size_t)(end - equals - 1) &&
	     !memcmp(a->target, equals + 1, strlen(a->target)));
	return true;
}

/* How long the next word is, to which *@text goes on; 0: the text is at its end. */
static size_t next_word(const char **text)
{
	size_t len;

	while (space(**text))
		++*text;
	for (len = 0; (*text)[len] && !space((*text)[len]); len++)
		;
	return len;
}

static void assignments(char *cmd, const char *copy)
{
	struct jf_assignment a;
	size_t len;
	int ret;

	for (;;) {
		len = next_word(&copy);
		ret = jf_parse_assignment(&cmd, &a);
		if (!len) {
			must(!ret);
			return;
		}
		if (ret < 0) {
			must(ret == -EINVAL && !assignment(copy, len, NULL));
			return;
		}
		must(ret == 1 && assignment(copy, len, &a));
		copy += len;
	}
}

/* The meaning of a pattern, by definition, with a table of answers for each rest of both. */
static bool fits(const char *s, const char *pattern)
{
	size_t ns = strlen(s), np = strlen(pattern), i, j;
	bool *ok = calloc((ns + 1) * (np + 1), 1), all;
#define OK(i, j) ok[(i) * (np + 1) + (j)]

	must(ok);
	for (i = ns + 1; i-- > 0;) {
		for (j = np + 1; j-- > 0;) {
			if (j == np)
				OK(i, j) = i == ns;
			else if (pattern[j] == '*')
				OK(i, j) = OK(i, j + 1) || (i < ns && OK(i + 1, j));
			else
				OK(i, j) = i < ns && (pattern[j] == '?' || pattern[j] == s[i]) &&
					   OK(i + 1, j + 1);
		}
	}
	all = OK(0, 0);
	free(ok);
	return all;
}

static bool part(const char *got, const char *from, size_t len)
{
	return len ? strlen(got) == len && !memcmp(got, from, len) : !strcmp(got, "*");
}

/* True if this word is a pattern of four parts, and it is @p. */
static bool pattern(const char *word, size_t len, const struct jf_pattern *p)
{
	size_t at[5], n = 0, i;

	if (!len || (*word != '+' && *word != '-'))
		return false;
	at[0] = 0;
	for (i = 1; i < len; i++)
		if (word[i] == ':' && ++n < 5)
			at[n] = i;
	if (n != 3)
		return false;
	at[4] = len;
	if (!p)
		return true;
	must(p->on == (*word == '+'));
	must(part(p->provider, word + at[0] + 1, at[1] - at[0] - 1));
	must(part(p->module, word + at[1] + 1, at[2] - at[1] - 1));
	must(part(p->function, word + at[2] + 1, at[3] - at[2] - 1));
	must(part(p->name, word + at[3] + 1, at[4] - at[3] - 1));
	must(!jf_parse_fits(p->module, p->function) == !fits(p->module, p->function));
	must(!jf_parse_fits(p->name, p->provider) == !fits(p->name, p->provider));
	must(jf_parse_fits(p->module, "*"));
	must(jf_parse_fits("ab", "ab*") && jf_parse_fits("ab", "?b") && !jf_parse_fits("", "?"));
	return true;
}

static void patterns(char *cmd, const char *copy)
{
	struct jf_pattern p;
	size_t len;
	int ret;

	for (;;) {
		len = next_word(&copy);
		ret = jf_parse_pattern(&cmd, &p);
		if (!len) {
			must(!ret);
			return;
		}
		if (ret < 0) {
			must(ret == -EINVAL && !pattern(copy, len, NULL));
			return;
		}
		must(ret == 1 && pattern(copy, len, &p));
		copy += len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of just that size, so that a step beyond its end is seen. */
	char *cmd = malloc(size + 1), *copy = malloc(size + 1);
	int err;

	must(cmd && copy);
	memcpy(cmd, data, size);
	cmd[size] = '\0';
	err = jf_parse_command(cmd, size);
	if (size && memchr(data, 0, size)) {
		must(err == -EINVAL);
	} else {
		must(!err);
		memcpy(copy, data, size);
		copy[size] = '\0';
		if (size && copy[size - 1] == '\n')
			copy[size - 1] = '\0';
		must(!strcmp(copy, cmd));
		number(cmd, 2);
		number(cmd, 16);
		number(cmd, 4294967295U);
		assignments(cmd, copy);
		memcpy(cmd, copy, strlen(copy) + 1);
		patterns(cmd, copy);
	}
	free(copy);
	free(cmd);
	return 0;
}
