/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine without a CPU: index/ (in fake_base.c), quiesce/ (in fake_quiesce.c), and
 * jf_core.c, jf_tracepoint.c and consumers/ (in fake.c), each on top of the former,
 * compiled once more into jf_kunit_core.ko on top of an architecture, modules,
 * tasks, an allocator, time and grace periods that are all made up. Nothing is
 * executed or patched; all is recorded, and each step can be told to fail.
 *
 * API:
 *   jfk_init(), jfk_exit()		.init and .exit of a suite
 *   jfk_module(test, name)		a module, empty as yet
 *   jfk_func(), jfk_key(), jfk_site(), ...	the contents of its tables
 *   jfk_notify(m, MODULE_STATE_*)	its life
 *   jfk_task(test, at)			a task that is in the text at that address
 *   jfk					the records, and the faults to inject
 *   jfk_save(), JFK_EXPECT_UNCHANGED()	nothing has changed on error
 *
 * Example:
 *   struct jfk_mod *m = jfk_module(test, "m");
 *   struct jf_func *f = jfk_func(m, "f", jfk_target(0), 0);
 *   unsigned long site = jfk_site(m, &f->ent, JF_SITE_CALL);
 *
 *   KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
 *   KUNIT_EXPECT_EQ(test, __jf_func_update(f, jfk_target(1)), 0);
 *   KUNIT_EXPECT_EQ(test, jfk_text(site), jfk_call(jfk_target(1)));
 *
 * How it works: a module's memory is a struct jfk_mem, which within_module() knows.
 * An "instruction" is five bytes: the operation and the low half of the
 * target. It is written by the steps of common/x86/protocol.h, whose world is this one: the
 * bytes and the handler's words are checked in each broadcast, and a foreign byte
 * can be written to any site. The fake architecture checks the core's promises (pokes in
 * order, old bytes as they stand, the lock held) and counts breaches in jfk.breaches,
 * which jfk_exit() wants to be 0, together with allocations that were not freed.
 */
#ifndef JFK_FAKE_H
#define JFK_FAKE_H

#include "jfk.h"

/* It defines its own, and KUnit's headers have brought the kernel's. */
#undef pr_fmt
#include "arch/arch.h"
#include "arch/image.h"
#include "arch/stack.h"
#include "arch/text.h"
#include "update/commit.h"
#include "quiesce/function.h"
#include "quiesce/retired.h"
#include "quiesce/scan.h"
#include "consumers/module.h"
#include "quiesce/quiesce.h"
#include "tracepoint/tracepoint.h"

#include <jumpfunc/tracepoint.h>

#include <linux/refcount.h>

/* In front of each function, and belonging to it. */
#define JFK_PAD		16

#define JFK_TEXT	2048
#define JFK_INIT_TEXT	256
#define JFK_SITES	300
#define JFK_ENTS	80

/* The memory that the module loader would have mapped. */
struct jfk_mem {
	u8			text[JFK_TEXT];
	u8			init_text[JFK_INIT_TEXT];
	struct jf_func		func[JFK_ENTS];
	struct jf_key		key[JFK_ENTS];
	struct jf_key_deferred	deferred;
	struct jf_tracepoint	tp[4];
	char			name[2 * JFK_ENTS][16];
	struct jf_ent_rec	ent[2 * JFK_ENTS];
	struct jf_site_rec	site[JFK_SITES];
	struct jf_target	target[16];
	struct jf_target_rec	list[4];
	struct jf_table		table;
};

struct jfk_mod {
	struct module		mod;
	struct jfk_mem		mem;
	struct kernel_param	kp[2];
	unsigned int		funcs, keys, tps, ents, sites, targets, lists;
	/* Where the next site will be. */
	unsigned int		at, init_at;
	/* References that keep it from being unloaded. */
	unsigned int		refs;
	/* A function that can be executed, and counts as the module's. */
	void			*func;
};

/* A transaction's poke, as it was seen. */
struct jfk_poke {
	unsigned long	addr;
	u64		old, new;
};

#define JFK_IMAGES	24

/*
 * @published: a site led there. @asked: since none does, a scan looked for tasks in it
 */
struct jfk_image {
	bool		used, published, asked;
	unsigned int	num, nargs;
	struct jf_arch_call call[JF_TRACE_CHAIN_MAX];
};

extern struct jfk {
	/* the architecture: its records */
	unsigned int	transactions, live;
	unsigned int	settles;	/* how often it was told to, without one */
	unsigned int	undone;		/* broadcasts of those that were taken back */
	struct jfk_poke	poke[JFK_SITES];	/* of the last one */
	unsigned int	pokes;
	/* ... and its faults */
	bool		indirect;
	int		patch_err;
	/*
	 * At which poke, from 1: -EILSEQ as its bytes are compared, -EBUSY as its
	 * breakpoint is set. 0: before that, for another reason.
	 */
	unsigned int	patch_err_at;
	unsigned int	patch_errs;	/* so many times, 0: always */
	bool		runs_failed;	/* a failed change has been executed, as on arm64 */
	unsigned int	stuck_at;	/* which poke, from 1, cannot be taken back then */
	bool		stuck_stays;	/* ... nor later */
	struct jf_site	*stuck;		/* the site of such a poke */
	bool		ran;		/* the last transaction failed after a store */
	void		*far;		/* a target that is out of reach */
	int		adopt_err;
	unsigned int	adopt_err_at;
	unsigned int	adopted;

	bool		unreached;	/* sites stay as they are: func alone leads there */
	void		(*on_settle)(void);

	/* images */
	struct jfk_image image[JFK_IMAGES];
	unsigned int	images;		/* how many there are */
	int		image_err;

	/* tests of branches that stand elsewhere: of the text that has @tests_of */
	unsigned long	tests_of, tests;

	/* the allocator */
	unsigned int	allocs, fail_at;
	bool		fail_always;	/* from fail_at on */
	int		not_freed;
	int		begun_with;

	/* time, and grace periods: of RCU, and of Tasks RCU */
	unsigned long	now;
	unsigned int	graces, tasks_graces, rude_graces, sleeps;
	unsigned int	slept;		/* the last time, in ms */
	const void	*watched[4];
	unsigned int	watched_freed, freed_without_grace;
	unsigned int	heal_after;	/* so many msleep() end all failures */
	long		gp_takes;	/* jiffies until Tasks RCU ends; < 0: never */

	/* tasks, and scans of them */
	bool		blind;		/* stacks cannot be read */
	const char	*unwind_lacks;	/* ... nor unwound, without this option */
	bool		stopped;
	unsigned int	cpus_locked;
	unsigned int	cpus_locks;	/* how often */
	unsigned int	gathers;	/* CPUs were stopped to list all tasks */
	unsigned int	scans;		/* ... to scan some of them */
	unsigned int	scanned;	/* how many of them, the last time */
	unsigned int	scanned_max;
	unsigned int	seen;		/* scans of a task, in all */
	unsigned int	cpu;		/* the CPU of the list of exiting tasks that is used */
	bool		no_exit_tp, no_workqueue, no_percpu;
	int		exit_probe_err;
	void		*exit_probe;	/* attached */
	void		(*before_gather)(void);
	void		(*on_stop)(void);
	void		(*on_sync)(void);
	void		(*on_cmpxchg)(void);	/* before one */
	void		(*on_batch)(void);	/* on the event */
	void		(*on_sleep)(void);

	/* work */
	bool		scheduled;	/* to reclaim retired code */
	unsigned long	delay;		/* in jiffies */
	bool		busy_scheduled;	/* the same for code that a task stays in */
	unsigned long	busy_delay;
	bool		queued;		/* to call callbacks */
	bool		exits_queued;	/* to drop tasks that have exited */
	unsigned long	exits_delay;
	struct delayed_work *key_work;	/* a deferred key's, pending */
	unsigned long	key_delay;
	int		workqueues, percpus;

	/* the kernel's data about text */
	struct jfk_symbol {
		const char	*name, *mod;
		unsigned long	start, size;
	} symbol[48];
	unsigned long	nameless;	/* an address of nothing that has a name */
	struct jf_span	unnamed[6];	/* the parts of a module's text that belong to no symbol */
	struct jf_span	leads[6];	/* jumps, from and to */
	unsigned long	padding;	/* where there is nothing but padding */
	unsigned long	text_start, text_end;	/* of modules; 0: all of memory */
	/* a target that is no module's text, and one in a module that was loaded before */
	void		*no_text, *old_text;
	const struct module *early;	/* such a module */

	/* the messages of kernel/quiesce/quiesce.c in the log */
	unsigned int	warnings;
	char		warning[256];

	/* trace events */
	unsigned int	ev_updates, ev_batches;
	unsigned int	ev_entities, ev_sites;
	int		ev_error;

	struct kunit	*test;
	unsigned int	breaches;
	const char	*breach;
} jfk;

/**
 * struct jfk_task - a task; the members of struct task_struct that the engine uses are first
 * @at:     the text that its stack leads into, 0: none
 * @unreadable: its stack cannot be read to the end
 * @stays:  so many jiffies, then it leaves; 0: for ever
 * @restless: it runs between any two scans
 * @refs:   references that the engine holds
 * @scans:  how often it was scanned, @strict of these as one that may have been interrupted
 */
struct jfk_task {
	char			comm[16];
	int			pid;
	unsigned int		on_cpu, on_rq, delayed, rtlock;
	unsigned long		nvcsw, nivcsw;
	refcount_t		stack_refcount;

	struct list_head	list;
	unsigned long		at;
	bool			unreadable, restless;
	unsigned long		stays;
	int			refs;
	unsigned int		scans, strict;
};

int jfk_init(struct kunit *test);
void jfk_exit(struct kunit *test);

struct jfk_mod *jfk_module(struct kunit *test, const char *name);
struct jf_func *jfk_func(struct jfk_mod *m, const char *name, void *init, u16 flags);
struct jf_key *jfk_key(struct jfk_mod *m, const char *name, bool on, u16 flags);
struct jf_key_deferred *jfk_deferred(struct jfk_mod *m, const char *name, unsigned long delay);
struct jf_tracepoint *jfk_tp(struct jfk_mod *m, const char *name, unsigned int nargs);
unsigned long jfk_site(struct jfk_mod *m, struct jf_ent *ent, u32 flags);
unsigned long jfk_site_at(struct jfk_mod *m, struct jf_ent *ent, u32 flags, void *addr);
void *jfk_init_text(struct jfk_mod *m);
void jfk_allow(struct jfk_mod *m, struct jf_func *f, const char *name, void *func);
/* The trampoline's jump. */
unsigned long jfk_tramp(struct jfk_mod *m, struct jf_func *f);
/* A function of the module that can be a target. */
void *jfk_code(struct jfk_mod *m, unsigned int i);
/* Functions of no module, to be targets. */
void *jfk_target(unsigned int i);
/* An iterator. */
void *jfk_iter(void);

/* Tasks. There are a few from the start, that are nowhere. */
struct jfk_task *jfk_task(struct kunit *test, void *at);
/* Outside, having run. */
void jfk_leave(struct jfk_task *t);
void jfk_leave_all(void);
/* It begins to exit, and is still on the list of tasks. */
void jfk_exiting(struct jfk_task *t);
/* It is removed from that list, and then its stack is freed. */
void jfk_unlist(struct jfk_task *t);
void jfk_free_stack(struct jfk_task *t);
/* The task that calls the engine. */
struct jfk_task *jfk_self(void);
/* Take all tasks off the list but that one. */
void jfk_no_tasks(void);
bool jfk_is_inside(void *start, void *end);
/* Tasks RCU ends all that it has begun. */
void jfk_end_graces(void);
/* Time passes: tasks that were to leave by now have left, grace periods have ended. */
void jfk_pass(unsigned long time);
/* Run the work that calls callbacks, if it was queued. */
bool jfk_work(void);
/* Run the work that drops tasks that have exited, if it was queued. */
bool jfk_exits_work(void);
/* As when it is loaded. */
void jfk_forget_exit_tp(void);

int jfk_notify(struct jfk_mod *m, unsigned long state);
/* COMING and LIVE. */
int jfk_load(struct jfk_mod *m);

u64 jfk_text(unsigned long addr);
void jfk_write(unsigned long addr, u64 insn);
#define JFK_ORIG	0x6a6a6a6a6aULL
#define JFK_BREAKPOINT	0xccULL
u64 jfk_insn(enum jf_op op, unsigned long target);
static inline u64 jfk_call(void *target) { return jfk_insn(JF_OP_CALL, (unsigned long)target); }
static inline u64 jfk_jmp(void *target) { return jfk_insn(JF_OP_JMP, (unsigned long)target); }
static inline u64 jfk_nop(void) { return jfk_insn(JF_OP_NOP, 0); }
static inline u64 jfk_ret0(void) { return jfk_insn(JF_OP_RET0, 0); }
static inline unsigned long jfk_label(unsigned long site) { return site + 64; }

/* From the engine's statics. */
unsigned int jfk_num_modules(void);
/* The unload of @m begins: calls jf_cut_off(), and returns its result. */
int jfk_cut_off(struct jfk_mod *m, long timeout);
unsigned int jfk_map_num(void);
struct jf_ctl *jfk_ctl(struct jf_ent *ent);
/* Of an entity, or of a site; all ones without a site. */
unsigned int jfk_num_sites(struct jf_ent *ent);
u64 jfk_updates(struct jf_ent *ent);
unsigned long jfk_found(unsigned long addr);
/* Sites that the INT3 handler may read must not be freed before a grace period. */
void jfk_watch(struct jfk_mod *m);
int jfk_by_name(const char *module, const char *name, unsigned int rank,
		enum jf_ent_type type, struct jf_ent **ent);
void *jfk_allowed(struct jf_ent *ent, const char *name);
int jfk_check_target(void *func, struct jfk_mod *own);
unsigned int jfk_num_retired_probes(void);
unsigned int jfk_num_tps(void);
unsigned int jfk_num_probes(const struct jf_tracepoint *tp);
const struct jf_probe *jfk_probe(const struct jf_tracepoint *tp, unsigned int i);
void *jfk_probes_image(const struct jf_tracepoint *tp);
const void *jfk_probes_id(const struct jf_tracepoint *tp);
void jfk_reclaim(void);
/* Run the work of a deferred key, if it is pending. */
bool jfk_key_work(void);
void jfk_force_context(bool atomic);
/* The record of a function that was replaced. */
bool jfk_is_retired(void *func);
/* With the images of registered probes. */
unsigned int jfk_num_records(void);
unsigned int jfk_retired_pins(void *func);
u64 jfk_retired_since(void *func);
enum jf_retired_kind jfk_retired_kind(void *func);
/* Records in all, pinned ones included. */
unsigned int jfk_num_retired(void);
/* The same without records of functions that are in use, which stay until that ends. */
unsigned int jfk_num_sought(void);
/* Grace periods of Tasks RCU that no task waits for. */
unsigned int jfk_num_gps(void);
unsigned int jfk_num_exits(unsigned int cpu);
unsigned int jfk_exits_max(void);
int jfk_exits_lost(void);

unsigned int jfk_images_used(void);

/* A copy of all that an update may change. */
struct jfk_state;
struct jfk_state *jfk_save(struct kunit *test);
/*
 * The difference, NULL: none; jf_stats.errors does not count, nor do the broadcasts of transactions
 * that were taken back.
 */
const char *jfk_changed(const struct jfk_state *s);
#define JFK_EXPECT_UNCHANGED(test, state, fmt, ...)			\
do {									\
	const char *__jfk_what = jfk_changed(state);			\
									\
	KUNIT_EXPECT_TRUE_MSG(test, !__jfk_what, "changed: %s; " fmt,	\
			      __jfk_what ?: "", ##__VA_ARGS__);		\
} while (0)

extern struct kunit_suite jfk_registry_suite, jfk_batch_suite, jfk_keys_suite,
	jfk_trace_suite, jfk_probes_suite, jfk_retired_suite, jfk_quiesce_suite,
	jfk_unload_suite, jfk_scan_suite, jfk_reclaim_suite, jfk_exits_suite;

#endif /* JFK_FAKE_H */
