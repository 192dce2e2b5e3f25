#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Breaks the codec on purpose, one way at a time, and expects the test to fail
# each time: a test that cannot fail proves nothing. Prints TAP.
set -eu

usage()
{
	cat <<-EOF
	usage: mutants.sh [--cc COMPILER] [--out FOLDER]
	Builds test_codec against broken copies of jf_insn_x86.h in FOLDER and
	checks that it notices every one of them.
	EOF
}

here=$(cd "$(dirname "$0")" && pwd)
codec=$here/../../jf_insn_x86.h
cc=gcc
out=
while [ $# -gt 0 ]; do
	case $1 in
	--cc) cc=${2:?--cc needs a compiler}; shift 2 ;;
	--out) out=${2:?--out needs a folder}; shift 2 ;;
	--help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

if [ -n "$out" ]; then
	mkdir -p "$out"
fi
work=$(mktemp -d "${out:-${TMPDIR:-/tmp}}/mutants.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Each line: what is broken | the sed command that breaks it.
cat > "$work/list" <<'EOF'
no break at all, the control|
range check gone|s/if (!jf_insn_reaches(ip, target))/if (0)/
range twice as wide|s/<= 0xffffffffULL/<= 0x1ffffffffULL/
range one too short ahead|s/<= 0xffffffffULL/< 0xffffffffULL/
range one too far back|s/+ 0x80000000ULL <=/+ 0x80000001ULL <=/
range in 32 bits|s/return target - (ip + JF_INSN_SIZE) +/return (uint32_t)(target - (ip + JF_INSN_SIZE)) +/
displacement from the start|s/(uint32_t)(target - (ip + JF_INSN_SIZE))/(uint32_t)(target - ip)/
displacement shifted by 16|s/JF_INSN_SIZE)) << 8;/JF_INSN_SIZE)) << 16;/
call encoded as jmp|s/\(__jf_insn_rel32(insn, JF_OPCODE_\)CALL/\1JMP/
wrong error code|s/return -ERANGE/return -EINVAL/
wrong call opcode|s/\(JF_OPCODE_CALL\t\)0xe8/\10xe9/;s/\(JF_OPCODE_JMP\t\)0xe9/\10xe8/
wrong nop byte|s/0x0000441f0fULL/0x0000401f0fULL/
nop of six bytes|s/0x0000441f0fULL/0x0000841f0fULL/
wrong ret0 register|s/0xc0312e2e2eULL/0xc9312e2e2eULL/
ret0 gives minus one|s/0xc0312e2e2eULL/0xc0192e2e2eULL/
K8 nop not known|/^\tcase JF_INSN_NOP5_K8:/d
old ret0 not known|/^\tcase JF_INSN_XOR5_OLD:/d
sign of the displacement lost|s/ ^ 0x80000000ULL) -/) -/;s/^\t\t\t0x80000000ULL;/\t\t\t0;/
decode from the start|s/next = ip + JF_INSN_SIZE/next = ip + JF_INSN_SIZE - 1/
long words accepted|s/if (insn & ~JF_INSN_MASK)/if (0)/
2-byte jmp accepted|s/^\tcase JF_OPCODE_JMP:/\tcase JF_OPCODE_JMP: case 0xeb:/
INT3 accepted|s/^\tcase JF_INSN_NOP5:/\tcase JF_INSN_NOP5: case 0xccccccccccULL:/
store of four bytes|s/i < JF_INSN_SIZE/i < JF_INSN_SIZE - 1/
store of six bytes|s/i < JF_INSN_SIZE/i < JF_INSN_SIZE + 1/
store backwards|s/b\[i\] = (uint8_t)(insn >> (8 \* i))/b[4 - i] = (uint8_t)(insn >> (8 * i))/
load without the last byte|s/ | (jf_insn_t)b\[4\] << 32//
EOF

echo "TAP version 13"
echo "1..$(wc -l < "$work/list")"
nr=0
failed=0
while IFS='|' read -r name command; do
	nr=$((nr + 1))
	verdict=ok
	note=
	sed "$command" "$codec" > "$work/codec.h"
	if [ -n "$command" ] && cmp -s "$codec" "$work/codec.h"; then
		verdict="not ok"
		note=" # the codec has changed: renew this mutant's sed command"
	elif ! "$cc" -std=gnu11 -O1 -DJF_CODEC="\"$work/codec.h\"" \
			-o "$work/test" "$here/test_codec.c" 2> "$work/cc.log"; then
		verdict="not ok"
		note=" # does not build"
		sed 's/^/# /' "$work/cc.log"
	elif "$work/test" --rounds 20000 > "$work/log" 2>&1; then
		if [ -n "$command" ]; then
			verdict="not ok"
			note=" # the test did not notice"
		fi
	elif [ -z "$command" ]; then
		verdict="not ok"
		note=" # the test fails on a codec that is whole"
	else
		note=" # noticed by tests $(sed -n 's/^not ok \([0-9]*\).*/\1/p' \
			"$work/log" | paste -sd' ')"
	fi
	[ "$verdict" = ok ] || failed=1
	echo "$verdict $nr - $name$note"
done < "$work/list"
exit $failed
