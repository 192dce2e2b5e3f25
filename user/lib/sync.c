// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Broadcasts: every core that runs a thread of this process serialises, or at
 * least orders its memory accesses, before the caller goes on.
 *
 * membarrier() does both. It is registered at the first live change, because
 * from then on each context switch of the process costs a little more.
 *
 * A kernel may refuse it at any time, since a filter can be installed at any
 * time. Before a transaction that is an error, and nothing is written. In the
 * middle of one the transaction stops, and each site has an instruction that is right.
 * Nothing else is sure to make all cores serialise. A change of a page's
 * protection interrupts them, on most machines; but CPUs of AMD with INVLPGB, from
 * Linux 6.15 on, are told of it without an interrupt.
 *
 * Quiescence needs the order of memory accesses alone. If a change of protection sends no
 * interrupt, this thread migrates to each core in turn. The thread that ran there has been switched
 * out then, and a switch orders all accesses.
 */
#include "lib.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Not every libc comes with the kernel's headers. */
enum {
	CMD_QUERY = 0,
	CMD_PRIVATE_EXPEDITED = 1 << 3,
	CMD_REGISTER_PRIVATE_EXPEDITED = 1 << 4,
	CMD_PRIVATE_EXPEDITED_SYNC_CORE = 1 << 5,
	CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE = 1 << 6,
};

static bool core_registered, memory_registered;

static int membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) ? -errno : 0;
}

#if JF_HAVE_PATCHING
/* Kernels before 5.11 leave the caller's own core out. */
static int self_needed = -1;

void jf_sync_self(void)
{
#ifdef __x86_64__
	unsigned int a, b, c, d;

	__cpuid(0, a, b, c, d);
	(void)a, (void)b, (void)c, (void)d;
#else
	__asm__ volatile("isb" ::: "memory");
#endif
}

bool jf_kernel_since(unsigned int major, unsigned int minor)
{
	unsigned int is_major, is_minor;
	struct utsname u;

	if (uname(&u) || sscanf(u.release, "%u.%u", &is_major, &is_minor) != 2)
		return false;
	return is_major > major || (is_major == major && is_minor >= minor);
}

bool jf_sync_possible(void)
{
	long can = syscall(SYS_membarrier, CMD_QUERY, 0, 0);

	return can >= 0 && can & CMD_PRIVATE_EXPEDITED_SYNC_CORE;
}

int jf_sync_begin(void)
{
	int err;

	if (self_needed < 0)
		self_needed = !jf_kernel_since(5, 11);
	if (!core_registered) {
		err = membarrier(CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
		if (err)
			return err;
		core_registered = true;
	}
	/* True if it is still allowed. Afterwards there is no way back. */
	err = membarrier(CMD_PRIVATE_EXPEDITED_SYNC_CORE);
	/* A tool that restored this process from a checkpoint may not have registered it. */
	if (err == -EPERM && !membarrier(CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE))
		err = membarrier(CMD_PRIVATE_EXPEDITED_SYNC_CORE);
	return err;
}

bool jf_sync_cores(void)
{
	int err = core_registered ?
		membarrier(CMD_PRIVATE_EXPEDITED_SYNC_CORE) : -EPERM;

	if (err)
		jf_say(true, "membarrier() was taken away: %s", jf_error(-err));
	if (self_needed || err)
		jf_sync_self();
	jf_stats.syncs++;
	return !err;
}
#endif /* JF_HAVE_PATCHING */

/* Of this CPU: true if it makes pages invalid on others without an interrupt. */
static bool has_invlpgb(void)
{
#ifdef __x86_64__
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000008, &a, &b, &c, &d) && b & 1 << 3;
#else
	/* On other machines CPUs tell each other by a broadcast of their own, if in doubt. */
	return true;
#endif
}

/* False: it is not allowed. */
static bool visit_cores(void)
{
	cpu_set_t old, one;
	bool moved = false;
	int cpu;

	if (sched_getaffinity(0, sizeof(old), &old))
		return false;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		/* Those that there are, also if only other threads may run there. */
		if (!sched_setaffinity(0, sizeof(one), &one))
			moved = true;
		else if (errno != EINVAL)
			return false;
	}
	sched_setaffinity(0, sizeof(old), &old);
	return moved;
}

/*
 * False: no page could be had. Each call has a page of its own: threads that wait for
 * readers hold no lock.
 */
static bool interrupt_cores(void)
{
	size_t size = jf_page_size();
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool done;

	if (page == MAP_FAILED)
		return false;
	/* The page has to be mapped, or no core would be told of the change. */
	*(volatile char *)page = 1;
	done = !mprotect(page, size, PROT_READ);
	munmap(page, size);
	return done;
}

static void order_cores(void)
{
	/* Longer than a store waits to be seen, on any core: the last resort. */
	static const struct timespec t = { .tv_nsec = 10000000 };

	if (!(has_invlpgb() ? visit_cores() : interrupt_cores()))
		nanosleep(&t, NULL);
}

void jf_sync_memory(void)
{
	if (!memory_registered)
		memory_registered = !membarrier(CMD_REGISTER_PRIVATE_EXPEDITED);
	if (!memory_registered || membarrier(CMD_PRIVATE_EXPEDITED))
		order_cores();
	/*
	 * This thread's own part, which membarrier() has in it. Pairs with the fences in
	 * jf_read_lock() and jf_handler_enter(): words are loaded after the change.
	 */
	atomic_thread_fence(memory_order_seq_cst);
}

bool jf_single_threaded(void)
{
	struct stat st;

	/* One entry for each thread, and two for the folder itself. */
	return !stat("/proc/self/task", &st) && st.st_nlink == 3;
}

/* Registrations are inherited, but that is said nowhere. */
static void child_begins(void)
{
	core_registered = false;
	memory_registered = false;
}

__attribute__((__constructor__(JF_BEGINS)))
static void sync_begins(void)
{
	static struct jf_fork_part forks = { .child = child_begins };

	jf_at_fork(&forks);
}
