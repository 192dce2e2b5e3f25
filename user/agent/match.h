/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Notes and functions that a request means (match.c). */
#ifndef JF_AGENT_MATCH_H
#define JF_AGENT_MATCH_H

#include "agent.h"
#include "batch.h"

#include "user/trace/kind.h"

struct jf_agent_probe;
struct jf_module;
struct jf_symbol;

/**
 * struct ask - one request
 * @glob:      of names
 * @batch:     probes that are switched together
 * @kind:      of notes, functions or calls
 * @how:       they are recorded
 * @err:       of those that were switched off
 * @stay:      jf_breakpoints that stay
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
#define JF_AGAIN	1

extern unsigned int jf_forking JF_HIDDEN;
JF_HIDDEN bool jf_gives_up(const struct ask *a);
JF_HIDDEN void jf_name_unread(struct jf_module *m, int err);
JF_HIDDEN uintptr_t jf_after_landing(uintptr_t at, size_t avail);
JF_HIDDEN struct jf_agent_probe *jf_function_find(struct jf_module *m, enum jf_kind kind, uintptr_t at, const char *name,
						  const char *glob);
JF_HIDDEN int jf_function_at(struct jf_module *m, enum jf_kind kind, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
			     const char *glob, struct jf_agent_probe **p);
/* For jf_module_functions(), with a struct ask. */
JF_HIDDEN int jf_function_on(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail, void *arg);
/* For jf_modules(), with the same. */
JF_HIDDEN int jf_notes_on(struct jf_module *m, void *arg);
JF_HIDDEN int jf_functions_make(struct jf_module *m, void *arg);
JF_HIDDEN int jf_functions_on(struct jf_module *m, void *arg);

#endif /* JF_AGENT_MATCH_H */
