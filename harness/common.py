# SPDX-License-Identifier: GPL-2.0
"""Shared by the programs of the harness that are written in Python."""
import os
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get('JF_BUILD') or os.path.join(TREE, 'build')


def info(kernel):
    """What the build for that kernel says of it; {} if there is none."""
    try:
        with open(os.path.join(BUILD, kernel, 'info')) as f:
            return dict(l.rstrip('\n').split('=', 1) for l in f if '=' in l and not l.startswith('#'))
    except FileNotFoundError:
        return {}


def trouble(lines):
    """Those lines of a kernel log that are trouble, by the one rule for that."""
    r = subprocess.run([os.path.join(TREE, 'harness', 'trouble')], input=''.join(l + '\n' for l in lines),
                       stdout=subprocess.PIPE, encoding='utf-8', errors='replace')
    found = r.stdout.split('\n')[:-1]
    if r.returncode != (1 if found else 0):
        sys.exit(f'jumpfunc: error: harness/trouble ended with status {r.returncode}, so this log is not judged')
    return found
