// SPDX-License-Identifier: GPL-2.0
/* No probe: the rest of the code around it. */
#include "forms.h"

#define FORM		none
#define JFF_FORM_NAME	"none"
#define JFF_FORM_KEPT	15
#define JFF_FORM_SET	NULL
#define PROBE(kind, n, i, a, b, c)					\
	asm volatile("" : : "rm" (a), "rm" (b), "rm" (c))

#include "form.h"
