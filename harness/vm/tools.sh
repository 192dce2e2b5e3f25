#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compiles the programs of selftests/tools for the VM, statically, since the VM has no libraries of
# theirs.  Prints the files' names.
#
# usage: harness/vm/tools.sh [PREFIX]     PREFIX: of the compiler for another machine, as in aarch64-linux-gnu-
set -eu -o pipefail
. "$(dirname "$0")/../common.sh"

gcc=${1:-}gcc
out=$JF_BUILD/tools${1:+-${1%%-*}}
if ! command -v "$gcc" >/dev/null; then
	# Tests that need one of them say so and are skipped.
	say "no $gcc on this machine, so the VM has no failnth, fuzz_debugfs and the like: harness/deps.sh build installs it"
	exit 0
fi
# A warning of a compiler that is newer than this is no reason to run nothing.
flags=(-std=gnu11 -O2 -Wall -Wextra -static -pthread)
failed() { die "cannot compile ${1#"$JF_TREE"/}; it needs gcc and a static C library (libc6-dev)"; }

mkdir -p "$out"
# Virtual machines may be started at the same time.
exec 8>"$out/lock"
flock 8
for src in "$JF_TREE"/selftests/tools/*.c; do
	bin=$out/$(basename "$src" .c)
	# By contents, with all that it includes: a copy of the tree has other time stamps.
	key=$({ cat "$0"; "$gcc" "${flags[@]}" -E -P "$src"; } | sha256sum) || failed "$src"
	if [ ! -x "$bin" ] || [ "$(cat "$bin.key" 2>/dev/null)" != "$key" ]; then
		"$gcc" "${flags[@]}" -o "$bin.new" "$src" || failed "$src"
		mv "$bin.new" "$bin"
		echo "$key" >"$bin.key"
	fi
	echo "$bin"
done
