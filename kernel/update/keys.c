// SPDX-License-Identifier: GPL-2.0
/*
 * Jump-label keys that are counted, with the lock and without.
 *
 * The transitions of a key's count:
 *   n -> n+1	inc(), n > 0: one atomic operation, no lock
 *   n+1 -> n	dec(), n > 0: the same
 *   0 -> 1	enable(), inc(), a batch: under jf_mutex; sites are patched, then
 *		the count is set
 *   1 -> 0	disable(), dec(), a batch: under jf_mutex; the count is set, then
 *		sites are patched
 *
 * So a count above 0 means that the sites are on and stay on, and only the holder
 * of jf_mutex moves it between 0 and 1. If patching fails, jf_unfreeze() in
 * jf_core.c sets the count back to 1; a task that found 0 in between waits for the lock.
 *
 *   commit (under jf_mutex)		    jf_key_inc() without the lock
 *   0 -> 1:
 *   1. sites, with broadcasts
 *   2. enabled = 1
 *   3. smp_store_release(count, 1)	    a. cmpxchg(count, n, n + 1)
 *					    b. returns: branches are taken
 *   1 -> 0:
 *   4. cmpxchg(count, 1, 0)		    4 fails, or a does
 *   5. sites, enabled
 *
 * A work item can do the last decrement of a deferred key,
 * later. Until then "left" is 1, and the count still has that user. A caller that takes the last
 * user away in between takes this one. A caller that enables the key, by jf_key_enable() or a
 * batch, becomes that user.
 */
#include "update/commit.h"
#include "common/count.h"
#include "update/keys.h"
#include "quiesce/quiesce.h"
#include "index/state.h"

#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

/* A deferred disable that failed is tried again after so long. */
#define JF_KEY_RETRY	HZ

/*
 * True if the count can change without the lock. A read-only key must not be written to,
 * and a change of a key whose module is being unloaded is refused under the lock.
 */
static bool jf_key_is_open(const struct jf_key *key)
{
	return !(key->ent.flags & JF_ENT_RO) &&
	       READ_ONCE(key->ent.owner->state) != MODULE_STATE_GOING;
}

/* --- under the lock ------------------------------------------------------ */

static int jf_key_enable_locked(struct jf_key *key)
{
	return jf_commit_one(&key->ent, (union jf_value){ .on = true }, 0);
}

static int jf_key_disable_locked(struct jf_key *key)
{
	return jf_commit_one(&key->ent, (union jf_value){ .on = false }, 0);
}

static int jf_key_inc_locked(struct jf_key *key)
{
	int err = jf_check_key(key);

	/* Another task may have enabled it in between. */
	err = err ?: jf_count_inc(&key->count);
	return err == -EAGAIN ? jf_key_enable_locked(key) : err;
}

static int jf_key_dec_locked(struct jf_key *key)
{
	int err;

	do {
		/* One user too many is a mistake whatever the key allows. */
		if (!jf_key_count(key))
			return -EINVAL;
		err = jf_check_key(key);
		if (err)
			return err;
		err = jf_count_dec(&key->count);
		if (err == -EAGAIN)
			err = jf_commit_last(key);
		/* Another task added a user in between, and may have taken it away. */
	} while (err == -EAGAIN);
	return err;
}

static int jf_key_do(struct jf_key *key, int (*op)(struct jf_key *key),
		     bool cpuslocked)
{
	int err = jf_check_context();

	if (err)
		return err;
	jf_lock_as(cpuslocked);
	err = op(key);
	jf_unlock_as(cpuslocked);
	return err;
}

/* --- the interface ------------------------------------------------------- */

int jf_key_enable(struct jf_key *key)
{
	return jf_key_do(key, jf_key_enable_locked, false);
}
EXPORT_SYMBOL_GPL(jf_key_enable);

int jf_key_enable_cpuslocked(struct jf_key *key)
{
	return jf_key_do(key, jf_key_enable_locked, true);
}
EXPORT_SYMBOL_GPL(jf_key_enable_cpuslocked);

int jf_key_disable(struct jf_key *key)
{
	return jf_key_do(key, jf_key_disable_locked, false);
}
EXPORT_SYMBOL_GPL(jf_key_disable);

int jf_key_disable_cpuslocked(struct jf_key *key)
{
	return jf_key_do(key, jf_key_disable_locked, true);
}
EXPORT_SYMBOL_GPL(jf_key_disable_cpuslocked);

static int jf_key_inc_as(struct jf_key *key, bool cpuslocked)
{
	int err = jf_key_is_open(key) ? jf_count_inc(&key->count) : -EAGAIN;

	if (err != -EAGAIN)
		return err;
	return jf_key_do(key, jf_key_inc_locked, cpuslocked);
}

int jf_key_inc(struct jf_key *key)
{
	return jf_key_inc_as(key, false);
}
EXPORT_SYMBOL_GPL(jf_key_inc);

int jf_key_inc_cpuslocked(struct jf_key *key)
{
	return jf_key_inc_as(key, true);
}
EXPORT_SYMBOL_GPL(jf_key_inc_cpuslocked);

static int jf_key_dec_as(struct jf_key *key, bool cpuslocked)
{
	int err = jf_key_is_open(key) ? jf_count_dec(&key->count) : -EAGAIN;

	if (err != -EAGAIN)
		return err;
	return jf_key_do(key, jf_key_dec_locked, cpuslocked);
}

int jf_key_dec(struct jf_key *key)
{
	return jf_key_dec_as(key, false);
}
EXPORT_SYMBOL_GPL(jf_key_dec);

int jf_key_dec_cpuslocked(struct jf_key *key)
{
	return jf_key_dec_as(key, true);
}
EXPORT_SYMBOL_GPL(jf_key_dec_cpuslocked);

bool jf_key_inc_not_zero(struct jf_key *key)
{
	return jf_key_is_open(key) && !jf_count_inc(&key->count);
}
EXPORT_SYMBOL_GPL(jf_key_inc_not_zero);

/* --- deferred ------------------------------------------------------------ */

/* 0, also if another task has taken that user away already. */
static int jf_key_dec_left(struct jf_key *key)
{
	struct jf_key_deferred *d = jf_deferred_of(&key->ent);
	int err;

	if (!atomic_xchg(&d->left, 0) || !jf_key_count(key))
		return 0;
	err = jf_key_dec_locked(key);
	/* After -EIO it is disabled, and the log has said so. */
	if (!err || !jf_key_count(key))
		return 0;
	atomic_set(&d->left, 1);
	return err;
}

/* A timer takes a time that is further away for the past. */
static unsigned long jf_key_delay(const struct jf_key_deferred *d)
{
	return min(READ_ONCE(d->delay), MAX_JIFFY_OFFSET + 0UL);
}

/* Takes away the user that jf_key_dec_deferred() left to it. */
void jf_key_deferred_work(struct work_struct *work)
{
	struct jf_key_deferred *d = container_of(to_delayed_work(work),
						 struct jf_key_deferred, work);
	unsigned long delay = max(jf_key_delay(d), JF_KEY_RETRY + 0UL);
	int err = jf_key_do(&d->key, jf_key_dec_left, false);

	/* Its module is being unloaded, and the key with it. */
	if (!err || !jf_key_is_open(&d->key))
		return;
	pr_warn_ratelimited("%s: cannot be disabled yet (%d)\n",
			    d->key.ent.name, err);
	queue_delayed_work(jf_wq, &d->work, delay);
}
EXPORT_SYMBOL_GPL(jf_key_deferred_work);

static int jf_key_leave(struct jf_key_deferred *d)
{
	int err;

	if (!jf_key_is_open(&d->key))
		return -EBUSY;
	err = jf_count_dec(&d->key.count);
	if (err != -EAGAIN)
		return err;
	if (!jf_key_count(&d->key))
		return -EINVAL;
	/* The one user that there is may have been left to it already. */
	if (atomic_cmpxchg(&d->left, 0, 1))
		return -EINVAL;
	/* It may be pending for an earlier user, which another task took away. */
	mod_delayed_work(jf_wq, &d->work, jf_key_delay(d));
	return 0;
}

int jf_key_dec_deferred(struct jf_key_deferred *d)
{
	int err;

	/*
	 * The work must not be queued after its module is unloaded, and a caller in
	 * that module that came here by a tail call is on no stack. Pairs with
	 * synchronize_rcu() in jf_module_unload().
	 */
	rcu_read_lock();
	err = jf_key_leave(d);
	rcu_read_unlock();
	return err;
}
EXPORT_SYMBOL_GPL(jf_key_dec_deferred);

void jf_key_deferred_flush(struct jf_key_deferred *d)
{
	might_sleep();
	flush_delayed_work(&d->work);
}
EXPORT_SYMBOL_GPL(jf_key_deferred_flush);

void jf_key_unload(struct jf_ent *ent)
{
	if (ent->type != JF_ENT_KEY || !(ent->flags & JF_ENT_DEFERRED))
		return;
	/* It may have queued itself again: this waits for that, too. */
	cancel_delayed_work_sync(&jf_deferred_of(ent)->work);
}
