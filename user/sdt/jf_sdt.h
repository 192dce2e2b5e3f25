/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * jf-sdt: calls of functions that do not exist become probes.
 *
 * Parts:
 *   elf.c		an object file as sections, symbols and relocations, and back to a file
 *   find.c		the calls of probe functions, and their kinds
 *   make.c		nops in place of these, and the tables of <jumpfunc/detail/table.h>
 *   change.c		from one file's content to another one's, and back
 *   run.c		a compiler's command
 *   main.c		files, options, messages
 *
 * A file is never changed in place. The new content is made in memory, and each refusal comes
 * before the first write.
 */
#ifndef JF_SDT_TOOL_H
#define JF_SDT_TOOL_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* musl's <elf.h> does not have it. */
#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND	0x70000001
#endif

/* --- elf.c ------------------------------------------------------------------------ */

/**
 * struct section - a section of an object file
 * @h:    its header; sh_name is from the file that was read, or of @name if that is not NULL
 * @data: its content, in the file that was read, or @own
 * @size: of it
 * @own:  NULL, or a copy that may be changed
 * @room: so many bytes @own may have
 */
struct section {
	Elf64_Shdr	h;
	const uint8_t	*data;
	size_t		size;
	uint8_t		*own;
	size_t		room;
};

/**
 * struct object - an object file
 * @file:     its name in messages
 * @eh:       its header
 * @secs:     its sections
 * @num:      how many there are
 * @room:     for so many there is room
 * @symtab:   which one has its symbols
 * @strtab:   which one has their names
 * @shstrtab: which one has the sections' names
 * @foreign:  it is of a kind that is not read at all, with names that stand in it as they are
 * @err:      NULL, or why it is refused
 */
struct object {
	const char	*file;
	Elf64_Ehdr	eh;
	struct section	*secs;
	size_t		num, room;
	size_t		symtab, strtab, shstrtab;
	bool		foreign;
	char		*err;
};

/* False: it is refused, and @o->err says why. The content stays the caller's. */
bool object_read(struct object *o, const char *file, const uint8_t *data, size_t size);
void object_free(struct object *o);
/* Says why it is refused, unless that is said already. Returns false. */
bool refuse(struct object *o, const char *format, ...) __attribute__((__format__(__printf__, 2, 3)));
/* The file that it is now; NULL: no memory. */
uint8_t *object_write(const struct object *o, size_t *size);

const char *section_name(const struct object *o, size_t sec);
/* 0: no such symbol. */
size_t section_find(const struct object *o, const char *name);
/* The number of a new one, or 0: no memory, or too many. */
size_t section_add(struct object *o, const char *name, uint32_t type, uint64_t flags, uint64_t align);
/* At its end. False: no memory. */
bool section_append(struct object *o, size_t sec, const void *bytes, size_t num);
/* A copy that may be changed, or NULL: no memory. */
uint8_t *section_own(struct object *o, size_t sec);

size_t symbol_num(const struct object *o);
Elf64_Sym symbol_get(const struct object *o, size_t sym);
bool symbol_set(struct object *o, size_t sym, Elf64_Sym s);
const char *symbol_name(const struct object *o, size_t sym);
/* A name in the table of names; 0: no memory. */
uint32_t symbol_string(struct object *o, const char *name);
/* A global or weak one of this name, or 0. */
size_t symbol_find(const struct object *o, const char *name);
/* The present or a new one; 0: no memory. */
size_t symbol_add(struct object *o, const char *name, unsigned char info, unsigned char other, uint16_t sec,
		  uint64_t value, uint64_t size);
/*
 * Room for @num local ones, after those that are there: all others get another number, wherever
 * they are named. The first one's number, which is then an empty one; 0: refused, or no memory.
 */
size_t symbols_insert(struct object *o, size_t num);

size_t reloc_num(const struct object *o, size_t rela);
Elf64_Rela reloc_get(const struct object *o, size_t rela, size_t i);

/* --- find.c ----------------------------------------------------------------------- */

/* What stood there. */
enum form {
	FORM_CALL,	/* call */
	FORM_TAIL,	/* jmp, at a function's end */
	FORM_TEST,	/* call of a function that says whether the probe is on */
};

/**
 * struct probe - a probe, of this object
 * @provider: the first part of its name
 * @name:     the second one
 * @called:   the symbol of its function, or 0
 * @tested:   the symbol of the function that says whether it is on, or 0
 * @sdt:      the symbol of its description (make.c)
 * @enter:    the symbol of the code that calls its subscribers (make.c)
 */
struct probe {
	char	*provider;
	char	*name;
	size_t	called, tested;
	size_t	sdt, enter;
};

/**
 * struct site - a call that was found
 * @form:   its kind
 * @size:   of the instruction: 5, or 6 for one by the table of addresses (-fno-plt)
 * @sec:    the section that it is in
 * @at:     where it begins there
 * @rela:   the section of its relocation
 * @reloc:  which one that is
 * @probe:  whose it is
 */
struct site {
	enum form	form;
	unsigned int	size;
	size_t		sec;
	uint64_t	at;
	size_t		rela, reloc;
	size_t		probe;
};

/**
 * struct options - which functions are probe functions
 * @prefix:   how their names begin
 * @provider: of those whose name has none
 */
struct options {
	const char	*prefix;
	const char	*provider;
};

#define DEFAULT_PREFIX		"__dtrace_"
#define DEFAULT_PROVIDER	"sdt"

struct found {
	struct probe	*probes;
	size_t		num_probes;
	struct site	*sites;
	size_t		num_sites;
};

/* False: refused, or no memory. */
bool find_sites(struct object *o, const struct options *options, struct found *found);
void found_free(struct found *found);
/* The function that a place is in, and in @from where it begins. */
const char *function_at(const struct object *o, size_t sec, uint64_t at, uint64_t *from);

/* --- make.c ------------------------------------------------------------------------- */

/* Nops at all sites, and the tables. False: no memory, or too many probes. */
bool make_probes(struct object *o, struct found *found);

/* --- change.c ----------------------------------------------------------------------- */

/**
 * struct changed - the new content of a file
 * @data:  the content; NULL: it stays as it is
 * @size:  of it
 * @sites: how many calls were found
 * @err:   NULL, or why it is refused
 */
struct changed {
	uint8_t	*data;
	size_t	size;
	size_t	sites;
	char	*err;
};

/* A file that was changed before stays as it is. */
struct changed change(const char *file, const uint8_t *data, size_t size, const struct options *options);
/* What it was. */
struct changed change_back(const char *file, const uint8_t *data, size_t size);
/* err is NULL if a change of today would have the same result. */
struct changed change_verify(const char *file, const uint8_t *data, size_t size);
/* Calls @visit for each site, of a file that was changed or can be. Returns why not, or NULL. */
char *change_list(const char *file, const uint8_t *data, size_t size, const struct options *options,
		  void (*visit)(const struct object *o, const struct probe *p, const struct site *s, void *arg),
		  void *arg);

/* --- run.c -------------------------------------------------------------------------- */

/*
 * The object files that a compiler's command writes, with a NULL after them, for run_free(), or
 * NULL: none. -errno: not known; for an invalid file of arguments, or a source with a strange name,
 * which is printed.
 */
int run_objects(char *const *command, char ***objects);
void run_free(char **objects);
/* Runs it, and returns its exit status, as a shell would. */
int run_command(char *const *command);

#endif /* JF_SDT_TOOL_H */
