// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The events of LTTng-UST's tracef() and tracelog() (include/jumpfunc-lttng/lttng/jumpfunc-log.h):
 * a string that is made only while the event is on. They have no tracepoint; callers look whether
 * the event is on, and records are made here, with a filter and without.
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
		.fields = tracelog_fields, .flags = __JF_EVENT_PACKED | __JF_EVENT_CHOOSES, .level = (number) + 1, \
		.args = "", \
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
		.fields = tracef_fields, .flags = __JF_EVENT_PACKED | __JF_EVENT_CHOOSES,
		.level = LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG + 1, .args = "",
	},
};

/* By each source file that may log: the first registers the events, which stay. */
void __jf_log_load(void)
{
	static int loaded;
	int i;

	if (__atomic_exchange_n(&loaded, 1, __ATOMIC_RELAXED))
		return;
	for (i = 0; i <= __JF_LOG_TRACEF; i++) {
		__jf_log_events[i].chooser = (void *)(uintptr_t)__jf_vlog;
		__jf_event_register(&__jf_log_events[i]);
	}
}

/**
 * struct line - the fields of a record
 * @event: of its level
 * @file:  where it comes from; of tracelog() alone, as are @line and @func
 * @file_size: with its end; of tracelog() alone
 * @func_size: the same
 * @text:  @len characters
 */
struct line {
	struct jf_event	*event;
	const char	*file;
	const char	*func;
	uint32_t	file_size;
	uint32_t	func_size;
	int		line;
	uint32_t	len;
	const char	*text;
};

static bool has_place(const struct line *l)
{
	return l->event->fields == tracelog_fields;
}

static uint64_t size_of(const struct line *l)
{
	return 4 + (uint64_t)l->len + (has_place(l) ? 4 + (uint64_t)l->file_size + l->func_size : 0);
}

static void put_fields(char *at, const struct line *l)
{
	if (has_place(l)) {
		memcpy(at, &l->line, 4);
		memcpy(at + 4, l->file, l->file_size);
		memcpy(at + 4 + l->file_size, l->func, l->func_size);
		at += 4 + l->file_size + l->func_size;
	}
	memcpy(at, &l->len, 4);
	memcpy(at + 4, l->text, l->len);
}

static void record(const struct line *l)
{
	char *at;
	__JF_SLOT(slot);

	at = (char *)__jf_reserve(&slot, size_of(l), __JF_LOAD(l->event->id));
	if (!at)
		return;
	put_fields(at, l);
	slot.id = __JF_LOAD(l->event->id);
}

static void record_chosen(const struct line *l)
{
	char *at;
	__JF_DRAFT(draft);

	at = (char *)__jf_draft_begin(&draft, l->event, size_of(l));
	if (!at)
		return;
	put_fields(at, l);
	draft.id = __JF_LOAD(l->event->id);
}

/* Within a read section: jf_record_stop() waits for it before it takes the rings away. */
static void record_line(const struct line *l)
{
	__JF_READ_SECTION;

	if (__JF_LOAD(l->event->choice))
		record_chosen(l);
	else if (__JF_LOAD(l->event->on))
		record(l);
}

/*
 * Bytes of the whole text, with its end; 0: a character of it cannot be printed. The line gets the
 * part that @text has.
 */
static size_t print_into(struct line *l, char *text, size_t size, const char *format, va_list args)
{
	int len;

	*text = 0;
	len = vsnprintf(text, size, format, args);
	l->text = text;
	/* Another thread can make a string of @args longer at any time. */
	if (len < 0)
		l->len = (uint32_t)strnlen(text, size - 1);
	else
		l->len = (size_t)len < size ? (uint32_t)len : (uint32_t)size - 1;
	return len < 0 ? 0 : (size_t)len + 1;
}

void __jf_vlog(int which, const char *file, int line, const char *func, const char *format, va_list args)
{
	struct line l = { .event = &__jf_log_events[which], .file = file, .func = func, .line = line };
	char few[SHORT], *more = NULL;
	int err = errno;
	va_list again;
	size_t size;

	if (has_place(&l)) {
		l.file_size = (uint32_t)__jf_str_size(file);
		l.func_size = (uint32_t)__jf_str_size(func);
	}
	va_copy(again, args);
	size = print_into(&l, few, sizeof(few), format, args);
	if (size > sizeof(few))
		more = malloc(size);
	if (more)
		print_into(&l, more, size, format, again);
	va_end(again);
	record_line(&l);
	free(more);
	errno = err;
}

void __jf_log(int which, const char *file, int line, const char *func, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	__jf_vlog(which, file, line, func, format, args);
	va_end(args);
}
