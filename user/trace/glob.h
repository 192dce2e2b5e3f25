/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Globs of probes' names, in libjumpfunc-trace, which the agent asks, and in jf-trace.
 *
 * API:
 *   jf_glob_matches(glob, name)			does a glob match a name
 *   jf_glob_matches_probe(glob, group, name)	the same for a probe, as provider.h has it
 *   jf_group_end(glob)				the colon after the group
 *
 * It is a shell's, with '*', '?', '[a-z]', '[!a-z]' or '[^a-z]', classes such as '[[:digit:]]', and
 * '\' before a character that is to be itself. Bytes are compared, as in the locale "C", whatever
 * the program's locale is: fnmatch() opens a converter in some, a shared object, and must not be
 * called where dlopen() must not be (agent.h).
 */
#ifndef JF_TRACE_GLOB_H
#define JF_TRACE_GLOB_H

#include <stdbool.h>

__attribute__((__visibility__("hidden")))
bool jf_glob_matches(const char *glob, const char *name);

__attribute__((__visibility__("hidden")))
bool jf_glob_matches_probe(const char *glob, const char *group, const char *name);

/**
 * jf_group_end() - the colon that ends the group in a glob
 * @glob: "::" is part of a name
 *
 * It has no other beside it, and is not of a class such as [:digit:].
 *
 * Context: any.
 * Return: it, or NULL: the glob has no group
 */
__attribute__((__visibility__("hidden")))
const char *jf_group_end(const char *glob);

#endif /* JF_TRACE_GLOB_H */
