/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The arguments of a note (operand.c). */
#ifndef JF_AGENT_OPERAND_H
#define JF_AGENT_OPERAND_H

#include "agent.h"

struct jf_operand;

JF_HIDDEN int jf_operands(const char *args, struct jf_operand *operand, int max);

#endif /* JF_AGENT_OPERAND_H */
