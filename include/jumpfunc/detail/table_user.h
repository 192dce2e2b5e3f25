/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The tables of a program: detail/user.h says how they are found. Included by
 * table.h only.
 */
#ifndef JUMPFUNC_TABLE_USER_H
#define JUMPFUNC_TABLE_USER_H

#ifndef JUMPFUNC_TABLE_H
#error "include <jumpfunc/detail/table.h>"
#endif

#include <jumpfunc/detail/types.h>

/* The library has files that handle entities and define none. */
#ifndef JF_NO_TABLE
__JF_BEGIN_DECLS
/* Weak: a program may have no record of a kind. */
extern const struct jf_site_rec __start___jf_sites[]
	__attribute__((__weak__)) __JF_HIDDEN;
extern const struct jf_site_rec __stop___jf_sites[]
	__attribute__((__weak__)) __JF_HIDDEN;
extern const struct jf_site_rec __start___jf_sites_on[]
	__attribute__((__weak__)) __JF_HIDDEN;
extern const struct jf_site_rec __stop___jf_sites_on[]
	__attribute__((__weak__)) __JF_HIDDEN;
extern const struct jf_site_rec __start___jf_sites_now[]
	__attribute__((__weak__)) __JF_HIDDEN;
extern const struct jf_site_rec __stop___jf_sites_now[]
	__attribute__((__weak__)) __JF_HIDDEN;
extern const struct jf_ent_rec __start___jf_ents[]
	__attribute__((__weak__)) __JF_HIDDEN;
extern const struct jf_ent_rec __stop___jf_ents[]
	__attribute__((__weak__)) __JF_HIDDEN;

/* Every source file brings it, and the linker keeps one. */
extern struct jf_object __jf_object __JF_HIDDEN;
__attribute__((__weak__)) struct jf_object __jf_object = {
	JF_TABLE_MAGIC, JF_TABLE_REC_SIZE,
	__start___jf_sites, __stop___jf_sites,
	__start___jf_sites_on, __stop___jf_sites_on,
	__start___jf_sites_now, __stop___jf_sites_now,
	__start___jf_ents, __stop___jf_ents, 0
};

/*
 * Before the object's own constructors, and after its destructors: 101 is the
 * first priority that is not the compiler's.
 */
__attribute__((__constructor__(101), __used__))
static void __jf_object_load(void)
{
	__jf_object_register(&__jf_object);
}

__attribute__((__destructor__(101), __used__))
static void __jf_object_unload(void)
{
	__jf_object_unregister(&__jf_object);
}
__JF_END_DECLS
#endif

/* Where other objects find an entity of this one; and that, in another one. */
#define __JF_IMPORT_ENT(symbol, id)					\
	extern struct jf_ent *const __jf_export_##id __asm__(symbol)	\
		__attribute__((__visibility__("default")))
#define __JF_EXPORT_ENT(symbol, id, ent)				\
	__JF_IMPORT_ENT(symbol, id);					\
	static struct jf_ent_rec __jf_rec_export_##id __JF_RECORD("__jf_ents") = \
		{ ent, NULL, 0, 0 };					\
	struct jf_ent *const __jf_export_##id __JF_USED = ent

/* Announces entities of this object. */
#define __JF_ENT_REC_USER(id, ent, origin, num, stride)			\
	static struct jf_ent_rec __jf_rec_##id __JF_RECORD("__jf_ents") = \
		{ ent, origin, num, stride }

/* A struct jf_site_rec for 771, in assembly; struct jf_object has the sections. */
#define __JF_SITE_REC_USER(sec, label, ent, flags)			\
	__JF_SECTION(sec)						\
	".balign 4\n\t"							\
	".long 771b - .\n\t"						\
	".long " label " - .\n\t"					\
	".long " ent " - .\n\t"						\
	".long " flags "\n\t"						\
	".popsection\n\t"

#endif /* JUMPFUNC_TABLE_USER_H */
