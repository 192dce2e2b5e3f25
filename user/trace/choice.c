// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The parser of filters (choice.h): a function for each line of the grammar. */
/* In here nothing is defined that belongs into a table. */
#ifndef JF_NO_TABLE
#define JF_NO_TABLE
#endif
#include "choice.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <jumpfunc/trace_event.h>

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
 * @real:   the last value is one, and no integer
 */
struct parser {
	struct jf_choice		*c;
	const struct jf_choice_names	*names;
	const char			*begin;
	const char			*at;
	unsigned int			depth;
	unsigned int			nested;
	bool				real;
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

/* "->name", ".name" or "[2]": its length, or 0. */
static size_t path_part(const char *at)
{
	size_t sign = at[0] == '-' && at[1] == '>' ? 2 : *at == '.', len;

	if (sign)
		return word(at + sign) ? sign + word(at + sign) : 0;
	len = *at == '[' ? strspn(at + 1, "0123456789") : 0;
	return len && at[1 + len] == ']' ? len + 2 : 0;
}

size_t jf_choice_path(const char *text)
{
	size_t len = word(text), more = len;

	while (more) {
		more = path_part(text + len);
		len += more;
	}
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
	p->c->more |= step->op > JF_STEP_GE;
	p->c->step[p->c->num++] = *step;
	return true;
}

static bool add_op(struct parser *p, enum jf_step_op op, const char *at, int grows)
{
	return add(p, &(struct jf_step){ .op = (uint8_t)op }, at, grows);
}

/* The last value as a condition. */
static bool holds(struct parser *p)
{
	bool real = p->real;

	p->real = false;
	return !real || add_op(p, JF_STEP_HOLDS, p->at, 0);
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

static bool is_real(const char *at)
{
	size_t len = strspn(at, "0123456789");

	if (at[len] == '.')
		return jf_choice_is_number(at + len + 1);
	if ((at[len] | 0x20) != 'e')
		return false;
	return jf_choice_is_number(at + len + 1 + (at[len + 1] == '-' || at[len + 1] == '+'));
}

/* The digits, without zeros in front. False: a double does not have all of them. */
static bool real_digits(struct parser *p, uint64_t *digits, int *power)
{
	bool point = false;

	*digits = 0;
	*power = 0;
	for (; jf_choice_is_number(p->at) || (*p->at == '.' && !point); p->at++) {
		if (*p->at == '.') {
			point = true;
			continue;
		}
		*digits = *digits * 10 + digit(*p->at);
		*power -= point;
		if (*digits >= UINT64_C(1000000000000000))
			return false;
	}
	return true;
}

/* With these limits both numbers are exact, and one operation rounds. No locale has a say. */
static bool real(struct parser *p, bool negative)
{
	struct jf_step step = { .op = JF_STEP_REAL };
	const char *begin = p->at;
	uint64_t digits;
	double value, scale = 1;
	int power, more = 0, sign;

	if (!real_digits(p, &digits, &power))
		return wrong(p, begin, "the number has more than 15 digits");
	if ((*p->at | 0x20) == 'e') {
		sign = *++p->at == '-' ? -1 : 1;
		for (p->at += *p->at == '-' || *p->at == '+'; jf_choice_is_number(p->at) && more < 1000; p->at++)
			more = more * 10 + (int)digit(*p->at);
		power += sign * more;
	}
	if (power < -22 || power > 22)
		return wrong(p, begin, "the number is beyond 1e22, or has more than 22 digits after its point");
	if (is_letter(*p->at) || *p->at == '.' || jf_choice_is_number(p->at))
		return wrong(p, begin, "'%.*s' is no number", (int)strcspn(begin, " &|=<>!()"), begin);
	for (more = power < 0 ? -power : power; more; more--)
		scale *= 10;
	value = power < 0 ? (double)digits / scale : (double)digits * scale;
	value = negative ? -value : value;
	memcpy(&step.number, &value, sizeof(value));
	p->real = true;
	return add(p, &step, begin, 1);
}

static bool constant(struct parser *p, bool negative)
{
	struct jf_step step = { .op = JF_STEP_NUMBER };
	const char *at = p->at;

	if (is_real(at))
		return real(p, negative);
	p->real = false;
	if (!number(p, &step.number))
		return false;
	if (negative && step.number > UINT64_C(1) << 63)
		return wrong(p, at, "the number has more than 64 bits");
	step.sign = negative && step.number;
	step.number = negative ? -step.number : step.number;
	return add(p, &step, at, 1);
}

/* Always false. @is: the word for a name that could be there. */
static bool no_name(struct parser *p, size_t len, int err, const char *is)
{
	char have[160];

	const char *why = p->names->why ? p->names->why(p->at, len, p->names->arg) : NULL;

	if (why)
		return wrong(p, p->at, "'%.*s': %s", len > 80 ? 80 : (int)len, p->at, why);
	if (err != -ENOENT)
		return wrong(p, p->at, "'%.*s' is no %s", len > 40 ? 40 : (int)len, p->at, is);
	p->names->list(have, sizeof(have), p->names->arg);
	return wrong(p, p->at, "there is no '%.*s'%s, but %s", len > 40 ? 40 : (int)len, p->at, len > 40 ? "..." : "", have);
}

static bool name(struct parser *p, size_t len)
{
	struct jf_step step = { .op = JF_STEP_VALUE, .size = 8 };
	int err = p->names ? p->names->find(&step, p->at, len, p->names->arg) : 0;
	const char *at = p->at;

	if (err)
		return no_name(p, len, err, "number");
	p->at += len;
	p->real = step.op == JF_STEP_REAL_VALUE || step.op == JF_STEP_READ_REAL;
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
	len = jf_choice_path(at);
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
	if (*at == '"')
		return wrong(p, at, "a text has to stand after a name and '==', '!=' or '=~'");
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
		ok = value(p) && (step.op == JF_STEP_NOT || !p->real || wrong(p, at, "a real number has no cast")) && holds(p) &&
		     add(p, &step, at, 0);
	else
		ok = nested(p);
	p->nested--;
	return ok;
}

/* --- operators ------------------------------------------------------------------------------ */

static bool bits(struct parser *p)
{
	const char *at;
	bool was;

	if (!value(p))
		return false;
	for (;;) {
		skip(p);
		at = p->at;
		if (*at != '&' || at[1] == '&')
			return true;
		was = p->real;
		p->at++;
		if (!value(p))
			return false;
		if (was || p->real)
			return wrong(p, at, "'&' is for integers");
		if (!add_op(p, JF_STEP_BITS, at, -1))
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

/* --- texts ------------------------------------------------------------------------------------ */

/* After the mark at its begin. */
static bool literal(struct parser *p, char *to, size_t *len)
{
	const char *begin = p->at - 1;

	for (*len = 0; *p->at && *p->at != '"'; p->at++) {
		if (*p->at == '\\' && (p->at[1] == '\\' || p->at[1] == '"'))
			p->at++;
		to[(*len)++] = *p->at;
	}
	if (!*p->at)
		return wrong(p, begin, "the text has no '\"' at its end");
	p->at++;
	return true;
}

static bool add_text(struct parser *p, struct jf_step *step, const char *text, size_t len, const char *at)
{
	struct jf_choice *c = p->c;
	unsigned int more;

	step->number |= len;
	more = jf_choice_text_steps(step);
	if (c->num + 1 + more > JF_CHOICE_STEPS)
		return wrong(p, at, "the expression is too long");
	if (!add(p, step, at, 1))
		return false;
	memset(&c->step[c->num], 0, more * sizeof(c->step[0]));
	memcpy(&c->step[c->num], text, len);
	c->num += more;
	return true;
}

/* Where a name and an operator of texts are: the operator, or NULL. */
static const char *text_operator(const struct parser *p, size_t *len)
{
	const char *at = p->at, *op;

	*len = jf_choice_path(at);
	op = at + *len + strspn(at + *len, " ");
	if (!*len || (strncmp(op, "==", 2) && strncmp(op, "!=", 2) && strncmp(op, "=~", 2)))
		return NULL;
	return op[1] == '~' || op[2 + strspn(op + 2, " ")] == '"' ? op : NULL;
}

static bool text_test(struct parser *p, size_t len, const char *op)
{
	struct jf_step step = { .op = JF_STEP_TEXT };
	int err = !p->names ? 0 : p->names->text ? p->names->text(&step, p->at, len, p->names->arg) : -EINVAL;
	const char *at = p->at;
	char text[JF_CHOICE_MAX];
	size_t size;

	if (err)
		return no_name(p, len, err, "text");
	step.sign = op[1] == '~';
	step.number = (uint64_t)(*op == '!') << 32;
	p->at = op + 2;
	if (!take(p, "\""))
		return wrong(p, p->at, "a text has to follow '=~'");
	p->real = false;
	return literal(p, text, &size) && add_text(p, &step, text, size, at);
}

static bool compare(struct parser *p, enum jf_step_op op, const char *at)
{
	struct jf_step step = { .op = (uint8_t)op };
	bool first = p->real;

	if (!bits(p))
		return false;
	if (first || p->real)
		step = (struct jf_step){ .op = JF_STEP_REALS, .size = (uint8_t)(first | p->real << 1), .from = (uint8_t)op };
	p->real = false;
	return add(p, &step, at, -1);
}

static bool test(struct parser *p)
{
	enum jf_step_op op, other;
	const char *at;
	size_t len;

	skip(p);
	at = text_operator(p, &len);
	if (at)
		return text_test(p, len, at);
	if (!bits(p))
		return false;
	skip(p);
	at = p->at;
	if (!take_compare(p, &op))
		return true;
	if (!compare(p, op, at))
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
		if (!holds(p) || !test(p) || !holds(p) || !add_op(p, JF_STEP_AND, at, -1))
			return false;
	return true;
}

static bool expression(struct parser *p)
{
	const char *at;

	if (!all_of(p))
		return false;
	for (at = p->at; take(p, "||"); at = p->at)
		if (!holds(p) || !all_of(p) || !holds(p) || !add_op(p, JF_STEP_OR, at, -1))
			return false;
	return true;
}

/* --- clauses --------------------------------------------------------------------------------- */

static bool condition(struct parser *p)
{
	bool first = !p->c->num;

	skip(p);
	p->begin = p->at;
	if (!expression(p) || !holds(p))
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

/* --- names ------------------------------------------------------------------------------------ */

int jf_choice_label(struct jf_step *step, const struct jf_event_field *fields, const char *name, size_t len)
{
	const struct jf_event_label *l;
	const struct jf_event_field *f;
	int64_t found = 0, first, next;
	bool any = false;

	for (f = fields; f->kind != __JF_FIELD_END; f++)
		for (l = f->labels, next = 0; l && l->name; l++) {
			first = l->next ? next : l->first;
			next = (int64_t)((uint64_t)(l->next ? first : l->last) + 1);
			if (!jf_choice_is(l->name, name, len))
				continue;
			if ((any && found != first) || (!l->next && l->first != l->last))
				return -ENOENT;
			found = first;
			any = true;
		}
	*step = (struct jf_step){ .op = JF_STEP_NUMBER, .sign = found < 0, .number = (uint64_t)found };
	return any ? 0 : -ENOENT;
}

static int any_number(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	(void)step, (void)name, (void)len, (void)arg;
	return 0;
}

static int any_text(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	step->from = jf_choice_is("caller", name, len) ? *(const uint8_t *)arg : 0;
	return 0;
}

int jf_choice_parse_callers(struct jf_choice *choice, const char *text, uint8_t from)
{
	const struct jf_choice_names names = { any_number, any_text, NULL, &from, NULL };

	return jf_choice_parse(choice, text, &names);
}

struct jf_step *jf_choice_text_of(struct jf_choice *c, const struct jf_step *last, uint8_t from)
{
	unsigned int i = last ? (unsigned int)(last - c->step) + 1 + jf_choice_text_steps(last) : 0;

	for (; i < c->num; i++) {
		struct jf_step *s = &c->step[i];

		if (s->op != JF_STEP_TEXT)
			continue;
		if (s->from == from)
			return s;
		i += jf_choice_text_steps(s);
	}
	return NULL;
}

/* --- lists ----------------------------------------------------------------------------------- */

/* After "operator" and its sign, if that is no bracket; else @at. */
static const char *pass_operator(const char *at)
{
	static const char *const signs[] = { ",", "<=>", "->", "<<", ">>", "<", ">" };
	size_t i, len;

	for (i = 0; !strncmp(at, "operator", 8) && i < sizeof(signs) / sizeof(*signs); i++) {
		len = strlen(signs[i]);
		if (!strncmp(at + 8, signs[i], len))
			return at + 8 + len;
	}
	return at;
}

/* The end of a list of types of C++ or Rust, which begins at @at with '<'; NULL: it has none. */
static const char *types_end(const char *at, const char *end)
{
	unsigned int angles = 0, round = 0;

	for (; at < end; at++) {
		if (*at == '-' && at[1] == '>')
			at++;
		else if (*at == '(')
			round++;
		else if (*at == ')' && !round--)
			return NULL;
		else if (*at == '<')
			angles++;
		else if (*at == '>' && !--angles)
			return at + 1;
	}
	return NULL;
}

const char *jf_choice_comma(const char *list)
{
	const char *filter = jf_choice_begin(list), *next;
	unsigned int depth = 0;
	bool quoted = false;

	while (*list && (quoted || depth || *list != ',')) {
		next = list < filter && !quoted ? pass_operator(list) : list;
		if (next == list && list < filter && !quoted && !depth && *list == '<')
			next = types_end(list, filter);
		if (next && next != list) {
			list = next;
			continue;
		}
		if (quoted && *list == '\\' && list[1])
			list++;
		else if (*list == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += (*list == '(') - (depth && *list == ')');
		list++;
	}
	return list;
}
