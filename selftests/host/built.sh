# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests that compile against the headers of a kernel of harness/kernels.tab (KERNEL, default 6.1); sourced,
# never run.  Gives what work.sh does, TOP, BUILD (where the modules are built for it), info NAME (what the build
# knows) and skip_all WHY.
# shellcheck source=selftests/host/work.sh
. "$(dirname "${BASH_SOURCE[0]}")/work.sh"
TOP=$top
KERNEL=${KERNEL:-6.1}
BUILD=${JF_BUILD:-$TOP/build}/$KERNEL
# shellcheck disable=SC2034 # tap.sh reads it
tap_detail=12

info() { sed -n "s/^$1=//p" "$BUILD/info"; }
skip_all() { echo "1..0 # SKIP $*"; exit 0; }

# need_build: the modules, built; or there is nothing to be tested
need_build()
{
	local say
	say=$("$TOP/harness/build.sh" "$KERNEL" 2>&1) ||
		skip_all "the modules do not build for $KERNEL: $(tail -n 1 <<<"$say")"
	[ "$(info toolchain)" = host ] || skip_all "kernel $KERNEL: its headers, or a compiler that fits them, are not on this machine"
}
