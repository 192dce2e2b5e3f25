// SPDX-License-Identifier: GPL-2.0
/*
 * The cost to become a user of a key that has another one, and to leave it again: no text changes.
 * How often it was done shows in the sum; that each of it counted, in the result of the next: a
 * user too many is refused, and one who is the last takes the key away.
 */
#include "bench.h"

#include <linux/jump_label.h>

static DEFINE_JF_KEY_FALSE(jfb_shared);
static DEFINE_STATIC_KEY_FALSE(kernel_shared);

/* The body adds one to x, if all that it did succeeded. */
#define USERS(name, body)						\
static noinline notrace __aligned(64) unsigned long			\
name(const struct jfb_row *row, unsigned long n, unsigned long x)	\
{									\
	for (; n; n--) {						\
		body;							\
	}								\
	return x;							\
}

USERS(users_loop, JFB_ADD(x))
USERS(users_lock_free, x += !jf_key_inc(&jfb_shared) +
			    !jf_key_dec(&jfb_shared) - 1)
/* It is enabled already, which only the lock's holder may know for sure. */
USERS(users_mutex, x += !jf_key_enable(&jfb_shared) +
			!jf_key_enable(&jfb_shared) - 1)
/* These have no result on all kernels. */
USERS(users_static, static_branch_inc(&kernel_shared);
		    static_branch_dec(&kernel_shared); x++)

static bool check(const struct jfb_row *row, unsigned long n, unsigned long x,
		  unsigned long y)
{
	return y == x + n && jf_key_count(&jfb_shared) == 1 &&
	       static_key_count(&kernel_shared.key) == 1;
}

static const struct jfb_row rows[] = {
	{ "none", "the loop alone, subtracted below", 1, 0, JFB_LOOP,
	  users_loop, check },
	{ "inc-dec", "jf_key_inc(), jf_key_dec(), with another user", 1, 0,
	  JFB_BASE | JFB_SLEEPS, users_lock_free, check },
	{ "enable-twice", "jf_key_enable() twice, enabled already: the mutex",
	  1, 0, JFB_SLEEPS, users_mutex, check },
	{ "static-inc-dec", "static_branch_inc(), _dec(), with another user",
	  1, 0, JFB_SLEEPS, users_static, check },
};

static int prepare(void)
{
	int err = jf_key_inc(&jfb_shared);

	if (!err)
		static_branch_inc(&kernel_shared);
	return err;
}

static void finish(void)
{
	int err = jf_key_dec(&jfb_shared);

	if (err)
		pr_warn("a user of a key cannot be taken away (%d); it stays until the module goes\n",
			err);
	static_branch_dec(&kernel_shared);
}

const struct jfb_suite jfb_keys = {
	.name	= "keys",
	.group	= "users",
	.title	= "one more user of a key, and one less",
	.rows	= rows,
	.num	= ARRAY_SIZE(rows),
	.prepare = prepare,
	.finish	= finish,
};
