// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * What each kind of dispatch costs on this machine, natively.
 *
 * The loops are assembled at run time by the same codec that patches the
 * kernel, and the sites in them are patched by the engine. Every program is a
 * loop over a number of blocks, each with one site of one shape; another
 * program with the same blocks but no site is subtracted. Rounds are
 * interleaved, so that whatever else the machine does hits all shapes alike.
 *
 * Layouts:
 *   hot	one site
 *   64		64 sites in straight line, each with its own target
 *   1K		1024 functions on cache lines of their own with a site each,
 *		called in an order that has nothing to do with their addresses
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <x86intrin.h>

#include "jf_trace.h"
#include "stress_common.h"

#define MANY		1024
#define FEW		64
#define MAX_SUBSCRIBERS	8
#define MAX_PROGRAMS	128
#define MAX_ROUNDS	5000
#define TEXT_SIZE	(16UL << 20)
/*
 * Every program is assembled at so many places, which take turns: branch
 * prediction at times stumbles over one placement of one program. Within a
 * variant, all have the same place in their pages and the same random order.
 */
#define VARIANTS	3
#define SAMPLE_NS	250000		/* one sample runs at least so long */
#define MAX_UPDATE_SITES 5000
#define CACHE_LINE	64

enum layout {
	HOT,
	STRAIGHT,
	RANDOM,
	NR_LAYOUTS,
};

static const char *const layout_names[] = { "hot", "64", "1K" };
static const unsigned int layout_sites[] = { 1, FEW, MANY };

enum shape {
	NONE,
	/* calls */
	DIRECT, INLINE, TRAMPOLINE, INDIRECT, RETPOLINE, LFENCE,
	/* branches */
	BODY, NOP_SITE, JMP_SITE, TEST_HOT, BODY_COLD, NOP_COLD, TEST_COLD,
	/* subscribers */
	ARGS, ONE_DIRECT, ONE_TAIL, ARRAY_RETPOLINE, ARRAY_PLAIN, IMAGE,
};

static const struct {
	const char *name;	/* in the CSV */
	const char *text;	/* in the table */
	const char *group;
	enum shape base;
} shapes[] = {
	[NONE] = { "none", "no call", "call", NONE },
	[DIRECT] = { "direct", "direct call", "call", NONE },
	[INLINE] = { "inline", "inline site, patched", "call", NONE },
	[TRAMPOLINE] = { "trampoline", "trampoline, call to jmp", "call", NONE },
	[INDIRECT] = { "indirect", "indirect, plain", "call", NONE },
	[RETPOLINE] = { "retpoline", "indirect, retpoline", "call", NONE },
	[LFENCE] = { "lfence", "indirect, lfence thunk", "call", NONE },
	[BODY] = { "none", "no site", "branch", BODY },
	[NOP_SITE] = { "nop5", "disabled site, nop5", "branch", BODY },
	[JMP_SITE] = { "jmp", "enabled site, jmp there and back", "branch", BODY },
	[TEST_HOT] = { "test-hot", "test and branch, flag in cache", "branch", BODY },
	[BODY_COLD] = { "none-cold", "no site, flags flushed", "branch", BODY_COLD },
	[NOP_COLD] = { "nop5-cold", "disabled site, flags flushed", "branch", BODY_COLD },
	[TEST_COLD] = { "test-cold", "test and branch, flag flushed", "branch", BODY_COLD },
	[ARGS] = { "none", "no call", "subscribers", ARGS },
	[ONE_DIRECT] = { "direct", "direct call of the probe", "subscribers", ARGS },
	[ONE_TAIL] = { "tail", "call to jmp probe", "subscribers", ARGS },
	[ARRAY_RETPOLINE] = { "array-retpoline", "array, retpolined", "subscribers", ARGS },
	[ARRAY_PLAIN] = { "array-plain", "array, plain indirect", "subscribers", ARGS },
	[IMAGE] = { "chain", "image of direct calls", "subscribers", ARGS },
};

struct program {
	enum shape shape;
	enum layout layout;
	unsigned int subscribers;
	uint64_t (*run[VARIANTS])(uint64_t iterations);
	struct program *base;
	uint64_t iterations;
	double *ticks;		/* per site, one for each round */
	double min, median;	/* without the base's */
	double raw_min, raw_median;
};

/* What @array holds: as a tracepoint's array in the kernel. */
struct subscriber {
	uint64_t func, data;
};

static struct {
	unsigned long rounds;
	const char *csv;
	bool updates;
} opt;

static struct program programs[MAX_PROGRAMS];
static size_t nr_programs;
static struct jf_text *text;
static uint8_t *cursor;
static double ns_per_tick;

static uint64_t targets[MANY];
static uint64_t probes[FEW][MAX_SUBSCRIBERS];
static uint64_t retpoline_thunk, lfence_thunk;
static uint64_t iterate_retpoline, iterate_plain;

/* Near the text, so that code gets there by its instruction pointer. */
static uint64_t pointers[MANY];
static uint64_t data[FEW][MAX_SUBSCRIBERS][CACHE_LINE / 8];
static struct subscriber arrays[FEW][MAX_SUBSCRIBERS + 1][MAX_SUBSCRIBERS + 1];
static uint8_t hot_flags[MANY];
static uint8_t cold_flags[MANY][CACHE_LINE] __attribute__((aligned(4096)));
static struct jf_func call_funcs[VARIANTS * (2 * (1 + FEW + MANY) + 4 * (1 + FEW))];
static size_t nr_call_funcs;
static struct jf_key on_key = JF_KEY_INIT("on", false);
static struct jf_key off_key = JF_KEY_INIT("off", false);

/* --- code -------------------------------------------------------------------------- */

static uint64_t random_state = 0x1234567;

static void shuffle(unsigned int *order, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n; i > 1; i--) {
		unsigned int other = (unsigned int)(stress_random(&random_state) >> 8) % i;
		unsigned int x = order[i - 1];

		order[i - 1] = order[other];
		order[other] = x;
	}
}

static void *place(const struct jf_emit *e, uint8_t *at)
{
	struct jf_batch batch;
	int err;

	stress_die(e->err, "assembling");
	jf_batch_init(&batch);
	err = jf_batch_code(&batch, at, e->buf, e->used);
	if (!err)
		err = jf_batch_commit(&batch);
	stress_die(err, batch.error);
	return at;
}

/* Emits into a buffer that will stand at the cursor. */
static uint8_t *begin(struct jf_emit *e)
{
	static uint8_t buf[1 << 20];

	jf_emit_init(e, buf, sizeof(buf), (uintptr_t)cursor);
	return cursor;
}

/* An image or a trampoline of its own for each site, in the text's other half. */
static uint8_t *helper_at;

static void *finish(struct jf_emit *e)
{
	uint8_t *at = cursor;

	jf_emit_align(e, CACHE_LINE);
	cursor += e->used;
	if (helper_at < at + e->used && helper_at > at)
		stress_die(-ENOMEM, "the text is too small");
	return place(e, at);
}

/* An instruction of which the last four bytes are relative to its end. */
static void emit_rip(struct jf_emit *e, const void *mem)
{
	jf_emit_rel32(e, (uintptr_t)mem);
}

static void emit_iterator(struct jf_emit *e, uint64_t thunk)
{
	uint64_t loop;

	jf_emit(e, 4, 0x53, 0x55, 0x41, 0x54);		/* push rbx, rbp, r12 */
	jf_emit(e, 3, 0x48, 0x89, 0xfb);		/* mov %rdi,%rbx */
	jf_emit(e, 3, 0x48, 0x89, 0xf5);		/* mov %rsi,%rbp */
	jf_emit(e, 3, 0x49, 0x89, 0xd4);		/* mov %rdx,%r12 */
	jf_emit(e, 3, 0x0f, 0x1f, 0x00);		/* nop: the loop on 16 bytes */
	loop = jf_emit_here(e);
	jf_emit(e, 4, 0x48, 0x8b, 0x7b, 0x08);		/* mov 8(%rbx),%rdi */
	jf_emit(e, 3, 0x48, 0x8b, 0x03);		/* mov (%rbx),%rax */
	jf_emit(e, 3, 0x48, 0x89, 0xee);		/* mov %rbp,%rsi */
	jf_emit(e, 3, 0x4c, 0x89, 0xe2);		/* mov %r12,%rdx */
	if (thunk)
		jf_emit_call(e, thunk);
	else
		jf_emit(e, 2, 0xff, 0xd0);		/* call *%rax */
	jf_emit(e, 4, 0x48, 0x83, 0xc3, 0x10);		/* add $16,%rbx */
	jf_emit(e, 4, 0x48, 0x83, 0x3b, 0x00);		/* cmpq $0,(%rbx) */
	jf_emit(e, 2, 0x0f, 0x85);			/* jne loop */
	jf_emit_rel32(e, loop);
	jf_emit(e, 5, 0x41, 0x5c, 0x5d, 0x5b, 0xc3);	/* pop r12, rbp, rbx; ret */
}

/* nops to the next multiple: what is executed up to there must not trap. */
static void emit_nops(struct jf_emit *e, uint64_t to)
{
	while (jf_emit_ok(e) && jf_emit_here(e) % to)
		jf_emit(e, 1, 0x90);
}

static void make_common(void)
{
	unsigned int order[MANY], i, n, k;
	struct jf_emit e;

	begin(&e);
	/* The standard sequence: speculation ends in the loop behind the call. */
	retpoline_thunk = jf_emit_here(&e);
	jf_emit(&e, 5, 0xe8, 0x07, 0x00, 0x00, 0x00);	/* call 1f */
	jf_emit(&e, 2, 0xf3, 0x90);			/* 2: pause */
	jf_emit(&e, 3, 0x0f, 0xae, 0xe8);		/* lfence */
	jf_emit(&e, 2, 0xeb, 0xf9);			/* jmp 2b */
	jf_emit(&e, 4, 0x48, 0x89, 0x04, 0x24);		/* 1: mov %rax,(%rsp) */
	jf_emit(&e, 2, 0xc3, 0xcc);			/* ret; int3 */
	jf_emit_align(&e, 64);
	lfence_thunk = jf_emit_here(&e);
	jf_emit(&e, 5, 0x0f, 0xae, 0xe8, 0xff, 0xe0);	/* lfence; jmp *%rax */
	jf_emit_align(&e, 64);
	iterate_retpoline = jf_emit_here(&e);
	emit_iterator(&e, retpoline_thunk);
	jf_emit_align(&e, 64);
	iterate_plain = jf_emit_here(&e);
	emit_iterator(&e, 0);
	jf_emit_align(&e, 64);

	/* Targets in no order, as functions that somebody else wrote. */
	shuffle(order, MANY);
	for (i = 0; i < MANY; i++) {
		targets[order[i]] = jf_emit_here(&e);
		jf_emit(&e, 1, 0xc3);
		jf_emit_align(&e, 16);
	}
	for (i = 0; i < MANY; i++)
		pointers[i] = targets[i];
	for (k = 0; k < FEW; k++)
		for (n = 0; n < MAX_SUBSCRIBERS; n++) {
			probes[k][n] = jf_emit_here(&e);
			jf_emit(&e, 4, 0x48, 0x89, 0x37, 0xc3);	/* mov %rsi,(%rdi); ret */
			jf_emit_align(&e, 16);
		}
	finish(&e);

	for (k = 0; k < FEW; k++)
		for (n = 1; n <= MAX_SUBSCRIBERS; n++)
			for (i = 0; i < n; i++) {
				arrays[k][n][i].func = probes[k][i];
				arrays[k][n][i].data = (uintptr_t)data[k][i];
			}
}

/* Where a program has its sites, for those that the engine patches. */
struct sites {
	struct jf_site_desc descs[MANY];
	uint64_t wanted[MANY];	/* what those of a function shall call */
	unsigned int nr;
	/* test-and-branch: the four bytes that must lead out of line */
	size_t fixups[MANY];
	uint64_t backs[MANY];
	unsigned int nr_out;
};

static void emit_body(struct jf_emit *e)
{
	jf_emit(e, 6, 0x49, 0xff, 0xc0, 0x49, 0xff, 0xc1);	/* inc r8, r9 */
	jf_emit(e, 6, 0x49, 0xff, 0xc2, 0x49, 0xff, 0xc3);	/* inc r10, r11 */
	jf_emit(e, 3, 0x4d, 0x01, 0xc1);			/* add %r8,%r9 */
	jf_emit(e, 3, 0x4d, 0x01, 0xd3);			/* add %r10,%r11 */
}

static void emit_args(struct jf_emit *e)
{
	jf_emit(e, 5, 0xbe, 0x11, 0x00, 0x00, 0x00);	/* mov $17,%esi */
	jf_emit(e, 5, 0xba, 0x22, 0x00, 0x00, 0x00);	/* mov $34,%edx */
}

static struct jf_func *new_func(uint64_t target, enum jf_null null)
{
	struct jf_func *func = &call_funcs[nr_call_funcs++];

	*func = (struct jf_func)JF_FUNC_INIT("bench", target, null);
	return func;
}

static uint64_t make_helper(const void *code, size_t size, size_t spacing)
{
	struct jf_emit e;
	uint64_t at = (uintptr_t)helper_at;

	jf_emit_init(&e, (void *)(uintptr_t)code, size, at);
	e.used = size;
	place(&e, helper_at);
	helper_at += (size + spacing - 1) / spacing * spacing;
	return at;
}

/*
 * One block of a program: what stands at each of its places, by its shape. Only
 * %rax, %rdi, %rsi, %rdx, %r8-%r11 may change.
 */
struct block {
	struct jf_emit *e;
	const struct program *p;
	unsigned int i;		/* which block of the program */
	struct sites *sites;
};

/* A nop here, which the engine makes a call of @wanted. */
static void emit_call_site(const struct block *b, uint64_t wanted)
{
	struct jf_site_desc *d = &b->sites->descs[b->sites->nr];

	d->addr = (void *)(uintptr_t)jf_emit_here(b->e);
	d->func = new_func(0, JF_NULL_NOP);
	d->form = JF_SITE_CALL;
	b->sites->wanted[b->sites->nr++] = wanted;
	jf_emit_insn(b->e, jf_insn_nop());
}

/* A helper that is one jmp; spaced as the kernel module has them. */
static uint64_t make_jmp(uint64_t target, const char *what)
{
	uint8_t buf[JF_INSN_SIZE];
	jf_insn_t insn = 0;

	stress_die(jf_insn_jmp(&insn, (uintptr_t)helper_at, target), what);
	jf_insn_store(buf, insn);
	return make_helper(buf, sizeof(buf), 32);
}

/* Made with another target; the engine retargets it. */
static void emit_trampoline(const struct block *b)
{
	struct jf_site_desc *d = &b->sites->descs[b->sites->nr];
	uint64_t other = targets[MANY - 1 - b->i];

	d->addr = helper_at;
	d->func = new_func(other, JF_NULL_NOP);
	d->form = JF_SITE_TAIL;
	b->sites->wanted[b->sites->nr++] = targets[b->i];
	jf_emit_call(b->e, make_jmp(other, "trampoline"));
}

static void emit_retpoline(const struct block *b, uint64_t thunk)
{
	jf_emit(b->e, 3, 0x48, 0x8b, 0x05);	/* mov mem(%rip),%rax */
	emit_rip(b->e, &pointers[b->i]);
	jf_emit_call(b->e, thunk);
}

static void emit_branch_site(const struct block *b, struct jf_key *key)
{
	struct sites *sites = b->sites;
	struct jf_site_desc *d = &sites->descs[sites->nr++];

	d->addr = (void *)(uintptr_t)jf_emit_here(b->e);
	d->key = key;
	d->form = JF_SITE_BRANCH;
	jf_emit_insn(b->e, jf_insn_nop());
	sites->backs[sites->nr_out++] = jf_emit_here(b->e);
	emit_body(b->e);
}

static void emit_test(const struct block *b, const uint8_t *flag)
{
	struct sites *sites = b->sites;

	jf_emit(b->e, 2, 0x80, 0x3d);		/* cmpb $0,mem(%rip) */
	/* One byte of immediate follows the displacement. */
	jf_emit_rel32(b->e, (uintptr_t)flag - 1);
	jf_emit(b->e, 1, 0x00);
	jf_emit(b->e, 2, 0x0f, 0x85);		/* jne out of line */
	sites->fixups[sites->nr_out] = b->e->used;
	jf_emit_32(b->e, 0);
	sites->backs[sites->nr_out++] = jf_emit_here(b->e);
	emit_body(b->e);
}

static void emit_one_probe(const struct block *b, uint64_t probe)
{
	emit_args(b->e);
	jf_emit_mov_rdi(b->e, (uintptr_t)data[b->i][0]);
	jf_emit_call(b->e, probe);
}

static void emit_array(const struct block *b, uint64_t iterator)
{
	emit_args(b->e);
	jf_emit(b->e, 3, 0x48, 0x8d, 0x3d);	/* lea array(%rip),%rdi */
	emit_rip(b->e, arrays[b->i][b->p->subscribers]);
	jf_emit_call(b->e, iterator);
}

/* A tracepoint's site: a nop until the image is published. */
static void emit_image_site(const struct block *b)
{
	struct jf_probe list[MAX_SUBSCRIBERS];
	struct jf_emit image;
	uint8_t buf[512];
	unsigned int n;

	emit_args(b->e);
	for (n = 0; n < b->p->subscribers; n++) {
		list[n].func = (void *)(uintptr_t)probes[b->i][n];
		list[n].data = data[b->i][n];
	}
	jf_emit_init(&image, buf, sizeof(buf), (uintptr_t)helper_at);
	stress_die(jf_image_emit(&image, list, b->p->subscribers, 2), "image");
	emit_call_site(b, make_helper(buf, image.used, CACHE_LINE));
}

static void emit_call_block(const struct block *b)
{
	switch (b->p->shape) {
	case DIRECT:
		jf_emit_call(b->e, targets[b->i]);
		break;
	case INLINE:
		emit_call_site(b, targets[b->i]);
		break;
	case TRAMPOLINE:
		emit_trampoline(b);
		break;
	case INDIRECT:
		jf_emit(b->e, 2, 0xff, 0x15);		/* call *mem(%rip) */
		emit_rip(b->e, &pointers[b->i]);
		break;
	case RETPOLINE:
		emit_retpoline(b, retpoline_thunk);
		break;
	case LFENCE:
		emit_retpoline(b, lfence_thunk);
		break;
	default:
		break;
	}
}

static void emit_branch_block(const struct block *b)
{
	switch (b->p->shape) {
	case BODY:
	case BODY_COLD:
		emit_body(b->e);
		break;
	case NOP_SITE:
	case NOP_COLD:
		emit_branch_site(b, &off_key);
		break;
	case JMP_SITE:
		emit_branch_site(b, &on_key);
		break;
	case TEST_HOT:
		emit_test(b, &hot_flags[b->i]);
		break;
	case TEST_COLD:
		emit_test(b, cold_flags[b->i]);
		break;
	default:
		break;
	}
}

static void emit_probe_block(const struct block *b)
{
	switch (b->p->shape) {
	case ARGS:
		emit_args(b->e);
		break;
	case ONE_DIRECT:
		emit_one_probe(b, probes[b->i][0]);
		break;
	case ONE_TAIL:
		emit_one_probe(b, make_jmp(probes[b->i][0], "tail"));
		break;
	case ARRAY_RETPOLINE:
		emit_array(b, iterate_retpoline);
		break;
	case ARRAY_PLAIN:
		emit_array(b, iterate_plain);
		break;
	case IMAGE:
		emit_image_site(b);
		break;
	default:
		break;
	}
}

static void emit_block(struct jf_emit *e, const struct program *p, unsigned int i,
		       struct sites *sites)
{
	const struct block b = { e, p, i, sites };

	if (shapes[p->shape].base == NONE)
		emit_call_block(&b);
	else if (shapes[p->shape].base == ARGS)
		emit_probe_block(&b);
	else
		emit_branch_block(&b);
}

/* Patches the sites of a program to what it is about. */
static void publish(const struct sites *sites)
{
	struct jf_batch batch;
	unsigned int i;
	int err = 0;

	if (!sites->nr)
		return;
	/* New sites are nops; those of other layouts may be on already. */
	stress_die(jf_key_disable(&on_key), "jf_key_disable");
	stress_die(jf_sites_add(sites->descs, sites->nr), "jf_sites_add");
	jf_batch_init(&batch);
	for (i = 0; i < sites->nr && !err; i++)
		if (sites->descs[i].func)
			err = dynfunc_batch_set(&batch, sites->descs[i].func,
						(void *)sites->wanted[i]);
	if (!err)
		err = jf_key_batch_set(&batch, &on_key, true);
	if (!err)
		err = jf_batch_commit(&batch);
	stress_die(err, batch.error);
}

static void fix_rel32(struct jf_emit *e, size_t at, uint64_t target)
{
	uint32_t disp = (uint32_t)(target - (e->base + at + 4));

	memcpy(e->buf + at, &disp, sizeof(disp));
}

static void make_program(struct program *p, unsigned int variant)
{
	static struct sites sites;
	static unsigned int order[MANY];
	unsigned int i, nr = layout_sites[p->layout];
	uint64_t loop, entry, blocks;
	struct jf_emit e;

	memset(&sites, 0, sizeof(sites));
	cursor = (uint8_t *)(((uintptr_t)cursor + 4095) & ~4095UL);
	cursor += variant * 11 * CACHE_LINE;
	random_state = stress_seed(variant, 0);
	entry = (uintptr_t)begin(&e);

	jf_emit(&e, 8, 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56);
	jf_emit(&e, 3, 0x48, 0x89, 0xfb);		/* mov %rdi,%rbx */
	if (p->layout == RANDOM) {
		/* Functions with a site each, called in random order. */
		shuffle(order, nr);
		blocks = (entry + 2 * CACHE_LINE) & ~(CACHE_LINE - 1UL);
		jf_emit_jmp(&e, blocks + nr * CACHE_LINE);
		for (i = 0; i < nr; i++) {
			jf_emit_fill(&e, blocks + i * CACHE_LINE);
			emit_block(&e, p, i, &sites);
			jf_emit(&e, 1, 0xc3);
		}
		jf_emit_fill(&e, blocks + nr * CACHE_LINE);
		loop = jf_emit_here(&e);
		for (i = 0; i < nr; i++)
			jf_emit_call(&e, blocks + order[i] * CACHE_LINE);
	} else {
		emit_nops(&e, CACHE_LINE);
		loop = jf_emit_here(&e);
		for (i = 0; i < nr; i++)
			emit_block(&e, p, i, &sites);
	}
	jf_emit(&e, 3, 0x48, 0xff, 0xcb);		/* dec %rbx */
	jf_emit(&e, 2, 0x0f, 0x85);			/* jnz loop */
	jf_emit_rel32(&e, loop);
	jf_emit(&e, 9, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3);

	for (i = 0; i < sites.nr_out; i++) {
		jf_emit_align(&e, 16);
		if (sites.fixups[i])
			fix_rel32(&e, sites.fixups[i], jf_emit_here(&e));
		else
			sites.descs[i].label = (void *)(uintptr_t)jf_emit_here(&e);
		jf_emit_jmp(&e, sites.backs[i]);
	}
	finish(&e);
	publish(&sites);
	p->run[variant] = (uint64_t (*)(uint64_t))(uintptr_t)entry;
}

static struct program *add(enum shape shape, enum layout layout, unsigned int subscribers)
{
	struct program *p = &programs[nr_programs++];
	unsigned int v;
	size_t i;

	p->shape = shape;
	p->layout = layout;
	p->subscribers = subscribers;
	p->ticks = calloc(opt.rounds, sizeof(*p->ticks));
	if (!p->ticks)
		stress_die(-ENOMEM, "samples");
	for (i = 0; i < nr_programs; i++)
		if (programs[i].shape == shapes[shape].base && programs[i].layout == layout)
			p->base = &programs[i];
	for (v = 0; v < VARIANTS; v++)
		make_program(p, v);
	return p;
}

static void make_programs(void)
{
	static const unsigned int counts[] = { 1, 2, 4, 8 };
	int layout, shape;
	size_t n;

	for (layout = HOT; layout < NR_LAYOUTS; layout++)
		for (shape = NONE; shape <= LFENCE; shape++)
			add((enum shape)shape, (enum layout)layout, 0);
	for (layout = STRAIGHT; layout < NR_LAYOUTS; layout++)
		for (shape = BODY; shape <= TEST_HOT; shape++)
			add((enum shape)shape, (enum layout)layout, 0);
	for (shape = BODY_COLD; shape <= TEST_COLD; shape++)
		add((enum shape)shape, RANDOM, 0);
	for (layout = HOT; layout <= STRAIGHT; layout++) {
		add(ARGS, (enum layout)layout, 0);
		add(ONE_DIRECT, (enum layout)layout, 1);
		add(ONE_TAIL, (enum layout)layout, 1);
		for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
			for (shape = ARRAY_RETPOLINE; shape <= IMAGE; shape++)
				add((enum shape)shape, (enum layout)layout, counts[n]);
	}
}

/* --- measuring ------------------------------------------------------------------------ */

static uint64_t ticks_begin(void)
{
	uint64_t t;

	_mm_lfence();
	t = __rdtsc();
	_mm_lfence();
	return t;
}

static uint64_t ticks_end(void)
{
	unsigned int cpu;
	uint64_t t = __rdtscp(&cpu);

	_mm_lfence();
	return t;
}

static bool is_cold(const struct program *p)
{
	return shapes[p->shape].base == BODY_COLD;
}

static double sample(const struct program *p, unsigned int variant)
{
	uint64_t (*run)(uint64_t) = p->run[variant];
	uint64_t begin_at;
	size_t i;

	if (is_cold(p)) {
		/* Code and its predictions warm, flags in memory. */
		run(1);
		for (i = 0; i < MANY; i++)
			_mm_clflush(cold_flags[i]);
		_mm_mfence();
	}
	begin_at = ticks_begin();
	run(p->iterations);
	return (double)(ticks_end() - begin_at) /
	       ((double)p->iterations * layout_sites[p->layout]);
}

static void calibrate(struct program *p)
{
	uint64_t start, took;

	p->iterations = 1;
	if (is_cold(p))
		return;
	for (;;) {
		start = stress_now_ns();
		p->run[0](p->iterations);
		took = stress_now_ns() - start;
		if (took >= SAMPLE_NS)
			return;
		p->iterations *= took < SAMPLE_NS / 8 ? 4 : 2;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void summarize(struct program *p, unsigned int rounds)
{
	qsort(p->ticks, rounds, sizeof(*p->ticks), by_value);
	p->raw_min = p->ticks[0];
	p->raw_median = (p->ticks[(rounds - 1) / 2] + p->ticks[rounds / 2]) / 2;
}

static unsigned int measure(void)
{
	uint64_t start_ns, start_ticks, last;
	unsigned int round, rounds = 0;
	unsigned int order[MAX_PROGRAMS];
	size_t i;

	for (i = 0; i < nr_programs; i++)
		calibrate(&programs[i]);

	start_ns = last = stress_now_ns();
	start_ticks = ticks_begin();
	for (round = 0; round < opt.rounds && !atomic_load(&stress_stop); round++) {
		shuffle(order, (unsigned int)nr_programs);
		for (i = 0; i < nr_programs; i++)
			programs[order[i]].ticks[round] = sample(&programs[order[i]], round % VARIANTS);
		rounds++;
		if (stress_now_ns() - last > 5000000000ULL) {
			last = stress_now_ns();
			fprintf(stderr, "# round %u of %lu\n", rounds, opt.rounds);
		}
	}
	ns_per_tick = (double)(stress_now_ns() - start_ns) /
		      (double)(ticks_end() - start_ticks);
	if (!rounds)
		return 0;
	for (i = 0; i < nr_programs; i++)
		summarize(&programs[i], rounds);
	for (i = 0; i < nr_programs; i++) {
		struct program *p = &programs[i];

		p->min = p->raw_min - p->base->raw_min;
		p->median = p->raw_median - p->base->raw_median;
	}
	return rounds;
}

/* --- updates -------------------------------------------------------------------------- */

static struct jf_func update_funcs[MAX_UPDATE_SITES];
static struct jf_key update_keys[MANY];
static uint8_t *update_sites[MAX_UPDATE_SITES];

#define UPDATE_REPEATS	11

/* Functions with a trampoline each, or keys with a branch each. */
static const struct {
	unsigned int sites;
	bool keys;
} update_sizes[] = {
	{ 1, false }, { 10, false }, { 100, false }, { 1000, false },
	{ MAX_UPDATE_SITES, false }, { 1000, true },
};
#define NR_UPDATE_SIZES	(sizeof(update_sizes) / sizeof(update_sizes[0]))

static struct update_result {
	double min_us, median_us;
	uint64_t broadcasts;
	bool done;
} update_results[NR_UPDATE_SIZES][2][2];	/* size, batched or not, peers or not */

static void make_update_sites(void)
{
	static struct jf_site_desc descs[MAX_UPDATE_SITES];
	struct jf_emit e;
	size_t i;

	begin(&e);
	for (i = 0; i < MAX_UPDATE_SITES; i++) {
		update_sites[i] = (uint8_t *)(uintptr_t)jf_emit_here(&e);
		jf_emit_jmp(&e, targets[0]);
		jf_emit_align(&e, 16);
		update_funcs[i] = (struct jf_func)JF_FUNC_INIT("update", targets[0],
							       JF_NULL_FORBIDDEN);
		descs[i].addr = update_sites[i];
		descs[i].func = &update_funcs[i];
		descs[i].form = JF_SITE_TAIL;
	}
	finish(&e);
	stress_die(jf_sites_add(descs, MAX_UPDATE_SITES), "jf_sites_add");

	begin(&e);
	memset(descs, 0, sizeof(descs));
	for (i = 0; i < MANY; i++) {
		descs[i].addr = (void *)(uintptr_t)jf_emit_here(&e);
		descs[i].key = &update_keys[i];
		descs[i].form = JF_SITE_BRANCH;
		update_keys[i] = (struct jf_key)JF_KEY_INIT("update", false);
		jf_emit_insn(&e, jf_insn_nop());
		jf_emit(&e, 1, 0xc3);
		descs[i].label = (void *)(uintptr_t)jf_emit_here(&e);
		jf_emit(&e, 1, 0xc3);
		jf_emit_align(&e, 16);
	}
	finish(&e);
	stress_die(jf_sites_add(descs, MANY), "jf_sites_add");
}

static _Atomic bool peers_stop;

static void *peer(void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;

	stress_die(jf_thread_register(), "jf_thread_register");
	while (!atomic_load_explicit(&peers_stop, memory_order_relaxed)) {
		((void (*)(void))(uintptr_t)update_sites[i])();
		i = (i + 61) % MAX_UPDATE_SITES;
	}
	jf_thread_unregister();
	return NULL;
}

static int update_one(struct jf_batch *batch, bool key, unsigned int i, uint64_t turn)
{
	void *target = (void *)(uintptr_t)targets[turn % (MANY - 1) + 1];
	bool on = turn & 1;

	if (key && batch)
		return jf_key_batch_set(batch, &update_keys[i], on);
	if (key)
		return on ? jf_key_enable(&update_keys[i]) :
			    jf_key_disable(&update_keys[i]);
	return batch ? dynfunc_batch_set(batch, &update_funcs[i], target) :
		       dynfunc_update(&update_funcs[i], target);
}

/* @turn is another one each time, so that every site changes each time. */
static double update_once(size_t size, bool batched, uint64_t turn, uint64_t *broadcasts)
{
	struct jf_stats before, after;
	struct jf_batch batch;
	uint64_t start;
	unsigned int i;
	int err = 0;

	jf_stats_get(&before);
	start = stress_now_ns();
	jf_batch_init(&batch);
	for (i = 0; i < update_sizes[size].sites && !err; i++)
		err = update_one(batched ? &batch : NULL, update_sizes[size].keys, i, turn);
	if (!err && batched)
		err = jf_batch_commit(&batch);
	start = stress_now_ns() - start;
	stress_die(err, "update");
	jf_stats_get(&after);
	*broadcasts = after.sync_broadcasts - before.sync_broadcasts;
	return (double)start / 1e3;
}

static void measure_updates(unsigned int peers)
{
	double us[NR_UPDATE_SIZES][2][UPDATE_REPEATS];
	pthread_t threads[256];
	uint64_t broadcasts;
	unsigned int i, r, done = 0;
	static uint64_t turn;
	size_t s, b;

	atomic_store(&peers_stop, false);
	for (i = 0; i < peers; i++)
		stress_die(-pthread_create(&threads[i], NULL, peer,
					   (void *)(uintptr_t)(i * 997)), "pthread_create");
	if (peers)
		usleep(1000);
	for (r = 0; r < UPDATE_REPEATS && !atomic_load(&stress_stop); r++, done++)
		for (s = 0; s < NR_UPDATE_SIZES; s++)
			for (b = 0; b < 2; b++) {
				us[s][b][r] = update_once(s, b, ++turn, &broadcasts);
				update_results[s][b][!!peers].broadcasts = broadcasts;
			}
	atomic_store(&peers_stop, true);
	for (i = 0; i < peers; i++)
		pthread_join(threads[i], NULL);
	for (s = 0; done && s < NR_UPDATE_SIZES; s++)
		for (b = 0; b < 2; b++) {
			struct update_result *u = &update_results[s][b][!!peers];

			qsort(us[s][b], done, sizeof(double), by_value);
			u->min_us = us[s][b][0];
			u->median_us = us[s][b][done / 2];
			u->done = true;
		}
}

/* --- output --------------------------------------------------------------------------- */

static FILE *csv;

/* The first line of a file that starts with @key, without it; "unknown" else. */
static const char *first_line(const char *path, const char *key)
{
	static char line[512];
	FILE *f = fopen(path, "r");
	const char *found = NULL;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, key, strlen(key)))
			continue;
		found = line;
		if (*key && (found = strchr(line, ':')))
			found += 2;
	}
	if (f)
		fclose(f);
	return found ? found : "unknown";
}

static void say(const char *what, const char *value)
{
	printf("%-12s %s\n", what, value);
	if (csv)
		fprintf(csv, "# %s: %s\n", what, value);
}

static void print_machine(unsigned int rounds)
{
	struct utsname uts;
	char buf[256];
	const char *model, *flags;

	model = first_line("/proc/cpuinfo", "model name");
	say("CPU", model);
	/* Binary translation tells of the translator, not of the CPU. */
	if (strstr(model, "QEMU") || strstr(model, "TCG"))
		say("EMULATED", "these are an emulator's times, not those of a CPU");
	flags = first_line("/proc/cpuinfo", "flags");
	snprintf(buf, sizeof(buf), "%d%s", stress_cores(),
		 strstr(flags, " hypervisor") ? ", in a virtual machine" : "");
	say("cores", buf);
	if (!uname(&uts)) {
		snprintf(buf, sizeof(buf), "%s", uts.release);
		say("kernel", buf);
	}
	say("spectre_v2", first_line("/sys/devices/system/cpu/vulnerabilities/spectre_v2",
				     ""));
	snprintf(buf, sizeof(buf), "%.4f ns per TSC cycle", ns_per_tick);
	say("TSC", buf);
	snprintf(buf, sizeof(buf), "%u, interleaved, over %d placements of the code",
		 rounds, VARIANTS);
	say("rounds", buf);
}

static const struct program *find(enum shape shape, enum layout layout, unsigned int n)
{
	size_t i;

	for (i = 0; i < nr_programs; i++)
		if (programs[i].shape == shape && programs[i].layout == layout &&
		    programs[i].subscribers == n)
			return &programs[i];
	return NULL;
}

static void print_row(const struct program *p, const struct program *direct)
{
	char ratio[16] = "-";

	if (direct && direct->min > 0)
		snprintf(ratio, sizeof(ratio), "%.2f", p->min / direct->min);
	printf("  %-34s %8.2f %8.2f %8.1f %8.1f %8s\n", shapes[p->shape].text,
	       p->min * ns_per_tick, p->median * ns_per_tick, p->min, p->median, ratio);
	if (csv)
		fprintf(csv, "%s,%s,%s,%u,%.4f,%.4f,%.3f,%.3f,%s\n", shapes[p->shape].group,
			layout_names[p->layout], shapes[p->shape].name, p->subscribers,
			p->min * ns_per_tick, p->median * ns_per_tick, p->min, p->median,
			direct && direct->min > 0 ? ratio : "");
}

static void print_head(const char *title, const char *ratio)
{
	printf("\n%-36s %8s %8s %8s %8s %8s\n", title, "ns min", "ns med", "cyc min",
	       "cyc med", ratio);
}

static void print_calls(void)
{
	static const char *const titles[] = {
		"Calls, one hot site", "Calls, 64 sites in a line",
		"Calls, 1024 sites in random order",
	};
	int layout, shape;

	for (layout = HOT; layout < NR_LAYOUTS; layout++) {
		print_head(titles[layout], "x direct");
		for (shape = DIRECT; shape <= LFENCE; shape++)
			print_row(find((enum shape)shape, (enum layout)layout, 0),
				  find(DIRECT, (enum layout)layout, 0));
	}
}

static void print_branches(void)
{
	int layout, shape;

	for (layout = STRAIGHT; layout < NR_LAYOUTS; layout++) {
		print_head(layout == STRAIGHT ? "Branches, 64 sites in a line" :
			   "Branches, 1024 in random order", "");
		for (shape = NOP_SITE; shape <= TEST_HOT; shape++)
			print_row(find((enum shape)shape, (enum layout)layout, 0), NULL);
	}
	for (shape = NOP_COLD; shape <= TEST_COLD; shape++)
		print_row(find((enum shape)shape, RANDOM, 0), NULL);
}

static void print_subscribers(void)
{
	static const unsigned int counts[] = { 1, 2, 4, 8 };
	char title[64];
	int layout, shape;
	size_t n;

	for (layout = HOT; layout <= STRAIGHT; layout++)
		for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
			const struct program *chain = find(IMAGE, (enum layout)layout,
							   counts[n]);

			snprintf(title, sizeof(title), "%u subscriber%s, %s", counts[n],
				 counts[n] > 1 ? "s" : "",
				 layout == HOT ? "one hot site" : "64 sites in a line");
			print_head(title, "x chain");
			if (counts[n] == 1) {
				print_row(find(ONE_DIRECT, (enum layout)layout, 1), chain);
				print_row(find(ONE_TAIL, (enum layout)layout, 1), chain);
			}
			for (shape = IMAGE; shape >= ARRAY_RETPOLINE; shape--)
				print_row(find((enum shape)shape, (enum layout)layout,
					       counts[n]), chain);
		}
}

static void print_updates(unsigned int peers)
{
	size_t s, b;

	printf("\nUpdates, %u running peer%s%18s %10s %12s %10s %8s\n", peers,
	       peers == 1 ? "" : "s", "sites", "us min", "us median", "broadcasts", "x batch");
	for (s = 0; s < NR_UPDATE_SIZES; s++)
		for (b = 2; b-- > 0;) {
			const struct update_result *u = &update_results[s][b][!!peers];
			const struct update_result *batch = &update_results[s][1][!!peers];

			if (!u->done)
				continue;
			printf("  %-34s %5u %10.1f %12.1f %10llu %8.1f\n",
			       update_sizes[s].keys ?
			       b ? "keys, one transaction" : "keys, one by one" :
			       b ? "one transaction" : "one by one", update_sizes[s].sites,
			       u->min_us, u->median_us,
			       (unsigned long long)u->broadcasts,
			       u->median_us / batch->median_us);
			if (csv)
				fprintf(csv, "update,%u,%s%s,%u,%.1f,%.1f,,,%llu\n", peers,
					update_sizes[s].keys ? "keys-" : "",
					b ? "batch" : "single", update_sizes[s].sites,
					u->min_us * 1e3, u->median_us * 1e3,
					(unsigned long long)u->broadcasts);
		}
}

static double ratio_of(enum shape a, enum shape b, enum layout layout, unsigned int n)
{
	return find(a, layout, n)->min / find(b, layout, n)->min;
}

static void goal(bool met, const char *fmt, ...)
{
	va_list args_;

	printf("  %-9s ", met ? "met" : "NOT met");
	va_start(args_, fmt);
	vprintf(fmt, args_);
	va_end(args_);
	putchar('\n');
}

static void print_goals(void)
{
	int layout;

	printf("\nGoals, by the minima\n");
	for (layout = HOT; layout < NR_LAYOUTS; layout++) {
		double in = ratio_of(INLINE, DIRECT, (enum layout)layout, 0);
		double tr = ratio_of(TRAMPOLINE, DIRECT, (enum layout)layout, 0);

		goal(in <= 1.05, "inline site %.2f x direct, at most 1.05 (%s)", in,
		     layout_names[layout]);
		goal(tr <= 1.9, "trampoline %.2f x direct, at most 1.9 (%s)", tr,
		     layout_names[layout]);
	}
	for (layout = HOT; layout <= STRAIGHT; layout++) {
		double array = ratio_of(ARRAY_RETPOLINE, IMAGE, (enum layout)layout, 8);
		double worst = 1e9, extra;
		unsigned int n;

		goal(array >= 8, "retpolined array %.1f x chain of 8, at least 8 (%s)", array,
		     layout_names[layout]);
		for (n = 1; n <= 8; n *= 2) {
			double plain = ratio_of(ARRAY_PLAIN, IMAGE, (enum layout)layout, n);

			if (plain < worst)
				worst = plain;
		}
		goal(worst >= 1, "plain array %.2f x chain at its best N, at least 1 (%s)",
		     worst, layout_names[layout]);
		extra = (find(IMAGE, (enum layout)layout, 1)->min -
			 find(ONE_TAIL, (enum layout)layout, 1)->min) * ns_per_tick;
		goal(extra <= 1, "one subscriber %+.2f ns against a tail call, at most 1 (%s)",
		     extra, layout_names[layout]);
	}
	for (layout = STRAIGHT; layout < NR_LAYOUTS; layout++) {
		const struct program *none = find(BODY, (enum layout)layout, 0);
		const struct program *nop = find(NOP_SITE, (enum layout)layout, 0);
		double noise = (none->raw_median - none->raw_min) * ns_per_tick;

		goal(nop->min * ns_per_tick <= noise,
		     "disabled site %.3f ns; noise of no site %.3f ns (%s)",
		     nop->min * ns_per_tick, noise, layout_names[layout]);
	}
}

static void usage(FILE *to)
{
	fputs("usage: bench [options]\n"
	      "Measures what each kind of dispatch costs on this machine.\n"
	      "  --rounds N     interleaved rounds (default 200)\n"
	      "  --quick        20 rounds, no update latencies\n"
	      "  --no-updates   leave the update latencies out\n"
	      "  --csv FILE     write the numbers there, too\n"
	      "^C stops it and prints what was measured so far.\n", to);
}

static void parse_options(int argc, char **argv)
{
	static int quick, no_updates;
	static const struct option_row rows[] = {
		{ "rounds", .number = &opt.rounds, .min = 1, .max = MAX_ROUNDS },
		{ "quick", .flag = &quick },
		{ "no-updates", .flag = &no_updates },
		{ "csv", .text = &opt.csv },
	};

	options_end(argv, options_parse(argc, argv, usage, STRESS_ROWS(rows)), usage);
	if (!opt.rounds)
		opt.rounds = quick ? 20 : 200;
	opt.updates = !quick && !no_updates;
}

static void fail(const char *what, const char *file, int err)
{
	fprintf(stderr, "bench: %s%s: %s\n", what, file, strerror(err));
	exit(1);
}

static void make_all(void)
{
	text = jf_text_create(TEXT_SIZE, (const void *)make_all);
	if (!text)
		stress_die(-errno, "no memory for code near the program");
	cursor = (uint8_t *)(((uintptr_t)jf_text_base(text) + 4095) & ~4095UL);
	helper_at = cursor + TEXT_SIZE / 2;
	memset(cold_flags, 0, sizeof(cold_flags));

	fprintf(stderr, "# assembling and calibrating\n");
	make_common();
	make_programs();
	make_update_sites();
}

/* @peers: callers beside the updater; 0 or as many as there are cores for. */
static void print_all(unsigned int rounds, unsigned int peers)
{
	print_machine(rounds);
	if (csv)
		fprintf(csv, "group,layout,shape,n,ns_min,ns_median,cycles_min,cycles_median,"
			"ratio_or_broadcasts\n");
	print_calls();
	print_branches();
	print_subscribers();
	if (opt.updates) {
		print_updates(0);
		if (peers)
			print_updates(peers);
	}
	print_goals();
}

int main(int argc, char **argv)
{
	unsigned int rounds, peers = stress_cores() > 1 ? 1 : 0;
	int err;

	parse_options(argc, argv);
	stress_catch_signals();
	err = jf_init();
	if (err)
		fail("jf_init", "", -err);
	if (opt.csv) {
		csv = fopen(opt.csv, "w");
		if (!csv)
			fail("cannot write ", opt.csv, errno);
	}
	make_all();
	rounds = measure();
	if (!rounds)
		return 130;
	if (opt.updates) {
		fprintf(stderr, "# updates\n");
		measure_updates(0);
		if (peers)
			measure_updates(peers);
	}
	print_all(rounds, peers);
	if (csv && fclose(csv))
		fail("cannot write ", opt.csv, errno);
	return stress_interrupted ? 130 : 0;
}
