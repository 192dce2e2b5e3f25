#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make bench-sdt`: what a probe of a module costs in three forms, inside a stock kernel, in a virtual machine.
set -eu -o pipefail
. "$(dirname "$0")/../harness/common.sh"

kernel=6.1 rounds=200
usage()
{
	cat <<EOT
usage: scripts/bench-sdt.sh [-k KERNEL] [-r ROUNDS]

  -k KERNEL  a name of harness/kernels.tab (default $kernel)
  -r ROUNDS  how often each form is measured, 1 to 10000 (default $rounds)

Prints a table as \`make -C user bench-sdt\` does of programs; docs/sdt-programs.md explains it.
EOT
}
while getopts k:r:h opt; do
	case $opt in
	k) kernel=$OPTARG ;;
	r) rounds=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# = 0 ] || { usage >&2; exit 2; }

JF_FORMS=1 attended "$JF_TREE/harness/build.sh" "$kernel"
say "a virtual machine: load and measure"
# shellcheck disable=SC2016 # JF_ROUNDS is the VM's
attended "$JF_TREE/harness/vm/run" -k "$kernel" -t 600 -e "JF_ROUNDS=$rounds" -- '
	insmod jumpfunc.ko && insmod jumpfunc_forms.ko && cd /sys/kernel/debug/jumpfunc &&
	echo "$JF_ROUNDS" >forms && cat forms && rmmod jumpfunc_forms jumpfunc || exit
	[ "$JF_EMULATED" = 0 ] ||
		echo "EMULATED by QEMU: the times are those of code that an emulator makes; instructions and bytes are right"'
