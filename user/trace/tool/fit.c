// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The thread by which the agent is loaded: it must be in no function that holds a lock which
 * dlopen() or the agent's constructor needs. The ranges of these functions are collected, and a
 * thread that stands is compared with them:
 *
 *   1 Each word of its stack is looked at. A word in one of the ranges that has a call before it
 *     can be a return address, or the rest of an old one. Without such a word the thread is in no
 *     such function.
 *   2 If there is one, in a later round, libdw unwinds the stack. A stack that unwinds to its end,
 *     and meets no range, is in no such function.
 *   3 A program that has malloc() within itself does not tell which of its functions belong to
 *     that. Its threads are borrowed only in system calls that wait for something outside, in
 *     which no allocator holds a lock.
 */
#include "tool.h"
#include "fit.h"

#ifdef __x86_64__
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>
#ifdef JF_HAVE_LIBDW
#include <elfutils/libdwfl.h>
#endif

/* For how long a stack may be looked at. */
#define LOOK_MS		50
#define RED_ZONE	128U

void add_range(struct attach *a, uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	if (a->ranges < RANGES_MAX)
		a->range[a->ranges++] = (struct range){ from, to };
	else
		a->full = true;
}

static bool is_any(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* malloc() and its like stand together in glibc, with functions between them that have no name. */
static void add_malloc_of_libc(struct attach *a)
{
	static const char *const names[] = {
		"malloc", "free", "realloc", "calloc", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc", "malloc_trim",
		"malloc_info", "malloc_stats", "malloc_usable_size", "mallinfo", "mallinfo2", "mallopt", "__default_morecore",
		"__libc_malloc", "__libc_free", "__libc_realloc", "__libc_calloc", "__libc_memalign", "__libc_valloc", "__libc_pvalloc",
		"__libc_mallinfo", "__libc_mallopt", "cfree", "__malloc_hugepage_config", "malloc_get_state", "malloc_set_state", NULL };
	const struct object *c = a->libc;
	uint64_t before = c->text;
	size_t i;

	for (i = 0; i < c->num; i++) {
		if (!is_any(c->function[i].name, names)) {
			before = c->function[i].end;
			continue;
		}
		/* From the end of the one before it to the begin of the one after it. */
		for (; i + 1 < c->num && is_any(c->function[i + 1].name, names); i++)
			;
		add_range(a, before, i + 1 < c->num ? c->function[i + 1].at : c->text_end);
	}
}

static void add_functions(struct attach *a, const struct object *o)
{
	static const char *const names[] = {
		"dlopen", "dlclose", "dlsym", "dlvsym", "dlmopen", "dlinfo", "dladdr", "dladdr1", "dlerror", "dl_iterate_phdr",
		"__libc_dlopen_mode", "__libc_dlsym", "__libc_dlclose", "_dl_find_object", "fork", "_Fork", "vfork", "__fork", "__libc_fork", "__vfork",
		"pthread_create", "pthread_exit", "pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np", "pthread_atfork",
		"__register_atfork", "pthread_key_create", "pthread_setname_np", "pthread_getattr_np", "exit", "quick_exit", "on_exit",
		"__cxa_atexit", "__cxa_finalize", "__cxa_at_quick_exit", "__cxa_thread_atexit_impl", "setenv", "putenv", "unsetenv",
		"clearenv", "posix_spawn", "posix_spawnp", "system", "popen", "pclose", "setuid", "setgid", "setreuid", "setregid",
		"setresuid", "setresgid", "setgroups", "initgroups", "setlocale", "newlocale", "iconv_open", "iconv_close", "fclose", "fopen",
		"fopen64", "fdopen", NULL };
	size_t i;

	for (i = 0; i < o->num; i++)
		if (is_any(o->function[i].name, names))
			add_range(a, o->function[i].at, o->function[i].end);
}

void add_object(struct attach *a, const struct object *o)
{
	bool malloc_here = object_function(o, "malloc");

	if (o == a->libc) {
		add_malloc_of_libc(a);
		add_functions(a, o);
	} else if (!strncmp(object_name(o), "libpthread", 10)) {
		add_functions(a, o);
	} else if (o == a->linker || !strncmp(object_name(o), "libdl", 5) || !strncmp(object_name(o), "libjumpfunc", 11) ||
		   (malloc_here && o != &a->objects.object[0])) {
		add_range(a, o->text, o->text_end);
	} else if (malloc_here) {
		a->own = true;
	}
}

/* --- one thread ------------------------------------------------------------------------ */

static bool in_range(const struct attach *a, uint64_t at)
{
	size_t i;

	for (i = 0; i < a->ranges; i++)
		if (at >= a->range[i].from && at < a->range[i].to)
			return true;
	return false;
}

/* "call" of five bytes; of two to seven, through a register or memory. */
static bool follows_call(const struct attach *a, uint64_t at)
{
	uint8_t b[7];
	unsigned int n;

	if (pread(a->borrow.mem, b, sizeof(b), (off_t)(at - sizeof(b))) != sizeof(b))
		return true;
	if (b[2] == 0xe8)
		return true;
	for (n = 2; n <= 7; n++)
		if (b[7 - n] == 0xff && (b[8 - n] >> 3 & 7) == 2)
			return true;
	return false;
}

static bool is_in(uint64_t word, void *arg)
{
	const struct attach *a = arg;

	/* The segments in a handler's frame. */
	if ((word & 0xffff00000000ffff) == 0x002b000000000033)
		return true;
	return in_range(a, word) && (word == a->borrow.restorer || follows_call(a, word));
}

static bool is_late(void *arg)
{
	const struct attach *a = arg;

	return now_ns() > a->late;
}

#ifdef JF_HAVE_LIBDW
void begin_unwinder(struct attach *a)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (dwfl && (dwfl_linux_proc_report(dwfl, a->pid) || dwfl_report_end(dwfl, NULL, NULL) ||
		     dwfl_linux_proc_attach(dwfl, a->pid, true))) {
		dwfl_end(dwfl);
		dwfl = NULL;
	}
	a->unwinder = dwfl;
}

/**
 * struct unwound - a stack
 * @a:      the attach
 * @frames: how many
 * @in:     one of them is in a range
 */
struct unwound {
	const struct attach	*a;
	unsigned int		frames;
	bool			in;
};

static int one_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwound *u = arg;
	bool exact;
	Dwarf_Addr at;

	if (!dwfl_frame_pc(frame, &at, &exact))
		return DWARF_CB_ABORT;
	u->frames++;
	u->in |= in_range(u->a, exact ? at : at - 1);
	return u->in ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* To its end, without an error on the way. */
static bool unwinds_clear(const struct attach *a)
{
	struct unwound u = { a, 0, false };

	return a->unwinder && !dwfl_getthread_frames(a->unwinder, a->borrow.tid, one_frame, &u) && u.frames > 1 && !u.in;
}
#else
void begin_unwinder(struct attach *a)
{
	a->unwinder = NULL;
}

static bool unwinds_clear(const struct attach *a)
{
	(void)a;
	return false;
}
#endif

/* System calls in which a thread waits for others, and no allocator with its locks. */
static bool waits_outside(const struct user_regs_struct *r)
{
	static const int calls[] = {
		SYS_read, SYS_readv, SYS_pread64, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6,
		SYS_epoll_wait, SYS_epoll_pwait, 441 /* epoll_pwait2 */,
		SYS_nanosleep, SYS_clock_nanosleep, SYS_accept, SYS_accept4, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_pause,
		SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_wait4, SYS_waitid, SYS_restart_syscall };
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if ((long)r->orig_rax == calls[i])
			return true;
	return false;
}

/*
 * Its registers belong to a piece of code that the kernel restarts when the thread is interrupted
 * (rseq(2)).
 */
static bool in_sequence(const struct attach *a)
{
	/*
	 * Of PTRACE_GET_RSEQ_CONFIGURATION; struct rseq has the address of struct rseq_cs in its
	 * second eight bytes.
	 */
	struct {
		uint64_t	at;
		uint32_t	size;
		uint32_t	signature;
		uint32_t	flags;
		uint32_t	pad;
	} conf = { 0, 0, 0, 0, 0 };
	uint64_t cs = 0, range[3];

	if (ptrace(0x420f, a->borrow.tid, (void *)sizeof(conf), &conf) < 0 || !conf.at)
		return false;
	if (pread(a->borrow.mem, &cs, sizeof(cs), (off_t)(conf.at + 8)) != sizeof(cs))
		return true;
	if (!cs)
		return false;
	if (pread(a->borrow.mem, range, sizeof(range), (off_t)cs) != sizeof(range))
		return true;
	return a->borrow.saved.rip - range[1] < range[2];
}

/* The C library's block of a thread has its own address in the first word and in the third one. */
static bool has_variables(const struct attach *a)
{
	uint64_t base = a->borrow.saved.fs_base, head[3];

	return pread(a->borrow.mem, head, sizeof(head), (off_t)base) == sizeof(head) && head[0] == base && head[2] == base;
}

const char *why_unfit(struct attach *a, const struct seized *t)
{
	const struct user_regs_struct *r = &a->borrow.saved;
	/* A handler's stack can be too small. */
	const struct stack_look look = { a->pid, false, is_in, is_late, a };
	unsigned long flags, end = r->fs_base;
	char state;

	if (t->sig)
		return "signals come all the time";
	if (!has_variables(a))
		return "its threads are without the C library's variables";
	if (in_range(a, r->rip))
		return "its threads are in malloc(), in the dynamic linker, or in functions that need those";
	if (in_sequence(a))
		return "its threads are in restartable sequences";
	if (a->own && !waits_outside(r))
		return "it has malloc() within itself, and no thread of it waits for something outside";
	if (t->tid == t->pid && !thread_stat(t->pid, t->tid, &state, &flags, &end))
		return "its first thread cannot be read";
	a->late = now_ns() + LOOK_MS * UINT64_C(1000000);
	if (stack_is_clear(&look, r->rsp - RED_ZONE, end))
		return NULL;
	if (r->rsp < end && unwinds_clear(a))
		return NULL;
	return "its threads seem to be in malloc(), in the dynamic linker, in signal handlers, or on stacks of their own";
}
#endif
