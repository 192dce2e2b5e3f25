// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Threads in functions while their probes are switched on and off; signals, forks, longjmp(), and
 * objects that come and go. The agent is part of this program, its functions of subject.so.
 *
 * usage: storm FOLDER SECONDS
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jumpfunc/record.h>
#include <jumpfunc/stats.h>

#include "subject.h"
#include "user/agent/aside.h"
#include "user/agent/detour.h"
#include "user/agent/place.h"
#include "user/test/tap.h"
#include "user/trace/provider.h"

#define THREADS		16

/* The agent's calls of libjumpfunc-trace. */
enum { NOTES, FUNCTIONS };
static struct jf_provider *provider[2];
int __real___jf_provider_register(struct jf_provider *p);
int __wrap___jf_provider_register(struct jf_provider *p);

int __wrap___jf_provider_register(struct jf_provider *p)
{
	if (!strcmp(p->kind, "note"))
		provider[NOTES] = p;
	else if (!strcmp(p->kind, "function"))
		provider[FUNCTIONS] = p;
	return __real___jf_provider_register(p);
}

/*
 * A callback of dl_iterate_phdr() has the lock of the dynamic linker's list, and must not wait for
 * the lock of dlopen(): dlclose() takes them in the other order.
 */
static __thread unsigned int walking;
static unsigned int taken_while_walking;
/* Is called once, right after a walk. */
static void (*after_walk)(void);
int __real_dl_iterate_phdr(int (*fn)(struct dl_phdr_info *info, size_t size, void *arg), void *arg);
int __wrap_dl_iterate_phdr(int (*fn)(struct dl_phdr_info *info, size_t size, void *arg), void *arg);
void *__real_dlopen(const char *file, int flags);
void *__wrap_dlopen(const char *file, int flags);
void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);

int __wrap_dl_iterate_phdr(int (*fn)(struct dl_phdr_info *info, size_t size, void *arg), void *arg)
{
	int ret;

	walking++;
	ret = __real_dl_iterate_phdr(fn, arg);
	walking--;
	if (!walking && after_walk) {
		void (*call)(void) = after_walk;

		after_walk = NULL;
		call();
	}
	return ret;
}

void *__wrap_dlopen(const char *file, int flags)
{
	if (walking)
		__atomic_fetch_add(&taken_while_walking, 1, __ATOMIC_RELAXED);
	return __real_dlopen(file, flags);
}

void *__wrap_dlsym(void *handle, const char *name)
{
	if (walking)
		__atomic_fetch_add(&taken_while_walking, 1, __ATOMIC_RELAXED);
	return __real_dlsym(handle, name);
}

static int on(int kind, const char *glob)
{
	return provider[kind]->enable(glob, provider[kind]->data);
}

static int off(int kind, const char *glob)
{
	return provider[kind]->disable(glob, provider[kind]->data);
}

/* A child that says by its status at which step it failed. @what: it is called in what is told. */
static bool ends_well(pid_t pid, const char *what)
{
	int status = -1;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "fork");
	CHECK(WIFEXITED(status), "%s: killed by signal %d", what, WTERMSIG(status));
	CHECK(!status, "%s: step %d", what, WEXITSTATUS(status));
	return !status;
}

struct found {
	const char	*name;
	int		num;
	int		on;
	char		detail[128];
};

static int find(const struct jf_listed *p, void *arg)
{
	struct found *f = (struct found *)arg;

	f->num++;
	f->on += p->on;
	snprintf(f->detail, sizeof(f->detail), "%s", p->detail ? p->detail : "");
	return 0;
}

static struct found listed(int kind, const char *glob)
{
	struct found f = { .num = 0 };

	provider[kind]->list(glob, find, &f, provider[kind]->data);
	return f;
}

/* --- one round of all functions -------------------------------------------------------- */

static uint64_t bad[32];

static void expect(int which, bool right)
{
	if (!right)
		__atomic_fetch_add(&bad[which], 1, __ATOMIC_RELAXED);
}

static uint64_t table(uint64_t a, uint64_t b)
{
	const uint64_t want[8] = { b + 11, b * 3, b ^ 5, b - 7, b << 2, ~b, b + a, b };

	return want[a % 8];
}

static uint64_t compared(uint64_t a, uint64_t b)
{
	int64_t unused;

	return __builtin_sub_overflow((int64_t)a, (int64_t)b, &unused) ? 1 : a > b ? 2 : a == b ? 3 :
	       (int64_t)a < (int64_t)b ? 4 : 5;
}

/*
 * Through a pointer that the compiler knows nothing of: as a caller that relies on no more than the
 * ABI.
 */
static void round_of(uint64_t a, uint64_t b)
{
	jmp_buf env;
	double d = (double)(a % 1000);

	expect(0, subject_same(a) == a);
	subject_nothing();
	expect(1, subject_twice(a) == 2 * a);
	expect(2, subject_landing(a) == a + 3);
	expect(3, subject_loop(a, b % 5 + 1) == a * (b % 5 + 1));
	expect(4, subject_pushes(a, b) == a + b);
	expect(5, subject_load(a) == a + 17);
	expect(6, subject_short_load(a) == a + 17);
	expect(7, subject_branch(a & 1) == (a & 1 ? 1 : 2));
	expect(8, subject_branch_first(a, 0, 0, b & 1) == a + (b & 1 ? 5 : 6));
	expect(9, subject_calls(a) == 3 * a);
	expect(10, subject_jumps(a) == 2 * a);
	expect(11, subject_vectors(d, 1, 2, 3, 4, 5, 6, 7) == d + 28);
	expect(12, subject_flags(a, b) == a + b + compared(a, b));
	expect(13, subject_flags(a, a) == a + a + 3);
	/* The difference overflows. */
	expect(18, subject_flags(UINT64_C(1) << 63 | a >> 8, 1 + (a >> 8)) == (UINT64_C(1) << 63 | a >> 8) + 2 + (a >> 8));
	expect(14, subject_patchable(a, b) == 3 * a + b);
	expect(15, subject_table(a, b) == table(a, b));
	expect(16, subject_notes(a, 5, (unsigned char)b) == a + 6 + (unsigned char)b);
	expect(22, subject_fentry(a) == a + 30 && subject_fentry_landing(a) == a + 31);
	expect(23, subject_nop10(a) == a + 10 && subject_nop5(a) == a + 5);
	if (setjmp(env) == 0) {
		subject_leave(env);
		expect(17, false);
	}
}

static void finish_rounds(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!bad[i], "%zu is wrong %llu times", i, (unsigned long long)bad[i]);
		bad[i] = 0;
	}
	finish(name);
}

/* --- each way ------------------------------------------------------------------------- */

static uint64_t records(void)
{
	struct jf_record_counts c;

	jf_record_stats(&c);
	return c.records + c.overwritten;
}

static const char *const ways[] = { "", "jump", "short", "span", "break" };

static void each_way(void)
{
	unsigned int way;
	char name[64];
	int i, n, no;

	for (way = JF_WAY_JUMP; way <= JF_WAY_BREAK + 1; way++) {
		uint64_t before = records(), made;

		jf_ways = way <= JF_WAY_BREAK ? 1U << way : ~0U;
		n = on(FUNCTIONS, "subject.so:subject_*");
		no = on(NOTES, "jfagent:*");
		/* A note has one byte, and the bytes after it may lead nowhere. */
		CHECK(n > 0 && (no > 0 || way <= JF_WAY_SHORT), "%d functions, %d notes", n, no);
		for (i = 0; i < 1000; i++)
			round_of((uint64_t)i * 0x9e3779b97f4a7c15 >> (i & 31), (uint64_t)i * i);
		made = records() - before;
		/* A note alone has one record a round. */
		CHECK(made >= 1000, "%llu records of %d", (unsigned long long)made, n);
		n = off(FUNCTIONS, NULL);
		no = off(NOTES, NULL);
		CHECK(n >= 0 && no >= 0, "off: %d, %d", n, no);
		before = records();
		round_of(1, 2);
		CHECK(records() == before, "recorded while off");
		snprintf(name, sizeof(name), "functions and notes by %s", way <= JF_WAY_BREAK ? ways[way] : "any way");
		finish_rounds(name);
	}
	jf_ways = ~0U;
}

/* All functions can be recorded; as what, is told. */
static void is_complete(void)
{
	struct found f = listed(FUNCTIONS, "subject.so:subject_*");
	int n = on(FUNCTIONS, "subject.so:subject_*");

	CHECK(n >= 19, "%d of %d functions", n, f.num);
	f = listed(FUNCTIONS, "subject_twice");
	CHECK(f.on && strstr(f.detail, "jump"), "subject_twice: %s", f.detail);
	f = listed(NOTES, "jfagent:*");
	CHECK(f.num == 3 && f.on == 0, "%d notes, %d on", f.num, f.on);
	n = on(NOTES, "jfagent:*");
	f = listed(NOTES, "jfagent:*");
	CHECK(n == 3 && f.on == 3, "%d notes, %d on", n, f.on);
	CHECK(on(FUNCTIONS, "no_such_function") == 0, "it is there");
	CHECK(on(FUNCTIONS, "*") == 0, "all functions of all objects");
	CHECK(off(FUNCTIONS, "subject_twice") > 0 && listed(FUNCTIONS, "subject_twice").on == 0, "one stays on");
	CHECK(off(FUNCTIONS, NULL) > 0 && off(NOTES, NULL) == 3, "some stay on");
	round_of(5, 6);
	finish_rounds("what there is, is listed");
}

/* True if @text is in the first packet of this process. */
static bool is_recorded(const char *text, size_t size)
{
	char path[4096], data[65536];
	size_t num = 0;
	FILE *f;

	if (jf_record_folder(path, sizeof(path) - 8) <= 0)
		return false;
	strcat(path, "/r0-0");
	f = fopen(path, "r");
	if (f) {
		num = fread(data, 1, sizeof(data), f);
		fclose(f);
	}
	return num && memmem(data, num, text, size);
}

/* --- arguments that are strings ----------------------------------------------------------- */

static void patterns_of_strings(void)
{
	static const char *const wrong[] = {
		"subject_same(strin)", "subject_same(", "subject_same(string", "subject_same(string)x", "subject_same)",
		"(string)", "subject_same(string,string,string,string,string)", "subject_same(_,_,_,_,_,_,_,_,_,_,_,_,string)",
		"subject_same(string))", "subject_same(string)(string)",
	};
	uint64_t before = records();
	size_t i;
	int n;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		n = on(FUNCTIONS, wrong[i]);
		/* One of these is a name that nothing has. */
		CHECK(n == -EINVAL || (!n && !strchr(wrong[i], '(')), "%s: %d", wrong[i], n);
	}
	CHECK(!listed(FUNCTIONS, "subject.so:subject_same").on, "it is on");
	CHECK(on(FUNCTIONS, "subject.so:subject_same()") == 1, "nothing is said of arguments");
	CHECK(listed(FUNCTIONS, "subject.so:subject_same(string)").on > 0, "not listed");
	/* An argument that is no pointer; and the type of a number may change while it is on. */
	CHECK(subject_same(16) == 16, "wrong");
	CHECK(on(FUNCTIONS, "subject.so:subject_same(string)") > 0 && subject_same((uint64_t)(uintptr_t)wrong[0]) && !subject_same(0), "wrong");
	CHECK(subject_same(17) == 17 && subject_same(UINT64_MAX) == UINT64_MAX, "wrong");
	CHECK(records() == before + 5, "%llu records", (unsigned long long)(records() - before));
	CHECK(off(FUNCTIONS, "subject.so:subject_same(string)") == 1, "off");
	CHECK(on(NOTES, "jfagent:args(_,string,string)") == 1 && off(NOTES, NULL) == 1, "arguments that are no pointers");
	finish("patterns that say which arguments are strings");
}

static bool same_is_recorded(const char *text)
{
	uint64_t before = records();

	CHECK(subject_same((uint64_t)(uintptr_t)text) && records() == before + 1, "no record");
	return is_recorded(text, strlen(text) + 1);
}

/* The last pattern counts for strings, too. */
static void strings_off(void)
{
	CHECK(on(FUNCTIONS, "subject.so:subject_same(string)") == 1 && same_is_recorded("the first string"), "on");
	CHECK(on(FUNCTIONS, "subject_sam*") > 0 && !same_is_recorded("recorded without a word"), "still with strings");
	CHECK(on(FUNCTIONS, "subject.so:subject_same(string)") > 0 && same_is_recorded("the second string"), "on again");
	CHECK(off(FUNCTIONS, "subject.so:subject_same(string)") == 1 && on(FUNCTIONS, "subject.so:subject_same") == 1, "off and on");
	CHECK(!same_is_recorded("recorded without another word"), "with strings after off");
	off(FUNCTIONS, NULL);
	finish("strings are not recorded any longer");
}

/* --- small stacks ------------------------------------------------------------------------ */

#define STACK		65536

static const char *handler_calls_with;

static void calls(int sig)
{
	(void)sig;
	subject_same((uint64_t)(uintptr_t)handler_calls_with);
}

/*
 * How much of a stack of its own a handler needs that calls a function, in a thread that has
 * recorded nothing yet.
 */
static void *on_small_stack(void *arg)
{
	size_t *used = (size_t *)arg, i;
	unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const stack_t own = { .ss_sp = stack, .ss_size = STACK }, none = { .ss_flags = SS_DISABLE };

	must(stack == MAP_FAILED || sigaltstack(&own, NULL) ? -errno : 0, "sigaltstack");
	memset(stack, 0x5a, STACK);
	raise(SIGUSR2);
	for (i = 0; i < STACK && stack[i] == 0x5a; i++)
		;
	*used = STACK - i;
	sigaltstack(&none, NULL);
	munmap(stack, STACK);
	return NULL;
}

static size_t stack_used(void)
{
	size_t used = 0;
	pthread_t t;

	must(-pthread_create(&t, NULL, on_small_stack, &used), "pthread_create");
	pthread_join(t, NULL);
	return used;
}

/* Where MINSIGSTKSZ is 2048 the kernel's own part is 1 KiB or more. */
static void small_stacks(void)
{
	struct sigaction action = { .sa_handler = calls, .sa_flags = SA_ONSTACK };
	uint64_t before = records();
	size_t off_used, on_used;

	handler_calls_with = "a string";
	sigaction(SIGUSR2, &action, NULL);
	off_used = stack_used();
	CHECK(records() == before, "it is on");
	CHECK(on(FUNCTIONS, "subject.so:subject_same(string,string,string,string)") == 1, "on");
	on_used = stack_used();
	CHECK(records() == before + 1, "%llu records", (unsigned long long)(records() - before));
	CHECK(off(FUNCTIONS, NULL) == 1, "off");
	CHECK(on_used < off_used + 800, "%zu bytes, %zu without a record", on_used, off_used);
	finish("what a record takes of a stack");
}

/* --- a string within another ---------------------------------------------------------------- */

static const char outer[] = "a string that a signal handler interrupts";
static const char inner[] = "what that records has less room, but a sign";
static const char after[] = "and the next one is whole again, as it was before";

static int records_nested(void)
{
	struct sigaction action = { .sa_handler = calls };

	handler_calls_with = inner;
	sigaction(SIGUSR2, &action, NULL);
	subject_same((uint64_t)(uintptr_t)outer);
	subject_same((uint64_t)(uintptr_t)after);
	return (is_recorded(outer, sizeof(outer)) ? 0 : 1) |
	       (is_recorded("what that records has less r...", 32) ? 0 : 2) | (is_recorded(after, sizeof(after)) ? 0 : 4);
}

/* A child, as it has copied its first string and before that is in the ring. */
static pid_t stopped_at_string(int (*child)(void))
{
	struct user_regs_struct regs;
	int status = 0, stops = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP) ? 99 : child());
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "status %x", status);
	while (stops < 2 && !ptrace(PTRACE_SYSCALL, pid, 0, 0) && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		if (!ptrace(PTRACE_GETREGS, pid, 0, &regs) && regs.orig_rax == SYS_process_vm_readv)
			stops++;
	CHECK(stops == 2, "no string was copied: %x", status);
	return pid;
}

static void nested_strings(void)
{
	int status = 0, stops;
	pid_t pid;

	CHECK(on(FUNCTIONS, "subject.so:subject_same(string)") == 1, "on");
	pid = stopped_at_string(records_nested);
	/* It is told of the signal before it gets it. */
	for (stops = 0; stops < 2; stops++)
		if (ptrace(PTRACE_CONT, pid, 0, SIGUSR2) || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			break;
	CHECK(stops == 1 && WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
	CHECK(off(FUNCTIONS, NULL) == 1, "off");
	finish("a record of strings within another");
}

static const char first[] = "what a pointer led to", second[] = "and what it leads to then";
static const char *pointer = first;

static int records_pointer(void)
{
	struct {
		const char	*at;
		char		text[sizeof(first)];
	} want = { first, "" };

	memcpy(want.text, first, sizeof(first));
	return subject_pointer(&pointer) != (uint64_t)(uintptr_t)second ? 1 :
	       is_recorded((const char *)&want, sizeof(want.at) + sizeof(want.text)) ? 0 : 2;
}

/* A pointer that another thread writes is recorded as it was when its string was. */
static void changed_pointer(void)
{
	int status = 0;
	pid_t pid;

	CHECK(on(NOTES, "jfmemory:pointer(string)") == 1, "%s", listed(NOTES, "jfmemory:pointer").detail);
	pid = stopped_at_string(records_pointer);
	CHECK(!ptrace(PTRACE_POKEDATA, pid, &pointer, second) && !ptrace(PTRACE_CONT, pid, 0, 0), "ptrace");
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
	CHECK(off(NOTES, NULL) == 1, "off");
	finish("a pointer that changes while its string is recorded");
}

/* --- the text as it was ----------------------------------------------------------------- */

static void is_restored(void)
{
	const unsigned char *at = (const unsigned char *)(uintptr_t)subject_pushes;
	unsigned char before[256];
	unsigned int way;

	memcpy(before, at, sizeof(before));
	for (way = JF_WAY_JUMP; way <= JF_WAY_BREAK; way++) {
		jf_ways = 1U << way;
		on(FUNCTIONS, "subject.so:subject_*");
		off(FUNCTIONS, NULL);
		CHECK(!memcmp(before, at, sizeof(before)), "by %s", ways[way]);
	}
	jf_ways = ~0U;
	finish("what was changed is as it was");
}

/* --- another's breakpoint ---------------------------------------------------------------- */

static void poke(uintptr_t at, unsigned char byte)
{
	int fd = open("/proc/self/mem", O_RDWR);

	if (fd < 0 || pwrite(fd, &byte, 1, (off_t)at) != 1)
		must(-errno, "/proc/self/mem");
	close(fd);
}

static void of_others(void)
{
	uintptr_t at = (uintptr_t)subject_load;
	unsigned char was = *(unsigned char *)at;
	struct found f;

	poke(at, 0xcc);
	CHECK(on(FUNCTIONS, "subject_load") < 0, "it was changed");
	f = listed(FUNCTIONS, "subject_load");
	CHECK(!f.on && strstr(f.detail, "breakpoint"), "%s", f.detail);
	CHECK(*(unsigned char *)at == 0xcc, "it has gone");
	CHECK(on(FUNCTIONS, "subject_short_load") == 1, "others are not");
	poke(at, was);
	CHECK(on(FUNCTIONS, "subject_load") == 1, "still not");
	CHECK(subject_load(4) == 21 && off(FUNCTIONS, NULL) >= 2, "wrong");
	finish("another's breakpoint is left alone");
}

/* One that is in the bytes that a jump's distance would have is removed at some time. */
static void of_others_beside(void)
{
	uintptr_t at = (uintptr_t)subject_same;
	unsigned char ret = *(unsigned char *)(at + 3), fill = *(unsigned char *)(at + 4);
	struct found f;
	int n;

	jf_ways = 1U << JF_WAY_SHORT;
	poke(at + 3, 0xcc);
	n = on(FUNCTIONS, "subject_same");
	f = listed(FUNCTIONS, "subject_same");
	CHECK(n < 0 && !f.on && strstr(f.detail, "breakpoint"), "%d: %s", n, f.detail);
	off(FUNCTIONS, NULL);
	poke(at + 3, ret);
	subject_same(1);
	poke(at + 4, (unsigned char)~fill);
	CHECK(on(FUNCTIONS, "subject_same") < 0, "it is on");
	f = listed(FUNCTIONS, "subject_same");
	CHECK(strstr(f.detail, "other bytes"), "%s", f.detail);
	poke(at + 4, fill);
	CHECK(on(FUNCTIONS, "subject_same") == 1, "still not");
	subject_same(1);
	CHECK(off(FUNCTIONS, NULL) == 1, "off");
	jf_ways = ~0U;
	finish("a breakpoint beside is no part of a jump");
}

/* --- instructions that are there for a jump ------------------------------------------------ */

static void long_nops(void)
{
	const unsigned char *ten = (const unsigned char *)(uintptr_t)note_nop10, *five = (const unsigned char *)(uintptr_t)note_nop5;
	struct found f;
	uint64_t before = records();
	int n;

	jf_ways = 1U << JF_WAY_JUMP;
	CHECK(on(NOTES, "jflong:*") == 2, "notes by a jump");
	f = listed(NOTES, "jflong:nop10");
	CHECK(f.num == 1 && f.on == 1 && !strcmp(f.detail, "jump"), "nop10: %s", f.detail);
	/* The short one is another's, as before. */
	CHECK(ten[0] == 0x90 && ten[1] == 0xe9, "%#x %#x", ten[0], ten[1]);
	CHECK(five[0] == 0x90 && five[1] == 0xe9, "%#x %#x", five[0], five[1]);
	CHECK(subject_nop10(1) == 11 && subject_nop5(1) == 6, "wrong");
	CHECK(records() == before + 2, "%llu records", (unsigned long long)(records() - before));
	CHECK(off(NOTES, NULL) == 2, "off");
	CHECK(ten[1] == 0x66 && five[1] == 0x0f, "%#x %#x", ten[1], five[1]);
	/* A uprobe that does not know of the long one; and one that does. */
	poke((uintptr_t)ten, 0xcc);
	CHECK(on(NOTES, "jflong:nop10") == 1 && off(NOTES, NULL) == 1, "not beside a uprobe");
	poke((uintptr_t)ten, 0x90);
	poke((uintptr_t)ten + 1, 0xcc);
	CHECK(on(NOTES, "jflong:nop10") < 0, "on a uprobe");
	poke((uintptr_t)ten + 1, 0x66);
	n = on(FUNCTIONS, "subject_fentry*");
	CHECK(n == 2, "%d functions by a jump", n);
	f = listed(FUNCTIONS, "subject.so:subject_fentry_landing");
	CHECK(f.on && !strcmp(f.detail, "jump"), "%s", f.detail);
	CHECK(subject_fentry(1) == 31 && subject_fentry_landing(1) == 32, "wrong");
	CHECK(off(FUNCTIONS, NULL) >= 2, "off");
	jf_ways = ~0U;
	finish("instructions that are there for a jump");
}

/* Bytes that are a site's are no part of a jump: they change. */
static void beside_sites(void)
{
	struct found f;

	CHECK(on(NOTES, "jfbeside:site") < 0, "the note is on");
	f = listed(NOTES, "jfbeside:site");
	CHECK(f.num == 1 && !f.on && strstr(f.detail, "site"), "%d found, %d on: %s", f.num, f.on, f.detail);
	CHECK(on(FUNCTIONS, "beside_site") < 0, "the function is on");
	CHECK(beside_site(5) == 6, "wrong");
	CHECK(!beside_set(1) && beside_site(5) == 7, "wrong while the key is on");
	CHECK(!beside_set(0) && beside_site(5) == 6, "wrong after it was");
	off(NOTES, NULL);
	off(FUNCTIONS, NULL);
	finish("sites of libjumpfunc are left alone");
}

/*
 * The same in an object that has the static library in it: this process's libjumpfunc does not know
 * its sites. In another process, as it may die of it.
 */
static int beside_other(const char *folder)
{
	uint64_t (*call)(uint64_t a), (*twice)(uint64_t a);
	int (*set)(int on);
	char path[4096];
	struct found f;
	unsigned int i;
	void *h;

	snprintf(path, sizeof(path), "%s/subject3.so", folder);
	h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!h)
		return 1;
	call = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(h, "beside_site");
	set = (int (*)(int))(uintptr_t)dlsym(h, "beside_set");
	twice = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(h, "subject_twice");
	/* Sites that were changed already, and that were not. */
	for (i = 0; i < 4; i++) {
		bool refused = on(NOTES, "jfbeside3:site") < 0 && on(FUNCTIONS, "subject3.so:beside_site") < 0;

		f = listed(NOTES, "jfbeside3:site");
		if (call(5) != 6 + i % 2 || set(!(i % 2)) || call(5) != 7 - i % 2)
			return 2;
		if (!refused)
			return 3;
		if (f.num != 1 || f.on || !strstr(f.detail, "site"))
			return 4;
	}
	/*
	 * Probes that are not beside them can be recorded: the notes. The library's own functions
	 * are among its functions.
	 */
	if (on(FUNCTIONS, "subject3.so:subject_twice") >= 0)
		return 5;
	f = listed(FUNCTIONS, "subject3.so:subject_twice");
	if (f.num < 1 || f.on || !strstr(f.detail, "its own") || twice(4) != 8)
		return 6;
	if (on(NOTES, "jfagent:args") != 2 || off(NOTES, NULL) < 2)
		return 7;
	return 0;
}

static void beside_sites_of_another(const char *folder)
{
	pid_t pid = fork();

	if (!pid)
		_exit(beside_other(folder));
	ends_well(pid, "it");
	finish("sites of another libjumpfunc are left alone");
}

/* --- objects that come later -------------------------------------------------------------- */

static void comes_later(const char *folder)
{
	uint64_t (*twice)(uint64_t a), before;
	char path[4096];
	struct found f;
	void *h;
	int i;

	snprintf(path, sizeof(path), "%s/subject2.so", folder);
	CHECK(on(FUNCTIONS, "subject2.so:subject_twice") == 0, "it is there");
	for (i = 0; i < 20; i++) {
		h = dlopen(path, RTLD_NOW);
		if (!h)
			must(-ENOENT, dlerror());
		twice = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(h, "subject_twice");
		before = records();
		CHECK(twice(21) == 42, "wrong");
		CHECK(records() == before + 1, "%llu records", (unsigned long long)(records() - before));
		f = listed(FUNCTIONS, "subject2.so:subject_twice");
		CHECK(f.on > 0, "%d found, %d on: %s", f.num, f.on, f.detail);
		dlclose(h);
		CHECK(listed(FUNCTIONS, "subject2.so:subject_twice").num == 0, "still listed");
	}
	CHECK(off(FUNCTIONS, NULL) >= 0, "off");
	finish("objects come and go");
}

/* --- another object of that name, in the same place ---------------------------------------- */

static char again_path[4096];
static void *again_handle;
static uint64_t (*again_twice)(uint64_t a);
static unsigned int moved;

static void load_again(void)
{
	uint64_t (*was)(uint64_t a) = again_twice;

	/* The agent hears of neither. */
	jf_agent_busy++;
	if (again_handle)
		dlclose(again_handle);
	again_handle = dlopen(again_path, RTLD_NOW);
	jf_agent_busy--;
	if (!again_handle)
		must(-ENOENT, dlerror());
	again_twice = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(again_handle, "subject_twice");
	moved += was && was != again_twice;
}

static void check_again(const char *when)
{
	uint64_t before = records();
	int n = on(FUNCTIONS, "subject2.so:subject_twice");

	CHECK(n > 0, "%s: %d, %s", when, n, listed(FUNCTIONS, "subject2.so:subject_twice").detail);
	CHECK(again_twice(4) == 8 && records() == before + 1, "%s: %llu records", when, (unsigned long long)(records() - before));
}

static void is_loaded_again(const char *folder)
{
	unsigned int way;

	snprintf(again_path, sizeof(again_path), "%s/subject2.so", folder);
	for (way = JF_WAY_JUMP; way <= JF_WAY_BREAK; way++) {
		jf_ways = 1U << way;
		load_again();
		if (on(FUNCTIONS, "subject2.so:subject_twice") <= 0)
			continue;
		after_walk = load_again;
		listed(FUNCTIONS, "subject2.so:subject_twice");
		check_again(ways[way]);
		load_again();
		check_again(ways[way]);
		CHECK(off(FUNCTIONS, NULL) > 0, "off");
	}
	jf_ways = ~0U;
	CHECK(!moved, "it was elsewhere %u times: nothing is seen then", moved);
	dlclose(again_handle);
	again_handle = NULL;
	finish("an object is loaded where it was before");
}

/* --- another program's patcher ------------------------------------------------------------- */

/* It keeps the bytes that it finds, and writes them back at some time. */
static void write_text(uintptr_t at, const void *bytes, size_t num)
{
	int fd = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);

	must(fd < 0 || pwrite(fd, bytes, num, (off_t)at) != (ssize_t)num ? -errno : 0, "/proc/self/mem");
	close(fd);
}

static void come_and_go(const char *folder)
{
	char path[4096];
	void *h;

	snprintf(path, sizeof(path), "%s/plugin-first.so", folder);
	h = dlopen(path, RTLD_NOW);
	must(h ? dlclose(h) : -ENOENT, "dlopen");
	listed(FUNCTIONS, "subject2.so:subject_*");
}

/* The agent's jump is taken away for a while, with another probe of the object and without one. */
static void take_away(const char *folder, void *h, bool beside)
{
	/* lea (%rdi,%rdi,2), %rax */
	static const unsigned char thrice[] = { 0x48, 0x8d, 0x04, 0x7f };
	uint64_t (*twice)(uint64_t a) = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(h, "subject_twice");
	uint64_t (*same)(uint64_t a) = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(h, "subject_same");
	uintptr_t at = (uintptr_t)twice;
	unsigned char ours[8], plain[8];
	uint64_t before;

	memcpy(plain, (const void *)at, sizeof(plain));
	jf_ways = 1U << JF_WAY_SHORT;
	CHECK(on(FUNCTIONS, "subject2.so:subject_twice") == 1, "%s", listed(FUNCTIONS, "subject2.so:subject_twice").detail);
	jf_ways = ~0U;
	CHECK(!beside || on(FUNCTIONS, "subject2.so:subject_same") == 1, "%s", listed(FUNCTIONS, "subject2.so:subject_same").detail);
	memcpy(ours, (const void *)at, sizeof(ours));
	write_text(at, thrice, sizeof(thrice));
	CHECK(twice(4) == 12, "wrong");
	come_and_go(folder);
	before = records();
	CHECK(same(4) == 4 && records() == before + beside, "%llu records", (unsigned long long)(records() - before));
	CHECK(!jf_place_fixed(at, 0xf, ours + 1, 8, 0), "the memory of its code is free");
	write_text(at, ours, sizeof(ours));
	CHECK(twice(5) == 10, "wrong");
	if (!beside)
		write_text(at, plain, sizeof(plain));
	CHECK(off(FUNCTIONS, NULL) == 2 * beside, "off");
	CHECK(!memcmp(plain, (const void *)at, sizeof(plain)), "not as it was");
}

/*
 * A uprobe that was set afterwards is removed: the kernel writes back the first byte that the file
 * has, and no other. Where the others are a jump's, no thread must come by any more; the agent does
 * not change it again.
 */
static int first_byte_back(void)
{
	uint64_t (*load)(uint64_t a);
	uintptr_t at;
	uint8_t was;
	void *h = dlopen(again_path, RTLD_NOW);

	if (!h)
		return 1;
	load = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(h, "subject_short_load");
	at = (uintptr_t)load;
	was = *(const uint8_t *)at;
	jf_ways = 1U << JF_WAY_SPAN;
	if (on(FUNCTIONS, "subject2.so:subject_short_load") != 1 || load(1) != 18)
		return 2;
	write_text(at, &was, 1);
	/* Enabled probes record. */
	off(FUNCTIONS, NULL);
	if (on(FUNCTIONS, "subject2.so:subject_short_load") != -EOPNOTSUPP ||
	    strcmp(listed(FUNCTIONS, "subject2.so:subject_short_load").detail, "another has changed its text"))
		return 4;
	return 0;
}

static void of_a_uprobe(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(first_byte_back());
	ends_well(pid, "it");
	finish("what a uprobe leaves that is removed");
}

/*
 * A uprobe is at a place of one byte when the object is loaded again: that byte says nothing about
 * the others.
 */
static int loaded_with_a_uprobe(void)
{
	uint64_t (*twice)(uint64_t a), (*same)(uint64_t a), (*was)(uint64_t a);
	uint64_t before;
	uint8_t trap = 0xcc;

	load_again();
	jf_ways = 1U << JF_WAY_BREAK;
	if (on(FUNCTIONS, "subject2.so:subject_twice") != 1)
		return 1;
	jf_ways = ~0U;
	if (on(FUNCTIONS, "subject2.so:subject_same") != 1)
		return 2;
	was = again_twice;
	load_again();
	twice = again_twice;
	same = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(again_handle, "subject_same");
	write_text((uintptr_t)twice, &trap, 1);
	on(FUNCTIONS, "subject2.so:subject_same");
	before = records();
	if (same(4) != 4)
		return 3;
	if (records() != before + 1)
		return 4;
	return twice == was ? 0 : 5;
}

static void with_a_uprobe(const char *folder)
{
	pid_t pid;

	snprintf(again_path, sizeof(again_path), "%s/subject2.so", folder);
	pid = fork();
	if (!pid)
		_exit(loaded_with_a_uprobe());
	ends_well(pid, "it");
	finish("an object is loaded again where a uprobe is");
}

/*
 * One that was set afterwards is removed, and all is as the file has it: it can be recorded again.
 */
static int whole_byte_back(void)
{
	uint64_t before;
	uint8_t was;

	load_again();
	was = *(const uint8_t *)(uintptr_t)again_twice;
	jf_ways = 1U << JF_WAY_BREAK;
	if (on(FUNCTIONS, "subject2.so:subject_twice") != 1)
		return 1;
	write_text((uintptr_t)again_twice, &was, 1);
	off(FUNCTIONS, NULL);
	if (on(FUNCTIONS, "subject2.so:subject_twice") != 1)
		return 2;
	before = records();
	return again_twice(4) == 8 && records() == before + 1 ? off(FUNCTIONS, NULL) != 1 : 3;
}

static void back_as_it_was(const char *folder)
{
	pid_t pid;

	snprintf(again_path, sizeof(again_path), "%s/subject2.so", folder);
	pid = fork();
	if (!pid)
		_exit(whole_byte_back());
	ends_well(pid, "it");
	finish("a place that another has put back as it was");
}

/* A program writes over an object's ELF header, as some do to hide their kind. */
static int without_header(const char *folder)
{
	static const ElfW(Ehdr) none;
	struct link_map *map;
	uint64_t before;

	load_again();
	if (on(FUNCTIONS, "subject2.so:subject_twice") != 1 || dlinfo(again_handle, RTLD_DI_LINKMAP, &map))
		return 1;
	write_text(map->l_addr, &none, sizeof(none));
	listed(FUNCTIONS, "subject2.so:subject_twice");
	come_and_go(folder);
	before = records();
	if (again_twice(4) != 8 || records() != before + 1)
		return 2;
	if (off(FUNCTIONS, NULL) != 1 || again_twice(4) != 8 || records() != before + 1)
		return 3;
	return 0;
}

static void has_no_header(const char *folder)
{
	pid_t pid;

	snprintf(again_path, sizeof(again_path), "%s/subject2.so", folder);
	pid = fork();
	if (!pid)
		_exit(without_header(folder));
	ends_well(pid, "it");
	finish("an object whose header is written over");
}

static void of_another_patcher(const char *folder)
{
	int i;

	snprintf(again_path, sizeof(again_path), "%s/subject2.so", folder);
	for (i = 1; i >= 0; i--) {
		void *h = dlopen(again_path, RTLD_NOW);

		must(h ? 0 : -ENOENT, "dlopen");
		take_away(folder, h, i);
		dlclose(h);
	}
	finish("text that another patcher changes for a while");
}

/* --- another file of that name, loaded in the same place -------------------------------------- */

static int (*plugged)(int a);

static void *load_plugin(const char *folder, const char *which, const char *path)
{
	char from[4096];
	void *h;

	snprintf(from, sizeof(from), "%s/plugin-%s.so", folder, which);
	unlink(path);
	must(link(from, path) ? -errno : 0, "link");
	h = dlopen(path, RTLD_NOW);
	if (!h)
		must(-ENOENT, dlerror());
	plugged = (int (*)(int))(uintptr_t)dlsym(h, "plugged");
	return h;
}

/* Steps that failed. A jump into nowhere ends it. */
static int becomes_another_one(const char *folder, const char *one, const char *other, unsigned int way, bool told, bool fits)
{
	int (*was)(int a), n;
	uint64_t before;
	char path[4096];
	void *h;

	snprintf(path, sizeof(path), "%s/plugin.so", folder);
	jf_ways = 1U << way;
	h = load_plugin(folder, one, path);
	before = records();
	if (on(FUNCTIONS, "plugin.so:plugged") != 1 || plugged(1) != 1 || records() != before + 1)
		return 1;
	if (off(FUNCTIONS, NULL) != 1 || listed(NOTES, "jfplugin:first").num != 1)
		return 2;
	/* Nothing is asked for in between, so the agent looks at neither. */
	was = plugged;
	dlclose(h);
	h = load_plugin(folder, other, path);
	if (plugged != was)
		return 3;
	before = records();
	n = on(FUNCTIONS, "plugin.so:plugged");
	if (plugged(1) != 8 || records() != before + (n == 1))
		return 4;
	if (told && (n != 1 || listed(NOTES, "jfplugin:later").num != 1 || listed(NOTES, "jfplugin:first").num))
		return 5;
	if (!told && n != (fits ? 1 : -EOPNOTSUPP))
		return 6;
	unlink(path);
	return off(FUNCTIONS, NULL) < 0 || dlclose(h) ? 7 : 0;
}

/* It stays loaded, and the symbols of its file are elsewhere, or have other names. */
static void has_another_file(const char *folder)
{
	char path[4096], other[4096];
	void *h;

	snprintf(path, sizeof(path), "%s/plugin.so", folder);
	snprintf(other, sizeof(other), "%s/plugin-renamed.so", folder);
	h = load_plugin(folder, "first", path);
	CHECK(on(FUNCTIONS, "plugin.so:plugged") == 1 && off(FUNCTIONS, NULL) == 1, "with its own file");
	unlink(path);
	must(link(other, path) ? -errno : 0, "link");
	CHECK(on(FUNCTIONS, "plugin.so:renamed") == 0 && plugged(1) == 1, "it is taken for the other file");
	/* Its own file may be found by other ways than its name. */
	CHECK(!listed(FUNCTIONS, "plugin.so:renamed").num, "functions of the other file are listed");
	unlink(path);
	off(FUNCTIONS, NULL);
	dlclose(h);
	finish("an object whose file has been replaced");
}

static void becomes_another(const char *folder)
{
	static const struct {
		const char	*one, *other;
		unsigned int	way;
		bool		told, fits;
	} all[] = {
		{ "first", "later", JF_WAY_SHORT, true, false },
		{ "first-plain", "later-plain", JF_WAY_SHORT, false, false },
		/* The difference is after the bytes of a jump. */
		{ "long-first-plain", "long-later-plain", JF_WAY_JUMP, false, true },
	};
	int i;

	for (i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(becomes_another_one(folder, all[i].one, all[i].other, all[i].way, all[i].told, all[i].fits));
		ends_well(pid, all[i].one);
	}
	finish("another file of that name is loaded in the same place");
}

/* --- the first one, while others load and unload ------------------------------------------- */

static void *loads(void *path)
{
	for (;;) {
		void *h = dlopen((const char *)path, RTLD_NOW);

		if (!h)
			_exit(3);
		dlclose(h);
	}
	return NULL;
}

/* In a process of its own: all that is done once is done there. A deadlock ends by SIGALRM. */
static int first_of_all(char *path)
{
	struct timespec t = { .tv_nsec = 20000000 };
	pthread_t threads[3];
	unsigned int i;

	alarm(30);
	for (i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, loads, path))
			return 1;
	nanosleep(&t, NULL);
	/* Any answer will do: a thread that is being made blocks SIGTRAP. */
	on(FUNCTIONS, "subject2.so:subject_*");
	off(FUNCTIONS, NULL);
	return taken_while_walking ? 2 : 0;
}

static void first_while_loading(const char *folder)
{
	char path[4096];
	bool well = true;
	int i;

	snprintf(path, sizeof(path), "%s/subject2.so", folder);
	/* One that waits for good is enough. */
	for (i = 0; i < 5 && well; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(first_of_all(path));
		well = ends_well(pid, "it");
	}
	finish("the first probe, while threads load and unload objects");
}

/* --- fork() while probes are switched ---------------------------------------------------- */

static volatile bool may_fork, in_fork;

static void fork_begins(void)
{
	in_fork = true;
}

static void *forks_once(void *arg)
{
	pid_t pid = -1;
	int status = 1;

	while (!may_fork)
		sched_yield();
	pid = fork();
	if (!pid)
		_exit(on(FUNCTIONS, "no_such_function"));
	if (waitpid(pid, &status, 0) == pid)
		*(bool *)arg = !status;
	return NULL;
}

/* It is called with libjumpfunc-trace's lock of providers, as the agent's own functions are. */
static int switch_in_fork(const char *glob, void *data)
{
	struct timespec t = { .tv_nsec = 100000000 };

	(void)glob, (void)data;
	may_fork = true;
	while (!in_fork)
		sched_yield();
	/* After this time more of fork() has been done, and waiters of the lock wait. */
	nanosleep(&t, NULL);
	return off(NOTES, "jfagent:*");
}

static int list_none(const char *glob, jf_listed_fn *fn, void *arg, void *data)
{
	(void)glob, (void)fn, (void)arg, (void)data;
	return 0;
}

static int enable_none(const char *glob, void *data)
{
	(void)glob, (void)data;
	return 0;
}

/* In a process of its own, as providers stay. A deadlock ends by SIGALRM. */
static int stops_in_fork(void)
{
	static struct jf_provider third = {
		.version = JF_PROVIDER_VERSION, .kind = "third", .list = list_none, .enable = enable_none, .disable = switch_in_fork,
	};
	bool forked = false;
	pthread_t t;

	alarm(30);
	if (__real___jf_provider_register(&third) || pthread_atfork(fork_begins, NULL, NULL) ||
	    pthread_create(&t, NULL, forks_once, &forked))
		return 1;
	if (jf_record_stop())
		return 2;
	pthread_join(t, NULL);
	return forked ? 0 : 3;
}

static void fork_while_switching(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(stops_in_fork());
	ends_well(pid, "it");
	finish("fork() while probes are switched");
}

/* --- a thread that blocks SIGTRAP -------------------------------------------------------- */

static volatile bool blocked_ends;

static void *blocks(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	__atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
	while (!blocked_ends) {
		subject_same(1);
		expect(24, byte_1(1) == 1 && byte_2(2) == 2 && byte_3(3) == 3 && byte_4(4) == 4 &&
		       byte_5(5) == 5 && byte_6(6) == 6);
	}
	return NULL;
}

/*
 * Where one byte is all that changes, a thread that blocks SIGTRAP and comes by all the time is no
 * matter: it would die of a breakpoint.
 */
static void by_one_byte(void)
{
	unsigned int i, jumps = 0, shorts = 0;
	uint64_t before = records();
	struct jf_stats s, was;
	char name[32];
	pthread_t t;
	int runs = 0;

	jf_stats_get(&was, sizeof(was));
	must(-pthread_create(&t, NULL, blocks, &runs), "pthread_create");
	while (!__atomic_load_n(&runs, __ATOMIC_ACQUIRE))
		;
	/* Another mapping may be at some of these distances. */
	for (i = 1; i <= 6; i++) {
		struct found f;
		int n, rounds, changed = 0;

		snprintf(name, sizeof(name), "byte_%u", i);
		n = on(FUNCTIONS, name);
		f = listed(FUNCTIONS, name);
		if (n != 1)
			continue;
		CHECK(strstr(f.detail, "jump by one byte"), "%s: %s", name, f.detail);
		CHECK(off(FUNCTIONS, name) == 1, "%s: not off", name);
		for (rounds = 0; rounds < 200; rounds++)
			changed += on(FUNCTIONS, name) == 1 && off(FUNCTIONS, name) == 1;
		CHECK(changed == 200, "%s: %d of 200 times", name, changed);
		*(i < 4 ? &jumps : &shorts) += 1;
	}
	jf_stats_get(&s, sizeof(s));
	blocked_ends = true;
	pthread_join(t, NULL);
	blocked_ends = false;
	CHECK(jumps && shorts, "%u, %u", jumps, shorts);
	CHECK(s.traps == was.traps && records() > before, "%llu signals, no record", (unsigned long long)(s.traps - was.traps));
	finish_rounds("by one byte, while a thread blocks SIGTRAP");
}

static void not_while_blocked(void)
{
	struct found f;
	pthread_t t;
	int runs = 0;

	must(-pthread_create(&t, NULL, blocks, &runs), "pthread_create");
	while (!__atomic_load_n(&runs, __ATOMIC_ACQUIRE))
		;
	jf_ways = 1U << JF_WAY_BREAK;
	CHECK(on(FUNCTIONS, "subject_same") < 0, "it was changed");
	f = listed(FUNCTIONS, "subject_same");
	CHECK(strstr(f.detail, "SIGTRAP"), "%s", f.detail);
	blocked_ends = true;
	pthread_join(t, NULL);
	CHECK(on(FUNCTIONS, "subject_same") == 1 && off(FUNCTIONS, NULL) == 1, "still not");
	jf_ways = ~0U;
	finish("not while a thread blocks SIGTRAP");
}

/*
 * When something is asked for the first time the agent cannot hook the dynamic linker, and later it
 * can.
 */
static int hooked_later(const char *path)
{
	uint64_t (*twice)(uint64_t a), before;
	pthread_t t;
	int runs = 0;
	void *h;

	if (pthread_create(&t, NULL, blocks, &runs))
		return 1;
	while (!__atomic_load_n(&runs, __ATOMIC_ACQUIRE))
		;
	jf_ways = 1U << JF_WAY_BREAK;
	if (on(FUNCTIONS, "subject_same") >= 0)
		return 2;
	jf_ways = ~0U;
	blocked_ends = true;
	pthread_join(t, NULL);
	if (on(FUNCTIONS, "subject2.so:subject_twice"))
		return 3;
	h = dlopen(path, RTLD_NOW);
	twice = h ? (uint64_t (*)(uint64_t))(uintptr_t)dlsym(h, "subject_twice") : NULL;
	before = records();
	return twice && twice(3) == 6 && records() == before + 1 ? 0 : 4;
}

/* In a process that has asked for nothing yet. */
static void hooks_later(const char *folder)
{
	char path[4096];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/subject2.so", folder);
	pid = fork();
	if (!pid)
		_exit(hooked_later(path));
	ends_well(pid, "it");
	finish("objects that come, after a thread has blocked SIGTRAP");
}

/* --- the storm ---------------------------------------------------------------------------- */

static volatile bool over;
static uint64_t rounds, handled, children;

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return *seed >> 20;
}

static void *caller(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg, n = 0;

	while (!over) {
		round_of(next(&seed), next(&seed));
		n++;
	}
	__atomic_fetch_add(&rounds, n, __ATOMIC_RELAXED);
	return NULL;
}

static void on_signal(int sig)
{
	(void)sig;
	round_of(handled, handled * 3);
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void *forks(void *arg)
{
	int status = -1;
	pid_t pid;

	while (!over) {
		struct timespec t = { .tv_nsec = 30000000 };

		pid = fork();
		if (!pid) {
			memset(bad, 0, sizeof(bad));
			round_of(1, 2);
			round_of(3, 4);
			_exit(bad[0] || bad[3] || bad[12] || bad[16]);
		}
		if (pid > 0 && waitpid(pid, &status, 0) == pid) {
			expect(20, !status);
			__atomic_fetch_add(&children, 1, __ATOMIC_RELAXED);
		}
		nanosleep(&t, NULL);
	}
	(void)arg;
	return NULL;
}

static void *opens(void *arg)
{
	uint64_t (*twice)(uint64_t a);

	while (!over) {
		struct timespec t = { .tv_nsec = 20000000 };
		void *h = dlopen((const char *)arg, RTLD_NOW);

		if (h) {
			twice = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(h, "subject_twice");
			expect(21, twice(8) == 16);
			dlclose(h);
		}
		nanosleep(&t, NULL);
	}
	return NULL;
}

static void storm(const char *folder, double seconds)
{
	pthread_t t[THREADS], forker, opener;
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	char path[4096], note[160];
	struct timespec start, now;
	double took;
	bool done;
	uint64_t switches = 0, before = records(), again = 0, seed = 1;
	struct jf_stats s;
	intptr_t i;

	snprintf(path, sizeof(path), "%s/subject2.so", folder);
	sigaction(SIGUSR1, &action, NULL);
	over = false;
	for (i = 0; i < THREADS; i++)
		must(-pthread_create(&t[i], NULL, caller, (void *)(i + 1)), "pthread_create");
	must(-pthread_create(&forker, NULL, forks, NULL), "pthread_create");
	must(-pthread_create(&opener, NULL, opens, path), "pthread_create");
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		static const char *const globs[] = {
			"subject_*", "subject.so:subject_p*", "subject_[a-l]*", "subject_[s-t]*(string,_,string)",
		};
		const char *glob = globs[switches % 4];
		int n, m;

		jf_ways = switches % 5 ? ~0U : 1U << (switches / 5 % 4 + 1);
		n = on(FUNCTIONS, glob);
		m = on(NOTES, "jf[al]*:*");
		/*
		 * A thread that fork() or pthread_create() has in hand blocks all signals for a
		 * while.
		 */
		again += n == -EOPNOTSUPP || m == -EOPNOTSUPP;
		CHECK((n >= 0 || n == -EOPNOTSUPP) && (m >= 0 || m == -EOPNOTSUPP), "on: %d, %d", n, m);
		pthread_kill(t[next(&seed) % THREADS], SIGUSR1);
		n = off(FUNCTIONS, NULL);
		m = off(NOTES, NULL);
		again += n == -EAGAIN || m == -EAGAIN;
		CHECK((n >= 0 || n == -EAGAIN) && (m >= 0 || m == -EAGAIN), "off: %d, %d", n, m);
		switches++;
		clock_gettime(CLOCK_MONOTONIC, &now);
		took = (double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9;
		/* On a busy machine some of it can begin later. */
		done = switches > 2 && records() > before && __atomic_load_n(&children, __ATOMIC_RELAXED);
	} while (took < seconds || (!done && took < seconds + 100));
	over = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pthread_join(forker, NULL);
	pthread_join(opener, NULL);
	jf_stats_get(&s, sizeof(s));
	CHECK(switches > 2 && rounds > 0 && records() > before && children > 0, "nothing was done");
	snprintf(note, sizeof(note),
		 "storm: %llu rounds of 24 calls, %llu records, %llu switches (%llu again), %llu traps, %llu signals, %llu forks",
		 (unsigned long long)rounds, (unsigned long long)(records() - before),
		 (unsigned long long)switches, (unsigned long long)again, (unsigned long long)s.traps,
		 (unsigned long long)handled, (unsigned long long)children);
	finish_rounds(note);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (!provider[NOTES] || !provider[FUNCTIONS])
		must(-ENOENT, "the agent has not begun");
	must(jf_record_start(NULL), "jf_record_start");
	first_while_loading(argv[1]);
	hooks_later(argv[1]);
	is_complete();
	patterns_of_strings();
	strings_off();
	small_stacks();
	nested_strings();
	changed_pointer();
	is_restored();
	each_way();
	of_others();
	of_others_beside();
	long_nops();
	beside_sites();
	beside_sites_of_another(argv[1]);
	comes_later(argv[1]);
	is_loaded_again(argv[1]);
	of_another_patcher(argv[1]);
	of_a_uprobe();
	with_a_uprobe(argv[1]);
	back_as_it_was(argv[1]);
	has_no_header(argv[1]);
	becomes_another(argv[1]);
	has_another_file(argv[1]);
	fork_while_switching();
	by_one_byte();
	not_while_blocked();
	storm(argv[1], atof(argv[2]));
	must(jf_record_stop(), "jf_record_stop");
	CHECK(!taken_while_walking, "%u times", taken_while_walking);
	finish("dlopen()'s lock is not taken in a walk through its list");
	return tap_end();
}
