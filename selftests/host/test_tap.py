#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of harness/tap.py: what it counts in streams that are whole, and what it says of those that
are not.  Prints TAP."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'harness'))
sys.dont_write_bytecode = True
import tap  # noqa: E402

SUITE = '''    KTAP version 1
    # Subtest: suite
    1..2
        KTAP version 1
        # Subtest: first
        ok 1 - a
        ok 2 - b
    ok 1 - first
    ok 2 - second
ok 1 - suite
1..1
'''

# what, the stream, (passed, failed, skipped), what has to be said, in this order
CASES = [
    ('a plan in front', '1..2\nok 1 - a\nok 2 - b\n', (2, 0, 0), []),
    ('a plan in the end', 'TAP version 13\nok 1 - a\nok 2 - b\n1..2\n', (2, 0, 0), []),
    ('results without numbers', '1..2\nok - a\nok\n', (2, 0, 0), []),
    ('text and comments between', '1..2\nhello\n# ok 7 - no\nok 1 - a\nfine: ok 3\nok 2 - b # 12 checks\n', (2, 0, 0), []),
    ('indented text', '1..1\n  ok 3 cups of tea\n    not ok for me\n  Bail out! of the car\nok 1 - a\n', (1, 0, 0), []),
    ('a bad result that no plan announced', '1..2\nok 1 - a\n    not ok 1 - hidden\nok 2 - b\n', (2, 1, 0), ['outside any subtest']),
    ('a failure', '1..2\nnot ok 1 - a\nok 2 - b\n', (1, 1, 0), ['a']),
    ('no plan', 'ok 1 - a\n', (1, 1, 0), ['no plan']),
    ('too few results', '1..3\nok 1 - a\nok 2 - b\n', (2, 1, 0), ['planned 3 results and gave 2']),
    ('too many results', '1..1\nok 1 - a\nok 2 - b\n', (2, 1, 0), ['planned 1 results and gave 2']),
    ('a plan and nothing else', '1..2\n', (0, 1, 0), ['planned 2 results and gave 0']),
    ('a header and nothing else', 'TAP version 13\n', (0, 1, 0), ['gave no result']),
    ('a header and nothing else, after a stream', '1..1\nok 1\nTAP version 13\n# starts\n', (1, 1, 0), ['gave no result']),
    ('nothing', '', (0, 0, 0), []),
    ('a number twice', '1..2\nok 1 - a\nok 1 - b\n', (2, 1, 0), ['result number 1 where 2 was due']),
    ('a number left out', 'ok 1 - a\nok 3 - b\n1..2\n', (2, 1, 0), ['result number 3 where 2 was due']),
    ('results in another order', '1..2\nok 2 - a\nok 1 - b\n', (2, 2, 0), ['number 2 where 1', 'number 1 where 3']),
    ('the test gives up', '1..2\nok 1 - a\nBail out! no disk\n', (1, 2, 0), ['Bail out! no disk', 'gave 1']),
    ('the test gives up in the end', '1..1\nok 1 - a\nBail out!\n', (1, 1, 0), ['Bail out!']),
    ('a skip', '1..2\nok 1 - a # SKIP no CPU\nok 2 - b # skipped: no disk\n', (0, 0, 2), ['a: no CPU', 'b: no disk']),
    ('all is skipped', '1..0 # SKIP needs root\n', (0, 0, 1), ['needs root']),
    ('all is skipped, and no reason is given', '1..0\n', (0, 0, 1), ['no reason']),
    ('all is skipped, and there is a result', '1..0 # SKIP needs root\nok 1 - a\n', (1, 1, 1), ['planned 0', 'needs root']),
    ('a failure that says to be skipped', '1..1\nnot ok 1 - a # SKIP no CPU\n', (0, 1, 0), ['a # SKIP no CPU']),
    ('a failure that was to be expected', '1..1\nnot ok 1 - a # TODO some day\n', (0, 1, 0), ['a # TODO']),
    ('a pass that was not to be expected', '1..1\nok 1 - a # TODO some day\n', (1, 0, 0), []),
    ('two streams with headers', 'TAP version 13\n1..1\nok 1 - a\nTAP version 13\n1..1\nok 1 - b\n', (2, 0, 0), []),
    ('two streams with plans in the end', 'ok 1 - a\n1..1\nok 1 - b\nok 2 - c\n1..2\n', (3, 0, 0), []),
    ('two streams with plans in front', '1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n', (3, 0, 0), []),
    ('the first of two is cut', 'TAP version 13\n1..2\nok 1 - a\nTAP version 13\n1..1\nok 1 - b\n', (2, 1, 0), ['gave 1']),
    ('the first of two has no plan', 'TAP version 13\nok 1 - a\nTAP version 13\n1..1\nok 1 - b\n', (2, 1, 0), ['no plan']),
    ('a subtest', SUITE, (1, 0, 0), []),
    ('subtests by two spaces', '1..1\n  KTAP version 1\n  1..1\n  ok 1 a\nok 1 b\n', (1, 0, 0), []),
    ('a failure that the result above does not tell', SUITE.replace('ok 2 - b', 'not ok 2 - b'), (1, 1, 0),
     ['first is "ok", and 1 of its results are not']),
    ('a failure that all above tell', SUITE.replace('ok 2 - b', 'not ok 2 - b').replace('ok 1 - first', 'not ok 1 - first')
     .replace('\nok 1', '\nnot ok 1'), (0, 1, 0), ['suite']),
    ('a subtest with a result too few', SUITE.replace('    ok 2 - second\n', ''), (1, 1, 0),
     ['suite: planned 2 results and gave 1']),
    ('a subtest with a number twice', SUITE.replace('ok 2 - b', 'ok 1 - b'), (1, 1, 0), ['number 1 where 2']),
    ('a subtest under another name', SUITE.replace('ok 1 - suite', 'ok 1 - suit'), (1, 1, 0),
     ['a result of suit in the middle of suite']),
    ('a subtest without its result', SUITE.replace('ok 1 - suite\n1..1\n', ''), (0, 1, 0), ['suite never came']),
    ('a subtest without its result, in front of another', '1..1\n' + SUITE.replace('ok 1 - suite\n1..1\n', '') +
     SUITE.replace('suite', 'next').replace('\n1..1', ''), (1, 1, 0), ['suite never came']),
    ('a subtest of a subtest without its result', SUITE.replace('    ok 1 - first\n    ok 2 - second\n', ''), (1, 2, 0),
     ['first never came', 'planned 2 results and gave 0']),
    ('a case without its result, in front of another', SUITE.replace('        ok 2 - b\n    ok 1 - first\n',
     '    # Subtest: other\n'), (1, 4, 0), ['first never came', 'suite never came']),
    ('a plan in the end, and a subtest without its result', 'ok 1 - a\n    1..1\n    ok 1 - b\n1..1\n', (1, 1, 0),
     ['a subtest never came']),
    ('text in a subtest', SUITE.replace('        ok 2 - b', '        ok 2 - b\n            ok with me'), (1, 0, 0), []),
    ('a subtest that gives up', SUITE.replace('        ok 2 - b', '        Bail out! no'), (1, 1, 0), ['Bail out! no']),
    ('parameters that no plan announced', '1..1\n    # Subtest: s\n    1..1\n        ok 1 a\n        not ok 2 b\n'
     '    ok 1 c\nok 1 s\n', (1, 1, 0), ['c is "ok"']),
    ('a subtest is skipped', '1..1\n    # Subtest: s\n    1..0 # SKIP no\nok 1 s # SKIP no\n', (0, 0, 1), ['s: no']),
    ('an indentation of its own', SUITE.replace('    ok 1 - first', '  ok 1 - first'), (1, 6, 0),
     ['between two', 'first never came', 'in the middle of suite']),
]


def main():
    out = tap.Writer()
    for what, text, counts, said in CASES:
        t = tap.Tally(text.splitlines())
        got = (t.passed, t.failed, t.skipped)
        told = t.why + t.reasons
        ok = got == counts and len(told) >= len(said) and all(any(s in l for l in told) for s in said)
        # Nothing is told of what went well.
        ok = ok and len(told) == counts[1] + counts[2]
        out.say(ok, what, [f'passed, failed, skipped: {got}, wanted {counts}'] + told)

    s = tap.read(SUITE.replace('1..1\n', '').splitlines(), plan_needed=False)
    out.say(len(s) == 1 and not s[0].problems and [c.name for c in s[0].results[0].children] == ['first', 'second'] and
            [p.name for p in s[0].results[0].children[0].children] == ['a', 'b'],
            'a plan need not be there where the caller knows what must come, and subtests can be walked')
    s = tap.read('lost\nok 1 - a\n# why\nmore\nnot ok 2 - b\n1..2'.splitlines())
    out.say([r.log for r in s[0].results] == [['lost'], ['# why', 'more']], 'a result has the lines in front of it')
    out.say(tap.failing('TAP version 13\nok 1 - a\n#  why\ntext\nnot ok 2 - b\n#   why\n1..2'.splitlines()) ==
            ['text', 'not ok 2 - b', '#   why'], 'the output without what passed')
    out.say(tap.failing('TAP version 13\n# a\nok 1 - x\n1..1\n# b\nok 1 - x\n1..1\n# c\n# more\nok 1 - x\nnot ok 2 - y\n'
                        '#   why\n1..2\n# d\nok 1 - x\n1..1\n# e\nok 1 - x\n1..1'.splitlines()) ==
            ['# c', '# more', 'not ok 2 - y', '#   why', '# e'], '... and without the names of programs that passed')
    return out.end()


sys.exit(main())
