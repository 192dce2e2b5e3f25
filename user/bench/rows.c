// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Makes programs of the compiled rows, as the linker has collected them. */
#include "row.h"

extern const struct row __start_bench_rows[], __stop_bench_rows[];

void flush_lines(const void *begin, size_t nr, size_t size)
{
	const char *p = begin, *end = p + nr * size;

	for (; p < end; p += CACHE_LINE)
		_mm_clflush(p);
	_mm_clflush(end - 1);
	_mm_mfence();
}

const struct program *find_row(const char *group, const char *name, enum layout layout)
{
	size_t i;

	for (i = 0; i < nr_programs; i++)
		if (programs[i].group && programs[i].layout == layout &&
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
		p = (struct program *)find_row(r->group, r->name, r->layout);
		if (!p) {
			p = new_program();
			p->group = r->group;
			p->name = r->name;
			p->text = r->text;
			p->layout = r->layout;
		}
		p->run[r->variant] = r->run;
		p->flush[r->variant] = r->flush;
	}
	for (i = 0; i < nr_programs; i++)
		if (programs[i].group)
			programs[i].base = (struct program *)
				find_row(programs[i].group, "none", programs[i].layout);
}
