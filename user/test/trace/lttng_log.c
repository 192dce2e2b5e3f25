// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * tracef() and tracelog(), for LTTng's headers and for ours. With an argument nothing is recorded,
 * and nothing may be evaluated.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include <lttng/tracef.h>
#include <lttng/tracelog.h>

static int evaluated;

static int value(int v)
{
	evaluated++;
	return v;
}

__attribute__((__format__(__printf__, 1, 2)))
static void vf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	lttng_ust_vtracef(format, args);
	va_end(args);
}

__attribute__((__format__(__printf__, 1, 2)))
static void vlog(const char *format, ...)
{
	va_list args;

	va_start(args, format);
#line 200 "log.c"
	lttng_ust_vtracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR, format, args);
	va_end(args);
}

static void all_levels(void)
{
#line 100 "log.c"
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG, "level %d", value(0));
	tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT, "level %d", value(1));
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT, "level %d", value(2));
	tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR, "level %d", value(3));
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING, "level %d", value(4));
	tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE, "level %d", value(5));
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO, "level %d", value(6));
	tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_SYSTEM, "level %d", value(7));
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROGRAM, "level %d", value(8));
	tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROCESS, "level %d", value(9));
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_MODULE, "level %d", value(10));
	tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_UNIT, "level %d", value(11));
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION, "level %d", value(12));
	tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE, "level %d", value(13));
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG, "level %d", value(14));
}

int main(int argc, char **argv)
{
	(void)argv;
	all_levels();
	/* Compilers warn of a format of no characters. */
	lttng_ust_tracef("%s", "");
	errno = ERANGE;
	tracef("one %d", value(1));
	if (errno != ERANGE)
		return 2;
	tracef("x%01000d", value(7));
	vf("by a list: %d %01000d", 5, 7);
	vlog("by a list: %d %s", 6, "a");
	return evaluated != (argc > 1 ? 0 : 17);
}
