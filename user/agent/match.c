// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Probes of an object that a pattern means: its notes, and its functions, which become probes
 * here.
 */
#include "match.h"
#include "batch.h"
#include "wish.h"
#include "say.h"
#include "object.h"
#include "calls.h"
#include "probe.h"
#include "point.h"
#include "types.h"
#include "module.h"
#include "elf.h"
#include "event.h"
#include "spot.h"

#include <string.h>

#include "user/lib/error.h"
#include "user/trace/glob.h"
#include "user/trace/kind.h"
#include "user/trace/provider.h"

/*
 * Threads that fork, and wait for it. A thread that switches many probes gives it up for them
 * between two transactions.
 */
unsigned int jf_forking;

/* Between two transactions. */
bool jf_gives_up(const struct ask *a)
{
	return a->number && !a->batch.num && __atomic_load_n(&jf_forking, __ATOMIC_RELAXED);
}

/* Once: its probes cannot be found, or not all. @err: of a search for functions, or 0. */
void jf_name_unread(struct jf_module *m, int err)
{
	if (!m->unread && err >= 0)
		err = m->lack;
	if (m->named || (!m->unread && err >= 0))
		return;
	m->named = true;
	if (!m->unread) {
		jf_ask_lacks(m->name, err);
		return;
	}
	jf_say("libjumpfunc-agent: nothing of %s is found, its file cannot be read: %s", m->path,
	    m->unread == -ENOEXEC ? "it is another one by now" : jf_error(-m->unread));
}

int jf_notes_on(struct jf_module *m, void *arg)
{
	struct ask *a = (struct ask *)arg;
	struct jf_agent_probe *p;

	for (p = m->probes; p; p = p->next)
		if (p->kind == JF_KIND_NOTE && __jf_glob_matches(a->glob, p->group, p->name))
			jf_ask_add(&a->batch, p, &a->how);
	jf_name_unread(m, 0);
	if (m->lack && !a->batch.err)
		a->batch.err = m->lack;
	jf_ask_commit(&a->batch);
	return 0;
}

/* Where the jump may be: a branch through a pointer has to find the first instruction. */
uintptr_t jf_after_landing(uintptr_t at, size_t avail)
{
	return avail > 4 && jf_module_shows(at, 4) && !memcmp((const void *)at, "\xf3\x0f\x1e\xfa", 4) ? at + 4 : at;
}

/*
 * The probe of the function at @at that is known by @name; else one that @glob matches; NULL: all
 * match. A call is entered once, whatever names its function has.
 */
struct jf_agent_probe *jf_function_find(struct jf_module *m, enum jf_kind kind, uintptr_t at, const char *name, const char *glob)
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
int jf_function_at(struct jf_module *m, enum jf_kind kind, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
		       const char *glob, struct jf_agent_probe **p)
{
	uintptr_t begin = jf_after_landing(at, avail);

	*p = jf_function_find(m, kind, begin, symbol->name, glob);
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

int jf_function_on(struct jf_module *m, const struct jf_symbol *symbol, uintptr_t at, size_t avail,
		       void *arg)
{
	struct ask *a = (struct ask *)arg;
	struct jf_agent_probe *p;
	int err;

	if (a->number && a->seen++ < m->seen_functions)
		return 0;
	if (symbol->indirect || jf_never(symbol->name) || !jf_module_matches(m, a->glob, symbol->name))
		return 0;
	err = jf_function_at(m, a->kind, symbol, at, avail, a->glob, &p);
	if (err)
		return err;
	jf_ask_add(&a->batch, p, &a->how);
	return jf_gives_up(a) ? JF_AGAIN : 0;
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

	if (symbol->indirect || jf_never(symbol->name) || !jf_module_matches(m, a->glob, symbol->name))
		return 0;
	err = jf_function_at(m, a->kind, symbol, at, avail, a->glob, &p);
	if (!err && a->exits && a->kind == JF_KIND_CALL)
		jf_calls_make(p);
	return err;
}

int jf_functions_make(struct jf_module *m, void *arg)
{
	jf_module_functions(m, make_function, arg);
	return 0;
}

int jf_functions_on(struct jf_module *m, void *arg)
{
	struct ask *a = (struct ask *)arg;
	int ret;

	if (a->kind == JF_KIND_CALL)
		jf_functions_make(m, a);
	if (m->request != a->number)
		m->seen_functions = 0;
	m->request = a->number;
	a->seen = 0;
	ret = jf_module_functions(m, jf_function_on, a);
	/* Where it goes on. */
	m->seen_functions = ret == JF_AGAIN ? a->seen : SIZE_MAX;
	jf_name_unread(m, ret);
	if (ret < 0 && !m->unread && !a->batch.err)
		a->batch.err = ret;
	jf_ask_commit(&a->batch);
	return ret == JF_AGAIN;
}
