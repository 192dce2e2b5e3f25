# SPDX-License-Identifier: GPL-2.0
# The tests of libjumpfunc, for Makefile: `make lib-check` runs them. Builds whose
# compiler is not installed are left out, with a line that says so.
MUSL ?= $(shell command -v musl-gcc 2>/dev/null)
CLANGXX ?= $(shell command -v clang++ 2>/dev/null)
LLD ?= $(shell command -v ld.lld 2>/dev/null)

# -fexceptions: as pkg-config has it. Some builds go without, as their programs would.
LIB_TEST_CFLAGS := -I$(TOP) -I$(TOP)/include -I. -std=gnu11 $(WARN) -g -pthread -fexceptions
LIB_TEST_CXXFLAGS := -I$(TOP) -I$(TOP)/include -std=c++17 -Wall -Wextra $(WERROR) -Wshadow -g -pthread
LIB_SHARED := -L$(OUT) -ljumpfunc -Wl,-rpath,$(OUT)
LIB_STATIC := $(OUT)/libjumpfunc.a
LIB_TEST_DEPS := $(LIBS) $(LIB_HEADERS) test/tap.h $(wildcard $(TOP)/selftests/vectors/*.h)

$(OUT)/test_lib: test/test_lib.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -o $@ $< $(LIB_SHARED)
# Branches that lead to a test: what works where text cannot be written.
$(OUT)/test_lib-tested: test/test_lib.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -DJF_TESTED -o $@ $< $(LIB_SHARED)
$(OUT)/test_lib-O0: test/test_lib.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O0 -fno-exceptions -o $@ $< $(LIB_SHARED)
$(OUT)/test_lib-sections: test/test_lib.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -Os -fno-exceptions -ffunction-sections -fdata-sections -Wl,--gc-sections -o $@ $< $(LIB_SHARED)
$(OUT)/test_lib-cet: test/test_lib.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -fcf-protection=full -o $@ $< $(LIB_SHARED)
# In parts, as programs are that are large.
$(OUT)/test_lib-lto: test/test_lib.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -flto=2 --param lto-min-partition=1 --param lto-partitions=8 -o $@ $< $(LIB_SHARED)
$(OUT)/test_lib-nopie: test/test_lib.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -fno-exceptions -fno-pie -no-pie -o $@ $< $(LIB_SHARED)
$(OUT)/test_lib-static: test/test_lib.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -static -o $@ $< $(LIB_STATIC)
$(OUT)/test_lib-static-pie: test/test_lib.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -fPIE -static-pie -o $@ $< $(LIB_STATIC)
# The library's sources in the program, so that they are looked at, too, with runs, which are
# else for changes of many sites.
$(OUT)/test_lib-san: test/test_lib.c $(LIB_SOURCES) $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) $(SAN) -DEXACT_MAX=0 -DFAR_SITES -o $@ $< $(LIB_SOURCES)
# The former without sanitizers, which is soon built.
$(OUT)/test_lib-runs: test/test_lib.c $(LIB_SOURCES) $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O1 -DEXACT_MAX=0 -DFAR_SITES -o $@ $< $(LIB_SOURCES)
$(OUT)/test_lib-tsan: test/test_lib.c $(LIB_SOURCES) $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O1 -fsanitize=thread -o $@ $< $(LIB_SOURCES)
$(OUT)/test_lib-clang: test/test_lib.c $(LIB_TEST_DEPS)
	$(CLANG) $(LIB_TEST_CFLAGS) -O2 -o $@ $< $(LIB_SHARED)
$(OUT)/test_lib-clang-O0: test/test_lib.c $(LIB_TEST_DEPS)
	$(CLANG) $(LIB_TEST_CFLAGS) -O0 -DFAR_SITES -fno-exceptions -o $@ $< $(LIB_SHARED)
$(OUT)/test_lib-clang-san: test/test_lib.c $(LIB_SOURCES) $(LIB_TEST_DEPS)
	$(CLANG) $(LIB_TEST_CFLAGS) $(SAN) -DFAR_SITES -o $@ $< $(LIB_SOURCES)
$(OUT)/test_lib-clang-lto: test/test_lib.c $(LIB_TEST_DEPS)
	$(CLANG) $(LIB_TEST_CFLAGS) -O2 -flto -fuse-ld=lld -ffunction-sections -Wl,--gc-sections -o $@ $< $(LIB_SHARED)
# The unwinder of a compiler that is the other libc's cannot be linked with this one.
$(OUT)/test_lib-musl: test/test_lib.c $(LIB_SOURCES) $(LIB_TEST_DEPS)
	$(MUSL) $(LIB_TEST_CFLAGS) -O2 -fno-exceptions -static -o $@ $< $(LIB_SOURCES)
$(OUT)/test_lib-musl-pie: test/test_lib.c $(LIB_SOURCES) $(LIB_TEST_DEPS)
	$(MUSL) $(LIB_TEST_CFLAGS) -O2 -fno-exceptions -fPIE -static-pie -o $@ $< $(LIB_SOURCES)
$(OUT)/test_lib_cxx: test/test_lib_cxx.cc test/test_lib_cxx2.cc test/test_lib_cxx.h $(LIB_TEST_DEPS)
	$(CXX) $(LIB_TEST_CXXFLAGS) -O2 -o $@ $(filter %.cc,$^) $(LIB_SHARED)
$(OUT)/test_lib_cxx-O0: test/test_lib_cxx.cc test/test_lib_cxx2.cc test/test_lib_cxx.h $(LIB_TEST_DEPS)
	$(CXX) $(LIB_TEST_CXXFLAGS) -O0 -o $@ $(filter %.cc,$^) $(LIB_SHARED)
$(OUT)/test_lib_cxx-clang: test/test_lib_cxx.cc test/test_lib_cxx2.cc test/test_lib_cxx.h $(LIB_TEST_DEPS)
	$(CLANGXX) $(LIB_TEST_CXXFLAGS) -O2 -o $@ $(filter %.cc,$^) $(LIB_SHARED)
$(OUT)/test_lib_cxx-clang-O0: test/test_lib_cxx.cc test/test_lib_cxx2.cc test/test_lib_cxx.h $(LIB_TEST_DEPS)
	$(CLANGXX) $(LIB_TEST_CXXFLAGS) -O0 -o $@ $(filter %.cc,$^) $(LIB_SHARED)

# The protocol's steps where guards are no breakpoints.
$(OUT)/test_guard: test/test_guard.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) $(SAN) -o $@ $<

# The library stopped at each step, and what is inside of it.
INSIDE := test/inside.c $(LIB_OBJECTS)
INSIDE_DEPS := $(INSIDE) test/inside.h lib/lib.h
STEPS_CFLAGS := -O2 -Wl,--wrap=jf_sync_cores -Wl,--wrap=jf_now_ns
$(OUT)/test_steps: test/test_steps.c $(INSIDE_DEPS) $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) $(STEPS_CFLAGS) -o $@ $< $(INSIDE)
# What the SIGTRAP handler does for an instruction, and the code of images.
$(OUT)/test_emulate: test/test_emulate.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -o $@ $<
$(OUT)/test_image: test/test_image.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -o $@ $< $(LIB_SHARED)
# Functions that want each other's place.
$(OUT)/test_dense: test/test_dense.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -o $@ $< $(LIB_SHARED)

$(OUT)/test_lib_deny: test/test_lib_deny.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -o $@ $< $(LIB_SHARED)
$(OUT)/test_lib_dl: test/test_lib_dl.c test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -rdynamic -o $@ $< $(LIB_SHARED) -ldl

# By name, in batches, and counted; in C++, and with the library's sources looked at, too.
LIST_SOURCES := test/test_lib_list.c test/test_lib_list_array.c
$(OUT)/test_lib_list: $(LIST_SOURCES) test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -rdynamic -o $@ $(LIST_SOURCES) $(LIB_SHARED) -ldl
$(OUT)/test_lib_list_array.o: test/test_lib_list_array.c $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -c -o $@ $<
$(OUT)/test_lib_list-cxx: test/test_lib_list.c $(OUT)/test_lib_list_array.o test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(CXX) $(LIB_TEST_CXXFLAGS) -O2 -rdynamic -o $@ $(OUT)/test_lib_list_array.o -x c++ $< $(LIB_SHARED) -ldl
$(OUT)/test_lib_list-san: $(LIST_SOURCES) test/test_lib_plugin.h $(LIB_SOURCES) $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) $(SAN) -rdynamic -o $@ $(LIST_SOURCES) $(LIB_SOURCES) -ldl
$(OUT)/test_lib_count: test/test_lib_count.c test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -rdynamic -o $@ $< $(LIB_SHARED) -ldl

LIB_PLUGIN = $(CC) $(LIB_TEST_CFLAGS) -O2 -fPIC -shared -o $@ test/test_lib_plugin.c $(LIB_SHARED)
$(OUT)/plugin1.so $(OUT)/plugin2.so: test/test_lib_plugin.c test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(LIB_PLUGIN)
# As if it had been built with the headers of another version.
$(OUT)/other-version.h: | $(OUT)
	printf '#include <%s>\n#undef JF_TABLE_MAGIC\n#define JF_TABLE_MAGIC 0x6a66ffff\n' \
		jumpfunc/detail/types.h > $@
$(OUT)/plugin-bad.so: test/test_lib_plugin.c test/test_lib_plugin.h $(OUT)/other-version.h $(LIB_TEST_DEPS)
	$(LIB_PLUGIN) -include $(OUT)/other-version.h
$(OUT)/plugin-greedy.so: test/test_lib_plugin.c test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(LIB_PLUGIN) -DHOST_KEYS=4

LIB_BUILDS := test_lib-tested test_lib-O0 test_lib-sections test_lib-cet test_lib-lto test_lib-nopie test_lib-static \
	test_lib-static-pie test_lib-san test_lib_cxx test_lib_cxx-O0
# A kernel that moves things far apart leaves its shadow no room.
ifneq ($(filter /%,$(shell $(CC) -print-file-name=libtsan.so)),)
ifeq ($(shell test "$$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null)" -gt 28 && echo far),)
LIB_BUILDS += test_lib-tsan
endif
endif
ifneq ($(CLANG),)
LIB_BUILDS += test_lib-clang test_lib-clang-O0 test_lib-clang-san
ifneq ($(LLD),)
LIB_BUILDS += test_lib-clang-lto
endif
endif
ifneq ($(CLANGXX),)
LIB_BUILDS += test_lib_cxx-clang test_lib_cxx-clang-O0
endif
ifneq ($(MUSL),)
LIB_BUILDS += test_lib-musl test_lib-musl-pie
endif
LIB_BUILDS := $(addprefix $(OUT)/,$(LIB_BUILDS))
LIB_PLUGINS := $(addprefix $(OUT)/,plugin1.so plugin2.so plugin-bad.so plugin-greedy.so)
LIB_LISTS := $(addprefix $(OUT)/,test_lib_list test_lib_list-cxx test_lib_list-san test_lib_count)
LIB_CHECKS := $(addprefix $(OUT)/,test_guard test_emulate test_steps test_image test_dense test_lib test_lib_deny test_lib_dl) \
	$(LIB_PLUGINS) $(LIB_BUILDS) $(LIB_LISTS)

# The sample that is a module, too.
SAMPLE := $(addprefix $(TOP)/samples/jf_sample_both_,middle.c program.c)
$(OUT)/sample_both: $(SAMPLE) $(TOP)/samples/jf_sample_both.h $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -o $@ $(SAMPLE) $(LIB_SHARED)
LIB_CHECKS += $(OUT)/sample_both

# Settings of the environment, what jf_stats has to say then, and which build of the test.
LIB_MODES := JUMPFUNC=:mem:flip: JUMPFUNC=off:none:flip:-tested JUMPFUNC_WRITER=mem:mem:flip: \
	JUMPFUNC_WRITER=remap:remap:flip: JUMPFUNC_WRITER=remap:remap:flip:-tested \
	JUMPFUNC_WRITER=none:none:flip:-tested JUMPFUNC_TRAP=never:mem:flip: JUMPFUNC_TRAP=always:mem:int3:

lib-check: $(LIB_CHECKS)
	@rc=0; \
	echo "TAP version 13"; \
	for t in test_guard test_emulate; do echo "# $$t"; $(OUT)/$$t || rc=1; done; \
	for e in JUMPFUNC_TRAP=never JUMPFUNC_TRAP=always JUMPFUNC_WRITER=remap; do \
		for t in test_steps test_image; do echo "# $$t with $$e"; env $$e $(OUT)/$$t || rc=1; done; \
	done; \
	for trap in never always; do echo "# test_dense, INT3: $$trap"; JUMPFUNC_TRAP=$$trap $(OUT)/test_dense || rc=1; done; \
	for m in $(LIB_MODES); do \
		set -- $$(echo "$$m" | tr : ' '); \
		echo "# test_lib$$4 with $$1"; env "$$1" $(OUT)/test_lib$$4 "$$2" "$$3" || rc=1; \
	done; \
	for t in $(LIB_BUILDS); do \
		echo "# $${t##*/}"; $$t mem flip || rc=1; \
		echo "# $${t##*/}, by INT3"; JUMPFUNC_TRAP=always $$t mem int3 || rc=1; \
	done; \
	for form in '' int3; do \
		echo "# test_lib_deny $$form"; $(OUT)/test_lib_deny $(OUT)/test_lib-tested $$form || rc=1; \
	done; \
	for trap in never always; do \
		echo "# test_lib_dl, INT3: $$trap"; \
		JUMPFUNC_TRAP=$$trap $(OUT)/test_lib_dl $(LIB_PLUGINS) || rc=1; \
	done; \
	for t in $(LIB_LISTS); do \
		for trap in never always; do \
			echo "# $${t##*/}, INT3: $$trap"; JUMPFUNC_TRAP=$$trap $$t $(OUT)/plugin1.so || rc=1; \
		done; \
	done; \
	echo "# hostile"; test/hostile/run.sh $(OUT) || rc=1; \
	echo "# objects.sh"; \
	CC="$(CC)" test/objects.sh $(OUT) $(LIB_PLUGINS) $(OUT)/test_lib $(OUT)/libjumpfunc.so || rc=1; \
	exit $$rc
	@$(if $(CLANG),:,echo "# clang is not installed: its builds were skipped (apt-get install clang)")
	@$(if $(LLD),:,echo "# lld is not installed: clang's LTO was skipped (apt-get install lld)")
	@$(if $(MUSL),:,echo "# musl is not installed: its builds were skipped (apt-get install musl-tools)")

.PHONY: lib-check

# The storm. What is broken on purpose has the library in it.
$(OUT)/stress-lib: test/stress_lib.c test/stress_common.h test/options.h test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -rdynamic -o $@ $< $(LIB_SHARED) -ldl
$(OUT)/stress-lib-tested: test/stress_lib.c test/stress_common.h test/options.h test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -DJF_TESTED -rdynamic -o $@ $< $(LIB_SHARED) -ldl
$(OUT)/stress-lib-break: test/stress_lib.c $(LIB_SOURCES) test/stress_common.h test/options.h test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -DJF_BREAK -rdynamic -o $@ $< $(LIB_SOURCES) -ldl

$(OUT)/plugin-tested.so: test/test_lib_plugin.c test/test_lib_plugin.h $(LIB_TEST_DEPS)
	$(LIB_PLUGIN) -DJF_TESTED

# Each form and writer in turn.
lib-stress: $(OUT)/stress-lib $(OUT)/stress-lib-tested $(OUT)/plugin1.so $(OUT)/plugin-tested.so
	$(OUT)/stress-lib $(STRESS_LIB_ARGS) $(OUT)/plugin1.so
	JUMPFUNC_TRAP=always $(OUT)/stress-lib $(STRESS_LIB_ARGS) $(OUT)/plugin1.so
	JUMPFUNC_WRITER=remap $(OUT)/stress-lib $(STRESS_LIB_ARGS) $(OUT)/plugin1.so
	$(OUT)/stress-lib-tested $(STRESS_LIB_ARGS) $(OUT)/plugin-tested.so
	JUMPFUNC=off $(OUT)/stress-lib-tested $(STRESS_LIB_ARGS) $(OUT)/plugin-tested.so

.PHONY: lib-stress

# The library broken in many ways; the tests have to notice each. MUTANTS= is a pattern.
lib-mutants:
	JF_BUILD=$(abspath $(OUT)/..) $(TOP)/harness/mutants.sh $(if $(MUTANTS),-m '$(MUTANTS)') $(CURDIR)/test/library.mutants

.PHONY: lib-mutants
