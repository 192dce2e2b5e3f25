// SPDX-License-Identifier: GPL-2.0
/*
 * Architectures without patching: nothing is ever written to text. Dynamic
 * functions are pointers, branches load their key, tracepoints use the
 * iterator.
 */
#include "arch/arch.h"
#include "arch/image.h"
#include "arch/stack.h"
#include "arch/text.h"

#include <linux/export.h>

#include <linux/string.h>

int jf_arch_init(const char *backend)
{
	if (strcmp(backend, "auto") && strcmp(backend, "indirect")) {
		pr_err("no back end \"%s\" on this architecture: auto or indirect\n",
		       backend);
		return -EINVAL;
	}
	return 0;
}

void jf_arch_exit(void)
{
}

const char *jf_arch_backend(void)
{
	return "indirect";
}
EXPORT_SYMBOL_GPL(jf_arch_backend);

bool jf_arch_patches(void)
{
	return false;
}

bool jf_arch_has_sites(void)
{
	return false;
}

/* With no back end that patches, kernel/consumers/tables.c keeps no sites. */
int jf_arch_adopt(struct jf_site *site, unsigned long tramp)
{
	return -EOPNOTSUPP;
}

int jf_arch_encode(const struct jf_site *site, enum jf_op op,
		   unsigned long target, u64 *insn)
{
	return -EOPNOTSUPP;
}

int jf_arch_verify(const struct jf_poke *pokes, unsigned int num, size_t *bad)
{
	return -EOPNOTSUPP;
}

void jf_arch_settle(void)
{
}

int jf_arch_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	return -EOPNOTSUPP;
}

/* Nothing is written. */
#include "arch/no_undo.h"

unsigned long jf_arch_show(struct seq_file *m, const struct jf_site *site)
{
	return 0;
}

int jf_arch_image_get(const struct jf_arch_call *calls, unsigned int num,
		      unsigned int nargs, void **image)
{
	return -EOPNOTSUPP;
}

void jf_arch_image_put(void *image)
{
}

bool jf_arch_image_span(const void *image, unsigned long *start,
			unsigned long *end)
{
	return false;
}

/* Only that architecture's own code knows its page tables. */
bool jf_arch_is_text(unsigned long addr)
{
	return true;
}

/* Nor does anything else tell the kernel's text from the code that BPF compiled. */
bool jf_arch_is_image(unsigned long addr)
{
	return true;
}

int jf_arch_typed(void *func, const void *like, void **typed)
{
	*typed = func;
	return 0;
}

/* Nothing here knows how to read another task's stack. */
bool jf_arch_can_scan(void)
{
	return false;
}

const char *jf_arch_unwind_lacks(void)
{
	return NULL;
}

int jf_arch_add_tests(struct jf_spans *s, unsigned long start, unsigned long end)
{
	return 0;
}

/* Stacks are not scanned here. */
bool jf_arch_is_padding(unsigned long start, unsigned long end)
{
	return true;
}

bool jf_arch_leads_into(unsigned long start, unsigned long end,
			unsigned long to_start, unsigned long to_end)
{
	return false;
}

bool jf_arch_scan(struct task_struct *t, struct jf_scan *scan, bool strict)
{
	return true;
}

void jf_arch_stats_get(struct jf_arch_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
}
