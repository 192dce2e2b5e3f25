/* SPDX-License-Identifier: GPL-2.0 */
/* Loading and unloading of other modules (kernel/consumers/module.c). */
#ifndef JF_MODULE_H
#define JF_MODULE_H

/* Fails if our own tables are wrong, or if there is no memory. */
int jf_module_init(void);
void jf_module_exit(void);

struct module;
/*
 * @fn is called for each module that is unloaded, when no task is in it or in code that leads
 * into it. That can be after all notifiers of modules. No lock is held. For one caller.
 */
void jf_module_on_left(void (*fn)(const struct module *mod));

#endif /* JF_MODULE_H */
