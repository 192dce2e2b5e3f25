// SPDX-License-Identifier: GPL-2.0
/* Waits until no task is in a module that is unloaded. */
#include "quiesce/quiesce.h"

#include "index/index.h"
#include "quiesce/retired.h"
#include "quiesce/wait.h"

#include <linux/rcupdate.h>
#include <linux/sched.h>

static int jf_spans_add_module(struct jf_spans *s, struct module *mod, u64 *seq)
{
	unsigned long start, end;
	unsigned int i;
	int err;

	/*
	 * A task in such code may be about to call into the module, or use its data. All of
	 * its own text is added below: a search for each of its iterators would read all of
	 * its symbols.
	 */
	err = jf_spans_add_retired(s, mod, seq);
	for (i = 0; !err && jf_module_text(mod, i, &start, &end); i++)
		err = jf_spans_add(s, start, end);
	return err;
}

int jf_quiesce_module(struct module *mod, bool target, long timeout)
{
	struct jf_wait w = {
		.name = mod->name,
		.timeout = timeout,
		.begun = jiffies,
		.told = jiffies,
	};
	int err = 0;

	if (!jf_calls_drain(mod, timeout))
		return -ETIMEDOUT;
	if (!target)
		return 0;
	/* For data of the module that a call with the contract JF_RCU still uses. */
	synchronize_rcu();
	while ((err = jf_spans_add_module(&w.text, mod, &w.seq))) {
		jf_spans_free(&w.text);
		if (!jf_time_left(&w))
			return err;
		jf_tell_held_up(&w, err);
		jf_nap(JF_PAUSE_MEM);
	}
	err = jf_wait_quiet(&w);
	jf_spans_free(&w.text);
	/* A task that has just left may have asked for one. */
	if (!err && !jf_calls_drain(mod, timeout))
		err = -ETIMEDOUT;
	if (!err)
		jf_retired_forget_into(mod, w.seq);
	return err;
}
