// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>

DEFINE_JF_KEY_FALSE(plugin_key);
extern int closed_calls;
static struct jf_quiesce_head head;

static void callback(struct jf_quiesce_head *h)
{
	closed_calls += h == &head;
}

void plugin_request(void);
void plugin_request(void)
{
	jf_call_quiesced(&head, callback);
}

void plugin_request_for(void (*func)(struct jf_quiesce_head *));
void plugin_request_for(void (*func)(struct jf_quiesce_head *))
{
	jf_call_quiesced(&head, func);
}
