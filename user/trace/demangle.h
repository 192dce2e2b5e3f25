/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Names of C++ and Rust functions as their source has them, in jf-trace and in the agent.
 *
 * API:
 *   jf_demangle(cxa, name)			_Z8price_ofRK5Order	price_of(Order const&)
 *   jf_demangled_fits(glob, group, name, text)	does a glob match a function by its demangled name
 *   jf_demangled_short(text)	the demangled name without type of return and parameters
 *
 * __cxa_demangle() is libstdc++'s: jf-trace loads that library, and the agent uses it where the
 * program has it. Names of Rust as _ZN...17h0123456789abcdefE need no library. Those that begin
 * with _R stay as they are.
 *
 * In a glob "::" is part of a name; one colon alone ends the group, as in 'prog:shop::price_of'.
 */
#ifndef JF_DEMANGLE_H
#define JF_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* As __cxa_demangle(). */
typedef char *jf_cxa_fn(const char *name, char *buf, size_t *size, int *status);

/* Longer names stay as they are: the library uses stack for each character. */
#define JF_MANGLED_MAX	1000

/**
 * jf_demangle() - a function's name as the source has it
 * @cxa:  __cxa_demangle(), or NULL
 * @name: of the symbol
 *
 * Context: allocates.
 * Return: the name, for free(), or NULL: it is as it is, or cannot be demangled
 */
char *jf_demangle(jf_cxa_fn *cxa, const char *name);

/**
 * jf_demangled_short() - a demangled name without the type of return and the parameters
 * @text: of jf_demangle(); is cut
 *
 * Return: where it begins in @text
 */
char *jf_demangled_short(char *text);

/**
 * jf_demangled_fits() - does a glob match a function by its demangled name
 * @cxa:   as of jf_demangle()
 * @glob:  with a group before one colon, or without
 * @group: of the function
 * @name:  of its symbol
 *
 * The name can be with or without the type of return and the list of parameters.
 *
 * Context: allocates.
 */
bool jf_demangled_fits(jf_cxa_fn *cxa, const char *glob, const char *group, const char *name);

/* True for the symbol of a part that the compiler has put elsewhere: NAME.cold, NAME.cold.1. */
static inline bool jf_is_cold(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && cold > name && (!cold[5] || cold[5] == '.');
}

#endif /* JF_DEMANGLE_H */
