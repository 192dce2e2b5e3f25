// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Patterns: the kinds of probes that they mean, and the probes, by their names. A pattern that was
 * switched on holds for objects that come later.
 */
#include "wish.h"
#include "module.h"

#include <string.h>

#include "user/trace/glob.h"
#include "user/trace/kind.h"
#include "user/trace/pattern.h"
#include "user/trace/provider.h"
#include "user/trace/wishes.h"

/* Of each kind, the newest first. */
struct jf_wish *jf_wishes[JF_KIND_CALL + 1];

static bool only_wild(const char *text, size_t len)
{
	while (len && (*text == '*' || *text == '?')) {
		text++;
		len--;
	}
	return !len;
}

/* True if a pattern means probes of a kind. It means calls only if it says so. */
bool jf_means(const struct jf_pattern *p, enum jf_kind kind)
{
	return p->kind == kind || (p->kind == JF_KIND_ANY && kind != JF_KIND_CALL && !(kind == JF_KIND_NOTE && *p->members)) ||
	       (p->kind == JF_KIND_TIME && kind == JF_KIND_CALL);
}

/*
 * The same of requests to switch on: without a kind, more than wildcards are needed for functions.
 */
bool jf_means_functions(const struct jf_pattern *p)
{
	const char *glob = p->glob, *name = strrchr(glob, ':');

	if (p->kind == JF_KIND_FUNCTION || p->kind == JF_KIND_CALL || p->kind == JF_KIND_TIME)
		return true;
	if (!name)
		return !only_wild(glob, strlen(glob));
	return !only_wild(name + 1, strlen(name + 1)) || !only_wild(glob, (size_t)(name - glob));
}

/* Functions that are left alone. */
bool jf_never(const char *name)
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
bool jf_fits(const char *glob, const struct jf_module *m, enum jf_kind kind, const char *group, const char *name)
{
	return kind != JF_KIND_NOTE ? jf_module_matches(m, glob, name) : __jf_glob_matches(glob, group, name);
}

/* By this name; the newest wish counts, also for the types of arguments. NULL: by none. */
const struct jf_wish *jf_wished(const struct jf_module *m, enum jf_kind kind, const char *group, const char *name)
{
	const struct jf_wish *w = jf_wishes[kind];

	while (w && !(w->here && jf_fits(w->glob, m, kind, group, name)))
		w = w->next;
	return w && w->on ? w : NULL;
}

bool jf_wishes_any(void)
{
	return jf_wishes[JF_KIND_NOTE] || jf_wishes[JF_KIND_FUNCTION] || jf_wishes[JF_KIND_CALL];
}

/* Before jf_wished(): most patterns mean other objects, which is found once for all functions. */
void jf_wishes_mark(const struct jf_module *m)
{
	struct jf_wish *w;
	unsigned int kind;

	for (kind = JF_KIND_NOTE; kind <= JF_KIND_CALL; kind++)
		for (w = jf_wishes[kind]; w; w = w->next)
			w->here = kind == JF_KIND_NOTE || jf_module_meant(m, w->glob);
}

bool jf_wishes_functions(void)
{
	const struct jf_wish *w;
	unsigned int kind;

	for (kind = JF_KIND_FUNCTION; kind <= JF_KIND_CALL; kind++)
		for (w = jf_wishes[kind]; w; w = w->next)
			if (w->on && w->here)
				return true;
	return false;
}
