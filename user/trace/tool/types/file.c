// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A file and its debug information: of the file itself, of the file that .gnu_debuglink names, or
 * by build-id below /usr/lib/debug; from servers if DEBUGINFOD_URLS is set.
 */
#include "file.h"

#include <string.h>

void open_file(struct file *f, const char *path)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	GElf_Ehdr head;
	GElf_Addr bias;

	f->dwfl = dwfl_begin(&callbacks);
	f->module = f->dwfl ? dwfl_report_offline(f->dwfl, "", path, -1) : NULL;
	if (f->dwfl)
		dwfl_report_end(f->dwfl, NULL, NULL);
	f->elf = f->module ? dwfl_module_getelf(f->module, &bias) : NULL;
	if (!f->elf || !gelf_getehdr(f->elf, &head) || head.e_machine != EM_X86_64)
		f->module = NULL;
}

void close_file(struct file *f)
{
	if (f->dwfl)
		dwfl_end(f->dwfl);
}

/* Its own table of symbols was removed. */
static bool is_stripped(const struct file *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while ((section = elf_nextscn(f->elf, section)))
		if (gelf_getshdr(section, &head) && head.sh_type == SHT_SYMTAB)
			return false;
	return true;
}

int each_name(const struct file *f, name_fn *fn, void *arg)
{
	int num = f->module && is_stripped(f) ? dwfl_module_getsymtab(f->module) : 0, i, ret = 0;
	GElf_Addr at;
	GElf_Sym s;

	for (i = 1; i < num && !ret; i++) {
		const char *name = dwfl_module_getsym_info(f->module, i, &s, &at, NULL, NULL, NULL);

		if (name && *name && !strpbrk(name, " \n") && GELF_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF)
			ret = fn(name, &s, arg);
	}
	return ret;
}
