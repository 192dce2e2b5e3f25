// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/batch.h>

void plugin_section(void);
void plugin_section(void)
{
	jf_read_lock();
	jf_read_unlock();
}

void plugin_quiesce(void);
void plugin_quiesce(void)
{
	jf_quiesce();
}
