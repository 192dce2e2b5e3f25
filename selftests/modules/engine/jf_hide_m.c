// SPDX-License-Identifier: GPL-2.0
/* Targets that lead away from themselves, for jf_hide.ko. */
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/string.h>

#include "../test_compat.h"
#include "jf_hide.h"

static char *way = "tail";
module_param(way, charp, 0444);
MODULE_PARM_DESC(way, "the target to put in: tail, copied, part, last or plain");

/* tail: its last act is to call a function beside it, which sleeps. */
static noinline u64 hide_tail_helper(u64 x)
{
	atomic_inc(&hide_inside);
	hide_wait();
	atomic_dec(&hide_inside);
	/* A compiler that knew the result would not jump here. */
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

static noinline u64 hide_tail(u64 x)
{
	return hide_tail_helper(x + 2);
}

/*
 * copied: one long instruction. An optimised kprobe on it leads to a copy, and
 * a task that is interrupted in there has no trace of this text on the stack. What
 * follows makes room for the jump: nothing jumps into it.
 */
static noinline u64 hide_copied(u64 x)
{
	unsigned long n = HIDE_ROOM;
	void *p = hide_room;

	atomic_inc(&hide_inside);
#ifdef CONFIG_X86_64
	asm volatile("rep stosb\n\t"
		     ".byte 0x0f, 0x1f, 0x44, 0, 0\n\t"
		     "nop\n\tnop\n\tnop\n\tnop"
		     : "+D" (p), "+c" (n) : "a" (0) : "memory");
#else
	memset(p, 0, n);	/* No kprobe is optimised here. */
#endif
	atomic_dec(&hide_inside);
	return x + 3;
}

/* Where the instruction is in there. */
static int offset = -1;
module_param(offset, int, 0444);
MODULE_PARM_DESC(offset, "read it: where to put a probe in hide_copied()");

static void find_offset(void)
{
	static const u8 insn[] = { 0xf3, 0xaa, 0x0f, 0x1f, 0x44, 0, 0 };
	const u8 *text = (const u8 *)hide_copied;
	int i;

	for (i = 0; i < 100; i++) {
		if (memcmp(text + i, insn, sizeof(insn)))
			continue;
		offset = i;
		return;
	}
}

/* What is there: an INT3 at first, and e9 when the kprobe's jump to its copy is. */
static int opcode_get(char *buf, const struct kernel_param *kp)
{
	const u8 *text = (const u8 *)hide_copied;

	return scnprintf(buf, PAGE_SIZE, "%02x\n", offset < 0 ? 0 : READ_ONCE(text[offset]));
}

static const struct kernel_param_ops opcode_ops = { .get = opcode_get };
module_param_cb(opcode, &opcode_ops, NULL, 0444);
MODULE_PARM_DESC(opcode, "read it: the first byte of that instruction");

/*
 * part: when the compiler inlines its beginning into its callers, the rest is a
 * function of its own, to which this one jumps.
 */
static bool part_on = true;
module_param(part_on, bool, 0644);
MODULE_PARM_DESC(part_on, "keeps the compiler from knowing");
static atomic_t part_seen[6];

static u64 hide_part(u64 x)
{
	if (likely(!READ_ONCE(part_on)))
		return x;
	atomic_inc(&hide_inside);
	atomic_add(x, &part_seen[0]);
	atomic_add(x, &part_seen[1]);
	atomic_add(x, &part_seen[2]);
	hide_wait();
	atomic_add(x, &part_seen[3]);
	atomic_add(x, &part_seen[4]);
	/* It has a value of its own, or there would be a call of it, not a jump. */
	x += atomic_add_return(x, &part_seen[5]);
	atomic_dec(&hide_inside);
	return x;
}

static int part_calls(const char *val, const struct kernel_param *kp)
{
	return hide_part(1) + hide_part(strlen(val)) + hide_part(3) ? 0 : -EIO;
}

static const struct kernel_param_ops part_ops = { .set = part_calls };
module_param_cb(part_calls, &part_ops, NULL, 0200);
MODULE_PARM_DESC(part_calls, "so that there are calls of that one");

/*
 * last: the call of a function that does not return is the last instruction, and the next function
 * begins where it ends. Each of the first two is a target.
 */
static noinline __noreturn void hide_for_good(void)
{
	atomic_inc(&hide_inside);
	hide_wait();
	atomic_dec(&hide_inside);
	hide_leaves();
	test_thread_exit(NULL);
}

#if __has_attribute(__no_reorder__)
#define HIDE_IN_ORDER	noinline __noclone __attribute__((__no_reorder__))
#else
#define HIDE_IN_ORDER	noinline
#endif
#ifdef CONFIG_X86_64
#define HIDE_LAST_ROOM()	asm volatile(".balign 16, 0x90\n\t.skip 11, 0x90")
#else
#define HIDE_LAST_ROOM()	asm volatile(".balign 16\n\tnop\n\tnop\n\tnop")
#endif
/* So that it ends where a function may begin, with the call. */
#define HIDE_LAST_CALL()				\
	do {						\
		HIDE_LAST_ROOM();			\
		hide_for_good();			\
	} while (0)

static HIDE_IN_ORDER __no_sanitize_address u64 hide_before(u64 x)
{
	HIDE_LAST_CALL();
}

static HIDE_IN_ORDER __no_sanitize_address u64 hide_last(u64 x)
{
	HIDE_LAST_CALL();
}

static HIDE_IN_ORDER u64 hide_next(u64 x)
{
	return x + 5;
}

/* True if calls stand where the text of these two begins. Some kernels pad that. */
static int touching_get(char *buf, const struct kernel_param *kp)
{
	const u8 *last = (const u8 *)hide_last, *next = (const u8 *)hide_next;
	int pad = IS_ENABLED(CONFIG_CALL_PADDING) ? 16 : 0;

	if (IS_ENABLED(CONFIG_ARM64))	/* bl */
		return scnprintf(buf, PAGE_SIZE, "%d\n",
				 last[-1] >> 2 == 0x25 && next[-1] >> 2 == 0x25);
	return scnprintf(buf, PAGE_SIZE, "%d\n",
			 last[-5 - pad] == 0xe8 && next[-5 - pad] == 0xe8);
}

static const struct kernel_param_ops touching_ops = { .get = touching_get };
module_param_cb(touching, &touching_ops, NULL, 0444);
MODULE_PARM_DESC(touching, "read it: 1 if a function begins where the last call of another one ends");

/* plain: no task was ever in there. */
static noinline u64 hide_plain(u64 x)
{
	return x + 4;
}

static int __init hide_m_init(void)
{
	find_offset();
	if (!strcmp(way, "tail"))
		return dynfunc_update(hide_op, hide_tail);
	if (!strcmp(way, "copied"))
		return dynfunc_update(hide_op, hide_copied);
	if (!strcmp(way, "part"))
		return dynfunc_update(hide_op, hide_part);
	if (!strcmp(way, "last"))
		return dynfunc_update(hide_op, hide_last) ?:
		       dynfunc_update(hide_other, hide_before);
	if (!strcmp(way, "plain"))
		return dynfunc_update(hide_other, hide_plain);
	return -EINVAL;
}

/* All is left to jumpfunc. */
static void __exit hide_m_exit(void)
{
}

module_init(hide_m_init);
module_exit(hide_m_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Targets that lead away from themselves");
