// SPDX-License-Identifier: GPL-2.0
/*
 * The provider `ftrace`: entries of functions of modules that were not built for
 * jumpfunc, by functions that the kernel exports. ftrace knows the nop at the beginning of each
 * function, writes a call over it, and can call back for a set of them.
 *
 * A command that enables functions makes one such set of them (struct jf_entry_set): a
 * struct ftrace_ops whose filter is filled before it is registered, so that they are all
 * enabled by one change of text, or none is. A function stays in the set that it came
 * in: were it moved to another, a call of it could be told twice, or not at all.
 *
 * A command that disables functions takes their sets out of ftrace, where nothing of
 * them is left; from other sets it takes these functions. For the callback they are off
 * before that, so disabling cannot fail: where ftrace has no memory for it, it goes on
 * calling back for them until their set goes, and is not listened to.
 *
 * Which functions a module has, its own symbol table says. Where the nop stands in a
 * function is for ftrace to say: it refuses addresses that are none. Functions that it
 * does not trace (notrace, or so short that they are no more than a jump) have none.
 *
 * When a module is unloaded, ftrace forgets its records, but not the entries of our filter:
 * a later module at the same addresses would be traced. And an empty filter stands for
 * all functions of the kernel. So a set goes as a whole when its last function does, and
 * all that is done in the module's notifier, before the records go.
 *
 * Everything here is under the mutex of kernel/probes/file.c, which the notifier takes as well.
 * So a module that is found to be live, with that mutex held, is not freed before it is
 * given back. ftrace's own locks nest inside.
 */
#include "probes/probes.h"

#include "index/index.h"
#include "index/state.h"
#include "parse/parse.h"
#include "probes/entry.h"

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

bool jf_entry_is(const struct jf_pattern *p)
{
	return !strcmp(p->provider, "ftrace");
}

#if JF_HAVE_FTRACE

/* So far from its beginning a function may have its nop. */
#define JF_ENTRY_FAR	16

/**
 * struct jf_entry_set - functions that were enabled together
 * @list:   on jf_sets
 * @ops:    for ftrace
 * @traced: the functions
 * @num:    how many these are
 * @ips:    room for as many of ftrace's addresses
 * @live:   it is registered
 */
struct jf_entry_set {
	struct list_head	list;
	struct ftrace_ops	ops;
	struct list_head	traced;
	unsigned int		num;
	unsigned long		*ips;
	bool			live;
};

static LIST_HEAD(jf_sets);
static DEFINE_HASHTABLE(jf_by_addr, 10);
/* The set that the present command enables, or NULL. */
static struct jf_entry_set *jf_new_set;

/* --- sets ---------------------------------------------------------------- */

static void jf_traced_free(struct jf_traced *t)
{
	hash_del(&t->by_addr);
	free_percpu(t->hits);
	kfree(t);
}

/* Of one that is not registered; no callback is at work on it. */
static void jf_set_free(struct jf_entry_set *set)
{
	struct jf_traced *t, *tmp;

	list_for_each_entry_safe(t, tmp, &set->traced, list)
		jf_traced_free(t);
	jf_ftrace_free(&set->ops);
	kvfree(set->ips);
	kfree(set);
}

static struct jf_entry_set *jf_set_get(void)
{
	struct jf_entry_set *set = jf_new_set;

	if (set)
		return set;
	set = kzalloc(sizeof(*set), GFP_KERNEL);
	if (!set)
		return NULL;
	INIT_LIST_HEAD(&set->traced);
	set->ops.func = jf_entry_hit;
	/* Permanent: as long as it is registered, ftrace is not switched off. */
	set->ops.flags = FTRACE_OPS_FL_RCU | FTRACE_OPS_FL_PERMANENT |
			 JF_FTRACE_PROTECT | JF_FTRACE_SAVE;
	jf_new_set = set;
	return set;
}

/*
 * After a bug of its own, or where it finds bytes in text that it does not know, ftrace
 * changes nothing any more, and may go on calling back by the present text. Then
 * jumpfunc stays, with the ops that ftrace knows.
 */
static bool jf_ftrace_stuck;

static void jf_entry_stuck(int err)
{
	if (jf_ftrace_stuck)
		return;
	jf_ftrace_stuck = true;
	pr_warn("ftrace has given up (%d) and may still call jumpfunc, which cannot be unloaded\n",
		err);
	/* Of no use if it is being unloaded already: see jf_entry_exit(). */
	__module_get(THIS_MODULE);
}

/*
 * Remove @n functions of @set from ftrace. That does not fail while ftrace works: some of
 * a set may stay in its filter, but the last ones take no memory.
 */
static int jf_set_remove(struct jf_entry_set *set, unsigned int n)
{
	int err;

	/* Waits until no task is in its trampoline, nor in the callback. */
	if (n == set->num)
		return unregister_ftrace_function(&set->ops);
	err = jf_ftrace_del(&set->ops, set->ips, n);
	return err == -ENOMEM ? 0 : err;
}

/* Remove those functions that are to be removed, which the callback does not tell. */
static void jf_set_end(struct jf_entry_set *set)
{
	struct jf_traced *t, *tmp;
	unsigned int n = 0;
	LIST_HEAD(ended);
	int err;

	list_for_each_entry_safe(t, tmp, &set->traced, list) {
		if (!t->ends)
			continue;
		set->ips[n++] = t->ip;
		list_move(&t->list, &ended);
	}
	if (!n)
		return;
	err = jf_set_remove(set, n);
	set->num -= n;
	if (!set->num)
		list_del(&set->list);
	list_for_each_entry(t, &ended, list)
		jf_traced_del(t);
	/* The callback is a read section of RCU. */
	synchronize_rcu();
	list_for_each_entry_safe(t, tmp, &ended, list)
		jf_traced_free(t);
	if (err)
		jf_entry_stuck(err);
	else if (!set->num)
		jf_set_free(set);
}

/* --- requests of a command ----------------------------------------------- */

/*
 * ftrace's address of the function at @addr: the address of its nop. ftrace takes an address for
 * the function that is anywhere in the nop, and from 5.19 on also the function's first one. So the
 * nop begins where the function does if the second byte is taken, or else at the first one that is.
 * -EINVAL: it has none
 */
static int jf_entry_ip(struct ftrace_ops *scratch, unsigned long addr,
		       unsigned long size, unsigned long *ip)
{
	unsigned long at;
	int err = -EINVAL;

	for (at = 1; err == -EINVAL && at <= JF_ENTRY_FAR && at < size; at++) {
		err = ftrace_set_filter_ip(scratch, addr + at, 0, 1);
		*ip = at == 1 ? addr : addr + at;
	}
	return err;
}

static struct jf_traced *jf_traced_at(unsigned long addr)
{
	struct jf_traced *t;

	hash_for_each_possible(jf_by_addr, t, by_addr, addr)
		if (t->entry.addr == addr)
			return t;
	return NULL;
}

static int jf_entry_ask(struct jf_traced *t, bool on)
{
	if (t->asked && t->wanted != on) {
		pr_warn_ratelimited("probes: %s of %s is to be enabled and disabled\n",
				    t->entry.function, t->entry.module);
		return -EINVAL;
	}
	t->asked = true;
	t->wanted = on;
	return 0;
}

static int jf_entry_new(const char *module, const struct jf_named_text *sym,
			unsigned long ip)
{
	size_t len = strlen(module) + 1, more = strlen(sym->name) + 1;
	struct jf_entry_set *set = jf_set_get();
	struct jf_traced *t;

	if (!set)
		return -ENOMEM;
	t = kzalloc(struct_size(t, names, len + more), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	t->hits = alloc_percpu(u64);
	if (!t->hits) {
		kfree(t);
		return -ENOMEM;
	}
	t->ops = &set->ops;
	t->ip = ip;
	t->entry.addr = sym->addr;
	t->entry.module = memcpy(t->names, module, len);
	t->entry.function = memcpy(t->names + len, sym->name, more);
	list_add_tail(&t->list, &set->traced);
	hash_add(jf_by_addr, &t->by_addr, sym->addr);
	set->num++;
	return jf_entry_ask(t, true);
}

/* Those functions of @mod that are not traced yet. */
static int jf_entry_find_in(const struct module *mod, const struct jf_pattern *p,
			    unsigned int *num)
{
	struct ftrace_ops scratch = { .func = jf_entry_hit };
	struct jf_named_text *text;
	unsigned int i, n;
	int err = 0;

	text = jf_named_text(mod, &n);
	if (IS_ERR(text))
		return PTR_ERR(text);
	for (i = 0; !err && i < n; i++) {
		struct jf_traced *t;
		unsigned long ip;

		if (!jf_parse_fits(text[i].name, p->function))
			continue;
		t = jf_traced_at(text[i].addr);
		if (t) {
			/* It is known, by this name or by another one. */
			err = jf_entry_ask(t, true);
			++*num;
			continue;
		}
		cond_resched();
		err = jf_entry_ip(&scratch, text[i].addr, text[i].size, &ip);
		if (err == -EINVAL) {
			err = 0;
			continue;
		}
		err = err ?: jf_entry_new(mod->name, &text[i], ip);
		*num += !err;
	}
	jf_ftrace_free(&scratch);
	kvfree(text);
	return err;
}

static bool jf_entry_module_fits(const char *name, void *arg)
{
	const struct jf_pattern *p = arg;

	/* ftrace calls its functions. */
	return strcmp(name, THIS_MODULE->name) && jf_parse_fits(name, p->module);
}

/* Those that are known. */
static int jf_entry_find_known(const struct jf_entry_set *set,
			       const struct jf_pattern *p, unsigned int *num)
{
	struct jf_traced *t;
	int err = 0;

	list_for_each_entry(t, &set->traced, list) {
		if (!jf_parse_fits(t->entry.module, p->module) ||
		    !jf_parse_fits(t->entry.function, p->function))
			continue;
		err = jf_entry_ask(t, p->on);
		if (err)
			break;
		++*num;
	}
	return err;
}

int jf_entry_find(const struct jf_pattern *p, unsigned int *num)
{
	struct jf_entry_set *set;
	struct module **mods;
	unsigned int i;
	int err = 0;

	if (!jf_parse_fits("entry", p->name))
		return 0;
	list_for_each_entry(set, &jf_sets, list)
		err = err ?: jf_entry_find_known(set, p, num);
	if (!err && jf_new_set)
		err = jf_entry_find_known(jf_new_set, p, num);
	if (err || !p->on)
		return err;
	mods = jf_modules_get(jf_entry_module_fits, (void *)p);
	if (IS_ERR(mods))
		return PTR_ERR(mods);
	for (i = 0; !err && mods[i]; i++)
		err = jf_entry_find_in(mods[i], p, num);
	jf_modules_put(mods);
	return err;
}

/* --- carrying it out ----------------------------------------------------- */

static int jf_entry_register(struct jf_entry_set *set)
{
	struct jf_traced *t, *tmp;
	unsigned int n = 0;
	int err;

	set->ips = kvmalloc_array(set->num, sizeof(*set->ips), GFP_KERNEL);
	if (!set->ips)
		return -ENOMEM;
	list_for_each_entry(t, &set->traced, list)
		set->ips[n++] = t->ip;
	err = jf_ftrace_add(&set->ops, set->ips, n);
	if (err)
		return err;
	/* Not on yet: events begin when nothing can fail any more. */
	list_for_each_entry(t, &set->traced, list)
		jf_traced_add(t);
	err = register_ftrace_function(&set->ops);
	if (!err)
		return 0;
	list_for_each_entry(t, &set->traced, list)
		jf_traced_del(t);
	synchronize_rcu();
	if (err == -ENODEV) {
		/* Some of them may have been enabled already: their ops are lost. */
		list_for_each_entry_safe(t, tmp, &set->traced, list)
			jf_traced_free(t);
		jf_new_set = NULL;
		jf_entry_stuck(err);
	}
	return err;
}

int jf_entry_begin(void)
{
	int err;

	if (!jf_new_set)
		return 0;
	err = jf_entry_register(jf_new_set);
	if (err) {
		pr_warn_ratelimited("probes: ftrace cannot trace them (%d)%s\n", err,
				    err != -EBUSY ? "" :
				    ": it is switched off, see sysctl kernel.ftrace_enabled");
		return err;
	}
	jf_new_set->live = true;
	list_add_tail(&jf_new_set->list, &jf_sets);
	return 0;
}

void jf_entry_done(bool committed)
{
	struct jf_entry_set *set, *tmp;
	struct jf_traced *t;

	if (jf_new_set && !jf_new_set->live)
		jf_set_free(jf_new_set);
	jf_new_set = NULL;
	list_for_each_entry(set, &jf_sets, list) {
		list_for_each_entry(t, &set->traced, list) {
			if (committed && t->asked)
				WRITE_ONCE(t->on, t->wanted);
			t->asked = false;
			t->ends = !t->on;
		}
	}
	list_for_each_entry_safe(set, tmp, &jf_sets, list)
		jf_set_end(set);
}

void jf_entry_unload(const struct module *mod)
{
	struct jf_entry_set *set, *tmp;
	struct jf_traced *t;

	list_for_each_entry(set, &jf_sets, list) {
		list_for_each_entry(t, &set->traced, list) {
			if (mod && strcmp(t->entry.module, mod->name))
				continue;
			WRITE_ONCE(t->on, false);
			t->ends = true;
		}
	}
	list_for_each_entry_safe(set, tmp, &jf_sets, list)
		jf_set_end(set);
}

void jf_entry_exit(void)
{
	/* There is no way back, and text that is freed must not be called. */
	if (jf_ftrace_stuck)
		pr_err("unloading waits for ever: ftrace still calls jumpfunc, and cannot be told to stop\n");
	while (jf_ftrace_stuck)
		jf_nap(10000);
}

static void jf_traced_show(const struct jf_traced *t, void *arg)
{
	struct seq_file *m = arg;
	unsigned int cpu;
	u64 hits = 0;

	if (!READ_ONCE(t->on))
		return;
	for_each_possible_cpu(cpu)
		hits += READ_ONCE(*per_cpu_ptr(t->hits, cpu));
	seq_printf(m, "ftrace:%s:%s:entry on %llu 1\n", t->entry.module,
		   t->entry.function, hits);
}

/* There can be thousands, and no command waits for that. */
void jf_entry_show(struct seq_file *m)
{
	jf_traced_each(jf_traced_show, m);
}

#else /* JF_HAVE_FTRACE */

int jf_entry_find(const struct jf_pattern *p, unsigned int *num)
{
	pr_warn_ratelimited("probes: this kernel cannot trace functions: it has no CONFIG_FUNCTION_TRACER, or no symbols\n");
	return -EOPNOTSUPP;
}

int jf_entry_begin(void)
{
	return 0;
}

void jf_entry_done(bool committed)
{
}

void jf_entry_unload(const struct module *mod)
{
}

void jf_entry_exit(void)
{
}

void jf_entry_show(struct seq_file *m)
{
}

#endif
