#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Breaks a copy of the tree on purpose, one way at a time, and expects tests to notice: a test that cannot
# fail proves nothing.  Prints TAP.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"

usage()
{
	cat <<EOF
usage: harness/mutants.sh [-k KERNEL] [-m PATTERN] [LIST...]

For each line of each LIST (what is broken @ file @ sed command @ tests @ kernel), breaks a copy of the
tree, and runs the tests until one fails, as one must.  A line without a sed command is a control, on which
all its tests must pass.  Builds are kept for the next time.  The default is selftests/module.mutants, whose
tests run in virtual machines.

A list with a line "# run: COMMAND" has its tests run by that command, from the root of the copy, with the
test's name as its last argument: it builds and runs that test, and prints TAP.  Status 3 says that it does
not build.

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
shift $((OPTIND - 1))
[ $# != 0 ] || set -- "$JF_TREE/selftests/module.mutants"

# A folder for each kind: those of programs and of modules may be tried at the same time.
work=$JF_BUILD/mutants
! grep -q '^# run: ' "$1" || work=$JF_BUILD/mutants-$(basename "$1" .mutants)
mkdir -p "$work"
work=$(cd "$work" && pwd)
tree=$work/tree
lines=$work/lines
rm -rf "$tree" "$work"/*.log
mkdir -p "$tree"
(cd "$JF_TREE" && tar -c --exclude=./build --exclude=./results --exclude=./.git --exclude='*.o' --exclude='*.ko' .) |
	tar -x -C "$tree"
# The builds that are kept have the last broken file in them, and make goes by times. If that file has moved since
# then, no build is kept.
if [ -f "$work/broken" ]; then
	last=$(cat "$work/broken")
	if [ -e "$tree/$last" ]; then touch "$tree/$last"; else rm -rf "$work/build"; fi
fi

for list; do
	run=$(sed -n 's/^# run: //p' "$list")
	{ grep -v '^#' "$list" || true; } |
		awk -F@ -v OFS=@ -v p="$pattern" -v run="$run" '$1 ~ p {$6 = run; print}'
done > "$lines"
[ -s "$lines" ] || die "no line of ${*##*/} matches $pattern"

# run_test COMMAND TEST KERNEL
run_test()
{
	if [ -n "$1" ]; then
		# shellcheck disable=SC2086 # the command may have arguments
		(cd "$tree" && attended env JF_BUILD="$work/build" nice $1 "$2")
	else
		attended env JF_BUILD="$work/build" JF_BROKEN=1 nice "$tree/harness/check" --no-host -k "$3" "$2"
	fi
}

# noticed_by LOG: the tests that failed, as check's summary or TAP have them
noticed_by()
{
	sed -n 's/^      failed: //p; s/^not ok [0-9]* - \([^#]*\).*/\1/p' "$1" | sort -u | head -n 3 | paste -sd';'
}

echo "TAP version 13"
echo "1..$(wc -l < "$lines")"
n=0 failed=0 broken=
while IFS=@ read -r what file command tests on run <&3; do
	n=$((n + 1))
	# The build copies files whose contents differ, so it also sees that what was broken is whole again.
	[ -z "$broken" ] || cp "$work/whole" "$tree/$broken"
	broken=
	if [ -n "$command" ]; then
		broken=$file
		echo "$file" > "$work/broken"
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
		run_test "$run" "$t" "${on:-$kernel}" >>"$work/$n.log" 2>&1 </dev/null || rc=$?
		[ $rc = 0 ] || break
	done
	by=$(noticed_by "$work/$n.log")
	if { [ -n "$run" ] && [ $rc = 3 ]; } || grep -q 'build  .*FAILED' "$work/$n.log"; then
		echo "not ok $n - $what"
		echo "#   does not build, so nothing is proved: see $work/$n.log"
		failed=$((failed + 1))
	elif [ -z "$command" ] && [ $rc = 0 ]; then
		echo "ok $n - $what: passes"
	elif [ -n "$command" ] && [ $rc != 0 ] && [ -n "$by" ]; then
		echo "ok $n - $what: caught by $t: $by"
	else
		echo "not ok $n - $what"
		echo "#   ${tests// /, } gave status $rc: see $work/$n.log"
		failed=$((failed + 1))
	fi
done 3<"$lines"
[ $failed = 0 ]
