// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An empty read section of libjumpfunc: jf_quiesce() needs them. */
#include "library.h"
#include "row.h"

#include <jumpfunc/batch.h>

#define BODY
#define SITE(hi, lo)							\
	jf_read_lock();							\
	__asm__ volatile("" ::: "memory");				\
	jf_read_unlock()
#include "loops.h"

BENCH_ROWS("call", "read-section", "jumpfunc read section, empty", NULL);
