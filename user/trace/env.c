// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The environment, as it was when the library was loaded.
 *
 * It is asked for at any time, by the control thread, or by a thread that comes to the first probe.
 * The program may be writing its title over it then, or have freed it, so each value is copied
 * before main().
 */
#include "trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *values[JF_ENV_NUM];
static char program[64];
static bool known;

static void read_all(void)
{
	static const char *const names[JF_ENV_NUM] = {
		[JF_ENV_FOLDER]		= "XDG_RUNTIME_DIR",
		[JF_ENV_DIR]		= "JUMPFUNC_TRACE_DIR",
		[JF_ENV_MODE]		= "JUMPFUNC_TRACE_MODE",
		[JF_ENV_CLOCK]		= "JUMPFUNC_TRACE_CLOCK",
		[JF_ENV_PACKETS]	= "JUMPFUNC_TRACE_PACKETS",
		[JF_ENV_PACKET_SIZE]	= "JUMPFUNC_TRACE_PACKET_SIZE",
		[JF_ENV_RINGS]		= "JUMPFUNC_TRACE_RINGS",
		[JF_ENV_MAX_MIB]	= "JUMPFUNC_TRACE_MAX_MIB",
		[JF_ENV_SINCE]		= "JUMPFUNC_TRACE_SINCE",
	};
	unsigned int i;

	for (i = 0; i < JF_ENV_NUM; i++) {
		const char *text = secure_getenv(names[i]);

		values[i] = text && *text ? strdup(text) : NULL;
	}
	snprintf(program, sizeof(program), "%s", program_invocation_short_name);
	known = true;
}

/* Before all others of the library. */
__attribute__((__constructor__(101)))
static void begins(void)
{
	if (!known)
		read_all();
}

/**
 * jf_env() - a variable of the environment at the begin
 * @which: of the variables
 *
 * Return: its value, which stays; NULL: there was none, or it was empty, or the program has more
 * rights than its user
 */
const char *jf_env(enum jf_env which)
{
	/* Another's constructor is before ours where both are in the program. */
	if (!known)
		read_all();
	return values[which];
}

/**
 * jf_process_name() - the name of the process
 * @name: is filled in
 * @size: of it, more than 16
 *
 * As the kernel has it: programs write their titles over their arguments. It has 15 characters;
 * where the name that the program began with goes on, that counts. So it does where the kernel has
 * none: the program was executed by way of a descriptor, or of /proc/self/exe.
 *
 * Context: any, also signal handlers.
 */
void jf_process_name(char *name, size_t size)
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, name, size - 1);

	if (fd >= 0)
		close(fd);
	if (n > 1)
		name[n - 1] = 0;
	if (n <= 1 || (n == 16 && !strncmp(name, program, 15)) || !strcmp(name, "exe") || !name[strspn(name, "0123456789")])
		snprintf(name, size, "%s", program);
}
