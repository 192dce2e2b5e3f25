// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Messages to the user, if the process may write some. */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/trace/tell.h"

bool jf_verbose;

__attribute__((__format__(__printf__, 1, 2)))
void jf_say(const char *format, ...)
{
	/* Two names, of which one may be as long as C++ makes them. */
	char line[4096];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	if (n > (int)sizeof(line) - 2) {
		n = (int)sizeof(line) - 2;
		memcpy(line + n - 3, "...", 3);
	}
	line[n] = '\n';
	if (jf_may_tell() && write(STDERR_FILENO, line, (size_t)n + 1) < 0)
		return;
}
