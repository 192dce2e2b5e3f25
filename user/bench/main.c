// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The cost of each kind of dispatch on this machine, natively.
 *
 * A compiler makes the loops, from ordinary C with the library's macros. Every program is
 * a loop over a number of blocks, each with one site of one kind; another program with the
 * same blocks but no site is subtracted. Rounds are interleaved, so that whatever else the
 * machine does hits all kinds alike.
 *
 * Layouts:
 *   64		64 sites in straight line, each with its own target
 *   1K		1024 functions on cache lines of their own with a site each,
 *		called in an order that has nothing to do with their addresses
 */
#include "bench.h"

struct bench_options opt;

bool bench_stopped(void)
{
	return atomic_load(&stress_stop);
}

static void usage(FILE *to)
{
	fputs("usage: bench [options]\n"
	      "Measures what each kind of dispatch costs on this machine.\n"
	      "  --rounds N     interleaved rounds (default 200)\n"
	      "  --quick        20 rounds, no update latencies\n"
	      "  --no-updates   leave the update latencies out\n"
	      "  --csv FILE     write the numbers there, too\n"
	      "^C stops it and prints what was measured so far.\n", to);
}

static void parse_options(int argc, char **argv)
{
	static int quick, no_updates;
	static const struct option_row rows[] = {
		{ "rounds", .number = &opt.rounds, .min = 1, .max = MAX_ROUNDS },
		{ "quick", .flag = &quick },
		{ "no-updates", .flag = &no_updates },
		{ "csv", .text = &opt.csv },
	};

	options_end(argv, options_parse(argc, argv, usage, STRESS_ROWS(rows)), usage);
	if (!opt.rounds)
		opt.rounds = quick ? 20 : 200;
	opt.updates = !quick && !no_updates;
}

static void fail(const char *what, const char *file, int err)
{
	fprintf(stderr, "bench: %s%s: %s\n", what, file, strerror(err));
	exit(1);
}

int main(int argc, char **argv)
{
	unsigned int rounds, peers = stress_cores() > 1 ? 1 : 0;
	int err;

	parse_options(argc, argv);
	stress_catch_signals();
	err = report_open(opt.csv);
	if (err)
		fail("cannot write ", opt.csv, -err);
	fprintf(stderr, "# calibrating\n");
	add_rows();
	rounds = measure();
	if (!rounds)
		return 130;
	if (opt.updates) {
		fprintf(stderr, "# updates\n");
		measure_updates(0);
		if (peers)
			measure_updates(peers);
	}
	print_all(rounds, peers);
	err = report_close();
	if (err)
		fail("cannot write ", opt.csv, -err);
	return stress_interrupted ? 130 : 0;
}

