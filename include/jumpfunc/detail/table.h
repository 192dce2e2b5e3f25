/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * How a module tells jumpfunc what it has: keys, sites, allowed targets.
 *
 * Nothing here is called by a user of jumpfunc. Including dynfunc.h, branch.h
 * or tracepoint.h is all that a module has to do.
 *
 * How it works: the macros of the public headers emit records into three
 * sections of the object file. Every object file (translation unit) that
 * includes this header gets one struct jf_table that says where its own records
 * begin and end. The begin and end labels are ordered around the records by
 * assembler subsections (0: begin, 1: records, 2: end), so neither a linker
 * script nor a particular link order is needed.
 *
 * The tables are announced as a module parameter whose operations are
 * jf_table_ops. The module loader collects all parameters of a module, from
 * however many object files, into one array that struct module points to. When
 * a module is about to be loaded, jumpfunc walks that array, takes the entries
 * with its own operations, and has found every table. The parameter has no file
 * in sysfs, and setting it on the command line is refused.
 *
 * Since jf_table_ops is exported by jumpfunc.ko, a module with tables cannot
 * be loaded before jumpfunc or outlive it.
 *
 * Code that was never patched is correct, only slower: a trampoline leads to an
 * indirect jump through the key, a call site calls the trampoline, a branch
 * site tests its key. So there is no moment, however early, at which a site
 * does the wrong thing.
 */
#ifndef JUMPFUNC_TABLE_H
#define JUMPFUNC_TABLE_H

#include <linux/build_bug.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/stddef.h>
#include <linux/stringify.h>
#include <linux/types.h>

#ifndef CONFIG_MODULES
#error "jumpfunc patches modules: CONFIG_MODULES is needed"
#endif

#ifndef CONFIG_64BIT
#error "jumpfunc's tables hold 64-bit pointers: CONFIG_64BIT is needed"
#endif

/*
 * Is there an architecture back end that patches text? Where not, the same
 * sources build to function pointers and plain loads.
 */
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#define JF_HAVE_PATCHING 1
#else
#define JF_HAVE_PATCHING 0
#endif

/* Changes whenever a record's layout or meaning does. */
#define JF_TABLE_MAGIC	0x6a660001

/* enum jf_ent_type - what a key controls */
enum jf_ent_type {
	JF_ENT_FUNC,		/* struct jf_func: what is called */
	JF_ENT_KEY,		/* struct jf_key: whether a branch is taken */
};

/* jf_ent.flags */
#define JF_ENT_NULL_OK	0x01	/* NULL target: the call is a nop */
#define JF_ENT_RET0	0x02	/* NULL target: the call returns 0 */
#define JF_ENT_RO	0x04	/* read-only once its module's init is done */
#define JF_ENT_ON	0x08	/* a jump-label key that starts enabled */
#define JF_ENT_TRACE	0x10	/* a tracepoint's: changes with its probes alone */

/**
 * struct jf_ent - what dynamic functions and jump-label keys have in common
 * @name:  as given to the DEFINE macro
 * @owner: the module that defines it
 * @type:  enum jf_ent_type
 * @flags: JF_ENT_*
 *
 * Never written after the build. What changes at run time beside the value
 * itself is kept by the core, which finds it by this struct's address.
 */
struct jf_ent {
	const char	*name;
	struct module	*owner;
	u16		type;
	u16		flags;
};

/* jf_site_rec.flags */
#define JF_SITE_CALL	0x01	/* inline call of a dynamic function */
#define JF_SITE_BRANCH	0x02	/* jump label: nop means false */
#define JF_SITE_BRANCH_INV 0x04	/* with JF_SITE_BRANCH: nop means true */

/**
 * struct jf_site_rec - one patchable instruction, as emitted at its place
 * @addr:  where it stands, relative to this field
 * @flags: JF_SITE_*
 * @ent:   the key that decides what stands there
 */
struct jf_site_rec {
	s32		addr;
	u32		flags;
	struct jf_ent	*ent;
};

/**
 * struct jf_ent_rec - one or more keys that this object file defines
 * @ent:    the first of them
 * @tramp:  dynamic functions: the trampoline's five-byte instruction
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
 * @sites_end:   behind the last one
 * @ents:        first key record
 * @ents_end:    behind the last one
 * @targets:     first list of allowed targets
 * @targets_end: behind the last one
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

/* Marks the module parameters that are jumpfunc tables. */
extern const struct kernel_param_ops jf_table_ops;

/* What a dynamic function leads to while it has no target. */
void jf_nop(void);
long jf_ret0(void);

/*
 * With clang's full LTO all files of a module become one assembly. There the
 * file's name keeps apart what else the object file does: a file's section, its
 * labels. (With thin LTO each stays an object file, and a function that is inlined
 * into another file takes its sites along to that one's records.) What it cannot
 * keep apart are static keys of the same name in two files: such a module is
 * refused when it is loaded.
 */
#ifdef CONFIG_LTO_CLANG_FULL
#define __JF_TU		"." KBUILD_BASENAME
#else
#define __JF_TU
#endif

#define __JF_SECTION(sec, sub)						\
	".pushsection " sec __JF_TU ", " #sub ", \"a\", @progbits\n\t"

#define __JF_MARKERS(sec)						\
	__JF_SECTION("__jf_" sec, 0) ".balign 8\n\t"			\
	"__jf_tu_" sec __JF_TU ":\n\t.popsection\n\t"			\
	__JF_SECTION("__jf_" sec, 2) ".balign 8\n\t"			\
	"__jf_tu_" sec "_end" __JF_TU ":\n\t.popsection\n\t"

/* A C name for such a label. */
#define __JF_MARKER(type, name)						\
	extern const struct type __jf_tu_##name[] asm("__jf_tu_" #name __JF_TU)

asm(__JF_MARKERS("sites") __JF_MARKERS("ents") __JF_MARKERS("targets"));

/* Local to this object file: the labels above. */
__JF_MARKER(jf_site_rec, sites);
__JF_MARKER(jf_site_rec, sites_end);
__JF_MARKER(jf_ent_rec, ents);
__JF_MARKER(jf_ent_rec, ents_end);
__JF_MARKER(jf_target_rec, targets);
__JF_MARKER(jf_target_rec, targets_end);

static const struct jf_table __jf_tu_table __used = {
	.magic		= JF_TABLE_MAGIC,
	.rec_size	= JF_TABLE_REC_SIZE,
	.owner		= THIS_MODULE,
	.sites		= __jf_tu_sites,
	.sites_end	= __jf_tu_sites_end,
	.ents		= __jf_tu_ents,
	.ents_end	= __jf_tu_ents_end,
	.targets	= __jf_tu_targets,
	.targets_end	= __jf_tu_targets_end,
};

module_param_cb(__jf_table, &jf_table_ops, (void *)&__jf_tu_table, 0);

/* Emit a key record; all arguments but @num and @stride are symbol names. */
#define __JF_ENT_REC(ent, tramp, num, stride)				\
	asm(__JF_SECTION("__jf_ents", 1)				\
	    ".balign 8\n\t"						\
	    ".quad " ent "\n\t"						\
	    ".quad " tramp "\n\t"					\
	    ".long " num ", " stride "\n\t"				\
	    ".popsection\n\t")

#endif /* JUMPFUNC_TABLE_H */
