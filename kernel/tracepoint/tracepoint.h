/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints (jf_tracepoint.c), for the rooms above. */
#ifndef JF_CORE_TRACEPOINT_H
#define JF_CORE_TRACEPOINT_H

#include <linux/types.h>

#define JF_NO_TABLE
#include <jumpfunc/tracepoint.h>

struct module;

/**
 * struct jf_probe_change - a batch's request for one probe
 * @list:  on jf_batch.probes
 * @tp:    the tracepoint
 * @probe: the probe; its priority does not count where it is removed
 * @add:   register it, else unregister it
 */
struct jf_probe_change {
	struct list_head	list;
	struct jf_tracepoint	*tp;
	struct jf_probe		probe;
	bool			add;
};

/*
 * Commit a list of struct jf_probe_change together with a list of struct
 * jf_change, to which it adds: all or none. The caller frees both.
 */
int jf_trace_commit(const struct list_head *probes, struct list_head *changes);

/*
 * The same with lists that @find fills, which is called with the lock of all probes
 * held: entities of a module that it finds, and that is not being unloaded, stay until
 * the commit is over. It takes jf_lock() for that. Its error is returned. *@made: it
 * counts as made, which of all errors only -EIO of the commit itself does. May sleep.
 * With @wait, -EAGAIN: call jf_reclaim_wait(), then this once more, without @wait.
 */
int jf_trace_commit_found(int (*find)(struct list_head *probes,
				      struct list_head *changes, void *arg),
			  void *arg, bool *made, bool wait);
/* Waits until images are given back in which no task stays. Without a lock. */
void jf_reclaim_wait(void);

/**
 * struct jf_trace_stats - what `stats` shows of tracepoints
 * @transitions:    changes of a tracepoint's probes
 * @iter_many:      of these, to the iterator because a chain has too few slots
 * @iter_exhausted: of these, to the iterator because all images were taken
 */
struct jf_trace_stats {
	u64 transitions, iter_many, iter_exhausted;
};

extern struct jf_trace_stats jf_trace_stats;

/* A module is unloaded: remove its probes. -errno: not yet, try again. */
int jf_trace_unload_begin(struct module *mod);
/* And now no task is in it any more. */
void jf_trace_unload_end(struct module *mod);
int jf_trace_init(void);
/* After the last tracepoint was unloaded. */
void jf_trace_exit(void);

#endif /* JF_CORE_TRACEPOINT_H */
