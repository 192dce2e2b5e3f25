#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the modules of this tree for a kernel of harness/kernels.tab, in a copy of the tree under
# build/KERNEL, so that the tree stays clean and several kernels can be built side by side.
# Any warning of compiler, assembler, modpost or objtool is an error.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"
as_session "$@"

usage()
{
	cat <<EOF
usage: harness/build.sh [-k KDIR] [-cfuv] [-d FOLDER] [-j N] KERNEL

Builds jumpfunc.ko, the samples and the test modules into build/KERNEL/modules.
KERNEL is a name of harness/kernels.tab; with -k it is the name of the folder under build/,
and the modules are built against the kernel build tree KDIR.

  -k KDIR   build against this build tree, with the host's compiler
  -c        build jumpfunc.ko alone, into build/KERNEL/core
  -d FOLDER with -c: build the modules of that folder, too, which uses jumpfunc, into build/KERNEL/outside
  -f        fetch nothing: use the kernel in the cache
  -u        build the KUnit suites too; a kernel without KUnit takes its linux-source package for
            that (100 to 150 MiB, fetched once)
  -v        show the compiler's command lines
  -j N      run N jobs (default: all CPUs)
EOF
}

kdir='' verbose=0 jobs=$(nproc) cached=0 kunit=0 core=0 outside=''
while getopts k:cd:fuvj:h opt; do
	case $opt in
	k) kdir=$(readlink -f "$OPTARG") || die "no build tree $OPTARG" ;;
	c) core=1 ;;
	d) outside=$(readlink -e "$OPTARG") || die "no folder $OPTARG" ;;
	f) cached=1 ;;
	u) kunit=1 ;;
	v) verbose=1 ;;
	j) jobs=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# = 1 ] || { usage >&2; exit 2; }
name=$1
[ -z "$outside" ] || [ $core = 1 ] || die "-d goes with -c"
case $name in */*|.*) die "$name cannot be a folder's name" ;; esac
out=$JF_BUILD/$name
[[ $out != *[[:space:]]* ]] || die "kbuild builds nothing where a folder has a blank in its name: $out"

make_folder "$out"
exec 8>"$out/lock"
flock -n 8 || { say "waiting for another build of $name"; flock 8; }

# ---- which kernel ----

if [ -n "$kdir" ]; then
	[ -e "$kdir/Makefile" ] || die "$kdir is no kernel build tree"
	toolchain=host root='' arch='' llvm='' cross='' release=$(make -s -C "$kdir" kernelrelease 2>/dev/null) || release=unknown
	printf 'name=%s\nrelease=%s\ntoolchain=host\nkdir=%s\n' "$name" "$release" "$kdir" >"$out/info.new"
else
	if [ $cached = 1 ] && [ -e "$JF_CACHE/kernels/$name/current/info" ]; then
		dir=$(readlink -f "$JF_CACHE/kernels/$name/current")
	else
		dir=$("$JF_TREE/harness/kernel.sh" fetch "$name")
	fi
	cp "$dir/info" "$out/info.new"
	arch='' llvm='' cross=''
	# shellcheck disable=SC1091
	. "$out/info.new"
fi
# Objects of another kernel must not be taken for this one's.
if ! cmp -s "$out/info.new" "$out/info"; then
	rm -rf "$out/src" "$out/modules" "$out/core" "$out/outside" "$out/kunit"
	fresh=1
else
	fresh=0
fi
mv "$out/info.new" "$out/info"

# ---- the copy of the tree ----

if [ $toolchain = host ]; then
	src=$out/src insrc=$src
else
	# Inside the unpacked suite, under a name of this tree's own: clones share the cache.
	id=$(printf %s "$JF_TREE" | sha1sum | cut -c 1-12)
	src=$root/b/$id insrc=/b/$id
	[ $fresh = 0 ] || rm -rf "$src"
fi
mkdir -p "$src"

files()
{
	if [ "$(git -C "$JF_TREE" rev-parse --show-toplevel 2>/dev/null)" = "$JF_TREE" ]; then
		git -C "$JF_TREE" ls-files -co --exclude-standard
	else
		(cd "$JF_TREE" && find . \( -path ./build -o -path ./results -o -path ./.git \) -prune -o -type f -print |
			sed 's,^\./,,')
	fi | grep -E '(^|/)(Kbuild|Makefile)$|^(jumpfunc|kernel/compat)\.mk$|\.[chS]$|\.lds$' | LC_ALL=C sort
}

files >"$out/files.new"
# Objects of a file that has gone would stay and be taken for modules.
if [ -e "$out/files" ] && [ -n "$(LC_ALL=C comm -13 "$out/files.new" "$out/files")" ]; then
	rm -rf "$src"
fi
mv "$out/files.new" "$out/files"
while IFS= read -r f; do
	[ -e "$JF_TREE/$f" ] || continue
	# An unchanged file keeps its time stamp, so that make leaves its object alone.
	cmp -s "$JF_TREE/$f" "$src/$f" || install -D -m 0644 "$JF_TREE/$f" "$src/$f"
done <"$out/files"
tree_version >"$out/version"
cmp -s "$out/version" "$src/VERSION" || install -m 0644 "$out/version" "$src/VERSION"

# ---- KUnit ----

# kunit_sources: what the suites need beside the tree.  Says in $out/kunit whose KUnit it is, or
# "none" and why; then the suites are left out, and the rest is built.
kunit_sources()
{
	local lib=$src/selftests/kunit/lib from f config
	if [ $toolchain = host ]; then config=$kdir/.config; else config=$root$kdir/.config; fi
	if grep -qE "^CONFIG_KUNIT=[ym]" "$config"; then
		echo "kernel" >"$out/kunit"
		return
	fi
	if [ -z "${vmlinuz:-}" ]; then
		echo "none: this kernel is built without KUnit, and of which source package is not known" >"$out/kunit"
		return
	fi
	# Their tables of parameters need 5.11.
	if [ "$(printf '%s\n' 5.11 "${release%%-*}" | sort -V | head -n 1)" != 5.11 ]; then
		echo "none: KUnit of ${release%%-*} has no cases with parameters" >"$out/kunit"
		return
	fi
	from=$("$JF_TREE/harness/kernel.sh" source "$name")
	while IFS= read -r f; do
		# Kbuild, which stands there already, decides what is built of it.
		cmp -s "$from/$f" "$lib/${f#lib/kunit/}" 2>/dev/null || install -D -m 0644 "$from/$f" "$lib/${f#lib/kunit/}"
	done < <(cd "$from" && find lib/kunit include/kunit -type f \( -name '*.[ch]' -o -name Makefile \))
	echo "linux-source" >"$out/kunit"
}
skip=$src/selftests/kunit
# Once asked for they stay: a build without them must not take them from a test under way.
if [ $core = 0 ] && { [ $kunit = 1 ] || [ -e "$out/kunit" ]; }; then
	kunit_sources
	grep -q '^none' "$out/kunit" || skip=
fi

# ---- build ----

# kmake ARGS...: make in the kernel's build tree, with nothing inherited from an outer make
kmake()
{
	local args=(${arch:+"ARCH=$arch"} ${llvm:+"LLVM=$llvm"})
	# Debian's headers ask dpkg for the machine, which tells this one's.
	[ -z "$cross" ] || args+=("CROSS_COMPILE=$cross" "CC=$cross$compiler" "DEB_HOST_ARCH=$arch" "DEB_HOST_GNU_TYPE=${cross%-}")
	if [ $toolchain = host ]; then
		env -i PATH="$PATH" HOME="${HOME:-/}" LC_ALL=C make -C "$kdir" "${args[@]}" "$@"
	else
		inside make -C "$kdir" "${args[@]}" "$@"
	fi
}

# inside CMD...: runs it with the unpacked suite as /
inside()
{
	local enter='' prep
	if unshare -m true 2>/dev/null; then
		enter='unshare -m'
	elif [ "$(id -u)" != 0 ]; then
		unshare -rm true 2>/dev/null ||
			die "the compiler of kernel $name runs in a chroot: that takes root, or user namespaces (sysctl kernel.unprivileged_userns_clone=1)"
		enter='unshare -rm'
	fi
	# objtool reads /proc/self/maps.  Mounts end with the name space; a container that forbids
	# them gets by with a device node and a copy.
	# shellcheck disable=SC2016
	prep='R=$1; shift
	[ -e "$R/dev/null" ] || : >"$R/dev/null"
	mount --bind /dev/null "$R/dev/null" 2>/dev/null || [ -c "$R/dev/null" ] ||
		{ rm -f "$R/dev/null"; mknod -m 666 "$R/dev/null" c 1 3; } || exit 1
	mount --rbind /proc "$R/proc" 2>/dev/null ||
		{ mkdir -p "$R/proc/self"; cat /proc/self/maps >"$R/proc/self/maps"; } || exit 1
	exec chroot "$R" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp LC_ALL=C "$@"'
	$enter sh -c "$prep" sh "$root" "$@"
}

log=$out/build.log
: >"$log"
# About the host and about debug information, not about the code.
harmless='the compiler differs from the one used to build|Skipping BTF generation'
# What is broken on purpose may leave code that nothing leads to (harness/mutants.sh).
[ -z "${JF_BROKEN:-}" ] || harmless="$harmless|objtool: .*: unreachable instruction"
warned() { grep -E -i 'warning|objtool:' "$log" | grep -vE "$harmless"; }

build()	# SUBDIR [TARGET]: one directory with a Kbuild
{
	local args=("M=$insrc${1:+/$1}" "${2:-modules}" "-j$jobs")
	[ $verbose = 0 ] || args+=(V=1)
	# BTF of the module needs pahole and is of no use here.
	[ $toolchain = suite ] || command -v pahole >/dev/null || args+=(CONFIG_DEBUG_INFO_BTF_MODULES=)
	[ -z "${JF_GCOV:-}" ] || args+=(JF_GCOV=1)
	[ -z "$1" ] || args+=("KBUILD_EXTRA_SYMBOLS=$insrc/Module.symvers")
	if [ $verbose = 1 ]; then
		kmake "${args[@]}" 2>&1 | tee -a "$log"
	else
		kmake "${args[@]}" >>"$log" 2>&1
	fi
}

fail()
{
	# A failed or noisy build leaves no module that a test could pick up by mistake.
	rm -rf "$out/modules" "$out/core" "$src"
	grep -E -i -m 40 'error|warning|objtool:' "$log" >&2 || tail -n 20 "$log" >&2
	die "$1 for kernel $name ($release); the whole output is in ${log#"$PWD"/}"
}

if [ $core = 1 ]; then
	build '' jumpfunc.ko || fail "the build failed"
	! warned >/dev/null || fail "the build gave warnings"
	mkdir -p "$out/core"
	cmp -s "$src/jumpfunc.ko" "$out/core/jumpfunc.ko" || install -m 0644 "$src/jumpfunc.ko" "$out/core/jumpfunc.ko"
	say "built for $name ($release): jumpfunc.ko, in ${out#"$PWD"/}/core"
	[ -n "$outside" ] || exit 0
	# It is no part of the tree, and no other build is to find modules there.
	mkdir "$src/outside"
	trap 'rm -rf "$src/outside"' EXIT
	cp -R "$outside/." "$src/outside"
	# What README's Kbuild includes of an installed jumpfunc is that of this build.
	find "$src/outside" \( -name Kbuild -o -name Makefile \) -exec \
		sed -Ei "s,^(-?include )/usr/(local/)?share/jumpfunc/jumpfunc\.mk,\1$insrc/jumpfunc.mk," {} +
	build outside || fail "the build of $outside failed"
	! warned >/dev/null || fail "the build of $outside gave warnings"
	rm -rf "$out/outside"
	mkdir "$out/outside"
	find "$src/outside" -name '*.ko' -exec cp -t "$out/outside" {} +
	say "... and $(find "$out/outside" -name '*.ko' | wc -l) modules, in ${out#"$PWD"/}/outside"
	exit 0
fi
build '' || fail "the build failed"
# What the top Kbuild does not descend into is built as a user's module would be: on its own,
# with the exported symbols of the core.
while IFS= read -r d; do
	grep -qE "(^|[[:space:]])$d/([[:space:]]|\$)" "$src/Kbuild" && continue
	case $d in
	selftests/kunit) [ -z "$skip" ] || continue ;;
	selftests/kunit/*) continue ;;
	bench/forms) [ -n "${JF_FORMS:-}" ] || continue ;;
	esac
	build "$d" || fail "the build of $d failed"
done < <(cd "$src" && find . -mindepth 2 -name Kbuild -printf '%h\n' | sed 's,^\./,,' | sort)
! warned >/dev/null || fail "the build gave warnings"

rm -rf "$out/modules.new"
mkdir -p "$out/modules.new"
while IFS= read -r ko; do
	[ ! -e "$out/modules.new/${ko##*/}" ] || die "two modules are called ${ko##*/}"
	cp "$ko" "$out/modules.new/"
done < <(find "$src" -path "$skip" -prune -o -name '*.ko' -print | sort)
# The same again is left alone: a VM may be reading it.
if diff -rq "$out/modules.new" "$out/modules" >/dev/null 2>&1; then
	rm -rf "$out/modules.new"
else
	rm -rf "$out/modules"
	mv "$out/modules.new" "$out/modules"
fi
say "built for $name ($release): jumpfunc.ko and $(($(find "$out/modules" -name '*.ko' | wc -l) - 1)) modules that use it, in ${out#"$PWD"/}/modules"
