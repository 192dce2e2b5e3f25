// SPDX-License-Identifier: GPL-2.0
/* An asm goto site for each probe, with a key of its own. */
#include "forms.h"

static DEFINE_JF_KEY_ARRAY_FALSE(keys, JFF_PROBES);

static int set(unsigned int first, unsigned int num, bool on)
{
	struct jf_batch b;

	jf_batch_init(&b);
	for (; num; num--)
		jf_key_batch_set(&b, &keys[first++], on);
	/* Reports the error of a failed add. */
	return jf_batch_commit(&b);
}

#define FORM		site
#define JFF_FORM_NAME	"asm goto site"
#define JFF_FORM_KEPT	15
#define JFF_FORM_SET	set
#define PROBE(kind, n, i, a, b, c)					\
	do {								\
		if (jf_branch_unlikely(&keys[i]))			\
			jff_hit(a, b, c);				\
	} while (0)

#include "form.h"
