/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * What the parts of libjumpfunc-agent know of each other. Nothing here is public.
 *
 * The agent is loaded into a program that was not built with us (LD_PRELOAD) and records its USDT
 * notes and the entries of its functions into the rings of libjumpfunc-trace.
 *
 * From top to bottom; a part uses those below it, and none above:
 *   agent.c	the environment, globs, the list of probes, the provider (trace/provider.h)
 *   object.c	what is loaded: notes and functions of it
 *   probe.c	probes: where, what they record, on and off
 *   detour.c	how a place can be changed so that it leads to a probe's code
 *   place.c	memory for that code
 *   displace.c	copies of instructions that do at another place what they did at theirs
 *   operand.c	what a note says of its arguments
 *   note.c	notes, as they stand in a file
 *   elf.c	a file's sections and symbols
 *   filter.c	filters of system calls: is there one
 *   ../lib/call.c	where a call of a dynamic function is
 *   ../trace/pattern.c	what a user has asked for
 *   record.c	what is done when a thread comes by; entry.S calls it
 *
 * Locks: agent_lock (agent.c) around all but record.c, which takes none, within libjumpfunc-trace's lock of providers. With it the dynamic linker's
 * list of objects is walked, and within that libjumpfunc's and libjumpfunc-trace's own locks are taken. The
 * hook in the dynamic linker (agent.c) only tries to take agent_lock.
 *
 * dlclose() has the lock of dlopen() and waits for that of the list. So between the ends of such a walk nothing may call
 * dlopen(), dlsym() or dladdr(), nor what looks at the locale, which may open a converter.
 */
#ifndef JF_AGENT_H
#define JF_AGENT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In here nothing is defined that belongs into a table. */
#define JF_NO_TABLE

#include "user/lib/text.h"
#include "user/trace/pattern.h"
#include "user/trace/provider.h"

#define JF_HIDDEN	__attribute__((__visibility__("hidden")))

/* Of a function: ip, caller and six registers. */
#define JF_FUNCTION_FIELDS	8
/* Bytes of an argument that is a string, with its end. */
#define JF_STRING_SIZE	256
/* The same in a signal handler that has interrupted a record of strings. */
#define JF_STRING_NESTED	32

/* --- record.c, entry.S -------------------------------------------------------------- */

enum jf_operand_kind {
	JF_OPERAND_NONE,	/* it cannot be read */
	JF_OPERAND_REG,
	JF_OPERAND_CONST,
	JF_OPERAND_MEM,
};

#define JF_REG_NONE	16
#define JF_REG_RIP	17

/**
 * struct jf_operand - where a note's argument is
 * @kind:  enum jf_operand_kind
 * @size:  1, 2, 4 or 8
 * @sign:  is it signed
 * @shift: of a register, in bits: 8 for %ah
 * @base:  the register, or that of an address; numbers as in instructions
 * @index: added to that, times @scale
 * @scale: 1, 2, 4 or 8
 * @at:    where in the record
 * @disp:  added to the address, or the constant
 */
struct jf_operand {
	uint8_t		kind;
	uint8_t		size;
	bool		sign;
	uint8_t		shift;
	uint8_t		base;
	uint8_t		index;
	uint8_t		scale;
	uint8_t		at;
	int64_t		disp;
};

/**
 * struct jf_spot - what record.c needs of a probe
 * @on:      are records made
 * @size:    of a record's fields
 * @what:    the event's number, and from bit 16 on a bit for each argument that is a string: one word, since
 *           it may change while threads record
 * @nr:      operands; 0: it is a function's entry
 * @function: it is
 * @watch:   enum jf_watch: its calls are looked at, whether it is on or not
 * @hook:    is called instead, or NULL
 * @at:      where the probe is
 * @operand: those of a note
 */
struct jf_spot {
	uint32_t		on;
	uint32_t		size;
	uint32_t		what;
	uint8_t			nr;
	bool			function;
	uint8_t			watch;
	void			(*hook)(void);
	uintptr_t		at;
	struct jf_operand	operand[JF_ARGS_MAX];
};

/* By the number that a probe's code has. */
extern struct jf_spot **jf_spots JF_HIDDEN;
/* This thread is in the agent: what it does is not recorded. */
extern __thread unsigned int jf_agent_busy JF_HIDDEN __attribute__((__tls_model__("initial-exec")));
/* Probes' code calls this. */
JF_HIDDEN void jf_agent_enter(void);
/* By a constructor: it takes the lock of dlopen(). */
JF_HIDDEN void jf_record_clock(void);
/* Once, before any of them is executed. 0 or -ENOMEM. */
JF_HIDDEN int jf_record_begin(void);
/* Calls @fn on a stack that is large enough for a hook, with signals blocked. */
JF_HIDDEN void jf_agent_aside(void (*fn)(void));
/* The number that the next probe has. */
#define JF_SPOTS_MAX	(1U << 20)

/* --- filter.c ------------------------------------------------------------------------- */

/* A function of libc by which filters of system calls are installed. */
enum jf_watch {
	JF_WATCH_NONE,
	JF_WATCH_PRCTL,
	JF_WATCH_SYSCALL,
};

/* Why no string is read: a thread has a filter; or it would not be seen. */
#define JF_FILTERED	1
#define JF_UNWATCHED	2
extern uint8_t jf_filtered JF_HIDDEN;
JF_HIDDEN void jf_filter_begin(bool trusted);
JF_HIDDEN enum jf_watch jf_filter_call(uintptr_t at);
JF_HIDDEN bool jf_filter_within(uintptr_t start, uintptr_t end);
JF_HIDDEN bool jf_filter_needed(void);
JF_HIDDEN void jf_filter_watched(bool all);
JF_HIDDEN void jf_filter_look(void);
JF_HIDDEN uint64_t jf_filter_wait(uint64_t unused);

/* --- elf.c ---------------------------------------------------------------------------- */

/**
 * struct jf_elf - a file, of which nothing is taken for granted
 * @data: all of it
 * @size: bytes
 */
struct jf_elf {
	const uint8_t	*data;
	size_t		size;
};

/**
 * struct jf_section - a part of a file
 * @data: NULL: there is none
 * @size: bytes
 * @addr: where it is, in memory, from the object's own 0 on
 */
struct jf_section {
	const uint8_t	*data;
	size_t		size;
	uint64_t	addr;
};

/**
 * struct jf_symbol - a function
 * @name:  of it
 * @value: from the object's own 0 on
 * @size:  bytes
 * @indirect: its value is that of a function that says where it is
 */
struct jf_symbol {
	const char	*name;
	uint64_t	value;
	uint64_t	size;
	bool		indirect;
};

typedef int jf_symbol_fn(const struct jf_symbol *symbol, void *arg);

JF_HIDDEN int jf_elf_check(const struct jf_elf *elf);
JF_HIDDEN struct jf_section jf_elf_section(const struct jf_elf *elf, const char *name);
JF_HIDDEN int jf_elf_functions(const struct jf_elf *elf, jf_symbol_fn *fn, void *arg);

/* --- note.c --------------------------------------------------------------------------- */

/**
 * struct jf_note - a USDT note
 * @provider:  of the probe
 * @name:      of the probe
 * @args:      as the compiler wrote them
 * @pc:        where, from the object's own 0 on
 * @semaphore: 0: it has none
 */
struct jf_note {
	const char	*provider;
	const char	*name;
	const char	*args;
	uint64_t	pc;
	uint64_t	semaphore;
};

typedef int jf_note_fn(const struct jf_note *note, void *arg);

JF_HIDDEN int jf_notes(const struct jf_section *notes, uint64_t base, jf_note_fn *fn, void *arg);

/* --- operand.c ------------------------------------------------------------------------ */

JF_HIDDEN int jf_operands(const char *args, struct jf_operand *operand, int max);

/* --- displace.c ----------------------------------------------------------------------- */

/**
 * struct jf_code - code that is being made
 * @bytes: of it
 * @size:  of @bytes
 * @used:  of them
 * @at:    where it will be
 */
struct jf_code {
	uint8_t		*bytes;
	size_t		size;
	size_t		used;
	uintptr_t	at;
};

/**
 * struct jf_moved - an instruction that was copied
 * @len: of it, at its place
 * @ends: what follows it is not executed after it
 */
struct jf_moved {
	unsigned int	len;
	bool		ends;
};

JF_HIDDEN int jf_displace(struct jf_code *code, const uint8_t *insn, size_t avail, uintptr_t at,
			  struct jf_moved *moved);
JF_HIDDEN void jf_code_put(struct jf_code *code, const void *bytes, size_t num);
JF_HIDDEN int jf_code_jmp(struct jf_code *code, uintptr_t to);

/* --- place.c -------------------------------------------------------------------------- */

JF_HIDDEN uintptr_t jf_place_near(uintptr_t site, size_t size);
/* Bytes that a heap may need, if nothing says how much: more than is in reach. */
#define JF_HEAP_MAX	(UINT64_C(64) << 30)

JF_HIDDEN uintptr_t jf_place_fixed(uintptr_t site, unsigned int fixed, const uint8_t *rel, size_t size, uint64_t heap);
JF_HIDDEN bool jf_place_full(void);
JF_HIDDEN bool jf_place_heap(void);
JF_HIDDEN void jf_place_free(uintptr_t at, size_t size);

/* --- detour.c ------------------------------------------------------------------------- */

enum jf_way {
	JF_WAY_NONE,
	JF_WAY_JUMP,		/* in place of one instruction that is long enough */
	JF_WAY_SHORT,		/* in place of one that is not: what follows it is part of the distance */
	JF_WAY_SPAN,		/* in place of several, with breakpoints where these began */
	JF_WAY_BREAK,		/* a breakpoint */
};

/* Bytes of the longest instruction. */
#define JF_INSN_MAX	15

/**
 * struct jf_detour - a place, and the code to which it leads
 * @way:  how
 * @why:  it cannot be; or why it is no jump
 * @poke: the change that leads there
 * @skip: and where the copies begin, which record nothing
 * @insn: the instructions that were copied, as they stood
 * @nr_insn: bytes of them
 * @code: its bytes, until they are written
 * @size: of them
 * @at:   where they are
 */
struct jf_detour {
	enum jf_way		way;
	const char		*why;
	struct jf_text_poke	poke;
	uintptr_t		skip;
	uint8_t			insn[JF_TEXT_MAX - 1 + JF_INSN_MAX];
	uint8_t			nr_insn;
	uintptr_t		at;
	size_t			size;
	uint8_t			code[192];
};

/* Which ways may be taken: bits of 1 << enum jf_way. For tests, less than all. */
extern unsigned int jf_ways JF_HIDDEN;
JF_HIDDEN int jf_detour_make(struct jf_detour *d, uintptr_t at, size_t avail, uint32_t number, bool fill);
JF_HIDDEN void jf_detour_drop(struct jf_detour *d);

/* --- probe.c -------------------------------------------------------------------------- */

struct jf_module;

/**
 * struct jf_agent_probe - a place of a program that can be recorded
 * @spot:   what record.c has of it
 * @next:   of its module
 * @module: its object
 * @group:  the note's provider, or its object's name
 * @name:   of it
 * @number: of @spot
 * @made:   its code is there
 * @led:    the text leads there; also when it is off, if the text could not be changed back
 * @kept:   another patcher may have what leads to its code: that stays
 * @queued: it is going to be switched on
 * @avail:  bytes from its place on that are text
 * @text:   those that a jump is made of, as its file has them
 * @nr_text: of these
 * @semaphore: is counted up while it is on, or NULL
 * @event:  what the trace is told
 * @fields: of that
 * @names:  of those
 * @nr_fields: without strings
 * @strings: a bit for each argument that is recorded as a string, too
 * @string_names: of their fields
 * @detour: how it is done
 */
struct jf_agent_probe {
	struct jf_spot		spot;
	struct jf_agent_probe		*next;
	struct jf_module	*module;
	char			*group;
	char			*name;
	uint32_t		number;
	bool			made;
	bool			led;
	bool			kept;
	bool			queued;
	size_t			avail;
	uint8_t			text[JF_TEXT_MAX];
	uint8_t			nr_text;
	uint16_t		*semaphore;
	struct jf_event		event;
	struct jf_event_field	fields[JF_ARGS_MAX + JF_STRINGS_MAX + 1];
	char			names[JF_ARGS_MAX][8];
	unsigned int		nr_fields;
	uint16_t		strings;
	char			string_names[JF_STRINGS_MAX][16];
	struct jf_detour	detour;
};

JF_HIDDEN struct jf_agent_probe *jf_probe_new(struct jf_module *module, const char *group, const char *name,
					uintptr_t at, size_t avail);
JF_HIDDEN void jf_probe_note(struct jf_agent_probe *p, const char *args, uint16_t *semaphore);
JF_HIDDEN void jf_probe_function(struct jf_agent_probe *p);
JF_HIDDEN int jf_probe_strings(struct jf_agent_probe *p, uint16_t strings);
JF_HIDDEN void jf_probe_forget(struct jf_agent_probe *p);
JF_HIDDEN size_t jf_probes_on(struct jf_agent_probe **probes, size_t num, int *err);
JF_HIDDEN int jf_probes_off(struct jf_agent_probe **probes, size_t num);
JF_HIDDEN bool jf_probe_stands(const struct jf_agent_probe *p);
JF_HIDDEN bool jf_probe_is_ours(const struct jf_agent_probe *p);
JF_HIDDEN void jf_probe_keep(struct jf_agent_probe *p);
JF_HIDDEN int jf_probe_watch(struct jf_agent_probe *p, enum jf_watch watch);
JF_HIDDEN int jf_probe_hook(uintptr_t at, size_t avail, void (*hook)(void));

/* --- object.c ------------------------------------------------------------------------- */

/**
 * struct jf_module - a loaded object
 * @next:   of all
 * @path:   of its file
 * @name:   the last part of that
 * @base:   its own 0
 * @phdr:   its program headers
 * @identity: of its headers: another file of that name has others
 * @start:  of what it maps
 * @end:    of that
 * @seen:   by the walk with this number
 * @asked:  whether it has what was asked for before it came: by agent.c, which sets it
 * @file:   its file, while that is read, or NULL
 * @looked: for the next ones in its file
 * @copy:   it has a libjumpfunc of its own in it
 * @sites:  where that file has sites of libjumpfunc, ascending
 * @nr_sites: of them
 * @probes: that were made
 * @functions: those that are functions, a table by place
 * @nr_functions: of them
 * @max_functions: size of that table, a power of two, or 0
 */
struct jf_module {
	struct jf_module	*next;
	char			*path;
	const char		*name;
	uintptr_t		base;
	const void		*phdr;
	unsigned int		phnum;
	uint64_t		identity;
	uintptr_t		start;
	uintptr_t		end;
	unsigned int		seen;
	bool			asked;
	const struct jf_elf	*file;
	bool			looked;
	bool			copy;
	uintptr_t		*sites;
	size_t			nr_sites;
	struct jf_agent_probe		*probes;
	struct jf_agent_probe		**functions;
	size_t			nr_functions;
	size_t			max_functions;
};

/* While @module's file is read, the probe becomes one of @module's. 0, or -ENOMEM: it is none, and is no more. */
JF_HIDDEN int jf_module_add(struct jf_module *module, struct jf_agent_probe *p);
/* Its function that begins at @at, or NULL. */
JF_HIDDEN struct jf_agent_probe *jf_module_function_at(const struct jf_module *module, uintptr_t at);
/* Libraries of the program change calls in place: JUMPFUNC_TRAP=always. */
extern bool jf_traps_always JF_HIDDEN;
/* May this be a probe? NULL, or why not. */
JF_HIDDEN const char *jf_module_refuses(const struct jf_module *module, bool function, uintptr_t at);

/* Called for each module, while none can be unloaded. */
typedef int jf_module_fn(struct jf_module *module, void *arg);

JF_HIDDEN int jf_modules(jf_module_fn *fn, void *arg);
JF_HIDDEN bool jf_modules_changed(void);
/* Calls @fn for each function that is a probe or could be one: without a probe, its name alone. */
typedef int jf_function_fn(struct jf_module *module, const struct jf_symbol *symbol, uintptr_t at,
			   size_t avail, void *arg);
JF_HIDDEN int jf_module_functions(struct jf_module *module, jf_function_fn *fn, void *arg);

#endif /* JF_AGENT_H */
