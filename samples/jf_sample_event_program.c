// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Sample: the events of jf_sample_event_trace.h in a program, which records them:
 *   cc -I. jf_sample_event_program.c $(pkg-config --cflags --libs jumpfunc-trace)
 *   JUMPFUNC_TRACE='jf_sample:*' ./a.out
 *   babeltrace2 /dev/shm/jumpfunc-$(id -u)/a.out-*
 * jf_sample_event.c is a module with the same events.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <jumpfunc/record.h>

/* The types that the events look into have to be known where they are defined. */
struct jf_sample_packet {
	char	dev[8];
	u32	id;
	u32	len;
};

#define CREATE_TRACE_POINTS
#include "jf_sample_event_trace.h"

/* Every third packet is too long. */
static void receive(struct jf_sample_packet *p)
{
	jf_trace_jf_sample_rx(p, p->id % 4);
	if (p->len > 1500)
		jf_trace_jf_sample_drop(p->id, -EMSGSIZE);
	else
		jf_trace_jf_sample_pass(p->id, 0);
}

int main(int argc, char **argv)
{
	struct jf_sample_packet p = { "jf0", 0, 0 };
	int i, num = argc > 1 ? atoi(argv[1]) : 3;
	char folder[4096];

	for (i = 0; i < num; i++) {
		p.id = (u32)i;
		p.len = p.id % 3 == 2 ? 9000 : 100 + p.id % 3;
		receive(&p);
	}
	if (jf_record_folder(folder, sizeof(folder)) > 0)
		printf("recorded to %s\n", folder);
	return 0;
}
