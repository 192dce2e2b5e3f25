#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Signs kernel modules with a key of this machine's owner, and says whether the running kernel trusts it.
set -eu
LC_ALL=C
export LC_ALL

# Installed, it is called by a link that has its name.
prog=${0##*/}
case $prog in
jumpfunc-*)
	none=
	example="sudo $prog /lib/modules/\$(uname -r)/updates/jumpfunc.ko" ;;
*)	none=": make"
	example="make && sudo scripts/$prog jumpfunc.ko bench/jumpfunc_bench.ko" ;;
esac
conf=${JF_DKMS_CONF:-/etc/dkms/framework.conf}
sysfs=${JF_SYSFS:-/sys}
procfs=${JF_PROCFS:-/proc}

usage()
{
	cat <<END
Usage: $prog [options] MODULE.ko...

Signs the modules in place, as Secure Boot, lockdown and module.sig_enforce=1 demand.  Without a
key it takes the one that DKMS signs its modules with (mok_signing_key and mok_certificate in
$conf and $conf.d/*.conf, by default
/var/lib/dkms/mok.key and mok.pub).

  -K, --key FILE        private key, PEM; or a pkcs11: URI
  -C, --cert FILE       its X.509 certificate, DER or PEM
  -b, --build FOLDER    take sign-file and the hash from this kernel build tree
  -k, --kernel RELEASE  take sign-file and the hash from this kernel's headers (default: the
                        running one)
  -h, --help            this text

A passphrase of the key is taken from the variable KBUILD_SIGN_PIN.

A kernel trusts keys that were built into it, and those in the firmware's list (db) or the
machine owner's (MOK).  To make DKMS' key one of the latter, run this, choose a password, reboot,
and type the password where the firmware asks for it:

  mokutil --import /var/lib/dkms/mok.pub

Exit status: 0 all signed, 1 an error, 2 bad usage, 3 no key or no sign-file here.

Example:
  $example
END
}

say() { printf '%s: %s\n' "$prog" "$*" >&2; }
die() { say "error: $1"; exit "${2:-1}"; }
bad_usage() { say "$*"; printf 'Try "%s --help".\n' "$prog" >&2; exit 2; }

# of_dkms NAME DEFAULT: what DKMS' configuration says, in scripts that bash reads
of_dkms()
{
	# shellcheck disable=SC2016
	set -- "$1" "$2" "$(kernelver=$kernel "$(command -v bash || echo sh)" -c '
		for f in "$1" "$1".d/*.conf; do [ ! -r "$f" ] || . "$f" >/dev/null 2>&1; done
		eval "printf %s \"\${$2:-}\""' sh "$conf" "$1")"
	printf '%s\n' "${3:-$2}"
}

find_key()
{
	if [ -z "$key" ] && [ -z "$cert" ]; then
		key=$(of_dkms mok_signing_key /var/lib/dkms/mok.key)
		cert=$(of_dkms mok_certificate /var/lib/dkms/mok.pub)
		[ -e "$key" ] || [ "${key#pkcs11:}" != "$key" ] ||
			die "DKMS has no key $key: give one with --key and --cert, or make it: dkms generate_mok (dkms 3.0 makes it when it first builds)" 3
	fi
	[ -n "$key" ] && [ -n "$cert" ] || bad_usage "--key and --cert belong together"
	[ "${key#pkcs11:}" != "$key" ] || [ -r "$key" ] || die "cannot read the key $key" 3
	[ -r "$cert" ] || die "cannot read the certificate $cert" 3
	[ -z "$(find -L "$key" -prune -perm -004 2>/dev/null)" ] ||
		say "warning: every user can read $key, and sign what this machine's kernel then loads: chmod 600"
}

find_tool()
{
	for build in ${tree:+"$tree"} "/lib/modules/$kernel/build" "/usr/src/linux-headers-$kernel"; do
		signfile=$build/scripts/sign-file
		[ ! -x "$signfile" ] || break
	done
	[ -x "$signfile" ] || die "no sign-file for kernel $kernel: apt-get install linux-headers-$kernel" 3
	hash=$(sed -n 's/^CONFIG_MODULE_SIG_HASH="\(.*\)"/\1/p' "$build/.config" 2>/dev/null) || true
	hash=${hash:-sha256}
}

# Other messages than sign-file's "bio.c:... No such file".
check_module()
{
	[ -e "$1" ] || die "there is no $1$none"
	[ -w "$1" ] || die "cannot write $1"
	[ "$(head -c 4 "$1" | od -An -tx1 | tr -d ' \n')" = 7f454c46 ] ||
		die "$1 is no module, or a compressed one: unpack it first"
}

signed() { [ "$(tail -c 28 "$1" | head -c 27)" = "~Module signature appended~" ]; }

# Takes signatures off a copy. The four bytes before the marker are the length of one; twelve describe it.
unsign()
{
	while signed "$1"; do
		# shellcheck disable=SC2046 # four numbers
		set -- "$1" $(tail -c 32 "$1" | head -c 4 | od -An -tu1)
		length=$((40 + (($2 * 256 + $3) * 256 + $4) * 256 + $5))
		[ $length -lt "$(wc -c <"$1")" ] || die "the signature of $m is damaged: build it again"
		truncate -s -$length "$1" || die "cannot shorten $1"
	done
}

# A module that is signed already gets the new signature instead, and one that cannot be signed stays as it is.
sign()
{
	new=$(mktemp "$1.XXXXXX") && cp -p "$1" "$new" || die "cannot write a copy of $1 beside it"
	unsign "$new"
	"$signfile" "$hash" "$key" "$cert" "$new" || die "sign-file failed on $1; is $cert the certificate of $key?"
	signed "$new" || die "sign-file left no signature in $1"
	mv -f "$new" "$1" || die "cannot replace $1"
	new=''
	say "signed $1 ($hash, $cert)"
}

certificate() { openssl x509 -inform "$form" -in "$cert" -noout "$@" 2>/dev/null; }

# Whether the running kernel has that very key; another one may have the same name, as those of DKMS have on
# all machines. /proc/keys lists them by the identifier in the certificate or, without one, its number.
trusted()
{
	form=DER
	certificate || form=PEM
	name=$(certificate -subject -nameopt multiline | sed -n 's/^ *commonName *= //p')
	id=$(certificate -ext subjectKeyIdentifier | sed -n 's/^ *\([0-9A-F][0-9A-F:]*\)$/\1/p' | tr -d ':')
	[ -n "$id" ] || id=$(certificate -serial | sed -n 's/^serial=//p')
	[ -n "$id" ] && [ -r "$procfs/keys" ] || return 2
	awk -v id="$id" '$8 ~ /^asym/ && $0 ~ (": (00)?" tolower(id) ":") { found = 1 } END { exit !found }' "$procfs/keys" && return
	# Only root is shown those of the kernel.
	[ "$(id -u)" = 0 ] || return 2
	return 1
}

say_trust()
{
	[ "$kernel" = "$(uname -r)" ] || return 0
	rc=0
	trusted || rc=$?
	convert=
	[ "$form" = DER ] || convert="openssl x509 -in $cert -outform DER -out cert.der; mokutil --import cert.der"
	case $rc in
	0) say "the running kernel knows the key \"$name\"" ;;
	1) say "note: the running kernel does not list the key \"$name\"; where it insists on signatures it" \
		"will refuse these modules until you have run: ${convert:-mokutil --import $cert}" ;;
	esac
	if [ "$(cat "$sysfs/module/module/parameters/sig_enforce" 2>/dev/null)" != Y ] &&
	   ! grep -qE '\[(integrity|confidentiality)\]' "$sysfs/kernel/security/lockdown" 2>/dev/null; then
		say "this kernel does not insist on signatures at present"
	fi
}

key='' cert='' tree='' kernel=$(uname -r)
while [ $# -gt 0 ]; do
	case $1 in
	-h|--help) usage; exit 0 ;;
	-K|--key|-C|--cert|-b|--build|-k|--kernel)
		[ -n "${2:-}" ] || bad_usage "$1 needs a value"
		case $1 in
		-K|--key) key=$2 ;;
		-C|--cert) cert=$2 ;;
		-b|--build) tree=$2 ;;
		*) kernel=$2 ;;
		esac
		shift 2 ;;
	--) shift; break ;;
	-*) bad_usage "unknown option $1" ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || bad_usage "no module was named"

for m; do check_module "$m"; done
find_key
find_tool
new=''
trap '[ -z "$new" ] || rm -f "$new"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
for m; do
	sign "$m"
done
say_trust
