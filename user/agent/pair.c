// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Calls: an entry is kept until the thread comes by an exit of the same function with the same
 * stack pointer. Then the call is one record. No return address is looked for or changed.
 *
 * Only an exact match makes a pair: the function, and where its return address is. That word is
 * overwritten before another call has it, so a new entry there ends the call that was kept for it.
 * A call that was left in another way, by an exception or longjmp(), is dropped, and counted in the
 * thread's next record, or in the function's sums. One for which there is no room is lost, and
 * counted at once: there may be no other record.
 *
 *   the thread's own stack	frames not above the stack pointer of an entry, or below an exit's
 *				one, were left, and so were frames with a changed return address
 *   any other one		of a coroutine, or alternate: a table of all threads, by the
 *				place of the return address, as a coroutine may go on in another
 *				thread. Calls that were left stay until their place is needed. Then
 *				nothing says whether they were: one that comes to its exit is lost
 *
 * A signal handler comes between any two instructions here. It leaves the stack of frames as high
 * as it found it, but may write over the frames above: so push() reads its own frame again, and
 * begins anew if that has changed.
 */
#include "ring.h"
#include "pair.h"
#include "members.h"
#include "memory.h"
#include "chosen.h"
#include "spot.h"
#include "value.h"
#include "aside.h"
#include "saved.h"
#include "seccomp.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "user/trace/choice.h"
#include "user/trace/provider.h"
#include "user/trace/sums.h"

#define FRAMES_MAX	4096U
/* So many others' places are looked at when a thread needs one. */
#define OTHERS_LOOKED_AT 16U
/* So many frames are looked at by a new one. */
#define LOOKED_AT	8U
#define THREADS_MAX	32768U
#define OTHERS		8192U
#define WINDOW		8U

/**
 * struct frame - a call that is not over
 * @call:       of which function; NULL: it is being written
 * @generation: of that, when it was entered
 * @depth:      calls around it
 * @sp:         the stack pointer: where the return address is
 * @time:       by the clock of jf_pair_begin()
 * @caller:     the return address
 * @parent:     on another stack: @sp of the one around it, or 0
 * @within:     nanoseconds of the calls in it
 * @around:     which functions have calls around it: a bit for each, which others have, too
 * @left:       the counter of sums for calls that are left, or 0, and @generation from bit 32 on:
 *              @call can be freed before that
 * @arg:        registers of arguments
 */
struct frame {
	const struct jf_call	*call;
	uint32_t		generation;
	uint32_t		depth;
	uint64_t		sp;
	uint64_t		time;
	uint64_t		caller;
	uint64_t		parent;
	uint64_t		within;
	uint64_t		around;
	uint64_t		left;
	uint64_t		arg[6];
};

/**
 * struct calls - of a thread
 * @low:   of its own stack
 * @high:  of it
 * @left:  calls that were dropped since its last record
 * @lost:  calls that there was no room for since then
 * @sp:    of the call that it is in on another stack, as far as is known, or 0
 * @num:   of @frame
 * @frame: the last one is the innermost
 */
struct calls {
	uint64_t	low;
	uint64_t	high;
	uint64_t	left;
	uint64_t	lost;
	uint64_t	sp;
	uint32_t	num;
	struct frame	frame[FRAMES_MAX];
};

/* Each thread's, by its number: the memory of one that has ended is another's. */
static struct owned {
	uint32_t	tid;
	struct calls	*calls;
} *owned;
/* The process's number, and from bit 32 on how many there are: a forked child begins with none. */
static uint64_t nr_owned;
/* On other stacks, by @sp: 0 for none. */
static struct frame *others;
/* How many of those have lost their place to others, and have not come to their exits. */
static uint64_t displaced;
/* The first one of the present trace: sums of an earlier one have the calls before it. */
static uint32_t first_generation;
static uint64_t stack_end, stack_size, thread_size;
/* Of the processor's counter, or 0: ns = ticks * factor >> 32. */
static uint64_t factor;

#define LOCAL(word)		__atomic_load_n(&(word), __ATOMIC_RELAXED)
#define SET_LOCAL(word, value)	__atomic_store_n(&(word), value, __ATOMIC_RELAXED)

static __thread struct calls *mine __attribute__((__tls_model__("initial-exec")));

/**
 * jf_pair_begin() - before any call is recorded
 * @end:    of the first thread's stack
 * @size:   bytes that this may have
 * @thread: bytes that other threads' stacks have
 * @hz:     of the processor's counter; 0: it is no clock
 *
 * Return: 0, -ENOMEM
 */
int jf_pair_begin(uintptr_t end, size_t size, size_t thread, uint64_t hz)
{
	if (others)
		return 0;
	stack_end = end;
	stack_size = size;
	thread_size = thread;
	factor = hz ? (uint64_t)(((unsigned __int128)1000000000 << 32) / hz) : 0;
	owned = mmap(NULL, THREADS_MAX * sizeof(*owned), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (owned == MAP_FAILED) {
		owned = NULL;
		return -ENOMEM;
	}
	others = mmap(NULL, OTHERS * sizeof(*others), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (others == MAP_FAILED) {
		munmap(owned, THREADS_MAX * sizeof(*owned));
		others = NULL;
		return -ENOMEM;
	}
	return 0;
}

static uint64_t now(void)
{
	return factor ? __jf_rdtsc() : jf_agent_clock();
}

static uint64_t in_ns(uint64_t ticks)
{
	return factor ? (uint64_t)((unsigned __int128)ticks * factor >> 32) : ticks;
}

/* --- counters ------------------------------------------------------------------------- */

/* A counter of this thread, or NULL: then it was counted, as lost or as one. *first: it was one. */
static uint64_t *counter(uint16_t id, bool *first)
{
	*first = false;
	if (!__jf_writer || id >= LOCAL(__jf_writer->num)) {
		jf_agent_next(8, id);
		*first = true;
	}
	return __jf_writer && id < LOCAL(__jf_writer->num) ? &__jf_writer->counts[id] : NULL;
}

/* False: it was counted as lost. */
static bool add(uint16_t id, uint64_t value)
{
	bool first;
	uint64_t *to = counter(id, &first);

	if (to)
		__jf_local_add(to, value - first);
	return to;
}

/**
 * jf_pair_anew() - calls that begin from now on are of another trace
 * @generation: the lowest one that they can have
 */
void jf_pair_anew(uint32_t generation)
{
	__atomic_store_n(&first_generation, generation, __ATOMIC_RELAXED);
}

/* A call was left in another way than by an exit, and is dropped. */
static void count_left(struct calls *c, const struct frame *f)
{
	uint64_t left = LOCAL(f->left);

	__jf_local_add(&c->left, 1);
	if (left && (uint32_t)(left >> 32) >= LOCAL(first_generation))
		add((uint16_t)left, 1);
}

/* Of the function itself: calls that have begun, of sums. */
static uint16_t number_of(const struct jf_call *call)
{
	return (uint16_t)__atomic_load_n(&call->entry->what, __ATOMIC_RELAXED);
}

/* --- threads -------------------------------------------------------------------------- */

/* Of a thread that has ended. */
static struct calls *take_over(uint32_t num, uint32_t pid, uint32_t tid)
{
	static uint32_t next;
	uint32_t i, k, was;

	for (i = 0; i < OTHERS_LOOKED_AT && i < num; i++) {
		k = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % num;
		was = __atomic_load_n(&owned[k].tid, __ATOMIC_RELAXED);
		if (!was || (was != tid && call4(SYS_tgkill, pid, was, 0, 0) != -ESRCH))
			continue;
		/* Acquire: pairs with the release in make(). */
		if (__atomic_compare_exchange_n(&owned[k].tid, &was, tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return owned[k].calls;
	}
	return NULL;
}

/* NULL: no memory, or too many. */
static struct calls *make(uint32_t pid, uint32_t tid)
{
	uint64_t was = __atomic_load_n(&nr_owned, __ATOMIC_RELAXED), next;
	struct calls *c;
	uint32_t num;

	c = (struct calls *)call6(SYS_mmap, 0, sizeof(*c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if ((unsigned long)c >= -4095UL)
		return NULL;
	do {
		num = (uint32_t)was == pid ? (uint32_t)(was >> 32) : 0;
		if (num == THREADS_MAX)
			return c;
		next = (uint64_t)(num + 1) << 32 | pid;
	} while (!__atomic_compare_exchange_n(&nr_owned, &was, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	owned[num].calls = c;
	/* Release: pairs with take_over(). */
	__atomic_store_n(&owned[num].tid, tid, __ATOMIC_RELEASE);
	return c;
}

/* Where the mapping begins in which @addr is; @addr: it is not known. @buf: of @size bytes. */
static uint64_t mapping_of(uint64_t addr, char *buf, size_t size)
{
	/* A filter of seccomp may kill for it. Pairs with jf_watch_call(), which sets it. */
	bool filtered = __atomic_load_n(&jf_filtered, __ATOMIC_SEQ_CST);
	long fd = filtered ? -1 : call4(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), n;
	uint64_t found = addr, start = 0, value = 0;
	enum { START, END, REST } in = START;
	const char *at, *end;

	if (fd < 0)
		return addr;
	while (found == addr && (n = call4(SYS_read, fd, (long)buf, (long)size, 0)) > 0)
		/* A line can be in two parts. */
		for (at = buf, end = buf + n; at < end; at++) {
			if (*at == '\n') {
				in = START;
				value = 0;
			} else if (in == START && *at == '-') {
				start = value;
				value = 0;
				in = END;
			} else if (in == END && *at == ' ') {
				found = addr >= start && addr < value ? start : found;
				in = REST;
			} else if (in != REST) {
				value = value << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
			}
		}
	call4(SYS_close, fd, 0, 0, 0);
	return found;
}

/*
 * A thread can have a smaller stack than others, with other memory below its guard. Too small a
 * stack does no harm: the rest is another one then. The frames are not used yet.
 */
static void find_stack(struct calls *c, bool first)
{
	uint64_t self, start;

	/* glibc's data of a thread is at the end of its stack. */
	__asm__("movq %%fs:0, %0" : "=r" (self));
	c->high = first ? stack_end : self;
	c->low = c->high - (first ? stack_size : thread_size);
	start = first ? c->low : mapping_of(self, (char *)c->frame, sizeof(c->frame));
	c->low = start > c->low ? start : c->low;
}

__attribute__((__noinline__))
static struct calls *begin(void)
{
	uint64_t was = __atomic_load_n(&nr_owned, __ATOMIC_RELAXED);
	uint32_t pid, tid, i;
	struct calls *c;

	if (__atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED))
		return NULL;
	pid = (uint32_t)call4(SYS_getpid, 0, 0, 0, 0);
	tid = (uint32_t)call4(SYS_gettid, 0, 0, 0, 0);
	c = (uint32_t)was == pid ? take_over((uint32_t)(was >> 32), pid, tid) : NULL;
	if (c) {
		for (i = 0; i < c->num; i++)
			count_left(c, &c->frame[i]);
		c->num = 0;
		c->sp = 0;
	} else {
		c = make(pid, tid);
	}
	/* A signal handler may have come first. */
	if (mine || !c)
		return mine;
	find_stack(c, pid == tid);
	mine = c;
	return c;
}

/* --- the thread's own stack ------------------------------------------------------------ */

static uint64_t left_of(const struct jf_call *call)
{
	/* Acquire: pairs with jf_calls_sum(). */
	const uint16_t *id = __atomic_load_n(&call->sum, __ATOMIC_ACQUIRE);

	return id ? (uint64_t)call->generation << 32 | id[JF_SUM_LEFT] : 0;
}

static void fill(struct frame *f, const struct jf_call *call, const struct jf_saved *s, uint32_t depth)
{
	f->generation = call->generation;
	f->depth = depth;
	f->within = 0;
	f->left = left_of(call);
	f->caller = *(const uint64_t *)s->reg[4];
	f->arg[0] = s->reg[7];
	f->arg[1] = s->reg[6];
	f->arg[2] = s->reg[2];
	f->arg[3] = s->reg[1];
	f->arg[4] = s->reg[8];
	f->arg[5] = s->reg[9];
}

/* Between this thread and its signal handlers. */
#define IN_ORDER()		__atomic_signal_fence(__ATOMIC_SEQ_CST)	/* pairs with a handler's */

/* The call of a frame has its record, and is about to return. */
static const struct jf_call recorded;

/*
 * On the thread's own stack, above its stack pointer. A later call there has written its own return
 * address: clean-up after an exception is called in the place of the calls that were left.
 */
static bool is_left(const struct frame *f, uint64_t sp)
{
	return LOCAL(f->sp) <= sp || *(const uint64_t *)LOCAL(f->sp) != LOCAL(f->caller);
}

/*
 * How many frames are not left. The word of a frame that was left can be in the midst of a later
 * function's variables, and be the same. Then a frame around it says that both were left.
 */
static uint32_t count_not_left(const struct calls *c, uint32_t num, uint64_t sp)
{
	uint32_t n = num, i;

	do {
		num = n;
		for (i = n > LOOKED_AT ? n - LOOKED_AT : 0; i < n; i++)
			if (is_left(&c->frame[i], sp))
				n = i;
	} while (n < num);
	return n;
}

/* The last of the frames is dropped. A call that has its record is not counted a second time. */
static void drop(struct calls *c, uint32_t last)
{
	if (LOCAL(c->frame[last].call) != &recorded)
		count_left(c, &c->frame[last]);
}

/* A call that has no record, for there was no room. @c: of its thread, or NULL. */
static void lose(struct calls *c)
{
	if (c)
		__jf_local_add(&c->lost, 1);
	/*
	 * The sum first, which has the other in it. Acquire: pairs with count_at(), trace/folder.c.
	 */
	__atomic_fetch_add(__atomic_load_n(&__jf_lost, __ATOMIC_ACQUIRE), 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(__atomic_load_n(&__jf_lost_calls, __ATOMIC_ACQUIRE), 1, __ATOMIC_RELAXED);
}

/* Of a function among those that are around a call. */
static uint64_t bit_of(const struct jf_call *call)
{
	return call ? UINT64_C(1) << ((uintptr_t)call * UINT64_C(0x9e3779b97f4a7c15) >> 58) : 0;
}

static uint64_t around_next(const struct frame *outer)
{
	return outer ? outer->around | bit_of(outer->call) : 0;
}

/* False: it was counted as lost. */
static bool push(struct calls *c, const struct jf_call *call, const struct jf_saved *s)
{
	uint64_t sp = s->reg[4];
	struct frame *f;
	uint32_t n, num;

	do {
		num = LOCAL(c->num);
		n = count_not_left(c, num, sp);
		while (num > n)
			drop(c, --num);
		if (n == FRAMES_MAX) {
			lose(c);
			return false;
		}
		f = &c->frame[n];
		SET_LOCAL(f->call, NULL);
		SET_LOCAL(f->sp, sp);
		/* For drop(): a handler can leave the call from here on, and the thread can end. */
		SET_LOCAL(f->caller, *(const uint64_t *)sp);
		SET_LOCAL(f->left, left_of(call));
		/* A handler that comes in between writes the same there. */
		SET_LOCAL(f->around, around_next(n ? f - 1 : NULL));
		IN_ORDER();
		SET_LOCAL(c->num, n + 1);
		IN_ORDER();
		SET_LOCAL(f->call, NULL);
		IN_ORDER();
		SET_LOCAL(f->sp, sp);
		fill(f, call, s, n);
		SET_LOCAL(f->time, now());
		IN_ORDER();
		SET_LOCAL(f->call, call);
		IN_ORDER();
	} while (LOCAL(c->num) != n + 1 || LOCAL(f->sp) != sp || LOCAL(f->call) != call);
	return true;
}

static bool is_of(const struct frame *f, const struct jf_call *call)
{
	return f->call == call && f->generation == call->generation;
}

/*
 * The frame of a call that comes to its exit, which is the last one then, or NULL. pop() takes it
 * off when the call has its record: a handler that leaves the call before that has it counted.
 */
static struct frame *find_own(struct calls *c, const struct jf_call *call, uint64_t sp)
{
	uint32_t n = LOCAL(c->num);
	uint32_t last = n;

	while (n && c->frame[n - 1].sp <= sp && (c->frame[n - 1].sp != sp || !is_of(&c->frame[n - 1], call)))
		n--;
	if (!n || c->frame[n - 1].sp > sp)
		return NULL;
	while (last > n)
		drop(c, --last);
	IN_ORDER();
	SET_LOCAL(c->num, n);
	return &c->frame[n - 1];
}

static void pop(struct calls *c, const struct frame *f)
{
	IN_ORDER();
	SET_LOCAL(c->num, (uint32_t)(f - c->frame));
}

/* --- other stacks --------------------------------------------------------------------- */

static struct frame *others_at(uint64_t sp, unsigned int i)
{
	uint64_t part = sp >> 3;

	part = (part * UINT64_C(0x9e3779b97f4a7c15) >> 40) + i;
	return &others[part % OTHERS];
}

/* The place for @sp: the one that it has, a free one, or the oldest frame's, which loses it. */
static struct frame *claim(struct calls *c, uint64_t sp)
{
	struct frame *f, *best;
	uint64_t was, key;
	unsigned int i;

	for (;;) {
		best = NULL;
		was = 0;
		for (i = 0; i < WINDOW; i++) {
			f = others_at(sp, i);
			key = __atomic_load_n(&f->sp, __ATOMIC_RELAXED);
			if (key == sp) {
				count_left(c, f);
				return f;
			}
			if (!best || (was && (!key || f->time < best->time))) {
				best = f;
				was = key;
			}
		}
		/* Acquire: pairs with the release in take_other(). */
		if (__atomic_compare_exchange_n(&best->sp, &was, sp, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			if (was)
				__atomic_fetch_add(&displaced, 1, __ATOMIC_RELAXED);
			return best;
		}
	}
}

/* The one that is kept for @sp, or NULL. */
static struct frame *find_other(uint64_t sp)
{
	struct frame *f;
	unsigned int i;

	for (i = 0; sp && i < WINDOW; i++) {
		f = others_at(sp, i);
		if (__atomic_load_n(&f->sp, __ATOMIC_RELAXED) == sp)
			return f;
	}
	return NULL;
}

/* The distance of a thread's other stacks is not known: a call that is so near is around it. */
#define NEAR	65536U

static void keep_other(struct calls *c, const struct jf_call *call, const struct jf_saved *s)
{
	uint64_t sp = s->reg[4];
	const struct frame *around = c->sp > sp && c->sp - sp < NEAR ? find_other(c->sp) : NULL;
	uint32_t depth = around ? around->depth + 1 : 0;
	struct frame *f = claim(c, sp);

	__atomic_store_n(&f->call, NULL, __ATOMIC_RELAXED);
	f->parent = around ? c->sp : 0;
	f->around = around_next(around);
	c->sp = sp;
	fill(f, call, s, depth);
	f->time = now();
	/* Release: pairs with take_other(), maybe in another thread. */
	__atomic_store_n(&f->call, call, __ATOMIC_RELEASE);
}

static bool take_other(struct calls *c, const struct jf_call *call, uint64_t sp, struct frame *found)
{
	struct frame *f = find_other(sp);
	uint64_t was = sp;

	/* Acquire: pairs with keep_other(). */
	if (!f || __atomic_load_n(&f->call, __ATOMIC_ACQUIRE) != call || !is_of(f, call))
		return false;
	*found = *f;
	/* Another thread may have taken the place. Release: pairs with claim(). */
	if (!__atomic_compare_exchange_n(&f->sp, &was, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	c->sp = found->parent;
	return true;
}

/* At an exit that has no entry. Only one whose call was displaced is known to have had it. */
static void lose_other(struct calls *c, const struct jf_call *call)
{
	uint64_t num = __atomic_load_n(&displaced, __ATOMIC_RELAXED);

	while (num)
		if (__atomic_compare_exchange_n(&displaced, &num, num - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			lose(c);
			/* One that is lost is not one that goes on. */
			if (left_of(call))
				add(number_of(call), (uint64_t)-1);
			return;
		}
}

/* --- entries -------------------------------------------------------------------------- */

/*
 * Sums count a call at its begin, too: those that have begun and are in no other sum were left, or
 * go on. So one that is lost takes its count back.
 */
static void enter(struct calls *c, bool own, const struct jf_call *call, const struct jf_saved *s)
{
	bool sums = left_of(call);

	if (sums && !add(number_of(call), 1))
		return;
	if (!own)
		keep_other(c, call, s);
	else if (!push(c, call, s) && sums)
		add(number_of(call), (uint64_t)-1);
}

/* --- exits ---------------------------------------------------------------------------- */

/* Flags as entry.S has them: OF in bit 0; CF, PF, ZF and SF in bits 8, 10, 14 and 15. */
static bool holds(unsigned int cond, uint64_t flags)
{
	bool of = flags & 1, cf = flags >> 8 & 1, pf = flags >> 10 & 1, zf = flags >> 14 & 1, sf = flags >> 15 & 1, is;

	switch (cond >> 1) {
	case 0:
		is = of;
		break;
	case 1:
		is = cf;
		break;
	case 2:
		is = zf;
		break;
	case 3:
		is = cf || zf;
		break;
	case 4:
		is = sf;
		break;
	case 5:
		is = pf;
		break;
	case 6:
		is = sf != of;
		break;
	default:
		is = zf || sf != of;
	}
	return is != (cond & 1);
}

static bool leaves(const struct jf_spot *spot, const struct jf_saved *s)
{
	const struct jf_exit *e = spot->exit;

	if (e->how == JF_EXIT_COND)
		return holds(e->cond, s->flags);
	if (e->how == JF_EXIT_TARGET)
		return !jf_exits_inside(&spot->call->exits, jf_value(&e->to, s));
	return true;
}

/**
 * struct over - a call that is recorded
 * @c:        of the thread
 * @call:     of which function
 * @f:        as it was kept
 * @tail:     it has jumped to another function
 * @ret:      rax at its exit, or xmm0
 * @duration: in nanoseconds
 * @end:      when it came to its exit, as now() says it
 */
struct over {
	struct calls		*c;
	const struct jf_call	*call;
	struct frame		*f;
	bool			tail;
	uint64_t		ret;
	uint64_t		duration;
	uint64_t		end;
};

/* The count begins anew. Only this thread and its handlers write it: no lock prefix. */
static inline uint32_t take(uint64_t *count)
{
	uint64_t was;

	do {
		was = LOCAL(*count);
	} while (was && __jf_local_cmpxchg(count, was, 0) != was);
	return (uint32_t)was;
}

static inline __attribute__((__always_inline__))
void put_call(void *at, const void *arg)
{
	const struct over *o = (const struct over *)arg;
	struct jf_call_record *to = (struct jf_call_record *)at;
	unsigned int i;

	/* From here on the place in the ring says what becomes of it. */
	SET_LOCAL(o->f->call, &recorded);
	to->ip = o->call->entry->at;
	to->caller = o->f->caller;
	for (i = 0; i < 6; i++)
		to->arg[i] = o->f->arg[i];
	to->ret = o->ret;
	to->duration = o->duration;
	to->depth = o->f->depth;
	to->left = take(&o->c->left);
	to->lost = take(&o->c->lost);
	to->tail = o->tail;
}

/* The time of a record, if now() reads the ring's clock. */
static uint64_t time_of(const struct over *o)
{
	uint32_t clock = factor ? __JF_CLOCK_TSC : __JF_CLOCK_MONOTONIC;

	return __jf_writer && __jf_writer->clock == clock ? o->end : 0;
}

static void record(const struct over *o)
{
	uint16_t what = number_of(o->call);
	/* Acquire: pairs with replace(), in shown.c. */
	const struct jf_shown *shown = __atomic_load_n(&o->call->entry->shown, __ATOMIC_ACQUIRE);
	__JF_SLOT(slot);
	void *to;

	if (shown) {
		jf_members_record(shown, o->f->arg, put_call, o);
		return;
	}
	to = __jf_reserve_at(&slot, sizeof(struct jf_call_record), what, time_of(o));
	if (!to)
		return;
	put_call(to, o);
	slot.id = what;
}

/* --- sums ----------------------------------------------------------------------------- */

static void raise_to(uint16_t id, uint64_t value)
{
	bool first;
	uint64_t *to = counter(id, &first), was;

	while (to && (was = LOCAL(*to)) < value && __jf_local_cmpxchg(to, was, value) != was)
		;
}

/* The call around one that comes to its exit. */
static struct frame *around(struct calls *c, bool own, struct frame *f)
{
	if (!own)
		return find_other(f->parent);
	return f > c->frame ? f - 1 : NULL;
}

/* True: a call of the same function is around it. Most often a bit says that this is not so. */
static bool is_within(struct calls *c, bool own, const struct frame *f)
{
	const struct frame *outer;
	uint32_t n;

	if (!(f->around & bit_of(f->call)))
		return false;
	if (own) {
		for (outer = f; outer-- > c->frame;)
			if (outer->call == f->call && outer->generation == f->generation)
				return true;
		return false;
	}
	for (n = 0, outer = f; outer && n < OTHERS; n++) {
		outer = find_other(outer->parent);
		if (outer && outer->call == f->call && outer->generation == f->generation)
			return true;
	}
	return false;
}

/* A function that calls itself has the time of its outermost calls, with the others in it. */
static void sum(const uint16_t *id, struct frame *f, uint64_t duration, bool within)
{
	/* A handler that leaves the call from here on does not have it counted as left. */
	SET_LOCAL(f->call, &recorded);
	/* The number that is shown, and without it nothing: so a call is lost once. */
	if (!add(id[JF_SUM_BUCKET + jf_sum_bucket(duration)], 1))
		return;
	add(id[within ? JF_SUM_WITHIN : JF_SUM_TOTAL], duration);
	add(id[JF_SUM_SELF], duration > f->within ? duration - f->within : 0);
	raise_to(id[JF_SUM_MAX], duration);
}

/**
 * struct ended - a call that is over
 * @call:     of which function
 * @frame:    as it was kept
 * @exit:     by which it was left
 * @chosen:   which records are made, or NULL
 * @ret:      rax there, or xmm0
 * @duration: in nanoseconds
 * @end:      when it came there, as now() says it
 */
struct ended {
	const struct jf_call	*call;
	struct frame		*frame;
	const struct jf_exit	*exit;
	const struct jf_chosen	*chosen;
	uint64_t		ret;
	uint64_t		duration;
	uint64_t		end;
};

/* As in record.c. */
static inline __attribute__((__always_inline__))
uint64_t value_of(unsigned int from, const void *arg)
{
	const struct ended *e = (const struct ended *)arg;

	switch (from) {
	case JF_FROM_IP:
		return e->call->entry->at;
	case JF_FROM_CALLER:
		return e->frame->caller;
	case JF_FROM_RET:
		return e->ret;
	case JF_FROM_DURATION:
		return e->duration;
	case JF_FROM_DEPTH:
		return e->frame->depth;
	case JF_FROM_TAIL:
		return e->exit->tail;
	case JF_FROM_TID:
		return jf_tid();
	}
	return e->frame->arg[from % 6];
}

static bool memory_of(const struct jf_step *step, uint64_t *value, const void *arg)
{
	return jf_chosen_memory(((const struct ended *)arg)->chosen, step, value, value_of, arg);
}

/* Apart, as in record.c. */
__attribute__((__noinline__))
static bool is_chosen(struct jf_chosen *chosen, const struct ended *e)
{
	return jf_choice_passes(&chosen->choice, value_of, memory_of, e);
}

static void end_call(struct calls *c, bool own, struct ended *e)
{
	/* Acquire: pairs with jf_calls_sum(). */
	const uint16_t *id = __atomic_load_n(&e->call->sum, __ATOMIC_ACQUIRE);
	/* Acquire: pairs with replace(), in choose.c. */
	struct jf_chosen *chosen = __atomic_load_n(&e->call->entry->chosen, __ATOMIC_ACQUIRE);

	if (!id && e->duration < __atomic_load_n(&e->call->min, __ATOMIC_RELAXED))
		return;
	e->chosen = chosen;
	if (chosen && !is_chosen(chosen, e)) {
		if (id)
			add(number_of(e->call), (uint64_t)-1);
		return;
	}
	/*
	 * Of chosen calls each has its own time: whether the one around it is chosen is not known
	 * yet.
	 */
	if (id)
		sum(id, e->frame, e->duration, !chosen && is_within(c, own, e->frame));
	else
		record(&(struct over){ c, e->call, e->frame, e->exit->tail, e->ret, e->duration, e->end });
}

/* Bits of the value that a function returns. */
static uint64_t returned(const struct jf_call *call, const struct jf_saved *s)
{
	static const struct jf_operand xmm0 = { .kind = JF_OPERAND_VECTOR, .size = 8 };

	return call->entry->returns_real ? jf_value(&xmm0, s) : s->reg[0];
}

void jf_pair(const struct jf_spot *spot, const struct jf_saved *s)
{
	struct calls *c = mine ? mine : begin();
	uint64_t sp = s->reg[4], end, duration;
	struct frame found, *f = &found, *outer;
	bool own;

	/* No memory: each call is lost, at its entry. */
	if (!c && !spot->exit)
		lose(NULL);
	if (!c)
		return;
	own = sp - c->low < c->high - c->low;
	if (!spot->exit) {
		enter(c, own, spot->call, s);
		return;
	}
	if (!leaves(spot, s))
		return;
	end = now();
	if (own)
		f = find_own(c, spot->call, sp);
	if (own ? !f : !take_other(c, spot->call, sp, f)) {
		if (!own)
			lose_other(c, spot->call);
		return;
	}
	duration = in_ns(end > f->time ? end - f->time : 0);
	outer = around(c, own, f);
	if (outer)
		__jf_local_add(&outer->within, duration);
	end_call(c, own, &(struct ended){ spot->call, f, spot->exit, NULL, returned(spot->call, s), duration, end });
	if (own)
		pop(c, f);
}
