// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Providers of further probes: see provider.h.
 *
 * Their list only grows. The lock is that of all that is done with them, and taken before
 * jf_events_lock (record.c), since a provider's functions ask for numbers of events.
 */
#include "trace.h"
#include "glob.h"
#include "provider.h"

#include <pthread.h>

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
	*last_provider = provider;
	last_provider = &provider->next;
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

	jf_providers_lock();
	for (p = providers; p; p = p->next)
		if (p->fork_begins)
			p->fork_begins();
}

/**
 * jf_providers_fork_ends() - after it
 * @child: in the child
 */
void jf_providers_fork_ends(bool child)
{
	struct jf_provider *p;

	for (p = providers; p; p = p->next)
		if (p->fork_begins)
			p->fork_ends(child);
	jf_providers_unlock();
}

bool __jf_glob_matches(const char *glob, const char *group, const char *name)
{
	return jf_glob_matches_probe(glob, group, name);
}
