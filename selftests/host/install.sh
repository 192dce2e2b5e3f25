#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make install and uninstall in a copy of the tree, with a made-up module: into folders whose names the
# shell and make might trip over; uninstall takes what install wrote, and nothing else. TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"
for tool in modinfo objcopy lowdown help2man; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP needs $tool: harness/deps.sh build man"; exit 4; }
done

release=6.1.0-test
tree=$work/tree
mkdir "$tree"
(cd "$top" && cp -r ./*.mk ./*.c Kbuild Makefile VERSION bench common docs harness include kernel man packaging samples scripts "$tree") || exit
# module FILE RELEASE: modinfo finds it to be built for that
module()
{
	printf 'vermagic=%s SMP \0' "$2" >"$work/modinfo"
	gcc -c -x c /dev/null -o "$work/empty.o" && objcopy --add-section .modinfo="$work/modinfo" "$work/empty.o" "$1"
}
module "$tree/jumpfunc.ko" $release && cp "$tree/jumpfunc.ko" "$tree/bench/jumpfunc_bench.ko" && touch "$tree/Module.symvers" || exit

dest="$work/it's  a \"dest\" & so on" prefix='/opt/my stuff'
go() { make -s -C "$tree" KVER=$release DESTDIR="$dest" PREFIX="$prefix" "$@" 2>&1; }
data=$dest$prefix/share/jumpfunc
files() { find "$dest" ! -type d -printf '%P\n' | sort; }

out=$(go install); result $? "make install, with blanks and quotes in DESTDIR and PREFIX" "$out"
stray=$(find "$work" -mindepth 1 -maxdepth 1 ! -path "$dest" ! -name tree ! -name 'modinfo' ! -name empty.o)
[ -z "$stray" ]; result $? "nothing is written elsewhere" "$stray"
have=$(files)
for f in "lib/modules/$release/updates/jumpfunc.ko" "${prefix#/}/share/jumpfunc/symvers/$release/Module.symvers" \
	"${prefix#/}/share/jumpfunc/include/jumpfunc/detail/types.h" "${prefix#/}/share/man/man4/jumpfunc.4" "${prefix#/}/sbin/jumpfunc-doctor"; do
	grep -qxF "$f" <<<"$have"; result $? "there is /$f" "$have"
done
broken=$(find "$dest" -xtype l)
[ -z "$broken" ]; result $? "each link leads somewhere" "$broken"
stray=$(grep -rhoE '(scripts|harness)/[-a-z.]+' "$dest$prefix/share/man/man8")
[ -z "$stray" ]; result $? "the manual of programs names none that is only in the sources" "$stray"
out=$("$dest$prefix/sbin/jumpfunc-bench-plot" --help 2>&1) && grep -q 'jumpfunc/bench in debugfs' <<<"$out"; result $? "... and jumpfunc-bench-plot, which it names, is there" "$out"
out=$("$dest$prefix/sbin/jumpfunc-doctor" --help 2>&1) && grep -q 'Says whether' <<<"$out"; result $? "what is installed runs from there" "$out"
# complains TOOL NAME: it cannot find what it is to work on; none of them gets so far as to load or to sign anything
complains()
{
	case $2 in
	jumpfunc-bench) "$1" -m "$work" ;;
	jumpfunc-hackbench) "$1" --module "$work/nothing.ko" --dry-run ;;
	*) "$1" "$work/nothing.ko" ;;
	esac
}
# What each says of itself and advises: in --help, of a bad option, and where what it needs is not there.
for tool in "$dest$prefix/sbin"/jumpfunc-*; do
	name=${tool##*/}
	out=$("$tool" --help 2>&1) && grep -qE "^[Uu]sage: $name( |$)" <<<"$out"; result $? "$name --help has its own name" "$out"
	out=$out$("$tool" --no-such-option 2>&1; complains "$tool" "$name" 2>&1)
	stray=$(grep -nE 'scripts/|(hackbench-run|bench-here|sign|doctor)\.sh|(^|[^-])bench-(here|plot)|(^ *|[:;] )make( |$|,|:)' <<<"$out" | grep -v 'in a clone')
	[ -z "$stray" ]; result $? "... and names no file, and no command, that only the sources have" "$stray"
	grep -q "$name: \|\"$name --help\"" <<<"$out"; result $? "... also where it complains" "$out"
done

# What an older version had.
touch "$data/include/jumpfunc/old.h" "$data/mine"
echo share/jumpfunc/include/jumpfunc/old.h >>"$data/installed/headers"
out=$(go install) && [ ! -e "$data/include/jumpfunc/old.h" ] && [ -e "$data/mine" ]
result $? "a newer version takes away what it does not have, and nothing else" "$out$(files)"
out=$(go uninstall) && [ "$(files)" = "${data#"$dest"/}/mine" ]; result $? "uninstall leaves a file that install did not write, and nothing else" "$out$(files)"
rm "$data/mine"
out=$(go uninstall) && [ -z "$(files)" ]; result $? "uninstall where nothing is installed" "$out"

# Two kernels.
out=$(go install) && module "$tree/jumpfunc.ko" 6.2.0-test && ! out=$(go modules_install) && grep -q "built for 6.2.0-test, not for $release" <<<"$out"
result $? "a module is not installed for another kernel" "$out"
out=$(make -s -C "$tree" KVER=6.2.0-test DESTDIR="$dest" PREFIX="$prefix" modules_install 2>&1) && go uninstall &&
	[ "$(files)" = "lib/modules/6.2.0-test/updates/jumpfunc.ko
lib/modules/6.2.0-test/updates/jumpfunc_bench.ko
${prefix#/}/share/jumpfunc/symvers/6.2.0-test/Module.symvers" ]
result $? "uninstall leaves the modules of another kernel" "$out$(files)"

out=$(go dkms_install) && [ -e "$dest/usr/src/jumpfunc-$(cat "$top/VERSION")/dkms.conf" ] &&
	[ -e "$dest/usr/src/jumpfunc-$(cat "$top/VERSION")/common/x86/protocol.h" ]
result $? "the sources for DKMS" "$out"
# The results of a build are no sources.
touch "$tree/jumpfunc.mod.c" "$tree/bench/jumpfunc_bench.mod.c"
out=$(go dkms_install) && out=$(find "$dest/usr/src" -name '*.mod.c') && [ -z "$out" ]; result $? "... after a build, too, are the sources alone" "$out"

# DKMS does not build the benchmark for each kernel: users of the module do not need it.
objects() { printf 'src := %s\ninclude %s/Kbuild\nall:\n\t@echo $(obj-m)\n' "$1" "$1" | make -s -f - CONFIG_X86_64=y "${@:2}"; }
conf=$(echo "$dest/usr/src"/jumpfunc-*)
[ "$(grep -c '^BUILT_MODULE_NAME' "$conf/dkms.conf")" = 1 ] && [ "$(grep -c 'JF_NO_BENCH=1 modules' "$conf/dkms.conf" "$conf/dkms-try" | grep -c ':1$')" = 2 ] &&
	[ "$(objects "$tree" JF_NO_BENCH=1)" = jumpfunc.o ] && [ "$(objects "$tree")" = "jumpfunc.o bench/" ]
result $? "DKMS builds the module, and not the benchmark" "$(objects "$tree" JF_NO_BENCH=1) $(cat "$conf/dkms.conf")"

# depmod prefers what make has installed, and DKMS' upgrades would change nothing.
mkdir -p "$dest/lib/modules/$release/updates/dkms" && touch "$dest/lib/modules/$release/updates/dkms/jumpfunc.ko.xz"
module "$tree/jumpfunc.ko" $release
out=$(go modules_install) && grep -q "note: DKMS has installed one, too" <<<"$out"; result $? "a module of DKMS that is put into the shade is told" "$out"
rm -r "$dest/lib/modules/$release/updates/dkms"
out=$(go modules_install) && [ -z "$out" ]; result $? "... and without one there is nothing to tell" "$out"

# Which exported symbols a module that uses jumpfunc is built with.
sed "s,/var/lib/dkms,$work/dkms," "$tree/jumpfunc.mk" >"$work/jumpfunc.mk"
# shellcheck disable=SC2016 # make expands it
printf 'include %s\nall:\n\t@echo $(JUMPFUNC_SYMVERS)\n' '$(MK)' >"$work/consumer"
# symvers FOLDER KERNEL [CONFIG_X=y]: with jumpfunc.mk in that folder
symvers()
{
	cp "$work/jumpfunc.mk" "$1" || return
	out=$(make -s -f "$work/consumer" MK="$1/jumpfunc.mk" KERNELRELEASE="$2" "${@:3}" 2>&1)
}
mkdir -p "$work/share" "$work/dkms/jumpfunc/kernel-6.1.0-test-x86_64"
touch "$work/dkms/jumpfunc/kernel-6.1.0-test-x86_64/Module.symvers"
symvers "$work/share" 6.1.0-test && [ "$out" = "$work/dkms/jumpfunc/kernel-6.1.0-test-x86_64/Module.symvers" ]
result $? "jumpfunc.mk finds the symbols that DKMS has for this kernel" "$out"
mkdir -p "$work/dkms/jumpfunc/kernel-6.1.0-test-aarch64" && touch "$work/dkms/jumpfunc/kernel-6.1.0-test-aarch64/Module.symvers"
symvers "$work/share" 6.1.0-test CONFIG_ARM64=y && [ "$out" = "$work/dkms/jumpfunc/kernel-6.1.0-test-aarch64/Module.symvers" ]
result $? "... and for one of arm64 those of its own" "$out"
out=$(
	# shellcheck source=packaging/jumpfunc.dkms
	. "$top/packaging/jumpfunc.dkms"
	for a in x86_64 aarch64 i686 riscv64 aarch64_be; do [[ ! $a =~ $BUILD_EXCLUSIVE_ARCH ]] || echo -n "$a "; done
)
[ "$out" = "x86_64 aarch64 " ]; result $? "DKMS builds for x86-64 and arm64, and for nothing else" "$out"
# As DKMS reads it, which ends with the first command that fails if it has "set -e".
line=$(sed -n 's,^\(\. /usr/share/jumpfunc/jumpfunc\.dkms.*\),\1,p' "$top/samples/dkms/dkms.conf")
[ -n "$line" ] && grep -qxF "    $line" "$top/man/jumpfunc.7.md" && grep -qxF "#	$line" "$top/packaging/jumpfunc.dkms"
result $? "one line is shown for a dkms.conf" "$line"
# reads FOLDER: what the line makes of it where jumpfunc is in that folder
reads() { out=$(bash -ec "AUTOINSTALL=yes; ${line//\/usr\/share/"$1"}; echo \"auto: \$AUTOINSTALL\"" 2>/dev/null); }
mkdir -p "$work/there/jumpfunc" && cp "$top/packaging/jumpfunc.dkms" "$work/there/jumpfunc"
reads "$work/there" && [ "$out" = "auto: yes" ]; result $? "... with which DKMS builds where jumpfunc is" "$out"
reads "$work/nowhere" && [ "$out" = "auto: " ]; result $? "... and leaves the module alone where it has been removed" "$out"
! symvers "$work/share" 6.1.0 && grep -q 'not built for kernel 6.1.0:' <<<"$out"
result $? "... and takes no others for them whose name begins alike" "$out"
mkdir -p "$work/clone" && touch "$work/clone/Module.symvers" && module "$work/clone/jumpfunc.ko" 6.1.0-test
symvers "$work/clone" 6.1.0-test && [ "$out" = "$work/clone/Module.symvers" ]; result $? "in a clone it takes what make has built" "$out"
! symvers "$work/clone" 6.2.0-test && grep -q 'not built for kernel 6.2.0-test:' <<<"$out"
result $? "... but not for another kernel" "$out"

mkdir -p "$work/kdir/scripts"
# kbuild cannot; what it says of that is "No rule to make target".
mkdir "$work/my clone" && cp "$tree"/Makefile "$tree"/*.mk "$tree/VERSION" "$work/my clone" && cp -r "$tree/harness" "$tree/packaging" "$work/my clone"
touch "$work/kdir/Makefile"
! out=$(make -s -C "$work/my clone" KVER=$release KDIR="$work/kdir" 2>&1) && grep -q "has a blank in its name: $work/my clone" <<<"$out"
result $? "a clone in a folder with a blank in its name is told so" "$out"
! out=$("$work/my clone/harness/build.sh" -k "$work/kdir" there 2>&1) && grep -q "has a blank in its name: $work/my clone" <<<"$out"
result $? "... by the harness, too" "$out"

# A pkcs11: URI has semicolons in it, and a folder's name may have blanks.
mkdir -p "$work/my keys"
printf '#!/bin/sh\nprintf "%%s\\n~Module signature appended~\\n" "by $2" >>"$4"\n' >"$work/kdir/scripts/sign-file"
chmod +x "$work/kdir/scripts/sign-file"
touch "$work/my keys/it's one.pem"
out=$(go sign KDIR="$work/kdir" KEY="pkcs11:token=a;object=b;touch $work/ran" CERT="$work/my keys/it's one.pem") &&
	grep -aq 'by pkcs11:token=a;object=b;touch' "$tree/jumpfunc.ko" && [ ! -e "$work/ran" ]
result $? "make sign, with a key and a certificate that the shell might trip over" "$out"
tap_end
