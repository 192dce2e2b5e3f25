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
 *		| ( name | path ) ( "==" | "!=" | "=~" ) text
 *   bits	value { "&" value }
 *   value	"!" value | "(" type ")" value | "(" expression ")" | name | path
 *		| [ "-" ] ( number | real )
 *   path	name { "->" name | "." name | "[" number "]" }, without blanks
 *   type	u8 s8 u16 s16 u32 s32 u64 s64 int
 *   number	12, 0x1f, 017, 0b101, or with a unit of time, in nanoseconds: 10us, 1ms
 *   real	1.5, 2e9, 1.5e-3
 *   text	"/etc/passwd"; \" and \\ are a quotation mark and a backslash. After "=~" a star
 *		is any number of any characters, and a question mark is one
 *
 * Numbers are compared as in mathematics: -1 is less than any unsigned one. All but 0 hold. What
 * is no number (NaN) is not equal to any, and neither less nor greater. A text that cannot be read
 * is neither equal nor unequal to any. Memory that cannot be read is no value: no comparison with
 * it holds, nor does it hold, nor its "!".
 *
 * API:
 *   jf_choice_path(text)		the length of a path, or of a name
 *   jf_choice_begin(text)	the blank before the first such word of a pattern, or its end
 *   jf_choice_comma(list)		where the first pattern of a list ends
 *   jf_choice_parse(choice, text, names)	make a program of it; a pure function
 *   jf_choice_holds(choice, value, arg)	do its expressions hold
 *   jf_choice_passes(choice, value, arg)	the same, and is it the turn of this one
 *
 * The program is a list of steps of a stack machine. It has no jumps, so it ends, and the
 * parser refuses one that needs more of the stack than there is: jf_choice_holds() checks nothing,
 * allocates nothing and calls no function but @value and @text. It uses general registers alone:
 * reals are compared by their bits.
 *
 * No name of C++ has the word "if" in it, nor the others before a number.
 */
#ifndef JF_CHOICE_H
#define JF_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/glob.h"

struct jf_event_field;

/* Characters, with the 0 at their end. */
#define JF_CHOICE_MAX		256
#define JF_CHOICE_STEPS		48
#define JF_CHOICE_STACK		8
#define JF_CHOICE_WHY		256
/* So many bytes of a text are looked at, with the 0 at its end. */
#define JF_CHOICE_TEXT		256

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
	JF_STEP_REAL,		/* pushes, and so the next one; a number is the bits of a double */
	JF_STEP_REAL_VALUE,
	JF_STEP_HOLDS,		/* of the last one, a real */
	JF_STEP_REALS,		/* compares the last two, of which one is a real */
	JF_STEP_TEXT,		/* pushes; the text follows, in as many steps as it needs */
	JF_STEP_READ,		/* pushes a value of memory, or nothing that is a value */
	JF_STEP_READ_REAL,
};

/**
 * struct jf_step - of the program
 * @op:     enum jf_step_op
 * @size:   of a value, or of a cast: 1, 2, 4 or 8 bytes; of reals 1: the first is one, 2: the
 *          other, 3: both
 * @sign:   it is signed; a number is negative; a text is a glob
 * @from:   where the value is, for the function that gets it; of reals the comparison
 * @number: a number; of a text its length, and << 32: it is to be another one
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
 * @more:  some are of reals or texts
 * @step:  of the program
 * @why:   the text is wrong, or empty
 */
struct jf_choice {
	uint64_t	every;
	uint64_t	max;
	uint64_t	seen;
	uint64_t	made;
	unsigned int	num;
	bool		more;
	struct jf_step	step[JF_CHOICE_STEPS];
	char		why[JF_CHOICE_WHY];
};

/**
 * struct jf_choice_names - the names that a probe has
 * @find: fills in a step for a name or a path, JF_STEP_VALUE if it sets no other: 0; -ENOENT: it
 *        has none; -EINVAL: it is no number
 * @text: the same of a text, JF_STEP_TEXT; -EINVAL: it is another value; NULL: there is no text
 * @list: writes the names that it has
 * @arg:  last argument of these
 * @why:  the reason why it has no such path, or NULL; can be NULL
 */
struct jf_choice_names {
	int		(*find)(struct jf_step *step, const char *name, size_t len, const void *arg);
	int		(*text)(struct jf_step *step, const char *name, size_t len, const void *arg);
	void		(*list)(char *to, size_t size, const void *arg);
	const void	*arg;
	const char	*(*why)(const char *name, size_t len, const void *arg);
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
 * jf_choice_path() - characters of a name or a path that a text begins with
 * @text: the text
 *
 * Context: any.
 * Return: how many; 0: it begins with no name
 */
size_t jf_choice_path(const char *text);

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

/**
 * jf_choice_comma() - where the first pattern of a list ends
 * @list: patterns, between which a comma is; commas in brackets, also < >, in quotation marks and
 *        in "operator," are theirs
 *
 * Context: any.
 * Return: the comma, or the end of @list
 */
const char *jf_choice_comma(const char *list);

/**
 * jf_choice_is() - is a word of an expression a name
 * @name: the name
 * @word: the word, of @len characters
 */
static inline bool jf_choice_is(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !strncmp(name, word, len);
}

/**
 * jf_choice_label() - make the step of a label: a name of an enumeration's number
 * @step:   is filled in
 * @fields: of the probe
 * @name:   of @len characters
 *
 * Return: 0, or -ENOENT, also if the label has several numbers
 */
int jf_choice_label(struct jf_step *step, const struct jf_event_field *fields, const char *name, size_t len);

/**
 * jf_choice_parse_callers() - parse a filter of unknown fields, for its tests of the caller
 * @choice: as of jf_choice_parse()
 * @text:   as there
 * @from:   the value that these tests get; tests of other texts get 0
 *
 * Context: any.
 * Return: as there
 */
int jf_choice_parse_callers(struct jf_choice *choice, const char *text, uint8_t from);

/**
 * jf_choice_text_of() - the next test of a text
 * @c:    the choice
 * @last: the test before it, or NULL
 * @from: the text's value
 *
 * Context: any.
 * Return: the step, or NULL
 */
struct jf_step *jf_choice_text_of(struct jf_choice *c, const struct jf_step *last, uint8_t from);

/* --- a record ---------------------------------------------------------------------------- */

/**
 * struct jf_choice_value - on the stack
 * @bits:     64 of them, as two's complement
 * @negative: else they are those of an unsigned number
 * @unknown:  it could not be read; @bits are 0 then
 */
struct jf_choice_value {
	uint64_t	bits;
	bool		negative;
	bool		unknown;
};

static inline struct jf_choice_value jf_choice_cast(uint64_t bits, unsigned int size, bool sign)
{
	unsigned int shift = 64 - 8 * size;
	bool negative = sign && bits >> (8 * size - 1) & 1;

	bits = bits << shift >> shift;
	return (struct jf_choice_value){ negative && shift ? bits | ~UINT64_C(0) << (64 - shift) : bits, negative, false };
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

/* The steps of a text that follow its first one. */
static inline unsigned int jf_choice_text_steps(const struct jf_step *s)
{
	return ((uint32_t)s->number + (unsigned int)sizeof(*s)) / (unsigned int)sizeof(*s);
}

/* What is left of a double, as an unsigned integer @whole and a rest. */
struct jf_choice_real {
	uint64_t	whole;
	bool		rest;
	bool		negative;
	bool		huge;
	bool		nan;
};

static inline struct jf_choice_real jf_choice_split(uint64_t bits)
{
	unsigned int power = bits >> 52 & 0x7ff;
	uint64_t part = bits & ((UINT64_C(1) << 52) - 1), one = UINT64_C(1) << 52;
	struct jf_choice_real r = { 0, false, bits >> 63, power >= 1023 + 64, power == 0x7ff && part };

	if (r.huge)
		return r;
	if (power < 1023) {
		r.rest = power || part;
	} else if (power <= 1023 + 52) {
		r.whole = (part | one) >> (1023 + 52 - power);
		r.rest = part << (power - 1023) & (one - 1);
	} else {
		r.whole = (part | one) << (power - 1023 - 52);
	}
	return r;
}

/* As a comparison's result: -1, 0, 1; 2: they cannot be compared. */
static inline int jf_choice_order_bits(uint64_t a, uint64_t b)
{
	const uint64_t infinite = UINT64_C(0x7ff) << 52;

	if (a << 1 > infinite << 1 || b << 1 > infinite << 1)
		return 2;
	/* Both zeros are one. From the least one on, each greater one has greater bits. */
	a = !(a << 1) ? UINT64_C(1) << 63 : a >> 63 ? ~a + 1 : a | UINT64_C(1) << 63;
	b = !(b << 1) ? UINT64_C(1) << 63 : b >> 63 ? ~b + 1 : b | UINT64_C(1) << 63;
	return a < b ? -1 : a > b;
}

/* Of a real and an integer, without loss. */
static inline int jf_choice_order_mixed(uint64_t real, const struct jf_choice_value *b)
{
	struct jf_choice_real r = jf_choice_split(real);
	uint64_t whole = b->negative ? -b->bits : b->bits;
	bool zero = !r.huge && !r.whole && !r.rest;
	int more = r.huge || r.whole > whole ? 1 : r.whole < whole ? -1 : r.rest;

	if (r.nan)
		return 2;
	if (!zero && r.negative != b->negative)
		return r.negative ? -1 : 1;
	return b->negative ? (zero ? 1 : -more) : zero ? (whole ? -1 : 0) : more;
}

static __attribute__((__noinline__, __unused__))
bool jf_choice_reals(const struct jf_step *s, const struct jf_choice_value *a, const struct jf_choice_value *b)
{
	int order = s->size == 3 ? jf_choice_order_bits(a->bits, b->bits) :
		    s->size == 1 ? jf_choice_order_mixed(a->bits, b) : jf_choice_order_mixed(b->bits, a);

	if (order == 2)
		return s->from == JF_STEP_NE;
	order = s->size == 2 ? -order : order;
	switch (s->from) {
	case JF_STEP_EQ:
		return !order;
	case JF_STEP_NE:
		return order;
	case JF_STEP_LT:
		return order < 0;
	case JF_STEP_LE:
		return order <= 0;
	case JF_STEP_GT:
		return order > 0;
	}
	return order >= 0;
}

/* Converts the bits of a float to the bits of a double. */
static inline uint64_t jf_choice_widen(uint64_t bits, unsigned int size)
{
	uint64_t sign = (bits >> 31 & 1) << 63, power = bits >> 23 & 0xff, part = bits & 0x7fffff;

	if (size == 8)
		return bits;
	if (power == 0xff)
		return sign | UINT64_C(0x7ff) << 52 | part << 29;
	if (power)
		return sign | (power + 1023 - 127) << 52 | part << 29;
	if (!part)
		return sign;
	for (power = 1023 - 126; !(part >> 23); part <<= 1)
		power--;
	return sign | power << 52 | (part & 0x7fffff) << 29;
}

/**
 * jf_choice_text() - the result of JF_STEP_TEXT
 * @s:    the step
 * @text: with a 0 at its end
 *
 * Context: any, also where no other function can be called.
 */
static __attribute__((__noinline__, __unused__))
bool jf_choice_text(const struct jf_step *s, const char *text)
{
	const char *own = (const char *)(s + 1);
	size_t len = (uint32_t)s->number, i;
	bool equal;

	if (s->sign) {
		equal = jf_glob_fits(text, own, own + len, jf_glob_one);
	} else {
		for (i = 0; i < len && text[i] == own[i]; i++)
			;
		equal = i == len && !text[i];
	}
	return equal != (s->number >> 32);
}

/* A value as the probe has it; all of its 64 bits may be set. */
typedef uint64_t jf_choice_value_fn(unsigned int from, const void *arg);
/*
 * Of JF_STEP_TEXT: jf_choice_text() of a text, or false if that cannot be read. Of JF_STEP_READ and
 * JF_STEP_READ_REAL: sets the value, as the probe has it, or false.
 */
typedef bool jf_choice_memory_fn(const struct jf_step *s, uint64_t *value, const void *arg);

/* A step of a program without reals and texts. */
static inline __attribute__((__always_inline__))
struct jf_choice_value *jf_choice_step(const struct jf_step *s, struct jf_choice_value *top, jf_choice_value_fn *value,
				       const void *arg)
{
	switch (s->op) {
	case JF_STEP_NUMBER:
		*++top = (struct jf_choice_value){ s->number, s->sign, false };
		break;
	case JF_STEP_VALUE:
		*++top = jf_choice_cast(value(s->from, arg), s->size, s->sign);
		break;
	case JF_STEP_CAST:
		*top = jf_choice_cast(top->bits, s->size, s->sign);
		break;
	case JF_STEP_NOT:
		*top = (struct jf_choice_value){ !top->bits, false, false };
		break;
	case JF_STEP_BITS:
		top--;
		top->bits &= top[1].bits;
		top->negative &= top[1].negative;
		break;
	default:
		top--;
		*top = (struct jf_choice_value){ jf_choice_compare(s->op, top, top + 1), false, false };
	}
	return top;
}

static inline struct jf_choice_value jf_choice_read(const struct jf_step *s, jf_choice_memory_fn *memory, const void *arg)
{
	uint64_t got = 0;

	if (!memory(s, &got, arg))
		return (struct jf_choice_value){ 0, false, true };
	if (s->op == JF_STEP_READ)
		return jf_choice_cast(got, s->size, s->sign);
	return (struct jf_choice_value){ jf_choice_widen(got, s->size), false, false };
}

/* The same step, of values that can be unknown. */
static inline __attribute__((__always_inline__))
struct jf_choice_value *jf_choice_step_known(const struct jf_step *s, struct jf_choice_value *top, jf_choice_value_fn *value,
					     const void *arg)
{
	bool pushes = s->op == JF_STEP_NUMBER || s->op == JF_STEP_VALUE, pops = s->op >= JF_STEP_BITS;
	bool unknown = !pushes && (top->unknown || (pops && top[-1].unknown));

	top = jf_choice_step(s, top, value, arg);
	/* Both operators have 0 for an unknown value. */
	if (!unknown || s->op == JF_STEP_AND || s->op == JF_STEP_OR)
		return top;
	*top = (struct jf_choice_value){ 0, false, s->op == JF_STEP_CAST || s->op == JF_STEP_BITS };
	return top;
}

/* Apart, and only executed for programs that have such steps: the others need be no slower. */
static __attribute__((__noinline__, __unused__))
bool jf_choice_holds_more(const struct jf_choice *c, jf_choice_value_fn *value, jf_choice_memory_fn *memory, const void *arg)
{
	struct jf_choice_value stack[1 + JF_CHOICE_STACK], *top = stack;
	const struct jf_step *s, *end = c->step + c->num;
	uint64_t got;
	bool known;

	*top = (struct jf_choice_value){ 1, false, false };
	for (s = c->step; s < end; s++) {
		switch (s->op) {
		case JF_STEP_REAL:
			*++top = (struct jf_choice_value){ s->number, false, false };
			break;
		case JF_STEP_REAL_VALUE:
			*++top = (struct jf_choice_value){ jf_choice_widen(value(s->from, arg), s->size), false, false };
			break;
		case JF_STEP_HOLDS:
			*top = (struct jf_choice_value){ !!(top->bits << 1), false, top->unknown };
			break;
		case JF_STEP_REALS:
			top--;
			known = !top->unknown && !top[1].unknown;
			*top = (struct jf_choice_value){ known && jf_choice_reals(s, top, top + 1), false, false };
			break;
		case JF_STEP_TEXT:
			*++top = (struct jf_choice_value){ memory(s, &got, arg), false, false };
			s += jf_choice_text_steps(s);
			break;
		case JF_STEP_READ:
		case JF_STEP_READ_REAL:
			*++top = jf_choice_read(s, memory, arg);
			break;
		default:
			top = jf_choice_step_known(s, top, value, arg);
		}
	}
	return top->bits;
}

/**
 * jf_choice_holds() - do all expressions hold
 * @c:     the choice
 * @value: gets a value
 * @memory: looks at memory
 * @arg:   their last argument
 */
static inline __attribute__((__always_inline__))
bool jf_choice_holds(const struct jf_choice *c, jf_choice_value_fn *value, jf_choice_memory_fn *memory, const void *arg)
{
	struct jf_choice_value stack[1 + JF_CHOICE_STACK], *top = stack;
	const struct jf_step *s, *end = c->step + c->num;

	if (__builtin_expect(c->more, 0))
		return jf_choice_holds_more(c, value, memory, arg);
	/* Without an expression that is all. To clear the rest would call memset(). */
	*top = (struct jf_choice_value){ 1, false, false };
	for (s = c->step; s < end; s++)
		top = jf_choice_step(s, top, value, arg);
	return top->bits;
}

/**
 * jf_choice_passes() - is the record made
 * @c:     the choice, which counts; threads and signal handlers may come at once
 * @value: as above
 * @memory: as above
 * @arg:   as above
 */
static inline __attribute__((__always_inline__))
bool jf_choice_passes(struct jf_choice *c, jf_choice_value_fn *value, jf_choice_memory_fn *memory, const void *arg)
{
	/* There is no more to come: nothing is counted. */
	if (c->max && __atomic_load_n(&c->made, __ATOMIC_RELAXED) >= c->max)
		return false;
	if (!jf_choice_holds(c, value, memory, arg))
		return false;
	if (c->every > 1 && __atomic_fetch_add(&c->seen, 1, __ATOMIC_RELAXED) % c->every)
		return false;
	return !c->max || __atomic_fetch_add(&c->made, 1, __ATOMIC_RELAXED) < c->max;
}

#endif /* JF_CHOICE_H */
