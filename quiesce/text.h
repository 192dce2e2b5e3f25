/* SPDX-License-Identifier: GPL-2.0 */
/* Text of modules as it was when they were loaded (quiesce/text.c). */
#ifndef JF_TEXT_H
#define JF_TEXT_H

struct jf_kept;
struct jf_mod;

/*
 * Keep the text of the functions of a new module that have branch sites. NULL: it has
 * none, or there is no memory: then what stands there later has to do. With jf_mutex
 * held, once its sites are in the index. May sleep.
 */
struct jf_kept *jf_text_keep(const struct jf_mod *m);
void jf_text_drop(struct jf_kept *kept);
/* What is kept of the module that holds @addr; NULL: nothing. With jf_mutex held. */
const struct jf_kept *jf_text_kept(unsigned long addr);

#endif /* JF_TEXT_H */
