// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object that asks for a callback. */
#include <jumpfunc/branch.h>
#include <stdlib.h>

DEFINE_JF_KEY_FALSE(plugin_key);

struct garbage {
	struct jf_quiesce_head	head;
	int			*called;
};

static void throw_away(struct jf_quiesce_head *head)
{
	struct garbage *g = (struct garbage *)head;

	*g->called = 1;
	free(g);
}

void plugin_ask(int *called);
void plugin_ask(int *called)
{
	struct garbage *g = malloc(sizeof(*g));

	if (!g || jf_branch_unlikely(&plugin_key))
		abort();
	g->called = called;
	jf_call_quiesced(&g->head, throw_away);
}
