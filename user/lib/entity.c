// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Keys and dynamic functions, one at a time. */
#include "lib.h"

#include <limits.h>

/* NULL: its object, or that of the one that it stands in for, is not known. */
static struct jf_key *real_key(struct jf_key *key)
{
	struct jf_ctl *ctl = jf_ctl_of(&key->ent);

	return ctl ? jf_container(ctl->ent, struct jf_key, ent) : NULL;
}

/* A batch of one, with the lock held. */
static int set_locked(struct jf_ent *ent, uintptr_t value)
{
	struct jf_change change = jf_change_of(ent, value);
	struct jf_batch b;

	jf_batch_init(&b);
	b.changes = &change;
	return jf_commit_locked(&b, false);
}

static int key_set(struct jf_key *key, bool on)
{
	int err = jf_lock_to_change();

	if (err)
		return err;
	err = set_locked(&key->ent, on);
	jf_unlock();
	return err;
}

int jf_key_enable(struct jf_key *key)
{
	return key_set(key, true);
}

int jf_key_disable(struct jf_key *key)
{
	return key_set(key, false);
}

static void set_count(struct jf_key *key, int count)
{
	struct jf_ctl *ctl = jf_ctl_of(&key->ent), *p;

	__atomic_store_n(&key->count, count, __ATOMIC_RELAXED);
	for (p = ctl ? ctl->proxies : NULL; p; p = p->next_proxy)
		__atomic_store_n(&jf_container(p->ent, struct jf_key, ent)->count,
				 count, __ATOMIC_RELAXED);
}

int jf_key_inc(struct jf_key *key)
{
	int err = jf_lock_to_change(), users;

	if (err)
		return err;
	key = real_key(key);
	users = key ? key->count : 0;
	if (!key)
		err = -ENODEV;
	else if (users == INT_MAX)
		err = -EOVERFLOW;
	else if (!users || jf_patch_behind())
		err = set_locked(&key->ent, true);
	/* Then all values count as set. */
	if ((!err || err == -EIO) && users > 0)
		set_count(key, users + 1);
	jf_unlock();
	return err;
}

int jf_key_dec(struct jf_key *key)
{
	int err = jf_lock_to_change();

	if (err)
		return err;
	key = real_key(key);
	if (!key)
		err = -ENODEV;
	else if (key->count <= 0)
		err = -EINVAL;
	else if (key->count > 1)
		set_count(key, key->count - 1);
	else
		err = set_locked(&key->ent, false);
	jf_unlock();
	return err;
}

int __jf_func_update(struct jf_func *f, void *func)
{
	int err = jf_lock_to_change();

	if (err)
		return err;
	err = set_locked(&f->ent, (uintptr_t)jf_func_target(f, func));
	jf_unlock();
	return err;
}

/*
 * Without the lock, in any context: so what the library knows of it, which may be gone
 * by now, is not looked at. What an import calls until it is known follows all changes of
 * the real one, which would call itself if that became its target: the real one is asked.
 */
void *__jf_func_query(const struct jf_func *f)
{
	/*
	 * Before the flags. Pairs with the store in know_null(), which takes JF_ENT_UNKNOWN
	 * away first: where it is seen, @init still leads to the exporter.
	 */
	void *init = __atomic_load_n(&f->init, __ATOMIC_ACQUIRE), *func;
	unsigned int flags = __atomic_load_n(&f->ent.flags, __ATOMIC_RELAXED);

	if (flags & JF_ENT_UNKNOWN)
		f = jf_container(*(struct jf_ent *const *)init, struct jf_func, ent);
	func = __atomic_load_n(&f->func, __ATOMIC_RELAXED);
	return flags & (JF_ENT_NULL_OK | JF_ENT_RET0) && func == init ? NULL : func;
}
