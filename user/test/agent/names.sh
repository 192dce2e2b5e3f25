#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Functions of C++ and Rust: patterns by the names that their source has, and the names that are shown.
# usage: names.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
tool=$build/jf-trace

# recorded NUMBER PATTERN [PROGRAM]: so many calls of the functions that the pattern matches.
recorded()
{
	rm -rf "$tmp/trace"
	"$tool" run --no-report -o "$tmp/trace" -e "$2" -- "$tmp/${3:-names}" > "$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	"$tool" report "$tmp/trace" > "$tmp/report" 2>&1
	got=$(sed -n 's/.*records \([0-9]*\), overwritten.*/\1/p' "$tmp/out" "$tmp/report" | head -1)
	[ "${got:-0}" = "$1" ] || { echo "'$2': ${got:-none} records, not $1"; cat "$tmp/out" "$tmp/report"; return 1; }
}

patterns()
{
	recorded 3 'shop::price_of(shop::Order const&)' && recorded 1 'shop::price_of(shop::Order const&, int)' &&
		recorded 4 'shop::price_of' && recorded 4 'names:shop::price_of' && recorded 4 'function/names:shop::price*' &&
		recorded 4 '_ZN4shop8price_of*' && recorded 1 '(anonymous namespace)::hidden' && recorded 1 '*::hidden(int)' || return 1
	# Two types of the template; with the type that it returns, which is part of the name, and without.
	recorded 2 'shop::twice<*>' && recorded 1 'shop::twice<double>' && recorded 1 'int shop::twice<int>(int)' &&
		recorded 1 'shop::twice<int>(int)' && recorded 1 'shop::entries<int?*' || return 1
	recorded 1 'shop::Order::operator<' && recorded 1 'shop::Order::operator()(int) const' && recorded 1 'shop::Order::operator()' &&
		recorded 1 'shop::Order::operator+' && recorded 1 'shop::Order::operator unsigned long' || return 1
	# Both symbols of a constructor are at one place: a call is one record.
	recorded 2 'shop::Order::Order' && recorded 2 'shop::Order::Order(int)' && recorded 1 'main::{lambda(int)#1}::operator()'
}

# Names with letters beyond ASCII, of the program too. No trace can have one with a quotation mark.
letters()
{
	cat > "$tmp/letters.c" <<- 'END'
		__attribute__((__noinline__)) int größe(int a) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (a)); return a; }
		int main(void) { return größe(1) + größe(2) != 3; }
	END
	${CC:-cc} -O2 -o "$tmp/käse" "$tmp/letters.c" && recorded 2 'käse:größe' käse && recorded 2 'call/*:größe' käse || return 1
	for way in --events --summary --graph --folded; do
		"$tool" report "$way" "$tmp/trace" > "$tmp/text" 2>&1
		grep -q 'käse:größe' "$tmp/text" || { echo "$way"; cat "$tmp/text"; return 1; }
	done
	"$tool" list -e 'käse:größe' "$tmp/käse" | grep -q 'käse:größe$' && "$tool" count -e '*:größe' -- "$tmp/käse" 2>&1 | grep -q ' käse:größe$' || return 1
	"$tool" report --json "$tmp/trace" > "$tmp/text" 2> "$tmp/err"
	grep -q '"process_name".*{"name":"käse"}' "$tmp/text" && grep -q '"name":"käse:größe"' "$tmp/text" || { cat "$tmp/text"; return 1; }
	cp "$tmp/käse" "$tmp/a\"b" && "$tool" run -e '*:größe' -- "$tmp/a\"b" > "$tmp/out" 2>&1
	grep -q 'have no quotation mark' "$tmp/out" || { cat "$tmp/out"; return 1; }
}

# Each name that is listed is a pattern of that function: of the file, and of the process.
listed_names()
{
	cat > "$tmp/hard.cc" <<-'END'
	#define KEEP __attribute__((__noinline__, __used__))
	namespace h {
	template <class A, class B> struct Pair {
		A a; B b;
		KEEP int sum() const { return (int)a + (int)b; }
		KEEP Pair operator,(int more) { a += more; return *this; }
		KEEP Pair *operator->() { return this; }
		KEEP int operator[](int i) const { return i ? (int)b : (int)a; }
		KEEP int operator()(int (&x)[3], int (*f)(int, long)) { return x[0] + f(x[1], x[2]); }
		KEEP bool operator<(const Pair &o) const { return a < o.a; }
		template <class C, class D> KEEP int operator<<(Pair<C, D> o) { return (int)(a + o.b); }
		template <class C, class D> KEEP bool operator>(Pair<C, D> o) { return a > (A)o.a; }
		KEEP operator double() const { return (double)a; }
	};
	template <class A, class B> KEEP Pair<A, B> pair(A a, B b) { return Pair<A, B>{ a, b }; }
	KEEP __attribute__((__abi_tag__("cxx11", "v2"))) int tagged(int x) { return x; }
	template <int N, class... T> KEEP int many(T... t) { return N + (0 + ... + (int)t); }
	struct order { int price; };
	KEEP int pay(order *o, char c, const char *, ...) { return o->price + c; }
	KEEP int none() { static int n; auto f = [](int a, auto b) KEEP { n += a + (int)b; return n; }; return f(1, 2) + f(1, 2L); }
	}
	static int plus(int a, long b) { return a + (int)b; }
	int main()
	{
		int x[3] = { 1, 2, 3 };
		h::order o = { 3 };
		auto p = h::pair(1, 2L);
		return (p, 3).sum() + p->sum() + p[1] + p(x, plus) + (p < p) + (p << p) + (p > p) + (int)(double)p + h::tagged(1) +
			h::many<3>(1, 2L, 'c') + h::pay(&o, 'a', "") + h::none() == 0;
	}
	END
	"${CXX:-c++}" -std=c++17 -O1 -o "$tmp/hard" "$tmp/hard.cc" || return 1
	"$tool" list "$tmp/hard" | sed -n 's/^function *- *//p' | sort -u > "$tmp/all"
	grep -qF 'tagged[abi:cxx11]' "$tmp/all" && grep -q 'operator,(int)' "$tmp/all" && [ "$(wc -l < "$tmp/all")" -ge 20 ] || { cat "$tmp/all"; return 1; }
	set --
	while IFS= read -r listed; do
		"$tool" list -e "$listed" "$tmp/hard" 2>&1 | sed 's/^function *- *//' | grep -qxF -- "$listed" || { echo "not listed: $listed"; return 1; }
		set -- "$@" -e "$listed"
	done < "$tmp/all"
	"$tool" run --no-report -o "$tmp/trace.hard" "$@" -- "$tmp/hard" > "$tmp/out" 2>&1
	! grep -e 'no probe matches' -e 'is no pattern' -e 'nothing matches' "$tmp/out" && grep -q 'records [1-9]' "$tmp/out" || { cat "$tmp/out"; return 1; }
}

# A group that is not the program's, a name that is another one.
no_match()
{
	"$tool" run -e 'shop:price_of' -e 'other:shop::price_of' -e 'shop::price' -- "$tmp/names" > "$tmp/out" 2>&1
	[ "$(grep -c 'no probe matches' "$tmp/out")" = 3 ] && grep -q "did you mean.*'names:shop::price_of'" "$tmp/out" || { cat "$tmp/out"; return 1; }
	! grep stripped "$tmp/out" && strip -o "$tmp/nameless" "$tmp/names" && "$tool" run -e 'nameless:*' -- "$tmp/nameless" > "$tmp/out" 2>&1
	grep -q 'nameless is stripped: .*eu-unstrip' "$tmp/out" || { cat "$tmp/out"; return 1; }
}

shown()
{
	recorded 4 'shop::price_of' || return 1
	grep -q 'names:shop::price_of(shop::Order const&)' "$tmp/report" || { cat "$tmp/report"; return 1; }
	"$tool" script "$tmp/trace" > "$tmp/text" 2> "$tmp/err"
	[ "$(grep -c ' names:shop::price_of(shop::Order const&): {' "$tmp/text")" = 3 ] || { cat "$tmp/text" "$tmp/err"; return 1; }
	"$tool" script --mangled "$tmp/trace" > "$tmp/text" 2> "$tmp/err"
	[ "$(grep -c ' names:_ZN4shop8price_ofERKNS_5OrderE: {' "$tmp/text")" = 3 ] || { cat "$tmp/text" "$tmp/err"; return 1; }
	"$tool" script --json "$tmp/trace" > "$tmp/text" 2> "$tmp/err"
	[ "$(grep -c '"name":"names:shop::price_of(shop::Order const&)"' "$tmp/text")" = 3 ] || { cat "$tmp/text"; return 1; }
	"$tool" list -e 'shop::price_of' "$tmp/names" > "$tmp/text" || return 1
	[ "$(grep -c '^function -   names:shop::price_of(shop::Order const&' "$tmp/text")" = 2 ] || { cat "$tmp/text"; return 1; }
	"$tool" list --mangled -e 'shop::price_of' "$tmp/names" > "$tmp/text" || return 1
	[ "$(grep -c '^function -   names:_ZN4shop8price_of' "$tmp/text")" = 2 ] || { cat "$tmp/text"; return 1; }
	"$tool" count -e 'shop::price_of' "$tmp/names" > "$tmp/text" 2>&1
	grep -q 'names:shop::price_of(shop::Order const&)' "$tmp/text" || { cat "$tmp/text"; return 1; }
}

# The text of a field stays as it was, whatever it looks like.
quoted()
{
	rm -rf "$tmp/trace"
	"$tool" run --no-report -o "$tmp/trace" -e 'puts(string)' -- "$tmp/says" ':_Z1fi" :_Z1fi' > /dev/null 2>&1
	"$tool" script "$tmp/trace" > "$tmp/text" 2> "$tmp/err"
	# By the name of its argument if libc's debug information is there.
	grep -qF -e 'arg0_string = ":_Z1fi\" :_Z1fi"' -e 'str_string = ":_Z1fi\" :_Z1fi"' "$tmp/text" || { cat "$tmp/text" "$tmp/err"; return 1; }
}

# One that has no libstdc++ in its process is told to be asked for by its symbol.
no_library()
{
	"$tool" run -e 'shop::price_of' -- "$tmp/names-static" > "$tmp/out" 2>&1
	grep -q "'shop::price_of' matches names-static:_ZN4shop8price_of.*else give the symbol" "$tmp/out" || { cat "$tmp/out"; return 1; }
	recorded 4 '_ZN4shop8price_of*' names-static
}

rust()
{
	recorded 2 'mill::grind' mill && recorded 1 '<mill::Wheel as mill::Turn>::turn' mill || return 1
	"$tool" script "$tmp/trace" > "$tmp/text" 2> "$tmp/err"
	grep -q ' mill:<mill::Wheel as mill::Turn>::turn: {' "$tmp/text" || { cat "$tmp/text" "$tmp/err"; return 1; }
}

# The names that a shell would offer.
completed()
{
	PATH=$build:$PATH bash -c '. "$1"; jf-trace list "$2" | _jf_trace_names' - "$here/../../trace/tool/jf-trace.bash" "$tmp/names" > "$tmp/text" || return 1
	grep -qx 'names:shop::price_of' "$tmp/text" && grep -qx 'names:main' "$tmp/text" && ! grep -q '[(<]' "$tmp/text" || { cat "$tmp/text"; return 1; }
}

if ! "${CXX:-c++}" -O2 -o "$tmp/names" "$here/names.cc" > "$tmp/said" 2>&1; then
	cat "$tmp/said"
	skip "names of C++" "no compiler of C++"
else
	check "patterns by names of C++" patterns
	check "patterns that match no name of C++" no_match
	check "names of C++ are shown" shown
	check "names that are listed are patterns" listed_names
	if have bash; then check "names of C++ are completed" completed; else skip "names of C++ are completed" "no bash"; fi
	if "${CXX:-c++}" -O2 -static-libstdc++ -o "$tmp/names-static" "$here/names.cc" > "$tmp/said" 2>&1; then
		check "a program with a libstdc++ of its own" no_library
	else
		skip "a program with a libstdc++ of its own" "none that is static"
	fi
fi
printf '#include <stdio.h>\nint main(int argc, char **argv) { return argc < 2 || puts(argv[1]) < 0; }\n' > "$tmp/says.c"
check "names with letters beyond ASCII" letters
"${CC:-cc}" -o "$tmp/says" "$tmp/says.c" && check "text of fields stays" quoted
if have rustc; then
	cat > "$tmp/mill.rs" <<- 'END'
		pub struct Wheel(i32);
		pub trait Turn { fn turn(&self) -> i32; }
		impl Turn for Wheel { #[inline(never)] fn turn(&self) -> i32 { std::hint::black_box(self.0) + 1 } }
		#[inline(never)] pub fn grind(v: i32) -> i32 { std::hint::black_box(v) * 2 }
		fn main() { println!("{}", grind(1) + grind(2) + Wheel(3).turn()); }
	END
	if rustc -C symbol-mangling-version=legacy -Z unstable-options -O -o "$tmp/mill" "$tmp/mill.rs" > "$tmp/said" 2>&1 ||
			rustc -O -o "$tmp/mill" "$tmp/mill.rs" > "$tmp/said" 2>&1; then
		check "names of Rust" rust
	else
		skip "names of Rust" "rustc cannot build the program"
	fi
else
	skip "names of Rust" "no rustc"
fi
tap_end
