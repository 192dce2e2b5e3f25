#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# The generic form, which patches nothing: with sanitizers on this machine, and on machines
# of other kinds, which cross compilers build for and qemu-user emulates. On aarch64 also the
# form that patches.
# usage: arch.sh FOLDER [MACHINE...]	native aarch64 aarch64-patched riscv64 s390x i386; default: all
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin
out=$(readlink -f "${1:?usage: arch.sh FOLDER [MACHINE...]}")
shift
machines=${*:-native aarch64 aarch64-patched riscv64 s390x i386}
warn=(-Wall -Wextra -Werror -Wshadow -g -pthread -I"$user/.." -I"$user/../include")
# One compiler at a time for what is slow to emulate.
limit=${JF_ARCH_LIMIT:-300}

# run PROGRAM ARGS...: on the machine that is being tested
run()
{
	case $machine in
	native) timeout "$limit" "$@" ;;
	# qemu-i386 7.2 hangs where a program has two threads; the kernel runs such programs.
	i386)
		local runner="/usr/$triple/lib/ld-linux.so.2 --library-path /usr/$triple/lib:$dir"

		# shellcheck disable=SC2086 # several words
		JF_TEST_RUNNER=$runner timeout "$limit" $runner "$@"
		;;
	*)
		local runner="qemu-${machine%-patched} -L /usr/$triple -E LD_LIBRARY_PATH=$dir:/usr/$triple/lib"

		# shellcheck disable=SC2086 # several words
		JF_TEST_RUNNER=$runner timeout "$limit" $runner -E JF_TEST_EMULATED=1 "$@"
		;;
	esac
}

# built NAME COMPILER ARGS...
built()
{
	local name=$1
	shift
	"$@" -o "$dir/$name"
}

in_c() { "$cc" "${form[@]}" -std=gnu11 -fexceptions "${warn[@]}" "$@"; }
in_cxx() { "$cxx" "${form[@]}" -std=c++17 "${warn[@]}" "$@"; }

library()
{
	rm -f "$dir"/libjumpfunc.*
	"${MAKE:-make}" -s -C "$user" lib ${form:+GENERIC=1} OUT="$dir" CC="$cc" AR="${triple:+$triple-}ar" \
		OBJCOPY="${triple:+$triple-}objcopy" CLANG=
}

plugins()
{
	local so=(-O2 -fPIC -shared "$user/test/test_lib_plugin.c" "$dir/libjumpfunc.so.1")

	printf '#include <%s>\n#undef JF_TABLE_MAGIC\n#define JF_TABLE_MAGIC 0x6a66ffff\n' \
		jumpfunc/detail/types.h > "$dir/other-version.h"
	built plugin1.so in_c "${so[@]}" && built plugin2.so in_c "${so[@]}" &&
		built plugin-bad.so in_c "${so[@]}" -include "$dir/other-version.h" &&
		built plugin-greedy.so in_c "${so[@]}" -DHOST_KEYS=4
}

# What standards.sh has for the other form: nothing but what the standard has, and all macros.
standards()
{
	local pedantic=(-pedantic -std=c11 -O2)

	built libexports.so "$cc" "${form[@]}" "${warn[@]}" "${pedantic[@]}" -fPIC -shared \
		"$user/test/standards_exports.c" "$dir/libjumpfunc.so.1" &&
		built standards "$cc" "${form[@]}" "${warn[@]}" "${pedantic[@]}" "$user/test/standards.c" \
			"$user/test/standards_arrays.c" "$dir/libexports.so" "$dir/libjumpfunc.so.1" "-Wl,-rpath,$dir" &&
		run "$dir/standards"
}

recorder()
{
	local sources

	mapfile -t sources < <("${MAKE:-make}" -s --no-print-directory -C "$user" record-sources)
	built test_record in_c -O2 -I"$user/.." -I"$user/test/trace" "$user/test/trace/test_record.c" "${sources[@]/#/$user/}" \
		"$dir/libjumpfunc.a"
}

# The same tests as where text is patched; what they say of text is left out there.
everything()
{
	local lib=$dir/libjumpfunc.so.1 rpath=-Wl,-rpath,$dir

	check "$machine: the library is built" library
	[ -e "$lib" ] || return
	check "$machine: test_lib is built" built test_lib in_c -O2 "$user/test/test_lib.c" "$lib" "$rpath"
	check "$machine: test_lib" run "$dir/test_lib" "${said[@]}"
	check "$machine: test_lib, static and without optimisation, is built" \
		built test_lib-O0 in_c -O0 "$user/test/test_lib.c" "$dir/libjumpfunc.a"
	check "$machine: test_lib, static and without optimisation" run "$dir/test_lib-O0" "${said[@]}"
	check "$machine: test_lib_dl is built" built test_lib_dl in_c -O2 -rdynamic "$user/test/test_lib_dl.c" "$lib" "$rpath" -ldl
	check "$machine: its plugins are built" plugins
	check "$machine: test_lib_dl" run "$dir/test_lib_dl" "$dir/plugin1.so" "$dir/plugin2.so" \
		"$dir/plugin-bad.so" "$dir/plugin-greedy.so"
	check "$machine: test_lib_list is built" built test_lib_list in_c -O2 -rdynamic "$user/test/test_lib_list.c" "$user/test/test_lib_list_array.c" \
		"$lib" "$rpath" -ldl
	check "$machine: test_lib_list" run "$dir/test_lib_list" "$dir/plugin1.so"
	check "$machine: test_lib_count is built" built test_lib_count in_c -O2 -rdynamic "$user/test/test_lib_count.c" "$lib" "$rpath" -ldl
	check "$machine: test_lib_count" run "$dir/test_lib_count" "$dir/plugin1.so"
	check "$machine: the sample that is a module, too, is built" built sample_both in_c -O2 \
		"$user/../samples/jf_sample_both_middle.c" "$user/../samples/jf_sample_both_program.c" "$lib" "$rpath"
	check "$machine: the sample" run "$dir/sample_both"
	check "$machine: standard C" standards
	# A 64-bit field of a structure is not aligned there, and CTF wants it so.
	if [ "$machine" != i386 ]; then
		check "$machine: test_record is built" recorder
		check "$machine: test_record" run "$dir/test_record"
	fi
	if ! command -v "$cxx" > /dev/null; then
		skip "$machine: C++" "no compiler (apt-get install g++-${triple//_/-})"
		return
	fi
	check "$machine: test_lib_cxx is built" built test_lib_cxx in_cxx -O2 "$user/test/test_lib_cxx.cc" \
		"$user/test/test_lib_cxx2.cc" "$lib" "$rpath"
	check "$machine: test_lib_cxx" run "$dir/test_lib_cxx"
	check "$machine: test_lib_batch is built" built test_lib_batch in_cxx -O2 "$user/test/test_lib_batch.cc" "$lib" "$rpath"
	check "$machine: test_lib_batch" run "$dir/test_lib_batch"
}

# The library's sources in the program, so that they are looked at, too.
sanitized()
{
	local by=$1 compiler=$2 sources

	shift 2
	mapfile -t sources < <("${MAKE:-make}" -s --no-print-directory -C "$user" generic-sources)
	check "$machine: test_lib with $by is built" \
		built "test_lib-$by" with "$compiler" -O1 -fno-sanitize-recover=all "$@" "$user/test/test_lib.c" \
		"${sources[@]/#/$user/}"
	check "$machine: test_lib with $by" run "$dir/test_lib-$by" none load
}
with() { local cc=$1; shift; in_c "$@"; }

# Objects of the generic form and a library that patches: they have no sites, and are served.
mixed()
{
	check "$machine: test_lib, generic, with a library that patches is built" \
		built test_lib-mixed in_c -O2 "$user/test/test_lib.c" "$out/libjumpfunc.a"
	check "$machine: test_lib, generic, with a library that patches" run "$dir/test_lib-mixed"
}

# The other way round the object is refused, and nothing crashes.
sites_refused()
{
	cat > "$dir/sites.c" <<-'END'
	#include <jumpfunc/branch.h>
	#include <stdio.h>
	#include <errno.h>
	static DEFINE_JF_KEY_FALSE(k);
	int main(void)
	{
		int err = jf_key_enable(&k);

		printf("%d %d\n", err, (int)jf_branch_unlikely(&k));
		return err != -ENODEV || jf_branch_unlikely(&k);
	}
	END
	"$cc" -std=gnu11 "${warn[@]}" -o "$dir/sites" "$dir/sites.c" "$dir/libjumpfunc.a" &&
		"$dir/sites" 2>&1 | tee "$dir/sites.log" && grep -q "has sites" "$dir/sites.log" &&
		"$dir/sites" 2> /dev/null
}

packages()
{
	case $1 in
	i386) echo "gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-i386-cross" ;;
	aarch64*) echo "gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
	*) echo "gcc-$1-linux-gnu g++-$1-linux-gnu libc6-dev-$1-cross qemu-user" ;;
	esac
}

# With the library's objects, since the archive hides what they call of each other.
steps()
{
	local objects

	mapfile -t objects < <(find "$dir/lib" -name '*.o' ! -name all.o)
	built test_steps_arm64 in_c -O2 "$user/test/test_steps_arm64.c" "${objects[@]}" -rdynamic -ldl \
		-Wl,--wrap=jf_writer_write -Wl,--wrap=jf_sync_cores -Wl,--wrap=syscall &&
		built steps_plugin.so in_c -O2 -fPIC -shared -DPLUGIN "$user/test/test_steps_arm64.c"
}

# What is different where text is patched: branches that lead to a test, as for libraries whose
# users are not known; protected branches; code at fixed addresses; and callers on all cores
# beside changes. An emulator does not see what is written to /proc/self/mem, so that text is
# written by the other writer there.
patched()
{
	local storm=(-O2 -rdynamic "$user/test/stress_lib.c" "$dir/libjumpfunc.so.1" "-Wl,-rpath,$dir" -ldl)
	local flags tested

	for flags in -DJF_TESTED -mbranch-protection=standard "-fno-pie -no-pie" "-Os -ffunction-sections -Wl,--gc-sections"; do
		# shellcheck disable=SC2086 # several words
		check "$machine: test_lib with $flags is built" \
			built test_lib-flags in_c -O2 $flags "$user/test/test_lib.c" "$dir/libjumpfunc.a"
		# shellcheck disable=SC2086 # several words
		check "$machine: test_lib with $flags" run "$dir/test_lib-flags" "${said[@]}"
	done
	check "$machine: test_steps_arm64 is built" steps
	check "$machine: test_steps_arm64" run "$dir/test_steps_arm64" "$dir/steps_plugin.so"
	for tested in "" -DJF_TESTED; do
		check "$machine: stress_lib $tested is built" built stress_lib in_c ${tested:+"$tested"} "${storm[@]}"
		check "$machine: stress_lib $tested" run "$dir/stress_lib" --duration 5 --callers 2 --forks 0 "$dir/plugin1.so"
	done
	[ -n "${CLANG:-}" ] || return
	check "$machine: test_lib by clang is built" built test_lib-clang "$CLANG" --target=aarch64-linux-gnu \
		-isystem "/usr/$triple/include" -std=gnu11 -fexceptions "${warn[@]}" -O2 -c "$user/test/test_lib.c"
}

for machine in $machines; do
	dir=$out/arch/$machine
	mkdir -p "$dir"
	form=(-DJF_GENERIC)
	said=(none load)
	triple=
	if [ "$machine" = native ]; then
		cc=${CC:-cc} cxx=${CXX:-c++}
		everything
		case $(uname -m) in
		x86_64) mixed; check "$machine: sites that the library would not patch are refused" sites_refused ;;
		esac
		sanitized asan "$cc" -fsanitize=address,undefined
		[ ! -e "$("$cc" -print-file-name=libtsan.so)" ] ||
			[ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -gt 28 ] ||
			sanitized tsan "$cc" -fsanitize=thread
		[ -z "${CLANG:-}" ] || sanitized clang "$CLANG" -fsanitize=address,undefined
		continue
	fi
	triple=${machine%-patched}-linux-gnu
	[ "$machine" = "${machine%-patched}" ] || form=() said=(remap store)
	[ "$machine" != i386 ] || triple=i686-linux-gnu
	cc=$triple-gcc cxx=$triple-g++
	if ! command -v "$cc" > /dev/null || [ ! -e "/usr/$triple/include/stdio.h" ] ||
	   { [ "$machine" != i386 ] && ! command -v "qemu-${machine%-patched}" > /dev/null; }; then
		skip "$machine" "no cross compiler or emulator (apt-get install $(packages "$machine"))"
		continue
	fi
	if [ "$machine" = i386 ] && ! "/usr/$triple/lib/ld-linux.so.2" --version > /dev/null 2>&1; then
		skip "$machine" "this kernel does not run programs of 32 bits"
		continue
	fi
	everything
	[ "$machine" = "${machine%-patched}" ] || patched
done
tap_end
