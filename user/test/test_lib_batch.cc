// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* batch.hh: batches and read sections that end with their block. */
#include <jumpfunc/batch.hh>
#include <jumpfunc/stats.h>

#include <cerrno>

#include "tap.h"

static void expect(bool is, const char *what)
{
	CHECK(is, "not so");
	finish(what);
}

DEFINE_JF_KEY_FALSE(off_key);
DEFINE_JF_KEY_TRUE(on_key);

static int one(int x)
{
	return x + 1;
}

static int two(int x)
{
	return x + 2;
}

DEFINE_DYNFUNC(op, one);

/* Inline: its copies in several objects become one, with one record of its site. */
inline bool taken()
{
	return jf_branch_unlikely(&off_key);
}

template<int N> static int number()
{
	return jf_branch_likely(&on_key) ? N : -N;
}

static void batches()
{
	{
		jumpfunc::batch forgotten;

		forgotten.set(off_key, true);
	}
	expect(!taken(), "a batch without commit() changes nothing");
	jumpfunc::batch b;

	b.set(off_key, true).set(on_key, false);
	dynfunc_batch_set(b.get(), op, two);
	b.commit();
	expect(taken() && number<3>() == -3 && dynfunc_op(1) == 3, "commit() changes all of it");
	b.set(off_key, false).set(on_key, true);
	b.commit();
	expect(!taken() && number<3>() == 3 && dynfunc_op(1) == 3, "and can be used again");
	try {
		dynfunc_batch_set(b.get(), op, nullptr);
		b.commit();
		expect(false, "an error is thrown");
	} catch (const std::system_error &e) {
		expect(e.code().value() == EINVAL, "an error is thrown");
	}
	expect(dynfunc_op(1) == 3, "and nothing has changed");
}

int main()
{
	expect(!taken() && number<7>() == 7 && dynfunc_op(1) == 2, "as defined");
	batches();
	{
		jumpfunc::read_section in;

		expect(!taken(), "sites in a read section");
	}
	jf_quiesce();
	expect(true, "over: jf_quiesce() returns");
	return tap_end();
}
