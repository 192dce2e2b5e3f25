// SPDX-License-Identifier: GPL-2.0
/*
 * The promises of a quiesce: it waits for tasks that execute a target that was replaced, and
 * for read sections of RCU in code after a branch, and not for tasks that execute the same
 * functions for another reason.
 *
 * /sys/kernel/debug/jf_promise/
 *   do		write one of
 *		  shut, open	the gate; tasks that wait for it leave
 *		  spin 0|1	tasks that stay are at work instead of asleep
 *		  go NAME	a thread begins the case NAME, see places[]
 *		  on KEY, off KEY	change a key, see keys[]
 *		  probe 0|1	register or unregister the tracepoint's probe
 *		  swap, back	the first dynamic function leads elsewhere, and back
 *		  share, part	the second one leads where the first one led at first, or not
 *		  once 0|1	one of two that lead to a recursive function
 *		  doze, awake	the same for the one that leads to msleep()
 *		  nap, nod	the same for the one that main loops sleep in
 *		  nest, flat	the same for one whose target calls it again
 *		  self		the one that replaces itself leads to its first target again
 *		  take, drop	the same for one whose target can jump to a tracer
 *		  trace 0|1	it does, or not
 *		  one N, two N, void N	tracepoints whose probe sleeps get the first N of sleepers[]
 *		  quiesce MS	jf_quiesce_timeout(); without MS jf_quiesce()
 *		  ask		a callback by jf_call_quiesced()
 *		  stop		all threads end
 *   state	counts and times, "name value"
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/wait.h>
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
#include <asm/ibt.h>
#endif

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>

#include "../files.h"

/* No task stays longer: a test that went wrong has to end. */
#define STAY_LIMIT	(120 * HZ)
/* Nor in a read section, of which the kernel complains. */
#define READ_LIMIT	(15 * HZ)
#define JF_DEEP		4

static DECLARE_WAIT_QUEUE_HEAD(gate);
static bool gate_open = true, spins, stopping;
/* Tasks at the gate, and threads that have not ended. */
static atomic_t inside, threads;
static atomic_t rounds;
static s64 quiesce_ms;
/* Quiesces that have ended, and how many tasks were inside by the end of the last one. */
static atomic_t quiesces, left_inside;

static noinline void stay(void)
{
	unsigned long end = jiffies + STAY_LIMIT;

	atomic_inc(&inside);
	if (!READ_ONCE(spins))
		wait_event_timeout(gate, READ_ONCE(gate_open), STAY_LIMIT);
	else
		while (!READ_ONCE(gate_open) && time_before(jiffies, end)) {
			cpu_relax();
			cond_resched();
		}
	atomic_dec(&inside);
}

/* --- code after branches -------------------------------------------------- */

static DEFINE_JF_KEY_FALSE(p_off);
static DEFINE_JF_KEY_TRUE(p_on);
static DEFINE_JF_KEY_FALSE(p_asleep);
static DEFINE_JF_KEY_FALSE(p_loop);

DECLARE_JF_TRACE(p_event, JF_PROTO(int x), JF_ARGS(x));
DEFINE_JF_TRACE(p_event);

static void p_probe(void *data, int x)
{
	atomic_add(x, &rounds);
}

/* At work, in a read section: the CPU is not given away. */
static noinline void stay_reader(void)
{
	unsigned long end = jiffies + READ_LIMIT;

	atomic_inc(&inside);
	while (!READ_ONCE(gate_open) && time_before(jiffies, end))
		cpu_relax();
	atomic_dec(&inside);
}

static noinline int after_unlikely(int x)
{
	if (jf_branch_unlikely(&p_off)) {
		rcu_read_lock();
		stay_reader();
		rcu_read_unlock();
		x++;
	}
	return x;
}

/* The side that a disabled key leads to. */
static noinline int after_else(int x)
{
	if (jf_branch_likely(&p_on)) {
		x++;
	} else {
		preempt_disable();
		stay_reader();
		preempt_enable();
		x += 2;
	}
	return x;
}

/* In no read section: no quiesce waits for that. */
static noinline int after_asleep(int x)
{
	if (jf_branch_unlikely(&p_asleep)) {
		stay();
		x++;
	}
	return x;
}

static void place_off(void)	{ after_unlikely(1); }
static void place_else(void)	{ after_else(1); }
static void place_asleep(void)	{ after_asleep(1); }

/* A thread's main loop with a site in it, before it sleeps and after. */
static noinline void place_loop(void)
{
	if (jf_branch_unlikely(&p_loop))
		atomic_inc(&rounds);
	while (!READ_ONCE(stopping)) {
		if (jf_branch_unlikely(&p_loop))
			atomic_inc(&rounds);
		jf_trace_p_event(1);
		msleep(20);
		if (jf_branch_unlikely(&p_loop))
			atomic_add(2, &rounds);
	}
}

/* --- functions that are set again -------------------------------------------- */

static noinline int napping(int x)
{
	msleep(20);
	return x;
}

static noinline int nodding(int x)
{
	msleep(10);
	return x + 1;
}

DEFINE_DYNFUNC(p_nap, napping);

static noinline void place_nap(void)
{
	while (!READ_ONCE(stopping)) {
		atomic_inc(&rounds);
		dynfunc_call(p_nap, 1);
	}
}

static noinline void place_nap_tramp(void)
{
	while (!READ_ONCE(stopping)) {
		atomic_inc(&rounds);
		dynfunc_p_nap(1);
		barrier();
	}
}

static noinline void place_nap_ptr(void)
{
	int (*f)(int x) = __JF_POINTER(p_nap);

	while (!READ_ONCE(stopping)) {
		atomic_inc(&rounds);
		OPTIMIZER_HIDE_VAR(f);
		f(1);
		barrier();
	}
}

/* A target that has itself called again by the function that called it. */
static noinline int nested(int n);
DEFINE_DYNFUNC(p_nest, nested);

static noinline int calls_nest(int n)
{
	atomic_inc(&rounds);
	n += dynfunc_call(p_nest, n);
	OPTIMIZER_HIDE_VAR(n);
	return n;
}

static noinline int nested(int n)
{
	if (!n) {
		msleep(20);
		return 1;
	}
	atomic_inc(&inside);
	while (!READ_ONCE(gate_open))
		n += calls_nest(0);
	atomic_dec(&inside);
	return n;
}

static noinline int not_nested(int n)
{
	return n + 2;
}

static noinline void place_nest(void)
{
	calls_nest(1);
	barrier();
}

/* --- probes that are registered elsewhere, too -------------------------------- */

DECLARE_JF_TRACE(p_one, JF_PROTO(int x), JF_ARGS(x), JF_BARE);
DECLARE_JF_TRACE(p_two, JF_PROTO(int x), JF_ARGS(x), JF_BARE);
DEFINE_JF_TRACE(p_one);
DEFINE_JF_TRACE(p_two);

static noinline void sleeper(void *data, int x)
{
	msleep(20);
	atomic_add(x, &rounds);
}

DEFINE_DYNFUNC_NULL(p_void, sleeper);

/* With no data, with data of this module, and with data of another one. */
static const struct {
	void	(*probe)(void *data, int x);
	void	*data;
} sleepers[] = {
	{ sleeper, NULL },
	{ sleeper, &rounds },
	{ sleeper, &jf_sleepable_srcu },
	{ p_probe, NULL },
};

static unsigned int num_one, num_two;

static int do_sleeper(bool one, unsigned int i, bool add)
{
	void (*probe)(void *data, int x) = sleepers[i].probe;
	void *data = sleepers[i].data;

	if (add)
		return one ? register_jf_trace_p_one(probe, data) : register_jf_trace_p_two(probe, data);
	return one ? unregister_jf_trace_p_one(probe, data) : unregister_jf_trace_p_two(probe, data);
}

static int do_sleepers(bool one, unsigned int *num, unsigned int want)
{
	int err = 0;

	if (want > ARRAY_SIZE(sleepers))
		return -EINVAL;
	while (!err && *num < want) {
		err = do_sleeper(one, *num, true);
		*num += !err;
	}
	while (!err && *num > want) {
		err = do_sleeper(one, *num - 1, false);
		*num -= !err;
	}
	return err;
}

static noinline void place_one(void)
{
	while (!READ_ONCE(stopping)) {
		atomic_inc(&rounds);
		jf_trace_p_one(1);
		cond_resched();
	}
}

static noinline void place_two(void)
{
	while (!READ_ONCE(stopping)) {
		atomic_inc(&rounds);
		jf_trace_p_two(1);
		cond_resched();
	}
}

static noinline void place_void(void)
{
	while (!READ_ONCE(stopping)) {
		atomic_inc(&rounds);
		dynfunc_call(p_void, NULL, 1);
		cond_resched();
	}
}

/* --- functions that unrelated callers execute as well ------------------------ */

static noinline int shared(int x)
{
	stay();
	return x;
}

static noinline int other(int x)
{
	return x + 1;
}

DEFINE_DYNFUNC(p_a, shared);
DEFINE_DYNFUNC(p_b, other);
DEFINE_DYNFUNC(p_msleep, msleep);

static void no_sleep(unsigned int ms)
{
}

static noinline void place_a(void)
{
	dynfunc_call(p_a, 1);
	barrier();
}

static noinline void place_a_tramp(void)
{
	dynfunc_p_a(1);
	barrier();
}

static noinline void place_a_ptr(void)
{
	int (*f)(int x) = __JF_POINTER(p_a);

	OPTIMIZER_HIDE_VAR(f);
	f(1);
	barrier();
}

static noinline int jumps_to_a(int x)
{
	return dynfunc_p_a(x);
}

static noinline void place_a_jump(void)
{
	jumps_to_a(1);
	barrier();
}

static noinline void place_b(void)
{
	dynfunc_call(p_b, 1);
	barrier();
}

static noinline void place_b_tramp(void)
{
	dynfunc_p_b(1);
	barrier();
}

static noinline void place_direct(void)
{
	shared(1);
	barrier();
}

static noinline int jumps_to_shared(int x)
{
	atomic_inc(&rounds);
	return shared(x + 1);
}

static noinline void place_jump(void)
{
	jumps_to_shared(1);
	barrier();
}

/*
 * A task that is not in such a function, and has words on its stack that lead there, in a
 * caller of a function that a return probe may be on.
 */
static noinline int below_words(int x)
{
	stay();
	return x;
}

static noinline void place_words(void)
{
	unsigned long word[JF_DEEP];
	int i;

	for (i = 0; i < JF_DEEP; i++)
		word[i] = (unsigned long)shared + 1;
	OPTIMIZER_HIDE_VAR(i);
	/* The array has to be there for as long as the call lasts. */
	asm volatile("" : : "r" (word) : "memory");
	below_words(i);
	asm volatile("" : : "r" (word) : "memory");
}

/* By its own dynamic function, which does not change, while another one does. */
static noinline int again(int n);
DEFINE_DYNFUNC(p_again, again);
DEFINE_DYNFUNC(p_once, again);

static noinline int again(int n)
{
	if (n)
		return dynfunc_p_again(n - 1) + 1;
	stay();
	return n;
}

static noinline int not_again(int n)
{
	return n;
}

static noinline void place_again(void)
{
	dynfunc_p_again(2 * JF_DEEP);
	barrier();
}

/*
 * Its first instruction can be a jump to a tracer's trampoline, in which the task stays before that
 * calls the rest.
 */
int promise_traced(int x);
void promise_before(void);

noinline int promise_traced(int x)
{
	atomic_inc(&rounds);
	return x + 3;
}

noinline void promise_before(void)
{
	stay();
}

DEFINE_DYNFUNC(p_traced, promise_traced);

static noinline void place_traced(void)
{
	dynfunc_call(p_traced, 1);
	barrier();
}

static noinline void place_traced_direct(void)
{
	promise_traced(1);
	barrier();
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
#ifdef CONFIG_X86_KERNEL_IBT
#define AFTER_FIRST	"9"
#else
#define AFTER_FIRST	"5"
#endif

void promise_tramp(void);
asm("	.pushsection .text, \"ax\", @progbits\n"
    "	.balign 16\n"
    "	.type promise_tramp, @function\n"
    "promise_tramp:\n"
    "	" ASM_ENDBR
    "	push %rbp\n"
    "	mov %rsp, %rbp\n"
    "	push %rdi\n"
    "	push %rdi\n"
    "	call promise_before\n"
    "	pop %rdi\n"
    "	pop %rdi\n"
    "	call promise_traced + " AFTER_FIRST "\n"
    "	leave\n"
    "	" ASM_RET
    "	.size promise_tramp, . - promise_tramp\n"
    "	.popsection\n");

static struct ftrace_ops tracer;
static bool traces;

static int do_trace(bool on)
{
	unsigned long tramp = ftrace_jmp_set((unsigned long)promise_tramp);
	int err;

	if (on == traces)
		return 0;
	if (on)
		err = ftrace_set_filter_ip(&tracer, (unsigned long)promise_traced, 0, 1) ?:
		      register_ftrace_direct(&tracer, tramp);
	else
		err = unregister_ftrace_direct(&tracer, tramp, true);
	traces = err ? traces : on;
	return err;
}
#else
static int do_trace(bool on)
{
	return -EOPNOTSUPP;
}
#endif

static noinline void place_msleep(void)
{
	while (!READ_ONCE(stopping)) {
		msleep(3000);
		barrier();
	}
}

/* Not there, but its address is at hand all the time. */
static noinline void place_hold(void)
{
	void *f = shared;

	OPTIMIZER_HIDE_VAR(f);
	while (!READ_ONCE(stopping)) {
		atomic_inc(&rounds);
		cond_resched();
		asm volatile("" : "+r" (f));
	}
}

static noinline void place_doze(void)
{
	atomic_inc(&inside);
	dynfunc_call(p_msleep, 20000);
	atomic_dec(&inside);
}

/* It replaces itself, waits for all others in there, and stays. */
static noinline int selfish(int x);
DEFINE_DYNFUNC(p_self, selfish);

static noinline int selfish(int x)
{
	x += dynfunc_update(p_self, other);
	jf_quiesce();
	stay();
	return x;
}

static noinline void place_self(void)
{
	dynfunc_call(p_self, 1);
	barrier();
}

static const struct {
	const char	*name;
	void		(*func)(void);
} places[] = {
	{ "off", place_off },
	{ "else", place_else },
	{ "asleep", place_asleep },
	{ "again", place_again },
	{ "loop", place_loop },
	{ "nap", place_nap },
	{ "nap_tramp", place_nap_tramp },
	{ "nap_ptr", place_nap_ptr },
	{ "nest", place_nest },
	{ "one", place_one },
	{ "two", place_two },
	{ "void", place_void },
	{ "a", place_a },
	{ "a_tramp", place_a_tramp },
	{ "a_ptr", place_a_ptr },
	{ "a_jump", place_a_jump },
	{ "b", place_b },
	{ "b_tramp", place_b_tramp },
	{ "direct", place_direct },
	{ "jump", place_jump },
	{ "words", place_words },
	{ "traced", place_traced },
	{ "traced_direct", place_traced_direct },
	{ "msleep", place_msleep },
	{ "doze", place_doze },
	{ "hold", place_hold },
	{ "self", place_self },
};

static const struct {
	const char	*name;
	struct jf_key	*key;
} keys[] = {
	{ "off", &p_off },
	{ "on", &p_on },
	{ "asleep", &p_asleep },
	{ "loop", &p_loop },
};

/* --- threads ---------------------------------------------------------------- */

static int place_thread(void *arg)
{
	places[(long)arg].func();
	atomic_dec(&threads);
	return 0;
}

static int do_go(const char *name)
{
	struct task_struct *t;
	long i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!strcmp(name, places[i].name))
			break;
	if (i == ARRAY_SIZE(places))
		return -EINVAL;
	atomic_inc(&threads);
	t = kthread_run(place_thread, (void *)i, "promise/%s", name);
	if (IS_ERR(t))
		atomic_dec(&threads);
	return PTR_ERR_OR_ZERO(t);
}

static int do_key(const char *name, bool on)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(name, keys[i].name))
			return on ? jf_key_enable(keys[i].key) :
				    jf_key_disable(keys[i].key);
	return -EINVAL;
}

static int do_probe(bool on)
{
	return on ? register_jf_trace_p_event(p_probe, NULL) :
		    unregister_jf_trace_p_event(p_probe, NULL);
}

static int do_quiesce(const char *ms)
{
	ktime_t since = ktime_get();
	int limit, err = 0;

	if (kstrtoint(ms, 10, &limit))
		jf_quiesce();
	else
		err = jf_quiesce_timeout(msecs_to_jiffies(limit));
	WRITE_ONCE(quiesce_ms, ktime_ms_delta(ktime_get(), since));
	atomic_set(&left_inside, atomic_read(&inside));
	atomic_inc(&quiesces);
	return err;
}

static atomic_t callbacks, called;

static void callback(struct jf_quiesce_head *head)
{
	atomic_inc(&called);
	kfree(head);
}

static int do_ask(void)
{
	struct jf_quiesce_head *head = kmalloc(sizeof(*head), GFP_KERNEL);

	if (!head)
		return -ENOMEM;
	atomic_inc(&callbacks);
	jf_call_quiesced(head, callback);
	return 0;
}

/* --- files ------------------------------------------------------------------ */

static void do_open(void)
{
	WRITE_ONCE(gate_open, true);
	wake_up_all(&gate);
}

static int do_stop(void)
{
	do_open();
	WRITE_ONCE(stopping, true);
	while (atomic_read(&threads))
		msleep(20);
	WRITE_ONCE(stopping, false);
	return 0;
}

/* -ENOENT: it is no such command. */
static int do_update(const char *what, const char *arg)
{
	if (!strcmp(what, "swap"))
		return dynfunc_update(p_a, other);
	if (!strcmp(what, "back"))
		return dynfunc_update(p_a, shared);
	if (!strcmp(what, "share"))
		return dynfunc_update(p_b, shared);
	if (!strcmp(what, "part"))
		return dynfunc_update(p_b, other);
	if (!strcmp(what, "once"))
		return dynfunc_update(p_once, arg[0] == '1' ? not_again : again);
	if (!strcmp(what, "drop"))
		return dynfunc_update(p_traced, other);
	if (!strcmp(what, "take"))
		return dynfunc_update(p_traced, promise_traced);
	if (!strcmp(what, "awake"))
		return dynfunc_update(p_msleep, no_sleep);
	if (!strcmp(what, "doze"))
		return dynfunc_update(p_msleep, msleep);
	if (!strcmp(what, "nod"))
		return dynfunc_update(p_nap, nodding);
	if (!strcmp(what, "nap"))
		return dynfunc_update(p_nap, napping);
	if (!strcmp(what, "self"))
		return dynfunc_update(p_self, selfish);
	if (!strcmp(what, "flat"))
		return dynfunc_update(p_nest, not_nested);
	if (!strcmp(what, "nest"))
		return dynfunc_update(p_nest, nested);
	return -ENOENT;
}

static int do_command(const char *cmd)
{
	char what[16], arg[16] = "";
	int err = 0;

	if (sscanf(cmd, "%15s %15s", what, arg) < 1)
		return -EINVAL;
	if (!strcmp(what, "shut"))
		WRITE_ONCE(gate_open, false);
	else if (!strcmp(what, "open"))
		do_open();
	else if (!strcmp(what, "spin"))
		WRITE_ONCE(spins, arg[0] == '1');
	else if (!strcmp(what, "go"))
		return do_go(arg);
	else if (!strcmp(what, "on"))
		return do_key(arg, true);
	else if (!strcmp(what, "off"))
		return do_key(arg, false);
	else if (!strcmp(what, "probe"))
		return do_probe(arg[0] == '1');
	else if (!strcmp(what, "trace"))
		return do_trace(arg[0] == '1');
	else if (!strcmp(what, "one"))
		return do_sleepers(true, &num_one, arg[0] - '0');
	else if (!strcmp(what, "two"))
		return do_sleepers(false, &num_two, arg[0] - '0');
	else if (!strcmp(what, "void"))
		return dynfunc_update(p_void, arg[0] == '1' ? sleeper : NULL);
	else if (!strcmp(what, "quiesce"))
		return do_quiesce(arg);
	else if (!strcmp(what, "ask"))
		return do_ask();
	else if (!strcmp(what, "stop"))
		err = do_stop();
	else
		err = do_update(what, arg);
	return err == -ENOENT ? -EINVAL : err;
}

TEST_COMMANDS;

static int state_show(struct seq_file *m, void *v)
{
	seq_printf(m, "inside %d\n", atomic_read(&inside));
	seq_printf(m, "threads %d\n", atomic_read(&threads));
	seq_printf(m, "rounds %d\n", atomic_read(&rounds));
	seq_printf(m, "asked %d\n", atomic_read(&callbacks));
	seq_printf(m, "called %d\n", atomic_read(&called));
	seq_printf(m, "quiesces %d\n", atomic_read(&quiesces));
	seq_printf(m, "left_inside %d\n", atomic_read(&left_inside));
	seq_printf(m, "quiesce_ms %lld\n", READ_ONCE(quiesce_ms));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static struct dentry *dir;

static int __init promise_init(void)
{
	dir = debugfs_create_dir("jf_promise", NULL);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	debugfs_create_file("state", 0400, dir, NULL, &state_fops);
	return 0;
}

static void __exit promise_exit(void)
{
	debugfs_remove_recursive(dir);
	do_stop();
	do_trace(false);
	do_sleepers(true, &num_one, 0);
	do_sleepers(false, &num_two, 0);
	/* They have yet to return. */
	msleep(200);
}

module_init(promise_init);
module_exit(promise_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What a quiesce waits for, and what it does not");
