# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests that are bash scripts and need a folder of their own; sourced, never run.  Gives top (this tree), work (a
# folder that is removed with the test, however it ends) and what tap.sh has.
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# shellcheck source=selftests/host/tap.sh
. "$top/selftests/host/tap.sh"
