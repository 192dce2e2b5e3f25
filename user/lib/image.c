// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Memory for dispatch images (image.h has their code): near the trampolines that jump to them,
 * executable and never writable, and private: after a fork, parent and child have own copies.
 *
 * The writer of text (writer.c) also writes images. Without it, or if no memory can become
 * executable, there are no images, and tracepoints call their iterator.
 */
#include "lib.h"

#include <sys/mman.h>
#include <unistd.h>

#include <jumpfunc/tracepoint.h>

#define JF_CHAIN_MAX		JF_TRACE_CHAIN_MAX
#define JF_TRACE_MAX_ARGS	5

#include "image.h"
#include "trace.h"
#include "frames.h"

/* One probe fits a cache line; a full chain of five arguments has 640 bytes. */
#define SINGLE_SIZE	64
#define CHAIN_SIZE	704
#define CHUNK_SIZE	(64U << 10)

/*
 * @into: the object that its probes are in, but for the program; SEVERAL
 * @told: the process for which perf knows the place: a child has a file of its own
 */
struct jf_image {
	struct jf_image	*next;
	uintptr_t	addr;
	int		chain;
	struct jf_unwind *unwind;
	const struct jf_mod *into;
	pid_t		told;
};

#define SEVERAL	((const struct jf_mod *)-1)

/* One mapping. */
struct chunk {
	struct chunk	*next;
	uintptr_t	addr;
	size_t		size;		/* of each image */
	struct jf_image	images[];
};

static struct chunk *chunks;

static struct jf_image *unused[2];	/* singles, chains */

/* False: memory cannot become executable. *@got: 0, or @at. */
static bool map_chunk(uintptr_t at, uintptr_t *got)
{
	void *p = mmap((void *)at, CHUNK_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*got = 0;
	if (p == MAP_FAILED)
		return false;
	if (p == (void *)at)
		*got = at;
	else
		munmap(p, CHUNK_SIZE);
	return true;
}

/*
 * Free addresses in reach of @near, the nearest first, but not where the heap or a stack grows.
 * If there are none, as soon in a program that is not PIE, the heap keeps all but the last part of
 * the reach.
 */
static uintptr_t map_near(uintptr_t near)
{
	const uintptr_t step = 1UL << 20, reach = 1UL << 30;
	uintptr_t distance, at, got;
	int up;

	near &= ~(step - 1);
	for (distance = step; distance <= reach; distance += step)
		for (up = 0; up < 2; up++) {
			if (!up && near <= distance + step)
				continue;
			at = up ? near + distance : near - distance;
			if (jf_is_heap(at, CHUNK_SIZE) || jf_is_below_stack(at))
				continue;
			if (!map_chunk(at, &got) || got)
				return got;
		}
	for (distance = reach; distance; distance -= step)
		if (!map_chunk(near + distance, &got) || got)
			return got;
	return 0;
}

static size_t size_of(int chain)
{
	return chain ? CHAIN_SIZE : SINGLE_SIZE;
}

static int add_images(uintptr_t near, int chain)
{
	size_t size = size_of(chain), i, num = CHUNK_SIZE / size;
	struct chunk *c = jf_zalloc(sizeof(*c) + num * sizeof(c->images[0]));
	uintptr_t at = c ? map_near(near) : 0;

	if (!at) {
		jf_free(c);
		jf_say(true, "no memory for dispatch images");
		return -ENOMEM;
	}
	for (i = 0; i < num; i++) {
		struct jf_image *image = &c->images[i];

		image->addr = at + i * size;
		image->chain = chain;
		image->next = unused[chain];
		unused[chain] = image;
	}
	c->addr = at;
	c->size = size;
	c->next = chunks;
	chunks = c;
	return 0;
}

static const struct jf_mod *leads_into(const struct jf_probe *probes, size_t nr)
{
	const struct jf_mod *into = NULL, *m;
	size_t i;

	for (i = 0; i < nr; i++) {
		m = jf_mod_of((uintptr_t)probes[i].func);
		if (m && !m->program)
			into = into && into != m ? SEVERAL : m;
	}
	return into;
}

bool jf_image_leaves(uintptr_t addr, const struct jf_mod *mod)
{
	const struct chunk *c;

	for (c = chunks; c; c = c->next)
		if (addr - c->addr < CHUNK_SIZE) {
			const struct jf_mod *into = c->images[(addr - c->addr) / c->size].into;

			return into && into != mod;
		}
	return false;
}

/* Unlinks one in reach of @near. */
static struct jf_image *take(uintptr_t near, int chain)
{
	struct jf_image **p, *s;

	for (p = &unused[chain]; *p; p = &(*p)->next)
		if (jf_insn_reaches(near, (*p)->addr)) {
			s = *p;
			*p = s->next;
			return s;
		}
	return NULL;
}

static int write_image(uintptr_t addr, const uint8_t *bytes, size_t num)
{
	size_t page = jf_page_size();
	int err = jf_writer_begin(&addr, 1);

	while (!err && num) {
		size_t part = page - addr % page;

		if (part > num)
			part = num;
		err = jf_writer_write(addr, bytes, part);
		addr += part;
		bytes += part;
		num -= part;
	}
	return err;
}

/* Where the chain jumps to the last probe, it has taken all off the stack. */
static struct jf_unwind *describe(uintptr_t addr, size_t used, const struct jf_probe *probes,
				  size_t nr, unsigned int nr_args)
{
	struct jf_frame frame = { .addr = addr, .size = used };
	uint8_t bytes[32];
	struct jf_emit e;
	unsigned int i;

	if (nr > 1) {
		frame.nr_args = nr_args;
		frame.pad = nr_args % 2 == 0;
		jf_emit_init(&e, bytes, sizeof(bytes), addr);
		jf_emit_mov_rdi(&e, (uintptr_t)probes[nr - 1].data);
		frame.epilogue = used - e.used - (frame.pad ? 4 : 0) -
			(jf_insn_reaches(addr + used - JF_INSN_SIZE, (uintptr_t)probes[nr - 1].func) ?
			 JF_INSN_SIZE : 12);
		for (i = 0; i < nr_args; i++)
			frame.epilogue -= jf_image_args[i].push_size;
	}
	return jf_unwind_add(&frame);
}

/* One line for all that will ever be at this place, so that the file has an end. */
static void tell_perf(struct jf_image *s)
{
	if (jf_options()->perf_map && s->told != getpid() &&
	    jf_perf_tell(s->addr, size_of(s->chain)))
		s->told = getpid();
}

bool jf_image_begin(void)
{
	return !jf_sync_begin();
}

struct jf_image *jf_image_create(const struct jf_probe *probes, size_t nr,
				 unsigned int nr_args, uintptr_t near)
{
	int chain = nr > 1, err;
	struct jf_image *s = take(near, chain);
	uint8_t bytes[CHAIN_SIZE];
	struct jf_emit e;

	if (!s && add_images(near, chain))
		return NULL;
	if (!s)
		s = take(near, chain);
	if (!s)
		return NULL;
	jf_emit_init(&e, bytes, size_of(chain), s->addr);
	err = jf_image_emit(&e, probes, nr, nr_args, true);
	if (!err)
		err = write_image(s->addr, bytes, e.used);
	if (err) {
		s->next = unused[chain];
		unused[chain] = s;
		return NULL;
	}
	s->into = leads_into(probes, nr);
	tell_perf(s);
	s->unwind = describe(s->addr, e.used, probes, nr, nr_args);
	return s;
}

void *jf_image_addr(const struct jf_image *image)
{
	return (void *)image->addr;
}

void jf_image_free(struct jf_image *image)
{
	jf_unwind_remove(image->unwind);
	image->unwind = NULL;
	image->next = unused[image->chain];
	unused[image->chain] = image;
}
