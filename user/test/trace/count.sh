#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# jf-trace count: its numbers are those that the program itself knows, of each thread, whatever ends it.
# usage: count.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
tool=$build/jf-trace
export XDG_RUNTIME_DIR="$tmp/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"
unset JUMPFUNC_TRACE JUMPFUNC_TRACE_DIR JUMPFUNC_TRACE_CONTROL

# The numbers of probe $1 that file $2 shows against the program's in file $3, thread by thread. A thread that was killed in the midst of a
# call has counted it or not: $4 = killed.
agrees()
{
	"$build/count_calls" "$3" > "$tmp/truth"
	awk -v probe="$1" -v killed="${4-}" '
	FNR == NR { begun[$1] = $2; over[$1] = $3; next }
	NF == 2 { of = $2; if (of == probe) sum = $1; next }
	of == probe && $2 in begun { seen++; all += $1; if ($1 < over[$2] || $1 > begun[$2] || (!killed && $1 != over[$2])) { print "thread " $2 ": " $1 ", " over[$2] " to " begun[$2]; bad = 1 } }
	END {
		for (t in begun) threads++
		if (seen != threads || !threads) { print seen + 0 " of " threads + 0 " threads"; bad = 1 }
		if (sum != all || !sum) { print "sum " sum + 0 ", of threads " all + 0; bad = 1 }
		exit bad
	}' "$tmp/truth" "$2"
}

none_left() { for left in "$XDG_RUNTIME_DIR/jumpfunc"/run-* "$XDG_RUNTIME_DIR/jumpfunc"/count_calls-*; do [ ! -e "$left" ] || { echo "left: $left"; return 1; }; done; }

# A million calls, in four threads. Numbers are on standard error, or where -o says.
program()
{
	rm -f "$tmp/file"
	ends 0 "$tool" count -e jftest:small "$build/count_calls" "$tmp/file" 4 250000 && agrees jftest:small "$tmp/err" "$tmp/file" &&
		[ "$(cat "$tmp/out")" = "$(sed -n 's/^ready/ready/p' "$tmp/out")" ] && none_left &&
		grep -q '^ *1000000  jftest:small$' "$tmp/err" && ! says jftest:counted || return 1
	rm -f "$tmp/file"
	ends 0 "$tool" count -o "$tmp/numbers" "$build/count_calls" "$tmp/file" 2 1000 && agrees jftest:small "$tmp/numbers" "$tmp/file" &&
		! says jftest && ends 3 "$tool" count -e small sh -c 'exit 3'
}

# The end comes between two instructions: what was counted before is there.
killed()
{
	for i in 1 2 3 4 5; do
		rm -f "$tmp/file"
		: > "$tmp/started"
		# shellcheck disable=SC2016
		ends 137 "$tool" count -e small sh -c '"$1" "$2" 3 0 > "$3" & until grep -q ready "$3" || ! kill -0 $!; do sleep 0.01; done; sleep 0.$4; kill -9 $!; wait $!' sh \
			"$build/count_calls" "$tmp/file" "$tmp/started" "$i" && agrees jftest:small "$tmp/err" "$tmp/file" killed || return 1
	done
	none_left
}

# With the agent: functions of a program that knows nothing of it.
functions()
{
	rm -f "$tmp/file"
	ends 0 "$tool" count -e count_calls:subject -e small "$build/count_calls" "$tmp/file" 4 250000 &&
		agrees count_calls:subject "$tmp/err" "$tmp/file" && agrees jftest:small "$tmp/err" "$tmp/file" || return 1
	rm -f "$tmp/file"
	# Strings of arguments, which are recorded else, need not be read.
	ends 0 "$tool" count -e 'count_calls:subject(string)' "$build/count_calls" "$tmp/file" 1 1000 && agrees count_calls:subject "$tmp/err" "$tmp/file"
}

# With a filter those are counted for which it holds; and a filter that has no names of theirs is named.
filters()
{
	ends 0 "$tool" count -e small --if 'nr >= 900' "$build/count_calls" "$tmp/file" 3 1000 && says '^ *300  jftest:small$' || return 1
	ends 0 "$tool" run -e small --if 'nrr >= 900' --no-report -o "$tmp/none" -- "$build/count_calls" "$tmp/file" 1 10 &&
		says "'small' matches jftest:small, which was not recorded: column 1: there is no 'nrr', but nr, source, tid"
}

# Threads one after the other: each has its own number, until there are very many; the sum stays exact.
short_threads()
{
	rm -f "$tmp/file"
	ends 0 "$tool" count -e small "$build/count_calls" "$tmp/file" 2 10 400 && agrees jftest:small "$tmp/err" "$tmp/file" || return 1
	rm -f "$tmp/file"
	ends 0 "$tool" count -e small "$build/count_calls" "$tmp/file" 4 10 1000 && grep -q '^ *40000  jftest:small$' "$tmp/err" &&
		says 'threads before it' && none_left
}

# Children have counters of their own.
forks()
{
	# shellcheck disable=SC2016
	ends 0 "$tool" count -e small sh -c '"$1" "$2" 1 1000; "$1" "$2" 1 500' sh "$build/count_calls" "$tmp/forks" && says '^ *1500  jftest:small$' &&
		[ "$(grep -c '^ *[0-9]*    [0-9]*/[0-9]* count_calls' "$tmp/err")" = 2 ]
}

all_counted() { [ "$("$build/count_calls" "$tmp/file" | grep -c ' 25000 25000$')" = 4 ]; }

# A process that runs: from the moment on that it is told, until ^C or its end.
process()
{
	for how in end interrupt; do
		rm -f "$tmp/file" "$tmp/in" "$tmp/err"
		: > "$tmp/err"
		mkfifo "$tmp/in"
		JUMPFUNC_TRACE_CONTROL=1 "$build/count_calls" -c "$tmp/file" 4 25000 < "$tmp/in" > "$tmp/program" &
		program=$!
		exec 9> "$tmp/in"
		awaits grep -q ready "$tmp/program" || return 1
		# A shell has programs in the background ignore ^C.
		env --default-signal=INT "$tool" count -p "$program" -e small > "$tmp/numbers" 2> "$tmp/err" &
		counts=$!
		awaits grep -q counting "$tmp/err" || return 1
		echo >&9
		awaits all_counted || return 1
		[ "$how" = end ] || kill -INT "$counts"
		[ "$how" = interrupt ] || echo >&9
		wait "$counts"
		rc=$?
		exec 9>&-
		wait "$program"
		cat "$tmp/numbers" "$tmp/err"
		[ "$rc" = 0 ] && agrees jftest:small "$tmp/numbers" "$tmp/file" && none_left || return 1
	done
}

# Records that are there, by event and thread: report says how many.
records()
{
	rm -f "$tmp/file"
	ends 0 "$tool" run --no-report --mode keep --packet-size 4096 -o "$tmp/kept" -e small "$build/count_calls" "$tmp/file" 3 2000 20 &&
		ends 0 "$tool" report "$tmp/kept" && says '^ *RECORDS' && agrees jftest:small "$tmp/out" "$tmp/file" &&
		ends 0 "$tool" recover "$tmp/kept" "$tmp/copy" && ends 0 "$tool" report "$tmp/copy" && agrees jftest:small "$tmp/out" "$tmp/file" &&
		ends 2 "$tool" report "$tmp/copy" --fields=all && rm -r "$tmp/kept" "$tmp/copy"
	! have babeltrace2 || { ends 0 "$tool" run --no-report -o "$tmp/kept" -e small "$build/count_calls" "$tmp/file" 1 5 &&
		ends 0 "$tool" report --events "$tmp/kept" && [ "$(grep -c 'jftest:small: {' "$tmp/out")" = 5 ]; }
}

# What is wrong is said: nothing matches; a process that records already; no process.
wrong()
{
	ends 2 "$tool" count && ends 2 "$tool" count -p 1 true && ends 1 "$tool" count -p 999999999 && ends 127 "$tool" count /nowhere/program &&
		ends 0 "$tool" count -e no:such "$build/count_calls" "$tmp/wrong" 1 1 && says "no probe matches 'no:such'" && none_left &&
		ends 0 "$tool" count -e counted "$build/count_calls" "$tmp/wrong" 1 1 && says "'counted' matches jftest:counted, but no thread has come by"
}

# A trace of counters that was left, and one in which there is no room for them.
folder()
{
	mkdir "$tmp/left" && rm -f "$tmp/file" &&
		JUMPFUNC_TRACE=small JUMPFUNC_TRACE_MODE=count JUMPFUNC_TRACE_DIR=$tmp/left "$build/count_calls" "$tmp/file" 2 1000 &&
		ends 0 "$tool" count "$tmp"/left && agrees jftest:small "$tmp/out" "$tmp/file" && ends 0 "$tool" count "$tmp"/left/* || return 1
	rm -f "$tmp/file"
	mkdir "$tmp/small" && JUMPFUNC_TRACE=small JUMPFUNC_TRACE_RINGS=1 JUMPFUNC_TRACE_MODE=count JUMPFUNC_TRACE_DIR=$tmp/small \
		"$build/count_calls" "$tmp/file" 4 25000 && ends 5 "$tool" count "$tmp/small" &&
		sum=$(sed -n 's/^ *\([0-9]*\)  jftest:small$/\1/p' "$tmp/out") && lost=$(sed -n 's/^jf-trace: \([0-9]*\) calls were not counted.*/\1/p' "$tmp/err") &&
		[ "$lost" -gt 0 ] && [ $((sum + lost)) = 100000 ]
}

# A trace of records has no counters: an empty table alone would say that there were no calls.
no_counters()
{
	rm -f "$tmp/file"
	mkdir "$tmp/other" && JUMPFUNC_TRACE=small JUMPFUNC_TRACE_DIR=$tmp/other "$build/count_calls" "$tmp/file" 1 10 &&
		ends 4 "$tool" count "$tmp/other" && says "has records, and no counters: jf-trace report $tmp/other" &&
		ends 4 "$tool" time "$tmp/other" && says "has records, and no sums of calls: jf-trace report --summary"
}

# A plugin that is loaded more often than the agent has numbers for probes.
reloads()
{
	ends 0 "$tool" count -e 'week-plugin.so:plugin_records' "$build/week" -r "$build/week-plugin.so" 6000 &&
		says '^ *6000  week-plugin.so:plugin_records$' && none_left
}

check "a million calls of four threads are counted exactly" program
check "of a program that is killed all calls are counted" killed
[ ! -e "$build/libjumpfunc-agent.so" ] || check "functions are counted exactly" functions
[ ! -e "$build/libjumpfunc-agent.so" ] || check "functions of a plugin that is loaded 6000 times" reloads
check "filters of events" filters
check "threads that follow each other are counted" short_threads
check "children are counted" forks
check "a process is counted from now on" process
check "a trace of counters is shown, and says what it lacks" folder
check "count and time of a trace of records" no_counters
check "records are counted by event and thread" records
check "what is wrong is said" wrong
tap_end
