# SPDX-License-Identifier: GPL-2.0
# Installing the library; included by Makefile.
#   make install   DESTDIR= PREFIX=/usr/local LIBDIR=$(PREFIX)/lib: libraries, headers,
#                  pkg-config and CMake files, an example, manual pages (if python3 is there)
#   make uninstall with the same variables
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
EXAMPLESDIR ?= $(PREFIX)/share/doc/libjumpfunc-dev/examples
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
CMAKEDIR ?= $(LIBDIR)/cmake/jumpfunc
INSTALL ?= install

# A copy that has no packaging/version has the whole version in VERSION.
VERSION := $(shell sh $(TOP)/packaging/version 2>/dev/null || cat $(TOP)/VERSION)
# The number that build systems compare: a commit on the way to 0.3 has the number 0.3.
NUMBER := $(firstword $(subst +, ,$(subst ~, ,$(VERSION))))
DIST := $(OUT)/dist
PUBLIC := $(wildcard $(TOP)/include/jumpfunc/*)
PUBLIC_DETAIL := $(wildcard $(TOP)/include/jumpfunc/detail/*)
PUBLIC := $(filter-out $(TOP)/include/jumpfunc/detail,$(PUBLIC))
# Paths as the shell is to read them: a folder's name may have blanks.
quote = '$(subst ','\'',$1)'
to = $(call quote,$(DESTDIR)$1)
# How one gets from the folder of CMake's files to that of the headers.
TO_INCLUDE = $(shell realpath -m -s --relative-to=$(call quote,$(CMAKEDIR)) $(call quote,$(INCLUDEDIR)))

# A probe's exception is to end the read section of the C code that it goes through.
# musl-gcc may not be able to link that, and has no C++ either.
THROUGH_C = $(shell $(CC) -fexceptions -o /dev/null dist/through.c 2>/dev/null && echo -fexceptions)

# Folders below the prefix follow it, for those who move it.
RELATIVE = $(patsubst $(PREFIX)/%,$${prefix}/%,$1)
# Always made anew: the variables may be others than the last time.
$(DIST)/%: dist/%.in FORCE
	@mkdir -p $(DIST)
	@sed -e 's,@PREFIX@,$(PREFIX),g' -e 's,@LIBDIR@,$(call RELATIVE,$(LIBDIR)),g' \
		-e 's,@INCLUDEDIR@,$(call RELATIVE,$(INCLUDEDIR)),g' -e 's,@VERSION@,$(NUMBER),g' \
		-e 's,@MAJOR@,$(word 1,$(subst ., ,$(NUMBER))),g' -e 's,@MINOR@,$(word 2,$(subst ., ,$(NUMBER))),g' \
		-e 's,@TO_INCLUDE@,$(TO_INCLUDE),g' -e 's,@THROUGH_C@,$(THROUGH_C),g' \
		-e 's/[ ]*$$//' $< > $@

# Programs and pages that show the version are made anew when it changes.
$(OUT)/version: FORCE | $(OUT)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@

DIST_FILES := $(addprefix $(DIST)/,jumpfunc.pc jumpfunc-config.cmake jumpfunc-config-version.cmake)

# What was installed, one name a line, without DESTDIR. What an older version had and this one has not goes now.
FILES = $(PREFIX)/share/jumpfunc/libjumpfunc.files
define forget
while IFS= read -r file; do \
	[ -z "$$file" ] || rm -f $(call quote,$(DESTDIR))"$$file"; \
done
endef
# Those that this version has, but for the manual.
define files
printf '%s\n' $(call quote,$(LIBDIR)/libjumpfunc.so.1) $(call quote,$(LIBDIR)/libjumpfunc.so) \
	$(call quote,$(LIBDIR)/libjumpfunc.a) $(call quote,$(PKGCONFIGDIR)/jumpfunc.pc) \
	$(call quote,$(CMAKEDIR)/jumpfunc-config.cmake) $(call quote,$(CMAKEDIR)/jumpfunc-config-version.cmake) \
	$(patsubst examples/%,$(call quote,$(EXAMPLESDIR)/)%,$(wildcard examples/*.c)); \
for header in $(patsubst $(TOP)/include/%,%,$(PUBLIC) $(PUBLIC_DETAIL)); do \
	printf '%s\n' $(call quote,$(INCLUDEDIR))/$$header; \
done
endef
define record
@$(INSTALL) -d $(call to,$(PREFIX)/share/jumpfunc)
@{ $(files); for page in $(OUT)/man/man*/*; do \
	[ ! -e "$$page" ] || printf '%s\n' $(call quote,$(MANDIR))$${page#$(OUT)/man}; \
done; } | LC_ALL=C sort > $(call to,$(FILES).new)
@[ ! -e $(call to,$(FILES)) ] || LC_ALL=C sort $(call to,$(FILES)) | \
	LC_ALL=C comm -23 - $(call to,$(FILES).new) | $(forget)
@mv $(call to,$(FILES).new) $(call to,$(FILES))
endef

install: lib $(DIST_FILES) man
	$(INSTALL) -d $(call to,$(LIBDIR)) $(call to,$(PKGCONFIGDIR)) $(call to,$(CMAKEDIR)) \
		$(call to,$(INCLUDEDIR)/jumpfunc/detail) $(call to,$(EXAMPLESDIR))
	$(INSTALL) -m 755 $(OUT)/libjumpfunc.so.1 $(call to,$(LIBDIR)/)
	ln -sf libjumpfunc.so.1 $(call to,$(LIBDIR)/libjumpfunc.so)
	$(INSTALL) -m 644 $(OUT)/libjumpfunc.a $(call to,$(LIBDIR)/)
	$(INSTALL) -m 644 $(PUBLIC) $(call to,$(INCLUDEDIR)/jumpfunc/)
	$(INSTALL) -m 644 $(PUBLIC_DETAIL) $(call to,$(INCLUDEDIR)/jumpfunc/detail/)
	$(INSTALL) -m 644 $(DIST)/jumpfunc.pc $(call to,$(PKGCONFIGDIR)/)
	$(INSTALL) -m 644 $(DIST)/jumpfunc-config.cmake $(DIST)/jumpfunc-config-version.cmake \
		$(call to,$(CMAKEDIR)/)
	$(INSTALL) -m 644 examples/*.c $(call to,$(EXAMPLESDIR)/)
	@for page in $(OUT)/man/man*/*; do \
		[ -e "$$page" ] || continue; \
		folder=$${page%/*}; folder=$(call to,$(MANDIR))/$${folder##*/}; \
		$(INSTALL) -d "$$folder" && $(INSTALL) -m 644 "$$page" "$$folder/" || exit 1; \
	done
	$(record)
	@$(if $(DESTDIR),true,! [ -w /etc/ld.so.cache ] || ldconfig)

# The folders that are the library's own go, too, once they are empty. Versions before 0.2 kept no list: headers in its
# own folders, and pages, are known by what stands in them.
uninstall:
	@{ $(files); \
	[ ! -e $(call to,$(FILES)) ] || cat $(call to,$(FILES)); } | $(forget)
	@rm -f $(call to,$(FILES))
	@for folder in $(call to,$(INCLUDEDIR)/jumpfunc) $(call to,$(INCLUDEDIR)/jumpfunc/detail); do \
		grep -ls '^#ifndef JUMPFUNC_' "$$folder"/*.h "$$folder"/*.hh | while IFS= read -r file; do rm -f "$$file"; done; \
	done; \
	grep -lsE 'Made by man/kdoc2man|^\.so man3/(jf_|(DE(FIN|CLAR)E|(EX|IM)PORT)_(JF_|DYNFUNC))' $(call to,$(MANDIR)/man3)/*.3 | \
		while IFS= read -r file; do rm -f "$$file"; done
	@for folder in $(call to,$(INCLUDEDIR)/jumpfunc/detail) $(call to,$(INCLUDEDIR)/jumpfunc) $(call to,$(CMAKEDIR)) \
		$(call to,$(PREFIX)/share/jumpfunc) $(call to,$(EXAMPLESDIR)) $(call to,$(dir $(EXAMPLESDIR))); do \
		[ ! -d "$$folder" ] || rmdir --ignore-fail-on-non-empty "$$folder"; \
	done

# The manual: what the headers that programs include say of themselves, of what programs have.
PROGRAM_HEADERS := $(addprefix $(TOP)/include/jumpfunc/,batch.h branch.h dynfunc.h list.h stats.h tracepoint.h)
# Halves of a public header: as which one users know them.
PROGRAM_HALVES := $(foreach half,kernel user,$(TOP)/include/jumpfunc/detail/tracepoint_$(half).h:$(TOP)/include/jumpfunc/tracepoint.h)
KDOC2MAN := $(TOP)/man/kdoc2man
MAN_DATE = $(shell LC_ALL=C date -u -d @$${SOURCE_DATE_EPOCH:-$$(git -C $(TOP) log -1 --format=%ct \
	2>/dev/null || stat -c %Y $(TOP)/VERSION)} +%F)
man: $(OUT)/man/.made
$(OUT)/man/.made: $(OUT)/version $(PUBLIC) $(wildcard man/*) $(wildcard $(KDOC2MAN) $(TOP)/man/tidy) | $(OUT)
	@rm -rf $(OUT)/man; mkdir -p $(OUT)/man
	@if command -v python3 > /dev/null && [ -x $(KDOC2MAN) ]; then \
		printf '#include <%s>\n' $(PROGRAM_HEADERS:$(TOP)/include/%=%) | \
			$(CC) -I$(TOP)/include -E -dD -xc - > $(OUT)/man/declared && \
		$(KDOC2MAN) -o $(OUT)/man/man3 --world program --declared $(OUT)/man/declared -s 3 --source "jumpfunc $(VERSION)" --date "$(MAN_DATE)" \
			--manual "libjumpfunc" --library "libjumpfunc (-ljumpfunc)" --see 'libjumpfunc(7)' \
			$(PROGRAM_HALVES) $(PROGRAM_HEADERS) && \
		for page in $(basename $(notdir $(wildcard man/*.in))); do \
			mkdir -p $(OUT)/man/man$${page##*.} && sed -e 's,@VERSION@,$(VERSION),g' -e 's,@DATE@,$(MAN_DATE),g' man/$$page.in \
				> $(OUT)/man/man$${page##*.}/$$page || exit 1; \
		done && \
		if command -v lowdown > /dev/null; then \
			for page in libjumpfunc-caveats libjumpfunc-agent; do \
				lowdown -s -T man -M title=$$page -M section=7 -M date="$(MAN_DATE)" -M volume=libjumpfunc \
					-M source="jumpfunc $(VERSION)" --parse-no-intraemph --parse-no-metadata man/$$page.7.md | \
					$(TOP)/man/tidy --date "$(MAN_DATE)" > $(OUT)/man/man7/$$page.7 || exit 1; \
			done; \
		else \
			echo "# no pages libjumpfunc-caveats(7), libjumpfunc-agent(7): they need lowdown" >&2; \
		fi || exit 1; \
	else \
		echo "# no manual pages: they need python3 and man/kdoc2man" >&2; \
	fi
	@touch $@

# What a build of packages runs: seconds, and nothing but a compiler is needed.
QUICK := $(addprefix $(OUT)/,test_lib test_lib-nopie)
quick-check: $(QUICK)
	@rc=0; for t in $(QUICK); do \
		echo "# $${t##*/}"; (cd $(OUT) && $$t) || rc=1; \
	done; exit $$rc

FORCE:
.PHONY: install uninstall man quick-check FORCE
