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
 *   jf_quiesce_timeout(jiffies)		the same, with a limit
 *   jf_call_quiesced(&head, func)	call func when it is so
 *   jf_quiesce_barrier()		wait for all such calls
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
 * Returns when no task and no CPU is inside a target, a probe or an image that
 * was replaced before the call, whether it runs, was preempted, waits for a lock
 * or sleeps. A target that sleeps for an hour is waited for for an hour; the log
 * says every ten seconds who it is. What other threads do does not matter.
 *
 * After that, what only the replaced targets use can be freed. One case has to be
 * looked after by the target itself: if its last act is to call another function,
 * the compiler makes that call a jump, and the target is left before the function
 * returns. What was called by dynfunc_call(), or by its name, is waited for all
 * the same, for ten seconds, while it runs, is preempted or waits for a spinlock;
 * but not while it *sleeps*, nor if it was called through a pointer or where text
 * is not patched. So if a function uses the target's data and may take long, let
 * it not be the target's last act: one more statement behind the call, barrier()
 * for one, is enough. None of this matters to the text of a module that is
 * unloaded: for that, the whole module is looked for.
 *
 * The caller himself is not looked at. He must not be inside a target: others
 * that wait for quiet would wait for him.
 *
 * Where stacks cannot be read (other architectures than x86-64, user-mode Linux)
 * it is a grace period of Tasks RCU that is waited for, as in the kernel's own
 * tracing: not for targets that sleep, and for as long as there are kernel
 * threads that never do.
 *
 * Context: process context, may sleep, usually for some tenths of a second. Stops
 * all CPUs for moments that `stats` tells. Not under cpus_read_lock(), nor from a
 * CPU hotplug callback.
 */
void jf_quiesce(void);

/**
 * jf_quiesce_timeout() - the same, with a limit
 * @timeout: in jiffies; 0: find out without waiting for anybody
 *
 * Context: as jf_quiesce(). It may take a moment longer than @timeout.
 *
 * Return: 0; -ETIMEDOUT: somebody is still inside; -ENOMEM; -EWOULDBLOCK: called
 * from atomic context.
 */
int jf_quiesce_timeout(unsigned long timeout);

/**
 * struct jf_quiesce_head - a callback for when all is quiet
 * @list: private to jumpfunc
 * @func: private to jumpfunc
 *
 * To be embedded in what shall be freed. Belongs to jumpfunc from
 * jf_call_quiesced() until the callback is called.
 */
struct jf_quiesce_head {
	struct list_head	list;
	void			(*func)(struct jf_quiesce_head *head);
};

/**
 * jf_call_quiesced() - call a function when all is quiet
 * @head: what it is called with
 * @func: called in process context, may sleep but should not for long, when
 *        nobody is inside of anything that was replaced before this call, as
 *        jf_quiesce() says it
 *
 * Callbacks are called in the order in which they were asked for. One may ask for
 * the next. A module that is unloaded while there are callbacks to functions of
 * its own is waited for; so a callback must not ask for itself without end.
 *
 * Context: any but NMI.
 */
void jf_call_quiesced(struct jf_quiesce_head *head,
		      void (*func)(struct jf_quiesce_head *head));

/**
 * jf_quiesce_barrier() - wait until all callbacks asked for so far have returned
 *
 * Context: as jf_quiesce(); not from such a callback.
 */
void jf_quiesce_barrier(void);

/* Behind dynfunc_batch_set() and jf_key_batch_set(). */
int __jf_batch_set_func(struct jf_batch *b, struct jf_func *f, void *func);
int __jf_batch_set_key(struct jf_batch *b, struct jf_key *key, bool on);

#endif /* JUMPFUNC_BATCH_H */
