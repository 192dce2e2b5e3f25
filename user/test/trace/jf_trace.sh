#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# jf-trace, each of its commands: on programs that record, and on what is not as it should be.
# usage: jf_trace.sh BUILD
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
sockets=$XDG_RUNTIME_DIR/jumpfunc
unset JUMPFUNC_TRACE JUMPFUNC_TRACE_DIR JUMPFUNC_TRACE_CONTROL
trap 'end_program; rm -rf "$tmp"' EXIT

# What a command says and ends with, which is to be $1.
ends() { want=$1; shift; "$@" > "$tmp/out" 2> "$tmp/err"; rc=$?; cat "$tmp/out" "$tmp/err"; [ "$rc" = "$want" ] || { echo "status $rc"; false; }; }
says() { grep -q -- "$1" "$tmp/out" "$tmp/err" || { echo "not said: $1"; false; }; }

# Nothing of that name is left beside the sockets.
none_left() { for left in "$sockets/$1"-*; do [ ! -e "$left" ] || { echo "left: $left"; return 1; }; done; }

# A program that can be controlled, as $pid, until end_program. Its stdin is a pipe that stays open.
program=
start_program()
{
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	: > "$tmp/program"
	JUMPFUNC_TRACE_CONTROL=1 "$build/controlled" "$@" < "$tmp/in" > "$tmp/program" 2>&1 &
	program=$!
	exec 9> "$tmp/in"
	tries=0
	until grep -q '^ready' "$tmp/program"; do
		tries=$((tries + 1))
		[ "$tries" -lt 200 ] || { cat "$tmp/program"; return 1; }
		sleep 0.05
	done
	pid=$(sed -n 's/^ready //p' "$tmp/program")
}
end_program()
{
	[ -n "$program" ] || return 0
	exec 9>&-
	wait "$program" 2> /dev/null
	program=
}

# A function that does not end its program would leave it to the next one.
with_program() { test=$1; shift; start_program "$@" && "$test"; rc=$?; end_program; return "$rc"; }

# Until the program has recorded so many events, which is soon unless the machine is busy.
until_recorded()
{
	tries=0
	until ends 0 "$tool" stats "$pid" && [ "$(sed -n 's/^records //p' "$tmp/out")" -ge "$1" ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 200 ] || return 1
		sleep 0.05
	done
}

# --- what is said -----------------------------------------------------------------

usage()
{
	ends 0 "$tool" --help && says 'jf-trace COMMAND' && ends 0 "$tool" --version && says "jf-trace $(cat "$here/../../../VERSION")" &&
		ends 2 "$tool" && ends 2 "$tool" dance && says "no command 'dance'" &&
		ends 2 "$tool" run && ends 2 "$tool" enable 1 && ends 2 "$tool" stats && ends 2 "$tool" stats x &&
		ends 2 "$tool" stop -i 1 1 && ends 2 "$tool" run --clock sun true && ends 2 "$tool" top -i 0 1 &&
		ends 2 "$tool" run -e 'a,b' true && says 'a comma that is in no brackets' &&
		ends 2 "$tool" run -e 'fopen(strin)' true && says "'fopen(strin)' is no pattern of probes: 'strin' in its brackets" &&
		ends 2 "$tool" list -e 'fopen(string' true && ends 2 "$tool" run -e '' true && says empty &&
		ends 2 "$tool" run -e "$(printf 'x%.0s' $(seq 256))" true && says 'more than 255' &&
		ends 1 "$tool" enable $$ 'fopen(strin)' && says "'strin' in its brackets is neither string" &&
		ends 2 "$tool" record --packets 1 1 && ends 2 "$tool" snapshot 1 &&
		for command in run list record enable disable stop stats snapshot report top recover; do
			ends 0 "$tool" "$command" --help || return 1
		done
}

# --- run ----------------------------------------------------------------------------

run_prints()
{
	ends 7 "$tool" run -e jftest:small -- sh -c '"$1" 3; exit 7' sh "$build/trace_events" || return 1
	[ "$(grep -c jftest:small "$tmp/out")" = 3 ] && ! grep -q jftest:counted "$tmp/out" &&
		none_left run
}

# A name that begins with a dot, as wrapped programs have, and one that the program has given itself.
run_dot()
{
	cp "$build/trace_events" "$tmp/.wrapped" &&
		ends 0 "$tool" run --no-report -o "$tmp/dot" "$tmp/.wrapped" 2 && ls -d "$tmp/dot"/_wrapped-*-1 &&
		ends 0 "$tool" report "$tmp/dot" && [ "$(grep -c jftest:small "$tmp/out")" = 2 ] && rm -r "$tmp/dot" &&
		ends 0 "$tool" run --no-report -o "$tmp/dot" bash -c 'exec -a a/.title "$1" 1' bash "$build/trace_events" &&
		ls -d "$tmp/dot"/trace_events-*-1 && rm -r "$tmp/dot"
}

run_all()
{
	ends 0 "$tool" run "$build/trace_events" 2 && says jftest:small && says jftest:counted
}

run_keeps()
{
	ends 0 "$tool" run -o "$tmp/kept" --no-report -e 'jf*:s*' "$build/trace_events" 5 && says "the trace is in $tmp/kept" &&
		ends 0 babeltrace2 "$tmp/kept" && [ "$(grep -c jftest:small "$tmp/out")" = 5 ] &&
		ends 0 "$tool" report "$tmp/kept" && [ "$(grep -c jftest:small "$tmp/out")" = 5 ] &&
		ends 125 "$tool" run -o "$tmp/kept" true && says 'there already' && rm -r "$tmp/kept"
}

run_options()
{
	ends 0 "$tool" run -e small --clock none --packets 2 --packet-size 4096 --mode discard -o "$tmp/kept" --no-report \
		"$build/trace_events" 2000 || return 1
	ends 0 "$tool" recover "$tmp"/kept/*
	rm -r "$tmp/kept"
	says '^packets 2$' && says '^overwritten 0$' && ! says '^discarded 0$'
}

# Nothing that the program had committed is lost, and the folder is not removed.
run_killed()
{
	# shellcheck disable=SC2016
	ends 137 "$tool" run -e small sh -c '"$1" 100; kill -9 $$' sh "$build/trace_events" && says 'the trace is in' &&
		[ "$(grep -c jftest:small "$tmp/out")" = 100 ] && left=$(sed -n 's/.*the trace is in //p' "$tmp/err") &&
		ends 0 "$tool" recover "$left"/trace_events-* "$tmp/whole" && says '^records 100$' && rm -r "$left" "$tmp/whole"
}

run_fails()
{
	ends 127 "$tool" run /nowhere/program && says 'no such program' && ends 126 "$tool" run / &&
		ends 0 "$tool" run true && says 'recorded nothing' && none_left run
}

# A pattern that has recorded nothing is named, with the reason, and with what is like it.
run_unmatched()
{
	ends 0 "$tool" run -e jftest:smalls -e jftest:small "$build/trace_events" 2 && says "no probe matches 'jftest:smalls'.*'jftest:small'" &&
		ends 0 "$tool" run -e 'jtest:*' "$build/trace_events" 2 && says "no probe matches 'jtest:\*'.*'jftest:\*'" &&
		ends 0 "$tool" run -e zzqqzz "$build/trace_events" 2 && says "no probe matches 'zzqqzz'$" && says 'trace_events.*[1-9][0-9]* events' &&
		ends 0 "$tool" run -e jftest:small "$build/trace_events" 0 && says "'jftest:small' matches jftest:small, but" &&
		ends 0 "$tool" run -e jftest:small "$build/trace_events" 1 && ! says matches
}

# With the agent, of what is in libraries.
run_unmatched_functions()
{
	ends 0 "$tool" run -e mallok /bin/echo && says "no probe matches 'mallok'.*'libc.so.6:malloc'" &&
		ends 0 "$tool" run -e libc:malloc /bin/echo && says "no probe matches 'libc:malloc'.*'libc.so.6:malloc'" &&
		ends 0 "$tool" run -e strlen /bin/echo && says "'strlen' matches libc.so.6:strlen, which cannot be recorded: another" &&
		ends 0 "$tool" run -e malloc /bin/true && says "'malloc' matches libc.so.6:malloc, but no thread has come by" &&
		# An old version of it is a function of its own.
		ends 0 "$tool" run -e memcpy /bin/echo && says "'memcpy' matches libc.so.6:memcpy, which cannot be recorded: another"
}

# The program is asked to end, not the tool left without it.
run_term()
{
	"$tool" run -e small sh -c 'trap "echo ended; exit 3" TERM; : > "$1"; while :; do sleep 0.05; done' sh "$tmp/started" \
		> "$tmp/out" 2> "$tmp/err" &
	running=$!
	until [ -e "$tmp/started" ]; do sleep 0.05; done
	rm "$tmp/started"
	kill "$running"
	wait "$running"
	[ $? = 3 ] && grep -q ended "$tmp/out"
}

# Also before there is a program to ask: it is not begun.
run_term_early()
{
	cat > "$tmp/late.c" <<-'END'
	#include <fcntl.h>
	#include <signal.h>
	#include <stdlib.h>
	#include <unistd.h>
	/* For the tool, in place of libc's: says that it is here, and waits. */
	int execvp(const char *file, char *const *argv)
	{
		close(creat(getenv("STARTED"), 0600));
		sleep(1);
		return execv(file, argv);
	}
	END
	${CC:-cc} -shared -fPIC -o "$tmp/late.so" "$tmp/late.c" || return 1
	for how in term nohup; do
		(
			[ "$how" = term ] || trap '' HUP INT
			STARTED=$tmp/started LD_PRELOAD=$tmp/late.so exec "$tool" run -e small /bin/sh -c \
				'kill -HUP $$; kill -INT $$; exit 3' > "$tmp/out" 2> "$tmp/err"
		) &
		running=$!
		until [ -e "$tmp/started" ]; do sleep 0.05; done
		rm "$tmp/started"
		if [ "$how" = term ]; then kill "$running"; else kill -HUP "$running"; fi
		wait "$running"
		got=$?
		[ "$got" = "$([ "$how" = term ] && echo 143 || echo 3)" ] || { echo "$how: ended with $got"; return 1; }
	done
}

no_babeltrace()
{
	# Nothing but the program itself is to be found.
	mkdir "$tmp/bin" && cp "$build/trace_events" "$tmp/bin" || return 1
	ends 0 env PATH="$tmp/bin" "$tool" run -e small trace_events && says 'apt install babeltrace2' && says 'the trace is in' &&
		left=$(sed -n 's/.*jf-trace: the trace is in //p' "$tmp/err") && rm -r "$left"
}

# --- list --------------------------------------------------------------------------

list_file()
{
	ends 0 "$tool" list "$build/trace_events" && says '^event *- *jftest:small' && says '^event *- *jftest:kinds' &&
		says '^function *- *trace_events:main' && ends 0 "$tool" list -e 'jftest:s*' "$build/trace_events" &&
		[ "$(wc -l < "$tmp/out")" = 1 ] && ends 4 "$tool" list -e nothing "$build/trace_events"
}

# Their names are in no place that strip keeps; functions that others may call are.
list_stripped()
{
	strip -o "$tmp/stripped" "$build/libjumpfunc-trace.so.1" &&
		ends 0 "$tool" list -e 'jf_record_*' "$tmp/stripped" && says 'function *- *stripped:jf_record_start'
}

list_notes()
{
	ends 0 "$tool" list -e 'python:*' /usr/bin/python3.11 && says '^note *- *python:line .*arguments 8@' && [ "$(wc -l < "$tmp/out")" -ge 8 ]
}

list_no_elf()
{
	ends 1 "$tool" list "$0" && says 'no ELF file' && ends 1 "$tool" list /nowhere && says 'No such file' &&
		ends 1 "$tool" list / && head -c 3000 "$build/trace_events" > "$tmp/short" && ends 1 "$tool" list "$tmp/short" &&
		says damaged && mkfifo "$tmp/fifo" && ends 1 "$tool" list "$tmp/fifo" && ends 1 "$tool" list /dev/zero
}

# --- processes --------------------------------------------------------------------------

control()
{
	ends 0 "$tool" list && says "^$pid controlled$" &&
		ends 0 "$tool" list "$pid" && says '^event *off jftest:small' &&
		ends 1 "$tool" enable "$pid" small && says 'records nothing: jf-trace record' &&
		ends 0 "$tool" record "$pid" -e small && folder=$(head -1 "$tmp/out") && [ -d "$folder" ] &&
		ends 1 "$tool" record "$pid" && says 'recording already' &&
		ends 0 "$tool" list "$pid" -e 'jftest:[cs]*' && says '^event *on *jftest:small' && says '^event *off jftest:counted' &&
		ends 4 "$tool" enable "$pid" nothing && says "matches 'nothing'" &&
		ends 0 "$tool" enable "$pid" counted && ends 0 "$tool" disable "$pid" small && says '^disabled 1$' &&
		ends 0 "$tool" list "$pid" -e 'jftest:[cs]*' && says '^event *off jftest:small' && says '^event *on *jftest:counted' &&
		ends 0 "$tool" stats "$pid" && says '^recording 1$' && says "^folder $folder$" &&
		ends 0 "$tool" stop "$pid" && ends 1 "$tool" stop "$pid" && says 'records nothing' &&
		ends 0 babeltrace2 "$folder" && says jftest:counted
}

record_options()
{
	mkdir "$tmp/here" && ends 0 "$tool" record "$pid" -o "$tmp/here" --packets 2 --packet-size 4096 --clock monotonic &&
		says "^$tmp/here/controlled-$pid-1$" && ends 1 "$tool" record 1 -o "$tmp/nowhere" && until_recorded 1 &&
		ends 0 "$tool" stats "$pid" && says '^packets 2$' && [ "$(stat -c %s "$tmp/here/controlled-$pid-1/r0-0")" = 4096 ]
}

snapshots()
{
	ends 0 "$tool" record "$pid" -e small || return 1
	folder=$(head -1 "$tmp/out")
	until_recorded 100 || return 1
	ends 0 "$tool" snapshot "$pid" "$tmp/snap" && says '^damaged 0$' && ends 0 "$tool" report "$tmp/snap" && says jftest:small &&
		ends 1 "$tool" snapshot "$pid" "$tmp/snap" && says 'there already' &&
		ends 0 "$tool" snapshot "$folder" "$tmp/snap2" && ends 0 "$tool" report "$pid" && says jftest:small &&
		ends 0 "$tool" report --json "$pid" && python3 -c 'import json, sys
events = json.load(sys.stdin)["traceEvents"]
assert len(events) > 50 and all(e["name"] == "jftest:small" and e["pid"] == int(sys.argv[1]) for e in events)
assert all(a["ts"] <= b["ts"] for a, b in zip(events, events[1:])) and "nr = " in events[0]["args"]["fields"]' "$pid" < "$tmp/out" &&
		none_left report
}

top()
{
	ends 0 "$tool" record "$pid" -e small counted || return 1
	folder=$(head -1 "$tmp/out")
	ends 0 "$tool" top -i 0.3 -n 6 "$pid" && says 'jftest:small' && says 'jftest:counted' || return 1
	# One of five is counted. On a machine that is loaded the thread may not run for a while: not in each interval.
	awk '$3 == "jftest:small" { s = $1; s_at++ } $3 == "jftest:counted" { c = $1; c_at++ }
		s_at == c_at && c > 0 && s > 2 * c && s < 8 * c { good++ } END { print s, c; exit !good }' "$tmp/out" && ends 0 "$tool" top -i 0.1 -n 1 "$folder"
}

# It says so and ends when the process does.
top_ends()
{
	ends 0 "$tool" record "$pid" -e small || return 1
	"$tool" top -i 0.05 "$pid" > "$tmp/out" 2> "$tmp/err" 9>&- &
	running=$!
	# It has found the process when there is something in its table.
	until grep -q jftest:small "$tmp/out" || ! kill -0 "$running"; do sleep 0.05; done
	end_program
	wait "$running" && says 'has ended; its trace is in'
}

killed()
{
	ends 0 "$tool" record "$pid" -e '*' || return 1
	folder=$(head -1 "$tmp/out")
	until_recorded 1000 || return 1
	kill -9 "$pid"
	wait "$program" 2> /dev/null
	[ -S "$sockets/control-$pid" ] && ends 1 "$tool" stats "$pid" && says 'no process' && [ ! -e "$sockets/control-$pid" ] &&
		ends 0 "$tool" recover "$folder" "$tmp/whole" && says '^damaged 0$' && ! says '^records 0$' &&
		ends 0 babeltrace2 "$tmp/whole" && ends 0 babeltrace2 "$folder" && rm -r "$tmp/whole"
}

# What is left of processes that were killed goes with a list.
stale()
{
	kill -9 "$pid"
	wait "$program" 2> /dev/null
	[ -S "$sockets/control-$pid" ] && ends 4 "$tool" list && [ ! -e "$sockets/control-$pid" ]
}

providers()
{
	ends 0 "$tool" record "$pid" -e 'fake:one' && ends 0 "$tool" list "$pid" && says '^note *on *fake:one  jump$' &&
		says '^note *off fake:two' && says 'fake:t?\[31mree?' && ends 0 "$tool" enable "$pid" '*' && says 'too many match' &&
		ends 0 "$tool" list "$pid" -e small && says ' on ' && ends 0 "$tool" disable "$pid" one && says '^disabled 1$' &&
		ends 0 "$tool" enable "$pid" 'fake:t*' && says '^enabled 2$' && ends 0 "$tool" stop "$pid" &&
		ends 0 "$tool" list "$pid" -e 'fake:*' && ! says ' on '
}

forked()
{
	child=$(sed -n 's/^child //p' "$tmp/program")
	ends 0 "$tool" list && says "^$pid " && says "^$child " && ends 0 "$tool" record "$child" -e small &&
		ends 0 "$tool" stats "$pid" && says '^recording 0$' && ends 0 "$tool" stats "$child" && says '^recording 1$'
}

# Its descriptors are other files now. None is taken for the socket.
closed()
{
	ends 0 "$tool" stats "$pid" && ends 0 "$tool" stats "$pid" && ends 0 "$tool" record "$pid" -e small
}

executed() { ends 0 "$tool" stats "$pid" && says '^program controlled$'; }

hidden()
{
	ends 1 "$tool" stats "$pid" && says 'has no control socket' && [ ! -e "$sockets/control-$pid" ] &&
		ends 0 "$tool" list "$pid" -e jftest:small && says '^event *- *jftest:small'
}

# A process that cannot answer: the tool says so rather than wait for good. (That takes a minute; here it is interrupted.)
stopped()
{
	kill -STOP "$pid"
	timeout 1 "$tool" stats "$pid" > "$tmp/out" 2>&1
	rc=$?
	kill -CONT "$pid"
	[ "$rc" = 124 ] && ends 0 "$tool" stats "$pid"
}

another_user()
{
	cp "$tool" "$tmp/tool"
	chmod 755 "$tmp" "$tmp/tool" "$XDG_RUNTIME_DIR"
	for command in stats stop list record top; do
		ends 1 setpriv --reuid 65534 --regid 65534 --clear-groups env XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" "$tmp/tool" "$command" "$pid" &&
			says 'another user\|may not be listed\|Permission denied' || return 1
	done
	ends 0 "$tool" stats "$pid" && says '^recording 0$'
}

# Root may, whatever folder that user has.
root_may()
{
	mkdir -m 700 "$tmp/theirs" && chown 65534 "$tmp/theirs" && chmod 755 "$tmp" && cp "$build/controlled" "$build"/lib*.so* "$tmp" &&
		chmod 755 "$tmp/controlled" || return 1
	: > "$tmp/program"
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	setpriv --reuid 65534 --regid 65534 --clear-groups env XDG_RUNTIME_DIR="$tmp/theirs" LD_LIBRARY_PATH="$tmp" \
		JUMPFUNC_TRACE_CONTROL=1 "$tmp/controlled" < "$tmp/in" > "$tmp/program" 2>&1 &
	program=$!
	exec 9> "$tmp/in"
	until grep -q '^ready' "$tmp/program"; do
		kill -0 "$program" || { cat "$tmp/program"; return 1; }
		sleep 0.05
	done
	ends 0 "$tool" stats "$program" && ends 0 "$tool" record "$program" -e small
	rc=$?
	end_program
	return "$rc"
}

# Another process's socket under the name of this one is not believed.
impostor()
{
	other=$pid
	sleep 60 9>&- &
	asleep=$!
	mv "$sockets/control-$other" "$sockets/control-$asleep"
	ln -s "control-$asleep" "$sockets/control-$other"
	ends 1 "$tool" stats "$asleep" && says 'Operation not permitted' && ends 1 "$tool" stats "$other" && says 'Operation not permitted'
	as_told=$?
	kill "$asleep"
	mv "$sockets/control-$asleep" "$sockets/control-$other"
	return "$as_told"
}

# A process that answers with what is no answer: packets of all kinds.
hostile_process()
{
	python3 - "$sockets" "$tool" <<'END'
import os, socket, subprocess, sys
path = '%s/control-%d' % (sys.argv[1], os.getpid())
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(path)
s.listen(5)
s.settimeout(20)
answers = [[b'x'], [b'end'], [b'end\0'], [b'end\0x\0y\0'], [b'end\x000\x00-1\0'], [b'\0' * 9], [b'\0' * 10], [b'a' * 8000],
           [b'value\0folder\0/etc\0', b'end\x000\x000\0'], [b'value\0folder\0' + b'/x' * 1500 + b'\0', b'end\x000\x000\0'],
           [b'value\0folder\0../x\0', b'end\x000\x000\0'], [b'probe\0e\0\x1b[31m\0n\0on\0d\0', b'end\x000\x001\0'],
           [b'probe\0' * 3, b'failed\0x\x00999999\0', b'end\x0099999999999\x001\0'], []]
for answer in answers:
    for command in ['stats'], ['list'], ['enable', 'x'], ['stop'], ['snapshot'], ['top', '-n', '1', '-i', '0.01'], ['report'], ['record']:
        words = [sys.argv[2], command[0]] + command[2:] * (command[0] == 'top') + ['-n', '1'] * (command[0] == 'top')
        words = [sys.argv[2]] + ([command[0]] + command[1:] + [str(os.getpid())] if command[0] == 'top' else
                                 [command[0], str(os.getpid())] + command[1:])
        if command[0] == 'snapshot':
            words.append(sys.argv[1] + '/never')
        tool = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while True:
            s.settimeout(0.02)
            try:
                c, _ = s.accept()
            except socket.timeout:
                if tool.poll() is not None:
                    break
                continue
            c.recv(5000)
            try:
                for packet in answer:
                    c.send(packet)
            except OSError:
                pass
            c.close()
        said = tool.stdout.read()
        assert 0 <= tool.returncode < 5, (answer, words, tool.returncode, said)
        assert b'\x1b' not in said, said
os.unlink(path)
END
}

# The words for a line of them, as bash asks for them.
words_for()
{
	# shellcheck disable=SC2016
	PATH="$build:$PATH" bash -c '. "$1/jf-trace.bash"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _jf_trace; printf "%s\n" "${COMPREPLY[@]}"' \
		bash "$here/../../trace/tool" jf-trace "$@" > "$tmp/out"
	: > "$tmp/err"
	cat "$tmp/out"
}

completion()
{
	words_for re && says '^record$' && says '^report$' && says '^recover$' && [ "$(wc -l < "$tmp/out")" = 3 ] &&
		words_for run --m && says '^--mode$' && words_for run --clock m && says '^monotonic$' &&
		words_for stats '' && says "^$pid$" && words_for enable "$pid" jftest:s && says '^jftest:small$' &&
		words_for list "$build/trace_ev" && says 'trace_events$' || return 1
	# What it offers are all the commands and options that there are.
	"$tool" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | while read -r command; do
		words_for "$command" && says "^$command$" || exit 1
	done
}

# --- disks, damage ---------------------------------------------------------------------------

make_trace() { rm -rf "$tmp/t"; "$tool" run -o "$tmp/t" --no-report -e small "$build/trace_events" 3000 2> /dev/null; trace=$(echo "$tmp"/t/*); }

damaged()
{
	make_trace
	dd if=/dev/urandom of="$trace/r0-0" bs=1 seek=20000 count=40 conv=notrunc 2> /dev/null
	ends 3 "$tool" recover "$trace" "$tmp/whole" && says 'damaged' && ends 0 babeltrace2 "$tmp/whole" || return 1
	rm -r "$tmp/whole"
	: > "$trace/metadata"
	ends 1 "$tool" recover "$trace" && says 'no trace' && ends 1 "$tool" top -n 1 "$trace" && ends 1 "$tool" recover /nowhere &&
		mkdir "$tmp/empty" && ends 1 "$tool" report "$tmp/empty" && says 'no trace' && ends 1 "$tool" recover "$trace" "$tmp/whole" && [ ! -e "$tmp/whole" ]
}

# Files of random bytes and lengths, in the place of each.
# A file of 2 MB whose symbols share one name: copies of that would take 380 MB.
many_long_names()
{
	python3 - "$tmp/long" <<-'END' || return 1
	import struct, sys
	names = b'\0.symtab\0.strtab\0' + b'n' * 3800 + b'\0'
	symbols = bytes(24) + struct.pack('<IBBHQQ', 17, 2, 0, 1, 4096, 1) * 100000
	def section(name, kind, at, size, link=0, entry=0):
	    return struct.pack('<IIQQQQIIQQ', name, kind, 0, 0, at, size, link, 1, 1, entry)
	at = 64 + 3 * 64
	head = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, 3, 2)
	table = bytes(64) + section(1, 2, at + len(names), len(symbols), 2, 24) + section(9, 3, at, len(names))
	open(sys.argv[1], 'wb').write(head + table + names + symbols)
	END
	ends 1 "$tool" list "$tmp/long" && says 'memory'
}

hostile_files()
{
	for round in 1 2 3 4 5 6 7 8; do
		make_trace
		for file in "$trace"/*; do
			dd if=/dev/urandom of="$file" bs=1 seek=$((round * 37 % 300)) count=$((round * 11)) conv=notrunc 2> /dev/null
			[ $((round % 3)) != 0 ] || truncate -s $((round * 1000)) "$file"
		done
		for command in "recover $trace" "top -n 2 -i 0.02 $trace" "snapshot $trace $tmp/s$round"; do
			# shellcheck disable=SC2086
			"$tool" "$command" > "$tmp/out" 2> "$tmp/err"
			rc=$?
			[ "$rc" -lt 5 ] || { echo "$command: $rc"; cat "$tmp/err"; return 1; }
		done
		rm -rf "$tmp/s$round"
	done
	make_trace
	rm "$trace/r0-0"
	mkfifo "$trace/r0-0"
	ln -sf /etc/passwd "$trace/lost"
	ends 0 "$tool" recover "$trace" && ends 0 "$tool" top -n 1 -i 0.02 "$trace"
}

# A copy that has no room leaves nothing.
full_disk()
{
	make_trace
	# shellcheck disable=SC2016
	ends 1 unshare -rm sh -c 'mkdir "$3"; mount -t tmpfs -o size=8k none "$3"; "$1" recover "$2" "$3/copy"; rc=$?; ls "$3"; exit "$rc"' \
		sh "$tool" "$trace" "$tmp/disk" && says 'the disk is full' && ! grep -q copy "$tmp/out"
}

read_only()
{
	# shellcheck disable=SC2016
	ends 1 unshare -rm sh -c 'mkdir -p "$3"; mount -t tmpfs -o ro none "$3"; "$1" recover "$2" "$3/copy"' \
		sh "$tool" "$trace" "$tmp/disk" && says 'read-only' || return 1
	# shellcheck disable=SC2016
	ends 125 unshare -rm sh -c 'mount -t tmpfs -o ro none "$2"; "$1" run -o "$2/t" true' sh "$tool" "$tmp/disk" && says 'Read-only'
}

file_size() { make_trace; ends 1 sh -c 'ulimit -f 10; "$1" recover "$2" "$3"' sh "$tool" "$trace" "$tmp/copy" && says 'ulimit' && [ ! -e "$tmp/copy" ]; }

# ^C while it copies: the parts go. A file that cannot be read at once makes it last.
interrupted()
{
	make_trace
	for i in $(seq 200); do cp "$trace/r0-0" "$trace/r0-$i"; done
	for after in 0.005 0.02 0.05 0.1; do
		"$tool" recover "$trace" "$tmp/copy" > "$tmp/out" 2>&1 &
		running=$!
		sleep "$after"
		kill -TERM "$running"
		wait "$running"
		rc=$?
		if [ "$rc" != 0 ] && [ "$rc" != 3 ] && [ -e "$tmp/copy" ]; then
			echo "after $after: $rc"
			return 1
		fi
		rm -rf "$tmp/copy"
	done
}

check "usage, wrong usage" usage
if have babeltrace2; then
	check "run prints events, and ends as the program" run_prints
	check "run without a pattern" run_all
	check "run of a program whose name begins with a dot" run_dot
	check "run -o, report" run_keeps
	check "run, and the program is killed" run_killed
	check "run without babeltrace2 installed" no_babeltrace
	check "record, enable, disable, list, stats, stop" with_program control
	check "snapshot, report of a process, JSON" with_program snapshots
	check "a process that is killed, and recover" with_program killed
	check "damage" damaged
else
	skip "events as text" "babeltrace2 is not installed"
fi
check "run with options" run_options
check "run of what is no program, or records nothing" run_fails
check "run with patterns that match nothing" run_unmatched
if [ -e "$build/libjumpfunc-agent.so" ]; then
	check "run with functions that are not there" run_unmatched_functions
else
	skip "run with functions that are not there" "libzydis-dev"
fi
check "run is asked to end" run_term
check "... before the program has begun, or when it is not to be" run_term_early
check "list of a file" list_file
check "list of a file without symbols" list_stripped
if [ -e /usr/bin/python3.11 ]; then
	check "list of notes" list_notes
else
	skip "list of notes" "there is no /usr/bin/python3.11"
fi
check "list of what is no program" list_no_elf
check "record -o" with_program record_options
check "top" with_program top
check "top ends with the process" with_program top_ends
check "a socket that is left" with_program stale idle
check "probes of a provider" with_program providers provider
check "a forked child" with_program forked fork
check "a program that closes all descriptors" with_program closed close
check "a program that executes another" with_program executed exec
check "a program without control" with_program hidden hidden
check "a process that is stopped" with_program stopped idle
check "a socket of another process" with_program impostor idle
if have bash; then
	check "completion" with_program completion idle
else
	skip "completion" "there is no bash"
fi
if have python3; then
	check "a hostile process" hostile_process
else
	skip "a hostile process" "there is no python3"
fi
if [ "$(id -u)" = 0 ] && have setpriv; then
	check "another user" with_program another_user idle
	check "root controls what is another user's" root_may
else
	skip "users" "this must be root"
fi
check "hostile files" hostile_files
check "a file of names that are long and many" many_long_names
if unshare -rm true 2> /dev/null; then
	check "a full disk" full_disk
	check "a read-only file system" read_only
else
	skip "disks" "no mount namespace may be made here (unshare -rm)"
fi
check "RLIMIT_FSIZE" file_size
check "interrupted" interrupted
tap_end
