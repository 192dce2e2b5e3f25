#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# docs/kernel-api.md compares jumpfunc with the kernel's own, and says for each row what shows it: a test that is there, a
# suite that is there, a kernel that the harness knows, or a target of make.  Each claim needs something
# that can be run.
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=selftests/host/tap.sh
. "$TOP/selftests/host/tap.sh"
PAGE=${1:-$TOP/docs/kernel-api.md}

# known NAME: what stands in a row in backticks
known()
{
	case $1 in
	*.sh) [ -x "$TOP/selftests/tests/$1" ] ;;
	jumpfunc-*) grep -qE "^	\.name[[:space:]]*= \"$1\"," "$TOP"/selftests/kunit/*.c ;;
	make\ -C\ *) make -n -C "$TOP/$(cut -d ' ' -f 3 <<<"$1")" "${1##* }" >/dev/null 2>&1 ;;
	-k\ *) grep -qE "^${1#-k }[[:space:]]" "$TOP/harness/kernels.tab" ;;
	*) false ;;
	esac
}

rows=$(sed -n "/^## What either does/,/^## Static/p" "$PAGE" | grep '^|' | grep -vE '^\| *\||^\|-')
result "$([ "$(wc -l <<<"$rows")" -gt 15 ]; echo $?)" "the table is there" "$rows"
bad=$(grep -vE '^\|[^|]*\|[^|]*\|[^|]*\|[^|]*\|[^|]*\|$' <<<"$rows")
result "$([ -z "$bad" ]; echo $?)" "each row has a cell for each of the four" "$bad"
ours=$(awk -F'|' '{gsub(/^ +| +$/, "", $3); print $3}' <<<"$rows")
bad=$(grep -vE '^yes' <<<"$ours")
result "$([ -z "$bad" ]; echo $?)" "there is none in which jumpfunc has less" "$bad"
while IFS= read -r cell; do
	names=$(grep -oE '`[^`]+`' <<<"$cell" | tr -d '`')
	bad=
	while IFS= read -r name; do
		known "$name" || bad="$bad '$name'"
	done <<<"$names"
	result "$([ -z "$bad" ]; echo $?)" "$cell" "there is no$bad to run"
done <<<"$ours"
tap_end
