// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Calls of libjumpfunc-trace in a program's threads: a provider leaves them out. */
#include "trace.h"

static void (*leaves_out)(bool begins);

/**
 * jf_own_told() - tell a provider
 * @fn: struct jf_provider, @own
 *
 * The first one is the agent's, and stays.
 */
void jf_own_told(void (*fn)(bool begins))
{
	void (*none)(bool begins) = NULL;

	/* Release: pairs with jf_own(). */
	__atomic_compare_exchange_n(&leaves_out, &none, fn, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/**
 * jf_own() - this thread's calls are libjumpfunc-trace's own, and not the program's
 * @begins: from now on; false: no longer
 *
 * Return: is there a provider that leaves them out
 */
bool jf_own(bool begins)
{
	/* Acquire: pairs with jf_own_told(). */
	void (*fn)(bool begins) = __atomic_load_n(&leaves_out, __ATOMIC_ACQUIRE);

	if (fn)
		fn(begins);
	return fn;
}
