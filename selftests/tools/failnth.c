// SPDX-License-Identifier: GPL-2.0
/*
 * failnth: does one thing again and again, each time with another one of its memory allocations
 * failing, until it succeeds without.
 *
 *   failnth [OPTION...] DO
 *     -u UNDO    undoes it: done after each attempt that succeeded
 *     -b BEFORE  done before each attempt, must always succeed
 *     -s FILE    state that a failed attempt must not change, and a successful one must change
 *                always alike; may be given several times.  FILE=REGEXP: only lines that match
 *     -S FILE    the same, but only for failed attempts: counters
 *     -g PATH    must not be there after a failed attempt; may be given several times
 *     -e ERRNO   a number that a failed attempt may give, besides that of ENOMEM
 *     -o         an attempt may succeed in spite of the failure with another state
 *     -p STEP    all allocations fail after so many bytes: 0, STEP, 2 * STEP ...
 *     -n FIRST   begin with this allocation; -i INCREMENT, -m MAX: give up there
 *     -c FILE    count those only that FILE counts, which is written and read as fail-nth is:
 *                parameter nth of jf_nth.ko
 *     -v         say the result of each attempt
 *   DO and UNDO are
 *     write FILE TEXT   one write(2); the file is opened before anything fails
 *     read FILE         open it and read all of it
 *     load MODULE.ko PARAMETERS
 *     unload MODULE
 *     none
 *
 * The last line is `attempts=N failed=N survived=N`, with the numbers of attempts that were hit and
 * of those that failed or succeeded all the same. The exit status is 0 if all was as it should be,
 * 1 if not, 4 where the kernel cannot do this.
 *
 * Only this task's allocations fail: /proc/thread-self/fail-nth, or the task filter of failslab.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../user/test/options.h"

#define SLAB	"/sys/kernel/debug/failslab/"
#define PAGES	"/sys/kernel/debug/fail_page_alloc/"
#define MAXSTATE 8
#define READ_SIZE (4 << 20)

struct op {
	char *what, *name, *arg;
	int fd;
};

struct state {
	char *file;
	int counters;		/* -S */
	int filtered;
	regex_t only;
	char *before, *after;	/* after: the state after success */
};

static struct op op_do, op_undo = { .what = "none" }, op_before = { .what = "none" };
static struct state states[MAXSTATE];
static int nstates, ngone, nerr = 1, other, verbose, bad;
static char *gone[MAXSTATE];
static int allowed[MAXSTATE + 1] = { ENOMEM };
static unsigned long persist;		/* -p: so many bytes more each time */
static unsigned long first = ~0UL, step = 1, max_nth;
static long attempts, failed, survived;
static int nth_fd = -1, make_fd = -1;
static const char *counter;
static char *buf;

static void die(const char *fmt, ...)
{
	va_list a;

	va_start(a, fmt);
	vprintf(fmt, a);
	va_end(a);
	printf(" (%s)\n", strerror(errno));
	exit(2);
}

static void complain(long n, const char *fmt, ...)
{
	va_list a;

	va_start(a, fmt);
	printf("attempt %ld: ", n);
	vprintf(fmt, a);
	printf("\n");
	va_end(a);
	bad++;
}

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("cannot write %s to %s", text, file);
	close(fd);
}

static void put_if_there(const char *file, const char *text)
{
	if (!access(file, W_OK))
		put(file, text);
}

/* --- operations -------------------------------------------------------------- */

static void prepare(struct op *o)
{
	o->fd = -1;
	if (!strcmp(o->what, "write"))
		o->fd = open(o->name, O_WRONLY);
	else if (!strcmp(o->what, "load"))
		o->fd = open(o->name, O_RDONLY);
	else
		return;
	if (o->fd < 0)
		die("cannot open %s", o->name);
}

/* 0 or an errno. Makes no system call but those that it is about. */
static int perform(struct op *o)
{
	ssize_t n;

	if (!strcmp(o->what, "write")) {
		n = write(o->fd, o->arg, strlen(o->arg));
		return n < 0 ? errno : 0;
	}
	if (!strcmp(o->what, "read")) {
		o->fd = open(o->name, O_RDONLY);
		if (o->fd < 0)
			return errno;
		while ((n = read(o->fd, buf, READ_SIZE)) > 0)
			;
		return n < 0 ? errno : 0;
	}
	if (!strcmp(o->what, "load"))
		return syscall(SYS_finit_module, o->fd, o->arg, 0) ? errno : 0;
	if (!strcmp(o->what, "unload"))
		return syscall(SYS_delete_module, o->name, O_NONBLOCK) ? errno : 0;
	return 0;
}

static void finish(struct op *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}

static int once(struct op *o)
{
	int err;

	prepare(o);
	err = perform(o);
	finish(o);
	return err;
}

/* --- state --------------------------------------------------------------------- */

static char *slurp(struct state *s)
{
	int fd = open(s->file, O_RDONLY);
	size_t len = 0;
	char *text, *line, *out, *next;
	ssize_t n;

	if (fd < 0)
		return strdup("(not there)\n");
	while ((n = read(fd, buf + len, READ_SIZE - 1 - len)) > 0)
		len += n;
	close(fd);
	buf[len] = '\0';
	if (!s->filtered)
		return strdup(buf);
	text = out = malloc(len + 1);
	for (line = buf; *line; line = next) {
		char *end = strchrnul(line, '\n');

		next = *end ? end + 1 : end;
		*end = '\0';
		if (!regexec(&s->only, line, 0, NULL, 0))
			out += sprintf(out, "%s\n", line);
	}
	*out = '\0';
	return text;
}

/* The first line in which they differ. */
static void show_difference(const char *a, const char *b)
{
	while (*a && *b) {
		size_t la = strchrnul(a, '\n') - a, lb = strchrnul(b, '\n') - b;

		if (la != lb || memcmp(a, b, la))
			break;
		a += la + !!a[la];
		b += lb + !!b[lb];
	}
	printf("  was: %.*s\n  is:  %.*s\n", (int)(strchrnul(a, '\n') - a), a,
	       (int)(strchrnul(b, '\n') - b), b);
}

static void look_before(void)
{
	int i;

	for (i = 0; i < nstates; i++) {
		free(states[i].before);
		states[i].before = slurp(&states[i]);
	}
}

/* @failed: all must be as before, else as after the first success. */
static void look_after(long n, int failed, int was_hit)
{
	int i, try;

	for (i = 0; i < nstates; i++) {
		struct state *s = &states[i];
		char *want = failed ? s->before : s->after, *now = NULL;

		if (!failed && s->counters)
			continue;
		if (!want) {
			s->after = slurp(s);
			continue;
		}
		/* Memory that is freed after a grace period may take its time. */
		for (try = 0; try < 40; try++) {
			now = slurp(s);
			if (!strcmp(now, want))
				break;
			if (!failed && was_hit && other)
				break;
			if (try == 39) {
				complain(n, "%s %s", s->file, failed ? "has changed although it failed" :
					 "is not as after other successes");
				show_difference(want, now);
				break;
			}
			usleep(100000);
			free(now);
		}
		free(now);
	}
	for (i = 0; failed && i < ngone; i++)
		if (!access(gone[i], F_OK))
			complain(n, "%s is there although it failed", gone[i]);
}

/* --- attempts ------------------------------------------------------------------- */

static void arm(long n)
{
	char text[24];
	int len;

	if (persist) {
		sprintf(text, "%ld", n);
		put(SLAB "space", text);
		put_if_there(PAGES "space", text);
		if (pwrite(make_fd, "1", 1, 0) != 1)
			die("cannot write make-it-fail");
		return;
	}
	len = sprintf(text, "%ld", n);
	if (write(nth_fd, text, len) != len)
		die("cannot write %s to fail-nth", text);
}

/*
 * The number of allocations that were still to succeed before one had failed. 0: one was hit; -1:
 * unknown.
 */
static long disarm(void)
{
	char text[24] = "";
	int len;

	if (persist) {
		/* Opening it would take memory. */
		if (pwrite(make_fd, "0", 1, 0) != 1)
			die("cannot write make-it-fail");
		/* Allocations take bytes of "space"; the rest of it says nothing. */
		return -1;
	}
	len = pread(nth_fd, text, sizeof(text) - 1, 0);
	if (len <= 0)
		die("cannot read fail-nth");
	if (write(nth_fd, "0", 1) != 1)
		die("cannot write 0 to fail-nth");
	return atol(text);
}

static void set_up(void)
{
	if (access(SLAB "probability", W_OK)) {
		printf("no failslab in this kernel (CONFIG_FAILSLAB, CONFIG_FAULT_INJECTION_DEBUG_FS)\n");
		exit(4);
	}
	nth_fd = open(counter ?: "/proc/thread-self/fail-nth", O_RDWR);
	if (nth_fd < 0 && counter)
		die("cannot open %s", counter);
	make_fd = open("/proc/self/make-it-fail", O_RDWR);
	if (nth_fd < 0 || make_fd < 0) {
		printf("no fail-nth in this kernel (CONFIG_FAULT_INJECTION)\n");
		exit(4);
	}
	/* Also those that may wait for memory, and those of all caches. */
	put(SLAB "ignore-gfp-wait", "N");
	put_if_there(SLAB "cache-filter", "N");
	put(SLAB "verbose", verbose > 1 ? "2" : "0");
	put(SLAB "probability", "0");
	put_if_there(PAGES "ignore-gfp-wait", "N");
	put_if_there(PAGES "ignore-gfp-highmem", "N");
	put_if_there(PAGES "min-order", "0");
	put_if_there(PAGES "verbose", verbose > 1 ? "2" : "0");
	put_if_there(PAGES "probability", "0");
	if (persist) {
		put(SLAB "task-filter", "Y");
		put(SLAB "times", "-1");
		put(SLAB "interval", "1");
		put(SLAB "probability", "100");
		put_if_there(PAGES "task-filter", "Y");
		put_if_there(PAGES "times", "-1");
		put_if_there(PAGES "interval", "1");
		put_if_there(PAGES "probability", "100");
	}
}

static void tear_down(void)
{
	put(SLAB "probability", "0");
	put(SLAB "task-filter", "N");
	put_if_there(PAGES "probability", "0");
	put_if_there(PAGES "task-filter", "N");
}

static int is_allowed(int err)
{
	int i;

	for (i = 0; i < nerr; i++)
		if (allowed[i] == err)
			return 1;
	return 0;
}

static void parse_op(struct op *o, char **argv)
{
	static char empty[] = "";

	if (!argv[0])
		exit((printf("failnth: what shall I do?\n"), 2));
	o->what = argv[0];
	o->name = argv[1];
	o->arg = argv[1] && argv[2] ? argv[2] : empty;
	if (strcmp(o->what, "none") && !o->name)
		exit((printf("failnth: %s what?\n", o->what), 2));
}

/* "WORD WORD REST" */
static void parse_op_string(struct op *o, char *text)
{
	char *argv[4] = { };
	int n;

	for (n = 0; n < 2 && text; n++) {
		argv[n] = strsep(&text, " ");
	}
	argv[2] = text;
	parse_op(o, argv);
}

static void take_undo(char *text)
{
	parse_op_string(&op_undo, text);
}

static void take_before(char *text)
{
	parse_op_string(&op_before, text);
}

static struct state *add_state(char *text)
{
	struct state *s = &states[nstates];
	char *eq = strchr(text, '=');

	if (nstates++ == MAXSTATE)
		exit(2);
	if (eq) {
		*eq++ = '\0';
		s->filtered = 1;
		if (regcomp(&s->only, eq, REG_EXTENDED | REG_NOSUB))
			exit((printf("failnth: %s?\n", eq), 2));
	}
	s->file = text;
	return s;
}

static void take_state(char *text)
{
	add_state(text);
}

static void take_counters(char *text)
{
	add_state(text)->counters = 1;
}

static void take_gone(char *text)
{
	if (ngone == MAXSTATE)
		exit(2);
	gone[ngone++] = text;
}

static void take_allowed(char *text)
{
	if (nerr > MAXSTATE)
		exit(2);
	allowed[nerr++] = atoi(text);
}

static void take_persist(char *text)
{
	persist = step = strtoul(text, NULL, 0);
}

static void usage(FILE *to)
{
	fputs("usage: failnth [OPTION...] DO; what they are, says the beginning of its source\n", to);
}

static void parse_options(int argc, char **argv)
{
	static const struct option_row rows[] = {
		{ .letter = 'u', .take = take_undo },
		{ .letter = 'b', .take = take_before },
		{ .letter = 's', .take = take_state },
		{ .letter = 'S', .take = take_counters },
		{ .letter = 'g', .take = take_gone },
		{ .letter = 'e', .take = take_allowed },
		{ .letter = 'o', .flag = &other },
		{ .letter = 'p', .take = take_persist },
		{ .letter = 'n', .number = &first, .max = ~0UL },
		{ .letter = 'i', .number = &step, .min = 1, .max = ~0UL },
		{ .letter = 'c', .text = &counter },
		{ .letter = 'm', .number = &max_nth, .max = ~0UL },
		{ .letter = 'v', .flag = &verbose },
	};

	parse_op(&op_do, argv + options_parse(argc, argv, usage, rows, sizeof(rows) / sizeof(*rows)));
	if (counter && persist)
		exit((printf("failnth: -c counts allocations, -p bytes\n"), 2));
	if (first == ~0UL)
		first = persist ? 0 : 1;
	if (!max_nth)
		max_nth = persist ? 16 << 20 /* bytes */ : 1 << 18;
}

static void undo(long n)
{
	int err = once(&op_undo);

	if (err)
		complain(n, "undo gives %s", strerror(err));
}

/* The state after success. */
static int succeed_once(void)
{
	int err = once(&op_before);

	if (err)
		complain(0, "cannot begin: %s", strerror(err));
	look_before();
	prepare(&op_do);
	err = perform(&op_do);
	finish(&op_do);
	if (err) {
		printf("without a failure: %s %s gives %s\n", op_do.what, op_do.name, strerror(err));
		return err;
	}
	look_after(0, 0, 0);
	undo(0);
	return 0;
}

/* Was one hit? -1: unknown. */
static int attempt(long n, int *err)
{
	long left;
	int hit;

	look_before();
	prepare(&op_do);
	arm(n);
	*err = perform(&op_do);
	left = disarm();
	hit = left < 0 ? -1 : !left;
	finish(&op_do);
	attempts++;
	if (verbose)
		printf("attempt %ld: %s%s\n", n, *err ? strerror(*err) : "succeeded",
		       hit ? "" : ", nothing failed");
	if (*err && !is_allowed(*err))
		complain(n, "gives %s", strerror(*err));
	failed += !!*err;
	survived += !*err && hit == 1;
	look_after(n, !!*err, hit);
	return hit;
}

/* Each allocation in its turn, until none is hit any more. */
static int fail_one_after_another(void)
{
	unsigned long n;
	int err, hit, quiet = 0;

	for (n = first; !bad && n <= max_nth; n += step) {
		err = once(&op_before);
		if (err) {
			complain(n, "cannot begin: %s", strerror(err));
			break;
		}
		hit = attempt(n, &err);
		if (err) {
			quiet = 0;
			if (hit == 0)
				complain(n, "failed although no allocation did");
			continue;
		}
		undo(n);
		/*
		 * With a budget, several successes in a row are its end; and some are needed where
		 * the number depends on other work of the machine.
		 */
		quiet = hit > 0 ? 0 : quiet + 1;
		if (quiet > (hit < 0 ? 8 : counter ? 2 : 0))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int done;

	buf = malloc(READ_SIZE);
	parse_options(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	set_up();
	if (succeed_once()) {
		tear_down();
		return 1;
	}
	done = fail_one_after_another();
	tear_down();
	if (!done && !bad) {
		printf("after %ld attempts there is no end\n", attempts);
		bad++;
	}
	printf("attempts=%ld failed=%ld survived=%ld\n", attempts, failed, survived);
	return bad ? 1 : 0;
}
