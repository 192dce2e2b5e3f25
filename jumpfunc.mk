# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# For the Kbuild or Makefile of a module that uses jumpfunc:
#
#	include /usr/share/jumpfunc/jumpfunc.mk
#	ccflags-y += $(JUMPFUNC_CFLAGS)
#	KBUILD_EXTRA_SYMBOLS += $(JUMPFUNC_SYMVERS)
#	obj-m += mymodule.o
#
# Works in a clone of jumpfunc (after make), where `make install` puts it, and in Debian's jumpfunc-dev.
# The exported symbols are those of the kernel that the module is built for, so jumpfunc has to have been
# built for that kernel. A DKMS package says BUILD_DEPENDS[0]="jumpfunc" for that.
JUMPFUNC_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

JUMPFUNC_CFLAGS := -I$(JUMPFUNC_DIR)/include

# Of a clone, which is built for one kernel at a time; of `make install`; of DKMS, where it is a link that DKMS
# keeps pointed at the version in use.
ifneq ($(wildcard $(JUMPFUNC_DIR)/Module.symvers),)
JUMPFUNC_SYMVERS := $(shell ! grep -qsaF 'vermagic=$(KERNELRELEASE) ' '$(JUMPFUNC_DIR)/jumpfunc.ko' || echo '$(JUMPFUNC_DIR)/Module.symvers')
else
JUMPFUNC_SYMVERS := $(firstword $(wildcard \
	$(JUMPFUNC_DIR)/symvers/$(KERNELRELEASE)/Module.symvers \
	/var/lib/dkms/jumpfunc/kernel-$(KERNELRELEASE)-$(if $(CONFIG_ARM64),aarch64,x86_64)/Module.symvers))
endif

# Without them modpost would only say that each symbol is undefined. `make clean` needs none.
ifeq ($(JUMPFUNC_SYMVERS)$(filter %/Makefile.clean,$(MAKEFILE_LIST)),)
ifneq ($(KERNELRELEASE),)
$(error jumpfunc is not built for kernel $(KERNELRELEASE): \
	dkms autoinstall -k $(KERNELRELEASE), or make KVER=$(KERNELRELEASE) in $(JUMPFUNC_DIR))
endif
endif

# $(eval $(call jumpfunc-calls,mymodule)), after mymodule-y: the module's calls of functions __dtrace_PROVIDER___NAME
# that do not exist become probes (jumpfunc/calls.h). $1_calls.c defines those that its objects name. A jump to a
# function, at the end of another one, would not be a call. clang has to write text for GNU as.
jumpfunc-calls-of = $(filter-out $1_calls.o,$($1-y) $($1-m) $($1-objs))
jumpfunc-calls-flags = -fno-optimize-sibling-calls $(if $(CONFIG_CC_IS_CLANG),-no-integrated-as -DJF_CALLS_TEXT)
define jumpfunc-calls
$(if $(call jumpfunc-calls-of,$1),,$(error jumpfunc-calls: $1-y is empty; a module with probes has a list of files))
$(foreach o,$1_calls.o $(call jumpfunc-calls-of,$1),$(eval CFLAGS_$o += $(jumpfunc-calls-flags)))
$(obj)/$1_calls.c: $(addprefix $(obj)/,$(call jumpfunc-calls-of,$1))
	$$(Q){ $$(NM) -u $$^ && echo end; } | awk -v module=$1 "$$$$JUMPFUNC_CALLS_AWK" >$$@.tmp && mv $$@.tmp $$@
$1-y += $1_calls.o
clean-files += $1_calls.c $1_calls.c.tmp
endef

# From the names that objects do not define to the source that does. The first three underscores in a row end the
# provider, as for jf-sdt.
define JUMPFUNC_CALLS_AWK
BEGIN { print "// SPDX-License-Identifier: GPL-2.0"; print "/* Made by jumpfunc.mk. */"; print "#include <jumpfunc/calls.h>" }
$$NF == "end" { whole = 1 }
$$1 != "U" { next }
sub(/^__jf_test___dtraceenabled_/, "", $$2) { if (!tested[$$2]++) tests[++num] = $$2; $$2 = "__jf_func___dtrace_" $$2 }
sub(/^__jf_func___dtrace_/, "", $$2) && !seen[$$2]++ {
	at = index($$2, "___")
	if (at > 1 && length($$2) > at + 2) name = substr($$2, 1, at - 1) ":" substr($$2, at + 3)
	else if ($$2 ~ /^probe_./) name = "sdt:" substr($$2, 7)
	else {
		print module ": __dtrace_" $$2 " is neither __dtrace_PROVIDER___NAME nor __dtrace_probe_NAME" >"/dev/stderr"
		exit failed = 1
	}
	print "__JF_DEFINE_CALLED(__dtrace_" $$2 ", \"" name "\");"
}
END {
	if (failed || !whole) exit 1
	for (i = 1; i <= num; i++) print "__JF_DEFINE_TESTED(__dtraceenabled_" tests[i] ", __dtrace_" tests[i] ");"
}
endef
export JUMPFUNC_CALLS_AWK
