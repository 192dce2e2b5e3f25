#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Records that are chosen: as many as a program counts itself, in each way to ask for them.
# usage: choose.sh BUILD [ROUNDS]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
rounds=${2:-300}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
tool=$build/jf-trace
program=$tmp/choose

# counted NAME: by the program
counted() { sed -n "s/.*\<$1=\([0-9]*\).*/\1/p" "$tmp/out"; }

# recorded NAME: events of all processes; none of them may be lost
recorded()
{
	"$tool" script "$tmp/trace" 2> "$tmp/err" | grep -c " $1: "
	grep -q 'overwritten 0, discarded 0' "$tmp/log" || { echo "lost: $(cat "$tmp/log")"; return 1; }
}

# run OPTION...: where the kernel has put the program, memory may be in use to which bytes of its text lead
run()
{
	for _ in 1 2 3 4 5 6 7 8; do
		rm -rf "$tmp/trace" "$tmp/trace.old"
		"$tool" run --mode keep -o "$tmp/trace" --no-report "$@" -- "$program" "$rounds" > "$tmp/out" 2> "$tmp/log" ||
			{ cat "$tmp/out" "$tmp/log"; return 1; }
		grep -q 'no memory in reach' "$tmp/log" || return 0
	done
	cat "$tmp/log"
	return 1
}

# same EVENT COUNTER OPTION...: the options choose as many as the program has counted, and that is neither none nor all
same()
{
	event=$1
	counter=$2
	shift 2
	run "$@" || return 1
	have=$(recorded "$event")
	want=$(counted "$counter")
	[ "$have" = "$want" ] && [ "$want" -gt 0 ] && { [ "$counter" = all ] || [ "$want" -lt "$(counted all)" ]; } && return
	echo "$*: $have records of $event, and the program has counted $want of $(counted all)"
	cat "$tmp/log"
	return 1
}

functions()
{
	same choose:c_work both -e 'choose:c_work' --if 'level > 3 && size >= 4096' &&
		same choose:c_work either -e 'choose:c_work if (how == FAST || level < 0) && !(size & 1)' &&
		same choose:c_work failed -e 'choose:c_work' --registers --if '(int)arg0 < 0' &&
		same choose:c_work failed -e 'choose:c_work(_,_,_,string)' --if 'level < 0'
}

# A text that cannot be read is neither equal nor unequal: of eight names NULL, a wrong address and one without an end.
texts()
{
	same choose:c_work named -e 'choose:c_work' --if 'name =~ "/etc/*"' &&
		same choose:c_work named -e 'choose:c_work if name_string == "/etc/passwd" || name == "/etc/x, y (if \"z\")" || name == "/etc/a"' &&
		same choose:c_work named -e 'choose:c_work' --registers --if 'arg3 =~ "/e??/*" && arg3 > 1' &&
		same choose:c_work named -e 'call/choose:c_work' --if 'name =~ "/etc/*"' || return 1
	run -e 'choose:c_work' --if 'name != "/etc/passwd"' || return 1
	have=$(recorded choose:c_work)
	want=$(counted unequal)
	[ "$have" = "$want" ] || { echo "$have that are not equal, and the program has counted $want"; return 1; }
}

reals()
{
	same choose:c_real dear -e 'choose:c_real' --if 'price > 1.5' &&
		same choose:c_real dear -e 'choose:c_real' --if '!(price <= 15e-1) && level < 1000' &&
		same choose:c_real dear -e 'choose:c_real' --if 'price && price >= 1.875 && 3 >= price'
}

# By the function of the return address: also in objects that come and go, and after a tail call the function that gets the result.
callers()
{
	export CHOOSE_PLUGIN="$tmp/by_object.so" CHOOSE_OTHER="$tmp/by_other.so"
	same choose:c_called one -e choose:c_called --caller c_from_one &&
		same choose:c_called one -e 'choose:c_called if caller == "choose:c_from_one"' &&
		same choose:c_called one -e call/choose:c_called --caller 'choose:c_from_o*' --if 'ret > 0' &&
		same choose:c_called others -e choose:c_called --if '!(caller =~ "c_from_one") && !(caller =~ "by_o*.so:*")' &&
		same choose:c_called others -e choose:c_called --if 'caller =~ "c_from_t[wh]*" && caller > 3' &&
		same choose:c_called opened -e choose:c_called --caller 'by_object.so:*' &&
		same choose:c_called opened -e call/choose:c_called --caller c_by_object || return 1
	run -e choose:c_called --caller c_tail || return 1
	[ "$(recorded choose:c_called)" = 0 ] || { echo "after a tail call: $(recorded choose:c_called)"; return 1; }
	run -e choose:c_called --if 'caller == "c_from_*" || caller =~ "c_called"' || return 1
	[ "$(recorded choose:c_called)" = 0 ] || { echo "a star in ==: $(recorded choose:c_called)"; return 1; }
	"$tool" count -o "$tmp/table" -e choose:c_called --caller c_from_one "$program" "$rounds" > "$tmp/out" 2> "$tmp/log" &&
		grep -q "^ *$(counted one) .*choose:c_called" "$tmp/table" || { cat "$tmp/log" "$tmp/table"; return 1; }
	"$tool" time --csv -o "$tmp/table" -e choose:c_called --caller c_from_one -- "$program" "$rounds" > "$tmp/out" 2> "$tmp/log" &&
		grep -q "^$(counted one),.*choose:c_called" "$tmp/table" || { cat "$tmp/log" "$tmp/table"; return 1; }
	unset CHOOSE_PLUGIN CHOOSE_OTHER
	run -e choose:c_called --caller 'c_form*' || return 1
	grep -q "no function of the files that the program loads at its begin matches 'c_form\*', its caller" "$tmp/log" || { cat "$tmp/log"; return 1; }
	run -e mill:grind --caller main || return 1
	grep -q "mill:grind, which was not recorded: column 1: there is no 'caller', but arg1, arg2, tid" "$tmp/log" || { cat "$tmp/log"; return 1; }
	fails 2 "--caller '': the name is empty" run -e f --caller '' -- true &&
		fails 2 "list has no option '--caller'" list --caller f
}

notes()
{
	same mill:grind middle -e 'mill:grind' --if 'arg1 >= -1 && arg1 <= 2 && arg2 > 0x1000' &&
		same mill:grind both -e 'note/mill:*' --if 'arg1 > 3 && arg2 >= 4096'
}

calls()
{
	same choose:c_work both -e 'call/choose:c_work' --if 'level > 3 && size >= 010000' &&
		same choose:c_work failed -e 'call/choose:c_work' --if 'ret == -1 && duration < 1000s' &&
		same choose:c_half failed -e 'call/choose:c_half' --if '(int)ret < -1 || level < 0' &&
		same choose:c_half failed -e 'call/choose:c_half' --if 'ret < -1 || level == -1' || return 1
	# Of four calls of c_deep() that are in each other the two outer ones; what is left out has its depth all the same.
	run -e 'call/choose:c_deep' --max-depth 2 || return 1
	have=$(recorded choose:c_deep)
	[ "$have" = $((2 * $(counted all))) ] || { echo "$have records of c_deep"; return 1; }
}

# The number is the thread's own: also in threads and in children, in which what the parent knew is another's.
threads()
{
	same choose:c_work all -e 'choose:c_work if tid == self' || return 1
	run -e 'choose:c_work if tid != self' -e 'choose:c_half' || return 1
	[ "$(recorded choose:c_work)" = 0 ] && [ "$(recorded choose:c_half)" = "$(counted all)" ]
}

# Threads of one process count together. Children begin with what their parent has counted.
limits()
{
	run -e 'choose:c_half' --max 17 -e 'call/choose:c_work max 5' || return 1
	have=$(recorded choose:c_half)
	[ "$have" = 17 ] || { echo "$have of 17"; return 1; }
	have=$(recorded choose:c_work)
	[ "$have" = 5 ] || { echo "$have of 5"; return 1; }
	run -e 'choose:c_half' --every 7 || return 1
	# Five threads, and two children that go on where it was then, as their copy of it says.
	have=$(recorded choose:c_half)
	want=$(((5 * rounds + 6) / 7 + 2 * ((6 * rounds + 6) / 7 - (5 * rounds + 6) / 7)))
	[ "$have" = "$want" ] || { echo "$have of each seventh, not $want"; return 1; }
	run -e 'choose:c_work' --if 'level < 0' --every 3 --max 1000000 || return 1
	have=$(recorded choose:c_work)
	[ "$have" -gt $(($(counted failed) / 3 - 3)) ] && [ "$have" -lt $(($(counted failed) / 3 + 6)) ] || { echo "$have of a third"; return 1; }
}

# real_note NUMBER EXPRESSION
real_note()
{
	rm -rf "$tmp/real.trace"
	"$tool" run -e 'note/real:hit' --if "$2" --mode keep --no-report -o "$tmp/real.trace" -- "$tmp/real" > "$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
	grep -q "records $1, overwritten 0, discarded 0" "$tmp/log" || { echo "$2"; cat "$tmp/log"; return 1; }
}

# Operands of a note that are float or double, in a register and in memory.
real_notes()
{
	cat > "$tmp/real.c" <<-'END'
	__attribute__((__noinline__)) void work(double d, float f, int i)
	{
		__asm__ volatile("990: nop\n.pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
			"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, 0, 0\n.asciz \"real\"\n.asciz \"hit\"\n"
			".asciz \"8f@%0 4f@%1 -4@%2 4f@%3\"\n994: .balign 4\n.popsection" : : "x" (d), "x" (f), "r" (i), "m" (f));
	}
	int main(void) { for (int i = 0; i < 10; i++) work(i + 0.5, (float)i * 0.25f, i); return 0; }
	END
	"${CC:-cc}" -O2 -o "$tmp/real" "$tmp/real.c" && real_note 3 'arg1 > 7.0' && real_note 2 'arg2 >= 2.0' && real_note 2 'arg4 >= 2.0' &&
		real_note 3 'arg1 == 3.5 || arg2 < 0.3' && real_note 1 'arg2 == 0.25 && arg3 == 1' && real_note 10 'arg1 > arg3'
}

sums()
{
	"$tool" count -o "$tmp/table" -e 'choose:c_work' --if 'level > 3 && size >= 4096' "$program" "$rounds" > "$tmp/out" 2> "$tmp/log" ||
		{ cat "$tmp/log"; return 1; }
	grep -q "^ *$(counted both) .*choose:c_work" "$tmp/table" || { cat "$tmp/out" "$tmp/table"; return 1; }
	"$tool" time --csv -o "$tmp/table" -e 'choose:c_work' --if 'ret == -1' -- "$program" "$rounds" > "$tmp/out" 2> "$tmp/log" ||
		{ cat "$tmp/log"; return 1; }
	grep -q "^$(counted failed),.*choose:c_work" "$tmp/table" || { cat "$tmp/out" "$tmp/table"; return 1; }
}

# A process that runs, which is told again and again.
running()
{
	mkfifo "$tmp/in" "$tmp/answers" || return 1
	JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$build/libjumpfunc-agent.so "$program" < "$tmp/in" > "$tmp/answers" &
	pid=$!
	exec 3> "$tmp/in" 4< "$tmp/answers"
	told "$pid"
	status=$?
	exec 3>&- 4<&-
	wait "$pid"
	return "$status"
}

# go: one round of calls
go() { echo >&3 && read -r word <&4 && [ "$word" = "done" ]; }
records() { "$tool" stats "$1" | sed -n 's/^records //p'; }

told()
{
	mkdir -p "$tmp/told"
	"$tool" record "$1" -o "$tmp/told" -e 'function/choose:c_work' --if '(int)arg0 < 0' > "$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
	go && first=$(records "$1") && go || return 1
	[ "$first" -gt 0 ] && [ "$(records "$1")" = $((2 * first)) ] || { echo "$first records, then $(records "$1")"; return 1; }
	# Another one in its place, while it is on; and one that is refused, which changes nothing.
	"$tool" enable "$1" 'function/choose:c_work if (int)arg0 >= 0' > "$tmp/log" 2>&1 && go || return 1
	[ "$(records "$1")" = $((100 + first)) ] || { echo "$(records "$1") records"; return 1; }
	"$tool" enable "$1" 'choose:c_*' --if 'arg0 == 3 && lvl > 3' > "$tmp/log" 2>&1 && return 1
	cat "$tmp/log"
	grep -q "choose:c_[a-z]*: column 14: there is no 'lvl', but ip, caller, arg0, arg1, .*, tid" "$tmp/log" &&
		grep -q "nothing that matches 'choose:c_\* if .*' has all its names" "$tmp/log" && go || return 1
	[ "$(records "$1")" = 200 ] || { echo "$(records "$1") records"; return 1; }
	# By thread: all are of the first one.
	"$tool" enable "$1" -e 'function/choose:c_work' --tid "$1" > "$tmp/log" 2>&1 && go && [ "$(records "$1")" = 300 ] &&
		"$tool" enable "$1" -e 'function/choose:c_work' --tid 1 > "$tmp/log" 2>&1 && go && [ "$(records "$1")" = 300 ] || return 1
	"$tool" enable "$1" 'function/choose:c_work' > "$tmp/log" 2>&1 && go && [ "$(records "$1")" = 400 ] || { records "$1"; return 1; }
	"$tool" stop "$1"
}

# Threads come by while filters are replaced, refused and dropped: all results are right, and nothing is lost but what is counted.
storm()
{
	rm -f "$tmp/in"
	mkfifo "$tmp/in" || return 1
	JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$build/libjumpfunc-agent.so "$program" storm < "$tmp/in" &
	pid=$!
	exec 3> "$tmp/in"
	changed "$pid"
	status=$?
	exec 3>&-
	wait "$pid" || { echo "the program: $?"; return 1; }
	return "$status"
}

changed()
{
	mkdir -p "$tmp/storm"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -n "$("$tool" list "$1" 2> /dev/null | head -n 1)" ] && break
		sleep 0.2
	done
	"$tool" record "$1" -o "$tmp/storm" -e 'choose:c_*' --max 3 > "$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
	i=0
	while [ "$i" -lt 12 ]; do
		i=$((i + 1))
		"$tool" enable "$1" "choose:c_* if (int)arg0 < $i && tid > 1 every $i" 'mill:grind if arg1 & 1 || !(arg2 < 4096)' \
			"call/choose:c_* if ret >= $i max 1000" > "$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
		"$tool" enable "$1" 'choose:c_*' --if 'nothing' > "$tmp/log" 2>&1 && return 1
		[ $((i % 4)) != 0 ] || "$tool" disable "$1" 'choose:c_*' > "$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
	done
	[ "$(records "$1")" -gt 0 ] && "$tool" stop "$1"
}

# fails STATUS TEXT WORD...
fails()
{
	want=$1
	text=$2
	shift 2
	"$tool" "$@" > "$tmp/out" 2> "$tmp/log"
	have=$?
	[ "$have" = "$want" ] && grep -qF -- "$text" "$tmp/log" && return
	echo "$*: $have, and not $want with '$text':"
	cat "$tmp/log"
	return 1
}

errors()
{
	fails 2 "--if 'level > > 3': column 9: a name or a number has to be here, not '>'" run -e f --if 'level > > 3' -- true &&
		fails 2 "--if 'a every 5': it is more than an expression" run -e f --if 'a every 5' -- true &&
		fails 2 'which probes? --if' run --if 'a > 3' -- true &&
		fails 2 "--max-depth is for calls, and no pattern is of calls" run -e function/f --max-depth 3 -- true &&
		fails 2 "'0' is no value of --every, which takes a number from 1 on" run -e f --every 0 -- true &&
		fails 2 "count has no option '--max'" count -e f --max 3 true &&
		fails 2 "'every' and 'max' are for records" count -e 'f every 3' true &&
		fails 2 "time has no option '--every'" time -e f --every 3 -- true || return 1
	# A name that the function does not have, and one that is no integer.
	run -e choose:c_work --if 'size > 3 && lvl > 3' || return 1
	cat "$tmp/log"
	grep -q "choose:c_work, which was not recorded: column 13: there is no 'lvl', but ip, caller, level, size, how, name, self, tid" "$tmp/log" || return 1
	run -e choose:c_real --if 'level == "x"' || return 1
	grep -q "choose:c_real, which was not recorded: column 1: 'level' is no text" "$tmp/log" || { cat "$tmp/log"; return 1; }
	run -e choose:c_half --if 'level > 1000' && grep -q "no thread has come by for which its filter holds" "$tmp/log"
}

check "a program that counts" "${CC:-cc}" -O1 -g -pthread -o "$program" "$here/choose.c"
check "two objects" "${CC:-cc}" -O1 -fPIC -shared -DNAME=c_by_object -o "$tmp/by_object.so" "$here/called_by.c"
check "and another one" "${CC:-cc}" -O1 -fPIC -shared -DNAME=c_by_other -o "$tmp/by_other.so" "$here/called_by.c"
check "functions" functions
check "callers" callers
check "texts" texts
check "numbers with a point" reals
check "notes" notes
check "calls" calls
check "threads" threads
check "every and max" limits
check "float and double operands of notes" real_notes
check "numbers of calls, and their times" sums
check "a process that runs" running
check "filters that change while threads come by" storm
check "errors" errors
tap_end
