// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * An object file of a program: nops where probes were called, and what <sys/sdt.h> of jumpfunc
 * writes for a probe.
 *
 *	was			while off		while on
 *	call f			nopl 0(%rax,%rax)	call enter
 *	call *f@GOT		cs nopl 0(%rax,%rax)	cs call enter
 *	jmp f			ret, 4 × int3		jmp enter
 *	jmp *f@GOT		ret, 5 × int3		jmp enter, int3
 *	call f_enabled		mov $0, %eax		mov $1, %eax
 *
 * Each is one instruction in both states. So no thread can be stopped in the middle of the changed
 * instructions, as it could be between an "xor %eax, %eax" and the nops after it.
 *
 * A section for each probe, in a group of the probe's name, has its struct jf_sdt: the linker keeps
 * one of all objects. So has the struct jf_object with its constructor; that of <sys/sdt.h> is the
 * same, in the same group.
 *
 * Records of sites are the object's own, whatever other objects are like, and whatever names its
 * functions have got: they refer to the section that the sites are in by a local symbol,
 * which no linker takes for that of another object, and are in that section's group, if it has one.
 * That section refers to its records, so linkers that remove unreferenced sections keep both or
 * none.
 *
 * The code at "enter" is the object's own, too: it loads the address of the probe's struct jf_sdt,
 * and goes on to code that is common to all, which keeps the arguments that registers have, as the
 * call passed them, and calls __jf_sdt_hit(). All other registers are those that a call may change.
 *
 * The symbol of the function becomes the symbol of the struct jf_sdt: no object has to define
 * the function. Local symbols come before all others, which get other numbers for that.
 */
#include "jf_sdt.h"

#include <stdlib.h>
#include <string.h>

/* <jumpfunc/detail/types.h>, <jumpfunc/sdt.h>; user/lib/sdt.c compares. */
#define TABLE_MAGIC	0x6a660004
#define TABLE_REC_SIZE	(16 | 24 << 16)
#define ENT_FLAGS	0x210	/* JF_ENT_TRACE | JF_ENT_SDT */
#define SITE_CALL	0x82	/* JF_SITE_BRANCH | JF_SITE_PROBE */
#define SITE_PREFIX	0x40
#define SITE_TAIL	0x100
#define SITE_TEST	0x200
#define KEY_ENT		8
#define KEY_SIZE	64
#define NARGS		6
#define NUM_WORDS	14

enum { OF_KEY_NAME = 8, OF_KEY_OWNER = 16, OF_ENT_TYPE = 24, OF_ENT_FLAGS = 26,
	OF_TP_NAME = 64, OF_TP_OWNER = 72, OF_TP_KEY = 80, OF_TP_NARGS = 104,
	OF_VERSION = 152, OF_CODE = 156, OF_NAME = 172 };

static void put16(uint8_t *to, unsigned int value)
{
	to[0] = value & 0xff;
	to[1] = value >> 8 & 0xff;
}

static void put32(uint8_t *to, uint32_t value)
{
	put16(to, value);
	put16(to + 2, value >> 16);
}

/* --- instructions of a site --------------------------------------------------------- */

static bool write_off(struct object *o, const struct site *s)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0, 0 }, zero[] = { 0xb8, 0, 0, 0, 0 };
	uint8_t *text = section_own(o, s->sec), *at;

	if (!text)
		return false;
	at = text + s->at;
	if (s->form == FORM_TAIL) {
		memset(at, 0xcc, s->size);
		at[0] = 0xc3;
		return true;
	}
	/* cs, which means nothing here. */
	if (s->size == 6)
		*at++ = 0x2e;
	memcpy(at, s->form == FORM_TEST ? zero : nop, 5);
	return true;
}

/* Nothing is put there any more. But which probe it is stays to be seen in the object. */
static bool drop_relocs(struct object *o, const struct found *found)
{
	size_t i;

	for (i = 0; i < found->num_sites; i++) {
		const struct site *s = &found->sites[i];
		uint8_t *own = section_own(o, s->rela);
		Elf64_Rela r;

		if (!own)
			return false;
		own += s->reloc * sizeof(r);
		memcpy(&r, own, sizeof(r));
		r.r_info = ELF64_R_INFO((uint64_t)found->probes[s->probe].sdt, R_X86_64_NONE);
		r.r_addend = 0;
		memcpy(own, &r, sizeof(r));
	}
	return true;
}

/* --- sections ----------------------------------------------------------------------- */

/* The new sections, and their places. */
struct maker {
	struct object	*o;
	struct found	*found;
	size_t		object;		/* symbols */
	size_t		common;
	size_t		calls;
	size_t		unused;		/* the next local one */
	size_t		*local;		/* of each section of the file that has sites: its symbol */
	size_t		*records;	/* of each section: the section of its records */
	size_t		*relocs;	/* of each section: the section of its relocations */
	size_t		max;
};

#define WEAK_OBJECT	ELF64_ST_INFO(STB_WEAK, STT_OBJECT)
#define WEAK_FUNC	ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define WEAK		ELF64_ST_INFO(STB_WEAK, STT_NOTYPE)
#define GLOBAL		ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)

/* A symbol of this name, which may be there already. */
static size_t symbol(struct maker *m, const char *name, unsigned char info, unsigned char other)
{
	size_t sym = symbol_find(m->o, name);

	return sym ? sym : symbol_add(m->o, name, info, other, SHN_UNDEF, 0, 0);
}

static bool define(struct maker *m, size_t sym, size_t sec, uint64_t value, uint64_t size)
{
	Elf64_Sym s = symbol_get(m->o, sym);

	s.st_shndx = (uint16_t)sec;
	s.st_value = value;
	s.st_size = size;
	return symbol_set(m->o, sym, s);
}

/* A local one of a section. */
static size_t local_symbol(struct maker *m, size_t sec)
{
	Elf64_Sym s = { .st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = (uint16_t)sec };

	return symbol_set(m->o, m->unused, s) ? m->unused++ : 0;
}

static size_t group(struct maker *m, size_t signature)
{
	static const uint32_t comdat = GRP_COMDAT;
	size_t sec = section_add(m->o, ".group", SHT_GROUP, 0, 4);

	if (!sec || !section_append(m->o, sec, &comdat, sizeof(comdat)))
		return 0;
	m->o->secs[sec].h.sh_link = (uint32_t)m->o->symtab;
	m->o->secs[sec].h.sh_info = (uint32_t)signature;
	m->o->secs[sec].h.sh_entsize = 4;
	return sec;
}

static bool join(struct maker *m, size_t sec, size_t into)
{
	uint32_t nr = (uint32_t)sec;

	if (!into)
		return true;
	m->o->secs[sec].h.sh_flags |= SHF_GROUP;
	return section_append(m->o, into, &nr, sizeof(nr));
}

/* A section of @into, if that is not 0. */
static size_t part(struct maker *m, const char *name, uint32_t type, uint64_t flags, uint64_t align, size_t into)
{
	size_t sec = section_add(m->o, name, type, flags, align);

	return sec && join(m, sec, into) ? sec : 0;
}

static size_t group_of(const struct object *o, size_t sec)
{
	size_t i, n;

	if (!(o->secs[sec].h.sh_flags & SHF_GROUP))
		return 0;
	for (i = 1; i < o->num; i++) {
		if (o->secs[i].h.sh_type != SHT_GROUP)
			continue;
		for (n = 4; n + 4 <= o->secs[i].size; n += 4) {
			uint32_t nr;

			memcpy(&nr, o->secs[i].data + n, sizeof(nr));
			if (nr == sec)
				return i;
		}
	}
	return 0;
}

static bool reloc(struct maker *m, size_t sec, uint64_t at, uint32_t type, size_t sym, int64_t addend)
{
	Elf64_Rela r = { at, ELF64_R_INFO((uint64_t)sym, type), addend };
	char name[300];
	size_t rela;

	if (!sym)
		return refuse(m->o, "no memory");
	if (sec >= m->max) {
		size_t max = sec * 2 + 64, *more = realloc(m->relocs, max * sizeof(*more));

		if (!more)
			return refuse(m->o, "no memory");
		memset(more + m->max, 0, (max - m->max) * sizeof(*more));
		m->relocs = more;
		m->max = max;
	}
	if (!m->relocs[sec]) {
		snprintf(name, sizeof(name), ".rela%.200s", section_name(m->o, sec));
		rela = part(m, name, SHT_RELA, SHF_INFO_LINK, 8, group_of(m->o, sec));
		if (!rela)
			return false;
		m->o->secs[rela].h.sh_link = (uint32_t)m->o->symtab;
		m->o->secs[rela].h.sh_info = (uint32_t)sec;
		m->o->secs[rela].h.sh_entsize = sizeof(r);
		m->relocs[sec] = rela;
	}
	return section_append(m->o, m->relocs[sec], &r, sizeof(r));
}

/* --- unwinding ---------------------------------------------------------------------- */

/*
 * Of code at @sym of so many bytes: of the called function, and with @frame more bytes of stack
 * from @down to @up. That is the whole of .eh_frame for it.
 */
static bool unwind(struct maker *m, size_t sym, size_t size, size_t frame, size_t down, size_t up, size_t into)
{
	static const uint8_t cie[24] = {
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
		0x0c, 7, 8, 0x90, 1, 0, 0,
	};
	uint8_t fde[32] = { 28 };
	size_t sec = part(m, ".eh_frame", SHT_X86_64_UNWIND, SHF_ALLOC, 8, into);

	put32(fde + 4, sizeof(cie) + 4);
	put32(fde + 12, (uint32_t)size);
	if (frame) {
		fde[17] = 0x40 | (uint8_t)down;		/* advance */
		fde[18] = 0x0e;				/* the frame's size */
		fde[19] = (uint8_t)((frame + 8) & 0x7f) | 0x80;
		fde[20] = (uint8_t)((frame + 8) >> 7);
		fde[21] = 0x02;				/* advance by more */
		fde[22] = (uint8_t)(up - down);
		fde[23] = 0x0e;
		fde[24] = 8;
	}
	return sec && section_append(m->o, sec, cie, sizeof(cie)) && section_append(m->o, sec, fde, sizeof(fde)) &&
	       reloc(m, sec, sizeof(cie) + 8, R_X86_64_PC32, sym, 0);
}

/* --- the object --------------------------------------------------------------------- */

/* The constructor and the destructor. */
static bool make_calls(struct maker *m, size_t into)
{
	static const uint8_t code[] = {
		0xf3, 0x0f, 0x1e, 0xfa,		/* endbr64 */
		0x48, 0x8d, 0x3d, 0, 0, 0, 0,	/* lea object(%rip), %rdi */
		0xe9, 0, 0, 0, 0,		/* jmp function */
	};
	static const char *const names[][3] = {
		{ "__jf_sdt_begins", ".init_array.00101", "__jf_object_register" },
		{ "__jf_sdt_ends", ".fini_array.00101", "__jf_object_unregister" },
	};
	static const uint8_t zero[8];
	size_t text = part(m, ".text.jumpfunc_sdt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 1, into), i;

	if (!text)
		return false;
	for (i = 0; i < 2; i++) {
		size_t at = i * sizeof(code);
		size_t begin = symbol(m, names[i][0], WEAK_FUNC, STV_HIDDEN);
		size_t array = part(m, names[i][1], i ? SHT_FINI_ARRAY : SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE, 8, into);

		if (!begin || !array || !section_append(m->o, text, code, sizeof(code)) ||
		    !section_append(m->o, array, zero, sizeof(zero)) || !define(m, begin, text, at, sizeof(code)) ||
		    !reloc(m, text, at + 7, R_X86_64_PC32, m->object, -4) ||
		    !reloc(m, text, at + 12, R_X86_64_PLT32, symbol(m, names[i][2], GLOBAL, 0), -4) ||
		    !reloc(m, array, 0, R_X86_64_64, begin, 0))
			return false;
	}
	return true;
}

/* struct jf_object */
static bool make_object(struct maker *m)
{
	static const char *const of[] = { "__jf_sites", "__jf_sites_on", "__jf_sites_now", "__jf_ents" };
	uint8_t bytes[80] = { 0 };
	char name[64];
	size_t sec, into, i;

	m->object = symbol(m, "__jf_sdt_object", WEAK_OBJECT, STV_HIDDEN);
	if (!m->object)
		return false;
	/* By the header, which makes the same. */
	if (symbol_get(m->o, m->object).st_shndx != SHN_UNDEF)
		return true;
	into = group(m, m->object);
	sec = into ? part(m, ".data.jumpfunc_sdt", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, into) : 0;
	put32(bytes, TABLE_MAGIC);
	put32(bytes + 4, TABLE_REC_SIZE);
	if (!sec || !section_append(m->o, sec, bytes, sizeof(bytes)) || !define(m, m->object, sec, 0, sizeof(bytes)))
		return false;
	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "%s%s", i % 2 ? "__stop_" : "__start_", of[i / 2]);
		if (!reloc(m, sec, 8 + i * 8, R_X86_64_64, symbol(m, name, WEAK, STV_HIDDEN), 0))
			return false;
	}
	return make_calls(m, into);
}

/* --- the calls of subscribers -------------------------------------------------------- */

/* %rax is the struct jf_sdt. The stack is as after a call. */
static bool make_common(struct maker *m)
{
	static const uint8_t code[] = {
		0x48, 0x81, 0xec, 0x88, 0, 0, 0,	/* sub $136, %rsp */
		0x48, 0x89, 0x3c, 0x24,			/* mov %rdi, (%rsp) */
		0x48, 0x89, 0x74, 0x24, 8,		/* mov %rsi, 8(%rsp) */
		0x48, 0x89, 0x54, 0x24, 16,		/* mov %rdx, 16(%rsp) */
		0x48, 0x89, 0x4c, 0x24, 24,		/* mov %rcx, 24(%rsp) */
		0x4c, 0x89, 0x44, 0x24, 32,		/* mov %r8, 32(%rsp) */
		0x4c, 0x89, 0x4c, 0x24, 40,		/* mov %r9, 40(%rsp) */
		0x66, 0x0f, 0xd6, 0x44, 0x24, 48,	/* movq %xmm0, 48(%rsp) */
		0x66, 0x0f, 0xd6, 0x4c, 0x24, 56,	/* movq %xmm1, 56(%rsp) */
		0x66, 0x0f, 0xd6, 0x54, 0x24, 64,	/* movq %xmm2, 64(%rsp) */
		0x66, 0x0f, 0xd6, 0x5c, 0x24, 72,	/* movq %xmm3, 72(%rsp) */
		0x66, 0x0f, 0xd6, 0x64, 0x24, 80,	/* movq %xmm4, 80(%rsp) */
		0x66, 0x0f, 0xd6, 0x6c, 0x24, 88,	/* movq %xmm5, 88(%rsp) */
		0x66, 0x0f, 0xd6, 0x74, 0x24, 96,	/* movq %xmm6, 96(%rsp) */
		0x66, 0x0f, 0xd6, 0x7c, 0x24, 104,	/* movq %xmm7, 104(%rsp) */
		0x48, 0x89, 0xc7,			/* mov %rax, %rdi */
		0x48, 0x89, 0xe6,			/* mov %rsp, %rsi */
		0xe8, 0, 0, 0, 0,			/* call __jf_sdt_hit */
		0x48, 0x81, 0xc4, 0x88, 0, 0, 0,	/* add $136, %rsp */
		0xc3,					/* ret */
	};
	enum { CALL = sizeof(code) - 13, UP = sizeof(code) - 1 };
	size_t into, sec;

	m->common = symbol(m, "__jf_sdt_enter", WEAK_FUNC, STV_HIDDEN);
	into = m->common ? group(m, m->common) : 0;
	sec = into ? part(m, ".text.jumpfunc_sdt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16, into) : 0;
	return sec && section_append(m->o, sec, code, sizeof(code)) && define(m, m->common, sec, 0, sizeof(code)) &&
	       reloc(m, sec, CALL + 1, R_X86_64_PLT32, symbol(m, "__jf_sdt_hit", GLOBAL, 0), -4) &&
	       unwind(m, m->common, sizeof(code), 136, 7, UP, into);
}

#define ENTER_SIZE	12

static bool is_called(const struct found *found, size_t probe)
{
	return found->probes[probe].called;
}

static bool make_enters(struct maker *m)
{
	static const uint8_t code[ENTER_SIZE] = {
		0x48, 0x8d, 0x05, 0, 0, 0, 0,		/* lea sdt(%rip), %rax */
		0xe9, 0, 0, 0, 0,			/* jmp common */
	};
	size_t sec, i, at = 0;
	Elf64_Sym s;

	sec = part(m, ".text.jumpfunc_sdt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 4, 0);
	m->calls = sec ? local_symbol(m, sec) : 0;
	if (!m->calls)
		return false;
	for (i = 0; i < m->found->num_probes; i++) {
		struct probe *p = &m->found->probes[i];

		if (!is_called(m->found, i))
			continue;
		p->enter = at;
		if (!section_append(m->o, sec, code, sizeof(code)) ||
		    !reloc(m, sec, at + 3, R_X86_64_PC32, p->sdt, -4) ||
		    !reloc(m, sec, at + 8, R_X86_64_PLT32, m->common, -4))
			return false;
		at += sizeof(code);
	}
	/* For backtraces. */
	s = symbol_get(m->o, m->calls);
	s.st_name = symbol_string(m->o, "__jf_sdt_calls");
	s.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	s.st_size = at;
	return s.st_name && symbol_set(m->o, m->calls, s) && unwind(m, m->calls, at, 0, 0, 0, 0);
}

/* --- probes ------------------------------------------------------------------------- */

/*
 * The symbol of @p's function, or of its test, is its struct's now; the rest of these has no
 * meaning.
 */
static bool rename_symbols(struct maker *m, struct probe *p)
{
	size_t old[] = { p->called, p->tested }, i;
	char name[600], other[640];

	snprintf(name, sizeof(name), "__jf_sdt_call.%s.%s", p->provider, p->name);
	snprintf(other, sizeof(other), "%s.on", name);
	for (i = 0; i < 2; i++) {
		Elf64_Sym s;

		if (!old[i])
			continue;
		s = symbol_get(m->o, old[i]);
		s.st_name = symbol_string(m->o, p->sdt ? other : name);
		s.st_info = WEAK_OBJECT;
		s.st_other = STV_HIDDEN;
		if (!s.st_name || !symbol_set(m->o, old[i], s))
			return false;
		if (!p->sdt)
			p->sdt = old[i];
	}
	return true;
}

/* struct jf_sdt, and its record */
static bool make_sdt(struct maker *m, struct probe *p)
{
	static const uint8_t record[24] = { [16] = 1, [20] = KEY_SIZE };
	size_t size = OF_NAME + strlen(p->provider) + 1 + strlen(p->name) + 1, into, sec, recs, i;
	uint8_t bytes[OF_NAME + 600] = { 0 };

	if (size > sizeof(bytes) || !rename_symbols(m, p))
		return refuse(m->o, "no memory");
	put16(bytes + OF_ENT_TYPE, 1);
	put16(bytes + OF_ENT_FLAGS, ENT_FLAGS);
	put32(bytes + OF_TP_NARGS, NARGS);
	put32(bytes + OF_VERSION, 1);
	/* Words of all registers that may have arguments: their types are not known. */
	for (i = 0; i < NUM_WORDS; i++)
		bytes[OF_CODE + i] = i < NARGS ? 8 : 8 | 0x20;
	snprintf((char *)bytes + OF_NAME, sizeof(bytes) - OF_NAME, "%s:%s", p->provider, p->name);
	into = group(m, p->sdt);
	sec = into ? part(m, ".data.jumpfunc_sdt", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 32, into) : 0;
	recs = sec ? part(m, "__jf_ents", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, into) : 0;
	return recs && section_append(m->o, sec, bytes, size) && define(m, p->sdt, sec, 0, size) &&
	       (!p->tested || p->tested == p->sdt || define(m, p->tested, sec, 0, 0)) &&
	       section_append(m->o, recs, record, sizeof(record)) &&
	       reloc(m, sec, OF_KEY_NAME, R_X86_64_64, p->sdt, OF_NAME) &&
	       reloc(m, sec, OF_KEY_OWNER, R_X86_64_64, m->object, 0) &&
	       reloc(m, sec, OF_TP_NAME, R_X86_64_64, p->sdt, OF_NAME) &&
	       reloc(m, sec, OF_TP_OWNER, R_X86_64_64, m->object, 0) &&
	       reloc(m, sec, OF_TP_KEY, R_X86_64_64, p->sdt, 0) && reloc(m, recs, 0, R_X86_64_64, p->sdt, KEY_ENT);
}

/* --- sites -------------------------------------------------------------------------- */

/* The section for records of sites in @s->sec. */
static size_t records_of(struct maker *m, const struct site *s)
{
	size_t recs = m->records[s->sec];
	Elf64_Rela r = { .r_offset = s->at + s->size - 4 };

	if (recs)
		return recs;
	recs = part(m, "__jf_sites", SHT_PROGBITS, SHF_ALLOC, 4, group_of(m->o, s->sec));
	r.r_info = ELF64_R_INFO((uint64_t)m->unused, R_X86_64_NONE);
	if (!recs || !local_symbol(m, recs) || !section_append(m->o, s->rela, &r, sizeof(r)))
		return 0;
	m->records[s->sec] = recs;
	return recs;
}

static bool make_record(struct maker *m, const struct site *s)
{
	const struct probe *p = &m->found->probes[s->probe];
	size_t text = m->local[s->sec], recs = records_of(m, s), at;
	bool prefix = s->size == 6 && s->form != FORM_TAIL;
	uint8_t bytes[16] = { 0 };
	int64_t site;

	if (!recs)
		return false;
	site = (int64_t)(s->at + prefix - symbol_get(m->o, text).st_value);
	at = m->o->secs[recs].size;
	put32(bytes + 12, SITE_CALL | (prefix ? SITE_PREFIX : 0) | (s->form == FORM_TAIL ? SITE_TAIL : 0) |
	      (s->form == FORM_TEST ? SITE_TEST : 0));
	if (!section_append(m->o, recs, bytes, sizeof(bytes)) ||
	    !reloc(m, recs, at, R_X86_64_PC32, text, site) ||
	    !reloc(m, recs, at + 8, R_X86_64_PC32, p->sdt, KEY_ENT))
		return false;
	/* Of a test it is the site itself. */
	if (s->form == FORM_TEST)
		return reloc(m, recs, at + 4, R_X86_64_PC32, text, site);
	return reloc(m, recs, at + 4, R_X86_64_PC32, m->calls, (int64_t)p->enter);
}

/* --- all of it ---------------------------------------------------------------------- */

/* The symbols that sections have. */
static void find_local(struct maker *m)
{
	size_t i;

	for (i = 1; i < m->o->secs[m->o->symtab].h.sh_info; i++) {
		Elf64_Sym s = symbol_get(m->o, i);

		if (ELF64_ST_TYPE(s.st_info) == STT_SECTION && s.st_shndx && s.st_shndx < m->o->num)
			m->local[s.st_shndx] = i;
	}
}

/*
 * Not all assemblers write one for each section. New sections get one where it is needed: records,
 * and "enter".
 */
static bool make_local(struct maker *m)
{
	size_t i, num = 1, last = 0;

	find_local(m);
	/* Sorted by sections. */
	for (i = 0; i < m->found->num_sites; i++) {
		size_t sec = m->found->sites[i].sec;

		num += sec == last ? 0 : 1 + !m->local[sec];
		last = sec;
	}
	m->unused = symbols_insert(m->o, num);
	if (!m->unused)
		return false;
	for (i = 0; i < m->found->num_probes; i++) {
		struct probe *p = &m->found->probes[i];

		p->called += p->called ? num : 0;
		p->tested += p->tested ? num : 0;
	}
	for (i = 0; i < m->found->num_sites; i++) {
		size_t *local = &m->local[m->found->sites[i].sec];

		if (!*local)
			*local = local_symbol(m, m->found->sites[i].sec);
		if (!*local)
			return false;
	}
	return true;
}

static bool make(struct maker *m)
{
	struct object *o = m->o;
	size_t i;

	m->local = calloc(o->num, sizeof(*m->local));
	m->records = calloc(o->num, sizeof(*m->records));
	if (!m->local || !m->records)
		return refuse(o, "no memory");
	if (!make_local(m) || !make_object(m) || !make_common(m))
		return false;
	for (i = 0; i < m->found->num_probes; i++)
		if (!make_sdt(m, &m->found->probes[i]))
			return false;
	if (!drop_relocs(o, m->found) || !make_enters(m))
		return false;
	for (i = 0; i < m->found->num_sites; i++)
		if (!write_off(o, &m->found->sites[i]) || !make_record(m, &m->found->sites[i]))
			return false;
	return true;
}

bool make_probes(struct object *o, struct found *found)
{
	struct maker m = { .o = o, .found = found };
	bool ok = make(&m);

	free(m.local);
	free(m.records);
	free(m.relocs);
	return ok || refuse(o, "no memory");
}
