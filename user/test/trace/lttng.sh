#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Sources of LTTng-UST, as they are, with the headers of ours: what babeltrace2 shows is what it shows of LTTng's recording.
# usage: lttng.sh BUILD
# LTTNG_UST_SOURCE: a folder with LTTng-UST's sources, whose own tests and examples are compiled, but for one that includes an
# internal header, and recorded
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
trap 'stop_lttng; rm -rf "$tmp"' EXIT

examples=/usr/share/doc/liblttng-ust-dev/examples
headers=/usr/include/$(gcc -print-multiarch)/lttng
include="-I$top/include/jumpfunc-lttng -I$top/include"
libs="-L$build -ljumpfunc-trace -ljumpfunc -Wl,-rpath,$build"

# Of each event level, name and fields.
show()
{
	babeltrace2 --no-delta --fields=loglevel "$1" > "$tmp/read" 2> "$tmp/read.errors"
	cat "$tmp/read.errors"
	grep -v lttng_ust_statedump: "$tmp/read" | sed -E 's/^\[[^ ]* //; s/^[^ ]* (TRACE_)/\1/; s/\{ [^}]* \}, //'
	[ ! -s "$tmp/read.errors" ]
}

# ours GLOBS COMMAND...: record it, and show that
ours()
{
	rm -rf "$tmp/traces"
	mkdir "$tmp/traces"
	globs=$1
	shift
	JUMPFUNC_TRACE=$globs JUMPFUNC_TRACE_DIR=$tmp/traces "$@" > "$tmp/said.record" || return 1
	# Without events there is no trace.
	rmdir "$tmp/traces" 2> /dev/null || show "$tmp/traces"
}

# Until it has ended: there is one at a time.
stop_lttng()
{
	[ -s "$tmp/lttng/pid" ] || return 0
	pid=$(cat "$tmp/lttng/pid")
	kill "$pid" 2> /dev/null
	for _ in $(seq 100); do
		kill -0 "$pid" 2> /dev/null || break
		sleep 0.1
	done
	rm -f "$tmp/lttng/pid"
}

# The same by LTTng, with a daemon of its own.
theirs()
{
	stop_lttng
	rm -rf "$tmp/lttng"
	mkdir "$tmp/lttng"
	LTTNG_HOME=$tmp/lttng
	export LTTNG_HOME
	lttng-sessiond --no-kernel --daemonize --pidfile="$tmp/lttng/pid" || return 1
	lttng create --output="$tmp/lttng/trace" jf > "$tmp/lttng/said" && lttng enable-event -u -a >> "$tmp/lttng/said" &&
		lttng start >> "$tmp/lttng/said" && "$@" >> "$tmp/lttng/said"
	rc=$?
	lttng destroy jf >> "$tmp/lttng/said" || rc=1
	stop_lttng
	[ "$rc" = 0 ] && show "$tmp/lttng/trace"
}

# compile COMPILER FLAGS... -- OUTPUT SOURCES...
compile()
{
	compiler=$1
	shift
	flags=
	while [ "$1" != -- ]; do
		flags="$flags $1"
		shift
	done
	output=$2
	shift 2
	# Words, and they have no blanks.
	# shellcheck disable=SC2086
	$compiler $flags -Wall -Wextra -Werror -I"$here" $include -o "$output" "$@" $libs
}

program()
{
	compile "$@" -- "$tmp/program" "$here/lttng_program.c" && ours 'jflttng:*' "$tmp/program" > "$tmp/events"
	diff "$tmp/expected" "$tmp/events"
}

# chosen FILTER EVENT NUMBER: so many records of it
chosen()
{
	ours "jflttng:$2 if $1" "$tmp/program" > "$tmp/events"
	have=$(grep -c "jflttng:$2:" "$tmp/events")
	[ "$have" = "$3" ] && return
	echo "$1: $have records of $2, not $3"
	return 1
}

# By names of fields, also after a string and an array, in the other order of bytes, and by labels.
filters()
{
	compile "$@" -- "$tmp/program" "$here/lttng_program.c" || return 1
	chosen 'state < 0' state 2 && chosen 'again >= 200' state 4 && chosen 'again == a' state 1 && chosen 'net == 0x78563412' shown 1 &&
		chosen 'nethex != 0x78563412' shown 1 && chosen 'v & 2' two 1 && chosen 'v == 1' two 0 && chosen 'tid > 1' nothing 1
}

# Events in a program, their probes in an object that comes by LD_PRELOAD, or by dlopen() and goes again, or in two that are
# linked with it; the probes in another source file; in C, and in C++.
apart()
{
	compiler=$1
	lang=$2
	opt=$3
	cat > "$tmp/apart.c" <<-'END'
	#define TRACEPOINT_DEFINE
	#define TRACEPOINT_PROBE_DYNAMIC_LINKAGE
	#include "lttng_provider.h"
	#include <dlfcn.h>
	void in_object(void) __attribute__((__weak__));
	int main(int argc, char **argv)
	{
		void *object;
		int i;

		for (i = 0; i < 4; i++) {
			object = i % 2 && argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
			tracepoint(jflttng, one, i);
			if (in_object)
				in_object();
			if (object)
				dlclose(object);
		}
		return 0;
	}
	END
	cat > "$tmp/object.c" <<-'END'
	#define TRACEPOINT_DEFINE
	#include "lttng_provider.h"
	#ifdef __cplusplus
	extern "C"
	#endif
	void in_object(void);
	void in_object(void) { tracepoint(jflttng, two, 5); }
	END
	printf '#define TRACEPOINT_CREATE_PROBES\n#include "lttng_provider.h"\n' > "$tmp/probes.c"
	[ "$lang" = c ] || sed -i 's/^void in_object(void) __/extern "C" &/' "$tmp/apart.c"
	for object in probes object; do
		compile "$compiler" "$opt" -x "$lang" -fPIC -shared -- "$tmp/$object.so" "$tmp/$object.c" || return 1
	done
	compile "$compiler" "$opt" -x "$lang" -- "$tmp/apart" "$tmp/apart.c" -ldl &&
		compile "$compiler" "$opt" -x "$lang" -- "$tmp/linked" "$tmp/apart.c" -x none -Wl,--no-as-needed "$tmp/object.so" \
			"$tmp/probes.so" -ldl "-Wl,-rpath,$tmp" &&
		compile "$compiler" "$opt" -x "$lang" -- "$tmp/both" "$tmp/apart.c" "$tmp/probes.c" -ldl || return 1
	{
		ours 'jflttng:*' "$tmp/apart"
		echo "preloaded"
		ours 'jflttng:*' env LD_PRELOAD="$tmp/probes.so" "$tmp/apart"
		echo "opened and closed"
		ours 'jflttng:*' "$tmp/apart" "$tmp/probes.so"
		echo "linked"
		ours 'jflttng:*' "$tmp/linked"
		echo "another source file"
		ours 'jflttng:*' "$tmp/both"
	} | sed 's/^TRACE_DEBUG_LINE (13) //' > "$tmp/events"
	diff - "$tmp/events" <<-'END'
	preloaded
	jflttng:one: { v = 0 }
	jflttng:one: { v = 1 }
	jflttng:one: { v = 2 }
	jflttng:one: { v = 3 }
	opened and closed
	jflttng:one: { v = 1 }
	jflttng:one: { v = 3 }
	linked
	jflttng:one: { v = 0 }
	jflttng:two: { v = 5 }
	jflttng:one: { v = 1 }
	jflttng:two: { v = 5 }
	jflttng:one: { v = 2 }
	jflttng:two: { v = 5 }
	jflttng:one: { v = 3 }
	jflttng:two: { v = 5 }
	another source file
	jflttng:one: { v = 0 }
	jflttng:one: { v = 1 }
	jflttng:one: { v = 2 }
	jflttng:one: { v = 3 }
	END
}

# The program was compiled with another header than its provider: it is told, and not called.
other_args()
{
	sed 's/TRACEPOINT_EVENT_INSTANCE(jflttng, cls, one, TP_ARGS(int, v))/TRACEPOINT_EVENT_INSTANCE(jflttng, cls, one, TP_ARGS(long, v))/
		s/"lttng_provider.h"/"other.h"/' "$here/lttng_provider.h" > "$tmp/other.h"
	sed 's/"lttng_provider.h"/"other.h"/' "$tmp/apart.c" > "$tmp/other.c"
	compile gcc -O2 "-I$tmp" -- "$tmp/other" "$tmp/other.c" -ldl &&
		ours 'jflttng:*' env LD_PRELOAD="$tmp/probes.so" "$tmp/other" > "$tmp/events" 2> "$tmp/errors"
	cat "$tmp/events" "$tmp/errors"
	[ ! -s "$tmp/events" ] && grep -qF 'jflttng:one is not recorded where it has the arguments (long, v), since it is defined with (int, v)' \
		"$tmp/errors"
}

# Each level, long and empty strings, errno, arguments with side effects, in two source files; off nothing is evaluated.
logs()
{
	compile "$@" -- "$tmp/logs" "$here/lttng_log.c" && "$tmp/logs" off &&
		ours 'lttng_ust_trace*:*' "$tmp/logs" > "$tmp/events" || return 1
	diff "$tmp/expected.logs" "$tmp/events"
}

# log_lines WANTED GLOB: so many of the lines above are recorded. The program fails if some are not made.
log_lines()
{
	# shellcheck disable=SC2016 # a parameter of that shell
	ours "$2" sh -c '"$0" || true' "$tmp/logs" > "$tmp/events" || return 1
	[ "$(wc -l < "$tmp/events")" = "$1" ] || { echo "$2:"; cat "$tmp/events"; return 1; }
}

# The same with filters: on the text, the place, by number.
log_filters()
{
	compile gcc -O2 -- "$tmp/logs" "$here/lttng_log.c" || return 1
	log_lines 2 'lttng_ust_tracelog:* if line >= 113 && line < 200' && log_lines 5 'lttng_ust_tracelog:* if msg =~ "level 1?"' &&
		log_lines 1 'lttng_ust_tracelog:* if func == "vlog" && file == "log.c"' && log_lines 1 'lttng_ust_tracef:* if msg == "one 1"' &&
		log_lines 1 'lttng_ust_tracef:* if msg =~ "x0*"' && log_lines 2 'lttng_ust_tracef:event every 2' && log_lines 1 'lttng_ust_tracef:event max 1' &&
		log_lines 0 'lttng_ust_tracef:* if tid == 1' && log_lines 4 'lttng_ust_tracef:* if tid > 1' || return 1
	# Both have such a text, and one alone has a line.
	log_lines 17 'lttng_ust_trace*:* if msg =~ "level*" || msg =~ "by*"' && log_lines 16 'lttng_ust_trace*:* if line > 0' || return 1
	tail -n 1 "$tmp/events" | grep -q 'line = 200, file = "log.c", func = "vlog", _msg_length = 14, msg = "by a list: 6 a"'
}

# A text that cannot be made, or has no memory, is no lost record: the part that could be made is there.
log_lacks()
{
	cat > "$tmp/lacks.c" <<-'END'
	#include <errno.h>
	#include <stdlib.h>
	#include <string.h>
	#include <wchar.h>
	#include <lttng/tracef.h>
	#include <lttng/tracelog.h>
	extern void *__libc_malloc(size_t);
	static int none;
	void *malloc(size_t size) { if (none && size > 512) { errno = ENOMEM; return NULL; } return __libc_malloc(size); }
	int main(void)
	{
		static char text[2000];
		wchar_t bad[] = { 0xd800, 0 };
		memset(text, 'x', sizeof(text) - 1);
		none = 1;
		lttng_ust_tracef("%s", text);
		none = 0;
		lttng_ust_tracef("abc %ls", bad);
		errno = 7;
		lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR, "%ls", bad);
		return errno != 7;
	}
	END
	compile gcc -O2 -- "$tmp/lacks" "$tmp/lacks.c" && ours 'lttng_ust_trace*:*' "$tmp/lacks" > "$tmp/events" || return 1
	[ "$(wc -l < "$tmp/events")" = 3 ] && head -n 1 "$tmp/events" | grep -qE '_msg_length = 511, msg = "x+"' &&
		sed -n 2p "$tmp/events" | grep -q 'msg = "abc ' && tail -n 1 "$tmp/events" | grep -q 'tracelog:.* _msg_length = [0-9]*, msg = ""'
}

lttng_logs()
{
	gcc -O2 -I"$here" -o "$tmp/theirs" "$here/lttng_log.c" -llttng-ust -llttng-ust-common -ldl &&
		theirs "$tmp/theirs" > "$tmp/events"
	diff "$tmp/expected.logs" "$tmp/events"
}

expected_logs()
{
	n=0
	for level in EMERG ALERT CRIT ERR WARNING NOTICE INFO DEBUG_SYSTEM DEBUG_PROGRAM DEBUG_PROCESS DEBUG_MODULE \
		DEBUG_UNIT DEBUG_FUNCTION DEBUG_LINE DEBUG; do
		text="level $n"
		echo "TRACE_$level ($n) lttng_ust_tracelog:LTTNG_UST_TRACEPOINT_LOGLEVEL_$level:" \
			"{ line = $((n + 100)), file = \"log.c\", func = \"all_levels\", _msg_length = ${#text}, msg = \"$text\" }"
		n=$((n + 1))
	done
	long=$(printf '%01000d' 7)
	for text in "" "one 1" "x$long" "by a list: 5 $long"; do
		echo "TRACE_DEBUG (14) lttng_ust_tracef:event: { _msg_length = ${#text}, msg = \"$text\" }"
	done
	text="by a list: 6 a"
	echo "TRACE_ERR (3) lttng_ust_tracelog:LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR:" \
		"{ line = 200, file = \"log.c\", func = \"vlog\", _msg_length = ${#text}, msg = \"$text\" }"
}

# compiles FOLDER: all C and C++ below it; says how many
compiles()
{
	num=0
	good=0
	for source in $(find "$1" -name '*.c' -o -name '*.cpp' | sort); do
		compiler=gcc
		[ "${source%.cpp}" = "$source" ] || compiler=g++
		num=$((num + 1))
		# Words, and they have no blanks.
		# shellcheck disable=SC2086
		$compiler -c -fPIC $include "-I$(dirname "$source")" -o "${source%.*}.o" "$source" && good=$((good + 1))
	done
	echo "$good of $num"
	[ "$good" = "$num" ] && [ "$num" -gt 0 ]
}

packaged()
{
	cp -r "$examples" "$tmp/examples" && find "$tmp/examples" -name '*.gz' -exec gunzip {} + &&
		(cd "$tmp/examples/gen-tp" && lttng-gen-tp -o sample_tracepoint.h -o sample_tracepoint.c sample_tracepoint.tp) &&
		compiles "$tmp/examples" && cp "$tmp/said" "$tmp/packaged"
}

# link OUTPUT FLAGS...
link()
{
	output=$1
	shift
	# shellcheck disable=SC2086
	g++ -o "$output" -Wl,--no-as-needed "$@" -L"$tmp/run" "-Wl,-rpath,$tmp/run" $run_libs -ldl
}

# build_examples LIBRARIES: those that end soon, into $tmp/run
build_examples()
{
	run_libs=$1
	e=$tmp/examples
	rm -rf "$tmp/run"
	mkdir "$tmp/run" && link "$tmp/run/libtp.so" -shared "$e/demo/tp.o" "$e/demo/tp2.o" &&
		link "$tmp/run/libtp3.so" -shared "$e/demo/tp3.o" && link "$tmp/run/demo" "$e/demo/demo.o" || return 1
	for demo in demo-tracef/demo-tracef demo-tracef/demo-vtracef demo-tracelog/demo-tracelog demo-tracelog/demo-vtracelog; do
		link "$tmp/run/${demo#*/}" "$e/$demo.o" || return 1
	done
	e=$e/cmake-multiple-shared-libraries
	link "$tmp/run/libprovider.so" -shared "$e/tracepoint-provider.o" &&
		link "$tmp/run/libaligner.so" -shared "$e/aligner-lib.o" -lprovider &&
		link "$tmp/run/libtester.so" -shared "$e/tester-lib.o" -lprovider &&
		link "$tmp/run/tester" "$e/tester.o" -laligner -ltester
}

run_examples()
{
	for demo in demo-tracef demo-vtracef demo-tracelog demo-vtracelog tester; do
		"$1" '*' "$tmp/run/$demo" 2> "$tmp/run/errors" || return 1
	done
	"$1" '*' env LD_PRELOAD="$tmp/run/libtp.so:$tmp/run/libtp3.so" "$tmp/run/demo" 2> "$tmp/run/errors"
}

by_lttng()
{
	shift
	theirs "$@"
}

# Their file names are those of the folder.
examples_record()
{
	build_examples "$libs" && run_examples ours > "$tmp/ours.examples" && [ "$(wc -l < "$tmp/ours.examples")" = 30 ]
}

examples_same()
{
	include=
	compiles "$tmp/examples" && build_examples "-llttng-ust -llttng-ust-common" && run_examples by_lttng > "$tmp/events"
	diff "$tmp/events" "$tmp/ours.examples"
}

# Compiled with which headers, $include says.
compile_upstream()
{
	rm -rf "$tmp/upstream"
	mkdir "$tmp/upstream"
	for part in tests/compile tests/benchmark tests/regression doc/examples; do
		[ ! -d "$LTTNG_UST_SOURCE/$part" ] || cp -r "$LTTNG_UST_SOURCE/$part" "$tmp/upstream/${part#*/}" || return 1
	done
	rm -rf "$tmp/upstream/compile/api1/test-app-ctx"
	# As many events as fit into the buffers of LTTng.
	find "$tmp/upstream/compile" -type f -name '*.c*' -exec sed -i 's/ < 1000000; / < 100; /' {} +
	(cd "$tmp/upstream/examples/gen-tp" && lttng-gen-tp -o sample_tracepoint.h -o sample_tracepoint.c sample_tracepoint.tp) ||
		rm -rf "$tmp/upstream/examples/gen-tp"
	compiles "$tmp/upstream"
}

upstream()
{
	compile_upstream && cp "$tmp/said" "$tmp/upstream.num"
}

# record_upstream HOW LIBRARIES: each test of which all files were compiled
record_upstream()
{
	run_libs=$2
	mkdir -p "$tmp/run"
	for folder in $(cd "$tmp/upstream/compile" && find . -name '*.o' -exec dirname {} + | sort -u); do
		set -- "$1" "$tmp/upstream/compile/$folder"
		[ "$(find "$2" -type f -name '*.c*' | wc -l)" = "$(find "$2" -name '*.o' | wc -l)" ] || continue
		echo "$folder"
		link "$tmp/run/upstream" "$2"/*.o && "$1" '*' "$tmp/run/upstream" 2> "$tmp/run/errors" || return 1
	done
}

upstream_recorded()
{
	record_upstream ours "$libs" > "$tmp/ours.upstream" && [ "$(grep -c '^ust_tests\|^TRACE_' "$tmp/ours.upstream")" -gt 100 ]
}

# With LTTng's own headers, as they are installed. Some sources do not compile if they are of a later version.
upstream_same()
{
	include=
	compile_upstream
	record_upstream by_lttng "-llttng-ust -llttng-ust-common" > "$tmp/events" || return 1
	awk 'NR == FNR {if (/^\.\//) wanted[$1] = 1; next} /^\.\//{on = $1 in wanted} on' "$tmp/events" "$tmp/ours.upstream" |
		diff "$tmp/events" - && [ "$(wc -l < "$tmp/events")" -gt 100 ]
}

lttng_itself()
{
	gcc -O2 -I"$here" -o "$tmp/theirs" "$here/lttng_program.c" -llttng-ust -llttng-ust-common -ldl &&
		theirs "$tmp/theirs" > "$tmp/events"
	diff "$tmp/expected" "$tmp/events"
}

# Labels with what ends a string, numbers that no label has, both byte orders, fields in the order in which they were written.
cat > "$tmp/expected" <<'END'
TRACE_DEBUG_LINE (13) jflttng:all: { a = -3, text = "text", twice = 0xFFFFFFFFFFFFFFFA, real = 2.5, two = [ [0] = 7, [1] = 8 ], head = "tex", _list_length = 3, list = [ [0] = 7, [1] = 8, [2] = 4660 ], _chars_length = 3, chars = "tex", yes = 1 }
TRACE_CRIT (2) jflttng:state: { state = ( <unknown> : container = -3 ), wide = ( <unknown> : container = -3 ), old = ( <unknown> : container = 253 ), again = ( <unknown> : container = 4294967293 ) }
TRACE_CRIT (2) jflttng:state: { state = ( "minus" : container = -2 ), wide = ( "minus" : container = -2 ), old = ( <unknown> : container = 254 ), again = ( <unknown> : container = 4294967294 ) }
TRACE_CRIT (2) jflttng:state: { state = ( "zero" : container = 0 ), wide = ( "zero" : container = 0 ), old = ( <unknown> : container = 0 ), again = ( <unknown> : container = 0 ) }
TRACE_CRIT (2) jflttng:state: { state = ( "one" : container = 1 ), wide = ( "one" : container = 1 ), old = ( "a" : container = 1 ), again = ( "a" : container = 1 ) }
TRACE_CRIT (2) jflttng:state: { state = ( "some \"quoted\\ones\"" : container = 2 ), wide = ( "some \"quoted\\ones\"" : container = 2 ), old = ( "b" : container = 2 ), again = ( "b" : container = 2 ) }
TRACE_CRIT (2) jflttng:state: { state = ( "some \"quoted\\ones\"" : container = 9 ), wide = ( "some \"quoted\\ones\"" : container = 9 ), old = ( "b" : container = 9 ), again = ( "b" : container = 9 ) }
TRACE_CRIT (2) jflttng:state: { state = ( "ten" : container = 10 ), wide = ( "ten" : container = 10 ), old = ( "b" : container = 10 ), again = ( "b" : container = 10 ) }
TRACE_CRIT (2) jflttng:state: { state = ( <unknown> : container = 200 ), wide = ( <unknown> : container = 200 ), old = ( "b" : container = 200 ), again = ( "b" : container = 200 ) }
TRACE_CRIT (2) jflttng:state: { state = ( <unknown> : container = 201 ), wide = ( <unknown> : container = 201 ), old = ( "c" : container = 201 ), again = ( "c" : container = 201 ) }
TRACE_DEBUG_LINE (13) jflttng:shown: { hex = 0xFFFFFFFF, net = 2018915346, nethex = 0x78563412, array_hex = [ [0] = 0x7, [1] = 0x8 ], array_net = [ [0] = 1792, [1] = 2048 ], array_nethex = [ [0] = 0x700, [1] = 0x800 ], _seq_hex_length = 3, seq_hex = [ [0] = 0x7, [1] = 0x8, [2] = 0x1234 ], _seq_net_length = 3, seq_net = [ [0] = 1792, [1] = 2048, [2] = 13330 ], _seq_nethex_length = 3, seq_nethex = [ [0] = 0x700, [1] = 0x800, [2] = 0x3412 ], numbers = [ [0] = 116, [1] = 101 ], _more_length = 3, more = [ [0] = 116, [1] = 101, [2] = 120 ], cut = "text" }
TRACE_DEBUG_LINE (13) jflttng:shown: { hex = 0xFFFFFFFF, net = 4043309055, nethex = 0xF0FFFFFF, array_hex = [ [0] = 0x7, [1] = 0x8 ], array_net = [ [0] = 1792, [1] = 2048 ], array_nethex = [ [0] = 0x700, [1] = 0x800 ], _seq_hex_length = 0, seq_hex = [ ], _seq_net_length = 0, seq_net = [ ], _seq_nethex_length = 0, seq_nethex = [ ], numbers = [ [0] = 116, [1] = 101 ], _more_length = 0, more = [ ], cut = "text" }
TRACE_DEBUG_UNIT (11) jflttng:old_words: { net = -16777217, nethex = 0xFEFFFFFF, array_hex = [ [0] = 0x7, [1] = 0x8 ], array_net = [ [0] = 1792, [1] = 2048 ], array_nethex = [ [0] = 0x700, [1] = 0x800 ], _seq_hex_length = 3, seq_hex = [ [0] = 0x7, [1] = 0x8, [2] = 0x1234 ], _seq_net_length = 3, seq_net = [ [0] = 1792, [1] = 2048, [2] = 13330 ], _seq_nethex_length = 3, seq_nethex = [ [0] = 0x700, [1] = 0x800, [2] = 0x3412 ] }
TRACE_DEBUG_LINE (13) jflttng:reals: { f = 0.5, i = 3, d = 0.25, sum = 0.75 }
TRACE_DEBUG_LINE (13) jflttng:structures: { a = 5, b = 1.5, text = "large", where_a = 5 }
TRACE_DEBUG_LINE (13) jflttng:ten: { a = 1, b = 2.5, c = 3, d = 4.5, e = 1.5, f = -6, g = 7.5, h = 8, i = 9.5, j = "large" }
TRACE_EMERG (0) jflttng:nothing: { }
TRACE_DEBUG_LINE (13) jflttng:one: { v = 1 }
TRACE_DEBUG_LINE (13) jflttng:two: { v = 2 }
END

if have babeltrace2; then
	check "gcc" program gcc -O2
	check "gcc -O0 -std=c99" program gcc -O0 -std=c99
	if have clang; then check "clang" program clang -O2; else skip "clang" "not installed"; fi
	if have g++; then check "g++" program g++ -O2 -x c++; else skip "g++" "not installed"; fi
	if have clang++; then check "clang++" program clang++ -O2 -std=c++20 -x c++; else skip "clang++" "not installed"; fi
	expected_logs > "$tmp/expected.logs"
	check "filters" filters gcc -O2
	check "tracef(), tracelog(), gcc" logs gcc -O2
	check "tracef(), tracelog(), filters" log_filters
	check "tracef(), tracelog(), without memory, and with a text that cannot be printed" log_lacks
	check "tracef(), tracelog(), gcc -fno-pie" logs gcc -O0 -fno-pie -no-pie
	if have g++; then check "tracef(), tracelog(), g++" logs g++ -O2 -x c++; fi
	if have clang; then check "tracef(), tracelog(), clang" logs clang -O2; fi
	check "probes apart, gcc" apart gcc c -O2
	check "probes apart, gcc -O0" apart gcc c -O0
	check "probes with other arguments" other_args
	if have g++; then check "probes apart, g++" apart g++ c++ -O2; else skip "probes apart, g++" "not installed"; fi
	if ! have lttng-gen-tp || [ ! -d "$examples" ] || ! have g++; then
		skip "the packaged examples" "no such examples (apt-get install liblttng-ust-dev g++)"
	else
		check "the packaged examples compile" packaged
		[ -e "$tmp/packaged" ] && sed 's/^/# /' "$tmp/packaged"
		check "the packaged examples are recorded" examples_record
	fi
	if [ -n "${LTTNG_UST_SOURCE:-}" ]; then
		check "tests and examples of LTTng-UST's sources compile" upstream
		[ -e "$tmp/upstream.num" ] && sed 's/^/# /' "$tmp/upstream.num"
		check "tests of LTTng-UST's sources are recorded" upstream_recorded
	else
		skip "tests and examples of LTTng-UST's sources" "no LTTNG_UST_SOURCE= in the environment"
	fi
	if [ ! -e "$headers/tracepoint.h" ]; then
		skip "LTTng records the same" "no LTTng-UST (apt-get install liblttng-ust-dev lttng-tools)"
	elif ! have lttng-sessiond || pidof lttng-sessiond > "$tmp/pid"; then
		skip "LTTng records the same" "no daemon of LTTng's, or one that runs already"
	else
		check "LTTng records the same" lttng_itself
		check "LTTng records the same logs" lttng_logs
		if [ -e "$tmp/ours.examples" ]; then check "LTTng records the same of the examples" examples_same; fi
		if [ -e "$tmp/ours.upstream" ]; then check "LTTng records the same of its tests" upstream_same; fi
	fi
else
	skip "traces" "no babeltrace2 to read them (apt-get install babeltrace2)"
fi
tap_end
