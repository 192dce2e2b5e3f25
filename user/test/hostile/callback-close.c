// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A callback closes an object that later callbacks lead into; and the heads of
 * callbacks are in an object that is closed.
 */
#include <dlfcn.h>
#include <jumpfunc/batch.h>

#include "plugin.h"

int closed_calls;
static int own_calls;
static void *plugin;
static void (*request)(void);

static void close_it(struct jf_quiesce_head *head)
{
	(void)head;
	dlclose(plugin);
}

/* Generic: it could free things. */
static void own(struct jf_quiesce_head *head)
{
	(void)head;
	own_calls++;
}

static void open_it(const char *program)
{
	plugin = open_plugin(program);
	request = (void (*)(void))dlsym(plugin, "plugin_request");
}

int main(int argc, char **argv)
{
	static struct jf_quiesce_head head;
	void (*request_for)(void (*)(struct jf_quiesce_head *));
	int i;

	(void)argc;
	alarm(20);
	for (i = 0; i < 20; i++) {
		open_it(argv[0]);
		/* None is called before both are requested. */
		jf_read_lock();
		jf_call_quiesced(&head, close_it);
		/* In turns with the first one, and after it. */
		if (i & 1)
			usleep(20000);
		request();
		jf_read_unlock();
		jf_quiesce_barrier();
		MUST(closed_calls == i + 1, "called %d", closed_calls);
	}
	for (i = 0; i < 20; i++) {
		open_it(argv[0]);
		request_for = (void (*)(void (*)(struct jf_quiesce_head *)))
			dlsym(plugin, "plugin_request_for");
		request_for(own);
		dlclose(plugin);
		MUST(!dlsym(RTLD_DEFAULT, "plugin_request"), "still there");
		jf_quiesce_barrier();
	}
	MUST(own_calls == 20, "called %d", own_calls);
	return 0;
}
