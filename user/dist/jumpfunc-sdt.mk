# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# For makefiles of programs whose calls of probe functions are to be probes:
#   include /usr/share/jumpfunc-sdt/jumpfunc-sdt.mk
#   LDLIBS += -ljumpfunc
# after CC and CXX are set. Each object file that they compile (-c) goes through jf-sdt. JF_SDT_FLAGS are its options.
JF_SDT ?= jf-sdt
CC := $(JF_SDT) $(JF_SDT_FLAGS) --run $(CC)
CXX := $(JF_SDT) $(JF_SDT_FLAGS) --run $(CXX)
