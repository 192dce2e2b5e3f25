// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Messages for people. */
#include "tool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void say(const char *format, va_list args)
{
	progress_end();
	fputs("jf-trace: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return STATUS_FAILED;
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

int written(FILE *to)
{
	struct pollfd end = { fileno(to), 0, 0 };
	int err;

	errno = 0;
	/* Each write may have failed, also one before others that did not. */
	if (!fflush(to) && !ferror(to))
		return STATUS_OK;
	err = errno;
	if (err == EPIPE || (poll(&end, 1, 0) > 0 && end.revents & POLLERR))
		return STATUS_OK;
	return fail("the output cannot be written: %s", err ? strerror(err) : "not all of it is there; is its disk full?");
}

bool is_pattern(const char *text)
{
	struct jf_pattern p;

	if (!jf_pattern_parse(&p, text))
		return true;
	fail("'%s' is no pattern of probes: %s", text, p.why);
	return false;
}

const char *asked_glob(const char *glob)
{
	const char *rest = glob;

	return jf_kind_of(&rest) == JF_KIND_TIME ? rest : glob;
}

size_t utf8_length(const unsigned char *s, size_t len)
{
	size_t n = *s < 0x80 ? 1 : *s >= 0xc2 && *s < 0xe0 ? 2 : *s >= 0xe0 && *s < 0xf0 ? 3 : *s >= 0xf0 && *s < 0xf5 ? 4 : 0, i;

	if (n > len)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than it need be, half of a pair, or beyond the last one. */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* A terminal takes U+0080 to U+009F for control characters, as those below the blank. */
void put_safe(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = strlen(text), n;

	for (; len; s += n, len -= n) {
		n = utf8_length(s, len);
		if (!n || *s < ' ' || *s == 127 || (*s == 0xc2 && s[1] < 0xa0)) {
			fputc('?', to);
			n = n ? n : 1;
		} else {
			fwrite(s, 1, n, to);
		}
	}
}

/* --- progress ------------------------------------------------------------------------- */

static char progress_text[160];
static volatile sig_atomic_t progress_seconds;
static bool progress_on;

/* Only calls that a signal handler can make. */
static void tick(int sig)
{
	int saved = errno, n = ++progress_seconds;
	char line[sizeof(progress_text) + 32], digits[12];
	size_t len = strlen(progress_text), d = 0;

	(void)sig;
	line[0] = '\r';
	memcpy(line + 1, progress_text, len);
	len++;
	memcpy(line + len, " ... ", 5);
	len += 5;
	do
		digits[d++] = (char)('0' + n % 10);
	while (n /= 10);
	while (d)
		line[len++] = digits[--d];
	memcpy(line + len, " s", 2);
	if (write(STDERR_FILENO, line, len + 2) < 0)
		progress_seconds = 0;
	errno = saved;
}

void progress(const char *format, ...)
{
	const struct itimerval each = { { 1, 0 }, { 1, 0 } };
	struct sigaction act;
	va_list args;

	if (progress_on || !isatty(STDERR_FILENO))
		return;
	va_start(args, format);
	vsnprintf(progress_text, sizeof(progress_text), format, args);
	va_end(args);
	progress_seconds = 0;
	memset(&act, 0, sizeof(act));
	act.sa_handler = tick;
	act.sa_flags = SA_RESTART;
	progress_on = !sigaction(SIGALRM, &act, NULL) && !setitimer(ITIMER_REAL, &each, NULL);
}

void progress_end(void)
{
	const struct itimerval none = { { 0, 0 }, { 0, 0 } };

	if (!progress_on)
		return;
	progress_on = false;
	setitimer(ITIMER_REAL, &none, NULL);
	/* The line goes. */
	if (progress_seconds)
		fputs("\r\033[K", stderr);
}
