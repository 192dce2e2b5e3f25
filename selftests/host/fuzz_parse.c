// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libFuzzer target for the debugfs parser: any bytes, as one write. What the
 * parser makes of them is compared with a second reading of the rules, that reads
 * from the end of a word to its start and from numbers to digits.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../parse/parse.h"

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

/* One word, by searching: is it an assignment, and of what? */
static bool assignment(const char *word, size_t len, const struct jf_assignment *a)
{
	const char *end = word + len, *equals = end, *colon = NULL, *p;

	for (p = end; p-- > word;)
		if (*p == '=')
			equals = p;
	for (p = equals; p-- > word;)
		if (*p == ':')
			colon = p;
	if (equals == end || equals + 1 == end)
		return false;
	p = colon ? colon + 1 : word;
	if (p == equals || colon == word)
		return false;
	if (!a)
		return true;
	must(!a->module == !colon);
	if (colon)
		must(strlen(a->module) == (size_t)(colon - word) &&
		     !memcmp(a->module, word, strlen(a->module)));
	must(strlen(a->name) == (size_t)(equals - p) && !memcmp(a->name, p, strlen(a->name)));
	must(strlen(a->target) == (size_t)(end - equals - 1) &&
	     !memcmp(a->target, equals + 1, strlen(a->target)));
	return true;
}

static void assignments(char *cmd, const char *copy)
{
	struct jf_assignment a;
	size_t len;
	int ret;

	for (;;) {
		while (space(*copy))
			copy++;
		for (len = 0; copy[len] && !space(copy[len]); len++)
			;
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
	}
	free(copy);
	free(cmd);
	return 0;
}
