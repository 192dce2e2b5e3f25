#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What is true of built objects: what the sample says, that text needs no relocation.
# usage: objects.sh FOLDER OBJECT..., where make has built them
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/tests/tap.sh"
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

check "calls in the large code model" large_model
check "the sample says what the module says" sample
for object; do
	check "${object##*/} has no text relocations" no_textrel "$object"
done
tap_end
