# SPDX-License-Identifier: GPL-2.0
"""Puts calls of probe functions before statements of sources in C.

Where a statement begins that another one may stand before is found by the tokens, without knowing types: after the
end of another statement of a block, at a word of the language or at what can only be a value.
"""
import os
import re

TOKEN = re.compile(r'''
    (?P<space>\s+ | /\*.*?\*/ | //[^\n]*)
  | (?P<directive>(?m:^)[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<rest>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | -> | \+\+ | -- | [-+*/%&|^]= | << =? | >> =? | [=!<>]= | && | \|\|
      | \d[\w.]* | .)''', re.X | re.S)

JUMPS = {'return', 'goto', 'break', 'continue'}
# A do's while looks like another one.
BEGINS = JUMPS | {'if', 'for', 'switch', 'do'}
# A word that is followed by one of these is a value, and no type.
OPERATORS = {'(', '=', '->', '.', '[', '++', '--', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}
# What looks like a call, and is none.
NO_CALLS = {'typeof', '__typeof__', '__attribute__', 'asm', 'sizeof', 'guard', 'scoped_guard', 'while', 'case', 'else'}


class Tokens:
    """The tokens of a source that the compiler reads: (kind, text, offset), and where directives stand."""

    def __init__(self, text):
        self.all, self.directives = [], []
        for m in TOKEN.finditer(text):
            if m.lastgroup == 'directive':
                self.directives.append((len(self.all), m[0], m.end()))
            elif m.lastgroup != 'space':
                self.all.append((m[0], m.start()))


class Places:
    """The offsets in a C source where a statement begins that another one may stand before, always."""

    def __init__(self, text):
        tokens = Tokens(text)
        self.tokens = tokens.all
        # Before these tokens stands a directive: what the statement is part of depends on the configuration.
        self.unsure = {at for at, _, _ in tokens.directives}
        self.found = []
        # Those of them that are the first one of a function.
        self.entries = set()
        self.fresh = False
        self.read(tokens.directives)

    def text(self, i):
        return self.tokens[i][0] if 0 <= i < len(self.tokens) else ''

    def read(self, directives):
        """Goes through the tokens; each branch of an #if begins as the first one did."""
        self.stack, self.parens, self.first, self.assigns = [], 0, None, False
        kept, todo = [], list(directives)
        for i in range(len(self.tokens)):
            while todo and todo[0][0] == i:
                self.directive(todo.pop(0)[1], kept)
            self.token(i)

    def state(self):
        return list(self.stack), self.parens, self.first, self.assigns

    def directive(self, text, kept):
        m = re.match(r'\s*#\s*(\w*)', text)
        if m[1].startswith('if'):
            kept.append(self.state())
        elif m[1] in ('else', 'elif') and kept:
            stack, self.parens, self.first, self.assigns = kept[-1]
            self.stack = list(stack)
        elif m[1] == 'endif' and kept:
            kept.pop()

    def token(self, i):
        text, before = self.text(i), self.text(i - 1)
        if text in '([':
            self.parens += 1
        elif text in ')]':
            self.parens -= 1
        if self.parens and text not in '([':
            return
        if self.parens:
            self.first = self.first or text
            return
        if text == '{':
            self.fresh = self.fresh or not self.stack
            self.stack.append(self.brace(before))
            self.ends()
        elif text == '}':
            block = self.stack.pop() if self.stack else True
            # After a list of members or values the statement goes on.
            if block:
                self.ends('}')
            else:
                self.first = self.first or text
        elif text == ';':
            self.ends(self.first)
        else:
            if self.first is None:
                self.begins(i, text, before)
                self.first = text
            self.assigns = self.assigns or text in ('=', 'return')

    def ends(self, last=None):
        self.last, self.first, self.assigns = last, None, False

    def brace(self, before):
        """What a brace opens: a block of statements, or a list of values or members."""
        if not self.stack:
            return before == ')' and not self.assigns
        return self.stack[-1] and not self.assigns and before in (')', ';', '{', '}', ':', 'else', 'do')

    def begins(self, i, text, before):
        """The first token of what may be a statement."""
        if not self.stack or not self.stack[-1] or i in self.unsure or before not in (';', '{', '}'):
            return
        # Nothing comes to what stands after these.
        if before == ';' and self.last in JUMPS:
            return
        if text in BEGINS or self.is_value(i, text):
            self.found.append(self.tokens[i][1])
            if self.fresh:
                self.entries.add(self.tokens[i][1])
            self.fresh = False

    def is_value(self, i, text):
        # The type of a pointer to functions: int (*name)(
        if self.text(i + 1) == '(' and self.text(i + 2) == '*' and self.text(i + 4) == ')' and self.text(i + 5) == '(':
            return False
        return re.match(r'[A-Za-z_]', text) and text not in NO_CALLS and re.search('[a-z]', text) and \
            self.text(i + 1) in OPERATORS


def after_includes(text):
    """The offset after the last #include that is in no #if, before the first brace of a function."""
    at = depth = 0
    for _, directive, end in Tokens(text).directives:
        m = re.match(r'\s*#\s*(\w*)', directive)
        depth += m[1].startswith('if')
        depth -= m[1] == 'endif'
        if m[1] == 'include' and not depth:
            at = end
    return at


class Source:
    """One of a driver's sources, and where probes may stand in it."""

    def __init__(self, path):
        self.name = os.path.basename(path)
        with open(path, encoding='utf-8') as f:
            self.text = f.read()
        # A KUnit suite is included by the file that it tests.
        places = Places(self.text if path.endswith('.c') and not path.endswith('-test.c') else '')
        self.head = after_includes(self.text)
        self.places = [(at, at in places.entries) for at in places.found if at >= self.head]

    def names(self, chosen):
        """A probe is named for its file and line."""
        file, taken, names = re.sub('[^a-z0-9]', '_', self.name[:-2].lower()), {}, []
        for at in chosen:
            name = f'{file}_{self.text.count(chr(10), 0, at) + 1}'
            taken[name] = taken.get(name, 0) + 1
            # Several may be on one line.
            names.append(name if taken[name] == 1 else f'{name}_{taken[name]}')
        return names

    def with_probes(self, chosen, probes, first):
        """The text with probes, the first of which has that number; they stay on the lines of the statements."""
        if not chosen:
            return self.text
        out, last = [], self.head
        for i, (at, probe) in enumerate(zip(chosen, probes)):
            out += [self.text[last:at], f'JF_PROBED({first + i}, {probe}); ']
            last = at
        line = self.text.count('\n', 0, self.head) + 1
        head = ['', '#include "jf_count.h"', *(f'JF_PROBED_DECLARE({p});' for p in probes), f'#line {line}']
        return self.text[:self.head] + '\n'.join(head) + ''.join(out) + self.text[last:]


def choose(sources, wanted):
    """[(source, offsets)]: all entries of functions, and so many of the other places, evenly, as are wanted."""
    others = sum(not entry for s in sources for _, entry in s.places)
    left = min(others, max(0, wanted - sum(len(s.places) for s in sources) + others))
    chosen, seen = [], 0
    for s in sources:
        mine = []
        for at, entry in s.places:
            if not entry:
                seen += 1
            if entry or seen * left // others != (seen - 1) * left // others:
                mine.append(at)
        chosen.append((s, mine))
    return chosen


def write(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
