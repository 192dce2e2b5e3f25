// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Processes that record, in threads and in signal handlers, and end at a random moment: by SIGKILL,
 * most of them, by abort(), _exit(), an overflow of the stack, or a store through a bad pointer
 * while a record is written. The counts of each in shared memory must be in its trace, and no
 * more than it has begun. Some of the traces are read by babeltrace2, too, as they were left.
 * usage: kills [ROUNDS [SEED]]
 */
#include "common.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#define CREATE_TRACE_POINTS
#include "events.h"

#define THREADS	3
/* How often babeltrace2 is asked. */
#define READER	50

static struct oracle *oracle;
static int *volatile bad_pointer;

static void record(u32 source, u32 len)
{
	/* Of a thread, or of a handler in it: a handler is counted under another number. */
	uint64_t nr = oracle->begun[source];

	__atomic_store_n(&oracle->begun[source], nr + 1, __ATOMIC_SEQ_CST);
	jf_trace_counted(source, nr, len);
	__atomic_store_n(&oracle->done[source], nr + 1, __ATOMIC_SEQ_CST);
}

/* Of a thread that records, from 1 on: a signal may come before it has begun. */
static __thread u32 self;
static __thread int in_handler;
/*
 * Each is blocked in its own handler, which bounds how deep handlers are within each other. If a
 * signal could come again before the first instruction of its handler, a slow thread would have no
 * stack left.
 */
static const int signals[] = { SIGUSR1, SIGUSR2, SIGURG, SIGWINCH };
#define SIGNALS		((u32)(sizeof(signals) / sizeof(signals[0])))

static void handler(int sig)
{
	(void)sig;
	if (!self)
		return;
	if (in_handler++ < 3)
		record(self - 1 + 8u * (u32)in_handler, (u32)oracle->begun[self - 1] % 19);
	in_handler--;
}

/* A record is being written: a handler comes now, or the end. */
static void in_record(void)
{
	static __thread unsigned int count;

	if (bad_pointer)
		*bad_pointer = 1;
	if (!(++count % 8))
		raise(SIGUSR1);
}

static void *writer(void *arg)
{
	u32 i;

	self = (u32)(uintptr_t)arg + 1;
	for (i = 0; ; i++)
		record(self - 1, i % 41);
	return NULL;
}

static void *storm(void *arg)
{
	pthread_t *t = (pthread_t *)arg;
	u32 i;

	for (i = 0; ; i++) {
		pthread_kill(t[i % THREADS], signals[i / THREADS % SIGNALS]);
		if (!(i % 16))
			sched_yield();
	}
	return NULL;
}

/* Calls itself until there is no stack left, and records on the way. */
__attribute__((__noinline__))
static int deeper(int i)
{
	volatile char much[4096];

	much[0] = (char)i;
	record(60, 1);
	return i == INT_MAX ? 0 : deeper(i + 1) + much[0];
}

static uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void child(uint64_t seed, int how)
{
	/* In a ring that is full no record would be written, and no pointer used. */
	enum jf_record_mode mode = seed & 1 && how != 4 ? JF_RECORD_DISCARD : JF_RECORD_OVERWRITE;
	struct jf_record_options o = { test_parent, mode, JF_RECORD_CLOCK_AUTO, 0, 0, 0, 0 };
	pthread_t t[THREADS], s;
	struct rlimit core = { 0, 0 };
	struct sigaction sa;
	uintptr_t i;

	setrlimit(RLIMIT_CORE, &core);
	alarm(60);
	/* Rings that are filled again and again, or that may be too large for that. */
	o.packet_size = seed & 2 ? 4096 : 16384;
	o.packets = seed & 4 ? 4 : 64;
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = SA_RESTART;
	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &sa, NULL);
	jf_test_in_record = in_record;
	if (jf_record_start(&o) || jf_record_enable("jftest:counted") != 1 ||
	    jf_record_folder(oracle->folder, sizeof(oracle->folder)) < 0)
		_exit(99);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, writer, (void *)i))
			_exit(99);
	if (pthread_create(&s, NULL, storm, t))
		_exit(99);
	if (!how)
		for (;;)
			pause();
	while (!__atomic_load_n(&oracle->done[seed % THREADS], __ATOMIC_SEQ_CST))
		sched_yield();
	usleep(seed / 16 % 1500);
	switch (how) {
	case 1:
		abort();
	case 2:
		_exit(3);
	case 3:
		deeper(0);
	}
	bad_pointer = (int *)(uintptr_t)16;
	for (;;)
		pause();
}

/* In mode discard with a ring that is full a record that was begun need not be there. */
static void check_one(uint64_t round, bool overwrite, const char *what)
{
	struct jf_recovered r;
	struct strict s;
	int err, i;

	strict_folder(oracle->folder, &s);
	CHECK(!s.errors, "%s: %s: %s", what, oracle->folder, s.why);
	err = jf_recover(oracle->folder, NULL, &r);
	CHECK(!err && !r.damaged && !r.vanished, "%s: %d, %llu damaged", what, err, (unsigned long long)r.damaged);
	CHECK(r.records == s.records - s.cleared && r.uncommitted - s.uncommitted <= s.rings && r.discarded == s.lost,
	      "%s: %llu recovered, %llu there; %llu and %llu uncommitted", what, (unsigned long long)r.records,
	      (unsigned long long)s.records, (unsigned long long)r.uncommitted, (unsigned long long)s.uncommitted);
	for (i = 0; i < STRICT_WHO; i++) {
		uint64_t end = s.source[i].num ? s.source[i].last + 1 : 0;

		CHECK(end <= oracle->begun[i], "%s: source %d: %llu there, %llu begun", what, i, (unsigned long long)end,
		      (unsigned long long)oracle->begun[i]);
		/* Under many handlers a packet with a record in progress can outlive later ones. */
		if (!r.discarded && (!r.overwritten || (s.source[i].num && !s.source[i].gone)))
			CHECK(end >= oracle->done[i], "%s: source %d: %llu there, %llu committed", what, i,
			      (unsigned long long)end, (unsigned long long)oracle->done[i]);
		if (!r.discarded && !r.overwritten)
			CHECK(s.source[i].num == end, "%s: source %d: a gap", what, i);
	}
	if (overwrite)
		CHECK(!r.discarded, "%s: discarded", what);
	/*
	 * All that was begun is there, overwritten, discarded, or, of each level in a thread, in
	 * progress.
	 */
	{
		uint64_t begun = 0, done = 0, all = r.records + r.overwritten + r.discarded;

		for (i = 0; i < STRICT_WHO; i++) {
			begun += oracle->begun[i];
			done += oracle->done[i];
		}
		CHECK(all >= done && all <= begun, "%s: %llu there or lost, %llu committed, %llu begun", what,
		      (unsigned long long)all, (unsigned long long)done, (unsigned long long)begun);
	}
	if (round % READER == 0 && !system("command -v babeltrace2 > /dev/null")) {
		char command[5000], line[64] = "";
		unsigned long num = 0;
		FILE *p;

		snprintf(command, sizeof(command), "babeltrace2 '%s' 2>/dev/null | grep -c jftest:counted", oracle->folder);
		p = popen(command, "r");
		if (p && fgets(line, sizeof(line), p))
			num = strtoul(line, NULL, 10);
		if (p)
			pclose(p);
		CHECK(num == s.records, "%s: babeltrace2 sees %lu of %llu: %s", what, num,
		      (unsigned long long)s.records, oracle->folder);
	}
}

/* Ends the writer, or (@how) waits until it has ended. Returns its status. */
static int end_writer(pid_t pid, int how, bool early, uint64_t *state)
{
	bool over = false;
	int status = 0;

	if (!how) {
		struct timespec t = { 0, (long)(rnd(state) % 6000000) };

		while (!early && !over && !__atomic_load_n(&oracle->done[0], __ATOMIC_SEQ_CST)) {
			sched_yield();
			over = waitpid(pid, &status, WNOHANG) == pid;
		}
		nanosleep(&t, NULL);
		if (!over)
			kill(pid, SIGKILL);
	}
	CHECK(!over, "the writer has ended before its first record, status %x", status);
	if (!over)
		waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	static const char *const ends[] = { "SIGKILL", "abort", "_exit", "stack overflow", "bad pointer" };
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 300, i, kept = 0, uncommitted = 0, nested = 0;
	uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);

	printf("TAP version 13\n# seed %llu\n", (unsigned long long)state);
	state = state * 2654435761u + 88172645463325252ULL;
	test_parent_make();
	oracle = oracle_make();
	for (i = 0; i < rounds; i++) {
		int how = i % 10 == 9 ? 1 + (int)(i / 10 % 4) : 0, status;
		uint64_t seed = rnd(&state);
		char what[64];
		pid_t pid;

		memset(oracle, 0, sizeof(*oracle));
		fflush(stdout);
		pid = fork();
		if (!pid)
			child(seed, how);
		must(pid < 0 ? -errno : 0, "fork");
		/* Some while it begins. */
		status = end_writer(pid, how, i % 7 == 0, &state);
		CHECK(!WIFEXITED(status) || WEXITSTATUS(status) == 3, "status %x", status);
		if (!oracle->folder[0])
			continue;
		snprintf(what, sizeof(what), "round %llu, %s", (unsigned long long)i, ends[how]);
		check_one(i, !(seed & 1) || how == 4, what);
		{
			struct strict s;

			strict_folder(oracle->folder, &s);
			kept += s.records;
			uncommitted += s.uncommitted;
			nested += s.source[8].num + s.source[16].num + s.source[24].num;
		}
		if (failures_here)
			break;
		strict_remove(oracle->folder);
	}
	printf("# %llu rounds, %llu records read, %llu of handlers, %llu uncommitted\n", (unsigned long long)i,
	       (unsigned long long)kept, (unsigned long long)nested, (unsigned long long)uncommitted);
	CHECK(rounds < 100 || (nested > 100 && uncommitted > 0), "no handler recorded, or none was killed in a record");
	finish("writers that are killed");
	/* A bad trace stays, to be looked at. */
	test_parent_remove();
	return tap_end();
}
