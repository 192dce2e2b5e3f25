/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Does a thread's filter of system calls (seccomp) allow a certain call.
 *
 * API:
 *   filters_allow()	the answer of all filters of a thread that stands
 *   filter_value()	the answer of one filter
 */
#ifndef JF_FILTER_H
#define JF_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* As struct sock_filter and struct seccomp_data: musl-gcc has no headers of the kernel. */
struct filter_step {
	uint16_t	code;
	uint8_t		yes;
	uint8_t		no;
	uint32_t	k;
};

struct filter_call {
	int32_t		number;
	uint32_t	arch;
	uint64_t	next;
	uint64_t	arg[6];
};

/* The kernel permits no more steps. */
#define FILTER_STEPS_MAX	4096U
/* seccomp(2): the thread is killed. */
#define FILTER_UNKNOWN		0U

/*
 * @tid stands, traced by this process. False: a filter does more than to allow the call, or cannot
 * be read, which takes CAP_SYS_ADMIN and a kernel with CONFIG_CHECKPOINT_RESTORE.
 */
bool filters_allow(pid_t tid, const struct filter_call *call);

/* The value that @step returns for @call, or FILTER_UNKNOWN. */
uint32_t filter_value(const struct filter_step *step, size_t num, const struct filter_call *call);

#endif /* JF_FILTER_H */
