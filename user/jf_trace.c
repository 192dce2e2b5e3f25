// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Tracepoints on top of the userspace engine: images, their pool, and the
 * transitions between numbers of probes. See jf_trace.h.
 *
 * Lock: trace_lock, outside of the engine's own.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "jf_trace.h"
#ifndef JF_IMAGE
#define JF_IMAGE "image.h"
#endif
#include JF_IMAGE

/* One probe fits a cache line; a full chain of five arguments has 496 bytes. */
#define SINGLE_SIZE	64
#define CHAIN_SIZE	512
#define IMAGE_BUFFER	512

static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;

/* Above the chain's bound, this is the one probe and the array its data. */
static void iterate(const struct jf_probes *probes, uint64_t a, uint64_t b, uint64_t c,
		    uint64_t d, uint64_t e)
{
	size_t i;

	for (i = 0; i < probes->nr; i++) {
		void (*func)(void *, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t) =
			(void (*)(void *, uint64_t, uint64_t, uint64_t, uint64_t,
				  uint64_t))(uintptr_t)probes->probe[i].func;

		func(probes->probe[i].data, a, b, c, d, e);
	}
}

/* --- the pool ------------------------------------------------------------------ */

struct free_list {
	void **slots;
	size_t nr;
};

struct jf_image_pool {
	struct jf_text *text;
	struct free_list single, chain;
};

/**
 * jf_image_pool_create() - memory for images
 * @nr_single: how many images of one probe (and iterators)
 * @nr_chain:  how many of more
 * @near:      an address near the probes and the sites
 *
 * An image that is replaced stays taken until the quiesce is over, so leave
 * room for twice the tracepoints that change in one batch.
 *
 * Return: the pool, or NULL with errno set.
 */
struct jf_image_pool *jf_image_pool_create(size_t nr_single, size_t nr_chain,
					   const void *near)
{
	struct jf_image_pool *pool = calloc(1, sizeof(*pool));
	uint8_t *at;
	size_t i;

	if (!pool)
		return NULL;
	pool->single.slots = calloc(nr_single + 1, sizeof(void *));
	pool->chain.slots = calloc(nr_chain + 1, sizeof(void *));
	pool->text = jf_text_create(nr_single * SINGLE_SIZE + nr_chain * CHAIN_SIZE + 1,
				    near);
	if (!pool->single.slots || !pool->chain.slots || !pool->text) {
		int err = pool->text ? ENOMEM : errno;

		if (pool->text)
			jf_text_destroy(pool->text);
		free(pool->single.slots);
		free(pool->chain.slots);
		free(pool);
		errno = err;
		return NULL;
	}
	at = jf_text_base(pool->text);
	for (i = 0; i < nr_chain; i++, at += CHAIN_SIZE)
		pool->chain.slots[pool->chain.nr++] = at;
	for (i = 0; i < nr_single; i++, at += SINGLE_SIZE)
		pool->single.slots[pool->single.nr++] = at;
	return pool;
}

/**
 * jf_image_pool_destroy() - give the memory back
 * @pool: no site leads to its images, and jf_quiesce() was called since
 */
void jf_image_pool_destroy(struct jf_image_pool *pool)
{
	jf_text_destroy(pool->text);
	free(pool->single.slots);
	free(pool->chain.slots);
	free(pool);
}

static struct free_list *list_for(struct jf_image_pool *pool, size_t size)
{
	return size <= SINGLE_SIZE ? &pool->single : &pool->chain;
}

static void *image_alloc(struct jf_image_pool *pool, size_t size)
{
	struct free_list *list = list_for(pool, size);

	/* The last one freed is the next one used: stale readers beware. */
	return list->nr ? list->slots[--list->nr] : NULL;
}

static void image_free(struct jf_image_pool *pool, void *image, size_t size)
{
	struct free_list *list = list_for(pool, size);

	if (image)
		list->slots[list->nr++] = image;
}

/* --- transitions ---------------------------------------------------------------- */

/**
 * jf_trace_init() - a tracepoint without probes
 * @trace:   the tracepoint; its sites belong to @trace->func
 * @name:    its name
 * @nr_args: arguments that a call passes, at most JF_TRACE_MAX_ARGS
 * @pool:    where its images go
 *
 * Return: 0 or -EINVAL.
 */
int jf_trace_init(struct jf_trace *trace, const char *name, unsigned int nr_args,
		  struct jf_image_pool *pool)
{
	if (nr_args > JF_TRACE_MAX_ARGS || !pool)
		return -EINVAL;
	memset(trace, 0, sizeof(*trace));
	trace->func = (struct jf_func)JF_FUNC_INIT(name, NULL, JF_NULL_NOP);
	trace->nr_args = nr_args;
	trace->pool = pool;
	return 0;
}

/**
 * jf_trace_batch_init() - an empty batch
 * @tb: the batch
 */
void jf_trace_batch_init(struct jf_trace_batch *tb)
{
	jf_batch_init(&tb->batch);
	tb->traces = NULL;
}

static size_t probes_nr(const struct jf_probes *probes)
{
	return probes ? probes->nr : 0;
}

static struct jf_probes *probes_alloc(size_t nr)
{
	struct jf_probes *probes = malloc(sizeof(*probes) + nr * sizeof(probes->probe[0]));

	if (probes)
		probes->nr = nr;
	return probes;
}

static size_t probes_find(const struct jf_probes *probes, void *func, void *data)
{
	size_t i, nr = probes_nr(probes);

	for (i = 0; i < nr; i++)
		if (probes->probe[i].func == func && probes->probe[i].data == data)
			break;
	return i;
}

/* What the tracepoint will have when the batch is through. */
static struct jf_probes *pending(const struct jf_trace *trace)
{
	return trace->in_batch ? trace->next : trace->probes;
}

static void set_pending(struct jf_trace_batch *tb, struct jf_trace *trace,
			struct jf_probes *probes)
{
	if (trace->in_batch) {
		free(trace->next);
	} else {
		trace->in_batch = true;
		trace->next_in_batch = tb->traces;
		tb->traces = trace;
	}
	trace->next = probes;
}

static bool in_other_batch(const struct jf_trace_batch *tb, const struct jf_trace *trace)
{
	const struct jf_trace *t;

	if (!trace->in_batch)
		return false;
	for (t = tb->traces; t; t = t->next_in_batch)
		if (t == trace)
			return false;
	return true;
}

/**
 * jf_trace_batch_register() - let a batch add a probe
 * @tb:    the batch
 * @trace: the tracepoint
 * @func:  the probe
 * @data:  its first argument
 * @prio:  its priority
 *
 * Return: 0, -EEXIST if the pair is there, -EBUSY in another batch, -EINVAL,
 * -ENOMEM.
 */
int jf_trace_batch_register(struct jf_trace_batch *tb, struct jf_trace *trace,
			    void *func, void *data, int prio)
{
	struct jf_probes *old, *new;
	size_t nr, at = 0;
	int err = 0;

	if (!func)
		return -EINVAL;
	pthread_mutex_lock(&trace_lock);
	old = pending(trace);
	nr = probes_nr(old);
	if (in_other_batch(tb, trace)) {
		err = -EBUSY;
	} else if (probes_find(old, func, data) < nr) {
		err = -EEXIST;
	} else if (!(new = probes_alloc(nr + 1))) {
		err = -ENOMEM;
	} else {
		while (at < nr && old->probe[at].prio >= prio)
			at++;
		if (old) {
			memcpy(new->probe, old->probe, at * sizeof(old->probe[0]));
			memcpy(new->probe + at + 1, old->probe + at,
			       (nr - at) * sizeof(old->probe[0]));
		}
		new->probe[at] = (struct jf_probe){ func, data, prio };
		set_pending(tb, trace, new);
	}
	pthread_mutex_unlock(&trace_lock);
	return err;
}

/**
 * jf_trace_batch_unregister() - let a batch take a probe away
 * @tb:    the batch
 * @trace: the tracepoint
 * @func:  the probe
 * @data:  as it was registered
 *
 * Return: 0, -ENOENT if there is no such pair, -EBUSY in another batch, -ENOMEM.
 */
int jf_trace_batch_unregister(struct jf_trace_batch *tb, struct jf_trace *trace,
			      void *func, void *data)
{
	struct jf_probes *old, *new = NULL;
	size_t nr, at;
	int err = 0;

	pthread_mutex_lock(&trace_lock);
	old = pending(trace);
	nr = probes_nr(old);
	at = probes_find(old, func, data);
	if (in_other_batch(tb, trace)) {
		err = -EBUSY;
	} else if (at == nr) {
		err = -ENOENT;
	} else if (nr > 1 && !(new = probes_alloc(nr - 1))) {
		err = -ENOMEM;
	} else {
		if (new) {
			memcpy(new->probe, old->probe, at * sizeof(old->probe[0]));
			memcpy(new->probe + at, old->probe + at + 1,
			       (nr - at - 1) * sizeof(old->probe[0]));
		}
		set_pending(tb, trace, new);
	}
	pthread_mutex_unlock(&trace_lock);
	return err;
}

/* Makes what the site of @trace will lead to. */
static int prepare(struct jf_trace_batch *tb, struct jf_trace *trace)
{
	struct jf_probe over = { (void *)(uintptr_t)iterate, trace->next, 0 };
	const struct jf_probe *probes;
	size_t nr = probes_nr(trace->next);
	uint8_t buf[IMAGE_BUFFER];
	struct jf_emit e;
	int err;

	trace->next_image = NULL;
	trace->next_image_size = 0;
	switch (nr) {
	case 0:
		/* n->0: the site becomes a nop, there is no image */
		return dynfunc_batch_set(&tb->batch, &trace->func, NULL);
	case 1:
		/* n->1: the direct path, also back from 2 */
		trace->next_image_size = SINGLE_SIZE;
		probes = trace->next->probe;
		break;
	default:
		/* n->2 and more: a chain, up to its bound */
		if (nr <= JF_CHAIN_MAX) {
			trace->next_image_size = CHAIN_SIZE;
			probes = trace->next->probe;
		} else {
			trace->next_image_size = SINGLE_SIZE;
			probes = &over;
			nr = 1;
		}
	}

	trace->next_image = image_alloc(trace->pool, trace->next_image_size);
	if (!trace->next_image)
		return -ENOMEM;
	jf_emit_init(&e, buf, trace->next_image_size, (uintptr_t)trace->next_image);
	err = jf_image_emit(&e, probes, nr, trace->nr_args, false);
	if (!err)
		err = jf_batch_code(&tb->batch, trace->next_image, buf, e.used);
	if (!err)
		err = dynfunc_batch_set(&tb->batch, &trace->func, trace->next_image);
	return err;
}

static void leave_batch(struct jf_trace_batch *tb)
{
	struct jf_trace *trace;

	while ((trace = tb->traces)) {
		tb->traces = trace->next_in_batch;
		free(trace->next);
		trace->next = NULL;
		trace->in_batch = false;
		trace->next_in_batch = NULL;
	}
}

/**
 * jf_trace_batch_commit() - make all registrations of a batch, or none
 * @tb: the batch; empty and ready for use again afterwards
 *
 * When it returns 0, no thread is in a probe that was taken away or will ever
 * enter it with the data that it had: both may be freed.
 *
 * Return: 0, -EDEADLK in a read section, -ENOMEM (also: the pool is used up),
 * -ERANGE, or as jf_batch_commit().
 */
int jf_trace_batch_commit(struct jf_trace_batch *tb)
{
	struct jf_trace *trace;
	int err = 0;

	if (__jf_self && atomic_load_explicit(&__jf_self->reader, memory_order_relaxed)) {
		jf_trace_batch_abort(tb);
		return -EDEADLK;
	}

	pthread_mutex_lock(&trace_lock);
	for (trace = tb->traces; trace; trace = trace->next_in_batch) {
		trace->next_image = NULL;
		trace->next_image_size = 0;
	}
	for (trace = tb->traces; trace && !err; trace = trace->next_in_batch)
		err = prepare(tb, trace);
	if (!err)
		err = jf_batch_commit(&tb->batch);
	if (err) {
		/* No site ever led to the new images. */
		for (trace = tb->traces; trace; trace = trace->next_in_batch)
			image_free(trace->pool, trace->next_image, trace->next_image_size);
		jf_batch_abort(&tb->batch);
		leave_batch(tb);
		pthread_mutex_unlock(&trace_lock);
		return err;
	}

	/* Now nobody gets there any more; wait for those who are there. */
	jf_quiesce();
	for (trace = tb->traces; trace; trace = trace->next_in_batch) {
		struct jf_probes *old = trace->probes;

		image_free(trace->pool, trace->image, trace->image_size);
		trace->image = trace->next_image;
		trace->image_size = trace->next_image_size;
		trace->probes = trace->next;
		trace->next = old;
	}
	leave_batch(tb);
	pthread_mutex_unlock(&trace_lock);
	return 0;
}

/**
 * jf_trace_batch_abort() - forget a batch; nothing was changed
 * @tb: the batch, ready for use again
 */
void jf_trace_batch_abort(struct jf_trace_batch *tb)
{
	pthread_mutex_lock(&trace_lock);
	jf_batch_abort(&tb->batch);
	leave_batch(tb);
	pthread_mutex_unlock(&trace_lock);
}

/**
 * register_jf_trace() - add one probe
 * @trace: the tracepoint
 * @func:  the probe
 * @data:  its first argument
 * @prio:  its priority
 *
 * Return: as jf_trace_batch_register() and jf_trace_batch_commit().
 */
int register_jf_trace(struct jf_trace *trace, void *func, void *data, int prio)
{
	struct jf_trace_batch tb;
	int err;

	jf_trace_batch_init(&tb);
	err = jf_trace_batch_register(&tb, trace, func, data, prio);
	return err ? err : jf_trace_batch_commit(&tb);
}

/**
 * unregister_jf_trace() - take one probe away
 * @trace: the tracepoint
 * @func:  the probe
 * @data:  as it was registered
 *
 * Return: as jf_trace_batch_unregister() and jf_trace_batch_commit().
 */
int unregister_jf_trace(struct jf_trace *trace, void *func, void *data)
{
	struct jf_trace_batch tb;
	int err;

	jf_trace_batch_init(&tb);
	err = jf_trace_batch_unregister(&tb, trace, func, data);
	return err ? err : jf_trace_batch_commit(&tb);
}
