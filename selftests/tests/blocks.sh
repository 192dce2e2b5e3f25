#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=1: what documents say of commands is the same on each kernel
# JF_ANY_BACKEND: it shows the same with each of them
# The blocks of the documents that need a loaded module ("sh vm" and "console vm", CONTRIBUTING.md), as they stand, those
# of a document after each other. Of a console's block what is printed is compared.
# JF_TIMEOUT=300: one of them measures
. "$(dirname "$0")/../lib/lib.sh"

jf_start "the documents' blocks that need a loaded module"
[ -e "$JF_TOP/README.md" ] || jf_bail "the documents are there" "none in $JF_TOP"
jf_has jf_sample_event && jf_has jumpfunc_bench && jf_has jumpfunc || jf_skip_all "no samples, or no benchmark: build them"
[ -d $JF_TRACEFS/events ] || jf_skip_all "no tracefs in this kernel (CONFIG_TRACING)"

# Where make has left the modules of a clone, and where modprobe looks.
clone=$JF_TMP/clone
mkdir -p "$clone/samples" "$clone/bench"
ln -s "$(jf_ko jumpfunc)" "$clone"
ln -s "$(jf_ko jf_sample_event)" "$clone/samples"
ln -s "$(jf_ko jumpfunc_bench)" "$clone/bench"
installed=/lib/modules/$(uname -r)
if modprobe -n jumpfunc 2>/dev/null; then
	:
elif [ -n "${JF_VM:-}" ]; then
	mkdir -p "$installed" && cp "$(jf_ko jumpfunc)" "$installed" && depmod
fi

# block FILE LINE: its text
block() { awk -v n="$2" 'NR > n && /^```/ {exit} NR > n' "$1"; }

unload() { for m in jf_sample_event jumpfunc_bench jumpfunc; do ! grep -q "^$m " /proc/modules || rmmod $m; done; }
jf_on_exit unload

# console TEXT: runs what follows "# " and compares what it prints with what stands there
console()
{
	printf '%s\n' "$1" | awk -v to="$JF_TMP/step" '/^# / {n++; print substr($0, 3) >(to n); printf "" >(to n ".out"); next} {print >(to n ".out")} END {print n}' >"$JF_TMP/steps"
	for i in $(seq "$(cat "$JF_TMP/steps")"); do
		(cd "$clone" && sh "$JF_TMP/step$i") >"$JF_TMP/out" 2>&1 || { echo "$(cat "$JF_TMP/step$i"): status $?"; cat "$JF_TMP/out"; return 1; }
		cmp -s "$JF_TMP/step$i.out" "$JF_TMP/out" || {
			echo "$(cat "$JF_TMP/step$i") prints:"; cat "$JF_TMP/out"; echo "and not:"; cat "$JF_TMP/step$i.out"; return 1; }
	done
}

# Commands stop at the first that fails; a pipe's result is that of its last one.
run() { printf '%s\n' "$1" >"$JF_TMP/block"; (cd "$clone" && sh -e "$JF_TMP/block"); }

ran=0
for doc in README.md user/README.md $(cd "$JF_TOP" && ls docs/*.md); do
	list=$(grep -nE '^```(sh|console) vm$' "$JF_TOP/$doc" | sed 's/```//; s/:/ /')
	[ -n "$list" ] || continue
	first=$(block "$JF_TOP/$doc" "${list%% *}")
	# The others are for a machine where it is loaded.
	echo "$first" | grep -qE 'insmod|modprobe' || run 'insmod jumpfunc.ko'
	while read -r line language _; do
		text=$(block "$JF_TOP/$doc" "$line")
		if [ "$language" = sh ] && echo "$text" | grep -q trace-cmd && ! command -v trace-cmd >/dev/null; then
			skip "$doc:$line" "no trace-cmd"
			continue
		fi
		if [ "$language" = console ]; then check "$doc:$line" console "$text"; else check "$doc:$line" run "$text"; fi
		ran=$((ran + 1))
	done <<-END
		$list
	END
	check "... and what it has loaded can be unloaded" unload
done
check "there are such blocks" test $ran -gt 2
jf_done
