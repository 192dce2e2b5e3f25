#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Writes a program with a function for each of NUM random filters on members, and the patterns that record it.

usage: members.py SEED NUM c|cc PROGRAM.c PATTERNS

The program counts the calls for which a filter holds by the same expression in C, as __int128 or double: so numbers are compared as
in mathematics. Each function is called with each structure, and with pointers that lead nowhere, for which no comparison holds.
"""
import random
import sys

HEAD = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum state { NEW, PAID = 7, LOST = -3 };
typedef CONST volatile short little;
struct line { double price; little n; char tag; unsigned char rest[3]; };
struct base { int id; long long serial; };
struct order BASE {
	MEMBER
	int price; unsigned long count; signed char low; unsigned short half;
	struct { unsigned int a:3; int b:13; unsigned long long c:40; unsigned int d:1; };
	struct line in, lines[4];
	struct order *next; struct line *line; const char *name; char code[8]; enum state state;
	union { float f; unsigned int bits; }; _Bool_ flag; int numbers[5];
};
'''

# Paths, and in C the same: numbers, and numbers with a point. Of C++ the first members are inherited.
INTEGERS = ['price', 'count', 'low', 'half', 'a', 'b', 'c', 'd', 'in.n', 'in.tag', 'in.rest[2]', 'lines[3].n', 'state', 'bits', 'flag',
            'numbers[4]', 'line->n', 'line[1].rest[1]', 'id', 'serial']
REALS = ['in.price', 'lines[0].price', 'f', 'line->price', 'line[1].price']
TEXTS = ['name', 'code']
OPS = ['==', '!=', '<', '<=', '>', '>=']


def path(r, names):
    """A path to one of the members, by way of some others. The second value is the condition that it can be read."""
    text = r.choice(['order', 'order', 'order[1]', 'order->next', 'order->next->next'])
    first = text.replace('[1]', '')
    joined = '.' if text.endswith(']') else '->'
    name = r.choice(names)
    readable = f'READ({text.replace("order", "order", 1)}, {1 if first == "order" else text.count("next") + 1})'
    if 'line->' in name or 'line[' in name:
        readable = f'({readable} && LINE({text}{joined}line))'
    return f'{text}{joined}{name}', readable


def number(r):
    return r.choice([str(r.randrange(-20, 20)), str(r.randrange(0, 1 << 13)), hex(r.randrange(0, 1 << 40)), '-1', '0', '7'])


def test(r):
    kind = r.randrange(10)
    if kind < 6:
        left, ok = path(r, INTEGERS)
        if r.randrange(4) == 0:
            return r.choice([(left, f'({ok} && ({left}) != 0)'), (f'!{left}', f'({ok} && ({left}) == 0)')])
        op = r.choice(OPS)
        if r.randrange(4) == 0:
            right, more = path(r, INTEGERS)
            return f'{left} {op} {right}', f'({ok} && {more} && (wide)({left}) {op} (wide)({right}))'
        right = 'PAID' if left.endswith('state') and r.randrange(2) else number(r)
        return f'{left} {op} {right}', f'({ok} && (wide)({left}) {op} (wide)({right}LL))'.replace('PAIDLL', 'PAID')
    if kind < 9:
        left, ok = path(r, REALS)
        op = r.choice(OPS)
        right = f'{r.randrange(-40, 40) / 8}'
        return f'{left} {op} {right}', f'({ok} && (double)({left}) {op} {right})'
    left, ok = path(r, TEXTS)
    op = r.choice(['==', '!='])
    right = r.choice(['odd', 'even', 'ODDODDOD', 'EVEN'])
    return f'{left} {op} "{right}"', f'({ok} && TEXT({left}) && !strncmp({left}, "{right}", 8) {"==" if op == "==" else "!="} 1)'


def expression(r):
    texts, conditions = zip(*[test(r) for _ in range(r.choice([1, 1, 2, 3]))])
    joins = [r.choice([' && ', ' || ']) for _ in texts]
    text, condition = texts[0], conditions[0]
    for join, t, c in zip(joins, texts[1:], conditions[1:]):
        # Brackets, so that both readers see one order.
        text, condition = f'({text}){join}({t})', f'({condition}{join}{c})'
    # Of one value without a comparison it is another operator, for which an unknown one does not hold either.
    if r.randrange(6) == 0 and any(f' {op} ' in text for op in OPS):
        text, condition = f'!({text})', f'!{condition}'
    return text, condition


TAIL = r'''
int main(void)
{
	static struct line lines[2][2] = { { { 0.5, -3, 'x', { 1, 2, 3 } }, { 2.25, 4, 'y', { 4, 200, 6 } } }, { { -1.5, 9, 'z', { 7, 8, 9 } }, { 4, -7, 'w', { 0, 0, 255 } } } };
	unsigned int i, k;

	/* What follows it cannot be read. */
	edge = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (edge == MAP_FAILED || mprotect(edge + 4096, 4096, PROT_NONE))
		return 1;
	for (i = 0; i < NUM; i++) {
		struct order *o = &all[i];

		o->price = (int)i * 7 - 20; o->count = (unsigned long)i << (i * 4); o->low = (signed char)(i - 8); o->half = (unsigned short)(i * 9000);
		o->a = i; o->b = (int)i * 37 - 200; o->c = 1ULL << (i + 27); o->d = i & 1;
		o->in.price = i * 0.375 - 1; *(short *)&o->in.n = (short)(i * -3); o->in.tag = (char)(i + 120); o->in.rest[2] = (unsigned char)(i * 30);
		for (k = 0; k < 4; k++) {
			*(short *)&o->lines[k].n = (short)(i * k); o->lines[k].price = i * 1.25 - k;
		}
		o->next = i + 1 < NUM ? o + 1 : (struct order *)(i & 1 ? 8 : 0); o->line = i % 3 == 2 ? (struct line *)0x12345678 : lines[i & 1];
		o->name = i == 5 ? NULL : i & 1 ? "odd" : "even"; memcpy(o->code, i & 1 ? "ODDODDOD" : "EVEN", i & 1 ? 8 : 5);
		o->state = i % 3 ? PAID : LOST; o->f = i * 0.25f; o->flag = i % 4 == 1; o->numbers[4] = (int)(i * i);
		SET
	}
	for (i = 0; i < NUM; i++)
		calls(&all[i]);
	calls((struct order *)(edge + 4096));
	calls((struct order *)-8L);
	calls((struct order *)0x1234567890UL);
	calls(NULL);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		printf("%u=%u\n", i, counts[i]);
	return 0;
}
'''

READS = r'''
#define NUM 10
__extension__ typedef __int128 wide;
/* One more, for order[1] of the last one. */
static struct order all[NUM + 1];
static char *edge;
static int has(const struct order *o) { return o >= all && o <= all + NUM; }
#define TEXT(t) ((t) != NULL)
#define LINE(l) ((unsigned long)(l) != 0x12345678 && (l))
static int read_at(const struct order *o, unsigned int loads)
{
	while (loads-- > 1) {
		if (!has(o))
			return 0;
		o = o->next;
	}
	return has(o);
}
'''


def main():
    seed, num, language, program, patterns = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5]
    r = random.Random(seed)
    cxx = language == 'cc'
    made = [expression(r) for _ in range(num)]
    with open(program, 'w', encoding='ascii') as f:
        head = HEAD.replace('CONST', '' if cxx else 'const').replace('BASE', ': base' if cxx else '').replace('MEMBER', '' if cxx else 'int id; long long serial;')
        f.write(head.replace('_Bool_', 'bool' if cxx else '_Bool') + READS + f'static unsigned int counts[{num}];\n')
        for i, (_, condition) in enumerate(made):
            condition = condition.replace('READ(', 'read_at(')
            for there in ('order->next->next', 'order->next', 'order[1]', 'order'):
                condition = condition.replace(f'read_at({there},', 'read_at(order + 1,' if there == 'order[1]' else 'read_at(order,')
            extern = 'extern "C" ' if cxx else ''
            f.write(f'{extern}__attribute__((__noinline__)) void work_{i}(int, struct order *);\n' if cxx else '')
            f.write(f'{extern}__attribute__((__noinline__)) void work_{i}(int level, struct order *order)\n{{\n'
                    '\t__asm__ volatile("nop; nop; nop; nop; nop" : : "r" (level), "r" (order) : "memory");\n'
                    f'\tcounts[{i}] += {condition};\n}}\n')
        f.write('static void calls(struct order *o)\n{\n' + ''.join(f'\twork_{i}({i}, o);\n' for i in range(num)) + '}\n')
        f.write(TAIL.replace('SET', 'o->id = (int)i - 3; o->serial = -(1LL << (i * 6));'))
    with open(patterns, 'w', encoding='ascii') as f:
        for i, (text, _) in enumerate(made):
            f.write(f'members:work_{i} if {text}\n')


if __name__ == '__main__':
    main()
