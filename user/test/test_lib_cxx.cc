// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libjumpfunc in C++17: the table test that kernels are tested by, too; keys in
 * namespaces; inline functions and templates of which the linker keeps one copy;
 * a key that is on as long as an object lives; exceptions through a call.
 */
#include <errno.h>
#include <string.h>

#include <stdexcept>
#include <string>

#include <jumpfunc/key.hh>
#include <jumpfunc/stats.h>
#include <jumpfunc/tracepoint.h>

#include "selftests/vectors/table.h"
#include "tap.h"
#include "test_lib_cxx.h"

DEFINE_JF_KEY_FALSE(cxx_shared);

namespace one {
DEFINE_JF_KEY_FALSE(key);
static bool on() { return jf_branch_unlikely(&key); }
}

namespace two {
static DEFINE_JF_KEY_TRUE(key);
static bool on() { return jf_branch_likely(&key); }
}

static void table_fail(const char *what, const char *at, long got, long want)
{
	CHECK(got == want, "%s at '%s': %ld instead of %ld", what, at, got, want);
}

static void namespaces()
{
	CHECK(!one::on() && two::on(), "at first");
	CHECK(jf_key_enable(&one::key) == 0 && jf_key_disable(&two::key) == 0, "change");
	CHECK(one::on() && !two::on(), "changed");
	CHECK(jf_key_disable(&one::key) == 0, "change");
}

static void copies()
{
	CHECK(cxx_inline(1) == 1 && cxx_template(1L) == 1 && cxx_other(1) == 2, "off");
	CHECK(jf_key_enable(&cxx_shared) == 0, "enable");
	CHECK(cxx_inline(1) == 2 && cxx_template(1L) == 2 && cxx_template(1) == 2 &&
	      cxx_other(1) == 4 && cxx_address()(1) == 2, "on");
	CHECK(jf_key_disable(&cxx_shared) == 0 && cxx_address()(1) == 1, "off again");
}

static void header_key()
{
	CHECK(!jf_branch_unlikely(&cxx_header_key) && !cxx_other_on(), "off");
	CHECK(jf_key_enable(&cxx_header_key) == 0, "enable");
	CHECK(jf_branch_unlikely(&cxx_header_key) && cxx_other_on(), "on");
	CHECK(jf_key_disable(&cxx_header_key) == 0 && !cxx_other_on(), "off again");
}

static void raii()
{
	{
		jumpfunc::key_user a(one::key);

		CHECK(one::on() && jf_key_count(&one::key) == 1, "one user");
		{
			jumpfunc::key_user b(one::key), c(std::move(b));

			CHECK(jf_key_count(&one::key) == 2, "two users");
		}
		CHECK(one::on() && jf_key_count(&one::key) == 1, "one user again");
	}
	CHECK(!one::on(), "no user");
	try {
		jumpfunc::key_user a(one::key);

		throw 1;
	} catch (int) {
		CHECK(!one::on(), "after an exception");
	}
	/* A key of no table cannot be enabled. */
	try {
		struct jf_key foreign = { 0, 0, { "foreign", nullptr, JF_ENT_KEY, 0, nullptr } };
		jumpfunc::key_user a(foreign);

		CHECK(false, "no exception");
	} catch (const std::system_error &e) {
		CHECK(e.code().value() == ENODEV, "%s", e.what());
	}
}

static int thrower(int x) { if (x) throw std::runtime_error("x"); return 0; }
static int quiet(int) noexcept { return 7; }
DEFINE_DYNFUNC(cxx_op, thrower);

/* An object that is passed by reference lives until the whole expression is evaluated. */
struct witness {
	witness() { alive++; }
	~witness() { alive--; }
	static int alive;
};
int witness::alive;
static const int *look(const witness &w) { return &w.alive; }
static const int *stare(const witness &w) { return &w.alive; }
static int read(const int *i) { return *i; }
DEFINE_DYNFUNC(cxx_look, look);

static std::string copied(std::string s, double d) { return s + std::to_string(static_cast<int>(d)); }
static std::string reversed(std::string s, double d) { return std::to_string(static_cast<int>(d)) + s; }
DEFINE_DYNFUNC(cxx_string, copied);

static void objects()
{
	int got = read(dynfunc_call(cxx_look, witness()));

	CHECK(got == 1 && witness::alive == 0, "lifetime");
	CHECK(dynfunc_update(cxx_look, stare) == 0, "update");
	got = read(dynfunc_call(cxx_look, witness()));
	CHECK(got == 1 && witness::alive == 0, "lifetime");
	CHECK(dynfunc_call(cxx_string, "abc", 7.5) == "abc7", "as defined");
	CHECK(dynfunc_update(cxx_string, reversed) == 0, "update");
	CHECK(dynfunc_call(cxx_string, "abc", 7.5) == "7abc", "updated");
}

static void exceptions()
{
	int caught = 0;

	try {
		dynfunc_call(cxx_op, 1);
	} catch (const std::runtime_error &) {
		caught++;
	}
	CHECK(caught == 1, "through a trampoline");
	CHECK(dynfunc_update(cxx_op, quiet) == 0 && dynfunc_cxx_op(1) == 7, "update");
	CHECK(dynfunc_update(cxx_op, thrower) == 0, "update");
}

DECLARE_JF_TRACE(cxx_event, JF_PROTO(int a, const char *s), JF_ARGS(a, s));
DEFINE_JF_TRACE(cxx_event);

static void probe(void *data, int a, const char *s)
{
	*static_cast<int *>(data) += a + static_cast<int>(strlen(s));
}

static void tracepoint()
{
	int n = 0, m = 0;

	CHECK(register_jf_trace_cxx_event(probe, &n) == 0 &&
	      register_jf_trace_cxx_event(probe, &m) == 0, "register");
	jf_trace_cxx_event(1, "ab");
	jf_trace(cxx_event, 2, "abc");
	CHECK(n == 8 && m == 8, "%d, %d", n, m);
	CHECK(unregister_jf_trace_cxx_event(probe, &n) == 0 &&
	      unregister_jf_trace_cxx_event(probe, &m) == 0, "unregister");
	jf_trace_cxx_event(1, "ab");
	CHECK(n == 8, "off");
}

int main()
{
	jf_table_keys(table_fail);
	jf_table_funcs(table_fail);
	CHECK(true, "at least once");
	finish("the table test");
	namespaces();
	finish("keys in namespaces");
	copies();
	finish("inline functions and templates");
	header_key();
	finish("an inline key");
	raii();
	finish("jumpfunc::key_user");
	exceptions();
	finish("exceptions");
	objects();
	finish("objects as arguments and results");
	tracepoint();
	finish("tracepoints");
	return tap_end();
}
