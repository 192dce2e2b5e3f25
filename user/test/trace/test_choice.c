// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Which records are made: texts and their meaning; errors and their columns; random expressions,
 * whose value is computed in another way while they are written; and texts that are damaged.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/test/tap.h"
#include "user/trace/choice.h"

#define ROUNDS	30000

/* --- names ------------------------------------------------------------------------- */

static const struct {
	const char	*name;
	uint8_t		size;
	bool		sign;
	uint64_t	value;
} values[] = {
	{ "level", 4, true, 0xabcd0000fffffffe }, { "size", 8, false, UINT64_MAX }, { "tiny", 1, false, 0x1ff }, { "ret", 8, true, UINT64_MAX },
	{ "low", 8, true, UINT64_C(1) << 63 }, { "half", 2, true, 0x18000 }, { "zero", 4, false, UINT64_C(7) << 32 }, { "three", 4, true, 3 },
	/* Memory, of which some cannot be read. */
	{ "order->count", 4, true, 0xfffffff0 }, { "order->next->in.tiny", 1, false, 0x2ff }, { "row[2]", 8, false, 5 },
	{ "gone->count", 4, true, 3 }, { "order->gone[1].size", 8, false, 0 },
};
#define NAMES	(sizeof(values) / sizeof(*values))

/* Bits of a double or of a float. */
static const struct {
	const char	*name;
	uint8_t		size;
	uint64_t	bits;
} reals[] = {
	{ "price", 8, 0x3ff8000000000000 }, { "debt", 8, 0xc008000000000000 }, { "nothing", 8, UINT64_C(1) << 63 },
	{ "nan", 8, 0x7ff8000000000001 }, { "endless", 8, 0x7ff0000000000000 }, { "least", 8, 1 }, { "large", 8, 0x43f0000000000000 },
	{ "nearly", 8, 0x43efffffffffffff }, { "low_real", 8, 0xc3e0000000000000 }, { "third", 4, 0xdead00003eaaaaab },
	{ "tiny_float", 4, 1 }, { "nan_float", 4, 0x7fc00000 }, { "minus_float", 4, 0xff800000 }, { "two", 4, 0x40000000 },
	{ "order->price", 8, 0x4004000000000000 }, { "lines[0].few", 4, 0x40000000 }, { "gone->price", 8, 0x4004000000000000 },
};
#define REALS	(sizeof(reals) / sizeof(*reals))
#define REAL_FROM	64

/* NULL: it cannot be read. */
static const struct {
	const char	*name;
	const char	*text;
} texts[] = { { "path", "/etc/passwd" }, { "empty", "" }, { "mark", "a\"b\\c" }, { "stars", "a*b?c" }, { "lost", NULL } };
#define TEXTS	(sizeof(texts) / sizeof(*texts))

static unsigned int below(unsigned int max);

static bool is_memory(const char *name)
{
	return strpbrk(name, "-[");
}

static bool is_gone(const char *name)
{
	return strstr(name, "gone");
}

static int find(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < NAMES; i++)
		if (strlen(values[i].name) == len && !strncmp(values[i].name, name, len)) {
			step->from = (uint8_t)i;
			step->size = values[i].size;
			step->sign = values[i].sign;
			step->op = is_memory(values[i].name) ? JF_STEP_READ : JF_STEP_VALUE;
			return 0;
		}
	for (i = 0; i < REALS; i++)
		if (strlen(reals[i].name) == len && !strncmp(reals[i].name, name, len)) {
			*step = (struct jf_step){ .op = is_memory(reals[i].name) ? JF_STEP_READ_REAL : JF_STEP_REAL_VALUE, .size = reals[i].size, .from = (uint8_t)(REAL_FROM + i) };
			return 0;
		}
	if (len == 6 && !strncmp(name, "vector", 6))
		return -EINVAL;
	if (len != 4 || strncmp(name, "FAST", 4))
		return -ENOENT;
	*step = (struct jf_step){ .op = JF_STEP_NUMBER, .number = 3 };
	return 0;
}

static int find_text(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	unsigned int i;

	for (i = 0; i < TEXTS; i++)
		if (strlen(texts[i].name) == len && !strncmp(texts[i].name, name, len)) {
			step->from = (uint8_t)i;
			return 0;
		}
	return find(step, name, len, arg) == -ENOENT ? -ENOENT : -EINVAL;
}

static void list(char *to, size_t size, const void *arg)
{
	snprintf(to, size, "%s", (const char *)arg);
}

static const char *why_not(const char *name, size_t len, const void *arg)
{
	(void)arg;
	return len > 6 && !strncmp(name, "order->prise", len) ? "order has no member 'prise'" : NULL;
}

static const struct jf_choice_names names = { find, find_text, list, "level, size", why_not };

static uint64_t value_of(unsigned int from, const void *arg)
{
	(void)arg;
	return from >= REAL_FROM ? reals[from - REAL_FROM].bits : values[from].value;
}

static bool memory_of(const struct jf_step *step, uint64_t *value, const void *arg)
{
	const char *text, *name;

	if (step->op != JF_STEP_TEXT) {
		name = step->op == JF_STEP_READ ? values[step->from].name : reals[step->from - REAL_FROM].name;
		CHECK(is_memory(name), "%s is read", name);
		/* It is not to be looked at. */
		*value = is_gone(name) ? below(2) * 3 : value_of(step->from, arg);
		return !is_gone(name);
	}
	text = texts[step->from].text;
	return text && jf_choice_text(step, text);
}

static bool holds(const struct jf_choice *c)
{
	return jf_choice_holds(c, value_of, memory_of, NULL);
}

/* As the agent relies on it: within the stack, and one value in the end. */
static bool is_program(const struct jf_choice *c)
{
	unsigned int i, depth = 0;

	for (i = 0; i < c->num; i++) {
		const struct jf_step *s = &c->step[i];

		if (s->op > JF_STEP_READ_REAL || ((s->op == JF_STEP_CAST || s->op == JF_STEP_VALUE) && (!s->size || s->size > 8)) ||
		    (s->op == JF_STEP_REALS && (!s->size || s->size > 3 || s->from < JF_STEP_EQ || s->from > JF_STEP_GE)))
			return false;
		if (s->op <= JF_STEP_VALUE || s->op == JF_STEP_REAL || s->op == JF_STEP_REAL_VALUE || s->op >= JF_STEP_TEXT)
			depth++;
		else if ((s->op >= JF_STEP_BITS && s->op <= JF_STEP_GE) || s->op == JF_STEP_REALS)
			depth--;
		if (s->op == JF_STEP_TEXT)
			i += jf_choice_text_steps(s);
		if (!depth || depth > JF_CHOICE_STACK)
			return false;
	}
	return c->num <= JF_CHOICE_STEPS && depth == !!c->num;
}

/* At the end of the memory, so that the sanitizer sees reads beyond it. */
static int parse(struct jf_choice *c, const char *text, const struct jf_choice_names *of)
{
	char *exact = strdup(text);
	int err = jf_choice_parse(c, exact, of);

	CHECK(err == (*c->why ? -EINVAL : 0), "%s: %d", text, err);
	CHECK(is_program(c), "%s", text);
	free(exact);
	return err;
}

/* --- texts ------------------------------------------------------------------------- */

static const struct {
	const char	*text;
	bool		holds;
} meanings[] = {
	{ "", true }, { "if 1", true }, { "if 0", false }, { "if !0", true }, { "if !!7 == 1", true }, { "if level == -2", true },
	{ "if level<0&&level>-3", true }, { "if size > 9223372036854775807", true }, { "if size > -1", true }, { "if ret < 0", true },
	{ "if ret < size", true }, { "if ret == size", false }, { "if ret == -1 || zero", true }, { "if zero", false }, { "if tiny == 0xff", true },
	{ "if tiny == 0377", true }, { "if tiny == 0b11111111", true }, { "if tiny == 0XFF", true }, { "if (s8)tiny == -1", true },
	{ "if (u8)level == 254", true }, { "if (int)size == -1", true }, { "if (u32)ret == 0xffffffff", true }, { "if (u64)ret == size", true },
	{ "if (s64)size == ret", true }, { "if (s16)-1 == -1", true }, { "if (u16)-1 == 65535", true }, { "if (three) == 3", true },
	{ "if three & 1 == 1", true }, { "if three & 4", false }, { "if level & 0xff == 254", true }, { "if ret & -1 == -1", true },
	{ "if low == -9223372036854775808", true }, { "if half == -32768", true }, { "if three == FAST", true }, { "if 1 || 0 && 0", true },
	{ "if (1 || 0) && 0", false }, { "if !(three == 3 && size)", false }, { "if three >= 3", true }, { "if three <= 2", false },
	{ "if three != 3", false }, { "if 1ms == 1000000", true }, { "if 10us < 1s && 5ns == 5", true }, { "if 1 if 0", false },
	{ "if 0 || 1 if three == 3 if 1", true }, { "if 1 every 1 max 1", true }, { "max 5 if(three < 3)", false }, { "if 18446744073709551615 == size", true },
	{ "if -0 == 0", true }, { "if ((((((((three))))))))", true },
	{ "if price > 1.4999 && price < 1.5001 && price == 1.5", true }, { "if price", true }, { "if !price", false }, { "if nothing", false },
	{ "if !nothing && nothing == 0 && nothing == -0.0", true }, { "if nan == nan || nan < 1 || nan >= 1", false }, { "if nan != nan && nan", true },
	{ "if debt == -3 && debt < -2.5 && -3 >= debt", true }, { "if debt < size && endless > size", true }, { "if large > size", true },
	{ "if nearly < size && nearly > low", true }, { "if low_real == low && low_real <= ret", true }, { "if least > 0 && least < 1e-22", true },
	{ "if third > 0.33333 && third < 0.33334", true }, { "if tiny_float > 0 && tiny_float > least", true }, { "if two == 2 && 2 == two && two == 2.0", true },
	{ "if minus_float < debt && minus_float < low", true }, { "if nan_float > 0 || nan_float <= 0", false }, { "if (price)", true },
	{ "if 1e3 == 1000 && 1.5e3 == 1500 && 25e-1 == 2.5", true }, { "if price && three == 3 || 0.0", true }, { "if 0.0 || 0.5", true },
	{ "if 0.1 == 1e-1 && 0.1 != 0.1000001", true }, { "if price > -1.5 && -1.5 < 0", true },
	{ "if path == \"/etc/passwd\"", true }, { "if path != \"/etc/passwd\"", false }, { "if path == \"/etc/passw\"", false },
	{ "if path == \"/etc/passwd \"", false }, { "if path =~ \"/etc/" "*\"", true }, { "if path=~\"*pass?d\"", true }, { "if path =~ \"/etc\"", false },
	{ "if path == \"\"", false }, { "if empty == \"\" && empty =~ \"*\"", true }, { "if empty != \"x\"", true }, { "if lost == \"x\"", false },
	{ "if lost != \"x\" || lost =~ \"*\"", false }, { "if mark == \"a\\\"b\\\\c\"", true }, { "if stars == \"a*b?c\"", true },
	{ "if stars == \"axbxc\"", false }, { "if path == \"a if 1 max 5\" || three == 3 max 5", true },
	{ "if order->count == -16 && order->next->in.tiny == 0xff && row[2] == 5 && order->price == 2.5", true },
	{ "if gone->count || gone->count == 3 || gone->count != 3 || !gone->count || gone->count & 1 || (u8)gone->count >= 0", false },
	{ "if !(u8)gone->count || (gone->count & 1) == 0 || gone->count < gone->price || gone->price != 0 || !gone->price", false },
	{ "if gone->count == 3 || three == 3", true }, { "if !(gone->count == 3)", true }, { "if (gone->count) || !(gone->count && 1)", true },
	{ "if !(path == \"x\") && (path =~ \"*\")", true }, { "if path == \"/etc/passwd\" if empty == \"\" if price > 1", true },
};

static void test_meanings(void)
{
	struct jf_choice c;
	unsigned int i;

	for (i = 0; i < sizeof(meanings) / sizeof(*meanings); i++) {
		CHECK(!parse(&c, meanings[i].text, &names), "%s: %s", meanings[i].text, c.why);
		CHECK(holds(&c) == meanings[i].holds, "%s", meanings[i].text);
	}
	CHECK(!parse(&c, "if any && thing", NULL), "without names: %s", c.why);
	CHECK(!parse(&c, "if any == \"text\" && thing > 1.5 && !any", NULL), "without names: %s", c.why);
	finish("what a choice means");
}

static const struct {
	const char	*text;
	const char	*why;
} errors[] = {
	{ "if rank > 3", "column 1: there is no 'rank', but level, size" },
	{ "if level > 3 && sice >= 4096", "column 14: there is no 'sice', but level, size" },
	{ "if  three if sice", "column 1: there is no 'sice', but level, size" },
	{ "if level > 1 && order->prise", "column 14: 'order->prise': order has no member 'prise'" },
	{ "if order->prize > 3", "column 1: there is no 'order->prize', but level, size" }, { "if order-> count", "column 1: there is no 'order', but level, size" },
	{ "if row[] == 3", "column 1: there is no 'row', but level, size" }, { "if row[2].x == 3", "column 1: there is no 'row[2].x', but level, size" },
	{ "if row[2]-> == 3", "column 7: an operator or the end has to be here, not '-'" },
	{ "if vector > 2", "column 1: 'vector' is no number" }, { "if level == \"x\"", "column 1: 'level' is no text" },
	{ "if path > 2", "column 1: there is no 'path', but level, size" }, { "if path =~ 3", "column 9: a text has to follow '=~'" },
	{ "if rank == \"x\"", "column 1: there is no 'rank', but level, size" }, { "if 3 == \"x\"", "column 6: a text has to stand after a name and '==', '!=' or '=~'" },
	{ "if path == \"x", "column 9: the text has no '\"' at its end" }, { "if path == \"x\\\"", "column 9: the text has no '\"' at its end" },
	{ "if path == \"x\" == 1", "column 13: an operator or the end has to be here, not '='" },
	{ "if price & 1", "column 7: '&' is for integers" }, { "if 1 & 1.5", "column 3: '&' is for integers" }, { "if (int)price", "column 1: a real number has no cast" },
	{ "if price > 1.5 > 1", "column 13: the result of a comparison is not compared: use && or brackets" },
	{ "if price > 1.2.3", "column 9: '1.2.3' is no number" }, { "if price > 1.5ms", "column 9: '1.5ms' is no number" },
	{ "if price > 1234567890.123456", "column 9: the number has more than 15 digits" },
	{ "if price > 1e23", "column 9: the number is beyond 1e22, or has more than 22 digits after its point" },
	{ "if price > 1.", "column 10: an operator or the end has to be here, not '.'" }, { "if level >", "column 8: a name or a number is missing" },
	{ "if", "column 1: a name or a number is missing" }, { "if level > > 3", "column 9: a name or a number has to be here, not '>'" },
	{ "if level = 3", "column 7: an operator or the end has to be here, not '='" },
	{ "if level > 3)", "column 10: an operator or the end has to be here, not ')'" },
	{ "if (level > 3", "column 11: a ')' is missing, of the '(' in column 1" }, { "if level, size", "column 6: an operator or the end has to be here, not ','" },
	{ "if 1 < 2 < 3", "column 7: the result of a comparison is not compared: use && or brackets" },
	{ "if 18446744073709551616", "column 1: the number has more than 64 bits" }, { "if -9223372036854775809", "column 2: the number has more than 64 bits" },
	{ "if 99999999999s", "column 1: the number has more than 64 bits" }, { "if 12kg > 3", "column 1: '12kg' is no number" },
	{ "if 0x", "column 1: '0x' is no number" }, { "if 08", "column 1: '08' is no number" }, { "if 0b2", "column 1: '0b2' is no number" },
	{ "if -level", "column 1: a name or a number has to be here, not '-'" },
	{ "if level 3", "column 7: an operator or the end has to be here, not '3'" },
	{ "every 0", "a number from 1 on has to follow 'every'" }, { "max", "a number from 1 on has to follow 'max'" },
	{ "max 5 max 6", "it says 'max' twice" }, { "every 5 often", "'if', 'every' or 'max' has to be where it says 'often'" },
	{ "if \xff", "column 1: a name or a number has to be here, not '?'" },
	{ "if !!!!!!!!!!!!!!!!!1", "column 17: too much is within brackets" },
	{ "if 1 & (2 & (3 & (4 & (5 & (6 & (7 & (8 & 9)))))))", "column 40: too much is within brackets" },
};

static void test_errors(void)
{
	char longer[JF_CHOICE_MAX + 1];
	struct jf_choice c;
	unsigned int i;

	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		CHECK(parse(&c, errors[i].text, &names) == -EINVAL, "%s", errors[i].text);
		CHECK(!strcmp(c.why, errors[i].why), "%s: %s", errors[i].text, c.why);
	}
	strcpy(longer, "if 1");
	for (i = 0; i < 30; i++)
		strcat(longer, "&&1");
	CHECK(parse(&c, longer, &names) == -EINVAL && strstr(c.why, "the expression is too long"), "%s", c.why);
	memset(longer, ' ', JF_CHOICE_MAX);
	longer[JF_CHOICE_MAX] = 0;
	CHECK(parse(&c, longer, &names) == -EINVAL && strstr(c.why, "more than 255 characters"), "%s", c.why);
	finish("errors, and their columns");
}

static void test_begin(void)
{
	static const struct {
		const char	*text;
		size_t		len;
	} vectors[] = {
		{ "a:b", 3 }, { "a:b if 1", 3 }, { "a:b if(1)", 3 }, { "a:b every 5", 3 }, { "a:b max 5", 3 }, { "f(int, max &)", 13 },
		{ "f(every x)", 10 }, { "iffy", 4 }, { "shop::f(Order const&) if a", 21 }, { "", 0 }, { "a if", 4 }, { "a ifs", 5 },
	};
	/* Each is one pattern. */
	static const char *const single[] = {
		"a<int, long>(int, X)", "std::pair<int, long> a<int, b<c, d> >(int)", "<A as B<K,V>>::f", "operator,(X, X)", "x::operator,",
		"x::operator< <int, X>(X)", "x::operator<", "operator->", "operator-><int, X>", "operator<<", "operator>>", "operator<=>", "operator()<int, X>(X) const",
		"a<b(c, d), e>", "a<b->c, d>", "a<*", "a<int?*", "a>", "call>1ms/a", "f if a < 3", "f if a << 3", "f if a > 3", "a<int, X>(X) if a < 3",
	};
	char list[128];
	unsigned int i;

	for (i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
		CHECK((size_t)(jf_choice_begin(vectors[i].text) - vectors[i].text) == vectors[i].len, "%s", vectors[i].text);
	CHECK(!strcmp(jf_choice_comma("f if a == \"x,(\\\"y\",g"), ",g"), "a comma of a text");
	CHECK(!strcmp(jf_choice_comma("f(int, X),g"), ",g") && !strcmp(jf_choice_comma("f)),g"), ",g") && !*jf_choice_comma("f if a == \"x\\"), "others");
	for (i = 0; i < sizeof(single) / sizeof(*single); i++) {
		snprintf(list, sizeof(list), "%s,g,h", single[i]);
		CHECK(!strcmp(jf_choice_comma(list), ",g,h"), "%s: %s", list, jf_choice_comma(list));
	}
	finish("where a choice begins, and a pattern ends");
}

static void test_turns(void)
{
	struct jf_choice c;
	unsigned int i, passed = 0;

	CHECK(!parse(&c, "if three == 3 every 10 max 7", &names), "%s", c.why);
	for (i = 0; i < 1000; i++) {
		bool passes = jf_choice_passes(&c, value_of, memory_of, NULL);

		CHECK(passes == (i % 10 == 0 && i / 10 < 7), "the record %u", i);
		passed += passes;
	}
	CHECK(passed == 7, "%u", passed);
	CHECK(!parse(&c, "if zero max 1", &names), "%s", c.why);
	CHECK(!jf_choice_passes(&c, value_of, memory_of, NULL) && !c.made && !c.seen, "those for which it does not hold are not counted");
	finish("every and max");
}

/* --- random expressions ------------------------------------------------------------ */

static uint64_t state = 0x6a756d7066756e63;

static unsigned int below(unsigned int max)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 33) % max;
}

__extension__ typedef __int128 wide;

/**
 * struct made - an expression that is being written
 * @text: of it
 * @len:  of that
 */
struct made {
	char	text[2 * JF_CHOICE_MAX];
	size_t	len;
};

static void put(struct made *m, const char *text)
{
	/* A text that is too long is not used. */
	if (m->len < JF_CHOICE_MAX)
		m->len += (size_t)snprintf(m->text + m->len, sizeof(m->text) - m->len, "%s%s", below(3) ? "" : " ", text);
}

/* A value that cannot be read. */
#define UNKNOWN	((wide)1 << 100)

static bool is_true(wide v)
{
	return v && v != UNKNOWN;
}

static wide as(wide v, unsigned int size, bool sign)
{
	wide range = (wide)1 << 8 * size, low = ((v % range) + range) % range;

	return sign && low >= range / 2 ? low - range : low;
}

static wide make_number(struct made *m)
{
	static const char *const forms[] = { "%llu", "%#llx", "%#llo" };
	uint64_t n = below(2) ? below(5) : (uint64_t)below(UINT32_MAX) << below(33);
	bool negative = !below(3) && n <= UINT64_C(1) << 63;
	char text[40];

	text[0] = '-';
	snprintf(text + negative, sizeof(text) - negative, forms[below(3)], (unsigned long long)n);
	put(m, text);
	return negative ? -(wide)n : (wide)n;
}

static wide make(struct made *m, unsigned int level);

static wide make_value(struct made *m, unsigned int level)
{
	static const char *const types[] = { "(u8)", "(s8)", "(u16)", "(s16)", "(u32)", "(s32)", "(u64)", "(s64)" };
	unsigned int i = below(10);
	wide v;

	if (i < 3 && level) {
		put(m, "(");
		v = make(m, level - 1);
		put(m, ")");
		return v;
	}
	if (i == 3 && level) {
		put(m, "!");
		v = make_value(m, level - 1);
		return v != UNKNOWN && !v;
	}
	if (i == 4 && level) {
		i = below(8);
		put(m, types[i]);
		v = make_value(m, level - 1);
		return v == UNKNOWN ? v : as(v, 1 << i / 2, i & 1);
	}
	if (i < 7)
		return make_number(m);
	i = below(NAMES);
	put(m, values[i].name);
	return is_gone(values[i].name) ? UNKNOWN : as((wide)values[i].value, values[i].size, values[i].sign);
}

static wide make_bits(struct made *m, unsigned int level)
{
	wide v = make_value(m, level), other;

	while (!below(4)) {
		put(m, "& ");
		other = make_value(m, level);
		v = v == UNKNOWN || other == UNKNOWN ? UNKNOWN : v & other;
	}
	return v;
}

static const char *const signs[] = { "==", "!=", "<=", ">=", "<", ">" };

/* A real, or an integer: as one that has the range and the precision of both. */
static long double make_any(struct made *m, bool real, bool *lost)
{
	unsigned int i = below(REALS);
	double value;
	float few;
	char text[32];
	wide v;

	if (!real) {
		v = make_bits(m, 0);
		*lost |= v == UNKNOWN;
		return (long double)v;
	}
	if (!below(3)) {
		snprintf(text, sizeof(text), "%s%u.%u" "e%d", below(2) ? "-" : "", below(100000), below(10000), (int)below(20) - 9);
		put(m, text);
		return (long double)strtod(text, NULL);
	}
	put(m, reals[i].name);
	*lost |= is_gone(reals[i].name);
	memcpy(&value, &reals[i].bits, sizeof(value));
	memcpy(&few, &reals[i].bits, sizeof(few));
	return reals[i].size == 8 ? (long double)value : (long double)few;
}

/* A long double has all bits of both. */
static bool make_real_test(struct made *m)
{
	unsigned int i = below(8);
	bool first = below(2), lost = false;
	long double a, b;

	/* In brackets without a sign it would be a real one, and no condition. */
	if (i > 5) {
		put(m, "!");
		a = make_any(m, true, &lost);
		return !lost && a == 0;
	}
	a = make_any(m, first, &lost);
	put(m, signs[i]);
	b = make_any(m, !first || below(2), &lost);
	if (lost)
		return false;
	return i == 0 ? a == b : i == 1 ? a != b : i == 2 ? a <= b : i == 3 ? a >= b : i == 4 ? a < b : a > b;
}

/* Another matcher than the one that is tried. */
static bool fits(const char *glob, const char *text)
{
	if (*glob == '*')
		return fits(glob + 1, text) || (*text && fits(glob, text + 1));
	if (!*glob || !*text)
		return !*glob && !*text;
	return (*glob == '?' || *glob == *text) && fits(glob + 1, text + 1);
}

static bool make_text_test(struct made *m)
{
	static const char *const ops[] = { "==", "!=", "=~" };
	unsigned int i = below(TEXTS), op = below(3), len = 0, k;
	const char *text = texts[i].text ? texts[i].text : "lost";
	char other[32], quoted[68];

	for (k = 0; text[k]; k++)
		if (op == 2 && !below(3))
			other[len++] = below(2) ? '*' : '?';
		else if (below(20))
			other[len++] = text[k];
	other[len] = 0;
	for (k = len = 0, quoted[len++] = '"'; other[k]; quoted[len++] = other[k++])
		if (other[k] == '"' || other[k] == '\\')
			quoted[len++] = '\\';
	strcpy(quoted + len, "\"");
	put(m, texts[i].name);
	put(m, ops[op]);
	put(m, quoted);
	if (!texts[i].text)
		return false;
	return op == 2 ? fits(other, text) : !strcmp(other, text) == !op;
}

static wide make_test(struct made *m, unsigned int level)
{
	unsigned int i = below(8);
	wide a, b;

	if (!below(5))
		return below(2) ? make_real_test(m) : make_text_test(m);
	a = make_bits(m, level);
	if (i > 5)
		return a;
	put(m, signs[i]);
	b = make_bits(m, level);
	if (a == UNKNOWN || b == UNKNOWN)
		return 0;
	return i == 0 ? a == b : i == 1 ? a != b : i == 2 ? a <= b : i == 3 ? a >= b : i == 4 ? a < b : a > b;
}

static wide make_all(struct made *m, unsigned int level)
{
	wide v = make_test(m, level), other;

	while (!below(3)) {
		put(m, "&&");
		other = make_test(m, level);
		v = is_true(v) && is_true(other);
	}
	return v;
}

static wide make(struct made *m, unsigned int level)
{
	wide v = make_all(m, level), other;

	while (!below(3)) {
		put(m, "||");
		other = make_all(m, level);
		v = is_true(v) || is_true(other);
	}
	return v;
}

static void test_random(void)
{
	unsigned int i, good = 0, held = 0;
	struct jf_choice c;
	struct made m;
	bool want;

	for (i = 0; i < ROUNDS; i++) {
		strcpy(m.text, "if ");
		m.len = 3;
		want = is_true(make(&m, below(4)));
		if (m.len >= JF_CHOICE_MAX)
			continue;
		if (parse(&c, m.text, &names)) {
			CHECK(strstr(c.why, "too long") || strstr(c.why, "within brackets"), "%s: %s", m.text, c.why);
			continue;
		}
		good++;
		held += want;
		CHECK(holds(&c) == want, "%s", m.text);
	}
	CHECK(good > ROUNDS / 2 && held > good / 4 && held < good / 4 * 3, "%u of %d were tried, %u hold", good, ROUNDS, held);
	finish("random expressions have the value that they are to have");
}

static void test_damaged(void)
{
	static const char letters[] = "ifevrymax 0129xb()[]!&|=<>-us.e\"~\\*\xff\n%";
	unsigned int i, k, refused = 0;
	struct jf_choice c;
	struct made m;

	for (i = 0; i < ROUNDS; i++) {
		strcpy(m.text, "if ");
		m.len = 3;
		make(&m, 2);
		for (k = below(5); k; k--) {
			size_t at = below((unsigned int)m.len);

			if (below(2))
				m.text[at] = letters[below(sizeof(letters) - 1)];
			else
				m.text[at] = 0;
		}
		refused += !!parse(&c, m.text, below(2) ? &names : NULL);
		holds(&c);
	}
	CHECK(refused > ROUNDS / 4, "%u were refused", refused);
	finish("damaged texts are refused, or are programs");
}

int main(void)
{
	printf("TAP version 13\n");
	test_meanings();
	test_errors();
	test_begin();
	test_turns();
	test_random();
	test_damaged();
	return tap_end();
}
