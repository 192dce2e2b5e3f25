// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_debugfs: writes random commands to the files of /sys/kernel/debug/jumpfunc, and knows the
 * result that each input must have.
 *
 *   fuzz_debugfs [-s SEED] [-n INPUTS] [-t SECONDS] [-c SECONDS] [-v]
 *     -s   the same seed makes the same inputs; each input depends on its number and the seed alone
 *     -n   so many inputs one after the other, -t or as many as there is time for
 *     -c   then for so long several writers and readers at the same time
 *     -b   only the file bench: the other files are read before and after all of them, but not
 *          `functions` and `keys`, which with the benchmark's 11,000 sites takes seconds
 *     -o N only input number N, and say what it is and what the result was
 *
 * The result of an input is worked out from docs/debugfs.md, not from the code:
 *   - which errno it gives, or that it is taken, as a whole
 *   - refused: not a byte of functions, keys, dispatch and subscribers is other than before, and no
 *     counter of stats but "errors"
 *   - taken: the functions that it names lead where it says, their counts say how often that
 *     changed, and everything else is as before
 * and whenever `functions` is read, each function's sites lead where its target says.
 *
 * With several writers at once, every function must end up where one of them wanted it, pairs that
 * are always written together must end up together, and no writer can get an error of another one.
 * A reader sees each function at one moment, but two functions at two moments.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../user/test/options.h"

#define DIR		"/sys/kernel/debug/jumpfunc/"
#define MAX_INPUT	(1 << 20)
#define WRITE_MAX	4095	/* docs/debugfs.md: one write of 1 to 4095 bytes */
#define MAX_FUNCS	64
#define NAME		128
#define DUMP		(4 << 20)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static unsigned long seed, inputs = 1000000000, seconds, together;
static unsigned long only;	/* 0: not only one */
static int verbose, only_bench;
static uint64_t rnd;
static int bad;

static uint32_t random32(void)
{
	rnd = rnd * 6364136223846793005ULL + 1442695040888963407ULL;
	return (rnd >> 33) ^ (rnd >> 50);
}

static uint32_t below(uint32_t n)
{
	return random32() % n;
}

static int one_in(uint32_t n)
{
	return !below(n);
}

/* --- inputs ------------------------------------------------------------------ */

static char *in;		/* the input */
static size_t len;

static void print_input(void)
{
	size_t i, n = len < 200 ? len : 200;

	printf("  %zu bytes: \"", len);
	for (i = 0; i < n; i++) {
		unsigned char c = in[i];

		if (c >= ' ' && c < 127 && c != '"' && c != '\\')
			putchar(c);
		else
			printf("\\x%02x", c);
	}
	printf(n < len ? "\"...\n" : "\"\n");
}

static void add(const char *fmt, ...)
{
	va_list a;

	va_start(a, fmt);
	len += vsnprintf(in + len, 4096, fmt, a);
	va_end(a);
}

static const char * const pieces[] = {
	"=", " ", "\t", "\n", "\r", "\v", ":", ",", ";", "%s", "%n", "%p%p%p%p", "\\", "\"", "'", "\x7f", "\xff",
	"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x92\xa3", "0", "1", "2", "-", "+", "0x", "default", "none", "[off]",
	"func0", "jf_func0_1", "../", "#",
};

static void put_into(size_t at, const char *what, size_t n)
{
	memmove(in + at + n, in + at, len - at);
	memcpy(in + at, what, n);
	len += n;
}

/* At the limits of a command and of a page, and beyond. */
static void make_long(void)
{
	static const size_t sizes[] = { 255, 256, 4094, 4095, 4096, 4097, 8192, 65536, MAX_INPUT };
	size_t want = sizes[below(ARRAY_SIZE(sizes))];
	char fill = one_in(2) ? ' ' : one_in(2) ? 'a' : '\n';

	if (want > len) {
		memset(in + len, fill, want - len);
		len = want;
	}
}

static void mutate(void)
{
	size_t at = len ? below(len + 1) : 0, n;
	const char *p;

	switch (below(9)) {
	case 0:			/* another byte */
		if (at < len)
			in[at] = below(256);
		break;
	case 1:			/* one bit of it */
		if (at < len)
			in[at] ^= 1 << below(8);
		break;
	case 2:			/* a NUL */
		put_into(at, "", 1);
		break;
	case 3:			/* something that means something somewhere */
		p = pieces[below(ARRAY_SIZE(pieces))];
		put_into(at, p, strlen(p));
		break;
	case 4:			/* less */
		n = below(len - at + 1);
		memmove(in + at, in + at + n, len - at - n);
		len -= n;
		break;
	case 5:			/* a part twice */
		n = below(len - at + 1);
		if (len + n > 60000)
			break;
		memmove(in + at + n, in + at, len - at);
		len += n;
		break;
	case 6:			/* cut off */
		len = at;
		break;
	case 7:			/* the other case */
		if (at < len)
			in[at] = isupper((unsigned char)in[at]) ? tolower(in[at]) : toupper(in[at]);
		break;
	case 8:
		if (one_in(4))
			make_long();
		break;
	}
}

/* --- data about the functions -------------------------------------------------- */

/* Of these the owners' lists are known; others must stay as they are. */
static const struct known {
	const char *name, *module, *first;
	const char *none;		/* its line when it is set to "none"; NULL: it cannot be */
	const char *targets[4];
} known[] = {
	{ "func0", "jumpfunc", "jf_func0_0", NULL, { "jf_func0_0", "jf_func0_1", "jf_func0_2" } },
	{ "func1", "jumpfunc", "jf_func1_0", NULL, { "jf_func1_0", "jf_func1_1", "jf_func1_2" } },
	{ "func2", "jumpfunc", "jf_func2_0", NULL, { "jf_func2_0", "jf_func2_1", "jf_func2_2" } },
	{ "func3", "jumpfunc", "jf_func3_0", NULL, { "jf_func3_0", "jf_func3_1", "jf_func3_2" } },
	{ "ops_0", "jf_each_op", "target_0", NULL, { "target_0", "target_1", "target_2" } },
	{ "ops_1", "jf_each_op", "target_0", NULL, { "target_0", "target_1", "target_2" } },
	{ "ops_ret0", "jf_each_op", "return-0", "return-0", { "target_0", "target_1" } },
	{ "sample_filter", "jf_sample_provider", "accept_short", NULL, { "accept_short", "accept_all" } },
	{ "sample_hook", "jf_sample_provider", "none", "none", { "print_packet" } },
	{ "sample_quota", "jf_sample_provider", "return-0", "return-0", { "two_per_port" } },
};
#define KNOWN ARRAY_SIZE(known)

struct func {
	char name[NAME], module[NAME], target[NAME];
	unsigned long long updates;
	int known;			/* index, -1: not one of ours */
};

struct world {
	char *functions, *keys, *dispatch, *subscribers, *stats;
	struct func func[MAX_FUNCS];
	int num;
	long mode_changes;
};

static struct world worlds[2];

static size_t read_file(const char *name, char *buf, size_t size)
{
	char path[256];
	size_t n = 0;
	ssize_t r;
	int fd;

	snprintf(path, sizeof(path), DIR "%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		*buf = '\0';
		return 0;
	}
	while (n < size - 1 && (r = read(fd, buf + n, size - 1 - n)) > 0)
		n += r;
	close(fd);
	buf[n] = '\0';
	return n;
}

static void complain(const char *fmt, ...)
{
	va_list a;

	va_start(a, fmt);
	vprintf(fmt, a);
	va_end(a);
	putchar('\n');
	bad++;
}

/* "word rest": the word, and where the rest begins */
static const char *word(const char *p, char *to)
{
	size_t n = strcspn(p, " \n");

	snprintf(to, NAME, "%.*s", (int)(n < NAME ? n : NAME - 1), p);
	p += n;
	return *p == ' ' ? p + 1 : p;
}

/* Reads a dump; complains if it contradicts itself. Returns 0 if it made sense. */
static int parse_functions(struct world *w)
{
	const char *line = w->functions, *next, *p;
	struct func *f = NULL;
	int was_bad = bad;

	w->num = 0;
	for (; *line; line = next) {
		char kind[NAME], skip[NAME], want[NAME + 8];
		size_t n = strcspn(line, "\n");

		next = line[n] ? line + n + 1 : line + n;
		if (*line == '#')
			continue;
		if (strncmp(line, "  ", 2)) {
			char num[NAME];

			if (w->num == MAX_FUNCS)
				return -1;
			f = &w->func[w->num++];
			p = word(line, f->name);
			p = word(p, f->module);
			p = word(p, skip);
			p = word(p, f->target);
			if (*p == '[')		/* the target's module */
				p = word(p, skip);
			p = word(p, num);
			f->updates = strtoull(num, NULL, 10);
			f->known = -1;
			for (size_t i = 0; i < KNOWN; i++)
				if (!strcmp(known[i].name, f->name) && !strcmp(known[i].module, f->module))
					f->known = i;
			continue;
		}
		/* "  call address place  5 bytes  what [target]": two spaces before the bytes */
		if (!f || f->known < 0)
			continue;
		word(line + 2, kind);
		if (!strcmp(f->target, "none") || !strcmp(f->target, "return-0")) {
			/*
			 * A trampoline jumps to a stand-in, a call is a nop; or it calls the
			 * stand-in.
			 */
			p = memmem(line, n, "jf_nop", 6) ?: memmem(line, n, "jf_ret0", 7);
			if (!p && !memmem(line, n, "  nop", 5) && !memmem(line, n, "  xor eax", 9))
				complain("%s is %s, but a site says: %.*s", f->name, f->target, (int)n, line);
			continue;
		}
		snprintf(want, sizeof(want), " %s", f->target);
		p = memmem(line, n, want, strlen(want));
		if (!p || (!memmem(line, n, "  jmp ", 6) && !memmem(line, n, "  call ", 7)))
			complain("%s leads to %s, but a site says: %.*s", f->name, f->target, (int)n, line);
	}
	return bad == was_bad ? 0 : -1;
}

static void read_world(struct world *w)
{
	static char *buf;
	char *p, *line;

	if (!w->functions) {
		w->functions = malloc(DUMP);
		w->keys = malloc(DUMP);
		w->dispatch = malloc(4096);
		w->subscribers = malloc(4096);
		w->stats = malloc(8192);
	}
	if (!buf)
		buf = malloc(8192);
	*w->functions = *w->keys = '\0';
	if (!only_bench) {
		read_file("functions", w->functions, DUMP);
		read_file("keys", w->keys, DUMP);
	}
	read_file("dispatch", w->dispatch, 4096);
	read_file("subscribers", w->subscribers, 4096);
	read_file("stats", buf, 8192);
	/* Those that refusals, readers and the background move. */
	p = w->stats;
	*p = '\0';
	for (line = strtok(buf, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strncmp(line, "errors ", 7) || !strncmp(line, "ring_", 5) || !strncmp(line, "int3_", 5) ||
		    !strncmp(line, "images_", 7) || !strncmp(line, "quiesces ", 9) ||
		    !strncmp(line, "scan", 4))
			continue;
		p += sprintf(p, "%s\n", line);
	}
	parse_functions(w);
}

static const char *first_difference(const char *a, const char *b)
{
	static char text[1024];

	while (*a && *b) {
		size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");

		if (la != lb || memcmp(a, b, la))
			break;
		a += la + !!a[la];
		b += lb + !!b[lb];
	}
	snprintf(text, sizeof(text), "was \"%.*s\", is \"%.*s\"", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
	return text;
}

/* --- the result that an input must have ------------------------------------------ */

enum { UNKNOWN = -1 };

struct verdict {
	int err;			/* 0: taken */
	/* Of the world's functions: index into their targets, + 1. */
	int set[MAX_FUNCS];
	const char *to[MAX_FUNCS];
	int mode;			/* of dispatch, -1: stays */
	long subs;			/* -1: stays */
};

static const char * const modes[] = { "off", "kernel", "indirect", "dynfunc", "chain" };

static void judge_digit(struct verdict *v, const struct world *w, int n, const char *s)
{
	char name[8], target[16];
	int i;

	v->err = EINVAL;
	if (s[0] < '0' || s[0] > '2' || s[1])
		return;
	v->err = 0;
	snprintf(name, sizeof(name), "func%d", n);
	snprintf(target, sizeof(target), "jf_func%d_%c", n, s[0]);
	for (i = 0; i < w->num; i++)
		if (!strcmp(w->func[i].name, name) && w->func[i].known >= 0)
			v->to[i] = known[w->func[i].known].targets[s[0] - '0'];
}

static int find_func(const struct world *w, const char *name, int *index)
{
	const char *colon = strchr(name, ':');
	int i, found = 0;

	for (i = 0; i < w->num; i++) {
		const struct func *f = &w->func[i];

		if (colon && (strlen(f->module) != (size_t)(colon - name) || strncmp(f->module, name, colon - name)))
			continue;
		if (strcmp(f->name, colon ? colon + 1 : name))
			continue;
		*index = i;
		found++;
	}
	return found == 1 ? 0 : found ? EINVAL : ENOENT;
}

/*
 * "name#2" is the second of a name in its module; where there is one function of a name, it has no
 * number.
 */
static int find_ranked(const struct world *w, char *name, int *index)
{
	char *colon = strchr(name, ':'), *hash = strchr(colon ? colon + 1 : name, '#');
	unsigned long long rank = 0;
	const char *p;

	if (!hash)
		return find_func(w, name, index);
	for (p = hash + 1; *p >= '0' && *p <= '9' && rank <= UINT32_MAX; p++)
		rank = 10 * rank + (unsigned int)(*p - '0');
	if (hash == (colon ? colon + 1 : name) || *p || hash[1] == '0' || !rank || rank > UINT32_MAX)
		return EINVAL;
	*hash = '\0';
	return find_func(w, name, index) == EINVAL ? UNKNOWN : ENOENT;
}

static void judge_functions(struct verdict *v, const struct world *w, char *s)
{
	char *tok, *eq;
	int i = 0, t, words = 0, twice = 0;

	for (tok = strtok(s, " \t\n"); tok; tok = strtok(NULL, " \t\n")) {
		const struct known *k;
		const char *to = NULL;

		words++;
		eq = strchr(tok, '=');
		if (!eq) {
			v->err = EINVAL;
			return;
		}
		*eq++ = '\0';
		/* None of the parts may be empty. */
		if (!*tok || !*eq || *tok == ':' || tok[strlen(tok) - 1] == ':') {
			char *colon = strchr(tok, ':');

			/* But the name may end with a colon, if it has another one. */
			if (!*tok || !*eq || *tok == ':' || !colon[1]) {
				v->err = EINVAL;
				return;
			}
		}
		v->err = find_ranked(w, tok, &i);
		if (v->err)
			return;
		if (w->func[i].known < 0) {
			v->err = UNKNOWN;
			return;
		}
		k = &known[w->func[i].known];
		if (!strcmp(eq, "default"))
			to = k->first;
		else if (!strcmp(eq, "none"))
			to = k->none;
		for (t = 0; !to && strcmp(eq, "default") && strcmp(eq, "none") && t < 4 && k->targets[t]; t++)
			if (!strcmp(eq, k->targets[t]))
				to = k->targets[t];
		if (!to) {
			v->err = EPERM;
			return;
		}
		if (v->to[i] && strcmp(v->to[i], to))
			twice = 1;
		v->to[i] = to;
	}
	v->err = !words || twice ? EINVAL : 0;
}

static void judge_dispatch(struct verdict *v, const char *s)
{
	v->err = EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!strcmp(s, modes[i])) {
			v->err = 0;
			v->mode = i;
		}
	}
}

/* A decimal number: digits and nothing else, without leading zeros. */
static void judge_subscribers(struct verdict *v, const char *s)
{
	unsigned long long n = 0;

	v->err = EINVAL;
	if (!*s || (s[0] == '0' && s[1]))
		return;
	for (; *s; s++) {
		if (!isdigit((unsigned char)*s))
			return;
		n = n * 10 + (*s - '0');
		if (n > 1000000)
			return;
	}
	if (n > 16)
		return;
	v->err = 0;
	v->subs = n;
}

/* Only commands that run nothing are written there; UNKNOWN: it might. */
static void judge_bench(struct verdict *v, char *s)
{
	static const struct { const char *name; unsigned long min, max; } options[] = {
		{ "rounds=", 1, 10000 }, { "calls=", 64, 16384 }, { "repeats=", 1, 1000 }, { "onebyone_max=", 0, 5000 },
	};
	int format = 0;
	char *tok;

	v->err = EINVAL;
	for (tok = strtok(s, " \t\n"); tok; tok = strtok(NULL, " \t\n")) {
		size_t i;

		if (!strcmp(tok, "all") || !strcmp(tok, "calls") || !strcmp(tok, "branches") ||
		    !strcmp(tok, "arrays") || !strcmp(tok, "batches")) {
			v->err = UNKNOWN;
			return;
		}
		if (!strcmp(tok, "format=csv") || !strcmp(tok, "format=table")) {
			format = 1;
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(options); i++) {
			size_t n = strlen(options[i].name);
			unsigned long long value = 0;
			const char *p = tok + n;

			if (strncmp(tok, options[i].name, n))
				continue;
			if (*p == '+')
				p++;
			if (!*p)
				return;
			for (; *p; p++) {
				if (!isdigit((unsigned char)*p))
					return;
				value = value * 10 + (*p - '0');
				if (value > 1000000)
					return;
			}
			if (value < options[i].min || value > options[i].max)
				return;
			break;
		}
		if (i == ARRAY_SIZE(options))
			return;
	}
	v->err = format ? 0 : EINVAL;
}

enum { FUNC0, FUNC1, FUNC2, FUNC3, FUNCTIONS, DISPATCH, SUBSCRIBERS, BENCH, NFILES };
static const char * const files[NFILES] = {
	"func0", "func1", "func2", "func3", "functions", "dispatch", "subscribers", "bench",
};

static void predict(struct verdict *v, const struct world *w, int file, long offset)
{
	static char *s;
	size_t n = len;

	memset(v, 0, sizeof(*v));
	v->mode = v->subs = -1;
	v->err = EINVAL;
	if (!len || len > WRITE_MAX || offset)
		return;
	if (!s)
		s = malloc(WRITE_MAX + 1);
	memcpy(s, in, n);
	s[n] = '\0';
	if (s[n - 1] == '\n')
		s[--n] = '\0';
	if (strlen(s) != n)
		return;
	switch (file) {
	case FUNCTIONS:
		judge_functions(v, w, s);
		break;
	case DISPATCH:
		judge_dispatch(v, s);
		break;
	case SUBSCRIBERS:
		judge_subscribers(v, s);
		break;
	case BENCH:
		judge_bench(v, s);
		break;
	default:
		judge_digit(v, w, file - FUNC0, s);
	}
}

/* --- making inputs up --------------------------------------------------------------- */

static const char *any_target(int k)
{
	int t;

	switch (below(12)) {
	case 0:
		return "default";
	case 1:
		return "none";
	case 2:
		k = below(KNOWN);	/* another one's */
		break;
	case 3:
		return pieces[below(ARRAY_SIZE(pieces))];
	case 4:
		return "0xffffffff81000000";
	}
	t = below(4);
	return known[k].targets[t] ?: known[k].targets[0];
}

static void make_functions(void)
{
	static const char * const seps[] = { " ", " ", " ", "\t", "\n", "  ", " \n\t ", ",", ";", "" };
	int i, n = one_in(20) ? 1 + below(120) : 1 + below(5);

	for (i = 0; i < n && len < 60000; i++) {
		int k = below(KNOWN);

		if (i)
			add("%s", seps[below(one_in(8) ? ARRAY_SIZE(seps) : 7)]);
		if (one_in(10))
			add("%s:", one_in(4) ? "jumpfunc" : known[k].module);
		if (one_in(30))
			add("%s", pieces[below(ARRAY_SIZE(pieces))]);
		else
			add("%s", known[k].name);
		if (!one_in(50))
			add("=");
		add("%s", any_target(k));
	}
}

static void make_number(void)
{
	static const char * const odd[] = {
		"-1", "3", "9", "00", "01", " 1", "1 ", "0x1", "1.0", "+1", "16", "17", "007", "4294967296", "4294967295",
		"18446744073709551616", "18446744073709551617", "-2147483648", "1e1", "\xd9\xa3", "",
	};

	if (one_in(3))
		add("%s", odd[below(ARRAY_SIZE(odd))]);
	else
		add("%u", below(one_in(4) ? 20 : 3));
}

static void make_bench(void)
{
	static const char * const words[] = {
		"format=csv", "format=table", "format=", "rounds=1", "rounds=0", "rounds=10001", "calls=63", "calls=64",
		"repeats=1001", "repeats=-1", "onebyone_max=5001", "onebyone_max=0", "call", "cal ls", "format=csv,",
	};
	int i, n = 1 + below(4);

	for (i = 0; i < n; i++)
		add("%s%s", i ? " " : "", words[below(ARRAY_SIZE(words))]);
}

static int make_input(long number)
{
	int file, i;

	/* Inputs do not depend on those before them: one can be had alone. */
	rnd = seed ^ (number * 0x9e3779b97f4a7c15ULL);
	for (i = 0; i < 4; i++)
		random32();
	len = 0;
	i = below(100);
	/* A change of modes attaches to all tracepoints and waits for them: rarely. */
	file = i < 36 ? (int)below(4) : i < 76 ? FUNCTIONS : i < 88 ? DISPATCH : SUBSCRIBERS;
	if (only_bench)
		file = BENCH;
	else if (file == BENCH)
		file = FUNCTIONS;
	switch (file) {
	case FUNCTIONS:
		make_functions();
		break;
	case DISPATCH:
		if (one_in(16))
			add("%s", modes[below(ARRAY_SIZE(modes))]);
		else
			add("%s%s", modes[below(ARRAY_SIZE(modes))], pieces[below(ARRAY_SIZE(pieces))]);
		break;
	case BENCH:
		make_bench();
		break;
	default:
		make_number();
	}
	if (one_in(2))
		add("\n");
	if (one_in(40))
		add("\n");
	if (one_in(file == FUNCTIONS ? 4 : 3))
		for (i = below(3); i >= 0; i--)
			mutate();
	return file;
}

/* --- one input ------------------------------------------------------------------------ */

static long taken, refused, unsure, changed_targets, partial_reads;

/* How the write is made. */
enum { PLAIN, APPEND, AT_OFFSET, AFTER_SEEK, TWICE, BAD_POINTER, NONE, WAYS };

static int open_for(int file, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), DIR "%s", files[file]);
	fd = open(path, O_WRONLY | flags);
	if (fd < 0)
		complain("cannot open %s: %s", path, strerror(errno));
	return fd;
}

static void check_result(long number, int file, const struct verdict *v, ssize_t r, size_t wanted)
{
	int err = r < 0 ? errno : 0;

	if (v->err == err && (err || r == (ssize_t)wanted))
		return;
	if (err)
		complain("input %ld to %s gives %s, not %s", number, files[file], strerror(err),
			 v->err ? strerror(v->err) : "success");
	else if (v->err)
		complain("input %ld to %s is taken, not refused with %s", number, files[file], strerror(v->err));
	else
		complain("input %ld to %s: %zd of %zu bytes are taken", number, files[file], r, wanted);
	print_input();
}

static void must_be(long number, int file, const char *what, const char *a, const char *b)
{
	if (!strcmp(a, b))
		return;
	complain("input %ld to %s: %s has changed: %s", number, files[file], what, first_difference(a, b));
	print_input();
}

/* Lines of functions that did not change must be the same; so leave out those that may. */
static char *without(const char *dump, const struct world *w, const struct verdict *v, int events)
{
	static char *bufs[2];
	static int which;
	const char *line, *next;
	char *out;
	int i = -1, skip = 0;

	which = !which;
	if (!bufs[which])
		bufs[which] = malloc(DUMP);
	out = bufs[which];
	for (line = dump; *line; line = next) {
		size_t n = strcspn(line, "\n");

		next = line[n] ? line + n + 1 : line + n;
		if (*line != '#' && strncmp(line, "  ", 2)) {
			i++;
			skip = i < w->num && v->to[i];
			/* The event set's own, when its mode changes. */
			if (events && (!strncmp(line, "jf_event_", 9) || !strncmp(line, "__jf_tp_jf_event_", 17)))
				skip = 1;
		}
		if (skip)
			continue;
		memcpy(out, line, n);
		out += n;
		*out++ = '\n';
	}
	*out = '\0';
	return bufs[which];
}

static void check_taken(long number, int file, const struct verdict *v, const struct world *a, const struct world *b)
{
	int i, events = file == DISPATCH || file == SUBSCRIBERS;
	char want[64];

	if (a->num != b->num) {
		complain("input %ld to %s: there are %d functions, there were %d", number, files[file], b->num, a->num);
		return;
	}
	must_be(number, file, "a function that it does not name", without(a->functions, a, v, events),
		without(b->functions, b, v, events));
	for (i = 0; i < b->num; i++) {
		unsigned long long updates;

		if (!v->to[i])
			continue;
		updates = a->func[i].updates + !!strcmp(a->func[i].target, v->to[i]);
		changed_targets += updates != a->func[i].updates;
		if (strcmp(b->func[i].target, v->to[i]) || b->func[i].updates != updates) {
			complain("input %ld: %s is %s after %llu updates, not %s after %llu", number, b->func[i].name,
				 b->func[i].target, b->func[i].updates, v->to[i], updates);
			print_input();
		}
	}
	if (v->mode >= 0) {
		snprintf(want, sizeof(want), "[%s]", modes[v->mode]);
		if (!strstr(b->dispatch, want)) {
			complain("input %ld: dispatch is %s, not %s", number, b->dispatch, want);
			print_input();
		}
	} else {
		must_be(number, file, "dispatch", a->dispatch, b->dispatch);
	}
	if (v->subs >= 0) {
		snprintf(want, sizeof(want), "%ld\n", v->subs);
		must_be(number, file, "subscribers, as asked for,", want, b->subscribers);
	} else {
		must_be(number, file, "subscribers", a->subscribers, b->subscribers);
	}
	if (!events)
		must_be(number, file, "keys", a->keys, b->keys);
}

static void check_refused(long number, int file, const struct world *a, const struct world *b)
{
	must_be(number, file, "functions", a->functions, b->functions);
	must_be(number, file, "keys", a->keys, b->keys);
	must_be(number, file, "dispatch", a->dispatch, b->dispatch);
	must_be(number, file, "subscribers", a->subscribers, b->subscribers);
	must_be(number, file, "stats", a->stats, b->stats);
}

/* A file read in pieces is the file read as a whole; and reading at random does no harm. */
static void read_around(long number)
{
	static const char * const some[] = { "help", "keys", "functions", "stats", "subscribers", "dispatch", "events", "ring" };
	static char *whole, *part;
	const char *name = some[below(ARRAY_SIZE(some))];
	char path[256];
	size_t n, at = 0;
	ssize_t r = 0;
	int fd, i;

	if (!whole) {
		whole = malloc(DUMP);
		part = malloc(DUMP);
	}
	snprintf(path, sizeof(path), DIR "%s", name);
	n = read_file(name, whole, DUMP);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	for (i = 0; i < 5; i++) {
		if (one_in(2))
			r = pread(fd, part, below(5000), (long)below(6000));
		else
			r = lseek(fd, (long)below(9000) - 1000, below(3));
	}
	lseek(fd, 0, SEEK_SET);
	while (at < DUMP - 1 && (r = read(fd, part + at, 1 + below(DUMP - 1 - at < 300 ? 1 : 300))) > 0)
		at += r;
	close(fd);
	part[at] = '\0';
	partial_reads++;
	/* stats, events and ring move on by themselves. */
	if (r < 0)
		complain("after input %ld, reading %s in pieces gives %s", number, name, strerror(errno));
	else if (strcmp(name, "stats") && strcmp(name, "events") && strcmp(name, "ring") &&
		 (at != n || memcmp(whole, part, n)))
		complain("after input %ld, %s read in pieces is not %s: %s", number, name, name,
			 first_difference(whole, part));
}

/*
 * Writes the input to an open file, in one of several ways; may mend the
 * expected result.
 */
static ssize_t write_input(long number, const struct world *a, int file, int fd, int way, long offset,
			   struct verdict *v)
{
	ssize_t r;

	switch (way) {
	case AT_OFFSET:
		r = pwrite(fd, in, len, offset);
		/* The kernel's own data about files of this kind. */
		if (r < 0 && errno == ESPIPE)
			errno = EINVAL;
		return r;
	case AFTER_SEEK:
		lseek(fd, offset, SEEK_SET);
		/* Where the position could not be set, it is a plain one. */
		if (lseek(fd, 0, SEEK_CUR) != offset)
			predict(v, a, file, 0);
		break;
	case BAD_POINTER:
		/* Its end is not there to be read: the command is not to be had. */
		if (len > 1 && len <= WRITE_MAX) {
			char *edge = in + MAX_INPUT * 2 - len / 2;

			memcpy(edge, in, len / 2);
			memset(v, 0, sizeof(*v));
			v->mode = v->subs = -1;
			v->err = EFAULT;
			return write(fd, edge, len);
		}
		break;
	case TWICE:
		/* On the same open file; the second one is like the first. */
		if (write(fd, in, len) < 0 && v->err == 0)
			complain("input %ld to %s, the first time: %s", number, files[file], strerror(errno));
		break;
	}
	return write(fd, in, len);
}

static void check_after(long number, int file, const struct verdict *v, const struct world *a, struct world *b)
{
	if (v->err)
		refused++;
	else
		taken++;
	if (only_bench)
		return;
	read_world(b);
	if (v->err)
		check_refused(number, file, a, b);
	else
		check_taken(number, file, v, a, b);
	if (one_in(32))
		read_around(number);
}

static void say_input(long number, int file, int way, long offset, int err)
{
	printf("input %ld to %s, way %d, offset %ld, must give %s\n", number, files[file], way, offset,
	       err ? strerror(err) : "success");
	print_input();
}

/*
 * @a: the world before; returns with the world after in @b. A command that writes to more than one
 * place at once is one input, checked once, so that there is time for a hundred thousand.
 */
static void one_input(long number, struct world *a, struct world *b)
{
	int file = make_input(number), way = below(16), fd;
	long offset = 0;
	struct verdict v;
	ssize_t r;

	if (way >= WAYS)
		way = PLAIN;
	if (way == NONE)
		len = 0;
	if (way == AT_OFFSET || way == AFTER_SEEK)
		offset = one_in(3) ? 1 : one_in(2) ? 4096 : 1 + (long)below(INT32_MAX);
	predict(&v, a, file, offset);
	if (v.err == UNKNOWN) {
		/* Not for us: it would start a benchmark, or is a function that we do not know. */
		unsure++;
		if (!only_bench)
			read_world(b);
		return;
	}
	if (only)
		say_input(number, file, way, offset, v.err);
	fd = open_for(file, way == APPEND ? O_APPEND : 0);
	if (fd < 0)
		return;
	r = write_input(number, a, file, fd, way, offset, &v);
	check_result(number, file, &v, r, len);
	close(fd);
	if (only)
		printf("gave %zd\n", r);
	check_after(number, file, &v, a, b);
}

/* --- several at once -------------------------------------------------------------------- */

struct shared {
	long writes, refusals, reads, complaints;
};

static void writer(struct shared *s, int id, time_t end)
{
	long number = 0;

	rnd = seed + 77 * id;
	while (time(NULL) < end) {
		int k = below(3), fd, file;
		struct verdict v;
		ssize_t r;

		if (one_in(3)) {
			/* Always together, to the same. */
			len = 0;
			if (one_in(2))
				add("ops_0=target_%d func1=default ops_1=target_%d\n", k, k);
			else
				add("ops_1=target_%d ops_0=target_%d func0=jf_func0_%d", k, k, k);
			file = FUNCTIONS;
			memset(&v, 0, sizeof(v));
		} else {
			uint64_t keep = rnd;

			file = make_input(1000000 * (id + 1) + number++);
			rnd = keep + 1;
			predict(&v, &worlds[0], file, 0);
			/* A command that would set one of the two alone is not for this part. */
			if (v.err == UNKNOWN || (!v.err && file == FUNCTIONS && memmem(in, len, "ops_", 4)))
				continue;
			/* Modes take long, and are changed all the same. */
			if (!v.err && file == DISPATCH && !one_in(8))
				continue;
		}
		fd = open_for(file, 0);
		if (fd < 0)
			break;
		r = write(fd, in, len);
		close(fd);
		__atomic_add_fetch(&s->writes, 1, __ATOMIC_RELAXED);
		if (r < 0)
			__atomic_add_fetch(&s->refusals, 1, __ATOMIC_RELAXED);
		bad = 0;
		check_result(number, file, &v, r, len);
		if (bad)
			__atomic_add_fetch(&s->complaints, 1, __ATOMIC_RELAXED);
	}
	fflush(stdout);
	_exit(0);
}

static void reader(struct shared *s, int id, time_t end)
{
	struct world *w = &worlds[0];

	rnd = seed + 1234567 * id;
	while (time(NULL) < end) {
		bad = 0;
		read_file("functions", w->functions, DUMP);
		parse_functions(w);
		if (one_in(4)) {
			read_file("keys", w->keys, DUMP);
			read_file("stats", w->stats, 8192);
			read_file("ring", w->keys, DUMP);
			read_file("events", w->keys, DUMP);
		}
		__atomic_add_fetch(&s->reads, 1, __ATOMIC_RELAXED);
		if (bad)
			__atomic_add_fetch(&s->complaints, 1, __ATOMIC_RELAXED);
	}
	fflush(stdout);
	_exit(0);
}

static const char *target_of(const struct world *w, const char *name)
{
	int i;

	for (i = 0; i < w->num; i++)
		if (!strcmp(w->func[i].name, name))
			return w->func[i].target;
	return "nothing";
}

static void several(unsigned long duration)
{
	struct shared *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	time_t end = time(NULL) + duration;
	int i, n = 5, status, fd;

	fd = open_for(FUNCTIONS, 0);
	if (fd < 0 || write(fd, "ops_0=target_0 ops_1=target_0", 29) != 29)
		complain("cannot set ops_0 and ops_1: is jf_each_op loaded?");
	close(fd);
	read_world(&worlds[0]);
	fflush(stdout);
	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			exit((perror("fork"), 2));
		if (!pid)
			i < 3 ? writer(s, i, end) : reader(s, i, end);
	}
	while (wait(&status) > 0)
		if (status)
			complain("one of them ended with status %x", status);
	read_world(&worlds[1]);
	bad += s->complaints;
	if (strcmp(target_of(&worlds[1], "ops_0"), target_of(&worlds[1], "ops_1")))
		complain("at the end ops_0 leads to %s and ops_1 to %s", target_of(&worlds[1], "ops_0"), target_of(&worlds[1], "ops_1"));
	printf("together: %ld writes, %ld of them refused, %ld reads\n", s->writes, s->refusals, s->reads);
	if (!s->writes || !s->reads || s->refusals == s->writes || !s->refusals)
		complain("that is not what several writers and readers at once should come to");
}

static void usage(FILE *to)
{
	fputs("usage: fuzz_debugfs [-s SEED] [-n INPUTS] [-t SECONDS] [-c SECONDS] [-b] [-o N] [-v];"
	      " what they are, says the beginning of its source\n", to);
}

static void parse_options(int argc, char **argv)
{
	static const struct option_row rows[] = {
		{ .letter = 's', .number = &seed, .max = ~0UL },
		{ .letter = 'n', .number = &inputs, .max = 1000000000 },
		{ .letter = 't', .number = &seconds, .max = 1000000 },
		{ .letter = 'c', .number = &together, .max = 1000000 },
		{ .letter = 'o', .number = &only, .min = 1, .max = 1000000000 },
		{ .letter = 'b', .flag = &only_bench },
		{ .letter = 'v', .flag = &verbose },
	};

	seed = time(NULL);
	options_end(argv, options_parse(argc, argv, usage, rows, ARRAY_SIZE(rows)), usage);
}

static void set_up(struct world *a)
{
	struct stat st;

	if (only_bench && stat(DIR "bench", &st))
		exit((printf("no bench: load jumpfunc_bench.ko first\n"), 2));
	/* After the input, room, and then nothing. */
	in = mmap(NULL, 2 * MAX_INPUT + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (in == MAP_FAILED || mprotect(in + 2 * MAX_INPUT, 4096, PROT_NONE))
		exit(2);
	read_world(a);
	if (!a->num && !only_bench)
		exit((printf("no functions to be seen in " DIR "functions\n"), 2));
}

/* Returns the number of the last input. */
static long one_by_one(struct world *a, struct world *b)
{
	long n, last = 0, end = only ? only : inputs;
	time_t begin = time(NULL), said = begin;
	struct world *swap;

	for (n = only ? only : 1; n <= end && bad < 10; n++) {
		if (seconds && !(n & 7) && time(NULL) - begin >= (time_t)seconds)
			break;
		one_input(n, a, b);
		if (!only_bench)
			swap = a, a = b, b = swap;
		last = n;
		if (verbose && time(NULL) - said >= 60) {
			said = time(NULL);
			printf("%ld inputs in %ld s\n", n, (long)(said - begin));
		}
	}
	if (only_bench) {
		read_world(b);
		check_refused(last, BENCH, a, b);
	}
	return last;
}

int main(int argc, char **argv)
{
	long last;

	parse_options(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("seed %lu\n", seed);
	set_up(&worlds[0]);
	last = one_by_one(&worlds[0], &worlds[1]);
	printf("one by one: %ld inputs, %ld taken, %ld refused, %ld not written; %ld targets changed, %ld times read in pieces\n",
	       last, taken, refused, unsure, changed_targets, partial_reads);
	if (!only && (!taken || !refused || (!changed_targets && !only_bench)))
		complain("that is not what a fuzzer should come to");
	if (together && bad < 10)
		several(together);
	return !!bad;
}
