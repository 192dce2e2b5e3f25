// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Providers of further probes: see provider.h.
 *
 * Their list only grows. The lock is that of all that is done with them, and taken before
 * jf_events_lock (events.c), since a provider's functions ask for numbers of events. A thread that
 * forks does not wait for it, but for the providers' own, which they give up for it.
 */
#include "trace.h"
#include "glob.h"
#include "provider.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t providers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct jf_provider *providers, **last_provider = &providers;

void jf_providers_lock(void)
{
	pthread_mutex_lock(&providers_lock);
}

void jf_providers_unlock(void)
{
	pthread_mutex_unlock(&providers_lock);
}

/* With the lock. */
struct jf_provider *jf_providers(void)
{
	return providers;
}

int __jf_provider_register(struct jf_provider *provider)
{
	if (provider->version != JF_PROVIDER_VERSION || !provider->kind || !provider->list ||
	    !provider->enable || !provider->disable)
		return -EINVAL;
	jf_providers_lock();
	provider->next = NULL;
	/* Release: pairs with the loads where a thread forks, which does not take the lock. */
	__atomic_store_n(last_provider, provider, __ATOMIC_RELEASE);
	last_provider = &provider->next;
	if (provider->own)
		jf_own_told(provider->own);
	jf_providers_unlock();
	return 0;
}

/**
 * jf_providers_stop() - switch all their probes off, since recording ends
 *
 * With the lock. After it no thread records for one of them.
 *
 * Return: 0, or the error of a provider; then some may be on
 */
int jf_providers_stop(void)
{
	struct jf_provider *p;
	int n;

	for (p = providers; p; p = p->next) {
		n = p->disable(NULL, p->data);
		if (n < 0)
			return n;
	}
	return 0;
}

/**
 * jf_providers_fork_begins() - before fork()
 */
void jf_providers_fork_begins(void)
{
	struct jf_provider *p;

	/* Acquire: pairs with __jf_provider_register(). */
	for (p = __atomic_load_n(&providers, __ATOMIC_ACQUIRE); p; p = __atomic_load_n(&p->next, __ATOMIC_ACQUIRE))
		if (p->fork_begins)
			p->fork_begins();
}

/**
 * jf_providers_fork_ends() - after it
 * @child: in the child
 */
void jf_providers_fork_ends(bool child)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
	struct jf_provider *p;

	/* Acquire: pairs with __jf_provider_register(). */
	for (p = __atomic_load_n(&providers, __ATOMIC_ACQUIRE); p; p = __atomic_load_n(&p->next, __ATOMIC_ACQUIRE))
		if (p->fork_begins)
			p->fork_ends(child);
	/*
	 * A thread that is not there may have it: the data that it was changing are whole, for each
	 * provider's own lock is free.
	 */
	if (child)
		memcpy(&providers_lock, &unlocked, sizeof(unlocked));
}

bool __jf_glob_matches(const char *glob, const char *group, const char *name)
{
	return jf_glob_matches_probe(glob, group, name);
}

void __jf_record_refused(const char *group, const char *name, const char *why)
{
	jf_rings_refused(group, name, why);
}
