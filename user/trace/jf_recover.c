// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Recovers the records of a program, even if it has crashed: see recover.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jumpfunc/recover.h>

#ifndef JF_VERSION
#define JF_VERSION	"?"
#endif

/* @status, or 1 if not all of the output could be written. */
static int written(int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "jf-recover: the output cannot be written: %s\n", errno ? strerror(errno) : "is its disk full?");
	return 1;
}

static int usage(void)
{
	printf("usage: jf-recover FROM [TO]\n\n"
	       "Copies all whole records of the trace in the folder FROM to the folder TO, which is made;\n"
	       "without TO it only says what there is. The process that records may be running.\n"
	       "The exit status is 1 if something could not be read or written, 2 for wrong usage,\n"
	       "3 if there was damage: what is whole was copied.\n");
	return written(0);
}

static int wrong(const char *what, const char *word)
{
	fprintf(stderr, "jf-recover: ");
	fprintf(stderr, what, word);
	fprintf(stderr, ": jf-recover FROM [TO], or --help\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct jf_recovered r;
	int err;

	if (argc > 1 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return usage();
	if (argc > 1 && !strcmp(argv[1], "--version"))
		return printf("jf-recover " JF_VERSION "\n"), written(0);
	if (argc > 1 && argv[1][0] == '-')
		return wrong("there is no option '%s'", argv[1]);
	if (argc < 2 || argc > 3)
		return wrong("%s folder given", argc < 2 ? "no" : "more than one new");
	err = jf_recover(argv[1], argv[2], &r);
	if (err) {
		fprintf(stderr, "jf-recover: %s: %s\n",
			err == -EEXIST ? argv[2] : argv[1],
			err == -ENODATA ? "no trace of jumpfunc" : strerror(-err));
		return 1;
	}
	printf("rings %" PRIu64 "\npackets %" PRIu64 "\nrecords %" PRIu64 "\nuncommitted %" PRIu64 "\n",
	       r.rings, r.packets, r.records, r.uncommitted);
	printf("discarded %" PRIu64 "\noverwritten %" PRIu64 "\ndamaged %" PRIu64 "\nvanished %" PRIu64 "\n",
	       r.discarded, r.overwritten, r.damaged, r.vanished);
	return written(r.damaged ? 3 : 0);
}
