/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Between socket.c, which has the control socket and its thread, and control.c, which carries out
 * requests.
 */
#ifndef JF_SOCKET_H
#define JF_SOCKET_H

#include "trace.h"
#include "control.h"

/**
 * struct jf_answer - messages that are to be sent
 * @data: each with its size, 32 bits, before it
 * @size: bytes
 * @room: bytes that there are
 * @err:  0, -ENOMEM, or -EFBIG
 */
struct jf_answer {
	char	*data;
	size_t	size;
	size_t	room;
	int	err;
};

/**
 * struct jf_handed - descriptors that came with a request
 * @num: how many
 * @fd:  the process's memory first, then files of its objects
 */
struct jf_handed {
	unsigned int	num;
	int		fd[JF_CONTROL_FILES];
};

JF_HIDDEN void jf_control_serve(struct jf_answer *a, const char *data, size_t size, int refused, int peer, const struct jf_handed *handed);

#endif /* JF_SOCKET_H */
