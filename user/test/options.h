/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The options of a program, as a table.
 *
 * API: options_parse(argc, argv, usage, rows, nr) carries out the options of
 * argv and returns where they end; options_end() wants nothing to follow. Both
 * end the program with status 2 where something is wrong. -h and --help call
 * usage() and end it with 0.
 *
 * Example:
 *   static unsigned long rounds = 10;
 *   static int quick;
 *   static const struct option_row rows[] = {
 *       { "rounds", .number = &rounds, .min = 1, .max = 1000 },
 *       { "quick", .letter = 'q', .flag = &quick },
 *   };
 *   options_end(argv, options_parse(argc, argv, usage, rows, 2), usage);
 *
 * How it works: getopt_long() gets its tables from this one. The words after the first argument
 * that is no option are left alone.
 */
#ifndef JF_OPTIONS_H
#define JF_OPTIONS_H

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct option_row {
	const char *name;		/* --name, */
	char letter;			/* -l, or both */
	/* One of these: */
	int *flag;			/* counts how often it was given */
	unsigned long *number;		/* gets its argument, from min to max */
	const char **text;		/* gets its argument */
	void (*take)(char *text);	/* is called with it */
	unsigned long min, max;
};

#define OPTIONS_MAX	16

static inline unsigned long options_number(const struct option_row *row, const char *text)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 0);
	if (errno || end == text || *end || value < row->min || value > row->max) {
		if (row->name)
			fprintf(stderr, "--%s", row->name);
		else
			fprintf(stderr, "-%c", row->letter);
		fprintf(stderr, ": a number from %lu to %lu is needed\n", row->min, row->max);
		exit(2);
	}
	return value;
}

static inline void options_carry_out(const struct option_row *row, char *text)
{
	if (row->flag)
		++*row->flag;
	else if (row->number)
		*row->number = options_number(row, text);
	else if (row->text)
		*row->text = text;
	else
		row->take(text);
}

static inline const struct option_row *options_by_letter(const struct option_row *rows,
							 size_t nr, int letter)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (rows[i].letter == letter)
			return &rows[i];
	return NULL;
}

static inline int options_parse(int argc, char **argv, void (*usage)(FILE *to),
				const struct option_row *rows, size_t nr)
{
	struct option longs[OPTIONS_MAX + 2] = { { "help", no_argument, NULL, 'h' } };
	char shorts[2 * OPTIONS_MAX + 3] = "+h", *s = shorts + 2;
	struct option *l = longs + 1;
	size_t i;
	int c;

	if (nr > OPTIONS_MAX)
		abort();
	for (i = 0; i < nr; i++) {
		int argument = rows[i].flag ? no_argument : required_argument;

		if (rows[i].name)
			*l++ = (struct option){ rows[i].name, argument, NULL, 256 + (int)i };
		if (!rows[i].letter)
			continue;
		*s++ = rows[i].letter;
		if (argument == required_argument)
			*s++ = ':';
	}
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			exit(0);
		}
		if (c == '?')
			exit(2);
		options_carry_out(c >= 256 ? &rows[c - 256] : options_by_letter(rows, nr, c),
				  optarg);
	}
	return optind;
}

static inline void options_end(char **argv, int at, void (*usage)(FILE *to))
{
	if (!argv[at])
		return;
	fprintf(stderr, "%s: no such option: %s\n", argv[0], argv[at]);
	usage(stderr);
	exit(2);
}

#endif /* JF_OPTIONS_H */
