// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Which calls are probes.
 *
 * A probe function is one that no object defines and whose name begins with a prefix:
 * __dtrace_PROVIDER___NAME by default, as DTrace has it, or __dtrace_probe_NAME of no provider of
 * its own. Whether a probe is on says __dtraceenabled_PROVIDER___NAME. All that this object has of
 * them are relocations, and each has to be of an instruction that is understood:
 *
 *	e8 PLT32		call
 *	ff 15 GOTPCRELX		call, by the table of addresses (-fno-plt)
 *	e9, ff 25		jmp: a call at a function's end
 *
 * That an instruction begins there is not taken from these bytes alone: all instructions of the
 * function are followed from its begin on. Any other use, a function's address for one, or a jump
 * on a condition, is refused.
 */
#include "jf_sdt.h"

#include <stdlib.h>
#include <string.h>

#include "common/x86/flow.h"

#define NAME_MAX_LENGTH	255

/* --- names ------------------------------------------------------------------------ */

/* "__dtrace_" has "__dtraceenabled_" beside it. 0, or the length of the prefix of the name. */
static size_t after_test(const char *symbol, const char *prefix)
{
	static const char enabled[] = "enabled_";
	size_t len = strlen(prefix);

	while (len && prefix[len - 1] == '_')
		len--;
	if (strncmp(symbol, prefix, len) || strncmp(symbol + len, enabled, sizeof(enabled) - 1))
		return 0;
	return len + sizeof(enabled) - 1;
}

static bool is_probe_name(const struct options *options, const char *symbol, const char **rest, bool *test)
{
	size_t len = after_test(symbol, options->prefix);

	*test = len;
	if (!len && !strncmp(symbol, options->prefix, strlen(options->prefix)))
		len = strlen(options->prefix);
	*rest = symbol + len;
	return len;
}

/* The constants in records and symbols. */
static bool is_plain(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", name[i]))
			return false;
	return i && i <= NAME_MAX_LENGTH;
}

static bool split(struct object *o, const struct options *options, const char *symbol, const char *rest,
		  struct probe *p)
{
	static const char alone[] = "probe_";
	const char *middle = strstr(rest, "___");

	if (middle) {
		p->provider = strndup(rest, (size_t)(middle - rest));
		p->name = strdup(middle + 3);
	} else {
		if (!strncmp(rest, alone, sizeof(alone) - 1))
			rest += sizeof(alone) - 1;
		p->provider = strdup(options->provider);
		p->name = strdup(rest);
	}
	if (!p->provider || !p->name)
		return refuse(o, "no memory");
	if (!is_plain(p->provider) || !is_plain(p->name))
		return refuse(o, "%.300s is the name of no probe", symbol);
	return true;
}

/* --- probes ----------------------------------------------------------------------- */

static bool same(const struct probe *a, const struct probe *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

static void probe_free(struct probe *p)
{
	free(p->provider);
	free(p->name);
}

/* The one that is @p, which is made if it does not exist yet. @p is taken over. */
static bool add_probe(struct object *o, struct found *found, struct probe p, size_t sym, bool test)
{
	size_t i, *of;

	for (i = 0; i < found->num_probes && !same(&found->probes[i], &p); i++)
		;
	if (i < found->num_probes) {
		probe_free(&p);
	} else {
		struct probe *more = realloc(found->probes, (i + 1) * sizeof(*more));

		if (!more) {
			probe_free(&p);
			return refuse(o, "no memory");
		}
		found->probes = more;
		found->probes[found->num_probes++] = p;
	}
	of = test ? &found->probes[i].tested : &found->probes[i].called;
	if (*of)
		return refuse(o, "%.300s has two symbols", symbol_name(o, sym));
	*of = sym;
	return true;
}

/* @of receives for each symbol the number of its probe, from 1 on. */
static bool find_probes(struct object *o, const struct options *options, struct found *found, uint32_t *of)
{
	size_t i;

	for (i = 1; i < symbol_num(o); i++) {
		Elf64_Sym s = symbol_get(o, i);
		const char *name = symbol_name(o, i), *rest;
		struct probe p = { 0 };
		size_t n;
		bool test;

		/* One that is defined is a function like any other. */
		if (s.st_shndx != SHN_UNDEF || !is_probe_name(options, name, &rest, &test))
			continue;
		if (ELF64_ST_BIND(s.st_info) == STB_LOCAL)
			return refuse(o, "%.300s is a local symbol that is not defined", name);
		if (!split(o, options, name, rest, &p)) {
			probe_free(&p);
			return false;
		}
		if (!add_probe(o, found, p, i, test))
			return false;
		for (n = 0; n < found->num_probes; n++)
			if (found->probes[n].called == i || found->probes[n].tested == i)
				of[i] = (uint32_t)n + 1;
	}
	return true;
}

/* --- places ----------------------------------------------------------------------- */

const char *function_at(const struct object *o, size_t sec, uint64_t at, uint64_t *from)
{
	const char *name = section_name(o, sec);
	uint64_t best = 0;
	bool any = false;
	size_t i;

	for (i = 1; o->symtab && i < symbol_num(o); i++) {
		Elf64_Sym s = symbol_get(o, i);
		unsigned char type = ELF64_ST_TYPE(s.st_info);

		if (s.st_shndx != sec || s.st_value > at || (type != STT_FUNC && type != STT_NOTYPE) ||
		    (any && s.st_value < best) || !*symbol_name(o, i))
			continue;
		any = true;
		best = s.st_value;
		name = symbol_name(o, i);
	}
	*from = best;
	return name;
}

static bool refuse_at(struct object *o, size_t sec, uint64_t at, size_t sym, const char *what)
{
	uint64_t from;
	const char *function = function_at(o, sec, at, &from);

	return refuse(o, "%.200s+%#llx: %.200s: %s", function, (unsigned long long)(at - from), symbol_name(o, sym), what);
}

/* The instruction whose last four bytes relocation @r fills in. False: refused. */
static bool understand(struct object *o, const Elf64_Rela *r, bool test, struct site *s)
{
	const struct section *text = &o->secs[s->sec];
	uint32_t type = ELF64_R_TYPE(r->r_info);
	size_t sym = ELF64_R_SYM(r->r_info);
	bool direct = type == R_X86_64_PLT32 || type == R_X86_64_PC32;
	bool table = type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX;
	const uint8_t *p;

	if (!(text->h.sh_flags & SHF_EXECINSTR) || text->h.sh_type != SHT_PROGBITS)
		return refuse_at(o, s->sec, r->r_offset, sym, "its address is kept in data");
	if (r->r_offset > text->size || text->size - r->r_offset < 4)
		return refuse_at(o, s->sec, r->r_offset, sym, "a relocation that is not in its section");
	p = text->data + r->r_offset;
	if (r->r_addend != -4 || (!direct && !table))
		return refuse_at(o, s->sec, r->r_offset, sym, "its address is used, not called");
	if (direct && r->r_offset >= 1 && (p[-1] == 0xe8 || p[-1] == 0xe9)) {
		s->size = 5;
		s->form = p[-1] == 0xe9 ? FORM_TAIL : FORM_CALL;
	} else if (table && r->r_offset >= 2 && p[-2] == 0xff && (p[-1] == 0x15 || p[-1] == 0x25)) {
		s->size = 6;
		s->form = p[-1] == 0x25 ? FORM_TAIL : FORM_CALL;
	} else if (direct && r->r_offset >= 2 && p[-2] == 0x0f && (p[-1] & 0xf0) == 0x80) {
		return refuse_at(o, s->sec, r->r_offset, sym,
				 "a jump on a condition: compile with -fno-optimize-sibling-calls");
	} else {
		return refuse_at(o, s->sec, r->r_offset, sym, "its address is used, not called");
	}
	s->at = r->r_offset + 4 - s->size;
	if (test && s->form == FORM_TAIL)
		return refuse_at(o, s->sec, s->at, sym,
				 "a test at a function's end: compile with -fno-optimize-sibling-calls");
	if (test)
		s->form = FORM_TEST;
	return true;
}

static bool add_site(struct object *o, struct found *found, const struct site *s)
{
	/* Twice as many each time. */
	if (!(found->num_sites & (found->num_sites - 1))) {
		size_t room = found->num_sites ? found->num_sites * 2 : 1;
		struct site *more = realloc(found->sites, room * sizeof(*more));

		if (!more)
			return refuse(o, "no memory");
		found->sites = more;
	}
	found->sites[found->num_sites++] = *s;
	return true;
}

static bool is_debug(const struct object *o, size_t sec)
{
	return !(o->secs[sec].h.sh_flags & SHF_ALLOC);
}

static bool find_in(struct object *o, struct found *found, const uint32_t *of, size_t rela)
{
	size_t sec = o->secs[rela].h.sh_info, i;

	/* Debuggers' data of a function that is not there. */
	if (is_debug(o, sec))
		return true;
	for (i = 0; i < reloc_num(o, rela); i++) {
		Elf64_Rela r = reloc_get(o, rela, i);
		size_t sym = ELF64_R_SYM(r.r_info);
		struct site s = { .sec = sec, .rela = rela, .reloc = i };

		if (!of[sym] || ELF64_R_TYPE(r.r_info) == R_X86_64_NONE)
			continue;
		s.probe = of[sym] - 1;
		if (!understand(o, &r, found->probes[s.probe].tested == sym, &s) || !add_site(o, found, &s))
			return false;
	}
	return true;
}

/* --- instructions ----------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->sec != y->sec)
		return x->sec < y->sec ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static bool not_followed(struct object *o, const struct found *found, const struct site *s)
{
	const struct probe *p = &found->probes[s->probe];

	return refuse_at(o, s->sec, s->at, s->form == FORM_TEST ? p->tested : p->called,
			 "the instructions before it are not understood");
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The addresses of @sec that have names, in order: one more, its end, comes last. */
static uint64_t *begins(struct object *o, size_t sec, size_t *num)
{
	uint64_t *at = malloc((symbol_num(o) + 1) * sizeof(*at));
	size_t i, n = 0;

	if (!at) {
		refuse(o, "no memory");
		return NULL;
	}
	for (i = 1; i < symbol_num(o); i++) {
		Elf64_Sym s = symbol_get(o, i);

		if (s.st_shndx == sec && s.st_value < o->secs[sec].size && ELF64_ST_TYPE(s.st_info) == STT_FUNC)
			at[n++] = s.st_value;
	}
	if (n)
		qsort(at, n, sizeof(*at), by_value);
	at[n++] = UINT64_MAX;
	*num = n;
	return at;
}

/*
 * Instructions from the begin of each function on, until all sites from @first to @last were met.
 */
static bool follow(struct object *o, const struct found *found, size_t first, size_t last)
{
	const struct section *text = &o->secs[found->sites[first].sec];
	uint8_t insn[JF_INSN_LONGEST + 1];
	size_t num, next = 0, i = first;
	uint64_t at = 0, *begin = begins(o, found->sites[first].sec, &num);
	bool ok = begin;

	while (ok && i < last) {
		const struct site *s = &found->sites[i];
		size_t left, length;

		/* The function that the next one is in. */
		while (begin[next] <= s->at)
			at = begin[next] > at ? begin[next++] : (next++, at);
		if (at > s->at) {
			ok = not_followed(o, found, s);
			break;
		}
		left = text->size - at;
		memset(insn, 0xcc, sizeof(insn));
		memcpy(insn, text->data + at, left < sizeof(insn) ? left : sizeof(insn));
		length = jf_insn_length(insn);
		if (!length || length > left || (at == s->at && length != s->size)) {
			ok = not_followed(o, found, s);
			break;
		}
		i += at == s->at;
		at += length;
	}
	free(begin);
	return ok;
}

/* No other relocation, and no other site, is in these bytes. */
static bool check_alone(struct object *o, const struct found *found)
{
	size_t i, rela, n;

	for (i = 1; i < found->num_sites; i++) {
		const struct site *s = &found->sites[i], *before = s - 1;

		if (s->sec == before->sec && s->at < before->at + before->size)
			return not_followed(o, found, s);
	}
	for (rela = 1; rela < o->num; rela++) {
		if (o->secs[rela].h.sh_type != SHT_RELA || is_debug(o, o->secs[rela].h.sh_info))
			continue;
		for (n = 0; n < reloc_num(o, rela); n++) {
			Elf64_Rela r = reloc_get(o, rela, n);
			struct site key = { .sec = o->secs[rela].h.sh_info }, *s;
			unsigned int back;

			for (back = 0; back < 6 && back <= r.r_offset; back++) {
				key.at = r.r_offset - back;
				s = bsearch(&key, found->sites, found->num_sites, sizeof(key), by_place);
				if (s && back < s->size && (s->rela != rela || s->reloc != n) &&
				    ELF64_R_TYPE(r.r_info) != R_X86_64_NONE)
					return not_followed(o, found, s);
			}
		}
	}
	return true;
}

static bool check_instructions(struct object *o, struct found *found)
{
	size_t first, last;

	if (!found->num_sites)
		return true;
	qsort(found->sites, found->num_sites, sizeof(*found->sites), by_place);
	for (first = 0; first < found->num_sites; first = last) {
		for (last = first; last < found->num_sites && found->sites[last].sec == found->sites[first].sec; last++)
			;
		if (!follow(o, found, first, last))
			return false;
	}
	return check_alone(o, found);
}

/* --- all of it -------------------------------------------------------------------- */

/* Its code is made later, from the contents of these. */
static bool is_lto(const struct object *o)
{
	size_t i;

	for (i = 1; i < o->num; i++)
		if (!strncmp(section_name(o, i), ".gnu.lto_", 9) || !strcmp(section_name(o, i), ".llvm.lto"))
			return true;
	return false;
}

bool find_sites(struct object *o, const struct options *options, struct found *found)
{
	uint32_t *of;
	bool ok;
	size_t i;

	memset(found, 0, sizeof(*found));
	if (is_lto(o))
		return refuse(o, "is for link-time optimisation: compile it without -flto");
	if (!o->symtab)
		return true;
	of = calloc(symbol_num(o), sizeof(*of));
	if (!of)
		return refuse(o, "no memory");
	ok = find_probes(o, options, found, of);
	for (i = 1; ok && i < o->num; i++)
		if (o->secs[i].h.sh_type == SHT_RELA)
			ok = find_in(o, found, of, i);
	free(of);
	return ok && check_instructions(o, found);
}

void found_free(struct found *found)
{
	size_t i;

	for (i = 0; i < found->num_probes; i++)
		probe_free(&found->probes[i]);
	free(found->probes);
	free(found->sites);
	memset(found, 0, sizeof(*found));
}
