// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <dlfcn.h>
#include <jumpfunc/dynfunc.h>
#include <stdio.h>

static int plain(int n)
{
	return n;
}
DEFINE_DYNFUNC(price, plain);
EXPORT_DYNFUNC(price);

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (!plugin)
		return fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: host PLUGIN"), 1;
	printf("%d, ", dynfunc_call(price, 3));
	dlclose(plugin);
	printf("%d\n", dynfunc_call(price, 3));
}
