#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What libraries that are called within locks of the dynamic linker must not use: functions of libc that look at the
# locale may open a converter, which is a shared object, and so do those that ask for users or hosts.
# usage: imports.sh LIBRARY
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"
library=${1:?usage: imports.sh LIBRARY}
tap_begin

forbidden='fnmatch|glob|wordexp|reg(comp|exec)|[fsv]*w(printf|scanf)|str(error|signal)(_[rl])?|__xpg_strerror_r|v?perror|psignal|psiginfo'
forbidden="$forbidden|(set|new|use|dup|free)locale|localeconv|nl_langinfo(_l)?|d?c?n?gettext|bindtextdomain|iconv.*"
forbidden="$forbidden|(mb|wc|c16|c32).*(rtowcs?|rtomb|towcs?|tomb|len|rlen|rtoc16|rtoc32|rtombs)|btowc|wctob|isw.*|tow(upper|lower)|wcs.*"
forbidden="$forbidden|str(coll|xfrm|casestr|casecmp|ncasecmp)(_l)?|__ctype_.*_loc|strf(time|mon)(_l)?|strptime(_l)?"
forbidden="$forbidden|get(pw|gr|host|serv|addr).*|backtrace.*"

imports() { nm -D --undefined-only "$library" | sed 's/.* //; s/@.*//' | sort -u > "$tmp/imports" && [ -s "$tmp/imports" ]; }
none() { ! grep -xE "$forbidden" "$tmp/imports"; }
# The list finds what it is for.
finds() { for f in fnmatch strerror iconv_open mbsrtowcs mbrtowc wcsrtombs setlocale getpwuid swprintf; do echo "$f" | grep -qxE "$forbidden" || return 1; done; }

check "what ${library##*/} imports" imports
check "nothing that looks at the locale" none
check "the list of these" finds
tap_end
