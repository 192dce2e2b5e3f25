// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Changes of text that cannot be made while threads run (control.h, lib/text.c). All threads of a
 * process are stopped; if no thread is in the midst of the change, the new bytes are written; then
 * all threads go on.
 *
 * A child of this process does that (stand.c). The kernel lets all threads go when the child ends,
 * for any reason. Each poke is one write to one page, so no poke is half-written then. If this
 * process is killed, the child goes on. The child is in a group of its own: a stop of this
 * process's group does not stop the child.
 *
 * A page of the process can belong to a file system that does not answer. A timer ends the child
 * then. This process does not wait for a child that cannot be ended.
 *
 * Where a thread can be:
 *   at the first byte of a poke, or outside	the poke can be written
 *   in a system call		the thread can execute the call again: the instruction before counts
 *   in a signal handler		the frame of the handler has the address of the interruption
 *
 * So each word of a stack counts as an address, up from the stack pointer. If a frame of a handler
 * has a lower stack pointer, the stack is read from there. If the handler has a stack of its own
 * (sigaltstack), its frame names that stack, and has the stack pointer on the interrupted one: both
 * are read. The end of a stack must be known: by sigaltstack(), the C library's record of the
 * thread, or the words that execve() put there. Threads of the kernel, such as io_uring's, execute
 * no text of the process.
 *
 * "Unknown" counts as inside. Then all threads go on, and the child tries again after a pause, for
 * JF_CONTROL_STOP_MS at most. The child also tries again if the last thread got no processor within
 * STAND_MS.
 *
 * The process can belong to another user. Its request changes its own memory alone, and only if its
 * user has the right to do so. That is the owner of /proc/PID, which is root as soon as the process
 * executes a program with other rights.
 */
#include "tool.h"
#include "stand.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/text.h"

/* Pokes of one stop. */
#define POKES_MAX	65536U
#define PAGE		4096U
/* How long all may take that is looked at. */
#define LOOK_MS		250
/* One stop ends then, whatever it waits for. */
#define END_MS		500

/**
 * struct poke - bytes of the process's text
 * @at:    where
 * @num:   of them
 * @old:   the present bytes
 * @new:   the bytes to write
 * @alone: they are several instructions
 */
struct poke {
	uint64_t	at;
	uint8_t		num;
	uint8_t		old[JF_TEXT_MAX];
	uint8_t		new[JF_TEXT_MAX];
	bool		alone;
};

/**
 * struct waiting - the process that waits for its request
 * @at:     a number stands there as long as it waits
 * @number: this one
 * @thread: the thread pointer of the thread that does
 */
struct waiting {
	uint64_t	at;
	uint32_t	number;
	uint64_t	thread;
};

/**
 * struct stop - of all threads
 * @of:      the pokes to be written
 * @wait:    for it
 * @all:     the threads
 * @mem:     the memory of the process
 * @waiters: how many threads have the thread pointer of the one that waits
 * @late:    it takes too long to look where they are
 * @bad:     the poke that cannot be written
 */
struct stop {
	const struct stops	*of;
	const struct waiting	*wait;
	struct standing		all;
	int			mem;
	unsigned int		waiters;
	bool			late;
	size_t			bad;
};

/**
 * struct result - what the child says
 * @err:    0 or -errno
 * @bad:    which poke
 * @times:  how often all threads were stopped
 * @worst:  the longest of that, in nanoseconds
 * @asleep: after -EAGAIN: the thread that cannot be interrupted
 * @untold: it cannot be told which processes have the same memory
 */
struct result {
	int		err;
	size_t		bad;
	unsigned int	times;
	uint64_t	worst;
	pid_t		asleep;
	bool		untold;
};

/* --- requests of the process ---------------------------------------------------------- */

static bool parse_address(const char *text, uint64_t *at)
{
	char *end;

	errno = 0;
	*at = strtoull(text, &end, 16);
	return *text && !*end && !errno && strspn(text, "0123456789abcdef") == strlen(text);
}

static bool parse_bytes(const char *text, uint8_t *bytes, size_t num)
{
	size_t i;

	if (strlen(text) != 2 * num || strspn(text, "0123456789abcdef") != 2 * num)
		return false;
	for (i = 0; i < num; i++)
		if (sscanf(text + 2 * i, "%2" SCNx8, &bytes[i]) != 1)
			return false;
	return true;
}

int stops_add(struct stops *s, const struct jf_words *w)
{
	struct poke p = { 0 }, *more;
	size_t num = w->num == 5 ? strlen(w->word[2]) / 2 : 0;

	/* The child can be killed in the midst of a write to two pages. */
	if (!num || num > JF_TEXT_MAX || !parse_address(w->word[1], &p.at) || !parse_bytes(w->word[2], p.old, num) ||
	    !parse_bytes(w->word[3], p.new, num) || p.at % PAGE + num > PAGE || s->num == POKES_MAX)
		return -EPROTO;
	p.num = (uint8_t)num;
	p.alone = strcmp(w->word[4], "one");
	if (s->num == s->room) {
		more = realloc(s->poke, (s->room * 2 + 64) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->poke = more;
		s->room = s->room * 2 + 64;
	}
	s->poke[s->num++] = p;
	return 0;
}

/* --- where they are ------------------------------------------------------------------- */

/* The poke of several instructions that has @at in its midst, or @num. They ascend. */
static size_t in_midst(const struct stop *s, uint64_t at)
{
	size_t low = 0, high = s->of->num;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->of->poke[mid].at >= at)
			high = mid;
		else
			low = mid + 1;
	}
	if (low && s->of->poke[low - 1].alone && at - s->of->poke[low - 1].at < s->of->poke[low - 1].num)
		return low - 1;
	return s->of->num;
}

static bool any_alone(const struct stops *s)
{
	size_t i;

	for (i = 0; i < s->num; i++)
		if (s->poke[i].alone)
			return true;
	return false;
}

#ifdef __x86_64__
/* In the midst of which poke; else @bad is their number. */
static bool is_inside(uint64_t word, void *arg)
{
	struct stop *s = arg;

	s->bad = in_midst(s, word);
	return s->bad < s->of->num;
}

static bool is_late(void *arg)
{
	struct stop *s = arg;

	s->late = is_past(&s->all, LOOK_MS);
	return s->late;
}

static bool is_clear_stack(struct stop *s, uint64_t at, uint64_t end)
{
	const struct stack_look look = { s->all.pid[0], true, is_inside, is_late, s };
	bool clear = stack_is_clear(&look, at, end);

	if (clear || s->bad == s->of->num)
		s->bad = 0;
	return clear;
}

static bool is_clear(struct stop *s, const struct seized *t)
{
	struct user_regs_struct r;
	unsigned long flags, end;
	char state;

	if (ptrace(PTRACE_GETREGS, t->tid, 0, &r))
		return false;
	s->bad = in_midst(s, r.rip);
	/* A system call that is done once more. */
	if (s->bad == s->of->num && (int64_t)r.orig_rax >= 0)
		s->bad = in_midst(s, r.rip - 2);
	if (s->bad < s->of->num)
		return false;
	s->bad = 0;
	/*
	 * This thread has the addresses of the pokes on its stack. Of two such threads one can be
	 * inside.
	 */
	if (r.fs_base == s->wait->thread)
		return !s->waiters++;
	if (t->tid != t->pid)
		return is_clear_stack(s, r.rsp - 128, r.fs_base);
	return thread_stat(t->pid, t->tid, &state, &flags, &end) && is_clear_stack(s, r.rsp - 128, end);
}
#else
static bool is_clear(struct stop *s, const struct seized *t)
{
	(void)s;
	(void)t;
	return false;
}
#endif

static bool are_clear(struct stop *s)
{
	size_t i;

	if (!any_alone(s->of))
		return true;
	s->waiters = 0;
	for (i = 0; i < s->all.num; i++)
		if (s->all.thread[i].stands && !is_clear(s, &s->all.thread[i]))
			return false;
	return true;
}

/* --- one stop ------------------------------------------------------------------------- */

/* True if its user could do this. */
static bool is_users(const struct stop *s)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)s->all.pid[0]);
	return !stat(path, &st) && st.st_uid == s->of->uid;
}

static bool stands_there(const struct stop *s, const struct poke *p, const uint8_t *bytes)
{
	uint8_t now[JF_TEXT_MAX];

	return pread(s->mem, now, p->num, (off_t)p->at) == p->num && !memcmp(now, bytes, p->num);
}

static bool put(const struct stop *s, const struct poke *p, const uint8_t *bytes)
{
	return pwrite(s->mem, bytes, p->num, (off_t)p->at) == p->num;
}

static int write_all(struct stop *s)
{
	const struct poke *poke = s->of->poke;
	size_t i, num = s->of->num;
	uint32_t now;

	if (!is_users(s))
		return -EACCES;
	if (pread(s->mem, &now, sizeof(now), (off_t)s->wait->at) != sizeof(now) || now != s->wait->number)
		return -ECANCELED;
	for (i = 0; i < num; i++)
		if (!stands_there(s, &poke[i], poke[i].old)) {
			s->bad = i;
			return -EILSEQ;
		}
	for (i = 0; i < num; i++)
		if (!put(s, &poke[i], poke[i].new))
			break;
	if (i == num)
		return 0;
	s->bad = i;
	while (i--)
		put(s, &poke[i], poke[i].old);
	return -EIO;
}

static int open_memory(struct stop *s)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)s->all.pid[0]);
	s->mem = open(path, O_RDWR | O_CLOEXEC);
	return s->mem < 0 ? -EACCES : 0;
}

static int stop_once(struct stop *s, struct result *r)
{
	const struct itimerval end = { .it_value = { 0, END_MS * 1000 } }, never = { .it_value = { 0, 0 } };
	uint64_t took;
	int err;

	/* A process with other rights is not stopped. */
	if (!is_users(s))
		return -EACCES;
	s->all.num = 0;
	s->all.pids = 1;
	s->late = false;
	memset(s->all.known, 0, TIDS_MAX / 8);
	/* The timer's signal ends this process, also in the midst of a wait for a page. */
	setitimer(ITIMER_REAL, &end, NULL);
	err = stand_all(&s->all);
	if (!err)
		err = are_clear(s) ? write_all(s) : s->late ? -ETIMEDOUT : -EINPROGRESS;
	let_go(&s->all);
	took = now_ns() - s->all.since;
	setitimer(ITIMER_REAL, &never, NULL);
	let_late_go(&s->all);
	r->times++;
	r->worst = took > r->worst ? took : r->worst;
	return err;
}

/* For the timer's signal, or NULL. */
static struct stop *at_timer;

/* A thread that goes on by itself may be ended by its filter (threads.c). */
static void on_timer(int sig)
{
	(void)sig;
	let_go(&at_timer->all);
	let_late_go(&at_timer->all);
	_exit(1);
}

static void unblock_timer(void)
{
	sigset_t timer;

	/* The default ends this process in a wait for a page, too. */
	signal(SIGALRM, at_timer ? on_timer : SIG_DFL);
	sigemptyset(&timer);
	sigaddset(&timer, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &timer, NULL);
}

/* A thread was in the midst, or it was long until the last thread had a processor. */
static bool can_do_again(const struct stop *s, int err)
{
	return err == -EINPROGRESS || (err == -ETIMEDOUT && !s->late);
}

static int raise_to(pid_t tid, void *priority)
{
	int *most = (int *)priority;
	struct sched_param p;

	if (!sched_getparam(tid, &p) && p.sched_priority > *most)
		*most = p.sched_priority;
	return 0;
}

/*
 * All threads of the process wait for this one, and a real-time thread that was let go would keep
 * it from the others: so it comes before all of them. Most users have no right to that.
 */
static void come_first(pid_t pid)
{
	int most = sched_get_priority_max(SCHED_FIFO);
	struct sched_param first = { .sched_priority = 0 };

	thread_each(pid, raise_to, &first.sched_priority);
	first.sched_priority += first.sched_priority < most;
	sched_setscheduler(0, SCHED_FIFO, &first);
}

/* In the child: at its end the threads go on. */
static void stop_and_write(const struct stops *of, pid_t pid, const struct waiting *wait, uint64_t until, struct result *r)
{
	struct stop s = { .of = of, .wait = wait, .all = { .pid = { pid }, .known = malloc(TIDS_MAX / 8) } };
	long pause = 500000;

	at_timer = thread_any_filter(pid) ? &s : NULL;
	unblock_timer();
	r->err = s.all.known ? open_memory(&s) : -ENOMEM;
	while (!r->err) {
		come_first(pid);
		r->err = stop_once(&s, r);
		if (!can_do_again(&s, r->err) || now_ns() > until)
			break;
		r->err = 0;
		rest(pause);
		pause = pause < 50000000 ? pause * 2 : pause;
	}
	r->bad = s.bad;
	r->asleep = s.all.asleep;
	r->untold = s.all.untold;
}

/* --- for others ----------------------------------------------------------------------- */

/* The child's result, if it comes in time. */
static void listen_to(int fd, struct result *got)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct result r;

	if (poll(&p, 1, JF_CONTROL_STOP_MS + END_MS + LOOK_MS) == 1 && read(fd, &r, sizeof(r)) == sizeof(r))
		*got = r;
}

/* A child that the kernel cannot end is left alone. */
static void end_child(pid_t child)
{
	unsigned int tries;

	kill(child, SIGKILL);
	for (tries = 0; !waitpid(child, NULL, WNOHANG) && tries < 1000; tries++)
		rest(500000);
}

/* Signals that end this process come after that. */
static void in_child(struct stops *s, pid_t pid, const struct waiting *wait, uint64_t until, struct result *r)
{
	/* If it says nothing, it was ended in the midst. */
	struct result got = { .err = -ETIMEDOUT, .times = 1, .worst = END_MS * UINT64_C(1000000) };
	struct result begun = { .err = -ETIMEDOUT };
	sigset_t all, was;
	pid_t child;
	int said[2];

	if (pipe2(said, O_CLOEXEC)) {
		r->err = -errno;
		return;
	}
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &was);
	child = fork();
	if (!child) {
		setpgid(0, 0);
		stop_and_write(s, pid, wait, until, &begun);
		_exit(write(said[1], &begun, sizeof(begun)) != sizeof(begun));
	}
	close(said[1]);
	if (child > 0) {
		listen_to(said[0], &got);
		end_child(child);
	} else {
		got = begun;
	}
	close(said[0]);
	sigprocmask(SIG_SETMASK, &was, NULL);
	got.times += r->times;
	got.worst = got.worst > r->worst ? got.worst : r->worst;
	*r = got;
}

/*
 * The end of a child lets go of a thread that did not stop. The next child waits for that thread.
 */
static int in_children(struct stops *s, pid_t pid, const struct waiting *wait, struct result *r)
{
	uint64_t until = now_ns() + JF_CONTROL_STOP_MS * UINT64_C(1000000);
	long pause = 2000000;

	for (;;) {
		in_child(s, pid, wait, until, r);
		if (r->err != -EAGAIN)
			return r->err;
		do
			rest(pause);
		while (now_ns() < until && thread_sleeps(pid, r->asleep));
		if (now_ns() >= until)
			return -ETIMEDOUT;
		pause = pause < 50000000 ? pause * 2 : pause;
	}
}

int stops_write(struct stops *s, pid_t pid, const struct jf_words *w, size_t *bad)
{
	struct result r = { 0 };
	struct waiting wait;
	char why[256];
	int err = -EPROTO;

	if (w->num == 4 && parse_address(w->word[1], &wait.at) && jf_number_parse(w->word[2], &wait.number) &&
	    parse_address(w->word[3], &wait.thread))
		err = in_children(s, pid, &wait, &r);
	if (err == -EACCES && !s->told) {
		s->told = true;
		why_not_traced(pid, r.untold, why, sizeof(why));
		note("the threads of process %d are not stopped: %s", (int)pid, why);
	}
	s->num = 0;
	s->times += r.times;
	s->worst = r.worst > s->worst ? r.worst : s->worst;
	*bad = r.bad;
	return err;
}

void stops_end(struct stops *s, pid_t pid)
{
	if (s->times)
		note("process %d stood still %s, %" PRIu64 " us at the longest", (int)pid,
		     s->times > 1 ? "several times" : "once", s->worst / 1000);
	free(s->poke);
}
