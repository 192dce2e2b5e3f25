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
# The end of a socket's name where this runs in a name space of processes: in a container.
inner=-$(stat -Lc %i /proc/self/ns/pid)
[ "$inner" != -4026531836 ] || inner=
unset JUMPFUNC_TRACE JUMPFUNC_TRACE_DIR JUMPFUNC_TRACE_CONTROL
trap 'end_program; rm -rf "$tmp"' EXIT

# As ends, of a process that goes on recording: whether records have been overwritten by now is a matter of time.
looks() { "$@" > "$tmp/out" 2> "$tmp/err"; rc=$?; cat "$tmp/out" "$tmp/err"; [ "$rc" = 0 ] || [ "$rc" = 5 ] || { echo "status $rc"; false; }; }

# How many events of a name are shown, by whichever command.
shown() { cat "$tmp/out" "$tmp/err" | grep -c "$1: {"; }

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
	awaits grep -q '^ready' "$tmp/program" || { cat "$tmp/program"; return 1; }
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
	until looks "$tool" stats "$pid" && [ "$(sed -n 's/^records //p' "$tmp/out")" -ge "$1" ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 200 ] || return 1
		sleep 0.05
	done
}

# --- what is said -----------------------------------------------------------------

usage()
{
	ends 0 "$tool" --help && says 'jf-trace COMMAND' && ends 0 "$tool" --version && says "jf-trace $("$here/../../../packaging/version")" &&
		ends 2 "$tool" && ends 2 "$tool" dance && says "no command 'dance'" &&
		ends 2 "$tool" run && ends 2 "$tool" enable 1 && ends 2 "$tool" stats && ends 2 "$tool" stats x &&
		ends 2 "$tool" stop -i 1 1 && ends 2 "$tool" run --clock sun true && ends 2 "$tool" top -i 0 1 &&
		ends 2 "$tool" run -e 'a,b' true && says 'a comma that is in no brackets' &&
		ends 2 "$tool" run -e 'fopen(strin)' true && says "'fopen(strin)' is no pattern of probes: 'strin' in its brackets" &&
		ends 2 "$tool" list -e 'fopen(string' true && ends 2 "$tool" run -e '' true && says empty &&
		ends 2 "$tool" run -e "$(printf 'x%.0s' $(seq 256))" true && says 'more than 255' &&
		ends 1 "$tool" enable $$ 'fopen(strin)' && says "'strin' in its brackets is neither string" &&
		ends 2 "$tool" record --packets 1 1 && ends 2 "$tool" snapshot 1 &&
		for command in run list record enable disable stop stats snapshot report script top count recover; do
			ends 0 "$tool" "$command" --help || return 1
		done
}

# --- run ----------------------------------------------------------------------------

run_prints()
{
	ends 7 "$tool" run -e jftest:small -- sh -c '"$1" 3; exit 7' sh "$build/trace_events" || return 1
	[ "$(shown jftest:small)" = 3 ] && [ "$(shown jftest:counted)" = 0 ] && [ ! -s "$tmp/out" ] &&
		none_left run
}

# The folder of a program called r begins as the files of packets do.
run_r()
{
	rm -rf "$tmp/of-r" && cp "$build/trace_events" "$tmp/r" &&
		ends 0 "$tool" run -o "$tmp/of-r" "$tmp/r" 2 && [ "$(shown jftest:small)" = 2 ] && ls -d "$tmp"/of-r/r-*-1 &&
		ends 0 "$tool" run -o "$tmp/of-r" "$tmp/r" 3 && [ "$(shown jftest:small)" = 3 ] && rm -r "$tmp/of-r"
}

# A name that begins with a dot, as wrapped programs have, and one that the program has given itself.
run_dot()
{
	cp "$build/trace_events" "$tmp/.wrapped" &&
		ends 0 "$tool" run --no-report -o "$tmp/dot" "$tmp/.wrapped" 2 && ls -d "$tmp/dot"/_wrapped-*-1 &&
		ends 0 "$tool" script "$tmp/dot" && [ "$(shown jftest:small)" = 2 ] && rm -r "$tmp/dot" &&
		ends 0 "$tool" run --no-report -o "$tmp/dot" bash -c 'exec -a a/.title "$1" 1' bash "$build/trace_events" &&
		ls -d "$tmp/dot"/trace_events-*-1 && grep 'procname = "trace_events"' "$tmp"/dot/*/metadata && rm -r "$tmp/dot"
}

run_all()
{
	ends 0 "$tool" run "$build/trace_events" 2 && says jftest:small && says jftest:counted
}

run_keeps()
{
	ends 0 "$tool" run -o "$tmp/kept" --no-report -e 'jf*:s*' "$build/trace_events" 5 && says "the trace is in $tmp/kept" &&
		ends 0 babeltrace2 "$tmp/kept" && [ "$(shown jftest:small)" = 5 ] &&
		ends 0 "$tool" script "$tmp/kept" && [ "$(shown jftest:small)" = 5 ] &&
		rm -r "$tmp/kept"
}

run_options()
{
	ends 123 "$tool" run -e small --clock none --packets 2 --packet-size 4096 --mode discard -o "$tmp/kept" --no-report \
		"$build/trace_events" 2000 || return 1
	ends 5 "$tool" recover "$tmp"/kept/*
	rm -r "$tmp/kept"
	says '^packets 2$' && says '^overwritten 0$' && ! says '^discarded 0$'
}

# The sum of what is there and what was lost is what the program has recorded: $1 records.
all_accounted()
{
	sum=$(sed -n 's/^jf-trace: records \([0-9]*\), overwritten \([0-9]*\), discarded \([0-9]*\).*/\1+\2+\3/p' "$tmp/err")
	# shellcheck disable=SC2004
	[ -n "$sum" ] && [ $(($sum)) = "$1" ] || { echo "$sum is not $1"; false; }
}

# What was overwritten or discarded is said, by each command, and by what it ends with.
lost()
{
	small='--packets 2 --packet-size 4096'
	# shellcheck disable=SC2086
	ends 123 "$tool" run -e small $small -o "$tmp/over" "$build/trace_events" 2000 && says 'overwritten [1-9].* larger rings' &&
		all_accounted 2000 && says 'records of thread [0-9]* before [0-9:.]* were overwritten: what follows is not all' &&
		[ "$(shown jftest:small)" = "$(sed -n 's/.*: records \([0-9]*\),.*/\1/p' "$tmp/err")" ] || return 1
	for command in "report" "script" "report --json" "recover" "top -n 1 -i 0.01"; do
		# shellcheck disable=SC2086
		ends 5 "$tool" $command "$tmp"/over/* && all_accounted 2000 || return 1
	done
	ends 5 "$tool" snapshot "$tmp"/over/* "$tmp/copy" && all_accounted 2000 && ends 5 "$tool" script "$tmp/copy" && all_accounted 2000 &&
		ends 5 "$tool" script "$tmp/over" && all_accounted 2000 && rm -r "$tmp/over" "$tmp/copy" || return 1
	# shellcheck disable=SC2086
	ends 123 "$tool" run -e small $small --mode discard "$build/trace_events" 2000 && says 'discarded [1-9]' && all_accounted 2000 &&
		! says 'were overwritten' && ends 7 "$tool" run -e small $small sh -c '"$1" 2000; exit 7' sh "$build/trace_events" &&
		all_accounted 2000 && ends 0 "$tool" run -e small "$build/trace_events" 20 && all_accounted 20 && ! says 'to lose less'
}

# Mode keep loses nothing, until there is no room; then it says so.
keeps_all()
{
	ends 0 "$tool" run -e small --mode keep --packets 2 --packet-size 4096 -o "$tmp/all" "$build/trace_events" 20000 && all_accounted 20000 &&
		[ "$(shown jftest:small)" = 20000 ] && ends 0 "$tool" recover "$tmp"/all/* && says '^records 20000$' &&
		ends 123 "$tool" run --no-report -e small --mode keep --max-size 1 --packet-size 4096 -o "$tmp/some" "$build/trace_events" 60000 &&
		all_accounted 60000 && says 'overwritten 0, discarded [1-9].*; to lose less: .*--max-size' && ! says '--mode keep' > /dev/null &&
		ends 2 "$tool" run --mode keep true && says 'a folder on a disk' &&
		rm -r "$tmp/all" "$tmp/some"
}

# Of several threads or processes those with most losses are named; and what cannot be read is not taken to be whole.
lost_of_several()
{
	# shellcheck disable=SC2016
	ends 123 "$tool" run -e small --packets 2 --packet-size 4096 --no-report -o "$tmp/over" sh -c '"$1" 10; "$1" 2000' sh "$build/trace_events" &&
		all_accounted 2010 && says '(thread [0-9]*: [1-9][0-9]*, [1-9][0-9]*, 0)' && ends 5 "$tool" script "$tmp/over" && all_accounted 2010 &&
		[ "$(grep -c 'what follows is not all' "$tmp/err")" = 1 ]
	as_told=$?
	if [ "$as_told" = 0 ] && [ "$(id -u)" = 0 ] && have setpriv; then
		cp "$tool" "$tmp/tool" && chmod 755 "$tmp" "$tmp/tool" "$tmp/over" &&
			ends 1 setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/tool" report "$tmp/over" &&
			says 'what it has lost is not known: Permission denied'
		as_told=$?
	fi
	rm -r "$tmp/over"
	return "$as_told"
}

# Each field is a member of what it is, and text stays what it was.
json_fields()
{
	ends 0 "$tool" run --no-report -o "$tmp/kinds" "$build/trace_events" 4 && ends 0 "$tool" script --json "$tmp/kinds" &&
		python3 -c 'import json, sys
kinds = [e["args"] for e in json.load(sys.stdin)["traceEvents"] if e["name"] == "jftest:kinds"]
assert len(kinds) == 4 and kinds[3]["text"] == "text" and kinds[3]["list"] == [10, 20, 30] and kinds[0]["list"] == [], kinds
assert kinds[0]["negative"] == -5 and kinds[0]["half"] == 0.5 and kinds[0]["where"] == "0x1234" and kinds[0]["three"] == [-1, 2, -3], kinds[0]
assert kinds[0]["pair"]["bytes"][0] == "0x11" and not any("length" in k for k in kinds[0]), kinds[0]' < "$tmp/out" || return 1
	mkdir "$tmp/fake" && cat > "$tmp/fake/babeltrace2" <<-'END'
	#!/bin/sh
	line() { printf 'timestamp = 1.000000002, trace = t, trace:procname = p, trace:vpid = (3), name = a:b, stream.packet.context = { tid = 4 }, event.fields = %s\n' "$1"; }
	line '{ s = "na<c3><af>ve <ff>", big = 17510327988622789613, exact = 9007199254740992, x = nan, e = 1e-05 }'
	line '{ s = "\" \\ \n \t \e \x7f \? \0", t = "}, { tid = 9 }, name = x, event.fields = {", _u_length = 2, v = 1, color = ( "RED" : container = 1 ) }'
	line '{ broken = "'
	END
	# What stands for bytes in the text above becomes them.
	python3 - "$tmp/fake/babeltrace2" <<-'END' || return 1
	import sys
	text = open(sys.argv[1], "rb").read()
	for code in (b"c3", b"af", b"ff"):
	    text = text.replace(b"<" + code + b">", bytes([int(code, 16)]))
	open(sys.argv[1], "wb").write(text)
	END
	chmod 755 "$tmp/fake/babeltrace2"
	ends 1 env PATH="$tmp/fake:$PATH" "$tool" script --json "$tmp/kinds" && says '1 lines of babeltrace2 were not understood' &&
		python3 -c 'import json, sys
events = [e["args"] for e in json.load(sys.stdin)["traceEvents"] if e["name"] == "a:b"]
assert events[0] == {"s": "na\u00efve \ufffd", "big": "17510327988622789613", "exact": 9007199254740992, "x": "nan", "e": 1e-05}, events
assert events[1] == {"s": "\" \\ \n \t \x1b \x7f ? \0", "t": "}, { tid = 9 }, name = x, event.fields = {", "_u_length": 2, "v": 1,
                     "color": "( \"RED\" : container = 1 )"}, events
assert len(events) == 2' < "$tmp/out" && rm -r "$tmp/kinds"
}

# Traces of processes that fork are shown together: their clocks are one, and have one UUID.
one_clock()
{
	# shellcheck disable=SC2016
	ends 0 "$tool" run --no-report -o "$tmp/two" -e small sh -c '"$1" 1; "$1" 1' sh "$build/trace_events" &&
		[ "$(grep -h -A7 '^clock' "$tmp"/two/*/metadata | grep -c "^	uuid = \"$(cat /proc/sys/kernel/random/boot_id)\";\$")" = "$(cat "$tmp"/two/*/metadata | grep -c '^clock')" ] &&
		ends 0 "$tool" script "$tmp/two" && [ "$(shown jftest:small)" = 2 ] && rm -r "$tmp/two"
}

# More traces than may be open at once: none is left out, whether the limit can be raised or not.
many_processes()
{
	# shellcheck disable=SC2016
	ends 0 "$tool" run --no-report -o "$tmp/many" -e small sh -c 'for i in $(seq 30); do "$1" 1; done; /bin/true' sh "$build/trace_events" &&
		[ "$(find "$tmp/many" -name metadata | wc -l)" = 30 ] &&
		ends 0 sh -c 'ulimit -Sn 64; exec "$@"' sh "$tool" script "$tmp/many" && [ "$(shown jftest:small)" = 30 ] && ! says parts &&
		ends 0 sh -c 'ulimit -n 64; exec "$@"' sh "$tool" script "$tmp/many" && [ "$(shown jftest:small)" = 30 ] && says 'in parts' ||
		return 1
	! have python3 || { ends 0 sh -c 'ulimit -n 64; exec "$@"' sh "$tool" script --json "$tmp/many" &&
		python3 -c 'import json, sys
assert sum(e["name"] == "jftest:small" for e in json.load(sys.stdin)["traceEvents"]) == 30' < "$tmp/out"; } || return 1
	rm -r "$tmp/many"
}

# No trace is begun, and nothing waited for, where no probe matches.
begins_late()
{
	# shellcheck disable=SC2016
	ends 0 "$tool" run -o "$tmp/late" -e 'no:such' "$build/trace_events" 1 && says 'no probe of it matches' && [ ! -e "$tmp/late" ] &&
		mkdir "$tmp/late" && JUMPFUNC_TRACE=jftest:small JUMPFUNC_TRACE_DIR=$tmp/late "$build/trace_events" 1 &&
		JUMPFUNC_TRACE=no:such JUMPFUNC_TRACE_DIR=$tmp/late "$build/trace_events" 1 && [ "$(find "$tmp/late" -name metadata | wc -l)" = 1 ] &&
		rm -r "$tmp/late"
}

# The report's failure is not the program's success.
report_fails()
{
	mkdir "$tmp/broken" && printf '#!/bin/sh\nexit 1\n' > "$tmp/broken/babeltrace2" && chmod 755 "$tmp/broken/babeltrace2" || return 1
	ends 124 env PATH="$tmp/broken:$PATH" "$tool" run -e small "$build/trace_events" 2 && says 'babeltrace2 ended with status 1' &&
		says 'the trace is in' && left=$(sed -n 's/.*jf-trace: the trace is in //p' "$tmp/err") && rm -r "$left"
}

# Nothing that the program had committed is lost, and the folder is not removed.
run_killed()
{
	# shellcheck disable=SC2016
	ends 137 "$tool" run -e small sh -c '"$1" 100; kill -9 $$' sh "$build/trace_events" && says 'the trace is in' &&
		[ "$(shown jftest:small)" = 100 ] && left=$(sed -n 's/.*the trace is in //p' "$tmp/err") &&
		ends 0 "$tool" recover "$left"/trace_events-* "$tmp/whole" && says '^records 100$' && rm -r "$left" "$tmp/whole"
}

run_fails()
{
	ends 127 "$tool" run /nowhere/program && says 'no such program' && ends 126 "$tool" run / &&
		ends 0 "$tool" run true && says 'recorded nothing' && none_left run
}

# SIGCHLD is ignored, as some daemons have it: the program gets that, and its status is known all the same.
ignored_children()
{
	for command in run count; do
		ends 3 env --ignore-signal=CHLD "$tool" "$command" -e zzqqzz awk '/SigIgn/ { print; exit 3 }' /proc/self/status && shown_ignored || return 1
	done
}
shown_ignored() { sed -n 's/^SigIgn:[[:space:]]*//p' "$tmp/out" "$tmp/err" | grep -q '[13579bdf]....$'; }

# wrong STATUS TEXT PROGRAM: each command that starts a program says first why it cannot, alone, and leaves nothing.
wrong()
{
	for command in run count time; do
		ends "$1" "$tool" "$command" -e 'wrong:main' --if 'level > 3' "$3" < /dev/null || return 1
		[ "$(cat "$tmp/err")" = "jf-trace: ${3:-''}: $2" ] || { echo "$command: not: $2"; return 1; }
	done
}

wrong_programs()
(
	mkdir -p "$tmp/wrong/folder" && cd "$tmp/wrong" && echo 'int main(void) { return 0; }' | build_c wrong/whole -g || return 1
	printf '#!/no/such/shell -e\n' > script && printf '#!/dev/null\n' > null && echo exit > text && head -c 100 whole > short && ln -s none link && ln -s loop loop &&
		sed 's|/lib64/ld-linux|/libxx/ld-linux|' whole > linker && cp whole machine && printf '\267' | dd of=machine bs=1 seek=18 conv=notrunc 2> /dev/null &&
		chmod +x script null short linker || return 1
	wrong 127 'there is no such program' /nowhere/program && wrong 127 'there is no such program' program-of-nowhere &&
		wrong 127 'there is no such program' "" && ends 126 "$tool" run ./folder && says 'it is a folder, and no program' &&
		wrong 126 'it has no right to be executed: chmod +x' ./text && wrong 126 'it is no file of a program' /dev/null &&
		wrong 126 'it is a link that leads nowhere' ./link && wrong 126 'Too many levels of symbolic links' ./loop &&
		wrong 126 'Not a directory' ./text/program && wrong 126 'its interpreter /no/such/shell: No such file or directory' ./script &&
		wrong 126 'its interpreter /dev/null: it is no file of a program' ./null &&
		wrong 126 'its interpreter /libxx/ld-linux-x86-64.so.2: No such file or directory' ./linker &&
		wrong 126 'it is a program of another machine, or its file is damaged' ./machine &&
		wrong 126 'it is a program of another machine, or its file is damaged' ./short && none_left run
)

# As a shell finds a program: past a folder of its name, and in the present folder for an empty part of PATH.
found_programs()
(
	mkdir -p "$tmp/found/first/program" "$tmp/found/second" && cd "$tmp/found" && printf '#!/bin/sh\nexit 7\n' > second/program &&
		printf '\177ELF of no machine' > machine && chmod +x second/program machine || return 1
	ends 7 env PATH="$PWD/first:$PWD/second:$PATH" "$tool" run program || return 1
	for path in ":$PATH" "$PATH:" "$PATH::$tmp"; do
		ends 126 env PATH="$path" "$tool" run machine && says 'machine: it is a program of another machine, or its file is damaged' || return 1
	done
	none_left run
)

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

# "No thread has come by" stands only where no other reason was counted.
run_silent()
{
	cat > "$tmp/silent.c" <<-'END'
	#include <stdlib.h>
	#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0, 0"
	__attribute__((noinline)) void rare(int i) { __asm__ volatile(NOP5 "\n\tnop" : : "r" (i)); }
	__attribute__((noinline)) void hot(int i) { __asm__ volatile(NOP5 "\n\tnop; nop" : : "r" (i)); }
	__attribute__((noinline)) void tiny(int i) { __asm__ volatile("" : : "r" (i)); }
	int main(int argc, char **argv)
	{
		rare(argc);
		tiny(argc);
		for (int i = atoi(argv[1]); i; i--)
			hot(i);
		return 0;
	}
	END
	${CC:-cc} -O1 -o "$tmp/silent" "$tmp/silent.c" || return 1
	ends 123 "$tool" run -e rare -e hot "$tmp/silent" 20000 && says "'rare' matches silent:rare, of which .* overwritten ([1-9]" &&
		! says 'no thread has come by' && all_accounted 20001 &&
		ends 0 env JUMPFUNC_AGENT_WAYS=jump "$tool" run -e tiny -e rare "$tmp/silent" 1 &&
		says "'tiny' matches silent:tiny, which was not recorded: " && ! says 'no thread has come by' &&
		# Also beside others that are recorded.
		ends 0 env JUMPFUNC_AGENT_WAYS=jump "$tool" run -e 'silent:[rt][ai]*' "$tmp/silent" 1 &&
		says "matches 1 probe that could not be switched on, silent:tiny the first: " && all_accounted 1 &&
		ends 0 "$tool" run -e hot "$tmp/silent" 0 && says "'hot' matches silent:hot, but no thread has come by"
}

# babeltrace2 gets the names of events with records, and the text is the same. If the process goes on, babeltrace2 gets all names.
many_names()
{
	mkdir -p "$tmp/bin"
	seq 2000 | awk '{ printf ".text\n.globl f%d\n.type f%d,@function\n.p2align 4\nf%d: movl $1,%%eax\nret\n.size f%d, .-f%d\n", $1, $1, $1, $1, $1 }
		END { print ".section .note.GNU-stack,\"\",@progbits" }' > "$tmp/names.s"
	cat > "$tmp/names.c" <<-'END'
	#include <stdio.h>
	#include <sys/wait.h>
	#include <unistd.h>
	int f7(void), f1999(void);
	int main(int argc, char **argv)
	{
		f7();
		if (!fork()) {
			f1999();
			f7();
			fflush(stdout);
			_exit(0);
		}
		wait(NULL);
		puts("ready");
		fflush(stdout);
		return argc > 1 ? getchar() != EOF : argv[0] == NULL;
	}
	END
	printf '#!/bin/sh\nfor one; do [ ! -d "$one" ] || find "$one/" -name metadata -exec cat {} + | grep -c "name = .names:"; done\n' > "$tmp/bin/babeltrace2"
	chmod +x "$tmp/bin/babeltrace2"
	${CC:-cc} -O1 -o "$tmp/names" "$tmp/names.c" "$tmp/names.s" && ends 0 "$tool" run --no-report -o "$tmp/many" -e 'names:f[0-9]*' "$tmp/names" || return 1
	ends 0 "$tool" script "$tmp/many" && [ "$(shown names:f7)" = 2 ] && [ "$(shown names:f1999)" = 1 ] && babeltrace2 "$tmp/many" > "$tmp/all" &&
		cmp "$tmp/out" "$tmp/all" && ends 0 env PATH="$tmp/bin:$PATH" "$tool" script "$tmp/many" &&
		[ "$(sort "$tmp/out" | tr '\n' ' ')" = '1 2 ' ] && none_left shown || return 1
	rm -rf "$tmp/many"
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	: > "$tmp/program"
	"$tool" run --no-report -o "$tmp/many" -e 'names:f[0-9]*' "$tmp/names" stay < "$tmp/in" > "$tmp/program" 2>&1 &
	program=$!
	exec 9> "$tmp/in"
	until grep -q '^ready' "$tmp/program"; do kill -0 "$program" || return 1; sleep 0.05; done
	ends 0 env PATH="$tmp/bin:$PATH" "$tool" script "$tmp/many" && [ "$(sort -n "$tmp/out" | tr '\n' ' ')" = '2 2000 ' ]
	rc=$?
	end_program
	return "$rc"
}

# The program is asked to end, not the tool left without it.
run_term()
{
	"$tool" run -e small sh -c 'trap "echo ended; exit 3" TERM; : > "$1"; while :; do sleep 0.05; done' sh "$tmp/started" \
		> "$tmp/out" 2> "$tmp/err" &
	running=$!
	awaits [ -e "$tmp/started" ] || return 1
	rm "$tmp/started"
	kill "$running"
	wait "$running"
	[ $? = 3 ] && grep -q ended "$tmp/out"
}

# A program that does not end. The tool ends if it is asked again, and says where the trace is.
run_term_twice()
{
	for sig in TERM INT HUP; do
		# A shell has programs in the background ignore ^C, and nohup has them ignore SIGHUP.
		env --default-signal=INT,HUP "$tool" run -o "$tmp/twice" -e small sh -c 'trap "" TERM INT HUP; "$2" 1; : > "$1"; while [ -e "$1" ]; do sleep 0.05; done' sh \
			"$tmp/started" "$build/trace_events" > "$tmp/out" 2> "$tmp/err" &
		running=$!
		awaits [ -e "$tmp/started" ] || return 1
		# Of the first two at once, as timeout(1) sends them, the second is no other request.
		began=$(date +%s%N)
		kill "-$sig" "$running"
		kill "-$sig" "$running"
		sleep 0.5
		# On a machine that stands still for a second they are two requests.
		kill -0 "$running" 2> /dev/null || [ $(($(date +%s%N) - began)) -ge 1000000000 ] || { echo "SIG$sig: the second one at once ended it"; return 1; }
		tries=0
		while kill "-$sig" "$running" 2> /dev/null && [ "$tries" -lt 60 ]; do
			sleep 0.5
			tries=$((tries + 1))
		done
		[ "$tries" -lt 60 ] || kill -KILL "$running"
		wait "$running"
		rc=$?
		rm "$tmp/started"
		cat "$tmp/err"
		[ "$(kill -l "$rc")" = "$sig" ] || { echo "SIG$sig: status $rc"; return 1; }
		says "a second signal: .*the trace is in $tmp/twice" && ends 0 "$tool" script "$tmp/twice" && says jftest:small || return 1
		rm -r "$tmp/twice"
	done
}

# Also before there is a program to ask: it is not begun.
run_term_early()
{
	cat > "$tmp/late.c" <<-'END'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <signal.h>
	#include <stdlib.h>
	#include <unistd.h>
	/* For the tool, in place of libc's: says that it is here, and waits. */
	int execv(const char *file, char *const *argv)
	{
		close(creat(getenv("STARTED"), 0600));
		sleep(1);
		return execve(file, argv, environ);
	}
	int execvp(const char *file, char *const *argv) { return execv(file, argv); }
	END
	${CC:-cc} -shared -fPIC -o "$tmp/late.so" "$tmp/late.c" || return 1
	for how in term nohup; do
		(
			[ "$how" = term ] || trap '' HUP INT
			STARTED=$tmp/started LD_PRELOAD=$tmp/late.so exec "$tool" run -e small /bin/sh -c \
				'kill -HUP $$; kill -INT $$; exit 3' > "$tmp/out" 2> "$tmp/err"
		) &
		running=$!
		awaits [ -e "$tmp/started" ] || return 1
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
	ends 124 env PATH="$tmp/bin" "$tool" run -e small trace_events && says 'apt install babeltrace2' && says 'the trace is in' &&
		left=$(sed -n 's/.*jf-trace: the trace is in //p' "$tmp/err") && rm -r "$left"
}

# A child records while babeltrace2 begins: the last line counts all that is shown.
run_goes_on()
{
	mkdir -p "$tmp/slow" && cat > "$tmp/slow/babeltrace2" <<-END && chmod +x "$tmp/slow/babeltrace2" && cat > "$tmp/goes_on.c" <<-'END' || return 1
	#!/bin/sh
	: > $tmp/slow/asked
	until [ -e $tmp/slow/told ]; do sleep 0.05; done
	exec $(command -v babeltrace2) "\$@"
	END
	#define CREATE_TRACE_POINTS
	#include "events.h"
	#include <fcntl.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int i;

		for (i = 0; i < 10; i++)
			jf_trace_small(0, (u64)i);
		if (fork())
			return argc != 3;
		for (i = 0; i < 6000 && access(argv[1], F_OK); i++)
			usleep(10000);
		for (i = 0; i < 20; i++)
			jf_trace_small(1, (u64)i);
		return creat(argv[2], 0600) < 0;
	}
	END
	${CC:-cc} -O1 -I "$here" -I "$here/../../.." -I "$here/../../../include" -o "$tmp/goes_on" "$tmp/goes_on.c" -L "$build" -ljumpfunc-trace -ljumpfunc \
		-Wl,-rpath,"$build" || return 1
	ends 0 env PATH="$tmp/slow:$PATH" "$tool" run -e jftest:small -- "$tmp/goes_on" "$tmp/slow/asked" "$tmp/slow/told" &&
		[ "$(shown jftest:small)" = 30 ] && says 'records 30, overwritten 0, discarded 0'
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
	ends 0 "$tool" list -e 'python:*' "$(readlink -f /usr/bin/python3)" && says '^note *- *python:line .*arguments 8@' && [ "$(wc -l < "$tmp/out")" -ge 8 ]
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
		looks "$tool" stats "$pid" && says '^recording 1$' && says "^folder $folder$" &&
		ends 0 "$tool" stop "$pid" && ends 1 "$tool" stop "$pid" && says 'records nothing' &&
		ends 0 babeltrace2 "$folder" && says jftest:counted
}

record_options()
{
	ends 0 "$tool" record "$pid" -o "$tmp/here" --packets 2 --packet-size 4096 --clock monotonic &&
		says "^$tmp/here/controlled-$pid-1$" && ends 1 "$tool" record 1 -o "$tmp/nowhere" && [ ! -e "$tmp/nowhere" ] &&
		ends 1 "$tool" record "$pid" -o "$tmp/no/where" && says 'no/where: this folder cannot be made: No such file' && until_recorded 1 &&
		looks "$tool" stats "$pid" && says '^packets 2$' && [ "$(stat -c %s "$tmp/here/controlled-$pid-1/r0-0")" = 4096 ]
}

snapshots()
{
	ends 0 "$tool" record "$pid" -e small || return 1
	folder=$(head -1 "$tmp/out")
	until_recorded 100 || return 1
	looks "$tool" snapshot "$pid" "$tmp/snap" && says '^damaged 0$' && looks "$tool" script "$tmp/snap" && says jftest:small &&
		ends 1 "$tool" snapshot "$pid" "$tmp/snap" && says 'there already' &&
		looks "$tool" snapshot "$folder" "$tmp/snap2" && looks "$tool" script "$pid" && says jftest:small &&
		looks "$tool" script --json "$pid" && python3 -c 'import json, sys
everything = json.load(sys.stdin)["traceEvents"]
events = [e for e in everything if e["ph"] == "i" and e["name"] != "jumpfunc:lost"]
names = {e["name"]: e["args"]["name"] for e in everything if e["ph"] == "M"}
assert len(events) > 50 and all(e["name"] == "jftest:small" and e["pid"] == int(sys.argv[1]) for e in everything if e["ph"] == "i" and e in events)
assert all(a["ts"] <= b["ts"] for a, b in zip(events, events[1:])) and "nr" in events[0]["args"]
assert names["process_name"] == "controlled" and names["thread_name"] == "controlled", names' "$pid" < "$tmp/out" &&
		none_left report
}

# The output is a pipe that is full. ^C ends both processes of the report, and its copy of the trace goes.
report_ended()
{
	ends 0 "$tool" record "$pid" -e small || return 1
	until_recorded 100 || return 1
	mkfifo "$tmp/unread"
	exec 8<> "$tmp/unread"
	head -c 65536 /dev/zero >&8
	env --default-signal=INT timeout -k 20 -s INT 2 "$tool" report "$pid" >&8 2> "$tmp/err"
	rc=$?
	exec 8>&-
	[ "$rc" = 124 ] && none_left report || { echo "status $rc"; cat "$tmp/err"; return 1; }
}

top()
{
	ends 0 "$tool" record "$pid" -e small counted || return 1
	folder=$(head -1 "$tmp/out")
	looks "$tool" top -i 0.3 -n 6 "$pid" && says 'jftest:small' && says 'jftest:counted' || return 1
	# One of five is counted. On a machine that is loaded the thread may not run for a while: not in each interval.
	awk '$3 == "jftest:small" { s = $1; s_at++ } $3 == "jftest:counted" { c = $1; c_at++ }
		s_at == c_at && c > 0 && s > 2 * c && s < 8 * c { good++ } END { print s, c; exit !good }' "$tmp/out" && looks "$tool" top -i 0.1 -n 1 "$folder"
}

has_turned() { [ -e "$(echo "$tmp"/turning/turns-*-1/r1-0)" ]; }

# A thread whose records are overwritten before they are seen says nothing of another one's: one record of "small" there is
# for 10000 of "counted", by turns.
top_threads()
{
	cat > "$tmp/turns.c" <<-'END'
	#define CREATE_TRACE_POINTS
	#include "events.h"
	#include <pthread.h>
	#include <sched.h>
	#include <stdio.h>
	#include <unistd.h>
	static int turn;
	static void *slow(void *arg)
	{
		for (u64 i = 0;; i++) {
			while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 1)
				sched_yield();
			jf_trace_small(0, i);
			__atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
		}
		return arg;
	}
	int main(void)
	{
		pthread_t t;
		u64 i, k;

		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		if (pthread_create(&t, NULL, slow, NULL))
			return 1;
		for (k = 0;; k++) {
			for (i = 0; i < 10000; i++)
				jf_trace_counted(1, k * 10000 + i, 100);
			__atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
			while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE))
				sched_yield();
		}
	}
	END
	${CC:-cc} -O1 -I "$here" -I "$here/../../.." -I "$here/../../../include" -o "$tmp/turns" "$tmp/turns.c" -L "$build" -ljumpfunc-trace -ljumpfunc \
		-Wl,-rpath,"$build" -pthread || return 1
	mkdir "$tmp/turning" && JUMPFUNC_TRACE='jftest:*' JUMPFUNC_TRACE_DIR=$tmp/turning "$tmp/turns" > "$tmp/program" &
	program=$!
	awaits grep -qs '^ready' "$tmp/program" && awaits has_turned || return 1
	ends 5 "$tool" top -i 1 -n 3 "$(echo "$tmp"/turning/turns-*-1)"
	as_told=$?
	kill "$program"
	wait "$program" 2> /dev/null
	program=
	rm -r "$tmp/turning"
	# A look comes in the midst of a turn.
	[ "$as_told" = 0 ] && says '  THREAD$' && says '[0-9] turns \*$' &&
		awk '$3 == "jftest:small" { s += $1 } $3 == "jftest:counted" { c += $1 } END { print s, c; exit !(s > 0 && c > 5000 * s && c < 20000 * s) }' "$tmp/out"
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
	wait "$running"
	rc=$?
	{ [ "$rc" = 0 ] || [ "$rc" = 5 ]; } && says 'has ended; its trace is in'
}

killed()
{
	ends 0 "$tool" record "$pid" -e '*' || return 1
	folder=$(head -1 "$tmp/out")
	until_recorded 1000 || return 1
	kill -9 "$pid"
	wait "$program" 2> /dev/null
	[ -S "$sockets/control-$pid$inner" ] && ends 1 "$tool" stats "$pid" && says 'no process' && [ ! -e "$sockets/control-$pid$inner" ] &&
		looks "$tool" recover "$folder" "$tmp/whole" && says '^damaged 0$' && ! says '^records 0$' &&
		ends 0 babeltrace2 "$tmp/whole" && ends 0 babeltrace2 "$folder" && rm -r "$tmp/whole"
}

# What is left of processes that were killed goes with a list.
stale()
{
	kill -9 "$pid"
	wait "$program" 2> /dev/null
	[ -S "$sockets/control-$pid$inner" ] && ends 4 "$tool" list && [ ! -e "$sockets/control-$pid$inner" ]
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
		ends 0 "$tool" stats "$pid" && says '^recording 0$' && looks "$tool" stats "$child" && says '^recording 1$'
}

# Its descriptors are other files now. None is taken for the socket.
closed()
{
	ends 0 "$tool" stats "$pid" && ends 0 "$tool" stats "$pid" && ends 0 "$tool" record "$pid" -e small
}

executed() { ends 0 "$tool" stats "$pid" && says '^program controlled$'; }

hidden()
{
	ends 1 "$tool" stats "$pid" && says 'has no control socket' && [ ! -e "$sockets/control-$pid$inner" ] &&
		ends 0 "$tool" list "$pid" -e jftest:small && says '^event *- *jftest:small'
}

# A process that cannot answer: the tool says so at once.
stopped()
{
	kill -STOP "$pid"
	for command in stats list stop record top count; do
		ends 1 timeout 10 "$tool" "$command" -p "$pid" && says "is stopped, and cannot answer: kill -CONT $pid" || { kill -CONT "$pid"; return 1; }
	done
	kill -CONT "$pid"
	ends 0 "$tool" stats "$pid" && says '^recording 0$'
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

# A program that begins as root and then is another user's, or has another root: it goes on, and so do its children; and
# root reaches it.
leaves_root()
{
	cat > "$tmp/leaves.c" <<-'END'
	#define _GNU_SOURCE
	#define CREATE_TRACE_POINTS
	#include "events.h"
	#include <fcntl.h>
	#include <grp.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		if (strchr(argv[1], 'f') && fork()) {
			int s;

			wait(&s);
			return s ? 1 : 0;
		}
		if (!strchr(argv[1], 'f'))
			jf_trace_small(0, 0);
		/* As daemons do; then the library opens them again, by their names. */
		for (int i = 3; strchr(argv[1], 'd') && i < 1024; i++)
			close(i);
		if (strchr(argv[1], 'r') && (chdir("/proc/self/fdinfo") || chroot(".")))
			return 3;
		if (strchr(argv[1], 'u') && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			return 2;
		for (int i = 1; i < 6000; i++)
			jf_trace_small(0, (u64)i);
		if (argc > 2) {
			printf("ready %d\n", (int)getpid());
			fflush(stdout);
			pause();
		}
		return 0;
	}
	END
	${CC:-cc} -O1 -I "$here" -I "$here/../../.." -I "$here/../../../include" -o "$tmp/leaves" "$tmp/leaves.c" -L "$build" -ljumpfunc-trace -ljumpfunc \
		-Wl,-rpath,"$build" || return 1
	for how in - u r ru fu fr fru d df; do
		case $how in *f*) num=5999 ;; *) num=6000 ;; esac
		ends 0 "$tool" run -e small "$tmp/leaves" "$how" && all_accounted "$num" && [ "$(shown jftest:small)" = "$num" ] ||
			{ echo "how: $how"; return 1; }
	done
	# To change its text it opens its file, as that user.
	chmod 755 "$tmp" "$tmp/leaves"
	: > "$tmp/program"
	"$tool" run --no-report -o "$tmp/left" -e small "$tmp/leaves" fu stay > "$tmp/program" 2>&1 &
	running=$!
	until grep -q '^ready' "$tmp/program"; do kill -0 "$running" || return 1; sleep 0.05; done
	pid=$(sed -n 's/^ready //p' "$tmp/program")
	ends 0 "$tool" stats "$pid" && says '^records 5999$' && ends 0 "$tool" list "$pid" -e small && says '^event *on' &&
		ends 0 "$tool" script "$tmp/left" && [ "$(shown jftest:small)" = 5999 ] && ends 0 "$tool" disable "$pid" small
	as_told=$?
	kill "$pid"
	wait "$running"
	[ "$as_told" = 0 ] && ls "$tmp/left/leaves-$pid"-*/metadata || as_told=1
	rm -r "$tmp/left"
	return "$as_told"
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
	mv "$sockets/control-$other$inner" "$sockets/control-$asleep"
	ln -s "control-$asleep" "$sockets/control-$other$inner"
	ends 1 "$tool" stats "$asleep" && says 'Operation not permitted' && ends 1 "$tool" stats "$other" && says 'Operation not permitted'
	as_told=$?
	kill "$asleep"
	mv "$sockets/control-$asleep" "$sockets/control-$other$inner"
	return "$as_told"
}

# in_name_space NR OPTION... -- COMMAND...: the program in a name space of processes, where its number is 1; $pid is that outside
in_name_space()
{
	nr=$1
	shift
	mkfifo "$tmp/in$nr"
	: > "$tmp/program$nr"
	env JUMPFUNC_TRACE_CONTROL=1 unshare -pf "$@" "$build/controlled" < "$tmp/in$nr" > "$tmp/program$nr" 2>&1 &
	tries=0
	outside=$!
	[ "$nr" = 1 ] && exec 7> "$tmp/in1" || exec 8> "$tmp/in2"
	until grep -q '^ready' "$tmp/program$nr"; do
		tries=$((tries + 1))
		[ "$tries" -lt 200 ] || { cat "$tmp/program$nr"; return 1; }
		sleep 0.05
	done
	pid=$(cat "/proc/$outside/task/$outside/children")
	pid=${pid% }
}

# Two processes of the same number share a folder: each is reached by its number here, and each has its own trace.
name_spaces()
{
	in_name_space 1 && one=$pid && in_name_space 2 && grep -qx 'ready 1' "$tmp/program1" && grep -qx 'ready 1' "$tmp/program2" &&
		ends 0 "$tool" list && says "^$one " && says "^$pid " && ends 0 "$tool" record "$one" -e '*' &&
		ends 0 "$tool" stats "$pid" && says '^recording 0$' && looks "$tool" stats "$one" && says '^recording 1$' &&
		ends 0 "$tool" record "$pid" -e '*' && looks "$tool" report "$one" && says 'jftest:' && looks "$tool" report "$pid" && says 'jftest:'
	rc=$?
	exec 7>&- 8>&-
	wait
	rm "$tmp/in1" "$tmp/in2"
	return "$rc"
}

# One that sees other files, as that of a container, under the same names.
other_mounts()
{
	# shellcheck disable=SC2016 # the inner shell has them
	in_name_space 1 -m sh -c 'mount -t tmpfs -o mode=700 none "$0" && exec "$@"' "$XDG_RUNTIME_DIR" &&
		[ ! -e "$sockets/control-1" ] && ends 0 "$tool" record "$pid" -e '*' && looks "$tool" stats "$pid" &&
		says '^recording 1$' && looks "$tool" report "$pid" && says 'jftest:'
	rc=$?
	exec 7>&-
	wait
	rm "$tmp/in1"
	return "$rc"
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
        assert 0 <= tool.returncode < 6, (answer, words, tool.returncode, said)
        assert b'\x1b' not in said, said
os.unlink(path)
END
}

# --- completion --------------------------------------------------------------------------

# The typed text, and then the expected results of it.
types()
{
	printf '%s\n' "$1" >> "$tmp/lines"
	shift
	printf '%s\n' "$*" | tr ' ' '\t' >> "$tmp/wanted"
}

# They are typed into $shell, as it is where jf-trace is installed.
typed()
{
	case $shell in
	bash) echo ". $here/../../trace/tool/jf-trace.bash" ;;
	zsh) echo "fpath=($here/../../trace/tool \$fpath)" ;;
	fish) echo "source $here/../../trace/tool/jf-trace.fish" ;;
	esac > "$tmp/setup"
	# Other processes of this user can be controlled as well, and have numbers that begin alike.
	mkdir -p "$tmp/only"
	printf '#!/bin/sh\n[ "$*" != list ] || exec sh -c "%s list | grep ^%s\\ "\nexec %s "$@"\n' "$tool" "$pid" "$tool" > "$tmp/only/jf-trace"
	chmod +x "$tmp/only/jf-trace"
	(cd "$tmp/typing" && HOME=$tmp PATH=$tmp/only:$PATH LC_ALL=C.UTF-8 python3 -B "$here/complete.py" "$shell" "$tmp/setup" < "$tmp/lines" > "$tmp/became") &&
		[ -s "$tmp/wanted" ] && diff "$tmp/wanted" "$tmp/became" && [ -z "$(find "$tmp/typing" -type f)" ]
}

# Commands, values of options, and events of a process, in the folder with nothing but one other folder.
completes_words()
{
	types 'jf-trace re?' record recover report
	types 'jf-trace recor' jf-trace record
	types 'jf-trace run --mode ?' discard keep overwrite
	types 'jf-trace run --clock m' jf-trace run --clock monotonic
	types 'jf-trace stats ?' "$pid"
	types 'jf-trace stop -p ' jf-trace stop -p "$pid"
	types 'jf-trace stop --pid=' jf-trace stop "--pid=$pid"
	types 'jf-trace record --every 10 ' jf-trace record --every 10 "$pid"
	types "jf-trace enable $pid jftest:sm" jf-trace enable "$pid" jftest:small
	types "jf-trace enable $pid jftest:s jftest:sm" jf-trace enable "$pid" jftest:s jftest:small
	types "jf-trace disable -p $pid -e jftest:sm" jf-trace disable -p "$pid" -e jftest:small
	types "jf-trace record --pid=$pid --every 10 jftest:sm" jf-trace record "--pid=$pid" --every 10 jftest:small
	types "jf-trace time --max-depth 1 -p $pid -e jftest:sm" jf-trace time --max-depth 1 -p "$pid" -e jftest:small
	types 'jf-trace run -e ' jf-trace run -e
	types "jf-trace list $build/trace_ev" jf-trace list "$build/trace_events"
	types 'jf-trace script folder' jf-trace script folder/
	types "jf-trace run $build/trace_ev" jf-trace run "$build/trace_events"
	typed
}

# The help has the same commands and options, and no other one.
completes_options()
{
	"$tool" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' > "$tmp/commands"
	# shellcheck disable=SC2046
	types 'jf-trace ?' $(sort "$tmp/commands")
	while read -r command; do
		# shellcheck disable=SC2046
		types "jf-trace $command --?" $( { echo --help; "$tool" "$command" --help | sed -n '/^options:/,/^$/s/^  \(-.*\)/\1/p' | sed 's/  .*//' | grep -oE -- '--[a-z-]+'; } | LC_ALL=C sort)
	done < "$tmp/commands"
	typed
}

# Functions can have any name. The shell has to take the whole name as one word, and to execute nothing.
odd_names()
{
	cat <<- 'END'
		tick`id>made`x
		we$HOME
		pa$PATH
		qu"ote
		ap'ostrophe
		semi;colon
		back\slash
		star*x
		co:lon::x
		eq=al
		hash#x
		am&p
		pipe|x
		bra[ck]
		~home
		!bang
		ümlaut
	END
}

# A program with functions of these names. No compiler takes them, so objcopy gives them.
build_odd()
{
	{
		echo '#include <unistd.h>'
		odd_names | awk '{ printf "int odd%d(void); __attribute__((noinline)) int odd%d(void) { __asm__(\"\"); return 1; }\n", NR, NR; all = all " + odd" NR "()" }
			END { print "int main(void) { return pause()" all "; }" }'
	} > "$tmp/odd.c"
	odd_names | awk '{ printf "--redefine-sym\nodd%d=%s\n", NR, $0 }' | tr '\n' '\0' > "$tmp/odd.names"
	"${CC:-cc}" -O1 -c -o "$tmp/odd.o" "$tmp/odd.c" && xargs -0 -a "$tmp/odd.names" sh -c 'objcopy "$@" "$0"' "$tmp/odd.o" && "${CC:-cc}" -o "$tmp/odd" "$tmp/odd.o"
}

completes_names()
{
	build_odd || return 1
	"$tmp/odd" &
	odd=$!
	odd_names > "$tmp/odd.list"
	while IFS= read -r function; do
		types "jf-trace enable $odd odd:$(printf %.2s "$function")" jf-trace enable "$odd" "odd:$function"
	done < "$tmp/odd.list"
	types "jf-trace enable $odd 'odd:we" jf-trace enable "$odd" 'odd:we$HOME'
	types "jf-trace enable $odd \"odd:we" jf-trace enable "$odd" 'odd:we$HOME'
	types "jf-trace enable $odd odd:we\\\$H" jf-trace enable "$odd" 'odd:we$HOME'
	typed
	rc=$?
	kill "$odd"
	return "$rc"
}

# What the manual says in one line has the words that one looks for.
apropos_finds()
{
	for word in tracing USDT function; do
		grep -hA1 -E '^(\.SH NAME|# NAME)' "$here"/../../man/jf-trace.1.in "$here"/../../man/libjumpfunc-agent.7.md > "$tmp/names"
		[ "$(grep -c "$word" "$tmp/names")" = 2 ] || { echo "no $word"; cat "$tmp/names"; return 1; }
	done
}

# --- conventions ---------------------------------------------------------------------------

# An option that there is not: one line, which names it and says where to read on.
one_line()
{
	ends 2 "$tool" && [ "$(wc -l < "$tmp/err")" = 1 ] && ends 2 "$tool" dance && [ "$(wc -l < "$tmp/err")" = 1 ] || return 1
	for command in $("$tool" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'); do
		ends 2 "$tool" "$command" --frob && [ "$(wc -l < "$tmp/err")" = 1 ] && says "$command has no option '--frob': jf-trace $command --help" || return 1
	done
	ends 2 "$tool" run --mode x true && says "'x' is no value of --mode, which takes overwrite, discard or keep" &&
		ends 2 "$tool" run -p 1 true && says 'run starts a program' || return 1
	for words in "run --frob true" "top -x 1" "recover -e x /" "stop --mode keep 1" "top -i" "run --clock sun true" "run -o"; do
		# shellcheck disable=SC2086
		ends 2 "$tool" $words && [ "$(wc -l < "$tmp/err")" = 1 ] && [ ! -s "$tmp/out" ] || { echo "$words"; return 1; }
	done
}

# The same of jf-recover, and no new folder is left if there was no trace.
recover_says()
{
	for words in "" "--frob" "one two three"; do
		# shellcheck disable=SC2086
		ends 2 "$build/jf-recover" $words && [ "$(wc -l < "$tmp/err")" = 1 ] && [ ! -s "$tmp/out" ] && says 'jf-recover FROM' || { echo "$words"; return 1; }
	done
	ends 0 "$build/jf-recover" --version && says "^jf-recover $("$here/../../../packaging/version")$" &&
		ends 1 "$build/jf-recover" /etc "$tmp/of-etc" && says 'no trace' && [ ! -e "$tmp/of-etc" ] &&
		ends 1 "$tool" recover /etc "$tmp/of-etc" && [ ! -e "$tmp/of-etc" ]
}

# -p is the process, for each command of one.
with_p()
{
	ends 0 "$tool" record -e small -p "$pid" && ends 0 "$tool" list -p "$pid" && says '^event *on *jftest:small' &&
		ends 0 "$tool" enable -p "$pid" counted && ends 0 "$tool" disable --pid="$pid" counted && until_recorded 10 &&
		looks "$tool" stats -p "$pid" && looks "$tool" top -n 1 -i 0.1 -p "$pid" && looks "$tool" snapshot -p "$pid" "$tmp/with-p" &&
		looks "$tool" script -p "$pid" && says jftest:small && ends 0 "$tool" stop -p "$pid" && rm -r "$tmp/with-p"
}

# What was recorded is known after the end, too.
stats_stopped()
{
	ends 0 "$tool" record "$pid" -e small && folder=$(head -1 "$tmp/out") && until_recorded 100 && ends 0 "$tool" stop "$pid" &&
		looks "$tool" stats "$pid" && says '^recording 0$' && says "^stopped $folder$" && [ "$(sed -n 's/^records //p' "$tmp/out")" -ge 100 ] &&
		recorded=$(sed -n 's/^records //p' "$tmp/out") && looks "$tool" recover "$folder" && says "^records $recorded$" &&
		ends 1 "$tool" script "$pid" && says "records nothing now; what was recorded is in $folder$"
}

# A second run with the same -o keeps the traces of the one before, and nothing else is moved.
rotates()
{
	for rounds in 1 2 3; do
		ends 0 "$tool" run --no-report -o "$tmp/turn" -e small "$build/trace_events" "$rounds" || return 1
	done
	ends 0 "$tool" recover "$tmp/turn" && says '^records 3$' && ends 0 "$tool" recover "$tmp/turn.old" && says '^records 2$' || return 1
	echo mine > "$tmp/turn/mine"
	ends 125 "$tool" run -o "$tmp/turn" -e small "$build/trace_events" 1 && says 'no folder of traces' && [ -e "$tmp/turn/mine" ] &&
		rm "$tmp/turn/mine" && echo mine > "$tmp/turn.old/mine" && ends 125 "$tool" run -o "$tmp/turn" -e small "$build/trace_events" 1 &&
		[ -e "$tmp/turn.old/mine" ] && mkdir "$tmp/nothing" && ends 125 "$tool" run -o "$tmp/nothing" true && rm -r "$tmp/turn" "$tmp/turn.old" "$tmp/nothing"
}

# A folder of several traces is recovered as it was named.
# full WORD...: an output that cannot be written is an error, which is said once.
full()
{
	"$@" > /dev/full 2> "$tmp/err"
	rc=$?
	[ "$rc" = 1 ] && [ "$(grep -c 'the output cannot be written' "$tmp/err")" = 1 ] && return 0
	echo "$*: status $rc"
	cat "$tmp/err"
	return 1
}

# A full disk: of a text that is shorter than a buffer, and of a long one.
cannot_write()
{
	ends 0 "$tool" run --no-report -o "$tmp/full" -e small "$build/trace_events" 7 || return 1
	for words in --help --version 'list --help' "list $build/trace_events" "script $tmp/full" "script --json $tmp/full" \
		"report $tmp/full" "report --json $tmp/full" "top $tmp/full -n 1" "recover $tmp/full"; do
		# shellcheck disable=SC2086
		full "$tool" $words || return 1
	done
	for words in --help --version "$tmp/full"/*; do
		full "$build/jf-recover" "$words" || return 1
	done
}

recovers_all()
{
	# shellcheck disable=SC2016
	ends 0 "$tool" run --no-report -o "$tmp/both" -e small sh -c '"$1" 2; "$1" 3' sh "$build/trace_events" &&
		ends 0 "$tool" recover "$tmp/both" && says '^records 5$' && ends 0 "$tool" recover "$tmp/both" "$tmp/both-whole" && says '^records 5$' &&
		ends 0 "$tool" script "$tmp/both-whole" && [ "$(shown jftest:small)" = 5 ] &&
		ends 1 "$tool" recover "$tmp/both" "$tmp/both-whole" && says 'there already' && rm -r "$tmp/both" "$tmp/both-whole"
}

# alike COMMAND...: on the folder that run -o or record -o was given, and on the trace in it: the same is shown.
alike()
{
	for what in "$at" "$at"/*; do
		"$tool" "$@" "$what" > "$tmp/out" 2> "$tmp/err"
		echo "status $?" >> "$tmp/out"
		cat "$tmp/out" "$tmp/err"
		[ "$what" = "$at" ] && cp "$tmp/out" "$tmp/of-folder"
	done
	diff "$tmp/of-folder" "$tmp/out" > "$tmp/differ" || { echo "$* differs"; cat "$tmp/differ"; return 1; }
	grep -q "$wanted" "$tmp/out"
}

# What each command says of a folder with a trace, which is the argument before the last one of those that copy.
folders_alike()
{
	at=$tmp/alike
	rm -rf "$at"*
	mkdir -p "$tmp/nothing"
	ends 0 "$tool" run --no-report -o "$at" -e small "$build/trace_events" 7 || return 1
	wanted=jftest:small
	for command in report 'report --events' 'report --json' script 'script --json'; do
		# shellcheck disable=SC2086
		alike $command || return 1
	done
	wanted='^records 7$' && alike recover && wanted='status 4' && alike count && alike time && alike report --summary || return 1
	for command in recover snapshot; do
		for what in "$at" "$at"/*; do
			rm -rf "$at-copy"
			ends 0 "$tool" "$command" "$what" "$at-copy" && says '^records 7$' && ends 0 "$tool" report "$at-copy" && says 'jftest:small$' || return 1
		done
	done
	ends 1 "$tool" count "$tmp/nothing" && says 'no trace' || return 1
	for command in report top script recover 'snapshot -o /dev/none'; do
		# shellcheck disable=SC2086
		ends 1 "$tool" $command "$tmp/nowhere" && ends 1 "$tool" $command "$tmp/nothing" && says 'no trace' || return 1
	done
	rm -r "$at" "$at-copy"
}

# Two processes that record into one folder: top has the events of both, and of one that comes later.
top_of_folder()
{
	at=$tmp/alike
	rm -rf "$at"
	ends 0 "$tool" record "$pid" -o "$at" -e small && JUMPFUNC_TRACE=counted JUMPFUNC_TRACE_DIR=$at "$build/trace_events" 50 &&
		looks "$tool" top -i 0.3 -n 5 "$at" && says '  jftest:small$' || return 1
	"$tool" top -i 0.3 -n 20 "$at" > "$tmp/tops" 2> "$tmp/err" 9>&- &
	running=$!
	awaits grep -q 'jftest:small' "$tmp/tops" && JUMPFUNC_TRACE=kinds JUMPFUNC_TRACE_DIR=$at "$build/trace_events" 50 || return 1
	awaits grep -q jftest:kinds "$tmp/tops" || return 1
	kill "$running"
	wait "$running"
	ends 0 "$tool" stop "$pid" && rm -r "$at"
}

# --- nothing is left -------------------------------------------------------------------------

# fails STATUS TEXT COMMAND...: and the process records nothing after it, into no folder.
fails()
{
	status=$1
	text=$2
	shift 2
	ends "$status" "$tool" "$@" && says "$text" && ends 0 "$tool" stats "$pid" && says '^recording 0$' && none_left "controlled-$pid" && none_left report ||
		{ echo "$*"; return 1; }
}

# Of each command that makes a folder in a process, each way to fail after that.
nothing_stays()
{
	for command in count record; do
		fails 1 'do not have all names\|nothing that matches.*has all its names' "$command" -p "$pid" -e small --if 'nowhere > 3' || return 1
	done
	fails 1 'nothing that matches.*has all its names' record -p "$pid" -o "$tmp/new" -e small --if 'nowhere > 3' && [ ! -e "$tmp/new" ] || return 1
	for command in count top; do
		fails 4 "no probe of process $pid matches" "$command" -p "$pid" -e 'no:such' || return 1
	done
	ends 1 "$tool" count -p "$pid" -o "$tmp/nowhere/file" -e small && none_left "controlled-$pid" || return 1
	# One that matches later is waited for.
	ends 4 "$tool" record -p "$pid" -e 'no:such' && ends 0 "$tool" stats "$pid" && says '^recording 1$' && ends 0 "$tool" stop "$pid" &&
		rm -r "$sockets/controlled-$pid"-*
}

# The process ends in the midst.
ends_meanwhile()
{
	for command in count top; do
		start_program || return 1
		"$tool" "$command" -p "$pid" -e small > "$tmp/out" 2> "$tmp/err" 9>&- &
		job=$!
		awaits grep -q 'counting\|jftest:small' "$tmp/out" "$tmp/err" || return 1
		end_program
		wait "$job"
		cat "$tmp/out" "$tmp/err"
		! says 'trace is in' > /dev/null && none_left "controlled-$pid" || return 1
	done
}

# The reader of a pipe goes, or a signal comes: the copy of a process's trace goes, too.
report_is_ended()
{
	ends 0 "$tool" record -p "$pid" --packets 64 -e small counted && until_recorded 20000 || return 1
	for command in script 'script --json' 'report --events'; do
		# shellcheck disable=SC2086
		"$tool" $command "$pid" 2> "$tmp/err" | head -n 1 > "$tmp/out"
		none_left report || { echo "$command: a pipe"; return 1; }
		for sig in TERM HUP QUIT; do
			mkfifo "$tmp/slow"
			# shellcheck disable=SC2086
			env --default-signal "$tool" $command "$pid" > "$tmp/slow" 2> "$tmp/err" 9>&- &
			job=$!
			head -n 1 > "$tmp/out" < "$tmp/slow" 9>&- &
			exec 8< "$tmp/slow"
			wait $!
			kill -"$sig" "$job"
			exec 8<&-
			wait "$job"
			rm "$tmp/slow"
			none_left report || { echo "$command: $sig"; return 1; }
		done
	done
	ends 0 "$tool" stop "$pid" && rm -r "$sockets/controlled-$pid"-*
}

# --- disks, damage ---------------------------------------------------------------------------

make_trace() { rm -rf "$tmp/t"; "$tool" run -o "$tmp/t" --no-report -e small "$build/trace_events" 3000 2> /dev/null; trace=$(echo "$tmp"/t/*); }

damaged()
{
	make_trace
	ends 0 "$tool" recover "$trace" "$tmp/whole" && ends 0 "$tool" recover "$tmp/whole" && says '^records 3000$' && says '^damaged 0$' || return 1
	rm -r "$tmp/whole"
	dd if=/dev/urandom of="$trace/r0-0" bs=1 seek=20000 count=40 conv=notrunc 2> /dev/null
	ends 3 "$tool" recover "$trace" "$tmp/whole" && says 'damaged' && ends 0 babeltrace2 "$tmp/whole" || return 1
	rm -r "$tmp/whole"
	: > "$trace/metadata"
	ends 1 "$tool" recover "$trace" && says 'no trace' && ends 1 "$tool" top -n 1 "$trace" && ends 1 "$tool" recover /nowhere &&
		mkdir "$tmp/empty" && ends 1 "$tool" script "$tmp/empty" && says 'no trace' && ends 1 "$tool" recover "$trace" "$tmp/whole" && [ ! -e "$tmp/whole" ]
}

# A process goes on; the damage of its trace is told here, too.
damaged_of_process()
{
	ends 0 "$tool" record "$pid" -e small || return 1
	folder=$(head -1 "$tmp/out")
	until_recorded 100 && ends 0 "$tool" disable "$pid" small || return 1
	dd if=/dev/urandom of="$folder/r0-0" bs=1 seek=1000 count=40 conv=notrunc 2> /dev/null
	ends 3 "$tool" report "$pid" && says '1 packets are damaged' && ends 3 "$tool" script "$pid" && says '1 packets are damaged'
}

# Data that are no packet of this trace are not counted as one.
foreign_packets()
{
	make_trace
	ends 0 "$tool" report "$trace" && says ': records [1-9]' || return 1
	for file in "$trace"/r*; do
		dd if=/dev/zero of="$file" bs=1 seek=4 count=16 conv=notrunc 2> /dev/null
	done
	"$tool" report "$trace" > "$tmp/out" 2> "$tmp/err"
	says ': records 0, overwritten 0, discarded 0'
}

# The library is there, and can make no trace: an error, and no wrong reason for it.
no_trace_made()
{
	# shellcheck disable=SC2016
	ends 124 "$tool" run -e small sh -c 'ulimit -f 1; exec "$1" 10' sh "$build/trace_events" &&
		says 'no trace could be made: File too large' && ! says 'no probe of it matches'
}

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

# Files of random bytes and lengths, in the place of each.
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
			"$tool" $command > "$tmp/out" 2> "$tmp/err"
			rc=$?
			[ "$rc" != 2 ] && [ "$rc" -lt 6 ] || { echo "$command: $rc"; cat "$tmp/err"; return 1; }
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

# A disk that is full from the begin, and not only later: the cause is said, and the program is not executed in vain.
full_folder()
{
	# shellcheck disable=SC2016
	ends 125 unshare -rm sh -c 'mkdir -p "$2"; mount -t tmpfs -o size=16k none "$2"; dd if=/dev/zero of="$2/full" bs=4k 2> /dev/null; "$1" run -e small -o "$2/t" echo ran; rc=$?; ls "$2"; exit "$rc"' \
		sh "$tool" "$tmp/disk" && says 'No space left' && ! says ran && ! says 'more rights' && [ "$(tail -n 1 "$tmp/out")" = full ]
}

file_size() { make_trace; ends 1 sh -c 'ulimit -f 10; "$1" recover "$2" "$3"' sh "$tool" "$trace" "$tmp/copy" && says 'ulimit' && [ ! -e "$tmp/copy" ]; }

# ^C while it copies: the parts go. A file that cannot be read at once makes it last.
interrupted()
{
	make_trace
	for i in $(seq 200); do cp "$trace/r0-0" "$trace/r0-$i"; done
	"$tool" recover "$trace" "$tmp/copy" > "$tmp/out" 2>&1
	du -sb --apparent-size "$tmp/copy" > "$tmp/whole.size"
	rm -rf "$tmp/copy"
	for after in 0.005 0.02 0.05 0.1; do
		"$tool" recover "$trace" "$tmp/copy" > "$tmp/out" 2>&1 &
		running=$!
		sleep "$after"
		kill -TERM "$running"
		wait "$running"
		rc=$?
		# If the signal comes after the copy and before the end of jf-trace, the copy is whole.
		[ "$rc" != 143 ] || ! [ -e "$tmp/copy" ] || ! du -sb --apparent-size "$tmp/copy" | cmp -s - "$tmp/whole.size" || rc=0
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
	check "run of a program called r" run_r
	check "run of a program whose name begins with a dot" run_dot
	check "run -o, report" run_keeps
	check "records that were lost" lost
	check "... of several threads" lost_of_several
	check "mode keep" keeps_all
	check "a report that fails" report_fails
	check "more processes than may be shown at once" many_processes
	check "the clock of several processes" one_clock
	if have python3; then
		check "fields in JSON" json_fields
	else
		skip "fields in JSON" "there is no python3"
	fi
	check "run, and the program is killed" run_killed
	check "run without babeltrace2 installed" no_babeltrace
	check "run of a program whose child goes on" run_goes_on
	check "record, enable, disable, list, stats, stop" with_program control
	check "snapshot, report of a process, JSON" with_program snapshots
	check "^C in a report of a process" with_program report_ended
	check "a process that is killed, and recover" with_program killed
	check "damage" damaged
else
	skip "events as text" "babeltrace2 is not installed"
fi
check "run with options" run_options
check "nothing begins before a probe matches" begins_late
check "run of what is no program, or records nothing" run_fails
if [ "$(uname -m)" = x86_64 ]; then check "programs that cannot be executed" wrong_programs; else skip "programs that cannot be executed" "for another machine"; fi
if [ "$(uname -m)" = x86_64 ]; then check "a program is found in PATH as by execvp()" found_programs; else skip "a program is found in PATH as by execvp()" "for another machine"; fi
check "SIGCHLD is ignored where jf-trace begins" ignored_children
check "run with patterns that match nothing" run_unmatched
if [ -e "$build/libjumpfunc-agent.so" ]; then
	check "run with functions that are not there" run_unmatched_functions
	check "run with functions of which nothing is there" run_silent
	check "a trace of many names" many_names
else
	skip "run with functions that are not there" "libzydis-dev"
fi
check "run is asked to end" run_term
if env --default-signal=INT,HUP true 2> /dev/null; then
	check "... and again" run_term_twice
else
	skip "run is asked to end again" "env --default-signal"
fi
check "... before the program has begun, or when it is not to be" run_term_early
check "list of a file" list_file
check "list of a file without symbols" list_stripped
if grep -q function__entry /usr/bin/python3 2> /dev/null; then
	check "list of notes" list_notes
else
	skip "list of notes" "/usr/bin/python3 has none for functions"
fi
check "list of what is no program" list_no_elf
check "record -o" with_program record_options
check "top" with_program top
check "top of threads of which one records more than is seen" top_threads
check "top ends with the process" with_program top_ends
check "a socket that is left" with_program stale idle
check "probes of a provider" with_program providers provider
check "a forked child" with_program forked fork
check "a program that closes all descriptors" with_program closed close
check "a program that executes another" with_program executed exec
check "a program without control" with_program hidden hidden
check "a process that is stopped" with_program stopped idle
check "a socket of another process" with_program impostor idle
mkdir -p "$tmp/typing/folder"
for shell in bash zsh fish; do
	if ! have "$shell"; then
		skip "completion by $shell" "there is no $shell"
	elif ! have python3; then
		skip "completion by $shell" "there is no python3"
	else
		for part in words options names; do
			: > "$tmp/lines"
			: > "$tmp/wanted"
			check "completion by $shell: $part" with_program "completes_$part" idle
		done
	fi
done
check "names in the manual" apropos_finds
check "an option that there is not" one_line
check 'an output that cannot be written' cannot_write
check "wrong usage of jf-recover" recover_says
check "-p" with_program with_p
check "stats after stop" with_program stats_stopped
check "run -o, again" rotates
check "recover of a folder of traces" recovers_all
check "a folder, and the trace in it, are the same to each command" folders_alike
check "a command that fails leaves no folder" with_program nothing_stays
check "... nor if the process ends" ends_meanwhile
if have babeltrace2; then check "... nor if it is ended" with_program report_is_ended; else skip "... nor if it is ended" "no babeltrace2"; fi
check "top of a folder of traces" with_program top_of_folder
if have python3; then
	check "a hostile process" hostile_process
else
	skip "a hostile process" "there is no python3"
fi
if [ "$(id -u)" = 0 ] && unshare -pfm true 2> /dev/null; then
	check "processes of one number, in two name spaces" name_spaces
	check "a process that sees other files" other_mounts
else
	skip "name spaces" "none may be made here (unshare -pfm), or this is not root"
fi
if [ "$(id -u)" = 0 ] && have setpriv; then
	check "another user" with_program another_user idle
	check "root controls what is another user's" root_may
	check "a program that leaves root's rights, or its root" leaves_root
else
	skip "users" "this must be root"
fi
check "hostile files" hostile_files
check "packets of another trace" foreign_packets
check "a trace of a process that is damaged" with_program damaged_of_process
check "a program that can make no trace" no_trace_made
check "a file of names that are long and many" many_long_names
if unshare -rm true 2> /dev/null; then
	check "a full disk" full_disk
	check "a read-only file system" read_only
	check "a file system that is full" full_folder
else
	skip "disks" "no mount namespace may be made here (unshare -rm)"
fi
check "RLIMIT_FSIZE" file_size
check "interrupted" interrupted
tap_end
