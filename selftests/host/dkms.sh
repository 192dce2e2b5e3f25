#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# DKMS builds the module for each kernel whose options Kbuild takes, and skips each other one. TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"
tap_detail=40

# The kernels have all options that Kbuild or DKMS asks for, less one or two of them. "symbols" is no option: without
# it a kernel exports what its own modules use.
release=6.1.0-test
build=$work/lib/modules/$release/build
mkdir -p "$build"
sed "s,/lib/modules,$work&," "$top/packaging/jumpfunc.dkms" >"$work/jumpfunc.dkms"
asks=$(sed '/^obj-m/,$d; /^#/d' "$top/Kbuild"; sed '/^#/d' "$top/packaging/jumpfunc.dkms")
printf 'src := %s\nobjtree := %s\ninclude %s/Kbuild\nall:;\n' "$top" "$build" "$top" >"$work/Makefile"
mapfile -t options < <(
	{ sed -n 's/^jf-needs := //p' <<<"$asks" | grep -oE '\b[A-Z][A-Z0-9_]*\b'; grep -oE '\bCONFIG_[A-Z0-9_]+' <<<"$asks"; echo symbols; } |
		sed -E 's/^CONFIG_//; /^(MODULES|ARM64|CFI|CFI_CLANG)?$/d' | sort -u)
[ ${#options[@]} -ge 6 ]; result $? "there are options to leave out: ${options[*]}"

# kbuild_takes: the first lines of Kbuild, which end the build or do not
kbuild_takes()
{
	local says
	! says=$(make -s -f "$work/Makefile" CONFIG_MODULES=y CONFIG_64BIT=y "${set[@]}" 2>&1) || return 0
	[[ $says == *"jumpfunc needs"* ]] || echo "make: $says"
	return 1
}

# dkms_takes: prints yes or no for what DKMS builds when it is told to, and again for what it builds by itself
dkms_takes()
{
	kernelver=$release bash -euc '
		. "$1"
		takes=yes
		# As DKMS does it.
		for option in $BUILD_EXCLUSIVE_CONFIG; do
			case $option in
			!*) ! grep -q "^${option#!}=[ym]" "$2" || takes=no ;;
			*) grep -q "^$option=[ym]" "$2" || takes=no ;;
			esac
		done
		echo "$takes ${AUTOINSTALL:-no}"' bash "$work/jumpfunc.dkms" "$build/.config" 2>&1
}

machine=X86_64
# agree OPTION OPTION [OTHER]...: of a kernel without these two, and with the others
agree()
{
	local o wanted=no found
	set=("CONFIG_$machine=y" "${@:3}")
	for o in "${options[@]}"; do [ "$o" = symbols ] || [ "$o" = "$1" ] || [ "$o" = "$2" ] || set+=("CONFIG_$o=y"); done
	printf '%s\n' CONFIG_MODULES=y "${set[@]}" >"$build/.config"
	: >"$build/Module.symvers"
	[ "$1" = symbols ] || [ "$2" = symbols ] || echo '0x0 register_module_notifier vmlinux EXPORT_SYMBOL' >"$build/Module.symvers"
	! kbuild_takes || wanted=yes
	found=$(dkms_takes)
	[ "$found" = "$wanted $wanted" ] || echo "without $1 $2: Kbuild takes it: $wanted; DKMS, and DKMS by itself: $found"
	counts[$wanted]=$((${counts[$wanted]:-0} + 1))
}

declare -A counts=()
said=
for a in "${!options[@]}"; do
	for ((b = a; b < ${#options[@]}; b++)); do
		agree "${options[a]}" "${options[b]}" >"$work/said"
		[ ! -s "$work/said" ] || said+=$(cat "$work/said")$'\n'
	done
done
[ -z "$said" ]; result $? "DKMS builds for the kernels that Kbuild takes, and for no other one" "$said"
[ "${counts[yes]:-0}" -ge 3 ] && [ "${counts[no]:-0}" -ge 10 ]; result $? "... and there are kernels of both kinds: ${counts[yes]:-0}, ${counts[no]:-0}"
agree none none >"$work/said"
[ ! -s "$work/said" ] && [ "$(dkms_takes)" = "yes yes" ]; result $? "with all options both take it" "$(cat "$work/said")"

# Calls that compare types: two names of the option, for one machine of two.
for machine in X86_64 ARM64; do
	wanted="yes yes"
	for cfi in '' CONFIG_CFI=y CONFIG_CFI_CLANG=y; do
		[ -z "$cfi" ] || [ $machine = X86_64 ] || wanted="no no"
		agree none none ${cfi:+"$cfi"} >"$work/said"
		[ ! -s "$work/said" ] && [ "$(dkms_takes)" = "$wanted" ]; result $? "$machine ${cfi:-without kCFI}: $wanted" "$(cat "$work/said")"
	done
done
tap_end
