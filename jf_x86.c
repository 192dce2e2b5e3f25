// SPDX-License-Identifier: GPL-2.0
/*
 * Sites on x86-64: what may stand there, the INT3 protocol, its handler.
 *
 * The protocol's steps, and why they are right, stand in x86/protocol.h. Here
 * is what the kernel has to add.
 *
 * Sync is an IPI that runs a serialising instruction and is waited for. It
 * cannot run on a CPU that is inside the INT3 handler, since that has interrupts
 * off: so after the last one, no handler works on a breakpoint of this transaction
 * any more, and its sites may be forgotten.
 *
 *   writer					INT3 handler
 *   sync, after all INT3s are set		(cannot span a sync)
 *   site->insn = new (WRITE_ONCE)		insn = site->insn (READ_ONCE)
 *   sync, before the first byte of new
 *
 * The handler answers for every site in the map, at any time, not just while a
 * transaction runs: some emulators deliver breakpoints that are long gone.
 *
 * Writing goes through a second, writable mapping of the pages (vmap), set up
 * before the first byte is written and gone before the commit returns. The text
 * mapping stays read-only and executable, the alias is never executable. Its
 * address is known to nobody else.
 *
 * Preemption is off from the first breakpoint to the last sync. An updater that
 * lost its CPU in between would leave every other CPU trapping until it came
 * back.
 */
#include "x86/x86.h"

#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <asm/sync_core.h>

static_assert(JF_ARCH_SITE_SIZE == JF_INSN_SIZE);

static const struct jf_backend *jf_backend;
static DEFINE_PER_CPU(unsigned long, jf_int3_count);

/* --- the world of the protocol ----------------------------------------- */

static inline jf_insn_t jf_world_load(const struct jf_poke *p)
{
	return jf_insn_load((void *)p->site->addr);
}

static inline void jf_world_store(const struct jf_poke *p, int i, u8 byte)
{
	WRITE_ONCE(p->alias[i], byte);
}

static inline bool jf_world_swap(const struct jf_poke *p, u8 from, u8 to)
{
	return cmpxchg(p->alias, from, to) == from;
}

/* Partner of READ_ONCE() in jf_int3_notify(). */
static inline void jf_world_publish(const struct jf_poke *p)
{
	WRITE_ONCE(p->site->insn, p->new);
}

static inline void jf_world_sync(void)
{
	jf_sync_all();
}

#include "x86/protocol.h"

/* --- the INT3 side ----------------------------------------------------- */

static notrace int jf_int3_notify(struct notifier_block *nb, unsigned long val,
				  void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	struct jf_site *site;
	struct jf_trap trap;
	unsigned long ip;

	if (val != DIE_INT3 || user_mode(regs))
		return NOTIFY_DONE;
	ip = regs->ip - INT3_INSN_SIZE;
	site = jf_site_find(ip);
	if (!site)
		return NOTIFY_DONE;

	if (!jf_proto_trap(READ_ONCE(site->insn), ip, &trap))
		return NOTIFY_DONE;

	/* The entry code left room for this on the stack. */
	if (trap.push)
		int3_emulate_push(regs, trap.ret);
	if (trap.zero)
		regs->ax = 0;
	int3_emulate_jmp(regs, trap.to);
	this_cpu_inc(jf_int3_count);
	return NOTIFY_STOP;
}
NOKPROBE_SYMBOL(jf_int3_notify);

static struct notifier_block jf_int3_nb = {
	.notifier_call = jf_int3_notify,
	/* A hit is somebody's hot path: ask us before the tracers and debuggers. */
	.priority = INT_MAX - 1,
};

static u64 jf_int3_hits(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(jf_int3_count, cpu);
	return sum;
}

/* --- the writable alias ------------------------------------------------ */

/* Number of pages that the sites touch; fills in @pages if there is an array. */
static unsigned int jf_pages(const struct jf_poke *pokes, unsigned int num,
			     struct page **pages)
{
	unsigned long page, last = 0;
	unsigned int i, n = 0;

	/* Sorted by address: a page that comes up again is the last one. */
	for (i = 0; i < num; i++) {
		unsigned long addr = pokes[i].site->addr;

		for (page = addr & PAGE_MASK; page < addr + JF_INSN_SIZE;
		     page += PAGE_SIZE) {
			if (page == last)
				continue;
			if (pages)
				pages[n] = vmalloc_to_page((void *)page);
			n++;
			last = page;
		}
	}
	return n;
}

/* Fill in the alias address of each poke. The pages are consecutive there. */
static void jf_set_aliases(struct jf_poke *pokes, unsigned int num, void *map)
{
	unsigned long page, last = 0;
	unsigned int i, n = 0;

	for (i = 0; i < num; i++) {
		unsigned long addr = pokes[i].site->addr;

		for (page = addr & PAGE_MASK; page < addr + JF_INSN_SIZE;
		     page += PAGE_SIZE) {
			if (page == last)
				continue;
			n++;
			last = page;
		}
		/* "last" is the page of the site's last byte, number n - 1. */
		pokes[i].alias = map + (n - 1) * PAGE_SIZE + (addr - last);
	}
}

/* A writable mapping of all sites; ERR_PTR on error. */
static void *jf_map_alias(struct jf_poke *pokes, unsigned int num)
{
	unsigned int i, n = jf_pages(pokes, num, NULL);
	struct page **pages;
	void *map = NULL;

	pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return ERR_PTR(-ENOMEM);
	jf_pages(pokes, num, pages);
	for (i = 0; i < n; i++) {
		if (!pages[i]) {
			kvfree(pages);
			return ERR_PTR(-EFAULT);
		}
	}
	map = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	if (!map)
		return ERR_PTR(-ENOMEM);
	jf_set_aliases(pokes, num, map);
	return map;
}

/**
 * jf_write_idle() - write text that nobody can reach
 * @dst: where, in a module's text
 * @src: the bytes
 * @len: how many, up to a few pages
 *
 * Whoever makes the text reachable again must call jf_sync_all() in between.
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or -EIO if it does not read back as written.
 */
int jf_write_idle(void *dst, const void *src, size_t len)
{
	unsigned long first = (unsigned long)dst & PAGE_MASK;
	unsigned int i, n = DIV_ROUND_UP((unsigned long)dst + len - first,
					 PAGE_SIZE);
	struct page *pages[4];
	void *map;

	if (n > ARRAY_SIZE(pages))
		return -E2BIG;
	for (i = 0; i < n; i++) {
		pages[i] = vmalloc_to_page((void *)first + i * PAGE_SIZE);
		if (!pages[i])
			return -EFAULT;
	}
	map = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	if (!map)
		return -ENOMEM;
	memcpy(map + offset_in_page(dst), src, len);
	vunmap(map);
	return memcmp(dst, src, len) ? -EIO : 0;
}

/* --- the protocol ------------------------------------------------------ */

static void jf_sync_one(void *unused)
{
	sync_core();
}

void jf_sync_all(void)
{
	lockdep_assert_held(&jf_mutex);
	on_each_cpu(jf_sync_one, NULL, 1);
	jf_stats.broadcasts++;
}

static int jf_write_live(struct jf_poke *pokes, unsigned int num)
{
	u64 start, ns;
	int err;

	preempt_disable();
	start = ktime_get_ns();

	err = jf_proto_live(pokes, num);
	if (err)
		goto out;

	ns = ktime_get_ns() - start;
	jf_stats.window_last = ns;
	if (ns > jf_stats.window_max)
		jf_stats.window_max = ns;
out:
	preempt_enable();
	return err;
}

/* Text that nobody executes yet. */
static int jf_write_early(struct jf_poke *pokes, unsigned int num)
{
	jf_proto_early(pokes, num);
	return 0;
}

static int jf_xmc_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	void *map = jf_map_alias(pokes, num);
	int err;

	if (IS_ERR(map))
		return PTR_ERR(map);
	err = live ? jf_write_live(pokes, num) : jf_write_early(pokes, num);
	vunmap(map);
	if (!err)
		jf_stats.by_xmc++;
	return err;
}

/* --- back ends --------------------------------------------------------- */

static jf_insn_t jf_xmc_fall_through(const struct jf_site *site)
{
	return jf_insn_nop();
}

static jf_insn_t jf_xmc_return_zero(const struct jf_site *site)
{
	return jf_insn_ret0();
}

/*
 * One site that is live: the kernel's protocol does it with as many broadcasts,
 * under text_mutex, and is the one that everybody relies on. It needs three
 * more for each further site, so from two sites on, and for what it cannot
 * write, it is ours. docs/design.md has the figures.
 */
static int jf_auto_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	if (num == 1 && live && jf_kernel_can(pokes))
		return jf_kernel_patch(pokes, num, live);
	return jf_xmc_patch(pokes, num, live);
}

/* The default comes first. */
static const struct jf_backend jf_backends[] = {
	{
		.name		= "auto",
		.patch		= jf_auto_patch,
		.fall_through	= jf_xmc_fall_through,
		.return_zero	= jf_xmc_return_zero,
		/* Without the kernel's protocol auto is the same as xmc. */
		.init		= jf_kernel_init,
	}, {
		.name		= "xmc",
		.patch		= jf_xmc_patch,
		.fall_through	= jf_xmc_fall_through,
		.return_zero	= jf_xmc_return_zero,
	}, {
		.name		= "kernel",
		.patch		= jf_kernel_patch,
		.fall_through	= jf_kernel_fall_through,
		.return_zero	= jf_kernel_return_zero,
		.init		= jf_kernel_init,
	}, {
		.name		= "indirect",
	},
};

/* --- the arch interface ------------------------------------------------ */

int jf_arch_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	unsigned int i;
	int err;

	lockdep_assert_held(&jf_mutex);
	err = jf_backend->patch(pokes, num, live);
	if (err)
		return err;

	for (i = 0; i < num; i++) {
		pokes[i].site->asked = pokes[i].new;
		if (!jf_arch_check(pokes[i].site))
			continue;
		pr_err("%pS does not read back as written: %*ph\n",
		       (void *)pokes[i].site->addr, JF_INSN_SIZE,
		       (void *)pokes[i].site->addr);
		err = -EIO;
	}
	return err;
}

int jf_arch_check(const struct jf_site *site)
{
	return jf_proto_compare(jf_insn_load((void *)site->addr), site->insn);
}

int jf_arch_encode(const struct jf_site *site, enum jf_op op,
		   unsigned long target, u64 *insn)
{
	jf_insn_t i;
	int err = 0;

	switch (op) {
	case JF_OP_NOP:
		i = jf_backend->fall_through(site);
		break;
	case JF_OP_RET0:
		i = jf_backend->return_zero(site);
		break;
	case JF_OP_CALL:
		/* The kernel has a form of its own for this one. */
		if (jf_kernel_is_return0(target))
			i = jf_backend->return_zero(site);
		else
			err = jf_insn_call(&i, site->addr, target);
		break;
	case JF_OP_JMP:
		err = jf_insn_jmp(&i, site->addr, target);
		break;
	default:
		return -EINVAL;
	}
	/* What was asked for the last time is there, in whatever form. */
	if (!err)
		*insn = i == site->asked ? site->insn : i;
	return err;
}

/*
 * In front of a trampoline's jump on kernels with IBT. The module loader makes
 * nops of those that objtool saw no reference to (.ibt_endbr_seal), but a
 * trampoline has one: its key's record, in a section that objtool looks at.
 */
static const u8 jf_endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/*
 * The test of an unpatched branch site, see jumpfunc/detail/branch_x86.h:
 *	 0: 80 3d disp32 00	cmpb $0, enabled(%rip)
 *	 7: 0f 84|85 disp32	je|jne other
 *	13: e9 disp32		jmp next
 */
static int jf_adopt_branch(struct jf_site *site, unsigned long test)
{
	const u8 *p = (const u8 *)test;
	u8 jcc = site->flags & JF_SITE_BRANCH_INV ? 0x84 : 0x85;
	uint64_t next;
	s32 disp;

	if (!jf_site_is_near(site, test) || !jf_site_is_near(site, test + 17))
		return -EILSEQ;
	if (p[0] != 0x80 || p[1] != 0x3d || p[6] != 0 || p[7] != 0x0f ||
	    p[8] != jcc)
		return -EILSEQ;
	if (jf_insn_decode(jf_insn_load(p + 13), test + 13, &next) !=
	    JF_INSN_JMP || next != site->addr + JF_INSN_SIZE)
		return -EILSEQ;
	memcpy(&disp, p + 9, sizeof(disp));
	site->label = test + 13 + disp;
	if (!jf_site_is_near(site, site->label))
		return -EILSEQ;
	return 0;
}

int jf_arch_adopt(struct jf_site *site, unsigned long tramp)
{
	enum jf_insn_kind kind;
	uint64_t target;
	u64 insn, asked;

	if (site->flags & JF_SITE_TRAMP &&
	    !memcmp((void *)site->addr, jf_endbr, sizeof(jf_endbr)))
		site->addr += sizeof(jf_endbr);

	insn = jf_insn_load((void *)site->addr);
	kind = jf_insn_decode(insn, site->addr, &target);
	site->insn = insn;
	site->asked = insn;

	if (site->flags & JF_SITE_TRAMP) {
		/* jmp to the indirect jump behind it */
		if (kind != JF_INSN_JMP || target != site->addr + JF_INSN_SIZE)
			return -EILSEQ;
		return 0;
	}
	if (site->flags & JF_SITE_CALL) {
		/* Nothing but padding stands in front of a trampoline. */
		if (jf_insn_call(&asked, site->addr, tramp) ||
		    !jf_insn_is(insn, asked, site->addr, JF_CALL_PAD))
			return -EILSEQ;
		site->asked = asked;
		return 0;
	}
	if (kind != JF_INSN_JMP)
		return -EILSEQ;
	return jf_adopt_branch(site, target);
}

void jf_arch_show(struct seq_file *m, const struct jf_site *site)
{
	u64 insn = jf_insn_load((void *)site->addr);
	uint64_t target = 0;
	const char *what = "?";

	switch (jf_insn_decode(insn, site->addr, &target)) {
	case JF_INSN_CALL:
		what = "call";
		break;
	case JF_INSN_JMP:
		what = "jmp";
		break;
	case JF_INSN_NOP:
		what = "nop";
		break;
	case JF_INSN_RET0:
		what = "xor eax";
		break;
	case JF_INSN_OTHER:
		break;
	}
	seq_printf(m, "%*ph  %s", JF_INSN_SIZE, (void *)site->addr, what);
	if (jf_insn_byte(insn, 0) == JF_OPCODE_CALL ||
	    jf_insn_byte(insn, 0) == JF_OPCODE_JMP)
		seq_printf(m, site->flags & JF_SITE_BRANCH ? " %pS" : " %ps",
			   (void *)(unsigned long)target);
}

bool jf_arch_patches(void)
{
	return jf_backend->patch;
}

int jf_arch_image_get(const struct jf_arch_call *calls, unsigned int num,
		      unsigned int nargs, void **image)
{
	if (!jf_arch_patches())
		return -EOPNOTSUPP;
	return jf_image_get(calls, num, nargs, image);
}

void jf_arch_stats_get(struct jf_arch_stats *stats)
{
	stats->int3_hits = jf_int3_hits();
	jf_images_count(&stats->images_used, &stats->images_total);
}

const char *jf_arch_backend(void)
{
	return jf_backend->name;
}
EXPORT_SYMBOL_GPL(jf_arch_backend);

/* --- init and exit ----------------------------------------------------- */

static const struct jf_backend *jf_backend_by_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jf_backends); i++)
		if (!strcmp(name, jf_backends[i].name))
			return &jf_backends[i];
	return NULL;
}

int jf_arch_init(const char *name)
{
	int err;

	jf_backend = jf_backend_by_name(name);
	if (!jf_backend) {
		pr_err("no back end \"%s\": auto, xmc, kernel or indirect\n",
		       name);
		return -EINVAL;
	}
	err = jf_backend->init ? jf_backend->init() : 0;
	if (err && jf_backend == jf_backends) {
		pr_info("the kernel's patching is out of reach (%d), using xmc\n",
			err);
		jf_backend = jf_backend_by_name("xmc");
	} else if (err) {
		pr_err("back end %s is not available on this kernel (%d)\n",
		       name, err);
		return err;
	}
	err = jf_images_init();
	if (err)
		return err;
	/* The handler first: no breakpoint without somebody to answer it. */
	err = register_die_notifier(&jf_int3_nb);
	if (err)
		jf_images_exit();
	return err;
}

void jf_arch_exit(void)
{
	/*
	 * All sites are gone and a grace period has passed, so nobody needs an
	 * answer any more. Unregistering waits for the chain's readers.
	 */
	unregister_die_notifier(&jf_int3_nb);
	jf_images_exit();
}
