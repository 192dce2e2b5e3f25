// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that enter a dynamic function and a tracepoint and stay inside, so that tests can find
 * out which calls wait for them.
 *
 * This module's notifier runs after that of jumpfunc and before the memory of an
 * unloaded module is freed. A thread that is inside at that moment would have been left
 * in freed text: it is counted as "early", and waited for, so that a failed test does
 * not end the machine.
 *
 * /sys/kernel/debug/jf_hall/
 *   do		write one of
 *		  shut, open	the gate; threads that wait for it leave
 *		  go FORM WAY [N]  N threads make one call each, in that FORM:
 *				site, tramp, pointer, trace, or exit: a site, from within
 *				the end of a thread that is on no list any more
 *		  reap		forget the threads that are back
 *		  storm N M	N threads call all the time, and M at a time start, call and
 *				end, some of them in the target itself; 0 0 ends it
 *   quiesce	write N: N times another target, then jf_quiesce()
 *   enter	write anything: the writer makes one call of each form
 *   state	all known values, "name value"
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "../files.h"
#include "jf_hall.h"

struct hall hall = {
	.spin_ms	= 3000,
	.open		= true,
	.gate		= __WAIT_QUEUE_HEAD_INITIALIZER(hall.gate),
	.mutex		= __MUTEX_INITIALIZER(hall.mutex),
	.lock		= __SPIN_LOCK_UNLOCKED(hall.lock),
	.ended		= COMPLETION_INITIALIZER(hall.ended),
};
EXPORT_SYMBOL_GPL(hall);
module_param_named(spin_ms, hall.spin_ms, uint, 0644);
MODULE_PARM_DESC(spin_ms, "how long a thread stays that spins");

static noinline void hall_sleep(void)
{
	wait_event_timeout(hall.gate, READ_ONCE(hall.open), HALL_LIMIT);
}

/* Overwrites the words of earlier calls on the stack below the caller. */
static noinline void hall_scrub(unsigned int deep)
{
	unsigned long words[100] = {};

	asm volatile("" : : "r" (words) : "memory");
	if (deep)
		hall_scrub(deep - 1);
	barrier();
}

noinline void hall_wait(void)
{
	hall_scrub(3);
	hall_sleep();
	barrier();
}
EXPORT_SYMBOL_GPL(hall_wait);

/* --- entered functions ------------------------------------------------------- */

static noinline u64 hall_a(u64 way)
{
	hall_visit(HALL_A, way);
	return way + HALL_VALUE(HALL_A);
}

static noinline u64 hall_b(u64 way)
{
	hall_visit(HALL_B, way);
	return way + HALL_VALUE(HALL_B);
}

DEFINE_DYNFUNC(hall_op, hall_a);
EXPORT_DYNFUNC_GPL(hall_op);
DEFINE_JF_TRACE(hall);
EXPORT_JF_TRACE_GPL(hall);

enum hall_form { FORM_SITE, FORM_TRAMP, FORM_POINTER, FORM_TRACE, CALL_FORMS, FORM_EXIT = CALL_FORMS, FORMS };

static const char * const form_names[FORMS] = { "site", "tramp", "pointer", "trace", "exit" };
static const char * const way_names[HALL_WAYS] = {
	"pass", "dally", "spin", "lock", "busy", "sleep", "intr", "mutex", "func", "exit",
};

static noinline u64 hall_by_site(u64 way)
{
	u64 r = dynfunc_call(hall_op, way);

	barrier();
	return r;
}

static noinline u64 hall_by_tramp(u64 way)
{
	u64 r = dynfunc_hall_op(way);

	barrier();
	return r;
}

static noinline u64 hall_by_pointer(u64 way)
{
	u64 (*f)(u64 way) = __JF_POINTER(hall_op);
	u64 r;

	OPTIMIZER_HIDE_VAR(f);
	r = f(way);
	barrier();
	return r;
}

static noinline u64 hall_by_trace(u64 way)
{
	jf_trace_hall(way, 0);
	barrier();
	return way + HALL_VALUE(HALL_A);
}

static atomic64_t calls;
static atomic_t bad_values;

static void hall_call(enum hall_form form, u64 way)
{
	u64 (* const by[CALL_FORMS])(u64 way) = {
		hall_by_site, hall_by_tramp, hall_by_pointer, hall_by_trace,
	};
	u64 id = by[form](way) - way;

	atomic64_inc(&calls);
	if (id < HALL_VALUE(0) || id > HALL_VALUE(HALL_GUESTS - 1) || id % HALL_VALUE(0))
		atomic_inc(&bad_values);
}

/* --- threads that make one call ----------------------------------------------- */

#define WALKERS	64

static struct walker {
	struct task_struct	*task;
	enum hall_form		form;
	u64			way;
	bool			back;
} walkers[WALKERS];

/* For those that must not be stopped: on no list, they cannot be asked for. */
static u64 exit_way;
static atomic_t exiting;
static int exit_listed = -1;

/* Until it is stopped, so that its task_struct exists until then. */
static int walker_back(struct walker *w)
{
	WRITE_ONCE(w->back, true);
	while (!kthread_should_stop())
		schedule_timeout_idle(HZ / 10);
	return 0;
}

static int walk(void *arg)
{
	struct walker *w = arg;

	hall_call(w->form, w->way);
	return walker_back(w);
}

/* A thread that has the mutex as long as the gate is shut. */
static int hold_mutex(void *arg)
{
	unsigned long since = jiffies;

	mutex_lock(&hall.mutex);
	WRITE_ONCE(hall.lock_held, true);
	while (hall_shut(since))
		msleep(20);
	mutex_unlock(&hall.mutex);
	return walker_back(arg);
}

/* A thread that has the spinlock when another one wants it. */
static int hold_lock(void *arg)
{
	unsigned long since = jiffies;

	while (!READ_ONCE(hall.lock_wanted) && time_before(jiffies, since + HALL_LIMIT / 4))
		usleep_range(1000, 2000);
	spin_lock(&hall.lock);
	WRITE_ONCE(hall.lock_held, true);
	hall_spin(50);
	spin_unlock(&hall.lock);
	return walker_back(arg);
}

static int walker_start(int (*fn)(void *), enum hall_form form, u64 way, const char *name)
{
	struct task_struct *t;
	struct walker *w;

	for (w = walkers; w < walkers + WALKERS && w->task; w++)
		;
	if (w == walkers + WALKERS)
		return -ENOSPC;
	w->form = form;
	w->way = way;
	w->back = false;
	t = kthread_create(fn, w, "hall/%s", name);
	if (IS_ERR(t))
		return PTR_ERR(t);
	/* A task that finds the lock's holder running spins, so the holder must not run. */
	if (way == HALL_LOCK && IS_ENABLED(CONFIG_PREEMPT_RT))
		kthread_bind(t, cpumask_last(cpu_online_mask));
	w->task = t;
	wake_up_process(t);
	return 0;
}

static int walkers_reap(bool all)
{
	struct walker *w;
	int left = 0;

	for (w = walkers; w < walkers + WALKERS; w++) {
		if (!w->task)
			continue;
		if (!all && !READ_ONCE(w->back)) {
			left++;
			continue;
		}
		kthread_stop(w->task);
		w->task = NULL;
	}
	return left;
}

/* --- a call from the end of a thread -------------------------------------------- */

/*
 * In place of proc_exit_connector(), which a thread runs when it is on no list any
 * more: it has reaped itself.
 */
static void exit_detour(struct task_struct *t)
{
	WRITE_ONCE(exit_listed, pid_alive(current));
	hall_call(FORM_SITE, READ_ONCE(exit_way));
	atomic_dec(&exiting);
}

static int exit_pre(struct kprobe *p, struct pt_regs *regs)
{
#if JF_HAVE_PATCHING
	if (current->flags & PF_KTHREAD && !strcmp(current->comm, "hall/exit")) {
		instruction_pointer_set(regs, (unsigned long)exit_detour);
		return 1;
	}
#endif
	return 0;
}

/* That there is one makes the kernel expect another ip. */
static void exit_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe exit_probe = {
	.symbol_name	= "proc_exit_connector",
	.pre_handler	= exit_pre,
	.post_handler	= exit_post,
};
static bool exit_probed;

static int exit_now(void *unused)
{
	return 0;
}

static int exit_go(u64 way)
{
	struct task_struct *t;
	int err;

	if (!exit_probed) {
		err = register_kprobe(&exit_probe);
		if (err)
			return err;
		exit_probed = true;
	}
	WRITE_ONCE(exit_way, way);
	atomic_inc(&exiting);
	t = kthread_run(exit_now, NULL, "hall/exit");
	if (!IS_ERR(t))
		return 0;
	atomic_dec(&exiting);
	return PTR_ERR(t);
}

static int go(enum hall_form form, u64 way, unsigned int n)
{
	unsigned int i;
	int err = 0;

	WRITE_ONCE(hall.lock_wanted, false);
	WRITE_ONCE(hall.lock_held, false);
	if (way == HALL_MUTEX || way == HALL_LOCK)
		err = walker_start(way == HALL_MUTEX ? hold_mutex : hold_lock, form, way, "holder");
	if (!err && way == HALL_MUTEX)
		while (!READ_ONCE(hall.lock_held))
			msleep(1);
	for (i = 0; !err && i < n; i++)
		err = form == FORM_EXIT ? exit_go(way) : walker_start(walk, form, way, form_names[form]);
	return err;
}

/* --- the storm ------------------------------------------------------------------- */

#define STORM_MAX	64

static struct task_struct *stormers[STORM_MAX], *stork;
static atomic_t ended;

static int storm_thread(void *arg)
{
	unsigned long slept = jiffies;
	unsigned int n = (long)arg;

	while (!kthread_should_stop()) {
		hall_call(n % CALL_FORMS, n % 61 ? HALL_PASS : HALL_DALLY);
		n++;
		/* Leave time for loading modules: an emulator has one core for all. */
		if (time_after(jiffies, slept + 1)) {
			schedule_timeout_uninterruptible(2 * num_online_cpus());
			slept = jiffies;
		}
	}
	return 0;
}

static int mortal_thread(void *arg)
{
	unsigned int n = (long)arg, i;

	for (i = 0; i < CALL_FORMS; i++)
		hall_call((n + i) % CALL_FORMS, HALL_DALLY);
	/* In a target, or here; a probe might be in another module. */
	if (n & 1)
		hall_call(n / 2 % FORM_TRACE, HALL_EXIT);
	test_thread_exit(&hall.ended);
}

static int stork_thread(void *arg)
{
	unsigned int alive = 0, n = 0, max = (long)arg;

	while (!kthread_should_stop() || alive) {
		while (try_wait_for_completion(&hall.ended)) {
			atomic_inc(&ended);
			alive--;
		}
		if (alive < max && !kthread_should_stop() &&
		    !IS_ERR(kthread_run(mortal_thread, (void *)(long)n, "hall/mortal"))) {
			alive++;
			n++;
		}
		usleep_range(1000, 3000);
	}
	return 0;
}

static void storm_stop(void)
{
	unsigned int i;

	for (i = 0; i < STORM_MAX; i++) {
		if (stormers[i])
			kthread_stop(stormers[i]);
		stormers[i] = NULL;
	}
	if (stork)
		kthread_stop(stork);
	stork = NULL;
}

static int storm(unsigned int n, unsigned int mortals)
{
	struct task_struct *t;
	unsigned int i;

	storm_stop();
	if (n > STORM_MAX)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		t = kthread_run(storm_thread, (void *)(long)i, "hall/storm%u", i);
		if (IS_ERR(t))
			return PTR_ERR(t);
		set_user_nice(t, 10);
		stormers[i] = t;
	}
	if (mortals) {
		t = kthread_run(stork_thread, (void *)(long)mortals, "hall/stork");
		if (IS_ERR(t))
			return PTR_ERR(t);
		stork = t;
	}
	return 0;
}

/* --- quiesce -------------------------------------------------------------------- */

static DEFINE_MUTEX(quiesce_mutex);
static unsigned int limit = 20;
module_param(limit, uint, 0644);
MODULE_PARM_DESC(limit, "seconds after which no further jf_quiesce() is begun");
static unsigned int quiesces, quiesce_early;
static u64 quiesce_us_sum, quiesce_us_max;

/*
 * No call that begins now enters the old target: the number of threads inside only
 * falls, and none enters after jf_quiesce(), until it is the target again.
 */
static int quiesce_once(void)
{
	const void *old = dynfunc_query(hall_op);
	unsigned int id = old == hall_a ? HALL_A : old == hall_b ? HALL_B : HALL_VISIT;
	unsigned int next = id == HALL_A ? HALL_B : HALL_A;
	int err;
	u64 us;

	WRITE_ONCE(hall.guest[next].dead, false);
	err = next == HALL_A ? dynfunc_update(hall_op, hall_a) : dynfunc_update(hall_op, hall_b);
	if (err)
		return err;
	us = ktime_get_ns();
	jf_quiesce();
	us = (ktime_get_ns() - us) / 1000;
	quiesce_early += atomic_read(&hall.guest[id].inside);
	WRITE_ONCE(hall.guest[id].dead, true);
	quiesces++;
	quiesce_us_sum += us;
	quiesce_us_max = max(quiesce_us_max, us);
	return 0;
}

static ssize_t quiesce_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos)
{
	unsigned long since = jiffies;
	unsigned int n;
	int err = kstrtouint_from_user(ubuf, count, 0, &n);

	if (err)
		return err;
	mutex_lock(&quiesce_mutex);
	quiesces = 0;
	quiesce_us_sum = 0;
	quiesce_us_max = 0;
	while (!err && n-- && time_before(jiffies, since + limit * HZ))
		err = quiesce_once();
	/* Unloading a module makes it the target again. */
	for (n = 0; n < HALL_GUESTS; n++)
		WRITE_ONCE(hall.guest[n].dead, false);
	mutex_unlock(&quiesce_mutex);
	return err ?: count;
}

TEST_WRITE_ONLY(quiesce);

/* --- threads that are left in freed text ---------------------------------------- */

static unsigned int early;

static int hall_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *mod = data;
	unsigned long since = jiffies;
	atomic_t *inside;
	int n;

	if (event != MODULE_STATE_GOING)
		return NOTIFY_OK;
	if (!strcmp(mod->name, "jf_visit"))
		inside = &hall.guest[HALL_VISIT].inside;
	else if (!strcmp(mod->name, "jf_visit2"))
		inside = &hall.guest[HALL_VISIT2].inside;
	else
		return NOTIFY_OK;
	n = atomic_read(inside);
	if (!n)
		return NOTIFY_OK;
	pr_info("%s would be freed with %d inside\n", mod->name, n);
	WRITE_ONCE(early, early + n);
	while (atomic_read(inside) && time_before(jiffies, since + 2 * HALL_LIMIT))
		msleep(20);
	/* The last one has yet to return. */
	msleep(300);
	return NOTIFY_OK;
}

static struct notifier_block hall_nb = {
	.notifier_call = hall_notify,
	/* After jumpfunc, and all others. */
	.priority = INT_MIN,
};

/* --- files ---------------------------------------------------------------------- */

static DEFINE_MUTEX(do_mutex);

static int find(const char * const *names, unsigned int num, const char *name)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		if (!strcmp(names[i], name))
			return i;
	return -EINVAL;
}

static int do_command(char *cmd)
{
	char form[16], way[16];
	unsigned int n = 1, m;
	int f, w;

	if (!strcmp(cmd, "open") || !strcmp(cmd, "shut")) {
		WRITE_ONCE(hall.open, *cmd == 'o');
		wake_up_all(&hall.gate);
		return 0;
	}
	if (!strcmp(cmd, "reap"))
		return walkers_reap(false) ? -EBUSY : 0;
	if (sscanf(cmd, "storm %u %u", &n, &m) == 2)
		return storm(n, m);
	n = 1;
	if (sscanf(cmd, "go %15s %15s %u", form, way, &n) < 2)
		return -EINVAL;
	f = find(form_names, FORMS, form);
	w = find(way_names, HALL_WAYS, way);
	if (f < 0 || w < 0 || w == HALL_EXIT)
		return -EINVAL;
	return go(f, w, n);
}

static ssize_t do_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos)
{
	char buf[48], *cmd = test_command(buf, sizeof(buf), ubuf, count);
	int err;

	if (IS_ERR(cmd))
		return PTR_ERR(cmd);
	mutex_lock(&do_mutex);
	err = do_command(cmd);
	mutex_unlock(&do_mutex);
	return err ?: count;
}

TEST_WRITE_ONLY(do);

static ssize_t enter_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos)
{
	unsigned int f;

	for (f = 0; f < CALL_FORMS; f++)
		hall_call(f, HALL_DALLY);
	return count;
}

TEST_WRITE_ONLY(enter);

static int state_show(struct seq_file *m, void *v)
{
	static const char * const guests[HALL_GUESTS] = { "visit", "visit2", "a", "b" };
	unsigned int i, away = 0, late = 0;

	for (i = 0; i < HALL_GUESTS; i++) {
		seq_printf(m, "inside_%s %d\nentered_%s %d\n", guests[i], atomic_read(&hall.guest[i].inside),
			   guests[i], atomic_read(&hall.guest[i].entered));
		late += atomic_read(&hall.guest[i].late);
	}
	for (i = 0; i < WALKERS; i++)
		away += walkers[i].task && !READ_ONCE(walkers[i].back);
	seq_printf(m, "away %u\nexiting %d\nexit_listed %d\n", away, atomic_read(&exiting), exit_listed);
	seq_printf(m, "early %u\ncalls %lld\nended %d\nbad_values %d\n", READ_ONCE(early),
		   (long long)atomic64_read(&calls), atomic_read(&ended), atomic_read(&bad_values));
	seq_printf(m, "quiesces %u\nquiesce_early %u\nquiesce_us_avg %llu\nquiesce_us_max %llu\nlate %u\n", quiesces,
		   quiesce_early, quiesces ? quiesce_us_sum / quiesces : 0, quiesce_us_max, late);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static struct dentry *dir;

static int __init hall_init(void)
{
	int err = register_module_notifier(&hall_nb);

	if (err)
		return err;
	dir = debugfs_create_dir("jf_hall", NULL);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	debugfs_create_file("quiesce", 0200, dir, NULL, &quiesce_fops);
	debugfs_create_file("enter", 0200, dir, NULL, &enter_fops);
	debugfs_create_file("state", 0400, dir, NULL, &state_fops);
	return 0;
}

static void __exit hall_exit(void)
{
	debugfs_remove_recursive(dir);
	WRITE_ONCE(hall.open, true);
	wake_up_all(&hall.gate);
	storm_stop();
	walkers_reap(true);
	while (atomic_read(&exiting))
		msleep(20);
	if (exit_probed) {
		unregister_kprobe(&exit_probe);
		/* The last one has yet to return from the detour. */
		msleep(200);
	}
	unregister_module_notifier(&hall_nb);
}

module_init(hall_init);
module_exit(hall_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Threads that stay inside dynamic functions and probes of modules that are unloaded");
