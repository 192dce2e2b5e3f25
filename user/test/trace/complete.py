#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""Types lines into a shell as a user does, and prints what has become of them.

usage: complete.py SHELL SETUP < LINES

The interactive shell has a terminal of its own, and runs the commands of SETUP first. At the end of a line the Tab key is
pressed; then the shell prints the words of the line, with a tab between two. Where a line ends with ?, a key is pressed
instead that puts in all that is offered, and that is printed.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

LIMIT = 60          # seconds until the shell answers, on a busy machine
RESET, ALL, SAY = b'\x15', b'\x0f', b'\x07'
START = {
    'bash': (['bash', '--norc', '--noprofile', '-i'], r'''
        set +o history +o histexpand; PS1=; bind 'set enable-bracketed-paste off'
        bind '"\C-o": insert-completions'; bind -x '"\C-g": said'; bind '"\C-u": unix-line-discard'
        said() { eval "set -- $READLINE_LINE"; printf '<<<'; printf '%s\t' "$@"; printf '>>>\n'; }
        '''),
    'zsh': (['zsh', '-f', '-i'], r'''
        bindkey -e; setopt no_bang_hist; PS1=; unset zle_bracketed_paste
        autoload -Uz compinit; compinit -u -D
        zstyle ':completion:*' verbose no; zstyle ':completion:all:*' completer _all_matches _complete
        zstyle ':completion:all:*' insert yes; zstyle ':completion:all:*' old-matches no
        zle -C all complete-word _generic; bindkey '^O' all
        said() { eval "set -- $BUFFER"; printf '<<<'; printf '%s\t' "$@"; printf '>>>\n'; }
        zle -N said; bindkey '^G' said; bindkey '^U' kill-buffer
        '''),
    'fish': (['fish', '--no-config', '-i'], r'''
        function fish_prompt; end; function fish_right_prompt; end; set -g fish_autosuggestion_enabled 0
        function said; eval set words (commandline); printf '<<<'; printf '%s\t' $words; printf '>>>\n'; end
        function all; commandline -- (commandline) (complete -C (commandline) | string replace -r '\t.*' '' | string escape); end
        bind \cg said; bind \co all; bind \cu 'commandline ""'
        '''),
}


class Shell:
    def __init__(self, name, setup):
        argv, keys = START[name]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM='xterm', PS1='')
            os.execvp(argv[0], argv)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', 200, 1000, 0, 0))
        self.seen = b''
        with open(setup, 'a', encoding='utf-8') as f:
            f.write(keys + "printf '<<<%s>>>\\n' ready\n")
        self.keys(f'. {os.path.abspath(setup)}\n'.encode())
        self.answer()

    def keys(self, text):
        while text:
            text = text[os.write(self.fd, text):]

    def answer(self):
        """What the shell has written between the marks; it is still at the line that was typed."""
        end = time.monotonic() + LIMIT
        while b'>>>' not in self.seen:
            left = max(0, end - time.monotonic())
            if not select.select([self.fd], [], [], left)[0]:
                sys.exit(f'no answer, but {self.seen!r}')
            self.seen += os.read(self.fd, 65536)
        said, self.seen = self.seen.split(b'>>>', 1)
        return said.split(b'<<<')[-1].decode().rstrip('\t')

    def complete(self, line):
        if not line.endswith('?'):
            self.keys(RESET + line.encode() + b'\t' + SAY)
            return self.answer()
        self.keys(RESET + line[:-1].encode() + ALL + SAY)
        *before, begin = line[:-1].split(' ')
        offered = {word.rstrip('=') for word in self.answer().split('\t')[len(before):]}
        return '\t'.join(sorted(offered - {begin}))


shell = Shell(sys.argv[1], sys.argv[2])
for wanted in sys.stdin.read().splitlines():
    print(shell.complete(wanted), flush=True)
os.close(shell.fd)
