// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The tables of an object that is loaded: they are checked, and their contents are entered. */
#include "object.h"

static int say_bad(const struct jf_mod *m, const char *what)
{
	jf_say(false, "%s: %s; its branches and calls stay as compiled", m->name, what);
	return -EINVAL;
}

/*
 * Its tables come later, so how many there are is not known yet; but all that are of
 * one array say the same of themselves.
 */
static bool will_be(const struct jf_look *look, const struct jf_ent *first, uint32_t i)
{
	const struct jf_object *o = first->owner;
	const struct jf_ent *ent = jf_ent_element(first, i);
	size_t before = first->type == JF_ENT_KEY ? JF_KEY_ENT : JF_FUNC_ENT;

	return jf_look_holds(look, o, sizeof(*o)) && o->magic == JF_TABLE_MAGIC &&
	       o->rec_size == JF_TABLE_REC_SIZE &&
	       jf_look_holds(look, (const char *)ent - before, before + sizeof(*ent)) &&
	       ent->type == first->type && ent->owner == o && ent->name == first->name;
}

static bool is_ours(const struct jf_mod *coming, const struct jf_ent *ent)
{
	return jf_mod_holds(coming, ent, sizeof(*ent)) || jf_mod_of((uintptr_t)ent);
}

/*
 * What @ctl, the entity number @i of @rec, stands in for. The constructors of an object
 * run after those of the objects that it is linked with. So a program that exports
 * something is known later than a library of it that imports that.
 */
static bool find_real(const struct jf_look *look, const struct jf_ent_rec *rec, uint32_t i,
		      struct jf_ctl *ctl)
{
	struct jf_ent *first;
	struct jf_ctl *real;

	if (!jf_look_holds(look, rec->origin, sizeof(*rec->origin)))
		return false;
	first = *rec->origin;
	if (!jf_look_holds(look, first, sizeof(*first)) || first == ctl->ent ||
	    first->type != ctl->ent->type)
		return false;
	real = is_ours(ctl->mod, first) ? jf_ctl_of(first) : NULL;
	/* Another copy of this library knows it, with a lock of its own. */
	if (!real && first->ctl)
		return false;
	if (real) {
		ctl->real = real + i;
		return i < real->rest;
	}
	ctl->wants = first;
	ctl->nth = i;
	return will_be(look, first, i);
}

/* An inline variable of C++ has a record in each source file that knows it. */
static bool is_known(const struct jf_mod *m, const struct jf_ent_rec *rec,
		     const struct jf_ent *ent, uint32_t i)
{
	const struct jf_ctl *ctl = ent->ctl;

	return ctl >= m->ctls && ctl < m->ctls + m->num_ctls && ctl->ent == ent &&
	       ctl->rest == rec->num - i && !ctl->real && !rec->origin;
}

/*
 * Parts of an object that were linked to one before, and keep hidden names for themselves
 * (ld -r, objcopy --localize-hidden), have a struct jf_object each. But the linker gives
 * them the same bounds: of all records.
 */
static bool has_tables_of(const struct jf_mod *m, const struct jf_object *o)
{
	const struct jf_object *own = m->object;

	return o == own || (jf_mod_holds(m, o, sizeof(*o)) && o->magic == own->magic &&
			    o->rec_size == own->rec_size && o->sites == own->sites &&
			    o->sites_end == own->sites_end && o->on == own->on &&
			    o->on_end == own->on_end && o->now == own->now &&
			    o->now_end == own->now_end && o->ents == own->ents &&
			    o->ents_end == own->ents_end);
}

bool jf_tables_known(const struct jf_object *o)
{
	const struct jf_mod *m = jf_mod_of((uintptr_t)o);

	return m && !m->unloading && has_tables_of(m, o);
}

/* Entity number @i of @rec. */
static int add_ctl(struct jf_mod *m, const struct jf_look *look, const struct jf_ent_rec *rec,
		   uint32_t i)
{
	struct jf_ent *ent = (struct jf_ent *)((char *)rec->ent + (size_t)i * rec->stride);
	struct jf_ctl *ctl = &m->ctls[m->num_ctls];
	size_t size = ent->type == JF_ENT_KEY ? sizeof(struct jf_key) :
						sizeof(struct jf_func);

	if (is_known(m, rec, ent, i))
		return 0;
	if (!has_tables_of(m, ent->owner) || ent->type > JF_ENT_KEY || !ent->name ||
	    ent->ctl || rec->stride < size)
		return say_bad(m, "a table names what is not this object's");
	ctl->ent = ent;
	ctl->mod = m;
	ctl->rest = rec->num - i;
	ctl->at = i;
	if (rec->origin && !find_real(look, rec, i, ctl))
		return say_bad(m, "what it imports is not there");
	ent->ctl = ctl;
	m->num_ctls++;
	if (ent->type == JF_ENT_FUNC) {
		ctl->next_func = m->funcs;
		m->funcs = ctl;
	}
	return 0;
}

/* A record of none says that the named entity is exported, all of it if it is an array. */
static bool is_export(const struct jf_mod *m, const struct jf_ent_rec *rec)
{
	return !rec->num && !rec->stride && !rec->origin && jf_mod_holds(m, rec->ent, sizeof(*rec->ent));
}

static void note_export(struct jf_mod *m, const struct jf_ent *ent)
{
	struct jf_ctl *ctl = ent->ctl;
	size_t i;

	if (ctl < m->ctls || ctl >= m->ctls + m->num_ctls || ctl->ent != ent)
		return;
	for (i = 0; i < ctl->rest; i++)
		ctl[i].exported = true;
}

static int add_ctls(struct jf_mod *m, const struct jf_look *look)
{
	const struct jf_object *o = m->object;
	const struct jf_ent_rec *rec;
	size_t num = 0;
	uint32_t i;
	int err;

	for (rec = o->ents; rec < o->ents_end; rec++) {
		if (is_export(m, rec))
			continue;
		if (!rec->num || !rec->stride ||
		    !jf_mod_holds(m, rec->ent, (size_t)rec->num * rec->stride -
			    rec->stride + sizeof(struct jf_ent)))
			return say_bad(m, "a table leads out of this object");
		num += rec->num;
	}
	m->ctls = jf_zalloc((num + 1) * sizeof(*m->ctls));
	if (!m->ctls)
		return -ENOMEM;
	for (rec = o->ents; rec < o->ents_end; rec++)
		for (i = 0; i < rec->num; i++) {
			err = add_ctl(m, look, rec, i);
			if (err)
				return err;
		}
	for (rec = o->ents; rec < o->ents_end; rec++)
		if (!rec->num)
			note_export(m, rec->ent);
	return 0;
}

/* There may be none. */
static bool has_list(const struct jf_mod *m, const void *first, const void *end)
{
	uintptr_t from = (uintptr_t)first, to = (uintptr_t)end;

	return from <= to && (!from || jf_mod_holds(m, first, to - from));
}

static int check_object(struct jf_mod *m)
{
	const struct jf_object *o = m->object;

	if (o->magic != JF_TABLE_MAGIC || o->rec_size != JF_TABLE_REC_SIZE)
		return say_bad(m, "was built for another version of libjumpfunc");
	if (!m->end || !has_list(m, o->sites, o->sites_end) || !has_list(m, o->on, o->on_end) ||
	    !has_list(m, o->now, o->now_end) || !has_list(m, o->ents, o->ents_end))
		return say_bad(m, "a table is not in this object");
	return 0;
}

int jf_tables_add(struct jf_mod *m, const struct jf_look *look)
{
	int err = m->texts ? check_object(m) : -ENOMEM;

	if (!err)
		err = add_ctls(m, look);
	if (!err)
		err = jf_sites_now(m);
	if (err == -ENOMEM)
		say_bad(m, "there is no memory for its tables");
	return err;
}

void jf_mod_free(struct jf_mod *m)
{
	size_t i;

	for (i = 0; i < m->num_ctls; i++)
		m->ctls[i].ent->ctl = NULL;
	jf_relays_free(m);
	jf_sites_free(m);
	jf_free(m->ctls);
	jf_writer_forget(m);
	jf_free(m->path);
	jf_free(m->texts);
	jf_free(m);
}
