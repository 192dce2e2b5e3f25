// SPDX-License-Identifier: GPL-2.0
/*
 * Which code of a function does an instruction lead to? Follows instructions from
 * where a function begins, through its branches, as far as it goes.
 *
 * Three questions are answered with it:
 *
 *  1. What is executed only by ways that branches no longer go
 *     (jf_arch_add_former())? All that is *not* reached as they go now. What this
 *     file cannot follow, such as a jump by a pointer, is not reached either, and
 *     a function that may not return ends its way. So it errs on the side of
 *     "former", which makes a quiesce wait.
 *  2. Where can a function have jumped as its last act (jf_arch_jumps())? Here
 *     what cannot be followed may lead anywhere, which is an error. The same is asked
 *     about code that only branches led to.
 *  3. From which instructions does a CPU come to a place (jf_arch_leading())? These
 *     are some of them.
 *
 * Where a site of ours leads is told by the caller, whatever stands there. Of functions
 * with such sites the text is read as it was when the module was loaded (quiesce/text.c),
 * so kprobes do not matter. Other text is read while other CPUs may execute it, but
 * not while a transaction runs: the caller holds jf_mutex. There a breakpoint of a kprobe
 * ends the way, since what stood there is not known; a kprobe that was optimised is
 * followed through its copy to where it leads back.
 *
 * On arm64 a breakpoint takes the place of the whole instruction, and there is nothing to
 * guess by. There the search ends with -EAGAIN, the caller has kprobes tell what the
 * instruction is (jf_arch_uncover()), and asks again.
 *
 * Once the way is lost, what has not been reached may be led to from there. So, for
 * the second question, each place in that counts that looks like a jump to where a
 * function begins, with an INT3 in place of its first byte, too. That finds too much
 * rather than too little. Only jumps by a pointer are not found, which is an error for
 * jf_arch_jumps(); of code that branches led to branch.h excludes them. On arm64 a
 * breakpoint that is no kprobe's (a debugger's) is as little known as one by a pointer.
 *
 * A trap may be a warning, after which a CPU goes on: for the first question it ends
 * the way, for jumps that leave the text it does not.
 */
#include "arch/arch.h"

#include "arch/reach.h"

#include <linux/bitmap.h>
#include <linux/bsearch.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#ifdef CONFIG_ARM64
#include "arm64/protocol/flow.h"
#else
#include "x86/protocol/insn.h"
#include "x86/protocol/flow.h"
#endif

struct jf_step {
	unsigned long	from;
	unsigned long	to;
};

/**
 * struct jf_walk - a walk through the text of a function
 * @ask:  what is asked for
 * @size: bytes of the text
 * @seen: a bit for each of these: it has been reached
 * @todo: where to go on
 * @num:  how many these are
 * @max:  for how many there is room
 * @tells: call @ask->left, and miss no jump
 * @at:   the instruction that is being followed; 0: none
 * @step: from which instruction to which one that went, if @keeps
 * @num_steps: how many these are
 * @max_steps: for how many there is room
 * @keeps: keep that
 * @lost: the way went on where it cannot be followed
 * @away: it may have left the text there, by a pointer
 */
struct jf_walk {
	struct jf_text_ask	*ask;
	size_t			size;
	unsigned long		*seen;
	unsigned long		*todo;
	unsigned int		num, max;
	bool			tells;
	bool			lost, away;
	unsigned long		at;
	struct jf_step		*step;
	unsigned int		num_steps, max_steps;
	bool			keeps;
};

/* The bit of a byte of the text, or -1. */
static long jf_walk_bit(const struct jf_walk *w, unsigned long addr)
{
	unsigned int i;
	long bit = 0;

	for (i = 0; i < w->ask->text->num; i++) {
		const struct jf_span *s = &w->ask->text->span[i];

		if (addr >= s->start && addr < s->end)
			return bit + (addr - s->start);
		bit += s->end - s->start;
	}
	return -1;
}

static int jf_walk_keep(struct jf_walk *w, unsigned long to)
{
	int err;

	if (!w->keeps || !w->at || !to)
		return 0;
	err = jf_grow((void **)&w->step, w->num_steps, &w->max_steps,
		      sizeof(*w->step));
	if (!err)
		w->step[w->num_steps++] = (struct jf_step){ w->at, to };
	return err;
}

static int jf_walk_to(struct jf_walk *w, unsigned long addr)
{
	int err;

	if (jf_walk_bit(w, addr) < 0)
		return w->tells ? w->ask->left(addr, w->ask->arg) : 0;
	err = jf_walk_keep(w, addr);
	if (!err)
		err = jf_grow((void **)&w->todo, w->num, &w->max,
			      sizeof(*w->todo));
	if (!err)
		w->todo[w->num++] = addr;
	return err;
}

static const struct jf_span *jf_walk_kept(const struct jf_walk *w,
					  unsigned long addr)
{
	return w->ask->kept ? jf_spans_find(&w->ask->kept->text, addr) : NULL;
}

#ifdef CONFIG_ARM64
/* What stood at @addr before a kprobe was set there, as far as it is known. */
static void jf_walk_bare(const struct jf_walk *w, unsigned long addr, u8 *bytes)
{
	struct jf_hidden *h = &w->ask->hidden;
	unsigned int i;

	if (!IS_ALIGNED(addr, JF_INSN_SIZE) || !jf_insn_may_hide(bytes))
		return;
	for (i = 0; i < h->num && h->at[i].addr != addr; i++)
		;
	if (i < h->num) {
		if (h->at[i].told && h->at[i].insn)
			jf_insn_store(bytes, h->at[i].insn);
		return;
	}
	if (jf_grow((void **)&h->at, h->num, &h->max, sizeof(*h->at))) {
		h->err = -ENOMEM;
		return;
	}
	h->at[h->num++] = (struct jf_hidden_insn){ .addr = addr };
	h->untold = true;
}

/* -EAGAIN: the search has to be repeated, -ENOMEM, or 0. */
static int jf_walk_unseen(const struct jf_walk *w)
{
	const struct jf_hidden *h = &w->ask->hidden;

	return h->err ?: h->untold ? -EAGAIN : 0;
}
#else
static void jf_walk_bare(const struct jf_walk *w, unsigned long addr, u8 *bytes)
{
}

static int jf_walk_unseen(const struct jf_walk *w)
{
	return 0;
}
#endif

/* The bytes at @addr, as far as the text goes; zeros follow. */
static bool jf_walk_read(const struct jf_walk *w, unsigned long addr, u8 *bytes)
{
	const struct jf_span *s = jf_spans_find(w->ask->text, addr);
	const struct jf_span *kept = jf_walk_kept(w, addr);
	size_t size = min_t(size_t, JF_INSN_LONGEST, s->end - addr);

	memset(bytes, 0, JF_INSN_LONGEST);
	if (kept) {
		memcpy(bytes, w->ask->kept->bytes + kept->tag +
		       (addr - kept->start), min(size, kept->end - addr));
		/* A kprobe may have been set before that was read, and be gone. */
		if (!jf_insn_may_hide(bytes))
			return true;
	}
	if (copy_from_kernel_nofault(bytes, (void *)addr, size))
		return false;
	jf_walk_bare(w, addr, bytes);
	return true;
}

/* Where the kernel's own key leads whose site this is; NULL: it is none, or not known. */
static const struct jf_fork *jf_walk_fork(const struct jf_walk *w,
					  unsigned long addr)
{
	const struct jf_kept *kept = w->ask->kept;

	if (!kept || !kept->num_forks)
		return NULL;
	return bsearch(&addr, kept->fork, kept->num_forks,
		       sizeof(*kept->fork), jf_addr_cmp);
}

static int jf_walk_site(struct jf_walk *w, const struct jf_site *site,
			unsigned long *next)
{
	unsigned int ways = JF_WAY_STRAIGHT | JF_WAY_LABEL;

	if (w->ask->ways && !w->tells)
		ways = w->ask->ways(site, w->ask->arg);
	if (ways & JF_WAY_STRAIGHT)
		*next = site->addr + JF_ARCH_SITE_SIZE;
	return ways & JF_WAY_LABEL ? jf_walk_to(w, site->label) : 0;
}

/*
 * Does a site lead to what follows a call? Then that is no continuation of the code
 * with the call, as far as is known: the called function may not return.
 */
static bool jf_is_label(const struct jf_walk *w, unsigned long addr)
{
	const struct jf_spans *text = w->ask->text;
	const struct jf_site *site;
	unsigned int i;

	for (i = 0; i < text->num; i++)
		for (site = jf_site_next(text->span[i].start, text->span[i].end);
		     site; site = jf_site_next(site->addr + 1, text->span[i].end))
			if (site->flags & JF_SITE_BRANCH && site->label == addr)
				return true;
	return false;
}

/* As far as a kprobe's copy of instructions and what surrounds them may reach. */
#define JF_DETOUR_SIZE	512

/* Generated code at @to: if it leads back into the text, go on there. */
static int jf_walk_detour(struct jf_walk *w, unsigned long to)
{
	u8 bytes[JF_INSN_SIZE];
	unsigned int i;
	uint64_t back;

	for (i = 0; i < JF_DETOUR_SIZE; i += JF_INSN_ALIGN) {
		if (copy_from_kernel_nofault(bytes, (void *)to + i,
					     sizeof(bytes)))
			break;
		if (jf_insn_decode(jf_insn_load(bytes), to + i, &back) ==
		    JF_INSN_JMP && jf_walk_bit(w, back) >= 0)
			return jf_walk_to(w, back);
	}
	w->lost = true;
	w->away = true;
	return 0;
}

#ifdef CONFIG_ARM64
/* Where the module loader's veneer at @to leads, if there is one. */
static unsigned long jf_walk_past(unsigned long to)
{
	uint64_t target;
	u32 veneer[3];

	if (!copy_from_kernel_nofault(veneer, (void *)to, sizeof(veneer)) &&
	    jf_insn_veneer(veneer, to, &target))
		return target;
	return to;
}
#else
static unsigned long jf_walk_past(unsigned long to)
{
	return to;
}
#endif

/* To what an instruction names: in the text, or elsewhere. */
static int jf_walk_jump(struct jf_walk *w, unsigned long to)
{
	to = jf_walk_past(to);
	if (jf_walk_bit(w, to) < 0) {
		switch (w->ask->callee(to)) {
		case JF_CALLEE_ENDS:
			return 0;
		case JF_CALLEE_AWAY:
			return jf_walk_detour(w, to);
		case JF_CALLEE_PLAIN:
			break;
		}
	}
	return jf_walk_to(w, to);
}

/* *@next: it returns to there. */
static int jf_walk_call(struct jf_walk *w, unsigned long target,
			unsigned long ret, unsigned long *next)
{
	int err = 0;

	target = jf_walk_past(target);
	/* A part that is called is another way into the text. */
	if (jf_walk_bit(w, target) >= 0)
		err = jf_walk_to(w, target);
	else if (w->ask->callee(target) == JF_CALLEE_ENDS)
		return 0;
	if (w->tells || !jf_is_label(w, ret))
		*next = ret;
	return err;
}

#ifdef CONFIG_ARM64
static int jf_walk_away(struct jf_walk *w, const u8 *bytes)
{
	w->lost = true;
	w->away = true;
	return 0;
}
#else
/*
 * Where the compiler puts no retpolines it makes tables for switch statements, of
 * addresses in the function: jmp *table(,%reg,8). 0: it is no such jump.
 */
static unsigned long jf_jump_table(const u8 *p)
{
	p += *p == 0x3e;		/* notrack */
	p += (*p & 0xf0) == 0x40;
	if (p[0] != 0xff || p[1] != 0x24 || (p[2] & 0xc7) != 0xc5)
		return 0;
	return __jf_disp32(p + 3);
}

/* Does a table begin here, for some jump of the text? */
static bool jf_is_table(const struct jf_walk *w, unsigned long addr)
{
	const struct jf_spans *text = w->ask->text;
	u8 bytes[JF_INSN_LONGEST];
	unsigned long at;
	unsigned int i;

	for (i = 0; i < text->num; i++)
		for (at = text->span[i].start; at < text->span[i].end; at++)
			if (jf_walk_read(w, at, bytes) && jf_jump_table(bytes) == addr)
				return true;
	return false;
}

/*
 * To each entry, if this is such a jump. The table ends where the next one begins, or
 * what is no address of the text.
 */
static int jf_walk_away(struct jf_walk *w, const u8 *bytes)
{
	unsigned long to, table = jf_jump_table(bytes), at = table;
	int err = 0;

	for (; table && !err; at += sizeof(to)) {
		if (copy_from_kernel_nofault(&to, (void *)at, sizeof(to)) ||
		    jf_walk_bit(w, to) < 0 || (at != table && jf_is_table(w, at)))
			break;
		err = jf_walk_to(w, to);
	}
	if (at == table) {
		w->lost = true;
		w->away = true;
	}
	return err;
}
#endif

/* One instruction. *@next: the one that is executed after it; 0: none. */
static int jf_walk_insn(struct jf_walk *w, unsigned long addr, size_t *size,
			unsigned long *next)
{
	const struct jf_site *site = jf_site_find(addr);
	const struct jf_fork *fork;
	u8 bytes[JF_INSN_LONGEST];
	enum jf_insn_flow flow;
	uint64_t target = 0;
	int err = 0;

	*next = 0;
	*size = JF_ARCH_SITE_SIZE;
	if (site && site->flags & JF_SITE_BRANCH)
		return jf_walk_site(w, site, next);
	if (!jf_walk_read(w, addr, bytes)) {
		w->lost = true;
		w->away = true;
		*size = 1;
		return 0;
	}
	*size = jf_insn_length(bytes) ?: 1;
	fork = jf_walk_fork(w, addr);
	if (fork) {
		*next = addr + *size;
		return jf_walk_to(w, fork->to);
	}
	flow = jf_insn_flow(bytes, addr, &target);
	switch (flow) {
	case JF_FLOW_CALL:
		err = jf_walk_call(w, target, addr + *size, next);
		break;
	case JF_FLOW_NEXT:
		*next = addr + *size;
		break;
	case JF_FLOW_BRANCH:
		*next = addr + *size;
		fallthrough;
	case JF_FLOW_JUMP:
		err = jf_walk_jump(w, target);
		break;
	case JF_FLOW_END:
		/* It may be a kprobe's: then this is still to be found out. */
		if (jf_insn_may_hide(bytes)) {
			w->lost = true;
			*size = 0;
		}
		/* It may be a warning's, and not a return. */
		if (w->tells && jf_insn_may_warn(bytes))
			*next = addr + *size;
		break;
	case JF_FLOW_AWAY:
	case JF_FLOW_UNKNOWN:
		err = jf_walk_away(w, bytes);
		break;
	}
	return err;
}

static int jf_walk_all(struct jf_walk *w)
{
	unsigned int insns = 0;
	int err = 0;

	while (!err && w->num) {
		unsigned long addr = w->todo[--w->num], next;

		for (; !err && addr; addr = next) {
			long bit = jf_walk_bit(w, addr);
			size_t size;

			if (bit < 0) {
				w->lost = true;
				w->away = true;
				break;
			}
			if (test_bit(bit, w->seen))
				break;
			w->at = addr;
			err = jf_walk_insn(w, addr, &size, &next);
			err = err ?: jf_walk_keep(w, next);
			bitmap_set(w->seen, bit, min(size, w->size - bit));
			if (!(++insns % 1024))
				cond_resched();
		}
	}
	return err;
}

/* What looks like a jump to @to, of which it is not known whether it is executed. */
static int jf_walk_guess(struct jf_walk *w, unsigned long to)
{
	if (jf_walk_bit(w, to) >= 0 || !w->ask->begins(to))
		return 0;
	switch (w->ask->callee(to)) {
	case JF_CALLEE_PLAIN:
		return w->ask->left(to, w->ask->arg);
	case JF_CALLEE_AWAY:	/* a retpoline */
		w->away = true;
		break;
	case JF_CALLEE_ENDS:
		break;
	}
	return 0;
}

#ifdef CONFIG_ARM64
/* All that the instruction at @addr may be. */
static int jf_walk_guess_at(struct jf_walk *w, unsigned long addr, const u8 *b)
{
	uint64_t to;

	if (!IS_ALIGNED(addr, JF_INSN_SIZE))
		return 0;
	switch (jf_insn_flow(b, addr, &to)) {
	case JF_FLOW_BRANCH:
	case JF_FLOW_JUMP:
		return jf_walk_guess(w, jf_walk_past(to));
	case JF_FLOW_AWAY:
		w->away = true;
		break;
	case JF_FLOW_END:
		/* What a kprobe is on may be a jump to anywhere. */
		w->away |= jf_insn_may_hide(b);
		break;
	default:
		break;
	}
	return 0;
}

/* That has been told. */
static void jf_walk_guess_away(struct jf_walk *w, unsigned long start, unsigned long end)
{
}
#else
/*
 * Then the compiler makes no jump by memory. Most of what looks like one is the end of a
 * displacement, and a nop.
 */
#define JF_RETPOLINES	(IS_ENABLED(CONFIG_RETPOLINE) || \
			 IS_ENABLED(CONFIG_MITIGATION_RETPOLINE))

/* The ModRM byte of a jump by a pointer: jmp *%reg, or by memory. */
static bool jf_is_pointer(u8 modrm)
{
	return JF_RETPOLINES ? (modrm & 0xf8) == 0xe0 : (modrm & 0x38) == 0x20;
}

/* All that the bytes at @addr may be. */
static int jf_walk_guess_at(struct jf_walk *w, unsigned long addr, const u8 *b)
{
	bool probed = b[0] == JF_OPCODE_INT3;
	int err = 0;

	/* Nothing tells it from some others that a kprobe is on. */
	if (probed && jf_is_pointer(b[1]))
		w->away = true;
	if (probed || b[0] == JF_OPCODE_JMP)
		err = jf_walk_guess(w, addr + 5 + __jf_disp32(b + 1));
	if (!err && (probed || b[0] == 0x0f) && (b[1] & 0xf0) == 0x80)
		err = jf_walk_guess(w, addr + 6 + __jf_disp32(b + 2));
	if (!err && (probed || b[0] == 0xeb || (b[0] & 0xf0) == 0x70))
		err = jf_walk_guess(w, addr + 2 + __jf_disp8(b + 1));
	return err;
}

/*
 * Is there a jump by a pointer in a piece that has not been reached? It is too short to
 * be told by its bytes, so they have to be where an instruction begins. If a kprobe
 * stands in front, it hides how long its instruction is: then from each place on at
 * which the next one may begin. (They soon meet.)
 */
static void jf_walk_guess_away(struct jf_walk *w, unsigned long start, unsigned long end)
{
	u8 bytes[JF_INSN_LONGEST];
	unsigned int skip;
	uint64_t target;
	size_t len;

	for (skip = 0; skip <= JF_INSN_LONGEST && !w->away; skip++) {
		unsigned long at = start + skip;

		/* From another kprobe on it is done anew. */
		for (; at < end && jf_walk_read(w, at, bytes) &&
		     (at == start || bytes[0] != JF_OPCODE_INT3); at += len) {
			len = jf_insn_length(bytes);
			if (!len)
				break;
			/* If it is a register, the instruction ends with it. */
			w->away |= jf_insn_flow(bytes, at, &target) == JF_FLOW_AWAY &&
				   (!JF_RETPOLINES || jf_is_pointer(bytes[len - 1]));
		}
	}
}
#endif

/* The way was lost: search what it has not reached. */
static int jf_walk_sweep(struct jf_walk *w)
{
	const struct jf_spans *text = w->ask->text;
	unsigned int i;
	size_t bit = 0;
	int err = 0;

	for (i = 0; !err && i < text->num; i++) {
		const struct jf_span *span = &text->span[i];
		size_t end = bit + (span->end - span->start), at = bit;
		size_t piece = bit;

		for (; !err && (at = find_next_zero_bit(w->seen, end, at)) < end;
		     at++) {
			unsigned long addr = span->start + (at - bit);
			u8 bytes[JF_INSN_LONGEST];
			bool reads = jf_walk_read(w, addr, bytes);

			if (reads && (at >= piece || jf_insn_may_hide(bytes))) {
				piece = find_next_bit(w->seen, end, at);
				jf_walk_guess_away(w, addr, span->start + (piece - bit));
			}
			if (reads)
				err = jf_walk_guess_at(w, addr, bytes);
			if (!(at % 1024))
				cond_resched();
		}
		bit = end;
	}
	return err;
}

/* From each entry, which is the tag of its span. */
static int jf_walk(struct jf_walk *w)
{
	const struct jf_spans *text = w->ask->text;
	unsigned int i;
	int err = 0;

	for (i = 0; i < text->num; i++)
		w->size += text->span[i].end - text->span[i].start;
	w->seen = kvcalloc(BITS_TO_LONGS(w->size), sizeof(long), GFP_KERNEL);
	if (!w->seen)
		return -ENOMEM;
	for (i = 0; !err && i < text->num; i++)
		if (jf_spans_find(text, text->span[i].tag) == &text->span[i])
			err = jf_walk_to(w, text->span[i].tag);
	return err ?: jf_walk_all(w);
}

static void jf_walk_end(struct jf_walk *w)
{
	kvfree(w->seen);
	kvfree(w->todo);
	kvfree(w->step);
}

/* Add what has not been reached. */
static int jf_walk_add_rest(const struct jf_walk *w, struct jf_spans *s)
{
	const struct jf_spans *text = w->ask->text;
	unsigned long from, to;
	unsigned int i;
	size_t bit = 0;
	int err = 0;

	for (i = 0; !err && i < text->num; i++) {
		const struct jf_span *span = &text->span[i];
		size_t end = bit + (span->end - span->start);

		for (from = find_next_zero_bit(w->seen, end, bit);
		     !err && from < end;
		     from = find_next_zero_bit(w->seen, end, to)) {
			to = find_next_bit(w->seen, end, from);
			err = jf_spans_add(s, span->start + (from - bit),
					   span->start + (to - bit));
		}
		bit = end;
	}
	return err;
}

/* To where sites led before, in what has not been reached. */
static int jf_walk_to_former(struct jf_walk *w)
{
	const struct jf_spans *text = w->ask->text;
	const struct jf_site *site;
	unsigned int i, ways;
	int err = 0;

	for (i = 0; i < text->num; i++) {
		for (site = jf_site_next(text->span[i].start, text->span[i].end);
		     !err && site;
		     site = jf_site_next(site->addr + 1, text->span[i].end)) {
			if (!(site->flags & JF_SITE_BRANCH))
				continue;
			ways = w->ask->ways(site, w->ask->arg);
			if (ways & JF_WAY_WAS_LABEL)
				err = jf_walk_to(w, site->label);
			if (!err && ways & JF_WAY_WAS_STRAIGHT)
				err = jf_walk_to(w, site->addr + JF_ARCH_SITE_SIZE);
		}
	}
	return err;
}

int jf_arch_add_former(struct jf_spans *s, struct jf_text_ask *ask)
{
	struct jf_walk w = { .ask = ask };
	int err = jf_walk(&w) ?: jf_walk_unseen(&w) ?: jf_walk_add_rest(&w, s);

	/* Then through that, for what it jumps to. */
	w.tells = true;
	w.lost = false;
	err = err ?: jf_walk_to_former(&w);
	err = err ?: jf_walk_all(&w);
	if (!err && w.lost)
		err = jf_walk_sweep(&w);
	jf_walk_end(&w);
	return err ?: jf_walk_unseen(&w);
}

int jf_arch_jumps(struct jf_text_ask *ask)
{
	struct jf_walk w = { .ask = ask, .tells = true };
	int err = jf_walk(&w);

	if (!err && w.lost)
		err = jf_walk_sweep(&w);
	jf_walk_end(&w);
	return err ?: jf_walk_unseen(&w) ?: w.away ? -ENOENT : 0;
}

static bool jf_is_among(unsigned long addr, const unsigned long *list, unsigned int num)
{
	while (num--)
		if (list[num] == addr)
			return true;
	return false;
}

int jf_arch_leading(struct jf_text_ask *ask, unsigned long to,
		    unsigned long *from, unsigned int max)
{
	struct jf_walk w = { .ask = ask, .keeps = true };
	unsigned int i, step, num = 0;
	int err = jf_walk(&w);

	for (i = 0; !err && num < max && i <= num; i++) {
		unsigned long place = i ? from[i - 1] : to;

		for (step = 0; step < w.num_steps && num < max; step++)
			if (w.step[step].to == place &&
			    !jf_is_among(w.step[step].from, from, num))
				from[num++] = w.step[step].from;
	}
	jf_walk_end(&w);
	return err ?: num;
}
