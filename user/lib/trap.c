// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The SIGTRAP handler: it answers for the INT3s of ours. There are none unless the
 * environment has JUMPFUNC_TRAP=always, or an agent changes text that is no site (text.c).
 *
 * It is installed before the first live change. A handler that was there before
 * gets the signals that are not ours. One that is installed later also gets ours,
 * and has to pass unknown breakpoints on. Before each transaction the library
 * puts its handler in front again. Two that pass on to each other
 * would never end: a thread that comes back here from a handler to which it was
 * sent goes on to the one before that, and from the first one to the default
 * when it has come too often.
 *
 * Where an agent has breakpoints that stay, it is told of each call of sigaction()
 * (__jf_trap_replace()): the program's handler comes second from the begin, and never first.
 *
 * It runs with all signals blocked, so that no other handler can come on top and
 * meet an INT3 while SIGTRAP is blocked. It takes no lock, calls no libc, and
 * writes to nothing that another thread writes to, but for two counters.
 */
#include "lib.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "emulate.h"
#include "text.h"

/*
 * A call that the compiler made has no red zone below it. Where a shadow stack
 * would not hear of the handler's return address, no site is a call (commit.c).
 */
static bool emulate(const struct jf_site *site, greg_t *regs)
{
	/* Pairs with jf_world_publish() and is_left_behind(): its target is there. */
	jf_insn_t insn = atomic_load_explicit(&site->insn, memory_order_acquire);

	return jf_emulate(regs, site->addr, insn);
}

/* Handlers that were there before, the first one first. */
#define PREVIOUS_MAX	16

static struct sigaction previous[PREVIOUS_MAX];
static _Atomic int nr_previous;

/*
 * The program's later actions, each once: a handler may be about to read one. The one that counts
 * is @wanted, or NULL: those that were there before.
 */
#define ASKED_MAX	32

static struct asked {
	_Atomic bool		there;
	struct sigaction	action;
} asked[ASKED_MAX];
static _Atomic unsigned int nr_asked;
static const struct sigaction *_Atomic wanted;

/* How often this thread was sent on with the signal that it handles. */
static __thread int depth __JF_OF_THREAD;

static void pass_on(int sig, siginfo_t *info, void *context)
{
	static const struct sigaction dfl = { .sa_handler = SIG_DFL };
	/* Pairs with the store in jf_trap_install(): so many are in previous[]. */
	int nr = atomic_load_explicit(&nr_previous, memory_order_acquire);
	/* Pairs with the store in __jf_trap_replace(): the action is there. */
	const struct sigaction *to = atomic_load_explicit(&wanted, memory_order_acquire);

	if (!to || depth)
		to = !nr || depth >= PREVIOUS_MAX ? &dfl : &previous[depth < nr ? nr - 1 - depth : 0];
	depth++;
	jf_pass_on(to, sig, info, context);
	depth--;
}

/*
 * No question whether a transaction is under way: whatever the word says now,
 * is right. If the breakpoint went, and maybe the site with it, look again.
 */
static bool answer(ucontext_t *uc, const siginfo_t *info)
{
	greg_t *regs = uc->uc_mcontext.gregs;
	uintptr_t ip = (uintptr_t)regs[REG_RIP] - 1;
	struct jf_site *site;
	bool ours = false;
	uintptr_t to;

	/*
	 * Only the INT3 itself, no kill(), no single step, no watchpoint. Valgrind gives the second
	 * code for it.
	 */
	if (info->si_code != SI_KERNEL && info->si_code != TRAP_BRKPT)
		return false;
	site = jf_site_find(ip, &ours);
	if (site)
		return emulate(site, regs);
	/* Also when the breakpoint has gone since: the copy does the same. */
	to = jf_stop_find(ip);
	if (to) {
		regs[REG_RIP] = (greg_t)to;
		return true;
	}
	if (ours && *(const volatile uint8_t *)ip != JF_OPCODE_INT3) {
		regs[REG_RIP] = (greg_t)ip;
		return true;
	}
	return false;
}

static void on_sigtrap(int sig, siginfo_t *info, void *context)
{
	int err = errno;
	bool listed = jf_handler_enter();
	bool done = answer(context, info);

	/*
	 * The kernel leaves the context right above the return address, and another
	 * handler calls from further down. The one before may never have come back:
	 * some jump out.
	 */
	if ((char *)context == (char *)__builtin_frame_address(0) + 2 * sizeof(void *))
		depth = 0;
	__atomic_fetch_add(done ? &jf_stats.traps : &jf_stats.foreign, 1,
			   __ATOMIC_RELAXED);
	jf_handler_leave(listed);
	if (!done)
		pass_on(sig, info, context);
	errno = err;
}

bool jf_trap_possible(void)
{
	struct sigaction now;

	return !sigaction(SIGTRAP, NULL, &now);
}

/* The same handler again, another copy of this library for one, needs no second place. */
static bool is_known(const struct sigaction *action, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (previous[i].sa_sigaction == action->sa_sigaction &&
		    (previous[i].sa_flags & SA_SIGINFO) == (action->sa_flags & SA_SIGINFO))
			return true;
	return false;
}

int jf_trap_install(void)
{
	struct sigaction now, action;
	int nr = atomic_load(&nr_previous);

	if (sigaction(SIGTRAP, NULL, &now))
		return -errno;
	if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_sigtrap)
		return 0;
	if (nr)
		jf_say(true, "another handler for SIGTRAP was installed: it comes second");
	if (!is_known(&now, nr)) {
		if (nr == PREVIOUS_MAX)
			return -EBUSY;
		/* The handler may be entered before the number is stored: the same again. */
		previous[nr++] = now;
	}
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_sigtrap;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	/* sigfillset() would leave libc's own out, by which a thread is cancelled. */
	memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
	/*
	 * No kernel sends this one. A thread that blocks SIGTRAP and not this one is in the
	 * handler: see text.c.
	 */
	sigdelset(&action.sa_mask, SIGSTKFLT);
	/* Pairs with the load in pass_on(): a handler that sees the number sees the last one. */
	atomic_store_explicit(&nr_previous, nr, memory_order_release);
	return sigaction(SIGTRAP, &action, NULL) ? -errno : 0;
}

/* The kernel's part of a mask: C libraries leave the rest as it is. */
#define MASK_SIZE	8

static bool same(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_sigaction == b->sa_sigaction && a->sa_flags == b->sa_flags && !memcmp(&a->sa_mask, &b->sa_mask, MASK_SIZE);
}

static const struct sigaction *keep(const struct sigaction *action)
{
	unsigned int i;

	for (i = 0; i < ASKED_MAX; i++)
		/* Pairs with the store below. */
		if (atomic_load_explicit(&asked[i].there, memory_order_acquire) && same(&asked[i].action, action))
			return &asked[i].action;
	i = atomic_fetch_add(&nr_asked, 1);
	if (i >= ASKED_MAX) {
		atomic_store(&nr_asked, ASKED_MAX);
		return NULL;
	}
	asked[i].action = (struct sigaction){ .sa_sigaction = action->sa_sigaction, .sa_flags = action->sa_flags };
	memcpy(&asked[i].action.sa_mask, &action->sa_mask, MASK_SIZE);
	/* Pairs with the load above. */
	atomic_store_explicit(&asked[i].there, true, memory_order_release);
	return &asked[i].action;
}

int __jf_trap_replace(const struct sigaction *action, struct sigaction *old)
{
	/* Pairs with the store of the program's last action, below. */
	const struct sigaction *now = atomic_load_explicit(&wanted, memory_order_acquire), *then = NULL;
	/* Pairs with the store by which a former handler is there. */
	int nr = atomic_load_explicit(&nr_previous, memory_order_acquire);
	struct sigaction first;

	if (sigaction(SIGTRAP, NULL, &first) || first.sa_sigaction != on_sigtrap)
		return -ENOENT;
	/* One that the program has got from elsewhere, and puts back. */
	if (action && action->sa_sigaction != on_sigtrap) {
		then = keep(action);
		if (!then)
			return -ENOSPC;
	}
	if (!now && nr)
		now = &previous[nr - 1];
	memset(&first, 0, sizeof(first));
	first = now ? *now : first;
	/* Pairs with the load in pass_on(). */
	if (action)
		atomic_store_explicit(&wanted, then, memory_order_release);
	if (old)
		*old = first;
	return 0;
}
