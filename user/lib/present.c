// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The sites of an object that is loaded follow the present values. */
#include "object.h"

/*
 * To write text now, and not to be able to do so later, would be worse than not to write, where the
 * compiled code follows its entity.
 */
static bool can_go_on(const struct jf_mod *m)
{
	const char *missing = NULL;

	if (!jf_sync_possible())
		missing = "membarrier()";
	else if (jf_options()->int3 && !jf_trap_possible())
		missing = "sigaction()";
	if (missing && m->tested)
		jf_writer_none(missing);
	return !missing && jf_writer_usable();
}

/* True if @ctl is known now, or became known when @loaded did. */
static bool is_due(const struct jf_ctl *ctl, const struct jf_mod *loaded)
{
	return loaded ? ctl->real && ctl->real->mod == loaded : !ctl->wants;
}

/* The sites of @ctl, of one kind, that do not follow its present value. */
static int add_wrong(struct jf_pokes *p, struct jf_ctl *ctl, bool loads, bool alone)
{
	struct jf_ctl *real = jf_ctl_real(ctl);
	struct jf_site *s;
	int err = 0;

	real->value = jf_ent_value(real->ent);
	for (s = ctl->sites; s && !err; s = s->next) {
		jf_insn_t now = atomic_load_explicit(&s->insn, memory_order_relaxed), insn;

		if (jf_site_loads(s) != loads)
			continue;
		err = jf_site_insn(s, real->value, alone, &insn);
		if (!err && insn != now)
			err = jf_pokes_add(p, s, insn);
	}
	return err;
}

/* Calls, trampolines, and branches that lead to a test: they are right, and slow. */
static void patch_loads(struct jf_mod *m, const struct jf_mod *loaded)
{
	bool alone = jf_single_threaded();
	struct jf_pokes p = { NULL, 0, 0 };
	int err = 0;
	size_t i;

	for (i = 0; i < m->num_ctls && !err; i++)
		if (is_due(&m->ctls[i], loaded))
			err = add_wrong(&p, &m->ctls[i], true, alone);
	if (!err && p.num && can_go_on(m))
		err = jf_patch(p.poke, p.num, alone);
	if (err)
		jf_say(true, "%s: its %zu sites stay as compiled: %s", m->name, p.num,
		       jf_error(-err));
	jf_free(p.poke);
}

/*
 * The branches of a key stay as compiled, and so does its value here, if it stands in for
 * another one. If it does not, some source file was told something else of it.
 */
static void leave_wrong(struct jf_ctl *ctl, int err)
{
	const char *what = "source files declare it otherwise, and their branches stay so";

	if (ctl->real || ctl->wants)
		what = "it is imported, and keeps its first value";
	jf_say(false, "%s: %s: %s: %s", ctl->mod->name, ctl->ent->name, what, jf_error(-err));
	if (ctl->real)
		jf_proxy_unlink(ctl);
	else if (!ctl->wants)
		return;
	jf_ent_reset(ctl->ent);
}

/* True if @ctl has branches that are not right as compiled. */
static bool is_wrong(const struct jf_ctl *ctl)
{
	return ctl->ent->type == JF_ENT_KEY &&
	       (ctl->odd || jf_ent_value(ctl->ent) != !!(ctl->ent->flags & JF_ENT_ON));
}

/* One that waits for its exporter has a copy of that one's first value. */
static bool is_to_mend(const struct jf_ctl *ctl, const struct jf_mod *loaded)
{
	return is_wrong(ctl) && (is_due(ctl, loaded) || (!loaded && ctl->wants));
}

static void patch_branches(struct jf_mod *m, const struct jf_mod *loaded)
{
	bool alone = jf_single_threaded();
	struct jf_pokes p = { NULL, 0, 0 };
	int err = 0;
	size_t i;

	for (i = 0; i < m->num_ctls && !err; i++) {
		if (!is_to_mend(&m->ctls[i], loaded))
			continue;
		err = jf_sites_of(&m->ctls[i]);
		if (!err)
			err = add_wrong(&p, &m->ctls[i], false, alone);
	}
	if (!err && p.num)
		err = jf_patch(p.poke, p.num, alone);
	for (i = 0; i < m->num_ctls && err; i++)
		if (is_to_mend(&m->ctls[i], loaded))
			leave_wrong(&m->ctls[i], err);
	jf_free(p.poke);
}

/* The sites of @m, or those that waited for @loaded, follow the present values. */
static void patch_mod(struct jf_mod *m, const struct jf_mod *loaded)
{
	patch_branches(m, loaded);
	patch_loads(m, loaded);
}

void jf_mod_present(struct jf_mod *m)
{
	struct jf_mod *other;

	jf_sites_odd(m);
	patch_mod(m, NULL);
	for (other = m->next; other; other = other->next)
		if (jf_proxies_link_waiting(other, m))
			patch_mod(other, m);
}
