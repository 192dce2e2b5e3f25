// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * As uprobe.c, where the tracer's breakpoint is harder to find: the file of the page is out
 * of reach, was named relative to where the program no longer is, or differs in something
 * else as well; the breakpoint is at a site, or a call by now; or it is in the library.
 * Each case has a process of its own.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <link.h>
#include <sys/wait.h>

#include "pwrite.h"
#include "writes.h"

DEFINE_JF_KEY_FALSE(key);
DEFINE_JF_KEY_FALSE(other_key);

/* In this order, and all in one page. */
#define IN_PAGE(align)							\
	__attribute__((__noinline__, __aligned__(align), __section__(".text.near"), __no_reorder__))

IN_PAGE(4096) int first(void);
IN_PAGE(16) int traced(void);
IN_PAGE(16) int nops(void);
IN_PAGE(16) int is_other(void);
IN_PAGE(16) int is_on(void);
IN_PAGE(4096) int first(void) { return 1; }
/* A byte of the file that looks like a breakpoint. */
IN_PAGE(16) int traced(void) { return 0xcccc; }
IN_PAGE(16) int nops(void) { __asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0, 0"); return 1; }
IN_PAGE(16) int is_other(void) { return jf_branch_unlikely(&other_key); }
IN_PAGE(16) int is_on(void) { return jf_branch_unlikely(&key); }

static int denied, no_file, mem;

FAILING_PWRITE((errno = EPERM, denied))
OPEN_INSTEAD(no_file, (errno = ENOENT, -1))

static void put(char *at, unsigned char byte)
{
	MUST(pwrite(mem, &byte, 1, (off_t)(unsigned long)at) == 1, "%m");
}

static char *find(int (*f)(void), unsigned char byte)
{
	char *at = memchr((void *)(unsigned long)f, byte, 16);

	MUST(at, "%#x is not there", byte);
	return at;
}

static void refused(void)
{
	struct jf_stats s;
	int err;

	denied = 1;
	err = jf_key_enable(&key);
	jf_stats_get(&s, sizeof(s));
	MUST(err == -EOPNOTSUPP && !is_on(), "%s, %s", strerror(-err), s.writer);
	MUST(strstr(s.why, strerror(EBUSY)), "%s", s.why);
}

static void accepted(void)
{
	struct jf_stats s;
	int err;

	denied = 1;
	err = jf_key_enable(&key);
	jf_stats_get(&s, sizeof(s));
	MUST(!err && is_on() && !strcmp(s.writer, "remap"), "%s, %s, %s", strerror(-err),
	     s.writer, s.why);
}

static void no_file_at_all(void)
{
	put((char *)(unsigned long)first, 0xcc);
	no_file = 1;
	refused();
}

static void relative(void)
{
	put((char *)(unsigned long)traced, 0xcc);
	MUST(!chdir("/"), "%m");
	refused();
}

static void relative_without(void)
{
	MUST(!chdir("/"), "%m");
	accepted();
}

static void another_difference(void)
{
	put((char *)(unsigned long)first, 0x90);
	put((char *)(unsigned long)traced, 0xcc);
	refused();
}

static void only_another_difference(void)
{
	put((char *)(unsigned long)first, 0x90);
	accepted();
}

/* The kernel's result of a breakpoint on a nop of five bytes. */
static void call(void)
{
	put(find(nops, 0x0f), 0xe8);
	refused();
}

static void at_a_site(void)
{
	unsigned long at = (unsigned long)is_other;

	/* endbr64 */
	if (!memcmp((void *)at, "\xf3\x0f\x1e\xfa", 4))
		at += 4;
	/* Before it there is its prefix. */
	put((char *)at + 1, 0xcc);
	refused();
}

static int library_text(struct dl_phdr_info *info, size_t size, void *pages)
{
	int i;

	(void)size;
	if (!strstr(info->dlpi_name, "libjumpfunc.so"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_flags & PF_X)
			*(unsigned long *)pages += (info->dlpi_phdr[i].p_filesz + 4095) / 4096;
	return 1;
}

/* There, too, a tracer may have a breakpoint: no page of it is replaced. */
static void in_the_library(void)
{
	unsigned long start, end, pages = 0, mapped = 0;
	char line[4096];
	FILE *maps;

	MUST(!jf_key_enable(&key) && is_on(), "enable");
	dl_iterate_phdr(library_text, &pages);
	maps = fopen("/proc/self/maps", "r");
	MUST(maps, "%m");
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "libjumpfunc.so") && strstr(line, " r-xp ") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2)
			mapped += (end - start) / 4096;
	MUST(mapped == pages, "%lu pages of %lu are the library's", mapped, pages);
}

static const struct {
	const char *name;
	void (*run)(void);
	const char *writer;
} cases[] = {
	{ "no file", no_file_at_all, NULL },
	{ "relative", relative, NULL },
	{ "relative, no breakpoint", relative_without, NULL },
	{ "another difference", another_difference, NULL },
	{ "another difference, no breakpoint", only_another_difference, NULL },
	{ "a call", call, NULL },
	{ "at a site", at_a_site, NULL },
	{ "in the library", in_the_library, "remap" },
};

static void one(int nr)
{
	struct jf_stats s;

	if (!cases[nr].writer) {
		MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "changes");
		mem = open("/proc/self/mem", O_RDWR);
	}
	jf_stats_get(&s, sizeof(s));
	if (mem < 0 || strcmp(s.writer, cases[nr].writer ? cases[nr].writer : "mem")) {
		printf("# not here\n");
		return;
	}
	cases[nr].run();
}

int main(int argc, char **argv)
{
	char *slash = strrchr(argv[0], '/'), number[16];
	int nr, status, failed = 0;
	pid_t p;

	if (argc > 1) {
		one(atoi(argv[1]));
		return 0;
	}
	if (slash) {
		*slash = '\0';
		MUST(!chdir(argv[0]), "%m");
	}
	for (nr = 0; nr < (int)(sizeof(cases) / sizeof(cases[0])); nr++) {
		p = fork();
		if (!p) {
			if (cases[nr].writer)
				setenv("JUMPFUNC_WRITER", cases[nr].writer, 1);
			snprintf(number, sizeof(number), "%d", nr);
			/* The kernel tells the program this name. */
			execl(slash ? slash + 1 : argv[0], "again", number, NULL);
			_exit(127);
		}
		waitpid(p, &status, 0);
		if (status)
			printf("# %s: status %#x\n", cases[nr].name, status);
		failed |= status;
	}
	return !!failed;
}
