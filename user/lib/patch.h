/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* What patch.c does for the SIGTRAP handler. */
#ifndef JF_PATCH_H
#define JF_PATCH_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

struct jf_site;

/* Does to a thread what @site's instruction would have done. */
bool jf_site_emulate(const struct jf_site *site, greg_t *regs);
/* A SIGTRAP that is not ours: do as @previous did. */
void jf_pass_on_to(const struct sigaction *previous, int sig, siginfo_t *info,
		   void *context);

#endif /* JF_PATCH_H */
