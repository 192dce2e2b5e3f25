// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libjumpfunc-agent.so: named by LD_PRELOAD, which children of a program inherit, whatever they
 * are.
 *
 * It needs no library and no symbol, so any dynamic linker can load it. The agent is its auxiliary
 * library (DT_AUXILIARY, ld.so(8)): glibc's dynamic linker loads that before it, with all that it
 * needs, as if LD_PRELOAD had named it, and says nothing if it cannot: this does. musl's knows no
 * such thing, and its programs run without the agent. Nothing here calls a C library.
 */
#include <asm/unistd.h>

/* In glibc alone. */
extern const char *gnu_get_libc_version(void) __attribute__((__weak__));
extern char **environ __attribute__((__weak__));
/* In the agent. */
extern const char __jf_agent __attribute__((__weak__));

static const char missing[] =
	"libjumpfunc-agent: no function and no note is recorded: libjumpfunc-agent-glibc.so cannot be loaded from the folder of "
	"libjumpfunc-agent.so\n";
static const char said[] = "libjumpfunc-agent: nothing is recorded: this program has another C library than glibc\n";

static int is_verbose(void)
{
	static const char verbose[] = "JUMPFUNC=verbose";
	char *const *env;
	unsigned int i;

	for (env = &environ ? environ : 0; env && *env; env++) {
		for (i = 0; verbose[i] && (*env)[i] == verbose[i]; i++)
			;
		if (i == sizeof(verbose) - 1 && !(*env)[i])
			return 1;
	}
	return 0;
}

static void say(const char *text, unsigned long size)
{
	long ret;

	__asm__ volatile("syscall" : "=a" (ret) : "a" (__NR_write), "D" (2), "S" (text), "d" (size) : "rcx", "r11", "memory");
}

__attribute__((__constructor__))
static void begins(void)
{
	if (&gnu_get_libc_version && !&__jf_agent)
		say(missing, sizeof(missing) - 1);
	else if (!&gnu_get_libc_version && is_verbose())
		say(said, sizeof(said) - 1);
}
