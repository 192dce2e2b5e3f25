# SPDX-License-Identifier: GPL-2.0
# Builds jumpfunc.ko out of tree, and runs it in virtual machines; see README.md, or `make help`.
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build

# BTF of a module needs pahole, and a kernel that has BTF builds without it.
nobtf := $(if $(shell command -v pahole 2>/dev/null),,CONFIG_DEBUG_INFO_BTF_MODULES=)

ifdef KERNEL
modules:
	+@scripts/build.sh $(KERNEL)
else
modules:
	@[ -e "$(KDIR)/Makefile" ] || { \
		echo "jumpfunc: no kernel headers in $(KDIR)." >&2; \
		echo "  for this kernel: apt-get install linux-headers-$(KVER)" >&2; \
		echo "  for another one: make KERNEL=6.1 fetches what it needs (make help)" >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) $(nobtf) modules
endif

clean:
	@if [ -e "$(KDIR)/Makefile" ]; then $(MAKE) -C $(KDIR) M=$(CURDIR) clean; fi
	rm -rf build

vm: VMKERNEL = $(or $(KERNEL),6.1)
vm:
	+@scripts/deps.sh vm
	+@scripts/build.sh $(VMKERNEL)
	@selftests/vm/run --kernel $(VMKERNEL) --shell $(VMARGS)

.PHONY: modules clean vm
