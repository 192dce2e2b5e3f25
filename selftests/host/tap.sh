# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Results as TAP, for tests that are scripts; sourced, never run.  Prints the header.
#
#   ok WHAT, not_ok WHAT [DETAIL...], skip WHAT WHY
#   result STATUS WHAT [DETAIL]	ok if STATUS is 0
#   tap_end	the plan; its status is 0 if nothing has failed
#
#   tap_label	stands in front of each WHAT, as in "dash: "
#   tap_detail	how many lines of a DETAIL are shown, from its end (+1: all)
tap_n=0 tap_failed=0 tap_label='' tap_detail=+1
echo "TAP version 13"

ok() { tap_n=$((tap_n + 1)); echo "ok $tap_n - $tap_label$1"; }
skip() { ok "$1 # SKIP $2"; }
not_ok()
{
	tap_n=$((tap_n + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_n - $tap_label$1"
	shift
	for tap_line; do printf '%s\n' "$tap_line" | tail -n "$tap_detail" | sed 's/^/#   /'; done
}

result()
{
	if [ "$1" = 0 ]; then ok "$2"; else not_ok "$2" "${3:-}"; fi
}

tap_end()
{
	echo "1..$tap_n"
	[ $tap_failed = 0 ]
}
