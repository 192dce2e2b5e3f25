// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object that is opened and closed leaks no memory. */
#include <dlfcn.h>
#include <malloc.h>

#include "hostile.h"

/* mallinfo2() came with glibc 2.33. The other one counts to 2 GiB, which is enough. */
static size_t allocated(void)
{
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return (size_t)mallinfo().uordblks;
#endif
}

/* With the library's mappings. */
static size_t in_use(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages;

	MUST(f && fscanf(f, "%zu", &pages) == 1, "/proc");
	fclose(f);
	return allocated() + pages * 4096;
}

static void round_trip(const char *name)
{
	void *p = dlopen(name, RTLD_NOW);

	MUST(p, "%s", dlerror());
	dlclose(p);
}

int main(int argc, char **argv)
{
	char name[4096];
	size_t before, after;
	int i;

	(void)argc;
	alarm(60);
	snprintf(name, sizeof(name), "%s.plugin.so", argv[0]);
	MUST(dlopen("libjumpfunc.so.1", RTLD_NOW), "%s", dlerror());
	for (i = 0; i < 100; i++)
		round_trip(name);
	before = in_use();
	for (i = 0; i < 1000; i++)
		round_trip(name);
	after = in_use();
	MUST(after <= before + 1000, "%zu bytes more", after - before);
	return 0;
}
