// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Requests of the control socket (control.h), and their answers.
 *
 * An answer is collected in memory before any of it is sent: a peer that reads slowly must not hold
 * a lock that the program's threads wait for when they load objects, or fork.
 */
#include "trace.h"
#include "choice.h"
#include "control.h"
#include "kind.h"
#include "provider.h"
#include "socket.h"
#include "../lib/text.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

/* A process with a million functions has some 100 MB of names. */
#define ANSWER_MAX	(256u << 20)

static void answer_message(struct jf_answer *a, const struct jf_message *m)
{
	size_t need = a->size + sizeof(uint32_t) + m->size;
	uint32_t len = (uint32_t)m->size;

	if (a->err)
		return;
	if (need > a->room) {
		size_t room = a->room ? a->room * 2 : 2 * JF_CONTROL_MAX;
		char *more;

		while (room < need)
			room *= 2;
		more = room > ANSWER_MAX ? NULL : realloc(a->data, room);
		if (!more) {
			a->err = room > ANSWER_MAX ? -EFBIG : -ENOMEM;
			return;
		}
		a->data = more;
		a->room = room;
	}
	memcpy(a->data + a->size, &len, sizeof(len));
	memcpy(a->data + a->size + sizeof(len), m->data, m->size);
	a->size = need;
}

/* Words up to one that is NULL. */
static void answer(struct jf_answer *a, const char *const *words)
{
	struct jf_message m;

	m.size = 0;
	m.full = false;
	for (; *words; words++)
		jf_words_add(&m, *words);
	answer_message(a, &m);
}

#define ANSWER(a, ...) answer(a, (const char *const []){ __VA_ARGS__, NULL })

static void answer_number(struct jf_answer *a, const char *name, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	ANSWER(a, "value", name, text);
}

static void answer_failed(struct jf_answer *a, const char *kind, int err)
{
	char text[24];

	snprintf(text, sizeof(text), "%d", -err);
	ANSWER(a, "failed", kind, text);
}

/* --- commands ------------------------------------------------------------------------- */

/**
 * struct listing - argument of one_event() and one_listed()
 * @answer: to be added to
 * @kind:   of the listed probes
 * @glob:   of events
 * @num:    how many there are
 */
struct listing {
	struct jf_answer	*answer;
	const char		*kind;
	const char		*glob;
	int			num;
};

static int one_event(const struct jf_event *event, void *arg)
{
	struct listing *l = (struct listing *)arg;
	const char *glob = l->glob, *detail = event->id ? event->print : "has a field that CTF cannot show";

	if (!jf_kind_fits(&glob, JF_KIND_EVENT) || !__jf_glob_matches(glob, event->system, event->name))
		return 0;
	l->num++;
	if (jf_event_chooses(event) && event->why)
		detail = event->why;
	ANSWER(l->answer, "probe", "event", event->system, event->name, event->on ? "on" : "off", detail);
	return l->answer->err;
}

static int one_listed(const struct jf_listed *probe, void *arg)
{
	struct listing *l = (struct listing *)arg;

	l->num++;
	ANSWER(l->answer, "probe", l->kind, probe->group, probe->name, probe->on ? "on" : "off",
	       probe->detail ? probe->detail : "");
	return l->answer->err;
}

/* Probes have the same names with a filter and without. */
static int do_list(struct jf_answer *a, const char *pattern)
{
	char *glob = pattern ? strndup(pattern, (size_t)(jf_choice_begin(pattern) - pattern)) : NULL;
	struct listing l = { a, NULL, glob, 0 };
	struct jf_provider *p;
	int err;

	if (pattern && !glob)
		return -ENOMEM;
	err = jf_events(one_event, &l);
	jf_providers_lock();
	for (p = jf_providers(); p && !a->err; p = p->next) {
		l.kind = p->kind;
		err = p->list(glob, one_listed, &l, p->data);
		if (err < 0 && !a->err)
			answer_failed(a, p->kind, err);
	}
	jf_providers_unlock();
	free(glob);
	return a->err ? a->err : l.num;
}

/* Each part does its best. It is an error if none did anything. */
static int do_switch(struct jf_answer *a, const char *glob, bool on)
{
	int n, num = 0, err = 0;
	struct jf_provider *p;

	jf_providers_lock();
	if (!jf_record_started()) {
		jf_providers_unlock();
		return -ENOENT;
	}
	n = on ? jf_record_enable(glob) : jf_record_disable(glob);
	if (n < 0) {
		err = n;
		answer_failed(a, "event", n);
	} else {
		num = n;
	}
	for (p = jf_providers(); p; p = p->next) {
		n = on ? p->enable(glob, p->data) : p->disable(glob, p->data);
		if (n < 0) {
			/* Of the whole, -ENOENT is that nothing is recorded. */
			err = err ? err : n == -ENOENT ? -EIO : n;
			answer_failed(a, p->kind, n);
		} else {
			num += n;
		}
	}
	jf_providers_unlock();
	return num || !err ? num : err;
}

static int do_stats(struct jf_answer *a)
{
	struct jf_record_counts c;
	bool started = jf_record_started();
	char folder[PATH_MAX], name[64];

	if (!started)
		jf_record_stopped(&c, folder, sizeof(folder));
	else
		jf_record_stats(&c);
	jf_process_name(name, sizeof(name));
	ANSWER(a, "value", "program", name);
	answer_number(a, "recording", started);
	/*
	 * A stopped recording's folder is not one that a process records in: its copies are not
	 * asked for by the process's number.
	 */
	if (!started && *folder)
		ANSWER(a, "value", "stopped", folder);
	else if (started && jf_record_folder(folder, sizeof(folder)) > 0)
		ANSWER(a, "value", "folder", folder);
	answer_number(a, "rings", c.rings);
	answer_number(a, "packets", c.packets);
	answer_number(a, "records", c.records);
	answer_number(a, "overwritten", c.overwritten);
	answer_number(a, "discarded", c.discarded);
	answer_number(a, "no_ring", c.no_ring);
	answer_number(a, "calls", c.calls);
	answer_number(a, "error", (uint64_t)-c.error);
	return 0;
}

/* --- changes under a stop of all threads ----------------------------------------------- */

/* The peer of the thread that serves it, if that can stop threads. */
static __thread int stopper __JF_OF_THREAD = -1;

static bool send_words(int fd, const char *const *words)
{
	struct jf_message m;

	m.size = 0;
	m.full = false;
	for (; *words; words++)
		jf_words_add(&m, *words);
	return send(fd, m.data, m.size, MSG_NOSIGNAL) == (ssize_t)m.size;
}

#define SEND(fd, ...) send_words(fd, (const char *const []){ __VA_ARGS__, NULL })

static void put_hex(char *text, const uint8_t *bytes, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

static bool send_poke(int fd, const struct jf_text_poke *poke)
{
	char at[20], was[2 * JF_TEXT_MAX + 1], is[2 * JF_TEXT_MAX + 1];

	snprintf(at, sizeof(at), "%" PRIxPTR, poke->addr);
	put_hex(was, poke->old, poke->num);
	put_hex(is, poke->new, poke->num);
	return SEND(fd, "poke", at, was, is, poke->alone ? "alone" : "one");
}

/* The peer's answer. It may be a hostile one, of the same user. */
static int receive_stopped(int fd, size_t num, size_t *bad)
{
	const struct timeval patience = { JF_CONTROL_WAIT_MS / 1000, 0 };
	char data[JF_CONTROL_MAX];
	struct jf_words w;
	uint32_t err = 0, index = 0;
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	/* The stop itself interrupts it. */
	do
		n = recv(fd, data, sizeof(data), MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n && errno == EAGAIN ? -ETIMEDOUT : -ECONNRESET;
	if ((size_t)n > sizeof(data) || jf_words_split(&w, data, (size_t)n) || w.num != 4 ||
	    strcmp(w.word[0], JF_CONTROL_VERSION) || strcmp(w.word[1], "stopped") ||
	    (!jf_number_parse(w.word[2], &err) && strcmp(w.word[2], "0")) ||
	    (!jf_number_parse(w.word[3], &index) && strcmp(w.word[3], "0")) || err >= 4096 || index >= num)
		return -EPROTO;
	*bad = index;
	return -(int)err;
}

/*
 * The peer writes only as long as the number is there, which it looks at while this thread does not
 * run.
 */
static int by_peer(const struct jf_text_poke *pokes, size_t num, size_t *bad)
{
	static uint32_t waiting, last;
	char at[20], number[12], self[20];
	bool sent = true;
	size_t i;
	int err;

	last = last == UINT32_MAX ? 1 : last + 1;
	/* Pairs with the stop of this thread, in which the peer reads it. */
	__atomic_store_n(&waiting, last, __ATOMIC_SEQ_CST);
	snprintf(at, sizeof(at), "%" PRIxPTR, (uintptr_t)&waiting);
	snprintf(number, sizeof(number), "%" PRIu32, last);
	snprintf(self, sizeof(self), "%" PRIxPTR, (uintptr_t)pthread_self());
	for (i = 0; i < num && sent; i++)
		sent = send_poke(stopper, &pokes[i]);
	sent = sent && SEND(stopper, "stop", at, number, self);
	err = sent ? receive_stopped(stopper, num, bad) : -ECONNRESET;
	/* Pairs with the stop of this thread: a peer that comes later reads 0. */
	__atomic_store_n(&waiting, 0, __ATOMIC_SEQ_CST);
	/* A peer that does not come back is not asked again. */
	if (err == -ETIMEDOUT || err == -ECONNRESET || err == -EPROTO)
		stopper = -1;
	return err;
}

jf_text_outside_fn *__jf_control_outside(void)
{
	return stopper >= 0 ? by_peer : NULL;
}

/* Of the peer, for the thread that serves it. */
static __thread const struct jf_handed *files __JF_OF_THREAD;

int __jf_control_mem(void)
{
	return files && files->num ? files->fd[0] : 0;
}

unsigned int __jf_control_files(const int **fd)
{
	if (!files || files->num < 2)
		return 0;
	*fd = files->fd + 1;
	return files->num - 1;
}

static int carry_out(struct jf_answer *a, const struct jf_request *r)
{
	switch (r->command) {
	case JF_COMMAND_LIST:
		return do_list(a, r->glob);
	case JF_COMMAND_ENABLE:
	case JF_COMMAND_DISABLE:
		return do_switch(a, r->glob, r->command == JF_COMMAND_ENABLE);
	case JF_COMMAND_RECORD:
		return jf_record_start(&r->options);
	case JF_COMMAND_STATS:
		return do_stats(a);
	case JF_COMMAND_STOP:
		return jf_record_stop();
	case JF_COMMANDS:
		break;
	}
	return -ENOSYS;
}

/**
 * jf_control_serve() - carry out a request
 * @a:       is filled in: the messages that are to be sent; free @a->data
 * @data:    the request
 * @size:    its bytes
 * @refused: 0, or why nothing is done for this peer, -errno
 * @peer:    its socket
 * @handed:  descriptors that came with it, for as long as this takes
 *
 * In the control thread.
 */
void jf_control_serve(struct jf_answer *a, const char *data, size_t size, int refused, int peer, const struct jf_handed *handed)
{
	struct jf_request request;
	char err[24], num[24];
	int ret;

	memset(a, 0, sizeof(*a));
	ret = refused ? refused : jf_request_parse(&request, data, size);
	if (!ret) {
		stopper = request.stops ? peer : -1;
		files = handed;
		ret = carry_out(a, &request);
		files = NULL;
		stopper = -1;
	}
	/* There was no memory for a part: the peer is told so, and gets no half of it. */
	if (a->err) {
		ret = a->err;
		a->err = 0;
		a->size = 0;
	}
	snprintf(err, sizeof(err), "%d", ret < 0 ? -ret : 0);
	snprintf(num, sizeof(num), "%d", ret < 0 ? 0 : ret);
	ANSWER(a, "end", err, num);
}
