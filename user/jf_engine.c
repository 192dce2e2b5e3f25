// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The patching engine in userspace: texts, sites, batches, the SIGTRAP side
 * and quiescence. libjumpfunc.h says what each function is for.
 *
 * Locks: one mutex, engine.lock, around all that changes the engine's state.
 * The SIGTRAP handler and read sections take none.
 *
 * The steps of a batch, and why they are right, stand in x86/protocol/protocol.h: this is
 * the world that it runs in. Sync is membarrier(SYNC_CORE), the word that the
 * handler loads is site->insn. Unlike in a kernel, a sync also comes through
 * where a thread is inside the handler, or on its way there:
 *
 *   writer (jf_batch_commit)		thread at a site
 *   ------------------------		----------------
 *   INT3 on every first byte		fetches INT3: traps
 *   sync all cores
 *   site->insn = new (release)		a loads site->insn (acquire)
 *   tails, sync, first bytes, sync	b goes on where that leads
 *
 *   A thread can load old and be held up between a and b until long after the
 *   commit. It is then where another one is that executed old itself and was
 *   interrupted before the first instruction of what it called: its call began
 *   before the commit returned, and what it leads to stays, because quiesce
 *   waits for its read section. No thread decides for old after another one has
 *   decided for new: by the time that the word changes, all that come by
 *   trap, and they load the same word.
 *
 *   That a site can be forgotten is not for the last sync to see to either, but
 *   for quiesce, which also waits for handlers.
 *
 *   quiesce				read section
 *   -------				------------
 *   1 advance the grace period		a reader = grace period it saw
 *   2 membarrier			b executes sites
 *   3 wait while a reader is older	c reader = 0
 *
 *   If a is before the reader's part of 2, then 3 sees it and waits. If it is
 *   after, then all of b is after 2, and so after everything that was patched
 *   before the quiesce: the section cannot reach what was replaced. One pass
 *   is enough since grace periods are 64-bit numbers that never come again:
 *   a section that began late with an old number only makes the next one wait.
 *
 * Code that is written beforehand (jf_batch_code) needs no sync of its own: it is
 * written before the first INT3, and both ways to it, the word and the first
 * bytes of the batch's sites, are opened behind the first sync. (With the word
 * stored earlier a thread could be sent there before any sync.)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <linux/membarrier.h>

#include "libjumpfunc.h"

#ifdef JF_BREAK
enum jf_break jf_break;
#endif

#ifndef MFD_EXEC
#define MFD_EXEC	0x0010U
#endif

/* At the start of every text: where a JF_SITE_TAIL without target leads. */
#define STUB_RET0	0
#define STUB_NOP	16
#define TEXT_RESERVED	64

/* "xor %eax,%eax; ret" and "ret". */
static const uint8_t stub_ret0[] = { 0x31, 0xc0, 0xc3 };
static const uint8_t stub_nop[] = { 0xc3 };

struct jf_text {
	int fd;
	size_t size;
	uint8_t *exec;		/* read and execute, never write */
	uint8_t *alias;		/* read and write, NULL outside a batch */
	struct jf_text *next;
};

struct jf_site {
	uintptr_t addr;
	/* What it holds, or what the batch under way makes of it: gets emulated. */
	_Atomic jf_insn_t insn;
	uintptr_t label;
	struct jf_switch *sw;
	struct jf_text *text;
	enum jf_site_form form;
};

struct jf_change {
	struct jf_switch *sw;
	uintptr_t state;
};

struct jf_code {
	struct jf_text *text;
	size_t offset;
	size_t size;
	uint8_t *bytes;
};

struct entry {
	uintptr_t addr;
	struct jf_site *site;
};

struct range {
	uintptr_t start, end;
};

/* What the SIGTRAP handler looks at: never changed, only replaced. */
struct table {
	size_t nr_sites;
	size_t nr_texts;
	struct range *texts;
	struct entry sites[];	/* by address */
};

static struct {
	pthread_mutex_t lock;
	bool ready;
	struct jf_text *texts;
	struct sigaction previous;
	struct jf_stats stats;
} engine = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Atomic(struct table *) table;

/* --- the world of the protocol ----------------------------------------------- */

static void membarrier_or_die(int command)
{
	/*
	 * Registered at jf_init(), it has no way to fail. If it did, text would
	 * stay half patched, and to go on would be worse than to stop.
	 */
	if (syscall(SYS_membarrier, command, 0, 0)) {
		perror("libjumpfunc: membarrier");
		abort();
	}
}

/* Every core of this process serialises before this returns. */
static void sync_cores(void)
{
	membarrier_or_die(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
	engine.stats.sync_broadcasts++;
}

struct jf_poke {
	struct jf_site *site;
	jf_insn_t old, new;
};

static uint8_t *site_alias(const struct jf_site *site)
{
	return site->text->alias + (site->addr - (uintptr_t)site->text->exec);
}

static inline jf_insn_t jf_world_load(const struct jf_poke *poke)
{
	return jf_insn_load((const void *)poke->site->addr);
}

static inline void jf_world_store(const struct jf_poke *poke, int i, uint8_t byte)
{
	__atomic_store_n(site_alias(poke->site) + i, byte, __ATOMIC_RELAXED);
}

/* Atomic is all that it has to be: stores of text have no partner but jf_world_sync(). */
static inline bool jf_world_swap(const struct jf_poke *poke, uint8_t from, uint8_t to)
{
	return __atomic_compare_exchange_n(site_alias(poke->site), &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/*
 * Release: whoever loads it sees the code that the new instruction leads to. Pairs with
 * the load of the word in on_sigtrap().
 */
static inline void jf_world_publish(const struct jf_poke *poke)
{
	atomic_store_explicit(&poke->site->insn, poke->new, memory_order_release);
}

static inline void jf_world_sync(void)
{
	sync_cores();
}

#ifndef JF_PROTOCOL
#define JF_PROTOCOL "x86/protocol/protocol.h"
#endif
#include JF_PROTOCOL
#ifndef JF_TRAP
#define JF_TRAP "x86/protocol/trap.h"
#endif
#include JF_TRAP
#ifndef JF_EMULATE
#define JF_EMULATE "emulate.h"
#endif
#include JF_EMULATE

/* --- threads ---------------------------------------------------------------- */

__thread struct jf_thread *__jf_self;
_Atomic uint64_t __jf_grace_period = JF_GRACE_PERIOD;

/* Only ever grows; a thread that ends leaves its record to the next. */
static _Atomic(struct jf_thread *) threads;
/* Threads without a record that are inside the handler. */
static _Atomic uint64_t strangers, stranger_hits, stranger_foreign;

/**
 * jf_thread_register() - let this thread have read sections
 *
 * Return: 0, -EBUSY if it already is, or -ENOMEM.
 */
int jf_thread_register(void)
{
	struct jf_thread *t;

	if (__jf_self)
		return -EBUSY;

	for (t = atomic_load(&threads); t; t = t->next) {
		bool used = false;

		if (atomic_compare_exchange_strong(&t->used, &used, true))
			break;
	}
	if (!t) {
		t = aligned_alloc(_Alignof(struct jf_thread), sizeof(*t));
		if (!t)
			return -ENOMEM;
		memset(t, 0, sizeof(*t));
		atomic_init(&t->used, true);
		t->next = atomic_load(&threads);
		while (!atomic_compare_exchange_weak(&threads, &t->next, t))
			;
	}
	__jf_self = t;
	return 0;
}

/**
 * jf_thread_unregister() - the thread will have no more read sections
 *
 * Its counters stay in the sums.
 */
void jf_thread_unregister(void)
{
	struct jf_thread *t = __jf_self;

	if (!t)
		return;
	__jf_self = NULL;
	/* Pairs with the exchange in jf_thread_register(): the next one counts on from here. */
	atomic_store_explicit(&t->used, false, memory_order_release);
}

static void wait_while_older(_Atomic uint64_t *word, uint64_t grace_period)
{
	unsigned int spins = 0;

	for (;;) {
		/* Pairs with jf_read_unlock() and the end of on_sigtrap(): they are over. */
		uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

		if (!seen || seen >= grace_period)
			return;
		if (++spins < 100) {
			__builtin_ia32_pause();
		} else {
			static const struct timespec nap = { .tv_nsec = 20000 };

			nanosleep(&nap, NULL);
		}
	}
}

static void wait_for_threads(bool readers)
{
	/*
	 * Pairs with the loads in jf_read_lock() and on_sigtrap(), which x86 keeps before
	 * later ones: who sees the new number sees what was replaced, and is not waited for.
	 */
	uint64_t now = atomic_fetch_add(&__jf_grace_period, JF_GRACE_PERIOD) +
		       JF_GRACE_PERIOD;
	struct jf_thread *t;

	/* Pairs with the fences there: who saw the old one is seen, or sees all that, too. */
	membarrier_or_die(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	for (t = atomic_load(&threads); t; t = t->next) {
		wait_while_older(&t->handler, now);
		if (readers)
			wait_while_older(&t->reader, now);
	}
	while (atomic_load(&strangers))
		sched_yield();
}

/**
 * jf_quiesce() - wait until nobody can be inside what was replaced
 *
 * Waits for every read section that began before the call and every emulation
 * that is under way. What the last commit took out of the sites is then
 * reachable for nobody.
 *
 * Return: 0, or -EDEADLK inside a read section.
 */
int jf_quiesce(void)
{
	if (__jf_self && atomic_load_explicit(&__jf_self->reader, memory_order_relaxed))
		return -EDEADLK;
	if (!jf_broken(QUIESCE))
		wait_for_threads(true);
	__atomic_fetch_add(&engine.stats.quiesces, 1, __ATOMIC_RELAXED);
	return 0;
}

/* --- the table and its reader, the SIGTRAP handler -------------------------- */

static const struct entry *find_entry(const struct table *t, uintptr_t addr)
{
	size_t low = 0, high = t->nr_sites;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->sites[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	/* The first one at or behind addr; maybe none. */
	return low < t->nr_sites ? &t->sites[low] : NULL;
}

static struct jf_site *find_site(const struct table *t, uintptr_t addr)
{
	const struct entry *e = find_entry(t, addr);

	return e && e->addr == addr ? e->site : NULL;
}

static bool in_our_text(const struct table *t, uintptr_t addr)
{
	size_t i;

	for (i = 0; i < t->nr_texts; i++)
		if (addr >= t->texts[i].start && addr < t->texts[i].end)
			return true;
	return false;
}

static void count(_Atomic uint64_t *counter)
{
	/* One writer: no locked instruction, nothing shared. */
	atomic_store_explicit(counter,
			      atomic_load_explicit(counter, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/*
 * Runs with all signals blocked, so that no other handler can come on top and
 * meet an INT3 while SIGTRAP is blocked. Takes no lock, calls no libc, writes
 * to nothing that another thread writes to.
 */
static void on_sigtrap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *regs = uc->uc_mcontext.gregs;
	struct jf_thread *self = __jf_self;
	uintptr_t ip = (uintptr_t)regs[REG_RIP] - 1;
	const struct jf_site *site;
	const struct table *t;
	bool done = false;

	if (self)
		atomic_store_explicit(&self->handler,
				      atomic_load_explicit(&__jf_grace_period,
							   memory_order_relaxed),
				      memory_order_relaxed);
	else
		atomic_fetch_add(&strangers, 1);
	/* Pairs with the membarrier in wait_for_threads(): it finds us, or we the new table. */
	atomic_signal_fence(memory_order_seq_cst);

	/* Pairs with the store in publish_table(): what is in the table is seen. */
	t = atomic_load_explicit(&table, memory_order_acquire);
	/* Only the INT3 itself, no kill(), no single step, no watchpoint. */
	if (info->si_code == SI_KERNEL && t) {
		site = find_site(t, ip);
		if (site) {
			/*
			 * No question whether a batch is under way: whatever
			 * the word says now, is right. Pairs with jf_world_publish().
			 */
			done = jf_emulate(regs, ip, atomic_load_explicit(&site->insn,
								      memory_order_acquire));
		} else if (in_our_text(t, ip) &&
			   *(const volatile uint8_t *)ip != JF_OPCODE_INT3) {
			/* The INT3 went, and the site with it: look again. */
			regs[REG_RIP] = (greg_t)ip;
			done = true;
		}
	}

	/* Pairs, as the store of 0 does, with wait_while_older(): nothing is used any more. */
	atomic_signal_fence(memory_order_seq_cst);
	if (self) {
		count(done ? &self->int3_hits : &self->int3_foreign);
		atomic_store_explicit(&self->handler, 0, memory_order_release);
	} else {
		atomic_fetch_add(done ? &stranger_hits : &stranger_foreign, 1);
		atomic_fetch_sub(&strangers, 1);
	}
	if (!done)
		jf_pass_on(&engine.previous, sig, info, context);
}

static struct table *alloc_table(size_t nr_sites, size_t nr_texts)
{
	size_t size = sizeof(struct table) + nr_sites * sizeof(struct entry);
	struct table *t = malloc(size + nr_texts * sizeof(struct range));

	if (t) {
		t->nr_sites = nr_sites;
		t->nr_texts = nr_texts;
		t->texts = (struct range *)((char *)t + size);
	}
	return t;
}

/* A table of the sites of @old, which may be NULL, and of other texts. */
static struct table *copy_table(const struct table *old, size_t nr_texts)
{
	struct table *t = alloc_table(old ? old->nr_sites : 0, nr_texts);

	if (t && old)
		memcpy(t->sites, old->sites, old->nr_sites * sizeof(t->sites[0]));
	return t;
}

static size_t count_texts(void)
{
	struct jf_text *text;
	size_t n = 0;

	for (text = engine.texts; text; text = text->next)
		n++;
	return n;
}

/* Lets the handler see @t, and frees the old one when no handler can. */
static void publish_table(struct table *t)
{
	struct table *old = atomic_load(&table);
	struct jf_text *text;
	size_t i = 0;

	if (t)
		for (text = engine.texts; text; text = text->next, i++) {
			t->texts[i].start = (uintptr_t)text->exec;
			t->texts[i].end = t->texts[i].start + text->size;
		}
	/* Pairs with the load in on_sigtrap(): whoever sees @t sees what is in it. */
	atomic_store_explicit(&table, t, memory_order_release);
	if (old) {
		wait_for_threads(false);
		free(old);
	}
}

/* --- init and exit ---------------------------------------------------------- */

/**
 * jf_init() - make the process able to patch
 *
 * Return: 0, -EBUSY when called twice, -ENOSYS if the kernel has no
 * membarrier(SYNC_CORE) (Linux 4.16 and later have it).
 */
int jf_init(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	int err = 0;

	pthread_mutex_lock(&engine.lock);
	if (engine.ready) {
		err = -EBUSY;
		goto unlock;
	}
	if (syscall(SYS_membarrier,
		    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) ||
	    syscall(SYS_membarrier,
		    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)) {
		err = -ENOSYS;
		goto unlock;
	}
	action.sa_sigaction = on_sigtrap;
	sigfillset(&action.sa_mask);
	if (sigaction(SIGTRAP, &action, &engine.previous)) {
		err = -errno;
		goto unlock;
	}
	memset(&engine.stats, 0, sizeof(engine.stats));
	engine.ready = true;
unlock:
	pthread_mutex_unlock(&engine.lock);
	return err;
}

/**
 * jf_exit() - give back what jf_init() took
 *
 * The caller has removed all sites and destroyed all texts. The SIGTRAP
 * handler that was there before returns.
 */
void jf_exit(void)
{
	pthread_mutex_lock(&engine.lock);
	if (engine.ready) {
		publish_table(NULL);
		sigaction(SIGTRAP, &engine.previous, NULL);
		engine.ready = false;
	}
	pthread_mutex_unlock(&engine.lock);
}

/* --- texts ------------------------------------------------------------------ */

static int text_map_alias(struct jf_text *text)
{
	void *alias;

	if (text->alias)
		return 0;
	alias = mmap(NULL, text->size, PROT_READ | PROT_WRITE, MAP_SHARED, text->fd, 0);
	if (alias == MAP_FAILED)
		return -ENOMEM;
	text->alias = alias;
	return 0;
}

static void text_unmap_alias(struct jf_text *text)
{
	if (!text->alias)
		return;
	munmap(text->alias, text->size);
	text->alias = NULL;
}

static struct jf_text *find_text(uintptr_t addr, size_t size)
{
	struct jf_text *text;

	for (text = engine.texts; text; text = text->next) {
		uintptr_t offset = addr - (uintptr_t)text->exec;

		if (offset < text->size && size <= text->size - offset)
			return text;
	}
	return NULL;
}

/*
 * Finds free addresses within reach of @near. Downwards first: the heap may
 * want to grow upwards from the program.
 */
static void *map_near(int fd, size_t size, uintptr_t near)
{
	const uintptr_t step = 16UL << 20, reach = 1UL << 30, lowest = 64UL << 10;
	uintptr_t distance, up, at;
	void *p;

	near &= ~(step - 1);
	for (up = 0; up < 2; up++)
		for (distance = step; distance <= reach; distance += step) {
			if (up)
				at = near + distance;
			else if (near > distance + lowest)
				at = near - distance;
			else
				break;
			p = mmap((void *)at, size, PROT_READ | PROT_EXEC,
				 MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
			if (p == (void *)at)
				return p;
			/* A kernel before 4.17 takes the flag for a hint. */
			if (p != MAP_FAILED)
				munmap(p, size);
		}
	return MAP_FAILED;
}

/* INT3 all over, but for the stubs. */
static int text_make_memory(struct jf_text *text)
{
	int err;

	/* Kernels before 6.3 know no MFD_EXEC and make every memfd so. */
	text->fd = memfd_create("jumpfunc-text", MFD_CLOEXEC | MFD_EXEC);
	if (text->fd < 0 && errno == EINVAL)
		text->fd = memfd_create("jumpfunc-text", MFD_CLOEXEC);
	if (text->fd < 0 || ftruncate(text->fd, (off_t)text->size))
		return -errno;
	err = text_map_alias(text);
	if (err)
		return err;
	memset(text->alias, JF_OPCODE_INT3, text->size);
	memcpy(text->alias + STUB_RET0, stub_ret0, sizeof(stub_ret0));
	memcpy(text->alias + STUB_NOP, stub_nop, sizeof(stub_nop));
	text_unmap_alias(text);
	return 0;
}

/* Where it is executed: within reach of @near, or anywhere if that is 0. */
static int text_map_exec(struct jf_text *text, uintptr_t near)
{
	void *exec;

	if (near)
		exec = map_near(text->fd, text->size, near);
	else
		exec = mmap(NULL, text->size, PROT_READ | PROT_EXEC, MAP_SHARED,
			    text->fd, 0);
	if (exec == MAP_FAILED)
		return -ENOMEM;
	text->exec = exec;
	return 0;
}

/* Enters it into the list, and lets the handler know it. */
static int text_announce(struct jf_text *text)
{
	struct table *t;

	pthread_mutex_lock(&engine.lock);
	t = copy_table(atomic_load(&table), count_texts() + 1);
	if (t) {
		text->next = engine.texts;
		engine.texts = text;
		publish_table(t);
	}
	pthread_mutex_unlock(&engine.lock);
	return t ? 0 : -ENOMEM;
}

/**
 * jf_text_create() - memory for code, executable and not writable
 * @size: in bytes, rounded up to whole pages
 * @near: an address that the code has to reach, or NULL for anywhere
 *
 * Filled with INT3. Its first bytes are taken by the engine: use what
 * jf_text_base() and jf_text_size() say, and write by jf_batch_code().
 *
 * Return: the text, or NULL with errno set.
 */
struct jf_text *jf_text_create(size_t size, const void *near)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct jf_text *text;
	int err;

	if (!size || size > INT_MAX) {
		errno = EINVAL;
		return NULL;
	}
	text = calloc(1, sizeof(*text));
	if (!text)
		return NULL;
	text->size = (size + TEXT_RESERVED + page - 1) & ~(page - 1);

	err = text_make_memory(text);
	if (err)
		goto free;
	err = text_map_exec(text, (uintptr_t)near);
	if (err)
		goto free;
	err = text_announce(text);
	if (!err)
		return text;

	munmap(text->exec, text->size);
free:
	if (text->fd >= 0)
		close(text->fd);
	free(text);
	errno = -err;
	return NULL;
}

/**
 * jf_text_destroy() - unmap a text
 * @text: has no sites left, and nobody executes it or ever will
 */
void jf_text_destroy(struct jf_text *text)
{
	struct jf_text **p;
	struct table *old;

	pthread_mutex_lock(&engine.lock);
	for (p = &engine.texts; *p != text; p = &(*p)->next)
		;
	*p = text->next;
	/*
	 * The handler's table may go on listing the range until it is next
	 * replaced, unless that was the last text: nobody executes there.
	 */
	old = atomic_load(&table);
	if (old) {
		struct table *t = copy_table(old, count_texts());

		if (t)
			publish_table(t);
	}
	pthread_mutex_unlock(&engine.lock);
	munmap(text->exec, text->size);
	close(text->fd);
	free(text);
}

/**
 * jf_text_base() - first address of a text that is free for code
 * @text: the text
 *
 * Return: the address, a multiple of 64.
 */
void *jf_text_base(const struct jf_text *text)
{
	return text->exec + TEXT_RESERVED;
}

/**
 * jf_text_size() - number of bytes from jf_text_base() on
 * @text: the text
 *
 * Return: that number.
 */
size_t jf_text_size(const struct jf_text *text)
{
	return text->size - TEXT_RESERVED;
}

/* --- sites ------------------------------------------------------------------ */

/* What has to stand at @site when its function or key is in @state? */
static int site_insn(const struct jf_site *site, uintptr_t state, jf_insn_t *insn)
{
	switch (site->form) {
	case JF_SITE_CALL:
		if (state)
			return jf_insn_call(insn, site->addr, state);
		*insn = site->sw->null == JF_NULL_RET0 ? jf_insn_ret0() : jf_insn_nop();
		return 0;
	case JF_SITE_TAIL:
		if (!state)
			state = (uintptr_t)site->text->exec +
				(site->sw->null == JF_NULL_RET0 ? STUB_RET0 : STUB_NOP);
		return jf_insn_jmp(insn, site->addr, state);
	case JF_SITE_BRANCH:
	case JF_SITE_BRANCH_INVERTED:
		if (!!state != (site->form == JF_SITE_BRANCH_INVERTED))
			return jf_insn_jmp(insn, site->addr, site->label);
		*insn = jf_insn_nop();
		return 0;
	}
	return -EINVAL;
}

/* Room for one more element in an array that doubles. */
static int grow(void **array, size_t *max, size_t nr, size_t element)
{
	size_t want = *max ? *max * 2 : 16;
	void *p;

	if (nr < *max)
		return 0;
	p = realloc(*array, want * element);
	if (!p)
		return -ENOMEM;
	*array = p;
	*max = want;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	uintptr_t x = ((const struct entry *)a)->addr;
	uintptr_t y = ((const struct entry *)b)->addr;

	return x < y ? -1 : x > y;
}

static int make_site(const struct jf_site_desc *desc, struct jf_site **result)
{
	bool branch = desc->form == JF_SITE_BRANCH ||
		      desc->form == JF_SITE_BRANCH_INVERTED;
	struct jf_text *text = find_text((uintptr_t)desc->addr, JF_INSN_SIZE);
	struct jf_site *site;
	jf_insn_t insn;
	int err;

	if (!text || (branch ? !desc->key || desc->func : !desc->func || desc->key))
		return -EINVAL;
	site = calloc(1, sizeof(*site));
	if (!site)
		return -ENOMEM;
	site->addr = (uintptr_t)desc->addr;
	site->label = (uintptr_t)desc->label;
	site->sw = branch ? &desc->key->sw : &desc->func->sw;
	site->text = text;
	site->form = desc->form;

	err = site_insn(site, site->sw->state, &insn);
	if (!err && jf_insn_load(desc->addr) != insn)
		err = -EILSEQ;
	/* A label that is out of reach must not come out at the first enable. */
	if (!err && branch && !jf_insn_reaches(site->addr, site->label))
		err = -ERANGE;
	if (err) {
		free(site);
		return err;
	}
	atomic_init(&site->insn, insn);
	*result = site;
	return 0;
}

static void detach_site(struct jf_site *site)
{
	struct jf_switch *sw = site->sw;
	size_t i;

	for (i = 0; i < sw->nr_sites; i++)
		if (sw->sites[i] == site) {
			sw->sites[i] = sw->sites[--sw->nr_sites];
			break;
		}
	if (!sw->nr_sites) {
		free(sw->sites);
		sw->sites = NULL;
		sw->max_sites = 0;
	}
}

static void free_sites(struct entry *entries, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free(entries[i].site);
}

/* All or none. */
static int make_sites(const struct jf_site_desc *descs, struct entry *entries,
		      size_t count)
{
	size_t made;
	int err;

	for (made = 0; made < count; made++) {
		err = make_site(&descs[made], &entries[made].site);
		if (err) {
			free_sites(entries, made);
			return err;
		}
		entries[made].addr = entries[made].site->addr;
	}
	return 0;
}

static void detach_sites(struct entry *entries, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		detach_site(entries[i].site);
}

/* Lists sites with the functions and keys that they belong to, all or none. */
static int attach_sites(struct entry *entries, size_t count)
{
	size_t attached;
	int err;

	for (attached = 0; attached < count; attached++) {
		struct jf_site *site = entries[attached].site;
		struct jf_switch *sw = site->sw;

		err = grow((void **)&sw->sites, &sw->max_sites, sw->nr_sites,
			   sizeof(sw->sites[0]));
		if (err) {
			detach_sites(entries, attached);
			return err;
		}
		sw->sites[sw->nr_sites++] = site;
	}
	return 0;
}

/* Puts the sites in order; a table in which two overlap stays as it is. */
static int sort_table(struct table *t)
{
	struct entry *sorted = malloc(t->nr_sites * sizeof(*sorted) + 1);
	int err = 0;
	size_t i;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, t->sites, t->nr_sites * sizeof(*sorted));
	qsort(sorted, t->nr_sites, sizeof(*sorted), by_address);
	for (i = 1; i < t->nr_sites; i++)
		if (sorted[i].addr - sorted[i - 1].addr < JF_INSN_SIZE)
			err = -EINVAL;
	if (!err)
		memcpy(t->sites, sorted, t->nr_sites * sizeof(*sorted));
	free(sorted);
	return err;
}

/**
 * jf_sites_add() - make sites of bytes in texts
 * @descs: where they are and what they belong to
 * @count: how many
 *
 * All or none. The bytes must already be those of the present state.
 *
 * Return: 0, -EINVAL (no such text, wrong form, sites overlap), -EILSEQ (other
 * bytes), -ERANGE (a label out of reach), -ENOMEM.
 */
int jf_sites_add(const struct jf_site_desc *descs, size_t count)
{
	struct table *t, *old;
	size_t before;
	int err;

	pthread_mutex_lock(&engine.lock);
	old = atomic_load(&table);
	before = old ? old->nr_sites : 0;
	t = alloc_table(before + count, count_texts());
	if (!t) {
		err = -ENOMEM;
		goto unlock;
	}
	/* New ones first: until they are sorted, undoing knows them by that. */
	err = make_sites(descs, t->sites, count);
	if (err)
		goto free;
	err = attach_sites(t->sites, count);
	if (err)
		goto unmake;
	if (old)
		memcpy(t->sites + count, old->sites, before * sizeof(t->sites[0]));
	err = sort_table(t);
	if (err)
		goto detach;
	publish_table(t);
	goto unlock;

detach:
	detach_sites(t->sites, count);
unmake:
	free_sites(t->sites, count);
free:
	free(t);
unlock:
	pthread_mutex_unlock(&engine.lock);
	return err;
}

/**
 * jf_sites_remove() - forget sites; their bytes stay as they are
 * @addrs: their addresses
 * @count: how many
 *
 * All or none. Waits as jf_quiesce() does, so that no thread is on the way
 * from the INT3 of a site into the handler.
 *
 * Return: 0, -EINVAL (an address that is no site, or comes twice), -EDEADLK
 * inside a read section, -ENOMEM.
 */
int jf_sites_remove(void *const *addrs, size_t count)
{
	struct jf_site **gone;
	struct table *t, *old;
	size_t i, kept = 0;
	int err;

	if (!count)
		return 0;
	err = jf_quiesce();
	if (err)
		return err;

	pthread_mutex_lock(&engine.lock);
	old = atomic_load(&table);
	gone = calloc(count, sizeof(*gone));
	t = old && old->nr_sites >= count ?
		alloc_table(old->nr_sites - count, count_texts()) : NULL;
	if (!gone || !t) {
		err = !gone || (old && old->nr_sites >= count) ? -ENOMEM : -EINVAL;
		goto unlock;
	}
	/* No text marks those that go; the handler does not look at that. */
	for (i = 0; i < count; i++) {
		gone[i] = find_site(old, (uintptr_t)addrs[i]);
		if (!gone[i] || !gone[i]->text)
			break;
		gone[i]->text = NULL;
	}
	if (i < count) {
		while (i--)
			gone[i]->text = find_text(gone[i]->addr, JF_INSN_SIZE);
		err = -EINVAL;
		goto unlock;
	}
	for (i = 0; i < old->nr_sites; i++)
		if (old->sites[i].site->text)
			t->sites[kept++] = old->sites[i];
	for (i = 0; i < count; i++)
		detach_site(gone[i]);
	publish_table(t);
	t = NULL;
	for (i = 0; i < count; i++)
		free(gone[i]);
unlock:
	pthread_mutex_unlock(&engine.lock);
	free(gone);
	free(t);
	return err;
}

/* --- batches ---------------------------------------------------------------- */

static int fail(struct jf_batch *batch, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct jf_batch *batch, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(batch->error, sizeof(batch->error), fmt, args);
	va_end(args);
	return err;
}

/**
 * jf_batch_init() - an empty batch
 * @batch: ends with jf_batch_commit() or jf_batch_abort()
 */
void jf_batch_init(struct jf_batch *batch)
{
	memset(batch, 0, sizeof(*batch));
}

/**
 * jf_batch_abort() - forget a batch; nothing was changed
 * @batch: the batch, ready for use again
 */
void jf_batch_abort(struct jf_batch *batch)
{
	size_t i;

	for (i = 0; i < batch->nr_codes; i++)
		free(batch->codes[i].bytes);
	free(batch->codes);
	free(batch->changes);
	batch->changes = NULL;
	batch->codes = NULL;
	batch->nr_changes = batch->max_changes = 0;
	batch->nr_codes = batch->max_codes = 0;
}

static int batch_add(struct jf_batch *batch, struct jf_switch *sw, uintptr_t state)
{
	int err = grow((void **)&batch->changes, &batch->max_changes,
		       batch->nr_changes, sizeof(batch->changes[0]));

	if (err)
		return fail(batch, err, "%s: no memory", sw->name);
	batch->changes[batch->nr_changes].sw = sw;
	batch->changes[batch->nr_changes++].state = state;
	return 0;
}

/**
 * dynfunc_batch_set() - let a batch retarget a dynamic function
 * @batch:  the batch
 * @func:   the function
 * @target: what it shall call; NULL where it allows that
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int dynfunc_batch_set(struct jf_batch *batch, struct jf_func *func, void *target)
{
	if (!target && func->sw.null == JF_NULL_FORBIDDEN)
		return fail(batch, -EINVAL, "%s: NULL is not allowed", func->sw.name);
	return batch_add(batch, &func->sw, (uintptr_t)target);
}

/**
 * jf_key_batch_set() - let a batch switch a key
 * @batch: the batch
 * @key:   the key
 * @on:    what it shall be
 *
 * Return: 0 or -ENOMEM.
 */
int jf_key_batch_set(struct jf_batch *batch, struct jf_key *key, bool on)
{
	return batch_add(batch, &key->sw, on);
}

/**
 * jf_batch_code() - let a batch write code where nobody executes
 * @batch: the batch
 * @dest:  where, in a text, and with no site in it
 * @code:  what; is copied
 * @size:  how much
 *
 * It is in place before the first site of the batch changes: so a batch can
 * bring an image and the jump to it. That nobody executes the old bytes at
 * @dest is for the caller to know, by jf_quiesce().
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int jf_batch_code(struct jf_batch *batch, void *dest, const void *code, size_t size)
{
	struct jf_text *text;
	struct jf_code *c;

	pthread_mutex_lock(&engine.lock);
	text = find_text((uintptr_t)dest, size);
	pthread_mutex_unlock(&engine.lock);
	if (!size || !text || (uint8_t *)dest < text->exec + TEXT_RESERVED)
		return fail(batch, -EINVAL, "code for %p: that is in no text", dest);
	if (grow((void **)&batch->codes, &batch->max_codes, batch->nr_codes,
		 sizeof(batch->codes[0])))
		return fail(batch, -ENOMEM, "code for %p: no memory", dest);
	c = &batch->codes[batch->nr_codes];
	c->bytes = malloc(size);
	if (!c->bytes)
		return fail(batch, -ENOMEM, "code for %p: no memory", dest);
	memcpy(c->bytes, code, size);
	c->text = text;
	c->offset = (size_t)((uint8_t *)dest - text->exec);
	c->size = size;
	batch->nr_codes++;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* Takes duplicates out of the changes; the same twice is no mistake. */
static int merge_changes(struct jf_batch *batch)
{
	size_t i, kept = 0;
	int err = 0;

	for (i = 0; i < batch->nr_changes; i++) {
		struct jf_change *change = &batch->changes[i];
		struct jf_switch *sw = change->sw;

		if (sw->batch != batch) {
			sw->batch = batch;
			sw->next_state = change->state;
			batch->changes[kept++] = *change;
		} else if (sw->next_state != change->state) {
			err = fail(batch, -EINVAL, "%s: twice in the batch, with different values",
				   sw->name);
			break;
		}
	}
	for (i = 0; i < kept; i++)
		batch->changes[i].sw->batch = NULL;
	if (!err)
		batch->nr_changes = kept;
	return err;
}

/* Lists the sites that differ from what they shall be. */
static int collect_sites(struct jf_batch *batch, struct jf_poke **result, size_t *nr)
{
	struct jf_poke *pokes;
	size_t i, s, most = 0;
	int err;

	*nr = 0;
	for (i = 0; i < batch->nr_changes; i++)
		most += batch->changes[i].sw->nr_sites;
	pokes = malloc(most * sizeof(*pokes) + 1);
	if (!pokes)
		return fail(batch, -ENOMEM, "no memory for %zu sites", most);
	*result = pokes;

	for (i = 0; i < batch->nr_changes; i++) {
		struct jf_change *change = &batch->changes[i];

		for (s = 0; s < change->sw->nr_sites; s++) {
			struct jf_site *site = change->sw->sites[s];

			struct jf_poke *poke = &pokes[*nr];

			err = site_insn(site, change->state, &poke->new);
			if (err)
				return fail(batch, err, "%s: site %#lx does not reach %#lx",
					    change->sw->name, (unsigned long)site->addr,
					    (unsigned long)change->state);
			poke->site = site;
			poke->old = atomic_load_explicit(&site->insn, memory_order_relaxed);
			if (poke->new != poke->old)
				++*nr;
		}
	}
	return 0;
}

static int check_codes(struct jf_batch *batch)
{
	const struct table *t = atomic_load(&table);
	size_t i;

	for (i = 0; i < batch->nr_codes; i++) {
		const struct jf_code *c = &batch->codes[i];
		uintptr_t start = (uintptr_t)c->text->exec + c->offset;
		const struct entry *e = find_entry(t, start - (JF_INSN_SIZE - 1));

		if (e && e->addr < start + c->size)
			return fail(batch, -EBUSY, "code for %#lx: site %#lx is in the way",
				    (unsigned long)start, (unsigned long)e->addr);
	}
	return 0;
}

static int map_aliases(struct jf_batch *batch, const struct jf_poke *pokes, size_t nr)
{
	size_t i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = text_map_alias(pokes[i].site->text);
	for (i = 0; i < batch->nr_codes && !err; i++)
		err = text_map_alias(batch->codes[i].text);
	if (err)
		return fail(batch, err, "cannot map the text for writing");
	return 0;
}

static void unmap_aliases(void)
{
	struct jf_text *text;

	for (text = engine.texts; text; text = text->next)
		text_unmap_alias(text);
}

/* Says which site it is that makes the batch fail. */
static int fail_at_site(struct jf_batch *batch, int err, const struct jf_poke *poke,
			jf_insn_t want)
{
	return fail(batch, err, "%s: site %#lx holds %010llx instead of %010llx",
		    poke->site->sw->name, (unsigned long)poke->site->addr,
		    (unsigned long long)jf_world_load(poke), (unsigned long long)want);
}

static int check_old_bytes(struct jf_batch *batch, const struct jf_poke *pokes, size_t nr)
{
	size_t i;
	int err;

	err = jf_proto_verify(pokes, nr, &i);
	if (err)
		return fail_at_site(batch, err, &pokes[i], pokes[i].old);
	/*
	 * Both mappings must be of the same memory. Also brings in every page of
	 * the alias now rather than while sites stand at INT3.
	 */
	for (i = 0; i < nr; i++)
		if (jf_insn_load(site_alias(pokes[i].site)) != pokes[i].old)
			return fail_at_site(batch, -EILSEQ, &pokes[i], pokes[i].old);
	return 0;
}

static int check_new_bytes(struct jf_batch *batch, const struct jf_poke *pokes, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (jf_world_load(&pokes[i]) != pokes[i].new)
			return fail_at_site(batch, -EIO, &pokes[i], pokes[i].new);
	return 0;
}

/* Puts a piece of code in place, and what stood there in its stead. */
static void exchange_code(const struct jf_code *c)
{
	uint8_t *at = c->text->alias + c->offset;
	size_t i;

	for (i = 0; i < c->size; i++) {
		uint8_t was = at[i];

		at[i] = c->bytes[i];
		c->bytes[i] = was;
	}
}

/* All or none: the code of a batch whose sites cannot be changed goes again. */
static void take_back_codes(const struct jf_batch *batch)
{
	size_t i = batch->nr_codes;

	if (!i)
		return;
	while (i--)
		exchange_code(&batch->codes[i]);
	sync_cores();
}

static void count_batch(const struct jf_batch *batch, size_t nr_sites, uint64_t took,
			uint64_t window)
{
	struct jf_stats *stats = &engine.stats;

	stats->batches++;
	stats->updates += batch->nr_changes + batch->nr_codes;
	stats->sites_patched += nr_sites;
	stats->update_ns_last = took;
	if (took < stats->update_ns_min || stats->batches == 1)
		stats->update_ns_min = took;
	if (took > stats->update_ns_max)
		stats->update_ns_max = took;
	if (window > stats->window_ns_max)
		stats->window_ns_max = window;
}

static int commit_locked(struct jf_batch *batch)
{
	uint64_t start = now_ns(), window = 0;
	struct jf_poke *pokes = NULL;
	size_t i, nr = 0;
	int err;

	/* All that can fail comes first, but for a byte that appears later. */
	err = merge_changes(batch);
	if (!err)
		err = collect_sites(batch, &pokes, &nr);
	if (!err)
		err = check_codes(batch);
	if (!err)
		err = map_aliases(batch, pokes, nr);
	if (!err)
		err = check_old_bytes(batch, pokes, nr);
	if (err)
		goto unmap;

	for (i = 0; i < batch->nr_codes; i++)
		exchange_code(&batch->codes[i]);
	if (nr) {
		window = now_ns();
		err = jf_proto_live(pokes, nr);
		window = now_ns() - window;
		if (err) {
			take_back_codes(batch);
			fail(batch, err, "a site's first byte changed after it was looked at");
			goto unmap;
		}
	} else if (batch->nr_codes) {
		/* Whoever learns of the code by other means shall see all of it. */
		sync_cores();
	}
	for (i = 0; i < batch->nr_changes; i++)
		batch->changes[i].sw->state = batch->changes[i].state;
	err = check_new_bytes(batch, pokes, nr);
unmap:
	unmap_aliases();
	if (!err && (nr || batch->nr_codes))
		count_batch(batch, nr, now_ns() - start, window);
	free(pokes);
	return err;
}

/**
 * jf_batch_commit() - make all changes of a batch, or none
 * @batch: the batch; empty and ready for use again afterwards
 *
 * When it returns 0, every core executes the new instructions. Three
 * broadcasts, or none if every site already is what it shall be. Until the first
 * of them everybody executes the old ones, so a batch that fails was never
 * executed.
 *
 * Context: may sleep; not from a signal handler.
 * Return: 0, or what is wrong: -EINVAL, -ERANGE, -EILSEQ, -EBUSY, -ENOMEM, with
 * the text in @batch->error; then nothing has changed. -EIO: all was written, but
 * does not read back as written; the changes have been made as far as we know.
 */
int jf_batch_commit(struct jf_batch *batch)
{
	int err;

	pthread_mutex_lock(&engine.lock);
	err = commit_locked(batch);
	pthread_mutex_unlock(&engine.lock);
	jf_batch_abort(batch);
	if (!err)
		batch->error[0] = '\0';
	return err;
}

/**
 * dynfunc_update() - retarget one dynamic function
 * @func:   the function
 * @target: what it shall call
 *
 * Return: as jf_batch_commit().
 */
int dynfunc_update(struct jf_func *func, void *target)
{
	struct jf_batch batch;
	int err;

	jf_batch_init(&batch);
	err = dynfunc_batch_set(&batch, func, target);
	if (!err)
		err = jf_batch_commit(&batch);
	jf_batch_abort(&batch);
	return err;
}

/**
 * dynfunc_query() - what a dynamic function calls
 * @func: the function
 *
 * Return: the target, or NULL.
 */
void *dynfunc_query(const struct jf_func *func)
{
	return (void *)__atomic_load_n(&func->sw.state, __ATOMIC_RELAXED);
}

static int key_set(struct jf_key *key, bool on)
{
	struct jf_batch batch;
	int err;

	jf_batch_init(&batch);
	err = jf_key_batch_set(&batch, key, on);
	if (!err)
		err = jf_batch_commit(&batch);
	jf_batch_abort(&batch);
	return err;
}

/**
 * jf_key_enable() - switch a key on
 * @key: the key
 *
 * Return: as jf_batch_commit().
 */
int jf_key_enable(struct jf_key *key)
{
	return key_set(key, true);
}

/**
 * jf_key_disable() - switch a key off
 * @key: the key
 *
 * Return: as jf_batch_commit().
 */
int jf_key_disable(struct jf_key *key)
{
	return key_set(key, false);
}

/**
 * jf_key_enabled() - is the key on?
 * @key: the key
 *
 * Return: true if it is.
 */
bool jf_key_enabled(const struct jf_key *key)
{
	return __atomic_load_n(&key->sw.state, __ATOMIC_RELAXED);
}

/**
 * jf_stats_get() - what was done since jf_init()
 * @stats: receives the numbers
 */
void jf_stats_get(struct jf_stats *stats)
{
	struct jf_thread *t;

	pthread_mutex_lock(&engine.lock);
	*stats = engine.stats;
	pthread_mutex_unlock(&engine.lock);
	stats->int3_hits = atomic_load(&stranger_hits);
	stats->int3_foreign = atomic_load(&stranger_foreign);
	for (t = atomic_load(&threads); t; t = t->next) {
		stats->int3_hits += atomic_load_explicit(&t->int3_hits,
							 memory_order_relaxed);
		stats->int3_foreign += atomic_load_explicit(&t->int3_foreign,
							    memory_order_relaxed);
	}
}
