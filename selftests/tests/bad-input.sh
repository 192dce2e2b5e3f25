#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=1: the parsers decide
# JF_ANY_BACKEND: it shows the same with each of them
# JF_TIMEOUT=240
# Whatever is not an allowed value is refused, with one line in the log, and changes nothing.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "every writable file against bad input"
jf_load
# States that differ from the initial ones, so that a reset would show.
jf_write func1 1; jf_write func2 2; jf_write dispatch indirect

# The log is rate-limited by design, ten lines in five seconds.  So the line is insisted on for the
# first few of each kind; after that there may be none, but never two.
insist=0
settle() { sleep 5; insist=8; }

# refused FILE WHAT SOURCE: writes the file SOURCE
refused()
{
	before=$(jf_state)
	jf_log_mark
	if out=$(jf_write_from "$1" "$3"); then
		fail "$1 refuses $2" "the write succeeded; func0 to func3 are $(jf_call 0), $(jf_call 1), $(jf_call 2), $(jf_call 3)"
		return
	fi
	lines=$(jf_log_new | grep -c "jumpfunc: $1: ")
	insist=$((insist - 1))
	if ! echo "$out" | grep -qE 'Invalid argument|No such file|not permitted'; then
		fail "$1 refuses $2 with a fitting error" "$out"
	elif [ "$lines" -gt 1 ] || { [ "$lines" = 0 ] && [ $insist -ge 0 ]; }; then
		fail "$1 refuses $2 with one line in the log" "$lines lines"
	elif [ "$(jf_state)" != "$before" ]; then
		fail "$1 refuses $2 without a change" "$(jf_state)"
	else
		pass "$1 refuses $2"
	fi
}

# bad FILE FORMAT: with the escapes of printf
bad()
{
	# shellcheck disable=SC2059
	printf "$2" >"$JF_TMP/bad"
	refused "$1" "'$2'" "$JF_TMP/bad"
}

settle
for f in func0 func1 func2 func3; do
	for v in 3 9 -1 00 01 1x x ' 1' '1 ' '1\n\n' 0x1 1.0 '\n' '1\0002' '\000' '\000\n' '\3771' 4294967296 \
		 18446744073709551617 '1\r' '%%s%%n'; do
		bad $f "$v"
	done
done

settle
for v in nonsense INDIRECT 'indirect x' ' indirect' 'off off' 'of' 'offf' '\n' '0' 'dynfunc\000x' '%%s%%n' '[off]'; do
	bad dispatch "$v"
done

settle
for v in nonsense func0 'func0=' '=jf_func0_1' 'func0=jf_func1_1' 'func0=jf_nosuch' 'func9=jf_func0_1' \
	 'func0=jf_func0_1 func1=nonsense' 'func0=jf_func0_1 func0=jf_func0_2' 'func0=panic' 'func0=none' \
	 'nomodule:func0=jf_func0_1' 'func0=jf_func0_1=x' ' ' '\n' '%%s' 'func0=0xffffffff81000000'; do
	bad functions "$v"
done

# Long ones: at the limits of a page, and far beyond.
settle
for size in 4095 4096 4097 65536; do
	for f in func2 dispatch functions; do
		head -c $size /dev/zero | tr '\000' 1 >"$JF_TMP/long"
		refused $f "$size bytes" "$JF_TMP/long"
	done
done

# A write at an offset is no command.
before=$(jf_state)
if echo 1 | dd bs=1 of=$JF/func2 conv=notrunc seek=1 2>/dev/null; then
	fail "func2 refuses a write at an offset"
else
	check_eq "func2 refuses a write at an offset" "$(jf_state)" "$before"
fi

# Files that are there to be read.
for f in stats events help; do
	echo 1 >"$JF_TMP/bad"
	check_fails "$f cannot be written" jf_write_from $f "$JF_TMP/bad"
done

# The limit: many refusals in a row must not flood the log.
jf_log_mark
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
	echo 9 >$JF/func2
done 2>/dev/null
said=$(jf_log_new | grep -c 'jumpfunc: func2: ')
if [ "$said" -ge 1 ] && [ "$said" -lt 30 ]; then
	pass "30 bad writes in a row give fewer lines in the log ($said)"
else
	fail "30 bad writes in a row give fewer lines in the log" "they gave $said"
fi
check_eq "func1 is still where it was" "$(jf_call 1)" "1 49"
check_eq "func2 is still where it was" "$(jf_call 2)" "2 2"
jf_write dispatch off
jf_unload

# Parameters of the module.
for b in nonsense '' XMC xmcx auto,xmc; do
	check_fails "backend='$b' is refused" jf_insmod jumpfunc "backend=$b"
	if grep -q '^jumpfunc ' /proc/modules; then jf_rmmod jumpfunc; fi
done
check_match "and the log says why" "$(jf_log | grep jumpfunc: | tail -n 8)" "back end|backend"
jf_done
