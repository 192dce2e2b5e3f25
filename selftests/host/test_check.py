#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of harness/check and what it calls, in a made-up tree with a QEMU of our own, which says what
a virtual machine might say: is each failure reported, and does a signal end all that was started?
Prints TAP."""
import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TREE, 'harness'))
sys.dont_write_bytecode = True
import tap  # noqa: E402

# Stands in for QEMU.  Each virtual machine takes the next line of the file that JF_FAKE names: what is
# to happen in it, by test; what a test does that is not named there, is pass.
QEMU = r'''#!/usr/bin/env python3
import os, re, sys, time
args = ' '.join(sys.argv)
ident = re.search(r'jf\.id=(\w+)', args)[1]
with open(re.search(r'-initrd (\S+)', args)[1], 'rb') as f:
    job = re.search(rb'guest-tests ([0-9a-f]{12}) ([^\n]*)', f.read())
if job:
    mark, tests = job[1].decode(), [t.split(':')[0] for t in job[2].decode().split()]
else:
    mark, tests = 'none', ['command']
with open(os.environ['JF_FAKE'], 'r+') as f:
    lines = f.read().splitlines()
    f.seek(0)
    f.truncate()
    f.write('\n'.join(lines[1:]))
acts = dict(a.split('=') for a in (lines or [''])[0].split())
# A comma ends a value, two are one.
con = open(re.search(r'path=((?:[^\s,]|,,)+)', args)[1].replace(',,', ','), 'a')
print('[ 1.0] Linux', file=con, flush=True)
if acts.get('boot') == 'clock':
    print(f'@jf {ident} clock PIT calibration deviates from HPET: 1 10', flush=True)
print(f'@jf {ident} start 6.1', flush=True)
for t in tests:
    act = acts.get(t, 'pass')
    print(f'[ 2.0] jumpfunc selftest {t} begins', file=con, flush=True)
    print(f'@check {mark} begin {t}\nTAP version 13\nok 1 - a', flush=True)
    if act == 'hang':
        open(os.environ['JF_FAKE'] + '.hangs', 'w').close()
        time.sleep(600)
    if act == 'die':
        sys.exit(0)
    if act == 'warn':
        print('[ 3.0] WARNING: CPU: 0 PID: 1 at kernel/foo.c:1 foo+0x1/0x2', file=con, flush=True)
    if act == 'expected':
        print('[ 3.0] jumpfunc selftest: complaints about memory are expected\n[ 3.1] Call Trace:\n'
              '[ 3.2] jumpfunc selftest: complaints about memory are trouble again', file=con, flush=True)
    if act == 'fail':
        print('not ok 2 - it works\n#   the reason\n1..2')
    elif act == 'shell':
        print('./x.sh: line 5: frob: not found\n1..1')
    elif act != 'cut':
        print('1..1')
    print(f'@check {mark} end {t}', {'late': 'timeout', 'status': 3}.get(act, 0), 1, flush=True)
con.close()
print(f'@jf {ident} exit 0', flush=True)
'''

BUILD = '''#!/bin/sh
for k; do :; done
mkdir -p "$JF_BUILD/$k/modules"
printf 'name=%s\\nrelease=6.1.0\\nvmlinuz=/dev/null\\nslow=1\\n' "$k" >"$JF_BUILD/$k/info"
'''

# A shell that dies before its program, which is in a group of its own and becomes another process's child.
HOST = '''check:
\t@touch "$(JF_FAKE).host"
\t@sh -c 'timeout 600 sleep 600; true'
'''

# A kernel's build tree, with a compiler that takes its time.
KERNEL = '''kernelrelease:
\t@echo 6.1.0
modules:
\t@touch FAKE.hangs
\t@env MARK sh -c 'timeout 600 sleep 600; true'
'''

MUTANTS = 'control: nothing is broken@@@one.sh\n'


class Fake:
    """The made-up tree."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix='jumpfunc-check-')
        self.tree = os.path.join(self.top, 'tree')
        # All that is started has it in its environment.
        self.mark = 'JF_TEST_MARK=' + secrets.token_hex(8)
        for folder in ('harness', 'packaging', 'scripts'):
            shutil.copytree(os.path.join(TREE, folder), os.path.join(self.tree, folder),
                            ignore=shutil.ignore_patterns('__pycache__'))
        shutil.copy(os.path.join(TREE, 'VERSION'), self.tree)
        # The one that is tested itself; all others call the one that builds nothing.
        os.rename(os.path.join(self.tree, 'harness/build.sh'), os.path.join(self.tree, 'harness/build-all.sh'))
        self.file('harness/build.sh', BUILD)
        self.file('harness/vm/tools.sh', '#!/bin/sh\n')
        self.file('harness/vm/initramfs.sh', '#!/bin/sh\necho /dev/null\n')
        self.file('selftests/tests/one.sh', '# JF_TIMEOUT=60\n')
        self.file('selftests/tests/two.sh', '')
        self.file('selftests/module.mutants', MUTANTS)
        self.file('../bin/qemu-system-x86_64', QEMU)
        self.fake = os.path.join(self.top, 'fake')
        self.env = {**os.environ, 'JF_BUILD': os.path.join(self.top, 'build'), 'JF_ACCEL': 'tcg', 'JF_FAKE': self.fake,
                    'PATH': os.path.join(self.top, 'bin') + ':' + os.environ['PATH']}
        name, _, value = self.mark.partition('=')
        self.env[name] = value
        self.file('../kernel/Makefile', KERNEL.replace('MARK', self.mark).replace('FAKE', self.fake))

    def file(self, name, text):
        path = os.path.join(self.tree, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(text)
        os.chmod(path, 0o755)

    def start(self, program, args, acts):
        with open(self.fake, 'w') as f:
            f.write('\n'.join(acts))
        for e in ('.hangs', '.host'):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.fake + e)
        return subprocess.Popen([os.path.join(self.tree, program)] + args, env=self.env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def check(self, acts):
        p = self.start('harness/check', ['--no-host', '-k', '6.1', 'one.sh', 'two.sh'], acts)
        out = p.communicate(timeout=120)[0]
        return p.returncode, out

    def alive(self):
        """The processes that the run started, and their descendants."""
        found = []
        for d in filter(str.isdigit, os.listdir('/proc')):
            with contextlib.suppress(OSError):
                with open(f'/proc/{d}/environ', 'rb') as f:
                    if self.mark.encode() in f.read().split(b'\0'):
                        with open(f'/proc/{d}/cmdline') as c:
                            found.append((int(d), c.read().replace('\0', ' ').strip()))
        return found

    def close(self):
        for pid, _ in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.top, ignore_errors=True)


# what happens, in each virtual machine; the exit status; what is to be said
VERDICTS = [
    ('all is well', [''], 0, ['4 passed, 0 failed']),
    ('a test fails', ['one.sh=fail'], 1, ['failed: it works', '#   the reason', 'failed: 6.1 one.sh', ', 1 failed']),
    ('... and the last lines say why', ['one.sh=fail'], 1, ['6.1 one.sh:\n    failed: it works\n    | not ok 2 - it works\n    | #   the reason\nfailed: 6.1']),
    ('a test gives no plan', ['two.sh=cut'], 1, ['gave no plan', 'failed: 6.1 two.sh']),
    ('a test ends with a bad status', ['one.sh=status'], 1, ['ended with status 3', 'failed: 6.1 one.sh']),
    ('a test takes too long', ['one.sh=late'], 1, ['longer than its time limit', 'failed: 6.1 one.sh']),
    ('a shell does not know a command', ['one.sh=shell'], 1, ['frob: not found', 'failed: 6.1 one.sh']),
    ('the kernel warns', ['one.sh=warn'], 1, ['WARNING: CPU: 0', 'failed: 6.1 kernel-log']),
    ('the kernel says what a test expects', ['one.sh=expected'], 0, [', 0 failed']),
    ('the machine dies, and the next one runs the rest', ['one.sh=die', ''], 1,
     ['did not live to its end', 'two.sh                   1 passed', 'failed: 6.1 one.sh, 6.1 kernel-log']),
    ('a clock is wrong, and the guest boots again', ['boot=clock one.sh=fail', 'boot=clock one.sh=fail', ''], 0,
     ['4 passed, 0 failed']),
    ('a clock is wrong each time', ['boot=clock'] * 5, 1, ['its clock is wrong: PIT calibration deviates', 'failed: 6.1 ']),
    ('both machines die', ['one.sh=die', 'two.sh=die'], 1, ['failed: 6.1 one.sh, 6.1 two.sh, 6.1 kernel-log']),
]


def verdicts(out, fake):
    for what, acts, status, said in VERDICTS:
        rc, text = fake.check(acts)
        missing = [s for s in said if s not in text]
        out.say(rc == status and not missing, f'check: {what}', [f'status {rc}, wanted {status}; not said: {missing}', text])


# arguments; what is to run where
CHOICES = [
    ('tests for one kernel run on 6.1, those for two on the last as well, those for three on the first',
     ['-k', '5.10 6.1 6.12 7.2'],
     ['5.10: one.sh three.sh', '6.1: one.sh same.sh three.sh two.sh kunit', '6.12: one.sh', '7.2: one.sh three.sh two.sh kunit']),
    ('... without 6.1, on the first', ['-k', '6.12 7.2 7.3'],
     ['6.12: one.sh same.sh three.sh two.sh kunit', '7.2: one.sh three.sh', '7.3: one.sh three.sh two.sh kunit']),
    ('... on the only one', ['-k', '6.1'], ['6.1: one.sh same.sh three.sh two.sh kunit']),
    ('... on all if they are asked for by name', ['-k', '5.10 6.1 7.2', 'same.sh', 'two.sh'],
     ['5.10: same.sh two.sh', '6.1: same.sh two.sh', '7.2: same.sh two.sh']),
    ('... on all with --full', ['--full', '-k', '6.1 7.2 7.3'],
     [f'{k}: one.sh same.sh three.sh two.sh kunit' for k in ('6.1', '7.2', '7.3')]),
    ('on arm64 those that say so run, and count for no other rule', ['-k', '6.1 7.2 6.1-arm64'],
     ['6.1: one.sh same.sh three.sh two.sh kunit', '7.2: one.sh three.sh two.sh kunit', '6.1-arm64: same.sh']),
    ('... others by name', ['-k', '6.1-arm64', 'one.sh', 'two.sh'], ['6.1-arm64: one.sh two.sh']),
    ('... all but kunit with --full', ['--full', '-k', '6.1-arm64'], ['6.1-arm64: one.sh same.sh three.sh two.sh']),
    ('the newest kernel of a suite needs no line', ['-k', 'newest-sid', 'one.sh'], ['newest-sid: one.sh']),
]


def choices(out, fake):
    fake.file('selftests/tests/same.sh', '# JF_KERNELS=1: it asks the parser\n# JF_ARM64: it has no instructions\n')
    fake.file('selftests/tests/two.sh', '# JF_KERNELS=2: a long storm\n')
    fake.file('selftests/tests/three.sh', '# JF_KERNELS=3: it is slow\n')
    for what, args, lines in CHOICES:
        p = fake.start('harness/check', ['-n'] + args, [])
        text = p.communicate(timeout=60)[0]
        out.say(p.returncode == 0 and text.splitlines() == lines, f'check: {what}', [text])
    for name in ('same', 'three'):
        os.unlink(os.path.join(fake.tree, f'selftests/tests/{name}.sh'))
    fake.file('selftests/tests/two.sh', '')


def shared_machines(out, fake):
    """Tests that want the same machine share one, and the machine that may take longest begins."""
    for name, options in (('a', '-a x=1'), ('b', '-a y=1\n# JF_TIMEOUT=900'), ('c', '-a x=1')):
        fake.file(f'selftests/tests/{name}.sh', f'# JF_VM={options}\n')
    # What a test asks for is known once something is built.
    p = fake.start('harness/check', ['--no-host', '-j', '1', '-k', '6.1', 'a.sh', 'b.sh', 'c.sh', 'one.sh'], ['', '', '', ''])
    text = p.communicate(timeout=120)[0]
    logs = sorted(os.path.basename(f) for f in os.listdir(os.path.join(fake.top, 'build/check')) if f.endswith('.console'))
    out.say(p.returncode == 0 and logs == ['6.1.1.console', '6.1.a.sh.1.console', '6.1.b.sh.1.console'],
            'check: tests that want the same options share a machine', [str(logs), text])
    order = re.findall(r'^  6\.1 +(\w+\.sh)', text, re.M)
    out.say(order == ['b.sh', 'a.sh', 'c.sh', 'one.sh'], 'check: the machine that may take longest begins', [text])
    fake.file('selftests/tests/p.sh', '# JF_VM=--with awk\n# JF_TIMEOUT=90\n')
    p = fake.start('harness/check', ['--no-host', '-j', '1', '-k', '6.1', 'p.sh', 'one.sh', 'two.sh'], ['', ''])
    text = p.communicate(timeout=120)[0]
    order = re.findall(r'^  6\.1 +(\S+(?: p\.sh|\.sh)?)', text, re.M)
    out.say(p.returncode == 0 and order == ['build', 'p.sh', 'one.sh', 'kernel-log p.sh', 'two.sh', 'kernel-log'],
            'check: one that has more programs takes half of the other tests', [str(order), text])
    for name in ('a', 'b', 'c', 'p'):
        os.unlink(os.path.join(fake.tree, f'selftests/tests/{name}.sh'))


# A part of the library's tests that hangs, in a session of its own as well, and one that does not.
PARTS = """checks:
\t@echo one-check two-check
lib trace:
one-check:
\t@echo "1..2"; echo "ok 1 - it begins"; setsid sleep 600 & sleep 600
two-check:
\t@echo "1..1"; echo "ok 1 - it passes"
"""


def parts(out, fake):
    """A part of the tests on this machine that hangs is ended and named, and the next one runs."""
    fake.file('user/Makefile', PARTS)
    fake.file('selftests/host/Makefile', 'check:\n\t@echo 1..1; echo "ok 1 - host"\n')
    fake.file('harness/lint/run', LINT)
    limits = os.path.join(fake.tree, 'harness/limits.py')
    with open(limits) as f:
        text = f.read()
    fake.file('harness/limits.py', re.sub(r'^PART = \d+', 'PART = 4', text, flags=re.M))
    p = fake.start('harness/check', ['-k', ''], [])
    said = p.communicate(timeout=120)[0]
    fake.file('harness/limits.py', text)
    ok = p.returncode == 1 and all(w in said for w in ('failed: took longer than its time limit', 'sleep 600', 'one-check  ', 'two-check                1 passed',
                                                       '4 passed, 2 failed', 'failed: host one-check'))
    out.say(ok, 'check: a part that hangs is ended and named, and the next one runs', [said])
    left = [c for _, c in fake.alive() if c != 'sleep 600']
    out.say(not left, 'check: nothing that the limit has ended goes on', left)
    for pid, _ in fake.alive():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(os.path.join(fake.tree, 'user'))


LINT = """#!/bin/sh
[ ! -e bad ] || { echo 'not ok 1 - lint'; echo 1..1; exit 1; }
echo 'ok 1 - lint'; echo 1..1
"""


def records(out, fake):
    """A commit that has passed all is noted, and no other."""
    def git(*args):
        return subprocess.run(['git', '-C', fake.tree, '-c', 'user.name=x', '-c', 'user.email=x@y', *args], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()

    def noted(*args):
        p = fake.start('harness/check', list(args), [''])
        said.append(p.communicate(timeout=120)[0])
        with contextlib.suppress(FileNotFoundError), open(green) as f:
            return f.read()

    said, green = [], os.path.join(fake.top, 'build/green')
    with open(os.path.join(fake.tree, 'harness/lint/run')) as f:
        linters = f.read()
    fake.file('harness/lint/run', LINT)
    # Without tests of this machine lint does not run.
    fake.file('selftests/host/Makefile', "check:\n\t@echo 'ok 1 - host'; echo 1..1\n")
    fake.file('.gitignore', 'bad\n')
    none = noted('-k', '')
    git('init', '-q')
    git('add', '-A')
    git('commit', '-q', '-m', 'x')
    first = git('rev-parse', 'HEAD')
    named = noted('-k', '6.1', 'one.sh')
    alone = noted('--no-host', '-k', '6.1', 'one.sh')
    out.say(none is named is alone is None, 'check: no commit is noted for some of the tests, or without git', said)
    out.say(noted('-k', '') == f'commit={first}\nkernels=\n', 'check: a commit that passes is noted', said)
    fake.file('new', '')
    git('add', 'new')
    out.say(noted('-k', '') == f'commit={first}\nkernels=\n', 'check: a tree that is no commit is not', said)
    git('commit', '-q', '-m', 'y')
    out.say(noted('-k', '') == f'commit={git("rev-parse", "HEAD")}\nkernels=\n', 'check: the next commit is', said)
    fake.file('bad', '')
    out.say(noted('-k', '') is None, 'check: a commit that fails is not', said)
    os.unlink(os.path.join(fake.tree, 'bad'))
    fake.file('harness/lint/run', linters)
    os.unlink(os.path.join(fake.tree, 'selftests/host/Makefile'))
    shutil.rmtree(os.path.join(fake.tree, '.git'))


def wait_for(path):
    for _ in range(600):
        if os.path.exists(path):
            return True
        time.sleep(0.1)
    return False


def end(out, fake, what, p, number, wanted, status, running='qemu'):
    """Ends a run in the midst of a test by a signal to it alone: nothing stays."""
    came = all([wait_for(fake.fake + w) for w in wanted])
    before = fake.alive()
    # What says that it hangs may say so just before it does.
    for _ in range(100):
        if any(running in c for _, c in before):
            break
        time.sleep(0.1)
        before = fake.alive()
    begin = time.monotonic()
    p.send_signal(number)
    try:
        text = p.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        p.kill()
        text = 'it did not end'
    took = time.monotonic() - begin
    left = fake.alive()
    out.say(came and any(running in c for _, c in before) and p.returncode == status and not left and took < 20,
            f'{what}: no process is left',
            [f'status {p.returncode}, wanted {status}, after {took:.0f} s; left: {left}', f'before: {before}', text])
    for pid, _ in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


# What ends with the status that a shell has by such a signal.
PROGRAMS = [
    ('harness/mutants.sh', [], ['one.sh=hang']),
    ('scripts/demo.sh', [], ['command=hang']),
    ('scripts/bench-kernel.sh', [], ['command=hang']),
]


# ^C reaches all of a terminal's group, and the program that started it passes it on.
TWICE = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import common
common.end_by_signal()
both = {signal.SIGINT, signal.SIGTERM}
try:
    signal.pthread_sigmask(signal.SIG_BLOCK, both)
    for s in both:
        os.kill(os.getpid(), s)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
except KeyboardInterrupt:
    print('once')
"""


def two_signals(out):
    r = subprocess.run([sys.executable, '-c', TWICE, os.path.join(TREE, 'harness')], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    out.say(r.stdout == 'once\n', 'two signals at once are one, and no traceback', [r.stdout])


def names(out, fake):
    """Files may have names with what QEMU and vm/run set paths apart by."""
    folder = os.path.join(fake.top, '12:30,x')
    os.mkdir(folder)
    for f in ('plain', 'a:b'):
        with open(os.path.join(folder, f), 'w') as x:
            x.write(f)
    log = os.path.join(folder, 'log')
    p = fake.start('harness/vm/run', ['-k', '6.1', '--log', log, '-i', os.path.join(folder, 'a:b'),
                                      '-i', os.path.join(folder, 'plain') + ':other', '--', 'true'], [])
    said = p.communicate(timeout=120)[0]
    ok = p.returncode == 0 and os.path.exists(log) and os.path.getsize(log) > 0
    out.say(ok, 'vm/run takes files and a log with colons and commas in their names', [said])


def main():
    out = tap.Writer()
    fake = Fake()
    try:
        two_signals(out)
        verdicts(out, fake)
        choices(out, fake)
        names(out, fake)
        shared_machines(out, fake)
        records(out, fake)
        parts(out, fake)
        fake.file('selftests/host/Makefile', HOST)
        for number in (signal.SIGINT, signal.SIGTERM):
            # Host tests are left out where single ones are asked for.
            p = fake.start('harness/check', ['-j', '2', '-k', '6.1'], ['one.sh=hang', 'one.sh=hang'])
            end(out, fake, f'check ends by {number.name}', p, number, ['.hangs', '.host'], 130)
            p = fake.start('harness/build-all.sh', ['-k', os.path.join(fake.top, 'kernel'), 'made-up'], [])
            end(out, fake, f'build.sh ends by {number.name}', p, number, ['.hangs'], 128 + number, 'sleep')
            for program, args, acts in PROGRAMS:
                p = fake.start(program, args, acts)
                end(out, fake, f'{os.path.basename(program)} ends by {number.name}', p, number, ['.hangs'], 128 + number)
    finally:
        fake.close()
    return out.end()


sys.exit(main())
