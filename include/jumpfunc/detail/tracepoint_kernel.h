/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Tracepoints in the kernel alone: contracts, and exports to other modules. Included by
 * tracepoint.h only.
 */
#ifndef JUMPFUNC_TRACEPOINT_KERNEL_H
#define JUMPFUNC_TRACEPOINT_KERNEL_H

#ifndef JUMPFUNC_TRACEPOINT_H
#error "include <jumpfunc/tracepoint.h>"
#endif

/**
 * DECLARE_JF_TRACE() - declare a tracepoint
 * @name:     its name
 * @proto:    JF_PROTO(...): the parameters, at least one, at most 12
 * @args:     JF_ARGS(...): their names
 * @contract: JF_RCU, JF_SLEEPABLE or JF_BARE (contract.h): the protection of its probes; JF_RCU if
 *            left out, as with the kernel's own tracepoints
 */
#define DECLARE_JF_TRACE(name, proto, args, contract...)		\
	enum { __jf_trace_contract_##name = __JF_OPT(JF_RCU, ##contract) }; \
	__DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args),	\
			   __JF_PARAMS(name, args),			\
			   __JF_PARAMS(void *__jf_data, proto),		\
			   __JF_PARAMS(__jf_data, args))

/**
 * DECLARE_JF_TRACE_NOARGS() - declare a tracepoint without arguments
 * @name:     its name
 * @contract: as for DECLARE_JF_TRACE()
 */
#define DECLARE_JF_TRACE_NOARGS(name, contract...)			\
	enum { __jf_trace_contract_##name = __JF_OPT(JF_RCU, ##contract) }; \
	__DECLARE_JF_TRACE(name, void, , name, void *__jf_data, __jf_data)

#define __JF_TRACE_FAR			__JF_INLINE
#define __JF_TRACE_ENTER(name)						\
	int __jf_idx = __jf_enter((enum jf_contract)__jf_trace_contract_##name);
#define __JF_TRACE_LEAVE(name)						\
	__jf_leave((enum jf_contract)__jf_trace_contract_##name, __jf_idx);
#define __JF_TRACE_FLAGS(name)						\
	__JF_CONTRACT_FLAGS(__jf_trace_contract_##name)

/**
 * jf_trace_synchronize() - wait until no probe that was removed runs any more
 * @name: the tracepoint
 *
 * Waits as its contract demands. The data of a removed probe can be freed then.
 *
 * Context: as jf_quiesce().
 */
#define jf_trace_synchronize(name)					\
	__jf_synchronize((enum jf_contract)__jf_trace_contract_##name)

#define __JF_ITER		__JF_UNUSED
#define __JF_TRACE_END		{ NULL, NULL }
#define __JF_TRACE_SDT(...)

#define __JF_DECLARE_TRACE_PARTS(name)					\
	DECLARE_JF_KEY(__jf_on_##name);					\
	DECLARE_DYNFUNC(__jf_tp_##name, __jf_iter_##name)

/* With versions of symbols, modpost has so much room for each in a module that imports it. */
#if defined(CONFIG_MODVERSIONS) && !defined(CONFIG_EXTENDED_MODVERSIONS)
#define __JF_TRACE_EXPORTABLE(name)					\
	static_assert(sizeof("__jf_func___jf_tp_" #name) <= MODULE_NAME_LEN, \
		      "jumpfunc: in a kernel with CONFIG_MODVERSIONS the name of an exported tracepoint has 37 characters at most: " #name)
#else
#define __JF_TRACE_EXPORTABLE(name)	struct __jf_export_trace_##name
#endif

/**
 * EXPORT_JF_TRACE() - let other modules trace it and register probes
 * @name: its name, of 37 characters at most where the kernel has CONFIG_MODVERSIONS;
 *        they need DECLARE_JF_TRACE() with the same prototype
 *
 * EXPORT_JF_TRACE_GPL() is the same for modules with a GPL-compatible licence.
 */
#define EXPORT_JF_TRACE(name)						\
	__JF_TRACE_EXPORTABLE(name);					\
	EXPORT_JF_KEY(__jf_on_##name);					\
	EXPORT_DYNFUNC(__jf_tp_##name);					\
	EXPORT_SYMBOL(__jf_trace_##name)
/**
 * EXPORT_JF_TRACE_CALL() - let other modules trace it, and not register probes
 * @name: its name; they need DECLARE_JF_TRACE() with the same prototype
 *
 * A module that registers probes in spite of that is not linked.
 * EXPORT_JF_TRACE_CALL_GPL() is the same for modules with a GPL-compatible licence.
 */
#define EXPORT_JF_TRACE_CALL(name)					\
	__JF_TRACE_EXPORTABLE(name);					\
	EXPORT_JF_KEY(__jf_on_##name);					\
	EXPORT_DYNFUNC(__jf_tp_##name)
#define EXPORT_JF_TRACE_CALL_GPL(name)					\
	__JF_TRACE_EXPORTABLE(name);					\
	EXPORT_JF_KEY_GPL(__jf_on_##name);				\
	EXPORT_DYNFUNC_GPL(__jf_tp_##name)
#define EXPORT_JF_TRACE_GPL(name)					\
	__JF_TRACE_EXPORTABLE(name);					\
	EXPORT_JF_KEY_GPL(__jf_on_##name);				\
	EXPORT_DYNFUNC_GPL(__jf_tp_##name);				\
	EXPORT_SYMBOL_GPL(__jf_trace_##name)

/**
 * IMPORT_JF_TRACE() - use a tracepoint of another module, or shared object
 * @name: its name; it is declared by DECLARE_JF_TRACE(), and exported there
 *
 * In one source file of each object that traces it or registers probes.
 * IMPORT_JF_TRACE_CALL() is for those that only trace it, as EXPORT_JF_TRACE_CALL()
 * allows. In a kernel both are nothing.
 */
#define IMPORT_JF_TRACE(name)		struct __jf_import_trace_##name
#define IMPORT_JF_TRACE_CALL(name)	struct __jf_import_trace_##name

#endif /* JUMPFUNC_TRACEPOINT_KERNEL_H */
