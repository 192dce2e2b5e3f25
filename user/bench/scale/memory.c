// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The memory that a process has for itself alone: pages of text that were copied, and data that
 * were written, of the program, of libjumpfunc and of no file, but not of other libraries and of
 * the stack. It takes no memory for that but the stack's.
 */
#include "scale.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SMAPS_MAX	(256 * 1024)

static bool is_others(const char *name)
{
	const char *file = strrchr(name, '/');

	if (!file)
		return !strncmp(name, "[stack", 6) || !strncmp(name, "[v", 2);
	return strncmp(file, "/scale", 6) && strncmp(file, "/libjumpfunc", 12);
}

bool scale_private(unsigned long *text_kb, unsigned long *data_kb)
{
	char smaps[SMAPS_MAX + 1], perms[8] = "", *line, *end;
	unsigned long from, to, last = 0;
	int fd = open("/proc/self/smaps", O_RDONLY);
	size_t size = 0;
	bool skip = true;
	ssize_t got = 1;

	*text_kb = 0;
	*data_kb = 0;
	while (fd >= 0 && got > 0 && size < SMAPS_MAX) {
		got = read(fd, smaps + size, SMAPS_MAX - size);
		if (got > 0)
			size += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	smaps[size] = '\0';
	for (line = smaps; (end = strchr(line, '\n')); line = end + 1) {
		unsigned long kb;
		int name = 0;

		*end = '\0';
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &from, &to, perms, &name) == 3 && name) {
			/* Zeroed data of a file follow it, and have no name. */
			if (line[name] || from != last)
				skip = is_others(line + name);
			last = to;
		}
		/*
		 * Pages that are not of the file any more; pages that were just linked are "dirty",
		 * too.
		 */
		else if (!skip && sscanf(line, "Anonymous: %lu kB", &kb) == 1)
			*(perms[2] == 'x' ? text_kb : data_kb) += kb;
	}
	return size && size < SMAPS_MAX;
}
