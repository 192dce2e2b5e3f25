#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""What tracing costs programs of the distribution, which were not built for any tracer here: redis, python, sqlite, zstd.

Each workload runs in each state in turn: off, with the agent's probes, with LTTng-UST where it has such probes
(malloc() and free(), by its own library), with uprobes by bpftrace, which count. What is not there is skipped by name.

Beside the rate there is the CPU time that the program took, which other programs on the machine disturb less.
Table on stdout, and a CSV file with it in the folder.
"""
import argparse
import contextlib
import csv
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import ust

PYTHON = os.path.realpath('/usr/bin/python3')
FIB = '''
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
fib(%d)
'''
SQL = '''create table t(a, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < %d) insert into t select x, 'row ' || x from c;
create index i on t(b); select count(distinct b), max(length(b || a)) from t;'''
LIBC = '/lib/x86_64-linux-gnu/libc.so.6'
WRAPPER = 'liblttng-ust-libc-wrapper.so.1'


def ended(program, seconds):
    """Waits for a process: its status, and the CPU time that it took."""
    killer = threading.Timer(seconds, program.kill)
    killer.start()
    _, status, usage = os.wait4(program.pid, 0)
    killer.cancel()
    program.returncode = os.waitstatus_to_exitcode(status)
    return program.returncode, usage.ru_utime + usage.ru_stime


class Workload:
    """A program that is run. globs: for the agent; uprobes: for bpftrace; lttng: events, or None.

    A result is a rate, the more the better."""
    needs = ()
    globs = ''
    uprobes = ''
    lttng = None
    unit = 'runs/s'

    def __init__(self, tmp):
        self.tmp = tmp
        # A copy: breakpoints are those of all processes that have mapped the file.
        self.libs = os.path.join(tmp, 'lib')
        os.makedirs(self.libs, exist_ok=True)
        self.libc = os.path.join(self.libs, 'libc.so.6')
        if not os.path.exists(self.libc):
            shutil.copy(LIBC, self.libc)

    def lacks(self):
        for program, package in self.needs:
            if not shutil.which(program):
                return 'no %s (apt-get install %s)' % (program, package)
        return None

    def probes(self):
        """For bpftrace: functions of libc, unless it is said otherwise."""
        return self.uprobes or ', '.join('uprobe:%s:%s' % (self.libc, g.split(':')[1]) for g in self.globs.split(','))

    def words(self):
        raise NotImplementedError

    @contextlib.contextmanager
    def started(self, env, preload, attach, out=subprocess.DEVNULL):
        """The program; it begins after attach() was called. Libraries are for it alone."""
        words = ['env', 'LD_LIBRARY_PATH=' + self.libs] + (['LD_PRELOAD=' + preload] if preload else []) + self.words()
        with subprocess.Popen(['sh', '-c', 'read x; exec "$@"', 'sh'] + words, env=env, stdin=subprocess.PIPE, stdout=out,
                              stderr=subprocess.STDOUT) as program:
            try:
                if attach:
                    attach()
                program.stdin.write(b'\n')
                program.stdin.close()
                yield program
            except BaseException:
                program.kill()
                raise

    def run(self, env, preload=None, attach=None):
        """The rate, and CPU seconds."""
        with self.started(env, preload, attach) as program:
            begin = time.monotonic()
            status, cpu = ended(program, 120)
            taken = time.monotonic() - begin
        if status:
            raise OSError('%s ended with status %d' % (self.words()[0], status))
        return 1 / taken, cpu


class Python(Workload):
    """A function's entry and each line. As long as lines are asked for, python itself takes a slower way."""
    name = os.path.basename(PYTHON) + ': entries of functions, lines'
    needs = ((PYTHON, 'python3'),)
    globs = 'python:function__entry,python:line'

    def __init__(self, tmp):
        super().__init__(tmp)
        # A copy, as of libc: semaphores, too, are those of all processes.
        self.copy = os.path.join(tmp, os.path.basename(PYTHON))
        if os.path.exists(PYTHON):
            shutil.copy(PYTHON, self.copy)
        self.uprobes = ', '.join('usdt:%s:python:%s' % (self.copy, n) for n in ('function__entry', 'line'))

    def words(self):
        return ['env', 'PYTHONHOME=/usr', self.copy, '-S', '-c', FIB % 21]


class Sqlite(Workload):
    name = 'sqlite3: malloc(), free()'
    needs = (('sqlite3', 'sqlite3'),)
    globs = 'libc.so.6:malloc,libc.so.6:free'
    lttng = 'lttng_ust_libc:*'

    def words(self):
        return ['sqlite3', ':memory:', SQL % 200000]


class Zstd(Workload):
    name = 'zstd -3: malloc(), free(), read(), write()'
    needs = (('zstd', 'zstd'),)
    globs = 'libc.so.6:malloc,libc.so.6:free,libc.so.6:read,libc.so.6:write'

    def words(self):
        # What is there on every machine and takes a while.
        return ['zstd', '-q', '-f', '-3', '-T1', os.path.realpath(sys.executable), LIBC, '--output-dir-flat', self.tmp]


class Redis(Workload):
    """One event for each command: GET, by 20 clients of a socket."""
    name = 'redis-server: each command'
    needs = (('redis-server', 'redis-server'), ('redis-benchmark', 'redis-tools'))
    globs = 'redis*:processCommand'
    uprobes = 'uprobe:/usr/bin/redis-server:processCommand'
    unit = 'GET/s'

    def words(self):
        return ['redis-server', '--port', '0', '--unixsocket', os.path.join(self.tmp, 'redis.sock'), '--save', '', '--loglevel', 'warning']

    def run(self, env, preload=None, attach=None):
        socket = os.path.join(self.tmp, 'redis.sock')
        with contextlib.suppress(OSError):
            os.unlink(socket)
        with self.started(env, preload, attach) as server:
            for _ in range(200):
                if os.path.exists(socket) or server.poll() is not None:
                    break
                time.sleep(0.05)
            text = ust.run(['redis-benchmark', '-s', socket, '-t', 'get', '-n', '100000', '-c', '20', '--csv'])
            ust.run(['redis-cli', '-s', socket, 'shutdown', 'nosave'], check=False)
            cpu = ended(server, 20)[1]
        return float(re.search(r'^"GET","([\d.]+)"', text, re.M).group(1)), cpu


class RedisPath(Redis):
    """The functions that each command comes by, from the socket to the answer."""
    name = 'redis-server: functions of each command'
    functions = ('readQueryFromClient', 'processInputBuffer', 'processCommand', 'call', 'lookupKeyReadOrReply', 'getCommand', 'addReplyBulk')
    globs = ','.join('redis*:' + f for f in functions)
    uprobes = ', '.join('uprobe:/usr/bin/redis-server:' + f for f in functions)


class State:
    """With what a workload runs."""
    name = 'off'

    def __init__(self, build, tmp):
        self.build, self.tmp = build, tmp

    def lacks(self, work):
        return None

    def run(self, work):
        """What the workload returns, and the number of events or None."""
        return work.run(dict(os.environ)), None

    def end(self):
        pass


class Agent(State):
    name = 'agent'

    def lacks(self, work):
        return None if os.path.exists(self.build + '/libjumpfunc-agent.so') else 'no agent (apt-get install libzydis-dev)'

    def run(self, work):
        with tempfile.TemporaryDirectory(dir=self.tmp) as folder:
            env = dict(os.environ, JUMPFUNC_TRACE_DIR=folder, JUMPFUNC_AGENT=work.globs)
            rate = work.run(env, self.build + '/libjumpfunc-agent.so')
            num = 0
            for trace in os.listdir(folder):
                said = ust.run([self.build + '/jf-recover', os.path.join(folder, trace)])
                num += int(ust.value(said, 'records')) + int(ust.value(said, 'overwritten'))
            if not num:
                raise OSError('nothing was recorded')
            return rate, num


class Uprobes(State):
    name = 'bpftrace'

    def lacks(self, work):
        return None if shutil.which('bpftrace') else 'not installed (apt-get install bpftrace)'

    def run(self, work):
        tracers = []
        said = os.path.join(self.tmp, 'bpftrace')

        def attach():
            words = ['bpftrace', '-e', work.probes() + ' { @ = count(); } interval:s:1 { printf("on\\n"); }']
            with open(said, 'wb') as out:
                tracers.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT))
            for _ in range(400):
                with open(said, encoding='utf-8', errors='replace') as f:
                    if re.search('^on$', f.read(), re.M):
                        return
                if tracers[0].poll() is not None:
                    break
                time.sleep(0.05)
            raise OSError('bpftrace does not begin')
        try:
            rate = work.run(dict(os.environ), None, attach)
        finally:
            for tracer in tracers:
                tracer.send_signal(signal.SIGINT)
                tracer.wait(30)
        with open(said, encoding='utf-8', errors='replace') as f:
            text = f.read()
        found = re.search(r'^@: (\d+)$', text, re.M)
        if not found or found.group(1) == '0':
            raise OSError('no uprobe here: %s' % (text.strip().splitlines() or ['?'])[-1])
        return rate, int(found.group(1))


class Lttng(State):
    name = 'LTTng-UST'

    def __init__(self, build, tmp):
        super().__init__(build, tmp)
        self.daemon = None
        self.why = None

    def lacks(self, work):
        if not work.lttng:
            return 'it has no such probes'
        if not self.daemon and not self.why:
            self.daemon = ust.Lttng('LTTng-UST', 'lttng', self.build, self.tmp)
            self.why = self.daemon.lacks()
            if not self.why:
                self.daemon.lttng('enable-event', '-u', '-s', 'bench', '-c', 'bench', work.lttng)
        return self.why

    def run(self, work):
        return work.run(self.daemon.env, WRAPPER), None

    def end(self):
        if self.daemon:
            self.daemon.end()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('build', help='where the agent is: build/user')
    p.add_argument('--out', help='folder for table and CSV (default: results/bench-programs-<date> in the project)')
    p.add_argument('--rounds', type=int, default=7)
    p.add_argument('--only', default='', help='programs whose line has this text')
    o = p.parse_args()
    if o.rounds < 1:
        p.error('--rounds is 1 or more')
    top = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../..'))
    out = o.out or os.path.join(top, 'results', time.strftime('bench-programs-%Y%m%d-%H%M%S'))
    os.makedirs(out, exist_ok=True)
    lines, body = ['# ' + ust.about(o)], []
    shm = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shm, prefix='jf-programs.') as tmp:
        build = os.path.abspath(o.build)
        states = [s(build, tmp) for s in (State, Agent, Lttng, Uprobes)]
        try:
            for work in (w(tmp) for w in (Redis, RedisPath, Python, Sqlite, Zstd) if o.only in w.name):
                body += of_workload(work, states, o.rounds, lines)
        finally:
            for s in states:
                s.end()
    head = ['program and events', 'state', 'unit', 'rate, median', 'best', 'CPU s, min', 'events', 'CPU ns an event', 'standard error']
    lines += ust.show(head, body, 3)
    print('\n'.join(lines))
    with open(os.path.join(out, 'bench-programs.txt'), 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n')
    with open(os.path.join(out, 'bench-programs.csv'), 'w', encoding='utf-8', newline='') as f:
        csv.writer(f).writerows([head] + body)
    print('# table, numbers: %s/bench-programs.txt .csv' % out)
    return 0


def of_workload(work, states, rounds, lines):
    """Rows of one workload; what cannot be is said."""
    why = work.lacks()
    if why:
        lines.append('# skipped: %s: %s' % (work.name, why))
        return []
    rates, cpus, events, there = {}, {}, {}, []
    for s in states:
        why = s.lacks(work)
        if why:
            lines.append('# skipped: %s, %s: %s' % (work.name, s.name, why))
        else:
            there.append(s)
    for nr in range(rounds):
        print('# %s, round %d of %d' % (work.name, nr + 1, rounds), file=sys.stderr)
        for s in there if nr % 2 == 0 else there[::-1]:
            try:
                (rate, cpu), events[s] = s.run(work)
            except (OSError, subprocess.SubprocessError, AttributeError, ValueError) as e:
                lines.append('# not measured: %s, %s: %s' % (work.name, s.name, e))
                continue
            rates.setdefault(s, []).append(rate)
            cpus.setdefault(s, []).append(cpu)
    out, off = [], cpus.get(states[0])
    for s in rates:
        line = [work.name, s.name, work.unit, '%.4g' % statistics.median(rates[s]), '%.4g' % max(rates[s]), '%.3f' % min(cpus[s])]
        line.append('' if events[s] is None else str(events[s]))
        # Of so few that they do not show it would be noise.
        many = off and (events[s] or 0) > 10000
        line.append('%.0f' % ((min(cpus[s]) - min(off)) * 1e9 / events[s]) if many else '')
        # Of the mean of the rounds' differences. Rounds in which another program had the caches are among them.
        turns = [a - b for a, b in zip(cpus[s], off or [])]
        error = statistics.stdev(turns) / len(turns) ** 0.5 if len(turns) > 1 else None
        line.append('%.0f' % (error * 1e9 / events[s]) if many and error is not None else '')
        out.append(line)
    return out


if __name__ == '__main__':
    sys.exit(main())
