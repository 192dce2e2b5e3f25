// SPDX-License-Identifier: GPL-2.0
/*
 * What a quiesce promises: it waits for tasks that went through a branch or a
 * dynamic function before that changed, and not for tasks that execute the same
 * functions for another reason.
 *
 * /sys/kernel/debug/jf_promise/
 *   do		write one of
 *		  shut, open	the gate; tasks that wait for it leave
 *		  spin 0|1	tasks that stay are at work instead of asleep
 *		  go NAME	a thread begins what NAME says, see places[]
 *		  on KEY, off KEY	change a key, see keys[]
 *		  probe 0|1	register or unregister the tracepoint's probe
 *		  swap, back	the first dynamic function leads elsewhere, and back
 *		  once 0|1	one of two that lead to a recursive function
 *		  doze, awake	the same for the one that leads to msleep()
 *		  nap, nod	the same for the one that main loops sleep in
 *		  nest, flat	the same for one whose target calls it again
 *		  hub, unhub	the same for one whose target many functions jump to
 *		  quiesce MS	jf_quiesce_timeout(); without MS jf_quiesce()
 *		  ask		a callback by jf_call_quiesced()
 *		  stop		all threads end
 *   state	counts and times, "name value"
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>

#include "../files.h"

/* No task stays longer: a test that went wrong has to end. */
#define STAY_LIMIT	(120 * HZ)
/* More calls than a scan tells apart. */
#define JF_DEEP		4

static DECLARE_WAIT_QUEUE_HEAD(gate);
static bool gate_open = true, spins, stopping;
/* Tasks at the gate, and threads that have not ended. */
static atomic_t inside, threads;
static atomic_t rounds;
static s64 quiesce_ms;

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

/* --- code that only a branch leads to -------------------------------------- */

static DEFINE_JF_KEY_FALSE(p_off);
static DEFINE_JF_KEY_TRUE(p_on);
static DEFINE_JF_KEY_FALSE(p_part);
static DEFINE_JF_KEY_FALSE(p_tail);
static DEFINE_JF_KEY_FALSE(p_loop);
static DEFINE_JF_KEY_FALSE(p_twice);
static DEFINE_JF_KEY_FALSE(p_or);
static DEFINE_JF_KEY_FALSE(p_or_never);
static DEFINE_JF_KEY_FALSE(p_first);
static DEFINE_JF_KEY_FALSE(p_second);
static DEFINE_JF_KEY_FALSE(p_ends);
static DEFINE_JF_KEY_FALSE(p_cold);
static DEFINE_JF_KEY_FALSE(p_probed);
static DEFINE_JF_KEY_FALSE(p_chain);
static DEFINE_JF_KEY_FALSE(p_way);
static DEFINE_JF_KEY_FALSE(p_deep);

DECLARE_JF_TRACE(p_event, JF_PROTO(int x), JF_ARGS(x));
DEFINE_JF_TRACE(p_event);

static void p_probe(void *data, int x)
{
	atomic_add(x, &rounds);
}

static noinline int behind_unlikely(int x)
{
	if (jf_branch_unlikely(&p_off)) {
		stay();
		x++;
	}
	return x;
}

/* The side that a disabled key leads to. */
static noinline int behind_else(int x)
{
	if (jf_branch_likely(&p_on)) {
		x++;
	} else {
		stay();
		x += 2;
	}
	return x;
}

static noinline __cold void rare(void)
{
	stay();
	barrier();
}

static noinline __cold void rare_round(void)
{
	atomic_inc(&rounds);
	barrier();
}

/* A function that gcc calls cold has the block that calls it split off. */
static noinline int behind_part(int x)
{
	if (jf_branch_unlikely(&p_part)) {
		rare();
		x += 3;
		OPTIMIZER_HIDE_VAR(x);
	}
	return x;
}

static noinline int tail_callee(int x)
{
	stay();
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

/* The last act of the block is a call, which the compiler makes a jump. */
static noinline int behind_tail(int x)
{
	if (jf_branch_unlikely(&p_tail))
		return tail_callee(x + 4);
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

/* Not the last call: it has a frame while a task stays. */
static noinline int same_callee(int x)
{
	stay();
	atomic_add(x, &rounds);
	return x;
}

/* The other way ends with the same call: what the key left cannot be told from it. */
static noinline int behind_same_tail(int x)
{
	if (jf_branch_unlikely(&p_tail)) {
		atomic_inc(&rounds);
		return same_callee(x + 4);
	}
	if (x == 7)
		return same_callee(x * 3);
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

static noinline int behind_enabled(int x)
{
	if (jf_trace_p_event_enabled()) {
		stay();
		jf_trace_p_event(x);
	}
	return x;
}

/* Two sites of one key: the second block is reached only by them, too. */
static noinline int behind_twice(int x)
{
	if (jf_branch_unlikely(&p_twice))
		goto rare;
	x += 5;
	OPTIMIZER_HIDE_VAR(x);
	if (jf_branch_unlikely(&p_twice))
		goto rare;
	return x;
rare:
	stay();
	return x + 1;
}

/* Two keys lead to the same code, and one of them has always been off. */
static noinline int behind_or(int x)
{
	if (jf_branch_unlikely(&p_or) || jf_branch_unlikely(&p_or_never)) {
		stay();
		x++;
		OPTIMIZER_HIDE_VAR(x);
	}
	atomic_add(x, &rounds);
	return x;
}

/* Sites of two keys, one each, in one function. */
static noinline int behind_both(int x)
{
	if (jf_branch_unlikely(&p_first)) {
		stay();
		x++;
		OPTIMIZER_HIDE_VAR(x);
	}
	atomic_add(x, &rounds);
	if (jf_branch_unlikely(&p_second)) {
		stay();
		x += 2;
		OPTIMIZER_HIDE_VAR(x);
	}
	return x;
}

static noinline void __noreturn __cold never_back(int x)
{
	atomic_add(x, &rounds);
	for (;;)
		msleep(1000);
}

/* Calls that do not return may stand in front of the block. */
static noinline int behind_end(int x, int y)
{
	if (x == 99)
		never_back(x);
	if (jf_branch_unlikely(&p_ends)) {
		rare();
		x += 3;
		OPTIMIZER_HIDE_VAR(x);
	}
	if (y == 98)
		never_back(y);
	return x;
}

/* The site itself is in the part that was split off, and the block ends with a call. */
static noinline int behind_cold(int x)
{
	if (unlikely(x == 1)) {
		rare_round();
		if (jf_branch_unlikely(&p_cold))
			return tail_callee(x + 4);
		rare_round();
		OPTIMIZER_HIDE_VAR(x);
	}
	return x;
}

/* For probes between the beginning and the last call, in the code that the key leads to. */
static noinline int behind_probed(int x)
{
	atomic_inc(&rounds);
	if (jf_branch_unlikely(&p_probed)) {
		atomic_inc(&rounds);
		return tail_callee(x + 4);
	}
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

/* And in the function that is called last, which ends with a call, too. */
static noinline int chain_first(int x)
{
	atomic_add(x, &rounds);
	return tail_callee(x + 4);
}

static noinline int behind_chain(int x)
{
	if (jf_branch_unlikely(&p_chain))
		return chain_first(x + 4);
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

/* A main loop in such a part. */
static noinline int cold_loop(int x)
{
	if (unlikely(x == 1)) {
		rare_round();
		while (!READ_ONCE(stopping)) {
			if (jf_branch_unlikely(&p_loop))
				atomic_inc(&rounds);
			msleep(20);
			rare_round();
		}
	}
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

/* What the compiler does not know. */
static int one(void)
{
	int x = 1;

	OPTIMIZER_HIDE_VAR(x);
	return x;
}

static void place_or(void)	{ behind_or(1); }
static void place_both(void)	{ behind_both(1); }
static void place_end(void)	{ behind_end(one(), one()); }
static void place_cold(void)	{ behind_cold(one()); barrier(); }
static void place_cold_loop(void) { cold_loop(one()); }
static void place_probed(void)	{ behind_probed(1); barrier(); }
static void place_chain(void)	{ behind_chain(1); barrier(); }
static void place_off(void)	{ behind_unlikely(1); }
static void place_else(void)	{ behind_else(1); }
static void place_part(void)	{ behind_part(1); }
static void place_tail(void)	{ behind_tail(1); barrier(); }
static void place_same_tail(void) { behind_same_tail(one()); barrier(); }
static void place_enabled(void)	{ behind_enabled(1); }
static void place_twice(void)	{ behind_twice(1); }

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

/* One for probes between the site and where the thread sleeps. */
static noinline void place_mid_loop(void)
{
	while (!READ_ONCE(stopping)) {
		if (jf_branch_unlikely(&p_loop))
			atomic_inc(&rounds);
		atomic_add(2, &rounds);
		msleep(20);
	}
}

/* --- code and functions that are led to again --------------------------------- */

/* A main loop that sleeps in code of the one way or of the other, and nowhere else. */
static noinline void place_way_loop(void)
{
	while (!READ_ONCE(stopping)) {
		atomic_inc(&rounds);
		if (jf_branch_unlikely(&p_way)) {
			msleep(20);
			atomic_inc(&rounds);
		} else {
			msleep(21);
			atomic_add(2, &rounds);
		}
	}
}

static noinline int one_way(int x)
{
	if (jf_branch_unlikely(&p_way)) {
		msleep(20);
		x++;
	} else {
		msleep(21);
		x += 2;
	}
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

/* The same in a function that the main loop calls. */
static noinline void place_way_call(void)
{
	while (!READ_ONCE(stopping))
		atomic_add(one_way(1), &rounds);
}

/*
 * A task stays in the code that the key leads to, and executes what stands in front of it
 * in a call from there.
 */
static noinline int deep(int n)
{
	atomic_inc(&rounds);
	if (jf_branch_unlikely(&p_deep)) {
		if (n) {
			atomic_inc(&inside);
			while (!READ_ONCE(gate_open)) {
				n += deep(0);
				msleep(20);
			}
			atomic_dec(&inside);
		}
		n++;
	}
	OPTIMIZER_HIDE_VAR(n);
	return n;
}

static noinline void place_deep(void)
{
	deep(1);
	barrier();
}

/*
 * One stays in a loop there, from which it goes straight back to where the key decides. It
 * executes what stands in front of that again and again, but does not leave.
 */
static noinline void place_stay_loop(void)
{
	int entered = 0;

	for (;;) {
		if (jf_branch_unlikely(&p_deep)) {
			if (!entered++)
				atomic_inc(&inside);
			do {
				msleep(20);
			} while (!READ_ONCE(gate_open));
		} else {
			msleep(20);
			if (READ_ONCE(gate_open))
				break;
		}
	}
	if (entered)
		atomic_dec(&inside);
}

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
DEFINE_DYNFUNC(p_b, shared);
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

/* It jumps there by its name, or through the trampoline. */
static noinline int jumps_by_name_or_a(int x)
{
	atomic_inc(&rounds);
	if (x == 2)
		return shared(x + 1);
	return dynfunc_p_a(x);
}

static noinline void place_a_either(void)
{
	jumps_by_name_or_a(one());
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

/* Instructions in front on which a probe may be optimised. */
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

/* It jumps there by its name, or by a pointer. */
static noinline int jumps_either(int x, int (*f)(int x))
{
	atomic_inc(&rounds);
	if (x == 2)
		return shared(x + 1);
	return f(x);
}

static noinline void place_either(void)
{
	int (*f)(int x) = __JF_POINTER(p_a);

	OPTIMIZER_HIDE_VAR(f);
	jumps_either(one(), f);
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

/* More functions on one stack than a scan tells apart, of which each jumps to the next. */
static noinline int hub(int n);
DEFINE_DYNFUNC(p_hub, hub);

#define VIA(i)								\
static noinline int via_##i(int n)					\
{									\
	atomic_add(i, &rounds);						\
	return hub(n - 1);						\
}
VIA(1)
VIA(2)
VIA(3)
VIA(4)
VIA(5)
VIA(6)
VIA(7)
VIA(8)
VIA(9)

static noinline int hub(int n)
{
	OPTIMIZER_HIDE_VAR(n);
	if (n == 9)
		n += via_9(n);
	else if (n == 8)
		n += via_8(n);
	else if (n == 7)
		n += via_7(n);
	else if (n == 6)
		n += via_6(n);
	else if (n == 5)
		n += via_5(n);
	else if (n == 4)
		n += via_4(n);
	else if (n == 3)
		n += via_3(n);
	else if (n == 2)
		n += via_2(n);
	else if (n == 1)
		n += via_1(n);
	else
		stay();
	return n;
}

static noinline int no_hub(int n)
{
	return n + 3;
}

static noinline void place_hub(void)
{
	hub(9);
	barrier();
}

static noinline int jumps_to_hub(int n)
{
	atomic_inc(&rounds);
	return dynfunc_p_hub(n);
}

static noinline void place_hub_jump(void)
{
	jumps_to_hub(9);
	barrier();
}

static noinline void place_hub_changed(void)
{
	dynfunc_call(p_hub, 9);
	barrier();
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

static noinline void place_msleep(void)
{
	while (!READ_ONCE(stopping)) {
		msleep(3000);
		barrier();
	}
}

static noinline void place_doze(void)
{
	atomic_inc(&inside);
	dynfunc_call(p_msleep, 20000);
	atomic_dec(&inside);
}

static const struct {
	const char	*name;
	void		(*func)(void);
} places[] = {
	{ "off", place_off },
	{ "else", place_else },
	{ "part", place_part },
	{ "tail", place_tail },
	{ "same_tail", place_same_tail },
	{ "enabled", place_enabled },
	{ "twice", place_twice },
	{ "or", place_or },
	{ "both", place_both },
	{ "end", place_end },
	{ "cold", place_cold },
	{ "cold_loop", place_cold_loop },
	{ "mid_loop", place_mid_loop },
	{ "probed", place_probed },
	{ "chain", place_chain },
	{ "again", place_again },
	{ "loop", place_loop },
	{ "way_loop", place_way_loop },
	{ "way_call", place_way_call },
	{ "deep", place_deep },
	{ "stay_loop", place_stay_loop },
	{ "nap", place_nap },
	{ "nap_tramp", place_nap_tramp },
	{ "nap_ptr", place_nap_ptr },
	{ "nest", place_nest },
	{ "a", place_a },
	{ "a_tramp", place_a_tramp },
	{ "a_ptr", place_a_ptr },
	{ "a_jump", place_a_jump },
	{ "a_either", place_a_either },
	{ "b", place_b },
	{ "b_tramp", place_b_tramp },
	{ "direct", place_direct },
	{ "jump", place_jump },
	{ "words", place_words },
	{ "either", place_either },
	{ "hub", place_hub },
	{ "hub_changed", place_hub_changed },
	{ "hub_jump", place_hub_jump },
	{ "msleep", place_msleep },
	{ "doze", place_doze },
};

static const struct {
	const char	*name;
	struct jf_key	*key;
} keys[] = {
	{ "off", &p_off },
	{ "on", &p_on },
	{ "part", &p_part },
	{ "tail", &p_tail },
	{ "loop", &p_loop },
	{ "twice", &p_twice },
	{ "or", &p_or },
	{ "first", &p_first },
	{ "second", &p_second },
	{ "end", &p_ends },
	{ "cold", &p_cold },
	{ "probed", &p_probed },
	{ "chain", &p_chain },
	{ "way", &p_way },
	{ "deep", &p_deep },
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

static int do_command(const char *cmd)
{
	char what[16], arg[16] = "";

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
	else if (!strcmp(what, "swap"))
		return dynfunc_update(p_a, other);
	else if (!strcmp(what, "back"))
		return dynfunc_update(p_a, shared);
	else if (!strcmp(what, "once"))
		return dynfunc_update(p_once, arg[0] == '1' ? not_again : again);
	else if (!strcmp(what, "awake"))
		return dynfunc_update(p_msleep, no_sleep);
	else if (!strcmp(what, "doze"))
		return dynfunc_update(p_msleep, msleep);
	else if (!strcmp(what, "nod"))
		return dynfunc_update(p_nap, nodding);
	else if (!strcmp(what, "nap"))
		return dynfunc_update(p_nap, napping);
	else if (!strcmp(what, "flat"))
		return dynfunc_update(p_nest, not_nested);
	else if (!strcmp(what, "nest"))
		return dynfunc_update(p_nest, nested);
	else if (!strcmp(what, "unhub"))
		return dynfunc_update(p_hub, no_hub);
	else if (!strcmp(what, "hub"))
		return dynfunc_update(p_hub, hub);
	else if (!strcmp(what, "quiesce"))
		return do_quiesce(arg);
	else if (!strcmp(what, "ask"))
		return do_ask();
	else if (!strcmp(what, "stop"))
		return do_stop();
	else
		return -EINVAL;
	return 0;
}

TEST_COMMANDS;

static int state_show(struct seq_file *m, void *v)
{
	seq_printf(m, "inside %d\n", atomic_read(&inside));
	seq_printf(m, "threads %d\n", atomic_read(&threads));
	seq_printf(m, "rounds %d\n", atomic_read(&rounds));
	seq_printf(m, "asked %d\n", atomic_read(&callbacks));
	seq_printf(m, "called %d\n", atomic_read(&called));
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
	/* They have yet to return. */
	msleep(200);
}

module_init(promise_init);
module_exit(promise_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What a quiesce waits for, and what it does not");
