// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The programs that are measured, assembled at run time: the codec and the engine
 * that patch them are those of the kernel module.
 */
#include "bench.h"
#include "image.h"

const unsigned int layout_sites[] = { 1, FEW, MANY };

/* What each shape is compared with: a program of the same blocks without a site. */
enum shape shape_base(enum shape shape)
{
	if (shape <= LFENCE)
		return NONE;
	if (shape <= TEST_HOT)
		return BODY;
	return shape <= TEST_COLD ? BODY_COLD : ARGS;
}

/* What @array holds: as a tracepoint's array in the kernel. */
struct subscriber {
	uint64_t func, data;
};

struct program programs[MAX_PROGRAMS];
size_t nr_programs;
static struct jf_text *text;
static uint8_t *cursor;

uint64_t targets[MANY];
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

void shuffle(unsigned int *order, unsigned int n)
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
uint8_t *begin(struct jf_emit *e)
{
	static uint8_t buf[1 << 20];

	jf_emit_init(e, buf, sizeof(buf), (uintptr_t)cursor);
	return cursor;
}

/* An image or a trampoline of its own for each site, in the text's other half. */
static uint8_t *helper_at;

void *finish(struct jf_emit *e)
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
	stress_die(jf_image_emit(&image, list, b->p->subscribers, 2, false), "image");
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

	if (shape_base(p->shape) == NONE)
		emit_call_block(&b);
	else if (shape_base(p->shape) == ARGS)
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

struct program *new_program(void)
{
	struct program *p = &programs[nr_programs];

	if (nr_programs++ == MAX_PROGRAMS)
		stress_die(-ENOSPC, "programs");
	p->ticks = calloc(opt.rounds, sizeof(*p->ticks));
	if (!p->ticks)
		stress_die(-ENOMEM, "samples");
	return p;
}

static void flush_flags(void)
{
	flush_lines(cold_flags, MANY, CACHE_LINE);
}

static struct program *add(enum shape shape, enum layout layout, unsigned int subscribers)
{
	struct program *p = new_program();
	unsigned int v;
	size_t i;

	p->shape = shape;
	p->layout = layout;
	p->subscribers = subscribers;
	for (i = 0; i < nr_programs; i++)
		if (programs[i].shape == shape_base(shape) && programs[i].layout == layout)
			p->base = &programs[i];
	for (v = 0; v < VARIANTS; v++) {
		make_program(p, v);
		p->flush[v] = shape_base(shape) == BODY_COLD ? flush_flags : NULL;
	}
	return p;
}

static void add_programs(void)
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

void make_programs(void)
{
	text = jf_text_create(TEXT_SIZE, (const void *)make_programs);
	if (!text)
		stress_die(-errno, "no memory for code near the program");
	cursor = (uint8_t *)(((uintptr_t)jf_text_base(text) + 4095) & ~4095UL);
	helper_at = cursor + TEXT_SIZE / 2;
	memset(cold_flags, 0, sizeof(cold_flags));
	make_common();
	add_programs();
}
