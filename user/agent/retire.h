/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Objects that others replace, until no thread uses them (retire.c). */
#ifndef JF_AGENT_RETIRE_H
#define JF_AGENT_RETIRE_H

#include "agent.h"

/**
 * struct jf_retired - the first member of an object that another one replaces
 * @next:   of all
 * @forget: frees the object; NULL: free() does
 */
struct jf_retired {
	struct jf_retired	*next;
	void			(*forget)(struct jf_retired *r);
};

JF_HIDDEN void jf_retire(struct jf_retired *r, void (*forget)(struct jf_retired *r));
JF_HIDDEN void jf_retired_free(void);

#endif /* JF_AGENT_RETIRE_H */
