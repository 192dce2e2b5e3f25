#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Requests, answers, ELF files and patterns, with inputs that a fuzzer makes of real ones.
# usage: fuzz_tool.sh BUILD [INPUTS]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
inputs=${2:-20000}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

# Programs as small as the compiler makes them, with notes, events and each form of a table of symbols.
programs()
{
	n=0
	cat > "$tmp/p.c" <<-END
	struct event { unsigned short v, id; unsigned int on; const char *system, *name; char rest[56]; };
	struct event __jf_event_a = { 2, 0, 0, "sys", "name", "" };
	__asm__(".pushsection .note.stapsdt, \"\", %note\n.balign 4\n.4byte 8, 3f-2f, 3\n.asciz \"stapsdt\"\n"
		"2: .8byte 0x1000, 0, 0\n.asciz \"p\"\n.asciz \"n\"\n.asciz \"4@%eax\"\n3: .balign 4\n.popsection\n");
	int f(void) { return __jf_event_a.id; }
	END
	for how in -shared "-shared -s" "-static -no-pie -e f" "-pie -e f"; do
		n=$((n + 1))
		# shellcheck disable=SC2086
		cc -fPIC -w -nostdlib -Wl,-z,noseparate-code,-z,max-page-size=16,--build-id=none,--hash-style=gnu $how -o "$tmp/p" "$tmp/p.c" &&
			{ printf '\002'; cat "$tmp/p"; } > "$tmp/seeds/$n" || return 1
	done
	cc -c -w -o "$tmp/p" "$tmp/p.c" && { printf '\002'; cat "$tmp/p"; } > "$tmp/seeds/o"
}

seeds()
{
	n=0
	mkdir "$tmp/seeds" "$tmp/found" || return 1
	for request in 'jf1\0list\0' 'jf1\0list\0a:*\0' 'jf1\0enable\0x\0' 'jf1\0stop\0' 'jf1\0stats\0' 'end\000022\00001\0' \
		'jf1\0record\0parent=/x\0mode=discard\0clock=none\0packets=8\0packet_size=4096\0rings=3\0'; do
		n=$((n + 1))
		printf '\000%b' "$request" > "$tmp/seeds/words$n"
		printf '\001%b' "$request" > "$tmp/seeds/request$n"
	done
	n=0
	for pattern in 'call>1ms/prog:*(string,_) if level > 3 && size >= 0x1000 every 10 max 7' 'if !(b | a) || (s8)d & 077 <= -1' 'f(a const&) max 3 if 1us'; do
		n=$((n + 1))
		printf '\003%s' "$pattern" > "$tmp/seeds/pattern$n"
	done
	programs
	ls -l "$tmp/seeds"
}

# What a seed is read as tells that the fuzzer gets to where it should.
seeds_mean()
{
	"$build/jf-trace" list "$tmp/p" > "$tmp/out"
	cat "$tmp/out"
	grep -q 'note .*p:n ' "$tmp/out" && grep -q 'function .*p:f$' "$tmp/out" || return 1
	# An event in one that is loaded anywhere, and in one that is not.
	for seed in 1 3 4; do
		tail -c +2 "$tmp/seeds/$seed" > "$tmp/q"
		"$build/jf-trace" list -e sys:name "$tmp/q" || { ls -l "$tmp"; return 1; }
	done
}

fuzz()
{
	cd "$tmp/found" || return 1
	"$build/fuzz_tool" -runs="$inputs" -max_len=16384 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 "$tmp/found" "$tmp/seeds"
}

check "seeds" seeds
check "seeds are what they should be" seeds_mean
check "$inputs inputs" fuzz
tap_end
