// SPDX-License-Identifier: GPL-2.0
/* Which text belongs to a function, as far as the kernel tells modules. */
#include "quiesce/function.h"

#include "arch/image.h"
#include "arch/text.h"
#include "index/index.h"
#include "index/spans.h"

#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

/**
 * struct jf_symbol - the kernel's symbol of an address
 * @text:  "name+0xoffset/0xsize [module]", taken apart
 * @name:  the name, in @text
 * @mod:   the module, in @text; NULL: the kernel
 * @start: where it begins
 * @end:   where the next one does
 */
struct jf_symbol {
	char		text[KSYM_SYMBOL_LEN];
	const char	*name;
	const char	*mod;
	unsigned long	start;
	unsigned long	end;
};

/* They are too large for a stack. */
static DEFINE_MUTEX(jf_symbol_mutex);
static struct jf_symbol jf_symbol_func, jf_symbol_other;

static bool jf_symbol_get(struct jf_symbol *s, unsigned long addr)
{
	unsigned long offset, size;
	char *plus, *mod;

	sprint_symbol(s->text, addr);
	/* Cut off first: a module's name may have a plus sign. */
	mod = strchr(s->text, '[');
	if (mod) {
		*mod++ = 0;
		*strchrnul(mod, ']') = 0;
	}
	s->mod = mod;
	plus = strrchr(s->text, '+');
	if (!plus || sscanf(plus, "+0x%lx/0x%lx", &offset, &size) != 2)
		return false;
	*plus = 0;
	s->name = s->text;
	s->start = addr - offset;
	s->end = s->start + size;
	return addr >= s->start && addr < s->end;
}

/*
 * The compiler splits functions: the rarely executed parts of f() are called
 * f.cold, the rest when the beginning was inlined f.part.0, and these may be
 * split and cloned once more. They are elsewhere in the module's text, and nothing
 * tells where, so all symbols of a module are read, once. The kernel searches
 * a module's whole table for each address, so the results are kept.
 *
 * These are local symbols, which "strip --strip-unneeded" takes from a module. What
 * is left of its text then are pieces that belong to no symbol, by the sizes that the
 * compiler gave them. (The kernel's look-up takes them for the end of the symbol in
 * front.) One that a function jumps to may be a part of it, or have one; a thread that stays in
 * another one does not matter to it.
 */
struct jf_part {
	unsigned long	start, end;
	/* Of the name up to the first dot: two with the same one count as one. */
	u32		hash;
	/* It has no name, and was found for the present function. */
	bool		took;
	/* Only jumps lead here. */
	bool		cold;
	/* By its name it was split off from another one. */
	bool		split;
};

struct jf_parts {
	unsigned int		num, max;
	struct jf_part		*part;
};

/**
 * struct jf_text - the symbols of a module's text
 * @list:  on jf_texts
 * @lasts: it is there
 * @start: where the text begins
 * @end:   and ends
 * @all:   all of them, sorted
 * @split: of these, the parts that were split off from functions, by their hashes
 * @bare:  pieces without a name
 */
struct jf_text {
	struct list_head	list;
	bool			lasts;
	unsigned long		start, end;
	struct jf_parts		all, split, bare;
};

/* Under jf_symbol_mutex. */
static LIST_HEAD(jf_texts);

static u32 jf_base_hash(const char *name)
{
	return jhash(name, strcspn(name, "."), 0);
}

static bool jf_same_module(const struct jf_symbol *a, const struct jf_symbol *b)
{
	return a->mod && b->mod && !strcmp(a->mod, b->mod);
}

static int jf_parts_add(struct jf_parts *p, const struct jf_part *part)
{
	int err = jf_grow((void **)&p->part, p->num, &p->max, sizeof(*p->part));

	if (!err)
		p->part[p->num++] = *part;
	return err;
}

static void jf_part_name(struct jf_part *part, const char *name)
{
	part->hash = jf_base_hash(name);
	part->cold = strstr(name, ".cold");
	part->split = part->cold || strstr(name, ".part.");
}

static void jf_part_of(struct jf_part *part, const struct jf_symbol *sym)
{
	part->start = sym->start;
	part->end = sym->end;
	part->took = false;
	jf_part_name(part, sym->name);
}

static int jf_text_add(struct jf_text *t, const struct jf_symbol *sym)
{
	struct jf_part part;

	jf_part_of(&part, sym);
	return jf_parts_add(&t->all, &part);
}

/* Text without a name, except for padding and traps, in which no task stays. */
static int jf_spans_add_unnamed(struct jf_spans *s, unsigned long addr)
{
	unsigned int i, first = s->num, kept = first;
	int err = jf_add_unnamed_text(s, addr);

	for (i = first; i < s->num; i++)
		if (!jf_arch_is_padding(s->span[i].start, s->span[i].end))
			s->span[kept++] = s->span[i];
	s->num = kept;
	return err;
}

static int jf_text_add_unnamed(struct jf_text *t, unsigned long addr)
{
	struct jf_spans s = { };
	unsigned int i;
	int err = jf_spans_add_unnamed(&s, addr);

	for (i = 0; !err && i < s.num; i++)
		err = jf_parts_add(&t->bare, &(struct jf_part){
			.start = s.span[i].start,
			.end = s.span[i].end,
		});
	jf_spans_free(&s);
	return err;
}

static void jf_text_free(struct jf_text *t)
{
	kvfree(t->all.part);
	kvfree(t->split.part);
	kvfree(t->bare.part);
	kfree(t);
}

/* The one that holds @addr, which is in the text. */
static const struct jf_part *jf_text_find(const struct jf_text *t,
					  unsigned long addr)
{
	unsigned int lo = 0, hi = t->all.num;

	while (hi - lo > 1) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (t->all.part[mid].start <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return &t->all.part[lo];
}

/* --- all symbols of a module ---------------------------------------------- */

/* The module's table is read twice, and may have become another one in between. */
static int jf_part_take(void *arg, unsigned long addr, unsigned long size,
			const char *name)
{
	struct jf_parts *p = arg;
	struct jf_part *part = &p->part[p->num];

	if (p->num == p->max)
		return 0;
	memset(part, 0, sizeof(*part));
	part->start = addr;
	jf_part_name(part, name);
	p->num++;
	return 0;
}

/* Each goes as far as the next one begins; there may be two at one place. */
static void jf_parts_end(struct jf_parts *p, unsigned long end)
{
	unsigned int i;

	sort(p->part, p->num, sizeof(*p->part), jf_addr_cmp, NULL);
	for (i = p->num; i--; ) {
		p->part[i].end = end;
		if (i && p->part[i - 1].start != p->part[i].start)
			end = p->part[i].start;
	}
}

/* From the module's table, where that can be had: -ENOENT. */
static int jf_text_take(struct jf_text *t, const struct jf_symbol *func,
			unsigned long end)
{
	bool found, stays = true;

	/*
	 * A module that is being unloaded has been forgotten already, or is about to be:
	 * jf_function_forget() waits for jf_symbol_mutex.
	 */
	found = jf_module_symbols(func->mod, func->start, &stays, jf_symbol_count,
				  &t->all.max);
	t->lasts = stays;
	if (!found || !t->all.max)
		return -ENOENT;
	t->all.part = kvmalloc_array(t->all.max, sizeof(*t->all.part),
				     GFP_KERNEL);
	if (!t->all.part)
		return -ENOMEM;
	if (!jf_module_symbols(func->mod, func->start, &stays, jf_part_take,
			       &t->all) || !t->all.num) {
		t->lasts = false;
		return -ENOENT;
	}
	jf_parts_end(&t->all, end);
	t->start = t->all.part[0].start;
	t->end = end;
	return 0;
}

/*
 * One symbol after the other, from that of a function in both directions, as far as
 * the module's text goes: after it there is __init text, or in front of it a symbol
 * that is no address at all.
 */
static int jf_text_search(struct jf_text *t, const struct jf_symbol *func,
			  unsigned long start, unsigned long end)
{
	struct jf_symbol *o = &jf_symbol_other;
	int err;

	t->start = max(func->start, start);
	t->end = min(func->end, end);
	err = jf_text_add(t, func);
	while (!err && t->end < end && jf_symbol_get(o, t->end) &&
	       jf_same_module(o, func)) {
		err = jf_text_add(t, o);
		t->end = min(o->end, end);
		cond_resched();
	}
	while (!err && t->start > start && jf_symbol_get(o, t->start - 1) &&
	       jf_same_module(o, func)) {
		err = jf_text_add(t, o);
		t->start = max(o->start, start);
		cond_resched();
	}
	sort(t->all.part, t->all.num, sizeof(*t->all.part), jf_addr_cmp, NULL);
	return err;
}

static int jf_part_hash_cmp(const void *a, const void *b)
{
	const struct jf_part *x = a, *y = b;

	if (x->hash < y->hash)
		return -1;
	return x->hash > y->hash;
}

static int jf_text_add_split(struct jf_text *t)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < t->all.num; i++)
		if (t->all.part[i].split)
			err = jf_parts_add(&t->split, &t->all.part[i]);
	sort(t->split.part, t->split.num, sizeof(*t->split.part), jf_part_hash_cmp, NULL);
	return err;
}

static struct jf_text *jf_text_walk(const struct jf_symbol *func)
{
	struct jf_text *t = kzalloc(sizeof(*t), GFP_KERNEL);
	unsigned long start = 0, end = ULONG_MAX;
	int err = -ENOENT;

	if (!t)
		return NULL;
	atomic64_inc(&jf_texts_read);
	/* It may just be being made: then as far as its names go, until it can be told. */
	if (jf_find_module_text(func->mod, func->start, false, &start, &end))
		err = jf_text_take(t, func, end);
	if (err == -ENOENT)
		err = jf_text_search(t, func, start, end);
	err = err ?: jf_text_add_split(t);
	err = err ?: jf_text_add_unnamed(t, func->start);
	if (err) {
		jf_text_free(t);
		return NULL;
	}
	if (t->lasts)
		list_add(&t->list, &jf_texts);
	return t;
}

/* The record of the module that holds @addr, or NULL. */
static struct jf_text *jf_text_known(unsigned long addr)
{
	struct jf_text *t;

	lockdep_assert_held(&jf_symbol_mutex);
	list_for_each_entry(t, &jf_texts, list)
		if (addr >= t->start && addr < t->end)
			return t;
	return NULL;
}

/* It may be a list of a module that is unloaded. */
static bool jf_text_meets(const struct jf_text *t, const struct module *mod)
{
	unsigned long addr;

	for (addr = t->start; addr < t->end; addr += PAGE_SIZE)
		if (within_module(addr, mod))
			return true;
	return within_module(t->end - 1, mod);
}

void jf_function_forget(struct module *mod)
{
	struct jf_text *t, *tmp;

	mutex_lock(&jf_symbol_mutex);
	list_for_each_entry_safe(t, tmp, &jf_texts, list) {
		if (mod && !jf_text_meets(t, mod))
			continue;
		list_del(&t->list);
		jf_text_free(t);
	}
	mutex_unlock(&jf_symbol_mutex);
}

/* Add pieces without a name to which this text leads, and those to which they do. */
static int jf_spans_add_led_to(struct jf_spans *s, struct jf_text *t,
			       unsigned long start, unsigned long end)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < t->bare.num; i++) {
		struct jf_part *p = &t->bare.part[i];

		if (p->took || !jf_arch_leads_into(start, end, p->start, p->end))
			continue;
		p->took = true;
		err = jf_spans_add(s, p->start, p->end);
	}
	return err;
}

static int jf_spans_add_all_led_to(struct jf_spans *s, struct jf_text *t,
				   unsigned long start, unsigned long end)
{
	unsigned int i, n, first = s->num;
	int err;

	for (i = 0; i < t->bare.num; i++)
		t->bare.part[i].took = t->bare.part[i].start == start;
	err = jf_spans_add_led_to(s, t, start, end);
	for (n = first; !err && n < s->num; n++)
		err = jf_spans_add_led_to(s, t, s->span[n].start,
					  s->span[n].end);
	return err;
}

static int jf_spans_add_part(struct jf_spans *s, const struct jf_part *part,
			     unsigned long pad)
{
	return jf_spans_add(s, part->start - pad, part->end);
}

/*
 * The function that such a part was split off from. Its own name has the name of the original of a
 * clone, too.
 */
static int jf_spans_add_whole(struct jf_spans *s, const struct jf_text *t,
			      const struct jf_part *cold)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < t->all.num; i++) {
		const struct jf_part *part = &t->all.part[i];

		if (part->hash == cold->hash && !part->cold)
			err = jf_spans_add_part(s, part, JF_ARCH_CALL_PAD);
	}
	return err;
}

/* The parts whose names have this hash, but for the function that begins at @func. */
static int jf_spans_add_hashed(struct jf_spans *s, const struct jf_text *t, u32 hash,
			       unsigned long func)
{
	const struct jf_part *part = t->split.part;
	unsigned int lo = 0, hi = t->split.num;
	int err = 0;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (part[mid].hash < hash)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; !err && lo < t->split.num && part[lo].hash == hash; lo++)
		if (part[lo].start != func)
			err = jf_spans_add_part(s, &part[lo], 0);
	return err;
}

/* A function may have two names, and parts by each of them. */
static int jf_spans_add_named(struct jf_spans *s, const struct jf_text *t,
			      const struct jf_part *func)
{
	unsigned int lo = 0, hi = t->all.num;
	int err = jf_spans_add_hashed(s, t, func->hash, func->start);

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (t->all.part[mid].start < func->start)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; !err && lo < t->all.num && t->all.part[lo].start == func->start; lo++)
		if (t->all.part[lo].hash != func->hash)
			err = jf_spans_add_hashed(s, t, t->all.part[lo].hash, func->start);
	return err;
}

/* A function of a module, and the parts that were split off from it. */
static int jf_spans_add_split(struct jf_spans *s, struct jf_text *t,
			      const struct jf_part *func)
{
	int err = jf_spans_add_part(s, func, JF_ARCH_CALL_PAD);

	if (!err && func->cold)
		err = jf_spans_add_whole(s, t, func);
	err = err ?: jf_spans_add_named(s, t, func);
	return err ?: jf_spans_add_all_led_to(s, t, func->start, func->end);
}

static int jf_spans_add_symbol(struct jf_spans *s, const struct jf_symbol *sym)
{
	struct jf_part func;
	struct jf_text *t;
	int err;

	jf_part_of(&func, sym);
	if (!sym->mod)
		return jf_spans_add_part(s, &func, JF_ARCH_CALL_PAD);
	t = jf_text_walk(sym);
	if (!t)
		return -ENOMEM;
	err = jf_spans_add_split(s, t, &func);
	if (!t->lasts)
		jf_text_free(t);
	return err;
}

/* It has no name itself: the piece that it is in, and the text that this leads to. */
static int jf_spans_add_nameless(struct jf_spans *s, unsigned long addr)
{
	struct jf_text t = { };
	unsigned int i;
	int err;

	err = jf_text_add_unnamed(&t, addr);
	for (i = 0; !err && i < t.bare.num; i++) {
		struct jf_part p = t.bare.part[i];

		if (addr < p.start || addr >= p.end)
			continue;
		err = jf_spans_add(s, p.start, p.end);
		if (!err)
			err = jf_spans_add_all_led_to(s, &t, p.start, p.end);
	}
	kvfree(t.bare.part);
	return err;
}

int jf_spans_add_func(struct jf_spans *s, void *func)
{
	struct jf_symbol *sym = &jf_symbol_func;
	unsigned int i, first = s->num, last;
	unsigned long start, end;
	struct jf_text *t;
	int err;

	if (jf_arch_image_span(func, &start, &end))
		return jf_spans_add(s, start, end);

	mutex_lock(&jf_symbol_mutex);
	t = jf_text_known((unsigned long)func);
	if (t) {
		err = jf_spans_add_split(s, t,
					 jf_text_find(t, (unsigned long)func));
	} else if (jf_symbol_get(sym, (unsigned long)func)) {
		err = jf_spans_add_symbol(s, sym);
	} else {
		/* No name, hence no size: a page is more than most have. */
		err = jf_spans_add(s, (unsigned long)func,
				   (unsigned long)func + PAGE_SIZE);
		/* In front of a module's first symbol, or it has none. */
		if (!err)
			err = jf_spans_add_nameless(s, (unsigned long)func);
	}
	mutex_unlock(&jf_symbol_mutex);
	for (i = first, last = s->num; !err && i < last; i++)
		err = jf_arch_add_tests(s, s->span[i].start, s->span[i].end);
	return err;
}

/* --- whose text it is ----------------------------------------------------- */

/*
 * True for the text of a module that is still loaded, and was loaded before this one.
 * Symbols alone do not say so: the kernel still finds those of a module whose last
 * notifier has been called, and those of freed __init text if ftrace has kept them.
 */
static bool jf_is_module_text(const struct jf_symbol *sym, unsigned long addr)
{
	unsigned long start, end;

	return jf_find_module_text(sym->mod, addr, true, &start, &end);
}

/*
 * Programs of BPF have symbols like the kernel's own, without a module, and other
 * generated code has none. Data has symbols, too, and so has the kernel's __init
 * text after it was freed; neither can be executed. The caller has searched the
 * modules whose load was seen for the address.
 */
enum jf_text_kind jf_text_of(void *func)
{
	enum jf_text_kind kind = JF_TEXT_NONE;
	struct jf_symbol *s = &jf_symbol_func;

	if (!jf_arch_is_text((unsigned long)func))
		return JF_TEXT_NONE;
	if (!IS_ENABLED(CONFIG_KALLSYMS))
		return JF_TEXT_KERNEL;
	mutex_lock(&jf_symbol_mutex);
	if (jf_symbol_get(s, (unsigned long)func)) {
		if (!s->mod)
			kind = jf_arch_is_image((unsigned long)func) ?
				       JF_TEXT_KERNEL : JF_TEXT_NONE;
		else if (jf_is_module_text(s, (unsigned long)func))
			kind = JF_TEXT_MODULE;
	}
	mutex_unlock(&jf_symbol_mutex);
	return kind;
}
