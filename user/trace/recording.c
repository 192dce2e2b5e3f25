// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The recording of this process: its begin and its end, by calls or by the environment, patterns of
 * the user, and forks.
 */
#include "trace.h"
#include "choice.h"
#include "control.h"
#include "kind.h"
#include "provider.h"
#include "tell.h"
#include "wishes.h"
#include "../lib/error.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the recording that was stopped last. */
static struct jf_record_counts stopped_counts;
static char stopped_folder[PATH_MAX];

/**
 * struct parts - of a pattern
 * @glob:   of names, with the kind
 * @choice: which records are made
 * @why:    it is no pattern
 */
struct parts {
	char	glob[JF_GLOB_MAX];
	char	choice[JF_CHOICE_MAX];
	char	why[JF_CHOICE_WHY];
};

static bool take_apart(struct parts *p, const char *pattern)
{
	const char *end = pattern ? jf_choice_begin(pattern) : "";
	size_t len = pattern ? (size_t)(end - pattern) : 0, most = *end ? JF_CHOICE_MAX : JF_GLOB_MAX;
	struct jf_choice c;

	if (len >= sizeof(p->glob) || strlen(end) >= sizeof(p->choice)) {
		snprintf(p->why, sizeof(p->why), "it has more than %zu characters", most - 1);
		return false;
	}
	memcpy(p->glob, pattern ? pattern : "", len);
	p->glob[len] = 0;
	strcpy(p->choice, *end ? end + 1 : end);
	if (!jf_choice_parse(&c, p->choice, NULL))
		return len;
	strcpy(p->why, c.why);
	return false;
}

/* Events, and SDT probes. */
static int switch_all(const char *pattern, bool on)
{
	struct parts p;
	int n, more;

	if (!take_apart(&p, pattern) || (!on && *p.choice))
		return -EINVAL;
	n = jf_events_switch(p.glob, p.choice, on);
	/* SDT probes can have the filter that no event has. */
	if (n < 0 && (!*p.choice || n == -ENOMEM))
		return n;
	more = jf_sdt_switch(p.glob, p.choice, on);
	if (n < 0)
		return more > 0 ? more : n;
	return more >= 0 ? n + more : *p.choice && n ? n : more;
}

int jf_record_enable(const char *glob)
{
	return switch_all(glob, true);
}

int jf_record_disable(const char *glob)
{
	return switch_all(glob, false);
}

bool __jf_counts(void)
{
	return jf_conf.started && jf_conf.mode == JF_RECORD_COUNT;
}

/* Where a trace's folder is made if nothing says where. */
static int default_parent(char *buf, size_t size)
{
	const char *dir = jf_env(JF_ENV_FOLDER);
	struct stat st;
	int n, err;

	if (dir && *dir == '/' && strlen(dir) < size - 16 && !stat(dir, &st) && S_ISDIR(st.st_mode)) {
		n = snprintf(buf, size, "%s/jumpfunc", dir);
		if (n > 0 && !jf_folder_own(buf))
			return 0;
	}
	n = snprintf(buf, size, "/dev/shm/jumpfunc-%u", (unsigned int)geteuid());
	err = jf_folder_own(buf);
	return err;
}

static int options_valid(const struct jf_record_options *o)
{
	if ((unsigned int)o->mode > JF_RECORD_COUNT)
		return -EINVAL;
	if ((unsigned int)o->clock > JF_RECORD_CLOCK_NONE)
		return -EINVAL;
	if (o->packet_size && (o->packet_size % 4096 || o->packet_size > 64 << 20))
		return -EINVAL;
	if (o->packets && (o->packets < 2 || o->packets > 64))
		return -EINVAL;
	return o->rings > JF_RINGS_MAX ? -EINVAL : 0;
}

static int start(const struct jf_record_options *o)
{
	static const struct jf_record_options none;
	int err;

	if (!o)
		o = &none;
	err = options_valid(o);
	if (err)
		return err;
	if (jf_conf.started && !jf_conf.waiting)
		return -EBUSY;
	if (jf_conf.started) {
		/* No event has come that the environment names. */
		jf_conf.started = false;
		jf_rings_stop();
	}
	/* A record's first word is one store: id and size would change places. */
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return -EOPNOTSUPP;
	jf_conf.mode = (uint32_t)o->mode;
	jf_conf.clock = (uint32_t)o->clock;
	if (o->clock == JF_RECORD_CLOCK_AUTO)
		jf_conf.clock = jf_tsc_usable() ? JF_RECORD_CLOCK_TSC : JF_RECORD_CLOCK_MONOTONIC;
	else if (o->clock == JF_RECORD_CLOCK_TSC && !jf_tsc_usable())
		return -EOPNOTSUPP;
	/* Numbers of calls have no time. */
	if (o->mode == JF_RECORD_COUNT)
		jf_conf.clock = JF_RECORD_CLOCK_NONE;
	jf_conf.packet_size = o->packet_size ? o->packet_size : 65536;
	jf_conf.packets = o->packets ? o->packets : 8;
	jf_conf.max_size = (uint64_t)o->max_mib << 20;
	/* In place of packets a thread has its counters. */
	if (o->mode == JF_RECORD_COUNT) {
		jf_conf.packet_size = JF_COUNTS_SIZE;
		jf_conf.packets = 1;
	}
	jf_conf.rings = o->rings ? o->rings : JF_RINGS_MAX;
	if (o->parent) {
		/* The program may change to another folder. */
		char *path = realpath(o->parent, NULL);

		err = path ? 0 : -errno;
		if (path && strlen(path) >= sizeof(jf_conf.parent))
			err = -ENAMETOOLONG;
		if (!err)
			memcpy(jf_conf.parent, path, strlen(path) + 1);
		free(path);
	} else {
		err = default_parent(jf_conf.parent, sizeof(jf_conf.parent));
	}
	if (err)
		return err;
	err = access(jf_conf.parent, W_OK | X_OK) ? -errno : jf_rings_start();
	if (!err)
		jf_conf.started = jf_conf.waiting = true;
	return err;
}

int jf_record_start(const struct jf_record_options *options)
{
	int err;

	jf_events_lock();
	err = start(options);
	if (!err) {
		err = jf_events_begin();
		if (err) {
			jf_conf.started = false;
			jf_rings_stop();
		}
	}
	jf_events_unlock();
	return err;
}

int jf_record_stop(void)
{
	int n = 0;

	/* So nothing is switched on in between. */
	jf_providers_lock();
	if (jf_record_started())
		n = jf_providers_stop();
	jf_events_lock();
	if (!jf_conf.started)
		n = -ENOENT;
	if (n >= 0)
		n = jf_events_off();
	if (n >= 0) {
		jf_quiesce();
		jf_event_choices_free();
		jf_record_stats(&stopped_counts);
		if (jf_record_folder(stopped_folder, sizeof(stopped_folder)) < 0)
			*stopped_folder = 0;
		jf_events_forget();
		jf_conf.started = false;
		jf_rings_stop();
	}
	jf_events_unlock();
	jf_providers_unlock();
	return n < 0 ? n : 0;
}

/**
 * jf_record_stopped() - the counts up to the last jf_record_stop()
 * @counts: is filled in
 * @folder: of the trace; "": no folder
 * @size:   of @folder
 */
void jf_record_stopped(struct jf_record_counts *counts, char *folder, size_t size)
{
	jf_events_lock();
	*counts = stopped_counts;
	snprintf(folder, size, "%s", stopped_folder);
	jf_events_unlock();
}

/**
 * jf_record_started() - is it
 *
 * It stays so while jf_providers_lock() is held.
 */
bool jf_record_started(void)
{
	bool started;

	jf_events_lock();
	started = jf_conf.started;
	jf_events_unlock();
	return started;
}

/* --- forks -------------------------------------------------------------------------- */

static void prepare(void)
{
	jf_own(true);
	jf_providers_fork_begins();
	jf_sdt_lock();
	jf_events_lock();
	jf_rings_prepare();
	jf_own(false);
}

static void in_parent(void)
{
	jf_own(true);
	jf_rings_parent();
	jf_events_unlock();
	jf_sdt_unlock();
	jf_providers_fork_ends(false);
	jf_own(false);
}

static void in_child(void)
{
	jf_own(true);
	jf_rings_child();
	jf_events_unlock();
	jf_sdt_unlock();
	jf_providers_fork_ends(true);
	jf_own(false);
}

/* --- the environment ------------------------------------------------------------------- */

static bool number(enum jf_env which, uint32_t *val)
{
	const char *text = jf_env(which);

	return !text || jf_number_parse(text, val);
}

static bool word(enum jf_env which, const char *const *words, unsigned int *val)
{
	const char *text = jf_env(which);
	int i;

	if (!text)
		return true;
	i = jf_name_find(words, text);
	if (i >= 0)
		*val = (unsigned int)i;
	return i >= 0;
}

/* As jf_record_start() does it, but for the folder. */
static int start_by_environment(void)
{
	struct jf_record_options o = { NULL, JF_RECORD_OVERWRITE, JF_RECORD_CLOCK_AUTO, 0, 0, 0, 0 };
	unsigned int mode = 0, clock = 0;
	int err;

	o.parent = jf_env(JF_ENV_DIR);
	if (!word(JF_ENV_MODE, jf_mode_names, &mode) || !word(JF_ENV_CLOCK, jf_clock_names, &clock) ||
	    !number(JF_ENV_PACKETS, &o.packets) || !number(JF_ENV_PACKET_SIZE, &o.packet_size) ||
	    !number(JF_ENV_RINGS, &o.rings) || !number(JF_ENV_MAX_MIB, &o.max_mib))
		return -EINVAL;
	o.mode = (enum jf_record_mode)mode;
	o.clock = (enum jf_record_clock)clock;
	jf_events_lock();
	err = jf_conf.started ? 0 : start(&o);
	jf_events_unlock();
	return err;
}

/**
 * __jf_record_by_environment() - start to record as the environment says how
 *
 * For the agent, which has something to record.
 *
 * Return: 0 also if it was started already, else as jf_record_start(), -EINVAL for a variable that
 * has another value than it may
 */
int __jf_record_by_environment(void)
{
	int err = start_by_environment();

	return err ? err : jf_record_begin();
}

/* Objects' events are announced later: no event can be enabled yet. */
static int ask_for(const char *pattern)
{
	struct parts p;
	int err;

	if (!take_apart(&p, pattern)) {
		fprintf(stderr, "libjumpfunc-trace: JUMPFUNC_TRACE: '%.80s%s' is no pattern of events: %s\n", pattern,
			strlen(pattern) > 80 ? "..." : "", p.why);
		return 0;
	}
	err = jf_record_enable(pattern);
	return err < 0 && err != -EINVAL && err != -EOPNOTSUPP ? err : 0;
}

static int by_environment(const char *globs)
{
	int err = start_by_environment();
	char *pattern;
	size_t len;

	for (; !err && *globs; globs += len + (globs[len] == ',')) {
		len = (size_t)(jf_choice_comma(globs) - globs);
		pattern = len ? strndup(globs, len) : NULL;
		err = !len ? 0 : pattern ? ask_for(pattern) : -ENOMEM;
		free(pattern);
	}
	return err;
}

/* To jf-trace, if that has started this. */
static void tell_loaded(void)
{
	const char *folder = jf_env(JF_ENV_DIR);
	char path[PATH_MAX];
	struct stat st;
	int fd = -1;

	if (folder && !jf_path(path, sizeof(path), folder, JF_LOADED))
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	/* Others may have put a pipe there. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		jf_file_write(fd, "1", 1, 0);
	jf_close(fd);
}

/* After libjumpfunc's own; before the objects' that have events. */
__attribute__((__constructor__(103)))
static void begins(void)
{
	const char *globs = secure_getenv("JUMPFUNC_TRACE");
	int err;

	pthread_atfork(prepare, in_parent, in_child);
	if (!globs || !*globs)
		return;
	tell_loaded();
	err = by_environment(globs);
	if (err && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: JUMPFUNC_TRACE: nothing is recorded: %s\n", jf_error(-err));
}
