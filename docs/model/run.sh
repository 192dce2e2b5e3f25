#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Check the formal models: the right protocol must pass exhaustively, and every
# variant that leaves something out must violate exactly the property that the
# table below expects. See README.md beside this script.
set -eu

usage() {
	cat <<'USAGE'
usage: run.sh [-v] [NAME...]     check all rows, or those named (TAP on stdout)
       run.sh show NAME           tell the shortest counterexample of a variant
       run.sh list                the rows: name, model, expectation, meaning
       run.sh table               check all rows, print the table for README.md
       run.sh update              check all rows, write the table into README.md

A NAME may be a shell pattern: run.sh 'poke*'

  -v        for each row also say how it was built and what it cost
  -h        this text

Exit status: 0 all as expected, 1 some row is not, 2 wrong usage, 4 skipped
because spin or a C compiler is missing, 130 interrupted.

Environment: CC (compiler, default gcc or cc), MODEL_MEM (limit in MB for one
row, default 1800), MODEL_TIME (limit in seconds for one row, default 170),
TMPDIR.
USAGE
}

# name | model | flags | expectation | meaning
#
# The expectation is "pass", the name of the property that must be violated,
# "hang" (a commit or quiesce never returns), or "seen": the situation named is
# really reached, so that passing is not passing by never getting there.
rows() {
	cat <<'ROWS'
poke|poke.pml||pass|the protocol: 2 sites, 2 CPUs with interrupts and NMIs, batches without end
poke-3-sites|poke.pml|-DSITES=3 -DNMIS=1 -DIRQS=2|pass|3 sites; NMIs on one CPU, interrupts on the other
poke-3-insns|poke.pml|-DTHREE -DNMIS=1 -DIRQS=2|pass|among three instructions, so that an old one never looks new
poke-2-writers|poke.pml|-DWRITERS=2|pass|two writers, one mutex
poke-returns|poke.pml|-DLIVE -DNMIS=1 -DIRQS=2|pass|every commit returns
poke-kept|poke.pml|-DNO_SYNC3 -DNEVER_FORGET|pass|third broadcast dropped, but the handler never forgets a site
see-nmi-in-handler|poke.pml|-DSEE_NMI_IN_HANDLER|seen|an NMI inside the INT3 handler hits INT3 itself
no-int3|poke.pml|-DNO_INT3|mixed_bytes_executed|no INT3: tails and first bytes with all broadcasts
one-int3|poke.pml|-DINT3_ONE_SITE|mixed_bytes_executed|INT3 on the first site of the batch only
no-sync1|poke.pml|-DNO_SYNC1|mixed_bytes_executed|first broadcast (INT3, tails) dropped
no-sync2|poke.pml|-DNO_SYNC2|mixed_bytes_executed|second broadcast (tails, first bytes) dropped
no-sync3|poke.pml|-DNO_SYNC3|int3_without_answer|third broadcast (first bytes, return) dropped
sync-per-site|poke.pml|-DCPUS=1 -DSYNC_PER_SITE|wrong_number_of_broadcasts|a broadcast for each INT3
no-mutex|poke.pml|-DCPUS=1 -DNO_MUTEX -DWRITERS=2 -DNEVER_FORGET|mixed_bytes_executed|two writers without the mutex
handler-late|poke.pml|-DHANDLER_LATE|int3_without_answer|handler knows a site only after its INT3 is planted
handler-irqs-on|poke.pml|-DHANDLER_TAKES_IPI|disallowed_instruction_executed|broadcast taken inside the INT3 handler
handler-locks|poke.pml|-DLIVE -DSITES=1 -DCPUS=1 -DHANDLER_TAKES_MUTEX|hang|INT3 handler waits for the writer's mutex
word-late|poke.pml|-DPUBLISH=3|disallowed_instruction_executed|words stored after the first bytes
word-never|poke.pml|-DCPUS=1 -DTHREE -DPUBLISH=9|disallowed_instruction_executed|words not stored at all
word-before|poke.pml|-DPUBLISH=0|pass|words stored before any INT3
word-after-sync|poke.pml|-DORDERED|pass|words stored after the first broadcast: no CPU runs old after any ran new
word-order|poke.pml|-DORDERED -DPUBLISH=1|went_back_to_old|words stored before the first broadcast: one does
flip|flip.pml||pass|without INT3: a trampoline and a branch, in batches of one or both
flip-moment|flip.pml|-DORDERED|pass|the same: no CPU runs a trampoline's old target after any ran the new one
see-flip-handler|flip.pml|-DSEE_HANDLER|seen|a signal comes between a trampoline's guard and its pointer, and calls it again
flip-order|flip.pml|-DORDERED_KEYS|went_back_to_old|limit: a branch has no such moment
flip-no-guard|flip.pml|-DNO_GUARD|mixed_bytes_executed|operands of jumps written without a guard
flip-early-guard|flip.pml|-DEARLY_GUARD|disallowed_instruction_executed|the guard of a jump that becomes a nop set when the batch can still fail
flip-no-late-guard|flip.pml|-DNO_LATE_GUARD|mixed_bytes_executed|no guard there at all
flip-no-late-sync|flip.pml|-DNO_LATE_SYNC|mixed_bytes_executed|no broadcast after that guard
flip-heads-first|flip.pml|-DHEADS_FIRST|mixed_bytes_executed|first bytes written before the operands
flip-no-sync1|flip.pml|-DNO_SYNC1|mixed_bytes_executed|no broadcast after the guards
flip-no-sync2|flip.pml|-DNO_SYNC2|mixed_bytes_executed|no broadcast after the operands
flip-no-sync3|flip.pml|-DNO_SYNC3|disallowed_instruction_executed|no broadcast after the first bytes
flip-word-order|flip.pml|-DPUBLISH=0 -DORDERED|went_back_to_old|the pointer stored before the first broadcast
flip-word-late|flip.pml|-DPUBLISH=3 -DORDERED|went_back_to_old|the pointer stored after the first bytes
flip-raw-jumps|flip.pml|-DRAW_JUMPS|mixed_bytes_executed|what the compiler left made another jump
flip-raw-guard|flip.pml|-DRAW_GUARD|disallowed_instruction_executed|a guard there although the test says otherwise
nop|nops.pml||pass|a site restored as one nop of five bytes, all CPUs parked at each change
nop-int3|nops.pml|-DUSE_INT3|pass|the same, written with INT3
nops|nops.pml|-DONE_BYTE_NOPS|half_instruction_executed|a site restored as five nops of one byte, all CPUs parked: a task was preempted between two
nops-int3|nops.pml|-DONE_BYTE_NOPS -DUSE_INT3|half_instruction_executed|the same, written with INT3
nops-quiesce-first|nops.pml|-DONE_BYTE_NOPS -DUSE_INT3 -DQUIESCE_FIRST|half_instruction_executed|the same, quiesce before the INT3
nops-quiesce|nops.pml|-DONE_BYTE_NOPS -DUSE_INT3 -DQUIESCE_TASKS|pass|the same, quiesce between the INT3 and the tail
store|store.pml||pass|as on arm64: one store to each of 2 sites, caches cleaned, one broadcast
store-3-sites|store.pml|-DSITES=3|pass|3 sites
see-store-fails|store.pml|-DSEE_FAILURE|seen|a commit fails at its last site, and is taken back: a CPU is in its new target
store-halves|store.pml|-DHALVES|mixed_bytes_executed|an instruction stored in two halves
store-no-clean|store.pml|-DNO_CLEAN|freed_code_executed|caches not cleaned
store-no-sync|store.pml|-DNO_SYNC|freed_code_executed|no broadcast
store-sync-first|store.pml|-DSYNC_FIRST|freed_code_executed|the broadcast before the caches are cleaned
store-no-rollback|store.pml|-DNO_ROLLBACK|freed_code_executed|what was stored not taken back on failure
store-failed-no-sync|store.pml|-DNO_SYNC_ON_FAILURE|freed_code_executed|taken back without a broadcast
store-failed-free|store.pml|-DFREE_FAILED|freed_code_executed|the new target freed when the commit fails, though a CPU was sent there before that was taken back
store-stuck|store.pml|-DSTUCK|pass|a debugger keeps a site from being taken back: it is written once that is possible, and the new target freed after that
store-stuck-free|store.pml|-DSTUCK -DNO_MEND|freed_code_executed|the new target freed while the site still leads there
store-free|store.pml|-DFREE_REPLACED|freed_code_executed|the old target freed when the commit returns
store-order|store.pml|-DORDERED|went_back_to_old|limit: a CPU runs old after another one has run new
rollback|rollback.pml|-DNMIS=1 -DIRQS=2|pass|a batch meets foreign bytes: 2 sites, 2 CPUs
rollback-3-sites|rollback.pml|-DSITES=3 -DCPUS=1|pass|3 sites, 1 CPU
rollback-returns|rollback.pml|-DLIVE -DCPUS=1|pass|every commit returns, done or refused
see-rollback|rollback.pml|-DSEE_ROLLBACK|seen|a foreign byte turns up when all other sites stand at INT3
no-check|rollback.pml|-DCPUS=1 -DNO_CHECK|foreign_byte_overwritten|the old bytes are not compared before the first write
no-cmpxchg|rollback.pml|-DCPUS=1 -DNO_CMPXCHG|foreign_byte_overwritten|INT3 planted by a plain store
one-by-one|rollback.pml|-DCPUS=1 -DONE_BY_ONE|failed_batch_changed_text|each site checked and poked by itself
last-site-left|rollback.pml|-DCPUS=1 -DLAST_SITE_LEFT|good_batch_is_incomplete|last site of the batch left at INT3
no-rollback|rollback.pml|-DCPUS=1 -DNO_ROLLBACK|failed_batch_changed_text|INT3s not taken back on failure
rollback-one|rollback.pml|-DSITES=3 -DCPUS=1 -DROLLBACK_ONE|failed_batch_changed_text|only the last INT3 put back
rollback-no-sync|rollback.pml|-DCPUS=1 -DROLLBACK_NO_SYNC|int3_without_answer|first bytes put back without a broadcast
word-before-fails|rollback.pml|-DPUBLISH=0|failed_batch_was_executed|words stored before any INT3: a batch that fails was executed
word-before-bytes|rollback.pml|-DCPUS=1 -DPUBLISH=0 -DMAY_RUN_FAILED|pass|the same, asked only for the bytes
word-before-kept|rollback.pml|-DCPUS=1 -DPUBLISH=0 -DMAY_RUN_FAILED -DWORDS_KEPT|failed_batch_changed_text|the same, words not put back on failure
image|image.pml||pass|retarget, quiesce, unload: a task, an interrupt, 0 to 2 probes, 2 slots
image-2-tasks|image.pml|-DTASKS=2 -DEAGER|pass|two tasks and an interrupt, quiesce after every change
image-returns|image.pml|-DLIVE -DEAGER|pass|every commit and every quiesce returns
see-task-stays|image.pml|-DSEE_TASK_STAYS|seen|a task in a replaced image, an interrupt inside as well
no-quiesce|image.pml|-DNO_QUIESCE|freed_image_executed|slot used again without quiesce
quiesce-cpus|image.pml|-DQUIESCE_CPUS_ONLY|freed_image_executed|quiesce forgets preempted tasks
quiesce-tasks|image.pml|-DQUIESCE_TASKS_ONLY|freed_image_executed|quiesce forgets interrupts
quiesce-first|image.pml|-DQUIESCE_FIRST|freed_image_executed|quiesce before the commit instead of after it
returns-early|image.pml|-DRETURNS_EARLY|freed_image_executed|commit returns while a CPU may still take the old way
unload-first|image.pml|-DUNLOAD_FIRST|unloaded_func_executed|module unloaded while it is still the target
unload-early|image.pml|-DUNLOAD_EARLY|unloaded_func_executed|module unloaded after the commit, before quiesce
free-data-early|image.pml|-DFREE_DATA_EARLY|freed_data_used|data freed after the commit, before quiesce
in-place|image.pml|-DIN_PLACE|func_got_foreign_data|func and data of the live image changed in turn
see-kernel|image.pml|-DSEE_KERNEL|seen|the kernel's protocol sends a CPU into a new image before its first broadcast
image-no-sync|image.pml|-DNO_IMAGE_SYNC|unserialised_image_executed|no broadcast after an image is written, its site poked by the kernel's protocol
image-after-sync|image.pml|-DNO_IMAGE_SYNC -DOWN_ONLY|pass|the same, own protocol only: words stored after its first broadcast
image-word|image.pml|-DNO_IMAGE_SYNC -DOWN_ONLY -DPUBLISH=1|unserialised_image_executed|the same, words stored before it
image-no-broadcast|image.pml|-DNO_IMAGE_SYNC -DOWN_ONLY -DNO_BROADCAST|unserialised_image_executed|no broadcast at all between writing an image and running it
failed-reuse|image.pml|-DPUBLISH=0|freed_image_executed|words stored before any INT3: image of a failed commit freed at once
failed-quiesce|image.pml|-DPUBLISH=0 -DQUIESCE_ON_FAILURE|pass|the same, quiesce after failure
quiesce|quiesce.pml|-DNO_IRQ|pass|all ways to a target; a task that sleeps, blocks, exits
quiesce-irq|quiesce.pml|-DKINDS=POINTERS+ARRAYS -DFAILS|pass|a task and an interrupt; changes to the iterator may fail
quiesce-2-tasks|quiesce.pml|-DNO_IRQ -DTASKS=2 -DKINDS=POINTERS+IMAGES|pass|two tasks, seen clean one after the other
quiesce-returns|quiesce.pml|-DLIVE -DTASKS=2 -DNO_IRQ -DNO_EXIT -DKINDS=ARRAYS|pass|every quiesce returns, though tasks go through the iterator for ever
see-asleep|quiesce.pml|-DSEE_ASLEEP -DNO_IRQ|seen|a scan finds a task asleep in a retired target when Tasks RCU has ended
see-back|quiesce.pml|-DSEE_BACK -DNO_IRQ -DKINDS=ARRAYS|seen|a task that was seen clean is in the iterator again when an array is freed
no-record|quiesce.pml|-DNO_RECORD -DNO_IRQ -DKINDS=ARRAYS|freed_code_executed|nothing recorded as retired when the iterator gets another array
array-late|quiesce.pml|-DARRAY_LATE -DNO_IRQ|freed_array_read|array published after the site leads to the iterator
array-failed|quiesce.pml|-DFAILS -DFAILED_FREED -DNO_IRQ|freed_array_read|change to the iterator fails, its array freed at once
no-iterator|quiesce.pml|-DNO_ITERATOR_RANGE -DNO_IRQ|freed_array_read|scan that takes the iterator for harmless when an array was replaced
no-images|quiesce.pml|-DNO_IMAGE_RANGES -DNO_IRQ|freed_image_executed|scan that forgets retired images
module-only|quiesce.pml|-DMODULE_RANGES_ONLY -DNO_IRQ -DKINDS=POINTERS+IMAGES|freed_code_executed|scan for the module's text only, before its unload: a retired image leads there
no-registers|quiesce.pml|-DNO_REGISTERS -DNO_IRQ|freed_code_executed|scan that forgets registers: a task before the target's first instruction
unwind-error|quiesce.pml|-DERROR_IS_CLEAN -DNO_IRQ|freed_image_executed|an unwind that fails taken for clean, whatever words say
unwind-short|quiesce.pml|-DSHORT_IS_CLEAN -DNO_IRQ|freed_code_executed|the same, an unwind that ends early without an error
unwind-hidden|quiesce.pml|-DSCAN_ONLY -DNO_IRQ|freed_code_executed|scan that does not ask what return addresses a kretprobe has replaced
exiting-forgotten|quiesce.pml|-DEXITING_FORGOTTEN -DNO_IRQ -DKINDS=POINTERS|freed_code_executed|scan only of tasks on the kernel's list
exits-lost|quiesce.pml|-DLOST -DNO_IRQ -DNO_SLEEP -DNO_RT -DKINDS=POINTERS+IMAGES|pass|tasks that exit find no room in our list: Tasks RCU waited for without limit
exits-lost-forgotten|quiesce.pml|-DLOST -DLOST_FORGOTTEN -DNO_IRQ -DNO_SLEEP -DNO_RT -DKINDS=POINTERS|freed_code_executed|the same, without that
exits-lost-sleeps|quiesce.pml|-DLOST -DLOST_SLEEPS -DNO_IRQ -DNO_SLEEP -DNO_RT -DKINDS=POINTERS|freed_code_executed|limit: such a task sleeps in its exit, before it comes to the target
exits-lost-rt|quiesce.pml|-DLOST -DNO_IRQ -DNO_SLEEP -DKINDS=POINTERS|freed_code_executed|limit: such a task waits for a lock in the target, on RT
list-early|quiesce.pml|-DLISTED_EARLY -DNO_IRQ -DKINDS=POINTERS|freed_code_executed|tasks listed before the change: one born in between is missed
by-place|quiesce.pml|-DBY_PLACE -DTASKS=2 -DNO_IRQ -DKINDS=POINTERS|freed_code_executed|next scan goes on at a place in the kernel's list
scan-first|quiesce.pml|-DSCAN_FIRST -DNO_IRQ -DKINDS=POINTERS|freed_code_executed|scan before the change instead of after it
clean-kept|quiesce.pml|-DCLEAN_KEPT -DNO_IRQ -DKINDS=POINTERS|freed_code_executed|a task that was seen clean once counts as clean for a later change
frees-later|quiesce.pml|-DFREES_LATER -DNO_IRQ -DKINDS=POINTERS|freed_code_executed|what was retired while a quiesce waited is freed with the rest
cpus-forgotten|quiesce.pml|-DNO_GP -DNO_EXIT -DKINDS=POINTERS|freed_code_executed|scans of tasks, no grace period for interrupts
no-list|quiesce.pml|-DLIVE -DNO_LIST -DTASKS=2 -DNO_IRQ -DNO_EXIT -DNO_SLEEP -DNO_RT -DKINDS=ARRAYS|hang|all tasks must be clean in the same scan
rcu-alone|quiesce.pml|-DWAIT_RCU -DNO_SCAN -DNO_IRQ -DNO_SLEEP -DNO_RT|pass|Tasks RCU instead of scans, no task sleeps, no RT
rcu-alone-sleep|quiesce.pml|-DWAIT_RCU -DNO_SCAN -DNO_IRQ -DNO_RT|freed_code_executed|the same, a target sleeps
rcu-alone-rt|quiesce.pml|-DWAIT_RCU -DNO_SCAN -DNO_IRQ -DNO_SLEEP|freed_code_executed|the same, a target waits for a lock on RT
rcu-alone-busy|quiesce.pml|-DLIVE -DBUSY -DWAIT_RCU -DNO_SCAN -DNO_IRQ -DNO_EXIT -DNO_SLEEP -DNO_RT -DKINDS=POINTERS|hang|the same, an unrelated task is never quiet
rcu-no-limit|quiesce.pml|-DLIVE -DBUSY -DWAIT_RCU -DNO_IRQ -DNO_EXIT -DNO_SLEEP -DNO_RT -DKINDS=POINTERS|hang|scans, but Tasks RCU waited for as well
shared|shared.pml||pass|a former target that others execute as well
shared-returns|shared.pml|-DLIVE|pass|every quiesce returns, though a task that others called there stays in the target
shared-below|shared.pml|-DANY_OTHER|freed_data_used|a task does not count if one of its frames does not
shared-pointer|shared.pml|-DPOINTER_IS_OTHER|freed_data_used|a call by a pointer does not count: it was one to the trampoline
shared-tramp|shared.pml|-DTRAMP_IS_OTHER|freed_data_used|a call of the trampoline does not count
shared-jump|shared.pml|-DJUMP_IS_OTHER|freed_data_used|a caller that was called by its name, and jumped to the trampoline, does not count
shared-away|shared.pml|-DLIVE -DNOT_AGAIN|pass|the same, and the function does not lead to the target again
shared-every-frame|shared.pml|-DLIVE -DNOT_AGAIN -DEVERY_FRAME|hang|each frame of the target counts, whatever called it
shared-again|shared.pml|-DLIVE -DNOT_RENEWED|hang|the function leads to the target again while a quiesce waits, which goes on to search for it
words|words.pml||pass|stacks that cannot be unwound: words decide
words-returns|words.pml|-DLIVE|pass|every quiesce returns, though each scan meets the task where no unwind works
see-unknown|words.pml|-DSEE_UNKNOWN|seen|a scan meets a task in the target where no unwind works
words-inside|words.pml|-DLIVE -DUNKNOWN_IS_INSIDE|hang|a task that cannot be unwound counts as inside
words-outside|words.pml|-DUNKNOWN_IS_OUTSIDE|freed_code_executed|a task that cannot be unwound counts as outside, although a word leads there
words-alone|words.pml|-DLIVE -DNO_UNWIND|hang|nothing is unwound: a task sleeps with a word left over on its stack
words-copy|words.pml|-DNO_COPIES|freed_code_executed|code that the unwinder does not know is not searched for a jump back
words-first|words.pml|-DSEARCHED_BY_WORDS|freed_code_executed|a task that can run is only unwound if a word leads there
words-left|words.pml|-DLIVE -DLEFT_STAYS|hang|limit: a task sleeps for ever where no unwind works, with a word left over
ROWS
}

die() {
	echo "run.sh: $*" >&2
	exit 2
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mode=check
verbose=0
while [ $# -gt 0 ]; do
	case $1 in
	-v) verbose=1; shift ;;
	-h|--help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) break ;;
	esac
done
case ${1-} in
show|list|table|update) mode=$1; shift ;;
esac

if [ "$mode" = list ]; then
	rows | awk -F'|' '{ printf "%-20s %-13s %-32s %s\n", $1, $2, $4, $5 }'
	exit 0
fi

# Which rows?
selected() {
	[ $# -gt 0 ] || { rows; return; }
	rows | while IFS='|' read -r name rest; do
		for want; do
			# shellcheck disable=SC2254 # a pattern on purpose
			case $name in $want) echo "$name|$rest"; break ;; esac
		done
	done
}
for want; do
	[ -n "$(selected "$want")" ] ||
		die "no row is called '$want'; 'run.sh list' names them all"
done
total=$(selected "$@" | wc -l)

skip() {
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	echo "run.sh: $*" >&2
	echo "0 passed, 0 failed, 1 skipped"
	exit 4
}
command -v spin >/dev/null || skip "spin is missing: apt-get install spin gcc"
if [ -z "${CC-}" ]; then
	if command -v gcc >/dev/null; then CC=gcc
	elif command -v cc >/dev/null; then CC=cc
	else skip "no C compiler: apt-get install spin gcc"
	fi
fi
mem=${MODEL_MEM:-1800}
limit=${MODEL_TIME:-170}

tmp=$(mktemp -d "${TMPDIR:-/tmp}/jf-model.XXXXXX")
child=''
# On ^C the verifier must end, and its files must be removed.
clean() {
	[ -z "$child" ] || kill "$child" 2>/dev/null || :
	rm -rf "$tmp"
}
trap clean EXIT
trap 'echo "run.sh: interrupted" >&2; exit 130' INT
trap 'exit 143' TERM HUP

# Run in the background and wait, so that a signal gets through at once.
bg() {
	"$@" &
	child=$!
	rc=0
	wait "$child" || rc=$?
	child=''
	return $rc
}

# unread_flag MODEL FLAGS: a flag that no model reads; it would make a "pass" say
# nothing.
unread_flag() {
	for f in $2; do
		f=${f#-D}
		grep -qw "${f%%=*}" "$here/$1" "$here/text.pml" || echo "${f%%=*}"
	done | head -n 1
}

# choose_how FLAGS EXPECT: sets how, for the compiler, and args, for the verifier.
choose_how() {
	case " $1 " in
	*" -DLIVE "*)	how="-DNFAIR=3"; args="-a -f" ;;
	*)		how="-DSAFETY"; args= ;;
	esac
	# What passes is explored to the end and worth an optimiser. What does
	# not is found faster than gcc -O2 would take, and breadth first, which
	# gives the shortest counterexample.
	case $2/$how in
	pass/*)		how="$how -O2" ;;
	*/-DSAFETY)	how="$how -DBFS -O0" ;;
	*)		how="$how -O0" ;;
	esac
}

# build_verifier MODEL FLAGS: pan; sets verdict where there is none.
build_verifier() {
	# shellcheck disable=SC2086 # word splitting is meant
	(cd "$tmp/row" && spin -a $2 "$here/$1") >"$tmp/row/spin.log" 2>&1 || {
		verdict="spin refused the model: $(tail -n 1 "$tmp/row/spin.log")"
		return
	}
	# No partial-order reduction: nearly every step is global, and nothing
	# then rests on its side conditions.
	# shellcheck disable=SC2086
	(cd "$tmp/row" && "$CC" -w $how -DNOREDUCE -DMEMLIM="$mem" \
		-o pan pan.c) >"$tmp/row/cc.log" 2>&1 ||
		verdict="$CC failed: $(tail -n 1 "$tmp/row/cc.log")"
}

# read_cost LOG STATUS: sets states, depth, mb; and verdict if the verifier did not
# come to an end.
read_cost() {
	states=$(sed -n 's/^ *\([0-9][0-9.e+]*\) states, stored.*/\1/p' "$1" | head -n 1)
	depth=$(sed -n 's/.*depth reached \([0-9]*\),.*/\1/p' "$1" | head -n 1)
	mb=$(sed -n 's/^ *\([0-9]*\).*total actual memory usage/\1/p' "$1" | head -n 1)

	if [ "$2" -eq 124 ]; then
		verdict="no result within $limit s: raise MODEL_TIME"
	elif grep -q 'max search depth too small' "$1"; then
		verdict="search depth too small: not exhaustive"
	elif grep -q 'reached -DMEMLIM\|out of memory' "$1"; then
		verdict="more than $mb MB needed: raise MODEL_MEM"
	elif [ -z "$states" ]; then
		verdict="the verifier died: $(tail -n 1 "$1")"
	fi
}

# read_result LOG: sets result.
read_result() {
	if grep -q '^pan:1: assertion violated' "$1"; then
		result=$(sed -n 's/^pan:1: assertion violated *!(\([a-z0-9_]*\)).*/\1/p' "$1")
	elif grep -q '^pan:1: acceptance cycle' "$1"; then
		result=hang
	elif grep -q '^pan:1: invalid end state' "$1"; then
		result=deadlock
	elif grep -q '^pan:1:' "$1"; then
		result=$(sed -n 's/^pan:1: //p' "$1")
	elif grep -q 'errors: 0' "$1" && ! grep -q 'not completed' "$1"; then
		result=pass
	else
		result='no verdict'
	fi
	[ "$result" != witness ] || result=seen
}

# never_reached LOG: the first place that a model which passes did not come to.
# Only the alarms may be out of reach.
never_reached() {
	sed -n 's/^\t.*\/\([a-z]*\.pml:[0-9]*\), state [0-9]*, "\(.*\)"$/\1: \2/p' "$1" |
		grep -v -e '-end-$' -e ': assert(!(' \
		-e ': [a-z0-9_]* = 1$' | head -n 1
}

# check_row NAME MODEL FLAGS EXPECT: sets verdict (ok or the reason why not),
# result, states, depth, mb; leaves spin's files in $tmp/row.
check_row() {
	verdict='' result='' states='' depth='' mb=''
	log=$tmp/row/pan.log
	rm -rf "$tmp/row"
	mkdir "$tmp/row"
	unread=$(unread_flag "$2" "$3")
	[ -z "$unread" ] || { verdict="flag $unread does not occur in $2"; return; }
	choose_how "$3" "$4"
	build_verifier "$2" "$3"
	[ -z "$verdict" ] || return 0

	rc=0
	cd "$tmp/row"
	# shellcheck disable=SC2086
	bg timeout "$limit" ./pan $args -w22 -m2000000 >"$log" 2>&1 || rc=$?
	cd "$here"
	read_cost "$log" "$rc"
	[ -z "$verdict" ] || return 0

	read_result "$log"
	[ "$result" = "$4" ] || { verdict="expected $4, got $result"; return; }
	# Vacuity.
	case $result/$3 in
	pass/*LIVE*) ;;
	pass/*)
		never=$(never_reached "$log") || :
		[ -z "$never" ] || { verdict="passes without ever reaching $never"; return; } ;;
	esac
	verdict=ok
}

# Thousands are set apart.
group() {	# 1234567 -> 1,234,567; spin prints large numbers as 1.5e+06
	printf '%.0f\n' "$1" | sed -e :a -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta'
}

# The counterexample that check_row has left in a file, in words: tell MODEL FLAGS
tell() {
	# shellcheck disable=SC2086
	(cd "$tmp/row" && spin -T -t -k "$1.trail" $2 "$here/$1" 2>&1) |
		sed -n -e '/assertion violated/q' -e 's/^ *MSC: /  /p' \
		-e 's/^.*<<<<<START OF CYCLE>>>>>.*/  -- from here on again and again --/p'
	echo "violated: $result"
}

if [ "$mode" = show ]; then
	[ "$total,$#" = 1,1 ] || die "show wants one name; 'run.sh list' has them"
	IFS='|' read -r name model flags expect meaning <<-ROW
	$(selected "$1")
	ROW
	[ "$expect" != pass ] ||
		die "$name passes: there is no counterexample to show"
	check_row "$name" "$model" "$flags" "$expect"
	[ "$verdict" = ok ] || { echo "run.sh: $name: $verdict" >&2; exit 1; }
	echo "$name: $meaning"
	tell "$model" "$flags"
	exit 0
fi

[ "$mode" != table ] && [ "$mode" != update ] || [ $# -eq 0 ] ||
	die "$mode takes no names: the table is the whole table"

start=$(date +%s)
passed=0 failed=0 n=0 peak=0
[ "$mode" = check ] && { echo "TAP version 13"; echo "1..$total"; }
: >"$tmp/table"
selected "$@" >"$tmp/rows"
while IFS='|' read -r name model flags expect meaning <&3; do
	n=$((n + 1))
	[ ! -t 2 ] || printf '\r\033[K%d/%d %s ' "$n" "$total" "$name" >&2
	check_row "$name" "$model" "$flags" "$expect"
	[ ! -t 2 ] || printf '\r\033[K' >&2
	[ "${mb:-0}" -le "$peak" ] || peak=$mb
	case $expect in
	pass) said="passes" ;;
	seen) said="is reached" ;;
	hang) said="hangs" ;;
	*) said="violates $expect" ;;
	esac
	if [ "$verdict" = ok ]; then
		passed=$((passed + 1))
		line="ok $n - $name $said ($(group "$states") states, depth $(group "$depth")): $meaning"
	else
		failed=$((failed + 1))
		line="not ok $n - $name: $verdict"
	fi
	if [ "$mode" = check ]; then
		echo "$line"
		[ $verbose -eq 0 ] || echo "# $model ${flags:-(no flags)}, ${mb:-?} MB"
		[ "$verdict" = ok ] || [ ! -s "${log-/dev/null}" ] ||
			sed -n '/^pan/s/^/# /p' "$log" | head -n 5
	else
		[ "$verdict" = ok ] || echo "run.sh: $name: $verdict" >&2
		printf '| %s | %s | %s | %s | %s |\n' "$name" "$meaning" \
			"$(case $expect in pass|seen|hang) echo "$expect" ;; *) echo "\`$expect\`" ;; esac)" \
			"$(group "${states:-0}")" "$(group "${depth:-0}")" >>"$tmp/table"
	fi
done 3<"$tmp/rows"
seconds=$(($(date +%s) - start))

table() {
	echo '| Row | Content | Result | States | Depth |'
	echo '|---|---|---|---:|---:|'
	cat "$tmp/table"
}
case $mode in
table)
	table ;;
update)
	[ $failed -eq 0 ] || { echo "run.sh: README.md left as it is" >&2; exit 1; }
	table >"$tmp/new.table"
	{ echo; "$here/run.sh" show no-sync2 | sed 's/^/    /'; echo; } >"$tmp/new.example"
	awk -v dir="$tmp" '
		/<!-- [a-z]+ begins/ {
			print; found++; skip = 1; file = dir "/new." $2
			while ((getline l < file) > 0) print l
			next
		}
		/<!-- [a-z]+ ends/ { skip = 0; found++ }
		!skip { print }
		END { exit found == 4 ? 0 : 1 }' "$here/README.md" >"$tmp/README.md" ||
		die "README.md has lost its begin and end markers"
	cat "$tmp/README.md" >"$here/README.md"
	echo "README.md: $total rows written" >&2 ;;
check)
	echo "# $seconds s, at most $peak MB" ;;
esac
[ "$mode" != check ] || echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
