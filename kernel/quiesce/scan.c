// SPDX-License-Identifier: GPL-2.0
/*
 * The text that a stack scan searches for, by the records of kernel/quiesce/retired.c.
 *
 * A function that was replaced can be executed by tasks that never came through a changed site,
 * because it is called by its name. The stack tells, by the function's return address: a direct
 * call of the function says that the task is elsewhere. Anything else, such as a call by a pointer,
 * or of another function, says that the task is inside: it can have been a pointer to the
 * trampoline, or a jump from there.
 *
 * A function that is in use is not searched for at all.
 */
#include "quiesce/scan.h"

#include "index/state.h"
#include "quiesce/retired.h"

#include <linux/string.h>

/* The text, without code that is in use again, or has been forgotten. */
int jf_scan_make(struct jf_scan *scan, const struct jf_spans *text, u64 begun,
		 u64 *seq)
{
	unsigned int i;
	int err = 0;

	memset(scan, 0, sizeof(*scan));
	mutex_lock(&jf_mutex);
	*seq = jf_retired_seq();
	for (i = 0; !err && i < text->num; i++) {
		const struct jf_span *s = &text->span[i];

		if (!begun || !s->record || jf_retired_is_meant(s, begun))
			err = jf_spans_add_tagged(&scan->in, s->start, s->end,
						  s->tag);
	}
	mutex_unlock(&jf_mutex);
	if (err) {
		jf_scan_free(scan);
		return err;
	}
	jf_spans_sort(&scan->in);
	return 0;
}

void jf_scan_free(struct jf_scan *scan)
{
	jf_spans_free(&scan->in);
}
