#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Each way in which records can be lost: the records of the trace and its counters of losses are together the program's
# own count, and the counter is the one that the table of the manual has (jf-trace(1), LOSSES). A way that is in
# one of both alone is an error.
# Calls, which the agent records, are lost in ways of their own, also as sums.
# usage: losses.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
manual=$here/../../man/jf-trace.1.in
unset JUMPFUNC_TRACE JUMPFUNC_TRACE_DIR JUMPFUNC_TRACE_CONTROL
chmod 700 "$tmp"
mkdir -m 700 "$tmp/run"
export XDG_RUNTIME_DIR="$tmp/run"

# The rows of the manual: way|counter|...
rows() { sed -n '/^\.\\" ways/,/^\.TE/p' "$manual" | grep -E '^[a-z-]+\|'; }
of_row() { rows | sed -n "s/^$1|\([^|]*\)|.*/\1/p"; }

made() { od -An -t u8 -N 8 "$tmp/made" | tr -d ' '; }
sum() { sed -n "s/^$1 //p" "$tmp/sums"; }

# With the environment of $2 and on.
recorded()
{
	way=$1
	shift
	rm -rf "$tmp/traces" "$tmp/made"
	[ -d "${folder:=$tmp/traces}" ] || mkdir -m 700 "$folder" || return 1
	env JUMPFUNC_TRACE=jftest:small JUMPFUNC_TRACE_DIR="$folder" "$@" "$build/losses" "$way" "$tmp/made"
	rc=$?
	[ "$rc" = 0 ] || { [ "$way" = killed ] && [ "$rc" = 137 ]; } || { echo "the program ended with $rc"; return 1; }
}

# All that was made is there or counted, by the counter that the manual names.
accounted()
{
	"$build/jf-trace" recover "$folder" > "$tmp/sums" 2> "$tmp/line"
	cat "$tmp/sums" "$tmp/line"
	counter=none
	[ "$(sum overwritten)" = 0 ] || counter=overwritten
	[ "$(sum discarded)" = 0 ] || counter=discarded
	echo "made $(made), counter $counter, in the manual $(of_row "$way")"
	[ $(($(sum records) + $(sum overwritten) + $(sum discarded))) = "$(made)" ] && [ "$(sum damaged)" = 0 ] &&
		[ "$(made)" -ge 1000 ] && [ "$counter" = "$(of_row "$way")" ] &&
		grep -q "records $(sum records), overwritten $(sum overwritten), discarded $(sum discarded)" "$tmp/line"
}

lost() { folder=''; recorded "$@" && accounted; }

agent=$build/libjumpfunc-agent.so

# calls WAY KIND: 'call' or 'time'. Where the kernel has put the program, the memory may be in use to which bytes of its text lead.
calls()
{
	way=$1
	kind=$2
	shift 2
	for _ in 1 2 3 4 5 6 7 8; do
		folder=''
		recorded "$way" LD_PRELOAD="$agent" JUMPFUNC=verbose JUMPFUNC_AGENT="$kind/losses:l_*" JUMPFUNC_TRACE_MODE=keep "$@" \
			2> "$tmp/agent" || { cat "$tmp/agent"; return 1; }
		grep -q "is not recorded" "$tmp/agent" || return 0
	done
	cat "$tmp/agent"
	return 1
}

# The same of sums: what the table has and what is said to be missing are all calls. Each of these is said once.
summed()
{
	"$build/jf-trace" time --csv "$folder" > "$tmp/table" 2> "$tmp/line"
	rc=$?
	cat "$tmp/table" "$tmp/line"
	there=$(awk -F, 'NR > 1 { n += $1 } END { print n + 0 }' "$tmp/table")
	missing=$(sed -n 's/^jf-trace: \([0-9]*\) calls .*/\1/p' "$tmp/line")
	echo "made $(made), in the table $there, status $rc"
	[ $((there + missing)) = "$(made)" ] && [ "$missing" -gt 0 ] && [ "$(made)" -ge 1000 ] && [ "$rc" = 5 ]
}

# The reason is the one that there is.
no_room() { grep -q "$(sum discarded) calls found no room in the agent" "$tmp/line"; }

lost_calls()
{
	calls "$1" call && accounted && no_room &&
		calls "$1" time JUMPFUNC_TRACE_MODE=count && summed && grep -q 'calls found no room in the agent' "$tmp/line"
}

# A call has several counters, and is lost once.
calls_without_ring()
{
	calls calls-rings call JUMPFUNC_TRACE_RINGS=1 && { way=rings; accounted; } && ! no_room &&
		calls calls-rings time JUMPFUNC_TRACE_MODE=count JUMPFUNC_TRACE_RINGS=1 && summed && [ "$missing" = 1800 ]
}

# In the last line of each command, and in its exit status.
says_lost_calls()
{
	rm -rf "$tmp/traces" "$tmp/made" "$tmp/run.trace"
	"$build/jf-trace" run -o "$tmp/run.trace" --mode keep -e 'call/losses:l_*' -- "$build/losses" deep "$tmp/made" > "$tmp/line" 2>&1
	rc=$?
	tail -n 2 "$tmp/line"
	line='records [0-9]*, overwritten 0, discarded 2808; 2808 calls found no room in the agent'
	[ "$rc" = 123 ] && tail -n 2 "$tmp/line" | grep -q "$line" || return 1
	for how in '' --summary --json; do
		# shellcheck disable=SC2086
		"$build/jf-trace" report $how "$tmp/run.trace" > "$tmp/table" 2> "$tmp/line"
		rc=$?
		cat "$tmp/line"
		[ "$rc" = 5 ] && tail -n 1 "$tmp/line" | grep -q "$line" && [ "$(grep -c 2808 "$tmp/line")" = 1 ] || return 1
	done
	"$build/jf-trace" recover "$tmp/run.trace" "$tmp/copy" > "$tmp/table" 2> "$tmp/line"
	[ $? = 5 ] && tail -n 1 "$tmp/line" | grep -q "$line" || return 1
	"$build/jf-trace" report "$tmp/copy" > "$tmp/table" 2> "$tmp/line"
	[ $? = 5 ] && tail -n 1 "$tmp/line" | grep -q "$line"
}
# because REASON WAY...: the reason is that one
because() { reason=$1; shift; lost "$@" && grep -q "had no ring: .*$reason" "$tmp/line"; }

# says_removed STATUS FILES: in the last line
says_removed()
{
	"$build/jf-trace" report "$tmp/traces" > "$tmp/table" 2> "$tmp/line"
	rc=$?
	cat "$tmp/line"
	[ "$rc" = "$1" ] && case $2 in
	0) ! grep -q 'were removed' "$tmp/line" ;;
	*) tail -n 1 "$tmp/line" | grep -q "; $2 files of the trace were removed" ;;
	esac
}

# Files of packets that another program has removed have records that nothing counts. $1: a mode
removed()
{
	folder=''
	recorded threads JUMPFUNC_TRACE_MODE="$1" JUMPFUNC_TRACE_PACKET_SIZE=4096 JUMPFUNC_TRACE_PACKETS=64 && says_removed 0 0 || return 1
	for file in "$tmp"/traces/*/r*; do
		break
	done
	rm "$file" && says_removed 5 1 && rm "$tmp"/traces/*/r* && { "$build/jf-trace" report "$tmp/traces" 2>&1; [ $? = 5 ]; }
}

small="JUMPFUNC_TRACE_PACKETS=2 JUMPFUNC_TRACE_PACKET_SIZE=4096"

on_a_disk()
{
	# shellcheck disable=SC2016
	unshare -rm sh -c 'mkdir -p "$1/full" && mount -t tmpfs -o size=64k none "$1/full" && exec "$0" --inside "$2" "$1/full"' \
		"$0" "$tmp" "$build"
}

inside()
{
	folder=$1
	recorded disk JUMPFUNC_TRACE_MODE=keep JUMPFUNC_TRACE_PACKET_SIZE=4096 && accounted
}

# shellcheck disable=SC2086
{
if [ "$1" = --inside ]; then
	build=$2
	inside "$3"
	exit
fi
ways=
is() { ways="$ways $1"; name=$1; shift; check "$name" "$@"; }
not() { ways="$ways $1"; skip "$1" "$2"; }
is overwrite lost overwrite $small
is discard lost discard $small JUMPFUNC_TRACE_MODE=discard
is rings because JUMPFUNC_TRACE_RINGS rings JUMPFUNC_TRACE_RINGS=2
is descriptors because 'ulimit -n' descriptors
is file-size because 'ulimit -f' file-size
is killed lost killed
is fork lost fork
is no-trace lost no-trace
is vfork lost vfork
is clone lost clone
is threads lost threads
check "files that are removed" removed overwrite
check "files that are removed, mode keep" removed keep
if [ -e "$agent" ]; then
	is deep lost_calls deep
	is stacks lost_calls stacks
	is no-memory lost_calls no-memory
	check "calls without a ring are counted once" calls_without_ring
	check "each command says lost calls" says_lost_calls
else
	not deep "there is no agent (libzydis-dev)"
	not stacks "there is no agent"
	not no-memory "there is no agent"
fi
if [ "$(id -u)" = 0 ]; then
	is setuid lost setuid JUMPFUNC_TRACE_PACKET_SIZE=4096 JUMPFUNC_TRACE_PACKETS=64
	is chroot lost chroot JUMPFUNC_TRACE_PACKET_SIZE=4096 JUMPFUNC_TRACE_PACKETS=64
else
	not setuid "this must be root"
	not chroot "this must be root"
fi
spaces='JUMPFUNC_TRACE_PACKET_SIZE=4096 JUMPFUNC_TRACE_PACKETS=64'
if unshare -mp true 2> /dev/null; then
	is mounts lost mounts $spaces
	is pids lost pids $spaces
else
	not mounts "no name space of mounts can be made here, or this is not root"
	not pids "no name space of processes can be made here, or this is not root"
fi
if unshare -U true 2> /dev/null; then
	is users lost users $spaces
else
	not users "no name space of users can be made here"
fi
if unshare -rm true 2> /dev/null; then
	is disk on_a_disk
else
	not disk "no mount namespace may be made here (unshare -rm)"
fi
}
same_rows()
{
	rows | cut -d'|' -f1 | sort > "$tmp/rows"
	echo "$ways" | tr ' ' '\n' | sed '/^$/d' | sort | diff "$tmp/rows" -
}
check "the table of the manual has these ways" same_rows
tap_end
