// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Recording in one process: the promises of the API, counts that are exact, signals, forks, threads
 * that end.
 */
#include "common.h"
#include "user/test/process.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "user/trace/provider.h"

#define CREATE_TRACE_POINTS
#include "events.h"

static struct oracle *oracle;

static void record(u32 source, u32 len)
{
	uint64_t nr = oracle->begun[source]++;

	jf_trace_counted(source, nr, len);
	oracle->done[source]++;
}

static struct jf_record_options options(enum jf_record_mode mode, uint32_t size, uint32_t packets)
{
	struct jf_record_options o;

	memset(&o, 0, sizeof(o));
	o.parent = test_parent;
	o.mode = mode;
	o.packet_size = size;
	o.packets = packets;
	return o;
}

static void start(struct jf_record_options o)
{
	memset(oracle, 0, sizeof(*oracle));
	must(jf_record_start(&o), "jf_record_start");
	if (jf_record_enable("jftest:*") != 7)
		must(-EINVAL, "jf_record_enable");
	if (jf_record_folder(oracle->folder, sizeof(oracle->folder)) < 0)
		must(-EINVAL, "jf_record_folder");
}

static void stop(void)
{
	must(jf_record_stop(), "jf_record_stop");
	strict_remove(oracle->folder);
}

static struct jf_record_counts stats(void)
{
	struct jf_record_counts s;

	jf_record_stats(&s);
	return s;
}

static int list_one(const struct jf_event *event, void *data)
{
	if (!strcmp(event->name, "counted")) {
		CHECK(!strcmp(event->system, "jftest"), "%s", event->system);
		CHECK(!strcmp(event->print, "\"source=%u nr=%llu\", __entry->source, __entry->nr"), "%s", event->print);
		CHECK(event->size == 20, "%u", event->size);
	}
	return ++*(int *)data == 100;
}

static void test_api(void)
{
	struct jf_record_options o = options(JF_RECORD_OVERWRITE, 4096, 2);
	char buf[4096];
	int n = 0;

	CHECK(!jf_events(list_one, &n) && n == 7, "%d events", n);
	CHECK(jf_record_enable("*") == -ENOENT, "enabled, and not started");
	CHECK(jf_record_stop() == -ENOENT, "stopped, and not started");
	CHECK(jf_record_folder(buf, sizeof(buf)) == -ENOENT, "a folder");
	o.packet_size = 4097;
	CHECK(jf_record_start(&o) == -EINVAL, "4097");
	o.packet_size = 128 << 20;
	CHECK(jf_record_start(&o) == -EINVAL, "128 MiB");
	o.packet_size = 4096;
	o.packets = 1;
	CHECK(jf_record_start(&o) == -EINVAL, "1 packet");
	o.packets = 65;
	CHECK(jf_record_start(&o) == -EINVAL, "65 packets");
	o.packets = 2;
	o.rings = 16385;
	CHECK(jf_record_start(&o) == -EINVAL, "16385 rings");
	o.rings = 0;
	o.mode = (enum jf_record_mode)4;
	CHECK(jf_record_start(&o) == -EINVAL, "mode 4");
	o.mode = JF_RECORD_OVERWRITE;
	o.clock = (enum jf_record_clock)4;
	CHECK(jf_record_start(&o) == -EINVAL, "clock 4");
	o.clock = JF_RECORD_CLOCK_AUTO;
	o.parent = "/nonexistent/folder";
	CHECK(jf_record_start(&o) == -ENOENT, "no parent");
	o.parent = "/proc/self";
	CHECK(jf_record_start(&o) < 0, "/proc");
	start(options(JF_RECORD_OVERWRITE, 4096, 2));
	CHECK(jf_record_start(NULL) == -EBUSY, "twice");
	CHECK(jf_record_enable("") == -EINVAL && jf_record_enable(NULL) == -EINVAL, "no glob");
	CHECK(jf_record_folder(buf, 4) == -ENAMETOOLONG, "4 bytes");
	CHECK(jf_record_folder(buf, sizeof(buf)) == (int)strlen(oracle->folder), "length");
	CHECK(jf_record_disable("no:*") == 0, "none");
	CHECK(jf_record_disable("c*") == 1, "counted");
	CHECK(!jf_trace_counted_enabled() && jf_trace_small_enabled(), "counted alone");
	CHECK(jf_record_disable("c*") == 0, "twice");
	CHECK(jf_record_disable("jftest:f*") == 2, "first, forgets");
	CHECK(jf_record_enable("*") == 7, "all");
	stop();
	CHECK(!jf_trace_counted_enabled(), "on after the end");
	finish("errors, and what is on");
}

static void test_exact(enum jf_record_mode mode, enum jf_record_clock clock, const char *name)
{
	struct jf_record_options o = options(mode, 4096, 3);
	struct jf_record_counts c;
	uint64_t n, kept;
	struct strict s;
	int i;

	for (n = 1; n < 2000; n = n * 3 + 1) {
		o.clock = clock;
		start(o);
		for (i = 0; i < (int)n; i++)
			record(0, mode == JF_RECORD_DISCARD ? 9 : (u32)i % 29);
		c = stats();
		CHECK(c.records + c.overwritten + c.discarded == n && !c.no_ring,
		      "%llu records, %llu overwritten, %llu discarded of %llu", (unsigned long long)c.records,
		      (unsigned long long)c.overwritten, (unsigned long long)c.discarded, (unsigned long long)n);
		CHECK(mode == JF_RECORD_OVERWRITE ? !c.discarded : !c.overwritten, "the other");
		strict_folder(oracle->folder, &s);
		/* Without time stamps packets are not in order: see test_copy(). */
		if (clock != JF_RECORD_CLOCK_NONE) {
			CHECK(!s.errors && !s.gaps, "%s", s.why);
			kept = s.source[0].num;
			CHECK(s.source[0].last == (mode == JF_RECORD_OVERWRITE ? n - 1 : kept - 1), "last %llu",
			      (unsigned long long)s.source[0].last);
		}
		CHECK(s.records == c.records && !s.uncommitted, "%llu there", (unsigned long long)s.records);
		CHECK(s.lost == c.discarded || clock == JF_RECORD_CLOCK_NONE, "%llu lost", (unsigned long long)s.lost);
		CHECK(n < 400 || c.overwritten + c.discarded > 0, "the ring is not full");
		stop();
	}
	finish(name);
}

/* A copy is in order also without time stamps, and has no more files than rings. */
static void test_copy(enum jf_record_clock clock, const char *name)
{
	struct jf_record_options o = options(JF_RECORD_OVERWRITE, 4096, 4);
	struct jf_recovered r;
	char to[96], path[128];
	struct strict s;
	int i;

	o.clock = clock;
	start(o);
	for (i = 0; i < 1000; i++)
		record(0, (u32)i % 7);
	snprintf(to, sizeof(to), "%s/copy", test_parent);
	CHECK(jf_recover(oracle->folder, oracle->folder, &r) == -EEXIST, "over itself");
	CHECK(jf_recover(test_parent, to, &r) == -ENODATA, "no trace");
	rmdir(to);
	CHECK(jf_recover("/nonexistent", NULL, &r) == -ENOENT, "not there");
	CHECK(!jf_recover(oracle->folder, to, &r), "copy");
	CHECK(r.records == stats().records && r.records + r.overwritten == 1000 && !r.damaged && r.rings == 1,
	      "%llu records", (unsigned long long)r.records);
	strict_folder(to, &s);
	CHECK(!s.errors && !s.gaps && s.records == r.records && s.source[0].last == 999, "%s", s.why);
	snprintf(path, sizeof(path), "%s/r0", to);
	CHECK(!access(path, R_OK), "%s", path);
	strict_remove(to);
	stop();
	finish(name);
}

static char *map_packet(const char *name)
{
	char path[4200];
	void *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", oracle->folder, name);
	fd = open(path, O_RDWR);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		must(-errno, path);
	return (char *)p;
}

/*
 * A clock of another processor may be earlier: no record is lost of that, and the copy is in order.
 */
static void test_clock_back(void)
{
	uint64_t *time, begin;
	struct jf_recovered r;
	struct strict s;
	char to[96];
	char *p[2];
	int i;

	start(options(JF_RECORD_OVERWRITE, 4096, 4));
	for (i = 0; i < 200; i++)
		record(0, 0);
	p[0] = map_packet("r0-0");
	p[1] = map_packet("r0-1");
	/* Records of 40 bytes; the time stamp is after the first word. */
	time = (uint64_t *)(void *)(p[0] + JF_PACKET_TIMED + 40 * 5 + 8);
	*time = time[-40 / 8] - 1;
	begin = ((struct jf_packet *)(void *)p[0])->end;
	((struct jf_packet *)(void *)p[1])->begin = begin - 1;
	snprintf(to, sizeof(to), "%s/copy", test_parent);
	CHECK(!jf_recover(oracle->folder, to, &r), "copy");
	CHECK(r.records == 200 && r.damaged == 2, "%llu records, %llu damaged", (unsigned long long)r.records,
	      (unsigned long long)r.damaged);
	strict_folder(to, &s);
	CHECK(!s.errors && !s.gaps && s.records == 200, "%s, %llu records", s.why, (unsigned long long)s.records);
	strict_remove(to);
	munmap(p[0], 4096);
	munmap(p[1], 4096);
	stop();
	finish("a clock that goes back");
}

/* A consumer reads packets and releases them: in mode discard there is room again. */
static void test_released(void)
{
	struct jf_record_counts c;
	struct jf_packet *p;
	int i;

	start(options(JF_RECORD_DISCARD, 4096, 2));
	for (i = 0; i < 1000; i++)
		record(0, 0);
	c = stats();
	CHECK(c.discarded == 1000 - c.records && c.records < 200, "%llu", (unsigned long long)c.records);
	p = (struct jf_packet *)(void *)map_packet("r0-0");
	__atomic_store_n(&p->released, p->seq, __ATOMIC_RELEASE);
	oracle->begun[1] = 0;
	for (i = 0; i < 10; i++)
		record(1, 0);
	CHECK(stats().discarded == c.discarded, "discarded, and there was room");
	CHECK(p->seq == 3 && p->committed >> 32 == 10 && p->discarded == c.discarded, "packet %llu, %llu records",
	      (unsigned long long)p->seq, (unsigned long long)(p->committed >> 32));
	munmap(p, 4096);
	stop();
	finish("a consumer makes room");
}

static void test_sizes(void)
{
	struct strict s;
	u16 list[3] = { 1, 2, 3 };

	start(options(JF_RECORD_OVERWRITE, 4096, 2));
	record(0, 4096 - 176 - 8 - 8 - 24);
	CHECK(stats().records == 1 && !stats().discarded, "the largest");
	jf_trace_counted(1, 0, 4096 - 176 - 8 - 8 - 24 + 1);
	CHECK(stats().discarded == 1, "too large");
	jf_trace_counted(1, 0, UINT32_MAX);
	jf_trace_kinds("x", list, -1, NULL);
	CHECK(stats().discarded == 3, "%llu", (unsigned long long)stats().discarded);
	record(0, 1);
	jf_trace_forgets("a");
	jf_trace_forgets("b");
	jf_trace_first(5);
	jf_trace_big(5);
	jf_trace_big(500);
	jf_trace_odd(1);
	jf_trace_odd(2);
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && s.source[0].num == 2 && s.uncommitted == 1 && s.others == 4, "%s, %llu others", s.why,
	      (unsigned long long)s.others);
	stop();
	finish("largest records, larger ones, and what is not assigned");
}

/* --- threads --------------------------------------------------------------------------- */

static void *some_records(void *arg)
{
	u32 source = (u32)(uintptr_t)arg;
	int i;

	for (i = 0; i < 100; i++)
		record(source, (u32)i % 5);
	return NULL;
}

static void join(pthread_t t)
{
	must(-pthread_join(t, NULL), "pthread_join");
}

static pthread_t spawn(void *(*fn)(void *), u32 source)
{
	pthread_t t;

	must(-pthread_create(&t, NULL, fn, (void *)(uintptr_t)source), "pthread_create");
	return t;
}

static void *few_records(void *arg)
{
	for (int i = 0; i < 10; i++)
		record((u32)(uintptr_t)arg, (u32)i);
	return NULL;
}

static pthread_key_t late_key;

/* As free() of a thread's remains is traced, after the library's own destructor. */
static void late_record(void *arg)
{
	uintptr_t round = (uintptr_t)arg >> 8;

	record((u32)((uintptr_t)arg & 0xff), 1);
	if (round < 3)
		pthread_setspecific(late_key, (void *)((uintptr_t)arg + 256));
}

static void *records_late(void *arg)
{
	record((u32)(uintptr_t)arg, 1);
	pthread_setspecific(late_key, (void *)((uintptr_t)arg + 256));
	return NULL;
}

/* Their rings are given to others all the same. */
static void late_threads(void)
{
	struct jf_record_counts c;
	u32 i;

	must(-pthread_key_create(&late_key, late_record), "pthread_key_create");
	start(options(JF_RECORD_OVERWRITE, 65536, 2));
	for (i = 0; i < 40; i++)
		join(spawn(records_late, i));
	c = stats();
	/* A joined thread has its number for a moment longer, and its ring with it. */
	CHECK(c.records == 40 * 4 && c.rings <= 10, "%llu records, %llu rings", (unsigned long long)c.records,
	      (unsigned long long)c.rings);
	oracle_check(oracle, oracle->folder, true, "threads that record late");
	stop();
	pthread_key_delete(late_key);
}

static void test_threads(void)
{
	struct jf_record_counts c;
	pthread_t t[40];
	u32 i;

	start(options(JF_RECORD_OVERWRITE, 65536, 64));
	for (i = 0; i < 40; i++)
		t[i] = spawn(some_records, i);
	for (i = 0; i < 40; i++)
		join(t[i]);
	oracle_check(oracle, oracle->folder, true, "threads");
	c = stats();
	CHECK(c.records == 4000, "%llu", (unsigned long long)c.records);
	stop();
	start(options(JF_RECORD_OVERWRITE, 65536, 4));
	for (i = 0; i < 40; i++)
		join(spawn(some_records, i));
	c = stats();
	CHECK(c.rings == 1, "%llu rings for threads that came one after the other", (unsigned long long)c.rings);
	/* Each goes on where the last one has ended. */
	CHECK(c.records == 4000 && !c.overwritten, "%llu, %llu", (unsigned long long)c.records,
	      (unsigned long long)c.overwritten);
	oracle_check(oracle, oracle->folder, true, "threads, one after the other");
	stop();
	/*
	 * Also where the ring wraps around: the present records and the overwritten ones are all.
	 */
	start(options(JF_RECORD_OVERWRITE, 4096, 4));
	for (i = 0; i < 40; i++)
		join(spawn(few_records, i));
	c = stats();
	CHECK(c.rings == 1 && c.records + c.overwritten == 400 && c.overwritten, "%llu, %llu", (unsigned long long)c.records,
	      (unsigned long long)c.overwritten);
	oracle_check(oracle, oracle->folder, false, "threads that overwrite");
	stop();
	late_threads();
	finish("threads, and rings of those that have ended");
}

/* A thread that has a ring from before does not share it with another one. */
static void test_cycles(void)
{
	unsigned int i, before = 0, after;

	for (i = 0; i < 100; i++) {
		start(options(JF_RECORD_OVERWRITE, 4096, 4));
		record(0, 1);
		join(spawn(few_records, 1));
		record(0, 1);
		CHECK(stats().records == 12 && stats().rings == 2, "%llu records", (unsigned long long)stats().records);
		oracle_check(oracle, oracle->folder, true, "again and again");
		stop();
		after = count_mappings();
		before = i < 10 ? after : before;
	}
	/*
	 * A sanitizer has mappings of its own; a mapping that a round left there would be left 90
	 * times.
	 */
	CHECK(after < before + 20, "%u mappings became %u", before, after);
	finish("recording that is started and stopped again and again");
}

/* All that is recorded is there, up to the limit; later ones are counted. */
static void test_keep(void)
{
	struct jf_record_options o = options(JF_RECORD_KEEP, 4096, 2);
	struct jf_record_counts c;
	u32 i;

	start(o);
	for (i = 0; i < 20000; i++)
		record(0, i % 50);
	for (i = 1; i < 20; i++)
		join(spawn(some_records, i));
	c = stats();
	CHECK(c.records == 20000 + 19 * 100 && !c.overwritten && !c.discarded, "%llu, %llu", (unsigned long long)c.records,
	      (unsigned long long)c.discarded);
	oracle_check(oracle, oracle->folder, true, "all is kept");
	stop();
	o.max_mib = 1;
	start(o);
	for (i = 0; i < 40000; i++)
		jf_trace_small(0, i);
	c = stats();
	CHECK(c.packets == 256 && c.records > 20000 && c.records + c.discarded == 40000 && !c.overwritten && c.error == -ENOSPC,
	      "%llu packets, %llu records", (unsigned long long)c.packets, (unsigned long long)c.records);
	stop();
	finish("all records are kept, up to a limit");
}

/* In mode discard a new thread does not take a full ring. */
static void test_full_ring(void)
{
	struct jf_record_options o = options(JF_RECORD_DISCARD, 4096, 2);
	struct jf_record_counts c;
	u32 i;

	o.rings = 4;
	start(o);
	for (i = 0; i < 6; i++)
		join(spawn(some_records, i));
	c = stats();
	CHECK(c.rings == 4, "%llu rings", (unsigned long long)c.rings);
	CHECK(c.records + c.discarded == 600 && c.discarded, "%llu, %llu", (unsigned long long)c.records,
	      (unsigned long long)c.discarded);
	stop();
	finish("a ring for a thread where others are full");
}

static volatile int go, stand;

static void *waits(void *arg)
{
	record((u32)(uintptr_t)arg, 1);
	__atomic_fetch_add(&stand, 1, __ATOMIC_SEQ_CST);
	while (!go)
		sched_yield();
	return NULL;
}

static void test_no_ring(void)
{
	struct jf_record_options o = options(JF_RECORD_OVERWRITE, 4096, 2);
	struct jf_record_counts c;
	struct strict s;
	pthread_t t;

	go = stand = 0;
	o.rings = 1;
	start(o);
	t = spawn(waits, 0);
	while (!stand)
		sched_yield();
	jf_trace_small(1, 0);
	jf_trace_small(1, 1);
	c = stats();
	CHECK(c.records == 1 && c.no_ring == 2 && c.discarded == 2, "%llu", (unsigned long long)c.no_ring);
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && s.lost == 2, "%llu lost; %s", (unsigned long long)s.lost, s.why);
	go = 1;
	join(t);
	stop();
	finish("more threads than rings");
}

/* --- signals ----------------------------------------------------------------------------- */

static volatile int depth, no_alarm;

static void soon(void)
{
	struct itimerval once = { { 0, 0 }, { 0, 30 } };

	setitimer(ITIMER_REAL, &once, NULL);
}

/*
 * Interrupted by the next one as by its own signals, but not without end: in an emulator, or on a
 * loaded machine, a handler may take longer than it is to the next alarm. So the deepest one asks
 * for none.
 */
static void nested_handler(int sig)
{
	u32 source = 1 + (u32)depth;

	depth++;
	if (sig == SIGALRM) {
		if (depth < 4)
			soon();
		else
			no_alarm = 1;
	}
	if (depth < 4) {
		record(source, (u32)oracle->begun[source] % 23);
		if (oracle->begun[source] % 3 == 0)
			raise(SIGUSR1);
	}
	depth--;
}

static void test_storm(void)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa;
	uint64_t i, all = 0;
	struct strict s;

	start(options(JF_RECORD_OVERWRITE, 4096, 64));
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = nested_handler;
	sa.sa_flags = SA_NODEFER;
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	no_alarm = 1;
	for (i = 0; i < 2000000 && oracle->begun[1] < 3000; i++) {
		if (no_alarm) {
			no_alarm = 0;
			soon();
		}
		record(0, (u32)i % 31);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	for (i = 0; i < 6; i++)
		all += oracle->begun[i];
	CHECK(oracle->begun[1] > 50 && oracle->begun[2] > 10, "%llu signals", (unsigned long long)oracle->begun[1]);
	CHECK(stats().records + stats().overwritten == all && !stats().discarded, "%llu of %llu",
	      (unsigned long long)(stats().records + stats().overwritten), (unsigned long long)all);
	oracle_check(oracle, oracle->folder, false, "storm");
	strict_folder(oracle->folder, &s);
	CHECK(!s.uncommitted && s.records == stats().records, "%llu there", (unsigned long long)s.records);
	stop();
	finish("a storm of signals, nested");
}

static int fill_packets;

static void many_in_record(void)
{
	int i;

	jf_test_in_record = NULL;
	for (i = 0; i < fill_packets; i++)
		record(1, 100);
}

/* Records in a record, as by a handler: more than the ring has room for. */
static void test_wrap(void)
{
	struct jf_record_counts c;
	struct strict s;

	start(options(JF_RECORD_OVERWRITE, 4096, 3));
	fill_packets = 5000;
	record(0, 50);
	jf_test_in_record = many_in_record;
	record(0, 50);
	record(0, 50);
	strict_folder(oracle->folder, &s);
	/* The packet of the first ones was left alone. */
	CHECK(!s.errors && !s.uncommitted && s.source[0].num == 3 && s.source[1].last == 4999, "%s", s.why);
	c = stats();
	CHECK(c.records + c.overwritten == 5003 && !c.discarded, "%llu", (unsigned long long)c.overwritten);
	stop();

	start(options(JF_RECORD_OVERWRITE, 4096, 2));
	jf_test_in_record = many_in_record;
	record(0, 50);
	c = stats();
	CHECK(c.records + c.overwritten + c.discarded == 5001, "%llu", (unsigned long long)c.discarded);
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && !s.uncommitted && s.source[0].num == 1, "%s", s.why);
	stop();
	finish("a handler that fills the ring");
}

static sigjmp_buf out;

static void jump_out(void)
{
	siglongjmp(out, 1);
}

/*
 * Of two packets one has a record in progress for good: the other one is kept, again and again,
 * with its counts.
 */
static void test_keep_counts(void)
{
	struct jf_record_counts c;
	struct strict s;
	u32 i;

	start(options(JF_RECORD_KEEP, 4096, 2));
	record(0, 1);
	jf_test_in_record = jump_out;
	if (!sigsetjmp(out, 1))
		jf_trace_counted(63, 0, 10);
	jf_test_in_record = NULL;
	for (i = 0; i < 3; i++)
		jf_trace_counted(1, 0, 4096);
	for (i = 0; i < 2000; i++)
		record(0, i % 9);
	c = stats();
	CHECK(c.records == 2001 && c.discarded == 3 && c.packets > 10, "%llu records, %llu discarded",
	      (unsigned long long)c.records, (unsigned long long)c.discarded);
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && !s.gaps && s.records == 2001, "%s, %llu records", s.why, (unsigned long long)s.records);
	stop();
	finish("what was discarded stays counted where files are kept");
}

/* Of a file in it. */
static bool has_descriptor_in(const char *folder)
{
	DIR *dir = opendir("/proc/self/fd");
	char path[300], to[4096];
	struct dirent *e;
	bool found = false;
	ssize_t n;

	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = 0;
		found |= !strncmp(to, folder, strlen(folder)) && to[strlen(folder)] == '/';
	}
	if (dir)
		closedir(dir);
	return found;
}

/* It may become another user. */
static void test_child_keeps_nothing(void)
{
	int status = 0;
	pid_t pid;

	start(options(JF_RECORD_OVERWRITE, 4096, 2));
	record(0, 1);
	CHECK(has_descriptor_in(oracle->folder), "the parent has none");
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(has_descriptor_in(oracle->folder));
	CHECK(waitpid(pid, &status, 0) == pid && !status, "the child has one");
	record(0, 1);
	CHECK(stats().records == 2, "%llu records", (unsigned long long)stats().records);
	stop();
	finish("a child has no descriptor of a file of its parent's trace");
}

static void *jumper(void *arg)
{
	volatile int i;

	(void)arg;
	for (i = 0; i < 2; i++) {
		jf_test_in_record = jump_out;
		if (!sigsetjmp(out, 1))
			jf_trace_counted(63, 0, 10);
		jf_test_in_record = NULL;
		fill_packets = 50;
		many_in_record();
	}
	return NULL;
}

static void *more_records(void *arg)
{
	int i;

	for (i = 0; i < 500; i++)
		record((u32)(uintptr_t)arg, 0);
	return NULL;
}

/* Its packets are used again after the thread has ended. */
static void test_jump(void)
{
	struct jf_record_counts c;
	struct strict s;

	start(options(JF_RECORD_OVERWRITE, 4096, 4));
	join(spawn(jumper, 0));
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && s.uncommitted == 2 && s.source[1].last == 99, "%llu uncommitted; %s",
	      (unsigned long long)s.uncommitted, s.why);
	join(spawn(more_records, 2));
	c = stats();
	CHECK(c.rings == 1 && !c.discarded, "%llu rings", (unsigned long long)c.rings);
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && !s.uncommitted && s.source[2].last == 499, "%llu uncommitted; %s",
	      (unsigned long long)s.uncommitted, s.why);
	stop();
	finish("longjmp() out of a record");
}

#ifdef __cplusplus
static void throws(void)
{
	jf_test_in_record = NULL;
	throw 5;
}

static void test_exception(void)
{
	struct strict s;
	int i, caught = 0;

	start(options(JF_RECORD_OVERWRITE, 4096, 2));
	for (i = 0; i < 2000; i++) {
		jf_test_in_record = i % 10 ? NULL : throws;
		try {
			if (i % 10)
				record(0, 8);
			else
				jf_trace_counted(63, 0, 8);
		} catch (int) {
			caught++;
		}
	}
	strict_folder(oracle->folder, &s);
	CHECK(caught == 200 && !s.errors && s.uncommitted && s.source[0].last == 1799, "%s", s.why);
	CHECK(stats().records + stats().overwritten == 2000, "its packet was not used again");
	stop();
	finish("exceptions in a record");
}
#endif

/* Neither C++ nor AddressSanitizer can be cancelled anywhere. */
#if defined(__cplusplus) || defined(__SANITIZE_ADDRESS__)
static void test_cancel(void) { }
#else
static void *cancelled(void *arg)
{
	int i;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &i);
	for (i = 0; i < 100000000; i++)
		record((u32)(uintptr_t)arg, 3);
	return NULL;
}

/* At any instruction. The library itself has none of its locks then. */
static void test_cancel(void)
{
	struct strict s;
	pthread_t t;
	u32 i;

	start(options(JF_RECORD_OVERWRITE, 4096, 4));
	for (i = 0; i < 30; i++) {
		t = spawn(cancelled, i);
		while (!__atomic_load_n(&oracle->done[i], __ATOMIC_SEQ_CST))
			sched_yield();
		usleep(i * 37);
		pthread_cancel(t);
		join(t);
	}
	CHECK(stats().rings == 1, "%llu rings", (unsigned long long)stats().rings);
	/* The next thread gets a ring, and the last one's last record is there. */
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && !s.gaps && s.source[29].last + 1 >= oracle->done[29] &&
	      s.source[29].last < oracle->begun[29], "%s", s.why);
	join(spawn(some_records, 40));
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && s.source[40].num == 100, "%s", s.why);
	stop();
	finish("threads that are cancelled while they record");
}
#endif

/* --- forks ------------------------------------------------------------------------------- */

static struct oracle *child_oracle;

static void as_child(void)
{
	int i;

	oracle = child_oracle;
	memset(oracle, 0, sizeof(*oracle));
	for (i = 0; i < 300; i++)
		record(0, 7);
	if (jf_record_folder(oracle->folder, sizeof(oracle->folder)) < 0)
		_exit(1);
	_exit(stats().records == 300 ? 0 : 2);
}

static void after_child(pid_t pid, const char *what)
{
	int status = -1, i;

	/* It may hang with all signals blocked. */
	for (i = 0; i < 30000 && waitpid(pid, &status, WNOHANG) == 0; i++)
		usleep(1000);
	if (i == 30000) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	CHECK(!status, "%s: status %x", what, status);
	record(0, 7);
	oracle_check(oracle, oracle->folder, true, what);
	CHECK(strcmp(child_oracle->folder, oracle->folder), "%s: the same folder", what);
	if (child_oracle->folder[0]) {
		oracle_check(child_oracle, child_oracle->folder, true, what);
		strict_remove(child_oracle->folder);
	}
	child_oracle->folder[0] = 0;
}

/*
 * A kernel, or an emulator as qemu-user 7.2, that says it will empty these pages, and leaves them
 * as they are.
 */
static int forgets_to_wipe;

int madvise(void *at, size_t len, int advice)
{
	if (advice == MADV_WIPEONFORK && forgets_to_wipe)
		return 0;
	return (int)syscall(SYS_madvise, at, len, advice);
}

static bool does_wipe(void)
{
	char *page = (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t pid;

	must(page == MAP_FAILED ? -errno : 0, "mmap");
	*page = 1;
	must(madvise(page, 4096, MADV_WIPEONFORK) ? -errno : 0, "madvise");
	pid = fork();
	if (!pid)
		_exit(*page);
	waitpid(pid, &status, 0);
	munmap(page, 4096);
	return !status;
}

static void test_unwiped(void)
{
	pid_t pid;
	int i;

	forgets_to_wipe = 1;
	start(options(JF_RECORD_OVERWRITE, 4096, 16));
	for (i = 0; i < 10; i++)
		record(0, 7);
	pid = fork();
	if (!pid)
		as_child();
	after_child(pid, "fork()");
	stop();
	forgets_to_wipe = 0;
	finish("fork() where nothing empties the child's pages");
}

static pid_t forked_in_record;

static void fork_in_record(void)
{
	jf_test_in_record = NULL;
	forked_in_record = fork();
}

static void test_fork(void)
{
	pid_t pid;
	int i;

	start(options(JF_RECORD_OVERWRITE, 4096, 16));
	for (i = 0; i < 10; i++)
		record(0, 7);
	pid = fork();
	if (!pid)
		as_child();
	after_child(pid, "fork()");
	/* No handler is called there. */
	if (does_wipe()) {
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		if (!pid)
			as_child();
		after_child(pid, "clone()");
	} else {
		printf("# clone() is left out: MADV_WIPEONFORK does nothing here\n");
	}

	/* A record that both finish: it is the parent's. */
	jf_test_in_record = fork_in_record;
	jf_trace_counted(0, oracle->begun[0]++, 7);
	if (!forked_in_record)
		as_child();
	oracle->done[0]++;
	after_child(forked_in_record, "fork() in a record");
	CHECK(stats().records == (uint64_t)oracle->done[0], "%llu", (unsigned long long)stats().records);
	stop();
	finish("fork() and clone(): the child has rings of its own");
}

/* A child that can have no folder: its losses, and its child's, are counted by its parent. */
static void test_untold_child(void)
{
	struct rlimit limit = { 1000, 1000 };
	pid_t pid;
	int i;

	start(options(JF_RECORD_OVERWRITE, 4096, 16));
	record(0, 1);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_FSIZE, &limit);
		for (i = 0; i < 5; i++)
			jf_trace_small(0, (uint64_t)i);
		if (!fork())
			jf_trace_small(0, 5);
		else
			wait(NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	CHECK(stats().no_ring == 6, "%llu counted", (unsigned long long)stats().no_ring);
	stop();
	finish("fork(): what a child without a folder loses is counted");
}

/* An emulator may take fork() for it. */
static bool vfork_borrows(void)
{
	static volatile int seen;
	pid_t pid = vfork();

	if (!pid) {
		seen = 1;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return seen;
}

static void test_vfork(void)
{
	struct strict s;
	int status = -1;
	pid_t pid;

	if (!vfork_borrows()) {
		printf("# vfork() is left out: it is fork() here\n");
		return;
	}
	start(options(JF_RECORD_OVERWRITE, 4096, 16));
	/* The child's is the first record of this thread. */
	pid = vfork();
	if (!pid) {
		jf_trace_small(0, 0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	jf_trace_small(0, 1);
	strict_folder(oracle->folder, &s);
	CHECK(!status && !s.errors && s.source[0].num == 2, "%llu records; %s", (unsigned long long)s.source[0].num, s.why);
	join(spawn(some_records, 1));
	CHECK(stats().rings == 2, "%llu rings", (unsigned long long)stats().rings);
	stop();
	finish("vfork(): the child is the thread that it is borrowed from");
}

/* --- limits -------------------------------------------------------------------------------- */

static void test_limit(void)
{
	struct rlimit was, limit;
	struct jf_record_options o = options(JF_RECORD_OVERWRITE, 65536, 2);
	struct jf_record_counts c;
	uint64_t i;

	getrlimit(RLIMIT_FSIZE, &was);
	limit = was;
	/* The metadata fits, and no packet does. SIGXFSZ would end the test. */
	limit.rlim_cur = 20000;
	setrlimit(RLIMIT_FSIZE, &limit);
	start(o);
	for (i = 0; i < 5000; i++)
		jf_trace_small(0, i);
	c = stats();
	CHECK(c.no_ring == 5000 && c.error == -EFBIG, "%llu lost, error %d", (unsigned long long)c.no_ring, c.error);
	setrlimit(RLIMIT_FSIZE, &was);
	for (i = 0; i < 5000; i++)
		jf_trace_small(0, i);
	c = stats();
	CHECK(c.records > 2000 && c.records + c.overwritten + c.no_ring == 10000 && c.no_ring < 5000 + 1024,
	      "%llu later, %llu lost", (unsigned long long)c.records, (unsigned long long)c.no_ring);
	stop();
	limit.rlim_cur = 1000;
	setrlimit(RLIMIT_FSIZE, &limit);
	CHECK(jf_record_start(&o) == -EFBIG, "metadata beyond the limit");
	setrlimit(RLIMIT_FSIZE, &was);
	finish("RLIMIT_FSIZE");
}

/* --- metadata that cannot be written --------------------------------------------------------- */

/* The same fields as another event, with a name of its own. */
static struct jf_event copied;

static int copy_small(const struct jf_event *event, void *data)
{
	if (strcmp(event->name, "small"))
		return 0;
	copied = *event;
	copied.name = (const char *)data;
	copied.id = 0;
	copied.on = 0;
	copied.next = NULL;
	return 1;
}

static struct jf_event like_small(const char *name)
{
	must(jf_events(copy_small, (void *)(uintptr_t)name) == 1 ? 0 : -ENOENT, "small");
	return copied;
}

static bool is_told(const char *name)
{
	size_t size = 0;
	char *text = strict_read(oracle->folder, "metadata", &size);
	int id = text ? strict_id(text, name) : -1;

	free(text);
	return id > 0;
}

/* Sets one limit so that no more metadata can be written, or takes it back. */
static void limit_metadata(int resource, struct rlimit *was, bool on)
{
	struct rlimit limit;
	size_t size = 0;

	if (on) {
		getrlimit((__rlimit_resource_t)resource, was);
		limit = *was;
		free(strict_read(oracle->folder, "metadata", &size));
		limit.rlim_cur = resource == RLIMIT_FSIZE ? size : 0;
		setrlimit((__rlimit_resource_t)resource, &limit);
	} else {
		setrlimit((__rlimit_resource_t)resource, was);
	}
}

static void test_untold(int resource, int err, const char *name)
{
	char names[4][32];
	struct jf_event one, two[2], late;
	struct jf_event *both[2] = { &two[0], &two[1] };
	struct rlimit was;
	unsigned int i;

	for (i = 0; i < 4; i++)
		snprintf(names[i], sizeof(names[i]), "untold%d_%u", err, i);
	start(options(JF_RECORD_OVERWRITE, 4096, 2));
	one = like_small(names[0]);
	two[0] = like_small(names[1]);
	two[1] = like_small(names[2]);
	late = like_small(names[3]);
	/* A program may close descriptors that the library has kept open. */
	for (i = 200; i < 220; i++)
		close((int)i);
	limit_metadata(resource, &was, true);
	/* Also the second time, when it is known. */
	for (i = 0; i < 2; i++) {
		CHECK(__jf_event_number(&one) == err && !one.id, "try %u: id %u", i, one.id);
		CHECK(__jf_events_number(both, 2) == err && !two[0].id && !two[1].id, "try %u: id %u", i, two[0].id);
	}
	/* One that has a number has it as before. */
	one.id = 1;
	CHECK(__jf_event_number(&one) == err && one.id == 1, "id %u", one.id);
	__jf_event_register(&late);
	CHECK(!late.on && !late.id, "on %u, id %u", (unsigned int)late.on, late.id);
	CHECK(jf_record_enable(names[3]) == err && !late.on && !late.id, "on %u, id %u", (unsigned int)late.on, late.id);
	limit_metadata(resource, &was, false);
	CHECK(!is_told(names[0]) && !is_told(names[3]), "written all the same");
	CHECK(!__jf_event_number(&one) && one.id > 1 && is_told(names[0]), "id %u", one.id);
	CHECK(!__jf_events_number(both, 2) && two[0].id && two[1].id && is_told(names[1]) && is_told(names[2]), "id %u", two[0].id);
	CHECK(jf_record_enable(names[3]) == 1 && late.on && late.id && is_told(names[3]), "on %u", (unsigned int)late.on);
	__jf_event_unregister(&late);
	stop();
	finish(name);
}

/* True if an event that comes now is on. */
static bool comes_on(const char *name)
{
	struct jf_event e = like_small(name);
	bool on;

	__jf_event_register(&e);
	on = e.on;
	__jf_event_unregister(&e);
	return on;
}

/*
 * Patterns are kept for events that are yet to come: the newest one counts, and equal ones are kept
 * once.
 */
static void test_wishes(void)
{
	size_t before, after;
	char glob[64];
	int i;

	start(options(JF_RECORD_OVERWRITE, 4096, 2));
	CHECK(jf_record_disable("jftest:wish_b*") == 0 && comes_on("wish_a1") && !comes_on("wish_b1"), "the newest");
	CHECK(jf_record_enable("jftest:*") == 7 && comes_on("wish_b1"), "one that comes again is the newest");
	CHECK(jf_record_disable("jftest:wish_b*") == 0 && !comes_on("wish_b1") && comes_on("wish_a1"), "the other one, too");
	CHECK(jf_record_disable("*") == 7 && !comes_on("wish_a1"), "all off");
	CHECK(jf_record_enable("jftest:wish_a*") == 0 && comes_on("wish_a1") && !comes_on("wish_b1"), "one of all");
	before = allocated();
	for (i = 0; i < 20000; i++) {
		snprintf(glob, sizeof(glob), "jftest:wish_%d*", i % 10);
		CHECK(jf_record_enable(glob) == 0 && jf_record_disable(glob) == 0, "%s", glob);
	}
	after = allocated();
	CHECK(after < before + 16384, "%zu bytes became %zu", before, after);
	CHECK(comes_on("wish_a1") && !comes_on("wish_3"), "after all");
	stop();
	finish("patterns that come again and again");
}

/* --- metadata that is appended to ------------------------------------------------------------ */

static ino_t metadata_inode(void)
{
	char path[4200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/metadata", oracle->folder);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* Whatever of its pages a reader has seen, no class is cut. */
static void check_pages(size_t begin)
{
	size_t size = 0, at, k, pages = 0;
	char *text = strict_read(oracle->folder, "metadata", &size);

	for (at = (begin + 4095) / 4096 * 4096; text && at < size; at += 4096, pages++) {
		for (k = at; k > begin && text[k - 1] == '\n'; k--)
			;
		CHECK(k == at - 2 || (k < at && text[k - 1] == ';' && text[k - 2] == '}'), "before %zu: %.20s", at, text + k - 8);
		CHECK(text[at] == '\n' || !strncmp(text + at, "event {", 7) || !strncmp(text + at, "struct ", 7), "at %zu: %.20s", at, text + at);
	}
	CHECK(pages >= 2, "%zu pages", pages);
	free(text);
}

#define LARGE_FIELDS	300

static void make_large(struct jf_event *event, struct jf_event_field *fields, char (*names)[8])
{
	unsigned int i;

	memset(fields, 0, (LARGE_FIELDS + 1) * sizeof(*fields));
	for (i = 0; i < LARGE_FIELDS; i++) {
		snprintf(names[i], sizeof(names[i]), "f%u", i);
		fields[i].name = names[i];
		fields[i].type = "";
		fields[i].kind = __JF_FIELD_SCALAR;
		fields[i].class_ = 1;
		fields[i].align = 8;
		fields[i].size = 8;
		fields[i].count = 1;
	}
	fields[i].kind = __JF_FIELD_END;
	event->fields = fields;
	event->size = LARGE_FIELDS * 8;
}

static void test_appended(void)
{
	static struct jf_event_field fields[LARGE_FIELDS + 1];
	static char large_names[LARGE_FIELDS][8], names[64][64];
	struct jf_event event, large;
	size_t begin = 0, size = 0;
	unsigned int i;
	ino_t inode;

	start(options(JF_RECORD_OVERWRITE, 4096, 2));
	free(strict_read(oracle->folder, "metadata", &begin));
	inode = metadata_inode();
	for (i = 0; i < 64; i++) {
		snprintf(names[i], sizeof(names[i]), "appended_%.*s%u", (int)i % 37, "abcdefghijklmnopqrstuvwxyzabcdefghijklm", i);
		event = like_small(names[i]);
		CHECK(!__jf_event_number(&event) && is_told(names[i]), "%s", names[i]);
	}
	CHECK(metadata_inode() == inode, "another file");
	check_pages(begin);
	/* One that is larger than a page, which readers could see a part of. */
	large = like_small("appended_large");
	make_large(&large, fields, large_names);
	CHECK(!__jf_event_number(&large) && is_told("appended_large") && metadata_inode() != inode, "in the same file");
	inode = metadata_inode();
	event = like_small("appended_last");
	CHECK(!__jf_event_number(&event) && is_told("appended_last") && is_told(names[0]), "last");
	CHECK(metadata_inode() == inode, "another file");
	/* The same again is known. */
	free(strict_read(oracle->folder, "metadata", &begin));
	event.id = 0;
	CHECK(!__jf_event_number(&event) && event.id == large.id + 1, "id %u after %u", event.id, large.id);
	free(strict_read(oracle->folder, "metadata", &size));
	CHECK(size == begin, "%zu bytes, %zu", size, begin);
	stop();
	finish("new events are appended to the metadata");
}

/* --- readers while it is written ------------------------------------------------------------- */

static volatile int stop_writing;
/* Of each writer: records that it may write. No limit: negative. */
static int allowed[2];

static void *writes(void *arg)
{
	int *mine = &allowed[(uintptr_t)arg], left;

	while (!stop_writing) {
		left = __atomic_load_n(mine, __ATOMIC_RELAXED);
		if (left) {
			record((u32)(uintptr_t)arg, 100);
			if (left > 0)
				__atomic_fetch_sub(mine, 1, __ATOMIC_RELAXED);
		}
		usleep(50);
	}
	return NULL;
}

/*
 * In these rounds the writers cannot overtake a reader, however slow that is: all that they write
 * fits into a ring. An emulator takes seconds for each.
 */
static int paced_rounds(void)
{
	return getenv("JF_TEST_EMULATED") ? 3 : 30;
}

static void test_snapshots(void)
{
	struct jf_recovered r;
	char to[96];
	struct strict s;
	pthread_t t[2];
	int i, n, paced = paced_rounds();
	uint64_t num = 0;

	start(options(JF_RECORD_OVERWRITE, 16384, 64));
	stop_writing = 0;
	allowed[0] = allowed[1] = 0;
	t[0] = spawn(writes, 0);
	t[1] = spawn(writes, 1);
	snprintf(to, sizeof(to), "%s/copy", test_parent);
	for (i = 0; i < 2 * paced; i++) {
		for (n = 0; n < 2; n++)
			__atomic_store_n(&allowed[n], i < paced ? 100 : -1, __ATOMIC_RELAXED);
		/* A busy CPU may start a writer after all rounds. */
		for (n = 0; n < 2 && i < paced; n++)
			while (__atomic_load_n(&allowed[n], __ATOMIC_RELAXED) == 100)
				usleep(50);
		CHECK(!jf_recover(oracle->folder, to, &r), "recover");
		CHECK(!r.damaged && r.uncommitted <= 2, "%llu damaged, %llu uncommitted", (unsigned long long)r.damaged,
		      (unsigned long long)r.uncommitted);
		strict_folder(to, &s);
		/* If one has vanished there is a gap. */
		CHECK(!s.errors && (r.vanished || !s.gaps), "%llu gaps; %s", (unsigned long long)s.gaps, s.why);
		CHECK(s.records == r.records, "%llu, not %llu", (unsigned long long)s.records,
		      (unsigned long long)r.records);
		if (i < paced) {
			CHECK(!r.vanished && r.records >= num, "%llu vanished, %llu records after %llu",
			      (unsigned long long)r.vanished, (unsigned long long)r.records, (unsigned long long)num);
			num = r.records;
		}
		strict_remove(to);
	}
	stop_writing = 1;
	join(t[0]);
	join(t[1]);
	CHECK(num > 0, "the writers wrote nothing while they were read");
	oracle_check(oracle, oracle->folder, false, "at the end");
	stop();
	finish("copies of a ring that is being written");
}

/* --- filters ----------------------------------------------------------------------------- */

/* Records of "counted" after @num calls, each of another size. The others are not lost. */
static uint64_t chosen_of(const char *pattern, u32 source, u64 num)
{
	struct jf_record_options o = options(JF_RECORD_KEEP, 65536, 4);
	struct jf_record_counts c;
	struct strict s;
	u64 i;

	start(o);
	CHECK(jf_record_disable("*") == 7 && jf_record_enable(pattern) == 1, "%s", pattern);
	for (i = 0; i < num; i++)
		jf_trace_counted(source, i, (u32)(i * 7 % 1500));
	c = stats();
	CHECK(!c.overwritten && !c.discarded, "%s: %llu are lost", pattern, (unsigned long long)c.discarded);
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && !s.uncommitted, "%s: %s", pattern, s.why);
	CHECK(s.source[source].num == c.records, "%s: %llu", pattern, (unsigned long long)c.records);
	stop();
	return c.records;
}

static void test_chosen(void)
{
	static const struct {
		const char	*pattern;
		u64		want;
	} vectors[] = {
		{ "jftest:counted if nr & 3 == 1", 250 }, { "counted if source == 5 && nr < 100", 100 }, { "c* if !source", 0 },
		{ "event/jftest:c* if nr >= 10 every 10 max 20", 20 }, { "counted max 1", 1 }, { "counted every 3", 334 },
		{ "jftest:counted if nr > 990 if source", 9 }, { "counted if hash < 0 || nr == 0x10 || nr == 1us", 1 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		uint64_t have = chosen_of(vectors[i].pattern, 5, 1000);

		CHECK(have == vectors[i].want, "%s: %llu", vectors[i].pattern, (unsigned long long)have);
	}
	finish("filters of events: the records that are chosen, and no others");
}

static uint64_t records_of(void (*calls)(void))
{
	uint64_t before = stats().records;

	calls();
	return stats().records - before;
}

static void ten_of_each(void)
{
	int i;

	for (i = 0; i < 10; i++) {
		jf_trace_small(1, (u64)i);
		jf_trace_odd(i);
		jf_trace_first(i);
	}
}

static void some_kinds(void)
{
	static const u16 list[] = { 1, 2, 3 };
	int i;

	for (i = 0; i < 10; i++)
		jf_trace_kinds(i & 1 ? "/etc/passwd" : i ? "/tmp/x" : NULL, list, i % 4, NULL);
}

static unsigned int kinds_if(const char *pattern)
{
	CHECK(jf_record_enable(pattern) == 1, "%s", pattern);
	return (unsigned int)records_of(some_kinds);
}

static void test_texts(void)
{
	start(options(JF_RECORD_KEEP, 65536, 4));
	CHECK(kinds_if("kinds if text =~ \"/etc/" "*\"") == 5, "a glob");
	CHECK(kinds_if("kinds if text == \"/tmp/x\"") == 4 && kinds_if("kinds if text != \"/tmp/x\"") == 6, "a string");
	CHECK(kinds_if("kinds if tail == \"etc/passwd\"") == 5 && kinds_if("kinds if tail == \"(null)\"") == 1, "after an array");
	CHECK(kinds_if("kinds if name == \"abcde\" && chars == \"hi\" && cut =~ \"xy*\"") == 10, "arrays");
	CHECK(kinds_if("kinds if half == 0.5 && third < 0.3 && third") == 10 && kinds_if("kinds if half > 0.5") == 0, "reals");
	CHECK(jf_record_enable("kinds if one == \"x\"") == -EINVAL && jf_record_enable("kinds if three > 1") == -EINVAL &&
	      jf_record_enable("kinds if list == \"x\"") == -EINVAL, "other fields");
	stop();
	finish("filters of events: strings, and numbers with a point");
}

static const char *why_of_small;

static int find_why(const struct jf_event *event, void *data)
{
	(void)data;
	if (!strcmp(event->name, "small"))
		why_of_small = event->why;
	return 0;
}

static void test_choices_change(void)
{
	start(options(JF_RECORD_KEEP, 4096, 4));
	CHECK(records_of(ten_of_each) == 25, "all");
	/* Those without the name stay as they are. */
	CHECK(jf_record_enable("jftest:* if v > 4") == 3, "those that have a v");
	CHECK(records_of(ten_of_each) == 10 + 3 + 5, "small as before");
	CHECK(jf_record_enable("small if nr == 3 || nr == 4") == 1 && records_of(ten_of_each) == 2 + 3 + 5, "another one");
	CHECK(jf_record_enable("small if nrr == 3") == -EINVAL && records_of(ten_of_each) == 2 + 3 + 5, "a wrong name");
	jf_events(find_why, NULL);
	CHECK(why_of_small && !strcmp(why_of_small, "column 1: there is no 'nrr', but nr, source, tid"), "%s", why_of_small ? why_of_small : "");
	CHECK(jf_record_enable("small if nr == == 3") == -EINVAL && jf_record_enable("small every 0") == -EINVAL, "no expressions");
	CHECK(jf_record_disable("small if nr") == -EINVAL, "switched off by a filter");
	CHECK(jf_record_enable("small if tid == 1") == 1 && records_of(ten_of_each) == 3 + 5, "another thread");
	CHECK(jf_record_enable("small") == 1 && records_of(ten_of_each) == 10 + 3 + 5, "all of small");
	CHECK(jf_record_disable("odd") == 1 && records_of(ten_of_each) == 10 + 5, "off");
	CHECK(jf_record_enable("odd") == 1 && records_of(ten_of_each) == 10 + 5 + 5, "on, without it");
	stop();
	/* Nothing of it is left in the next recording. */
	start(options(JF_RECORD_KEEP, 4096, 4));
	CHECK(records_of(ten_of_each) == 25, "all again");
	stop();
	finish("filters of events change while they are on");
}

static u64 next_small;

static void small_in_record(void)
{
	jf_trace_small(1, next_small++);
	jf_trace_small(1, next_small++);
}

static void leave_in_record(void)
{
	if (!sigsetjmp(out, 1))
		jf_trace_counted(2, 0, 2000);
}

/* Other records while a draft is written; and a draft that is left. */
static void test_draft(void)
{
	struct strict s;
	int i;

	start(options(JF_RECORD_KEEP, 65536, 2));
	CHECK(jf_record_enable("counted if nr & 1") == 1 && jf_record_enable("small if nr & 1") == 1, "filters");
	jf_test_in_record = small_in_record;
	for (i = 0; i < 100; i++)
		jf_trace_counted(2, (u64)i, (u32)i * 40);
	jf_test_in_record = jump_out;
	CHECK(records_of(leave_in_record) == 0, "left by longjmp()");
	jf_test_in_record = NULL;
	CHECK(stats().records == 150, "%llu", (unsigned long long)stats().records);
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && !s.uncommitted && s.source[2].num == 50, "%s", s.why);
	/* Too large for any packet: as each such record it is discarded, and counted. */
	jf_trace_counted(2, 1, 100000);
	jf_trace_counted(2, 1, 0x7fffffff);
	CHECK(stats().discarded == 2, "%llu", (unsigned long long)stats().discarded);
	stop();
	finish("drafts of events");
}

static volatile int choices_end;

static void *two_sources(void *arg)
{
	u32 self = (u32)(size_t)arg;
	u64 i;

	for (i = 0; !choices_end; i++) {
		jf_trace_counted(1 + self, i, (u32)i % 900);
		jf_trace_counted(3 + self, i, (u32)i % 900);
	}
	return NULL;
}

/* Threads come by while filters are replaced: no record is made that neither of them lets pass. */
static void test_choices_storm(void)
{
	struct strict s;
	pthread_t t[2];
	int i;

	start(options(JF_RECORD_OVERWRITE, 65536, 4));
	CHECK(jf_record_disable("*") == 7 && jf_record_enable("counted if source < 3") == 1, "begin");
	choices_end = 0;
	for (i = 0; i < 2; i++)
		t[i] = spawn(two_sources, (u32)i);
	while (stats().records < 1000)
		sched_yield();
	for (i = 0; i < 200; i++)
		CHECK(jf_record_enable(i & 1 ? "counted if source <= 2 && nr > 3" : "counted if source < 3 every 2") == 1, "%d", i);
	choices_end = 1;
	for (i = 0; i < 2; i++)
		join(t[i]);
	strict_folder(oracle->folder, &s);
	CHECK(!s.errors && !s.uncommitted && s.source[1].num + s.source[2].num, "%s", s.why);
	CHECK(!s.source[3].num && !s.source[4].num, "%llu", (unsigned long long)(s.source[3].num + s.source[4].num));
	stop();
	finish("filters of events are replaced while threads come by");
}

int main(void)
{
	printf("TAP version 13\n");
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
		CHECK(jf_record_start(NULL) == -EOPNOTSUPP, "started");
		finish("big-endian machines: nothing is recorded");
		printf("1..1\n");
		return tap_end();
	}
	test_parent_make();
	oracle = oracle_make();
	child_oracle = oracle_make();
	test_api();
	test_exact(JF_RECORD_OVERWRITE, JF_RECORD_CLOCK_AUTO, "overwrite: each record counts once");
	test_exact(JF_RECORD_DISCARD, JF_RECORD_CLOCK_AUTO, "discard: each record counts once");
	test_exact(JF_RECORD_OVERWRITE, JF_RECORD_CLOCK_NONE, "overwrite, without time stamps");
	test_exact(JF_RECORD_DISCARD, JF_RECORD_CLOCK_NONE, "discard, without time stamps");
	test_exact(JF_RECORD_OVERWRITE, JF_RECORD_CLOCK_MONOTONIC, "overwrite, CLOCK_MONOTONIC");
	test_copy(JF_RECORD_CLOCK_AUTO, "a copy");
	test_copy(JF_RECORD_CLOCK_NONE, "a copy without time stamps");
	test_clock_back();
	test_released();
	test_sizes();
	test_threads();
	test_cycles();
	test_keep();
	test_full_ring();
	test_no_ring();
	test_storm();
	test_wrap();
	test_jump();
	test_keep_counts();
	test_child_keeps_nothing();
#ifdef __cplusplus
	test_exception();
#endif
	test_cancel();
	test_fork();
	test_unwiped();
	test_untold_child();
	test_vfork();
	test_limit();
	test_wishes();
	test_untold(RLIMIT_FSIZE, -EFBIG, "no number without metadata: RLIMIT_FSIZE");
	test_untold(RLIMIT_NOFILE, -EMFILE, "no number without metadata: no descriptor");
	test_appended();
	test_snapshots();
	test_chosen();
	test_choices_change();
	test_draft();
	test_texts();
	test_choices_storm();
	test_parent_remove();
	return tap_end();
}
