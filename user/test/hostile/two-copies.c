// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Two copies of the library in one process (a static one in a plugin), which
 * change things in turns. Each has its SIGTRAP handler.
 */
#include <dlfcn.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <pthread.h>
#include <signal.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static volatile sig_atomic_t theirs;
static void on_trap(int sig) { (void)sig; theirs++; }

static volatile int stop;
static long sum;
static int (*plugin_is)(void);
static void *calls(void *arg)
{
	while (!stop)
		sum += jf_branch_unlikely(&key) + plugin_is();
	return arg;
}

int main(int argc, char **argv)
{
	char name[4096];
	void *plugin;
	int (*set)(int);
	int i, err;
	pthread_t t;

	(void)argc;
	alarm(20);
	signal(SIGTRAP, on_trap);
	snprintf(name, sizeof(name), "%s.plugin.so", argv[0]);
	plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	MUST(plugin, "%s", dlerror());
	set = (int (*)(int))dlsym(plugin, "plugin_set");
	plugin_is = (int (*)(void))dlsym(plugin, "plugin_is");
	pthread_create(&t, NULL, calls, NULL);
	for (i = 0; i < 100; i++) {
		err = i & 1 ? jf_key_enable(&key) : jf_key_disable(&key);
		MUST(!err, "turn %d: %s", i, strerror(-err));
		err = set(i & 1);
		MUST(!err, "plugin's turn %d: %s", i, strerror(-err));
		MUST(jf_branch_unlikely(&key) == (i & 1) && plugin_is() == (i & 1), "turn %d", i);
		__asm__ volatile("int3");
		MUST(theirs == i + 1, "turn %d: the program's own came %d times", i, theirs);
	}
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}
