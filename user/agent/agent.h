/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The parts of libjumpfunc-agent, as far as they know of each other. Nothing here is public.
 *
 * The agent is loaded into a program that was not built with us (LD_PRELOAD) and records its USDT
 * notes and the entries of its functions into the rings of libjumpfunc-trace.
 *
 * From top to bottom; a part uses those below it, and none above:
 *   agent.c	the begin, and the environment
 *   request.c	requests: on, off, list; the providers (trace/provider.h)
 *   come.c	the lock, and objects that come
 *   match.c	notes and functions of an object that a pattern means
 *   batch.c	probes that are switched on together
 *   wish.c	patterns: which probes they mean
 *   say.c	messages
 *   object.c	the list of loaded objects: notes and functions of each
 *   choose.c	which records of a probe are made
 *   shown.c	members that arguments lead to, in records
 *   callers.c	functions that filters name as callers
 *   calls.c	functions whose calls are recorded, by an entry and all exits
 *   probe.c	probes: their records, on and off
 *   point.c	places of probes, several of which may be at one, or beside each other
 *   detour.c	how a place can be changed so that it leads to a probe's code
 *   exit.c	where a function is left
 *   whole.c	may several instructions be replaced
 *   frame.c	the table of frames: bounds of functions, and their stack
 *   pads.c	landing pads of exceptions
 *   place.c	memory for that code
 *   displace.c	copies of instructions that do at another place what they did at theirs
 *   operand.c	what a note says of its arguments
 *   types.c	arguments of functions
 *   note.c	notes, as they stand in a file
 *   module.c	one object: its names, its file, and the places of its text and data
 *   elf.c	a file's sections and symbols
 *   lack.c	that there was no memory
 *   share.c	children that share a thread's variables
 *   record.c	the records of a thread that comes by; entry.S calls it
 *   pair.c	calls: which exit belongs to which entry
 *   members.c	records with members of structures
 *   memory.c	strings and members, in the program's memory
 *   watch.c	calls of the program by which it installs filters and handlers
 *   value.c	operands of instructions
 *   aside.c	the rare work of a thread that comes by, on a stack of its own
 *   follow.c	rights that change for one thread
 *   filter.c	filters of system calls: is there one
 *   retire.c	objects that others replace, until no thread uses them
 *   ../lib/call.c	where a call of a dynamic function is
 *   ../trace/pattern.c	what a user has asked for
 *
 * Locks: agent_lock (come.c) around all but the parts from record.c to aside.c, which take none,
 * within libjumpfunc-trace's lock of providers. With it the dynamic linker's
 * list of objects is walked, and within that libjumpfunc's and libjumpfunc-trace's own locks are
 * taken. The hook in the dynamic linker (come.c) only tries to take agent_lock.
 *
 * dlclose() has the lock of dlopen() and waits for that of the list. So between the ends of such a
 * walk nothing may call dlopen(), dlsym() or dladdr(), nor a function that looks at the locale,
 * which can open a converter.
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
#include <stdlib.h>

/* In here nothing is defined that belongs into a table. */
#define JF_NO_TABLE

#include "user/lib/text.h"
#include "user/trace/choice.h"
#include "user/trace/demangle.h"
#include "user/trace/pattern.h"
#include "user/trace/provider.h"
#include "user/trace/sums.h"

#define JF_HIDDEN	__attribute__((__visibility__("hidden")))

/* Of a function: ip, caller and six registers. */
#define JF_FUNCTION_FIELDS	8
/* Registers among these fields; and arguments in vector registers. */
#define JF_REGISTERS	6
#define JF_VECTORS_MAX	8
/* Bytes of an argument that is a string, with its end. */
#define JF_STRING_SIZE	256
/* The same in a signal handler that has interrupted a record of strings. */
#define JF_STRING_NESTED	32

/* --- retire.c ------------------------------------------------------------------------- */

/**
 * struct jf_retired - the first member of an object that another one replaces
 * @next:   of all
 * @forget: frees the object; NULL: free() does
 */
struct jf_retired {
	struct jf_retired	*next;
	void			(*forget)(struct jf_retired *r);
};

JF_HIDDEN void jf_retire(struct jf_retired *r, void (*forget)(struct jf_retired *r));
JF_HIDDEN void jf_retired_free(void);

/* --- record.c, entry.S -------------------------------------------------------------- */

enum jf_operand_kind {
	JF_OPERAND_NONE,	/* it cannot be read */
	JF_OPERAND_REG,
	JF_OPERAND_CONST,
	JF_OPERAND_MEM,
	JF_OPERAND_VECTOR,	/* the low part of an SSE register */
};

#define JF_REG_NONE	16
#define JF_REG_RIP	17

/**
 * struct jf_operand - where a note's argument is
 * @kind:  enum jf_operand_kind
 * @size:  1, 2, 4 or 8
 * @sign:  is it signed
 * @real:  a float or a double
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
	bool		real;
	uint8_t		shift;
	uint8_t		base;
	uint8_t		index;
	uint8_t		scale;
	uint8_t		at;
	int64_t		disp;
};

/* Where a value is, in a step. Below these: a register of arguments, or a note's operand. */
enum jf_from {
	JF_FROM_IP = 16,
	JF_FROM_CALLER,
	JF_FROM_RET,
	JF_FROM_DURATION,
	JF_FROM_DEPTH,
	JF_FROM_TAIL,
	JF_FROM_TID,
	JF_FROM_VECTOR = 32,	/* of a function's vector registers, the first one */
	JF_FROM_PATH = 64,	/* memory: the first path of the probe */
};

/* Pointers that a path follows, and paths of a probe. */
#define JF_LOADS_MAX	6
#define JF_PATHS_MAX	192

/**
 * struct jf_path - where memory is
 * @reg:   which register of arguments has the first pointer
 * @num:   of @offset: all but the last lead to a pointer
 * @size:  bytes of the value, 1 to 8; of a text that is there: at most so many
 * @shift: of a bit field, in bits
 * @bits:  of it, or 0
 * @sign:  it is signed
 * @text:  a text is there, and no pointer to it
 * @string: it is a pointer to a text
 * @offset: from a pointer on
 */
struct jf_path {
	uint8_t		reg;
	uint8_t		num;
	uint8_t		size;
	uint8_t		shift;
	uint8_t		bits;
	bool		sign;
	bool		text;
	bool		string;
	int32_t		offset[JF_LOADS_MAX];
};

/**
 * struct jf_shown_member - a member that is recorded
 * @path:  to it
 * @field: its class and labels
 * @at:    of a number: where in the record
 */
struct jf_shown_member {
	const struct jf_path		*path;
	const struct jf_event_field	*field;
	uint8_t				at;
};

static inline bool jf_shown_is_text(const struct jf_shown_member *m)
{
	return m->path->text || m->path->string;
}

/**
 * struct jf_shown - members that are recorded, of a function
 * @retired: for jf_retire()
 * @id:      the event's number
 * @text_id: the same if a member could not be read
 * @strings: a bit for each argument that is recorded as a string
 * @num:     members
 * @plain:   bytes of a record before its members
 * @size:    with those that are numbers
 * @member:  each of them
 */
struct jf_shown {
	struct jf_retired	retired;
	uint16_t		id;
	uint16_t		text_id;
	uint16_t		strings;
	unsigned int		num;
	uint32_t		plain;
	uint32_t		size;
	struct jf_shown_member	member[JF_SHOWN_MAX];
};

/* Part of a program's text. */
struct jf_range {
	uintptr_t	start;
	uintptr_t	end;
};

/**
 * struct jf_ranges - of functions
 * @retired: for jf_retire()
 * @num:   how many
 * @room:  for how many
 * @range: ascending; between two others are
 */
struct jf_ranges {
	struct jf_retired	retired;
	size_t			num;
	size_t			room;
	struct jf_range		range[];
};

/**
 * struct jf_callers - functions that filters name as callers
 * @next:   of all
 * @glob:   their names
 * @users:  filters that have it
 * @wanted: a filter will have it
 * @looks:  at the present object
 * @ranges: where they are; NULL: they were not looked for
 * @next_ranges: those that are collected
 */
struct jf_callers {
	struct jf_callers	*next;
	char			*glob;
	unsigned int		users;
	bool			wanted;
	bool			looks;
	struct jf_ranges	*ranges;
	struct jf_ranges	*next_ranges;
};

/* In one filter. */
#define JF_CALLERS_MAX	8

/**
 * struct jf_chosen - which records of a probe are made
 * @retired: for jf_retire()
 * @callers: by the size that the steps have which ask for them
 * @path:   of the probe
 * @choice: its last steps may have no memory
 */
struct jf_chosen {
	struct jf_retired	retired;
	struct jf_callers	*callers[JF_CALLERS_MAX];
	const struct jf_path	*path;
	struct jf_choice	choice;
};

/* No thread has it any more. With agent_lock. */
static inline void jf_chosen_forget(struct jf_chosen *c)
{
	unsigned int i;

	for (i = 0; c && i < JF_CALLERS_MAX; i++)
		if (c->callers[i])
			c->callers[i]->users--;
	free(c);
}

/* A return address follows the call, which can be the last instruction of its function. */
static inline bool jf_callers_fit(const struct jf_callers *c, uintptr_t caller)
{
	/* Acquire: pairs with publish(), in callers.c. */
	const struct jf_ranges *r = __atomic_load_n(&c->ranges, __ATOMIC_ACQUIRE);
	size_t low = 0, high = r ? r->num : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->range[mid].end < caller)
			low = mid + 1;
		else
			high = mid;
	}
	return r && low < r->num && r->range[low].start < caller;
}

/* The result of a test of the caller. */
static inline bool jf_caller_holds(const struct jf_chosen *chosen, const struct jf_step *s, uintptr_t caller)
{
	return jf_callers_fit(chosen->callers[s->size], caller) != (s->number >> 32);
}

/**
 * struct jf_spot - the part of a probe that record.c needs
 * @next:    another one of the same place
 * @on:      are records made
 * @size:    of a record's fields
 * @what:    the event's number, and from bit 16 on a bit for each argument that is a string: one
 *           word, since it may change while threads record
 * @nr:      operands
 * @function: it is a function's entry
 * @registers: of its arguments, that are recorded
 * @returns_real: of an entry: the function returns a number in xmm0
 * @watch:   enum jf_watch: its calls are looked at, whether it is on or not
 * @hook:    is called instead, or NULL
 * @at:      where the probe is
 * @chosen:  which records are made; NULL: all
 * @shown:   members that are recorded, or NULL
 * @call:    it is an entry or an exit of this function, whose calls are recorded; or NULL
 * @exit:    which exit; NULL: it is the entry
 * @operand: those of a note
 */
struct jf_spot {
	struct jf_spot		*next;
	uint32_t		on;
	uint32_t		size;
	uint32_t		what;
	uint8_t			nr;
	bool			function;
	uint8_t			registers;
	bool			returns_real;
	uint8_t			watch;
	void			(*hook)(void);
	uintptr_t		at;
	struct jf_chosen	*chosen;
	struct jf_shown		*shown;
	const struct jf_call	*call;
	const struct jf_exit	*exit;
	struct jf_operand	operand[JF_ARGS_MAX];
};

/**
 * struct jf_call_record - of a call, when it is over
 * @ip:       where the function's entry has its probe
 * @caller:   the return address
 * @arg:      registers of arguments, as they were at the entry
 * @ret:      rax at the exit, or xmm0
 * @duration: in nanoseconds
 * @depth:    calls around it that are recorded, too, on the same stack
 * @left:     calls of this thread that it has left without an exit, since its record before
 * @lost:     calls that there was no room for, since then
 * @tail:     1: it has jumped to another function, which returns in its place
 */
struct jf_call_record {
	uint64_t	ip;
	uint64_t	caller;
	uint64_t	arg[6];
	uint64_t	ret;
	uint64_t	duration;
	uint32_t	depth;
	uint32_t	left;
	uint32_t	lost;
	uint32_t	tail;
};

/* By the number that a place's code has: the first of those that are there. */
extern struct jf_spot **jf_spots JF_HIDDEN;
/* Probes' code calls this. */
JF_HIDDEN void jf_agent_enter(void);
/* Once, before any of them is executed. 0 or -ENOMEM. */
JF_HIDDEN int jf_record_begin(void);
/* Another one will have this thread's variables, and run beside it. */
JF_HIDDEN void jf_record_share(void);
/* Objects are to be looked for by the next thread that may. */
extern bool jf_look_again JF_HIDDEN;
/* The number that the next probe has. */
#define JF_SPOTS_MAX	(1U << 20)

/* --- aside.c -------------------------------------------------------------------------- */

/* This thread is in the agent: its calls are not recorded. */
extern __thread unsigned int jf_agent_busy JF_HIDDEN __attribute__((__tls_model__("initial-exec")));
/* This thread's number. */
JF_HIDDEN uint64_t jf_tid(void);
/* By a constructor: it takes the lock of dlopen(). */
JF_HIDDEN void jf_clock_begin(void);
/* From now on the program's threads make no system call for the agent. @others: get the filter. */
JF_HIDDEN void jf_aside_quiet(bool others);
/* Calls @fn on a stack that is large enough for a hook, with signals blocked. */
JF_HIDDEN void jf_agent_aside(void (*fn)(void));

/* --- share.c -------------------------------------------------------------------------- */

JF_HIDDEN void jf_share_begin(void);

/* --- follow.c ------------------------------------------------------------------------- */

JF_HIDDEN void jf_follow_begin(void);

/* --- filter.c ------------------------------------------------------------------------- */

/* A function of libc by which filters of system calls are installed, or handlers. */
enum jf_watch {
	JF_WATCH_NONE,
	JF_WATCH_PRCTL,
	JF_WATCH_SYSCALL,
	JF_WATCH_SIGACTION,
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
JF_HIDDEN bool jf_filter_look(void);
JF_HIDDEN bool jf_filter_own(void);
JF_HIDDEN uint64_t jf_filter_wait(uint64_t unused);

/* --- lack.c --------------------------------------------------------------------------- */

/* How often there was no memory, for any part. With agent_lock. */
extern unsigned int jf_lacks JF_HIDDEN;
/* As a reason. */
extern const char jf_no_memory[] JF_HIDDEN;

/* Of malloc() and the like. */
static inline void *jf_have(void *memory)
{
	jf_lacks += !memory;
	return memory;
}

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
 * @data: NULL: no data
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

/**
 * struct jf_stamp - tells a file from another one of its path
 * @inode:   its number
 * @seconds: since when it is as it is
 * @nanoseconds: of that
 */
struct jf_stamp {
	uint64_t	inode;
	uint64_t	seconds;
	uint64_t	nanoseconds;
};

JF_HIDDEN int jf_elf_check(const struct jf_elf *elf);
JF_HIDDEN struct jf_section jf_elf_section(const struct jf_elf *elf, const char *name);
JF_HIDDEN int jf_elf_functions(const struct jf_elf *elf, jf_symbol_fn *fn, void *arg);
JF_HIDDEN int jf_elf_entries(const struct jf_elf *elf, jf_symbol_fn *fn, void *arg);

/* --- pads.c -------------------------------------------------------------------------- */

typedef void jf_pad_fn(uint64_t pad, void *arg);

JF_HIDDEN bool jf_pads(const struct jf_elf *elf, jf_pad_fn *fn, void *arg);

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

/* --- types.c -------------------------------------------------------------------------- */

struct jf_agent_probe;
struct jf_member;
struct jf_module;

/* Of a string's field, with its end. */
#define JF_NAME_MAX	48
JF_HIDDEN void jf_types_begin(const char *path);
JF_HIDDEN int jf_types_names(const struct jf_module *m, jf_symbol_fn *fn, void *arg);
JF_HIDDEN bool jf_types_strings(void);
JF_HIDDEN void jf_types_apply(struct jf_agent_probe *p, const struct jf_module *m, uintptr_t start);
JF_HIDDEN void jf_types_forget(struct jf_agent_probe *p);
JF_HIDDEN const struct jf_member *jf_member_find(const struct jf_agent_probe *p, const char *name, size_t len);
JF_HIDDEN const char *jf_member_missing(const struct jf_agent_probe *p);

/* --- displace.c ----------------------------------------------------------------------- */

/* Bytes of the longest instruction. */
#define JF_INSN_MAX	15

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
 * @ends: the next instruction is not executed after it
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
JF_HIDDEN bool jf_place_scarce(void);
JF_HIDDEN bool jf_place_heap(void);
JF_HIDDEN void jf_place_free(uintptr_t at, size_t size);

/* --- whole.c ------------------------------------------------------------------------- */

struct jf_module;

JF_HIDDEN bool jf_whole_led_to(struct jf_module *m, uintptr_t from, uintptr_t to);
JF_HIDDEN const char *jf_whole_is_data(struct jf_module *m, uintptr_t at, size_t size);
JF_HIDDEN const char *jf_whole_refuses(struct jf_module *m, uintptr_t at, unsigned int len, size_t size);

/* --- frame.c ------------------------------------------------------------------------- */

JF_HIDDEN bool jf_frame_text(const struct jf_module *m, uintptr_t at, uintptr_t *start, uintptr_t *end);
JF_HIDDEN bool jf_frame_bounds(const struct jf_module *m, uintptr_t at, uintptr_t *start, uintptr_t *end);
JF_HIDDEN long jf_frame_depth(const struct jf_module *m, uintptr_t at);

/* --- exit.c -------------------------------------------------------------------------- */

/* Bytes from where the jump of an exit's probe can be to the exit itself. */
#define JF_LATE_MAX	24

/* Parts of a function, each of which is in one place. */
#define JF_PARTS_MAX	4

struct jf_part {
	uintptr_t	start;
	uintptr_t	end;
};

enum jf_exit_how {
	JF_EXIT_RET,
	JF_EXIT_JUMP,		/* whenever it is executed */
	JF_EXIT_COND,		/* by flags */
	JF_EXIT_TARGET,		/* if it leads out of the function */
};

/**
 * struct jf_exit - an instruction by which a function is left
 * @at:     where it is
 * @how:    enum jf_exit_how
 * @cond:   of JF_EXIT_COND: the last four bits of its opcode
 * @tail:   to another function, and not to the caller
 * @filled: nothing leads into the bytes after it, up to the end of a line
 * @beside: another function begins, or may begin, in the bytes after it that a jump takes
 * @late:   so many bytes before it an instruction begins that a jump can replace, and nothing of
 *          the function leads in between; 0: no such instruction exists
 * @to:     of JF_EXIT_TARGET
 */
struct jf_exit {
	uintptr_t		at;
	uint8_t			how;
	uint8_t			cond;
	bool			tail;
	bool			filled;
	bool			beside;
	uint8_t			late;
	struct jf_operand	to;
};

/**
 * struct jf_exits - of a function
 * @exit: all of them
 * @num:  how many
 * @part: where the function is
 * @nr_parts: how many of these
 */
struct jf_exits {
	struct jf_exit	*exit;
	size_t		num;
	struct jf_part	part[JF_PARTS_MAX];
	unsigned int	nr_parts;
};

/**
 * struct jf_call - a function whose calls are recorded
 * @entry:      its entry, which has the event's number
 * @generation: another one each time that it is switched on: earlier entries have no exit
 * @exits:      where it is left
 * @min:        shorter calls are not recorded; in nanoseconds
 * @sum:        numbers of counters for sums, by enum jf_sum; NULL: calls are recorded
 */
struct jf_call {
	const struct jf_spot	*entry;
	uint32_t		generation;
	struct jf_exits		exits;
	uint64_t		min;
	const uint16_t		*sum;
};

/*
 * Nanoseconds of calls that are in no other of their function; of those that are; of all, without
 * calls within; of the longest; calls by jf_sum_bucket().
 */
enum jf_sum {
	JF_SUM_TOTAL,
	JF_SUM_WITHIN,
	JF_SUM_SELF,
	JF_SUM_MAX,
	JF_SUM_BUCKET,
	JF_SUM_NUM = JF_SUM_BUCKET + JF_SUM_BUCKETS
};

JF_HIDDEN const char *jf_exits_find(struct jf_module *m, uintptr_t start, uintptr_t probe, size_t size, struct jf_exits *e);
JF_HIDDEN void jf_exits_free(struct jf_exits *e);

/* True if @at is in the function. */
static inline bool jf_exits_inside(const struct jf_exits *e, uintptr_t at)
{
	unsigned int i;

	for (i = 0; i < e->nr_parts; i++)
		if (at >= e->part[i].start && at < e->part[i].end)
			return true;
	return false;
}

/* --- pair.c -------------------------------------------------------------------------- */

JF_HIDDEN int jf_pair_begin(uintptr_t end, size_t size, size_t thread, uint64_t hz);

/* --- detour.c ------------------------------------------------------------------------- */

enum jf_way {
	JF_WAY_NONE,
	JF_WAY_JUMP,		/* in place of one instruction that is long enough */
	JF_WAY_SHORT,		/* the next bytes stay, and are part of the distance */
	JF_WAY_SPAN,		/* in place of several, to which nothing leads but to the first */
	JF_WAY_BREAK,		/* a breakpoint */
	JF_WAY_BESIDE,		/* short ones may reach into the next function */
};

/**
 * struct jf_detour - a place, and the code to which it leads
 * @way:  how
 * @byte: one byte is all that changes
 * @why:  it cannot be; or why it is no jump
 * @poke: the change that leads there
 * @skip: and where the copies begin, which record nothing
 * @insn: the instructions that were copied, as they stood
 * @nr_insn: bytes of them
 * @code: its bytes, until they are written
 * @size: of them
 * @at:   where they are
 * @hop:  where the text leads, if that has no room for all of it: a jump to @at; or 0
 * @hop_code: that jump
 * @former: another one of the same place, for other bytes around it
 */
struct jf_detour {
	enum jf_way		way;
	bool			byte;
	const char		*why;
	struct jf_text_poke	poke;
	uintptr_t		skip;
	uint8_t			insn[JF_LATE_MAX + JF_INSN_MAX];
	uint8_t			nr_insn;
	uintptr_t		at;
	uintptr_t		hop;
	uint8_t			hop_code[JF_TEXT_MAX];
	size_t			size;
	struct jf_detour	*former;
	uint8_t			code[256];
};

/* Where the text leads. */
static inline uintptr_t jf_detour_lead(const struct jf_detour *d)
{
	return d->hop ? d->hop : d->at;
}

/* Which ways may be taken: bits of 1 << enum jf_way. A breakpoint only if it is asked for. */
extern unsigned int jf_ways JF_HIDDEN;
JF_HIDDEN int jf_detour_make(struct jf_detour *d, struct jf_module *module, uintptr_t at, size_t size, size_t avail,
			     uint32_t number, bool fill, unsigned int late);
JF_HIDDEN void jf_detour_drop(struct jf_detour *d);

/* --- point.c -------------------------------------------------------------------------- */

struct jf_agent_probe;
struct jf_calls;

/**
 * struct jf_point - a place of text where probes are
 * @beside: the next one in its part of the table of all
 * @module: its object, or NULL: it is the agent's own
 * @spots:  of the probes that are there, at least one
 * @at:     where
 * @avail:  bytes from there on that are text
 * @size:   those of its function, as its symbol says; 0: it is not known
 * @text:   those that a jump is made of, as its file has them
 * @nr_text: of these
 * @number: by which its code finds @spots, or UINT32_MAX
 * @depth:  how many others must be led before it
 * @made:   its code is there
 * @led:    the text leads there; also when all are off, if another one needs that, or the text
 *          could not be changed back
 * @kept:   another patcher can have a jump to its code: that stays
 * @planned: it is about to be led
 * @listed: it is in a list of point.c
 * @asked:  it is one of those that jf_points_lead() is called for
 * @filled: the bytes after its instruction, up to the end of a line, are not executed
 * @hemmed: another function begins in the bytes after it: they may be no jump's distance
 * @late:   the recorded instruction is so many bytes after it
 * @detour: how it is done
 * @former: how it was done, as long as the bytes around it were others
 */
struct jf_point {
	struct jf_point		*beside;
	struct jf_module	*module;
	struct jf_spot		*spots;
	uintptr_t		at;
	size_t			avail;
	size_t			size;
	uint8_t			text[JF_TEXT_MAX];
	uint8_t			nr_text;
	uint32_t		number;
	unsigned int		depth;
	bool			made;
	bool			led;
	bool			kept;
	bool			planned;
	bool			listed;
	bool			asked;
	bool			filled;
	bool			hemmed;
	uint8_t			late;
	struct jf_detour	detour;
	struct jf_detour	*former;
};

JF_HIDDEN struct jf_point *jf_point_at(uintptr_t at);
JF_HIDDEN int jf_point_join(struct jf_agent_probe *p, struct jf_module *module, size_t avail);
JF_HIDDEN void jf_point_leave(struct jf_agent_probe *p);
JF_HIDDEN bool jf_point_stands(const struct jf_point *t);
JF_HIDDEN bool jf_point_is_ours(const struct jf_point *t);
JF_HIDDEN bool jf_point_restored(struct jf_point *t);
JF_HIDDEN bool jf_point_stays(const struct jf_point *t);
JF_HIDDEN void jf_point_keep(struct jf_point *t);
JF_HIDDEN void jf_points_lead(struct jf_point **points, size_t num);
JF_HIDDEN int jf_points_unlead(struct jf_point **points, size_t num);

/* --- probe.c -------------------------------------------------------------------------- */

/**
 * struct jf_agent_probe - an event of a program that can be recorded
 * @spot:   the part of record.c
 * @kind:   of probes; JF_KIND_ANY: it is a part of another one, or the agent's own
 * @next:   of its module
 * @point:  where it is
 * @group:  the note's provider, or its object's name
 * @name:   of it
 * @why:    it could not be switched on, or is no jump; or NULL
 * @queued: it is going to be switched on
 * @semaphore: is counted up while it is on, or NULL
 * @event:  as the trace is told of it
 * @fields: of that
 * @names:  of those
 * @nr_fields: without strings
 * @strings: a bit for each argument that is recorded as a string, too
 * @known_strings: a bit for each of these strings that need not be asked for
 * @string_names: of their fields
 * @calls:  of a function whose calls are recorded
 * @choice_why: why it could not be chosen which records are made, or NULL
 * @members: memory that its arguments lead to, or NULL
 * @path:    of each
 * @nr_members: how many
 * @typed:   its arguments are known by debug information
 */
struct jf_agent_probe {
	struct jf_spot		spot;
	enum jf_kind		kind;
	struct jf_agent_probe		*next;
	struct jf_point		*point;
	char			*group;
	char			*name;
	const char		*why;
	bool			queued;
	uint16_t		*semaphore;
	struct jf_event		event;
	struct jf_event_field	fields[JF_FUNCTION_FIELDS + JF_VECTORS_MAX + JF_STRINGS_MAX + 1];
	char			names[JF_ARGS_MAX][8];
	unsigned int		nr_fields;
	uint16_t		strings;
	uint16_t		known_strings;
	char			string_names[JF_STRINGS_MAX][JF_NAME_MAX];
	struct jf_calls		*calls;
	char			*choice_why;
	struct jf_member	*members;
	struct jf_path		*path;
	unsigned int		nr_members;
	bool			typed;
};

/**
 * struct jf_member - memory that an argument leads to
 * @field: its name, class and labels, and the end of fields
 * @why:   it cannot be read, or NULL
 */
struct jf_member {
	struct jf_event_field	field[2];
	char			*why;
};

static inline struct jf_agent_probe *jf_probe_of(struct jf_spot *spot)
{
	return (struct jf_agent_probe *)(void *)((char *)spot - offsetof(struct jf_agent_probe, spot));
}

JF_HIDDEN struct jf_agent_probe *jf_probe_new(struct jf_module *module, const char *group, const char *name,
					uintptr_t at, size_t avail);
JF_HIDDEN void jf_probe_note(struct jf_agent_probe *p, const char *args, uint16_t *semaphore);
JF_HIDDEN void jf_probe_function(struct jf_agent_probe *p);
JF_HIDDEN void jf_probe_call(struct jf_agent_probe *p);
JF_HIDDEN int jf_probe_strings(struct jf_agent_probe *p, uint16_t strings);
JF_HIDDEN void jf_module_add(struct jf_module *module, struct jf_agent_probe *p);
JF_HIDDEN void jf_probe_forget(struct jf_agent_probe *p);
JF_HIDDEN size_t jf_probes_on(struct jf_agent_probe **probes, size_t num, int *err);
JF_HIDDEN int jf_probes_off(struct jf_agent_probe **probes, size_t num);
JF_HIDDEN int jf_probe_watch(struct jf_agent_probe *p, enum jf_watch watch);
JF_HIDDEN int jf_probe_hook(uintptr_t at, size_t avail, void (*hook)(void));

/* --- choose.c ------------------------------------------------------------------------ */

JF_HIDDEN const char *jf_choose(struct jf_agent_probe *p, const char *text);

/* --- shown.c ------------------------------------------------------------------------- */

JF_HIDDEN const char *jf_show(struct jf_agent_probe *p, const char *members);

/* --- callers.c ----------------------------------------------------------------------- */

JF_HIDDEN struct jf_callers *jf_callers_get(const struct jf_step *step);
JF_HIDDEN void jf_callers_want(const char *text);
JF_HIDDEN bool jf_callers_begin(bool changed);
JF_HIDDEN int jf_callers_look(struct jf_module *m, void *failed);
JF_HIDDEN bool jf_callers_end(void);

/* --- calls.c ------------------------------------------------------------------------- */

JF_HIDDEN int jf_calls_new(struct jf_agent_probe *p, uintptr_t start, size_t size);
JF_HIDDEN const char *jf_calls_sum(struct jf_agent_probe *p, bool sums);
JF_HIDDEN void jf_calls_set_min(struct jf_calls *c, uint64_t min);
JF_HIDDEN void jf_calls_forget(struct jf_agent_probe *p);
JF_HIDDEN const char *jf_calls_refused(struct jf_agent_probe *p);
JF_HIDDEN void jf_calls_make(struct jf_agent_probe *p);
JF_HIDDEN size_t jf_calls_on(struct jf_agent_probe **probes, size_t num, int *err);
JF_HIDDEN int jf_calls_off(struct jf_agent_probe **probes, size_t num);

/* --- module.c ------------------------------------------------------------------------- */

struct dl_phdr_info;

/**
 * struct jf_module - a loaded object
 * @next:   of all
 * @beside: the next one in its part of the table by @base
 * @path:   of its file
 * @name:   the last part of that
 * @alias:  another name of it, or NULL: @path is a symbolic link, or the program was executed by
 *          way of one
 * @base:   its own 0
 * @phdr:   its program headers
 * @identity: of its headers: another file of that name has others
 * @start: of its mappings
 * @end:    of that
 * @seen:   by the walk with this number
 * @asked:  it has the probes that were asked for before it came: come.c sets it
 * @file:   its file, while that is read, or NULL
 * @stamp:  of the file that was opened last
 * @unread: why the file could not be read, -errno, or 0
 * @lack:   why not all of its notes and sites are known, -errno, or 0
 * @named:  that was said: by match.c, which sets it
 * @looked: for the next ones in its file
 * @copy:   it has a libjumpfunc of its own in it
 * @sites:  where that file has sites of libjumpfunc, ascending
 * @nr_sites: of them
 * @probes: that were made
 * @request: the last one that has switched its functions: match.c's
 * @seen_functions: so many of them were looked at for that
 * @text: where its text begins, of which whole.c has looked where anything leads
 * @text_size: bytes of that
 * @led_to: a bit for each of these, or NULL
 * @names: where functions begin, as symbols say, ascending; NULL: exit.c has not looked
 * @nr_names: of these
 */
struct jf_module {
	struct jf_module	*next;
	struct jf_module	*beside;
	char			*path;
	const char		*name;
	char			*alias;
	uintptr_t		base;
	const void		*phdr;
	unsigned int		phnum;
	uint64_t		identity;
	uintptr_t		start;
	uintptr_t		end;
	unsigned int		seen;
	bool			asked;
	const struct jf_elf	*file;
	struct jf_stamp		stamp;
	int			unread;
	int			lack;
	bool			named;
	bool			looked;
	bool			copy;
	uintptr_t		*sites;
	size_t			nr_sites;
	struct jf_agent_probe		*probes;
	unsigned int		request;
	size_t			seen_functions;
	uintptr_t		text;
	size_t			text_size;
	uint8_t			*led_to;
	uintptr_t		*names;
	size_t			nr_names;
};

/* The index of the first address, of ascending ones, that is not below @from; @num: none is. */
static inline size_t jf_first_from(const uintptr_t *at, size_t num, uintptr_t from)
{
	size_t low = 0, high = num;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (at[mid] < from)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Once, while the environment is as the kernel left it. */
JF_HIDDEN void jf_modules_begin(void);
/* NULL if this can be a probe, or the reason against it. */
JF_HIDDEN const char *jf_module_refuses(const struct jf_module *module, bool function, uintptr_t at);

/* True if @glob matches the function @name, by one of the module's names. */
JF_HIDDEN bool jf_module_matches(const struct jf_module *module, const char *glob, const char *name);
/* False: it matches none of its functions. */
JF_HIDDEN bool jf_module_meant(const struct jf_module *module, const char *glob);
/* jf_modules() with it, before others, finds the demangler of names. */
JF_HIDDEN int jf_module_demangler(struct jf_module *m, void *unused);
JF_HIDDEN struct jf_module *jf_module_new(const struct dl_phdr_info *info);
JF_HIDDEN uint64_t jf_module_identity(const struct dl_phdr_info *info);
JF_HIDDEN int jf_module_open(struct jf_module *m, struct jf_elf *elf);
JF_HIDDEN void jf_module_close(struct jf_module *m, struct jf_elf *elf);
JF_HIDDEN const uint8_t *jf_module_in_file(const struct jf_module *m, uintptr_t at, size_t num);
JF_HIDDEN size_t jf_module_text(const struct jf_module *m, uintptr_t at);
JF_HIDDEN uint16_t *jf_module_semaphore(const struct jf_module *m, uintptr_t at);

/* --- object.c ------------------------------------------------------------------------- */

/* Called for each module, while none can be unloaded. */
typedef int jf_module_fn(struct jf_module *module, void *arg);

JF_HIDDEN int jf_modules(jf_module_fn *fn, void *arg);
JF_HIDDEN bool jf_modules_changed(void);
JF_HIDDEN unsigned int jf_modules_elsewhere(char *name, size_t size);
JF_HIDDEN bool jf_modules_lack(char *name, size_t size);
/* Calls @fn for each function that is a probe or could be one: without a probe, its name alone. */
typedef int jf_function_fn(struct jf_module *module, const struct jf_symbol *symbol, uintptr_t at,
			   size_t avail, void *arg);
JF_HIDDEN int jf_module_functions(struct jf_module *module, jf_function_fn *fn, void *arg);

#endif /* JF_AGENT_H */
