// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A fuzzer, for libFuzzer, of the readers of messages of the control socket, of files of
 * programs and of patterns. The first byte of an input says which: a request, an answer's words, an
 * ELF file, or a pattern.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../trace/tool/tool.h"
#include "../../trace/tool/elf.h"
#include "../../trace/choice.h"

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

/* One name in two is not there, one in four is a constant, and some are in memory. */
static int find(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	assert(len && name >= (const char *)arg);
	if (*name & 1)
		return len > 3 ? -EINVAL : -ENOENT;
	*step = (struct jf_step){ .op = *name & 8 ? (len & 4 ? JF_STEP_READ_REAL : JF_STEP_REAL_VALUE) : *name & 2 ? JF_STEP_NUMBER :
				  len & 4 ? JF_STEP_READ : JF_STEP_VALUE, .size = 1 << (len & 3), .sign = *name & 4, .number = len };
	return 0;
}

static int find_text(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	(void)arg;
	step->from = (uint8_t)len;
	return *name & 1 ? len > 3 ? -EINVAL : -ENOENT : 0;
}

/* Another one for each call; one value in four cannot be read. */
static bool memory_of(const struct jf_step *step, uint64_t *value, const void *arg)
{
	static unsigned int calls;
	char text[8] = "aa*?";

	(void)arg;
	calls++;
	if (step->op != JF_STEP_TEXT) {
		*value = ~UINT64_C(0) << calls % 64;
		return calls % 4;
	}
	text[calls % 5] = 0;
	return jf_choice_text(step, text);
}

/* A reason that is longer than its place, for some names. */
static const char *why_not(const char *name, size_t len, const void *arg)
{
	static char why[2 * JF_CHOICE_WHY];

	(void)arg;
	if (!why[0])
		memset(why, 'w', sizeof(why) - 1);
	return len && *name & 4 ? why : NULL;
}

static void names_of(char *to, size_t size, const void *arg)
{
	(void)arg;
	memset(to, 'n', size - 1);
	to[size - 1] = 0;
}

static uint64_t value_of(unsigned int from, const void *arg)
{
	(void)arg;
	return ~UINT64_C(0) << from;
}

/* A list of paths, as the readers of it take it apart. */
static void try_members(const char *members)
{
	unsigned int nr = 0;
	size_t len;

	for (; *members; members += len + (members[len] == ','), nr++) {
		len = strcspn(members, ",");
		assert(len && jf_choice_path(members) == len && strcspn(members, "-.[") < len);
	}
	assert(nr <= JF_SHOWN_MAX);
}

/* As the agent gets it: what does not parse is no program, and what does stays within its stack. */
static void try_pattern(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct jf_choice_names names = { find, find_text, names_of, text, why_not };
	struct jf_choice c;
	struct jf_pattern p;
	unsigned int i;
	int err;

	assert(text);
	memcpy(text, data, size);
	text[size] = 0;
	if (!jf_pattern_parse(&p, text))
		try_members(p.members);
	err = jf_choice_parse(&c, text, &names);
	assert(err ? err == -EINVAL && *c.why && strlen(c.why) < JF_CHOICE_WHY && !c.num : !*c.why && c.num <= JF_CHOICE_STEPS);
	for (i = 0; i < 3; i++)
		jf_choice_passes(&c, value_of, memory_of, NULL);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:
		try_words(data + 1, size - 1);
		break;
	case 1:
		try_request(data + 1, size - 1);
		break;
	case 2:
		try_elf(data + 1, size - 1);
		break;
	default:
		try_pattern(data + 1, size - 1);
	}
	return 0;
}
