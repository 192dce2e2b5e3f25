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
	/var/lib/dkms/jumpfunc/kernel-$(KERNELRELEASE)-x86_64/Module.symvers))
endif

# Without them modpost would only say that each symbol is undefined. `make clean` needs none.
ifeq ($(JUMPFUNC_SYMVERS)$(filter %/Makefile.clean,$(MAKEFILE_LIST)),)
ifneq ($(KERNELRELEASE),)
$(error jumpfunc is not built for kernel $(KERNELRELEASE): \
	dkms autoinstall -k $(KERNELRELEASE), or make KVER=$(KERNELRELEASE) in $(JUMPFUNC_DIR))
endif
endif
