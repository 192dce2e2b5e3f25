#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module and the benchmark compile without a warning where options of the kernel are off that the kernels of
# harness/kernels.tab have.  Each file is compiled as kbuild did it (KERNEL, default 6.1), less the options.
set -u
# shellcheck source=selftests/host/built.sh
. "$(dirname "$0")/built.sh"
need_build

# compile FILE: the source of which kbuild noted the command in FILE; $work/off.h comes after the kernel's own options
compile()
{
	local cmd
	cmd=$(sed -n '1s/^[^:]*:= *//p' "$1") cmd=${cmd%%;*}
	cmd=$(sed -E "s,-Wp\,-MMD\,[^ ]+,,; s,-o [^ ]+,-o /dev/null -S -Werror -include $work/off.h," <<<"$cmd")
	# Its words have quotes.
	cd "$kdir" && eval "$cmd" 2>&1 || echo "error: ${1##*/}"
}
export -f compile
kdir=$(info kdir)
export work kdir

# without OPTION...: what compilers say of that
without()
{
	printf '#undef CONFIG_%s\n' "$@" >"$work/off.h"
	xargs -P "$(nproc)" -I {} bash -c 'compile {}' <"$work/commands" | grep -E '\berror\b'
}

find "$BUILD/src" \( -name selftests -o -name samples -o -name forms \) -prune -o -name '.*.o.cmd' ! -name '*.mod.o.cmd' \
	-exec grep -lE '^[^;]*[^ ]\.c *(;|$)' {} + >"$work/commands"
n=$(wc -l <"$work/commands")
[ "$n" -ge 60 ] && grep -q 'bench/' "$work/commands"; result $? "there are files to compile: $n" "$(head "$work/commands")"

said=$(without FUNCTION_TRACER FUNCTION_GRAPH_TRACER FUNCTION_PROFILER STACK_TRACER LIVEPATCH KPROBES_ON_FTRACE \
	DYNAMIC_FTRACE DYNAMIC_FTRACE_WITH_ARGS DYNAMIC_FTRACE_WITH_DIRECT_CALLS DYNAMIC_FTRACE_WITH_REGS)
result "$([ -z "$said" ]; echo $?)" "they compile without the function tracer, and without a warning" "$said"
tap_end
