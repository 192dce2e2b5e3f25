// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-registry: modules are loaded and live (kernel/consumers/module.c, fake.h).
 *
 * Proves: tables become entities and sites whose text agrees with them
 * before the module's first line runs; a table that is wrong in any field, a site
 * that is not as the macros emit it, a target out of reach, one that could not be
 * fallen back to, or a failed allocation refuses the module and leaves nothing of it;
 * the map of sites answers for each site's first byte and for nothing else;
 * __init text and read-only keys end with LIVE.
 */
#include "everything.h"

#include "../../kernel/index/walk.h"

/* --- loading ----------------------------------------------------------- */

/* All sites are brought up to date at once, before any task can execute them. */
static void coming_patches(struct kunit *test)
{
	struct everything e = everything(test, "m");

	KUNIT_ASSERT_EQ(test, jfk_notify(e.m, MODULE_STATE_COMING), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 1U);
	KUNIT_EXPECT_EQ(test, jfk_map_num(), EVERYTHING_SITES);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk.live, 0U);
	KUNIT_EXPECT_EQ(test, jfk.pokes, EVERYTHING_SITES);
	KUNIT_EXPECT_EQ(test, jfk_text(jfk_tramp(e.m, e.f)), jfk_jmp(jfk_target(0)));
	KUNIT_EXPECT_EQ(test, jfk_text(jfk_tramp(e.m, e.g)), jfk_jmp(jf_nop));
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), jfk_call(jfk_target(0)));
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_g), jfk_nop());
	KUNIT_EXPECT_EQ(test, jfk_text(e.unlikely_off), jfk_nop());
	KUNIT_EXPECT_EQ(test, jfk_text(e.likely_off), branch(e.likely_off));
	KUNIT_EXPECT_EQ(test, jfk_text(e.unlikely_on), branch(e.unlikely_on));
	KUNIT_EXPECT_EQ(test, jfk_text(e.likely_on), jfk_nop());
	KUNIT_EXPECT_EQ(test, jfk_num_sites(&e.f->ent), 2U);
	KUNIT_EXPECT_EQ(test, jfk_num_sites(&e.off->ent), 2U);
	/* Loading is no update. */
	KUNIT_EXPECT_EQ(test, jf_stats.updates, 0ULL);
	KUNIT_EXPECT_EQ(test, jf_stats.batches, 0ULL);
}

static void no_tables(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");

	m->mod.num_kp = 1;
	KUNIT_EXPECT_EQ(test, jfk_load(m), 0);
	/* It is known, so that it is noticed when it is unloaded, and that is all. */
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 1U);
	KUNIT_EXPECT_EQ(test, jfk.allocs, 1U);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	KUNIT_EXPECT_EQ(test, jfk_map_num(), 0U);
	KUNIT_EXPECT_EQ(test, jfk_notify(m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 0U);
	KUNIT_EXPECT_EQ(test, jfk.not_freed, 0);
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.tasks_graces, 0U);
}

/* Want of memory is no reason to refuse it: it is like one that was there before. */
static void no_tables_no_memory(struct kunit *test)
{
	struct everything e = everything(test, "m");
	struct jfk_mod *target = jfk_module(test, "target");

	target->mod.num_kp = 0;
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	jfk.allocs = 0;
	jfk.fail_at = 1;
	KUNIT_EXPECT_EQ(test, jfk_load(target), 0);
	KUNIT_EXPECT_EQ(test, jfk.allocs, 1U);
	jfk.fail_at = 0;
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 1U);
	KUNIT_EXPECT_EQ(test, __jf_func_update(e.f, jfk_code(target, 0)), 0);
	KUNIT_EXPECT_EQ(test, jfk_notify(target, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 1U);
	KUNIT_EXPECT_PTR_EQ(test, e.f->func, jfk_target(0));
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
}

/* A header was included and nothing defined. */
static void empty_tables(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");

	KUNIT_EXPECT_EQ(test, jfk_load(m), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 1U);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	KUNIT_EXPECT_EQ(test, jfk_notify(m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 0U);
}

/* A back end that writes no text keeps no sites. */
static void indirect(struct kunit *test)
{
	struct everything e = everything(test, "m");

	jfk.indirect = true;
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_EXPECT_EQ(test, jfk_map_num(), 0U);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), JFK_ORIG);
	KUNIT_EXPECT_EQ(test, __jf_func_update(e.f, jfk_target(1)), 0);
	KUNIT_EXPECT_PTR_EQ(test, e.f->func, jfk_target(1));
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), JFK_ORIG);
}

/* An array of keys is one record. */
static void key_array(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_key *k = jfk_key(m, "k", false, 0);
	unsigned int i;

	for (i = 1; i < 5; i++) {
		m->mem.key[i] = *k;
		KUNIT_EXPECT_TRUE(test, !jfk_ctl(&m->mem.key[i].ent));
	}
	m->mem.ent[0].num = 5;
	m->mem.ent[0].stride = sizeof(struct jf_key);
	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	for (i = 0; i < 5; i++) {
		struct jf_ctl *ctl = jfk_ctl(&m->mem.key[i].ent);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ctl);
		KUNIT_EXPECT_EQ(test, ctl->index, (int)i);
	}
	KUNIT_EXPECT_EQ(test, jf_key_enable(&m->mem.key[3]), 0);
	KUNIT_EXPECT_EQ(test, jf_key_count(&m->mem.key[2]), 0);
	KUNIT_EXPECT_EQ(test, jf_key_count(&m->mem.key[3]), 1);
}

/* Sites of a module that is loaded later begin with the present values. */
static void late_comer(struct kunit *test)
{
	struct everything e = everything(test, "owner");
	struct jfk_mod *m = jfk_module(test, "user");
	unsigned long call = jfk_site(m, &e.f->ent, JF_SITE_CALL);
	unsigned long off = jfk_site(m, &e.off->ent, JF_SITE_BRANCH);

	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_target(2)), 0);
	KUNIT_ASSERT_EQ(test, jf_key_enable(e.off), 0);
	jfk.transactions = 0;
	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk_text(call), jfk_call(jfk_target(2)));
	KUNIT_EXPECT_EQ(test, jfk_text(off), branch(off));
	KUNIT_EXPECT_EQ(test, jfk_num_sites(&e.f->ent), 3U);

	/* It is unloaded: the owner's entities forget its sites and still work. */
	KUNIT_EXPECT_EQ(test, jfk_notify(m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_sites(&e.f->ent), 2U);
	KUNIT_EXPECT_EQ(test, __jf_func_update(e.f, jfk_target(3)), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), jfk_call(jfk_target(3)));
	/* A task that executes them, late, follows the compiled ones, which is right. */
	KUNIT_EXPECT_EQ(test, jfk_text(call), compiled(e.m, e.f));
	KUNIT_EXPECT_EQ(test, jfk_text(off), JFK_ORIG);
}

/* --- loading, refused -------------------------------------------------- */

struct bad_table {
	const char	*name;
	int		err;
	void		(*spoil)(struct everything *e);
};

#define SPOIL(fn, body)							\
	static void spoil_##fn(struct everything *e)			\
	{								\
		struct jfk_mem *mem __maybe_unused = &e->m->mem;	\
		struct jf_table *t __maybe_unused = &mem->table;	\
									\
		body;							\
	}

/* Something that is in memory, but not in the module's. */
static struct jf_key outside_key;
static char outside_text[64];
static struct module outside_owner;

SPOIL(magic, t->magic++)
SPOIL(rec_size, t->rec_size += 1 << 8)
SPOIL(owner, t->owner = &outside_owner)
SPOIL(table, e->m->kp[1].arg = outside_text)
SPOIL(sites_start, t->sites = (void *)outside_text)
SPOIL(sites_end, t->sites_end = (void *)(mem + 1) + 8)
SPOIL(sites_reversed, t->sites_end = t->sites - 1)
SPOIL(ents_start, t->ents = (void *)outside_text)
SPOIL(ents_end, t->ents_end = (void *)(mem + 1) + 8)
SPOIL(ents_reversed, t->ents_end = t->ents - 1)
SPOIL(targets_end, t->targets_end = (void *)(mem + 1) + 8)
SPOIL(targets_reversed, t->targets_end = t->targets - 1)
SPOIL(ent_outside, mem->ent[2].ent = &outside_key.ent)
SPOIL(ent_null, mem->ent[2].ent = NULL)
SPOIL(num_zero, mem->ent[2].num = 0)
SPOIL(num_huge, mem->ent[2].num = UINT_MAX; mem->ent[2].stride = sizeof(struct jf_key))
SPOIL(stride_huge, mem->ent[2].num = 2; mem->ent[2].stride = UINT_MAX)
SPOIL(stride_zero, mem->ent[2].num = 2; mem->ent[2].stride = 0)
SPOIL(ent_owner, e->off->ent.owner = &outside_owner)
SPOIL(ent_type, e->off->ent.type = JF_ENT_KEY + 1)
SPOIL(ent_name, e->off->ent.name = outside_text)
SPOIL(ent_name_null, e->off->ent.name = NULL)
SPOIL(ent_name_empty, mem->name[2][0] = '\0')
SPOIL(ent_twice, mem->ent[3].ent = &e->off->ent)
SPOIL(tramp_outside, mem->ent[0].tramp = outside_text)
SPOIL(site_outside, mem->site[0].addr = outside_text - (char *)&mem->site[0].addr)
SPOIL(site_before, mem->site[0].addr = (char *)mem - 1 - (char *)&mem->site[0].addr)
SPOIL(site_at_end, mem->site[0].addr = (char *)(mem + 1) - 4 - (char *)&mem->site[0].addr)
SPOIL(site_key, mem->site[0].ent = &outside_key.ent)
SPOIL(site_null, mem->site[0].ent = NULL)
SPOIL(call_of_key, mem->site[0].ent = &e->off->ent)
SPOIL(branch_of_func, mem->site[2].ent = &e->f->ent)
SPOIL(overlap, jfk_site_at(e->m, &e->f->ent, JF_SITE_CALL, (void *)e->call_f + 4))
SPOIL(overlap_back, jfk_site_at(e->m, &e->f->ent, JF_SITE_CALL, (void *)e->likely_on + 1))
SPOIL(same_site, jfk_site_at(e->m, &e->f->ent, JF_SITE_CALL, (void *)e->call_f))
SPOIL(bytes, ((u8 *)e->call_g)[2] = 0x90)
SPOIL(tramp_bytes, ((u8 *)jfk_tramp(e->m, e->g))[0] = 0xcc)
SPOIL(far, jfk.far = jfk_target(0))
SPOIL(init_text, e->f->init = e->f->func = jfk_init_text(e->m))
SPOIL(later_init_text, e->f->init = jfk_init_text(e->m))
SPOIL(itself, e->f->init = e->f->func = (void *)jfk_tramp(e->m, e->f) - 4)
SPOIL(later_itself, e->f->init = (void *)jfk_tramp(e->m, e->f) - 4)
SPOIL(circle, e->f->init = e->f->func = (void *)jfk_tramp(e->m, e->g) - 4;
      e->g->init = e->g->func = (void *)jfk_tramp(e->m, e->f) - 4)
SPOIL(far_later, e->f->init = jfk_target(3); jfk.far = e->f->init)
SPOIL(list_of_key, jfk_allow(e->m, e->f, "t", jfk_target(1)); mem->list[0].ent = &e->on->ent)
SPOIL(list_of_none, jfk_allow(e->m, e->f, "t", jfk_target(1)); mem->list[0].ent = &outside_key.ent)
SPOIL(list_outside, jfk_allow(e->m, e->f, "t", jfk_target(1)); mem->list[0].targets = (void *)outside_text)
SPOIL(list_huge, jfk_allow(e->m, e->f, "t", jfk_target(1)); mem->list[0].num = U64_MAX / 8)
SPOIL(list_long, jfk_allow(e->m, e->f, "t", jfk_target(1)); mem->list[0].num = 1000)
SPOIL(list_name, jfk_allow(e->m, e->f, "t", jfk_target(1)); mem->target[0].name = outside_text)
SPOIL(adopt, jfk.adopt_err = -EILSEQ; jfk.adopt_err_at = 1)
SPOIL(adopt_last, jfk.adopt_err = -EILSEQ; jfk.adopt_err_at = EVERYTHING_SITES)
SPOIL(patch, jfk.patch_err = -ENOMEM)
SPOIL(patch_foreign, jfk.patch_err = -EILSEQ)

static const struct bad_table bad_tables[] = {
	{ "another magic", -ENOEXEC, spoil_magic },
	{ "another size of records", -ENOEXEC, spoil_rec_size },
	{ "the table is elsewhere", -ENOEXEC, spoil_table },
	{ "another owner", -EINVAL, spoil_owner },
	{ "sites begin elsewhere", -EINVAL, spoil_sites_start },
	{ "sites end elsewhere", -EINVAL, spoil_sites_end },
	{ "sites end before they begin", -EINVAL, spoil_sites_reversed },
	{ "entities begin elsewhere", -EINVAL, spoil_ents_start },
	{ "entities end elsewhere", -EINVAL, spoil_ents_end },
	{ "entities end before they begin", -EINVAL, spoil_ents_reversed },
	{ "targets end elsewhere", -EINVAL, spoil_targets_end },
	{ "targets end before they begin", -EINVAL, spoil_targets_reversed },
	{ "an entity elsewhere", -EINVAL, spoil_ent_outside },
	{ "an entity at NULL", -EINVAL, spoil_ent_null },
	{ "an array of no entities", -EINVAL, spoil_num_zero },
	{ "an array of 2^32 entities", -EINVAL, spoil_num_huge },
	{ "an array with a huge stride", -EINVAL, spoil_stride_huge },
	{ "an array without a stride", -EINVAL, spoil_stride_zero },
	{ "an entity of another owner", -EINVAL, spoil_ent_owner },
	{ "an entity of unknown type", -EINVAL, spoil_ent_type },
	{ "an entity's name is elsewhere", -EINVAL, spoil_ent_name },
	{ "an entity's name is NULL", -EINVAL, spoil_ent_name_null },
	{ "an entity's name is empty", -EINVAL, spoil_ent_name_empty },
	{ "an entity stands twice", -EINVAL, spoil_ent_twice },
	{ "a trampoline elsewhere", -EINVAL, spoil_tramp_outside },
	{ "a site elsewhere", -EINVAL, spoil_site_outside },
	{ "a site begins one byte before the module", -EINVAL, spoil_site_before },
	{ "a site's last byte is after the module's", -EINVAL, spoil_site_at_end },
	{ "a site of an entity in no module", -ENODEV, spoil_site_key },
	{ "a site of no entity", -ENODEV, spoil_site_null },
	{ "a call of a jump-label key", -EINVAL, spoil_call_of_key },
	{ "a branch on a dynamic function", -EINVAL, spoil_branch_of_func },
	{ "two sites share a byte", -EINVAL, spoil_overlap },
	{ "two sites share four bytes", -EINVAL, spoil_overlap_back },
	{ "the same site twice", -EINVAL, spoil_same_site },
	{ "foreign bytes at a site", -EILSEQ, spoil_bytes },
	{ "foreign bytes in a trampoline", -EILSEQ, spoil_tramp_bytes },
	{ "the initial target is out of reach", -ERANGE, spoil_far },
	{ "an initial target in __init text", -EINVAL, spoil_init_text },
	{ "a fall-back to __init text", -EINVAL, spoil_later_init_text },
	{ "a function that calls itself", -EINVAL, spoil_itself },
	{ "a fall-back to itself", -EINVAL, spoil_later_itself },
	{ "two functions that call each other", -EINVAL, spoil_circle },
	{ "a fall-back that is out of reach", -ERANGE, spoil_far_later },
	{ "targets of a jump-label key", -EINVAL, spoil_list_of_key },
	{ "targets of nothing", -EINVAL, spoil_list_of_none },
	{ "targets elsewhere", -EINVAL, spoil_list_outside },
	{ "2^61 targets", -EINVAL, spoil_list_huge },
	{ "more targets than the module holds", -EINVAL, spoil_list_long },
	{ "a target's name is elsewhere", -EINVAL, spoil_list_name },
	{ "the architecture refuses the first site", -EILSEQ, spoil_adopt },
	{ "the architecture refuses the last site", -EILSEQ, spoil_adopt_last },
	{ "no memory to patch", -ENOMEM, spoil_patch },
	{ "foreign bytes while patching", -EILSEQ, spoil_patch_foreign },
};

static void bad_table_desc(const struct bad_table *b, char *desc)
{
	strscpy(desc, b->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(bad_table, bad_tables, bad_table_desc);

/* Refused, with nothing left of it, and earlier modules unharmed. */
static void refused(struct kunit *test)
{
	const struct bad_table *b = test->param_value;
	struct everything first = everything(test, "first"), e;
	struct jfk_mem *mem;

	KUNIT_ASSERT_EQ(test, jfk_load(first.m), 0);
	e = everything(test, "bad");
	jfk.adopted = 0;
	b->spoil(&e);
	mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mem);
	*mem = e.m->mem;

	KUNIT_EXPECT_EQ(test, jfk_notify(e.m, MODULE_STATE_COMING), b->err);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(mem, &e.m->mem, sizeof(*mem)), 0,
			    "the refused module's memory was written");
	KUNIT_EXPECT_TRUE(test, !jfk_ctl(&e.f->ent));
	KUNIT_EXPECT_TRUE(test, !jfk_ctl(&e.off->ent));
	KUNIT_EXPECT_TRUE(test, !jf_site_find(e.call_f));
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_sites(&first.f->ent), 2U);
	KUNIT_EXPECT_EQ(test, jfk_found(first.call_f), first.call_f);

	/* The loader tells of its going all the same. */
	jfk.far = NULL;
	jfk.patch_err = 0;
	KUNIT_EXPECT_EQ(test, jfk_notify(e.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 1U);
	KUNIT_EXPECT_EQ(test, jf_key_enable(first.off), 0);
	KUNIT_EXPECT_EQ(test, jf_key_disable(first.off), 0);
}

/* A site of another module's function: the target counts to which that can fall back. */
static void fall_back_out_of_reach(struct kunit *test)
{
	struct everything e = everything(test, "owner");
	struct jfk_mod *m = jfk_module(test, "user");
	struct jfk_state *before;

	jfk_site(m, &e.f->ent, JF_SITE_CALL);
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_target(2)), 0);
	before = jfk_save(test);
	jfk.far = jfk_target(0);
	KUNIT_EXPECT_EQ(test, jfk_notify(m, MODULE_STATE_COMING), -ERANGE);
	JFK_EXPECT_UNCHANGED(test, before, "by a refused module");
	jfk.far = NULL;
	KUNIT_EXPECT_EQ(test, jfk_load(m), 0);
}

/* Every allocation on the way fails once. */
static void coming_without_memory(struct kunit *test)
{
	struct everything first = everything(test, "first");
	struct everything e = everything(test, "m");
	unsigned int n;
	int err;

	KUNIT_ASSERT_EQ(test, jfk_load(first.m), 0);
	for (n = 1; n < 20; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		err = jfk_notify(e.m, MODULE_STATE_COMING);
		jfk.fail_at = 0;
		if (!err)
			break;
		KUNIT_ASSERT_EQ(test, err, -ENOMEM);
		KUNIT_EXPECT_EQ(test, jfk_num_modules(), 1U);
		KUNIT_EXPECT_TRUE(test, !jfk_ctl(&e.f->ent));
		KUNIT_EXPECT_TRUE(test, !jf_site_find(e.call_f));
		KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), JFK_ORIG);
		KUNIT_EXPECT_EQ(test, jfk_notify(e.m, MODULE_STATE_GOING), 0);
	}
	/* The module, three arrays, the map and the pokes. */
	KUNIT_EXPECT_EQ(test, n, 7U);
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), jfk_call(jfk_target(0)));
}

/* Five bytes apart is not an overlap, not even across modules. */
static void sites_that_touch(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_func *f = jfk_func(m, "f", jfk_target(0), 0);
	unsigned long a = jfk_site(m, &f->ent, JF_SITE_CALL);
	unsigned long b = jfk_site(m, &f->ent, JF_SITE_CALL);

	KUNIT_ASSERT_EQ(test, b - a, 5UL);
	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(a), jfk_call(jfk_target(0)));
	KUNIT_EXPECT_EQ(test, jfk_text(b), jfk_call(jfk_target(0)));
	KUNIT_EXPECT_EQ(test, __jf_func_update(f, jfk_target(1)), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(a), jfk_call(jfk_target(1)));
	KUNIT_EXPECT_EQ(test, jfk_text(b), jfk_call(jfk_target(1)));
}

/* --- the map ----------------------------------------------------------- */

static void map_empty(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, !jf_site_find(0));
	KUNIT_EXPECT_TRUE(test, !jf_site_find(1));
	KUNIT_EXPECT_TRUE(test, !jf_site_find(ULONG_MAX));
	KUNIT_EXPECT_TRUE(test, !jf_site_find((unsigned long)map_empty));
}

static const unsigned int map_sizes[] = { 1, 2, 3, 4, 5, 7, 8, 9, 64, 255, 256 };

static void map_size_desc(const unsigned int *n, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u sites", *n);
}
KUNIT_ARRAY_PARAM(map_size, map_sizes, map_size_desc);

/* Tables are in no order. Each first byte is found, and no other byte. */
static void map_lookup(struct kunit *test)
{
	unsigned int i, n = *(const unsigned int *)test->param_value, found = 0;
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_key *k = jfk_key(m, "k", false, 0);
	unsigned long addr, start = (unsigned long)m->mem.text;

	/* The even ones upwards, then the odd ones downwards. */
	for (i = 0; i < n; i += 2)
		jfk_site_at(m, &k->ent, JF_SITE_BRANCH, m->mem.text + 7 * i);
	for (i = n / 2; i-- > 0; )
		jfk_site_at(m, &k->ent, JF_SITE_BRANCH, m->mem.text + 7 * (2 * i + 1));
	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	KUNIT_EXPECT_EQ(test, jfk_map_num(), n);
	for (addr = start - 10; addr < start + JFK_TEXT; addr++) {
		struct jf_site *s = jf_site_find(addr);
		bool is = addr >= start && addr < start + 7 * n &&
			  (addr - start) % 7 == 0;

		KUNIT_EXPECT_EQ_MSG(test, !!s, is, "offset %ld", (long)(addr - start));
		if (s)
			KUNIT_EXPECT_EQ(test, s->addr, addr);
		found += !!s;
	}
	KUNIT_EXPECT_EQ(test, found, n);
	KUNIT_EXPECT_TRUE(test, !jf_site_find(0));
	KUNIT_EXPECT_TRUE(test, !jf_site_find(ULONG_MAX));
}

/* Unloading blanks entries in place; the next module that is loaded drops them. */
static void map_load_and_unload(struct kunit *test)
{
	struct everything a = everything(test, "a"), b = everything(test, "b"),
			  c = everything(test, "c");

	KUNIT_ASSERT_EQ(test, jfk_load(a.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(b.m), 0);
	KUNIT_EXPECT_EQ(test, jfk_map_num(), 2U * EVERYTHING_SITES);
	/* It waits until there is memory for a scan of tasks. */
	jfk.allocs = 0;
	jfk.fail_at = 1;
	jfk.fail_always = true;
	jfk.heal_after = 3;
	KUNIT_EXPECT_EQ(test, jfk_notify(a.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 3U);
	KUNIT_EXPECT_TRUE(test, !jf_site_find(a.call_f));
	KUNIT_EXPECT_EQ(test, jfk_found(b.call_f), b.call_f);
	KUNIT_EXPECT_EQ(test, jfk_map_num(), 2U * EVERYTHING_SITES);
	KUNIT_ASSERT_EQ(test, jfk_load(c.m), 0);
	KUNIT_EXPECT_EQ(test, jfk_map_num(), 2U * EVERYTHING_SITES);
	KUNIT_EXPECT_EQ(test, jfk_found(b.call_f), b.call_f);
	KUNIT_EXPECT_EQ(test, jfk_found(c.likely_on), c.likely_on);
}

/* --- alive ------------------------------------------------------------- */

/* Sites in __init text stay as compiled; that memory has another owner later. */
static void init_text_stays(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_func *f = jfk_func(m, "f", jfk_target(0), 0);
	unsigned long call = jfk_site(m, &f->ent, JF_SITE_CALL);
	unsigned long init = jfk_site_at(m, &f->ent, JF_SITE_CALL, jfk_init_text(m));

	KUNIT_ASSERT_EQ(test, jfk_notify(m, MODULE_STATE_COMING), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(f, jfk_target(1)), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(init), JFK_ORIG);
	KUNIT_EXPECT_EQ(test, jfk_num_sites(&f->ent), 2U);
	KUNIT_ASSERT_EQ(test, jfk_notify(m, MODULE_STATE_LIVE), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(init), JFK_ORIG);
	/* That memory has another owner now. */
	jfk_write(init, 0x1234567890);
	KUNIT_EXPECT_TRUE(test, !jf_site_find(init));
	KUNIT_EXPECT_EQ(test, jfk_num_sites(&f->ent), 2U);
	KUNIT_EXPECT_EQ(test, __jf_func_update(f, jfk_target(2)), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(call), jfk_call(jfk_target(2)));
	KUNIT_EXPECT_EQ(test, jfk_text(init), 0x1234567890ULL);
}

/* A function in __init text can be no target, neither before nor after. */
static void init_target(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_func *f = jfk_func(m, "f", jfk_target(0), 0);
	void *init = jfk_init_text(m);

	KUNIT_ASSERT_EQ(test, jfk_notify(m, MODULE_STATE_COMING), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(f, init), -EINVAL);
	KUNIT_EXPECT_EQ(test, jfk_check_target(init, m), -EINVAL);
	KUNIT_EXPECT_EQ(test, jfk_check_target(jfk_code(m, 0), m), 0);
	KUNIT_EXPECT_PTR_EQ(test, f->func, jfk_target(0));
}

static void read_only_is_sealed(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_key *ro = jfk_key(m, "ro", false, JF_ENT_RO);
	struct jf_key *rw = jfk_key(m, "rw", false, 0);

	KUNIT_ASSERT_EQ(test, jfk_notify(m, MODULE_STATE_COMING), 0);
	KUNIT_EXPECT_EQ(test, jf_key_enable(ro), 0);
	KUNIT_EXPECT_EQ(test, jf_key_inc(ro), 0);
	KUNIT_ASSERT_EQ(test, jfk_notify(m, MODULE_STATE_LIVE), 0);
	KUNIT_EXPECT_EQ(test, jf_key_disable(ro), -EROFS);
	KUNIT_EXPECT_EQ(test, jf_key_inc(ro), -EROFS);
	KUNIT_EXPECT_EQ(test, jf_key_dec(ro), -EROFS);
	KUNIT_EXPECT_EQ(test, jf_key_enable(ro), -EROFS);
	KUNIT_EXPECT_EQ(test, jf_key_count(ro), 2);
	KUNIT_EXPECT_EQ(test, jf_key_enable(rw), 0);
}

/* --- names ------------------------------------------------------------- */

struct name_vector {
	const char	*module, *name;
	enum jf_ent_type type;
	int		err;
	int		which;		/* 0: of module a, 1: of ab */
	unsigned int	rank;
	unsigned int	nth;		/* of those that have that name */
};

static const struct name_vector names[] = {
	{ NULL, "only_a", JF_ENT_FUNC, 0, 0 },
	{ NULL, "only_ab", JF_ENT_FUNC, 0, 1 },
	{ NULL, "both", JF_ENT_FUNC, -EINVAL },
	{ "a", "both", JF_ENT_FUNC, 0, 0 },
	{ "ab", "both", JF_ENT_FUNC, 0, 1 },
	{ "b", "both", JF_ENT_FUNC, -ENOENT },
	{ "abc", "both", JF_ENT_FUNC, -ENOENT },
	{ "", "both", JF_ENT_FUNC, -ENOENT },
	{ "a", "only_ab", JF_ENT_FUNC, -ENOENT },
	{ NULL, "bot", JF_ENT_FUNC, -ENOENT },
	{ NULL, "bothh", JF_ENT_FUNC, -ENOENT },
	{ NULL, "", JF_ENT_FUNC, -ENOENT },
	{ NULL, "only_a", JF_ENT_KEY, -ENOENT },
	{ NULL, "key", JF_ENT_KEY, 0, 0 },
	{ NULL, "key", JF_ENT_FUNC, -ENOENT },
	{ "a", "local", JF_ENT_FUNC, -EINVAL },
	{ "a", "local", JF_ENT_FUNC, 0, 0, 1, 0 },
	{ NULL, "local", JF_ENT_FUNC, 0, 0, 2, 1 },
	{ "a", "local", JF_ENT_FUNC, 0, 0, 3, 2 },
	{ "a", "local", JF_ENT_FUNC, -ENOENT, 0, 4 },
	{ "ab", "local", JF_ENT_FUNC, -ENOENT, 0, 1 },
	/* A name that is the only one has no rank. */
	{ "a", "only_a", JF_ENT_FUNC, -ENOENT, 0, 1 },
	{ "a", "both", JF_ENT_FUNC, -ENOENT, 0, 1 },
};

static void name_desc(const struct name_vector *v, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s '%s' of '%s', rank %u",
		 v->type == JF_ENT_KEY ? "key" : "function", v->name,
		 v->module ?: "any", v->rank);
}
KUNIT_ARRAY_PARAM(name, names, name_desc);

static void by_name(struct kunit *test)
{
	const struct name_vector *v = test->param_value;
	struct jfk_mod *m[2] = { jfk_module(test, "a"), jfk_module(test, "ab") };
	struct jf_func *local[3];
	struct jf_ent *ent = NULL;
	unsigned int i;

	for (i = 0; i < 3; i++)
		local[i] = jfk_func(m[0], "local", jfk_target(0), 0);
	jfk_func(m[0], "only_a", jfk_target(0), 0);
	jfk_func(m[0], "both", jfk_target(0), 0);
	jfk_key(m[0], "key", false, 0);
	jfk_func(m[1], "only_ab", jfk_target(0), 0);
	jfk_func(m[1], "both", jfk_target(0), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(m[0]), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(m[1]), 0);
	KUNIT_EXPECT_EQ(test, jfk_by_name(v->module, v->name, v->rank, v->type, &ent), v->err);
	if (!v->err) {
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ent);
		KUNIT_EXPECT_PTR_EQ(test, ent->owner, &m[v->which]->mod);
		KUNIT_EXPECT_STREQ(test, ent->name, v->name);
		if (v->rank)
			KUNIT_EXPECT_PTR_EQ(test, ent, &local[v->nth]->ent);
	}
}

/* A walk gives up the lock, and is made again if a module was unloaded in between. */
static void walk_is_lost(struct kunit *test)
{
	struct jfk_mod *m[2] = { jfk_module(test, "a"), jfk_module(test, "b") };
	unsigned int i, n, sites;
	struct jf_walk w = { };
	struct jf_func *f;

	for (i = 0; i < 2; i++) {
		f = jfk_func(m[i], "f", jfk_target(0), 0);
		jfk_site(m[i], &f->ent, JF_SITE_CALL);
		jfk_func(m[i], "g", jfk_target(0), 0);
		KUNIT_ASSERT_EQ(test, jfk_load(m[i]), 0);
	}
	do {
		n = 0;
		sites = 0;
		jf_walk_begin(&w);
		while (jf_walk_ctl(&w)) {
			while (jf_walk_site(&w))
				sites++;
			if (++n > 1 || w.tries)
				continue;
			jf_walk_leave(&w);
			KUNIT_EXPECT_EQ(test, jfk_notify(m[1], MODULE_STATE_GOING), 0);
			jf_walk_enter(&w);
		}
		if (!w.tries)
			KUNIT_EXPECT_EQ(test, n, 1U);
	} while (jf_walk_again(&w));
	KUNIT_EXPECT_EQ(test, w.tries, 2U);
	KUNIT_EXPECT_EQ(test, n, 2U);
	KUNIT_EXPECT_GE(test, sites, 1U);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&jf_mutex));
}

/* Nor does one begin with names of modules one of which was unloaded since they were read. */
static void names_grow_old(struct kunit *test)
{
	struct jfk_mod *m[2] = { jfk_module(test, "a"), jfk_module(test, "b") };
	struct jf_names names = { .dels = jf_index_dels };
	struct jf_walk w = { .names = &names };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		jfk_func(m[i], "f", jfk_target(0), 0);
		KUNIT_ASSERT_EQ(test, jfk_load(m[i]), 0);
	}
	jf_walk_begin(&w);
	KUNIT_EXPECT_TRUE(test, jf_walk_ctl(&w) != NULL);
	KUNIT_EXPECT_FALSE(test, jf_walk_again(&w));
	KUNIT_EXPECT_EQ(test, jfk_notify(m[1], MODULE_STATE_GOING), 0);
	jf_walk_begin(&w);
	KUNIT_EXPECT_TRUE(test, jf_walk_ctl(&w) == NULL);
	KUNIT_EXPECT_TRUE(test, jf_walk_again(&w));
	names.dels = jf_index_dels;
	jf_walk_begin(&w);
	KUNIT_EXPECT_TRUE(test, jf_walk_ctl(&w) != NULL);
	KUNIT_EXPECT_FALSE(test, jf_walk_again(&w));
}

static void allowed_targets(struct kunit *test)
{
	struct everything e = everything(test, "m");
	struct jfk_mod *more = jfk_module(test, "more");

	jfk_allow(e.m, e.f, "one", jfk_target(1));
	jfk_allow(e.m, e.g, "two", jfk_target(2));
	jfk_allow(more, e.f, "three", jfk_target(3));
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_EXPECT_PTR_EQ(test, jfk_allowed(&e.f->ent, "one"), jfk_target(1));
	KUNIT_EXPECT_TRUE(test, !jfk_allowed(&e.f->ent, "two"));
	KUNIT_EXPECT_TRUE(test, !jfk_allowed(&e.f->ent, "three"));
	KUNIT_EXPECT_TRUE(test, !jfk_allowed(&e.f->ent, "on"));
	KUNIT_EXPECT_TRUE(test, !jfk_allowed(&e.f->ent, ""));
	/* A list of another module adds to it, and is removed with that module. */
	KUNIT_ASSERT_EQ(test, jfk_load(more), 0);
	KUNIT_EXPECT_PTR_EQ(test, jfk_allowed(&e.f->ent, "three"), jfk_target(3));
	KUNIT_EXPECT_EQ(test, jfk_notify(more, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_TRUE(test, !jfk_allowed(&e.f->ent, "three"));
}

static struct kunit_case registry_cases[] = {
	KUNIT_CASE(coming_patches),
	KUNIT_CASE(no_tables),
	KUNIT_CASE(no_tables_no_memory),
	KUNIT_CASE(empty_tables),
	KUNIT_CASE(indirect),
	KUNIT_CASE(key_array),
	KUNIT_CASE(late_comer),
	KUNIT_CASE_PARAM(refused, bad_table_gen_params),
	KUNIT_CASE(fall_back_out_of_reach),
	KUNIT_CASE(coming_without_memory),
	KUNIT_CASE(sites_that_touch),
	KUNIT_CASE(map_empty),
	KUNIT_CASE_PARAM(map_lookup, map_size_gen_params),
	KUNIT_CASE(map_load_and_unload),
	KUNIT_CASE(init_text_stays),
	KUNIT_CASE(init_target),
	KUNIT_CASE(read_only_is_sealed),
	KUNIT_CASE_PARAM(by_name, name_gen_params),
	KUNIT_CASE(walk_is_lost),
	KUNIT_CASE(names_grow_old),
	KUNIT_CASE(allowed_targets),
	{}
};

struct kunit_suite jfk_registry_suite = {
	.name = "jumpfunc-registry",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = registry_cases,
};
