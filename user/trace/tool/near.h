/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Probes whose names are like a pattern that matches none. */
#ifndef JF_NEAR_H
#define JF_NEAR_H

#include <stdbool.h>

struct found_list;

/* Says so, and names up to three of @list. @sums: functions alone. */
void suggest(const char *glob, const struct found_list *list, bool sums);

#endif /* JF_NEAR_H */
