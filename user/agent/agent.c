// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libjumpfunc-agent: requests to it, by the environment or by way of libjumpfunc-trace.
 *
 * Environment:
 *   JUMPFUNC_AGENT=glob,glob...
 *	record these from before main() on: "provider:name" of notes, "name" or "object:name" of
 *	functions; "fopen(string,string)" for arguments that are strings; "note/" or "function/"
 *	before it: of these alone; "call/": calls of functions, from entry to exit;
 *	"work if level > 3": records that are made (trace/choice.h);
 *	"pay(order->price)": members that are recorded, too
 *   JUMPFUNC_AGENT_STRINGS=always
 *	read strings where there is a filter of system calls, too
 *   JUMPFUNC_AGENT_WAYS=way,way...
 *	only these: jump, short, span, break; without it, all but break
 *   JUMPFUNC=verbose
 *	name each probe that cannot be recorded, with the reason, and each breakpoint
 * and those of <jumpfunc/record.h>.
 *
 * A glob that has nothing but wildcards where a function's name is means no function, unless it
 * says which object, or "function/" precedes it: "*" would be all of libc.
 *
 * Globs hold for objects that are loaded later, too. The dynamic linker tells a debugger of these
 * by a function that does nothing: that has a probe whose code calls hook(), which is before the
 * new object is relocated. It may be that another thread has agent_lock then, and waits for the
 * dynamic linker: so the hook only tries, and the thread that has the lock looks again when it is
 * done.
 */
#include "agent.h"

#include <asm/prctl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <jumpfunc/record.h>

#include "user/lib/error.h"
#include "user/trace/glob.h"
#include "user/trace/tell.h"
#include "user/trace/wishes.h"

/* So many functions are switched on in one transaction. */
#define BATCH_MAX	256

/**
 * struct how - probes are recorded
 * @strings:   arguments that are recorded as strings, too: bit 0 is the first
 * @min:       of calls: shorter ones are not recorded; in nanoseconds
 * @sums:      of calls: sums of them, and no records
 * @choice:    which records are made, as in a pattern
 * @members:   that are recorded, as in a pattern
 */
struct how {
	uint16_t	strings;
	uint64_t	min;
	bool		sums;
	const char	*choice;
	const char	*members;
};

static pthread_mutex_t agent_lock = PTHREAD_MUTEX_INITIALIZER;
/*
 * Threads that fork, and wait for it. A thread that switches many probes gives it up for them
 * between two transactions.
 */
static unsigned int forking;
/* Could the thread that has the lock be cancelled before. */
static int cancel_before;
/* Of each kind, the newest first. */
static struct jf_wish *wishes[JF_KIND_CALL + 1];
static bool verbose;
/* Probes that were switched on as such. */
static unsigned int breakpoints;
/* A trace is there, as far as is known. */
static bool recording;

__attribute__((__format__(__printf__, 1, 2)))
static void say(const char *format, ...)
{
	/* Two names, of which one may be as long as C++ makes them. */
	char line[4096];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	if (n > (int)sizeof(line) - 2) {
		n = (int)sizeof(line) - 2;
		memcpy(line + n - 3, "...", 3);
	}
	line[n] = '\n';
	if (jf_may_tell() && write(STDERR_FILENO, line, (size_t)n + 1) < 0)
		return;
}

/* --- patterns ----------------------------------------------------------------------- */

static bool only_wild(const char *text, size_t len)
{
	while (len && (*text == '*' || *text == '?')) {
		text++;
		len--;
	}
	return !len;
}

/* True if a pattern means probes of a kind. It means calls only if it says so. */
static bool means(const struct jf_pattern *p, enum jf_kind kind)
{
	return p->kind == kind || (p->kind == JF_KIND_ANY && kind != JF_KIND_CALL && !(kind == JF_KIND_NOTE && *p->members)) ||
	       (p->kind == JF_KIND_TIME && kind == JF_KIND_CALL);
}

/*
 * The same of requests to switch on: without a kind, more than wildcards are needed for functions.
 */
static bool means_functions(const struct jf_pattern *p)
{
	const char *glob = p->glob, *name = strrchr(glob, ':');

	if (p->kind == JF_KIND_FUNCTION || p->kind == JF_KIND_CALL || p->kind == JF_KIND_TIME)
		return true;
	if (!name)
		return !only_wild(glob, strlen(glob));
	return !only_wild(name + 1, strlen(name + 1)) || !only_wild(glob, (size_t)(name - glob));
}

/* Functions that are left alone. */
static bool never(const char *name)
{
	/*
	 * Debuggers and unwinders know a signal handler's return address by the code there; the
	 * SIGTRAP handler uses errno; the last one has a hook.
	 */
	return !strcmp(name, "__restore_rt") || !strcmp(name, "__errno_location") ||
	       !strncmp(name, "_dl_runtime_resolve", 19) ||
	       !strcmp(name, "_dl_debug_state");
}

/* A probe that is one of @m, and that is known by @name; glob NULL matches all. */
static bool fits(const char *glob, const struct jf_module *m, enum jf_kind kind, const char *group, const char *name)
{
	return kind != JF_KIND_NOTE ? jf_module_matches(m, glob, name) : __jf_glob_matches(glob, group, name);
}

/* By this name; the newest wish counts, also for the types of arguments. NULL: by none. */
static const struct jf_wish *find_wish(const struct jf_module *m, enum jf_kind kind, const char *group, const char *name)
{
	const struct jf_wish *w = wishes[kind];

	while (w && !(w->here && fits(w->glob, m, kind, group, name)))
		w = w->next;
	return w && w->on ? w : NULL;
}

static bool any_wishes(void)
{
	return wishes[JF_KIND_NOTE] || wishes[JF_KIND_FUNCTION] || wishes[JF_KIND_CALL];
}

/* Before find_wish(): most patterns mean other objects, which is found once for all functions. */
static void mark_wishes(const struct jf_module *m)
{
	struct jf_wish *w;
	unsigned int kind;

	for (kind = JF_KIND_NOTE; kind <= JF_KIND_CALL; kind++)
		for (w = wishes[kind]; w; w = w->next)
			w->here = kind == JF_KIND_NOTE || jf_module_meant(m, w->glob);
}

/* --- probes that are switched together ------------------------------------------------- */

struct batch {
	struct jf_agent_probe	*probe[BATCH_MAX];
	size_t		num;
	int		on;
	int		tried;
	int		err;
};

static void complain(const struct jf_agent_probe *p)
{
	const char *why = p->why ? p->why : "no memory";

	__jf_record_refused(p->group, p->name, why);
	if (verbose)
		say("libjumpfunc-agent: %s:%s at %#lx is not recorded: %s", p->group, p->name,
		    (unsigned long)p->spot.at, why);
}

/* It stays one as long as it is on, and kills a thread that blocks SIGTRAP at that time. */
static void name_breakpoint(const struct jf_agent_probe *p)
{
	breakpoints++;
	if (verbose)
		say("libjumpfunc-agent: %s:%s at %#lx is a breakpoint: %s", p->group, p->name,
		    (unsigned long)p->spot.at, p->why ? p->why : "as was asked");
}

static void commit(struct batch *b)
{
	struct jf_agent_probe *all[BATCH_MAX];
	size_t i, num = b->num;
	int err;

	memcpy(all, b->probe, num * sizeof(*all));
	b->on += (int)jf_calls_on(b->probe, num, &err);
	/* Once for each thing that is asked for. */
	if (err && !b->err)
		say("libjumpfunc-agent: not all is recorded: the trace cannot be told of it: %s",
		    err == -EOVERFLOW ? "it has no more than 65,535 events" : jf_error(-err));
	b->err = err ? err : b->err;
	for (i = 0; i < num; i++) {
		all[i]->queued = false;
		if (!all[i]->spot.on)
			complain(all[i]);
		else if (all[i]->point->detour.way == JF_WAY_BREAK)
			name_breakpoint(all[i]);
	}
	b->num = 0;
}

/*
 * A trace is begun by the first probe that is asked for, not before: most programs that are started
 * by way of others have none. -EBUSY: it is already.
 */
static int start_recording(void)
{
	static int last;
	int err = recording ? 0 : __jf_record_by_environment();

	if (err == -EBUSY)
		err = 0;
	recording = !err;
	if (err && err != last)
		say("libjumpfunc-agent: nothing is recorded: %s", jf_error(-err));
	last = err;
	return err;
}

/* The calls of which it makes records, and their form. NULL, or the reason against it. */
static const char *set_how(struct jf_agent_probe *p, const struct how *how)
{
	const char *why = jf_choose(p, how->choice);

	if (!why)
		why = jf_show(p, how->members);
	if (!why && p->calls)
		why = jf_calls_sum(p, how->sums);
	if (!why && p->calls)
		jf_calls_set_min(p->calls, how->min);
	return why;
}

static void add(struct batch *b, struct jf_agent_probe *p, const struct how *how)
{
	int err;

	if (jf_probe_strings(p, how->strings) && verbose)
		say("libjumpfunc-agent: %s:%s is recorded with%s strings as before", p->group, p->name, how->strings ? "out" : "");
	/* By another name, or another table of symbols. */
	if (p->queued)
		return;
	b->tried++;
	err = start_recording();
	if (err) {
		b->err = b->err ? b->err : err;
		p->why = "there is no trace";
		return;
	}
	p->why = set_how(p, how);
	if (p->why) {
		/* The names of the pattern are none of this probe. */
		if (p->why == p->choice_why && !b->err)
			b->err = -EINVAL;
		complain(p);
		return;
	}
	if (p->spot.on) {
		b->on++;
		return;
	}
	p->queued = true;
	b->probe[b->num++] = p;
	if (b->num == BATCH_MAX)
		commit(b);
}

/* --- notes -------------------------------------------------------------------------- */

/**
 * struct ask - one request
 * @glob:      of names
 * @batch:     probes that are switched together
 * @kind:      of notes, functions or calls
 * @how:       they are recorded
 * @err:       of those that were switched off
 * @stay:      breakpoints that stay
 * @number:    of the request; 0: it is carried out at once
 * @seen:      functions of the present object
 * @exits:     points for the exits of calls are made, too
 */
struct ask {
	const char	*glob;
	struct batch	batch;
	enum jf_kind	kind;
	struct how	how;
	int		err;
	unsigned int	stay;
	unsigned int	number;
	size_t		seen;
	bool		exits;
};

/* Ends a walk that begins again when the lock has been given up. */
#define AGAIN	1

/* Between two transactions. */
static bool gives_up(const struct ask *a)
{
	return a->number && !a->batch.num && __atomic_load_n(&forking, __ATOMIC_RELAXED);
}

/* Once: its probes cannot be found. */
static void name_unread(struct jf_module *m)
{
	if (!m->unread || m->named)
		return;
	m->named = true;
	say("libjumpfunc-agent: nothing of %s is found, its file cannot be read: %s", m->path,
	    m->unread == -ENOEXEC ? "it is another one by now" : jf_error(-m->unread));
}

static int notes_on(struct jf_module *m, void *arg)
{
	struct ask *a = (struct ask *)arg;
	struct jf_agent_probe *p;

	for (p = m->probes; p; p = p->next)
		if (p->kind == JF_KIND_NOTE && __jf_glob_matches(a->glob, p->group, p->name))
			add(&a->batch, p, &a->how);
	name_unread(m);
	commit(&a->batch);
	return 0;
}

/* --- functions ----------------------------------------------------------------------- */

/* Where the jump may be: a branch through a pointer has to find the first instruction. */
static uintptr_t after_landing(uintptr_t at, size_t avail)
{
	return avail > 4 && !memcmp((const void *)at, "\xf3\x0f\x1e\xfa", 4) ? at + 4 : at;
}

/*
 * The probe of the function at @at that is known by @name; else one that @glob matches; NULL: all
 * match. A call is entered once, whatever names its function has.
 */
static struct jf_agent_probe *find_function(struct jf_module *m, enum jf_kind kind, uintptr_t at, const char *name, const char *glob)
{
	struct jf_point *t = jf_point_at(at);
	struct jf_agent_probe *p, *other = NULL;
	struct jf_spot *s;

	for (s = t ? t->spots : NULL; s; s = s->next) {
		p = jf_probe_of(s);
		if (p->kind != kind)
			continue;
		if (!strcmp(p->name, name))
			return p;
		if (!other && (!glob || kind == JF_KIND_CALL || jf_module_matches(m, glob, p->name)))
			other = p;
	}
	return other;
}

/*
 * Linkers give equal functions one place, and many functions have several names. Each that is asked
 * for by its name is recorded by that. By wildcards a call is one record, by the first name that
 * matches.
 */
static int function_at(struct jf_module *m, enum jf_kind kind, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
		       const char *glob, struct jf_agent_probe **p)
{
	uintptr_t begin = after_landing(at, avail);

	*p = find_function(m, kind, begin, symbol->name, glob);
	if (*p)
		return 0;
	*p = jf_probe_new(m, m->name, symbol->name, begin, avail - (begin - at));
	if (!*p)
		return -ENOMEM;
	if (!(*p)->point->size && symbol->size > begin - at)
		(*p)->point->size = symbol->size - (begin - at);
	if (kind == JF_KIND_CALL)
		jf_probe_call(*p);
	else
		jf_probe_function(*p);
	if (kind == JF_KIND_CALL && jf_calls_new(*p, at, symbol->size)) {
		jf_calls_forget(*p);
		return -ENOMEM;
	}
	jf_types_apply(*p, m, at);
	jf_module_add(m, *p);
	return 0;
}

static int function_on(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
		       void *arg)
{
	struct ask *a = (struct ask *)arg;
	struct jf_agent_probe *p;
	int err;

	if (a->number && a->seen++ < m->seen_functions)
		return 0;
	if (symbol->indirect || never(symbol->name) || !jf_module_matches(m, a->glob, symbol->name))
		return 0;
	err = function_at(m, a->kind, symbol, at, avail, a->glob, &p);
	if (err)
		return err;
	add(&a->batch, p, &a->how);
	return gives_up(a) ? AGAIN : 0;
}

/*
 * Before any is switched: the jump at an exit has bytes of the next function in its distance, and
 * the entry there has to be led first.
 */
static int make_function(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail, void *arg)
{
	const struct ask *a = (const struct ask *)arg;
	struct jf_agent_probe *p;
	int err;

	if (symbol->indirect || never(symbol->name) || !jf_module_matches(m, a->glob, symbol->name))
		return 0;
	err = function_at(m, a->kind, symbol, at, avail, a->glob, &p);
	if (!err && a->exits && a->kind == JF_KIND_CALL)
		jf_calls_make(p);
	return err;
}

static int make_functions(struct jf_module *m, void *arg)
{
	jf_module_functions(m, make_function, arg);
	return 0;
}

static int functions_on(struct jf_module *m, void *arg)
{
	struct ask *a = (struct ask *)arg;
	int ret;

	if (a->kind == JF_KIND_CALL)
		make_functions(m, a);
	if (m->request != a->number)
		m->seen_functions = 0;
	m->request = a->number;
	a->seen = 0;
	ret = jf_module_functions(m, function_on, a);
	/* Where it goes on. */
	m->seen_functions = ret == AGAIN ? a->seen : SIZE_MAX;
	name_unread(m);
	commit(&a->batch);
	return ret == AGAIN;
}

/* --- objects that come later ------------------------------------------------------------- */

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
		w = find_wish(m, a->kind, m->name, symbol->name);
		if (!w)
			continue;
		a->glob = w->glob;
		a->how = how_of(w);
		ret = function_on(m, symbol, at, avail, a);
	}
	return ret;
}

static bool any_functions(void)
{
	const struct jf_wish *w;
	unsigned int kind;

	for (kind = JF_KIND_FUNCTION; kind <= JF_KIND_CALL; kind++)
		for (w = wishes[kind]; w; w = w->next)
			if (w->on && w->here)
				return true;
	return false;
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
	mark_wishes(m);
	for (p = m->probes; p; p = p->next) {
		w = p->kind ? find_wish(m, p->kind, p->group, p->name) : NULL;
		if (!w)
			continue;
		how = how_of(w);
		add(&a->batch, p, &how);
	}
	err = any_functions() ? jf_module_functions(m, wished_function, a) : 0;
	name_unread(m);
	if (err && !m->unread && verbose)
		say("libjumpfunc-agent: %s: not all functions are looked at: %s", m->name, jf_error(-err));
	commit(&a->batch);
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

static void lock(void)
{
	int was;

	jf_agent_busy++;
	was = keep_alive();
	pthread_mutex_lock(&agent_lock);
	cancel_before = was;
}

/* Once for each that comes. */
static void name_elsewhere(void)
{
	static unsigned int named;
	char name[256];
	unsigned int num = jf_modules_elsewhere(name, sizeof(name));

	if (num > named)
		say("libjumpfunc-agent: nothing is found of %u object%s that dlmopen() loaded, %s the first", num, num > 1 ? "s" : "",
		    name);
	named = num;
}

/* Before the filters that name them are made. */
static void find_callers(bool changed)
{
	const struct jf_wish *w;
	bool failed = false;
	unsigned int kind;

	for (kind = JF_KIND_NOTE; kind <= JF_KIND_CALL; kind++)
		for (w = wishes[kind]; w; w = w->next)
			if (w->on)
				jf_callers_want(w->choice);
	if (!jf_callers_begin(changed))
		return;
	jf_modules(jf_callers_look, &failed);
	if (!jf_callers_end() || failed)
		say("libjumpfunc-agent: no memory: some callers of a filter are not known");
}

static void look(void)
{
	struct ask a = { .glob = NULL };

	if (jf_modules_changed()) {
		jf_modules(jf_module_demangler, NULL);
		find_callers(true);
		jf_modules(come, &a);
	}
	/* These come one by one, with no change in this name space. */
	name_elsewhere();
}

static void unlock(void)
{
	int was = cancel_before;

	do {
		/* Pairs with hook(): it has stored that before it found the lock to be taken. */
		if (__atomic_exchange_n(&jf_look_again, false, __ATOMIC_SEQ_CST) && any_wishes())
			look();
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
	/* Pairs with unlock(): the thread that has the lock sees it, or this one gets the lock. */
	__atomic_store_n(&jf_look_again, true, __ATOMIC_SEQ_CST);
	was = keep_alive();
	if (pthread_mutex_trylock(&agent_lock)) {
		pthread_setcancelstate(was, NULL);
		return;
	}
	cancel_before = was;
	jf_agent_busy++;
	unlock();
}

static int find_hook(struct jf_module *m, void *arg)
{
	if (_r_debug.r_brk >= m->start && _r_debug.r_brk < m->end) {
		uintptr_t at = _r_debug.r_brk;

		/* Its end is not known; what is there belongs to it or fills up a line. */
		*(bool *)arg = !jf_probe_hook(after_landing(at, 16), 16, hook);
		return 1;
	}
	return 0;
}

/* When something is asked for, until it is there: a thread may block SIGTRAP for a while. */
static void begin_hook(void)
{
	static bool done;

	if (!done && _r_debug.r_brk)
		jf_modules(find_hook, &done);
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

	if (!watch || !(w->wanted & ~w->done & 1U << watch) || function_at(m, JF_KIND_FUNCTION, symbol, at, avail, NULL, &p))
		return 0;
	if (!jf_probe_watch(p, watch))
		w->done |= 1U << watch;
	else if (verbose && watch == JF_WATCH_SIGACTION)
		say("libjumpfunc-agent: a handler of SIGTRAP that the program installs would not be seen: %s",
		    p->why ? p->why : "no memory");
	else if (verbose)
		say("libjumpfunc-agent: no strings are read, as filters by %s() would not be seen: %s", symbol->name,
		    p->why ? p->why : "no memory");
	return 0;
}

static int watch_module(struct jf_module *m, void *arg)
{
	if (jf_filter_within(m->start, m->end))
		jf_module_functions(m, watch_function, arg);
	return 0;
}

/* Before anything is recorded: those that will be installed, and then those that are there. */
static void look_for_filters(void)
{
	static struct watched watched = { 1U << JF_WATCH_PRCTL | 1U << JF_WATCH_SYSCALL, 0 };

	if (!jf_filter_needed())
		return;
	if (watched.done != watched.wanted)
		jf_modules(watch_module, &watched);
	jf_filter_watched(watched.done == watched.wanted);
	if (jf_filter_look())
		jf_aside_quiet(false);
}

/*
 * Before the first breakpoint that stays: a handler that the program installs later must not come
 * before the library's.
 */
static void look_for_handlers(void)
{
	static struct watched watched = { 1U << JF_WATCH_SIGACTION, 0 };

	if (jf_ways & 1U << JF_WAY_BREAK && watched.done != watched.wanted)
		jf_modules(watch_module, &watched);
}

/* --- the provider -------------------------------------------------------------------- */

static int remember(const struct ask *a, bool on)
{
	struct jf_wish *w = jf_wish_new(a->kind, a->glob, a->how.choice, a->how.members, on);

	if (!w)
		return -ENOMEM;
	w->strings = a->how.strings;
	w->min = a->how.min;
	w->sums = a->how.sums;
	jf_wish_add(&wishes[a->kind], w);
	return 0;
}

/* A shadow stack would have to hear of the calls that copies push. */
static bool has_shadow_stack(void)
{
	unsigned long features = 0;

	/* ARCH_SHSTK_STATUS */
	return !syscall(SYS_arch_prctl, 0x5005, &features) && features & 1;
}

static void give_up(void)
{
	static const struct timespec a_while = { .tv_nsec = 100000 };

	unlock();
	while (__atomic_load_n(&forking, __ATOMIC_RELAXED))
		nanosleep(&a_while, NULL);
	lock();
}

/* With the lock. */
static int walk(jf_module_fn *fn, struct ask *a)
{
	static unsigned int requests;
	int ret;

	a->number = ++requests ? requests : ++requests;
	jf_modules(jf_module_demangler, NULL);
	while ((ret = jf_modules(fn, a)) == AGAIN)
		give_up();
	return ret;
}

static enum jf_kind kind_of(const void *data)
{
	return *(const enum jf_kind *)data;
}

static int find_unread(struct jf_module *m, void *arg)
{
	return m->unread && m->unread != -ENOEXEC && jf_module_meant(m, (const char *)arg);
}

/* With the lock, after a walk in which nothing matched: 0, or -ESTALE if that says nothing. */
static int none_matches(const char *glob)
{
	return jf_modules(find_unread, (void *)(uintptr_t)glob) ? -ESTALE : 0;
}

static int switch_on(const char *text, void *data)
{
	struct jf_pattern p;
	struct ask a = { .glob = p.glob, .kind = kind_of(data) };
	int err = jf_pattern_parse(&p, text);

	if (err)
		return err;
	a.how = (struct how){ p.strings, p.min, p.kind == JF_KIND_TIME, p.choice, p.members };
	if (!means(&p, a.kind) || (a.kind != JF_KIND_NOTE && !means_functions(&p)))
		return 0;
	if (has_shadow_stack())
		return -EOPNOTSUPP;
	lock();
	/* Objects that have come are for the patterns before this one, first. */
	look();
	look_for_filters();
	begin_hook();
	look_for_handlers();
	err = remember(&a, true);
	jf_modules(jf_module_demangler, NULL);
	find_callers(false);
	if (!err)
		err = walk(a.kind == JF_KIND_NOTE ? notes_on : functions_on, &a);
	name_elsewhere();
	jf_chosen_free();
	jf_shown_free();
	if (!err && !a.batch.tried && a.kind != JF_KIND_NOTE)
		err = none_matches(a.glob);
	unlock();
	if (err)
		return err;
	if (a.batch.on || !a.batch.tried)
		return a.batch.on;
	return a.batch.err ? a.batch.err : -EOPNOTSUPP;
}

/* Off, and a thread that blocks SIGTRAP dies there all the same. */
static bool stays(const struct jf_agent_probe *p)
{
	return !p->spot.on && p->point->detour.way == JF_WAY_BREAK && jf_point_stays(p->point);
}

/* One error is told in the end, and that of a thread that still records before others. */
static void flush_off(struct ask *a)
{
	int err = jf_calls_off(a->batch.probe, a->batch.num);
	size_t i;

	for (i = 0; i < a->batch.num; i++)
		a->stay += stays(a->batch.probe[i]);
	if (err && a->err != -ETIMEDOUT)
		a->err = err;
	a->batch.on += (int)a->batch.num;
	a->batch.num = 0;
}

static int collect_off(struct jf_module *m, void *arg)
{
	struct ask *a = (struct ask *)arg;
	struct jf_agent_probe *p;

	for (p = m->probes; p; p = p->next) {
		if (p->kind != a->kind || !(p->spot.on || jf_point_stays(p->point)) ||
		    !fits(a->glob, m, a->kind, p->group, p->name))
			continue;
		a->batch.probe[a->batch.num++] = p;
		if (a->batch.num < BATCH_MAX)
			continue;
		flush_off(a);
		/* Those that are already off are passed over. */
		if (gives_up(a) && !a->err)
			return AGAIN;
	}
	flush_off(a);
	return 0;
}

static int switch_off(const char *text, void *data)
{
	struct jf_pattern p;
	struct ask a = { .glob = text ? p.glob : NULL, .kind = kind_of(data) };
	int err = text ? jf_pattern_parse(&p, text) : 0;

	if (err)
		return err;
	if (text && !means(&p, a.kind))
		return 0;
	lock();
	if (text)
		remember(&a, false);
	else
		jf_wishes_forget(&wishes[a.kind]);
	/* NULL: maybe the trace ends. */
	recording &= !!text;
	err = walk(collect_off, &a);
	unlock();
	if (a.stay)
		say("libjumpfunc-agent: %u probe%s off, but the breakpoint%s: a thread that blocks SIGTRAP dies there", a.stay,
		    a.stay > 1 ? "s are" : " is", a.stay > 1 ? "s stay" : " stays");
	/*
	 * None records any more, whatever text could not be changed back: an end of recording is
	 * one.
	 */
	if (!text && a.err && a.err != -ETIMEDOUT) {
		if (verbose)
			say("libjumpfunc-agent: probes that are off stay in the text: %s", jf_error(-a.err));
		a.err = 0;
	}
	return err ? err : a.err ? a.err : a.batch.on;
}

struct listing {
	const char	*glob;
	enum jf_kind	kind;
	jf_listed_fn	*fn;
	void		*arg;
	int		ret;
	bool		any;
};

static int show(struct listing *l, const char *group, const char *name, const struct jf_agent_probe *p,
		const char *why)
{
	static const char *const ways[] = {
		[JF_WAY_JUMP] = "jump", [JF_WAY_SHORT] = "jump in place of a short instruction",
		[JF_WAY_SPAN] = "jump in place of several instructions", [JF_WAY_BREAK] = "breakpoint",
	};
	struct jf_listed shown = { group, name, p && p->spot.on, why };
	const struct jf_detour *d = p ? &p->point->detour : NULL;
	char text[JF_PATTERN_MAX + 128];

	if (p && p->spot.on) {
		snprintf(text, sizeof(text), "%s%s%s%s%.256s", d->byte ? "jump by one byte" : ways[d->way],
			 d->way == JF_WAY_BREAK && p->why ? ": " : "", d->way == JF_WAY_BREAK && p->why ? p->why : "",
			 strcmp(name, p->name) ? "; recorded as " : "", strcmp(name, p->name) ? p->name : "");
		shown.detail = text;
	} else if (p) {
		shown.detail = stays(p) ? "the breakpoint stays: a thread that blocks SIGTRAP dies there" : p->why;
	}
	l->any = true;
	return l->fn(&shown, l->arg);
}

static int list_notes(struct jf_module *m, void *arg)
{
	struct listing *l = (struct listing *)arg;
	struct jf_agent_probe *p;
	int ret = 0;

	for (p = m->probes; p && !ret; p = p->next)
		if (p->kind == JF_KIND_NOTE && __jf_glob_matches(l->glob, p->group, p->name))
			ret = show(l, p->group, p->name, p, NULL);
	l->ret = ret;
	return ret;
}

static int list_function(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
			 void *arg)
{
	struct listing *l = (struct listing *)arg;
	struct jf_agent_probe *p;

	if (!jf_module_matches(m, l->glob, symbol->name))
		return 0;
	if (l->kind == JF_KIND_CALL && !symbol->indirect && !never(symbol->name) &&
	    !function_at(m, l->kind, symbol, at, avail, NULL, &p) && !p->spot.on)
		p->why = jf_calls_refused(p) ? jf_calls_refused(p) : p->choice_why;
	else
		p = find_function(m, l->kind, after_landing(at, avail), symbol->name, NULL);
	l->ret = show(l, m->name, symbol->name, p, symbol->indirect ? "the function is chosen by another one" :
		      never(symbol->name) ? "others rely on its code" : NULL);
	return l->ret;
}

static int list_functions(struct jf_module *m, void *arg)
{
	struct listing *l = (struct listing *)arg;

	jf_module_functions(m, list_function, l);
	return l->ret;
}

static int list(const char *text, jf_listed_fn *fn, void *arg, void *data)
{
	struct jf_pattern p;
	struct listing l = { text ? p.glob : NULL, kind_of(data), fn, arg, 0, false };
	int err = text ? jf_pattern_parse(&p, text) : 0;

	if (err)
		return err;
	/* Functions are listed as such. */
	if (text ? !means(&p, l.kind) : l.kind == JF_KIND_CALL)
		return 0;
	lock();
	jf_modules(jf_module_demangler, NULL);
	jf_modules(l.kind == JF_KIND_NOTE ? list_notes : list_functions, &l);
	if (!l.ret && !l.any && l.kind != JF_KIND_NOTE)
		l.ret = none_matches(text ? p.glob : "*");
	unlock();
	return l.ret;
}

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
	if (!any_wishes()) {
		unlock();
		return;
	}
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	pthread_sigmask(SIG_UNBLOCK, &trap, &was);
	jf_agent_aside(unlock);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

/*
 * Another thread may have the lock, and the child has only the one that forks. That does not look
 * for objects: another thread may have been in the midst of dlopen().
 */
static void fork_ends(bool child)
{
	int was = cancel_before;

	/* With a filter the next command looks for objects. */
	if (!child && !__jf_quiet) {
		unlock_after_fork();
		return;
	}
	/* Others that wait for it are not there. */
	if (child)
		forking = 0;
	pthread_mutex_unlock(&agent_lock);
	pthread_setcancelstate(was, NULL);
	jf_agent_busy--;
}

static void fork_begins(void)
{
	/* Pairs with gives_up(), which sees it some time. */
	__atomic_fetch_add(&forking, 1, __ATOMIC_RELAXED);
	lock();
	__atomic_fetch_sub(&forking, 1, __ATOMIC_RELAXED);
}

static enum jf_kind note_word = JF_KIND_NOTE, function_word = JF_KIND_FUNCTION, call_word = JF_KIND_CALL;
/* The lock is that of both. */
static struct jf_provider notes = {
	JF_PROVIDER_VERSION, "note", list, switch_on, switch_off, &note_word, fork_begins, fork_ends, NULL,
};
static struct jf_provider functions = {
	JF_PROVIDER_VERSION, "function", list, switch_on, switch_off, &function_word, NULL, NULL, NULL,
};
static struct jf_provider calls = {
	JF_PROVIDER_VERSION, "call", list, switch_on, switch_off, &call_word, NULL, NULL, NULL,
};

/* --- the environment ------------------------------------------------------------------- */

static void set_ways(const char *text)
{
	static const char *const names[] = {
		[JF_WAY_JUMP] = "jump", [JF_WAY_SHORT] = "short", [JF_WAY_SPAN] = "span",
		[JF_WAY_BREAK] = "break", [JF_WAY_BESIDE] = "beside",
	};
	unsigned int ways = 0, i;
	size_t len;

	for (; *text; text += text[len] == ',' ? len + 1 : len) {
		len = strcspn(text, ",");
		for (i = JF_WAY_JUMP; i <= JF_WAY_BESIDE; i++)
			if (strlen(names[i]) == len && !strncmp(names[i], text, len))
				ways |= 1U << i;
	}
	if (ways)
		jf_ways = ways;
}

static void ask_for(const char *text)
{
	int n = switch_on(text, &note_word), f = switch_on(text, &function_word), c = switch_on(text, &call_word);
	int most = n > f ? n : f, err = n < 0 ? n : f < 0 ? f : c;

	most = c > most ? c : most;
	/* Of -ESTALE it was told which file that was. */
	if (err < 0 && err != -ESTALE && most < 1)
		say("libjumpfunc-agent: %s: nothing is recorded: %s", text,
		    err == -EINVAL ? "no probe that matches has all its names" : jf_error(-err));
	else if (most < 1 && verbose)
		say("libjumpfunc-agent: %s: nothing matches", text);
}

/* The next pattern of the list, for free(). NULL: none, or no memory. */
static char *take_pattern(const char **globs)
{
	const char *begin = *globs + strspn(*globs, ",");
	size_t len = (size_t)(jf_choice_comma(begin) - begin);
	char *text = len ? strndup(begin, len) : NULL;

	*globs = begin + len;
	if (len && !text)
		say("libjumpfunc-agent: no memory");
	return text;
}

/* As make_function(), for functions beside each other that several patterns name. */
static void make_all(const char *globs)
{
	struct jf_pattern p;
	struct ask a = { .glob = p.glob, .exits = true };
	char *text;

	lock();
	jf_modules(jf_module_demangler, NULL);
	while ((text = take_pattern(&globs))) {
		if (!jf_pattern_parse(&p, text) && means_functions(&p))
			for (a.kind = JF_KIND_FUNCTION; a.kind <= JF_KIND_CALL; a.kind++)
				if (means(&p, a.kind))
					jf_modules(make_functions, &a);
		free(text);
	}
	unlock();
}

static void by_environment(const char *globs)
{
	struct jf_pattern p;
	char *text;

	if (*jf_choice_comma(globs) && !has_shadow_stack())
		make_all(globs);
	while ((text = take_pattern(&globs))) {
		if (jf_pattern_parse(&p, text))
			say("libjumpfunc-agent: '%.80s%s' is no pattern of probes: %s", text, strlen(text) > 80 ? "..." : "", p.why);
		else
			ask_for(text);
		free(text);
	}
	if (breakpoints)
		say("libjumpfunc-agent: %u probe%s by breakpoint: a thread that blocks SIGTRAP dies there%s", breakpoints,
		    breakpoints > 1 ? "s are" : " is", verbose ? "" : " (JUMPFUNC=verbose names them)");
}

const char __jf_agent = 1;

static void begin(void)
{
	const char *globs = secure_getenv("JUMPFUNC_AGENT"), *text;

	text = secure_getenv("JUMPFUNC");
	verbose = text && !strcmp(text, "verbose");
	text = secure_getenv("JUMPFUNC_AGENT_WAYS");
	if (text)
		set_ways(text);
	text = secure_getenv("JUMPFUNC_AGENT_STRINGS");
	jf_filter_begin(text && !strcmp(text, "always"));
	jf_types_begin(secure_getenv("JUMPFUNC_AGENT_TYPES"));
	jf_clock_begin();
	jf_share_begin();
	jf_follow_begin();
	jf_modules_begin();
	/*
	 * The program may have brought its own. What that does not know of is not switched off, nor
	 * is it seen to in fork().
	 */
	if (__jf_provider_register(&notes) || __jf_provider_register(&functions) || __jf_provider_register(&calls)) {
		say("libjumpfunc-agent: the libjumpfunc-trace of this program is of another version; nothing is recorded");
		return;
	}
	if (globs && *globs)
		by_environment(globs);
}

/*
 * As those of a program begin, whose own are later; libjumpfunc-trace's have been. The environment
 * is not looked at after it: it is the program's. The thread of the control socket comes last.
 */
__attribute__((__constructor__))
static void begins(void)
{
	begin();
	jf_agent_busy++;
	__jf_control_by_environment();
	jf_agent_busy--;
}

/*
 * jf-trace has loaded the agent into a process that runs, and calls this on one of its threads. As
 * the constructor has done the rest, the socket is all that lacks. 0 or -errno.
 */
extern int __jf_agent_attach(void);

__attribute__((__visibility__("default")))
int __jf_agent_attach(void)
{
	int err;

	jf_agent_busy++;
	err = jf_record_control(true);
	jf_agent_busy--;
	return err == -EBUSY ? 0 : err;
}
