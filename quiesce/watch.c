// SPDX-License-Identifier: GPL-2.0
/*
 * From where do tasks come to what is searched for, if that is led to again? Why this
 * matters, and what is done there, is told in x86/watch.c.
 *
 * To code that a key leads to they come by a site of the key in the same function; to a
 * function by the call that it returns to. The instructions in front of these are
 * meant, as far as they are not searched for themselves.
 */
#include "quiesce/watch.h"

#include "arch/reach.h"
#include "index/index.h"
#include "quiesce/function.h"
#include "quiesce/retired.h"
#include "quiesce/text.h"

#include <linux/minmax.h>
#include <linux/mutex.h>

/* Instructions that are tried for one task, and of these for each site. */
#define JF_LEADING	12U
#define JF_LEADING_EACH	4U

/* Does this site lead again to where it has led before? */
static bool jf_is_back(const struct jf_site *site)
{
	const struct jf_ctl *ctl = site->ctl;

	return site->flags & JF_SITE_BRANCH && !jf_retired_is_settled(ctl->seq) &&
	       ctl->left_ways & BIT(READ_ONCE(jf_key_of(ctl->ent)->enabled));
}

/* In front of such sites in this text. */
static int jf_leading_sites(struct jf_text_ask *ask, unsigned long *place,
			    unsigned int max)
{
	const struct jf_spans *text = ask->text;
	const struct jf_site *site;
	unsigned int i, num = 0;
	int n;

	for (i = 0; i < text->num; i++) {
		for (site = jf_site_next(text->span[i].start, text->span[i].end);
		     site && num < max;
		     site = jf_site_next(site->addr + 1, text->span[i].end)) {
			if (!jf_is_back(site))
				continue;
			n = jf_arch_leading(ask, site->addr, place + num,
					    min(max - num, JF_LEADING_EACH));
			if (n < 0)
				return n;
			num += n;
		}
	}
	return num;
}

/* In front of such sites in the function that holds @where, or of the call before @back. */
static int jf_leading(unsigned long where, unsigned long back,
		      unsigned long *place, unsigned int max)
{
	unsigned long addr = back ? back - 1 : where;
	struct jf_spans text = { };
	struct jf_text_ask ask = {
		.text = &text,
		.callee = jf_callee_kind,
		.begins = jf_func_begins,
	};
	int num = jf_spans_add_func(&text, (void *)addr);

	if (!num) {
		jf_spans_sort(&text);
		mutex_lock(&jf_mutex);
		ask.kept = jf_text_kept(addr);
		num = back ? jf_arch_leading(&ask, back, place, max) :
			     jf_leading_sites(&ask, place, max);
		mutex_unlock(&jf_mutex);
	}
	jf_spans_free(&text);
	return num;
}

static int jf_watch_from(struct jf_watch **watch, const struct jf_scan *scan,
			  struct task_struct *t, unsigned long where,
			  unsigned long back)
{
	unsigned long place[JF_LEADING];
	int i, num, kept = 0;

	num = jf_leading(where, back, place, JF_LEADING);
	for (i = 0; i < num; i++)
		if (!jf_spans_has(&scan->in, place[i]))
			place[kept++] = place[i];
	if (num < 0)
		return num;
	return kept ? jf_arch_watch(watch, t, place, kept) : -ENOENT;
}

int jf_watch_add(struct jf_watch **watch, const struct jf_scan *scan,
		  struct task_struct *t, unsigned long where, unsigned long back)
{
	int err = jf_watch_from(watch, scan, t, where, 0);

	if (back && !jf_watch_from(watch, scan, t, where, back))
		err = 0;
	return err;
}
