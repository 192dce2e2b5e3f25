# SPDX-License-Identifier: GPL-2.0
# libjumpfunc-trace, which records a program's events, for Makefile:
#   make trace         libjumpfunc-trace.so.1, libjumpfunc-trace.a, jf-recover and jf-trace
#   make trace-check   its tests; KILLS= rounds of the writers that are killed (default 300), FUZZ= inputs
#                      of each fuzzer (default 20000); TYPES_SECONDS= of the one of debug information, 0: as long as
#                      FUZZ inputs take (default 8, but 0 if FUZZ is given)
#   make trace-mutants breaks the ring in many ways; the tests must notice each
#   make trace-bench   the cost of an event, beside LTTng-UST
#   make bench-ust     the same of each tracer, in one run: BENCH_ARGS=... (ust.py --help)
#   make bench-programs    what tracing costs redis, python, sqlite and zstd
# These three install their contenders first; a contender that cannot be installed is skipped by name.
KILLS ?= 300
FUZZ ?= 20000
TYPES_SECONDS ?= $(if $(filter 20000,$(FUZZ)),8,0)

RECORD_SOURCES := $(addprefix trace/,socket.c remains.c control.c words.c recording.c events.c log.c provider.c glob.c wishes.c sdt.c draft.c choice.c rings.c ring.c counts.c grow.c folder.c packet.c live.c metadata.c clock.c file.c own.c env.c recover.c)
RECORD_OBJECTS := $(RECORD_SOURCES:trace/%.c=$(OUT)/trace/%.o)
RECORD_LIBS := $(OUT)/libjumpfunc-trace.so $(OUT)/libjumpfunc-trace.a $(OUT)/jf-recover $(OUT)/jf-trace

trace: $(RECORD_LIBS)

$(OUT)/trace/%.o: trace/%.c $(wildcard trace/*.h $(TOP)/include/jumpfunc-lttng/lttng/*.h) lib/error.h $(LIB_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) -c -o $@ $<

# Never unloaded, as libjumpfunc.
$(OUT)/libjumpfunc-trace.so.1: $(RECORD_OBJECTS) trace/libjumpfunc-trace.map $(OUT)/libjumpfunc.so
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $(RECORD_OBJECTS) -pthread -Wl,-soname,libjumpfunc-trace.so.1 \
		-Wl,--version-script=trace/libjumpfunc-trace.map -Wl,-z,nodelete -Wl,-z,defs -L$(OUT) -ljumpfunc
$(OUT)/libjumpfunc-trace.so: $(OUT)/libjumpfunc-trace.so.1
	ln -sf $(<F) $@

# One object that shows what the version script lists, as of libjumpfunc.
$(OUT)/trace/names: trace/libjumpfunc-trace.map names.awk
	@mkdir -p $(@D)
	awk -f names.awk $< > $@
$(OUT)/trace/all.o: $(RECORD_OBJECTS) $(OUT)/trace/names
	$(CC) $(CFLAGS) $(LIB_NATIVE) -r -nostdlib -o $@ $(RECORD_OBJECTS)
	$(OBJCOPY) --keep-global-symbols=$(OUT)/trace/names $@
$(OUT)/libjumpfunc-trace.a: $(OUT)/trace/all.o
	rm -f $@
	$(AR) rcs $@ $<

# It reads and needs no tracepoints.
$(OUT)/jf-recover: trace/jf_recover.c trace/recover.c trace/file.c trace/trace.h $(LIB_HEADERS) | $(OUT)
	$(CC) $(LIB_CFLAGS) -DJF_VERSION='"$(VERSION)"' -fPIE $(LDFLAGS) -o $@ $(filter %.c,$^)

# elfutils' libdw, for names and types of arguments; LIBDW=no leaves it out.
LIBDW ?= $(shell printf "\043include <elfutils/libdwfl.h>\n\043include <dwarf.h>\n" | $(CC) -E -o /dev/null -xc - 2>/dev/null && echo yes)
TOOL_TYPES := $(sort $(wildcard trace/tool/types/*.c))
TOOL_SOURCES := $(sort $(wildcard trace/tool/*.c)) $(if $(filter yes,$(LIBDW)),$(TOOL_TYPES)) $(addprefix trace/,remains.c words.c pattern.c choice.c glob.c demangle.c recover.c file.c)
TOOL_HEADERS := $(wildcard trace/tool/*.h trace/tool/types/*.h trace/*.h)
$(OUT)/jf-trace: $(TOOL_SOURCES) $(TOOL_HEADERS) $(LIB_HEADERS) $(OUT)/version | $(OUT)
	$(CC) $(LIB_CFLAGS) -fPIE -DJF_VERSION='"$(VERSION)"' $(if $(filter yes,$(LIBDW)),-DJF_HAVE_LIBDW) $(LDFLAGS) -o $@ $(TOOL_SOURCES) -ldl \
		$(if $(filter yes,$(LIBDW)),-ldw -lelf)

RECORD_TEST := test/trace
RECORD_CFLAGS = $(LIB_TEST_CFLAGS) -I$(RECORD_TEST)
RECORD_SHARED := -L$(OUT) -ljumpfunc-trace -ljumpfunc -Wl,-rpath,$(OUT)
RECORD_STATIC := $(OUT)/libjumpfunc-trace.a $(OUT)/libjumpfunc.a
RECORD_TEST_DEPS := $(RECORD_LIBS) $(LIBS) $(wildcard $(RECORD_TEST)/*.h) test/process.h test/tap.h
RECORD_CHECKS := $(addprefix $(OUT)/,test_glob test_wishes test_choice test_filter test_record test_record-O0 test_record-static test_record-san test_control test_control-san steps steps-O0)
ifneq ($(CLANG),)
RECORD_CHECKS += $(OUT)/test_record-clang $(OUT)/steps-clang
endif
ifneq ($(CLANGXX),)
RECORD_CHECKS += $(OUT)/test_record-clangxx
endif
RECORD_CHECKS += $(OUT)/test_record-cxx

$(OUT)/test_record: $(RECORD_TEST)/test_record.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED)
$(OUT)/test_record-O0: $(RECORD_TEST)/test_record.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O0 -fno-exceptions -o $@ $< $(RECORD_SHARED)
$(OUT)/test_record-static: $(RECORD_TEST)/test_record.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -static -o $@ $< $(RECORD_STATIC)
# The library's sources in the program, so that they are looked at, too.
$(OUT)/test_record-san: $(RECORD_TEST)/test_record.c $(RECORD_SOURCES) $(LIB_SOURCES) $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) $(SAN) -o $@ $< $(RECORD_SOURCES) $(LIB_SOURCES)
$(OUT)/test_record-clang: $(RECORD_TEST)/test_record.c $(RECORD_TEST_DEPS)
	$(CLANG) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED)
$(OUT)/test_record-cxx: $(RECORD_TEST)/test_record.c $(RECORD_TEST_DEPS)
	$(CXX) $(LIB_TEST_CXXFLAGS) -I$(RECORD_TEST) -O2 -o $@ -x c++ $< $(RECORD_SHARED)
$(OUT)/test_record-clangxx: $(RECORD_TEST)/test_record.c $(RECORD_TEST_DEPS)
	$(CLANGXX) $(LIB_TEST_CXXFLAGS) -I$(RECORD_TEST) -O2 -o $@ -x c++ $< $(RECORD_SHARED)
$(OUT)/steps: $(RECORD_TEST)/steps.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED)
$(OUT)/steps-O0: $(RECORD_TEST)/steps.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O0 -o $@ $< $(RECORD_SHARED)
$(OUT)/steps-clang: $(RECORD_TEST)/steps.c $(RECORD_TEST_DEPS)
	$(CLANG) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED)
$(OUT)/kills: $(RECORD_TEST)/kills.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED)
$(OUT)/trace_events: $(RECORD_TEST)/trace_events.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED)
$(OUT)/test_wishes: $(RECORD_TEST)/test_wishes.c $(addprefix trace/,wishes.c glob.c demangle.c wishes.h glob.h kind.h demangle.h) $(LIB_HEADERS) test/tap.h
	$(CC) $(RECORD_CFLAGS) $(SAN) -o $@ $(filter %.c,$^)
$(OUT)/test_choice: $(RECORD_TEST)/test_choice.c trace/choice.c trace/choice.h $(LIB_HEADERS) test/tap.h
	$(CC) $(RECORD_CFLAGS) $(SAN) -o $@ $(filter %.c,$^)
$(OUT)/test_filter: $(RECORD_TEST)/test_filter.c trace/tool/filter.c trace/tool/filter.h $(LIB_HEADERS) test/tap.h
	@mkdir -p $(@D)
	$(CC) $(RECORD_CFLAGS) $(SAN) -o $@ $(filter %.c,$^)
$(OUT)/test_glob: $(RECORD_TEST)/test_glob.c trace/glob.c trace/glob.h $(LIB_HEADERS) test/tap.h
	@mkdir -p $(@D)
	$(CC) $(RECORD_CFLAGS) $(SAN) -o $@ $(filter %.c,$^)
# The messages are internal to the library.
$(OUT)/test_control: $(RECORD_TEST)/test_control.c trace/words.c trace/remains.c $(wildcard trace/*.h) $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -o $@ $< trace/words.c trace/remains.c $(RECORD_SHARED)
$(OUT)/test_control-san: $(RECORD_TEST)/test_control.c $(wildcard trace/*.h) $(RECORD_SOURCES) $(LIB_SOURCES) $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) $(SAN) -o $@ $< $(RECORD_SOURCES) $(LIB_SOURCES)
$(OUT)/week: $(RECORD_TEST)/week.c $(OUT)/week-plugin.so $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED) -ldl
$(OUT)/week-plugin.so: $(RECORD_TEST)/plugin.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -fPIC -shared -o $@ $< $(RECORD_SHARED)
$(OUT)/losses: $(RECORD_TEST)/losses.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED)
$(OUT)/count_calls: $(RECORD_TEST)/count_calls.c $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED)
$(OUT)/controlled: $(RECORD_TEST)/controlled.c $(wildcard trace/*.h) $(RECORD_TEST_DEPS)
	$(CC) $(RECORD_CFLAGS) -O2 -o $@ $< $(RECORD_SHARED)
$(OUT)/fuzz_recover: $(RECORD_TEST)/fuzz_recover.c trace/recover.c trace/file.c trace/trace.h $(LIB_HEADERS)
	$(CLANG) $(RECORD_CFLAGS) -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^)
TOOL_PARTS := trace/words.c trace/pattern.c trace/choice.c trace/glob.c trace/demangle.c trace/tool/demangle.c trace/tool/say.c trace/tool/elf.c trace/tool/notes.c
# elfutils is not instrumented: what it does to memory of its own is seen if it crashes.
TYPES_PARTS := $(TOOL_PARTS) trace/tool/links.c trace/tool/types.c $(TOOL_TYPES)
$(OUT)/fuzz_types: $(RECORD_TEST)/fuzz_types.c $(RECORD_TEST)/fuzz_lines.c $(TYPES_PARTS) agent/types.c $(wildcard agent/*.h) $(RECORD_TEST)/fuzz_types.h $(TOOL_HEADERS) $(LIB_HEADERS)
	$(CLANG) $(RECORD_CFLAGS) -DJF_HAVE_LIBDW -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter-out agent/types.c,$(filter %.c,$^)) -ldw -lelf
$(OUT)/fuzz_tool: $(RECORD_TEST)/fuzz_tool.c $(TOOL_PARTS) $(TOOL_HEADERS) $(LIB_HEADERS)
	$(CLANG) $(RECORD_CFLAGS) -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^)

FUZZ_TYPES := $(if $(CLANG),$(if $(filter yes,$(LIBDW)),$(OUT)/fuzz_types))

trace-check: $(RECORD_LIBS) $(RECORD_CHECKS) $(OUT)/kills $(OUT)/trace_events $(OUT)/controlled $(OUT)/count_calls $(OUT)/losses $(OUT)/week $(if $(CLANG),$(OUT)/fuzz_recover $(OUT)/fuzz_tool $(FUZZ_TYPES))
	+@rc=0; for t in $(RECORD_CHECKS); do echo "# $${t##*/}"; $$t || rc=1; done; \
	echo "# imports.sh"; test/imports.sh $(OUT)/libjumpfunc-trace.so || rc=1; \
	echo "# kills"; $(OUT)/kills $(KILLS) || rc=1; \
	echo "# events.sh"; MAKE="$(MAKE)" CC="$(CC)" CXX="$(CXX)" $(RECORD_TEST)/events.sh $(OUT) || rc=1; \
	echo "# lttng.sh"; $(RECORD_TEST)/lttng.sh $(OUT) || rc=1; \
	echo "# disks.sh"; $(RECORD_TEST)/disks.sh $(OUT) || rc=1; \
	echo "# week"; $(OUT)/week $(OUT)/week-plugin.so || rc=1; \
	echo "# losses.sh"; $(RECORD_TEST)/losses.sh $(OUT) || rc=1; \
	echo "# count.sh"; $(RECORD_TEST)/count.sh $(OUT) || rc=1; \
	echo "# jf_trace.sh"; $(RECORD_TEST)/jf_trace.sh $(OUT) || rc=1; \
	$(if $(CLANG),echo "# fuzz_recover"; $(RECORD_TEST)/fuzz.sh $(OUT) $(FUZZ) || rc=1; \
	echo "# fuzz_tool"; $(RECORD_TEST)/fuzz_tool.sh $(OUT) $(FUZZ) || rc=1;,) \
	$(if $(FUZZ_TYPES),echo "# fuzz_types"; CC="$(CC)" CXX="$(CXX)" $(RECORD_TEST)/fuzz_types.sh $(OUT) $(FUZZ) $(TYPES_SECONDS) || rc=1;,) \
	exit $$rc

# Some minutes.
trace-mutants: $(RECORD_LIBS) $(LIBS) $(if $(CLANG),$(OUT)/fuzz_recover)
	$(RECORD_TEST)/mutants.sh $(OUT)

mutants: trace-mutants

.PHONY: trace trace-check trace-mutants

# LTTng-UST's part is there if its headers are.
RECORD_LTTNG := $(shell echo 'int main(void) { return 0; }' | $(CC) -include lttng/tracepoint.h -o /dev/null -xc - -llttng-ust \
	-llttng-ust-common -ldl 2>/dev/null && echo yes)
$(OUT)/trace_bench: trace/bench/bench.c trace/bench/lttng.c $(wildcard trace/bench/*.h) $(RECORD_LIBS) $(LIBS)
	$(CC) $(LIB_TEST_CFLAGS) -Itrace/bench -O2 $(if $(RECORD_LTTNG),-DHAVE_LTTNG) -o $@ $< \
		$(if $(RECORD_LTTNG),-Wno-error -Wno-undef trace/bench/lttng.c) $(RECORD_SHARED) \
		$(if $(RECORD_LTTNG),-llttng-ust -llttng-ust-common -ldl)
$(OUT)/trace_rings: trace/bench/rings.c $(RECORD_LIBS)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -o $@ $<

# Make looks for LTTng's headers before a recipe runs. So the compared programs are installed first, and each benchmark has a make of
# its own.
trace-bench bench-ust bench-programs:
	@$(TOP)/harness/deps.sh peers || echo "jumpfunc: the rows of missing programs are skipped" >&2
	+@$(MAKE) --no-print-directory $@-here
trace-bench-here: $(OUT)/trace_bench $(OUT)/trace_rings
	trace/bench/bench.sh $(OUT) $(BENCH_ARGS)
	$(OUT)/trace_rings

# A program for each contender of the benchmark of tracers; what its loop is compiled with is the only other difference.
UST := trace/bench/ust
UST_OUT := $(OUT)/ust
UST_NAMES := none ours note1 note5 function uftrace fprintf $(if $(RECORD_LTTNG),lttng)
UST_LOOP_note1 := note
UST_LOOP_note5 := note
UST_FLAGS_note5 = -DNOP='".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"'
UST_LOOP_uftrace := function
UST_FLAGS_uftrace := -fpatchable-function-entry=5
UST_FLAGS_ours = $(RECORD_SHARED)
UST_FLAGS_lttng := -Wno-error -Wno-undef -llttng-ust -llttng-ust-common -ldl
$(UST_OUT)/ust_%: $(UST)/*.c $(UST)/*.h trace/bench/*.h trace/bench/lttng.c $(RECORD_LIBS) $(LIBS)
	@mkdir -p $(@D)
	$(CC) $(LIB_TEST_CFLAGS) -O2 -Itrace/bench -o $@ $(UST)/main.c $(UST)/$(or $(UST_LOOP_$*),$*).c $(UST_FLAGS_$*)

bench-ust-here: $(UST_NAMES:%=$(UST_OUT)/ust_%) $(OUT)/jf-trace
	$(UST)/ust.py $(OUT) $(BENCH_ARGS)

# All of them for a moment.
bench-check: $(OUT)/bench-check $(OUT)/forms $(OUT)/trace_bench $(OUT)/trace_rings $(UST_NAMES:%=$(UST_OUT)/ust_%) $(OUT)/jf-trace
	@echo "# check.sh"; bench/check.sh $(OUT)

.PHONY: bench-check

bench-programs-here: $(OUT)/jf-recover $(if $(RECORD_LTTNG),$(UST_OUT)/ust_lttng)
	$(UST)/programs.py $(OUT) $(BENCH_ARGS)

.PHONY: $(foreach b,trace-bench bench-ust bench-programs,$(b) $(b)-here)

# With what install.mk installs; its variables.
PROGRAM_HEADERS += $(addprefix $(TOP)/include/jumpfunc/,record.h recover.h trace_event.h)
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/vendor-completions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
install: install-trace
install-trace: trace $(DIST)/jumpfunc-trace.pc
	$(INSTALL) -d $(call to,$(LIBDIR)) $(call to,$(PKGCONFIGDIR)) $(call to,$(PREFIX)/bin)
	$(INSTALL) -m 755 $(OUT)/libjumpfunc-trace.so.1 $(call to,$(LIBDIR)/)
	ln -sf libjumpfunc-trace.so.1 $(call to,$(LIBDIR)/libjumpfunc-trace.so)
	$(INSTALL) -m 644 $(OUT)/libjumpfunc-trace.a $(call to,$(LIBDIR)/)
	$(INSTALL) -m 644 $(DIST)/jumpfunc-trace.pc $(call to,$(PKGCONFIGDIR)/)
	$(INSTALL) -m 755 $(OUT)/jf-recover $(OUT)/jf-trace $(call to,$(PREFIX)/bin/)
	$(INSTALL) -d $(call to,$(COMPLETIONDIR)) $(call to,$(ZSHDIR)) $(call to,$(FISHDIR))
	$(INSTALL) -m 644 trace/tool/jf-trace.bash $(call to,$(COMPLETIONDIR)/jf-trace)
	$(INSTALL) -m 644 trace/tool/_jf-trace $(call to,$(ZSHDIR)/)
	$(INSTALL) -m 644 trace/tool/jf-trace.fish $(call to,$(FISHDIR)/)
	$(INSTALL) -d $(call to,$(INCLUDEDIR)/jumpfunc-lttng/lttng)
	$(INSTALL) -m 644 $(TOP)/include/jumpfunc-lttng/lttng/*.h $(call to,$(INCLUDEDIR)/jumpfunc-lttng/lttng/)

uninstall: uninstall-trace
uninstall-trace:
	rm -f $(call to,$(LIBDIR)/libjumpfunc-trace.so) $(call to,$(LIBDIR)/libjumpfunc-trace.so.1) \
		$(call to,$(LIBDIR)/libjumpfunc-trace.a) $(call to,$(PKGCONFIGDIR)/jumpfunc-trace.pc) \
		$(call to,$(PREFIX)/bin/jf-recover) $(call to,$(PREFIX)/bin/jf-trace) $(call to,$(COMPLETIONDIR)/jf-trace) \
		$(call to,$(ZSHDIR)/_jf-trace) $(call to,$(FISHDIR)/jf-trace.fish)
	rm -rf $(call to,$(INCLUDEDIR)/jumpfunc-lttng)

.PHONY: install-trace uninstall-trace
