// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Makes programs of the rows, as the linker has collected them. */
#include "row.h"

const unsigned int layout_sites[] = { FEW, MANY, 1 };

struct program programs[MAX_PROGRAMS];
size_t nr_programs;

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

static struct program *new_program(void)
{
	struct program *p = &programs[nr_programs];

	if (nr_programs++ == MAX_PROGRAMS)
		stress_die(-ENOSPC, "programs");
	p->ticks = calloc(opt.rounds, sizeof(*p->ticks));
	if (!p->ticks)
		stress_die(-ENOMEM, "samples");
	return p;
}

extern const struct row __start_bench_rows[], __stop_bench_rows[];

void flush_lines(const void *begin, size_t nr, size_t size)
{
	const char *p = begin, *end = p + nr * size;

	for (; p < end; p += CACHE_LINE)
		_mm_clflush(p);
	_mm_clflush(end - 1);
	_mm_mfence();
}

const struct program *find_row(const char *group, const char *name, enum layout layout,
			       unsigned int subscribers)
{
	size_t i;

	for (i = 0; i < nr_programs; i++)
		if (programs[i].layout == layout && programs[i].subscribers == subscribers &&
		    !strcmp(programs[i].group, group) && !strcmp(programs[i].name, name))
			return &programs[i];
	return NULL;
}

void add_rows(void)
{
	const struct row *r;
	struct program *p;
	size_t i;

	for (r = __start_bench_rows; r < __stop_bench_rows; r++) {
		if (r->prepare)
			r->prepare();
		p = (struct program *)find_row(r->group, r->name, r->layout, r->subscribers);
		if (!p) {
			p = new_program();
			p->group = r->group;
			p->name = r->name;
			p->text = r->text;
			p->layout = r->layout;
			p->subscribers = r->subscribers;
		}
		p->run[r->variant] = r->run;
		p->flush[r->variant] = r->flush;
	}
	for (i = 0; i < nr_programs; i++)
		programs[i].base = (struct program *)
			find_row(programs[i].group, "none", programs[i].layout, 0);
}
