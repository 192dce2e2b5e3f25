#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# harness/deps.sh believes that a package is installed if a file is there: that the file is one of that package,
# and that what debian/control has for the build of packages is in the list of `make deb`.  TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"
command -v dpkg-query >/dev/null || { echo "1..0 # SKIP needs dpkg"; exit 4; }

deps=$top/harness/deps.sh
# The list that stands in it: group, proof, package.
rows=$(sed -n '/^needs()/,/^EOF$/p' "$deps" | sed '1,/<<EOF/d;/^EOF$/d')
packages() { awk -v group="$1" '$1 == group { print $3 }' <<<"$rows" | sort -u; }

# ---- the build of packages ----

# build_depends: what dpkg-checkbuilddeps will ask dpkg for; build-essential goes without saying
build_depends()
{
	echo build-essential
	sed -n '/^Build-Depends/,/^[^ B]/{s/^Build-Depends[^:]*://p;/^ /p}' "$top/debian/control" |
		tr ',' '\n' | sed -E 's/[ \t]*(.*)/\1/;s/[: (].*//;/^$/d' | sed 's/^debhelper-compat$/debhelper/;s/^dh-sequence-\(.*\)/dh-\1/' | sort -u
}
list=$(packages package)
for package in $(build_depends); do
	grep -qx "$package" <<<"$list"; result $? "make deb installs $package" "$list"
done

# ---- what proves a package ----

# owner FILE: the packages that have it; folders of / may be links into /usr
owner() { dpkg-query -S "$1" "/usr$1" "${1#/usr}" 2>/dev/null | sed 's/: .*//;s/:[^,]*//g;s/, /\n/g'; }
# of PACKAGE FILE HOW: it is one of its files or, where the package is only a name, of what it depends on
of()
{
	local have
	have=$(owner "$2")
	grep -qx "$1" <<<"$have" && return
	[ "$3" != exact ] && [ -n "$have" ] && dpkg-query -W -f '${Depends}\n' "$1" | sed 's/[,|]/\n/g' | sed 's/ *(.*//;s/:any//;s/ //g' | grep -qxF "$have"
}

while read -r group proof package; do
	status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)
	# What dpkg-checkbuilddeps asks for is that package and no other.
	if [ "$group" = package ]; then
		[[ $proof = /* ]]; result $? "$package is proved by a file of its own, not by any $proof on PATH"
		how=exact
	else
		how=
	fi
	[ "$status" = 'install ok installed' ] || continue
	case $proof in
	/*) file=$(compgen -G "$proof" | head -n 1) ;;
	*) file=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v "$proof") ;;
	esac
	# update-ca-certificates makes it when the package is installed.
	[ "$file" != /etc/ssl/certs/ca-certificates.crt ] || continue
	# An alternative leads to the file.
	[[ $(readlink "$file") != /etc/alternatives/* ]] || file=$(readlink -f "$file")
	of "$package" "$file" "$how"; result $? "$group: $package is installed, and has $proof" "$file is of: $(owner "$file" | tr '\n' ' ')"
done <<<"$rows"

# ---- a machine that has neither ----

# A compiler and a python3 that no package installed prove nothing for packages.
mkdir "$work/bin"
for tool in dpkg-buildpackage dh dh_dkms lintian mmdebstrap python3 lowdown help2man man kmod; do
	printf '#!/bin/sh\n' >"$work/bin/$tool"; chmod +x "$work/bin/$tool"
done
there=$(awk '$1 == "package" && $2 ~ "^/" { print $2 }' <<<"$rows")
gone=$(while IFS= read -r f; do [ -e "$f" ] || echo "$f"; done <<<"$there")
out=$(PATH=$work/bin:$PATH "$deps" -n package 2>&1); rc=$?
if [ -n "$gone" ]; then
	[ $rc = 1 ] && for f in $gone; do grep -qw "$(awk -v f="$f" '$2 == f { print $3 }' <<<"$rows")" <<<"$out" || exit; done
	result $? "programs of the same names, elsewhere on PATH, are not taken for the packages" "$out"
else
	[ $rc = 0 ]; result $? "where all is installed there is nothing to install" "$out"
fi
tap_end
