#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=1: how many subscribers each mode has is ours alone; dispatch.sh attaches each mode on each kernel
# JF_ANY_BACKEND: it shows the same with each of them
# JF_TIMEOUT=240
# The event set's subscribers: 0 to 16 of them in every mode, each event reaches all of them, every
# record is accounted for, and numbers change under load.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "subscribers of the event set"
jf_log_mark
jf_load
check_eq "the log has nothing of tracepoints that this kernel lacks" "$(jf_log_new | grep -c 'no tracepoint')" 0

# load PAUSE: without one, an emulated CPU has half as much time for all else.
load() { while :; do ls / | cat >/dev/null; sleep "$1"; done; }
events=$(awk '$1 != "#" && $2 != "missing" {print $1}' $JF/events)
# column MODE: event and hits in it
column() { awk -v m="$1" 'NR == 1 {for (i = 2; i <= NF; i++) if ($i == m) c = i - 1; next} {print $1, $c}' $JF/events; }
total() { awk 'NR > 1 {for (i = 3; i <= NF; i++) s += $i} END {print s + 0}' $JF/events; }

check_match "at least 12 tracepoints are there" "$(echo "$events" | wc -l)" '^(1[2-9]|[2-9][0-9])$'
check_eq "one subscriber to begin with" "$(cat $JF/subscribers)" 1
for n in 17 -1 x '1 2' 4294967296; do
	check_fails "no $n subscribers" jf_write subscribers "$n"
done
check_eq "still one" "$(cat $JF/subscribers)" 1

jf_run load 0.05
for m in kernel indirect dynfunc chain; do
	# A chain's image has a place for each of them; the others have a loop.
	numbers="0 1 16"
	[ $m != chain ] || numbers="0 1 2 7 16"
	for n in $numbers; do
		jf_write dispatch off && jf_write subscribers $n
		column $m >"$JF_TMP/before"
		if ! jf_write dispatch $m; then fail "$m with $n subscribers is taken"; continue; fi
		sleep 0.3
		jf_write dispatch off
		column $m >"$JF_TMP/after"
		# More than nothing, and a multiple.  The kernel's own have no common moment.
		seen=$(awk 'NR == FNR {b[$1] = $2; next} {s += $2 - b[$1]} END {print s + 0}' "$JF_TMP/before" "$JF_TMP/after")
		if [ $n = 0 ]; then
			check_eq "$m: nothing is counted with no subscribers" "$seen" 0
			continue
		fi
		check_match "$m: $n subscribers run" "$seen" '^[1-9]'
		case $m in indirect|chain)
			odd=$(awk -v n=$n 'NR == FNR {b[$1] = $2; next} ($2 - b[$1]) % n {print $1, $2 - b[$1]}' \
				"$JF_TMP/before" "$JF_TMP/after")
			check_eq "$m: each event reaches all $n" "$odd" '' ;;
		esac
	done
	check_match "$m: its records are in the ring" "$(awk -v m=$m '$5 == m {n++} END {print n + 0}' $JF/ring)" '^[1-9]'
done

check_eq "every hit wrote a record" "$(jf_stat ring_records)" "$(total)"
# A writer that is interrupted for a whole round of the ring gives up; rare, and never in silence.
check "hardly one of them was dropped" [ $(($(jf_stat ring_dropped) * 1000)) -le "$(jf_stat ring_records)" ]
check_match "what was overwritten is counted" "$(jf_stat ring_overwritten)" '^[1-9]'
cat $JF/ring >"$JF_TMP/ring"
check_eq "records come in the order of time" "$(awk '!/^#/ {if ($1 < t) n++; t = $1} END {print n + 0}' "$JF_TMP/ring")" 0
# An event in mode chain: subscribers in their order, all of the same CPU and thread.
check_eq "subscribers run in their order" \
	"$(awk '$5 == "chain" && $4 > 0 {if (last[$2] != $4 - 1) n++} {last[$2] = $4} END {print (n > 4 ? n : 0)}' "$JF_TMP/ring")" 0

# Numbers and modes change under load.
jf_run load 0
n=0 last=x
while [ $n -lt 10 ]; do
	set -- kernel indirect dynfunc chain off
	shift $((n % 5))
	want=$((n * 7 % 17))
	jf_write subscribers $want && jf_write dispatch "$1" && jf_write subscribers $(((want + 9) % 17)) || break
	grep -qF "[$1]" $JF/dispatch || break
	n=$((n + 1))
done
check_eq "10 changes of mode, 20 of the number, under load" "$n" 10
check_eq "no subscriber saw another one's data" "$(jf_stat sample_mixed_up)" 0
jf_write subscribers 16
jf_write dispatch chain
check "it unloads with 16 subscribers attached" jf_unload
jf_done
