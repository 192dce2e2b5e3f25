// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "names.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a */
static uint64_t hash_of(const char *text, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (len--)
		hash = (hash ^ (uint8_t)*text++) * UINT64_C(0x100000001b3);
	return hash;
}

size_t names_number(struct names *n, const char *text, size_t len)
{
	uint64_t hash = hash_of(text, len), nr;
	char **more;
	size_t *at;

	for (nr = 0; (at = index_at(&n->index, hash, nr)) && *at != INDEX_NONE; nr++)
		if (!strncmp(n->name[*at], text, len) && !n->name[*at][len])
			return *at;
	if (!at)
		return INDEX_NONE;
	/* A power of two has no room for one more. */
	if (!(n->num & (n->num - 1))) {
		more = realloc(n->name, (n->num ? n->num * 2 : 1) * sizeof(*more));
		if (!more)
			return INDEX_NONE;
		n->name = more;
	}
	n->name[n->num] = strndup(text, len);
	if (!n->name[n->num])
		return INDEX_NONE;
	*at = n->num;
	return n->num++;
}

void names_free(struct names *n)
{
	while (n->num)
		free(n->name[--n->num]);
	free(n->name);
	index_free(&n->index);
	n->name = NULL;
}
