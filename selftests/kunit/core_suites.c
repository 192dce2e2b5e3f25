// SPDX-License-Identifier: GPL-2.0
/* The suites of jf_kunit_core.ko, all on top of the fakes of fake.h. */
#include "fake.h"

JFK_SUITES(&jfk_registry_suite, &jfk_unload_suite, &jfk_batch_suite, &jfk_keys_suite,
	    &jfk_trace_suite, &jfk_probes_suite, &jfk_retired_suite, &jfk_quiesce_suite,
	    &jfk_scan_suite, &jfk_reclaim_suite, &jfk_exits_suite);
