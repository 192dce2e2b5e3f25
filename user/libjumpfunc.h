/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * libjumpfunc: the patching engine of jumpfunc, in userspace.
 *
 * API:
 *   jf_init(), jf_exit()			the process's engine
 *   jf_thread_register(), ..._unregister()	a thread that calls sites
 *   jf_text_create(), jf_text_destroy()	memory for code, never W+X
 *   jf_sites_add(), jf_sites_remove()		five bytes of a text that belong to
 *						a dynamic function or a key
 *   jf_batch_init(), dynfunc_batch_set(), jf_key_batch_set(), jf_batch_code(),
 *   jf_batch_commit(), jf_batch_abort()	change any number of them together
 *   dynfunc_update(), dynfunc_query()		the same for one function
 *   jf_key_enable(), jf_key_disable(), jf_key_enabled()	and for one key
 *   jf_read_lock(), jf_read_unlock()		around calls of what may go away
 *   jf_quiesce()				wait until no thread is inside a
 *						replaced target or image
 *   jf_stats_get()				what was done so far
 *
 * Example:
 *   struct jf_func op = JF_FUNC_INIT("op", first, JF_NULL_FORBIDDEN);
 *   struct jf_site_desc at = { .addr = tramp, .func = &op, .form = JF_SITE_TAIL };
 *
 *   jf_init();
 *   text = jf_text_create(4096, first);	// near what it will call
 *   ... let tramp be an address in the text that holds "jmp first" ...
 *   jf_sites_add(&at, 1);
 *   dynfunc_update(&op, second);		// callers now reach second()
 *
 * How it works: the codec (x86/protocol/insn.h) and the steps (x86/protocol/protocol.h) are those of
 * the kernel module, the same source. A batch checks everything first, then puts
 * INT3 on the first byte of every site, lets all cores serialise, tells the SIGTRAP
 * handler what each site is going to be, writes the tails, serialises, writes the
 * first bytes, serialises: three broadcasts whatever the size, each one
 * membarrier(PRIVATE_EXPEDITED_SYNC_CORE). A thread that meets the INT3 has the
 * site's instruction emulated: the old one until the handler is told, then the
 * new one. If somebody else's byte turns up at a site, the INT3s are taken back.
 * Text is a memfd mapped for execution; a second, writable mapping of it exists
 * during a batch and nowhere executes.
 *
 * Caveats:
 * - A call site clobbers what lies below the stack pointer, as a call does and
 *   as its emulation does: code around a call site must not use the red zone.
 *   The compiler does not know of sites in inline assembly: build such code
 *   with -mno-red-zone.
 * - SIGTRAP must not be blocked where sites are executed (the kernel kills the
 *   process for an INT3 with SIGTRAP blocked), and jf_init() must be the last
 *   one to install a handler. INT3s that are not ours go to the handler that
 *   was there before, which runs with all signals blocked.
 * - A debugger, uprobe or ptrace that writes INT3 on a site makes the next
 *   batch fail with -EBUSY; nothing is overwritten.
 * - fork(): the child shares the text but gets none of the broadcasts. Call
 *   exec in the child, or stop updating in both.
 * - The emulated call leaves no entry on a hardware shadow stack: not for
 *   threads that run with user shadow stacks (CET).
 * - Targets must lie within 2 GiB of the site: else -ERANGE.
 * - No function may be called from a signal handler, except for
 *   jf_read_lock() and jf_read_unlock().
 *
 * Every function that returns int returns 0 or a negative errno:
 * -EINVAL bad argument, -ERANGE target beyond rel32, -EILSEQ unexpected bytes
 * at a site, -EBUSY site or function in use, or somebody's breakpoint at a site,
 * or a byte that changed while the batch began, -ENOMEM, -ENOSYS no
 * membarrier(SYNC_CORE), -EDEADLK would wait for itself. On error nothing has
 * changed.
 */
#ifndef LIBJUMPFUNC_H
#define LIBJUMPFUNC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../x86/protocol/insn.h"

/**
 * enum jf_null - what a dynamic function does whose target is NULL
 * @JF_NULL_FORBIDDEN: there is no such state
 * @JF_NULL_NOP:       nothing; for void functions
 * @JF_NULL_RET0:      it returns zero
 */
enum jf_null {
	JF_NULL_FORBIDDEN,
	JF_NULL_NOP,
	JF_NULL_RET0,
};

/**
 * enum jf_site_form - what the five bytes are for
 * @JF_SITE_CALL:            call the function, or nop, or return-0 in place
 * @JF_SITE_TAIL:            jump to the function: a trampoline, a tail call
 * @JF_SITE_BRANCH:          jump to the label when the key is on, else nop
 * @JF_SITE_BRANCH_INVERTED: jump to the label when the key is off, else nop
 */
enum jf_site_form {
	JF_SITE_CALL,
	JF_SITE_TAIL,
	JF_SITE_BRANCH,
	JF_SITE_BRANCH_INVERTED,
};

struct jf_site;
struct jf_text;
struct jf_batch;

/* What a function and a key have in common; private to the engine. */
struct jf_switch {
	const char *name;
	uintptr_t state;		/* target, or 0 and 1 */
	enum jf_null null;
	bool is_key;
	struct jf_site **sites;
	size_t nr_sites, max_sites;
	const struct jf_batch *batch;	/* that is just being committed, */
	uintptr_t next_state;		/* and what it makes of this */
};

/** struct jf_func - a dynamic function; make it with JF_FUNC_INIT() */
struct jf_func {
	struct jf_switch sw;
};

/** struct jf_key - a jump-label key; make it with JF_KEY_INIT() */
struct jf_key {
	struct jf_switch sw;
};

#define JF_FUNC_INIT(_name, _target, _null)				\
	{ .sw = { .name = (_name), .state = (uintptr_t)(_target),	\
		  .null = (_null) } }
#define JF_KEY_INIT(_name, _on)						\
	{ .sw = { .name = (_name), .state = (_on), .is_key = true } }

/**
 * struct jf_site_desc - where a site is and what it belongs to
 * @addr:  its address, in a struct jf_text
 * @func:  the dynamic function, for JF_SITE_CALL and JF_SITE_TAIL
 * @key:   the key, for JF_SITE_BRANCH and its inverse
 * @label: where the branch leads, for the same
 * @form:  what the site is for
 *
 * The bytes at @addr must already be what the present state asks for.
 */
struct jf_site_desc {
	void *addr;
	struct jf_func *func;
	struct jf_key *key;
	void *label;
	enum jf_site_form form;
};

int jf_init(void);
void jf_exit(void);

struct jf_text *jf_text_create(size_t size, const void *near);
void jf_text_destroy(struct jf_text *text);
void *jf_text_base(const struct jf_text *text);
size_t jf_text_size(const struct jf_text *text);

int jf_sites_add(const struct jf_site_desc *descs, size_t count);
int jf_sites_remove(void *const *addrs, size_t count);

/**
 * struct jf_batch - changes that take effect together
 *
 * All fields are private, but for @error: after a failure it says what was
 * wrong and where.
 */
struct jf_batch {
	struct jf_change *changes;
	size_t nr_changes, max_changes;
	struct jf_code *codes;
	size_t nr_codes, max_codes;
	char error[160];
};

void jf_batch_init(struct jf_batch *batch);
int dynfunc_batch_set(struct jf_batch *batch, struct jf_func *func, void *target);
int jf_key_batch_set(struct jf_batch *batch, struct jf_key *key, bool on);
int jf_batch_code(struct jf_batch *batch, void *dest, const void *code, size_t size);
int jf_batch_commit(struct jf_batch *batch);
void jf_batch_abort(struct jf_batch *batch);

int dynfunc_update(struct jf_func *func, void *target);
void *dynfunc_query(const struct jf_func *func);
int jf_key_enable(struct jf_key *key);
int jf_key_disable(struct jf_key *key);
bool jf_key_enabled(const struct jf_key *key);

int jf_quiesce(void);

/**
 * struct jf_stats - what the engine did since jf_init()
 * @batches:         commits that changed text
 * @updates:         functions, keys and pieces of code changed by them
 * @sites_patched:   sites changed by them
 * @sync_broadcasts: membarriers that made all cores serialise
 * @quiesces:        completed jf_quiesce() calls
 * @int3_hits:       INT3s of ours that threads met
 * @int3_foreign:    INT3s passed on
 * @update_ns_last:  how long the last commit took
 * @update_ns_min:   the shortest
 * @update_ns_max:   the longest
 * @window_ns_max:   longest time that sites stood at INT3
 */
struct jf_stats {
	uint64_t batches;
	uint64_t updates;
	uint64_t sites_patched;
	uint64_t sync_broadcasts;
	uint64_t quiesces;
	uint64_t int3_hits;
	uint64_t int3_foreign;
	uint64_t update_ns_last;
	uint64_t update_ns_min;
	uint64_t update_ns_max;
	uint64_t window_ns_max;
};

void jf_stats_get(struct jf_stats *stats);

/* --- readers --------------------------------------------------------------- */

/*
 * One per registered thread, on cache lines of its own: only the thread
 * writes to it, others only look.
 */
struct jf_thread {
	/* 0, or the grace period in which the section began | nesting depth */
	_Alignas(128) _Atomic uint64_t reader;
	/* 0, or the grace period in which the SIGTRAP handler was entered */
	_Atomic uint64_t handler;
	_Atomic uint64_t int3_hits;
	_Atomic uint64_t int3_foreign;
	_Atomic bool used;
	struct jf_thread *next;
};

/* The lower bits count the nesting of sections, the rest grace periods. */
#define JF_READER_NEST_MASK	0xffffULL
#define JF_GRACE_PERIOD		0x10000ULL

extern __thread struct jf_thread *__jf_self
	__attribute__((tls_model("initial-exec")));
extern _Atomic uint64_t __jf_grace_period;

int jf_thread_register(void);
void jf_thread_unregister(void);

/**
 * jf_read_lock() - begin a section that jf_quiesce() waits for
 *
 * Everything that the section reaches through a site stays in place until the
 * section ends. Sections nest; signal handlers may have their own. Two plain
 * loads and a store: the barrier that would belong behind the store is the
 * membarrier in jf_quiesce().
 *
 * Context: a registered thread.
 */
static inline void jf_read_lock(void)
{
	struct jf_thread *self = __jf_self;
	uint64_t was = atomic_load_explicit(&self->reader, memory_order_relaxed);

	/*
	 * A signal handler that comes in between leaves the word as it found
	 * it, so a stale value is at worst an older grace period: safe.
	 */
	if (!was)
		was = atomic_load_explicit(&__jf_grace_period, memory_order_relaxed);
	atomic_store_explicit(&self->reader, was + 1, memory_order_relaxed);
	/*
	 * Pairs with the membarrier in jf_quiesce(): that sees the section, or the section
	 * what was replaced before.
	 */
	atomic_signal_fence(memory_order_seq_cst);
}

/**
 * jf_read_unlock() - end what jf_read_lock() began
 *
 * Context: a registered thread.
 */
static inline void jf_read_unlock(void)
{
	struct jf_thread *self = __jf_self;
	uint64_t was = atomic_load_explicit(&self->reader, memory_order_relaxed);

	/* As the store, pairs with wait_while_older(): the compiler ends the section here. */
	atomic_signal_fence(memory_order_seq_cst);
	if ((was & JF_READER_NEST_MASK) == 1)
		was = 1;
	/*
	 * Release: what the section read was read before it ends. Pairs with
	 * wait_while_older(), behind which it is freed.
	 */
	atomic_store_explicit(&self->reader, was - 1, memory_order_release);
}

#include "break.h"

#endif /* LIBJUMPFUNC_H */
