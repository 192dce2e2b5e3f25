# SPDX-License-Identifier: GPL-2.0
# The generic form of headers and library: on this machine, and on others by cross
# compilers and emulators. For Makefile: `make lib-check-arch`, a part of `make lib-check`.
# What is not installed is left out, with a line that names the packages.
lib-check-arch: $(LIBS)
	+@echo "# arch.sh"; MAKE="$(MAKE)" CC="$(CC)" CXX="$(CXX)" CLANG="$(CLANG)" test/arch.sh $(OUT)

lib-check: lib-check-arch

.PHONY: lib-check-arch
generic-sources:
	@printf "%s\n" $(LIB_GENERIC)
record-sources:
	@printf "%s\n" $(RECORD_SOURCES)
.PHONY: generic-sources record-sources
