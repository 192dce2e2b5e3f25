#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# jf-sdt and files that are not what it expects: compiled headers, devices, objects linked in parts, the same one twice.
# usage: calls_files.sh BUILDS
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
builds=$1
user=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../tap.sh
. "$user/test/tap.sh"
tap_begin
CC=${CC:-cc}
CXX=${CXX:-c++}
tool=${JF_SDT:-$builds/jf-sdt-san}
link="-L$builds -ljumpfunc -Wl,-rpath,$builds"
cd "$tmp" || exit 1

cat > hidden.c <<'END'
void __dtrace_a___b(int x);
static int number = 5;
__attribute__((constructor)) static void begins(void) { __dtrace_a___b(number); }
END
cat > other.c <<'END'
void __dtrace_a___c(void);
int other(void);
int other(void) { __dtrace_a___c(); return 7; }
END
echo 'int plain(void); int plain(void) { return 8; }' > plain.c
echo 'int main(void) { return 0; }' > main.c
"$CC" -O2 -c hidden.c other.c plain.c main.c || exit 1

# As configure scripts try options: a link to it stands for it, so that no test removes the device.
to_null()
{
	ln -sf /dev/null null.o && "$tool" --run "$CC" -O2 -c hidden.c -o null.o && [ -L null.o ]
}

compiled_header()
{
	echo 'int plain(void);' > head.h && "$tool" --run "$CC" -x c-header -c head.h -o head.h.gch && [ -s head.h.gch ]
}

# The file that one of them was is not what all of them were.
undo_of_parts()
{
	cp hidden.o h.o && cp other.o o.o && "$tool" h.o o.o && "$CC" -r -nostdlib -o parts.o h.o "$1" || return 1
	cp parts.o parts.old
	"$tool" --undo parts.o 2> err
	[ $? = 1 ] && grep -q 'has been linked with others' err && cmp parts.o parts.old && ! "$tool" --list parts.o &&
		! "$tool" --verify parts.o && "$tool" parts.o && cmp parts.o parts.old
}

# Calls in what was not changed must not be passed over.
half_changed()
{
	cp hidden.o h.o && "$tool" h.o && "$CC" -r -nostdlib -o half.o h.o other.o && ! "$tool" half.o 2> err &&
		grep -q 'has been linked with others' err
}

# Without global names, objects with the same content can be linked together; each has its own sites.
cat > count.c <<'END'
#include <jumpfunc/sdt.h>
static int hits;
static void tell(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)data;
	(void)sdt;
	hits += words[0] == 5;
}
int main(int argc, char **argv)
{
	extern void (*const __start_calls[])(void), (*const __stop_calls[])(void);
	void (*const *call)(void);

	(void)argv;
	if (jf_sdt_register("a:b", tell, 0) != 1)
		return 2;
	for (call = __start_calls; call < __stop_calls; call++)
		(*call)();
	return hits != argc;
}
END
cat > same.c <<'END'
void __dtrace_a___b(int x);
static volatile int number = 5;
static int other(void) { return number; }
static void called(void) { __dtrace_a___b(other()); number = 5; }
static void (*const call)(void) __attribute__((__section__("calls"), __used__)) = called;
END
same_twice()
{
	# shellcheck disable=SC2086
	mkdir -p "$1.d" && "$1" -O2 -c same.c -o "same-$1.o" && "$tool" "same-$1.o" && cp "same-$1.o" "$1.d/same.o" &&
		"$CC" -O2 -I"$user/../include" -c count.c &&
		"$CC" -o same count.o "same-$1.o" "$1.d/same.o" $link && ./same once-more && JUMPFUNC_TRAP=always ./same once-more
}

# Read in several steps, for which memory grows where it is, or moves: under the sanitizers it always moves.
large()
{
	mkdir -p large && rm -f large/*.o || return 1
	for n in $(seq 30); do
		{ echo '.text; .globl f; .type f, @function; f: call __dtrace_a___b; ret; .size f, . - f'
		echo ".data; .skip $((n * 30000)), 1"; } | "$CC" -x assembler -c - -o "large/$n.o" || return 1
	done
	"$builds/jf-sdt" large/*.o && [ "$("$builds/jf-sdt" --list large/*.o | wc -l)" = 30 ]
}

# All or none, also if a file cannot be put in its place after another one was.
cat > second.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");

	if (strstr(to, "/bad.o")) {
		errno = EPERM;
		return -1;
	}
	return real(from, to);
}
END
half_renamed()
{
	mkdir -p half && cp hidden.o half/good.o && cp other.o half/bad.o && cp hidden.o half/third.o &&
		touch -d '2001-02-03 04:05:06' half/good.o && "$CC" -O2 -shared -fPIC -o second.so second.c -ldl || return 1
	LD_PRELOAD=./second.so "$builds/jf-sdt" half/good.o half/bad.o half/third.o 2> err
	[ $? = 1 ] && cmp half/good.o hidden.o && cmp half/bad.o other.o && cmp half/third.o hidden.o &&
		[ "$(stat -c %Y half/good.o)" = "$(date -d '2001-02-03 04:05:06' +%s)" ] && [ "$(ls half)" = "$(printf 'bad.o\ngood.o\nthird.o')" ]
}

# What ends it, while one file is in place and the next is not, does so when all is done.
cat > ends.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
	int err = real(from, to);

	raise(SIGINT);
	raise(SIGTERM);
	return err;
}
END
interrupted()
{
	mkdir -p ends && cp hidden.o ends/a.o && cp other.o ends/b.o && "$CC" -O2 -shared -fPIC -o ends.so ends.c -ldl || return 1
	LD_PRELOAD=./ends.so "$builds/jf-sdt" ends/a.o ends/b.o
	[ $? -gt 128 ] && [ "$(ls ends)" = "$(printf 'a.o\nb.o')" ] && "$tool" --verify ends/a.o ends/b.o
}

# As on a disk that is full: the second file is larger than files may be. Said, and not by a signal.
no_room()
{
	mkdir -p full && cp hidden.o full/a.o && seq 1 9000 | awk '{print "void __dtrace_a___p" $1 "(void); void f" $1 \
		"(void); void f" $1 "(void) { __dtrace_a___p" $1 "(); }"}' > large.c && "$CC" -c large.c -o full/b.o && cp full/b.o large.o ||
		return 1
	(ulimit -f 2000 && "$builds/jf-sdt" full/a.o full/b.o 2> err)
	[ $? = 1 ] && grep -q '^jf-sdt: full/b.o: File too large$' err && cmp full/a.o hidden.o && cmp full/b.o large.o &&
		[ "$(ls full)" = "$(printf 'a.o\nb.o')" ]
}

# As long as names may be.
long_name()
{
	longest=$(printf '%0253d' 0).o && cp hidden.o "$longest" && "$tool" "$longest" && "$tool" --verify "$longest"
}

# Made by root, a file stays its user's.
owner_stays()
{
	cp hidden.o owned.o && chmod 640 owned.o && chown 12:34 owned.o && cp other.o other-owner.o && "$tool" owned.o other-owner.o &&
		[ "$(stat -c %u:%g:%a owned.o)" = 12:34:640 ] && "$tool" --undo owned.o && [ "$(stat -c %u:%g:%a owned.o)" = 12:34:640 ]
}

# What is refused must not be linked next time, also where a compiler can write the file and no one can remove it.
cat > keeps.c <<'END'
#include <errno.h>
int unlink(const char *name)
{
	(void)name;
	errno = EACCES;
	return -1;
}
END
cannot_remove()
{
	echo 'void __dtrace_a___b(void); void (*p)(void) = __dtrace_a___b;' > refused.c && "$CC" -O2 -shared -fPIC -o keeps.so keeps.c &&
		"$CC" -c refused.c -o refused.o || return 1
	LD_PRELOAD=./keeps.so "$builds/jf-sdt" --run true -c refused.c -o refused.o
	[ $? = 1 ] && [ ! -s refused.o ]
}

# With --run, files that have nothing for us stay, whatever they are.
other_machine()
{
	"$tool" --run "$CC" -m32 -O2 -c plain.c -o plain32.o && [ -s plain32.o ] || return 1
	! "$tool" --run "$CC" -m32 -O2 -c other.c -o other32.o && [ ! -e other32.o ]
}

many_sections()
{
	seq 1 66000 | awk '{print ".section s" $1 ",\"a\"\n.byte 0"}' > many.s
	"$tool" --run "$CC" -c many.s -o many.o && [ -s many.o ] || return 1
	echo '.text; call __dtrace_a___b' >> many.s
	! "$tool" --run "$CC" -c many.s -o many.o 2> err && grep -q 'too many sections' err && [ ! -e many.o ]
}

# A command line in a file, as CMake and Meson write them where it is long; such a file may name another one.
from_file()
{
	rm -f at.o && printf -- '-O2 -c "%s/with \\"blank.c"\n' "$tmp" > at.args && cp other.c 'with "blank.c' &&
		echo "-o 'at.o' @at.args" > more.args && "$tool" --run "$CC" @more.args && "$tool" --verify at.o || return 1
	# One that is not there is for the compiler to complain about.
	! "$tool" --run "$CC" -c other.c @nowhere.args
}

# A weak function alone in its section, of which some assemblers write no symbol: others may define it, the same object, too.
cat > weak.c <<'END'
void __dtrace_a___b(int x);
int weak(int x);
__attribute__((weak)) int weak(int x) { __dtrace_a___b(x); return x + 1; }
END
cat > strong.c <<'END'
#include <jumpfunc/sdt.h>
static int hits;
static void tell(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)data;
	(void)sdt;
	hits += words[0] == 5;
}
int weak(int x);
int main(void)
{
	if (jf_sdt_register("a:b", tell, 0) != 1)
		return 2;
	weak(5);
	if (hits != 1 || jf_sdt_unregister("a:b", tell, 0) != 1)
		return 3;
	weak(5);
	return hits != 1;
}
END
weak_twice()
{
	for o in -fno-function-sections -ffunction-sections; do
		# shellcheck disable=SC2086
		mkdir -p weak.d && "$1" -O2 -fno-asynchronous-unwind-tables $o -c weak.c && "$tool" weak.o && cp weak.o weak.d/ &&
			"$CC" -O2 -I"$user/../include" -c strong.c && "$CC" -o weak strong.o weak.o weak.d/weak.o $link && ./weak &&
			JUMPFUNC_TRAP=always ./weak && "$CC" -r -nostdlib -o both.o weak.o weak.d/weak.o &&
			"$CC" -Wl,--gc-sections -o weak strong.o both.o $link && ./weak && "$CC" -o weak strong.o weak.o $link && ./weak || return 1
	done
}

# A changed object and a copy of it in which a function has another name; in both is an inline function of C++, of which
# the linker keeps one. Each function calls its probe, and the inline one, which calls that as well.
cat > copied.cc <<'END'
extern "C" void __dtrace_a___b(int x);
extern "C" int first(int x);
extern "C" __attribute__((noinline)) inline int both(int x) { __dtrace_a___b(x); return x; }
int first(int x) { __dtrace_a___b(x); return both(x) + 1; }
END
cat > copies.c <<'END'
#include <jumpfunc/sdt.h>
static int hits, bad;
static void tell(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)data;
	(void)sdt;
	hits++;
	bad += words[0] != 5;
}
int first(int x);
int second(int x);
int main(void)
{
	if (first(5) != 6 || second(5) != 6 || hits || jf_sdt_register("a:b", tell, 0) != 1)
		return 2;
	if (first(5) != 6 || hits != 2)
		return 3;
	if (second(5) != 6 || hits != 4)
		return 4;
	if (jf_sdt_unregister("a:b", tell, 0) != 1)
		return 5;
	first(5);
	second(5);
	return bad || hits != 4;
}
END
copies_work()
{
	# shellcheck disable=SC2086
	"$@" -o copies $link && ./copies && JUMPFUNC_TRAP=always ./copies && return
	echo "not: $*"
	return 1
}

# renamed_copy COMPILER OPTIONS...
renamed_copy()
{
	"$@" -O2 -c copied.cc -o first.o && "$tool" first.o && objcopy --redefine-sym first=second first.o second.o &&
		"$CC" -O2 -I"$user/../include" -c copies.c && rm -f copied.a && ar rcs copied.a first.o second.o || return 1
	for ld in bfd gold lld; do
		have "ld.$ld" || continue
		for how in "" -Wl,--gc-sections -Wl,--icf=all; do
			[ "$ld,$how" != "bfd,-Wl,--icf=all" ] || continue
			# shellcheck disable=SC2086
			copies_work "$CC" "-fuse-ld=$ld" $how copies.o first.o second.o &&
				copies_work "$CC" "-fuse-ld=$ld" $how copies.o second.o first.o &&
				copies_work "$CC" "-fuse-ld=$ld" $how copies.o copied.a || return 1
		done
		"$CC" "-fuse-ld=$ld" -r -nostdlib -o copied-parts.o first.o second.o &&
			copies_work "$CC" "-fuse-ld=$ld" -Wl,--gc-sections copies.o copied-parts.o || return 1
	done
}

# What clang writes for linkers about other functions: their numbers are others then.
cat > taken.c <<'END'
void __dtrace_a___b(int x);
void probe(int x);
void probe(int x) { __dtrace_a___b(x); }
__attribute__((noinline)) int one(void) { return 41; }
__attribute__((noinline)) int two(void) { return 41; }
int main(void)
{
	int (*volatile first)(void) = one, (*volatile second)(void) = two;

	return first == second;
}
END
addresses_stay()
{
	# shellcheck disable=SC2086
	clang -O2 -fno-asynchronous-unwind-tables -ffunction-sections -faddrsig -w -c taken.c && "$tool" taken.o &&
		clang -fuse-ld=lld -Wl,--icf=safe -o taken taken.o $link && ./taken
}

cat > profile.s <<'END'
	.text
	.globl f, g
	.type f, @function
	.type g, @function
f:	call g
	ret
g:	push %rax
	call __dtrace_a___b@PLT
	pop %rax
	ret
	.cg_profile f, g, 10
END
weights_of()
{
	readelf -rW "$1" | sed -n '/call-graph-profile/,/^$/s/.* R_X86_64_NONE  *//p'
}
weights_stay()
{
	clang -c profile.s && weights_of profile.o > weights.old && [ -s weights.old ] && "$tool" profile.o &&
		weights_of profile.o | diff weights.old -
}

# No FIFO is waited for, be it an object or a file of arguments. The latter is refused before the compiler runs, which
# would take what is in it.
fifos()
{
	mkfifo fifo.o && cp plain.c started.c && rm -f started.o || return 1
	timeout 20 "$tool" fifo.o 2> err
	[ $? = 1 ] && grep -q '^jf-sdt: fifo.o: is no file$' err || return 1
	timeout 20 "$tool" --run "$CC" -c started.c @fifo.o 2> err
	[ $? = 1 ] && grep -q '^jf-sdt: @fifo.o: is no file$' err && [ ! -e started.o ]
}

check "an output that is a device" to_null
check "a FIFO" fifos
check "a file that cannot be put in its place" half_renamed
check "signals while files are replaced" interrupted
check "no room for a file" no_room
check "a name that is as long as can be" long_name
if [ "$(id -u)" = 0 ]; then
	check "a file's owner" owner_stays
else
	skip "a file's owner" "only root can give files to others"
fi
check "a refused object that cannot be removed" cannot_remove
check "large files" large
if "$CC" -m32 -c plain.c -o plain32.o 2> /dev/null; then
	check "an object for another machine" other_machine
else
	skip "an object for another machine" "$CC has no -m32"
fi
check "an object with 66,000 sections" many_sections
check "a command line in a file" from_file
check "an output that is a compiled header" compiled_header
check "--undo of two changed objects in one" undo_of_parts o.o
check "--undo of a changed object and another in one" undo_of_parts plain.o
check "a changed object and one that was not, in one" half_changed
check "two objects with the same content" same_twice "$CC"
check "the same weak function twice" weak_twice "$CC"
bare="-fno-exceptions -fno-asynchronous-unwind-tables"
for o in "" -ffunction-sections "$bare" "-ffunction-sections $bare"; do
	# shellcheck disable=SC2086
	check "a copy with another name${o:+, $o}" renamed_copy "$CXX" $o
	if have clang++; then
		# shellcheck disable=SC2086
		check "a copy with another name, by clang${o:+, $o}" renamed_copy clang++ $o
	fi
done
if have clang && have ld.lld; then
	check "functions whose addresses are compared, lld --icf=safe" addresses_stay
	check "weights of calls, by clang" weights_stay
fi
if have clang; then
	check "the same weak function twice, by clang" weak_twice clang
	check "two objects with the same content, by clang" same_twice clang
fi
tap_end
