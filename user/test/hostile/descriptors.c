// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Started without standard files: the library's files are not among them. */
#include <fcntl.h>
#include <jumpfunc/branch.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

int main(int argc, char **argv)
{
	char path[64];
	ssize_t n;
	int fd;

	alarm(20);
	if (argc < 2) {
		close(0);
		close(1);
		execl("/proc/self/exe", argv[0], "again", NULL);
	}
	if (jf_key_enable(&key) || !jf_branch_unlikely(&key))
		return 1;
	for (fd = 0; fd < 2; fd++) {
		char name[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, name, sizeof(name) - 1);
		if (n >= 0) {
			dprintf(2, "# %d is %s\n", fd, name);
			return 1;
		}
	}
	return 0;
}
