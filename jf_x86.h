/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between jf_x86.c and the back ends that write x86 text.
 */
#ifndef JF_X86_H
#define JF_X86_H

#include "jf_insn_x86.h"
#include "jf_internal.h"

/**
 * struct jf_backend - a way to write text
 * @name:  as the module parameter names it
 * @patch: carry out a transaction, see jf_arch_patch(); NULL: text is never
 *         written, and everything runs in its unpatched form
 * @fall_through:  what stands for "fall through" at a site, if not the usual nop
 */
struct jf_backend {
	const char	*name;
	int		(*patch)(struct jf_poke *pokes, unsigned int num, bool live);
	jf_insn_t	(*fall_through)(const struct jf_site *site);
};

#endif /* JF_X86_H */
