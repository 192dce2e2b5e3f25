// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "tool.h"
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

	if (t->sig || ptrace(PTRACE_GETREGS, t->tid, 0, &r) || r.rax != (unsigned long long)-EINTR ||
	    !ends_with_eintr((long)r.orig_rax) || ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(mask), &mask) || has_signal(t, mask))
		return;
	r.rax = r.orig_rax;
	r.rip -= 2;
	/* No other restart is due. */
	r.orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, t->tid, 0, &r);
}
#else
static void go_on_in_call(const struct seized *t)
{
	(void)t;
}
#endif

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

/* Some words of a stack. @lowest becomes a lower stack pointer. False: inside, or another stack. */
static bool words_are_clear(const struct stack_look *look, const uint64_t *words, size_t num, uint64_t end, uint64_t *lowest)
{
	size_t i;

	for (i = 0; i < num; i++) {
		if (look->is_in(words[i], look->arg))
			return false;
		if (i < 3 || !are_segments(words[i]))
			continue;
		if (words[i - 3] > end)
			return false;
		if (words[i - 3] - 128 < *lowest)
			*lowest = words[i - 3] - 128;
	}
	return true;
}

/* From @at up to its end, which is above @end: else it is another stack. */
static bool goes_to(const struct stack_look *look, uint64_t at, uint64_t end, uint64_t *lowest)
{
	/* The last three words stand before those that come next. */
	static uint64_t words[3 + 8192];
	uint64_t from = at;
	bool late = false;
	size_t n, size;

	memset(words, 0, 3 * sizeof(*words));
	while (from - at < STACK_MAX && !late) {
		/* To the end of a page: the next page can be absent. */
		size = sizeof(words) - 3 * sizeof(*words) - from % PAGE;
		n = read_stack(look->pid, from, words + 3, size);
		if (!words_are_clear(look, words, 3 + n / sizeof(*words), end, lowest))
			return false;
		memmove(words, words + n / sizeof(*words), 3 * sizeof(*words));
		from += n;
		late = look->is_late(look->arg);
		if (n < size || (from > end && end >= at))
			break;
	}
	return from > end && end >= at;
}

bool stack_is_clear(const struct stack_look *look, uint64_t at, uint64_t end)
{
	uint64_t lowest = at & ~7UL;
	bool clear;

	do {
		at = lowest & ~7UL;
		lowest = at;
		clear = goes_to(look, at, end, &lowest);
	} while (clear && lowest < at);
	return clear;
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
