#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ARM64: the demo
# JF_ANY_BACKEND: it shows the same with each of them
# The files of debugfs do what they are for.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "func0 to func3, functions, stats, help"
jf_load

for f in func0 func1 func2 func3 functions dispatch; do
	check_eq "$f is root's alone to read and write" "$(stat -c '%a %u' $JF/$f)" "600 0"
done
for f in stats events help; do
	check_eq "$f is root's alone to read" "$(stat -c '%a %u' $JF/$f | sed 's/^600/400/')" "400 0"
done

# What the targets make of 7, 5 and 3, worked out here and not there.
expect()	# FUNC TARGET
{
	case $1$2 in
	00) echo 100 ;; 01) echo 101 ;; 02) echo 102 ;;
	10) echo 7 ;; 11) echo $((7 * 7)) ;; 12) echo $((-7)) ;;
	20) echo $((7 + 5)) ;; 21) echo $((7 * 5)) ;; 22) echo $((7 - 5)) ;;
	30) echo $((7 + 5 + 3)) ;; 31) echo $((7 * 5 * 3)) ;; 32) echo $((7 - 5 - 3)) ;;
	esac
}

for n in 0 1 2 3; do
	check_eq "func$n starts at target 0" "$(jf_call $n)" "0 $(expect $n 0)"
	# Every way from one target to another, and to itself.
	for t in 1 2 0 2 1 1 0 0; do
		check "func$n takes $t" jf_write func$n $t
		jf_log_mark
		check_eq "func$n then runs target $t" "$(jf_call $n)" "$t $(expect $n $t)"
		check_match "the console says so" "$(jf_log_new)" "jumpfunc: func$n: target $t .*returns $(expect $n $t)\$"
		check_match "functions says so" "$(grep "^func$n " $JF/functions)" "^func$n jumpfunc [0-9a-f]+ jf_func${n}_$t "
	done
done

# One function's target is not another one's.
jf_write func1 1; jf_write func2 2
check_eq "func0 is as it was" "$(jf_call 0)" "0 100"
check_eq "func1 is at 1" "$(jf_call 1)" "1 49"
check_eq "func2 is at 2" "$(jf_call 2)" "2 2"
check_eq "func3 is as it was" "$(jf_call 3)" "0 15"

# echo's newline is part of the usual way to write.
echo 1 >$JF/func3
check_eq "a newline at the end is no harm" "$(jf_call 3)" "1 105"

# Counters.
before=$(jf_stat updates)
jf_write func0 1; jf_write func0 2
check_eq "stats counts updates" "$(jf_stat updates)" $((before + 2))
before=$(jf_stat updates)
jf_write func0 2
check_eq "a target that is there already is no update" "$(jf_stat updates)" "$before"
for s in batches sites_patched sync_broadcasts int3_hits update_ns_last update_ns_min update_ns_max; do
	check_match "stats has $s" "$(jf_stat $s)" '^[0-9]+$'
done
if [ "$(jf_stat backend)" != indirect ]; then
	before=$(jf_stat sites_patched)
	jf_write func0 0
	check_match "an update patches sites" $(($(jf_stat sites_patched) - before)) '^[1-9]'
	b0=$(jf_stat sync_broadcasts)
	jf_write func0 1
	case $(jf_stat backend) in
	*xmc*) check_eq "one transaction is $(jf_broadcasts) broadcast(s)" $(($(jf_stat sync_broadcasts) - b0)) "$(jf_broadcasts)" ;;
	esac
fi

# By name, several at once.
check "functions takes names" jf_write functions "func0=jf_func0_2 func1=jf_func1_2 func2=default"
check_eq "func0 follows" "$(jf_call 0)" "2 102"
check_eq "func1 follows" "$(jf_call 1)" "2 -7"
check_eq "func2 follows" "$(jf_call 2)" "0 12"

for f in func0 functions stats dispatch events; do
	check_match "help speaks of $f" "$(cat $JF/help)" "$f"
done

# A reader with a small buffer must see the same.
check_eq "functions can be read in small pieces" "$(dd if=$JF/functions bs=7 2>/dev/null | md5sum)" "$(md5sum <$JF/functions)"
jf_done
