// SPDX-License-Identifier: GPL-2.0
/*
 * Modules as the kernel lists them: their text, and the symbols in it.
 */
#include "index/index.h"

#include <linux/err.h>
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

bool jf_module_text_at(const struct module *mod, unsigned long addr,
		       unsigned long *start, unsigned long *end)
{
	unsigned int i;

	/* As in jf_mod_by_addr(). */
	for (i = 0; data_race(jf_module_text(mod, i, start, end)); i++)
		if (addr >= *start && addr < *end)
			return true;
	return false;
}

/*
 * The module @name, of which @addr is text, with a reference on its object, which keeps
 * the module: free_module() waits for it. NULL: there is no such module.
 */
static struct module *jf_module_get(const char *name, unsigned long addr,
				    unsigned long *start, unsigned long *end)
{
	struct kset *modules = THIS_MODULE->mkobj.kobj.kset;
	struct kobject *kobj;
	struct module *mod;

	kobj = modules ? kset_find_obj(modules, name) : NULL;
	if (!kobj)
		return NULL;
	mod = container_of(kobj, struct module_kobject, kobj)->mod;
	if (mod && jf_module_text_at(mod, addr, start, end))
		return mod;
	kobject_put(kobj);
	return NULL;
}

bool jf_find_module_text(const char *name, unsigned long addr, bool live,
			 unsigned long *start, unsigned long *end)
{
	struct module *mod = jf_module_get(name, addr, start, end);
	bool found = mod && (!live || READ_ONCE(mod->state) == MODULE_STATE_LIVE);

	if (mod)
		kobject_put(&mod->mkobj.kobj);
	return found;
}

#ifdef CONFIG_KALLSYMS
/* As the kernel's look-up, which leaves out labels that assemblers make for themselves. */
static bool jf_is_symbol(const char *name)
{
	return *name && *name != '$' && !strstarts(name, ".L");
}

int jf_each_symbol(const struct module *mod, unsigned long start,
		   unsigned long end, jf_symbol_fn fn, void *arg)
{
	const struct mod_kallsyms *k = rcu_dereference_raw(mod->kallsyms);
	unsigned int i;
	int err = 0;

	for (i = 0; k && !err && i < k->num_symtab; i++) {
		const typeof(*k->symtab) *sym = &k->symtab[i];

		if (sym->st_value >= start && sym->st_value < end &&
		    jf_is_symbol(k->strtab + sym->st_name))
			err = fn(arg, sym->st_value, sym->st_size,
				 k->strtab + sym->st_name);
	}
	return err;
}
#else
int jf_each_symbol(const struct module *mod, unsigned long start,
		   unsigned long end, jf_symbol_fn fn, void *arg)
{
	return 0;
}
#endif

bool jf_module_symbols(const char *name, unsigned long addr, bool *stays,
		       jf_symbol_fn fn, void *arg)
{
	unsigned long start, end;
	struct module *mod = jf_module_get(name, addr, &start, &end);

	*stays = mod && READ_ONCE(mod->state) != MODULE_STATE_GOING;
	if (!mod)
		return false;
	rcu_read_lock();
	jf_each_symbol(mod, start, end, fn, arg);
	rcu_read_unlock();
	kobject_put(&mod->mkobj.kobj);
	return true;
}

/* A module of which @addr is text, with a reference on its object; NULL: none. */
static struct module *jf_module_get_at(unsigned long addr,
				       unsigned long *start, unsigned long *end)
{
	struct kset *modules = THIS_MODULE->mkobj.kobj.kset;
	struct module *mod, *found = NULL;
	struct kobject *k;

	if (!modules)
		return NULL;
	spin_lock(&modules->list_lock);
	list_for_each_entry(k, &modules->list, entry) {
		/* Those that are part of the kernel have none. */
		mod = container_of(k, struct module_kobject, kobj)->mod;
		if (mod && jf_module_text_at(mod, addr, start, end) &&
		    kobject_get_unless_zero(k)) {
			found = mod;
			break;
		}
	}
	spin_unlock(&modules->list_lock);
	return found;
}

int jf_symbol_count(void *arg, unsigned long addr, unsigned long size,
		    const char *name)
{
	unsigned int *num = arg;

	++*num;
	return 0;
}

/* One without a size, a label of assembly, says nothing. */
static int jf_symbol_span(void *arg, unsigned long addr, unsigned long size,
			  const char *name)
{
	struct jf_spans *s = arg;

	if (!size || s->num == s->max)
		return 0;
	s->span[s->num].start = addr;
	s->span[s->num++].end = addr + size;
	return 0;
}

/*
 * The functions of @mod in this text, by its symbols. When its init is done the
 * module gets another table, with fewer symbols, and the first one is freed after a
 * grace period.
 */
static int jf_add_named_text(struct jf_spans *s, const struct module *mod,
			     unsigned long start, unsigned long end)
{
	unsigned int max = 0;

	rcu_read_lock();
	jf_each_symbol(mod, start, end, jf_symbol_count, &max);
	rcu_read_unlock();
	if (!max)
		return 0;
	s->span = kvcalloc(max, sizeof(*s->span), GFP_KERNEL);
	if (!s->span)
		return -ENOMEM;
	s->max = max;
	rcu_read_lock();
	jf_each_symbol(mod, start, end, jf_symbol_span, s);
	rcu_read_unlock();
	jf_spans_sort(s);
	return 0;
}

int jf_add_unnamed_text(struct jf_spans *s, unsigned long addr)
{
	unsigned long start, end, next;
	struct jf_spans named = { };
	struct module *mod;
	unsigned int i;
	int err;

	mod = jf_module_get_at(addr, &start, &end);
	if (!mod)
		return 0;
	err = jf_add_named_text(&named, mod, start, end);
	for (i = 0; !err && i < named.num; i++) {
		next = named.span[i].start;
		if (start < next)
			err = jf_spans_add(s, start, next);
		start = max(start, named.span[i].end);
	}
	if (!err)
		err = jf_spans_add(s, start, end);
	jf_spans_free(&named);
	kobject_put(&mod->mkobj.kobj);
	return err;
}

/* --- all modules and their text ------------------------------------------ */

struct module **jf_modules_get(bool (*fits)(const char *name, void *arg),
			       void *arg)
{
	struct kset *modules = THIS_MODULE->mkobj.kobj.kset;
	struct module **mods, *mod;
	unsigned int n = 0, max = 0;
	struct kobject *k;

	if (modules) {
		spin_lock(&modules->list_lock);
		list_for_each_entry(k, &modules->list, entry)
			max++;
		spin_unlock(&modules->list_lock);
	}
	/* A module that is loaded in between can find no room: the caller did not ask for it. */
	mods = kvcalloc(max + 1, sizeof(*mods), GFP_KERNEL);
	if (!mods)
		return ERR_PTR(-ENOMEM);
	if (!max)
		return mods;
	spin_lock(&modules->list_lock);
	list_for_each_entry(k, &modules->list, entry) {
		/* Those that are part of the kernel have none. */
		mod = container_of(k, struct module_kobject, kobj)->mod;
		if (n < max && mod &&
		    READ_ONCE(mod->state) == MODULE_STATE_LIVE &&
		    fits(mod->name, arg) && kobject_get_unless_zero(k))
			mods[n++] = mod;
	}
	spin_unlock(&modules->list_lock);
	return mods;
}

void jf_modules_put(struct module **mods)
{
	unsigned int i;

	for (i = 0; mods[i]; i++)
		kobject_put(&mods[i]->mkobj.kobj);
	kvfree(mods);
}

/**
 * struct jf_copy - symbols that are being copied
 * @num:   how many there are
 * @bytes: so long are their names
 * @max:   there is room for so many
 * @text:  they; NULL: they are counted
 * @names: room for the next name
 * @end:   the end of that room
 */
struct jf_copy {
	unsigned int		num, max;
	size_t			bytes;
	struct jf_named_text	*text;
	char			*names, *end;
};

static int jf_symbol_copy(void *arg, unsigned long addr, unsigned long size,
			  const char *name)
{
	struct jf_copy *c = arg;
	size_t len = strlen(name) + 1;

	if (c->text) {
		/* The table has changed since it was counted: see below. */
		if (c->num == c->max || len > c->end - c->names)
			return -ENOSPC;
		c->text[c->num].addr = addr;
		c->text[c->num].size = size;
		c->text[c->num].name = memcpy(c->names, name, len);
		c->names += len;
	}
	c->num++;
	c->bytes += len;
	return 0;
}

struct jf_named_text *jf_named_text(const struct module *mod, unsigned int *num)
{
	struct jf_copy c = { };
	unsigned long start = 0, end = 0;
	size_t text;

	*num = 0;
	/* The rest of it when its init is done. */
	jf_module_text(mod, 0, &start, &end);
	/* As in jf_add_named_text(), the second table has no more than the first. */
	rcu_read_lock();
	jf_each_symbol(mod, start, end, jf_symbol_copy, &c);
	rcu_read_unlock();
	text = c.num * sizeof(*c.text);
	c.text = kvmalloc(text + c.bytes + 1, GFP_KERNEL);
	if (!c.text)
		return ERR_PTR(-ENOMEM);
	c.names = (char *)c.text + text;
	c.end = c.names + c.bytes;
	c.max = c.num;
	c.num = 0;
	rcu_read_lock();
	jf_each_symbol(mod, start, end, jf_symbol_copy, &c);
	rcu_read_unlock();
	*num = c.num;
	return c.text;
}
