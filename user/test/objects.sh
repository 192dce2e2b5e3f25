#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What is true of built objects: what the sample says, that text needs no relocation.
# usage: objects.sh FOLDER OBJECT..., where make has built them
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin
out=${1:?usage: objects.sh FOLDER OBJECT...}
shift

# The same as the module of the same source, which selftests/tests/samples.sh looks at.
sample()
{
	cat > "$tmp/expected" <<-'END'
	as they are: 4
	squares, checked: 34
	the largest: 5
	as at first: 4
	END
	"$out/sample_both" | diff "$tmp/expected" -
}

no_textrel()
{
	readelf -d "$1" > "$tmp/dynamic" && ! grep TEXTREL "$tmp/dynamic"
}

# Where gcc's asm statements cannot name symbols.
large_model()
{
	printf '#include <jumpfunc/branch.h>\nDEFINE_JF_KEY_FALSE(key);\n%s\n' \
		'int main(void) { return jf_branch_unlikely(&key); }' > "$tmp/branch.c"
	for model in small medium; do
		${CC:-cc} -mcmodel="$model" -I"$user/../include" -c -o "$tmp/branch.o" "$tmp/branch.c" || return
	done
	# A compiler that can now has the caveat in README.md say too much.
	case $(${CC:-cc} --version) in
	*clang*) ;;
	*) ! ${CC:-cc} -mcmodel=large -I"$user/../include" -c -o "$tmp/branch.o" "$tmp/branch.c" || return ;;
	esac
	cat > "$tmp/large.c" <<-'END'
	#include <jumpfunc/dynfunc.h>
	static int one(int x) { return x + 1; }
	static int two(int x) { return x + 2; }
	DEFINE_DYNFUNC(op, one);
	int main(void)
	{
		int first = dynfunc_call(op, 1);

		return dynfunc_update(op, two) || first != 2 || dynfunc_call(op, 1) != 3;
	}
	END
	${CC:-cc} -mcmodel=large -I"$user/../include" -o "$tmp/large" "$tmp/large.c" \
		"$out/libjumpfunc.so" -Wl,-rpath,"$(cd "$out" && pwd)" && "$tmp/large"
}

# What is large lies where 32 bits do not reach. As C++, too: a header's inline keys.
medium_model()
{
	cat > "$tmp/medium.c" <<-'END'
	#include <jumpfunc/dynfunc.h>
	#include <jumpfunc/branch.h>
	DECLARE_JF_KEY_ARRAY(keys, 4096);
	DECLARE_JF_KEY(key);
	static int one(int x) { return x + 1; }
	DEFINE_DYNFUNC(op, one);
	#ifndef __cplusplus
	DEFINE_JF_KEY_ARRAY_FALSE(keys, 4096);
	static DEFINE_JF_KEY_TRUE(own);
	#else
	inline DEFINE_JF_KEY_TRUE(own);
	#endif
	DEFINE_JF_KEY_FALSE(key);
	int main(void)
	{
	#ifndef __cplusplus
		if (jf_branch_unlikely(&keys[4095]) || jf_key_enable(&keys[4095]) ||
		    !jf_branch_unlikely(&keys[4095]) || jf_branch_unlikely(&keys[4094]))
			return 1;
	#endif
		return jf_branch_unlikely(&key) || !jf_branch_likely(&own) ||
		       dynfunc_call(op, 1) != 2;
	}
	END
	for options in '-O2' '-O0 -mlarge-data-threshold=8' '-x c++ -std=c++17 -mlarge-data-threshold=8'; do
		# shellcheck disable=SC2086 # lists of options
		${CC:-cc} $options -mcmodel=medium -Wall -Wextra -Werror -I"$user/../include" \
			-o "$tmp/medium" "$tmp/medium.c" -x none "$out/libjumpfunc.so" \
			-Wl,-rpath,"$(cd "$out" && pwd)" && "$tmp/medium" || return
	done
}

# Where "()" says that there are no parameters.
c23()
{
	cat > "$tmp/c23.c" <<-'END'
	#include <jumpfunc/tracepoint.h>
	DECLARE_JF_TRACE(event, JF_PROTO(int x, const char *s), JF_ARGS(x, s));
	DEFINE_JF_TRACE(event);
	DEFINE_JF_KEY_TRUE(key);
	static int sum;
	static void add(int x, long y) { sum += x + (int)y; }
	static char *same(char *s) { return s; }
	DEFINE_DYNFUNC_NULL(hook, add);
	DEFINE_DYNFUNC_RET0(filter, same);
	static void probe(void *data, int x, const char *s) { *(int *)data += s ? x : 0; }
	int main(void)
	{
		char text[] = "x";

		dynfunc_call(hook, 1, 1);
		if (sum || dynfunc_call(filter, text) || !jf_branch_likely(&key))
			return 1;
		if (dynfunc_update(hook, add) || dynfunc_update(filter, same) ||
		    register_jf_trace_event(probe, &sum))
			return 2;
		dynfunc_call(hook, 1, 1);
		jf_trace_event(3, dynfunc_call(filter, text));
		return sum != 5;
	}
	END
	"$1" "-std=$2" -Wall -Wextra -Werror -I"$user/../include" -o "$tmp/c23" "$tmp/c23.c" \
		"$out/libjumpfunc.so" -Wl,-rpath,"$(cd "$out" && pwd)" && "$tmp/c23"
}

check "calls in the large code model" large_model
# clang before version 18 knows no threshold.
if ${CC:-cc} -mlarge-data-threshold=8 -mcmodel=medium -E -x c /dev/null > /dev/null 2>&1; then
	check "the medium code model" medium_model
else
	skip "the medium code model" "${CC:-cc} has no threshold for it"
fi
for cc in "${CC:-cc}" gcc-14 gcc-15 clang-16 clang-18 clang-19; do
	if have "$cc"; then
		for std in c2x gnu2x; do
			check "$std, by $cc" c23 "$cc" "$std"
		done
	fi
done
check "the sample says what the module says" sample
for object; do
	check "${object##*/} has no text relocations" no_textrel "$object"
done
tap_end
