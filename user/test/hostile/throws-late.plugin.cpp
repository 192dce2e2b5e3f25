// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <stdexcept>

extern "C" {
void program_fires(int i);
void plugin_throws(void *data, int i);
int plugin_catches();
}

void plugin_throws(void *, int)
{
	throw std::runtime_error("a probe");
}

int plugin_catches()
{
	try {
		program_fires(1);
	} catch (const std::exception &) {
		return 1;
	}
	return 0;
}
