#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What the agent reads of files, with inputs that a fuzzer makes of real ones and of nothing.
# usage: fuzz.sh BUILD [INPUTS]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
inputs=${2:-20000}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

# With a byte in front that says what it is.
seeds()
{
	mkdir "$tmp/seeds" "$tmp/found" &&
		objcopy -O binary --only-section=.note.stapsdt --set-section-flags .note.stapsdt=alloc \
			"$build/agent/subject.so" "$tmp/notes" &&
		[ -s "$tmp/notes" ] &&
		{ printf '\000'; cat "$tmp/notes"; } > "$tmp/seeds/notes" &&
		printf '\0018@%%rax -4@$-5 1@%%ah 8@-80(%%rbx) 4@8(%%rax,%%rcx,4)' > "$tmp/seeds/arguments" &&
		cp "$build/agent/subject.so" "$tmp/small.so" && strip "$tmp/small.so" &&
		{ printf '\002'; cat "$tmp/small.so"; } > "$tmp/seeds/file" && small_files
}

# So small that most changes are of what is read.
small_files()
{
	cat > "$tmp/p.c" <<-END
	__asm__(".pushsection .note.stapsdt, \"\", %note\n.balign 4\n.4byte 8, 3f-2f, 3\n.asciz \"stapsdt\"\n"
		"2: .8byte 0x1000, 0x2000, 0\n.asciz \"p\"\n.asciz \"n\"\n.asciz \"4@%eax -8@8(%rsp)\"\n3: .balign 4\n.popsection\n"
		".pushsection .stapsdt.base, \"a\"\n.byte 0\n.popsection\n");
	int f(void) { return 1; }
	int g(void) { return 2; }
	END
	n=0
	for how in -shared "-shared -s" "-static -no-pie -e f" "-pie -e f"; do
		n=$((n + 1))
		# shellcheck disable=SC2086
		${CC:-cc} -fPIC -w -nostdlib -Wl,-z,noseparate-code,-z,max-page-size=16,--build-id=none,--hash-style=gnu $how \
			-o "$tmp/p" "$tmp/p.c" && { printf '\002'; cat "$tmp/p"; } > "$tmp/seeds/small$n" || return 1
	done
	[ "$n" = 4 ]
}

fuzz()
{
	cd "$tmp/found" || return 1
	"$build/agent/fuzz_file" -runs="$inputs" -max_len=32768 -timeout=20 -print_final_stats=1 "$tmp/found" "$tmp/seeds"
}

check "seeds" seeds
check "$inputs inputs" fuzz
tap_end
