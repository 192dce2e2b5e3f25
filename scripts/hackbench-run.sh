#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Measures what each dispatch mode costs hackbench: runs it under perf stat with jumpfunc's event set in one mode after
# the other.  "hackbench-run.sh --help" explains the options.
#
# To measure takes nothing but a POSIX shell and awk (busybox has enough); hackbench-report.py, which makes table and
# chart, takes python3, there or on another machine.

# The functions of the clean-up are reached through traps only.
# shellcheck disable=SC2317

set -eu
LC_ALL=C
export LC_ALL

# Installed, it is called by a link that has its name.
prog=${0##*/}
here=$0
if [ -L "$0" ]; then here=$(readlink -f -- "$0"); fi
here=$(CDPATH='' cd -- "$(dirname -- "$here")" && pwd)

sysfs=${JF_SYSFS:-/sys}
procfs=${JF_PROCFS:-/proc}
devfs=${JF_DEVFS:-/dev}
debugfs=${JF_DEBUGFS:-$sysfs/kernel/debug}
tracefs=${JF_TRACEFS:-$sysfs/kernel/tracing}
jf=$debugfs/jumpfunc
# Where a locked-down kernel still lets knobs be written; set where it is needed.
knobs=
instance=jumpfunc-hackbench
report=$here/hackbench-report.py

groups=10 loops=500 repeats=6 inner=1 warmup=1 fifo=no native='' hb_extra=''
modes='' subscribers='' outdir='' module='' render='' use_perf=yes trace_all=no dry_run=no

usage()
{
	cat <<END
Usage: $prog [options] [-- hackbench options]
       $prog --render DIR

Measures what each dispatch mode costs: runs hackbench under perf stat once per round and mode of jumpfunc's
event set, and prints one table.  The order of the modes changes with every round, and is mirrored in every
second one, so that drift affects all modes alike.

Load:
  -g, --groups N        hackbench groups, 40 tasks each (default $groups)
  -l, --loops N         messages that each sender passes (default $loops)
      -- OPTIONS        further hackbench options, for instance: -- -T -p
What is compared:
  -m, --modes A,B,...   modes of $jf/dispatch
                        (default: all that it offers; "off" is the baseline)
  -s, --subscribers N,...  how many subscribers each tracepoint has, 0 to 16 (default
                        1,2,4,8; needs the knob "subscribers"); off has none, and dynfunc
                        serves one by definition
  -t, --trace-all       one more row: mode off, with all events of the kernel's own tracer
                        on ("trace-cmd start -e all", in a tracefs instance of its own)
How often:
  -r, --repeats N       measured rounds (default $repeats; the table shows medians over them)
  -k, --inner N         runs per round and mode, as in "perf stat -r N" (default $inner)
  -w, --warmup N        rounds to run and discard first (default $warmup)
Measuring:
      --module PATH     insmod PATH first when jumpfunc is not loaded, and rmmod it at the
                        end (only when this script was the one that loaded it)
      --fifo            run hackbench with real-time priority (SCHED_FIFO): as no task preempts another one, each
                        run does the same work.  For virtual machines: a real CPU has no time for anything else
      --no-perf         do not use perf: take hackbench's own "Time:" line, no counters
      --native FILE     the CSV of user/bench, measured natively: the table then also tells what the
                        dispatch of one event costs on that CPU, and of all events of the run
Results:
  -o, --output DIR      folder for the results (default: hackbench-KERNEL-DATE here)
      --render DIR      make tables and chart again from the runs in DIR; needs python3, but no root, no module and
                        not the machine that measured (results of one without python3 get theirs by it)
  -n, --dry-run         check what is needed, show the plan, run nothing
  -h, --help            this text

DIR receives table.txt, summary.csv (one line per row of the table), runs.csv (one line per run), chart.svg,
meta.txt, and raw/ with the output of perf and hackbench of every run.

It is an error if a mode dispatches no event in a run, or if "off" does dispatch some: the table would be wrong.
Mode and subscribers are restored at the end, also after ^C, TERM and HUP.

Exit status: 0 all measured, 1 an error, 2 bad usage, 3 something is missing, 128+N ended by signal N.

Environment: JF_DEBUGFS ($debugfs), JF_SYSFS (/sys), JF_PROCFS (/proc), JF_DEVFS (/dev),
JF_TRACEFS ($tracefs) move these mounts; JF_EMULATED=1 or 0 says whether the CPU is emulated,
where the guest cannot tell; icount: it is, and its clock counts instructions ("qemu -icount").

Example, on real hardware:
  sudo $0 --module ./jumpfunc.ko -g 50 -l 100 -r 10
END
}

say() { printf '%s: %s\n' "$prog" "$*" >&2; }

die() { say "error: $*"; exit 1; }

bad_usage()
{
	say "$*"
	printf 'Try "%s --help".\n' "$prog" >&2
	exit 2
}

contains() { case " $1 " in *" $2 "*) return 0 ;; esac; return 1; }

# number VARIABLE MIN MAX: takes val
number()
{
	case $val in ''|*[!0-9]*|????????*) bad_usage "$opt takes a number from $2 to $3, not \"$val\"" ;; esac
	if [ "$val" -lt "$2" ] || [ "$val" -gt "$3" ]; then bad_usage "$opt takes a number from $2 to $3, not \"$val\""; fi
	eval "$1=$val"
}

# list VARIABLE WHAT: takes val, "a,b,c", as "a b c"
list()
{
	case $val in ''|,*|*,|*,,*|*[!a-z0-9_,-]*) bad_usage "$opt takes $2 separated by commas, not \"$val\"" ;; esac
	words=''
	for val in $(echo "$val" | tr ',' ' '); do
		if contains "$words" "$val"; then bad_usage "\"$val\" is given twice"; fi
		words=${words:+$words }$val
	done
	eval "$1=\$words"
}

# option OPTION REST...: sets opt and val, and used: how many words they were
option()
{
	opt=$1 val='' used=1
	case $opt in --*=*) val=${opt#*=} opt=${opt%%=*} used=0 ;; esac
	case $opt in
	-[glmsrkwo]|--groups|--loops|--modes|--subscribers|--repeats|--inner|--warmup|--module|--native|--output|--render)
		[ $used = 0 ] || [ $# -ge 2 ] || bad_usage "$opt needs a value"
		if [ $used = 1 ]; then val=$2; fi
		used=$((used + 1))
		case $opt in
		--module) [ -n "$val" ] || bad_usage "--module needs the path of a .ko file" ;;
		-o|--output|--render) [ -n "$val" ] || bad_usage "$opt needs the name of a folder" ;;
		esac
		;;
	-h|--help|-n|--dry-run|--no-perf|--fifo|-t|--trace-all) [ $used = 1 ] || bad_usage "$opt takes no value" ;;
	-?|--*)	bad_usage "unknown option $opt" ;;
	-*)	bad_usage "unknown option $opt (short options stand alone: -r 10)" ;;
	*)	bad_usage "unexpected argument \"$opt\" (hackbench's own options go after --)" ;;
	esac
}

parse_options()
{
	while [ $# -gt 0 ]; do
		if [ "$1" = -- ]; then shift; hb_extra=$*; break; fi
		option "$@"
		shift "$used"
		case $opt in
		-h|--help) usage; exit 0 ;;
		-n|--dry-run) dry_run=yes ;;
		--no-perf) use_perf=no ;;
		--fifo) fifo=yes ;;
		-t|--trace-all) trace_all=yes ;;
		-g|--groups) number groups 1 10000 ;;
		-l|--loops) number loops 1 9999999 ;;
		-r|--repeats) number repeats 1 1000 ;;
		-k|--inner) number inner 1 1000 ;;
		-w|--warmup) number warmup 0 1000 ;;
		-m|--modes) list modes modes ;;
		-s|--subscribers) list subscribers numbers; for val in $subscribers; do number n 0 16; done ;;
		--module) module=$val ;;
		-o|--output) outdir=$val ;;
		--render) render=$val ;;
		--native)
			[ -r "$val" ] || bad_usage "--native: cannot read \"$val\""
			grep -q '^group,layout,shape,n,ns_min' "$val" || bad_usage "--native: $val is no CSV of user/bench"
			native=$val
			;;
		esac
	done
}

# ---- what the machine is -------------------------------------------------------------

first_line() { if [ -r "$1" ]; then head -n 1 "$1" 2>/dev/null || :; fi; }

cpu_model()
{
	awk -F'[ \t]*: *' '
		$1 == "model name" { print $2; exit }
		$1 == "CPU implementer" { maker = $2 }
		$1 == "CPU part" { print "Arm, implementer " maker ", part " $2; exit }
	' "$procfs/cpuinfo" 2>/dev/null || :
}

# The hypervisor below us, from the CPUID leaf where hypervisors sign.  Only with the cpuid driver.
hypervisor_signature()
{
	[ -r "$devfs/cpu/0/cpuid" ] || return 0
	dd if="$devfs/cpu/0/cpuid" bs=16 skip=67108864 count=1 2>/dev/null | tr -cd 'A-Za-z' || :
}

# Sets emulated=yes|no|unknown and emulated_why.
find_emulation()
{
	# KVM guests have kvm-clock, unless it was switched off: QEMU without such a clock emulates.
	virtual=yes
	grep -q '^flags.* hypervisor' "$procfs/cpuinfo" 2>/dev/null || virtual=no
	clocks=$(first_line "$sysfs/devices/system/clocksource/clocksource0/available_clocksource")
	case "${JF_EMULATED:-};$(cpu_model);signature $(hypervisor_signature);virtual $virtual;clocks $clocks;$(
		first_line "$sysfs/class/dmi/id/sys_vendor")" in
	[01]\;*) emulated=$([ "$JF_EMULATED" = 1 ] && echo yes || echo no) emulated_why="said by JF_EMULATED" ;;
	icount\;*) emulated=yes emulated_why="its clock counts instructions" ;;
	*"QEMU TCG"*) emulated=yes emulated_why="CPU model" ;;
	*\;"signature "*TCGTCG*) emulated=yes emulated_why="CPUID signature TCGTCGTCGTCG" ;;
	*\;"signature "*KVMKVM*) emulated=no emulated_why="virtual machine, CPUID signature KVM" ;;
	*\;"virtual no"\;*) emulated=no emulated_why="no hypervisor" ;;
	*\;"clocks "*kvm-clock*|*\;"clocks "*hyperv*|*\;"clocks "*xen*)
		emulated=no emulated_why="virtual machine, clock sources $clocks" ;;
	*QEMU*) emulated=yes emulated_why="QEMU without a paravirtual clock" ;;
	*)	emulated=unknown emulated_why="a hypervisor that does not say which it is; JF_EMULATED=0 or 1 tells" ;;
	esac
}

# Sets retpolines=yes|lfence|no|unknown from the mitigation in force; none: there are none on
# this architecture.  Only the part up to the first semicolon speaks of indirect branches.
find_mitigation()
{
	spectre=$(first_line "$sysfs/devices/system/cpu/vulnerabilities/spectre_v2")
	if grep -q '^CPU implementer' "$procfs/cpuinfo" 2>/dev/null; then
		spectre=${spectre:-not told by this kernel} retpolines=none
		return 0
	fi
	case ${spectre%%;*} in
	'') spectre="not told by this kernel"; retpolines=unknown ;;
	*[Rr]etpoline*) retpolines=yes ;;
	*LFENCE*) retpolines=lfence ;;
	*) retpolines=no ;;
	esac
}

# ---- debugfs -------------------------------------------------------------------------

knob_file() { if [ -n "$knobs" ] && [ -e "$knobs/$1" ]; then echo "$knobs/$1"; else echo "$jf/$1"; fi; }

knob_read() { cat "$(knob_file "$1")" 2>/dev/null; }

# The word in brackets is the mode in force; a file with one word has only that one.
mode_now()
{
	knob_read dispatch | awk '
		{ for (i = 1; i <= NF; i++) { n++; if (n == 1 || $i ~ /^\[/) hit = $i; if ($i ~ /^\[/) found = 1 } }
		END { if (found || n == 1) { gsub(/[][]/, "", hit); print hit } }'
}

subscribers_now() { knob_read subscribers | grep -owE '[0-9]+' | head -n 1; }

# must_write NAME VALUE
must_write()
{
	why=$( { printf '%s\n' "$2" >"$(knob_file "$1")"; } 2>&1 ) && return 0
	say "cannot write $2 to $jf/$1: ${why##*: } (see the kernel log)"
	return 1
}

# set_mode MODE SUBSCRIBERS.  Off first: the number of subscribers never changes under a mode that cannot serve it.
set_mode()
{
	if [ "$2" != "-" ] && [ -e "$(knob_file subscribers)" ]; then
		must_write dispatch off && must_write subscribers "$2" || return 1
	fi
	must_write dispatch "$1" && check_mode "$1"
}

check_mode()
{
	is=$(mode_now)
	[ "$is" = "$1" ] && return 0
	say "$jf/dispatch says \"$is\" where \"$1\" was written: does another task use it?"
	return 1
}

# Hits so far: of mode $1, or of all modes but off when $1 is "off".  Columns are found by
# the names in the header line; "none" when the mode has no column.
hits()
{
	knob_read events | awk -v mode="$1" '
		NR == 1 {
			sub(/^# */, "")
			for (i = 3; i <= NF; i++)
				if (mode == "off" ? $i != "off" : $i == mode) { col[i] = 1; n++ }
			next
		}
		{ for (i in col) if ($i ~ /^[0-9]+$/) sum += $i }
		END { if (n || mode == "off") printf "%.0f\n", sum; else print "none" }'
}

attached()
{
	knob_read events | awk '
		NR > 1 && NF >= 2 { all++; if ($2 == "missing") lost = lost " " $1 }
		END {
			printf "%d of %d tracepoints found", all - split(lost, x, " "), all
			if (lost != "") printf "; missing:%s", lost
		}'
}

# What all events of the kernel's own tracer have recorded, overwritten ones included.
trace_hits()
{
	cat "$tracefs/instances/$instance"/per_cpu/cpu*/stats 2>/dev/null | awk -F': *' '
		/^(entries|overrun|commit overrun|dropped events):/ { sum += $2 }
		END { printf "%.0f\n", sum }'
}

# In an instance of its own: the user's own tracing stays as it is.
trace_on()
{
	trace_left=yes
	if ! command -v trace-cmd >/dev/null 2>&1; then
		mkdir "$tracefs/instances/$instance" && echo 1 >"$tracefs/instances/$instance/events/enable"
	elif ! trace-cmd start -B $instance -e all >"$outdir/raw/trace-cmd.out" 2>&1; then
		say "trace-cmd start -B $instance -e all failed:"
		cat "$outdir/raw/trace-cmd.out" >&2
		return 1
	fi
}

trace_off()
{
	[ "$trace_left" = yes ] || return 0
	trace_left=no
	[ -d "$tracefs/instances/$instance" ] || return 0
	{ echo 0 >"$tracefs/instances/$instance/events/enable"; } 2>/dev/null || :
	rmdir "$tracefs/instances/$instance" || { say "cannot remove $tracefs/instances/$instance"; return 1; }
}

# ---- what is missing -----------------------------------------------------------------

missing=0
lacks() { missing=$((missing + 1)); say "missing: $1"; shift; for hint; do printf '    %s\n' "$hint" >&2; done; }

lockdown() { first_line "$sysfs/kernel/security/lockdown" | grep -E '\[(integrity|confidentiality)\]'; }

check_debugfs()
{
	locked=$(lockdown) || :
	if [ -n "$locked" ] && [ -f "$sysfs/kernel/jumpfunc/dispatch" ]; then
		knobs=$sysfs/kernel/jumpfunc
		say "this kernel is locked down ($locked): debugfs refuses files that can be written; using" \
			"those in $knobs, which are the same"
		[ -r "$jf/events" ] && knob_read events >/dev/null || lacks "a readable $jf/events" \
			"It shows whether events are dispatched at all; mount -t debugfs debugfs $debugfs"
	fi
	if [ -f "$(knob_file dispatch)" ] && knob_read dispatch >/dev/null; then
		[ -n "$(mode_now)" ] || lacks "a mode in force in $(knob_file dispatch)" \
			"The file should show all modes with the present one in brackets."
	elif [ -n "$locked" ] && { [ -e "$jf/dispatch" ] || [ -d "$sysfs/module/jumpfunc" ]; }; then
		lacks "access to debugfs: this kernel is locked down ($locked)" \
			"Lockdown refuses debugfs files that can be written.  It comes with Secure Boot, or with lockdown= on" \
			"the kernel command line: boot without, or load a jumpfunc that has $sysfs/kernel/jumpfunc."
	elif [ -e "$jf/dispatch" ]; then
		lacks "a readable $jf/dispatch" "Reading it failed: $(cat "$jf/dispatch" 2>&1 >/dev/null)"
	elif [ -d "$jf" ]; then
		lacks "$jf/dispatch" "The jumpfunc that is loaded has no event set: rebuild and reload it."
	elif ! grep -q debugfs "$procfs/filesystems" 2>/dev/null; then
		lacks "debugfs" "This kernel has none (CONFIG_DEBUG_FS, or debugfs=off on its command line)."
	elif ! grep -qF " $debugfs debugfs " "$procfs/mounts" 2>/dev/null; then
		lacks "debugfs at $debugfs" "Mount it: mount -t debugfs debugfs $debugfs"
	elif [ -d "$sysfs/module/jumpfunc" ]; then
		lacks "$jf" "jumpfunc is loaded, but has no debugfs folder: see \"dmesg | grep jumpfunc\"."
	else
		lacks "the module jumpfunc" "Load it: modprobe jumpfunc; in a clone: make && insmod ./jumpfunc.ko" \
			"or let this script do it: --module ./jumpfunc.ko"
	fi
}

check_module_file() { [ -f "$module" ] || lacks "the module file $module" "Build it, in a clone of jumpfunc: make"; }

load_module()
{
	[ ! -d "$sysfs/module/jumpfunc" ] || return 0
	check_module_file
	[ $missing -eq 0 ] || return 0
	if why=$(insmod "$module" 2>&1); then loaded=yes; return 0; fi
	lacks "the module: insmod $module failed: ${why##*: }" \
		"$(dmesg 2>/dev/null | grep -E 'jumpfunc|module' | tail -n 1)" \
		"invalid format: built for another kernel (make KVER=\$(uname -r)); key rejected or not" \
		"permitted: the kernel wants signed modules (Secure Boot, lockdown)."
}

needs() { command -v "$1" >/dev/null 2>&1 || { lacks "$@"; return 1; }; }

check_tools()
{
	needs hackbench "Debian, Ubuntu: apt-get install rt-tests; elsewhere the package is rt-tests or realtime-tests" || :
	[ "$fifo" = no ] || needs chrt "Debian, Ubuntu: apt-get install util-linux" || :
	needs setsid "Debian, Ubuntu: apt-get install util-linux" || :
	[ -r "$report" ] || lacks "$report" "It comes with this script, in the same folder: copy it along."
	[ "$use_perf" = yes ] || return 0
	needs perf "Debian: apt-get install linux-perf; Ubuntu: linux-tools-\$(uname -r); elsewhere: perf" \
		"or measure without its counters: --no-perf" || return 0
	# Old perf has no duration_time; hackbench's own clock must do then.
	for try in 'duration_time,' ''; do
		perf_events=${try}task-clock,context-switches,cycles,instructions,branches,branch-misses
		if why=$(perf stat -x, -e "$perf_events" -- true 2>&1); then return 0; fi
	done
	lacks "a perf that works: \"perf stat\" fails here" "$(printf '%s\n' "$why" | grep -v '^ *$' | head -n 1)" \
		"Is it the perf of this kernel?  Debian: apt-get install linux-perf.  Or measure without: --no-perf"
}

# ---- plan ----------------------------------------------------------------------------

# Rows are "mode:subscribers", with "-" where the number means nothing.
plan_rows()
{
	offered=$( { knob_read dispatch || :; } | tr -d '[]' | tr '\n' ' ')
	offered=${offered% }
	for m in ${offered:+$modes}; do
		contains "$offered" "$m" || bad_usage "no mode \"$m\" here: $jf/dispatch offers $offered"
	done
	modes=${modes:-${offered:-off indirect dynfunc}}
	if [ -e "$jf/subscribers" ]; then
		subscribers=${subscribers:-1 2 4 8}
	elif [ -n "$subscribers" ] && [ -n "$offered" ]; then
		bad_usage "--subscribers: this jumpfunc has no knob $jf/subscribers"
	fi
	rows=
	! contains "$modes" off || rows=off:-
	[ "$trace_all" = no ] || rows="$rows trace-all:-"
	for n in ${subscribers:--}; do
		for m in $modes; do
			row=$m:$n
			# dynfunc has one target by definition, so one row, in the first group.
			case $row in dynfunc:[0-9]*) row=dynfunc:1 ;; esac
			[ "$m" = off ] || contains "$rows" "$row" || rows="$rows $row"
		done
	done
	rows=${rows# }
	# shellcheck disable=SC2086 # a word for each row
	set -- $rows
	nrows=$#
	total=$((nrows * (repeats + warmup)))
	[ "$nrows" -gt 0 ] || bad_usage "nothing to measure"
}

# order ROUND, from 0: rounds come in pairs, the second mirrors the first, and each pair starts
# one row later: a steady drift adds the same to every row.
order()
{
	echo "$rows" | awk -v r="$1" '{
		k = int(r / 2) % NF
		for (i = 0; i < NF; i++) row[i] = $((i + k) % NF + 1)
		for (i = 0; i < NF; i++) printf "%s%s", row[r % 2 ? NF - 1 - i : i], i < NF - 1 ? " " : "\n"
	}'
}

nice_row() { case $1 in *:-) printf '%s' "${1%:-}" ;; *) printf '%s' "${1%:*} N=${1#*:}" ;; esac; }

show_plan()
{
	echo "load:     hackbench -g $groups -l $loops${hb_extra:+ $hb_extra}"
	echo "rows:     $nrows: $rows"
	echo "rounds:   $warmup to warm up, $repeats measured; runs per round and row: $inner"
	echo "runs:     $((total * inner)) of hackbench"
	r=$((-warmup))
	while [ "$r" -lt "$repeats" ]; do
		[ $((r + warmup)) -lt 8 ] || { echo "          and so on"; break; }
		if [ "$r" -lt 0 ]; then
			printf 'warm-up:  %s\n' "$(order $((r + warmup)))"
		else
			printf 'round %-3s %s\n' "$((r + 1)):" "$(order "$r")"
		fi
		r=$((r + 1))
	done
	echo "results:  ${outdir}"
}

# ---- clean-up ------------------------------------------------------------------------

loaded=no trace_left=no measuring=no launching=no child='' mode_before='' subscribers_before='' broken=0

put_back()
{
	[ -n "$mode_before" ] || return 0
	if ! set_mode "$mode_before" "${subscribers_before:--}"; then
		say "could not put back the mode $mode_before: echo $mode_before > $jf/dispatch"
		return 1
	fi
}

# A signal must not leave 40 tasks per group running: perf ends without its grandchildren,
# so the whole process group has to be ended.
end_child()
{
	if [ -z "$child" ] && [ "$launching" = yes ]; then set +u; child=$!; set -u; fi
	[ -n "$child" ] || return 0
	kill -TERM "-$child" 2>/dev/null || kill -TERM "$child" 2>/dev/null || :
	i=0
	while kill -0 "-$child" 2>/dev/null && [ "$i" -lt 20 ]; do
		sleep 0.1 2>/dev/null || sleep 1
		i=$((i + 1))
	done
	kill -KILL "-$child" 2>/dev/null || :
	wait "$child" 2>/dev/null || :
	child=
}

finish()
{
	rc=$?
	trap '' INT TERM HUP QUIT PIPE
	trap - EXIT
	set +e
	end_child
	trace_off || rc=$((rc ? rc : 1))
	put_back || rc=$((rc ? rc : 1))
	if [ "$loaded" = yes ] && ! why=$(rmmod jumpfunc 2>&1); then
		say "rmmod jumpfunc failed: $why"
		rc=$((rc ? rc : 1))
	fi
	[ "$measuring" = no ] || say "stopped; the runs so far are in $outdir (a table of them: $prog --render $outdir)"
	exit "$rc"
}

# ---- measuring -----------------------------------------------------------------------

# Runs "$@" in a process group of its own, so that a signal to us can end all of it.
run()
{
	[ "$fifo" = no ] || set -- chrt -f 1 "$@"
	launching=yes run_rc=0
	setsid "$@" >"$raw.out" 2>&1 </dev/null &
	child=$! launching=no
	wait "$child" || run_rc=$?
	child=
}

# From perf's CSV: value, unit, event.  Hybrid CPUs count each event once per kind of core; what one kind did not count
# is no reason to lose the other.  Prints the counters in the order of runs.csv, seconds first; n/a for what was not
# counted.
perf_numbers()
{
	awk -F, '
		!/^#/ && NF >= 3 && $1 ~ /^[0-9.]+$/ {
			e = $3
			sub(/^cpu_[a-z]+\//, "", e); sub(/\/$/, "", e); sub(/:[a-zA-Z]*$/, "", e)
			sum[e] += $1
		}
		function out(e, scale, format) { return e in sum ? sprintf(format, sum[e] / scale) : "n/a" }
		END {
			printf "%s,%s", out("duration_time", 1e9, "%.6f"), out("task-clock", 1, "%.3f")
			n = split("context-switches cycles instructions branches branch-misses", name, " ")
			for (i = 1; i <= n; i++) printf ",%s", out(name[i], 1, "%.0f")
		}' "$1"
}

# row_hits: the count of what this row dispatched so far
row_hits() { if [ "$row_mode" = trace-all ]; then trace_hits; else hits "$row_mode"; fi; }

# run_load: hackbench, as often as a round wants it; sets run_rc
run_load()
{
	if [ "$use_perf" = yes ]; then
		# shellcheck disable=SC2086 # the user's own words for hackbench
		run perf stat -r "$inner" -x, -e "$perf_events" -o "$raw.perf" -- \
			hackbench -g "$groups" -l "$loops" $hb_extra
	else
		# shellcheck disable=SC2016,SC2086
		run sh -c 'n=$1; shift; while [ $n -gt 0 ]; do "$@" || exit; n=$((n - 1)); done' sh "$inner" \
			hackbench -g "$groups" -l "$loops" $hb_extra
	fi
}

# check_events ROUND ROW: says when they show that the row did not do what it stands for; warm-ups do not count
check_events()
{
	case $row_mode:$events in
	off:0) return ;;
	off:*) say "ERROR: mode off dispatched $events events: it is no baseline" ;;
	*:none) say "ERROR: $jf/events has no column for mode $row_mode: nothing shows that it fires" ;;
	*:0) say "ERROR: mode $(nice_row "$2") dispatched no event: it is attached, but never fires" ;;
	*:-*) say "ERROR: the counters of $row_mode ran backwards ($events)" ;;
	*)	return ;;
	esac
	[ "$1" = 0 ] || broken=1
}

# record ROUND ROW: adds the run to runs.csv; before and after are its counts of events
record()
{
	own=$(awk '/^Time:/ { n++; t += $2 } END { if (n) printf "%d %.6f", n, t / n }' "$raw.out")
	if [ $run_rc -ne 0 ] || [ "${own% *}" != "$inner" ]; then
		say "hackbench failed in mode $(nice_row "$2") (status $run_rc, ${own:-no} \"Time:\" line of $inner); its last lines:"
		tail -n 5 "$raw.out" >&2
		return 1
	fi
	own=${own#* } numbers=n/a,n/a,n/a,n/a,n/a,n/a,n/a events=none
	[ "$use_perf" = no ] || numbers=$(perf_numbers "$raw.perf")
	seconds=${numbers%%,*} clock=elapsed
	if [ "$seconds" = n/a ]; then seconds=$own clock=hackbench; fi
	if [ "$before" != none ] && [ "$after" != none ]; then
		events=$(awk -v a="$after" -v b="$before" 'BEGIN { printf "%.0f", a - b }')
	fi
	echo "$1,$row_mode,$row_n,$seconds,$own,${numbers#*,},$events,$clock,$inner,$emulated" >>"$outdir/runs.csv"
	check_events "$1" "$2"
}

# one_run ROUND ROW: ROUND is 0 in the warm-up
one_run()
{
	row_mode=${2%:*} row_n=${2#*:} kernel_mode=${2%:*}
	raw=$outdir/raw/$(printf 'round%02d-%s' "$1" "$row_mode")
	[ "$row_n" = "-" ] || raw=$raw-n$row_n
	[ "$1" -ne 0 ] || raw=$raw-$warm
	[ "$row_mode" != trace-all ] || kernel_mode=off

	set_mode "$kernel_mode" "$row_n" || return 1
	[ "$row_mode" != trace-all ] || trace_on || return 1
	before=$(row_hits)
	run_load
	after=$(row_hits)
	[ "$row_mode" != trace-all ] || trace_off || return 1
	check_mode "$kernel_mode" || return 1
	record "$1" "$2"
}

# time_left DONE TOTAL
time_left()
{
	[ "${JF_EMULATED:-}" != icount ] || return 0	# this clock is not the user's
	left=$(( ($(date +%s) - started) * ($2 - $1) / $1 ))
	if [ $left -ge 100 ]; then echo "   about $(((left + 30) / 60)) min left"; else echo "   about $left s left"; fi
}

measure()
{
	n_done=0 started=$(date +%s) r=$((-warmup))
	while [ "$r" -lt "$repeats" ]; do
		if [ "$r" -lt 0 ]; then
			round=0 turn=$((r + warmup)) warm=w$((r + warmup + 1)) label="warm-up"
		else
			round=$((r + 1)) turn=$r label="round $((r + 1))/$repeats"
		fi
		for row in $(order $turn); do
			one_run $round "$row" || return 1
			n_done=$((n_done + 1))
			printf '[%d/%d] %-11s %-16s %9.3f s%s\n' $n_done $total "$label" "$(nice_row "$row")" "$seconds" \
				"$(time_left $n_done $total)" >&2
		done
		r=$((r + 1))
	done
}

# ---- results -------------------------------------------------------------------------

write_meta()
{
	module_dir=$sysfs/module/jumpfunc
	version=$(first_line "$module_dir/version") src=$(first_line "$module_dir/srcversion")
	asked=$(first_line "$module_dir/parameters/backend")
	used=$({ knob_read stats || :; } | awk '$1 == "backend" || $1 == "backend_used" { print $2; exit }')
	governor=$(first_line "$sysfs/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	cat >"$outdir/meta.txt" <<-END
		date=$(date '+%Y-%m-%d %H:%M:%S %z')
		kernel=$(uname -r)
		build=$(uname -v)
		cpu=$(cpu_model)
		cores=$(grep -c '^processor' "$procfs/cpuinfo" 2>/dev/null || :)
		governor=${governor:-not told}
		spectre_v2=$spectre
		retpolines=$retpolines
		emulated=$emulated
		emulated_why=$emulated_why
		module=${version:-${src:+srcversion $src}}
		backend=${used:-${asked:-not told}}
		backend_asked=${asked:-not told}
		tracepoints=$(attached)
		load=hackbench -g $groups -l $loops${hb_extra:+ $hb_extra}
		policy=$([ "$fifo" = no ] || echo SCHED_FIFO)
		rounds=$repeats
		inner=$inner
		warmup=$warmup
		rows=$rows
	END
	columns=round,mode,subscribers,seconds,hackbench_s,task_clock_ms,context_switches,cycles,instructions,branches
	echo $columns,branch_misses,events,clock,inner,emulated >"$outdir/runs.csv"
}

# results DIR: what hackbench-report.py makes of meta.txt and runs.csv
results()
{
	if [ -n "$native" ] && ! cmp -s "$native" "$1/native.csv"; then cp "$native" "$1/native.csv" || return 1; fi
	if ! command -v python3 >/dev/null 2>&1; then
		say "no python3 here, so no table.txt and no chart.svg: on a machine that has it, $prog --render $1"
		[ -z "$render" ] || return 1
	elif ! python3 "$report" "$1"; then
		broken=1
	fi
	say "results in $1"
	return $broken
}

render_only()
{
	for f in meta.txt runs.csv; do
		[ -r "$render/$f" ] || die "no $f in $render: --render wants the results folder of an earlier run"
	done
	[ -w "$render" ] || die "cannot write into $render"
	results "$render" || exit 1
	exit 0
}

make_outdir()
{
	if [ -e "$outdir/runs.csv" ]; then
		die "$outdir holds the results of an earlier run: choose another folder with --output, or remove it"
	fi
	# A name that can be guessed: through another user's folder, or link, root would write where it leads.
	if [ -z "$outdir_given" ]; then
		mkdir "$outdir" || die "cannot make the folder $outdir; choose another one with --output"
	fi
	mkdir -p "$outdir/raw" || die "cannot make the folder $outdir"
}

# Counts and tells all that is missing.
check_machine()
{
	if [ "$(id -u)" -ne 0 ]; then
		lacks "root" "debugfs and the module need it: sudo $0 ..."
	elif [ $dry_run = yes ] && [ -n "$module" ] && [ ! -d "$sysfs/module/jumpfunc" ]; then
		check_module_file
	else
		if [ -n "$module" ] && [ $dry_run = no ]; then load_module; fi
		[ $missing -ne 0 ] || check_debugfs
	fi
	check_tools
	[ $trace_all = yes ] || return 0
	[ -d "$tracefs/instances" ] || lacks "tracefs at $tracefs" "Mount it: mount -t tracefs tracefs $tracefs"
	[ ! -d "$tracefs/instances/$instance" ] || lacks "a free name: $tracefs/instances/$instance is there already" \
		"Another run is under way, or was killed: rmdir $tracefs/instances/$instance"
}

main()
{
	parse_options "$@"
	if [ -n "$render" ]; then render_only; fi
	outdir_given=$outdir
	[ -n "$outdir" ] || outdir=hackbench-$(uname -r)-$(date +%Y%m%d-%H%M%S)

	trap finish EXIT
	trap 'say "^C"; exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	trap 'exit 131' QUIT
	trap 'exit 141' PIPE

	check_machine
	find_emulation
	find_mitigation
	plan_rows
	[ $dry_run = no ] || show_plan
	[ $missing -eq 0 ] || exit 3
	[ $dry_run = no ] || exit 0

	make_outdir
	mode_before=$(mode_now)
	[ ! -e "$jf/subscribers" ] || subscribers_before=$(subscribers_now)
	write_meta
	contains "$modes" off || say "note: without the mode off there is no baseline and no overhead"
	say "$nrows rows x $((warmup + repeats)) rounds: $((total * inner)) runs of hackbench -g $groups -l $loops"

	measuring=yes
	measure || exit 1
	measuring=no
	put_back || { mode_before=; exit 1; }
	mode_before=
	results "$outdir" || exit 1
	exit 0
}

main "$@"
