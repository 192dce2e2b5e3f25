#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# docs/numbers.md and both READMEs have the same numbers; scripts/bench-readme compares results with them, and notices a
# statement that is no longer true, a row that is missing, and a page that is wrong. The results are made up. Prints TAP.
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=selftests/host/tap.sh
. "$TOP/selftests/host/tap.sh"
command -v python3 >/dev/null || { echo "1..0 # SKIP needs python3"; exit 4; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tap_detail=30
PAGE=$TOP/docs/numbers.md
cells() { awk -F'|' '$9 ~ /^ *[A-Z] *$/ {for (i = 2; i <= 9; i++) gsub(/^ +| +$/, "", $i); print $2 "|" $3 "|" $4 "|" $5 "|" $6 "|" $7 "|" $8}' "$PAGE"; }

# ---- the page and the READMEs ----

rows=$(cells)
result "$([ "$(wc -l <<<"$rows")" -gt 30 ]; echo $?)" "the table is there" "$rows"
bad=
while IFS='|' read -r number page value _; do
	grep -qE "(^|[^0-9.])${value//./\\.}([^0-9.]|\.?$|\.[^0-9])" "$TOP/$page" || bad+="$number: $value is not in $page"$'\n'
done <<<"$rows"
result "$([ -z "$bad" ]; echo $?)" "each number of the page is in its README" "$bad"
bad=
# The cells of README's tables of gains that are numbers, with their unit or without.
while read -r cell; do
	grep -q "^[^|]*|README.md|$cell|" <<<"$rows" || bad+="$cell "
done < <(sed -n '/^## Gains/,/^## Where/p' "$TOP/README.md" | grep '^| ' | grep -v 'with N probes' | tr '|' '\n' |
	sed -nE 's/^ *\**([0-9]+(\.[0-9]+)?)( ns| ms)?\** *$/\1/p')
result "$([ -z "$bad" ]; echo $?)" "each number of README's tables of gains is on the page" "$bad"
bad=
while read -r b; do
	grep -qF "* \`$b\`: " "$PAGE" || bad+="$b "
done < <(cut -d'|' -f6 <<<"$rows" | sort -u)
result "$([ -z "$bad" ]; echo $?)" "... and each benchmark" "$bad"

# ---- results that are those of the page ----

head='group,layout,shape,n,ns_min,ns_median'
for f in bench bench-trap; do echo "$head" >"$work/$f.csv"; done
for f in kernel kernel-plain; do mkdir "$work/$f"; echo "$head" >"$work/$f/bench-xmc.csv"; done
echo 'a,b,min' >"$work/bench-ust.csv"
while IFS='|' read -r _ _ value unit _ benchmark row; do
	[ "$unit" != ms ] || value=${value}e6
	case $benchmark in
	bench) echo "${row%,median},$value,$value" >>"$work/bench.csv" ;;
	in-place) echo "$row,$value," >>"$work/bench-trap.csv" ;;
	ust) echo "$row,$value" >>"$work/bench-ust.csv" ;;
	kernel*) echo "$row,$value," >>"$work/$benchmark/bench-xmc.csv" ;;
	esac
done <<<"$rows"
go() { out=$("$TOP/scripts/bench-readme" "$@" 2>&1); }
has() { grep -qE -- "$1" <<<"$out"; }
go --from "$work" && has ' 0 are no longer true, 0 were not measured$'
result $? "with the numbers of the page each statement is true" "$out"
sed -i 's/^subscribers,64,chain,8,.*/subscribers,64,chain,8,99,99/' "$work/bench.csv"
go --from "$work"
rc=$?
[ $rc = 1 ] && has '^chain-8 .*NO LONGER TRUE: less than retpoline-8' && has ', 1 are no longer true'
result $? "a statement that is no longer true is named, and is an error" "$out"
go --only kernel --from "$work" && has '^4 statements are true, 0 ' && ! has '^chain-8 '
result $? "one benchmark alone" "$out"
sed -i '/,chain,8,/d' "$work/bench.csv"
go --from "$work" && has '^chain-8 .* - .*not measured: less than retpoline-8' && has ', 1 were not measured$'
result $? "a row that is missing is said" "$out"

# ---- errors ----

go --from "$work/nothing"
rc=$?
[ $rc = 2 ] && has 'is no folder with results' && ! has Traceback
result $? "a folder that is not there is named" "$out"
mkdir "$work/empty"
go --from "$work/empty"
rc=$?
[ $rc = 2 ] && has 'has none of the results' && ! has Traceback
result $? "... and one without results" "$out"
go --only nothing
rc=$?
[ $rc = 2 ] && has 'nothing' && ! has Traceback
result $? "a benchmark that does not exist is refused" "$out"
go --help && has '^usage: '
result $? "--help" "$out"
tap_end
