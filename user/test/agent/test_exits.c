// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Where functions are left: some that are made for it, of which all exits are known, and all of
 * libc.
 * usage: test_exits [FILE]	exits of each function of a file
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/agent/elf.h"
#include "user/agent/exit.h"
#include "user/agent/module.h"
#include "user/agent/pair.h"
#include "user/test/tap.h"

/* A function of these instructions, with a frame that says where the stack pointer is. */
#define MADE(name, ...)											\
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n.cfi_startproc\n"	\
		__VA_ARGS__ "\n.cfi_endproc\n.size " #name ", . - " #name "\n")

MADE(x_ret, "xor %eax, %eax\n.Lx_ret: ret");
MADE(x_two, "test %edi, %edi\nje 1f\nmov $1, %eax\nret\n1: mov $2, %eax\nrep ret");
MADE(x_tail, "test %edi, %edi\nje 1f\nret\n1: jmp x_ret");
MADE(x_cond, "test %edi, %edi\nje x_ret\nret");
MADE(x_pops, "sub $24, %rsp\n.cfi_adjust_cfa_offset 24\ncall x_ret\nadd $24, %rsp\n.cfi_adjust_cfa_offset -24\nret $8");
/*
 * A switch, with the stack pointer elsewhere, stays; by a pointer, and with the stack as it was, it
 * is looked at.
 */
MADE(x_switch, "push %rbx\n.cfi_adjust_cfa_offset 8\njmp *%rax\n1: pop %rbx\n.cfi_adjust_cfa_offset -8\nret\n.pushsection .rodata\n.quad 1b\n.popsection");
MADE(x_pointer, "mov 8(%rdi), %rax\njmp *%rax");
MADE(x_table, "jmp *16(%rdi,%rsi,8)");
MADE(x_stub, "jmp *x_word(%rip)");
/* The stack pointer tells a part from a function, or a branch back, or a name. */
MADE(x_parts, "push %rbx\n.cfi_adjust_cfa_offset 8\ntest %edi, %edi\njne x_part_begin\n2: pop %rbx\n.cfi_adjust_cfa_offset -8\nret");
MADE(x_part_begin, ".cfi_def_cfa_offset 16\npop %rbx\n.cfi_adjust_cfa_offset -8\nret");
MADE(x_named, "test %edi, %edi\njne x_named.cold\nret");
MADE(x_named.cold, "inc %eax\nret");
/* Refused. */
MADE(x_loops, "dec %edi\njne x_loops\nret");
MADE(x_never, "1: jmp 1b");
MADE(x_data, "xor %eax, %eax\nret\n.byte 0x06");
MADE(x_inline, "mov %rdi, %rax\njmp 2f\n.byte 0x48, 0xb8, 1, 2, 3\n2: add $0x55, %rax\nxor $0x202020c3, %eax\nrol $0, %al\nnop\nret");
MADE(x_constant, "lea 1f(%rip), %rax\nmov (%rax, %rdi, 8), %rax\nret\n.p2align 3\n1: .quad 0x50202020202020c3\n.byte 0x90");
MADE(x_unreached, "xor %eax, %eax\nret\n.quad 0x50202020202020c3\n.byte 0x90");
MADE(x_locked, "test %edi, %edi\nje 1f + 1\n1: lock incl (%rsi)\nret");
MADE(x_midst, "test %edi, %edi\njne x_ret + 2\nret");
MADE(x_far, "lretq");
MADE(x_near, "ret");
MADE(x_counts, "jrcxz x_near\nret");
/* Itself, by a jump: a call after the other. */
MADE(x_again, "endbr64\ntest %edi, %edi\nje 1f\ndec %edi\njmp x_again\n1: ret");
/* By an instruction before it, unless something leads between. */
MADE(x_late, "nop\nmov $1, %eax\nnop\nret\nud2");
MADE(x_led, "test %edi, %edi\nje 1f\nmov $1, %eax\n1: nop\nret\nud2");
MADE(x_short, "push %rbx\n.cfi_adjust_cfa_offset 8\nmov %edi, %ebx\npop %rbx\n.cfi_adjust_cfa_offset -8\nmov %ebx, %eax\nret\nud2");
/* The bytes after the return are not executed, or are. */
MADE(x_filled, "xor %eax, %eax\nret\n.p2align 4");
MADE(x_padded, "test %edi, %edi\njne 1f\nret\n1: nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nret");
extern void *x_word;
void *x_word;

static struct jf_elf elf;
static struct jf_module module;

int jf_module_open(struct jf_module *m, struct jf_elf *e)
{
	e->data = NULL;
	m->file = &elf;
	return 0;
}

void jf_module_close(struct jf_module *m, struct jf_elf *e)
{
	(void)m, (void)e;
}

const uint8_t *jf_module_in_file(const struct jf_module *m, uintptr_t at, size_t num)
{
	const ElfW(Phdr) *p = m->phdr;
	unsigned int i;

	for (i = 0; i < m->phnum; i++) {
		uint64_t offset = at - p[i].p_vaddr;

		if (p[i].p_type == PT_LOAD && at >= p[i].p_vaddr && offset <= p[i].p_filesz && num <= p[i].p_filesz - offset)
			return elf.data + p[i].p_offset + offset;
	}
	return NULL;
}

static bool open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ElfW(Ehdr) *h;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	elf.size = (size_t)st.st_size;
	elf.data = mmap(NULL, elf.size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (elf.data == MAP_FAILED)
		return false;
	h = (const void *)elf.data;
	free(module.names);
	module = (struct jf_module){ .file = &elf, .phdr = elf.data + h->e_phoff, .phnum = h->e_phnum };
	return true;
}

struct wanted {
	const char		*name;
	struct jf_symbol	found;
};

static int is_wanted(const struct jf_symbol *symbol, void *arg)
{
	struct wanted *w = arg;

	if (strcmp(symbol->name, w->name))
		return 0;
	w->found = *symbol;
	return 1;
}

static const char *find(const struct jf_symbol *s, struct jf_exits *e)
{
	const uint8_t *begin = jf_module_in_file(&module, s->value, 4);
	bool lands = begin && !memcmp(begin, "\xf3\x0f\x1e\xfa", 4);

	return jf_exits_find(&module, s->value, s->value + (lands ? 4 : 0), s->size, e);
}

/*
 * "ret jump/ cond target+": how each is left, with '/' for a tail call and '+' if the bytes after
 * it are not executed, and '<' if there is one before.
 */
static char *described(const char *name)
{
	static const char *const how[] = { "ret", "jump", "cond", "target" };
	struct wanted w = { .name = name };
	static char text[256];
	struct jf_exits e;
	const char *why;
	size_t i, n = 0;

	if (!jf_elf_functions(&elf, is_wanted, &w))
		return strcpy(text, "there is no such function");
	why = find(&w.found, &e);
	if (why)
		return strcpy(text, why);
	for (i = 0; i < e.num && n < sizeof(text) - 32; i++)
		n += (size_t)sprintf(text + n, "%s%s%s%s%s", i ? " " : "", how[e.exit[i].how], e.exit[i].tail ? "/" : "",
				     e.exit[i].late ? "<" : "", e.exit[i].filled ? "+" : "");
	jf_exits_free(&e);
	return text;
}

static const struct {
	const char	*name;
	const char	*exits;
} made[] = {
	{ "x_ret", "ret+" },
	{ "x_two", "ret< ret<+" },
	{ "x_tail", "ret jump/" },
	{ "x_cond", "cond/ ret+" },
	{ "x_pops", "ret<+" },
	{ "x_switch", "ret+" },
	{ "x_pointer", "target/" },
	{ "x_table", "target/" },
	{ "x_stub", "target/" },
	{ "x_parts", "ret+ ret+" },
	{ "x_named", "ret+ ret+" },
	{ "x_loops", "a branch leads back to its begin" },
	{ "x_never", "a branch leads back to its begin" },
	{ "x_data", "it has bytes that are no instruction" },
	{ "x_inline", "a branch leads into the midst of an instruction" },
	{ "x_constant", "an instruction names an address in it" },
	{ "x_unreached", "nothing leads to some of its bytes" },
	{ "x_locked", "ret+" },
	{ "x_midst", "a jump leads into the midst of another function" },
	{ "x_far", "it returns to another segment" },
	{ "x_counts", "a jump that counts leads out of it" },
	{ "x_again", "jump/ ret+" },
	{ "x_late", "ret<+" },
	{ "x_led", "ret+" },
	{ "x_short", "ret<+" },
	{ "x_filled", "ret+" },
	{ "x_padded", "ret ret<" },
};

static void test_made(void)
{
	size_t i;

	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		CHECK(!strcmp(described(made[i].name), made[i].exits), "%s: %s", made[i].name, described(made[i].name));
}

struct counts {
	unsigned int	functions, known, exits;
	bool		print;
};

static int count(const struct jf_symbol *symbol, void *arg)
{
	struct counts *c = arg;
	struct jf_exits e;
	const char *why;
	size_t i;

	if (symbol->indirect || strstr(symbol->name, ".cold") || !jf_module_in_file(&module, symbol->value, 1))
		return 0;
	why = find(symbol, &e);
	if (why && c->print)
		printf("%s: %s\n", symbol->name, why);
	if (why && !strcmp(why, "it never returns"))
		return 0;
	c->functions++;
	if (why)
		return 0;
	c->known++;
	c->exits += (unsigned int)e.num;
	for (i = 0; i < e.num; i++)
		if (!jf_exits_inside(&e, e.exit[i].at))
			abort();
	jf_exits_free(&e);
	return 0;
}

static void test_libc(void)
{
	struct counts c = { 0 };
	struct link_map *map;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	if (!libc || dlinfo(libc, RTLD_DI_LINKMAP, &map) || !open_file(map->l_name))
		must(-ENOENT, "libc's file");
	jf_elf_functions(&elf, count, &c);
	CHECK(c.functions > 1000 && c.known >= c.functions * 95 / 100 && c.exits > c.known, "%u of %u functions, %u exits", c.known,
	      c.functions, c.exits);
}

int main(int argc, char **argv)
{
	struct counts c = { .print = true };

	if (argc > 1) {
		if (!open_file(argv[1]))
			return 1;
		jf_elf_functions(&elf, count, &c);
		printf("%u of %u functions, %u exits\n", c.known, c.functions, c.exits);
		return 0;
	}
	if (!open_file("/proc/self/exe"))
		must(-ENOENT, "/proc/self/exe");
	test_made();
	finish("each kind of exit, and what refuses a function");
	test_libc();
	finish("functions of libc");
	return tap_end();
}
