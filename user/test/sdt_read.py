#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Print the notes by stapsdt of an ELF file, one a line, read without a foreign header:
provider name section+offset semaphore sizes-of-arguments. With --args the operands, too.
Ends with 1 where a note is malformed or an address does not lead to a nop."""
import struct
import sys


def sections(data):
    shoff, = struct.unpack_from('<Q', data, 40)
    size, num, names = struct.unpack_from('<HHH', data, 58)
    rows = [struct.unpack_from('<IIQQQQIIQQ', data, shoff + i * size) for i in range(num)]
    text = data[rows[names][4]:][:rows[names][5]]
    return [(text[r[0]:text.index(b'\0', r[0])].decode(), r) for r in rows]


def notes(data, at, end):
    while at < end:
        namesz, descsz, kind = struct.unpack_from('<III', data, at)
        name = data[at + 12:at + 12 + namesz]
        desc = at + 12 + (namesz + 3 & ~3)
        assert name == b'stapsdt\0' and kind == 3, (name, kind)
        yield data[desc:desc + descsz]
        at = desc + (descsz + 3 & ~3)
    assert at == end, 'the section ends within a note'


def main():
    args = '--args' in sys.argv
    with open(sys.argv[-1], 'rb') as f:
        data = f.read()
    found = sections(data)
    base = [r for n, r in found if n == '.stapsdt.base']
    assert len(base) == 1 and base[0][5] == 1 and base[0][2] & 2, 'one allocated byte is the base'
    for name, row in found:
        if name != '.note.stapsdt':
            continue
        assert not row[2] & 2, 'notes are not loaded'
        for note in notes(data, row[4], row[4] + row[5]):
            pc, where, semaphore = struct.unpack_from('<QQQ', note)
            words = note[24:].split(b'\0')
            assert len(words) == 4 and not words[3], words
            assert where == base[0][3], 'the base is the section\'s address'
            text = [r for _, r in found if r[3] <= pc < r[3] + r[5] and r[2] & 4]
            assert text, 'the address is in text'
            assert data[text[0][4] + pc - text[0][3]] == 0x90, 'at the address is a nop'
            operands = words[2].decode().split()
            print(words[0].decode(), words[1].decode(), semaphore,
                  *(operands if args else [o.split('@')[0] for o in operands]))


try:
    main()
except AssertionError as wrong:
    sys.exit('sdt_read.py: %s: %s' % (sys.argv[-1], wrong))
