/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The code that many.py puts into a program: a probe, and beside it a counter, independent of
 * jumpfunc, of the threads that came there and of those that a subscriber saw.
 */
#ifndef JF_PROBED_H
#define JF_PROBED_H

struct jf_pass {
	/* The state of the probes when the thread came. */
	unsigned int stage;
	/* 1 + the number of the probe that a subscriber was told, or 0. */
	unsigned int told;
};

void jf_pass_begins(unsigned int probe, struct jf_pass *pass);
void jf_pass_ends(unsigned int probe, struct jf_pass *pass);

#define JF_PROBED_DECLARE(name)	void name(unsigned int probe, struct jf_pass *pass)
#define JF_PROBED(probe, name)						\
	do {								\
		struct jf_pass jf_pass_;				\
									\
		jf_pass_begins(probe, &jf_pass_);			\
		name(probe, &jf_pass_);					\
		jf_pass_ends(probe, &jf_pass_);				\
	} while (0)

#endif
