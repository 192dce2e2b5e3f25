// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A callback meets a page that the program's handler of SIGSEGV makes writable. */
#include <jumpfunc/batch.h>
#include <signal.h>
#include <sys/mman.h>

#include "hostile.h"

static char *page;
static int faults;

static void on_fault(int sig)
{
	(void)sig;
	faults++;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void writes(struct jf_quiesce_head *head)
{
	(void)head;
	*(volatile char *)page = 1;
}

int main(void)
{
	static struct jf_quiesce_head head;
	struct sigaction sa = { .sa_handler = on_fault };

	alarm(10);
	sigaction(SIGSEGV, &sa, NULL);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	jf_call_quiesced(&head, writes);
	jf_quiesce_barrier();
	MUST(faults == 1, "%d faults", faults);
	return 0;
}
