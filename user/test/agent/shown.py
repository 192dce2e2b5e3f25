#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Records of members against the same values in C.

usage: shown.py make SEED NUM c|cc PROGRAM.c PATTERNS
       shown.py compare OUTPUT TRACE.json

The first form writes a program with NUM functions, and patterns that record random members of their argument. The program prints
for each call what each of these is, or that it cannot be read. The second form compares that with the events.
"""
import json
import random
import re
import sys

import members

KINDS = [members.INTEGERS, members.INTEGERS, members.REALS, members.TEXTS]
LABELS = {'PAID': 7, 'NEW': 0, 'LOST': -3}


def value(path, condition):
    """A statement that prints the value."""
    name = path[len('order'):]
    if path.endswith('name'):
        text = f'printf(" =%s", {path} ? {path} : "(null)")'
    elif path.endswith('code'):
        text = f'printf(" =%.8s", {path})'
    elif any(name.endswith(end) for end in ('price', '->f')) and not re.search(r'(order|next|order\[1\])(->|\.)price$', path) or path.endswith('.f'):
        text = f'printf(" %.9g", (double)({path}))'
    else:
        text = f'printf(" %lld", (long long)({path}))'
    for there in ('order->next->next', 'order->next', 'order[1]', 'order'):
        condition = condition.replace(f'READ({there},', 'read_at(order + 1,' if there == 'order[1]' else 'read_at(order,')
    return f'\tif ({condition})\n\t\t{text};\n\telse\n\t\tprintf(" (unreadable)");\n'


def make(seed, num, language, program, patterns):
    r = random.Random(seed)
    cxx = language == 'cc'
    with open(program, 'w', encoding='ascii') as f, open(patterns, 'w', encoding='ascii') as p:
        head = members.HEAD.replace('CONST', '' if cxx else 'const').replace('BASE', ': base' if cxx else '')
        head = head.replace('MEMBER', '' if cxx else 'int id; long long serial;').replace('_Bool_', 'bool' if cxx else '_Bool')
        f.write(head + members.READS + 'static unsigned int counts[1];\n')
        for i in range(num):
            paths = [members.path(r, r.choice(KINDS)) for _ in range(r.randrange(1, 9))]
            texts = [k for k, (path, _) in enumerate(paths) if re.search('(name|code)$', path)]
            # A record has four texts at most.
            paths = [path for k, path in enumerate(paths) if k not in texts[4:]]
            extern = 'extern "C" ' if cxx else ''
            f.write(f'{extern}__attribute__((__noinline__)) void work_{i}(int, struct order *);\n' if cxx else '')
            f.write(f'{extern}__attribute__((__noinline__)) void work_{i}(int level, struct order *order)\n{{\n'
                    '\t__asm__ volatile("nop; nop; nop; nop; nop" : : "r" (level), "r" (order) : "memory");\n'
                    f'\tcounts[0]++;\n\tprintf("{i}");\n' + ''.join(value(*path) for path in paths) + '\tputchar(10);\n}\n')
            p.write(f'members:work_{i}({r.choice([",", ", "]).join(path for path, _ in paths)})\n')
        f.write('static void calls(struct order *o)\n{\n' + ''.join(f'\twork_{i}({i}, o);\n' for i in range(num)) + '}\n')
        # babeltrace2 2.0 shows an empty text as the text of a record before it.
        f.write(members.TAIL.replace('SET', 'memcpy(all[NUM].code, "LAST", 5); o->id = (int)i - 3; o->serial = -(1LL << (i * 6));').replace('printf("%u=%u\\n", i, counts[i]);', ';'))


def same(want, have):
    """The word that the program has printed, and the value of an event."""
    if want[0] == '=':
        return want[1:] == have
    text = str(have)
    label = re.match(r'\( "(\w+)"', text)
    text = label.group(1) if label else text
    text = str(LABELS.get(text, text))
    if want == text or (have is True and want == '1'):
        return True
    try:
        return abs(float(want) - float(text)) < 1e-5 * max(1, abs(float(want)))
    except ValueError:
        return False


def compare(output, trace):
    with open(output, encoding='ascii') as f:
        want = [line.split() for line in f]
    with open(trace, encoding='utf-8') as f:
        events = [e for e in json.load(f)['traceEvents'] if e['name'].startswith('members:work_')]
    known = {'ip', 'caller', 'level', 'order', 'ret', 'duration', 'depth', 'left', 'lost', 'tail', 'arg2', 'arg3', 'arg4', 'arg5'}
    if len(want) != len(events) or not want:
        sys.exit(f'{len(want)} calls, and {len(events)} events')
    for words, event in zip(want, events):
        have = [v for k, v in event['args'].items() if k not in known]
        # Texts come after numbers: the values, in any order.
        left = list(have)
        for word in words[1:]:
            found = next((v for v in left if same(word, v)), None)
            if found is None:
                sys.exit(f'{event["name"]}: {words[1:]}, but {event["args"]}')
            left.remove(found)
        if left or event['name'] != f'members:work_{words[0]}':
            sys.exit(f'{event["name"]}: {words}, but {event["args"]}')


if sys.argv[1] == 'make':
    make(int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:7])
else:
    compare(sys.argv[2], sys.argv[3])
