/* SPDX-License-Identifier: GPL-2.0 */
/* Which text belongs to a function (core/function.c). */
#ifndef JF_FUNCTION_H
#define JF_FUNCTION_H

struct jf_spans;
struct module;

/* Add the text of a function or an image. 0 or -ENOMEM. May sleep. */
int jf_spans_add_func(struct jf_spans *s, void *func);
/* Forget what is known of a module's text, which is freed; NULL: of all. */
void jf_function_forget(struct module *mod);

#endif /* JF_FUNCTION_H */
