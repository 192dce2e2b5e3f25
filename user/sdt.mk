# SPDX-License-Identifier: GPL-2.0
# SDT probes as patched sites (include/jumpfunc-sdt/sys/sdt.h), for Makefile:
#   make sdt-check   the tests
#   make sdt-programs  builds three programs of Debian with both headers, tests and compares them; PROGRAMS= some
SDT_TEST := test/sdt
SDT_SOURCES := $(addprefix $(SDT_TEST)/,test_sdt.c test_sdt_second.c test_sdt_semaphore.c)
SDT_HEADER := $(TOP)/include/jumpfunc-sdt/sys/sdt.h
SDT_DEPS := $(SDT_SOURCES) $(SDT_TEST)/test_sdt.h $(SDT_HEADER) $(LIB_TEST_DEPS)
SDT_CFLAGS = -I$(TOP)/include/jumpfunc-sdt $(LIB_TEST_CFLAGS)
SDT_CXXFLAGS = -I$(TOP)/include/jumpfunc-sdt $(LIB_TEST_CXXFLAGS)
SDT_CHECKS := $(addprefix $(OUT)/,test_sdt test_sdt-O0 test_sdt-lto test_sdt-nopie test_sdt-san test_sdt-cxx)
ifneq ($(CLANG),)
SDT_CHECKS += $(OUT)/test_sdt-clang $(OUT)/test_sdt-clang-O0
endif
ifneq ($(CLANGXX),)
SDT_CHECKS += $(OUT)/test_sdt-clangxx
endif

$(OUT)/test_sdt: $(SDT_DEPS)
	$(CC) $(SDT_CFLAGS) -O2 -o $@ $(SDT_SOURCES) $(LIB_SHARED) -ldl
$(OUT)/test_sdt-O0: $(SDT_DEPS)
	$(CC) $(SDT_CFLAGS) -O0 -o $@ $(SDT_SOURCES) $(LIB_SHARED) -ldl
$(OUT)/test_sdt-lto: $(SDT_DEPS)
	$(CC) $(SDT_CFLAGS) -O2 -flto=2 --param lto-min-partition=1 --param lto-partitions=8 -o $@ $(SDT_SOURCES) $(LIB_SHARED) -ldl
$(OUT)/test_sdt-nopie: $(SDT_DEPS)
	$(CC) $(SDT_CFLAGS) -Os -fno-pie -no-pie -ffunction-sections -fdata-sections -Wl,--gc-sections -o $@ $(SDT_SOURCES) $(LIB_SHARED) -ldl
$(OUT)/test_sdt-static: $(SDT_DEPS)
	$(CC) $(SDT_CFLAGS) -O2 -static -Wno-unused-function -o $@ $(SDT_SOURCES) $(LIB_STATIC)
# The library's sources in the program, so that they are looked at, too.
$(OUT)/test_sdt-san: $(SDT_DEPS) $(LIB_SOURCES)
	$(CC) $(SDT_CFLAGS) $(SAN) -rdynamic -o $@ $(SDT_SOURCES) $(LIB_SOURCES) -ldl
$(OUT)/test_sdt-clang: $(SDT_DEPS)
	$(CLANG) $(SDT_CFLAGS) -O2 -o $@ $(SDT_SOURCES) $(LIB_SHARED) -ldl
$(OUT)/test_sdt-clang-O0: $(SDT_DEPS)
	$(CLANG) $(SDT_CFLAGS) -O0 -o $@ $(SDT_SOURCES) $(LIB_SHARED) -ldl
$(OUT)/test_sdt-cxx: $(SDT_DEPS)
	$(CXX) $(SDT_CXXFLAGS) -O2 -o $@ -x c++ $(SDT_SOURCES) $(LIB_SHARED) -ldl
$(OUT)/test_sdt-clangxx: $(SDT_DEPS)
	$(CLANGXX) $(SDT_CXXFLAGS) -O1 -o $@ -x c++ $(SDT_SOURCES) $(LIB_SHARED) -ldl
$(OUT)/sdt-plugin.so: $(SDT_TEST)/test_sdt_plugin.c $(SDT_TEST)/test_sdt.h $(SDT_HEADER) $(LIB_TEST_DEPS)
	$(CC) $(SDT_CFLAGS) -O2 -fPIC -shared -o $@ $< $(LIB_SHARED)

sdt-check: $(LIBS) $(RECORD_LIBS) $(SDT_CHECKS) $(OUT)/test_sdt-static $(OUT)/sdt-plugin.so
	+@rc=0; \
	for t in $(SDT_CHECKS); do \
		for trap in never always; do \
			echo "# $${t##*/}, INT3: $$trap"; JUMPFUNC_TRAP=$$trap $$t $(OUT)/sdt-plugin.so || rc=1; \
		done; \
	done; \
	echo "# test_sdt-static"; $(OUT)/test_sdt-static - || rc=1; \
	echo "# sites.sh"; CC="$(CC)" CXX="$(CXX)" CLANG="$(CLANG)" CLANGXX="$(CLANGXX)" $(SDT_TEST)/sites.sh $(OUT) || rc=1; \
	echo "# record.sh"; CC="$(CC)" $(SDT_TEST)/record.sh $(OUT) || rc=1; \
	exit $$rc

PROGRAMS ?= memcached tcl python
sdt-programs: $(LIBS) $(RECORD_LIBS)
	$(TOP)/harness/deps.sh programs
	$(SDT_TEST)/programs/run.sh $(OUT) $(PROGRAMS)
.PHONY: sdt-programs

.PHONY: sdt-check

# With what install.mk installs; its variables.
PROGRAM_HEADERS += $(TOP)/include/jumpfunc/sdt.h
install: install-sdt
install-sdt:
	$(INSTALL) -d $(call to,$(INCLUDEDIR)/jumpfunc-sdt/sys)
	$(INSTALL) -m 644 $(SDT_HEADER) $(call to,$(INCLUDEDIR)/jumpfunc-sdt/sys/)

uninstall: uninstall-sdt
uninstall-sdt:
	rm -rf $(call to,$(INCLUDEDIR)/jumpfunc-sdt)

.PHONY: install-sdt uninstall-sdt
