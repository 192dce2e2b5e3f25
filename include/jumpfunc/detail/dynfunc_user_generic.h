/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Dynamic functions in programs without patching: a function pointer. Included by
 * dynfunc.h only.
 *
 * dynfunc_name is the first field of struct jf_func under a second name and with its
 * real type. In C it is _Atomic, in C++ a class that converts to the pointer: a load of it sees all
 * stores before the store of it. Its address leads to the pointer; its value is the present
 * target, and no trampoline that follows later ones.
 *
 * The trampoline on machines with patching has another symbol: a file without JF_GENERIC
 * cannot be linked with one that has it and defines a called function.
 *
 * No file stores to it but by way of the library, so that its two types do not matter. With
 * -flto gcc warns of them all the same (-Wlto-type-mismatch). An alias would have one
 * type, but AddressSanitizer takes an alias for a variable that ends after the pointer.
 */
#ifndef JUMPFUNC_DYNFUNC_USER_GENERIC_H
#define JUMPFUNC_DYNFUNC_USER_GENERIC_H

#ifndef JUMPFUNC_DYNFUNC_H
#error "include <jumpfunc/dynfunc.h>"
#endif

#ifdef __cplusplus
namespace jumpfunc {
namespace detail {
template<typename F> struct pointer {
	F *func;
	operator F *() const noexcept
	{
		/*
		 * Pairs with the store in ent_store(): the target sees all stores before that one.
		 */
		return __atomic_load_n(&func, __ATOMIC_ACQUIRE);
	}
};
}
}
#define __JF_CALLED(name)						\
	::jumpfunc::detail::pointer<__typeof__(__jf_type_##name)>
#else
#define __JF_CALLED(name)	_Atomic(__typeof__(&__jf_type_##name))
#endif

/* Of the type that a target has; never loaded. */
#define __JF_POINTER(name)	(&__jf_type_##name)

/* The first one is there for its type alone. */
#define __JF_DECLARE_CALL(name, func)					\
	extern __typeof__(func) __jf_type_##name;			\
	extern __JF_CALLED(name) dynfunc_##name __JF_SYMBOL("__jf_func_" #name)

#define __JF_DEFINE_CALL(name, func, target)				\
	__JF_TRAMPOLINE(name, NULL)

/* @origin: as in struct jf_ent_rec. */
#define __JF_TRAMPOLINE(name, origin)					\
	__JF_ENT_REC_USER(func_##name, &__jf_func_##name.ent, origin, 1, \
			  sizeof(struct jf_func))

/*
 * The target of an imported function's pointer before the first constructor of its own object,
 * which takes the exporter's target: nothing, and a result of 0.
 */
#define __JF_FIRST(name)						\
	static long __jf_first_##name(void)				\
	{								\
		return 0;						\
	}								\
	struct __jf_import_##name

#ifdef __cplusplus
#define __JF_CALL_POINTER(name)		dynfunc_##name
#else
/* Pairs with ent_store(), as above, and without an _Atomic's one order with all others. */
#define __JF_CALL_POINTER(name)						\
	(__extension__ ((__typeof__(&__jf_type_##name))			\
		__atomic_load_n(&__jf_func_##name.func, __ATOMIC_ACQUIRE)))
#endif
#define __jf_call_1(name)		__JF_CALL_POINTER(name)()
#define __jf_call_2(name, ...)		__JF_CALL_POINTER(name)(__VA_ARGS__)
/* The name, and the arguments. */
#define dynfunc_call(...)		__JF_BY_NUMBER(__jf_call_, __VA_ARGS__)

#endif /* JUMPFUNC_DYNFUNC_USER_GENERIC_H */
