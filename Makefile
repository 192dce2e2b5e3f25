# SPDX-License-Identifier: GPL-2.0
# Builds jumpfunc.ko out of tree, and runs it in virtual machines; see README.md, or `make help`, `make help-all`.
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build

# What `make check` runs on: the oldest, the one that the mutants are tried on, the newest; docs/tests.md.
KERNELS ?= $(or $(KERNEL),5.10 6.1 7.2)
# `make check` alone has some tests on arm64, too.
CHECK_KERNELS = $(KERNELS)$(if $(KERNEL),,$(if $(filter file,$(origin KERNELS)), 6.1-arm64))

# BTF of a module needs pahole, and a kernel that has BTF builds without it.
nobtf = $(if $(shell command -v pahole 2>/dev/null),,CONFIG_DEBUG_INFO_BTF_MODULES=)

# A kernel that clang built wants modules built by it, of the same version if that is here.
ifeq ($(origin LLVM)$(origin CC),undefineddefault)
llvm = $(shell v=$$(sed -n 's/^CONFIG_CLANG_VERSION=\([0-9]*\)[0-9]\{4\}$$/\1/p' "$(KDIR)/.config" 2>/dev/null); \
	[ -z "$$v" ] || { command -v "clang-$$v" >/dev/null && echo "LLVM=-$$v" || echo LLVM=1; })
endif

# $(call say,TEXT): one line of why, and the end
say = { printf 'jumpfunc: %s\n' $(call quote,$1) >&2; exit 1; }
# kbuild puts objects beside the sources. O= is a kernel's build folder, where it has one, and is handed on.
O_given = $(if $(findstring command line,$(origin O)),$(O))
elsewhere = JF_BUILD=/some/folder make KERNEL=6.1 builds a copy there
beside = @[ -z $(call quote,$(O_given)) ] || [ -e $(call quote,$(O_given)/include/config/auto.conf) ] || \
	$(call say,modules are built beside their sources$(comma) not in O=$(O_given)$(comma) and no kernel was built there: $(elsewhere))
writable = @[ -w . ] || $(call say,cannot write to $(CURDIR): $1)
comma := ,

ifdef KERNEL
modules:
	$(beside)
	@harness/deps.sh build fetch
	@harness/build.sh $(KERNEL)
else
modules:
	$(beside)
	@[ -e "$(KDIR)/Makefile" ] || { \
		echo "jumpfunc: no kernel headers in $(KDIR)." >&2; \
		echo "  for this kernel: apt-get install linux-headers-$(KVER)" >&2; \
		echo "  for another one: make KERNEL=6.1 fetches what it needs (make help-all)" >&2; exit 1; }
	@$(if $(word 2,$(CURDIR)),$(call say,kbuild builds nothing where a folder has a blank in its name: $(CURDIR)))
	$(call writable,$(elsewhere))
	$(MAKE) -C $(KDIR) M=$(CURDIR) $(llvm) $(nobtf) modules
endif

# KERNEL=... builds them beside the module.
samples: modules
ifndef KERNEL
	$(MAKE) -C $(KDIR) M=$(CURDIR)/samples $(llvm) $(nobtf) modules
endif

include packaging/install.mk

help:
	@echo 'make                    build jumpfunc.ko for the running kernel; KERNEL=6.12: for a stock Debian kernel, KDIR=/path: for any'
	@echo 'make samples            ... and the modules in samples/, which use it'
	@echo 'make doctor             say whether this machine can build, load, patch and measure, and what mends each "no"'
	@echo 'make demo               boot stock 6.1 in a VM, retarget a function, measure dispatch: 2 minutes (ARCH=arm64: 10)'
	@echo 'make quick              one minute of tests for both worlds: lint, codec, library, module in a VM (KERNEL=6.1)'
	@echo 'make check              run all tests, on this machine and in VMs; KERNELS="6.1 6.12" chooses the kernels (default: $(KERNELS))'
	@echo 'make lint               check style, spelling, licences and the rooms of the sources (LINTERS="rooms shell")'
	@echo 'make bench              measure the cost of calls, branches and updates natively; table, CSV, SVG'
	@echo 'make deb                make the Debian packages, into build/deb'
	@echo 'make install            install what make has built: module, headers, scripts, manual (DESTDIR, PREFIX, KVER)'
	@echo 'make clean              remove all build results'
	@echo
	@echo 'make help-all lists every target and the kernels, user/README.md those of programs (make -C user)'

help-all:
	@echo 'make                    build jumpfunc.ko for the running kernel'
	@echo 'make KVER=6.1.0-56-amd64, make KDIR=/path    ... for another kernel whose headers are installed'
	@echo 'make KERNEL=6.12        ... for a stock Debian kernel of the list below, into build/6.12/modules'
	@echo 'make samples            ... and the modules in samples/, which use it'
	@echo 'make doctor             say whether this machine can build, load, patch and measure, and what mends each "no"'
	@echo 'make demo               boot stock 6.1 in a VM, retarget a function, measure dispatch: 2 minutes (ARCH=arm64: 10)'
	@echo 'make quick              one minute of tests for both worlds: lint, codec, library, module in a VM (KERNEL=6.1)'
	@echo 'make check              run all tests, on this machine and in VMs; KERNELS="6.1 6.12" chooses the kernels (default: $(KERNELS))'
	@echo 'make check-full         ... on all kernels, test kernels and back ends, and the model, the storm of programs, coverage: 4 hours'
	@echo 'make newest             find kernels that are new in the Debian suites, build for them, run a quick set of tests (SUITES=sid)'
	@echo 'make lint               check style, spelling, licences and the rooms of the sources (LINTERS="rooms shell")'
	@echo 'make mutants            break the module in each listed way, and expect the tests to fail (KERNEL=6.1)'
	@echo 'make check-driver       put 5,000 probes into ext4 of the kernel, enable them under load, in a VM; OpenZFS with its own (KERNEL=6.1): half an hour'
	@echo 'make coverage           measure the line coverage of the module, with gcov on a test kernel'
	@echo 'make stress             run the long forms of the VM tests, an hour or more (KERNELS, TESTS as for check)'
	@echo 'make bench              measure the cost of calls, branches and updates natively; table, CSV, SVG'
	@echo 'make bench-kernel       ... inside a stock kernel, in a VM (KERNEL=6.1 BACKENDS="xmc indirect")'
	@echo 'make bench-growth       count instructions for growing numbers of keys, functions, sites, tracepoints, modules, in a VM (KERNEL=6.1)'
	@echo 'make bench-readme       measure the numbers of both READMEs again, and say which statement is no longer true (BENCH_ARGS=--help)'
	@echo 'make bench-sdt          measure three forms of SDT probes inside a stock kernel, in a VM (KERNEL=6.1)'
	@echo 'make model              check the formal model of the protocol, and that its broken variants fail'
	@echo 'make vm KERNEL=6.12     start a shell in a VM with the modules, scripts and tests (CPUS=4 MEM=1024)'
	@echo 'make install            install what make has built: module, headers, scripts, manual (DESTDIR, PREFIX, KVER)'
	@echo 'make uninstall          remove that again'
	@echo 'make sign               sign the modules, with the key of DKMS or KEY=... CERT=... (KVER)'
	@echo 'make man                make the manual pages, into build/man'
	@echo 'make deb                make the Debian packages, into build/deb'
	@echo 'make dist               make the tarball of a release, with debian/, an RPM spec and a PKGBUILD, into build/dist'
	@echo 'make release            make the tarball of a release and its tag; refuses where lint, check or versions disagree (RELEASE_ARGS=-n: no tag)'
	@echo 'make check-packages     install, upgrade, remove these in chroots (SUITES="bookworm trixie"): 15 minutes'
	@echo 'make check-docs         run the commands of the documents in bare chroots (SUITES="bookworm trixie sid"): half an hour'
	@echo 'make check-signing      boot stock 6.1 with Secure Boot and lockdown, load signed and unsigned modules: 3 minutes'
	@echo 'make deps               install missing packages that the above need (each target does so itself)'
	@echo 'make clean              remove all build results'
	@echo 'make clean-cache        remove the downloaded kernels, which all clones share'
	@echo
	@harness/kernel.sh list

# What kbuild leaves, by its name; kbuild's own clean would need the headers that it was left by.
litter := *.o *.ko *.mod *.mod.c *.symvers .*.cmd .*.d *.o.d *.dwo *.gcno *.su *.order *.nsdeps .module-common.o jf_sample_calls_calls.c jf_sample_calls_calls.c.tmp
clean:
	$(beside)
	$(call writable,so nothing can be removed)
	@find . \( -path ./.git -o -path ./build -o -path ./results \) -prune -o \
		-type f \( -false $(litter:%=-o -name '%') \) -exec rm -f {} + \
		-o -type d -name .tmp_versions -prune -exec rm -rf {} +
	rm -rf build

clean-cache:
	harness/kernel.sh clean

deps:
	@harness/deps.sh

vm: VMKERNEL = $(or $(KERNEL),6.1)
vm:
	@harness/deps.sh build fetch vm
	@harness/build.sh $(VMKERNEL)
	@harness/vm/run --kernel $(VMKERNEL) --shell $(if $(CPUS),-c $(CPUS)) $(if $(MEM),-m $(MEM)) $(VMARGS)

quick:
	@harness/deps.sh build fetch vm host lint
	@harness/quick

check:
	@harness/deps.sh build fetch vm host lint man$(if $(findstring arm64,$(CHECK_KERNELS)), arm64)
	@harness/deps.sh outside arch trace || echo "jumpfunc: tests that need what is missing are skipped" >&2
	@harness/check --kernels "$(CHECK_KERNELS)" $(if $(BACKENDS),--backends "$(BACKENDS)") $(TESTS)

# The tables in docs/ that this makes are those of its own run.
check-full:
	@harness/deps.sh build fetch source vm host model lint man package arm64
	+@$(MAKE) --no-print-directory -C user stress
	+@$(MAKE) --no-print-directory -C user sdt-programs calls-program
	+@scripts/bench-sdt.sh -r 5
	+@$(MAKE) --no-print-directory check-driver
	@rc=0; harness/check --full $(if $(filter file,$(origin KERNELS)),,--kernels "$(KERNELS)") $(TESTS) || rc=$$?; \
	harness/kernels-md || rc=1; exit $$rc

newest:
	@harness/deps.sh build fetch vm
	@harness/newest $(SUITES)

lint:
	@harness/deps.sh build fetch lint
	@harness/lint/run $(LINTERS)

coverage:
	@harness/deps.sh build fetch source vm
	@harness/coverage.sh $(if $(KERNEL),-k $(KERNEL)) $(TESTS)

mutants:
	@harness/deps.sh build fetch vm
	@harness/mutants.sh $(if $(KERNEL),-k $(KERNEL))

check-driver:
	@harness/deps.sh build fetch vm driver
	+@harness/check-driver $(KERNEL)
	+@harness/check-driver -z

stress:
	@harness/deps.sh build fetch vm
	+@harness/check --long --no-host --kernels "$(KERNELS)" $(if $(BACKENDS),--backends "$(BACKENDS)") $(TESTS)

bench:
	@harness/deps.sh host plot
	@harness/deps.sh bench || echo "jumpfunc: the rows of what is missing are skipped" >&2
	+@$(MAKE) --no-print-directory -C user bench

bench-kernel:
	@harness/deps.sh build fetch vm plot
	+@scripts/bench-kernel.sh $(if $(KERNEL),-k $(KERNEL)) $(if $(BACKENDS),-b "$(BACKENDS)") $(BENCH_ARGS)

bench-growth:
	@harness/deps.sh build fetch vm
	+@scripts/bench-growth.sh $(if $(KERNEL),-k $(KERNEL)) $(BENCH_ARGS)

bench-readme:
	@harness/deps.sh build fetch vm plot peers
	+@scripts/bench-readme $(BENCH_ARGS)

bench-sdt:
	@harness/deps.sh build fetch vm
	+@scripts/bench-sdt.sh $(if $(KERNEL),-k $(KERNEL)) $(if $(ROUNDS),-r $(ROUNDS))

model:
	@harness/deps.sh model
	@docs/model/run.sh

doctor:
	@scripts/doctor.sh

# ARCH=arm64 chooses a kernel of that machine, and the programs that are run there are its own.
demo: DEMO_KERNEL = $(or $(KERNEL),$(if $(filter arm64 aarch64,$(ARCH)),6.1-arm64))
demo:
	@harness/deps.sh build fetch vm host plot$(if $(filter %-arm64,$(DEMO_KERNEL)), arm64)
	@scripts/demo.sh $(if $(DEMO_KERNEL),-k $(DEMO_KERNEL))

.PHONY: modules samples help help-all quick clean clean-cache deps vm check check-driver check-full newest lint coverage mutants stress bench bench-kernel bench-growth bench-readme bench-sdt model doctor demo
