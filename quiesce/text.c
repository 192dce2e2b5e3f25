// SPDX-License-Identifier: GPL-2.0
/*
 * Text of modules as it was when they were loaded.
 *
 * A quiesce reads the functions that have branch sites (arch/reach.c), to find out
 * what only the branch led to. A kprobe in such a function overwrites an instruction,
 * and the kernel does not tell which. Then all code after it would be code that may be
 * former, and a quiesce would wait for a thread with its main loop there until the
 * kprobe is removed, which may be never. So the text of these functions is copied at
 * MODULE_STATE_COMING, before kprobes' own notifier is called. (A task that registers
 * a kprobe just before our notifier is called is faster. Where the copy has an INT3,
 * what stands there is read, so that this matters for as long as the kprobe is set.)
 *
 * What is written to them later, and may be forgotten:
 *
 *   our sites				they are looked up by their addresses
 *   ftrace's calls, static calls	lead on to what comes next, as they did
 *   the kernel's own jump labels	their table says where each leads
 *   lock prefixes			no instruction becomes longer
 *   kprobes				what this is about
 *
 * A copy takes as much memory as these functions do, not the whole module.
 */
#include "quiesce/text.h"

#include "arch/reach.h"
#include "arch/text.h"
#include "index/index.h"

#include <linux/jhash.h>
#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

/**
 * struct jf_choice - which of a module's functions are kept
 * @all:    all symbols of its text; the tag is a hash of the name up to the first
 *          dot, which parts that were split off share with the rest
 * @hashes: of those with sites, and of those that sites lead to
 */
struct jf_choice {
	struct jf_spans	all;
	struct jf_spans	hashes;
};

static unsigned long jf_name_hash(const char *name)
{
	return jhash(name, strcspn(name, "."), 0);
}

static int jf_choice_add(void *arg, unsigned long addr, unsigned long size,
			 const char *name)
{
	struct jf_choice *c = arg;

	return jf_spans_add_tagged(&c->all, addr, addr + size,
				   jf_name_hash(name));
}

/* The functions, by their names, that hold this address. */
static int jf_choice_mark(struct jf_choice *c, unsigned long addr)
{
	const struct jf_span *s = jf_spans_find(&c->all, addr);

	return s ? jf_spans_add(&c->hashes, s->tag, s->tag + 1) : 0;
}

static int jf_choice_mark_all(struct jf_choice *c, const struct jf_mod *m)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < m->num_sites; i++) {
		if (!(m->sites[i].flags & JF_SITE_BRANCH))
			continue;
		err = jf_choice_mark(c, m->sites[i].addr);
		if (!err)
			err = jf_choice_mark(c, m->sites[i].label);
	}
	jf_spans_sort(&c->hashes);
	return err;
}

/* These functions, and all that has no name: it may be a part of one of them. */
static int jf_choice_pieces(const struct jf_choice *c, struct jf_spans *text,
			    unsigned long start, unsigned long end)
{
	unsigned long at = start;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < c->all.num; i++) {
		const struct jf_span *s = &c->all.span[i];

		if (at < s->start && !jf_arch_is_padding(at, s->start))
			err = jf_spans_add(text, at, s->start);
		at = max(at, s->end);
		/* Two names at one place have become one, without a tag. */
		if (!err && (!s->tag || jf_spans_has(&c->hashes, s->tag)))
			err = jf_spans_add(text, s->start, min(s->end, end));
	}
	if (!err && at < end && !jf_arch_is_padding(at, end))
		err = jf_spans_add(text, at, end);
	return err;
}

static int jf_kept_choose(struct jf_kept *kept, const struct jf_mod *m)
{
	unsigned long start, end;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && jf_module_text(m->mod, i, &start, &end); i++) {
		struct jf_choice c = { };

		if (!jf_site_next(start, end))
			continue;
		/* Nothing frees the symbols while the module is being loaded. */
		err = jf_each_symbol(m->mod, start, end, jf_choice_add, &c);
		jf_spans_sort(&c.all);
		err = err ?: jf_choice_mark_all(&c, m);
		err = err ?: jf_choice_pieces(&c, &kept->text, start, end);
		jf_spans_free(&c.all);
		jf_spans_free(&c.hashes);
	}
	jf_spans_sort(&kept->text);
	return err;
}

static int jf_kept_copy(struct jf_kept *kept)
{
	unsigned long size = 0;
	unsigned int i;

	for (i = 0; i < kept->text.num; i++) {
		kept->text.span[i].tag = size;
		size += kept->text.span[i].end - kept->text.span[i].start;
	}
	kept->bytes = kvmalloc(size, GFP_KERNEL);
	if (!kept->bytes)
		return -ENOMEM;
	for (i = 0; i < kept->text.num; i++) {
		const struct jf_span *s = &kept->text.span[i];

		memcpy(kept->bytes + s->tag, (void *)s->start,
		       s->end - s->start);
	}
	return 0;
}

/* Where the kernel's own keys have sites in what is kept. */
static int jf_kept_forks(struct jf_kept *kept, const struct module *mod)
{
#ifdef CONFIG_JUMP_LABEL
	unsigned int i, n = mod->num_jump_entries;

	if (!n)
		return 0;
	kept->fork = kvmalloc_array(n, sizeof(*kept->fork), GFP_KERNEL);
	if (!kept->fork)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct jump_entry *e = &mod->jump_entries[i];

		if (!jf_spans_has(&kept->text, jump_entry_code(e)))
			continue;
		kept->fork[kept->num_forks].addr = jump_entry_code(e);
		kept->fork[kept->num_forks++].to = jump_entry_target(e);
	}
	if (kept->num_forks)
		sort(kept->fork, kept->num_forks, sizeof(*kept->fork),
		     jf_addr_cmp, NULL);
#endif
	return 0;
}

struct jf_kept *jf_text_keep(const struct jf_mod *m)
{
	struct jf_kept *kept;
	unsigned int i;
	int err;

	for (i = 0; i < m->num_sites; i++)
		if (m->sites[i].flags & JF_SITE_BRANCH)
			break;
	if (i == m->num_sites)
		return NULL;
	kept = kzalloc(sizeof(*kept), GFP_KERNEL);
	if (!kept)
		return NULL;
	err = jf_kept_choose(kept, m);
	err = err ?: jf_kept_copy(kept);
	err = err ?: jf_kept_forks(kept, m->mod);
	if (!err)
		return kept;
	jf_text_drop(kept);
	return NULL;
}

void jf_text_drop(struct jf_kept *kept)
{
	if (!kept)
		return;
	jf_spans_free(&kept->text);
	kvfree(kept->bytes);
	kvfree(kept->fork);
	kfree(kept);
}

const struct jf_kept *jf_text_kept(unsigned long addr)
{
	const struct jf_mod *m = jf_mod_by_addr(addr);

	return m ? m->kept : NULL;
}
