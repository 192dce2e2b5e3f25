/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The list of loaded objects, and the functions of each (object.c). */
#ifndef JF_AGENT_OBJECT_H
#define JF_AGENT_OBJECT_H

#include "agent.h"

struct jf_module;
struct jf_symbol;

/* Called for each module, while none can be unloaded. */
typedef int jf_module_fn(struct jf_module *module, void *arg);

JF_HIDDEN int jf_modules(jf_module_fn *fn, void *arg);
JF_HIDDEN bool jf_modules_changed(void);
JF_HIDDEN unsigned int jf_modules_elsewhere(char *name, size_t size);
JF_HIDDEN bool jf_modules_lack(char *name, size_t size);
/* Calls @fn for each function that is a probe or could be one: without a probe, its name alone. */
typedef int jf_function_fn(struct jf_module *module, const struct jf_symbol *symbol, uintptr_t at,
			   size_t avail, void *arg);
JF_HIDDEN int jf_module_functions(struct jf_module *module, jf_function_fn *fn, void *arg);

#endif /* JF_AGENT_OBJECT_H */
