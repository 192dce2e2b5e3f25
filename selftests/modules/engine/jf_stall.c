// SPDX-License-Identifier: GPL-2.0
/*
 * Delays a task that is about to map a page of text for writing, once.
 *
 *   addr	an address in that page
 *   stall	for how many ms the next one is delayed
 *   stalled	how many were
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

static unsigned long addr;
module_param(addr, ulong, 0444);
static unsigned int stall;
module_param(stall, uint, 0644);
static unsigned int stalled;
module_param(stalled, uint, 0444);

static struct page *page;

static int stall_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct page **pages = (void *)regs_get_kernel_argument(regs, 0);
	u64 end;

	if (pages[0] != page || !READ_ONCE(stall))
		return 0;
	end = ktime_get_mono_fast_ns() + stall * (u64)NSEC_PER_MSEC;
	stall = 0;
	stalled++;
	while (ktime_get_mono_fast_ns() < end)
		cpu_relax();
	return 0;
}

static struct kprobe probe = { .symbol_name = "vmap", .pre_handler = stall_pre };

static int __init stall_init(void)
{
	page = vmalloc_to_page((void *)addr);
	return page ? register_kprobe(&probe) : -EINVAL;
}

static void __exit stall_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(stall_init);
module_exit(stall_exit);
MODULE_DESCRIPTION("jumpfunc: delays a writer of its text");
MODULE_LICENSE("GPL");
