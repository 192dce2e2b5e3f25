// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A plugin that brings the static library with it, opened and closed again. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "hostile.h"

static _Atomic int passed, stop;

static void *waits(void *arg)
{
	void (*section)(void) = (void (*)(void))arg;

	section();
	passed = 1;
	while (!stop)
		usleep(100);
	return NULL;
}

/* The status of a child that sends itself this signal, if one. */
static int child_raises(int sig)
{
	int status;
	pid_t p;

	fflush(stdout);
	p = fork();
	if (!p) {
		if (sig)
			raise(sig);
		_exit(0);
	}
	waitpid(p, &status, 0);
	return status;
}

/* A thread that had a section in it lives on when it is closed. */
static void open_and_close(const char *name)
{
	int (*set)(int);
	void *plugin;
	pthread_t t;

	plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	MUST(plugin, "%s", dlerror());
	set = (int (*)(int))dlsym(plugin, "plugin_set");
	MUST(!set(1), "set");
	passed = stop = 0;
	MUST(!pthread_create(&t, NULL, waits, dlsym(plugin, "plugin_section")), "thread");
	while (!passed)
		usleep(100);
	MUST(!dlclose(plugin), "dlclose");
	stop = 1;
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	char name[4096];
	int i, status;

	(void)argc;
	alarm(20);
	snprintf(name, sizeof(name), "%s.plugin.so", argv[0]);
	for (i = 0; i < 10; i++) {
		open_and_close(name);
		status = child_raises(0);
		MUST(!status, "fork: %#x", status);
		/* No handler is left: it must be the default, not a jump into nothing. */
		status = child_raises(SIGTRAP);
		MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP, "%#x", status);
	}
	return 0;
}
