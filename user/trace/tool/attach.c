// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The agent is loaded into a process that was started without it.
 *
 * One thread of the process is borrowed (borrow.c) for a millisecond or two, and calls dlopen().
 * The others run on, so no lock is taken away from them. The thread waits for locks as any thread
 * does that calls dlopen(). It must not hold one that dlopen() or the agent's constructor needs:
 * those of the dynamic linker, of malloc(), of pthread_create() and fork(). So a thread is looked
 * for that is in none of these functions:
 *
 *   1 Objects of the process are read, and the ranges of these functions collected: text of the
 *     dynamic linker, of the allocator, or of the functions by name where both are in the C
 *     library.
 *   2 A child of this process seizes and interrupts one thread (threads.c). It is left alone if
 *     it is in a signal handler, in a restartable sequence, on a stack whose end is not known, or
 *     about to get a signal.
 *   3 fit.c says whether the thread is in none of them.
 *   4 If the thread does not fit, it goes on, and the next one is tried; after all of them the
 *     child ends, there is a pause, and another child tries, for TRY_MS at most. Nothing has been
 *     changed then.
 *
 * The calls of the thread, in this order: mmap() twice; __errno_location(), as errno is put back
 * afterwards; pthread_setcancelstate(), as the agent's functions are cancellation points;
 * dlopen(), if the agent is not there yet; __jf_agent_attach() of the agent, which makes the
 * control socket and its thread; pthread_setcancelstate(); munmap() twice. All else goes by that
 * socket, as if the process had been started with the agent. It stays mapped, and a later attach
 * finds the socket.
 *
 * If dlopen() does not return in CALL_MS, another thread holds the lock of the dynamic linker,
 * and may wait for something of this one. A thread that waits for that lock, and holds none, goes
 * on where it was, and nothing has been changed. Else it finishes by itself.
 *
 * The child is in a group of its own: a stop of jf-trace's group does not stop the child.
 * Signals that end jf-trace wait until the child has ended. SIGKILL ends it, and the thread goes
 * on all the same (borrow.c).
 */
#include "tool.h"
#include "attach.h"
#include "borrow.h"
#include "elf.h"
#include "fit.h"
#include "objects.h"
#include "threads.h"

#ifdef __x86_64__
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AGENT_NAME	"libjumpfunc-agent-glibc.so"
/* For how long threads are tried, one may take to stop, and its call may last. */
#define TRY_MS		5000
#define STAND_MS	100
#define CALL_MS		2000
/* One attempt, whatever it waits for. */
#define END_S		10
/* So often one thread goes on and is looked at. */
#define MOVES_MAX	50U
/*
 * dlopen() of a program's own; before glibc 2.34 the mode says that it is the C library's
 * internal one.
 */
#define INTERNAL_DLOPEN	0x80000000U

/* --- refusals ------------------------------------------------------------------ */

static int refuse(pid_t pid, const char *why)
{
	return fail("the agent is not loaded into process %d: %s", (int)pid, why);
}

static const char *refused_by_status(pid_t pid)
{
	char text[256];

	if (status_line(pid, "State:", text, sizeof(text)) && *text == 'T')
		return "it is stopped: kill -CONT lets it go on";
	if (status_line(pid, "Seccomp:", text, sizeof(text)) && strcmp(text, "0"))
		return "a filter of system calls (seccomp) may end it for what the agent does; if the filter permits that, start it by jf-trace run";
	if (status_line(pid, "x86_Thread_features:", text, sizeof(text)) && strstr(text, "shstk"))
		return "it has a shadow stack; GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK starts it without one";
	return NULL;
}

/* Another root, or other mounts: its paths name other files here. */
static bool is_elsewhere(pid_t pid)
{
	char path[48], own[64] = "", its[64] = "";
	struct stat a, b;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (readlink("/proc/self/ns/mnt", own, sizeof(own) - 1) > 0 && readlink(path, its, sizeof(its) - 1) > 0 && strcmp(own, its))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/root/.", (int)pid);
	return !stat("/", &a) && !stat(path, &b) && (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

/* Of its program. */
static const char *refused_by_program(pid_t pid)
{
	unsigned char head[EI_NIDENT + 4] = "";
	char path[48];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	n = fd < 0 ? -1 : read(fd, head, sizeof(head));
	if (fd >= 0)
		close(fd);
	if (n == sizeof(head) && !memcmp(head, ELFMAG, SELFMAG) &&
	    (head[EI_CLASS] != ELFCLASS64 || (head[EI_NIDENT + 2] | head[EI_NIDENT + 3] << 8) != EM_X86_64))
		return "it is a program of another architecture, of 32 bits say; the agent is for x86-64";
	return NULL;
}

static const char *refused_by_objects(struct attach *a)
{
	const struct objects *o = &a->objects;
	size_t i;

	/* The library is the linker, which can have the name of either. */
	for (i = 0; i < o->num; i++)
		if (strstr(o->object[i].path, "musl") && (!strcmp(object_name(&o->object[i]), "libc.so") ||
							    !strncmp(object_name(&o->object[i]), "ld-musl", 7)))
			return "its C library is musl; the agent needs glibc";
	a->libc = objects_named(o, "libc.so.6");
	a->libc = a->libc ? a->libc : objects_named(o, "libc-2.");
	a->linker = objects_named(o, "ld-linux");
	a->linker = a->linker ? a->linker : objects_named(o, "ld-2.");
	if (!a->linker)
		return "it is a static program, which has no dynamic linker that could load the agent";
	return a->libc ? NULL : "it has no glibc";
}

/* --- its functions ------------------------------------------------------------ */

/* mov $SYS_rt_sigreturn, %rax; syscall */
static uint64_t find_restorer(const struct attach *a)
{
	static const uint8_t restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint64_t at, size = a->libc->text_end - a->libc->text;
	uint8_t *text = malloc(size), *found = NULL;

	if (text && pread(a->borrow.mem, text, size, (off_t)a->libc->text) == (ssize_t)size)
		found = memmem(text, size, restorer, sizeof(restorer));
	at = found ? a->libc->text + (uint64_t)(found - text) : 0;
	free(text);
	return at;
}

static const char *find_functions(struct attach *a)
{
	const struct object *c = a->libc, *agent = objects_named(&a->objects, AGENT_NAME);
	size_t i;

	for (i = 0; i < a->objects.num; i++)
		add_object(a, &a->objects.object[i]);
	a->dlopen = object_function(c, "dlopen");
	a->dlerror = a->dlopen ? object_function(c, "dlerror") : 0;
	a->mode = RTLD_NOW;
	if (!a->dlopen) {
		a->dlopen = object_function(c, "__libc_dlopen_mode");
		a->mode |= INTERNAL_DLOPEN;
	}
	a->errno_at = object_function(c, "__errno_location");
	a->cancel = object_function(c, "pthread_setcancelstate");
	a->borrow.mmap = object_function(c, "mmap");
	a->borrow.munmap = object_function(c, "munmap");
	a->borrow.restorer = find_restorer(a);
	a->attach = agent ? object_function(agent, "__jf_agent_attach") : 0;
	if (agent && !a->attach)
		return "it has an agent of another version";
	if (!a->dlopen || !a->errno_at || !a->cancel || !a->borrow.mmap || !a->borrow.munmap || !a->borrow.restorer || !a->ranges)
		return "the file of its C library cannot be read, or is another one by now: restart the program";
	/* The frame of a handler. */
	add_range(a, a->borrow.restorer - 1, a->borrow.restorer + 9);
	return a->full ? "too many of its libraries have functions that no thread must be in" : NULL;
}

/* --- one attach ----------------------------------------------------------------------- */

/*
 * A signal without a handler, which is ignored then; rather one that the thread does not block.
 * 0: none.
 */
static int find_marker(pid_t pid, pid_t tid)
{
	static const int signals[] = { SIGURG, SIGWINCH, SIGCHLD, SIGCONT };
	uint64_t caught, blocked = 0;
	char text[64];
	int blocks = 0;
	size_t i;

	if (!status_line(pid, "SigCgt:", text, sizeof(text)) || sscanf(text, "%" SCNx64, &caught) != 1)
		return 0;
	ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(blocked), &blocked);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (caught & 1UL << (signals[i] - 1))
			continue;
		if (!(blocked & 1UL << (signals[i] - 1)))
			return signals[i];
		blocks = blocks ? blocks : signals[i];
	}
	return blocks;
}

static int say_dlerror(struct attach *a)
{
	char text[512] = "";
	uint64_t at = 0;

	if (a->dlerror && !borrow_call(&a->borrow, a->dlerror, 0, 0, &at) && at &&
	    pread(a->borrow.mem, text, sizeof(text) - 1, (off_t)at) > 0)
		text[sizeof(text) - 1] = 0;
	text[strcspn(text, "\n")] = 0;
	fail("the agent is not loaded into process %d: its dynamic linker says: %s", (int)a->pid, *text ? text : "an error");
	return -ECOMM;
}

static int load(struct attach *a)
{
	struct objects now;
	const struct object *agent;
	uint64_t path, handle;
	int err;

	if (a->attach)
		return 0;
	path = borrow_put(&a->borrow, a->agent);
	err = path ? borrow_call(&a->borrow, a->dlopen, path, a->mode, &handle) : -ENAMETOOLONG;
	if (err)
		return err;
	if (!handle)
		return say_dlerror(a);
	err = objects_read(&now, a->pid, AGENT_NAME);
	agent = err ? NULL : objects_named(&now, AGENT_NAME);
	a->attach = agent ? object_function(agent, "__jf_agent_attach") : 0;
	objects_free(&now);
	return err ? err : a->attach ? 0 : -ENOEXEC;
}

static int begin_control(struct attach *a)
{
	uint64_t result;
	int err = borrow_call(&a->borrow, a->attach, 0, 0, &result);

	return err ? err : (int)(int32_t)result;
}

/* With errno and the state of cancellation as before. */
static int call_all(struct attach *a)
{
	struct borrow *b = &a->borrow;
	uint64_t at, was = 0, state;
	int err, number, end;

	err = borrow_call(b, a->errno_at, 0, 0, &at);
	if (err)
		return err;
	if (pread(b->mem, &number, sizeof(number), (off_t)at) != sizeof(number))
		return -EFAULT;
	/* The state before stands where the texts do not. */
	err = borrow_call(b, a->cancel, PTHREAD_CANCEL_DISABLE, b->stack, &state);
	if (err)
		return err;
	if (state || pread(b->mem, &was, sizeof(int), (off_t)b->stack) != sizeof(int))
		return -EFAULT;
	err = load(a);
	if (!err)
		err = begin_control(a);
	if (err == -ETIMEDOUT || err == -ESRCH)
		return err;
	end = borrow_call(b, a->cancel, was, 0, &state);
	if (pwrite(b->mem, &number, sizeof(number), (off_t)at) != sizeof(number) && !err)
		err = -EFAULT;
	return end ? end : err;
}

/* Of a thread that fits. */
static int use_thread(struct attach *a)
{
	struct borrow *b = &a->borrow;
	uint64_t took;
	int err;

	b->until = now_ns() + CALL_MS * UINT64_C(1000000);
	b->marker = find_marker(a->pid, b->tid);
	err = b->marker ? borrow_begin(b) : -ENOTSUP;
	if (!err)
		err = call_all(a);
	if (err == -ETIMEDOUT && b->stack) {
		err = borrow_leave(b, a->linker->low, a->linker->text_end + (1UL << 20)) ? -EDEADLK : -ETIMEDOUT;
		return err;
	}
	if (borrow_end(b) && !err)
		err = -ESRCH;
	took = (now_ns() - b->since) / 1000;
	if (!err)
		note("process %d has the agent now; one of its threads stood still, %" PRIu64 " us", (int)a->pid, took);
	return err;
}

static void wait_until_stands(struct seized *t)
{
	uint64_t until = now_ns() + STAND_MS * UINT64_C(1000000);

	for (; !t->stands && !t->gone && now_ns() < until; rest(20000))
		thread_look(t);
}

/* One that is in the midst of something goes on a little, and is looked at again. NULL: it fits. */
static const char *move_on(struct attach *a, struct seized *t)
{
	const char *why = "it cannot be read";
	unsigned int i;
	int status;

	for (i = 0; ; i++) {
		if (ptrace(PTRACE_GETREGS, t->tid, 0, &a->borrow.saved))
			return why;
		why = why_unfit(a, t);
		/* In a system call it stays for longer. */
		if (!why || ((int64_t)a->borrow.saved.orig_rax >= 0 && !t->sig) || i == MOVES_MAX)
			return why;
		waitpid(t->tid, &status, __WALL | WNOHANG);
		t->stands = false;
		/* It gets the signal that it was about to get. */
		if (ptrace(PTRACE_CONT, t->tid, 0, (void *)(intptr_t)t->sig))
			return why;
		rest(20000 + i * 1000);
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
		wait_until_stands(t);
		if (!t->stands || t->gone)
			return why;
	}
}

/* -EAGAIN: another one; -EINPROGRESS: and another child; else it is done, or was told. */
static int try_thread(struct attach *a, pid_t tid)
{
	struct seized t = { .pid = a->pid, .tid = tid };
	int err;

	if (thread_is_none(a->pid, tid) || thread_sleeps(a->pid, tid))
		return -EAGAIN;
	a->borrow.tid = tid;
	a->borrow.stack = 0;
	a->borrow.code = 0;
	err = thread_seize(&t);
	if (err)
		return err;
	wait_until_stands(&t);
	if (t.gone)
		return -EAGAIN;
	/* The end of this process lets it go. */
	if (!t.stands)
		return -EINPROGRESS;
	a->fits = move_on(a, &t);
	if (a->fits) {
		thread_let_go(&t);
		return -EAGAIN;
	}
	a->borrow.thread = t;
	err = use_thread(a);
	/* Its stack has no room, or it has ended. */
	return err == -ENOSPC || err == -ESRCH ? -EAGAIN : err;
}

/* 0 if another thread may do it. */
static int try_next(pid_t tid, void *arg)
{
	struct attach *a = (struct attach *)arg;

	a->tried = try_thread(a, tid);
	return a->tried != -EAGAIN;
}

static int try_all(struct attach *a)
{
	a->tried = -EAGAIN;
	return thread_each(a->pid, try_next, a) < 0 ? -ESRCH : a->tried;
}

/* In the child. */
static int one_round(struct attach *a, unsigned int round)
{
	/* It ends this process, also in the midst of a wait for a page, and the thread goes on. */
	signal(SIGALRM, SIG_DFL);
	alarm(END_S);
	if (round)
		begin_unwinder(a);
	return try_all(a);
}

/**
 * struct said - by a child
 * @err: 0 or -errno
 * @fits: as in struct attach; the text is this program's, so it is the same one here
 */
struct said {
	int		err;
	const char	*fits;
};

/* Signals that end this process come after that. */
static int in_child(struct attach *a, unsigned int round)
{
	struct said said = { -ETIMEDOUT, a->fits };
	sigset_t alarm_only, all, was;
	int fd[2];
	pid_t child;

	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &was);
	child = fork();
	if (!child) {
		setpgid(0, 0);
		sigemptyset(&alarm_only);
		sigaddset(&alarm_only, SIGALRM);
		sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
		said.err = one_round(a, round);
		said.fits = a->fits;
		_exit(write(fd[1], &said, sizeof(said)) != sizeof(said));
	}
	close(fd[1]);
	if (child < 0)
		said.err = -ENOMEM;
	else if (read(fd[0], &said, sizeof(said)) < 0)
		said.err = -ETIMEDOUT;
	if (child > 0)
		waitpid(child, NULL, 0);
	close(fd[0]);
	sigprocmask(SIG_SETMASK, &was, NULL);
	a->fits = said.fits;
	return said.err;
}

/* Why it did not come to it. */
static int say_error(struct attach *a, int err)
{
	char why[256];

	switch (err) {
	case -ECOMM:
		return STATUS_FAILED;
	case -EACCES:
		why_not_traced(a->pid, false, why, sizeof(why));
		return refuse(a->pid, why);
	case -ESRCH:
		return fail("there is no process %d", (int)a->pid);
	case -EAGAIN:
	case -EINPROGRESS:
		snprintf(why, sizeof(why), "no thread of it was at a place where it could be loaded, for %d seconds: %s; nothing was changed; try again, or start it by jf-trace run",
			 TRY_MS / 1000, a->fits ? a->fits : "they wait for disks, or have a stack without room");
		return refuse(a->pid, why);
	case -ENOTSUP:
		return refuse(a->pid, "it has handlers for SIGURG, SIGWINCH, SIGCHLD and SIGCONT, one of which is needed without");
	case -EDEADLK:
		return refuse(a->pid, "another thread of it is loading an object, for a long time; nothing was changed; try again");
	case -ESTALE:
		return refuse(a->pid, "it executes one program after the other; try again");
	case -ETIMEDOUT:
		return refuse(a->pid, "loading it takes too long; the thread that does it goes on with that by itself");
	default:
		snprintf(why, sizeof(why), "%s", strerror(-err));
		return refuse(a->pid, why);
	}
}

/* It has executed another program since its memory was opened, or has ended. */
static bool has_executed(const struct attach *a)
{
	char byte;

	return pread(a->borrow.mem, &byte, 1, (off_t)a->dlopen) != 1;
}

static int try_rounds(struct attach *a, uint64_t until)
{
	unsigned int round = 0;
	long pause = 1000000;
	int err;

	for (;;) {
		err = in_child(a, round++);
		if (err && has_executed(a))
			return -ESTALE;
		if ((err != -EAGAIN && err != -EINPROGRESS) || now_ns() > until)
			return err;
		rest(pause);
		pause = pause < 50000000 ? pause * 2 : pause;
	}
}

/* Up to here nothing of the process is touched. */
static int prepare(struct attach *a)
{
	const char *why = refused_by_status(a->pid);
	char path[32], reason[256];
	int err;

	why = why ? why : refused_by_program(a->pid);
	if (why)
		return refuse(a->pid, why);
	if (is_elsewhere(a->pid)) {
		snprintf(reason, sizeof(reason), "it is in a container, or has another root directory: install jf-trace there, and run it there: nsenter -a -t %d jf-trace ...",
			 (int)a->pid);
		return refuse(a->pid, reason);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)a->pid);
	a->borrow.mem = open(path, O_RDWR | O_CLOEXEC);
	if (a->borrow.mem < 0)
		return say_error(a, errno == EPERM ? -EACCES : -errno);
	err = objects_read(&a->objects, a->pid, NULL);
	if (err)
		return say_error(a, err);
	why = refused_by_objects(a);
	why = why ? why : find_functions(a);
	if (why)
		return refuse(a->pid, why);
	return STATUS_OK;
}

/* A status, or -ESTALE: the process executes another program now. */
static int attach_program(pid_t pid, uint64_t until)
{
	struct attach *a = calloc(1, sizeof(*a));
	int status, err = 0;

	if (!a)
		return fail("%s", strerror(ENOMEM));
	a->pid = pid;
	a->borrow.pid = pid;
	a->borrow.mem = -1;
	if (!find_agent(AGENT_NAME, a->agent, sizeof(a->agent))) {
		status = refuse(pid, AGENT_NAME " is not installed");
	} else {
		status = prepare(a);
		err = status ? 0 : try_rounds(a, until);
		if (err == -ESTALE && now_ns() <= until)
			status = -ESTALE;
		else if (err)
			status = say_error(a, err);
		else if (!status && !has_control(pid))
			status = refuse(pid, "it has made no control socket: its folder may not be writable for it (jf-trace(1), FILES)");
	}
	if (a->borrow.mem >= 0)
		close(a->borrow.mem);
	objects_free(&a->objects);
	free(a);
	return status;
}

int attach(pid_t pid)
{
	uint64_t until = now_ns() + TRY_MS * UINT64_C(1000000);
	int status;
	uid_t uid;

	do {
		/* The socket can be of another program that it executes by now. */
		if (has_control(pid))
			return STATUS_OK;
		if (!pid_owner(pid, &uid))
			return fail("there is no process %d", (int)pid);
		if (geteuid() && uid != geteuid())
			return fail("process %d belongs to another user: that user and root alone may control it", (int)pid);
		status = attach_program(pid, until);
	} while (status == -ESTALE);
	return status;
}
#else
int attach(pid_t pid)
{
	if (has_control(pid))
		return STATUS_OK;
	return fail("the agent is not loaded into process %d: that is for x86-64 alone", (int)pid);
}
#endif
