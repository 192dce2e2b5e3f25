#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Members of structures, by way of pointers, in filters and as recorded arguments: random ones against the same expressions in C, errors, and a filter
# of system calls.
# usage: members.sh BUILD [ROUNDS]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
rounds=${2:-2}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
tool=$build/jf-trace

# differs SEED c|cc COMPILER...: a program of 60 functions with a filter each
differs()
{
	seed=$1
	source=$tmp/members.$2
	python3 "$here/members.py" "$seed" 60 "$2" "$source" "$tmp/patterns" || return 1
	shift 2
	"$@" -w -o "$tmp/members" "$source" || return 1
	set --
	while read -r line; do
		set -- "$@" -e "$line"
	done < "$tmp/patterns"
	rm -rf "$tmp/trace"
	"$tool" run --no-report -o "$tmp/trace" "$@" -- "$tmp/members" > "$tmp/out" 2> "$tmp/log" || { cat "$tmp/log"; return 1; }
	"$tool" report "$tmp/trace" 2> /dev/null | sed -n 's/^ *\([0-9]*\)  members:work_\([0-9]*\)$/\2=\1/p' | sort > "$tmp/have"
	grep -v '=0$' "$tmp/out" | sort > "$tmp/want"
	[ -s "$tmp/want" ] && cmp -s "$tmp/want" "$tmp/have" && return
	echo "seed $seed:"
	diff "$tmp/want" "$tmp/have" | while read -r side number _; do
		case $side in
		'<' | '>') echo "$side $number calls of $(sed -n "$((${number%=*} + 1))p" "$tmp/patterns")" ;;
		esac
	done
	cat "$tmp/log"
	return 1
}

# shows SEED c|cc COMPILER...: a program of 30 functions, each with some recorded members
shows()
{
	seed=$1
	source=$tmp/members.$2
	python3 "$here/shown.py" make "$seed" 30 "$2" "$source" "$tmp/patterns" || return 1
	shift 2
	"$@" -w -o "$tmp/members" "$source" || return 1
	set --
	while read -r line; do
		set -- "$@" -e "$line"
	done < "$tmp/patterns"
	rm -rf "$tmp/trace"
	"$tool" run --no-report -o "$tmp/trace" "$@" -- "$tmp/members" > "$tmp/out" 2> "$tmp/log" && "$tool" script --json "$tmp/trace" > "$tmp/json" 2>> "$tmp/log" &&
		python3 "$here/shown.py" compare "$tmp/out" "$tmp/json" && return
	echo "seed $seed:"
	cat "$tmp/log" "$tmp/patterns"
	return 1
}

# each c|cc COMPILER...
each()
{
	i=0
	while [ "$i" -lt "$rounds" ]; do
		i=$((i + 1))
		"${what:-differs}" "$i$(printf '%s' "$*" | cksum | cut -c1-4)" "$@" || return 1
	done
}

# refused EXPRESSION REASON
refused()
{
	"$tool" run -e members:work --if "$1" -- "$tmp/as/members" > "$tmp/out" 2> "$tmp/log"
	grep -qF -- "members:work, which was not recorded: $2" "$tmp/log" && return
	echo "$1: not '$2', but"
	cat "$tmp/log"
	return 1
}

# held NUMBER EXPRESSION [OPTION...]: of the calls
held()
{
	want=$1
	condition=$2
	shift 2
	"$tool" run -e "${kind:-}members:work" --if "$condition" "$@" -- "$tmp/as/members" ${word:+"$word"} > "$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	have=$(grep -c ' members:work: ' "$tmp/out")
	[ "$have" = "$want" ] || { echo "$condition: $have of $want"; cat "$tmp/out"; return 1; }
}

# The same program, by way of its own name.
few()
{
	cat > "$tmp/few.c" <<- 'END'
		#include <stddef.h>
		#include <stdlib.h>
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <sys/mman.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		enum state { NEW, PAID };
		struct hidden;
		struct line { int n; };
		struct order { int price; struct { int deep; } in; int grid[2][2]; struct line lines[3]; unsigned flag:1; enum state state; const char *name;
			char code[4]; long double sum; struct hidden *hidden; struct order *next; };
		__attribute__((noinline)) int work(struct order *order, int level)
		{
			__asm__ volatile("nop; nop; nop; nop; nop" : : "r" (order), "r" (level) : "memory");
			return level;
		}
		/* It kills for the call by which memory is read. */
		static void filter(void)
		{
			struct sock_filter f[] = {
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			};
			struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

			if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
				exit(3);
		}
		int main(int argc, char **argv)
		{
			static struct order two[2] = { { .price = 3, .flag = 1, .state = PAID, .name = "first", .code = "abcd", .next = &two[1] }, { .price = 4, .name = "second", .code = "b" } };
			char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			(void)argv;
			/* Its last four bytes are the price. */
			munmap(page + 4096, 4096);
			((struct order *)(page + 4092))->price = 3;
			work(&two[0], 1);
			if (argc > 1)
				filter();
			work(&two[1], 2);
			work((struct order *)(page + 4092), 3);
			work((struct order *)(page + 4094), 4);
			work(NULL, 5);
			return 0;
		}
	END
	${CC:-cc} -g -O1 -w -o "$tmp/few" "$tmp/few.c" && mkdir -p "$tmp/as" && mv "$tmp/few" "$tmp/as/members"
}

edges()
{
	held 2 'order->price == 3' && held 1 'order->price == 3 && order->in.deep == 0' || return 1
	held 1 'order->price == 3 && order->flag' && held 1 'order->code == "abcd"' && held 1 'order->next->name =~ "sec*"' && held 1 'order->state == PAID' &&
		held 1 'order->name == "second" && order[0].price == 4' && held 3 'order->price != 0' && held 2 '!order->flag || order->flag' || return 1
	kind=call/ held 2 'order->price == 3' && kind=call/ held 1 'order->next->price == 4 && ret == 1'
}

# recorded FIELDS MEMBERS [OPTION...]: of the first call, and each other call names the members that cannot be read
recorded()
{
	want=$1
	members=$2
	shift 2
	"$tool" run -e "${kind:-}members:work($members)" "$@" -- "$tmp/as/members" ${word:+"$word"} > "$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	[ "$(grep -c ' members:work: ' "$tmp/out")" = 5 ] && grep -qF -- "level = 1, $want" "$tmp/out" && return
	echo "$members: not '$want', but"
	cat "$tmp/out"
	return 1
}

# has LEVEL FIELDS: of the call with that level
has()
{
	grep -F " level = $1, " "$tmp/out" | grep -qF -- "$2" && return
	echo "level $1: not '$2', but"
	cat "$tmp/out"
	return 1
}

shown()
{
	recorded 'order_price = 3, order_flag = 1, order_state = ( "PAID" : container = 1 ), order_name = "first", order_code = "abcd" }' \
		'order->price, order->flag,order->state ,order->name,order->code' || return 1
	has 2 'order_price = 4, order_flag = 0, order_state = ( "NEW" : container = 0 ), order_name = "second", order_code = "b" }' || return 1
	# The page ends in the midst of it.
	has 3 'order_name = "(unreadable)", order_code = "(unreadable)", order_price = "3", order_flag = "(unreadable)", order_state = "(unreadable)" }' &&
		has 5 'order_name = "(unreadable)", order_code = "(unreadable)", order_price = "(unreadable)", order_flag = "(unreadable)", order_state = "(unreadable)" }' || return 1
	recorded 'order_in_deep = 0, order_lines_2_n = 0, order_next_price = 4, order_next_next = 0x0, order_next_name = "second" }' \
		'order->in.deep, order->lines[2].n, order->next->price, order->next->next, order->next->name' || return 1
	has 2 'order_next_name = "(unreadable)", order_in_deep = "0", order_lines_2_n = "0", order_next_price = "(unreadable)", order_next_next = "(unreadable)" }' || return 1
	# A name that another field has.
	recorded 'order_name = "first", order_name_ = "first" }' 'order->name, order->name' || return 1
	kind=call/ recorded 'arg2 = ' 'order->price, order->name' && has 1 ' tail = 0, order_price = 3, order_name = "first" }' &&
		has 5 ' tail = 0, order_name = "(unreadable)", order_price = "(unreadable)" }' || return 1
	# Of calls the duration is still one.
	rm -rf "$tmp/trace"
	"$tool" run --no-report -o "$tmp/trace" -e 'call/members:work(order->name)' -- "$tmp/as/members" > "$tmp/log" 2>&1 &&
		[ "$("$tool" report --json "$tmp/trace" 2> "$tmp/log" | grep -c '"ph":"X".*"order_name":')" = 5 ] &&
		[ "$("$tool" report --summary "$tmp/trace" 2> "$tmp/log" | sed -n 's/^.* \([0-9]*\) members:work$/\1/p')" = 5 ] || { cat "$tmp/log"; return 1; }
	# What is counted has no members, and a filter none of its own.
	"$tool" count -e 'members:work(order->price)' -- "$tmp/as/members" > "$tmp/out" 2>&1 && grep -q '^ *5  members:work$' "$tmp/out" || { cat "$tmp/out"; return 1; }
	"$tool" run -e 'members:work(order->price) if order->state == PAID max 3' -- "$tmp/as/members" > "$tmp/out" 2>&1 &&
		[ "$(grep -c ' members:work: .* order_price = 3 }' "$tmp/out")" = 1 ] || { cat "$tmp/out"; return 1; }
}

# not_shown MEMBERS REASON [OPTION...]
not_shown()
{
	members=$1
	reason=$2
	shift 2
	"$tool" run -e "members:work($members)" "$@" -- "$tmp/as/members" > "$tmp/out" 2> "$tmp/log"
	grep -qF -- "members:work, which was not recorded: $reason" "$tmp/log" && return
	echo "$members: not '$reason', but"
	cat "$tmp/log"
	return 1
}

shown_errors()
{
	not_shown 'order->prise' "'order->prise': order has no member 'prise'" &&
		not_shown 'order->name, order->in' "'order->in': it is a structure, whose members have names of their own" &&
		not_shown 'order->sum' "'order->sum': values of its type are not shown" &&
		not_shown 'other->price' "'other->price': the function has no such argument" &&
		not_shown 'order->price' "'order->price': no debug information says what arguments the function has" --registers &&
		not_shown 'order->name,order->code,order->name,order->code,order->name' "'order->name': a record has 4 texts at most"
}

# No thread reads memory from the filter on: the tests do not hold, and the program lives.
with_filter()
{
	word=seccomp recorded 'order_price = 3, order_name = "first" }' 'order->price, order->name' &&
		has 2 'order_name = "(seccomp)", order_price = "(seccomp)" }' || return 1
	word=seccomp held 1 'order->price > 0' && word=seccomp held 1 'order->name =~ "*"' && word=seccomp held 4 'level > 1'
}

errors()
{
	refused 'level > 0 && order->prise > 3' "column 14: 'order->prise': order has no member 'prise'" &&
		refused 'order.price' "column 1: 'order.price': what is before '.' is a pointer: '->'" &&
		refused 'level->price' "column 1: 'level->price': what is before '->' is no pointer" &&
		refused 'order->in' "column 1: 'order->in': it is a structure, whose members have names of their own" &&
		refused 'order->grid[1] == 1' "column 1: 'order->grid[1]': an array of several dimensions" &&
		refused 'order->lines[3].n == 1' "column 1: 'order->lines[3].n': the array has 3 elements" &&
		refused 'order->flag.x' "column 1: 'order->flag.x': a bit field has no members" &&
		refused 'order->sum > 1' "column 1: 'order->sum': values of its type are not shown" &&
		refused 'order->hidden->x' "column 1: 'order->hidden->x': hidden is not defined in the file that has the function" &&
		refused 'order->code > 3' "column 1: 'order->code' is no number" && refused 'order->price == "x"' "column 1: 'order->price' is no text" &&
		refused 'other->price' "column 1: there is no 'other->price', but ip, caller, order, level, tid" || return 1
	# Without debug information there are no members.
	"$tool" run --registers -e members:work --if 'arg0->price' -- "$tmp/as/members" > "$tmp/out" 2> "$tmp/log"
	grep -qF "column 1: 'arg0->price': no debug information says what arguments the function has" "$tmp/log" || { cat "$tmp/log"; return 1; }
}

# References, and the object of a method.
references()
{
	cat > "$tmp/references.cc" <<- 'END'
		struct base { virtual ~base() {} long id = 7; };
		struct order : base { int price; base &other; order(int p) : price(p), other(*this) {} __attribute__((noinline)) int more(int n); };
		__attribute__((noinline)) int order::more(int n) { __asm__ volatile("nop; nop; nop; nop; nop" : : "r" (this), "r" (n) : "memory"); return n; }
		extern "C" __attribute__((noinline)) int by_reference(const order &o) { __asm__ volatile("nop; nop; nop; nop; nop" : : "r" (&o) : "memory"); return 0; }
		int main() { order a(3), b(4); a.more(1); b.more(2); return by_reference(a) + by_reference(b); }
	END
	"$@" -g -o "$tmp/references" "$tmp/references.cc" || return 1
	"$tool" run -e 'references:order::more if this->price == 4 && this->id == 7 && this->other.id == 7' -e 'references:by_reference if o.price == 3 && o.other.id == 7' \
		-- "$tmp/references" > "$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	[ "$(grep -c ' references:' "$tmp/out")" = 2 ] && grep -q 'n = 2' "$tmp/out" || { cat "$tmp/out"; return 1; }
}

if ! "$tool" --version | grep -q 'by libdw$'; then
	echo "1..0 # SKIP jf-trace was built without libdw"
	exit
fi
check "a program with structures" few
check "members, and memory that cannot be read" edges
check "errors, and their columns" errors
check "recorded members, and memory that cannot be read" shown
check "members that cannot be recorded" shown_errors
check "a filter of system calls" with_filter
check "random filters, gcc -O0" each c "${CC:-cc}" -O0 -g
check "random filters, DWARF 4" each c "${CC:-cc}" -O2 -gdwarf-4 -gstrict-dwarf
what=shows
check "random records, gcc -O0" each c "${CC:-cc}" -O0 -g
check "random records, DWARF 4" each c "${CC:-cc}" -O2 -gdwarf-4 -gstrict-dwarf
what=differs
if command -v "${CXX:-c++}" > /dev/null; then
	check "random filters, C++" each cc "${CXX:-c++}" -O2 -g
	what=shows check "random records, C++" each cc "${CXX:-c++}" -O2 -g
	check "references, base classes" references "${CXX:-c++}" -O1
fi
if command -v clang > /dev/null; then
	check "random filters, clang" each c clang -O1 -g
fi
tap_end
