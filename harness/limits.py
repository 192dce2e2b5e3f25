#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Say how long tests may take: TEST:SECONDS for each, as harness/vm/guest-tests wants it.

Limits are there to end what hangs, and are decided here alone.  A test's own is in its head, as
`# JF_TIMEOUT=300`, for the long forms `# JF_TIMEOUT_LONG=3600`.  They are for a CPU that is one;
harness/vm/run tells the guest by how much to stretch them (JF_SLOW)."""
import argparse
import os
import re
import sys

DEFAULT = 120           # seconds
LONG = 8                # how much longer the long form of a test takes
EMULATED = 4            # an emulated CPU on a busy machine is slow, not hung
BOOT = 90               # seconds until the first test, and after the last
PART = 2400             # for a part of the tests on this machine
KUNIT = 900             # for a machine that runs all KUnit suites
KUNIT_BROKEN = 60       # the same where the module was broken on purpose (JF_BROKEN): many then hang

# No limits, but comparable to those of machines: what harness/check begins first.
BUILD = 1000000         # others wait for it
HOST = BUILD // 2       # tests on this machine: one after another, as long as a machine's
USER = 2 * BUILD        # the tests of the library run one after another, for longer than one kernel's

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def seconds(test, long=False):
    """What that file of selftests/tests may take."""
    with open(os.path.join(TREE, 'selftests', 'tests', test)) as f:
        own = dict(re.findall(r'^# (JF_TIMEOUT(?:_LONG)?)=(\d+)', f.read(), re.M))
    short = int(own.get('JF_TIMEOUT', DEFAULT))
    return int(own.get('JF_TIMEOUT_LONG', LONG * short)) if long else short


def stretch(slow, emulated):
    """By how much, on a kernel that is slow times as slow as others, as one that checks every access
    to memory is."""
    return slow * (EMULATED if emulated else 1)


def words(tests, long=False):
    return [f'{t}:{seconds(t, long)}' for t in tests]


def machine(tests, long, slow):
    """For a machine that runs these tests, if its CPU should turn out to be emulated."""
    return stretch(slow, True) * sum(seconds(t, long) for t in tests) + slow * BOOT


if __name__ == '__main__':
    p = argparse.ArgumentParser(prog='harness/limits.py', description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--long', action='store_true', help='the long forms of the tests')
    p.add_argument('test', nargs='+', help='a file of selftests/tests')
    a = p.parse_args()
    try:
        print('\n'.join(words(a.test, a.long)))
    except OSError as e:
        sys.exit(f'jumpfunc: error: {e}')
