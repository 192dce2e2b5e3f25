// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A batch is committed after the object of its key was closed and another one is where
 * that was: it has a key at this address, or a hole.
 */
#include <jumpfunc/branch.h>
#include <stdint.h>
#include <sys/mman.h>

#include "plugin.h"

static struct jf_key *key_of(void *plugin)
{
	struct jf_key *(*get)(void) = (struct jf_key *(*)(void))dlsym(plugin, "plugin_get");

	return get();
}

/* Returns 0, 1: the addresses differ here. */
static int reopened(const char *program, int hole)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *plugin = open_plugin(program), *at;
	struct jf_key *key = key_of(plugin);
	struct jf_batch b;
	int err, differ;

	jf_batch_init(&b);
	MUST(!jf_key_batch_set(&b, key, true), "add");
	MUST(!dlclose(plugin), "%s", dlerror());
	plugin = open_plugin(program);
	differ = key_of(plugin) != key;
	at = (void *)((uintptr_t)key & -page);
	MUST(differ || !hole || !mprotect(at, page, PROT_NONE), "mprotect");
	err = jf_batch_commit(&b);
	MUST(differ || !hole || !mprotect(at, page, PROT_READ | PROT_WRITE), "mprotect");
	MUST(err == -ENODEV, "%s", strerror(-err));
	MUST(!jf_key_enabled(key_of(plugin)), "the key of another object is on");
	MUST(!jf_key_enable(key_of(plugin)), "afterwards");
	dlclose(plugin);
	return differ;
}

int main(int argc, char **argv)
{
	(void)argc;
	alarm(10);
	if (reopened(argv[0], 0) || reopened(argv[0], 1))
		printf("# not here\n");
	return 0;
}
