// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program in standard C, or C++, that uses every macro of the public headers, and most of
 * the functions. standards.sh compiles it in each standard, with all warnings for errors. 0: it
 * works, too.
 */
#include <errno.h>

#include <jumpfunc/batch.h>
#include <jumpfunc/list.h>
#include <jumpfunc/stats.h>

#define JF_TRACE_PROVIDER standards
#include "standards.h"
#include <jumpfunc/sdt.h>

#ifdef __cplusplus
#include <jumpfunc/batch.hh>
#include <jumpfunc/key.hh>
#endif

IMPORT_JF_KEY(other_key);
IMPORT_JF_KEY(other_key_gpl);
/* In C: standards_arrays.c. */
DECLARE_JF_KEY_ARRAY(off_keys, 3);
DECLARE_JF_KEY_ARRAY_TRUE(on_keys, 3);
IMPORT_DYNFUNC(other_func, other_one);
IMPORT_DYNFUNC(other_func_gpl, other_gpl);
IMPORT_JF_TRACE(other_rx);
IMPORT_JF_TRACE(other_rx_gpl);
IMPORT_JF_TRACE_CALL(other_tick);
IMPORT_JF_TRACE_CALL(other_tick_gpl);

DEFINE_JF_KEY_FALSE(off_key);
DEFINE_JF_KEY_TRUE(on_key);
static DEFINE_JF_KEY_FALSE(static_key);
DEFINE_JF_KEY_FALSE_RO(off_ro_key);
DEFINE_JF_KEY_TRUE_RO(on_ro_key);

static int one(int i)
{
	return i + 1;
}

static int two(int i)
{
	return i + 2;
}

static long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, double j)
{
	return a + b + c + d + e + f + g + h + i + (long)j;
}

static int fired;

static void fires(void)
{
	fired++;
}

DEFINE_DYNFUNC(adds, one);
DYNFUNC_TARGETS(adds, one, two);
DEFINE_DYNFUNC(has_many, many);
DEFINE_DYNFUNC_NULL(hooked, fires);
DEFINE_DYNFUNC_RET0(filtered, one);

DECLARE_JF_TRACE(rx, JF_PROTO(int *sum, int i), JF_ARGS(sum, i));
DEFINE_JF_TRACE(rx);
DECLARE_JF_TRACE_NOARGS(tick);
DEFINE_JF_TRACE(tick);
DECLARE_JF_TRACE(wide,
	JF_PROTO(int *sum, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l),
	JF_ARGS(sum, b, c, d, e, f, g, h, i, j, k, l));
DEFINE_JF_TRACE(wide);

static void adds_up(void *data, int *sum, int i)
{
	(void)data;
	*sum += i;
}

static void ticks(void *data)
{
	++*(int *)data;
}

static void is_wide(void *data, int *sum, int b, int c, int d, int e, int f, int g, int h, int i, int j,
		    int k, int l)
{
	(void)data;
	*sum += b + c + d + e + f + g + h + i + j + k + l;
}

static int called;

static void callback(struct jf_quiesce_head *head)
{
	(void)head;
	called = 1;
}

#define MUST(condition)		do { if (!(condition)) return __LINE__; } while (0)

static int uses_keys(void)
{
	MUST(!jf_branch_unlikely(&off_key) && jf_branch_likely(&on_key));
	MUST(!jf_branch_unlikely(&off_ro_key) && jf_branch_likely(&on_ro_key));
	/* As any other in a program. */
	MUST(!jf_key_enable(&off_ro_key) && jf_branch_unlikely(&off_ro_key));
	MUST(!jf_key_disable(&on_ro_key) && !jf_branch_likely(&on_ro_key));
	MUST(jf_branch_likely(&other_key) && !jf_branch_unlikely(&other_key_gpl));
	MUST(!jf_branch_unlikely(&other_keys[3]) && jf_branch_likely(&other_keys_gpl[3]));
	MUST(!jf_key_enable(&off_key) && jf_branch_unlikely(&off_key));
	MUST(!jf_key_disable(&off_key) && !jf_branch_unlikely(&off_key));
	MUST(!jf_key_inc(&static_key) && jf_branch_unlikely(&static_key));
	MUST(!jf_key_dec(&static_key) && !jf_branch_unlikely(&static_key));
	MUST(!jf_branch_unlikely(&off_keys[1]) && jf_branch_likely(&on_keys[2]));
	MUST(!jf_key_enable(&other_keys[3]) && jf_branch_unlikely(&other_keys[3]));
	MUST(!jf_key_disable(&other_keys[3]));
	return 0;
}

static int uses_functions(void)
{
	struct jf_batch b;

	MUST(dynfunc_call(adds, 1) == 2 && dynfunc_adds(1) == 2);
	MUST(dynfunc_call(adds, dynfunc_call(adds, dynfunc_call(adds, 1))) == 4);
	MUST(dynfunc_call(has_many, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.5) == 55);
	dynfunc_call(hooked);
	MUST(dynfunc_call(filtered, 1) == 0 && !dynfunc_query(filtered));
	MUST(!dynfunc_update(adds, two) && dynfunc_call(adds, 1) == 3);
	MUST(dynfunc_query(adds) == (void *)(uintptr_t)two);
	MUST(dynfunc_call(other_func, 1) == 2 && dynfunc_call(other_func_gpl, 1) == 3);
	jf_batch_init(&b);
	MUST(!dynfunc_batch_set(&b, hooked, fires) && !jf_key_batch_set(&b, &off_key, true));
	MUST(!jf_batch_commit(&b));
	dynfunc_call(hooked);
	MUST(fired == 1 && jf_branch_unlikely(&off_key));
	MUST(!dynfunc_update(hooked, NULL));
	jf_batch_init(&b);
	jf_batch_abort(&b);
	return 0;
}

static int uses_tracepoints(void)
{
	int sum = 0, n = 0;

	MUST(!register_jf_trace_rx(adds_up, NULL) && jf_trace_rx_enabled());
	MUST(!register_jf_trace_prio_tick(ticks, &n, JF_TRACE_PRIO_DEFAULT + 1));
	MUST(!register_jf_trace_wide(is_wide, NULL));
	MUST(!register_jf_trace_other_rx(adds_up, NULL));
	MUST(!register_jf_trace_other_rx_gpl(adds_up, NULL));
	jf_trace_rx(&sum, 1);
	jf_trace(rx, &sum, 2);
	jf_trace_tick();
	jf_trace(tick);
	jf_trace_wide(&sum, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
	jf_trace(wide, &sum, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
	jf_trace_other_rx(&sum, 100);
	jf_trace(other_rx_gpl, &sum, 100);
	jf_trace_other_tick();
	jf_trace(other_tick_gpl);
	MUST(sum == 225 && n == 2 && JF_TRACE_CHAIN_MAX >= 2);
	MUST(!unregister_jf_trace_rx(adds_up, NULL) && !unregister_jf_trace_tick(ticks, &n));
	MUST(!unregister_jf_trace_wide(is_wide, NULL));
	MUST(!unregister_jf_trace_other_rx(adds_up, NULL));
	MUST(!unregister_jf_trace_other_rx_gpl(adds_up, NULL));
	return 0;
}

static int uses_batches_of_probes(void)
{
	struct jf_batch b;
	int sum = 0, n = 0;

	jf_batch_init(&b);
	MUST(!jf_trace_batch_register(&b, rx, adds_up, NULL, JF_TRACE_PRIO_DEFAULT));
	MUST(!jf_trace_batch_register(&b, tick, ticks, &n, JF_TRACE_PRIO_DEFAULT));
	MUST(!jf_trace_batch_register(&b, other_rx, adds_up, NULL, 3));
	MUST(!jf_batch_commit(&b));
	jf_trace_rx(&sum, 1);
	jf_trace_tick();
	jf_trace_other_rx(&sum, 2);
	MUST(sum == 3 && n == 1);
	MUST(!jf_trace_batch_unregister(&b, rx, adds_up, NULL));
	MUST(!jf_trace_batch_unregister(&b, tick, ticks, &n));
	MUST(!jf_trace_batch_unregister(&b, other_rx, adds_up, NULL));
	MUST(!jf_batch_commit(&b) && !jf_trace_rx_enabled());
	return 0;
}

static int counts(const struct jf_info *info, void *arg)
{
	if (info->kind == JF_KIND_KEY && info->key == &off_key)
		++*(int *)arg;
	return 0;
}

static int uses_names(void)
{
	struct jf_batch b;
	int found = 0;

	MUST(!jf_list(counts, &found) && found == 1);
	MUST(jf_keys_set("off_key", true) == 1 && jf_branch_unlikely(&off_key));
	jf_batch_init(&b);
	MUST(jf_keys_batch_set(&b, "off_ke?", false) == 1 && !jf_batch_commit(&b));
	MUST(!jf_branch_unlikely(&off_key) && jf_keys_set("of_key", true) == -ENOENT);
	return 0;
}

static void subscriber(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	unsigned int known = JF_SDT_SIZE | JF_SDT_SIGNED | JF_SDT_FLOAT;

	*(bool *)data = sdt->version == JF_SDT_VERSION && words && !(sdt->code[0] & ~known);
}

static int sees_sdt(const struct jf_sdt_info *info, void *arg)
{
	++*(int *)arg;
	return !info->name;
}

/* There are none. */
static int subscribes(void)
{
	bool told = false;
	int num = 0;

	MUST(jf_sdt_register("*", subscriber, &told) == -ENOENT);
	MUST(jf_sdt_unregister("*", subscriber, &told) == -ENOENT);
	MUST(!jf_sdt_list(sees_sdt, &num) && !num && !told);
	return 0;
}

static int waits(void)
{
	static struct jf_quiesce_head head;
	struct jf_stats s;

	jf_read_lock();
	jf_read_unlock();
	jf_quiesce();
	MUST(!jf_quiesce_timeout(1000));
	jf_call_quiesced(&head, callback);
	jf_quiesce_barrier();
	MUST(called);
	jf_stats_get(&s, sizeof(s));
	MUST(s.keys >= 5);
	return 0;
}

#ifdef __cplusplus
static int uses_classes(void)
{
	jumpfunc::batch b;

	{
		jumpfunc::key_user user(static_key);
		jumpfunc::read_section section;

		MUST(jf_branch_unlikely(&static_key));
	}
	b.set(off_key, false).set(static_key, true);
	MUST(!dynfunc_batch_set(b.get(), adds, one));
	b.commit();
	MUST(jf_branch_unlikely(&static_key) && !jf_branch_unlikely(&off_key));
	MUST(dynfunc_call(adds, 1) == 2);
	return 0;
}
#endif

int main(void)
{
	int line = uses_keys();

	line = line ? line : uses_functions();
	line = line ? line : uses_tracepoints();
	line = line ? line : uses_batches_of_probes();
	line = line ? line : uses_names();
	line = line ? line : subscribes();
	line = line ? line : waits();
#ifdef __cplusplus
	line = line ? line : uses_classes();
#endif
	return line > 255 ? 255 : line;
}
