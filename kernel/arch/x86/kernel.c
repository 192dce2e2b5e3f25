// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own INT3 protocol as a back end, through the one entry to it that
 * modules can reach: arch_static_call_transform(), which static calls are
 * patched with. It takes text_mutex, and the kernel itself trusts it, but it changes one site at a
 * time, with three broadcasts each.
 *
 * Our site is passed as its call site, without a static-call trampoline:
 *
 *   arch_static_call_transform(site, NULL, func, tail)
 *	tail false	call func; NULL: five-byte nop; since 5.12 a function
 *			that returns zero becomes "eax = 0"
 *	tail true	jmp func
 *
 * The instruction at the site must be of the same family (call, nop, eax = 0; or
 * jmp). Anything else is a BUG() with text_mutex held, or on 5.10 a warning and
 * a patch all the same, so nothing is passed on that has not been checked. A
 * branch site cannot get a nop from it: there, "fall through" is a jump of
 * length zero.
 *
 * It does not check rel32 either; jf_arch_encode() has.
 *
 * The kernel does not always write the requested instruction. The sources of
 * 5.10, 6.1, 6.12 and 7.2 (static_call.c and callthunks.c first) have these
 * cases:
 *
 *   call-depth tracking (since 6.2; retbleed=stuff, its=stuff)
 *	A call leads into the padding of its target, where the call is counted;
 *	a target without padding is called as it is. jf_kernel_init() learns how
 *	many bytes it is, jf_kernel_adopt() takes over the present instruction. It
 *	also keeps the kernel from seeing that a call is that of the function
 *	that returns zero, so there is no "eax = 0" then. A call of ours into no
 *	padding (by xmc, in an image) is not counted: returns then refill the
 *	return stack buffer earlier than they must, which is on the safe side.
 *   __static_call_return0
 *	jf_arch_encode() asks for "eax = 0" in the first place.
 *   __WARN_trap (7.2)
 *	Becomes a "ud1". WARN() uses it, and it is never a target; a
 *	site that is led there reads back wrong (-EIO).
 *   its=, ret thunks (retbleed=, spec_rstack_overflow=)
 *	For a return in place of a tail call, which is never asked for here;
 *	else for indirect jumps and returns, by their tables, as a module loads.
 *   FineIBT, cfi=
 *	The code in front of functions and of indirect calls, in kernels that
 *	clang built.
 *   spectre_bhi=
 *	The kernel's entry code, and BPF programs.
 */
#include "arch/x86/x86.h"

#include <linux/mm.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <jumpfunc/detail/site_x86.h>

/* The encodings that this kernel writes; learnt when the module is loaded. */
static jf_insn_t jf_kernel_nop, jf_kernel_ret0;
/* The distance by which its calls lead in front of their targets. */
static unsigned int jf_kernel_pad;

/* A call to try them on; it is never executed. */
extern u8 jf_scratch_call[];

static noinline void jf_scratch_func(void)
{
}

static noinline __noclone __used void jf_scratch_site(void)
{
	asm volatile("jf_scratch_call:\n\t"
		     __JF_NOENDBR
		     ".byte 0xe8\n\t"
		     ".long %P[func] - (. + 4)\n\t"
		     : ASM_CALL_CONSTRAINT
		     : [func] "i" (jf_scratch_func)
		     : "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8",
		       "r9", "r10", "r11");
}

#if JF_HAVE_STATIC_CALL_RETURN0
#define jf_kernel_return0	((void *)__static_call_return0)
#else
#define jf_kernel_return0	NULL
#endif

static enum jf_insn_kind jf_kind(jf_insn_t insn, const struct jf_site *site,
				 void **target)
{
	uint64_t to = 0;
	enum jf_insn_kind kind = jf_insn_decode(insn, site->addr, &to);

	*target = (void *)(unsigned long)to;
	return kind;
}

bool jf_kernel_is_return0(unsigned long func)
{
	return JF_HAVE_STATIC_CALL_RETURN0 &&
	       func == (unsigned long)jf_kernel_return0;
}

/*
 * Where it counts calls it looks into the padding of each target, and believes
 * that there is some. A module may begin with a function that has none.
 */
static bool jf_kernel_can_look(unsigned long func)
{
	unsigned long pad = func - jf_kernel_pad;

	if (func < MODULES_VADDR || func >= MODULES_END ||
	    offset_in_page(func) >= jf_kernel_pad)
		return true;
	return pad >= MODULES_VADDR && jf_page_at(pad);
}

/* True if the kernel's protocol can do this. */
bool jf_kernel_can(const struct jf_poke *p)
{
	void *unused, *target;
	enum jf_insn_kind from = jf_kind(p->old, p->site, &unused);
	enum jf_insn_kind to = jf_kind(p->new, p->site, &target);

	if (from == JF_INSN_JMP)
		return to == JF_INSN_JMP;
	if (to == JF_INSN_CALL && !jf_kernel_can_look((unsigned long)target))
		return false;
	/* It compares nops and "eax = 0" by the byte. */
	if ((from == JF_INSN_NOP && p->old != jf_kernel_nop) ||
	    (from == JF_INSN_RET0 && p->old != jf_kernel_ret0) ||
	    (to == JF_INSN_NOP && p->new != jf_kernel_nop) ||
	    (to == JF_INSN_RET0 && p->new != jf_kernel_ret0))
		return false;
	return from != JF_INSN_OTHER && to != JF_INSN_OTHER &&
	       to != JF_INSN_JMP;
}

static void jf_kernel_write(const struct jf_poke *p)
{
	void *target;

	switch (jf_kind(p->new, p->site, &target)) {
	case JF_INSN_JMP:
		arch_static_call_transform((void *)p->site->addr, NULL, target,
					   true);
		break;
	case JF_INSN_CALL:
		arch_static_call_transform((void *)p->site->addr, NULL, target,
					   false);
		break;
	case JF_INSN_NOP:
		arch_static_call_transform((void *)p->site->addr, NULL, NULL,
					   false);
		break;
	case JF_INSN_RET0:
		arch_static_call_transform((void *)p->site->addr, NULL,
					   jf_kernel_return0, false);
		break;
	case JF_INSN_OTHER:
		break;
	}
}

/*
 * Take over the kernel's instruction, if it has the requested effect. Until then the
 * handler emulates the call as it was asked for, which leads to the same place.
 */
static void jf_kernel_adopt(const struct jf_poke *p)
{
	jf_insn_t insn = jf_insn_load((void *)p->site->addr);

	if (jf_insn_is(insn, p->new, p->site->addr, jf_kernel_pad))
		WRITE_ONCE(p->site->insn, insn);
}

int jf_kernel_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		/*
		 * All sites before the first write: of those that fail here,
		 * none has changed. Looked at again, because the kernel would
		 * not take a surprise well.
		 */
		int err = jf_text_check(pokes[i].site);

		if (err)
			return err;
		if (!jf_kernel_can(&pokes[i]))
			return -EOPNOTSUPP;
	}
	/* Its handler leads to new images before its first broadcast. */
	jf_arch_settle();
	for (i = 0; i < num; i++) {
		/* For our handler; the kernel's own comes first while it runs. */
		WRITE_ONCE(pokes[i].site->insn, pokes[i].new);
		jf_kernel_write(&pokes[i]);
		jf_kernel_adopt(&pokes[i]);
		jf_stats.broadcasts += 3;
	}
	jf_stats.by_kernel++;
	return 0;
}

jf_insn_t jf_kernel_fall_through(const struct jf_site *site)
{
	jf_insn_t insn = jf_insn_nop();

	if (!(site->flags & JF_SITE_BRANCH))
		return jf_kernel_nop;
	/* Always in reach. */
	jf_insn_jmp(&insn, site->addr, site->addr + JF_INSN_SIZE);
	return insn;
}

/* "eax = 0", or where the kernel has no such thing a call that does it. */
jf_insn_t jf_kernel_return_zero(const struct jf_site *site)
{
	jf_insn_t insn = jf_kernel_ret0;

	if (!insn && jf_insn_call(&insn, site->addr, (unsigned long)jf_ret0))
		return jf_insn_ret0();
	return insn;
}

void jf_kernel_rephrase(struct jf_poke *pokes, unsigned int num)
{
	void *target;
	unsigned int i;

	for (i = 0; i < num; i++) {
		struct jf_poke *p = &pokes[i];

		switch (jf_kind(p->new, p->site, &target)) {
		case JF_INSN_NOP:
			p->new = jf_kernel_fall_through(p->site);
			break;
		case JF_INSN_RET0:
			p->new = jf_kernel_return_zero(p->site);
			break;
		default:
			break;
		}
	}
}

static jf_insn_t jf_kernel_try(unsigned long site, void *func)
{
	arch_static_call_transform((void *)site, NULL, func, false);
	return jf_insn_load((void *)site);
}

/* Distance in front of @func to which this call of it leads. Negative: not a call of it. */
static int jf_kernel_pad_of(jf_insn_t insn, unsigned long site, void *func)
{
	jf_insn_t asked;
	uint64_t target;

	if (jf_insn_call(&asked, site, (unsigned long)func) ||
	    !jf_insn_is(insn, asked, site, JF_CALL_PAD))
		return -EILSEQ;
	jf_insn_decode(insn, site, &target);
	return (unsigned long)func - target;
}

/*
 * Learn the encodings from the scratch call. It holds the compiler's instruction: a call of
 * jf_scratch_func(), which call-depth tracking may have moved. The kernel must be given the
 * function itself: for it, the bytes in front of one are no target.
 */
int jf_kernel_init(void)
{
	unsigned long site = (unsigned long)jf_scratch_call;
	void *func = jf_scratch_func;
	uint64_t target;
	int pad;

	/* Objtool would take an address beside one of these for one to be called. */
	OPTIMIZER_HIDE_VAR(site);
	OPTIMIZER_HIDE_VAR(func);
	if (jf_kernel_pad_of(jf_insn_load((void *)site), site, func) < 0)
		return -EILSEQ;

	jf_kernel_nop = jf_kernel_try(site, NULL);
	jf_kernel_ret0 = 0;
	if (JF_HAVE_STATIC_CALL_RETURN0) {
		jf_kernel_ret0 = jf_kernel_try(site, jf_kernel_return0);
		/* A call after all: then it has no such thing. */
		if (jf_kernel_pad_of(jf_kernel_ret0, site,
				     jf_kernel_return0) >= 0)
			jf_kernel_ret0 = 0;
	}
	pad = jf_kernel_pad_of(jf_kernel_try(site, func), site, func);

	if (pad < 0 ||
	    jf_insn_decode(jf_kernel_nop, site, &target) != JF_INSN_NOP ||
	    (jf_kernel_ret0 && jf_insn_decode(jf_kernel_ret0, site,
					      &target) != JF_INSN_RET0)) {
		pr_err("this kernel writes a call, a nop or \"eax = 0\" that jumpfunc does not know\n");
		return -EOPNOTSUPP;
	}
	jf_kernel_pad = pad;
	return 0;
}
