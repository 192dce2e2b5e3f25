#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Programs that treat libjumpfunc badly: each dies, hangs or fails if the library
# does. Output is TAP.
#
# Usage: user/test/hostile/run.sh BUILD [PROGRAM...]
#   BUILD	where libjumpfunc.so and libjumpfunc.a are; programs go to BUILD/hostile
#   CC, CXX	the compilers, gcc and g++ if unset
#   JF_LIMIT	seconds that each program has, 120 if unset
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../../.." && pwd)

case ${1:-} in
''|-h|--help)
	sed -n '3,9s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
build=$(cd "$1" && pwd) || exit 2
shift
out=$build/hostile
mkdir -p "$out"
# As pkg-config has it for C: -fexceptions.
flags="-O2 -g -Wall -Wextra -I$top/include -pthread -fexceptions"
lib="-L$build -Wl,--no-as-needed -ljumpfunc -ldl -Wl,-rpath,$build -Wl,-rpath,$out"

# Programs whose plugin contains the static library.
is_static() {
	case $1 in two-copies|static-plugin|first-section) true ;; *) false ;; esac
}

# Some programs open the same one, each under a name of its own.
plugin_source() {
	case $1 in
	close-exit|filter) set -- probe ;;
	dl-iterate|fork-handlers|leak|names-*|quiesce-exit|linker-lock|heap-linker) set -- key ;;
	batch-reopen) set -- batch-close ;;
	callback-order) set -- callback-close ;;
	callback-linker|child-closes|fork-closes|thread-fails) set -- callback ;;
	throws-unflagged|throws-static) set -- throws-late ;;
	imports-peer-first) set -- imports-peer ;;
	esac
	set -- "$here/$1.plugin.c"
	[ -f "$1" ] || [ ! -f "$1pp" ] || set -- "$1pp"
	echo "$1"
}

# Two parts that were linked before: what is hidden they keep for themselves.
make_parts() {
	for part in 1 2; do
		# shellcheck disable=SC2086 # a list of options
		${CC:-gcc} $flags -fPIC -DPART=$part -c -o "$out/part.o" "$here/$1.plugin.c" &&
			ld -r -o "$out/$1.$part.o" "$out/part.o" &&
			objcopy --localize-hidden "$out/$1.$part.o" || return
	done
	# shellcheck disable=SC2086
	${CC:-gcc} -shared -o "$out/$1.plugin.so" "$out/$1.1.o" "$out/$1.2.o" $lib
}

# Two libraries that are not linked with each other.
make_peers() {
	for part in 1 2; do
		# shellcheck disable=SC2086
		${CC:-gcc} $flags -fPIC -DPART=$part -shared -o "$out/$1.$part.so" "$here/imports-peer.plugin.c" $lib || return
	done
}

make_plugin() {
	case $1 in
	parts)	make_parts "$1"; return ;;
	imports-peer*) make_peers "$1"; return ;;
	esac
	source=$(plugin_source "$1")
	if is_static "$1"; then
		set -- "$1" "$build/libjumpfunc.a -Wl,--exclude-libs,ALL"
	else
		set -- "$1" "$lib"
	fi
	# shellcheck disable=SC2086 # lists of options
	case $source in
	*.cpp)	${CXX:-g++} -std=c++17 $flags -fPIC -shared -o "$out/$1.plugin.so" "$source" $2 ;;
	*)	${CC:-gcc} $flags -fPIC -shared -o "$out/$1.plugin.so" "$source" $2 ;;
	esac
}

make_program() {
	case $1 in
	folded)	set -- "$1" "-ffunction-sections -fno-ipa-icf -fuse-ld=gold -Wl,--icf=all" ;;
	folded-labels) set -- "$1" "-ffunction-sections -fno-ipa-icf -fuse-ld=lld -Wl,--icf=all" ;;
	lib-exit|imports|query-exit) set -- "$1" "$out/$1.plugin.so" ;;
	# With a copy of the library of its own, beside the plugin's.
	other-copy) set -- "$1" "-rdynamic $out/$1.plugin.so" \
		"$build/libjumpfunc.a -Wl,--exclude-libs,ALL -ldl -Wl,-rpath,$build" ;;
	# The last one has its constructors first, unless it is linked with others.
	imports-peer) set -- "$1" "-DEXPORTER_COMES_LATER=1 -Wl,--no-as-needed $out/$1.1.so $out/$1.2.so" ;;
	imports-peer-first) set -- "$1" "-DEXPORTER_COMES_LATER=0 -Wl,--no-as-needed $out/$1.2.so $out/$1.1.so" ;;
	throws-static) set -- "$1" -rdynamic "$build/libjumpfunc.a -ldl -Wl,--no-as-needed -lgcc_s" ;;
	torn|no-sync|no-write|fork-signal|restored|uprobe|between|between-many|between-pages|probe-closes|\
	callback-close|cancel-async|stale|throws-late|no-locale|fork-callback|\
	no-write-user|uprobe-found|not-mem|kept|callback-order|backlog|batch-waits|linker-lock|\
	heap-calls|heap-fork|heap-linker|heap-thread|environment|section-left|no-words|fork-list|\
	import-late)
		set -- "$1" -rdynamic ;;
	no-memory|silent|trace-fail|records-twice) set -- "$1" "-rdynamic -DSMALL_MAX=16 -I$top $top/user/lib/*.c" -ldl ;;
	throws-unflagged) set -- "$1" "-rdynamic -fno-exceptions" ;;
	tsan)	set -- "$1" -fsanitize=thread ;;
	descriptors-blocked) set -- "$1" -I"$top/user" ;;
	stolen)	set -- "$1" "-fno-pie -no-pie" ;;
	two-texts) set -- "$1" -Wl,--section-start=.text_far=0x5000000 ;;
	no-leak) set -- "$1" -fsanitize=address ;;
	# It comes with the plugin, late.
	keys-full) set -- "$1" "" -ldl ;;
	*)	set -- "$1" "" ;;
	esac
	# shellcheck disable=SC2086 # lists of options
	if [ -f "$here/$1.cpp" ]; then
		${CXX:-g++} -std=c++17 $flags -o "$out/$1" "$here/$1.cpp" $2 ${3-$lib}
	else
		${CC:-gcc} $flags -o "$out/$1" "$here/$1.c" $2 ${3-$lib}
	fi
}

# What a program needs that is not everywhere.
missing() {
	case $1 in
	valgrind) command -v valgrind > /dev/null || echo "valgrind is not installed" ;;
	folded)	command -v ld.gold > /dev/null || echo "ld.gold is not installed" ;;
	folded-labels) command -v ld.lld > /dev/null || echo "lld is not installed" ;;
	tsan)	case $(${CC:-gcc} -print-file-name=libtsan.so) in
		/*)	# What a kernel moves further leaves its shadow no room.
			[ "$(cat /proc/sys/vm/mmap_rnd_bits)" -le 28 ] ||
				echo "addresses are too random (sysctl vm.mmap_rnd_bits=28)" ;;
		*)	echo "libtsan is not installed" ;;
		esac ;;
	emulated) command -v qemu-x86_64-static > /dev/null || echo "qemu-user-static is not installed" ;;
	esac
}

# Those that are about breakpoints, or about what is between two steps.
by_int3() {
	case $1 in
	longjmp|two-copies|static-plugin|torn|nested|cancel|signal-fork|filter|no-write|between|between-many|between-pages) true ;;
	*)	false ;;
	esac
}

# A hang may be one with all signals blocked.
run_program() {
	case $1 in
	valgrind) timeout -s KILL 120 valgrind -q "$out/$1" ;;
	emulated) timeout -s KILL 120 qemu-x86_64-static "$out/$1" ;;
	*)	timeout -s KILL "${JF_LIMIT:-120}" "$out/$1" ;;
	esac
}

builds() {
	if [ -f "$(plugin_source "$1")" ]; then
		make_plugin "$1" || return
	fi
	make_program "$1"
}

one() {
	if run_program "$1" > "$out/$1.log" 2>&1; then
		by_int3 "$1" || return 0
		(
			export JUMPFUNC_TRAP=always
			run_program "$1"
		) >> "$out/$1.log" 2>&1 && return
		echo "# with JUMPFUNC_TRAP=always:"
	fi
	sed 's/^#* */# /' "$out/$1.log"
	return 1
}

if [ $# = 0 ]; then
	for source in "$here"/*.c "$here"/*.cpp; do
		name=${source##*/}
		case $name in *.plugin.c*) ;; *) set -- "$@" "${name%.*}" ;; esac
	done
fi
rc=0 nr=0
echo "TAP version 13"
echo "1..$#"
for name; do
	nr=$((nr + 1))
	why=$(missing "$name")
	if [ "$why" ]; then
		echo "ok $nr - hostile: $name # SKIP $why"
	elif ! builds "$name"; then
		echo "not ok $nr - hostile: $name does not build"
		rc=1
	elif one "$name"; then
		echo "ok $nr - hostile: $name"
	else
		echo "not ok $nr - hostile: $name"
		rc=1
	fi
done
exit $rc
