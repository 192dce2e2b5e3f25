/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Static-call tracepoints in userspace: N probes from one immutable image.
 *
 * API:
 *   jf_image_pool_create(), ..._destroy()	where images live
 *   jf_trace_init()				a tracepoint without probes
 *   register_jf_trace(), unregister_jf_trace()	one probe comes or goes
 *   jf_trace_batch_init(), jf_trace_batch_register(), ..._unregister(),
 *   jf_trace_batch_commit(), ..._abort()	any number of them, at once
 *
 * Example:
 *   pool = jf_image_pool_create(1024, 256, main);
 *   jf_trace_init(&tp, "request", 2, pool);
 *   ... a site of form JF_SITE_CALL that belongs to tp.func ...
 *   register_jf_trace(&tp, probe, data, 0);	// probe(data, arg1, arg2)
 *
 * How it works: a site calls with its arguments from the second register on;
 * the first is for the probe's data. Without probes the site is a nop. With
 * probes it calls an image:
 *
 *   one probe		mov $data,%rdi; jmp probe
 *   up to 16		keep the arguments; for each: mov $data,%rdi; call probe
 *   more		one probe, that walks an array
 *
 * Why a probe cannot run with another's data: function and data are two
 * immediates of one image that nobody writes to while it can be reached. It is
 * written before the first site leads to it, and its memory is used again only
 * after jf_quiesce(), when no thread can be inside. To change anything is to
 * make a new image, and to flip the sites over to it in one transaction; a
 * call runs the probes of one version, all of them and no others.
 *
 * Caveats: the site must be called inside a read section. Up to five integer
 * or pointer arguments. Images have no unwind information yet: a backtrace
 * from a chained probe ends there.
 *
 * A commit waits for a quiesce, so do not call it inside a read section
 * (-EDEADLK).
 */
#ifndef JF_TRACE_H
#define JF_TRACE_H

#include "emit.h"
#include "libjumpfunc.h"

/* Longer chains go through the iterator. */
#define JF_CHAIN_MAX	16
#define JF_TRACE_MAX_ARGS 5

/**
 * struct jf_probe - what a tracepoint calls
 * @func: the function; its first argument is @data
 * @data: the data
 * @prio: probes of higher priority run earlier, equals as they came
 */
struct jf_probe {
	void *func;
	void *data;
	int prio;
};

struct jf_image_pool;

struct jf_probes {
	size_t nr;
	struct jf_probe probe[];
};

/** struct jf_trace - a tracepoint; @func is for its sites, the rest private */
struct jf_trace {
	struct jf_func func;
	unsigned int nr_args;
	struct jf_image_pool *pool;
	struct jf_probes *probes;
	void *image;
	size_t image_size;
	/* in a batch that is being put together */
	struct jf_probes *next;
	bool in_batch;
	struct jf_trace *next_in_batch;
	void *next_image;
	size_t next_image_size;
};

struct jf_image_pool *jf_image_pool_create(size_t nr_single, size_t nr_chain,
					   const void *near);
void jf_image_pool_destroy(struct jf_image_pool *pool);

int jf_trace_init(struct jf_trace *trace, const char *name, unsigned int nr_args,
		  struct jf_image_pool *pool);
int register_jf_trace(struct jf_trace *trace, void *func, void *data, int prio);
int unregister_jf_trace(struct jf_trace *trace, void *func, void *data);

/**
 * struct jf_trace_batch - registrations that take effect together
 * @batch:  the engine's side of it; its error text says what was wrong
 * @traces: the tracepoints in it
 *
 * A tracepoint is in one batch at a time (-EBUSY). The batch belongs to one
 * thread until it is committed or aborted.
 */
struct jf_trace_batch {
	struct jf_batch batch;
	struct jf_trace *traces;
};

void jf_trace_batch_init(struct jf_trace_batch *tb);
int jf_trace_batch_register(struct jf_trace_batch *tb, struct jf_trace *trace,
			    void *func, void *data, int prio);
int jf_trace_batch_unregister(struct jf_trace_batch *tb, struct jf_trace *trace,
			      void *func, void *data);
int jf_trace_batch_commit(struct jf_trace_batch *tb);
void jf_trace_batch_abort(struct jf_trace_batch *tb);

#endif /* JF_TRACE_H */
