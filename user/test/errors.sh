#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What compilers and linkers say of usual mistakes names the remedy.
# usage: errors.sh FOLDER, where make has built the library
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin
out=${1:?usage: errors.sh FOLDER}

cat > "$tmp/constant.c" <<'END'
#include <jumpfunc/branch.h>
DEFINE_JF_KEY_FALSE(debug_on);
bool with_key(struct jf_key *k) { return jf_branch_unlikely(k) || jf_branch_likely(k); }
END
cat > "$tmp/import.c" <<'END'
#include <jumpfunc/tracepoint.h>
DECLARE_JF_KEY(debug_on);
DECLARE_JF_KEY_ARRAY(debug_all, 2);
static int one(int x) { return x; }
DECLARE_DYNFUNC(op, one);
DECLARE_JF_TRACE(event, JF_PROTO(int x), JF_ARGS(x));
#ifdef USED
int main(void)
{
	jf_trace_event(1);
	return jf_branch_unlikely(&debug_on) + jf_branch_likely(&debug_all[1]) + dynfunc_op(one(1));
}
#else
int main(void) { return one(0); }
#endif
END
cp "$tmp/constant.c" "$tmp/constant.cc"

# What a macro is called that the compiler names on its way there.
constant()
{
	! "$@" -I"$user/../include" -c -o "$tmp/o" > "$tmp/log" 2>&1 || return 1
	cat "$tmp/log"
	grep -q 'needs_a_key_known_at_compile_time_else_use_jf_key_enabled' "$tmp/log"
}

links() { ${CC:-cc} "$@" -O2 -I"$user/../include" -o "$tmp/program" "$tmp/import.c" -L"$out" -ljumpfunc; }

forgotten()
{
	! LC_ALL=C links -DUSED "$@" > "$tmp/log" 2>&1 || return 1
	cat "$tmp/log"
	grep -q "IMPORT_JF_KEY() is missing.*debug_on" "$tmp/log" &&
		grep -q "IMPORT_JF_KEY_ARRAY() is missing.*debug_all" "$tmp/log" &&
		grep -qE "IMPORT_DYNFUNC\(\) (without JF_GENERIC )?is missing.*op" "$tmp/log" &&
		grep -q "IMPORT_JF_TRACE() is missing.*event" "$tmp/log"
}

# What is declared and not used is no mistake, and no name that the start would look for.
unused() { links "$@" && ! nm -D "$tmp/program" | grep -E 'debug_|event|dynfunc_op'; }

# What one file defines in the form of other machines, and another one calls in that of this one.
cat > "$tmp/calls.c" <<'END'
#include <jumpfunc/dynfunc.h>
int one(int x);
#ifdef JF_GENERIC
int one(int x) { return x; }
DEFINE_DYNFUNC(op, one);
#else
DECLARE_DYNFUNC(op, one);
int main(void) { return dynfunc_op(1); }
#endif
END

mixed()
{
	${CC:-cc} -O2 -I"$user/../include" -c -o "$tmp/calls.o" "$tmp/calls.c" &&
		${CC:-cc} -O2 -DJF_GENERIC -I"$user/../include" -c -o "$tmp/defines.o" "$tmp/calls.c" || return 1
	! LC_ALL=C ${CC:-cc} -o "$tmp/program" "$tmp/calls.o" "$tmp/defines.o" -L"$out" -ljumpfunc > "$tmp/log" 2>&1 ||
		return 1
	cat "$tmp/log"
	grep -q "IMPORT_DYNFUNC() without JF_GENERIC is missing.*dynfunc_op" "$tmp/log"
}

# The compiler warns about each change whose result is ignored.
cat > "$tmp/ignored.c" <<'END'
#include <jumpfunc/list.h>
#include <jumpfunc/record.h>
#include <jumpfunc/sdt.h>
DEFINE_JF_KEY_FALSE(on);
static int one(int x) { return x; }
DEFINE_DYNFUNC(op, one);
DECLARE_JF_TRACE(event, JF_PROTO(int x), JF_ARGS(x));
DEFINE_JF_TRACE(event);
static void probe(void *data, int x) { (void)data; (void)x; }
void changes(struct jf_batch *b)
{
	jf_key_enable(&on);
	jf_key_disable(&on);
	jf_key_inc(&on);
	jf_key_dec(&on);
	jf_keys_set("on", true);
	dynfunc_update(op, one);
	jf_batch_commit(b);
	register_jf_trace_event(probe, NULL);
	register_jf_trace_prio_event(probe, NULL, 1);
	unregister_jf_trace_event(probe, NULL);
	jf_record_start(NULL);
	jf_record_enable("*");
	jf_record_disable("*");
	jf_record_stop();
	jf_record_control(true);
	jf_sdt_unregister("*", NULL, NULL);
	/* What a batch is given it remembers. */
	jf_key_batch_set(b, &on, true);
	dynfunc_batch_set(b, op, one);
}
END
cp "$tmp/ignored.c" "$tmp/ignored.cc"
ignored()
{
	LC_ALL=C "$@" -I"$user/../include" -c -o "$tmp/o" > "$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
	cat "$tmp/log"
	[ "$(grep -c 'warning: ignoring return value' "$tmp/log")" = 16 ]
}

# Names of dynamic functions have none of a namespace before them, keys do.
cat > "$tmp/space.cc" <<'END'
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/branch.h>
namespace ns {
int a(int x) { return x; }
int b(int x) { return x + 1; }
DEFINE_DYNFUNC(f, a);
DEFINE_JF_KEY_FALSE(key);
}
int main()
{
#ifdef QUALIFIED
	return dynfunc_update(ns::f, ns::b);
#else
	using namespace ns;
	if (dynfunc_update(f, ns::b) || jf_key_enable(&ns::key))
		return 1;
	return dynfunc_call(f, 1) != 2 || !jf_branch_unlikely(&ns::key);
#endif
}
END
namespaces()
{
	${CXX:-c++} -std=c++17 -O2 -I"$user/../include" -o "$tmp/program" "$tmp/space.cc" -L"$out" -ljumpfunc -Wl,-rpath,"$out" && "$tmp/program" &&
		! LC_ALL=C ${CXX:-c++} -std=c++17 -DQUALIFIED -I"$user/../include" -c -o "$tmp/o" "$tmp/space.cc" > "$tmp/log" 2>&1 ||
		return 1
	cat "$tmp/log"
	# The table of messages in user/README.md has this one.
	grep -q "__jf_func_ns. has not been declared\|undeclared identifier '__jf_func_ns'" "$tmp/log"
}

# A header of events in a folder where the compiler does not look.
cat > "$tmp/events.h" <<'END'
#undef TRACE_SYSTEM
#define TRACE_SYSTEM shop
#if !defined(EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define EVENTS_H
#include <jumpfunc/trace_event.h>
JF_TRACE_EVENT(sold, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)),
	       TP_fast_assign(__entry->n = n;), TP_printk("n=%d", __entry->n));
#endif
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events
#include <jumpfunc/define_trace.h>
END
printf '#define CREATE_TRACE_POINTS\n#include "events.h"\n' > "$tmp/events.c"
cp "$tmp/events.c" "$tmp/events.cc"

nowhere()
{
	"$@" -I"$tmp" -I"$user/../include" -c -o "$tmp/o" || return 1
	! LC_ALL=C "$@" -I"$user/../include" -c -o "$tmp/o" > "$tmp/log" 2>&1 || return 1
	cat "$tmp/log"
	grep -q 'TRACE_INCLUDE_PATH: no such file; the compiler needs -I with' "$tmp/log"
}

check "a change whose result is ignored, C" ignored "${CC:-cc}" -std=gnu11 -O2 "$tmp/ignored.c"
check "a change whose result is ignored, C++" ignored "${CXX:-c++}" -std=c++17 -O2 "$tmp/ignored.cc"
if have clang; then
	check "a change whose result is ignored, clang" ignored clang -std=gnu11 -O2 "$tmp/ignored.c"
else
	skip "a change whose result is ignored, clang" "no clang (apt-get install clang)"
fi
check "names in a namespace" namespaces
check "a header of events that is not found, C" nowhere "${CC:-cc}" "$tmp/events.c"
check "a header of events that is not found, C++" nowhere "${CXX:-c++}" -std=c++17 "$tmp/events.cc"
if have clang; then
	check "a header of events that is not found, clang" nowhere clang "$tmp/events.c"
else
	skip "a header of events that is not found, clang" "no clang (apt-get install clang)"
fi
check "a key that is no constant, C" constant "${CC:-cc}" -O2 "$tmp/constant.c"
check "a key that is no constant, C++" constant "${CXX:-c++}" -O2 "$tmp/constant.cc"
check "a key that is no constant, without optimisation" constant "${CC:-cc}" -O0 "$tmp/constant.c"
if have clang; then
	check "a key that is no constant, clang" constant clang -fmacro-backtrace-limit=0 -O2 "$tmp/constant.c"
else
	skip "a key that is no constant, clang" "no clang (apt-get install clang)"
fi
check "a forgotten IMPORT" forgotten
check "a forgotten IMPORT, not position-independent" forgotten -fno-pie -no-pie
check "a forgotten IMPORT, where nothing is patched" forgotten -DJF_GENERIC
check "a function that is defined in another form" mixed
check "what is declared alone is no mistake" unused
check "what is declared alone is no mistake in a shared object" unused -fPIC -shared
check "what is declared alone is no mistake, not position-independent" unused -fno-pie -no-pie
tap_end
