// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The rare work of a thread that comes by a probe: the first record of a thread, and the next
 * packet. It makes files and maps memory. That is done on a stack of its own, with all vector
 * registers saved and signals blocked, and the probes of libc's functions in that work are not
 * recorded (jf_agent_busy). The hook for objects that are loaded (come.c) runs in the same way.
 *
 * Beneath a filter that the program has installed no system call is made: then a thread prepares
 * the next packet on a stack that is there already, one thread at a time.
 *
 * Here are also the other things that a thread would ask the kernel for: its number, and the time.
 */
#include "ring.h"
#include "aside.h"
#include "saved.h"
#include "seccomp.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jumpfunc/record.h>

#include "user/trace/provider.h"

extern bool __jf_writer_next_as(uint32_t len, uint16_t id);

bool jf_without_counter;

/* entry.S: calls @fn with registers of vectors kept. */
JF_HIDDEN uint64_t jf_agent_keep(uint64_t (*fn)(uint64_t arg), uint64_t arg);
/* entry.S: calls @fn on the stack that ends at @top. */
JF_HIDDEN uint64_t jf_agent_on_stack(uint64_t (*fn)(uint64_t arg), uint64_t arg, void *top);

#define JF_FUTEX(word, op, value, timeout) \
	call6(SYS_futex, (long)(word), op, (long)(value), (long)(const struct timespec *)(timeout), 0, 0)
#include "user/trace/pi_lock.h"

/* So often one waits, for a millisecond, for a thread of another process. */
#define FOREIGN_TURNS	100
#define PAGE		4096UL

#define BIT(sig)	(UINT64_C(1) << ((sig) - 1))
/* glibc's, which ends a thread. */
#define SIGCANCEL	32
/* All signals but those that a thread causes itself. */
#define OTHERS		(~(BIT(SIGTRAP) | BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGSYS)))

/* @what: the length of a record, and its id << 32; 0: none. */
static uint64_t next_packet(uint64_t what)
{
	int saved = errno;
	bool ok = true;

	if (!__jf_reader)
		__jf_reader_list();
	if (what)
		ok = __jf_writer_next_as((uint32_t)what, (uint16_t)(what >> 32));
	errno = saved;
	return ok;
}

/**
 * struct off - where a thread is while it is aside
 * @tid:   its number, or 0: it is not, or quietly
 * @stack: on which it is
 * @end:   of that, or 0
 * @reads: it is within the read section of come_by()
 *
 * A child that was cloned with the memory of its parent, and no such variables of its own, has the
 * parent's. It can run beside it; and one of vfork() can be killed here, and leaves all of this to
 * the parent.
 */
struct off {
	uint32_t	tid;
	uintptr_t	stack;
	uintptr_t	end;
	bool		reads;
};

static __thread struct off off __attribute__((__tls_model__("initial-exec")));

/**
 * struct aside - a function that runs with the registers of vectors kept
 * @fn:   does it
 * @arg:  its argument
 * @with: with_vectors() or with_vectors_alone()
 */
struct aside {
	uint64_t	(*fn)(uint64_t arg);
	uint64_t	arg;
	uint64_t	(*with)(const struct aside *a);
};

/*
 * The thread may be in a handler on its alternate stack, which the kernel does not know here: the
 * signal of a breakpoint would begin at the top of that, and write over the handler. So no such
 * signal can come in that time.
 */
static uint64_t with_vectors(const struct aside *a)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t was;
	bool had = !call4(SYS_sigaltstack, (long)&none, (long)&was, 0, 0) && !(was.ss_flags & SS_DISABLE);
	uint64_t ret;
	int how = 0;

	/* The C library's clock reads the counter. */
	if (__atomic_load_n(&jf_without_counter, __ATOMIC_RELAXED) && !call4(SYS_prctl, PR_GET_TSC, (long)&how, 0, 0) && how == PR_TSC_SIGSEGV)
		call4(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0);
	ret = jf_agent_keep(a->fn, a->arg);
	if (how == PR_TSC_SIGSEGV)
		call4(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0);
	if (had)
		call4(SYS_sigaltstack, (long)&was, 0, 0, 0);
	return ret;
}

static uint64_t with_vectors_alone(const struct aside *a)
{
	return jf_agent_keep(a->fn, a->arg);
}

static void cancel_signal(long how)
{
	uint64_t set = BIT(SIGCANCEL);

	call4(SYS_rt_sigprocmask, how, (long)&set, 0, sizeof(set));
}

/*
 * The work is full of cancellation points, and drops locks that forbid cancelling. A cancelled
 * thread ends before or after it, by way of end_work() or end_quietly(). These run only if the
 * thread ends within a function that they wait for. So the signal that ends a thread is blocked
 * outside of this function. glibc waits for such a signal in each cancellation point: close().
 * The functions of libc that this calls use no registers of vectors.
 */
static uint64_t without_cancel(uint64_t arg)
{
	const struct aside *a = (const struct aside *)arg;
	bool blocks = !jf_is_quiet();
	int state, type, saved = errno;
	uint64_t ret;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	if (type == PTHREAD_CANCEL_ASYNCHRONOUS && blocks) {
		cancel_signal(SIG_UNBLOCK);
		close(-1);
		errno = saved;
	}
	ret = a->with(a);
	pthread_setcancelstate(state, NULL);
	if (type == PTHREAD_CANCEL_ASYNCHRONOUS) {
		pthread_setcanceltype(type, NULL);
		if (blocks)
			cancel_signal(SIG_BLOCK);
	}
	return ret;
}

/**
 * struct spare - a stack for where no memory is to be had
 * @owner: the thread that has it, by its number, or 0
 * @end:   of the stack
 */
struct spare {
	uint32_t	owner;
	char		*end;
};

/*
 * As large as is needed for a packet; and for a hook, which is called by one thread at a time: that
 * has dlopen()'s lock.
 */
static char packet_stack[JF_ASIDE_STACK] __attribute__((__aligned__(64)));
static char hook_stack[JF_HOOK_STACK] __attribute__((__aligned__(64)));
static struct spare packet_spare = { 0, packet_stack + JF_ASIDE_STACK }, hook_spare = { 0, hook_stack + JF_HOOK_STACK };

/*
 * A lost record is counted in the ring, which takes a stack: so each record comes to one. A thread
 * that has it makes no more than a packet, and no thread waits for the hook's. In a child
 * that was cloned by a system call the owner may be one that is not there; in one of vfork() it is
 * there, in the parent, and gives it back soon.
 */
static void take_spare(struct spare *s, uint32_t own)
{
	static const struct timespec a_while = { .tv_nsec = 1000000 };
	unsigned int turns = 0;
	uint32_t owner;

	while (!jf_pi_take(&s->owner, 0, own)) {
		owner = __atomic_load_n(&s->owner, __ATOMIC_RELAXED);
		if (!owner)
			continue;
		if (call4(SYS_tgkill, call4(SYS_getpid, 0, 0, 0, 0), owner & FUTEX_TID_MASK, 0, 0) == -ESRCH) {
			if (++turns > FOREIGN_TURNS && jf_pi_take(&s->owner, owner, own))
				return;
			JF_FUTEX(&s->owner, FUTEX_WAIT_PRIVATE, owner, &a_while);
		} else if (jf_pi_wait(&s->owner, own)) {
			return;
		}
	}
}

/*
 * Stacks for packets that no thread is on, or 0. A new one costs more than the packet: the kernel
 * clears its pages. One of a thread that is killed there in a child of vfork() is not given back.
 */
#define STACKS_KEPT	16U
static uintptr_t kept[STACKS_KEPT];

/* 0: no memory. */
static uintptr_t take_stack(long size)
{
	uintptr_t stack;
	unsigned int i;

	for (i = 0; size == JF_ASIDE_STACK && i < STACKS_KEPT; i++) {
		stack = __atomic_load_n(&kept[i], __ATOMIC_RELAXED);
		/* Acquire: pairs with give_stack(), in the thread that was on it before. */
		if (stack && __atomic_compare_exchange_n(&kept[i], &stack, 0, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return stack;
	}
	stack = (uintptr_t)call6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	return stack >= (uintptr_t)-4095L ? 0 : stack;
}

static void give_stack(uintptr_t stack, long size)
{
	uintptr_t none;
	unsigned int i;

	for (i = 0; size == JF_ASIDE_STACK && i < STACKS_KEPT; i++) {
		none = 0;
		/* Release: pairs with take_stack(). */
		if (__atomic_compare_exchange_n(&kept[i], &none, stack, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
	call4(SYS_munmap, (long)stack, size, 0, 0);
}

void jf_lose(void)
{
	/* Acquire: pairs with count_at(), in trace/folder.c. */
	__atomic_fetch_add(__atomic_load_n(&__jf_lost, __ATOMIC_ACQUIRE), 1, __ATOMIC_RELAXED);
}

/* True if a child has ended, or is gone. A killed child can still be a zombie. */
static bool is_gone(uint32_t tid)
{
	siginfo_t info;

	info.si_pid = 0;
	if (call4(SYS_kill, tid, 0, 0, 0) == -ESRCH)
		return true;
	return !call6(SYS_waitid, P_PID, tid, (long)&info, WEXITED | WNOHANG | WNOWAIT | __WALL, 0, 0) && info.si_pid;
}

/*
 * By its variables the thread is in the agent. Another thread with the same may be there. If that
 * one has ended, its state is void.
 */
__attribute__((__noinline__))
enum jf_other jf_aside_other(uintptr_t stack)
{
	uint32_t tid = off.tid;

	if (stack >= off.stack && stack < off.end)
		return JF_OTHER_NONE;
	/* A signal handler on a stack of its own, or one has left the quiet stack for good. */
	if (!tid)
		return off.end ? JF_OTHER_RUNS : JF_OTHER_NONE;
	if (!jf_is_quiet() && (uint32_t)call4(SYS_gettid, 0, 0, 0, 0) == tid)
		return JF_OTHER_NONE;
	if (jf_is_quiet() || !is_gone(tid))
		return JF_OTHER_RUNS;
	off.tid = 0;
	if (off.reads)
		jf_read_unlock();
	off.reads = false;
	jf_agent_busy = 0;
	return JF_OTHER_GONE;
}

/* Threads that are aside, whose system calls a filter for all of them may forbid. */
static uint32_t asides;

/**
 * struct work - what a thread gives back after its work
 * @mask:  signals that it blocked before
 * @stack: on which it was, or 0
 * @size:  of that
 * @spare: the owner of that, or NULL
 */
struct work {
	uint64_t	mask;
	uintptr_t	stack;
	long		size;
	struct spare	*spare;
};

static void end_work(const struct work *w)
{
	if (w->spare)
		jf_pi_unlock(&w->spare->owner);
	else
		give_stack(w->stack, w->size);
	jf_agent_busy--;
	off.end = 0;
	/* Pairs with jf_aside_other(). */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	off.tid = 0;
	call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&w->mask, 0, sizeof(w->mask));
	/* Pairs with jf_aside_quiet(): this thread makes no system call more. */
	__atomic_fetch_sub(&asides, 1, __ATOMIC_RELEASE);
}

/*
 * First the signals, so that no handler jumps away while this thread is busy, or takes the new
 * stack for one that is larger.
 */
uint64_t jf_aside(uint64_t (*fn)(uint64_t arg), uint64_t arg, long size)
{
	struct work w __attribute__((__cleanup__(end_work))) = { .size = size };
	const struct aside a = { fn, arg, with_vectors };
	uint64_t all = OTHERS;

	/* Pairs with jf_aside_quiet(), which waits for those that have not seen it. */
	__atomic_fetch_add(&asides, 1, __ATOMIC_SEQ_CST);
	call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&w.mask, sizeof(all));
	/* First its number: it can be killed at any point. */
	off.stack = off.end = 0;
	off.tid = (uint32_t)call4(SYS_gettid, 0, 0, 0, 0);
	/* Pairs with jf_aside_other(). */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	jf_agent_busy++;
	w.stack = take_stack(size);
	if (!w.stack) {
		w.spare = size > JF_ASIDE_STACK ? &hook_spare : &packet_spare;
		take_spare(w.spare, off.tid);
		w.stack = (uintptr_t)(w.spare->end - size);
	}
	off.stack = w.stack;
	off.end = w.stack + (uintptr_t)size;
	return jf_agent_on_stack(without_cancel, (uint64_t)(uintptr_t)&a, (char *)off.end);
}

/**
 * struct quiet - where a thread is aside that makes no system call
 * @taken: a thread has it
 * @end:   of the stack, or NULL
 *
 * Signals are not blocked: a handler finds as much room there as on the stack of a thread.
 */
static struct quiet {
	uint32_t	taken;
	char		*end;
} quiet;

#define QUIET_SIZE	(8L << 20)
#define QUIET_TURNS	1000U

static bool take_quiet(void)
{
	unsigned int turn;

	for (turn = 0; quiet.end && turn < QUIET_TURNS; turn++) {
		if (jf_pi_take(&quiet.taken, 0, 1))
			return true;
		__builtin_ia32_pause();
	}
	return false;
}

static void end_quietly(const bool *taken)
{
	if (*taken)
		/* Release: pairs with take_quiet(). */
		__atomic_store_n(&quiet.taken, 0, __ATOMIC_RELEASE);
	/* Pairs with a handler's load of it. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	jf_agent_busy--;
	off.end = 0;
}

/* False: another thread is there, and this one does not wait in the kernel. */
bool jf_aside_quietly(uint64_t (*fn)(uint64_t arg), uint64_t arg, uint64_t *ret)
{
	bool taken __attribute__((__cleanup__(end_quietly))) = false;
	const struct aside a = { fn, arg, with_vectors_alone };

	/* Handlers on other stacks count what they lose. */
	off.stack = (uintptr_t)quiet.end - QUIET_SIZE;
	off.end = (uintptr_t)quiet.end;
	/* Before, as a handler would wait for the thread that it has interrupted. */
	jf_agent_busy++;
	/* Pairs with a handler's load of it. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	taken = take_quiet();
	if (taken)
		*ret = jf_agent_on_stack(without_cancel, (uint64_t)(uintptr_t)&a, quiet.end);
	return taken;
}

/* Apart: most threads have not come to it, and need no room on the stack for it. */
__attribute__((__noinline__))
static bool rarely_quiet(uint64_t what)
{
	uint64_t ret;

	if (what && jf_aside_quietly(next_packet, what, &ret))
		return ret;
	jf_lose();
	return false;
}

bool jf_aside_packet(uint64_t what)
{
	return jf_is_quiet() ? rarely_quiet(what) : jf_aside(next_packet, what, JF_ASIDE_STACK);
}

/* In a child of fork() the number can be its parent's: no longer than this. */
#define ASIDES_MS	100

static void wait_for_others(void)
{
	static const struct timespec a_while = { .tv_nsec = 1000000 };
	/* The thread of the control socket would have the filter, too. */
	int none = jf_record_control(false);
	unsigned int turn;

	(void)none;
	/* Acquire: pairs with jf_aside(). This thread is one of them. */
	for (turn = 0; turn < ASIDES_MS && __atomic_load_n(&asides, __ATOMIC_ACQUIRE) > 1; turn++)
		nanosleep(&a_while, NULL);
	jf_filter_wait(0);
}

void jf_aside_quiet(bool others)
{
	int saved = errno;
	void *stack;

	if (!quiet.end) {
		stack = mmap(NULL, QUIET_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
		if (stack != MAP_FAILED && !mprotect(stack, PAGE, PROT_NONE))
			quiet.end = (char *)stack + QUIET_SIZE;
	}
	if (!__jf_reader)
		__jf_reader_list();
	__jf_writer_prepare();
	/* Pairs with jf_aside(). */
	__atomic_store_n(&__jf_quiet, 1, __ATOMIC_SEQ_CST);
	if (others)
		wait_for_others();
	errno = saved;
}

bool jf_agent_next(uint32_t len, uint16_t id)
{
	bool ok;

	/* Within the read section of come_by(). */
	off.reads = true;
	ok = jf_aside_packet((uint64_t)id << 32 | len);
	off.reads = false;
	return ok;
}

static uint64_t call_hook(uint64_t fn)
{
	int saved = errno;

	((void (*)(void))(uintptr_t)fn)();
	errno = saved;
	return 0;
}

void jf_agent_aside(void (*fn)(void))
{
	jf_aside(call_hook, (uint64_t)(uintptr_t)fn, JF_HOOK_STACK);
}

/* --- the clock, where it is not the processor's counter ------------------------------- */

static int (*vdso_clock)(clockid_t id, struct timespec *t);

uint64_t jf_agent_clock(void)
{
	struct timespec t = { 0, 0 };

	/* libc's own may be a probe. That of the kernel's page uses general registers, too. */
	if (vdso_clock)
		vdso_clock(CLOCK_MONOTONIC, &t);
	else
		call4(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/**
 * jf_clock_begin() - find the kernel's clock
 *
 * By a constructor. The dynamic linker's lock is taken, which dlclose() has while it waits for that
 * of the list of objects: so never within jf_modules(), which has that one.
 */
void jf_clock_begin(void)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int how = 0;

	/* It reads the counter, of which a process dies that began without the right. */
	if (!prctl(PR_GET_TSC, &how) && how == PR_TSC_SIGSEGV)
		jf_without_counter = true;
	else if (vdso)
		vdso_clock = (int (*)(clockid_t, struct timespec *))(uintptr_t)dlsym(vdso, "__vdso_clock_gettime");
}

/* --- this thread's number --------------------------------------------------------------- */

/**
 * struct known - this thread's number, of which the kernel was asked
 * @process: *alive at that time; 0: it was not
 * @tid:     the number
 */
static __thread struct known {
	uint32_t	process;
	uint32_t	tid;
} known __attribute__((__tls_model__("initial-exec")));

/* The process's number, in memory that a forked child finds empty, or NULL. */
static uint32_t *alive;

uint64_t jf_tid(void)
{
	uint32_t process = alive ? __atomic_load_n(alive, __ATOMIC_RELAXED) : 0;

	if (process && known.process == process)
		return known.tid;
	/* Without a ring nothing is recorded then. */
	if (jf_is_quiet())
		return __jf_writer && __jf_writer->packet ? __jf_writer->packet->tid : 0;
	known.tid = (uint32_t)call4(SYS_gettid, 0, 0, 0, 0);
	if (alive && !process) {
		process = (uint32_t)call4(SYS_getpid, 0, 0, 0, 0);
		__atomic_store_n(alive, process, __ATOMIC_RELAXED);
	}
	/* Pairs with a signal handler's load of it. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	known.process = process;
	return known.tid;
}

/* Linux before 4.14 cannot: then the kernel is asked each time. */
void jf_tid_begin(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, PAGE, MADV_WIPEONFORK))
		munmap(page, PAGE);
	else
		alive = page;
}

/* --- turns of those that share their variables ------------------------------------------ */

/**
 * struct turn - of those that share their variables
 * @owner: the one that records now, by its number, or 0
 * @mask:  signals that it blocked before
 */
static struct turn {
	uint32_t	owner;
	uint64_t	mask;
} turn;

/* False: this thread has it, and comes by a function that it calls itself. */
__attribute__((__noinline__))
bool jf_turn_take(void)
{
	uint32_t own = (uint32_t)call4(SYS_gettid, 0, 0, 0, 0);
	uint64_t all = OTHERS, was;

	if ((__atomic_load_n(&turn.owner, __ATOMIC_RELAXED) & FUTEX_TID_MASK) == own)
		return false;
	call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&was, sizeof(all));
	jf_pi_lock(&turn.owner, own);
	turn.mask = was;
	return true;
}

__attribute__((__noinline__))
void jf_turn_end(void)
{
	uint64_t was = turn.mask;

	jf_pi_unlock(&turn.owner);
	call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&was, 0, sizeof(was));
}
