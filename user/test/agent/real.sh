#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Programs of the distribution, while their functions are switched on and off at random by the agent and jf-trace: they say what they
# say without, and end with the same status. Threads that block signals, are real-time ones, fork, vfork, execute others and load objects.
# usage: real.sh BUILD [SECONDS]
# SECONDS of all (default 40; an hour is 3600). It shows how long processes stood still: how often, the median, the longest.
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
seconds=${2-40}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

agent=$build/libjumpfunc-agent.so
mkdir -m 700 "$tmp/run" "$tmp/traces"
XDG_RUNTIME_DIR=$tmp/run
export XDG_RUNTIME_DIR
: > "$tmp/pauses"

cat > "$tmp/work.py" <<'END'
import ctypes, faulthandler, hashlib, json, os, signal, subprocess, sys, threading, zlib
faulthandler.enable()
def works(n, blocks, out):
    if blocks:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    h = hashlib.sha256()
    for i in range(n):
        h.update(json.dumps({"i": i, "z": zlib.crc32(b"%d" % i)}).encode())
    out[blocks] = h.hexdigest()
for turn in range(4):
    out = {}
    threads = [threading.Thread(target=works, args=(15000, b, out)) for b in (0, 1)]
    for t in threads:
        t.start()
    pid = os.fork()
    if not pid:
        os._exit(turn)
    print(turn, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), subprocess.run(["/bin/echo", "child"], capture_output=True))
    print(ctypes.CDLL("libm.so.6").abs(-turn))
    for t in threads:
        t.join()
    print(out[0], out[1])
sys.exit(7)
END
cat > "$tmp/work.pl" <<'END'
use strict;
for my $turn (1 .. 4) {
	my %h = map { $_ => ($_ * 7919) % 10007 } 1 .. 20000;
	my $s = join ",", (sort { $h{$a} <=> $h{$b} || $a <=> $b } keys %h)[0 .. 20];
	$s =~ s/(\d+)5/<$1>/g;
	my $pid = fork();
	exit $turn if defined $pid && !$pid;
	waitpid $pid, 0;
	print "$s ", $? >> 8, " ", `echo $turn`;
}
exit 5;
END
for i in $(seq 400); do
	echo "int f$i(int a) { for (int i = 0; i < $i; i++) a = a * $i + i; return a; }"
done > "$tmp/work.c"

cat > "$tmp/work.js" <<'END'
const { createHash, pbkdf2Sync, pbkdf2 } = require("crypto"), { spawnSync } = require("child_process");
let left = 6;
for (let turn = 0; turn < 6; turn++) {
	const h = createHash("sha1");
	for (let i = 0; i < 20000; i++)
		h.update(JSON.stringify({ i, turn }));
	console.log(h.digest("hex"), spawnSync("/bin/echo", [String(turn)]).stdout.toString());
	pbkdf2("word", "salt", 60000, 20, "sha1", (err, key) => {
		if (!--left) {
			console.log(key.toString("hex"), pbkdf2Sync("word", "salt", 10, 20, "sha1").toString("hex"));
			process.exit(4);
		}
	});
}
END

py() { "$@" python3 "$tmp/work.py"; }
pl() { "$@" perl "$tmp/work.pl"; }
cc1() { "$@" gcc -O2 -S -o - "$tmp/work.c"; }
js() { "$@" node "$tmp/work.js"; }
xz() { "$@" sh -c 'cat "$0" "$0" "$0" | xz -T2 -c | xz -dc | sort | cksum; exit 3' "$tmp/work.c"; }
fifo() { "$@" chrt -f 10 perl "$tmp/work.pl"; }
redis()
{
	"$@" redis-server --port 0 --unixsocket "$tmp/redis" --save '' --logfile /dev/null &
	server=$!
	for _ in $(seq 200); do
		[ -S "$tmp/redis" ] && break
		sleep 0.05
	done
	for i in $(seq 300); do
		echo "set key:$i value$i"
		echo "lpush list $i"
		echo "lrange list 0 9"
	done | redis-cli -s "$tmp/redis"
	redis-cli -s "$tmp/redis" shutdown nosave
	wait "$server"
}

# One change of one process, of those that there are.
changes()
{
	set -- "$tmp/run/jumpfunc"/control-*
	n=$(awk -v n=$# -v seed="$1$turn" 'BEGIN { srand(seed + turn + '"$turn"'); print int(rand() * n) + 1 }' < /dev/null)
	shift $((n - 1))
	pid=${1##*/control-}
	pid=${pid%%-*}
	case $pid in *[!0-9]*) return ;; esac
	turn=$((turn + 1))
	case $((turn % 6)) in
	0) glob='libc.so.6:[d-f]*' ;;
	1) glob='python3*:_Py[B-D]*' ;;
	2) glob='redis*:[a-d]*' ;;
	3) glob='*:*s' ;;
	4) glob='cc1:[c-d]*' ;;
	5) glob='perl*:Perl_s*' ;;
	esac
	comm=$(cat "/proc/$pid/comm" 2> /dev/null)
	timeout -k 5 30 "$build/jf-trace" "$([ $((turn / 6 % 2)) = 0 ] && echo enable || echo disable)" "$pid" "function/$glob" 2>&1 |
		sed -n "s/.* stood still .*, \([0-9]*\) us at the longest/$comm \1/p" >> "$tmp/pauses"
}

# same NAME: its words and its status, with what records it and without.
same()
{
	"$1" env > "$tmp/plain" 2> "$tmp/plain-err"
	plain=$?
	"$1" env JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR="$tmp/traces" JUMPFUNC_AGENT='libc.so.6:get*' LD_PRELOAD="$agent" > "$tmp/out" 2> "$tmp/err" &
	job=$!
	while kill -0 "$job" 2> /dev/null; do
		changes
	done
	wait "$job"
	rc=$?
	rm -rf "$tmp/traces"/*
	echo "status $plain, then $rc"
	grep -v '^libjumpfunc' "$tmp/err" | head -5
	[ "$rc" = "$plain" ] && diff -a "$tmp/plain" "$tmp/out"
}

turn=$(date +%s)
begin=$turn
rounds=0
while :; do
	for program in py:python3 pl:perl cc1:gcc xz:xz fifo:chrt js:node redis:redis-server; do
		if ! command -v "${program#*:}" > /dev/null || { [ "$program" = fifo:chrt ] && ! chrt -f 10 true 2> /dev/null; }; then
			[ "$rounds" = 0 ] && skip "${program#*:}" "it is not there"
			continue
		fi
		[ $(($(date +%s) - begin)) -ge "$seconds" ] && [ "$rounds" -gt 0 ] && break 2
		check "${program#*:}, round $rounds" same "${program%:*}"
	done
	rounds=$((rounds + 1))
done
sort -k1,1 -k2,2n "$tmp/pauses" | awk 'function said() { if (n) printf "# %s stood still by %d commands: median %d us, worst %d us\n", name, n, p[int((n + 1) / 2)], p[n] }
	$1 != name { said(); n = 0; name = $1 } NF == 2 { p[++n] = $2 } END { said() }'
tap_end
