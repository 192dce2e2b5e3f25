// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libjumpfunc-agent: what is asked of it, by the environment or by way of libjumpfunc-trace.
 *
 * Environment:
 *   JUMPFUNC_AGENT=glob,glob...	record these from before main() on: "provider:name" of notes,
 *					"name" or "object:name" of functions; "fopen(string,string)" for arguments
 *					that are strings
 *   JUMPFUNC_AGENT_STRINGS=always	read strings where there is a filter of system calls, too
 *   JUMPFUNC_AGENT_WAYS=way,way...	only these: jump, short, span, break
 *   JUMPFUNC=verbose			say what cannot be recorded, and why, and what is a breakpoint
 * and those of <jumpfunc/record.h>.
 *
 * A glob that has nothing but wildcards where a function's name is means no function, unless it says which
 * object: "*" would be all of libc.
 *
 * Globs hold for objects that are loaded later, too. The dynamic linker tells a debugger of these by
 * a function that does nothing: that has a probe whose code calls hook(), which is before the new object
 * is relocated. It may be that another thread has agent_lock then, and waits for the dynamic linker: so
 * the hook only tries, and the thread that has the lock looks again when it is done.
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
#include <unistd.h>

#include <jumpfunc/record.h>

#include "user/lib/error.h"
#include "user/trace/tell.h"

/* So many functions are switched on in one transaction. */
#define BATCH_MAX	256

/**
 * struct wish - what was asked for
 * @next:      the one after it; the last that matches counts
 * @on:        to switch on, or off
 * @functions: it is of functions, not of notes
 * @strings:   arguments that are recorded as strings, too: bit 0 is the first
 * @glob:      of names
 */
struct wish {
	struct wish	*next;
	bool		on;
	bool		functions;
	uint16_t	strings;
	char		glob[JF_PATTERN_MAX];
};

static pthread_mutex_t agent_lock = PTHREAD_MUTEX_INITIALIZER;
/* Could the thread that has the lock be cancelled before. */
static int cancel_before;
static struct wish *wishes, **last_wish = &wishes;
/* Objects have come or gone while another thread had the lock. */
static bool look_again;
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

/* --- what matches ------------------------------------------------------------------- */

static bool only_wild(const char *text, size_t len)
{
	while (len && (*text == '*' || *text == '?')) {
		text++;
		len--;
	}
	return !len;
}

/* May it mean functions? */
static bool means_functions(const char *glob)
{
	const char *name = glob ? strrchr(glob, ':') : NULL;

	if (!glob)
		return true;
	if (!name)
		return !only_wild(glob, strlen(glob));
	return !only_wild(name + 1, strlen(name + 1)) || !only_wild(glob, (size_t)(name - glob));
}

/* Functions that are left alone. */
static bool never(const char *name)
{
	/*
	 * Debuggers and unwinders know a signal handler's return address by the code there; the SIGTRAP handler
	 * uses errno; the last one has a hook.
	 */
	return !strcmp(name, "__restore_rt") || !strcmp(name, "__errno_location") ||
	       !strncmp(name, "_dl_runtime_resolve", 19) ||
	       !strcmp(name, "_dl_debug_state");
}

/* By this name; the last wish counts, also for what the arguments are. */
static bool is_wished(bool function, const char *group, const char *name, uint16_t *strings)
{
	const struct wish *w;
	bool on = false;

	*strings = 0;
	for (w = wishes; w; w = w->next)
		if (w->functions == function && __jf_glob_matches(w->glob, group, name)) {
			on = w->on;
			*strings = on ? w->strings : 0;
		}
	return on;
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
	if (verbose)
		say("libjumpfunc-agent: %s:%s at %#lx is not recorded: %s", p->group, p->name,
		    (unsigned long)p->spot.at, p->detour.why ? p->detour.why : "no memory");
}

/* It stays one as long as it is on, and kills a thread that blocks SIGTRAP by then. */
static void name_breakpoint(const struct jf_agent_probe *p)
{
	breakpoints++;
	if (verbose)
		say("libjumpfunc-agent: %s:%s at %#lx is a breakpoint: %s", p->group, p->name,
		    (unsigned long)p->spot.at, p->detour.why ? p->detour.why : "as was asked");
}

static void commit(struct batch *b)
{
	struct jf_agent_probe *all[BATCH_MAX];
	size_t i, num = b->num;
	int err;

	memcpy(all, b->probe, num * sizeof(*all));
	b->on += (int)jf_probes_on(b->probe, num, &err);
	/* Once for each thing that is asked for. */
	if (err && !b->err)
		say("libjumpfunc-agent: not all is recorded: the trace cannot be told of it: %s", jf_error(-err));
	b->err = err ? err : b->err;
	for (i = 0; i < num; i++) {
		all[i]->queued = false;
		if (!all[i]->spot.on)
			complain(all[i]);
		else if (all[i]->detour.way == JF_WAY_BREAK)
			name_breakpoint(all[i]);
	}
	b->num = 0;
}

/*
 * A trace is begun by the first probe that is asked for, not before: most programs that are started by way of others
 * have none. -EBUSY: it is already.
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

static void add(struct batch *b, struct jf_agent_probe *p, uint16_t strings)
{
	if (jf_probe_strings(p, strings) && verbose)
		say("libjumpfunc-agent: %s:%s is recorded with%s strings as before", p->group, p->name, strings ? "out" : "");
	/* By another name, or another table of symbols. */
	if (p->queued)
		return;
	b->tried++;
	if (start_recording()) {
		p->detour.why = "there is no trace";
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

struct ask {
	const char	*glob;
	struct batch	batch;
	bool		functions;
	uint16_t	strings;
	int		err;
	unsigned int	stay;
};

static int notes_on(struct jf_module *m, void *arg)
{
	struct ask *a = (struct ask *)arg;
	struct jf_agent_probe *p;

	for (p = m->probes; p; p = p->next)
		if (!p->spot.function && __jf_glob_matches(a->glob, p->group, p->name))
			add(&a->batch, p, a->strings);
	commit(&a->batch);
	return 0;
}

/* --- functions ----------------------------------------------------------------------- */

/* Where the jump may be: a branch through a pointer has to find the first instruction. */
static uintptr_t after_landing(uintptr_t at, size_t avail)
{
	return avail > 4 && !memcmp((const void *)at, "\xf3\x0f\x1e\xfa", 4) ? at + 4 : at;
}

/* By another name of the same function it is known by the first one. */
static int function_at(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
		       struct jf_agent_probe **p)
{
	uintptr_t begin = after_landing(at, avail);

	*p = jf_module_function_at(m, begin);
	if (*p)
		return 0;
	*p = jf_probe_new(m, m->name, symbol->name, begin, avail - (begin - at));
	if (!*p)
		return -ENOMEM;
	jf_probe_function(*p);
	return jf_module_add(m, *p);
}

static int function_on(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
		       void *arg)
{
	struct ask *a = (struct ask *)arg;
	struct jf_agent_probe *p;
	int err;

	if (symbol->indirect || never(symbol->name) || !__jf_glob_matches(a->glob, m->name, symbol->name))
		return 0;
	err = function_at(m, symbol, at, avail, &p);
	if (!err)
		add(&a->batch, p, a->strings);
	return err;
}

static int functions_on(struct jf_module *m, void *arg)
{
	struct ask *a = (struct ask *)arg;

	jf_module_functions(m, function_on, a);
	commit(&a->batch);
	return 0;
}

/* --- objects that come later ------------------------------------------------------------- */

static int wished_function(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
			   void *arg)
{
	struct ask *a = (struct ask *)arg;

	return is_wished(true, m->name, symbol->name, &a->strings) ? function_on(m, symbol, at, avail, a) : 0;
}

static bool any_functions(void)
{
	const struct wish *w;

	for (w = wishes; w; w = w->next)
		if (w->functions && w->on)
			return true;
	return false;
}

static int come(struct jf_module *m, void *arg)
{
	struct ask *a = (struct ask *)arg;
	struct jf_agent_probe *p;
	int err;

	if (m->asked)
		return 0;
	m->asked = true;
	for (p = m->probes; p; p = p->next)
		if (is_wished(p->spot.function, p->group, p->name, &a->strings))
			add(&a->batch, p, a->strings);
	err = any_functions() ? jf_module_functions(m, wished_function, a) : 0;
	if (err && verbose)
		say("libjumpfunc-agent: %s: not all functions are looked at: %s", m->name, jf_error(-err));
	commit(&a->batch);
	return 0;
}

/*
 * What is called with the lock may be a cancellation point, and the thread may be in dlopen() or fork(), which are none: if
 * it ended there it would leave the lock, and the dynamic linker's, for ever.
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

static void look(void)
{
	struct ask a = { .glob = NULL };

	if (jf_modules_changed())
		jf_modules(come, &a);
}

static void unlock(void)
{
	int was = cancel_before;

	do {
		/* Pairs with hook(): it has stored that before it found the lock to be taken. */
		if (__atomic_exchange_n(&look_again, false, __ATOMIC_SEQ_CST) && wishes)
			look();
		pthread_mutex_unlock(&agent_lock);
		/* Pairs with hook(), which may have stored it just before the lock was dropped. */
	} while (__atomic_load_n(&look_again, __ATOMIC_SEQ_CST) && !pthread_mutex_trylock(&agent_lock));
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
	__atomic_store_n(&look_again, true, __ATOMIC_SEQ_CST);
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

static int watch_function(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
			  void *arg)
{
	enum jf_watch watch = symbol->indirect ? JF_WATCH_NONE : jf_filter_call(at);
	unsigned int *watched = (unsigned int *)arg;
	struct jf_agent_probe *p;

	if (!watch || *watched & 1U << watch || function_at(m, symbol, at, avail, &p))
		return 0;
	if (!jf_probe_watch(p, watch))
		*watched |= 1U << watch;
	else if (verbose)
		say("libjumpfunc-agent: no strings are read, as filters by %s() would not be seen: %s", symbol->name,
		    p->detour.why ? p->detour.why : "no memory");
	return 0;
}

static int watch_module(struct jf_module *m, void *arg)
{
	if (jf_filter_within(m->start, m->end))
		jf_module_functions(m, watch_function, arg);
	return 0;
}

/* Before the first string is read: those that will be installed, and then those that are there. */
static void look_for_filters(void)
{
	const unsigned int all = 1U << JF_WATCH_PRCTL | 1U << JF_WATCH_SYSCALL;
	static unsigned int watched;

	if (!jf_filter_needed())
		return;
	if (watched != all)
		jf_modules(watch_module, &watched);
	jf_filter_watched(watched == all);
	jf_filter_look();
}

/* --- the provider -------------------------------------------------------------------- */

static int remember(const char *glob, bool functions, bool on, uint16_t strings)
{
	struct wish *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->functions = functions;
	w->on = on;
	w->strings = strings;
	snprintf(w->glob, sizeof(w->glob), "%s", glob);
	*last_wish = w;
	last_wish = &w->next;
	return 0;
}

static void forget_wishes(bool functions)
{
	struct wish **p, *w;

	for (p = &wishes; (w = *p);) {
		if (w->functions == functions) {
			*p = w->next;
			free(w);
		} else {
			p = &w->next;
		}
	}
	last_wish = p;
}

/* A shadow stack would have to hear of the calls that copies push. */
static bool has_shadow_stack(void)
{
	unsigned long features = 0;

	/* ARCH_SHSTK_STATUS */
	return !syscall(SYS_arch_prctl, 0x5005, &features) && features & 1;
}

static int switch_on(const char *text, void *data)
{
	struct jf_pattern p;
	struct ask a = { .glob = p.glob, .functions = data };
	int err = jf_pattern_parse(&p, text);

	if (err)
		return err;
	a.strings = p.strings;
	if (a.functions && !means_functions(p.glob))
		return 0;
	if (has_shadow_stack())
		return -EOPNOTSUPP;
	lock();
	/* Objects that have come are for the patterns before this one, first. */
	look();
	if (a.strings)
		look_for_filters();
	begin_hook();
	err = remember(p.glob, a.functions, true, a.strings);
	if (!err)
		err = jf_modules(a.functions ? functions_on : notes_on, &a);
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
	return !p->spot.on && p->led && p->detour.way == JF_WAY_BREAK;
}

/* One error is told in the end, and that of a thread that still records before others. */
static void flush_off(struct ask *a)
{
	int err = jf_probes_off(a->batch.probe, a->batch.num);
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
		if (p->spot.function != a->functions || !(p->spot.on || (p->led && !p->spot.watch)) ||
		    !__jf_glob_matches(a->glob, p->group, p->name))
			continue;
		a->batch.probe[a->batch.num++] = p;
		if (a->batch.num == BATCH_MAX)
			flush_off(a);
	}
	flush_off(a);
	return 0;
}

static int switch_off(const char *text, void *data)
{
	struct jf_pattern p;
	struct ask a = { .glob = text ? p.glob : NULL, .functions = data };
	int err = text ? jf_pattern_parse(&p, text) : 0;

	if (err)
		return err;
	lock();
	if (text)
		remember(p.glob, a.functions, false, 0);
	else
		forget_wishes(a.functions);
	/* NULL: maybe the trace ends. */
	recording &= !!text;
	err = jf_modules(collect_off, &a);
	unlock();
	if (a.stay)
		say("libjumpfunc-agent: %u probe%s off, but the breakpoint%s: a thread that blocks SIGTRAP dies there", a.stay,
		    a.stay > 1 ? "s are" : " is", a.stay > 1 ? "s stay" : " stays");
	/* None records any more, whatever text could not be changed back: an end of recording is one. */
	if (!text && a.err && a.err != -ETIMEDOUT) {
		if (verbose)
			say("libjumpfunc-agent: probes that are off stay in the text: %s", jf_error(-a.err));
		a.err = 0;
	}
	return err ? err : a.err ? a.err : a.batch.on;
}

struct listing {
	const char	*glob;
	jf_listed_fn	*fn;
	void		*arg;
	int		ret;
};

static int show(struct listing *l, const char *group, const char *name, const struct jf_agent_probe *p,
		const char *why)
{
	static const char *const ways[] = {
		[JF_WAY_JUMP] = "jump", [JF_WAY_SHORT] = "jump in place of a short instruction",
		[JF_WAY_SPAN] = "jump in place of several instructions", [JF_WAY_BREAK] = "breakpoint",
	};
	struct jf_listed shown = { group, name, p && p->spot.on, why };
	char text[128];

	if (p && p->spot.on) {
		snprintf(text, sizeof(text), "%s%s%s", ways[p->detour.way],
			 p->detour.way == JF_WAY_BREAK ? ": " : "",
			 p->detour.way == JF_WAY_BREAK && p->detour.why ? p->detour.why : "");
		shown.detail = text;
	} else if (p) {
		shown.detail = stays(p) ? "the breakpoint stays: a thread that blocks SIGTRAP dies there" : p->detour.why;
	}
	return l->fn(&shown, l->arg);
}

static int list_notes(struct jf_module *m, void *arg)
{
	struct listing *l = (struct listing *)arg;
	struct jf_agent_probe *p;
	int ret = 0;

	for (p = m->probes; p && !ret; p = p->next)
		if (!p->spot.function && __jf_glob_matches(l->glob, p->group, p->name))
			ret = show(l, p->group, p->name, p, NULL);
	l->ret = ret;
	return ret;
}

static int list_function(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
			 void *arg)
{
	struct listing *l = (struct listing *)arg;

	if (!__jf_glob_matches(l->glob, m->name, symbol->name))
		return 0;
	l->ret = show(l, m->name, symbol->name, jf_module_function_at(m, after_landing(at, avail)),
		      symbol->indirect ? "the function is chosen by another one" :
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
	struct listing l = { text ? p.glob : NULL, fn, arg, 0 };
	int err = text ? jf_pattern_parse(&p, text) : 0;

	if (err)
		return err;
	lock();
	jf_modules(data ? list_functions : list_notes, &l);
	unlock();
	return l.ret;
}

/* The thread may have a small stack, and may block all signals as it forks: text is not changed while one blocks SIGTRAP. */
static void unlock_after_fork(void)
{
	sigset_t trap, was;

	/* Nothing is looked for. Else there may be something to look at by the time that it is asked. */
	if (!wishes) {
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
 * Another thread may have the lock, and the child has only the one that forks. That does not look for objects: another thread
 * may have been in the midst of dlopen().
 */
static void fork_ends(bool child)
{
	int was = cancel_before;

	if (!child) {
		unlock_after_fork();
		return;
	}
	pthread_mutex_unlock(&agent_lock);
	pthread_setcancelstate(was, NULL);
	jf_agent_busy--;
}

static int true_word;
/* The lock is that of both. */
static struct jf_provider notes = {
	JF_PROVIDER_VERSION, "note", list, switch_on, switch_off, NULL, lock, fork_ends, NULL,
};
static struct jf_provider functions = {
	JF_PROVIDER_VERSION, "function", list, switch_on, switch_off, &true_word, NULL, NULL, NULL,
};

/* --- the environment ------------------------------------------------------------------- */

static void set_ways(const char *text)
{
	static const char *const names[] = {
		[JF_WAY_JUMP] = "jump", [JF_WAY_SHORT] = "short", [JF_WAY_SPAN] = "span",
		[JF_WAY_BREAK] = "break",
	};
	unsigned int ways = 0, i;
	size_t len;

	for (; *text; text += text[len] == ',' ? len + 1 : len) {
		len = strcspn(text, ",");
		for (i = JF_WAY_JUMP; i <= JF_WAY_BREAK; i++)
			if (strlen(names[i]) == len && !strncmp(names[i], text, len))
				ways |= 1U << i;
	}
	if (ways)
		jf_ways = ways;
}

static void ask_for(const char *text)
{
	int n = switch_on(text, NULL), f = switch_on(text, &true_word);

	if (n < 0 && f < 1)
		say("libjumpfunc-agent: %s: nothing is recorded: %s", text, jf_error(-n));
	else if (f < 0 && n < 1)
		say("libjumpfunc-agent: %s: nothing is recorded: %s", text, jf_error(-f));
	else if (!n && !f && verbose)
		say("libjumpfunc-agent: %s: nothing matches", text);
}

static void by_environment(const char *globs)
{
	struct jf_pattern p;
	char *text;
	size_t len;

	for (; *globs; globs += globs[len] == ',' ? len + 1 : len) {
		/* Commas in brackets are the pattern's. */
		len = strcspn(globs, ",(");
		if (globs[len] == '(') {
			len += strcspn(globs + len, ")");
			len += strcspn(globs + len, ",");
		}
		text = len ? strndup(globs, len) : NULL;
		if (len && !text)
			say("libjumpfunc-agent: no memory");
		else if (len && jf_pattern_parse(&p, text))
			say("libjumpfunc-agent: '%.80s%s' is no pattern of probes: %s", text, len > 80 ? "..." : "", p.why);
		else if (len)
			ask_for(text);
		free(text);
	}
	if (breakpoints)
		say("libjumpfunc-agent: %u probe%s by breakpoint: a thread that blocks SIGTRAP dies there%s", breakpoints,
		    breakpoints > 1 ? "s are" : " is", verbose ? "" : " (JUMPFUNC=verbose names them)");
}

/*
 * As those of a program begin, whose own are later; libjumpfunc-trace's have been. The environment is not looked at
 * after it: it is the program's.
 */
__attribute__((__constructor__))
static void begins(void)
{
	const char *globs = secure_getenv("JUMPFUNC_AGENT"), *text;

	text = secure_getenv("JUMPFUNC");
	verbose = text && !strcmp(text, "verbose");
	text = secure_getenv("JUMPFUNC_TRAP");
	jf_traps_always = text && !strcmp(text, "always");
	text = secure_getenv("JUMPFUNC_AGENT_WAYS");
	if (text)
		set_ways(text);
	text = secure_getenv("JUMPFUNC_AGENT_STRINGS");
	jf_filter_begin(text && !strcmp(text, "always"));
	jf_record_clock();
	/* The program may have brought its own. What that does not know of is not switched off, nor is it seen to in fork(). */
	if (__jf_provider_register(&notes) || __jf_provider_register(&functions)) {
		say("libjumpfunc-agent: the libjumpfunc-trace of this program is of another version; nothing is recorded");
		return;
	}
	if (globs && *globs)
		by_environment(globs);
}
