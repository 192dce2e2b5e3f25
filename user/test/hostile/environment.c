// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The environment is read once, before main(): later another thread may change it, and
 * so a later look would be a race. These stand in front of libc's functions.
 */
#include <jumpfunc/stats.h>
#include <jumpfunc/tracepoint.h>

#include "hostile.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);
DEFINE_JF_KEY_FALSE(key);

extern char **environ;

static int reads;

static char *look(const char *name)
{
	size_t num = strlen(name);
	char **e;

	reads++;
	for (e = environ; e && *e; e++)
		if (!strncmp(*e, name, num) && (*e)[num] == '=')
			return *e + num + 1;
	return NULL;
}

char *getenv(const char *name)
{
	return look(name);
}

char *secure_getenv(const char *name)
{
	return look(name);
}

static void probe(void *data, int i)
{
	(void)data;
	(void)i;
}

int main(void)
{
	struct jf_stats s;
	int before = reads;

	alarm(10);
	MUST(before > 0, "the library did not read it");
	MUST(!register_jf_trace_rx(probe, NULL), "register");
	MUST(!register_jf_trace_rx(probe, &s), "register");
	jf_trace_rx(1);
	MUST(!unregister_jf_trace_rx(probe, NULL), "unregister");
	MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "changes");
	jf_stats_get(&s, sizeof(s));
	MUST(reads == before, "%d more", reads - before);
	return 0;
}
