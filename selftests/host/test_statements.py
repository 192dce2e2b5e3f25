#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of selftests/driver/places.py, which finds where a statement may stand before another one: a program does
with calls at all of these places what it does without, and lines that are marked have one.  Prints TAP.
"""
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
sys.path.insert(0, os.path.join(TOP, 'selftests', 'driver'))
# The tree stays clean: no folder with compiled modules in it.
sys.dont_write_bytecode = True
import places  # noqa: E402

# A call stands on each line that ends with @, and on no other: not after a directive, since what the statement is part of
# depends on that.
PROGRAM = r'''
#include <stdio.h>
#ifdef NEVER
#include <nothing.h>
#endif
#define TWICE(x) \
	do { (x)++; (x)++; } while (0)
struct pair { int a, b; };
typedef int number;
static int table[] = { 1, 2, [3] = 4 };
enum { ONE = 1, TWO };

static int loops(int n)
{
	struct pair p = { .a = 1, .b = n };
	struct { int x; } stack[2];
	number i, *q = &p.a;
	int (*fn)(const char *) = 0;
	number (*other)(const char *) = fn;
	int sum = other == 0 ? 0 : 1;

	stack[0].x = n; /* @ */
	stack[1] = stack[0]; /* @ */
	for (i = 0; i < n; i++) /* @ */
		sum += i;
	do { /* @ */
		sum -= 1; /* @ */
	} while (sum > 40);
	while (n-- > 0)
		if (n == 3) {
			continue; /* @ */
		} else if (n == 2)
			sum += stack[1].x;
		else
			sum++;
	TWICE(sum);
	if (sum) /* @ */
		for (i = 0; i < 2; i++)
			sum += table[i];
	else
		sum = 0;
	p = (struct pair) { .a = 5, .b = ({ int t = sum; t + 1; }) }; /* @ */
	sum += p.a + p.b + *q; /* @ */
	return sum; /* @ */
}

static int words(const char *s)
{
	switch (*s) { /* @ */
	case 'a':
		s++;
		break; /* @ */
	case '{': {
		int deep = '}';

		return deep; /* @ */
	}
	default:
		if (s[0] == ';') /* }; if (x) */
			goto out;
#ifdef OTHER
		if (s[0] == 'x') {
#else
		if (s[0] == 'y') {
#endif
			printf("%s\n", "a; string {");
		}
		return ONE; /* @ */
		printf("never comes here\n");
	}
	return s[0] ? TWO : 0; /* @ */
out:
	printf("out\n");
	return -1; /* @ */
}

int main(void)
{
	int i;

	for (i = 0; i < 12; i++) /* @ */
		printf("%d %d\n", i, loops(i));
	printf("%d %d %d %d %d\n", words("ab"), words("{"), words(";"), words("y"), words("")); /* @ */
	return 0; /* @ */
}
'''

COUNT = '''
#define JF_PROBED_DECLARE(name) void name(unsigned int)
#define JF_PROBED(n, name) name(n)
'''

failed = number = 0


def check(what, ok, why=''):
    global failed, number
    number += 1
    failed += not ok
    print(f'{"ok" if ok else "not ok"} {number} - {what}')
    if not ok:
        print('\n'.join('# ' + line for line in str(why).splitlines()))


def run(*command):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return r.returncode, r.stdout


def program(folder, name, text, probes, *options):
    """What it prints, with each probe a function that says nothing; or what the compiler said."""
    path = os.path.join(folder, name)
    places.write(path + '.c', text)
    places.write(path + '-probes.c', ''.join(f'void {p}(unsigned int n);\nvoid {p}(unsigned int n) {{ (void)n; }}\n' for p in probes))
    status, said = run('cc', '-Wall', '-Wdeclaration-after-statement', '-Werror', '-I', folder, *options, '-o', path,
                       path + '.c', path + '-probes.c')
    return said if status else run(path)[1]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'sample.c')
        places.write(path, PROGRAM)
        places.write(os.path.join(folder, 'jf_count.h'), COUNT)
        source = places.Source(path)
        lines = [PROGRAM.count('\n', 0, at) + 1 for at, _ in source.places]
        wanted = [i for i, line in enumerate(PROGRAM.split('\n'), 1) if line.endswith('/* @ */')]
        # The macro in capitals stands for what is not known.
        check('a call stands where it is to, and nowhere else', lines == wanted, f'saw {lines}, wanted {wanted}')
        entries = [PROGRAM.count('\n', 0, at) + 1 for at, entry in source.places if entry]
        check('the first ones of functions are known', len(entries) == 3, entries)
        ((_, chosen),) = places.choose([source], 1 << 20)
        names = [f'probe_{n}' for n in source.names(chosen)]
        check('each has a name of its own', len(set(names)) == len(names) == len(wanted), names)
        ((_, some),) = places.choose([source], 10)
        check('of ten, the first ones of functions are some', len(some) == 10 and
              {at for at, entry in source.places if entry} <= set(some), some)
        text = source.with_probes(chosen, names, 0)
        check('nothing is changed but that calls are added', re.sub(r'JF_PROBED\(\d+, \w+\); ', '', text).split('#line')[1].partition('\n')[2]
              == PROGRAM[source.head:].partition('\n')[2])
        for options in ([], ['-DOTHER'], ['-O2']):
            was, now = program(folder, 'was', PROGRAM, [], *options), program(folder, 'now', text, names, *options)
            check(f'it does what it did {" ".join(options)}', was == now and 'out' in was, f'{was}\n{now}')
    print(f'1..{number}')
    sys.exit(failed != 0)


if __name__ == '__main__':
    main()
