# SPDX-License-Identifier: GPL-2.0
# Installation; included by Makefile. Debian's packages are made of these rules, too.
#   DESTDIR   in front of every path, for packages
#   PREFIX    /usr/local, or /usr for packages
PREFIX ?= /usr/local
VERSION := $(shell cat VERSION)

share := $(DESTDIR)$(PREFIX)/share
data := $(share)/jumpfunc
mandir := $(share)/man
moddir := $(DESTDIR)/lib/modules/$(KVER)/updates
dkmssrc := $(DESTDIR)/usr/src/jumpfunc-$(VERSION)

# What a build of the module needs.
dkms_dirs := core x86 generic debugfs demo include bench
dkms_files = Kbuild VERSION $(wildcard *.c) $(wildcard $(addsuffix /*.[chS],$(dkms_dirs))) bench/Kbuild \
	$(wildcard include/jumpfunc/*.h include/jumpfunc/detail/*.h)
headers = $(wildcard include/jumpfunc/*.h include/jumpfunc/detail/*.h)

# What a user runs; links in sbin have the names that the manual uses.
tools := $(notdir $(wildcard scripts/hackbench-* scripts/doctor.sh)) bench-here.sh bench-plot sign.sh
links := jumpfunc-hackbench:hackbench-run.sh jumpfunc-bench:bench-here.sh jumpfunc-sign:sign.sh
links += $(if $(wildcard scripts/doctor.sh),jumpfunc-doctor:doctor.sh)

# Not into the running system for somebody else's kernel by mistake.
install: modules_install headers_install tools_install man_install

modules_install:
	@[ -e jumpfunc.ko ] && [ -e Module.symvers ] || { echo "jumpfunc: nothing is built: make" >&2; exit 1; }
	@built=$$(modinfo -F vermagic ./jumpfunc.ko | cut -d ' ' -f 1); [ "$$built" = "$(KVER)" ] || { \
		echo "jumpfunc: jumpfunc.ko is built for $$built, not for $(KVER): make KVER=$(KVER), or give KVER=$$built" >&2; exit 1; }
	install -d $(moddir) $(data)/symvers/$(KVER)
	install -m 0644 jumpfunc.ko bench/jumpfunc_bench.ko $(moddir)
	install -m 0644 Module.symvers $(data)/symvers/$(KVER)
	$(if $(DESTDIR),,depmod -a $(KVER))

headers_install:
	install -d $(data)/include/jumpfunc/detail
	install -m 0644 include/jumpfunc/*.h $(data)/include/jumpfunc
	install -m 0644 include/jumpfunc/detail/*.h $(data)/include/jumpfunc/detail
	install -m 0644 jumpfunc.mk jumpfunc.dkms $(data)

tools_install:
	install -d $(data)/scripts $(DESTDIR)$(PREFIX)/sbin
	install -m 0755 $(addprefix scripts/,$(filter-out %.awk %.gp,$(tools))) $(data)/scripts
	install -m 0644 $(addprefix scripts/,$(filter %.awk %.gp,$(tools))) $(data)/scripts
	for l in $(links); do ln -sfn ../share/jumpfunc/scripts/$${l#*:} $(DESTDIR)$(PREFIX)/sbin/$${l%%:*}; done

man_install: man
	install -d $(addprefix $(mandir)/man,4 7 8 9)
	for s in 4 7 8 9; do install -m 0644 build/man/man$$s/* $(mandir)/man$$s || exit 1; done
	install -d $(data)
	cd build/man && find man? -type f | sort >$(abspath $(data))/manual

# The sources and their dkms.conf: what `dkms add` registers.
dkms_install: build/dkms.conf
	for f in $(dkms_files); do install -D -m 0644 $$f $(dkmssrc)/$$f || exit 1; done
	install -m 0755 scripts/dkms-symvers $(dkmssrc)
	install -m 0644 build/dkms.conf $(dkmssrc)

build/dkms.conf: dkms.conf.in jumpfunc.dkms VERSION
	@mkdir -p build
	sed -e 's/@VERSION@/$(VERSION)/' -e '/^@jumpfunc.dkms@/{r jumpfunc.dkms' -e 'd}' $< >$@

# What was installed for this kernel, and all that is there for any; as DESTDIR, PREFIX and KVER say.
uninstall:
	rm -f $(moddir)/jumpfunc.ko $(moddir)/jumpfunc_bench.ko
	-rmdir --ignore-fail-on-non-empty $(moddir) 2>/dev/null
	[ ! -e $(data)/manual ] || (cd $(mandir) && xargs rm -f) <$(data)/manual
	rm -rf $(data)
	for l in $(links); do rm -f $(DESTDIR)$(PREFIX)/sbin/$${l%%:*}; done
	$(if $(DESTDIR),,depmod -a $(KVER))

man:
	@harness/deps.sh man
	@man/make-man build/man

check-man: man
	@man/check-man build/man

deb:
	@harness/deps.sh package
	@harness/deb.sh

check-packages:
	@harness/deps.sh build fetch vm package
	@harness/check-packages $(SUITES)

check-signing:
	@harness/deps.sh build fetch vm signing
	@harness/check-signing

sign:
	@scripts/sign.sh -k $(KVER) -b $(KDIR) $(if $(KEY),-K $(KEY)) $(if $(CERT),-C $(CERT)) jumpfunc.ko bench/jumpfunc_bench.ko

.PHONY: install modules_install headers_install tools_install man_install dkms_install uninstall man check-man \
	deb check-packages check-signing sign
