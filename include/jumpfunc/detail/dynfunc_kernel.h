/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Dynamic functions in the kernel alone: contracts, scopes, and which modules may update them.
 * Included by dynfunc.h only.
 *
 * __jf_contract_name and __jf_access_name are never defined. Their sizes are
 * constants that may be declared more than once, if they agree.
 */
#ifndef JUMPFUNC_DYNFUNC_KERNEL_H
#define JUMPFUNC_DYNFUNC_KERNEL_H

#ifndef JUMPFUNC_DYNFUNC_H
#error "include <jumpfunc/dynfunc.h>"
#endif

#define __JF_MAY_UPDATE(name)						\
	extern char __jf_access_##name[1]
#define __JF_MAY_CALL(name)						\
	extern char __jf_access_##name[2]
#define __JF_CALL_ONLY(name)	(sizeof(__jf_access_##name) == 2)

/**
 * DECLARE_DYNFUNC() - declare a dynamic function
 * @name:     its name
 * @func:     any function of its type
 * @contract: JF_BARE, JF_RCU or JF_SLEEPABLE (contract.h), as where it is defined;
 *            JF_BARE if left out
 */
#define DECLARE_DYNFUNC(name, func, contract...)			\
	__JF_DECLARE_CONTRACT(name, ##contract);			\
	__JF_MAY_UPDATE(name);						\
	__DECLARE_DYNFUNC(extern, name, func)

/**
 * DECLARE_DYNFUNC_CALL() - declare a dynamic function that may only be called
 * @name:     its name
 * @func:     any function of its type
 * @contract: as above
 *
 * For modules that use one of EXPORT_DYNFUNC_CALL(). Code that would update it, or ask for its
 * target, does not compile.
 */
#define DECLARE_DYNFUNC_CALL(name, func, contract...)			\
	__JF_DECLARE_CONTRACT(name, ##contract);			\
	__JF_MAY_CALL(name);						\
	__DECLARE_DYNFUNC(extern, name, func)

#define __DEFINE_DYNFUNC_AS(name, func, target, flags)			\
	__JF_MAY_UPDATE(name);						\
	__DEFINE_DYNFUNC(name, func, target,				\
		(flags) | __JF_CONTRACT_FLAGS(__JF_CONTRACT(name)))

#define __DEFINE_DYNFUNC_LOCAL(name, func, target, flags)		\
	__JF_MAY_UPDATE(name);						\
	__DECLARE_DYNFUNC(static, name, func);				\
	__JF_DEFINE_CALL_LOCAL(name, func, target);			\
	static struct jf_func __jf_func_##name __used =			\
		__JF_FUNC_INIT(name, target,				\
			(flags) | __JF_CONTRACT_FLAGS(__JF_CONTRACT(name)))

/**
 * DEFINE_DYNFUNC() - define a dynamic function
 * @name:     its name, unique in the module and among exported names
 * @func:     its target until it is updated; gives it its type
 * @contract: as for DECLARE_DYNFUNC()
 */
#define DEFINE_DYNFUNC(name, func, contract...)				\
	__JF_DECLARE_CONTRACT(name, ##contract);			\
	__DEFINE_DYNFUNC_AS(name, func, func, 0)

/**
 * DEFINE_DYNFUNC_NULL() - define a dynamic function that starts as a nop
 * @name:     its name
 * @func:     any function of its type, which must return void and have no
 *            parameter narrower than int
 * @contract: as for DECLARE_DYNFUNC()
 */
#define DEFINE_DYNFUNC_NULL(name, func, contract...)			\
	__JF_NULL_CHECK(func)						\
	__JF_DECLARE_CONTRACT(name, ##contract);			\
	__DEFINE_DYNFUNC_AS(name, func, jf_nop, JF_ENT_NULL_OK)

/**
 * DEFINE_DYNFUNC_RET0() - define a dynamic function that starts returning 0
 * @name:     its name
 * @func:     any function of its type, which returns an integer or a pointer. A
 *            void function is refused by the compiler, unless it has a parameter
 *            narrower than int, which hides the return type from the check;
 *            calling such a function is harmless
 * @contract: as for DECLARE_DYNFUNC()
 */
#define DEFINE_DYNFUNC_RET0(name, func, contract...)			\
	__JF_RET0_CHECK(func)						\
	__JF_DECLARE_CONTRACT(name, ##contract);			\
	__DEFINE_DYNFUNC_AS(name, func, jf_ret0, JF_ENT_RET0)

/**
 * DEFINE_DYNFUNC_LOCAL() - define a dynamic function of one source file
 * @name:     its name, unique in the file; other files may have one of this name
 * @func:     its target until it is updated; gives it its type
 * @contract: as for DECLARE_DYNFUNC()
 *
 * Neither its trampoline nor its data is seen by other files.
 * DEFINE_DYNFUNC_NULL_LOCAL() and DEFINE_DYNFUNC_RET0_LOCAL() are the same for the
 * other two forms. It needs no declaration, and takes none.
 */
#define DEFINE_DYNFUNC_LOCAL(name, func, contract...)			\
	__JF_DECLARE_CONTRACT(name, ##contract);			\
	__DEFINE_DYNFUNC_LOCAL(name, func, func, 0)
#define DEFINE_DYNFUNC_NULL_LOCAL(name, func, contract...)		\
	__JF_NULL_CHECK(func)						\
	__JF_DECLARE_CONTRACT(name, ##contract);			\
	__DEFINE_DYNFUNC_LOCAL(name, func, jf_nop, JF_ENT_NULL_OK)
#define DEFINE_DYNFUNC_RET0_LOCAL(name, func, contract...)		\
	__JF_RET0_CHECK(func)						\
	__JF_DECLARE_CONTRACT(name, ##contract);			\
	__DEFINE_DYNFUNC_LOCAL(name, func, jf_ret0, JF_ENT_RET0)

/**
 * IMPORT_DYNFUNC() - use a dynamic function of another module, or shared object
 * @name: its name; it is exported there
 * @func: any function of its type
 *
 * In one source file of each object that uses it. In a kernel it declares.
 */
#define IMPORT_DYNFUNC(name, func)	DECLARE_DYNFUNC(name, func)

/**
 * EXPORT_DYNFUNC() - let other modules call and update a dynamic function
 * @name: its name; they need DECLARE_DYNFUNC() with the same type and contract
 *
 * EXPORT_DYNFUNC_GPL() is the same for modules with a GPL-compatible licence.
 */
#define EXPORT_DYNFUNC(name)		__JF_EXPORT_CALL(EXPORT_SYMBOL, name)
#define EXPORT_DYNFUNC_GPL(name)	__JF_EXPORT_CALL(EXPORT_SYMBOL_GPL, name)

/**
 * EXPORT_DYNFUNC_CALL() - let other modules call a dynamic function
 * @name: its name; they need DECLARE_DYNFUNC_CALL() with the same type and contract
 *
 * Only its trampoline is exported. A module that calls dynfunc_update() in spite of
 * that is not linked. (Where text is not patched, a call needs the pointer itself.)
 * EXPORT_DYNFUNC_CALL_GPL() is the same for modules with a GPL-compatible licence.
 */
#define EXPORT_DYNFUNC_CALL(name)	__JF_EXPORT_CALL_ONLY(EXPORT_SYMBOL, name)
#define EXPORT_DYNFUNC_CALL_GPL(name)	__JF_EXPORT_CALL_ONLY(EXPORT_SYMBOL_GPL, name)

/* --- updates ------------------------------------------------------------- */

/**
 * define JF_PIN - keep the target's module from being unloaded
 *
 * As long as the dynamic function leads there: rmmod fails with "in use". The next
 * update decides anew. A target in the dynamic function's own module, or in the
 * kernel, needs no pin and gets none.
 */
#define JF_PIN		0x02

/**
 * define JF_VOUCH - take a target that is no module's text, nor the kernel's
 *
 * The caller makes sure that the text stays until it has been replaced and a
 * jf_quiesce() after that has returned.
 */
#define JF_VOUCH	0x04

#define dynfunc_update(name, func)	__dynfunc_update(name, func, 0)

/**
 * dynfunc_update_flags() - change the target of a dynamic function, with options
 * @name:  the dynamic function
 * @func:  a function of its type, or NULL where its definition allows that
 * @flags: JF_PIN, JF_VOUCH, both or 0
 *
 * Context: process context, may sleep; see jf_batch_commit().
 *
 * Return: as dynfunc_update(), or -EOPNOTSUPP if the module to be pinned was loaded
 * before jumpfunc.
 */
#define dynfunc_update_flags(name, func, flags)				\
	__dynfunc_update(name, func, (flags) & ~__JF_CPUSLOCKED)

/**
 * dynfunc_update_cpuslocked() - change a target, under cpus_read_lock()
 * @name: the dynamic function
 * @func: a function of its type, or NULL where its definition allows that
 *
 * Context: process context, may sleep, with the CPU hotplug lock held; a CPU
 * hotplug callback that may sleep.
 *
 * Return: as dynfunc_update().
 */
#define dynfunc_update_cpuslocked(name, func)				\
	__dynfunc_update(name, func, __JF_CPUSLOCKED)

#define __JF_UPDATE_CHECK(name)						\
	static_assert(!__JF_CALL_ONLY(name), #name " is declared for calling only")

#define __dynfunc_update(name, func, flags)				\
	__jf_func_update_flags(&__jf_func_##name, ({			\
		typeof(__JF_POINTER(name)) __jf_new = (func);		\
									\
		__JF_UPDATE_CHECK(name);				\
		(void *)__jf_new;					\
	}), flags)

/**
 * dynfunc_batch_set_flags() - add an update to a batch, with JF_PIN or JF_VOUCH
 * @b:     the batch
 * @name:  the dynamic function
 * @func:  a function of its type, or NULL where its definition allows that
 * @flags: JF_PIN, JF_VOUCH, both or 0
 *
 * Context, Return: as dynfunc_batch_set().
 */
#define dynfunc_batch_set_flags(b, name, func, flags)			\
({									\
	typeof(__JF_POINTER(name)) __jf_new = (func);			\
									\
	__JF_UPDATE_CHECK(name);					\
	__jf_batch_set_func_flags(b, &__jf_func_##name,			\
				  (void *)__jf_new, flags);		\
})

#define dynfunc_batch_set(b, name, func)				\
	dynfunc_batch_set_flags(b, name, func, 0)

/**
 * dynfunc_synchronize() - wait until no target that was replaced runs any more
 * @name: the dynamic function
 *
 * Waits as its contract demands, for callers of this and perhaps of other dynamic
 * functions. The data of a replaced target can be freed then.
 *
 * Context: as jf_quiesce().
 */
#define dynfunc_synchronize(name)	__jf_synchronize(__JF_CONTRACT(name))

#endif /* JUMPFUNC_DYNFUNC_KERNEL_H */
