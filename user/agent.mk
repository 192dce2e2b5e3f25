# SPDX-License-Identifier: GPL-2.0
# libjumpfunc-agent, which records probes of programs that were not built with us, for Makefile:
#   make agent         libjumpfunc-agent.so, if libzydis-dev is there
#   make agent-check   its tests; AGENT_SECONDS= of each storm (default 5), REAL_SECONDS= of real programs (default 30; 3600 for an hour), FUZZ= inputs of the fuzzer
#   make agent-fuzz    of these the fuzzer alone; FUZZ=1000000 takes minutes
#   make install       installs it, too, where it can be built; AGENT=no leaves it out
# x86-64 only, with glibc.
AGENT_SECONDS ?= 5
REAL_SECONDS ?= 30
# These run where a thread comes by a probe.
AGENT_BARE := record.c pair.c members.c memory.c value.c watch.c own.c aside.c
AGENT_SOURCES := $(addprefix agent/,agent.c request.c come.c match.c batch.c wish.c say.c object.c module.c choose.c shown.c callers.c retire.c calls.c probe.c lead.c change.c around.c point.c detour.c whole.c exit.c frame.c pads.c place.c displace.c operand.c types.c note.c elf.c lack.c seccomp.c share.c follow.c busy.c) $(AGENT_BARE:%=agent/%)
AGENT_OBJECTS := $(AGENT_SOURCES:agent/%.c=$(OUT)/agent/%.o) $(addprefix $(OUT)/agent/,entry.o call.o pattern.o choice.o glob.o wishes.o demangle.o)
AGENT_HEADERS := $(wildcard agent/*.h) lib/text.h lib/error.h trace/kind.h trace/pattern.h trace/choice.h trace/demangle.h trace/glob.h trace/wishes.h trace/provider.h trace/sums.h $(LIB_HEADERS)
AGENT_ZYDIS := $(shell printf "\043include <Zydis/Zydis.h>\n" | $(CC) -E -o /dev/null -xc - 2>/dev/null && echo yes)
# Packages leave it out where they have no name for Zydis: AGENT=no
AGENT ?= yes
ifeq ($(AGENT)$(AGENT_ZYDIS)$(LIB_FORM),yesyes)
AGENT_LIB := $(OUT)/libjumpfunc-agent.so
endif

agent: $(AGENT_LIB)
	@$(if $(AGENT_LIB),:,echo "# no agent: it is for x86-64, and needs Zydis (apt-get install libzydis-dev)")

$(OUT)/agent/%.o: agent/%.c $(AGENT_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(LIB_CFLAGS) -fvisibility=hidden -Wno-error=undef -c -o $@ $<
# It runs where the registers of vectors are the program's, and calls no function that may be a probe, memcpy() say.
AGENT_NO_MEMCPY := $(shell $(CC) -fno-tree-loop-distribute-patterns -E -xc /dev/null -o /dev/null 2>/dev/null && \
	echo -fno-tree-loop-distribute-patterns || echo -fno-builtin)
$(AGENT_BARE:%.c=$(OUT)/agent/%.o): $(OUT)/agent/%.o: agent/%.c $(AGENT_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(LIB_CFLAGS) -fvisibility=hidden -O2 -mgeneral-regs-only -fno-stack-protector $(AGENT_NO_MEMCPY) -c -o $@ $<
# What finds a call's site, which the library does not export.
$(OUT)/agent/call.o: lib/call.c $(AGENT_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(LIB_CFLAGS) -fvisibility=hidden -c -o $@ $<
# What jf-trace has, too.
$(addprefix $(OUT)/agent/,pattern.o choice.o glob.o wishes.o demangle.o): $(OUT)/agent/%.o: trace/%.c $(AGENT_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(LIB_CFLAGS) -fvisibility=hidden -c -o $@ $<
$(OUT)/agent/entry.o: agent/entry.S
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

# All functions of other objects are found before any is a probe.
$(OUT)/libjumpfunc-agent-glibc.so: $(AGENT_OBJECTS) agent/libjumpfunc-agent.map $(OUT)/libjumpfunc-trace.so $(LIBS)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $(AGENT_OBJECTS) -pthread -Wl,-soname,libjumpfunc-agent-glibc.so \
		-Wl,--version-script=agent/libjumpfunc-agent.map -Wl,-z,nodelete -Wl,-z,defs -Wl,-z,now -Wl,-z,relro \
		-L$(OUT) -ljumpfunc-trace -ljumpfunc -lZydis -ldl -Wl,-rpath,'$$ORIGIN:$$ORIGIN/..'
# What is preloaded, also into programs of another C library: it needs nothing.
$(OUT)/libjumpfunc-agent.so: agent/preload.c $(OUT)/libjumpfunc-agent-glibc.so
	$(CC) $(CPPFLAGS) $(LIB_CFLAGS) -fvisibility=hidden -fno-stack-protector $(LDFLAGS) -shared -nostdlib -o $@ $< -Wl,-soname,libjumpfunc-agent.so \
		-Wl,--auxiliary=libjumpfunc-agent-glibc.so -Wl,-z,now -Wl,-z,relro \
		-Wl,-rpath,'$$ORIGIN'

.PHONY: agent

AGENT_TEST := test/agent
AGENT_TEST_DEPS := $(wildcard $(AGENT_TEST)/*.h) test/tap.h
AGENT_CFLAGS = $(LIB_TEST_CFLAGS) -I$(AGENT_TEST)
$(OUT)/agent/subject.so $(OUT)/agent/subject2.so: $(AGENT_TEST)/subject.c $(AGENT_TEST_DEPS) $(LIBS)
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -O2 -fPIC -shared -Wl,-Bsymbolic -o $@ $< -L$(OUT) -ljumpfunc -Wl,-rpath,$(OUT)
# One that becomes another one; a file that says which of both it is, and one that does not.
$(OUT)/agent/plugin-%.so: $(AGENT_TEST)/plugin.c
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -O2 -fPIC -shared $(if $(findstring later,$*),-DLATER) $(if $(findstring renamed,$*),-DRENAMED) $(if $(findstring long,$*),-DLONG) -Wl,--build-id=$(if $(findstring plain,$*),none,sha1) -o $@ $<
# With a libjumpfunc of its own, of which the agent's knows nothing.
$(OUT)/agent/subject3.so: $(AGENT_TEST)/subject.c $(AGENT_TEST_DEPS) $(LIBS)
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -DBESIDE=jfbeside3 -O2 -fPIC -shared -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -o $@ $< $(OUT)/libjumpfunc.a -pthread -ldl
# The agent is in the program, and cannot be a probe there: so what is, is in another object.
$(OUT)/agent/storm: $(AGENT_TEST)/storm.c $(AGENT_OBJECTS) $(addprefix $(OUT)/agent/,subject.so subject2.so subject3.so) \
		$(addprefix $(OUT)/agent/plugin-,first.so later.so first-plain.so later-plain.so long-first-plain.so long-later-plain.so renamed.so) \
		$(AGENT_TEST_DEPS) $(OUT)/libjumpfunc-trace.so $(LIBS)
	$(CC) $(AGENT_CFLAGS) -O2 -Wl,--wrap=__jf_provider_register -Wl,--wrap=dlopen -Wl,--wrap=dlsym \
		-Wl,--wrap=dl_iterate_phdr -o $@ $< $(AGENT_OBJECTS) $(OUT)/agent/subject.so \
		-L$(OUT) -ljumpfunc-trace -ljumpfunc -lZydis -ldl -Wl,-z,now -Wl,-rpath,$(OUT):$(OUT)/agent
# The agent is not in it: it is loaded before it.
$(OUT)/agent/asked: $(AGENT_TEST)/asked.c trace/words.c $(OUT)/agent/subject.so $(AGENT_TEST_DEPS) trace/control.h
	$(CC) $(AGENT_CFLAGS) -O2 -o $@ $< trace/words.c $(OUT)/agent/subject.so -L$(OUT) -ljumpfunc -ldl -Wl,-z,now -Wl,-rpath,$(OUT):$(OUT)/agent
# It has nothing of jumpfunc: the agent is loaded into it.
$(OUT)/agent/waits: $(AGENT_TEST)/waits.c
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -O2 -o $@ $< -ldl
# States that few programs are in.
$(OUT)/agent/states: $(AGENT_TEST)/states.c
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -O2 -rdynamic -o $@ $< -lm
$(OUT)/agent/test_displace: $(AGENT_TEST)/test_displace.c agent/displace.c $(AGENT_HEADERS) test/tap.h
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -O1 -o $@ $(filter %.c,$^) -lZydis
$(OUT)/agent/test_parts: $(AGENT_TEST)/test_parts.c agent/operand.c agent/note.c agent/elf.c trace/pattern.c trace/choice.c $(AGENT_HEADERS) test/tap.h
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) $(SAN) -o $@ $(filter %.c,$^)
$(OUT)/agent/test_types: $(AGENT_TEST)/test_types.c trace/choice.c agent/types.c $(AGENT_HEADERS) test/tap.h
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) $(SAN) -o $@ $< trace/choice.c
$(OUT)/agent/test_exits: $(AGENT_TEST)/test_exits.c agent/exit.c agent/frame.c agent/elf.c agent/whole.c agent/pads.c agent/lack.c $(AGENT_HEADERS) test/tap.h
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -O1 -fno-pie -no-pie -o $@ $(filter %.c,$^) -lZydis -ldl
# A program that is not PIE has its heap where its jumps lead, and little below it.
$(OUT)/agent/test_place: $(AGENT_TEST)/test_place.c agent/place.c agent/lack.c $(AGENT_HEADERS) test/process.h test/tap.h
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -O1 -fPIE -pie -o $@ $(filter %.c,$^)
$(OUT)/agent/test_place-fixed: $(AGENT_TEST)/test_place.c agent/place.c agent/lack.c $(AGENT_HEADERS) test/process.h test/tap.h
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -O1 -fno-pie -no-pie -o $@ $(filter %.c,$^)
$(OUT)/agent/fuzz_file: $(AGENT_TEST)/fuzz_file.c agent/operand.c agent/note.c agent/elf.c $(AGENT_HEADERS)
	@mkdir -p $(@D)
	$(CLANG) $(AGENT_CFLAGS) -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^)

# The longest first, as others wait for none of them.
agent-check: $(OUT)/jf-trace $(OUT)/jf-recover $(AGENT_LIB) $(if $(AGENT_LIB),$(addprefix $(OUT)/agent/,test_displace test_exits test_parts test_types test_place test_place-fixed storm asked waits states) $(if $(CLANG),$(OUT)/agent/fuzz_file))
ifneq ($(AGENT_LIB),)
	+@rc=0; echo "# test_displace"; $(OUT)/agent/test_displace || rc=1; \
	echo "# test_exits"; $(OUT)/agent/test_exits || rc=1; \
	echo "# test_parts"; $(OUT)/agent/test_parts $(OUT)/agent/subject.so || rc=1; \
	for t in test_types test_place test_place-fixed; do echo "# $$t"; $(OUT)/agent/$$t || rc=1; done; \
	echo "# storm"; d=$$(mktemp -d) && JUMPFUNC_TRACE_DIR=$$d $(OUT)/agent/storm $(OUT)/agent $(AGENT_SECONDS) || rc=1; rm -rf "$$d"; \
	echo "# imports.sh"; test/imports.sh $(OUT)/libjumpfunc-agent-glibc.so || rc=1; \
	echo "# agent.sh"; CC="$(CC)" CXX="$(CXX)" $(AGENT_TEST)/agent.sh $(OUT) $(AGENT_SECONDS) || rc=1; \
	echo "# programs.sh"; CC="$(CC)" $(AGENT_TEST)/programs.sh $(OUT) || rc=1; \
	echo "# states.sh"; $(AGENT_TEST)/states.sh $(OUT) || rc=1; \
	echo "# real.sh"; $(AGENT_TEST)/real.sh $(OUT) $(REAL_SECONDS) || rc=1; \
	echo "# names.sh"; CXX="$(CXX)" $(AGENT_TEST)/names.sh $(OUT) || rc=1; \
	echo "# types.sh"; CC="$(CC)" CXX="$(CXX)" $(AGENT_TEST)/types.sh $(OUT) || rc=1; \
	echo "# poor.sh"; CC="$(CC)" $(AGENT_TEST)/poor.sh $(OUT) || rc=1; \
	echo "# members.sh"; CC="$(CC)" CXX="$(CXX)" $(AGENT_TEST)/members.sh $(OUT) || rc=1; \
	echo "# summary.sh"; CC="$(CC)" $(AGENT_TEST)/summary.sh $(OUT) || rc=1; \
	echo "# whole.sh"; CC="$(CC)" $(AGENT_TEST)/whole.sh $(OUT) || rc=1; \
	echo "# calls.sh"; CC="$(CC)" CXX="$(CXX)" $(AGENT_TEST)/calls.sh $(OUT) || rc=1; \
	echo "# own.sh"; CC="$(CC)" $(AGENT_TEST)/own.sh $(OUT) || rc=1; \
	echo "# choose.sh"; CC="$(CC)" $(AGENT_TEST)/choose.sh $(OUT) || rc=1; \
	echo "# rights.sh"; CC="$(CC)" $(AGENT_TEST)/rights.sh $(OUT) || rc=1; \
	echo "# sandbox.sh"; CC="$(CC)" $(AGENT_TEST)/sandbox.sh $(OUT) || rc=1; \
	echo "# life.sh"; CC="$(CC)" $(AGENT_TEST)/life.sh $(OUT) || rc=1; \
	echo "# jobs.sh"; CC="$(CC)" $(AGENT_TEST)/jobs.sh $(OUT) || rc=1; \
	echo "# stopped.sh"; CC="$(CC)" $(AGENT_TEST)/stopped.sh $(OUT) || rc=1; \
	echo "# attach.sh"; CC="$(CC)" $(AGENT_TEST)/attach.sh $(OUT) || rc=1; \
	$(if $(CLANG),echo "# fuzz_file"; CC="$(CC)" $(AGENT_TEST)/fuzz.sh $(OUT) $(FUZZ) || rc=1;,) \
	exit $$rc
else
	@echo "1..0 # SKIP no agent: it is for x86-64, and needs Zydis (apt-get install libzydis-dev)"
endif

# losses.sh has calls, too.
trace-check: $(AGENT_LIB)
bench-ust-here bench-programs-here: $(AGENT_LIB)

agent-fuzz: $(OUT)/agent/fuzz_file $(OUT)/agent/subject.so
	CC="$(CC)" $(AGENT_TEST)/fuzz.sh $(OUT) $(FUZZ)

.PHONY: agent-check agent-fuzz

# Is installed with install.mk's files, by its variables. No program is linked with it, so it is where the linker does not search;
# find_agent() in trace/tool/run.c knows the folder. Older versions had it in LIBDIR.
AGENTDIR = $(LIBDIR)/jumpfunc
AGENT_FILES := libjumpfunc-agent.so libjumpfunc-agent-glibc.so
# $(call installed_agent,FOLDER): the files of the agent there
installed_agent = $(foreach file,$(AGENT_FILES),$(call to,$1/$(file)))
install: install-agent
install-agent: $(AGENT_LIB)
	$(if $(AGENT_LIB),$(INSTALL) -d $(call to,$(AGENTDIR)) && \
		$(INSTALL) -m 755 $(addprefix $(OUT)/,$(AGENT_FILES)) $(call to,$(AGENTDIR)/) && \
		rm -f $(call installed_agent,$(LIBDIR)))

uninstall: uninstall-agent
uninstall-agent:
	rm -f $(call installed_agent,$(AGENTDIR)) $(call installed_agent,$(LIBDIR))
	[ ! -d $(call to,$(AGENTDIR)) ] || rmdir --ignore-fail-on-non-empty $(call to,$(AGENTDIR))

.PHONY: install-agent uninstall-agent
