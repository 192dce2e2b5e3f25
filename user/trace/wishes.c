// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Patterns that were switched on and off: see wishes.h. */
#include "wishes.h"
#include "glob.h"

#include <stdlib.h>
#include <string.h>

static const char special[] = "*?[\\";

/**
 * struct part - of a pattern: the group, or the name
 * @text: the begin of it
 * @len:  of @text
 */
struct part {
	const char	*text;
	size_t		len;
};

/* Without a group it is any. */
static struct part group_of(const struct jf_wish *w)
{
	const char *end = jf_group_end(w->glob);

	return end ? (struct part){ w->glob, (size_t)(end - w->glob) } : (struct part){ "*", 1 };
}

static struct part name_of(const struct jf_wish *w)
{
	const char *end = jf_group_end(w->glob), *name = end ? end + 1 : w->glob;

	return (struct part){ name, strlen(name) };
}

/* The characters before the first sign of a pattern. */
static size_t prefix(struct part p)
{
	size_t len = strcspn(p.text, special);

	return len < p.len ? len : p.len;
}

/* True if @a matches all names of @b. False, too, where that is not easily seen. */
static bool part_covers(struct part a, struct part b)
{
	size_t len = prefix(a);

	if (a.len == b.len && !memcmp(a.text, b.text, a.len))
		return true;
	/* A text and a star. */
	return a.len == len + 1 && a.text[len] == '*' && prefix(b) >= len && !memcmp(a.text, b.text, len);
}

static bool covers(const struct jf_wish *a, const struct jf_wish *b)
{
	if (a->kind != JF_KIND_ANY && a->kind != b->kind)
		return false;
	/* Most are names. */
	if (a->plain && (!b->plain || a->hash != b->hash))
		return false;
	return part_covers(group_of(a), group_of(b)) && part_covers(name_of(a), name_of(b));
}

/*
 * A function of C++ has several names: its symbol, and names with and without parameters.
 * All begin alike but the symbol's, and the one with a type of return, which templates have.
 */
static bool has_one_name(struct part p)
{
	return prefix(p) == p.len && strncmp(p.text, "_Z", 2) && p.len && !memchr(p.text, '<', p.len) &&
	       !memchr(p.text, '(', p.len) && !memchr(p.text, ' ', p.len);
}

/*
 * True if no name matches both. False, too, where that is not easily seen. Groups do not count: an
 * object can have two names.
 */
static bool are_apart(const struct jf_wish *a, const struct jf_wish *b)
{
	struct part one = name_of(a), other = name_of(b);
	size_t len;

	if (a->kind != b->kind && a->kind != JF_KIND_ANY && b->kind != JF_KIND_ANY)
		return true;
	if (!has_one_name(one)) {
		one = other;
		other = name_of(a);
	}
	if (!has_one_name(one))
		return false;
	if (has_one_name(other))
		return one.len != other.len || memcmp(one.text, other.text, one.len);
	len = prefix(other);
	/* It can be a symbol's name. */
	if (!strncmp(other.text, "_Z", len < 2 ? len : 2))
		return false;
	return memcmp(one.text, other.text, one.len < len ? one.len : len);
}

/* True if an older one may switch names on that this one switches off. */
static bool is_needed(const struct jf_wish *off, const struct jf_wish *older)
{
	while (older && (!older->on || are_apart(off, older)))
		older = older->next;
	return older;
}

static void take_needless(struct jf_wish **list, const struct jf_wish *gone)
{
	struct jf_wish **p, *w;

	for (p = list; gone && (w = *p);) {
		if (w->on || !is_needed(w, gone) || is_needed(w, w->next)) {
			p = &w->next;
			continue;
		}
		*p = w->next;
		free(w);
	}
}

/* Where the next text is to be. All is 0 there already. */
static char *put(char *to, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (len)
		memcpy(to, text, len);
	return to + len + 1;
}

static size_t size_of(const char *text)
{
	return (text ? strlen(text) : 0) + 1;
}

struct jf_wish *jf_wish_new(enum jf_kind kind, const char *glob, const char *choice, const char *members, bool on)
{
	struct jf_wish *w = calloc(1, sizeof(*w) + size_of(glob) + size_of(choice) + size_of(members));
	const char *name;

	if (!w)
		return NULL;
	w->kind = kind;
	w->on = on;
	w->plain = !strpbrk(glob, special);
	w->choice = put(w->glob, glob);
	w->members = put(w->glob + size_of(glob), choice);
	put(w->glob + size_of(glob) + size_of(choice), members);
	w->hash = 5381;
	for (name = name_of(w).text; *name; name++)
		w->hash = w->hash * 33 + (unsigned char)*name;
	return w;
}

void jf_wish_add(struct jf_wish **list, struct jf_wish *new)
{
	struct jf_wish **p = list, *w, *gone = NULL;

	while ((w = *p)) {
		if (!covers(new, w)) {
			p = &w->next;
			continue;
		}
		*p = w->next;
		w->next = gone;
		gone = w;
	}
	/* Those that were off because of it. */
	take_needless(list, gone);
	jf_wishes_forget(&gone);
	if (!new->on && !is_needed(new, *list)) {
		free(new);
		return;
	}
	new->next = *list;
	*list = new;
}

void jf_wishes_forget(struct jf_wish **list)
{
	struct jf_wish *w;

	while ((w = *list)) {
		*list = w->next;
		free(w);
	}
}
