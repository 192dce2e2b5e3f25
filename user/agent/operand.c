// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A note's arguments, as the assembler has them: size, an @, and an operand, with blanks in
 * between.
 *
 *   -4@%eax   8@$17   8@-80(%rbx)   4@8(%rax,%rcx,4)   1@%ah   8f@%xmm0
 *
 * A number with a negative size is signed; with an f it is a float or a double. An operand that
 * cannot be read has a place in the list all the same, so that the numbers of the others stay:
 * names of symbols.
 */
#include "operand.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>

/* By number, each with the names of its 8, 4, 2 bytes and 1 byte. */
static const char *const names[16][4] = {
	{ "rax", "eax", "ax", "al" }, { "rcx", "ecx", "cx", "cl" }, { "rdx", "edx", "dx", "dl" },
	{ "rbx", "ebx", "bx", "bl" }, { "rsp", "esp", "sp", "spl" }, { "rbp", "ebp", "bp", "bpl" },
	{ "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" }, { "r8", "r8d", "r8w", "r8b" },
	{ "r9", "r9d", "r9w", "r9b" }, { "r10", "r10d", "r10w", "r10b" },
	{ "r11", "r11d", "r11w", "r11b" }, { "r12", "r12d", "r12w", "r12b" },
	{ "r13", "r13d", "r13w", "r13b" }, { "r14", "r14d", "r14w", "r14b" },
	{ "r15", "r15d", "r15w", "r15b" },
};

static bool is_end(char c)
{
	return !c || c == ' ' || c == ',' || c == ')';
}

static bool word(const char **p, const char *w)
{
	size_t len = strlen(w);

	if (strncmp(*p, w, len) || !is_end((*p)[len]))
		return false;
	*p += len;
	return true;
}

/* After the '%'. @wide: one of 8 bytes, as in an address. */
static bool reg(const char **p, bool wide, uint8_t *nr, uint8_t *shift)
{
	static const char *const high[4] = { "ah", "ch", "dh", "bh" };
	unsigned int i, k;

	if (**p != '%')
		return false;
	++*p;
	for (i = 0; i < 16; i++)
		for (k = 0; k < (wide ? 1 : 4); k++)
			if (word(p, names[i][k])) {
				*nr = (uint8_t)i;
				return true;
			}
	for (i = 0; i < 4 && !wide; i++)
		if (word(p, high[i])) {
			*nr = (uint8_t)i;
			*shift = 8;
			return true;
		}
	return false;
}

static bool number(const char **p, int64_t *value)
{
	char *end;

	if (**p != '-' && **p != '+' && (**p < '0' || **p > '9'))
		return false;
	errno = 0;
	/* An unsigned one of 64 bits is as good. */
	*value = **p == '-' ? strtoll(*p, &end, 0) : (int64_t)strtoull(*p, &end, 0);
	if (errno || end == *p)
		return false;
	*p = end;
	return true;
}

/* disp(base,index,scale), each of which may be left out. */
static bool memory(const char **p, struct jf_operand *o)
{
	uint8_t shift;
	int64_t scale;

	o->kind = JF_OPERAND_MEM;
	o->base = o->index = JF_REG_NONE;
	o->scale = 1;
	if (**p != '(' && !number(p, &o->disp))
		return false;
	if (o->disp != (int32_t)o->disp || **p != '(')
		return false;
	++*p;
	if (**p == '%' && !reg(p, true, &o->base, &shift))
		return false;
	if (**p == ',') {
		++*p;
		if (!reg(p, true, &o->index, &shift))
			return false;
		if (**p == ',') {
			++*p;
			if (!number(p, &scale) || (scale != 1 && scale != 2 && scale != 4 && scale != 8))
				return false;
			o->scale = (uint8_t)scale;
		}
	}
	if (**p != ')' || (o->base == JF_REG_NONE && o->index == JF_REG_NONE))
		return false;
	++*p;
	return true;
}

/* The value of a float or a double is the register's low part. */
static bool vector(const char **p, struct jf_operand *o)
{
	char *end;
	unsigned long nr;

	if (!o->real || strncmp(*p, "%xmm", 4) || (*p)[4] < '0' || (*p)[4] > '9')
		return false;
	nr = strtoul(*p + 4, &end, 10);
	if (nr > 15 || !is_end(*end))
		return false;
	*p = end;
	o->kind = JF_OPERAND_VECTOR;
	o->base = (uint8_t)nr;
	return true;
}

static bool operand(const char **p, struct jf_operand *o)
{
	if (vector(p, o))
		return true;
	if (**p == '$') {
		++*p;
		o->kind = JF_OPERAND_CONST;
		return !o->real && number(p, &o->disp);
	}
	if (**p == '%') {
		o->kind = JF_OPERAND_REG;
		return reg(p, false, &o->base, &o->shift);
	}
	return memory(p, o);
}

static bool size(const char **p, struct jf_operand *o)
{
	const char *q = *p;
	int64_t n;

	o->size = 8;
	/* Very old ones have none. */
	if (!strchr("-0123456789", *q))
		return true;
	if (!number(&q, &n) || (*q != '@' && (*q != 'f' || q[1] != '@')))
		return *q == '(';
	o->real = *q == 'f';
	*p = q + 1 + o->real;
	o->sign = n < 0;
	n = n < 0 ? -n : n;
	if (o->real && n != 4 && n != 8)
		n = 0;
	o->size = n == 1 || n == 2 || n == 4 || n == 8 ? (uint8_t)n : 0;
	return o->size;
}

/**
 * jf_operands() - take a note's arguments apart
 * @args:    as the note has them
 * @out:     is filled in; JF_OPERAND_NONE for one that cannot be read
 * @max:     of @out
 *
 * Return: how many there are, at most @max
 */
int jf_operands(const char *args, struct jf_operand *out, int max)
{
	int nr = 0;

	for (;;) {
		struct jf_operand *o;

		while (*args == ' ')
			args++;
		if (!*args || nr == max)
			return nr;
		o = &out[nr++];
		memset(o, 0, sizeof(*o));
		if (!size(&args, o) || !operand(&args, o) || (*args && *args != ' '))
			o->kind = JF_OPERAND_NONE;
		while (*args && *args != ' ')
			args++;
	}
}
