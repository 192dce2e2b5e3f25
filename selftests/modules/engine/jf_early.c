// SPDX-License-Identifier: GPL-2.0
/*
 * Sets kprobes on jumpfunc's images while jumpfunc is being loaded, before kprobes
 * itself has been told of the module and of the text that it must keep off.
 *
 *   symbols	of images to try, at every byte
 *   accepted	SYMBOL+OFFSET of each probe that the kernel took
 *   arm	1 enables these probes, 0 disables them
 *   hits	how often one of them has run
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>

#define EARLY_MAX	512
#ifdef CONFIG_ARM64
#define EARLY_BYTES	128	/* so many names fit into a parameter */
#else
#define EARLY_BYTES	1024	/* no image is longer */
#endif

static char *symbols[4];
static int nsymbols;
module_param_array(symbols, charp, &nsymbols, 0444);

static struct kprobe *probes[EARLY_MAX];
static int nprobes;
static atomic_t hits;

static int early_pre(struct kprobe *p, struct pt_regs *regs)
{
	atomic_inc(&hits);
	return 0;
}

static bool early_try(const char *symbol, unsigned int offset)
{
	struct kprobe *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return false;
	p->symbol_name = symbol;
	p->offset = offset;
	p->pre_handler = early_pre;
	p->flags = KPROBE_FLAG_DISABLED;
	if (register_kprobe(p)) {
		kfree(p);
		return false;
	}
	probes[nprobes++] = p;
	return true;
}

static int early_notify(struct notifier_block *nb, unsigned long val, void *data)
{
	struct module *mod = data;
	unsigned int i, offset, left;

	if (val != MODULE_STATE_COMING || strcmp(mod->name, "jumpfunc"))
		return NOTIFY_DONE;
	for (i = 0; i < nsymbols; i++) {
		left = EARLY_MAX / ARRAY_SIZE(symbols);
		for (offset = 0; offset < EARLY_BYTES && left; offset++)
			left -= early_try(symbols[i], offset);
	}
	return NOTIFY_DONE;
}

/* Above kprobes' own, which has 0. */
static struct notifier_block nb = { .notifier_call = early_notify, .priority = 1 };

static int accepted_get(char *buffer, const struct kernel_param *kp)
{
	int i, n = 0;

	for (i = 0; i < nprobes; i++)
		n += scnprintf(buffer + n, PAGE_SIZE - n, "%s+%#x\n",
			       probes[i]->symbol_name, probes[i]->offset);
	return n;
}
static const struct kernel_param_ops accepted_ops = { .get = accepted_get };
module_param_cb(accepted, &accepted_ops, NULL, 0444);

static int arm_set(const char *val, const struct kernel_param *kp)
{
	int i, err = 0;

	for (i = 0; i < nprobes && !err; i++)
		err = val[0] == '1' ? enable_kprobe(probes[i]) : disable_kprobe(probes[i]);
	return err;
}
static const struct kernel_param_ops arm_ops = { .set = arm_set };
module_param_cb(arm, &arm_ops, NULL, 0200);

static int hits_get(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%d\n", atomic_read(&hits));
}
static const struct kernel_param_ops hits_ops = { .get = hits_get };
module_param_cb(hits, &hits_ops, NULL, 0444);

static int __init early_init(void)
{
	return register_module_notifier(&nb);
}

static void __exit early_exit(void)
{
	int i;

	unregister_module_notifier(&nb);
	for (i = 0; i < nprobes; i++) {
		unregister_kprobe(probes[i]);
		kfree(probes[i]);
	}
}

module_init(early_init);
module_exit(early_exit);
MODULE_DESCRIPTION("jumpfunc: kprobes on its images while it is loaded");
MODULE_LICENSE("GPL");
