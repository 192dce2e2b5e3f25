#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Runs the native benchmark and keeps its table, CSV and charts in a folder.
set -eu

usage()
{
	cat <<-EOF
	usage: run.sh [--out FOLDER] [bench options]
	Measures what each kind of dispatch costs on this machine and leaves
	bench.txt, bench.csv and bench.svg in FOLDER (default:
	results/bench-<date> in the project's folder).  All is measured twice: with libjumpfunc
	as it is, and, but for the latencies, with JUMPFUNC_TRAP=always, which patches
	by breakpoints (bench-trap.csv).

	  --rounds N     interleaved rounds (default 200)
	  --quick        20 rounds, no update latencies
	  --no-updates   leave the update latencies out
	  --binary FILE  the benchmark program (default: build/user/bench)
	  --scale FOLDER where the programs of many sites are (default: build/user);
	                 they run unless --quick or --no-updates is given
	EOF
}

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
binary=$top/build/user/bench
scale=$top/build/user
out=$top/results/bench-$(date +%Y%m%d-%H%M%S)
rounds=
flags=
while [ $# -gt 0 ]; do
	case $1 in
	--out) out=${2:?--out needs a folder}; shift 2 ;;
	--out=*) out=${1#--out=}; shift ;;
	--binary) binary=${2:?--binary needs a file}; shift 2 ;;
	--scale) scale=${2:?--scale needs a folder}; shift 2 ;;
	--rounds) rounds=${2:?--rounds needs a number}; shift 2 ;;
	--rounds=*) rounds=${1#--rounds=}; shift ;;
	--quick | --no-updates) flags="$flags $1"; shift ;;
	--help | -h) usage; exit 0 ;;
	*) echo "run.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
	esac
done

if [ "$(uname -m)" != x86_64 ]; then
	echo "run.sh: this is for x86_64, not $(uname -m)" >&2
	exit 4
fi
if [ ! -x "$binary" ]; then
	echo "run.sh: $binary is missing; make it with: make -C user bench" >&2
	exit 1
fi
if ! mkdir -p "$out"; then
	echo "run.sh: cannot make $out; choose another folder with --out" >&2
	exit 1
fi

# On ^C the benchmark prints what it has; stay to show it.
trap : INT
status=0
# shellcheck disable=SC2086 # flags are several words
"$binary" --csv "$out/bench.csv" ${rounds:+--rounds "$rounds"} $flags \
	> "$out/bench.txt" || status=$?
if [ "$status" -eq 0 ]; then
	printf '\nOnce more, in another process: JUMPFUNC_TRAP=always\n' >> "$out/bench.txt"
	# shellcheck disable=SC2086 # flags are several words
	JUMPFUNC_TRAP=always "$binary" --no-updates --csv "$out/bench-trap.csv" ${rounds:+--rounds "$rounds"} $flags \
		>> "$out/bench.txt" || status=$?
fi
case $flags in
*quick* | *no-updates*) ;;
*)
	for program in scale-1000 scale scale-sparse; do
		[ "$status" -eq 0 ] || break
		[ -x "$scale/$program" ] || { echo "skipped: $scale/$program is missing" >> "$out/bench.txt"; continue; }
		only="--plugin $scale/scale-plugin.so"
		case $program in
		scale-1000) only=--start ;;
		scale-sparse) only="$only --no-others --sparse" ;;
		esac
		echo >> "$out/bench.txt"
		[ ! -r /proc/loadavg ] || echo "load $(cut -d' ' -f1 < /proc/loadavg) in the last minute" >> "$out/bench.txt"
		# shellcheck disable=SC2086 # maybe no word, or some
		"$scale/$program" $only --csv "$out/bench.csv" >> "$out/bench.txt" || status=$?
	done
	;;
esac
cat "$out/bench.txt"
if [ "$status" -ne 0 ]; then
	echo "run.sh: the benchmark ended with status $status" >&2
	exit "$status"
fi

if command -v gnuplot > /dev/null 2>&1; then
	value() { sed -n "s/^# $1: //p" "$out/bench.csv"; }
	# gnuplot takes _ and quotes for its own.
	title=$(printf '%s, kernel %s, %s\\n spectre v2: %s' "$(value CPU)" \
		"$(value kernel)" "$(value EMULATED | sed 's/.*/EMULATED/')" \
		"$(value spectre_v2 | cut -d';' -f1)" | tr -d "'\"\`" | tr '_' '-' |
		sed 's/, \\n/\\n/')
	gnuplot -e "csv='$out/bench.csv'; svg='$out/bench.svg'; title=\"$title\"" \
		"$here/chart.gp"
	echo "# table, numbers, charts: $out/bench.txt bench.csv bench-trap.csv bench.svg"
else
	echo "# no charts: gnuplot is missing (apt-get install gnuplot-nox)"
	echo "# table, numbers: $out/bench.txt bench.csv bench-trap.csv"
fi
