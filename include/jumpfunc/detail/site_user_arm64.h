/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The code of sites and trampolines in programs on aarch64. Included by site_user.h only.
 *
 * A trampoline, 16-byte aligned:
 *
 *	dynfunc_name:
 *		bti	c		with -mbranch-protection
 *		nop			THE SITE: nop, or b <target>
 *		adrp	x16, func
 *		add	x16, x16, #:lo12:func
 *		ldar	x16, [x16]
 *		br	x16		which may lead to "bti c", as a call may
 *
 * The load acquires, since a pointer may change without a broadcast: the target sees what
 * was written before. A branch is
 *
 *	site:	nop			THE SITE: nop, or b other
 *
 * Each is one instruction, and the architecture allows to replace these two by each other
 * while others execute them. There is no prefix that would keep uprobes away, as on x86:
 * the kernel takes a uprobe at a site, and gives the file's instruction back after it.
 */
#ifndef JUMPFUNC_SITE_USER_ARM64_H
#define JUMPFUNC_SITE_USER_ARM64_H

#ifndef JUMPFUNC_SITE_USER_H
#error "include <jumpfunc/dynfunc.h> or <jumpfunc/branch.h>"
#endif

/* A landing pad of indirect branches. */
#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define __JF_LANDING	"hint #34\n\t"				/* bti c */
#else
#define __JF_LANDING
#endif

/* 771, the site, and 772, after it. */
#define __JF_TRAMPOLINE_CODE(func)					\
	"771:\n\t"							\
	"nop\n"								\
	"772:\n\t"							\
	"adrp x16, " func "\n\t"					\
	"add x16, x16, #:lo12:" func "\n\t"				\
	"ldar x16, [x16]\n\t"						\
	"br x16\n\t"

#define __JF_FIRST_CODE(from)						\
	"adrp x16, " from "\n\t"					\
	"ldr x16, [x16, #:lo12:" from "]\n\t"				\
	"ldr x16, [x16]\n\t"						\
	"sub x16, x16, #" __JF_STR(JF_FUNC_ENT) "\n\t"			\
	"ldar x16, [x16]\n\t"						\
	"br x16\n\t"

#define __JF_SITE_PREFIX	""
#define __JF_SITE_PREFIX_FLAG	0
#define __JF_SITE_NOP		"nop\n\t"
#define __JF_SITE_JUMP(label)	"b " label "\n\t"
/* For the address of a variable in position-independent code: of gcc, and of clang. */
#define __JF_SITE_SYMBOL	"Si"
#define __JF_SITE_NONE		"R_AARCH64_NONE"
/* Pairs with ent_store(): stores before a change are seen on the branch. */
#define __JF_SITE_LOAD(x)	__JF_LOAD_SITE(x)

#endif /* JUMPFUNC_SITE_USER_ARM64_H */
