// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/branch.h>
#include <unistd.h>

DEFINE_JF_KEY_FALSE(plugin_key);
volatile int plugin_inside;

void plugin_probe(void *data, int i);
void plugin_probe(void *data, int i)
{
	(void)data, (void)i;
	plugin_inside = 1;
	usleep(1000000);
	plugin_inside = 2;
}
