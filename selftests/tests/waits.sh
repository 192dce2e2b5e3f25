#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries those that matter itself
# JF_TIMEOUT=240
# A thread sleeps in a probe, called by code that was replaced meanwhile: an image, or the iterator. The unload of
# a module waits for it if what the thread may call next is in that module, or if the module has its data; no other
# module's unload waits. Nor does a module that adds a notifier to the kernel's chain, or any that is loaded after that.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "waits for a probe that sleeps"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
jf_has jf_waits || jf_skip_all "no jf_waits.ko: build selftests/modules"
P=/sys/module/jf_waits/parameters

# beside NAME COMMAND...: in the background; over NAME: it has ended, and well
beside()
{
	jf_b=$1; shift
	rm -f "$JF_TMP/$jf_b".*
	( "$@" >"$JF_TMP/$jf_b.out" 2>&1; echo $? >"$JF_TMP/$jf_b.rc"; mv "$JF_TMP/$jf_b.rc" "$JF_TMP/$jf_b.over" ) &
}
over() { [ -e "$JF_TMP/$1.over" ]; }
# leaves_and_over NAME: the thread goes on. (An insmod that fails has it sleep again, and tries it twice.)
leaves_and_over() { echo 0 >$P/hold; over "$1"; }
well() { [ "$(cat "$JF_TMP/$1.over")" = 0 ]; }
# ends NAME WHAT: within twenty seconds, while the thread sleeps; if not, the thread goes on, or nothing would end
ends()
{
	if jf_until 200 over "$1"; then
		check "$2" well "$1"
		return
	fi
	fail "$2" "not in 20 s: $(jf_log | tail -n 2)"
	echo 0 >$P/hold
	jf_until 200 over "$1" || jf_bail "$2, with help"
}
# sleeps: a thread is in the probe
sleeps() { echo 1 >$P/enter; }

# limit MODULE WHAT COMMAND...: the command waits for the thread, in the chain of notifiers only for some time. Then
# another module adds a notifier.
limit()
{
	jf_w="$b, $1, $2" jf_o=$1; shift 2
	beside one "$@"
	jf_until 300 grep -q "^$jf_o .* Unloading" /proc/modules
	beside chain insmod "$(jf_ko jf_waits_chain)"
	ends chain "$jf_w: a module adds a notifier meanwhile"
	beside chain insmod "$(jf_ko jf_trace_set)"
	ends chain "$jf_w: another one is loaded"
	beside chain rmmod jf_trace_set jf_waits_chain
	ends chain "$jf_w: both are unloaded"
	check_fails "$jf_w: it still waits for the thread" over one
	check_eq "$jf_w: its state is shown" "$(cat /sys/module/"$jf_o"/initstate)" going
	check "$jf_w: it ends when the thread has left" jf_until 200 leaves_and_over one
}

for b in ${JF_BACKEND:-$(jf_patching && echo auto) indirect}; do
	jf_load "backend=$b"
	check "$b: the probe that sleeps" jf_insmod jf_waits

	# Nothing of the other module is called by what was replaced.
	check "$b: a module with tracepoints of its own" jf_insmod jf_trace_set
	check "$b: a thread sleeps in the probe" sleeps
	check "$b: what called it is replaced" sh -c "echo 1 >$P/more"
	beside rmmod jf_rmmod jf_trace_set
	ends rmmod "$b: another module unloads meanwhile"
	jf_unloaded jf_trace_set
	check "$b: the thread leaves" sh -c "echo 0 >$P/enter"
	check "$b: no probe more" sh -c "echo 0 >$P/more"

	# The thread may be about to call a probe of the module, or to use its data.
	for how in data=0 data=1; do
		check "$b, $how: a module with a probe" jf_insmod jf_waits_guest $how
		check "$b, $how: a thread sleeps in front of it" sleeps
		beside rmmod rmmod jf_waits_guest
		jf_until 100 grep -q '^jf_waits_guest .* Unloading' /proc/modules
		sleep 3
		check_fails "$b, $how: its unload waits for the thread" over rmmod
		echo 0 >$P/hold
		ends rmmod "$b, $how: it unloads when the thread has left"
		jf_unloaded jf_waits_guest
		check "$b, $how: the thread leaves" sh -c "echo 0 >$P/enter"
	done

	for m in jf_waits_guest jf_waits_plain; do
		check "$b: $m has a probe" jf_insmod $m
		check "$b, $m: a thread sleeps in front of it" sleeps
		limit $m unload rmmod $m
		jf_unloaded $m
		check "$b, $m: the thread leaves" sh -c "echo 0 >$P/enter"
		limit $m load insmod "$(jf_ko $m)" fail=1
		check "$b, $m: the thread leaves again" sh -c "echo 0 >$P/enter"
	done

	check "$b: the probe unloads" jf_rmmod jf_waits
	jf_images_back "$b: all images are given back"
	check "$b: the core unloads" jf_unload
done
jf_done
