#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make bench-growth`: instructions of each file, command and change at growing numbers of keys, functions, tracepoints,
# sites and modules, inside a stock kernel, in a virtual machine whose clock counts instructions.
set -eu -o pipefail
. "$(dirname "$0")/../harness/common.sh"

kernel=6.1 numbers="1000 3000 10000" copies="30 100 300" kinds="keys functions sites tracepoints modules"
usage()
{
	cat <<EOT
usage: scripts/bench-growth.sh [-k KERNEL] [-n "N..."] [-m "N..."] [KIND...]

  -k KERNEL  a name of harness/kernels.tab (default $kernel)
  -n "N..."  thousands of keys, functions, sites or tracepoints (default "$numbers")
  -m "N..."  numbers of modules, each with a key, a function and a tracepoint (default "$copies")
  KIND...    $kinds (default: all of them)

Prints millions of instructions for each number, and the growth of the instructions from the last
number but one to the last, divided by the growth of the numbers. 1.0 is linear. Takes about half an hour.
EOT
}
wrong() { usage >&2; exit 2; }
while getopts k:n:m:h opt; do
	case $opt in
	k) kernel=$OPTARG ;;
	n) numbers=$OPTARG ;;
	m) copies=$OPTARG ;;
	h) usage; exit 0 ;;
	*) wrong ;;
	esac
done
shift $((OPTIND - 1))
for kind in "$@"; do
	[[ " $kinds " == *" $kind "* ]] || wrong
done
kinds=${*:-$kinds}
[[ $numbers =~ ^[1-9][0-9]{0,1}000( [1-9][0-9]{0,1}000)*$ ]] || wrong
[[ $copies =~ ^[1-9][0-9]{0,3}( [1-9][0-9]{0,3})*$ ]] || wrong

# part KIND N PART: one object of a thousand. A long function costs compilers more than linear time.
part()
{
	awk -v kind="$1" -v n="$2" -v p="$3" '
	function each(text, i, line) {
		for (i = 0; i < 1000; i++) {
			line = text
			gsub(/@/, sprintf("g%d_%02d%03d", n / 1000, p, i), line)
			print line
		}
	}
	# In functions of 16, and one that calls them: nothing is left out as unused.
	function in_functions(text, i, line) {
		for (i = 0; i < 1000; i++) {
			if (i % 16 == 0)
				printf "%snoinline unsigned long run_%02d_%02d(unsigned long a);\nnoinline unsigned long run_%02d_%02d(unsigned long a)\n{\n", i ? "\treturn a;\n}\n" : "", p, i / 16, p, i / 16
			line = text
			gsub(/@/, sprintf("g%d_%02d%03d", n / 1000, p, i), line)
			print "\t" line
		}
		print "\treturn a;\n}"
	}
	BEGIN {
		print "// SPDX-License-Identifier: GPL-2.0\n/* Made by scripts/bench-growth.sh. */"
		print "#include \"growth.h\""
		if (kind == "keys") {
			each("DEFINE_JF_KEY_FALSE(@);")
			in_functions("if (jf_branch_unlikely(&@)) a++;")
			printf "void set_%02d(struct jf_batch *b, bool on)\n{\n", p
			each("\tjf_key_batch_set(b, &@, on);")
		} else if (kind == "functions") {
			each("DEFINE_DYNFUNC(@, growth_one);")
			in_functions("a += dynfunc_call(@);")
			printf "void set_%02d(struct jf_batch *b, bool on)\n{\n", p
			each("\tdynfunc_batch_set(b, @, on ? growth_two : growth_one);")
		} else if (kind == "tracepoints" || kind == "guest") {
			each("DECLARE_JF_TRACE(@, JF_PROTO(unsigned long a), JF_ARGS(a));")
			if (kind == "tracepoints")
				each("DEFINE_JF_TRACE(@); EXPORT_JF_TRACE_GPL(@);")
			in_functions("jf_trace_@(a);")
			printf "void set_%02d(struct jf_batch *b, bool on)\n{\n", p
		} else {
			in_functions("a += dynfunc_call(growth_func); jf_trace_growth(a); if (jf_branch_unlikely(&growth_key)) a++;")
			printf "void set_%02d(struct jf_batch *b, bool on)\n{\n", p
		}
		print "}"
	}'
}

# main KIND N: the object that has the module's parameters
main()
{
	local p last=$(($2 / 1000 - 1))
	echo "// SPDX-License-Identifier: GPL-2.0"
	echo "/* Made by scripts/bench-growth.sh. */"
	echo "#include <linux/module.h>"
	echo "#include \"growth.h\""
	cat <<-'EOT'
	noinline unsigned long growth_one(void) { return 1; }
	noinline unsigned long growth_two(void) { return 2; }
	EOT
	if [ "$1" = sites ]; then
		echo "DEFINE_JF_KEY_FALSE(growth_key); DEFINE_DYNFUNC(growth_func, growth_one); DEFINE_JF_TRACE(growth);"
	fi
	for p in $(seq -f %02g 0 "$last"); do
		echo "void set_$p(struct jf_batch *b, bool on);"
	done
	cat <<-'EOT'
	static int set(const char *val, const struct kernel_param *kp)
	{
		struct jf_batch b;
		bool on;
		int err = kstrtobool(val, &on);

		if (err)
			return err;
		jf_batch_init(&b);
	EOT
	for p in $(seq -f %02g 0 "$last"); do
		echo "	set_$p(&b, on);"
	done
	if [ "$1" = sites ]; then
		echo "	jf_key_batch_set(&b, &growth_key, on);"
		echo "	dynfunc_batch_set(&b, growth_func, on ? growth_two : growth_one);"
	fi
	cat <<-'EOT'
		return jf_batch_commit(&b);
	}
	static const struct kernel_param_ops set_ops = { .set = set };
	module_param_cb(set, &set_ops, NULL, 0200);
	MODULE_PARM_DESC(set, "everything to its other value (1), or back (0), in one batch");
	static int wait(const char *val, const struct kernel_param *kp)
	{
		jf_quiesce();
		return 0;
	}
	static const struct kernel_param_ops wait_ops = { .set = wait };
	module_param_cb(wait, &wait_ops, NULL, 0200);
	MODULE_PARM_DESC(wait, "wait until no task executes what was replaced");
	static int __init growth_init(void)
	{
		return 0;
	}
	static void __exit growth_exit(void)
	{
	}
	module_init(growth_init);
	module_exit(growth_exit);
	MODULE_LICENSE("GPL");
	EOT
	echo "MODULE_DESCRIPTION(\"$2 of the kind $1, to measure growth\");"
}

folder=$JF_BUILD/growth
rm -rf "$folder"
make_folder "$folder"
cat >"$folder/growth.h" <<'EOT'
/* SPDX-License-Identifier: GPL-2.0 */
/* Made by scripts/bench-growth.sh. */
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>
unsigned long growth_one(void);
unsigned long growth_two(void);
DECLARE_JF_KEY(growth_key);
DECLARE_DYNFUNC(growth_func, growth_one);
DECLARE_JF_TRACE(growth, JF_PROTO(unsigned long a), JF_ARGS(a));
EOT
cat >"$folder/Kbuild" <<'EOT'
include /usr/share/jumpfunc/jumpfunc.mk
ccflags-y += $(JUMPFUNC_CFLAGS) -Wno-missing-prototypes
KBUILD_EXTRA_SYMBOLS += $(JUMPFUNC_SYMVERS)
EOT
for n in $numbers; do
	for kind in ${kinds/tracepoints/tracepoints guest}; do
		[ "$kind" != modules ] || continue
		name=jf_growth_${kind}_$((n / 1000))k objects=''
		for p in $(seq 0 $((n / 1000 - 1))); do
			part "$kind" "$n" "$p" >"$folder/${name}_$p.c"
			objects+=" ${name}_$p.o"
		done
		main "$kind" "$n" >"$folder/${name}_main.c"
		printf 'obj-m += %s.o\n%s-y := %s_main.o%s\n' "$name" "$name" "$name" "$objects" >>"$folder/Kbuild"
	done
done
# One of each, in a module whose name has place for a number.
{
	main sites 1000
	cat <<-'EOT'
	noinline unsigned long run(unsigned long a)
	{
		jf_trace_growth(a);
		return jf_branch_unlikely(&growth_key) ? dynfunc_call(growth_func) : a;
	}
	void set_00(struct jf_batch *b, bool on)
	{
	}
	EOT
} >"$folder/jf_growth_m0000.c"
echo 'obj-m += jf_growth_m0000.o' >>"$folder/Kbuild"

say "modules with so many of each of $kinds: build"
attended "$JF_TREE/harness/build.sh" -c -d "$folder" "$kernel"
cp "$JF_BUILD/$kernel/core/jumpfunc.ko" "$JF_BUILD/$kernel/outside/"
say "a virtual machine: load and measure"
attended "$JF_TREE/harness/vm/run" -k "$kernel" -m 2048 --icount -t 7200 --modules "$JF_BUILD/$kernel/outside" \
	-e "JF_NUMBERS=$numbers" -e "JF_COPIES=$copies" -e "JF_KINDS=$kinds" \
	-o "$JF_BUILD/growth" \
	-- sh harness/vm/growth
awk -F ';' '
	{
		row = $1 ";" $2
		if (!(row in num)) order[++rows] = row
		num[row]++
		n[row, num[row]] = $3
		cost[row, num[row]] = $4
		if (num[row] > most) most = num[row]
	}
	END {
		for (r = 1; r <= rows; r++) {
			split(order[r], part, ";")
			if (part[1] != kind) {
				kind = part[1]
				printf "\n%-44s", kind
				for (i = 1; i <= num[order[r]]; i++) printf "%10d", n[order[r], i]
				print "    growth"
			}
			printf "  %-42s", part[2]
			k = num[order[r]]
			for (i = 1; i <= k; i++) printf "%10.1f", cost[order[r], i] / 1e6
			if (k > 1)
				printf "%10.2f", cost[order[r], k] / cost[order[r], k - 1] / (n[order[r], k] / n[order[r], k - 1])
			print ""
		}
	}' "$JF_BUILD/growth/growth.csv"
