/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Batches: change many dynamic functions, keys and probes together, or none.
 *
 * API:
 *   jf_batch_init(&b)			begin an empty batch
 *   dynfunc_batch_set(&b, name, func)	add a change of a target
 *   jf_key_batch_set(&b, &key, on)	add a change of a key
 *   jf_trace_batch_register(&b, name, probe, data, prio)	add a probe
 *   jf_trace_batch_unregister(&b, name, probe, data)	remove a probe
 *   jf_batch_commit(&b)		carry out all changes, or none
 *   jf_batch_commit_cpuslocked(&b)	the same, under cpus_read_lock() (kernel)
 *   jf_batch_abort(&b)			discard all changes
 *   jf_quiesce()			wait until no task runs replaced code
 *   jf_quiesce_timeout(jiffies)		the same, with a limit
 *   jf_call_quiesced(&head, func)	call func when no task does
 *   jf_quiesce_barrier()		wait until all such calls have returned
 *   jf_read_lock(), jf_read_unlock()	programs: what jf_quiesce() waits for
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
 * How it works: jf_batch_commit() first checks that each change is legal, that
 * each new instruction reaches its target, that each site holds the bytes that
 * jumpfunc left there, and that there is memory for all of it. Only then does
 * it write, in one transaction with three broadcasts to all CPUs (arm64: one), whatever
 * the number of sites. A batch that changes nothing sends no broadcast.
 *
 * Caveats: "all or none" describes the result. While a commit runs, a CPU may
 * meet one site already changed and another one not yet. After it has returned
 * zero, every new call goes to the new targets. Calls that began before may
 * still be running in the old ones until jf_quiesce() has returned.
 */
#ifndef JUMPFUNC_BATCH_H
#define JUMPFUNC_BATCH_H

#ifdef __KERNEL__
#include <linux/list.h>
#include <linux/types.h>
#endif

#include <jumpfunc/detail/macros.h>

struct jf_func;
struct jf_key;
struct jf_tracepoint;

/**
 * struct jf_batch - changes that wait to be committed together
 * @changes: of dynamic functions and keys, in the order in which they were added
 * @probes:  the same, of tracepoints' probes
 * @err:     the first error met while adding; commit returns it
 *
 * Belongs to one task at a time. The fields are private to jumpfunc.
 */
struct jf_batch {
#ifdef __KERNEL__
	struct list_head	changes;
	struct list_head	probes;
#else
	struct jf_change	*changes;
	struct jf_probe_change	*probes;
#endif
	int			err;
};

__JF_BEGIN_DECLS

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
 * Probes of one tracepoint are added and removed in the order in which that was
 * asked for, and the tracepoint changes from its present probes to the last
 * state at once. So a batch can exchange a probe for another one.
 *
 * Context: process context, may sleep. Takes the CPU hotplug lock for reading
 * and the engine's mutex; must not be called with either held, nor from a
 * dynamic function's target that the update has to wait for.
 *
 * Return: 0 when every function and key has its new value, or, with nothing
 * changed:
 * * -EINVAL	 the same function or key twice, with different values; or a target that is not
 *		 allowed: NULL where the function has no NULL form, its own trampoline, a function
 *		 in __init text
 * * -ENODEV	 a function or key that belongs to no loaded module with tables
 * * -EBUSY	 the module of a function, key or target is being unloaded, or a
 *		 breakpoint (a kprobe, a debugger) stands on a site
 * * -EILSEQ	 a site holds bytes that jumpfunc did not write
 * * -ERANGE	 a target is out of reach of a 32-bit displacement (not on arm64)
 * * -EROFS	 a read-only-after-init key after its module's init
 * * -EOPNOTSUPP the back end cannot write one of the instructions, or not beside
 *		 a debugger (KGDB) that would take its breakpoints; in a program: a
 *		 site has to be written, and the process may not do that here
 * * -EPERM	 a target or a probe that is neither the kernel's text nor a
 *		 module's, and that no caller vouches for
 * * -EEXIST	 a probe that is registered already, with the same data
 * * -ENOENT	 a probe to be removed that is not registered
 * * -ENOMEM	 no memory, now or when a change was added
 * * -EMFILE, -ENFILE in a program: it, or the system, may open no file, by which text is written
 * * -EDEADLK	 in a program: in a handler for fork() that was registered before
 *		 the library's handlers, which hold its lock during a fork
 * * -EAGAIN	 in a program: its memory is locked (mlockall()), and as much as may be; or
 *		 it may make no thread, by which text is written, nor copies of text
 * * -EWOULDBLOCK called from atomic context
 *
 * On arm64 -EBUSY and -EILSEQ, in a program -ENOMEM and -EOPNOTSUPP, may come after CPUs
 * have executed the new values for a moment: something else, a debugger say, wrote to a
 * site in between, or text could not be written any more, and the stored part was
 * taken back. A task may still be there: wait as after a change that was made (jf_quiesce(), or as
 * the contract requires) before you free the data of a target or probe that was not set. No CPU is
 * sent there after the return, unless a debugger has set a breakpoint in the middle of it all: then
 * a site may lead there once that is removed, and the log names it. jf_quiesce() and the unload of
 * modules wait until that site is as it was. A change to the value that the function or key has
 * mends the site, or returns -EBUSY.
 *
 * The only error after which things have changed:
 * * -EIO	 a site did not read back as written: something else writes to
 *		 this text. All values count as set, and the log names the site.
 *		 It is not checked again until its value changes. In a program
 *		 this may also be a change that could not be written to its end;
 *		 it is tried again with each change, also one to the same value.
 *		 Until one of these returns 0, sites can still lead to replaced code.
 */
int __JF_MUST_CHECK jf_batch_commit(struct jf_batch *b);

#ifdef __KERNEL__
/**
 * jf_batch_commit_cpuslocked() - carry out a batch, under cpus_read_lock()
 * @b: the batch; empty afterwards, whatever the result
 *
 * For callers that hold the CPU hotplug lock for reading, and for CPU hotplug
 * callbacks that may sleep. The batch must not have probes in it.
 *
 * Context: process context, may sleep, with the hotplug lock held.
 * Return: as jf_batch_commit(), or -EDEADLK if there are probes in the batch:
 * nothing has changed.
 */
int __JF_MUST_CHECK jf_batch_commit_cpuslocked(struct jf_batch *b);
#endif

/**
 * jf_batch_abort() - discard all changes of a batch
 * @b: the batch; empty afterwards
 *
 * Context: any where kfree() may be called.
 */
void jf_batch_abort(struct jf_batch *b);

/**
 * jf_quiesce() - wait until no task or CPU executes replaced code
 *
 * Returns when no task and no CPU executes, or will return into, a function, probe
 * or dispatch image that was replaced before the call and has not been in use since. A
 * grace period of RCU has passed since the call. It ends in bounded time unless a
 * task stays in such code: if a target sleeps for an hour, this waits for an hour,
 * and the log names the task every ten seconds.
 *
 * This covers the replaced text. The contract decides which data is covered (see the table in
 * contract.h): last calls, which the compiler makes jumps, leave no trace of a target that was
 * called without one. Code that a branch leads to is a section of RCU, or whatever its author makes
 * it (branch.h).
 *
 * A function is in use, and is not waited for, while a dynamic function leads there or a
 * tracepoint has it as a probe, whichever and with whatever data. Once the module of the last
 * one is unloaded, a function that was replaced before is waited for again. The iterator (see
 * tracepoint.h) is one function for all states of its tracepoint, and counts as replaced with
 * each change of that: a thread that calls a probe by it again and again, which nearly always
 * sleeps, can delay this as long as it does so.
 *
 * A task that executes a former target for another reason does not delay this either, where
 * its stack tells: the target was called by its name.
 * One that was called by a plain pointer is waited for, since that may have been a
 * pointer to the trampoline, and so is one in a target to which another function jumped.
 * So is, on kernels without the ORC unwinder, and where a tracer has put itself on the
 * task's stack, one whose stack holds a leftover that looks like a return address, until
 * the task has overwritten it. A user who knows the address of such code can have a task
 * count as inside, with that address as an argument of system calls that a filter of seccomp
 * examines, for as long as these go on.
 *
 * The caller itself is not waited for. One that is inside of such code (a target that replaces
 * itself) gets the answer for all other tasks: the code that it returns into must not be freed
 * before it has returned. All other waits wait for it, so two such callers wait for each other
 * without end. Such code calls jf_call_quiesced() instead.
 *
 * Where stacks cannot be read (other architectures than x86-64 and arm64, user-mode
 * Linux) this waits for a grace period of Tasks RCU, as the kernel's own
 * tracing does: it does not wait for targets that sleep, and it takes as long
 * as there are kernel threads that do not sleep.
 *
 * Context: process context, may sleep, usually for some tenths of a second.
 * Stops all CPUs for short times, which debugfs stats reports (scan_ns_max).
 * Must not be called under cpus_read_lock(), nor from a CPU hotplug callback.
 */
void jf_quiesce(void);

/**
 * jf_quiesce_timeout() - wait until no task executes replaced code, up to a limit
 * @timeout: in jiffies (in a program: milliseconds); with 0 it scans once and
 *           does not wait for any task
 *
 * In the kernel the grace period of RCU comes first, whatever @timeout is. Where stacks cannot
 * be read, each CPU is waited for once more at the end, until it has scheduled.
 *
 * Context: as jf_quiesce(). It may take a little longer than @timeout.
 *
 * Return: 0, -ETIMEDOUT if some task is still inside, -ENOMEM, or -EWOULDBLOCK
 * if called from atomic context.
 */
int jf_quiesce_timeout(unsigned long timeout);

/**
 * struct jf_quiesce_head - a callback for jf_call_quiesced()
 * @list: private to jumpfunc
 * @func: private to jumpfunc
 *
 * Embed it in the object to be freed, like a struct rcu_head. It belongs to
 * jumpfunc from jf_call_quiesced() until the callback is called. In a program,
 * which may fork, it is not on a stack: the child calls the callback as well, and
 * has only the stack of the thread that forked.
 */
struct jf_quiesce_head {
#ifdef __KERNEL__
	struct list_head	list;
#else
	struct jf_quiesce_head	*next;
#endif
	void			(*func)(struct jf_quiesce_head *head);
};

/**
 * jf_call_quiesced() - call a function after a jf_quiesce()
 * @head: the function's argument
 * @func: called in process context when no task is inside anything that was
 *        replaced before this call, in the sense of jf_quiesce(). It may sleep,
 *        but not for long, since other callbacks wait for it
 *
 * It relates to jf_quiesce() as call_rcu() relates to synchronize_rcu(). Callbacks
 * run in the order of their requests. A callback may request another one. rmmod
 * waits for the callbacks that lead into the module, or whose @head is in its
 * memory, so a callback must not request itself without end. It does not see a
 * request that is made later, by an operation of a module's parameter or an
 * asynchronous function that is still running when the module's exit function has
 * returned: as with call_rcu(), that has to be prevented, or to wait for its own
 * callback.
 *
 * Context: any but NMI; in a program not in a signal handler.
 */
void jf_call_quiesced(struct jf_quiesce_head *head,
		      void (*func)(struct jf_quiesce_head *head));

/**
 * jf_quiesce_barrier() - wait until all requested callbacks have returned
 *
 * Context: as jf_quiesce(); not from such a callback.
 */
void jf_quiesce_barrier(void);

#ifdef __KERNEL__
/**
 * jf_read_lock() - begin a section that jf_quiesce() waits for
 *
 * Needed in a program, where the stacks of threads cannot be scanned; in a kernel it is empty:
 * there contracts (contract.h) and RCU protect such data. Put one around the calls of dynamic
 * functions, and the code that branches lead to, if they use data that can be freed. Sections nest.
 *
 * Context: any.
 */
static inline void jf_read_lock(void)
{
}

/**
 * jf_read_unlock() - end the section that jf_read_lock() began
 *
 * Context: any.
 */
static inline void jf_read_unlock(void)
{
}
#else
#include <jumpfunc/detail/reader_user.h>
#endif

/* The macros and functions that add to a batch call these. */
int __jf_batch_probe(struct jf_batch *b, struct jf_tracepoint *tp, void *func,
		     void *data, int prio, bool add);
int __jf_batch_set_func(struct jf_batch *b, struct jf_func *f, void *func);
#ifdef __KERNEL__
int __jf_batch_set_func_flags(struct jf_batch *b, struct jf_func *f, void *func,
			      unsigned int flags);
#endif
int __jf_batch_set_key(struct jf_batch *b, struct jf_key *key, bool on);
__JF_END_DECLS

#endif /* JUMPFUNC_BATCH_H */
