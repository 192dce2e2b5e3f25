/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The questions of the C headers about a function's type, for C++. Included by dynfunc.h
 * only. C++ knows all types, so that no parameter is too narrow here.
 */
#ifndef JUMPFUNC_TYPES_USER_HH
#define JUMPFUNC_TYPES_USER_HH

namespace jumpfunc {
namespace detail {
template<typename T> struct is_void { enum { value = 0 }; };
template<> struct is_void<void> { enum { value = 1 }; };
template<typename T> struct returns;
template<typename R, typename... A> struct returns<R(A...)> {
	typedef R type;
};
template<typename R, typename... A> struct returns<R(A...) noexcept> {
	typedef R type;
};
}
}

#define __JF_IS_PLAIN(func, ret_type)					\
	(::jumpfunc::detail::is_void<					\
		::jumpfunc::detail::returns<decltype(func)>::type>::value)

#endif /* JUMPFUNC_TYPES_USER_HH */
