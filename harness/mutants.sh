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
a copy of the tree, builds what that changes, and runs the tests until one fails, as one must.  The line
without a sed command is the control, which must pass.  The build is kept for the next time.

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
rm -rf "$tree" "$work"/*.log
mkdir -p "$tree"
(cd "$JF_TREE" && tar -c --exclude=./build --exclude=./results --exclude=./.git --exclude='*.o' --exclude='*.ko' .) |
	tar -x -C "$tree"
list=$(grep -v '^#' "$JF_TREE/selftests/module.mutants" | awk -F@ -v p="$pattern" '$1 ~ p')
[ -n "$list" ] || die "no line of selftests/module.mutants matches $pattern"

echo "TAP version 13"
echo "1..$(wc -l <<<"$list")"
n=0 failed=0 broken=
while IFS=@ read -r what file command tests on <&3; do
	n=$((n + 1))
	# The build copies files whose contents differ, so it also sees that what was broken is whole again.
	[ -z "$broken" ] || cp "$work/whole" "$tree/$broken"
	broken=$file
	if [ -n "$command" ]; then
		cp "$tree/$file" "$work/whole"
		sed -i "$command" "$tree/$file"
		if cmp -s "$work/whole" "$tree/$file"; then
			echo "not ok $n - $what"
			echo "#   the sed command changes nothing in $file any more: $command"
			failed=$((failed + 1))
			continue
		fi
	fi
	rc=0
	for t in $tests; do
		attended env JF_BUILD="$work/build" JF_BROKEN=1 nice "$tree/harness/check" --no-host -k "${on:-$kernel}" "$t" >>"$work/$n.log" 2>&1 || rc=$?
		[ $rc = 0 ] || break
	done
	by=$(sed -n 's/^      failed: //p' "$work/$n.log" | sort -u | head -n 3 | paste -sd';')
	if grep -q 'build  .*FAILED' "$work/$n.log"; then
		echo "not ok $n - $what"
		echo "#   does not build, so nothing is proved: see build/mutants/$n.log"
		failed=$((failed + 1))
	elif [ -z "$command" ] && [ $rc = 0 ]; then
		echo "ok $n - $what: passes"
	elif [ -n "$command" ] && [ $rc != 0 ] && [ -n "$by" ]; then
		echo "ok $n - $what: caught by $t: $by"
	else
		echo "not ok $n - $what"
		echo "#   ${tests// /, } gave status $rc: see build/mutants/$n.log"
		failed=$((failed + 1))
	fi
done 3<<<"$list"
[ $failed = 0 ]
