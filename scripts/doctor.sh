#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# `make doctor`: says on one screen whether this machine can build jumpfunc, load it, patch text with
# it, and measure; below each "no" stands the command that mends it.  Changes nothing.  Needs a POSIX
# shell, awk, sed and grep; those of busybox will do.

set -u
LC_ALL=C
export LC_ALL

prog=doctor.sh
here=$0
# Installed, it is called by a link.
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
  no     something cannot be done; the line below it says what mends it
  note   all can be done, but it is good to know

  --module FILE   the module to load (default: jumpfunc.ko here, as make builds it, or that which is
                  installed for this kernel)
  -h, --help      this text

Exit status: 0 there is no "no", 1 there is, 2 bad usage.
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
section() { part=$1; }
# line WORD WHAT TEXT
line() { printf '%-8s%-5s %-13s %s\n' "$part" "$1" "$2" "$3"; part=; }
yes() { line yes "$1" "$2"; }
note() { line note "$1" "$2"; }
# no PARTS WHAT TEXT REMEDY...
no()
{
	failed="$failed $1"
	shift
	line no "$1" "$2"
	shift 2
	for remedy; do printf '%14s-> %s\n' '' "$remedy"; done
}

# ---- what is read ----

first_line() { if [ -r "$1" ]; then head -n 1 "$1" 2>/dev/null || :; fi; }

# command_there NAME
command_there() { command -v "$1" >/dev/null 2>&1; }

release=$(first_line "$proc/sys/kernel/osrelease")
build=$root/lib/modules/$release/build
distribution=$(sed -n 's/^ID\(_LIKE\)*=//p' "$root/etc/os-release" 2>/dev/null | tr -d '"' | tr '\n' ' ')

# install DEBIAN FEDORA: the command that installs a package
install()
{
	case " $distribution " in
	*" debian "*|*" ubuntu "*) echo "apt-get install $1" ;;
	*" fedora "*|*" rhel "*) echo "dnf install $2" ;;
	*) echo "install what Debian calls $1 and Fedora $2" ;;
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

another_kernel() { install "linux-image-amd64 linux-headers-amd64; reboot" "kernel kernel-devel; reboot"; }

check_kernel()
{
	machine=$(first_line "$proc/sys/kernel/arch")
	machine=${machine:-$(uname -m)}
	major=${release%%.*}
	minor=${release#*.}
	minor=${minor%%[!0-9]*}
	if [ -z "$release" ]; then
		no build kernel "no $proc/sys/kernel/osrelease: is /proc mounted?" "mount -t proc proc $proc"
	elif [ "$((major * 1000 + minor))" -lt 5010 ]; then
		no "build load patch" kernel "$release is older than 5.10" "$(another_kernel)"
	elif [ "$machine" != x86_64 ]; then
		note kernel "$release on $machine: function pointers instead of patched text"
	elif tried=$(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"$/\1/p' "$top/jumpfunc.dkms" 2>/dev/null) &&
		[ -n "$tried" ] && ! printf '%s\n' "$release" | grep -qE "$tried"; then
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
		no build headers "no ${build#"$root"}" "$(install "linux-headers-$release" "kernel-devel-$release")" \
			${clone:+"or build for a stock Debian kernel, in a VM: make KERNEL=6.1; make vm KERNEL=6.1"}
	fi
	if command_there make; then yes make "$(command -v make)"; else no build make "none" "$(install make make)"; fi
}

# The compiler that the kernel was built with, or one of its kind.
check_compiler()
{
	built=$(value CC_VERSION_TEXT)
	case $built in
	'')	no build compiler "not known what the kernel was built with: no configuration found" \
			"$(install "linux-headers-$release" "kernel-devel-$release")"
		return ;;
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

check_config()
{
	if [ -z "$config" ]; then
		no build config "not found" "$(install "linux-headers-$release" "kernel-devel-$release")" "or: modprobe configs"
		return
	fi
	lacking=
	for option in MODULES MODULE_UNLOAD TRACEPOINTS DEBUG_FS 64BIT; do
		has $option || lacking="$lacking CONFIG_$option"
	done
	if has PREEMPTION && ! has TASKS_RCU; then lacking="$lacking CONFIG_TASKS_RCU"; fi
	if ! has GENERIC_BUG && has X86_64 && ! has UML; then lacking="$lacking CONFIG_GENERIC_BUG"; fi
	if [ -n "$lacking" ]; then
		no "build load patch" config "without$lacking" "$(another_kernel)"
	else
		yes config "MODULES, MODULE_UNLOAD, TRACEPOINTS, DEBUG_FS (${config_from##*/})"
	fi
}

# ---- load ----

check_trust()
{
	locked=$(first_line "$sys/kernel/security/lockdown" | sed -n 's/.*\[\(.*\)\].*/\1/p')
	secure=unknown
	for f in "$sys"/firmware/efi/efivars/SecureBoot-*; do
		[ -r "$f" ] && secure=$(od -An -tu1 -j4 -N1 "$f" | tr -d ' ')
	done
	sign=${clone:+make sign}
	sign=${sign:-"jumpfunc-sign ${installed:-FILE.ko}    (DKMS signs by itself what it builds)"}
	trust="mokutil --import /var/lib/dkms/mok.pub; reboot, and type its password"
	if [ "$(first_line "$proc/sys/kernel/modules_disabled")" = 1 ]; then
		no load modules "none can be loaded any more (kernel.modules_disabled)" "reboot"
	fi
	if [ "$(first_line "$sys/module/module/parameters/sig_enforce")" = Y ]; then
		enforced="signed modules alone are taken (sig_enforce)"
		if is_loaded; then yes signature "$enforced, and jumpfunc is one"
		elif is_signed; then note signature "$enforced; ${module:-$installed} has a signature"
		else no load signature "$enforced" "$sign" "$trust"
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
			note lockdown "not known: mount -t securityfs securityfs $sys/kernel/security"
		else
			yes lockdown "not in this kernel"
		fi ;;
	*)	if is_loaded || is_signed; then
			note lockdown "$locked: debugfs cannot be written, /sys/kernel/jumpfunc takes the same commands"
		else
			no load lockdown "$locked: unsigned modules are refused, and files of debugfs cannot be written" \
				"$sign" "$trust" "or for all: switch Secure Boot off, remove lockdown= from the kernel's command line; reboot"
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
		no load module "not loaded" "modprobe jumpfunc"
		return
	fi
	if [ ! -e "${module:-$top/jumpfunc.ko}" ]; then
		if [ -n "$module$clone" ]; then
			no load module "not loaded, and no ${module:-$top/jumpfunc.ko}" "make && insmod ./jumpfunc.ko"
		elif [ -n "$(first "$root"/usr/src/jumpfunc-*/dkms.conf)" ]; then
			no load module "not loaded, and DKMS has not built it for this kernel" \
				"dkms autoinstall -k $release && modprobe jumpfunc"
		else
			no load module "not loaded, and none is installed for this kernel" \
				"apt-get install ./jumpfunc-dkms_*.deb; modprobe jumpfunc" "in a clone of jumpfunc: make install; modprobe jumpfunc"
		fi
		return
	fi
	magic=$(modinfo -F vermagic "$module" 2>/dev/null)
	case $magic in
	"$release "*|'') no load module "not loaded" "insmod $module" ;;
	*) no load module "not loaded; $module is for ${magic%% *}" "make clean && make && insmod ./jumpfunc.ko" ;;
	esac
}

# ---- patch ----

check_unwinder()
{
	[ -n "$config" ] || { note unwinder "not known, and neither is kCFI: no configuration found"; return; }
	if has UNWINDER_ORC; then
		yes unwinder "ORC: it is seen who is inside a target"
	elif has X86_64; then
		note unwinder "not ORC: stacks are searched, not unwound; what was left there can delay an unload"
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

# In a container the commands that mend may all be right and yet fail.
check_container()
{
	if [ -e "$root/.dockerenv" ] || [ -e "$root/run/.containerenv" ] || [ -s "$root/run/systemd/container" ]; then
		note container "this is one: its kernel is the host's, so load, mount and measure there"
	fi
}

# ---- measure ----

check_debugfs()
{
	if ! grep -q debugfs "$proc/filesystems" 2>/dev/null; then
		no measure debugfs "none in this kernel, or debugfs=off on its command line" "remove debugfs=off; reboot"
	elif [ ! -d "$sys/kernel/debug" ]; then
		no measure debugfs "there is no $sys/kernel/debug" "mount -t sysfs sysfs $sys" "mount -t debugfs debugfs $sys/kernel/debug"
	elif ! awk -v dir="$sys/kernel/debug" '$2 == dir && $3 == "debugfs" { ok = 1 } END { exit !ok }' "$proc/mounts" 2>/dev/null; then
		no measure debugfs "not mounted at $sys/kernel/debug" "mount -t debugfs debugfs $sys/kernel/debug"
	else
		yes debugfs "mounted at ${sys#"$root"}/kernel/debug"
	fi
}

check_perf()
{
	if ! command_there perf; then
		no measure perf "none" "$(install linux-perf perf)"
	elif perf stat -x, -e task-clock -- true >/dev/null 2>&1; then
		yes perf "$(command -v perf)"
	else
		no measure perf "\"perf stat\" fails: $(perf stat -e task-clock -- true 2>&1 | grep . | head -n 1)" \
			"as root: sysctl kernel.perf_event_paranoid=1" "or: $(install linux-perf perf)"
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
	command_there gnuplot || note gnuplot "none, so tables without a chart: $(install gnuplot-nox gnuplot)"
	governor=$(first_line "$sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	case $governor in
	''|performance) ;;
	*) note governor "$governor: times vary less with: cpupower frequency-set -g performance" ;;
	esac
}

# ---- all ----

find_config
find_module
section build
check_kernel
check_headers
check_compiler
check_config
section load
check_container
check_trust
check_module
section patch
check_unwinder
check_cfi
check_retpolines
section measure
check_debugfs
check_perf
check_load
[ "$(id -u)" = 0 ] || note root "you are not: loading and measuring take root"

sum=
for p in build load patch measure; do
	case " $failed " in *" $p "*) sum="$sum $p: no " ;; *) sum="$sum $p: yes " ;; esac
done
echo
echo "can it ...${sum% }"
[ -z "$failed" ]
