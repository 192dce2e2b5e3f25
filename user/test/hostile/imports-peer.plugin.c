// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Two libraries: PART 1 exports, and PART 2 imports. */
#include "imports-peer.h"

#if PART == 1
DEFINE_JF_KEY_TRUE(peer_on);
EXPORT_JF_KEY(peer_on);
int peer_first(int x) { return x + 1; }
int peer_second(int x) { return x + 2; }
DEFINE_DYNFUNC(peer_op, peer_first);
EXPORT_DYNFUNC(peer_op);
#else
IMPORT_JF_KEY(peer_on);
IMPORT_DYNFUNC(peer_op, peer_first);

int early_on, early_op, early_set;

int importer_on(void)
{
	return jf_branch_unlikely(&peer_on);
}

int importer_op(int x)
{
	return dynfunc_call(peer_op, x);
}

int importer_set(int on)
{
	return on ? jf_key_enable(&peer_on) : jf_key_disable(&peer_on);
}

__attribute__((__constructor__)) static void early(void)
{
	early_on = importer_on();
	early_op = importer_op(1);
	early_set = importer_set(0);
}
#endif
