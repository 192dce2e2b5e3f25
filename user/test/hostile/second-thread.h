/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * For processes of two threads: the work of the second one, and which writer of text the library
 * has then.
 */
#ifndef HOSTILE_SECOND_THREAD_H
#define HOSTILE_SECOND_THREAD_H

#include <jumpfunc/stats.h>
#include <pthread.h>

#include "hostile.h"

static void *waits(void *arg)
{
	pause();
	return arg;
}

static const char *writer(void)
{
	static struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	return s.writer;
}

#endif
