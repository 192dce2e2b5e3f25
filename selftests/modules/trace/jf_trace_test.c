// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of static-call tracepoints that run one at a time: arguments, data, order
 * of probes, errors, targets of the call, stack traces, kprobes on images.
 *
 * /sys/kernel/debug/jf_trace_test/
 *   run	write the name of a test; the write fails with EIO if the test does,
 *		and the kernel log says why
 *   tests	their names
 *
 * Every probe can check everything by itself. Its data is a cookie that says
 * which function it belongs to and which tracepoint. Of the arguments, the first
 * is a seed from which the others follow.
 */
#include <linux/debugfs.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include <jumpfunc/tracepoint.h>

#include "../files.h"
#include "jf_trace_test.h"

#define MAX_PROBES	24
#define MAGIC		0x6a66c00c1e000000UL

DEFINE_JF_TRACE(tt0);
DEFINE_JF_TRACE(tt1);
DEFINE_JF_TRACE(tt3);
DEFINE_JF_TRACE(tt5);
DEFINE_JF_TRACE(tt6);
DEFINE_JF_TRACE(tt12);
EXPORT_JF_TRACE_GPL(tt1);
EXPORT_JF_TRACE_GPL(tt3);

/* The data of probes. */
struct cookie {
	unsigned long magic;
	unsigned int tp, func, id;
	unsigned int hits;
};

static struct cookie cookies[MAX_PROBES];
/* Ids of the probes in the order in which they ran. */
static unsigned int order[MAX_PROBES], ran;
static unsigned int bad;
static DEFINE_MUTEX(run_mutex);

#define complain(fmt, args...)						\
do {									\
	if (bad++ < 20)							\
		pr_err("jf_trace_test: " fmt "\n", ##args);		\
} while (0)

static void hit(struct cookie *c, unsigned int tp, unsigned int func)
{
	if (c < cookies || c >= cookies + MAX_PROBES || c->magic != MAGIC + c->id) {
		complain("tracepoint %u: the data of a probe is no cookie: %p", tp, c);
		return;
	}
	if (c->tp != tp || c->func != func)
		complain("probe %u of tracepoint %u got the data of probe %u of tracepoint %u",
			 func, tp, c->func, c->tp);
	c->hits++;
	if (ran < MAX_PROBES)
		order[ran] = c->id;
	ran++;
}

/* Argument number @i, of type @type, must follow from the seed. */
#define WANT(seed, i, type)	((type)TT_ARG(seed, i))
#define EXPECT(tp, seed, i, arg)					\
do {									\
	if ((arg) != WANT(seed, i, typeof(arg)))			\
		complain("tracepoint %u: argument %u is %llx, not %llx", tp, i, \
			 (u64)(unsigned long)(arg),			\
			 (u64)(unsigned long)WANT(seed, i, typeof(arg))); \
} while (0)

/* Several functions for each tracepoint: a function must see its own data. */
#define PROBES(n)							\
static void p0_##n(void *data)						\
{									\
	hit(data, 0, n);						\
}									\
static void p1_##n(void *data, int a)					\
{									\
	hit(data, 1, n);						\
	EXPECT(1, 7, 1, a);						\
}									\
static void p3_##n(void *data, u64 seed, void *b, s8 c)			\
{									\
	hit(data, 3, n);						\
	EXPECT(3, seed, 2, b);						\
	EXPECT(3, seed, 3, c);						\
}									\
static void p5_##n(void *data, u64 seed, short b, bool c, long d, const char *e) \
{									\
	hit(data, 5, n);						\
	EXPECT(5, seed, 2, b);						\
	EXPECT(5, seed, 3, c);						\
	EXPECT(5, seed, 4, d);						\
	EXPECT(5, seed, 5, e);						\
}									\
static void p6_##n(void *data, u64 seed, int b, int c, int d, int e, int f) \
{									\
	hit(data, 6, n);						\
	EXPECT(6, seed, 2, b);						\
	EXPECT(6, seed, 3, c);						\
	EXPECT(6, seed, 4, d);						\
	EXPECT(6, seed, 5, e);						\
	EXPECT(6, seed, 6, f);						\
}									\
static void p12_##n(void *data, u64 seed, u64 b, u64 c, int d, void *e, u64 f, \
		    s8 g, u16 h, long i, bool j, void *k, u64 l)	\
{									\
	hit(data, 12, n);						\
	EXPECT(12, seed, 2, b);						\
	EXPECT(12, seed, 3, c);						\
	EXPECT(12, seed, 4, d);						\
	EXPECT(12, seed, 5, e);						\
	EXPECT(12, seed, 6, f);						\
	EXPECT(12, seed, 7, g);						\
	EXPECT(12, seed, 8, h);						\
	EXPECT(12, seed, 9, i);						\
	EXPECT(12, seed, 10, j);					\
	EXPECT(12, seed, 11, k);					\
	EXPECT(12, seed, 12, l);					\
}

PROBES(0)
PROBES(1)
PROBES(2)

static noinline void call0(u64 seed)
{
	jf_trace_tt0();
}

static noinline void call1(u64 seed)
{
	jf_trace_tt1(WANT(7, 1, int));
}

static noinline void call3(u64 s)
{
	jf_trace_tt3(s, WANT(s, 2, void *), WANT(s, 3, s8));
}

static noinline void call5(u64 s)
{
	jf_trace_tt5(s, WANT(s, 2, short), WANT(s, 3, bool), WANT(s, 4, long),
		     WANT(s, 5, const char *));
}

static noinline void call6(u64 s)
{
	jf_trace(tt6, s, WANT(s, 2, int), WANT(s, 3, int), WANT(s, 4, int),
		 WANT(s, 5, int), WANT(s, 6, int));
}

static noinline void call12(u64 s)
{
	jf_trace_tt12(s, WANT(s, 2, u64), WANT(s, 3, u64), WANT(s, 4, int),
		      WANT(s, 5, void *), WANT(s, 6, u64), WANT(s, 7, s8),
		      WANT(s, 8, u16), WANT(s, 9, long), WANT(s, 10, bool),
		      WANT(s, 11, void *), WANT(s, 12, u64));
}

#define ENTRY(n)							\
static int add##n(struct cookie *c, int prio)				\
{									\
	return c->func == 0 ? register_jf_trace_prio_tt##n(p##n##_0, c, prio) : \
	       c->func == 1 ? register_jf_trace_prio_tt##n(p##n##_1, c, prio) : \
			      register_jf_trace_prio_tt##n(p##n##_2, c, prio); \
}									\
static int del##n(struct cookie *c)					\
{									\
	return c->func == 0 ? unregister_jf_trace_tt##n(p##n##_0, c) :	\
	       c->func == 1 ? unregister_jf_trace_tt##n(p##n##_1, c) :	\
			      unregister_jf_trace_tt##n(p##n##_2, c);	\
}									\
static bool on##n(void) { return jf_trace_tt##n##_enabled(); }		\
static void *leads##n(void) { return dynfunc_query(__jf_tp_tt##n); }

ENTRY(0)
ENTRY(1)
ENTRY(3)
ENTRY(5)
ENTRY(6)
ENTRY(12)

static const struct tracepoint_ops {
	unsigned int	nargs;
	int		(*add)(struct cookie *c, int prio);
	int		(*del)(struct cookie *c);
	bool		(*on)(void);
	void		*(*leads)(void);
	void		(*call)(u64 seed);
} tps[] = {
#define OPS(n) { n, add##n, del##n, on##n, leads##n, call##n }
	OPS(0), OPS(1), OPS(3), OPS(5), OPS(6), OPS(12),
};

static void new_cookies(unsigned int nargs)
{
	unsigned int i;

	for (i = 0; i < MAX_PROBES; i++)
		cookies[i] = (struct cookie){
			.magic = MAGIC + i, .id = i, .tp = nargs, .func = i % 3,
		};
}

/* Call the tracepoint once: exactly the probes @want must run, in that order. */
static void call_and_check(const struct tracepoint_ops *tp, const unsigned int *want,
			   unsigned int num)
{
	static u64 seed = 0x123456789abcdefUL;
	unsigned int i;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	ran = 0;
	tp->call(seed);
	if (ran != num) {
		complain("tracepoint %u: %u probes ran, not %u", tp->nargs, ran, num);
		return;
	}
	for (i = 0; i < num; i++)
		if (order[i] != want[i])
			complain("tracepoint %u: probe %u ran as number %u, not probe %u",
				 tp->nargs, order[i], i, want[i]);
	if (tp->on() != (num > 0))
		complain("tracepoint %u with %u probes: enabled is %u", tp->nargs, num,
			 tp->on());
}

/* The target of the call is an image only if the back end writes text. */
static bool patches;

static void check_code(const struct tracepoint_ops *tp, unsigned int num)
{
	char name[KSYM_SYMBOL_LEN] = "";
	const char *want = "__jf_iter_";
	void *to = tp->leads();

	if (!num) {
		if (to)
			complain("tracepoint %u without probes leads to %ps", tp->nargs, to);
		return;
	}
	if (patches && num == 1)
		want = "jf_single_";
	else if (patches && num <= JF_TRACE_CHAIN_MAX)
		want = "jf_chain_";
	snprintf(name, sizeof(name), "%ps", to);
	if (strncmp(name, want, strlen(want)))
		complain("tracepoint %u with %u probes leads to %s, not %s...", tp->nargs,
			 num, name, want);
}

static void must(int err, int want, const char *what, unsigned int nargs, unsigned int num)
{
	if (err != want)
		complain("tracepoint %u with %u probes: %s gave %d, not %d", nargs, num, what,
			 err, want);
}

/* --- tests ------------------------------------------------------------- */

/* 0 -> 1 -> ... -> 18 -> ... -> 0, the removals in three orders. */
static void test_counts(void)
{
	unsigned int t, i, way, now[MAX_PROBES], n, max = JF_TRACE_CHAIN_MAX + 2;

	for (t = 0; t < ARRAY_SIZE(tps); t++) {
		const struct tracepoint_ops *tp = &tps[t];

		for (way = 0; way < 3; way++) {
			new_cookies(tp->nargs);
			call_and_check(tp, now, 0);
			for (n = 0; n < max; ) {
				must(tp->add(&cookies[n], JF_TRACE_PRIO_DEFAULT), 0,
				     "register", tp->nargs, n);
				now[n] = n;
				n++;
				call_and_check(tp, now, n);
				check_code(tp, n);
			}
			while (n) {
				/* the last one, the first one, one in the middle */
				i = way == 0 ? n - 1 : way == 1 ? 0 : n / 2;
				must(tp->del(&cookies[now[i]]), 0, "unregister",
				     tp->nargs, n);
				n--;
				memmove(now + i, now + i + 1, (n - i) * sizeof(*now));
				call_and_check(tp, now, n);
				check_code(tp, n);
			}
		}
	}
}

static void test_priorities(void)
{
	static const int prios[] = { 10, 5, 20, 10, -1, 20, 5, INT_MAX, INT_MIN };
	static const unsigned int want[] = { 7, 2, 5, 0, 3, 1, 6, 4, 8 };
	unsigned int t, i;

	for (t = 0; t < ARRAY_SIZE(tps); t++) {
		const struct tracepoint_ops *tp = &tps[t];

		new_cookies(tp->nargs);
		for (i = 0; i < ARRAY_SIZE(prios); i++)
			must(tp->add(&cookies[i], prios[i]), 0, "register", tp->nargs, i);
		call_and_check(tp, want, ARRAY_SIZE(want));
		for (i = 0; i < ARRAY_SIZE(prios); i++)
			must(tp->del(&cookies[i]), 0, "unregister", tp->nargs, i);
		call_and_check(tp, want, 0);
	}
}

static void test_errors(void)
{
	static const unsigned int want[] = { 0, 1 };
	unsigned int t;

	for (t = 0; t < ARRAY_SIZE(tps); t++) {
		const struct tracepoint_ops *tp = &tps[t];

		new_cookies(tp->nargs);
		must(tp->del(&cookies[0]), -ENOENT, "unregister of nothing", tp->nargs, 0);
		must(tp->add(&cookies[0], 1), 0, "register", tp->nargs, 0);
		must(tp->add(&cookies[0], 1), -EEXIST, "a second register", tp->nargs, 1);
		must(tp->add(&cookies[0], 2), -EEXIST, "one with another priority", tp->nargs, 1);
		must(tp->del(&cookies[1]), -ENOENT, "unregister of another", tp->nargs, 1);
		call_and_check(tp, want, 1);
		must(tp->add(&cookies[1], 1), 0, "register", tp->nargs, 1);
		must(tp->add(&cookies[1], 1), -EEXIST, "a second register", tp->nargs, 2);
		must(tp->del(&cookies[2]), -ENOENT, "unregister of another", tp->nargs, 2);
		call_and_check(tp, want, 2);
		must(tp->del(&cookies[0]), 0, "unregister", tp->nargs, 2);
		must(tp->del(&cookies[0]), -ENOENT, "a second unregister", tp->nargs, 1);
		must(tp->del(&cookies[1]), 0, "unregister", tp->nargs, 1);
		call_and_check(tp, want, 0);
	}
	must(register_jf_trace_tt0(NULL, NULL), -EINVAL, "register of NULL", 0, 0);
}

/* Arguments of jf_trace() are evaluated while there are probes, and only then. */
static void test_lazy(void)
{
	unsigned int n = 0;

	new_cookies(1);
	jf_trace(tt1, (n++, WANT(7, 1, int)));
	if (n)
		complain("jf_trace() evaluated its argument while off");
	must(add1(&cookies[0], 1), 0, "register", 1, 0);
	jf_trace(tt1, (n++, WANT(7, 1, int)));
	if (n != 1 || cookies[0].hits != 1)
		complain("jf_trace() evaluated its argument %u times, %u hits", n,
			 cookies[0].hits);
	must(del1(&cookies[0]), 0, "unregister", 1, 1);
}

/* --- more tracepoints than images -------------------------------------- */

/* Those for more arguments than there are registers; see image.h of each architecture. */
#define POOL_IMAGES	16
#define POOL_TPS	20

#define POOL_PROTO	JF_PROTO(u64 seed, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
#define POOL_ARGS	JF_ARGS(seed, b, c, d, e, f, g, h)

#define POOL_ALL(x)							\
	x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11)	\
	x(12) x(13) x(14) x(15) x(16) x(17) x(18) x(19)

#define POOL_DEFINE(n)							\
DECLARE_JF_TRACE(tq##n, POOL_PROTO, POOL_ARGS);				\
DEFINE_JF_TRACE(tq##n);						\
static int tq_add##n(void *data)					\
{									\
	return register_jf_trace_tq##n(pool_probe, data);		\
}									\
static int tq_del##n(void *data)					\
{									\
	return unregister_jf_trace_tq##n(pool_probe, data);		\
}									\
static void tq_call##n(u64 s)						\
{									\
	jf_trace_tq##n(s, WANT(s, 2, u64), WANT(s, 3, u64), WANT(s, 4, u64), \
		       WANT(s, 5, u64), WANT(s, 6, u64),		\
		       WANT(s, 7, u64), WANT(s, 8, u64));		\
}									\
static void *tq_leads##n(void) { return dynfunc_query(__jf_tp_tq##n); }

struct pool_cookie {
	unsigned int hits;
};
static struct pool_cookie pool_cookies[POOL_TPS][2];

static void pool_probe(void *data, u64 seed, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	struct pool_cookie *p = data;

	if (p < pool_cookies[0] || p > &pool_cookies[POOL_TPS - 1][1]) {
		complain("pool: the data of a probe is no cookie: %p", p);
		return;
	}
	p->hits++;
	EXPECT(8, seed, 2, b);
	EXPECT(8, seed, 3, c);
	EXPECT(8, seed, 4, d);
	EXPECT(8, seed, 5, e);
	EXPECT(8, seed, 6, f);
	EXPECT(8, seed, 7, g);
	EXPECT(8, seed, 8, h);
}

POOL_ALL(POOL_DEFINE)

static const struct {
	int	(*add)(void *data);
	int	(*del)(void *data);
	void	(*call)(u64 seed);
	void	*(*leads)(void);
} pool[POOL_TPS] = {
#define POOL_OPS(n) { tq_add##n, tq_del##n, tq_call##n, tq_leads##n },
	POOL_ALL(POOL_OPS)
};

/* Each of the @num probes of tracepoint @t runs once for each hit. */
static void pool_check(unsigned int t, unsigned int num)
{
	unsigned int i;

	pool_cookies[t][0].hits = pool_cookies[t][1].hits = 0;
	pool[t].call(t + 1);
	for (i = 0; i < 2; i++)
		if (pool_cookies[t][i].hits != (i < num))
			complain("pool: probe %u of tracepoint %u of %u ran %u times", i, t,
				 POOL_TPS, pool_cookies[t][i].hits);
}

static bool pool_iterates(unsigned int t)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", pool[t].leads());
	return !strncmp(name, "__jf_iter_", 10);
}

static void test_pool(void)
{
	unsigned int t, iter = 0;

	for (t = 0; t < POOL_TPS; t++) {
		must(pool[t].add(&pool_cookies[t][0]), 0, "register", 8, 0);
		pool_check(t, 1);
		must(pool[t].add(&pool_cookies[t][1]), 0, "register", 8, 1);
		pool_check(t, 2);
	}
	for (t = 0; t < POOL_TPS; t++) {
		pool_check(t, 2);
		iter += pool_iterates(t);
	}
	if (patches && iter != POOL_TPS - POOL_IMAGES)
		complain("pool: %u of %u tracepoints are served by the iterator, not %u", iter,
			 POOL_TPS, POOL_TPS - POOL_IMAGES);
	/* The last one gets a chain, as soon as another one has none any more. */
	if (patches && !pool_iterates(POOL_TPS - 1))
		complain("pool: the last one got an image");
	must(pool[0].del(&pool_cookies[0][1]), 0, "unregister", 8, 2);
	pool_check(0, 1);
	must(pool[POOL_TPS - 1].del(&pool_cookies[POOL_TPS - 1][1]), 0, "unregister", 8, 2);
	pool_check(POOL_TPS - 1, 1);
	must(pool[POOL_TPS - 1].add(&pool_cookies[POOL_TPS - 1][1]), 0, "register", 8, 1);
	pool_check(POOL_TPS - 1, 2);
	if (patches && pool_iterates(POOL_TPS - 1))
		complain("pool: no chain although one was given back");

	must(pool[0].del(&pool_cookies[0][0]), 0, "unregister", 8, 1);
	for (t = 1; t < POOL_TPS; t++) {
		must(pool[t].del(&pool_cookies[t][1]), 0, "unregister", 8, 2);
		pool_check(t, 1);
		must(pool[t].del(&pool_cookies[t][0]), 0, "unregister", 8, 1);
		pool_check(t, 0);
	}
}

#if JF_HAVE_PATCHING
#ifdef CONFIG_X86_64
#include <asm/unwind.h>
#endif

static unsigned long stack[64];
static unsigned int depth;
static bool reliable = true;

/* On x86 as the kernel does it where it has to be sure, for live patching. */
static noinline void take_stack(void)
{
#ifdef CONFIG_X86_64
	struct unwind_state state;
#endif

	depth = stack_trace_save(stack, ARRAY_SIZE(stack), 0);
#ifdef CONFIG_X86_64
	for (unwind_start(&state, current, NULL, NULL);
	     !unwind_done(&state) && !unwind_error(&state);
	     unwind_next_frame(&state))
		if (!unwind_get_return_address(&state) &&
		    !unwind_get_entry_regs(&state, NULL))
			break;
	reliable = unwind_done(&state) && !unwind_error(&state);
#endif
}

static noinline void stack3(void *data, u64 seed, void *b, s8 c)
{
	take_stack();
	barrier();
}

static noinline void stack12(void *data, u64 seed, u64 b, u64 c, int d, void *e,
			     u64 f, s8 g, u16 h, long i, bool j, void *k, u64 l)
{
	take_stack();
	barrier();
}

/* The functions @want must be on the stack, next to each other. */
static void check_stack(const char *what, const char *const *want, unsigned int num)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned int i, j;

	for (i = 0; i + num <= depth; i++) {
		for (j = 0; j < num; j++) {
			snprintf(name, sizeof(name), "%ps", (void *)stack[i + j]);
			if (strncmp(name, want[j], strlen(want[j])))
				break;
		}
		if (j == num)
			break;
	}
	if (i + num > depth || !reliable) {
		complain("%s: the stack is %s, and not as expected:", what,
			 reliable ? "reliable" : "not reliable");
		for (i = 0; i < depth; i++)
			pr_err("jf_trace_test:   %pS\n", (void *)stack[i]);
	}
}

static void test_stack(void)
{
	static const char *const single3[] = { "stack3", "call3", "test_stack" };
	static const char *const chain3[] = { "stack3", "jf_chain_", "call3", "test_stack" };
	static const char *const iter3[] = { "stack3", "__jf_iter_tt3", "call3", "test_stack" };
	static const char *const single12[] = { "stack12", "call12", "test_stack" };
	static const char *const chain12[] = { "stack12", "jf_chain_", "call12", "test_stack" };
	static const char *const iter12[] = { "stack12", "__jf_iter_tt12", "call12", "test_stack" };
	unsigned int i;

	new_cookies(3);
	must(register_jf_trace_tt3(stack3, NULL), 0, "register", 3, 0);
	call3(1);
	if (patches)
		check_stack("one probe", single3, 3);
	else
		check_stack("one probe", iter3, 4);
	/* As the first, in the middle and as the last of a chain. */
	for (i = 0; i < JF_TRACE_CHAIN_MAX; i++) {
		must(add3(&cookies[i], i & 1 ? 20 : 5), 0, "register", 3, i);
		call3(1);
		check_stack("chain", patches && i < JF_TRACE_CHAIN_MAX - 1 ? chain3 : iter3, 4);
	}
	while (i--)
		must(del3(&cookies[i]), 0, "unregister", 3, i);
	must(unregister_jf_trace_tt3(stack3, NULL), 0, "unregister", 3, 1);

	new_cookies(12);
	must(register_jf_trace_tt12(stack12, NULL), 0, "register", 12, 0);
	call12(1);
	if (patches)
		check_stack("one probe of 12 arguments", single12, 3);
	else
		check_stack("one probe of 12 arguments", iter12, 4);
	for (i = 0; i < 3; i++) {
		must(add12(&cookies[i], i & 1 ? 20 : 5), 0, "register", 12, i);
		call12(1);
		check_stack("chain of 12 arguments", patches ? chain12 : iter12, 4);
	}
	while (i--)
		must(del12(&cookies[i]), 0, "unregister", 12, i);
	must(unregister_jf_trace_tt12(stack12, NULL), 0, "unregister", 12, 1);
}

/*
 * A kprobe copies the instruction under it as it is registered, and an image is
 * written again for other probes: there must be none on any byte of it.
 */
static void no_kprobe(const char *what, u8 *image, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++) {
		struct kprobe p = { .addr = (void *)(image + i) };

		if (register_kprobe(&p))
			continue;
		complain("%s: a kprobe on byte %u of the image", what, i);
		unregister_kprobe(&p);
	}
}

static void test_kprobes(void)
{
	unsigned int i;

	if (!patches)
		return;
	new_cookies(3);
	must(add3(&cookies[0], 0), 0, "register", 3, 0);
	no_kprobe("one probe", leads3(), 15);
	for (i = 1; i < 3; i++)
		must(add3(&cookies[i], 0), 0, "register", 3, i);
	no_kprobe("chain", leads3(), 120);
	while (i--)
		must(del3(&cookies[i]), 0, "unregister", 3, i);

	new_cookies(12);
	for (i = 0; i < 2; i++)
		must(add12(&cookies[i], 0), 0, "register", 12, i);
	no_kprobe("chain of 12 arguments", leads12(), 200);
	while (i--)
		must(del12(&cookies[i]), 0, "unregister", 12, i);
}
#else
static void test_stack(void) { }
static void test_kprobes(void) { }
#endif

static const struct {
	const char	*name;
	void		(*run)(void);
} tests[] = {
	{ "counts", test_counts },
	{ "priorities", test_priorities },
	{ "errors", test_errors },
	{ "lazy", test_lazy },
	{ "stack", test_stack },
	{ "kprobes", test_kprobes },
	{ "pool", test_pool },
};

/* --- debugfs ----------------------------------------------------------- */

static bool back_end_patches(void)
{
	char name[KSYM_SYMBOL_LEN];
	bool yes;

	new_cookies(0);
	if (add0(&cookies[0], 0))
		return false;
	snprintf(name, sizeof(name), "%ps", leads0());
	yes = strncmp(name, "__jf_iter_", 10);
	del0(&cookies[0]);
	return yes;
}

static ssize_t run_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	char buf[32], *name = test_command(buf, sizeof(buf), ubuf, len);
	ssize_t ret = -ENOENT;
	unsigned int i;

	if (IS_ERR(name))
		return PTR_ERR(name);
	mutex_lock(&run_mutex);
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (strcmp(name, tests[i].name))
			continue;
		bad = 0;
		patches = back_end_patches();
		tests[i].run();
		ret = bad ? -EIO : len;
	}
	mutex_unlock(&run_mutex);
	return ret;
}

static int tests_show(struct seq_file *m, void *v)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		seq_printf(m, "%s\n", tests[i].name);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tests);

TEST_WRITE_ONLY(run);

static struct dentry *dir;

static int __init tt_init(void)
{
	dir = debugfs_create_dir("jf_trace_test", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("tests", 0400, dir, NULL, &tests_fops);
	return 0;
}

static void __exit tt_exit(void)
{
	debugfs_remove_recursive(dir);
}

module_init(tt_init);
module_exit(tt_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests static-call tracepoints: arguments, data, order, errors, stack traces");
