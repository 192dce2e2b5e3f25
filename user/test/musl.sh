#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Plugins that bring the library into programs of musl, which gives data of threads to no
# object that comes late and asks for them as those have that come first (initial-exec).
# With glibc, too, where there is room for the library's.
# usage: musl.sh
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin

# library COMPILER: into a folder of its own
library()
{
	${MAKE:-make} --no-print-directory -s -C "$user" lib CC="$1" OUT="$tmp/$1"
}

# plugin COMPILER FLAGS LIBRARY...: it comes with this library
plugin()
{
	compiler=$1
	flags=$2
	shift 2
	# shellcheck disable=SC2086 # several words
	$compiler $flags -Wall -Wextra -Werror -I"$user/../include" -fPIC -shared -pthread -o "$tmp/plugin.so" \
		"$user/test/musl_plugin.c" "$@" &&
		$compiler -O2 -Wall -Wextra -Werror -pthread -o "$tmp/prog" "$user/test/musl_prog.c" &&
		"$tmp/prog" "$tmp/plugin.so" && JUMPFUNC_TRAP=always "$tmp/prog" "$tmp/plugin.so"
}

# What comes with the program may have its data of threads at a fixed distance all the same,
# and is refused if it comes late: else the caveat in README.md says too much.
with_program()
{
	musl-gcc -O2 -ftls-model=initial-exec -I"$user/../include" -fPIC -shared -pthread -o "$tmp/plugin.so" \
		"$user/test/musl_plugin.c" -L"$tmp/musl-gcc" -ljumpfunc "-Wl,-rpath,$tmp/musl-gcc" &&
		! "$tmp/prog" "$tmp/plugin.so" &&
		musl-gcc -O2 -pthread -o "$tmp/linked" "$user/test/musl_prog.c" -Wl,--no-as-needed "$tmp/plugin.so" \
			"-Wl,-rpath,$tmp/musl-gcc" &&
		"$tmp/linked" "$tmp/plugin.so"
}

for compiler in gcc musl-gcc; do
	if ! have "$compiler"; then
		skip "$compiler" "not installed (apt-get install musl-tools)"
		continue
	fi
	check "$compiler: the library" library "$compiler"
	for flags in -O0 -O2; do
		check "$compiler $flags: a plugin with libjumpfunc.so" plugin "$compiler" "$flags" \
			-L"$tmp/$compiler" -ljumpfunc "-Wl,-rpath,$tmp/$compiler"
		check "$compiler $flags: a plugin with libjumpfunc.a" plugin "$compiler" "$flags" \
			"$tmp/$compiler/libjumpfunc.a"
	done
done
if have musl-gcc; then
	check "musl-gcc: an object that comes with the program" with_program
fi
tap_end
