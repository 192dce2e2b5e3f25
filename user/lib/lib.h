/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The interfaces between the parts of libjumpfunc. Nothing here is public.
 *
 * From top to bottom; a part uses those below it, and none above (harness/lint/parts):
 *   object.c	objects that are loaded and closed
 *   present.c	a new object's sites follow the present values
 *   tables.c	its tables are checked, and their contents are entered
 *   proxy.c	what one object imports from another
 *   linker.c	what the dynamic linker knows of objects
 *   object.h	the interfaces of the five above
 *   batch.c	batches of what the parts below carry out
 *   sdt.c	SDT probes, by name, and their calls
 *   list.c	what there is, by name
 *   copy.c	copies of what there is, for callbacks
 *   trace.c	tracepoints: what leads to their probes
 *   entity.c	keys and dynamic functions, one at a time
 *   commit.c	a batch as one transaction
 *   check.c	validates a batch
 *   change.c	requested changes: the entries of a batch, and their entities
 *   commit.h	the interfaces of the three above
 *   encode.c	the instruction at a site
 *   image.c	dispatch images, and memory for them
 *   trace.h	dispatch images, for trace.c
 *   frames.c	the description of images for unwinders, debuggers and profilers
 *   patch.c	the world of common/x86/protocol.h: one transaction
 *   relay.c	the code for calls that change in place without breakpoints
 *   text.c	changes of text that is no site
 *   trap.c	the SIGTRAP handler, for changes by INT3
 *   writer.c	how text can be written here, or why it cannot
 *   callback.c	functions that are called after a quiesce
 *   reader.c	which threads may be inside of what was replaced
 *   sync.c	broadcasts to all cores of this process
 *   site.c	records of sites, and which of them are entered when
 *   call.c	where the compiler put a call
 *   stop.c	breakpoints that are no sites'
 *   value.c	what keys and dynamic functions are set to
 *   memory.c	memory that is not the program's
 *   index.c	look-up of objects and sites
 *   life.c	the library's begin, the end of the program, and the statistics
 *   lock.c	the lock of all that, and forks of the program
 *   text.h	changes of text that is no site, for the agent
 *   options.c	the settings of the environment, and messages
 *
 * On aarch64, arm64/encode.c and arm64/patch.c stand for those above, and generic/images.c for
 * image.c, frames.c, relay.c, text.c, trap.c and stop.c. Where nothing is patched,
 * generic/generic.c also stands for encode.c, patch.c, site.c, writer.c and call.c; all else is
 * the same.
 *
 * Locks: jf_lock() around all that changes anything; within it the readers'
 * list has a lock of its own. The SIGTRAP handler and read sections take none.
 *
 * A helper thread that writes text (writer.c) does so for the one that has the lock.
 *
 * Forks: each part registers its work (jf_at_fork()). All that runs with the lock
 * held, which is the first to be taken and the last that a parent or a child drops.
 */
#ifndef JF_LIB_H
#define JF_LIB_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In here nothing is defined that belongs into a table. */
#define JF_NO_TABLE

#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/stats.h>

#if JF_HAVE_PATCHING && defined(__x86_64__)
#include "common/x86/insn.h"
#elif JF_HAVE_PATCHING
#include "common/arm64/insn.h"
typedef uint32_t jf_insn_t;
#else
/* No object has sites: see generic/generic.c. */
typedef uintptr_t jf_insn_t;
#endif

struct jf_ctl;
struct jf_linked;
struct jf_mod;

/* Priorities of constructors: of the parts, of their users, and of their work at forks. */
#define JF_BEGINS	101
#define JF_BEGINS_LATER	102
#define JF_BEGINS_LAST	103

#define jf_container(ptr, type, member)					\
	((type *)((char *)(ptr) - offsetof(type, member)))

/* In a loop that waits for another thread. */
static inline void jf_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* The key, or the dynamic function, that @ent is of. */
static inline struct jf_key *jf_key_of(const struct jf_ent *ent)
{
	return jf_container((struct jf_ent *)(uintptr_t)ent, struct jf_key, ent);
}

static inline struct jf_func *jf_func_of(const struct jf_ent *ent)
{
	return jf_container((struct jf_ent *)(uintptr_t)ent, struct jf_func, ent);
}

/* --- options.c ---------------------------------------------------------------------- */

/**
 * struct jf_options - the settings of the environment
 * @off:     JUMPFUNC=off: no text is ever written
 * @verbose: JUMPFUNC=verbose: print each step, and each that is not possible
 * @writer:  JUMPFUNC_WRITER: the one that alone may be used, or NULL
 * @int3:    JUMPFUNC_TRAP=always: changes by INT3, with a handler for SIGTRAP
 * @perf_map: JUMPFUNC_PERF_MAP: tell perf of dispatch images
 */
struct jf_options {
	bool		off;
	bool		verbose;
	bool		int3;
	bool		perf_map;
	const char	*writer;
};

const struct jf_options *jf_options(void);
extern struct jf_stats jf_stats;
uint64_t jf_now_ns(void);
/*
 * An error, or, if @verbose, a piece of news. A message of the lock's holder is written when the
 * lock is dropped.
 */
void jf_say(bool verbose, const char *fmt, ...)
	__attribute__((__format__(__printf__, 2, 3)));
/* Messages of this thread wait from now on, or no longer: it has the lock. */
void jf_say_later(bool later);
/* With the lock held. True if messages wait. */
bool jf_say_waits(void);
/* With the lock held. Moves them to @text, which has JF_UNSAID_SIZE bytes. */
void jf_say_take(char *text);
#define JF_UNSAID_SIZE	(4096 + 64)
/* False: nothing of @text is in the file now. It brings no signal. */
bool jf_write_text(int fd, const char *text);

/* --- lock.c ------------------------------------------------------------------------- */

/**
 * struct jf_before - the state of a thread before it asked for a lock, or the list of readers
 * @cancel:  could it be cancelled
 * @signals: those that it blocked
 */
struct jf_before {
	int		cancel;
	sigset_t	signals;
};

/* All but those that a thread causes itself. */
void jf_signals_of_others(sigset_t *set);
/* Block signals and cancellation of the holder of a lock; restore them afterwards. */
void jf_keep_off(struct jf_before *b);
void jf_let_in(const struct jf_before *b);

/**
 * struct jf_mutex - a lock whose holder is not cancelled and gets no signals
 * @mutex:  the lock
 * @before: the former state of the thread that holds it
 */
struct jf_mutex {
	pthread_mutex_t		mutex;
	struct jf_before	before;
};

#define JF_MUTEX_INIT	{ .mutex = PTHREAD_MUTEX_INITIALIZER }

void jf_mutex_lock(struct jf_mutex *m);
void jf_mutex_unlock(struct jf_mutex *m);
/* In a child, whose parent's thread held it, or another one did. */
void jf_mutex_renew(struct jf_mutex *m);
/* The one of all objects, entities and sites. */
void jf_lock(void);
void jf_unlock(void);
/* As jf_lock(), if it can be had soon: exit() must not wait for ever. */
bool jf_lock_soon(void);
#define JF_SOON_NS	100000000ULL
/* For changes at a program's wish. 0, or -EDEADLK: this thread forks. */
int jf_lock_to_change(void);
/**
 * struct jf_fork_part - the work of a part at a fork, with the lock held
 * @before: in front of it, or NULL
 * @parent: after it, or NULL
 * @child:  after it, or NULL
 * @next:   of all parts, in the order in which they told of it
 */
struct jf_fork_part {
	void			(*before)(void);
	void			(*parent)(void);
	void			(*child)(void);
	struct jf_fork_part	*next;
};

/* By constructors with JF_BEGINS. */
void jf_at_fork(struct jf_fork_part *part);
/*
 * Around waits for other threads: if this one is in a handler for fork(), it holds the lock, and
 * lends it during the wait. jf_lock() does so by itself.
 */
bool jf_fork_pause(void);
void jf_fork_resume(bool paused);
/* There may be locks of threads that the child does not have. */
void jf_fork_in_child(void);

/* --- life.c ------------------------------------------------------------------------- */

/* So long dlclose() waits before an object stays in memory. */
#define JF_CLOSE_NS	2000000000ULL
/* True if exit() has begun. */
bool jf_exits(void);
void jf_at_exit(void);

/* --- index.c ---------------------------------------------------------------------- */

/**
 * struct jf_site - an instruction of text that belongs to libjumpfunc
 * @addr:  where they are
 * @insn: the present instruction, or the new one of the transaction under way: the handler's word
 * @compiled: the compiler's instruction
 * @label: the other side of a branch; the way past a trampoline's jump; the
 *         trampoline that a call leads to as compiled
 * @ctl:   the entity that decides
 * @next:  of @ctl->sites
 * @flags: JF_SITE_*
 * @left:  a breakpoint of ours stands there that could not be taken away
 * @guard: of a call that changes in place without breakpoints: its last byte during the change
 * @away:  it is such a call, goes by its trampoline, and was counted for that
 */
struct jf_site {
	uintptr_t		addr;
	_Atomic jf_insn_t	insn;
	jf_insn_t		compiled;
	uintptr_t		label;
	struct jf_ctl		*ctl;
	struct jf_site		*next;
	uint32_t		flags;
	bool			left;
	uint8_t			guard;
	bool			away;
};

/**
 * struct jf_ctl - the library's data about a key or a dynamic function
 * @ent:    the entity
 * @mod:    its object
 * @sites:  its sites, all in that object, as far as they are entered
 * @num_sites: how many of these were entered when its object was loaded
 * @later:  those that were entered when it changed first: so many, by address, or NULL
 * @num_later: how many records of these there are, once they are in order
 * @first:  where these begin in jf_mod.order
 * @odd:    some source file has compiled its branches for another first value
 * @real:   the entity that this one stands in for, or NULL
 * @wants:  the first of the array of that one, while its object is not known; then
 *          @ent has no @ctl
 * @nth:    which one of the array that is
 * @rest:   how many of its array there are from this one on; 1 without an array
 * @at:     how many there are in front of it
 * @exported: others may import it
 * @next_func: the next one of @mod->funcs
 * @proxies: those that stand in for this one
 * @next_proxy: the next one of @real->proxies
 * @batch:  the batch that is being committed and changes it
 * @value:  the new value then: a target, or 0 and 1
 * @also:   where something is stored just before that, or NULL
 * @stored: what
 * @mark:   the last search that visited it
 * @todo:   the next one that it has to look at
 * @tracing: its tracepoint's part in the change that is being prepared (trace.c), or NULL
 */
struct jf_ctl {
	struct jf_ent		*ent;
	struct jf_mod		*mod;
	struct jf_site		*sites;
	size_t			num_sites;
	struct jf_site		*later;
	uint32_t		num_later;
	uint32_t		first;
	bool			odd;
	struct jf_ctl		*real;
	const struct jf_ent	*wants;
	size_t			nth;
	size_t			rest;
	size_t			at;
	bool			exported;
	struct jf_ctl		*next_func;
	struct jf_ctl		*proxies;
	struct jf_ctl		*next_proxy;
	const struct jf_batch	*batch;
	uintptr_t		value;
	void			**also;
	void			*stored;
	uint64_t		mark;
	struct jf_ctl		*todo;
	struct tracing		*tracing;
};

/**
 * struct jf_text - an executable segment
 * @start: its lowest address
 * @end:   after its highest that is in the file
 * @at:    where it begins in the file
 */
struct jf_text {
	uintptr_t	start, end;
	uint64_t	at;
};

/**
 * struct jf_mod - a linked object: the program, or a shared object
 * @object: its tables
 * @name:   its file, for messages
 * @program: it is the program itself, which is never unmapped
 * @unloading: it is being closed: nothing new may lead there
 * @start:  its lowest address
 * @end:    after its highest
 * @text:   where its executable segments begin
 * @text_end: where they end
 * @texts:  each of them
 * @num_texts: their number
 * @path:   their file, from the root on, or NULL
 * @writable: some text is where data may be, too
 * @copied: a bit for each page of text that the remapping writer has replaced
 * @written: a bit for each that was written in place since the last fork
 * @forks:  how many forks there were at that time
 * @linked: for each what in the file looks like a breakpoint, or NULL: not known yet
 * @sites:  its sites that were entered when it came, by address
 * @tested: there are some among them that lead to a test as compiled
 * @all:    these are all: JUMPFUNC_TRAP=always
 * @num_later: how many others there are
 * @order:  their records, by key and by address for each, or NULL
 * @calls:  its calls, by address, after a dynamic function has changed, or NULL; not if @all
 * @num_calls: their number
 * @relays: pages of relays (relay.c), by address
 * @num_relays: their number
 * @max_relays: for so many there is room
 * @bad:    those records are not what they should be: its keys cannot be changed
 * @starts: where it has a site, entered or not, sorted; or NULL: no agent has asked
 * @num_starts: their number
 * @ctls:   its entities
 * @num_ctls: their number
 * @funcs:  of dynamic functions
 * @waiting: how many of them wait for their exporter: jf_ctl.wants
 * @serial: no other object ever had the same
 * @next:   all objects
 */
struct jf_mod {
	struct jf_object	*object;
	const char		*name;
	bool			program;
	bool			unloading;
	uintptr_t		start, end;
	uintptr_t		text, text_end;
	struct jf_text		*texts;
	size_t			num_texts;
	char			*path;
	bool			writable;
	uint8_t			*copied;
	uint8_t			*written;
	uint64_t		forks;
	const struct jf_linked	**linked;
	struct jf_site		*sites;
	size_t			num_sites;
	bool			tested;
	bool			all;
	size_t			num_later;
	uint32_t		*order;
	struct jf_site		*calls;
	size_t			num_calls;
	struct jf_relays	**relays;
	size_t			num_relays, max_relays;
	bool			bad;
	uintptr_t		*starts;
	size_t			num_starts;
	struct jf_ctl		*ctls;
	size_t			num_ctls;
	struct jf_ctl		*funcs;
	size_t			waiting;
	uint64_t		serial;
	struct jf_mod		*next;
};

extern struct jf_mod *jf_mods;
/* Counts loads and unloads of objects. With the lock held. */
extern uint64_t jf_mods_version;

static inline bool jf_mod_has(const struct jf_mod *mod, uintptr_t addr)
{
	return addr >= mod->start && addr < mod->end;
}

/* The one that @ctl stands in for, or itself. */
static inline struct jf_ctl *jf_ctl_real(struct jf_ctl *ctl)
{
	return ctl->real ? ctl->real : ctl;
}

/* @ent of an object that was refused, or of none, has no such thing. */
static inline struct jf_ctl *jf_ctl_of(const struct jf_ent *ent)
{
	struct jf_ctl *ctl = ent->ctl;

	return ctl && ctl->real ? ctl->real : ctl;
}

/* True if @addr is in an object that is being closed. With the lock held. */
bool jf_is_unloading(const void *addr);

/* Whose @addr is, or NULL. With the lock held. */
struct jf_mod *jf_mod_of(uintptr_t addr);
/*
 * Any context with JUMPFUNC_TRAP=always, else with the lock: the site at @addr, and whether @addr
 * is in an object of ours.
 */
struct jf_site *jf_site_find(uintptr_t addr, bool *ours);
/* The jump of a trampoline; these are entered as their object is loaded. */
struct jf_site *jf_trampoline_find(uintptr_t addr);

/* --- stop.c ----------------------------------------------------------------------- */

/* Any context: where a thread goes on that meets a breakpoint at @at; 0: not one of these. */
uintptr_t jf_stop_find(uintptr_t at);
/* 0 or -ENOMEM. With the lock held, as the next one. */
int jf_stop_set(uintptr_t at, uintptr_t to);
void jf_stop_forget(uintptr_t start, uintptr_t end);

/* --- memory.c ------------------------------------------------------------------- */

size_t jf_page_size(void);
/* True if memory of @size at @addr keeps the program's heap (brk()) from growing. */
bool jf_is_heap(uintptr_t addr, size_t size);
/* True if memory at @addr keeps the first thread's stack from growing. */
bool jf_is_below_stack(uintptr_t addr);
/*
 * As malloc() and so on, all with the lock held. Its holder must not call those: the
 * program's may wait for a thread that waits for the lock.
 */
void *jf_alloc(size_t size);
void *jf_zalloc(size_t size);
void *jf_realloc(void *p, size_t size);
void jf_free(void *p);
/* As qsort(), which may call malloc(). 0 or -ENOMEM. */
int jf_sort(void *items, size_t num, size_t size,
	    int (*compare)(const void *a, const void *b));

/* --- value.c ---------------------------------------------------------------------- */

/*
 * Stores an entity's value, for those who load it. Of a key this is not the count: text
 * may be in the middle of its change.
 */
void jf_ctl_apply(struct jf_ctl *ctl);
uintptr_t jf_ent_value(const struct jf_ent *ent);
/* From 0, or to it: only the holder of the lock does that, when all sites are as they should be. */
void jf_count_set(const struct jf_ctl *real, int count);
/* Lets the counts of those that stand in for a key follow it; with the lock, or in a look. */
void jf_count_follow(const struct jf_ctl *real);
/* Give @to, which is not in use yet, the value of @from. */
void jf_ent_copy(struct jf_ent *to, const struct jf_ent *from);
/* Give a key its first value again. No other thread may change it. */
void jf_ent_reset(struct jf_ent *key);

/* --- site.c ----------------------------------------------------------------------- */

/* An object is loaded, whose @ctls are known. 0, -ENOMEM, or -EINVAL: it is refused. */
int jf_sites_now(struct jf_mod *m);
struct jf_poke;
/* By address; most are in order. 0 or -ENOMEM */
int jf_pokes_sort(struct jf_poke *pokes, size_t num);
/* Sets struct jf_ctl.odd of its keys. Nothing else is looked at. */
void jf_sites_odd(struct jf_mod *m);
/* Those of @ctl are all entered from here on. 0, -ENOMEM, or -ENODEV: its object is bad. */
int jf_sites_of(struct jf_ctl *ctl);
/* How many it has, entered or not. 0: there is no memory to know it. */
size_t jf_sites_num(struct jf_ctl *ctl);
/*
 * With the lock: -EBUSY, if the object has a site, entered or not, of which a byte is from @from up
 * to @to; 0, -ENOMEM.
 */
int jf_sites_in(uintptr_t from, uintptr_t to);
void jf_sites_free(struct jf_mod *m);

/* --- call.c ----------------------------------------------------------------------- */

/*
 * The call of @to, or the jump there, to which the code from @from on comes, in
 * the text from @start to @end. 0: it is not found.
 */
uintptr_t jf_call_find(uintptr_t from, uintptr_t to, uintptr_t start, uintptr_t end);

/* --- relay.c ----------------------------------------------------------------------- */

/*
 * True if the call @s can change from @old to @new while others execute it. Then its guard is
 * known, and each mixture leads to a relay, at the latest when jf_relays_write() has returned. With
 * the lock held.
 */
bool jf_relays_for(struct jf_site *s, jf_insn_t old, jf_insn_t new);
/*
 * Within a transaction, in front of the first write to a site. @some: cores have to serialise
 * before one is sent there.
 */
int jf_relays_write(bool *some);
void jf_relays_free(struct jf_mod *m);

/* True if @s is a call that changes by relays, and not by breakpoints. */
static inline bool jf_site_relays(const struct jf_site *s)
{
	return s->flags & JF_SITE_CALL && !jf_options()->int3;
}

/* --- sync.c ----------------------------------------------------------------------- */

/* If in doubt, false. */
bool jf_kernel_since(unsigned int major, unsigned int minor);
/* True if jf_sync_begin() would succeed. Registers nothing. */
bool jf_sync_possible(void);
/* Before the first live change. 0 or -errno. */
int jf_sync_begin(void);
/* Every core of this process serialises before it returns. False: maybe not. */
bool jf_sync_cores(void);
/* A full memory barrier on all of them. */
void jf_sync_memory(void);
/* True if this is the only thread. If in doubt, false. */
bool jf_single_threaded(void);
void jf_sync_self(void);

/* --- reader.c ------------------------------------------------------------------- */

/* Around the handler; the data that it can see stays until the end. */
bool jf_handler_enter(void);
void jf_handler_leave(bool listed);
/* The same for a look at data that other objects can take with them; it is not to be cancelled. */
void jf_look_begin(void);
void jf_look_end(void);
/* Wait until no handler, and no look, is where it could be when this was called. */
void jf_wait_handlers(void);
/* jf_quiesce(). False: it took longer than @limit_ns. */
bool jf_wait_readers_for(uint64_t limit_ns);
/*
 * Without waiting: begin, and ask later which one the oldest section began in. All that
 * was before is over if that is not lower.
 */
uint64_t jf_grace_begin(void);
uint64_t jf_grace_oldest(void);
/*
 * Something was replaced, with the lock held; how often that was so; and whether all threads that
 * could be in code replaced before are known to have left.
 */
void jf_replaced(void);
uint64_t jf_replacements(void);
bool jf_quiesced(uint64_t replacements);
bool jf_in_section(void);

/* --- callback.c ----------------------------------------------------------------- */

/* Wait for those that lead into an object, or lie in it. False: it took longer than @limit_ns. */
bool jf_callbacks_wait(const struct jf_mod *mod, uint64_t limit_ns);

/* --- writer.c --------------------------------------------------------------------- */

/*
 * Carries out a transaction, in a thread of its own where that is needed, and returns
 * what @work does, when it has. Only within @work can text be written, and a writer be chosen.
 */
int jf_writer_run(int (*work)(void *arg), void *arg);
/* 0, or -errno, maybe with some of them written. */
int jf_writer_write(uintptr_t addr, const void *bytes, size_t num);
/*
 * Find one that can write all these addresses, which ascend. -EOPNOTSUPP: no writer works; jf_stats
 * says why.
 */
int jf_writer_begin(const uintptr_t *addrs, size_t num);
/*
 * A descriptor of this process's memory, for use if /proc/self/mem cannot be opened, until there is
 * another; 0: none.
 */
void jf_writer_lend(int fd);
bool jf_writer_usable(void);
/*
 * Copies @num bytes of text, all in one page. False: one of them, as it was copied, may be a
 * breakpoint: it is 0xcc, and the file has another one there.
 */
bool jf_writer_copy(uint8_t *to, uintptr_t from, size_t num);
/* Its data about the pages of @m. */
void jf_writer_forget(struct jf_mod *m);
/* Into the pages that tracers write to, too; else it replaces whole pages. */
bool jf_writer_in_place(void);
/* There is no writer, since something else is missing: @what */
void jf_writer_none(const char *what);

/* --- trap.c ----------------------------------------------------------------------- */

/* Before the first live change, and again before each: another handler may have been installed. */
int jf_trap_install(void);
bool jf_trap_possible(void);

/* --- patch.c ---------------------------------------------------------------------- */

/**
 * struct jf_poke - one site's part in a transaction
 * @addr: where it is; most steps need no more of it than this
 * @site: the site
 * @old:  the present instruction
 * @new:  the new one
 */
struct jf_poke {
	uintptr_t	addr;
	struct jf_site	*site;
	jf_insn_t	old;
	jf_insn_t	new;
};

/*
 * Carry out a transaction. @alone: this is the only thread, and so no other one
 * executes these sites.
 * 0, or with nothing changed: -EBUSY, -EILSEQ, -EOPNOTSUPP, -ENOMEM; -EIO: see
 * jf_batch_commit().
 */
int jf_patch(struct jf_poke *pokes, size_t num, bool alone);
/* One has stopped in the middle once: some sites may not follow their values. */
bool jf_patch_incomplete(void);

/* --- image.c ---------------------------------------------------------------------- */

/* If @addr is a dispatch image: true if it leads into another object than @mod. */
bool jf_image_leaves(uintptr_t addr, const struct jf_mod *mod);
/*
 * True if text at @site can lead to @target. Not into an object that may be closed before the
 * site's own one: by the time it is closed, text may no longer be writable. A pointer always is.
 */
static inline bool jf_site_may_lead(const struct jf_site *site, uintptr_t target)
{
	const struct jf_mod *own = site->ctl->mod, *m = jf_mod_of(target);

	return m ? m == own || m->program : !jf_image_leaves(target, own);
}

/* --- change.c to commit.c, with commit.h ----------------------------------------------------- */

/* Pokes of a transaction to be; jf_free(@poke) afterwards. */
struct jf_pokes {
	struct jf_poke	*poke;
	size_t		num, max;
};

/* 0 or -ENOMEM */
int jf_pokes_add(struct jf_pokes *p, struct jf_site *site, jf_insn_t insn);

/**
 * struct jf_change - one entity's part in a batch
 * @next:   of the batch
 * @ent:    the entity
 * @value:  what it becomes
 * @serial: its object's, or 0: it was not known when this was added
 * @again:  one that comes before it in the list is the same
 * @turns:  it is not what its entity has already
 * @frozen: its key's last user was taken away, so that none can come without the lock
 * @shared: its key has more users than the one that should go
 * @force:  JF_ENT_TRACE and objects that are unloaded are no reason to refuse it
 * @image:  it leads to what was written just now, so that cores have to serialise before
 * @also:   see struct jf_ctl
 * @stored: see struct jf_ctl
 */
struct jf_change {
	struct jf_change	*next;
	struct jf_ent		*ent;
	uintptr_t		value;
	uint64_t		serial;
	bool			again;
	bool			turns;
	bool			frozen;
	bool			shared;
	bool			force;
	bool			image;
	void			**also;
	void			*stored;
};

/* With the lock held. */
struct jf_change jf_change_of(struct jf_ent *ent, uintptr_t value);

/*
 * The instruction that @site holds if its entity has @value. @alone: no thread executes it yet;
 * otherwise it can be had from the present instruction.
 */
int jf_site_insn(struct jf_site *site, uintptr_t value, bool alone, jf_insn_t *insn);
/* True if it follows its entity's value as compiled, whatever that is. */
static inline bool jf_site_loads(const struct jf_site *site)
{
	return !(site->flags & JF_SITE_BRANCH) || site->flags & JF_SITE_TESTED;
}
/*
 * Changes a dynamic function whose sites load its pointer, without writing text.
 * False: some do not.
 */
bool jf_ent_store_only(struct jf_ent *ent, uintptr_t value);
/**
 * struct jf_probe_change - a probe that a batch adds or removes
 * @next:   of the batch, the last one first
 * @tp:     the tracepoint, or its stand-in
 * @serial: its object's
 * @func:   the probe
 * @data:   its first argument
 * @prio:   its priority
 * @add:    add it, or remove it
 */
struct jf_probe_change {
	struct jf_probe_change	*next;
	struct jf_tracepoint	*tp;
	uint64_t		serial;
	void			*func;
	void			*data;
	int			prio;
	bool			add;
};

/*
 * As the public ones, with the lock held: all of @b, or nothing of it. @force: all of them, as in
 * struct jf_change.
 */
int jf_commit_locked(struct jf_batch *b, bool force);
/* With the lock held. */
int jf_batch_add(struct jf_batch *b, struct jf_ent *ent, uintptr_t value);
/* jf_batch_abort(), with the lock held. */
void jf_batch_drop(struct jf_batch *b);
/* NULL: the definition's value for it, or nothing, which is refused later. */
void *jf_func_target(const struct jf_func *f, void *func);

/* --- trace.c ---------------------------------------------------------------------- */

/* As jf_batch_commit(), with the lock held. */
int jf_trace_commit(struct jf_batch *b);
/*
 * The probes of the tracepoint whose dynamic function @ent is of, or SDT probe whose key. With the
 * lock held.
 */
size_t jf_trace_probes(const struct jf_ent *ent);
/* The number of its probes, and whether it has this one. With the lock held. */
size_t jf_trace_num(const struct jf_tracepoint *tp);
bool jf_trace_has(const struct jf_tracepoint *tp, void *func, void *data);
/* Take away all probes in an object that is unloaded: 0 or the last error. With the lock held. */
int jf_trace_object_unload(const struct jf_mod *mod);

/* --- copy.c ----------------------------------------------------------------------- */

/**
 * struct jf_copy - a list of all entities
 * @one:  size of each
 * @info: they
 * @num:  how many there are
 * @max:  for so many there is room
 * @text: the strings
 * @used: so many bytes they have
 * @size: for so many there is room
 */
struct jf_copy {
	size_t	one;
	char	*info;
	size_t	num, max;
	char	*text;
	size_t	used, size;
};

/* A string, to be part of it; with the lock held. */
const char *jf_copy_keep(struct jf_copy *c, const char *s);
/* One of them, of @c->one bytes; with the lock held. */
void jf_copy_add(struct jf_copy *c, const void *info);
/*
 * Call @visit for each, until it does not return 0, with no lock held. @add_all is called
 * with it, maybe more than once. 0, -ENOMEM, or what @visit has returned.
 */
int jf_copy_show(size_t one, void (*add_all)(struct jf_copy *c), int (*visit)(const void *info, void *arg),
		 void *arg);

/* --- list.c ----------------------------------------------------------------------- */

/* True if @pattern, of so many characters, matches all of @name. See list.h. */
bool jf_name_fits(const char *name, const char *pattern, size_t len);
/* At how many places it is, in all objects. With the lock held. */
size_t jf_ctl_sites(struct jf_ctl *ctl);
/* It stands in for nothing, and its object stays. With the lock held. */
bool jf_ctl_is_own(const struct jf_ctl *ctl);
/* The environment's wishes for keys of an object that was loaded. With the lock held. */
void jf_list_enable(const struct jf_mod *mod);

/* --- sdt.c ------------------------------------------------------------------------ */

/* True if it has SDT probes. With the lock held. */
bool jf_sdt_has_any(const struct jf_mod *m);
/* An object was loaded, with some or without. Without the lock. */
void jf_sdt_loaded(bool any);

#include "break.h"
#include "error.h"

#endif /* JF_LIB_H */
