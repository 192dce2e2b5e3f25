#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""List the calls in an object file of a module that <jumpfunc/calls.h> has made sites of: probe, function and offset."""
import re
import subprocess
import sys


def readelf(*args):
    return subprocess.run(['readelf', '-W', *args], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def functions(path):
    """{section: [(begin, end, name)]}"""
    found = {}
    for line in readelf('-s', path):
        w = line.split()
        if len(w) == 8 and w[3] == 'FUNC' and w[6].isdigit():
            found.setdefault(int(w[6]), []).append((int(w[1], 16), int(w[1], 16) + int(w[2], 0), w[7]))
    return found


def sections(path):
    """{name: number}"""
    return {m[2]: int(m[1]) for m in (re.match(r'\s*\[\s*(\d+)\] (\S+)', line) for line in readelf('-S', path)) if m}


def sites(path):
    """(probe, section, offset): in a record the place comes before its probe."""
    mine, place = False, None
    for line in readelf('-r', path):
        if line.startswith('Relocation section'):
            mine = "'.rela__jf_sites'" in line
        m = mine and re.search(r'R_X86_64_\w+\s+[0-9a-f]+ (\S+) \+ ([0-9a-f]+)$', line)
        if m and m[1].startswith('__jf_func___dtrace_'):
            yield m[1][len('__jf_func___dtrace_'):].replace('___', ':', 1), *place
        elif m:
            place = m[1], int(m[2], 16)


def main(path):
    numbers, text = sections(path), functions(path)
    for probe, section, offset in sorted(sites(path)):
        inside = [(b, n) for b, e, n in text.get(numbers.get(section), []) if b <= offset < e]
        print(probe, f'{inside[0][1]}+{offset - inside[0][0]:#x}' if inside else f'{section}+{offset:#x}')


if __name__ == '__main__':
    main(sys.argv[1])
