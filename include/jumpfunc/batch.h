/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Batches: change any number of keys together, or none of them.
 *
 * API:
 *   jf_batch_init(&b)			begin an empty batch
 *   dynfunc_batch_set(&b, name, func)	add "name shall call func"
 *   jf_key_batch_set(&b, &key, on)	add "key shall be on or off"
 *   jf_batch_commit(&b)		do all of it, or nothing
 *   jf_batch_abort(&b)			forget it
 *   jf_quiesce()			wait until nobody runs what was replaced
 *
 * Example:
 *   struct jf_batch b;
 *
 *   jf_batch_init(&b);
 *   dynfunc_batch_set(&b, rx_hook, rx_count);
 *   dynfunc_batch_set(&b, tx_hook, tx_count);
 *   jf_key_batch_set(&b, &hooks_on, true);
 *   err = jf_batch_commit(&b);
 *
 * How it works: commit checks everything first: that each change is legal, that
 * each new instruction reaches its target, that each site holds the bytes that
 * jumpfunc left there, that there is memory for all of it. Only then does it
 * write, in one INT3 transaction with three broadcasts to all CPUs, whatever
 * the number of sites. A batch that changes nothing sends none.
 *
 * Caveats: all or nothing speaks of the end state. While commit runs, a CPU may
 * meet one site already changed and another one not yet. After it returned
 * zero, every new call goes to the new targets; calls that began before may
 * still be running in the old ones until jf_quiesce() returned.
 */
#ifndef JUMPFUNC_BATCH_H
#define JUMPFUNC_BATCH_H

#include <linux/list.h>
#include <linux/types.h>

struct jf_func;
struct jf_key;

/**
 * struct jf_batch - changes that wait to be committed together
 * @changes: in the order in which they were added
 * @err:     the first error met while adding; commit returns it
 *
 * Belongs to one task at a time. The fields are private to jumpfunc.
 */
struct jf_batch {
	struct list_head	changes;
	int			err;
};

/**
 * jf_batch_init() - begin an empty batch
 * @b: the batch
 *
 * Context: any.
 */
void jf_batch_init(struct jf_batch *b);

/**
 * jf_batch_commit() - carry out all changes of a batch, or none
 * @b: the batch; empty afterwards, whatever the result
 *
 * Context: process context, may sleep. Takes the CPU hotplug lock for reading
 * and the engine's mutex; must not be called with either held, nor from a
 * dynamic function's target that the update has to wait for.
 *
 * Return: 0 when every key has its new value, or, with nothing changed:
 * * -EINVAL	 the same key twice with different values; a target that is not
 *		 allowed by its type: NULL where the key has no NULL form, the
 *		 key's own trampoline, a function in __init text
 * * -ENODEV	 a key that belongs to no loaded module with tables
 * * -EBUSY	 a key's or a target's module is being unloaded, or a breakpoint
 *		 (a kprobe, a debugger) stands on a site
 * * -EILSEQ	 a site holds bytes that jumpfunc did not write
 * * -ERANGE	 a target is out of reach of a 32-bit displacement
 * * -EROFS	 a read-only-after-init key after its module's init
 * * -EOPNOTSUPP the back end cannot write one of the instructions
 * * -ENOMEM	 no memory, now or when a change was added
 * * -EWOULDBLOCK called from atomic context
 * * -EIO	 a site did not read back as written: something else writes to
 *		 this text. The one error after which things have changed; the
 *		 log says where.
 */
int jf_batch_commit(struct jf_batch *b);

/**
 * jf_batch_abort() - forget all changes of a batch
 * @b: the batch; empty afterwards
 *
 * Context: any where kfree() may be called.
 */
void jf_batch_abort(struct jf_batch *b);

/**
 * jf_quiesce() - wait until nothing replaced is still running
 *
 * Returns when every call that reached a target through a site, a trampoline or
 * a pointer before the last update returned has either come back or gone to
 * sleep inside the target. After that, memory that only replaced targets use
 * can be freed. A target that sleeps needs protection of its own (a reference
 * count, SRCU): no grace period of the kernel waits for it.
 *
 * Context: process context, may sleep for some tenths of a second; not from
 * within a target.
 */
void jf_quiesce(void);

/* Behind dynfunc_batch_set() and jf_key_batch_set(). */
int __jf_batch_set_func(struct jf_batch *b, struct jf_func *f, void *func);
int __jf_batch_set_key(struct jf_batch *b, struct jf_key *key, bool on);

#endif /* JUMPFUNC_BATCH_H */
