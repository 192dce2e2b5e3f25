#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=1: commands, rows and counts are ours; what they measure, other tests use on each kernel
# JF_ANY_BACKEND: it shows the same with each of them
# The benchmark module: every row of it gives a number and does what it says, updates take the
# broadcasts that they should, commands that make no sense are refused, a run can be interrupted.
# How large the numbers are is not checked: that depends on the machine.
# JF_TIMEOUT=300: the kernel's protocol writes 12,000 sites one at a time
. "$(dirname "$0")/../lib/lib.sh"

jf_start "the benchmark module"
jf_x86 || jf_has jumpfunc_bench || jf_skip_all "the benchmark measures x86 instructions"
jf_has jumpfunc_bench || jf_bail "jumpfunc_bench.ko is there" "build it first (make)"
jf_load
B=$JF/bench
check_fails "without its module there is no file" test -e $B
check "the module loads" jf_insmod jumpfunc_bench
[ -e $B ] || jf_bail "$B is there"
check_eq "only root reads and writes it" "$(stat -c %a $B)" 600
check "before a run, reading explains what to write" grep -q 'echo all > bench' $B

# With echo, since it says which error it got.
bench() { echo "$*" 2>"$JF_TMP/error" >$B; }
value() { sed -n "s/^# $1: //p" $B; }

# ---- every row ----

check "a small run of everything" bench all rounds=4 calls=64 repeats=1 onebyone_max=10 format=csv
cat $B >"$JF_TMP/csv"
backend=$(value backend)
check_eq "it says which back end was measured" "$backend" "$(jf_stat backend)"
check_eq "and what was asked for" "$(value settings)" "rounds=4 calls=64 repeats=1 onebyone_max=10"

{
	for layout in hot 64; do
		for shape in none direct inline trampoline static-call indirect pointer; do echo "call,$layout,$shape,0"; done
		for shape in none nop5 jmp test-hot static-nop static-jmp; do echo "branch,$layout,$shape,0"; done
	done
	echo branch,hot,none-cold,0
	echo branch,hot,test-cold,0
	for shape in none call chain kernel ftrace; do echo "subscribers,hot,$shape,0"; done
	for shape in ftrace inline inline-rcu inline-sleepable chain-bare chain-sleepable; do echo "subscribers,hot,$shape,1"; done
	# Where the kernel has tracepoints whose probes may fault.
	case $(uname -r) in [1-5].*|6.[0-9].*|6.1[0-2].*) ;; *) echo subscribers,hot,kernel-faultable,1 ;; esac
	for shape in none inc-dec enable-twice static-inc-dec; do echo "users,hot,$shape,0"; done
	for n in 1 2 4 8; do
		for shape in direct chain array-plain array-pointer kernel; do echo "subscribers,hot,$shape,$n"; done
	done
	for how in batch single; do
		for n in 1 10 100 1000 5000; do echo "update,dynfunc,$how,$n"; done
		for n in 1 10 100 1000; do echo "update,key,$how,$n"; done
	done
	for n in 1 10 100 1000; do echo "update,one-key,batch,$n"; echo "update,static-key,batch,$n"; done
} | sort >"$JF_TMP/wanted"
grep -v '^#' "$JF_TMP/csv" | tail -n +2 | cut -d, -f 1-4 | sort >"$JF_TMP/rows"
check_eq "all rows are there, each once" "$(diff "$JF_TMP/wanted" "$JF_TMP/rows")" ""

# columns FILTER PRINT: of the CSV, by name
columns()
{
	grep -v '^#' "$JF_TMP/csv" | awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) c[$i] = i; next}
		{group = $c["group"]; layout = $c["layout"]; shape = $c["shape"]; n = $c["n"]
		raw = $c["raw_ns_min"]; median = $c["raw_ns_median"]; cycles = $c["raw_cycles_min"]
		broadcasts = $c["ratio_or_broadcasts"]; sites = $c["sites_patched"]; commits = $c["transactions"]
		samples = $c["samples"]; note = $c["note"]}
		'"$1"' {print '"$2"'}'
}

lines=$(columns 'group != "update" && !(raw + 0 > 0 && median + 0 >= raw + 0 && cycles + 0 > 0)' '$0')
check_eq "each row has a number above zero" "$lines" ""
lines=$(columns 'group == "update" && (shape == "batch" || n <= 10) && !(raw + 0 > 0 && median + 0 >= raw + 0)' '$0')
check_eq "each update has a time above zero" "$lines" ""
lines=$(columns 'shape == "single" && n > 10 && (raw != "" || note !~ /skipped/)' '$0')
check_eq "updates beyond onebyone_max are skipped, not made up" "$lines" ""
lines=$(columns 'group != "update" && !(samples == 4) || shape == "batch" && samples != 2' '$0')
check_eq "each has as many samples as were asked for" "$lines" ""

# ---- what updates take ----

taken='group == "update" && raw != ""'
case $backend in
xmc) protocol=own ;;
kernel) protocol=kernel\'s ;;
indirect) protocol=none ;;
*) protocol='(own|kernel.s|both)' ;;
esac
lines=$(columns "$taken && note !~ /protocol: $protocol/ && layout != \"static-key\"" '$0')
check_eq "the protocol is the back end's" "$lines" ""
lines=$(columns "$taken && layout == \"static-key\" && !(note ~ /kernel.s jump labels/ && sites == n && broadcasts commits == \"\")" '$0')
check_eq "of the kernel's own keys no more is claimed than was seen" "$lines" ""
own='note ~ /protocol: own/'
if [ -n "$(columns "$taken && $own" n)" ]; then
	one=$(jf_broadcasts)
	lines=$(columns "$taken && $own && shape == \"batch\" && !(broadcasts == $one && commits == 1)" '$0')
	check_eq "a batch of any size takes as many broadcasts as one change: $one" "$lines" ""
	lines=$(columns "$taken && $own && shape == \"single\" && !(broadcasts == $one * n && commits == n)" '$0')
	check_eq "one by one takes $one for each" "$lines" ""
	# On arm64 gcc doubles a branch that follows another one.
	doubled=0
	jf_x86 || doubled=1
	each='(layout == "dynfunc" ? 2 : 1)'
	lines=$(columns "$taken && layout != \"static-key\" && (sites < n * $each || sites > n * ($each + $doubled))" '$0')
	check_eq "all sites are written, and no others" "$lines" ""
fi
lines=$(columns "$taken && note ~ /protocol: kernel's\"/ && broadcasts != 3 * sites" '$0')
check_eq "the kernel's protocol takes three for each site" "$lines" ""
lines=$(columns "$taken && note ~ /protocol: none/ && (broadcasts != 0 || sites != 0)" '$0')
check_eq "without patching there are none" "$lines" ""

# What the rows say, added up, against what the core counted.
before=$(jf_stat sync_broadcasts)
check "updates alone" bench batches repeats=1 onebyone_max=10
cat $B >"$JF_TMP/csv"
rose=$(($(jf_stat sync_broadcasts) - before))
check_eq "the broadcasts add up to what stats counted" \
	"$(columns "$taken" 'broadcasts * samples' | awk '{s += $1} END {print s + 0}')" "$rose"

# ---- what is said of the machine ----

if ! jf_x86; then
	skip "whether the CPU is emulated" "no module is told on this architecture"
elif [ "${JF_EMULATED:-0}" = 1 ]; then
	check "an emulated CPU is called one" grep -q '^# EMULATED by QEMU TCG' $B
else
	check_fails "a CPU is not called emulated" grep -q '^# EMULATED' $B
fi
spectre=$(cat /sys/devices/system/cpu/vulnerabilities/spectre_v2 2>/dev/null)
case $spectre in
*etpoline*) want='^retpoline' ;;
*LFENCE*) want='lfence' ;;
Vulnerable*) want='^plain|jmp \*reg' ;;
*) want='plain|thunk|lfence' ;;
esac
jf_x86 || want='^as the compiler made it'
check_match "how pointers are called agrees with the kernel ($spectre)" "$(value pointer_call)" "$want"

check "the same results as a table" bench format=table
check_match "they are one" "$(cat $B)" 'batches: jump-label keys'

# ---- commands that make no sense ----

cat $B >"$JF_TMP/table"
jf_log_mark
# refuse COMMAND EXPRESSION: with -EINVAL; a line of the log must match, looked for below
refuse()
{
	if bench "$1"; then
		fail "refused: '$(echo "$1" | cut -c 1-40)'" "it was not"
	else
		check_match "refused: '$(echo "$1" | cut -c 1-40)'" "$(cat "$JF_TMP/error")" 'Invalid argument'
	fi
	echo "jumpfunc.*bench: $2" >>"$JF_TMP/reasons"
}
refuse "frobnicate" '"frobnicate" is not understood; write all'
refuse "calls rounds=0" '"rounds=0".*from 1 to 10000'
refuse "calls rounds=10001" '"rounds=10001".*from 1 to 10000'
refuse "calls rounds=-1" '"rounds=-1".*from 1 to 10000'
refuse "calls rounds=" '"rounds=".*from 1 to 10000'
refuse "calls calls=63" '"calls=63".*from 64 to 16384'
refuse "all repeats=x" '"repeats=x".*from 1 to 1000'
refuse "batches onebyone_max=5001" '"onebyone_max=5001".*from 0 to 5000'
refuse "calls format=xml" '"format=xml" is not understood'
refuse "rounds=5" 'nothing to run; write all'
refuse " " 'nothing to run; write all'
refuse "$(printf '%4097s' x)" 'a command is one write of 1 to 4095 bytes'
if printf 'calls\0rubbish' >$B 2>/dev/null; then fail "refused: a NUL byte"; else pass "refused: a NUL byte"; fi
echo "jumpfunc: bench: a NUL byte in the command" >>"$JF_TMP/reasons"
jf_log_new | grep 'jumpfunc_bench: \|jumpfunc: bench: ' >"$JF_TMP/said"
check_eq "each has one line in the log" "$(wc -l <"$JF_TMP/said")" "$(wc -l <"$JF_TMP/reasons")"
lines=$(paste -d '\001' "$JF_TMP/said" "$JF_TMP/reasons" | awk -F '\001' '$1 !~ $2')
check_eq "which names the word and what it should be" "$lines" ""
check_eq "the results are still those of before" "$(cat $B)" "$(cat "$JF_TMP/table")"

# ---- while a run is under way ----

# begin COMMAND SUITE: in a shell that lives on after a signal and says how the write ended.  With
# printf: busybox's echo would try again.
begin()
{
	sh -c 'trap : TERM; if printf %s "$1" >'$B'; then echo done; else echo ended early; fi' sh "$1" >"$JF_TMP/writer" 2>&1 &
	JF_PIDS="$JF_PIDS $!"
	writer=$!
	for i in 1 2 3 4 5 6 7 8 9 10; do
		! grep -q '^# a run is under way: '"$2" $B || return 0
		sleep 0.2
	done
	return 1
}

check "a long run begins, and a reader is told" begin "calls calls=16384 rounds=10000" calls
check_fails "a second writer is refused" bench calls
check_match "because one is busy" "$(cat "$JF_TMP/error")" 'busy'
check "what was measured before can be read meanwhile" grep -q 'batches: jump-label keys' $B
check_fails "the module stays while it runs" rmmod jumpfunc_bench
kill -TERM $writer
wait $writer
check_match "a signal ends the run" "$(cat "$JF_TMP/writer")" 'ended early'
check_fails "no run is left" grep -q 'under way' $B
check_eq "no thread is left" "$(ps | grep -c '[j]f_bench')" 0

check "a run of updates begins" begin "batches repeats=1000" batches
kill -TERM $writer
wait $writer
check_match "a signal ends it as well" "$(cat "$JF_TMP/writer")" 'ended early'
check "all keys are back where they were: updates can be measured again" bench batches repeats=1 onebyone_max=10

# ---- away and back ----

check_fails "jumpfunc stays while its benchmark is there" rmmod jumpfunc
check "the benchmark unloads" jf_rmmod jumpfunc_bench
check_fails "and its file with it" test -e $B
check "jumpfunc goes on without it" jf_write func1 1
jf_done
