// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object that brings the library with it, late. */
#include <jumpfunc/batch.h>

void plugin_lock(void);
void plugin_lock(void) { jf_read_lock(); }
void plugin_unlock(void);
void plugin_unlock(void) { jf_read_unlock(); }
int plugin_quiesce(unsigned long ms);
int plugin_quiesce(unsigned long ms) { return jf_quiesce_timeout(ms); }
