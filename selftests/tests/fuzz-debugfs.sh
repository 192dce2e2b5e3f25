#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=1: the parsers decide
# JF_ANY_BACKEND: it shows the same with each of them
# JF_TIMEOUT=120
# JF_TIMEOUT_LONG=3600
# A fuzzer over every file that can be written: it knows what each input must do, and compares all that
# can be seen before and after.  JF_SEED=N repeats the inputs of a run, JF_INPUT=N shows one of them.
# JF_LONG=1: a hundred thousand inputs, else as many as there is time for in 20 s.
. "$(dirname "$0")/../lib/lib.sh"

LEAK=/sys/kernel/debug/kmemleak
seed=${JF_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}

jf_start "made-up input to every file, seed $seed (JF_SEED=$seed repeats it)"
jf_tool fuzz_debugfs || jf_skip_all "no fuzz_debugfs, and no compiler to make it with"
jf_load
check "functions of other modules are loaded" eval "jf_insmod jf_each_op && jf_insmod jf_sample_provider"
leaks=0
[ -w $LEAK ] && echo scan=off >$LEAK 2>/dev/null && echo clear >$LEAK && leaks=1

if [ -n "${JF_INPUT:-}" ]; then set -- -o "$JF_INPUT"
elif [ "${JF_LONG:-0}" = 0 ]; then set -- -t 15 -c 6
else set -- -n 100000 -c 60 -v; fi
# Not into a pipe: its status counts.
if fuzz_debugfs -s "$seed" "$@" >"$JF_TMP/fuzz" 2>&1; then
	pass "each input did what it should"
else
	fail "each input did what it should" "$(tail -n 40 "$JF_TMP/fuzz")"
fi
note "$(tail -n 2 "$JF_TMP/fuzz")"

if [ -n "$(jf_ko jumpfunc_bench)" ] && [ -z "${JF_INPUT:-}" ]; then
	jf_insmod jumpfunc_bench
	n=300
	[ "${JF_LONG:-0}" = 0 ] || n=10000
	if fuzz_debugfs -s "$seed" -b -n $n >"$JF_TMP/fuzz" 2>&1; then
		pass "each input to bench did what it should"
	else
		fail "each input to bench did what it should" "$(tail -n 40 "$JF_TMP/fuzz")"
	fi
	note "$(tail -n 1 "$JF_TMP/fuzz")"
	jf_rmmod jumpfunc_bench
fi

# Whatever was written, all of it still works.
jf_write dispatch off; jf_write subscribers 1
check "functions are set back" jf_write functions "func0=default func1=default func2=default func3=default"
check_eq "func2 calls its first target" "$(jf_call 2)" "0 12"
check_eq "no subscriber got another one's data" "$(jf_stat sample_mixed_up)" 0
if [ $leaks = 1 ]; then
	rm -f "$JF_TMP/fuzz"
	sleep 6
	echo scan >$LEAK; echo scan >$LEAK
	lost=$(cat $LEAK)
	if [ -z "$lost" ]; then pass "nothing is lost, says kmemleak"; else
		fail "nothing is lost, says kmemleak" "$(printf '%s\n' "$lost" | head -n 40)"; fi
	echo scan=on >$LEAK
else
	skip "no memory is lost" "no kmemleak in this kernel (CONFIG_DEBUG_KMEMLEAK)"
fi
jf_done
