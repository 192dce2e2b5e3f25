// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A batch is committed after the object of one of its keys was closed: all or none. */
#include <jumpfunc/branch.h>

#include "plugin.h"

DEFINE_JF_KEY_FALSE(key);

int main(int argc, char **argv)
{
	void *plugin = open_plugin(argv[0]);
	struct jf_key *(*get)(void) = (struct jf_key *(*)(void))dlsym(plugin, "plugin_get");
	struct jf_batch b;
	int err;

	(void)argc;
	jf_batch_init(&b);
	MUST(!jf_key_batch_set(&b, &key, true) && !jf_key_batch_set(&b, get(), true), "add");
	MUST(!dlclose(plugin), "%s", dlerror());
	err = jf_batch_commit(&b);
	MUST(err == -ENODEV && !jf_branch_unlikely(&key), "%s", strerror(-err));
	MUST(!jf_key_enable(&key) && jf_branch_unlikely(&key), "afterwards");
	return 0;
}
