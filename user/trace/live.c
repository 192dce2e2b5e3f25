// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The state that a forked child must not have: its pages, its lock, and a thread that comes to it,
 * which no signal and no cancellation interrupts.
 */
#include "rings.h"
#include "../lib/mask.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define JF_FUTEX(word, op, value, timeout) \
	(syscall(SYS_futex, word, op, value, (const struct timespec *)(timeout), NULL, 0) ? -errno : 0)
#include "pi_lock.h"

struct jf_conf jf_conf;
struct jf_live *jf_live;
struct jf_mapped *jf_mapped;
uint32_t jf_mapped_num;

/*
 * Handlers that record would wait for the function that they have interrupted, and a cancelled
 * thread has the lock.
 */
void jf_shield(struct jf_before *was)
{
	sigset_t all;

	sigfillset(&all);
	/* Functions that are called until then can be changed by breakpoints (lib/text.c). */
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &all, &was->signals);
	was->cancel = jf_cancel_forbid(&was->signals);
}

void jf_unshield(const struct jf_before *was)
{
	jf_cancel_allow(was->cancel, &was->signals);
}

/* With all signals blocked. Its holder makes system calls for a few files. */
void jf_live_lock(void)
{
	jf_pi_lock(&jf_live->lock, (uint32_t)syscall(SYS_gettid));
}

void jf_live_unlock(void)
{
	jf_pi_unlock(&jf_live->lock);
}

/*
 * Pages that are never unmapped, nor given to other threads: a thread may have a pointer to its
 * writer from before.
 */
int jf_live_make(void)
{
	struct jf_live *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct jf_mapped *m;

	if (l == MAP_FAILED)
		return -ENOMEM;
	m = mmap(NULL, JF_RINGS_MAX * sizeof(*m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m == MAP_FAILED) {
		munmap(l, sizeof(*l));
		return -ENOMEM;
	}
	/* Also for children that no handler is called in. Others: forget_rings(). */
	madvise(l, sizeof(*l), MADV_WIPEONFORK);
	jf_mapped = m;
	jf_live = l;
	return 0;
}
