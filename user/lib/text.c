// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Changes of text that is no site: the world of common/x86/protocol.h once more, for instructions
 * of any length, of code that was not built with us.
 *
 *	bytes			the text that a CPU can execute
 *	O0 O1 O2 O3 O4		old: one instruction, of which the first bytes are replaced, or all
 *   1	CC O1 O2 O3 O4		old, or traps
 *	sync
 *   2	CC N1 N2 N3 N4		traps
 *	sync
 *   3	N0 N1 N2 N3 N4		new
 *	sync
 *
 * The handler sends a thread that meets the breakpoint to a copy of the instruction. No breakpoint
 * is left when it is done, unless it is the wanted state. The way back is the same.
 *
 * One jump may take the place of several instructions. A thread may be at any of these: it was
 * preempted there, or is in a signal handler that came there, for any time. So that is done while
 * there is one thread alone; or while none runs: another process stops all of them, looks where
 * they are, and writes (jf_text_change.outside). It writes, too, where a thread blocks SIGTRAP; and
 * in place of breakpoints wherever it can, since a thread may block SIGTRAP the next moment, as
 * before vfork(). A process that is killed in the midst of one write to two pages leaves half of
 * it: such places are not its. choose() decides which.
 *
 * Where byte 0 alone changes, and is no breakpoint before or after it, there is no midst: one store
 * of one byte does it, which each thread sees or does not. That takes no breakpoint and no signal.
 * A transaction of nothing else is carried out so.
 *
 * In the protocol's terms: byte 0 is the head; all else are tails. The guard is always INT3: flags
 * may be live here.
 *
 * A thread that blocks SIGTRAP dies of a breakpoint. Those that do so now are a reason not to
 * begin, but for those in the SIGTRAP handler itself, which leaves SIGSTKFLT out of its mask to be
 * known. One that does so for a moment, as the C library in the midst of fork() or
 * pthread_create(), is waited for; one that begins to in the some 100 us that a change takes, and
 * executes that very text then, is not seen.
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

/* The next write: bytes side by side. */
static struct {
	uintptr_t	addr;
	size_t		num;
	uint8_t		bytes[16];
	int		err;
} run;

/* Best first. */
enum how {
	HOW_STORES,		/* one byte each, whatever threads there are */
	HOW_ALONE,		/* there is one thread */
	HOW_OUTSIDE,		/* while no thread runs */
	HOW_LIVE,		/* by breakpoints */
};

static struct {
	const struct jf_text_poke	*texts;
	const struct jf_poke		*pokes;
	enum how			how;
	bool				alone;
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

/* Only jf_proto_verify() loads, which is not used. */
static inline jf_insn_t jf_world_load(const struct jf_poke *poke)
{
	return poke->old;
}

static inline void jf_world_store(const struct jf_poke *poke, int i, uint8_t byte)
{
	const struct jf_text_poke *t = text_of(poke);

	if (!i || (i < t->num && t->old[i] != t->new[i]))
		run_add(t->addr + (uintptr_t)i, byte);
}

static inline bool jf_world_swap(const struct jf_poke *poke, uint8_t from, uint8_t to)
{
	const struct jf_text_poke *t = text_of(poke);
	bool same = byte_at(t->addr) == from;
	int k;

	for (k = 1; k < t->num; k++)
		same &= byte_at(t->addr + (uintptr_t)k) == t->old[k];
	if (!same) {
		/* After any failure the bytes that were set must be taken back. */
		run_flush();
		run.err = 0;
		return false;
	}
	run_add(t->addr, to);
	return true;
}

/* Where breakpoints lead is right before and after: see jf_text_poke.to. */
static inline void jf_world_publish(const struct jf_poke *poke)
{
	(void)poke;
}

static inline void jf_world_sync(void)
{
	run_flush();
	if (!jf_sync_cores() && !run.err)
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

#include "common/x86/protocol.h"

/* --- threads that block SIGTRAP --------------------------------------------------- */

struct linux_dirent {
	uint64_t	ino;
	int64_t		off;
	uint16_t	len;
	uint8_t		type;
	char		name[];
};

#define BIT(sig)	(UINT64_C(1) << ((sig) - 1))

/* Of task_struct.flags: a worker of io_uring; from Linux 6.4 on, each of the kernel's threads. */
#define IO_WORKER	0x10UL
#define USER_WORKER	0x4000UL

/* The first bytes of a thread's file, as a string: how many, or -errno. */
static int read_of_thread(const char *tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd, err;

	if (snprintf(path, sizeof(path), "/proc/self/task/%.20s/%s", tid, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	err = n < 0 ? -errno : (int)n;
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return err;
}

/* A thread of the kernel for this process blocks all signals, and executes none of its text. */
static bool is_kernels(const char *tid)
{
	unsigned long flags, workers = jf_kernel_since(6, 4) ? IO_WORKER | USER_WORKER : IO_WORKER;
	char text[512];
	const char *at;

	if (read_of_thread(tid, "stat", text, sizeof(text)) <= 0)
		return false;
	/* Its name can have parentheses, too. */
	at = strrchr(text, ')');
	return at && sscanf(at, ") %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 && flags & workers;
}

/*
 * 1: it does, or that cannot be told. 0: it does not, or has ended. -errno: this thread can look at
 * no file now.
 */
static int blocks_trap(const char *tid)
{
	static char text[4096];
	uint64_t blocked;
	const char *mask;
	int n = read_of_thread(tid, "status", text, sizeof(text));

	if (n < 0)
		return n == -ENOENT || n == -ESRCH ? 0 : n;
	mask = strstr(text, "\nSigBlk:\t");
	if (!mask)
		return 1;
	blocked = strtoull(mask + strlen("\nSigBlk:\t"), NULL, 16);
	return blocked & BIT(SIGTRAP) && (~blocked & ~(BIT(SIGKILL) | BIT(SIGSTOP))) != BIT(SIGSTKFLT) &&
	       !is_kernels(tid);
}

/* As the one above. By system calls, since memory that libc would allocate is the program's. */
static int any_blocks_trap(void)
{
	static char buf[4096] __attribute__((__aligned__(8)));
	int found = 0, fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n = 0, at;

	/* There is no /proc: it cannot be told. */
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	while (!found && (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (at = 0; at < n && !found; at += ((struct linux_dirent *)(buf + at))->len) {
			const char *name = ((struct linux_dirent *)(buf + at))->name;

			found = *name != '.' ? blocks_trap(name) : 0;
		}
	if (n < 0)
		found = -errno;
	close(fd);
	return found;
}

#define BLOCK_TRIES	50

/* In the helper, whose table of descriptors has room. */
static int wait_for_blocked(void)
{
	static const struct timespec t = { .tv_nsec = 2000000 };
	int i, found;

	for (i = 0; (found = any_blocks_trap()) > 0; i++) {
		if (i == BLOCK_TRIES)
			return -EAGAIN;
		nanosleep(&t, NULL);
	}
	return found;
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
	int err = 0;

	for (i = 0; i < c->nr_pokes && !err; i++)
		err = jf_stop_set(c->pokes[i].addr, c->pokes[i].to);
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

/*
 * Only a writer that writes in place: it writes to any mapping, and changes no byte but those that
 * it should.
 */
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

/*
 * The writer is the only thread: it must come upon no half of an instruction. So all of
 * a place is written by one system call, which runs through no function that may be the place.
 */
static void patch_alone(const struct jf_text_change *c)
{
	sigset_t all, old;
	size_t i;

	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	/* The writer can come upon breakpoints that are there for good. */
	sigdelset(&all, SIGTRAP);
	sigprocmask(SIG_BLOCK, &all, &old);
	for (i = 0; i < c->nr_pokes && !run.err; i++)
		run.err = jf_writer_write(c->pokes[i].addr, c->pokes[i].new, c->pokes[i].num);
	jf_sync_self();
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static int patch_live(const struct jf_text_change *c, const struct jf_poke *pokes)
{
	int tries, err = jf_proto_live(pokes, c->nr_pokes);

	if (err == -EIO)
		err = now.unplanted == -ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	/* There is no way back: a step that failed for want of memory must not do so twice. */
	for (tries = 0; !err && run.err && tries < 3; tries++) {
		if (tries && begin_write(c) == -EOPNOTSUPP)
			break;
		run.err = 0;
		jf_proto_finish(pokes, c->nr_pokes);
	}
	return err;
}

/* True if one byte alone changes, and no breakpoint. */
static bool is_store(const struct jf_text_poke *t)
{
	return !t->alone && t->old[0] != JF_OPCODE_INT3 && t->new[0] != JF_OPCODE_INT3 &&
	       !memcmp(t->old + 1, t->new + 1, t->num - 1U);
}

static bool are_stores(const struct jf_text_change *c)
{
	size_t i;

	for (i = 0; i < c->nr_pokes; i++)
		if (!is_store(&c->pokes[i]))
			return false;
	return true;
}

/* True if there is a breakpoint, or a place of several instructions. */
static bool any(const struct jf_text_change *c, bool alone)
{
	size_t i;

	for (i = 0; i < c->nr_pokes; i++)
		if (alone ? c->pokes[i].alone : c->pokes[i].old[0] == JF_OPCODE_INT3 || c->pokes[i].new[0] == JF_OPCODE_INT3)
			return true;
	return false;
}

/* A writer from outside can be killed between two pages. */
static bool any_on_two_pages(const struct jf_text_change *c)
{
	size_t i;

	for (i = 0; i < c->nr_pokes; i++)
		if (jf_text_is_on_two_pages(&c->pokes[i]))
			return true;
	return false;
}

static bool sync_all(void)
{
	if (!now.alone)
		return jf_sync_cores();
	jf_sync_self();
	return true;
}

static int store_all(const struct jf_text_change *c)
{
	size_t i;
	int err = 0, left = 0;

	/* No CPU is to have read the old bytes before the code that these lead to. */
	if (!sync_all())
		return -EOPNOTSUPP;
	for (i = 0; i < c->nr_pokes && !err; i++)
		err = jf_writer_write(c->pokes[i].addr, c->pokes[i].new, 1);
	while (err && i--)
		left |= jf_writer_write(c->pokes[i].addr, c->pokes[i].old, 1);
	/* All is written, or nothing, also where a CPU is late to see it. */
	sync_all();
	return left ? -EINTR : err;
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

/* The function for jf_writer_run(): maybe another thread than the one that asked for it. */
static int carry_out(void *arg)
{
	const struct transaction *t = arg;
	const struct jf_text_change *c = t->change;
	int err = begin_write(c);
	size_t i;

	if (!err && now.how == HOW_LIVE)
		err = wait_for_blocked();
	for (i = 0; i < c->nr_codes && !err; i++)
		err = jf_writer_write(c->codes[i].addr, c->codes[i].bytes, c->codes[i].num);
	/*
	 * Not before: a thread that met an earlier breakpoint there may ask only now where to go
	 * on. Its way back from the handler makes its CPU see the code.
	 */
	if (!err && (now.how == HOW_ALONE || now.how == HOW_LIVE))
		err = set_stops(c);
	if (err || !c->nr_pokes)
		return err;
	/* No CPU is to have read the old bytes before the code that these lead to. */
	if (now.how == HOW_OUTSIDE)
		return sync_all() ? 0 : -EOPNOTSUPP;
	if (now.how == HOW_STORES) {
		err = store_all(c);
		return err ? err : check(c);
	}
	run.err = 0;
	now.texts = c->pokes;
	now.pokes = t->pokes;
	if (now.how == HOW_ALONE)
		patch_alone(c);
	else
		err = patch_live(c, t->pokes);
	return err ? err : check(c);
}

static int choose(const struct jf_text_change *c)
{
	now.alone = jf_single_threaded();
	if (are_stores(c))
		now.how = HOW_STORES;
	else if (now.alone)
		now.how = HOW_ALONE;
	else if (c->outside && !any(c, false) && !any_on_two_pages(c))
		now.how = HOW_OUTSIDE;
	else if (!any(c, true))
		now.how = HOW_LIVE;
	else
		return -EPERM;
	return 0;
}

/* The checks before any change. */
static int begin(struct jf_text_change *c)
{
	int err = jf_options()->off ? -EOPNOTSUPP : 0;

	if (!err)
		err = verify(c);
	if (!err)
		err = choose(c);
	/* A breakpoint may stay for good, and a thread may come later. */
	if (!err && (now.how == HOW_LIVE || (now.how == HOW_ALONE && any(c, false))))
		err = jf_trap_install();
	if (!err && !now.alone && jf_sync_begin())
		err = -EOPNOTSUPP;
	return err;
}

/* The number of pokes that are not old; -1: all are new. */
static int count_written(const struct jf_text_change *c)
{
	bool all = true;
	int num = 0;
	size_t i;

	for (i = 0; i < c->nr_pokes; i++) {
		num += memcmp((const void *)c->pokes[i].addr, c->pokes[i].old, c->pokes[i].num) != 0;
		all &= !memcmp((const void *)c->pokes[i].addr, c->pokes[i].new, c->pokes[i].num);
	}
	return all ? -1 : num;
}

/* Not in the helper: the check has a descriptor of this thread's. */
static int by_outside(struct jf_text_change *c)
{
	int err = c->outside(c->pokes, c->nr_pokes, &c->bad), num;

	if (!err)
		return check(c);
	/* The last answer can be lost. */
	num = count_written(c);
	if (num)
		return num < 0 ? 0 : -EINTR;
	return err == -EINPROGRESS || err == -EILSEQ || err == -EACCES ? err : -ETIMEDOUT;
}

static int carry_out_any(struct jf_text_change *c, struct transaction *t)
{
	int err = jf_writer_run(carry_out, t), live;

	if (err || now.how != HOW_OUTSIDE || !c->nr_pokes)
		return err;
	err = by_outside(c);
	if ((err != -EACCES && err != -ETIMEDOUT) || any(c, true))
		return err;
	/* The threads cannot be stopped. */
	now.how = HOW_LIVE;
	live = jf_trap_install();
	if (!live)
		live = jf_writer_run(carry_out, t);
	return live == -EAGAIN ? err : live;
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
		err = carry_out_any(c, &t);
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
	jf_writer_lend(change->mem);
	err = change_locked(change);
	jf_writer_lend(0);
	jf_unlock();
	return err;
}

void __jf_text_forget(uintptr_t start, uintptr_t end)
{
	jf_lock();
	jf_stop_forget(start, end);
	jf_unlock();
}
