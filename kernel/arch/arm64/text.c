// SPDX-License-Identifier: GPL-2.0
/*
 * Sites on arm64: their instructions. kernel/arch/arm64/write.c writes it.
 *
 * B and BL reach 128 MiB, and modules lie up to 2 GiB from each other and from the kernel.
 * Where a target is out of reach,
 *
 *   - a trampoline is a nop, and goes on to where struct jf_func says, which the
 *     core writes after the text. So until then it leads where it did, in either form;
 *   - an inline call is as compiled, a call of the trampoline.
 *
 * "No target" is a nop at an inline call. A zero is not an instruction that may be written
 * (see common/arm64/insn.h), but a call of jf_ret0().
 */
#include "arch/arm64/arm64.h"
#include "arch/image.h"

#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static_assert(JF_ARCH_SITE_SIZE == JF_INSN_SIZE);

/* Text is written; otherwise everything runs as it was compiled. */
static bool jf_patches;

/* --- sites --------------------------------------------------------------- */

int jf_arch_encode(const struct jf_site *site, enum jf_op op,
		   unsigned long target, u64 *insn)
{
	u32 i = 0;
	int err = 0;

	/* The compiled code does it all. */
	if (!jf_patches) {
		*insn = site->insn;
		return 0;
	}
	switch (op) {
	case JF_OP_NOP:
		i = jf_insn_nop();
		break;
	case JF_OP_RET0:
		target = (unsigned long)jf_ret0;
		fallthrough;
	case JF_OP_CALL:
		err = jf_insn_call(&i, site->addr, target);
		if (err == -ERANGE) {
			i = site->compiled;
			err = 0;
		}
		break;
	case JF_OP_JMP:
		err = jf_insn_jmp(&i, site->addr, target);
		if (err == -ERANGE && site->flags & JF_SITE_TRAMP) {
			i = jf_insn_nop();
			err = 0;
		}
		break;
	default:
		return -EINVAL;
	}
	if (!err)
		*insn = i;
	return err;
}

/*
 * The test of an unpatched branch site, see jumpfunc/detail/branch_arm64.h:
 *	 0: adrp x16, enabled		(or the form that the loader gave it)
 *	 4: ldrb w16, [x16, #offset]
 *	 8: cbz|cbnz w16, 16
 *	12: b other
 *	16: b next
 */
#define JF_TEST_WORDS	5
#define JF_TEST_SIZE	(JF_TEST_WORDS * JF_INSN_SIZE)

/* True for a test; fills in its target and condition. */
static bool jf_test_decode(const u32 *p, unsigned long test, u32 *cbz,
			   unsigned long *other, u64 *next)
{
	uint64_t to;

	*cbz = p[2];
	if ((p[1] & 0xffc003ff) != 0x39400210 ||
	    (p[2] & 0xfeffffff) != 0x34000050 ||
	    jf_insn_decode(p[3], test + 12, &to) != JF_INSN_JMP)
		return false;
	*other = to;
	return jf_insn_decode(p[4], test + 16, next) == JF_INSN_JMP;
}

static int jf_adopt_branch(struct jf_site *site, unsigned long test)
{
	u32 cbz, wanted = site->flags & JF_SITE_BRANCH_INV ? 0x35000050 :
							     0x34000050;
	u64 next;

	if (!jf_site_is_near(site, test) ||
	    !jf_site_is_near(site, test + JF_TEST_SIZE - 1))
		return -EILSEQ;
	if (!jf_test_decode((const u32 *)test, test, &cbz, &site->label, &next) ||
	    cbz != wanted || next != site->addr + JF_INSN_SIZE ||
	    !jf_site_is_near(site, site->label))
		return -EILSEQ;
	return 0;
}

/* The trampoline, or the loader's veneer if that is out of reach. */
static int jf_adopt_call(const struct jf_site *site, unsigned long to,
			 unsigned long tramp)
{
	uint64_t target;
	u32 veneer[3];

	if (to == tramp)
		return 0;
	if (!jf_site_is_near(site, to) ||
	    !jf_site_is_near(site, to + sizeof(veneer) - 1) ||
	    copy_from_kernel_nofault(veneer, (void *)to, sizeof(veneer)) ||
	    !jf_insn_veneer(veneer, to, &target) || target != tramp)
		return -EILSEQ;
	return 0;
}

/* A nop, and the code after it: adrp x16; ldr x16, [x16, #offset]; br x16. */
static int jf_adopt_tramp(const struct jf_site *site)
{
	const u32 *p = (const u32 *)site->addr;

	if (!jf_site_is_near(site, site->addr + 4 * JF_INSN_SIZE - 1) ||
	    p[0] != JF_INSN_NOP_WORD || (p[2] & 0xffc003ff) != 0xf9400210 ||
	    p[3] != 0xd61f0200)
		return -EILSEQ;
	return 0;
}

int jf_arch_adopt(struct jf_site *site, unsigned long tramp)
{
	enum jf_insn_kind kind;
	uint64_t target;

	if (site->flags & JF_SITE_TRAMP)
		site->addr += JF_BTI_LEN;
	if (!IS_ALIGNED(site->addr, JF_INSN_SIZE))
		return -EILSEQ;

	site->insn = jf_text_load(site->addr);
	site->asked = site->insn;
	kind = jf_insn_decode(site->insn, site->addr, &target);
	if (site->flags & JF_SITE_TRAMP)
		return jf_adopt_tramp(site);
	if (site->flags & JF_SITE_CALL)
		return kind == JF_INSN_CALL ?
		       jf_adopt_call(site, target, tramp) : -EILSEQ;
	return kind == JF_INSN_JMP ? jf_adopt_branch(site, target) : -EILSEQ;
}

unsigned long jf_arch_show(struct seq_file *m, const struct jf_site *site)
{
	u32 insn = jf_text_load(site->addr);
	unsigned long to = 0;
	const char *what = "?";
	uint64_t target;

	switch (jf_insn_decode(insn, site->addr, &target)) {
	case JF_INSN_CALL:
		what = "bl";
		to = target;
		break;
	case JF_INSN_JMP:
		what = "b";
		to = target;
		break;
	case JF_INSN_NOP:
		what = "nop";
		break;
	case JF_INSN_OTHER:
		break;
	}
	seq_printf(m, "%08x  %s", insn, what);
	return to;
}

/* --- text in general ----------------------------------------------------- */

/*
 * Where nothing is patched, branches are executed as they were compiled, and their
 * tests stand after the last function of a section, which is not theirs. So this
 * searches for jumps to tests that lead back here.
 */
int jf_arch_add_tests(struct jf_spans *s, unsigned long start, unsigned long end)
{
	unsigned long addr, other;
	u32 insn, test[JF_TEST_WORDS], cbz;
	uint64_t to, next;
	int err = 0;

	if (jf_patches)
		return 0;
	for (addr = ALIGN(start, JF_INSN_SIZE); !err && addr + JF_INSN_SIZE <= end;
	     addr += JF_INSN_SIZE)
		if (!copy_from_kernel_nofault(&insn, (void *)addr, sizeof(insn)) &&
		    jf_insn_decode(insn, addr, &to) == JF_INSN_JMP &&
		    /* No module's text is larger, and no device nearer. */
		    to - addr + SZ_16M < SZ_32M &&
		    !copy_from_kernel_nofault(test, (void *)(long)to, sizeof(test)) &&
		    jf_test_decode(test, to, &cbz, &other, &next) &&
		    next == addr + JF_INSN_SIZE)
			err = jf_spans_add(s, to, to + JF_TEST_SIZE);
	return err;
}

/* Nops, zeros (which are UDF) and breakpoints. */
bool jf_arch_is_padding(unsigned long start, unsigned long end)
{
	u32 insn;

	if (!IS_ALIGNED(start | end, JF_INSN_SIZE))
		return false;
	for (; start < end; start += JF_INSN_SIZE)
		if (copy_from_kernel_nofault(&insn, (void *)start, sizeof(insn)) ||
		    (insn && insn != JF_INSN_NOP_WORD && !jf_insn_is_break(insn)))
			return false;
	return true;
}

/*
 * Modules cannot read the kernel's page tables. An address that is not mapped is not text, nor is
 * one between a variable of the image's read-only data, which is next to its text, and one of its
 * data. Beyond that data is not told from text here.
 */
bool jf_arch_is_text(unsigned long addr)
{
	unsigned long data = max_t(unsigned long, (unsigned long)&jiffies_64,
				   (unsigned long)&init_task);
	u32 insn;

	if (addr >= (unsigned long)_ctype && addr <= data)
		return false;
	return IS_ALIGNED(addr, JF_INSN_SIZE) &&
	       !copy_from_kernel_nofault(&insn, (void *)addr, sizeof(insn));
}

/* Nor is the image told from the code that BPF compiled, which stands in the same area. */
bool jf_arch_is_image(unsigned long addr)
{
	return true;
}

/* --- images, and stubs that are not needed -------------------------------- */

int jf_arch_image_get(const struct jf_arch_call *calls, unsigned int num,
		      unsigned int nargs, void **image)
{
	if (!jf_patches)
		return -EOPNOTSUPP;
	return jf_image_get(calls, num, nargs, image);
}

/* jumpfunc/detail/site_arm64.h refuses kernels that compare types. */
int jf_arch_typed(void *func, const void *like, void **typed)
{
	*typed = func;
	return 0;
}

void jf_arch_stats_get(struct jf_arch_stats *stats)
{
	stats->int3_hits = 0;
	jf_images_count(&stats->images_used, &stats->images_total);
}

/* --- life ---------------------------------------------------------------- */

int jf_arch_init(const char *backend)
{
	jf_patches = strcmp(backend, "indirect");
	if (jf_patches && strcmp(backend, "auto") && strcmp(backend, "xmc")) {
		pr_err("no back end \"%s\" on this architecture: auto, xmc or indirect\n",
		       backend);
		return -EINVAL;
	}
	return jf_images_init();
}

void jf_arch_exit(void)
{
	jf_images_exit();
}

const char *jf_arch_backend(void)
{
	return jf_patches ? "xmc" : "indirect";
}
EXPORT_SYMBOL_GPL(jf_arch_backend);

bool jf_arch_patches(void)
{
	return jf_patches;
}

bool jf_arch_has_sites(void)
{
	return true;
}
