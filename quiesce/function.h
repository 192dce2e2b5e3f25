/* SPDX-License-Identifier: GPL-2.0 */
/* Which text belongs to a function (quiesce/function.c). */
#ifndef JF_FUNCTION_H
#define JF_FUNCTION_H

#include "arch/reach.h"

struct jf_spans;
struct module;

/* Whose text is at an address of no module that jumpfunc saw coming? */
enum jf_text_kind {
	JF_TEXT_NONE,		/* generated code, freed memory: it may end any time */
	JF_TEXT_KERNEL,		/* it lasts */
	JF_TEXT_MODULE,		/* a module that was loaded before */
};

enum jf_text_kind jf_text_of(void *func);

/* The tag of a part of a function that only jumps lead to. */
#define JF_TAG_COLD	1UL

/*
 * Add the text of the function that holds @func, with the parts that the compiler
 * split off, or that of an image. The tag of each is where calls enter it, or
 * JF_TAG_COLD; 0: it is no function. 0 or -ENOMEM. May sleep.
 */
int jf_spans_add_func(struct jf_spans *s, void *func);
/* The same for the function that a call of @addr enters; -ENOENT: there is none. */
int jf_spans_add_entry(struct jf_spans *s, unsigned long addr);
/* Does a function begin at @addr, or what a call of it leads to in front? */
bool jf_func_begins(unsigned long addr);
/* What a call of @func, or a jump there, leads to. May sleep. */
enum jf_callee jf_callee_kind(unsigned long func);
/* Forget what is known of text where a module is loaded or unloaded; NULL: of all. */
void jf_function_forget(struct module *mod);

#endif /* JF_FUNCTION_H */
