// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Traces without the names of events that have no record.
 *
 * babeltrace2 takes time for names by the square of their number: half a minute for 28,000, of
 * which a trace seldom has more than some hundreds. So a trace with much metadata is shown from a
 * folder of links to its packets, with the metadata of the events that they have.
 *
 * A process that still records can make a record of any of its events at any time: its traces are
 * shown as they are.
 */
#include "tool.h"
#include "fewer.h"
#include "links.h"
#include "tally.h"
#include "threads.h"
#include "../ids.h"
#include "../trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So much is read in a moment. */
#define LITTLE	(128u << 10)

/* Of any name space: a process of that number may be another one. */
static int has_number(pid_t pid, void *number)
{
	return inner_number(pid) == *(const pid_t *)number;
}

static bool may_live(unsigned int number)
{
	pid_t pid = (pid_t)number;

	return number_each("/proc", has_number, &pid);
}

static bool is_over(const char *text)
{
	const char *p = strstr(text, "\n\tvpid = ");
	unsigned int number;

	return p && sscanf(p, "\n\tvpid = %u;", &number) == 1 && !may_live(number);
}

/**
 * struct used - parts of a trace that are shown
 * @t:      the records of its events
 * @fields: by number of a structure: such an event has its fields
 */
struct used {
	const struct tally	*t;
	bool			fields[TALLY_EVENTS];
};

/* Structures that @u knows, events with records, and all that is neither. */
static bool is_used(const struct used *u, const char *piece)
{
	unsigned int number = jf_struct_number(piece), id;
	const char *name;
	size_t len;

	if (number)
		return number >= TALLY_EVENTS || u->fields[number];
	if (strncmp(piece, JF_EVENT_BEGIN, sizeof(JF_EVENT_BEGIN) - 1) || !jf_event_next(piece - 1, &name, &len, &id))
		return true;
	return !id || id >= TALLY_EVENTS || u->t->event[id].now;
}

static bool write_fewer(const char *folder, const char *text, const struct tally *t)
{
	struct used u = { t, { false } };
	const char *piece, *next;
	char path[PATH_MAX];
	unsigned int number;
	FILE *f;

	for (piece = text; (piece = jf_piece_next(piece));) {
		number = jf_struct_number(piece) ? 0 : jf_fields_number(piece);
		if (number && number < TALLY_EVENTS && is_used(&u, piece))
			u.fields[number] = true;
	}
	f = jf_path(path, sizeof(path), folder, "metadata") ? NULL : fopen(path, "wxe");
	if (!f)
		return false;
	for (piece = text; piece; piece = next) {
		next = jf_piece_next(piece);
		if (is_used(&u, piece))
			fwrite(piece, 1, next ? (size_t)(next - piece) : strlen(piece), f);
	}
	return !fclose(f);
}

static bool link_files(const char *from, const char *to)
{
	char path[PATH_MAX], target[PATH_MAX], whole[PATH_MAX];
	DIR *dir = realpath(from, whole) ? opendir(whole) : NULL;
	bool done = dir;
	struct dirent *e;

	while (done && (e = readdir(dir))) {
		if (*e->d_name == '.' || !strcmp(e->d_name, "metadata"))
			continue;
		done = !jf_path(path, sizeof(path), to, e->d_name) && !jf_path(target, sizeof(target), whole, e->d_name) &&
		       !symlink(target, path);
	}
	if (dir)
		closedir(dir);
	return done;
}

static bool make(struct fewer *f, const char *from, const char *text, char *to, size_t size)
{
	char parent[PATH_MAX - 64];
	struct tally t;
	bool done;

	if (!*f->folder) {
		if (default_parent(parent, sizeof(parent)))
			return false;
		snprintf(f->folder, sizeof(f->folder), "%s/shown-%d", parent, (int)getpid());
		remove_traces(f->folder);
		mkdir(f->folder, 0700);
	}
	if ((size_t)snprintf(to, size, "%s/%u-%s", f->folder, f->num++, last_part(from)) >= size || mkdir(to, 0700) || tally_begin(&t, from))
		return false;
	done = write_fewer(to, text, &t) && link_files(from, to);
	tally_end(&t);
	return done;
}

char *fewer_of(struct fewer *f, const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *text = NULL, to[PATH_MAX];
	bool made = false;
	uint64_t size = 0;
	struct stat st;

	if (dir >= 0 && !fstatat(dir, "metadata", &st, AT_SYMLINK_NOFOLLOW) && st.st_size > (off_t)LITTLE)
		text = tally_metadata(dir, &size);
	if (text && is_over(text))
		made = make(f, path, text, to, sizeof(to));
	free(text);
	if (dir >= 0)
		close(dir);
	return made ? strdup(to) : NULL;
}

void fewer_end(struct fewer *f)
{
	if (*f->folder)
		remove_traces(f->folder);
}
