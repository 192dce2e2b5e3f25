// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * One transaction: the world of common/x86/protocol.h in a process. The steps, and why
 * they are right, stand there.
 *
 * A write of text is a system call. So the bytes of a step are collected, and
 * handed to the writer in runs. Each sync begins with the last run, so no byte of
 * a step is written after the sync that ends it.
 *
 * If there are many sites, a run has those that are close to each other, and what
 * lies between two of them is written back as it was. It is never more than some pages,
 * which take the kernel some ten microseconds, and looked at just before. A tracer's
 * breakpoint that is set there between the look and the write is lost. One that is taken
 * away must not come back, for no tracer would answer it: so bytes that look like one are not
 * written, unless the file has it, too. Up to EXACT_MAX sites nothing is written but they.
 *
 * To write a run is not to compare and exchange. A byte that changes between the
 * look at it and the write is lost if another process writes it, which has to
 * stop this one, or to be a uprobe. A lost breakpoint is found afterwards, and is -EIO.
 *
 * The writer is asked beforehand, about each page. If it fails all the same in
 * the middle, nothing is written from then on, or half an instruction might be
 * executed. If it failed to set guards, those that are there are taken back, and
 * nothing has changed. Later there is no way back: the rest is tried again. If
 * that fails, too, guards stay, and the code after them decides: correct and slow.
 * A broadcast that fails is the same. A branch with a guard acts as its nop: if it was to jump,
 * that is -EIO. The present instructions of the sites are noted, so that each later change can try
 * again from there, also one to the values that are set already.
 */
#include "lib.h"

#include <signal.h>
#include <string.h>

#ifndef EXACT_MAX
#define EXACT_MAX	64
#endif
/*
 * So many bytes that are not ours may be in a run, one beside the other. To write a page
 * takes the kernel about as long as to begin a write.
 */
#define GAP		2048
#define PAGE_BYTES	4096
/* See JF_SITE_PREFIX. */
#define PREFIX		0x2e
/*
 * Limits of a run. A write of 16 pages takes the kernel, for each page, two thirds of the time of a
 * write of one page; and the more they are, the longer ago the text between sites was looked at.
 */
#define RUN_PAGES	16

/*
 * @bytes is the text from @addr on: up to @num with the new instructions, after that, up to
 * @copied, as it was when the page was reached. The page at @torn has bytes that may be a
 * breakpoint: it is copied from site to site.
 */
static struct {
	uintptr_t addr;
	size_t num, copied;
	uintptr_t torn;
	int err;
	bool exact;
	uint8_t bytes[RUN_PAGES * PAGE_BYTES];
} run;

static void run_flush(void)
{
	if (run.num && !run.err)
		run.err = jf_writer_write(run.addr, run.bytes, run.num);
	run.num = 0;
	run.copied = 0;
}

static uintptr_t page_of(uintptr_t addr)
{
	return addr & ~(uintptr_t)(PAGE_BYTES - 1);
}

/*
 * Bytes of the text after those that are copied, up to @end, which are in one page, as
 * they are, unless one of them may be a breakpoint. Looked at is the copy: the text may be
 * another one by now.
 */
static bool run_copy(uintptr_t end)
{
	uintptr_t from = run.addr + run.copied;
	size_t num = end - from;

	if (!jf_writer_copy(run.bytes + run.copied, from, num))
		return false;
	run.copied += num;
	return true;
}

/* All the rest of @page, so that further sites there find the bytes between them copied. */
static bool run_copy_page(uintptr_t page)
{
	if (page == run.torn)
		return false;
	if (run_copy(page + PAGE_BYTES))
		return true;
	run.torn = page;
	return false;
}

/* The run goes on to @addr. False: the bytes between may be a breakpoint. */
static bool run_reach(uintptr_t addr)
{
	uintptr_t page = page_of(addr);

	/* The end of the page before. */
	if (run.addr + run.copied < page && !run_copy(page))
		return false;
	return run_copy_page(page) || run_copy(addr);
}

/*
 * If possible at the beginning of the page: the kernel writes so much as a page at a time,
 * and where that lies in two pages it has to look up, and to mark, each of them twice.
 */
static void run_begin(uintptr_t addr)
{
	uintptr_t page = page_of(addr);

	run.addr = page;
	if (!run.exact && addr - page <= GAP && run_copy_page(page))
		return;
	run.addr = addr;
	if (!run.exact)
		run_copy_page(page);
}

/* A byte that is not copied yet, or lies before the run. */
static void run_break(uintptr_t addr)
{
	uintptr_t end = run.addr + run.num;
	bool near = run.num && addr >= end && addr - end <= (run.exact ? 0 : GAP);

	if (near && run.exact && addr % PAGE_BYTES)
		goto add;
	if (near && !run.exact && addr < page_of(run.addr) + sizeof(run.bytes) && run_reach(addr))
		goto add;
	run_flush();
	run_begin(addr);
add:
	if (run.copied <= addr - run.addr)
		run.copied = addr - run.addr + 1;
}

static inline void run_add(uintptr_t addr, uint8_t byte)
{
	size_t at = addr - run.addr;

	/* Of one that comes before it the difference is a large number. */
	if (at < run.num || at >= run.copied) {
		run_break(addr);
		at = addr - run.addr;
	}
	run.bytes[at] = byte;
	run.num = at + 1;
}

/* --- the world of the protocol ---------------------------------------------- */

static bool alone;
/* Why some guard is not there. */
static int unplanted;
/* The one whose value was stored last, in this transaction. */
static const struct jf_ctl *applied;

/*
 * The opcode of a call that changes by relays is never written. A breakpoint there is not in the
 * way: a debugger executes the present call without it; for a uprobe's the kernel obeys the file,
 * and calls the trampoline.
 */
static inline jf_insn_t jf_world_load(const struct jf_poke *poke)
{
	jf_insn_t insn = jf_insn_load((const void *)poke->addr);

	if (jf_site_relays(poke->site) && jf_insn_byte(insn, 0) == JF_OPCODE_INT3)
		insn = (insn & ~0xffULL) | jf_insn_byte(poke->site->compiled, 0);
	return insn;
}

static inline int world_head(const struct jf_poke *poke)
{
	return jf_site_relays(poke->site) ? JF_INSN_SIZE - 1 : 0;
}
#define jf_world_head		world_head

static inline void jf_world_store(const struct jf_poke *poke, int i, uint8_t byte)
{
	if (i || !jf_site_relays(poke->site))
		run_add(poke->addr + (uintptr_t)i, byte);
}

/*
 * The bytes before a site are never written. Were it a uprobe's breakpoint, the kernel would
 * execute the file's instruction there, whatever is changed after it.
 */
static int check_prefix(const struct jf_poke *poke)
{
	uint8_t have;

	if (!(poke->site->flags & JF_SITE_PREFIX))
		return 0;
	have = ((const volatile uint8_t *)poke->addr)[-1];
	if (have == PREFIX)
		return 0;
	return have == JF_OPCODE_INT3 ? -EBUSY : -EILSEQ;
}

static inline bool jf_world_swap(const struct jf_poke *poke, uint8_t from, uint8_t to)
{
	uintptr_t head = poke->addr + (uintptr_t)world_head(poke);

	if (*(const volatile uint8_t *)head != from || check_prefix(poke)) {
		/* Whatever failed, breakpoints that were set have to be taken back. */
		run_flush();
		run.err = 0;
		return false;
	}
	run_add(head, to);
	return true;
}

/*
 * The value first: the old instruction of an unpatched site loads it, and so
 * decides as the word does from then on. Release: a handler that loads the word sees
 * the code that the new instruction leads to.
 */
static inline void jf_world_publish(const struct jf_poke *poke)
{
	if (poke->site->ctl != applied)
		jf_ctl_apply(poke->site->ctl);
	applied = poke->site->ctl;
	/* Pairs with the load in emulate() (trap.c). */
	atomic_store_explicit(&poke->site->insn, poke->new, memory_order_release);
}

static inline void jf_world_sync(void)
{
	run_flush();
	if (alone)
		jf_sync_self();
	else if (!jf_sync_cores() && !run.err)
		run.err = -EOPNOTSUPP;
}

/* If not, the writes that take back those that are there begin without an error. */
static inline bool is_planted(void)
{
	unplanted = run.err;
	run.err = 0;
	return !unplanted;
}
#define jf_world_planted()	is_planted()

/*
 * A trampoline's next instruction jumps through the pointer that is published; a branch acts as the
 * nop, which is the old instruction or the new one. A guard that stays after a change that was
 * taken back acts as the old instruction.
 */
static uint8_t head_meanwhile;

/*
 * A former call of a probe: at a function's end it returns during the change, as when it is off. A
 * test changes its operand alone, so its first byte is no other one: it gives the old value or the
 * new one.
 */
static inline uint8_t jf_world_guard(const struct jf_poke *poke)
{
	if (jf_site_relays(poke->site))
		return poke->site->guard;
	if (head_meanwhile == JF_OPCODE_INT3 || !(poke->site->flags & (JF_SITE_TAIL | JF_SITE_TEST)))
		return head_meanwhile;
	return poke->site->flags & JF_SITE_TAIL ? JF_OPCODE_RET : JF_OPCODE_MOV;
}
#define jf_world_guard		jf_world_guard

#include "common/x86/protocol.h"

/* --- transactions ----------------------------------------------------------- */

/* True if sites can be changed while other threads execute them. */
static int begin_live(void)
{
	int err = jf_sync_begin();

	if (err)
		jf_say(true, "no membarrier(): %s", jf_error(-err));
	if (!err && jf_options()->int3) {
		err = jf_trap_install();
		if (err)
			jf_say(true, "no handler for SIGTRAP: %s", jf_error(-err));
	}
	return err;
}

static uintptr_t ends_in(const struct jf_poke *poke, uintptr_t mask)
{
	return (poke->addr + JF_INSN_SIZE - 1) & mask;
}

static int begin_write(const struct jf_poke *pokes, size_t num)
{
	uintptr_t mask = ~((uintptr_t)jf_page_size() - 1), page = 0, *addrs;
	size_t i, nr = 0;
	int err;

	/* One for each page is enough, and one that may lead into the next. */
	for (i = 0; i < num; i++) {
		nr += ends_in(&pokes[i], mask) != page;
		page = ends_in(&pokes[i], mask);
	}
	addrs = jf_alloc(nr * sizeof(*addrs));
	if (!addrs)
		return -ENOMEM;
	for (i = 0, nr = 0, page = 0; i < num; i++) {
		if (ends_in(&pokes[i], mask) != page)
			addrs[nr++] = pokes[i].addr;
		page = ends_in(&pokes[i], mask);
	}
	err = jf_writer_begin(addrs, nr);
	jf_free(addrs);
	return err;
}

static bool unfinished;

bool jf_patch_incomplete(void)
{
	return __atomic_load_n(&unfinished, __ATOMIC_RELAXED);
}

/*
 * A uprobe stood at the site itself, not at its prefix, and has gone while another instruction
 * was there than in the file, whose first byte stands there now. Whatever executes that is
 * lost; so nothing does, and it can be changed like an instruction that is as it should be.
 */
static bool is_torn(const struct jf_poke *poke, jf_insn_t have)
{
	return have == ((poke->old & ~0xffULL) | jf_insn_byte(poke->site->compiled, 0));
}

static int verify(struct jf_poke *pokes, size_t num)
{
	size_t i, bad = 0;
	int err = 0;

	for (i = 0; i < num && !err; i++) {
		jf_insn_t have = jf_world_load(&pokes[i]);

		bad = i;
		err = check_prefix(&pokes[i]);
		if (err || have == pokes[i].old)
			continue;
		/* A breakpoint of our own, with any operand after it. */
		if ((pokes[i].site->left && jf_insn_byte(have, 0) == JF_OPCODE_INT3) ||
		    is_torn(&pokes[i], have))
			pokes[i].old = have;
		else
			err = jf_proto_compare(have, pokes[i].old);
	}
	if (err)
		jf_say(true, "%s: another writer has changed %#lx",
		       pokes[bad].site->ctl->ent->name,
		       (unsigned long)pokes[bad].addr);
	return err;
}

/* It has stopped in the middle: the present instruction, as far as it is known. */
static bool is_left_behind(const struct jf_poke *poke, jf_insn_t have)
{
	uint8_t head = jf_insn_byte(have, world_head(poke));

	if (!run.err || (have != poke->old && head != jf_world_guard(poke)))
		return false;
	/* The handler goes on to obey the word. */
	poke->site->left = head == JF_OPCODE_INT3 && !jf_site_relays(poke->site);
	if (poke->site->left)
		return true;
	/* Pairs with emulate(), which sees nothing new: this has stood there before. */
	atomic_store_explicit(&poke->site->insn, have, memory_order_release);
	if (jf_site_relays(poke->site))
		return head == jf_world_guard(poke);
	/* A trampoline with a guard loads its pointer; a branch acts as the nop. */
	return head == JF_OPCODE_TEST &&
	       (poke->site->flags & JF_SITE_TRAMP || poke->new == jf_insn_nop());
}

/* True if all sites hold the written instruction. */
static int check(const struct jf_poke *pokes, size_t num)
{
	const struct jf_poke *first = NULL;
	size_t i, bad = 0;

	unfinished |= run.err != 0;
	for (i = 0; i < num; i++) {
		jf_insn_t have = jf_world_load(&pokes[i]);

		if (have == pokes[i].new)
			pokes[i].site->left = false;
		if (have == pokes[i].new || is_left_behind(&pokes[i], have))
			continue;
		if (!bad++)
			first = &pokes[i];
	}
	if (!bad)
		return 0;
	jf_say(false, "%s: the site %#lx does not hold what was written, one of %zu",
	       first->site->ctl->ent->name, (unsigned long)first->addr, bad);
	return -EIO;
}

/*
 * Guards were taken back, maybe not all of them. The code after the remaining ones decides as
 * before, and the next transaction begins with them.
 */
static void note_undone(const struct jf_poke *pokes, size_t num)
{
	size_t i;

	unfinished |= run.err != 0;
	for (i = 0; i < num && run.err; i++)
		is_left_behind(&pokes[i], jf_world_load(&pokes[i]));
}

/*
 * A step that failed for want of memory must not do so twice. If the writer was taken away,
 * there may be another one.
 */
static void finish(const struct jf_poke *pokes, size_t num)
{
	int tries;

	for (tries = 0; run.err && tries < 3; tries++) {
		if (tries && begin_write(pokes, num) == -EOPNOTSUPP)
			return;
		run.err = 0;
		jf_proto_finish(pokes, num);
	}
}

static int patch_live(const struct jf_poke *pokes, size_t num)
{
	uint64_t start = jf_now_ns(), took;
	int err;

	alone = false;
	err = jf_proto_live(pokes, num);
	if (err)
		note_undone(pokes, num);
	else
		finish(pokes, num);
	if (err == -EIO)
		err = unplanted == -ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	took = jf_now_ns() - start;
	if (!err && took > jf_stats.window_ns)
		jf_stats.window_ns = took;
	return err;
}

/*
 * A signal handler might execute them, so signals are blocked. The handler of a sandbox,
 * which answers system calls, finds sites whole, except one that lies in two pages.
 */
static void patch_alone(const struct jf_poke *pokes, size_t num)
{
	sigset_t all, old;

	alone = true;
	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	/* The code that writes can meet an agent's breakpoints (text.c). */
	sigdelset(&all, SIGTRAP);
	sigprocmask(SIG_BLOCK, &all, &old);
	jf_proto_early(pokes, num);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

struct transaction {
	struct jf_poke *pokes;
	size_t num;
	bool is_alone;
};

/* A core may have fetched something else from a relay's address before. */
static int write_relays(const struct transaction *t)
{
	bool some;
	int err = jf_relays_write(&some);

	if (!err && some && !t->is_alone && !jf_sync_cores())
		err = -EOPNOTSUPP;
	return err == -ENOMEM || !err ? err : -EOPNOTSUPP;
}

/* Called by jf_writer_run(), maybe in another thread than the one that asked for it. */
static int carry_out(void *arg)
{
	const struct transaction *t = arg;
	int err = begin_write(t->pokes, t->num);

	if (!err)
		err = write_relays(t);
	if (err)
		return err;
	run.err = 0;
	run.torn = 0;
	head_meanwhile = jf_options()->int3 ? JF_OPCODE_INT3 : JF_OPCODE_TEST;
	run.exact = t->num <= EXACT_MAX && jf_writer_in_place();
	applied = NULL;
	if (t->is_alone)
		patch_alone(t->pokes, t->num);
	else
		err = patch_live(t->pokes, t->num);
	if (err)
		return err;
	jf_stats.patched += t->num;
	return check(t->pokes, t->num);
}

/* The checks before anything is changed. */
static int begin(struct transaction *t)
{
	int err = jf_pokes_sort(t->pokes, t->num);

	if (!err)
		err = verify(t->pokes, t->num);
	/* Something is denied by now: with one thread there is no need of it. */
	if (!err && !t->is_alone && begin_live()) {
		t->is_alone = jf_single_threaded();
		err = t->is_alone ? 0 : -EOPNOTSUPP;
	}
	return err;
}

int jf_patch(struct jf_poke *pokes, size_t num, bool is_alone)
{
	struct transaction t = { pokes, num, is_alone };
	int err = num ? begin(&t) : 0;

	if (!err && num)
		err = jf_writer_run(carry_out, &t);
	/* It may have been a helper that was synchronised. */
	if (!err && t.is_alone)
		jf_sync_self();
	return err;
}
