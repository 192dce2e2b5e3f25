// SPDX-License-Identifier: GPL-2.0
/* 1,024 tracepoints, many_000 to many_3ff, sixteen in each of 64 functions. */
#include <linux/module.h>

#include <jumpfunc/tracepoint.h>

#define FOR_16(what, p)							\
	what(p##0) what(p##1) what(p##2) what(p##3)			\
	what(p##4) what(p##5) what(p##6) what(p##7)			\
	what(p##8) what(p##9) what(p##a) what(p##b)			\
	what(p##c) what(p##d) what(p##e) what(p##f)
/* The preprocessor expands no macro inside itself. */
#define FOR_EACH_16(what, p)						\
	what(p##0) what(p##1) what(p##2) what(p##3)			\
	what(p##4) what(p##5) what(p##6) what(p##7)			\
	what(p##8) what(p##9) what(p##a) what(p##b)			\
	what(p##c) what(p##d) what(p##e) what(p##f)

#define DEFINE(n)							\
	DECLARE_JF_TRACE(many_##n, JF_PROTO(unsigned long a), JF_ARGS(a)); \
	DEFINE_JF_TRACE(many_##n);
#define HIT(n)		jf_trace_many_##n(a);
#define ROOM(p)								\
	FOR_16(DEFINE, p)						\
	static noinline void hit_##p(unsigned long a)			\
	{								\
		FOR_16(HIT, p)						\
	}
#define CALL(p)		hit_##p(a);

FOR_EACH_16(ROOM, 0)
FOR_EACH_16(ROOM, 1)
FOR_EACH_16(ROOM, 2)
FOR_EACH_16(ROOM, 3)

static int hit_set(const char *val, const struct kernel_param *kp)
{
	unsigned long a;
	int err = kstrtoul(val, 0, &a);

	if (err)
		return err;
	while (a--) {
		FOR_EACH_16(CALL, 0)
		FOR_EACH_16(CALL, 1)
		FOR_EACH_16(CALL, 2)
		FOR_EACH_16(CALL, 3)
	}
	return 0;
}

static const struct kernel_param_ops hit_ops = { .set = hit_set };
module_param_cb(hit, &hit_ops, NULL, 0200);
MODULE_PARM_DESC(hit, "hit all of them so often");

static int __init many_init(void)
{
	return 0;
}

static void __exit many_exit(void)
{
}

module_init(many_init);
module_exit(many_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("1,024 tracepoints");
