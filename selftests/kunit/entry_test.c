// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-entry: kernel/probes/entry.c and kernel/probes/hit.c above an ftrace that
 * is made up.
 *
 * Proves: where ftrace has no memory, a command that enables functions fails, and
 * one that disables them does not; neither waits until there is some; no filter is lost;
 * a function that could not be taken out of a filter is not told, and once only when it
 * is enabled again.
 *
 * The sources are included, so that their callees can be replaced. Two functions of a
 * module can be traced. ftrace calls back by each filter that has a function and whose
 * ops are registered.
 */
#include "jfk.h"

#undef pr_fmt
#define pr_fmt(fmt) "jumpfunc: " fmt

/* All headers of the sources, before the macros below can get at them. */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/hashtable.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

static int set_filter(struct ftrace_ops *ops) __maybe_unused;
static int set_ip(struct ftrace_ops *ops, unsigned long ip, int remove, int reset);
static int set_ips(struct ftrace_ops *ops, unsigned long *ips, unsigned int num,
		   int remove, int reset) __maybe_unused;
static void free_filter(struct ftrace_ops *ops);
static int set_live(struct ftrace_ops *ops, bool live);
static void wait_for_memory(void) __maybe_unused;

/* kernel/compat.h has some of their callers. */
#define ftrace_set_filter(ops, buf, len, reset)	set_filter(ops)
#define ftrace_set_filter_ip			set_ip
#define ftrace_set_filter_ips			set_ips
#define ftrace_free_filter			free_filter
#define register_ftrace_function(ops)		set_live(ops, true)
#define unregister_ftrace_function(ops)		set_live(ops, false)
#define msleep(ms)				wait_for_memory()

#include "index/index.h"

/* Neither an entity nor a table is defined here. */
#define JF_NO_TABLE
#include <jumpfunc/entry.h>

/* --- ftrace -------------------------------------------------------------- */

#define FUNCS	2
#define SIZE	32
#define FILTERS	8
#define ENOUGH	1000

static u8 text[FUNCS * SIZE];

/* ftrace's data about some ops. */
struct filter {
	struct ftrace_ops	*ops;
	bool			has[FUNCS], live;
};

static struct {
	struct filter	filter[FILTERS];
	int		left;		/* so often it has memory */
	unsigned int	waits;		/* for more */
	unsigned int	told;		/* hits */
	const char	*breach;
} world;

static unsigned long func_at(unsigned int i)
{
	return (unsigned long)&text[i * SIZE];
}

/* Of @ops: its filter, or one that is not used. */
static struct filter *filter_of(struct ftrace_ops *ops)
{
	struct filter *f, *unused = NULL;

	for (f = world.filter; f < world.filter + FILTERS; f++) {
		if (f->ops == ops)
			return f;
		if (!f->ops)
			unused = f;
	}
	if (!unused) {
		world.breach = "too many filters";
		return world.filter;
	}
	unused->ops = ops;
	return unused;
}

static void free_filter(struct ftrace_ops *ops)
{
	struct filter *f = filter_of(ops);

	if (f->live)
		world.breach = "a filter is freed while it is registered";
	memset(f, 0, sizeof(*f));
}

/* There is memory, or the reserve for operations that free more. */
static bool has_memory(void)
{
	return current->flags & PF_MEMALLOC || world.left-- > 0;
}

static int set_filter(struct ftrace_ops *ops)
{
	if (!has_memory())
		return -ENOMEM;
	free_filter(ops);
	return 0;
}

/* An address in the nop, which is the first thing in a function. */
static int set_ip(struct ftrace_ops *ops, unsigned long ip, int remove, int reset)
{
	struct filter *f = filter_of(ops);
	unsigned int i = (ip - func_at(0)) / SIZE;

	if (!has_memory())
		return -ENOMEM;
	if (ip < func_at(0) || i >= FUNCS || ip - func_at(i) > 4)
		return -EINVAL;
	if (remove && !f->has[i])
		return -ENOENT;
	if (reset)
		memset(f->has, 0, sizeof(f->has));
	f->has[i] = !remove;
	return 0;
}

static int set_ips(struct ftrace_ops *ops, unsigned long *ips, unsigned int num,
		   int remove, int reset)
{
	unsigned int i;
	int err = 0;

	if (!has_memory())
		return -ENOMEM;
	for (i = 0; !err && i < num; i++) {
		world.left++;
		err = set_ip(ops, ips[i], remove, reset);
	}
	return err;
}

static int set_live(struct ftrace_ops *ops, bool live)
{
	filter_of(ops)->live = live;
	return 0;
}

static void wait_for_memory(void)
{
	world.waits++;
	world.left = ENOUGH;
}

/* --- the rest of the world ----------------------------------------------- */

static struct module *mods[2];

struct module **jf_modules_get(bool (*fits)(const char *name, void *arg),
			       void *arg)
{
	return mods;
}

void jf_modules_put(struct module **m)
{
}

struct jf_named_text *jf_named_text(const struct module *mod, unsigned int *num)
{
	static const char * const names[FUNCS] = { "one", "two" };
	struct jf_named_text *t = kvmalloc_array(FUNCS, sizeof(*t), GFP_KERNEL);
	unsigned int i;

	if (!t)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < FUNCS; i++)
		t[i] = (struct jf_named_text){ func_at(i), SIZE, names[i] };
	*num = FUNCS;
	return t;
}

#define jf_trace_jf_entry(...)	(world.told++)
#undef DEFINE_JF_TRACE
#define DEFINE_JF_TRACE(name)
#undef EXPORT_JF_TRACE_GPL
#define EXPORT_JF_TRACE_GPL(name)
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)

#include "../../kernel/parse/parse.c"
#include "../../kernel/probes/entry.c"
#include "../../kernel/probes/hit.c"

/* --- actions of a CPU and a user ----------------------------------------- */

/* A call of a function, and how often it is told. */
static unsigned int call(unsigned int i)
{
	struct filter *f;

	world.told = 0;
	for (f = world.filter; f < world.filter + FILTERS; f++)
		if (f->live && f->has[i])
			jf_entry_hit(func_at(i), 0, f->ops, NULL);
	return world.told;
}

static int command(bool on, const char *function)
{
	const struct jf_pattern p = {
		.on = on, .provider = "ftrace", .module = "*",
		.function = function, .name = "entry",
	};
	unsigned int num = 0;
	int err = jf_entry_find(&p, &num);

	err = err ?: jf_entry_begin();
	jf_entry_done(!err);
	return err;
}

static unsigned int filters(void)
{
	unsigned int i, num = 0;

	for (i = 0; i < FILTERS; i++)
		num += !!world.filter[i].ops;
	return num;
}

static int entry_suite_init(struct kunit *test)
{
	memset(&world, 0, sizeof(world));
	world.left = ENOUGH;
	mods[0] = THIS_MODULE;
	return 0;
}

static void entry_suite_exit(struct kunit *test)
{
	world.left = ENOUGH;
	jf_entry_unload(NULL);
	KUNIT_EXPECT_STREQ(test, world.breach ?: "", "");
	KUNIT_EXPECT_EQ(test, world.waits, 0U);
	KUNIT_EXPECT_EQ(test, filters(), 0U);
}

/* --- cases --------------------------------------------------------------- */

static void on_and_off(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, command(true, "*"), 0);
	KUNIT_EXPECT_EQ(test, filters(), 1U);
	KUNIT_EXPECT_EQ(test, call(0), 1U);
	KUNIT_EXPECT_EQ(test, call(1), 1U);
	KUNIT_EXPECT_EQ(test, command(false, "one"), 0);
	KUNIT_EXPECT_EQ(test, call(0), 0U);
	KUNIT_EXPECT_EQ(test, call(1), 1U);
	KUNIT_EXPECT_EQ(test, command(false, "*"), 0);
	KUNIT_EXPECT_EQ(test, filters(), 0U);
}

/* Whichever allocation fails, nothing is left of the command. */
static void on_without_memory(struct kunit *test)
{
	int n, err = -ENOMEM;

	for (n = 0; err; n++) {
		world.left = n;
		err = command(true, "*");
		if (!err)
			break;
		KUNIT_ASSERT_EQ(test, err, -ENOMEM);
		KUNIT_ASSERT_EQ(test, filters(), 0U);
		KUNIT_ASSERT_EQ(test, call(0) + call(1), 0U);
		KUNIT_ASSERT_LT(test, n, 100);
	}
	KUNIT_EXPECT_GT(test, n, 2);
	KUNIT_EXPECT_EQ(test, call(0) + call(1), 2U);
}

static void off_without_memory(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, command(true, "*"), 0);
	world.left = 0;
	KUNIT_EXPECT_EQ(test, command(false, "*"), 0);
	KUNIT_EXPECT_EQ(test, filters(), 0U);
	KUNIT_EXPECT_EQ(test, call(0) + call(1), 0U);
}

/* ftrace goes on calling back for functions that it had no memory to take out of a filter. */
static void fewer_without_memory(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, command(true, "*"), 0);
	world.left = 0;
	KUNIT_EXPECT_EQ(test, command(false, "one"), 0);
	KUNIT_EXPECT_EQ(test, call(0), 0U);
	KUNIT_EXPECT_EQ(test, call(1), 1U);
	world.left = ENOUGH;
	KUNIT_EXPECT_EQ(test, command(true, "one"), 0);
	KUNIT_EXPECT_EQ(test, filters(), 2U);
	KUNIT_EXPECT_EQ(test, call(0), 1U);
	KUNIT_EXPECT_EQ(test, call(1), 1U);
	KUNIT_EXPECT_EQ(test, command(false, "*"), 0);
	KUNIT_EXPECT_EQ(test, filters(), 0U);
}

static struct kunit_case entry_cases[] = {
	KUNIT_CASE(on_and_off),
	KUNIT_CASE(on_without_memory),
	KUNIT_CASE(off_without_memory),
	KUNIT_CASE(fewer_without_memory),
	{}
};

static struct kunit_suite entry_suite = {
	.name = "jumpfunc-entry",
	.init = entry_suite_init,
	.exit = entry_suite_exit,
	.test_cases = entry_cases,
};
JFK_SUITES(&entry_suite);
