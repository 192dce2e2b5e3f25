/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The interface between test_lib_dl.c and its plugin. */
#ifndef TEST_LIB_PLUGIN_H
#define TEST_LIB_PLUGIN_H

#include <jumpfunc/tracepoint.h>

/* Of the program: the plugin gets it when it is opened. */
struct host {
	int	(*set_target)(int (*func)(int));
	int	(*add_probe)(void (*func)(void *data, int x), void *data);
};

/* The plugin's exports, as "plugin". */
struct plugin {
	int	(*branch)(void);
	int	(*set)(int on);
	int	(*init)(const struct host *host);
	int	(*func)(int x);
	/* Lets its branch run until *stop; returns how often it was wrong. */
	long	(*spin)(const int *stop);
	/* The key of branch(), for batches over several objects. */
	struct jf_key *key;
	/* A key and a function of the program: 0, 300 on, plus the function's result. */
	int	(*imported)(int x);
	int	(*import_set)(int on);
	/* The number of users of the imported key, as the plugin sees it. */
	int	(*import_count)(void);
	/* True if that function has a target. */
	int	(*import_query)(void);
	/* An array of keys of the program: a bit for each that is on. */
	int	(*array)(void);
	int	(*array_set)(int i, int on);
	/* A tracepoint of the program, and a probe here that adds up. */
	int	(*fire)(int x);
	int	(*watch)(int on);
	const int *seen;
};

DECLARE_JF_TRACE(host_event, JF_PROTO(int x, const char *s), JF_ARGS(x, s));

#endif /* TEST_LIB_PLUGIN_H */
