# SPDX-License-Identifier: GPL-2.0
# jf-sdt, which makes probes of calls of functions that do not exist, for Makefile:
#   make jf-sdt        the tool
#   make calls-check   its tests; CALLS_FUZZ= inputs of the fuzzer (default 20000)
#   make calls-compilers   a row for each compiler that is here, and in the systems in the folders of ROOTS=
#   make calls-mutants     breaks the tool in many ways; the tests must notice each. MUTANTS= is a pattern
#   make calls-program     zstd of Debian with 5,665 probes, enabled and disabled while its threads run; downloads 2 MB
CALLS_FUZZ ?= 20000
CALLS_SOURCES := $(sort $(wildcard sdt/*.c))
CALLS_HEADERS := $(wildcard sdt/*.h) $(TOP)/common/x86/flow.h
CALLS_TEST := test/sdt

jf-sdt: $(OUT)/jf-sdt

$(OUT)/jf-sdt: $(CALLS_SOURCES) $(CALLS_HEADERS) $(OUT)/version | $(OUT)
	$(CC) $(CPPFLAGS) $(LIB_CFLAGS) -fPIE -DJF_VERSION='"$(VERSION)"' $(LDFLAGS) -o $@ $(CALLS_SOURCES)
$(OUT)/jf-sdt-san: $(CALLS_SOURCES) $(CALLS_HEADERS) $(OUT)/version | $(OUT)
	$(CC) $(JF_CFLAGS) $(SAN) -DJF_VERSION='"$(VERSION)"' -o $@ $(CALLS_SOURCES)
$(OUT)/fuzz_calls: $(CALLS_TEST)/fuzz_calls.c $(CALLS_SOURCES) $(CALLS_HEADERS) | $(OUT)
	$(CLANG) $(LIB_TEST_CFLAGS) -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ \
		$< $(filter-out sdt/main.c,$(CALLS_SOURCES))

calls-check: $(LIBS) $(RECORD_LIBS) $(OUT)/jf-sdt $(OUT)/jf-sdt-san $(if $(CLANG),$(OUT)/fuzz_calls)
	+@rc=0; echo "# calls.sh"; CC="$(CC)" CXX="$(CXX)" $(CALLS_TEST)/calls.sh $(OUT) || rc=1; \
	echo "# calls_files.sh"; CC="$(CC)" CXX="$(CXX)" $(CALLS_TEST)/calls_files.sh $(OUT) || rc=1; \
	echo "# calls_build.sh"; MAKE="$(MAKE)" CC="$(CC)" $(CALLS_TEST)/calls_build.sh $(OUT) || rc=1; \
	$(if $(CLANG),echo "# fuzz_calls"; CC="$(CC)" $(CALLS_TEST)/fuzz_calls.sh $(OUT) $(CALLS_FUZZ) || rc=1;,) \
	exit $$rc

calls-compilers: $(LIBS) $(OUT)/jf-sdt-san
	CC="$(CC)" $(CALLS_TEST)/calls_compilers.sh $(OUT) $(ROOTS)

calls-program: $(LIBS) $(OUT)/jf-sdt
	$(TOP)/harness/deps.sh programs
	$(CALLS_TEST)/programs/many.sh $(OUT)

# The tool broken in many ways; the tests have to notice each. MUTANTS= is a pattern.
calls-mutants:
	JF_BUILD=$(abspath $(OUT)/..) $(TOP)/harness/mutants.sh $(if $(MUTANTS),-m '$(MUTANTS)') $(CURDIR)/$(CALLS_TEST)/calls.mutants

mutants: calls-mutants

.PHONY: jf-sdt calls-check calls-compilers calls-program calls-mutants

# With what install.mk installs; its variables.
SDTDIR = $(PREFIX)/share/jumpfunc-sdt
install: install-jf-sdt
install-jf-sdt: jf-sdt
	$(INSTALL) -d $(call to,$(PREFIX)/bin) $(call to,$(COMPLETIONDIR)) $(call to,$(SDTDIR))
	$(INSTALL) -m 755 $(OUT)/jf-sdt $(call to,$(PREFIX)/bin/)
	$(INSTALL) -m 644 sdt/jf-sdt.bash $(call to,$(COMPLETIONDIR)/jf-sdt)
	$(INSTALL) -m 644 dist/jumpfunc-sdt.mk dist/jumpfunc-sdt.ini $(call to,$(SDTDIR)/)

uninstall: uninstall-jf-sdt
uninstall-jf-sdt:
	rm -f $(call to,$(PREFIX)/bin/jf-sdt) $(call to,$(COMPLETIONDIR)/jf-sdt)
	rm -rf $(call to,$(SDTDIR))

.PHONY: install-jf-sdt uninstall-jf-sdt
