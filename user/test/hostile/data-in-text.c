// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Data in a section of code can still be written, with each writer of text. Pages that
 * have some are not replaced: a change is refused then.
 */
#include <jumpfunc/branch.h>

#include "again.h"

DEFINE_JF_KEY_FALSE(key);

extern volatile int counter;
__asm__(".pushsection .code_and_data, \"awx\", @progbits\n"
	".balign 4\n"
	"counter: .long 5\n"
	".popsection");

__attribute__((__section__(".code_and_data,\"awx\",@progbits#"), __noinline__)) int site(void);
__attribute__((__section__(".code_and_data,\"awx\",@progbits#"), __noinline__)) int site(void)
{
	return jf_branch_unlikely(&key);
}

int main(int argc, char **argv)
{
	static const char *const writers[] = { "mem", "remap" };
	int i, err, want;

	if (argc > 1) {
		want = strcmp(argv[1], "mem") ? -EOPNOTSUPP : 0;
		for (i = 1; i < 10; i++) {
			counter++;
			err = i & 1 ? jf_key_enable(&key) : jf_key_disable(&key);
			/* To change nothing is no matter of text. */
			MUST(err == (i & 1 ? want : 0), "%d: %s", i, strerror(-err));
			MUST(site() == (!want && i & 1) && counter == 5 + i, "%d", i);
		}
		return 0;
	}
	for (i = 0; i < 2; i++)
		must_run(argv[0], writers[i], writers[i]);
	return 0;
}
