#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a program gets with the headers: macros whose names are the library's own and no others, and all that section 3
# of the manual has a page about. TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"
tap_detail=20
for tool in gcc python3; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP needs $tool: harness/deps.sh host"; exit 4; }
done
cd "$top" || exit

# macros COMPILER FILE: those that headers of ours define, in the file and in what it includes
macros() { "$1" -Iinclude -E -dD "$2" | awk '/^# [0-9]+ "/ {f = $3} /^#define/ && f ~ /jumpfunc\// {sub(/\(.*/, "", $2); print $2}' | sort -u; }
own='^_*(JF_|jf_)|^JUMPFUNC_|^_*(DEFINE|DECLARE|EXPORT|IMPORT)_(JF_|DYNFUNC)|^DYNFUNC_|^dynfunc_'
printf '#include <jumpfunc/%s>\n' batch.h branch.h dynfunc.h list.h stats.h tracepoint.h >"$work/all.c"
{ cat "$work/all.c"; printf '#include <jumpfunc/%s>\n' key.hh batch.hh; } >"$work/all.cc"
for lang in gcc:all.c g++:all.cc; do
	command -v "${lang%%:*}" >/dev/null || { skip "macros, ${lang##*.}" "no ${lang%%:*}: harness/deps.sh outside"; continue; }
	have=$(macros "${lang%%:*}" "$work/${lang#*:}")
	[ "$(wc -l <<<"$have")" -ge 60 ]; result $? "the headers define macros, in .${lang##*.}" "$have"
	stray=$(grep -vE "$own" <<<"$have")
	[ -z "$stray" ]; result $? "... and each has a name that is ours" "$stray"
done
# Those of the same names that a program has stay what they are.
cat >"$work/theirs.c" <<'END'
#define PROTO(...) they have one
#define ARGS 3
#include <jumpfunc/tracepoint.h>
#if ARGS != 3
#error "another one"
#endif
DECLARE_JF_TRACE(rx, JF_PROTO(int i, long l), JF_ARGS(i, l));
DEFINE_JF_TRACE(rx);
END
out=$(gcc -Wall -Werror -Iinclude -c -o "$work/theirs.o" "$work/theirs.c" 2>&1)
result $? "a program may have PROTO and ARGS of its own" "$out"

# pages FOLDER: a function for each page about a header, in which each name stands that the page has
use()
{
	printf '#include <jumpfunc/%s>\n' tracepoint.h dynfunc.h
	cat <<-'END'
		static int jf_used(int i) { return i; }
		DECLARE_JF_TRACE(name, JF_PROTO(int i), JF_ARGS(i));
		DEFINE_JF_TRACE(name);
		DEFINE_DYNFUNC(name, jf_used);
	END
	for page in "$1"/*.3; do
		name=${page##*/} name=${name%.3}
		case $name in jumpfunc_*) continue ;; esac
		! so=$(sed -n 's/^\.so //p' "$page") || [ -z "$so" ] || page=${1%/*}/$so
		sed -n 's/^\(#include <jumpfunc.*\)/\1/p' "$page"
		# Headers of programs may do without the contract that kernels have.
		if grep -q "^struct $name \|^enum $name " "$page"; then
			kind=$(grep -oE "^(struct|enum) $name " "$page" | head -n 1)
			echo "unsigned long use_$name(void); unsigned long use_$name(void) { return sizeof($kind); }"
		else
			printf '#ifndef %s\nconst void *use_%s(void); const void *use_%s(void) { return (const void *)%s; }\n#endif\n' \
				"$name" "$name" "$name" "$name"
		fi
	done
}
if out=$(make -s -C user OUT="$work/user" man 2>&1) && [ -e "$work/user/man/man3/jf_list.3" ]; then
	n=$(find "$work/user/man/man3" -name '*.3' | wc -l)
	[ "$n" -ge 60 ]; result $? "there are pages of section 3" "$n"
	use "$work/user/man/man3" >"$work/use.c"
	out=$(gcc -Wall -Werror -Iinclude -c -o "$work/use.o" "$work/use.c" 2>&1); result $? "a program that uses each of $n names compiles" "$out"
	sed 's/jf_key_inc/jf_key_inc_not_zero/g' "$work/user/man/man3/jf_key_inc.3" >"$work/user/man/man3/jf_key_inc_not_zero.3"
	use "$work/user/man/man3" >"$work/use.c"
	! out=$(gcc -Wall -Werror -Iinclude -c -o "$work/use.o" "$work/use.c" 2>&1) && grep -q jf_key_inc_not_zero <<<"$out"
	result $? "... and does not, with a page about what kernels alone have" "$out"
else
	not_ok "the manual of programs is made" "$out"
fi
tap_end
