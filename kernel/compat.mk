# SPDX-License-Identifier: GPL-2.0
# The questions of kernel/compat.h to a kernel, for each Kbuild whose sources include it. Distributions take parts of later
# kernels into earlier ones, so the version does not tell which of them are there.

# $(call jf-has,NAME,PATTERN,HEADER...): -DJF_HAS_NAME if a line of these headers matches
jf-has = $(if $(shell grep -lsE '$2' $(addprefix $(srctree)/,$3)),-DJF_HAS_$1)
# $(call jf-exports,NAME,SYMBOL): ... if modules can use that symbol
jf-exports = $(if $(shell grep -sw '$2' $(objtree)/Module.symvers),-DJF_HAS_$1)

jf-compat := $(call jf-has,KRETPROBE_LIST,kretprobe_instances;,include/linux/sched.h)
jf-compat += $(call jf-has,MOD_MEM,MOD_INIT_TEXT,include/linux/module.h)
jf-compat += $(call jf-has,RCU_OLDSTATE,oldstate;,include/linux/rcupdate_wait.h)
jf-compat += $(call jf-has,SCHED_DELAYED,sched_delayed;,include/linux/sched.h)
jf-compat += $(call jf-has,EXIT_GROUP_DEAD,bool group_dead,include/trace/events/sched.h)
# No comma: it has one argument.
jf-compat += $(call jf-has,ASSIGN_STR_ALONE,define __assign_str.dst.[[:blank:]\]*$$,include/trace/stages/stage6_event_callback.h)
jf-compat += $(call jf-has,PROBESTUB,probestub;,include/linux/tracepoint-defs.h)
jf-compat += $(call jf-has,FTRACE_REGS,FTRACE_OPS_FL_RECURSION[^_],include/linux/ftrace.h)
jf-compat += $(call jf-has,FTRACE_ARGUMENT,ftrace_regs_get_argument,include/linux/ftrace_regs.h include/linux/ftrace.h \
	arch/$(SRCARCH)/include/asm/ftrace.h)
jf-compat += $(call jf-has,FTRACE_FILTER_IPS,int ftrace_set_filter_ips,include/linux/ftrace.h)
jf-compat += $(call jf-exports,FTRACE_FREE_FILTER,ftrace_free_filter)
jf-compat += $(call jf-exports,STATIC_CALL_RETURN0,__static_call_return0)
ccflags-y += $(jf-compat)
