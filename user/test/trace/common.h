/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The common part of the tests of recording: a folder of their own, and comparisons. */
#ifndef JF_TEST_TRACE_COMMON_H
#define JF_TEST_TRACE_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jumpfunc/record.h>
#include <jumpfunc/recover.h>

#include "user/test/tap.h"
#include "strict.h"

/**
 * struct oracle - shared with a process that will not live to tell
 * @begun:  by "source": records that it was about to write
 * @done:   those that it has written
 * @folder: where it records
 */
struct oracle {
	uint64_t	begun[STRICT_WHO];
	uint64_t	done[STRICT_WHO];
	char		folder[4096];
};

static char test_parent[64];

/*
 * With the traces of those that were killed before they could tell where; but not those that a test
 * has found bad.
 */
static inline void test_parent_remove(void)
{
	DIR *dir = failed_tests ? NULL : opendir(test_parent);
	char path[512];
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", test_parent, e->d_name);
		strict_remove(path);
	}
	if (dir)
		closedir(dir);
	rmdir(test_parent);
}

static inline void test_parent_make(void)
{
	/* In memory, if possible: the files of a test are gone with the machine. */
	strcpy(test_parent, access("/dev/shm", W_OK) ? "/tmp/jf-test-XXXXXX" : "/dev/shm/jf-test-XXXXXX");
	if (!mkdtemp(test_parent)) {
		printf("Bail out! no folder in /dev/shm or /tmp\n");
		exit(1);
	}
}

/* With "." and "..". */
static inline unsigned int test_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int num = 0;

	while (dir && readdir(dir))
		num++;
	if (dir)
		closedir(dir);
	return num;
}

static inline struct oracle *oracle_make(void)
{
	void *p = mmap(NULL, sizeof(struct oracle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	return (struct oracle *)p;
}

/*
 * The contents of @folder agree with the oracle, by the strict reader and by jf_recover(). With
 * @all nothing was overwritten.
 */
static inline int oracle_check(struct oracle *o, const char *folder, bool all, const char *what)
{
	struct jf_recovered r;
	struct strict s;
	unsigned int i, bad = failures_here;
	uint64_t num = 0;
	int err;

	strict_folder(folder, &s);
	CHECK(!s.errors, "%s: %s: %s", what, folder, s.why);
	CHECK(!s.gaps, "%s: %llu gaps", what, (unsigned long long)s.gaps);
	for (i = 0; i < STRICT_WHO; i++) {
		uint64_t end = s.source[i].num ? s.source[i].last + 1 : 0;

		num += s.source[i].num;
		if (all) {
			CHECK(!s.source[i].num || !s.source[i].first, "%s: source %u begins with %llu", what, i,
			      (unsigned long long)s.source[i].first);
			CHECK(end >= o->done[i], "%s: source %u: %llu records are there, %llu were committed", what, i,
			      (unsigned long long)end, (unsigned long long)o->done[i]);
		} else {
			CHECK(!s.source[i].num || end + s.lost >= o->done[i], "%s: source %u: %llu is the last, %llu were committed",
			      what, i, (unsigned long long)end, (unsigned long long)o->done[i]);
		}
		CHECK(end <= o->begun[i], "%s: source %u: %llu records are there, %llu were begun", what, i,
		      (unsigned long long)end, (unsigned long long)o->begun[i]);
	}
	err = jf_recover(folder, NULL, &r);
	CHECK(!err && !r.damaged && !r.vanished, "%s: jf_recover: %d, %llu damaged", what, err,
	      (unsigned long long)r.damaged);
	/*
	 * One whose place was taken, and content_size is not there yet, a CTF reader does not see.
	 */
	CHECK(r.records == s.records - s.cleared && s.records == num + s.others && r.uncommitted - s.uncommitted <= s.rings,
	      "%s: %llu records recovered, %llu there; %llu and %llu uncommitted", what, (unsigned long long)r.records,
	      (unsigned long long)s.records, (unsigned long long)r.uncommitted, (unsigned long long)s.uncommitted);
	return failures_here != bad;
}

#endif /* JF_TEST_TRACE_COMMON_H */
