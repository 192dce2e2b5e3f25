#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Put thousands of probes into zstd's sources.

FOLDER has a copy of the sources, which is changed: a call of a probe function that does not exist stands before
statements, each with a name of its own. Prints the number, and then the files that are to be compiled.
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../../../../selftests/driver'))
# The tree stays clean: no folder with compiled modules in it.
sys.dont_write_bytecode = True
from places import Source, choose, write  # noqa: E402

PARTS = ('lib/common', 'lib/compress', 'lib/decompress', 'lib/dictBuilder', 'programs')


def main(folder, wanted):
    paths = [os.path.join(folder, p, f) for p in PARTS for f in sorted(os.listdir(os.path.join(folder, p))) if f.endswith('.c')]
    probes = []
    for (source, at), path in zip(choose([Source(p) for p in paths], wanted), paths):
        mine = [f'__dtrace_zstd___{n}' for n in source.names(at)]
        write(path, source.with_probes(at, mine, len(probes)).replace('#include "jf_count.h"', '#include "count.h"'))
        probes += mine
    names = ''.join(f'\t"{p.replace("__dtrace_", "").replace("___", ":", 1)}",\n' for p in probes)
    write(os.path.join(folder, 'names.c'), f"""extern const unsigned int jf_probed_num;
const unsigned int jf_probed_num = {len(probes)};
extern const char *const jf_probed_names[];
const char *const jf_probed_names[] = {{
{names}}};
struct jf_probed_counts {{ unsigned long n[3]; }};
extern struct jf_probed_counts jf_probed_counts[];
struct jf_probed_counts jf_probed_counts[{len(probes)}];
""")
    for f in ('count.c', 'count.h'):
        shutil.copy(os.path.join(HERE, f), folder)
    print(len(probes))
    print('\n'.join(os.path.relpath(p, folder) for p in paths))


if __name__ == '__main__':
    main(sys.argv[1], int(sys.argv[2]))
