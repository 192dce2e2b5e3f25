/* SPDX-License-Identifier: GPL-2.0 */
/* Loading and unloading of other modules (module/module.c), for init/main.c. */
#ifndef JF_MODULE_H
#define JF_MODULE_H

/* Fails if our own tables are wrong, or if there is no memory. */
int jf_module_init(void);
void jf_module_exit(void);

#endif /* JF_MODULE_H */
