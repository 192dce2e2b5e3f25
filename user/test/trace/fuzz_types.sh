#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What jf-trace makes of debug information, and the agent of that, with inputs that a fuzzer makes of real ones.
# usage: fuzz_types.sh BUILD [INPUTS [SECONDS]]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
inputs=${2:-20000}
seconds=${3:-0}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

sources()
{
	cat > "$tmp/p.c" <<- 'END'
		enum state { NEW, PAID, A_LABEL_THAT_IS_LONGER_THAN_ANY_NAME_OF_A_FIELD_CAN_BE, LAST = 1000 };
		struct hidden;
		struct line { int n; };
		struct order { int price; struct { int deep; }; struct { int deep; } in; int grid[2][2]; struct line lines[3]; unsigned flag:1; long a:40; enum state state; const char *name;
			char code[4]; long double sum; struct hidden *hidden; struct order *next; };
		struct pair { int a; double b; };
		typedef const struct order *constant;
		static int inner(struct order *order) { __asm__ volatile("" : : "r" (order)); return order->price; }
		int f(struct order *order, int level, enum state state) { return inner(order) + level + state; }
		double real(float x, double y, struct pair n, const char *text) { return x + y + n.b + *text; }
		struct order big(constant order, unsigned char c, ...) { return *order; }
		enum state last(struct order **order, int (*call)(int)) { return (enum state)call((*order)->flag); }
	END
	cat > "$tmp/p.cc" <<- 'END'
		struct base { long id = 7; virtual ~base() {} };
		struct order : base { int price; base &other; order(int p) : price(p), other(*this) {} int more(int n, order &o); };
		struct held { int a; held(const held &o) : a(o.a) {} ~held() { a = 0; } };
		int order::more(int n, order &o) { return n + o.price; }
		int f(const order &order, held h, int last) { return order.price + h.a + last; }
		void operator delete(void *, unsigned long) {}
	END
}

# A small one of each form, with a byte in front that says what it is.
programs()
{
	n=0
	for how in "-g -O0" "-g -O2" "-gdwarf-4 -O1 -gstrict-dwarf" "-gdwarf-2 -gstrict-dwarf -O1" "-g -O1 -s" "-g -O1 -gz" "-g -O1 -fdebug-types-section" "-g -gsplit-dwarf -O1"; do
		for cc in ${CC:-cc} clang; do
			n=$((n + 1))
			have "$cc" || continue
			# shellcheck disable=SC2086
			"$cc" -fPIC -shared -w -nostdlib -Wl,-z,noseparate-code,-z,max-page-size=16,--hash-style=gnu $how -o "$tmp/p" "$tmp/p.c" &&
				{ printf '\000'; cat "$tmp/p"; } > "$tmp/seeds/c$n" || return 1
		done
	done
	if have "${CXX:-c++}"; then
		"${CXX:-c++}" -g -O1 -fPIC -shared -w -nostdlib -fno-exceptions -Wl,-z,max-page-size=16,--unresolved-symbols=ignore-all -o "$tmp/p" "$tmp/p.cc" &&
			{ printf '\000'; cat "$tmp/p"; } > "$tmp/seeds/cc" || return 1
	fi
	${CC:-cc} -g -c -w -o "$tmp/p" "$tmp/p.c" && { printf '\000'; cat "$tmp/p"; } > "$tmp/seeds/o"
}

debug_files()
{
	${CC:-cc} -g -O1 -fPIC -shared -w -nostdlib -Wl,-z,max-page-size=16,--build-id -o "$tmp/stripped" "$tmp/p.c" &&
		objcopy --only-keep-debug "$tmp/stripped" "$tmp/stripped.debug" && objcopy --strip-all --add-gnu-debuglink="$tmp/stripped.debug" "$tmp/stripped" &&
		{ printf '\001'; cat "$tmp/stripped.debug"; } > "$tmp/seeds/debug"
}

lines()
{
	n=0
	for line in 'ret=-4@%rax order=8p@%rdi price=8f@%xmm0 how=4@%rsi{FAST:0,SLOW:-1}' 'name=8s@%rdi order->count=-4@%rsi+8 order->next->paid=1b3.1@%rsi+24+16 order->prise=?no_prise' \
			'a=8p@%rdi a[3].x=8s@%rdi-8 a.code=4t@%rdi+64' '+2c 1f0a3.6748a1b2.2faf0800 pay'; do
		n=$((n + 1))
		printf '\002/usr/bin/mill 1a40 %s\n/a 1 %s\n' "$line" "$line" > "$tmp/seeds/line$n"
	done
}

seeds()
{
	mkdir "$tmp/seeds" "$tmp/found" && cd "$tmp" && sources && programs && debug_files && lines && ls -l "$tmp/seeds"
}

fuzz()
{
	cd "$tmp" || return 1
	JF_FUZZ_STRIPPED=$tmp/stripped "$build/fuzz_types" -runs="$inputs" -max_total_time="$seconds" -max_len=32768 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
		"$tmp/found" "$tmp/seeds"
}

check "seeds" seeds
check "$inputs inputs" fuzz
tap_end
