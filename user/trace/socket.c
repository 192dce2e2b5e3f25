// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The control socket of a process (control.h has its place and its protocol), and the thread that
 * serves it.
 *
 * A process has a socket only if it was asked for: JUMPFUNC_TRACE_CONTROL, or jf_record_control().
 *
 * The socket listens before it gets its name: one that refuses connections is of a process
 * that has ended, and may be removed.
 *
 * Programs close descriptors that they do not know. So the thread looks, each time before it uses
 * its own, whether that is still the socket that it has made, and makes another one if not.
 *
 * A forked child has none of its parent's threads. Its handler closes the parent's socket, which
 * the parent keeps, and makes one for the child. A child that ends by _exit() leaves its socket: so
 * one child of many looks for such remains. pthread_create() allocates: the handlers of memory
 * allocators must come before, see jf_record_control().
 *
 * A process whose first thread has ended, by pthread_exit() say, ends with its last one. The thread
 * that serves is not to be that one: once a second it looks whether it is alone, and ends then. The
 * C library ends the process, as it does after the last thread of a program. A child of vfork()
 * that calls exit() has called the functions of its parent's exit, and glibc from 2.41 on keeps a
 * lock for good then: after that the thread ends the process itself.
 */
#include "socket.h"
#include "control.h"
#include "provider.h"
#include "../lib/text.h"
#include "tell.h"
#include "../lib/error.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define STACK		(1 << 20)
/* Of membarrier(). There is no header of the kernel for musl. */
#define REGISTER_PRIVATE_EXPEDITED_SYNC_CORE	(1 << 6)
/* Seconds that a peer has for its request; to read one message; to read all. Others wait for it. */
#define PATIENCE_ASK	1
#define PATIENCE_READ	5
#define PATIENCE_ALL	60
/* How often the thread looks whether it is alone. */
#define LOOK_ALONE	1
/* One of so many forks of a process removes the sockets of children that have ended. */
#define SWEEP		64
/* Shells and daemons use the first ones for themselves. */

/**
 * struct control - of this process
 * @lock:    around all of it
 * @running: there is a thread
 * @ending:  it is to end, and a thread waits for that
 * @turn:    of how many threads it is the last one; those before it are to end
 * @fd:      the socket
 * @made:    what fstat() said of it
 * @pid:     of this process
 * @forks:   of this process, and of those that it comes from
 * @thread:  the thread
 * @at:      where the socket is
 */
static struct control {
	pthread_mutex_t		lock;
	bool			running;
	bool			ending;
	unsigned int		turn;
	int			fd;
	struct stat		made;
	pid_t			pid;
	unsigned int		forks;
	pthread_t		thread;
	struct sockaddr_un	at;
} control = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* exit() was called by a child in this memory. */
static bool child_exits;

__attribute__((__destructor__))
static void control_ends(void)
{
	jf_own(true);
	if (!__atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED) && control.running && control.pid != getpid())
		child_exits = true;
	jf_own(false);
}

/* True if its descriptor still belongs to the socket. */
static bool still_ours(void)
{
	struct stat st;

	return control.fd >= 0 && !fstat(control.fd, &st) && st.st_dev == control.made.st_dev &&
	       st.st_ino == control.made.st_ino;
}

/* Into @parent/jumpfunc, if that can be had. */
static int bind_in(int fd, const char *folder, struct sockaddr_un *at)
{
	struct sockaddr_un hidden;
	char name[48];
	int n, err;

	memset(&hidden, 0, sizeof(hidden));
	memset(at, 0, sizeof(*at));
	hidden.sun_family = at->sun_family = AF_UNIX;
	jf_control_name(name, sizeof(name), (int)getpid(), "/proc/self/ns/pid");
	n = snprintf(hidden.sun_path, sizeof(hidden.sun_path), "%s/.%s", folder, name);
	if (n < 0 || (size_t)n >= sizeof(hidden.sun_path))
		return -ENAMETOOLONG;
	snprintf(at->sun_path, sizeof(at->sun_path), "%s/%s", folder, name);
	err = jf_folder_own(folder);
	if (err)
		return err;
	/* Of a process that had the same number, or of this one before execve(). */
	unlink(hidden.sun_path);
	if (bind(fd, (const struct sockaddr *)&hidden, sizeof(hidden)))
		return -errno;
	if (chmod(hidden.sun_path, 0600) || listen(fd, 16) || rename(hidden.sun_path, at->sun_path)) {
		err = -errno;
		unlink(hidden.sun_path);
	}
	return err;
}

/* By a high number, if it can have one. */
static int keep(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, JF_FIRST_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static int new_socket(void)
{
	const struct timeval look = { LOOK_ALONE, 0 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	/* accept() ends then. */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look));
	return fd;
}

/* The control socket from now on, or an error. *@fd can be another number then. */
static int take_over(int *fd)
{
	*fd = keep(*fd);
	if (fstat(*fd, &control.made))
		return -errno;
	control.fd = *fd;
	control.pid = getpid();
	return 0;
}

/* A socket that has failed once cannot be bound again for certain. */
static int try_folder(const char *folder)
{
	int fd = new_socket(), err;

	if (fd < 0)
		return fd;
	err = bind_in(fd, folder, &control.at);
	if (!err) {
		err = take_over(&fd);
		if (!err)
			return 0;
		unlink(control.at.sun_path);
	}
	close(fd);
	return err;
}

/* Without a file. The peer is known by its rights alone, as it is everywhere else. */
static int try_bare(void)
{
	int fd = new_socket(), err;
	struct sockaddr_un at;
	socklen_t len;

	if (fd < 0)
		return fd;
	len = jf_control_bare(&at, (int)getpid());
	err = bind(fd, (const struct sockaddr *)&at, len) || listen(fd, 16) ? -errno : take_over(&fd);
	if (err) {
		close(fd);
		return err;
	}
	/* wake_thread() has its descriptor, or nothing. */
	memset(&control.at, 0, sizeof(control.at));
	return 0;
}

/* With the lock. */
static int make_socket(void)
{
	const char *dir = jf_env(JF_ENV_FOLDER);
	char folder[PATH_MAX];
	struct stat st;
	int err;

	if (dir && *dir == '/' && strlen(dir) < sizeof(folder) - 16 && !stat(dir, &st) && S_ISDIR(st.st_mode)) {
		snprintf(folder, sizeof(folder), "%s/" JF_CONTROL_FOLDER, dir);
		if (!try_folder(folder))
			return 0;
	}
	snprintf(folder, sizeof(folder), "/run/user/%u/" JF_CONTROL_FOLDER, (unsigned int)geteuid());
	if (!try_folder(folder))
		return 0;
	snprintf(folder, sizeof(folder), "/tmp/" JF_CONTROL_FOLDER "-%u", (unsigned int)geteuid());
	err = try_folder(folder);
	return err && try_bare() ? err : 0;
}

/* With the lock. Another process's of that name, as a parent's after vfork(), is left alone. */
static void drop_socket(void)
{
	if (control.pid == getpid() && *control.at.sun_path)
		unlink(control.at.sun_path);
	if (still_ours())
		close(control.fd);
	control.fd = -1;
}

/* --- the thread ----------------------------------------------------------------------- */

static uint64_t seconds(void)
{
	return jf_clock_ns(CLOCK_MONOTONIC) / UINT64_C(1000000000);
}

/* The same user, or root. */
static int check_peer(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) || len != sizeof(peer))
		return -EPERM;
	return peer.uid == geteuid() || !peer.uid ? 0 : -EPERM;
}

/* That there was no memory even for the end of an answer. */
static void send_lack(int fd)
{
	struct jf_message m = { 0, false, "" };
	char err[12];

	snprintf(err, sizeof(err), "%d", ENOMEM);
	jf_words_add(&m, "end");
	jf_words_add(&m, err);
	jf_words_add(&m, "0");
	send(fd, m.data, m.size, MSG_NOSIGNAL);
}

static void send_answer(int fd, const struct jf_answer *a)
{
	uint64_t end = seconds() + PATIENCE_ALL;
	size_t at = 0;
	uint32_t len;

	if (!a->size) {
		send_lack(fd);
		return;
	}

	while (at < a->size) {
		memcpy(&len, a->data + at, sizeof(len));
		at += sizeof(len);
		if (send(fd, a->data + at, len, MSG_NOSIGNAL) != (ssize_t)len || seconds() > end)
			return;
		at += len;
	}
}

/* By high numbers, which programs do not expect to get. One that can have none is left. */
static void take_files(struct jf_handed *to, struct msghdr *m)
{
	struct cmsghdr *c;
	size_t i, num;
	int fd, high;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		num = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(fd) : 0;
		for (i = 0; i < num; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			high = fcntl(fd, F_DUPFD_CLOEXEC, JF_FIRST_FD);
			close(fd);
			/* Without the first one there are none: it is known by its place. */
			if (high >= 0 && to->num < JF_CONTROL_FILES && (to->num || !i))
				to->fd[to->num++] = high;
			else if (high >= 0)
				close(high);
		}
	}
}

/* As recv(). Descriptors of a peer that is refused are closed. */
static ssize_t receive(int fd, char *data, size_t size, struct jf_handed *handed)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(JF_CONTROL_FILES * sizeof(int))];
	struct iovec v = { data, size };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	ssize_t n = recvmsg(fd, &m, MSG_TRUNC | MSG_CMSG_CLOEXEC);

	handed->num = 0;
	if (n >= 0)
		take_files(handed, &m);
	return n;
}

/* One request of one peer. */
static void serve_peer(int fd)
{
	const struct timeval to_ask = { PATIENCE_ASK, 0 }, to_read = { PATIENCE_READ, 0 };
	struct jf_handed handed;
	char data[JF_CONTROL_MAX];
	struct jf_answer a;
	int refused;
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &to_ask, sizeof(to_ask));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &to_read, sizeof(to_read));
	refused = check_peer(fd);
	/*
	 * The size of the whole. A peer that is refused would miss the answer if this was not read.
	 */
	n = receive(fd, data, sizeof(data), &handed);
	if (n > 0) {
		if ((size_t)n > sizeof(data) && !refused)
			refused = -EPROTO;
		jf_control_serve(&a, data, (size_t)n, refused, fd, &handed);
	}
	while (handed.num)
		close(handed.fd[--handed.num]);
	if (n <= 0)
		return;
	send_answer(fd, &a);
	free(a.data);
}

/* The begin of a file of /proc; no text if it cannot be read. */
static void read_own(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
}

/*
 * True if the first thread has ended, and every other one but this. False if that cannot be read. A
 * first thread that has ended is a thread of the process as before, and /proc/self/status is its
 * own.
 */
static bool is_alone(void)
{
	char text[1024];
	const char *state;

	read_own("/proc/self/status", text, sizeof(text));
	state = strstr(text, "\nState:\tZ");
	return state && strstr(state, "\nThreads:\t2\n");
}

/*
 * What the first thread has ended with, by a system call of its own, or 0. Since 5.16 the kernel
 * gives a process the status of its last thread.
 */
static int first_status(void)
{
	char text[1024], *last;

	read_own("/proc/self/stat", text, sizeof(text));
	last = strrchr(text, ' ');
	return last ? atoi(last + 1) >> 8 & 0xff : 0;
}

/* Of the thread, after a wait in which no peer came: false, it is to end. */
static bool looks_around(void)
{
	bool alone = is_alone();
	int status = alone ? first_status() : 0;

	if (status)
		syscall(SYS_exit, status);
	if (alone && child_exits)
		_exit(0);
	return !alone;
}

/*
 * Of the thread: false, it is to end. *@fd: the socket, or an error. A socket that the program has
 * closed is made anew.
 */
static bool own_socket(unsigned int turn, int *fd)
{
	bool go_on;
	int err = 0;

	pthread_mutex_lock(&control.lock);
	go_on = !control.ending && control.turn == turn;
	if (go_on && !still_ours()) {
		drop_socket();
		err = make_socket();
	}
	*fd = err ? err : control.fd;
	pthread_mutex_unlock(&control.lock);
	return go_on;
}

/*
 * Of the thread: false, it is to end. accept() waits at the socket, whatever becomes of its
 * descriptor during the wait; poll() would look at another file that has the number then.
 */
static bool wait_for_peer(unsigned int turn, int *peer)
{
	const struct timespec rest = { 0, 100000000 }, look = { LOOK_ALONE, 0 };
	struct sockaddr_un at;
	socklen_t len = sizeof(at);
	int fd;

	*peer = -1;
	if (!own_socket(turn, &fd))
		return false;
	/* The program can have used up its descriptors. */
	if (fd < 0) {
		nanosleep(&look, NULL);
		return looks_around();
	}
	*peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (*peer < 0 && errno == EAGAIN)
		return looks_around();
	/* It was closed, and another one had its number, since still_ours(). */
	memset(&at, 0, sizeof(at));
	if (*peer >= 0 && (getsockname(*peer, (struct sockaddr *)&at, &len) || at.sun_family != AF_UNIX ||
			   !strstr(at.sun_path + !*at.sun_path, JF_CONTROL_NAME))) {
		close(*peer);
		*peer = -1;
		errno = EBADF;
	}
	/*
	 * After a signal, as setuid() sends to each thread, the socket can be a closed one: another
	 * one is made at once. If the program has used up its descriptors, the peer is still there.
	 */
	if (*peer < 0 && errno != EINTR && errno != EBADF)
		nanosleep(&rest, NULL);
	return true;
}

/*
 * A thread has its creator's way to round, and traps for that, and may have no right to read the
 * counter. The agent takes the C library's prctl() for one of the program's.
 */
static void begin_as_usual(void)
{
#ifdef __x86_64__
	static const uint32_t usual = 0x1f80;
	long ret;

	__asm__ volatile("fninit; ldmxcsr %0" : : "m" (usual));
	__asm__ volatile("syscall" : "=a" (ret) : "a" (SYS_prctl), "D" (PR_SET_TSC), "S" (PR_TSC_ENABLE), "d" (0) : "rcx", "r11", "memory");
#endif
}

static void *serve(void *arg)
{
	unsigned int turn = (unsigned int)(uintptr_t)arg;
	bool own = jf_own(true);
	int peer;

	/* jf-trace knows it by this name. */
	prctl(PR_SET_NAME, JF_CONTROL_THREAD);
	begin_as_usual();
	while (wait_for_peer(turn, &peer)) {
		/* The agent can have been loaded after this thread began. */
		if (!own)
			own = jf_own(true);
		if (peer >= 0) {
			serve_peer(peer);
			close(peer);
		}
	}
	return NULL;
}

/* With the lock. */
static int start_thread(void)
{
	static const int own[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS };
	sigset_t all, was;
	pthread_attr_t attr;
	size_t i;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	pthread_attr_setstacksize(&attr, STACK);
	/*
	 * The program's handlers run on its own threads, but for handlers of signals that a
	 * thread causes itself.
	 */
	sigfillset(&all);
	for (i = 0; i < sizeof(own) / sizeof(*own); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(&control.thread, &attr, serve, (void *)(uintptr_t)++control.turn);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

/* With the lock. */
static int start_control(void)
{
	int err;

	control.ending = false;
	err = make_socket();
	if (err)
		return err;
	err = start_thread();
	if (err)
		drop_socket();
	else
		control.running = true;
	return err;
}

/* --- forks ---------------------------------------------------------------------------- */

static void prepare(void)
{
	jf_own(true);
	pthread_mutex_lock(&control.lock);
	control.forks++;
	jf_own(false);
}

/* With the lock. */
static void sweep(void)
{
	char folder[sizeof(control.at.sun_path)], *end;

	memcpy(folder, control.at.sun_path, sizeof(folder));
	end = strrchr(folder, '/');
	if (!end)
		return;
	*end = 0;
	jf_control_sweep(folder);
}

static void in_parent(void)
{
	jf_own(true);
	pthread_mutex_unlock(&control.lock);
	jf_own(false);
}

static void in_child(void)
{
	bool was_running = control.running, quiet = __atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED);

	jf_own(true);
	if (!quiet && still_ours())
		close(control.fd);
	control.fd = -1;
	control.running = false;
	*control.at.sun_path = 0;
	/* If there can be none the child goes on without. */
	if (was_running && !control.ending && !quiet && !start_control() && !(control.forks % SWEEP))
		sweep();
	pthread_mutex_unlock(&control.lock);
	jf_own(false);
}

/* --- requests of the user ------------------------------------------------------------- */

static void once(void)
{
	/*
	 * Allocators that make themselves ready with the first call register their handlers for
	 * fork() then. In a child handlers are called in the order in which they were registered,
	 * and in_child() allocates.
	 */
	void *volatile first = malloc(1);

	free(first);
	pthread_atfork(prepare, in_parent, in_child);
}

static int start_it(void)
{
	static pthread_once_t done = PTHREAD_ONCE_INIT;
	int err;

	pthread_once(&done, once);
	pthread_mutex_lock(&control.lock);
	err = control.running ? -EBUSY : start_control();
	pthread_mutex_unlock(&control.lock);
	return err;
}

/*
 * With the lock. It waits at the socket, or serves a peer and looks at @ending after that. A thread
 * is not cancelled: tools that instrument programs, as AddressSanitizer does, may not stand that.
 */
static bool wake_thread(void)
{
	bool woken;
	int fd;

	if (still_ours())
		return !shutdown(control.fd, SHUT_RDWR);
	/* The program has closed it: then its name is all that leads to it. */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	woken = fd >= 0 && !connect(fd, (const struct sockaddr *)&control.at, sizeof(control.at));
	if (fd >= 0)
		close(fd);
	return woken;
}

static int end_it(void)
{
	pthread_t thread;
	bool woken;

	pthread_mutex_lock(&control.lock);
	/*
	 * A child of vfork() has no such thread, and the thread itself does not wait for its end.
	 */
	if (!control.running || control.ending || control.pid != getpid() ||
	    pthread_equal(control.thread, pthread_self())) {
		pthread_mutex_unlock(&control.lock);
		return -ENOENT;
	}
	control.ending = true;
	thread = control.thread;
	woken = wake_thread();
	pthread_mutex_unlock(&control.lock);
	/* One that nothing leads to any more stays where it is, and does nothing. */
	if (woken)
		pthread_join(thread, NULL);
	else
		pthread_detach(thread);
	pthread_mutex_lock(&control.lock);
	drop_socket();
	control.running = false;
	pthread_mutex_unlock(&control.lock);
	return 0;
}

int jf_record_control(bool on)
{
	int err;

	jf_own(true);
	err = on ? start_it() : end_it();
	jf_own(false);
	return err;
}

void __jf_control_by_environment(void)
{
	const char *wanted = secure_getenv("JUMPFUNC_TRACE_CONTROL");
	int err;

	if (!wanted || strcmp(wanted, "1"))
		return;
	/*
	 * libjumpfunc will want it. As long as there is one thread it takes no time, later a grace
	 * period of the kernel.
	 */
	syscall(SYS_membarrier, REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
	err = start_it();
	if (err && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: JUMPFUNC_TRACE_CONTROL: no control: %s\n", jf_error(-err));
}

/* After recording.c's: in a child its handlers are to be called first. The agent begins later. */
__attribute__((__constructor__(104)))
static void begins(void)
{
	if (!&__jf_agent)
		__jf_control_by_environment();
}

/* If it ends in another way, or has a filter, jf-trace removes the remains. */
__attribute__((__destructor__))
static void ends(void)
{
	jf_own(true);
	if (!__atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED) && control.pid == getpid() && *control.at.sun_path)
		unlink(control.at.sun_path);
	jf_own(false);
}
