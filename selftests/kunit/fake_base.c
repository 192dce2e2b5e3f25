// SPDX-License-Identifier: GPL-2.0
/*
 * The fakes of fake.h, below all others: the records, the allocator, the memory of modules, and the
 * room index. Nothing here uses fake_quiesce.c or fake.c.
 */
#include "fake_kernel.h"

struct jfk jfk;

void jfk_breach(const char *what)
{
	jfk.breaches++;
	if (!jfk.breach)
		jfk.breach = what;
}

/* --- the allocator ----------------------------------------------------- */

void *jfk_alloc(size_t size, gfp_t gfp)
{
	void *p;

	if (jfk.stopped)
		jfk_breach("memory is asked for while all CPUs are stopped");
	jfk.allocs++;
	if (!(gfp & __GFP_NOFAIL) && jfk.fail_at &&
	    (jfk.allocs == jfk.fail_at ||
	     (jfk.fail_always && jfk.allocs > jfk.fail_at)))
		return NULL;
	/* Poison memory that was not requested to be zero. */
	p = jfk_real_alloc(size, gfp & ~__GFP_ZERO);
	if (p) {
		memset(p, gfp & __GFP_ZERO ? 0 : 0xa5, size);
		jfk.not_freed++;
	}
	return p;
}

void jfk_free(const void *p)
{
	unsigned int i;

	if (!p)
		return;
	jfk.not_freed--;
	for (i = 0; i < ARRAY_SIZE(jfk.watched); i++) {
		if (p != jfk.watched[i])
			continue;
		jfk.watched[i] = NULL;
		jfk.watched_freed++;
		jfk.freed_without_grace += !jfk.graces;
	}
	jfk_real_free(p);
}

/* --- modules ----------------------------------------------------------- */

bool jfk_within(unsigned long addr, const struct module *mod)
{
	const struct jfk_mod *m = container_of(mod, struct jfk_mod, mod);

	return (addr >= (unsigned long)&m->mem &&
		addr < (unsigned long)(&m->mem + 1)) ||
	       (m->func && addr == (unsigned long)m->func);
}

bool jfk_within_init(unsigned long addr, const struct module *mod)
{
	const struct jfk_mod *m = container_of(mod, struct jfk_mod, mod);

	/* Freed once it is alive. */
	return mod->state != MODULE_STATE_LIVE &&
	       addr >= (unsigned long)m->mem.init_text &&
	       addr < (unsigned long)m->mem.init_text + JFK_INIT_TEXT;
}

bool jfk_module_text(const struct module *mod, unsigned int i,
		     unsigned long *start, unsigned long *end)
{
	const struct jfk_mod *m = container_of(mod, struct jfk_mod, mod);

	if (i == 2 && m->func) {
		*start = (unsigned long)m->func;
		*end = *start + 1;
		return true;
	}
	if (i > 1)
		return false;
	*start = (unsigned long)(i ? m->mem.init_text : m->mem.text);
	*end = *start + (i ? JFK_INIT_TEXT : JFK_TEXT);
	return true;
}

/* --- the engine -------------------------------------------------------- */

static bool jfk_atomic;

#undef in_interrupt
#define in_interrupt()			jfk_atomic

void jfk_force_context(bool atomic)
{
	jfk_atomic = atomic;
}

#include "../../kernel/index/spans.c"
#include "../../kernel/index/state.c"
#include "../../kernel/index/index.c"
#include "../../kernel/index/sites.c"
#include "../../kernel/index/symbols.c"
#include "../../kernel/index/walk.c"

/* --- its statics -------------------------------------------------------- */

unsigned int jfk_num_modules(void)
{
	struct jf_mod *m;
	unsigned int n = 0;

	list_for_each_entry(m, &jf_modules, list)
		n++;
	return n;
}

unsigned int jfk_map_num(void)
{
	return jf_map ? jf_map->num : 0;
}

struct jf_ctl *jfk_ctl(struct jf_ent *ent)
{
	struct jf_ctl *ctl;

	jf_lock();
	ctl = jf_ctl_find(ent);
	jf_unlock();
	return ctl;
}

unsigned int jfk_num_sites(struct jf_ent *ent)
{
	struct jf_ctl *ctl = jfk_ctl(ent);

	return ctl ? ctl->num_sites : UINT_MAX;
}

u64 jfk_updates(struct jf_ent *ent)
{
	struct jf_ctl *ctl = jfk_ctl(ent);

	return ctl ? ctl->updates : U64_MAX;
}

unsigned long jfk_found(unsigned long addr)
{
	struct jf_site *site = jf_site_find(addr);

	return site ? site->addr : ULONG_MAX;
}

void jfk_watch(struct jfk_mod *m)
{
	struct jf_mod *jm;

	jf_lock();
	jm = jf_mod_find(&m->mod);
	jfk.watched[0] = jm;
	jfk.watched[1] = jm->sites;
	jfk.watched[2] = jm->ctls;
	jfk.watched[3] = jm->targets;
	jf_unlock();
	jfk.watched_freed = 0;
	jfk.freed_without_grace = 0;
	jfk.graces = 0;
}

int jfk_by_name(const char *module, const char *name, unsigned int rank,
		enum jf_ent_type type, struct jf_ent **ent)
{
	struct jf_ctl *ctl;

	jf_lock();
	ctl = jf_ctl_by_name(module, name, rank, type);
	if (!IS_ERR(ctl))
		*ent = ctl->ent;
	jf_unlock();
	return PTR_ERR_OR_ZERO(ctl);
}

void *jfk_allowed(struct jf_ent *ent, const char *name)
{
	struct jf_ctl *ctl;
	void *func = NULL;

	jf_lock();
	ctl = jf_ctl_find(ent);
	if (ctl)
		func = jf_allowed_target(ctl, name);
	jf_unlock();
	return func;
}

/* --- init and exit ------------------------------------------------------ */

void jfk_base_begin(void)
{
	INIT_LIST_HEAD(&jf_modules);
	hash_init(jf_ctls);
	hash_init(jf_tramps);
	jf_map = NULL;
	memset(&jf_stats, 0, sizeof(jf_stats));
	jfk_atomic = false;
}

void jfk_base_end(void)
{
	jfk_free(jf_map);
	jf_map = NULL;
}
