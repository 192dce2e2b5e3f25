// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The agent's lock, and objects that come while the program runs.
 *
 * Globs hold for objects that are loaded later, too. The dynamic linker tells a debugger of these
 * by a function that does nothing: that has a probe whose code calls hook(), which is before the
 * new object is relocated. It may be that another thread has agent_lock then, and waits for the
 * dynamic linker: so the hook only tries, and the thread that has the lock looks again when it is
 * done.
 */
#include "come.h"
#include "match.h"
#include "batch.h"
#include "wish.h"
#include "say.h"
#include "object.h"
#include "callers.h"
#include "probe.h"
#include "detour.h"
#include "module.h"
#include "elf.h"
#include "lack.h"
#include "event.h"
#include "record.h"
#include "aside.h"
#include "seccomp.h"
#include "retire.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>

#include "user/lib/error.h"
#include "user/trace/kind.h"
#include "user/trace/wishes.h"

static pthread_mutex_t agent_lock = PTHREAD_MUTEX_INITIALIZER;

/* Could the thread that has the lock be cancelled before. */
static int cancel_before;

static struct how how_of(const struct jf_wish *w)
{
	return (struct how){ w->strings, w->min, w->sums, w->choice, w->members };
}

static int wished_function(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
			   void *arg)
{
	struct ask *a = (struct ask *)arg;
	const struct jf_wish *w;
	int ret = 0;

	for (a->kind = JF_KIND_FUNCTION; !ret && a->kind <= JF_KIND_CALL; a->kind++) {
		w = jf_wished(m, a->kind, m->name, symbol->name);
		if (!w)
			continue;
		a->glob = w->glob;
		a->how = how_of(w);
		ret = jf_function_on(m, symbol, at, avail, a);
	}
	return ret;
}

static int come(struct jf_module *m, void *arg)
{
	struct ask *a = (struct ask *)arg;
	struct jf_agent_probe *p;
	const struct jf_wish *w;
	struct how how;
	int err;

	if (m->asked)
		return 0;
	m->asked = true;
	jf_wishes_mark(m);
	for (p = m->probes; p; p = p->next) {
		w = p->kind ? jf_wished(m, p->kind, p->group, p->name) : NULL;
		if (!w)
			continue;
		how = how_of(w);
		jf_ask_add(&a->batch, p, &how);
	}
	err = jf_wishes_functions() ? jf_module_functions(m, wished_function, a) : 0;
	jf_name_unread(m, err);
	jf_ask_commit(&a->batch);
	return 0;
}

/*
 * A function that is called with the lock can be a cancellation point, and the thread may be in
 * dlopen() or fork(), which are none: if it ended there it would leave the lock, and the dynamic
 * linker's, for ever.
 */
static int keep_alive(void)
{
	int was;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
	return was;
}

void jf_agent_lock(void)
{
	int was;

	jf_agent_busy++;
	was = keep_alive();
	pthread_mutex_lock(&agent_lock);
	cancel_before = was;
}

/* Once for each that comes. */
void jf_name_elsewhere(void)
{
	static unsigned int named;
	char name[256];
	unsigned int num = jf_modules_elsewhere(name, sizeof(name));

	if (num > named)
		jf_say("libjumpfunc-agent: nothing is found of %u object%s that dlmopen() loaded, %s the first", num, num > 1 ? "s" : "",
		    name);
	named = num;
}

/* Before the filters that name them are made. */
void jf_find_callers(bool changed)
{
	const struct jf_wish *w;
	bool failed = false;
	unsigned int kind;

	for (kind = JF_KIND_NOTE; kind <= JF_KIND_CALL; kind++)
		for (w = jf_wishes[kind]; w; w = w->next)
			if (w->on)
				jf_callers_want(w->choice);
	if (!jf_callers_begin(changed))
		return;
	jf_modules(jf_callers_look, &failed);
	failed |= !jf_callers_end();
	jf_retired_free();
	if (failed)
		jf_say("libjumpfunc-agent: no memory: some callers of a filter are not known");
}

/* Each time: the next walk looks at it again. */
void jf_name_lack(void)
{
	char name[256];

	if (jf_modules_lack(name, sizeof(name)))
		jf_ask_lacks(name, -ENOMEM);
}

static void hook(void);

/* The dynamic linker calls this function of libstdc++ when the new objects are relocated. */
static int await_names(struct jf_module *m, void *unused)
{
	static struct jf_agent_probe *p;
	size_t size;
	uintptr_t at = jf_module_awaited(m, &size);

	(void)unused;
	if (!at || p)
		return 0;
	jf_probe_hook(&p, jf_after_landing(at, size), size, hook);
	/* Pairs with jf_agent_unlock(): the function may have been called before. */
	__atomic_store_n(&jf_look_again, true, __ATOMIC_SEQ_CST);
	return 1;
}

static int ask_again(struct jf_module *m, void *unused)
{
	(void)unused;
	m->asked = false;
	return 0;
}

/* Objects that came with libstdc++ were asked before names of C++ were known. */
static void look_for_names(void)
{
	if (!jf_module_awaits())
		return;
	jf_modules(jf_module_demangler, NULL);
	if (!jf_module_awaits())
		jf_modules(ask_again, NULL);
}

void jf_look(void)
{
	struct ask a = { .glob = NULL };

	look_for_names();
	if (jf_modules_changed()) {
		jf_modules(jf_module_demangler, NULL);
		jf_modules(await_names, NULL);
		jf_find_callers(true);
		jf_modules(come, &a);
		jf_name_lack();
	}
	/* These come one by one, with no change in this name space. */
	jf_name_elsewhere();
}

void jf_agent_unlock(void)
{
	int was = cancel_before;

	do {
		/* Pairs with hook(): it has stored that before it found the lock to be taken. */
		if (__atomic_exchange_n(&jf_look_again, false, __ATOMIC_SEQ_CST) && jf_wishes_any())
			jf_look();
		pthread_mutex_unlock(&agent_lock);
		/* Pairs with hook(), which may have stored it just before the lock was dropped. */
	} while (__atomic_load_n(&jf_look_again, __ATOMIC_SEQ_CST) && !pthread_mutex_trylock(&agent_lock));
	pthread_setcancelstate(was, NULL);
	jf_agent_busy--;
}

/* By the dynamic linker, which has locks of its own. */
static void hook(void)
{
	int was;

	/* Not before the list is whole again. */
	if (_r_debug.r_state != RT_CONSISTENT)
		return;
	/*
	 * Pairs with jf_agent_unlock(): the thread that has the lock sees it, or this one gets the
	 * lock.
	 */
	__atomic_store_n(&jf_look_again, true, __ATOMIC_SEQ_CST);
	was = keep_alive();
	if (pthread_mutex_trylock(&agent_lock)) {
		pthread_setcancelstate(was, NULL);
		return;
	}
	cancel_before = was;
	jf_agent_busy++;
	jf_agent_unlock();
}

static int find_hook(struct jf_module *m, void *arg)
{
	static struct jf_agent_probe *p;

	if (_r_debug.r_brk >= m->start && _r_debug.r_brk < m->end) {
		uintptr_t at = _r_debug.r_brk;

		/* Its end is not known; the bytes there belong to it or fill up a line. */
		*(bool *)arg = !jf_probe_hook(&p, jf_after_landing(at, 16), 16, hook);
		return 1;
	}
	return 0;
}

/* When something is asked for, until it is there: a thread may block SIGTRAP for a while. */
void jf_begin_hook(void)
{
	static bool done;

	if (!done && _r_debug.r_brk)
		jf_modules(find_hook, &done);
}

/* --- forks -------------------------------------------------------------------------- */

/*
 * The thread may have a small stack, and may block all signals as it forks: text is not changed
 * while one blocks SIGTRAP.
 */
static void unlock_after_fork(void)
{
	sigset_t trap, was;

	/*
	 * Nothing is looked for. Else there may be something to look at by the time that it is
	 * asked.
	 */
	if (!jf_wishes_any()) {
		jf_agent_unlock();
		return;
	}
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	pthread_sigmask(SIG_UNBLOCK, &trap, &was);
	jf_agent_aside(jf_agent_unlock);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

/*
 * Another thread may have the lock, and the child has only the one that forks. That does not look
 * for objects: another thread may have been in the midst of dlopen().
 */
void jf_fork_ends(bool child)
{
	int was = cancel_before;

	jf_agent_busy++;
	/* With a filter the next command looks for objects. */
	if (!child && !__jf_quiet) {
		unlock_after_fork();
		jf_agent_busy--;
		return;
	}
	/* Others that wait for it are not there. */
	if (child)
		jf_forking = 0;
	pthread_mutex_unlock(&agent_lock);
	pthread_setcancelstate(was, NULL);
	jf_agent_busy -= 2;
}

void jf_fork_begins(void)
{
	/* Pairs with jf_gives_up(), which sees it some time. */
	__atomic_fetch_add(&jf_forking, 1, __ATOMIC_RELAXED);
	jf_agent_lock();
	__atomic_fetch_sub(&jf_forking, 1, __ATOMIC_RELAXED);
}

/* --- filters of system calls ----------------------------------------------------------- */

/**
 * struct watched - functions of libc whose calls are looked at: bits of 1 << enum jf_watch
 * @wanted: those that are to be
 * @done:   those that are
 */
struct watched {
	unsigned int	wanted;
	unsigned int	done;
};

static int watch_function(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
			  void *arg)
{
	enum jf_watch watch = symbol->indirect ? JF_WATCH_NONE : jf_filter_call(at);
	struct watched *w = (struct watched *)arg;
	struct jf_agent_probe *p;

	if (!watch || !(w->wanted & ~w->done & 1U << watch) || jf_function_at(m, JF_KIND_FUNCTION, symbol, at, avail, NULL, &p))
		return 0;
	if (!jf_probe_watch(p, watch))
		w->done |= 1U << watch;
	else if (jf_verbose && watch == JF_WATCH_SIGACTION)
		jf_say("libjumpfunc-agent: a handler of SIGTRAP that the program installs would not be seen: %s",
		    p->why ? p->why : jf_no_memory);
	else if (jf_verbose && watch != JF_WATCH_ARCH_PRCTL)
		jf_say("libjumpfunc-agent: no strings are read, as filters by %s() would not be seen: %s", symbol->name,
		    p->why ? p->why : jf_no_memory);
	return 0;
}

static int watch_module(struct jf_module *m, void *arg)
{
	if (jf_filter_within(m->start, m->end))
		jf_module_functions(m, watch_function, arg);
	return 0;
}

/* Before anything is recorded: those that will be installed, and then those that are there. */
void jf_look_for_filters(void)
{
	const unsigned int filters = 1U << JF_WATCH_PRCTL | 1U << JF_WATCH_SYSCALL;
	static struct watched watched = { 1U << JF_WATCH_PRCTL | 1U << JF_WATCH_SYSCALL | 1U << JF_WATCH_ARCH_PRCTL, 0 };

	if (!jf_filter_needed())
		return;
	if ((watched.done & filters) != filters)
		jf_modules(watch_module, &watched);
	jf_filter_watched((watched.done & filters) == filters);
	if (jf_filter_look())
		jf_aside_quiet(false);
}

/*
 * Before the first breakpoint that stays: a handler that the program installs later must not come
 * before the library's.
 */
void jf_look_for_handlers(void)
{
	static struct watched watched = { 1U << JF_WATCH_SIGACTION, 0 };

	if (jf_ways & 1U << JF_WAY_BREAK && watched.done != watched.wanted)
		jf_modules(watch_module, &watched);
}
