// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A fuzzer, for libFuzzer, of the reader of debug information in jf-trace, and of the agent's
 * reader of its results. The first byte of an input is the kind of the others: a program, the debug
 * file of the stripped program that JF_FUZZ_STRIPPED names, or lines for the agent.
 */
#include "../../trace/tool/types/read.h"
#include "../../trace/tool/types/file.h"
#include "../../trace/tool/types/wanted.h"
#include "fuzz_types.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The input, in the present folder, and a link to it. */
#define INPUT	"fuzz-types.input"
#define LINK	"fuzz-types.link"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

static const struct options options = {
	.globs = {
		"*:*", "call/*:[a-m]*", "*:f*(order->price,order->next->next->name,order[3].grid[1],order->flag)",
		"*:* if order->lines[2].n > 1 && order->state == PAID && order->code =~ \"a*\" && order.other.id && (order->in.deep || n.x)",
		"*:[a-z]* if order->next->next->next->next->next->next->next->price || order->price->x || order->sum > 1",
	},
	.num_globs = 5,
};
static char folder[PATH_MAX - sizeof(LINK) - 1];

/* For types_write(), which no input comes to. */
void each_file_of(const char *program, void (*fn)(const char *path, void *arg), void *arg)
{
	fn(program, arg);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	unsetenv("DEBUGINFOD_URLS");
	unlink(LINK);
	assert(getcwd(folder, sizeof(folder)) && !symlink(INPUT, LINK));
	return 0;
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "we");

	assert(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

static int see_name(const char *name, const GElf_Sym *s, void *arg)
{
	(void)s;
	*(size_t *)arg += strlen(name);
	return 0;
}

static void try_names(const char *path)
{
	struct file f;
	size_t sum = 0;

	open_file(&f, path);
	each_name(&f, see_name, &sum);
	close_file(&f);
}

static void try_program(const char *path)
{
	static struct paths paths;
	struct types t = { &options, NULL, &paths, false };
	char *lines = NULL;
	size_t size = 0;

	if (!paths.num)
		find_paths(&paths, &options);
	t.to = open_memstream(&lines, &size);
	assert(t.to);
	each_file_of(path, one_file, &t);
	fclose(t.to);
	read_lines(lines, size, true);
	free(lines);
	try_names(path);
}

/* --- other inputs ----------------------------------------------------------------------- */

static bool is_debug(const Elf64_Shdr *s, size_t size)
{
	return s->sh_type == SHT_PROGBITS && !(s->sh_flags & (SHF_ALLOC | SHF_COMPRESSED)) && s->sh_size && s->sh_offset < size && s->sh_size <= size - s->sh_offset;
}

/* A section with debug information, any of them; NULL: the file has no such section. */
static const Elf64_Shdr *find_section(const uint8_t *elf, size_t size, unsigned int *seed)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)elf;
	const Elf64_Shdr *table, *found = NULL;
	unsigned int i;
	int num = 0;

	if (size < sizeof(*head) || head->e_shoff % 8 || head->e_shoff >= size || head->e_shnum > (size - head->e_shoff) / sizeof(*table))
		return NULL;
	table = (const Elf64_Shdr *)(elf + head->e_shoff);
	for (i = 0; i < head->e_shnum; i++)
		if (is_debug(&table[i], size) && !(rand_r(seed) % ++num))
			found = &table[i];
	return found;
}

/* A number that is an offset in the section, if it stands where there is one. */
static void change(uint8_t *data, size_t len, unsigned int *seed)
{
	size_t at = (size_t)rand_r(seed) % len;
	uint32_t offset = (uint32_t)((size_t)rand_r(seed) % len);

	if (rand_r(seed) % 2 && at + sizeof(offset) <= len)
		memcpy(data + at, &offset, sizeof(offset));
	else
		data[at] = (uint8_t)rand_r(seed);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	const Elf64_Shdr *s;
	uint8_t *elf;
	unsigned int left = rand_r(&seed) % 8;

	if (size < 2 || data[0] % 3 == 2 || !(rand_r(&seed) % 4))
		return LLVMFuzzerMutate(data, size, max);
	/* At an address that its headers can have. */
	elf = malloc(size);
	memcpy(elf, data + 1, size - 1);
	while (left-- && (s = find_section(elf, size - 1, &seed)))
		change(elf + s->sh_offset, s->sh_size, &seed);
	memcpy(data + 1, elf, size - 1);
	free(elf);
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *stripped = getenv("JF_FUZZ_STRIPPED");
	char path[PATH_MAX];

	if (!size)
		return 0;
	switch (data[0] % 3) {
	case 0:
		write_file(INPUT, data + 1, size - 1);
		snprintf(path, sizeof(path), "%s/" LINK, folder);
		try_program(path);
		break;
	case 1:
		snprintf(path, sizeof(path), "%s.debug", stripped ? stripped : INPUT);
		write_file(path, data + 1, size - 1);
		if (stripped)
			try_program(stripped);
		break;
	default:
		read_lines((const char *)data + 1, size - 1, false);
	}
	return 0;
}
