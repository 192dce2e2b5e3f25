#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=180
# Keys and sites across modules, in every order of loading and unloading: a module that is loaded late
# finds its branches as the keys are then, and the sites of an unloaded module are forgotten.
#
# Seen to fail with the code broken on purpose:
#   jf_patch_new() not called				bytes after a late load
#   jf_patch_new() encoding for "off" always		late loaders' probes, bytes
#   jf_module_unload() keeping the sites		the kernel oopses
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/branch.sh"

jf_start "jump labels: modules are loaded and unloaded"
jf_has jf_keyuse2 || jf_skip_all "no jf_keyuse2.ko: build selftests/modules"
jf_load

set_keys() { echo "$1" >$K/set; }
late() { set_keys "$2" && jf_insmod "$1" && good; }
leave() { jf_rmmod "$1" && set_keys "$2" && good; }

check "a user of keys cannot be loaded before their module" sh -c "! insmod $(jf_ko jf_keyuse) 2>/dev/null"

check "the defining module" jf_insmod jf_keys
n=0
for in in "jf_keyuse jf_keyuse2" "jf_keyuse2 jf_keyuse"; do
	for out in "jf_keyuse jf_keyuse2" "jf_keyuse2 jf_keyuse"; do
		n=$((n + 1))
		mask=$((0x5a5 << (n & 1)))
		for m in $in; do
			check "$n: $m loads late, keys at $mask" late "$m" $mask
			check_bytes "$n: bytes after $m was loaded"
			mask=$((0xfff ^ mask))
		done
		check_fails "$n: the defining module stays while it is used" rmmod jf_keys
		for m in $out; do
			check "$n: $m unloads, then keys are set to $mask" leave "$m" $mask
			check_bytes "$n: bytes after $m was unloaded"
			check_eq "$n: no site of $m is left" "$(grep -c "\[$m\]" $JF/keys)" 0
			mask=$((0xfff ^ mask))
		done
	done
done

# An init function that fails after it has used and changed keys.
check "keys on" set_keys 0xfff
check_fails "its init fails" insmod "$(jf_ko jf_keyuse)" fail=1
check_eq "no key of it is left" "$(grep -c ' jf_keyuse ' $JF/keys)" 0
check "the keys go on" set_keys 0
check "probes agree" good
check "it loads the next time" late jf_keyuse 0x333
check_bytes "bytes after that"

# Time and again, while keys change.
rounds=2
[ -z "${JF_LONG:-}" ] || rounds=100
i=0
while [ $i -lt $rounds ]; do
	late jf_keyuse2 $((0xfff * (i & 1))) && leave jf_keyuse2 $((0x5a5 << (i & 1))) || break
	i=$((i + 1))
done >"$JF_TMP/rounds" 2>&1
check_eq "$rounds rounds of load, change, unload, change" "$i" "$rounds"
check_bytes "bytes after the rounds"
check "the last user unloads" jf_rmmod jf_keyuse
check "the defining module unloads" jf_rmmod jf_keys
check_match "nothing went wrong to the end" "$(jf_log)" 'jf_keys: unloaded after [0-9]+ checks, 0 bad'
jf_done
