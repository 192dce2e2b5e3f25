#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Disks that are full, or may not be written: the program runs on, and what is lost is counted.
# usage: disks.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

# In a mount namespace of its own: no mount is left.
inside() { unshare -rm sh -euc "$1" sh "$build" "$tmp"; }

# A tmpfs of 96 KiB has room for the metadata and one packet of 64 KiB; SIGBUS would end the program.
full()
{
	# shellcheck disable=SC2016
	inside 'mkdir -p "$2/full"; mount -t tmpfs -o size=96k none "$2/full"
		JUMPFUNC_TRACE="jftest:*" JUMPFUNC_TRACE_DIR=$2/full "$1/trace_events" 20000
		"$1/jf-recover" "$2"/full/*
		ls -l "$2"/full/*' > "$tmp/out" || { cat "$tmp/out"; return 1; }
	cat "$tmp/out"
	grep -qx 'packets 1' "$tmp/out" && grep -qx 'damaged 0' "$tmp/out" || return 1
	# One packet is overwritten again and again; 20000 rounds are between 60000 and 120000 records.
	awk '$1 == "records" || $1 == "overwritten" || $1 == "discarded" { n += $2 } END { print n; exit n < 60000 || n > 120000 }' \
		"$tmp/out"
}

# Nothing fits, not even the first packet: all are lost, and counted.
fuller()
{
	# shellcheck disable=SC2016
	inside 'mkdir -p "$2/full"; mount -t tmpfs -o size=40k none "$2/full"
		JUMPFUNC_TRACE=jftest:small JUMPFUNC_TRACE_DIR=$2/full "$1/trace_events" 5000
		"$1/jf-recover" "$2"/full/*' > "$tmp/out" || { cat "$tmp/out"; return 1; }
	cat "$tmp/out"
	grep -qx 'records 0' "$tmp/out" && grep -qx 'discarded 5000' "$tmp/out"
}

# No folder can be made: it says so, once, and the program runs.
no_folder()
{
	# shellcheck disable=SC2016
	inside 'mkdir -p "$2/full"; mount -t tmpfs -o '"$1"' none "$2/full"
		JUMPFUNC_TRACE="jftest:*" JUMPFUNC_TRACE_DIR=$2/full "$1/trace_events" 1000 && echo ran' > "$tmp/out" 2>&1
	cat "$tmp/out"
	grep -qx ran "$tmp/out" && [ "$(grep -c "libjumpfunc-trace: JUMPFUNC_TRACE: nothing is recorded: $2" "$tmp/out")" = 1 ]
}

# Another user's folder in a place where all may write, or a link to one, is not used.
not_own()
{
	# shellcheck disable=SC2016
	inside 'mount -t tmpfs none /dev/shm; mkdir -m '"$1"' "/dev/shm/'"$2"'"; '"$3"'
		unset XDG_RUNTIME_DIR
		JUMPFUNC_TRACE="jftest:*" "$1/trace_events" && echo ran; ls -A /dev/shm/*' > "$tmp/out" 2>&1
	cat "$tmp/out"
	grep -q 'nothing is recorded: Operation not permitted' "$tmp/out" && grep -qx ran "$tmp/out" &&
		! grep -q trace_events- "$tmp/out"
}

no_inodes() { no_folder nr_inodes=1 "No space left on device"; }
read_only() { no_folder ro "Read-only file system"; }

# SIGXFSZ would end it.
limited()
{
	mkdir -p "$tmp/limited" &&
		(ulimit -f 40 && JUMPFUNC_TRACE=jftest:small JUMPFUNC_TRACE_DIR=$tmp/limited "$build/trace_events" 5000) &&
		"$build/jf-recover" "$tmp"/limited/* > "$tmp/out" && cat "$tmp/out" && grep -qx 'discarded 5000' "$tmp/out"
}

# What is no option is refused, not guessed.
bad_options()
{
	for option in MODE=over CLOCK=sun PACKETS=1 PACKETS=-4 PACKET_SIZE=5000 RINGS=x; do
		env JUMPFUNC_TRACE='*' JUMPFUNC_TRACE_DIR="$tmp" "JUMPFUNC_TRACE_$option" "$build/trace_events" 2> "$tmp/out" ||
			return 1
		grep -q 'nothing is recorded: Invalid argument' "$tmp/out" || { echo "$option"; cat "$tmp/out"; return 1; }
	done
}

if unshare -rm true 2> /dev/null; then
	check "a disk that is full after one packet" full
	check "a disk that is full at once" fuller
	check "no inode is left" no_inodes
	check "a read-only file system" read_only
	check "the folder may be entered by others" not_own 755 "jumpfunc-0" :
	check "the folder is a link" not_own 700 elsewhere "ln -s elsewhere /dev/shm/jumpfunc-0"
else
	skip "disks" "no mount namespace may be made here (unshare -rm)"
fi
check "RLIMIT_FSIZE" limited
check "options that are none" bad_options
tap_end
