/* SPDX-License-Identifier: GPL-2.0 */
/* Which text belongs to a function (kernel/quiesce/function.c). */
#ifndef JF_FUNCTION_H
#define JF_FUNCTION_H

struct jf_spans;
struct module;

/* The owner of text at an address outside the modules that jumpfunc saw coming. */
enum jf_text_kind {
	JF_TEXT_NONE,		/* generated code, freed memory: it may end any time */
	JF_TEXT_KERNEL,		/* it lasts */
	JF_TEXT_MODULE,		/* a module that was loaded before */
};

enum jf_text_kind jf_text_of(void *func);

/*
 * Add the text of the function that holds @func, with the parts that the compiler
 * split off, or the pages of an image. 0 or -ENOMEM. Can sleep.
 */
int jf_spans_add_func(struct jf_spans *s, void *func);
/* Forget the data about text where a module is loaded or unloaded; NULL: of all. */
void jf_function_forget(struct module *mod);

#endif /* JF_FUNCTION_H */
