#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Fills in what a copy of the sources is to say of its version and of its home.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"

usage()
{
	cat <<EOF
usage: harness/fill.sh [-v VERSION] [-u URL] FOLDER

  -v VERSION  another version than $(tree_version)
  -u URL      where the project is at home, without .git (default: \$JF_URL, or the clone's remote "origin" if that
              is of https). Without one, Homepage, Vcs-* and debian/watch are left out.

In FOLDER, a copy of this tree, VERSION and debian/changelog say the version; the fields are added to debian/control,
and debian/watch, packaging/jumpfunc.spec and packaging/PKGBUILD are made.
EOF
}

version=$(tree_version) url=${JF_URL:-}
while getopts v:u:h opt; do
	case $opt in
	v) version=$OPTARG ;;
	u) url=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# = 1 ] || { usage >&2; exit 2; }
cd "$1"
# With sudo the clone belongs to another user.
clone() { git -c safe.directory='*' -C "$JF_TREE" "$@"; }
if [ -z "$url" ] && [ "$(clone rev-parse --show-toplevel 2>/dev/null)" = "$(readlink -f "$JF_TREE")" ]; then
	url=$(clone remote get-url origin 2>/dev/null || true)
	# Not with a user's name or password in it.
	case $url in *@*) url= ;; https://*) ;; *) url= ;; esac
fi
url=${url%/} url=${url%.git}
[[ -z $url || $url =~ ^https://[A-Za-z0-9.-]+(/[A-Za-z0-9._~/-]+)?$ ]] || die "\"$url\" is no https:// address of a project"

# The same tree gives the same packages.
if [ "$(sed -n '1s/^jumpfunc (\(.*\)) .*/\1/p' debian/changelog 2>/dev/null)" != "$version" ]; then
	epoch=${SOURCE_DATE_EPOCH:-$(clone log -1 --format=%ct 2>/dev/null || stat -c %Y "$JF_TREE/VERSION")}
	cat >debian/changelog <<EOF
jumpfunc ($version) unstable; urgency=medium

  * CHANGELOG.md says what has changed.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(LC_ALL=C date -u -R -d "@$epoch")
EOF
fi
epoch=$(date -d "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%s)
echo "$version" >VERSION

if [ -n "$url" ] && ! grep -q '^Homepage:' debian/control; then
	sed -i "/^Rules-Requires-Root:/i Homepage: $url\nVcs-Browser: $url\nVcs-Git: $url.git" debian/control
	# Releases are tags.
	printf 'version=4\nopts="mode=git,pgpmode=none" %s.git refs/tags/v([\\d.]+)\n' "$url" >debian/watch
	# It is native for those who build it from here, and has a home all the same.
	echo 'jumpfunc source: debian-watch-file-in-native-package' >debian/source/lintian-overrides
fi
for file in jumpfunc.spec PKGBUILD; do
	[ ! -e "packaging/$file.in" ] || sed -e "s,@VERSION@,$version,g" -e "s,@URL@,$url,g" -e 's,@SHA256@,SKIP,g' \
		-e "s,@RPMDATE@,$(LC_ALL=C date -u -d "@$epoch" '+%a %b %d %Y'),g" -e '/^URL: *$/d' "packaging/$file.in" >"packaging/$file"
done
