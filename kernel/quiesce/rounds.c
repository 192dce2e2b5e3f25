// SPDX-License-Identifier: GPL-2.0
/*
 * Scans of all tasks, again and again, until each has been seen outside of some text.
 * quiesce.c says why that is enough.
 */
#include "quiesce/wait.h"

#include "index/index.h"
#include "quiesce/exits.h"
#include "quiesce/quiesce.h"
#include "quiesce/retired.h"
#include "quiesce/scan.h"

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

/* A task that has not been seen outside. */
struct jf_suspect {
	struct task_struct	*task;
	bool			inside;
	unsigned long		where;
	/* How often it had lost its CPU at that time. */
	unsigned long		switches;
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

/* One that is not asleep of its own accord: it is unwound in any case (kernel/arch/x86/stack.c). */
static bool jf_is_strict(struct task_struct *t)
{
	return (READ_ONCE(t->on_rq) && !jf_sched_delayed(t)) ||
	       jf_waits_for_rtlock(t);
}

/* All tasks there are. CPUs are stopped, so no task can be forked during this. */
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
	w->inside = jf_arch_scan(w->caller, &w->scan, jf_is_strict(w->caller));
	w->ns = ktime_get_ns() - start;
	return 0;
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

		s->inside = jf_arch_scan(s->task, &w->scan, jf_is_strict(s->task));
		s->where = w->scan.where;
		s->switches = jf_switches(s->task);
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

static void jf_put_suspects(const struct jf_suspect *suspect, unsigned int num)
{
	while (num--)
		put_task_struct(suspect[num].task);
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
		/*
		 * There may be more of them when the CPUs stop again, but there is a limit to
		 * tasks, and each round has room for a quarter more.
		 */
		jf_put_suspects(w->suspect, max);
		kvfree(w->suspect);
		w->suspect = NULL;
		max = w->num + w->num / 4;
	}
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
			if (w->suspect[i].inside)
				w->suspect[kept++] = w->suspect[i];
			else
				put_task_struct(w->suspect[i].task);
		}
		cond_resched();
	}
	w->num = kept;
}

/*
 * True if a scan can find something new. One of them has executed something since it was scanned:
 * it runs, or it has run, and has lost its CPU once more. So a task that sleeps for an hour does
 * not make all CPUs stop once a second.
 */
static bool jf_any_moved(const struct jf_suspect *suspect, unsigned int num)
{
	const struct jf_suspect *s;

	for (s = suspect; s < suspect + num; s++)
		if (jf_task_runs(s->task) || jf_switches(s->task) != s->switches)
			return true;
	return false;
}

unsigned long jf_stay_where(const struct jf_stay *s, unsigned int i)
{
	return s->suspect[i].where;
}

bool jf_stay_moved(const struct jf_stay *s)
{
	return !s->num || jf_any_moved(s->suspect, s->num);
}

void jf_stay_free(struct jf_stay *s)
{
	jf_put_suspects(s->suspect, s->num);
	kvfree(s->suspect);
	s->suspect = NULL;
	s->num = 0;
}

/* True if the log must be told; @seconds: how long @w lasts. */
static bool jf_tell_now(struct jf_wait *w, unsigned int *seconds)
{
	if (!jf_tell_again(&w->told))
		return false;
	*seconds = jiffies_to_msecs(jiffies - w->begun) / 1000;
	return true;
}

/* By now the name may say nothing: the task that waits does. */
static void jf_tell(struct jf_wait *w)
{
	const struct jf_suspect *s = &w->suspect[0];
	const char *option = jf_arch_unwind_lacks();
	unsigned int seconds;

	if (!jf_tell_now(w, &seconds))
		return;
	if (s->where)
		pr_warn("%s: waiting for %s:%d, inside %pS since %u s (and %u more), in %s:%d\n",
			w->name, s->task->comm, task_pid_nr(s->task),
			(void *)s->where, seconds, w->num - 1,
			w->caller->comm, task_pid_nr(w->caller));
	else
		pr_warn("%s: waiting for %s:%d, whose stack cannot be read%s%s, since %u s (and %u more), in %s:%d\n",
			w->name, s->task->comm, task_pid_nr(s->task),
			option ? " without " : "", option ?: "", seconds,
			w->num - 1, w->caller->comm, task_pid_nr(w->caller));
}

void jf_tell_held_up(struct jf_wait *w, int err)
{
	unsigned int seconds;

	if (jf_tell_now(w, &seconds))
		pr_warn("%s: waiting for %s, since %u s\n", w->name,
			err == -EBUSY ? "a site that leads to what was refused" :
					"memory", seconds);
}

long jf_time_left(const struct jf_wait *w)
{
	unsigned long elapsed = jiffies - w->begun;

	if (w->timeout == MAX_SCHEDULE_TIMEOUT)
		return w->timeout;
	return elapsed < w->timeout ? w->timeout - elapsed : 0;
}

/*
 * Values may change while this waits: a function that was replaced may be set again, an image
 * given back and used again. Tasks that enter it from now on do not matter, but every scan might
 * find some. So make the scan anew. Without memory the old one serves, which finds more. True if it
 * is another one.
 */
static bool jf_wait_renew(struct jf_wait *w)
{
	struct jf_scan scan;
	u64 seq;

	mutex_lock(&jf_mutex);
	seq = jf_retired_seq();
	mutex_unlock(&jf_mutex);
	if (seq == w->made || jf_scan_make(&scan, &w->text, w->seq, &seq))
		return false;
	jf_scan_free(&w->scan);
	w->scan = scan;
	w->made = seq;
	return true;
}

int jf_scan_until_quiet(struct jf_wait *w)
{
	unsigned int pause = JF_PAUSE_MIN, rounds = 0;
	struct jf_stay stay;
	int err;

	while ((err = jf_gather(w)) == -ENOMEM &&
	       w->timeout == MAX_SCHEDULE_TIMEOUT) {
		jf_tell_held_up(w, err);
		jf_nap(JF_PAUSE_MEM);
	}
	if (err)
		return err;
	for (;;) {
		if (rounds)
			jf_wait_renew(w);
		jf_scan_round(w);
		if (!w->num)
			break;
		if (!jf_time_left(w)) {
			err = -ETIMEDOUT;
			break;
		}
		do {
			jf_nap(min_t(unsigned int, pause,
				     jiffies_to_msecs(min(jf_time_left(w),
							  (long)HZ))));
			jf_tell(w);
			pause = min_t(unsigned int, 2 * pause, JF_PAUSE_LATE);
		} while (!jf_any_moved(w->suspect, w->num) && jf_time_left(w) &&
			 !jf_wait_renew(w));
		if (++rounds < JF_ROUNDS)
			pause = min_t(unsigned int, pause, JF_PAUSE_SOON);
	}
	stay = (struct jf_stay){ w->suspect, w->num };
	if (err && w->stay)
		*w->stay = stay;
	else
		jf_stay_free(&stay);
	jf_exits_trim();
	return err;
}
