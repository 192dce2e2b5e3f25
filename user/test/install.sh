#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What a stranger does: installs the library, takes the program that is installed with it
# and builds it, in each of the ways that programs are built.
# usage: install.sh [MAKE VARIABLES...]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed "s/~.*//" "$user/../VERSION")
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin

prefix=/opt/jumpfunc
# A library for each C library: the folder, and the compiler if it is not the default.
install_to()
{
	folder=$1
	shift
	${MAKE:-make} --no-print-directory -C "$user" install DESTDIR="$folder" PREFIX="$prefix" "$@"
}

# The program that the README shows, as it is installed.
program()
{
	cp "$tmp/root$prefix/share/doc/libjumpfunc-dev/examples/hello.c" "$tmp/hello.c" || return 1
	# With a read section. An exception of a probe would leave it open without the flag.
	cat >> "$tmp/hello.c" <<-'END'
	#include <jumpfunc/tracepoint.h>
	DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
	DEFINE_JF_TRACE(rx);
	void fires(int i);
	void fires(int i)
	{
		jf_trace_rx(i);
	}
	#if defined(__GLIBC__) && !defined(__EXCEPTIONS)
	#error "without -fexceptions"
	#endif
	END
}

# flags ROOT [--static]
flags()
{
	root=$1
	shift
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig \
		pkg-config "$@" --cflags --libs jumpfunc
}

# It says what it should, and nothing where text may not be written.
says()
{
	[ "$(LD_LIBRARY_PATH=$lib "$1")" = "" ] &&
		[ "$(LD_LIBRARY_PATH=$lib "$1" world)" = "hello, world" ] &&
		[ "$(LD_LIBRARY_PATH=$lib JUMPFUNC=off "$1" world; echo $?)" = 1 ]
}

build()
{
	compiler=$1
	shift
	# The compiler may be several words.
	# shellcheck disable=SC2086
	$compiler -Wall -Wextra -Werror -o "$tmp/hello" "$tmp/hello.c" "$@" && says "$tmp/hello"
}

# plugins ROOT: the host and the plugin that are installed, and the message if a flag is left out
plugins()
{
	root=$1
	lib=$root$prefix/lib
	examples=$root$prefix/share/doc/libjumpfunc-dev/examples
	flags=$(flags "$root")
	# shellcheck disable=SC2086 # several words
	gcc -Wall -Wextra -Werror -o "$tmp/host" "$examples/host.c" -rdynamic $flags -ldl &&
		gcc -Wall -Wextra -Werror -o "$tmp/bare" "$examples/host.c" $flags -ldl &&
		gcc -Wall -Wextra -Werror -shared -fPIC -o "$tmp/plugin.so" "$examples/plugin.c" $flags || return 1
	[ "$(LD_LIBRARY_PATH=$lib "$tmp/host" "$tmp/plugin.so")" = "6, 3" ] &&
		LD_LIBRARY_PATH=$lib "$tmp/bare" "$tmp/plugin.so" 2>&1 | grep 'undefined symbol: __jf_export_func_price$'
}

# pkg_config COMPILER ROOT
pkg_config()
{
	lib=$2$prefix/lib
	# shellcheck disable=SC2046 # several words
	check "$1, shared" build "$1" $(flags "$2")
	# shellcheck disable=SC2046
	check "$1, static" build "$1" -static $(flags "$2" --static)
	# shellcheck disable=SC2046
	check "$1, -O2 -fPIE" build "$1 -O2 -fPIE" $(flags "$2")
}

cmake_project()
{
	mkdir -p "$tmp/cmake" && cp "$tmp/hello.c" "$tmp/cmake/" &&
		cat > "$tmp/cmake/CMakeLists.txt" <<-'END' &&
		cmake_minimum_required(VERSION 3.10)
		project(hello C)
		find_package(jumpfunc @VERSION@ REQUIRED)
		add_executable(hello hello.c)
		target_link_libraries(hello jumpfunc::jumpfunc)
		add_executable(hello-static hello.c)
		target_link_libraries(hello-static jumpfunc::static)
		END
		sed -i "s/@VERSION@/$version/" "$tmp/cmake/CMakeLists.txt" &&
		cmake -S "$tmp/cmake" -B "$tmp/cmake/build" -DCMAKE_PREFIX_PATH="$root$prefix" &&
		cmake --build "$tmp/cmake/build" && says "$tmp/cmake/build/hello" &&
		says "$tmp/cmake/build/hello-static"
}

# As where /lib is a link to /usr/lib, and CMake looks there first.
cmake_by_link()
{
	mkdir -p "$tmp/linked" && ln -s "$root$prefix/lib" "$tmp/linked/lib" &&
		cmake -S "$tmp/cmake" -B "$tmp/cmake/build-link" -DCMAKE_PREFIX_PATH="$tmp/linked"
}

cmake_refuses_newer()
{
	sed -i "s/jumpfunc $version/jumpfunc 99/" "$tmp/cmake/CMakeLists.txt"
	! cmake -S "$tmp/cmake" -B "$tmp/cmake/build2" -DCMAKE_PREFIX_PATH="$root$prefix"
}

meson_file()
{
	mkdir -p "$1" && cp "$tmp/hello.c" "$1/" && cat > "$1/meson.build" <<-'END'
	project('hello', 'c')
	jumpfunc = dependency('jumpfunc', version: '>= 0.1', fallback: ['jumpfunc', 'jumpfunc_dep'])
	executable('hello', 'hello.c', dependencies: jumpfunc)
	END
}

meson_installed()
{
	meson_file "$tmp/meson" &&
		PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig \
		meson setup --wrap-mode=nofallback "$tmp/meson/build" "$tmp/meson" &&
		meson compile -C "$tmp/meson/build" && says "$tmp/meson/build/hello"
}

meson_subproject()
{
	meson_file "$tmp/sub" && mkdir -p "$tmp/sub/subprojects/jumpfunc" &&
		for f in meson.build VERSION include user common; do
			cp -r "$user/../$f" "$tmp/sub/subprojects/jumpfunc/" || return 1
		done
	lib=
	meson setup --wrap-mode=forcefallback "$tmp/sub/build" "$tmp/sub" &&
		meson compile -C "$tmp/sub/build" && says "$tmp/sub/build/hello"
}

# What it shows is what the version script lists.
meson_archive()
{
	nm -g --defined-only "$tmp/sub/build/subprojects/jumpfunc/user/libjumpfunc.a" |
		awk 'NF == 3 { print $3 }' | sort > "$tmp/archive" &&
		awk -f "$user/names.awk" "$user/libjumpfunc.map" | sort | diff - "$tmp/archive"
}

uninstalled()
{
	${MAKE:-make} --no-print-directory -C "$user" uninstall DESTDIR="$root" PREFIX="$prefix" &&
		[ -z "$(find "$root" ! -type d)" ] && [ ! -e "$root$prefix/include/jumpfunc" ]
}

blanks()
{
	folder="$tmp/it's a folder"
	set -- DESTDIR="$folder" PREFIX="/opt/my lib"
	${MAKE:-make} --no-print-directory -C "$user" install "$@" &&
		[ -e "$folder/opt/my lib/lib/libjumpfunc.so.1" ] &&
		${MAKE:-make} --no-print-directory -C "$user" uninstall "$@" &&
		[ -z "$(find "$folder" ! -type d)" ]
}

check "make install DESTDIR= PREFIX=" install_to "$tmp/root"
check "... installs the README's program" program
check "... with blanks and quotes in both, and uninstall" blanks
root=$tmp/root
if ! have pkg-config; then
	skip "compilers" "no pkg-config (apt-get install pkg-config)"
else
	for compiler in gcc clang; do
		if have $compiler; then
			pkg_config $compiler "$root"
		else
			skip "$compiler" "not installed (apt-get install $compiler)"
		fi
	done
	if have gcc; then check "a program and its plugin" plugins "$root"; else skip "a program and its plugin" "no gcc"; fi
	if have musl-gcc; then
		check "make install CC=musl-gcc" install_to "$tmp/musl" CC=musl-gcc OUT="$tmp/musl-out"
		pkg_config musl-gcc "$tmp/musl"
	else
		skip "musl-gcc" "not installed (apt-get install musl-tools)"
	fi
fi
lib=$root$prefix/lib
if have cmake; then
	check "cmake, shared and static" cmake_project
	check "cmake, the folder is a link" cmake_by_link
	check "cmake does not take it for a newer version" cmake_refuses_newer
else
	skip "cmake" "not installed (apt-get install cmake)"
fi
if have meson && have pkg-config; then
	check "meson, installed" meson_installed
	check "meson, a subproject" meson_subproject
	check "... and its static library" meson_archive
else
	skip "meson" "not installed (apt-get install meson pkg-config)"
fi
lib=$root$prefix/lib
# Those of what programs have, and none of what only kernels have.
pages()
{
	for page in jf_key_inc jf_list jf_keys_set jf_trace_batch_register jf_trace_name dynfunc_call IMPORT_JF_KEY; do
		[ -e "$root$prefix/share/man/man3/$page.3" ] || { echo "$page.3 is missing"; return 1; }
	done
	for page in jf_key_dec_deferred jf_key_inc_cpuslocked jf_key_inc_not_zero jf_batch_commit_cpuslocked \
		DEFINE_JF_KEY_MAYBE DEFINE_JF_KEY_DEFERRED_FALSE jf_branch_maybe jf_trace_synchronize; do
		[ ! -e "$root$prefix/share/man/man3/$page.3" ] || { echo "$page.3 is there"; return 1; }
	done
}
if command -v python3 > /dev/null; then
	check "manual pages of what programs have, and of nothing else" pages
fi
check "make uninstall leaves nothing" uninstalled
tap_end
