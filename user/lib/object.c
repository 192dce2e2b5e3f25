// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Objects that are loaded and closed: the program, the shared objects that it is
 * linked with, and those that it opens and closes.
 *
 *   loaded	Its tables are checked, its entities and sites entered, and its
 *		sites patched to the present values. If this is the only thread,
 *		none executes them; else it is done as at any other time. If
 *		something is wrong with the tables nothing is written, and a
 *		message names the error: as compiled, sites are correct and slow. Its import
 *		from an object that is loaded later has the value of that object, and is linked
 *		when that is loaded.
 *   closed	Probes in it are taken away, and dynamic functions that lead into
 *		it fall back. When all read sections that began before are over,
 *		its sites and entities are forgotten. The program itself is never
 *		closed. While the process exits, an object may be one that is closed
 *		or one that stays; threads run on, and are waited for only shortly:
 *		after that it must not be unmapped. They may change its entities, too, which is
 *		refused: so its data is not freed.
 */
#include "object.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* jf_object.mod of one that was refused, and of one whose tables another one brought. */
static struct jf_mod refused, shared;
/* Those that were closed when the process exited. */
static struct jf_mod *closed_at_exit;

/* --- an object is loaded ---------------------------------------------------------- */

static void count_mod(const struct jf_mod *m, uint64_t by)
{
	size_t i;

	jf_stats.objects += by;
	jf_stats.sites += by * (m->num_sites + m->num_later);
	for (i = 0; i < m->num_ctls; i++)
		if (m->ctls[i].ent->type == JF_ENT_KEY)
			jf_stats.keys += by;
		else
			jf_stats.funcs += by;
}

static void enter(struct jf_mod *m)
{
	m->next = jf_mods;
	/* Pairs with jf_site_find(): a handler that finds @m finds its tables. */
	__atomic_store_n(&jf_mods, m, __ATOMIC_RELEASE);
	jf_mods_version++;
	count_mod(m, 1);
}

void __jf_object_register(struct jf_object *o)
{
	static uint64_t objects;
	static bool at_exit;
	struct jf_look look = { .m = { .object = o, .name = "an object" } };
	bool is_first = false, any_sdt = false;
	struct jf_mod *m;
	uint64_t lost;

	/* Each of its source files calls. */
	if (o->mod)
		return;
	jf_look_around(&look);
	jf_lock();
	if (jf_tables_known(o)) {
		o->mod = &shared;
		goto unlock;
	}
	lost = jf_stats.trampolined;
	m = jf_zalloc(sizeof(*m));
	if (!m) {
		jf_say(false, "no memory for an object; its branches and calls stay as compiled");
		jf_stats.refused++;
		o->mod = &refused;
		goto unlock;
	}
	*m = look.m;
	jf_look_path(m, look.path);
	jf_look_texts(m, &look);
	m->serial = ++objects;
	if (jf_tables_add(m, &look)) {
		jf_stats.refused++;
		o->mod = &refused;
		jf_mod_free(m);
		goto unlock;
	}
	jf_proxies_link(m);
	/* Parts that were linked to one before may import from each other. */
	jf_proxies_link_waiting(m, m);
	enter(m);
	o->mod = m;
	if (lost != jf_stats.trampolined)
		jf_say(true, "%s: %llu calls were not found, and go through trampolines",
		       m->name, (unsigned long long)(jf_stats.trampolined - lost));
	jf_mod_present(m);
	jf_list_enable(m);
	any_sdt = jf_sdt_has_any(m);
	/* Those of the program come last, and are always in time. */
	is_first = m->program || !at_exit;
	at_exit = true;
unlock:
	jf_unlock();
	jf_sdt_loaded(any_sdt);
	/* This may allocate. */
	if (is_first)
		jf_at_exit();
	free(look.path);
	free(look.span);
}

/* --- an object is closed ---------------------------------------------------------- */

/* The dynamic function that @ctl is of, if it is another object's and leads into that one. */
static struct jf_func *leads_into(const struct jf_ctl *ctl, const struct jf_mod *closed)
{
	struct jf_func *f = jf_container(ctl->ent, struct jf_func, ent);

	if (ctl->real || ctl->wants || ctl->mod == closed ||
	    !jf_mod_has(closed, (uintptr_t)f->func))
		return NULL;
	return f;
}

/* When text cannot be written, or memory is short. */
static int redirect_pointers(const struct jf_mod *closed)
{
	const struct jf_mod *m;
	const struct jf_ctl *ctl;
	struct jf_func *f;
	int err = 0;

	for (m = jf_mods; m; m = m->next)
		for (ctl = m->funcs; ctl; ctl = ctl->next_func) {
			f = leads_into(ctl, closed);
			if (f && !jf_ent_store_only(&f->ent, (uintptr_t)f->init))
				err = -EOPNOTSUPP;
		}
	return err;
}

/* All dynamic functions that lead into it fall back. */
static int redirect(const struct jf_mod *closed)
{
	const struct jf_mod *m;
	const struct jf_ctl *ctl;
	struct jf_func *f;
	struct jf_batch b;
	int err;

	jf_batch_init(&b);
	for (m = jf_mods; m; m = m->next)
		for (ctl = m->funcs; ctl; ctl = ctl->next_func) {
			f = leads_into(ctl, closed);
			if (!f)
				continue;
			jf_say(true, "%s: leads into %s, which is closed: falls back",
			       f->ent.name, closed->name);
			jf_batch_add(&b, &f->ent, (uintptr_t)f->init);
		}
	err = jf_commit_locked(&b, true);
	jf_batch_drop(&b);
	/*
	 * A site that is not written to its end is a breakpoint of ours, whose handler knows, or is
	 * as it was: that led there by a pointer (jf_site_may_lead()), which is stored by now.
	 */
	if (!err || err == -EIO)
		return 0;
	err = redirect_pointers(closed);
	if (err)
		jf_say(false, "%s is closed, but cannot be unlinked: %s", closed->name,
		       jf_error(-err));
	return err;
}

/*
 * The dynamic linker unmaps all of an object at once, which fails if one page is sealed.
 * The remapping writer could not replace pages of sealed text any more: it is left out.
 */
static long seal(const struct jf_mod *m)
{
	const long mseal = 462;
	size_t page = jf_page_size();
	uintptr_t start = m->start & ~(page - 1), end = (m->end + page - 1) & ~(page - 1);

	if (m->text >= start + page)
		end = start + page;
	else if (m->text_end <= end - page)
		start = end - page;
	return syscall(mseal, start, end - start, 0UL);
}

/*
 * A thread is in the object, or text leads there and cannot be written any more. The
 * last resort is to seal it, so that the linker cannot unmap it. Kernels before 6.10
 * cannot do that. @quiet: the linker may not be about to unmap it.
 */
static bool keep_mapped(const struct jf_mod *m, bool quiet)
{
	if (seal(m)) {
		jf_say(quiet, "%s cannot be kept: %s", m->name, jf_error(errno));
		return false;
	}
	jf_say(quiet, "%s stays in memory", m->name);
	return true;
}

/*
 * dlclose() holds the lock of the dynamic linker. If nothing was replaced since all
 * sections were seen to be over, there is no thread to wait for. Else a probe may wait
 * for that lock, for dlsym() or its users. Both would wait for ever. So after some
 * time the object stays, if the kernel can do that. It stays at once where a probe
 * closes it, or a section: no thread can wait for itself, and the probe that comes next
 * in an image may be in the object. False: it stays.
 */
static bool wait_for_users(const struct jf_mod *m, uint64_t replacements, bool exits)
{
	uint64_t limit = exits ? JF_SOON_NS : JF_CLOSE_NS;
	bool left;

	if (jf_in_section() && !jf_quiesced(replacements) && keep_mapped(m, exits))
		return false;
	left = jf_callbacks_wait(m, limit);
	if ((left || exits) && (jf_quiesced(replacements) || jf_wait_readers_for(limit)))
		return true;
	/* It stays known: a thread in it finds sites that follow their keys. */
	if (keep_mapped(m, exits) || exits)
		return false;
	jf_callbacks_wait(m, UINT64_MAX);
	return jf_wait_readers_for(UINT64_MAX);
}

static void forget(struct jf_object *o)
{
	struct jf_mod *m = o->mod, **p;
	bool exits = jf_exits();
	uint64_t replacements;
	int err, fall_err;

	if (!m || m == &refused || m == &shared || m->program)
		return;
	if (!exits)
		jf_lock();
	else if (!jf_lock_soon())
		return;
	/* Each of its source files calls; one that waited in vain is enough. */
	if (o->mod != m || m->unloading) {
		jf_unlock();
		return;
	}
	m->unloading = true;
	err = jf_trace_object_unload(m);
	fall_err = redirect(m);
	replacements = jf_replacements();
	jf_unlock();
	if (err || fall_err) {
		keep_mapped(m, false);
		return;
	}
	/*
	 * A thread in a section may need the lock. The sites are still known: a
	 * thread that met an INT3 may be on its way to the handler.
	 */
	if (!wait_for_users(m, replacements, exits))
		return;
	jf_lock();
	jf_proxies_unlink(m);
	for (p = &jf_mods; *p != m; p = &(*p)->next)
		;
	/* Pairs with jf_site_find(): those after it are as complete as before. */
	__atomic_store_n(p, m->next, __ATOMIC_RELEASE);
	jf_mods_version++;
	o->mod = NULL;
	count_mod(m, (uint64_t)-1);
	jf_unlock();
	jf_wait_handlers();
	jf_lock();
	if (exits) {
		m->next = closed_at_exit;
		closed_at_exit = m;
	} else {
		jf_mod_free(m);
	}
	jf_unlock();
}

void __jf_object_unregister(struct jf_object *o)
{
	bool paused = jf_fork_pause();

	forget(o);
	jf_fork_resume(paused);
}
