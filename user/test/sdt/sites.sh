#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# SDT probes as patched sites, as compilers and tools see them: the same notes as by SystemTap's header,
# values at a breakpoint while a probe is off and on, headers by dtrace -h, each standard.
# usage: sites.sh BUILDS
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
builds=$1
user=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../tap.sh
. "$user/test/tap.sh"
tap_begin
CC=${CC:-cc}
CXX=${CXX:-c++}
include="-I$user/../include"
ours="$include -I$user/../include/jumpfunc-sdt"
link="-L$builds -ljumpfunc -Wl,-rpath,$builds"

cat > "$tmp/probes.c" <<'END'
#include <sys/sdt.h>
#ifdef __cplusplus
extern "C"
#endif
int leaf(int x);
int leaf(int x)
{
	DTRACE_PROBE1(jfnote, leaf, x);
	return x + 1;
}
#ifdef __cplusplus
extern "C"
#endif
int all(signed char c, unsigned short us, int i, unsigned long ul, const char *s, double d);
int all(signed char c, unsigned short us, int i, unsigned long ul, const char *s, double d)
{
	char buf[16];

	buf[0] = c;
	DTRACE_PROBE(jfnote, none);
	DTRACE_PROBE6(jfnote, all, c, us, i, ul, s, d);
	STAP_PROBE3(jfnote, constants, 5, -6L, buf);
	DTRACE_PROBE12(jfnote, twelve, c, us, i, ul, s, i + 1, i + 2, i + 3, ul + 1, us + 1, c + 1, 12);
	return buf[0];
}
END

# compile OUTPUT COMPILER FLAGS...
compile()
{
	output=$1
	shift
	"$@" -Wall -Wextra -Werror -c -o "$output" "$tmp/probes.c"
}

# provider, name and sizes of arguments, without the places where they are
notes() { "$user/test/sdt_read.py" "$1" | sort; }

same_notes()
{
	# shellcheck disable=SC2086
	compile "$tmp/ours.o" $CC -O2 -fPIC $ours && compile "$tmp/theirs.o" $CC -O2 -fPIC -DJF_NO_SDT_SITES $ours &&
		$CC -shared -o "$tmp/ours.so" "$tmp/ours.o" && $CC -shared -o "$tmp/theirs.so" "$tmp/theirs.o" &&
		notes "$tmp/theirs.so" > "$tmp/theirs" && notes "$tmp/ours.so" > "$tmp/read" && [ -s "$tmp/theirs" ] &&
		diff "$tmp/theirs" "$tmp/read"
}

# Off, a probe is a nop of one byte and one of six, and the function stays a leaf.
off_is_nops()
{
	# shellcheck disable=SC2086
	compile "$tmp/ours.o" $CC -O2 -fcf-protection=none $ours || return 1
	objdump -d --no-show-raw-insn "$tmp/ours.o" | sed -n '/<leaf>:/,/ret/s/^ *[0-9a-f]*:[ \t]*//p' > "$tmp/code"
	cat "$tmp/code"
	[ "$(grep -c '^nop$' "$tmp/code")" = 1 ] && [ "$(grep -c '^cs nopl' "$tmp/code")" = 1 ] &&
		! grep -qv '^nop$\|^cs nopl\|^mov \|^add \|^lea \|^ret' "$tmp/code"
}

standard()
{
	# shellcheck disable=SC2086
	compile "$tmp/standard.o" "$@" $ours
}

cat > "$tmp/run.c" <<'END'
#include <jumpfunc/sdt.h>
#include <sys/sdt.h>

static int calls;

static void count(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)data;
	(void)sdt;
	calls += (int)words[0];
}

static __attribute__((noinline)) void hit(int x, const char *s)
{
	DTRACE_PROBE2(jfrun, hit, x, s);
}

int main(void)
{
	hit(1, "off");
	if (jf_sdt_register("jfrun:hit", count, NULL) != 1)
		return 1;
	hit(2, "on");
	return calls != 2;
}
END

gdb_reads()
{
	# shellcheck disable=SC2086
	$CC -O2 -g $ours -o "$tmp/run" "$tmp/run.c" $link && "$tmp/run" || return 1
	cat > "$tmp/commands" <<-'END'
	set pagination off
	break -probe-stap jfrun:hit
	run
	printf "off %d %s\n", $_probe_arg0, (char *)$_probe_arg1
	continue
	printf "on %d %s\n", $_probe_arg0, (char *)$_probe_arg1
	continue
	END
	gdb -q -batch -nx -x "$tmp/commands" "$tmp/run" > "$tmp/gdb" 2>&1
	cat "$tmp/gdb"
	grep -qx 'off 1 off' "$tmp/gdb" && grep -qx 'on 2 on' "$tmp/gdb" && grep -q 'exited normally' "$tmp/gdb"
}

cat > "$tmp/srv.d" <<'END'
provider srv {
	probe request(int, char *);
	probe done();
};
END
cat > "$tmp/srv.c" <<'END'
#include "srv.h"
#include <jumpfunc/sdt.h>
#include <stdio.h>

static void print(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)data;
	printf("%s %ld %s\n", sdt->tp.name, (long)words[0], (const char *)words[1]);
}

static void request(int n)
{
	char text[8];

	if (SRV_REQUEST_ENABLED()) {
		snprintf(text, sizeof(text), "%d.", n);
		SRV_REQUEST(n, text);
	}
	SRV_DONE();
}

int main(void)
{
	request(1);
	if (jf_sdt_register("srv:request", print, NULL) != 1)
		return 1;
	request(-2);
	if (jf_sdt_unregister("*", print, NULL) != 1)
		return 1;
	request(3);
	return 0;
}
END

by_dtrace()
{
	# shellcheck disable=SC2086
	(cd "$tmp" && dtrace -h -s srv.d -o srv.h && dtrace -G -s srv.d -o srv.o &&
		$CC -O2 $ours -o srv srv.c srv.o $link && ./srv > srv.out && cat srv.out &&
		[ "$(cat srv.out)" = "srv:request -2 -2." ])
}

if [ -e /usr/include/sys/sdt.h ] || [ -e /usr/include/x86_64-linux-gnu/sys/sdt.h ]; then
	check "notes are those of SystemTap's header" same_notes
else
	skip "notes are those of SystemTap's header" "apt-get install systemtap-sdt-dev"
fi
check "off, a probe is two nops, and a leaf function stays one" off_is_nops
for std in gnu89 c99 gnu11 gnu2x; do
	check "$CC -std=$std" standard "$CC" -std=$std -O2
done
for std in gnu++98 c++11 c++17 gnu++20; do
	check "$CXX -std=$std" standard "$CXX" -x c++ -std=$std -O2
done
if [ -n "${CLANG:-}" ]; then
	check "clang, C" standard "$CLANG" -O2
	check "clang, C, without optimisation" standard "$CLANG" -O0
fi
[ -z "${CLANGXX:-}" ] || check "clang, C++" standard "$CLANGXX" -x c++ -O2
if have gdb; then
	check "gdb reads arguments, off and on" gdb_reads
else
	skip "gdb reads arguments, off and on" "apt-get install gdb"
fi
if have dtrace; then
	check "headers by dtrace -h, and semaphores" by_dtrace
else
	skip "headers by dtrace -h, and semaphores" "apt-get install systemtap-sdt-dev"
fi
tap_end
