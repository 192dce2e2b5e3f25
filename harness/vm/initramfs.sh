#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the part of the VM's initramfs that does not change from run to run: busybox and the
# host's hackbench, perf, trace-cmd, chrt with the libraries that they need, and the programs that are
# named as arguments.  Prints the file's name.
set -eu -o pipefail
. "$(dirname "$0")/../common.sh"

progs=(hackbench perf trace-cmd chrt "$@")
[ -n "$(command -v busybox)" ] || die "no busybox: apt-get install busybox-static"
bins=("$(command -v busybox)")
for p in "${progs[@]}"; do
	f=$(command -v "$p") || { say "no $p on this machine, so none in the VM: harness/deps.sh says what to install"; continue; }
	bins+=("$(readlink -f "$f")")
done
if ldd "${bins[0]}" >/dev/null 2>&1; then
	die "${bins[0]} is not statically linked: apt-get install busybox-static"
fi

dir=$(cache_dir initramfs)
# Other programs or libraries on the host make another initramfs.
libs=$(for b in "${bins[@]:1}"; do ldd "$b"; done | grep -oE '/[^ ]+' | sort -u)
# shellcheck disable=SC2086
key=$({ cat "$0"; printf '%s\n' "${bins[@]}"; stat -L -c '%n %s %Y' "${bins[@]}" $libs; } | sha256sum | cut -c 1-16)
img=$dir/base-$key.cpio
if [ ! -e "$img" ]; then
	say "making the VM's userland"
	tmp=$(mktemp -d "$dir/tmp.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	mkdir -p "$tmp"/root/{bin,sbin,proc,sys,dev,tmp,etc,root,usr/bin,usr/sbin,run,var}
	for b in "${bins[@]}"; do cp -L "$b" "$tmp/root/usr/bin/${b##*/}"; done
	# By the names that they are called by, too: objcopy is a link to one with the machine's name.
	for p in "${progs[@]}"; do
		f=$(command -v "$p") || continue
		f=$(readlink -f "$f")
		[ "${f##*/}" = "$p" ] || ln -s "${f##*/}" "$tmp/root/usr/bin/$p"
	done
	for l in $libs; do install -D "$l" "$tmp/root$l"; done
	"${bins[0]}" --list | while read -r applet; do
		[ -e "$tmp/root/usr/bin/$applet" ] || ln -s /usr/bin/busybox "$tmp/root/bin/$applet"
	done
	# perf and trace-cmd look for events here only when there are plugins; none are needed.
	echo 'root:x:0:0:root:/root:/bin/sh' >"$tmp/root/etc/passwd"
	echo 'root:x:0:' >"$tmp/root/etc/group"
	(cd "$tmp/root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) >"$tmp/img"
	mv "$tmp/img" "$img"
fi
echo "$img"
