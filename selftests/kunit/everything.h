/* SPDX-License-Identifier: GPL-2.0 */
/* A module with all kinds of entities and sites, for registry_test.c and unload_test.c. */
#ifndef JFK_EVERYTHING_H
#define JFK_EVERYTHING_H

#include "fake.h"

/* A module with a bit of everything; the offsets are those of its fields. */
struct everything {
	struct jfk_mod	*m;
	struct jf_func	*f, *g;
	struct jf_key	*off, *on;
	unsigned long	call_f, call_g, unlikely_off, likely_off, unlikely_on,
			likely_on;
};

#define EVERYTHING_SITES	8	/* two trampolines among them */

static inline struct everything everything(struct kunit *test, const char *name)
{
	struct everything e = { .m = jfk_module(test, name) };

	e.f = jfk_func(e.m, "f", jfk_target(0), 0);
	e.g = jfk_func(e.m, "g", NULL, JF_ENT_NULL_OK);
	e.off = jfk_key(e.m, "off", false, 0);
	e.on = jfk_key(e.m, "on", true, JF_ENT_ON);
	e.call_f = jfk_site(e.m, &e.f->ent, JF_SITE_CALL);
	e.call_g = jfk_site(e.m, &e.g->ent, JF_SITE_CALL);
	e.unlikely_off = jfk_site(e.m, &e.off->ent, JF_SITE_BRANCH);
	e.likely_off = jfk_site(e.m, &e.off->ent, JF_SITE_BRANCH | JF_SITE_BRANCH_INV);
	e.unlikely_on = jfk_site(e.m, &e.on->ent, JF_SITE_BRANCH);
	e.likely_on = jfk_site(e.m, &e.on->ent, JF_SITE_BRANCH | JF_SITE_BRANCH_INV);
	return e;
}

static inline u64 branch(unsigned long site)
{
	return jfk_insn(JF_OP_JMP, jfk_label(site));
}

/* The call that the compiler wrote. */
static inline u64 compiled(struct jfk_mod *m, struct jf_func *f)
{
	return jfk_call((void *)(jfk_tramp(m, f) - 4));
}

/* It left nothing. */
static inline void expect_unloaded(struct kunit *test, struct everything *e)
{
	unsigned long addr;

	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 0U);
	KUNIT_EXPECT_PTR_EQ(test, jfk_ctl(&e->f->ent), (struct jf_ctl *)NULL);
	KUNIT_EXPECT_PTR_EQ(test, jfk_ctl(&e->on->ent), (struct jf_ctl *)NULL);
	for (addr = (unsigned long)e->m->mem.text; addr < e->likely_on + 8; addr++)
		KUNIT_EXPECT_TRUE(test, !jf_site_find(addr));
	KUNIT_EXPECT_EQ(test, __jf_func_update(e->f, jfk_target(1)), -ENODEV);
	KUNIT_EXPECT_EQ(test, jf_key_enable(e->off), -ENODEV);
}

#endif /* JFK_EVERYTHING_H */
