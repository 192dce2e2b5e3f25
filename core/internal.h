/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of jumpfunc.ko know of each other. Nothing here is public.
 *
 * Who may touch what:
 *   jf_core.c	   values of keys, batches			no opcodes
 *   core/quiesce.c  who is still in what was replaced		no opcodes
 *   core/module.c modules, their keys and sites, the site map	no opcodes
 *   jf_x86.c	   what stands at a site, the INT3 protocol	no keys
 *   x86/kernel.c the kernel's own protocol as a back end	no keys
 *   x86/stack.c what a task's stack leads into		no keys
 *   x86/image.c dispatch images: code that calls several probes
 *   generic/generic.c  architectures without patching
 *   jf_tracepoint.c tracepoints on top of the above	no opcodes
 *   demo/sample_set.c   the sample set of kernel tracepoints
 *   demo/ring.c	   where its subscribers write their records
 *   demo/funcs.c	   the dynamic functions behind func0 to func3
 *   jf_debugfs.c  prints, and carries out what was written
 *   debugfs/parse.c	   takes it apart				nothing else
 *
 * Lock order, outermost first:
 *   jf_sample_mutex	the sample set's mode (demo/sample_set.c)
 *   jf_tp_mutex	probes of tracepoints (jf_tracepoint.c)
 *   jf_retired_mutex	images, and what waits to be freed (jf_tracepoint.c)
 *   cpus_read_lock()
 *     jf_mutex		all of the structs below, all writing of text
 *       text_mutex	taken by the kernel's protocol in the "kernel" back end
 *
 * The INT3 handler takes no lock. It reads the site map (published with
 * smp_store_release(), freed after a grace period) and the site's instruction
 * word (a single aligned load).
 */
#ifndef JF_INTERNAL_H
#define JF_INTERNAL_H

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <jumpfunc/dynfunc.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/tracepoint.h>

#include "core/compat.h"

struct seq_file;
struct dentry;

extern struct mutex jf_mutex;

/* So far in front of a function a call of it may lead. */
#ifdef CONFIG_CALL_PADDING
#define JF_ARCH_CALL_PAD	16
#else
#define JF_ARCH_CALL_PAD	0
#endif

/* Bytes that a site takes. */
#define JF_ARCH_SITE_SIZE	5

/* --- sites ------------------------------------------------------------- */

/* What shall stand at a site, said without opcodes. */
enum jf_op {
	JF_OP_NOP,		/* fall through */
	JF_OP_RET0,		/* fall through with a return value of zero */
	JF_OP_CALL,		/* call the target */
	JF_OP_JMP,		/* jump to the target */
};

/* jf_site.flags, beside JF_SITE_* of jumpfunc/detail/table.h */
#define JF_SITE_TRAMP	0x0100	/* the jump of a trampoline */
#define JF_SITE_INIT	0x0200	/* in __init text */

/**
 * struct jf_site - five bytes of text that belong to jumpfunc
 * @addr:  where they are; 0 once the text is gone
 * @insn:  the instruction that stands there, or that the running transaction
 *         puts there. Written under jf_mutex, read by the INT3 handler
 * @asked: the instruction that was asked for: @insn, but where the kernel wrote
 *         another one that does the same
 * @label: branch sites: where the taken branch leads
 * @mod:   the module whose text it is in
 * @ctl:   the key that decides
 * @list:  on @ctl->sites
 * @flags: JF_SITE_*
 */
struct jf_site {
	unsigned long		addr;
	u64			insn;
	u64			asked;
	unsigned long		label;
	struct jf_mod		*mod;
	struct jf_ctl		*ctl;
	struct list_head	list;
	u32			flags;
};

/**
 * struct jf_poke - one site's part in a transaction
 * @site:  the site
 * @old:   the instruction that stands there
 * @new:   the one that shall
 * @alias: where the site can be written, while the transaction runs
 */
struct jf_poke {
	struct jf_site	*site;
	u64		old;
	u64		new;
	u8		*alias;
};

/* --- keys -------------------------------------------------------------- */

/**
 * struct jf_ctl - the core's side of one key
 * @hash:    in the table of all keys, by @ent
 * @hash_tramp: in the table of all trampolines, by @tramp
 * @ent:     the key
 * @mod:     the module that defines it
 * @sites:   all its sites, in all modules
 * @num_sites: how many these are
 * @pending: the change that the running batch makes, else NULL
 * @updates: how often its value changed
 * @tramp:   dynamic functions: address of the trampoline, else 0
 * @index:   in an array of keys; -1: not in one
 * @sealed:  read-only since its module's init is done
 * @seq:     dynamic functions: the last replacement of what it leads to
 * @mark:    the search for circles that came by last
 * @next:    the next one for that search to look at
 */
struct jf_ctl {
	struct hlist_node	hash;
	struct hlist_node	hash_tramp;
	struct jf_ent		*ent;
	struct jf_mod		*mod;
	struct list_head	sites;
	unsigned int		num_sites;
	struct jf_change	*pending;
	u64			updates;
	unsigned long		tramp;
	int			index;
	bool			sealed;
	u64			seq;
	u64			mark;
	struct jf_ctl		*next;
};

/* A key's value: which member counts follows from its type. */
union jf_value {
	void	*func;		/* never NULL: jf_nop and jf_ret0 stand in */
	bool	on;
};

/**
 * struct jf_change - one entry of a batch
 * @list:  on jf_batch.changes
 * @ent:   the key
 * @value: what it shall be
 * @ctl:   found when the batch is committed
 * @gone:  meanwhile, what is being replaced, if that has to be remembered
 */
struct jf_change {
	struct list_head	list;
	struct jf_ent		*ent;
	union jf_value		value;
	struct jf_ctl		*ctl;
	void			*gone;
};

/**
 * struct jf_mod - a module, with tables or without
 * @list:        on jf_modules
 * @mod:         the module
 * @sites:       its sites
 * @ctls:        its keys
 * @targets:     its lists of allowed targets
 * @num_sites:   length of @sites
 * @num_ctls:    length of @ctls
 * @num_targets: length of @targets
 * @target:      a function of it has been a target or a probe
 */
struct jf_mod {
	struct list_head	list;
	struct module		*mod;
	struct jf_site		*sites;
	struct jf_ctl		*ctls;
	const struct jf_target_rec **targets;
	unsigned int		num_sites;
	unsigned int		num_ctls;
	unsigned int		num_targets;
	bool			target;
};

extern struct list_head jf_modules;

static inline struct jf_func *jf_ent_func(struct jf_ent *ent)
{
	return container_of(ent, struct jf_func, ent);
}

static inline struct jf_key *jf_ent_key(struct jf_ent *ent)
{
	return container_of(ent, struct jf_key, ent);
}

/* --- statistics -------------------------------------------------------- */

/**
 * struct jf_stats - what `stats` shows; under jf_mutex
 * @updates:     keys whose value changed
 * @batches:     commits that wrote text
 * @errors:      commits that failed
 * @patched:     sites written
 * @broadcasts:  synchronisations of all CPUs sent for it
 * @quiesces:    times that somebody waited for quiet
 * @looks:       times that all CPUs were stopped for it
 * @look_tasks:  stacks that were looked at
 * @look_ns_last: how long the CPUs stood still last, ns
 * @look_ns_max: the longest such time
 * @fallbacks:   keys set back because their target's module went
 * @ns_last:     last commit that wrote text, from taking the locks to the end
 * @ns_min:      shortest such commit
 * @ns_max:      longest such commit
 * @window_last: how long the last transaction had sites at INT3, ns
 * @window_max:  the longest such time
 * @by_xmc:      transactions by the own protocol
 * @by_kernel:   transactions by the kernel's protocol
 */
struct jf_stats {
	u64 updates, batches, errors, patched, broadcasts, quiesces, fallbacks;
	u64 looks, look_tasks, look_ns_last, look_ns_max;
	u64 ns_last, ns_min, ns_max;
	u64 window_last, window_max;
	u64 by_xmc, by_kernel;
};

extern struct jf_stats jf_stats;

/* A copy of them, all of one moment; exported for the benchmark. */
void jf_stats_get(struct jf_stats *stats);

/* --- jf_core.c --------------------------------------------------------- */

/*
 * Commit a list of changes with the locks held. @force: set keys back although
 * their module or the target's is going.
 */
int __jf_commit(struct list_head *changes, bool force);
/* jf_batch_commit(), with @force as above. */
int jf_batch_commit_force(struct jf_batch *b, bool force);
/* May calls be sent there? With jf_mutex held. -EINVAL, -EBUSY */
int jf_check_target(const char *name, void *func, const struct jf_mod *own);
/* Would this key call itself, now or when modules go? With jf_mutex held. */
bool jf_is_circular(struct jf_ctl *ctl);
/* The instruction that @site shall hold if its key has the value @value. */
int jf_site_encode(const struct jf_site *site, union jf_value value, u64 *insn);
void jf_sort_pokes(struct jf_poke *pokes, unsigned int num);
union jf_value jf_ent_value(struct jf_ent *ent);
void jf_free_changes(struct list_head *changes);
int jf_add_change(struct list_head *changes, struct jf_ent *ent,
		  union jf_value value);
/* 0 where updates may be made, else -EWOULDBLOCK. */
int jf_check_context(void);
void jf_lock(void);
void jf_unlock(void);

/* Name of a target for humans, "none" where there is none. */
const char *jf_target_name(const void *func, char *buf);
#define JF_NAME_LEN	KSYM_SYMBOL_LEN

/* --- core/module.c ----------------------------------------------------- */

int jf_registry_init(void);
void jf_registry_exit(void);
struct jf_ctl *jf_ctl_find(const struct jf_ent *ent);
struct jf_ctl *jf_ctl_by_tramp(unsigned long addr);
/* Any context, NMI included: the site at @addr or NULL. */
struct jf_site *jf_site_find(unsigned long addr);
/* The registered module that @addr lies in, or NULL. */
struct jf_mod *jf_mod_by_addr(unsigned long addr);
/* May the name @target be given to @ctl through debugfs? Its address or NULL. */
void *jf_allowed_target(const struct jf_ctl *ctl, const char *target);
/*
 * The key @name of @type, in @module or (NULL) in any. ERR_PTR(-ENOENT), or
 * -EINVAL: several modules have one.
 */
struct jf_ctl *jf_ctl_by_name(const char *module, const char *name,
			      enum jf_ent_type type);

/* --- the architecture: jf_x86.c or generic/generic.c ------------------------- */

int jf_arch_init(const char *backend);
void jf_arch_exit(void);
/* Name of the back end in force. */
const char *jf_arch_backend(void);
/* Does the back end write text at all? */
bool jf_arch_patches(void);
/*
 * Look at a new site: are these the bytes that the macros emit? Fills in @insn
 * and @label. For a trampoline, @addr is that of the function and
 * becomes that of its jump. -EILSEQ if they are not.
 */
int jf_arch_adopt(struct jf_site *site);
/* Encode an operation for a site; -ERANGE. */
int jf_arch_encode(const struct jf_site *site, enum jf_op op,
		   unsigned long target, u64 *insn);
/* Does the site's text hold site->insn? -EBUSY: a breakpoint, -EILSEQ: else. */
int jf_arch_check(const struct jf_site *site);
/*
 * Carry out a transaction: @pokes sorted by address, all checked. @live: the
 * text may be executing. 0, or an error with no byte changed (but see -EIO of
 * jf_batch_commit()).
 */
int jf_arch_patch(struct jf_poke *pokes, unsigned int num, bool live);
/* The present bytes of a site, decoded for humans. */
void jf_arch_show(struct seq_file *m, const struct jf_site *site);
/*
 * Dispatch images: code that calls @num probes, each with its data, and passes on
 * @nargs arguments. The caller serialises these calls.
 * 0, -ENOSPC: all are taken, -EOPNOTSUPP: the back end writes no text, or an
 * error of the attempt.
 */
int jf_arch_images_init(void);
void jf_arch_images_exit(void);
int jf_arch_image_get(const struct jf_probe *probes, unsigned int num,
		      unsigned int nargs, void **image);
/* Give one back, after a grace period. */
void jf_arch_image_put(void *image);
/* Is this an image? Then where it begins and ends. */
bool jf_arch_image_span(const void *image, unsigned long *start,
			unsigned long *end);
unsigned int jf_arch_images_used(void);
unsigned int jf_arch_images_total(void);
/* INT3s of ours that CPUs ran into so far. */
u64 jf_arch_int3_hits(void);

/* --- the rest ---------------------------------------------------------- */

void jf_debugfs_init(void);
void jf_debugfs_exit(void);

/* demo/funcs.c: the dynamic functions func0 to func3 */
#define JF_DEMO_FUNCS	4
#define JF_DEMO_TARGETS	3
int jf_demo_set(unsigned int func, unsigned int target);
void jf_demo_call(unsigned int func, struct seq_file *m);

/**
 * struct jf_trace_stats - what `stats` shows of tracepoints
 * @transitions:    changes of a tracepoint's probes
 * @iter_many:      of these, to the iterator for want of slots in a chain
 * @iter_exhausted: of these, to the iterator because all images were taken
 */
struct jf_trace_stats {
	u64 transitions, iter_many, iter_exhausted;
};

/* jf_tracepoint.c */
extern struct jf_trace_stats jf_trace_stats;
int jf_trace_init(void);
void jf_trace_exit(void);
int jf_trace_module_going(struct module *mod);

/* demo/sample_set.c: the sample set of kernel tracepoints */
#define JF_SUBSCRIBERS_MAX	16
int jf_sample_init(void);
void jf_sample_exit(void);
int jf_sample_set_mode(const char *name);
int jf_sample_set_subscribers(unsigned int num);
unsigned int jf_sample_subscribers(void);
void jf_sample_show_modes(struct seq_file *m);
void jf_sample_show_events(struct seq_file *m);
int jf_sample_show_ring(struct seq_file *m);
void jf_sample_show_stats(struct seq_file *m);

/**
 * struct jf_rec - what a subscriber of the sample set writes down
 * @seq:   its number, 0: there is none yet
 * @time:  local_clock()
 * @arg:   an argument of the event
 * @pid:   the thread that was running
 * @event: the event
 * @mode:  how it was dispatched
 * @sub:   the subscriber
 * @cpu:   the CPU
 */
struct jf_rec {
	unsigned long	seq;
	u64		time;
	unsigned long	arg;
	s32		pid;
	u32		event : 6, mode : 4, sub : 6, cpu : 16;
};

/**
 * struct jf_ring_stats - numbers of all rings together
 * @records:     records that subscribers wanted to write
 * @overwritten: of these, gone to make room for later ones
 * @dropped:     of these, never written
 */
struct jf_ring_stats {
	u64 records, overwritten, dropped;
};

/* demo/ring.c: where they are written to */
int jf_ring_init(void);
void jf_ring_exit(void);
/* Any context, NMI included. */
void jf_ring_write(u8 event, u8 mode, u8 sub, unsigned long arg);
/* All records that are there, by time; to be freed with kvfree(). NULL: no memory. */
struct jf_rec *jf_ring_snapshot(unsigned int *num);
void jf_ring_count(struct jf_ring_stats *s);

#endif /* JF_INTERNAL_H */
