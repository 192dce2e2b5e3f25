// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A copy of the list of entities, made with the lock held, so that callbacks have none.
 *
 * Its memory is malloc()'s, which must not be called with our lock held: so it is allocated
 * before, and once more if that was too little.
 */
#include "lib.h"

#include <stdlib.h>
#include <string.h>

const char *jf_copy_keep(struct jf_copy *c, const char *s)
{
	size_t len = strlen(s) + 1;
	const char *kept = "";

	if (c->used + len <= c->size)
		kept = memcpy(c->text + c->used, s, len);
	c->used += len;
	return kept;
}

void jf_copy_add(struct jf_copy *c, const void *info)
{
	if (c->num < c->max)
		memcpy(c->info + c->num * c->one, info, c->one);
	c->num++;
}

/* False: there is no memory. */
static bool make(struct jf_copy *c, void (*add_all)(struct jf_copy *c))
{
	for (;;) {
		c->num = 0;
		c->used = 0;
		jf_lock();
		add_all(c);
		jf_unlock();
		if (c->num <= c->max && c->used <= c->size)
			return true;
		/* Some can be loaded in between. */
		c->max = c->num + 16;
		c->size = c->used + 1024;
		free(c->info);
		c->info = malloc(c->max * c->one + c->size);
		if (!c->info)
			return false;
		c->text = c->info + c->max * c->one;
	}
}

static int show(const struct jf_copy *c, int (*visit)(const void *info, void *arg), void *arg)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < c->num && !ret; i++)
		ret = visit(c->info + i * c->one, arg);
	return ret;
}

int jf_copy_show(size_t one, void (*add_all)(struct jf_copy *c), int (*visit)(const void *info, void *arg),
		 void *arg)
{
	struct jf_copy c = { .one = one };
	int ret;

	if (!make(&c, add_all))
		return -ENOMEM;
	pthread_cleanup_push(free, c.info);
	ret = show(&c, visit, arg);
	pthread_cleanup_pop(1);
	return ret;
}
