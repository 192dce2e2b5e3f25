// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Nothing here allocates, prints, or knows an entity: see kernel/parse/parse.h. */
#include "parse/parse.h"
#include "common/glob.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <limits.h>
#include <string.h>
#endif

/* The separators between the words of a command. */
#define JF_PARSE_SPACE	" \t\n"

/**
 * jf_parse_command - make a string of a write
 * @buf: the bytes, with a NUL at @buf[@len]; a final newline is removed
 * @len: how many
 *
 * Return: 0; -EINVAL: there is a NUL among them, which would hide the rest.
 */
int jf_parse_command(char *buf, size_t len)
{
	if (memchr(buf, '\0', len))
		return -EINVAL;
	if (len && buf[len - 1] == '\n')
		buf[len - 1] = '\0';
	return 0;
}

/**
 * jf_parse_number - a decimal number that is all of a command
 * @s:   digits and nothing else, without leading zeros
 * @max: the largest number allowed
 * @num: the number; unchanged on error
 *
 * Return: 0; -EINVAL: it is something else.
 */
int jf_parse_number(const char *s, unsigned int max, unsigned int *num)
{
	unsigned int n = 0;

	if (!*s || (s[0] == '0' && s[1]))
		return -EINVAL;
	for (; *s; s++) {
		unsigned int digit = (unsigned char)*s - '0';

		/* Neither the product nor the sum below may wrap. */
		if (digit > 9 || digit > max || n > (max - digit) / 10)
			return -EINVAL;
		n = n * 10 + digit;
	}
	*num = n;
	return 0;
}

/* The next word of @cmd, which becomes a string of its own; NULL: none is left. */
static char *jf_parse_word(char **cmd)
{
	char *word = *cmd + strspn(*cmd, JF_PARSE_SPACE);
	size_t len = strcspn(word, JF_PARSE_SPACE);

	*cmd = word + len;
	if (**cmd)
		*(*cmd)++ = '\0';
	return len ? word : NULL;
}

/**
 * jf_parse_assignment - the next assignment of a list @cmd: the rest of the command, whose
 * separators become NULs; moved past
 *       the assignment
 * @a:   the assignment, pointing into the command
 *
 * Return: 1: there was one; 0: nothing is left; -EINVAL: the next word is not
 * one, a part of it is empty, or the rank is no number from 1 on.
 */
int jf_parse_assignment(char **cmd, struct jf_assignment *a)
{
	char *word = jf_parse_word(cmd);
	char *equals, *colon, *hash;

	if (!word)
		return 0;
	equals = strchr(word, '=');
	if (!equals)
		return -EINVAL;
	*equals = '\0';
	/* Only on the left: a target's name is whatever its owner called it. */
	colon = strchr(word, ':');
	if (colon)
		*colon = '\0';
	a->rank = 0;
	hash = strchr(colon ? colon + 1 : word, '#');
	if (hash) {
		*hash = '\0';
		if (jf_parse_number(hash + 1, UINT_MAX, &a->rank) || !a->rank)
			return -EINVAL;
	}
	a->module = colon ? word : NULL;
	a->name = colon ? colon + 1 : word;
	a->target = equals + 1;
	if ((a->module && !*a->module) || !*a->name || !*a->target)
		return -EINVAL;
	return 1;
}

/**
 * jf_parse_pattern - the next pattern of a list, that of probes
 * @cmd: the rest of the command, whose separators become NULs; moved past
 *       the pattern
 * @p:   the pattern, pointing into the command; an empty part has become "*"
 *
 * Return: 1: there was one; 0: nothing is left; -EINVAL: the next word is not
 * one: it has no sign, or not four parts.
 */
int jf_parse_pattern(char **cmd, struct jf_pattern *p)
{
	char *word = jf_parse_word(cmd);
	const char *part[4];
	unsigned int i;

	if (!word)
		return 0;
	if (*word != '+' && *word != '-')
		return -EINVAL;
	p->on = *word++ == '+';
	for (i = 0; i < 4; i++) {
		char *colon = strchr(word, ':');

		if (!colon != (i == 3))
			return -EINVAL;
		if (colon)
			*colon = '\0';
		part[i] = *word ? word : "*";
		word = colon ? colon + 1 : word;
	}
	p->provider = part[0];
	p->module = part[1];
	p->function = part[2];
	p->name = part[3];
	return 1;
}

/**
 * jf_parse_fits - does a pattern match all of a string
 * @s:       the string
 * @pattern: '*' is any number of any characters, '?' is one
 *
 * Return: whether it is.
 */
int jf_parse_fits(const char *s, const char *pattern)
{
	return jf_glob_fits(s, pattern, pattern + strlen(pattern), jf_glob_one);
}
