#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The version of a build says which commit it is of, and harness/release refuses each commit that is no release. It tags
# one that is, and signs it if there is a key. TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"
for tool in git xz readelf pkg-config; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP needs $tool: harness/deps.sh package"; exit 4; }
done
tap_detail=30
export HOME=$work GIT_CONFIG_NOSYSTEM=1 CFLAGS=-O0
unset SOURCE_DATE_EPOCH JF_URL JF_BUILD
tree=$work/clone
mkdir "$tree"
(cd "$top" && "$top/harness/deb.sh" -l | tr '\n' '\0' | tar -c --null -T - -f - | tar -x -C "$tree" -f -)
git config --global user.name x
git config --global user.email x@y
in_tree() { (cd "$tree" && "$@"); }
# commit: of all that has changed, at a known time
commit() { in_tree git add -A && GIT_COMMITTER_DATE='2026-03-04T23:30:00-0500' in_tree git commit -q -m x; }
# Today is the day of the release that the tests make.
mkdir "$work/clock"
cat >"$work/clock/date" <<EOF
#!/bin/sh
[ "\$*" != "-u +%F" ] || { cat "$work/today"; exit; }
exec $(command -v date) "\$@"
EOF
chmod +x "$work/clock/date"
echo 2026-03-04 >"$work/today"
PATH=$work/clock:$PATH
# The file that `make check` writes in the end.
passed() { mkdir -p "$tree/build" && printf 'commit=%s\nkernels=5.10 6.1\n' "$(in_tree git rev-parse HEAD)" >"$tree/build/green"; }

# ---- versions ----

in_tree git init -q
echo 3.4 >"$tree/VERSION"
sed -i '1s/(.*)/(3.4)/; s/^\( -- .*>  \).*/\1Wed, 04 Mar 2026 09:00:00 +0000/' "$tree/debian/changelog"
sed -i '0,/^## /s/^## .*/## [3.4] - 2026-03-04/' "$tree/CHANGELOG.md"
sed -i 's/^\(\*\*Maturity:\*\* \)[0-9.]*/\13.4/' "$tree/README.md"
sed -i 's/find_package(jumpfunc [0-9.]*)/find_package(jumpfunc 3.4)/' "$tree/user/README.md"
commit || { echo "Bail out! no repository"; exit 1; }
hash=$(in_tree git rev-parse HEAD | cut -c 1-8)
between=3.4~git20260305.$hash
# shows WHAT WANTED [TREE]
shows() { out=$("${3:-$tree}/packaging/version" 2>&1); [ "$out" = "$2" ]; result $? "$1: $2" "$out"; }
shows "a commit's version has its day and hash" "$between"
(cd "$tree/user" && [ "$(../packaging/version)" = "$between" ]); result $? "... from any folder"
echo >>"$tree/README.md"
shows "a change that is in no commit shows" "$between+dirty"
in_tree git tag v3.4
shows "... and is no release" "3.4+git20260305.$hash+dirty"
in_tree git checkout -q README.md
shows "the commit with the tag is the release" 3.4
in_tree git tag -d v3.4 >/dev/null
in_tree git tag v3.41
shows "another tag is no release" "$between"
in_tree git tag -a -m x v3.4
GIT_COMMITTER_DATE='2026-03-06T10:00:00Z' in_tree git commit -q --allow-empty -m x
after=3.4+git20260306.$(in_tree git rev-parse HEAD | cut -c 1-8)
shows "a commit after a release" "$after"
dpkg --compare-versions "$after" gt 3.4 && dpkg --compare-versions "$after" lt 3.5~git; result $? "... replaces it, and is replaced by the next one" "$after"
mkdir "$work/after"
in_tree git archive HEAD | tar -x -C "$work/after" -f -
shows "... also of what git archive makes of it" "$after" "$work/after"
in_tree harness/dist.sh -o "$work/2" >"$work/log" 2>&1 && tar -x -C "$work/after" -f "$work/2/jumpfunc-$after.tar.xz"
result $? "... and its tarball" "$(cat "$work/log")"
shows "... which knows it without git" "$after" "$work/after/jumpfunc-$after"
in_tree git reset -q --hard HEAD~
in_tree git tag -d v3.4 >/dev/null
mkdir "$work/archive" "$work/copy" "$work/bin"
in_tree git archive HEAD | tar -x -C "$work/archive" -f -
shows "what git archive makes of it knows" "$between" "$work/archive"
in_tree git tag v3.4
in_tree git archive v3.4 | tar -x -C "$work/archive" -f -
shows "... also of a release" 3.4 "$work/archive"
in_tree git tag -d v3.4 v3.41 >/dev/null
for tool in sh dirname cat date; do ln -s "$(command -v $tool)" "$work/bin"; done
out=$(PATH=$work/bin "$tree/packaging/version" 2>&1)
[ "$out" = 3.4~git ]; result $? "a clone is no release for those who have no git" "$out"
in_tree harness/dist.sh -o "$work/1" >"$work/log" 2>&1 && tar -x -C "$work/copy" -f "$work/1/jumpfunc-$between.tar.xz"
result $? "a tarball has the version in its name" "$(cat "$work/log")"
copy=$work/copy/jumpfunc-$between
shows "... and knows it without git" "$between" "$copy"
[ "$(dpkg-parsechangelog -l "$copy/debian/changelog" -S Version)" = "$between" ]; result $? "... its packages, too" "$(cat "$copy/debian/changelog")"
! dpkg --compare-versions "$between" ge 3.4; result $? "... which the release replaces"
for where in clone tarball; do
	t=$([ $where = tarball ] && echo "$copy" || echo "$tree")
	out=$(make -s -C "$t" dkms_install DESTDIR="$work/in-$where" 2>&1) && [ "$(cat "$work/in-$where/usr/src/jumpfunc-$between/VERSION")" = "$between" ] &&
		grep -q "^PACKAGE_VERSION=\"$between\"" "$work/in-$where/usr/src/jumpfunc-$between/dkms.conf"
	result $? "$where: DKMS gets the version" "$out"
	out=$(cd "$t" && echo 'include Kbuild
x:; @echo $(CFLAGS_kernel/main.o)' | make -s -f - src=. x 2>&1)
	[ "$out" = "-DJF_VERSION=\"$between\"" ]; result $? "$where: so does the module" "$out"
done
out=$(make -s -C "$tree/user" AGENT=no PREFIX=/usr LIBDIR=/usr/lib DESTDIR="$work/in-clone" install 2>&1); result $? "the library installs" "$out"
out=$("$work/in-clone/usr/bin/jf-trace" --version 2>&1 | head -n 1)
[ "$out" = "jf-trace $between" ]; result $? "jf-trace says the version" "$out"
out=$(PKG_CONFIG_PATH=$work/in-clone/usr/lib/pkgconfig pkg-config --modversion jumpfunc 2>&1)
[ "$out" = 3.4 ]; result $? "pkg-config compares the number" "$out"
out=$(cat "$work"/in-clone/usr/lib/cmake/jumpfunc/jumpfunc-config-version.cmake 2>&1)
grep -q 'PACKAGE_VERSION 3.4)' <<<"$out" && grep -q 'MAJOR STREQUAL "3"' <<<"$out" && grep -q 'MINOR STREQUAL "4"' <<<"$out"
result $? "so does CMake" "$out"

# ---- refusals ----

release() { out=$(in_tree harness/release -n -l modes -k '5.10 6.1' -o "$work/dist" 2>&1); }
# refuses WHAT MESSAGE: and makes neither a tag nor a tarball
refuses()
{
	! release && grep -q "$2" <<<"$out" && [ -z "$(in_tree git tag)" ] && [ ! -e "$work/dist" ]
	result $? "refuses $1" "$out"
}
# breaks WHAT MESSAGE FILE SED: a commit with that change, which has passed
breaks()
{
	sed -i "$4" "$tree/$3"
	! in_tree git diff --quiet; result $? "$3 can be broken"
	commit
	passed
	refuses "$1" "$2"
	in_tree git reset -q --hard HEAD~
}
rm -f "$tree/build/green"
refuses "a commit that no check has passed" "make check has not passed on ${hash:0:8}"
passed
sed -i s/^commit=./commit=x/ "$tree/build/green"
refuses "... that another one has passed" 'make check has not passed .* but on x'
passed
sed -i 's/ 6.1//' "$tree/build/green"
refuses "... that has not passed on all kernels" 'passed on 5.10, and not on 6.1'
passed
sed -i 's/^kernels=.*/kernels=/' "$tree/build/green"
refuses "... that has passed on no kernel" 'run on no kernel: run it with KERNELS="5.10 6.1"'
passed
echo 2026-03-05 >"$work/today"
refuses "a date that is not today's" 'are of 2026-03-04, and a release of 2026-03-05 is not: set both dates'
echo 2026-03-04 >"$work/today"
touch "$tree/new.c"
refuses "a file that is in no commit" 'in none: new.c: commit or remove'
rm "$tree/new.c"
echo >>"$tree/README.md"
refuses "a change that is in no commit" 'in none: README.md: commit or remove'
in_tree git checkout -q README.md
breaks "a section without a date" 'has its date' CHANGELOG.md 's/^## \[3.4\].*/## [3.4]/'
breaks "changes after the section" 'not with the section \[3.4\]' CHANGELOG.md '0,/^## /s/^## /## [Unreleased]\n\n## /'
breaks "a changelog of another version" 'is of version 3.3, not 3.4' debian/changelog '1s/3.4/3.3/'
breaks "... of another day" 'is of 2026-03-05, CHANGELOG.md of 2026-03-04' debian/changelog 's/04 Mar/05 Mar/; s/Wed,/Thu,/'
breaks "a symbol of a later version" 'symbols of 3.5' debian/libjumpfunc1.symbols '$s/[0-9.]*$/3.5/'
breaks "a README.md of another version" 'maturity is that of "3.3", not of 3.4' README.md 's/^\(\*\*Maturity:\*\*\) 3.4/\1 3.3/'
breaks "... and one that asks CMake for another" 'find_package(jumpfunc 3.3)", not find_package(jumpfunc 3.4)' user/README.md 's/(jumpfunc 3.4)/(jumpfunc 3.3)/'
breaks "another VERSION" 'not with the section \[3.5\]' VERSION 's/.*/3.5/'
breaks "a VERSION that is none" 'digits and dots' VERSION 's/.*/3.4~rc1/'
chmod -x "$tree/harness/release.sh" "$tree/scripts/doctor.sh" 2>/dev/null
commit
passed
refuses "what a linter objects to" 'linter objects'
in_tree git reset -q --hard HEAD~
breaks "pkg-config's file with another version" 'version of jumpfunc.pc: "3.3"' user/dist/jumpfunc.pc.in 's/@VERSION@/3.3/'
breaks "a library with another name" 'name of libjumpfunc.so: "libjumpfunc.so.1", not "libjumpfunc.so.2"' debian/libjumpfunc1.symbols '1s/so.1/so.2/'
in_tree git tag v3.4
! release && grep -q 'a tag v3.4 already' <<<"$out"; result $? "refuses a version that has a tag" "$out"
in_tree git tag -d v3.4 >/dev/null

# ---- a release ----

# All linters would take minutes.
find "$tree/harness/lint" -type f -perm -u+x ! -name run ! -name excepted ! -name modes -delete
commit
passed
out=$(in_tree harness/release -l modes 2>&1); [ $? = 2 ] && [ -z "$(in_tree git tag)" ]; result $? "a release has passed all linters" "$out"
out=$(in_tree harness/release -o "$work/dist" 2>&1) && [ "$(in_tree git cat-file -t v3.4)" = tag ] && ! in_tree git cat-file -p v3.4 | grep -q SIGNATURE
result $? "makes an annotated tag" "$out"
shows "... of which a build says" 3.4
in_tree git tag -d v3.4 >/dev/null
if command -v ssh-keygen >/dev/null && ssh-keygen -q -t ed25519 -N '' -f "$work/key" </dev/null; then
	in_tree git config gpg.format ssh
	in_tree git config user.signingkey "$work/key"
	release && grep -q 'would be a signed tag' <<<"$out" && [ -z "$(in_tree git tag)" ]; result $? "-n makes no tag" "$out"
	ssh-keygen -q -Y check-novalidate -n file -s "$work/dist/jumpfunc-3.4.tar.xz.sig" <"$work/dist/jumpfunc-3.4.tar.xz" >"$work/log" 2>&1
	result $? "... and a tarball, which a key of ssh signs" "$(cat "$work/log")"
else
	skip "signs the tarball with a key of ssh" "needs ssh-keygen"
fi
export GNUPGHOME=$work/gpg
mkdir -m 0700 "$GNUPGHOME"
if command -v gpg >/dev/null && gpg -q --batch --passphrase '' --quick-generate-key x@y ed25519 sign 2>/dev/null; then
	in_tree git config gpg.format openpgp
	in_tree git config user.signingkey x@y
	out=$(in_tree harness/release -o "$work/dist" 2>&1) && in_tree git verify-tag v3.4 2>"$work/log" &&
		gpg -q --verify "$work/dist/jumpfunc-3.4.tar.xz.asc" "$work/dist/jumpfunc-3.4.tar.xz" 2>>"$work/log"
	result $? "signs the tag and the tarball with a key of GnuPG" "$out$(cat "$work/log")"
	in_tree git tag -d v3.4 >/dev/null
	in_tree git config user.signingkey absent@nowhere
	! out=$(in_tree harness/release -o "$work/none" 2>&1) && [ -z "$(in_tree git tag)" ] && [ ! -e "$work/none" ]; result $? "a key that signs nothing makes no release" "$out"
	gpgconf --kill all
else
	skip "signs the tag and the tarball with a key of GnuPG" "needs gpg"
fi

out=$(make -s -C "$top" -n release KERNELS='5.10 6.1' 2>&1); grep -qE 'harness/release -k "5.10 6.1' <<<"$out"; result $? "make release asks for the kernels of make check" "$out"

# ---- MAINTAINERS ----

address=$(sed -n 's/^PATCHES = //p' "$top/MAINTAINERS")
grep -qxF "Maintainer: The jumpfunc developers <$address>" "$top/debian/control"; result $? "patches go to the maintainer of the packages" "$address"
sed -n 's/^F:\t//p' "$top/MAINTAINERS" >"$work/parts"
out=$(cd "$tree" && while IFS= read -r f; do git ls-files --error-unmatch "$f" 2>&1 >/dev/null; done <"$work/parts"); [ -s "$work/parts" ] && [ -z "$out" ]
result $? "MAINTAINERS names files that there are" "$out"
out=$(cd "$tree" && git ls-files | grep / | cut -d / -f 1 | sort -u | grep -v '^\.\|^LICENSES$' | while IFS= read -r d; do grep -q "^$d/" "$work/parts" || echo "$d"; done)
[ -z "$out" ]; result $? "... of each folder" "$out"
tap_end
