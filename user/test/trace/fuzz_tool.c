// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A fuzzer, for libFuzzer, of the readers of messages of the control socket and of files of
 * programs. The first byte of an input says which: a request, an answer's words, or an ELF file.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../trace/tool/tool.h"
#include "../../trace/tool/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool within(const char *word, const uint8_t *data, size_t size)
{
	const char *begin = (const char *)data, *end = begin + size;

	return word >= begin && word < end && memchr(word, 0, (size_t)(end - word));
}

static void try_words(const uint8_t *data, size_t size)
{
	struct jf_message m = { 0, false, "" };
	struct jf_words w;
	unsigned int i;

	if (jf_words_split(&w, (const char *)data, size))
		return;
	assert(w.num >= 1 && w.num <= JF_CONTROL_WORDS);
	for (i = 0; i < w.num; i++) {
		assert(within(w.word[i], data, size));
		jf_words_add(&m, w.word[i]);
	}
	/* A message that is put together again is as before. */
	assert(!m.full && m.size == size && !memcmp(m.data, data, size));
}

static void try_request(const uint8_t *data, size_t size)
{
	struct jf_request r;
	int err = jf_request_parse(&r, (const char *)data, size);

	assert(!err || err == -EPROTO || err == -EPROTONOSUPPORT || err == -ENOSYS || err == -EINVAL);
	if (err)
		return;
	assert(size <= JF_CONTROL_MAX && r.command < JF_COMMANDS);
	assert(!r.glob || (within(r.glob, data, size) && *r.glob));
	assert(!r.options.parent || (within(r.options.parent, data, size) && *r.options.parent == '/'));
	assert(r.options.mode <= JF_RECORD_DISCARD && r.options.clock <= JF_RECORD_CLOCK_NONE);
	assert((r.command == JF_COMMAND_ENABLE || r.command == JF_COMMAND_DISABLE) <= !!r.glob);
}

static void try_elf(const uint8_t *data, size_t size)
{
	struct found_list list = { NULL, 0, 0, 0 };
	struct elf e;
	size_t i;

	if (!elf_open_memory(&e, data, size)) {
		found_in(&list, &e, "file");
		elf_close(&e);
	}
	found_sort(&list);
	for (i = 0; i < list.num; i++) {
		assert(list.found[i].places && *list.found[i].name);
		glob_matches("a*:?b", list.found[i].kind, list.found[i].group, list.found[i].name);
	}
	found_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 3) {
	case 0:
		try_words(data + 1, size - 1);
		break;
	case 1:
		try_request(data + 1, size - 1);
		break;
	default:
		try_elf(data + 1, size - 1);
	}
	return 0;
}
