// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Machines on which nothing is patched, and JF_GENERIC: text is never written. A branch
 * loads its key, a call its pointer, and a tracepoint with probes calls its iterator. Of
 * these the compiler knows all there is, so objects have no site records.
 *
 * This stands for the functions of lib.h. All that decides whether a change is legal, and carries
 * it out for all entities of a batch or for none, is in commit.c and value.c; a batch has
 * no pokes here, and cannot fail after the checks.
 */
#include "../lib.h"

/* As compiled, they would not follow their keys: no code patches them. */
int jf_sites_now(struct jf_mod *m)
{
	const struct jf_object *o = m->object;

	if (o->sites == o->sites_end && o->on == o->on_end && o->now == o->now_end)
		return 0;
	jf_say(false, "%s: has sites, and this libjumpfunc patches none", m->name);
	return -EINVAL;
}

void jf_sites_odd(struct jf_mod *m)
{
	(void)m;
}

int jf_sites_of(struct jf_ctl *ctl)
{
	(void)ctl;
	return 0;
}

size_t jf_sites_num(struct jf_ctl *ctl)
{
	(void)ctl;
	return 0;
}

void jf_sites_free(struct jf_mod *m)
{
	(void)m;
}

/* Objects with sites are refused, so that no caller asks for a site's instruction. */
int jf_site_insn(struct jf_site *site, uintptr_t value, bool alone, jf_insn_t *insn)
{
	(void)site, (void)value, (void)alone, (void)insn;
	return -EOPNOTSUPP;
}

int jf_patch(struct jf_poke *pokes, size_t num, bool alone)
{
	(void)pokes, (void)alone;
	return num ? -EOPNOTSUPP : 0;
}

bool jf_patch_incomplete(void)
{
	return false;
}

bool jf_writer_usable(void)
{
	return false;
}

/* It never exists, as it should be. */
void jf_writer_none(const char *what)
{
	(void)what;
}

void jf_writer_forget(struct jf_mod *m)
{
	(void)m;
}

bool jf_sync_possible(void)
{
	return false;
}

/* For new text alone, which does not exist here. */
bool jf_sync_cores(void)
{
	return true;
}
