#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What harness/deb.sh takes for the sources of the packages: what belongs to the tree, and not what a build, or
# the signing of modules, has left in it.  TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"
command -v git >/dev/null || { echo "1..0 # SKIP needs git"; exit 0; }

tree=$work/tree
mkdir -p "$tree/harness" "$tree/core"
cp "$top/harness/deb.sh" "$top/harness/common.sh" "$tree/harness"
cp "$top/.gitignore" "$tree" 2>/dev/null || { echo "1..0 # SKIP this is no clone"; exit 0; }
echo 1.0 >"$tree/VERSION"
touch "$tree/core/a b.c" "$tree/core/gone.c"
# No user's configuration of git may have an effect on this.
export HOME=$work GIT_CONFIG_NOSYSTEM=1
(cd "$tree" && git init -q && git add -A && git -c user.name=x -c user.email=x@y commit -qm x) || { echo "Bail out! no repository"; exit 1; }
rm "$tree/core/gone.c"
mkdir "$tree/build" "$tree/core/.tmp_versions"
touch "$tree/core/new.c" "$tree"/{jumpfunc.ko,jumpfunc.mod.c,Module.symvers,build/x,core/.a.o.cmd,core/.tmp_versions/a,mok.key,mok.pub,signing.priv,key.pem}
wanted=$(printf '%s\n' VERSION 'core/a b.c' core/new.c harness/common.sh harness/deb.sh)

# lists WHAT FOLDER: the sources as deb.sh there sees them
lists()
{
	out=$("$2/harness/deb.sh" -l 2>&1)
	[ "$(grep -vx .gitignore <<<"$out" | sort)" = "$wanted" ]
	result $? "$1" "$out"
}
lists "of a clone, what git knows, and new files" "$tree"
ln -s tree "$work/link"
lists "... by another name of its folder" "$work/link"
if [ "$(id -u)" = 0 ]; then
	chown -R 65534 "$tree"
	lists "... of another user, as with sudo" "$tree"
else
	skip "... of another user, as with sudo" "needs root"
fi
rm -rf "$tree/.git"
lists "without git, the same" "$tree"
tap_end
