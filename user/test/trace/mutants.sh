#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Breaks the ring, globs, and lists of patterns in many ways, one at a time, and expects one of its tests to notice.
# usage: mutants.sh BUILD [PATTERN]
set -u
build=$1
pattern=${2:-.}
here=$(cd "$(dirname "$0")" && pwd)
user=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Tests that end early and leave others running would keep a pipe open: all output goes to a file.
run() { timeout -k 2 "$@" > "$tmp/said" 2>&1 < /dev/null; }

compile()
{
	program=$1
	shift
	# shellcheck disable=SC2046
	gcc -std=gnu11 -w -O2 -g -pthread -fexceptions -I"$tmp/top/include" -I"$tmp/top" -I"$here" "$@" -o "$tmp/$program" \
		$(find "$tmp/top/user/trace" -maxdepth 1 -name '*.c' ! -name jf_recover.c) -L"$build" -ljumpfunc \
		-Wl,-rpath,"$build" > "$tmp/said" 2>&1
}

fails()
{
	for test in test_glob test_wishes test_record steps kills trace_events count_calls; do
		compile "$test" "$here/$test.c" || { cat "$tmp/said"; return 2; }
	done
	mkdir -p "$tmp/bin"
	cp "$tmp/trace_events" "$tmp/count_calls" "$tmp/bin/"
	cp "$build/jf-recover" "$build/jf-trace" "$tmp/bin/"
	run 60 "$tmp/test_glob" || return 0
	run 60 "$tmp/test_wishes" || return 0
	run 60 "$tmp/test_record" || return 0
	run 60 "$here/disks.sh" "$tmp/bin" || return 0
	run 60 "$here/count.sh" "$tmp/bin" || return 0
	run 100 "$tmp/kills" 60 5 || return 0
	run 200 "$tmp/steps" 5 || return 0
	[ ! -x "$build/fuzz_recover" ] || {
		clang -w -O1 -g -I"$tmp/top/include" -I"$tmp/top" -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
			-o "$tmp/bin/fuzz_recover" "$here/fuzz_recover.c" "$tmp/top/user/trace/recover.c" "$tmp/top/user/trace/file.c" &&
			run 200 "$here/fuzz.sh" "$tmp/bin" 20000 || return 0
	}
	return 1
}

echo "TAP version 13"
n=0
failed=0
grep -v '^#' "$user/trace/ring.mutants" | grep -e "$pattern" > "$tmp/list"
while IFS='|' read -r file what command; do
	n=$((n + 1))
	rm -rf "$tmp/top"
	mkdir -p "$tmp/top/user/test" "$tmp/top/user/lib" "$tmp/top/common"
	cp -r "$user/../include" "$tmp/top/"
	cp -r "$user/trace" "$tmp/top/user/"
	cp "$user"/lib/*.h "$tmp/top/user/lib/"
	cp "$user"/test/*.h "$tmp/top/user/test/"
	cp "$user/../common/glob.h" "$tmp/top/common/"
	case $file in
	ring_user.h) path=$tmp/top/include/jumpfunc/detail/$file ;;
	*) path=$tmp/top/user/trace/$file ;;
	esac
	cp "$path" "$tmp/before"
	[ -z "$command" ] || sed -i "$command" "$path"
	if [ -n "$command" ] && cmp -s "$tmp/before" "$path"; then
		status=3
	else
		fails
		status=$?
	fi
	if [ -z "$command" ]; then
		[ $status = 1 ] && status=0 || status=4
	fi
	case $status in
	0) echo "ok $n - $file: $what" ;;
	*)
		failed=$((failed + 1))
		echo "not ok $n - $file: $what # $(echo "noticed by none,does not build,nothing to break,the control fails" | cut -d, -f$status)"
		tail -5 "$tmp/said" | sed 's/^/# /'
		;;
	esac
done < "$tmp/list"
echo "1..$n"
[ $failed = 0 ] && [ $n -gt 0 ]
