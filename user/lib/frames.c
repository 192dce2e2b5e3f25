// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The description of dispatch images, which no file describes, for other tools: call frame
 * information, a small object file around it, a line for perf.
 *
 * - Unwinders in the process (backtrace(), exceptions, cancellation) get the frame
 *   information by __register_frame_info() of libgcc, if the program has that. Unlike
 *   __register_frame() it needs no memory, which that one does not check for; that of
 *   GCC 13 and later takes some of malloc(), which the manual says.
 * - gdb finds a list of object files in memory, at a name that it knows: each has
 *   one symbol and the frame information.
 * - perf reads /tmp/perf-PID.map, if JUMPFUNC_PERF_MAP is set.
 *
 * An image pushes the registers that keep its arguments, calls, and pops them; all
 * else is a chain of calls in between.
 */
#include "lib.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames.h"

/* From libgcc, in programs that have it. */
extern void __register_frame_info(const void *frames, void *record) __attribute__((__weak__));
extern void *__deregister_frame_info(const void *frames) __attribute__((__weak__));

/* --- gdb's interface, by its names ------------------------------------------------ */

struct jit_code_entry {
	struct jit_code_entry *next, *prev;
	const char *file;
	uint64_t size;
};

struct jit_descriptor {
	uint32_t version, action;
	struct jit_code_entry *relevant, *first;
};

enum { JIT_NOACTION, JIT_REGISTER, JIT_UNREGISTER };

/* Static: other libraries that make code use these names, too. gdb searches each object. */
static struct jit_descriptor __jit_debug_descriptor
	__attribute__((__used__)) = { 1, JIT_NOACTION, NULL, NULL };

/* gdb has a breakpoint here. */
__attribute__((__noinline__, __used__)) static void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

/* --- call frame information ---------------------------------------------------------- */

/* In the order in which image.h pushes them: rbx, rbp, r12, r13, r14. */
static const struct {
	uint8_t number, push;
} saved[] = { { 3, 1 }, { 6, 1 }, { 12, 2 }, { 13, 2 }, { 14, 2 } };
#define MAX_SAVED	(sizeof(saved) / sizeof(saved[0]))

#define CFI_MAX		256

struct cfi {
	uint8_t bytes[CFI_MAX];
	size_t used;
};

static void put(struct cfi *c, const void *bytes, size_t size)
{
	if (c->used + size <= CFI_MAX)
		memcpy(c->bytes + c->used, bytes, size);
	c->used += size;
}

static void put_byte(struct cfi *c, unsigned int byte)
{
	uint8_t b = (uint8_t)byte;

	put(c, &b, 1);
}

static void put_64(struct cfi *c, uint64_t value)
{
	put(c, &value, sizeof(value));
}

/* Pads with nops to a multiple of 8 after the length at @at, and writes that. */
static void end_entry(struct cfi *c, size_t at)
{
	uint32_t length;

	while ((c->used - at) % 8)
		put_byte(c, 0);
	length = (uint32_t)(c->used - at - 4);
	if (c->used <= CFI_MAX)
		memcpy(c->bytes + at, &length, sizeof(length));
}

static void advance(struct cfi *c, size_t bytes)
{
	uint16_t two = (uint16_t)bytes;

	put_byte(c, 0x03);		/* DW_CFA_advance_loc2 */
	put(c, &two, sizeof(two));
}

/* The return address is at the canonical frame address - 8, that is %rsp + offset. */
static void cfa_offset(struct cfi *c, unsigned int offset)
{
	put_byte(c, 0x0e);		/* DW_CFA_def_cfa_offset */
	put_byte(c, offset);
}

static void make_cfi(struct cfi *c, const struct jf_frame *f)
{
	static const uint8_t cie[] = {
		0, 0, 0, 0, 0, 0, 0, 0,	/* length, and 0: a CIE */
		1, 'z', 'R', 0,		/* version, augmentation */
		1, 0x78, 16,		/* code 1, data -8, return address: column 16 */
		1, 0x00,		/* pointers are absolute */
		0x0c, 7, 8,		/* DW_CFA_def_cfa: %rsp + 8 */
		0x90, 1,		/* DW_CFA_offset: column 16 at -8 */
	};
	unsigned int offset = 8, i;
	uint32_t back;
	size_t at, done = 0;

	put(c, cie, sizeof(cie));
	end_entry(c, 0);
	at = c->used;
	put(c, "\0\0\0\0", 4);
	back = (uint32_t)c->used;
	put(c, &back, sizeof(back));	/* from here back to the CIE */
	put_64(c, f->addr);
	put_64(c, f->size);
	put_byte(c, 0);			/* no more augmentation */
	for (i = 0; i < f->nr_args; i++) {
		advance(c, saved[i].push);
		done += saved[i].push;
		cfa_offset(c, offset += 8);
		put_byte(c, 0x80 | saved[i].number);	/* DW_CFA_offset */
		put_byte(c, offset / 8);
	}
	if (f->pad) {
		advance(c, 4);
		done += 4;
		cfa_offset(c, offset += 8);
		advance(c, f->epilogue + 4 - done);
		cfa_offset(c, offset -= 8);
	}
	for (; i-- > 0;) {
		advance(c, saved[i].push + (f->pad || i + 1 < f->nr_args ? 0 : f->epilogue - done));
		cfa_offset(c, offset -= 8);
		put_byte(c, 0xc0 | saved[i].number);	/* DW_CFA_restore */
	}
	end_entry(c, at);
	put(c, "\0\0\0\0", 4);		/* the end of all */
}

/* --- an object file in memory --------------------------------------------------------- */

enum { SH_NULL, SH_TEXT, SH_FRAME, SH_SYMBOLS, SH_NAMES, NR_SECTIONS };

static const char names[] = "\0.text\0.eh_frame\0.symtab\0.strtab\0jf_image";
#define NAME_SYMBOL	33

struct object {
	Elf64_Ehdr header;
	Elf64_Shdr sections[NR_SECTIONS];
	Elf64_Sym symbols[2];
	char names[sizeof(names)];
	uint8_t frames[CFI_MAX] __attribute__((__aligned__(8)));
};

struct jf_unwind {
	struct object object;
	struct jit_code_entry entry;
	/* libgcc's, of six to eight words. */
	uintptr_t record[16];
};

static void make_object(struct object *o, const struct jf_frame *f, const struct cfi *c)
{
	static const unsigned char ident[EI_NIDENT] = {
		ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
	};
	static const struct {
		uint32_t name, type;
		size_t at, size, entry;
	} sections[NR_SECTIONS] = {
		[SH_TEXT] = { 1, SHT_NOBITS, 0, 0, 0 },
		[SH_FRAME] = { 7, SHT_PROGBITS, offsetof(struct object, frames), CFI_MAX, 0 },
		[SH_SYMBOLS] = { 17, SHT_SYMTAB, offsetof(struct object, symbols),
				 sizeof(o->symbols), sizeof(Elf64_Sym) },
		[SH_NAMES] = { 25, SHT_STRTAB, offsetof(struct object, names), sizeof(names), 0 },
	};
	int i;

	memcpy(o->header.e_ident, ident, sizeof(ident));
	o->header.e_type = ET_EXEC;
	o->header.e_machine = EM_X86_64;
	o->header.e_version = EV_CURRENT;
	o->header.e_ehsize = sizeof(o->header);
	o->header.e_shoff = offsetof(struct object, sections);
	o->header.e_shentsize = sizeof(Elf64_Shdr);
	o->header.e_shnum = NR_SECTIONS;
	o->header.e_shstrndx = SH_NAMES;
	for (i = 1; i < NR_SECTIONS; i++) {
		o->sections[i].sh_name = sections[i].name;
		o->sections[i].sh_type = sections[i].type;
		o->sections[i].sh_offset = sections[i].at;
		o->sections[i].sh_size = sections[i].size;
		o->sections[i].sh_entsize = sections[i].entry;
		o->sections[i].sh_addralign = 8;
	}
	o->sections[SH_TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	o->sections[SH_TEXT].sh_addr = f->addr;
	o->sections[SH_TEXT].sh_size = f->size;
	o->sections[SH_FRAME].sh_flags = SHF_ALLOC;
	o->sections[SH_FRAME].sh_addr = (uintptr_t)o->frames;
	o->sections[SH_FRAME].sh_size = c->used;
	o->sections[SH_SYMBOLS].sh_link = SH_NAMES;
	o->sections[SH_SYMBOLS].sh_info = 1;
	o->symbols[1].st_name = NAME_SYMBOL;
	o->symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	o->symbols[1].st_shndx = SH_TEXT;
	/* In a file that is not relocatable, an address. */
	o->symbols[1].st_value = f->addr;
	o->symbols[1].st_size = f->size;
	memcpy(o->names, names, sizeof(names));
	memcpy(o->frames, c->bytes, c->used);
}

/* --- perf --------------------------------------------------------------------------------- */

bool jf_perf_tell(uintptr_t addr, size_t size)
{
	char path[64], line[96];
	bool told = false;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)getpid());
	snprintf(line, sizeof(line), "%lx %lx jf_image\n", (unsigned long)addr,
		 (unsigned long)size);
	/*
	 * Other users may write to this folder, too, and know the name: no link of theirs
	 * is followed, we do not wait for a pipe's reader, nor write to a file of theirs.
	 */
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
		  O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    st.st_nlink == 1)
		told = jf_write_text(fd, line);
	close(fd);
	return told;
}

struct jf_unwind *jf_unwind_add(const struct jf_frame *f)
{
	struct cfi cfi = { .used = 0 };
	struct jf_unwind *u;

	if (f->nr_args > MAX_SAVED || f->size > UINT16_MAX)
		return NULL;
	make_cfi(&cfi, f);
	u = cfi.used <= CFI_MAX ? jf_zalloc(sizeof(*u)) : NULL;
	if (!u)
		return NULL;
	make_object(&u->object, f, &cfi);
	if (__register_frame_info)
		__register_frame_info(u->object.frames, u->record);
	u->entry.file = (const char *)&u->object;
	u->entry.size = sizeof(u->object);
	u->entry.next = __jit_debug_descriptor.first;
	if (u->entry.next)
		u->entry.next->prev = &u->entry;
	__jit_debug_descriptor.first = &u->entry;
	__jit_debug_descriptor.relevant = &u->entry;
	__jit_debug_descriptor.action = JIT_REGISTER;
	__jit_debug_register_code();
	return u;
}

void jf_unwind_remove(struct jf_unwind *u)
{
	if (!u)
		return;
	if (u->entry.prev)
		u->entry.prev->next = u->entry.next;
	else
		__jit_debug_descriptor.first = u->entry.next;
	if (u->entry.next)
		u->entry.next->prev = u->entry.prev;
	__jit_debug_descriptor.relevant = &u->entry;
	__jit_debug_descriptor.action = JIT_UNREGISTER;
	__jit_debug_register_code();
	if (__deregister_frame_info)
		__deregister_frame_info(u->object.frames);
	jf_free(u);
}
