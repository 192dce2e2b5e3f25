/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The interfaces of object.c and the parts around it: from an object's tables to the library's data
 * about it.
 */
#ifndef JF_LIB_OBJECT_H
#define JF_LIB_OBJECT_H

#include "lib.h"

#include <link.h>

/* All of these with the lock held, but for jf_look_around(). */

/* True if these bytes are within @m. */
static inline bool jf_mod_holds(const struct jf_mod *m, const void *p, size_t size)
{
	uintptr_t addr = (uintptr_t)p;

	return addr >= m->start && addr <= m->end && size <= m->end - addr;
}

/* --- linker.c --------------------------------------------------------------------- */

/**
 * struct jf_look - a request to the dynamic linker about an object that is loaded
 * @m:    the object: where it is
 * @span: where all objects are, those that are not known among them
 * @nr:   how many these are
 * @max:  for so many there is room
 * @file: by which name it was opened
 * @path: that file, from the root on, or NULL: from malloc(), as @span
 * @base: the origin of its program headers' addresses
 * @phdr: these, as long as it is mapped
 * @nr_phdr: their number
 */
struct jf_look {
	struct jf_mod	m;
	struct span {
		uintptr_t	start, end;
	}		*span;
	size_t		nr, max;
	const char	*file;
	char		*path;
	uintptr_t	base;
	const ElfW(Phdr) *phdr;
	size_t		nr_phdr;
};

/* Before the lock: callbacks of others have the linker's lock, and may want ours. */
void jf_look_around(struct jf_look *look);
/* Note in @m, as long as it is known, where its text is, and its file. */
void jf_look_texts(struct jf_mod *m, const struct jf_look *look);
void jf_look_path(struct jf_mod *m, const char *path);
/* True if these bytes are in some object. If there was no memory for its bounds: no. */
bool jf_look_holds(const struct jf_look *look, const void *p, size_t size);

/* --- proxy.c ---------------------------------------------------------------------- */

/* Element @i of the array that begins with @first, in an object that is not known. */
static inline const struct jf_ent *jf_ent_element(const struct jf_ent *first, size_t i)
{
	return (const struct jf_ent *)((const char *)first + i * sizeof(struct jf_key));
}

/*
 * Entities of @m that stand in for entities of other objects take the values of these. An entity
 * that is not known yet cannot be changed, so that a copy of its value is right until it is. To
 * change it from here is refused like that.
 */
void jf_proxies_link(struct jf_mod *m);
/* Entities of @m that wait for one of @loaded get it. Is there one? */
bool jf_proxies_link_waiting(struct jf_mod *m, const struct jf_mod *loaded);
void jf_proxy_unlink(struct jf_ctl *ctl);
/* @m is closed: neither its imports nor its exports are linked any more. */
void jf_proxies_unlink(struct jf_mod *m);

/* --- tables.c --------------------------------------------------------------------- */

/* True if another part of the same object has brought the tables of @o. */
bool jf_tables_known(const struct jf_object *o);
/* Check the tables of @m, and enter their contents. 0, or it is refused. */
int jf_tables_add(struct jf_mod *m, const struct jf_look *look);
void jf_mod_free(struct jf_mod *m);

/* --- present.c -------------------------------------------------------------------- */

/* Patch the sites of @m, which was loaded, and of the objects that waited for it. */
void jf_mod_present(struct jf_mod *m);

#endif /* JF_LIB_OBJECT_H */
