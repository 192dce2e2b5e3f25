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
 * @of_pid:  the first of them can be a process, which -p says, too
 * @options: letters of those that it knows, the short forms, as run() has them
 * @words:   for the usage
 * @help:    for the usage
 */
struct command {
	const char	*name;
	int		(*run)(const struct options *o, int argc, char **argv);
	int		min;
	int		max;
	bool		of_pid;
	const char	*options;
	const char	*words;
	const char	*help;
};

static const struct command commands[] = {
	{ "run", do_run, 1, -1, false, "eomckzqMDRGICYXTP", "[-e GLOB]... [-o FOLDER] [--] PROGRAM [ARGUMENT]...",
	  "start a program, record its events, show them at the end" },
	{ "list", do_list, 0, 1, true, "eR", "[--mangled] [-e GLOB]... [FILE|PID|-p PID]",
	  "events, USDT notes and functions; without an argument: processes" },
	{ "record", do_record, 1, -1, true, "eomckzMDICYXTP", "[-e GLOB]... [-o FOLDER] PID|-p PID [GLOB]...",
	  "let a process begin to record, and print in which folder; one that was started without the agent gets it" },
	{ "enable", do_enable, 1, -1, true, "eDICYXTP", "PID|-p PID GLOB...", "record these events, too" },
	{ "disable", do_disable, 1, -1, true, "e", "PID|-p PID GLOB...", "record them no longer" },
	{ "stop", do_stop, 1, 1, true, "", "PID|-p PID", "end the recording; the trace stays" },
	{ "stats", do_stats, 1, 1, true, "", "PID|-p PID", "how many events were recorded, and lost" },
	{ "snapshot", do_snapshot, 1, 2, true, "o", "PID|-p PID|FOLDER NEW-FOLDER", "copy what is recorded now" },
	{ "report", do_report, 1, -1, true, "jERSAF", "[--events|--json|--summary|--graph|--folded] [--mangled] FOLDER|PID|-p PID", "how many events there are, by name and thread" },
	{ "script", do_script, 1, -1, true, "jR", "[--json] [--mangled] FOLDER|PID|-p PID [BABELTRACE2-OPTION]...", "show events" },
	{ "top", do_top, 1, 1, true, "einR", "[-e GLOB]... [-i SECONDS] [-n TIMES] PID|-p PID|FOLDER",
	  "events a second; with -e of a process that records nothing, which records these events as long" },
	{ "count", do_count, 0, -1, false, "eopRICT", "[-e GLOB]... [-o FILE] PROGRAM [ARGUMENT]... | -p PID | FOLDER",
	  "exact numbers of calls, by probe and thread: nothing is recorded" },
	{ "time", do_time, 0, -1, false, "eopjVRICTPi", "-e GLOB... [--csv|--json] [--mangled] [-o FILE] PROGRAM [ARGUMENT]... | -p PID [-i SECONDS] | FOLDER",
	  "functions, and how long their calls take: nothing is recorded" },
	{ "recover", do_recover, 1, 2, false, "o", "FOLDER [NEW-FOLDER]",
	  "what is whole of a trace, whatever has become of its process" },
};

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "pid", required_argument, NULL, 'p' },
	{ "output", required_argument, NULL, 'o' },
	{ "mode", required_argument, NULL, 'm' },
	{ "clock", required_argument, NULL, 'c' },
	{ "packets", required_argument, NULL, 'k' },
	{ "packet-size", required_argument, NULL, 'z' },
	{ "max-size", required_argument, NULL, 'M' },
	{ "csv", no_argument, NULL, 'V' },
	{ "min", required_argument, NULL, 'D' },
	{ "if", required_argument, NULL, 'I' },
	{ "caller", required_argument, NULL, 'C' },
	{ "every", required_argument, NULL, 'Y' },
	{ "max", required_argument, NULL, 'X' },
	{ "tid", required_argument, NULL, 'T' },
	{ "max-depth", required_argument, NULL, 'P' },
	{ "interval", required_argument, NULL, 'i' },
	{ "times", required_argument, NULL, 'n' },
	{ "events", no_argument, NULL, 'E' },
	{ "json", no_argument, NULL, 'j' },
	{ "no-report", no_argument, NULL, 'q' },
	{ "mangled", no_argument, NULL, 'R' },
	{ "registers", no_argument, NULL, 'G' },
	{ "summary", no_argument, NULL, 'S' },
	{ "graph", no_argument, NULL, 'A' },
	{ "folded", no_argument, NULL, 'F' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/**
 * struct help - the text of options
 * @letters: of the options, as in struct command
 * @text:    for the usage
 */
struct help {
	const char	*letters;
	const char	*text;
};

static const struct help help[] = {
	{ "e", "  -e, --event GLOB        probes: system:name of events, provider:name of notes, object:name of\n"
	       "                          functions, or the name alone; 'note/mill:*', and so event/ and function/, is of\n"
	       "                          that kind alone; 'call/redis-server:*Command': calls of functions, with\n"
	       "                          their durations; can be given several times\n" },
	{ "o", "  -o, --output FOLDER     where the trace is to be; of count and time the file for their numbers,\n"
	       "                          '-' is standard output\n" },
	{ "p", "  -p, --pid PID           the process, where PID stands above\n" },
	{ "mckzM", "  --mode overwrite|discard|keep, --clock auto|tsc|monotonic|none, --packets N, --packet-size BYTES,\n"
		   "  --max-size MIB          of mode keep, which keeps all that is recorded, until so much, or the disk, is full:\n"
		   "                          as in jumpfunc_record(3)\n" },
	{ "D", "  --min DURATION          calls that take less are not recorded, as in '10us'; -e GLOB means call/GLOB then\n" },
	{ "I", "  --if EXPRESSION         only records for which it holds, as 'level > 3 && path =~ \"*.so\"': of arguments, of\n"
	       "                          events' fields, and of ret, duration and depth of calls; jf-trace(1), FILTERS, has\n"
	       "                          the operators\n" },
	{ "C", "  --caller GLOB           only calls from functions that match it, as 'main' or 'redis-server:process*'\n" },
	{ "T", "  --tid TID               only records of a thread\n" },
	{ "P", "  --max-depth N           only calls within less than N others\n" },
	{ "Y", "  --every N               of these one of N\n" },
	{ "X", "  --max N                 at most N of each probe\n" },
	{ "q", "  --no-report             run: keep the trace, and do not show it\n" },
	{ "G", "  --registers             run: arguments of functions as registers, whatever debug information says\n" },
	{ "SAF", "  --summary, --graph, --folded\n"
		 "                          report: times of calls (call/ in a pattern), by function; as a tree; as stacks for\n"
		 "                          flamegraph.pl, speedscope or inferno\n" },
	{ "R", "  --mangled               names of C++ and Rust functions as their symbols have them, not as their source\n" },
	{ "E", "  --events                report: each event, as script shows them\n" },
	{ "j", "  --json                  report, script: each event, for Perfetto and chrome://tracing; time: its table\n" },
	{ "V", "  --csv                   time: its table; of a program that it starts both need -o\n" },
	{ "i", "  -i, --interval SECONDS  top, and time -p on a terminal: how often\n" },
	{ "n", "  -n, --times N           top: how many times\n" },
};

static bool knows(const struct command *c, int option)
{
	return strchr(c->options, option) || (option == 'p' && c->of_pid);
}

/* The options of one command, or all of them. */
static void usage_of_options(FILE *to, const struct command *c)
{
	size_t i, j;
	bool any;

	fputs("\noptions:\n", to);
	for (i = 0; i < sizeof(help) / sizeof(*help); i++) {
		any = !c;
		for (j = 0; !any && help[i].letters[j]; j++)
			any = knows(c, help[i].letters[j]);
		if (any)
			fputs(help[i].text, to);
	}
}

static void usage_of_status(FILE *to)
{
	fputs("\nThe exit status is 0, 1 for an error, 2 for wrong usage, 3 if there was damage, 5 if records were lost;\n"
	      "4 if no probe matched for list, record, enable, disable, or count and time with -p, or if a report of\n"
	      "calls has none. Of run, and of count and time with a PROGRAM, it is that of the program, also if nothing\n"
	      "matched; or, if that is 0, 123 if records were lost and 124 if the report failed; 128 and a signal's\n"
	      "number, 125 for an error, 126 and 127 if the program cannot be executed or is not there.\n", to);
}

static int usage(void)
{
	size_t i;

	fputs("usage: jf-trace COMMAND [OPTION]... [ARGUMENT]...\n\n", stdout);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		printf("  %s %s\n        %s\n", commands[i].name, commands[i].words, commands[i].help);
	usage_of_options(stdout, NULL);
	usage_of_status(stdout);
	return STATUS_OK;
}

static int usage_of(const struct command *c)
{
	printf("usage: jf-trace %s %s\n\n%s\n", c->name, c->words, c->help);
	if (c->of_pid || *c->options)
		usage_of_options(stdout, c);
	usage_of_status(stdout);
	return STATUS_OK;
}

static int wrong(const struct command *c)
{
	fprintf(stderr, "usage: jf-trace %s %s\n", c->name, c->words);
	return STATUS_USAGE;
}

/* @name: of a long option, or NULL */
static int no_option(const struct command *c, int option, const char *name, const char *word)
{
	if (option == 'p' && c->run == do_run)
		fail("run starts a program: record, count, time and top take the -p PID of a process");
	else if (name)
		fail("%s has no option '--%s': jf-trace %s --help", c->name, name, c->name);
	/* Of several letters in one word. */
	else if (option == '?' && optopt && word[0] == '-' && word[1] != '-')
		fail("%s has no option '-%c': jf-trace %s --help", c->name, optopt, c->name);
	else if (option == '?' || word[0] == '-')
		fail("%s has no option '%s': jf-trace %s --help", c->name, word, c->name);
	else
		fail("%s has no option '-%c': jf-trace %s --help", c->name, option, c->name);
	return STATUS_USAGE;
}

/* An option without a value. */
static void take_flag(struct options *o, int option)
{
	switch (option) {
	case 'E':
		o->events = true;
		break;
	case 'j':
		o->json = true;
		break;
	case 'S':
		o->view = VIEW_SUMMARY;
		break;
	case 'A':
		o->view = VIEW_GRAPH;
		break;
	case 'F':
		o->view = VIEW_FOLDED;
		break;
	case 'G':
		o->registers = true;
		break;
	case 'V':
		o->csv = true;
		break;
	case 'R':
		mangled_names = true;
		break;
	default:
		o->quiet = true;
	}
}

/* Which records are made. */
static bool take_choice(struct options *o, int option, const char *value)
{
	uint32_t n;

	switch (option) {
	case 'I':
		o->condition = value;
		return true;
	case 'C':
		o->caller = value;
		return true;
	case 'Y':
		o->every = value;
		break;
	case 'X':
		o->most = value;
		break;
	case 'T':
		o->tid = value;
		break;
	default:
		o->depth = value;
	}
	return jf_number_parse(value, &n);
}

/* False: the value is not known. */
static bool take(struct options *o, int option, const char *value)
{
	uint64_t ns;
	uint32_t n;
	char *end;

	if (strchr("ICYXTP", option))
		return take_choice(o, option, value);
	switch (option) {
	case 'e':
		if (o->num_globs == GLOBS_MAX)
			return false;
		o->globs[o->num_globs++] = value;
		return true;
	case 'p':
		o->pid = value;
		return *value;
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
	case 'M':
		snprintf(o->max_mib, sizeof(o->max_mib), "%s", value);
		return jf_number_parse(value, &n);
	case 'z':
		o->size = value;
		return jf_number_parse(value, &n) && !(n % 4096) && n <= 64 << 20;
	case 'D':
		o->min = value;
		return jf_kind_duration(value, 0, &ns);
	case 'i':
		o->interval = strtod(value, &end);
		return !*end && end != value && isfinite(o->interval) && o->interval >= 0.01 && o->interval <= 86400;
	case 'n':
		return jf_number_parse(value, &o->times);
	default:
		take_flag(o, option);
		return true;
	}
}

/* The values of an option, for a message. */
static const char *wanted(int option)
{
	switch (option) {
	case 'e':
		return "no more patterns";
	case 'p':
		return "the number of a process";
	case 'o':
		return "a folder or file";
	case 'm':
		return "overwrite, discard or keep";
	case 'c':
		return "auto, tsc, monotonic or none";
	case 'k':
		return "a number from 2 to 64";
	case 'z':
		return "a multiple of 4096, at most 64 MiB";
	case 'D':
		return "a number with ns, us, ms or s, as 10us";
	case 'i':
		return "seconds, from 0.01 to 86400";
	default:
		return "a number from 1 on";
	}
}

static int no_value(const struct command *c, int option, const char *value)
{
	const struct option *o;

	for (o = long_options; o->name && o->val != option; o++)
		;
	fail("%s: '%s' is no value of --%s, which takes %s", c->name, value, o->name, wanted(option));
	return STATUS_USAGE;
}

/* Its status may be that of a program. */
static bool is_programs(const struct command *c)
{
	return c->run == do_run || c->run == do_count || c->run == do_time;
}

static int run(const struct command *c, int argc, char **argv)
{
	struct options o = { .interval = 1 };
	const char *letters = ":e:o:p:i:n:h";
	int option, status, nr = -1;

	/* The options of the program and of babeltrace2 are not ours. */
	if (is_programs(c) || c->run == do_report || c->run == do_script)
		letters = "+:e:o:p:i:n:h";
	while ((option = getopt_long(argc, argv, letters, long_options, &nr)) != -1) {
		if (option == 'h')
			return usage_of(c);
		if (option == ':')
			return fail("%s: option '%s' needs a value", c->name, argv[optind - 1]), STATUS_USAGE;
		if (option == '?' || !knows(c, option))
			return no_option(c, option, option != '?' && nr >= 0 ? long_options[nr].name : NULL, argv[optind - 1]);
		if ((option == 'e' && !is_pattern(optarg)) || (option == 'I' && !is_condition(optarg)) || (option == 'C' && !is_caller(optarg)))
			return STATUS_USAGE;
		if (!take(&o, option, optarg))
			return no_value(c, option, optarg);
		nr = -1;
	}
	/* The rest follows the name of the command. */
	if (o.pid && c->of_pid)
		argv[--optind] = (char *)(uintptr_t)o.pid;
	argc -= optind;
	argv += optind;
	if (argc < c->min || (c->max >= 0 && argc > c->max))
		return wrong(c);
	status = choose(&o, c->of_pid, c->run == do_time, argc, argv);
	if (!status && (c->run == do_count || c->run == do_time))
		status = all_are_counted(&o);
	return status ? status : c->run(&o, argc, argv);
}

int main(int argc, char **argv)
{
	size_t i;
	int status;

	await_children();
	if (argc > 1 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return usage(), written(stdout);
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		printf("jf-trace " JF_VERSION "\n%s\n", types_library());
		return written(stdout);
	}
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		status = run(&commands[i], argc - 1, argv + 1);
		if ((!status || (status != STATUS_FAILED && !is_programs(&commands[i]))) && written(stdout))
			status = STATUS_FAILED;
		/* As one that the signal has ended. */
		return told_to_end == SIGPIPE ? 128 + SIGPIPE : status;
	}
	if (argc > 1)
		fail("there is no command '%s': jf-trace --help", argv[1]);
	else
		fail("which command? As in: jf-trace count -e malloc PROGRAM; jf-trace --help has all");
	return STATUS_USAGE;
}
