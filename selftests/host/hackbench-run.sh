#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of scripts/hackbench-run.sh without a kernel: a made-up debugfs, and a perf, a
# hackbench and others of our own on PATH, whose numbers are known.  TAP on stdout.
#
# usage: hackbench-run.sh [shell ...]      default: every one of dash, bash, busybox

set -u
LC_ALL=C
export LC_ALL

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
script=$top/scripts/hackbench-run.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export work

# shellcheck source=selftests/host/tap.sh
. "$top/selftests/host/tap.sh"
# is WHAT GOT WANTED
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got:    $2" "wanted: $3" "$(tail -n 5 "$work/err" 2>/dev/null)"; fi; }
# has WHAT FILE PATTERN...: every basic regular expression occurs
has()
{
	has_what=$1
	has_file=$2
	shift 2
	for pattern; do
		if ! grep -q -e "$pattern" "$has_file"; then
			not_ok "$has_what" "no \"$pattern\" in $(basename "$has_file"):" "$(cat "$has_file")"
			return
		fi
	done
	ok "$has_what"
}

# ---- the made-up machine ----

fake()
{
	cat >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

make_tools()
{
	mkdir -p "$work/bin"
	# Writes what real perf writes; numbers come from $work/perf.  The mode in force
	# gets 100 hits per run and event in the events file, as the module would count them.
	fake perf <<'END'
#!/bin/sh
out=/dev/stderr n=1 events=
case " $* " in *"duration_time"*) [ ! -e "$work/old-perf" ] || { echo "event syntax error: 'duration_time'" >&2; exit 129; } ;; esac
[ ! -e "$work/broken-perf" ] || { echo "WARNING: perf not found for kernel 9.9" >&2; exit 2; }
shift
while [ $# -gt 0 ]; do
	case $1 in
	-r) n=$2; shift 2 ;;
	-e) events=$2; shift 2 ;;
	-o) out=$2; shift 2 ;;
	-x,) shift ;;
	--) shift; break ;;
	*) echo "fake perf: $1?" >&2; exit 2 ;;
	esac
done
k=$n
while [ $k -gt 0 ]; do "$@" || exit; k=$((k - 1)); done
[ "$1" = true ] && exit 0
mode=$(cat "$JF_DEBUGFS/jumpfunc/dispatch" 2>/dev/null)
subs=$(cat "$JF_DEBUGFS/jumpfunc/subscribers" 2>/dev/null || echo x)
[ ! -d "$JF_TRACEFS/instances/jumpfunc-hackbench" ] || mode=trace-all
calls=$(grep -c "^$mode:$subs\$" "$work/log")
# seconds: the calls-th word of the line of this mode
s=$(awk -v m="$mode" -v n="$calls" '$1 == m { print $(n + 1 > NF ? NF : n + 1) }' "$work/times")
{
	echo "# started on some day"
	echo
	case $events in *duration_time*) awk -v s="${s:-1}" 'BEGIN { printf "%.0f,ns,duration_time,1,100.00,,\n", s * 1e9 }' ;; esac
	cat "$work/counters"
} >"$out"
END
	fake hackbench <<'END'
#!/bin/sh
mode=$(cat "$JF_DEBUGFS/jumpfunc/dispatch")
if [ -d "$JF_TRACEFS/instances/jumpfunc-hackbench" ]; then
	mode=trace-all
	mkdir -p "$JF_TRACEFS/instances/jumpfunc-hackbench/per_cpu/cpu0"
	printf 'entries: 70\noverrun: 30\ncommit overrun: 0\nbytes: 999\ndropped events: 5\nread events: 3\n' \
		>"$JF_TRACEFS/instances/jumpfunc-hackbench/per_cpu/cpu0/stats"
fi
echo "$mode:$(cat "$JF_DEBUGFS/jumpfunc/subscribers" 2>/dev/null || echo x)" >>"$work/log"
echo "$*" >>"$work/args"
echo $$ >"$work/pid"
silent=$(cat "$work/silent" 2>/dev/null)
loud=$(cat "$work/loud" 2>/dev/null)
awk -v m="$mode" -v silent="$silent" -v loud="$loud" '
	NR == 1 { for (i = 4; i <= NF; i++) if ($i == m || (m == "off" && $i == loud)) c = i - 1; print; next }
	{ if (c && m != silent && $2 == "attached") $c = sprintf("%.0f", $c + 100); print }' \
	"$JF_DEBUGFS/jumpfunc/events" >"$work/events.new" && cat "$work/events.new" >"$JF_DEBUGFS/jumpfunc/events"
echo "Running in process mode"
if [ -e "$work/hang" ]; then
	# One that a polite signal does not move
	(trap '' TERM; exec sleep 60) &
	trap 'echo TERM >"$work/got"; exit 143' TERM
	echo $! >"$work/grandchild"
	echo started >"$work/fifo"
	wait
fi
if [ -e "$work/fail-in" ] && [ "$(cat "$work/fail-in")" = "$mode" ]; then
	echo "fork() (error: Resource temporarily unavailable)"
	exit 1
fi
echo "Time: 0.250"
[ ! -e "$work/dispatch-dies" ] || { rm -f "$JF_DEBUGFS/jumpfunc/dispatch"; mkdir "$JF_DEBUGFS/jumpfunc/dispatch"; }
[ ! -e "$work/meddle" ] || echo indirect >"$JF_DEBUGFS/jumpfunc/dispatch"
END
	fake chrt <<'END'
#!/bin/sh
echo "$1 $2 $3" >>"$work/chrt"
shift 2
exec "$@"
END
	fake id <<'END'
#!/bin/sh
cat "$work/uid"
END
	fake insmod <<'END'
#!/bin/sh
echo "insmod $*" >>"$work/modules"
[ ! -e "$work/bad-module" ] || { echo "insmod: ERROR: could not insert module $1: $(cat "$work/bad-module")" >&2; exit 1; }
mkdir -p "$JF_SYSFS/module/jumpfunc"
mv "$work/unloaded" "$JF_DEBUGFS/jumpfunc"
END
	fake rmmod <<'END'
#!/bin/sh
echo "rmmod $*; mode $(cat "$JF_DEBUGFS/jumpfunc/dispatch")" >>"$work/modules"
END
	fake dmesg <<'END'
#!/bin/sh
echo "module: the kernel's own word"
END
	fake trace-cmd <<'END'
#!/bin/sh
echo "trace-cmd $*; mode $(cat "$JF_DEBUGFS/jumpfunc/dispatch")" >>"$work/tracing"
mkdir -p "$JF_TRACEFS/instances/jumpfunc-hackbench"
END
	# The instance is a made-up folder with files in it, which the real rmdir would refuse.
	fake rmdir <<'END'
#!/bin/sh
echo "rmdir $1" >>"$work/tracing"
exec rm -r "$1"
END
	# A PATH without perf, hackbench and gnuplot: links to all else that is needed.
	mkdir -p "$work/sparse"
	for tool in sh awk cat head tail tr grep sed date uname dd mkdir mktemp rm wc id setsid sleep dirname basename dash bash busybox; do
		path=$(command -v "$tool") && ln -sf "$path" "$work/sparse/$tool"
	done
	ln -sf "$work/bin/id" "$work/sparse/id"
}

# A plain file keeps only the word written last: show all modes again
offer() { echo "off [indirect] dynfunc" >"$jf/dispatch"; }

# A new machine with a loaded jumpfunc in mode indirect
reset()
{
	rm -rf "$work/m" "$work/out" "$work/unloaded"
	for f in log args pid silent loud hang fail-in dispatch-dies meddle got fifo grandchild modules tracing \
		old-perf broken-perf bad-module; do
		rm -f "$work/$f"
	done
	: >"$work/log"
	JF_SYSFS=$work/m/sys
	JF_PROCFS=$work/m/proc
	JF_DEBUGFS=$JF_SYSFS/kernel/debug
	JF_TRACEFS=$JF_SYSFS/kernel/tracing
	JF_DEVFS=$work/m/dev
	JF_EMULATED=
	export JF_SYSFS JF_PROCFS JF_DEBUGFS JF_TRACEFS JF_DEVFS JF_EMULATED
	jf=$JF_DEBUGFS/jumpfunc
	mkdir -p "$jf" "$JF_PROCFS" "$JF_SYSFS/module/jumpfunc/parameters" "$JF_TRACEFS/instances" \
		"$JF_SYSFS/devices/system/cpu/vulnerabilities" "$JF_SYSFS/kernel/security"
	offer
	printf '# event state off indirect dynfunc\n%s\n%s\n%s\n' "sched_switch attached 0 7 3000000000" \
		"sys_enter attached 0 5 2" "sched_gone missing 0 0 0" >"$jf/events"
	echo "updates 3" >"$jf/stats"
	echo auto >"$JF_SYSFS/module/jumpfunc/parameters/backend"
	echo 0.9 >"$JF_SYSFS/module/jumpfunc/version"
	echo "Mitigation: Retpolines; BHI: Retpoline" >"$JF_SYSFS/devices/system/cpu/vulnerabilities/spectre_v2"
	printf 'processor\t: 0\nmodel name\t: Test CPU, 9 GHz\nflags\t\t: fpu\nprocessor\t: 1\n' >"$JF_PROCFS/cpuinfo"
	printf 'nodev\tdebugfs\n' >"$JF_PROCFS/filesystems"
	echo "debugfs $JF_DEBUGFS debugfs rw 0 0" >"$JF_PROCFS/mounts"
	echo 0 >"$work/uid"
	echo "x 1" >"$work/times"
	cat >"$work/counters" <<-END
		1234.50,msec,task-clock,1234500000,100.00,1.9,CPUs utilized
		1551,,context-switches,123,100.00,18.6,K/sec
		<not supported>,,cycles,0,100.00,,
		<not counted>,,instructions,0,0.00,,
		400,,cpu_core/branches/,1,50.00,,
		40,,cpu_atom/branches/,1,50.00,,
		<not counted>,,cpu_atom/branch-misses/,0,0.00,,
		7,,cpu_core/branch-misses/,1,50.00,,
	END
}

# go ARGUMENTS: run the script; its exit status in $rc, output in $work/std and $work/err
go()
{
	rc=0
	# shellcheck disable=SC2086 # "busybox sh" is two words
	PATH=${path_for:-$work/bin:$PATH} $shell "$script" "$@" >"$work/std" 2>"$work/err" </dev/null || rc=$?
}

csv() # csv FILE ROW COLUMN: the field of the line that begins with ROW
{
	awk -F, -v row="$2" -v name="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
		index($0, row ",") == 1 { print $c; exit }' "$1"
}

# ---- the tests ----

test_usage()
{
	for bad in "-r 0" "-r ten" "-r" "-g -1" "-s 17" "-s 1,,2" "-m off,OFF" "--modes=" "-m off,off" "-rf" "--what" \
		"stray" "--dry-run=yes" "-l 99999999" "-m off,nosuch" "-s 1,2"; do
		# shellcheck disable=SC2086
		go $bad -o "$work/out"
		if [ $rc -ne 2 ] || [ ! -s "$work/err" ] || [ -s "$work/std" ] || [ -e "$work/out" ] || [ -s "$work/log" ]; then
			not_ok "usage error for $bad" "status $rc" "$(cat "$work/err")"
			return
		fi
	done
	ok "bad options are usage errors, and run nothing"
	go --help
	is "--help succeeds" "$rc" 0
	# shellcheck disable=SC2013
	for option in $(sed -n '/^option_and_value/,/^parse_options/p' "$script" | grep -o -e '--[a-z-][a-z-]*' | sort -u); do
		grep -q -e "$option" "$work/std" || { not_ok "--help tells every option" "$option is not there"; return; }
	done
	ok "--help tells every option"
}

test_numbers()
{
	# warm-up, then five rounds; medians 10, 12, 11
	cat >"$work/times" <<-END
		off 99 10 9 11 10 10.5
		indirect 99 12 13 11.5 12 12.5
		dynfunc 99 11 9.9 11.2 10.4 12
	END
	go -r 5 -o "$work/out" -g 3 -l 44 -- -T -p
	is "a full run succeeds" "$rc" 0
	is "hackbench gets its options" "$(sort -u "$work/args")" "-g 3 -l 44 -T -p"
	is "median of off" "$(csv "$work/out/summary.csv" off,- median_s)" 10.000000
	is "lowest and highest of indirect" "$(csv "$work/out/summary.csv" indirect,- min_s) $(csv "$work/out/summary.csv" indirect,- max_s)" \
		"11.500000 13.000000"
	is "overhead of indirect" "$(csv "$work/out/summary.csv" indirect,- overhead_pct)" 20.00
	is "overhead of dynfunc" "$(csv "$work/out/summary.csv" dynfunc,- overhead_pct)" 10.00
	# rounds: 11/10 9.9/9 11.2/11 10.4/10 12/10.5
	is "range of dynfunc is taken round by round" \
		"$(csv "$work/out/summary.csv" dynfunc,- overhead_min_pct) $(csv "$work/out/summary.csv" dynfunc,- overhead_max_pct)" "1.82 14.29"
	is "events: only the mode's own column, only what this run added" \
		"$(csv "$work/out/summary.csv" off,- calls_total) $(csv "$work/out/summary.csv" indirect,- calls_total) $(csv "$work/out/summary.csv" dynfunc,- events_per_run)" \
		"0 1000 200"
	is "not supported and not counted are n/a" \
		"$(csv "$work/out/summary.csv" off,- cycles) $(csv "$work/out/summary.csv" off,- instructions)" "n/a n/a"
	is "both kinds of core are counted" \
		"$(csv "$work/out/summary.csv" off,- branches) $(csv "$work/out/summary.csv" off,- branch_misses)" "440 7"
	is "table: off" "$(awk '$1 == "off" { $1 = $1; print }' "$work/out/table.txt")" \
		"off - 10.000 baseline 0 n/a n/a 7"
	is "table: indirect" "$(awk '$1 == "indirect" { $1 = $1; print }' "$work/out/table.txt")" \
		"indirect - 12.000 +20.0% +4.5..+44.4 200 0 n/a n/a 7"
	has "table: the machine" "$work/out/table.txt" "^kernel .*$(uname -r)" "Test CPU, 9 GHz" "2 cores" "Retpolines" \
		"emulated *no" "back end auto" "2 of 3 tracepoints found; missing: sched_gone"
	is "the table fits into 100 columns" "$(awk 'length($0) > 100' "$work/out/table.txt")" ""
	is "the table is what is printed" "$(cat "$work/std")" "$(cat "$work/out/table.txt")"
	is "one line per run in runs.csv" "$(grep -c , "$work/out/runs.csv")" 19
	is "raw output of every run" "$(find "$work/out/raw" -name '*.perf' | wc -l) $(find "$work/out/raw" -name '*.out' | wc -l)" "18 18"
	is "the mode is put back" "$(cat "$jf/dispatch")" indirect
	is "even number of rounds: the median is the mean of the middle two" "$(
		sed -i '/^5,/d' "$work/out/runs.csv"
		sed -i '/^rounds=/s/5/4/' "$work/out/meta.txt"
		go --render "$work/out"
		csv "$work/out/summary.csv" indirect,- median_s)" 12.000000
	sed -i '/^2,off/s/,440,7,/,440,n\/a,/' "$work/out/runs.csv"
	go --render "$work/out"
	is "one round that was not counted makes the median n/a" "$(csv "$work/out/summary.csv" off,- branch_misses)" n/a
	is "the mean of two middle values that differ" "$(csv "$work/out/summary.csv" dynfunc,- median_s)" 10.700000
}

test_order()
{
	go -r 4 -w 0 -o "$work/out"
	offer
	is "the order turns and mirrors" "$(tr '\n' ' ' <"$work/log" | sed 's/:x//g')" \
		"off indirect dynfunc dynfunc indirect off indirect dynfunc off off dynfunc indirect "
	go -r 1 -w 2 -k 3 -m off,dynfunc -o "$work/out2"
	is "-k repeats within a round, warm-up rounds run" "$(awk -F, 'NR > 1 { printf "%s%s ", $1, $2 }' "$work/out2/runs.csv")" \
		"0off 0dynfunc 0dynfunc 0off 1off 1dynfunc "
	is "warm-up does not count" "$(csv "$work/out2/summary.csv" dynfunc,- rounds) $(csv "$work/out2/summary.csv" dynfunc,- calls_total)" "1 600"
	# 200 calls in each of the three runs; 12 s and 10 s are means, as perf tells them
	is "with -k events are those of one run, too" "$(csv "$work/out2/summary.csv" dynfunc,- events_per_run) $(csv "$work/out2/summary.csv" dynfunc,- calls_per_run)" "200 200"
	printf '%s\n' "off 10" "dynfunc 12" >"$work/times"
	offer
	JF_EMULATED=icount go -r 1 -w 0 -k 3 -m off,dynfunc -o "$work/out3"
	is "... and so is what one costs" "$(csv "$work/out3/summary.csv" dynfunc,- per_event)" 10000000.00
	rm -rf "$work/out2" "$work/out3"
}

test_subscribers()
{
	echo "[off] kernel indirect dynfunc chain" >"$jf/dispatch"
	echo 3 >"$jf/subscribers"
	sed -i '1s/$/ kernel chain/; 2,$s/$/ 0 0/' "$jf/events"
	trace=-t
	[ "$shell" != "busybox sh" ] || trace=
	# shellcheck disable=SC2086
	go -r 1 -w 0 $trace -o "$work/out"
	is "kernel, chain, subscribers: succeeds" "$rc" 0
	is "rows for N = 1, 2, 4, 8, dynfunc once" "$(cut -d, -f1,2 "$work/out/summary.csv" | tr '\n' ' ')" \
		"mode,subscribers off,- ${trace:+trace-all,- }kernel,1 indirect,1 dynfunc,1 chain,1 kernel,2 indirect,2 chain,2 kernel,4 indirect,4 chain,4 kernel,8 indirect,8 chain,8 "
	is "the knob is set for each row" "$(grep -v -e off -e trace "$work/log" | tr '\n' ' ')" \
		"kernel:1 indirect:1 dynfunc:1 chain:1 kernel:2 indirect:2 chain:2 kernel:4 indirect:4 chain:4 kernel:8 indirect:8 chain:8 "
	is "mode and subscribers are put back" "$(cat "$jf/dispatch" "$jf/subscribers" | tr '\n' ' ')" "off 3 "
	if [ -n "$trace" ]; then
		is "trace-all: in mode off, and cleaned up" "$(cat "$work/tracing" 2>/dev/null)" \
			"trace-cmd start -B jumpfunc-hackbench -e all; mode off
rmdir $JF_TRACEFS/instances/jumpfunc-hackbench"
		is "trace-all: overwritten and dropped events count" "$(csv "$work/out/summary.csv" trace-all,- calls_total)" 105
	else
		skip "trace-all" "busybox has its own rmdir, and this instance is a plain folder"
	fi
	echo "[off] kernel indirect dynfunc chain" >"$jf/dispatch"
	go -r 1 -w 0 -s 2,16 -m off,dynfunc,chain -o "$work/out2"
	is "--subscribers chooses" "$(cut -d, -f1,2 "$work/out2/summary.csv" | tr '\n' ' ')" \
		"mode,subscribers off,- dynfunc,1 chain,2 chain,16 "
	rm -rf "$work/out2"
}

# What an event costs: by the instruction clock, by CPU time, and natively.
test_per_event()
{
	printf '%s\n' "off 10" "kernel 12" "indirect 13" "dynfunc 11" "chain 11.5" >"$work/times"
	echo "[off] kernel indirect dynfunc chain" >"$jf/dispatch"
	echo 1 >"$jf/subscribers"
	sed -i '1s/$/ kernel chain/; 2,$s/$/ 0 0/' "$jf/events"
	cat >"$work/bench.csv" <<-END
		# CPU: Real CPU
		# kernel: 9.9
		# spectre_v2: Mitigation: Retpolines
		group,layout,shape,n,ns_min,ns_median,cycles_min,cycles_median,ratio_or_broadcasts
		call,64,direct,0,7.7,7.7,7,7,1
		subscribers,hot,chain,2,8.8,8.8,8,8,1
		subscribers,64,direct,1,1.5,2,7,7,1
		subscribers,64,chain,1,2.5,3,7,7,1
		subscribers,64,chain,2,5.0,6,7,7,1
		subscribers,64,array-plain,1,3.0,9,7,7,1
		subscribers,64,array-plain,2,6.0,9,7,7,1
		subscribers,64,array-retpoline,1,10.0,20,7,7,1
		subscribers,64,array-retpoline,2,40.0,50,7,7,1
	END
	JF_EMULATED=icount go -r 1 -w 0 -s 1,2,3 --native "$work/bench.csv" -o "$work/out"
	is "with native figures: succeeds" "$rc" 0
	# 200 calls in each run: 200 events with one subscriber, 100 with two
	is "the clock's nanoseconds are instructions, for each event" "$(for row in kernel,1 kernel,2 chain,2 dynfunc,1; do
		csv "$work/out/summary.csv" $row per_event; done | tr '\n' ' ')" "10000000.00 20000000.00 15000000.00 5000000.00 "
	is "events are calls by subscribers" "$(csv "$work/out/summary.csv" chain,2 events_per_run) $(csv "$work/out/summary.csv" chain,2 calls_per_run)" "100 200"
	is "each mode has the native figure of its way to call" "$(for row in kernel,1 indirect,1 dynfunc,1 chain,1 kernel,2 indirect,2 chain,2 chain,3; do
		csv "$work/out/summary.csv" $row native_ns_per_event; done | tr '\n' ' ')" \
		"1.5000 10.0000 1.5000 2.5000 40.0000 40.0000 5.0000 n/a "
	is "what dispatch costs the run" "$(csv "$work/out/summary.csv" kernel,2 native_dispatch_ms) $(csv "$work/out/summary.csv" off,- native_dispatch_ms)" "0.0040 n/a"
	is "table: kernel N=2" "$(awk '$1 == "kernel" && $2 == 2 { $1 = $1; print }' "$work/out/table.txt")" \
		"kernel 2 12.0G +20.0% +20.0..+20.0 100 20000000 40.00 0.004 ms"
	has "the table says what it is" "$work/out/table.txt" "overheads are instructions" "instr/event" "computed" "Real CPU" "always mispredicted"
	is "the table fits into 100 columns" "$(awk 'length($0) > 100' "$work/out/table.txt")" ""
	if command -v gnuplot >/dev/null 2>&1; then
		has "the picture" "$work/out/chart.svg" "2 subscribers: 5.0 ns by direct calls, 40.0 ns by pointers" "EMULATED CPU" "</svg>" "chain of direct calls"
	else
		skip "the picture" "no gnuplot"
	fi
	sed -i 's/^retpolines=.*/retpolines=no/' "$work/out/meta.txt"
	go --render "$work/out"
	is "without retpolines: the plain array" "$(csv "$work/out/summary.csv" kernel,2 native_ns_per_event)" 6.0000
	sed -i 's/^retpolines=.*/retpolines=lfence/' "$work/out/meta.txt"
	go --render "$work/out"
	is "with lfence: not known" "$(csv "$work/out/summary.csv" kernel,2 native_ns_per_event)" n/a
	echo "nonsense" >"$work/bad.csv"
	go --native "$work/bad.csv" -o "$work/out2"
	is "--native of another file is a usage error" "$rc $(ls "$work/out2" 2>/dev/null)" "2 "
	reset
	# CPU time tells what an event costs on a CPU that is one: 0.5 s more for 200 events
	sed -i 's/^out=.*/&\ncase $(cat "$JF_DEBUGFS\/jumpfunc\/dispatch") in dynfunc) sed -i "s,^1234.50,1734.50," "$work\/counters" ;; *) sed -i "s,^1734.50,1234.50," "$work\/counters" ;; esac/' "$work/bin/perf"
	go -r 1 -w 0 -m off,dynfunc -o "$work/out"
	is "without that clock: CPU time" "$(csv "$work/out/summary.csv" dynfunc,- per_event) $(csv "$work/out/summary.csv" dynfunc,- per_event_unit)" "2500000.00 cpu-ns"
	make_tools
}

test_fifo()
{
	go -r 1 -w 0 -m off --fifo -o "$work/out"
	is "--fifo: by chrt, and said" "$rc $(sort -u "$work/chrt") $(grep -c "SCHED_FIFO" "$work/out/table.txt")" "0 -f 1 perf 1"
}

test_never_fires()
{
	echo dynfunc >"$work/silent"
	go -r 2 -o "$work/out"
	is "a mode without events fails" "$rc" 1
	has "... and is named" "$work/err" "ERROR: mode dynfunc dispatched no event"
	has "... in the table" "$work/out/table.txt" "^dynfunc .*ERROR" "^ERROR *dynfunc: it dispatched no event in round 1"
	is "... and the others are measured" "$(csv "$work/out/summary.csv" indirect,- error)$(csv "$work/out/summary.csv" indirect,- rounds)" 2
	is "... and the mode is put back" "$(cat "$jf/dispatch")" indirect
	go --render "$work/out"
	is "... and --render says it again" "$rc" 1
	reset
	echo indirect >"$work/loud"
	go -r 1 -o "$work/out"
	is "an off that dispatches fails" "$rc" 1
	has "... and is named" "$work/out/table.txt" "^ERROR *off: it dispatched 200 events in round 1"
	reset
	sed -i '1s/dynfunc/other/' "$jf/events"
	go -r 1 -o "$work/out"
	is "a mode without a column in events fails" "$rc" 1
	has "... and is named" "$work/err" "no column for mode dynfunc"
}

# The script's own name for the results can be guessed: where it is taken already, nothing is written.
test_named_before()
{
	case $shell in busybox*) skip "the default name" "busybox asks its own date"; return ;; esac
	fake date <<-'END'
		#!/bin/sh
		case $* in +%Y*) echo 20260102-030405 ;; *) exec /bin/date "$@" ;; esac
	END
	mkdir "$work/here" "$work/here/hackbench-$(uname -r)-20260102-030405"
	echo mine >"$work/victim"
	ln -s "$work/victim" "$work/here/hackbench-$(uname -r)-20260102-030405/meta.txt"
	(cd "$work/here" && go -r 1 -w 0 -m off && exit "$rc")
	is "a folder of the default name that is there already is refused" $? 1
	has "... and named" "$work/err" "hackbench-.*-20260102-030405"
	is "... and nothing is written by way of it" "$(cat "$work/victim")" mine
	rm -r "$work/here"
	mkdir "$work/here"
	(cd "$work/here" && go -r 1 -w 0 -m off && exit "$rc")
	is "a new one is made" "$? $(ls "$work/here")" "0 hackbench-$(uname -r)-20260102-030405"
	rm -r "$work/bin/date" "$work/here"
}

test_failures()
{
	echo dynfunc >"$work/fail-in"
	go -r 1 -w 0 -o "$work/out"
	is "hackbench fails: so do we" "$rc" 1
	has "... with its words" "$work/err" "hackbench failed in mode dynfunc" "Resource temporarily unavailable"
	is "... and the mode is put back" "$(cat "$jf/dispatch")" indirect
	reset
	mkdir "$jf/subscribers"
	go -r 1 -w 0 -o "$work/out"
	is "a knob that cannot be set fails" "$rc" 1
	has "... with the reason" "$work/err" "cannot write 1 to .*/subscribers: Is a directory"
	is "... and the mode is put back" "$(cat "$jf/dispatch")" indirect
	reset
	touch "$work/dispatch-dies"
	go -r 1 -w 0 -o "$work/out"
	is "a dispatch file that dies under us fails" "$rc" 1
	has "... and says that nothing was put back" "$work/err" "cannot write indirect to .*: Is a directory" \
		"could not put back the mode indirect"
	reset
	touch "$work/meddle"
	go -r 1 -w 0 -o "$work/out"
	is "another process switches the mode: fails" "$rc" 1
	has "... and says so" "$work/err" 'says "indirect" where "off" was written'
	reset
	mkdir -p "$work/out"
	touch "$work/out/runs.csv"
	go -o "$work/out"
	is "results are not overwritten" "$rc $(cat "$work/out/runs.csv")" "1 "
	is "... and nothing ran" "$(cat "$work/log")" ""
}

# is_gone PID: it may take a moment until init has reaped it
is_gone()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		kill -0 "$1" 2>/dev/null || return 0
		case $(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null) in Z|'') return 0 ;; esac
		sleep 0.1
	done
	return 1
}

test_signal() # NAME STATUS
{
	reset
	echo 5 >"$jf/subscribers"
	touch "$work/hang"
	mkfifo "$work/fifo"
	# A shell's background job ignores ^C unless told otherwise, and what nohup started the hangup.
	# shellcheck disable=SC2086
	PATH=$work/bin:$PATH env --default-signal=INT,QUIT,HUP $shell "$script" -r 1 -o "$work/out" -m dynfunc -s 2 \
		>"$work/std" 2>"$work/err" </dev/null &
	pid=$!
	# Opening the pipe waits for hackbench; not for ever when it never starts.
	if ! timeout 20 cat "$work/fifo" >/dev/null; then
		not_ok "$1: hackbench starts" "$(cat "$work/err")"
		kill -KILL $pid
		return
	fi
	was=$(cat "$jf/dispatch" "$jf/subscribers" | tr '\n' ' ')
	kill "-$1" $pid
	rc=0
	wait $pid || rc=$?
	is "$1 ends the run with its status" "$rc" "$2"
	is "$1: mode and subscribers are put back" "$was-> $(cat "$jf/dispatch" "$jf/subscribers" | tr '\n' ' ')" "dynfunc 1 -> indirect 5 "
	is "$1: hackbench is told politely first" "$(cat "$work/got" 2>/dev/null)" TERM
	is_gone "$(cat "$work/pid")" && is_gone "$(cat "$work/grandchild")"
	is "$1: hackbench and its children have ended" $? 0
}

test_signals()
{
	test_signal INT 130
	test_signal TERM 143
	test_signal HUP 129
}

test_missing()
{
	go -n -o "$work/out"
	is "--dry-run succeeds when all is there" "$rc" 0
	has "--dry-run tells the plan" "$work/std" "21 of hackbench" "off:- indirect:- dynfunc:-" "^warm-up: " "^round 6: "
	is "--dry-run runs and leaves nothing" "$(cat "$work/log")$(ls -d "$work/out" 2>/dev/null)$(cat "$jf/dispatch")" "off [indirect] dynfunc"

	# perf and hackbench hidden; all that is missing is named at once
	path_for=$work/sparse
	go -o "$work/out"
	path_for=
	is "no perf, no hackbench: status 3" "$rc" 3
	has "... and the packages" "$work/err" "missing: hackbench" "rt-tests" "missing: perf" "linux-perf" "no-perf"
	touch "$work/broken-perf"
	go -o "$work/out"
	is "perf that does not work: status 3" "$rc" 3
	has "... and perf's own words" "$work/err" "perf not found for kernel 9.9"

	reset
	mv "$jf" "$work/unloaded"
	rm -r "$JF_SYSFS/module"
	go -o "$work/out"
	is "no module: status 3" "$rc" 3
	has "... and how to load it" "$work/err" "missing: the module jumpfunc" "modprobe jumpfunc" "insmod" "--module"
	: >"$JF_PROCFS/mounts"
	go -o "$work/out"
	has "debugfs not mounted" "$work/err" "mount -t debugfs debugfs $JF_DEBUGFS"
	: >"$JF_PROCFS/filesystems"
	go -o "$work/out"
	has "a kernel without debugfs" "$work/err" "CONFIG_DEBUG_FS"

	reset
	rm "$jf/dispatch"
	go -o "$work/out"
	has "a jumpfunc without the event set" "$work/err" "no event set"
}

test_locked_down()
{
	reset
	rm "$jf/dispatch"
	mkdir "$jf/dispatch"
	echo "none [integrity] confidentiality" >"$JF_SYSFS/kernel/security/lockdown"
	go -o "$work/out"
	is "lockdown: status 3" "$rc" 3
	has "... is named" "$work/err" "locked down (.*\[integrity\]" "Secure Boot"
	mkdir -p "$JF_SYSFS/kernel/jumpfunc"
	echo "off kernel [chain]" >"$JF_SYSFS/kernel/jumpfunc/dispatch"
	go -n -o "$work/out"
	is "lockdown, and knobs in sysfs: status 0" "$rc" 0
	has "... which are used" "$work/err" "using those in $JF_SYSFS/kernel/jumpfunc"
	has "... and their modes planned" "$work/std" "kernel:-\|kernel:1" "chain:-\|chain:1"
	rm "$jf/events"
	go -n -o "$work/out"
	is "... but not without the counts: status 3" "$rc" 3
	rm -r "$JF_SYSFS/kernel/jumpfunc"
}

test_no_root()
{
	reset
	echo 1000 >"$work/uid"
	if [ "$shell" = "busybox sh" ]; then
		skip "no root" "busybox asks its own id"
		return
	fi
	go -o "$work/out"
	is "no root: status 3" "$rc" 3
	has "... and says so" "$work/err" "missing: root"
}

test_module()
{
	if [ "$shell" = "busybox sh" ]; then
		skip "--module" "busybox has its own insmod"
		return
	fi
	touch "$work/jumpfunc.ko"
	mv "$jf" "$work/unloaded"
	rm -r "$JF_SYSFS/module"
	go --module "$work/jumpfunc.ko" -r 1 -w 0 -m off,dynfunc -o "$work/out"
	is "--module loads, measures, puts back, unloads" "$rc:$(cat "$work/modules")" "0:insmod $work/jumpfunc.ko
rmmod jumpfunc; mode indirect"
	rm -rf "$work/out" "$work/modules"
	offer
	go --module "$work/jumpfunc.ko" -r 1 -w 0 -m off,dynfunc -o "$work/out"
	is "--module leaves a module alone that was loaded before" "$rc:$(cat "$work/modules" 2>/dev/null)" "0:"
	reset
	mv "$jf" "$work/unloaded"
	rm -r "$JF_SYSFS/module"
	echo "Key was rejected by service" >"$work/bad-module"
	go --module "$work/jumpfunc.ko" -o "$work/out"
	is "a module that the kernel refuses: status 3" "$rc" 3
	has "... and why" "$work/err" "Key was rejected" "the kernel's own word" "signed"
	go --module "$work/nosuch.ko" -o "$work/out"
	has "a module file that is not there" "$work/err" "missing: the module file $work/nosuch.ko"
}

test_no_perf()
{
	go --no-perf -r 1 -w 0 -k 2 -o "$work/out"
	is "--no-perf measures with hackbench's clock" "$rc:$(csv "$work/out/summary.csv" dynfunc,- median_s)" "0:0.250000"
	is "... and has no counters" "$(csv "$work/out/summary.csv" dynfunc,- task_clock_ms) $(csv "$work/out/summary.csv" dynfunc,- branch_misses)" "n/a n/a"
	has "... and says so" "$work/out/table.txt" "seconds as hackbench told them" "perf cannot count"
	reset
	touch "$work/old-perf"
	go -r 1 -w 0 -o "$work/out"
	is "a perf without duration_time: hackbench's clock, perf's counters" \
		"$rc:$(csv "$work/out/summary.csv" dynfunc,- median_s):$(csv "$work/out/summary.csv" dynfunc,- branches)" "0:0.250000:440"
}

# The cpuid driver gives 16 bytes for the leaf that the offset names.
signature()
{
	mkdir -p "$JF_DEVFS/cpu/0"
	truncate -s 1G "$JF_DEVFS/cpu/0/cpuid"
	printf '\001\000\000@%s' "$1" >>"$JF_DEVFS/cpu/0/cpuid"
}

test_emulation()
{
	clocks=$JF_SYSFS/devices/system/clocksource/clocksource0/available_clocksource
	mkdir -p "${clocks%/*}" "$JF_SYSFS/class/dmi/id"
	for case in "no:fpu::tsc:" "yes:hypervisor:TCGTCGTCGTCG:tsc:" "no:hypervisor:KVMKVMKVM:tsc:QEMU" \
		"no:hypervisor::kvm-clock tsc:QEMU" "yes:hypervisor::tsc hpet:QEMU" "unknown:hypervisor::tsc:Acme"; do
		IFS=:
		# shellcheck disable=SC2086
		set -- $case
		IFS=' 	
'
		rm -rf "$work/out" "$JF_DEVFS"
		offer
		sed -i "s/^flags.*/flags : fpu $2/" "$JF_PROCFS/cpuinfo"
		[ -z "$3" ] || signature "$3"
		echo "$4" >"$clocks"
		echo "${5:-}" >"$JF_SYSFS/class/dmi/id/sys_vendor"
		go -r 1 -w 0 -m off -o "$work/out"
		is "emulated: $1 for flag $2, signature ${3:-none}, clocks $4, vendor ${5:-none}" \
			"$(csv "$work/out/summary.csv" off,- emulated)" "$1"
	done
}

test_labels()
{
	sed -i 's/Test CPU.*/QEMU TCG CPU version 2.5+/' "$JF_PROCFS/cpuinfo"
	go -r 1 -w 0 -o "$work/out"
	has "an emulated CPU is labelled in the table" "$work/out/table.txt" "EMULATED CPU"
	is "... in both CSVs" "$(csv "$work/out/summary.csv" off,- emulated) $(csv "$work/out/runs.csv" 1,off,- emulated)" "yes yes"
	has "... in the chart" "$work/out/chart.gp" "EMULATED CPU"
	if command -v gnuplot >/dev/null 2>&1; then
		has "... and in the SVG" "$work/out/chart.svg" "EMULATED CPU" "</svg>" "indirect" "dynfunc"
	else
		skip "... and in the SVG" "no gnuplot"
	fi
	rm -r "$work/out"
	offer
	JF_EMULATED=0 go -r 1 -w 0 -o "$work/out"
	is "JF_EMULATED decides" "$(csv "$work/out/summary.csv" off,- emulated) $(grep -c "EMULATED CPU" "$work/out/table.txt")" "no 0"
	rm -r "$work/out"
	offer
	JF_EMULATED=icount go -r 1 -w 0 -o "$work/out"
	has "a clock that counts instructions is labelled" "$work/out/table.txt" "EMULATED CPU: all overheads are instructions"
	has "with retpolines nothing is said of their absence" "$work/out/meta.txt" "^retpolines=yes"
	rm -r "$work/out"
	offer
	echo "Mitigation: Enhanced / Automatic IBRS; BHI: Retpoline" >"$JF_SYSFS/devices/system/cpu/vulnerabilities/spectre_v2"
	go -r 1 -w 0 -o "$work/out"
	has "without retpolines the table says so" "$work/out/table.txt" "runs without retpolines" "spectre_v2=retpoline"
	is "... and the CSV" "$(csv "$work/out/summary.csv" off,- retpolines)" no
	is "a comma in the CPU model does not shift the CSV" "$(
		sed -i 's/^cpu=.*/cpu=A, B/' "$work/out/meta.txt"
		go --render "$work/out"
		grep -c '"A, B",hackbench -g 10 -l 500$' "$work/out/summary.csv")" 3
	# Results may come from another machine, and gnuplot runs what stands between such quotes.
	sed -i 's,^load=.*,load=`touch '"$work"'/ran`,; s,^cpu=.*,cpu=$(touch '"$work"'/ran)\\"; system("touch '"$work"'/ran"); x = "` touch '"$work"'/ran`,' "$work/out/meta.txt"
	go --render "$work/out"
	is "--render runs nothing of what it draws" "$rc $(ls "$work/ran" 2>/dev/null)" "0 "
	mkdir "$work/a=b\n"
	cp "$work/out/meta.txt" "$work/out/runs.csv" "$work/a=b\n"
	(cd "$work" && go --render "a=b\n" && exit "$rc")
	is "--render of a folder that awk takes for an assignment" "$? $(grep -c . "$work/a=b\n/summary.csv" 2>/dev/null)" "0 4"
	path_for=$work/sparse
	go --render "$work/out"
	path_for=
	is "without gnuplot: status 0, no SVG" "$rc $(ls "$work/out/chart.svg" 2>/dev/null)" "0 "
	has "... and it says how to get one" "$work/err" "gnuplot-nox" "--render"
	go --render "$work"
	is "--render of a folder without results fails" "$rc" 1
}

[ -r "$script" ] || { echo "Bail out! no $script"; exit 1; }
make_tools
if [ $# -eq 0 ]; then set -- dash bash busybox; fi
for shell; do
	tap_label="$shell: "
	if ! command -v "$shell" >/dev/null 2>&1; then
		skip "all tests" "no $shell here"
		continue
	fi
	if [ "$shell" = busybox ]; then
		shell="busybox sh"
		tap_label="$shell: "
		if [ "$(id -u)" -ne 0 ]; then skip "all tests" "busybox asks its own id, so it takes root"; continue; fi
	fi
	for t in usage numbers order subscribers per_event fifo never_fires named_before failures signals missing locked_down no_root module no_perf emulation labels; do
		reset
		"test_$t"
	done
done
echo "# $((tap_n - tap_failed)) passed, $tap_failed failed"
tap_end
