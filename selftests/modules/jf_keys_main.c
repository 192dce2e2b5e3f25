// SPDX-License-Identifier: GPL-2.0
/*
 * Truth table of jump labels: every kind of key, every form of branch, every
 * state, in this module and in those that add their own probes (jf_keyuse).
 *
 * /sys/kernel/debug/jf_keys/
 *   table	reading takes each key through all its states; after each step all
 *		probes of all keys are run. One line per key: "ok" or "bad", and the
 *		check. After it the keys are as they were before.
 *   batch	reading runs the test of mixed batches
 *   set	write a mask: key number i, of those that can be changed, becomes
 *		bit i (mod 64), all in one batch
 *   check	reading runs all probes: "checked N bad N"
 */
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include <jumpfunc/dynfunc.h>

#include "files.h"
#include "jf_keys.h"

DEFINE_JF_KEY_FALSE(jft_false);
DEFINE_JF_KEY_TRUE(jft_true);
/* These two are changed in init, those two are left as they are. */
DEFINE_JF_KEY_FALSE_RO(jft_false_ro);
DEFINE_JF_KEY_TRUE_RO(jft_true_ro);
DEFINE_JF_KEY_FALSE_RO(jft_false_ro_left);
DEFINE_JF_KEY_TRUE_RO(jft_true_ro_left);
DEFINE_JF_KEY_ARRAY_FALSE(jft_array_false, JFT_ARRAY);
DEFINE_JF_KEY_ARRAY_TRUE(jft_array_true, JFT_ARRAY);
EXPORT_JF_KEY_GPL(jft_false);
EXPORT_JF_KEY_GPL(jft_true);
EXPORT_JF_KEY(jft_false_ro);
EXPORT_JF_KEY(jft_true_ro);
EXPORT_JF_KEY_GPL(jft_false_ro_left);
EXPORT_JF_KEY_GPL(jft_true_ro_left);
EXPORT_JF_KEY_ARRAY_GPL(jft_array_false);
EXPORT_JF_KEY_ARRAY(jft_array_true);

static DEFINE_JF_KEY_FALSE(jft_static);

JFT_EXPORTED_FUNCS(main, )
JFT_PROBE_FUNCS(main_static, jft_static, )
JFT_PROBE_FUNCS(init_false, jft_false, __init)
JFT_PROBE_FUNCS(init_true_ro, jft_true_ro, __init)
JFT_PROBE_FUNCS(init_false_ro, jft_false_ro, __init)
JFT_PROBE_FUNCS(exit_false, jft_false, __exit)
JFT_PROBE_FUNCS(exit_true_ro, jft_true_ro, __exit)

static const struct jft_probe probes[] = {
	JFT_EXPORTED_PROBES(main),
	JFT_PROBES(main_static, jft_static),
};

static const struct jft_probe init_probes[] __initconst = {
	JFT_PROBES(init_false, jft_false),
	JFT_PROBES(init_true_ro, jft_true_ro),
	JFT_PROBES(init_false_ro, jft_false_ro),
};

static struct jft_key keys[] = {
	{ "jft_false", &jft_false, false, false, 0 },
	{ "jft_true", &jft_true, false, true, 1 },
	{ "jft_false_ro", &jft_false_ro, true, false, 0 },
	{ "jft_true_ro", &jft_true_ro, true, true, 1 },
	{ "jft_false_ro_left", &jft_false_ro_left, true, false, 0 },
	{ "jft_true_ro_left", &jft_true_ro_left, true, true, 1 },
	{ "jft_array_false[0]", &jft_array_false[0], false, false, 0 },
	{ "jft_array_false[1]", &jft_array_false[1], false, false, 0 },
	{ "jft_array_false[2]", &jft_array_false[2], false, false, 0 },
	{ "jft_array_true[0]", &jft_array_true[0], false, true, 1 },
	{ "jft_array_true[1]", &jft_array_true[1], false, true, 1 },
	{ "jft_array_true[2]", &jft_array_true[2], false, true, 1 },
	{ "jft_static", &jft_static, false, false, 0 },
};

static struct jft_set main_set = {
	.name = "first object file",
	.keys = keys,
	.num_keys = ARRAY_SIZE(keys),
	.probes = probes,
	.num_probes = ARRAY_SIZE(probes),
};

extern struct jft_set jft_part;

static LIST_HEAD(sets);
static DEFINE_MUTEX(mutex);
static unsigned long checked, bad;
/* The line that tells of the key being tested. */
static char detail[160];
static struct dentry *dir;

/* --- checks ------------------------------------------------------------- */

void jft_bad(const char *where, const char *what)
{
	bad++;
	pr_err("jf_keys: BAD: %s: %s\n", where, what);
	if (!detail[0])
		snprintf(detail, sizeof(detail), "%s: %s", where, what);
}
EXPORT_SYMBOL_GPL(jft_bad);

static struct jft_key *find_key(const struct jf_key *key)
{
	struct jft_set *s;
	unsigned int i;

	list_for_each_entry(s, &sets, list)
		for (i = 0; i < s->num_keys; i++)
			if (s->keys[i].key == key)
				return &s->keys[i];
	return NULL;
}

static unsigned int run_probes(const char *where, const struct jft_probe *p, unsigned int num)
{
	unsigned int i, wrong = 0;
	char what[80];

	for (i = 0; i < num; i++) {
		struct jft_key *k = find_key(p[i].key);
		int want = k ? k->count > 0 : -2, got = p[i].fn();

		checked++;
		if (got == want)
			continue;
		snprintf(what, sizeof(what), "%s says %d instead of %d", p[i].name, got, want);
		jft_bad(where, what);
		wrong++;
	}
	return wrong;
}

static unsigned int check_values(const char *where, const struct jft_set *s)
{
	unsigned int i, wrong = 0;
	char what[80];

	for (i = 0; i < s->num_keys; i++) {
		const struct jft_key *k = &s->keys[i];

		checked++;
		if (jf_key_count(k->key) == k->count && jf_key_enabled(k->key) == (k->count > 0))
			continue;
		snprintf(what, sizeof(what), "%s has count %d and is %s instead of count %d", k->name,
			 jf_key_count(k->key), jf_key_enabled(k->key) ? "on" : "off", k->count);
		jft_bad(where, what);
		wrong++;
	}
	return wrong;
}

static unsigned int check_all(const char *where)
{
	unsigned int wrong = 0;
	struct jft_set *s;

	list_for_each_entry(s, &sets, list) {
		wrong += check_values(where, s);
		wrong += run_probes(where, s->probes, s->num_probes);
	}
	return wrong;
}

unsigned int jft_run(const char *where, const struct jft_probe *p, unsigned int num)
{
	unsigned int wrong;

	mutex_lock(&mutex);
	wrong = run_probes(where, p, num);
	mutex_unlock(&mutex);
	return wrong;
}
EXPORT_SYMBOL_GPL(jft_run);

unsigned int jft_add(struct jft_set *set)
{
	unsigned int wrong;

	mutex_lock(&mutex);
	list_add_tail(&set->list, &sets);
	wrong = check_all(set->name);
	mutex_unlock(&mutex);
	return wrong;
}
EXPORT_SYMBOL_GPL(jft_add);

unsigned int jft_remove(struct jft_set *set)
{
	unsigned int wrong;

	mutex_lock(&mutex);
	wrong = check_all(set->name);
	list_del(&set->list);
	mutex_unlock(&mutex);
	return wrong;
}
EXPORT_SYMBOL_GPL(jft_remove);

/* --- the table ---------------------------------------------------------- */

/* Do one thing to a key, and check everything. */
static void step(struct jft_key *k, const char *what, int err, int want_err, int want_count)
{
	char where[80], text[40];

	snprintf(where, sizeof(where), "%s, %s", k->name, what);
	if (err != want_err) {
		snprintf(text, sizeof(text), "gave %d instead of %d", err, want_err);
		jft_bad(where, text);
	}
	k->count = want_count;
	check_all(where);
}

static int batch_set(struct jf_key *key, bool on)
{
	struct jf_batch b;

	jf_batch_init(&b);
	jf_key_batch_set(&b, key, on);
	return jf_batch_commit(&b);
}

static int batch_set_twice(struct jf_key *key, bool first, bool second)
{
	struct jf_batch b;

	jf_batch_init(&b);
	jf_key_batch_set(&b, key, first);
	jf_key_batch_set(&b, key, second);
	return jf_batch_commit(&b);
}

static void states(struct jft_key *k)
{
	struct jf_key *key = k->key;
	int was = k->count, overflow;

	step(k, "initial", 0, 0, was);
	step(k, "enable", jf_key_enable(key), 0, was ?: 1);
	step(k, "enable again", jf_key_enable(key), 0, was ?: 1);
	while (k->count > 1)
		step(k, "dec", jf_key_dec(key), 0, k->count - 1);
	step(k, "disable", jf_key_disable(key), 0, 0);
	step(k, "disable again", jf_key_disable(key), 0, 0);
	step(k, "dec below zero", jf_key_dec(key), -EINVAL, 0);
	step(k, "inc 0 to 1", jf_key_inc(key), 0, 1);
	step(k, "inc 1 to 2", jf_key_inc(key), 0, 2);
	step(k, "inc 2 to 3", jf_key_inc(key), 0, 3);
	step(k, "enable with users", jf_key_enable(key), 0, 3);
	step(k, "disable with users", jf_key_disable(key), -EBUSY, 3);
	step(k, "batch off with users", batch_set(key, false), -EBUSY, 3);
	step(k, "batch on with users", batch_set(key, true), 0, 3);
	step(k, "dec 3 to 2", jf_key_dec(key), 0, 2);
	step(k, "dec 2 to 1", jf_key_dec(key), 0, 1);
	step(k, "dec 1 to 0", jf_key_dec(key), 0, 0);
	step(k, "batch on", batch_set(key, true), 0, 1);
	step(k, "dec of an enabled key", jf_key_dec(key), 0, 0);
	step(k, "inc for a batch", jf_key_inc(key), 0, 1);
	step(k, "batch off", batch_set(key, false), 0, 0);
	step(k, "batch on and on", batch_set_twice(key, true, true), 0, 1);
	step(k, "batch off and on", batch_set_twice(key, false, true), -EINVAL, 1);
	step(k, "batch on and off", batch_set_twice(key, true, false), -EINVAL, 1);

	/* Counting to INT_MAX would take too long: the count is written. */
	WRITE_ONCE(key->count, INT_MAX - 1);
	overflow = jf_key_inc(key);
	step(k, "inc to INT_MAX", overflow, 0, INT_MAX);
	step(k, "inc over INT_MAX", jf_key_inc(key), -EOVERFLOW, INT_MAX);
	step(k, "disable of INT_MAX", jf_key_disable(key), -EBUSY, INT_MAX);
	step(k, "dec of INT_MAX", jf_key_dec(key), 0, INT_MAX - 1);
	WRITE_ONCE(key->count, 1);
	step(k, "back to one user", 0, 0, 1);

	if (!was)
		step(k, "disable at the end", jf_key_disable(key), 0, 0);
	while (k->count < was)
		step(k, "inc at the end", jf_key_inc(key), 0, k->count + 1);
}

/* After init: nothing can be changed, and nothing faults. */
static void states_ro(struct jft_key *k)
{
	struct jf_key *key = k->key;
	int was = k->count;

	step(k, "initial", 0, 0, was);
	step(k, "enable", jf_key_enable(key), -EROFS, was);
	step(k, "disable", jf_key_disable(key), -EROFS, was);
	step(k, "inc", jf_key_inc(key), -EROFS, was);
	step(k, "dec", jf_key_dec(key), was ? -EROFS : -EINVAL, was);
	step(k, "batch on", batch_set(key, true), -EROFS, was);
	step(k, "batch off", batch_set(key, false), -EROFS, was);
}

static int table_show(struct seq_file *m, void *v)
{
	struct jft_set *s;
	unsigned int i;

	mutex_lock(&mutex);
	list_for_each_entry(s, &sets, list) {
		for (i = 0; i < s->num_keys; i++) {
			struct jft_key *k = &s->keys[i];
			unsigned long before = bad, n = checked;

			detail[0] = '\0';
			if (k->ro)
				states_ro(k);
			else
				states(k);
			seq_printf(m, "%s %s %s of the %s: %lu checks, %s\n", before == bad ? "ok" : "bad",
				   k->ro ? "read-only" : k->initial ? "true" : "false", k->name, s->name,
				   checked - n, before == bad ? "all right" : detail);
		}
	}
	mutex_unlock(&mutex);
	return 0;
}

/* --- batches ------------------------------------------------------------ */

static noinline int target_one(void)
{
	return 1;
}

static noinline int target_two(void)
{
	return 2;
}

DEFINE_DYNFUNC(jft_func, target_one);

static noinline int call_func(void)
{
	int a = dynfunc_jft_func(), b = dynfunc_call(jft_func);

	return a == b ? a : -1;
}

/*
 * All keys that can be changed are inverted and a dynamic function is retargeted;
 * @err: the expected result of the commit.
 */
static void invert_all(struct seq_file *m, const char *what, struct jf_key *spoiler, int want)
{
	int (*now)(void) = dynfunc_query(jft_func), (*next)(void);
	unsigned long before = bad;
	struct jf_batch b;
	struct jft_set *s;
	unsigned int i;
	int err;

	detail[0] = '\0';
	next = now == target_one ? target_two : target_one;
	jf_batch_init(&b);
	dynfunc_batch_set(&b, jft_func, next);
	list_for_each_entry(s, &sets, list)
		for (i = 0; i < s->num_keys; i++)
			if (!s->keys[i].ro && s->keys[i].key != spoiler)
				jf_key_batch_set(&b, s->keys[i].key, !s->keys[i].count);
	if (spoiler)
		jf_key_batch_set(&b, spoiler, false);
	err = jf_batch_commit(&b);
	if (err != want)
		jft_bad(what, "commit gave another result");
	if (!want) {
		list_for_each_entry(s, &sets, list)
			for (i = 0; i < s->num_keys; i++)
				if (!s->keys[i].ro)
					s->keys[i].count = !s->keys[i].count;
		now = next;
	}
	if (dynfunc_query(jft_func) != now || call_func() != now())
		jft_bad(what, "the dynamic function calls the wrong target");
	check_all(what);
	seq_printf(m, "%s %s%s%s\n", before == bad ? "ok" : "bad", what, detail[0] ? ": " : "", detail);
}

static int batch_show(struct seq_file *m, void *v)
{
	struct jf_key *busy = &jft_array_false[1];
	int err;

	mutex_lock(&mutex);
	invert_all(m, "a batch inverts all keys and retargets a function", NULL, 0);
	invert_all(m, "and back", NULL, 0);

	err = jf_key_inc(busy) ?: jf_key_inc(busy);
	find_key(busy)->count += 2;
	if (err)
		jft_bad("batch", "no two users");
	invert_all(m, "a batch with a key in use changes nothing", busy, -EBUSY);
	err = jf_key_dec(busy) ?: jf_key_dec(busy);
	find_key(busy)->count -= 2;
	if (err)
		jft_bad("batch", "two users at once are refused");
	invert_all(m, "a batch with a read-only key changes nothing", &jft_true_ro_left, -EROFS);
	invert_all(m, "and without them it succeeds", NULL, 0);
	invert_all(m, "and back again", NULL, 0);
	mutex_unlock(&mutex);
	return 0;
}

/* --- files -------------------------------------------------------------- */

static int check_show(struct seq_file *m, void *v)
{
	mutex_lock(&mutex);
	check_all("check");
	seq_printf(m, "checked %lu bad %lu\n", checked, bad);
	mutex_unlock(&mutex);
	return 0;
}

static ssize_t set_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct jf_batch b;
	struct jft_set *s;
	unsigned int i, n;
	u64 mask;
	int err;

	err = kstrtou64_from_user(buf, len, 0, &mask);
	if (err)
		return err;
	mutex_lock(&mutex);
	jf_batch_init(&b);
	n = 0;
	list_for_each_entry(s, &sets, list)
		for (i = 0; i < s->num_keys; i++)
			if (!s->keys[i].ro)
				jf_key_batch_set(&b, s->keys[i].key, mask >> (n++ & 63) & 1);
	err = jf_batch_commit(&b);
	n = 0;
	if (!err) {
		list_for_each_entry(s, &sets, list)
			for (i = 0; i < s->num_keys; i++)
				if (!s->keys[i].ro)
					s->keys[i].count = mask >> (n++ & 63) & 1;
	}
	check_all("set");
	mutex_unlock(&mutex);
	return err ?: len;
}

#define JFT_SHOW(name)							\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return single_open(file, name##_show, NULL);			\
}									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = name##_open,						\
	.read = seq_read,						\
	.llseek = seq_lseek,						\
	.release = single_release,					\
}

JFT_SHOW(table);
JFT_SHOW(batch);
JFT_SHOW(check);

TEST_WRITE_ONLY(set);

static void __init change_ro(void)
{
	struct jft_key *f = find_key(&jft_false_ro), *t = find_key(&jft_true_ro);

	states(f);
	states(t);
	step(f, "left on", jf_key_inc(&jft_false_ro), 0, 1);
	step(t, "left off", jf_key_disable(&jft_true_ro), 0, 0);
}

static int __init keys_init(void)
{
	jft_add(&main_set);
	jft_add(&jft_part);
	mutex_lock(&mutex);
	run_probes("__init text, initial", init_probes, ARRAY_SIZE(init_probes));
	change_ro();
	states(find_key(&jft_false));
	run_probes("__init text, changed", init_probes, ARRAY_SIZE(init_probes));
	step(find_key(&jft_false), "enable in init", jf_key_enable(&jft_false), 0, 1);
	run_probes("__init text, on", init_probes, ARRAY_SIZE(init_probes));
	step(find_key(&jft_false), "disable in init", jf_key_disable(&jft_false), 0, 0);
	run_probes("__init text, off", init_probes, ARRAY_SIZE(init_probes));
	mutex_unlock(&mutex);

	dir = debugfs_create_dir("jf_keys", NULL);
	debugfs_create_file("table", 0400, dir, NULL, &table_fops);
	debugfs_create_file("batch", 0400, dir, NULL, &batch_fops);
	debugfs_create_file("check", 0400, dir, NULL, &check_fops);
	debugfs_create_file("set", 0200, dir, NULL, &set_fops);
	return 0;
}

static void __exit keys_exit(void)
{
	static const struct jft_probe exit_probes[] = {
		JFT_PROBES(exit_false, jft_false),
		JFT_PROBES(exit_true_ro, jft_true_ro),
	};

	debugfs_remove_recursive(dir);
	mutex_lock(&mutex);
	run_probes("__exit text", exit_probes, ARRAY_SIZE(exit_probes));
	check_all("exit");
	mutex_unlock(&mutex);
	pr_info("jf_keys: unloaded after %lu checks, %lu bad\n", checked, bad);
}

module_init(keys_init);
module_exit(keys_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Truth table of jump labels: every kind of key, form of branch and state");
