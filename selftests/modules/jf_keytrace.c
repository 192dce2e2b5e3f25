// SPDX-License-Identifier: GPL-2.0
/*
 * Stack traces that begin in a branch: in the site, on either side of it, and in
 * its out-of-line test where nothing is patched.
 *
 * A thread runs branches three calls deep. A timer interrupts it, again and
 * again, and unwinds its stack from the interrupted instruction on; and it takes
 * traces of its own from both sides. A trace is good if it names the three
 * functions in their order, and if the unwinder reached the end of the stack
 * without having to guess.
 *
 * /sys/kernel/debug/jf_keytrace
 *   writing N	takes N samples by timer with the key off, N with it on, then N
 *		while it is toggled
 *   reading	counters, "name value"; all that begin with "bad_" must stay 0
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#include <jumpfunc/branch.h>

static DEFINE_JF_KEY_FALSE(trace_key);

static const char * const chain[] = { "trace_inner", "trace_middle", "trace_outer" };

static struct task_struct *thread;
static struct perf_event *event;
static struct dentry *file;
static DEFINE_MUTEX(mutex);
static unsigned long samples, in_inner, in_test, bad_frames, bad_unwinds, own_traces, bad_own;
static unsigned long wanted;
static volatile unsigned long work;

static bool names(unsigned long addr, const char *func)
{
	char buf[KSYM_SYMBOL_LEN];
	size_t len = strlen(func);

	snprintf(buf, sizeof(buf), "%pB", (void *)addr);
	return !strncmp(buf, func, len) && (buf[len] == '+' || buf[len] == '.');
}

/* --- traces by the thread itself ----------------------------------------- */

static noinline void own_trace(void)
{
	unsigned long addr[8];
	unsigned int i, n;

	if (own_traces++ & 0xfff)
		return;
	n = stack_trace_save(addr, ARRAY_SIZE(addr), 1);
	for (i = 0; i < ARRAY_SIZE(chain); i++)
		if (i >= n || !names(addr[i], chain[i]))
			break;
	if (i < ARRAY_SIZE(chain) && !bad_own++)
		pr_err("jf_keytrace: BAD: own trace has %pB instead of %s\n", (void *)addr[i], chain[i]);
}

static noinline void trace_inner(unsigned int n)
{
	for (; n; n--) {
		if (jf_branch_unlikely(&trace_key)) {
			work++;
			if (!(n & 0xff))
				own_trace();
			work++;
		}
		if (jf_branch_likely(&trace_key)) {
			work--;
		} else {
			work++;
			if (!(n & 0xff))
				own_trace();
			work--;
		}
	}
}

/*
 * Never the same time twice: the timer counts time on the CPU, and against a
 * steady rhythm it would for minutes hit the same place, outside of this module.
 */
static noinline void trace_middle(void)
{
	static u32 x = 1;

	x = x * 1664525 + 1013904223;
	trace_inner(300 + (x >> 21));
	barrier();
}

static noinline void trace_outer(void)
{
	trace_middle();
	barrier();
}

static int trace_thread(void *unused)
{
	while (!kthread_should_stop()) {
		trace_outer();
		/* The shell must get its turn. */
		usleep_range(20, 50);
	}
	return 0;
}

/* --- traces by the timer -------------------------------------------------- */

static void sample(struct perf_event *ev, struct perf_sample_data *data, struct pt_regs *regs)
{
	struct unwind_state state;
	unsigned long ip;
	unsigned int i;

	if (!READ_ONCE(wanted) || user_mode(regs) || current != thread)
		return;
	ip = regs->ip;
	if (!within_module(ip, THIS_MODULE))
		return;
	/* The test stands after all functions: its address belongs to the last one. */
	if (names(ip + 1, "own_trace") || names(ip + 1, "trace_middle") || names(ip + 1, "trace_outer") ||
	    names(ip + 1, "trace_thread") || names(ip + 1, "names"))
		return;
	wanted--;
	samples++;
	if (names(ip + 1, chain[0]))
		in_inner++;
	else
		in_test++;

	/* Begins with the caller of the interrupted function. */
	unwind_start(&state, current, regs, NULL);
	for (i = 1; i < 64 && !unwind_done(&state); i++, unwind_next_frame(&state)) {
		unsigned long addr = unwind_get_return_address(&state);

		if (i >= ARRAY_SIZE(chain) || names(addr, chain[i]))
			continue;
		if (!bad_frames++)
			pr_err("jf_keytrace: BAD: frame %u of the trace from %pS is %pB\n", i, (void *)ip,
			       (void *)addr);
		return;
	}
	if (i <= ARRAY_SIZE(chain) || unwind_error(&state)) {
		if (!bad_unwinds++)
			pr_err("jf_keytrace: BAD: trace from %pS ends after %u frames, error %d\n", (void *)ip, i,
			       unwind_error(&state));
	}
}

static int take(unsigned int n, bool toggle)
{
	unsigned int i;
	int err = 0;

	WRITE_ONCE(wanted, n);
	for (i = 0; READ_ONCE(wanted) && i < 30000 && !err && !fatal_signal_pending(current); i++) {
		if (toggle)
			err = i & 1 ? jf_key_disable(&trace_key) : jf_key_enable(&trace_key);
		msleep(1);
	}
	i = READ_ONCE(wanted);
	WRITE_ONCE(wanted, 0);
	return err ?: i ? -ETIMEDOUT : 0;
}

static ssize_t trace_write(struct file *f, const char __user *buf, size_t len, loff_t *pos)
{
	unsigned int n;
	int err;

	err = kstrtouint_from_user(buf, len, 0, &n);
	if (err)
		return err;
	mutex_lock(&mutex);
	err = jf_key_disable(&trace_key) ?: take(n, false);
	if (!err)
		err = jf_key_enable(&trace_key) ?: take(n, false);
	if (!err)
		err = take(n, true);
	mutex_unlock(&mutex);
	return err ?: len;
}

static int trace_show(struct seq_file *m, void *v)
{
	seq_printf(m, "samples %lu\nin_inner %lu\nin_test %lu\nown_traces %lu\n", samples, in_inner, in_test,
		   own_traces);
	seq_printf(m, "bad_frames %lu\nbad_unwinds %lu\nbad_own %lu\n", bad_frames, bad_unwinds, bad_own);
	return 0;
}

static int trace_open(struct inode *inode, struct file *f)
{
	return single_open(f, trace_show, NULL);
}

static const struct file_operations trace_fops = {
	.owner = THIS_MODULE,
	.open = trace_open,
	.read = seq_read,
	.write = trace_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init keytrace_init(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = 211000,
	};

	if (!IS_ENABLED(CONFIG_UNWINDER_ORC))
		return -EOPNOTSUPP;
	thread = kthread_run(trace_thread, NULL, "jf_keytrace");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	event = perf_event_create_kernel_counter(&attr, -1, thread, sample, NULL);
	if (IS_ERR(event)) {
		kthread_stop(thread);
		return PTR_ERR(event);
	}
	file = debugfs_create_file("jf_keytrace", 0600, NULL, NULL, &trace_fops);
	return 0;
}

static void __exit keytrace_exit(void)
{
	debugfs_remove(file);
	perf_event_release_kernel(event);
	kthread_stop(thread);
}

module_init(keytrace_init);
module_exit(keytrace_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Stack traces from inside of branches");
