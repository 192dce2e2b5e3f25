// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The parser of filters (choice.h): a function for each line of the grammar. */
#include "choice.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* Brackets, signs and casts within each other. */
#define NESTED_MAX	16

/**
 * struct parser - of one text
 * @c:      is filled in
 * @names:  of the probe, or NULL
 * @begin:  of the clause's text, or NULL: at the begin of a clause
 * @at:     the next character
 * @depth:  of the stack, after the steps so far
 * @nested: calls of value() that are not over
 */
struct parser {
	struct jf_choice		*c;
	const struct jf_choice_names	*names;
	const char			*begin;
	const char			*at;
	unsigned int			depth;
	unsigned int			nested;
};

/* The first complaint counts. Always false. */
__attribute__((__format__(__printf__, 3, 4)))
static bool wrong(struct parser *p, const char *at, const char *format, ...)
{
	char *why = p->c->why;
	va_list args;
	int n = 0;

	if (*why)
		return false;
	if (at)
		n = snprintf(why, JF_CHOICE_WHY, "column %u: ", (unsigned int)(at - p->begin) + 1);
	va_start(args, format);
	vsnprintf(why + n, JF_CHOICE_WHY - (size_t)n, format, args);
	va_end(args);
	return false;
}

static void skip(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
}

static bool take(struct parser *p, const char *sign)
{
	size_t len = strlen(sign);

	skip(p);
	if (strncmp(p->at, sign, len))
		return false;
	p->at += len;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t word(const char *text)
{
	size_t len = 0;

	if (is_letter(*text))
		while (is_letter(text[len]) || jf_choice_is_number(text + len))
			len++;
	return len;
}

static bool is_word(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && !strncmp(text, name, len);
}

/* @grows: of the stack. */
static bool add(struct parser *p, const struct jf_step *step, const char *at, int grows)
{
	if (p->c->num == JF_CHOICE_STEPS)
		return wrong(p, at, "the expression is too long");
	p->depth = (unsigned int)((int)p->depth + grows);
	if (p->depth > JF_CHOICE_STACK)
		return wrong(p, at, "too much is within brackets");
	p->c->step[p->c->num++] = *step;
	return true;
}

static bool add_op(struct parser *p, enum jf_step_op op, const char *at, int grows)
{
	return add(p, &(struct jf_step){ .op = (uint8_t)op }, at, grows);
}

/* --- values -------------------------------------------------------------------------------- */

static unsigned int digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 16;
}

static bool take_unit(const char **at, uint64_t *ns)
{
	static const struct {
		const char	*name;
		uint64_t	ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	size_t len = word(*at), i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (is_word(*at, len, units[i].name)) {
			*at += len;
			*ns = units[i].ns;
			return true;
		}
	return false;
}

static bool number(struct parser *p, uint64_t *value)
{
	const char *begin = p->at, *digits = begin;
	unsigned int base = 10;
	uint64_t unit;

	if (*digits == '0' && (digits[1] | 0x20) == 'x')
		base = 16;
	else if (*digits == '0' && (digits[1] | 0x20) == 'b')
		base = 2;
	else if (*digits == '0')
		base = 8;
	digits += base == 16 || base == 2 ? 2 : 0;
	*value = 0;
	for (p->at = digits; digit(*p->at) < base; p->at++)
		if (__builtin_mul_overflow(*value, (uint64_t)base, value) || __builtin_add_overflow(*value, digit(*p->at), value))
			return wrong(p, begin, "the number has more than 64 bits");
	if (base == 10 && take_unit(&p->at, &unit) && __builtin_mul_overflow(*value, unit, value))
		return wrong(p, begin, "the number has more than 64 bits");
	if (p->at == digits || is_letter(*p->at) || jf_choice_is_number(p->at))
		return wrong(p, begin, "'%.*s%.*s' is no number", (int)(p->at - begin), begin, (int)strcspn(p->at, " &|=<>!()"), p->at);
	return true;
}

static bool constant(struct parser *p, bool negative)
{
	struct jf_step step = { .op = JF_STEP_NUMBER };
	const char *at = p->at;

	if (!number(p, &step.number))
		return false;
	if (negative && step.number > UINT64_C(1) << 63)
		return wrong(p, at, "the number has more than 64 bits");
	step.sign = negative && step.number;
	step.number = negative ? -step.number : step.number;
	return add(p, &step, at, 1);
}

static bool name(struct parser *p, size_t len)
{
	struct jf_step step = { .op = JF_STEP_VALUE, .size = 8 };
	int err = p->names ? p->names->find(&step, p->at, len, p->names->arg) : 0;
	const char *at = p->at;
	char have[160];

	if (err == -ENOENT) {
		p->names->list(have, sizeof(have), p->names->arg);
		return wrong(p, at, "there is no '%.*s'%s, but %s", len > 40 ? 40 : (int)len, at, len > 40 ? "..." : "", have);
	}
	if (err)
		return wrong(p, at, "'%.*s' is no integer", len > 40 ? 40 : (int)len, at);
	p->at += len;
	return add(p, &step, at, 1);
}

/* "(u8)": not an expression in brackets, which may be a name. */
static bool take_cast(struct parser *p, struct jf_step *step)
{
	static const struct {
		const char	*name;
		uint8_t		size;
		bool		sign;
	} types[] = {
		{ "u8", 1, false }, { "s8", 1, true }, { "u16", 2, false }, { "s16", 2, true }, { "u32", 4, false }, { "s32", 4, true },
		{ "u64", 8, false }, { "s64", 8, true }, { "int", 4, true },
	};
	size_t len = *p->at == '(' ? word(p->at + 1) : 0, i;

	for (i = 0; len && p->at[len + 1] == ')' && i < sizeof(types) / sizeof(*types); i++)
		if (is_word(p->at + 1, len, types[i].name)) {
			p->at += len + 2;
			*step = (struct jf_step){ .op = JF_STEP_CAST, .size = types[i].size, .sign = types[i].sign };
			return true;
		}
	return false;
}

static bool expression(struct parser *p);

static bool nested(struct parser *p)
{
	const char *at;
	size_t len;

	skip(p);
	at = p->at;
	len = word(at);
	if (take(p, "("))
		return expression(p) && (take(p, ")") || wrong(p, p->at, "a ')' is missing, of the '(' in column %u",
								(unsigned int)(at - p->begin) + 1));
	if (len)
		return name(p, len);
	if (jf_choice_is_number(at))
		return constant(p, false);
	if (*at == '-' && jf_choice_is_number(at + 1)) {
		p->at++;
		return constant(p, true);
	}
	if (!*at)
		return wrong(p, at, "a name or a number is missing");
	return wrong(p, at, "a name or a number has to be here, not '%c'", *at >= ' ' && *at < 127 ? *at : '?');
}

static bool value(struct parser *p)
{
	struct jf_step step = { .op = JF_STEP_NOT };
	const char *at;
	bool ok;

	skip(p);
	at = p->at;
	if (p->nested == NESTED_MAX)
		return wrong(p, at, "too much is within brackets");
	p->nested++;
	if ((*at == '!' && take(p, "!")) || take_cast(p, &step))
		ok = value(p) && add(p, &step, at, 0);
	else
		ok = nested(p);
	p->nested--;
	return ok;
}

/* --- operators ------------------------------------------------------------------------------ */

static bool bits(struct parser *p)
{
	const char *at;

	if (!value(p))
		return false;
	for (;;) {
		skip(p);
		at = p->at;
		if (*at != '&' || at[1] == '&')
			return true;
		p->at++;
		if (!value(p) || !add_op(p, JF_STEP_BITS, at, -1))
			return false;
	}
}

static bool take_compare(struct parser *p, enum jf_step_op *op)
{
	static const struct {
		const char	*sign;
		enum jf_step_op	op;
	} signs[] = {
		{ "==", JF_STEP_EQ }, { "!=", JF_STEP_NE }, { "<=", JF_STEP_LE }, { ">=", JF_STEP_GE }, { "<", JF_STEP_LT },
		{ ">", JF_STEP_GT },
	};
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (take(p, signs[i].sign)) {
			*op = signs[i].op;
			return true;
		}
	return false;
}

static bool test(struct parser *p)
{
	enum jf_step_op op, other;
	const char *at;

	if (!bits(p))
		return false;
	skip(p);
	at = p->at;
	if (!take_compare(p, &op))
		return true;
	if (!bits(p) || !add_op(p, op, at, -1))
		return false;
	skip(p);
	at = p->at;
	return !take_compare(p, &other) || wrong(p, at, "the result of a comparison is not compared: use && or brackets");
}

static bool all_of(struct parser *p)
{
	const char *at;

	if (!test(p))
		return false;
	for (at = p->at; take(p, "&&"); at = p->at)
		if (!test(p) || !add_op(p, JF_STEP_AND, at, -1))
			return false;
	return true;
}

static bool expression(struct parser *p)
{
	const char *at;

	if (!all_of(p))
		return false;
	for (at = p->at; take(p, "||"); at = p->at)
		if (!all_of(p) || !add_op(p, JF_STEP_OR, at, -1))
			return false;
	return true;
}

/* --- clauses --------------------------------------------------------------------------------- */

static bool condition(struct parser *p)
{
	bool first = !p->c->num;

	skip(p);
	p->begin = p->at;
	if (!expression(p))
		return false;
	/* Those of a clause before it hold, too. */
	return first || add_op(p, JF_STEP_AND, p->begin, -1);
}

static bool limit(struct parser *p, const char *which, uint64_t *to)
{
	skip(p);
	p->begin = p->at;
	if (*to)
		return wrong(p, NULL, "it says '%s' twice", which);
	if (!jf_choice_is_number(p->at) || !number(p, to) || !*to)
		return wrong(p, NULL, "a number from 1 on has to follow '%s'", which);
	p->begin = NULL;
	return true;
}

static bool clause(struct parser *p)
{
	size_t len = word(p->at);
	const char *at = p->at;

	p->at += len;
	if (is_word(at, len, "if"))
		return condition(p);
	if (is_word(at, len, "every"))
		return limit(p, "every", &p->c->every);
	if (is_word(at, len, "max"))
		return limit(p, "max", &p->c->max);
	p->at = at;
	if (p->begin)
		return wrong(p, at, "an operator or the end has to be here, not '%c'", *at >= ' ' && *at < 127 ? *at : '?');
	return wrong(p, NULL, "'if', 'every' or 'max' has to be where it says '%.20s'", at);
}

int jf_choice_parse(struct jf_choice *choice, const char *text, const struct jf_choice_names *names)
{
	struct parser p = { .c = choice, .names = names, .at = text };
	bool ok = true;

	memset(choice, 0, sizeof(*choice));
	if (strlen(text) >= JF_CHOICE_MAX)
		return wrong(&p, NULL, "it has more than %d characters", JF_CHOICE_MAX - 1), -EINVAL;
	for (skip(&p); ok && *p.at; skip(&p))
		ok = clause(&p);
	if (ok)
		return 0;
	/* A program that was begun is not used. */
	choice->num = 0;
	return -EINVAL;
}
