// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Calls of functions, from the records of call/ patterns: a table by function, a tree, or folded
 * stacks for a flame graph.
 *
 * A record is made at the exit, so the calls of a function stand before it in the ring, one level
 * deeper. Calls whose caller has no record, for it goes on, or was left by an exception, are at the
 * top of the tree. Where packets of a ring were overwritten the tree begins anew.
 */
#include "tool.h"
#include "losses.h"
#include "names.h"
#include "tally.h"
#include "../ids.h"
#include "../trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jumpfunc/detail/ring_user.h>
#include <jumpfunc/recover.h>

/* In a record of a call: see struct jf_call_record of the agent. */
#define DURATION_AT	72
#define DEPTH_AT	80
#define LEFT_AT		84
#define CALL_SIZE	96
#define DEPTH_MAX	8192
#define PACKET_MAX	(64u << 20)

/**
 * struct node - calls of a function by the same callers
 * @next:  of the same caller
 * @first: of the functions that it has called
 * @name:  of the function
 * @calls: how many
 * @total: nanoseconds
 * @most:  of one call
 */
struct node {
	struct node	*next;
	struct node	*first;
	const char	*name;
	uint64_t	calls;
	uint64_t	total;
	uint64_t	most;
};

/**
 * struct packet - of a ring
 * @ring: its number
 * @seq:  of the packet
 * @at:   in its file
 * @size: of it
 * @name: of the file
 */
struct packet {
	uint64_t	ring;
	uint64_t	seq;
	uint64_t	at;
	uint64_t	size;
	char		name[32];
};

/**
 * struct calls - of a folder's traces
 * @root:    calls that no other one has made
 * @open:    by depth: calls whose caller's record has not come yet
 * @names:   of functions: two that are equal are at one place
 * @is_call: by number of an event: its name, or NULL: it is no call
 * @timed:   by number of a structure: it has the fields of a call
 * @packet:  of the present trace
 * @num:     of them
 * @left:    calls without an exit
 * @deep:    records that are too deep
 * @err:     -errno: not all could be read
 */
struct calls {
	struct node	*root;
	struct node	*open[DEPTH_MAX + 1];
	struct names	names;
	const char	*is_call[TALLY_EVENTS];
	bool		timed[TALLY_EVENTS];
	struct packet	*packet;
	size_t		num;
	uint64_t	left;
	uint64_t	deep;
	int		err;
};

/* --- the tree ------------------------------------------------------------------------- */

static void merge(struct node **list, struct node *n)
{
	struct node *same, *child, *next;

	for (same = *list; same; same = same->next)
		if (same->name == n->name)
			break;
	if (!same) {
		n->next = *list;
		*list = n;
		return;
	}
	same->calls += n->calls;
	same->total += n->total;
	same->most = n->most > same->most ? n->most : same->most;
	for (child = n->first; child; child = next) {
		next = child->next;
		merge(&same->first, child);
	}
	free(n);
}

static void free_tree(struct node *n)
{
	struct node *next;

	for (; n; n = next) {
		next = n->next;
		free_tree(n->first);
		free(n);
	}
}

/* Those that still wait for their caller have no other. */
static void end_ring(struct calls *c)
{
	struct node *n, *next;
	unsigned int i;

	for (i = 0; i <= DEPTH_MAX; i++) {
		for (n = c->open[i]; n; n = next) {
			next = n->next;
			merge(&c->root, n);
		}
		c->open[i] = NULL;
	}
}

static int one_record(const struct jf_record_seen *r, void *arg)
{
	struct calls *c = (struct calls *)arg;
	const char *data = (const char *)r->data;
	uint32_t depth, left;
	struct node *n;

	if (!r->id || !c->is_call[r->id] || r->size < CALL_SIZE)
		return 0;
	memcpy(&depth, data + DEPTH_AT, sizeof(depth));
	memcpy(&left, data + LEFT_AT, sizeof(left));
	c->left += left;
	if (depth >= DEPTH_MAX) {
		c->deep++;
		return 0;
	}
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->name = c->is_call[r->id];
	n->calls = 1;
	memcpy(&n->total, data + DURATION_AT, sizeof(n->total));
	n->most = n->total;
	n->first = c->open[depth + 1];
	c->open[depth + 1] = NULL;
	merge(&c->open[depth], n);
	return 0;
}

/* --- a trace -------------------------------------------------------------------------- */

/* The event of a call has fields of the agent's own: duration and depth. */
static bool has_times(const char *piece, const char *end)
{
	static const char duration[] = " _duration;\n", depth[] = " _depth;\n";

	return memmem(piece, (size_t)(end - piece), duration, sizeof(duration) - 1) &&
	       memmem(piece, (size_t)(end - piece), depth, sizeof(depth) - 1);
}

static void learn_event(struct calls *c, const char *piece, const char *end)
{
	unsigned int fields = jf_fields_number(piece), id;
	const char *name;
	size_t len, number;

	if (!jf_event_next(piece - 1, &name, &len, &id) || name > end || id >= TALLY_EVENTS)
		return;
	if (!(fields < TALLY_EVENTS && c->timed[fields]) && !has_times(piece, end))
		return;
	number = names_number(&c->names, name, len);
	c->is_call[id] = number == INDEX_NONE ? NULL : c->names.name[number];
}

static void learn_calls(struct calls *c, const char *text)
{
	const char *piece = text, *end;
	unsigned int number;

	memset(c->is_call, 0, sizeof(c->is_call));
	memset(c->timed, 0, sizeof(c->timed));
	while ((piece = jf_piece_next(piece))) {
		end = strstr(piece, "\n};\n");
		number = jf_struct_number(piece);
		if (!end)
			return;
		if (!number)
			learn_event(c, piece, end + 1);
		else if (number < TALLY_EVENTS)
			c->timed[number] = has_times(piece, end + 1);
	}
}

static int by_order(const void *x, const void *y)
{
	const struct packet *a = (const struct packet *)x, *b = (const struct packet *)y;

	if (a->ring != b->ring)
		return a->ring < b->ring ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static void add_packets(struct calls *c, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct jf_packet head;
	struct packet *more;
	uint64_t at, size;
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		st.st_size = 0;
	for (at = 0; at < (uint64_t)st.st_size && jf_head_read(fd, &head, at) &&
	     jf_head_valid(&head, (uint64_t)st.st_size - at); at += size) {
		size = head.packet_size / 8;
		if (!head.seq || size > PACKET_MAX)
			continue;
		more = c->num & (c->num - 1) ? c->packet : realloc(c->packet, (c->num ? 2 * c->num : 1) * sizeof(*more));
		if (!more) {
			c->err = -ENOMEM;
			break;
		}
		c->packet = more;
		more[c->num] = (struct packet){ head.ring, head.seq, at, size, "" };
		snprintf(more[c->num++].name, sizeof(more->name), "%s", name);
	}
	close(fd);
}

static void read_packet(struct calls *c, int dir, const struct packet *p)
{
	int fd = openat(dir, p->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), err;
	char *data = fd < 0 ? NULL : malloc(p->size);

	if (data && pread(fd, data, p->size, (off_t)p->at) == (ssize_t)p->size) {
		err = jf_recover_packet(data, p->size, one_record, c, NULL);
		c->err = err && err != -EINVAL ? err : c->err;
	} else {
		c->err = data || fd < 0 ? -EIO : -ENOMEM;
	}
	free(data);
	if (fd >= 0)
		close(fd);
}

static void read_trace(const char *path, void *arg)
{
	struct calls *c = (struct calls *)arg;
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t size;
	char *text = dir < 0 ? NULL : tally_metadata(dir, &size);
	DIR *files = text ? opendir(path) : NULL;
	struct dirent *e;
	size_t i;

	c->num = 0;
	if (!files)
		c->err = dir < 0 ? -errno : -EIO;
	if (text)
		learn_calls(c, text);
	while (files && (e = readdir(files)))
		if (*e->d_name == 'r' && strlen(e->d_name) < sizeof(c->packet->name))
			add_packets(c, dir, e->d_name);
	if (c->num)
		qsort(c->packet, c->num, sizeof(*c->packet), by_order);
	for (i = 0; i < c->num; i++) {
		if (i && (c->packet[i].ring != c->packet[i - 1].ring || c->packet[i].seq != c->packet[i - 1].seq + 1))
			end_ring(c);
		read_packet(c, dir, &c->packet[i]);
	}
	end_ring(c);
	if (files)
		closedir(files);
	if (dir >= 0)
		close(dir);
	free(text);
}

/* --- output --------------------------------------------------------------------------- */

static uint64_t self_of(const struct node *n)
{
	const struct node *child;
	uint64_t inside = 0;

	for (child = n->first; child; child = child->next)
		inside += child->total;
	return inside < n->total ? n->total - inside : 0;
}

static void put_time(uint64_t ns)
{
	printf("%10" PRIu64 ".%03u ", ns / 1000, (unsigned int)(ns % 1000));
}

/**
 * struct row - of the table
 * @name:  of the function
 * @calls: of it
 * @total: without calls of it that it has made itself, by whatever way
 * @all:   with them
 * @self:  without the functions that it has called
 * @most:  of one call
 */
struct row {
	const char	*name;
	uint64_t	calls;
	uint64_t	total;
	uint64_t	all;
	uint64_t	self;
	uint64_t	most;
};

struct rows {
	struct row	*row;
	size_t		num;
	struct index	index;		/* by the place of a name */
	const char	*stack[DEPTH_MAX + 2];
};

static bool add_rows(struct rows *r, const struct node *n, unsigned int depth)
{
	struct row *row;
	bool within;
	unsigned int k;
	size_t *at;

	for (; n; n = n->next) {
		at = index_at(&r->index, (uintptr_t)n->name, 0);
		if (!at)
			return false;
		if (*at == INDEX_NONE) {
			row = realloc(r->row, (r->num + 1) * sizeof(*row));
			if (!row)
				return false;
			r->row = row;
			row[r->num] = (struct row){ n->name, 0, 0, 0, 0, 0 };
			*at = r->num++;
		}
		row = &r->row[*at];
		for (within = false, k = 0; k < depth && !within; k++)
			within = r->stack[k] == n->name;
		row->calls += n->calls;
		row->total += within ? 0 : n->total;
		row->all += n->total;
		row->self += self_of(n);
		row->most = n->most > row->most ? n->most : row->most;
		r->stack[depth] = n->name;
		if (!add_rows(r, n->first, depth + 1))
			return false;
	}
	return true;
}

static int by_total(const void *x, const void *y)
{
	const struct row *a = (const struct row *)x, *b = (const struct row *)y;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int put_summary(const struct node *root)
{
	struct rows *r = calloc(1, sizeof(*r));
	bool ok = r && add_rows(r, root, 0);
	size_t i;

	if (ok && r->num)
		qsort(r->row, r->num, sizeof(*r->row), by_total);
	if (ok)
		puts("   TOTAL (us)      SELF (us)      MEAN (us)       MAX (us)      CALLS FUNCTION");
	for (i = 0; ok && i < r->num; i++) {
		put_time(r->row[i].total);
		put_time(r->row[i].self);
		put_time(r->row[i].all / r->row[i].calls);
		put_time(r->row[i].most);
		printf("%10" PRIu64 " ", r->row[i].calls);
		put_name(stdout, r->row[i].name);
		putchar('\n');
	}
	if (r) {
		free(r->row);
		index_free(&r->index);
	}
	free(r);
	return ok ? STATUS_OK : fail("%s", strerror(ENOMEM));
}

static void put_graph(const struct node *n, unsigned int depth)
{
	for (; n; n = n->next) {
		put_time(n->total);
		put_time(self_of(n));
		printf("%10" PRIu64 " %*s", n->calls, (int)(2 * depth), "");
		put_name(stdout, n->name);
		putchar('\n');
		put_graph(n->first, depth + 1);
	}
}

/* "caller;function NANOSECONDS": a ';' or a blank of a name would be one of the line. */
static void put_folded(const struct node *n, const char **stack, unsigned int depth)
{
	unsigned int i;
	char *text, *p;

	for (; n; n = n->next) {
		text = readable(n->name);
		for (p = text; p && *p; p++)
			*p = *p == ';' ? ':' : *p;
		stack[depth] = text ? text : n->name;
		for (i = 0; self_of(n) && i <= depth; i++) {
			if (i)
				putchar(';');
			put_safe(stdout, stack[i]);
		}
		if (self_of(n))
			printf(" %" PRIu64 "\n", self_of(n));
		put_folded(n->first, stack, depth + 1);
		free(text);
	}
}

static int order_of(const struct node *a, const struct node *b)
{
	return a->total != b->total ? a->total < b->total : strcmp(a->name, b->name) > 0;
}

/* The longest first. */
static void sort_tree(struct node **list)
{
	struct node *sorted = NULL, *n, *next, **at;

	for (n = *list; n; n = next) {
		next = n->next;
		for (at = &sorted; *at && order_of(n, *at); at = &(*at)->next)
			;
		n->next = *at;
		*at = n;
		sort_tree(&n->first);
	}
	*list = sorted;
}

int report_calls(const char *folder, enum view view)
{
	struct calls *c = calloc(1, sizeof(*c));
	const char *stack[DEPTH_MAX + 2];
	int status = STATUS_OK;

	if (!c)
		return fail("%s", strerror(ENOMEM));
	each_trace(folder, read_trace, c);
	sort_tree(&c->root);
	if (!c->root) {
		fail("%s has no record of a call: record with a pattern as 'call/prog:*'", folder);
		status = STATUS_NONE;
	} else if (view == VIEW_SUMMARY) {
		status = put_summary(c->root);
	} else if (view == VIEW_GRAPH) {
		puts("   TOTAL (us)      SELF (us)      CALLS FUNCTION");
		put_graph(c->root, 0);
	} else {
		put_folded(c->root, stack, 0);
	}
	if (c->left)
		note("%" PRIu64 " calls were left without an exit, by exceptions or jumps: they are not counted", c->left);
	if (c->deep)
		note("%" PRIu64 " records of calls that are nested more than %d times are not shown", c->deep, DEPTH_MAX);
	if (c->err)
		status = fail("%s: not all could be read: %s", folder, strerror(-c->err));
	free_tree(c->root);
	names_free(&c->names);
	free(c->packet);
	free(c);
	return status;
}
