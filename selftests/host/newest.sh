#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests of harness/newest with made-up suites, in a copy of the harness whose kernel.sh and check are made
# up, too.  TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"

# is WHAT STATUS PATTERN...: newest ended so, and said each of these
is()
{
	local what=$1 want=$2 missing='' p
	shift 2
	for p; do grep -qE -e "$p" "$work/out" || missing+=" \"$p\""; done
	[ "$rc" = "$want" ] && [ -z "$missing" ]
	result $? "$what" "status $rc, wanted $want; not said:$missing
$(cat "$work/out")"
}
go() { rc=0; JF_CACHE=$work/cache JF_BUILD=$work/build "$work/tree/harness/newest" "$@" >"$work/out" 2>&1 || rc=$?; }

mkdir -p "$work/tree/harness" "$work/cache/kernels/6.1/x" "$work/suites"
cp "$top/harness/newest" "$top/harness/common.sh" "$work/tree/harness/"
printf '%s\n' '# a table' '6.1 6.1 amd64 alpha-security,alpha' '6.1-t 6.1 source:base alpha' '7.2 7.2 amd64 beta' '6.8 6.8 generic ubuntu:gamma' >"$work/tree/harness/kernels.tab"
ln -s x "$work/cache/kernels/6.1/current"
printf '%s\n' name=6.1 release=6.1.0-5 version=6.1.5-1 >"$work/cache/kernels/6.1/x/info"
# A user has tried a line of their own, and removed it.
mkdir -p "$work/cache/kernels/7.2-mine/x"
ln -s x "$work/cache/kernels/7.2-mine/current"
printf '%s\n' name=7.2-mine release=7.2.1 version=7.2.1-1 >"$work/cache/kernels/7.2-mine/x/info"
cat >"$work/tree/harness/kernel.sh" <<'END'
#!/bin/bash
cat "${0%/tree/*}/mirror" >&2 2>/dev/null || echo "jumpfunc: error: no route to the mirror" >&2
cat "${0%/tree/*}/suites/${2#newest-}" 2>/dev/null
END
cat >"$work/tree/harness/check" <<'END'
#!/bin/bash
echo "$@" >>"${0%/tree/*}/checked"
echo "  $4  build FAILED"
echo "$(cat "${0%/tree/*}/verdict")"
grep -q ' 0 failed' "${0%/tree/*}/verdict"
END
chmod +x "$work"/tree/harness/*
echo "9 passed, 0 failed" >"$work/verdict"
echo "6.1.0-5 6.1.5-1 alpha-security" >"$work/suites/alpha"
echo "7.2.1 7.2.1-1 beta" >"$work/suites/beta"

go --help
is "--help" 0 "usage:"
go -x
is "a bad option" 2 "usage:"
go -n
is "what the table has is known, what was never tested is new" 0 "alpha +6.1.0-5 +the table's 6.1" "beta +7.2.1 +NEW: 7.2.1-1 of beta" "^1 new, 0 failed"
[ ! -e "$work/checked" ] || rc=9
is "-n tests nothing" 0
go
is "it is tested" 0 "pass: 9 passed, 0 failed" "^1 new, 0 failed"
grep -q -- '--no-host -k newest-beta .*retarget.sh' "$work/checked" || rc=9
is "... by check, with the quick set" 0
go
is "and then it is known" 0 "beta +7.2.1 +tested .*: pass, 9 passed" "^0 new, 0 failed"
go -a -t knobs.sh
is "-a tests it again" 0 "^2 new, 0 failed"
grep -q -- '-k newest-alpha knobs.sh$' "$work/checked" || rc=9
is "-t chooses the tests" 0
echo "7.2.9 7.2.9-1 beta" >"$work/suites/beta"
echo "8 passed, 1 failed" >"$work/verdict"
go
is "a newer one, which fails" 1 "NEW: 7.2.9-1 of beta, after 7.2.1" "FAIL: 8 passed, 1 failed" "build FAILED" "newest-beta.log" "^1 new, 1 failed"
go beta
is "... and fails again the next night" 1 "beta +7.2.9 +FAILED on [-0-9]+: 7.2.9-1 of beta" "^0 new, 1 failed"
go -n beta
is "... and -n says so" 1 "beta +7.2.9 +FAILED on" "^0 new, 1 failed"
echo "9 passed, 0 failed" >"$work/verdict"
go beta
is "... until it passes" 0 "pass: 9 passed" "^0 new, 0 failed"
go beta
is "... and is known" 0 "beta +7.2.9 +tested .*: pass" "^0 new, 0 failed"
rm "$work/suites/alpha"
go alpha
is "a suite that cannot be read" 3 "alpha +cannot be read: .*no route" "0 new, 0 failed, 1 not read"
echo "jumpfunc: cannot reach the mirror, using the index of 2026-01-31: E: no route" >"$work/mirror"
echo "9 passed, 0 failed" >"$work/verdict"
go beta
is "a suite whose index is old, as there is no network" 3 "beta +cannot reach the mirror, using the index of 2026-01-31" \
	"beta +7.2.9 +tested" "0 new, 0 failed, 1 not read"
tap_end
