// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program has the static library in it, and exports. An object with libjumpfunc.so imports
 * that. It comes before the program's tables, as linked objects do: then it waits for them for
 * ever. And it comes later, under another name: then it is refused. In both its branches and calls
 * keep the initial values, whatever the program changes.
 */
#define _GNU_SOURCE
#include "other-copy.h"
#include "plugin.h"

DEFINE_JF_KEY_TRUE(app_on);
EXPORT_JF_KEY(app_on);
int app_first(int i) { return i + 1; }
static int app_second(int i) { return i + 2; }
DEFINE_DYNFUNC(app_op, app_first);
EXPORT_DYNFUNC(app_op);

static int (*is_on)(void), (*op)(int i), (*set)(int on), (*own)(int on);

static int is(int on, int one)
{
	return is_on() == on && op(1) == one;
}

static void changes_go_by(int branch)
{
	MUST(is(branch, 2), "at first: %d %d", is_on(), op(1));
	MUST(!jf_key_disable(&app_on) && !dynfunc_update(app_op, app_second), "change");
	MUST(!jf_branch_likely(&app_on) && dynfunc_call(app_op, 1) == 3, "the program's own");
	MUST(is_on() == branch, "the branch has followed");
	MUST(set(1) == -ENODEV && set(0) == -ENODEV, "%d %d", set(1), set(0));
	MUST(!jf_branch_likely(&app_on), "it has changed the program's");
	MUST(!jf_key_enable(&app_on) && !dynfunc_update(app_op, app_first), "change back");
}

/* Of an object under another name, whose constructors run now. */
static void late(const char *program)
{
	char command[9000], name[4200];
	void *plugin;

	snprintf(name, sizeof(name), "%s.late.so", program);
	snprintf(command, sizeof(command), "cp '%s.plugin.so' '%s'", program, name);
	MUST(!system(command), "%s", command);
	plugin = dlopen(name, RTLD_NOW | RTLD_DEEPBIND);
	unlink(name);
	MUST(plugin, "%s", dlerror());
	is_on = (int (*)(void))dlsym(plugin, "plugin_on");
	op = (int (*)(int))dlsym(plugin, "plugin_op");
	set = (int (*)(int))dlsym(plugin, "plugin_set");
	own = (int (*)(int))dlsym(plugin, "plugin_own");
}

int main(int argc, char **argv)
{
	(void)argc;
	alarm(10);
	is_on = plugin_on;
	op = plugin_op;
	set = plugin_set;
	own = plugin_own;
	MUST(own(1) == 1 && !own(0), "its own key");
	changes_go_by(is_on());
	late(argv[0]);
	MUST(is_on != plugin_on, "it is the same one");
	changes_go_by(is_on());
	MUST(own(1) == -ENODEV, "it is refused, and so is all that is in it");
	return 0;
}
