// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program in a state that few are in: states NAME. It says "ready", waits for a line of its
 * standard input, works on, and says the results. Its output is the same with the agent.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096UL
/* Not in the headers of older systems. */
#define SET_MDWE	65
#define REFUSE_GAIN	1UL
#define SET_DISPATCH	59
#define DISPATCH_ON	1UL
#define CLEAR_SIGHAND	0x100000000ULL
#define SYS_SEAL	462

long works(long a, const char *text);

__attribute__((__noinline__)) long works(long a, const char *text)
{
	__asm__ volatile("nop; nop; nop; nop; nop" : "+r" (a) : "r" (text) : "memory");
	return a + 1;
}

/* Pages of text of their own, of which one is taken away. */
__asm__(".pushsection .text\n"
	".p2align 12\n.globl hidden_text\n.type hidden_text, @function\nhidden_text:\n"
	".cfi_startproc\nlea 1(%rdi), %rax\nnop; nop; nop; nop; nop\nret\n.cfi_endproc\n.size hidden_text, . - hidden_text\n"
	".p2align 12\n.popsection\n");
long hidden_text(long a);

static long sum;

static void work(int turns)
{
	for (int i = 0; i < turns; i++)
		sum += works(i, "some text");
}

static void limit(int what, rlim_t to)
{
	struct rlimit r;

	getrlimit(what, &r);
	r.rlim_cur = to;
	setrlimit(what, &r);
}

/* Of /proc/self/status, in bytes. */
static rlim_t status(const char *name)
{
	char line[256];
	rlim_t kib = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kib = strtoul(line + strlen(name), NULL, 10);
	if (f)
		fclose(f);
	return kib << 10;
}

/* --- states --------------------------------------------------------------------------- */

static void gains(void)
{
	printf("%d\n", prctl(SET_MDWE, REFUSE_GAIN, 0, 0, 0));
}

static void locks(void)
{
	printf("%d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
}

static void no_bytes(void)
{
	limit(RLIMIT_FSIZE, PAGE);
}

static void no_data(void)
{
	limit(RLIMIT_DATA, status("VmData:") + 65536);
}

static void no_memory(void)
{
	limit(RLIMIT_AS, status("VmSize:") + 65536);
}

static void no_processes(void)
{
	limit(RLIMIT_NPROC, 0);
}

static void no_stack(void)
{
	limit(RLIMIT_STACK, 65536);
}

static void not_dumpable(void)
{
	printf("%d\n", prctl(PR_SET_DUMPABLE, 0));
}

static void nothing(void)
{
}

/* --- system calls that become signals ------------------------------------------------- */

static volatile char selector;
static volatile int caught;

static void on_call(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	selector = 0;
	caught++;
	uc->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

static void *dispatched(void *turns)
{
	if (prctl(SET_DISPATCH, DISPATCH_ON, 0UL, 0UL, &selector))
		return NULL;
	selector = 1;
	work((int)(intptr_t)turns);
	selector = 0;
	prctl(SET_DISPATCH, 0UL, 0UL, 0UL, 0UL);
	return NULL;
}

static void dispatches(void)
{
	struct sigaction a = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO };
	pthread_t t;

	sigaction(SIGSYS, &a, NULL);
	work(1);
	dispatched((void *)(intptr_t)20000);
	if (!pthread_create(&t, NULL, dispatched, (void *)(intptr_t)20000))
		pthread_join(t, NULL);
	printf("%d calls\n", caught);
}

/* --- numbers, protection keys --------------------------------------------------- */

static void traps(void)
{
	feenableexcept(FE_ALL_EXCEPT);
	fesetround(FE_UPWARD);
}

/* Records for some seconds, in which the clock is read again. */
static void numbers(void)
{
	struct timespec since, now;
	uint16_t control, status_word;
	uint32_t mxcsr;

	__asm__ volatile("movq %0, %%mm0" : : "r" (0x123456789abcdefL));
	clock_gettime(CLOCK_MONOTONIC, &since);
	do {
		work(2000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - since.tv_sec < 4);
	sum = 0;
	__asm__ volatile("stmxcsr %0; fnstcw %1; fnstsw %2; emms" : "=m" (mxcsr), "=m" (control), "=m" (status_word));
	printf("%x %x %x\n", mxcsr, control, status_word);
}

static uint32_t rights(void)
{
	uint32_t eax, edx;

	__asm__ volatile("rdpkru" : "=a" (eax), "=d" (edx) : "c" (0));
	return eax;
}

static void keys(void)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int key = pkey_alloc(0, 0);

	strcpy(page, "a text");
	if (key < 0 || pkey_mprotect(page, PAGE, PROT_READ | PROT_WRITE, key) || pkey_set(key, PKEY_DISABLE_ACCESS)) {
		puts("no keys");
		return;
	}
	for (int i = 0; i < 5000; i++) {
		sum += works(i, page);
		caught += rights() >> (2 * key) != 1;
	}
	pkey_set(key, 0);
	printf("%d %s\n", caught, page);
}

/* --- children, handlers, text ------------------------------------------------------------- */

static void handler(int sig)
{
	(void)sig;
	sum += 0 * works(1, "handler");
}

static void cleared(void)
{
	struct clone_args args = { .flags = CLEAR_SIGHAND, .exit_signal = SIGCHLD };
	int state = -1;
	long pid;

	signal(SIGUSR1, handler);
	work(10);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		work(5000);
		_exit((int)(sum & 0x3f));
	}
	while (pid > 0 && wait(&state) < 0)
		;
	printf("%x\n", (unsigned int)state);
}

/* A timer's signals for this thread alone, on the smallest stack that the kernel takes. */
static void timed(void)
{
	size_t size = 2048 + (size_t)sysconf(_SC_MINSIGSTKSZ);
	stack_t stack = { .ss_sp = malloc(size), .ss_size = size };
	struct sigaction a = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct sigevent e = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2 };
	struct itimerspec often = { { 0, 300000 }, { 0, 300000 } };
	timer_t t;

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif
	e.sigev_notify_thread_id = gettid();
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR2, &a, NULL);
	timer_create(CLOCK_MONOTONIC, &e, &t);
	timer_settime(t, 0, &often, NULL);
}

static void timed_end(void)
{
	work(2000000);
	signal(SIGUSR2, SIG_IGN);
}

static void hides(void)
{
	printf("%ld\n", hidden_text(1));
	printf("%d\n", mprotect((void *)hidden_text, PAGE, PROT_NONE));
}

static void shows(void)
{
	work(1000);
	printf("%d\n", mprotect((void *)hidden_text, PAGE, PROT_READ | PROT_EXEC));
	printf("%ld\n", hidden_text(1));
}

static void execute_only(void)
{
	printf("%d\n", mprotect((void *)hidden_text, PAGE, PROT_EXEC));
	printf("%ld\n", hidden_text(1));
}

static void unmaps(void)
{
	printf("%d\n", munmap((void *)hidden_text, PAGE));
}

static void seals(void)
{
	syscall(SYS_SEAL, hidden_text, PAGE, 0UL);
}

static void sealed(void)
{
	work(1000);
	printf("%ld\n", hidden_text(1));
}

static void thousand(void)
{
	work(20000);
}

static const struct state {
	const char	*name;
	void		(*begin)(void);
	void		(*end)(void);
} states[] = {
	{ "plain", nothing, thousand },
	{ "gains", gains, thousand },
	{ "locks", locks, thousand },
	{ "no_bytes", no_bytes, thousand },
	{ "no_data", no_data, thousand },
	{ "no_memory", no_memory, thousand },
	{ "no_processes", no_processes, thousand },
	{ "no_stack", no_stack, thousand },
	{ "not_dumpable", not_dumpable, thousand },
	{ "dispatches", nothing, dispatches },
	{ "traps", traps, numbers },
	{ "keys", nothing, keys },
	{ "cleared", nothing, cleared },
	{ "timed", timed, timed_end },
	{ "hides", hides, shows },
	{ "execute_only", execute_only, sealed },
	{ "unmaps", unmaps, thousand },
	{ "seals", seals, sealed },
};

int main(int argc, char **argv)
{
	const struct state *s = states;
	const struct state *end = states + sizeof(states) / sizeof(*states);
	char line[16];

	for (; argc < 2 && s < end; s++)
		puts(s->name);
	if (argc < 2)
		return 0;
	while (s < end && strcmp(s->name, argv[1]))
		s++;
	if (s == end)
		return 2;
	s->begin();
	puts("ready");
	fflush(stdout);
	while (read(0, line, sizeof(line)) < 0 && errno == EINTR)
		;
	s->end();
	printf("%ld\n", sum);
	return 3;
}
