// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A thread that stands calls functions, and goes on as if it had not. Whatever ends the borrower
 * at any moment, also SIGKILL, the thread goes on by itself: before it executes anything, its
 * stack has all of its registers in the frame of a signal handler, and the last return address of
 * all that it executes leads to the system call SYS_rt_sigreturn.
 *
 *   step					if the borrower ends here, the thread ...
 *   1 read registers, vector registers, mask	goes on
 *   2 write them as a frame below the red zone	goes on: no code uses memory below the red zone
 *   3 set registers: mmap() returns to that call	executes mmap(), and goes on by the frame
 *   4 block signals				the same: the frame has the mask
 *   5 mmap() twice: a stack, and a page of code	the same
 *   6 write the code				the same
 *   7 call functions on that stack; they return to	finishes the call, goes past the
 *     the code, which sends a signal to it	signal, which has no handler, then as in 3
 *   8 munmap() twice, as in 3			goes on by the frame
 *   9 set vector registers, mask, then registers	goes on, by the frame or as it stood
 *   10 stop it once more, in the place where the kernel looks for signals; let it go	goes on
 *
 * The functions have a stack of their own: the thread's can be small, or an alternate one. The
 * thread blocks all signals but those that an instruction causes, so a signal that arrives stays
 * pending, and comes after step 9, when the kernel decides about the interrupted system call as
 * ever: the registers say which one it is (orig_rax), and that it is to be restarted (rax), also
 * with the rest of its time (SYS_restart_syscall).
 *
 * A system call that ends with EINTR when a thread is stopped is executed again (threads.h). If
 * the borrower was killed, that call ends with EINTR, and so do others that wait with a time-out.
 */
#include "tool.h"
#include "borrow.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define RED_ZONE	128U
#define STACK_SIZE	(512UL << 10)
#define CODE_SIZE	8192UL
#define TEXT_AT		4096U
/* Values of the kernel for a system call that it restarts. */
#define ERESTARTSYS	512
#define ERESTARTNOINTR	513
#define ERESTARTNOHAND	514
#define ERESTART_RESTARTBLOCK	516
/* As the kernel has them in struct _fpx_sw_bytes. */
#define XSTATE_MAGIC1	0x46505853U
#define XSTATE_MAGIC2	0x46505845U
#define XSTATE_WORDS	464U
#define XSTATE_HEADER	512U
/* Of uc_flags. */
#define HAS_XSTATE	1U
#define HAS_SS		6U
/* AMX: programs have room for it in frames if they asked for that. */
#define XFEATURE_AMX	((1UL << 17) | (1UL << 18))
#define TRAP_OF_CALL	(SIGTRAP | 0x80)
/* Step 10, and a stop of a thread whose call does not return. */
#define STAND_NS	UINT64_C(200000000)

/* After it the thread stands, if it is traced. */
#define CODE_MARK	24U
#define CODE_SIGNAL	13U
static const uint8_t code[] = {
	0x49, 0x89, 0xc4,		/* mov %rax, %r12 */
	0xb8, SYS_gettid, 0, 0, 0,	/* mov $SYS_gettid, %eax */
	0x0f, 0x05,			/* syscall */
	0x89, 0xc7,			/* mov %eax, %edi */
	0xbe, 0, 0, 0, 0,		/* mov $signal, %esi */
	0xb8, SYS_tkill, 0, 0, 0,	/* mov $SYS_tkill, %eax */
	0x0f, 0x05,			/* syscall */
	0x48, 0x89, 0xdc,		/* mov %rbx, %rsp */
	0xb8, SYS_rt_sigreturn, 0, 0, 0,	/* mov $SYS_rt_sigreturn, %eax */
	0x0f, 0x05,			/* syscall */
	0x0f, 0x0b,			/* ud2 */
};

static bool put(const struct borrow *b, uint64_t at, const void *data, size_t size)
{
	return pwrite(b->mem, data, size, (off_t)at) == (ssize_t)size;
}

/* --- stops ---------------------------------------------------------------------------- */

static int wait_for_stop(const struct borrow *b, uint64_t until, int *status)
{
	const struct timespec pause = { 0, 20000 };
	pid_t got;

	while (!(got = waitpid(b->tid, status, __WALL | WNOHANG)) && now_ns() < until)
		nanosleep(&pause, NULL);
	if (!got)
		return -ETIMEDOUT;
	return got == b->tid && WIFSTOPPED(*status) ? 0 : -ESRCH;
}

/*
 * Until it enters or leaves a system call (@request is PTRACE_SYSCALL), or is at the mark. A
 * signal that it gets is its own: one that an instruction caused, or SIGSTOP.
 */
static int run_until_stop(struct borrow *b, int request, struct user_regs_struct *r)
{
	int status, err, sig = 0;

	for (;;) {
		if (ptrace(request, b->tid, 0, (void *)(intptr_t)sig))
			return -ESRCH;
		err = wait_for_stop(b, b->until, &status);
		if (err)
			return err;
		if (ptrace(PTRACE_GETREGS, b->tid, 0, r))
			return -ESRCH;
		sig = WSTOPSIG(status);
		if (sig == TRAP_OF_CALL || (sig == b->marker && r->rip == b->code + CODE_MARK))
			return 0;
		/* The process is being stopped: this thread will be when it is let go. */
		if (status >> 16 || sig == b->marker)
			sig = 0;
	}
}

/* --- the frame ------------------------------------------------------------------------ */

/* The bytes of the vector registers that programs have in frames of signal handlers. */
static size_t frame_xsize(const struct borrow *b)
{
	uint64_t features, used;
	unsigned int i, size, at, c, d;
	size_t end = 576;

	memcpy(&features, b->xstate + XSTATE_WORDS, sizeof(features));
	memcpy(&used, b->xstate + XSTATE_HEADER, sizeof(used));
	if (used & XFEATURE_AMX)
		return b->xsize;
	for (i = 2; i < 63; i++) {
		if (!(features & ~XFEATURE_AMX & 1UL << i))
			continue;
		__cpuid_count(0xd, i, size, at, c, d);
		if (at + size > end && at + size <= b->xsize)
			end = at + size;
	}
	return end;
}

/* Of a system call: as the kernel does it before a handler. */
static void restart(const struct user_regs_struct *r, greg_t *rip, greg_t *rax)
{
	*rip = (greg_t)r->rip;
	*rax = (greg_t)r->rax;
	if ((int64_t)r->orig_rax < 0)
		return;
	if (*rax == -ERESTART_RESTARTBLOCK)
		*rax = -EINTR;
	if (*rax == -ERESTARTSYS || *rax == -ERESTARTNOINTR || *rax == -ERESTARTNOHAND) {
		*rax = (greg_t)r->orig_rax;
		*rip -= 2;
	}
}

static void fill_context(const struct borrow *b, uint64_t vectors, ucontext_t *uc)
{
	const struct user_regs_struct *r = &b->saved;
	greg_t *g = uc->uc_mcontext.gregs, rip, rax;
	const greg_t values[NGREG] = {
		[REG_R8] = (greg_t)r->r8, [REG_R9] = (greg_t)r->r9, [REG_R10] = (greg_t)r->r10, [REG_R11] = (greg_t)r->r11,
		[REG_R12] = (greg_t)r->r12, [REG_R13] = (greg_t)r->r13, [REG_R14] = (greg_t)r->r14, [REG_R15] = (greg_t)r->r15,
		[REG_RDI] = (greg_t)r->rdi, [REG_RSI] = (greg_t)r->rsi, [REG_RBP] = (greg_t)r->rbp, [REG_RBX] = (greg_t)r->rbx,
		[REG_RDX] = (greg_t)r->rdx, [REG_RCX] = (greg_t)r->rcx, [REG_RSP] = (greg_t)r->rsp, [REG_EFL] = (greg_t)r->eflags,
		[REG_CSGSFS] = (greg_t)(r->cs | r->ss << 48),
	};

	memset(uc, 0, sizeof(*uc));
	memcpy(g, values, sizeof(values));
	restart(r, &rip, &rax);
	g[REG_RIP] = rip;
	g[REG_RAX] = rax;
	uc->uc_flags = HAS_XSTATE | HAS_SS;
	/* Refused, so that the alternate stack stays. */
	uc->uc_stack.ss_flags = 0x7fff;
	uc->uc_mcontext.fpregs = (fpregset_t)(uintptr_t)vectors;
	memcpy(&uc->uc_sigmask, &b->mask, sizeof(b->mask));
}

/* Step 2: return address, context, vector registers, which stand at a multiple of 64. */
static int write_frame(struct borrow *b)
{
	const size_t context = offsetof(ucontext_t, uc_sigmask) + sizeof(b->mask), size = frame_xsize(b);
	uint32_t words[12] = { XSTATE_MAGIC1, (uint32_t)size + 4, 0, 0, (uint32_t)size }, end = XSTATE_MAGIC2;
	uint64_t vectors = (b->saved.rsp - RED_ZONE - size - sizeof(end)) & ~63UL;
	uint64_t features;
	ucontext_t uc;
	uint8_t probe[512];

	b->context = (vectors - context) & ~15UL;
	/* Room for the functions of step 3, and the memory below the stack pointer is one piece. */
	if (pread(b->mem, probe, sizeof(probe), (off_t)(b->context - 1024)) != sizeof(probe))
		return -ENOSPC;
	memcpy(&features, b->xstate + XSTATE_WORDS, sizeof(features));
	if (size < b->xsize)
		features &= ~XFEATURE_AMX;
	memcpy(&words[2], &features, sizeof(features));
	fill_context(b, vectors, &uc);
	if (!put(b, vectors, b->xstate, size) || !put(b, vectors + XSTATE_WORDS, words, sizeof(words)) ||
	    !put(b, vectors + size, &end, sizeof(end)) || !put(b, b->context, &uc, context) ||
	    !put(b, b->context - 8, &b->restorer, sizeof(b->restorer)))
		return -ENOSPC;
	return 0;
}

/* --- functions ------------------------------------------------------------------------ */

static void for_call(const struct borrow *b, struct user_regs_struct *r, uint64_t function, uint64_t stack)
{
	*r = b->saved;
	r->rip = function;
	r->rsp = stack;
	r->rax = 0;
	/* No system call is to be restarted. */
	r->orig_rax = (unsigned long long)-1;
	/* Direction, trap, alignment check. */
	r->eflags &= ~(UINT64_C(0x400) | 0x100 | 0x40000);
	r->rbx = b->context;
}

/* Steps 3 to 5, and 8: a function that does one system call, up to the end of that. */
static int call_plain(struct borrow *b, uint64_t function, long number, const uint64_t *arg, uint64_t *result)
{
	/* Step 4: all but those that an instruction causes, and the marker. */
	const uint64_t open = 1UL << (SIGSEGV - 1) | 1UL << (SIGBUS - 1) | 1UL << (SIGILL - 1) | 1UL << (SIGFPE - 1) |
			      1UL << (SIGTRAP - 1) | 1UL << (SIGSYS - 1) | 1UL << (b->marker - 1);
	uint64_t blocked = ~open | (b->mask & ~(1UL << (b->marker - 1)));
	struct user_regs_struct r;
	int err;

	for_call(b, &r, function, b->context - 8);
	r.rdi = arg[0];
	r.rsi = arg[1];
	r.rdx = arg[2];
	r.rcx = arg[3];
	r.r8 = arg[4];
	r.r9 = arg[5];
	if (!put(b, b->context - 8, &b->restorer, sizeof(b->restorer)))
		return -EFAULT;
	if (ptrace(PTRACE_SETREGS, b->tid, 0, &r) || ptrace(PTRACE_SETSIGMASK, b->tid, (void *)sizeof(blocked), &blocked))
		return -ESRCH;
	err = run_until_stop(b, PTRACE_SYSCALL, &r);
	if (!err && (long)r.orig_rax != number)
		err = -ENOSYS;
	if (!err)
		err = run_until_stop(b, PTRACE_SYSCALL, &r);
	*result = r.rax;
	return err;
}

static int map(struct borrow *b, uint64_t size, int rights, uint64_t *at)
{
	const uint64_t arg[6] = { 0, size, (uint64_t)rights, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0 };
	uint64_t got;
	int err = call_plain(b, b->mmap, SYS_mmap, arg, &got);

	if (err)
		return err;
	if ((int64_t)got < 0 && (int64_t)got > -4096)
		return (int)(int64_t)got;
	*at = got;
	return 0;
}

static void unmap(struct borrow *b, uint64_t size, uint64_t *at)
{
	const uint64_t arg[6] = { *at, size, 0, 0, 0, 0 };
	uint64_t got;

	if (*at)
		call_plain(b, b->munmap, SYS_munmap, arg, &got);
	*at = 0;
}

static int save(struct borrow *b)
{
	struct iovec v = { b->xstate, sizeof(b->xstate) };

	if (ptrace(PTRACE_GETREGS, b->tid, 0, &b->saved) ||
	    ptrace(PTRACE_GETREGSET, b->tid, (void *)(uintptr_t)NT_X86_XSTATE, &v) ||
	    ptrace(PTRACE_GETSIGMASK, b->tid, (void *)sizeof(b->mask), &b->mask))
		return errno == ESRCH ? -ESRCH : -EOPNOTSUPP;
	b->xsize = v.iov_len;
	return b->xsize < 576 || b->xsize == sizeof(b->xstate) ? -EOPNOTSUPP : 0;
}

int borrow_begin(struct borrow *b)
{
	uint8_t bytes[sizeof(code)];
	int err, status;

	b->stack = 0;
	b->code = 0;
	b->context = 0;
	b->since = now_ns();
	/* The stop that it stands in was not read yet. */
	waitpid(b->tid, &status, __WALL | WNOHANG);
	if (ptrace(PTRACE_SETOPTIONS, b->tid, 0, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD))
		return -ESRCH;
	err = save(b);
	if (!err)
		err = write_frame(b);
	if (err) {
		b->context = 0;
		return err;
	}
	err = map(b, STACK_SIZE, PROT_READ | PROT_WRITE, &b->stack);
	if (!err)
		err = map(b, CODE_SIZE, PROT_READ | PROT_EXEC, &b->code);
	memcpy(bytes, code, sizeof(bytes));
	bytes[CODE_SIGNAL] = (uint8_t)b->marker;
	if (!err && !put(b, b->code, bytes, sizeof(bytes)))
		err = -EFAULT;
	return err;
}

uint64_t borrow_put(struct borrow *b, const char *text)
{
	size_t size = strlen(text) + 1;

	return size <= BORROW_TEXT_MAX && put(b, b->code + TEXT_AT, text, size) ? b->code + TEXT_AT : 0;
}

int borrow_call(struct borrow *b, uint64_t function, uint64_t first, uint64_t second, uint64_t *result)
{
	uint64_t stack = b->stack + STACK_SIZE - 64 - 8;
	struct user_regs_struct r;
	int err;

	for_call(b, &r, function, stack);
	r.rdi = first;
	r.rsi = second;
	if (!put(b, stack, &b->code, sizeof(b->code)))
		return -EFAULT;
	if (ptrace(PTRACE_SETREGS, b->tid, 0, &r))
		return -ESRCH;
	err = run_until_stop(b, PTRACE_CONT, &r);
	*result = r.r12;
	return err;
}

/* --- the end -------------------------------------------------------------------------- */

static int set_all(const struct borrow *b)
{
	struct iovec v = { (void *)(uintptr_t)b->xstate, b->xsize };

	if (ptrace(PTRACE_SETREGSET, b->tid, (void *)(uintptr_t)NT_X86_XSTATE, &v) ||
	    ptrace(PTRACE_SETSIGMASK, b->tid, (void *)sizeof(b->mask), &b->mask) ||
	    ptrace(PTRACE_SETREGS, b->tid, 0, &b->saved))
		return -ESRCH;
	return 0;
}

/* Steps 9 and 10. */
static int give_back(struct borrow *b)
{
	struct seized t = b->thread;
	int status;

	if (b->context && set_all(b))
		return -ESRCH;
	if (ptrace(PTRACE_INTERRUPT, b->tid, 0, 0) || ptrace(PTRACE_CONT, b->tid, 0, 0) ||
	    wait_for_stop(b, now_ns() + STAND_NS, &status))
		return -ESRCH;
	t.sig = status >> 16 ? 0 : WSTOPSIG(status);
	return thread_let_go(&t) ? 0 : -ESRCH;
}

int borrow_end(struct borrow *b)
{
	b->until = now_ns() + STAND_NS;
	unmap(b, STACK_SIZE, &b->stack);
	unmap(b, CODE_SIZE, &b->code);
	return give_back(b);
}

/*
 * Locks of the dynamic linker stand one after the other; the one that dlopen() takes first is the
 * first.
 */
static bool only_waits(const struct borrow *b, uint64_t low, uint64_t high)
{
	/* pthread_mutex_t, of which the third word is the owner's number. */
	enum { MUTEX = 40, OWNER = 8 };
	struct user_regs_struct r;
	uint32_t before, own;

	if (ptrace(PTRACE_GETREGS, b->tid, 0, &r) || r.orig_rax != SYS_futex || r.rdi < low + MUTEX || r.rdi >= high)
		return false;
	if (pread(b->mem, &before, sizeof(before), (off_t)(r.rdi - MUTEX + OWNER)) != sizeof(before) ||
	    pread(b->mem, &own, sizeof(own), (off_t)(r.rdi + OWNER)) != sizeof(own))
		return false;
	return before != (uint32_t)b->tid && own != (uint32_t)b->tid;
}

bool borrow_leave(struct borrow *b, uint64_t low, uint64_t high)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, b->tid, 0, 0) || wait_for_stop(b, now_ns() + STAND_NS, &status))
		return false;
	if (only_waits(b, low, high))
		return !borrow_end(b);
	ptrace(PTRACE_DETACH, b->tid, 0, status >> 16 ? 0 : (void *)(intptr_t)WSTOPSIG(status));
	return false;
}
#endif /* __x86_64__ */
