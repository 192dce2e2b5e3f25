// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* One source of the library, broken or whole: see lib.mk, lib-mutants. */
#include JF_LIB_SOURCE
