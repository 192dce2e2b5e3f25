#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# `make doctor`: says on one screen whether this machine can build jumpfunc, load it, patch text with
# it, and measure; below each "no" stands the command that mends it.  Changes nothing.  Needs a POSIX
# shell, awk, sed and grep; those of busybox will do.

set -u
LC_ALL=C
export LC_ALL

# Installed, it is called by a link that has its name.
prog=${0##*/}
here=$0
if [ -L "$0" ]; then here=$(readlink -f -- "$0"); fi
top=$(CDPATH='' cd -- "$(dirname -- "$here")/.." && pwd)
root=${JF_ROOT:-}
proc=$root/proc
sys=$root/sys
jf=$sys/kernel/debug/jumpfunc
module=

usage()
{
	cat <<END
Usage: $prog [--module FILE]

Says whether this machine can build jumpfunc, load it, patch text with it, and measure, for the kernel
that runs.  Nothing is changed.  Root sees more than others.

  yes    in order
  no     something cannot be done; the line below it says what mends it, if anything here does
  todo   it can be done, and has not been: jumpfunc is not loaded
  note   all can be done, but it is good to know

What cannot be true before something else is mended is left out.

  --module FILE   the module to load (default: jumpfunc.ko here, as make builds it, or that which is
                  installed for this kernel)
  -h, --help      this text

Exit status: 0 all is in order and jumpfunc is loaded, 1 there is a "no", 2 bad usage, 3 there is none,
and jumpfunc is not loaded.
Environment: JF_ROOT is put in front of all paths (/proc, /sys, /lib/modules, /boot, /etc).
END
}

while [ $# -gt 0 ]; do
	case $1 in
	-h|--help) usage; exit 0 ;;
	--module)
		if [ $# -lt 2 ]; then echo "$prog: --module needs the path of a .ko file" >&2; exit 2; fi
		module=$2
		shift 2 ;;
	*)	printf '%s: unknown argument "%s"\nTry "%s --help".\n' "$prog" "$1" "$prog" >&2; exit 2 ;;
	esac
done

# ---- how it is said ----

failed=
todo=
section() { part=$1; }
# line WORD WHAT TEXT
line() { printf '%-8s%-5s %-13s %s\n' "$part" "$1" "$2" "$3"; part=; }
yes() { line yes "$1" "$2"; }
note() { line note "$1" "$2"; }
# no PARTS WHAT TEXT REMEDY...; an empty one is none
no()
{
	failed="$failed $1"
	shift
	line no "$1" "$2"
	shift 2
	remedies "$@"
}
# not_yet WHAT TEXT REMEDY...
not_yet()
{
	todo=yes
	line todo "$1" "$2"
	shift 2
	remedies "$@"
}
remedies() { for remedy; do [ -z "$remedy" ] || printf '%14s-> %s\n' '' "$remedy"; done; }

# ---- what is read ----

first_line() { if [ -r "$1" ]; then head -n 1 "$1" 2>/dev/null || :; fi; }

# command_there NAME
command_there() { command -v "$1" >/dev/null 2>&1; }

release=$(first_line "$proc/sys/kernel/osrelease")
build=$root/lib/modules/$release/build
distribution=$(sed -n 's/^ID\(_LIKE\)*=//p' "$root/etc/os-release" 2>/dev/null | tr -d '"' | tr '\n' ' ')

# offered PACKAGE...: apt can install these, as far as can be told
offered()
{
	if ! command_there apt-cache; then return 0; fi
	for package; do apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || return 1; done
}

# install DEBIAN FEDORA: the command that installs a package; nothing if there is none.  DEBIAN may have
# alternatives: "linux-perf|linux-tools-generic".
install()
{
	case " $distribution " in
	*" debian "*|*" ubuntu "*)
		alternatives=$1
		while [ -n "$alternatives" ]; do
			# shellcheck disable=SC2086 # several packages
			if offered ${alternatives%%|*}; then echo "apt-get install ${alternatives%%|*}"; return; fi
			case $alternatives in *"|"*) alternatives=${alternatives#*|} ;; *) alternatives= ;; esac
		done
		if [ -z "$(first "$root"/var/lib/apt/lists/*_Packages*)" ]; then echo "apt-get update; then ask again"; fi ;;
	*" fedora "*|*" rhel "*) echo "dnf install $2" ;;
	*) echo "install what Debian calls ${1%%|*} and Fedora $2" ;;
	esac
}

# Where there are sources, make has a part in what mends.
clone=
if [ -e "$top/Kbuild" ]; then clone=yes; fi

# first FILE...: the first that is there
first() { for f; do if [ -e "$f" ]; then printf '%s\n' "$f"; return; fi; done; }

# Sets module, from what is built here, and installed, where modprobe finds it.
find_module()
{
	updates=$root/lib/modules/$release/updates
	installed=$(first "$updates"/jumpfunc.ko* "$updates"/dkms/jumpfunc.ko*)
	if [ -z "$module" ] && [ -n "$clone" ] && [ -e "$top/jumpfunc.ko" ]; then module=$top/jumpfunc.ko; fi
}

# Has the module that would be loaded a signature?
is_signed()
{
	set -- "${module:-$installed}"
	[ -e "$1" ] && { tail -c 28 "$1" | grep -q 'Module signature appended' || [ -n "$(modinfo -F sig_key "$1" 2>/dev/null)" ]; }
}

is_loaded() { [ -d "$sys/module/jumpfunc" ]; }

# The running kernel's configuration, from wherever it is told.
find_config()
{
	config=
	for f in "$build/.config" "$root/boot/config-$release" "$root/lib/modules/$release/config"; do
		if [ -r "$f" ]; then config=$(grep '^CONFIG_' "$f"); config_from=$f; return; fi
	done
	if [ -r "$proc/config.gz" ]; then config=$(gzip -dc "$proc/config.gz" | grep '^CONFIG_'); config_from=$proc/config.gz; fi
}

# has OPTION...: is any of them built in?
has()
{
	for option; do
		case "
$config" in *"
CONFIG_$option=y"*) return 0 ;; esac
	done
	return 1
}

# value OPTION
value() { printf '%s\n' "$config" | sed -n "s/^CONFIG_$1=//p" | tr -d '"' | head -n 1; }

# ---- build ----

another_kernel()
{
	command=$(install "linux-image-amd64 linux-headers-amd64|linux-image-generic linux-headers-generic" "kernel kernel-devel")
	case $command in
	''|*" update;"*) echo "$command" ;;
	*) echo "$on_host$command; reboot" ;;
	esac
}
headers() { install "linux-headers-$release" "kernel-devel-$release"; }
in_vm=${clone:+"or a stock Debian kernel, in a VM: make KERNEL=6.1; make vm KERNEL=6.1"}

is_chroot()
{
	[ ! -s "$root/etc/debian_chroot" ] || return 0
	# Not every user is shown the root of process 1; a folder that nothing is mounted on is no machine's root.
	if first_root=$(stat -L -c %d:%i "$proc/1/root/." 2>/dev/null); then
		[ "$first_root" != "$(stat -L -c %d:%i "$root/." 2>/dev/null)" ]
	else
		[ -r "$proc/self/mountinfo" ] && ! awk '$5 == "/" { found = 1 } END { exit !found }' "$proc/self/mountinfo"
	fi
}

# Where this runs: host, container or chroot.  The kernel's first name spaces have fixed numbers; a container
# may share the host's processes, but not its mounts as well, and a chroot shares all but the root folder.
find_place()
{
	place=host
	on_host=
	case $(readlink "$proc/self/ns/pid" 2>/dev/null) in
	''|'pid:[4026531836]') ;;
	*) place=container ;;
	esac
	case $(readlink "$proc/self/ns/user" 2>/dev/null) in
	''|'user:[4026531837]') ;;
	*) place=container ;;
	esac
	first_mounts=$(readlink "$proc/1/ns/mnt" 2>/dev/null)
	if [ -e "$root/.dockerenv" ] || [ -e "$root/run/.containerenv" ] || [ -s "$root/run/systemd/container" ]; then
		# An image that was made for containers may run as a machine.
		if [ ! -e "$proc/self/ns/pid" ] && [ ! -L "$proc/self/ns/pid" ]; then place=container
		elif [ -n "$first_mounts" ] && [ "$first_mounts" != "$(readlink "$proc/self/ns/mnt")" ]; then place=container
		fi
	fi
	if [ $place = host ] && is_chroot; then place=chroot; fi
	case $place in
	container) on_host="on the host: " ;;
	chroot) on_host="outside of the chroot: " ;;
	esac
}

# Says what the kernel is.  Returns 1 if it is one that nothing else here can help.
check_kernel()
{
	machine=$(first_line "$proc/sys/kernel/arch")
	machine=${machine:-$(uname -m)}
	major=${release%%.*}
	minor=${release#*.}
	minor=${minor%%[!0-9]*}
	if [ -z "$release" ]; then
		no "build load patch measure" kernel "no $proc/sys/kernel/osrelease: is /proc mounted?" "mount -t proc proc $proc"
		return 1
	elif [ "$((major * 1000 + minor))" -lt 5010 ]; then
		no "build load patch measure" kernel "$release is older than 5.10" "$(another_kernel)" "$in_vm"
		return 1
	elif [ "$machine" != x86_64 ] && [ "$machine" != aarch64 ]; then
		note kernel "$release on $machine: function pointers instead of patched text"
	# In a clone, and where it is installed.
	elif tried=$(cat "$top/packaging/jumpfunc.dkms" "$top/jumpfunc.dkms" 2>/dev/null |
			sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"$/\1/p') && [ -n "$tried" ] && ! printf '%s\n' "$release" | grep -qE "$tried"; then
		note kernel "$release, $machine: not tried with this jumpfunc, and DKMS skips it"
	else
		yes kernel "$release, $machine"
	fi
}

check_headers()
{
	if [ -e "$build/Makefile" ]; then
		yes headers "${build#"$root"}"
	else
		mend=$(headers)
		no build headers "no ${build#"$root"}$([ -n "$mend" ] || echo ", and no package of them")" "$mend" "$([ -n "$mend" ] || another_kernel)" "$in_vm"
	fi
	if command_there make; then yes make "$(command -v make)"; else no build make "none" "$(install make make)"; fi
}

# The compiler that the kernel was built with, or one of its kind.
check_compiler()
{
	built=$(value CC_VERSION_TEXT)
	case $built in
	# That there is no configuration is told by its own line.
	'')	return ;;
	*clang*) kind=clang version=$(printf '%s\n' "$built" | sed 's/.*clang version \([0-9]*\).*/\1/') package="clang-$version lld-$version llvm-$version" ;;
	*)	kind=gcc version=$(printf '%s\n' "$built" | sed 's/.*) \([0-9]*\).*/\1/') package=gcc-$version ;;
	esac
	for cc in "$kind-$version" "$kind"; do
		command_there "$cc" || continue
		# make takes clang by itself where the kernel has it, and clang comes with a linker.
		linker=ld.lld${cc#clang}
		if [ $kind = clang ] && ! command_there "$linker"; then
			no build compiler "$cc, but no $linker; the kernel's: $built" "$(install "lld-$version llvm-$version" "lld llvm")"
			return
		fi
		case $($cc --version 2>/dev/null | head -n 1) in
		*" $version."*|*" $version "*)
			yes compiler "$cc, as the kernel's: $built"
			return ;;
		esac
	done
	if command_there $kind; then
		note compiler "$($kind --version | head -n 1), but the kernel's: $built"
	else
		no build compiler "no $kind; the kernel's: $built" "$(install "$package" "$kind")"
	fi
}

# Returns 1 if the kernel can never have the module.
check_config()
{
	if [ -z "$config" ]; then
		# Without the headers it is they that are missed.
		[ -e "$build/Makefile" ] || return 0
		no build config "not found" "$(headers)" \
			"$([ -z "$(first "$root/lib/modules/$release"/kernel/kernel/configs.ko*)" ] || echo "or: modprobe configs")"
		return 0
	fi
	lacking=
	for option in MODULES MODULE_UNLOAD TRACEPOINTS DEBUG_FS 64BIT; do
		has $option || lacking="$lacking CONFIG_$option"
	done
	# The others depend on it.
	if ! has MODULES; then lacking=" CONFIG_MODULES"; fi
	if has PREEMPTION && ! has TASKS_RCU; then lacking="$lacking CONFIG_TASKS_RCU"; fi
	if ! has GENERIC_BUG && has X86_64 && ! has UML; then lacking="$lacking CONFIG_GENERIC_BUG"; fi
	if [ -n "$lacking" ]; then
		no "build load patch measure" config "without$lacking" "$(another_kernel)" "$in_vm"
		return 1
	fi
	yes config "MODULES, MODULE_UNLOAD, TRACEPOINTS, DEBUG_FS (${config_from##*/})"
}

# ---- load ----

# how_to_sign: sets sign and trust, the commands that make a signed module and have the kernel trust its key
how_to_sign()
{
	sign=${clone:+make sign}
	sign=${sign:-"jumpfunc-sign ${installed:-FILE.ko}    (DKMS signs by itself what it builds)"}
	if [ "$secure" = unknown ]; then
		# No firmware keeps keys for its owner.
		trust=
		case " $(first_line "$proc/cmdline") " in
		*" module.sig_enforce"*) trust="or: ${on_host}remove module.sig_enforce from the kernel's command line; reboot" ;;
		esac
	elif command_there mokutil; then trust="${on_host}mokutil --import /var/lib/dkms/mok.pub; reboot, and type its password"
	else
		trust=$(install mokutil mokutil)
		trust=${trust:+"$on_host$trust; mokutil --import /var/lib/dkms/mok.pub; reboot, and type its password"}
	fi
}

# Returns 1 if no module can be loaded any more, whatever it is.
check_trust()
{
	locked=$(first_line "$sys/kernel/security/lockdown" | sed -n 's/.*\[\(.*\)\].*/\1/p')
	secure=unknown
	for f in "$sys"/firmware/efi/efivars/SecureBoot-*; do
		[ -r "$f" ] && secure=$(od -An -tu1 -j4 -N1 "$f" | tr -d ' ')
	done
	how_to_sign
	if [ "$(first_line "$proc/sys/kernel/modules_disabled")" = 1 ]; then
		if is_loaded; then
			note modules "no other can be loaded any more (kernel.modules_disabled)"
		else
			no "load patch measure" modules "none can be loaded any more (kernel.modules_disabled)" "${on_host}reboot"
			return 1
		fi
	fi
	unsigned=
	if [ "$(first_line "$sys/module/module/parameters/sig_enforce")" = Y ]; then
		enforced="signed modules alone are taken (sig_enforce)"
		if is_loaded; then yes signature "$enforced, and jumpfunc is one"
		elif is_signed; then note signature "$enforced; ${module:-$installed} has a signature"
		else
			unsigned=told
			no load signature "$enforced" "$sign" "$trust"
		fi
	else
		yes signature "unsigned modules are taken (the kernel is tainted then)"
	fi
	case $secure in
	1)	note "secure boot" "on: with it kernels are locked down, and want signed modules" ;;
	0)	yes "secure boot" "off" ;;
	*)	yes "secure boot" "not here (no EFI variables)" ;;
	esac
	case $locked in
	none) yes lockdown "none" ;;
	'')	if grep -q securityfs "$proc/filesystems" 2>/dev/null && ! grep -q ' securityfs ' "$proc/mounts" 2>/dev/null; then
			note lockdown "not known: ${on_host}mount -t securityfs securityfs $sys/kernel/security"
		else
			yes lockdown "not in this kernel"
		fi ;;
	*)	if is_loaded || is_signed || [ -n "$unsigned" ]; then
			note lockdown "$locked: debugfs cannot be written, /sys/kernel/jumpfunc takes the same commands"
		else
			no load lockdown "$locked: unsigned modules are refused, and files of debugfs cannot be written" \
				"$sign" "$trust" "or for all: ${on_host}switch Secure Boot off, remove lockdown= from the kernel's command line; reboot"
		fi ;;
	esac
}

check_module()
{
	if is_loaded; then
		version=$(first_line "$sys/module/jumpfunc/version")
		asked=$(first_line "$sys/module/jumpfunc/parameters/backend")
		used=$(sed -n 's/^backend  *//p' "$jf/stats" 2>/dev/null | head -n 1)
		yes module "jumpfunc ${version:-of no version} is loaded, back end ${used:-${asked:-not told}}"
		return
	fi
	if [ -z "$module" ] && [ -n "$installed" ]; then
		not_yet module "not loaded" "${on_host}modprobe jumpfunc"
		return
	fi
	if [ ! -e "${module:-$top/jumpfunc.ko}" ]; then
		case " $failed " in
		*" build "*)	no load module "not loaded, and not built: see above"; return ;;
		esac
		if [ -n "$module$clone" ]; then
			not_yet module "not loaded, and no ${module:-$top/jumpfunc.ko}" "make" "${on_host}insmod ./jumpfunc.ko"
		elif [ -n "$(first "$root"/usr/src/jumpfunc-*/dkms.conf)" ] && command_there dkms; then
			not_yet module "not loaded, and DKMS has not built it for this kernel" \
				"${on_host}dkms autoinstall -k $release && modprobe jumpfunc"
		elif command_there apt-cache && offered jumpfunc-dkms; then
			not_yet module "not loaded, and none is installed for this kernel" \
				"${on_host}apt-get install jumpfunc-dkms; modprobe jumpfunc"
		else
			not_yet module "not loaded, and none is installed for this kernel" \
				"${on_host}in a clone of jumpfunc: make install; modprobe jumpfunc"
		fi
		return
	fi
	magic=$(modinfo -F vermagic "$module" 2>/dev/null)
	case $magic in
	"$release "*|'') not_yet module "not loaded" "${on_host}insmod $module" ;;
	*) not_yet module "not loaded; $module is for ${magic%% *}" "make clean && make" "${on_host}insmod ./jumpfunc.ko" ;;
	esac
}

# ---- patch ----

check_unwinder()
{
	[ -n "$config" ] || { note unwinder "not known, and neither is kCFI: no configuration found"; return; }
	if has UNWINDER_ORC; then
		yes unwinder "ORC: the tasks inside a target are seen"
	elif has ARM64; then
		yes unwinder "frame pointers: the tasks inside a target are seen"
	elif has X86_64; then
		note unwinder "no CONFIG_UNWINDER_ORC: stacks are searched, not unwound; an unload can wait without end"
		remedies "$(another_kernel)"
	else
		note unwinder "none that jumpfunc can use: targets must not sleep"
	fi
}

check_cfi()
{
	[ -n "$config" ] || return
	if ! has CFI_CLANG CFI; then
		yes kCFI "off"
	elif ! has X86_64; then
		no build kCFI "on: jumpfunc goes with it only on x86-64" "$(another_kernel)"
	elif [ "$((major * 1000 + minor))" -lt 6005 ]; then
		note kCFI "on, and the kernel is older than 6.5: the demo's event set is off"
	else
		yes kCFI "on: trampolines and probes have the types that it compares"
	fi
}

check_retpolines()
{
	spectre=$(first_line "$sys/devices/system/cpu/vulnerabilities/spectre_v2")
	case ${spectre%%;*} in
	*[Rr]etpoline*) yes retpolines "in force (${spectre%%;*})" ;;
	'') note retpolines "not told by this kernel" ;;
	*)	if [ -n "$config" ] && ! has RETPOLINE MITIGATION_RETPOLINE; then
			note retpolines "not compiled in: pointers are cheap, only N subscribers gain"
		else
			note retpolines "not in force (${spectre%%;*}): pointers are cheap; spectre_v2=retpoline at boot"
		fi ;;
	esac
}

check_place()
{
	case $place in
	container) note container "this is one: its kernel is the host's; load, mount and measure there" ;;
	chroot) note chroot "this is one: /lib/modules and /boot are not those of the kernel that runs" ;;
	esac
}

# ---- measure ----

check_debugfs()
{
	if ! grep -q debugfs "$proc/filesystems" 2>/dev/null; then
		no measure debugfs "none in this kernel, or debugfs=off on its command line" \
			"$(case " $(first_line "$proc/cmdline") " in *" debugfs="*) echo "${on_host}remove debugfs= from the kernel's command line; reboot" ;; esac)"
	elif [ ! -d "$sys/kernel/debug" ]; then
		no measure debugfs "there is no $sys/kernel/debug" "${on_host}mount -t sysfs sysfs $sys" "${on_host}mount -t debugfs debugfs $sys/kernel/debug"
	elif ! awk -v dir="$sys/kernel/debug" '$2 == dir && $3 == "debugfs" { ok = 1 } END { exit !ok }' "$proc/mounts" 2>/dev/null; then
		no measure debugfs "not mounted at $sys/kernel/debug" "${on_host}mount -t debugfs debugfs $sys/kernel/debug"
	else
		yes debugfs "mounted at ${sys#"$root"}/kernel/debug"
	fi
}

check_perf()
{
	if ! command_there perf; then
		no measure perf "none" "$(install "linux-perf|linux-tools-$release|linux-tools-generic" perf)"
	elif perf stat -x, -e task-clock -- true >/dev/null 2>&1; then
		yes perf "$(command -v perf)"
	else
		said=$(perf stat -e task-clock -- true 2>&1 | grep . | head -n 1)
		paranoid=$(first_line "$proc/sys/kernel/perf_event_paranoid")
		mend=
		case $said in
		*"not found"*) mend=$(install "linux-perf|linux-tools-$release|linux-tools-generic" perf) ;;
		*) case $paranoid in [2-9]) mend="${on_host}as root: sysctl kernel.perf_event_paranoid=1" ;; esac ;;
		esac
		no measure perf "\"perf stat\" fails: $said" "$mend"
	fi
	for f in "$sys"/bus/event_source/devices/cpu "$sys"/bus/event_source/devices/cpu_core; do
		if [ -e "$f" ]; then yes counters "cycles and instructions can be counted"; return; fi
	done
	if grep -q '^flags.* hypervisor' "$proc/cpuinfo" 2>/dev/null; then
		note counters "none for this virtual machine: no cycles beside the seconds; qemu: -cpu host,pmu=on"
	else
		note counters "none: no cycles beside the seconds"
	fi
}

check_load()
{
	if command_there hackbench; then
		yes hackbench "$(command -v hackbench)"
	else
		no measure hackbench "none" "$(install rt-tests realtime-tests)"
	fi
	if ! command_there gnuplot; then
		mend=$(install gnuplot-nox gnuplot)
		note gnuplot "none, so tables without a chart${mend:+: $mend}"
	fi
	governor=$(first_line "$sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	case $governor in
	''|performance) ;;
	*)	if command_there cpupower; then mend=": cpupower frequency-set -g performance"; else mend=" performance"; fi
		note governor "$governor: times vary less with$mend" ;;
	esac
}

# ---- all ----

find_place
find_config
find_module
# What the kernel can never do leaves nothing else to say.
section build
if check_kernel && check_config; then
	check_headers
	check_compiler
	section load
	check_place
	if check_trust; then check_module; fi
	section patch
	check_unwinder
	check_cfi
	check_retpolines
	section measure
	check_debugfs
	check_perf
	check_load
else
	check_place
fi
[ "$(id -u)" = 0 ] || note root "you are not: loading and measuring take root"

sum=
for p in build load patch measure; do
	case " $failed " in
	*" $p "*) answer=no ;;
	*) answer=yes ;;
	esac
	if [ $p = load ] && [ $answer = yes ] && [ -n "$todo" ]; then answer="yes, but it is not loaded"; fi
	sum="$sum $p: $answer "
done
echo
echo "can it ...${sum% }"
if [ -n "$failed" ]; then exit 1; fi
if [ -n "$todo" ]; then exit 3; fi
exit 0
