// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The events of LTTng-UST's tracef() and tracelog() (include/jumpfunc-lttng/lttng/jumpfunc-log.h):
 * a string that is made only while the event is on. They have no tracepoint; callers look whether
 * the event is on.
 */
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/jumpfunc-lttng/lttng/jumpfunc-log.h"

/* Longer ones take memory. */
#define SHORT	512

#define TEXT_FIELD							\
	{ "msg", "char", __JF_FIELD_DYNAMIC, 1, (char)-1 < 0, 1, 1, 0, __JF_SHOW_TEXT, NULL }
#define LAST_FIELD	{ NULL, NULL, __JF_FIELD_END, 0, 0, 0, 0, 0, 0, NULL }

static const struct jf_event_field tracef_fields[] = { TEXT_FIELD, LAST_FIELD };
static const struct jf_event_field tracelog_fields[] = {
	{ "line", "int", __JF_FIELD_SCALAR, 1, 1, 1, 4, 1, __JF_SHOW_DECIMAL, NULL },
	{ "file", "char", __JF_FIELD_STRING, 1, 1, 1, 1, 0, __JF_SHOW_TEXT, NULL },
	{ "func", "char", __JF_FIELD_STRING, 1, 1, 1, 1, 0, __JF_SHOW_TEXT, NULL },
	TEXT_FIELD, LAST_FIELD
};

#define LOG_EVENT(number)						\
	[number] = {							\
		.version = JF_EVENT_VERSION, .system = "lttng_ust_tracelog", .name = #number, .print = "", \
		.fields = tracelog_fields, .flags = __JF_EVENT_PACKED, .level = (number) + 1, .args = "", \
	}

struct jf_event __jf_log_events[] = {
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_SYSTEM),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROGRAM),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROCESS),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_MODULE),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_UNIT),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE),
	LOG_EVENT(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG),
	[__JF_LOG_TRACEF] = {
		.version = JF_EVENT_VERSION, .system = "lttng_ust_tracef", .name = "event", .print = "",
		.fields = tracef_fields, .flags = __JF_EVENT_PACKED, .level = LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG + 1, .args = "",
	},
};

/* By each source file that may log: the first registers the events, which stay. */
void __jf_log_load(void)
{
	static int loaded;
	int i;

	if (__atomic_exchange_n(&loaded, 1, __ATOMIC_RELAXED))
		return;
	for (i = 0; i <= __JF_LOG_TRACEF; i++)
		__jf_event_register(&__jf_log_events[i]);
}

static void record(const struct jf_event *event, const char *file, int line, const char *func, const char *text, uint32_t len)
{
	uint64_t file_size = 0, func_size = 0, size = 4 + (uint64_t)len;
	char *at;
	__JF_SLOT(slot);

	if (event->fields == tracelog_fields) {
		file_size = __jf_str_size(file);
		func_size = __jf_str_size(func);
		size += 4 + file_size + func_size;
	}
	at = (char *)__jf_reserve(&slot, size, __JF_LOAD(event->id));
	if (!at)
		return;
	if (event->fields == tracelog_fields) {
		memcpy(at, &line, 4);
		memcpy(at + 4, file, file_size);
		memcpy(at + 4 + file_size, func, func_size);
		at += 4 + file_size + func_size;
	}
	memcpy(at, &len, 4);
	memcpy(at + 4, text, len);
	slot.id = __JF_LOAD(event->id);
}

void __jf_vlog(int which, const char *file, int line, const char *func, const char *format, va_list args)
{
	const struct jf_event *event = &__jf_log_events[which];
	char few[SHORT], *text = few;
	int len, size, err = errno;
	va_list again;

	va_copy(again, args);
	len = vsnprintf(few, sizeof(few), format, args);
	if (len >= SHORT) {
		size = len + 1;
		text = malloc((size_t)size);
		len = text ? vsnprintf(text, (size_t)size, format, again) : -1;
		/* Another thread can make a string of @args longer in between. */
		len = len < size ? len : size - 1;
	}
	va_end(again);
	if (len >= 0) {
		__JF_READ_SECTION;

		/*
		 * Within the section: jf_record_stop() waits for it before it takes the rings away.
		 */
		if (__JF_LOAD(event->on))
			record(event, file, line, func, text, (uint32_t)len);
	}
	if (text != few)
		free(text);
	errno = err;
}

void __jf_log(int which, const char *file, int line, const char *func, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	__jf_vlog(which, file, line, func, format, args);
	va_end(args);
}
