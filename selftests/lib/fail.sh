# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the tests of failing allocations share; sourced after lib.sh.

O=/sys/kernel/debug/jf_each_op
LEAK=/sys/kernel/debug/kmemleak

# What a failed operation must leave as it was: all bytes, targets, states, mappings ...
same="-S $JF/functions -S $JF/keys -S $JF/dispatch -S $JF/subscribers -S /proc/vmallocinfo=jumpfunc\\]"
# ... and counts.
counters='^(updates|batches|sites_patched|sync_broadcasts|by_xmc|by_kernel|fallbacks|trace_transitions) '

# fail_start: a test is only of use where allocations can fail
fail_start()
{
	[ -e /proc/self/fail-nth ] && [ -d /sys/kernel/debug/failslab ] ||
		jf_skip_all "this kernel cannot let allocations fail (CONFIG_FAULT_INJECTION, CONFIG_FAILSLAB); kernel 6.1-virtual of harness/kernels.tab can"
	jf_has jf_each_op || jf_skip_all "no jf_each_op.ko: build selftests/modules"
	jf_tool failnth || jf_skip_all "no failnth, and no compiler to make it with"
	[ -d /sys/kernel/debug/fail_page_alloc ] || note "no CONFIG_FAIL_PAGE_ALLOC: pages are always there, slab objects are not"
	jf_complaints_expected
	jf_on_exit jf_complaints_over
	leaks=0
	if [ -w $LEAK ] && echo scan=off >$LEAK 2>/dev/null; then
		leaks=1
	else
		skip "no memory is lost" "no kmemleak in this kernel (CONFIG_DEBUG_KMEMLEAK)"
	fi
}

fail_done()
{
	note "$total attempts"
	jf_complaints_over
	jf_done
}

# What others have lost before does not count; it has to be found to be cleared.
leak_clear() { [ $leaks = 0 ] || { sleep 6; leak_scan; echo clear >$LEAK; }; }

# Where it lacked memory itself, it has switched itself off.
leak_scan()
{
	echo scan >$LEAK && echo scan >$LEAK || fail "kmemleak is still on" "see the kernel's log"
}

total=0
# nth DESCRIPTION OPTION...: one operation through all of its failures
nth()
{
	jf_desc=$1; shift
	failnth "$@" >"$JF_TMP/nth" 2>&1
	jf_rc=$?
	jf_sum=$(tail -n 1 "$JF_TMP/nth")
	case $jf_rc in
	0) pass "$jf_desc: $jf_sum"
	   jf_k=${jf_sum#attempts=}; total=$((total + ${jf_k%% *})) ;;
	*) fail "$jf_desc" "status $jf_rc: $(tail -n 12 "$JF_TMP/nth")" ;;
	esac
}

# hit DESCRIPTION OPTION...: the same, and it must have failed at least once: it does allocate
hit()
{
	nth "$@"
	case $jf_sum in
	*" failed=0 "*) fail "$1: at least one failure made it fail" "$jf_sum" ;;
	esac
}

# hits DESCRIPTION OPTION...: the same for what must not fail; there are some that it survives
hits()
{
	nth "$@"
	case $jf_sum in
	*" survived=0") fail "$1: at least one was hit" "$jf_sum" ;;
	esac
}

# Those of the modules: processes and terminals have some as well, whose number changes.
list_mappings() { grep -vE 'unpurged|kernel_clone|_do_fork|n_tty_open' /proc/vmallocinfo; }
mappings() { list_mappings | wc -l; }

# leak_check WHEN: what was allocated since the last one and is reachable from nowhere
leak_check()
{
	[ $leaks = 1 ] || return 0
	# It reports nothing that is younger than five seconds; what stands in registers and on stacks
	# may hide something from one scan.
	sleep 6
	leak_scan
	jf_lost=$(cat $LEAK)
	if [ -z "$jf_lost" ]; then
		pass "$1: nothing is lost, says kmemleak"
	else
		fail "$1: nothing is lost, says kmemleak" "$(printf '%s\n' "$jf_lost" | grep -c '^unreferenced') objects, of which
$(printf '%s\n' "$jf_lost" | head -n 60)"
	fi
	echo clear >$LEAK
}
