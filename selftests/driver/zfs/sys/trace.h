/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In place of OpenZFS' header of this name: its probes become calls of functions that
 * do not exist, and these become sites (docs/sdt.md). DTRACE_PROBE2(txg__opened, ...)
 * is the probe zfs:txg__opened.
 *
 * OpenZFS itself makes trace events of them where those may be used. An event class
 * needs symbols that the kernel exports to modules under the GPL alone, so under its
 * own licence each is the call of an empty function.
 */
#ifndef JF_ZFS_TRACE_H
#define JF_ZFS_TRACE_H

#if defined(_KERNEL)

#include <linux/types.h>

#include <jumpfunc/calls.h>

#define __JF_ZFS(name)		__dtrace_zfs___##name

#define DTRACE_PROBE(name)	__JF_ZFS(name)()
#define DTRACE_PROBE1(name, t1, a1)					\
	__JF_ZFS(name)((uintptr_t)(a1))
#define DTRACE_PROBE2(name, t1, a1, t2, a2)				\
	__JF_ZFS(name)((uintptr_t)(a1), (uintptr_t)(a2))
#define DTRACE_PROBE3(name, t1, a1, t2, a2, t3, a3)			\
	__JF_ZFS(name)((uintptr_t)(a1), (uintptr_t)(a2), (uintptr_t)(a3))
#define DTRACE_PROBE4(name, t1, a1, t2, a2, t3, a3, t4, a4)		\
	__JF_ZFS(name)((uintptr_t)(a1), (uintptr_t)(a2), (uintptr_t)(a3),	\
		       (uintptr_t)(a4))

/* OpenZFS' headers have one of these for each probe. No file defines the function. */
#define DEFINE_DTRACE_PROBE(name)					\
	void __JF_ZFS(name)(void)
#define DEFINE_DTRACE_PROBE1(name)					\
	void __JF_ZFS(name)(uintptr_t a1)
#define DEFINE_DTRACE_PROBE2(name)					\
	void __JF_ZFS(name)(uintptr_t a1, uintptr_t a2)
#define DEFINE_DTRACE_PROBE3(name)					\
	void __JF_ZFS(name)(uintptr_t a1, uintptr_t a2, uintptr_t a3)
#define DEFINE_DTRACE_PROBE4(name)					\
	void __JF_ZFS(name)(uintptr_t a1, uintptr_t a2, uintptr_t a3, uintptr_t a4)

#endif /* _KERNEL */
#endif /* JF_ZFS_TRACE_H */
