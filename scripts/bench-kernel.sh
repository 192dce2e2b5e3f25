#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make bench-kernel`: the benchmark inside a stock kernel, in a virtual machine; table and charts.
set -eu -o pipefail
. "$(dirname "$0")/../harness/common.sh"

kernel=6.1 out='' backends='xmc indirect'
usage()
{
	cat <<EOF
usage: scripts/bench-kernel.sh [-i] [-k KERNEL] [-b "BACK ENDS"] [-a OPTION]... [-o FOLDER] [COMMAND...]

  -k KERNEL  a name of harness/kernels.tab (default $kernel)
  -b LIST    back ends to measure, values of the parameter backend (default "$backends")
  -o FOLDER  where results go (default results/bench-kernel-DATE)
  -i         emulate a CPU whose clock counts instructions: the column of nanoseconds has instructions,
             and the numbers repeat, however busy this machine is
  -a OPTION  another option for the kernel's command line, as in -a spectre_v2=off
COMMAND is written to the module's file bench, as in "calls rounds=1000" (default: all).

If the virtual machine's CPU is emulated, the results say so and compare emulated code. To
measure the running kernel instead, as root: make && scripts/bench-here.sh
EOF
}
vm=()
while getopts ik:b:a:o:h opt; do
	case $opt in
	i) vm+=(--icount) ;;
	a) vm+=(-a "$OPTARG") ;;
	k) kernel=$OPTARG ;;
	b) backends=$OPTARG ;;
	o) out=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ -n "$out" ] || out=$JF_TREE/results/bench-kernel-$(date +%Y%m%d-%H%M%S)

attended "$JF_TREE/harness/build.sh" "$kernel"
mkdir -p "$out"
say "a virtual machine: load and measure, once for each back end ($backends)"
# shellcheck disable=SC2016 # JF_OUT is the VM's
attended "$JF_TREE/harness/vm/run" -k "$kernel" -t 600 "${vm[@]}" -o "$out" --log "$out/console.txt" \
	-e "JF_B=$backends" -e "JF_C=$*" -- \
	'sh scripts/bench-here.sh -m . -b "$JF_B" -o "$JF_OUT" $JF_C' ||
	die "the benchmark failed; the console is in ${out#"$JF_TREE"/}/console.txt"
csv=()
for b in $backends; do csv+=("$out/bench-$b.csv"); done
"$JF_TREE/scripts/bench-plot" -o "$out/bench.svg" "${csv[@]}" | tee "$out/bench.txt"
say "results are in ${out#"$JF_TREE"/}"
