#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests of scripts/bench-plot: made-up results whose table is known, and files that are none.
set -u
plot=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)/scripts/bench-plot
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 1

num=0 failed=0
echo "TAP version 13"
ok() { num=$((num + 1)); echo "ok $num - bench-plot: $1"; }
not_ok() { num=$((num + 1)) failed=$((failed + 1)); echo "not ok $num - bench-plot: $1"; sed 's/^/# /' out; }
# has DESCRIPTION EXTENDED-REGEXP: in what the last run printed
has() { if grep -qE -- "$2" out; then ok "$1"; else not_ok "$1"; fi; }
# refuses DESCRIPTION FILE EXTENDED-REGEXP
refuses()
{
	if "$plot" -n "$2" >out 2>&1; then not_ok "$1"; else has "$1" "$3"; fi
	! grep -q Traceback out || not_ok "$1, in plain words"
}

if ! command -v python3 >/dev/null; then
	echo "1..0 # SKIP needs python3"
	exit 4
fi

head='group,layout,shape,n,ns_min,ns_median,cycles_min,cycles_median,ratio_or_broadcasts'
cat >kernel.csv <<END
# kernel: 9.9.9-test
# cpu: A CPU with_underscores
# EMULATED by QEMU TCG: not a real one
# backend: xmc
# pointer_call: retpoline (of a kind)
$head,raw_ns_min,note
call,hot,direct,0,2.000,2.500,,,1.00,3,"a note, with a comma"
call,hot,inline,0,2.100,2.600,,,1.05,3,"x"
call,64,direct,0,4.000,4.500,,,1.00,3,"x"
call,64,inline,0,5.000,5.500,,,1.25,3,"x"
branch,64,nop5,0,-0.010,0.100,,,,3,"x"
subscribers,hot,chain,1,3.000,3,,,1.00,3,"x"
subscribers,hot,chain,8,10.000,12,,,1.00,3,"x"
subscribers,hot,array-pointer,8,80.000,82,,,8.00,3,"x"
update,key,batch,1000,50000,60000,,,3,3,"x"
update,key,single,1000,7000000,7100000,,,3000,3,"x"
update,key,single,5000,,,,,,,"skipped"
END
cat >native.csv <<END
# CPU: Another one
# kernel: 8.8.8-test
$head
call,hot,direct,0,1.0000,1.1000,2,2,1.00
call,1K,retpoline,0,15.0000,16.0000,2,2,9.00
update,1,batch,100,20000.0,21000.0,,,3
END

if "$plot" kernel.csv native.csv >out 2>&1; then ok "two files are read"; else not_ok "two files are read"; fi
has "each is named, the emulated one as such" '^\(1\) 9\.9\.9-test, back end xmc, EMULATED: A CPU with_underscores$'
has "the native one as userspace" '^\(2\) 8\.8\.8-test, userspace: Another one$'
has "what pointers became is shown" 'pointer_call: retpoline'
has "figures stand side by side, with their ratio" '^  direct +2\.00 +x1\.00 +1\.00 +x1\.00$'
has "the ratio is that of the same number of sites" '^  inline site +5\.00 +x1\.25 +-$'
has "a figure below zero is shown as it is" '^  site off \(nop\) +-0\.01 +-$'
has "subscribers are compared with the chain" '^  array, as compiled +80\.00 +x8\.00'
has "updates are in microseconds, with broadcasts" '^ +1000 one by one +7000\.00 +3000 bc +-$'
has "the native ones name what ran beside" '^us to change sites, 1 peer running'
if grep -q '5000 one by one' out; then not_ok "what was skipped is left out"; else ok "what was skipped is left out"; fi

if ! command -v gnuplot >/dev/null; then
	num=$((num + 1))
	echo "ok $num - bench-plot: charts # SKIP gnuplot is missing"
else
	has "charts are announced" '^charts: kernel\.svg$'
	cat kernel.svg >out 2>/dev/null
	has "they are an SVG" '</svg>'
	has "which says emulated" 'EMULATED'
	has "and has a curve for the tracepoints" 'chain of direct calls'
fi

: >empty
refuses "an empty file" empty 'no CSV of a benchmark'
printf '%s\n' "$head" >norows
refuses "a file without results" norows 'norows has no results'
printf '%s\ncall,hot,direct,0,abc,1,,,\n' "$head" >word
refuses "a word where a number should be" word 'row 2:.*abc'
printf '%s\ncall,hot,direct,0,1,1,,,\ncall,hot,direct,0,2,1,,,\n' "$head" >twice
refuses "the same row twice" twice 'row 3: the same row twice'
refuses "no such file" nothing 'cannot read nothing'
echo "1..$num"
[ "$failed" = 0 ]
