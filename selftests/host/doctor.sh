#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of scripts/doctor.sh on made-up machines: each "no" is seen once, with its command, and a
# machine without fault has none.  TAP on stdout.
#
# usage: doctor.sh [shell ...]      default: dash, busybox

set -u
LC_ALL=C
export LC_ALL

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
script=$top/scripts/doctor.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# shellcheck source=selftests/host/tap.sh
. "$top/selftests/host/tap.sh"

# ---- the made-up machine: Debian, in order ----

release=6.1.0-99-amd64
JF_ROOT=$work/m
export JF_ROOT
sys=$JF_ROOT/sys

fake() { cat >"$work/bin/$1"; chmod +x "$work/bin/$1"; }

# in_place PIDS USERS MOUNTS: the name spaces that this runs in; those of process 1 are 4026531836, 4026531837, 11
in_place()
{
	ln -sfn "pid:[$1]" "$JF_ROOT/proc/self/ns/pid"
	ln -sfn "user:[$2]" "$JF_ROOT/proc/self/ns/user"
	ln -sfn "mnt:[$3]" "$JF_ROOT/proc/self/ns/mnt"
	ln -sfn "mnt:[11]" "$JF_ROOT/proc/1/ns/mnt"
}

# apt_has PACKAGE...: apt-cache knows these and no other; nothing known means that there are no lists
apt_has()
{
	mkdir -p "$JF_ROOT/var/lib/apt/lists"
	if [ $# -gt 0 ]; then : >"$JF_ROOT/var/lib/apt/lists/mirror.example_debian_main_binary-amd64_Packages"; fi
	printf '#!/bin/sh\n[ "$1" = show ] || exit 100\nfor p; do :; done\ncase " %s " in *" $p "*) ;; *) exit 100 ;; esac\n' "$*" | fake apt-cache
}

# never WHAT PATTERN: nothing of the kind is said
never()
{
	go
	if ! grep -qE -e "$2" "$work/out"; then ok "$1"; else not_ok "$1" "$(cat "$work/out")"; fi
	reset
}

reset()
{
	rm -rf "${work:?}/m" "${work:?}/bin"
	mkdir -p "$work/bin" "$JF_ROOT/proc/sys/kernel" "$JF_ROOT/etc" "$JF_ROOT/lib/modules/$release/build" \
		"$sys/kernel/debug/jumpfunc" "$sys/kernel/security" "$sys/module/jumpfunc/parameters" \
		"$sys/module/module/parameters" "$sys/devices/system/cpu/vulnerabilities" "$sys/bus/event_source/devices/cpu" \
		"$sys/firmware/efi/efivars" "$JF_ROOT/proc/self/ns" "$JF_ROOT/proc/1/ns"
	in_place 4026531836 4026531837 11
	ln -s ../.. "$JF_ROOT/proc/1/root"
	for tool in awk cat sed grep head tail tr od gzip dirname readlink stat; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
	echo "$release" >"$JF_ROOT/proc/sys/kernel/osrelease"
	echo x86_64 >"$JF_ROOT/proc/sys/kernel/arch"
	echo 0 >"$JF_ROOT/proc/sys/kernel/modules_disabled"
	printf 'nodev\tdebugfs\n' >"$JF_ROOT/proc/filesystems"
	echo "debugfs $sys/kernel/debug debugfs rw 0 0" >"$JF_ROOT/proc/mounts"
	echo 'flags		: fpu hypervisor' >"$JF_ROOT/proc/cpuinfo"
	echo 'ID=debian' >"$JF_ROOT/etc/os-release"
	: >"$JF_ROOT/lib/modules/$release/build/Makefile"
	config=$JF_ROOT/lib/modules/$release/build/.config
	cat >"$config" <<-END
		CONFIG_CC_VERSION_TEXT="gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0"
		CONFIG_MODULES=y
		CONFIG_MODULE_UNLOAD=y
		CONFIG_TRACEPOINTS=y
		CONFIG_DEBUG_FS=y
		CONFIG_GENERIC_BUG=y
		CONFIG_X86_64=y
		CONFIG_64BIT=y
		CONFIG_PREEMPTION=y
		CONFIG_TASKS_RCU=y
		CONFIG_UNWINDER_ORC=y
		CONFIG_RETPOLINE=y
	END
	echo '[none] integrity confidentiality' >"$sys/kernel/security/lockdown"
	echo N >"$sys/module/module/parameters/sig_enforce"
	printf '\006\000\000\000\000' >"$sys/firmware/efi/efivars/SecureBoot-8be4df61"
	echo 'Mitigation: Retpolines; IBPB: conditional' >"$sys/devices/system/cpu/vulnerabilities/spectre_v2"
	echo 0.9 >"$sys/module/jumpfunc/version"
	echo auto >"$sys/module/jumpfunc/parameters/backend"
	echo 'backend xmc' >"$sys/kernel/debug/jumpfunc/stats"
	for tool in make hackbench gnuplot dkms mokutil; do printf '#!/bin/sh\n' | fake $tool; done
	printf '#!/bin/sh\necho "gcc-12 (Debian 12.2.0-14) 12.2.0"\n' | fake gcc-12
	printf '#!/bin/sh\n[ "$1" = stat ]\n' | fake perf
	printf '#!/bin/sh\n[ "$2" != vermagic ] || echo %s\n' '"6.1.0-99-amd64 SMP preempt"' | fake modinfo
	printf '#!/bin/sh\necho 0\n' | fake id
}

# go: rc and $work/out
go()
{
	rc=0
	# shellcheck disable=SC2086 # "busybox sh" is two words
	PATH=$work/bin $shell_path "$script" "$@" >"$work/out" 2>&1 </dev/null || rc=$?
}

# sees WHAT STATUS PATTERN...: the doctor ends with that status and says these things
sees()
{
	sees_what=$1 sees_rc=$2
	shift 2
	go
	if [ $rc -ne "$sees_rc" ]; then not_ok "$sees_what" "status $rc, not $sees_rc" "$(cat "$work/out")"; reset; return; fi
	for pattern; do
		grep -q -e "$pattern" "$work/out" || { not_ok "$sees_what" "no \"$pattern\" in:" "$(cat "$work/out")"; reset; return; }
	done
	ok "$sees_what"
	reset
}

# an option is removed from the configuration
without() { grep -v "^CONFIG_$1=" "$config" >"$config.new"; mv "$config.new" "$config"; }

test_in_order()
{
	go
	if [ $rc = 0 ] && ! grep -qE '^(.{8})?no ' "$work/out" && ! grep -q 'note' "$work/out"; then ok "a machine in order: no \"no\""; else
		not_ok "a machine in order: no \"no\"" "status $rc" "$(cat "$work/out")"
	fi
	if [ "$(wc -l <"$work/out")" -le 24 ] && ! grep -qE '.{101}' "$work/out"; then ok "one screen"; else
		not_ok "one screen" "$(cat "$work/out")"; fi
	sees "... and tells the back end" 0 "jumpfunc 0.9 is loaded, back end xmc" "build: yes .*load: yes .*patch: yes .*measure: yes"
	go --what
	if [ $rc = 2 ]; then ok "a bad option"; else not_ok "a bad option" "status $rc"; fi
	go --help
	if [ $rc = 0 ] && grep -q 'JF_ROOT' "$work/out"; then ok "--help"; else not_ok "--help" "status $rc"; fi
}

# The kernel is built by clang, and clang is here, by its own name alone.
by_clang()
{
	sed -i 's/^CONFIG_CC_VERSION_TEXT.*/CONFIG_CC_VERSION_TEXT="Debian clang version 19.1.7"/' "$config"
	printf '#!/bin/sh\necho "Debian clang version 19.1.7 (3+b1)"\n' | fake clang-19
	printf '#!/bin/sh\n' | fake ld.lld-19
}

test_build()
{
	echo 5.4.0-1 >"$JF_ROOT/proc/sys/kernel/osrelease"
	sees "an old kernel" 1 "no .*kernel .*5.4.0-1 is older than 5.10" "-> apt-get install linux-image" "patch: no"
	echo riscv64 >"$JF_ROOT/proc/sys/kernel/arch"
	sees "another architecture is no fault" 0 "note .*kernel .*function pointers"
	echo aarch64 >"$JF_ROOT/proc/sys/kernel/arch"
	without X86_64; without UNWINDER_ORC
	echo CONFIG_ARM64=y >>"$config"
	sees "arm64 is patched, and its stacks are read" 0 "yes .*kernel .*aarch64" "yes .*unwinder .*frame pointers"
	without 64BIT
	sees "... but one with pointers of 32 bits is" 1 "no .*config .*without CONFIG_64BIT$" "build: no"
	mv "$JF_ROOT/lib/modules/$release" "$JF_ROOT/lib/modules/9.9.0-1-amd64"
	echo 9.9.0-1-amd64 >"$JF_ROOT/proc/sys/kernel/osrelease"
	sees "a kernel that was never tried is told" 0 "note .*kernel .*9.9.0-1-amd64.*not tried.*DKMS"
	rm "$JF_ROOT/lib/modules/$release/build/Makefile"
	sees "no headers" 1 "no .*headers" "-> apt-get install linux-headers-$release" "build: no .*load: yes"
	rm "$JF_ROOT/lib/modules/$release/build/Makefile"
	echo 'ID=fedora' >"$JF_ROOT/etc/os-release"
	sees "... on Fedora" 1 "-> dnf install kernel-devel-$release"
	rm "$JF_ROOT/lib/modules/$release/build/Makefile" "$JF_ROOT/etc/os-release"
	sees "... elsewhere" 1 "-> install what Debian calls linux-headers-$release"
	rm "$work/bin/make"
	sees "no make" 1 "no .*make" "-> apt-get install make"
	rm "$work/bin/gcc-12"
	sees "no compiler" 1 "no .*compiler .*no gcc; the kernel's: gcc-12" "-> apt-get install gcc-12"
	printf '#!/bin/sh\necho "gcc (Debian 14.2.0-1) 14.2.0"\n' | fake gcc
	rm "$work/bin/gcc-12"
	sees "another compiler is told" 0 "note .*compiler .*14.2.0, but the kernel's: gcc-12"
	sed -i 's/^CONFIG_CC_VERSION_TEXT.*/CONFIG_CC_VERSION_TEXT="Debian clang version 19.1.7"/' "$config"
	sees "gcc where the kernel has clang" 1 "no .*compiler .*no clang" "-> apt-get install clang-19"
	by_clang
	sees "the kernel's clang, which make takes by itself" 0 "yes .*compiler .*clang-19, as the kernel's"
	by_clang
	go
	if ! grep -q 'LLVM=' "$work/out"; then ok "... and the user is not told to name another"; else not_ok "... and the user is not told to name another" "$(cat "$work/out")"; fi
	rm "$work/bin/ld.lld-19"
	sees "clang without its linker" 1 "no .*compiler .*no ld.lld-19" "-> apt-get install .*lld-19"
}

# The kernel's configuration, and where it is.
test_config()
{
	rm "$config"
	sees "no configuration" 1 "note .*unwinder .*not known" "no .*config .*not found" "-> apt-get install linux-headers"
	rm "$config"
	never "... and that the compiler is not known, therefore, is not told" '  no +compiler '
	rm "$config" "$JF_ROOT/lib/modules/$release/build/Makefile"
	never "... nor that it is missing where the headers are" '  no +(compiler|config) '
	for option in MODULES MODULE_UNLOAD TRACEPOINTS DEBUG_FS TASKS_RCU GENERIC_BUG; do
		without $option
		sees "a kernel without $option" 1 "no .*config .*without CONFIG_$option$" "-> .*reboot" "build: no .*load: no"
		without $option
		rm -r "$sys/module/jumpfunc" "$JF_ROOT/lib/modules/$release/build/Makefile"
		echo Y >"$sys/module/module/parameters/sig_enforce"
		: >"$JF_ROOT/proc/mounts"
		never "... and nothing of what depends on it" '(signature|lockdown|secure boot|module|headers|unwinder|debugfs) '
	done
	without MODULES
	without MODULE_UNLOAD
	sees "without modules, that they cannot be unloaded is not told" 1 "without CONFIG_MODULES$"
	: >"$JF_ROOT/proc/sys/kernel/osrelease"
	sees "no /proc" 1 "no .*kernel .*is /proc mounted" "-> mount -t proc" "build: no .*measure: no"
	: >"$JF_ROOT/proc/sys/kernel/osrelease"
	never "... and nothing else" '^(load|patch|measure) '
	mv "$config" "$work/c"
	gzip -c "$work/c" >"$JF_ROOT/proc/config.gz"
	sees "/proc/config.gz will do" 0 "yes .*config .*config.gz"
}

# What apt knows is offered, and nothing else.
test_remedies()
{
	rm "$work/bin/perf"
	apt_has linux-tools-generic
	sees "a package that has another name here" 1 "no .*perf" "-> apt-get install linux-tools-generic$"
	rm "$work/bin/perf" "$work/bin/hackbench" "$work/bin/gnuplot"
	apt_has linux-perf
	sees "a package that there is" 1 "no .*hackbench" "-> apt-get install linux-perf$"
	rm "$work/bin/hackbench" "$work/bin/gnuplot"
	apt_has linux-perf
	never "... and none that there is not" 'install (rt-tests|gnuplot)'
	rm "$work/bin/perf"
	apt_has
	sees "without apt's lists they are to be had first" 1 "no .*perf" "-> apt-get update; then ask again$"
	rm "$JF_ROOT/lib/modules/$release/build/Makefile"
	apt_has linux-image-amd64 linux-headers-amd64
	sees "no package of this kernel's headers" 1 "no .*headers .*and no package of them" "-> apt-get install linux-image-amd64 linux-headers-amd64; reboot"
	without MODULES
	apt_has linux-image-generic linux-headers-generic
	sees "another kernel by its name here" 1 "-> apt-get install linux-image-generic linux-headers-generic; reboot"
	without MODULES
	apt_has linux-image-generic
	never "... and none if a part of it is missing" 'linux-image'
	rm "$config"
	: >"$JF_ROOT/lib/modules/$release/build/Makefile"
	never "configs is a module of few kernels" 'modprobe configs'
	rm "$config"
	mkdir -p "$JF_ROOT/lib/modules/$release/kernel/kernel"
	: >"$JF_ROOT/lib/modules/$release/kernel/kernel/configs.ko.xz"
	sees "... and told for these" 1 "-> or: modprobe configs"
	echo Y >"$sys/module/module/parameters/sig_enforce"
	rm -r "$sys/module/jumpfunc"
	rm "$work/bin/mokutil"
	apt_has mokutil
	sees "mokutil is to be installed first" 1 "-> apt-get install mokutil; mokutil --import"
	echo Y >"$sys/module/module/parameters/sig_enforce"
	rm -r "$sys/module/jumpfunc" "$sys/firmware"
	never "without firmware that keeps keys none is given to it" 'mokutil'
	echo Y >"$sys/module/module/parameters/sig_enforce"
	echo 'root=/dev/sda1 module.sig_enforce=1 quiet' >"$JF_ROOT/proc/cmdline"
	rm -r "$sys/module/jumpfunc" "$sys/firmware"
	sees "... and what asks for signatures can be taken away" 1 "-> make sign" "-> or: remove module.sig_enforce .*reboot"
	echo Y >"$sys/module/module/parameters/sig_enforce"
	echo 'none [integrity] confidentiality' >"$sys/kernel/security/lockdown"
	rm -r "$sys/module/jumpfunc"
	go
	if [ "$(grep -c -e '-> make sign' "$work/out")" = 1 ]; then ok "one cause, one remedy"; else not_ok "one cause, one remedy" "$(cat "$work/out")"; fi
	reset
	: >"$JF_ROOT/proc/filesystems"
	never "debugfs=off is not taken away where it is not" '-> remove debugfs'
	: >"$JF_ROOT/proc/filesystems"
	echo 'debugfs=off' >"$JF_ROOT/proc/cmdline"
	sees "... and where it is" 1 "-> remove debugfs= .*reboot"
	rm -r "$sys/module/jumpfunc"
	rm "$JF_ROOT/lib/modules/$release/build/Makefile"
	go
	if grep -q 'no .*module .*not built: see above' "$work/out" && ! grep -q 'insmod' "$work/out"; then ok "what cannot be built is not to be loaded"; else
		not_ok "what cannot be built is not to be loaded" "$(cat "$work/out")"; fi
	reset
}

# A container, a chroot, and what only looks like one.
test_place()
{
	touch "$JF_ROOT/.dockerenv"
	never "a machine that was made of a container's image is none" '(container|chroot) '
	in_place 4026532001 4026531837 12
	rm -r "$sys/module/jumpfunc"
	: >"$work/m.ko"
	: >"$JF_ROOT/proc/mounts"
	go --module "$work/m.ko"
	if grep -q 'note .*container .*host' "$work/out" && grep -q -e "-> on the host: insmod $work/m.ko" "$work/out" &&
		grep -q -e '-> on the host: mount -t debugfs' "$work/out"; then ok "a container: what the host has to do"; else
		not_ok "a container: what the host has to do" "$(cat "$work/out")"; fi
	reset
	in_place 4026531836 4026532002 12
	sees "a container with users of its own" 0 "note .*container"
	mkdir -p "$JF_ROOT/run"; : >"$JF_ROOT/run/.containerenv"
	in_place 4026531836 4026531837 12
	sees "a container that sees the host's processes" 0 "note .*container"
	in_place 4026531836 4026531837 12
	never "a name space of mounts is none" '(container|chroot) '
	mkdir "$work/other"
	ln -sfn "$work/other" "$JF_ROOT/proc/1/root"
	sees "a chroot is told apart" 0 "note .*chroot .*not those of the kernel"
	ln -sfn "$work/other" "$JF_ROOT/proc/1/root"
	never "... from a container" 'container '
	rm "$JF_ROOT/proc/1/root"
	echo '21 20 0:5 / /proc rw - proc proc rw' >"$JF_ROOT/proc/self/mountinfo"
	sees "... also where the root of process 1 is not shown" 0 "note .*chroot"
	rm "$JF_ROOT/proc/1/root"
	printf '%s\n' '20 1 8:1 / / rw - ext4 /dev/sda1 rw' '21 20 0:5 / /proc rw - proc proc rw' >"$JF_ROOT/proc/self/mountinfo"
	never "... which a machine is not taken for" '(container|chroot) '
	echo sid >"$JF_ROOT/etc/debian_chroot"
	sees "... or by the name that Debian gives it" 0 "note .*chroot"
	ln -sfn "$work/other" "$JF_ROOT/proc/1/root"
	without MODULES
	sees "... and gets no other kernel" 1 "note .*chroot" "-> outside of the chroot: apt-get install linux-image"
	rmdir "$work/other"
}

test_load()
{
	echo 1 >"$JF_ROOT/proc/sys/kernel/modules_disabled"
	sees "modules_disabled, and jumpfunc was loaded before" 0 "note .*modules .*modules_disabled" "load: yes"
	echo 1 >"$JF_ROOT/proc/sys/kernel/modules_disabled"
	rm -r "$sys/module/jumpfunc"
	sees "modules_disabled" 1 "no .*modules .*modules_disabled" "-> reboot" "build: yes .*load: no"
	echo 1 >"$JF_ROOT/proc/sys/kernel/modules_disabled"
	rm -r "$sys/module/jumpfunc"
	never "... and nothing of what could be loaded then" '(signature|lockdown|module) |insmod'
	echo Y >"$sys/module/module/parameters/sig_enforce"
	sees "sig_enforce, and a module that it has let in" 0 "yes .*signature .*signed modules alone" "load: yes"
	echo Y >"$sys/module/module/parameters/sig_enforce"
	rm -r "$sys/module/jumpfunc"
	sees "sig_enforce" 1 "no .*signature .*signed modules alone" "-> make sign" "-> mokutil --import .*reboot"
	echo Y >"$sys/module/module/parameters/sig_enforce"
	rm -r "$sys/module/jumpfunc"
	printf 'ELF~Module signature appended~\n' >"$work/m.ko"
	go --module "$work/m.ko"
	if grep -q "note .*signature .*$work/m.ko has a signature" "$work/out" && grep -q -e "-> insmod $work/m.ko" "$work/out"; then ok "... and a module with a signature"; else
		not_ok "... and a module with a signature" "$(cat "$work/out")"; fi
	reset
	echo 'none [integrity] confidentiality' >"$sys/kernel/security/lockdown"
	sees "lockdown, and a module that it has let in" 0 "note .*lockdown .*integrity: .*debugfs.* /sys/kernel/jumpfunc" "load: yes"
	echo 'none [integrity] confidentiality' >"$sys/kernel/security/lockdown"
	rm -r "$sys/module/jumpfunc"
	sees "lockdown" 1 "no .*lockdown .*integrity: .*unsigned" "-> make sign" "-> .*Secure Boot off"
	rm "$sys/kernel/security/lockdown"
	printf 'nodev\tdebugfs\nnodev\tsecurityfs\n' >"$JF_ROOT/proc/filesystems"
	sees "lockdown is not known" 0 "note .*lockdown .*mount -t securityfs"
	rm "$sys/kernel/security/lockdown"
	sees "a kernel without lockdown" 0 "yes .*lockdown .*not in this kernel"
	printf '\006\000\000\000\001' >"$sys/firmware/efi/efivars/SecureBoot-8be4df61"
	sees "Secure Boot is told" 0 "note .*secure boot .*on"
	rm -r "$sys/module/jumpfunc"
	sees "not built" 3 "todo .*module .*not loaded, and no" "-> make$" "-> insmod" "load: yes, but it is not loaded"
	rm -r "$sys/module/jumpfunc"
	: >"$work/m.ko"
	go --module "$work/m.ko"
	if [ $rc = 3 ] && grep -q -e "-> insmod $work/m.ko" "$work/out"; then ok "built, not loaded"; else
		not_ok "built, not loaded" "$(cat "$work/out")"; fi
	reset
	test_installed
	rm -r "$sys/module/jumpfunc" 2>/dev/null
	: >"$work/m.ko"
	# busybox prefers its own to any on PATH.
	[ "$shell" != busybox ] || { reset; return; }
	printf '#!/bin/sh\n[ "$2" != vermagic ] || echo 9.9.9 SMP\n' | fake modinfo
	go --module "$work/m.ko"
	if [ $rc = 3 ] && grep -q "is for 9.9.9" "$work/out"; then ok "built for another kernel"; else
		not_ok "built for another kernel" "$(cat "$work/out")"; fi
	reset
}

# As packages and "make install" have it: called by a link, without the sources.
test_installed()
{
	mkdir -p "$work/usr/sbin" "$work/usr/share/jumpfunc/scripts"
	cp "$script" "$work/usr/share/jumpfunc/scripts"
	ln -sf ../share/jumpfunc/scripts/doctor.sh "$work/usr/sbin/jumpfunc-doctor"
	clone=$script script=$work/usr/sbin/jumpfunc-doctor
	rm -r "$sys/module/jumpfunc"
	mkdir -p "$JF_ROOT/lib/modules/$release/updates/dkms"
	: >"$JF_ROOT/lib/modules/$release/updates/dkms/jumpfunc.ko.xz"
	sees "installed, not loaded" 3 "todo .*module .*not loaded$" "-> modprobe jumpfunc$"
	rm -r "$sys/module/jumpfunc"
	mkdir -p "$JF_ROOT/usr/src/jumpfunc-1.0"
	: >"$JF_ROOT/usr/src/jumpfunc-1.0/dkms.conf"
	sees "DKMS has not built it for this kernel" 3 "todo .*module .*not loaded, and DKMS" "-> dkms autoinstall -k $release && modprobe jumpfunc$"
	rm -r "$sys/module/jumpfunc"
	go
	if ! grep -qE -e '-> make( |$)|vm KERNEL' "$work/out" && grep -q -e '-> in a clone of jumpfunc: make install; modprobe jumpfunc' "$work/out"; then ok "nothing is to be made where there are no sources"; else
		not_ok "nothing is to be made where there are no sources" "$(cat "$work/out")"; fi
	script=$clone
	reset
}

test_patch()
{
	without UNWINDER_ORC
	sees "another unwinder is told" 0 "note .*unwinder .*no CONFIG_UNWINDER_ORC: .*searched, not unwound" "-> apt-get install linux-image"
	without UNWINDER_ORC
	without X86_64
	sees "... elsewhere" 0 "note .*unwinder .*must not sleep"
	for name in CFI_CLANG CFI; do
		echo CONFIG_$name=y >>"$config"
		mv "$JF_ROOT/lib/modules/$release" "$JF_ROOT/lib/modules/6.12.9-1-amd64"
		echo 6.12.9-1-amd64 >"$JF_ROOT/proc/sys/kernel/osrelease"
		sees "kCFI, as CONFIG_$name" 0 "yes .*kCFI .*on" "patch: yes"
	done
	echo CONFIG_CFI_CLANG=y >>"$config"
	sees "kCFI before 6.5" 0 "note .*kCFI .*event set is off" "patch: yes"
	echo CONFIG_CFI_CLANG=y >>"$config"
	echo aarch64 >"$JF_ROOT/proc/sys/kernel/arch"
	without X86_64
	sees "kCFI elsewhere" 1 "no .*kCFI .*only on x86-64" "build: no"
	echo 'Mitigation: Enhanced / Automatic IBRS; BHI: Retpoline' >"$sys/devices/system/cpu/vulnerabilities/spectre_v2"
	sees "no retpolines in force" 0 "note .*retpolines .*not in force .*spectre_v2=retpoline"
	echo 'Vulnerable' >"$sys/devices/system/cpu/vulnerabilities/spectre_v2"
	without RETPOLINE
	sees "no retpolines compiled in" 0 "note .*retpolines .*not compiled in"
}

test_measure()
{
	: >"$JF_ROOT/proc/mounts"
	sees "debugfs is not mounted" 1 "no .*debugfs .*not mounted" "-> mount -t debugfs" "measure: no"
	rm -r "$sys/kernel/debug"
	sees "no folder for debugfs" 1 "no .*debugfs .*there is no " "-> mount -t sysfs" "-> mount -t debugfs"
	: >"$JF_ROOT/proc/filesystems"
	sees "no debugfs" 1 "no .*debugfs .*none in this kernel"
	rm "$work/bin/perf"
	sees "no perf" 1 "no .*perf" "-> apt-get install linux-perf"
	printf '#!/bin/sh\necho "WARNING: perf not found for kernel" >&2\nexit 2\n' | fake perf
	sees "a perf that fails" 1 "no .*perf .*not found for kernel" "-> apt-get install linux-perf$"
	printf '#!/bin/sh\necho "Error: no permission" >&2\nexit 2\n' | fake perf
	echo 3 >"$JF_ROOT/proc/sys/kernel/perf_event_paranoid"
	sees "a perf that may not" 1 "no .*perf .*no permission" "-> .*perf_event_paranoid=1$"
	printf '#!/bin/sh\necho "Error: out of memory" >&2\nexit 2\n' | fake perf
	never "... and one with other trouble, for which there is no remedy" '-> .*perf'
	rmdir "$sys/bus/event_source/devices/cpu"
	sees "no counters is no fault" 0 "note .*counters .*virtual machine"
	rm "$work/bin/hackbench"
	sees "no hackbench" 1 "no .*hackbench" "-> apt-get install rt-tests" "measure: no"
	rm "$work/bin/gnuplot"
	sees "no gnuplot is no fault" 0 "note .*gnuplot .*apt-get install gnuplot-nox"
	[ "$shell" != busybox ] || return
	printf '#!/bin/sh\necho 1000\n' | fake id
	sees "not root is told" 0 "note .*root"
}

[ -r "$script" ] || { echo "Bail out! no $script"; exit 1; }
if [ $# -eq 0 ]; then set -- dash busybox; fi
for shell; do
	tap_label="$shell: "
	shell_path=$(command -v "$shell") || { skip "the tests" "no $shell"; continue; }
	[ "$shell" != busybox ] || shell_path="$shell_path sh"
	for t in in_order build config remedies place load patch measure; do
		reset
		"test_$t"
	done
done
echo "# $((tap_n - tap_failed)) passed, $tap_failed failed"
tap_end
