// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Keys and dynamic functions, one at a time. */
#include "lib.h"

#include <limits.h>

#include "common/count.h"

/* NULL: its object is not known, or the object of the entity that it stands in for. */
static struct jf_key *real_key(struct jf_key *key)
{
	struct jf_ctl *ctl = jf_ctl_of(&key->ent);

	return ctl ? jf_container(ctl->ent, struct jf_key, ent) : NULL;
}

/* A batch of one, with the lock held. */
static int commit_one(struct jf_change *change)
{
	struct jf_batch b;

	jf_batch_init(&b);
	b.changes = change;
	return jf_commit_locked(&b, false);
}

static int set_locked(struct jf_ent *ent, uintptr_t value)
{
	struct jf_change change = jf_change_of(ent, value);

	return commit_one(&change);
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

/*
 * A key that others stand in for, or that stands in for one. Objects with these may be closed at
 * any time, but not before the look is over: see __jf_object_unregister().
 */
static int count_shared(const struct jf_ctl *ctl, int (*count)(int *users))
{
	const struct jf_ctl *real;
	int err, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	jf_look_begin();
	/* Pairs with jf_proxies_unlink(): until it is NULL, it is there. */
	real = __atomic_load_n(&ctl->real, __ATOMIC_ACQUIRE);
	if (!real)
		real = ctl;
	err = count(&jf_key_of(real->ent)->count);
	if (!err)
		jf_count_follow(real);
	jf_look_end();
	pthread_setcancelstate(state, NULL);
	return err;
}

/*
 * Without the lock, while there are users: see common/count.h. -EAGAIN: there are not, or
 * not enough, or an earlier change has to be tried again.
 */
static int count_alone(struct jf_key *key, int (*count)(int *users))
{
	/* Pairs with jf_proxies_link_waiting(). It stays as long as the caller's object does. */
	const struct jf_ctl *ctl = __atomic_load_n(&key->ent.ctl, __ATOMIC_ACQUIRE);
	int err, state;

	if (!ctl || jf_patch_incomplete())
		return -EAGAIN;
	if (__atomic_load_n(&ctl->real, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&ctl->proxies, __ATOMIC_RELAXED))
		return count_shared(ctl, count);
	err = count(&key->count);
	/*
	 * Pairs with link_proxy(): one that was linked in between has copied the number, or is
	 * seen.
	 */
	if (err || !__atomic_load_n(&ctl->proxies, __ATOMIC_SEQ_CST))
		return err;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	jf_look_begin();
	jf_count_follow(ctl);
	jf_look_end();
	pthread_setcancelstate(state, NULL);
	return 0;
}

static int inc_locked(struct jf_key *of)
{
	struct jf_key *key = real_key(of);
	struct jf_change first;
	int err, counted;

	if (!key)
		return -ENODEV;
	if (jf_count_load(&key->count) == INT_MAX)
		return -EOVERFLOW;
	first = jf_change_of(&key->ent, true);
	err = jf_count_load(&key->count) <= 0 || jf_patch_incomplete() ? commit_one(&first) : 0;
	/* After -EIO all values count as set. */
	if ((err && err != -EIO) || first.turns)
		return err;
	counted = jf_count_inc(&key->count);
	if (!counted)
		jf_count_follow(jf_ctl_of(&key->ent));
	return counted ?: err;
}

int jf_key_inc(struct jf_key *key)
{
	int err = count_alone(key, jf_count_inc);

	if (err != -EAGAIN)
		return err;
	err = jf_lock_to_change();
	if (err)
		return err;
	err = inc_locked(key);
	jf_unlock();
	return err;
}

static int dec_locked(struct jf_key *of)
{
	struct jf_key *key = real_key(of);
	struct jf_change last;
	int err;

	if (!key)
		return -ENODEV;
	do {
		if (jf_count_load(&key->count) <= 0)
			return -EINVAL;
		if (!jf_count_dec(&key->count)) {
			jf_count_follow(jf_ctl_of(&key->ent));
			return 0;
		}
		last = jf_change_of(&key->ent, false);
		err = commit_one(&last);
		/* Another user came in between. */
	} while (last.shared);
	return err;
}

int jf_key_dec(struct jf_key *key)
{
	int err = count_alone(key, jf_count_dec);

	if (err != -EAGAIN)
		return err;
	err = jf_lock_to_change();
	if (err)
		return err;
	err = dec_locked(key);
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
 * Without the lock, in any context: so the library's data about it, which may be freed by now, is
 * not looked at. The first target of an import follows all changes of the real one, which would
 * call itself if that became its target: the real one is asked.
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
