// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* jf-trace: its commands and their words. See jf-trace(1). */
#include "tool.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef JF_VERSION
#define JF_VERSION	"?"
#endif

/**
 * struct command - of jf-trace
 * @name:    of it
 * @run:     does it
 * @min:     words after the options, at least
 * @max:     at most; -1: any number
 * @options: letters of those that it knows, as short_of() has them
 * @words:   for the usage
 * @help:    for the usage
 */
struct command {
	const char	*name;
	int		(*run)(const struct options *o, int argc, char **argv);
	int		min;
	int		max;
	const char	*options;
	const char	*words;
	const char	*help;
};

static const struct command commands[] = {
	{ "run", do_run, 1, -1, "eomckzq", "[-e GLOB]... [-o FOLDER] [--] PROGRAM [ARGUMENT]...",
	  "start a program, record its events, show them at the end" },
	{ "list", do_list, 0, 1, "e", "[-e GLOB]... [FILE|PID]",
	  "events, USDT notes and functions; without an argument: processes" },
	{ "record", do_record, 1, -1, "eomckz", "[-e GLOB]... [-o FOLDER] PID [GLOB]...",
	  "let a process begin to record, and print in which folder" },
	{ "enable", do_enable, 1, -1, "e", "PID GLOB...", "record these events, too" },
	{ "disable", do_disable, 1, -1, "e", "PID GLOB...", "record them no longer" },
	{ "stop", do_stop, 1, 1, "", "PID", "end the recording; the trace stays" },
	{ "stats", do_stats, 1, 1, "", "PID", "how many events were recorded, and lost" },
	{ "snapshot", do_snapshot, 1, 2, "o", "PID|FOLDER NEW-FOLDER", "copy what is recorded now" },
	{ "report", do_report, 1, -1, "j", "[--json] FOLDER|PID [BABELTRACE2-OPTION]...", "show events" },
	{ "top", do_top, 1, 1, "in", "[-i SECONDS] [-n TIMES] PID|FOLDER", "events a second" },
	{ "recover", do_recover, 1, 2, "o", "FOLDER [NEW-FOLDER]",
	  "what is whole of a trace, whatever has become of its process" },
};

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "output", required_argument, NULL, 'o' },
	{ "mode", required_argument, NULL, 'm' },
	{ "clock", required_argument, NULL, 'c' },
	{ "packets", required_argument, NULL, 'k' },
	{ "packet-size", required_argument, NULL, 'z' },
	{ "interval", required_argument, NULL, 'i' },
	{ "times", required_argument, NULL, 'n' },
	{ "json", no_argument, NULL, 'j' },
	{ "no-report", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static int usage(FILE *to, int status)
{
	size_t i;

	fputs("usage: jf-trace COMMAND [OPTION]... [ARGUMENT]...\n\n", to);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(to, "  %s %s\n        %s\n", commands[i].name, commands[i].words, commands[i].help);
	fputs("\noptions:\n"
	      "  -e, --event GLOB        probes: system:name of events, provider:name of notes, object:name of\n"
	      "                          functions, or the name alone; may be given several times\n"
	      "  -o, --output FOLDER     where the trace is to be\n"
	      "  --mode overwrite|discard, --clock auto|tsc|monotonic|none, --packets N, --packet-size BYTES\n"
	      "                          as in jumpfunc_record(3)\n"
	      "  --no-report             run: keep the trace, and do not show it\n"
	      "  --json                  report: for Perfetto and chrome://tracing\n"
	      "  -i, --interval SECONDS, -n, --times N\n"
	      "                          top: how often, and how many times\n\n"
	      "The exit status is 0, 1 for an error, 2 for wrong usage, 3 if there was damage, 4 if nothing matched;\n"
	      "of run that of the program, 128 and a signal's number, 125 for an error, 126 and 127 if the program\n"
	      "cannot be executed or is not there.\n", to);
	return status;
}

static int wrong(const struct command *c)
{
	fprintf(stderr, "usage: jf-trace %s %s\n", c->name, c->words);
	return STATUS_USAGE;
}

/* False: the value is none that there is. */
static bool take(struct options *o, int option, const char *value)
{
	uint32_t n;
	char *end;

	switch (option) {
	case 'e':
		if (o->num_globs == GLOBS_MAX)
			return false;
		o->globs[o->num_globs++] = value;
		return true;
	case 'o':
		o->output = value;
		return *value;
	case 'm':
		o->mode = value;
		return jf_name_find(jf_mode_names, value) >= 0;
	case 'c':
		o->clock = value;
		return jf_name_find(jf_clock_names, value) >= 0;
	case 'k':
		o->packets = value;
		return jf_number_parse(value, &n) && n >= 2 && n <= 64;
	case 'z':
		o->size = value;
		return jf_number_parse(value, &n) && !(n % 4096) && n <= 64 << 20;
	case 'i':
		o->interval = strtod(value, &end);
		return !*end && end != value && isfinite(o->interval) && o->interval >= 0.01 && o->interval <= 86400;
	case 'n':
		return jf_number_parse(value, &o->times);
	case 'j':
		o->json = true;
		return true;
	default:
		o->quiet = true;
		return true;
	}
}

static int run(const struct command *c, int argc, char **argv)
{
	struct options o = { .interval = 1 };
	const char *letters = "e:o:i:n:h";
	int option;

	/* The program's options, and those of babeltrace2, are not ours. */
	if (c->run == do_run || c->run == do_report)
		letters = "+e:o:i:n:h";
	while ((option = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
		if (option == 'h')
			return usage(stdout, STATUS_OK);
		if (option == '?' || !strchr(c->options, option)) {
			if (option != '?')
				fail("%s has no such option", c->name);
			return wrong(c);
		}
		if (option == 'e' && !is_pattern(optarg))
			return wrong(c);
		if (!take(&o, option, optarg)) {
			fail("'%s' is no value of this option", optarg);
			return wrong(c);
		}
	}
	argc -= optind;
	argv += optind;
	if (argc < c->min || (c->max >= 0 && argc > c->max))
		return wrong(c);
	return c->run(&o, argc, argv);
}

int main(int argc, char **argv)
{
	size_t i;
	int status;

	if (argc > 1 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return usage(stdout, STATUS_OK);
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("jf-trace " JF_VERSION);
		return STATUS_OK;
	}
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		status = run(&commands[i], argc - 1, argv + 1);
		if (fflush(stdout) && errno != EPIPE && !status)
			status = fail("stdout: %s", strerror(errno));
		return status;
	}
	if (argc > 1)
		fail("there is no command '%s'", argv[1]);
	return usage(stderr, STATUS_USAGE);
}
