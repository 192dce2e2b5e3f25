/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A connection to the control socket of a process. */
#ifndef JF_CONNECT_H
#define JF_CONNECT_H

#include <sys/types.h>

/* It, or -ECOMM: the user was told why not. @owner: the user of the process. */
int open_control(pid_t pid, uid_t *owner);

#endif /* JF_CONNECT_H */
