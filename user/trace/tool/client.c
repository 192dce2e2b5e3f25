// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Requests to a process by its control socket, and the answers: control.h has the protocol.
 *
 * The process may be hostile to root: its answers are bounded and checked, and nothing that it
 * names is opened but to be read as a trace.
 */
#include "tool.h"
#include "connect.h"
#include "threads.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A process may have to read all its objects first. */
#define PATIENCE_MS	60000
/* A process that has no descriptor for so long does not accept a connection. */
#define NO_PLACE_MS	2000

/* A process opens no file with a number from this limit on. False: unknown. */
static bool files_limit(pid_t pid, unsigned long *soft, unsigned long *hard)
{
	char path[32], line[128];
	int got = 0;
	FILE *f;

	*hard = ULONG_MAX;
	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	f = fopen(path, "re");
	while (f && got < 1 && fgets(line, sizeof(line), f))
		got = sscanf(line, "Max open files %lu %lu", soft, hard);
	if (f)
		fclose(f);
	return got >= 1;
}

/* Each number below @limit is in use. Unknown: false. */
static bool is_full(pid_t pid, unsigned long limit)
{
	unsigned long used = 0;
	struct dirent *e;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((e = readdir(dir)))
		used += *e->d_name != '.' && strtoul(e->d_name, NULL, 10) < limit;
	closedir(dir);
	return used >= limit;
}

/* The connection waits in the process's queue. False: it can be accepted. */
static bool cannot_accept(pid_t pid, uint64_t *since)
{
	unsigned long soft, hard, more;

	if (!files_limit(pid, &soft, &hard) || !is_full(pid, soft))
		*since = now_ns();
	if (now_ns() - *since < NO_PLACE_MS * UINT64_C(1000000))
		return false;
	more = soft + 16;
	fail("process %d cannot accept the connection: all descriptors are in use that RLIMIT_NOFILE permits (%lu); prlimit --pid %d --nofile=%lu%s permits more%s",
	     (int)pid, soft, (int)pid, more, hard < more ? "" : ":", hard < more ? ", for root" : "");
	return true;
}

/* True: it has come. False: the reason has been printed. @first: nothing has come yet. */
static bool await(pid_t pid, int fd, bool first)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t begun = now_ns(), since = begun;

	while (now_ns() - begun < PATIENCE_MS * UINT64_C(1000000)) {
		if (poll(&p, 1, 200) > 0)
			return true;
		if (first && cannot_accept(pid, &since))
			return false;
	}
	fail("process %d does not answer: it may be stopped, or in a debugger", (int)pid);
	return false;
}

/* 0, -ECONNRESET: no connection, or -ECOMM: no answer; the reason has been printed. */
static int receive(pid_t pid, int fd, bool first, struct jf_words *w, char *data)
{
	ssize_t n;

	if (!await(pid, fd, first))
		return -ECOMM;
	do
		n = recv(fd, data, JF_CONTROL_MAX, MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -ECONNRESET;
	if (n > JF_CONTROL_MAX || jf_words_split(w, data, (size_t)n)) {
		fail("process %d: its answer makes no sense", (int)pid);
		return -ECOMM;
	}
	return 0;
}

/* An error's number as a process has sent it. */
static int parse_err(const char *text)
{
	uint32_t n;

	return !strcmp(text, "0") ? 0 : jf_number_parse(text, &n) && n < 4096 ? -(int)n : -EPROTO;
}

/* It is asked for in the midst of an answer, and answered: the process has all to write. */
static int answer_stop(pid_t pid, int fd, struct stops *s, const struct jf_words *w)
{
	struct jf_message m = { 0, false, "" };
	char err[12], bad[24];
	size_t which = 0;
	int done;

	if (!strcmp(w->word[0], "poke"))
		return stops_add(s, w);
	done = stops_write(s, pid, w, &which);
	snprintf(err, sizeof(err), "%d", -done);
	snprintf(bad, sizeof(bad), "%zu", which);
	jf_words_add(&m, JF_CONTROL_VERSION);
	jf_words_add(&m, "stopped");
	jf_words_add(&m, err);
	jf_words_add(&m, bad);
	return send(fd, m.data, m.size, MSG_NOSIGNAL) == (ssize_t)m.size ? 0 : -ECONNRESET;
}

/* True if the process opens files for this request. */
static bool handing(const struct jf_message *m)
{
	static const char *const words[] = { "list", "enable", "disable", "stop" };
	const char *word = m->data + sizeof(JF_CONTROL_VERSION);
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* As ask(). -ECONNRESET: the process has closed the connection before it had answered anything. */
static int ask_once(pid_t pid, const struct jf_message *m, answer_fn *fn, void *arg, uint32_t *number)
{
	char data[JF_CONTROL_MAX];
	struct jf_words w;
	struct stops stops = { 0 };
	bool any = false;
	int fd, ret = 0;

	fd = open_control(pid, &stops.uid);
	if (fd < 0)
		return fd;
	progress("waiting for process %d", (int)pid);
	if (!send_request(fd, pid, stops.uid, m, handing(m)))
		ret = -ECONNRESET;
	while (!ret) {
		ret = receive(pid, fd, !any, &w, data);
		if (ret)
			break;
		any = true;
		if (!strcmp(w.word[0], "end")) {
			ret = w.num == 3 ? parse_err(w.word[1]) : -EPROTO;
			if (w.num != 3 || !jf_number_parse(w.word[2], number) || *number > INT_MAX)
				*number = 0;
			break;
		}
		if (!strcmp(w.word[0], "poke") || !strcmp(w.word[0], "stop"))
			ret = answer_stop(pid, fd, &stops, &w);
		else if (fn)
			ret = fn(&w, arg);
	}
	progress_end();
	close(fd);
	stops_end(&stops, pid);
	if (ret == -ECONNRESET && any) {
		if (pid_owner(pid, &stops.uid))
			fail("process %d closed the connection in the midst of its answer, as programs do that close descriptors they do not know: "
			     "ask again", (int)pid);
		else
			fail("process %d ended in the midst of its answer", (int)pid);
		ret = -ECOMM;
	}
	return ret;
}

int ask(pid_t pid, const char *const *words, answer_fn *fn, void *arg, int *number)
{
	const struct timespec rest = { 0, 50000000 };
	struct jf_message m = { 0, false, "" };
	uint32_t n = 0;
	int ret, tries;

	jf_words_add(&m, JF_CONTROL_VERSION);
	for (; *words; words++)
		jf_words_add(&m, *words);
	if (m.full) {
		fail("the request is too long");
		return -ECOMM;
	}
	/* It may be about to execute another program, or to make its socket anew. */
	for (tries = 0; ; tries++) {
		ret = ask_once(pid, &m, fn, arg, &n);
		if (ret != -ECONNRESET || tries == 3)
			break;
		nanosleep(&rest, NULL);
	}
	if (ret == -ECONNRESET) {
		fail("process %d closes the connection and does not answer", (int)pid);
		ret = -ECOMM;
	}
	if (number)
		*number = (int)n;
	return ret;
}

/**
 * struct where - for one_value()
 * @buf:     the folder
 * @size:    of @buf
 * @stopped: the folder of the recording that was stopped last, or ""
 */
struct where {
	char	*buf;
	size_t	size;
	char	stopped[PATH_MAX];
};

static int one_value(const struct jf_words *w, void *arg)
{
	struct where *where = (struct where *)arg;
	size_t len;

	if (w->num != 3 || strcmp(w->word[0], "value") || *w->word[2] != '/')
		return 0;
	len = strlen(w->word[2]) + 1;
	if (!strcmp(w->word[1], "folder") && len <= where->size)
		memcpy(where->buf, w->word[2], len);
	if (!strcmp(w->word[1], "stopped") && len <= sizeof(where->stopped))
		memcpy(where->stopped, w->word[2], len);
	return 0;
}

/* The remedy is the folder, if there is one. */
static int no_trace_of(pid_t pid, struct where *where)
{
	if (!*where->stopped || !seen_from_here(pid, where->stopped, sizeof(where->stopped)))
		return fail("process %d records nothing: jf-trace record %d", (int)pid, (int)pid);
	fprintf(stderr, "jf-trace: process %d records nothing now; what was recorded is in ", (int)pid);
	put_safe(stderr, where->stopped);
	fputc('\n', stderr);
	return STATUS_FAILED;
}

int trace_of(pid_t pid, char *buf, size_t size)
{
	const char *const words[] = { "stats", NULL };
	struct where where = { buf, size, "" };
	int err;

	*buf = 0;
	err = ask(pid, words, one_value, &where, NULL);
	if (err == -ECOMM)
		return STATUS_FAILED;
	if (err)
		return fail("process %d: %s", (int)pid, strerror(-err));
	if (!*buf)
		return no_trace_of(pid, &where);
	if (!seen_from_here(pid, buf, size))
		return fail("process %d: the path of its trace is too long", (int)pid);
	return STATUS_OK;
}
