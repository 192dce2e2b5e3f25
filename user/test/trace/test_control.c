// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The control socket of a process, as friends and others meet it: the requests that are understood,
 * the users who may make them, its remains, and that no request hurts the program.
 */
#include "common.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#define CREATE_TRACE_POINTS
#include "events.h"

#include "../../trace/control.h"

#ifdef __SANITIZE_ADDRESS__
/* Its search for leaks stops all threads, and does not know those that a forked child has. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#define ROUNDS	40
#else
#define ROUNDS	200
#endif

static char folder[80];

static void path_of(char *buf, size_t size, pid_t pid)
{
	int n = snprintf(buf, size, "%s/", folder);

	jf_control_name(buf + n, size - (size_t)n, (int)pid, "/proc/self/ns/pid");
}

static int connect_to(pid_t pid)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	path_of(at.sun_path, sizeof(at.sun_path), pid);
	if (!connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -errno;
}

/* The number of the answer's "end", or -ETIME without an end. */
static int ask_raw(pid_t pid, const void *data, size_t size, unsigned int *parts)
{
	int fd = connect_to(pid), err = -ETIME;
	char answer[JF_CONTROL_MAX];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct jf_words w;
	ssize_t n;

	if (parts)
		*parts = 0;
	if (fd < 0)
		return fd;
	if (send(fd, data, size, MSG_NOSIGNAL) < 0)
		err = -errno;
	while (poll(&p, 1, 20000) == 1 && (n = recv(fd, answer, sizeof(answer), 0)) > 0) {
		if (jf_words_split(&w, answer, (size_t)n)) {
			err = -EBADMSG;
			break;
		}
		if (!strcmp(w.word[0], "end") && w.num == 3) {
			err = -atoi(w.word[1]);
			break;
		}
		if (parts)
			++*parts;
	}
	close(fd);
	return err;
}

#define ASK(pid, text)	ask_raw(pid, "jf1\0" text, sizeof("jf1\0" text), NULL)

/* --- requests -------------------------------------------------------------------------- */

static int parsed(const char *data, size_t size, struct jf_request *r)
{
	/* At the end of the memory: the sanitizer sees reads beyond it. */
	char *copy = malloc(size ? size : 1);
	int err;

	if (size)
		memcpy(copy, data, size);
	err = jf_request_parse(r, copy, size);
	if (!err && r->glob)
		CHECK(r->glob >= copy && r->glob < copy + size, "it points elsewhere");
	free(copy);
	return err;
}

#define PARSED(text)	parsed("" text, sizeof("" text), &r)

static void requests(void)
{
	struct jf_request r;
	char longest[JF_CONTROL_MAX + 1];

	CHECK(!PARSED("jf1\0list") && r.command == JF_COMMAND_LIST && !r.glob, "list");
	CHECK(!PARSED("jf1\0list\0*"), "list *");
	CHECK(!PARSED("jf1\0enable\0a:*") && r.command == JF_COMMAND_ENABLE && !r.stops, "enable");
	CHECK(!PARSED("jf1\0disable\0a:*\0stops") && r.command == JF_COMMAND_DISABLE && r.stops, "the peer can stop threads");
	CHECK(PARSED("jf1\0enable\0a:*\0stop") == -EINVAL && PARSED("jf1\0list\0a:*\0stops") == -EINVAL, "another word");
	CHECK(!PARSED("jf1\0disable\0a b"), "a blank");
	CHECK(!PARSED("jf1\0record\0mode=discard\0packets=3\0packet_size=8192\0rings=5\0clock=none\0parent=/x y") &&
	      r.options.mode == JF_RECORD_DISCARD && r.options.packets == 3 && r.options.packet_size == 8192 &&
	      r.options.rings == 5 && r.options.clock == JF_RECORD_CLOCK_NONE, "record");
	CHECK(!PARSED("jf1\0stats"), "stats");
	CHECK(!PARSED("jf1\0stop"), "stop");
	CHECK(parsed("", 0, &r) == -EPROTO, "nothing");
	CHECK(parsed("jf1\0list", 8, &r) == -EPROTO, "no 0 at the end");
	CHECK(PARSED("jf1") == -ENOSYS, "no command");
	CHECK(PARSED("") == -EPROTONOSUPPORT, "an empty word");
	CHECK(PARSED("jf2\0list") == -EPROTONOSUPPORT, "version");
	CHECK(PARSED("jf1\0lis") == -ENOSYS, "lis");
	CHECK(PARSED("jf1\0enable") == -EINVAL, "enable what?");
	CHECK(PARSED("jf1\0enable\0") == -EINVAL, "enable nothing");
	CHECK(PARSED("jf1\0enable\0a\0b") == -EINVAL, "enable two");
	CHECK(PARSED("jf1\0stop\0now") == -EINVAL, "stop now");
	CHECK(PARSED("jf1\0record\0mode=") == -EINVAL, "mode");
	CHECK(PARSED("jf1\0record\0clock=sun") == -EINVAL, "clock");
	CHECK(PARSED("jf1\0record\0packets=-4") == -EINVAL, "negative");
	CHECK(PARSED("jf1\0record\0packets=4x") == -EINVAL, "not a number");
	CHECK(PARSED("jf1\0record\0packets=4294967296") == -EINVAL, "too large");
	CHECK(PARSED("jf1\0record\0rings=0") == -EINVAL, "zero");
	CHECK(PARSED("jf1\0record\0parent=x") == -EINVAL, "not absolute");
	CHECK(PARSED("jf1\0record\0what=3") == -EINVAL, "unknown");
	CHECK(PARSED("jf1\0a\0a\0a\0a\0a\0a\0a\0a\0a") == -EPROTO, "too many words");
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "jf1\0enable", 11);
	longest[JF_CONTROL_MAX - 1] = 0;
	CHECK(parsed(longest, JF_CONTROL_MAX, &r) == -EINVAL, "a long pattern");
	longest[JF_CONTROL_MAX] = 0;
	CHECK(parsed(longest, JF_CONTROL_MAX + 1, &r) == -EPROTO, "too long");
	finish("requests");
}

static void messages(void)
{
	struct jf_message m = { 0, false, "" };
	struct jf_words w;
	char big[JF_CONTROL_MAX + 100];

	jf_words_add(&m, "a");
	jf_words_add(&m, NULL);
	jf_words_add(&m, "b c");
	CHECK(!jf_words_split(&w, m.data, m.size) && w.num == 3 && !strcmp(w.word[2], "b c") && !*w.word[1], "words");
	memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = 0;
	jf_words_add(&m, big);
	CHECK(m.full && m.size == JF_CONTROL_MAX, "cut");
	CHECK(!jf_words_split(&w, m.data, m.size) && w.num == 4, "whole after it was cut");
	jf_words_add(&m, "more");
	CHECK(m.full && m.size == JF_CONTROL_MAX, "no room at all");
	finish("messages");
}

/* --- the socket ------------------------------------------------------------------------ */

static void on_and_off(void)
{
	char path[160];
	struct stat st;

	CHECK(jf_record_control(false) == -ENOENT, "it was off");
	CHECK(!jf_record_control(true), "on");
	CHECK(jf_record_control(true) == -EBUSY, "twice");
	path_of(path, sizeof(path), getpid());
	CHECK(!stat(path, &st) && S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0600, "socket: %o", st.st_mode);
	CHECK(!stat(folder, &st) && (st.st_mode & 0777) == 0700, "folder: %o", st.st_mode);
	CHECK(!ASK(getpid(), "stats"), "stats");
	CHECK(!jf_record_control(false), "off");
	CHECK(lstat(path, &st) && errno == ENOENT, "the socket is left");
	CHECK(jf_record_control(false) == -ENOENT, "it is off");
	CHECK(!jf_record_control(true), "on again");
	CHECK(!ASK(getpid(), "stats"), "stats");
	finish("on and off");
}

static void recording(void)
{
	unsigned int parts;
	char text[200] = "jf1\0record\0parent=";
	size_t len = 18;

	CHECK(ASK(getpid(), "enable\0small") == -ENOENT, "nothing is recorded yet");
	CHECK(ASK(getpid(), "stop") == -ENOENT, "stop");
	CHECK(ASK(getpid(), "record\0packets=1") == -EINVAL, "one packet");
	CHECK(ASK(getpid(), "record\0parent=/nowhere") == -ENOENT, "no such folder");
	memcpy(text + len, test_parent, strlen(test_parent) + 1);
	CHECK(!ask_raw(getpid(), text, len + strlen(test_parent) + 1, NULL), "record");
	CHECK(ask_raw(getpid(), text, len + strlen(test_parent) + 1, NULL) == -EBUSY, "twice");
	CHECK(!ASK(getpid(), "enable\0jftest:small"), "enable");
	jf_trace_small(1, 1);
	CHECK(!ask_raw(getpid(), "jf1\0list", 9, &parts) && parts == 7, "list: %u", parts);
	CHECK(!ask_raw(getpid(), "jf1\0list\0s*", 12, &parts) && parts == 1, "list s*: %u", parts);
	CHECK(!ASK(getpid(), "disable\0small"), "disable");
	jf_trace_small(1, 2);
	struct jf_record_counts c;

	jf_record_stats(&c);
	CHECK(c.records == 1, "records: %llu", (unsigned long long)c.records);
	CHECK(!ASK(getpid(), "stop"), "stop");
	finish("recording by the socket");
}

/* A program writes its title over it, or frees it: no thread of ours looks at it any more. */
static void no_environment(void)
{
	char path[4096] = "", **was = environ;
	size_t len = strlen(folder);

	environ = (char **)16;
	CHECK(!ASK(getpid(), "record"), "record");
	CHECK(jf_record_folder(path, sizeof(path)) > 0 && !strncmp(path, folder, len) && path[len] == '/', "in %s", path);
	CHECK(!ASK(getpid(), "enable\0jftest:small"), "enable");
	jf_trace_small(1, 1);
	CHECK(!ASK(getpid(), "stop"), "stop");
	CHECK(!jf_record_control(false) && !jf_record_control(true), "off and on");
	CHECK(!ASK(getpid(), "stats"), "stats");
	environ = was;
	strict_remove(path);
	finish("the environment is the program's");
}

/*
 * Bytes of no meaning, in sizes that are allowed and others; some of them begin as a request does.
 */
static void garbage(void)
{
	static char data[65536];
	uint64_t x = 88172645463325252ULL;
	unsigned int i, answered = 0;

	for (i = 0; i < 3000; i++) {
		size_t size, k;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		size = 1 + x % (i % 10 ? 300 : sizeof(data) - 1);
		for (k = 0; k < size; k++)
			data[k] = (char)(x >> k % 57 ^ k);
		if (i & 1)
			memcpy(data, "jf1\0record\0packets=4\0mode=discard", size < 33 ? size : 33);
		/* But it must not be one that begins to record. */
		data[size - 1] = 'x';
		answered += ask_raw(getpid(), data, size, NULL) < 0;
	}
	CHECK(answered == 3000, "refused: %u", answered);
	CHECK(!ASK(getpid(), "stats"), "it does not answer any more");
	finish("garbage");
}

/* Peers that say nothing, or ask and do not read, or go at once. */
static void rude_peers(void)
{
	int fd[4], i;

	for (i = 0; i < 100; i++)
		close(connect_to(getpid()));
	for (i = 0; i < 100; i++) {
		fd[0] = connect_to(getpid());
		send(fd[0], "jf1\0list", 9, MSG_NOSIGNAL);
		close(fd[0]);
	}
	for (i = 0; i < 4; i++)
		fd[i] = connect_to(getpid());
	for (i = 0; i < 2; i++)
		send(fd[i], "jf1\0list", 9, MSG_NOSIGNAL);
	CHECK(!ASK(getpid(), "stats"), "it waits for others for good");
	for (i = 0; i < 4; i++)
		close(fd[i]);
	finish("rude peers");
}

/* The folder is open for this test, so that only the peer's identity decides. */
static void another_user(void)
{
	char path[160];
	int status;
	pid_t child;

	if (geteuid()) {
		printf("ok %u - another user # SKIP this must be root\n", ++test_nr);
		return;
	}
	path_of(path, sizeof(path), getpid());
	chmod(test_parent, 0755);
	chmod(folder, 0755);
	chmod(path, 0777);
	pid_t parent = getpid();

	child = fork();
	if (!child) {
		/* This child's own control was made for root. */
		if (setgid(65534) || setuid(65534))
			_exit(100);
		_exit(-ASK(parent, "stats"));
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EPERM, "status %x", status);
	chmod(folder, 0700);
	chmod(test_parent, 0700);
	CHECK(!ASK(getpid(), "stats"), "the user itself");
	finish("another user");
}

static volatile sig_atomic_t handled;

static void handler(int sig)
{
	(void)sig;
	handled++;
}

/* While this thread blocks it there is no other one of the program's: it must stay pending. */
static void signals(void)
{
	const struct timespec rest = { 0, 20000000 };
	sigset_t one;

	signal(SIGUSR1, handler);
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	kill(getpid(), SIGUSR1);
	CHECK(!ASK(getpid(), "stats"), "stats");
	nanosleep(&rest, NULL);
	CHECK(!handled, "a handler has run in the control thread");
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	CHECK(handled == 1, "handled: %d", (int)handled);
	finish("signals");
}

static __attribute__((__unused__)) void forks(void)
{
	int i, status, out[2], in[2];
	char path[160], c;
	struct stat st;
	pid_t child;

	must(pipe(out) || pipe(in) ? -errno : 0, "pipe");
	child = fork();
	if (!child) {
		close(out[1]);
		/* It has its socket and thread from fork(). */
		exit(write(in[1], "", 1) != 1 || read(out[0], &c, 1));
	}
	close(out[0]);
	CHECK(read(in[0], &c, 1) == 1, "the child has not come up");
	close(in[0]);
	close(in[1]);
	CHECK(!ASK(child, "stats"), "the child has no control");
	CHECK(!ASK(getpid(), "stats"), "the parent has none any more");
	close(out[1]);
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
	path_of(path, sizeof(path), child);
	CHECK(lstat(path, &st) && errno == ENOENT, "what the child had is left");
	CHECK(!ASK(getpid(), "stats"), "the parent's went with the child");
	/* A child that ends at once does not wait for anything. */
	for (i = 0; i < 50; i++) {
		child = fork();
		if (!child) {
			path_of(path, sizeof(path), getpid());
			unlink(path);
			_exit(0);
		}
		waitpid(child, &status, 0);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
	}
	finish("forks");
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

/* Children that end by _exit() leave names, which do not pile up; the names of others stay. */
static __attribute__((__unused__)) void remains(void)
{
	pid_t live = sleeper(), child;
	char path[160];
	int dir, i;

	must(live < 0 ? -errno : 0, "fork");
	for (i = 0; i < 300; i++) {
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	CHECK(test_entries(folder) < 80, "%u files", test_entries(folder));
	CHECK(!ASK(live, "stats") && !ASK(getpid(), "stats"), "sockets of living processes");
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	path_of(path, sizeof(path), live);
	CHECK(jf_control_remove(dir, strrchr(path, '/') + 1) == -EBUSY && !ASK(live, "stats"), "a living one");
	kill(live, SIGKILL);
	waitpid(live, NULL, 0);
	CHECK(!jf_control_remove(dir, strrchr(path, '/') + 1) && access(path, F_OK), "a dead one");
	CHECK(jf_control_remove(dir, strrchr(path, '/') + 1) == -ENOENT, "none");
	close(dir);
	finish("remains of processes");
}

static volatile bool hammering;

static void *hammer(void *arg)
{
	unsigned long *asked = (unsigned long *)arg;

	while (hammering)
		*asked += !ASK(getpid(), "list");
	return NULL;
}

/* Requests, forks, and the control that comes and is ended again, all at once. */
static __attribute__((__unused__)) void storm(void)
{
	unsigned long asked = 0;
	pthread_t thread;
	int i, status;
	pid_t child;

	hammering = true;
	must(-pthread_create(&thread, NULL, hammer, &asked), "thread");
	for (i = 0; i < ROUNDS || (asked < 100 && i < 2000); i++) {
		if (i & 1) {
			CHECK(!jf_record_control(false), "off");
			CHECK(!jf_record_control(true), "on");
			continue;
		}
		child = fork();
		if (!child)
			_exit(jf_record_control(false));
		waitpid(child, &status, 0);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
	}
	hammering = false;
	pthread_join(thread, NULL);
	CHECK(asked >= 100, "answers: %lu", asked);
	CHECK(!ASK(getpid(), "stats"), "it does not answer any more");
	finish("storm");
}

/* A folder that is a link, or that others may enter, is not used, nor are its contents. */
static void bad_folders(void)
{
	char path[160], other[160];
	struct stat st;

	CHECK(!jf_record_control(false), "off");
	snprintf(other, sizeof(other), "%s/other", test_parent);
	must(rename(folder, other) ? -errno : 0, "rename");
	must(symlink("other", folder) ? -errno : 0, "symlink");
	CHECK(!jf_record_control(true), "another folder");
	path_of(path, sizeof(path), getpid());
	CHECK(lstat(path, &st), "it has followed a link");
	CHECK(!jf_record_control(false), "off");
	unlink(folder);
	must(mkdir(folder, 0700) || chmod(folder, 0770) ? -errno : 0, "mkdir");
	CHECK(!jf_record_control(true), "another folder");
	CHECK(lstat(path, &st), "others may enter it");
	CHECK(!jf_record_control(false), "off");
	rmdir(folder);
	rmdir(other);
	finish("folders that are not the user's own");
}

int main(int argc, char **argv)
{
	/* The library has read its environment before main(). */
	if (argc == 1) {
		test_parent_make();
		setenv("XDG_RUNTIME_DIR", test_parent, 1);
		execl("/proc/self/exe", argv[0], test_parent, NULL);
		must(-errno, "execl");
	}
	snprintf(test_parent, sizeof(test_parent), "%s", argv[1]);
	snprintf(folder, sizeof(folder), "%s/" JF_CONTROL_FOLDER, test_parent);
	requests();
	messages();
	on_and_off();
	recording();
	no_environment();
	garbage();
	rude_peers();
	another_user();
	signals();
	/*
	 * In a child of several threads AddressSanitizer's allocator may wait for a lock of one
	 * that it has not.
	 */
#ifndef __SANITIZE_ADDRESS__
	forks();
	remains();
	storm();
#endif
	bad_folders();
	return tap_end();
}
