// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Validate a batch. The only side effect is on the user counts of keys. */
#include "commit.h"

#include "common/count.h"

static uintptr_t next_value(const struct jf_ctl *ctl)
{
	return ctl->batch ? ctl->value : jf_ent_value(ctl->ent);
}

/* The dynamic function whose trampoline is at @addr. */
static struct jf_ctl *by_trampoline(uintptr_t addr)
{
	const struct jf_site *site;
	int i;

	/* An endbr64 may come first. */
	for (i = 0; i <= 4; i += 4) {
		site = jf_trampoline_find(addr + (uintptr_t)i);
		if (site)
			return jf_ctl_real(site->ctl);
	}
	return NULL;
}

static struct jf_ctl *jf_circle_next(const struct jf_ctl *ctl)
{
	return by_trampoline(next_value(ctl));
}

static struct jf_ctl *jf_circle_back(const struct jf_ctl *ctl)
{
	return by_trampoline((uintptr_t)jf_func_of(ctl->ent)->init);
}

#include "common/circle.h"

static int check_func(struct jf_ctl *ctl, bool force)
{
	const struct jf_ent *ent = ctl->ent;

	if (!ctl->value) {
		jf_say(true, "%s: has no NULL form", ent->name);
		return -EINVAL;
	}
	if (!force && ent->flags & JF_ENT_TRACE) {
		jf_say(true, "%s: belongs to a tracepoint", ent->name);
		return -EINVAL;
	}
	if (!force && jf_is_unloading((const void *)ctl->value)) {
		jf_say(true, "%s: its target is in an object that is being closed",
		       ent->name);
		return -EBUSY;
	}
	if (jf_in_circle(ctl)) {
		jf_say(true, "%s: would call itself, now or when an object is closed",
		       ent->name);
		return -EINVAL;
	}
	return 0;
}

static int check_ctl(struct jf_ctl *ctl, bool force)
{
	return ctl->ent->type == JF_ENT_FUNC ? check_func(ctl, force) : 0;
}

/*
 * A key is about to be disabled. Its one user is taken away first, so that a caller that
 * counts it up from here on waits for the lock; see common/count.h.
 */
static int freeze(struct jf_change *c, struct jf_ctl *ctl)
{
	int one = 1;

	if (ctl->ent->type != JF_ENT_KEY || ctl->value || c->again)
		return 0;
	c->frozen = jf_count_swap(&jf_key_of(ctl->ent)->count, &one, 0);
	/* Silent: callers that share a key expect this. */
	c->shared = !c->frozen;
	return c->frozen ? 0 : -EBUSY;
}

void jf_change_unfreeze(struct jf_change *c)
{
	if (c->frozen)
		jf_count_set(jf_ctl_of(c->ent), 1);
	c->frozen = false;
}

int jf_changes_mark(struct jf_batch *b)
{
	struct jf_change *c;

	for (c = b->changes; c; c = c->next) {
		struct jf_ctl *ctl = jf_change_ctl(c);

		if (!ctl) {
			jf_say(true, "change of something that no loaded object defines");
			return -ENODEV;
		}
		if (ctl->batch && ctl->value != c->value) {
			jf_say(true, "%s: twice in one batch, with different values",
			       ctl->ent->name);
			return -EINVAL;
		}
		c->again = ctl->batch;
		ctl->batch = b;
		ctl->value = c->value;
		ctl->also = c->also;
		ctl->stored = c->stored;
	}
	return 0;
}

void jf_changes_unmark(struct jf_batch *b)
{
	const struct jf_change *c;

	for (c = b->changes; c; c = c->next) {
		struct jf_ctl *ctl = jf_change_ctl(c);

		if (!ctl)
			continue;
		ctl->batch = NULL;
		ctl->also = NULL;
	}
}

int jf_changes_check(struct jf_batch *b, bool force)
{
	struct jf_change *c;
	int err = 0;

	for (c = b->changes; c && !err; c = c->next) {
		struct jf_ctl *ctl = jf_ctl_of(c->ent);

		c->turns = jf_ent_value(ctl->ent) != ctl->value;
		if (c->turns)
			err = check_ctl(ctl, force || c->force) ?: freeze(c, ctl);
	}
	return err;
}
