#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The manual can be made of this tree, and man/check-man finds it complete; it notices a public function
# without description, a page with a bad request, and a file that no page is about. Prints TAP.
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
for tool in python3 lowdown help2man man lexgrog; do
	command -v $tool >/dev/null ||
		{ echo "1..0 # SKIP the manual needs $tool: harness/deps.sh man"; exit 4; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$TOP" || exit

# shellcheck source=selftests/host/tap.sh
. "$TOP/selftests/host/tap.sh"
echo "1..7"

out=$(man/make-man "$work/man" 2>&1); result $? "the manual is made" "$out"
out=$(man/check-man "$work/man" 2>&1); result $? "it is complete, and man has no warning about it" "$out"

mv "$work/man/man9/jf_key_inc.9" "$work"
printf '%s\n' '.TS' 'l.' 'text' >>"$work/man/man4/jumpfunc.4"
sed -i 's/^DECLARE_DYNFUNC(name, func, contract/DECLARE_DYNFUNC(name, func/' "$work/man/man9/DECLARE_DYNFUNC.9"
sed -i '/debug\/jumpfunc\/ring$/d' "$work/man/ABI/debugfs-jumpfunc"
broken=$(man/check-man "$work/man" 2>&1)

# noticed WHAT REGEXP: among what check-man says
noticed() { grep -qE -- "$2" <<<"$broken"; result $? "noticed: $1" "$broken"; }
noticed "a function without a page" '#   jf_key_inc has no page'
noticed "a macro as programs have it" '#   DECLARE_DYNFUNC.9: not DECLARE_DYNFUNC\(name, func, contract...\)'
noticed "a page that man warns about" '#   jumpfunc\.4: '
noticed "a file without an entry" '#   ring has no entry'

printf '%s\n' '/**' ' * jf_one() - the one' ' */' 'int jf_two(void);' >"$work/bad.h"
! out=$(man/kdoc2man -o "$work/bad" "$work/bad.h" 2>&1) && grep -q 'is about jf_one, what follows it is jf_two' <<<"$out"
result $? "noticed: a comment about something else than what follows it" "$out"
[ $tap_failed = 0 ]
