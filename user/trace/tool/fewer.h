/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Traces without the names of events that have no record.
 *
 * API:
 *   fewer_of(f, path)	the folder with that, for free(); NULL: the trace is shown as it is
 *   fewer_end(f)	removes these folders
 */
#ifndef JF_FEWER_H
#define JF_FEWER_H

#include <limits.h>

/**
 * struct fewer - such folders
 * @folder: around them; "" before the first one
 * @num:    how many
 */
struct fewer {
	char		folder[PATH_MAX];
	unsigned int	num;
};

char *fewer_of(struct fewer *f, const char *path);
void fewer_end(struct fewer *f);

#endif /* JF_FEWER_H */
