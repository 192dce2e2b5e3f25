/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Between socket.c, which has the control socket and its thread, and control.c, which carries out
 * requests.
 */
#ifndef JF_SOCKET_H
#define JF_SOCKET_H

#include "trace.h"

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

JF_HIDDEN void jf_control_serve(struct jf_answer *a, const char *data, size_t size, int refused, int peer);

#endif /* JF_SOCKET_H */
