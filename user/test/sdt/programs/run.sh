#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Real programs with SDT probes, from Debian's sources: built with SystemTap's header and once more with ours,
# tested, compared. Downloads some 33 MB, needs 2 GB and, on two idle cores, a quarter of an hour.
# usage: run.sh [-k] BUILDS [PROGRAM...]	PROGRAM: memcached, tcl, python
#   -k	keep what is built
# Ends with 0 if all are built, their tests fail nowhere but where SystemTap's build fails, and what was recorded is
# what uprobes count.
# Some functions are called by log(), which shellcheck does not see.
# shellcheck disable=SC2317
set -eu
keep=
[ "${1-}" != -k ] || { keep=1; shift; }
builds=$(cd "${1:?which folder has the library}" && pwd)
shift
[ $# -gt 0 ] || set -- memcached tcl python
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../../.." && pwd)
out=$builds/sdt-programs
jobs=${JOBS:-2}

# shellcheck source=user/test/sdt/programs/sources.sh
. "$here/sources.sh"

# --- how each is built and tested, in the current folder ------------------------------------------

configure()
{
	case $1 in
	memcached)	# It is built where its sources are.
		cp -a "$2/." . && ./configure -q --enable-dtrace ;;
	tcl)	"$2/unix/configure" -q --enable-dtrace CFLAGS=-O2 ;;
	python)	OPT="-DNDEBUG -fwrapv -O2" "$2/configure" -q --with-dtrace ;;
	esac
}

# build PROGRAM MAKE-VARIABLES...
build()
{
	case $1 in
	memcached) targets="memcached memcached-debug sizes testapp timedrun" ;;
	tcl) targets="all tcltest" ;;
	python) targets=all ;;
	esac
	shift
	# shellcheck disable=SC2086 # several words
	make -j"$jobs" "$@" $targets
}

# The part of the tests that comes to probes. What is compared are names of what failed.
tests()
{
	case $1 in
	memcached)
		for t in binary getset incrdecr cas touch flush-all stats items slabs-reassign2 metaget; do
			[ ! -e "t/$t.t" ] || timeout 300 prove "t/$t.t" || :
		done ;;
	tcl)
		for t in proc basic execute cmdIL expr dict oo namespace compile trace; do
			LD_LIBRARY_PATH=. TCL_LIBRARY=$2/library timeout 300 ./tcltest "$2/tests/$t.test" || :
		done ;;
	python)
		timeout 1200 ./python -m test test_dtrace test_gc test_generators test_functools test_class || : ;;
	esac
}

# failures PROGRAM: of such a log, without times; never nothing where tests ran
failures()
{
	case $1 in
	memcached)
		grep -E '^(Failed test|Result:|Files=|Non-zero exit|  Failed)' |
			sed 's/, *[0-9.]* wallclock.*//; s/Files=.*Tests=/Tests=/' ;;
	tcl) grep -E '^==== .*FAILED|Total' | sed 's/^tcltest.*:/:/' ;;
	python) grep -E '^(FAIL|ERROR|All [0-9]+ tests|[0-9]+ tests? |    test_|Tests result)' ;;
	esac
}

# All that was compiled with <sys/sdt.h> is once more, with one -I; and is linked with the library.
rebuild()
{
	find . -name '*.o' | while read -r object; do
		if readelf -SW "$object" | grep -q '\.note\.stapsdt'; then rm "$object"; fi
	done
	libs="-Wl,--push-state,--no-as-needed -ljumpfunc-trace -ljumpfunc -Wl,--pop-state,-rpath,$builds"
	sed -i "s|^LIBS[ 	]*=.*|& -L$builds $libs|" Makefile
	build "$1" CC="gcc -I$top/include/jumpfunc-sdt"
}

rc=0
for program in "$@"; do
	folder=$out/$program
	sources=$(source_of "$program")
	if [ ! -e "$folder/built" ]; then
		rm -rf "$folder"
		mkdir -p "$folder/build"
		(
			cd "$folder/build"
			echo "$program: configure and build with SystemTap's header" >&2
			log "$folder/configure.log" configure "$program" "$sources"
			log "$folder/build-systemtap.log" build "$program"
		)
		touch "$folder/built"
	fi
	if [ ! -e "$folder/rebuilt" ]; then
		(
			cd "$folder/build"
			tests "$program" "$sources" > "$folder/tests-systemtap.log" 2>&1 < /dev/null
			rm -rf ../systemtap
			cp -a . ../systemtap
			echo "$program: build with jumpfunc's header" >&2
			log "$folder/build-jumpfunc.log" rebuild "$program"
			tests "$program" "$sources" > "$folder/tests-jumpfunc.log" 2>&1 < /dev/null
		)
		touch "$folder/rebuilt"
	fi
	for kind in systemtap jumpfunc; do
		failures "$program" < "$folder/tests-$kind.log" > "$folder/failures-$kind"
	done
	if [ -s "$folder/failures-systemtap" ] && cmp -s "$folder/failures-systemtap" "$folder/failures-jumpfunc"; then
		echo "ok - $program: tests end as those of SystemTap's build: $(tail -n 1 "$folder/failures-jumpfunc")"
	else
		echo "not ok - $program: tests end otherwise than those of SystemTap's build"
		diff "$folder/failures-systemtap" "$folder/failures-jumpfunc" | sed 's/^/# /' | head -n 20
		rc=1
	fi
	"$here/measure.py" "$program" "$folder" "$builds" "$sources" || rc=1
	[ -n "$keep" ] || rm -rf "$folder/build" "$folder/systemtap" "$folder/built" "$folder/rebuilt"
done
exit $rc
