// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A probe throws. The section that it left is over. */
#include <jumpfunc/tracepoint.h>
#include <thread>
#include <stdexcept>

#include "hostile.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static void probe(void *, int i)
{
	throw std::runtime_error(i ? "a" : "b");
}
static void probe2(void *, int) {}

static int fire()
{
	try {
		jf_trace_rx(1);
	} catch (const std::exception &) {
		return 1;
	}
	return 0;
}

int main(int argc, char **)
{
	int n = 0, err = 1;

	alarm(20);
	MUST(!register_jf_trace_rx(probe, nullptr), "register");
	if (argc > 1)
		MUST(!register_jf_trace_prio_rx(probe2, nullptr, argc > 2 ? 20 : 1), "register");
	n = fire();
	MUST(n == 1, "caught");
	std::thread t([&] { err = jf_quiesce_timeout(500); });
	t.join();
	MUST(!err, "quiesce: %s", strerror(-err));
	return 0;
}
