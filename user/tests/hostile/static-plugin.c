// SPDX-License-Identifier: GPL-2.0
/* A plugin that brings the static library with it, opened and closed again. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "hostile.h"

static volatile int stop;
static void *waits(void *arg)
{
	void (*section)(void) = (void (*)(void))arg;
	section();
	while (!stop)
		usleep(100);
	return NULL;
}

int main(int argc, char **argv)
{
	char name[4096];
	void *plugin;
	int (*set)(int);
	int i;
	pthread_t t;

	(void)argc;
	alarm(20);
	snprintf(name, sizeof(name), "%s.plugin.so", argv[0]);
	for (i = 0; i < 10; i++) {
		struct sigaction sa;
		plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		MUST(plugin, "%s", dlerror());
		set = (int (*)(int))dlsym(plugin, "plugin_set");
		MUST(!set(1), "set");
		stop = 0;
		pthread_create(&t, NULL, waits, dlsym(plugin, "plugin_section"));
		usleep(10000);
		MUST(!dlclose(plugin), "dlclose");
		stop = 1;
		pthread_join(t, NULL);
		sigaction(SIGTRAP, NULL, &sa);
		printf("# round %d: %s, handler %p\n", i, dlopen(name, RTLD_NOW|RTLD_NOLOAD) ? "still there" : "gone", (void *)sa.sa_sigaction);
		fflush(stdout);
		{ pid_t p = fork(); int st; if (!p) _exit(0); waitpid(p, &st, 0); MUST(st == 0, "fork"); }
		/* Nobody's: it must be the default, not a jump into nothing. */
		{ pid_t p = fork(); int st; if (!p) { raise(SIGTRAP); _exit(0); } waitpid(p, &st, 0); MUST(WIFSIGNALED(st) && WTERMSIG(st) == SIGTRAP, "%x", st); }
	}
	return 0;
}
