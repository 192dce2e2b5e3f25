// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Keys, dynamic functions and tracepoints by name: a list, changes of many keys, and what
 * the environment enables when an object is loaded.
 *
 * The list is a copy (copy.c), so that callbacks have no lock.
 *
 * A tracepoint has no record of its own. It is known by its dynamic function, which
 * has JF_ENT_TRACE; its key has the same name after another prefix.
 */
#include "lib.h"
#include "common/glob.h"

#include <stdlib.h>
#include <string.h>

#include <jumpfunc/list.h>

/* As DEFINE_JF_TRACE() has them. */
#define TRACE_FUNC	"__jf_tp_"
#define TRACE_KEY	"__jf_on_"

/* --- names ------------------------------------------------------------------------ */

static bool begins_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/*
 * True if @pattern, of @len characters, matches all of @s. Brackets in names of C++ functions are
 * ordinary characters.
 */
bool jf_name_fits(const char *s, const char *pattern, size_t len)
{
	return jf_glob_fits(s, pattern, pattern + len, jf_glob_one);
}

static const char *file_of(const struct jf_mod *m)
{
	const char *path = m->path ? m->path : "", *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * NAME or OBJECT:NAME, of @len characters; names of functions in C++ have no colon here, but
 * those of files may.
 */
static bool is_named(const struct jf_mod *m, const char *name, const char *pattern, size_t len)
{
	const char *colon = memrchr(pattern, ':', len);

	/* Those of SDT probes have a colon themselves. */
	if (!colon || jf_name_fits(name, pattern, len))
		return jf_name_fits(name, pattern, len);
	return jf_name_fits(file_of(m), pattern, (size_t)(colon - pattern)) &&
	       jf_name_fits(name, colon + 1, len - (size_t)(colon + 1 - pattern));
}

static bool is_sdt(const struct jf_ctl *ctl)
{
	return ctl->ent->type == JF_ENT_KEY && ctl->ent->flags & JF_ENT_SDT;
}

static bool is_trace(const struct jf_ctl *ctl)
{
	return is_sdt(ctl) || (ctl->ent->type == JF_ENT_FUNC && ctl->ent->flags & JF_ENT_TRACE &&
			       begins_with(ctl->ent->name, TRACE_FUNC));
}

/* It stands in for nothing, and its object stays. */
bool jf_ctl_is_own(const struct jf_ctl *ctl)
{
	return !ctl->real && !ctl->wants && !ctl->mod->unloading;
}

static bool is_key(const struct jf_ctl *ctl)
{
	return jf_ctl_is_own(ctl) && ctl->ent->type == JF_ENT_KEY && !is_sdt(ctl) &&
	       !begins_with(ctl->ent->name, TRACE_KEY);
}

static bool is_shown(const struct jf_ctl *ctl)
{
	return ctl->ent->type == JF_ENT_KEY && !is_sdt(ctl) ? is_key(ctl) : jf_ctl_is_own(ctl);
}

static const char *name_of(const struct jf_ctl *ctl)
{
	return ctl->ent->name + (is_trace(ctl) && !is_sdt(ctl) ? strlen(TRACE_FUNC) : 0);
}

/* --- the list --------------------------------------------------------------------- */

size_t jf_ctl_sites(struct jf_ctl *ctl)
{
	struct jf_ctl *p;
	size_t num = jf_sites_num(ctl);

	for (p = ctl->proxies; p; p = p->next_proxy)
		num += jf_sites_num(p);
	return num;
}

/* The key of a tracepoint: in the same source file its record is the one in front. */
static struct jf_ctl *key_of_trace(const struct jf_ctl *call)
{
	const struct jf_mod *m = call->mod;
	size_t at = (size_t)(call - m->ctls), i;

	for (i = 0; i < m->num_ctls; i++) {
		struct jf_ctl *c = &m->ctls[(at + m->num_ctls - 1 - i) % m->num_ctls];

		if (c->ent->type == JF_ENT_KEY && begins_with(c->ent->name, TRACE_KEY) &&
		    !strcmp(c->ent->name + strlen(TRACE_KEY), name_of(call)))
			return c;
	}
	return NULL;
}

/* Without the two strings. */
static void describe(struct jf_ctl *ctl, struct jf_info *info)
{
	struct jf_ctl *key;

	*info = (struct jf_info){
		.kind = is_trace(ctl) ? JF_KIND_TRACE :
			ctl->ent->type == JF_ENT_KEY ? JF_KIND_KEY : JF_KIND_FUNC,
		.exported = ctl->exported, .nth = ctl->at, .num = ctl->at + ctl->rest,
	};
	if (info->kind == JF_KIND_KEY) {
		info->key = jf_key_of(ctl->ent);
		info->on = jf_key_enabled(info->key);
		info->users = jf_key_count(info->key);
		info->sites = jf_ctl_sites(ctl);
	} else if (info->kind == JF_KIND_FUNC) {
		info->target = __jf_func_query(jf_func_of(ctl->ent));
		info->on = info->target;
		info->sites = jf_ctl_sites(ctl);
	} else {
		key = is_sdt(ctl) ? ctl : key_of_trace(ctl);
		info->users = (int)jf_trace_probes(ctl->ent);
		info->on = info->users;
		info->sites = key ? jf_ctl_sites(key) : 0;
	}
}

static void add_all(struct jf_copy *c, const struct jf_mod *m)
{
	const char *object = NULL;
	struct jf_info info;
	size_t i;

	for (i = 0; i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i];

		if (!is_shown(ctl))
			continue;
		if (!object)
			object = jf_copy_keep(c, m->path ? m->path : "");
		describe(ctl, &info);
		info.name = jf_copy_keep(c, name_of(ctl));
		info.object = object;
		jf_copy_add(c, &info);
	}
}

/* Objects are added in front: from the first one on. */
static void add_from(struct jf_copy *c, const struct jf_mod *m)
{
	const struct jf_mod *last = NULL, *at;

	while (last != m) {
		for (at = m; at->next != last; at = at->next)
			;
		add_all(c, at);
		last = at;
	}
}

static void add_objects(struct jf_copy *c)
{
	if (jf_mods)
		add_from(c, jf_mods);
}

struct visitor {
	int	(*visit)(const struct jf_info *info, void *arg);
	void	*arg;
};

static int show(const void *info, void *arg)
{
	const struct visitor *v = arg;

	return v->visit(info, v->arg);
}

int jf_list(int (*visit)(const struct jf_info *info, void *arg), void *arg)
{
	struct visitor v = { visit, arg };

	return jf_copy_show(sizeof(struct jf_info), add_objects, show, &v);
}

/* --- changes by name -------------------------------------------------------------- */

/* With the lock held: the entities of @m, and their number, or -ENOMEM. */
static int add_keys(struct jf_batch *b, const struct jf_mod *m, const char *names, size_t len, bool on)
{
	int num = 0, err;
	size_t i;

	for (i = 0; i < m->num_ctls; i++) {
		if (!is_key(&m->ctls[i]) || !is_named(m, m->ctls[i].ent->name, names, len))
			continue;
		err = jf_batch_add(b, m->ctls[i].ent, on);
		if (err)
			return err;
		num++;
	}
	return num;
}

static int add_all_keys(struct jf_batch *b, const char *names, bool on)
{
	const struct jf_mod *m;
	int num = 0, more = 0;

	for (m = jf_mods; m && more >= 0; m = m->next) {
		more = add_keys(b, m, names, strlen(names), on);
		num += more;
	}
	return more < 0 ? more : num;
}

int jf_keys_batch_set(struct jf_batch *b, const char *names, bool on)
{
	int num = jf_lock_to_change();

	if (num) {
		b->err = b->err ?: num;
		return num;
	}
	num = add_all_keys(b, names, on);
	jf_unlock();
	return num;
}

int jf_keys_set(const char *names, bool on)
{
	int num, err = jf_lock_to_change();
	struct jf_batch b;

	if (err)
		return err;
	jf_batch_init(&b);
	num = add_all_keys(&b, names, on);
	err = num ? jf_commit_locked(&b, false) : -ENOENT;
	jf_batch_drop(&b);
	jf_unlock();
	return err ? err : num;
}

/* --- the environment -------------------------------------------------------------- */

/**
 * struct wish - one of JUMPFUNC_ENABLE
 * @next:  the next one
 * @found: some key has had such a name
 * @trace: a tracepoint has had it
 * @len:   of @names
 * @names: the pattern
 */
struct wish {
	struct wish	*next;
	bool		found;
	bool		trace;
	size_t		len;
	char		names[];
};

static struct wish *wishes;
static bool program_loaded;
/* There may be another copy of the library, which knows all objects. */
static bool some_loaded;

static void add_wish(const char *names, size_t len)
{
	struct wish **last = &wishes, *w = jf_zalloc(sizeof(*w) + len);

	if (!w) {
		jf_say(false, "no memory for JUMPFUNC_ENABLE=%.*s", (int)len, names);
		return;
	}
	memcpy(w->names, names, len);
	w->len = len;
	while (*last)
		last = &(*last)->next;
	*last = w;
}

/* With the lock held. Nothing points to the environment: programs write over it. */
static void read_wishes(void)
{
	static bool known;
	const char *s = known ? NULL : secure_getenv("JUMPFUNC_ENABLE");
	size_t len;

	known = true;
	while (s && *s) {
		len = strcspn(s, ",");
		if (len)
			add_wish(s, len);
		s += len + (s[len] == ',');
	}
}

static void note_traces(struct wish *w, const struct jf_mod *m)
{
	size_t i;

	for (i = 0; i < m->num_ctls && !w->trace; i++)
		w->trace = jf_ctl_is_own(&m->ctls[i]) && is_trace(&m->ctls[i]) &&
			   is_named(m, name_of(&m->ctls[i]), w->names, w->len);
}

static void say_missing(const struct wish *w, const char *when)
{
	if (!w->found)
		jf_say(true, "JUMPFUNC_ENABLE: %.*s is the name of %s%s", (int)w->len, w->names,
		       w->trace ? "a tracepoint, which is on while it has probes, and of no key" : "no key",
		       when);
}

void jf_list_enable(const struct jf_mod *m)
{
	struct jf_batch b;
	struct wish *w;
	int num, err;

	some_loaded = true;
	read_wishes();
	for (w = wishes; w; w = w->next) {
		jf_batch_init(&b);
		num = add_keys(&b, m, w->names, w->len, true);
		err = num > 0 ? jf_commit_locked(&b, false) : num;
		jf_batch_drop(&b);
		w->found |= num > 0;
		note_traces(w, m);
		if (err)
			jf_say(false, "JUMPFUNC_ENABLE: %.*s of %s cannot be enabled: %s", (int)w->len,
			       w->names, m->name, jf_error(-err));
		else if (num)
			jf_say(true, "JUMPFUNC_ENABLE: %.*s has enabled %d of the keys of %s",
			       (int)w->len, w->names, num, m->name);
	}
	if (!m->program || program_loaded)
		return;
	program_loaded = true;
	for (w = wishes; w; w = w->next)
		say_missing(w, " so far");
}

__attribute__((__destructor__))
static void wishes_end(void)
{
	const struct wish *w;

	/* After the destructors of all objects that use this one. */
	for (w = some_loaded ? wishes : NULL; w; w = w->next)
		say_missing(w, "");
}

/* Later, other threads may change the environment. */
__attribute__((__constructor__(JF_BEGINS)))
static void wishes_begin(void)
{
	jf_lock();
	read_wishes();
	jf_unlock();
}
