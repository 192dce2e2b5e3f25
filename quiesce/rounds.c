// SPDX-License-Identifier: GPL-2.0
/*
 * Scans of all tasks, again and again, until each has been seen outside of some text.
 * quiesce.c says why that is enough.
 */
#include "quiesce/wait.h"

#include "index/index.h"
#include "quiesce/exits.h"
#include "quiesce/retired.h"
#include "quiesce/scan.h"
#include "quiesce/watch.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/stop_machine.h>
#include <linux/string.h>

/* Tasks that one stop of the CPUs scans at most. */
#define JF_SCAN_TASKS	128
/*
 * Pauses between two rounds of scans, in ms. They are short at first, when it is a
 * matter of chance which tasks a round finds outside. A task that is still inside
 * after JF_ROUNDS, or has not even run, will probably stay.
 */
#define JF_PAUSE_MIN	1
#define JF_PAUSE_SOON	32
#define JF_PAUSE_LATE	1000
#define JF_ROUNDS	64
/*
 * For so long a changed call counts. A task that has not returned to it by then is
 * in the new target, and stays there.
 */
#define JF_CALLS	(10 * HZ)
/*
 * A task that is still inside although it has run so many times between two scans may
 * leave and come again.
 */
#define JF_MOVES	4
/* So often it is tried to watch a task where it is found. */
#define JF_TRIES	16

/* A task that has not been seen outside. */
struct jf_suspect {
	struct task_struct	*task;
	enum jf_seen		seen;
	unsigned long		where;
	unsigned long		back;
	/* How often it had lost its CPU by then, and in how many rounds it did. */
	unsigned long		switches;
	unsigned int		moves;
	/* It is watched because it was seen there; how often that could not be begun. */
	unsigned long		watched;
	unsigned int		tries;
	/* By which ways it came there, if there are others than changed ones; there are more. */
	bool			more;
	unsigned int		num_ways;
	struct jf_way		way[JF_WAYS];
};

static void jf_suspect_add(struct jf_wait *w, struct task_struct *t)
{
	if (t == w->caller)
		return;
	if (w->num < w->max)
		w->suspect[w->num] = (struct jf_suspect){
			.task = get_task_struct(t),
		};
	w->num++;
}

static void jf_suspect_exiting(struct task_struct *t, void *w)
{
	jf_suspect_add(w, t);
}

/* All tasks there are. CPUs are stopped, so no task can be forked meanwhile. */
static int jf_gather_stopped(void *arg)
{
	struct task_struct *p, *t;
	struct jf_wait *w = arg;
	u64 start = ktime_get_ns();

	rcu_read_lock();
	for_each_process_thread(p, t)
		jf_suspect_add(w, t);
	rcu_read_unlock();
	jf_exits_each_stopped(jf_suspect_exiting, w);
	w->ns = ktime_get_ns() - start;
	return 0;
}

/*
 * One that is not asleep of its own accord: a call that was changed counts for it,
 * and it is unwound in any case. See the top.
 */
static bool jf_is_strict(struct task_struct *t)
{
	return (READ_ONCE(t->on_rq) && !jf_sched_delayed(t)) ||
	       jf_waits_for_rtlock(t);
}

static unsigned long jf_switches(struct task_struct *t)
{
	return READ_ONCE(t->nvcsw) + READ_ONCE(t->nivcsw);
}

static int jf_scan_stopped(void *arg)
{
	struct jf_wait *w = arg;
	u64 start = ktime_get_ns();
	unsigned int i;

	for (i = w->from; i < w->to; i++) {
		struct jf_suspect *s = &w->suspect[i];

		bool strict = jf_is_strict(s->task);

		w->scan.above = jf_arch_watch_top(w->watch, s->task);
		s->seen = jf_arch_scan(s->task, &w->scan, strict,
				       strict && !w->calls_over);
		s->where = w->scan.where;
		s->back = w->scan.back;
		s->moves += s->switches != jf_switches(s->task);
		s->switches = jf_switches(s->task);
		s->more = w->scan.more;
		s->num_ways = w->scan.num_ways;
		memcpy(s->way, w->scan.way, sizeof(s->way));
	}
	w->ns = ktime_get_ns() - start;
	return 0;
}

static void jf_scan_account(const struct jf_wait *w, unsigned int tasks)
{
	mutex_lock(&jf_mutex);
	jf_stats.scans++;
	jf_stats.scan_tasks += tasks;
	jf_stats.scan_ns_last = w->ns;
	if (w->ns > jf_stats.scan_ns_max)
		jf_stats.scan_ns_max = w->ns;
	mutex_unlock(&jf_mutex);
}

static void jf_put_suspects(struct jf_wait *w, unsigned int num)
{
	while (num--)
		put_task_struct(w->suspect[num].task);
}

/* About as many as there will be. */
static unsigned int jf_count_tasks(void)
{
	struct task_struct *p, *t;
	unsigned int n = 64;

	rcu_read_lock();
	for_each_process_thread(p, t)
		n++;
	rcu_read_unlock();
	return n + n / 8;
}

static int jf_gather(struct jf_wait *w)
{
	unsigned int max = jf_count_tasks();

	for (;;) {
		w->suspect = kvmalloc_array(max, sizeof(*w->suspect),
					    GFP_KERNEL);
		if (!w->suspect)
			return -ENOMEM;
		w->max = max;
		w->num = 0;
		stop_machine(jf_gather_stopped, w, NULL);
		jf_scan_account(w, 0);
		if (w->num <= max)
			return 0;
		/* There may be more of them when the CPUs stop again. */
		jf_put_suspects(w, max);
		kvfree(w->suspect);
		w->suspect = NULL;
		max = w->num + w->num / 4;
	}
}

/* Was the task outside when it was scanned? */
static bool jf_was_outside(struct jf_wait *w, struct jf_suspect *s)
{
	bool more = s->more;
	unsigned int i;

	s->more = false;
	if (s->seen != JF_SEEN_SHARED)
		return s->seen == JF_SEEN_CLEAN;
	for (i = 0; i < s->num_ways; i++)
		if (!jf_scan_is_other(&w->scan, &s->way[i]))
			return false;
	s->more = more;
	return !more;
}

/* Scan all suspects, a part at a time, and drop those seen outside. */
static void jf_scan_round(struct jf_wait *w)
{
	unsigned int i, kept = 0;

	for (w->from = 0; w->from < w->num; w->from = w->to) {
		w->to = min(w->num, w->from + JF_SCAN_TASKS);
		stop_machine(jf_scan_stopped, w, NULL);
		jf_scan_account(w, w->to - w->from);
		for (i = w->from; i < w->to; i++) {
			if (jf_was_outside(w, &w->suspect[i]))
				put_task_struct(w->suspect[i].task);
			else
				w->suspect[kept++] = w->suspect[i];
		}
		cond_resched();
	}
	w->num = kept;
}

/* If all that were watched have left, others may have the room, and the kprobes go. */
static void jf_watch_expire(struct jf_wait *w)
{
	unsigned int i;

	for (i = 0; i < w->num; i++)
		if (w->suspect[i].watched)
			return;
	jf_arch_watch_end(w->watch);
	w->watch = NULL;
}

/* Those that run again and again, and are found inside each time. */
static void jf_watch_suspects(struct jf_wait *w)
{
	unsigned int i;

	if (w->watch)
		jf_watch_expire(w);
	for (i = 0; w->again && i < w->num; i++) {
		struct jf_suspect *s = &w->suspect[i];

		if (s->moves < JF_MOVES || s->watched == s->where ||
		    !jf_spans_has(&w->scan.in, s->where))
			continue;
		/* No memory, a site that is being changed, no room: later there may be. */
		if (!jf_watch_add(&w->watch, &w->scan, s->task, s->where, s->back) ||
		    ++s->tries >= JF_TRIES) {
			s->watched = s->where;
			s->tries = 0;
		}
	}
}

/*
 * Is there something new to be found by a scan? One of them has executed something since
 * it was scanned: it runs, or it has run, and has lost its CPU once more. Or more is
 * known by now of how it came there. So a task that sleeps for an hour does not make all
 * CPUs stop once a second.
 */
static bool jf_any_moved(const struct jf_wait *w)
{
	unsigned int i;

	for (i = 0; i < w->num; i++) {
		struct task_struct *t = w->suspect[i].task;

		if (w->suspect[i].more || jf_task_runs(t) ||
		    jf_switches(t) != w->suspect[i].switches)
			return true;
	}
	return false;
}

static void jf_tell(struct jf_wait *w)
{
	const struct jf_suspect *s = &w->suspect[0];
	unsigned int seconds = jiffies_to_msecs(jiffies - w->begun) / 1000;

	if (time_before(jiffies, w->told + JF_TELL))
		return;
	w->told = jiffies;
	if (s->where)
		pr_warn("%s: waiting for %s:%d, inside %pS since %u s (and %u more)\n",
			w->name, s->task->comm, task_pid_nr(s->task),
			(void *)s->where, seconds, w->num - 1);
	else
		pr_warn("%s: waiting for %s:%d, whose stack cannot be read, since %u s (and %u more)\n",
			w->name, s->task->comm, task_pid_nr(s->task), seconds,
			w->num - 1);
}

long jf_time_left(const struct jf_wait *w)
{
	unsigned long elapsed = jiffies - w->begun;

	if (w->timeout == MAX_SCHEDULE_TIMEOUT)
		return w->timeout;
	return elapsed < w->timeout ? w->timeout - elapsed : 0;
}

/* How many are only about to return to a call that was changed? */
static unsigned int jf_num_in_calls(const struct jf_wait *w)
{
	unsigned int i, n = 0;

	for (i = 0; i < w->num; i++)
		n += w->suspect[i].where &&
		     !jf_spans_has(&w->scan.in, w->suspect[i].where);
	return n;
}

/* True once: then all have to be scanned anew, since calls count no more. */
static bool jf_calls_expire(struct jf_wait *w)
{
	unsigned int n;

	if (w->calls_over || !time_after(jiffies, w->begun + JF_CALLS) ||
	    (!w->scan.calls.num && !w->scan.tramps.num))
		return false;
	w->calls_over = true;
	n = jf_num_in_calls(w);
	if (n)
		pr_warn("%s: %u task(s) have not returned to a call that was changed for %u s, and are waited for no longer\n",
			w->name, n, JF_CALLS / HZ);
	return true;
}

/*
 * Values may change while this waits: a key may lead again to code that it had led to,
 * and a call to an earlier target. Tasks that enter such code by then are not meant, and
 * might be found there for ever. So make the scan anew. Without memory the old one
 * serves, which finds more. True if it is another one.
 */
static bool jf_wait_renew(struct jf_wait *w)
{
	struct jf_scan scan;
	u64 seq;

	if (!w->data)
		return false;
	mutex_lock(&jf_mutex);
	seq = jf_retired_seq();
	mutex_unlock(&jf_mutex);
	if (seq == w->made || jf_scan_make(&scan, &w->text, w->keys, &seq))
		return false;
	jf_scan_free(&w->scan);
	w->scan = scan;
	w->made = seq;
	return true;
}

int jf_scan_until_quiet(struct jf_wait *w)
{
	unsigned int pause = JF_PAUSE_MIN, rounds = 0;
	int err;

	while ((err = jf_gather(w)) == -ENOMEM &&
	       w->timeout == MAX_SCHEDULE_TIMEOUT)
		msleep(JF_PAUSE_MEM);
	if (err)
		return err;
	for (;;) {
		jf_calls_expire(w);
		if (rounds)
			jf_wait_renew(w);
		jf_scan_round(w);
		if (!w->num)
			break;
		if (!jf_time_left(w)) {
			err = -ETIMEDOUT;
			break;
		}
		jf_watch_suspects(w);
		do {
			msleep(min_t(unsigned int, pause,
				     jiffies_to_msecs(min(jf_time_left(w),
							  (long)HZ))));
			jf_tell(w);
			pause = min_t(unsigned int, 2 * pause, JF_PAUSE_LATE);
		} while (!jf_any_moved(w) && jf_time_left(w) &&
			 !jf_calls_expire(w) && !jf_wait_renew(w));
		if (++rounds < JF_ROUNDS)
			pause = min_t(unsigned int, pause, JF_PAUSE_SOON);
	}
	jf_arch_watch_end(w->watch);
	jf_put_suspects(w, w->num);
	kvfree(w->suspect);
	jf_exits_trim();
	return err;
}
