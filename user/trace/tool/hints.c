// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * After a program was run: which of the patterns have recorded nothing, and why; for those that
 * match no probe, probes whose names are like them.
 *
 * The traces' metadata has the enabled events. Other events are looked for in the program's file
 * and in those that it loads.
 */
#include "tool.h"
#include "count.h"
#include "elf.h"
#include "links.h"
#include "losses.h"
#include "near.h"
#include "files.h"
#include "tally.h"
#include "../trace.h"
#include "../glob.h"
#include "../kind.h"
#include "../sums.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX	160

/**
 * struct pattern - the result of a pattern
 * @glob:     without types of arguments; of sums without their kind, too
 * @probe:    one that matches it, if there was any
 * @recorded: records of all that match
 * @refused:  one that matches it and could not be recorded
 * @why:      the reason
 * @places:   how many, in the trace that is looked at
 * @most:     in the trace that has most of them, as several processes have the same ones
 * @choice:   which records are made, as it says it, or ""
 */
struct pattern {
	char		glob[256];
	char		probe[TEXT_MAX];
	uint64_t	recorded;
	char		refused[TEXT_MAX];
	char		why[TEXT_MAX];
	unsigned int	places;
	unsigned int	most;
	const char	*choice;
};

/**
 * struct patterns - of all traces of a run
 * @o:       has their text
 * @pattern: of each
 * @links:   files of the program that have two names, when they are known
 * @sums:    they are of functions, whose calls are summed
 * @unread:  of a trace that could not be read
 * @nameless: of which object not all probes are known, and why
 */
struct patterns {
	const struct options	*o;
	struct pattern		pattern[GLOBS_MAX];
	struct links		links;
	bool			sums;
	bool			unread;
	char			nameless[TEXT_MAX];
};

/* @text is "group:name". */
static bool text_matches(const struct patterns *p, const char *glob, const char *text)
{
	const char *colon = strchr(text, ':');
	char group[NAME_MAX + 1];

	if (!colon)
		return false;
	snprintf(group, sizeof(group), "%.*s", (int)(colon - text), text);
	return links_match(&p->links, glob, NULL, group, colon + 1);
}

static void note_refused(const char *name, const char *why, void *arg)
{
	const char *colon = strchr(name, ':');
	struct patterns *p = (struct patterns *)arg;
	bool any = !strcmp(name, "*:*");
	unsigned int i;

	/* Of an object, or of one that has no name here. */
	if (colon && !strcmp(colon, ":*")) {
		snprintf(p->nameless, TEXT_MAX, "not all probes of %.*s are known: %s", any ? INT_MAX : (int)(colon - name),
			 any ? "an object that was loaded" : name, why);
		return;
	}
	for (i = 0; i < p->o->num_globs; i++) {
		struct pattern *w = &p->pattern[i];

		if (!text_matches(p, w->glob, name))
			continue;
		if (!*w->refused) {
			snprintf(w->refused, TEXT_MAX, "%s", name);
			snprintf(w->why, TEXT_MAX, "%s", why);
		}
		w->most = ++w->places > w->most ? w->places : w->most;
	}
}

/* Where calls are counted, and not recorded. */
static void add_calls(const struct jf_counts *c, uint32_t id, uint64_t num, void *arg)
{
	struct tally *t = (struct tally *)arg;

	(void)c;
	t->event[id].now += num;
}

/**
 * struct counted_as - the probe of the last event
 * @name:    "group:name"
 * @matches: bits of patterns
 */
struct counted_as {
	char		name[1024];
	uint64_t	matches;
};

/* Sums are many events of a function, one after the other. */
static void count_event(struct patterns *p, const struct tally_event *e, struct counted_as *of)
{
	size_t len = p->sums ? jf_sum_name(e->name) : strlen(e->name);
	unsigned int i;
	char *name;

	if (len >= sizeof(of->name))
		return;
	if (strncmp(of->name, e->name, len) || of->name[len]) {
		snprintf(of->name, sizeof(of->name), "%.*s", (int)len, e->name);
		of->matches = 0;
		for (i = 0; i < p->o->num_globs; i++)
			if (text_matches(p, p->pattern[i].glob, of->name))
				of->matches |= UINT64_C(1) << i;
	}
	for (i = 0; i < p->o->num_globs; i++) {
		if (!(of->matches >> i & 1))
			continue;
		if (!*p->pattern[i].probe || !p->sums) {
			name = readable(of->name);
			snprintf(p->pattern[i].probe, TEXT_MAX, "%.*s", TEXT_MAX - 1, name ? name : of->name);
			free(name);
		}
		p->pattern[i].recorded += e->now;
	}
}

static void count_trace(const char *path, void *arg)
{
	struct patterns *p = (struct patterns *)arg;
	struct counted_as of = { .matches = 0 };
	struct tally t;
	unsigned int i;
	uint32_t id;

	if (tally_begin(&t, path)) {
		p->unread = true;
		return;
	}
	for (i = 0; i < p->o->num_globs; i++)
		p->pattern[i].places = 0;
	each_refused(t.dir, note_refused, p);
	if (counts_each(t.dir, add_calls, &t))
		p->unread = true;
	/* tally_begin() has looked at all that there is. */
	for (id = 1; id < TALLY_EVENTS; id++)
		if (t.event[id].name)
			count_event(p, &t.event[id], &of);
	tally_end(&t);
}

/* --- the probes that there are ------------------------------------------------------------- */

static int add_file(struct found_list *list, struct links *links, const char *path, char *interpreter, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct elf e;

	if (fd < 0)
		return -errno;
	err = elf_open(&e, fd);
	if (!err) {
		err = found_in(list, &e, last_part(path));
		if (interpreter && !get_interpreter(&e, interpreter, size))
			*interpreter = 0;
		elf_close(&e);
		links_add(links, path);
	}
	close(fd);
	return err;
}

/**
 * struct loaded - for add_loaded()
 * @list:  gets the probes
 * @links: gets the names of files
 */
struct loaded {
	struct found_list	*list;
	struct links		*links;
};

static void add_loaded(const char *path, void *arg)
{
	const struct loaded *l = (const struct loaded *)arg;

	add_file(l->list, l->links, path, NULL, 0);
}

/* --- why a pattern has recorded nothing ------------------------------------------------------- */

/* Not "*", which is no pattern of functions. */
static bool is_function_of(const struct found *f, const char *glob)
{
	return !strcmp(f->kind, "function") && glob[strspn(glob, "*?")] && glob_matches(glob, f->kind, f->group, f->name);
}

/* A function that cannot be recorded. False: none was found. */
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

/* Not by the name of its symbol. */
static bool is_by_source(const char *glob, const struct found *f)
{
	const char *text = glob;

	jf_kind_of(&text);
	return !strncmp(f->name, "_Z", 2) && !jf_glob_matches_probe(text, f->group, f->name);
}

static void explain(const struct pattern *w, const struct found_list *list, bool sums)
{
	const char *glob = w->glob;
	size_t i;

	if (put_refused(glob, list))
		return;
	for (i = 0; i < list->num; i++) {
		const struct found *f = &list->found[i];

		if (strcmp(f->kind, "function") ? sums || !glob_matches(glob, f->kind, f->group, f->name) : !is_function_of(f, glob))
			continue;
		note("'%s' matches %s:%s, which was not recorded, or by another name of the same function; with "
		     "JUMPFUNC=verbose in the environment the agent says why%s", glob, f->group, f->name,
		     is_by_source(glob, f) ? "; a process demangles names of C++ if it has libstdc++.so.6: else give the symbol" : "");
		return;
	}
	suggest(glob, list, sums);
}

static void put_sum(const char *program, const char *path, int err, struct found_list *list)
{
	size_t notes = 0, events = 0, own = 0, i;

	if (err == -ENOEXEC) {
		note("%s is no program itself but a script: give the program that it executes, to see here what that has", path);
		return;
	}
	found_sort(list);
	for (i = 0; i < list->num; i++) {
		notes += !strcmp(list->found[i].kind, "note");
		events += !strcmp(list->found[i].kind, "event");
		own += !strcmp(list->found[i].group, last_part(path));
	}
	note("%s and what it loads at its start have %zu events, %zu notes and %zu functions by name: jf-trace list FILE",
	     program, events, notes, list->num - events - notes);
	if (!own)
		note("%s is stripped: without a table of symbols its functions have no names, and no debug file was found. Install that (below "
		     "/usr/lib/debug), or set DEBUGINFOD_URLS, or make a program that has names: eu-unstrip -o NEW %s DEBUGFILE", program, path);
}

/* The reason in the file why the agent was not there. */
void explain_not_loaded(const char *program, const char *agent)
{
	struct found_list list = { NULL, 0, 0, 0 };
	struct links links = { NULL, 0 };
	char path[PATH_MAX], linker[PATH_MAX] = "";
	const char *base;
	struct stat st;
	int err;

	if (!find_program(program, path, sizeof(path)))
		return;
	err = add_file(&list, &links, path, linker, sizeof(linker));
	found_free(&list);
	links_free(&links);
	base = last_part(linker);
	if (err == -ENOEXEC)
		note("nor was the agent loaded: %s is a script, or a program of another machine", path);
	else if (err)
		note("the agent %s was not loaded either: %s: %s", agent, path, strerror(-err));
	else if (!*linker)
		note("nor was the agent loaded: %s is linked statically", path);
	else if (strncmp(base, "ld-linux", 8))
		note("nor was the agent loaded: it is for glibc, and %s has another C library, whose dynamic linker is %s", path, linker);
	else if (!stat(path, &st) && st.st_mode & (S_ISUID | S_ISGID))
		note("nor was the agent loaded: %s runs with more rights than its user has", path);
	else
		note("the agent %s was not loaded either: does %s run with more rights than its user has (capabilities)?", agent, path);
}

/* Of a pattern nothing was recorded. */
static bool any_silent(const struct patterns *p)
{
	unsigned int i = 0;

	while (i < p->o->num_globs && p->pattern[i].recorded)
		i++;
	return i < p->o->num_globs;
}

static void count_all(struct patterns *p, const char *folder)
{
	unsigned int i;

	for (i = 0; i < p->o->num_globs; i++) {
		p->pattern[i].recorded = 0;
		*p->pattern[i].probe = 0;
	}
	each_trace(folder, count_trace, p);
}

/*
 * The files of the program, and then the traces again if a pattern can be of another name of a
 * file.
 */
static int read_files(struct patterns *p, struct found_list *list, const char *path, const char *folder)
{
	char interpreter[PATH_MAX] = "";
	int err = add_file(list, &p->links, path, interpreter, sizeof(interpreter));

	if (!err)
		found_apart(list, path);
	if (!err && *interpreter)
		each_loaded(interpreter, path, add_loaded, &(struct loaded){ list, &p->links });
	if (p->links.num)
		count_all(p, folder);
	return err;
}

/* A pattern of callers in a filter that no known function matches, or NULL. */
static const char *unknown_caller(struct jf_choice *c, const struct found_list *list)
{
	const struct jf_step *s = NULL;
	const char *text;
	size_t k;

	while ((s = jf_choice_text_of(c, s, true))) {
		/* The steps of the text are longer than it, and end with zeros. */
		text = (const char *)(s + 1);
		for (k = 0; s->sign && k < list->num && !is_function_of(&list->found[k], text); k++)
			;
		if (s->sign && k == list->num)
			return text;
	}
	return NULL;
}

/* False: its filter names no function, or one that is there. */
static bool explain_caller(const struct pattern *w, const struct found_list *list)
{
	struct jf_choice c;
	const char *glob = jf_choice_parse_callers(&c, w->choice, true) ? NULL : unknown_caller(&c, list);

	if (glob)
		note("'%s' matches %s, but no function of the files that the program loads at its begin matches '%s', its caller", w->glob,
		     w->probe, glob);
	return glob;
}

/*
 * "No thread has come by" is for the counters to say: then there is no other way to have recorded
 * nothing. But a call makes a record as it returns, and an exception, longjmp() or exit() can leave
 * it.
 */
static void explain_silence(const struct pattern *w, const struct patterns *p, const struct losses *l,
			    const struct found_list *list)
{
	if (*w->refused) {
		note("'%s' matches %s, which was not recorded: %s", w->glob, w->refused, w->why);
	} else if (l->overwritten || l->discarded) {
		note("'%s' matches %s, of which there is no record: they may be among those that were overwritten (%" PRIu64
		     ") or discarded (%" PRIu64 ")", w->glob, w->probe, l->overwritten, l->discarded);
	} else if (l->err || p->unread) {
		note("'%s' matches %s, of which there is no record: not all of the trace could be read", w->glob, w->probe);
	} else if (!explain_caller(w, list)) {
		note(is_of_calls(w->glob) ? "'%s' matches %s, but no such call has returned" :
		     *w->choice ? "'%s' matches %s, but no thread has come by for which its filter holds" :
		     "'%s' matches %s, but no thread has come by", w->glob, w->probe);
		put_refused(w->glob, list);
	}
}

/* Others that match have recorded. Of sums put_sums() says it. */
static void explain_part(const struct pattern *w)
{
	note("'%s' matches %u probe%s that could not be switched on, %s the first: %s%s", w->glob, w->most, w->most > 1 ? "s" : "",
	     w->refused, w->why, w->most > 1 ? "; with JUMPFUNC=verbose in the environment the agent names all" : "");
}

void explain_run(const struct options *o, const char *program, const char *folder, const struct losses *l)
{
	struct found_list list = { NULL, 0, 0, 0 };
	struct patterns *p = calloc(1, sizeof(*p));
	bool unmatched = false;
	char path[PATH_MAX];
	unsigned int i;
	int err = 0;

	if (!p)
		return;
	p->o = o;
	for (i = 0; i < o->num_globs; i++) {
		const char *glob = asked_glob(o->globs[i]);

		p->sums |= glob != o->globs[i];
		snprintf(p->pattern[i].glob, sizeof(p->pattern[i].glob), "%.*s", (int)glob_length(glob), glob);
		p->pattern[i].choice = jf_choice_begin(glob);
	}
	count_all(p, folder);
	if (any_silent(p) && find_program(program, path, sizeof(path)))
		err = read_files(p, &list, path, folder);
	for (i = 0; i < o->num_globs; i++) {
		struct pattern *w = &p->pattern[i];

		if (w->recorded && w->most && !p->sums)
			explain_part(w);
		if (w->recorded)
			continue;
		if (!*w->probe && !*w->refused && *p->nameless) {
			note("no probe that is known matches '%s'", w->glob);
			continue;
		}
		if (!*w->probe && !*w->refused) {
			unmatched = true;
			explain(w, &list, p->sums);
			continue;
		}
		explain_silence(w, p, l, &list);
	}
	if (*p->nameless)
		note("%s", p->nameless);
	if (unmatched)
		put_sum(program, path, err, &list);
	links_free(&p->links);
	found_free(&list);
	free(p);
}
