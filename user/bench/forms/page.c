// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The page form: the code that makes the page unreadable, and the handler that answers.
 *
 * There is one page, so while any probe is on, each probe that is executed traps: the handler finds
 * which it is by where it is, and whether that one is on.
 */
#include "forms.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

char page_read[4096] __attribute__((aligned(4096)));
__thread volatile long page_args[3];
extern struct page_probe __start_page_probes[], __stop_page_probes[];

static int by_ip(const void *a, const void *b)
{
	const struct page_probe *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static void hit(const struct page_probe *p, volatile long *args)
{
	/* Pairs with page_enable(), which says so before it takes the page away. */
	if (__atomic_load_n(&p->enabled, __ATOMIC_RELAXED))
		forms_seen += args[0] + args[1] + args[2];
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	struct page_probe key = { (const void *)u->uc_mcontext.gregs[REG_RIP], NULL, false }, *p = NULL;

	if (info->si_addr == page_read)
		p = bsearch(&key, __start_page_probes, (size_t)(__stop_page_probes - __start_page_probes), sizeof(key),
			    by_ip);
	if (!p) {
		/* Not ours: again, without a handler. */
		signal(sig, SIG_DFL);
		return;
	}
	hit(p, page_args);
	u->uc_mcontext.gregs[REG_RIP] += PAGE_READ_SIZE;
}

void page_begin(void)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	qsort(__start_page_probes, (size_t)(__stop_page_probes - __start_page_probes), sizeof(*__start_page_probes),
	      by_ip);
	if (sigaction(SIGSEGV, &sa, NULL)) {
		perror("sigaction");
		exit(1);
	}
}

int page_enable(const char *names)
{
	size_t length = strlen(names);
	struct page_probe *p;
	int num = 0;

	if (length && names[length - 1] == '*')
		length--;
	else
		length++;
	for (p = __start_page_probes; p < __stop_page_probes; p++)
		if (!strncmp(p->name, names, length)) {
			__atomic_store_n(&p->enabled, true, __ATOMIC_RELAXED);
			num++;
		}
	/* The kernel makes all CPUs forget the page before it returns. */
	return mprotect(page_read, sizeof(page_read), PROT_NONE) ? -errno : num;
}

int page_disable(void)
{
	struct page_probe *p;

	if (mprotect(page_read, sizeof(page_read), PROT_READ | PROT_WRITE))
		return -errno;
	for (p = __start_page_probes; p < __stop_page_probes; p++)
		__atomic_store_n(&p->enabled, false, __ATOMIC_RELAXED);
	return 0;
}
