// SPDX-License-Identifier: GPL-2.0
/* Waits until no task is in a module that is unloaded. */
#include "quiesce/quiesce.h"

#include "index/index.h"
#include "quiesce/retired.h"
#include "quiesce/wait.h"

#include <linux/delay.h>
#include <linux/sched.h>

static int jf_spans_add_module(struct jf_spans *s, struct module *mod, u64 *seq)
{
	unsigned long start, end;
	unsigned int i;
	int err;

	/* A task in such code may be about to call into the module. */
	err = jf_spans_add_retired(s, true, seq);
	for (i = 0; !err && jf_module_text(mod, i, &start, &end); i++)
		err = jf_spans_add(s, start, end);
	return err;
}

void jf_quiesce_module(struct module *mod, bool target)
{
	struct jf_wait w = {
		.name = mod->name,
		.data = true,
		.timeout = MAX_SCHEDULE_TIMEOUT,
	};
	u64 seq;

	jf_calls_drain(mod);
	if (!target)
		return;
	while (jf_spans_add_module(&w.text, mod, &seq)) {
		jf_spans_free(&w.text);
		msleep(JF_PAUSE_MEM);
	}
	jf_wait_quiet(&w);
	jf_spans_free(&w.text);
	/* A task that has just left may have asked for one. */
	jf_calls_drain(mod);
	jf_retired_forget_all(seq, true);
}
