#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# harness/lint/long-functions counts what is a function, and nothing else. Prints TAP.
set -u

lint=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)/harness/lint/long-functions
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
n=0 failed=0

# lines N TEXT: so many of them
lines() { i=0; while [ $i -lt "$1" ]; do echo "$2"; i=$((i + 1)); done; }

# says FILE RC LINE...: what the lint, with a limit of 10 lines, says of what stands in $work/in
says()
{
	file=$1 want_rc=$2
	shift 2
	n=$((n + 1))
	cp "$work/in" "$work/$file"
	got=$(cd "$work" && "$lint" -l 10 "$file"; echo "rc $?")
	want=$(for line; do echo "$line"; done; echo "rc $want_rc")
	if [ "$got" = "$want" ]; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		printf 'got:\n%s\nwanted:\n%s\n' "$got" "$want" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}

echo "TAP version 13"
what="a C function of as many lines as may be"
{ echo 'static int f(int (*g)(void))'; echo '{'; lines 7 '	g();'; echo '}'; echo 'int x[] = {'; lines 20 '1,'; echo '};'; } >"$work/in"
says a.c 0 "ok 1 - a.c (1 functions)" "1..1"
what="braces in strings and comments are none"
{ echo 'MODULE_LICENSE("{")'; echo 'int'; echo 'f(void) /* { */'; echo '{'; lines 7 '	g("}");'; echo '}'; } >"$work/in"
says a.c 0 "ok 1 - a.c (1 functions)" "1..1"
what="a C function of more lines"
{ echo 'int f(void) /* { */'; echo '{'; lines 9 "	g('}');"; echo '}'; } >"$work/in"
says a.c 1 "not ok 1 - a.c: f (12 lines)" "1..1"
what="a table in a C function does not count"
{ echo 'int f(void)'; echo '{'; echo '	static const int t[] = {'; lines 20 '		{ 1 },'; echo '	};'; echo '}'; } >"$work/in"
says a.c 0 "ok 1 - a.c (1 functions)" "1..1"
what="either branch of #if opens the function"
{ echo '#if A'; echo 'int f(int a)'; echo '{'; echo '#else'; echo 'int f(void)'; echo '{'; echo '#endif'; lines 9 '	g();'; echo '}'
	echo 'int h(void)'; echo '{'; lines 2 '	g();'; echo '}'; } >"$work/in"
says a.c 1 "not ok 1 - a.c: f (16 lines)" "1..1"
what="a long macro"
# shellcheck disable=SC1003 # backslashes are meant
{ echo '#define M(x)	\'; lines 10 '	x;	\'; echo; } >"$work/in"
says a.h 1 "not ok 1 - a.h: M (12 lines)" "1..1"
what="braces that do not match"
{ echo 'int f(void)'; echo '{'; } >"$work/in"
says a.c 1 "not ok 1 - a.c: cannot be followed: f has no end" "1..1"
what="a here document in a shell function does not count"
{ echo 'f()'; echo '{'; echo '	cat <<-EOT'; lines 20 '	}'; echo '	EOT'; echo '}'; } >"$work/in"
says a.sh 0 "ok 1 - a.sh (1 functions)" "1..1"
what="a long shell function"
{ echo '#!/bin/sh'; echo 'f() {'; lines 10 '	g'; echo '}'; echo 'g() { f; }'; } >"$work/in"
says tool 1 "not ok 1 - tool: f (12 lines)" "1..1"
what="a long awk function"
{ echo 'function f(a) {'; lines 10 '	g()'; echo '}'; } >"$work/in"
says a.awk 1 "not ok 1 - a.awk: f (12 lines)" "1..1"
what="a long Python function"
{ echo '#!/usr/bin/env python3'; echo 'def f():'; lines 10 '    g()'; } >"$work/in"
says tool 1 "not ok 1 - tool: f (11 lines)" "1..1"
what="what is no source is not checked"
echo 'f()' >"$work/in"
says a.txt 0 "1..0"
echo "1..$n"
[ $failed = 0 ]
