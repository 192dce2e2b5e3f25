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

cat > "$tmp/work.php" <<'END'
<?php
for ($turn = 0; $turn < 6; $turn++) {
	$all = [];
	for ($i = 0; $i < 20000; $i++)
		$all["key$i"] = crc32("$i $turn") % 1000;
	asort($all);
	$text = preg_replace_callback('/(\d+)5/', fn($m) => "<$m[1]>", json_encode(array_slice($all, 0, 2000)));
	echo md5($text . serialize($all)), " ", trim(shell_exec("echo $turn")), "\n";
}
exit(6);
END

# What another user may enter: nginx's workers, and postgres, which does not run as root.
chmod 711 "$tmp"
mkdir -p "$tmp/nginx/html" "$tmp/other"
for i in $(seq 50); do
	seq "$i" 900 > "$tmp/nginx/html/$i.txt"
done
cat > "$tmp/nginx/conf" <<END
daemon off;
pid $tmp/nginx/pid;
error_log /dev/null;
worker_processes 2;
events { worker_connections 64; }
http {
	access_log off;
	gzip on;
	gzip_min_length 10;
	client_body_temp_path $tmp/nginx/body;
	proxy_temp_path $tmp/nginx/proxy;
	fastcgi_temp_path $tmp/nginx/fastcgi;
	uwsgi_temp_path $tmp/nginx/uwsgi;
	scgi_temp_path $tmp/nginx/scgi;
	server {
		listen unix:$tmp/nginx/socket;
		root $tmp/nginx/html;
		location /again/ { proxy_pass http://unix:$tmp/nginx/socket:/; }
	}
}
END
as=
[ "$(id -u)" = 0 ] && id postgres > /dev/null 2>&1 && as="setpriv --reuid postgres --regid postgres --clear-groups"
[ "$(id -u)" = 0 ] && [ "$as" ] && chown postgres "$tmp/other"
postgres=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2> /dev/null | sort | tail -n 1)

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
php_() { "$@" php "$tmp/work.php"; }
nginx_()
{
	"$@" nginx -p "$tmp/nginx" -c "$tmp/nginx/conf" &
	server=$!
	awaits [ -S "$tmp/nginx/socket" ]
	for turn_of in 1 2 3; do
		curl -s --compressed --unix-socket "$tmp/nginx/socket" "http://x/[1-50].txt" "http://x/again/[1-50].txt" "http://x/none$turn_of" | cksum
	done
	kill -QUIT "$server"
	wait "$server"
}
# Its own folders are another user's.
postgres_()
{
	# shellcheck disable=SC2086
	[ -d "$tmp/other/db" ] || { $as mkdir -m 700 "$tmp/other/run" "$tmp/other/traces" && $as "$postgres/initdb" -A trust -U user --locale=C -D "$tmp/other/db" > /dev/null; } || return
	# shellcheck disable=SC2086
	$as "$@" XDG_RUNTIME_DIR="$tmp/other/run" JUMPFUNC_TRACE_DIR="$tmp/other/traces" "$postgres/postgres" -D "$tmp/other/db" -k "$tmp/other" -h '' -F 2> /dev/null &
	server=$!
	awaits "$postgres/pg_isready" -q -h "$tmp/other"
	psql -X -q -t -h "$tmp/other" -U user postgres <<-END
	DROP TABLE IF EXISTS work;
	CREATE TABLE work AS SELECT i, i * 7919 % 10007 AS h, md5(i::text) AS t FROM generate_series(1, 20000) i;
	CREATE INDEX ON work (h);
	ANALYZE work;
	SELECT count(*), sum(h), max(t) FROM work a JOIN work b USING (h);
	SELECT h, string_agg(t, ',' ORDER BY t) FROM work GROUP BY h HAVING count(*) > 1 ORDER BY h LIMIT 5;
	UPDATE work SET h = h + 1 WHERE i % 3 = 0;
	SELECT 1 / 0;
	VACUUM work;
	SELECT sum(h), regexp_replace(min(t), '[0-9]+', '-', 'g') FROM work;
	END
	"$postgres/pgbench" -i -q -h "$tmp/other" -U user postgres > /dev/null 2>&1
	"$postgres/pgbench" -c 3 -t 40 -h "$tmp/other" -U user postgres 2>&1 | grep 'actually processed'
	# shellcheck disable=SC2086
	$as kill -INT "$server"
	wait "$server"
}

# One change of one process, of those that there are.
changes()
{
	set -- "$tmp/run/jumpfunc"/control-* "$tmp/other/run/jumpfunc"/control-*
	n=$(awk -v n=$# -v seed="$1$turn" 'BEGIN { srand(seed + turn + '"$turn"'); print int(rand() * n) + 1 }' < /dev/null)
	shift $((n - 1))
	by=
	case $1 in "$tmp/other/"*) by=$as ;; esac
	folder=${1%/jumpfunc/*}
	pid=${1##*/control-}
	pid=${pid%%-*}
	case $pid in *[!0-9]*) return ;; esac
	turn=$((turn + 1))
	case $((turn % 9)) in
	0) glob='libc.so.6:[d-f]*' ;;
	1) glob='python3*:_Py[B-D]*' ;;
	2) glob='redis*:[a-d]*' ;;
	3) glob='*:*s' ;;
	4) glob='cc1:[c-d]*' ;;
	5) glob='perl*:Perl_s*' ;;
	6) glob='nginx:ngx_[f-h]*' ;;
	7) glob='php*:zend_[a-h]*' ;;
	8) glob='postgres:[A-E]*' ;;
	esac
	comm=$(cat "/proc/$pid/comm" 2> /dev/null)
	# shellcheck disable=SC2086
	XDG_RUNTIME_DIR=$folder timeout -k 5 30 $by "$build/jf-trace" "$([ $((turn / 9 % 2)) = 0 ] && echo enable || echo disable)" "$pid" "function/$glob" 2>&1 |
		sed -n "s/.* stood still .*, \([0-9]*\) us at the longest/$comm \1/p" >> "$tmp/pauses"
}

# same NAME GLOBS: its words and its status, with what records it and without. It begins with these.
same()
{
	"$1" env > "$tmp/plain" 2> "$tmp/plain-err"
	plain=$?
	"$1" env JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR="$tmp/traces" JUMPFUNC_AGENT="$2" LD_PRELOAD="$agent" > "$tmp/out" 2> "$tmp/err" &
	job=$!
	while kill -0 "$job" 2> /dev/null; do
		changes
	done
	wait "$job"
	rc=$?
	rm -rf "$tmp/traces"/* "$tmp/other/traces"/*
	echo "status $plain, then $rc"
	grep -v '^libjumpfunc' "$tmp/err" | head -5
	[ "$rc" = "$plain" ] && diff -a "$tmp/plain" "$tmp/out"
}

turn=$(date +%s)
begin=$turn
rounds=0
while :; do
	for program in py:python3 pl:perl cc1:gcc xz:xz fifo:chrt js:node redis:redis-server php_:php nginx_:nginx "postgres_:${postgres:-/}/postgres"; do
		program_name=${program##*/}
		program_name=${program_name#*:}
		if ! command -v "${program#*:}" > /dev/null || { [ "$program_name" = nginx ] && ! have curl; } || { [ "$program_name" = postgres ] && [ "$(id -u)" = 0 ] && [ ! "$as" ]; } || { [ "$program" = fifo:chrt ] && ! chrt -f 10 true 2> /dev/null; }; then
			[ "$rounds" = 0 ] && skip "$program_name" "it is not there"
			continue
		fi
		[ $(($(date +%s) - begin)) -ge "$seconds" ] && [ "$rounds" -gt 0 ] && break 2
		check "$program_name, round $rounds" same "${program%%:*}" 'libc.so.6:get*'
		case $program_name in
		php | nginx | postgres)
			[ "$rounds" = 0 ] && check "$program_name, all functions" same "${program%%:*}" "$program_name*:*,libc.so.6:*" ;;
		esac
	done
	rounds=$((rounds + 1))
done
sort -k1,1 -k2,2n "$tmp/pauses" | awk 'function said() { if (n) printf "# %s stood still by %d commands: median %d us, worst %d us\n", name, n, p[int((n + 1) / 2)], p[n] }
	$1 != name { said(); n = 0; name = $1 } NF == 2 { p[++n] = $2 } END { said() }'
tap_end
