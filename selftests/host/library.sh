#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libjumpfunc as it is built, installed and removed: where make is not at home it works or says why in one line, the
# linker and the C library harden it, its pkg-config file follows its prefix, CMake takes it for what its version says,
# and what an older version had installed goes. The Debian package's list of symbols is that of the library. TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"
for tool in gcc make readelf nm; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP needs $tool: harness/deps.sh host"; exit 4; }
done
tap_detail=20
version=$(cat "$top/VERSION")

# copy FOLDER: of what the library is built of
copy()
{
	mkdir -p "$1" && (cd "$top" && cp -r VERSION include user common man "$1")
}
tree=$work/tree
copy "$tree" || exit
go() { out=$(make --no-print-directory -C "$tree/user" "$@" 2>&1); }
# one PATTERN: one line, beside make's own, and it is like that
one() { [ "$(grep -cv '^make' <<<"$out")" = 1 ] && grep -qE "libjumpfunc: .*$1" <<<"$out"; }

# ---- where make is not at home ----

blank="$work/it's my clone"
copy "$blank"
tree=$blank
for target in lib install clean; do
	! go $target DESTDIR="$work/none" && one "blank in its name: $blank"; result $? "a folder with a blank: make -C user $target says so" "$out"
done
tree=$work/tree
! go lib OUT="$work/my out" && one "blank in its name: $work/my out"; result $? "... and so does OUT= with one" "$out"
mkdir -p "$work/my" "$work/out"
touch "$work/my/precious" "$work/out/precious"
! go clean OUT="$work/my out" && [ -e "$work/my/precious" ] && [ -e "$work/out/precious" ]; result $? "... and clean takes nothing that has a part of that name" "$out"
! go lib O="$work/o" && one "OUT=$work/o"; result $? "O=: says that it is OUT=" "$out"
if [ "$(id -u)" != 0 ]; then
	readonly_go() { chmod a-w "$tree" "$tree/user"; out=$(make --no-print-directory -C "$tree/user" "$@" 2>&1); rc=$?; chmod u+w "$tree" "$tree/user"; return $rc; }
else
	# shellcheck disable=SC2016
	readonly_go() { out=$(unshare -m --propagation private sh -c 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 99; make --no-print-directory -C "$0/user" "$@"' "$tree" "$@" 2>&1); }
fi
if [ "$(id -u)" = 0 ] && ! unshare -m true 2>/dev/null; then
	skip "a tree that cannot be written" "no name spaces of mounts here"
else
	! readonly_go lib && one "cannot write to $tree.*OUT="; result $? "a tree that cannot be written: make -C user lib says so, and what can be done" "$out"
	readonly_go lib OUT="$work/ro"; rc=$?
	[ $rc = 0 ] && [ -e "$work/ro/libjumpfunc.so.1" ]; result $? "... and with OUT= it works" "$out"
fi

# ---- hardened ----

go lib; result $? "the library is built" "$out"
so=$tree/build/user/libjumpfunc.so.1
readelf -dW "$so" | grep -qE 'BIND_NOW|FLAGS_1.*NOW'; result $? "its symbols are bound when it is loaded" "$(readelf -dW "$so")"
readelf -lW "$so" | grep -q GNU_RELRO; result $? "... and what that has written is read-only then" "$(readelf -lW "$so")"
nm -D "$so" | grep -q '_chk'; result $? "it calls what checks sizes" "$(nm -D "$so")"
go lib OUT="$work/O0" CFLAGS=-O0; result $? "... and builds without optimisation, which has no such checks" "$out"
go lib OUT="$work/flags" CPPFLAGS=-DJF_FLAGS_OF_A_PACKAGE LDFLAGS=-Wl,--hash-style=sysv
readelf -dW "$work/flags/libjumpfunc.so.1" | grep -q '(HASH)' && readelf -dW "$work/flags/libjumpfunc.so.1" | grep -q NOW; result $? "the linker's flags of a package are added" "$out"
go -n lib OUT="$work/flags2" CPPFLAGS=-DJF_FLAGS_OF_A_PACKAGE
! grep -E -- '-c -o [^ ]*\.o lib/' <<<"$out" | grep -vq -- -DJF_FLAGS_OF_A_PACKAGE; result $? "... and the preprocessor's" "$out"

# ---- installed ----

root=$work/root prefix=/opt/jf
files() { (cd "$root" && find . ! -type d | sort); }
put() { go "$@" DESTDIR="$root" PREFIX=$prefix; }
put install; result $? "make -C user install" "$out"
pc=$root$prefix/lib/pkgconfig/jumpfunc.pc
! grep -nE "^(libdir|includedir)=$prefix" "$pc" && grep -qx "prefix=$prefix" "$pc"; result $? "jumpfunc.pc has its folders relative to its prefix" "$(cat "$pc")"
if command -v pkg-config >/dev/null; then
	out=$(PKG_CONFIG_PATH=${pc%/*} pkg-config --define-variable=prefix=/moved --cflags --libs jumpfunc)
	[[ $out == *-I/moved/include* && $out == *-L/moved/lib* ]]; result $? "... so that another prefix moves them" "$out"
	PKG_CONFIG_PATH=${pc%/*} pkg-config --exact-version="$version" jumpfunc; result $? "... and has the version" "$(cat "$pc")"
else
	skip "pkg-config" "harness/deps.sh outside"
fi
make -s -C "$tree/user" install DESTDIR="$work/multi" PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu INCLUDEDIR=/elsewhere/include >/dev/null 2>&1
pc=$work/multi/usr/lib/x86_64-linux-gnu/pkgconfig/jumpfunc.pc
# shellcheck disable=SC2016 # pkg-config expands it
grep -qxF 'libdir=${prefix}/lib/x86_64-linux-gnu' "$pc" && grep -qx 'includedir=/elsewhere/include' "$pc"; result $? "... also where they are others, and only if they are below it" "$(cat "$pc")"

# The agent is no library that a program is linked with.
multi=$work/multi/usr/lib/x86_64-linux-gnu
if [ -e "$tree/build/user/libjumpfunc-agent.so" ]; then
	for folder in "$root$prefix/lib" "$multi"; do
		out=$(ls "$folder" "$folder/jumpfunc") && ! ls "$folder"/libjumpfunc-agent* >/dev/null 2>&1; result $? "the agent is in a private folder of ${folder#"$work"}" "$out"
		out=$("${folder%/lib*}/bin/jf-trace" run -o "$work/trace" -e libc.so.6:write -- /bin/echo recorded 2>&1)
		grep -qx recorded <<<"$out" && grep -qs 'name = "libc.so.6:write"' "$work/trace"/*/metadata "$work/trace/metadata"; result $? "... where jf-trace finds it" "$out"
		rm -rf "$work/trace"
	done
	out=$(PKG_CONFIG_PATH=$multi/pkgconfig pkg-config --define-variable=prefix="$work/multi/usr" --variable=agentdir jumpfunc-trace 2>&1)
	[ -e "$out/libjumpfunc-agent.so" ]; result $? "... and pkg-config names it" "$out"
	touch "$root$prefix/lib/libjumpfunc-agent.so"
	put install && [ ! -e "$root$prefix/lib/libjumpfunc-agent.so" ]; result $? "... that of an older version goes" "$out"
else
	skip "the agent is in a private folder" "apt-get install libzydis-dev"
fi

# What an older version had.
touch "$root$prefix/include/jumpfunc/old.h" "$root$prefix/include/jumpfunc/detail/older.h" "$root$prefix/include/mine.h"
list=$(find "$root$prefix/share" -name 'libjumpfunc.files')
printf '%s\n' "$prefix/include/jumpfunc/old.h" "$prefix/include/jumpfunc/detail/older.h" >>"${list:-/dev/null}"
put install && [ ! -e "$root$prefix/include/jumpfunc/old.h" ] && [ -e "$root$prefix/include/mine.h" ]
result $? "a newer version takes away what it does not have, and nothing else" "$out$(files)"
touch "$root$prefix/include/jumpfunc/old.h"
printf '%s\n' "$prefix/include/jumpfunc/old.h" >>"${list:-/dev/null}"
# Those of before there was a list.
printf '%s\n' '#ifndef JUMPFUNC_OLDEST_H' >"$root$prefix/include/jumpfunc/oldest.h"
put uninstall && [ "$(files)" = "./opt/jf/include/mine.h" ] && [ ! -e "$root$prefix/include/jumpfunc" ]
result $? "uninstall takes what an older version has left, too, and nothing of other software" "$out$(files)"
put uninstall && [ "$(files)" = "./opt/jf/include/mine.h" ]; result $? "... and again, where nothing is installed" "$out$(files)"

# ---- versions ----

put install
# takes VERSION: CMake, asked for that, with this library's version made another one
takes()
{
	mkdir -p "$work/cmake/have/lib/cmake/jumpfunc" "$work/cmake/have/include/jumpfunc"
	rm -rf "$work/cmake/b"
	touch "$work/cmake/have/include/jumpfunc/branch.h"
	cp "$root$prefix/lib/cmake/jumpfunc/jumpfunc-config.cmake" "$work/cmake/have/lib/cmake/jumpfunc"
	(cd "$tree" && mkdir -p "$work/v" && echo "$1" >"$work/v/VERSION")
	sed -e "s/@VERSION@/$1/g" -e "s/@MAJOR@/${1%%.*}/g" -e "s/@MINOR@/$(cut -d . -f 2 <<<"$1")/g" "$tree/user/dist/jumpfunc-config-version.cmake.in" \
		>"$work/cmake/have/lib/cmake/jumpfunc/jumpfunc-config-version.cmake"
	printf 'cmake_minimum_required(VERSION 3.10)\nproject(x C)\nfind_package(jumpfunc %s)\nif(NOT jumpfunc_FOUND)\nmessage(FATAL_ERROR "refused")\nendif()\n' "$2" >"$work/cmake/CMakeLists.txt"
	out=$(cmake -S "$work/cmake" -B "$work/cmake/b" -DCMAKE_PREFIX_PATH="$work/cmake/have" 2>&1)
}
if command -v cmake >/dev/null; then
	! grep -q @ "$root$prefix/lib/cmake/jumpfunc/jumpfunc-config-version.cmake"; result $? "what is installed for CMake has no blank left" "$(cat "$root$prefix"/lib/cmake/jumpfunc/*)"
	while read -r have want rc; do
		takes "$have" "$want"; [ $? = "$rc" ]; result $? "CMake: version $have, asked for $want: $([ "$rc" = 0 ] && echo taken || echo refused)" "$out"
	done <<-'END'
		0.2 0.2 0
		0.2.3 0.2.1 0
		0.2 0.1 1
		0.2 0.3 1
		0.2.1 0.2.2 1
		1.4 1.2 0
		1.4 1.5 1
		2.0 1.4 1
	END
else
	skip "CMake" "harness/deps.sh outside"
fi

# One story: the name that programs ask for has the number that the version script, the packages and CMake have.
name=$(readelf -d "$so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$name" = "libjumpfunc.so.1" ] && grep -q "^Package: libjumpfunc${name##*.}\$" "$top/debian/control" && grep -q "IMPORTED_SONAME $name" "$top/user/dist/jumpfunc-config.cmake.in" &&
	grep -qE "soversion: '${name##*.}'" "$top/user/meson.build" && ! awk '/^[A-Z_0-9.]+ \{/ {print $1}' "$top/user/libjumpfunc.map" | grep -v "^JUMPFUNC_${name##*.}\."
result $? "soname, package, CMake, Meson and the versions of symbols have one number" "$name"
symbols=$top/debian/libjumpfunc1.symbols
nm -D --defined-only --with-symbol-versions "$so" | awk '$2 == "A" {print $3 "@" $3; next} {sub("@@", "@", $3); print $3}' | sort >"$work/have"
sed -n 's/^ \([^ ]*\) .*/\1/p' "$symbols" 2>/dev/null | sort | diff "$work/have" - >"$work/diff"
result $? "debian/libjumpfunc1.symbols has what the library exports" "$(cat "$work/diff")"
for f in CHANGELOG.md user/README.md user/libjumpfunc.map; do
	grep -q 'ABI' "$top/$f"; result $? "$f says what of the ABI is promised"
done
tap_end
