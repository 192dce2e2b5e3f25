/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Static-call tracepoints: a nop while off, direct calls for any number of
 * probes.
 *
 * API:
 *   DECLARE_JF_TRACE(name, JF_PROTO(...), JF_ARGS(...))	in a header
 *   DECLARE_JF_TRACE_NOARGS(name)			the same, without arguments
 *   DEFINE_JF_TRACE(name)				in one source file
 *   EXPORT_JF_TRACE(name), EXPORT_JF_TRACE_GPL(name)	others may trace it and register probes
 *   EXPORT_JF_TRACE_CALL(name), ..._CALL_GPL(name)	others may trace it, no more
 *   IMPORT_JF_TRACE(name), IMPORT_JF_TRACE_CALL(name)	in a program, in another object
 *
 *   jf_trace_name(args...)		the tracepoint: up to 12 arguments
 *   jf_trace(name, args...)		the same; does not evaluate args while off
 *   jf_trace_name_enabled()		true if it has probes (a jump label); to
 *					guard code that prepares arguments
 *
 *   register_jf_trace_name(probe, data)	add a probe
 *   register_jf_trace_prio_name(probe, data, prio)	the same, with a priority
 *   unregister_jf_trace_name(probe, data)	remove it
 *   jf_trace_batch_register(&b, name, probe, data, prio)
 *					add one as part of a batch (batch.h)
 *   jf_trace_batch_unregister(&b, name, probe, data)	remove one as part of a batch
 *
 * Example:
 *   DECLARE_JF_TRACE(rx, JF_PROTO(struct packet *p, int len),
 *                    JF_ARGS(p, len));
 *   DEFINE_JF_TRACE(rx);
 *
 *   static void count(void *data, struct packet *p, int len)
 *   {
 *           struct counter *c = data;
 *           ...
 *   }
 *
 *   jf_trace_rx(p, len);				// in the hot path
 *
 *   err = register_jf_trace_rx(count, &my_counter);
 *   ...
 *   err = unregister_jf_trace_rx(count, &my_counter);
 *   jf_quiesce();
 *   free(my_counter);
 *
 * How it works: a tracepoint is a branch site, and out of line a call site. The number of probes
 * decides where the call site leads:
 *
 *   none		the branch is a nop, and so is the call
 *   1			mov $data, %rdi; jmp probe
 *   2 ... 16		a chain: for each probe, mov $data, %rdi; call probe
 *   more		an iterator over an array
 *
 *   The second and third are dispatch images: small pieces of code, prepared
 *   where no CPU executes, with each probe's address and its data as immediate
 *   operands. An image never changes while a task can be in it. A change of
 *   probes prepares a new image and then switches branch and call to it, in
 *   one transaction. The old image is reused once no task is in it. So a
 *   probe cannot run with another probe's data: both are in the same image.
 *
 *   If all images are taken, or with backend=indirect, the iterator calls the
 *   probes, however many they are; debugfs stats counts how often
 *   (trace_iter_*).
 *
 *   Probes run in the order of their priority, highest first, and among equals
 *   in the order of registration.
 *
 * Caveats:
 *   After unregister has returned, no new call enters the probe. Calls that
 *   have begun are over when jf_quiesce() has returned, and only then may the
 *   caller free what @data points to.
 *
 *   In the kernel, they are over when jf_trace_synchronize(name) has returned, too, and with
 *   another contract than JF_RCU data can be freed only then. A module that unregisters in its exit
 *   function need not wait for the text of its probes, and with the default contract not for their
 *   data. If a module is unloaded without unregistering its probes, they are removed, and the log
 *   says so. A probe belongs to the module that its function is in, and to the one that @data is
 *   in, if that is the memory of a module (but for its per-CPU variables, for which call
 *   jf_quiesce()).
 *
 *   In the kernel a tracepoint has a contract (contract.h). By default preemption
 *   is off while probes run, as in the kernel's own tracepoints: a probe must not
 *   sleep, may use RCU and per-CPU data, and synchronize_rcu() waits for it.
 *   With JF_SLEEPABLE as the last argument of DECLARE_JF_TRACE() probes may sleep
 *   and fault, where the tracepoint's caller may. With JF_BARE nothing surrounds
 *   the call: a probe has the rights of the caller, and jf_quiesce() waits for its text
 *   alone.
 *
 *   In a program jf_read_lock() surrounds the probes. An exception that one throws ends that
 *   section, in C if the file was compiled with -fexceptions.
 *
 *   In the kernel a probe that sleeps must not wait for the load or the unload of a module that
 *   has a probe of the same tracepoint, which request_module() may: should that module be unloaded,
 *   or its init fail, that would wait for the caller of the probe. A work item may ask for it.
 *
 *   Arguments are integers, enums and pointers. An argument with side effects
 *   is evaluated even while the tracepoint is off, unless jf_trace() is used.
 *
 *   Registering may sleep. The same probe with the same data is refused
 *   (-EEXIST).
 */
#ifndef JUMPFUNC_TRACEPOINT_H
#define JUMPFUNC_TRACEPOINT_H

#ifdef __KERNEL__
#include <linux/list.h>
#include <linux/rcupdate.h>
#endif

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

/**
 * define JF_TRACE_CHAIN_MAX - most probes that run from a chain of direct calls
 *
 * More probes than these are called by an iterator.
 */
#define JF_TRACE_CHAIN_MAX	16

/**
 * define JF_TRACE_PRIO_DEFAULT - priority of a probe that does not ask for one
 *
 * That is a probe registered by register_jf_trace_name().
 */
#define JF_TRACE_PRIO_DEFAULT	10

/**
 * struct jf_probe - a probe of a tracepoint
 * @func: the function; NULL ends an array
 * @data: its first argument
 * @prio: higher runs earlier
 */
struct jf_probe {
	void	*func;
	void	*data;
	int	prio;
};

struct jf_probes;

/**
 * struct jf_tracepoint - a tracepoint
 * @name:   as declared
 * @owner:  the module that defines it
 * @key:    enabled while there are probes
 * @call:   the dynamic function that the call site calls
 * @iter:   calls all probes of @active
 * @nargs:  number of arguments, without the data
 * @active: the array that the iterator walks; ends with a NULL function
 * @probes: the present probes, NULL for none
 * @list:   entry in the core's list, while there are probes (a program: @next)
 * @origin: in a program: NULL, or where the one is announced that is meant
 *
 * Private to jumpfunc, and to the code that the macros below generate.
 */
struct jf_tracepoint {
	const char		*name;
	__JF_OWNER		*owner;
	struct jf_key		*key;
	struct jf_func		*call;
	void			*iter;
	unsigned int		nargs;
	const struct jf_probe	*active;
	struct jf_probes	*probes;
#ifdef __KERNEL__
	struct list_head	list;
#else
	struct jf_tracepoint	*next;
	struct jf_tracepoint	*const *origin;
#endif
};

__JF_BEGIN_DECLS

/* register_jf_trace_*() and unregister_jf_trace_*() call these. */
int __JF_MUST_CHECK __jf_trace_register(struct jf_tracepoint *tp, void *func, void *data,
					int prio);
int __JF_MUST_CHECK __jf_trace_unregister(struct jf_tracepoint *tp, void *func, void *data);
__JF_END_DECLS

/*
 * The parameters of a tracepoint, and their names, for DECLARE_JF_TRACE(): the commas
 * between them do not separate arguments of that macro.
 */
#define JF_PROTO(...)	__VA_ARGS__
#define JF_ARGS(...)	__VA_ARGS__
#ifdef __KERNEL__
/* The names of 0.1, for modules that have them. */
#ifndef PROTO
#define PROTO		JF_PROTO
#endif
#ifndef ARGS
#define ARGS		JF_ARGS
#endif
#endif

#include <jumpfunc/detail/tracepoint_args.h>
#ifdef __KERNEL__
#include <jumpfunc/detail/tracepoint_kernel.h>
#else
#include <jumpfunc/detail/tracepoint_user.h>
#endif

#define __DECLARE_JF_TRACE(name, proto, args, name_args, data_proto, data_args) \
	__DECLARE_JF_TRACE_OF(name, __JF_PARAMS(proto), __JF_PARAMS(args), \
			      __JF_PARAMS(name_args), __JF_PARAMS(data_proto), \
			      __JF_PARAMS(data_args), __JF_MORE(name_args), \
			      __JF_TRACE_CHECK(name_args))

/* @num: the number of arguments, for a chain of probes; @check: of them */
#define __DECLARE_JF_TRACE_OF(name, proto, args, name_args, data_proto,	\
			      data_args, num, check)			\
	typedef void (*__jf_probe_##name)(data_proto);			\
	extern struct jf_tracepoint __jf_trace_##name __JF_SYMBOL("__jf_trace_" #name); \
	/* The iterator, used by DEFINE_JF_TRACE(); elsewhere only its type. */ \
	static __JF_ITER void __jf_iter_##name(data_proto)		\
	{								\
		const struct jf_probe *__jf_p =				\
			__JF_LOAD(__jf_trace_##name.active);		\
									\
		for (; __jf_p && __jf_p->func; __jf_p++) {		\
			__jf_data = __jf_p->data;			\
			(__extension__ (__jf_probe_##name)__jf_p->func)(data_args); \
		}							\
	}								\
									\
	__JF_DECLARE_TRACE_PARTS(name);					\
	enum { __jf_nargs_##name = num };					\
	static __JF_TRACE_FAR void __jf_trace_call_##name(proto)	\
	{								\
		check							\
		__JF_TRACE_ENTER(name)					\
		__JF_TRACE_CALL(name_args);				\
		__JF_TRACE_LEAVE(name)					\
	}								\
									\
	static __JF_INLINE void jf_trace_##name(proto)		\
	{								\
		__JF_TRACE_SDT(name_args)				\
		if (jf_branch_unlikely(&__jf_on_##name))		\
			__jf_trace_call_##name(args);			\
	}								\
									\
	static __JF_INLINE bool jf_trace_##name##_enabled(void)	\
	{								\
		return jf_branch_unlikely(&__jf_on_##name);		\
	}								\
									\
	static inline __JF_UNUSED __JF_MUST_CHECK int			\
	register_jf_trace_prio_##name(__jf_probe_##name probe, void *data, \
				      int prio)				\
	{								\
		return __jf_trace_register(&__jf_trace_##name,		\
			__extension__ (void *)probe, data, prio);	\
	}								\
									\
	static inline __JF_UNUSED __JF_MUST_CHECK int			\
	register_jf_trace_##name(__jf_probe_##name probe, void *data)	\
	{								\
		return register_jf_trace_prio_##name(probe, data,	\
						     JF_TRACE_PRIO_DEFAULT); \
	}								\
									\
	static inline __JF_UNUSED __JF_MUST_CHECK int			\
	unregister_jf_trace_##name(__jf_probe_##name probe, void *data)	\
	{								\
		return __jf_trace_unregister(&__jf_trace_##name,	\
					     __extension__ (void *)probe, data); \
	}								\
	struct __jf_trace_end_##name

/**
 * DEFINE_JF_TRACE() - define a tracepoint
 * @tp: its name as declared; the declaration must be visible
 */
#define DEFINE_JF_TRACE(tp)						\
	DEFINE_JF_KEY_FALSE(__jf_on_##tp);				\
	__DEFINE_DYNFUNC(__jf_tp_##tp, __jf_iter_##tp, jf_nop,		\
			 JF_ENT_NULL_OK | JF_ENT_TRACE | __JF_TRACE_FLAGS(tp)); \
	struct jf_tracepoint __jf_trace_##tp __JF_USED = {		\
		#tp, __JF_THIS, &__jf_on_##tp,				\
		&__jf_func___jf_tp_##tp,				\
		__extension__ (void *)__jf_iter_##tp,			\
		__jf_nargs_##tp, NULL, NULL, __JF_TRACE_END		\
	}

/**
 * jf_trace() - a tracepoint whose arguments cost nothing while it is off
 * @name: its name
 * @...:  its arguments; evaluated only while it has probes
 *
 * A function's arguments are evaluated before it is called, even if it is
 * inlined and does nothing. This macro evaluates them only after the branch was
 * taken.
 *
 * Context: any but noinstr code.
 */
#ifdef __KERNEL__
#define jf_trace(name, ...)						\
	__JF_TRACE_IF(name, __jf_trace_call_##name(__VA_ARGS__))
#else
#define jf_trace(...)		__JF_BY_NUMBER(__jf_trace_args_, __VA_ARGS__)
#define __jf_trace_args_1(name)		__JF_TRACE_IF(name, __jf_trace_call_##name())
#define __jf_trace_args_2(name, ...)					\
	__JF_TRACE_IF(name, __jf_trace_call_##name(__VA_ARGS__))
#endif
#define __JF_TRACE_IF(name, call)					\
do {									\
	if (jf_branch_unlikely(&__jf_on_##name))			\
		call;							\
} while (0)

/**
 * jf_trace_batch_register() - add the registration of a probe to a batch
 * @b:     the batch
 * @name:  the tracepoint
 * @probe: void probe(void *data, <parameters of the tracepoint>)
 * @data:  its first argument
 * @prio:  higher runs earlier; JF_TRACE_PRIO_DEFAULT is the priority of other probes
 *
 * All probes of a batch, of however many tracepoints, take effect in the one
 * transaction that changes its dynamic functions and keys as well.
 *
 * Context: process context, may sleep (allocates).
 * Return: 0, -EINVAL if @probe is NULL, -ENOMEM, or in a program -EDEADLK (see
 * jf_batch_commit()); jf_batch_commit() returns the same.
 */
#define jf_trace_batch_register(b, name, probe, data, prio)		\
__extension__ ({							\
	__jf_probe_##name __jf_new_probe = (probe);			\
									\
	__jf_batch_probe(b, &__jf_trace_##name, (void *)__jf_new_probe,	\
			 data, prio, true);				\
})

/**
 * jf_trace_batch_unregister() - add the removal of a probe to a batch
 * @b:     the batch
 * @name:  the tracepoint
 * @probe: as registered
 * @data:  as registered
 *
 * Context: process context, may sleep (allocates).
 * Return: 0, -EINVAL if @probe is NULL, -ENOMEM, or in a program -EDEADLK (see
 * jf_batch_commit()); jf_batch_commit() returns the same.
 */
#define jf_trace_batch_unregister(b, name, probe, data)			\
__extension__ ({							\
	__jf_probe_##name __jf_old_probe = (probe);			\
									\
	__jf_batch_probe(b, &__jf_trace_##name, (void *)__jf_old_probe,	\
			 data, 0, false);				\
})

/**
 * jf_trace_name() - call the probes of a tracepoint, if there are any
 * @...: its arguments, as DECLARE_JF_TRACE() says
 *
 * The name is jf_trace_ and that of the tracepoint: jf_trace_rx(p, len).
 * Arguments are evaluated even while it is off; see jf_trace().
 *
 * Context: any but noinstr code, and such that its probes may be called.
 */

/**
 * jf_trace_name_enabled() - test whether a tracepoint has probes
 *
 * A jump label, to guard code that prepares arguments: jf_trace_rx_enabled().
 *
 * Context: any but noinstr code. Return: true if it has a probe.
 */

/**
 * register_jf_trace_name() - add a probe to a tracepoint
 * @probe: void probe(void *data, <parameters of the tracepoint>)
 * @data:  its first argument
 *
 * The probe has priority %JF_TRACE_PRIO_DEFAULT. For a tracepoint rx the
 * function is called register_jf_trace_rx().
 *
 * Context: process context, may sleep; not from a CPU hotplug callback or a
 * probe.
 *
 * Return: 0; -EEXIST if the same probe has been registered with the same data;
 * or an error of jf_batch_commit(). Unless that is -EIO, nothing has changed.
 */

/**
 * register_jf_trace_prio_name() - add a probe with a priority to a tracepoint
 * @probe: void probe(void *data, <parameters of the tracepoint>)
 * @data:  its first argument
 * @prio:  its priority; higher runs earlier, equals in the order of registration
 *
 * Context: as for register_jf_trace_name().
 *
 * Return: as for register_jf_trace_name().
 */

/**
 * unregister_jf_trace_name() - remove a probe from a tracepoint
 * @probe: as registered
 * @data:  as registered
 *
 * Context: as for register_jf_trace_name().
 *
 * Return: 0; -ENOENT if there is no such probe; or an error of
 * jf_batch_commit(), -ENOMEM for one. Unless that is -EIO, nothing has changed.
 */

#endif /* JUMPFUNC_TRACEPOINT_H */
