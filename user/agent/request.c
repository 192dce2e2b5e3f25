// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Requests by way of libjumpfunc-trace: probes that match a pattern are switched on or off, or
 * listed.
 */
#include "request.h"
#include "come.h"
#include "match.h"
#include "batch.h"
#include "wish.h"
#include "say.h"
#include "object.h"
#include "calls.h"
#include "lead.h"
#include "point.h"
#include "detour.h"
#include "module.h"
#include "elf.h"
#include "event.h"
#include "busy.h"
#include "retire.h"

#include <asm/prctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "user/lib/error.h"
#include "user/trace/glob.h"
#include "user/trace/kind.h"
#include "user/trace/pattern.h"
#include "user/trace/provider.h"
#include "user/trace/wishes.h"

static int remember(const struct ask *a, bool on)
{
	struct jf_wish *w = jf_wish_new(a->kind, a->glob, a->how.choice, a->how.members, on);

	if (!w)
		return -ENOMEM;
	w->strings = a->how.strings;
	w->min = a->how.min;
	w->sums = a->how.sums;
	jf_wish_add(&jf_wishes[a->kind], w);
	return 0;
}

/* A shadow stack would have to hear of the calls that copies push. */
bool jf_shadow_stack(void)
{
	unsigned long features = 0;

	/* ARCH_SHSTK_STATUS */
	return !syscall(SYS_arch_prctl, 0x5005, &features) && features & 1;
}

static void give_up(void)
{
	static const struct timespec a_while = { .tv_nsec = 100000 };

	jf_agent_unlock();
	while (__atomic_load_n(&jf_forking, __ATOMIC_RELAXED))
		nanosleep(&a_while, NULL);
	jf_agent_lock();
}

/* With the lock. */
static int walk(jf_module_fn *fn, struct ask *a)
{
	static unsigned int requests;
	int ret;

	a->number = ++requests ? requests : ++requests;
	jf_modules(jf_module_demangler, NULL);
	while ((ret = jf_modules(fn, a)) == JF_AGAIN)
		give_up();
	jf_name_lack();
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
	if (!jf_means(&p, a.kind) || (a.kind != JF_KIND_NOTE && !jf_means_functions(&p)))
		return 0;
	if (jf_shadow_stack())
		return -EOPNOTSUPP;
	jf_agent_lock();
	/* Objects that have come are for the patterns before this one, first. */
	jf_look();
	jf_look_for_filters();
	jf_begin_hook();
	jf_look_for_handlers();
	err = remember(&a, true);
	jf_modules(jf_module_demangler, NULL);
	jf_find_callers(false);
	if (!err)
		err = walk(a.kind == JF_KIND_NOTE ? jf_notes_on : jf_functions_on, &a);
	jf_name_elsewhere();
	jf_retired_free();
	if (!err && !a.batch.tried && a.kind != JF_KIND_NOTE)
		err = none_matches(a.glob);
	jf_agent_unlock();
	if (err)
		return err;
	if (a.batch.on || a.batch.err)
		return a.batch.on ? a.batch.on : a.batch.err;
	return a.batch.tried ? -EOPNOTSUPP : 0;
}

/* Off, and a thread that blocks SIGTRAP dies there all the same. */
static bool stays(const struct jf_agent_probe *p)
{
	return !p->spot.on && p->point->detour.way == JF_WAY_BREAK && jf_point_stays(p->point);
}

/* The caller tells one error; -ETIMEDOUT, of a thread that still records, precedes others. */
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
		    !jf_fits(a->glob, m, a->kind, p->group, p->name))
			continue;
		a->batch.probe[a->batch.num++] = p;
		if (a->batch.num < JF_BATCH_MAX)
			continue;
		flush_off(a);
		/* Those that are already off are passed over. */
		if (jf_gives_up(a) && !a->err)
			return JF_AGAIN;
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
	if (text && !jf_means(&p, a.kind))
		return 0;
	jf_agent_lock();
	if (text)
		remember(&a, false);
	else
		jf_wishes_forget(&jf_wishes[a.kind]);
	/* NULL: maybe the trace ends. */
	jf_recording &= !!text;
	err = walk(collect_off, &a);
	if (!text && a.kind == JF_KIND_CALL)
		jf_calls_end();
	jf_agent_unlock();
	if (a.stay)
		jf_say("libjumpfunc-agent: %u probe%s off, but the breakpoint%s: a thread that blocks SIGTRAP dies there", a.stay,
		    a.stay > 1 ? "s are" : " is", a.stay > 1 ? "s stay" : " stays");
	/*
	 * None records any more, whatever text could not be changed back: an end of recording is
	 * one.
	 */
	if (!text && a.err && a.err != -ETIMEDOUT) {
		if (jf_verbose)
			jf_say("libjumpfunc-agent: probes that are off stay in the text: %s", jf_error(-a.err));
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
	if (l->kind == JF_KIND_CALL && !symbol->indirect && !jf_never(symbol->name) &&
	    !jf_function_at(m, l->kind, symbol, at, avail, NULL, &p) && !p->spot.on)
		p->why = jf_calls_refused(p) ? jf_calls_refused(p) : p->choice_why;
	else
		p = jf_function_find(m, l->kind, jf_after_landing(at, avail), symbol->name, NULL);
	l->ret = show(l, m->name, symbol->name, p, symbol->indirect ? "the function is chosen by another one" :
		      jf_never(symbol->name) ? "others rely on its code" : NULL);
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
	if (text ? !jf_means(&p, l.kind) : l.kind == JF_KIND_CALL)
		return 0;
	jf_agent_lock();
	jf_modules(jf_module_demangler, NULL);
	jf_modules(l.kind == JF_KIND_NOTE ? list_notes : list_functions, &l);
	if (!l.ret && !l.any && l.kind != JF_KIND_NOTE)
		l.ret = none_matches(text ? p.glob : "*");
	jf_agent_unlock();
	return l.ret;
}

static enum jf_kind note_word = JF_KIND_NOTE, function_word = JF_KIND_FUNCTION, call_word = JF_KIND_CALL;

/* All of them have one lock, which this one takes in fork(). */
static struct jf_provider notes = {
	JF_PROVIDER_VERSION, "note", list, switch_on, switch_off, &note_word, jf_fork_begins, jf_fork_ends, jf_agent_own, NULL,
};
static struct jf_provider functions = {
	JF_PROVIDER_VERSION, "function", list, switch_on, switch_off, &function_word, NULL, NULL, NULL, NULL,
};
static struct jf_provider calls = {
	JF_PROVIDER_VERSION, "call", list, switch_on, switch_off, &call_word, NULL, NULL, NULL, NULL,
};

void jf_ask_for(const char *text)
{
	int n = switch_on(text, &note_word), f = switch_on(text, &function_word), c = switch_on(text, &call_word);
	int most = n > f ? n : f, err = n < 0 ? n : f < 0 ? f : c;

	most = c > most ? c : most;
	/* Of -ESTALE it was told which file that was. */
	if (err < 0 && err != -ESTALE && most < 1)
		jf_say("libjumpfunc-agent: %s: the agent records nothing: %s", text,
		    err == -EINVAL ? "no probe that matches has all its names" : jf_error(-err));
	else if (most < 1 && jf_verbose)
		jf_say("libjumpfunc-agent: %s: nothing matches", text);
}

/* Of libjumpfunc-trace. 0, or -EINVAL: that one is of another version. */
int jf_providers_register(void)
{
	return __jf_provider_register(&notes) || __jf_provider_register(&functions) || __jf_provider_register(&calls) ? -EINVAL : 0;
}
