// SPDX-License-Identifier: GPL-2.0
/* Which text belongs to a function, as far as the kernel tells modules. */
#include "core/function.h"

#include "core/arch.h"
#include "core/index.h"
#include "core/spans.h"

#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

/**
 * struct jf_symbol - what the kernel knows of an address
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
	mod = strchr(s->text, '[');
	if (mod)
		*strchrnul(++mod, ']') = 0;
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
 * f.cold, what is left when the beginning was inlined f.part.0, and these may be
 * split and cloned once more. They are elsewhere in the module's text, and nothing
 * tells where, so all symbols of a module are looked at, once.
 */
struct jf_part {
	unsigned long	start, end;
	/* Of the name up to the first dot: two with the same one count as one. */
	u32		hash;
};

struct jf_text {
	struct list_head	list;
	bool			lasts;	/* it is on the list */
	unsigned long		start, end;
	unsigned int		num, max;
	struct jf_part		*part;
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

static int jf_text_add(struct jf_text *t, const struct jf_symbol *sym)
{
	struct jf_part *part;
	int err;

	if (!strstr(sym->name, ".cold") && !strstr(sym->name, ".part."))
		return 0;
	err = jf_grow((void **)&t->part, t->num, &t->max, sizeof(*t->part));
	if (err)
		return err;
	part = &t->part[t->num++];
	part->start = sym->start;
	part->end = sym->end;
	part->hash = jf_base_hash(sym->name);
	return 0;
}

static void jf_text_free(struct jf_text *t)
{
	kvfree(t->part);
	kfree(t);
}

/*
 * One symbol after the other, from that of a function in both directions, as far as
 * the module's text goes: there is __init text behind it, or a symbol in front of it
 * that is no address at all.
 */
static struct jf_text *jf_text_walk(const struct jf_symbol *func)
{
	struct jf_symbol *o = &jf_symbol_other;
	struct jf_text *t = kzalloc(sizeof(*t), GFP_KERNEL);
	unsigned long start, end;
	bool known;
	int err;

	if (!t)
		return NULL;
	known = jf_find_module_text(func->mod, func->start, false, &start, &end);
	/* It is just being made: as far as its names go, until it can be told. */
	if (!known) {
		start = 0;
		end = ULONG_MAX;
	}
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
	if (err) {
		jf_text_free(t);
		return NULL;
	}
	t->lasts = known;
	if (known)
		list_add(&t->list, &jf_texts);
	return t;
}

static struct jf_text *jf_text_get(const struct jf_symbol *func)
{
	struct jf_text *t;

	lockdep_assert_held(&jf_symbol_mutex);
	list_for_each_entry(t, &jf_texts, list)
		if (func->start >= t->start && func->start < t->end)
			return t;
	return jf_text_walk(func);
}

/* It may be a list of a module that is gone. */
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

static int jf_spans_add_parts(struct jf_spans *s, const struct jf_symbol *func)
{
	struct jf_text *t = jf_text_get(func);
	u32 hash = jf_base_hash(func->name);
	unsigned int i;
	int err = 0;

	if (!t)
		return -ENOMEM;
	for (i = 0; !err && i < t->num; i++)
		if (t->part[i].hash == hash)
			err = jf_spans_add(s, t->part[i].start, t->part[i].end);
	if (!t->lasts)
		jf_text_free(t);
	return err;
}

int jf_spans_add_func(struct jf_spans *s, void *func)
{
	struct jf_symbol *sym = &jf_symbol_func;
	unsigned int i, first = s->num, last;
	unsigned long start, end;
	int err;

	if (jf_arch_image_span(func, &start, &end))
		return jf_spans_add(s, start, end);

	mutex_lock(&jf_symbol_mutex);
	if (!jf_symbol_get(sym, (unsigned long)func)) {
		/* No name, hence no size: a page is more than most have. */
		err = jf_spans_add(s, (unsigned long)func,
				   (unsigned long)func + PAGE_SIZE);
	} else {
		err = jf_spans_add(s, sym->start - JF_ARCH_CALL_PAD, sym->end);
		if (!err && sym->mod)
			err = jf_spans_add_parts(s, sym);
	}
	mutex_unlock(&jf_symbol_mutex);
	for (i = first, last = s->num; !err && i < last; i++)
		err = jf_arch_add_tests(s, s->span[i].start, s->span[i].end);
	return err;
}

/* --- whose text it is ----------------------------------------------------- */

/*
 * Is this the text of a module that is there, and was before us? Symbols alone do
 * not say so: the kernel finds those of a module behind its last notifier, and of
 * __init text that was freed if ftrace has kept its names.
 */
static bool jf_is_module_text(const struct jf_symbol *sym, unsigned long addr)
{
	unsigned long start, end;

	return jf_find_module_text(sym->mod, addr, true, &start, &end);
}

/*
 * Programs of BPF have symbols like the kernel's own, without a module, and other
 * generated code has none. Data has symbols, too, and so has the kernel's __init
 * text after it was freed; neither can be executed. The caller has looked for the
 * address in the modules that were seen coming.
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
