// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Nothing here allocates, prints, or knows an entity: see parse/parse.h. */
#include "parse/parse.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <string.h>
#endif

/* What stands between the words of a command. */
#define JF_PARSE_SPACE	" \t\n"

/**
 * jf_parse_command - make a string of what was written
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

/**
 * jf_parse_assignment - the next assignment of a list
 * @cmd: what is left of the command, whose separators become NULs; moved past
 *       the assignment
 * @a:   the assignment, pointing into the command
 *
 * Return: 1: there was one; 0: nothing is left; -EINVAL: the next word is not
 * one, or a part of it is empty.
 */
int jf_parse_assignment(char **cmd, struct jf_assignment *a)
{
	char *word = *cmd + strspn(*cmd, JF_PARSE_SPACE);
	size_t len = strcspn(word, JF_PARSE_SPACE);
	char *equals, *colon;

	*cmd = word + len;
	if (!len)
		return 0;
	if (**cmd)
		*(*cmd)++ = '\0';

	equals = strchr(word, '=');
	if (!equals)
		return -EINVAL;
	*equals = '\0';
	/* Only on the left: a target's name is whatever its owner called it. */
	colon = strchr(word, ':');
	if (colon)
		*colon = '\0';
	a->module = colon ? word : NULL;
	a->name = colon ? colon + 1 : word;
	a->target = equals + 1;
	if ((a->module && !*a->module) || !*a->name || !*a->target)
		return -EINVAL;
	return 1;
}
