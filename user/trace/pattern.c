// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* What a user has written to say which probes are meant (pattern.h). */
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

/* What is in the brackets, the last of which is the end of all. */
static int parse_types(struct jf_pattern *p, const char *types)
{
	unsigned int arg = 0, nr = 0;
	size_t len;

	for (;; arg++, types += len + 1) {
		len = strcspn(types, ",)");
		if (len && arg >= JF_ARGS_MAX)
			return wrong(p, "it speaks of more than %d arguments", JF_ARGS_MAX);
		if (len == 6 && !strncmp(types, "string", 6)) {
			if (nr++ == JF_STRINGS_MAX)
				return wrong(p, "more than %d of its arguments are strings", JF_STRINGS_MAX);
			p->strings |= (uint16_t)(1U << arg);
		} else if (len && strspn(types, "_") != len) {
			return wrong(p, "'%.*s%s' in its brackets is neither string, nor _ for what is none", len > 20 ? 20 : (int)len,
				     types, len > 20 ? "..." : "");
		}
		if (types[len] == ')')
			return 0;
	}
}

int jf_pattern_parse(struct jf_pattern *p, const char *text)
{
	size_t size = strlen(text), len = strcspn(text, "()");

	memset(p, 0, sizeof(*p));
	if (!size)
		return wrong(p, "it is empty");
	if (size >= sizeof(p->glob))
		return wrong(p, "it has more than %zu characters", sizeof(p->glob) - 1);
	if (!len)
		return wrong(p, "no name is before its bracket");
	if (memchr(text, ',', len))
		return wrong(p, "it has a comma that is in no brackets");
	memcpy(p->glob, text, len);
	if (!text[len])
		return 0;
	if (text[len] == ')' || strcspn(text + len + 1, "()") != size - len - 2 || text[size - 1] != ')')
		return wrong(p, "it has one pair of brackets at most, at its end");
	return parse_types(p, text + len + 1);
}
