// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of jf_trace_host's tracepoint, for unloading under load: with leave=1 they
 * are left to the core. A call after the module's memory is freed faults; one that
 * the exit function of a tidy module does not prevent is seen by "unregistered".
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "jf_trace_host.h"

static unsigned int probes = 1;
module_param(probes, uint, 0444);
MODULE_PARM_DESC(probes, "how many probes to register, 1 to 20 (default 1)");

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "do not unregister them on unload");

#define GUESTS	20

static struct guest {
	unsigned int	id;
	atomic_t	calls;
} guests[GUESTS];

static atomic_t bad;
/* Set when no call may come any more. */
static bool unregistered;

static void guest(void *data, u64 a, u64 b)
{
	struct guest *g = data;

	if (g < guests || g >= guests + GUESTS || g != &guests[g->id] || b != TH_ARG(a) ||
	    READ_ONCE(unregistered)) {
		if (!atomic_fetch_inc(&bad))
			pr_err("jf_trace_guest: a bad call: data %p, %llu, %llu, unregistered %d\n",
			       data, a, b, unregistered);
		return;
	}
	/* To be in here when the module is unloaded. */
	if (!(atomic_inc_return(&g->calls) & 0xff))
		udelay(50);
}

static int calls_get(char *buf, const struct kernel_param *kp)
{
	unsigned int i, n = INT_MAX;

	for (i = 0; i < probes; i++)
		n = min_t(unsigned int, n, atomic_read(&guests[i].calls));
	return sprintf(buf, "%u\n", n);
}

static const struct kernel_param_ops calls_ops = {
	.get = calls_get,
};
module_param_cb(calls, &calls_ops, NULL, 0444);
MODULE_PARM_DESC(calls, "calls of the probe that was called least often");

static int bad_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%d\n", atomic_read(&bad));
}

static const struct kernel_param_ops bad_ops = {
	.get = bad_get,
};
module_param_cb(bad, &bad_ops, NULL, 0444);
MODULE_PARM_DESC(bad, "calls with wrong data or arguments");

static void unregister(unsigned int n)
{
	while (n--)
		if (unregister_jf_trace_th2(guest, &guests[n]))
			pr_err("jf_trace_guest: cannot unregister probe %u\n", n);
}

static int __init guest_init(void)
{
	unsigned int i;
	int err;

	if (!probes || probes > GUESTS)
		return -EINVAL;
	for (i = 0; i < probes; i++) {
		guests[i].id = i;
		err = register_jf_trace_th2(guest, &guests[i]);
		if (err) {
			unregister(i);
			return err;
		}
	}
	return 0;
}

static void __exit guest_exit(void)
{
	if (leave)
		return;
	unregister(probes);
	jf_quiesce();
	WRITE_ONCE(unregistered, true);
	msleep(2);
}

module_init(guest_init);
module_exit(guest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Probes of jf_trace_host's tracepoint that change under load");
