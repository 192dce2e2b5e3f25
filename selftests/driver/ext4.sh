#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ext4 with the probes of selftests/driver/probe.py, all of which are enabled and disabled while processes use file
# systems. harness/check-driver builds it and starts this in a virtual machine.
. "$(dirname "$0")/../lib/lib.sh"

P=/sys/module/ext4/parameters
ROUNDS=${JF_ROUNDS:-2}
PROCESSES=3
[ -w /dev/shm ] && WORK=/dev/shm/jf-driver || WORK=/tmp/jf-driver
DISK=/dev/ram0
MNT=/mnt

stage() { echo "$1" >$P/jf_stage; }
# counted NAME: one of the sums
counted() { awk -v n="$1" '{for (i = 1; i < NF; i++) if ($i == n) print $(i + 1)}' $P/jf_counts; }
# wrong: how much of what was judged is not as it should be
wrong() { awk '{for (i = 1; i < NF; i++) if ($i ~ /^(differ|missed|stray|wrong)$/) printf "%s ", $i "=" $(i + 1)}' $P/jf_counts; }
NOTHING="differ=0 missed=0 stray=0 wrong=0 "
# sites: how many probes have any, in how many functions, and how many sites that is; one of them may be in several
sites()
{
	awk '/^ext4:/ && $4 > 0 {f++; s += $4; sub(/.*:/, "", $1); if (!seen[$1]++) n++} END {print n + 0, f + 0, s + 0}' $JF/probes
}
# states: how many of these lines are on
states() { awk '/^ext4:/ && $4 > 0 && $2 == "on" {n++} END {print n + 0}' $JF/probes; }

# ---- the load ----

say_bad() { echo "$*" >>$WORK/bad; }
same() { cmp -s "$1" "$2" || say_bad "$1 is not $2"; }

# one N ROUND: creates, writes, reads and removes; all that it reads is what it has written
one()
{
	d=$MNT/w$1
	mkdir -p "$d/a/b" "$d/many" || say_bad "mkdir"
	for f in 1 2 3 4 5 6 7 8 9; do echo "$1 $2 $f" >"$d/many/a-file-with-a-longer-name-$f"; done
	cp $WORK/data "$d/a/data" && same $WORK/data "$d/a/data"
	cat $WORK/data >>"$d/a/data"
	[ "$(stat -c %s "$d/a/data")" = $((2 * 200000)) ] || say_bad "size of $d/a/data"
	dd if=$WORK/data of="$d/a/holes" bs=1000 seek=900 count=100 conv=notrunc 2>/dev/null
	truncate -s 150000 "$d/a/data"
	head -c 150000 $WORK/data | cmp -s - "$d/a/data" || say_bad "$d/a/data was cut"
	fallocate -l 300000 "$d/a/b/room" 2>/dev/null
	dd if=$WORK/data of="$d/a/b/direct" bs=4096 count=20 oflag=direct 2>/dev/null
	ln "$d/a/data" "$d/a/b/link" && same "$d/a/data" "$d/a/b/link"
	ln -s ../data "$d/a/b/soft" && same "$d/a/data" "$d/a/b/soft"
	ln -s "$(head -c 200 /dev/zero | tr '\0' x)" "$d/a/b/long" || say_bad "a long link"
	mv "$d/a/b/link" "$d/moved" && mv "$d/a/b" "$d/b" || say_bad "mv"
	chmod 600 "$d/moved"; touch -d 2020-01-01 "$d/moved"; mknod "$d/b/null" c 1 3; mkfifo "$d/b/pipe"
	[ "$(ls "$d/many" | wc -l)" = 9 ] || say_bad "ls $d/many"
	[ "$(cat "$d/many/a-file-with-a-longer-name-7")" = "$1 $2 7" ] || say_bad "$d/many"
	[ $(($2 % 3)) != 0 ] || sync
	df $MNT >/dev/null
	rm -r "$d/a" "$d/b" "$d/many" "$d/moved" || say_bad "rm"
	[ -z "$(ls "$d")" ] || say_bad "left: $(ls "$d")"
}
load()
{
	r=0
	while :; do
		r=$((r + 1))
		one "$1" $r
		echo $r >"$WORK/rounds.$1"
	done
}
# rounds: how often they have done all of that, together
rounds() { cat $WORK/rounds.* 2>/dev/null | awk '{n += $1} END {print n + 0}'; }
more() { [ "$(rounds)" -ge "$1" ]; }
# a_while: each process goes through it about once more
a_while() { jf_until 6000 more $(($(rounds) + PROCESSES)); }

# ---- changes ----

# change WHAT SIGN PATTERN: all probes of the pattern, while the load goes on
change()
{
	stage change
	b=$(jf_stat sync_broadcasts) t=$(jf_stat batches)
	begin=$(cut -d' ' -f1 /proc/uptime)
	jf_write probes "$2$3" >$WORK/said 2>&1 || fail "$1" "$(cat $WORK/said)"
	took=$(echo "$begin $(cut -d' ' -f1 /proc/uptime)" | awk '{print $2 - $1}')
	t=$(($(jf_stat batches) - t)) b=$(($(jf_stat sync_broadcasts) - b))
	[ "$t $b" = "1 3" ] || odd="$odd $2: $t transactions, $b broadcasts;"
	slowest=$(echo "$slowest $took" | awk '{print ($1 > $2) ? $1 : $2}')
	changes=$((changes + 1))
}

# try NAME MOUNT-OPTIONS MKE2FS-OPTIONS...: a file system, under load
try()
{
	name=$1 how=$2; shift 2
	if ! $TOOLS/mke2fs -q -F "$@" $DISK >$WORK/said 2>&1; then fail "$name: it is made" "$(cat $WORK/said)"; return; fi
	if ! mount -t ext4 -o "$how" $DISK $MNT 2>$WORK/said; then fail "$name: it is mounted" "$(cat $WORK/said)"; return; fi
	rm -f $WORK/rounds.*; odd='' slowest=0 changes=0
	for i in $(seq $PROCESSES); do jf_run load "$i"; done
	for i in $(seq "$ROUNDS"); do
		change "$name: all are enabled" + "ext4:*:*:*"; stage on
		[ "$i" != 1 ] || check_eq "$name: all are enabled" "$(states)" "$PROBES"
		a_while || fail "$name: the load goes on"
		change "$name: all are disabled" - "ext4:*:*:*"; stage off
		[ "$i" != 1 ] || check_eq "$name: all are disabled" "$(states)" 0
		a_while || fail "$name: the load goes on"
		# Again and again, with no time between.
		for j in 1 2; do
			change "$name: some are enabled" + "ext4:ext4:ext4_*:*"
			change "$name: all are disabled" - "ext4:*:*:*"
		done
	done
	change "$name: all are enabled" + "ext4:*:*:*"; stage on
	jf_stop_all
	check "$name: it is unmounted" umount $MNT
	change "$name: all are disabled" - "ext4:*:*:*"; stage off
	check_eq "$name: each of $changes changes was a transaction of three broadcasts" "$odd" ""
	check_eq "$name: nothing was missed or told wrongly" "$(wrong)" "$NOTHING"
	check_eq "$name: all that was read was right" "$(cat $WORK/bad 2>/dev/null)" ""
	check "$name: e2fsck finds nothing" $TOOLS/e2fsck -fn $DISK
	note "$name: $(rounds) rounds; the slowest change took $slowest s; so far: $(cat $P/jf_counts)"
}

jf_start "ext4 with thousands of probes"
jf_patching || jf_skip_all "$JF_NO_PATCHING"
# Busybox has one of its own, which it would take.
TOOLS=''
for d in /usr/bin /usr/sbin /sbin; do [ ! -x $d/mke2fs ] || [ ! -x $d/e2fsck ] || TOOLS=$d; done
[ -n "$TOOLS" ] || jf_skip_all "no mke2fs or no e2fsck"
mkdir -p $WORK $MNT
jf_on_exit "umount $MNT 2>/dev/null; rm -rf $WORK"
head -c 200000 /dev/urandom >$WORK/data
jf_load
for m in crc16 crc32c_generic mbcache jbd2; do
	! jf_has $m || check "$m loads" jf_insmod $m
done
begin=$(cut -d' ' -f1 /proc/uptime)
check "ext4 loads" jf_insmod ext4
note "loading took $(echo "$begin $(cut -d' ' -f1 /proc/uptime)" | awk '{print $2 - $1}') s"
check "brd loads" jf_insmod brd rd_nr=1 rd_size=65536
# shellcheck disable=SC2046
set -- $(sites)
PROBES=$2
note "$1 probes, $3 sites"
check "there are 5,000 probes in it" [ "$1" -ge 5000 ]
check_eq "... and all are off" "$(states)" 0

try "as it comes" defaults -t ext4
try "small blocks, data in inodes" data=journal -t ext4 -b 1024 -I 256 -O inline_data
try "no extents, no checksums" data=writeback -t ext4 -O ^extents,^64bit,^metadata_csum,^flex_bg
try "clusters, no journal" nodelalloc -t ext4 -O bigalloc,^has_journal -C 16384
check "what was told is what the subscriber has counted" [ "$(counted told)" = "$(counted hits)" ]
check "... and is not nothing" [ "$(counted hits)" -gt 100000 ]
check "a tenth of the probes was reached" [ "$(counted reached)" -gt $((PROBES / 10)) ]

# What is enabled is no reason to keep it.
change "all are enabled" + "ext4:*:*:*"
check "ext4 unloads with its probes enabled" jf_rmmod ext4
check_eq "... and none is left" "$(grep -c '^ext4:' $JF/probes)" 0
jf_done
