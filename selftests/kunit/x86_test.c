// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-x86: jf_x86.c, kernel/arch/x86/xmc.c and kernel/arch/x86/kernel.c above a
 * kernel that is made up.
 *
 * Proves: the form of the kernel's protocol is learnt as the module is loaded, with call-depth
 * tracking (which moves calls into the padding in front of their targets) and without; the
 * instruction at a site after an update is known to the next one, to the check, to the comparison
 * with the requested one, and to the INT3 handler, at any time; an instruction that the kernel was
 * not asked to write is -EIO and stays an error; the own protocol takes over from a moved call, and
 * takes itself back to one; a target is not given to the kernel if that could not read
 * the bytes before it.
 *
 * The sites are in this module's text, and are really written, but never executed.
 * The sources are included, so that their statics can be read.
 */
#include "jfk.h"

#undef pr_fmt
#include "arch/arch.h"
#include "arch/image.h"
#include "arch/text.h"
#include "arch/x86/x86.h"

#include <jumpfunc/dynfunc.h>

/* All headers of the sources, before the macros below can get at them. */
#include <linux/kdebug.h>
#include <linux/kgdb.h>
#include <linux/kprobes.h>
#include <linux/sort.h>
#include <linux/static_call.h>
#include <linux/vmalloc.h>

#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(sym)		static_assert(true)

/* --- stand-ins for the core -------------------------------------------- */

/* By these jumpfunc.ko, which may be loaded, does not know our tables. */
const struct kernel_param_ops jf_table_ops = { };
DEFINE_MUTEX(jf_mutex);
struct jf_stats jf_stats;

void jf_nop(void)
{
}

/* Not where the module's text begins: there is nothing in front of that. */
long __section(".text.jfk_ret0") jf_ret0(void)
{
	return 0;
}

#ifdef CONFIG_FINEIBT
/* No trampoline is executed here. */
void jf_jump_r11(void)
{
}
#endif

/* There are no images. Nothing constant: that would be made one with jf_ret0(). */
static int images_err;

int jf_images_init(void)
{
	return READ_ONCE(images_err);
}

void jf_images_exit(void)
{
	WRITE_ONCE(images_err, 0);
}

int jf_image_get(const struct jf_arch_call *calls, unsigned int num,
		 unsigned int nargs, void **image)
{
	return -ENOSPC;
}

void jf_images_count(unsigned int *used, unsigned int *total)
{
	*used = 0;
	*total = 0;
}

/* kernel/arch/x86/stack.c is not here. */
bool jf_is_image_text(unsigned long addr)
{
	return true;
}

/* --- stand-ins for the kernel ------------------------------------------ */

static struct {
	unsigned int	pad;		/* calls are moved by so much */
	u64		instead;	/* it writes this, whatever is asked */
	unsigned int	writes;
	void		*wrong;		/* the handler sent a task there */
} kernel;

/* A page table that is freed during a walk: so many first reads get its stale entry. */
static struct {
	unsigned int	stale, walks;
	pte_t		entry;
	bool		interrupts;
} walk;

static pte_t *walk_to(unsigned long addr, unsigned int *level);

/* KGDB, as if it were built to see each INT3 first: whether its user is connected. */
static struct {
	bool		there;
	unsigned int	asked;
} debugger;

#ifndef CONFIG_KGDB
struct kgdb_io {
	const char	*name;
	int		(*init)(void);
};
#endif
#ifndef CONFIG_KGDB_LOW_LEVEL_TRAP
#define CONFIG_KGDB_LOW_LEVEL_TRAP	1
#endif

static int debugger_take(const struct kgdb_io *io)
{
	int err;

	debugger.asked++;
	if (debugger.there)
		return -EBUSY;
	err = io->init();
	/* It would be registered now. */
	return WARN_ON_ONCE(!err) ? 0 : err;
}
#define kgdb_register_io_module		debugger_take

static void transform(void *site, void *tramp, void *func, bool tail);
#define arch_static_call_transform	transform

#include "../../kernel/index/spans.c"
#define lookup_address			walk_to
#include "../../kernel/arch/x86/pages.c"
#undef lookup_address
#include "../../kernel/arch/x86/xmc.c"
#include "../../jf_x86.c"
#include "../../kernel/arch/x86/kernel.c"

/* --- sites --------------------------------------------------------------- */

static noinline int f0(int a) { return a; }
static noinline int f1(int a) { return a + 1; }
static noinline int f2(int a) { return a - 1; }
static void * const targets[] = { f0, f1, f2 };

DEFINE_DYNFUNC(jfk_f, f0);

#define SITES	3
static noinline __used int site0(int a) { return dynfunc_call(jfk_f, a) + 1; }
static noinline __used int site1(int a) { return dynfunc_call(jfk_f, a) + 2; }
static noinline __used int site2(int a) { return dynfunc_call(jfk_f, a) + 3; }

static struct jf_site sites[SITES];

bool jf_site_is_near(const struct jf_site *site, unsigned long addr)
{
	return within_module(addr, THIS_MODULE);
}

struct jf_site *jf_site_find(unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < SITES; i++)
		if (sites[i].addr == addr)
			return &sites[i];
	return NULL;
}

static u64 text(const struct jf_site *site)
{
	return jf_insn_load((void *)site->addr);
}

static int write_text(const struct jf_site *site, u64 insn)
{
	u8 was[JF_INSN_SIZE], bytes[JF_INSN_SIZE];

	jf_insn_store(bytes, insn);
	memcpy(was, (void *)site->addr, sizeof(was));
	return jf_write_idle((u8 *)site->addr, was, bytes, JF_INSN_SIZE);
}

static u64 call_of(const struct jf_site *site, void *func, int pad)
{
	jf_insn_t insn = 0;

	/* For objtool "function - 10" would be a reference to no function. */
	OPTIMIZER_HIDE_VAR(func);
	jf_insn_call(&insn, site->addr, (unsigned long)func - pad);
	return insn;
}

/* Where the handler sends a task that hits an INT3 at @site; NULL: nowhere. */
static void *hit(const struct jf_site *site)
{
	unsigned long stack[4] = { };
	struct pt_regs regs = {
		.ip = site->addr + 1,
		.sp = (unsigned long)&stack[2],
		.cs = __KERNEL_CS,
	};
	struct die_args args = { .regs = &regs };

	if (jf_int3_notify(NULL, DIE_INT3, &args) != NOTIFY_STOP)
		return NULL;
	if (regs.ip == site->addr + JF_INSN_SIZE)
		return (void *)regs.ip;
	/* A call, which returns to the end of the site. */
	if (regs.sp != (unsigned long)&stack[1] ||
	    stack[1] != site->addr + JF_INSN_SIZE)
		return NULL;
	return (void *)regs.ip;
}

static void transform(void *addr, void *tramp, void *func, bool tail)
{
	struct jf_site *site = jf_site_find((unsigned long)addr);
	struct jf_site any = { .addr = (unsigned long)addr };
	u64 insn;

	if (tail)
		jf_insn_jmp(&insn, any.addr, (unsigned long)func);
	else if (!func)
		insn = jf_insn_nop();
	else if (JF_HAVE_STATIC_CALL_RETURN0 && func == jf_kernel_return0 &&
		 !kernel.pad)
		insn = jf_insn_ret0();
	else
		insn = call_of(&any, func, kernel.pad);
	kernel.writes++;
	write_text(&any, kernel.instead ?: insn);
	/* Stale breakpoints are answered while it is at work, too. */
	if (site && func && func != jf_kernel_return0 &&
	    hit(site) != func && hit(site) != func - kernel.pad)
		kernel.wrong = hit(site);
}

/* With the lock, which a case must not keep: its clean-up may run in another task. */
static int patch(struct jf_poke *p, unsigned int num)
{
	int err;

	mutex_lock(&jf_mutex);
	err = jf_arch_patch(p, num, true);
	mutex_unlock(&jf_mutex);
	return err;
}

static int adopt(struct jf_site *site)
{
	int err;

	mutex_lock(&jf_mutex);
	err = jf_arch_adopt(site, (unsigned long)dynfunc_jfk_f);
	mutex_unlock(&jf_mutex);
	return err;
}

static int begin(const char *backend)
{
	int err;

	mutex_lock(&jf_mutex);
	err = jf_arch_init(backend);
	mutex_unlock(&jf_mutex);
	return err;
}

static int set(struct jf_site *site, enum jf_op op, void *func)
{
	struct jf_poke p = { .site = site, .old = site->insn };
	int err = jf_arch_encode(site, op, (unsigned long)func, &p.new);
	size_t bad;

	if (err || p.new == p.old)
		return err;
	return jf_arch_verify(&p, 1, &bad) ?: patch(&p, 1);
}

static int set_all(void *func)
{
	struct jf_poke p[SITES];
	unsigned int i;
	size_t bad;
	int err = 0;

	for (i = 0; !err && i < SITES; i++) {
		p[i].site = &sites[i];
		p[i].old = sites[i].insn;
		err = jf_arch_encode(&sites[i], JF_OP_CALL, (unsigned long)func,
				     &p[i].new);
	}
	return err ?: jf_arch_verify(p, SITES, &bad) ?: patch(p, SITES);
}

static int poke_cmp(const void *a, const void *b)
{
	const struct jf_site *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Each case finds the compiled text, and no back end chosen. */
static int x86_suite_init(struct kunit *test)
{
	const struct jf_site_rec *s;
	unsigned int i, n = 0;

	memset(&kernel, 0, sizeof(kernel));
	memset(&debugger, 0, sizeof(debugger));
	jf_debugger = false;
	memset(sites, 0, sizeof(sites));
	for (s = __jf_tu_sites; s < __jf_tu_sites_end; s++) {
		if (s->ent != &__jf_func_jfk_f.ent)
			continue;
		KUNIT_ASSERT_LT(test, n, (unsigned int)SITES);
		sites[n++].addr = (unsigned long)&s->addr + s->addr;
	}
	KUNIT_ASSERT_EQ(test, n, (unsigned int)SITES);
	sort(sites, SITES, sizeof(sites[0]), poke_cmp, NULL);
	for (i = 0; i < SITES; i++) {
		sites[i].flags = JF_SITE_CALL;
		KUNIT_EXPECT_EQ(test, write_text(&sites[i],
				call_of(&sites[i], dynfunc_jfk_f, 0)), 0);
		KUNIT_EXPECT_EQ(test, adopt(&sites[i]), 0);
	}
	return 0;
}

static void x86_suite_exit(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, kernel.wrong, NULL);
	if (jf_backend)
		jf_arch_exit();
	jf_backend = NULL;
}

static void start(struct kunit *test, const char *backend, unsigned int pad)
{
	kernel.pad = pad;
	KUNIT_ASSERT_EQ(test, begin(backend), 0);
	KUNIT_ASSERT_STREQ(test, jf_arch_backend(), backend);
	kernel.writes = 0;
}

/* All parts of the engine agree on the instruction at @site, and it leads to @func. */
static void expect_call(struct kunit *test, struct jf_site *site, void *func,
			unsigned int pad)
{
	u64 insn = 0;

	OPTIMIZER_HIDE_VAR(func);
	KUNIT_EXPECT_EQ(test, text(site), call_of(site, func, pad));
	KUNIT_EXPECT_EQ(test, site->insn, text(site));
	KUNIT_EXPECT_EQ(test, jf_text_check(site), 0);
	KUNIT_EXPECT_PTR_EQ(test, hit(site), func - pad);
	/* Asked for the same once more, the core sees nothing to change. */
	KUNIT_EXPECT_EQ(test, jf_arch_encode(site, JF_OP_CALL,
					     (unsigned long)func, &insn), 0);
	KUNIT_EXPECT_EQ(test, insn, site->insn);
}

/* --- cases ----------------------------------------------------------------- */

static const unsigned int pads[] = { 0, 9, 10, 16 };

static void pad_desc(const unsigned int *pad, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "calls moved by %u", *pad);
}
KUNIT_ARRAY_PARAM(pad, pads, pad_desc);

/* Its own site holds a call of its trampoline again, as a kernel writes it. */
static void learns(struct kunit *test)
{
	unsigned int pad = *(const unsigned int *)test->param_value;

	start(test, "kernel", pad);
	KUNIT_EXPECT_EQ(test, jf_kernel_pad, pad);
	KUNIT_EXPECT_EQ(test, jf_kernel_nop, jf_insn_nop());
	if (JF_HAVE_STATIC_CALL_RETURN0)
		KUNIT_EXPECT_EQ(test, jf_kernel_ret0, pad ? 0 : jf_insn_ret0());
	/* As often as one likes: the loader may have moved that call before. */
	mutex_lock(&jf_mutex);
	KUNIT_EXPECT_EQ(test, jf_kernel_init(), 0);
	mutex_unlock(&jf_mutex);
	KUNIT_EXPECT_EQ(test, jf_kernel_pad, pad);
}

static void learns_no_more(struct kunit *test)
{
	kernel.pad = JF_CALL_PAD + 1;
	KUNIT_EXPECT_EQ(test, begin("kernel"), -EOPNOTSUPP);
	jf_backend = NULL;
	/* It left that at its site, and the next one must find a call. */
	kernel.pad = 0;
	transform(jf_scratch_call, NULL, jf_scratch_func, false);
}

static void updates(struct kunit *test)
{
	unsigned int pad = *(const unsigned int *)test->param_value;
	unsigned int i, j;

	start(test, "kernel", pad);
	for (i = 0; i < 2 * ARRAY_SIZE(targets); i++) {
		void *func = targets[i % ARRAY_SIZE(targets)];

		KUNIT_EXPECT_EQ(test, set(&sites[0], JF_OP_CALL, func), 0);
		expect_call(test, &sites[0], func, pad);
		KUNIT_EXPECT_EQ(test, kernel.writes, i + 1);
		KUNIT_EXPECT_EQ(test, set(&sites[0], JF_OP_CALL, func), 0);
		KUNIT_EXPECT_EQ(test, kernel.writes, i + 1);
	}
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		KUNIT_EXPECT_EQ(test, set_all(targets[i]), 0);
		for (j = 0; j < SITES; j++)
			expect_call(test, &sites[j], targets[i], pad);
	}
}

/* To nothing, to zero, and back to a call. */
static void other_forms(struct kunit *test)
{
	unsigned int pad = *(const unsigned int *)test->param_value;
	struct jf_site *site = &sites[1];
	unsigned int i;

	start(test, "kernel", pad);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, f1), 0);
		expect_call(test, site, f1, pad);
		KUNIT_EXPECT_EQ(test, set(site, JF_OP_NOP, NULL), 0);
		KUNIT_EXPECT_EQ(test, text(site), jf_insn_nop());
		KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, f2), 0);
		expect_call(test, site, f2, pad);
		KUNIT_EXPECT_EQ(test, set(site, JF_OP_RET0, NULL), 0);
		KUNIT_EXPECT_EQ(test, jf_text_check(site), 0);
		if (JF_HAVE_STATIC_CALL_RETURN0 && !pad)
			KUNIT_EXPECT_EQ(test, text(site), jf_insn_ret0());
		else
			expect_call(test, site, jf_ret0, pad);
	}
}

/* The kernel never calls this one, and the instruction that it writes instead is known. */
static void return0(struct kunit *test)
{
	unsigned int pad = *(const unsigned int *)test->param_value;
	struct jf_site *site = &sites[2];

	if (!JF_HAVE_STATIC_CALL_RETURN0)
		kunit_skip(test, "this kernel has no such function");
	start(test, "kernel", pad);
	KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, jf_kernel_return0), 0);
	KUNIT_EXPECT_EQ(test, jf_text_check(site), 0);
	if (pad)
		expect_call(test, site, jf_ret0, pad);
	else
		KUNIT_EXPECT_EQ(test, text(site), jf_insn_ret0());
	KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, f0), 0);
	expect_call(test, site, f0, pad);
}

/* Only the requested call, moved by no more, is taken over. */
static void something_else(struct kunit *test)
{
	struct jf_site *site = &sites[0];
	const u64 wrong[] = {
		call_of(site, f1, 11), call_of(site, f1, JF_CALL_PAD),
		call_of(site, f1, -1), call_of(site, f2, 10), call_of(site, f0, 0),
		jf_insn_nop(), jf_insn_ret0(), 0xccccccccccULL,
	};
	unsigned int i;

	start(test, "kernel", 10);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, f0), 0);
		kernel.instead = wrong[i];
		KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, f1), -EIO);
		kernel.instead = 0;
		KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, f2),
				wrong[i] == 0xccccccccccULL ? -EBUSY : -EILSEQ);
		KUNIT_EXPECT_PTR_EQ(test, hit(site), (void *)f1);
		KUNIT_EXPECT_EQ(test, write_text(site, site->insn), 0);
	}
	/* A target without padding is called as it is. */
	kernel.instead = call_of(site, f2, 0);
	KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, f2), 0);
	expect_call(test, site, f2, 0);
}

static void xmc_takes_over(struct kunit *test)
{
	u8 *last = (u8 *)sites[SITES - 1].addr;
	unsigned int i;

	start(test, "kernel", 10);
	KUNIT_EXPECT_EQ(test, set_all(f1), 0);
	jf_backend = jf_backend_by_name("xmc");

	/* A foreign byte at the last site: the calls stand as the kernel left them. */
	KUNIT_EXPECT_EQ(test, write_text(&sites[SITES - 1],
					 0x9090909090ULL), 0);
	for (i = 0; i < 2; i++) {
		struct jf_poke p[SITES];
		unsigned int j;

		for (j = 0; j < SITES; j++) {
			p[j].site = &sites[j];
			p[j].old = sites[j].insn;
			p[j].new = call_of(&sites[j], f2, 0);
		}
		KUNIT_EXPECT_EQ(test, patch(p, SITES), -EBUSY);
		for (j = 0; j < SITES - 1; j++)
			expect_call(test, &sites[j], f1, 10);
	}
	KUNIT_EXPECT_EQ(test, *last, (u8)0x90);
	KUNIT_EXPECT_EQ(test, write_text(&sites[SITES - 1],
					 call_of(&sites[SITES - 1], f1, 10)), 0);

	KUNIT_EXPECT_EQ(test, set_all(f2), 0);
	for (i = 0; i < SITES; i++)
		expect_call(test, &sites[i], f2, 0);
	jf_backend = jf_backend_by_name("kernel");
	KUNIT_EXPECT_EQ(test, set_all(f0), 0);
	for (i = 0; i < SITES; i++)
		expect_call(test, &sites[i], f0, 10);
}

/* Code that is not executed yet is written by either in the same way. */
static void adopts(struct kunit *test)
{
	struct jf_site *site = &sites[0];
	u64 insn;
	int pad;

	for (pad = -2; pad <= JF_CALL_PAD + 2; pad++) {
		KUNIT_EXPECT_EQ(test, write_text(site,
				call_of(site, dynfunc_jfk_f, pad)), 0);
		KUNIT_EXPECT_EQ(test, adopt(site),
				pad >= 0 && pad <= JF_CALL_PAD ? 0 : -EILSEQ);
	}
	start(test, "auto", 10);
	KUNIT_EXPECT_EQ(test, write_text(site,
					 call_of(site, dynfunc_jfk_f, 9)), 0);
	KUNIT_EXPECT_EQ(test, adopt(site), 0);
	KUNIT_EXPECT_EQ(test, jf_text_check(site), 0);
	KUNIT_EXPECT_EQ(test, jf_arch_encode(site, JF_OP_CALL,
			(unsigned long)dynfunc_jfk_f, &insn), 0);
	KUNIT_EXPECT_EQ(test, insn, site->insn);
	KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, f1), 0);
	expect_call(test, site, f1, 10);
}

static pte_t *walk_to(unsigned long addr, unsigned int *level)
{
	pte_t *p = lookup_address(addr, level);

	walk.interrupts |= !irqs_disabled();
	if (walk.walks++ % 2 || !walk.stale)
		return p;
	walk.stale--;
	*level = PG_LEVEL_4K;
	return &walk.entry;
}

/* The content of a table that was not linked any more when it was read does not count. */
static void tables_are_freed(struct kunit *test)
{
	unsigned long addr = sites[0].addr, data = (unsigned long)&walk;
	u8 *mem = vmalloc(PAGE_SIZE);
	struct page *page = vmalloc_to_page((void *)addr);
	unsigned int stale;

	KUNIT_ASSERT_TRUE(test, page && mem);
	for (stale = 0; stale < 3; stale++) {
		/* Another page's, which may not be executed. */
		walk.entry = pfn_pte(page_to_pfn(page) + 1, PAGE_KERNEL);
		walk.walks = 0;
		walk.stale = stale;
		KUNIT_EXPECT_PTR_EQ(test, jf_page_at(addr), page);
		KUNIT_EXPECT_EQ(test, walk.walks, 2 * stale + 2);
		walk.stale = stale;
		KUNIT_EXPECT_TRUE(test, jf_is_executable(addr));
		/* One that might. */
		walk.entry = pfn_pte(page_to_pfn(page), PAGE_KERNEL_EXEC);
		walk.stale = stale;
		KUNIT_EXPECT_FALSE(test, jf_is_executable(data));
		walk.stale = stale;
		KUNIT_EXPECT_PTR_EQ(test, jf_page_at(data), vmalloc_to_page((void *)data));
		walk.stale = stale;
		/* Nothing is mapped after it. */
		KUNIT_EXPECT_TRUE(test, !jf_page_at((unsigned long)mem + PAGE_SIZE));
	}
	vfree(mem);
	KUNIT_EXPECT_FALSE(test, walk.interrupts);
}

/* The first function of a mapping: the kernel would read bytes that are not there. */
static void nothing_in_front(struct kunit *test)
{
	unsigned long page = sites[0].addr & PAGE_MASK;
	struct jf_site *site = &sites[0];

	while (page > MODULES_VADDR && vmalloc_to_page((void *)page - PAGE_SIZE))
		page -= PAGE_SIZE;

	start(test, "auto", 10);
	KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, (void *)page + 9), 0);
	expect_call(test, site, (void *)page + 9, 0);
	KUNIT_EXPECT_EQ(test, kernel.writes, 0U);
	KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, (void *)page + 12), 0);
	expect_call(test, site, (void *)page + 12, 10);
	KUNIT_EXPECT_EQ(test, kernel.writes, 1U);
	jf_arch_exit();

	start(test, "kernel", 10);
	KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, (void *)page), -EOPNOTSUPP);
	expect_call(test, site, (void *)page + 12, 10);
	KUNIT_EXPECT_EQ(test, kernel.writes, 0U);
	jf_arch_exit();

	/* Bytes that it does not read cannot fault. */
	start(test, "kernel", 0);
	KUNIT_EXPECT_EQ(test, set(site, JF_OP_CALL, (void *)page), 0);
	expect_call(test, site, (void *)page, 0);
}

/*
 * Where nothing is patched, the tests of a function's branches are its own as well:
 * those that it jumps to, and that lead back to after that jump.
 */
static void tests_elsewhere(struct kunit *test)
{
	static const struct jf_backend none = { .name = "none" };
	static u8 code[96] __aligned(8);
	const struct jf_backend *was = jf_backend;
	unsigned long start = (unsigned long)code;
	struct jf_spans s = { };
	unsigned int at, i;

	memset(code, 0x90, sizeof(code));
	for (i = 0; i < 2; i++) {
		u8 *p = code + 32 + 24 * i;
		s32 there = 32 + 24 * i - (4 + 7 * i + 5), back = 4 + 7 * i + 5 - (32 + 24 * i + 18);

		at = 4 + 7 * i;
		code[at] = 0xe9;
		memcpy(code + at + 1, &there, sizeof(there));
		p[0] = 0x80;
		p[1] = 0x3d;
		p[6] = 0;
		p[7] = 0x0f;
		p[8] = 0x84 + i;
		p[13] = 0xe9;
		memcpy(p + 14, &back, sizeof(back));
	}
	jf_backend = &none;
	KUNIT_EXPECT_EQ(test, jf_arch_add_tests(&s, start, start + 32), 0);
	KUNIT_ASSERT_EQ(test, s.num, 2U);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, s.span[i].start, start + 32 + 24 * i);
		KUNIT_EXPECT_EQ(test, s.span[i].end, start + 32 + 24 * i + 18);
	}
	jf_spans_free(&s);
	/* The second one is no part of the text that ends before it. */
	KUNIT_EXPECT_EQ(test, jf_arch_add_tests(&s, start, start + 15), 0);
	KUNIT_EXPECT_EQ(test, s.num, 1U);
	jf_spans_free(&s);
	/* Leads back elsewhere: a test of another function, or none. */
	code[32 + 14]++;
	KUNIT_EXPECT_EQ(test, jf_arch_add_tests(&s, start, start + 15), 0);
	KUNIT_EXPECT_EQ(test, s.num, 0U);
	code[32 + 14]--;
	code[32]++;
	KUNIT_EXPECT_EQ(test, jf_arch_add_tests(&s, start, start + 15), 0);
	KUNIT_EXPECT_EQ(test, s.num, 0U);
	jf_spans_free(&s);
	/* They are not executed where branches are patched. */
	code[32]--;
	jf_backend = was;
	if (was && was->patch)
		KUNIT_EXPECT_EQ(test, jf_arch_add_tests(&s, start, start + 32), 0);
	KUNIT_EXPECT_EQ(test, s.num, 0U);
	jf_spans_free(&s);
}

/*
 * A debugger takes breakpoints: none is set, and a change that the kernel cannot make is refused.
 */
static void debugger_first(struct kunit *test)
{
	debugger.there = true;
	KUNIT_EXPECT_EQ(test, begin("xmc"), -EOPNOTSUPP);
	KUNIT_ASSERT_EQ(test, begin("auto"), 0);
	KUNIT_EXPECT_STREQ(test, jf_arch_backend(), "kernel");
	kernel.writes = 0;
	KUNIT_EXPECT_EQ(test, set_all(f1), 0);
	KUNIT_EXPECT_EQ(test, kernel.writes, (unsigned int)SITES);
}

static void debugger_later(struct kunit *test)
{
	unsigned int i, asked;

	start(test, "auto", 0);
	KUNIT_EXPECT_EQ(test, set_all(f1), 0);
	KUNIT_EXPECT_EQ(test, kernel.writes, 0U);
	debugger.there = true;
	asked = debugger.asked;
	for (i = 1; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, set_all(targets[i % 2 + 1]), 0);
		KUNIT_EXPECT_EQ(test, kernel.writes, i * SITES);
	}
	/* Once, since each time gives a line in the log. */
	KUNIT_EXPECT_EQ(test, debugger.asked, asked + 1);
	/* A jump of length zero is all that the kernel writes in place of one. */
	for (i = 0; i < SITES; i++) {
		struct jf_poke p = { .site = &sites[i] };

		sites[i].flags = JF_SITE_BRANCH;
		KUNIT_EXPECT_EQ(test, jf_insn_jmp(&p.old, sites[i].addr, sites[i].addr + 32), 0);
		KUNIT_EXPECT_EQ(test, write_text(&sites[i], p.old), 0);
		sites[i].insn = p.old;
		p.new = jf_insn_nop();
		KUNIT_EXPECT_EQ(test, patch(&p, 1), 0);
		KUNIT_EXPECT_EQ(test, text(&sites[i]), (u64)(JF_OPCODE_JMP));
		/* And it cannot change instructions that we wrote ourselves. */
		KUNIT_EXPECT_EQ(test, write_text(&sites[i], jf_insn_nop()), 0);
		sites[i].insn = jf_insn_nop();
		p.new = p.old;
		p.old = jf_insn_nop();
		KUNIT_EXPECT_EQ(test, patch(&p, 1), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, text(&sites[i]), jf_insn_nop());
	}
	/* It detaches, and that is seen some time later. */
	debugger.there = false;
	jf_debugger_seen -= JF_DEBUGGER_STAYS;
	kernel.writes = 0;
	for (i = 0; i < SITES; i++) {
		struct jf_poke p = { .site = &sites[i], .old = sites[i].insn };

		KUNIT_EXPECT_EQ(test, jf_insn_jmp(&p.new, sites[i].addr, sites[i].addr + 32), 0);
		KUNIT_EXPECT_EQ(test, patch(&p, 1), 0);
		KUNIT_EXPECT_EQ(test, text(&sites[i]), p.new);
	}
	KUNIT_EXPECT_EQ(test, kernel.writes, 0U);
}

static void debugger_of_xmc(struct kunit *test)
{
	start(test, "xmc", 0);
	KUNIT_EXPECT_EQ(test, set_all(f1), 0);
	debugger.there = true;
	KUNIT_EXPECT_EQ(test, set_all(f2), -EOPNOTSUPP);
	expect_call(test, &sites[0], f1, 0);
	debugger.there = false;
	KUNIT_EXPECT_EQ(test, set_all(f2), -EOPNOTSUPP);
	jf_debugger_seen -= JF_DEBUGGER_STAYS;
	KUNIT_EXPECT_EQ(test, set_all(f2), 0);
	expect_call(test, &sites[0], f2, 0);
	KUNIT_EXPECT_EQ(test, kernel.writes, 0U);
}

/* Bytes between functions, and bytes that may be one. */
static void padding(struct kunit *test)
{
	static const struct {
		u8	bytes[16];
		u8	len;
		bool	is;
	} v[] = {
		{ { 0xcc, 0xcc, 0x90, 0x00 }, 4, true },
		{ { 0x0f, 0x0b, 0x0f, 0x0b }, 4, true },
		{ { 0x66, 0x90, 0x0f, 0x1f, 0x00 }, 5, true },
		{ { 0x0f, 0x1f, 0x40, 0x00, 0x0f, 0x1f, 0x44, 0x00, 0x00 }, 9, true },
		{ { 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x0f, 0x1f, 0x80 }, 13, true },
		{ { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0xcc }, 11, true },
		{ { 0xc3 }, 1, false },
		{ { 0x90, 0x55 }, 2, false },
		{ { 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xe8 }, 6, false },
		{ { 0x0f, 0x05 }, 2, false },
		{ { 0x0f, 0x1f, 0xc0 }, 3, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(v); i++) {
		unsigned long start = (unsigned long)v[i].bytes;

		KUNIT_EXPECT_EQ_MSG(test, jf_arch_is_padding(start, start + v[i].len), v[i].is,
				    "%*ph", v[i].len, v[i].bytes);
	}
	KUNIT_EXPECT_TRUE(test, jf_arch_is_padding(0, 0));
	/* Memory that cannot be read is not text. */
	KUNIT_EXPECT_FALSE(test, jf_arch_is_padding(0, 16));
}

/* Jumps to another piece of text, with a condition or without; calls are none. */
static void leads(struct kunit *test)
{
	static u8 code[32];
	unsigned long start = (unsigned long)code, to = start + 0x1000;
	s32 disp;

	memset(code, 0x90, sizeof(code));
	KUNIT_EXPECT_FALSE(test, jf_arch_leads_into(start, start + 32, to, to + 16));
	code[8] = 0xe9;
	disp = to + 15 - (start + 13);
	memcpy(code + 9, &disp, sizeof(disp));
	KUNIT_EXPECT_TRUE(test, jf_arch_leads_into(start, start + 32, to, to + 16));
	KUNIT_EXPECT_TRUE(test, jf_arch_leads_into(start, start + 13, to, to + 16));
	KUNIT_EXPECT_FALSE(test, jf_arch_leads_into(start, start + 12, to, to + 16));
	KUNIT_EXPECT_FALSE(test, jf_arch_leads_into(start, start + 32, to, to + 15));
	KUNIT_EXPECT_FALSE(test, jf_arch_leads_into(start, start + 32, to + 16, to + 32));
	code[8] = 0xe8;
	KUNIT_EXPECT_FALSE(test, jf_arch_leads_into(start, start + 32, to, to + 16));
	code[7] = 0x0f;
	code[8] = 0x8f;
	KUNIT_EXPECT_TRUE(test, jf_arch_leads_into(start, start + 32, to, to + 16));
	/* With a kprobe on it. */
	code[7] = 0xcc;
	KUNIT_EXPECT_TRUE(test, jf_arch_leads_into(start, start + 32, to, to + 16));
	code[7] = 0x90;
	code[8] = 0xcc;
	KUNIT_EXPECT_TRUE(test, jf_arch_leads_into(start, start + 32, to, to + 16));
}

static struct kunit_case x86_cases[] = {
	KUNIT_CASE(leads),
	KUNIT_CASE(debugger_first),
	KUNIT_CASE(debugger_later),
	KUNIT_CASE(debugger_of_xmc),
	KUNIT_CASE(padding),
	KUNIT_CASE_PARAM(learns, pad_gen_params),
	KUNIT_CASE(learns_no_more),
	KUNIT_CASE_PARAM(updates, pad_gen_params),
	KUNIT_CASE_PARAM(other_forms, pad_gen_params),
	KUNIT_CASE_PARAM(return0, pad_gen_params),
	KUNIT_CASE(something_else),
	KUNIT_CASE(xmc_takes_over),
	KUNIT_CASE(adopts),
	KUNIT_CASE(tables_are_freed),
	KUNIT_CASE(nothing_in_front),
	KUNIT_CASE(tests_elsewhere),
	{}
};

static struct kunit_suite x86_suite = {
	.name = "jumpfunc-x86",
	.init = x86_suite_init,
	.exit = x86_suite_exit,
	.test_cases = x86_cases,
};
JFK_SUITES(&x86_suite);
