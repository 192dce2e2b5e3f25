# SPDX-License-Identifier: GPL-2.0
"""Shared by the programs of the harness that are written in Python."""
import contextlib
import os
import signal
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


# ---- the end by a signal ----

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
starting = due = False


def end_by_signal():
    """From now on a signal raises KeyboardInterrupt in the main thread.  The first one only: what is
    done then is to end what was started, and must not be cut short."""
    def stop(num, _):
        global due
        for s in SIGNALS:
            # Not SIG_IGN: of one that has come at the same time Python would tell in a traceback, and what is
            # started from here on would inherit it.
            if signal.getsignal(s) is stop:
                signal.signal(s, lambda *_: None)
        if starting:
            due = True
        else:
            raise KeyboardInterrupt
    for s in SIGNALS:
        # nohup has set this one to be ignored, and it stays so.
        if s != signal.SIGHUP or signal.getsignal(s) != signal.SIG_IGN:
            signal.signal(s, stop)


@contextlib.contextmanager
def undisturbed():
    """Something is started and noted in here: between the two no signal is acted upon."""
    global starting
    starting = True
    try:
        yield
    finally:
        starting = False
    if due:
        raise KeyboardInterrupt


def in_session(leaders):
    """The processes of these sessions that have not ended yet."""
    found = []
    for d in os.listdir('/proc'):
        if not d.isdigit():
            continue
        try:
            with open(f'/proc/{d}/stat', errors='replace') as f:
                state, _, _, session = f.read().rpartition(')')[2].split()[:4]
        except OSError:
            continue
        if int(session) in leaders and state not in 'ZX':
            found.append(int(d))
    return found


def signal_sessions(leaders, number):
    """A signal for all of them: some are groups of their own, as what timeout(1) runs."""
    for pid in in_session(leaders):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
