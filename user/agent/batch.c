// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Probes that are switched on together, and the trace that begins with the first one. */
#include "batch.h"
#include "say.h"
#include "choose.h"
#include "shown.h"
#include "calls.h"
#include "probe.h"
#include "point.h"
#include "detour.h"
#include "lack.h"
#include "event.h"

#include <string.h>

#include <jumpfunc/record.h>

#include "user/lib/error.h"
#include "user/trace/provider.h"

/* Probes that were switched on as such. */
unsigned int jf_breakpoints;

/* A trace is there, as far as is known. */
bool jf_recording;

static void complain(const struct jf_agent_probe *p)
{
	const char *why = p->why ? p->why : jf_no_memory;

	__jf_record_refused(p->group, p->name, why);
	if (jf_verbose)
		jf_say("libjumpfunc-agent: %s:%s at %#lx is not recorded: %s", p->group, p->name,
		    (unsigned long)p->spot.at, why);
}

/* It stays one as long as it is on, and kills a thread that blocks SIGTRAP at that time. */
static void name_breakpoint(const struct jf_agent_probe *p)
{
	jf_breakpoints++;
	if (jf_verbose)
		jf_say("libjumpfunc-agent: %s:%s at %#lx is a breakpoint: %s", p->group, p->name,
		    (unsigned long)p->spot.at, p->why ? p->why : "as was asked");
}

/* A probe that is off without a reason had no memory. */
static void note_lack(struct batch *b, const struct jf_agent_probe *p)
{
	if ((!p->why || p->why == jf_no_memory) && !b->err)
		b->err = -ENOMEM;
}

void jf_ask_commit(struct batch *b)
{
	struct jf_agent_probe *all[JF_BATCH_MAX];
	size_t i, num = b->num;
	int err;

	memcpy(all, b->probe, num * sizeof(*all));
	b->on += (int)jf_calls_on(b->probe, num, &err);
	/* Once for each thing that is asked for. */
	if (err && !b->err)
		jf_say("libjumpfunc-agent: not all is recorded: the trace cannot be told of it: %s",
		    err == -EOVERFLOW ? "it has no more than 65,535 events" : jf_error(-err));
	b->err = err ? err : b->err;
	for (i = 0; i < num; i++) {
		all[i]->queued = false;
		if (!all[i]->spot.on) {
			note_lack(b, all[i]);
			complain(all[i]);
		} else if (all[i]->point->detour.way == JF_WAY_BREAK) {
			name_breakpoint(all[i]);
		}
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
	int err = jf_recording ? 0 : __jf_record_by_environment();

	if (err == -EBUSY)
		err = 0;
	jf_recording = !err;
	if (err && err != last)
		jf_say("libjumpfunc-agent: nothing is recorded: %s", jf_error(-err));
	last = err;
	return err;
}

/*
 * Not all probes of an object are known, and a pattern can mean the rest. The trace has the reason,
 * and begins for it.
 */
void jf_ask_lacks(const char *object, int err)
{
	const char *name = strrchr(object, '/');

	jf_say("libjumpfunc-agent: not all probes of %s are known: %s", object, jf_error(-err));
	if (!start_recording())
		__jf_record_refused(name ? name + 1 : object, "*", jf_error(-err));
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

void jf_ask_add(struct batch *b, struct jf_agent_probe *p, const struct how *how)
{
	int err;

	if (jf_probe_strings(p, how->strings) && jf_verbose)
		jf_say("libjumpfunc-agent: %s:%s is recorded with%s strings as before", p->group, p->name, how->strings ? "out" : "");
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
		note_lack(b, p);
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
	if (b->num == JF_BATCH_MAX)
		jf_ask_commit(b);
}
