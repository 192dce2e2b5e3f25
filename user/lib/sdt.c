// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * SDT probes, which jumpfunc-sdt/sys/sdt.h makes: by name, and the functions that their code calls.
 *
 * Each has a key and a tracepoint without a dynamic function; trace.c knows how to change the array
 * of its subscribers. Nothing leads from a name to all that have it: all keys are looked at.
 */
#include "lib.h"

#include <stdlib.h>
#include <string.h>

#include <jumpfunc/sdt.h>

/* As jumpfunc-sdt/sys/sdt.h writes it, by numbers alone. */
#if JF_HAVE_PATCHING
_Static_assert(offsetof(struct jf_key, count) == 4 && offsetof(struct jf_key, ent) == 8 &&
	       sizeof(struct jf_key) == 64, "struct jf_key is another");
_Static_assert(offsetof(struct jf_ent, name) == 0 && offsetof(struct jf_ent, owner) == 8 &&
	       offsetof(struct jf_ent, type) == 16 && offsetof(struct jf_ent, flags) == 18 &&
	       offsetof(struct jf_ent, ctl) == 24 && JF_ENT_KEY == 1 && (JF_ENT_SDT | JF_ENT_TRACE) == 0x210,
	       "struct jf_ent is another");
_Static_assert(offsetof(struct jf_tracepoint, owner) == 8 && offsetof(struct jf_tracepoint, key) == 16 &&
	       offsetof(struct jf_tracepoint, call) == 24 && offsetof(struct jf_tracepoint, nargs) == 40 &&
	       offsetof(struct jf_tracepoint, active) == 48 && offsetof(struct jf_tracepoint, origin) == 72 &&
	       sizeof(struct jf_tracepoint) == 80, "struct jf_tracepoint is another");
_Static_assert(offsetof(struct jf_sdt, semaphore) == 144 && offsetof(struct jf_sdt, code) == 156 &&
	       JF_SDT_VERSION == 1, "struct jf_sdt is another");
_Static_assert(JF_TABLE_MAGIC == 0x6a660004 && JF_TABLE_REC_SIZE == (16 | 24 << 16) &&
	       sizeof(struct jf_object) == 80 && offsetof(struct jf_object, sites) == 8 &&
	       offsetof(struct jf_object, on) == 24 && offsetof(struct jf_object, now) == 40 &&
	       offsetof(struct jf_object, ents) == 56 && JF_SITE_BRANCH + JF_SITE_PREFIX == 0x42,
	       "struct jf_object is another");
#endif

void __jf_sdt_hit(struct jf_sdt *sdt, const unsigned long *words)
{
	const struct jf_probe *p;
	jf_sdt_probe *probe;
	__JF_READ_SECTION;

	/*
	 * Pairs with jf_ctl_apply(). NULL: the last subscriber has left since this code was
	 * entered.
	 */
	p = __atomic_load_n(&sdt->tp.active, __ATOMIC_ACQUIRE);
	/* Functions become jf_nop() if their object is closed: see numb(). */
	for (; p && (probe = (jf_sdt_probe *)__JF_LOAD(p->func)); p++)
		probe(p->data, sdt, words);
}

/* Of another version: not a probe. */
static struct jf_sdt *sdt_of(const struct jf_ctl *ctl)
{
	struct jf_sdt *sdt;

	if (ctl->ent->type != JF_ENT_KEY || !(ctl->ent->flags & JF_ENT_SDT) || !jf_ctl_is_own(ctl))
		return NULL;
	sdt = jf_container(jf_key_of(ctl->ent), struct jf_sdt, key);
	return sdt->version == JF_SDT_VERSION ? sdt : NULL;
}

static void (*watcher)(void);

void __jf_sdt_watch(void (*loaded)(void))
{
	/*
	 * Pairs with jf_sdt_loaded(): an object that is loaded at the same time is seen here or
	 * there.
	 */
	__atomic_store_n(&watcher, loaded, __ATOMIC_SEQ_CST);
	loaded();
}

void jf_sdt_loaded(bool any)
{
	/*
	 * Pairs with __jf_sdt_watch(): one that is not seen here sees the object, which is in the
	 * list.
	 */
	void (*loaded)(void) = __atomic_load_n(&watcher, __ATOMIC_SEQ_CST);

	if (any && loaded)
		loaded();
}

bool jf_sdt_has_any(const struct jf_mod *m)
{
	size_t i = 0;

	while (i < m->num_ctls && !sdt_of(&m->ctls[i]))
		i++;
	return i < m->num_ctls;
}

static bool is_named(const struct jf_sdt *sdt, const char *names)
{
	const char *name = sdt->tp.name, *colon = strchr(name, ':');

	if (!strchr(names, ':') && colon)
		name = colon + 1;
	return jf_name_fits(name, names, strlen(names));
}

/* With the lock held. 1, 0 if there is nothing to be done, or -ENOMEM. */
static int add_change(struct jf_batch *b, struct jf_sdt *sdt, void *func, void *data, bool add)
{
	struct jf_probe_change *c;

	if (jf_trace_has(&sdt->tp, func, data) == add)
		return 0;
	c = jf_alloc(sizeof(*c));
	if (!c)
		return -ENOMEM;
	*c = (struct jf_probe_change){
		.next = b->probes, .tp = &sdt->tp, .func = func, .data = data,
		.prio = JF_TRACE_PRIO_DEFAULT, .add = add,
	};
	b->probes = c;
	return 1;
}

/* How many have such a name, and, if one is to be removed, had it. */
static int change_all(struct jf_batch *b, const char *names, void *func, void *data, bool add)
{
	const struct jf_mod *m;
	int num = 0, more;
	size_t i;

	for (m = jf_mods; m; m = m->next)
		for (i = 0; i < m->num_ctls; i++) {
			struct jf_sdt *sdt = sdt_of(&m->ctls[i]);

			if (!sdt || !is_named(sdt, names))
				continue;
			more = add_change(b, sdt, func, data, add);
			if (more < 0)
				return more;
			num += add ? 1 : more;
		}
	return num;
}

static int change_named(const char *names, jf_sdt_probe *probe, void *data, bool add)
{
	void *func = __extension__ (void *)probe;
	struct jf_batch b;
	int num, err;

	if (!probe)
		return -EINVAL;
	err = jf_lock_to_change();
	if (err)
		return err;
	jf_batch_init(&b);
	num = change_all(&b, names, func, data, add);
	if (num > 0)
		err = jf_trace_commit(&b);
	jf_batch_drop(&b);
	jf_unlock();
	if (err)
		return err;
	return num ? num : -ENOENT;
}

int jf_sdt_register(const char *names, jf_sdt_probe *probe, void *data)
{
	return change_named(names, probe, data, true);
}

int jf_sdt_unregister(const char *names, jf_sdt_probe *probe, void *data)
{
	return change_named(names, probe, data, false);
}

bool jf_sdt_registered(const struct jf_sdt *sdt, jf_sdt_probe *probe, void *data)
{
	bool is;

	jf_lock();
	is = jf_trace_has(&sdt->tp, __extension__ (void *)probe, data);
	jf_unlock();
	return is;
}

static void add_all(struct jf_copy *c)
{
	const struct jf_mod *m;
	struct jf_sdt_info info;
	size_t i;

	for (m = jf_mods; m; m = m->next)
		for (i = 0; i < m->num_ctls; i++) {
			info.sdt = sdt_of(&m->ctls[i]);
			if (!info.sdt)
				continue;
			info.name = jf_copy_keep(c, info.sdt->tp.name);
			info.object = jf_copy_keep(c, m->path ? m->path : "");
			info.probes = jf_trace_num(&info.sdt->tp);
			info.sites = jf_ctl_sites(&m->ctls[i]);
			jf_copy_add(c, &info);
		}
}

struct visitor {
	int	(*visit)(const struct jf_sdt_info *info, void *arg);
	void	*arg;
};

static int show(const void *info, void *arg)
{
	const struct visitor *v = arg;

	return v->visit(info, v->arg);
}

int jf_sdt_list(int (*visit)(const struct jf_sdt_info *info, void *arg), void *arg)
{
	struct visitor v = { visit, arg };

	return jf_copy_show(sizeof(struct jf_sdt_info), add_all, show, &v);
}
