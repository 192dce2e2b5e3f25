// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "tool.h"
#include "filter.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Of task_struct.flags, in /proc/PID/stat: a worker of io_uring; from Linux 6.4 on, any thread of
 * the kernel for a process.
 */
#define IO_WORKER	0x10UL
#define USER_WORKER	0x4000UL
/* Bytes of a stack that are looked at. */
#define STACK_MAX	(64UL << 20)
#define PAGE		4096U

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* For so long a thread that was interrupted may wait for a processor. */
#define LATE_MS		2000

void rest(long ns)
{
	const struct timespec t = { 0, ns };

	nanosleep(&t, NULL);
}

bool status_line(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[48], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = !strncmp(line, name, strlen(name));
		line[strcspn(line, "\n")] = 0;
		if (found)
			snprintf(buf, size, "%s", line + strlen(name) + strspn(line + strlen(name), " \t"));
	}
	if (f)
		fclose(f);
	return found;
}

pid_t inner_number(pid_t pid)
{
	unsigned int inner = 0;
	const char *last;
	char text[256];

	if (status_line(pid, "NSpid:", text, sizeof(text))) {
		last = strrchr(text, '\t');
		sscanf(last ? last : text, "%u", &inner);
	}
	return (pid_t)inner;
}

/*
 * Of "pid (name) state ppid ... flags ...": the state, its flags, and where its stack was when it
 * began.
 */
bool thread_stat(pid_t pid, pid_t tid, char *state, unsigned long *flags, unsigned long *stack)
{
	char path[64], text[1024], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strrchr(text, ')');
	return at && sscanf(at, ") %c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %*d %*u %*u %*u %lu",
			    state, flags, stack) == 3;
}

/* One that has ended and is still listed, or executes none of the process's text. */
bool thread_is_none(pid_t pid, pid_t tid)
{
	unsigned long flags, stack, workers = IO_WORKER;
	unsigned int major = 0, minor = 0;
	struct utsname u;
	char state;

	if (!thread_stat(pid, tid, &state, &flags, &stack))
		return false;
	if (!uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 && (major > 6 || (major == 6 && minor >= 4)))
		workers |= USER_WORKER;
	return state == 'Z' || state == 'X' || flags & workers;
}

/* It cannot be interrupted: it waits for a disk, or for its child of vfork(). */
bool thread_sleeps(pid_t pid, pid_t tid)
{
	unsigned long flags, stack;
	char state;

	return thread_stat(pid, tid, &state, &flags, &stack) && state == 'D';
}

/* The stop stays unread: if this process is killed, the thread gets the signal of the stop. */
void thread_look(struct seized *t)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)t->tid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL)) {
		t->gone = true;
	} else if (info.si_pid == t->tid && (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)) {
		t->stands = true;
		t->sig = info.si_status >> 8 ? 0 : info.si_status;
	} else if (info.si_pid == t->tid) {
		t->gone = true;
	}
}

/*
 * Without a pause: a program that the thread executes between the two gets no rights (execve(2)).
 */
int thread_seize(struct seized *t)
{
	int err;

	if (!ptrace(PTRACE_SEIZE, t->tid, 0, 0)) {
		t->gone = ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
		return 0;
	}
	err = -errno;
	t->gone = true;
	return err == -ESRCH || thread_is_none(t->pid, t->tid) ? 0 : err == -EPERM ? -EACCES : err;
}

#ifdef __x86_64__
/* Those that end with EINTR when a thread is stopped; sockets with a time-out do. */
static bool ends_with_eintr(long number)
{
	switch (number) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case 441: /* epoll_pwait2 */
	case SYS_rt_sigtimedwait:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_io_getevents:
	case SYS_read:
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
		return true;
	}
	return false;
}

/* ERESTART_RESTARTBLOCK: the kernel goes on by restart_syscall(), which a filter may not know. */
#define GOES_ON_BY_CALL	516
/* AUDIT_ARCH_X86_64 */
#define ARCH_X86_64	0xc000003eU
/* Of numbers of x32, as __X32_SYSCALL_BIT. */
#define X32		0x40000000LL

/* A thread that cannot be looked at can have one. */
static bool has_filter(const struct seized *t)
{
	char filter[16];

	return !status_line(t->tid, "Seccomp:", filter, sizeof(filter)) || strcmp(filter, "0");
}

int thread_each(pid_t pid, number_fn *fn, void *arg)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return number_each(path, fn, arg);
}

static int looks_for_filter(pid_t tid, void *pid)
{
	const struct seized t = { .pid = *(const pid_t *)pid, .tid = tid };

	return has_filter(&t);
}

bool thread_any_filter(pid_t pid)
{
	return thread_each(pid, looks_for_filter, &pid) == 1;
}

/* The two bytes before the instruction pointer; int $0x80 has other numbers. */
static bool is_after_syscall(const struct seized *t, const struct user_regs_struct *r)
{
	long bytes;

	errno = 0;
	bytes = ptrace(PTRACE_PEEKTEXT, t->tid, (void *)(uintptr_t)(r->rip - 2), 0);
	return !errno && (bytes & 0xffff) == 0x050f;
}

/* By the kernel, with the rest of its time: restart_syscall() has the registers of the call. */
static bool can_go_on_by_call(const struct seized *t, const struct user_regs_struct *r)
{
	const struct filter_call call = { SYS_restart_syscall, ARCH_X86_64, r->rip, { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 } };

	return !((long long)r->orig_rax & X32) && is_after_syscall(t, r) && filters_allow(t->tid, &call);
}

/* Is its system call to be executed again. */
static bool is_cut_off(const struct seized *t, const struct user_regs_struct *r)
{
	if (r->rax == (unsigned long long)-GOES_ON_BY_CALL)
		return (long)r->orig_rax >= 0 && has_filter(t) && !can_go_on_by_call(t, r);
	return r->rax == (unsigned long long)-EINTR && ends_with_eintr((long)r->orig_rax);
}

/* One that it does not block has come. */
static bool has_signal(const struct seized *t, uint64_t mask)
{
	uint64_t own = 0, shared = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)t->pid, (int)t->tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigPnd: %" SCNx64, &own) != 1 && sscanf(line, "ShdPnd: %" SCNx64, &shared) == 1)
			break;
	if (f)
		fclose(f);
	return !f || (own | shared) & ~mask;
}

/* Changes its registers, if its system call is to be executed again. */
static void go_on_in_call(const struct seized *t)
{
	struct user_regs_struct r;
	uint64_t mask;

	if (t->sig || ptrace(PTRACE_GETREGS, t->tid, 0, &r) || !is_cut_off(t, &r) || ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(mask), &mask) || has_signal(t, mask))
		return;
	r.rax = r.orig_rax;
	r.rip -= 2;
	/* No other restart is due. */
	r.orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, t->tid, 0, &r);
}
#else
bool thread_any_filter(pid_t pid)
{
	(void)pid;
	return false;
}

static bool has_filter(const struct seized *t)
{
	(void)t;
	return false;
}

static void go_on_in_call(const struct seized *t)
{
	(void)t;
}
#endif

void thread_let_go_late(struct seized *t)
{
	uint64_t until = now_ns() + LATE_MS * UINT64_C(1000000);

	while (!t->stands && !t->gone && now_ns() < until && has_filter(t) && !thread_sleeps(t->pid, t->tid)) {
		rest(500000);
		thread_look(t);
	}
	if (t->stands && !t->gone)
		thread_let_go(t);
}

bool thread_let_go(const struct seized *t)
{
	go_on_in_call(t);
	return !ptrace(PTRACE_DETACH, t->tid, 0, (void *)(intptr_t)t->sig);
}

static size_t read_stack(pid_t pid, uint64_t at, uint64_t *words, size_t size)
{
	struct iovec to = { words, size }, from = { (void *)(uintptr_t)at, size };
	ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);

	return n > 0 ? (size_t)n / sizeof(*words) * sizeof(*words) : 0;
}

/* The segments of code and stack, in a handler's frame. Three words before is the stack pointer. */
static bool are_segments(uint64_t word)
{
	return (word & 0xffff00000000ffff) == 0x002b000000000033;
}

/*
 * Words of a handler's frame before the segments: where the handler returns to, ucontext up to
 * there.
 */
#define BEFORE		24U
#define TO_RETURN	24U
#define TO_FLAGS	23U
#define TO_LINK		22U
#define TO_STACK	21U
#define TO_STACK_SIZE	19U
#define TO_STACK_POINTER 3U
/* Handlers' stacks that a thread can be on, one within the other. */
#define STACKS_MAX	8U
#define RED_ZONE	128U
/* Words that are read at once. */
#define ROOM		8192U

/**
 * struct part - of a thread's stack
 * @start:  of a handler's stack; 0: it is the thread's own
 * @end:    the last byte of it
 * @lowest: a handler's frame has this stack pointer, or the look begins there
 * @left:   the lowest stack pointer elsewhere, of the frames on a handler's stack
 */
struct part {
	uint64_t	start;
	uint64_t	end;
	uint64_t	lowest;
	uint64_t	left;
};

/* Words that were read, after those before them. */
static uint64_t stack[BEFORE + ROOM];

/* A handler was called with this stack pointer. False: on another stack than the thread's own. */
static bool was_called_at(struct part *p, uint64_t sp)
{
	uint64_t low = sp > p->start + RED_ZONE ? sp - RED_ZONE : p->start;

	/* The word is not read. */
	if (!sp)
		return true;
	if (sp >= p->start && sp <= p->end) {
		p->lowest = low < p->lowest ? low : p->lowest;
		return true;
	}
	p->left = sp < p->left ? sp : p->left;
	return p->start;
}

/* The words that were read. */
static bool words_are_clear(const struct stack_look *look, size_t num, struct part *p)
{
	const uint64_t *word;

	for (word = stack + BEFORE; word < stack + BEFORE + num; word++) {
		if (look->is_in(*word, look->arg))
			return false;
		if (are_segments(*word) && !was_called_at(p, *(word - TO_STACK_POINTER)))
			return false;
	}
	return true;
}

/* From @from to @end, or to the end of a page: the next page can be absent. How many words. */
static size_t read_more(const struct stack_look *look, uint64_t from, uint64_t end)
{
	size_t size = ROOM * sizeof(*stack) - from % PAGE;

	if (end >= from && end - from < size)
		size = (size_t)(end - from + sizeof(*stack)) & ~7UL;
	return read_stack(look->pid, from, stack + BEFORE, size) / sizeof(*stack);
}

static void keep_last(size_t num)
{
	memmove(stack, stack + num, BEFORE * sizeof(*stack));
}

/* From @at up to its end, which is above @at: else it is another stack. */
static bool goes_to(const struct stack_look *look, uint64_t at, struct part *p)
{
	uint64_t from = at;
	bool late = false;
	size_t n = 1;

	memset(stack, 0, BEFORE * sizeof(*stack));
	while (n && from <= p->end && from - at < STACK_MAX && !late) {
		n = read_more(look, from, p->end);
		if (!words_are_clear(look, n, p))
			return false;
		keep_last(n);
		from += n * sizeof(*stack);
		late = look->is_late(look->arg);
	}
	return from > p->end && p->end >= at;
}

static bool is_clear_part(const struct stack_look *look, struct part *p)
{
	uint64_t at;
	bool clear;

	do {
		p->lowest &= ~7UL;
		at = p->lowest;
		clear = goes_to(look, at, p);
	} while (clear && p->lowest < at);
	return clear;
}

/* mov $15,%rax; syscall: in the C library, and in Go's runtime. */
static bool returns_from_signal(pid_t pid, uint64_t at)
{
	static const uint8_t code[16] = "\x48\xc7\xc0\x0f\0\0\0\x0f\x05";
	uint64_t there[2];

	return read_stack(pid, at, there, sizeof(there)) == sizeof(there) && !memcmp(there, code, 9);
}

/*
 * The kernel's frame of a handler, whose segments are at @word, which is at @at. It says on which
 * stack the handler was called; @low is on that stack, and the interrupted thread was not.
 */
static bool is_frame(pid_t pid, const uint64_t *word, uint64_t at, uint64_t low, struct part *p)
{
	uint64_t start, size, sp, frame = at - TO_RETURN * sizeof(*word);

	if (!are_segments(*word) || *(word - TO_FLAGS) & ~7UL || *(word - TO_LINK) || frame % 16 != 8)
		return false;
	start = *(word - TO_STACK);
	size = *(word - TO_STACK_SIZE);
	sp = *(word - TO_STACK_POINTER);
	if (size > STACK_MAX || start > UINT64_MAX - size || low + RED_ZONE < start || at - start >= size || sp - start < size)
		return false;
	*p = (struct part){ start, start + size - 1, low > start ? low : start, UINT64_MAX };
	return returns_from_signal(pid, *(word - TO_RETURN));
}

/* The handler's stack that has @low. */
static bool find_handlers(const struct stack_look *look, uint64_t low, struct part *p)
{
	uint64_t begin = low & ~7UL, from = begin;
	size_t i, n = 1;

	memset(stack, 0, BEFORE * sizeof(*stack));
	while (n && from - begin < STACK_MAX && !look->is_late(look->arg)) {
		n = read_more(look, from, UINT64_MAX);
		for (i = 0; i < n; i++)
			if (is_frame(look->pid, stack + BEFORE + i, from + i * sizeof(*stack), low, p))
				return true;
		keep_last(n);
		from += n * sizeof(*stack);
	}
	return false;
}

bool stack_is_clear(const struct stack_look *look, uint64_t at, uint64_t end)
{
	struct part own, other;
	unsigned int stacks;

	for (stacks = 0; stacks <= STACKS_MAX; stacks++) {
		own = (struct part){ 0, end, at, UINT64_MAX };
		if (is_clear_part(look, &own))
			return true;
		if (!look->handlers || !find_handlers(look, at, &other) || !is_clear_part(look, &other))
			return false;
		at = other.left - RED_ZONE;
	}
	return false;
}

/* The process that traces it, or 0. */
static int tracer_of(pid_t pid)
{
	char text[32];
	int tracer = 0;

	if (status_line(pid, "TracerPid:", text, sizeof(text)))
		sscanf(text, "%d", &tracer);
	return tracer;
}

static char yama_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	char scope = '0';

	if (f && fread(&scope, 1, 1, f) != 1)
		scope = '0';
	if (f)
		fclose(f);
	return scope;
}

void why_not_traced(pid_t pid, bool untold, char *buf, size_t size)
{
	int tracer = tracer_of(pid);
	char scope = yama_scope();

	if (tracer)
		snprintf(buf, size, "process %d traces it, a debugger say; end that first", tracer);
	else if (scope == '3')
		snprintf(buf, size, "this system lets no process trace others until it boots again (kernel.yama.ptrace_scope is 3)");
	else if (scope != '0' && geteuid())
		snprintf(buf, size, "this system lets root alone trace others' children (kernel.yama.ptrace_scope is %c): be root, or sysctl kernel.yama.ptrace_scope=0",
			 scope);
	else if (geteuid())
		snprintf(buf, size, "%s() is not permitted: it has more rights than its user, and root alone may do that", untold ? "kcmp" : "ptrace");
	else
		snprintf(buf, size, "%s() is not permitted: this root lacks CAP_SYS_PTRACE, as in a container without it, or a security module denies it",
			 untold ? "kcmp" : "ptrace");
}
