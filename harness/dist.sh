#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the tarball of a release, of what belongs to this tree.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"

usage()
{
	cat <<EOF
usage: harness/dist.sh [-v VERSION] [-o FOLDER] [-u URL]

Makes jumpfunc-$(tree_version).tar.xz, with its sum, and a PKGBUILD that has this sum. debian/ and
packaging/jumpfunc.spec in it can be built as they are.

  -v VERSION  another version than $(tree_version)

  -o FOLDER   where they go (default build/dist)
  -u URL      where the project is at home; see harness/fill.sh
EOF
}

version='' out=$JF_BUILD/dist url=()
while getopts v:o:u:h opt; do
	case $opt in
	v) version=$OPTARG ;;
	o) out=$OPTARG ;;
	u) url=(-u "$OPTARG") ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# = 0 ] || { usage >&2; exit 2; }
version=${version:-$(tree_version)}
number=${version%%[~+]*}
grep -qE "^## \\[${number//./\\.}\\]( - [0-9]{4}-[0-9]{2}-[0-9]{2})?$" "$JF_TREE/CHANGELOG.md" || die "CHANGELOG.md has no section [$number]"
! grep -q '^## \[Unreleased\]' "$JF_TREE/CHANGELOG.md" || die "CHANGELOG.md has changes that belong to no version"
packaged=$(sed -n '1s/^jumpfunc (\(.*\)) .*/\1/p' "$JF_TREE/debian/changelog")
[ "$packaged" = "$number" ] || [ "$packaged" = "$version" ] || die "debian/changelog is not of version $number"

make_folder "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=jumpfunc-$version
mkdir "$work/$name"
"$JF_TREE/harness/deb.sh" -l | LC_ALL=C sort | tr '\n' '\0' | tar -c -C "$JF_TREE" --null -T - -f - | tar -x -C "$work/$name" -f -
"$JF_TREE/harness/fill.sh" -v "$version" "${url[@]}" "$work/$name"
# The same tree gives the same tarball.
epoch=$(date -d "$(sed -n 's/^ -- .*>  //p' "$work/$name/debian/changelog" | head -n 1)" +%s)
LC_ALL=C tar -c -C "$work" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u+w,go=rX,a-s -f - "$name" |
	xz -T1 >"$out/$name.tar.xz"
(cd "$out" && sha256sum "$name.tar.xz" >"$name.tar.xz.sha256")
sed "s/^sha256sums=.*/sha256sums=('$(cut -d ' ' -f 1 "$out/$name.tar.xz.sha256")')/" "$work/$name/packaging/PKGBUILD" >"$out/PKGBUILD"
[ -z "$(git -c safe.directory='*' -C "$JF_TREE" status --porcelain 2>/dev/null)" ] || say "note: not all of this is committed"
say "$name.tar.xz, in ${out#"$PWD"/}"
