#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the part of the VM's initramfs that does not change from run to run: busybox and the
# host's hackbench, perf, trace-cmd, chrt with the libraries that they need, and the programs that are
# named as arguments.  Prints the file's name.
#
# usage: harness/vm/initramfs.sh [-m MACHINE] [PROGRAM...]
#   -m arm64   for that machine: the programs come from Debian's packages, as this host has none of it
set -eu -o pipefail
. "$(dirname "$0")/../common.sh"

machine=
if [ "${1:-}" = -m ]; then machine=$2; shift 2; fi
root=
if [ -n "$machine" ]; then
	root=$("$JF_TREE/harness/kernel.sh" programs bookworm "$machine" busybox-static rt-tests trace-cmd util-linux linux-perf bpftrace)
fi

# in_root PATH: what a path of that machine leads to, links followed there
in_root()
{
	local f=$root$1 to
	while [ -L "$f" ]; do
		to=$(readlink "$f")
		case $to in /*) f=$root$to ;; *) f=${f%/*}/$to ;; esac
	done
	[ -e "$f" ] && realpath -s "$f"
}
# find_program NAME: its file
find_program()
{
	local d
	if [ -z "$root" ]; then
		f=$(command -v "$1") && readlink -f "$f"
		return
	fi
	for d in /bin /usr/bin /sbin /usr/sbin; do
		in_root "$d/$1" && return
	done
	return 1
}
# libraries FILE...: all that they load, one a line; a path of that machine
libraries()
{
	local f n d found todo=("$@")
	if [ -z "$root" ]; then
		for f; do ldd "$f"; done | grep -oE '/[^ ]+' | sort -u
		return
	fi
	local -A seen=()
	while [ ${#todo[@]} -gt 0 ]; do
		f=${todo[0]}; todo=("${todo[@]:1}")
		while read -r n; do
			[ -z "${seen[$n]:-}" ] || continue
			seen[$n]=1 found=
			for d in /lib /lib/aarch64-linux-gnu /usr/lib/aarch64-linux-gnu; do
				found=$(in_root "$d/$n") && { echo "$d/$n"; todo+=("$found"); break; }
			done
			[ -n "$found" ] || die "no $n for ${f#"$root"} of $machine"
		done < <(readelf -dl "$f" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p; s/.*interpreter: .*\/\(.*\)\]/\1/p')
	done
}

progs=(hackbench perf trace-cmd chrt "$@")
[ -n "$(command -v busybox)" ] || die "no busybox: apt-get install busybox-static"
bins=("$(find_program busybox)")
for p in "${progs[@]}"; do
	f=$(find_program "$p") || { say "no $p on this machine, so none in the VM: harness/deps.sh says what to install"; continue; }
	bins+=("$f")
done
if readelf -l "${bins[0]}" | grep -q INTERP; then
	die "${bins[0]} is not statically linked: apt-get install busybox-static"
fi

dir=$(cache_dir initramfs)
# Other programs or libraries on the host make another initramfs.
libs=$(libraries "${bins[@]:1}")
# shellcheck disable=SC2046,SC2086
key=$({ cat "$0"; printf '%s\n' "${bins[@]}"; stat -L -c '%n %s %Y' "${bins[@]}" $(for l in $libs; do in_root "$l"; done); } | sha256sum | cut -c 1-16)
img=$dir/base-$key.cpio
if [ ! -e "$img" ]; then
	say "making the VM's userland"
	tmp=$(mktemp -d "$dir/tmp.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	mkdir -p "$tmp"/root/{bin,sbin,proc,sys,dev,tmp,etc,root,usr/bin,usr/sbin,run,var}
	for b in "${bins[@]}"; do cp -L "$b" "$tmp/root/usr/bin/${b##*/}"; done
	# By the names that they are called by, too: objcopy is a link to one with the machine's name.
	for p in "${progs[@]}"; do
		f=$(find_program "$p") || continue
		[ "${f##*/}" = "$p" ] || ln -s "${f##*/}" "$tmp/root/usr/bin/$p"
	done
	for l in $libs; do install -D "$(in_root "$l")" "$tmp/root$l"; done
	busybox --list | while read -r applet; do
		[ -e "$tmp/root/usr/bin/$applet" ] || ln -s /usr/bin/busybox "$tmp/root/bin/$applet"
	done
	# perf and trace-cmd look for events here only when there are plugins; none are needed.
	echo 'root:x:0:0:root:/root:/bin/sh' >"$tmp/root/etc/passwd"
	echo 'root:x:0:' >"$tmp/root/etc/group"
	(cd "$tmp/root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) >"$tmp/img"
	mv "$tmp/img" "$img"
fi
echo "$img"
