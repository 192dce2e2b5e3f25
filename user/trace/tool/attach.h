/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
#ifndef JF_ATTACH_H
#define JF_ATTACH_H

#include <sys/types.h>

/*
 * A process that has no control socket gets the agent. STATUS_OK, or it was said why not, and
 * nothing was changed.
 */
int attach(pid_t pid);

#endif /* JF_ATTACH_H */
