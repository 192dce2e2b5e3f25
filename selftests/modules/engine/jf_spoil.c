// SPDX-License-Identifier: GPL-2.0
/*
 * Spoils the tables of jf_spoil_victim.ko while that is loaded: after its text and data
 * are in place and before jumpfunc checks them. The parameter "what" says how.
 *
 * Before the tests of counts and names were added to kernel/consumers/tables.c, "count", "name",
 * "many" and "noname" were accepted.
 */
#include "jf_test.h"

#include <linux/notifier.h>

static char what[16] = "nothing";
module_param_string(what, what, sizeof(what), 0600);
MODULE_PARM_DESC(what, "what to do to the next jf_spoil_victim.ko");

/* A dynamic function that stands in no table. */
static int good(int a)
{
	return a;
}
static struct jf_func stray = __JF_FUNC_INIT(stray, good, 0);

#define SET(field, value)						\
({									\
	typeof(field) jft_v = (typeof(field))(value);			\
									\
	jft_poke((unsigned long)&(field), &jft_v, sizeof(jft_v));	\
})

/* All that is read-only by now is written through an alias. */

static int spoil_table(const struct jf_table *t)
{
	if (!strcmp(what, "magic"))
		return SET(t->magic, t->magic + 1);
	if (!strcmp(what, "size"))
		return SET(t->rec_size, t->rec_size + 8);
	if (!strcmp(what, "owner"))
		return SET(t->owner, THIS_MODULE);
	if (!strcmp(what, "outside"))
		return SET(t->sites_end, (unsigned long)t->sites + (1UL << 30));
	if (!strcmp(what, "order"))
		return SET(t->ents_end, t->ents - 1);
	return -ENOENT;
}

static int spoil_site(const struct jf_site_rec *s)
{
	if (!strcmp(what, "site"))
		return SET(s->addr, (unsigned long)jf_nop - (unsigned long)&s->addr);
	if (!strcmp(what, "bytes"))
		return SET(s->addr, s->addr + 1);
	if (!strcmp(what, "overlap"))
		return SET(s[1].addr, s->addr - (long)sizeof(*s));
	if (!strcmp(what, "flags"))
		return SET(s->flags, 0);
	if (!strcmp(what, "type"))
		return SET(s->flags, JF_SITE_BRANCH);
	if (!strcmp(what, "key"))
		return SET(s->ent, &stray.ent);
	return -ENOENT;
}

static int spoil_key(const struct jf_ent_rec *e)
{
	if (!strcmp(what, "twice"))
		return SET(e[1].ent, e->ent);
	if (!strcmp(what, "foreign"))
		return SET(e->ent, &stray.ent);
	if (!strcmp(what, "tramp"))
		return SET(e->tramp, jf_nop);
	if (!strcmp(what, "wrongtramp"))
		return SET(e->tramp, e->tramp + 1);
	if (!strcmp(what, "none"))
		return SET(e->num, 0);
	if (!strcmp(what, "count"))
		return SET(e->num, 0xffffffff);
	if (!strcmp(what, "name"))
		return SET(e->ent->name, 8);
	if (!strcmp(what, "enttype"))
		return SET(e->ent->type, 7);
	return -ENOENT;
}

/* Not that of the first function, which is called. */
static int spoil_value(const struct module *mod, const struct jf_ent_rec *e)
{
	struct jf_func *f = container_of(e[1].ent, struct jf_func, ent);

	if (!strcmp(what, "init"))
		return SET(f->func, mod->init) ?: SET(f->init, mod->init);
	/* Its initial target, but not its present one. */
	if (!strcmp(what, "far"))
		return SET(f->init, (unsigned long)f->init - 0x100000000UL);
	return -ENOENT;
}

static int spoil_targets(const struct jf_target_rec *r)
{
	if (!strcmp(what, "targets"))
		return SET(r->ent, &stray.ent);
	if (!strcmp(what, "list"))
		return SET(r->targets, &stray);
	if (!strcmp(what, "many"))
		return SET(r->num, 1ULL << 60);
	if (!strcmp(what, "noname"))
		return SET(r->targets->name, 8);
	return -ENOENT;
}

/* A name that one of them does not know is for the next one. */
static int spoil(const struct module *mod, const struct jf_table *t)
{
	int err;

	if (!strcmp(what, "nothing"))
		return 0;
	err = spoil_table(t);
	if (err == -ENOENT)
		err = spoil_site(t->sites);
	if (err == -ENOENT)
		err = spoil_key(t->ents);
	if (err == -ENOENT)
		err = spoil_value(mod, t->ents);
	if (err == -ENOENT)
		err = spoil_targets(t->targets);
	return err;
}

static int spoil_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;
	unsigned int i;

	if (event != MODULE_STATE_COMING || strcmp(mod->name, "jf_spoil_victim"))
		return NOTIFY_OK;
	for (i = 0; i < mod->num_kp; i++)
		if (mod->kp[i].ops == &jf_table_ops)
			pr_info("jf_spoil: %s: %d\n", what, spoil(mod, mod->kp[i].arg));
	return NOTIFY_OK;
}

static struct notifier_block spoil_nb = {
	.notifier_call = spoil_notify,
	/* Before jumpfunc. */
	.priority = INT_MAX,
};

static int __init spoil_init(void)
{
	return register_module_notifier(&spoil_nb);
}

static void __exit spoil_exit(void)
{
	unregister_module_notifier(&spoil_nb);
}

/* jf_test.h wants some. */
const struct jft_case jft_cases[] = { { } };

module_init(spoil_init);
module_exit(spoil_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Spoils the tables of jf_spoil_victim while it is loaded");
