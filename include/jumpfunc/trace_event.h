/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Trace events on jumpfunc tracepoints: a nop while off. While on, they are
 * events of the kernel, which trace-cmd, perf, bpftrace, filters, triggers and
 * histograms treat as any other. In a program the same header makes events that
 * libjumpfunc-trace records, for babeltrace2 and the like: record.h starts that, and
 * detail/trace_event_user.h lists the differences. The text below is about modules.
 *
 * API in a header of the module:
 *   JF_TRACE_EVENT(name, ...)	an event; the arguments are those of TRACE_EVENT()
 *   JF_DEFINE_EVENT(class, name, TP_PROTO(...), TP_ARGS(...))
 *				an event of a DECLARE_EVENT_CLASS()
 *   JF_TRACE_EVENT_CONDITION(name, ...)
 *				the arguments are those of TRACE_EVENT_CONDITION():
 *				what does not meet the condition is not recorded
 *   JF_DEFINE_EVENT_CONDITION(class, name, TP_PROTO(...), TP_ARGS(...), TP_CONDITION(...))
 *				both
 *
 * API in source files:
 *   jf_trace_name(args...)	the tracepoint, and all else that tracepoint.h
 *				offers: jf_trace(), jf_trace_name_enabled(),
 *				register_jf_trace_name(), EXPORT_JF_TRACE_GPL()
 *   JF_TRACE_EVENT_PARAM(system)
 *				a module parameter trace_event=name,... that
 *				enables events while the module is loaded
 *
 * Example:
 *   // net_events.h, found by ccflags-y += -I$(src)
 *   #undef TRACE_SYSTEM
 *   #define TRACE_SYSTEM my_net
 *
 *   #if !defined(NET_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
 *   #define NET_EVENTS_H
 *   #include <jumpfunc/trace_event.h>
 *
 *   JF_TRACE_EVENT(my_rx,
 *	TP_PROTO(struct packet *p, int len),
 *	TP_ARGS(p, len),
 *	TP_STRUCT__entry(__field(int, len)),
 *	TP_fast_assign(__entry->len = len;),
 *	TP_printk("len=%d", __entry->len)
 *   );
 *   #endif
 *
 *   #undef TRACE_INCLUDE_PATH
 *   #define TRACE_INCLUDE_PATH .
 *   #undef TRACE_INCLUDE_FILE
 *   #define TRACE_INCLUDE_FILE net_events
 *   #include <jumpfunc/define_trace.h>	// not <trace/define_trace.h>
 *
 *   // in one source file; others include it without CREATE_TRACE_POINTS
 *   #define CREATE_TRACE_POINTS
 *   #include "net_events.h"
 *
 *   jf_trace_my_rx(p, len);			// in the hot path
 *
 * How it works: there are two tracepoints. jf_trace_my_rx() is one of jumpfunc;
 * it is all that the hot path contains. trace_my_rx() is one of the kernel, and
 * stands in a function of its own, the forwarder. When the kernel's gets its
 * first user, the kernel calls a function that registers the forwarder as a
 * probe on jumpfunc's; after the last user is removed, another one removes it.
 * While the event is on, it costs a direct call in addition to the cost of the kernel's tracepoint.
 * Probes that were registered with register_jf_trace_my_rx() run beside the forwarder, which has
 * the default priority.
 *
 * Caveats:
 *   Names are global, as those of all tracepoints of the kernel are.
 *
 *   Call jf_trace_my_rx(), not trace_my_rx(): only the former may stand
 *   anywhere. The latter reaches the event's users but no jumpfunc probe.
 *
 *   An event has one to 12 parameters: integers, enums and pointers.
 *
 *   The kernel calls the event's users from the forwarder. So that is the address that
 *   perf gives a sample, and __jf_forward_my_rx stands first in stack traces; the
 *   function with the tracepoint is the next one (perf record -g).
 *
 *   Enabling can fail where registering a probe can (see tracepoint.h), and then
 *   returns the error. Disabling cannot. If the forwarder cannot be removed because
 *   memory is short, the log says so, and it stays until the event is next
 *   disabled. Until then it forwards to no user, and no event is lost or recorded
 *   twice.
 *
 *   Remove triggers, as hist:, before the module is unloaded. They do not keep it,
 *   and the kernel then warns that the event still has users, as it does of events
 *   that are its own.
 *
 *   Events may be enabled as soon as the module's parameters are parsed, so an
 *   event may occur before the module's init function has been called.
 */
#ifndef JUMPFUNC_TRACE_EVENT_H
#define JUMPFUNC_TRACE_EVENT_H

#ifdef __KERNEL__
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include <jumpfunc/tracepoint.h>

/* An event where a source file includes the header: two declarations. */
#define __JF_EVENT_DECLARE(name, proto, args, tstruct, assign, print)	\
	DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args));	\
	TRACE_EVENT(name, __JF_PARAMS(proto), __JF_PARAMS(args),	\
		    __JF_PARAMS(tstruct), __JF_PARAMS(assign),		\
		    __JF_PARAMS(print))
#define __JF_EVENT_DECLARE_OF(class, name, proto, args)			\
	DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args));	\
	DEFINE_EVENT(class, name, __JF_PARAMS(proto), __JF_PARAMS(args))

/* The condition belongs to the kernel's: the forwarder tests it. */
#define __JF_EVENT_DECLARE_COND(name, proto, args, cond, tstruct,	\
				assign, print)				\
	DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args));	\
	TRACE_EVENT_CONDITION(name, __JF_PARAMS(proto),			\
			      __JF_PARAMS(args), __JF_PARAMS(cond),	\
			      __JF_PARAMS(tstruct), __JF_PARAMS(assign), \
			      __JF_PARAMS(print))
#define __JF_EVENT_DECLARE_OF_COND(class, name, proto, args, cond)	\
	DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args));	\
	DEFINE_EVENT_CONDITION(class, name, __JF_PARAMS(proto),		\
			       __JF_PARAMS(args), __JF_PARAMS(cond))

/* In the pass of <jumpfunc/define_trace.h>: the connection of the two. */
#define __JF_EVENT_CONNECT(name, proto, args, tstruct, assign, print)	\
	__JF_EVENT_CONNECT_OF(, name, __JF_PARAMS(proto), __JF_PARAMS(args))
#define __JF_EVENT_CONNECT_OF(class, name, proto, args)			\
	DEFINE_JF_TRACE(name);						\
									\
	static notrace void						\
	__jf_forward_##name(void *__jf_data, proto)			\
	{								\
		__jf_forward_begin();					\
		trace_##name(args);					\
		__jf_forward_end();					\
	}								\
									\
	static int __jf_event_on_##name(void)				\
	{								\
		return __jf_event_on(register_jf_trace_##name(		\
					__jf_forward_##name, NULL));	\
	}								\
									\
	static void __jf_event_off_##name(void)				\
	{								\
		__jf_event_off(#name, unregister_jf_trace_##name(	\
					__jf_forward_##name, NULL));	\
	}								\
	struct __jf_event_end_##name
#define __JF_EVENT_CONNECT_COND(name, proto, args, cond, tstruct,	\
				assign, print)				\
	__JF_EVENT_CONNECT_OF(, name, __JF_PARAMS(proto), __JF_PARAMS(args))
#define __JF_EVENT_CONNECT_OF_COND(class, name, proto, args, cond)	\
	__JF_EVENT_CONNECT_OF(, name, __JF_PARAMS(proto), __JF_PARAMS(args))

/* In the passes of the kernel's <trace/define_trace.h>: an event of its own. */
#define __JF_EVENT_DEFINE(name, proto, args, tstruct, assign, print)	\
	TRACE_EVENT_FN(name, __JF_PARAMS(proto), __JF_PARAMS(args),	\
		       __JF_PARAMS(tstruct), __JF_PARAMS(assign),	\
		       __JF_PARAMS(print),				\
		       __jf_event_on_##name, __jf_event_off_##name)
#define __JF_EVENT_DEFINE_OF(class, name, proto, args)			\
	DEFINE_EVENT_FN(class, name, __JF_PARAMS(proto),		\
			__JF_PARAMS(args),				\
			__jf_event_on_##name, __jf_event_off_##name)
/* The definition does not need the condition. */
#define __JF_EVENT_DEFINE_COND(name, proto, args, cond, tstruct,	\
			       assign, print)				\
	__JF_EVENT_DEFINE(name, __JF_PARAMS(proto), __JF_PARAMS(args),	\
			  __JF_PARAMS(tstruct), __JF_PARAMS(assign),	\
			  __JF_PARAMS(print))
#define __JF_EVENT_DEFINE_OF_COND(class, name, proto, args, cond)	\
	__JF_EVENT_DEFINE_OF(class, name, __JF_PARAMS(proto),		\
			     __JF_PARAMS(args))
#else
#include <jumpfunc/detail/trace_event_user.h>
#endif

/**
 * JF_TRACE_EVENT() - a jumpfunc tracepoint and an event of the kernel
 * @name:    of both: jf_trace_name(), and events/<TRACE_SYSTEM>/name in tracefs
 * @proto:   TP_PROTO(...): the parameters, at least one, at most 12
 * @args:    TP_ARGS(...): their names
 * @tstruct: TP_STRUCT__entry(...): the fields of a record
 * @assign:  TP_fast_assign(...): how they are set
 * @print:   TP_printk(...): how a record is shown
 */
#define JF_TRACE_EVENT		__JF_EVENT_DECLARE

/**
 * JF_DEFINE_EVENT() - a tracepoint and an event that shares a class with others
 * @class: as given to the kernel's DECLARE_EVENT_CLASS()
 * @name:  of the event
 * @proto: TP_PROTO(...), that of the class
 * @args:  TP_ARGS(...), those of the class
 */
#define JF_DEFINE_EVENT		__JF_EVENT_DECLARE_OF

/**
 * JF_TRACE_EVENT_CONDITION() - JF_TRACE_EVENT() under a condition
 * @name:    of both tracepoints
 * @proto:   TP_PROTO(...)
 * @args:    TP_ARGS(...)
 * @cond:    TP_CONDITION(...): an expression of the parameters; it is evaluated
 *           only while the event is on
 * @tstruct: TP_STRUCT__entry(...)
 * @assign:  TP_fast_assign(...)
 * @print:   TP_printk(...)
 *
 * Probes of jf_trace_name() itself see all calls.
 */
#define JF_TRACE_EVENT_CONDITION	__JF_EVENT_DECLARE_COND

/**
 * JF_DEFINE_EVENT_CONDITION() - JF_DEFINE_EVENT() under a condition
 * @class: as given to the kernel's DECLARE_EVENT_CLASS()
 * @name:  of the event
 * @proto: TP_PROTO(...), that of the class
 * @args:  TP_ARGS(...), those of the class
 * @cond:  TP_CONDITION(...)
 */
#define JF_DEFINE_EVENT_CONDITION	__JF_EVENT_DECLARE_OF_COND

#ifndef __KERNEL__
/* As the kernel's headers define them. */
#define TP_PROTO(...)			__VA_ARGS__
#define TP_ARGS(...)			__VA_ARGS__
#define TP_STRUCT__entry(...)		__VA_ARGS__
#define TP_fast_assign(...)		__VA_ARGS__
#define TP_printk(...)			#__VA_ARGS__
#define TP_CONDITION(...)		__VA_ARGS__
/* These declare nothing of use: a semicolon follows them, which alone is not standard C. */
#define __JF_EVENT_UNUSED(name, ...)	struct __jf_unused_##name
/* Not before the passes of <jumpfunc/define_trace.h>. */
#define DECLARE_EVENT_CLASS		__JF_EVENT_UNUSED
/* Of the kernel alone. */
#define TRACE_EVENT			__JF_EVENT_UNUSED
#define TRACE_EVENT_CONDITION		__JF_EVENT_UNUSED
#define TRACE_EVENT_FN			__JF_EVENT_UNUSED
#define TRACE_EVENT_FN_COND		__JF_EVENT_UNUSED
#define DEFINE_EVENT			__JF_EVENT_UNUSED
#define DEFINE_EVENT_FN			__JF_EVENT_UNUSED
#define DEFINE_EVENT_PRINT		__JF_EVENT_UNUSED
#define DEFINE_EVENT_CONDITION		__JF_EVENT_UNUSED
#define DECLARE_TRACE			__JF_EVENT_UNUSED
#define DECLARE_TRACE_CONDITION		__JF_EVENT_UNUSED
/* Nothing: a program's events are enabled by <jumpfunc/record.h>, or by JUMPFUNC_TRACE. */
#define JF_TRACE_EVENT_PARAM(system)	struct __jf_event_param
#else
/*
 * An event records how deeply preemption is disabled, less the share of the kernel's tracepoint
 * itself. It does not subtract the share of ours, so the forwarder takes this back around it.
 * Probes that come after the forwarder still need a section of RCU that began before they were
 * removed: it goes on. (Where RCU's readers cannot be preempted, a section is the same as
 * preemption off, and nothing changes.)
 */
static __always_inline void __jf_forward_begin(void)
{
	rcu_read_lock();
	preempt_enable_notrace();
}

static __always_inline void __jf_forward_end(void)
{
	preempt_disable_notrace();
	rcu_read_unlock();
}

/* The forwarder may still be there: see __jf_event_off(). */
static inline int __jf_event_on(int err)
{
	return err == -EEXIST ? 0 : err;
}

static inline void __jf_event_off(const char *name, int err)
{
	/* -ENOENT: jumpfunc has removed it already, as the module is unloaded. */
	if (err && err != -ENOENT)
		pr_warn("jumpfunc: event %s is off, but its tracepoint stays on (%d)\n",
			name, err);
}

/* "name,name" or "all", while the module is loaded. */
static inline int __jf_event_param_set(const char *val,
				       const struct kernel_param *kp)
{
	const char *system = kp->arg;
	char *names, *next, *name;
	int err = 0;

	names = kstrdup(val ?: "", GFP_KERNEL);
	if (!names)
		return -ENOMEM;
	next = names;
	while (!err && (name = strsep(&next, ","))) {
		if (!strcmp(name, "all"))
			err = trace_set_clr_event(system, NULL, 1);
		else
			/* An empty name would enable all of them. */
			err = *name ? trace_set_clr_event(system, name, 1) :
				      -EINVAL;
		if (err)
			pr_err("jumpfunc: trace_event: cannot enable event '%s' of %s (%d)\n",
			       name, system, err);
	}
	kfree(names);
	return err;
}

/**
 * JF_TRACE_EVENT_PARAM() - let events be enabled while the module is loaded
 * @system: the TRACE_SYSTEM of its events, as a string
 *
 * Gives the module a parameter, as in "insmod net.ko trace_event=my_rx,my_tx",
 * "trace_event=all", or net.trace_event=my_rx on the kernel's command line. The
 * events are on before the module's init function is called. They record to
 * the kernel's main trace buffer. If one of the names is unknown, or an event
 * cannot be enabled, the log says which one, and the module is not loaded.
 *
 * Kernels from 6.14 on can do without it: trace_event=:mod:net on their command
 * line, or ":mod:net" written to set_event in tracefs.
 */
#define JF_TRACE_EVENT_PARAM(system)					\
	static const struct kernel_param_ops __jf_event_param_ops = {	\
		.set = __jf_event_param_set,				\
	};								\
	module_param_cb(trace_event, &__jf_event_param_ops,		\
			(void *)(system), 0);				\
	MODULE_PARM_DESC(trace_event,					\
			 "events of " system " to enable: names with commas, or all")
#endif /* __KERNEL__ */

#endif /* JUMPFUNC_TRACE_EVENT_H */

#ifdef __KERNEL__
/* After a header with events TRACE_EVENT() is undefined; this defines it again. */
#include <linux/tracepoint.h>
#endif

/* A header that reads events again must define JF_TRACE_EVENT() for that pass. */
#if defined(TRACE_HEADER_MULTI_READ) && !defined(__JF_EVENT_PASS)
#error "a header with JF_TRACE_EVENT() ends with #include <jumpfunc/define_trace.h>, not <trace/define_trace.h>"
#endif
