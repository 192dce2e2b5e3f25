# SPDX-License-Identifier: GPL-2.0
# Installing the library; included by Makefile.
#   make install   DESTDIR= PREFIX=/usr/local LIBDIR=$(PREFIX)/lib: libraries, headers,
#                  pkg-config and CMake files, manual pages (if python3 is there)
#   make uninstall with the same variables
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
CMAKEDIR ?= $(LIBDIR)/cmake/jumpfunc
INSTALL ?= install

VERSION := $(shell cat $(TOP)/VERSION)
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

# Always made anew: the variables may be others than the last time.
$(DIST)/%: dist/%.in FORCE
	@mkdir -p $(DIST)
	@sed -e 's,@PREFIX@,$(PREFIX),g' -e 's,@LIBDIR@,$(LIBDIR),g' \
		-e 's,@INCLUDEDIR@,$(INCLUDEDIR),g' -e 's,@VERSION@,$(VERSION),g' \
		-e 's,@MAJOR@,$(firstword $(subst ., ,$(VERSION))),g' \
		-e 's,@TO_INCLUDE@,$(TO_INCLUDE),g' -e 's,@THROUGH_C@,$(THROUGH_C),g' \
		-e 's/[ ]*$$//' $< > $@

DIST_FILES := $(addprefix $(DIST)/,jumpfunc.pc jumpfunc-config.cmake jumpfunc-config-version.cmake)

install: lib $(DIST_FILES) man
	$(INSTALL) -d $(call to,$(LIBDIR)) $(call to,$(PKGCONFIGDIR)) $(call to,$(CMAKEDIR)) \
		$(call to,$(INCLUDEDIR)/jumpfunc/detail)
	$(INSTALL) -m 755 $(OUT)/libjumpfunc.so.1 $(call to,$(LIBDIR)/)
	ln -sf libjumpfunc.so.1 $(call to,$(LIBDIR)/libjumpfunc.so)
	$(INSTALL) -m 644 $(OUT)/libjumpfunc.a $(call to,$(LIBDIR)/)
	$(INSTALL) -m 644 $(PUBLIC) $(call to,$(INCLUDEDIR)/jumpfunc/)
	$(INSTALL) -m 644 $(PUBLIC_DETAIL) $(call to,$(INCLUDEDIR)/jumpfunc/detail/)
	$(INSTALL) -m 644 $(DIST)/jumpfunc.pc $(call to,$(PKGCONFIGDIR)/)
	$(INSTALL) -m 644 $(DIST)/jumpfunc-config.cmake $(DIST)/jumpfunc-config-version.cmake \
		$(call to,$(CMAKEDIR)/)
	@for page in $(OUT)/man/man*/*; do \
		[ -e "$$page" ] || continue; \
		folder=$${page%/*}; folder=$(call to,$(MANDIR))/$${folder##*/}; \
		$(INSTALL) -d "$$folder" && $(INSTALL) -m 644 "$$page" "$$folder/" || exit 1; \
	done
	@$(if $(DESTDIR),true,! [ -w /etc/ld.so.cache ] || ldconfig)

# The folders that are the library's own go, too, once they are empty.
uninstall: man
	cd $(call to,$(LIBDIR)) 2>/dev/null && rm -f libjumpfunc.so libjumpfunc.so.1 libjumpfunc.a || true
	rm -f $(call to,$(PKGCONFIGDIR)/jumpfunc.pc) $(call to,$(CMAKEDIR)/jumpfunc-config.cmake) \
		$(call to,$(CMAKEDIR)/jumpfunc-config-version.cmake)
	@for header in $(patsubst $(TOP)/include/%,%,$(PUBLIC) $(PUBLIC_DETAIL)); do \
		rm -f $(call to,$(INCLUDEDIR))/$$header; \
	done
	@for page in $(OUT)/man/man*/*; do \
		folder=$${page%/*}; rm -f $(call to,$(MANDIR))/$${folder##*/}/$${page##*/}; \
	done
	@for folder in $(call to,$(INCLUDEDIR)/jumpfunc/detail) $(call to,$(INCLUDEDIR)/jumpfunc) $(call to,$(CMAKEDIR)); do \
		[ ! -d "$$folder" ] || rmdir --ignore-fail-on-non-empty "$$folder"; \
	done

# The manual: what the headers that programs include say of themselves, of what programs have.
PROGRAM_HEADERS := $(addprefix $(TOP)/include/jumpfunc/,batch.h branch.h dynfunc.h list.h stats.h tracepoint.h)
KDOC2MAN := $(TOP)/man/kdoc2man
MAN_DATE = $(shell LC_ALL=C date -u -d @$${SOURCE_DATE_EPOCH:-$$(git -C $(TOP) log -1 --format=%ct \
	2>/dev/null || stat -c %Y $(TOP)/VERSION)} +%F)
man: $(OUT)/man/.made
$(OUT)/man/.made: $(PUBLIC) $(wildcard man/*) $(wildcard $(KDOC2MAN)) | $(OUT)
	@rm -rf $(OUT)/man; mkdir -p $(OUT)/man
	@if command -v python3 > /dev/null && [ -x $(KDOC2MAN) ]; then \
		printf '#include <%s>\n' $(PROGRAM_HEADERS:$(TOP)/include/%=%) | \
			$(CC) -I$(TOP)/include -E -dD -xc - > $(OUT)/man/declared && \
		$(KDOC2MAN) -o $(OUT)/man/man3 --world program --declared $(OUT)/man/declared -s 3 --source "jumpfunc $(VERSION)" --date "$(MAN_DATE)" \
			--manual "libjumpfunc" --library "libjumpfunc (-ljumpfunc)" --see 'libjumpfunc(7)' \
			$(PROGRAM_HEADERS) && \
		mkdir -p $(OUT)/man/man7 && \
		sed -e 's,@VERSION@,$(VERSION),g' -e 's,@DATE@,$(MAN_DATE),g' man/libjumpfunc.7.in \
			> $(OUT)/man/man7/libjumpfunc.7 || exit 1; \
	else \
		echo "# no manual pages: they need python3 and man/kdoc2man" >&2; \
	fi
	@touch $@

FORCE:
.PHONY: install uninstall man FORCE
