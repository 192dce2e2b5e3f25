#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Line coverage of the module: runs the tests on a test kernel with gcov.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"

usage()
{
	cat <<EOF
usage: harness/coverage.sh [-k KERNEL] [-o FILE] [TEST...]

Builds jumpfunc.ko for gcov, runs the tests (default: all of selftests/tests/*.sh) in a VM, and writes a
table per file, with what never ran and why (docs/coverage.reasons).

  -k KERNEL  a kernel of harness/kernels.tab with CONFIG_GCOV_KERNEL (default 6.12-ibt)
  -o FILE    what to write (default docs/coverage.md; - for the terminal)
EOF
}

kernel=6.12-ibt output=$JF_TREE/docs/coverage.md
while getopts k:o:h opt; do
	case $opt in
	k) kernel=$OPTARG ;;
	o) output=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { mapfile -t tests < <(cd "$JF_TREE/selftests/tests" && ls -- *.sh); set -- "${tests[@]}"; }
for t; do [ -e "$JF_TREE/selftests/tests/$t" ] || die "no selftests/tests/$t"; done
limits=$("$JF_TREE/harness/limits.py" "$@" | tr '\n' ' ')

# Beside the other builds: what is built for gcov is good for nothing else.
export JF_BUILD=$JF_BUILD/coverage JF_GCOV=1
attended "$JF_TREE/harness/build.sh" "$kernel"
out=$JF_BUILD/$kernel data=$JF_BUILD/$kernel/gcov
rm -rf "$data"
mkdir -p "$data"

say "running $# test files on $kernel"
# The counters outlive the module.
rc=0
attended "$JF_TREE/harness/vm/run" -q -k "$kernel" -t 7200 -o "$data" --output "$out/tests.out" --log "$out/console.log" -- sh -c "
	[ -d /sys/kernel/debug/gcov ] || { echo 'not ok - CONFIG_GCOV_KERNEL'; exit 1; }
	sh harness/vm/guest-tests coverage $limits
	cd /sys/kernel/debug/gcov && find . -name '*.gcda' | while read -r f; do cat \"\$f\" >\"\$JF_OUT/\${f##*/}\"; done" || rc=$?
failed=0
sum=$("$JF_TREE/harness/tap.py" "$out/tests.out") || failed=1
if [ $rc != 0 ] || [ $failed != 0 ]; then
	say "the tests: $(tail -n 1 <<<"$sum"), the VM's status is $rc, so the numbers are not those of a good run: see ${out#"$PWD"/}/tests.out"
fi
ls "$data"/*.gcda >/dev/null 2>&1 || die "no counters came out of the VM: does $kernel have CONFIG_GCOV_KERNEL?"
find "$out/src" -maxdepth 1 -name '*.gcno' -exec cp {} "$data" \;
find "$out/src/kernel" -name '*.gcno' -exec cp {} "$data" \;

mapfile -t names < <(cd "$JF_TREE" && ls -- jf_*.c kernel/*.c kernel/*/*.c kernel/arch/x86/*.c common/x86/*.h)
report()
{
	"$JF_TREE/harness/gcov-report" "$@" --reasons "$JF_TREE/docs/coverage.reasons" "$out/src" "$data" "${names[@]}"
}
if [ "$output" = - ]; then
	report || rc=$?
else
	{
		cat <<-EOF
		# Line coverage of the module

		Made by \`make coverage\`: do not edit. $(date -u +%F), kernel $(sed -n 's/^release=//p' "$out/info"), $# test files.
		\`kernel/arch/generic.c\` is left out, because only architectures without patching build it; user-mode Linux runs it.
		\`make -C user coverage\` measures the library.

		EOF
		report --markdown || rc=$?
	} >"$output"
	say "the table is in ${output#"$PWD"/}"
fi
[ $failed = 0 ] || rc=1
exit $rc
