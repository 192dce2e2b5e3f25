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
 * middle of one it would be too late. Then a page that goes does it: all cores
 * that run this process have to give up what they know of the page, by an
 * interrupt, and to return from one is to serialise.
 */
#include "lib.h"

#include <cpuid.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
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
/* Kernels before 5.11 leave the caller's own core out. */
static int self_needed = -1;

static int membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) ? -errno : 0;
}

void jf_sync_self(void)
{
	unsigned int a, b, c, d;

	__cpuid(0, a, b, c, d);
	(void)a, (void)b, (void)c, (void)d;
}

static bool kernel_is_old(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return true;
	return major < 5 || (major == 5 && minor < 11);
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
		self_needed = kernel_is_old();
	if (!core_registered) {
		err = membarrier(CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
		if (err)
			return err;
		core_registered = true;
	}
	/* Is it still allowed? Afterwards there is no way back. */
	return membarrier(CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

/* Whoever waits for readers has no lock: each call has a page of its own. */
static void interrupt_all(void)
{
	size_t size = jf_page_size();
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED) {
		jf_say(false, "no memory to interrupt the other cores with");
		return;
	}
	/* It has to be there, or nobody would have heard of it. */
	*(volatile char *)page = 1;
	munmap(page, size);
}

void jf_sync_cores(void)
{
	int err = core_registered ?
		membarrier(CMD_PRIVATE_EXPEDITED_SYNC_CORE) : -EPERM;

	if (err) {
		jf_say(true, "membarrier() was taken away: %d", -err);
		interrupt_all();
	}
	if (self_needed || err)
		jf_sync_self();
	jf_stats.syncs++;
}

void jf_sync_memory(void)
{
	if (!memory_registered)
		memory_registered = !membarrier(CMD_REGISTER_PRIVATE_EXPEDITED);
	if (!memory_registered || membarrier(CMD_PRIVATE_EXPEDITED))
		interrupt_all();
	atomic_thread_fence(memory_order_seq_cst);
}

bool jf_single_threaded(void)
{
	struct stat st;

	/* One entry for each thread, and two for the folder itself. */
	return !stat("/proc/self/task", &st) && st.st_nlink == 3;
}

/* Registrations are inherited, but that is said nowhere. */
void jf_sync_child(void)
{
	core_registered = false;
	memory_registered = false;
}
