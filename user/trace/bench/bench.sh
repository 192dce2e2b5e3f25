#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What an event costs, ours and LTTng-UST's, in one run. LTTng's daemon gets a folder of its own.
# usage: bench.sh BUILD [ROUNDS [THREADS]]
set -u
build=$1
rounds=${2:-20}
threads=${3:-1}
tmp=$(mktemp -d /dev/shm/jf-bench.XXXXXX)
daemon=
clean()
{
	[ -z "$daemon" ] || kill "$daemon" 2> /dev/null
	[ -z "$daemon" ] || wait "$daemon" 2> /dev/null
	rm -rf "$tmp"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

export JF_BENCH_DIR="$tmp" LTTNG_HOME="$tmp/home" LTTNG_RUNDIR="$tmp/run" LTTNG_UST_REGISTER_TIMEOUT=3000
mkdir "$LTTNG_HOME"
if command -v lttng-sessiond > /dev/null && command -v lttng > /dev/null; then
	# A flight recorder, as ours: buffers per process of 8 times 64 KiB for each CPU, without a reader.
	lttng-sessiond --no-kernel > "$tmp/daemon" 2>&1 &
	daemon=$!
	i=0
	while [ $i -lt 50 ] && ! lttng --no-sessiond list > /dev/null 2>&1; do
		sleep 0.1
		i=$((i + 1))
	done
	if lttng --no-sessiond create bench --snapshot > "$tmp/said" 2>&1 &&
		lttng --no-sessiond enable-channel -u bench --buffers-pid --overwrite --num-subbuf 8 --subbuf-size 64k \
			>> "$tmp/said" 2>&1 &&
		lttng --no-sessiond enable-event -u -c bench 'jfbench:two' >> "$tmp/said" 2>&1 &&
		lttng --no-sessiond start >> "$tmp/said" 2>&1; then
		echo "# LTTng-UST records: $(lttng --version)"
	else
		echo "# LTTng-UST is off: $(tail -1 "$tmp/said")"
	fi
else
	echo "# LTTng-UST is off: no daemon (apt-get install lttng-tools)"
fi
# Does it? A look at what it has meanwhile.
if [ -n "$daemon" ]; then
	"$build/trace_bench" 30 > /dev/null &
	sleep 1
	lttng --no-sessiond snapshot record > "$tmp/said" 2>&1 || cat "$tmp/said"
	wait $!
	events=$(babeltrace2 "$LTTNG_HOME/lttng-traces" 2> /dev/null | grep -c jfbench:two)
	echo "# LTTng-UST: $events events in a snapshot"
	rm -rf "$LTTNG_HOME/lttng-traces"
fi
"$build/trace_bench" "$rounds" "$threads"
