// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A shared object that knows nothing of the library, and has a target and a probe. */
int plugin_target(int i);
int plugin_target(int i)
{
	return i + 100;
}

void plugin_probe(void *data, int i);
void plugin_probe(void *data, int i)
{
	*(int *)data += i;
}
