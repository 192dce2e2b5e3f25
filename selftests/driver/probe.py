#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a module with thousands of probes of a driver in the kernel's source: ext4.

SOURCE is a kernel's source (harness/kernel.sh source KERNEL). FOLDER is made: it has a copy of ext4 in which a
call of a probe function that does not exist stands before statements, each with a name of its own: before the first
one of each function, and before so many others as it takes. Beside them are what counts them (count.c), the modules
that ext4 needs, and a Kbuild.
"""
import argparse
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# The tree stays clean: no folder with compiled modules in it.
sys.dont_write_bytecode = True
from places import Source, choose, write  # noqa: E402


def put(name, source, folder, args):
    """Makes the driver's folder. Returns the number of probes."""
    os.makedirs(folder)
    sources = [Source(os.path.join(source, f)) for f in sorted(os.listdir(source)) if f.endswith(('.c', '.h'))]
    probes = []
    for s, at in choose(sources, args.probes) if args.probes else [(s, []) for s in sources]:
        mine = [f'__dtrace_{name}___{n}' for n in s.names(at)]
        write(os.path.join(folder, s.name), s.with_probes(at, mine, len(probes)))
        probes += mine
    with open(os.path.join(source, 'Makefile'), encoding='utf-8') as f:
        kbuild = f.read()
    if probes:
        targets = ['#include "jf_count.h"', f'const unsigned int jf_probed_num = {len(probes)};',
                   f'atomic_long_t jf_probed_counts[{len(probes)}][JF_PROBED_COUNTS];',
                   *(f'JF_PROBED_DECLARE({p});\nJF_PROBED_TARGET({p});' for p in probes)]
        write(os.path.join(folder, 'jf_targets.c'), '\n'.join(targets) + '\n')
        for f in ('count.c', 'count.h'):
            shutil.copyfile(os.path.join(HERE, f), os.path.join(folder, 'jf_' + f))
        kbuild += f"""
include $(src)/../../jumpfunc.mk
ccflags-y += $(JUMPFUNC_CFLAGS) -I$(src){' -DJF_PROBED_BARE' if args.bare else ''}
{name}-y += jf_count.o jf_targets.o
$(eval $(call jumpfunc-calls,{name}))
"""
    write(os.path.join(folder, 'Kbuild'), kbuild)
    return len(probes)


def needs(source, folder):
    """The modules that ext4 needs, as they are: they are not in every kernel's headers."""
    objects = ['ext4/', 'jbd2/']
    for f in ('fs/mbcache.c', 'lib/crc16.c', 'lib/crc/crc16.c', 'crypto/crc32c_generic.c', 'drivers/block/brd.c'):
        if os.path.exists(os.path.join(source, f)):
            shutil.copy(os.path.join(source, f), folder)
            objects.append(os.path.basename(f)[:-1] + 'o')
    shutil.copytree(os.path.join(source, 'fs/jbd2'), os.path.join(folder, 'jbd2'))
    os.rename(os.path.join(folder, 'jbd2/Makefile'), os.path.join(folder, 'jbd2/Kbuild'))
    with open(os.path.join(folder, 'Kbuild'), 'w') as f:
        f.write('obj-m := ' + ' '.join(objects) + '\n')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--probes', type=int, default=5500, help='how many (default 5500, of which the compiler drops some)')
    p.add_argument('--bare', action='store_true', help='nothing but the calls, to compare sizes')
    p.add_argument('source')
    p.add_argument('folder')
    args = p.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    print(put('ext4', os.path.join(args.source, 'fs/ext4'), os.path.join(args.folder, 'ext4'), args))
    needs(args.source, args.folder)


if __name__ == '__main__':
    main()
