#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make where it is not at home: without the running kernel's headers, in a tree that cannot be written, with O=, in a
# folder with a blank in its name. It works, or says why in one line. TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"

tree="$work/it's my clone"
mkdir "$tree"
(cd "$top" && cp -r Makefile ./*.mk VERSION Kbuild harness scripts kernel packaging samples man "$tree") || exit
find "$tree" \( -name '*.ko' -o -name '*.o' \) -delete
go() { out=$(make --no-print-directory -C "$tree" KVER=0.0.0-none "$@" 2>&1); }
files() { find "$tree" -path "$tree/build" -prune -o ! -type d -printf '%P\n' | sort; }
# one PATTERN: one line, beside make's own, and it is like that
one() { [ "$(grep -cv '^make' <<<"$out")" = 1 ] && grep -q "^jumpfunc: .*$1" <<<"$out"; }

# ---- clean ----

before=$(files)
litter()
{
	mkdir -p "$tree/build/6.1" "$tree/samples/.tmp_versions"
	touch "$tree"/{jumpfunc.ko,jumpfunc.o,jumpfunc.mod,jumpfunc.mod.c,jumpfunc.mod.o,.jumpfunc.ko.cmd,.module-common.o,Module.symvers,modules.order,modules.nsdeps} \
		"$tree"/kernel/update/{keys.o,.keys.o.cmd,.keys.o.d,keys.gcno,"a b.o"} "$tree"/samples/{x.ko,Module.symvers,.tmp_versions/x} "$tree/build/6.1/x"
}
litter
go clean && [ "$(files)" = "$before" ] && [ ! -e "$tree/build" ] && [ ! -e "$tree/samples/.tmp_versions" ]
result $? "make clean without headers, and in a folder with a blank, takes what kbuild has made, and nothing else" "$out
$(diff <(echo "$before") <(files))"
litter
mkdir -p "$tree/.git/objects"
touch "$tree/.git/objects/x.o"
go clean && [ -e "$tree/.git/objects/x.o" ]; result $? "... and nothing of git's" "$out"
rm -r "$tree/.git"

# ---- a tree that cannot be written ----

mkdir -p "$work/kdir"
# shellcheck disable=SC2016 # make expands it
printf '%%:\n\t@echo "kbuild: $@ M=$(M) O=$(O)"\n' >"$work/kdir/Makefile"
plain=$work/plain
cp -r "$tree" "$plain"
touch "$plain/kernel/update/keys.o"
# readonly ARGS...: make in that tree, which is not to be written
readonly_go()
{
	if [ "$(id -u)" != 0 ]; then
		chmod a-w "$plain" "$plain/kernel"
		out=$(make --no-print-directory -C "$plain" "$@" 2>&1); rc=$?
		chmod u+w "$plain" "$plain/kernel"
		return $rc
	fi
	# shellcheck disable=SC2016
	out=$(unshare -m --propagation private sh -c 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 99; make --no-print-directory -C "$0" "$@"' "$plain" "$@" 2>&1)
}
if [ "$(id -u)" = 0 ] && ! unshare -m true 2>/dev/null; then
	skip "a tree that cannot be written" "no name spaces of mounts here"
else
	for target in modules samples; do
		! readonly_go $target KDIR="$work/kdir" && one "cannot write to $plain.*JF_BUILD"; result $? "a tree that cannot be written: make $target says so, and what can be done" "$out"
	done
	! readonly_go clean && one "cannot write to $plain"; result $? "... and so does make clean" "$out"
	! readonly_go KERNEL=none && grep -q 'JF_BUILD=' <<<"$out"; result $? "... and the harness" "$out"
fi

# ---- O= ----

for target in modules samples clean; do
	! go "$target" KDIR="$work/kdir" O="$work/out" && one "O=$work/out"; result $? "make $target O=: says that modules are built beside their sources" "$out"
done
tree=$plain
mkdir -p "$work/out/include/config"
touch "$work/out/include/config/auto.conf"
go KDIR="$work/kdir" O="$work/out" && grep -qx "kbuild: modules M=$plain O=$work/out" <<<"$out"
result $? "... but where a kernel was built with O= kbuild gets that" "$out"
go samples KDIR="$work/kdir" && grep -qx "kbuild: modules M=$plain/samples O=" <<<"$out"; result $? "without it all is as ever" "$out"

# ---- a blank ----

tree="$work/it's my clone"
for target in modules samples; do
	! go "$target" KDIR="$work/kdir" && one "blank in its name: $tree"; result $? "a folder with a blank: make $target says so" "$out"
done
! out=$("$tree/harness/deb.sh" 2>&1) && one "blank in its name: $tree"; result $? "... and so does make deb" "$out"
tap_end
