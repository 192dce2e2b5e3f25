#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make demo`: loads jumpfunc.ko into a stock kernel in a virtual machine, retargets a live function,
# and measures with hackbench what each dispatch mode costs.  What dispatch costs on a real CPU is
# measured natively beside it.
set -eu -o pipefail
. "$(dirname "$0")/../harness/common.sh"

kernel=6.1 out='' bench='' rounds=100
usage()
{
	cat <<EOF
usage: scripts/demo.sh [-k KERNEL] [-o FOLDER] [-b "HACKBENCH-RUN OPTIONS"]

Loads jumpfunc.ko into a stock kernel in a virtual machine, retargets a live function, and measures what each
way to dispatch events costs.  Where KVM does not work the CPU is emulated, and its clock counts instructions:
the overheads are then instructions, and repeat.  What dispatch costs in time is measured natively, beside it.

  -k KERNEL   a name of harness/kernels.tab (default $kernel)
  -o FOLDER   where results go (default results/demo-DATE)
  -b OPTIONS  for scripts/hackbench-run.sh, as in -b "-s 1,8 -r 4"
EOF
}
while getopts k:o:b:h opt; do
	case $opt in
	k) kernel=$OPTARG ;;
	o) out=$OPTARG ;;
	b) bench=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
[ -n "$out" ] || out=$JF_TREE/results/demo-$(date +%Y%m%d-%H%M%S)
table=$out/hackbench/table.txt

begin=$SECONDS
say "1/3  jumpfunc.ko, for stock Debian kernel $kernel"
attended "$JF_TREE/harness/build.sh" -c "$kernel"
mkdir -p "$out"

say "2/3  the native benchmark: what it costs to dispatch one event on this CPU (some seconds)"
native=() bench_out=$JF_BUILD/user-demo
if [[ $kernel == *-arm64 ]]; then
	say "the machine is emulated, and of another kind than this CPU: no nanoseconds beside the instructions"
elif [ "$(uname -m)" != x86_64 ]; then
	say "this CPU is no x86-64, so there are no nanoseconds beside the instructions"
# Of its rows, the ones about subscribers, which are assembled when it runs; to compile the others takes minutes.
elif attended make -s -C "$JF_TREE/user" OUT="$bench_out" BENCH_ROWS=none BENCH_JF_ROWS= "$bench_out/bench" >"$out/native.txt" 2>&1 &&
     attended "$bench_out/bench" --csv "$out/native.csv" --rounds $rounds --no-updates >"$out/native.txt" 2>&1; then
	native=(-i "$out/native.csv:native.csv")
else
	tail -n 5 "$out/native.txt" >&2
	say "the native benchmark failed: there are no nanoseconds beside the instructions"
fi

say "3/3  a virtual machine: load, retarget, measure (about a minute if the CPU has to be emulated)"
rc=0
attended "$JF_TREE/harness/vm/run" -k "$kernel" --modules "$JF_BUILD/$kernel/core" --icount-emulated -t 900 \
	-o "$out" --output "$out/session.txt" --log "$out/console.txt" "${native[@]}" \
	-e "JF_DEMO_ARGS=$bench" -- sh harness/vm/demo || rc=$?
grep -E '^(name|suite|release|version|compiler)=' "$JF_BUILD/$kernel/info" >"$out/kernel.txt"
if [ $rc != 0 ]; then
	say "the results so far are in ${out#"$JF_TREE"/}"
	die "the demonstration failed"
fi
"$JF_TREE/scripts/hackbench-run.sh" --render "$out/hackbench" >"$out/render.txt" 2>&1 || {
	cat "$out/render.txt" >&2
	die "cannot make table and chart from ${out#"$JF_TREE"/}/hackbench"
}
echo
cat "$table"
echo
say "took $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s; the table is ${table#"$JF_TREE"/},"
say "the picture ${out#"$JF_TREE"/}/hackbench/chart.svg; beside them:"
(cd "$out" && find . -type f -not -path '*/raw/*' | sort | sed 's,^\./,  ,') >&2
