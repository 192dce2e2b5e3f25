// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * From one moment on text cannot be written any more, because of a filter. Then an
 * object is closed that has targets and probes. It is unmapped, and nothing leads
 * into it. Kernels before 6.10 have no mseal(): so it is denied, too.
 */
#include <dlfcn.h>
#include <jumpfunc/tracepoint.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hostile.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

/* So many probes that the iterator calls them. */
#define MANY	20
DECLARE_JF_TRACE(many, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(many);

/* It cannot be switched off any more. */
DECLARE_JF_TRACE(only, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(only);

static int programs;

static void own_probe(void *data, int i)
{
	(void)data;
	programs += i;
}

int one(int i);
int one(int i) { return i + 1; }
DEFINE_DYNFUNC(op, one);

static void deny(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 462 /* mseal */, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl");
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), "seccomp");
}

int main(int argc, char **argv)
{
	char name[4096];
	void (*probe)(void *, int);
	void *plugin;
	int nr[MANY], i;

	(void)argc;
	alarm(20);
	snprintf(name, sizeof(name), "%s.plugin.so", argv[0]);
	plugin = dlopen(name, RTLD_NOW);
	MUST(plugin, "%s", dlerror());
	probe = (void (*)(void *, int))dlsym(plugin, "plugin_probe");
	MUST(!register_jf_trace_rx(probe, NULL), "register");
	MUST(!register_jf_trace_rx(own_probe, NULL), "register");
	MUST(!dynfunc_update(op, (int (*)(int))dlsym(plugin, "plugin_two")), "update");
	for (i = 0; i < MANY; i++)
		MUST(!register_jf_trace_many(i == 5 ? probe : own_probe, &nr[i]), "register");
	MUST(!register_jf_trace_only(probe, NULL), "register");
	jf_trace_rx(1);
	jf_trace_many(0);
	jf_trace_only(0);
	deny();
	dlclose(plugin);
	MUST(!dlopen(name, RTLD_NOW | RTLD_NOLOAD), "it is still there");
	jf_trace_rx(1);
	jf_trace_many(10);
	jf_trace_only(10);
	MUST(!register_jf_trace_only(own_probe, NULL), "register");
	jf_trace_only(100);
	programs -= 100;
	MUST(programs == 2 + 10 * (MANY - 1), "the other probe was called %d times", programs);
	MUST(dynfunc_op(1) == 2, "op: %d", dynfunc_op(1));
	return 0;
}
