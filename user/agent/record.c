// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The code that a thread runs at a probe: the record goes straight into the ring.
 *
 * The thread is anywhere in a program that knows nothing of this, maybe in malloc(), with the
 * dynamic linker's lock, or in a signal handler. So: no register but general ones is used (the
 * Makefile says so to the compiler), since callers may know which ones a function leaves alone; no
 * function of libc is called, for it may be a probe itself; there is no lock.
 *
 * The rare work of the ring is another matter: the first record of a thread, and the next packet.
 * It makes files and maps memory. That is done on a stack of its own, with all vector registers
 * saved and signals blocked, and the probes of libc's functions in that work are not recorded
 * (jf_agent_busy). The hook for objects that are loaded (agent.c) runs in the same way.
 *
 * The thread may be on a small stack (sigaltstack()): some hundred bytes are all that a record
 * takes of it.
 *
 * Whether a probe is on is read in a read section, which jf_probes_off() waits for.
 */
/* The ring's own code calls these in place of the library's. */
#define __jf_writer_next_as	jf_agent_next
#define __jf_clock_ns		jf_agent_clock
#include "agent.h"
#include "saved.h"
#undef __jf_writer_next_as
#undef __jf_clock_ns

#include <asm/prctl.h>
#include <cpuid.h>
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jumpfunc/record.h>

extern bool __jf_writer_next_as(uint32_t len, uint16_t id);

struct jf_spot **jf_spots;
/* Objects have come or gone while another thread had the lock of agent.c, or beneath a filter. */
bool jf_look_again;
__thread unsigned int jf_agent_busy __attribute__((__tls_model__("initial-exec")));
/* For entry.S: is there the instruction that keeps all registers. */
uint8_t jf_have_xsave JF_HIDDEN;

/* entry.S: calls @fn with registers of vectors kept. */
JF_HIDDEN uint64_t jf_agent_keep(uint64_t (*fn)(uint64_t arg), uint64_t arg);
/* entry.S: calls @fn on the stack that ends at @top. */
JF_HIDDEN uint64_t jf_agent_on_stack(uint64_t (*fn)(uint64_t arg), uint64_t arg, void *top);
/* entry.S calls this. */
JF_HIDDEN void jf_agent_record(struct jf_saved *s);

/* --- rare work --------------------------------------------------------------------- */

#define JF_FUTEX(word, op, value, timeout) \
	call6(SYS_futex, (long)(word), op, (long)(value), (long)(const struct timespec *)(timeout), 0, 0)
#include "user/trace/pi_lock.h"

/* So often one waits, for a millisecond, for a thread of another process. */
#define FOREIGN_TURNS	100
#define STACK_SIZE	(64L << 10)
/*
 * Pages that are asked of the kernel one at a time: the readable part of a string is read, whatever
 * follows it.
 */
#define PAGE		4096UL
/* A hook reads files, and looks at text. */
#define HOOK_STACK_SIZE	(256L << 10)
#define BIT(sig)	(UINT64_C(1) << ((sig) - 1))
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
 * @tid:   its number, or 0: it is not
 * @stack: on which it is
 * @end:   of that
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
 * @fn:  does it
 * @arg: its argument
 */
struct aside {
	uint64_t	(*fn)(uint64_t arg);
	uint64_t	arg;
};

/*
 * The thread may be in a handler on its alternate stack, which the kernel does not know here: the
 * signal of a breakpoint would begin at the top of that, and write over the handler. So no such
 * signal can come in that time.
 */
static uint64_t with_vectors(uint64_t arg)
{
	const struct aside *a = (const struct aside *)arg;
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t was;
	bool had = !call4(SYS_sigaltstack, (long)&none, (long)&was, 0, 0) && !(was.ss_flags & SS_DISABLE);
	uint64_t ret = jf_agent_keep(a->fn, a->arg);

	if (had)
		call4(SYS_sigaltstack, (long)&was, 0, 0, 0);
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
static char packet_stack[STACK_SIZE] __attribute__((__aligned__(64)));
static char hook_stack[HOOK_STACK_SIZE] __attribute__((__aligned__(64)));
static struct spare packet_spare = { 0, packet_stack + STACK_SIZE }, hook_spare = { 0, hook_stack + HOOK_STACK_SIZE };

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

/**
 * struct scratch - where a thread has strings until it is known how long they are
 * @taken: by a record that a signal handler has interrupted
 * @text:  the strings, each with its end
 */
struct scratch {
	bool	taken;
	char	text[JF_STRINGS_MAX * JF_STRING_SIZE];
};

static __thread struct scratch scratch __attribute__((__tls_model__("initial-exec")));

/* No thread of the program makes a system call here any more. */
static bool is_quiet(void)
{
	return __atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED);
}

static void lose(void)
{
	/* Acquire: pairs with count_at(), in trace/ring.c. */
	__atomic_fetch_add(__atomic_load_n(&__jf_lost, __ATOMIC_ACQUIRE), 1, __ATOMIC_RELAXED);
}

static const struct jf_spot *spots_at(const struct jf_saved *s)
{
	uint32_t number;

	/* After the call: nopl number(%rax). */
	memcpy(&number, (const char *)s->ret + 3, sizeof(number));
	/* Acquire: pairs with jf_point_join(). */
	return __atomic_load_n(&jf_spots[number], __ATOMIC_ACQUIRE);
}

/* Its records, if there are any: a function can be looked at, and not be recorded. */
__attribute__((__noinline__))
static void lose_here(const struct jf_saved *s)
{
	const struct jf_spot *spot;

	/* Acquire: pairs with jf_point_join(). */
	for (spot = spots_at(s); spot; spot = __atomic_load_n(&spot->next, __ATOMIC_ACQUIRE))
		if (!spot->hook && __atomic_load_n(&spot->on, __ATOMIC_RELAXED))
			lose();
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
 * By its variables the thread is in the agent. True if it is another thread with the same. What
 * such a one comes by is counted, or it is recorded, if the other one has ended there: what that
 * has left is over.
 */
__attribute__((__noinline__))
static bool is_other(const struct jf_saved *s)
{
	uintptr_t stack = (uintptr_t)s;
	uint32_t tid = off.tid;

	if (!tid || (stack >= off.stack && stack < off.end) || (!is_quiet() && (uint32_t)call4(SYS_gettid, 0, 0, 0, 0) == tid))
		return false;
	if (is_quiet() || !is_gone(tid)) {
		lose_here(s);
		return false;
	}
	off.tid = 0;
	if (off.reads)
		jf_read_unlock();
	off.reads = false;
	scratch.taken = false;
	jf_agent_busy = 0;
	return true;
}

/* Threads that are aside, whose system calls a filter for all of them may forbid. */
static uint32_t asides;

/*
 * First the signals, so that no handler jumps away while this thread is busy, or takes the new
 * stack for one that is larger.
 */
static uint64_t aside(uint64_t (*fn)(uint64_t arg), uint64_t arg, long size)
{
	const struct aside a = { fn, arg };
	struct spare *spare = NULL;
	uint64_t all = OTHERS, was, ret;
	long stack;

	/* Pairs with jf_record_quiet(), which waits for those that have not seen it. */
	__atomic_fetch_add(&asides, 1, __ATOMIC_SEQ_CST);
	call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&was, sizeof(all));
	/* First its number: it can be killed at any point. */
	off.stack = off.end = 0;
	off.tid = (uint32_t)call4(SYS_gettid, 0, 0, 0, 0);
	/* Pairs with is_other(). */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	jf_agent_busy++;
	stack = call6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if ((unsigned long)stack >= -4095UL) {
		spare = size > STACK_SIZE ? &hook_spare : &packet_spare;
		take_spare(spare, off.tid);
		stack = (long)(spare->end - size);
	}
	off.stack = (uintptr_t)stack;
	off.end = (uintptr_t)stack + (uintptr_t)size;
	ret = jf_agent_on_stack(with_vectors, (uint64_t)(uintptr_t)&a, (char *)stack + size);
	if (spare)
		jf_pi_unlock(&spare->owner);
	else
		call4(SYS_munmap, stack, size, 0, 0);
	jf_agent_busy--;
	/* Pairs with is_other(). */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	off.tid = 0;
	call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&was, 0, sizeof(all));
	/* Pairs with jf_record_quiet(): this thread makes no system call more. */
	__atomic_fetch_sub(&asides, 1, __ATOMIC_RELEASE);
	return ret;
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

static uint64_t with_vectors_alone(uint64_t arg)
{
	const struct aside *a = (const struct aside *)arg;

	return jf_agent_keep(a->fn, a->arg);
}

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

/* False: another thread is there, and this one does not wait in the kernel. */
static bool quietly(uint64_t (*fn)(uint64_t arg), uint64_t arg, uint64_t *ret)
{
	const struct aside a = { fn, arg };

	/* Before, as a handler would wait for the thread that it has interrupted. */
	jf_agent_busy++;
	/* Pairs with a handler's load of it. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!take_quiet()) {
		jf_agent_busy--;
		return false;
	}
	*ret = jf_agent_on_stack(with_vectors_alone, (uint64_t)(uintptr_t)&a, quiet.end);
	/* Release: pairs with take_quiet(). */
	__atomic_store_n(&quiet.taken, 0, __ATOMIC_RELEASE);
	/* Pairs with a handler's load of it. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	jf_agent_busy--;
	return true;
}

/* Apart: most threads have not come to it, and need no room on the stack for it. */
__attribute__((__noinline__))
static bool rarely_quiet(uint64_t what)
{
	uint64_t ret;

	if (what && quietly(next_packet, what, &ret))
		return ret;
	lose();
	return false;
}

static bool rarely(uint64_t what)
{
	return is_quiet() ? rarely_quiet(what) : aside(next_packet, what, STACK_SIZE);
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
	/* Acquire: pairs with aside(). This thread is one of them. */
	for (turn = 0; turn < ASIDES_MS && __atomic_load_n(&asides, __ATOMIC_ACQUIRE) > 1; turn++)
		nanosleep(&a_while, NULL);
	jf_filter_wait(0);
}

void jf_record_quiet(bool others)
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
	/* Pairs with aside(). */
	__atomic_store_n(&__jf_quiet, 1, __ATOMIC_SEQ_CST);
	if (others)
		wait_for_others();
	errno = saved;
}

static uint64_t become_quiet(uint64_t others)
{
	jf_record_quiet(others);
	return 0;
}

bool jf_agent_next(uint32_t len, uint16_t id)
{
	bool ok;

	/* Within the read section of come_by(). */
	off.reads = true;
	ok = rarely((uint64_t)id << 32 | len);
	off.reads = false;
	return ok;
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

/* --- records ----------------------------------------------------------------------- */

/*
 * The range that the kernel maps: vm.mmap_min_addr as it is by default, and the end of the lower
 * half with five levels of tables.
 */
#define LOWEST		UINT64_C(0x10000)
#define HIGHEST		UINT64_C(0x00fffffffffffff7)

typedef uint16_t unaligned16 __attribute__((__aligned__(1), __may_alias__));
typedef uint32_t unaligned32 __attribute__((__aligned__(1), __may_alias__));
typedef uint64_t unaligned64 __attribute__((__aligned__(1), __may_alias__));

static uint64_t load(uintptr_t addr, const struct jf_operand *o)
{
	switch (o->size) {
	case 1:
		return *(const uint8_t *)addr;
	case 2:
		return *(const unaligned16 *)addr;
	case 4:
		return *(const unaligned32 *)addr;
	}
	return *(const unaligned64 *)addr;
}

/*
 * NULL and the first page are no address, nor is the kernel's half. Of others it is not known
 * without a system call, for which a filter may kill.
 */
static bool is_address(uint64_t addr)
{
	return addr >= LOWEST && addr <= HIGHEST;
}

/* They are the thread's still: nothing here uses one. */
static uint64_t vector(unsigned int nr)
{
	uint64_t v = 0;

#define VECTOR(n)	case n: __asm__ volatile("movq %%xmm" #n ", %0" : "=r" (v)); break
	switch (nr) {
	VECTOR(0);
	VECTOR(1);
	VECTOR(2);
	VECTOR(3);
	VECTOR(4);
	VECTOR(5);
	VECTOR(6);
	VECTOR(7);
	VECTOR(8);
	VECTOR(9);
	VECTOR(10);
	VECTOR(11);
	VECTOR(12);
	VECTOR(13);
	VECTOR(14);
	VECTOR(15);
	}
#undef VECTOR
	return v;
}

uint64_t jf_record_value(const struct jf_operand *o, const struct jf_saved *s)
{
	uint64_t addr;

	switch (o->kind) {
	case JF_OPERAND_REG:
		return s->reg[o->base] >> o->shift;
	case JF_OPERAND_CONST:
		return (uint64_t)o->disp;
	case JF_OPERAND_MEM:
		addr = (uint64_t)o->disp;
		if (o->base != JF_REG_NONE)
			addr += s->reg[o->base];
		if (o->index != JF_REG_NONE)
			addr += s->reg[o->index] * o->scale;
		return is_address(addr) ? load(addr, o) : 0;
	case JF_OPERAND_VECTOR:
		return vector(o->base);
	}
	return 0;
}

static void put(char *at, const struct jf_operand *o, uint64_t v)
{
	switch (o->size) {
	case 1:
		*(uint8_t *)at = (uint8_t)v;
		break;
	case 2:
		*(uint16_t *)(void *)at = (uint16_t)v;
		break;
	case 4:
		*(uint32_t *)(void *)at = (uint32_t)v;
		break;
	default:
		*(uint64_t *)(void *)at = v;
	}
}

static void put_function(uint64_t *to, const struct jf_spot *spot, const struct jf_saved *s)
{
	to[0] = spot->at;
	to[1] = *(const uint64_t *)s->reg[4];
	switch (spot->registers) {
	default:
		to[7] = s->reg[9];
		/* fallthrough */
	case 5:
		to[6] = s->reg[8];
		/* fallthrough */
	case 4:
		to[5] = s->reg[1];
		/* fallthrough */
	case 3:
		to[4] = s->reg[2];
		/* fallthrough */
	case 2:
		to[3] = s->reg[6];
		/* fallthrough */
	case 1:
		to[2] = s->reg[7];
		/* fallthrough */
	case 0:
		break;
	}
}

static void put_all(const struct jf_spot *spot, const struct jf_saved *s, char *at)
{
	unsigned int i;

	if (spot->function)
		put_function((uint64_t *)(void *)at, spot, s);
	for (i = 0; i < spot->nr; i++)
		if (spot->operand[i].kind)
			put(at + spot->operand[i].at, &spot->operand[i], jf_record_value(&spot->operand[i], s));
}

static void record(const struct jf_spot *spot, const struct jf_saved *s, uint32_t what)
{
	__JF_SLOT(slot);
	char *at = (char *)__jf_reserve(&slot, spot->size, (uint16_t)what);

	if (!at)
		return;
	put_all(spot, s, at);
	slot.id = (uint16_t)what;
}

static uint64_t argument(const struct jf_spot *spot, const struct jf_saved *s, unsigned int i)
{
	static const uint8_t regs[] = { 7, 6, 2, 1, 8, 9 };

	return spot->function ? s->reg[regs[i % sizeof(regs)]] : jf_record_value(&spot->operand[i], s);
}

static unsigned int put_word(char *to, const char *word)
{
	unsigned int n = 0;

	while ((to[n] = word[n]))
		n++;
	return n + 1;
}

/*
 * The string is longer, or goes on where nothing can be read: @len bytes of it are there, and room
 * for @size.
 */
static unsigned int put_dots(char *to, unsigned int len, unsigned int size)
{
	if (len > size - sizeof("..."))
		len = size - sizeof("...");
	return len + put_word(to + len, "...");
}

#define NULL_STRING	-1
#define SECCOMP_STRING	-2

/*
 * At most @size bytes from @from on; how many, or 0: none can be read. The kernel copies them,
 * once, for which an address that leads nowhere is an error and no signal; so does a memory that
 * another thread unmaps.
 */
static long read_string(char *to, unsigned int size, uint64_t from)
{
	unsigned long first = PAGE - from % PAGE;
	struct iovec own = { to, size };
	struct iovec parts[2] = {
		{ (void *)from, first < size ? first : size },
		{ (void *)(from + first), first < size ? size - first : 0 },
	};
	long got;

	if (!from)
		return NULL_STRING;
	/* Pairs with watch(), which waits for this read section before others have its filter. */
	if (__atomic_load_n(&jf_filtered, __ATOMIC_SEQ_CST))
		return SECCOMP_STRING;
	/* By this thread: the first one may have ended, and has no memory then. */
	got = call6(SYS_process_vm_readv, call4(SYS_gettid, 0, 0, 0, 0), (long)&own, 1, (long)parts, parts[1].iov_len ? 2 : 1, 0);
	return got < 0 ? 0 : got;
}

/* With its end, of at most @size bytes: longer ones are cut. */
static unsigned int copy_string(char *to, unsigned int size, uint64_t from)
{
	long got = read_string(to, size, from);
	unsigned int n;

	if (got <= 0)
		return put_word(to, got == NULL_STRING ? "(null)" : got == SECCOMP_STRING ? "(seccomp)" : "(unreadable)");
	for (n = 0; n < (unsigned long)got && to[n]; n++)
		;
	return n < (unsigned long)got ? n + 1 : put_dots(to, n, size);
}

/*
 * The pointers as they were when their strings were copied: a note's may be in memory that another
 * thread writes.
 */
static void put_pointers(const struct jf_spot *spot, const uint64_t *pointer, uint32_t what, char *at)
{
	unsigned int i, nr = 0;

	/* A function's are in registers, and its operands are others. */
	if (spot->function)
		return;
	for (i = 0; i < spot->nr && nr < JF_STRINGS_MAX; i++)
		if (what >> (16 + i) & 1)
			put(at + spot->operand[i].at, &spot->operand[i], pointer[nr++]);
}

/* They cost most: a system call for each. Apart, as others need no such stack. */
__attribute__((__noinline__))
static void record_into(char *text, unsigned int size, const struct jf_spot *spot, const struct jf_saved *s, uint32_t what)
{
	unsigned int len = 0, i, nr = 0;
	uint64_t pointer[JF_STRINGS_MAX];
	__JF_SLOT(slot);
	char *at;

	for (i = 0; i < JF_ARGS_MAX && nr < JF_STRINGS_MAX; i++)
		if (what >> (16 + i) & 1) {
			pointer[nr] = argument(spot, s, i);
			len += copy_string(text + len, size, pointer[nr++]);
		}
	at = (char *)__jf_reserve(&slot, (uint64_t)spot->size + len, (uint16_t)what);
	if (!at)
		return;
	put_all(spot, s, at);
	put_pointers(spot, pointer, what, at);
	for (i = 0; i < len; i++)
		at[spot->size + i] = text[i];
	slot.id = (uint16_t)what;
}

/*
 * In the midst of another record of strings, on whichever stack: the part of them that fits there.
 */
__attribute__((__noinline__))
static void record_nested(const struct jf_spot *spot, const struct jf_saved *s, uint32_t what)
{
	char text[JF_STRINGS_MAX * JF_STRING_NESTED];

	record_into(text, JF_STRING_NESTED, spot, s, what);
}

/*
 * False: a record has it. A handler that comes in between has given it back before it returns. One
 * that has left by longjmp() never does.
 */
static bool take_scratch(void)
{
	if (scratch.taken)
		return false;
	scratch.taken = true;
	/* Pairs with the load above, of a handler. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

static void give_scratch(void)
{
	/* Pairs with the load of take_scratch(). */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	scratch.taken = false;
}

static void record_strings(const struct jf_spot *spot, const struct jf_saved *s, uint32_t what)
{
	if (!take_scratch()) {
		record_nested(spot, s, what);
		return;
	}
	record_into(scratch.text, JF_STRING_SIZE, spot, s, what);
	give_scratch();
}

/* --- which records are made ------------------------------------------------------------ */

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

uint64_t jf_record_tid(void)
{
	uint32_t process = alive ? __atomic_load_n(alive, __ATOMIC_RELAXED) : 0;

	if (process && known.process == process)
		return known.tid;
	/* Without a ring nothing is recorded then. */
	if (is_quiet())
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

/**
 * struct here - a thread that comes by
 * @chosen: which records are made
 * @spot: where
 * @s:    its registers
 */
struct here {
	const struct jf_chosen	*chosen;
	const struct jf_spot	*spot;
	const struct jf_saved	*s;
};

/**
 * jf_record_text() - the result of JF_STEP_TEXT for memory of the program
 * @step: it
 * @from: where the text is
 *
 * A text that cannot be read, or must not, is unknown: no test holds.
 */
__attribute__((__noinline__))
bool jf_record_text(const struct jf_step *step, uint64_t from)
{
	char text[JF_CHOICE_TEXT];
	long got = read_string(text, sizeof(text), from), n;

	for (n = 0; n < got && text[n]; n++)
		;
	/* Its end is in memory that is not there. */
	if (got <= 0 || (n == got && got < (long)sizeof(text)))
		return false;
	text[sizeof(text) - 1] = 0;
	return jf_choice_text(step, text);
}

/* False: not all of it can be read, or must not be. */
static bool copy_in(void *to, unsigned int size, uint64_t from)
{
	return is_address(from) && read_string((char *)to, size, from) == (long)size;
}

/* The end of a path, before the last pointer is followed. */
static bool follow(const struct jf_path *path, uint64_t *at)
{
	unsigned int i;

	for (i = 0; i + 1 < path->num; i++)
		if (!copy_in(at, 8, *at + (uint64_t)(int64_t)path->offset[i]))
			return false;
	*at += (uint64_t)(int64_t)path->offset[i];
	return true;
}

/* A text in an array need not have an end. */
static bool array_text(const struct jf_step *step, const struct jf_path *path, uint64_t from)
{
	char text[JF_CHOICE_TEXT];

	if (!copy_in(text, path->size, from))
		return false;
	text[path->size] = 0;
	return jf_choice_text(step, text);
}

static uint64_t of_bits(const struct jf_path *path, uint64_t v)
{
	unsigned int above = 64 - path->bits;

	v = v >> path->shift << above;
	return path->sign ? (uint64_t)((int64_t)v >> above) : v >> above;
}

__attribute__((__noinline__))
bool jf_record_memory(const struct jf_step *step, const struct jf_path *path, uint64_t from, uint64_t *value)
{
	uint64_t v = 0;

	if (!path)
		return jf_record_text(step, from);
	if (!follow(path, &from))
		return false;
	if (step->op == JF_STEP_TEXT && path->text)
		return array_text(step, path, from);
	if (!copy_in(&v, path->size, from))
		return false;
	if (step->op == JF_STEP_TEXT)
		return jf_record_text(step, v);
	*value = path->bits ? of_bits(path, v) : v;
	return true;
}

/* It has two callers, of which one is for each filter. */
static inline __attribute__((__always_inline__))
uint64_t value_here(unsigned int from, const void *arg)
{
	const struct here *h = (const struct here *)arg;

	switch (from) {
	case JF_FROM_IP:
		return h->spot->at;
	case JF_FROM_CALLER:
		return *(const uint64_t *)h->s->reg[4];
	case JF_FROM_TID:
		return jf_record_tid();
	}
	if (from >= JF_FROM_VECTOR)
		return jf_record_value(&h->spot->operand[from % JF_FROM_VECTOR], h->s);
	return argument(h->spot, h->s, from);
}

static bool memory_here(const struct jf_step *step, uint64_t *value, const void *arg)
{
	return jf_chosen_memory(((const struct here *)arg)->chosen, step, value, value_here, arg);
}

/* Apart: a probe without such a choice needs no room on the stack for it. */
__attribute__((__noinline__))
static bool is_chosen(struct jf_chosen *chosen, const struct jf_spot *spot, const struct jf_saved *s)
{
	const struct here here = { chosen, spot, s };

	return jf_choice_passes(&chosen->choice, value_here, memory_here, &here);
}

static uint64_t replace_handler(uint64_t reg)
{
	const uint64_t *r = (const uint64_t *)(uintptr_t)reg;

	return (uint64_t)(int64_t)__jf_trap_replace((const struct sigaction *)(uintptr_t)r[6], (struct sigaction *)(uintptr_t)r[2]);
}

/*
 * By sigaction(): the library's handler stays in front, and the function is left with nothing to
 * change or to tell. The functions that the library calls for that must not come back here.
 */
static void watch_handler(uint64_t *reg)
{
	int saved = errno;
	uint64_t ret = 1;

	if ((uint32_t)reg[7] != SIGTRAP)
		return;
	if (is_quiet())
		quietly(replace_handler, (uint64_t)(uintptr_t)reg, &ret);
	else
		ret = aside(replace_handler, (uint64_t)(uintptr_t)reg, STACK_SIZE);
	if (!ret)
		reg[6] = reg[2] = 0;
	errno = saved;
}

/* Not so of a call that asks whether the kernel has filters, with none. */
static bool installs(uint32_t nr, const uint64_t *reg, bool direct)
{
	uint64_t mode = direct ? reg[6] : reg[2], filter = direct ? reg[2] : reg[1];

	return nr == SYS_seccomp ? (uint32_t)reg[6] == SECCOMP_SET_MODE_STRICT || filter : (uint32_t)mode == SECCOMP_MODE_STRICT || filter;
}

/* By one of libc's functions, before its own work: filter.c. */
static void watch(const struct jf_spot *spot, const uint64_t *reg)
{
	/*
	 * Of a system call, as int: its number, if that is no part of the function, and what comes
	 * first.
	 */
	uint32_t nr = (uint32_t)reg[7], what = (uint32_t)reg[6];
	bool others = false;

	if (spot->watch == JF_WATCH_SIGACTION)
		return;
	if (spot->watch == JF_WATCH_PRCTL) {
		what = nr;
		nr = SYS_prctl;
	}
	if (nr == SYS_prctl ? what != PR_SET_SECCOMP :
	    nr != SYS_seccomp || (what != SECCOMP_SET_MODE_STRICT && what != SECCOMP_SET_MODE_FILTER))
		return;
	if (nr == SYS_seccomp)
		others = what == SECCOMP_SET_MODE_FILTER && reg[2] & SECCOMP_FILTER_FLAG_TSYNC;
	/*
	 * Pairs with copy_string(): a thread sees it, or is in a read section that is waited for.
	 */
	__atomic_fetch_or(&jf_filtered, JF_FILTERED, __ATOMIC_SEQ_CST);
	if (!is_quiet() && installs(nr, reg, spot->watch == JF_WATCH_PRCTL))
		aside(become_quiet, others, HOOK_STACK_SIZE);
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
	aside(call_hook, (uint64_t)(uintptr_t)fn, HOOK_STACK_SIZE);
}

/* --- members --------------------------------------------------------------------------- */

/* Of a number as a text, with its end. */
#define NUMBER_TEXT	48

/**
 * struct gathered - members of a record, and texts
 * @number: members that are numbers, by their place among all
 * @known:  a bit for each of these that could be read
 * @whole:  all of them could
 * @len:    bytes of texts
 */
struct gathered {
	uint64_t	number[JF_SHOWN_MAX];
	uint32_t	known;
	bool		whole;
	unsigned int	len;
};

static const char *unknown(void)
{
	return __atomic_load_n(&jf_filtered, __ATOMIC_RELAXED) ? "(seccomp)" : "(unreadable)";
}

static unsigned int text_member(const struct jf_path *path, uint64_t from, char *to, unsigned int size)
{
	unsigned int num = path->size < size - 1 ? path->size : size - 1, n;

	if (!follow(path, &from) || (path->string && !copy_in(&from, 8, from)) || (path->text && !copy_in(to, num, from)))
		return put_word(to, unknown());
	if (path->string)
		return copy_string(to, size, from);
	for (n = 0; n < num && to[n]; n++)
		;
	if (n == num && num < path->size)
		return put_dots(to, n, size);
	to[n] = 0;
	return n + 1;
}

static bool number_member(const struct jf_path *path, uint64_t from, uint64_t *to)
{
	uint64_t v = 0;

	if (!follow(path, &from) || !copy_in(&v, path->size, from))
		return false;
	*to = path->bits ? of_bits(path, v) : v;
	return true;
}

static void gather(struct gathered *g, const struct jf_shown *shown, const uint64_t *reg, char *text, unsigned int size)
{
	const struct jf_shown_member *m;
	unsigned int i;

	g->len = g->known = 0;
	g->whole = true;
	for (i = 0; i < JF_REGISTERS; i++)
		if (shown->strings >> i & 1)
			g->len += copy_string(text + g->len, size, reg[i]);
	for (i = 0; i < shown->num; i++) {
		m = &shown->member[i];
		if (jf_shown_is_text(m))
			g->len += text_member(m->path, reg[m->path->reg], text + g->len, size);
		else if (number_member(m->path, reg[m->path->reg], &g->number[i]))
			g->known |= 1U << i;
		else
			g->whole = false;
	}
}

static void put_numbers(const struct gathered *g, const struct jf_shown *shown, char *at)
{
	const struct jf_shown_member *m;
	unsigned int i;

	for (i = 0; i < shown->num; i++) {
		m = &shown->member[i];
		if (!jf_shown_is_text(m))
			put(at + m->at, &(struct jf_operand){ .size = m->path->bits ? 8 : m->path->size }, g->number[i]);
	}
}

/* Of @base, at least so many of them. */
static unsigned int put_digits(char *to, uint64_t v, unsigned int base, unsigned int least)
{
	char digits[24];
	unsigned int n = 0, len = 0;

	for (; v || n < least; v /= base)
		digits[n++] = "0123456789abcdef"[v % base];
	while (n)
		to[len++] = digits[--n];
	return len;
}

static unsigned int put_hex(char *to, uint64_t v)
{
	to[0] = '0';
	to[1] = 'x';
	return 2 + put_digits(to + 2, v, 16, 1);
}

/* Nine digits after the point, if these are all; else the bits of the number. */
static unsigned int put_real(char *to, uint64_t bits)
{
	const uint64_t more = UINT64_C(1000000000);
	struct jf_choice_real r = jf_choice_split(bits);
	unsigned int power = bits >> 52 & 0x7ff, n = 0;
	uint64_t part = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52, below;

	/* A rest of more than 52 bits has more digits than nine. */
	if (r.huge || (r.rest && power < 1023 - 9))
		return put_hex(to, bits);
	below = !r.rest ? 0 : power < 1023 ? part >> (1023 - 1 - power) : part << (power - 1022) & ((UINT64_C(1) << 53) - 1);
	/* 53 bits after the point, of which 44 have to be 0. */
	if (below & ((UINT64_C(1) << 44) - 1) || (power < 1023 && r.rest && part & ((UINT64_C(1) << (1022 - power)) - 1)))
		return put_hex(to, bits);
	if (r.negative)
		to[n++] = '-';
	n += put_digits(to + n, r.whole, 10, 1);
	if (!below)
		return n;
	to[n++] = '.';
	n += put_digits(to + n, (below >> 44) * (more >> 9), 10, 9);
	while (to[n - 1] == '0')
		n--;
	return n;
}

static unsigned int put_integer(char *to, const struct jf_shown_member *m, uint64_t v)
{
	struct jf_choice_value value = jf_choice_cast(v, m->path->bits ? 8 : m->path->size, m->path->sign);
	const struct jf_event_label *l;
	unsigned int n;

	for (l = m->field->labels; l && l->name; l++)
		if ((uint64_t)l->first == value.bits) {
			for (n = 0; l->name[n] && n < NUMBER_TEXT - 1; n++)
				to[n] = l->name[n];
			return n;
		}
	if (!value.negative)
		return put_digits(to, value.bits, 10, 1);
	*to = '-';
	return 1 + put_digits(to + 1, -value.bits, 10, 1);
}

static unsigned int put_number_text(char *to, const struct jf_shown_member *m, uint64_t v)
{
	unsigned int n;

	if (m->field->class_ == 8)
		n = put_real(to, jf_choice_widen(v, m->path->size));
	else if (m->field->class_ == 5)
		n = put_hex(to, v);
	else
		n = put_integer(to, m, v);
	to[n] = 0;
	return n + 1;
}

/* A number could not be read: all of them are texts. Apart, as others need no such stack. */
__attribute__((__noinline__))
static void record_texts(const struct gathered *g, const struct jf_shown *shown, const char *text, jf_plain_fn *plain, const void *arg)
{
	char numbers[JF_SHOWN_MAX * NUMBER_TEXT], *at;
	const struct jf_shown_member *m;
	unsigned int len = 0, i;
	__JF_SLOT(slot);

	for (i = 0; i < shown->num; i++) {
		m = &shown->member[i];
		if (!jf_shown_is_text(m))
			len += g->known >> i & 1 ? put_number_text(numbers + len, m, g->number[i]) : put_word(numbers + len, unknown());
	}
	at = (char *)__jf_reserve(&slot, (uint64_t)shown->plain + g->len + len, shown->text_id);
	if (!at)
		return;
	plain(at, arg);
	for (i = 0; i < g->len; i++)
		at[shown->plain + i] = text[i];
	for (i = 0; i < len; i++)
		at[shown->plain + g->len + i] = numbers[i];
	slot.id = shown->text_id;
}

/* Apart, as others need no such stack. */
__attribute__((__noinline__))
static void shown_into(char *text, unsigned int size, const struct jf_shown *shown, const uint64_t *reg, jf_plain_fn *plain,
		       const void *arg)
{
	struct gathered g;
	unsigned int i;
	__JF_SLOT(slot);
	char *at;

	gather(&g, shown, reg, text, size);
	if (!g.whole) {
		record_texts(&g, shown, text, plain, arg);
		return;
	}
	at = (char *)__jf_reserve(&slot, (uint64_t)shown->size + g.len, shown->id);
	if (!at)
		return;
	plain(at, arg);
	put_numbers(&g, shown, at);
	for (i = 0; i < g.len; i++)
		at[shown->size + i] = text[i];
	slot.id = shown->id;
}

__attribute__((__noinline__))
static void shown_nested(const struct jf_shown *shown, const uint64_t *reg, jf_plain_fn *plain, const void *arg)
{
	char text[JF_STRINGS_MAX * JF_STRING_NESTED];

	shown_into(text, JF_STRING_NESTED, shown, reg, plain, arg);
}

void jf_record_shown(const struct jf_shown *shown, const uint64_t *reg, jf_plain_fn *plain, const void *arg)
{
	if (!take_scratch()) {
		shown_nested(shown, reg, plain, arg);
		return;
	}
	shown_into(scratch.text, JF_STRING_SIZE, shown, reg, plain, arg);
	give_scratch();
}

static void put_here(void *to, const void *arg)
{
	const struct here *h = (const struct here *)arg;

	put_all(h->spot, h->s, (char *)to);
}

__attribute__((__noinline__))
static void record_members(const struct jf_shown *shown, const struct jf_spot *spot, const struct jf_saved *s)
{
	const struct here here = { NULL, spot, s };
	uint64_t reg[JF_REGISTERS];
	unsigned int i;

	for (i = 0; i < JF_REGISTERS; i++)
		reg[i] = argument(spot, s, i);
	jf_record_shown(shown, reg, put_here, &here);
}

static void record_one(const struct jf_spot *spot, const struct jf_saved *s)
{
	/* Once: the number and its meaning. */
	uint32_t what = __atomic_load_n(&spot->what, __ATOMIC_RELAXED);
	/* Acquire: pairs with replace(), in choose.c. */
	struct jf_chosen *chosen = __atomic_load_n(&spot->chosen, __ATOMIC_ACQUIRE);
	/* Acquire: pairs with replace(), in shown.c. */
	const struct jf_shown *shown = __atomic_load_n(&spot->shown, __ATOMIC_ACQUIRE);

	if (chosen && !is_chosen(chosen, spot, s))
		return;
	if (shown)
		record_members(shown, spot, s);
	else if (what >> 16)
		record_strings(spot, s, what);
	else
		record(spot, s, what);
}

static void come_by(const struct jf_spot *spot, struct jf_saved *s)
{

	if (spot->hook) {
		/* Pairs with unlock(), in agent.c: the next command looks. */
		if (is_quiet())
			__atomic_store_n(&jf_look_again, true, __ATOMIC_SEQ_CST);
		else if (__atomic_load_n(&spot->on, __ATOMIC_RELAXED))
			jf_agent_aside(spot->hook);
		return;
	}
	if (spot->watch) {
		watch(spot, s->reg);
		if (!__atomic_load_n(&spot->on, __ATOMIC_RELAXED))
			return;
	}
	if (!__jf_reader && !rarely(0))
		return;
	s->reg[4] = (uint64_t)(s + 1);
	jf_read_lock();
	/* Acquire: pairs with jf_probes_on(). With it comes all else of the probe. */
	if (__atomic_load_n(&spot->on, __ATOMIC_ACQUIRE)) {
		if (spot->call)
			jf_pair(spot, s);
		else
			record_one(spot, s);
	}
	jf_read_unlock();
}

static __thread bool is_shared __attribute__((__tls_model__("initial-exec")));

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
static bool take_turn(void)
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
static void end_turn(void)
{
	uint64_t was = turn.mask;

	jf_pi_unlock(&turn.owner);
	call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&was, 0, sizeof(was));
}

/**
 * jf_record_share() - another one will have this thread's variables, and run beside it
 */
void jf_record_share(void)
{
	is_shared = true;
}

void jf_agent_record(struct jf_saved *s)
{
	const struct jf_spot *spot, *watched = NULL;
	bool shared = is_shared;

	if (__builtin_expect(shared, 0) && is_quiet()) {
		if (!jf_agent_busy)
			lose_here(s);
		return;
	}
	if (__builtin_expect(shared, 0) && !take_turn())
		return;
	if (!jf_agent_busy || is_other(s)) {
		/* Acquire: pairs with jf_point_join(). */
		for (spot = spots_at(s); spot;
		     spot = __atomic_load_n(&spot->next, __ATOMIC_ACQUIRE)) {
			come_by(spot, s);
			if (spot->watch == JF_WATCH_SIGACTION)
				watched = spot;
		}
		/* It is recorded as it was called. */
		if (watched)
			watch_handler(s->reg);
	}
	if (__builtin_expect(shared, 0))
		end_turn();
}

static bool has_xsave(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE;
}

/**
 * jf_record_clock() - find the kernel's clock
 *
 * By a constructor. The dynamic linker's lock is taken, which dlclose() has while it waits for that
 * of the list of objects: so never within jf_modules(), which has that one.
 */
void jf_record_clock(void)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (vdso)
		vdso_clock = (int (*)(clockid_t, struct timespec *))(uintptr_t)dlsym(vdso, "__vdso_clock_gettime");
}

/* Linux before 4.14 cannot: then the kernel is asked each time. */
static void begin_alive(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, PAGE, MADV_WIPEONFORK))
		munmap(page, PAGE);
	else
		alive = page;
}

/**
 * jf_record_begin() - before any probe's code is executed
 *
 * Return: 0, -ENOMEM
 */
int jf_record_begin(void)
{
	if (jf_spots)
		return 0;
	jf_have_xsave = has_xsave();
	begin_alive();
	jf_spots = mmap(NULL, JF_SPOTS_MAX * sizeof(*jf_spots), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (jf_spots == MAP_FAILED)
		jf_spots = NULL;
	return jf_spots ? 0 : -ENOMEM;
}
