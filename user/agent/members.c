// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Records with members of structures that arguments lead to. If a number among them cannot be
 * read, the record has texts in place of all of them.
 */
#include "ring.h"
#include "members.h"
#include "memory.h"
#include "spot.h"
#include "value.h"

#include <jumpfunc/trace_event.h>

#include "user/trace/choice.h"
#include "user/trace/pattern.h"

/* Of a number as a text, with its end. */
#define NUMBER_TEXT	48

/**
 * struct gathered - members of a record, and texts
 * @number: members that are numbers, by their place among all
 * @known:  a bit for each of these that could be read
 * @whole:  all of them could
 * @len:    bytes of texts
 */
struct gathered {
	uint64_t	number[JF_SHOWN_MAX];
	uint32_t	known;
	bool		whole;
	unsigned int	len;
};

static void gather(struct gathered *g, const struct jf_shown *shown, const uint64_t *reg, char *text, unsigned int size)
{
	const struct jf_shown_member *m;
	unsigned int i;

	g->len = g->known = 0;
	g->whole = true;
	for (i = 0; i < JF_REGISTERS; i++)
		if (shown->strings >> i & 1)
			g->len += jf_memory_string(text + g->len, size, reg[i]);
	for (i = 0; i < shown->num; i++) {
		m = &shown->member[i];
		if (jf_shown_is_text(m))
			g->len += jf_memory_member_text(m->path, reg[m->path->reg], text + g->len, size);
		else if (jf_memory_member(m->path, reg[m->path->reg], &g->number[i]))
			g->known |= 1U << i;
		else
			g->whole = false;
	}
}

static void put_numbers(const struct gathered *g, const struct jf_shown *shown, char *at)
{
	const struct jf_shown_member *m;
	unsigned int i;

	for (i = 0; i < shown->num; i++) {
		m = &shown->member[i];
		if (!jf_shown_is_text(m))
			jf_put(at + m->at, &(struct jf_operand){ .size = m->path->bits ? 8 : m->path->size }, g->number[i]);
	}
}

/* Of @base, at least so many of them. */
static unsigned int put_digits(char *to, uint64_t v, unsigned int base, unsigned int least)
{
	char digits[24];
	unsigned int n = 0, len = 0;

	for (; v || n < least; v /= base)
		digits[n++] = "0123456789abcdef"[v % base];
	while (n)
		to[len++] = digits[--n];
	return len;
}

static unsigned int put_hex(char *to, uint64_t v)
{
	to[0] = '0';
	to[1] = 'x';
	return 2 + put_digits(to + 2, v, 16, 1);
}

/* Nine digits after the point, if these are all; else the bits of the number. */
static unsigned int put_real(char *to, uint64_t bits)
{
	const uint64_t more = UINT64_C(1000000000);
	struct jf_choice_real r = jf_choice_split(bits);
	unsigned int power = bits >> 52 & 0x7ff, n = 0;
	uint64_t part = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52, below;

	/* A rest of more than 52 bits has more digits than nine. */
	if (r.huge || (r.rest && power < 1023 - 9))
		return put_hex(to, bits);
	below = !r.rest ? 0 : power < 1023 ? part >> (1023 - 1 - power) : part << (power - 1022) & ((UINT64_C(1) << 53) - 1);
	/* 53 bits after the point, of which 44 have to be 0. */
	if (below & ((UINT64_C(1) << 44) - 1) || (power < 1023 && r.rest && part & ((UINT64_C(1) << (1022 - power)) - 1)))
		return put_hex(to, bits);
	if (r.negative)
		to[n++] = '-';
	n += put_digits(to + n, r.whole, 10, 1);
	if (!below)
		return n;
	to[n++] = '.';
	n += put_digits(to + n, (below >> 44) * (more >> 9), 10, 9);
	while (to[n - 1] == '0')
		n--;
	return n;
}

static unsigned int put_integer(char *to, const struct jf_shown_member *m, uint64_t v)
{
	struct jf_choice_value value = jf_choice_cast(v, m->path->bits ? 8 : m->path->size, m->path->sign);
	const struct jf_event_label *l;
	unsigned int n;

	for (l = m->field->labels; l && l->name; l++)
		if ((uint64_t)l->first == value.bits) {
			for (n = 0; l->name[n] && n < NUMBER_TEXT - 1; n++)
				to[n] = l->name[n];
			return n;
		}
	if (!value.negative)
		return put_digits(to, value.bits, 10, 1);
	*to = '-';
	return 1 + put_digits(to + 1, -value.bits, 10, 1);
}

static unsigned int put_number_text(char *to, const struct jf_shown_member *m, uint64_t v)
{
	unsigned int n;

	if (m->field->class_ == 8)
		n = put_real(to, jf_choice_widen(v, m->path->size));
	else if (m->field->class_ == 5)
		n = put_hex(to, v);
	else
		n = put_integer(to, m, v);
	to[n] = 0;
	return n + 1;
}

/* A number could not be read: all of them are texts. Apart, as others need no such stack. */
__attribute__((__noinline__))
static void record_texts(const struct gathered *g, const struct jf_shown *shown, const char *text, jf_plain_fn *plain, const void *arg)
{
	char numbers[JF_SHOWN_MAX * NUMBER_TEXT], *at;
	const struct jf_shown_member *m;
	unsigned int len = 0, i;
	__JF_SLOT(slot);

	for (i = 0; i < shown->num; i++) {
		m = &shown->member[i];
		if (!jf_shown_is_text(m))
			len += g->known >> i & 1 ? put_number_text(numbers + len, m, g->number[i]) : jf_word(numbers + len, jf_memory_unknown());
	}
	at = (char *)__jf_reserve(&slot, (uint64_t)shown->plain + g->len + len, shown->text_id);
	if (!at)
		return;
	plain(at, arg);
	for (i = 0; i < g->len; i++)
		at[shown->plain + i] = text[i];
	for (i = 0; i < len; i++)
		at[shown->plain + g->len + i] = numbers[i];
	slot.id = shown->text_id;
}

/* Apart, as others need no such stack. */
__attribute__((__noinline__))
static void shown_into(char *text, unsigned int size, const struct jf_shown *shown, const uint64_t *reg, jf_plain_fn *plain,
		       const void *arg)
{
	struct gathered g;
	unsigned int i;
	__JF_SLOT(slot);
	char *at;

	gather(&g, shown, reg, text, size);
	if (!g.whole) {
		record_texts(&g, shown, text, plain, arg);
		return;
	}
	at = (char *)__jf_reserve(&slot, (uint64_t)shown->size + g.len, shown->id);
	if (!at)
		return;
	plain(at, arg);
	put_numbers(&g, shown, at);
	for (i = 0; i < g.len; i++)
		at[shown->size + i] = text[i];
	slot.id = shown->id;
}

__attribute__((__noinline__))
static void shown_nested(const struct jf_shown *shown, const uint64_t *reg, jf_plain_fn *plain, const void *arg)
{
	char text[JF_STRINGS_MAX * JF_STRING_NESTED];

	shown_into(text, JF_STRING_NESTED, shown, reg, plain, arg);
}

void jf_members_record(const struct jf_shown *shown, const uint64_t *reg, jf_plain_fn *plain, const void *arg)
{
	char *text = jf_scratch_take();

	if (!text) {
		shown_nested(shown, reg, plain, arg);
		return;
	}
	shown_into(text, JF_STRING_SIZE, shown, reg, plain, arg);
	jf_scratch_give();
}
