# SPDX-License-Identifier: GPL-2.0
# Installation; included by Makefile. Debian's packages are made of these rules, too.
#   DESTDIR   in front of every path, for packages
#   PREFIX    /usr/local, or /usr for packages
PREFIX ?= /usr/local
VERSION := $(shell packaging/version)

# Paths as the shell is to read them: a folder's name may have blanks.
quote = '$(subst ','\'',$1)'
prefix := $(call quote,$(DESTDIR)$(PREFIX))
data := $(prefix)/share/jumpfunc
moddir := $(call quote,$(DESTDIR)/lib/modules/$(KVER)/updates)
dkmssrc := $(call quote,$(DESTDIR)/usr/src/jumpfunc-$(VERSION))

# $(call record,PART,FILES): notes what was installed below PREFIX, for `make uninstall`. Removes what an older
# version had there and this one has not.
define record
@install -d $(data)/installed
@printf '%s\n' $2 | LC_ALL=C sort >$(data)/installed/$1.new
@[ ! -e $(data)/installed/$1 ] || LC_ALL=C comm -23 $(data)/installed/$1 $(data)/installed/$1.new | \
	(cd $(prefix) && xargs -r -d '\n' rm -f)
@mv $(data)/installed/$1.new $(data)/installed/$1
endef

# What a build of the module needs.
dkms_dirs := kernel kernel/* kernel/*/* common common/* include bench
dkms_files = Kbuild VERSION kernel/compat.mk $(filter-out %.mod.c,$(wildcard *.c $(addsuffix /*.[chS],$(dkms_dirs)))) bench/Kbuild \
	$(wildcard include/jumpfunc/*.h include/jumpfunc/detail/*.h)

# What a user runs; links in sbin have the names that the manual uses.
tools := $(notdir $(wildcard scripts/hackbench-* scripts/doctor.sh)) bench-here.sh bench-plot sign.sh
links := jumpfunc-hackbench:hackbench-run.sh jumpfunc-bench:bench-here.sh jumpfunc-bench-plot:bench-plot jumpfunc-sign:sign.sh
links += $(if $(wildcard scripts/doctor.sh),jumpfunc-doctor:doctor.sh)

install: modules_install headers_install tools_install man_install

# Not for another kernel than the one they were built for.
modules_install:
	@[ -e jumpfunc.ko ] && [ -e Module.symvers ] || { echo "jumpfunc: nothing is built: make" >&2; exit 1; }
	@built=$$(modinfo -F vermagic ./jumpfunc.ko | cut -d ' ' -f 1); [ "$$built" = "$(KVER)" ] || { \
		echo "jumpfunc: jumpfunc.ko is built for $$built, not for $(KVER): make KVER=$(KVER), or give KVER=$$built" >&2; exit 1; }
	install -d $(moddir) $(data)/symvers/$(KVER)
	install -m 0644 jumpfunc.ko bench/jumpfunc_bench.ko $(moddir)
	install -m 0644 Module.symvers $(data)/symvers/$(KVER)
	$(if $(DESTDIR),,depmod -a $(KVER))
	@for f in $(moddir)/dkms/jumpfunc.ko*; do [ ! -e "$$f" ] || \
		echo "jumpfunc: note: DKMS has installed one, too, and modprobe takes this one until make uninstall" >&2; done

headers = $(wildcard include/jumpfunc/*.h include/jumpfunc/detail/*.h include/jumpfunc-fallback/*.h) jumpfunc.mk
headers_install:
	install -d $(data)/include/jumpfunc/detail $(data)/include/jumpfunc-fallback
	for f in $(headers); do install -m 0644 $$f $(data)/$$f || exit 1; done
	install -m 0644 packaging/jumpfunc.dkms $(data)
	$(call record,headers,$(addprefix share/jumpfunc/,$(headers) jumpfunc.dkms))

tools_install:
	install -d $(data)/scripts $(prefix)/sbin
	install -m 0755 $(addprefix scripts/,$(tools)) $(data)/scripts
	for l in $(links); do ln -sfn ../share/jumpfunc/scripts/$${l#*:} $(prefix)/sbin/$${l%%:*} || exit 1; done
	$(call record,tools,$(addprefix share/jumpfunc/scripts/,$(tools)) \
		$(foreach l,$(links),sbin/$(firstword $(subst :, ,$l))))

man_install: man
	for s in 4 7 8 9; do install -d $(prefix)/share/man/man$$s && \
		install -m 0644 build/man/man$$s/* $(prefix)/share/man/man$$s || exit 1; done
	$(call record,manual,$$(cd build/man && find man? -type f -printf 'share/man/%p\n'))

# The sources and their dkms.conf: what `dkms add` registers.
dkms_install: build/dkms.conf
	for f in $(dkms_files); do install -D -m 0644 $$f $(dkmssrc)/$$f || exit 1; done
	echo '$(VERSION)' >$(dkmssrc)/VERSION
	install -m 0755 scripts/dkms-symvers scripts/dkms-try $(dkmssrc)
	install -m 0644 build/dkms.conf $(dkmssrc)

# Always made anew: each commit is another version.
build/dkms.conf: packaging/dkms.conf.in packaging/jumpfunc.dkms FORCE
	@mkdir -p build
	sed -e 's/@VERSION@/$(VERSION)/' -e '/^@jumpfunc.dkms@/{r packaging/jumpfunc.dkms' -e 'd}' $< >$@

# What was installed for this kernel, and all that is there for any; as DESTDIR, PREFIX and KVER say.
uninstall:
	rm -f $(moddir)/jumpfunc.ko $(moddir)/jumpfunc_bench.ko
	-rmdir --ignore-fail-on-non-empty $(moddir) 2>/dev/null
	for l in $(data)/installed/*; do [ ! -e "$$l" ] || (cd $(prefix) && xargs -r -d '\n' rm -f) <"$$l" || exit 1; done
	rm -rf $(data)/installed $(data)/symvers/$(KVER)
	[ ! -d $(data) ] || find $(data) -depth -type d -empty -delete
	$(if $(DESTDIR),,[ ! -d /lib/modules/$(KVER) ] || depmod -a $(KVER))

man:
	@harness/deps.sh man
	@man/make-man build/man

check-man: man
	@$(MAKE) -s -C user OUT=$(CURDIR)/build/user man
	@man/check-man build/man build/user/man
	@man/check-pages build/man build/user/man

deb:
	@harness/deps.sh package
	@harness/deb.sh

dist:
	@harness/deps.sh package
	@harness/dist.sh

release:
	@harness/deps.sh build fetch lint package
	@harness/release -k "$(CHECK_KERNELS)" $(RELEASE_ARGS)

check-packages:
	@harness/deps.sh build fetch vm package
	@harness/check-packages $(SUITES)

check-docs:
	@harness/deps.sh package
	@harness/check-docs $(SUITES)

check-signing:
	@harness/deps.sh build fetch vm signing
	@harness/check-signing

sign:
	@scripts/sign.sh -k $(KVER) -b $(call quote,$(KDIR)) $(if $(KEY),-K $(call quote,$(KEY))) $(if $(CERT),-C $(call quote,$(CERT))) \
		jumpfunc.ko bench/jumpfunc_bench.ko

.PHONY: install modules_install headers_install tools_install man_install dkms_install uninstall man check-man \
	deb dist release check-packages check-docs check-signing sign FORCE
