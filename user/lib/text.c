// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Changes of text that is no site: the world of x86/protocol/protocol.h once more, for instructions
 * of any length, of code that was not built with us.
 *
 * A site holds one instruction of five bytes, and so no thread is ever in the midst of it. Here one
 * jump may take the place of several instructions, and a thread may be at any of these: it was
 * preempted there, or is in a signal handler that came there, for any time. So:
 *
 *	bytes			what a CPU may execute
 *	O0 O1 | O2 O3 | O4	old: three instructions
 *   1	CC O1 | CC O3 | CC	old, or traps: each begin of an instruction is a breakpoint
 *	sync
 *   2	CC N1 | CC N3 | CC	traps
 *	sync
 *   3	N0 N1 | CC N3 | CC	new; or traps, a thread that is still in the midst
 *	sync
 *
 * The handler sends a thread that meets a breakpoint to a copy of the instruction that stood there. What
 * the jump has in the midst stays a breakpoint: its distance is chosen so (agent/place.c). So there
 * is nothing to wait for, and a branch into the midst, by a table that cannot be seen say, leads to
 * the copy, too. The way back is the same, with the breakpoints of the midst in step 3.
 *
 * In the protocol's terms: byte 0 is the head, and with it go the other begins of instructions; all
 * else are tails. The guard is always INT3: flags may be live here.
 *
 * A thread that blocks SIGTRAP dies of a breakpoint. Those that do so now are a reason not to begin, but
 * for those in the SIGTRAP handler itself, which leaves SIGSTKFLT out of its mask to be known. One
 * that does so for a moment, as the C library in the midst of fork() or pthread_create(), is waited for;
 * one that begins to in the some 100 us that a change takes, and executes that very text then, is not
 * seen.
 */
#include "lib.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

/* What is written next: bytes side by side. */
static struct {
	uintptr_t	addr;
	size_t		num;
	uint8_t		bytes[16];
	int		err;
} run;

static struct {
	const struct jf_text_poke	*texts;
	const struct jf_poke		*pokes;
	bool				alone;
	bool				published;
	int				unplanted;
} now;

static void run_flush(void)
{
	if (run.num && !run.err)
		run.err = jf_writer_write(run.addr, run.bytes, run.num);
	run.num = 0;
}

static void run_add(uintptr_t addr, uint8_t byte)
{
	if (run.num == sizeof(run.bytes) || addr != run.addr + run.num) {
		run_flush();
		run.addr = addr;
	}
	run.bytes[run.num++] = byte;
}

static const struct jf_text_poke *text_of(const struct jf_poke *poke)
{
	return &now.texts[poke - now.pokes];
}

static uint8_t byte_at(uintptr_t addr)
{
	return *(const volatile uint8_t *)addr;
}

/* --- the world of the protocol ---------------------------------------------------- */

/* Is byte @i, not 0, where an instruction begins? */
static bool is_stop(const struct jf_text_poke *t, int i)
{
	return i < t->num && t->stops >> i & 1;
}

/* Only jf_proto_verify() loads, which is not used. */
static inline jf_insn_t jf_world_load(const struct jf_poke *poke)
{
	return poke->old;
}

static inline void jf_world_store(const struct jf_poke *poke, int i, uint8_t byte)
{
	const struct jf_text_poke *t = text_of(poke);
	int k;

	if (i) {
		if (i < t->num && !is_stop(t, i) && t->old[i] != t->new[i])
			run_add(t->addr + (uintptr_t)i, byte);
		return;
	}
	run_add(t->addr, byte);
	for (k = 1; k < t->num; k++)
		if (is_stop(t, k))
			run_add(t->addr + (uintptr_t)k, now.published ? t->new[k] : t->old[k]);
}

static inline bool jf_world_swap(const struct jf_poke *poke, uint8_t from, uint8_t to)
{
	const struct jf_text_poke *t = text_of(poke);
	bool same = byte_at(t->addr) == from;
	int k;

	for (k = 1; k < t->num; k++)
		same &= byte_at(t->addr + (uintptr_t)k) == t->old[k];
	if (!same) {
		/* Whatever failed, what was set is to be taken back. */
		run_flush();
		run.err = 0;
		return false;
	}
	run_add(t->addr, to);
	for (k = 1; k < t->num; k++)
		if (is_stop(t, k))
			run_add(t->addr + (uintptr_t)k, to);
	return true;
}

/* Where breakpoints lead is right before and after: see jf_text_poke.to. */
static inline void jf_world_publish(const struct jf_poke *poke)
{
	(void)poke;
	now.published = true;
}

static inline void jf_world_sync(void)
{
	run_flush();
	if (now.alone)
		jf_sync_self();
	else if (!jf_sync_cores() && !run.err)
		run.err = -EOPNOTSUPP;
}

/* If not, the writes that take back those that are there begin without an error. */
static inline bool is_planted(void)
{
	now.unplanted = run.err;
	run.err = 0;
	return !now.unplanted;
}
#define jf_world_planted()	is_planted()

#include "x86/protocol/protocol.h"

/* --- threads that block SIGTRAP --------------------------------------------------- */

struct linux_dirent {
	uint64_t	ino;
	int64_t		off;
	uint16_t	len;
	uint8_t		type;
	char		name[];
};

#define BIT(sig)	(UINT64_C(1) << ((sig) - 1))

/* By system calls, since what libc would allocate is the program's. */
static bool blocks_trap(const char *tid)
{
	static char text[4096];
	char path[64];
	uint64_t blocked;
	const char *mask;
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", tid) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	mask = strstr(text, "\nSigBlk:\t");
	if (!mask)
		return false;
	blocked = strtoull(mask + strlen("\nSigBlk:\t"), NULL, 16);
	return blocked & BIT(SIGTRAP) && (~blocked & ~(BIT(SIGKILL) | BIT(SIGSTOP))) != BIT(SIGSTKFLT);
}

static bool any_blocks_trap(void)
{
	static char buf[4096] __attribute__((__aligned__(8)));
	long n, at, fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;

	if (fd < 0)
		return false;
	while (!found && (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (at = 0; at < n && !found; at += ((struct linux_dirent *)(buf + at))->len) {
			const char *name = ((struct linux_dirent *)(buf + at))->name;

			found = *name != '.' && blocks_trap(name);
		}
	close((int)fd);
	return found;
}

#define BLOCK_TRIES	50

static int wait_for_blocked(void)
{
	static const struct timespec t = { .tv_nsec = 2000000 };
	int i;

	for (i = 0; any_blocks_trap(); i++) {
		if (i == BLOCK_TRIES)
			return -EAGAIN;
		nanosleep(&t, NULL);
	}
	return 0;
}

/* --- transactions ----------------------------------------------------------------- */

/* A breakpoint, or the call that Linux 6.18 makes of one on five bytes of nothing. */
static int why_other(const struct jf_text_poke *t)
{
	static const uint8_t nop[JF_TEXT_MAX] = { 0x0f, 0x1f, 0x44, 0, 0 };
	int i;

	for (i = 0; i < t->num; i++)
		if (byte_at(t->addr + (uintptr_t)i) == JF_OPCODE_INT3 && t->old[i] != JF_OPCODE_INT3)
			return -EBUSY;
	if (t->num == JF_TEXT_MAX && !memcmp(t->old, nop, sizeof(nop)) &&
	    byte_at(t->addr) == JF_OPCODE_CALL)
		return -EBUSY;
	return -EILSEQ;
}

static int verify_one(const struct jf_text_poke *t)
{
	/* A jump takes five bytes, also where some of them stay: they are part of its distance. */
	int i, size = t->new[0] == JF_OPCODE_JMP ? JF_TEXT_MAX : t->num;

	if (!t->num || t->num > JF_TEXT_MAX)
		return -EINVAL;
	for (i = 0; i < t->num; i++)
		if (byte_at(t->addr + (uintptr_t)i) != t->old[i])
			return why_other(t);
	return jf_sites_in(t->addr, t->addr + (uintptr_t)size);
}

static int verify(struct jf_text_change *c)
{
	size_t i;
	int err;

	for (i = 0; i < c->nr_pokes; i++) {
		c->bad = i;
		err = i && c->pokes[i].addr < c->pokes[i - 1].addr + c->pokes[i - 1].num ? -EINVAL : 0;
		if (!err)
			err = verify_one(&c->pokes[i]);
		if (err)
			return err;
	}
	return 0;
}

static int set_stops(const struct jf_text_change *c)
{
	size_t i;
	int k, err = 0;

	for (i = 0; i < c->nr_pokes && !err; i++)
		for (k = 0; k < c->pokes[i].num && !err; k++)
			if (!k || is_stop(&c->pokes[i], k))
				err = jf_stop_set(c->pokes[i].addr + (uintptr_t)k, c->pokes[i].to[k]);
	return err;
}

static size_t add_pages(uintptr_t *addrs, size_t nr, uintptr_t from, size_t num)
{
	uintptr_t size = jf_page_size(), page;

	/* The begin of the page: five bytes from there on are in it. */
	for (page = from & ~(size - 1); page < from + num; page += size)
		if (!nr || addrs[nr - 1] != page)
			addrs[nr++] = page;
	return nr;
}

static int by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

/* Only what writes in place: it writes to any mapping, and changes no byte but those that it should. */
static int begin_write(const struct jf_text_change *c)
{
	size_t i, nr = 0, max = 2 * c->nr_pokes + 2 * c->nr_codes;
	uintptr_t *addrs = jf_alloc(max * sizeof(*addrs));
	int err;

	if (!addrs)
		return -ENOMEM;
	for (i = 0; i < c->nr_codes; i++)
		nr = add_pages(addrs, nr, c->codes[i].addr, c->codes[i].num < 4096 ? c->codes[i].num : 4096);
	for (i = 0; i < c->nr_pokes; i++)
		nr = add_pages(addrs, nr, c->pokes[i].addr, c->pokes[i].num);
	err = jf_sort(addrs, nr, sizeof(*addrs), by_address);
	if (!err)
		err = jf_writer_begin(addrs, nr);
	jf_free(addrs);
	return err || jf_writer_in_place() ? err : -EOPNOTSUPP;
}

static void patch_alone(const struct jf_poke *pokes, size_t num)
{
	sigset_t all, old;

	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	/* What writes may come upon breakpoints that are there for good. */
	sigdelset(&all, SIGTRAP);
	sigprocmask(SIG_BLOCK, &all, &old);
	now.published = true;
	jf_proto_early(pokes, num);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static int patch_live(const struct jf_text_change *c, const struct jf_poke *pokes)
{
	int tries, err = jf_proto_live(pokes, c->nr_pokes);

	if (err == -EIO)
		err = now.unplanted == -ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	/* There is no way back: what failed for want of memory may not do so twice. */
	for (tries = 0; !err && run.err && tries < 3; tries++) {
		if (tries && begin_write(c) == -EOPNOTSUPP)
			break;
		run.err = 0;
		jf_proto_finish(pokes, c->nr_pokes);
	}
	return err;
}

static int check(const struct jf_text_change *c)
{
	size_t i;
	int k;

	for (i = 0; i < c->nr_pokes; i++)
		for (k = 0; k < c->pokes[i].num; k++)
			if (byte_at(c->pokes[i].addr + (uintptr_t)k) != c->pokes[i].new[k]) {
				jf_say(false, "%#lx does not hold what was written", (unsigned long)c->pokes[i].addr);
				return -EIO;
			}
	return 0;
}

struct transaction {
	struct jf_text_change	*change;
	struct jf_poke		*pokes;
};

/* What jf_writer_run() runs: maybe another thread than the one that asked for it. */
static int carry_out(void *arg)
{
	const struct transaction *t = arg;
	const struct jf_text_change *c = t->change;
	int err = begin_write(c);
	size_t i;

	for (i = 0; i < c->nr_codes && !err; i++)
		err = jf_writer_write(c->codes[i].addr, c->codes[i].bytes, c->codes[i].num);
	/*
	 * Not before: a thread that met an earlier breakpoint there may ask only now where to go on. Its way back
	 * from the handler makes its CPU see the code.
	 */
	if (!err)
		err = set_stops(c);
	if (err || !c->nr_pokes)
		return err;
	run.err = 0;
	now.texts = c->pokes;
	now.pokes = t->pokes;
	now.published = false;
	if (now.alone)
		patch_alone(t->pokes, c->nr_pokes);
	else
		err = patch_live(c, t->pokes);
	return err ? err : check(c);
}

/* What is asked before anything is changed. */
static int begin(struct jf_text_change *c)
{
	int err = jf_options()->off ? -EOPNOTSUPP : 0;

	if (!err)
		err = verify(c);
	now.alone = jf_single_threaded();
	/* A breakpoint may stay for good, and a thread may come later. */
	if (!err)
		err = jf_trap_install();
	if (!err && !now.alone)
		err = wait_for_blocked();
	if (!err && !now.alone && jf_sync_begin())
		err = -EOPNOTSUPP;
	return err;
}

static int change_locked(struct jf_text_change *c)
{
	struct transaction t = { c, NULL };
	size_t i;
	int k, err;

	t.pokes = jf_zalloc(c->nr_pokes * sizeof(*t.pokes) + 1);
	if (!t.pokes)
		return -ENOMEM;
	for (i = 0; i < c->nr_pokes; i++) {
		t.pokes[i].addr = c->pokes[i].addr;
		for (k = 0; k < c->pokes[i].num; k++) {
			t.pokes[i].old |= (jf_insn_t)c->pokes[i].old[k] << 8 * k;
			t.pokes[i].new |= (jf_insn_t)c->pokes[i].new[k] << 8 * k;
		}
	}
	err = begin(c);
	if (!err)
		err = jf_writer_run(carry_out, &t);
	/* It may have been a helper that was synchronised. */
	if (!err && now.alone)
		jf_sync_self();
	if (!err)
		jf_replaced();
	jf_free(t.pokes);
	return err;
}

int __jf_text_change(struct jf_text_change *change)
{
	int err = jf_lock_to_change();

	if (err)
		return err;
	change->bad = 0;
	err = change_locked(change);
	jf_unlock();
	return err;
}

void __jf_text_forget(uintptr_t start, uintptr_t end)
{
	jf_lock();
	jf_stop_forget(start, end);
	jf_unlock();
}
