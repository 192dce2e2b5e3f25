/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The syntax of commands for the files of /sys/kernel/debug/jumpfunc: from bytes to words and
 * numbers, with no notion of their meaning. Compiles in the kernel and in userspace, where it is
 * fuzzed.
 */
#ifndef JF_PARSE_H
#define JF_PARSE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#endif

/**
 * struct jf_assignment - one "name=target", "module:name=target" or "module:name#rank=target"
 * @module: NULL: none was given
 * @name:   not empty
 * @target: not empty; may hold further '=', ':' and '#'
 * @rank:   0: none was given
 */
struct jf_assignment {
	const char *module;
	const char *name;
	const char *target;
	unsigned int rank;
};

/**
 * struct jf_pattern - one "+provider:module:function:name", or with '-'
 * @on:       it began with '+'
 * @provider: a pattern, see jf_parse_fits()
 * @module:   the same
 * @function: the same
 * @name:     the same
 */
struct jf_pattern {
	int on;
	const char *provider;
	const char *module;
	const char *function;
	const char *name;
};

int jf_parse_pattern(char **cmd, struct jf_pattern *p);
int jf_parse_fits(const char *s, const char *pattern);
int jf_parse_command(char *buf, size_t len);
int jf_parse_number(const char *s, unsigned int max, unsigned int *num);
int jf_parse_assignment(char **cmd, struct jf_assignment *a);

#endif /* JF_PARSE_H */
