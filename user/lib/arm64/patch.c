// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * One transaction on aarch64: no breakpoints, since a site is one instruction of those that
 * may be replaced while other threads execute them (common/arm64/insn.h). So the steps are:
 *
 *   1	compare	All sites hold the old instructions, or nothing is changed.
 *   2	order	A broadcast: each thread sees from here on all stores before the change. A thread
 *		that executes a new instruction has fetched it after this, so all that the code
 *		there loads, it loads after this, too. By the model of fetches a barrier would do
 *		(docs/architectures.md); this does not rely on it.
 *   3	store	Each site by one store of four bytes, and the caches are cleaned. If one fails,
 *		those before are stored again as they were, and nothing has changed. But a thread
 *		can be in their targets of that time, which count as replaced.
 *   4	sync	A broadcast: each core drops fetched instructions. When it returns, no thread
 *		executes an old instruction any more.
 *
 * Between 3 and 4 some threads execute old instructions and some new ones, of the same site, and
 * of sites of one batch. Each of these is right: the caller stores afterwards the data that a
 * trampoline or a test loads. So a batch is one change for those who start after it, and for others
 * each site is old or new.
 *
 * The writer is asked beforehand, about each page (writer.c). If it fails all the same, and
 * fails again as sites are to be stored as they were, they stay as they are. If they are not as
 * before, it is -EIO, is noted, and each later change tries again.
 */
#include "../lib.h"

static bool unfinished;

bool jf_patch_incomplete(void)
{
	return __atomic_load_n(&unfinished, __ATOMIC_RELAXED);
}

static jf_insn_t site_load(const struct jf_poke *poke)
{
	return __atomic_load_n((const jf_insn_t *)poke->addr, __ATOMIC_RELAXED);
}

static int site_store(const struct jf_poke *poke, jf_insn_t insn)
{
	uint8_t bytes[JF_INSN_SIZE];

	jf_insn_store(bytes, insn);
	return jf_writer_write(poke->addr, bytes, sizeof(bytes));
}

static int compare(const struct jf_poke *pokes, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++) {
		jf_insn_t have = site_load(&pokes[i]);

		if (have == pokes[i].old)
			continue;
		jf_say(true, "%s: another writer has changed %#lx", pokes[i].site->ctl->ent->name,
		       (unsigned long)pokes[i].addr);
		return jf_insn_is_break(have) ? -EBUSY : -EILSEQ;
	}
	return 0;
}

/* One address for each page. */
static int begin_write(const struct jf_poke *pokes, size_t num)
{
	uintptr_t mask = ~((uintptr_t)jf_page_size() - 1), page = 0, *addrs;
	size_t i, nr = 0;
	int err;

	addrs = jf_alloc(num * sizeof(*addrs));
	if (!addrs)
		return -ENOMEM;
	for (i = 0; i < num; i++) {
		if ((pokes[i].addr & mask) != page)
			addrs[nr++] = pokes[i].addr;
		page = pokes[i].addr & mask;
	}
	err = jf_writer_begin(addrs, nr);
	jf_free(addrs);
	return err;
}

struct transaction {
	struct jf_poke *pokes;
	size_t num;
	bool is_alone;
};

static bool broadcast(bool alone)
{
	if (!alone)
		return jf_sync_cores();
	jf_sync_self();
	return true;
}

/* The next change finds the present instruction. False: not all of it is @new. */
static bool note(const struct jf_poke *pokes, size_t num)
{
	bool all = true;
	size_t i;

	for (i = 0; i < num; i++) {
		jf_insn_t have = site_load(&pokes[i]);

		if (have == pokes[i].new || have == pokes[i].old)
			atomic_store_explicit(&pokes[i].site->insn, have, memory_order_relaxed);
		all &= have == pokes[i].new;
	}
	return all;
}

/* 0: nothing is changed. */
static int take_back(const struct jf_poke *pokes, size_t num, bool alone)
{
	int err = 0;
	size_t i;

	for (i = 0; i < num; i++) {
		int tries = 3, failed = 1;

		while (failed && tries--)
			failed = site_store(&pokes[i], pokes[i].old);
		/* Text cannot be written, and this was not, or not for long. */
		if (failed && site_load(&pokes[i]) != pokes[i].old)
			err = -EIO;
	}
	if (!broadcast(alone))
		err = -EIO;
	/* A thread may be in their targets: each wait comes from here on. */
	jf_replaced();
	if (!err)
		return 0;
	unfinished = true;
	note(pokes, num);
	return err;
}

/* Called by jf_writer_run(), maybe in another thread than the one that asked for it. */
static int carry_out(void *arg)
{
	const struct transaction *t = arg;
	int err = begin_write(t->pokes, t->num);
	size_t i;

	if (err)
		return err;
	if (!broadcast(t->is_alone))
		return -EOPNOTSUPP;
	for (i = 0; i < t->num && !err; i++)
		err = site_store(&t->pokes[i], t->pokes[i].new);
	if (err) {
		/* The last one, too: how much of it was written is not known. */
		if (take_back(t->pokes, i, t->is_alone))
			return -EIO;
		return err == -ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	}
	if (!broadcast(t->is_alone))
		unfinished = true;
	jf_stats.patched += t->num;
	if (note(t->pokes, t->num))
		return 0;
	jf_say(false, "a site of %zu does not hold what was written", t->num);
	return -EIO;
}

static int begin(struct transaction *t)
{
	int err = jf_pokes_sort(t->pokes, t->num);

	if (!err)
		err = compare(t->pokes, t->num);
	if (err || t->is_alone)
		return err;
	err = jf_sync_begin();
	if (!err)
		return 0;
	jf_say(true, "no membarrier(): %s", jf_error(-err));
	/* It is denied by now: with one thread there is no need of it. */
	t->is_alone = jf_single_threaded();
	return t->is_alone ? 0 : -EOPNOTSUPP;
}

int jf_patch(struct jf_poke *pokes, size_t num, bool is_alone)
{
	struct transaction t = { pokes, num, is_alone };
	uint64_t start = jf_now_ns(), took;
	int err = num ? begin(&t) : 0;

	if (!err && num)
		err = jf_writer_run(carry_out, &t);
	took = jf_now_ns() - start;
	if (!err && !t.is_alone && took > jf_stats.window_ns)
		jf_stats.window_ns = took;
	/* It may have been a helper that was synchronised. */
	if (!err && t.is_alone)
		jf_sync_self();
	return err;
}
