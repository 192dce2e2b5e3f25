// SPDX-License-Identifier: GPL-2.0
/*
 * jumpfunc_bench.ko: /sys/kernel/debug/jumpfunc/bench. Write the rows to run, read the results.
 *
 * Which task waits for which: a write starts a thread that is bound to the CPU that the
 * writer runs on, and waits for it. jfb_running belongs to the writer whose run
 * it is; another one gets -EBUSY. A reader prints the last run that was
 * completed, and is kept from it only while results are exchanged.
 */
#include "bench.h"
#include "debugfs/debugfs.h"

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

/* Held by the one writer whose run is under way. */
static DEFINE_MUTEX(jfb_running);

/* Protects the data of readers: the three below, and their memory. */
static DEFINE_MUTEX(jfb_report);
static struct jfb_run *jfb_last;	/* results, NULL: none yet */
static struct jfb_run *jfb_current;	/* under way, NULL: none */
static bool jfb_csv;

/* --- the run ------------------------------------------------------------------ */

static void jfb_free_run(struct jfb_run *run)
{
	unsigned int s;

	if (!run)
		return;
	for (s = 0; s < JFB_SUITES; s++)
		kfree(run->rows[s]);
	kfree(run);
}

static struct jfb_run *jfb_new_run(const struct jfb_settings *set)
{
	struct jfb_run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	unsigned int s;

	if (!run)
		return NULL;
	run->set = *set;
	run->stage = "start";
	/* Stays if the thread is stopped before it runs. */
	run->err = -EINTR;
	init_completion(&run->done);
	for (s = 0; s < JFB_SUITES; s++) {
		if (!(set->suites & BIT(s)))
			continue;
		run->rows[s] = kcalloc(jfb_suites[s]->num,
				       sizeof(*run->rows[s]), GFP_KERNEL);
		if (!run->rows[s]) {
			jfb_free_run(run);
			return NULL;
		}
	}
	return run;
}

static int jfb_do_run(struct jfb_run *run)
{
	unsigned int s;
	int err;

	for (s = 0; s < JFB_SUITES; s++) {
		if (!run->rows[s])
			continue;
		err = jfb_run_suite(run, jfb_suites[s], run->rows[s]);
		if (err)
			return err;
	}
	if (run->set.suites & BIT(JFB_BATCHES))
		return jfb_run_batches(run, run->updates);
	return 0;
}

static int jfb_thread(void *arg)
{
	struct jfb_run *run = arg;
	u64 start = ktime_get_ns();

	run->err = jfb_do_run(run);
	run->ns = ktime_get_ns() - start;
	complete(&run->done);

	/* kthread_stop() is how the writer takes leave of us. */
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* The results of @run can be read, the results of the last run cannot. */
static void jfb_publish(struct jfb_run *run)
{
	struct jfb_run *old;

	mutex_lock(&jfb_report);
	old = jfb_last;
	jfb_last = run;
	mutex_unlock(&jfb_report);
	jfb_free_run(old);
}

static void jfb_set_current(struct jfb_run *run)
{
	mutex_lock(&jfb_report);
	jfb_current = run;
	mutex_unlock(&jfb_report);
}

static int jfb_run_locked(const struct jfb_settings *set)
{
	struct jfb_run *run = jfb_new_run(set);
	struct task_struct *p;
	int err;

	if (!run)
		return -ENOMEM;
	run->cpu = raw_smp_processor_id();
	p = kthread_create_on_node(jfb_thread, run, cpu_to_node(run->cpu),
				   "jf_bench");
	if (IS_ERR(p)) {
		jfb_free_run(run);
		return PTR_ERR(p);
	}
	kthread_bind(p, run->cpu);
	jfb_set_current(run);
	wake_up_process(p);

	/* A signal ends the wait, and kthread_stop() the run. */
	err = wait_for_completion_interruptible(&run->done);
	kthread_stop(p);
	jfb_set_current(NULL);
	if (err)
		err = -EINTR;
	else
		err = run->err;
	if (err)
		jfb_free_run(run);
	else
		jfb_publish(run);
	return err;
}

static int jfb_start(const struct jfb_settings *set)
{
	int err;

	if (!mutex_trylock(&jfb_running)) {
		pr_warn_ratelimited("a run is under way; wait for its end, or interrupt the task that started it\n");
		return -EBUSY;
	}
	err = jfb_run_locked(set);
	mutex_unlock(&jfb_running);
	return err;
}

/* --- commands ------------------------------------------------------------------ */

struct jfb_option {
	const char	*name;
	size_t		field;
	unsigned int	min, max;
};

#define JFB_OPTION(f, min, max) { #f "=", offsetof(struct jfb_settings, f), min, max }

static const struct jfb_option jfb_options[] = {
	JFB_OPTION(rounds, 1, 10000),
	/* The longest time with interrupts off follows from this. */
	JFB_OPTION(calls, JFB_SITES, 16384),
	JFB_OPTION(repeats, 1, 1000),
	JFB_OPTION(onebyone_max, 0, 5000),
};

#define JFB_USAGE "write all, or some of calls, branches, keys, arrays, batches; and rounds=N, calls=N, repeats=N, onebyone_max=N, format=table|csv"

/* "name=number" */
static int jfb_parse_option(struct jfb_settings *set, const char *word)
{
	unsigned int i, value;

	for (i = 0; i < ARRAY_SIZE(jfb_options); i++) {
		const struct jfb_option *o = &jfb_options[i];
		size_t len = strlen(o->name);

		if (strncmp(word, o->name, len))
			continue;
		if (kstrtouint(word + len, 10, &value) || value < o->min ||
		    value > o->max) {
			pr_warn_ratelimited("\"%s\": a number from %u to %u is needed\n",
					    word, o->min, o->max);
			return -EINVAL;
		}
		*(unsigned int *)((void *)set + o->field) = value;
		return 0;
	}
	pr_warn_ratelimited("\"%s\" is not understood; " JFB_USAGE "\n",
			    word);
	return -EINVAL;
}

static int jfb_parse_word(struct jfb_settings *set, int *csv, const char *word)
{
	unsigned int s;

	if (!strcmp(word, "all")) {
		set->suites |= BIT(JFB_BATCHES + 1) - 1;
		return 0;
	}
	if (!strcmp(word, "batches")) {
		set->suites |= BIT(JFB_BATCHES);
		return 0;
	}
	for (s = 0; s < JFB_SUITES; s++) {
		if (!strcmp(word, jfb_suites[s]->name)) {
			set->suites |= BIT(s);
			return 0;
		}
	}
	if (!strcmp(word, "format=csv")) {
		*csv = true;
		return 0;
	}
	if (!strcmp(word, "format=table")) {
		*csv = false;
		return 0;
	}
	return jfb_parse_option(set, word);
}

static int jfb_command(char *cmd, const struct jf_file *f)
{
	struct jfb_settings set = {
		.rounds		= 200,
		.calls		= 1024,
		.repeats	= 5,
		/* An emulator manages some hundred updates per second. */
		.onebyone_max	= jfb_emulator() ? 100 : 5000,
	};
	/* Neither: the format stays as it is. */
	int csv = -1, err;
	char *word;

	while ((word = strsep(&cmd, " \t\n")) != NULL) {
		if (!*word)
			continue;
		err = jfb_parse_word(&set, &csv, word);
		if (err)
			return err;
	}
	set.calls = round_up(set.calls, JFB_SITES);
	if (!set.suites && csv < 0) {
		pr_warn_ratelimited("nothing to run; " JFB_USAGE "\n");
		return -EINVAL;
	}
	if (set.suites) {
		err = jfb_start(&set);
		if (err)
			return err;
	}
	if (csv >= 0)
		WRITE_ONCE(jfb_csv, csv);
	return 0;
}

static int jfb_show(struct seq_file *m, const struct jf_file *f)
{
	mutex_lock(&jfb_report);
	if (jfb_current)
		jfb_print_progress(m, jfb_current);
	if (!jfb_last)
		jfb_print_help(m);
	else if (READ_ONCE(jfb_csv))
		jfb_print_csv(m, jfb_last);
	else
		jfb_print_table(m, jfb_last);
	mutex_unlock(&jfb_report);
	return 0;
}

static const struct jf_file jfb_file = {
	.name	= "bench",
	.show	= jfb_show,
	.store	= jfb_command,
	.help	=
"bench            what calls, branches, probes and updates cost; before the first\n"
"                 run, reading it explains how\n",
};

static struct jf_files jfb_files = {
	.file	= &jfb_file,
	.num	= 1,
	.owner	= THIS_MODULE,
};

static int __init jfb_init(void)
{
	int err = jf_debugfs_add(&jfb_files);

	if (err) {
		/* There is no other way to ask for a run. */
		jf_debugfs_remove(&jfb_files);
		pr_err("no file bench in debugfs (%d): is debugfs off (debugfs= on the kernel's command line)?\n",
		       err);
	}
	return err;
}

static void __exit jfb_exit(void)
{
	jf_debugfs_remove(&jfb_files);
	jfb_free_run(jfb_last);
}

module_init(jfb_init);
module_exit(jfb_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The jumpfunc developers");
MODULE_DESCRIPTION("Benchmarks of jumpfunc: /sys/kernel/debug/jumpfunc/bench");
MODULE_VERSION(JF_VERSION);
