# SPDX-License-Identifier: GPL-2.0
# The native benchmark. Rows whose package is missing are left out, and the table
# says so. Included by ../Makefile.
BENCH_OUT := $(OUT)/bench.o
BENCH_SOURCES := $(addprefix bench/,main.c measure.c updates.c report.c rows.c targets.c)
BENCH_ROWS := none nop jump flag atomic call_none call_direct call_pointer call_plt call_got \
	call_ifunc call_semi sdt_own work_none work_direct work_pointer chain_none chain_direct chain_pointer \
	call_retpoline call_lfence sub_none sub_direct alu_none alu_nop alu_test alu_flag
# The placements: see VARIANTS in bench.h.
BENCH_VARIANTS := 0 1 2
# Some rows exist for several numbers of subscribers.
BENCH_NUMBERS := 1 2 4 8
BENCH_ROWS += $(foreach n,$(BENCH_NUMBERS),sub_array-$(n) sub_retpoline-$(n))
# Those that use libjumpfunc.
BENCH_JF_ROWS := jf_key_off jf_key_on jf_trace_off jf_sdt_off jf_sdt_on jf_call jf_tramp jf_read jf_count jf_trace_on \
	jf_work_call jf_work_tramp jf_chain_call alu_key_off alu_key_back alu_trace_off \
	$(BENCH_NUMBERS:%=sub_trace-%)
BENCH_LIBS :=
BENCH_SKIPPED :=

# $(call bench_header,FILE): yes if the compiler finds it
bench_header = $(shell printf '\#include <%s>\n' $(1) | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)

ifeq ($(call bench_header,sys/sdt.h),yes)
BENCH_ROWS += sdt
else
BENCH_SKIPPED += skipped: SystemTap SDT: no <sys/sdt.h> (apt-get install systemtap-sdt-dev)\n
endif
ifeq ($(call bench_header,lttng/tracepoint.h),yes)
BENCH_ROWS += lttng
BENCH_LIBS += -ldl
else
BENCH_SKIPPED += skipped: LTTng-UST: no <lttng/tracepoint.h> (apt-get install liblttng-ust-dev)\n
endif

ifeq ($(call bench_header,urcu/urcu-bp.h),yes)
BENCH_ROWS += $(foreach n,$(BENCH_NUMBERS),sub_urcu-$(n) sub_urcu_bp-$(n))
BENCH_LIBS += -lurcu-memb -lurcu-bp -lurcu-common
else
BENCH_SKIPPED += skipped: arrays in read sections of liburcu: no <urcu/urcu-bp.h> (apt-get install liburcu-dev)\n
endif

# Throughput, once more by clang, if there is one.
BENCH_CLANG := $(if $(CLANG),alu_none alu_nop alu_test alu_flag)
BENCH_JF_CLANG := $(if $(CLANG),alu_key_off alu_key_back alu_trace_off)
ifeq ($(CLANG),)
BENCH_SKIPPED += skipped: throughput, by clang: it is not installed (apt-get install clang)\n
endif

BENCH_CFLAGS = $(JF_CFLAGS) -I$(TOP)/include -Itest -Ibench -I$(BENCH_OUT)
BENCH_OBJECTS := $(foreach row,$(BENCH_ROWS) $(BENCH_CLANG:%=%-clang),$(foreach v,$(BENCH_VARIANTS),$(BENCH_OUT)/$(row).$(v).o))
BENCH_JF_OBJECTS := $(foreach row,$(BENCH_JF_ROWS) $(BENCH_JF_CLANG:%=%-clang),$(foreach v,$(BENCH_VARIANTS),$(BENCH_OUT)/$(row).$(v).o))

$(BENCH_OUT):
	@mkdir -p $@

$(BENCH_OUT)/order.h: bench/order.awk | $(BENCH_OUT)
	awk -f $< > $@

BENCH_HEADERS := bench/rows/alu.h bench/bench.h bench/row.h bench/loops.h bench/shared.h bench/library.h test/stress_common.h test/options.h $(LIB_HEADERS)
# Three objects of each row: the placements. How they are built is the only difference
# between what the PLT and what -fno-plt costs, and between kinds of indirect branches.
BENCH_FLAGS_call_got := -fno-plt
BENCH_FLAGS_call_retpoline := -fcf-protection=none -mindirect-branch=thunk-inline -mindirect-branch-register
BENCH_FLAGS_sub_retpoline := $(BENCH_FLAGS_call_retpoline)
BENCH_FLAGS_call_lfence := -fcf-protection=none -mindirect-branch=thunk-extern -mindirect-branch-register
# NAME or NAME-SUBSCRIBERS
bench_source = $(firstword $(subst -, ,$(1)))
bench_number = $(word 2,$(subst -, ,$(1)))
define bench_row
$(BENCH_OUT)/$(1).$(2).o: bench/rows/$(bench_source).c $(BENCH_OUT)/order.h $(BENCH_HEADERS) | $(BENCH_OUT)
	@echo "  $(CC) $(1), placement $(2)"
	@$$(CC) $$(BENCH_CFLAGS) $(BENCH_FLAGS_$(bench_source)) $(bench_number:%=-DSUBSCRIBERS=%) -DROW=$(subst -,_,$(1)) -DVARIANT=$(2) -c -o $$@ $$<
endef
$(foreach row,$(BENCH_ROWS) $(BENCH_JF_ROWS),$(foreach v,$(BENCH_VARIANTS),$(eval $(call bench_row,$(row),$(v)))))
define bench_row_clang
$(BENCH_OUT)/$(1)-clang.$(2).o: bench/rows/$(1).c $(BENCH_OUT)/order.h $(BENCH_HEADERS) | $(BENCH_OUT)
	@echo "  $(CLANG) $(1), placement $(2)"
	@$$(CLANG) $$(BENCH_CFLAGS) -DROW=$(1)_clang -DVARIANT=$(2) -c -o $$@ $$<
endef
$(foreach row,$(BENCH_CLANG) $(BENCH_JF_CLANG),$(foreach v,$(BENCH_VARIANTS),$(eval $(call bench_row_clang,$(row),$(v)))))
$(BENCH_VARIANTS:%=$(BENCH_OUT)/lttng.%.o): bench/rows/lttng_events.h

$(OUT)/libbench-shared.so: bench/shared.c $(BENCH_HEADERS)
	@echo "  $(CC) $(notdir $@)"
	@$(CC) $(BENCH_CFLAGS) -fPIC -shared -o $@ $<

$(OUT)/bench: $(BENCH_SOURCES) $(BENCH_OBJECTS) $(BENCH_JF_OBJECTS) $(OUT)/libjumpfunc.a $(OUT)/libbench-shared.so $(BENCH_HEADERS)
	@echo "  $(CC) $(notdir $@)"
	@$(CC) $(BENCH_CFLAGS) -DBENCH_SKIPPED='"$(BENCH_SKIPPED)"' -o $@ $(BENCH_SOURCES) $(BENCH_OBJECTS) $(BENCH_JF_OBJECTS) \
		$(OUT)/libjumpfunc.a $(OUT)/libbench-shared.so -Wl,-rpath,'$$ORIGIN' -Wl,-z,now $(BENCH_LIBS)

# A program of 275,000 sites: one part, compiled once and linked under many names.
SCALE_PARTS ?= 55
SCALE_OUT := $(BENCH_OUT)/scale
SCALE_NAMES := $(shell seq $(SCALE_PARTS))
SCALE_OBJECTS := $(SCALE_NAMES:%=$(SCALE_OUT)/part.%.o)
SCALE_SPARSE := $(SCALE_NAMES:%=$(SCALE_OUT)/sparse.%.o)
SCALE_CFLAGS = $(JF_CFLAGS) -I$(TOP)/include -Itest -Ibench/scale

$(SCALE_OUT):
	@mkdir -p $@
$(SCALE_OUT)/part.o $(SCALE_OUT)/sparse.o: bench/scale/part.c bench/scale/scale.h $(LIB_HEADERS) | $(SCALE_OUT)
	$(CC) $(SCALE_CFLAGS) -O1 -g0 $(if $(filter %/sparse.o,$@),-DSPARSE) -c -o $@ $<
$(SCALE_OBJECTS): $(SCALE_OUT)/part.%.o: $(SCALE_OUT)/part.o
	@objcopy --redefine-sym scale_part=scale_part_$* $< $@
$(SCALE_SPARSE): $(SCALE_OUT)/sparse.%.o: $(SCALE_OUT)/sparse.o
	@objcopy --redefine-sym scale_part=scale_part_$* $< $@
# An empty element ends the list of parts, so that there may be none.
$(SCALE_OUT)/parts.%.c: | $(SCALE_OUT)
	@{ echo '#include "scale.h"'; \
	for i in $$(seq $*); do echo "unsigned int scale_part_$$i(void);"; done; \
	echo 'unsigned int (*const scale_parts[])(void) = {'; \
	for i in $$(seq $*); do echo "	scale_part_$$i,"; done; \
	echo '	0'; echo '};'; echo 'const unsigned int scale_nr_parts = $*;'; } > $@
SCALE_SOURCES := bench/scale/main.c bench/scale/others.c bench/scale/waits.c bench/scale/memory.c
SCALE_DEPS := bench/scale/scale.h test/options.h $(LIB_HEADERS)
# Shared, so that what they open has the same library.
$(OUT)/scale: $(SCALE_SOURCES) $(SCALE_OUT)/parts.$(SCALE_PARTS).c $(SCALE_OBJECTS) \
		$(OUT)/libjumpfunc.so $(SCALE_DEPS)
	$(CC) $(SCALE_CFLAGS) -o $@ $(filter %.c %.o,$^) $(LIB_SHARED) -ldl
# With one site in 256 bytes.
$(OUT)/scale-sparse: $(SCALE_SOURCES) $(SCALE_OUT)/parts.$(SCALE_PARTS).c $(SCALE_SPARSE) \
		$(OUT)/libjumpfunc.so $(SCALE_DEPS)
	$(CC) $(SCALE_CFLAGS) -o $@ $(filter %.c %.o,$^) $(LIB_SHARED) -ldl
$(OUT)/scale-plugin.so: bench/scale/plugin.c $(OUT)/libjumpfunc.so $(SCALE_DEPS)
	$(CC) $(SCALE_CFLAGS) -fPIC -shared -o $@ $< $(LIB_SHARED)
# Without the parts there are 1001 sites.
$(OUT)/scale-1000: $(SCALE_SOURCES) $(SCALE_OUT)/parts.0.c $(OUT)/libjumpfunc.a bench/scale/scale.h test/options.h
	$(CC) $(SCALE_CFLAGS) -o $@ $(filter %.c %.o %.a,$^)

# Three forms of an SDT probe. Calls need a stack without a red zone.
FORMS := none site call page
FORMS_OUT := $(BENCH_OUT)/forms
FORMS_DEPS := $(wildcard bench/forms/*.h) bench/row.h bench/bench.h $(TOP)/include/jumpfunc-sdt/sys/sdt.h test/stress_common.h $(LIB_HEADERS)
FORMS_CFLAGS = $(JF_CFLAGS) -I$(TOP)/include -Itest -Ibench -Ibench/forms -DROW=forms -DVARIANT=0

$(FORMS_OUT):
	@mkdir -p $@
$(FORMS:%=$(FORMS_OUT)/%.o): $(FORMS_OUT)/%.o: bench/forms/form.c $(FORMS_DEPS) | $(FORMS_OUT)
	@echo "  $(CC) the form $*"
	@$(CC) $(FORMS_CFLAGS) -mno-red-zone -DFORM=$* -c -o $@ $<
$(OUT)/forms: bench/forms/main.c bench/forms/page.c $(FORMS:%=$(FORMS_OUT)/%.o) $(OUT)/libjumpfunc.a $(FORMS_DEPS)
	@echo "  $(CC) $(notdir $@)"
	@$(CC) $(FORMS_CFLAGS) -o $@ $(filter %.c %.o %.a,$^)

.PHONY: bench-sdt
bench-sdt: $(OUT)/forms
	$(OUT)/forms $(BENCH_ARGS)

# What grows with the number of objects and functions of a traced program.
.PHONY: bench-growth
bench-growth: lib agent $(OUT)/jf-trace
	bench/growth.sh $(OUT)

# Each row, once: it is built, and it gives a number. One placement of each is enough for that.
$(OUT)/bench-check: $(BENCH_SOURCES) $(filter %.0.o,$(BENCH_OBJECTS) $(BENCH_JF_OBJECTS)) $(OUT)/libjumpfunc.a $(OUT)/libbench-shared.so $(BENCH_HEADERS)
	@echo "  $(CC) $(notdir $@)"
	@$(CC) $(BENCH_CFLAGS) -DVARIANTS=1 -DBENCH_SKIPPED='"$(BENCH_SKIPPED)"' -o $@ $(filter %.c %.0.o %.a,$^) \
		$(OUT)/libbench-shared.so -Wl,-rpath,'$$ORIGIN' -Wl,-z,now $(BENCH_LIBS)

bench: $(OUT)/bench $(OUT)/scale $(OUT)/scale-sparse $(OUT)/scale-plugin.so $(OUT)/scale-1000
	bench/run.sh --binary $(OUT)/bench --scale $(OUT) $(BENCH_ARGS)
