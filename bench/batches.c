// SPDX-License-Identifier: GPL-2.0
/*
 * How long it takes to change many sites: in one batch, and one by one.
 *
 * The clock runs from the first call of the API to the return of the last one:
 * it includes building the batch. After each sample all sites are executed, and
 * the number of those that lead to the new target is compared with the number of
 * keys that were changed.
 *
 * The core's own statistics have the time. They cover the whole machine, so a sample during
 * which another task made updates is taken again.
 *
 * One key with many sites is changed as a whole, and the kernel's static keys are
 * measured beside ours: for those sites that belong to one key, the kernel has
 * transactions as well (of at most a page of sites, 256).
 */
#include "bench.h"
#include "bulk.h"

#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

const unsigned int jfb_sizes[JFB_SIZES] = { 1, 10, 100, 1000, 5000 };

const char * const jfb_kind_names[JFB_KINDS] = {
	[JFB_FUNCS]	= "dynfunc",
	[JFB_KEYS]	= "key",
	[JFB_ONE_KEY]	= "one-key",
	[JFB_STATIC_KEY] = "static-key",
};

const char * const jfb_how_names[JFB_HOWS] = {
	[JFB_TOGETHER]	= "batch",
	[JFB_ONE_BY_ONE] = "single",
};

const unsigned int jfb_kind_max[JFB_KINDS] = {
	[JFB_FUNCS]	= JFB_BULK_FUNCS * JFB_BULK_PARTS,
	[JFB_KEYS]	= JFB_BULK_KEYS,
	[JFB_ONE_KEY]	= 1000,
	[JFB_STATIC_KEY] = 1000,
};

/* Attempts at two samples before we say that they cannot be had. */
#define JFB_TRIES	20

static const struct jfb_bulk_part * const parts[JFB_BULK_PARTS] = {
	&jfb_bulk_part1, &jfb_bulk_part2, &jfb_bulk_part3, &jfb_bulk_part4,
	&jfb_bulk_part5,
};

/*
 * The macros of dynfunc.h want names; these are too many for that. The macros' check, that the
 * targets have the right type, holds for all of them.
 */
static struct jf_func *bulk_func(unsigned int i)
{
	return parts[i / JFB_BULK_FUNCS]->funcs[i % JFB_BULK_FUNCS];
}

static int add(struct jf_batch *b, enum jfb_kind kind, unsigned int i, bool on)
{
	if (kind == JFB_KEYS)
		return jf_key_batch_set(b, &jfb_bulk_keys[i], on);
	return __jf_batch_set_func(b, bulk_func(i), on ? jfb_bulk_1 : jfb_bulk_0);
}

static int set(enum jfb_kind kind, unsigned int i, bool on)
{
	if (kind == JFB_FUNCS)
		return __jf_func_update(bulk_func(i),
					on ? jfb_bulk_1 : jfb_bulk_0);
	return on ? jf_key_enable(&jfb_bulk_keys[i]) :
		    jf_key_disable(&jfb_bulk_keys[i]);
}

/* The number of the key that has @num sites. */
static unsigned int one_key(unsigned int num)
{
	unsigned int i = 0;

	while (jfb_sizes[i] < num)
		i++;
	return i;
}

/* No way out in between: the batch is the thing that is measured. */
static int set_together(enum jfb_kind kind, unsigned int num, bool on)
{
	struct jf_batch b;
	unsigned int i;

	if (kind == JFB_ONE_KEY) {
		struct jf_key *key = &jfb_one_keys[one_key(num)];

		return on ? jf_key_enable(key) : jf_key_disable(key);
	}
	if (kind == JFB_STATIC_KEY) {
		jfb_static_key_set(one_key(num), on);
		return 0;
	}

	jf_batch_init(&b);
	for (i = 0; i < num; i++)
		if (add(&b, kind, i, on))
			break;
	/* Reports the error of a failed add. */
	return jf_batch_commit(&b);
}

static int set_one_by_one(struct jfb_run *run, enum jfb_kind kind,
			  unsigned int num, bool on)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < num; i++) {
		err = set(kind, i, on);
		if (!err)
			err = jfb_breathe(run);
	}
	return err;
}

/* The number of sites whose target is not their first one. */
static unsigned int count(enum jfb_kind kind, unsigned int num)
{
	unsigned int i, sum = 0;

	if (kind == JFB_KEYS)
		return jfb_bulk_run_keys();
	if (kind == JFB_ONE_KEY)
		return jfb_one_key_run(one_key(num));
	if (kind == JFB_STATIC_KEY)
		return jfb_static_key_run(one_key(num));
	for (i = 0; i < JFB_BULK_PARTS; i++)
		sum += parts[i]->run();
	return sum;
}

/* One change of all of @u's keys; -EAGAIN if others made updates at the same time. */
static int change(struct jfb_run *run, enum jfb_kind kind, enum jfb_how how,
		  bool on, struct jfb_update *u, u64 *ns)
{
	unsigned int updates = kind == JFB_ONE_KEY ? 1 :
			       kind == JFB_STATIC_KEY ? 0 : u->num;
	unsigned int seen, wanted = on ? u->num : 0;
	struct jf_stats before, after;
	u64 start;
	int err;

	jf_stats_get(&before);
	start = ktime_get_ns();
	if (how == JFB_TOGETHER)
		err = set_together(kind, u->num, on);
	else
		err = set_one_by_one(run, kind, u->num, on);
	*ns = ktime_get_ns() - start;
	jf_stats_get(&after);
	if (err)
		return err;

	seen = count(kind, u->num);
	if (seen != wanted) {
		pr_warn_ratelimited("%u sites of %s keys lead to the other target, %u should\n",
				    seen, jfb_kind_names[kind], wanted);
		return -EIO;
	}
	if (after.updates - before.updates != updates)
		return -EAGAIN;
	if (kind == JFB_STATIC_KEY) {
		/* They were executed; the kernel has no statistics of them. */
		u->patched = u->num;
		return 0;
	}
	u->patched = after.patched - before.patched;
	u->broadcasts = after.broadcasts - before.broadcasts;
	u->transactions = after.batches - before.batches;
	u->by_kernel = after.by_kernel - before.by_kernel;
	/* The kernel's protocol does not tell. */
	if (how == JFB_TOGETHER && u->transactions && !u->by_kernel)
		u->window_ns = max(u->window_ns, after.window_last);
	return 0;
}

/* Two samples: there, and back again. */
static int there_and_back(struct jfb_run *run, enum jfb_kind kind,
			  enum jfb_how how, struct jfb_update *u, u64 *samples)
{
	unsigned int done = 0, try;
	bool on = false;
	int err = 0;

	for (try = 0; done < 2 && try < JFB_TRIES; try++) {
		err = jfb_breathe(run);
		if (err)
			break;
		on = !on;
		err = change(run, kind, how, on, u, &samples[u->samples]);
		if (!err) {
			u->samples++;
			done++;
		} else if (err != -EAGAIN) {
			break;
		}
	}
	if (err == -EAGAIN) {
		pr_warn_ratelimited("another task makes updates all the time: stop that, or leave out \"batches\"\n");
		err = -EBUSY;
	}
	if (!err && on)
		err = set_together(kind, u->num, false);
	return err;
}

/* Whatever way it ended, the keys are as they were at first. */
static void restore(void)
{
	struct jf_batch b;
	unsigned int kind, i;
	int err;

	jf_batch_init(&b);
	for (kind = 0; kind < JFB_ONE_KEY; kind++)
		for (i = 0; i < jfb_kind_max[kind]; i++)
			add(&b, kind, i, false);
	for (i = 0; i < JFB_ONE_KEYS; i++) {
		jf_key_batch_set(&b, &jfb_one_keys[i], false);
		jfb_static_key_set(i, false);
	}
	err = jf_batch_commit(&b);
	if (err)
		pr_warn("cannot set the keys back (%d); they stay as they are until the module is unloaded\n",
			err);
}

static bool wanted(const struct jfb_run *run, enum jfb_kind kind,
		   unsigned int num, enum jfb_how how)
{
	if (num > jfb_kind_max[kind] || how >= jfb_kind_hows(kind))
		return false;
	return how == JFB_TOGETHER || num <= run->set.onebyone_max;
}

#define COMBINATIONS	(JFB_KINDS * JFB_SIZES * JFB_HOWS)

int jfb_run_batches(struct jfb_run *run, jfb_updates res)
{
	unsigned int per = 2 * run->set.repeats, repeat, i;
	struct jfb_update *all = &res[0][0][0];
	u64 *samples = kvmalloc_array(COMBINATIONS, per * sizeof(*samples),
				      GFP_KERNEL);
	int err = 0;

	if (!samples)
		return -ENOMEM;
	for (i = 0; i < COMBINATIONS; i++)
		all[i].num = jfb_sizes[i / JFB_HOWS % JFB_SIZES];

	WRITE_ONCE(run->stage, "batches");
	WRITE_ONCE(run->steps, run->set.repeats * COMBINATIONS);
	for (repeat = 0; !err && repeat < run->set.repeats; repeat++) {
		for (i = 0; !err && i < COMBINATIONS; i++) {
			/* As in a round of rows, each has its turn to be first. */
			unsigned int c = (repeat + i) % COMBINATIONS;
			unsigned int kind = c / JFB_HOWS / JFB_SIZES;
			unsigned int how = c % JFB_HOWS;

			WRITE_ONCE(run->step, repeat * COMBINATIONS + i);
			if (wanted(run, kind, all[c].num, how))
				err = there_and_back(run, kind, how, &all[c],
						     samples + c * per);
		}
	}
	if (err)
		restore();
	for (i = 0; !err && i < COMBINATIONS; i++)
		if (all[i].samples)
			jfb_reduce(samples + i * per, all[i].samples,
				   &all[i].ns_min, &all[i].ns_median);
	kvfree(samples);
	return err;
}
