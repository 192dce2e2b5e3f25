// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * An object that is closed in a read section stays in memory (6.10). Keys can be changed
 * after that, with each writer of text, and by another owner; its branches follow them.
 */
#define _GNU_SOURCE
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <sys/syscall.h>

#include "again.h"
#include "plugin.h"
#include "pwrite.h"

DEFINE_JF_KEY_FALSE(shared_key);
EXPORT_JF_KEY(shared_key);
DEFINE_JF_KEY_FALSE(own_key);

static int denied;

FAILING_PWRITE((errno = EPERM, denied))

static int (*plugin_is_on)(void);

static void changes(const char *when, const char *writer)
{
	struct jf_stats s;
	int i, err;

	for (i = 1; i < 5; i++) {
		err = i & 1 ? jf_key_enable(&shared_key) : jf_key_disable(&shared_key);
		jf_stats_get(&s, sizeof(s));
		MUST(!err, "%s: %s, %s", when, strerror(-err), s.why);
		MUST(plugin_is_on() == (i & 1), "%s: change %d", when, i);
		err = i & 1 ? jf_key_enable(&own_key) : jf_key_disable(&own_key);
		MUST(!err && jf_branch_unlikely(&own_key) == (i & 1), "%s: change %d", when, i);
		MUST(!strcmp(s.writer, writer), "%s: %s, %s", when, s.writer, s.why);
	}
}

static void one(const char *program, const char *writer)
{
	void *plugin = open_plugin(program);
	struct jf_stats s;

	plugin_is_on = (int (*)(void))dlsym(plugin, "plugin_is_on");
	MUST(plugin_is_on, "%s", dlerror());
	jf_stats_get(&s, sizeof(s));
	if (strcmp(s.writer, writer)) {
		printf("# not here: %s\n", s.why);
		return;
	}
	changes("before", writer);
	jf_read_lock();
	dlclose(plugin);
	jf_read_unlock();
	changes("afterwards", writer);
	denied = 1;
	changes("later", "remap");
}

int main(int argc, char **argv)
{
	static const char *const writers[] = { "mem", "remap" };
	int i;

	/* mseal() of nothing */
	if (syscall(462, 0UL, 0UL, 0UL)) {
		printf("# no mseal() here\n");
		return 0;
	}
	if (argc > 1) {
		one(argv[0], argv[1]);
		return 0;
	}
	for (i = 0; i < 2; i++)
		must_run(argv[0], writers[i], i ? writers[i] : NULL);
	return 0;
}
