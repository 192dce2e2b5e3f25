// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A record is begun, written and committed by some hundred instructions. Between each two of them,
 * one after the other,
 *   a signal handler comes that records, too;
 *   the process is killed;
 *   a handler comes, and while it records, or later, the process is killed.
 * If the record makes a packet anew, a loop clears the packet: there each instruction is one of
 * these places when it is executed first.
 * The parent counts the instructions by ptrace. No record may be missing, or torn, or be read as
 * whole and not be. usage: steps [STRIDE], 1 for each instruction (some minutes).
 */
#include "common.h"

#include <pthread.h>
#include <sched.h>
#include <dlfcn.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#define CREATE_TRACE_POINTS
#include "events.h"

/* Of three sizes: one that ends at a multiple of 8 bytes, and two that do not. */
static const u32 lengths[] = { 8, 3, 13 };
/* Of the handler's record: less than those, or more than there is room for. */
#define SHORT	5
#define LONG	100
static struct oracle *oracle;
static u32 handler_length = SHORT;
/* The library makes packets anew: one of the programs of this file is enough. */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#define ANEW
#endif

/* In the child's ring. */
static uint32_t packets = 64;
static enum jf_record_mode mode = JF_RECORD_OVERWRITE;
/* Another thread of the child makes the records before, and ends: its ring is handed on. */
static bool other_thread;

static void record(u32 source, u32 len)
{
	uint64_t nr = oracle->begun[source];

	__atomic_store_n(&oracle->begun[source], nr + 1, __ATOMIC_SEQ_CST);
	jf_trace_counted(source, nr, len);
	__atomic_store_n(&oracle->done[source], nr + 1, __ATOMIC_SEQ_CST);
}

static void handler(int sig)
{
	(void)sig;
	record(1, handler_length);
}

static u32 length_before;

static void *record_before(void *num)
{
	uintptr_t i;

	for (i = 0; i < (uintptr_t)num; i++)
		record(0, length_before);
	return NULL;
}

static void records_before(int num, u32 len)
{
	pthread_t t;

	length_before = len;
	if (!other_thread)
		record_before((void *)(uintptr_t)num);
	else if (pthread_create(&t, NULL, record_before, (void *)(uintptr_t)num) || pthread_join(t, NULL))
		_exit(98);
}

/* Stops before and after each record. */
static void child(uint32_t packet_size, enum jf_record_clock clock, u32 len, int records, int before)
{
	struct jf_record_options o = { test_parent, mode, clock, packet_size, packets, 0, 0 };
	struct sigaction sa;
	int i, err;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sigaction(SIGUSR1, &sa, NULL);
	err = jf_record_start(&o);
	if (err || jf_record_enable("jftest:counted") != 1 ||
	    jf_record_folder(oracle->folder, sizeof(oracle->folder)) < 0)
		_exit(99);
	records_before(before, len);
	for (i = 0; i < records; i++) {
		raise(SIGSTOP);
		record(0, len);
	}
	raise(SIGSTOP);
	_exit(0);
}

/* The signal of the child's last step that it has not got yet, or 0. */
static int not_given;

static int to_give(int status)
{
	int sig = WSTOPSIG(status);

	return sig == SIGTRAP || sig == SIGSTOP ? 0 : sig;
}

/* Goes on until the child stops by itself: 1, or it is over: 0. */
static int run_to_stop(pid_t pid)
{
	int status, sig = not_given;

	for (;;) {
		if (ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)sig) || waitpid(pid, &status, 0) != pid)
			return 0;
		if (!WIFSTOPPED(status))
			return 0;
		if (WSTOPSIG(status) == SIGSTOP)
			return 1;
		/* One that was blocked when it was given comes now. */
		sig = to_give(status);
	}
}

static pid_t begin(uint32_t packet_size, enum jf_record_clock clock, u32 len, int records, int before)
{
	int status = 0;
	pid_t pid;

	memset(oracle, 0, sizeof(*oracle));
	not_given = 0;
	fflush(stdout);
	pid = fork();
	if (!pid)
		child(packet_size, clock, len, records, before);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
		printf("Bail out! the child does not record: %x\n", status);
		exit(1);
	}
	return pid;
}

/*
 * One instruction; a signal that is given is delivered before it. 0 if it ended or stopped by
 * itself.
 */
static int step(pid_t pid, int sig)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)sig) || waitpid(pid, &status, 0) != pid)
		return 0;
	/* One that was blocked can come in place of the step's own. */
	not_given = WIFSTOPPED(status) ? to_give(status) : 0;
	return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

static void finish_child(pid_t pid, bool kill_it)
{
	int status;

	if (kill_it)
		kill(pid, SIGKILL);
	else
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
}

/* How many instructions one record takes, from one stop to the next. */
static int count_steps(uint32_t packet_size, enum jf_record_clock clock, u32 len, int before)
{
	pid_t pid = begin(packet_size, clock, len, 1, before);
	int n = 0;

	while (step(pid, 0))
		n++;
	finish_child(pid, true);
	strict_remove(oracle->folder);
	return n;
}

#ifdef ANEW
static unsigned long long counter_of(pid_t pid)
{
	struct user_regs_struct regs;
	struct iovec v = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &v))
		return 0;
#if defined(__x86_64__)
	return regs.rip;
#else
	return regs.pc;
#endif
}

/* All stores of rings are the library's: the C library's instructions change nothing of it. */
static bool in_library(unsigned long long at)
{
	Dl_info own, of;

	return dladdr((const void *)(uintptr_t)jf_recover, &own) && dladdr((const void *)(uintptr_t)at, &of) &&
	       own.dli_fbase == of.dli_fbase;
}

/*
 * Fills @first with the steps at an instruction of the library that is new, and returns their
 * number.
 */
static int first_steps(int *first, int most, int before)
{
	pid_t pid = begin(4096, JF_RECORD_CLOCK_AUTO, lengths[2], 1, before);
	unsigned long long seen[4096], at;
	int num = 0, n, i;

	for (n = 1; num < most && n < 100000; n++) {
		at = counter_of(pid);
		for (i = 0; i < num && seen[i] != at; i++)
			;
		if (i == num && in_library(at)) {
			seen[num] = at;
			first[num++] = n;
		}
		if (!step(pid, 0))
			break;
	}
	finish_child(pid, true);
	strict_remove(oracle->folder);
	return num;
}

/* All counts agree, whatever instruction of the last record was the last one. */
static void killed_anew(int before, int least)
{
	static int first[4096];
	int num = first_steps(first, 4096, before), i, n;
	struct jf_recovered r;
	char what[64];
	uint64_t all;
	pid_t pid;

	CHECK(num > least && num < 4096, "%d instructions in %d steps", num, first[num - 1]);
	for (i = 0; i < num; i++) {
		pid = begin(4096, JF_RECORD_CLOCK_AUTO, lengths[2], 1, before);
		for (n = 1; n < first[i] && step(pid, 0); n++)
			;
		finish_child(pid, true);
		snprintf(what, sizeof(what), "killed at %d", first[i]);
		oracle_check(oracle, oracle->folder, false, what);
		CHECK(!jf_recover(oracle->folder, NULL, &r), "recovery");
		all = r.records + r.overwritten + r.discarded;
		CHECK(all >= oracle->done[0] && all <= oracle->begun[0], "%s: %llu there, %llu overwritten, %llu discarded",
		      what, (unsigned long long)r.records, (unsigned long long)r.overwritten, (unsigned long long)r.discarded);
		CHECK(mode == JF_RECORD_OVERWRITE ? !r.discarded : !r.overwritten, "%s: not in this mode", what);
		strict_remove(oracle->folder);
	}
}

#endif

/* A handler at each @stride-th instruction. */
static void nested(enum jf_record_clock clock, u32 len, uint32_t packet_size, int before, int stride, int steps)
{
	char what[64];
	pid_t pid;
	int at, i;

	for (at = 1; at < steps; at += stride) {
		pid = begin(packet_size, clock, len, 1, before);
		for (i = 1; i < at && step(pid, 0); i++)
			;
		/* It need not take as many as the last time. */
		if (i < at) {
			finish_child(pid, true);
			strict_remove(oracle->folder);
			continue;
		}
		step(pid, SIGUSR1);
		if (!run_to_stop(pid))
			CHECK(0, "the child ended");
		CHECK(oracle->done[1] == 1, "handler at %d: %llu of %llu records", at, (unsigned long long)oracle->done[1],
		      (unsigned long long)oracle->begun[1]);
		finish_child(pid, false);
		snprintf(what, sizeof(what), "handler at %d", at);
		oracle_check(oracle, oracle->folder, true, what);
		strict_remove(oracle->folder);
	}
}

static void killed(enum jf_record_clock clock, u32 len, uint32_t packet_size, int before, int stride, int steps)
{
	char what[64];
	pid_t pid;
	int at, i;

	for (at = 1; at < steps; at += stride) {
		pid = begin(packet_size, clock, len, 1, before);
		for (i = 1; i < at && step(pid, 0); i++)
			;
		finish_child(pid, true);
		snprintf(what, sizeof(what), "killed at %d", at);
		oracle_check(oracle, oracle->folder, true, what);
		strict_remove(oracle->folder);
	}
}

static void both(enum jf_record_clock clock, u32 len, int stride, int stride2, int steps)
{
	int at, i, later, last = steps * 2;
	char what[64];
	pid_t pid;

	/* From anew each time, as a killed process cannot go on. */
	for (at = 1 + stride / 2; at < steps; at += stride) {
		for (later = at % stride2; later < last; later += stride2) {
			pid = begin(4096, clock, len, 1, 3);
			for (i = 1; i < at && step(pid, 0); i++)
				;
			step(pid, SIGUSR1);
			for (i = 0; i < later && step(pid, 0); i++)
				;
			finish_child(pid, true);
			snprintf(what, sizeof(what), "handler at %d, killed %d later", at, later);
			oracle_check(oracle, oracle->folder, true, what);
			strict_remove(oracle->folder);
		}
	}
}

/* How many records of this size a packet of 4096 bytes has. */
static int fill(u32 len)
{
	return (4096 - 176) / ((16 + 24 + (int)len + 7) & ~7);
}

/* The record does not fit into the packet. */
static void next_packets(int stride)
{
	int many = fill(lengths[2]), steps, i;
	char name[96];

	steps = count_steps(4096, JF_RECORD_CLOCK_AUTO, lengths[2], many);
	CHECK(steps > 500, "%d steps: no new packet", steps);
	killed(JF_RECORD_CLOCK_AUTO, lengths[2], 4096, many, 1 + steps * stride / 600, steps);
	finish("killed while the next packet is made");
	nested(JF_RECORD_CLOCK_AUTO, lengths[2], 4096, many, 1 + steps * stride / 600, steps);
	finish("a handler while the next packet is made");
#ifdef ANEW
	packets = 2;
	killed_anew(2 * many, 200);
	finish("killed while a packet is made anew");
	mode = JF_RECORD_DISCARD;
	killed_anew(2 * many, 50);
	finish("killed while a record is discarded");
	mode = JF_RECORD_KEEP;
	killed_anew(2 * many, 300);
	finish("killed while a file is kept, and a new one takes its place");
	mode = JF_RECORD_OVERWRITE;
	other_thread = true;
	killed_anew(10, 200);
	finish("killed while a thread gets the ring of one that has ended");
	other_thread = false;
	packets = 64;
#endif
	/*
	 * One more record fits, but not the handler's: that goes on in the next packet, and none
	 * later may come into this one.
	 */
	many = fill(lengths[1]) - 1;
	handler_length = LONG;
	for (i = 0; i < 2; i++) {
		enum jf_record_clock clock = i ? JF_RECORD_CLOCK_MONOTONIC : JF_RECORD_CLOCK_AUTO;

		steps = count_steps(4096, clock, lengths[1], many);
		nested(clock, lengths[1], 4096, many, 1 + stride / 4, steps);
		snprintf(name, sizeof(name), "a handler that makes the next packet, clock %d, at each of %d instructions", (int)clock, steps);
		finish(name);
	}
	handler_length = SHORT;
}

int main(int argc, char **argv)
{
	int stride = argc > 1 ? atoi(argv[1]) : 23, steps;
	unsigned int i;
	char name[96];

	printf("TAP version 13\n");
	test_parent_make();
	oracle = oracle_make();
	for (i = 0; i < 3; i++) {
		enum jf_record_clock clock = i == 2 ? JF_RECORD_CLOCK_MONOTONIC : JF_RECORD_CLOCK_AUTO;

		steps = count_steps(4096, clock, lengths[i], 3);
		CHECK(steps > 20 && steps < 5000, "%d steps", steps);
		nested(clock, lengths[i], 4096, 3, stride, steps);
		snprintf(name, sizeof(name), "a handler at %d of %d instructions, %u bytes", steps / stride, steps, lengths[i]);
		finish(name);
		killed(clock, lengths[i], 4096, 3, stride, steps);
		snprintf(name, sizeof(name), "killed at %d of %d instructions, %u bytes", steps / stride, steps, lengths[i]);
		finish(name);
	}
	steps = count_steps(4096, JF_RECORD_CLOCK_AUTO, lengths[1], 3);
	both(JF_RECORD_CLOCK_AUTO, lengths[1], stride, stride * 6 + 1, steps);
	finish("a handler, and killed while it records or later");

	next_packets(stride);
	steps = count_steps(4096, JF_RECORD_CLOCK_AUTO, lengths[0], 0);
	killed(JF_RECORD_CLOCK_AUTO, lengths[0], 4096, 0, 1 + steps * stride / 600, steps);
	finish("killed while a thread gets its ring");
	nested(JF_RECORD_CLOCK_AUTO, lengths[0], 4096, 0, 1 + steps * stride / 600, steps);
	finish("a handler while a thread gets its ring");
	test_parent_remove();
	return tap_end();
}
