// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Probes of a process, as it says itself if it has a control socket, or else those that are in the
 * files that it has loaded; or of a file. Without an argument: the processes that may be asked.
 */
#include "tool.h"
#include "attach.h"
#include "elf.h"
#include "links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* @links: files that have two names */
static bool wanted(const struct options *o, const struct links *links, const char *kind,
		   const char *group, const char *name)
{
	unsigned int i;

	for (i = 0; i < o->num_globs; i++)
		if (links_match(links, o->globs[i], kind, group, name))
			return true;
	return !o->num_globs;
}

static void put_line(const char *kind, const char *state, const char *group, const char *name, const char *detail)
{
	put_safe(stdout, kind);
	printf("%*s %-3s ", (int)(strlen(kind) < 8 ? 8 - strlen(kind) : 0), "", state);
	put_safe(stdout, group);
	putchar(':');
	if (!strcmp(kind, "function"))
		put_name(stdout, name);
	else
		put_safe(stdout, name);
	if (*detail) {
		fputs("  ", stdout);
		put_safe(stdout, detail);
	}
	putchar('\n');
}

/* --- files ---------------------------------------------------------------------------- */

/**
 * struct names - of functions that a debug file has
 * @list:  gets them
 * @group: of these
 */
struct names {
	struct found_list	*list;
	const char		*group;
};

static int add_name(const char *name, void *arg)
{
	const struct names *n = (const struct names *)arg;

	return found_function(n->list, n->group, name);
}

int found_apart(struct found_list *list, const char *path)
{
	return types_names(path, add_name, &(struct names){ list, last_part(path) });
}

static int add_file(struct found_list *list, const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct elf e;

	if (fd < 0)
		return -errno;
	err = elf_open(&e, fd);
	if (!err) {
		err = found_in(list, &e, last_part(name));
		elf_close(&e);
	}
	close(fd);
	return err;
}

static int put_found(const struct options *o, struct found_list *list, const struct links *links, const char *what)
{
	size_t i, num = 0;

	found_sort(list);
	for (i = 0; i < list->num; i++) {
		struct found *f = &list->found[i];
		char places[32] = "";

		if (!wanted(o, links, f->kind, f->group, f->name))
			continue;
		num++;
		if (f->places > 1 && !strcmp(f->kind, "note"))
			snprintf(places, sizeof(places), "%u places", f->places);
		put_line(f->kind, "-", f->group, f->name, *places ? places : f->detail);
	}
	if (!num) {
		fail(o->num_globs ? "%s: no probe matches" :
		     "%s: no probes: no events, no USDT notes, and no table of symbols", what);
		return STATUS_NONE;
	}
	return STATUS_OK;
}

static int list_file(const struct options *o, const char *path)
{
	struct found_list list = { NULL, 0, 0, 0 };
	struct links links = { NULL, 0 };
	int err, status;

	progress("reading %s", path);
	err = add_file(&list, path, path);
	if (!err)
		err = found_apart(&list, path);
	links_add(&links, path);
	progress_end();
	if (err == -ENOEXEC)
		status = fail("%s: no ELF file of 64 bits", path);
	else if (err == -EINVAL)
		status = fail("%s: the file is damaged", path);
	else if (err)
		status = fail("%s: %s", path, strerror(-err));
	else
		status = put_found(o, &list, &links, path);
	links_free(&links);
	found_free(&list);
	return status;
}

/* --- processes --------------------------------------------------------------------------- */

/* The name by which the program was executed, from the process's memory. */
static void add_executed(struct links *l, pid_t pid)
{
	char path[48], name[PATH_MAX] = "", exe[PATH_MAX];
	uint64_t pair[2] = { 0, 0 };
	ssize_t n;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	f = fopen(path, "re");
	while (f && fread(pair, sizeof(pair), 1, f) == 1 && pair[0] != AT_EXECFN)
		;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = pair[0] == AT_EXECFN ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		n = pread(fd, name, sizeof(name) - 1, (off_t)pair[1]);
		name[n > 0 ? n : 0] = 0;
		close(fd);
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	links_add_names(l, last_part(name), last_part(exe));
}

/* Links to a shared library by shorter names: libz.so.1.2.13 has libz.so.1 and libz.so. */
static void add_versions(struct links *l, pid_t pid, const char *name)
{
	char path[PATH_MAX + 64], target[PATH_MAX], *end, *so = strstr(last_part(name), ".so.");
	const char *file = last_part(name);
	ssize_t n;

	if (!so)
		return;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
	for (;;) {
		end = strrchr(path, '.');
		if (!end || strlen(last_part(path)) <= (size_t)(so - file) + 3)
			return;
		*end = 0;
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		if (n > 0 && !strcmp(last_part(target), file))
			links_add_names(l, last_part(path), file);
	}
}

/* Files that it has mapped, each one once, as the process sees them. */
static int list_mapped(const struct options *o, pid_t pid)
{
	char maps[48], line[PATH_MAX + 128], last[PATH_MAX] = "", path[PATH_MAX + 64], what[32], *name;
	struct found_list list = { NULL, 0, 0, 0 };
	struct links links = { NULL, 0 };
	int status, err = 0;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	snprintf(what, sizeof(what), "process %d", (int)pid);
	f = fopen(maps, "re");
	if (!f)
		return errno == ENOENT ? fail("there is no %s", what) : fail("%s: %s", what, strerror(errno));
	progress("reading the files of %s", what);
	while (err != -ENOMEM && fgets(line, sizeof(line), f)) {
		name = strchr(line, '/');
		if (!name)
			continue;
		name[strcspn(name, "\n")] = 0;
		if (!strcmp(name, last) || strlen(name) >= sizeof(last))
			continue;
		memcpy(last, name, strlen(name) + 1);
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
		err = add_file(&list, path, name);
		if (!err)
			add_versions(&links, pid, name);
	}
	add_executed(&links, pid);
	progress_end();
	if (err == -ENOMEM)
		status = fail("%s: %s", what, strerror(ENOMEM));
	else if (ferror(f))
		status = fail("%s: its files may not be listed: %s", what, strerror(EACCES));
	else
		status = put_found(o, &list, &links, what);
	fclose(f);
	links_free(&links);
	found_free(&list);
	return status;
}

/**
 * struct listing - for one_probe()
 * @o:      which are wanted
 * @num:    how many there were
 * @unread: the process could not read files of its objects
 */
struct listing {
	const struct options	*o;
	size_t			num;
	bool			unread;
};

static int one_probe(const struct jf_words *w, void *arg)
{
	const struct links links = { NULL, 0 };
	struct listing *l = (struct listing *)arg;
	uint32_t n;

	if (w->num == 3 && !strcmp(w->word[0], "failed"))
		l->unread |= jf_number_parse(w->word[2], &n) && n == ESTALE;
	if (w->num != 6 || strcmp(w->word[0], "probe"))
		return 0;
	/*
	 * The process was asked for those that match one pattern, and knows other names of its
	 * files.
	 */
	if (l->o->num_globs > 1 && !wanted(l->o, &links, w->word[1], w->word[2], w->word[3]))
		return 0;
	l->num++;
	put_line(w->word[1], !strcmp(w->word[4], "on") ? "on" : "off", w->word[2], w->word[3], w->word[5]);
	return 0;
}

/* The process alone knows which calls can be recorded. Its files say all else. */
static bool needs_agent(const struct options *o)
{
	const char *glob;
	enum jf_kind kind;
	unsigned int i;

	for (i = 0; i < o->num_globs; i++) {
		glob = o->globs[i];
		kind = jf_kind_of(&glob);
		if (kind == JF_KIND_CALL || kind == JF_KIND_TIME)
			return true;
	}
	return false;
}

static int list_process(const struct options *o, pid_t pid)
{
	const char *words[] = { "list", o->num_globs == 1 ? o->globs[0] : NULL, NULL };
	struct listing l = { o, 0, false };
	int err;

	if (!has_control(pid) && !needs_agent(o))
		return list_mapped(o, pid);
	if (attach(pid))
		return STATUS_FAILED;
	err = ask(pid, words, one_probe, &l, NULL);
	if (err == -ECOMM)
		return STATUS_FAILED;
	if (err)
		return fail("process %d: %s", (int)pid, strerror(-err));
	if (!l.num && l.unread)
		return fail("process %d: %s", (int)pid, UNREAD);
	if (!l.num) {
		fail("process %d: no probe%s", (int)pid, o->num_globs ? " matches" : "s");
		return STATUS_NONE;
	}
	return STATUS_OK;
}

static void put_process(pid_t pid, void *arg)
{
	char path[48], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (f) {
		if (fgets(name, sizeof(name), f))
			name[strcspn(name, "\n")] = 0;
		fclose(f);
	}
	printf("%d ", (int)pid);
	put_safe(stdout, name);
	putchar('\n');
	++*(unsigned int *)arg;
}

int do_list(const struct options *o, int argc, char **argv)
{
	unsigned int num = 0;
	pid_t pid;

	if (argc)
		return is_pid(argv[0], &pid) ? list_process(o, pid) : list_file(o, argv[0]);
	each_control(put_process, &num);
	if (num)
		return STATUS_OK;
	fail("no process of this user can be controlled: see jf-trace run, or give a FILE or PID");
	return STATUS_NONE;
}
