# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# shellcheck shell=sh
# What the script that sources it has.
# shellcheck disable=SC2154
# Programs that run with the agent, for the scripts of its tests; sourced after tap_begin, with $agent.
#
# API:
#   traced GLOBS PROGRAM ARGUMENTS...	runs it; its events are in $tmp/events then, a name a line, with their fields after it
#   events FOLDER...			the same of traces that are there
#   count NAME				of the events in $tmp/events
mkdir "$tmp/traces"

traced()
{
	globs=$1
	shift
	rm -rf "$tmp/traces"
	mkdir "$tmp/traces"
	JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_AGENT=$globs JUMPFUNC=verbose JUMPFUNC_TRACE_PACKETS=64 LD_PRELOAD=$agent \
		timeout -k 5 60 "$@" > "$tmp/out" 2> "$tmp/err" || { cat "$tmp/out" "$tmp/err"; return 1; }
	events "$tmp/traces"/*
}

events()
{
	babeltrace2 "$@" > "$tmp/text" 2> "$tmp/babeltrace" || { cat "$tmp/babeltrace"; return 1; }
	awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^[^ ]+:[^ ]+:$/ && $i !~ /^vm:/) { sub(/:$/, "", $i); printf "%s", $i;
		for (k = i + 1; k <= NF; k++) printf " %s", $k; print ""; break } }' "$tmp/text" > "$tmp/events"
}

# count NAME: of its events
count() { grep -c "^$1 " "$tmp/events"; }
