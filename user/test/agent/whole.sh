#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Functions whose first instructions must not be replaced by one jump: something leads into their midst that is hard to see.
# usage: whole.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

agent=$build/libjumpfunc-agent.so

# Each begins with several short instructions, and has the label inside in the midst of them.
begins()
{
	printf '.globl %s\n.type %s, @function\n%s:\n.cfi_startproc\nxor %%eax, %%eax\n%s_inside: .set .L%s_inside, .\nnop\nadd %%edi, %%eax\n' "$1" "$1" "$1" "$1" "$1" |
		sed "s/^$1_inside: //"
}

ends()
{
	printf 'ret\n.cfi_endproc\n.size %s, . - %s\n' "$1" "$1"
}

# made NAME FLAGS...: of the assembly that is read: a program whose main() calls nothing.
made()
{
	program=$1
	shift
	{ echo .text; cat; printf '.globl main\n.type main, @function\nmain: xor %%eax, %%eax\nret\n.size main, . - main\n.section .note.GNU-stack\n'; } > "$tmp/$program.s"
	${CC:-cc} "$@" -o "$tmp/$program" "$tmp/$program.s"
}

# recorded PROGRAM FUNCTION: by one jump over several instructions.
recorded()
{
	rm -rf "$tmp/traces" && mkdir "$tmp/traces"
	JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_AGENT="$1:$2" JUMPFUNC_AGENT_WAYS=span JUMPFUNC=verbose LD_PRELOAD=$agent "$tmp/$1" > "$tmp/out" 2>&1 ||
		{ echo "it ended with $?"; cat "$tmp/out"; return 2; }
	cat "$tmp/out"
	! grep -q "$2 at .* is not recorded: " "$tmp/out"
}

# refused PROGRAM FUNCTION
refused()
{
	recorded "$1" "$2"
	[ "$?" = 1 ]
}

plain()
{
	{ begins plain; ends plain; } | made plain && recorded plain plain
}

# The size of a segment, and the size of a symbol, as large as the address of the second instruction.
sizes()
{
	{ begins sizes; ends sizes; } > "$tmp/sizes.part"
	made sizes < "$tmp/sizes.part" || return 1
	inside=$((0x$(nm "$tmp/sizes" | sed -n 's/ T sizes$//p') + 2))
	made sizes -Wl,-z,stack-size="$inside" < "$tmp/sizes.part" && readelf -Wl "$tmp/sizes" | grep -q "GNU_STACK.*$(printf %x "$inside") RW" &&
		recorded sizes sizes || return 1
	{ cat "$tmp/sizes.part"; printf '.globl large\n.size large, %s\n.set large, main\n' "$inside"; } | made sizes -rdynamic || return 1
	inside=$((0x$(nm "$tmp/sizes" | sed -n 's/ T sizes$//p') + 2))
	{ cat "$tmp/sizes.part"; printf '.globl large\n.size large, %s\n.set large, main\n' "$inside"; } | made sizes -rdynamic || return 1
	readelf -W --dyn-syms "$tmp/sizes" | grep -q " $inside FUNC .* large$" && recorded sizes sizes
}

# A switch in the part of a function that is seldom executed, which is elsewhere.
cold()
{
	{
		begins cold
		echo 'test %edi, %edi'
		echo 'jne cold.cold'
		ends cold
		cat <<-END
		.section .text.unlikely,"ax",@progbits
		.type cold.cold, @function
		cold.cold:
		.cfi_startproc
		lea .Ltable(%rip), %rdx
		movslq (%rdx,%rdi,4), %rax
		add %rdx, %rax
		jmp *%rax
		.cfi_endproc
		.size cold.cold, . - cold.cold
		.section .rodata
		.balign 4
		.Ltable: .long cold.cold - .Ltable, .Lcold_inside - .Ltable
		.text
		END
	} | made cold && refused cold cold
}

# A jump through a register, by way of code that keeps the CPU from guessing.
thunk()
{
	{
		begins thunk
		echo 'jmp __x86_indirect_thunk_rax'
		echo .cfi_endproc
		echo '.size thunk, . - thunk'
		cat <<-END
		.type __x86_indirect_thunk_rax, @function
		__x86_indirect_thunk_rax:
		call 2f
		1: pause
		lfence
		jmp 1b
		.balign 16
		2: mov %rax, (%rsp)
		ret
		.size __x86_indirect_thunk_rax, . - __x86_indirect_thunk_rax
		END
	} | made thunk && refused thunk thunk
}

# A jump through a table that is made as the program runs.
run_time()
{
	{
		begins run_time
		echo 'lea table(%rip), %rdx'
		echo 'jmp *(%rdx,%rdi,8)'
		echo .cfi_endproc
		echo '.size run_time, . - run_time'
		printf '.bss\n.balign 8\ntable: .zero 64\n.text\n'
	} | made run_time && refused run_time run_time
}

# A pointer that is not aligned, of a program at a fixed place.
odd()
{
	{
		begins odd
		ends odd
		printf '.data\n.balign 8\n.byte 0\n.quad .Lodd_inside\n.text\n'
	} | made odd -no-pie && refused odd odd
}

# A name that is no function's, as hand-written assembly has them.
notype()
{
	{
		begins notype
		ends notype
		echo '.globl notype_entry'
		echo '.set notype_entry, .Lnotype_inside'
	} | made notype && refused notype notype
}

# A branch in the last five bytes of the text.
last()
{
	{
		begins last
		ends last
		printf '.globl _start\n_start: and $-16, %%rsp\nxor %%edi, %%edi\ncall exit@plt\n'
		printf '.section .zlast,"ax",@progbits\n.zero 256, 0x90\n.byte 0xe9\n.long .Llast_inside - . - 4\n.text\n'
	} | made last -nostartfiles -Wl,-z,separate-code && readelf -Wl "$tmp/last" | grep -q ' R E ' && refused last last
}

# thrower PAD: a function with a note, and a table that has PAD as the landing pad of its calls
thrower()
{
	begins landing
	echo '.cfi_personality 0x1b, __gxx_personality_v0'
	echo '.cfi_lsda 0x1b, .Ltable'
	printf 'nop\n.Llater: nop\n'
	ends landing
	printf '.pushsection .note.stapsdt,"","note"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz "stapsdt"\n992: .balign 4\n'
	printf '993: .8byte landing, 0, 0\n.asciz "landing"\n.asciz "landed"\n.asciz ""\n994: .balign 4\n.popsection\n'
	printf '.section .gcc_except_table,"a",@progbits\n.Ltable: .byte 0xff, 0xff, 1\n.uleb128 2f - 1f\n'
	printf '1: .uleb128 0, .Llater - landing, %s - landing, 0\n2:\n.text\n' "$1"
	printf '.globl __gxx_personality_v0\n__gxx_personality_v0: ret\n'
}

# The unwinder enters a function at its landing pads.
landing()
{
	thrower .Llater | made landing && recorded landing landed &&
		thrower .Llanding_inside | made landing && refused landing landed || return 1
	# A table in a form that is not understood can have any landing pad.
	thrower .Llater | sed 's/0xff, 0xff, 1$/0x1b, 0xff, 1/' | made landing && refused landing landed
}

# Data in the text, with the symbol of a function, beside functions, is as it was; those are recorded. A function without an entry in the
# table of frames is recorded if it has a size.
data()
{
	made data <<-END
	.globl tiny
	.type tiny, @function
	tiny: .cfi_startproc
	ret
	.cfi_endproc
	.size tiny, . - tiny
	.type table, @function
	table: .long 0x90909090, 0x90909090, 0x11223344, 0x55667788, 0x90909090, 0xc3c3c3c3
	.type sized, @function
	sized: .long 0x90909090, 0x90909090, 0x11223344, 0x55667788
	.size sized, . - sized
	.globl frameless
	.type frameless, @function
	frameless: lea 3(%rdi), %eax
	add \$5, %eax
	ret
	.size frameless, . - frameless
	END
	rm -rf "$tmp/traces" && mkdir "$tmp/traces"
	for symbol in tiny frameless table sized; do
		JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_AGENT="data:$symbol" JUMPFUNC_AGENT_WAYS=break JUMPFUNC=verbose LD_PRELOAD=$agent "$tmp/data" > "$tmp/out" 2>&1 || return 1
		cat "$tmp/out"
		case $symbol in
		tiny|frameless) ! grep "$symbol at .* is not recorded" "$tmp/out" ;;
		*) grep "$symbol at .* is not recorded: the table of frames does not have it" "$tmp/out" ;;
		esac || return 1
	done
}

check "nothing leads there" plain
check "sizes that look like an address in its midst" sizes
check "data with the symbol of a function" data
check "a switch in a cold part" cold
check "a jump by a thunk" thunk
check "a jump through a table of the program's own" run_time
check "a pointer at an odd address" odd
check "a name that is no function's" notype
check "a branch at the end of the text" last
check "landing pads of exceptions" landing
tap_end
