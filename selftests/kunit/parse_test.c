// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-parse: kernel/parse/parse.c, the commands for files of debugfs.
 *
 * Proves: tables of good and bad commands give the words, the numbers or
 * the error that docs/debugfs.md promises; a refused number leaves the caller's
 * alone; a list is read to its end, or to its first bad word, and no further;
 * nothing after the command's end is touched.
 */
#include "jfk.h"

#include "../../kernel/parse/parse.c"

#include <linux/string_helpers.h>

/* The name of a case is one line of printable characters. */
static void quoted(const char *text, char *to, size_t size)
{
	int n = string_escape_str(text, to + 1, size - 3,
				  ESCAPE_SPACE | ESCAPE_HEX | ESCAPE_NP, NULL);

	to[0] = '\'';
	to[n + 1] = '\'';
	to[n + 2] = '\0';
	/* In TAP that begins a directive: the kernel's parser would lose the test. */
	strreplace(to, '#', '.');
}

/* --- from bytes to a string -------------------------------------------- */

struct command_vector {
	const char	*name;
	const char	*bytes;
	size_t		len;
	int		err;
	const char	*text;
};

#define COMMAND(name, bytes, err, text) { name, bytes, sizeof(bytes) - 1, err, text }

static const struct command_vector commands[] = {
	COMMAND("one digit", "1", 0, "1"),
	COMMAND("a newline is removed", "1\n", 0, "1"),
	COMMAND("only one newline is removed", "1\n\n", 0, "1\n"),
	COMMAND("a newline in the middle stays", "a\nb", 0, "a\nb"),
	COMMAND("a newline alone", "\n", 0, ""),
	COMMAND("nothing", "", 0, ""),
	COMMAND("spaces stay", " 1 ", 0, " 1 "),
	COMMAND("a NUL hides nothing", "1\0002", -EINVAL, NULL),
	COMMAND("a NUL at the end", "1\0", -EINVAL, NULL),
	COMMAND("a NUL in front", "\0001", -EINVAL, NULL),
	COMMAND("a NUL before the newline", "1\0\n", -EINVAL, NULL),
	COMMAND("bytes above 127", "\xff\xfe\n", 0, "\xff\xfe"),
};

static void command_desc(const struct command_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(command, commands, command_desc);

static void command(struct kunit *test)
{
	const struct command_vector *v = test->param_value;
	/* A NUL after it, as promised, and something that must not change. */
	char *buf = kunit_kzalloc(test, v->len + 3, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	memcpy(buf, v->bytes, v->len);
	buf[v->len + 1] = 'x';
	KUNIT_EXPECT_EQ(test, jf_parse_command(buf, v->len), v->err);
	if (!v->err)
		KUNIT_EXPECT_STREQ(test, buf, v->text);
	else
		KUNIT_EXPECT_EQ(test, memcmp(buf, v->bytes, v->len), 0);
	KUNIT_EXPECT_EQ(test, buf[v->len + 1], 'x');
}

/* --- numbers ----------------------------------------------------------- */

struct number_vector {
	const char	*text;
	unsigned int	max;
	int		err;
	unsigned int	num;
};

static const struct number_vector numbers[] = {
	{ "0", 0, 0, 0 },
	{ "0", 2, 0, 0 },
	{ "2", 2, 0, 2 },
	{ "3", 2, -EINVAL },
	{ "9", 8, -EINVAL },
	{ "16", 16, 0, 16 },
	{ "17", 16, -EINVAL },
	{ "10", 9, -EINVAL },
	{ "99", 98, -EINVAL },
	{ "160", 16, -EINVAL },
	{ "4294967295", UINT_MAX, 0, UINT_MAX },
	{ "4294967294", UINT_MAX, 0, UINT_MAX - 1 },
	/* These would wrap around to 0, 1 and 2. */
	{ "4294967296", UINT_MAX, -EINVAL },
	{ "4294967297", 2, -EINVAL },
	{ "42949672960", UINT_MAX, -EINVAL },
	{ "18446744073709551616", UINT_MAX, -EINVAL },
	{ "18446744073709551618", 2, -EINVAL },
	{ "99999999999999999999999999", UINT_MAX, -EINVAL },
	{ "", UINT_MAX, -EINVAL },
	{ "00", UINT_MAX, -EINVAL },
	{ "01", UINT_MAX, -EINVAL },
	{ "-1", UINT_MAX, -EINVAL },
	{ "-0", UINT_MAX, -EINVAL },
	{ "+1", UINT_MAX, -EINVAL },
	{ " 1", UINT_MAX, -EINVAL },
	{ "1 ", UINT_MAX, -EINVAL },
	{ "1\n", UINT_MAX, -EINVAL },
	{ "1\t2", UINT_MAX, -EINVAL },
	{ "0x1", UINT_MAX, -EINVAL },
	{ "1a", UINT_MAX, -EINVAL },
	{ "a", UINT_MAX, -EINVAL },
	{ "/", UINT_MAX, -EINVAL },
	{ ":", UINT_MAX, -EINVAL },
	{ "\xb1", UINT_MAX, -EINVAL },
};

static void number_desc(const struct number_vector *v, char *desc)
{
	int n = snprintf(desc, KUNIT_PARAM_DESC_SIZE, "up to %u, ", v->max);

	quoted(v->text, desc + n, KUNIT_PARAM_DESC_SIZE - n);
}
KUNIT_ARRAY_PARAM(number, numbers, number_desc);

static void number(struct kunit *test)
{
	const struct number_vector *v = test->param_value;
	unsigned int num = 0x5a5a5a5a;

	KUNIT_EXPECT_EQ(test, jf_parse_number(v->text, v->max, &num), v->err);
	KUNIT_EXPECT_EQ(test, num, v->err ? 0x5a5a5a5a : v->num);
}

/* Each limit takes each number up to it, and none above. */
static void number_limits(struct kunit *test)
{
	unsigned int max, n, wrong = 0;
	char text[12];

	for (max = 0; max < 130; max++) {
		for (n = 0; n < 1300; n++) {
			unsigned int num = UINT_MAX;
			int err;

			snprintf(text, sizeof(text), "%u", n);
			err = jf_parse_number(text, max, &num);
			wrong += err != (n <= max ? 0 : -EINVAL);
			wrong += num != (n <= max ? n : UINT_MAX);
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

/* --- assignments ------------------------------------------------------- */

#define WORDS	3

struct list_vector {
	const char	*text;
	/* The results, one after the other, and their end. */
	struct jf_assignment out[WORDS];
	int		end;
};

static const struct list_vector lists[] = {
	{ "a=b", { { NULL, "a", "b" } } },
	{ "func2=jf_func2_1", { { NULL, "func2", "jf_func2_1" } } },
	{ "m:a=b", { { "m", "a", "b" } } },
	{ "a=b c=d", { { NULL, "a", "b" }, { NULL, "c", "d" } } },
	{ "a=b\nc=d\te=f", { { NULL, "a", "b" }, { NULL, "c", "d" }, { NULL, "e", "f" } } },
	{ "  a=b  \n m:c=d \t", { { NULL, "a", "b" }, { "m", "c", "d" } } },
	/* Only the first '=' and the first ':' on its left mean anything. */
	{ "a=b=c", { { NULL, "a", "b=c" } } },
	{ "a==", { { NULL, "a", "=" } } },
	{ "a=b:c", { { NULL, "a", "b:c" } } },
	{ "a=:", { { NULL, "a", ":" } } },
	{ "m:a=b:c=d", { { "m", "a", "b:c=d" } } },
	{ "m:a:b=c", { { "m", "a:b", "c" } } },
	{ "a\r=b", { { NULL, "a\r", "b" } } },
	{ "a#2=b", { { NULL, "a", "b", 2 } } },
	{ "m:a#10=b#1 c=d", { { "m", "a", "b#1", 10 }, { NULL, "c", "d" } } },
	{ "m#1:a=b", { { "m#1", "a", "b" } } },
	{ "", { } },
	{ " ", { } },
	{ "\n\t \n", { } },
	{ "a", { }, -EINVAL },
	{ "=", { }, -EINVAL },
	{ "a=", { }, -EINVAL },
	{ "=b", { }, -EINVAL },
	{ ":=b", { }, -EINVAL },
	{ ":a=b", { }, -EINVAL },
	{ "m:=b", { }, -EINVAL },
	{ "m:a=", { }, -EINVAL },
	{ "a =b", { }, -EINVAL },
	{ "a= b", { }, -EINVAL },
	{ "a=b c", { { NULL, "a", "b" } }, -EINVAL },
	{ "a=b c= d=e", { { NULL, "a", "b" } }, -EINVAL },
	{ "a=b =", { { NULL, "a", "b" } }, -EINVAL },
	{ "m:a", { }, -EINVAL },
	{ "m:a#=b", { }, -EINVAL },
	{ "m:a#0=b", { }, -EINVAL },
	{ "m:a#01=b", { }, -EINVAL },
	{ "m:a#x=b", { }, -EINVAL },
	{ "m:a#1#2=b", { }, -EINVAL },
	{ "m:a#4294967296=b", { }, -EINVAL },
	{ "m:#1=b", { }, -EINVAL },
};

static void list_desc(const struct list_vector *v, char *desc)
{
	quoted(v->text, desc, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(list, lists, list_desc);

static void list(struct kunit *test)
{
	const struct list_vector *v = test->param_value;
	char *buf = kunit_kzalloc(test, strlen(v->text) + 3, GFP_KERNEL);
	char *rest = buf;
	struct jf_assignment a;
	unsigned int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	strcpy(buf, v->text);
	buf[strlen(v->text) + 1] = 'x';
	for (i = 0; i < WORDS && v->out[i].name; i++) {
		KUNIT_ASSERT_EQ(test, jf_parse_assignment(&rest, &a), 1);
		KUNIT_EXPECT_EQ(test, !a.module, !v->out[i].module);
		if (a.module && v->out[i].module)
			KUNIT_EXPECT_STREQ(test, a.module, v->out[i].module);
		KUNIT_EXPECT_STREQ(test, a.name, v->out[i].name);
		KUNIT_EXPECT_STREQ(test, a.target, v->out[i].target);
		KUNIT_EXPECT_EQ(test, a.rank, v->out[i].rank);
	}
	KUNIT_EXPECT_EQ(test, jf_parse_assignment(&rest, &a), v->end);
	if (!v->end)
		/* The end stays the end. */
		KUNIT_EXPECT_EQ(test, jf_parse_assignment(&rest, &a), 0);
	KUNIT_EXPECT_TRUE(test, rest <= buf + strlen(v->text));
	KUNIT_EXPECT_EQ(test, buf[strlen(v->text) + 1], 'x');
}

struct pattern_vector {
	const char		*text;
	struct jf_pattern	out[WORDS];
	int			end;
};

static const struct pattern_vector patterns[] = {
	{ "+a:b:c:d", { { 1, "a", "b", "c", "d" } } },
	{ "-a:b:c:d", { { 0, "a", "b", "c", "d" } } },
	{ "+:::", { { 1, "*", "*", "*", "*" } } },
	{ "+a:::d", { { 1, "a", "*", "*", "d" } } },
	{ "+a-b:c+d:+:-", { { 1, "a-b", "c+d", "+", "-" } } },
	{ " +a:b:c:d\n-e:f:g:h ", { { 1, "a", "b", "c", "d" }, { 0, "e", "f", "g", "h" } } },
	{ "", { } },
	{ " \t", { } },
	{ "a:b:c:d", { }, -EINVAL },
	{ ":b:c:d", { }, -EINVAL },
	{ "+", { }, -EINVAL },
	{ "+a", { }, -EINVAL },
	{ "+a:b:c", { }, -EINVAL },
	{ "+a:b:c:d:e", { }, -EINVAL },
	{ "+a:b:c:", { { 1, "a", "b", "c", "*" } } },
	{ "+ a:b:c:d", { }, -EINVAL },
	{ "+a:b:c:d e", { { 1, "a", "b", "c", "d" } }, -EINVAL },
};

static void pattern_desc(const struct pattern_vector *v, char *desc)
{
	quoted(v->text, desc, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(pattern, patterns, pattern_desc);

static void pattern(struct kunit *test)
{
	const struct pattern_vector *v = test->param_value;
	char *buf = kunit_kzalloc(test, strlen(v->text) + 3, GFP_KERNEL);
	char *rest = buf;
	struct jf_pattern p;
	unsigned int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	strcpy(buf, v->text);
	buf[strlen(v->text) + 1] = 'x';
	for (i = 0; i < WORDS && v->out[i].name; i++) {
		KUNIT_ASSERT_EQ(test, jf_parse_pattern(&rest, &p), 1);
		KUNIT_EXPECT_EQ(test, p.on, v->out[i].on);
		KUNIT_EXPECT_STREQ(test, p.provider, v->out[i].provider);
		KUNIT_EXPECT_STREQ(test, p.module, v->out[i].module);
		KUNIT_EXPECT_STREQ(test, p.function, v->out[i].function);
		KUNIT_EXPECT_STREQ(test, p.name, v->out[i].name);
	}
	KUNIT_EXPECT_EQ(test, jf_parse_pattern(&rest, &p), v->end);
	KUNIT_EXPECT_EQ(test, buf[strlen(v->text) + 1], 'x');
}

static void fits(struct kunit *test)
{
	static const struct { const char *s, *pattern; int fits; } v[] = {
		{ "", "", 1 }, { "", "*", 1 }, { "", "**", 1 }, { "", "?", 0 },
		{ "a", "", 0 }, { "a", "a", 1 }, { "a", "b", 0 }, { "a", "?", 1 },
		{ "ab", "a", 0 }, { "a", "ab", 0 }, { "ab", "?", 0 },
		{ "abc", "a*c", 1 }, { "abc", "*b*", 1 }, { "abc", "*bc", 1 },
		{ "abcbc", "a*bc", 1 }, { "abcbd", "a*bc", 0 },
		{ "abab", "*ab", 1 }, { "aaab", "*a?b", 1 }, { "a*b", "a*b", 1 },
		{ "mississippi", "m*iss*i", 1 }, { "mississippi", "m*iss*s", 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(v); i++)
		KUNIT_EXPECT_EQ_MSG(test, !!jf_parse_fits(v[i].s, v[i].pattern),
				    v[i].fits, "%s, %s", v[i].s, v[i].pattern);
}

static struct kunit_case parse_cases[] = {
	KUNIT_CASE_PARAM(command, command_gen_params),
	KUNIT_CASE_PARAM(number, number_gen_params),
	KUNIT_CASE(number_limits),
	KUNIT_CASE_PARAM(list, list_gen_params),
	KUNIT_CASE_PARAM(pattern, pattern_gen_params),
	KUNIT_CASE(fits),
	{}
};

static struct kunit_suite parse_suite = {
	.name = "jumpfunc-parse",
	.test_cases = parse_cases,
};
JFK_SUITES(&parse_suite);
