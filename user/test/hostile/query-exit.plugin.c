// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A library with so many keys that the library's data about them are unmapped when freed. */
#include <unistd.h>

/* After the one of the headers: a thread that was preempted goes on at that time. */
__attribute__((__destructor__(101)))
static void last(void)
{
	usleep(150000);
}

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

void library_hook(void);
int library_query(void);
void library_hook(void) { }

DEFINE_JF_KEY_ARRAY_FALSE(many, 20000);
DEFINE_DYNFUNC_NULL(hook, library_hook);

int library_query(void)
{
	return dynfunc_query(hook) != 0;
}
