// SPDX-License-Identifier: GPL-2.0
/*
 * Sites on x86-64: their instructions, and the choice of the back end that writes them
 * (kernel/arch/x86/xmc.c or kernel.c).
 */
#include "arch/x86/x86.h"

#include "arch/arch.h"
#include "arch/image.h"

#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static_assert(JF_ARCH_SITE_SIZE == JF_INSN_SIZE);

#ifdef CONFIG_FINEIBT
EXPORT_SYMBOL_GPL(jf_jump_r11);
#endif

static const struct jf_backend *jf_backend;

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
 * One live site: the kernel's protocol patches it with as many broadcasts, under
 * text_mutex, and the kernel's own users depend on it. It needs three more for
 * each further site, so from two sites on, and for instructions that it cannot write, ours is used.
 * docs/protocol.md has the figures.
 *
 * While a debugger takes our breakpoints, the kernel's protocol patches all sites,
 * and instructions that it cannot write are refused until the debugger is detached.
 */
static int jf_auto_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	int err;

	if (num == 1 && live && jf_kernel_can(pokes))
		return jf_kernel_patch(pokes, num, live);
	err = jf_xmc_patch(pokes, num, live);
	if (err != -EOPNOTSUPP || !JF_HAVE_KERNEL_BACKEND)
		return err;
	jf_kernel_rephrase(pokes, num);
	return jf_kernel_patch(pokes, num, live);
}

/* The default comes first. */
static const struct jf_backend jf_backends[] = {
	{
		.name		= "auto",
		.patch		= jf_auto_patch,
		.fall_through	= jf_xmc_fall_through,
		.return_zero	= jf_xmc_return_zero,
	}, {
		.name		= "xmc",
		.patch		= jf_xmc_patch,
		.fall_through	= jf_xmc_fall_through,
		.return_zero	= jf_xmc_return_zero,
		.init		= jf_xmc_init,
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
		if (!jf_text_check(pokes[i].site))
			continue;
		pr_err("%pS does not read back as written: %*ph\n",
		       (void *)pokes[i].site->addr, JF_INSN_SIZE,
		       (void *)pokes[i].site->addr);
		err = -EIO;
	}
	return err;
}

/* No back end fails once its handler sends CPUs to new. */
#include "arch/no_undo.h"

int jf_arch_encode(const struct jf_site *site, enum jf_op op,
		   unsigned long target, u64 *insn)
{
	jf_insn_t i;
	int err = 0;

	/* Without a back end that writes, the compiled code does it all. */
	if (!jf_arch_patches()) {
		*insn = site->insn;
		return 0;
	}
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
	/* The instruction of the last request is there, in any of its forms. */
	if (!err)
		*insn = i == site->asked ? site->insn : i;
	return err;
}

/*
 * The test of an unpatched branch site, see jumpfunc/detail/branch_x86.h:
 *	 0: 80 3d disp32 00	cmpb $0, enabled(%rip)
 *	 7: 0f 84|85 disp32	je|jne other
 *	13: e9 disp32		jmp next
 */
#define JF_TEST_SIZE	18
#define JF_TEST_JCC	7
#define JF_TEST_JMP	13

/* True for a test; fills in its target and condition. */
static bool jf_test_decode(const u8 *p, unsigned long test, u8 *jcc,
			   unsigned long *other, uint64_t *next)
{
	s32 disp;

	if (p[0] != 0x80 || p[1] != 0x3d || p[6] != 0 || p[JF_TEST_JCC] != 0x0f)
		return false;
	*jcc = p[JF_TEST_JCC + 1];
	memcpy(&disp, p + JF_TEST_JCC + 2, sizeof(disp));
	*other = test + JF_TEST_JMP + disp;
	return jf_insn_decode(jf_insn_load(p + JF_TEST_JMP), test + JF_TEST_JMP,
			      next) == JF_INSN_JMP;
}

static int jf_adopt_branch(struct jf_site *site, unsigned long test)
{
	u8 jcc, wanted = site->flags & JF_SITE_BRANCH_INV ? 0x84 : 0x85;
	uint64_t next;

	if (!jf_site_is_near(site, test) ||
	    !jf_site_is_near(site, test + JF_TEST_SIZE - 1))
		return -EILSEQ;
	if (!jf_test_decode((const u8 *)test, test, &jcc, &site->label, &next) ||
	    jcc != wanted || next != site->addr + JF_INSN_SIZE ||
	    !jf_site_is_near(site, site->label))
		return -EILSEQ;
	return 0;
}

/*
 * Where nothing is patched, branches are executed as they were compiled, and their
 * tests stand after the last function of a section, outside of the function that
 * they belong to. So search for jumps to tests that lead back here.
 */
int jf_arch_add_tests(struct jf_spans *s, unsigned long start, unsigned long end)
{
	u8 bytes[JF_INSN_SIZE], test[JF_TEST_SIZE], jcc;
	unsigned long addr, other;
	uint64_t to, next;
	int err = 0;

	if (jf_arch_patches())
		return 0;
	for (addr = start; !err && addr + JF_INSN_SIZE <= end; addr++)
		if (!copy_from_kernel_nofault(bytes, (void *)addr, sizeof(bytes)) &&
		    jf_insn_decode(jf_insn_load(bytes), addr, &to) == JF_INSN_JMP &&
		    /* No module's text is larger, and no device nearer. */
		    to - addr + SZ_16M < SZ_32M &&
		    !copy_from_kernel_nofault(test, (void *)(long)to, sizeof(test)) &&
		    jf_test_decode(test, to, &jcc, &other, &next) &&
		    next == addr + JF_INSN_SIZE)
			err = jf_spans_add(s, to, to + JF_TEST_SIZE);
	return err;
}

/* The length of the nop, or the trap, at @p; 0: another instruction is there. */
static unsigned int jf_padding_len(const u8 *p)
{
	static const u8 operand[] = { [0] = 0, [1] = 1, [2] = 4 };
	unsigned int n = 0;

	if (p[0] == JF_OPCODE_INT3 || p[0] == 0x00)
		return 1;
	while (n < 8 && (p[n] == 0x66 || p[n] == 0x2e))
		n++;
	if (p[n] == 0x90)
		return n + 1;
	if (p[n] != 0x0f)
		return 0;
	if (p[n + 1] == 0x0b)
		return n + 2;	/* ud2 */
	/* nopl, with a memory operand, and a SIB byte if that is based on %rsp's number */
	if (p[n + 1] != 0x1f || p[n + 2] >> 6 == 3)
		return 0;
	return n + 3 + ((p[n + 2] & 7) == 4) + operand[p[n + 2] >> 6];
}

bool jf_arch_is_padding(unsigned long start, unsigned long end)
{
	/* The longest: eight prefixes, opcode, ModRM, SIB, displacement. */
	u8 bytes[16];
	unsigned int len;

	for (; start < end; start += len) {
		memset(bytes, 0, sizeof(bytes));
		if (copy_from_kernel_nofault(bytes, (void *)start,
					     min_t(size_t, end - start,
						   sizeof(bytes))))
			return false;
		len = jf_padding_len(bytes);
		if (!len)
			return false;
	}
	return true;
}

/* A jump at @addr, whose displacement stands after @op bytes. */
static bool jf_disp_leads(unsigned long addr, const u8 *bytes, unsigned int op,
			  unsigned long to_start, unsigned long to_end)
{
	s32 disp;

	memcpy(&disp, bytes + op, sizeof(disp));
	return addr + op + sizeof(disp) + disp - to_start < to_end - to_start;
}

/*
 * With or without a condition; from where instructions begin, and from elsewhere. The
 * INT3 of a kprobe may stand for the first byte.
 */
bool jf_arch_leads_into(unsigned long start, unsigned long end,
			unsigned long to_start, unsigned long to_end)
{
	unsigned long addr;
	u8 bytes[6];
	bool probed;

	for (addr = start; addr + 5 <= end; addr++) {
		memset(bytes, 0, sizeof(bytes));
		if (copy_from_kernel_nofault(bytes, (void *)addr,
					     min_t(size_t, end - addr,
						   sizeof(bytes))))
			continue;
		probed = bytes[0] == JF_OPCODE_INT3;
		if ((probed || bytes[0] == 0x0f) && (bytes[1] & 0xf0) == 0x80 &&
		    jf_disp_leads(addr, bytes, 2, to_start, to_end))
			return true;
		if ((probed || bytes[0] == JF_OPCODE_JMP) &&
		    jf_disp_leads(addr, bytes, 1, to_start, to_end))
			return true;
	}
	return false;
}

int jf_arch_adopt(struct jf_site *site, unsigned long tramp)
{
	enum jf_insn_kind kind;
	uint64_t target;
	u64 insn, asked;

	if (site->flags & JF_SITE_TRAMP)
		site->addr += JF_ENDBR_LEN;

	insn = jf_insn_load((void *)site->addr);
	kind = jf_insn_decode(insn, site->addr, &target);
	site->insn = insn;
	site->asked = insn;

	if (site->flags & JF_SITE_TRAMP) {
		/* jmp to the indirect jump after it */
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

unsigned long jf_arch_show(struct seq_file *m, const struct jf_site *site)
{
	u64 insn = jf_insn_load((void *)site->addr);
	unsigned long to = 0;
	const char *what = "?";
	uint64_t target;

	switch (jf_insn_decode(insn, site->addr, &target)) {
	case JF_INSN_CALL:
		what = "call";
		to = target;
		break;
	case JF_INSN_JMP:
		what = "jmp";
		to = target;
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
	return to;
}

/*
 * True if page tables distinguish the image's data from its text. When the kernel protects its
 * memory, it makes the pages after its text not executable; with "rodata=off" it does
 * not. Data of modules and allocated memory are never executable.
 */
static bool jf_image_has_nx = true;

bool jf_arch_is_text(unsigned long addr)
{
	if (!jf_image_has_nx && jf_arch_is_image(addr) && !jf_is_image_text(addr))
		return false;
	return jf_is_executable(addr);
}

static void jf_image_ask_nx(void)
{
	jf_image_has_nx = !jf_is_executable((unsigned long)&jiffies_64);
	if (!jf_image_has_nx)
		pr_info("page tables call the kernel's data executable (rodata=off): what is text is told by the unwinder\n");
}

/* Modules, and all that is generated, begin where its area ends. */
bool jf_arch_is_image(unsigned long addr)
{
	return addr >= __START_KERNEL_map && addr < MODULES_VADDR;
}

bool jf_arch_patches(void)
{
	return jf_backend->patch;
}

bool jf_arch_has_sites(void)
{
	return true;
}

int jf_arch_image_get(const struct jf_arch_call *calls, unsigned int num,
		      unsigned int nargs, void **image)
{
	if (!jf_arch_patches())
		return -EOPNOTSUPP;
	return jf_image_get(calls, num, nargs, image);
}

/* kernel/arch/x86/typed.c has it for kernels whose indirect calls compare types. */
#if !JF_INDIRECT_TYPED
int jf_arch_typed(void *func, const void *like, void **typed)
{
	*typed = func;
	return 0;
}
#endif

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

/* The meaning of auto here: without the kernel's protocol xmc, beside a debugger kernel. */
static const struct jf_backend *jf_backend_auto(void)
{
	int err = jf_kernel_init();

	if (err) {
		pr_info("the kernel's patching is out of reach (%d), using xmc\n",
			err);
		return jf_backend_by_name("xmc");
	}
	return jf_backend_by_name(jf_xmc_init() ? "kernel" : "auto");
}

int jf_arch_init(const char *name)
{
	int err;

	jf_image_ask_nx();
	jf_backend = jf_backend_by_name(name);
	if (!jf_backend) {
		pr_err("no back end \"%s\": auto, xmc, kernel or indirect\n",
		       name);
		return -EINVAL;
	}
	if (jf_backend == jf_backends)
		jf_backend = jf_backend_auto();
	err = jf_backend->init ? jf_backend->init() : 0;
	if (err) {
		pr_err("back end %s is not available on this kernel (%d)\n",
		       name, err);
		return err;
	}
	err = jf_images_init();
	if (err)
		return err;
	/* The handler first: it must be there before the first breakpoint. */
	err = jf_int3_init();
	if (err)
		jf_images_exit();
	return err;
}

void jf_arch_exit(void)
{
	jf_int3_exit();
	jf_images_exit();
}
