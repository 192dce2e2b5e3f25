// SPDX-License-Identifier: GPL-2.0
/* Instructions and their bytes, counted by stepping through them. */
#include "forms.h"

#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/smp.h>

#include <asm/processor-flags.h>

#define STEPS	20000

/* Of the one CPU that steps, with interrupts off. */
static unsigned long *steps;
static unsigned int nr_steps;
static int stepping_cpu = -1;

static int on_debug(struct notifier_block *nb, unsigned long what, void *data)
{
	struct die_args *args = data;

	if (what != DIE_DEBUG || user_mode(args->regs) ||
	    READ_ONCE(stepping_cpu) != raw_smp_processor_id())
		return NOTIFY_DONE;
	if (nr_steps < STEPS)
		steps[nr_steps] = args->regs->ip;
	nr_steps++;
	return NOTIFY_STOP;
}
NOKPROBE_SYMBOL(on_debug);

/* Before kprobes, which would ask whether the step is one of theirs. */
static struct notifier_block on_debug_nb = {
	.notifier_call	= on_debug,
	.priority	= INT_MAX,
};

static __always_inline void step(bool on)
{
	unsigned long flags;

	asm volatile("pushf\n\tpop %0" : "=r" (flags) : : "memory");
	if (on)
		flags |= X86_EFLAGS_TF;
	else
		flags &= ~X86_EFLAGS_TF;
	asm volatile("push %0\n\tpopf" : : "r" (flags) : "memory", "cc");
}

static noinline notrace void run_stepped(long (*run)(unsigned long turns, long a, long b, long c))
{
	unsigned long flags;

	local_irq_save(flags);
	nr_steps = 0;
	WRITE_ONCE(stepping_cpu, raw_smp_processor_id());
	step(true);
	run(1, 1, 2, 3);
	step(false);
	WRITE_ONCE(stepping_cpu, -1);
	local_irq_restore(flags);
}
NOKPROBE_SYMBOL(run_stepped);

int jff_count(long (*run)(unsigned long turns, long a, long b, long c), struct jff_count *count)
{
	unsigned int i;
	int err;

	steps = kvmalloc_array(STEPS, sizeof(*steps), GFP_KERNEL);
	if (!steps)
		return -ENOMEM;
	err = register_die_notifier(&on_debug_nb);
	if (err)
		goto out;
	run_stepped(run);
	unregister_die_notifier(&on_debug_nb);
	if (!nr_steps || nr_steps > STEPS) {
		pr_warn("%u single steps\n", nr_steps);
		err = -EIO;
		goto out;
	}
	count->instructions = nr_steps;
	count->bytes = 0;
	/* An instruction's length is the way to the next, but for jumps: off, no form jumps. */
	for (i = 1; i < nr_steps; i++)
		if (steps[i] > steps[i - 1] && steps[i] - steps[i - 1] < 16)
			count->bytes += steps[i] - steps[i - 1];
out:
	kvfree(steps);
	return err;
}
