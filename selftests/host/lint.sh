#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The checks of harness/lint that are this project's own see what they are there for: each is given a
# small tree that is right, and the same tree with one thing wrong. Prints TAP.
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=selftests/host/tap.sh
. "$TOP/selftests/host/tap.sh"
# What the caller builds is not checked here.
unset JF_BUILD

# tree: a new one, that is right
tree()
{
	rm -rf "$work/t"
	mkdir -p "$work/t"/{docs,core,x86,kernel/demo,samples,selftests/modules,include/jumpfunc/detail,LICENSES,.reuse,debian}
	cd "$work/t" || exit
	git init -q .
	cat >docs/design.md <<-'END'
		# Design
		| room | files | job | may call |
		|---|---|---|---|
		| demo | `kernel/demo/*` | uses it | below |
		| core | `core/*` | decides | arch, public |
		| arch | `x86/*` | writes | public |
		| public | `include/jumpfunc/*` | is for all | nothing |
	END
	printf '%s\n' '#include "core/core.h"' 'int demo(void) { return core(); }' >kernel/demo/demo.c
	echo 'int core(void);' >core/core.h
	printf '%s\n' '#include "core/core.h"' '#include "x86/x86.h"' 'int core(void) { return arch(); }' >core/core.c
	printf '%s\n' '#include <jumpfunc/detail/macros.h>' 'int arch(void);' >x86/x86.h
	printf '%s\n' '#include "x86/x86.h"' 'int arch(void) { return JF_ONE; }' >x86/x86.c
	echo '#include <jumpfunc/detail/macros.h>' >include/jumpfunc/dynfunc.h
	echo '#define JF_ONE 1' >include/jumpfunc/detail/macros.h
	echo '#include <jumpfunc/dynfunc.h>' >samples/sample.c
	echo '#include <jumpfunc/dynfunc.h>' >selftests/modules/test.c
	find . -name '*.[ch]' -exec sed -i '1i // SPDX-License-Identifier: GPL-2.0' {} +
	sed -i '1s/.*/\/\/ SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1/' include/jumpfunc/*.h include/jumpfunc/detail/*.h
	printf '%s\n' 'Format: x' '' 'Files: *' 'License: GPL-2.0' >.reuse/dep5
	printf '%s\n' 'Format: x' '' 'Files: *' 'License: GPL-2' '' 'Files: include/jumpfunc/*' 'License: GPL-2 or LGPL-2.1' \
		'' 'License: GPL-2' ' text' >debian/copyright
	touch LICENSES/GPL-2.0.txt LICENSES/LGPL-2.1.txt
}

# build: the results of harness/build.sh
build()
{
	local f
	mkdir -p build/any/src
	touch build/any/info
	find . -name '*.[ch]' -not -path './build/*' -exec cp --parents {} build/any/src \;
	for f in kernel/demo/demo core/core x86/x86; do
		gcc -I. -Iinclude -c -o "build/any/src/$f.o" "$f.c" || exit
	done
}

# library: a tree with one, whose parts are right
library()
{
	tree
	mkdir -p user/lib
	printf '/*\n * From top to bottom; a part uses those below it:\n%b */\n' \
		' *   high.c\tuses mid\n *   mid.c\tuses low\n *   low.c\tuses nothing\n' >user/lib/lib.h
	echo 'int mid(void); int high(void) { return mid(); }' >user/lib/high.c
	echo 'int low(void); int mid(void) { return low(); }' >user/lib/mid.c
	echo 'int low_data; int low(void) { return low_data; }' >user/lib/low.c
	build_library
}

build_library()
{
	local f
	mkdir -p build/user/lib
	for f in user/lib/*.c; do
		gcc -c -o "build/${f%.c}.o" "$f" || exit
	done
}

# finds REGEXP DESCRIPTION COMMAND...
finds()
{
	local want=$1 what=$2 out rc; shift 2
	out=$("$@" 2>&1); rc=$?
	[ $rc = 1 ] && grep -qE "$want" <<<"$out"
	result $? "$what" "status $rc: $out"
}

# passes DESCRIPTION COMMAND...
passes()
{
	local what=$1 out rc; shift
	out=$("$@" 2>&1); rc=$?
	[ $rc = 0 ] && [ -z "$out" ]
	result $? "$what" "status $rc: $out"
}

rooms=("$TOP/harness/lint/rooms" --tree "$work/t")
licences=("$TOP/harness/lint/licences" "$work/t")
barriers=("$TOP/harness/lint/barriers" "$work/t")
parts=("$TOP/harness/lint/parts" --tree "$work/t")
engine=("$TOP/harness/lint/engine" --tree "$work/t")

tree; build
passes "rooms: a tree that is right" "${rooms[@]}"

tree; echo '#include "demo/demo.h"' >>x86/x86.c; touch kernel/demo/demo.h
finds '^x86/x86.c:[0-9]+: arch must not include kernel/demo/demo.h of demo' "rooms: an include that leads upwards" "${rooms[@]}" includes

tree; echo '#include "../core/core.h"' >>x86/x86.c
finds 'must not include core/core.h of core' "rooms: the same by a relative path" "${rooms[@]}" includes

tree; echo '#include <demo/demo.h>' >>x86/x86.c; touch kernel/demo/demo.h
finds '^x86/x86.c:[0-9]+: arch must not include kernel/demo/demo.h of demo' "rooms: the same in angle brackets" "${rooms[@]}" includes

tree; sed -i 's/arch, public/public/' docs/design.md
finds '^core/core.c:.* core must not include x86/x86.h' "rooms: an include of a room below that is not allowed" "${rooms[@]}" includes

tree; echo 'int core(void); int up(void) { return core(); }' >>x86/x86.c; build
finds '^x86/x86.c: arch must not use core of core/core.c' "rooms: a call that leads upwards, without an include" "${rooms[@]}" calls
finds 'core/core.c, x86/x86.c: they use each other' "rooms: ... is a circle" "${rooms[@]}" calls

tree; build; echo '/* changed */' >>x86/x86.c
"${rooms[@]}" calls >/dev/null; [ $? = 4 ]
result $? "rooms: a build of other sources is not taken for this one's"

tree; sed -i 's/| arch | \(.*\) | public |/| arch | \1 | core |/' docs/design.md
finds 'arch may call core, which is not below it' "rooms: a table that allows a circle" "${rooms[@]}" includes

tree; sed -i '/^| demo/d' docs/design.md
finds '^kernel/demo/demo.c: no room has it' "rooms: a source that the table does not know" "${rooms[@]}" includes

tree; sed -i 's,`x86/\*`,&\, `core/core.c`,' docs/design.md
finds 'arch has core/core.c, a part of a folder' "rooms: a room in another one's folder" "${rooms[@]}" folders

tree; sed -i 's,`x86/\*`,&\, `core/*`,' docs/design.md
finds 'core and arch both have core/\*' "rooms: two rooms in one folder" "${rooms[@]}" folders

tree; sed -i 's,`x86/\*`,&\, `x86/gone.c`,' docs/design.md
finds 'x86/gone.c, which is not there' "rooms: a file that only the table knows" "${rooms[@]}" includes

for f in samples/sample.c selftests/modules/test.c kernel/demo/demo.c; do
	tree; echo '#include <jumpfunc/detail/macros.h>' >>$f
	finds "^$f:.*what is in detail/" "rooms: detail/ in $f" "${rooms[@]}" includes
done

tree; echo '#include "core/core.h"' >>samples/sample.c
finds '^samples/sample.c:.*what any module can use' "rooms: a private header in a sample" "${rooms[@]}" includes

for f in bench/bench.h selftests/modules/test.h samples/sample.h user/lib/lib.h; do
	tree; mkdir -p ${f%/*}; touch $f; echo "#include \"$f\"" >>core/core.c
	finds "^core/core.c:[0-9]+: includes $f, which is in no room" "rooms: ${f%%/*} in the module" "${rooms[@]}" includes
done

tree; touch include/jumpfunc/key.hh; echo '#include "core/core.h"' >>include/jumpfunc/key.hh
finds '^include/jumpfunc/key.hh:1: public must not include core/core.h' "rooms: ... in C++" "${rooms[@]}" includes

tree; printf '#define UP "demo/demo.h"\n#include UP\n' >>x86/x86.c
finds '^x86/x86.c:[0-9]+: includes what a macro names' "rooms: ... by a macro" "${rooms[@]}" includes

tree; echo '#include "core/two.h"' >>core/core.h; echo '#include "core/core.h"' >core/two.h
sed -i 's,`core/\*`,&\, `core/two.h`,' docs/design.md
finds 'core/core.h, core/two.h: they include each other' "rooms: a circle of headers" "${rooms[@]}" includes

tree; sed -i '/^| core/s/ |$/; not `x86\/x86.h` |/' docs/design.md
finds '^core/core.c:.* core must not include x86/x86.h' "rooms: a header that the table excepts" "${rooms[@]}" includes

tree; build; rm -f build/*/src/core/core.o
"${rooms[@]}" calls >/dev/null; [ $? = 4 ]
result $? "rooms: half a build is none"

tree; build; find . -name core.o -exec touch -d '1 hour ago' {} +
"${rooms[@]}" calls >/dev/null; [ $? = 4 ]
result $? "rooms: ... nor is one of older sources"

tree; echo '#if LINUX_VERSION_CODE > 1' >>core/core.c
finds '^core/core.c:[0-9]+: LINUX_VERSION_CODE' "rooms: a test of the kernel's version" "${rooms[@]}" versions

tree; echo '/* LINUX_VERSION_CODE */' >>core/core.c
passes "rooms: ... but not in a comment" "${rooms[@]}" versions

tree; echo 'int __jf_core(int x) { return x; }' >>core/core.c
finds '^core/core.c:[0-9]+: __jf_core: no public header' "rooms: a name for macros that no macro uses" "${rooms[@]}" names
echo 'int __jf_core(int x);' >>include/jumpfunc/dynfunc.h
passes "rooms: ... but not one of a public header" "${rooms[@]}" names

tree
passes "engine: a tree that is right" "${engine[@]}"

tree; mkdir -p common/x86 kernel/arch/x86 user/lib
for f in common/x86/protocol.h kernel/arch/x86/xmc.c user/lib/{patch,text}.c; do echo 'void jf_proto_live(void) { *p = JF_OPCODE_INT3; }' >>"$f"; done
echo 'bool f(u8 *p) { return *p == JF_OPCODE_INT3 || JF_OPCODE_INT3 != p[1]; /* int3, 0xcc */ }' >>core/core.c
passes "engine: the protocol, its writers, and what only compares" "${engine[@]}"

for line in 'void f(void) { jf_proto_live(p, n); }' 'static void jf_world_sync(void) { }' \
	'#include "common/x86/protocol.h"'; do
	tree; echo "$line" >>core/core.c
	finds '^core/core.c:[0-9]+: .*the steps of the protocol' "engine: steps in another source: $line" "${engine[@]}"
done

for line in 'void f(u8 *p) { *p = 0xcc; }' 'void f(u8 *p) { p[0] = JF_OPCODE_INT3; }' 'void f(void) { asm("int3"); }' \
	'void f(void) { asm("nop\n\tint3"); }'; do
	tree; mkdir -p user/lib; printf '%s\n' "$line" >user/lib/other.c
	finds '^user/lib/other.c:1: a breakpoint' "engine: another one writes breakpoints: $line" "${engine[@]}"
	tree; printf '%s\n' "$line" >selftests/modules/test.c
	passes "engine: ... but a test may" "${engine[@]}"
done

tree; for f in include/jumpfunc/dynfunc.h user/lib.h; do mkdir -p ${f%/*}; echo 'struct jf_func { int x; };' >>$f; done
finds '^user/lib.h:1: struct jf_func is defined by more than one' "engine: a type of users, a second time" "${engine[@]}"

tree; mkdir -p kernel/arch/x86; echo 'int x;' >kernel/arch/x86/images.S
finds '^kernel/arch/x86/images.S: .*for nothing' "engine: an exception that is none any more" "${engine[@]}"

library
passes "parts: a library that is right" "${parts[@]}"

library; echo 'int high(void); int up(void) { return high(); }' >>user/lib/low.c; build_library
finds '^user/lib/low.c: uses high of high.c, which is above it' "parts: a call that leads upwards" "${parts[@]}"
finds '^user/lib/low.c: in a circle: low -> high -> mid -> low$' "parts: ... is a circle, by way of a third one" "${parts[@]}"

library; echo 'int high_data;' >>user/lib/high.c
echo 'extern int high_data; int *up(void) { return &high_data; }' >>user/lib/low.c; build_library
finds '^user/lib/low.c: uses high_data of high.c' "parts: a variable of one above" "${parts[@]}"

library; echo 'int up(void) __attribute__((__weak__)); int ask(void) { return up ? up() : 0; }' >>user/lib/low.c
echo 'int up(void) { return 1; }' >>user/lib/high.c; build_library
finds '^user/lib/low.c: uses up of high.c' "parts: ... and a weak symbol" "${parts[@]}"

library; sed -i '/mid\.c/d' user/lib/lib.h; build_library
finds '^user/lib/mid.c: not in the list' "parts: a source that the list does not know" "${parts[@]}"

library; rm user/lib/mid.c
finds 'lists mid.c, which is not there' "parts: a part that only the list knows" "${parts[@]}"

library; sed -i 's/low\.c.*/&\n *   mid.c\tagain/' user/lib/lib.h; build_library
finds 'lists mid.c twice' "parts: a part that is listed twice" "${parts[@]}"

library; touch user/lib/high.h; echo '#include "high.h"' >>user/lib/low.c; build_library
finds '^user/lib/low.c:2: includes user/lib/high.h, which is above it' "parts: the header of one above" "${parts[@]}"

library; touch user/lib/high.h; echo '#include "user/lib/high.h"' >user/lib/low.h; build_library
finds '^user/lib/low.h:1: includes user/lib/high.h' "parts: ... by its path, in a header" "${parts[@]}"

library; touch user/lib/low.h user/lib/mid.h; printf '#include "low.h"\n#include "mid.h"\n' >>user/lib/high.c; build_library
passes "parts: ... but those of parts below are right" "${parts[@]}"

library; touch user/lib/high.h; sed -i 's/low\.c.*/&\n *   high.h\tfor all/' user/lib/lib.h
echo '#include "high.h"' >>user/lib/low.c; build_library
passes "parts: a header with a line of its own has that place" "${parts[@]}"
library; touch user/lib/high.h; sed -i 's/low\.c.*/high.h\tfor two\n *   &/' user/lib/lib.h
echo '#include "high.h"' >>user/lib/low.c; build_library
finds '^user/lib/low.c:2: includes user/lib/high.h' "parts: ... and not below it" "${parts[@]}"

library; sed -i 's/low\.c.*/&\n *   gone.h\tfor all/' user/lib/lib.h
finds 'lists gone.h, which is not there' "parts: a header that only the list knows" "${parts[@]}"

library; mkdir -p user/agent; sed 's/lib/agent/' user/lib/lib.h >user/agent/agent.h; cp user/lib/*.c user/agent; touch user/agent/apart.h
finds '^user/agent/apart.h: not in the list' "parts: a header of the agent without a place" "${parts[@]}"

library; touch -d '1 minute' user/lib/low.c
"${parts[@]}" >/dev/null; [ $? = 4 ]
result $? "parts: objects that are older than their sources are not checked"

library; touch -d '1 minute' user/lib/lib.h
"${parts[@]}" >/dev/null; [ $? = 4 ]
result $? "parts: ... or than a header"

library; rm build/user/lib/mid.o
"${parts[@]}" >/dev/null; [ $? = 4 ]
result $? "parts: ... nor a build that is not whole"

library; sed -i 's/From top to bottom/From left to right/' user/lib/lib.h
finds 'has no list' "parts: no list at all" "${parts[@]}"

# recorder SDT: and the second library, in which sdt.c has this text
recorder()
{
	library
	mkdir -p user/trace build/user/trace
	printf '/*\n * From top to bottom; a part uses those below it:\n%b */\n' \
		' *   record.c\tuses sdt\n *   sdt.c\tis used\n *   env.c\tuses nothing\n' >user/trace/trace.h
	echo 'int sdt(void); int record(void) { return sdt(); }' >user/trace/record.c
	echo "$1" >user/trace/sdt.c
	echo 'int env(void) { return 0; }' >user/trace/env.c
	for f in user/trace/*.c; do gcc -c -o "build/${f%.c}.o" "$f" || exit; done
}
recorder 'int sdt(void) { return 0; }'
passes "parts: two libraries" "${parts[@]}"
recorder 'int record(void); int sdt(void) { return record(); }'
finds '^user/trace/sdt.c: uses record of record.c, which is above it' "parts: ... and a use upwards in the second one" "${parts[@]}"
recorder 'int sdt(void) { return 0; }'; sed -i 's/env\.c/..\/lib\/low.c/' user/trace/trace.h; rm user/trace/env.c; touch build/user/trace/*.o
"${parts[@]}" >/dev/null; [ $? = 4 ]
result $? "parts: ... and a part of another folder, without its object"
cp build/user/lib/low.o build/user/trace
passes "parts: ... with it" "${parts[@]}"

recorder 'int sdt(void) { return 0; }'; mkdir -p user/trace/tool/types; sed 's/high/read/' user/lib/lib.h >user/trace/tool/types/read.h
touch user/trace/tool/types/read.c user/trace/tool/types/low.c; echo '#include "low.h"' >user/trace/tool/types/mid.c
touch user/trace/tool/types/low.h user/trace/tool/types/mid.h
passes "parts: a folder without objects" "${parts[@]}"
echo '#include "mid.h"' >user/trace/tool/types/low.h
finds '^user/trace/tool/types/low.h:1: includes user/trace/tool/types/mid.h' "parts: ... whose includes lead upwards" "${parts[@]}"

tree
passes "licences: a tree that is right" "${licences[@]}"

tree; sed -i 1d core/core.c
finds '^core/core.c: no SPDX' "licences: a source without a licence" "${licences[@]}"

tree; sed -i '1s/GPL-2.0/MIT/' core/core.c
finds 'no LICENSES/MIT.txt' "licences: a licence without a text" "${licences[@]}"

tree; sed -i '1s/ OR LGPL-2.1//' include/jumpfunc/dynfunc.h
finds '^include/jumpfunc/dynfunc.h: GPL-2.0, where' "licences: a public header that is under the GPL alone" "${licences[@]}"

# barriers_of FILE LINE...: the tree, and at the end of FILE these lines
barriers_of()
{
	local f=$1; shift
	tree; mkdir -p "${f%/*}"; printf '%s\n' "$@" >>"$f"
}
store='__atomic_store_n(p, 1, __ATOMIC_RELEASE);'

barriers_of core/core.c 'void f(int *p)' '{' '	/* Pairs with g(). */' "	$store" '}'
passes "barriers: one that names its partner" "${barriers[@]}"

barriers_of core/core.c '/*' ' * It pairs' ' * with g().' ' */' 'void f(int *p)' '{' '' '' '' '' '' "	$store" '}'
passes "barriers: ... in front of its function" "${barriers[@]}"

barriers_of core/core.c 'void f(int *p)' '{' "	$store	/* no partner: it is for the compiler */" '}'
passes "barriers: one that has none, and says so" "${barriers[@]}"

barriers_of core/core.c 'void f(int *p)' '{' '	/* smp_mb() */' '	__atomic_store_n(p, 1, __ATOMIC_RELAXED);' \
	'	puts("smp_mb()");' '}'
passes "barriers: what orders nothing, and what is only text" "${barriers[@]}"

barriers_of selftests/modules/test.c 'void f(void)' '{' '	smp_mb();' '}'
passes "barriers: a test is left out" "${barriers[@]}"

for op in 'smp_mb()' 'smp_wmb()' 'smp_store_release(p, 1)' '*p = smp_load_acquire(p)' 'xchg_release(p, 1)' \
	'atomic_thread_fence(memory_order_seq_cst)' 'atomic_store_explicit(p, 1, memory_order_release)' \
	'*p = __atomic_load_n(p, __ATOMIC_ACQUIRE)' '__atomic_signal_fence(__ATOMIC_SEQ_CST)'; do
	barriers_of core/core.c 'void f(int *p)' '{' '	/* Last. */' "	$op;" '}'
	finds '^core/core.c:[0-9]+: .*no comment names its partner' "barriers: $op without one" "${barriers[@]}"
done

for f in user/one.c user/lib/one.c user/one.h include/jumpfunc/detail/macros.h; do
	barriers_of $f 'static inline void f(int *p)' '{' "	$store" '}'
	finds "^$f:[0-9]+: " "barriers: one in $f" "${barriers[@]}"
done

barriers_of core/core.c 'void f(int *p)' '{' '	/* Pairs with g(). */' '	*p = 0;' '}' '' 'void g(int *p)' '{' "	$store" '}'
finds '^core/core.c:[0-9]+: ' "barriers: the comment of another function" "${barriers[@]}"

barriers_of core/core.c '/* Pairs with g(). */' 'int x;' 'void f(int *p)' '{' "	$store" '}'
finds '^core/core.c:[0-9]+: ' "barriers: a comment in front of something else" "${barriers[@]}"

barriers_of core/core.c 'void f(int *p)' '{' '	/* Pairs with g(). */' '' '' '' '' '' "	$store" '}'
finds '^core/core.c:[0-9]+: ' "barriers: a comment that is too far away" "${barriers[@]}"

# words_of LINE...: a file of these
words_of() { printf '%s\n' "$@" >"$work/text.c"; }
words=("$TOP/harness/lint/words" "$work/text.c")
words_of '/* A task that has the lock, and users who wait, in that order. */' '/* the whole */'
passes "words: actors have names" "${words[@]}"
for line in '/* Whoever waits */' '/* Somebody waits */' '/* he waits */' '/* the byte behind it */' '/* tells who waits */'; do
	words_of "$line"
	finds 'text.c:1: ' "words: $line" "${words[@]}"
done
words_of '/* those' ' * who wait */'
passes "words: ... also at the end of the line before" "${words[@]}"

# prose_of FILE LINE...: a tree with this file
prose_of()
{
	tree
	mkdir -p harness/lint
	cp "$TOP/.editorconfig" .
	printf '%s\n' '' '## One word for one thing' '' '| not | but |' '|---|---|' '| must not, shall | must |' >>docs/design.md
	printf '%s\n' 'puts.h' >harness/lint/words.names
	: >harness/lint/words.most
	printf '%s\n' "${@:2}" >"$1"
}
# most LINE: the only number that is allowed
most() { echo "$1" >harness/lint/words.most; }
prose=("$TOP/harness/lint/words" --tree "$work/t")
clause='/* The text is freed after what was replaced is left by all tasks. */'
prose_of core/core.c '/* The replaced function is left. See core() and core.h, and puts.h. */' 'int core(void);'
passes "words: nouns, and names that there are" "${prose[@]}"
prose_of core/core.c "$clause"
finds '^core/core.c: what: 1, and 0 are allowed' "words: a clause in place of a noun" "${prose[@]}"
prose_of docs/text.md 'The text is freed after what was replaced is left by all tasks.'
finds '^docs/text.md: what: 1, ' "words: ... in a document" "${prose[@]}"
prose_of docs/text.md '```' 'the code of what was replaced' '```'
passes "words: ... but not in code" "${prose[@]}"
mapfile -t many < <(yes '/* A task reads the replaced text. */' | head -n 33)
prose_of core/core.c "$clause" "${many[@]}"
passes "words: ... one of 34 sentences" "${prose[@]}"
prose_of core/core.c "$clause" "${many[@]:1}"
finds '^core/core.c: what: 1, ' "words: ... one of 33" "${prose[@]}"
prose_of core/core.c "$clause" "$clause"
most '2 what core/core.c'
passes "words: as many as words.most has" "${prose[@]}"
most '1 what core/core.c'
finds '^core/core.c: what: 2, and 1 are allowed' "words: ... and one more" "${prose[@]}"
most '3 what core/core.c'
finds '^harness/lint/words.most: what of core/core.c: 2 now' "words: ... and one less" "${prose[@]}"
"${prose[@]}" -l
passes "words: ... until -l has lowered it" "${prose[@]}"
most '1 what core/core.c'
"${prose[@]}" -l
finds '^core/core.c: what: 2, and 1 are allowed' "words: ... -l raises nothing" "${prose[@]}"
prose_of core/core.c '/* All tasks shall leave it before. */'
finds '^core/core.c: term: 1, ' "words: a word that the terms replace" "${prose[@]}"
sed -i '/^| must not, shall/d' docs/design.md
passes "words: ... which docs/design.md lists" "${prose[@]}"
prose_of core/core.c '/* Does any task execute the text? */'
finds '^core/core.c: question: 1, ' "words: a question" "${prose[@]}"
prose_of core/core.c "/* $(printf '%97s' . | tr ' ' x) */"
finds '^core/core.c: columns: 1, ' "words: a line of a comment that is too long" "${prose[@]}"
prose_of core/core.c "/* $(printf '%94s' . | tr ' ' x) */" "char a[] = \"$(printf '%100s' . | tr ' ' x)\";"
passes "words: ... one that fits, and one of code" "${prose[@]}"
prose_of core/core.c '/* Pairs with core_has_gone(). */'
finds '^core/core.c:1: core_has_gone' "words: a function that is not there" "${prose[@]}"
prose_of core/core.c '/* See core/gone.c, and int core(void). */'
finds '^core/core.c:1: core/gone.c: there is no such file' "words: a file that is not there" "${prose[@]}"
prose_of core/core.c '/* name_changed() and _changed() are made for each name. */'
passes "words: names of users, and ends of names" "${prose[@]}"

tap_end
