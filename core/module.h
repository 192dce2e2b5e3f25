/* SPDX-License-Identifier: GPL-2.0 */
/* Modules that come and go (core/module.c), for core/main.c. */
#ifndef JF_MODULE_H
#define JF_MODULE_H

/* -errno: our own tables are wrong, or there is no memory. */
int jf_module_init(void);
void jf_module_exit(void);

#endif /* JF_MODULE_H */
