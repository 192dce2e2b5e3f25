// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Before the program is known, an object that imports its keys comes: changes of them are
 * noted. One is committed when it is closed and another one is there in its place.
 */
int early(void);
static int opened;

/* Before all that the headers bring, also where a compiler sorts those of one priority. */
#pragma GCC diagnostic ignored "-Wprio-ctor-dtor"
__attribute__((__constructor__(100))) static void comes_first(void)
{
	opened = early();
}

#include <jumpfunc/branch.h>

#include "plugin.h"

DECLARE_JF_KEY(app_gone);
DEFINE_JF_KEY_FALSE(app_gone);
EXPORT_JF_KEY(app_gone);
DECLARE_JF_KEY(app_stays);
DEFINE_JF_KEY_FALSE(app_stays);
EXPORT_JF_KEY(app_stays);

static struct jf_batch gone, stays;

static int add(void *plugin, const char *function, struct jf_batch *b)
{
	int (*to)(struct jf_batch *b) = (int (*)(struct jf_batch *))dlsym(plugin, function);

	return to(b);
}

int early(void)
{
	void *plugin;
	char self[2048];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	MUST(len > 0, "readlink");
	self[len] = 0;
	plugin = open_plugin(self);
	jf_batch_init(&gone);
	jf_batch_init(&stays);
	MUST(!add(plugin, "plugin_add_gone", &gone), "add");
	MUST(!dlclose(plugin), "%s", dlerror());
	plugin = open_plugin(self);
	MUST(!add(plugin, "plugin_add_stays", &stays), "add");
	return 1;
}

int main(void)
{
	int err;

	alarm(10);
	MUST(opened, "early");
	err = jf_batch_commit(&gone);
	MUST(err == -ENODEV && !jf_branch_unlikely(&app_gone), "closed: %s", strerror(-err));
	err = jf_batch_commit(&stays);
	MUST(!err && jf_branch_unlikely(&app_stays), "still there: %s", strerror(-err));
	return 0;
}
