#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# jf-sdt as it is installed, with make, CMake and Meson, and as programs are recorded.
# usage: calls_build.sh BUILDS
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
builds=$1
user=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../tap.sh
. "$user/test/tap.sh"
tap_begin
CC=${CC:-cc}
MAKE=${MAKE:-make}
root=$tmp/root
cp "$user/test/sdt/calls_prog.c" "$user/test/sdt/calls_second.c" "$user/test/sdt/calls.h" "$tmp/"
mkdir "$tmp/more" && cp "$user/test/tap.h" "$tmp/more/"
# It includes ../tap.h.
sed -i 's,"../tap.h","more/tap.h",' "$tmp/calls_prog.c"

installs()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "$MAKE" -s -C "$user" OUT="$builds" install PREFIX="$root" && [ -x "$root/bin/jf-sdt" ] &&
		[ -e "$root/share/jumpfunc-sdt/jumpfunc-sdt.mk" ] && [ -e "$root/share/bash-completion/completions/jf-sdt" ]
}

runs()
{
	LD_LIBRARY_PATH=$root/lib "$1"
}

by_make()
{
	mkdir "$tmp/make" && cp -r "$tmp"/calls* "$tmp/more" "$tmp/make/" && cat > "$tmp/make/Makefile" <<-'END'
	CFLAGS = -O2 -g -I$(ROOT)/include -pthread
	LDFLAGS = -L$(ROOT)/lib -pthread
	include $(ROOT)/share/jumpfunc-sdt/jumpfunc-sdt.mk
	LDLIBS += -ljumpfunc
	prog: calls_prog.o calls_second.o ; $(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)
	END
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL PATH="$root/bin:$PATH" "$MAKE" -C "$tmp/make" ROOT="$root" &&
		"$root/bin/jf-sdt" --verify "$tmp/make/calls_prog.o" "$tmp/make/calls_second.o" && runs "$tmp/make/prog"
}

# An object that is refused must not be there, or the next make would link it.
by_make_refused()
{
	mkdir "$tmp/refused" && cat > "$tmp/refused/Makefile" <<-'END' &&
	include $(ROOT)/share/jumpfunc-sdt/jumpfunc-sdt.mk
	all: a.o
	END
	echo 'void __dtrace_a___b(void); void (*p)(void) = __dtrace_a___b;' > "$tmp/refused/a.c" || return 1
	if env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL PATH="$root/bin:$PATH" "$MAKE" -C "$tmp/refused" ROOT="$root"; then
		return 1
	fi
	[ ! -e "$tmp/refused/a.o" ]
}

by_run()
{
	cd "$tmp" && echo 'void __dtrace_a___b(void); int f(void); int f(void) { __dtrace_a___b(); return 1; }' > one.c || return 1
	cp one.c one.txt && : > other.c || return 1
	for how in "-c one.c" "-c -oone.o one.c" "-o one.o -c one.c" "-c $tmp/one.c" "--compile one.c" "-c one.c --output=one.o" \
		"--output one.o one.c -c" "-x c -c one.txt -o one.o" "-c -include other.c one.c"; do
		rm -f one.o
		# shellcheck disable=SC2086
		"$root/bin/jf-sdt" --run "$CC" $how && "$root/bin/jf-sdt" --verify one.o || return 1
	done
	# Several sources, and a program that runs the compiler.
	sed s/f/g/g one.c > two.c && rm -f one.o two.o && "$root/bin/jf-sdt" --run "$CC" -c one.c two.c &&
		"$root/bin/jf-sdt" --verify one.o two.o || return 1
	rm -f one.o && "$root/bin/jf-sdt" --run env "$CC" -c one.c && "$root/bin/jf-sdt" --verify one.o || return 1
	# SIGCHLD is ignored, as some daemons have it.
	rm -f one.o && env --ignore-signal=CHLD "$root/bin/jf-sdt" --run "$CC" -c one.c && "$root/bin/jf-sdt" --verify one.o || return 1
	# Of which the name is not known.
	for how in "-x c -c one.txt" "-c one.txt"; do
		# shellcheck disable=SC2086
		! "$root/bin/jf-sdt" --run "$CC" $how 2> err && grep -q 'give -o' err || return 1
	done
	# A header is compiled to no object, and what has written another object than its arguments say is found.
	: > head.h && "$root/bin/jf-sdt" --run "$CC" -c head.h && rm -f one.o || return 1
	! "$root/bin/jf-sdt" --run sh -c "$CC -c one.c -o hidden.o && : one.c" 2> err || return 1
	cat err
	grep -q 'one.o: was expected' err || return 1
	# What is no compilation, and what fails.
	"$root/bin/jf-sdt" --run "$CC" -E one.c > one.i && "$root/bin/jf-sdt" --run "$CC" -S one.c && [ -e one.s ] || return 1
	"$root/bin/jf-sdt" --run "$CC" -c not-there.c
	[ $? = 1 ] || return 1
	"$root/bin/jf-sdt" --run "$tmp/no-compiler" -c one.c
	[ $? = 127 ]
}

by_cmake()
{
	mkdir "$tmp/cmake" && cp -r "$tmp"/calls* "$tmp/more" "$tmp/cmake/" && cat > "$tmp/cmake/CMakeLists.txt" <<-'END' &&
	cmake_minimum_required(VERSION 3.10)
	project(prog C)
	find_package(jumpfunc REQUIRED)
	find_package(Threads REQUIRED)
	add_executable(prog calls_prog.c calls_second.c)
	target_link_libraries(prog Threads::Threads)
	jumpfunc_sdt(prog)
	# Both forms of target_link_libraries(), before and after, and a library that brings probes.
	add_executable(private calls_prog.c calls_second.c)
	target_link_libraries(private PRIVATE Threads::Threads)
	jumpfunc_sdt(private)
	add_library(second STATIC calls_second.c)
	jumpfunc_sdt(second)
	target_link_libraries(second PUBLIC Threads::Threads)
	add_executable(parts calls_prog.c)
	jumpfunc_sdt(parts)
	target_link_libraries(parts PRIVATE second)
	END
	PATH="$root/bin:$PATH" cmake -S "$tmp/cmake" -B "$tmp/cmake/build" -DCMAKE_PREFIX_PATH="$root" -DCMAKE_BUILD_TYPE=Release &&
		PATH="$root/bin:$PATH" cmake --build "$tmp/cmake/build" && runs "$tmp/cmake/build/prog" && runs "$tmp/cmake/build/private" &&
		runs "$tmp/cmake/build/parts"
}

by_meson()
{
	mkdir "$tmp/meson" && cp -r "$tmp"/calls* "$tmp/more" "$tmp/meson/" && cat > "$tmp/meson/meson.build" <<-'END' &&
	project('prog', 'c', default_options: ['buildtype=release'])
	executable('prog', 'calls_prog.c', 'calls_second.c', dependencies: [dependency('jumpfunc'), dependency('threads')])
	END
	PATH="$root/bin:$PATH" PKG_CONFIG_PATH=$root/lib/pkgconfig meson setup --native-file "$root/share/jumpfunc-sdt/jumpfunc-sdt.ini" \
		"$tmp/meson/build" "$tmp/meson" && PATH="$root/bin:$PATH" meson compile -C "$tmp/meson/build" && runs "$tmp/meson/build/prog"
}

recorded()
{
	cat > "$tmp/rec.c" <<-'END'
	void __dtrace_rec___hit(long a, int b);
	__attribute__((noinline)) static void hit(long a) { __dtrace_rec___hit(a, 7); }
	int main(void) { for (long i = 0; i < 50; i++) hit(i); return 0; }
	END
	"$root/bin/jf-sdt" --run "$CC" -O2 -c -o "$tmp/rec.o" "$tmp/rec.c" &&
		"$CC" -o "$tmp/subject" "$tmp/rec.o" -L"$root/lib" -Wl,--no-as-needed -ljumpfunc-trace -ljumpfunc &&
		LD_LIBRARY_PATH=$root/lib "$root/bin/jf-trace" run -e 'rec:*' -o "$tmp/trace" --no-report "$tmp/subject" || return 1
	"$root/bin/jf-recover" "$tmp"/trace/* | tee "$tmp/recovered"
	grep -q '^records 50$' "$tmp/recovered"
}

check "make install" installs
check "make" by_make
check "make: what is refused does not stay" by_make_refused
check "--run" by_run
if have cmake; then
	check "CMake" by_cmake
else
	skip "CMake" "apt-get install cmake"
fi
if have meson; then
	check "Meson" by_meson
else
	skip "Meson" "apt-get install meson"
fi
check "jf-trace records it" recorded
tap_end
