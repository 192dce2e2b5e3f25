/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* One loaded object: its names, its file, and the places of its text and data (module.c). */
#ifndef JF_AGENT_MODULE_H
#define JF_AGENT_MODULE_H

#include "agent.h"
#include "elf.h"

struct dl_phdr_info;
struct jf_agent_probe;

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
JF_HIDDEN bool jf_module_awaits(void);
JF_HIDDEN uintptr_t jf_module_awaited(struct jf_module *m, size_t *size);
JF_HIDDEN struct jf_module *jf_module_new(const struct dl_phdr_info *info);
JF_HIDDEN uint64_t jf_module_identity(const struct dl_phdr_info *info);
JF_HIDDEN int jf_module_open(struct jf_module *m, struct jf_elf *elf);
JF_HIDDEN void jf_module_close(struct jf_module *m, struct jf_elf *elf);
JF_HIDDEN const uint8_t *jf_module_in_file(const struct jf_module *m, uintptr_t at, size_t num);
/* Can these bytes be read: the program may have taken away or hidden some of its text. */
JF_HIDDEN bool jf_module_shows(uintptr_t at, size_t num);
JF_HIDDEN size_t jf_module_text(const struct jf_module *m, uintptr_t at);
JF_HIDDEN uint16_t *jf_module_semaphore(const struct jf_module *m, uintptr_t at);

#endif /* JF_AGENT_MODULE_H */
