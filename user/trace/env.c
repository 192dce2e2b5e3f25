// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The environment, as it was when the library was loaded.
 *
 * It is asked for at any time, by the control thread, or by a thread that comes to the first probe. The program may be
 * writing its title over it then, or have freed it, so each value is copied before main().
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

static const char *values[JF_ENV_NUM];
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
	};
	unsigned int i;

	for (i = 0; i < JF_ENV_NUM; i++) {
		const char *text = secure_getenv(names[i]);

		values[i] = text && *text ? strdup(text) : NULL;
	}
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
 * jf_env() - what the environment said at the begin
 * @which: of the variables
 *
 * Return: its value, which stays; NULL: there was none, or it was empty, or the program has more rights than its user
 */
const char *jf_env(enum jf_env which)
{
	/* Another's constructor is before ours where both are in the program. */
	if (!known)
		read_all();
	return values[which];
}
