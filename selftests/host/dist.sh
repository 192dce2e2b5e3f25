#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A release: one version everywhere, a tarball that is the same each time and that the tools of Debian, RPM and Arch
# build, with the project's home in it where that is known. TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"
for tool in git xz dpkg-parsechangelog lowdown help2man; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP needs $tool: harness/deps.sh package"; exit 4; }
done
tap_detail=30
export HOME=$work GIT_CONFIG_NOSYSTEM=1
unset SOURCE_DATE_EPOCH JF_URL JF_BUILD
number=$(sed "s/~.*//" "$top/VERSION")

# ---- one version ----

[ "$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version | sed "s/~.*//")" = "$number" ]; result $? "debian/changelog has the version of VERSION" "$number"
grep -qE "^## \[$number\]( - [0-9-]+)?\$" "$top/CHANGELOG.md"; result $? "CHANGELOG.md has a section of it" "$(grep '^## ' "$top/CHANGELOG.md")"
none=$(grep -i '^## .*unreleased' "$top/CHANGELOG.md")
[ -z "$none" ]; result $? "... and none of what belongs to no version" "$none"

# ---- the tarball ----

tree=$work/clone
mkdir "$tree"
(cd "$top" && "$top/harness/deb.sh" -l | tr '\n' '\0' | tar -c --null -T - -f - | tar -x -C "$tree" -f -)
(cd "$tree" && git init -q && git add -A && git -c user.name=x -c user.email=x@y commit -qm x) || { echo "Bail out! no repository"; exit 1; }
version=$("$tree/packaging/version")
name=jumpfunc-$version
dist() { out=$("$tree/harness/dist.sh" "$@" 2>&1); }
dist -o "$work/1"; result $? "make dist" "$out"
sleep 1
touch "$tree/README.md"
chmod g+w "$tree/Makefile"
dist -o "$work/2" && cmp "$work/1/$name.tar.xz" "$work/2/$name.tar.xz"; result $? "... makes the same of the same tree" "$out"
(cd "$work/1" && sha256sum -c --quiet "$name.tar.xz.sha256") && grep -q "^sha256sums=('$(cut -d ' ' -f 1 "$work/1/$name.tar.xz.sha256")')" "$work/1/PKGBUILD"
result $? "... with its sum, which the PKGBUILD has" "$(cat "$work/1/PKGBUILD")"
mkdir "$work/u"
tar -x -C "$work/u" -f "$work/1/$name.tar.xz"
new=$work/u/$name
missing=$(cd "$tree" && git ls-files | while IFS= read -r f; do [ -e "$new/$f" ] || echo "$f"; done)
[ -z "$missing" ]; result $? "all that git knows is in it" "$missing"
extra=$(cd "$new" && find . -type f -printf '%P\n' | sort | comm -23 - <(cd "$tree" && git ls-files | sort))
[ "$extra" = "packaging/PKGBUILD
packaging/jumpfunc.spec" ]; result $? "... and what is made for it" "$extra"
echo '## [Unreleased]' >>"$tree/CHANGELOG.md"
! dist -o "$work/3" && grep -q 'belong to no version' <<<"$out"; result $? "not with changes that belong to no version" "$out"
(cd "$tree" && git checkout -q CHANGELOG.md && echo 99.0 >VERSION)
! dist -o "$work/3" && grep -q 'no section \[99.0\]' <<<"$out"; result $? "... and not without notes" "$out"
(cd "$tree" && git checkout -q VERSION)

# ---- its home ----

no_home() { ! grep -qE '^(Homepage|Vcs-)' "$1/debian/control" && [ ! -e "$1/debian/watch" ] && ! grep -q '^URL:' "$1/packaging/jumpfunc.spec"; }
no_home "$new"; result $? "no home is named where none is known" "$(cat "$new/debian/control")"
# home REMOTE WANTED: what the tarball of a clone of that says
home()
{
	(cd "$tree" && git remote remove origin 2>/dev/null; git remote add origin "$1") && dist -o "$work/4" && rm -rf "$work/h" && mkdir "$work/h" && tar -x -C "$work/h" -f "$work/4/$name.tar.xz" || return
	if [ -z "$2" ]; then no_home "$work/h/$name"; return; fi
	out=$(cat "$work/h/$name/debian/control" "$work/h/$name/debian/watch")
	grep -qx "Homepage: $2" <<<"$out" && grep -qx "Vcs-Git: $2.git" <<<"$out" && grep -qx "Vcs-Browser: $2" <<<"$out" && grep -q "$2.git refs/tags" <<<"$out" &&
		grep -qx "URL: *$2" "$work/h/$name/packaging/jumpfunc.spec" && grep -qx "url='$2'" "$work/4/PKGBUILD"
}
home https://forge.example/some/jumpfunc.git https://forge.example/some/jumpfunc; result $? "the clone's origin is the home" "$out"
home https://me:secret@forge.example/jumpfunc ''; result $? "... but not with a password" "$out"
home git@forge.example:some/jumpfunc ''; result $? "... nor by ssh" "$out"
home "$work" ''; result $? "... nor a folder" "$out"
! dist -o "$work/4" -u 'https://x/";touch' && grep -q 'no https:// address' <<<"$out"; result $? "what is no address is refused" "$out"
(cd "$tree" && git remote remove origin)

# ---- packages ----

out=$(cd "$work/u" && dpkg-source -b "$name" 2>&1) && [ -e "$work/u/jumpfunc_$version.dsc" ]; result $? "debian/ in the tarball makes a source package" "$out"
out=$(cd "$tree" && dpkg-source -b . 2>&1) && [ -e "$work/jumpfunc_$number.dsc" ]; result $? "... and so does a clone" "$out"
if command -v rpmbuild >/dev/null; then
	names=$(rpmspec -q --qf '%{name} %{version}\n' "$new/packaging/jumpfunc.spec" 2>&1 | sort -u)
	[ "$(grep -vc debug <<<"$names")" -ge 5 ] && ! grep -v " $version\$" <<<"$names"; result $? "the spec has packages, of this version" "$names"
	out=$(rpmbuild -tb --nodeps --define "_topdir $work/rpm" --define 'debug_package %{nil}' "$work/1/$name.tar.xz" 2>&1); result $? "rpmbuild builds them, and nothing is left over" "$out"
	for want in libjumpfunc:libjumpfunc.so.1 libjumpfunc-devel:jumpfunc/branch.h libjumpfunc-devel:jumpfunc.pc jumpfunc-dkms:dkms.conf jumpfunc-devel:jumpfunc.mk jumpfunc-tools:jumpfunc-doctor; do
		rpm=$(find "$work/rpm/RPMS" -name "${want%%:*}-$version-*.rpm")
		rpm -qlp "$rpm" 2>/dev/null | grep -q "/${want#*:}\$"; result $? "... ${want%%:*} has ${want#*:}" "$(rpm -qlp "$rpm" 2>&1)"
	done
else
	skip "rpmbuild" "harness/deps.sh package"
fi
# makepkg does no more than this: each function in the folder of the sources, with pkgdir set.
pkg()
(
	set -eu
	# shellcheck disable=SC1091
	. "$work/1/PKGBUILD"
	srcdir=$work/a
	for f in build check; do (cd "$srcdir" && "$f"); done
	# shellcheck disable=SC2154 # of the PKGBUILD
	for p in "${pkgname[@]}"; do
		export pkgdir=$work/arch/$p
		mkdir -p "$pkgdir"
		(cd "$srcdir" && "package_$p")
	done
)
bash -n "$work/1/PKGBUILD"; result $? "the PKGBUILD is a script" "$out"
mkdir "$work/a"
tar -x -C "$work/a" -f "$work/1/$name.tar.xz"
out=$(pkg 2>&1); result $? "... whose functions build, check and package" "$out"
all=$(cd "$work/arch" && find . ! -type d | sort)
for want in ./libjumpfunc/usr/lib/libjumpfunc.so.1 ./jumpfunc-dkms/usr/src/$name/dkms.conf ./jumpfunc-headers/usr/share/jumpfunc/jumpfunc.mk ./jumpfunc-tools/usr/bin/jumpfunc-doctor; do
	grep -qxF "$want" <<<"$all"; result $? "... with $want" "$all"
done
twice=$(cut -d / -f 3- <<<"$all" | sort | uniq -d)
[ -z "$twice" ] && ! grep -qE '/(installed|libjumpfunc\.files)' <<<"$all"; result $? "... no file twice, and none for make uninstall" "$twice"
if [ -d "$work/rpm/RPMS" ]; then
	strip() { sed -E 's,^s?bin/,bin/,; s,^lib(64)?/,lib/,; s,\.gz$,,' | grep -v '/\.build-id' | grep -E '^(include|lib|share/(man|jumpfunc)|bin|src)/' | sort -u; }
	# Folders are left out: RPM's packages name some of theirs.
	rpm_files() { find "$work/rpm/RPMS" -name '*.rpm' -exec rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' {} + 2>/dev/null | sed -n '/^d/!s,^[^ ]* /usr/,,p'; }
	out=$(diff <(cut -d / -f 4- <<<"$all" | strip) <(rpm_files | strip) | grep '^[<>]')
	[ -z "$out" ]; result $? "Arch's packages have what RPM's have" "$out"
fi

# ---- forges ----

grep -q 'make check' "$top/.ci/run"; result $? ".ci/run is make check" "$(cat "$top/.ci/run")"
for f in .github/workflows/check.yml .gitlab-ci.yml; do
	grep -qE '^ *- (run: )?\.ci/run$' "$top/$f" && ! grep -q "$(printf '\t')" "$top/$f"; result $? "$f calls it" "$(cat "$top/$f")"
	if python3 -c 'import yaml' 2>/dev/null; then
		out=$(python3 -c 'import sys, yaml; d = yaml.safe_load(open(sys.argv[1])); sys.exit(not isinstance(d, dict))' "$top/$f" 2>&1); result $? "... and is YAML" "$out"
	fi
done
[ "$(cd "$tree" && git check-attr eol -- Makefile man/make-man | cut -d ' ' -f 3 | sort -u)" = lf ]; result $? ".gitattributes keeps line ends" "$(cat "$top/.gitattributes")"
grep -q '^## Reporting' "$top/SECURITY.md"; result $? "SECURITY.md says where to report"
tap_end
