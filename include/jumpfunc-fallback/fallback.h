/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * For modules that are to build where jumpfunc is not installed: the macros of
 * dynfunc.h, branch.h, tracepoint.h, trace_event.h and batch.h that a driver uses, on what
 * the kernel has. In the kernel only, from 5.10 on, in modules with a GPL-compatible licence.
 *
 * API: copy this file into the driver. Then, in its sources,
 *
 *   #if __has_include(<jumpfunc/tracepoint.h>)
 *   #include <jumpfunc/tracepoint.h>
 *   #else
 *   #include "fallback.h"
 *   #endif
 *
 * and in its Kbuild "-include" instead of "include", which a missing file does not end:
 *
 *   -include /usr/share/jumpfunc/jumpfunc.mk
 *
 * The other headers have the same names, with the same meaning:
 *
 *   DECLARE_DYNFUNC(), DEFINE_DYNFUNC(), ..._NULL(), ..._RET0(), ..._LOCAL(),
 *   DYNFUNC_TARGETS(), EXPORT_DYNFUNC(), IMPORT_DYNFUNC(), dynfunc_name(),
 *   dynfunc_call(), dynfunc_update(), dynfunc_query(), dynfunc_batch_set()
 *   DECLARE_JF_KEY(), ..._TRUE(), DEFINE_JF_KEY_FALSE(), ..._TRUE(), ..._RO(),
 *   EXPORT_JF_KEY(), IMPORT_JF_KEY(), jf_branch_unlikely(), jf_branch_likely(),
 *   jf_key_enable(), _disable(), _inc(), _dec(), _count(), _enabled(), _batch_set()
 *   DECLARE_JF_TRACE(), ..._NOARGS(), DEFINE_JF_TRACE(), EXPORT_JF_TRACE(), IMPORT_JF_TRACE(),
 *   jf_trace_name(), jf_trace(), jf_trace_name_enabled(), register_jf_trace_name(),
 *   register_jf_trace_prio_name(), unregister_jf_trace_name(), jf_trace_synchronize(),
 *   jf_trace_batch_register(), jf_trace_batch_unregister()
 *   JF_TRACE_EVENT(), JF_DEFINE_EVENT(), JF_TRACE_EVENT_CONDITION(), JF_DEFINE_EVENT_CONDITION()
 *   jf_batch_init(), _commit(), _abort(), jf_quiesce(), jf_read_lock(), _unlock()
 *
 * Example: a header of events. All but its first and last include is as in trace_event.h.
 *
 *   #if __has_include(<jumpfunc/define_trace.h>)
 *   #include <jumpfunc/define_trace.h>
 *   #else
 *   #include <trace/define_trace.h>
 *   #endif
 *
 * How it works:
 *
 *                    | with jumpfunc           | here
 *   -----------------+-------------------------+--------------------------------
 *   a dynamic        | direct calls and jumps  | a pointer, by a retpoline where
 *   function         |                         | the kernel has them
 *   a key            | a key of jumpfunc       | a static key of the kernel
 *   a tracepoint     | a nop, or a chain of    | a static key, and a loop over an
 *                    | direct calls            | array of pointers, under RCU
 *   a trace event    | a tracepoint of         | the kernel's own tracepoint
 *                    | jumpfunc, forwarded     |
 *   a batch          | one transaction         | one change after the other
 *
 * Caveats: parts that need jumpfunc are less strict here, and say so:
 *
 *   A batch that fails for want of memory has changed nothing. One that fails for another
 *   reason has made the changes that stand before the one that failed.
 *
 *   The module of a target or a probe must take it back, and call jf_quiesce(), before it is
 *   unloaded. jf_quiesce() waits for preempted tasks in replaced code, not for sleeping ones.
 *
 *   A key that starts enabled is declared by DECLARE_JF_KEY_TRUE(). A change of a key
 *   that other tasks change at the same time may miss -EBUSY and -EINVAL. There is no
 *   pointer to a key of either kind: struct jf_key does not exist.
 *
 *   Branches and tracepoints in __init text can keep their first way: kernels such as 5.10 do
 *   not patch there.
 *
 *   dynfunc_name is a pointer to the present target, not a function that follows updates.
 *   A local dynamic function needs a name that no other file of the module has. The NULL
 *   forms do not compile for kernels whose indirect calls compare types (kCFI).
 *
 *   Tracepoints have the contract JF_RCU, dynamic functions that or JF_BARE; JF_SLEEPABLE
 *   does not compile. Nothing else is offered, such as deferred keys, arrays of keys,
 *   _cpuslocked(), JF_PIN, jf_call_quiesced(), probes by name.
 */
#ifndef JUMPFUNC_FALLBACK_H
#define JUMPFUNC_FALLBACK_H

#ifdef JUMPFUNC_BATCH_H
#error "fallback.h is for modules that do not include jumpfunc's other headers"
#endif

#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

enum jf_contract { JF_BARE, JF_RCU };

#define __JF_PARAMS(...)		__VA_ARGS__
#define __JF_OPT(def, opt...)		__JF_OPT_(0, ##opt, def)
#define __JF_OPT_(_0, opt, ...)		opt

/* --- replaced code -------------------------------------------------------- */

/**
 * jf_quiesce() - wait until no task or CPU executes replaced code
 *
 * Waits for tasks that run or were preempted, not for those that sleep.
 *
 * Context: process context, may sleep.
 */
static __maybe_unused void jf_quiesce(void)
{
	synchronize_rcu_tasks();
	/* Where tasks are not preempted the former may be the latter. */
	synchronize_rcu();
}

static inline void jf_read_lock(void)
{
}

static inline void jf_read_unlock(void)
{
}

/* --- batches --------------------------------------------------------------- */

struct jf_func;
struct jf_tracepoint;

/**
 * struct jf_batch - changes that wait to be committed together
 * @changes: in the order in which they were added
 * @err:     the first error met while adding; commit returns it
 */
struct jf_batch {
	struct list_head	changes;
	int			err;
};

/* One change: of a dynamic function, a key or a tracepoint, by the one that is not NULL. */
struct __jf_change {
	struct list_head	list;
	struct jf_func		*func;
	struct static_key	*key;
	struct jf_tracepoint	*tp;
	void			*to, *data;
	int			prio;
	bool			on;
};

/**
 * jf_batch_init() - begin an empty batch
 * @b: the batch
 *
 * Context: any.
 */
static inline void jf_batch_init(struct jf_batch *b)
{
	INIT_LIST_HEAD(&b->changes);
	b->err = 0;
}

/**
 * jf_batch_abort() - discard all changes of a batch
 * @b: the batch; empty afterwards
 *
 * Context: any where kfree() may be called.
 */
static __maybe_unused void jf_batch_abort(struct jf_batch *b)
{
	struct __jf_change *c, *next;

	list_for_each_entry_safe(c, next, &b->changes, list)
		kfree(c);
	jf_batch_init(b);
}

static __maybe_unused int __jf_batch_add(struct jf_batch *b, struct __jf_change change)
{
	struct __jf_change *c = kmemdup(&change, sizeof(change), GFP_KERNEL);

	if (!c) {
		b->err = b->err ?: -ENOMEM;
		return -ENOMEM;
	}
	list_add_tail(&c->list, &b->changes);
	return 0;
}

/* --- dynamic functions ------------------------------------------------------ */

/**
 * struct jf_func - a dynamic function
 * @func:    its target, never NULL; must come first, calls go through it
 * @target:  the same, or NULL
 * @null_ok: NULL is allowed
 */
struct jf_func {
	void	*func;
	void	*target;
	bool	null_ok;
};

/* The target of a dynamic function without one, of any type. */
static __maybe_unused long __jf_fallback_ret0(void)
{
	return 0;
}

static __maybe_unused int __jf_func_update(struct jf_func *f, void *func)
{
	if (!func && !f->null_ok)
		return -EINVAL;
	WRITE_ONCE(f->target, func);
	/* Pairs with the dependency of the call: the target's data is seen there. */
	smp_store_release(&f->func, func ?: (void *)__jf_fallback_ret0);
	return 0;
}

static __always_inline int __jf_enter(const enum jf_contract contract)
{
	if (contract == JF_RCU)
		preempt_disable_notrace();
	return contract;
}

static __always_inline void __jf_leave(const int *contract)
{
	if (*contract == JF_RCU)
		preempt_enable_notrace();
}

/**
 * DECLARE_DYNFUNC() - declare a dynamic function
 * @name:     its name
 * @func:     any function of its type
 * @contract: JF_BARE or JF_RCU; JF_BARE if left out
 *
 * dynfunc_name is the first member of the structure, under a second name and with its type.
 */
#define DECLARE_DYNFUNC(name, func, contract...)			\
	extern char __jf_contract_##name[1 + __JF_OPT(JF_BARE, ##contract)]; \
	extern struct jf_func __jf_func_##name;				\
	extern typeof(&(func)) dynfunc_##name asm("__jf_func_" #name)
#define DECLARE_DYNFUNC_CALL		DECLARE_DYNFUNC
#define IMPORT_DYNFUNC(name, func)	DECLARE_DYNFUNC(name, func)

#define __JF_DEFINE_DYNFUNC(name, _func, _target, _null_ok)		\
	struct jf_func __jf_func_##name __used = {			\
		.func		= (void *)(_func),			\
		.target		= (void *)(_target),			\
		.null_ok	= (_null_ok),				\
	}

/**
 * DEFINE_DYNFUNC() - define a dynamic function
 * @name:     its name, unique in the module and among exported names
 * @func:     its target until it is updated; gives it its type
 * @contract: as for DECLARE_DYNFUNC()
 *
 * The form _NULL starts as a call that does nothing, _RET0 as one that returns 0; an update
 * to NULL makes it that again. The forms _LOCAL are the same here.
 */
#define DEFINE_DYNFUNC(name, func, contract...)				\
	DECLARE_DYNFUNC(name, func, ##contract);			\
	__JF_DEFINE_DYNFUNC(name, func, func, false)
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#define DEFINE_DYNFUNC_NULL(name, func, contract...)			\
	static_assert(0, #name ": without jumpfunc, a NULL form is not called where indirect calls compare types (CFI)")
#else
#define DEFINE_DYNFUNC_NULL(name, func, contract...)			\
	DECLARE_DYNFUNC(name, func, ##contract);			\
	__JF_DEFINE_DYNFUNC(name, __jf_fallback_ret0, NULL, true)
#endif
#define DEFINE_DYNFUNC_RET0		DEFINE_DYNFUNC_NULL
#define DEFINE_DYNFUNC_LOCAL		DEFINE_DYNFUNC
#define DEFINE_DYNFUNC_NULL_LOCAL	DEFINE_DYNFUNC_NULL
#define DEFINE_DYNFUNC_RET0_LOCAL	DEFINE_DYNFUNC_RET0

/* No target is set by its name here. */
#define DYNFUNC_TARGETS(name, ...)	struct __jf_targets_##name

#define EXPORT_DYNFUNC(name)		EXPORT_SYMBOL(__jf_func_##name)
#define EXPORT_DYNFUNC_GPL(name)	EXPORT_SYMBOL_GPL(__jf_func_##name)
#define EXPORT_DYNFUNC_CALL		EXPORT_DYNFUNC
#define EXPORT_DYNFUNC_CALL_GPL		EXPORT_DYNFUNC_GPL

/**
 * dynfunc_call() - call a dynamic function
 * @name: the dynamic function
 * @...:  its arguments
 *
 * Context: as of the target. Return: the target's result.
 */
#define dynfunc_call(name, ...)						\
({									\
	int __jf_c __maybe_unused __attribute__((__cleanup__(__jf_leave))) = \
		__jf_enter((enum jf_contract)(sizeof(__jf_contract_##name) - 1)); \
									\
	(READ_ONCE(dynfunc_##name)(__VA_ARGS__));			\
})

/**
 * dynfunc_update() - change the target of a dynamic function
 * @name: the dynamic function
 * @func: a function of its type, or NULL where its definition allows that
 *
 * Context: any. Return: 0, or -EINVAL if @func is NULL and must not be.
 */
#define dynfunc_update(name, func)					\
({									\
	typeof(dynfunc_##name) __jf_new = (func);			\
									\
	__jf_func_update(&__jf_func_##name, (void *)__jf_new);		\
})

/**
 * dynfunc_query() - return the present target of a dynamic function
 * @name: the dynamic function
 *
 * Context: any. Return: its present target, or NULL if it has none.
 */
#define dynfunc_query(name)		READ_ONCE(__jf_func_##name.target)

/**
 * dynfunc_batch_set() - add an update of a dynamic function to a batch
 * @b:    the batch
 * @name: the dynamic function
 * @func: a function of its type, or NULL where its definition allows that
 *
 * Context: process context, may sleep (allocates). Return: 0 or -ENOMEM.
 */
#define dynfunc_batch_set(b, name, _func)				\
({									\
	typeof(dynfunc_##name) __jf_new = (_func);			\
									\
	__jf_batch_add(b, (struct __jf_change){				\
		.func = &__jf_func_##name, .to = (void *)__jf_new });	\
})

#define dynfunc_synchronize(name)	jf_quiesce()

/* --- keys -------------------------------------------------------------------- */

#define DECLARE_JF_KEY(k)		extern struct static_key_false k
#define DECLARE_JF_KEY_TRUE(k)		extern struct static_key_true k
#define DEFINE_JF_KEY_FALSE(k)		struct static_key_false k = STATIC_KEY_FALSE_INIT
#define DEFINE_JF_KEY_TRUE(k)		struct static_key_true k = STATIC_KEY_TRUE_INIT
#define DEFINE_JF_KEY_FALSE_RO(k)	DEFINE_STATIC_KEY_FALSE_RO(k)
#define DEFINE_JF_KEY_TRUE_RO(k)	DEFINE_STATIC_KEY_TRUE_RO(k)
#define EXPORT_JF_KEY(k)		EXPORT_SYMBOL(k)
#define EXPORT_JF_KEY_GPL(k)		EXPORT_SYMBOL_GPL(k)
#define IMPORT_JF_KEY(k)		struct __jf_import_##k

#define jf_branch_unlikely(k)		static_branch_unlikely(k)
#define jf_branch_likely(k)		static_branch_likely(k)

static __maybe_unused int __jf_key_set(struct static_key *key, bool on)
{
	if (on) {
		static_key_enable(key);
		return 0;
	}
	if (static_key_count(key) > 1)
		return -EBUSY;
	static_key_disable(key);
	return 0;
}

static __maybe_unused int __jf_key_count(struct static_key *key, int by)
{
	if (by < 0 && !static_key_count(key))
		return -EINVAL;
	if (by < 0)
		static_key_slow_dec(key);
	else
		static_key_slow_inc(key);
	return 0;
}

/**
 * jf_key_enable() - enable a key
 * @k: its address
 *
 * jf_key_disable(), jf_key_inc(), jf_key_dec() are as in branch.h.
 *
 * Context: process context, may sleep.
 * Return: 0; of jf_key_disable() -EBUSY if it has more than one user, of jf_key_dec() -EINVAL
 * if it has none.
 */
#define jf_key_enable(k)		__jf_key_set(&(k)->key, true)
#define jf_key_disable(k)		__jf_key_set(&(k)->key, false)
#define jf_key_inc(k)			__jf_key_count(&(k)->key, 1)
#define jf_key_dec(k)			__jf_key_count(&(k)->key, -1)
#define jf_key_count(k)			static_key_count(&(k)->key)
#define jf_key_enabled(k)		(static_key_count(&(k)->key) > 0)

/**
 * jf_key_batch_set() - add a change of a key to a batch
 * @b:   the batch
 * @k:   the key's address
 * @_on: enable it, or disable it
 *
 * Context: process context, may sleep (allocates). Return: 0 or -ENOMEM.
 */
#define jf_key_batch_set(b, k, _on)					\
	__jf_batch_add(b, (struct __jf_change){ .key = &(k)->key, .on = (_on) })

/* --- tracepoints --------------------------------------------------------------- */

#define JF_TRACE_PRIO_DEFAULT	10
#define JF_PROTO(...)		__VA_ARGS__
#define JF_ARGS(...)		__VA_ARGS__

/* NULL as @func ends an array. */
struct jf_probe {
	void	*func;
	void	*data;
	int	prio;
};

/**
 * struct jf_tracepoint - a tracepoint
 * @key:    enabled while there are probes
 * @probes: an array of them, highest priority first, or NULL; read under RCU
 * @lock:   held by those who change it
 */
struct jf_tracepoint {
	struct static_key_false	*key;
	struct jf_probe		*probes;
	struct mutex		lock;
};

/* Adds or removes a probe; @lock is held. */
static __maybe_unused int __jf_trace_change(struct jf_tracepoint *tp, void *func, void *data,
					    int prio, bool add)
{
	struct jf_probe *old = tp->probes, *new = NULL;
	unsigned int num = 0, at = 0, n;
	bool found = false;

	if (!func)
		return -EINVAL;
	for (; old && old[num].func; num++) {
		found |= old[num].func == func && old[num].data == data;
		if (!found || add)
			at += add ? old[num].prio >= prio : 1;
	}
	if (found == add)
		return add ? -EEXIST : -ENOENT;
	n = add ? num + 1 : num - 1;
	if (n) {
		new = kcalloc(n + 1, sizeof(*new), GFP_KERNEL);
		if (!new)
			return -ENOMEM;
		if (num)
			memcpy(new, old, at * sizeof(*new));
		if (add) {
			new[at] = (struct jf_probe){ func, data, prio };
			if (num)
				memcpy(new + at + 1, old + at, (num - at) * sizeof(*new));
		} else {
			memcpy(new + at, old + at + 1, (n - at) * sizeof(*new));
		}
	}
	/* Pairs with the dependency of the loop over the array. */
	smp_store_release(&tp->probes, new);
	if (!num)
		static_branch_enable(tp->key);
	if (!n)
		static_branch_disable(tp->key);
	if (old) {
		synchronize_rcu();
		kfree(old);
	}
	return 0;
}

static __maybe_unused int __jf_trace_probe(struct jf_tracepoint *tp, void *func, void *data,
					   int prio, bool add)
{
	int err;

	mutex_lock(&tp->lock);
	err = __jf_trace_change(tp, func, data, prio, add);
	mutex_unlock(&tp->lock);
	return err;
}

#define __DECLARE_JF_TRACE(name, proto, args, data_proto, data_args, contract...) \
	static_assert(__JF_OPT(JF_RCU, ##contract) == JF_RCU,		\
		      "without jumpfunc, the contract of a tracepoint is JF_RCU"); \
	typedef void (*__jf_probe_##name)(data_proto);			\
	extern struct static_key_false __jf_on_##name;			\
	extern struct jf_tracepoint __jf_trace_##name;			\
									\
	static __maybe_unused void __jf_trace_call_##name(proto)	\
	{								\
		const struct jf_probe *__jf_p;				\
									\
		preempt_disable_notrace();				\
		__jf_p = READ_ONCE(__jf_trace_##name.probes);		\
		for (; __jf_p && __jf_p->func; __jf_p++) {		\
			void *__jf_data = __jf_p->data;			\
									\
			((__jf_probe_##name)__jf_p->func)(data_args);	\
		}							\
		preempt_enable_notrace();				\
	}								\
									\
	static __always_inline __maybe_unused bool jf_trace_##name##_enabled(void) \
	{								\
		return static_branch_unlikely(&__jf_on_##name);		\
	}								\
									\
	static __always_inline __maybe_unused void jf_trace_##name(proto) \
	{								\
		if (static_branch_unlikely(&__jf_on_##name))		\
			__jf_trace_call_##name(args);			\
	}								\
									\
	static inline int register_jf_trace_prio_##name(__jf_probe_##name probe, void *data, int prio) \
	{								\
		return __jf_trace_probe(&__jf_trace_##name, (void *)probe, data, prio, true); \
	}								\
									\
	static inline int register_jf_trace_##name(__jf_probe_##name probe, void *data) \
	{								\
		return register_jf_trace_prio_##name(probe, data, JF_TRACE_PRIO_DEFAULT); \
	}								\
									\
	static inline int unregister_jf_trace_##name(__jf_probe_##name probe, void *data) \
	{								\
		return __jf_trace_probe(&__jf_trace_##name, (void *)probe, data, 0, false); \
	}								\
	struct __jf_trace_end_##name

/**
 * DECLARE_JF_TRACE() - declare a tracepoint
 * @name:     its name
 * @proto:    JF_PROTO(...): the parameters, at least one
 * @args:     JF_ARGS(...): their names
 * @contract: JF_RCU, or left out
 *
 * DECLARE_JF_TRACE_NOARGS() is the same without parameters.
 */
#define DECLARE_JF_TRACE(name, proto, args, contract...)		\
	__DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args),	\
			   __JF_PARAMS(void *__jf_data, proto),		\
			   __JF_PARAMS(__jf_data, args), ##contract)
#define DECLARE_JF_TRACE_NOARGS(name, contract...)			\
	__DECLARE_JF_TRACE(name, void, , void *__jf_data, __jf_data, ##contract)

/**
 * DEFINE_JF_TRACE() - define a tracepoint
 * @name: its name as declared; the declaration must be visible
 */
#define DEFINE_JF_TRACE(name)						\
	struct static_key_false __jf_on_##name = STATIC_KEY_FALSE_INIT;	\
	struct jf_tracepoint __jf_trace_##name = {			\
		.key	= &__jf_on_##name,				\
		.lock	= __MUTEX_INITIALIZER(__jf_trace_##name.lock),	\
	}

#define EXPORT_JF_TRACE(name)						\
	EXPORT_SYMBOL(__jf_on_##name); EXPORT_SYMBOL(__jf_trace_##name)
#define EXPORT_JF_TRACE_GPL(name)					\
	EXPORT_SYMBOL_GPL(__jf_on_##name); EXPORT_SYMBOL_GPL(__jf_trace_##name)
#define EXPORT_JF_TRACE_CALL		EXPORT_JF_TRACE
#define EXPORT_JF_TRACE_CALL_GPL	EXPORT_JF_TRACE_GPL
#define IMPORT_JF_TRACE(name)		struct __jf_import_trace_##name
#define IMPORT_JF_TRACE_CALL(name)	struct __jf_import_trace_##name

/**
 * jf_trace() - a tracepoint whose arguments cost nothing while it is off
 * @name: its name
 * @...:  its arguments; evaluated only while it has probes
 *
 * Context: any but noinstr code.
 */
#define jf_trace(name, ...)						\
do {									\
	if (jf_trace_##name##_enabled())				\
		jf_trace_##name(__VA_ARGS__);				\
} while (0)

/**
 * jf_trace_batch_register() - add the registration of a probe to a batch
 * @b:     the batch
 * @name:  the tracepoint
 * @probe: void probe(void *data, <parameters of the tracepoint>)
 * @_data: its first argument
 * @_prio: higher runs earlier
 *
 * jf_trace_batch_unregister() adds the removal of one.
 *
 * Context: process context, may sleep (allocates). Return: 0 or -ENOMEM.
 */
#define jf_trace_batch_register(b, name, probe, _data, _prio)		\
({									\
	__jf_probe_##name __jf_new_probe = (probe);			\
									\
	__jf_batch_add(b, (struct __jf_change){ .tp = &__jf_trace_##name, .on = true, \
		.to = (void *)__jf_new_probe, .data = (_data), .prio = (_prio) }); \
})
#define jf_trace_batch_unregister(b, name, probe, _data)		\
({									\
	__jf_probe_##name __jf_old_probe = (probe);			\
									\
	__jf_batch_add(b, (struct __jf_change){ .tp = &__jf_trace_##name, \
		.to = (void *)__jf_old_probe, .data = (_data) });	\
})

#define jf_trace_synchronize(name)	synchronize_rcu()

/**
 * jf_batch_commit() - carry out all changes of a batch, one after the other
 * @b: the batch; empty afterwards, whatever the result
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM if one could not be added: nothing has changed; or the error of the change
 * that failed. Those before it were made then, those after it not.
 */
static __maybe_unused int jf_batch_commit(struct jf_batch *b)
{
	struct __jf_change *c;
	int err = b->err;

	list_for_each_entry(c, &b->changes, list) {
		if (err)
			break;
		if (c->func)
			err = __jf_func_update(c->func, c->to);
		else if (c->key)
			err = __jf_key_set(c->key, c->on);
		else
			err = __jf_trace_probe(c->tp, c->to, c->data, c->prio, c->on);
	}
	jf_batch_abort(b);
	return err;
}

#endif /* JUMPFUNC_FALLBACK_H */

/* --- trace events ------------------------------------------------------------------ */

/*
 * A header of events includes this again in each pass of <trace/define_trace.h>, in which
 * TRACE_EVENT() means something else each time.
 */
#undef JF_TRACE_EVENT
#undef JF_DEFINE_EVENT
#undef JF_TRACE_EVENT_CONDITION
#undef JF_DEFINE_EVENT_CONDITION
#undef __JF_EVENT_CALL
#ifdef TRACE_HEADER_MULTI_READ
#define __JF_EVENT_CALL(name, proto, args)
#else
#include <linux/tracepoint.h>
#include <linux/trace_events.h>
#define __JF_EVENT_CALL(name, proto, args)				\
	static __always_inline __maybe_unused void jf_trace_##name(proto) \
	{								\
		trace_##name(args);					\
	}								\
									\
	static __always_inline __maybe_unused bool jf_trace_##name##_enabled(void) \
	{								\
		return trace_##name##_enabled();			\
	}
#endif

/* JF_TRACE_EVENT() and its like are as in trace_event.h; probes are those of the kernel. */
#define JF_TRACE_EVENT(name, proto, args, tstruct, assign, print)	\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
		    PARAMS(assign), PARAMS(print));			\
	__JF_EVENT_CALL(name, PARAMS(proto), PARAMS(args))
#define JF_DEFINE_EVENT(class, name, proto, args)			\
	DEFINE_EVENT(class, name, PARAMS(proto), PARAMS(args));		\
	__JF_EVENT_CALL(name, PARAMS(proto), PARAMS(args))
#define JF_TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print) \
	TRACE_EVENT_CONDITION(name, PARAMS(proto), PARAMS(args), PARAMS(cond), \
			      PARAMS(tstruct), PARAMS(assign), PARAMS(print)); \
	__JF_EVENT_CALL(name, PARAMS(proto), PARAMS(args))
#define JF_DEFINE_EVENT_CONDITION(class, name, proto, args, cond)	\
	DEFINE_EVENT_CONDITION(class, name, PARAMS(proto), PARAMS(args), PARAMS(cond)); \
	__JF_EVENT_CALL(name, PARAMS(proto), PARAMS(args))
