#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests of scripts/sign.sh with a made-up sign-file, real certificates and a list of the kernel's keys of our
# own; what a kernel makes of the signatures, harness/check-signing shows.  TAP on stdout.
set -u
# shellcheck source=selftests/host/work.sh
. "$(dirname "$0")/work.sh"
for tool in openssl od truncate; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP needs $tool: harness/deps.sh signing"; exit 0; }
done

export JF_DKMS_CONF=$work/framework.conf JF_SYSFS=$work/sys JF_PROCFS=$work/proc
# A signature is "by KEY", its length, and what the kernel wants at the end.
mkdir -p "$work/kdir/scripts" "$work/sys" "$work/proc" "$work/m"
cat >"$work/kdir/scripts/sign-file" <<'END'
#!/bin/bash
[ ! -e "${0%/*}/slow" ] || { echo started >"${0%/*}/slow"; sleep 30; }
text="by $2"
# Twelve bytes, of which the last four are the length, and the mark.
printf '%s\0\0\0\0\0\0\0\0\0\0\0%b~Module signature appended~\n' "$text" "\\0$(printf %03o ${#text})" >>"$4"
END
chmod +x "$work/kdir/scripts/sign-file"
# module: a new one, unsigned
module() { printf '\177ELF and so on' >"$work/m/jumpfunc.ko"; rm -f "$work"/m/jumpfunc.ko.*; }
go() { rc=0; out=$("$top/scripts/sign.sh" -b "$work/kdir" "$@" "$work/m/jumpfunc.ko" 2>&1) || rc=$?; }
by() { grep -aoE 'by [^[:cntrl:]]*' "$work/m/jumpfunc.ko" | head -n 1; }

# certificate NAME CN [OPTION...]: NAME.key, NAME.pem, NAME.der
certificate()
{
	openssl req -new -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=$2/" -keyout "$work/$1.key" -out "$work/$1.pem" "${@:3}" 2>/dev/null &&
		openssl x509 -in "$work/$1.pem" -outform DER -out "$work/$1.der"
}
# listed NAME CN: as /proc/keys has it
listed()
{
	local id
	id=$(openssl x509 -in "$work/$1.pem" -noout -ext subjectKeyIdentifier 2>/dev/null | sed -n 's/^ *\([0-9A-F][0-9A-F:]*\)$/\1/p' | tr -d : | tr A-F a-f)
	[ -n "$id" ] || id=$(openssl x509 -in "$work/$1.pem" -noout -serial | sed 's/^serial=//' | tr A-F a-f)
	printf '%s %.9s %s\n' "1f3a2b3c I------     1 perm 1f030000     0     0" asymmetric "$2: $id: X509.rsa ${id: -8} []" >>"$work/proc/keys"
}
certificate mine 'DKMS module signing key' && certificate old 'DKMS module signing key' &&
	certificate plain 'a plain key' -config <(printf '[req]\ndistinguished_name=d\n[d]\n') || { echo "Bail out! no certificates"; exit 1; }

# ---- which key ----

module
go -K "$work/mine.key" -C "$work/mine.der"
[ $rc = 0 ] && [ "$(by)" = "by $work/mine.key" ]; result $? "a key of one's own" "$out"
size=$(wc -c <"$work/m/jumpfunc.ko")
go -K "$work/mine.key" -C "$work/mine.der"
[ $rc = 0 ] && [ "$(wc -c <"$work/m/jumpfunc.ko")" = "$size" ]; result $? "once more: it has one signature" "$out"
module
printf 'mok_signing_key="%s/old.key"\nmok_certificate=%s/old.der\n' "$work" "$work" >"$work/framework.conf"
go
[ $rc = 0 ] && [ "$(by)" = "by $work/old.key" ]; result $? "without one, that of DKMS' framework.conf" "$out"
module
mkdir "$work/framework.conf.d"
printf '[[ -z "" ]] && mok_signing_key="%s/mine.key"\nmok_certificate=%s/mine.der\n' "$work" "$work" >"$work/framework.conf.d/my.conf"
go
[ $rc = 0 ] && [ "$(by)" = "by $work/mine.key" ]; result $? "... which a file in framework.conf.d, written for bash, overrides, as for DKMS" "$out"
rm -r "$work/framework.conf" "$work/framework.conf.d"
go -K "$work/mine.key"
[ $rc = 2 ]; result $? "a key without certificate is bad usage" "$out"
chmod 644 "$work/mine.key"
go -K "$work/mine.key" -C "$work/mine.der"
[ $rc = 0 ] && grep -q "warning: every user can read $work/mine.key" <<<"$out"; result $? "a key that every user can read is remarked on" "$out"
chmod 600 "$work/mine.key"
go -K "$work/mine.key" -C "$work/mine.der"
! grep -q warning <<<"$out"; result $? "... and another is not" "$out"

# ---- what is said of the kernel's trust ----

trust='the running kernel knows the key'
listed old 'DKMS module signing key'
go -K "$work/mine.key" -C "$work/mine.der"
! grep -q "$trust" <<<"$out" && grep -q "mokutil --import $work/mine.der" <<<"$out"
result $? "another key of the same name is not taken for it" "$out"
go -K "$work/mine.key" -C "$work/mine.pem"
grep -qF -- "-outform DER" <<<"$out"; result $? "... and of a PEM certificate mokutil gets the form that it takes" "$out"
mkdir "$work/bin" && printf '#!/bin/sh\necho 1000\n' >"$work/bin/id" && chmod +x "$work/bin/id"
PATH=$work/bin:$PATH go -K "$work/mine.key" -C "$work/mine.der"
[ $rc = 0 ] && ! grep -q mokutil <<<"$out"; result $? "a user who cannot read the kernel's keys is told nothing of them" "$out"
listed mine 'DKMS module signing key'
go -K "$work/mine.key" -C "$work/mine.der"
grep -q "$trust" <<<"$out"; result $? "one that the kernel lists is known" "$out"
listed plain 'a plain key'
go -K "$work/plain.key" -C "$work/plain.pem"
grep -q "$trust" <<<"$out"; result $? "... and so is one without identifier, by its number" "$out"

# ---- what is left where ----

module
echo mine >"$work/victim"
ln -s "$work/victim" "$work/m/jumpfunc.ko.signing"
go -K "$work/mine.key" -C "$work/mine.der"
[ $rc = 0 ] && cmp -s "$work/victim" <(echo mine); result $? "a link beside the module is not followed" "$(tr -d '\0' <"$work/victim")"
for signal in HUP INT TERM; do
	module
	before=$(cksum <"$work/m/jumpfunc.ko")
	mkfifo "$work/kdir/scripts/slow"
	setsid env --default-signal=INT,HUP "$top/scripts/sign.sh" -b "$work/kdir" -K "$work/mine.key" -C "$work/mine.der" "$work/m/jumpfunc.ko" >"$work/said" 2>&1 &
	pid=$!
	timeout 20 cat "$work/kdir/scripts/slow" >/dev/null
	# As a terminal sends it, to all of the group.
	kill "-$signal" -- "-$pid"
	wait $pid 2>/dev/null
	rc=$?
	left=$(find "$work/m" -name 'jumpfunc.ko?*')
	[ $rc != 0 ] && [ -z "$left" ] && [ "$(cksum <"$work/m/jumpfunc.ko")" = "$before" ]
	result $? "$signal in the middle: nothing is left, and the module as it was" "status $rc $left $(cat "$work/said")"
	rm "$work/kdir/scripts/slow"
done
tap_end
