// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A profiler's malloc() has a lock of its own, and asks the dynamic linker for objects.
 * So a thread that has the linker's lock must not allocate.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <jumpfunc/branch.h>
#include <link.h>

#include "heap.h"
#include "plugin.h"

DEFINE_JF_KEY_FALSE(key);

typedef int look_fn(struct dl_phdr_info *info, size_t size, void *arg);

static __thread int looking;
static int looks, allocations;

struct asked {
	look_fn	*look;
	void	*arg;
};

static int one(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct asked *asked = arg;
	int ret;

	looking++;
	ret = asked->look(info, size, asked->arg);
	looking--;
	looks++;
	return ret;
}

int dl_iterate_phdr(look_fn *look, void *arg)
{
	static int (*libc)(look_fn *look, void *arg);
	struct asked asked = { look, arg };

	if (!libc)
		libc = (int (*)(look_fn *, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
	return libc(one, &asked);
}

static void heap_enter(void)
{
	allocations += !!looking;
}

static void heap_leave(void)
{
}

int main(int argc, char **argv)
{
	int before = looks;
	void *plugin;

	(void)argc;
	alarm(10);
	plugin = open_plugin(argv[0]);
	MUST(looks > before, "the library did not ask the linker");
	MUST(!allocations, "%d allocations with the lock", allocations);
	MUST(!jf_key_enable(&key) && jf_branch_unlikely(&key), "change");
	MUST(!dlclose(plugin), "%s", dlerror());
	MUST(!allocations, "%d allocations with the lock", allocations);
	return 0;
}
