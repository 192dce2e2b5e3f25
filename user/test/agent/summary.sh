#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Reports of calls: a table by function, a tree, and stacks, of a program whose calls are known.
# usage: summary.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
tool=$build/jf-trace

cat > "$tmp/tree.c" << 'END'
#define KEEP __attribute__((__noinline__))
#define ROOM __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop" : : : "memory")
KEEP int leaf(int n) { volatile int i; ROOM; for (i = 0; i < 1000; i++); return n; }
KEEP int twice(int n) { int a; ROOM; a = leaf(n); a += leaf(n + 1); ROOM; return a; }
KEEP int again(int n) { int a = 0; ROOM; if (n) a = again(n - 1) + 1; ROOM; return a; }
KEEP int work(void) { int s = 0, i; ROOM; for (i = 0; i < 3; i++) s += twice(i); s += leaf(1); s += again(4); ROOM; return s; }
int main(void) { return work() == 0; }
END

# report VIEW: of the calls, in $tmp/text
report()
{
	"$tool" report "--$1" "$tmp/trace" > "$tmp/text" 2> "$tmp/err" || { cat "$tmp/text" "$tmp/err"; return 1; }
}

recorded()
{
	rm -rf "$tmp/trace"
	"$tool" run --no-report -o "$tmp/trace" "$@" -- "$tmp/tree" > "$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
}

all() { recorded -e call/tree:leaf -e call/tree:twice -e call/tree:again -e call/tree:work; }

# Calls, and times: a function's own is the total without the functions that it calls, and recursion counts once.
summary()
{
	all && report summary || return 1
	awk 'NR > 1 { calls[$6] = $5; total[$6] = $1 * 1000; self[$6] = $2 * 1000; all += $2 * 1000; if ($4 > $1 || $3 > $4 || $2 > $1) bad = 1 }
		END {
			if (bad || calls["tree:leaf"] != 7 || calls["tree:twice"] != 3 || calls["tree:again"] != 5 || calls["tree:work"] != 1) exit 1
			d = total["tree:work"] - all
			exit d > 0.5 || d < -0.5 || self["tree:leaf"] != total["tree:leaf"]
		}' "$tmp/text" || { cat "$tmp/text"; return 1; }
}

graph()
{
	all && report graph || return 1
	sed 1d "$tmp/text" | sed 's/^ *[0-9.]* *[0-9.]* *\([0-9]*\) \( *\)tree:/\1 \2/' | sort > "$tmp/lines"
	printf '%s\n' '1 work' '3   twice' '6     leaf' '1   leaf' '1   again' '1     again' '1       again' '1         again' '1           again' | sort |
		cmp - "$tmp/lines" || { cat "$tmp/text"; return 1; }
}

# The nanoseconds of all stacks together are the time of the outermost call.
folded()
{
	all && report folded && cp "$tmp/text" "$tmp/folded" && report summary || return 1
	cut -d ' ' -f 1 "$tmp/folded" | sort > "$tmp/stacks"
	grep -qx 'tree:work;tree:twice;tree:leaf' "$tmp/stacks" && grep -qx 'tree:work;tree:again;tree:again;tree:again;tree:again;tree:again' "$tmp/stacks" ||
		{ cat "$tmp/folded"; return 1; }
	sum=$(awk '{ n += $2 } END { print n }' "$tmp/folded")
	[ "$sum" = "$(awk '$6 == "tree:work" { printf "%.0f", $1 * 1000 }' "$tmp/text")" ] || { echo "$sum"; cat "$tmp/folded" "$tmp/text"; return 1; }
}

# Each call is an event with a duration, and the outermost one has the others in it.
json()
{
	all && "$tool" report --json "$tmp/trace" > "$tmp/text" 2> "$tmp/said2" && python3 - "$tmp/text" <<- 'END'
		import json, sys
		events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] != "M"]
		assert len(events) == 16 and all(e["ph"] == "X" and abs(e["dur"] * 1000 - e["args"]["duration"]) < 1 for e in events), events
		work = [e for e in events if e["name"] == "tree:work"][0]
		assert all(work["dur"] >= e["dur"] and work["ts"] <= e["ts"] + 1 for e in events), events
	END
}

# A tree of calls that a number decides, by several threads one after the other; with a third argument it is killed in the midst.
cat > "$tmp/random.c" << 'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#define KEEP __attribute__((__noinline__))
#define ROOM __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop" : : : "memory")
static unsigned int seed, left;
static int ends;
static unsigned int any(unsigned int n) { seed = seed * 1103515245U + 12345U; return (seed >> 16) % n; }
KEEP int f0(int deep);
KEEP int f1(int deep);
KEEP int f2(int deep);
KEEP int f3(int deep);
static int (*const f[])(int deep) = { f0, f1, f2, f3 };
static int more(int deep)
{
	int n = 0, k;
	for (k = any(4); k && deep < 60 && left; k--) {
		if (!--left && ends)
			raise(SIGKILL);
		n += f[any(4)](deep + 1);
	}
	return n;
}
KEEP int f0(int deep) { int n; ROOM; n = more(deep) + 1; ROOM; return n; }
KEEP int f1(int deep) { int n; ROOM; n = more(deep) + 2; ROOM; return n; }
KEEP int f2(int deep) { int n; ROOM; n = more(deep) + 3; ROOM; return n; }
KEEP int f3(int deep) { int n; ROOM; n = more(deep) + 4; ROOM; return n; }
KEEP int down(int n) { int a = 0; ROOM; if (n) a = down(n - 1) + 1; ROOM; return a; }
static void *work(void *arg) { while (left) f0(0); (void)arg; return NULL; }
int main(int argc, char **argv)
{
	pthread_t t;
	int i;
	for (i = 0; i < 3; i++) {
		seed = (unsigned int)atoi(argv[1]) + (unsigned int)i;
		left = 500;
		ends = argc > 3 && i == 2;
		if (pthread_create(&t, NULL, work, NULL) || pthread_join(t, NULL))
			return 1;
	}
	return down(atoi(argv[2])) != atoi(argv[2]);
}
END

# equal SEED DEPTH [KILLED]: the numbers and times of all views, and of each event, are the same.
equal()
{
	rm -rf "$tmp/trace"
	"$tool" run --no-report --mode keep -o "$tmp/trace" -e 'call/random:f?' -e call/random:down -- "$tmp/random" "$@" > "$tmp/out" 2>&1
	for view in summary graph folded json; do
		"$tool" report "--$view" "$tmp/trace" > "$tmp/$view" 2> "$tmp/err" || { cat "$tmp/err"; return 1; }
		! grep 'are not shown' "$tmp/err" || return 1
	done
	python3 - "$tmp" <<- 'END'
		import collections, json, sys
		def ns(text):
		    whole, part = text.split(".")
		    return int(whole) * 1000 + int(part)
		def table(view, name_at):
		    sums = collections.defaultdict(lambda: [0, 0, 0])
		    for line in list(open(f"{sys.argv[1]}/{view}"))[1:]:
		        words = line.split()
		        for i, value in enumerate((ns(words[0]), ns(words[1]), int(words[name_at - 1]))):
		            sums[words[name_at]][i] += value
		    return sums
		summary, graph = table("summary", 5), table("graph", 3)
		events = collections.defaultdict(lambda: [0, 0])
		for e in json.load(open(sys.argv[1] + "/json"))["traceEvents"]:
		    if e["ph"] == "X":
		        events[e["name"]][0] += e["args"]["duration"]
		        events[e["name"]][1] += 1
		folded = collections.Counter()
		for line in open(sys.argv[1] + "/folded"):
		    stack, value = line.rsplit(" ", 1)
		    folded[stack.split(";")[-1]] += int(value)
		assert set(summary) == set(graph) == set(events) and len(summary) >= 4, (summary, graph, events)
		for name, (total, own, calls) in graph.items():
		    assert events[name] == [total, calls], (name, events[name], total, calls)
		    assert summary[name][1:] == [own, calls] and folded[name] == own, (name, summary[name], own, calls, folded[name])
	END
}

sums_equal()
{
	for seed in 1 2 3 4 5 6 7 8; do
		equal "$seed" "$((seed * 10))" && equal "$seed" 10 killed || { echo "seed $seed"; return 1; }
	done
	equal 9 4000
}

# Entries alone have no times.
entries()
{
	recorded -e tree:leaf || return 1
	"$tool" report --summary "$tmp/trace" > "$tmp/text" 2>&1
	[ $? = 4 ] && grep -q "no record of a call: record with a pattern as 'call/prog:\*'" "$tmp/text" || { cat "$tmp/text"; return 1; }
}

# Bytes of the rings that are others: no crash, whatever is shown.
damaged()
{
	all && cp -r "$tmp/trace" "$tmp/whole" || return 1
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		rm -rf "$tmp/trace" && cp -r "$tmp/whole" "$tmp/trace" && python3 - "$seed" "$tmp"/trace/*/* <<- 'END' || return 1
			import random, sys
			random.seed(int(sys.argv[1]))
			for path in sys.argv[2:]:
			    data = bytearray(open(path, "rb").read())
			    used = len(data.rstrip(b"\0"))
			    for _ in range(random.choice([0, 1, 8, 100])):
			        if used:
			            data[random.randrange(used)] = random.randrange(256)
			    open(path, "wb").write(data)
		END
		for view in summary graph folded; do
			timeout 20 "$tool" report "--$view" "$tmp/trace" > "$tmp/text" 2>&1
			[ $? -lt 6 ] || { echo "seed $seed, $view"; cat "$tmp/text"; return 1; }
		done
	done
}

${CC:-cc} -O1 -falign-functions=64 -o "$tmp/tree" "$tmp/tree.c" && ${CC:-cc} -O1 -falign-functions=64 -pthread -o "$tmp/random" "$tmp/random.c" || exit 1
check "a table of calls" summary
check "a tree of calls" graph
check "stacks for a flame graph" folded
if have python3; then check "events with durations, for viewers" json; else skip "events with durations" "no python3"; fi
if have python3; then check "the same sums in each view, of random calls" sums_equal; else skip "the same sums in each view" "no python3"; fi
check "a trace without calls" entries
if have python3; then check "damaged rings" damaged; else skip "damaged rings" "no python3"; fi
tap_end
