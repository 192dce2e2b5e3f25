#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Measures what each dispatch mode costs hackbench: runs it under perf stat with jumpfunc's
# event set in one mode after the other, and prints a table.
# "hackbench-run.sh --help" explains the options.
#
# Needs nothing but a POSIX shell and awk for measuring and for the table (busybox has
# enough); gnuplot only for the chart.

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

groups=10
loops=500
repeats=6
inner=1
warmup=1
fifo=no
native=
modes=
subscribers=
outdir=
module=
render=
use_perf=yes
trace_all=no
dry_run=no
hb_extra=

usage()
{
	cat <<END
Usage: $prog [options] [-- hackbench options]
       $prog --render DIR

Measures what each dispatch mode costs: runs hackbench under perf stat once per round and mode
of jumpfunc's event set, and prints one table.  The order of the modes changes with every
round, and is mirrored in every second one, so that drift affects all modes alike.

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
      --fifo            run hackbench with real-time priority (SCHED_FIFO): as no task preempts
                        another one, each run does the same work.  For virtual machines: on real
                        CPUs it leaves no time for anything else
      --no-perf         do not use perf: take hackbench's own "Time:" line, no counters
      --native FILE     the CSV of user/bench, measured natively: the table then also tells what the
                        dispatch of one event costs on that CPU, and of all events of the run
Results:
  -o, --output DIR      folder for the results (default: hackbench-KERNEL-DATE here)
      --render DIR      make tables and chart again from the runs in DIR; needs no root, no
                        module and not the machine that measured (use it for results that
                        come out of a VM without gnuplot)
  -n, --dry-run         check what is needed, show the plan, run nothing
  -h, --help            this text

DIR receives table.txt, summary.csv (one line per row of the table), runs.csv (one line per
run), chart.svg with chart.gp and chart.dat, meta.txt, and raw/ with the output of perf and
hackbench of every run.

It is an error if a mode dispatches no event in a run, or if "off" does dispatch some: the
table would be wrong.  Mode and subscribers are restored at the end, also after ^C, TERM and
HUP.

Exit status: 0 all measured, 1 an error, 2 bad usage, 3 something is missing,
128+N ended by signal N.

Environment: JF_DEBUGFS ($debugfs), JF_SYSFS (/sys), JF_PROCFS (/proc),
JF_DEVFS (/dev), JF_TRACEFS ($tracefs) move these mounts;
JF_EMULATED=1 or 0 says whether the CPU is emulated, where the guest cannot tell;
icount: it is, and its clock counts instructions ("qemu -icount").

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

# number NAME VALUE MIN MAX
number()
{
	case $2 in
	''|*[!0-9]*|????????*) bad_usage "$1 takes a number from $3 to $4, not \"$2\"" ;;
	esac
	if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		bad_usage "$1 takes a number from $3 to $4, not \"$2\""
	fi
}

contains() { case " $1 " in *" $2 "*) return 0 ;; esac; return 1; }

# list NAME VALUE: "a,b,c" to "a b c", on stdout
list()
{
	case $2 in
	''|,*|*,|*,,*|*[!a-z0-9_,-]*) return 1 ;;
	esac
	printf '%s\n' "$2" | tr ',' ' '
}

# option_and_value WORD...: sets opt and val from the first word or two, and words: how many
option_and_value()
{
	opt=$1 val='' words=1
	case $opt in
	--*=*)
		val=${opt#*=}
		opt=${opt%%=*}
		case $opt in
		--help|--dry-run|--no-perf|--fifo|--trace-all) bad_usage "$opt takes no value" ;;
		esac
		;;
	-h|--help|-n|--dry-run|--no-perf|--fifo|-t|--trace-all|--) ;;
	-[glmsrkwo]|--groups|--loops|--modes|--subscribers|--repeats|--inner|\
	--warmup|--module|--native|--output|--render)
		[ $# -ge 2 ] || bad_usage "$opt needs a value"
		val=$2
		words=2
		;;
	-?|--*)	bad_usage "unknown option $opt" ;;
	-*)	bad_usage "unknown option $opt (short options stand alone: -r 10)" ;;
	*)	bad_usage "unexpected argument \"$opt\" (hackbench's own options go after --)" ;;
	esac
}

# What opt and val ask for
take_option()
{
	case $opt in
	-h|--help) usage; exit 0 ;;
	-n|--dry-run) dry_run=yes ;;
	--no-perf) use_perf=no ;;
	--fifo) fifo=yes ;;
	-t|--trace-all) trace_all=yes ;;
	-g|--groups) number "$opt" "$val" 1 10000; groups=$val ;;
	-l|--loops) number "$opt" "$val" 1 9999999; loops=$val ;;
	-r|--repeats) number "$opt" "$val" 1 1000; repeats=$val ;;
	-k|--inner) number "$opt" "$val" 1 1000; inner=$val ;;
	-w|--warmup) number "$opt" "$val" 0 1000; warmup=$val ;;
	-m|--modes)
		modes=$(list "$opt" "$val") || bad_usage "$opt takes modes separated by commas, not \"$val\""
		;;
	-s|--subscribers)
		subscribers=$(list "$opt" "$val") ||
			bad_usage "$opt takes numbers separated by commas, not \"$val\""
		for n in $subscribers; do number "$opt" "$n" 0 16; done
		;;
	--module)
		[ -n "$val" ] || bad_usage "--module needs the path of a .ko file"
		module=$val
		;;
	--native)
		[ -r "$val" ] || bad_usage "--native: cannot read \"$val\""
		grep -q '^group,layout,shape,n,ns_min' "$val" || bad_usage "--native: $val is no CSV of user/bench"
		native=$val
		;;
	-o|--output)
		[ -n "$val" ] || bad_usage "$opt needs the name of a folder"
		outdir=$val
		;;
	--render)
		[ -n "$val" ] || bad_usage "--render needs the name of a folder"
		render=$val
		;;
	*)	bad_usage "unknown option $opt" ;;
	esac
}

parse_options()
{
	while [ $# -gt 0 ]; do
		option_and_value "$@"
		shift "$words"
		if [ "$opt" = -- ]; then
			hb_extra=$*
			break
		fi
		take_option
	done
	for list in "$modes" "$subscribers"; do
		seen=
		for word in $list; do
			if contains "$seen" "$word"; then bad_usage "\"$word\" is given twice"; fi
			seen="$seen $word"
		done
	done
}

# ---- what the machine is -------------------------------------------------------------

first_line() { if [ -r "$1" ]; then head -n 1 "$1" 2>/dev/null || :; fi; }

cpu_model()
{
	awk -F': *' '/^model name/ { print $2; exit }' "$procfs/cpuinfo" 2>/dev/null || :
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
	model=$(cpu_model)
	case ${JF_EMULATED:-} in
	1) emulated=yes; emulated_why="said by JF_EMULATED"; return ;;
	icount) emulated=yes; emulated_why="its clock counts instructions"; return ;;
	0) emulated=no; emulated_why="said by JF_EMULATED"; return ;;
	esac
	case $model in
	*"QEMU TCG"*) emulated=yes; emulated_why="CPU model"; return ;;
	esac
	case $(hypervisor_signature) in
	*TCGTCG*) emulated=yes; emulated_why="CPUID signature TCGTCGTCGTCG"; return ;;
	*KVMKVM*) emulated=no; emulated_why="virtual machine, CPUID signature KVM"; return ;;
	esac
	if ! grep -q '^flags.* hypervisor' "$procfs/cpuinfo" 2>/dev/null; then
		emulated=no
		emulated_why="no hypervisor"
		return
	fi
	clocks=$(first_line "$sysfs/devices/system/clocksource/clocksource0/available_clocksource")
	case $clocks in
	*kvm-clock*|*hyperv*|*xen*)
		emulated=no; emulated_why="virtual machine, clock sources $clocks"; return ;;
	esac
	dmi=$(first_line "$sysfs/class/dmi/id/sys_vendor")
	case "$model $dmi" in
	*QEMU*)
		# KVM guests have kvm-clock, unless it was switched off.
		emulated=yes; emulated_why="QEMU without a paravirtual clock"; return ;;
	esac
	emulated=unknown
	emulated_why="a hypervisor that does not say which it is; JF_EMULATED=0 or 1 tells"
}

# Sets retpolines=yes|lfence|no|unknown from the mitigation in force.  Only the part up to
# the first semicolon speaks of indirect branches.
find_mitigation()
{
	spectre=$(first_line "$sysfs/devices/system/cpu/vulnerabilities/spectre_v2")
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

# knob_write NAME VALUE; the reason of a failure is left in $why
knob_write()
{
	why=$( { printf '%s\n' "$2" >"$(knob_file "$1")"; } 2>&1 ) && return 0
	why=${why##*: }
	return 1
}

# The word in brackets is the mode in force; a file with one word has only that one.
mode_now()
{
	knob_read dispatch | awk '
		{ for (i = 1; i <= NF; i++) { n++; only = $i; if ($i ~ /^\[.*\]$/) hit = $i } }
		END { if (hit == "" && n == 1) hit = only; gsub(/[][]/, "", hit); print hit }'
}

subscribers_now() { knob_read subscribers | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/) { print $i; exit } }'; }

# Off first: the number of subscribers never changes under a mode that cannot serve it.
set_mode()
{
	if [ "$2" != "-" ] && [ -e "$(knob_file subscribers)" ]; then
		knob_write dispatch off || { say "cannot write off to $jf/dispatch: $why"; return 1; }
		knob_write subscribers "$2" || {
			say "cannot write $2 to $jf/subscribers: $why (see the kernel log)"
			return 1
		}
	fi
	knob_write dispatch "$1" || {
		say "cannot write $1 to $jf/dispatch: $why (see the kernel log)"
		return 1
	}
	check_mode "$1"
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
	cat "$tracefs/instances/$instance"/per_cpu/cpu*/stats 2>/dev/null |
		awk -F': *' '/^(entries|overrun|commit overrun|dropped events):/ { sum += $2 }
			END { printf "%.0f\n", sum }'
}

trace_on()
{
	trace_left=yes
	# In an instance of its own: the user's own tracing stays as it is.
	if command -v trace-cmd >/dev/null 2>&1; then
		trace-cmd start -B $instance -e all >"$outdir/raw/trace-cmd.out" 2>&1 ||
			{ say "trace-cmd start -B $instance -e all failed:"; cat "$outdir/raw/trace-cmd.out" >&2; return 1; }
	else
		mkdir "$tracefs/instances/$instance" &&
			echo 1 >"$tracefs/instances/$instance/events/enable"
	fi
}

trace_off()
{
	[ "$trace_left" = yes ] || return 0
	trace_left=no
	[ -d "$tracefs/instances/$instance" ] || return 0
	{ echo 0 >"$tracefs/instances/$instance/events/enable"; } 2>/dev/null || :
	rmdir "$tracefs/instances/$instance" ||
		{ say "cannot remove $tracefs/instances/$instance"; return 1; }
}

# ---- what is missing -----------------------------------------------------------------

missing=0
lacks() { missing=$((missing + 1)); say "missing: $1"; shift; for hint; do printf '    %s\n' "$hint" >&2; done; }

lockdown() { first_line "$sysfs/kernel/security/lockdown" | awk '/\[(integrity|confidentiality)\]/'; }

check_debugfs()
{
	if [ -n "$(lockdown)" ] && [ -f "$sysfs/kernel/jumpfunc/dispatch" ]; then
		knobs=$sysfs/kernel/jumpfunc
		say "this kernel is locked down ($(lockdown)): debugfs refuses files that can be written; using" \
			"those in $knobs, which are the same"
		[ -r "$jf/events" ] && knob_read events >/dev/null || lacks "a readable $jf/events" \
			"It shows whether events are dispatched at all; mount -t debugfs debugfs $debugfs"
	fi
	if [ -f "$(knob_file dispatch)" ] && knob_read dispatch >/dev/null; then
		[ -n "$(mode_now)" ] || lacks "a mode in force in $(knob_file dispatch)" \
			"The file should show all modes with the present one in brackets."
		return
	fi
	if [ -n "$(lockdown)" ] && { [ -e "$jf/dispatch" ] || [ -d "$sysfs/module/jumpfunc" ]; }; then
		lacks "access to debugfs: this kernel is locked down ($(lockdown))" \
			"Lockdown refuses debugfs files that can be written.  It comes with Secure Boot, or with" \
			"lockdown= on the kernel command line: boot without, or load a jumpfunc that has" \
			"$sysfs/kernel/jumpfunc."
	elif [ -e "$jf/dispatch" ]; then
		lacks "a readable $jf/dispatch" "Reading it failed: $(cat "$jf/dispatch" 2>&1 >/dev/null)"
	elif [ -d "$jf" ]; then
		lacks "$jf/dispatch" "The jumpfunc that is loaded has no event set: rebuild and reload it."
	elif ! grep -q debugfs "$procfs/filesystems" 2>/dev/null; then
		lacks "debugfs" "This kernel has none (CONFIG_DEBUG_FS, or debugfs=off on its command line)."
	elif ! awk -v dir="$debugfs" '$2 == dir && $3 == "debugfs" { ok = 1 } END { exit !ok }' \
		"$procfs/mounts" 2>/dev/null; then
		lacks "debugfs at $debugfs" "Mount it: mount -t debugfs debugfs $debugfs"
	elif [ -d "$sysfs/module/jumpfunc" ]; then
		lacks "$jf" "jumpfunc is loaded, but has no debugfs folder: see \"dmesg | grep jumpfunc\"."
	else
		lacks "the module jumpfunc" "Load it: modprobe jumpfunc; in a clone: make && insmod ./jumpfunc.ko" \
			"or let this script do it: --module ./jumpfunc.ko"
	fi
}

load_module()
{
	[ -d "$sysfs/module/jumpfunc" ] && return 0
	[ -f "$module" ] || { lacks "the module file $module" "Build it, in a clone of jumpfunc: make"; return 0; }
	if why=$(insmod "$module" 2>&1); then
		loaded=yes
		return 0
	fi
	lacks "the module: insmod $module failed: ${why##*: }" \
		"$(dmesg 2>/dev/null | grep -E 'jumpfunc|module' | tail -n 1)" \
		"invalid format: built for another kernel (make KVER=\$(uname -r)); key rejected or not" \
		"permitted: the kernel wants signed modules (Secure Boot, lockdown)."
}

check_tools()
{
	command -v hackbench >/dev/null 2>&1 ||
		lacks "hackbench" "Debian, Ubuntu: apt-get install rt-tests; elsewhere the package is rt-tests or realtime-tests"
	[ "$fifo" = no ] || command -v chrt >/dev/null 2>&1 ||
		lacks "chrt" "Debian, Ubuntu: apt-get install util-linux"
	command -v setsid >/dev/null 2>&1 ||
		lacks "setsid" "Debian, Ubuntu: apt-get install util-linux"
	for f in hackbench-report.awk hackbench-table.awk hackbench-chart.awk hackbench-event.awk \
		hackbench-chart.gp hackbench-event.gp; do
		[ -r "$here/$f" ] || lacks "$here/$f" "It comes with this script, in the same folder: copy it along."
	done
	[ "$use_perf" = yes ] || return 0
	if ! command -v perf >/dev/null 2>&1; then
		lacks "perf" "Debian: apt-get install linux-perf; Ubuntu: linux-tools-\$(uname -r); elsewhere: perf" \
			"or measure without its counters: --no-perf"
		return 0
	fi
	# Old perf has no duration_time; hackbench's own clock must do then.
	for try in duration_time ''; do
		perf_events=${try:+$try,}task-clock,context-switches,cycles,instructions,branches,branch-misses
		if why=$(perf stat -x, -e "$perf_events" -- true 2>&1); then return 0; fi
	done
	lacks "a perf that works: \"perf stat\" fails here" "$(printf '%s\n' "$why" | grep -v '^ *$' | head -n 1)" \
		"Is it the perf of this kernel?  Debian: apt-get install linux-perf.  Or measure without: --no-perf"
}

# ---- plan ----------------------------------------------------------------------------

# Rows are "mode:subscribers", with "-" where the number means nothing.
plan_rows()
{
	rows=
	offered=$( { knob_read dispatch || :; } | tr -d '[]' | tr '\n' ' ')
	offered=${offered% }
	if [ -z "$modes" ]; then
		modes=${offered:-off indirect dynfunc}
	elif [ -n "$offered" ]; then
		for m in $modes; do
			contains "$offered" "$m" ||
				bad_usage "no mode \"$m\" here: $jf/dispatch offers $offered"
		done
	fi
	if [ -e "$jf/subscribers" ]; then
		[ -n "$subscribers" ] || subscribers="1 2 4 8"
	elif [ -n "$subscribers" ] && [ -n "$offered" ]; then
		bad_usage "--subscribers: this jumpfunc has no knob $jf/subscribers"
	fi
	if contains "$modes" off; then rows=" off:-"; fi
	if [ "$trace_all" = yes ]; then rows="$rows trace-all:-"; fi
	for n in ${subscribers:--}; do
		for m in $modes; do
			row=$m:$n
			case $m in
			off) continue ;;
			dynfunc)
				# One target by definition, so one row, in the first group.
				[ "$n" = "-" ] || row=dynfunc:1
				! contains "$rows" "$row" || continue
				;;
			esac
			rows="$rows $row"
		done
	done
	rows=${rows# }
	nrows=$(echo "$rows" | wc -w)
	nrows=$((nrows))
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
	total=$((nrows * (repeats + warmup)))
	echo "load:     hackbench -g $groups -l $loops${hb_extra:+ $hb_extra}"
	echo "rows:     $nrows: $rows"
	echo "rounds:   $warmup to warm up, $repeats measured; runs per round and row: $inner"
	echo "runs:     $((total * inner)) of hackbench"
	r=0
	while [ $r -lt $((warmup + repeats)) ] && [ $r -lt 8 ]; do
		if [ $r -lt "$warmup" ]; then
			printf 'warm-up:  %s\n' "$(order $r)"
		else
			printf 'round %-3s %s\n' "$((r - warmup + 1)):" "$(order $((r - warmup)))"
		fi
		r=$((r + 1))
	done
	[ $r -eq $((warmup + repeats)) ] || echo "          and so on"
	echo "results:  ${outdir}"
}

# ---- clean-up ------------------------------------------------------------------------

loaded=no
trace_left=no
mode_before=
subscribers_before=
child=
launching=no
measuring=no

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
	trace_off || [ "$rc" -ne 0 ] || rc=1
	put_back || [ "$rc" -ne 0 ] || rc=1
	if [ "$loaded" = yes ]; then
		if ! why=$(rmmod jumpfunc 2>&1); then
			say "rmmod jumpfunc failed: $why"
			[ "$rc" -ne 0 ] || rc=1
		fi
	fi
	if [ "$measuring" = yes ]; then
		say "stopped; the runs so far are in $outdir (a table of them: $prog --render $outdir)"
	fi
	exit "$rc"
}

# ---- measuring -----------------------------------------------------------------------

# Runs "$@" in a process group of its own, so that a signal to us can end all of it.
run()
{
	[ "$fifo" = no ] || set -- chrt -f 1 "$@"
	launching=yes
	setsid "$@" >"$raw.out" 2>&1 </dev/null &
	child=$!
	launching=no
	run_rc=0
	wait "$child" || run_rc=$?
	child=
}

# From perf's CSV: value, unit, event.  Hybrid CPUs count each event once per kind of core;
# what one kind did not count is no reason to lose the other.  Prints the counters in the
# order of runs.csv, seconds first; n/a for what was not counted.
perf_numbers()
{
	awk -F, '
		/^#/ || NF < 3 { next }
		{
			e = $3
			sub(/^cpu_[a-z]+\//, "", e); sub(/\/$/, "", e); sub(/:[a-zA-Z]*$/, "", e)
			if ($1 ~ /^[0-9.]+$/) { sum[e] += $1; seen[e] = 1 }
		}
		function out(e, scale) { return (e in seen) ? sprintf(scale == 1 ? "%.0f" : "%.6f", sum[e] / scale) : "n/a" }
		END {
			printf "%s,%s,%s,%s,%s,%s,%s\n", out("duration_time", 1e9), \
				("task-clock" in seen) ? sprintf("%.3f", sum["task-clock"]) : "n/a", \
				out("context-switches", 1), out("cycles", 1), out("instructions", 1), \
				out("branches", 1), out("branch-misses", 1)
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

# judge_events ROW: says when they show that the row did not do what it stands for
judge_events()
{
	case $row_mode:$events in
	off:0) ;;
	off:*) say "ERROR: mode off dispatched $events events: it is no baseline" ;;
	*:none) say "ERROR: $jf/events has no column for mode $row_mode: nothing shows that it fires" ;;
	*:0) say "ERROR: mode $(nice_row "$1") dispatched no event: it is attached, but never fires" ;;
	*) [ "$events" -gt 0 ] || say "ERROR: the counters of $row_mode ran backwards ($events)" ;;
	esac
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
	own=${own#* }
	if [ "$use_perf" = yes ]; then
		numbers=$(perf_numbers "$raw.perf")
	else
		numbers=n/a,n/a,n/a,n/a,n/a,n/a,n/a
	fi
	seconds=${numbers%%,*}
	clock=elapsed
	if [ "$seconds" = n/a ]; then seconds=$own; clock=hackbench; fi
	if [ "$before" = none ] || [ "$after" = none ]; then
		events=none
	else
		events=$(awk -v a="$after" -v b="$before" 'BEGIN { printf "%.0f", a - b }')
	fi
	echo "$1,$row_mode,$row_n,$seconds,$own,${numbers#*,},$events,$clock,$inner,$emulated" >>"$outdir/runs.csv"
	judge_events "$2"
}

# one_run ROUND ROW: ROUND is 0 in the warm-up
one_run()
{
	row_mode=${2%:*}
	row_n=${2#*:}
	raw=$outdir/raw/$(printf 'round%02d-%s' "$1" "$row_mode")
	[ "$row_n" = "-" ] || raw=$raw-n$row_n
	[ "$1" -ne 0 ] || raw=$raw-$warm
	kernel_mode=$row_mode
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

measure()
{
	total=$((nrows * (repeats + warmup)))
	n_done=0
	started=$(date +%s)
	r=0
	while [ $r -lt $((warmup + repeats)) ]; do
		if [ $r -lt "$warmup" ]; then
			round=0
			turn=$r
			warm=w$((r + 1))
			label="warm-up"
		else
			round=$((r - warmup + 1))
			turn=$((r - warmup))
			label="round $round/$repeats"
		fi
		for row in $(order $turn); do
			one_run $round "$row" || return 1
			n_done=$((n_done + 1))
			left=$(( ($(date +%s) - started) * (total - n_done) / n_done ))
			if [ "${JF_EMULATED:-}" = icount ]; then
				left=	# this clock is not the user's
			elif [ $left -ge 100 ]; then
				left="   about $(((left + 30) / 60)) min left"
			else
				left="   about $left s left"
			fi
			printf '[%d/%d] %-11s %-16s %9.3f s%s\n' $n_done $total "$label" \
				"$(nice_row "$row")" "$seconds" "$left" >&2
		done
		r=$((r + 1))
	done
}

# ---- results -------------------------------------------------------------------------

write_meta()
{
	version=$(first_line "$sysfs/module/jumpfunc/version")
	src=$(first_line "$sysfs/module/jumpfunc/srcversion")
	asked=$(first_line "$sysfs/module/jumpfunc/parameters/backend")
	used=$({ knob_read stats || :; } | awk '$1 == "backend" || $1 == "backend_used" { print $2; exit }')
	cores=$(grep -c '^processor' "$procfs/cpuinfo" 2>/dev/null || :)
	governor=$(first_line "$sysfs/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	{
		echo "date=$(date '+%Y-%m-%d %H:%M:%S %z')"
		echo "kernel=$(uname -r)"
		echo "build=$(uname -v)"
		echo "cpu=$(cpu_model)"
		echo "cores=$cores"
		echo "governor=${governor:-not told}"
		echo "spectre_v2=$spectre"
		echo "retpolines=$retpolines"
		echo "emulated=$emulated"
		echo "emulated_why=$emulated_why"
		echo "module=${version:-${src:+srcversion $src}}"
		echo "backend=${used:-${asked:-not told}}"
		echo "backend_asked=${asked:-not told}"
		echo "tracepoints=$(attached)"
		echo "load=hackbench -g $groups -l $loops${hb_extra:+ $hb_extra}"
		[ "$fifo" = no ] || echo "policy=SCHED_FIFO"
		echo "rounds=$repeats"
		echo "inner=$inner"
		echo "warmup=$warmup"
		echo "rows=$rows"
	} >"$outdir/meta.txt"
	echo "round,mode,subscribers,seconds,hackbench_s,task_clock_ms,context_switches,cycles,instructions,branches,branch_misses,events,clock,inner,emulated" \
		>"$outdir/runs.csv"
}

# draw DIR: the picture that chart.gp names
draw()
{
	picture=$(sed -n 's/^picture = "\(.*\)"$/\1/p' "$1/chart.gp")
	cat "$here/$picture" >>"$1/chart.gp"
	if ! command -v gnuplot >/dev/null 2>&1 && [ "${JF_VM:-0}" = 1 ]; then
		say "no gnuplot in this VM: $prog --render FOLDER makes chart.svg on the host"
	elif ! command -v gnuplot >/dev/null 2>&1; then
		say "no gnuplot here, so no chart.svg: Debian: apt-get install gnuplot-nox, or on a machine" \
			"that has it: $prog --render $1"
	elif ! (cd "$1" && gnuplot chart.gp); then
		say "gnuplot failed on $1/chart.gp"
		return 1
	fi
}

# report DIR: everything that follows from meta.txt and runs.csv
report()
{
	report_rc=0
	rm -f "$1/chart.gp" "$1/chart.dat"
	if [ -n "$native" ] && ! cmp -s "$native" "$1/native.csv"; then
		cp "$native" "$1/native.csv" || return 1
	fi
	# For awk a name with "=" in it is an assignment, unless a path stands in front.
	case $1 in /*) ;; *) set -- "./$1" ;; esac
	set -- "$1" "$1/meta.txt"
	[ ! -r "$1/native.csv" ] || set -- "$@" "$1/native.csv"
	dir=$1 awk -f "$here/hackbench-report.awk" -f "$here/hackbench-table.awk" \
		-f "$here/hackbench-chart.awk" -f "$here/hackbench-event.awk" \
		"$2" ${3+"$3"} "$1/runs.csv" || report_rc=$?
	[ $report_rc -le 1 ] || return 1
	rm -f "$1/chart.svg"
	cat "$1/table.txt"
	# There is nothing to draw of mode off alone.
	if [ -r "$1/chart.gp" ]; then draw "$1" || report_rc=1; fi
	say "results in $1"
	return $report_rc
}

render_only()
{
	for f in meta.txt runs.csv; do
		[ -r "$render/$f" ] || die "no $f in $render: --render wants the results folder of an earlier run"
	done
	[ -w "$render" ] || die "cannot write into $render"
	rc=0
	report "$render" || rc=$?
	exit "$rc"
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

set_traps()
{
	trap finish EXIT
	trap 'say "^C"; exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	trap 'exit 131' QUIT
	trap 'exit 141' PIPE
}

main()
{
	parse_options "$@"
	if [ -n "$render" ]; then render_only; fi
	outdir_given=$outdir
	[ -n "$outdir" ] || outdir=hackbench-$(uname -r)-$(date +%Y%m%d-%H%M%S)

	set_traps

	if [ "$(id -u)" -ne 0 ]; then
		lacks "root" "debugfs and the module need it: sudo $0 ..."
	else
		if [ -n "$module" ] && [ $dry_run = no ]; then load_module; fi
		if [ $dry_run = yes ] && [ -n "$module" ] && [ ! -d "$sysfs/module/jumpfunc" ]; then
			[ -f "$module" ] || lacks "the module file $module" "Build it, in a clone of jumpfunc: make"
		elif [ $missing -eq 0 ]; then
			check_debugfs
		fi
	fi
	check_tools
	if [ $trace_all = yes ]; then
		[ -d "$tracefs/instances" ] || lacks "tracefs at $tracefs" "Mount it: mount -t tracefs tracefs $tracefs"
		[ ! -d "$tracefs/instances/$instance" ] ||
			lacks "a free name: $tracefs/instances/$instance is there already" \
				"Another run is under way, or was killed: rmdir $tracefs/instances/$instance"
	fi
	find_emulation
	find_mitigation
	plan_rows
	if [ $dry_run = yes ]; then
		show_plan
		[ $missing -eq 0 ] || exit 3
		exit 0
	fi
	[ $missing -eq 0 ] || exit 3

	make_outdir
	mode_before=$(mode_now)
	[ ! -e "$jf/subscribers" ] || subscribers_before=$(subscribers_now)
	write_meta
	contains "$modes" off || say "note: without the mode off there is no baseline and no overhead"
	say "$nrows rows x $((warmup + repeats)) rounds: $((nrows * (warmup + repeats) * inner)) runs of hackbench -g $groups -l $loops"

	measuring=yes
	measure || exit 1
	measuring=no
	put_back || { mode_before=; exit 1; }
	mode_before=
	rc=0
	report "$outdir" || rc=$?
	exit "$rc"
}

main "$@"
