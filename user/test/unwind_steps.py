# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""For gdb: at each single instruction of dispatch images, the way out leads to serve().
Prints how many were looked at, and how many of them were lost."""
import gdb

gdb.execute('set pagination off')
gdb.execute('set confirm off')
gdb.execute('break serve')
gdb.execute('run')
gdb.execute('delete')
looked = lost = 0
for _ in range(2000):
    frame = gdb.newest_frame()
    if frame.name() == 'main':
        break
    if frame.name() == 'jf_image':
        looked += 1
        names = []
        up = frame.older()
        while up:
            names.append(up.name())
            up = up.older()
        if 'serve' not in names or names[-1] != 'main':
            lost += 1
            print('lost at %#x: %s' % (frame.pc(), names))
    # What the image calls is not looked at.
    if frame.name() and frame.name()[-1] in '12':
        gdb.execute('finish', to_string=True)
    else:
        gdb.execute('stepi', to_string=True)
print('looked at %d instructions, lost %d' % (looked, lost))
gdb.execute('kill')
