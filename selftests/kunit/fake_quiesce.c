// SPDX-License-Identifier: GPL-2.0
/*
 * The fakes of fake.h, for the room quiesce: tasks, a machine that can be stopped, time,
 * Tasks RCU, a work queue. It stands on fake_base.c.
 */
#include "fake_kernel.h"

/* --- tasks --------------------------------------------------------------- */

/* All there are, and of these the ones that the kernel lists. */
static struct jfk_task *jfk_all[2048];
static unsigned int jfk_num_all;
static LIST_HEAD(jfk_listed);
static struct jfk_task jfk_me, jfk_others[2];

static void jfk_task_init(struct jfk_task *t, void *at)
{
	if (jfk_num_all == ARRAY_SIZE(jfk_all)) {
		jfk_breach("more tasks than there is room for");
		return;
	}
	memset(t, 0, sizeof(*t));
	t->pid = 100 + jfk_num_all;
	snprintf(t->comm, sizeof(t->comm), "task%u", jfk_num_all);
	refcount_set(&t->stack_refcount, 1);
	t->at = (unsigned long)at;
	list_add_tail(&t->list, &jfk_listed);
	jfk_all[jfk_num_all++] = t;
}

struct jfk_task *jfk_task(struct kunit *test, void *at)
{
	struct jfk_task *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t);
	jfk_task_init(t, at);
	return t;
}

void jfk_leave(struct jfk_task *t)
{
	t->at = 0;
	t->unreadable = false;
	t->nvcsw++;
}

void jfk_unlist(struct jfk_task *t)
{
	list_del_init(&t->list);
}

void jfk_free_stack(struct jfk_task *t)
{
	jfk_leave(t);
	refcount_set(&t->stack_refcount, 0);
}

struct jfk_task *jfk_self(void)
{
	return &jfk_me;
}

void jfk_leave_all(void)
{
	unsigned int i;

	for (i = 0; i < jfk_num_all; i++)
		jfk_leave(jfk_all[i]);
}

void jfk_no_tasks(void)
{
	unsigned int i;

	jfk_leave_all();
	for (i = 0; i < jfk_num_all; i++)
		if (jfk_all[i] != &jfk_me)
			jfk_unlist(jfk_all[i]);
}

bool jfk_is_inside(void *start, void *end)
{
	unsigned int i;

	for (i = 0; i < jfk_num_all; i++)
		if (jfk_all[i]->at >= (unsigned long)start &&
		    jfk_all[i]->at < (unsigned long)end)
			return true;
	return false;
}

static struct jfk_task *jfk_get(struct jfk_task *t)
{
	t->refs++;
	return t;
}

static void jfk_put(struct jfk_task *t)
{
	if (t->refs-- <= 0)
		jfk_breach("a reference to a task that was not taken is put");
	if (jfk.stopped)
		jfk_breach("a task may be freed while all CPUs are stopped");
}

/* --- looking ------------------------------------------------------------- */

static bool jfk_scan(struct jfk_task *t, struct jf_scan *scan, bool strict)
{
	struct jfk_image *im;

	if (!jfk.stopped)
		jfk_breach("a stack is read while it may be in use");
	if (jfk.blind)
		jfk_breach("a stack is read that cannot be");
	/* The caller: it cannot be freed, and is no task that is waited for. */
	if (t == &jfk_me)
		return jf_spans_has(&scan->in, t->at);
	if (t->refs <= 0)
		jfk_breach("a task is scanned that may have been freed");
	jfk.seen++;
	jfk.scanned++;
	t->scans++;
	t->strict += strict;
	for (im = jfk.image; im < jfk.image + JFK_IMAGES; im++)
		if (jf_spans_has(&scan->in, (unsigned long)im))
			im->asked = true;

	scan->where = 0;
	if (!refcount_read(&t->stack_refcount))
		return false;
	if (t->unreadable)
		return true;
	if (jf_spans_has(&scan->in, t->at))
		scan->where = t->at;
	return scan->where;
}

static int jfk_stop(int (*fn)(void *arg), void *arg);

/* --- time ---------------------------------------------------------------- */

/* Grace periods of Tasks RCU that have begun. */
static struct jfk_gp {
	struct rcu_head	*head;
	rcu_callback_t	func;
	unsigned long	begun;
} jfk_gp[64];
static unsigned int jfk_gps_begun;

static void jfk_call_rcu_tasks(struct rcu_head *head, rcu_callback_t func)
{
	if (jfk_gps_begun == ARRAY_SIZE(jfk_gp)) {
		jfk_breach("grace periods pile up");
		func(head);
		return;
	}
	jfk.tasks_graces++;
	jfk_gp[jfk_gps_begun++] = (struct jfk_gp){ head, func, jfk.now };
}

static void jfk_end_gp(unsigned int i)
{
	struct jfk_gp gp = jfk_gp[i];

	jfk_gp[i] = jfk_gp[--jfk_gps_begun];
	gp.func(gp.head);
}

void jfk_end_graces(void)
{
	while (jfk_gps_begun)
		jfk_end_gp(0);
}

static void jfk_wakeme(struct rcu_head *head)
{
	complete(&container_of(head, struct rcu_synchronize, head)->completion);
}

void jfk_pass(unsigned long time)
{
	unsigned int i;

	jfk.now += time;
	for (i = 0; jfk.gp_takes >= 0 && i < jfk_gps_begun; ) {
		if (jfk.now - jfk_gp[i].begun >= jfk.gp_takes)
			jfk_end_gp(i);
		else
			i++;
	}
	for (i = 0; i < jfk_num_all; i++) {
		struct jfk_task *t = jfk_all[i];

		t->nivcsw += t->restless;
		if (t->stays > time) {
			t->stays -= time;
		} else if (t->stays) {
			t->stays = 0;
			jfk_leave(t);
		}
	}
}

void jfk_heal(void)
{
	jfk.patch_err = 0;
	jfk.fail_at = 0;
	jfk.image_err = 0;
	jfk.stuck_stays = false;
}

void jfk_sleep(unsigned int ms)
{
	if (jfk.stopped || mutex_is_locked(&jf_mutex))
		jfk_breach("sleeps with the CPUs stopped or the lock held");
	if (mutex_is_locked(&jf_tp_mutex) || mutex_is_locked(&jf_probes_mutex))
		jfk_breach("waits with the lock of all probes held");
	jfk.sleeps++;
	jfk.slept = ms;
	if (jfk.sleeps == jfk.heal_after)
		jfk_heal();
	if (jfk.sleeps > 1000) {
		jfk_breach("waits for ever");
		jfk_heal();
	}
	/* Nothing helps: end the test here, without a clean-up. */
	KUNIT_ASSERT_LT(jfk.test, jfk.sleeps, 3000U);
	jfk_pass(msecs_to_jiffies(ms));
	if (jfk.on_sleep)
		jfk.on_sleep();
}

static bool jfk_wait_timeout(struct completion *x, unsigned long timeout)
{
	unsigned long waited = 0;

	if (mutex_is_locked(&jf_mutex))
		jfk_breach("waits with the lock held");
	while (!completion_done(x) && waited < timeout) {
		if (waited > 1000 * HZ) {
			jfk_breach("waits for a grace period for ever");
			jfk_end_graces();
			break;
		}
		waited++;
		jfk_pass(1);
	}
	return try_wait_for_completion(x);
}

/* The only thing that is waited for without end is the work. */
static void jfk_wait(struct completion *x)
{
	while (!completion_done(x)) {
		if (!jfk_work()) {
			jfk_breach("waits for nothing");
			return;
		}
	}
	try_wait_for_completion(x);
}

/* --- the kernel's knowledge of text ---------------------------------------- */

/* By default an address is a function of the kernel with a single byte. */
static void jfk_symbol(char *buf, unsigned long addr)
{
	const struct jfk_symbol *s;

	for (s = jfk.symbol; s < jfk.symbol + ARRAY_SIZE(jfk.symbol); s++) {
		if (addr < s->start || addr >= s->start + s->size)
			continue;
		sprintf(buf, "%s+0x%lx/0x%lx%s%s%s", s->name, addr - s->start, s->size,
			s->mod ? " [" : "", s->mod ?: "", s->mod ? "]" : "");
		return;
	}
	if (addr == jfk.nameless)
		sprintf(buf, "0x%lx", addr);
	else
		sprintf(buf, "something+0x0/0x1");
}

static bool jfk_find_text(unsigned long *start, unsigned long *end)
{
	*start = jfk.text_start;
	*end = jfk.text_end ?: ULONG_MAX;
	return true;
}

static int jfk_unnamed_text(struct jf_spans *s, unsigned long addr)
{
	const struct jf_span *u;
	int err = 0;

	for (u = jfk.unnamed; !err && u->end; u++)
		err = jf_spans_add(s, u->start, u->end);
	return err;
}

static __printf(1, 2) void jfk_warn(const char *fmt, ...)
{
	va_list args;

	jfk.warnings++;
	va_start(args, fmt);
	vscnprintf(jfk.warning, sizeof(jfk.warning), fmt, args);
	va_end(args);
}

/* --- work ------------------------------------------------------------------ */

static struct workqueue_struct *jfk_queue_new(void)
{
	if (jfk.no_workqueue)
		return NULL;
	jfk.workqueues++;
	/* The engine uses its address alone. */
	return (void *)&jfk.queued;
}

static void jfk_queue_end(const struct workqueue_struct *wq)
{
	if (wq != (void *)&jfk.queued)
		jfk_breach("another work queue is destroyed");
	while (jfk_work())
		;
	jfk.workqueues--;
}

static void jfk_queue_exits(const struct workqueue_struct *wq, unsigned long delay,
			    bool sooner)
{
	if (wq != (void *)&jfk.queued)
		jfk_breach("another work queue is used");
	if (!jfk.exits_queued || sooner)
		jfk.exits_delay = delay;
	jfk.exits_queued = true;
}

static void *jfk_percpu(size_t size)
{
	void *p = jfk.no_percpu ? NULL : jfk_real_alloc(size, GFP_KERNEL);

	if (p) {
		memset(p, 0, size);
		jfk.percpus++;
	}
	return p;
}

static void jfk_free_percpu(void *p)
{
	jfk.percpus -= !!p;
	jfk_real_free(p);
}

/* --- the tracepoint of tasks that exit -------------------------------------- */

static struct tracepoint jfk_tracepoints[] = {
	{ .name = "sched_process_exec" },
	{ .name = "sched_process_exit" },
	{ .name = "sched_process_exit2" },
};

static void jfk_each_tp(void (*fn)(struct tracepoint *tp, void *priv), void *priv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jfk_tracepoints); i++)
		if (i != 1 || !jfk.no_exit_tp)
			fn(&jfk_tracepoints[i], priv);
}

static int jfk_attach(struct tracepoint *tp, void *probe)
{
	if (tp != &jfk_tracepoints[1])
		jfk_breach("a probe on another tracepoint");
	if (!jfk.exit_probe_err)
		jfk.exit_probe = probe;
	return jfk.exit_probe_err;
}

static void jfk_detach(struct tracepoint *tp, void *probe)
{
	if (tp != &jfk_tracepoints[1] || probe != jfk.exit_probe)
		jfk_breach("a probe is removed that is not there");
	jfk.exit_probe = NULL;
}

/* --- the engine ------------------------------------------------------------- */

#define JFK_CPUS	2

/* The configuration of the build would decide which cases are tested. */
#undef CONFIG_PREEMPT_RT
#undef JF_ARCH_CALL_PAD
#define JF_ARCH_CALL_PAD		JFK_PAD

#define task_struct			jfk_task
#undef JF_EXIT_PROTO
#undef jf_sched_delayed
#undef jf_waits_for_rtlock
#define JF_EXIT_PROTO			struct task_struct *t
#define jf_sched_delayed(t)		((t)->delayed)
#define jf_waits_for_rtlock(t)		((t)->rtlock)
#define jf_arch_scan(t, scan, strict)	jfk_scan(t, scan, strict)

#undef current
#undef get_task_struct
#undef put_task_struct
#undef task_pid_nr
#undef for_each_process_thread
#undef for_each_possible_cpu
#undef __percpu
#undef alloc_percpu
#undef raw_cpu_ptr
#undef per_cpu_ptr
#define current				(&jfk_me)
#define get_task_struct(t)		jfk_get(t)
#define put_task_struct(t)		jfk_put(t)
#define task_pid_nr(t)			((t)->pid)
#define for_each_process_thread(p, t)					\
	for ((p) = NULL; !(p); (p) = &jfk_me)				\
		list_for_each_entry(t, &jfk_listed, list)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < JFK_CPUS; (cpu)++)
#define __percpu
#define alloc_percpu(type)		((type *)jfk_percpu(JFK_CPUS * sizeof(type)))
#define free_percpu(p)			jfk_free_percpu(p)
#define raw_cpu_ptr(p)			(&(p)[jfk.cpu])
#define per_cpu_ptr(p, cpu)		(&(p)[cpu])

#undef stop_machine
#undef call_rcu_tasks
#undef wakeme_after_rcu
#undef wait_for_completion
#define stop_machine(fn, arg, cpus)	jfk_stop(fn, arg)
#define call_rcu_tasks(head, func)	jfk_call_rcu_tasks(head, func)
#define wakeme_after_rcu		jfk_wakeme
#define wait_for_completion(x)		jfk_wait(x)
#define jf_wait_for(x)			jfk_wait(x)
#define jf_wait_for_timeout(x, t)	jfk_wait_timeout(x, t)

#undef alloc_workqueue
#undef queue_work
#define alloc_workqueue(...)		jfk_queue_new()
#define destroy_workqueue(wq)		jfk_queue_end(wq)
#define queue_work(wq, w)		((void)(jfk.queued = true))
#undef queue_delayed_work
#undef mod_delayed_work
#undef cancel_delayed_work_sync
#define queue_delayed_work(wq, w, delay) jfk_queue_exits(wq, delay, false)
#define mod_delayed_work(wq, w, delay)	jfk_queue_exits(wq, delay, true)
#define cancel_delayed_work_sync(w)	((void)(jfk.exits_queued = false))

#define for_each_kernel_tracepoint(fn, priv) jfk_each_tp(fn, priv)
#define tracepoint_probe_register(tp, probe, data) jfk_attach(tp, probe)
#define tracepoint_probe_unregister(tp, probe, data) jfk_detach(tp, probe)
#undef tracepoint_synchronize_unregister
#define tracepoint_synchronize_unregister() ((void)0)

#undef jf_task_has_stack
#undef jf_task_runs
#define jf_task_has_stack(t)		refcount_read(&(t)->stack_refcount)
#define jf_task_runs(t)			READ_ONCE((t)->on_cpu)

#define sprint_symbol(buf, addr)	jfk_symbol(buf, addr)
#define jf_find_module_text(name, addr, live, start, end) jfk_find_text(start, end)
/* Then its symbols are asked for one by one. */
#define jf_module_symbols(name, addr, stays, fn, arg) ((void)(fn), (void)(stays), false)
#define jf_add_unnamed_text(s, addr)	jfk_unnamed_text(s, addr)
#undef pr_warn
#undef pr_warn_ratelimited
#define pr_warn(fmt, ...)		jfk_warn(fmt, ##__VA_ARGS__)
#define pr_warn_ratelimited(fmt, ...)	jfk_warn(fmt, ##__VA_ARGS__)

#include "../../kernel/quiesce/retired.c"
#include "../../kernel/quiesce/function.c"
#include "../../kernel/quiesce/scan.c"
#include "../../kernel/quiesce/exits.c"
#include "../../kernel/quiesce/grace.c"
#include "../../kernel/quiesce/rounds.c"
#include "../../kernel/quiesce/quiesce.c"
#include "../../kernel/quiesce/callback.c"
#include "../../kernel/quiesce/unload.c"

int jf_arch_add_tests(struct jf_spans *s, unsigned long start, unsigned long end)
{
	if (!jfk.tests || jfk.tests_of < start || jfk.tests_of >= end)
		return 0;
	return jf_spans_add(s, jfk.tests, jfk.tests + 8);
}

bool jf_arch_can_scan(void)
{
	return !jfk.blind;
}

const char *jf_arch_unwind_lacks(void)
{
	return jfk.unwind_lacks;
}

bool jf_arch_is_padding(unsigned long start, unsigned long end)
{
	return start == jfk.padding;
}

bool jf_arch_leads_into(unsigned long start, unsigned long end,
			unsigned long to_start, unsigned long to_end)
{
	const struct jf_span *l;

	for (l = jfk.leads; l->start; l++)
		if (l->start >= start && l->start < end && l->end >= to_start && l->end < to_end)
			return true;
	return false;
}

bool jf_arch_image_span(const void *image, unsigned long *start,
			unsigned long *end)
{
	const struct jfk_image *im = image;

	if (im < jfk.image || im >= jfk.image + JFK_IMAGES)
		return false;
	*start = (unsigned long)im;
	*end = (unsigned long)(im + 1);
	return true;
}

bool jf_arch_is_text(unsigned long addr)
{
	return true;
}

bool jf_arch_is_image(unsigned long addr)
{
	return true;
}

static int jfk_stop(int (*fn)(void *arg), void *arg)
{
	int err;

	if (mutex_is_locked(&jf_mutex) || jfk.cpus_locked)
		jfk_breach("CPUs are stopped with a lock held");
	if (fn == jf_gather_stopped && jfk.before_gather)
		jfk.before_gather();
	jfk.stopped = true;
	jfk.scanned = 0;
	err = fn(arg);
	jfk.stopped = false;
	if (fn == jf_gather_stopped)
		jfk.gathers++;
	else
		jfk.scans++;
	jfk.scanned_max = max(jfk.scanned_max, jfk.scanned);
	if (jfk.on_stop)
		jfk.on_stop();
	return err;
}

bool jfk_work(void)
{
	bool was = jfk.queued;

	jfk.queued = false;
	if (was)
		jf_calls_work(&jf_calls_run);
	return was;
}

bool jfk_exits_work(void)
{
	bool was = jfk.exits_queued;

	jfk.exits_queued = false;
	if (was)
		jf_exits_work(NULL);
	return was;
}

void jfk_exiting(struct jfk_task *t)
{
	void (*probe)(void *data, struct jfk_task *t) = jfk.exit_probe;

	if (probe)
		probe(NULL, t);
}

/* --- the engine's statics ---------------------------------------------------- */

static struct jf_retired_func *jfk_retired_get(void *func)
{
	struct jf_retired_func *r;

	mutex_lock(&jf_mutex);
	r = jf_retired_find(func);
	mutex_unlock(&jf_mutex);
	return r;
}

bool jfk_is_retired(void *func)
{
	struct jf_retired_func *r = jfk_retired_get(func);

	return r && r->seq;
}

unsigned int jfk_retired_pins(void *func)
{
	struct jf_retired_func *r = jfk_retired_get(func);

	return r ? r->pins : 0;
}

u64 jfk_retired_since(void *func)
{
	struct jf_retired_func *r = jfk_retired_get(func);

	return r ? r->seq : 0;
}

enum jf_retired_kind jfk_retired_kind(void *func)
{
	struct jf_retired_func *r = jfk_retired_get(func);

	return r ? r->kind : -1;
}

unsigned int jfk_num_retired(void)
{
	struct jf_retired_func *r;
	unsigned int n = 0;
	int bkt;

	/* A probe that is registered has one that says nothing yet. */
	hash_for_each(jf_retired_funcs, bkt, r, hash)
		n += r->seq || r->pins;
	return n;
}

unsigned int jfk_num_sought(void)
{
	struct jf_retired_func *r;
	unsigned int n = 0;
	int bkt;

	mutex_lock(&jf_mutex);
	hash_for_each(jf_retired_funcs, bkt, r, hash)
		n += r->pins || (r->seq && jf_retired_is_sought(r, jf_seq));
	mutex_unlock(&jf_mutex);
	return n;
}

unsigned int jfk_num_records(void)
{
	struct jf_retired_func *r;
	unsigned int n = 0;
	int bkt;

	hash_for_each(jf_retired_funcs, bkt, r, hash)
		n++;
	return n;
}

unsigned int jfk_num_gps(void)
{
	struct jf_gp *gp;
	unsigned int n = 0;

	list_for_each_entry(gp, &jf_gps, list)
		n++;
	return n;
}

unsigned int jfk_num_exits(unsigned int cpu)
{
	return jf_exits[cpu].num;
}

unsigned int jfk_exits_max(void)
{
	return JF_EXITS;
}

void jfk_forget_exit_tp(void)
{
	jf_exit_tp = NULL;
}

int jfk_exits_lost(void)
{
	return atomic_read(&jf_lost) - atomic_read(&jf_found);
}

/* --- init and exit ----------------------------------------------------------- */

int jfk_quiesce_begin(void)
{
	unsigned int i;
	int err;

	hash_init(jf_retired_funcs);
	INIT_LIST_HEAD(&jf_gps);
	INIT_LIST_HEAD(&jf_calls);
	INIT_LIST_HEAD(&jf_calls_waiting);
	jf_call_running = 0;
	INIT_LIST_HEAD(&jf_texts);
	jf_seq = 0;
	jf_exit_tp = NULL;
	jf_exits_pause = JF_EXITS_SOON;
	atomic_set(&jf_lost, 0);
	atomic_set(&jf_found, 0);
	INIT_LIST_HEAD(&jfk_listed);
	jfk_num_all = 0;
	jfk_gps_begun = 0;
	jfk_task_init(&jfk_me, NULL);
	for (i = 0; i < ARRAY_SIZE(jfk_others); i++)
		jfk_task_init(&jfk_others[i], NULL);
	/* It wraps around while a test is running. */
	jfk.now = -10 * HZ;
	jfk.gp_takes = HZ / 5;
	err = jf_quiesce_init();
	/* Tests count the later ones. */
	jfk.begun_with = jfk.not_freed;
	jfk.not_freed = 0;
	jfk.allocs = 0;
	return err;
}

void jfk_quiesce_end(struct kunit *test)
{
	unsigned int i, refs = 0;

	jfk.blind = false;
	jfk.gp_takes = 1;
	jfk.before_gather = NULL;
	jfk.on_stop = NULL;
	jfk.on_sleep = NULL;
	jfk_end_graces();
	while (jfk_work())
		;
	jf_quiesce();
	jfk.not_freed += jfk.begun_with;
	jf_quiesce_exit();
	for (i = 0; i < jfk_num_all; i++)
		refs += !!jfk_all[i]->refs;
	KUNIT_EXPECT_EQ_MSG(test, refs, 0U, "tasks that are held");
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 0U);
	KUNIT_EXPECT_TRUE(test, !jfk.exit_probe);
	KUNIT_EXPECT_FALSE(test, jfk.exits_queued);
	KUNIT_EXPECT_EQ(test, jfk.workqueues, 0);
	KUNIT_EXPECT_EQ(test, jfk.percpus, 0);
	KUNIT_EXPECT_FALSE(test, jfk.stopped);
	KUNIT_EXPECT_EQ(test, jfk.cpus_locked, 0U);
}
