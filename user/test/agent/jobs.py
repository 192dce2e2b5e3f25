#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Job control of jf-trace by a shell with a terminal of its own, for jobs.sh.

usage: jobs.py run|top JF-TRACE ARGUMENTS...

run: the job and its children stop and go on together. top: the process with the number in $TARGET runs on.
"""
import fcntl
import os
import pty
import re
import select
import sys
import termios
import time

SECONDS = 60


def stat(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as f:
            return f.read().rsplit(')', 1)[1].split()
    except OSError:
        return ['-'] * 20


def children(pid):
    try:
        with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def tree(pid):
    return [pid] + [other for child in children(pid) for other in tree(child)]


class Shell:
    """An interactive one, in a session of its own."""

    def __init__(self):
        self.terminal, its = pty.openpty()
        self.pid = os.fork()
        if not self.pid:
            os.setsid()
            fcntl.ioctl(its, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(its, fd)
            os.environ.update(PS1='$ ', TERM='dumb', HISTFILE='')
            os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])
        os.close(its)
        self.out = ''

    def read(self):
        if select.select([self.terminal], [], [], 0.05)[0]:
            self.out += os.read(self.terminal, 65536).decode(errors='replace')

    def wait(self, what, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            self.read()
            if time.monotonic() > end:
                raise SystemExit(f'{what}: in vain\n{self.out[-2000:]}\n' + str([(p, stat(p)[0]) for p in tree(self.pid)]))

    def type(self, text):
        os.write(self.terminal, text.encode())

    def says(self, regexp):
        begin = len(self.out)
        return lambda: re.search(regexp, self.out[begin:])

    def job(self):
        return [pid for child in children(self.pid) for pid in tree(child)]

    def all_are(self, states):
        return lambda: self.job() and all(stat(pid)[0] in states for pid in self.job())


def stop_and_go(shell, target):
    """The job stops by ^Z, goes on in the foreground, stops, and goes on in the background."""
    for how in ('fg\n', 'bg\n'):
        shell.type('\x1a')
        shell.wait('^Z', shell.all_are('T'))
        if target:
            before = stat(target)[12]
            shell.wait('the target runs', lambda: stat(target)[0] in 'RS' and stat(target)[12] != before)
        shell.type(how)
        shell.wait(how.strip(), shell.all_are('RSD'))
        time.sleep(0.3)
    shell.type('fg\n')
    time.sleep(0.3)


def main():
    kind, *command = sys.argv[1:]
    target = int(os.environ['TARGET']) if kind == 'top' else 0
    shell = Shell()
    shell.type(' '.join(f"'{word}'" for word in command) + '\n')
    ready = shell.says('events/s, lost' if target else 'ready')
    shell.wait('ready', ready)
    stop_and_go(shell, target)
    if kind == 'run':
        # The program ends by itself.
        os.kill(shell.job()[-1], 10)
        shell.wait('the end', lambda: not shell.job())
    else:
        shell.type('\x03')
        shell.wait('^C', lambda: not shell.job())
    said = shell.says('status [0-9]+ *\r?\n')
    shell.type('echo status $?\n')
    shell.wait('status', said)
    print(shell.out)
    shell.type('exit\n')


if __name__ == '__main__':
    main()
