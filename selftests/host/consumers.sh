#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a user's compiler says: the samples build outside of this tree, as a project of their own would,
# and what must not compile does not, with a message that tells why.  On the host, with the headers of
# a kernel of harness/kernels.tab that the host's compiler fits (KERNEL, default 6.1).
set -u
# shellcheck source=selftests/host/built.sh
. "$(dirname "$0")/built.sh"
need_build

kmake()		# DIR ARGS...
{
	local dir=$1; shift
	env -i PATH="$PATH" LC_ALL=C make -C "$(info kdir)" M="$dir" CONFIG_DEBUG_INFO_BTF_MODULES= \
		KBUILD_EXTRA_SYMBOLS="$BUILD/src/Module.symvers" "$@" 2>&1
}
noise='the compiler differs from the one|Skipping BTF generation'

# ---- a project of its own: the examples, as a package or `make install` and a copy have them ----

installed=$work/installed/usr
log=$(make -s -C "$TOP" headers_install KVER="$(info release)" DESTDIR="$work/installed" PREFIX=/usr 2>&1)
result $? "the headers are installed" "$log"
mkdir -p "$installed/share/jumpfunc/symvers/$(info release)"
cp "$BUILD/src/Module.symvers" "$installed/share/jumpfunc/symvers/$(info release)"
cp -r "$TOP/samples" "$work/project"
find "$work/project" ! -name '*.[ch]' ! -name Kbuild ! -name Makefile ! -name README.md -type f -delete
# kbuild is given what a user gives it.
example() { env -i PATH="$PATH" LC_ALL=C make -C "$(info kdir)" CONFIG_DEBUG_INFO_BTF_MODULES= "$@" 2>&1; }
log=$(example M="$work/project" JUMPFUNC_MK="$installed/share/jumpfunc/jumpfunc.mk" modules); rc=$?
result $rc "the installed examples build outside of the tree" "$log"
warn=$(grep -iE 'warning|objtool' <<<"$log" | grep -vE "$noise")
result "$([ -z "$warn" ]; echo $?)" "... without a warning" "$warn"
for m in provider consumer key key_user trace trace_probe event both; do
	dep=$(modinfo -F depends "$work/project/jf_sample_$m.ko" 2>/dev/null ||
		strings "$work/project/jf_sample_$m.ko" | sed -n 's/^depends=//p')
	result "$(grep -qw jumpfunc <<<"$dep"; echo $?)" "... and jf_sample_$m needs jumpfunc" "depends: $dep"
done
! log=$(example M="$work/project" JUMPFUNC_MK="$work/nowhere/jumpfunc.mk" modules) && grep -qF "$work/nowhere/jumpfunc.mk" <<<"$log"
result $? "without jumpfunc it is told which file is missing" "$log"

# What the two READMEs teach, and nothing else.
# three FILE: the lines about jumpfunc of the first Kbuild in it, without the indent and remarks
three() { sed -n 's/^ *\(include [^ ]*jumpfunc\.mk\|[a-zA-Z_-]* += \$(JUMPFUNC_[A-Z]*)\).*/\1/p' "$TOP/$1" | head -n 3; }
[ "$(three README.md | wc -l)" = 3 ] && [ "$(three README.md)" = "$(three samples/README.md)" ]
result $? "the README of the samples has the three lines of the README" "$(three samples/README.md)"
mkdir "$work/three"
cp "$TOP/samples/jf_sample_provider.c" "$TOP/samples/jf_sample.h" "$work/three"
{ three samples/README.md | sed "s,/usr/,$installed/,"; echo 'obj-m += jf_sample_provider.o'; } >"$work/three/Kbuild"
log=$(example M="$work/three" modules) && [ -e "$work/three/jf_sample_provider.ko" ]; result $? "... a Kbuild of these builds" "$log"
# Files that it names: beside it, or installed with the headers.
bad=$(grep -oE '`[^` ]*[/.][^` ]*`' "$TOP/samples/README.md" | tr -d '`' | while IFS= read -r f; do
	[ -e "$TOP/samples/$f" ] || [ -e "$work/installed$f" ] || [ -e "$installed/share/jumpfunc/include/$f" ] || echo "$f"
done)
result "$([ -z "$bad" ]; echo $?)" "... and the files that it names are beside it, or installed" "$bad"

# In a clone, `make samples`: as the README says before its block of events, which loads one.
mkdir "$work/clone"
(cd "$TOP" && "$TOP/harness/deb.sh" -l | grep -E '^(harness|scripts|samples|kernel|common|include|bench|packaging)/|^[^/]*$' |
	tr '\n' '\0' | tar -c --null -T - -f - | tar -x -C "$work/clone" -f -)
before=$(find "$work/clone" ! -type d -printf '%P\n' | sort)
block=$(sed -n '/^## The API/,/^## Programs/p' "$TOP/README.md")
builds=$(grep -oE '`make [a-z]+`' <<<"$block" | tr -d '`' | head -n 1)
# shellcheck disable=SC2086 # words
log=$(cd "$work/clone" && env -i PATH="$PATH" LC_ALL=C ${builds:-make} KDIR="$(info kdir)" KVER="$(info release)" -j2 2>&1)
result $? "what the README says of its event builds: ${builds:-make}" "$log"
warn=$(grep -iE 'warning|objtool' <<<"$log" | grep -vE "$noise")
result "$([ -z "$warn" ]; echo $?)" "... without a warning" "$warn"
while IFS= read -r ko; do
	[ "$(modinfo -F vermagic "$work/clone/$ko" 2>/dev/null | cut -d ' ' -f 1)" = "$(info release)" ]
	result $? "... and $ko, which it loads, is there" "$(find "$work/clone" -name '*.ko' -printf '%P ')"
done < <(grep -oE 'insmod [^ ]+' <<<"$block" | cut -d ' ' -f 2 | sort -u)
log=$(make -s -C "$work/clone" KVER=none clean 2>&1; diff <(echo "$before") <(find "$work/clone" ! -type d -printf '%P\n' | sort))
result $? "make clean takes all of that, without the headers that it was built with" "$log"

# ---- calls of functions that do not exist (jumpfunc/calls.h) ----

mkdir "$work/calls"
cat >"$work/calls/Kbuild" <<EOF
include $installed/share/jumpfunc/jumpfunc.mk
ccflags-y += \$(JUMPFUNC_CFLAGS)
KBUILD_EXTRA_SYMBOLS += \$(JUMPFUNC_SYMVERS)
obj-m += \$(WHICH).o
\$(WHICH)-y := \$(addsuffix _one.o,\$(WHICH))
ifneq (\$(WHICH),no_line)
\$(eval \$(call jumpfunc-calls,\$(WHICH)))
endif
EOF
# calls NAME REGEXP DESCRIPTION STATEMENT: a module whose one function is the statement; what make says of it
calls()
{
	local log rc
	cat >"$work/calls/$1_one.c" <<-EOF
	#include <linux/module.h>
	$([ "$1" = no_header ] || echo '#include <jumpfunc/calls.h>')
	MODULE_LICENSE("GPL");
	void __dtrace_srv___request(int id, const char *what);
	void __dtrace_probe_alone(int id);
	void __dtrace_nothing(int id);
	int __dtraceenabled_srv___request(void);
	void *serve(int id);
	void *serve(int id) { $4 return NULL; }
	EOF
	log=$(example M="$work/calls" WHICH="$1" modules); rc=$?
	if [ "$2" = good ]; then
		[ $rc = 0 ] && [ -e "$work/calls/$1.ko" ] && ! grep -iE 'warning|objtool' <<<"$log" | grep -qvE "$noise"
	else
		[ $rc != 0 ] && [ ! -e "$work/calls/$1.ko" ] && grep -qE "$2" <<<"$log"
	fi
	result $? "$3" "$log"
}
calls good good "calls of functions that do not exist build" '__dtrace_srv___request(id, "x"); __dtrace_probe_alone(id);'
names=$(sed -n 's/.*, "\(.*\)".*/\1/p' "$work/calls/good_calls.c" | sort | paste -sd ' ')
result "$([ "$names" = "sdt:alone srv:request" ]; echo $?)" "... and have these names: srv:request, sdt:alone" "$names"
calls address '__dtrace_srv___request.*undefined' "... the address of such a function is refused" 'if (id) return __dtrace_srv___request;'
calls test good "a test whether it is enabled builds" 'if (__dtraceenabled_srv___request()) __dtrace_srv___request(id, "x");'
calls test_address '__dtraceenabled_srv___request.*undefined' "... its address is refused" \
	'if (id) return (void *)__dtraceenabled_srv___request;'
calls no_name '__dtrace_nothing is neither' "... a name that has no provider is" '__dtrace_nothing(id);'
calls no_header '__dtrace_srv___request.*undefined' "... a source without the header is" '__dtrace_srv___request(id, "x");'
calls no_line 'dynfunc___dtrace_srv___request.*undefined' "... a Kbuild without the line is" '__dtrace_srv___request(id, "x");'

# ---- what must not compile ----

mkdir "$work/bad"
echo "ccflags-y += -I$TOP/include -I\$(src)" >"$work/bad/Kbuild"
cat >"$work/bad/common.h" <<'EOF'
#include <linux/module.h>
#include <jumpfunc/tracepoint.h>
MODULE_LICENSE("GPL");
struct pair { long a, b; };
struct one { long a; };
struct many { long a[9]; };
int take_one(struct one o);
struct one make_one(long a);
int add(int a, int b);
int add3(int a, int b, int c);
long wide(long a, long b);
void hook(void *p);
void narrow(u8 x);
int seven(int a, int b, int c, int d, int e, int f, int g);
__int128 widest(__int128 a, bool b);
DECLARE_DYNFUNC(d_add, add);
DECLARE_DYNFUNC(d_hook, hook);
DECLARE_DYNFUNC(d_seven, seven);
DECLARE_DYNFUNC(d_widest, widest);
DECLARE_DYNFUNC(d_narrow, narrow, JF_RCU);
DECLARE_DYNFUNC_CALL(d_call, add);
DECLARE_DYNFUNC(d_one, take_one);
DECLARE_DYNFUNC(d_make, make_one);
EOF
cases=()
bad()		# NAME REGEXP DESCRIPTION; the source is read from stdin
{
	[ ! -e "$work/bad/$1.c" ] || { echo "consumers.sh: two cases are called $1" >&2; exit 1; }
	{ echo '#include "common.h"'; cat; } >"$work/bad/$1.c"
	echo "obj-m += $1.o" >>"$work/bad/Kbuild"
	cases+=("$1|$2|$3")
}
bad good '^$' 'what is right compiles' <<'EOF'
int f(struct jf_batch *b);
int f(struct jf_batch *b)
{
	dynfunc_call(d_hook, NULL);
	/* Neither of them is a site. */
	dynfunc_d_widest(1, true);
	dynfunc_call(d_widest, (__int128)1, 2);
	dynfunc_batch_set(b, d_add, add);
	return dynfunc_update(d_add, add) + dynfunc_call(d_add, 1, 2) + dynfunc_d_seven(1, 2, 3, 4, 5, 6, 7);
}
DEFINE_DYNFUNC_NULL(ok_null, hook);
DEFINE_DYNFUNC_RET0(ok_ret0, add);
EOF
bad contract_differs 'conflicting types' 'a definition with another contract than the declaration' <<'EOF'
void narrow(u8 x) { }
DEFINE_DYNFUNC(d_narrow, narrow, JF_SLEEPABLE);
EOF
bad contract_left_out 'conflicting types' 'a definition without the contract of the declaration' <<'EOF'
void narrow(u8 x) { }
DEFINE_DYNFUNC(d_narrow, narrow);
EOF
bad contract_none 'undeclared' 'a contract that there is not' <<'EOF'
DECLARE_DYNFUNC(d_other, add, JF_NONSENSE);
EOF
bad contract_narrow 'needs arguments of exactly' 'a call with a contract whose arguments have to be converted' <<'EOF'
void f(void);
void f(void) { dynfunc_call(d_narrow, 256); }
EOF
bad call_only_update 'd_call is declared for calling only' 'an update of what may only be called' <<'EOF'
int f(void);
int f(void) { return dynfunc_update(d_call, add); }
EOF
bad call_only_batch 'd_call is declared for calling only' 'the same in a batch' <<'EOF'
int f(struct jf_batch *b);
int f(struct jf_batch *b) { return dynfunc_batch_set(b, d_call, add); }
EOF
bad struct_arg 'argument of dynfunc_call\(\) is an integer, an enum or a pointer' 'a call site with a struct as argument' <<'EOF'
int f(struct one p);
int f(struct one p) { return dynfunc_call(d_one, p); }
EOF
bad struct_result 'result of dynfunc_call\(\) is an integer, an enum or a pointer' 'a call site with a struct as result' <<'EOF'
long f(void);
long f(void) { return dynfunc_call(d_make, 1).a; }
EOF
bad trace_13 'a tracepoint has at most 12 arguments' 'a tracepoint with thirteen arguments' <<'EOF'
#include <jumpfunc/tracepoint.h>
DECLARE_JF_TRACE(t_13,
		 JF_PROTO(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l, int m),
		 JF_ARGS(a, b, c, d, e, f, g, h, i, j, k, l, m));
EOF
bad trace_struct 'is an integer, an enum or a pointer' 'a tracepoint with a struct as argument' <<'EOF'
#include <jumpfunc/tracepoint.h>
DECLARE_JF_TRACE(t_struct, JF_PROTO(struct one o), JF_ARGS(o));
EOF
bad update_type 'incompatible pointer type' 'an update to a function of another type' <<'EOF'
int f(void);
int f(void) { return dynfunc_update(d_add, wide); }
EOF
bad update_count 'incompatible pointer type' 'an update to a function with more parameters' <<'EOF'
int f(void);
int f(void) { return dynfunc_update(d_add, add3); }
EOF
bad batch_type 'incompatible pointer type' 'a function of another type in a batch' <<'EOF'
int f(struct jf_batch *b);
int f(struct jf_batch *b) { return dynfunc_batch_set(b, d_add, hook); }
EOF
bad null_value 'NULL dynamic function returns void' 'NULL for a function that returns something' <<'EOF'
DEFINE_DYNFUNC_NULL(k, add);
EOF
bad null_narrow 'NULL dynamic function returns void and takes no parameter narrower' 'NULL for a function with a narrow parameter' <<'EOF'
DEFINE_DYNFUNC_NULL(k, narrow);
EOF
bad ret0_void 'RET0 dynamic function must return a value' 'RET0 for a function that returns nothing' <<'EOF'
DEFINE_DYNFUNC_RET0(k, hook);
EOF
bad define_type 'incompatible|conflicting|undeclared' 'a dynamic function of something that is none' <<'EOF'
DEFINE_DYNFUNC(k, no_such_function);
EOF
bad targets_type 'negative width|BUILD_BUG|not compatible' 'an allowed target of another type' <<'EOF'
DYNFUNC_TARGETS(d_add, add, wide);
EOF
bad seven_args 'at most six' 'a call site with seven arguments' <<'EOF'
int f(void);
int f(void) { return dynfunc_call(d_seven, 1, 2, 3, 4, 5, 6, 7); }
EOF
bad wide_arg 'argument of dynfunc_call\(\) has at most 8 bytes' 'a call site with an argument of 16 bytes' <<'EOF'
int f(__int128 x);
int f(__int128 x) { return dynfunc_call(d_add, x, 1); }
EOF
bad wide_result 'result of dynfunc_call\(\) has at most 8 bytes' 'a call site with a result of 16 bytes' <<'EOF'
__int128 both(long a, long b);
DECLARE_DYNFUNC(d_both, both);
long f(void);
long f(void) { return dynfunc_call(d_both, 1, 2); }
EOF
bad too_few 'too few arguments' 'a call with too few arguments' <<'EOF'
int f(void);
int f(void) { return dynfunc_call(d_add, 1); }
EOF
bad too_many 'too many arguments' 'a call with too many arguments' <<'EOF'
int f(void);
int f(void) { return dynfunc_call(d_add, 1, 2, 3); }
EOF
bad struct_for_int 'incompatible type|aggregate value' 'a struct for an integer' <<'EOF'
int f(struct pair p);
int f(struct pair p) { return dynfunc_call(d_add, p, 1); }
EOF
bad pointer_arg 'makes integer from pointer' 'a pointer for an integer' <<'EOF'
int f(char *p);
int f(char *p) { return dynfunc_call(d_add, p, 1); }
EOF
bad void_value 'void value not ignored|invalid use of void' 'the result of a call that has none' <<'EOF'
int f(void);
int f(void) { return dynfunc_call(d_hook, NULL) + 1; }
EOF
bad unknown 'undeclared|implicit declaration' 'a call of an unknown dynamic function' <<'EOF'
int f(void);
int f(void) { return dynfunc_call(d_unknown, 1); }
EOF
bad trace_few_struct 'arguments are integers, enums and pointers' 'a tracepoint with a struct among few arguments' <<'EOF'
DECLARE_JF_TRACE(t, JF_PROTO(int a, struct one b), JF_ARGS(a, b));
EOF
bad trace_many_struct 'arguments are integers, enums and pointers' 'a tracepoint with a struct among many arguments' <<'EOF'
DECLARE_JF_TRACE(t, JF_PROTO(int a, int b, int c, int d, struct many e, int f), JF_ARGS(a, b, c, d, e, f));
EOF
bad trace_wide 'arguments are integers, enums and pointers' 'a tracepoint with an argument of 16 bytes' <<'EOF'
DECLARE_JF_TRACE(t, JF_PROTO(int a, int b, int c, int d, int e, __int128 f), JF_ARGS(a, b, c, d, e, f));
EOF
# event_header NAME END: a header of one event, whose last lines are END
event_header()
{
	cat >"$work/bad/$1.h" <<-END
		#undef TRACE_SYSTEM
		#define TRACE_SYSTEM $1
		#if !defined(EVENT_$1) || defined(TRACE_HEADER_MULTI_READ)
		#define EVENT_$1
		#include <jumpfunc/trace_event.h>
		JF_TRACE_EVENT($1, TP_PROTO(int a), TP_ARGS(a), TP_STRUCT__entry(__field(int, a)),
			       TP_fast_assign(__entry->a = a;), TP_printk("a=%d", __entry->a));
		#endif
		#undef TRACE_INCLUDE_FILE
		#define TRACE_INCLUDE_FILE $1
		#undef TRACE_INCLUDE_PATH
		$2
	END
}
event_header ev_good '#define TRACE_INCLUDE_PATH .
#include <jumpfunc/define_trace.h>'
event_header ev_end '#define TRACE_INCLUDE_PATH .
#include <trace/define_trace.h>'
event_header ev_path '#include <jumpfunc/define_trace.h>'
event_header ev_folder '#define TRACE_INCLUDE_PATH elsewhere
#include <jumpfunc/define_trace.h>'
bad event_good '^$' 'a header of events compiles' <<'EOF'
#define CREATE_TRACE_POINTS
#include "ev_good.h"
EOF
bad event_end 'ends with #include <jumpfunc/define_trace.h>' 'a header of events that ends as those of the kernel do' <<'EOF'
#define CREATE_TRACE_POINTS
#include "ev_end.h"
EOF
bad event_path 'define TRACE_INCLUDE_PATH' 'a header of events that does not say where it is' <<'EOF'
#define CREATE_TRACE_POINTS
#include "ev_path.h"
EOF
bad event_folder 'in a Kbuild: ccflags-y [+]= -I[$][(]src[)]' 'a header of events in a folder where the compiler does not look' <<'EOF'
#define CREATE_TRACE_POINTS
#include "ev_folder.h"
EOF
bad event_args 'too few arguments' 'an event with too few arguments' <<'EOF'
#include "ev_good.h"
void f(void);
void f(void) { jf_trace_ev_good(); }
EOF

# One after the other, so that each message belongs to the file named last.
kmake "$work/bad" -k -j1 modules >"$work/log"
for c in "${cases[@]}"; do
	IFS='|' read -r name rest <<<"$c"
	desc=${rest##*|} want=${rest%|*}
	said=$(awk -v o="/$name.o" '/^ *CC /{on = substr($0, length($0) - length(o) + 1) == o} on && /(error|warning): /' "$work/log")
	if [ "$want" = '^$' ]; then
		result "$([ -z "$said" ] && [ -e "$work/bad/$name.o" ]; echo $?)" "$desc" "$said"
	else
		result "$(grep -qE "$want" <<<"$said"; echo $?)" "$desc does not compile: $(grep -oE -m 1 "(error|warning): .*" <<<"$said" | cut -c 1-110)" "$said"
	fi
done

# ---- clang's link time optimisation ----

# The kernels at hand are not built with it.  But clang compiles their headers, and what is linked of
# two files shows whether each table has its own file's records, and all of them.
mkdir "$work/lto"
cat >"$work/lto/both.h" <<'EOF'
#include <linux/module.h>
#include <jumpfunc/tracepoint.h>
long add(long a);
long sub(long a);
long in_one(long a);
long in_two(long a);
DECLARE_DYNFUNC(d_op, add);
DECLARE_JF_KEY(k_both);
DECLARE_JF_TRACE(t_both, JF_PROTO(long a), JF_ARGS(a));
EOF
cat >"$work/lto/one.c" <<'EOF'
#include "both.h"
long add(long a) { return a + 1; }
DEFINE_DYNFUNC(d_op, add);
DYNFUNC_TARGETS(d_op, add, sub);
DEFINE_JF_KEY_FALSE(k_both);
DEFINE_JF_TRACE(t_both);
long in_one(long a) { jf_trace_t_both(a); return jf_branch_likely(&k_both) ? dynfunc_call(d_op, a) : in_two(a); }
EOF
cat >"$work/lto/two.c" <<'EOF'
#include "both.h"
long sub(long a) { return a - 1; }
DYNFUNC_TARGETS(d_op, sub);
static DEFINE_JF_KEY_FALSE(k_two);
long in_two(long a) { return jf_branch_unlikely(&k_two) ? a : jf_branch_unlikely(&k_both) ? dynfunc_call(d_op, a) : 7; }
static int __init start(void) { return in_one(3) + in_two(4); }
module_init(start);
EOF

lto_link()	# MODE FLAG...
{
	local mode=$1 f flags cmd=$work/project/.jf_sample_provider.o.cmd; shift
	# Where the headers are, as kbuild would say it.
	flags=$(head -n 1 "$cmd" | grep -oE -- ' (-nostdinc|-I[^ ]+|-include [^ ]+|-D(__KERNEL__|MODULE|__KBUILD_MODNAME=[^ ]+)|-std=[^ ]+)' | tr '\n' ' ')
	(
		cd "$(info kdir)" || exit
		for f in one two; do
			# shellcheck disable=SC2086
			clang $flags -w -O2 -fshort-wchar -fno-PIE -mno-sse -mno-80387 -mno-red-zone -mcmodel=kernel \
				-fno-asynchronous-unwind-tables -DKBUILD_BASENAME="\"$f\"" -DKBUILD_MODNAME='"lto"' "$@" \
				-c -o "$work/lto/$mode-$f.o" "$work/lto/$f.c" || exit
		done
		ld.lld -m elf_x86_64 -r -o "$work/lto/$mode.o" --whole-archive "$work/lto/$mode-one.o" "$work/lto/$mode-two.o"
	) 2>&1
}
# covered MODE WHAT: bytes between begin and end labels, bytes of records, number of tables
covered()
{
	local f=$work/lto/$1.o between=0 bytes=0 tables=0 x name
	while read -r x _ name; do
		case $name in
		"__jf_tu_$2"|"__jf_tu_$2".*) between=$((between - 16#$x)) tables=$((tables + 1)) ;;
		"__jf_tu_$2_end"|"__jf_tu_$2_end".*) between=$((between + 16#$x)) ;;
		esac
	done < <(nm --defined-only "$f")
	while read -r name _ _ _ x _; do
		case $name in "__jf_$2"|"__jf_$2".*) bytes=$((bytes + 16#$x)) ;; esac
	done < <(readelf -SW "$f" | sed 's/^ *\[[ 0-9]*\] *//')
	echo "$between $bytes $tables"
}
if ! command -v clang >/dev/null || ! command -v ld.lld >/dev/null; then
	skip "tables survive clang's LTO" "no clang and ld.lld here"
elif ! log=$(lto_link none); then
	skip "tables survive clang's LTO" "this clang does not take the kernel's headers"
else
	for mode in none thin full; do
		case $mode in
		none) set -- ;;
		thin) set -- -flto=thin -fsplit-lto-unit -fvisibility=hidden ;;
		full) set -- -flto -fvisibility=hidden -DCONFIG_LTO_CLANG_FULL ;;
		esac
		log=$(lto_link $mode "$@"); rc=$?
		result $rc "two files link, LTO: $mode" "$log"
		[ $rc = 0 ] || continue
		for what in sites ents targets; do
			read -r between bytes tables <<<"$(covered $mode $what)"
			result "$([ "$between" = "$bytes" ] && [ "$bytes" != 0 ] && [ "$tables" = 2 ]; echo $?)" \
				"... and the two tables have all $what" "$tables tables have $between bytes of $bytes"
		done
		bad=$(nm -u "$work/lto/$mode.o" | grep __jf_tu)
		result "$([ -z "$bad" ]; echo $?)" "... and no label is missing" "$bad"
	done
fi
# ---- jumpfunc itself, by clang ----

# clang_compile FILE...: what clang says of each, for the kernel's headers that gcc was configured for
clang_compile()
{
	local f flags cmd=$work/project/.jf_sample_provider.o.cmd
	flags=$(head -n 1 "$cmd" | grep -oE -- ' (-nostdinc|-I[^ ]+|-include [^ ]+|-D(__KERNEL__|MODULE)|-std=[^ ]+)' | tr '\n' ' ')
	cd "$(info kdir)" || return
	# The definitions that Kbuild makes from the kernel's headers.
	f=${flags#*-include } f=${f%%/include/linux/*}
	flags+=$(printf '%s\n' "srctree=$f" objtree=. SRCARCH=x86 "include $TOP/kernel/compat.mk" 'x:; @echo $(jf-compat)' | make -s -f -)
	for f; do
		case $f in *.S) set -- -D__ASSEMBLY__ ;; *) set -- ;; esac
		# shellcheck disable=SC2086
		clang $flags -I"$TOP/kernel" -I"$TOP" -I"$TOP/include" -I"$TOP/$(dirname "$f")" "$@" -O2 -fno-strict-aliasing -fshort-wchar \
			-fno-PIE -mno-sse -mno-80387 -mno-red-zone -mcmodel=kernel -mretpoline-external-thunk -mfentry \
			-DCC_USING_FENTRY -fcf-protection=none -fno-asynchronous-unwind-tables -Wno-unused-command-line-argument \
			-Wall -Wno-gnu -Wno-address-of-packed-member -Wno-initializer-overrides -Wno-format -Wno-pointer-sign \
			${clang_flags:-} -DJF_VERSION='"0"' -DKBUILD_BASENAME='"by_clang"' -DKBUILD_MODNAME='"by_clang"' \
			-c -o "$work/by_clang.o" "$TOP/$f" || echo "error: clang does not compile $f"
	done 2>&1 | grep -E "($TOP|$work|instantiation|^error).*(error|warning)|^error"
}
if ! command -v clang >/dev/null; then
	skip "jumpfunc and samples by clang" "no clang here"
else
	# But for the half of a sample that is a program, and for the one that GNU as has to read.
	mapfile -t samples < <(cd "$TOP" && printf '%s\n' samples/*[!m].c | grep -v _calls_)
	mapfile -t module < <(cd "$TOP" && printf '%s\n' jf_*.c kernel/*.c kernel/*/*.c kernel/arch/x86/*.[cS] | grep -v generic)
	said=$(cd "$TOP" && clang_compile "${module[@]}" "${samples[@]}")
	result "$([ -z "$said" ]; echo $?)" "clang compiles jumpfunc and the samples, without a warning" "$said"
	# Two calls, one at a function's end, and a test; no function that does not exist is left.
	said=$(cd "$TOP" && clang_flags='-no-integrated-as -DJF_CALLS_TEXT -fno-optimize-sibling-calls' clang_compile samples/jf_sample_calls_job.c)
	left=$(nm -u "$work/by_clang.o" 2>&1 | grep -E ' __dtrace') sites=$(readelf -SW "$work/by_clang.o" | awk '$2 == "__jf_sites" || $3 == "__jf_sites" {print $0 ~ /000040 00/}')
	result "$([ -z "$said$left" ] && [ "$sites" = 1 ]; echo $?)" "... and calls of functions that do not exist become sites" "$said $left sites: $sites"
	said=$(cd "$TOP" && clang_compile samples/jf_sample_calls_job.c)
	result "$(grep -q 'takes -no-integrated-as' <<<"$said"; echo $?)" "... which is refused where GNU as does not read them" "$said"
fi
tap_end
