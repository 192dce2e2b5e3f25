// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The instruction at a site of an entity with some value. */
#include "lib.h"

/*
 * True if this thread has a shadow stack. Then no handler can emulate a call:
 * calls stay calls of the trampoline, whose jump can be patched.
 */
static bool has_shadow_stack(void)
{
	uint64_t ssp = 0;

	/* rdsspq %rax, which is a nop without a shadow stack */
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a" (ssp));
	return ssp;
}

/*
 * A former call of a function that does not exist. A test is the same instruction in both states,
 * with another operand. A return leaves the operand of the jump that was there, so that one byte
 * changes.
 *
 * By INT3 a handler would push and pop return addresses, of which a shadow stack does not hear.
 */
static int probe_insn(const struct jf_site *site, bool on, jf_insn_t *insn)
{
	jf_insn_t now = atomic_load_explicit(&site->insn, memory_order_relaxed);

	if (site->flags & JF_SITE_TEST) {
		*insn = JF_OPCODE_MOV | (jf_insn_t)on << 8;
		return 0;
	}
	if (jf_options()->int3 && has_shadow_stack())
		return -EOPNOTSUPP;
	if (site->flags & JF_SITE_TAIL) {
		if (on)
			return jf_insn_jmp(insn, site->addr, site->label);
		*insn = (now & ~0xffULL) | JF_OPCODE_RET;
		return 0;
	}
	if (on)
		return jf_insn_call(insn, site->addr, site->label);
	*insn = jf_insn_byte(now, 0) == JF_OPCODE_TEST ? now : jf_insn_nop();
	return 0;
}

/*
 * The guard of a branch falls through, as the nop does. So where the compiler left a jump
 * to a test, and others execute it, it cannot become a jump to the other side: it waits
 * until the test would say to fall through.
 */
static int branch_insn(const struct jf_site *site, bool jumps, bool alone, jf_insn_t *insn)
{
	jf_insn_t now = atomic_load_explicit(&site->insn, memory_order_relaxed);
	bool tests = site->flags & JF_SITE_TESTED && now == site->compiled;

	if (jumps && (!tests || alone || jf_options()->int3))
		return jf_insn_jmp(insn, site->addr, site->label);
	if (jumps)
		*insn = site->compiled;
	else if (jf_insn_byte(now, 0) == JF_OPCODE_TEST)
		/* A guard was left here, as some text can no longer be written. */
		*insn = now;
	else
		*insn = jf_insn_nop();
	return 0;
}

/* Nothing to call: an instruction without effect, or with a result of 0 alone. */
static bool call_is_none(const struct jf_site *site, uintptr_t value, jf_insn_t *insn)
{
	const struct jf_ctl *ctl = jf_ctl_real(site->ctl);

	if (value != (uintptr_t)jf_func_of(ctl->ent)->init)
		return false;
	if (ctl->ent->flags & JF_ENT_NULL_OK)
		*insn = jf_insn_nop();
	else if (ctl->ent->flags & JF_ENT_RET0)
		*insn = jf_insn_ret0();
	else
		return false;
	return true;
}

static int call_insn(const struct jf_site *site, uintptr_t value, jf_insn_t *insn)
{
	bool tail = jf_insn_byte(site->compiled, 0) == JF_OPCODE_JMP;

	if (!jf_site_may_lead(site, value))
		goto compiled;
	if (tail ? !jf_insn_jmp(insn, site->addr, value) :
	    !has_shadow_stack() && (call_is_none(site, value, insn) ||
				    !jf_insn_call(insn, site->addr, value)))
		return 0;
compiled:
	*insn = site->compiled;	/* by way of the trampoline */
	return 0;
}

static void count_away(struct jf_site *site, bool away)
{
	jf_stats.trampolined += (uint64_t)away - (uint64_t)site->away;
	site->away = away;
}

/* From the present instruction, and from the trampoline, for the way back there. */
static bool has_relays(struct jf_site *site, jf_insn_t now, jf_insn_t insn)
{
	return (now == site->compiled || jf_relays_for(site, site->compiled, insn)) && jf_relays_for(site, now, insn);
}

/*
 * By relays: it stays a call, or a jump. The images of a tracepoint come and go, and each would
 * need relays of its own.
 */
static int relayed_insn(struct jf_site *site, uintptr_t value, jf_insn_t *insn)
{
	jf_insn_t now = atomic_load_explicit(&site->insn, memory_order_relaxed);
	bool tail = jf_insn_byte(site->compiled, 0) == JF_OPCODE_JMP;
	bool away = site->ctl->ent->flags & JF_ENT_TRACE || !jf_site_may_lead(site, value) ||
		    (tail ? jf_insn_jmp(insn, site->addr, value) : jf_insn_call(insn, site->addr, value));

	if (!away && *insn != now)
		away = !has_relays(site, now, *insn);
	if (away)
		*insn = site->compiled;
	count_away(site, away);
	if (away && *insn != now && !jf_relays_for(site, now, *insn))
		return -ENOMEM;
	return 0;
}

int jf_site_insn(struct jf_site *site, uintptr_t value, bool alone, jf_insn_t *insn)
{
	if (site->flags & JF_SITE_PROBE)
		return probe_insn(site, value, insn);
	if (site->flags & JF_SITE_BRANCH)
		return branch_insn(site, !!value != !!(site->flags & JF_SITE_BRANCH_INV), alone,
				   insn);
	if (site->flags & JF_SITE_CALL)
		return jf_options()->int3 ? call_insn(site, value, insn) : relayed_insn(site, value, insn);
	if (!jf_site_may_lead(site, value) || jf_insn_jmp(insn, site->addr, value))
		*insn = site->compiled;	/* by way of the pointer */
	return 0;
}
