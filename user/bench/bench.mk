# SPDX-License-Identifier: GPL-2.0
# The native benchmark. Rows whose package is missing are left out, and the table
# says so. Included by ../Makefile.
BENCH_OUT := $(OUT)/bench.o
BENCH_SOURCES := $(addprefix bench/,main.c code.c measure.c updates.c report.c rows.c targets.c) \
	jf_trace.c jf_engine.c
BENCH_ROWS := none nop flag atomic call_none call_direct call_pointer call_plt call_got \
	call_ifunc call_semi sdt_own
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

BENCH_CFLAGS = $(JF_CFLAGS) -I. -Ibench -I$(BENCH_OUT)
BENCH_OBJECTS := $(foreach row,$(BENCH_ROWS),$(foreach v,0 1 2,$(BENCH_OUT)/$(row).$(v).o))

$(BENCH_OUT):
	@mkdir -p $@

$(BENCH_OUT)/order.h: bench/order.awk | $(BENCH_OUT)
	awk -f $< > $@

BENCH_HEADERS := bench/bench.h bench/row.h bench/loops.h bench/shared.h jf_trace.h $(STRESS_HEADERS)
# Three objects of each row: the placements. How they are built is the only difference
# between what the PLT and what -fno-plt costs.
define bench_row
$(BENCH_OUT)/$(1).$(2).o: bench/rows/$(1).c $(BENCH_OUT)/order.h $(BENCH_HEADERS) | $(BENCH_OUT)
	@echo "  $(CC) $(1), placement $(2)"
	@$$(CC) $$(BENCH_CFLAGS) $(if $(filter call_got,$(1)),-fno-plt) -DROW=$(1) -DVARIANT=$(2) -c -o $$@ $$<
endef
$(foreach row,$(BENCH_ROWS),$(foreach v,0 1 2,$(eval $(call bench_row,$(row),$(v)))))
$(BENCH_OUT)/lttng.0.o $(BENCH_OUT)/lttng.1.o $(BENCH_OUT)/lttng.2.o: bench/rows/lttng_events.h

$(OUT)/libbench-shared.so: bench/shared.c $(BENCH_HEADERS)
	@echo "  $(CC) $(notdir $@)"
	@$(CC) $(BENCH_CFLAGS) -fPIC -shared -o $@ $<

$(OUT)/bench: $(BENCH_SOURCES) $(BENCH_OBJECTS) $(OUT)/libbench-shared.so $(BENCH_HEADERS)
	@echo "  $(CC) $(notdir $@)"
	@$(CC) $(BENCH_CFLAGS) -DBENCH_SKIPPED='"$(BENCH_SKIPPED)"' -o $@ $(BENCH_SOURCES) $(BENCH_OBJECTS) \
		$(OUT)/libbench-shared.so -Wl,-rpath,'$$ORIGIN' -Wl,-z,now $(BENCH_LIBS)

bench: $(OUT)/bench
	bench/run.sh --binary $(OUT)/bench $(BENCH_ARGS)
