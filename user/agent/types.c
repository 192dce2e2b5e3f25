// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Results of debug information, from jf-trace: a file with a line for each function's arguments, or
 * for its name. JUMPFUNC_AGENT_TYPES names the file.
 *
 *   /usr/bin/mill 1a40 ret=-4@%rax order=8p@%rdi price=8f@%xmm0 how=4@%rsi{FAST:0,SLOW:1}
 *
 * The path of an object, where the function begins in it, and for each argument its name, size
 * and place; a blank separates them. A '-' is a sign; 'p' a pointer, 's' one to a string, which is
 * recorded, too, 'f' a number with a point. The value in rax is the one that the function
 * returns; with 'f' it is in xmm0. Another line is not used at all.
 *
 * Memory that an argument leads to, for filters, has a path as its name and one offset from each
 * pointer on; 's' is a pointer to a string, 't' an array of characters, and 'b' a bit field: bytes,
 * shift, bits. A '?' has the reason after it why a path leads nowhere, with '_' for blanks:
 *
 *   order->count=-4@%rdi+8 order->next->paid=1b3.1@%rdi+24+16 order->prise=?there_is_no_'prise'
 *
 * Arguments in general registers stay where a record has these; the line says their name and how
 * many of the eight bytes count. Arguments in vector registers follow.
 *
 * A line with a name is for a function of a stripped file, whose debug file has the name: bytes of
 * the function, inode number and time of the stripped file, in hexadecimal digits, and the name:
 *
 *   /usr/bin/mill 1a40 +2c 1f0a3.6748a1b2.2faf0800 pay
 *
 * Another file of that path has other functions there.
 */
#include "types.h"
#include "module.h"
#include "elf.h"
#include "event.h"
#include "memory.h"
#include "spot.h"
#include "value.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jumpfunc/trace_event.h>

#include "user/trace/choice.h"
#include "user/trace/kind.h"

#define FILE_MAX	(64L << 20)
#define LABELS_MAX	64
/* Of a line: arguments, and the value that is returned. */
#define VALUES_MAX	(JF_REGISTERS + JF_VECTORS_MAX + 1)
/* Of a function: ip and caller are before these. */
#define FIRST		(JF_FUNCTION_FIELDS - JF_REGISTERS)
/* The place of the value that is returned: in rax, and in this field of a call. */
#define RETURNED	JF_REGISTERS
#define RETURNED_FIELD	JF_FUNCTION_FIELDS

/**
 * struct line - of the file
 * @path: of the object
 * @at:   where the function begins, from the object's own 0 on
 * @text: its arguments
 */
struct line {
	const char	*path;
	uint64_t	at;
	const char	*text;
};

/**
 * struct named - a line with a name
 * @path:   of the object
 * @stamp:  of its file
 * @symbol: the function
 */
struct named {
	const char		*path;
	struct jf_stamp		stamp;
	struct jf_symbol	symbol;
};

static struct line *lines;
static size_t nr_lines;
static struct named *named;
static size_t nr_named;
static bool any_strings;

static int compare(const void *x, const void *y)
{
	const struct line *a = (const struct line *)x, *b = (const struct line *)y;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* A hexadecimal number, and @end. */
static bool take_hex(char **text, char end, uint64_t *to)
{
	char *p = *text;

	*to = strtoull(p, text, 16);
	return *text != p && *(*text)++ == end;
}

/* By path; lines of one path keep their order. */
static int compare_named(const void *x, const void *y)
{
	const struct named *a = (const struct named *)x, *b = (const struct named *)y;
	int paths = strcmp(a->path, b->path);

	return paths ? paths : (a->path > b->path) - (a->path < b->path);
}

static void add_named(const char *path, uint64_t at, char *text)
{
	struct named n = { path, { 0, 0, 0 }, { NULL, at, 0, false } };

	if (!take_hex(&text, ' ', &n.symbol.size) || !take_hex(&text, '.', &n.stamp.inode) ||
	    !take_hex(&text, '.', &n.stamp.seconds) || !take_hex(&text, ' ', &n.stamp.nanoseconds) || !*text)
		return;
	n.symbol.name = text;
	named[nr_named++] = n;
}

static void add_line(char *text)
{
	char *args = strchr(text, ' ');
	struct line *l = &lines[nr_lines];

	if (*text != '/' || !args)
		return;
	*args++ = 0;
	l->path = text;
	if (!take_hex(&args, ' ', &l->at))
		return;
	if (*args == '+') {
		add_named(text, l->at, args + 1);
		return;
	}
	l->text = args;
	any_strings |= !!strstr(l->text, "=8s@");
	nr_lines++;
}

/* All of the file, which stays; NULL: it cannot be read. */
static char *read_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat st;
	size_t have = 0;
	ssize_t n;

	/* It says which memory is read: another user's file is not believed. */
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < FILE_MAX && (!st.st_uid || st.st_uid == geteuid()))
		/* Not malloc(): MemorySanitizer sees no store of this library. */
		text = calloc((size_t)st.st_size + 1, 1);
	while (text && have < (size_t)st.st_size && (n = read(fd, text + have, (size_t)st.st_size - have)) > 0)
		have += (size_t)n;
	if (fd >= 0)
		close(fd);
	return text;
}

/* A table without entries is no table. */
static void *kept(void *table, size_t num)
{
	if (num)
		return table;
	free(table);
	return NULL;
}

/* False: no line of it is used, and @text is freed. Else the lines have parts of it. */
static bool take_text(char *text)
{
	char *at, *next;
	size_t num = 1;

	for (at = text; at && *at; at++)
		num += *at == '\n';
	lines = text ? calloc(num, sizeof(*lines)) : NULL;
	named = lines ? calloc(num, sizeof(*named)) : NULL;
	for (at = text; named && at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = 0;
		add_line(at);
	}
	if (nr_lines)
		qsort(lines, nr_lines, sizeof(*lines), compare);
	if (nr_named)
		qsort(named, nr_named, sizeof(*named), compare_named);
	lines = kept(lines, nr_lines);
	named = kept(named, nr_named);
	if (nr_lines || nr_named)
		return true;
	free(text);
	return false;
}

/**
 * jf_types_begin() - read the file of arguments and names
 * @path: of the file, or NULL
 */
void jf_types_begin(const char *path)
{
	take_text(path ? read_all(path) : NULL);
}

/* The first one of a path, or of one that comes later. */
static size_t first_named(const char *path)
{
	size_t low = 0, high = nr_named, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (strcmp(named[mid].path, path) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/**
 * jf_types_names() - functions of an object that its debug file names, and not its own
 * @m:   the object, whose file is open
 * @fn:  is called for each; ends it by another value than 0
 * @arg: its last argument
 *
 * Return: 0, or what @fn returned
 */
int jf_types_names(const struct jf_module *m, jf_symbol_fn *fn, void *arg)
{
	size_t i;
	int ret = 0;

	for (i = first_named(m->path); i < nr_named && !ret && !strcmp(named[i].path, m->path); i++)
		if (!memcmp(&named[i].stamp, &m->stamp, sizeof(m->stamp)))
			ret = fn(&named[i].symbol, arg);
	return ret;
}

/**
 * jf_types_strings() - is a string recorded that no pattern asks for
 */
bool jf_types_strings(void)
{
	return any_strings;
}

/* --- a line --------------------------------------------------------------------------- */

static bool is_name(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= 'A' && text[i] <= 'Z') && text[i] != '_' &&
		    !(i && text[i] >= '0' && text[i] <= '9'))
			return false;
	return len;
}

/*
 * After the '%': the number of a general register among the registers of arguments, RETURNED, or
 * 16 plus the number of a vector register; -1: no such register.
 */
static int place(const char **text)
{
	static const char *const names[JF_REGISTERS + 1] = { "rdi", "rsi", "rdx", "rcx", "r8", "r9", [RETURNED] = "rax" };
	int i;

	for (i = 0; i <= RETURNED; i++)
		if (!strncmp(*text, names[i], strlen(names[i]))) {
			*text += strlen(names[i]);
			return i;
		}
	if (strncmp(*text, "xmm", 3) || (*text)[3] < '0' || (*text)[3] > '7')
		return -1;
	*text += 4;
	return 16 + (*text)[-1] - '0';
}

/* "{NAME:NUMBER,...}" */
static bool take_labels(const char **text, struct jf_event_field *f)
{
	struct jf_event_label *l = calloc(LABELS_MAX + 1, sizeof(*l));
	const char *p = *text;
	unsigned int nr;
	size_t len;
	char *end;

	f->labels = l;
	for (nr = 0; l && nr < LABELS_MAX && (*p == '{' || *p == ','); nr++) {
		len = strcspn(++p, ":");
		if (!is_name(p, len) || p[len] != ':')
			return false;
		l[nr].name = strndup(p, len);
		l[nr].first = l[nr].last = strtoll(p + len + 1, &end, 10);
		if (!l[nr].name || end == p + len + 1)
			return false;
		p = end;
	}
	*text = p + 1;
	return l && *p == '}';
}

/* Its name and its labels. */
static void forget_field(const struct jf_event_field *f)
{
	const struct jf_event_label *l;

	for (l = f->labels; l && l->name; l++)
		free((char *)(uintptr_t)l->name);
	free((struct jf_event_label *)(uintptr_t)f->labels);
	free((char *)(uintptr_t)f->name);
}

/**
 * struct argument - of a line
 * @field:  as the trace is told
 * @place:  as of place()
 * @string: it is one
 * @kept:   a probe has @field
 */
struct argument {
	struct jf_event_field	field;
	int			place;
	bool			string;
	bool			kept;
};

/* --- paths ---------------------------------------------------------------------------- */

static bool is_path(const char *text, size_t len)
{
	return len && jf_choice_path(text) == len && !is_name(text, len);
}

static bool take_number(const char **text, long low, long high, long *to)
{
	char *end;

	*to = strtol(*text, &end, 10);
	if (end == *text || *to < low || *to > high)
		return false;
	*text = end;
	return true;
}

/* "b3.1": a bit field. */
static bool take_bits(const char **text, struct jf_path *path)
{
	const char *p = *text + 1;
	long shift, bits;

	if (!take_number(&p, 0, 7, &shift) || *p++ != '.' || !take_number(&p, 1, 64, &bits) || shift + bits > 8 * path->size)
		return false;
	path->shift = (uint8_t)shift;
	path->bits = (uint8_t)bits;
	*text = p;
	return true;
}

/* "@%rdi+8+16" */
static bool take_offsets(const char **text, struct jf_path *path)
{
	const char *p = *text;
	long offset;
	int reg;

	if (*p++ != '@' || *p++ != '%')
		return false;
	reg = place(&p);
	if (reg < 0 || reg >= RETURNED)
		return false;
	path->reg = (uint8_t)reg;
	while (*p == '+' || *p == '-') {
		if (path->num == JF_LOADS_MAX || !take_number(&p, INT32_MIN, INT32_MAX, &offset))
			return false;
		path->offset[path->num++] = (int32_t)offset;
	}
	*text = p;
	return path->num;
}

/* After "NAME=": "-4@%rdi+8" */
static bool take_place(const char **text, struct jf_event_field *f, struct jf_path *path)
{
	const char *p = *text;
	long size;
	char how;

	path->sign = *p == '-';
	p += path->sign;
	if (!jf_choice_is_number(p) || !take_number(&p, 1, JF_CHOICE_TEXT - 1, &size))
		return false;
	path->size = (uint8_t)size;
	how = *p == '@' ? 0 : *p;
	path->text = how == 't';
	path->string = how == 's';
	f->class_ = how == 'f' ? 8 : how == 'p' || how == 's' ? 5 : 1;
	if (how == 'b' ? !take_bits(&p, path) : how && !strchr("fpst", how))
		return false;
	p += how && how != 'b';
	if (size > 8 ? how != 't' : how != 'b' && how != 't' && !strchr("1248", '0' + (int)size))
		return false;
	if ((how == 'f' && size < 4) || (how == 's' && size != 8) || !take_offsets(&p, path) || (*p == '{' && !take_labels(&p, f)))
		return false;
	*text = p;
	return !*p || *p == ' ';
}

/* "?there_is_no_'prise'" */
static bool take_why(const char **text, struct jf_member *m)
{
	size_t len = strcspn(++*text, " ");
	char *p;

	m->why = strndup(*text, len);
	for (p = m->why; p && *p; p++)
		if (*p == '_')
			*p = ' ';
	*text += len;
	return m->why && len;
}

static void forget_members(struct jf_member *m, unsigned int nr)
{
	while (m && nr--) {
		forget_field(&m[nr].field[0]);
		free(m[nr].why);
	}
	free(m);
}

static bool take_member(const char **text, struct jf_member *m, struct jf_path *path)
{
	const char *p = *text;
	size_t len = strcspn(p, "=");

	memset(m, 0, sizeof(*m));
	memset(path, 0, sizeof(*path));
	m->field[0].kind = __JF_FIELD_SCALAR;
	m->field[1].kind = __JF_FIELD_END;
	if (!is_path(p, len) || p[len] != '=')
		return false;
	m->field[0].name = strndup(p, len);
	p += len + 1;
	if (!m->field[0].name || !(*p == '?' ? take_why(&p, m) : take_place(&p, &m->field[0], path)))
		return false;
	*text = *p ? p + 1 : p;
	return true;
}

/**
 * struct members - of a line
 * @member: memory that arguments lead to
 * @path:   of each
 * @num:    of these
 */
struct members {
	struct jf_member	*member;
	struct jf_path		*path;
	unsigned int		num;
};

static bool add_member(struct members *to, const char **text)
{
	if (!to->member) {
		to->member = calloc(JF_PATHS_MAX, sizeof(*to->member));
		to->path = calloc(JF_PATHS_MAX, sizeof(*to->path));
	}
	if (!to->member || !to->path || to->num == JF_PATHS_MAX)
		return false;
	/* Also one that is no member has memory to forget. */
	to->num++;
	return take_member(text, &to->member[to->num - 1], &to->path[to->num - 1]);
}

static void forget(struct members *m)
{
	forget_members(m->member, m->num);
	free(m->path);
	memset(m, 0, sizeof(*m));
}

/**
 * jf_types_forget() - forget what jf_types_apply() has made
 * @p: the probe
 */
void jf_types_forget(struct jf_agent_probe *p)
{
	forget_members(p->members, p->nr_members);
	free(p->path);
}

/* --- arguments ------------------------------------------------------------------------ */

static bool take(const char **text, struct argument *a)
{
	const char *p = *text;
	size_t len = strcspn(p, "=");
	char how;

	memset(a, 0, sizeof(*a));
	if (!is_name(p, len) || p[len] != '=')
		return false;
	a->field.name = strndup(p, len);
	a->field.type = "";
	a->field.kind = __JF_FIELD_SCALAR;
	a->field.count = 1;
	p += len + 1;
	a->field.sign = *p == '-';
	p += *p == '-';
	a->field.size = (uint32_t)(*p++ - '0');
	if (!a->field.name || !strchr("1248", p[-1]) || !p[-1])
		return false;
	how = *p && *p != '@' ? *p++ : 0;
	a->field.class_ = how == 'f' ? 8 : how == 'p' || how == 's' ? 5 : 1;
	a->string = how == 's';
	if ((how && !strchr("fps", how)) || *p++ != '@' || *p++ != '%' || (how == 's' && a->field.size != 8))
		return false;
	a->place = place(&p);
	a->field.align = a->place < 16 ? 8 : (uint8_t)a->field.size;
	if (a->place < 0 || (how == 'f' && ((a->place < 16 && a->place != RETURNED) || a->field.size < 4)) || (how == 's' && a->place >= RETURNED))
		return false;
	if (*p == '{' && !take_labels(&p, &a->field))
		return false;
	if (*p && *p != ' ')
		return false;
	*text = *p ? p + 1 : p;
	return true;
}

/* All but those that a probe has. */
static void drop(struct argument *a, unsigned int nr)
{
	while (nr--)
		if (!a[nr].kept)
			forget_field(&a[nr].field);
}

/* True: the line has another argument of that name. The returned value can have any name. */
static bool is_twice(const struct argument *a, unsigned int nr)
{
	unsigned int k = 0;

	if (a[nr].place == RETURNED)
		return false;
	while (k < nr && (a[k].place == RETURNED || strcmp(a[k].field.name, a[nr].field.name)))
		k++;
	return k < nr;
}

/* How many values it has; -1: it is no such line. */
static int take_all(const char *text, struct argument *a, struct members *m)
{
	unsigned int nr = 0, taken = 0;

	while (*text && nr < VALUES_MAX) {
		if (is_path(text, strcspn(text, "="))) {
			if (!add_member(m, &text)) {
				forget(m);
				drop(a, nr);
				return -1;
			}
			continue;
		}
		if (!take(&text, &a[nr]) || taken >> a[nr].place & 1 || is_twice(a, nr)) {
			forget(m);
			drop(a, nr + 1);
			return -1;
		}
		taken |= 1U << a[nr++].place;
	}
	return (int)nr;
}

/* --- a function ----------------------------------------------------------------------- */

/* A name of the agent's own fields is not an argument's. */
static bool is_taken(const struct jf_agent_probe *p, const char *name)
{
	unsigned int i;

	for (i = 0; i < p->nr_fields; i++)
		if (!strcmp(p->fields[i].name, name))
			return true;
	return false;
}

static void add_vector(struct jf_agent_probe *p, struct argument *a)
{
	struct jf_operand *o = &p->spot.operand[p->spot.nr++];
	uint32_t size = a->field.size;

	o->kind = JF_OPERAND_VECTOR;
	o->base = (uint8_t)(a->place - 16);
	o->size = (uint8_t)size;
	p->spot.size = (p->spot.size + size - 1) & ~(size - 1);
	o->at = (uint8_t)p->spot.size;
	p->spot.size += size;
	p->event.size = p->spot.size;
	p->fields[p->nr_fields++] = a->field;
	a->kept = true;
}

/* It has the name that the agent gives it. */
static void set_returned(struct jf_agent_probe *p, struct argument *a)
{
	free((char *)(uintptr_t)a->field.name);
	a->field.name = p->fields[RETURNED_FIELD].name;
	p->fields[RETURNED_FIELD] = a->field;
	p->spot.returns_real = a->field.class_ == 8;
	a->kept = true;
}

static void set_register(struct jf_agent_probe *p, struct argument *a)
{
	p->fields[FIRST + a->place] = a->field;
	if (a->string)
		p->known_strings |= (uint16_t)(1U << a->place);
	a->kept = true;
}

static void add_vectors(struct jf_agent_probe *p, struct argument *a, int num)
{
	int i;

	for (i = 0; i < num; i++)
		if (a[i].place >= 16 && p->spot.nr < JF_VECTORS_MAX && !is_taken(p, a[i].field.name))
			add_vector(p, &a[i]);
}

/* Registers after the last argument are not recorded. That one can be shorter than its register. */
static void end_registers(struct jf_agent_probe *p, int last)
{
	p->nr_fields = FIRST + (unsigned int)(last + 1);
	memset(&p->fields[p->nr_fields], 0, (size_t)(JF_REGISTERS - last - 1) * sizeof(p->fields[0]));
	p->spot.registers = (uint8_t)(last + 1);
	p->spot.size = p->nr_fields * 8;
	if (last >= 0)
		p->spot.size += p->fields[p->nr_fields - 1].size - 8;
	p->event.size = p->spot.size;
}

/**
 * jf_types_apply() - name the arguments of a function's entry, if they are known
 * @p:     the probe, as jf_probe_function() has made it
 * @m:     its object
 * @start: where the function begins
 *
 * It is called once for a probe.
 */
void jf_types_apply(struct jf_agent_probe *p, const struct jf_module *m, uintptr_t start)
{
	struct line key = { m->path, start - m->base, NULL }, *l;
	struct argument a[VALUES_MAX];
	struct members members = { NULL, NULL, 0 };
	int num, i, last = -1;

	l = nr_lines ? bsearch(&key, lines, nr_lines, sizeof(key), compare) : NULL;
	num = l ? take_all(l->text, a, &members) : -1;
	if (num < 0)
		return;
	p->typed = true;
	p->members = members.member;
	p->path = members.path;
	p->nr_members = members.num;
	for (i = 0; i < num; i++) {
		if (a[i].place == RETURNED && p->kind == JF_KIND_CALL)
			set_returned(p, &a[i]);
		if (a[i].place >= RETURNED || is_taken(p, a[i].field.name))
			continue;
		set_register(p, &a[i]);
		last = a[i].place > last ? a[i].place : last;
	}
	/* A call's record has other fields after the registers. */
	if (p->kind != JF_KIND_CALL) {
		end_registers(p, last);
		add_vectors(p, a, num);
	}
	drop(a, (unsigned int)num);
}

/**
 * jf_member_find() - memory that an argument leads to
 * @p:    the probe
 * @name: a path of @len characters
 *
 * Return: NULL: the probe has none of that name
 */
const struct jf_member *jf_member_find(const struct jf_agent_probe *p, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < p->nr_members; i++)
		if (jf_choice_is(p->members[i].field[0].name, name, len))
			return &p->members[i];
	return NULL;
}

/**
 * jf_member_missing() - why a function has not the member that a pattern names
 * @p: the probe
 */
const char *jf_member_missing(const struct jf_agent_probe *p)
{
	return p->typed ? "the function has no such argument that is a pointer or an integer in a register" :
	       "no debug information says what arguments the function has";
}
