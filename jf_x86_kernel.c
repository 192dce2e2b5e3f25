// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own INT3 protocol as a back end, through the one entry to it that
 * modules can reach: arch_static_call_transform(), which static calls are
 * patched with. It takes text_mutex and is what the kernel itself trusts, but it
 * changes one site at a time, with three broadcasts each.
 *
 * Our site is passed as its call site, without a static-call trampoline:
 *
 *   arch_static_call_transform(site, NULL, func, tail)
 *	tail false	call func; NULL: five-byte nop; since 5.12 a function
 *			that returns zero becomes "eax = 0"
 *	tail true	jmp func
 *
 * What stands at the site must be of the same family (call, nop, eax = 0; or
 * jmp). Anything else is a BUG() with text_mutex held, or on 5.10 a warning and
 * a patch all the same, so nothing is passed on that has not been looked at. A
 * branch site cannot get a nop from it: there, "fall through" is a jump of
 * length zero.
 *
 * It does not check rel32 either; jf_arch_encode() has.
 */
#include "jf_x86.h"

#include <linux/static_call.h>
#include <linux/string.h>

/* The encodings that this kernel writes; learnt when the module is loaded. */
static jf_insn_t jf_kernel_nop, jf_kernel_ret0;

/* Somewhere to try them: its function is never called. */
static void jf_scratch_func(void)
{
}
DEFINE_DYNFUNC_NULL(jf_scratch, jf_scratch_func);

static noinline __used void jf_scratch_site(void)
{
	dynfunc_call(jf_scratch);
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

/* Can the kernel's protocol do this? */
bool jf_kernel_can(const struct jf_poke *p)
{
	void *unused;
	enum jf_insn_kind from = jf_kind(p->old, p->site, &unused);
	enum jf_insn_kind to = jf_kind(p->new, p->site, &unused);

	if (from == JF_INSN_JMP)
		return to == JF_INSN_JMP;
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

int jf_kernel_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		/*
		 * All sites before the first write: of those that fail here,
		 * none has changed. Looked at again, because the kernel would
		 * not take a surprise well.
		 */
		int err = jf_arch_check(pokes[i].site);

		if (err)
			return err;
		if (!jf_kernel_can(&pokes[i]))
			return -EOPNOTSUPP;
	}
	for (i = 0; i < num; i++) {
		/* For our handler; the kernel's own comes first while it runs. */
		WRITE_ONCE(pokes[i].site->insn, pokes[i].new);
		jf_kernel_write(&pokes[i]);
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

/*
 * Learn the encodings from the scratch site. Called before the site is
 * registered, so it holds what the compiler left: a call.
 */
int jf_kernel_init(void)
{
	const struct jf_site_rec *s;
	struct jf_site site = { };
	uint64_t target;

	for (s = __jf_tu_sites; s < __jf_tu_sites_end; s++) {
		if (s->ent != &__jf_func_jf_scratch.ent)
			continue;
		site.addr = (unsigned long)&s->addr + s->addr;
		break;
	}
	if (!site.addr ||
	    jf_insn_decode(jf_insn_load((void *)site.addr), site.addr,
			   &target) != JF_INSN_CALL)
		return -EILSEQ;

	arch_static_call_transform((void *)site.addr, NULL, NULL, false);
	jf_kernel_nop = jf_insn_load((void *)site.addr);
	if (JF_HAVE_STATIC_CALL_RETURN0) {
		arch_static_call_transform((void *)site.addr, NULL,
					   jf_kernel_return0, false);
		jf_kernel_ret0 = jf_insn_load((void *)site.addr);
	}
	arch_static_call_transform((void *)site.addr, NULL,
				   (void *)(unsigned long)target, false);

	if (jf_insn_decode(jf_kernel_nop, site.addr, &target) != JF_INSN_NOP ||
	    (jf_kernel_ret0 && jf_insn_decode(jf_kernel_ret0, site.addr,
					      &target) != JF_INSN_RET0)) {
		pr_err("this kernel writes a nop or \"eax = 0\" that jumpfunc does not know\n");
		return -EOPNOTSUPP;
	}
	return 0;
}
