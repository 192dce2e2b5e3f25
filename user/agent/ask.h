/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The upper parts of the agent, which carry out requests: say.c, wish.c, batch.c, match.c, come.c,
 * request.c and agent.c. agent.h lists all parts.
 */
#ifndef JF_ASK_H
#define JF_ASK_H

#include "agent.h"
#include "user/trace/wishes.h"

/* --- say.c ---------------------------------------------------------------------------- */

/* JUMPFUNC=verbose. */
extern bool jf_verbose JF_HIDDEN;
/* One line on standard error. */
__attribute__((__format__(__printf__, 1, 2)))
JF_HIDDEN void jf_say(const char *format, ...);

/* --- wish.c --------------------------------------------------------------------------- */

extern struct jf_wish *jf_wishes[JF_KIND_CALL + 1] JF_HIDDEN;
JF_HIDDEN bool jf_means(const struct jf_pattern *p, enum jf_kind kind);
JF_HIDDEN bool jf_means_functions(const struct jf_pattern *p);
JF_HIDDEN bool jf_never(const char *name);
JF_HIDDEN bool jf_fits(const char *glob, const struct jf_module *m, enum jf_kind kind, const char *group, const char *name);
JF_HIDDEN bool jf_wishes_any(void);
JF_HIDDEN void jf_wishes_mark(const struct jf_module *m);
/* After jf_wishes_mark(). */
JF_HIDDEN const struct jf_wish *jf_wished(const struct jf_module *m, enum jf_kind kind, const char *group, const char *name);
JF_HIDDEN bool jf_wishes_functions(void);

/* --- batch.c -------------------------------------------------------------------------- */

/* So many functions are switched on in one transaction. */
#define JF_BATCH_MAX	256

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

struct batch {
	struct jf_agent_probe	*probe[JF_BATCH_MAX];
	size_t		num;
	int		on;
	int		tried;
	int		err;
};

extern unsigned int jf_breakpoints JF_HIDDEN;
extern bool jf_recording JF_HIDDEN;
JF_HIDDEN void jf_ask_add(struct batch *b, struct jf_agent_probe *p, const struct how *how);
JF_HIDDEN void jf_ask_commit(struct batch *b);
JF_HIDDEN void jf_ask_lacks(const char *object, int err);

/* --- match.c -------------------------------------------------------------------------- */

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

/* --- come.c --------------------------------------------------------------------------- */

JF_HIDDEN void jf_agent_lock(void);
JF_HIDDEN void jf_agent_unlock(void);
/* With the lock: objects that have come get their probes. */
JF_HIDDEN void jf_look(void);
JF_HIDDEN void jf_find_callers(bool changed);
JF_HIDDEN void jf_name_elsewhere(void);
JF_HIDDEN void jf_name_lack(void);
JF_HIDDEN void jf_begin_hook(void);
JF_HIDDEN void jf_look_for_filters(void);
JF_HIDDEN void jf_look_for_handlers(void);
JF_HIDDEN void jf_fork_begins(void);
JF_HIDDEN void jf_fork_ends(bool child);

/* --- request.c ------------------------------------------------------------------------ */

/* A shadow stack would have to hear of the calls that copies push. */
JF_HIDDEN bool jf_shadow_stack(void);
JF_HIDDEN void jf_ask_for(const char *text);
JF_HIDDEN int jf_providers_register(void);

#endif /* JF_ASK_H */
