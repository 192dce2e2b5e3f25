/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The part of a probe that threads read. */
#ifndef JF_AGENT_SPOT_H
#define JF_AGENT_SPOT_H

#include "agent.h"
#include "value.h"

#include "user/trace/pattern.h"

struct jf_call;
struct jf_chosen;
struct jf_exit;
struct jf_shown;

/* Of a function: ip, caller and six registers. */
#define JF_FUNCTION_FIELDS	8
/* Registers among these fields; and arguments in vector registers. */
#define JF_REGISTERS	6
#define JF_VECTORS_MAX	8

/**
 * struct jf_spot - the part of a probe that record.c needs
 * @next:    another one of the same place
 * @on:      are records made
 * @size:    of a record's fields
 * @what:    the event's number, and from bit 16 on a bit for each argument that is a string: one
 *           word, since it may change while threads record
 * @nr:      operands
 * @function: it is a function's entry
 * @registers: of its arguments, that are recorded
 * @returns_real: of an entry: the function returns a number in xmm0
 * @watch:   enum jf_watch: its calls are looked at, whether it is on or not
 * @hook:    is called instead, or NULL
 * @at:      where the probe is
 * @chosen:  which records are made; NULL: all
 * @shown:   members that are recorded, or NULL
 * @call:    it is an entry or an exit of this function, whose calls are recorded; or NULL
 * @exit:    which exit; NULL: it is the entry
 * @operand: the operands of a note
 */
struct jf_spot {
	struct jf_spot		*next;
	uint32_t		on;
	uint32_t		size;
	uint32_t		what;
	uint8_t			nr;
	bool			function;
	uint8_t			registers;
	bool			returns_real;
	uint8_t			watch;
	void			(*hook)(void);
	uintptr_t		at;
	struct jf_chosen	*chosen;
	struct jf_shown		*shown;
	const struct jf_call	*call;
	const struct jf_exit	*exit;
	struct jf_operand	operand[JF_ARGS_MAX];
};

#endif /* JF_AGENT_SPOT_H */
