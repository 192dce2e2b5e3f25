// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint64_t hash_of(const struct index *x, uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ x->seed) * UINT64_C(0x9e3779b97f4a7c15);

	h = ((h ^ h >> 32) + b) * UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ h >> 29;
}

/* There is a free one. */
static struct index_slot *find_slot(const struct index *x, uint64_t a, uint64_t b)
{
	size_t i = hash_of(x, a, b) & (x->room - 1);

	while (x->slot[i].used && (x->slot[i].a != a || x->slot[i].b != b))
		i = (i + 1) & (x->room - 1);
	return &x->slot[i];
}

static int make_larger(struct index *x)
{
	struct index old = *x;
	size_t i;

	x->room = old.room ? old.room * 2 : 64;
	x->slot = calloc(x->room, sizeof(*x->slot));
	if (!x->slot) {
		*x = old;
		return 0;
	}
	if (!old.room && getrandom(&x->seed, sizeof(x->seed), 0) != sizeof(x->seed))
		x->seed = (uintptr_t)x->slot;
	for (i = 0; i < old.room; i++)
		if (old.slot[i].used)
			*find_slot(x, old.slot[i].a, old.slot[i].b) = old.slot[i];
	free(old.slot);
	return 1;
}

size_t *index_at(struct index *x, uint64_t a, uint64_t b)
{
	struct index_slot *s;

	if (x->num >= x->room / 2 && !make_larger(x))
		return NULL;
	s = find_slot(x, a, b);
	if (!s->used) {
		*s = (struct index_slot){ a, b, INDEX_NONE, 1 };
		x->num++;
	}
	return &s->at;
}

void index_free(struct index *x)
{
	free(x->slot);
	memset(x, 0, sizeof(*x));
}
