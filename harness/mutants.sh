#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Breaks the module on purpose, one way at a time, and expects the tests in the virtual machine to
# notice: a test that cannot fail proves nothing.  Prints TAP.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"

usage()
{
	cat <<EOF
usage: harness/mutants.sh [-k KERNEL] [-m PATTERN]

For each line of selftests/module.mutants (what is broken @ file @ sed command @ tests @ kernel), breaks
a copy of the tree, builds it, and runs the tests, one of which must fail.  The line without a sed
command is the control, which must pass.

  -k KERNEL   a name of harness/kernels.tab (default 6.1), for lines that do not name one
  -m PATTERN  only lines whose description matches
EOF
}

kernel=6.1 pattern=.
while getopts k:m:h opt; do
	case $opt in
	k) kernel=$OPTARG ;;
	m) pattern=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

work=$JF_BUILD/mutants
tree=$work/tree
rm -rf "$work"
mkdir -p "$tree"
list=$(grep -v '^#' "$JF_TREE/selftests/module.mutants" | awk -F@ -v p="$pattern" '$1 ~ p')
[ -n "$list" ] || die "no line of selftests/module.mutants matches $pattern"

echo "TAP version 13"
echo "1..$(wc -l <<<"$list")"
n=0 failed=0
while IFS=@ read -r what file command tests on <&3; do
	n=$((n + 1))
	rm -rf "$tree"
	mkdir -p "$tree"
	(cd "$JF_TREE" && tar -c --exclude=./build --exclude=./results --exclude=./.git --exclude='*.o' --exclude='*.ko' .) |
		tar -x -C "$tree"
	if [ -n "$command" ]; then
		sed -i "$command" "$tree/$file"
		if cmp -s "$JF_TREE/$file" "$tree/$file"; then
			echo "not ok $n - $what"
			echo "#   the sed command changes nothing in $file any more: $command"
			failed=$((failed + 1))
			continue
		fi
	fi
	rc=0
	# shellcheck disable=SC2086
	attended env JF_BUILD="$work/build" nice "$tree/harness/check" --no-host -k "${on:-$kernel}" $tests >"$work/$n.log" 2>&1 || rc=$?
	by=$(sed -n 's/^      failed: //p' "$work/$n.log" | sort -u | head -n 3 | paste -sd';')
	if grep -q 'build  .*FAILED' "$work/$n.log"; then
		echo "not ok $n - $what"
		echo "#   does not build, so nothing is proved: see build/mutants/$n.log"
		failed=$((failed + 1))
	elif [ -z "$command" ] && [ $rc = 0 ]; then
		echo "ok $n - $what: passes"
	elif [ -n "$command" ] && [ $rc != 0 ] && [ -n "$by" ]; then
		echo "ok $n - $what: caught by ${tests// /, }: $by"
	else
		echo "not ok $n - $what"
		echo "#   ${tests// /, } gave status $rc: see build/mutants/$n.log"
		failed=$((failed + 1))
	fi
done 3<<<"$list"
[ $failed = 0 ]
