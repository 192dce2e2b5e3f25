// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The settings of the environment, and the statistics. */
#include "lib.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef JF_BREAK
enum jf_break jf_break;
#endif

struct jf_stats jf_stats = { .writer = "none" };

/* If changes can be made by breakpoints, and jf_stats.form of the changes without them. */
#if JF_HAVE_PATCHING && defined(__x86_64__)
#define HAVE_TRAP	true
#define FORM		"flip"
#else
#define HAVE_TRAP	false
#define FORM		(JF_HAVE_PATCHING ? "store" : "load")
#endif

/* Nothing points to the environment: programs write their titles over it. */
static void read_options(struct jf_options *o)
{
	const char *s = secure_getenv("JUMPFUNC");

	if (s && !strcmp(s, "off"))
		o->off = true;
	else if (s && !strcmp(s, "verbose"))
		o->verbose = true;
	else if (s && *s)
		jf_say(false, "JUMPFUNC=%s is neither off nor verbose", s);
	s = secure_getenv("JUMPFUNC_WRITER");
	if (s && !strcmp(s, "none"))
		o->off = true;
	else if (s && !strcmp(s, "mem"))
		o->writer = "mem";
	else if (s && !strcmp(s, "remap"))
		o->writer = "remap";
	else if (s && *s)
		jf_say(false, "JUMPFUNC_WRITER=%s is none of mem, remap, none", s);
	s = secure_getenv("JUMPFUNC_TRAP");
	if (s && !strcmp(s, "always"))
		o->int3 = HAVE_TRAP;
	else if (s && *s && strcmp(s, "never"))
		jf_say(false, "JUMPFUNC_TRAP=%s is neither never nor always", s);
	o->perf_map = secure_getenv("JUMPFUNC_PERF_MAP");
	strcpy(jf_stats.form, o->int3 ? "int3" : FORM);
}

/* With the lock held. The first one to ask is a constructor. */
const struct jf_options *jf_options(void)
{
	static struct jf_options options;
	static bool known;

	if (!known) {
		known = true;
		read_options(&options);
	}
	return &options;
}

uint64_t jf_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

void jf_stats_get(struct jf_stats *stats, size_t size)
{
	jf_lock();
	/* The options decide the form, and this can be the first use of the library. */
	jf_options();
	memset(stats, 0, size);
	memcpy(stats, &jf_stats, size < sizeof(jf_stats) ? size : sizeof(jf_stats));
	jf_unlock();
}
