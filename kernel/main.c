// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters, and in which order the rooms are opened and closed.
 */
#include "arch/arch.h"
#include "index/state.h"
#include "consumers/module.h"
#include "quiesce/quiesce.h"
#include "tracepoint/tracepoint.h"
#include "debugfs/debugfs.h"
#include "demo/demo.h"
#include "probes/probes.h"

#include <linux/init.h>
#include <linux/module.h>

static char *backend = "auto";
module_param(backend, charp, 0444);
MODULE_PARM_DESC(backend, "How text is patched: auto (default), xmc (own INT3 protocol), kernel (the kernel's own), indirect (not at all: function pointers)");

static int __init jumpfunc_init(void)
{
	int err;

	err = jf_arch_init(backend);
	if (err)
		return err;
	err = jf_quiesce_init();
	if (err)
		goto err_arch;
	err = jf_trace_init();
	if (err)
		goto err_quiesce;
	err = jf_module_init();
	if (err)
		goto err_trace;
	err = jf_probe_file_init();
	if (err)
		goto err_module;
	err = jf_demo_init();
	if (err)
		goto err_probes;
	/*
	 * From here on nothing may fail: a module whose init fails is freed even
	 * while a task has a file of it open.
	 */
	jf_debugfs_init();
	jf_demo_add_files();
	jf_probe_file_add();
	pr_info("loaded, back end %s\n", jf_arch_backend());
	return 0;

err_probes:
	jf_probe_file_exit();
err_module:
	jf_module_exit();
err_trace:
	jf_trace_exit();
err_quiesce:
	jf_quiesce_exit();
err_arch:
	jf_arch_exit();
	return err;
}

static void __exit jumpfunc_exit(void)
{
	jf_demo_exit();
	jf_probe_file_remove();
	jf_debugfs_exit();
	jf_probe_file_exit();
	jf_module_exit();
	jf_probe_file_free();
	jf_trace_exit();
	jf_quiesce_exit();
	jf_arch_exit();
}

module_init(jumpfunc_init);
module_exit(jumpfunc_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The jumpfunc developers");
MODULE_DESCRIPTION("Dynamic functions, jump labels and static-call tracepoints for modules");
MODULE_VERSION(JF_VERSION);
