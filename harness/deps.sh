#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs what the harness needs and the machine lacks; without root, names it.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"

# group  what proves that it is there  package
# dpkg-buildpackage asks dpkg, not PATH, so the proofs of that group are files of the packages. Those of
# python3-minimal, which lacks half of the modules, are no proof of python3.
needs()
{
	cat <<EOF
build  gcc                 gcc
build  make                make
build  /usr/include/stdio.h  libc6-dev
build  ld                  binutils
build  unshare             util-linux
build  /usr/lib/x86_64-linux-gnu/libelf.so.1  libelf1
fetch  /usr/share/keyrings/debian-archive-keyring.gpg  debian-archive-keyring
fetch  /etc/ssl/certs/ca-certificates.crt  ca-certificates
fetch  xz                  xz-utils
source gcc                 gcc
source make                make
source /usr/include/stdio.h  libc6-dev
source ld                  binutils
source flex                flex
source bison               bison
source bc                  bc
source perl                perl
source cpio                cpio
source gzip                gzip
source xz                  xz-utils
source /usr/include/gelf.h  libelf-dev
source setsid              util-linux
llvm   clang-19            clang-19
llvm   ld.lld-19           lld-19
llvm   llvm-ar-19          llvm-19
vm     qemu-system-x86_64  qemu-system-x86
vm     pydoc3              python3
vm     busybox             busybox-static
vm     cpio                cpio
vm     hackbench           rt-tests
vm     perf                linux-perf
vm     trace-cmd           trace-cmd
vm     chrt                util-linux
vm     bpftrace            bpftrace
vm     pahole              pahole
vm     objcopy             binutils
host   gcc                 gcc
host   make                make
host   /usr/include/stdio.h  libc6-dev
host   objdump             binutils
host   modinfo             kmod
host   pydoc3              python3
plot   gnuplot             gnuplot-nox
outside pkg-config         pkg-config
outside g++                g++
outside clang              clang
outside /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-x86_64.a  libclang-rt-dev
outside musl-gcc           musl-tools
outside cmake              cmake
outside meson              meson
outside gdb                gdb
outside valgrind           valgrind
outside /usr/include/x86_64-linux-gnu/sys/sdt.h  systemtap-sdt-dev
arm64  qemu-system-aarch64  qemu-system-arm
arm64  aarch64-linux-gnu-gcc  gcc-aarch64-linux-gnu
arm64  readelf             binutils
arch   aarch64-linux-gnu-gcc  gcc-aarch64-linux-gnu
arch   aarch64-linux-gnu-g++  g++-aarch64-linux-gnu
arch   /usr/aarch64-linux-gnu/include/stdio.h  libc6-dev-arm64-cross
arch   riscv64-linux-gnu-gcc  gcc-riscv64-linux-gnu
arch   riscv64-linux-gnu-g++  g++-riscv64-linux-gnu
arch   /usr/riscv64-linux-gnu/include/stdio.h  libc6-dev-riscv64-cross
arch   s390x-linux-gnu-gcc  gcc-s390x-linux-gnu
arch   s390x-linux-gnu-g++  g++-s390x-linux-gnu
arch   /usr/s390x-linux-gnu/include/stdio.h  libc6-dev-s390x-cross
arch   i686-linux-gnu-gcc  gcc-i686-linux-gnu
arch   i686-linux-gnu-g++  g++-i686-linux-gnu
arch   /usr/i686-linux-gnu/include/stdio.h  libc6-dev-i386-cross
arch   qemu-aarch64        qemu-user
man    pydoc3              python3
man    lowdown             lowdown
man    help2man            help2man
man    man                 man-db
man    mandoc              mandoc
man    cc                  gcc
signing /usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd  ovmf
signing sbsign             sbsigntool
signing openssl            openssl
package /usr/share/build-essential/list  build-essential
package /usr/bin/dpkg-buildpackage  dpkg-dev
package /usr/bin/dh        debhelper
package /usr/bin/dh_dkms   dh-dkms
package /bin/kmod          kmod
package /usr/bin/lintian   lintian
package /usr/bin/mmdebstrap  mmdebstrap
package /usr/bin/pydoc3    python3
package /usr/bin/lowdown   lowdown
package /usr/bin/help2man  help2man
package /usr/bin/man       man-db
package /usr/bin/mandoc    mandoc
package /usr/bin/rpmbuild  rpm
package /usr/include/elfutils/libdwfl.h  libdw-dev
package /usr/include/Zydis/Zydis.h  libzydis-dev
bench  /usr/include/x86_64-linux-gnu/lttng/tracepoint.h  liblttng-ust-dev
bench  /usr/include/x86_64-linux-gnu/sys/sdt.h  systemtap-sdt-dev
trace  babeltrace2         babeltrace2
trace  unshare             util-linux
trace  gdb                 gdb
trace  clang               clang
trace  /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-x86_64.a  libclang-rt-dev
trace  g++                 g++
trace  lttng               lttng-tools
trace  /usr/include/x86_64-linux-gnu/lttng/tracepoint.h  liblttng-ust-dev
trace  /usr/include/elfutils/libdwfl.h  libdw-dev
trace  /usr/include/Zydis/Zydis.h  libzydis-dev
trace  /usr/include/x86_64-linux-gnu/sys/sdt.h  systemtap-sdt-dev
trace  pydoc3              python3
trace  zstd                zstd
trace  zsh                 zsh
trace  fish                fish
bench  redis-server        redis-server
peers  babeltrace2         babeltrace2
peers  lttng               lttng-tools
peers  /usr/include/x86_64-linux-gnu/lttng/tracepoint.h  liblttng-ust-dev
peers  /usr/include/Zydis/Zydis.h  libzydis-dev
peers  /usr/include/x86_64-linux-gnu/sys/sdt.h  systemtap-sdt-dev
peers  uftrace             uftrace
peers  bpftrace            bpftrace
peers  perf                linux-perf
peers  gnuplot             gnuplot-nox
peers  pydoc3              python3
peers  redis-server        redis-server
peers  sqlite3             sqlite3
peers  zstd                zstd
programs dpkg-source       dpkg-dev
programs /usr/share/keyrings/debian-archive-keyring.gpg  debian-archive-keyring
programs /usr/include/x86_64-linux-gnu/sys/sdt.h  systemtap-sdt-dev
programs /usr/include/event.h  libevent-dev
programs /usr/include/zlib.h  zlib1g-dev
programs valgrind          valgrind
programs babeltrace2       babeltrace2
programs readelf           binutils
programs pydoc3            python3
programs prove             perl
driver mke2fs              e2fsprogs
driver e2fsck              e2fsprogs
driver readelf             binutils
driver pydoc3              python3
lint   perl                perl
lint   git                 git
lint   pydoc3              python3
lint   pyflakes3           pyflakes3
lint   sparse              sparse
lint   shellcheck          shellcheck
lint   codespell           codespell
model  spin                spin
model  gcc                 gcc
EOF
}

usage()
{
	cat <<EOF
usage: harness/deps.sh [-n] [GROUP...]

Installs with apt what is missing, and only that (root), or says what is missing.
Groups (default all): build  compile modules      fetch  download kernels    vm  run them
                      host   tests on the host    plot   draw charts          model  model checking
                      source build test kernels   lint   check the sources     man     make the manual
                      package make and test Debian packages    signing  Secure Boot in a VM
                      bench  what the native benchmark compares with
                      outside  compilers and tools that libjumpfunc is tried with
                      llvm   build test kernels with clang
                      arch   libjumpfunc on machines of other kinds: cross compilers, emulators
                      arm64  build modules for arm64 kernels, and run them
                      driver  put probes into ext4, and use it
                      programs  three programs whose SDT probes become sites
                      peers  the tracers that jf-trace is measured beside, and the programs that they trace
                      trace  what reads programs' traces, and records others' to compare
  -n   only say what is missing; the exit status is 1 if anything is
EOF
}

dry=0
case ${1:-} in
-h|--help) usage; exit 0 ;;
-n) dry=1; shift ;;
-*) usage >&2; exit 2 ;;
esac
groups=" ${*:-build fetch vm host plot bench outside trace arch arm64 model source llvm lint man package signing} "

# missing: the packages, one per line
missing()
{
	needs | while read -r group proof package; do
		case $groups in *" $group "*) ;; *) continue ;; esac
		case $proof in
		/*) ! compgen -G "$proof" >/dev/null || continue ;;
		*) ! PATH=$PATH:/usr/sbin:/sbin command -v "$proof" >/dev/null || continue ;;
		esac
		echo "$package"
	done | sort -u
}

list=$(missing)
[ -n "$list" ] || exit 0
line=$(tr '\n' ' ' <<<"$list")
if [ $dry = 1 ]; then
	echo "missing: $line"
	exit 1
fi
command -v apt-get >/dev/null ||
	die "this needs what Debian calls ${line% }, and there is no apt-get here to install it with"
if [ "$(id -u)" != 0 ]; then
	die "missing: ${line% }
  install it as root:  apt-get install --no-install-recommends ${line% }"
fi
say "installing what is missing: ${line% }"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
install() { apt-get -qq -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $line >"$log" 2>&1 </dev/null; }
# The package lists may be old, or not be there at all.
install || { apt-get -qq update >>"$log" 2>&1 && install; } || { cat "$log" >&2; die "cannot install $line"; }
left=$(missing)
[ -z "$left" ] || die "installed, and yet not found: $(tr '\n' ' ' <<<"$left")"
