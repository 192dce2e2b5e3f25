#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=1: the words in its files, and which module owns them, are decided by our sources
# JF_ANY_BACKEND: files in debugfs are the same with each of them
# JF_TIMEOUT=120
# The files in debugfs and the modules that own them: an init that fails with one of them open, one name for two
# files, modules that are unloaded while their file is open, being opened, read or written.
#
# Seen to fail (6.1) while files were shown before the last step of init that can fail: the module is freed
# with the file open, and closing it calls freed text.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "files in debugfs, and the modules that own them"

# ---- a second file of one name ----

if jf_has jf_second_room; then
	jf_load
	check "a module adds a file whose name is taken" jf_insmod jf_second_room
	check "the first of that name is still there" grep -q '^updates ' $JF/stats
	check "it unloads" jf_rmmod jf_second_room
	check "and has not removed the first" grep -q '^updates ' $JF/stats
	check "the core unloads" jf_unload
fi

# ---- an init that fails ----

if jf_has jf_init_fails; then
	check "jf_init_fails loads" jf_insmod jf_init_fails
	insmod "$(jf_ko jumpfunc)" 2>"$JF_TMP/insmod" &
	pid=$!
	opened=no
	while kill -0 $pid 2>/dev/null; do
		[ -r $JF/stats ] && { exec 8<$JF/stats; } 2>/dev/null && opened=yes && break
		sleep 0.05
	done
	note "opened while init was under way: $opened"
	check_fails "init fails" wait $pid
	check_fails "the module is not loaded" grep -q '^jumpfunc ' /proc/modules
	if [ $opened = yes ]; then
		check_fails "its file cannot be read any more" cat <&8
		exec 8<&-
	fi
	pass "closing it does no harm"
	check "jf_init_fails unloads" jf_rmmod jf_init_fails
fi

# ---- modules that are unloaded ----

if jf_has jumpfunc_bench; then
	jf_load
	check "the benchmark loads" jf_insmod jumpfunc_bench
	exec 7<$JF/bench
	check_fails "with its file open it stays" rmmod jumpfunc_bench
	check "the file can be read" grep -q . /proc/self/fd/7
	exec 7<&-
	(trap "exit 0" TERM; while :; do cat $JF/bench $JF/stats $JF/help; done) >/dev/null 2>&1 &
	JF_PIDS="$JF_PIDS $!"
	(trap "exit 0" TERM; while :; do echo nonsense >$JF/bench; sleep 0.1; done) >/dev/null 2>&1 &
	JF_PIDS="$JF_PIDS $!"
	n=0 went=0
	while [ $n -lt 100 ] && [ $went -lt 3 ]; do
		rmmod jumpfunc_bench 2>/dev/null && went=$((went + 1)) && insmod "$(jf_ko jumpfunc_bench)"
		n=$((n + 1))
	done
	jf_stop_all
	check_match "it is unloaded and loaded while its file is in use" "$went" '^[1-9]'
	check "it unloads" jf_rmmod jumpfunc_bench
	check_fails "and its file with it" test -e $JF/bench
	check_fails "and its help" grep -q bench $JF/help
	check "the core unloads" jf_unload
fi
jf_done
