/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Which records of a probe are made, as a pattern says after its glob:
 *
 *   prog:work if level > 3 && size >= 4096 every 10 max 100
 *
 *   if EXPRESSION	only those for which it holds; several of these: for which all hold
 *   every N		of those the first, and then each Nth
 *   max N		of those no more than N
 *
 *   expression	and { "||" and }
 *   and	test { "&&" test }
 *   test	bits [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) bits ]
 *   bits	value { "&" value }
 *   value	"!" value | "(" type ")" value | "(" expression ")" | name | [ "-" ] number
 *   type	u8 s8 u16 s16 u32 s32 u64 s64 int
 *   number	12, 0x1f, 017, 0b101, or with a unit of time, in nanoseconds: 10us, 1ms
 *
 * Numbers are compared as in mathematics: -1 is less than any unsigned one. All but 0 hold.
 *
 * API:
 *   jf_choice_begin(text)	the blank before the first such word of a pattern, or its end
 *   jf_choice_parse(choice, text, names)	make a program of it; a pure function
 *   jf_choice_holds(choice, value, arg)	do its expressions hold
 *   jf_choice_passes(choice, value, arg)	the same, and is it the turn of this one
 *
 * The program is a list of steps of a stack machine. It has no jumps, so it ends, and the
 * parser refuses one that needs more of the stack than there is: jf_choice_holds() checks nothing,
 * allocates nothing and calls no function but @value. It uses general registers alone.
 *
 * No name of C++ has the word "if" in it, nor the others before a number.
 */
#ifndef JF_CHOICE_H
#define JF_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Characters, with the 0 at their end. */
#define JF_CHOICE_MAX		256
#define JF_CHOICE_STEPS		48
#define JF_CHOICE_STACK		8
#define JF_CHOICE_WHY		256

enum jf_step_op {
	JF_STEP_NUMBER,		/* pushes */
	JF_STEP_VALUE,		/* pushes */
	JF_STEP_CAST,		/* of the last one */
	JF_STEP_NOT,
	JF_STEP_BITS,		/* of the last two, as those below */
	JF_STEP_AND,
	JF_STEP_OR,
	JF_STEP_EQ,
	JF_STEP_NE,
	JF_STEP_LT,
	JF_STEP_LE,
	JF_STEP_GT,
	JF_STEP_GE,
};

/**
 * struct jf_step - of the program
 * @op:     enum jf_step_op
 * @size:   of a value, or of a cast: 1, 2, 4 or 8 bytes
 * @sign:   it is signed; a number is negative
 * @from:   where the value is, for the function that gets it
 * @number: a number
 */
struct jf_step {
	uint8_t		op;
	uint8_t		size;
	bool		sign;
	uint8_t		from;
	uint64_t	number;
};

/**
 * struct jf_choice - which records are made
 * @every: one of so many; 0: all
 * @max:   of these; 0: any number
 * @seen:  for which the expressions held
 * @made:  of these, that were to be made
 * @num:   steps; 0: no expression
 * @step:  of the program
 * @why:   the text is wrong, or empty
 */
struct jf_choice {
	uint64_t	every;
	uint64_t	max;
	uint64_t	seen;
	uint64_t	made;
	unsigned int	num;
	struct jf_step	step[JF_CHOICE_STEPS];
	char		why[JF_CHOICE_WHY];
};

/**
 * struct jf_choice_names - the names that a probe has
 * @find: fills in a step for a name: 0; -ENOENT: it has none; -EINVAL: it is no integer
 * @list: writes the names that it has
 * @arg:  last argument of both
 */
struct jf_choice_names {
	int		(*find)(struct jf_step *step, const char *name, size_t len, const void *arg);
	void		(*list)(char *to, size_t size, const void *arg);
	const void	*arg;
};

/**
 * jf_choice_parse() - make a program
 * @choice: is filled in; nothing was seen yet
 * @text:   as above; the empty one chooses all
 * @names:  of the probe; NULL: all names are taken for some
 *
 * Context: any.
 * Return: 0, or -EINVAL: @choice->why has the reason. Columns begin with 1 at the first character
 * of each expression.
 */
int jf_choice_parse(struct jf_choice *choice, const char *text, const struct jf_choice_names *names);

static inline bool jf_choice_is_number(const char *text)
{
	return *text >= '0' && *text <= '9';
}

/**
 * jf_choice_begin() - where the glob of a pattern ends
 * @text: the pattern
 *
 * Context: any.
 * Return: the blank before "if", "every" or "max", or the end of @text
 */
static inline const char *jf_choice_begin(const char *text)
{
	for (; *text; text++)
		if (!strncmp(text, " if ", 4) || !strncmp(text, " if(", 4) ||
		    (!strncmp(text, " every ", 7) && jf_choice_is_number(text + 7)) ||
		    (!strncmp(text, " max ", 5) && jf_choice_is_number(text + 5)))
			break;
	return text;
}

/* --- a record ---------------------------------------------------------------------------- */

/**
 * struct jf_choice_value - on the stack
 * @bits:     64 of them, as two's complement
 * @negative: else they are those of an unsigned number
 */
struct jf_choice_value {
	uint64_t	bits;
	bool		negative;
};

static inline struct jf_choice_value jf_choice_cast(uint64_t bits, unsigned int size, bool sign)
{
	unsigned int shift = 64 - 8 * size;
	bool negative = sign && bits >> (8 * size - 1) & 1;

	bits = bits << shift >> shift;
	return (struct jf_choice_value){ negative && shift ? bits | ~UINT64_C(0) << (64 - shift) : bits, negative };
}

static inline bool jf_choice_compare(unsigned int op, const struct jf_choice_value *a, const struct jf_choice_value *b)
{
	bool less = a->negative == b->negative ? a->bits < b->bits : a->negative;
	bool equal = a->negative == b->negative && a->bits == b->bits;

	switch (op) {
	case JF_STEP_AND:
		return a->bits && b->bits;
	case JF_STEP_OR:
		return a->bits || b->bits;
	case JF_STEP_EQ:
		return equal;
	case JF_STEP_NE:
		return !equal;
	case JF_STEP_LT:
		return less;
	case JF_STEP_LE:
		return less || equal;
	case JF_STEP_GT:
		return !less && !equal;
	}
	return !less;
}

/* A value as the probe has it; all of its 64 bits may be set. */
typedef uint64_t jf_choice_value_fn(unsigned int from, const void *arg);

/**
 * jf_choice_holds() - do all expressions hold
 * @c:     the choice
 * @value: gets a value
 * @arg:   its last argument
 */
static inline __attribute__((__always_inline__))
bool jf_choice_holds(const struct jf_choice *c, jf_choice_value_fn *value, const void *arg)
{
	struct jf_choice_value stack[1 + JF_CHOICE_STACK], *top = stack;
	const struct jf_step *s, *end = c->step + c->num;

	/* Without an expression that is all. To clear the rest would call memset(). */
	*top = (struct jf_choice_value){ 1, false };
	for (s = c->step; s < end; s++) {
		switch (s->op) {
		case JF_STEP_NUMBER:
			*++top = (struct jf_choice_value){ s->number, s->sign };
			break;
		case JF_STEP_VALUE:
			*++top = jf_choice_cast(value(s->from, arg), s->size, s->sign);
			break;
		case JF_STEP_CAST:
			*top = jf_choice_cast(top->bits, s->size, s->sign);
			break;
		case JF_STEP_NOT:
			*top = (struct jf_choice_value){ !top->bits, false };
			break;
		case JF_STEP_BITS:
			top--;
			top->bits &= top[1].bits;
			top->negative &= top[1].negative;
			break;
		default:
			top--;
			*top = (struct jf_choice_value){ jf_choice_compare(s->op, top, top + 1), false };
		}
	}
	return top->bits;
}

/**
 * jf_choice_passes() - is the record made
 * @c:     the choice, which counts; threads and signal handlers may come at once
 * @value: as above
 * @arg:   as above
 */
static inline __attribute__((__always_inline__))
bool jf_choice_passes(struct jf_choice *c, jf_choice_value_fn *value, const void *arg)
{
	/* There is no more to come: nothing is counted. */
	if (c->max && __atomic_load_n(&c->made, __ATOMIC_RELAXED) >= c->max)
		return false;
	if (!jf_choice_holds(c, value, arg))
		return false;
	if (c->every > 1 && __atomic_fetch_add(&c->seen, 1, __ATOMIC_RELAXED) % c->every)
		return false;
	return !c->max || __atomic_fetch_add(&c->made, 1, __ATOMIC_RELAXED) < c->max;
}

#endif /* JF_CHOICE_H */
