// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Events as JSON that Perfetto (ui.perfetto.dev) and Chrome's viewer of traces read, made of
 * babeltrace2's text.
 *
 * babeltrace2 escapes characters within strings, so a line is an event:
 *   timestamp = 1.000000002, trace = ..., trace:procname = p, trace:vpid = (3), name = a:b,
 *   stream.packet.context = { tid = 4 }, event.fields = { x = 5, text = "...", list = [ [0] = 1 ] }
 * A line that is not as expected is left out, and counted.
 *
 * A field becomes a member. An integer that a double cannot hold is a string: JavaScript would
 * round it. So are hexadecimal numbers, and words that are not numbers. Text stays as it is; bytes
 * that are no UTF-8 become U+FFFD.
 */
#include "tool.h"
#include "losses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A double has all integers up to this. */
#define EXACT		(UINT64_C(1) << 53)
#define DEPTH_MAX	16

/* Where an event is written, until it is known to be one. */
static FILE *out;
/* Before the next one. */
static const char *separator;

/* --- text -------------------------------------------------------------------------------- */

static void put_text(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	for (; len; s += n, len -= n) {
		n = utf8_length(s, len);
		if (!n) {
			fputs("\\ufffd", out);
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(out, "\\%c", *s);
		} else if (*s < ' ' || *s == 127) {
			fprintf(out, "\\u%04x", *s);
		} else {
			fwrite(s, 1, n, out);
		}
	}
}

static void put_string(const char *text, size_t len)
{
	fputc('"', out);
	put_text(text, len);
	fputc('"', out);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character after a backslash; *@s is moved past it. */
static char unescape(const char **s)
{
	static const char from[] = "abefnrtv0", to[] = "\a\b\033\f\n\r\t\v";
	const char *known = strchr(from, **s);
	int high, low;

	if (**s == 'x') {
		high = hex_digit((*s)[1]);
		low = high < 0 ? -1 : hex_digit((*s)[2]);
		if (low >= 0) {
			*s += 3;
			return (char)(high << 4 | low);
		}
	}
	if (!**s)
		return '\\';
	return known ? ((*s)++, to[known - from]) : *(*s)++;
}

/* --- values ------------------------------------------------------------------------------ */

/* Of a string in quotation marks, in place: it gets no longer. */
static char *put_quoted(char *s)
{
	const char *p = s + 1;
	char *to = s;

	while (*p && *p != '"') {
		if (*p != '\\') {
			*to++ = *p++;
			continue;
		}
		p++;
		*to++ = unescape(&p);
	}
	if (*p != '"')
		return NULL;
	put_string(s, (size_t)(to - s));
	return s + (p + 1 - s);
}

static bool is_integer(const char *s, size_t len)
{
	bool minus = *s == '-';

	return len > minus && len < 22 && strspn(s + minus, "0123456789") == len - minus;
}

/* 1.5, 1e-05 */
static bool is_real(const char *s, size_t len)
{
	char copy[64], *end;

	if (!len || len >= sizeof(copy) || strspn(s, "0123456789+-.e") != len || !strchr("-0123456789", *s) ||
	    strchr("+-.e", s[len - 1]) || (len > 1 && *s == '-' && strchr(".e+-", s[1])))
		return false;
	memcpy(copy, s, len);
	copy[len] = 0;
	strtod(copy, &end);
	return !*end;
}

/* A number, or a word, up to a comma or a blank. */
static char *put_word(char *s)
{
	size_t len = strcspn(s, ", \n");
	uint64_t size;

	if (!len)
		return NULL;
	errno = 0;
	size = is_integer(s, len) ? strtoull(s + (*s == '-'), NULL, 10) : 0;
	if (is_integer(s, len) ? !errno && size <= EXACT : is_real(s, len))
		fwrite(s, 1, len, out);
	else
		put_string(s, len);
	return s + len;
}

/* ( "LABEL" : container = 7 ): as it stands */
static char *put_enum(char *s)
{
	bool quoted = false;
	char *end = s;

	for (; *end && (quoted || *end != ')'); end++) {
		if (*end == '"')
			quoted = !quoted;
		else if (*end == '\\' && end[1])
			end++;
	}
	if (!*end)
		return NULL;
	put_string(s, (size_t)(end + 1 - s));
	return end + 1;
}

static char *put_value(char *s, unsigned int depth);

/* "_x_length = 3, x = ": the length is not a field of its own. */
static bool is_length(const char *key, size_t len, const char *next)
{
	return len > 8 && *key == '_' && !strncmp(key + len - 7, "_length", 7) && !strncmp(next, ", ", 2) &&
	       !strncmp(next + 2, key + 1, len - 8) && !strncmp(next + 2 + len - 8, " = ", 3);
}

/* { a = 1, b = { } } or [ [0] = 1, [1] = 2 ]; returns the rest, or NULL. */
static char *put_compound(char *s, unsigned int depth)
{
	char close = *s == '{' ? '}' : ']', *equals;
	bool first = true;
	size_t len;

	fputc(*s, out);
	for (s++; *s == ' ' || *s == ','; ) {
		s += strspn(s, " ,");
		if (*s == close)
			break;
		equals = strstr(s, " = ");
		if (!equals)
			return NULL;
		len = (size_t)(equals - s);
		if (close == '}' && is_length(s, len, equals + 3 + strcspn(equals + 3, ",}"))) {
			s = equals + 3 + strcspn(equals + 3, ",}");
			continue;
		}
		if (!first)
			fputc(',', out);
		first = false;
		if (close == '}') {
			put_string(s, len);
			fputc(':', out);
		}
		s = put_value(equals + 3, depth + 1);
		if (!s)
			return NULL;
	}
	if (*s != close)
		return NULL;
	fputc(close, out);
	return s + 1;
}

static char *put_value(char *s, unsigned int depth)
{
	if (depth == DEPTH_MAX)
		return NULL;
	switch (*s) {
	case '"':
		return put_quoted(s);
	case '{':
	case '[':
		return put_compound(s, depth);
	case '(':
		return put_enum(s);
	}
	return put_word(s);
}

/* --- events ------------------------------------------------------------------------------- */

/* After @key, up to @end; NULL: it is not there. */
static char *part(char *line, const char *key, const char *end, size_t *len)
{
	char *p = strstr(line, key), *q;

	if (!p)
		return NULL;
	p += strlen(key);
	q = strstr(p, end);
	*len = q ? (size_t)(q - p) : strlen(p);
	return p;
}

/**
 * struct event - parts of a line
 * @name:   of the event
 * @fields: "{ ... }", or NULL
 */
struct event {
	char			*name;
	char			*pid;
	char			*tid;
	char			*fields;
	size_t			n_name;
	size_t			n_pid;
	size_t			n_tid;
	unsigned long long	s;
	unsigned long long	ns;
};

static bool take_apart(char *line, struct event *e)
{
	size_t n_time, n_fields;
	char *time;

	time = part(line, "timestamp = ", ",", &n_time);
	e->pid = part(line, "trace:vpid = (", ")", &e->n_pid);
	e->name = e->pid ? part(e->pid, "name = ", ", stream.packet.context = ", &e->n_name) : NULL;
	e->tid = e->name ? part(e->name, "stream.packet.context = { tid = ", " }", &e->n_tid) : NULL;
	e->fields = e->tid ? part(e->tid, "event.fields = ", "\n", &n_fields) : NULL;
	return e->tid && time && sscanf(time, "%llu.%9llu", &e->s, &e->ns) == 2 &&
	       strspn(e->pid, "0123456789") == e->n_pid && strspn(e->tid, "0123456789") == e->n_tid;
}

static void put_event_name(char *name, size_t len)
{
	char was = name[len], *text;

	name[len] = 0;
	text = readable(name);
	name[len] = was;
	if (text)
		put_string(text, strlen(text));
	else
		put_string(name, len);
	free(text);
}

/* Of the record of a call, which has these fields side by side. 0: it is another event. */
static unsigned long long duration_of(const char *fields)
{
	const char *p = fields ? strstr(fields, ", duration = ") : NULL;
	unsigned long long duration;
	unsigned int left, lost, tail;
	int len = 0;

	for (; p; p = strstr(p + 1, ", duration = "))
		if (sscanf(p, ", duration = %llu, depth = %*u, left = %u, lost = %u, tail = %u%n", &duration, &left, &lost, &tail, &len) == 4 &&
		    (!strncmp(p + len, " }", 2) || !strncmp(p + len, ", ", 2)))
			return duration;
	return 0;
}

/* A record of a call is written at its end; an event of a duration begins before. */
static void put_time(const struct event *e)
{
	unsigned long long ns = e->s * 1000000000 + e->ns, duration = duration_of(e->fields);

	if (!duration || duration > ns)
		duration = 0;
	fputs(duration ? ",\"ph\":\"X\"" : ",\"ph\":\"i\",\"s\":\"t\"", out);
	ns -= duration;
	fprintf(out, ",\"ts\":%llu.%03llu", ns / 1000, ns % 1000);
	if (duration)
		fprintf(out, ",\"dur\":%llu.%03llu", duration / 1000, duration % 1000);
}

static bool put_event(char *line)
{
	struct event e;
	char *rest = NULL;

	if (!take_apart(line, &e))
		return false;
	fprintf(out, "%s{\"name\":", separator);
	put_event_name(e.name, e.n_name);
	put_time(&e);
	fprintf(out, ",\"pid\":%.*s,\"tid\":%.*s,\"args\":", (int)e.n_pid, e.pid, (int)e.n_tid, e.tid);
	if (e.fields && *e.fields == '{')
		rest = put_compound(e.fields, 0);
	else
		fputs("{}", out);
	fputc('}', out);
	return !e.fields || rest;
}

/*
 * Names of processes and threads, and from when on rings have records: those before that were
 * overwritten.
 */
static void put_begin(const struct losses *l)
{
	size_t i;

	separator = "";
	for (i = 0; i < l->num_processes; i++, separator = ",\n") {
		printf("%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":", separator, l->process[i].pid);
		put_string(l->process[i].name, strlen(l->process[i].name));
		fputs("}}", stdout);
	}
	for (i = 0; i < l->num_threads; i++, separator = ",\n") {
		printf("%s{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32 ",\"args\":{\"name\":", separator,
		       l->thread[i].pid, l->thread[i].tid);
		put_string(l->thread[i].name, strlen(l->thread[i].name));
		fputs("}}", stdout);
	}
	for (i = 0; i < l->num; i++) {
		const struct ring_losses *r = &l->ring[i];

		if (!r->timed || !r->num_tids || !(r->overwritten || r->discarded))
			continue;
		printf("%s{\"name\":\"jumpfunc:lost\",\"ph\":\"i\",\"s\":\"t\",\"ts\":%" PRId64 ".%03u,\"pid\":%d,\"tid\":%" PRIu32
		       ",\"args\":{\"overwritten\":%" PRIu64 ",\"discarded\":%" PRIu64 "}}", separator,
		       r->seconds * 1000000 + (int64_t)(r->ns / 1000), (unsigned int)(r->ns % 1000), r->pid, r->tid[0],
		       r->overwritten, r->discarded);
		separator = ",\n";
	}
}

void json_begin(const struct losses *losses)
{
	puts("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	out = stdout;
	put_begin(losses);
}

int json_events(int in)
{
	FILE *f = fdopen(in, "r");
	unsigned long long left_out = 0;
	char *line = NULL, *text = NULL;
	size_t room = 0, size;

	if (!f) {
		close(in);
		return fail("%s", strerror(errno));
	}
	out = open_memstream(&text, &size);
	while (out && getline(&line, &room, f) > 0) {
		rewind(out);
		if (!put_event(line)) {
			left_out++;
			continue;
		}
		fflush(out);
		fwrite(text, 1, (size_t)ftello(out), stdout);
		separator = ",\n";
	}
	if (out)
		fclose(out);
	free(text);
	free(line);
	fclose(f);
	if (written(stdout))
		return STATUS_FAILED;
	return left_out ? fail("%llu lines of babeltrace2 were not understood, and left out; events need time stamps", left_out) :
	       out ? STATUS_OK : fail("%s", strerror(ENOMEM));
}

void json_end(const struct losses *losses)
{
	printf("\n],\"otherData\":{\"records\":%" PRIu64 ",\"overwritten\":%" PRIu64 ",\"discarded\":%" PRIu64 "}}\n",
	       losses->records, losses->overwritten, losses->discarded);
}
