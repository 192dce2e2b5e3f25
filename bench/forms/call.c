// SPDX-License-Identifier: GPL-2.0
/* The call of a function that does not exist for each probe. */
#include "forms.h"
#include "repeat.h"

#include <jumpfunc/calls.h>

#define NAME(kind, n)		__dtrace_forms___##kind##_##n

/* jumpfunc.mk defines the functions that the objects name: a dynamic function for each. */
#define DECLARE(kind, n)						\
	void NAME(kind, n)(long a, long b, long c);			\
	extern struct jf_func __jf_func___dtrace_forms___##kind##_##n;
#define POINTER(kind, n)	&__jf_func___dtrace_forms___##kind##_##n,

#define FOR_ALL(m)							\
	JFB_REP64(m##_PLAIN, 0)						\
	JFB_REP64(m##_BUSY, 0)						\
	JFB_REP1000(m##_MANY, 10)					\
	JFB_REP1000(m##_MANY, 11)					\
	JFB_REP1000(m##_MANY, 12)					\
	JFB_REP1000(m##_MANY, 13)					\
	JFB_REP1000(m##_MANY, 14)

#define DECLARE_PLAIN(n)	DECLARE(plain, n)
#define DECLARE_BUSY(n)		DECLARE(busy, n)
#define DECLARE_MANY(n)		DECLARE(many, n)
FOR_ALL(DECLARE)

#define POINTER_PLAIN(n)	POINTER(plain, n)
#define POINTER_BUSY(n)		POINTER(busy, n)
#define POINTER_MANY(n)		POINTER(many, n)
static struct jf_func * const funcs[JFF_PROBES] = { FOR_ALL(POINTER) };

/* The macros of dynfunc.h want names, and these are many; all have the type of jff_hit(). */
static int set(unsigned int first, unsigned int num, bool on)
{
	struct jf_batch b;

	jf_batch_init(&b);
	for (; num; num--)
		__jf_batch_set_func(&b, funcs[first++], on ? jff_hit : NULL);
	return jf_batch_commit(&b);
}

#define FORM		call
#define JFF_FORM_NAME	"NOPed call"
#define JFF_FORM_KEPT	6
#define JFF_FORM_SET	set
#define PROBE(kind, n, i, a, b, c)	NAME(kind, n)(a, b, c)

#include "form.h"
