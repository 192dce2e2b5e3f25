/* SPDX-License-Identifier: GPL-2.0 */
/* The interfaces between the files of this room; jf_tracepoint.c explains how they fit together. */
#ifndef JF_TRACEPOINT_PLAN_H
#define JF_TRACEPOINT_PLAN_H

#include "index/state.h"
#include "tracepoint/tracepoint.h"
#include "common/probe_array.h"

#include <linux/list.h>

/**
 * struct jf_probes - the probes of a tracepoint at one time
 * @all:     of all that are retired
 * @retired: of those that are searched for together
 * @image:   the code that calls them; NULL: the iterator
 * @iter:    the iterator
 * @num:     how many there are
 * @probe:   the probes, then one with a NULL function
 */
struct jf_probes {
	struct list_head	all, retired;
	void			*image;
	void			*iter;
	unsigned int		num;
	struct jf_probe		probe[];
};

static inline unsigned int jf_num(const struct jf_probes *p)
{
	return p ? p->num : 0;
}

static inline void *jf_code(const struct jf_probes *p)
{
	return p->image ?: p->iter;
}

static inline bool jf_is_walked(const struct jf_probes *p)
{
	return p && !p->image;
}

/* --- code.c: the code of an array ---------------------------------------- */

/* Nests inside jf_tp_mutex; also protects the allocation of images. */
extern struct mutex jf_retired_mutex;

/*
 * Code for @p: an image if there is one, else the iterator. -errno: neither. -EAGAIN: after
 * jf_reclaim_wait() there can be an image, and the caller wants to @wait.
 */
int jf_get_code(const struct jf_tracepoint *tp, struct jf_probes *p, bool wait);
/* No arrays of @mod without an image are searched for: it is unloaded, and waited for. */
void jf_retired_leave(const struct module *mod);
/* With jf_retired_mutex held: no task can be in @p. */
void jf_probes_free(struct jf_probes *p);
/* Free @p, which may be NULL, when no task is in it or can reach it. */
void jf_retire_probes(struct jf_probes *p);

/* --- probes.c: arrays, and the records of replaced code ------------------ */

unsigned int jf_probes_count(const struct jf_probes *old, jf_probe_match match,
			     const void *arg);
/* A new array, or NULL. */
struct jf_probes *jf_probes_add(const struct jf_tracepoint *tp,
				const struct jf_probes *old,
				const struct jf_probe *add);
/* The probes without those that match; there must be some left. */
struct jf_probes *jf_probes_del(const struct jf_tracepoint *tp,
				const struct jf_probes *old,
				jf_probe_match match, const void *arg);
/* Record the code that a change from @old to @new retires if it succeeds, or if it fails. */
int jf_probes_prepare(const struct jf_probes *old, const struct jf_probes *new);
/* And this is how it ended. @ran: tasks may be in @new, or may have been led there. */
void jf_probes_done(const struct jf_probes *old, const struct jf_probes *new,
		    bool replaced, bool ran);

/* --- plan.c: with jf_tp_mutex held ---------------------------------------- */

struct jf_plan;

/* Tracepoints with probes. */
extern struct list_head jf_tracepoints;

/* The plan of @plans for @tp, made if it does not exist yet; or NULL. */
struct jf_plan *jf_plan_get(struct list_head *plans, struct jf_tracepoint *tp);
/* Remove all probes that match: -ENOENT if none does. */
int jf_plan_del(struct jf_plan *plan, jf_probe_match match, const void *arg);
/* -EEXIST, -ENOENT, -ENOMEM, or an error of jf_check_target(). */
int jf_plan_probe(struct list_head *plans, const struct jf_probe_change *c);
/*
 * Carry out all plans and @changes, or none. *@made: it counts as made, also with -EIO.
 * With @wait, -EAGAIN: see jf_get_code(). @changes is as before then.
 */
int jf_plans_commit(struct list_head *plans, struct list_head *changes,
		    bool *made, bool wait);
/* @mod is unloaded, and these were tracepoints with probes of it. */
void jf_plans_tell_left(const struct list_head *plans, const struct module *mod);
void jf_plans_free(struct list_head *plans);

#endif /* JF_TRACEPOINT_PLAN_H */
