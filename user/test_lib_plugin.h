/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* What test_lib_dl.c and its plugin know of each other. */
#ifndef TEST_LIB_PLUGIN_H
#define TEST_LIB_PLUGIN_H

#include <jumpfunc/tracepoint.h>

/* Of the program: the plugin gets it when it is opened. */
struct host {
	int	(*set_target)(int (*func)(int));
	int	(*add_probe)(void (*func)(void *data, int x), void *data);
};

/* What the plugin exports, as "plugin". */
struct plugin {
	int	(*branch)(void);
	int	(*set)(int on);
	int	(*init)(const struct host *host);
	int	(*func)(int x);
	/* Lets its branch run until *stop; returns how often it was wrong. */
	long	(*spin)(const int *stop);
	/* What branch() is about, for batches over several objects. */
	struct jf_key *key;
	/* A key and a function of the program: 0, 300 on, plus the function's result. */
	int	(*imported)(int x);
	int	(*import_set)(int on);
};

#endif /* TEST_LIB_PLUGIN_H */
