#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make demo`: loads jumpfunc.ko into a stock kernel in a virtual machine, retargets a live function,
# and measures with hackbench what each dispatch mode costs.
set -eu -o pipefail
. "$(dirname "$0")/../harness/common.sh"

kernel=6.1 out='' bench='-g 2 -l 40 -r 2'
usage()
{
	cat <<EOF
usage: scripts/demo.sh [-k KERNEL] [-o FOLDER] [-b "HACKBENCH-RUN OPTIONS"]

  -k KERNEL   a name of harness/kernels.tab (default $kernel)
  -o FOLDER   where results go (default results/demo-DATE)
  -b OPTIONS  for scripts/hackbench-run.sh (default "$bench")
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

begin=$SECONDS
say "1/3  the modules, for stock Debian kernel $kernel"
attended "$JF_TREE/harness/build.sh" "$kernel"
mkdir -p "$out"
say "2/3  a virtual machine: load, retarget, measure (some minutes if the CPU has to be emulated)"
rc=0
attended "$JF_TREE/harness/vm/run" -k "$kernel" -t 900 -o "$out" --output "$out/session.txt" --log "$out/console.txt" \
	-e "JF_DEMO_ARGS=$bench" -- sh harness/vm/demo || rc=$?
grep -E '^(name|suite|release|version|compiler)=' "$JF_BUILD/$kernel/info" >"$out/kernel.txt"
if [ $rc != 0 ]; then
	say "the results so far are in ${out#"$JF_TREE"/}"
	die "the demonstration failed"
fi
say "3/3  the chart"
"$JF_TREE/scripts/hackbench-run.sh" --render "$out/hackbench" >"$out/render.txt" 2>&1 || {
	cat "$out/render.txt" >&2
	die "cannot make the chart from ${out#"$JF_TREE"/}/hackbench"
}
echo
say "took $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s; results are in ${out#"$JF_TREE"/}:"
(cd "$out" && find . -type f -not -path '*/raw/*' | sort | sed 's,^\./,  ,') >&2
