#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Read results in TAP or KTAP, and say what failed.  The exit status is 0 only if something passed
and nothing failed.

This is the one reader of the harness: harness/check and harness/kunit/run import it.  It takes what
our tests write: several streams one after the other, plans in front or at the end, and results of
subtests, indented, before the result that sums them up.  It is strict, since a test that was cut
short must not pass.  All of these are failures:

- a stream without a plan, with another number of results than planned, or without any result;
- results whose numbers have a gap or come twice;
- "Bail out!", wherever it stands;
- a subtest without a result of its own, with a result of another name, or with a bad result that
  the one above it does not know of;
- an indented and numbered `not ok` outside any subtest: the result of a subtest whose header is lost;
- `not ok`, also one followed by `# SKIP` or `# TODO`: a directive excuses nothing.

Any other indented line outside a subtest is text.  A subtest begins with an indented header, plan or
`# Subtest: NAME`, and need not have a plan: KUnit does not know how many parameters a case has.
"""
import argparse
import re
import sys

VERSION = re.compile(r'K?TAP version\b')
SUBTEST = re.compile(r'# Subtest: (.*)$')
PLAN = re.compile(r'1\.\.(\d+)\s*(?:# *SKIP\S*\s*(.*))?$', re.I)
RESULT = re.compile(r'(not )?ok\b\s*(\d+)?\s*-?\s*(.*)$')
DIRECTIVE = re.compile(r'# *(SKIP|TODO)\S*\s*(.*)$', re.I)


class Result:
    """One line `ok` or `not ok`; log are the lines before it that are no TAP."""

    def __init__(self, ok, number, text, children, log):
        m = DIRECTIVE.search(text)
        self.ok, self.number, self.children, self.log = ok, number, children, log
        self.text = text
        self.name = text[:m.start()].strip() if m else text
        self.reason = m[2] if m else None
        self.verdict = 'not ok' if not ok else 'skip' if m and m[1].upper() == 'SKIP' else 'ok'


class Stream:
    """The results between one plan or header and the next."""

    def __init__(self):
        self.plan = self.reason = None      # a plan of 0 may have a reason
        self.results, self.problems = [], []


class Level:
    """Results of one indentation, until the result above them comes."""

    def __init__(self, indent, results):
        self.indent, self.results = indent, results
        self.name = self.plan = None
        self.last = 0

    def called(self):
        return self.name or 'a subtest'


class Reader:
    """Give it lines, then end(), which returns the streams."""

    def __init__(self, plan_needed=True):
        self.plan_needed = plan_needed
        self.streams = []
        self.log = []
        self.begin(False)

    def begin(self, header):
        self.stream = Stream()
        self.levels = [Level(0, self.stream.results)]
        self.header = header

    def problem(self, text):
        self.stream.problems.append(text)

    def unfinished(self, level):
        self.problem(f'{level.called()} never came to its end')

    def close(self):
        while len(self.levels) > 1:
            self.unfinished(self.levels.pop())
        s, plan = self.stream, self.levels[0].plan
        if plan is not None and plan != len(s.results):
            self.problem(f'planned {plan} results and gave {len(s.results)}')
        elif plan is None and s.results and self.plan_needed:
            self.problem('gave no plan: it may have been cut short')
        elif plan is None and not s.results and self.header and self.plan_needed:
            self.problem('began and gave no result')
        s.plan = plan
        if plan is not None or s.results or s.problems:
            self.streams.append(s)

    def end(self):
        self.close()
        self.begin(False)
        return self.streams

    def line(self, line):
        body = line.lstrip(' ')
        indent = len(line) - len(body)
        # Text may be indented, too: it is a subtest's only once that has begun.
        inside = not indent or len(self.levels) > 1
        m = PLAN.match(body)
        if m:
            self.on_plan(indent, int(m[1]), m[2])
            return
        if VERSION.match(body):
            self.on_header(indent)
            return
        m = SUBTEST.match(body)
        if m and indent:
            self.on_subtest(indent, m[1])
            return
        m = RESULT.match(body)
        # What is deeper than all that was announced is a result only if it has a number.
        if m and inside and (m[2] or indent <= self.levels[-1].indent):
            self.on_result(indent, m)
            return
        if m and m[1] and m[2] and not inside:
            self.problem(f'a bad result outside any subtest: {body}')
        if body.startswith('Bail out!') and inside:
            self.problem(body)
        self.log.append(line)

    def announced(self, indent, taken):
        """The level of a line that announces results; taken tells of one that is none of its own."""
        while self.levels[-1].indent > indent:
            self.unfinished(self.levels.pop())
        if indent and self.levels[-1].indent == indent and taken(self.levels[-1]):
            self.unfinished(self.levels.pop())
        if self.levels[-1].indent < indent:
            self.levels.append(Level(indent, []))
        return self.levels[-1]

    def on_header(self, indent):
        if indent:
            self.announced(indent, lambda l: l.name or l.results or l.plan is not None)
        else:
            self.close()
            self.begin(True)

    def on_subtest(self, indent, name):
        self.announced(indent, lambda l: l.name or l.results).name = name

    def on_plan(self, indent, number, reason):
        if not indent and self.levels[0].plan is not None:
            self.close()
            self.begin(False)
        level = self.announced(indent, lambda l: l.plan is not None)
        level.plan = number
        if not indent:
            self.stream.reason = reason

    def on_result(self, indent, m):
        below = None
        while self.levels[-1].indent > indent:
            if below:
                self.unfinished(below)
            below = self.levels.pop()
        if self.levels[-1].indent < indent:
            if below:
                self.problem(f'a result between two indentations: {m[0]}')
            self.levels.append(Level(indent, []))
        level = self.levels[-1]
        number = int(m[2] or level.last + 1)
        if not indent and number <= level.last and level.plan == len(level.results):
            self.close()
            self.begin(False)
            level = self.levels[0]
        if number != level.last + 1:
            self.problem(f'result number {number} where {level.last + 1} was due: {m[0]}')
        level.last = number
        r = Result(not m[1], number, m[3], below.results if below else [], self.log)
        self.log = []
        level.results.append(r)
        if below:
            self.sums_up(r, below)

    def sums_up(self, result, below):
        """Is that result what the level below it says?"""
        if below.plan is not None and below.plan != len(below.results):
            self.problem(f'{result.name}: planned {below.plan} results and gave {len(below.results)}')
        if below.name and below.name != result.name:
            self.problem(f'a result of {result.name} in the middle of {below.name}')
        bad = sum(not c.ok for c in below.results)
        if result.ok and bad:
            self.problem(f'{result.name} is "ok", and {bad} of its results are not')


def read(lines, plan_needed=True):
    reader = Reader(plan_needed)
    for l in lines:
        reader.line(l)
    return reader.end()


class Tally:
    """How many results passed, failed and were skipped; why the latter."""

    def __init__(self, lines):
        self.passed = self.failed = self.skipped = 0
        self.why, self.reasons = [], []
        for s in read(lines):
            self.add(s)

    def add(self, stream):
        for r in stream.results:
            if r.verdict == 'not ok':
                self.miss(r.text)
            elif r.verdict == 'skip':
                self.skipped += 1
                self.reasons.append(f'{r.name}: {r.reason}')
            else:
                self.passed += 1
        for p in stream.problems:
            self.miss(p)
        if stream.plan == 0:
            self.skipped += 1
            self.reasons.append(stream.reason or 'no reason given')

    def miss(self, why):
        self.failed += 1
        self.why.append(why)


def failing(lines):
    """The lines without what passed, and without the diagnosis of that, which follows, indented; of the
    remarks among what passed, only those that are next to what failed: they name its program."""
    out, remarks, keep, fresh = [], [], True, True
    for l in lines:
        if re.match(r'ok\b|1\.\.\d|K?TAP version', l):
            keep, fresh = False, True
        elif re.match(r'#\s\S', l) and not keep:
            remarks = [l] if fresh else remarks + [l]
            fresh = False
        elif keep or not re.match(r'#\s\s', l):
            out += remarks + [l]
            remarks, keep = [], True
    return out + remarks


class Writer:
    """Prints results, and the plan in the end."""

    def __init__(self):
        self.n = self.failed = 0
        print('TAP version 13')

    def say(self, ok, what, detail=(), skip=None):
        self.n += 1
        self.failed += not ok
        what = what.replace('#', '')
        print(f'{"ok" if ok else "not ok"} {self.n} - {what}' + (f' # SKIP {skip}' if skip is not None else ''))
        if not ok:
            for d in detail:
                for l in str(d).splitlines():
                    print(f'#   {l}')
        sys.stdout.flush()

    def end(self):
        """Returns the exit status."""
        print(f'1..{self.n}')
        return 1 if self.failed else 0


def main():
    p = argparse.ArgumentParser(prog='harness/tap.py', description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('file', nargs='?', default='-', help='what to read (default: the standard input)')
    a = p.parse_args()
    with open(0 if a.file == '-' else a.file, errors='replace') as f:
        t = Tally(f.read().splitlines())
    for w in t.why:
        print(f'failed: {w}')
    print(f'{t.passed} passed, {t.failed} failed' + (f', {t.skipped} skipped' if t.skipped else ''))
    return 1 if t.failed or not t.passed else 0


if __name__ == '__main__':
    sys.exit(main())
