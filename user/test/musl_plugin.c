// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A plugin that brings the library into a program that has none: see musl_prog.c. */
#include <jumpfunc/branch.h>
#include <jumpfunc/tracepoint.h>

DEFINE_JF_KEY_FALSE(plugin_key);
DECLARE_JF_TRACE(plugin_rx, JF_PROTO(int *sum, int i), JF_ARGS(sum, i));
DEFINE_JF_TRACE(plugin_rx);

static void adds(void *data, int *sum, int i)
{
	(void)data;
	*sum += i;
}

int plugin_enable(void);
int plugin_enable(void)
{
	int err = jf_key_enable(&plugin_key);

	return err ? err : register_jf_trace_plugin_rx(adds, NULL);
}

/* 0 while all is off, else @i. */
int plugin_section(int i);
int plugin_section(int i)
{
	int sum = 0;

	jf_read_lock();
	jf_trace_plugin_rx(&sum, i);
	jf_read_unlock();
	return jf_branch_unlikely(&plugin_key) ? sum : -sum;
}

int plugin_quiesce(unsigned long ms);
int plugin_quiesce(unsigned long ms)
{
	return jf_quiesce_timeout(ms);
}
