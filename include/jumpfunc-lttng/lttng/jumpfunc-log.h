/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * What <lttng/tracef.h> and <lttng/tracelog.h>, of this folder, have in common. Their events are
 * libjumpfunc-trace's own, and are there in programs with a source file that includes one of both.
 * Off they cost a load and a branch.
 */
#ifndef JF_LTTNG_LOG_H
#define JF_LTTNG_LOG_H

#include <stdarg.h>

#include "tracepoint.h"

/* After the log levels. */
#define __JF_LOG_TRACEF		(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG + 1)

__JF_BEGIN_DECLS
extern struct jf_event __jf_log_events[__JF_LOG_TRACEF + 1];
void __jf_log_load(void);
void __jf_log(int which, const char *file, int line, const char *func, const char *format, ...)
	__attribute__((__format__(__printf__, 5, 6)));
void __jf_vlog(int which, const char *file, int line, const char *func, const char *format, va_list args)
	__attribute__((__format__(__printf__, 5, 0)));
__JF_END_DECLS

/* Arguments are evaluated only while the event is on. */
#define __JF_LOG(which, function, ...)					\
do {									\
	if (__builtin_expect(!!__JF_LOAD(__jf_log_events[which].on), 0))	\
		function(which, __FILE__, __LINE__, __func__, __VA_ARGS__);	\
} while (0)

/* Not the library itself. */
#ifndef JF_NO_TABLE
__attribute__((__constructor__, __used__))
static void __jf_log_loads(void)
{
	__jf_log_load();
}
#endif

#endif /* JF_LTTNG_LOG_H */
