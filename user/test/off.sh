#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What is off is one nop, as compiled, and no register is saved for what is on.
# usage: off.sh
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin

# build LANGUAGE COMPILER FLAG...
build()
{
	language=$1
	shift
	"$@" -x "$language" -O2 -Wall -Wextra -I"$user/../include" -c -o "$tmp/off.o" "$user/test/off.c"
}

# The mnemonics of a function up to its first return, in one line, without prefixes: insns FUNCTION
insns()
{
	objdump -d --no-show-raw-insn "$tmp/off.o" | awk -v want="<$1>:" '
		/^[0-9a-f]+ </ { on = $2 == want }
		on && /^ / { printf "%s ", $2 == "cs" ? $3 : $2 }
		on && $2 ~ /^ret/ { exit }'
}

number()
{
	size -A "$tmp/off.o" | awk -v want="$1" '$1 == want { n += $2 / 16 } END { print n + 0 }'
}

# Only nops and what moves the argument, but for a frame where others are called.
branches()
{
	test "$(insns branches | tr ' ' '\n' | grep -c '^nopl$')" = 4 &&
		! insns branches | grep -qE 'test|cmp|j[a-z]+ '
}

# One nop for debuggers, one that is the site, and no register is pushed.
trace_name()
{
	test "$(insns trace_name | tr ' ' '\n' | grep -cE '^nopl?$')" = 2 && ! insns trace_name | grep -qE "$1"
}

trace()
{
	test "$(insns trace | tr ' ' '\n' | grep -cE '^nopl?$')" = 1 && ! insns trace | grep -qE "$1"
}

# Two uses, two branches of keys that start off, and one call; the other keys; trampolines.
records()
{
	test "$(number __jf_sites)" = 5 && test "$(number __jf_sites_on)" = 2 && test "$(number __jf_sites_now)" = 1
}

# all BUILD PUSHES LANGUAGE COMPILER FLAG...
all()
{
	what=$1 pushes=$2
	shift 2
	check "$what: it is compiled" build "$@"
	check "$what: branches that are off are nops" branches
	check "$what: a tracepoint is two nops" trace_name "$pushes"
	check "$what: without its arguments it is one" trace "$pushes"
	check "$what: one site for each" records
}

# declares KIND: a key that starts enabled, declared so or otherwise
declares()
{
	printf '#include <jumpfunc/branch.h>\nDECLARE_JF_KEY%s(key);\nDEFINE_JF_KEY_TRUE(key);\n' "$1" > "$tmp/key.c"
	"${CC:-gcc}" -std=gnu11 -I"$user/../include" -c -o "$tmp/key.o" "$tmp/key.c"
}

is_refused()
{
	! declares "" && grep -q "conflicting types" "$tmp/said"
}

check "a key that starts enabled is declared so" declares _TRUE
check "another declaration of it is not compiled" is_refused
all "gcc" 'push|sub' c "${CC:-gcc}" -std=gnu11 -fexceptions
all "g++" 'push|sub' c++ "${CXX:-g++}" -std=gnu++17
if command -v clang > /dev/null; then
	# It saves registers at the beginning where exceptions may come; else it aligns the stack.
	all "clang" ' sub' c clang -std=gnu11 -fexceptions
	all "clang, no exceptions" 'push push|sub' c clang -std=gnu11
	all "clang++" ' sub' c++ clang++ -std=gnu++17
fi
tap_end
