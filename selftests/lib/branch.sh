# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the tests of jump labels share; sourced after lib.sh.

K=/sys/kernel/debug/jf_keys

# site_errors: sites whose instruction is not what the state of their key asks for.  The rule is
# the table of branch.h, written once more; what is compared are the bytes in memory.  A branch that
# is not taken is a nop, or a jump to the next instruction; one that is taken stays in its function
# (an unpatched one leads to a test after all functions).
site_errors()
{
	awk '/^#/ {next}
	/^[^ ]/ {key = $1 " of " $2; on = $3 ~ /^on/; next}
	{
		straight = /0f 1f 44 00 00  nop/ || /e9 00 00 00 00  jmp/ || /  d503201f  nop/
		if (straight)
			ok = ($1 == "likely") == (on == 1)
		else {
			split($3, at, /[+.]/)
			split($NF ~ /^\[/ ? $(NF - 1) : $NF, to, /[+.]/)
			ok = ($1 == "likely") == (on == 0) && /  (jmp|1[4-7][0-9a-f]+  b) / && at[1] == to[1]
		}
		if (!ok)
			print key, on ? "on:" : "off:", $0
	}' "$JF/keys"
}

# site_count KEY: number of sites that `keys` claims; sites_listed KEY: number of lines
site_count() { awk -v k="$1" '$1 == k && !/^ / {n += $6} END {print n + 0}' "$JF/keys"; }
sites_listed() { awk -v k="$1" '!/^ / {on = $1 == k; next} on {n++} END {print n + 0}' "$JF/keys"; }

# check_bytes DESCRIPTION; where nothing is patched, keys must not claim to know a site
check_bytes()
{
	if [ "$(jf_stat backend)" = indirect ]; then
		check_eq "$1: no sites" "$(grep -c '^ ' "$JF/keys")" 0
	else
		check_eq "$1" "$(site_errors | head -n 3)" ''
	fi
}

# check_lines PREFIX TEXT: one result for each line "ok WHAT" or "bad WHAT"
check_lines()
{
	while read -r jf_ok jf_what; do
		case $jf_ok in
		ok) pass "$1$jf_what" ;;
		*) fail "$1$jf_what" ;;
		esac
	done <<-END
	$2
	END
}

# good: all probes say what they should; "ran" checks so far must have grown
JF_RAN=0
good()
{
	# shellcheck disable=SC2046
	set -- $(cat $K/check)
	[ "$4" = 0 ] && [ "$2" -gt "$JF_RAN" ] || { echo "$*"; jf_log | grep BAD | head -n 3; return 1; }
	JF_RAN=$2
}
