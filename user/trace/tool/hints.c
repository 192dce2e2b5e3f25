// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * After a program was run: which of the patterns have recorded nothing, and why; for those that match no probe,
 * probes whose names are like them.
 *
 * What was on stands in the traces' metadata. What there could have been is looked for in the program's file
 * and in those that it loads, which its dynamic linker lists (--list) without executing the program.
 */
#include "tool.h"
#include "elf.h"
#include "tally.h"
#include "../glob.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEAR_MAX	3
#define TEXT_MAX	160
/* Of names that are compared. */
#define WORD_MAX	64

/**
 * struct pattern - what has become of a pattern
 * @glob:     without types of arguments
 * @probe:    one that matches it, if there was any
 * @recorded: records of all that match
 */
struct pattern {
	char		glob[256];
	char		probe[TEXT_MAX];
	uint64_t	recorded;
};

/**
 * struct patterns - of all traces of a run
 * @o:       has their text
 * @pattern: of each
 * @hidden:  records were overwritten: it is not known of which events
 */
struct patterns {
	const struct options	*o;
	struct pattern		pattern[GLOBS_MAX];
	bool			hidden;
};

/* "group:name" */
static bool text_matches(const char *glob, const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && jf_glob_matches(glob, strchr(glob, ':') ? text : colon + 1);
}

static void count_trace(const char *path, void *arg)
{
	struct patterns *p = (struct patterns *)arg;
	struct tally t;
	unsigned int i;
	uint32_t id;

	if (tally_begin(&t, path))
		return;
	/* tally_begin() has looked at all that there is. */
	p->hidden |= t.sums[0] != t.seen;
	for (id = 1; id < TALLY_EVENTS; id++) {
		for (i = 0; t.event[id].name && i < p->o->num_globs; i++) {
			if (!text_matches(p->pattern[i].glob, t.event[id].name))
				continue;
			snprintf(p->pattern[i].probe, TEXT_MAX, "%s", t.event[id].name);
			p->pattern[i].recorded += t.event[id].now;
		}
	}
	tally_end(&t);
}

/* --- the probes that there are ------------------------------------------------------------- */

static bool find_program(const char *name, char *buf, size_t size)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(name, '/'))
		return (size_t)snprintf(buf, size, "%s", name) < size;
	for (; path && *path; path = *end ? end + 1 : end) {
		end = path + strcspn(path, ":");
		if ((size_t)snprintf(buf, size, "%.*s/%s", (int)(end - path), path, name) < size && !access(buf, X_OK))
			return true;
	}
	return false;
}

static bool get_interpreter(const struct elf *e, char *buf, size_t size)
{
	uint64_t len = 0;
	char *data;
	size_t i;

	for (i = 0; i < e->num; i++)
		if (!strcmp(elf_section_name(e, i), ".interp") && !elf_section(e, i, &data, &len)) {
			len = (size_t)snprintf(buf, size, "%s", data);
			free(data);
			return len && len < size;
		}
	return false;
}

static int add_file(struct found_list *list, const char *path, char *interpreter, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	const char *base = strrchr(path, '/');
	struct elf e;

	if (fd < 0)
		return -errno;
	err = elf_open(&e, fd);
	if (!err) {
		err = found_in(list, &e, base ? base + 1 : path);
		if (interpreter && !get_interpreter(&e, interpreter, size))
			*interpreter = 0;
		elf_close(&e);
	}
	close(fd);
	return err;
}

/* "name => /path (0x...)", or "/path (0x...)" */
static void add_loaded(struct found_list *list, const char *interpreter, const char *program)
{
	char line[PATH_MAX + 128], *path;
	int out[2];
	pid_t child;
	FILE *f;

	if (pipe2(out, O_CLOEXEC))
		return;
	child = fork();
	if (!child) {
		dup2(out[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		execl(interpreter, interpreter, "--list", program, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	f = child < 0 ? NULL : fdopen(out[0], "r");
	if (!f)
		close(out[0]);
	while (f && fgets(line, sizeof(line), f)) {
		path = strchr(line, '/');
		if (!path)
			continue;
		path[strcspn(path, " \n")] = 0;
		add_file(list, path, NULL, 0);
	}
	if (f)
		fclose(f);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* --- what is like a pattern ------------------------------------------------------------------ */

/* How many letters are to be changed, left out or put in; upper and lower case are one. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX + 1], i, k, before, here;
	size_t len = strlen(b);

	if (len > WORD_MAX || strlen(a) > WORD_MAX)
		return WORD_MAX;
	for (k = 0; k <= len; k++)
		row[k] = k;
	for (i = 0; a[i]; i++) {
		before = row[0];
		row[0] = i + 1;
		for (k = 1; k <= len; k++) {
			here = row[k];
			before += tolower((unsigned char)a[i]) != tolower((unsigned char)b[k - 1]);
			row[k] = before;
			if (row[k - 1] + 1 < row[k])
				row[k] = row[k - 1] + 1;
			if (here + 1 < row[k])
				row[k] = here + 1;
			before = here;
		}
	}
	return row[len];
}

/**
 * struct sought - a pattern, in parts
 * @group: before the colon, without wildcards; "": there is none
 * @name:  what follows, without wildcards
 * @glob:  the same with wildcards
 */
struct sought {
	char		group[WORD_MAX + 1];
	char		name[WORD_MAX + 1];
	const char	*glob;
};

static void without_wildcards(char *to, const char *from, size_t len)
{
	size_t n = 0;

	for (; len-- && n < WORD_MAX; from++)
		if (!strchr("*?[]\\", *from))
			to[n++] = *from;
	to[n] = 0;
}

static unsigned int unlike(const char *want, const char *have)
{
	unsigned int d = distance(want, have), len = (unsigned int)strlen(want);

	if (d <= (len + 2) / 4)
		return d;
	return len > 2 && strstr(have, want) ? 8 + (unsigned int)strlen(have) : WORD_MAX;
}

/* The more, the worse; WORD_MAX: it is nothing like that. */
static unsigned int rate(const struct sought *s, const struct found *f)
{
	unsigned int group = 0;

	if (*s->group) {
		group = unlike(s->group, f->group);
		/* "libc" for "libc.so.6" */
		if (group == WORD_MAX && strncmp(s->group, f->group, strlen(s->group)))
			return *s->name && jf_glob_matches(s->glob, f->name) ? 32 : WORD_MAX;
		group = group == WORD_MAX ? 1 : group;
	}
	if (jf_glob_matches(s->glob, f->name))
		return group;
	group += unlike(s->name, f->name);
	return group < WORD_MAX ? group : WORD_MAX;
}

/**
 * struct near - the best so far
 * @text: of a probe; of a group, where the pattern has no name
 * @rate: of it
 */
struct near {
	char		text[TEXT_MAX];
	unsigned int	rate;
};

static void insert(struct near *near, const char *text, unsigned int rating)
{
	unsigned int i, k;

	for (i = 0; i < NEAR_MAX; i++)
		if (!strcmp(near[i].text, text))
			return;
	for (i = 0; i < NEAR_MAX && near[i].rate <= rating; i++)
		;
	if (i == NEAR_MAX)
		return;
	for (k = NEAR_MAX - 1; k > i; k--)
		near[k] = near[k - 1];
	snprintf(near[i].text, TEXT_MAX, "%s", text);
	near[i].rate = rating;
}

static void suggest(const char *glob, const struct found_list *list)
{
	struct near near[NEAR_MAX];
	const char *colon = strchr(glob, ':');
	struct sought s = { .glob = colon ? colon + 1 : glob };
	char text[TEXT_MAX], all[NEAR_MAX * (TEXT_MAX + 8)] = "";
	size_t i, len = 0;

	without_wildcards(s.group, glob, colon ? (size_t)(colon - glob) : 0);
	without_wildcards(s.name, s.glob, strlen(s.glob));
	for (i = 0; i < NEAR_MAX; i++)
		near[i] = (struct near){ "", WORD_MAX };
	for (i = 0; i < list->num; i++) {
		const struct found *f = &list->found[i];

		snprintf(text, sizeof(text), "%.64s:%.64s", f->group, *s.name ? f->name : "*");
		insert(near, text, rate(&s, f));
	}
	for (i = 0; i < NEAR_MAX && *near[i].text && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s'%s'", i ? ", " : "", near[i].text);
	if (!*s.name && !*s.group)
		note("no event and no note matches '%s'; functions are recorded if the pattern names them or their object, "
		     "as 'libc.so.6:*'", glob);
	else if (*all)
		note("no probe matches '%s'; did you mean %s?", glob, all);
	else
		note("no probe matches '%s'", glob);
}

/* Not "*", which is no pattern of functions. */
static bool is_function_of(const struct found *f, const char *glob)
{
	return !strcmp(f->kind, "function") && glob[strspn(glob, "*?")] && glob_matches(glob, f->group, f->name);
}

/* A function that cannot be recorded. False: there is none. */
static bool put_refused(const char *glob, const struct found_list *list)
{
	size_t i;

	for (i = 0; i < list->num; i++) {
		const struct found *f = &list->found[i];

		if (!*f->detail || !is_function_of(f, glob))
			continue;
		note("'%s' matches %s:%s, which cannot be recorded: %s", glob, f->group, f->name, f->detail);
		return true;
	}
	return false;
}

static void explain(const char *glob, const struct found_list *list)
{
	size_t i;

	if (put_refused(glob, list))
		return;
	for (i = 0; i < list->num; i++) {
		const struct found *f = &list->found[i];

		if (strcmp(f->kind, "function") ? !glob_matches(glob, f->group, f->name) : !is_function_of(f, glob))
			continue;
		note("'%s' matches %s:%s, which was not recorded, or by another name of the same function; with "
		     "JUMPFUNC=verbose in the environment the agent says why", glob, f->group, f->name);
		return;
	}
	suggest(glob, list);
}

static void put_sum(const char *program, const char *path, int err, struct found_list *list)
{
	size_t notes = 0, events = 0, i;

	if (err == -ENOEXEC) {
		note("%s is no program itself but a script: give the program that it executes, to see here what that has", path);
		return;
	}
	found_sort(list);
	for (i = 0; i < list->num; i++) {
		notes += !strcmp(list->found[i].kind, "note");
		events += !strcmp(list->found[i].kind, "event");
	}
	note("%s and what it loads at its start have %zu events, %zu notes and %zu functions by name: jf-trace list FILE",
	     program, events, notes, list->num - events - notes);
}

void explain_run(const struct options *o, const char *program, const char *folder)
{
	struct found_list list = { NULL, 0, 0, 0 };
	char path[PATH_MAX], interpreter[PATH_MAX] = "";
	struct patterns *p = calloc(1, sizeof(*p));
	bool read = false, unmatched = false;
	unsigned int i;
	int err = 0;

	if (!p)
		return;
	p->o = o;
	for (i = 0; i < o->num_globs; i++)
		snprintf(p->pattern[i].glob, sizeof(p->pattern[i].glob), "%.*s", (int)glob_length(o->globs[i]), o->globs[i]);
	each_trace(folder, count_trace, p);
	for (i = 0; i < o->num_globs; i++) {
		struct pattern *w = &p->pattern[i];

		if (w->recorded || (*w->probe && p->hidden))
			continue;
		if (!read && find_program(program, path, sizeof(path))) {
			err = add_file(&list, path, interpreter, sizeof(interpreter));
			if (!err && *interpreter)
				add_loaded(&list, interpreter, path);
		}
		read = true;
		if (!*w->probe) {
			unmatched = true;
			explain(w->glob, &list);
			continue;
		}
		note("'%s' matches %s, but no thread has come by", w->glob, w->probe);
		put_refused(w->glob, &list);
	}
	if (unmatched)
		put_sum(program, path, err, &list);
	found_free(&list);
	free(p);
}
