/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The common part of two libraries of a program, which are not linked with each other. */
#ifndef HOSTILE_IMPORTS_PEER_H
#define HOSTILE_IMPORTS_PEER_H

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

int peer_first(int x);
int peer_second(int x);
DECLARE_JF_KEY_TRUE(peer_on);
DECLARE_DYNFUNC(peer_op, peer_first);

/* Of the importer, the first ones as its constructor saw them. */
extern int early_on, early_op, early_set;
int importer_on(void);
int importer_op(int x);
int importer_set(int on);

#endif /* HOSTILE_IMPORTS_PEER_H */
