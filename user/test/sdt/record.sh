#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# SDT probes that are patched sites, recorded: by the environment from the first one on, in objects that are
# loaded later, by calls, and no longer.
# usage: record.sh BUILDS
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
builds=$1
user=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../tap.sh
. "$user/test/tap.sh"
tap_begin
CC=${CC:-cc}
flags="-O2 -Wall -Wextra -Werror -I$user/../include -I$user/../include/jumpfunc-sdt"
link="-L$builds -Wl,--no-as-needed -ljumpfunc-trace -ljumpfunc -Wl,-rpath,$builds -ldl"

cat > "$tmp/plugin.c" <<'END'
#include <sys/sdt.h>
void late(short s);
void late(short s)
{
	DTRACE_PROBE1(jflate, hit, s);
}
END
cat > "$tmp/program.c" <<'END'
#include <dlfcn.h>
#include <sys/sdt.h>

#include <jumpfunc/record.h>

static void early(int i)
{
	DTRACE_PROBE3(jfearly, request, i - 1, (unsigned char)200, i * 0.5);
	DTRACE_PROBE(jfearly, done);
}

__attribute__((constructor)) static void begin(void)
{
	early(0);
}

int main(int argc, char **argv)
{
	void (*late)(short);
	void *plugin;

	(void)argc;
	early(1);
	plugin = dlopen(argv[1], RTLD_NOW);
	if (!plugin)
		return 1;
	__extension__ late = (void (*)(short))dlsym(plugin, "late");
	late(-7);
	dlclose(plugin);
	/* The subscription went with the object, and comes with it. */
	plugin = dlopen(argv[1], RTLD_NOW);
	__extension__ late = (void (*)(short))dlsym(plugin, "late");
	late(-8);
	if (jf_record_disable("jfearly:done") != 1)
		return 2;
	early(2);
	if (jf_record_enable("done") != 1 || jf_record_enable("jfearly:*") != 2)
		return 3;
	early(3);
	return jf_record_stop() ? 4 : 0;
}
END

# The name of a probe stands at places whose arguments have other types.
cat > "$tmp/types.c" <<'END'
#include <sys/sdt.h>

#define AT(type)	static void __attribute__((noinline)) at_##type(type x) { DTRACE_PROBE1(jftypes, at, x); }
AT(int)
AT(long)
AT(char)
AT(short)
AT(float)
AT(double)

int main(void)
{
	at_int(-1);
	at_long(5000000000L);
	at_char(-3);
	at_short(-300);
	at_float(-0.25f);
	at_double(1.5);
	at_long(-5000000000L);
	DTRACE_PROBE1(jftypes, at, (unsigned char)200);
	DTRACE_PROBE1(jftypes, at, (unsigned long)-1);
	DTRACE_PROBE2(jftypes, at, (unsigned long)-1, -1);
	return 0;
}
END
cat > "$tmp/types.cc" <<'END'
#include <sys/sdt.h>

template <typename T> static void __attribute__((noinline)) at(T x) { DTRACE_PROBE1(jftypes, at, x); }

int main()
{
	at((unsigned char)200);
	at((signed char)-3);
	at(1.5);
	at(5000000000L);
	at(0x8000000000000000UL);
	return 0;
}
END

# An object comes while there is no memory: its probes are asked for, and no caller gets the error.
cat > "$tmp/poor.h" <<'END'
#undef TRACE_SYSTEM
#define TRACE_SYSTEM jfpoor
#if !defined(POOR_H) || defined(TRACE_HEADER_MULTI_READ)
#define POOR_H
#include <jumpfunc/trace_event.h>
JF_TRACE_EVENT(jfpoor_event, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	       TP_printk("n=%d", __entry->n));
#endif
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE poor
#include <jumpfunc/define_trace.h>
END
cat > "$tmp/poor.c" <<'END'
#define CREATE_TRACE_POINTS
#include "poor.h"
#include <sys/sdt.h>
void late(short s);
void late(short s)
{
	DTRACE_PROBE1(jfpoor, hit, s);
	DTRACE_PROBE1(jfpoor, miss, s);
	jf_trace_jfpoor_event(s);
}
END
# Its constructor is the first of all that come with poor.so.
cat > "$tmp/takes.c" <<'END'
extern int none, wanted;
__attribute__((__constructor__)) static void begin(void) { none = wanted; }
END
cat > "$tmp/needy.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>
#include <sys/sdt.h>
/* none: 1: no memory; 2: none of calloc(). */
int none, wanted;
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t num, size_t size);
void *malloc(size_t size) { return none == 1 ? NULL : __libc_malloc(size); }
void *calloc(size_t num, size_t size) { return none ? NULL : __libc_calloc(num, size); }
int main(int argc, char **argv)
{
	void (*late)(short);
	void *plugin;

	(void)argc;
	wanted = argv[2][0] - '0';
	DTRACE_PROBE1(jfrich, hit, 1);
	plugin = dlopen(argv[1], RTLD_NOW);
	none = 0;
	if (!plugin)
		return 1;
	__extension__ late = (void (*)(short))dlsym(plugin, "late");
	late(-7);
	return 0;
}
END

poor()
{
	# shellcheck disable=SC2086
	$CC -shared -fPIC -o "$tmp/libtakes.so" "$tmp/takes.c" &&
		$CC $flags -I"$tmp" -fPIC -shared -o "$tmp/poor.so" "$tmp/poor.c" $link -L"$tmp" -ltakes -Wl,-rpath,"$tmp" &&
		$CC $flags -rdynamic -o "$tmp/needy" "$tmp/needy.c" $link || return 1
	recorded 'jf*:*' "$tmp/needy" "$tmp/poor.so" 1 2> "$tmp/err" || return 1
	: > "$tmp/out"
	says 'jfpoor:jfpoor_event cannot be recorded: Cannot allocate memory' && says 'SDT probes of an object.*: Cannot allocate memory' &&
		cat "$tmp"/trace/*/.refused > "$tmp/out" && says '^jfpoor:jfpoor_event	Cannot allocate' &&
		says '^[*]:[*]	Cannot allocate' && [ "$(cat "$tmp/events")" = "jfrich:hit arg1 = 1" ] || return 1
	recorded 'jf*:hit' "$tmp/needy" "$tmp/poor.so" 2 2> "$tmp/err" || return 1
	: > "$tmp/out"
	says 'jfpoor:hit and 0 other SDT probes cannot be recorded: Cannot allocate memory' &&
		[ "$(cat "$tmp"/trace/*/.refused)" = "jfpoor:hit	Cannot allocate memory" ]
}

build()
{
	# shellcheck disable=SC2086
	$CC $flags -fPIC -shared -o "$tmp/plugin.so" "$tmp/plugin.c" $link &&
		$CC $flags -o "$tmp/program" "$tmp/program.c" $link
}

# recorded NAMES PROGRAM...: each line is an event and its fields.
recorded()
{
	names=$1
	shift
	rm -rf "$tmp/trace" && mkdir "$tmp/trace" &&
		JUMPFUNC_TRACE="$names" JUMPFUNC_TRACE_DIR=$tmp/trace "$@" || return 1
	babeltrace2 "$tmp"/trace/* > "$tmp/text" || return 1
	sed 's/.*) \([a-z]*:[a-z]*\): { tid = [0-9]* }, { *\(.*\) *}/\1 \2/; s/ *$//' "$tmp/text" > "$tmp/events"
	cat "$tmp/events"
}

all()
{
	recorded 'jf*:*' "$tmp/program" "$tmp/plugin.so" && cat > "$tmp/expected" <<-'END' && diff "$tmp/expected" "$tmp/events"
	jfearly:request arg1 = -1, arg2 = 200, arg3 = 0
	jfearly:done
	jfearly:request arg1 = 0, arg2 = 200, arg3 = 0.5
	jfearly:done
	jflate:hit arg1 = -7
	jflate:hit arg1 = -8
	jfearly:request arg1 = 1, arg2 = 200, arg3 = 1
	jfearly:request arg1 = 2, arg2 = 200, arg3 = 1.5
	jfearly:done
	END
}

# Of arguments at each place by its types.
filters()
{
	# shellcheck disable=SC2086
	"$CC" $flags -o "$tmp/types" "$tmp/types.c" $link && recorded 'jftypes:at if arg1 < 0' "$tmp/types" && cat > "$tmp/expected" <<-'END' &&
	jftypes:at arg1 = -1
	jftypes:at arg1 = -3
	jftypes:at arg1 = -300
	jftypes:at arg1 = -0.25
	jftypes:at arg1 = -5000000000
	END
		diff "$tmp/expected" "$tmp/events" && recorded 'jftypes:at if arg1 >= 0 && arg2 < 0 every 2 max 1' "$tmp/types" &&
		[ "$(wc -l < "$tmp/events")" = 1 ]
}

# types FILE COMPILER...: it records what is expected of that file.
types()
{
	source=$1 compiler=$2
	shift 2
	# shellcheck disable=SC2086
	"$compiler" $flags "$@" -o "$tmp/types" "$tmp/$source" $link && recorded 'jftypes:at' "$tmp/types" &&
		diff "$tmp/$source.expected" "$tmp/events"
}

cat > "$tmp/types.c.expected" <<'END'
jftypes:at arg1 = -1
jftypes:at arg1 = 5000000000
jftypes:at arg1 = -3
jftypes:at arg1 = -300
jftypes:at arg1 = -0.25
jftypes:at arg1 = 1.5
jftypes:at arg1 = -5000000000
jftypes:at arg1 = 200
jftypes:at arg1 = 18446744073709551615
jftypes:at arg1 = 18446744073709551615, arg2 = -1
END
cat > "$tmp/types.cc.expected" <<'END'
jftypes:at arg1 = 200
jftypes:at arg1 = -3
jftypes:at arg1 = 1.5
jftypes:at arg1 = 5000000000
jftypes:at arg1 = 9223372036854775808
END

if ! have babeltrace2; then
	skip "recorded from the first one on, and in objects that are loaded later" "apt-get install babeltrace2"
	skip "each place records its own types" "apt-get install babeltrace2"
else
	check "it compiles" build
	check "recorded from the first one on, and in objects that are loaded later" all
	check "filters" filters
	check "an object that comes while there is no memory" poor
	check "each place records its own types" types types.c "$CC"
	check "each place records its own types, -O0" types types.c "$CC" -O0
	check "each place records its own types, Intel syntax" types types.c "$CC" -masm=intel
	if have g++; then
		check "each instance of a template records its own types" types types.cc g++
	else
		skip "each instance of a template records its own types" "no g++"
	fi
	if have clang; then
		check "each place records its own types, clang" types types.c clang
		check "each place records its own types, clang, Intel syntax" types types.c clang -masm=intel
	else
		skip "each place records its own types, clang" "not installed"
	fi
fi
tap_end
