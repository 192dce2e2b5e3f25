/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Dynamic functions: calls whose target changes at run time, by patching text.
 *
 * API:
 *   DECLARE_DYNFUNC(name, func)	in a header; the type is that of func
 *   DEFINE_DYNFUNC(name, func)		calls func until updated
 *   DEFINE_DYNFUNC_NULL(name, func)	of func's type; does nothing until updated
 *   DEFINE_DYNFUNC_RET0(name, func)	of func's type; returns 0 until updated
 *   DYNFUNC_TARGETS(name, f, g, ...)	the targets that debugfs may set
 *   EXPORT_DYNFUNC(name), EXPORT_DYNFUNC_GPL(name)	for calling and updating
 *   IMPORT_DYNFUNC(name, func)		in a program, one of another shared object
 *   EXPORT_DYNFUNC_CALL(name), ..._CALL_GPL(name)	for calling only:
 *   DECLARE_DYNFUNC_CALL(name, func)	for those who may only call it
 *   DEFINE_DYNFUNC_LOCAL(name, func), DEFINE_DYNFUNC_NULL_LOCAL(), ..._RET0_LOCAL()
 *					known in this source file only
 *
 *   In the kernel, all of the DECLARE and DEFINE forms take a contract as a last
 *   argument (contract.h); without one it is JF_BARE.
 *
 *   dynfunc_name(args...)		call it, an ordinary C function
 *   dynfunc_call(name, args...)	call it from a site that is patched in place
 *   dynfunc_update(name, func)		make it call func from now on
 *   dynfunc_update_flags(name, func, f)	the same; f: JF_PIN, JF_VOUCH, or both
 *   dynfunc_query(name)		the function that it calls now
 *   dynfunc_batch_set(&b, name, func)	update it as part of a batch (batch.h)
 *
 * Example:
 *   int fast(int a, int b);
 *   int slow(int a, int b);
 *
 *   DEFINE_DYNFUNC(my_op, fast);
 *   DYNFUNC_TARGETS(my_op, fast, slow);
 *
 *   x = dynfunc_my_op(1, 2);		// call trampoline; jmp fast
 *   x = dynfunc_call(my_op, 1, 2);	// call fast
 *   err = dynfunc_update(my_op, slow);
 *
 * How it works:
 *   dynfunc_my_op is a trampoline, five bytes of "jmp <target>". Each use of
 *   dynfunc_call() is a site, five bytes of "call <target>". An update rewrites
 *   the trampoline and all sites, in all modules, in one transaction. There is
 *   no load of a pointer and no indirect branch, hence no retpoline.
 *
 *   In a kernel a call site passes its arguments in registers: up to six integers, enums or
 *   pointers. They are converted to the parameters' types as C does. If the
 *   function has parameters narrower than int, and an argument's type is not
 *   exactly the parameter's, that one call goes through the trampoline instead,
 *   where the compiler converts. Arguments and results of 16 bytes (__int128)
 *   are refused at compile time: call dynfunc_my_op() instead. Do the same
 *   where a parameter has 16 bytes and the argument fewer, which a macro cannot
 *   see.
 *
 * NULL:
 *   A function pointer that may be NULL is tested before each call:
 *
 *	if (hook)
 *		hook(arg);
 *	x = filter ? filter(arg) : 0;
 *
 *   DEFINE_DYNFUNC_NULL() and DEFINE_DYNFUNC_RET0() are for these two, as
 *   DEFINE_STATIC_CALL_NULL() and DEFINE_STATIC_CALL_RET0() are among the
 *   kernel's static calls. While hook is NULL, dynfunc_call(hook, arg) is a
 *   nop; while filter is NULL, dynfunc_call(filter, arg) sets the return
 *   register to zero. No test is left. As with static calls, the arguments are
 *   evaluated all the same, which they are not in the code above.
 *
 *   A nop leaves any value in the return register. So the type of a NULL form
 *   must return void, and that of a RET0 form an integer or a pointer. A
 *   function that was defined by DEFINE_DYNFUNC() always has a target.
 *
 *   The instructions:
 *
 *                    | trampoline       | call site
 *     ---------------+------------------+---------------------
 *     a function     | jmp func         | call func
 *     NULL           | jmp to a "ret"   | five-byte nop
 *     NULL with RET0 | jmp to "return 0"| five-byte "eax = 0"
 *     backend=       | jmp *pointer     | call trampoline
 *        indirect    | (by retpoline)   |
 *
 *   On architectures without patching dynfunc_my_op is a function pointer, and
 *   dynfunc_call() calls through it. A call means the same everywhere. The name
 *   alone does not: where text is patched it is the address of the trampoline,
 *   which follows updates; elsewhere it is the present target.
 *
 * Caveats:
 *   In the kernel, a dynamic function does not pin the module of its target, unless it was set
 *   with JF_PIN: then rmmod says that the module is in use. When that module
 *   is unloaded, every dynamic function that still leads into it falls back to
 *   its initial target, and rmmod waits until no task is in the module's text.
 *   Until then other modules are loaded and unloaded, but no module notifier can be
 *   registered or unregistered; and while a task waits to do that, no module can
 *   be loaded or unloaded any more. So a target that sleeps must do neither. Undo
 *   updates in the module's exit function all the same: it documents intent.
 *   Since a dynamic function may fall back at any time, an update is refused if
 *   the fall-back could close a circle of trampolines.
 *
 *   In a program (libjumpfunc) a call site is a call of the trampoline that the
 *   compiler made, and that the library finds when a dynamic function first changes:
 *   with as many arguments and of such types as C and C++ have, in functions of
 *   any kind, with or without a red zone. One that is not found goes through the
 *   trampoline for good, and struct jf_stats counts it. So do all with
 *   -mcmodel=large, and while a target is
 *   out of reach: in another shared object, most of the time. DYNFUNC_TARGETS()
 *   is nothing, and shared objects take the part of modules.
 *
 *   In the kernel, a target must be text that lasts: of the kernel or of a module. Other addresses
 *   (BPF programs, other generated code, freed text) are refused with -EPERM,
 *   since jumpfunc would not hear of their end. JF_VOUCH takes them: then the
 *   caller makes sure that the text is there until it has been replaced and
 *   jf_quiesce() has returned.
 *
 *   A target may sleep, unless the contract forbids it. jf_quiesce() waits for its text. If
 *   data of a target is freed, the function needs a contract (contract.h), in a program
 *   jf_read_lock().
 *
 *   Updates may sleep. A module can make them from its init and exit functions,
 *   but a function in __init text cannot become a target. The dynamic functions
 *   of a module that is being unloaded can no longer be updated.
 *
 *   In the kernel, kprobes are refused on trampolines and sites (register_kprobe() returns
 *   -EINVAL); they, and ftrace, work on targets as on any function. Elsewhere
 *   in a function with sites kprobes work, but are not optimised. modpost warns
 *   of a function with sites in an executable section of its own, unless its
 *   name begins with ".text.".
 *
 *   In the kernel, a site may be in any callback except two: an ftrace callback without
 *   protection against recursion (FTRACE_OPS_FL_RECURSION), and a die notifier
 *   with priority INT_MAX. Each of these would be entered again for the
 *   breakpoint that its own site holds while it is changed.
 */
#ifndef JUMPFUNC_DYNFUNC_H
#define JUMPFUNC_DYNFUNC_H

#include <jumpfunc/batch.h>
#ifdef __KERNEL__
#include <jumpfunc/contract.h>
#endif
#include <jumpfunc/detail/macros.h>
#include <jumpfunc/detail/table.h>

/**
 * struct jf_func - a dynamic function
 * @func: its target; never NULL: jf_nop or jf_ret0 stand in. Must come
 *        first, the trampoline's unpatched form jumps through it
 * @init: its first target, to which it falls back
 * @ent:  name, owner, flags
 *
 * Private to jumpfunc, and to the code that the macros below generate.
 */
struct jf_func {
	void		*func;
	void		*init;
	struct jf_ent	ent;
};

/* offsetof(struct jf_func, ent), for assembly; checked in jf_core.c. */
#if defined(__KERNEL__) || JF_HAVE_PATCHING
#define JF_FUNC_ENT	16
#else
#define JF_FUNC_ENT	(2 * __SIZEOF_POINTER__)
#endif

__JF_BEGIN_DECLS
/* The macros call these; see dynfunc_update(), dynfunc_query(). */
int __JF_MUST_CHECK __jf_func_update(struct jf_func *f, void *func);
#ifdef __KERNEL__
int __JF_MUST_CHECK __jf_func_update_flags(struct jf_func *f, void *func, unsigned int flags);
#endif
void *__jf_func_query(const struct jf_func *f);
__JF_END_DECLS

#if JF_HAVE_PATCHING && !defined(__KERNEL__)
#include <jumpfunc/detail/dynfunc_user.h>
#elif JF_HAVE_PATCHING && defined(CONFIG_ARM64)
#include <jumpfunc/detail/dynfunc_arm64.h>
#elif JF_HAVE_PATCHING
#include <jumpfunc/detail/dynfunc_x86.h>
#elif !defined(__KERNEL__)
#include <jumpfunc/detail/dynfunc_user_generic.h>
#else
#include <jumpfunc/detail/dynfunc_generic.h>
#endif

/**
 * dynfunc_name() - call a dynamic function, as an ordinary C function
 * @...: its arguments, as many and of such types as its function has
 *
 * The name is dynfunc_ and that of the dynamic function: dynfunc_my_op(1, 2).
 * It is declared by DECLARE_DYNFUNC(), with the function's type. Its address
 * can be taken.
 *
 * Context: that of the target.
 *
 * Return: the target's result.
 */

/**
 * dynfunc_call() - call a dynamic function from a site that is patched in place
 * @name: the dynamic function
 * @...:  its arguments; in a kernel at most six, integers, enums or pointers
 *
 * Context: that of the target. Not in noinstr code.
 *
 * Return: the target's result.
 */

#define __JF_FUNC_INIT(_name, _target, _flags)				\
	{ __extension__ (void *)(_target),				\
	  __extension__ (void *)(_target),				\
	  __JF_ENT_INIT(#_name, JF_ENT_FUNC, _flags) }

/* __jf_func_name is declared by @scope, "extern" or "static". */
#define __DECLARE_DYNFUNC(scope, name, func)				\
	scope struct jf_func __jf_func_##name				\
		__JF_SYMBOL("__jf_func_" #name) __JF_NEAR(__jf_func_##name); \
	__JF_DECLARE_CALL(name, func)

/* Used: by assembly, which an optimiser of whole programs does not look into. */
#define __DEFINE_DYNFUNC(name, func, target, flags)			\
	__DECLARE_DYNFUNC(extern, name, func);				\
	__JF_DEFINE_CALL(name, func, target);				\
	struct jf_func __jf_func_##name __JF_USED =			\
		__JF_FUNC_INIT(name, target, flags)

/*
 * A function type is compatible with one of unknown parameters if the return
 * types agree and no parameter is narrower than int (C11 6.7.6.3p15). That is
 * the one way in C to look at a function type without calling it.
 */
#ifdef __cplusplus
#include <jumpfunc/detail/types_user.hh>
#else
#define __JF_IS_PLAIN(func, ret_type)					\
	__builtin_types_compatible_p(__typeof__(func), ret_type())
#endif

/* In C23 an empty list is one of no parameters, and there is no other way to look. */
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L
#define __JF_NULL_CHECK(func)
#define __JF_RET0_CHECK(func)
#else
#define __JF_NULL_CHECK(func)						\
	__JF_UNPROTOTYPED(__JF_ASSERT(__JF_IS_PLAIN(func, void),	\
		"a NULL dynamic function returns void and takes no parameter narrower than int");)
#define __JF_RET0_CHECK(func)						\
	__JF_UNPROTOTYPED(__JF_ASSERT(!__JF_IS_PLAIN(func, void),	\
		"a RET0 dynamic function must return a value");)
#endif

#ifdef __KERNEL__
#include <jumpfunc/detail/dynfunc_kernel.h>
#else
#if JF_HAVE_PATCHING
/* A file with JF_GENERIC has a pointer, and no function that others could call. */
#define __JF_HINT_CALL(name)	__JF_HINT("dynfunc_" #name, __JF_HINT_FUNC " without JF_GENERIC")
#else
#define __JF_HINT_CALL(name)
#endif
#define __JF_HINT_FUNC	"DEFINE_DYNFUNC() or IMPORT_DYNFUNC()"

/**
 * DECLARE_DYNFUNC() - declare a dynamic function
 * @name: its name
 * @func: any function of its type
 */
#define DECLARE_DYNFUNC(name, func)					\
	__JF_HINT_CALL(name)						\
	__JF_HINT("__jf_func_" #name, __JF_HINT_FUNC)			\
	__DECLARE_DYNFUNC(extern, name, func)

/**
 * DEFINE_DYNFUNC() - define a dynamic function
 * @name: its name, unique in the module and among exported names
 * @func: its target until it is updated; gives it its type
 */
#define DEFINE_DYNFUNC(name, func)					\
	__DEFINE_DYNFUNC(name, func, func, 0)

/**
 * DEFINE_DYNFUNC_NULL() - define a dynamic function that starts as a nop
 * @name: its name
 * @func: any function of its type, which must return void and have no
 *        parameter narrower than int. In C23 the compiler cannot check this; what
 *        the call of another one returns while it is a nop is any value
 */
#define DEFINE_DYNFUNC_NULL(name, func)					\
	__JF_NULL_CHECK(func)						\
	__DEFINE_DYNFUNC(name, func, jf_nop, JF_ENT_NULL_OK)

/**
 * DEFINE_DYNFUNC_RET0() - define a dynamic function that starts returning 0
 * @name: its name
 * @func: any function of its type, which returns an integer or a pointer. A
 *        void function is refused by the compiler, unless it has a parameter
 *        narrower than int, which hides the return type from the check, or in C23;
 *        calling such a function is harmless
 */
#define DEFINE_DYNFUNC_RET0(name, func)					\
	__JF_RET0_CHECK(func)						\
	__DEFINE_DYNFUNC(name, func, jf_ret0, JF_ENT_RET0)

/**
 * EXPORT_DYNFUNC() - let other shared objects call and update a dynamic function
 * @name: its name; they need IMPORT_DYNFUNC() with the same type
 *
 * A program that exports to objects that it opens is linked with -rdynamic.
 *
 * EXPORT_DYNFUNC_GPL() is the same, and there for sources that are a kernel
 * module's as well.
 */
#define EXPORT_DYNFUNC(name)						\
	__JF_EXPORT_ENT("__jf_export_func_" #name, func_##name,		\
			&__jf_func_##name.ent)
#define EXPORT_DYNFUNC_GPL(name)	EXPORT_DYNFUNC(name)

/**
 * IMPORT_DYNFUNC() - use a dynamic function of another shared object
 * @name: its name; it is exported there
 * @func: any function of its type
 *
 * In one source file of each object that uses it; others have DECLARE_DYNFUNC(). Until
 * the first constructors of the object that exports it have run, which in a program come
 * after those of its libraries, calls lead to its initial target, to change it is
 * -ENODEV, and dynfunc_query() returns something to call, never NULL.
 */
#define IMPORT_DYNFUNC(name, func)					\
	DECLARE_DYNFUNC(name, func);					\
	__JF_IMPORT_ENT("__jf_export_func_" #name, func_##name);	\
	__JF_TRAMPOLINE(name, &__jf_export_func_##name);		\
	__JF_FIRST(name);						\
	struct jf_func __jf_func_##name __JF_USED = {			\
		__extension__ (void *)__jf_first_##name,		\
		(void *)(uintptr_t)&__jf_export_func_##name,		\
		__JF_ENT_INIT(#name, JF_ENT_FUNC, JF_ENT_UNKNOWN) }
#endif

/**
 * DYNFUNC_TARGETS() - allow functions to be chosen by name through debugfs
 * @name: a dynamic function of this module or of one that it depends on
 * @...:  1 to 16 functions of its type
 *
 * Several lists for the same dynamic function add up. A list is forgotten when
 * the module that contains it is unloaded.
 */
#ifdef __KERNEL__
#define DYNFUNC_TARGETS(name, ...)					\
	__DYNFUNC_TARGETS(name, __UNIQUE_ID(jf_targets_##name), __VA_ARGS__)
#define __DYNFUNC_TARGETS(name, id, ...)				\
	___DYNFUNC_TARGETS(name, id, __VA_ARGS__)
#define ___DYNFUNC_TARGETS(name, id, ...)				\
	static const struct jf_target id[] asm(#id __JF_TU) __used = {	\
		__JF_FOR_EACH(__JF_TARGET, name, __VA_ARGS__)		\
	};								\
	asm(__JF_SECTION("__jf_targets", 1)				\
	    ".balign 8\n\t"						\
	    ".quad __jf_func_" #name " + " __stringify(JF_FUNC_ENT) "\n\t" \
	    ".quad " #id __JF_TU "\n\t"					\
	    ".quad " __stringify(__JF_COUNT(__VA_ARGS__)) "\n\t"	\
	    ".popsection\n\t")

#define __JF_TARGET(dfunc, fn)						\
	{								\
		.func = (void *)(fn) + BUILD_BUG_ON_ZERO(		\
			!__builtin_types_compatible_p(			\
				typeof(fn), typeof(*__JF_POINTER(dfunc)))), \
		.name = #fn,						\
	},
#else
/* No target is set by name here, but their types are compared. */
#define DYNFUNC_TARGETS(name, ...)					\
	static __JF_UNUSED __typeof__(__JF_POINTER(name)) const		\
		__JF_CAT(__jf_targets_##name, __LINE__)[] = { __VA_ARGS__ }
#endif

/**
 * dynfunc_update() - change the target of a dynamic function
 * @name: the dynamic function
 * @func: a function of its type, or NULL where its definition allows that
 *
 * Context: process context, may sleep; see jf_batch_commit().
 *
 * Return: 0, or an error of jf_batch_commit(), which documents the state after each error.
 */
#ifndef __KERNEL__
#define dynfunc_update(name, func)					\
	__jf_func_update(&__jf_func_##name, __extension__ ({		\
		__typeof__(__JF_POINTER(name)) __jf_new = (func);	\
									\
		(void *)__jf_new;					\
	}))
#endif

/**
 * dynfunc_query() - return the present target of a dynamic function
 * @name: the dynamic function
 *
 * Context: any. Return: its present target, or NULL if it has none. Unless the
 * caller excludes updates, a racing update may have changed it since.
 */
#define dynfunc_query(name)						\
	__jf_func_query(&__jf_func_##name)

/**
 * dynfunc_batch_set() - add an update of a dynamic function to a batch
 * @b:    the batch
 * @name: the dynamic function
 * @func: a function of its type, or NULL where its definition allows that
 *
 * Context: process context, may sleep (allocates).
 *
 * Return: 0 or -ENOMEM. The batch remembers the error, and jf_batch_commit()
 * returns it, so callers may check only there.
 */
#ifndef __KERNEL__
#define dynfunc_batch_set(b, name, func)				\
__extension__ ({							\
	__typeof__(__JF_POINTER(name)) __jf_new = (func);		\
									\
	__jf_batch_set_func(b, &__jf_func_##name, (void *)__jf_new);	\
})
#endif

#endif /* JUMPFUNC_DYNFUNC_H */
