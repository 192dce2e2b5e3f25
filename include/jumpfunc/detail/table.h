/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The tables by which a module announces its entities (dynamic functions and
 * keys), sites and allowed targets.
 *
 * A module only has to include dynfunc.h, branch.h or tracepoint.h. It uses
 * nothing in this header directly.
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
 * a module is being loaded, jumpfunc walks that array and takes the entries
 * with its own operations; these are the tables. The parameter has no file in
 * sysfs, and setting it on the command line is refused.
 *
 * Since jf_table_ops is exported by jumpfunc.ko, a module with tables cannot
 * be loaded before jumpfunc or outlive it.
 *
 * Code that was never patched is correct, only slower: a trampoline leads to an
 * indirect jump through struct jf_func, a call site calls the trampoline, a
 * branch site tests its key. So no site ever does the wrong thing, however
 * early it runs.
 */
#ifndef JUMPFUNC_TABLE_H
#define JUMPFUNC_TABLE_H

#ifndef __KERNEL__
#include <jumpfunc/detail/table_user.h>
#else

#include <linux/build_bug.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/stddef.h>
#include <linux/stringify.h>

#include <jumpfunc/detail/types.h>

/*
 * With clang's full LTO all files of a module become one assembly. Elsewhere
 * each object file has sections and labels of its own; there the file's name in
 * them keeps the files apart. (With thin LTO each file stays an object file,
 * and a function that is inlined into another file adds its sites to that
 * file's records.) The names of static keys are not kept apart: a module that
 * has two of the same name in two files is not loaded.
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

/* jumpfunc itself has files that handle entities and define none. */
#ifndef JF_NO_TABLE
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
#endif

/* Emit an entity record; @ent and @tramp are symbol names. */
#define __JF_ENT_REC(ent, tramp, num, stride)				\
	asm(__JF_SECTION("__jf_ents", 1)				\
	    ".balign 8\n\t"						\
	    ".quad " ent "\n\t"						\
	    ".quad " tramp "\n\t"					\
	    ".long " num ", " stride "\n\t"				\
	    ".popsection\n\t")

#endif /* __KERNEL__ */
#endif /* JUMPFUNC_TABLE_H */
