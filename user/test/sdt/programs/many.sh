#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# zstd from Debian's sources with thousands of probes, which jf-sdt makes of calls that many.py puts in: all of them are
# enabled and disabled while several threads compress and decompress. Downloads 2 MB, takes a minute or two.
# usage: many.sh BUILDS
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
builds=$(cd "${1:?which folder has the library}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
user=$(cd "$here/../../.." && pwd)
# shellcheck source=user/test/tap.sh
. "$user/test/tap.sh"
# shellcheck source=user/test/sdt/programs/sources.sh
. "$here/sources.sh"
# More than 5,000: the compiler drops those in functions that nothing calls.
wanted=6000
out=$builds/zstd-many

sources=$(source_of zstd) || exit 1
rm -rf "$out"
cp -a "$sources" "$out" && cd "$out" || exit 1
tap_begin

built()
{
	"$here/many.py" . "$wanted" > list || return 1
	cat > many.mk <<-'END'
	.RECIPEPREFIX = >
	CFLAGS = -O2 -pthread -w -DZSTD_MULTITHREAD -DZSTD_LEGACY_SUPPORT=0 -DXXH_NAMESPACE=ZSTD_ -I. -Ilib -Ilib/common -I$(TOP)/include
	OBJECTS = $(FILES:.c=.o) lib/decompress/huf_decompress_amd64.o names.o count.o
	zstd-many: $(OBJECTS)
	> $(BUILDS)/jf-sdt $(OBJECTS)
	> $(CC) -pthread -o $@ $(OBJECTS) -L$(BUILDS) -ljumpfunc -Wl,-rpath,$(BUILDS)
	END
	make -s -j"${JOBS:-2}" -f many.mk FILES="$(sed 1d list | tr '\n' ' ')" TOP="$user/.." BUILDS="$builds"
}

# counted NAME FILE...: the sum of it in the lines that the program wrote
counted()
{
	name=$1
	shift
	cat "$@" | awk -v n="$name" '{for (i = 1; i < NF; i += 2) if ($i == n) sum += $(i + 1)} END {print sum + 0}'
}

# zstd FILE OPTION...: runs it; FILE gets what it counted
zstd()
{
	JF_PROBED_OUT=$1
	shift
	JF_PROBED_OUT=$JF_PROBED_OUT ./zstd-many -q -f "$@"
}

# there_and_back LEVEL: several threads compress, and what they wrote is what was there
there_and_back()
{
	zstd "counted.$1" -T4 -B256K "-$1" data -o data.zst && zstd "counted.$1" -d data.zst -o data.back && cmp data data.back
}

dictionary()
{
	zstd counted.train --train lib/*/*.c programs/*.c --maxdict=20000 -o dict &&
		zstd counted.train -T4 -9 -D dict data -o data.zst && zstd counted.train -d -D dict data.zst -o data.back && cmp data data.back
}

# right FILE...: nothing was missed, told wrongly or counted otherwise, in each program run
right()
{
	for n in odd differ missed stray wrong; do
		[ "$(counted "$n" "$@")" = 0 ] || return 1
	done
	[ "$(counted told "$@")" = "$(counted hits "$@")" ] && [ "$(counted hits "$@")" -gt 1000000 ]
}
many_probes() { awk '{for (i = 1; i < NF; i += 2) if ($i == "probes" && $(i + 1) < 5000) exit 1}' counted.*; }
# Not all of the time is on, and not all of it is off.
some_of_each() { [ "$(counted told counted.*)" -lt "$(counted passes counted.*)" ]; }

check "zstd is built with $wanted calls" built
[ -x zstd-many ] || { tap_end; exit 1; }
cat lib/*/*.c programs/*.c > data
for level in 1 3 7 15; do
	check "level $level, by four threads" there_and_back $level
done
check "a dictionary" dictionary
check "5,000 probes and more" many_probes
check "each change was one transaction of at most three broadcasts, and what was told is right" right counted.*
check "... and some passes were not told, as the probes were off" some_of_each
echo "# $(find . -name '*.o' -exec "$builds/jf-sdt" --list {} + | wc -l) places; $(counted changes counted.*) changes," \
	"$(counted passes counted.*) passes, $(counted hits counted.*) told"
tap_end
