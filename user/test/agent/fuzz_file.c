// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libFuzzer: the first byte gives the kind of the others: a file, a section of notes, or a note's
 * arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "user/agent/elf.h"
#include "user/agent/note.h"
#include "user/agent/operand.h"
#include "user/agent/value.h"
#include "user/trace/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int see(const struct jf_note *note, void *arg)
{
	struct jf_operand o[JF_ARGS_MAX];

	*(size_t *)arg += strlen(note->provider) + strlen(note->name) + (size_t)jf_operands(note->args, o, JF_ARGS_MAX);
	return 0;
}

static int count(const struct jf_symbol *s, void *arg)
{
	*(size_t *)arg += strlen(s->name);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jf_operand o[JF_ARGS_MAX];
	struct jf_section s;
	struct jf_elf elf;
	size_t sum = 0;
	char *text;
	int i, n;

	if (!size)
		return 0;
	switch (*data++) {
	case 0:
		s = (struct jf_section){ data, size - 1, 0 };
		jf_notes(&s, 0x1234, see, &sum);
		break;
	case 1:
		text = malloc(size);
		memcpy(text, data, size - 1);
		text[size - 1] = 0;
		n = jf_operands(text, o, JF_ARGS_MAX);
		for (i = 0; i < n; i++)
			if (o[i].kind && (o[i].base > 16 || o[i].index > 16 || !o[i].size || o[i].size > 8))
				abort();
		free(text);
		break;
	default:
		elf = (struct jf_elf){ data, size - 1 };
		if (jf_elf_check(&elf))
			break;
		s = jf_elf_section(&elf, ".note.stapsdt");
		if (s.data)
			jf_notes(&s, jf_elf_section(&elf, ".stapsdt.base").addr, see, &sum);
		jf_elf_functions(&elf, count, &sum);
	}
	return 0;
}
