/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The records of which a module's tables consist; jumpfunc/detail/table.h says
 * how they are made and found. Not for users.
 */
#ifndef JUMPFUNC_TYPES_H
#define JUMPFUNC_TYPES_H

#include <jumpfunc/detail/macros.h>

#ifdef __KERNEL__
#include <linux/types.h>

struct module;

#define __JF_OWNER	struct module
#define __JF_THIS	THIS_MODULE

#ifndef CONFIG_MODULES
#error "jumpfunc patches modules: CONFIG_MODULES is needed"
#endif

#ifndef CONFIG_64BIT
#error "jumpfunc's tables hold 64-bit pointers: CONFIG_64BIT is needed"
#endif

/*
 * Set if text can be patched on this architecture. Elsewhere the same sources
 * build to function pointers and plain loads.
 */
#if (defined(CONFIG_X86_64) && !defined(CONFIG_UML)) || defined(CONFIG_ARM64)
#define JF_HAVE_PATCHING 1
#else
#define JF_HAVE_PATCHING 0
#endif

#else /* a program */
#include <jumpfunc/detail/user.h>

struct jf_object;

#define __JF_OWNER	struct jf_object
#define __JF_THIS	(&__jf_object)

/*
 * JF_GENERIC, which users may define, chooses the form of other machines on any machine. On
 * aarch64 instructions are read as data, and asm statements name addresses that are 4 GiB away at
 * most.
 */
#if !defined(JF_GENERIC) && defined(__LP64__) &&				\
	(defined(__x86_64__) || (defined(__AARCH64EL__) && !defined(__AARCH64_CMODEL_LARGE__)))
#define JF_HAVE_PATCHING 1
#else
#define JF_HAVE_PATCHING 0
#endif
#endif /* __KERNEL__ */

/* Changes whenever a record's layout or meaning does. */
#define JF_TABLE_MAGIC	0x6a660004

/* enum jf_ent_type - kind of an entity */
enum jf_ent_type {
	JF_ENT_FUNC,		/* struct jf_func: the target of calls */
	JF_ENT_KEY,		/* struct jf_key: the direction of branches */
};

/* jf_ent.flags */
#define JF_ENT_NULL_OK	0x01	/* NULL target: the call is a nop */
#define JF_ENT_RET0	0x02	/* NULL target: the call returns 0 */
#define JF_ENT_RO	0x04	/* read-only once its module's init is done */
#define JF_ENT_ON	0x08	/* a jump-label key that starts enabled */
#define JF_ENT_TRACE	0x10	/* a tracepoint's: changes with its probes alone */
#define JF_ENT_DEFERRED	0x20	/* a key in a struct jf_key_deferred */
#define JF_ENT_CONTRACT	0xc0	/* enum jf_contract; see contract.h */
#define JF_ENT_UNKNOWN	0x100	/* imported by a program: jf_func.init leads to the real one */
#define JF_ENT_SDT	0x200	/* in a program: a key in a struct jf_sdt (sdt.h) */

/* How a dynamic function is to be updated. */
#define __JF_CPUSLOCKED	0x01	/* the caller holds cpus_read_lock() */

/**
 * struct jf_ent - an entity: a dynamic function or a jump-label key
 * @name:  as given to the DEFINE macro
 * @owner: the module (in a program: the linked object) that defines it
 * @type:  enum jf_ent_type
 * @flags: JF_ENT_*
 * @ctl:   in a program, libjumpfunc's own data about it
 *
 * The part that both have in common, never written after the build. The core
 * keeps all other state that changes at run time, and finds it by this struct's
 * address.
 */
struct jf_ent {
	const char	*name;
	__JF_OWNER	*owner;
	uint16_t	type;
	uint16_t	flags;
#ifndef __KERNEL__
	struct jf_ctl	*ctl;
#endif
};

/* Its constant part, without the name of any member: for C++, too. */
#ifdef __KERNEL__
#define __JF_ENT_INIT(name, type, flags)	{ name, __JF_THIS, type, flags }
#else
#define __JF_ENT_INIT(name, type, flags)	{ name, __JF_THIS, type, flags, NULL }
#endif

/* jf_site_rec.flags */
#define JF_SITE_CALL	0x01	/* inline call of a dynamic function */
#define JF_SITE_BRANCH	0x02	/* jump label: nop means false */
#define JF_SITE_BRANCH_INV 0x04	/* with JF_SITE_BRANCH: nop means true */

#ifdef __KERNEL__
/**
 * struct jf_site_rec - one patchable instruction, as emitted at its place
 * @addr:  where it stands, relative to this field
 * @flags: JF_SITE_*
 * @ent:   the entity that decides which instruction stands there
 */
struct jf_site_rec {
	s32		addr;
	u32		flags;
	struct jf_ent	*ent;
};

/**
 * struct jf_ent_rec - one or more entities that this object file defines
 * @ent:    the first of them
 * @tramp:  dynamic functions: the trampoline
 * @num:    how many there are (arrays of jump-label keys), 1 otherwise
 * @stride: bytes from one to the next
 */
struct jf_ent_rec {
	struct jf_ent	*ent;
	void		*tramp;
	u32		num;
	u32		stride;
};

/**
 * struct jf_target - a function that a dynamic function may be set to by name
 * @func: the function
 * @name: its name in the source
 */
struct jf_target {
	void		*func;
	const char	*name;
};

/**
 * struct jf_target_rec - a list of allowed targets for one dynamic function
 * @ent:     the dynamic function
 * @targets: the list
 * @num:     its length
 */
struct jf_target_rec {
	struct jf_ent	*ent;
	const struct jf_target *targets;
	u64		num;
};

/**
 * struct jf_table - the records of one object file
 * @magic:       JF_TABLE_MAGIC
 * @rec_size:    sizes of the three records, 8 bits each
 * @owner:       the module that the object file became part of
 * @sites:       first site record
 * @sites_end:   end of the last one
 * @ents:        first entity record
 * @ents_end:    end of the last one
 * @targets:     first list of allowed targets
 * @targets_end: end of the last one
 */
struct jf_table {
	u32		magic;
	u32		rec_size;
	struct module	*owner;
	const struct jf_site_rec *sites, *sites_end;
	const struct jf_ent_rec *ents, *ents_end;
	const struct jf_target_rec *targets, *targets_end;
};

#define JF_TABLE_REC_SIZE						\
	(sizeof(struct jf_site_rec) | sizeof(struct jf_ent_rec) << 8 |	\
	 sizeof(struct jf_target_rec) << 16)

struct kernel_param_ops;

/* Marks the module parameters that are jumpfunc tables. */
extern const struct kernel_param_ops jf_table_ops;

#else /* a program */
#define JF_SITE_TRAMP	0x08	/* the jump of a trampoline */
#define JF_SITE_TESTED	0x10	/* with JF_SITE_BRANCH: as compiled it leads to a test */
#define JF_SITE_ON	0x20	/* with JF_SITE_BRANCH: compiled for a key that starts enabled */
#define JF_SITE_PREFIX	0x40	/* with JF_SITE_BRANCH: 0x2e stands before it, and belongs to it */
/*
 * With JF_SITE_BRANCH, a call that jf-sdt has changed: true means a call of the label; of
 * JF_SITE_TAIL a jump there, and false a return; of JF_SITE_TEST %eax becomes the key's value.
 */
#define JF_SITE_PROBE	0x80
#define JF_SITE_TAIL	0x100	/* with JF_SITE_PROBE */
#define JF_SITE_TEST	0x200	/* with JF_SITE_PROBE */

/**
 * struct jf_site_rec - one patchable instruction; all are relative to themselves
 * @addr:  where it stands; of a call, where the code begins that leads to it
 * @label: where the other side of a branch begins; the way past a trampoline's
 *         jump; the trampoline that is called
 * @ent:   the entity that decides which instruction stands there
 * @flags: JF_SITE_*
 */
struct jf_site_rec {
	int32_t		addr;
	int32_t		label;
	int32_t		ent;
	uint32_t	flags;
};

/**
 * struct jf_ent_rec - one or more entities that this object defines
 * @ent:    the first of them
 * @origin: NULL, or where the entity is announced that these stand in for
 * @num:    how many there are (arrays of jump-label keys), 1 otherwise; 0: the record of
 *          this one is another, and this says that it is exported
 * @stride: bytes from one to the next
 */
struct jf_ent_rec {
	struct jf_ent	*ent;
	struct jf_ent	*const *origin;
	uint32_t	num;
	uint32_t	stride;
};

/**
 * struct jf_object - the tables of a program or of a shared object
 * @magic:     JF_TABLE_MAGIC
 * @rec_size:  sizes of the two records, 16 bits each
 * @sites:     first record of a site that is read when its entity changes: calls,
 *             and branches of keys that start disabled
 * @sites_end: after the last one
 * @on:        first record of a branch of a key that starts enabled
 * @on_end:    after the last one
 * @now:       first record of a site that is read when the object is loaded:
 *             trampolines, and branches that lead to a test as compiled
 * @now_end:   after the last one
 * @ents:      first entity record
 * @ents_end:  after the last one
 * @mod:       libjumpfunc's record of it
 */
struct jf_object {
	uint32_t	magic;
	uint32_t	rec_size;
	const struct jf_site_rec *sites, *sites_end;
	const struct jf_site_rec *on, *on_end;
	const struct jf_site_rec *now, *now_end;
	const struct jf_ent_rec *ents, *ents_end;
	struct jf_mod	*mod;
};

#define JF_TABLE_REC_SIZE						\
	(sizeof(struct jf_site_rec) | sizeof(struct jf_ent_rec) << 16)

__JF_BEGIN_DECLS
/* Called by each source file's constructor and destructor. */
void __jf_object_register(struct jf_object *o);
void __jf_object_unregister(struct jf_object *o);
__JF_END_DECLS
#endif /* __KERNEL__ */

/* A dynamic function calls one of these while its target is NULL. */
__JF_BEGIN_DECLS
void jf_nop(void);
long jf_ret0(void);
__JF_END_DECLS

#endif /* JUMPFUNC_TYPES_H */
