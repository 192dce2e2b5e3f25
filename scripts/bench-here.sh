#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs the kernel benchmark on this machine: loads jumpfunc.ko and jumpfunc_bench.ko, measures,
# unloads. For a real machine, and for the VM of bench-kernel.sh.
set -eu

# Installed, it is called by a link that has its name.
case ${0##*/} in
jumpfunc-*) name=${0##*/} usual=$name plot=jumpfunc-bench-plot none='install jumpfunc for this kernel' ;;
*) name=bench-here usual=scripts/bench-here.sh plot=scripts/bench-plot none=make ;;
esac

usage()
{
	cat <<EOF
Usage: $usual [-b "BACK ENDS"] [-m FOLDER] [-o FOLDER] [COMMAND...]

Needs root. Writes bench-BACKEND.txt and .csv to the folder; $plot draws the latter.
COMMAND is what is written to /sys/kernel/debug/jumpfunc/bench (default: all), for example
"calls branches rounds=1000".

  -b LIST    back ends to measure, one after the other (default "xmc indirect")
  -m FOLDER  where the modules are (default: the project's folder, as make leaves them, or those
             that are installed for this kernel; where the benchmark is not among these, both are
             built from the sources that DKMS has, which takes a minute)
  -o FOLDER  where results go (default bench-kernel-DATE, in a clone in its folder results)

The numbers vary least on an idle machine with a fixed clock; taskset chooses the CPU.
EOF
}

die() { echo "$name: $*" >&2; exit 1; }

case ${1:-} in
--help) usage; exit 0 ;;
esac
# By way of the link that it is called by when it is installed.
top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
backends='xmc indirect' modules='' out=''
while getopts b:m:o:h opt; do
	case $opt in
	b) backends=$OPTARG ;;
	m) modules=$OPTARG ;;
	o) out=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
command=${*:-all}
# Installed, this has no folder of its own to write to. A name that can be guessed has to be a new one:
# through another user's folder, or link, root would write where it leads.
new=
if [ -z "$out" ]; then
	out=bench-kernel-$(date +%Y%m%d-%H%M%S) new=yes
	[ ! -e "$top/Kbuild" ] || { out=$top/results/$out; mkdir -p "$top/results"; }
fi
installed=
if [ -z "$modules" ]; then
	modules=$top
	if [ ! -e "$top/Kbuild" ] && installed=$(modinfo -n jumpfunc 2>/dev/null); then modules=${installed%/*}; fi
fi

[ "$(id -u)" = 0 ] || die "needs root, to load modules"
! grep -q '^jumpfunc ' /proc/modules ||
	die "jumpfunc is loaded already: rmmod it first, so that it can be loaded with each back end"
# first FILE...: the first that is there; installed modules may be compressed
first() { for f; do [ ! -e "$f" ] || { echo "$f"; return; }; done; return 1; }
benchmark() { first "$1"/jumpfunc_bench.ko "$1"/jumpfunc_bench.ko.* "$1"/bench/jumpfunc_bench.ko; }
# build SOURCES: sets $modules to a folder of its own, with what was built there
built=
build()
{
	built=$(mktemp -d) && cp -r "$1/." "$built" || die "cannot copy $1"
	echo "# building the benchmark, for this kernel alone" >&2
	make -j"$(nproc)" -C "/lib/modules/$(uname -r)/build" M="$built" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$built/log" 2>&1 || {
		tail -n 20 "$built/log" >&2
		die "it does not build for kernel $(uname -r)"
	}
	modules=$built
}
trap 'rm -rf "$built"' EXIT
if [ -n "$installed" ] && ! benchmark "$modules" >/dev/null; then
	sources=/usr/src/jumpfunc-$(modinfo -F version jumpfunc)
	[ ! -e "$sources/bench/Kbuild" ] || build "$sources"
fi
core=$(first "$modules"/jumpfunc.ko "$modules"/jumpfunc.ko.*) && bench=$(benchmark "$modules") ||
	die "no jumpfunc.ko and jumpfunc_bench.ko in $modules: $none, or say where they are with -m"
[ -d /sys/kernel/debug/tracing ] || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null ||
	[ -d /sys/kernel/debug ] || die "no debugfs in this kernel (CONFIG_DEBUG_FS)"
file=/sys/kernel/debug/jumpfunc/bench
if [ -n "$new" ]; then mkdir "$out"; else mkdir -p "$out"; fi || die "cannot make $out; choose another folder with -o"

unload()
{
	rmmod jumpfunc_bench 2>/dev/null || true
	rmmod jumpfunc 2>/dev/null || true
}
trap 'unload; rm -rf "$built"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

for b in $backends; do
	echo "# back end $b: $command" >&2
	insmod "$core" "backend=$b" ||
		die "cannot load jumpfunc.ko with backend=$b; the kernel log says why (dmesg)"
	insmod "$bench" || die "cannot load jumpfunc_bench.ko; the kernel log says why (dmesg)"
	[ -w $file ] || die "$file cannot be written: kernel lockdown?"
	echo "$command format=table" >$file ||
		die "the benchmark refused or failed; the kernel log says why (dmesg)"
	cat $file >"$out/bench-$b.txt"
	echo format=csv >$file
	cat $file >"$out/bench-$b.csv"
	unload
done
echo "# results: $out" >&2
