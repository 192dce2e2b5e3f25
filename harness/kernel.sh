#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Fetches stock Debian kernels and what is needed to build modules for them into a cache folder, and
# builds test kernels from Debian's sources there.
# Nothing is installed: packages are verified by apt against the signed index and unpacked.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"
. "$JF_TREE/harness/kernel-built.sh"

usage()
{
	cat <<EOF
usage: harness/kernel.sh COMMAND [KERNEL]

  list            the kernels of harness/kernels.tab and what the cache holds of them
  resolve KERNEL  the newest package of that kernel, or the sources that it is built from
  fetch KERNEL    download and unpack image, headers, kbuild tools (and a compiler where
                  the host's does not fit); prints the folder that holds them.  A kernel
                  of flavour source:... is built instead: 5 to 10 minutes of CPU time
  info KERNEL     the same, but prints what was fetched as name=value lines
  source KERNEL   download and unpack the linux-source package of that kernel's version, once for
                  all kernels of that version; prints the folder.  Documentation, device trees and
                  one driver's register lists are left out of it
  table           the kernels' names, one per line
  programs SUITE MACHINE PACKAGE...
                  download and unpack packages of another machine (arm64), with what they need;
                  prints the folder
  package SUITE PACKAGE
                  download and unpack one package alone, of main or contrib; prints the folder
  mirror SUITE    where packages of that suite come from
  clean           empty the whole cache folder

Environment:
  JF_CACHE        cache folder, now $JF_CACHE
  JF_MIRROR       Debian mirror (default: the one in the machine's apt configuration)
  JF_MIRROR_SECURITY  the same for the security suites
  JF_MIRROR_UBUNTU    the same for Ubuntu's
  JF_REFRESH=1    read the package indexes again, even if younger than JF_INDEX_HOURS (24)
  JF_TOOLCHAIN    auto (default), host or suite: whose compiler builds the modules
EOF
}

# ---- the table ----

table() { sed -e 's/#.*//' "$JF_TREE/harness/kernels.tab" | awk 'NF == 4'; }

# lookup NAME: sets version, flavour, suites.  newest-SUITE needs no line in the table: it is whatever is
# newest there.
lookup()
{
	local line
	case $1 in
	newest-*)
		version=any flavour=amd64 suites=${1#newest-}
		set_machine
		case $suites in
		''|*[!a-z0-9-]*) die "newest-SUITE, as in newest-sid, not '$1'" ;;
		sid|experimental|*-*) ;;
		*) suites=$suites-security,$suites ;;
		esac
		return ;;
	esac
	line=$(table | awk -v n="$1" '$1 == n')
	[ -n "$line" ] ||
		die "no kernel '$1' in harness/kernels.tab; there are: $(table | awk '{printf "%s ", $1}')"
	read -r _ version flavour suites <<<"$line"
	set_machine
}

# set_machine: debarch, what Debian calls the machine of a flavour, and cross, how its compilers' names begin
set_machine()
{
	case $flavour in
	arm64|*-arm64) debarch=arm64 cross=aarch64-linux-gnu- ;;
	*) debarch=amd64 cross= ;;
	esac
}

# ---- package indexes, read by apt with a configuration of our own ----

# mirror SUITE: where the machine's own apt sources would find that suite
mirror()
{
	local all uri
	all=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
		"Created-By: Packages" 2>/dev/null | awk '$2 == "main"') || true
	case $1 in
	*-security)
		if [ -n "${JF_MIRROR_SECURITY:-}" ]; then
			uri=$JF_MIRROR_SECURITY
		else
			uri=$(awk '$1 ~ /-security$/ {print $3; exit}' <<<"$all")
			# Mirrors carry the security archive beside the main one.
			[ -n "$uri" ] || uri=$(mirror main | sed 's,/*$,-security,')
		fi ;;
	ubuntu:*)
		# Mirrors carry the two beside each other, too.
		uri=${JF_MIRROR_UBUNTU:-$(mirror main | sed 's,/debian/*$,/ubuntu/,')} ;;
	*)
		uri=${JF_MIRROR:-$(awk '$1 !~ /[-\/]/ {print $3; exit}' <<<"$all")} ;;
	esac
	[ -n "$uri" ] || die "no Debian mirror in this machine's apt configuration; name one with JF_MIRROR="
	printf '%s\n' "$uri"
}

# ubuntu_key: the file with Ubuntu's keys, which Debian vouches for
ubuntu_key()
{
	local key=/usr/share/keyrings/ubuntu-archive-keyring.gpg dir
	dir=$(cache_dir apt/ubuntu-key)
	if [ -r $key ]; then
		echo $key
		return
	fi
	if [ ! -r "$dir/$key" ]; then
		use_suite trixie
		download "$dir" ubuntu-keyring || die "cannot fetch Ubuntu's keys, so its packages cannot be verified"
		dpkg-deb -x "$dir"/*.deb "$dir"
	fi
	echo "$dir$key"
}

apt_conf=
# use_suite SUITE [ARCHITECTURE [COMPONENT]]: prepares a private apt that sees that suite, with its base, and
# nothing else; main, or another component with it
use_suite()
{
	local suite=$1 debarch=${2:-amd64} part=${3:-} dir uri key=/usr/share/keyrings/debian-archive-keyring.gpg
	dir=$(cache_dir "apt/$suite$([ "$debarch" = amd64 ] || echo "-$debarch")${part:+-$part}")
	case $suite in
	ubuntu:*) key=$(ubuntu_key) || exit ;;
	esac
	[ -r "$key" ] || die "no $key, so packages cannot be verified: apt-get install debian-archive-keyring"
	uri=$(mirror "$suite")
	mkdir -p "$dir/lists/partial" "$dir/archives/partial" "$dir/empty"
	: >"$dir/status"
	echo "deb [signed-by=$key] $uri ${suite#*:} main${part:+ $part}" >"$dir/sources.list"
	case $suite in
	ubuntu:*-updates)
		echo "deb [signed-by=$key] $uri $(cut -d: -f2 <<<"${suite%-updates}") main" >>"$dir/sources.list" ;;
	*-security|*-backports)
		# These are laid over a suite that has the rest of what a package depends on.
		echo "deb [signed-by=$key] $(mirror "${suite%-*}") ${suite%-*} main" >>"$dir/sources.list" ;;
	esac
	cat >"$dir/apt.conf" <<-EOF
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "$dir/empty";
		Dir::Etc::preferences "$dir/empty/none";
		Dir::Etc::preferencesparts "$dir/empty";
		Dir::State "$dir";
		Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir";
		#clear APT::Architectures;
		APT::Architecture "$debarch";
		APT::Architectures { "$debarch"; };
		APT::Default-Release "";
		APT::Sandbox::User "$(id -un)";
		APT::Update::Post-Invoke-Success { };
		#clear APT::Update::Post-Invoke-Success;
		#clear APT::Update::Post-Invoke;
		#clear DPkg::Post-Invoke;
		#clear DPkg::Pre-Install-Pkgs;
		Acquire::Languages "none";
		Acquire::Check-Valid-Until "false";
		Acquire::Retries "3";
		Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
	EOF
	apt_conf=$dir/apt.conf
	update_index "$suite" "$dir" "${JF_REFRESH:-0}"
}

# update_index SUITE DIR FORCE
update_index()
{
	local suite=$1 dir=$2 force=$3 stamp=$2/stamp
	if [ "$force" = 0 ] && [ -e "$stamp" ] && cmp -s "$dir/sources.list" "$dir/sources.used" &&
	   [ -n "$(find "$stamp" -mmin -$((${JF_INDEX_HOURS:-24} * 60)))" ]; then
		return 0
	fi
	say "reading the package index of $suite"
	if APT_CONFIG=$apt_conf apt-get -qq -o APT::Update::Error-Mode=any update >"$dir/log" 2>&1; then
		cp "$dir/sources.list" "$dir/sources.used"
		touch "$stamp"
	elif [ -e "$stamp" ]; then
		say "cannot reach the mirror, using the index of $(date -r "$stamp" +%F): $(tail -n 1 "$dir/log")"
	else
		cat "$dir/log" >&2
		die "cannot read the package index of $suite"
	fi
}

apt_cache() { APT_CONFIG=$apt_conf apt-cache "$@"; }

# newest NAME: sets suite, release, pkgversion
newest()
{
	local pat pkg number
	lookup "$1"
	# 6.1 must not match 6.12, and amd64 must not match rt-amd64.
	number=${version//./\\.}
	[ "$version" != any ] || number='[0-9]+\.[0-9]+'
	pat="^linux-image-$number(\\.[0-9.]+)?([-+~][0-9a-z.]+)*-$flavour\$"
	for suite in ${suites//,/ }; do
		use_suite "$suite" "$debarch"
		pkg=$(apt_cache pkgnames linux-image- | grep -E "$pat" |
			{ [ "$flavour" = "$debarch" ] && grep -vE -- "-(rt|cloud)-$debarch\$" || cat; } |
			sort -V | tail -n 1) || true
		if [ -n "$pkg" ]; then
			release=${pkg#linux-image-}
			pkgversion=$(apt_cache show --no-all-versions "$pkg" | sed -n 's/^Version: //p' | head -n 1)
			return 0
		fi
	done
	return 1
}

# ---- download and unpack ----

# download DIR PACKAGE...
download()
{
	local dir=$1 size; shift
	size=$(APT_CONFIG=$apt_conf apt-cache show --no-all-versions "$@" | awk '/^Size:/ {s += $2} END {printf "%d", s}')
	say "downloading $# package$([ $# = 1 ] || echo s), $(mib "$size"): $1$([ $# = 1 ] || echo " ...")"
	(cd "$dir" && APT_CONFIG=$apt_conf apt-get -qq download "$@" >log 2>&1) || {
		cat "$dir/log" >&2
		return 1
	}
}

# record DEB...: one line per package for the info file's appendix
record() { (cd "$1" && sha256sum -- *.deb | sed 's/^/# /'); }

fetch_image()	# OUT
{
	local out=$1 tmp=$1/.image pkgs
	pkgs="linux-image-$release"
	# In newer packages the image is an empty shell around the first two; Ubuntu has the configuration in
	# the third.
	pkgs+=" $(apt_cache show --no-all-versions "linux-image-$release" | sed -n 's/^Depends: //p' |
		tr ',|' '\n\n' | awk '$1 ~ /^linux-(binary|base-[0-9]|modules-[0-9])/ {print $1}' | tr '\n' ' ')"
	rm -rf "$tmp"; mkdir -p "$tmp/x"
	# shellcheck disable=SC2086
	download "$tmp" $pkgs || return 1
	for deb in "$tmp"/*.deb; do
		# The modules are not wanted: they are nine tenths of the package.
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$tmp/x" --wildcards \
			--exclude='*/kernel/*' --exclude='*.ko*' --exclude='*/share/*' -f - || return 1
	done
	local f
	for f in vmlinuz config System.map; do
		local found
		found=$(find "$tmp/x" -type f \( -name "$f" -o -name "$f-$release" \) | head -n 1)
		[ -n "$found" ] || { [ $f = System.map ] && continue; die "no $f in the packages of $release"; }
		mv "$found" "$out/$f"
	done
	record "$tmp" >"$out/image.debs"
	rm -rf "$tmp"
}

# closure PACKAGE...: the package with everything it needs, as apt would install it
closure()
{
	APT_CONFIG=$apt_conf apt-get install -qq -y --no-install-recommends --print-uris "$@" |
		awk '/^\047/ {split($2, a, "_"); print a[1]}'
}

host_fits()	# ROOT COMPILER: can the host build with these headers?
{
	local tool
	command -v "$cross$2" >/dev/null || { why="the host has no $cross$2"; return 1; }
	for tool in "$1"/usr/lib/linux-kbuild-*/tools/objtool/objtool.real-x86 \
		    "$1"/usr/lib/linux-kbuild-*/tools/objtool/objtool \
		    "$1"/usr/lib/linux-kbuild-*/scripts/mod/modpost* "$1"/usr/src/linux-headers-*/scripts/mod/modpost; do
		[ -x "$tool" ] || continue
		case $(ldd "$tool" 2>&1) in
		*"not found"*) why="the host's libraries do not fit ${tool##*/}"; return 1 ;;
		esac
	done
}

fetch_toolchain()	# OUT COMPILER: all that a kernel build calls, to run with OUT/root as its root
{
	local out=$1 compiler=$2 root=$1/root rest=$1/.headers/rest closure=$1/.headers/closure pkgs deb
	pkgs="linux-headers-$release $compiler binutils"
	[ "$debarch" = amd64 ] || pkgs="$(grep '^linux-kbuild-' "$closure") $compiler-aarch64-linux-gnu binutils-aarch64-linux-gnu"
	# shellcheck disable=SC2086
	closure $pkgs make base-files bash coreutils \
		dash diffutils findutils gawk grep sed libc6 perl-base >"$closure" || return 1
	pkgs=$(grep -vE '^linux-(headers|kbuild|compiler|image|modules|binary)-|^initramfs|^kmod$|^udev$' "$closure")
	# shellcheck disable=SC2086
	download "$rest" $pkgs || return 1
	# Ubuntu's headers have files in /lib, which is a link to be.
	if [ -d "$root/lib" ] && [ ! -L "$root/lib" ]; then
		mkdir -p "$root/usr/lib"
		cp -a "$root/lib/." "$root/usr/lib/"
		rm -rf "${root:?}/lib"
	fi
	# First the package that lays out / for all the others.
	for deb in "$rest"/base-files_*.deb "$rest"/*.deb; do
		dpkg-deb -x "$deb" "$root" || return 1
	done
	mkdir -p "$root"/{proc,dev,tmp,b}
	[ -e "$root/usr/bin/awk" ] || ln -s gawk "$root/usr/bin/awk"
	rm -rf "$root"/usr/share/{doc,man,locale,info} "$root"/usr/lib/gcc*/*/*/{lto1,cc1plus}
	record "$rest" >"$out/toolchain.debs"
}

fetch_headers()	# OUT
{
	local out=$1 tmp=$1/.headers root=$1/root pkgs kvars compiler why toolchain
	rm -rf "$tmp" "$root"; mkdir -p "$tmp/rest" "$root"
	closure "linux-headers-$release" >"$tmp/closure" || return 1
	# linux-headers of the backports ask for the image: that one is here already.
	pkgs=$(grep -E '^linux-(headers|kbuild|compiler)-' "$tmp/closure")
	# shellcheck disable=SC2086
	download "$tmp" $pkgs || return 1
	if [ "$debarch" != amd64 ]; then
		# The programs of a build are to run here, whatever machine they build for.
		rm -f "$tmp"/linux-kbuild-*.deb
		use_suite "$suite"
		# shellcheck disable=SC2046
		download "$tmp" $(grep '^linux-kbuild-' "$tmp/closure") || return 1
	fi
	for deb in "$tmp"/*.deb; do dpkg-deb -x "$deb" "$root" || return 1; done
	kvars=$root/usr/src/linux-headers-$release/.kernelvariables
	# Ubuntu's headers do not name it.
	[ -e "$kvars" ] || kvars=$out/config
	compiler=$(grep -oE 'gcc-[0-9]+' "$kvars" | head -n 1)
	[ -n "$compiler" ] || die "no compiler named in $kvars"

	case ${JF_TOOLCHAIN:-auto} in
	host)	toolchain=host; host_fits "$root" "$compiler" || die "JF_TOOLCHAIN=host, but $why" ;;
	suite)	toolchain=suite why="JF_TOOLCHAIN=suite" ;;
	auto)	if host_fits "$root" "$compiler"; then toolchain=host; else toolchain=suite; fi ;;
	*)	die "JF_TOOLCHAIN is auto, host or suite" ;;
	esac

	if [ $toolchain = host ]; then
		# The headers name each other by the absolute path that they would be installed under.
		sed -i "s,\([ =]\)/usr/src/,\1$root/usr/src/,g" "$root/usr/src/linux-headers-$release/Makefile"
	else
		say "$why: fetching $compiler of $suite to build in"
		fetch_toolchain "$out" "$compiler" || return 1
	fi
	record "$tmp" >"$out/headers.debs"
	cat >>"$out/info.new" <<-EOF
		toolchain=$toolchain
		compiler=$compiler
		root=$root
		kdir=$([ $toolchain = host ] && echo "$root")/usr/src/linux-headers-$release
	EOF
	[ "$debarch" = amd64 ] || printf 'arch=%s\ncross=%s\n' "$debarch" "$cross" >>"$out/info.new"
	rm -rf "$tmp"
}

# ---- sources ----

# newest_source NAME: sets suite, source (the package) and srcversion
newest_source()
{
	local minor
	lookup "$1"
	minor=$(cut -d. -f1,2 <<<"$version")
	source=linux-source-$minor
	for suite in ${suites//,/ }; do
		use_suite "$suite"
		srcversion=$(apt_cache show --no-all-versions "$source" 2>/dev/null |
			sed -n 's/^Version: //p' | head -n 1) || true
		[ -z "$srcversion" ] || return 0
	done
	return 1
}

# source_tree NAME: prints the folder of the unpacked sources
source_tree()
{
	local name=$1 top out tmp size
	top=$(cache_dir sources)
	if ! newest_source "$name"; then
		# The archive has moved on: any version that is here will do.
		out=$(find "$top" -mindepth 1 -maxdepth 1 -type d -name "${source}_*" | sort -V | tail -n 1)
		[ -n "$out" ] || die "no $source in ${suites//,/ or }, and none in the cache: give harness/kernels.tab the successor of $name"
		say "$source has gone from ${suites//,/ and }: using the one in the cache"
		echo "$out"; return
	fi
	out=$top/${source}_$srcversion
	# Kernels of one version share it, so the lock is the package's.
	exec 7>"$top/$source.lock"
	flock -n 7 || { say "waiting for another run that unpacks $source"; flock 7; }
	if [ ! -e "$out" ]; then
		tmp=$top/.$source
		rm -rf "$tmp"; mkdir -p "$tmp/deb" "$tmp/tree"
		trap 'rm -rf "$tmp"' EXIT
		trap 'exit 130' INT TERM HUP
		if ! download "$tmp/deb" "$source"; then
			[ "${retried:-0}" = 0 ] || die "cannot fetch $source"
			retried=1
			JF_REFRESH=1 source_tree "$name"
			return
		fi
		say "unpacking $source $srcversion (about 1 GiB, a minute)"
		# A package that holds one compressed archive.
		dpkg-deb --fsys-tarfile "$tmp"/deb/*.deb |
			tar -x --wildcards -O -f - "./usr/src/$source.tar.*" |
			xz -dc -T0 |
			tar -x -C "$tmp/tree" --strip-components=1 --wildcards \
				"${trimmed[@]}" -f - ||
			die "cannot unpack $source"
		[ -e "$tmp/tree/Makefile" ] && [ -e "$tmp/tree/lib/kunit/test.c" ] ||
			die "$source is not laid out as expected: no Makefile or no lib/kunit in it"
		(cd "$tmp/deb" && sha256sum -- *.deb) >"$tmp/tree/.jumpfunc-origin"
		mv "$tmp/tree" "$out"
		rm -rf "$tmp"
		trap - EXIT INT TERM HUP
	fi
	flock -u 7
	echo "$out"
}

# Half of the package, and no build here reads it.
trimmed=('--exclude=*/Documentation/*/*' '--exclude=*/drivers/gpu/drm/amd/include/asic_reg/*'
	 '--exclude=*/arch/*/boot/dts/*')

# settle TOP FOLDER: this is the kernel now.  Others of its name that no tree has asked for in a week go.
settle()
{
	local old
	ln -sfn "${2##*/}" "$1/current"
	touch "$2/info"
	find "$1" -mindepth 2 -maxdepth 2 -name info -mtime +6 -printf '%h\n' | while read -r old; do
		say "removing ${old##*/}, not used for a week"
		rm -rf "$old"
	done
}

# fetch NAME: prints the folder
fetch()
{
	local name=$1 top out
	top=$(cache_dir "kernels/$name")
	# Two clones, or two targets of one make, may want the same kernel.
	exec 9>"$top/lock"
	flock -n 9 || { say "waiting for another run that fetches kernel $name"; flock 9; }
	lookup "$name"
	case $flavour in
	source:*)
		fetch_built "$name" "$top"
		settle "$top" "$out"
		echo "$out"; return ;;
	esac
	if ! newest "$name"; then
		[ -e "$top/current/info" ] ||
			die "no $version $flavour kernel in ${suites//,/ or } any more: give harness/kernels.tab its successor"
		say "kernel $name has gone from ${suites//,/ and }: using the one in the cache"
		readlink -f "$top/current"; return
	fi
	out=$top/$release-$pkgversion
	if [ ! -e "$out/info" ] || { [ "${JF_TOOLCHAIN:-auto}" != auto ] &&
				   ! grep -q "^toolchain=$JF_TOOLCHAIN" "$out/info"; }; then
		rm -rf "$out"; mkdir -p "$out"
		cat >"$out/info.new" <<-EOF
			name=$name
			suite=$suite
			release=$release
			version=$pkgversion
			vmlinuz=$out/vmlinuz
			config=$out/config
		EOF
		if ! { fetch_image "$out" && fetch_headers "$out"; }; then
			rm -rf "$out"
			# The archive may have moved on since the index was read.
			[ "${retried:-0}" = 0 ] || die "cannot fetch kernel $name"
			retried=1
			JF_REFRESH=1 fetch "$name"
			return
		fi
		mv "$out/info.new" "$out/info"
		say "kernel $name is $release ($pkgversion, $suite), built with $(sed -n 's/^compiler=//p' "$out/info") of the $(sed -n 's/^toolchain=//p' "$out/info")"
	fi
	settle "$top" "$out"
	echo "$out"
}

# programs SUITE MACHINE PACKAGE...: prints the folder that holds them
programs()
{
	local suite=$1 machine=$2 top out list deb; shift 2
	top=$(cache_dir "programs/$suite-$machine")
	exec 9>"$top/lock"
	flock 9
	use_suite "$suite" "$machine"
	list=$(closure "$@")
	[ -n "$list" ] || die "$suite has not all of these for $machine: $*"
	out=$top/$(printf '%s\n' "$list" | xargs env APT_CONFIG="$apt_conf" apt-cache show --no-all-versions |
		grep -E '^(Package|Version):' | sha256sum | cut -c 1-16)
	if [ ! -e "$out/done" ]; then
		rm -rf "$top"/[0-9a-f]*
		mkdir -p "$out/debs"
		# shellcheck disable=SC2086
		download "$out/debs" $list || die "cannot fetch programs for $machine"
		for deb in "$out"/debs/*.deb; do dpkg-deb -x "$deb" "$out"; done
		rm -rf "$out/debs" "$out"/usr/share/{doc,man,locale,info}
		touch "$out/done"
	fi
	echo "$out"
}

# package SUITE PACKAGE: prints the folder that holds it
package()
{
	local top out id
	top=$(cache_dir packages)
	exec 9>"$top/lock"
	flock 9
	use_suite "$1" amd64 contrib
	id=$(apt_cache show --no-all-versions "$2" 2>/dev/null | sed -n 's/^Version: //p' | head -n 1) || true
	[ -n "$id" ] || die "$1 has no package $2"
	out=$top/${2}_$id
	if [ ! -e "$out/done" ]; then
		rm -rf "$top/$2"_*
		mkdir -p "$out/debs"
		download "$out/debs" "$2" || die "cannot fetch $2"
		dpkg-deb -x "$out"/debs/*.deb "$out"
		rm -rf "$out/debs"
		touch "$out/done"
	fi
	echo "$out"
}

case ${1:-} in
list)
	printf '%-12s %-7s %-12s %-40s %s\n' NAME VERSION FLAVOUR SUITES "IN THE CACHE"
	table | while read -r n v f s; do
		c=-
		[ ! -e "$JF_CACHE/kernels/$n/current/info" ] ||
			c=$(sed -n 's/^release=//p' "$JF_CACHE/kernels/$n/current/info")
		printf '%-12s %-7s %-12s %-40s %s\n' "$n" "$v" "${f%%:*}" "$s" "$c"
	done ;;
table)	table | awk '{print $1}' ;;
resolve)
	lookup "${2:?which kernel?}"
	case $flavour in
	source:*)
		newest_source "$2" || die "no $source in $suites"
		echo "$source $srcversion $suite"; exit ;;
	esac
	newest "$2" || die "no $version $flavour kernel in $suites"
	echo "$release $pkgversion $suite" ;;
fetch)	fetch "${2:?which kernel?}" ;;
source)	source_tree "${2:?which kernel?}" ;;
programs)
	[ $# -ge 4 ] || { usage >&2; exit 2; }
	shift; programs "$@" ;;
package)
	[ $# = 3 ] || { usage >&2; exit 2; }
	package "$2" "$3" ;;
mirror)	mirror "${2:?which suite?}" ;;
info)	cat "$(fetch "${2:?which kernel?}")/info" ;;
clean)	rm -rf "${JF_CACHE:?}"/{apt,kernels,sources,initramfs,programs,packages} ;;
-h|--help|help) usage ;;
*)	usage >&2; exit 2 ;;
esac
