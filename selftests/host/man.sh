#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The manual can be made of this tree, with that of programs. man/check-man finds it complete; it notices a public
# function without description, a page with a bad request, and a file that no page is about. man/check-pages finds
# nothing wrong in the pages as they are rendered; it notices what is. Prints TAP.
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
for tool in python3 lowdown help2man man lexgrog mandoc cc; do
	command -v $tool >/dev/null ||
		{ echo "1..0 # SKIP the manual needs $tool: harness/deps.sh man"; exit 4; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$TOP" || exit

# shellcheck source=selftests/host/tap.sh
. "$TOP/selftests/host/tap.sh"
tap_detail=30
out=$(man/make-man "$work/man" 2>&1); result $? "the manual is made" "$out"
out=$(make -s -C user OUT="$work/user" man 2>&1); result $? "that of programs is made" "$out"
out=$(man/check-man "$work/man" "$work/user/man" 2>&1); result $? "they are complete, and man has no warning about them" "$out"
out=$(man/check-pages "$work/man" "$work/user/man" 2>&1); result $? "a reader finds nothing wrong in any page" "$out"

mv "$work/man/man9/jf_key_inc.9" "$work"
printf '%s\n' '.TS' 'l.' 'text' >>"$work/man/man4/jumpfunc.4"
sed -i 's/^DECLARE_DYNFUNC(name, func, contract/DECLARE_DYNFUNC(name, func/' "$work/man/man9/DECLARE_DYNFUNC.9"
sed -i '/debug\/jumpfunc\/ring$/d' "$work/man/ABI/debugfs-jumpfunc"
rm "$work/user/man/man3/jf_list.3"
sed -i 's/^DECLARE_JF_TRACE(name, proto, args/&, contract.../' "$work/user/man/man3/DECLARE_JF_TRACE.3"
broken=$(man/check-man "$work/man" "$work/user/man" 2>&1)

# noticed WHAT REGEXP: among what check-man says
noticed() { grep -qE -- "$2" <<<"$broken"; result $? "noticed: $1" "$broken"; }
noticed "a function without a page" '#   jf_key_inc has no page in section 9'
noticed "... in the manual of programs" '#   jf_list has no page in section 3'
noticed "a macro with an argument that programs' has not" '#   DECLARE_JF_TRACE.3:.*contract'
noticed "a macro as programs have it" '#   DECLARE_DYNFUNC.9: not DECLARE_DYNFUNC\(name, func, contract...\)'
noticed "a page that man warns about" '#   jumpfunc\.4: '
noticed "a file without an entry" '#   ring has no entry'

# What a reader sees.
edit() { sed -i "$2" "$work/man/$1"; }
edit man9/jf_key_dec.9 's/^\.SH SYNOPSIS/.SH USE/'
edit man9/jf_key_enable.9 's/enable a key/the same/'
edit man9/jf_key_disable.9 's/disable a key/remove a user of a key; the last one disables it/'
edit man9/jf_key_count.9 's/^\.SH SEE/.nf\nA line that is much longer than any screen of eighty columns would be, if it were written there.\n.fi\n&/'
edit man9/jf_key_enabled.9 's/^\.SH SEE/.PP\n* See **this**, @key and jf_keys_set()\n&/'
edit man9/jf_batch_init.9 's/^\.SH .*/&\n.PP/'
edit man9/jumpfunc_contract.9 's/| as the caller/ &/'
edit man4/jumpfunc.4 's/ring_records/ring\\fIrecords/; s/sample_mixed_up/sample/'
broken=$(man/check-pages "$work/man" "$work/user/man" 2>&1)
noticed "a page without a synopsis" '^#   jf_key_dec\.9$'
noticed "a name that says nothing" '^#   jf_key_enable\.9: the same'
noticed "two pages of one description" 'the same as jf_key_de.*: remove a user of a key'
noticed "a line that is too long" '^#   jf_key_count\.9:.*eighty columns'
noticed "marks of a notation" '^#   jf_key_enabled\.9:.*\*\*this'
noticed "a name that is not there" '^#   jf_key_enabled\.9: jf_keys_set'
noticed "what mandoc warns about" '^#   man9/jf_batch_init\.9:.*PP after SH'
noticed "a table that is not straight" '^#   jumpfunc_contract\.9:.*as the caller'
noticed "an underscore that was eaten" '^#   jumpfunc\.4: ring.*records'
noticed "a line of the source that is lost" '^#   jumpfunc\.4: sample_mixed_up'

printf '%s\n' '/**' ' * jf_one() - the one' ' */' 'int jf_two(void);' >"$work/bad.h"
! out=$(man/kdoc2man -o "$work/bad" "$work/bad.h" 2>&1) && grep -q 'is about jf_one, what follows it is jf_two' <<<"$out"
result $? "noticed: a comment about something else than what follows it" "$out"
tap_end
