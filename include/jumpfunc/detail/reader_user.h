/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Read sections in programs. Included by batch.h only.
 */
#ifndef JUMPFUNC_READER_USER_H
#define JUMPFUNC_READER_USER_H

#ifndef JUMPFUNC_BATCH_H
#error "include <jumpfunc/batch.h>"
#endif

/**
 * struct jf_reader - a thread's read sections
 * @word:    0, or the grace period in which the outermost one began, plus depth
 * @handler: 0, or the grace period in which the SIGTRAP handler was entered
 * @next:    while no thread has it: the next word that is free
 * @tid:     the thread that has it, or 0; -1: a thread whose number is not known
 * @pid:     the process that the thread was in when it got it
 * @holders: how many threads have given it back
 *
 * On a cache line of its own. Private to libjumpfunc, and to the two functions below.
 */
struct jf_reader {
	uint64_t		word;
	uint64_t		handler;
	struct jf_reader	*next;
	int			tid;
	int			pid;
	unsigned int		holders;
} __attribute__((__aligned__(64)));

/*
 * Data of threads that a signal handler may be the first to use. With glibc that takes no
 * memory only where it is found by a fixed distance. musl has no room for that in objects
 * that are loaded late, a plugin with the library say, and makes data for all threads as
 * it loads them.
 */
#ifdef __has_include
#if __has_include(<features.h>)
#include <features.h>
#endif
#endif
#ifdef __GLIBC__
#define __JF_OF_THREAD		__attribute__((__tls_model__("initial-exec")))
#else
#define __JF_OF_THREAD
#endif

extern __thread struct jf_reader *__jf_reader __JF_OF_THREAD;
/* Where pointers have 32 bits, so many bytes are not aligned by themselves. */
extern uint64_t __jf_grace_period __attribute__((__aligned__(8)));

struct jf_reader *__jf_reader_list(void);

/**
 * jf_read_lock() - begin a section that jf_quiesce() waits for
 *
 * In a program jf_quiesce() waits for tracepoints' probes, and for such sections:
 * put one around the calls of dynamic functions, and the code that branches lead to, if they use
 * data that can be freed. Sections nest, up to 65535 deep (a thread that was deeper inside is not
 * waited for until it has left all); signal handlers may have their own; threads need not be
 * registered. In a kernel it is empty, because there jf_quiesce() scans stacks.
 *
 * A section ends on the thread that began it. So there must be no co_await in it, nor
 * another switch of coroutines after which another thread may resume: jf_quiesce() would
 * wait until the first one ends, and not for sections of the other one.
 *
 * If longjmp() or an exception leaves it, it lasts until its thread ends; in C++
 * jumpfunc::read_section (batch.hh) ends with its block. A tracepoint's own section ends
 * with an exception of a probe, in C if the file was compiled with -fexceptions,
 * which is among the flags that pkg-config, CMake and Meson give.
 *
 * It is three loads and a store. The barrier that belongs after the store is made
 * by the thread that waits.
 *
 * The first section of a thread takes one of the library's words. Memory for more is
 * taken when half of them are used. Without memory a thread that finds no word waits until another
 * thread ends.
 *
 * Context: any.
 */
static __JF_INLINE void jf_read_lock(void)
{
	struct jf_reader *r = __jf_reader;
	uint64_t was;

	if (__builtin_expect(!r, 0))
		r = __jf_reader_list();
	/*
	 * A signal handler that runs in between leaves the word as it found
	 * it, so a stale value is at worst an older grace period: safe.
	 */
	was = r->word;
	/*
	 * Acquire: a thread that sees a number sees all replacements before it.
	 * Pairs with jf_grace_begin(), which does not wait for sections with the
	 * new one.
	 */
	if (!was)
		was = __atomic_load_n(&__jf_grace_period, __ATOMIC_ACQUIRE);
	__atomic_store_n(&r->word, was + 1, __ATOMIC_RELAXED);
	/*
	 * Pairs with the broadcast of jf_quiesce(): that sees the section, or the section sees the
	 * replacements before.
	 */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/**
 * jf_read_unlock() - end the section that jf_read_lock() began
 *
 * Context: any, on the same thread.
 */
static __JF_INLINE void jf_read_unlock(void)
{
	struct jf_reader *r = __jf_reader;
	uint64_t was;

	/*
	 * As the store, pairs with is_older() and begun_in() in the library.
	 * The compiler keeps the section's sites, asm statements to it, above.
	 */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	was = r->word;
	/* Or none, if another thread began it: later ones count all the same. */
	if ((was & 0xffff) <= 1)
		was = 1;
	/*
	 * Release: all loads of the section come before its end. Pairs with
	 * the loads there, after which it is freed.
	 */
	__atomic_store_n(&r->word, was - 1, __ATOMIC_RELEASE);
}

/*
 * To the end of the block, also if an exception or a cancellation leaves it: in C the
 * compiler needs -fexceptions for that, as pkg-config, CMake and Meson give it.
 */
#define __JF_READ_SECTION						\
	__attribute__((__cleanup__(__jf_read_end), __unused__))	\
	char __jf_section = __jf_read_begin()

static __JF_INLINE char __jf_read_begin(void)
{
	jf_read_lock();
	return 0;
}

static __JF_INLINE void __jf_read_end(char *section)
{
	(void)section;
	jf_read_unlock();
}

#endif /* JUMPFUNC_READER_USER_H */
