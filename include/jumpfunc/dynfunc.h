/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Dynamic functions: calls whose target changes at run time, by patching text.
 *
 * API:
 *   DECLARE_DYNFUNC(name, func)	in a header; the type is that of func
 *   DEFINE_DYNFUNC(name, func)		calls func until updated
 *   DEFINE_DYNFUNC_NULL(name, func)	of func's type; does nothing until updated
 *   DEFINE_DYNFUNC_RET0(name, func)	of func's type; returns 0 until updated
 *   DYNFUNC_TARGETS(name, f, g, ...)	what it may be set to through debugfs
 *   EXPORT_DYNFUNC(name), EXPORT_DYNFUNC_GPL(name)
 *
 *   dynfunc_name(args...)		call it, an ordinary C function
 *   dynfunc_call(name, args...)	call it from a site that is patched in place
 *   dynfunc_update(name, func)		from now on it calls func
 *   dynfunc_query(name)		what does it call?
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
 *   A call site needs its arguments in registers: up to six, integers, enums or
 *   pointers. They are converted to the parameters' types as C does. If the
 *   function has parameters narrower than int, and an argument's type is not
 *   exactly the parameter's, that one call goes through the trampoline instead:
 *   there the compiler converts. Arguments and results of 16 bytes (__int128) are
 *   refused at compile time: call dynfunc_my_op() itself. So do where a parameter
 *   has 16 bytes and the argument fewer, which a macro cannot see.
 *
 *   What stands where:
 *
 *                    | trampoline       | call site
 *     ---------------+------------------+---------------------
 *     a function     | jmp func         | call func
 *     NULL           | jmp to a "ret"   | five-byte nop
 *     NULL with RET0 | jmp to "return 0"| five-byte "eax = 0"
 *     back end       | jmp *pointer     | call trampoline
 *     "indirect"     | (by retpoline)   |
 *
 *   On architectures without a patching back end dynfunc_my_op is a function
 *   pointer, and dynfunc_call() calls through it. The meaning of a call is the
 *   same everywhere; that of the name alone is not: where text is patched it is
 *   the address of the trampoline, which follows updates, elsewhere the present
 *   target.
 *
 * Caveats:
 *   NULL is a legal target only for the _NULL form, whose type must return
 *   void, and for the _RET0 form, whose type must return an integer or pointer.
 *
 *   A module's function that is some dynamic function's target does not pin the
 *   module. When the module goes, everything that still leads into it falls back
 *   to its initial target, and the core waits until nobody is in it: targets may
 *   sleep, and rmmod waits for them. Undo updates in the module's exit function
 *   all the same: it documents intent. Since any key may fall back at any time,
 *   an update is refused if a circle of trampolines could come of that.
 *
 *   A target may sleep, with one thing to heed if data is freed after
 *   jf_quiesce(): see there, in batch.h.
 *
 *   Updates sleep. They may be made from a module's init and exit functions, but
 *   not to a function in __init text, and the keys of a module that is on its
 *   way out can no longer be updated.
 *
 *   kprobes are refused on trampolines and sites (register_kprobe() returns
 *   -EINVAL); they, and ftrace, work on targets as on any function. Elsewhere in a
 *   function with sites kprobes work, but are not optimised. modpost warns of a
 *   function with sites in an executable section of its own, unless its name
 *   begins with ".text.".
 *
 *   A site may be in any callback, but two: an ftrace callback without
 *   protection against recursion (FTRACE_OPS_FL_RECURSION), and a die notifier of
 *   a priority of INT_MAX. Either is entered again for the breakpoint that its own
 *   site holds while it is changed.
 */
#ifndef JUMPFUNC_DYNFUNC_H
#define JUMPFUNC_DYNFUNC_H

#include <jumpfunc/batch.h>
#include <jumpfunc/detail/macros.h>
#include <jumpfunc/detail/table.h>

/**
 * struct jf_func - a dynamic function
 * @func: what it calls; never NULL: jf_nop or jf_ret0 stand in. Must come
 *        first, the trampoline's unpatched form jumps through it
 * @init: what it calls initially, and falls back to
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
#define JF_FUNC_ENT	16

/* Behind the macros; see dynfunc_update(), dynfunc_query(). */
int __jf_func_update(struct jf_func *f, void *func);
void *__jf_func_query(const struct jf_func *f);

#if JF_HAVE_PATCHING
#include <jumpfunc/detail/dynfunc_x86.h>
#else
#include <jumpfunc/detail/dynfunc_generic.h>
#endif

#define __JF_FUNC_INIT(_name, _target, _flags)				\
	{								\
		.func	= (void *)(_target),				\
		.init	= (void *)(_target),				\
		.ent	= {						\
			.name	= #_name,				\
			.owner	= THIS_MODULE,				\
			.type	= JF_ENT_FUNC,				\
			.flags	= (_flags),				\
		},							\
	}

/**
 * DECLARE_DYNFUNC() - make a dynamic function known
 * @name: its name
 * @func: any function of its type
 */
#define DECLARE_DYNFUNC(name, func)					\
	extern struct jf_func __jf_func_##name;				\
	__JF_DECLARE_CALL(name, func)

#define __DEFINE_DYNFUNC(name, func, target, flags)			\
	DECLARE_DYNFUNC(name, func);					\
	__JF_DEFINE_CALL(name, func, target);				\
	struct jf_func __jf_func_##name =				\
		__JF_FUNC_INIT(name, target, flags)

/**
 * DEFINE_DYNFUNC() - define a dynamic function
 * @name: its name, unique in the module and among exported names
 * @func: what it calls until it is updated; gives it its type
 */
#define DEFINE_DYNFUNC(name, func)					\
	__DEFINE_DYNFUNC(name, func, func, 0)

/*
 * A function type is compatible with one of unknown parameters if the return
 * types agree and no parameter is narrower than int (C11 6.7.6.3p15). That is
 * the one way in C to look at a function type without calling it.
 */
#define __JF_IS_PLAIN(func, ret_type)					\
	__builtin_types_compatible_p(typeof(func), ret_type())

/**
 * DEFINE_DYNFUNC_NULL() - define a dynamic function that starts as a nop
 * @name: its name
 * @func: any function of its type, which must return void and have no
 *        parameter narrower than int
 */
#define DEFINE_DYNFUNC_NULL(name, func)					\
	__JF_UNPROTOTYPED(static_assert(__JF_IS_PLAIN(func, void),	\
		"a NULL dynamic function returns void and takes no parameter narrower than int");) \
	__DEFINE_DYNFUNC(name, func, jf_nop, JF_ENT_NULL_OK)

/**
 * DEFINE_DYNFUNC_RET0() - define a dynamic function that starts returning 0
 * @name: its name
 * @func: any function of its type, which returns an integer or a pointer. A
 *        void function is refused by the compiler, unless it has a parameter
 *        narrower than int, which hides the return type from the check; to call
 *        that one is harmless
 */
#define DEFINE_DYNFUNC_RET0(name, func)					\
	__JF_UNPROTOTYPED(static_assert(!__JF_IS_PLAIN(func, void),	\
		"a RET0 dynamic function must return a value");)	\
	__DEFINE_DYNFUNC(name, func, jf_ret0, JF_ENT_RET0)

/*
 * EXPORT_DYNFUNC*() - let other modules call and update it
 * @name: its name; they need DECLARE_DYNFUNC() with the same type
 */
#define EXPORT_DYNFUNC(name)		__JF_EXPORT_CALL(EXPORT_SYMBOL, name)
#define EXPORT_DYNFUNC_GPL(name)	__JF_EXPORT_CALL(EXPORT_SYMBOL_GPL, name)

/**
 * DYNFUNC_TARGETS() - allow functions to be chosen by name through debugfs
 * @name: a dynamic function of this module or of one that it depends on
 * @...:  1 to 16 functions of its type
 *
 * Several lists for the same dynamic function add up. A list goes with the
 * module that it stands in.
 */
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

#define __JF_TARGET(key, fn)						\
	{								\
		.func = (void *)(fn) + BUILD_BUG_ON_ZERO(		\
			!__builtin_types_compatible_p(			\
				typeof(fn), typeof(*__JF_POINTER(key)))), \
		.name = #fn,						\
	},

/**
 * dynfunc_update() - change what a dynamic function calls
 * @name: the dynamic function
 * @func: a function of its type, or NULL where its definition allows that
 *
 * Context: process context, may sleep; see jf_batch_commit().
 *
 * Return: 0, or an error of jf_batch_commit() with nothing changed.
 */
#define dynfunc_update(name, func)					\
({									\
	typeof(__JF_POINTER(name)) __jf_new = (func);			\
									\
	__jf_func_update(&__jf_func_##name, (void *)__jf_new);		\
})

/**
 * dynfunc_query() - what does a dynamic function call?
 * @name: the dynamic function
 *
 * Context: any. Return: its present target, NULL where it has none. The answer
 * may be out of date when it is looked at, unless the caller excludes updates.
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
 * Return: 0 or -ENOMEM. The batch remembers the error: jf_batch_commit() will
 * return it, so that callers may check just once.
 */
#define dynfunc_batch_set(b, name, func)				\
({									\
	typeof(__JF_POINTER(name)) __jf_new = (func);			\
									\
	__jf_batch_set_func(b, &__jf_func_##name, (void *)__jf_new);	\
})

#endif /* JUMPFUNC_DYNFUNC_H */
