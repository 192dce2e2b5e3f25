#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Functions' arguments by debug information: their names, sizes and signs, and the results of damaged files.
# usage: types.sh BUILD [ROUNDS]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
rounds=${2:-60}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
tool=$build/jf-trace

# fields FUNCTION: of its record, after ip and caller.
fields() { sed -n "s/^.* types:$1: { tid = [0-9]* }, { ip = 0x[0-9A-F]*, caller = 0x[0-9A-F]*\(, \)\{0,1\}\(.*\) }\$/\2/p" "$tmp/text"; }

# is FUNCTION PATTERN: basic regular expression of all of its fields.
is()
{
	fields "$1" | grep -qx -- "$2" || { echo "$1: '$(fields "$1")' is not '$2'"; cat "$tmp/text"; return 1; }
}

# run OPTION...: of the program that is there as $tmp/types
run()
{
	"$tool" run -e 'types:[a-z]*[!_]' "$@" -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" || { cat "$tmp/out" "$tmp/text"; return 1; }
}

hex='0x[0-9A-F]*'
registers="arg0 = $hex, arg1 = $hex, arg2 = $hex, arg3 = $hex, arg4 = $hex, arg5 = $hex"

as_written()
{
	is integers 'a = -1, b = 255, c = -300, d = 65535, e = -70000, f = 4000000000' && is wide "a = -5, b = 18446744073709551615, c = $hex" &&
		is texts "name = $hex, to = $hex, other = 0x0, name_string = \"a name\", other_string = \"(null)\"" &&
		is reals 'n = 1, m = 3, a = 1.25, b = -2.5, c = 1e+100' || return 1
	is speeds 'a = ( "BACK" : container = -2 ), b = ( "TWO" : container = 2 )' || return 1
	# Parts of structures are as they were passed; a structure in memory takes no register.
	is pairs 'p_0 = 0xB, after = 12, p_8 = 0x4004000000000000' && is points 'after = 13, p_0 = 0x3FC000003F000000' &&
		is bigs "returned = $hex, n = 14, m = 15" || return 1
	is spill 'a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, x0 = 0.5, x1 = 1.5, x2 = 2.5, x3 = 3.5, x4 = 4.5, x5 = 5.5, x6 = 6.5, x7 = 7.5' || return 1
	is many 'a = 1, b = 2, c = 3, d = 4, e = 5, f = 6' && is unsure 'a = 31' && is nothing '' &&
		is taken "arg0 = $hex, arg1 = $hex, other = 23"
}

# compiled COMPILER FLAGS...
compiled()
{
	"$@" -g -o "$tmp/types" "$here/types.c" && run && as_written
}

# parted COMPILER FLAGS...: a function with a part elsewhere has ranges in place of its bounds; the pattern means no part.
parted()
{
	cat > "$tmp/parted.cc" <<-'END'
	#include <cstdlib>
	#include <stdexcept>
	enum State { OPEN, SHIPPED };
	struct Order { int id; double price; };
	namespace shop { __attribute__((noinline, noclone)) int pay(Order *o, State how, const char *name)
	{
		if (how == SHIPPED && o->id < 0)
			throw std::runtime_error(name);
		__asm__ volatile("" : "+r" (o));
		return o->id + name[0];
	} }
	extern "C" __attribute__((cold, noinline)) void gone(int n) { if (n) abort(); }
	extern "C" __attribute__((noinline, noclone)) int split(int level, const char *path)
	{
		if (level < 0) { gone(level); gone(level + 1); abort(); }
		__asm__ volatile("" : "+r" (level));
		return level + path[0];
	}
	int main(int argc, char **)
	{
		Order o = { 7, 2.5 };
		int n = shop::pay(&o, SHIPPED, "one") + split(argc, "two");
		try { o.id = -1; n += shop::pay(&o, SHIPPED, "two"); } catch (std::exception &e) { n++; }
		return n == 0;
	}
	END
	"$@" -g -o "$tmp/types" "$tmp/parted.cc" && nm -C "$tmp/types" | grep -c 'cold' && "$tool" run -e 'types:shop::pay' -e 'types:split' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" || { cat "$tmp/text"; return 1; }
	cat "$tmp/text"
	[ "$(grep -c 'types:shop::pay' "$tmp/text")" = 2 ] && grep -q 'o = 0x[0-9A-F]*, how = ( "SHIPPED" : container = 1 ), name = 0x[0-9A-F]*, name_string = "one"' "$tmp/text" &&
		[ "$(grep -c 'types:split' "$tmp/text")" = 1 ] && grep -q 'level = 1, path = 0x[0-9A-F]*, path_string = "two"' "$tmp/text" || return 1
	"$tool" run -e 'types:shop::pay' --if 'how == SHIPPED && o->id == 7' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" || { cat "$tmp/text"; return 1; }
	[ "$(grep -c 'types:shop::pay' "$tmp/text")" = 1 ]
}

apart()
{
	${CC:-cc} -O2 -g -o "$tmp/types" "$here/types.c" && objcopy --only-keep-debug "$tmp/types" "$tmp/apart.dbg" && strip -g "$tmp/types" &&
		run && is integers "$registers" || return 1
	objcopy --add-gnu-debuglink="$tmp/apart.dbg" "$tmp/types" && run && as_written
}

# A stripped program whose debug file has the names of its functions.
stripped()
{
	rm -rf "$tmp/nameless" && mkdir "$tmp/nameless" && cat > "$tmp/nameless/hidden.c" <<- 'END' &&
		#include <stdio.h>
		#define KEEP static __attribute__((__noinline__))
		KEEP int work(int number) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (number)); return number + 1; }
		KEEP int other(int number) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (number)); return number + 2; }
		int main(void) { return work(40) + other(1) != 44; }
	END
	"${CC:-cc}" -g -O1 -o "$tmp/nameless/hidden" "$tmp/nameless/hidden.c" &&
		objcopy --only-keep-debug "$tmp/nameless/hidden" "$tmp/nameless/hidden.debug" &&
		(cd "$tmp/nameless" && objcopy --strip-all --add-gnu-debuglink=hidden.debug hidden)
}

# shows LINES PATTERN OPTION...: of the stripped program
shows()
{
	lines=$1
	pattern=$2
	shift 2
	"$tool" run "$@" -- "$tmp/nameless/hidden" > "$tmp/out" 2> "$tmp/text"
	[ "$(grep -c -- "$pattern" "$tmp/text")" = "$lines" ] || { echo "$*"; cat "$tmp/out" "$tmp/text"; return 1; }
}

names_apart()
{
	stripped || return 1
	shows 1 ' hidden:work: .* number = 40 }' -e 'hidden:work' && shows 1 ' hidden:' -e 'hidden:work' &&
		shows 1 " hidden:work: .* arg0 = 0x28, " -e 'hidden:work' --registers &&
		shows 2 ' hidden:[wo][a-z]*: ' -e 'hidden:*' && shows 1 ' hidden:work: .* number = 40, .* ret = 41, duration' -e 'call/hidden:work' &&
		shows 0 stripped -e 'hidden:nothing' && shows 1 "did you mean 'hidden:work'" -e 'hidden:wor' || return 1
	"$tool" list -e 'hidden:work' "$tmp/nameless/hidden" > "$tmp/text" && grep -q '^function *- *hidden:work$' "$tmp/text" || { cat "$tmp/text"; return 1; }
	# The debug file of another program.
	echo 'int main(void) { return 0; }' | "${CC:-cc}" -g -o "$tmp/nameless/another" -xc - &&
		objcopy --only-keep-debug "$tmp/nameless/another" "$tmp/nameless/hidden.debug" && shows 1 'hidden is stripped: ' -e 'hidden:work'
}

by_registers()
{
	${CC:-cc} -O2 -g -o "$tmp/types" "$here/types.c" && run --registers && is integers "$registers" && is nothing "$registers" || return 1
	${CC:-cc} -O2 -o "$tmp/types" "$here/types.c" && run && is integers "$registers"
}

# Labels that are too long for a trace are left out, as are those that no other one follows.
long_labels()
{
	long=A_LABEL_THAT_IS_LONGER_THAN_ANY_NAME_OF_A_FIELD_CAN_BE
	cat > "$tmp/labels.c" <<- END
		enum first { $long, SECOND, THIRD };
		enum only { $long##_TOO = 4 };
		__attribute__((__noinline__)) int label(enum first f, enum only o) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (f)); return (int)f + (int)o; }
		int main(void) { return label(THIRD, 4) != 6; }
	END
	sed -i 's/##//' "$tmp/labels.c"
	${CC:-cc} -O1 -g -o "$tmp/types" "$tmp/labels.c" && run && is label 'f = ( "THIRD" : container = 2 ), o = 4'
}

# Labels whose upper bit is set, in each size that they are described with.
labels()
{
	cat > "$tmp/labels.c" <<- 'END'
		enum how { LITTLE = 1, SLOW = 200, BIG = 40000, HUGE = 0x80000000u };
		enum sign { NO = -1, LOTS = 200 };
		__attribute__((__noinline__)) int label(enum how h, enum sign s) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (h)); return (int)h + (int)s; }
		int main(void) { label(SLOW, NO); label(BIG, LOTS); label(HUGE, NO); return label(LITTLE, LOTS) != 201; }
	END
	"$@" -g -o "$tmp/types" "$tmp/labels.c" && "$tool" run -e 'types:label' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" || { cat "$tmp/text"; return 1; }
	[ "$(fields label | tr '\n' ' ')" = 'h = ( "SLOW" : container = 200 ), s = ( "NO" : container = -1 ) h = ( "BIG" : container = 40000 ), s = ( "LOTS" : container = 200 ) h = ( "HUGE" : container = 2147483648 ), s = ( "NO" : container = -1 ) h = ( "LITTLE" : container = 1 ), s = ( "LOTS" : container = 200 ) ' ] ||
		{ cat "$tmp/text"; return 1; }
}

# limited PID: a process that reads for it cannot take all memory.
limited()
{
	for child in $(pgrep -P "$(pgrep -P "$1")" 2> /dev/null); do
		grep -q '^Max data size  *[0-9]' "/proc/$child/limits" && return
	done
	return 1
}

# A file that debug information is read from is a FIFO without a writer.
waits()
{
	${CC:-cc} -O2 -g -o "$tmp/types" "$here/types.c" && objcopy --only-keep-debug "$tmp/types" "$tmp/waits.dbg" && strip -g "$tmp/types" &&
		objcopy --add-gnu-debuglink="$tmp/waits.dbg" "$tmp/types" && rm "$tmp/waits.dbg" && mkfifo "$tmp/waits.dbg" || return 1
	timeout 60 "$tool" run -e 'types:integers' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" &
	pid=$!
	awaits limited "$pid"
	limits=$?
	wait "$pid" && is integers "$registers"
	rc=$?
	rm "$tmp/waits.dbg"
	return $((rc + limits))
}

# The arguments are in other registers than System V has for them.
convention()
{
	cat > "$tmp/convention.c" <<- 'END'
		__attribute__((__noinline__, __ms_abi__)) int other(int a, int b) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (a)); return a + b; }
		int main(void) { return other(1, 2) != 3; }
	END
	"$@" -g -o "$tmp/types" "$tmp/convention.c" && "$tool" run -e 'types:other' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" || { cat "$tmp/text"; return 1; }
	if fields other | grep -q ' b = \|^a = '; then cat "$tmp/text"; return 1; fi
}

# Of a call: names in place of registers, with the fields that each call has.
calls()
{
	${CC:-cc} -O2 -g -o "$tmp/types" "$here/types.c" && "$tool" run -e 'call/types:integers' -e 'call/types:reals' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" &&
		is integers "a = -1, b = 255, c = -300, d = 65535, e = -70000, f = 4000000000, ret = $hex, duration = [0-9]*, depth = 0, .*" &&
		is reals "n = 1, m = 3, arg2 = $hex, .*, ret = $hex, duration = .*"
}

# The value that a call returns has its type, also beside an argument called ret.
returns()
{
	cat > "$tmp/returns.c" <<- 'END'
		enum how { OK, FAILED = -2 };
		#define KEEP __attribute__((__noinline__))
		KEEP int minus(int ret) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (ret)); return -ret; }
		KEEP enum how tried(int a) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (a)); return a ? FAILED : OK; }
		KEEP unsigned char small(int a) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (a)); return (unsigned char)(a + 199); }
		KEEP const char *text(int a) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (a)); return a ? "yes" : "no"; }
		KEEP double real(double a) { __asm__ volatile("nop; nop; nop; nop; nop" : "+x" (a)); return a * 2; }
		KEEP float few(int a, float b) { __asm__ volatile("nop; nop; nop; nop; nop" : "+x" (b)); return a - b; }
		KEEP void none(int a) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (a)); }
		int main(void) { none(0); return minus(1) + tried(1) + small(1) + !text(1) + (int)real(1) + (int)(few(1, 3.5F) * 2) != 194; }
	END
	"$@" -g -o "$tmp/types" "$tmp/returns.c" && "$tool" run -e 'call/types:*' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" || { cat "$tmp/text"; return 1; }
	is minus '.*, ret = -1, duration = .*' && is tried '.*, ret = ( "FAILED" : container = -2 ), duration = .*' && is small '.*, ret = 200, duration = .*' &&
		is text ".*, ret = $hex, duration = .*" && is real '.*, ret = 2, duration = .*' && is few '.*, ret = -2.5, duration = .*' && is none ".*, ret = $hex, duration = .*" || return 1
	for filter in 'minus ret < 0' 'tried ret == FAILED' 'small ret == 200' 'real ret > 1.5 && ret < 2.5' 'few ret == -2.5 && a == 1'; do
		"$tool" run -e "call/types:${filter%% *}" --if "${filter#* }" -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" && grep -q "types:${filter%% *}: " "$tmp/text" ||
			{ echo "$filter"; cat "$tmp/text"; return 1; }
	done
}

# A local function of clang's may have lost arguments; a clone has.
clones()
{
	cat > "$tmp/clones.c" <<- 'END'
		static __attribute__((__noinline__)) int lost(int a, int b) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (b)); return a ? b : 0; }
		int main(void) { return lost(1, 5) + lost(1, 6) != 11; }
	END
	"$@" -O2 -g -o "$tmp/types" "$tmp/clones.c" && "$tool" run -e 'types:lost*' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" || { cat "$tmp/text"; return 1; }
	grep -q 'types:lost[^ ]*: { tid = [0-9]* }, { .*arg5 = ' "$tmp/text" || { cat "$tmp/text"; return 1; }
}

# A class that is not copied byte by byte is passed by a pointer, and the arguments after one of which that is not sure are not told.
classes()
{
	cat > "$tmp/types.cc" <<- 'END'
		#define KEEP __attribute__((__noinline__, __used__))
		struct Plain { int a, b; int sum() const { return a + b; } };
		struct Held { int a; Held(int v) : a(v) {} Held(const Held &o) : a(o.a) {} ~Held() { __asm__ volatile(""); } };
		struct Wheel {
			int n;
			KEEP int turn(int by, Plain p) { __asm__ volatile("nop; nop; nop; nop; nop" : : : "memory"); return n * by + p.sum(); }
		};
		KEEP int holds(int first, Held h, int last) { __asm__ volatile("nop; nop; nop; nop; nop" : : : "memory"); return first + h.a + last; }
		int main() { Wheel w = { 2 }; return w.turn(3, { 4, 5 }) + holds(1, Held(2), 3) != 21; }
	END
	"${CXX:-c++}" -O2 -g -o "$tmp/types" "$tmp/types.cc" && "$tool" run -e 'types:_ZN5Wheel4turn*' -e 'types:_Z5holds*' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" ||
		{ cat "$tmp/text"; return 1; }
	grep -q "Wheel::turn(int, Plain): .*this = $hex, by = 3, p_0 = 0x500000004 }" "$tmp/text" &&
		grep -Eq 'holds(\(int, Held, int\)|[^ ]*): .*caller = 0x[0-9A-F]*, first = 1(, h = 0x[0-9A-F]*, last = 3)? }' "$tmp/text" || { cat "$tmp/text"; return 1; }
}

# A structure that has eight of its own kind in it, and each of these has.
circle()
{
	cat > "$tmp/circle.c" <<- 'END'
		struct order { struct { int a; }; struct { int b; }; struct { int c; }; struct { int d; }; struct { int e; }; struct { int f; }; struct { int g; }; struct { int h; }; };
		__attribute__((__noinline__)) int takes(struct order *order) { __asm__ volatile("nop; nop; nop; nop; nop" : : "r" (order) : "memory"); return order->a; }
		int main(void) { struct order o = { { 7 } }; return takes(&o) != 7; }
	END
	${CC:-cc} -O1 -g -o "$tmp/types" "$tmp/circle.c" && python3 - "$tmp/types" <<- 'END' || return 1
		import re, subprocess, sys
		def output(*words):
		    return subprocess.run([*words, sys.argv[1]], check=True, capture_output=True, text=True).stdout
		begin = int(re.search(r"\.debug_info\s+PROGBITS\s+\w+\s+(\w+)", output("readelf", "-SW"))[1], 16)
		dies = [re.findall(r"<([0-9a-f]+)>\s+(DW_AT_\w+)\s*: (.*)", d) + [d] for d in re.split(r"\n <", output("readelf", "--debug-dump=info"))]
		order = next(int(re.match(r"\d+><(\w+)>", d[-1])[1], 16) for d in dies if "DW_TAG_structure_type" in d[-1] and re.search(r": order\b", d[-1]))
		data = bytearray(open(sys.argv[1], "rb").read())
		members = [d for d in dies if "(DW_TAG_member)" in d[-1] and not any(a[1] == "DW_AT_name" for a in d[:-1])]
		assert len(members) == 8, members
		for member in members:
		    at = begin + next(int(a[0], 16) for a in member[:-1] if a[1] == "DW_AT_type")
		    data[at:at + 4] = order.to_bytes(4, "little")
		open(sys.argv[1], "wb").write(data)
	END
	begin=$(date +%s)
	"$tool" run -e 'types:takes(order->none)' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text"
	grep -q "'order->none': it has too many members" "$tmp/text" && [ $(($(date +%s) - begin)) -lt 15 ] || { cat "$tmp/text"; return 1; }
}

# Bytes of debug information that are others: the program runs, and its calls are recorded, by whatever names.
damaged()
{
	${CC:-cc} -O2 -g -o "$tmp/whole" "$here/types.c" || return 1
	objdump -h "$tmp/whole" | awk '$2 ~ /^\.debug_(info|abbrev|str|line_str|addr|rnglists|str_offsets)$/ { print $3, $6 }' > "$tmp/sections"
	[ -s "$tmp/sections" ] || return 1
	i=0
	while [ "$i" -lt "$rounds" ]; do
		i=$((i + 1))
		python3 - "$tmp/whole" "$tmp/types" "$tmp/sections" "$i" <<- 'END' || return 1
			import random, sys
			random.seed(int(sys.argv[4]))
			data = bytearray(open(sys.argv[1], "rb").read())
			sections = [[int(x, 16) for x in line.split()] for line in open(sys.argv[3])]
			for _ in range(random.choice([1, 4, 64, 1000])):
			    size, at = random.choice(sections)
			    data[at + random.randrange(size)] = random.choice([0, 1, 0x7f, 0x80, 0xff, random.randrange(256)])
			open(sys.argv[2], "wb").write(data)
		END
		chmod +x "$tmp/types"
		timeout 60 "$tool" run -e 'types:integers' -e 'types:reals' -- "$tmp/types" > "$tmp/out" 2> "$tmp/text" || { echo "round $i: $?"; cat "$tmp/text"; return 1; }
		[ "$(grep -c ' types:[ir][a-z]*: { tid' "$tmp/text")" = 2 ] || { echo "round $i"; cat "$tmp/text"; return 1; }
	done
}

# named LINE: is the function named so recorded as 'invented'
named()
{
	rm -rf "$tmp/lines/traces" && mkdir "$tmp/lines/traces" && printf '%s\n' "$1" > "$tmp/lines/types" &&
		JUMPFUNC_AGENT_TYPES=$tmp/lines/types JUMPFUNC_TRACE_DIR=$tmp/lines/traces JUMPFUNC_AGENT=types:invented LD_PRELOAD=$build/libjumpfunc-agent.so \
			"$tmp/types" && cat "$tmp/lines/traces"/*/metadata 2> /dev/null | grep -q 'types:invented'
}

# A name is used of the very file that jf-trace has read.
wrong_names()
{
	path=$(realpath "$tmp/types")
	inode=$(printf '%x' "$(stat -c %i "$path")")
	time=$(stat -c %.9Y "$path")
	# A number that begins with zeros is octal.
	stamp=$inode.$(printf '%x.%x' "${time%.*}" "$(echo "${time#*.}" | sed 's/^0*\(.\)/\1/')")
	named "$path $at +10 $stamp invented" || { echo "a name is not used"; return 1; }
	for line in "$path $at +10 ${inode}0.${stamp#*.} invented" "$path $at +10 ${stamp}1 invented" "$path $at +10 invented" "$path $at +10 $stamp " \
			"$path $at +10 $stamp" "$path $at + $stamp invented" "$path $at 10 $stamp invented" "$path +10 $stamp invented" "/x$path $at +10 $stamp invented" \
			"$path ffffffffffff +10 $stamp invented"; do
		! named "$line" || { echo "'$line' is used"; return 1; }
	done
}

# Lines for the agent that are none, or that name an argument twice, are not used.
wrong_lines()
{
	${CC:-cc} -O2 -o "$tmp/types" "$here/types.c" && run && at=$(nm "$tmp/types" | sed -n 's/^0*\([0-9a-f]*\) T integers$/\1/p') || return 1
	(umask 077; mkdir -p "$tmp/lines")
	for line in "a=4@%rdi b=4@%rdi" "a=4@%rdi a=4@%rsi" "a=3@%rdi" "a=4@%rbx" "a=4f@%rdi" "a=8s@%xmm0" "a=4@%xmm8" "a" "=4@%rdi" "1=4@%rdi" "a=4@%rdi{" \
			"a=4@%rdi{A:1" "a=4@%rdi{A:1,}" "a=@%rdi" 'a"=4@%rdi' "a=4@rdi" \
			"ret=8s@%rax a=4@%rdi" "ret=2f@%rax a=4@%rdi" "a=4@%rdi a->b=4@%rdi" "a=4@%rdi a->b=9@%rdi+8" "a=4@%rdi a->b=8b1.64@%rdi+0" \
			"a=4@%rdi a->b=4b8.1@%rdi+0" "a=4@%rdi a->b=4@%xmm0+0" "a=4@%rdi a->b=2f@%rdi+0" "a=4@%rdi a->b=4@%rdi+99999999999" "a=4@%rdi a->b=?" \
			"a=4@%rdi a->b=256t@%rdi+0" "a=4@%rdi a->b=0@%rdi+0" "a=4@%rdi a->b=4@%rdi+1+2+3+4+5+6+7" "a=4@%rdi a->=4@%rdi+1" "a=4@%rdi a->b=4@%rdi+1{A:1" \
			"ret=4@%rax ret=4@%rax a=4@%rdi"; do
		rm -rf "$tmp/lines/traces" && mkdir "$tmp/lines/traces" && printf '%s %s %s\n' "$(realpath "$tmp/types")" "$at" "$line" > "$tmp/lines/types"
		JUMPFUNC_AGENT_TYPES=$tmp/lines/types JUMPFUNC_TRACE_DIR=$tmp/lines/traces JUMPFUNC_AGENT=types:integers LD_PRELOAD=$build/libjumpfunc-agent.so "$tmp/types" &&
			babeltrace2 "$tmp/lines/traces"/* > "$tmp/text" 2>&1 && is integers "$registers" || { echo "'$line'"; return 1; }
	done
	wrong_names || return 1
	rm -rf "$tmp/lines/traces" && mkdir "$tmp/lines/traces"
	printf '%s %s %s\n' "$(realpath "$tmp/types")" "$at" "a=-1@%rdi b=8@%rdx{A:1,LOW:-300}" > "$tmp/lines/types"
	JUMPFUNC_AGENT_TYPES=$tmp/lines/types JUMPFUNC_TRACE_DIR=$tmp/lines/traces JUMPFUNC_AGENT=types:integers LD_PRELOAD=$build/libjumpfunc-agent.so "$tmp/types" &&
		babeltrace2 "$tmp/lines/traces"/* > "$tmp/text" 2>&1 && fields integers | grep -q "^a = -1, arg1 = $hex, b = " || { cat "$tmp/text"; return 1; }
}

# sanitized COMPILER FLAG: whose run-time looks for leaks, or for values that nothing has stored; it sees none of the agent's.
sanitized()
{
	"$1" "$2" -g -O1 -w -o "$tmp/types" "$here/types.c" || return 1
	"$tool" run -e 'types:[stw]*[a-z]*s' -e types:taken -e call/types:wide -e types:wide -- "$tmp/types" > "$tmp/out" 2> "$tmp/text"
	rc=$?
	[ "$rc" = 0 ] && ! grep -q 'Sanitizer' "$tmp/text" && is taken "arg0 = $hex, arg1 = $hex, other = 23" &&
		is texts "name = $hex, to = $hex, other = 0x0, name_string = \"a name\", other_string = \"(null)\"" || { echo "status $rc"; cat "$tmp/text"; return 1; }
}

can() { echo 'int main(void) { return 0; }' | "$1" "$2" -o "$tmp/needs" -xc - 2> /dev/null && "$tmp/needs"; }

if "$tool" --version | grep -q 'by libdw'; then
	check "arguments, gcc -O2" compiled "${CC:-cc}" -O2
	check "arguments, gcc -O0" compiled "${CC:-cc}" -O0
	if have clang; then check "arguments, clang" compiled clang -O1; else skip "arguments, clang" "no clang"; fi
	if have g++; then check "arguments, C++" compiled g++ -x c++ -O2; else skip "arguments, C++" "no g++"; fi
	if have objcopy; then check "debug information in a file of its own" apart; else skip "debug information in a file of its own" "no objcopy"; fi
	if have objcopy; then check "names in a file of their own" names_apart; else skip "names in a file of their own" "no objcopy"; fi
	check "arguments of calls" calls
	check "returned values, gcc -O2" returns "${CC:-cc}" -O2
	check "returned values, gcc -O0" returns "${CC:-cc}" -O0
	if have clang; then check "returned values, clang" returns clang -O1; else skip "returned values, clang" "no clang"; fi
	check "labels with the upper bit, gcc" labels "${CC:-cc}" -O1
	if have clang; then check "labels with the upper bit, clang" labels clang -O1; else skip "labels with the upper bit, clang" "no clang"; fi
	check "labels that are too long" long_labels
	if have objcopy; then check "debug information that never comes" waits; else skip "debug information that never comes" "no objcopy"; fi
	check "another calling convention, gcc" convention "${CC:-cc}" -O1
	if have clang; then check "another calling convention, clang" convention clang -O1; else skip "another calling convention, clang" "no clang"; fi
	check "a clone's arguments are registers" clones "${CC:-cc}"
	if have clang; then check "a local function of clang's has registers" clones clang; else skip "a local function of clang's has registers" "no clang"; fi
	for one in "${CC:-cc} -fsanitize=address" "${CC:-cc} -fsanitize=leak" "clang -fsanitize=memory"; do
		# shellcheck disable=SC2086 # two words
		if can $one; then check "no name stays in memory, $one" sanitized $one; else skip "no name stays in memory, $one" "no such programs"; fi
	done
	if have g++; then check "classes" classes; else skip "classes" "no g++"; fi
	if have python3 && have readelf; then check "types that have themselves in them" circle; else skip "types that have themselves in them" "no python3 or readelf"; fi
	if have python3 && have objdump; then check "$rounds files with damaged debug information" damaged; else skip "files with damaged debug information" "no python3 or objdump"; fi
else
	skip "arguments by debug information" "jf-trace was built without libdw"
fi
if have g++; then
	check "functions in several parts, g++ -O2" parted g++ -O2
	check "functions in several parts, g++ -O2 -gdwarf-4" parted g++ -O2 -gdwarf-4
fi
check "arguments as registers" by_registers
check "lines that are none" wrong_lines
tap_end
