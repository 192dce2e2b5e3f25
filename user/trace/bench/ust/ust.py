#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""The benchmark of tracers: what an event of two arguments costs, off and on, by each tracer that is installed.

Each contender is a program of its own with the same loop (main.c). In each round every program is started once in each
state and with each number of threads, one after another, so what disturbs the machine meanwhile disturbs all alike. What is not
installed, or not permitted here, is skipped by name.

Table on stdout; that, a CSV file and a chart (by gnuplot) in the folder.
"""
import argparse
import contextlib
import csv
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROBE = 'jfbench:two'
ROOM = 64 << 20         # bytes for each thread, or CPU, while lost events are counted


def run(words, env=None, timeout=120, check=True):
    """What a command says on stdout; an OSError if it fails."""
    done = subprocess.run(words, env=env, timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors='replace', check=False)
    if check and done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise OSError('%s: %s' % (' '.join(words[:3]), said[-1] if said else 'status %d' % done.returncode))
    return done.stdout


def value(text, name):
    """The number after a word at the begin of a line."""
    found = re.search(r'^%s (-?[\d.]+)$' % re.escape(name), text, re.M)
    if not found:
        raise OSError('no %s in: %s' % (name, text[-200:]))
    return float(found.group(1))


def count_events(folder):
    """Events that babeltrace2 reads."""
    # What it says at the end counts all; without steps it says nothing before.
    found = re.findall(r'(\d+) Event messages?', run(['babeltrace2', folder, '-c', 'sink.utils.counter', '-p', 'step=+0']))
    return int(found[-1]) if found else 0


class Contender:
    """A tracer. events: of a run; off: it has such a state of its own."""
    events = 20000
    off = True
    note = ''

    def __init__(self, name, program, build, tmp):
        self.name, self.tmp = name, tmp
        self.program = os.path.join(build, 'ust', 'ust_' + program)
        self.build = build

    def lacks(self):
        """Why it cannot be here, with the package that brings it; None if it can."""
        return None if os.path.exists(self.program) else 'its program was not built'

    @contextlib.contextmanager
    def started(self, on):
        """While it is on, or off: gives the words before the program's, and its environment."""
        yield [], dict(os.environ)

    def call(self, on, *args):
        """Runs the program in a state; what it says."""
        with self.started(on) as (before, env):
            return run(before + [self.program] + [str(a) for a in args], env)

    def recorded(self, threads, events):
        """How many of these are in the trace; None: that means nothing here."""
        return None

    def enabling(self, threads):
        """Milliseconds to switch it on while threads run, of several times; [] if that cannot be."""
        return []

    def end(self):
        """After all."""


class Nothing(Contender):
    off = False


class Text(Contender):
    events = 2000
    off = False

    def recorded(self, threads, events):
        path = os.path.join(self.tmp, 'text')
        run([self.program, 'count', str(threads), str(events)], dict(os.environ, JF_BENCH_TEXT=path))
        with open(path, 'rb') as f:
            num = sum(1 for _ in f)
        os.unlink(path)
        return num


class Ours(Contender):
    """libjumpfunc-trace, by itself or brought by the agent."""
    agent = False
    clock = 'auto'
    glob = PROBE

    def lacks(self):
        if self.agent and not os.path.exists(os.path.join(self.build, 'libjumpfunc-agent.so')):
            return 'no agent (apt-get install libzydis-dev)'
        return super().lacks()

    def environment(self, on, folder):
        env = dict(os.environ, JUMPFUNC_TRACE_DIR=folder, JUMPFUNC_TRACE_CLOCK=self.clock)
        if self.agent:
            env['LD_PRELOAD'] = os.path.join(self.build, 'libjumpfunc-agent.so')
        if on:
            env['JUMPFUNC_AGENT' if self.agent else 'JUMPFUNC_TRACE'] = self.glob
        return env

    @contextlib.contextmanager
    def started(self, on):
        with tempfile.TemporaryDirectory(dir=self.tmp) as folder:
            yield [], self.environment(on, folder)
            if on and not os.listdir(folder):
                raise OSError('nothing was recorded')

    def recorded(self, threads, events):
        with tempfile.TemporaryDirectory(dir=self.tmp) as folder:
            env = dict(self.environment(True, folder), JUMPFUNC_TRACE_MODE='discard', JUMPFUNC_TRACE_PACKETS='64',
                       JUMPFUNC_TRACE_PACKET_SIZE=str(ROOM // 64))
            run([self.program, 'count', str(threads), str(events)], env)
            return count_events(folder)

    def enabling(self, threads):
        tool = os.path.join(self.build, 'jf-trace')
        with tempfile.TemporaryDirectory(dir=self.tmp) as folder:
            env = dict(self.environment(False, folder), JUMPFUNC_TRACE_CONTROL='1')
            with subprocess.Popen([self.program, 'spin', str(threads)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True) as spins:
                spins.stdout.readline()
                pid, taken = str(spins.pid), []
                try:
                    run([tool, 'record', pid, '-e', self.glob, '-o', folder])
                    for _ in range(10):
                        run([tool, 'disable', pid, self.glob])
                        begin = time.monotonic()
                        run([tool, 'enable', pid, self.glob])
                        taken.append((time.monotonic() - begin) * 1e3)
                finally:
                    spins.stdin.close()
                return taken


class NoClock(Ours):
    off = False
    clock = 'none'

    def recorded(self, threads, events):
        return None

    def enabling(self, threads):
        return []


class Agent(Ours):
    agent = True


class AgentFunction(Agent):
    glob = 'bench_two'


class AgentCall(Agent):
    """Entry and return of a function: one record."""
    glob = 'call/bench_two'


class AgentDropped(AgentCall):
    """The same, of which a filter lets none pass."""

    def recorded(self, threads, events):
        return None

    def enabling(self, threads):
        return []


class AgentShort(AgentDropped):
    """jf-trace --min 1s"""
    glob = 'call>1s/bench_two'


class AgentUnwanted(AgentDropped):
    """jf-trace --if 'arg0 > 4294967295': it has 32 bits"""
    glob = 'call/bench_two if arg0 > 4294967295'


class Lttng(Contender):
    """User space alone, with a daemon of its own: a flight recorder with buffers per process, 8 times 64 KiB a CPU."""

    def __init__(self, *args):
        super().__init__(*args)
        self.daemon = None

    def lacks(self):
        if not os.path.exists(self.program):
            return 'not built: no <lttng/tracepoint.h> (apt-get install liblttng-ust-dev)'
        if not shutil.which('lttng') or not shutil.which('lttng-sessiond'):
            return 'no daemon (apt-get install lttng-tools)'
        try:
            self.begin()
        except (OSError, subprocess.SubprocessError) as e:
            return str(e)
        return None

    def lttng(self, *words):
        return run(['lttng', '--no-sessiond'] + list(words), self.env)

    def begin(self):
        home = os.path.join(self.tmp, 'lttng')
        os.mkdir(home)
        self.env = dict(os.environ, LTTNG_HOME=home, LTTNG_RUNDIR=home + '/run', LTTNG_UST_REGISTER_TIMEOUT='5000')
        self.daemon = subprocess.Popen(['lttng-sessiond', '--no-kernel'], env=self.env, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                self.lttng('list')
                break
            except OSError:
                time.sleep(0.1)
        self.lttng('create', 'bench', '--snapshot')
        self.lttng('enable-channel', '-u', 'bench', '--buffers-pid', '--overwrite', '--num-subbuf', '8', '--subbuf-size', '64k')
        self.lttng('enable-event', '-u', '-c', 'bench', PROBE)
        self.lttng('start')

    def switch(self, on):
        # An event that is as one wants it already is an error.
        run(['lttng', '--no-sessiond', 'enable-event' if on else 'disable-event', '-s', 'bench', '-u', '-c', 'bench', PROBE],
            self.env, check=False)

    @contextlib.contextmanager
    def started(self, on):
        self.switch(on)
        yield [], self.env

    def recorded(self, threads, events):
        self.switch(False)
        out = os.path.join(self.tmp, 'lttng-out')
        self.lttng('create', 'lost', '--output', out)
        self.lttng('enable-channel', '-u', '-s', 'lost', 'all', '--buffers-pid', '--discard', '--num-subbuf', '64',
                   '--subbuf-size', '1M')
        self.lttng('enable-event', '-u', '-s', 'lost', '-c', 'all', PROBE)
        self.lttng('start', 'lost')
        run([self.program, 'count', str(threads), str(events)], self.env)
        self.lttng('stop', 'lost')
        self.lttng('destroy', 'lost')
        num = count_events(out)
        shutil.rmtree(out)
        return num

    def enabling(self, threads):
        taken = []
        self.switch(False)
        with subprocess.Popen([self.program, 'spin', str(threads)], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as spins:
            spins.stdout.readline()
            for _ in range(10):
                begin = time.monotonic()
                self.switch(True)
                taken.append((time.monotonic() - begin) * 1e3)
                self.switch(False)
            spins.stdin.close()
        return taken

    def end(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()


class Bpftrace(Contender):
    """A uprobe that counts: nothing is written."""
    events = 2000
    off = False

    def script(self):
        return 'usdt:%s:%s { @ = count(); }' % (self.program, PROBE)

    def lacks(self):
        if not shutil.which('bpftrace'):
            return 'not installed (apt-get install bpftrace)'
        try:
            self.counted(1, 10)
        except (OSError, ValueError, subprocess.SubprocessError) as e:
            return 'this kernel, or container, does not let bpftrace set a uprobe: %s' % e
        return super().lacks()

    def counted(self, threads, events):
        said = run(['bpftrace', '-e', self.script(), '-c', '%s count %d %d' % (self.program, threads, events)])
        found = re.search(r'^@: (\d+)$', said, re.M)
        if not found:
            raise OSError('it has counted nothing')
        return int(found.group(1))

    def call(self, on, *args):
        if args[0] == 'steps':
            raise OSError('most of it is in the kernel')
        return run(['bpftrace', '-e', self.script(), '-c', ' '.join([self.program] + [str(a) for a in args])])

    def recorded(self, threads, events):
        return self.counted(threads, events)

    def enabling(self, threads):
        taken = []
        with subprocess.Popen([self.program, 'spin', str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as spins:
            spins.stdout.readline()
            for _ in range(3):
                begin = time.monotonic()
                # And off again: it ends by itself.
                run(['bpftrace', '-p', str(spins.pid), '-e', self.script() + ' interval:ms:1 { exit(); }'])
                taken.append((time.monotonic() - begin) * 1e3)
            spins.stdin.close()
        return taken


class Perf(Contender):
    """A uprobe whose samples, with the arguments, perf copies to a file. The event is the kernel's: it is there only meanwhile."""
    events = 2000
    off = False
    event = 'sdt_' + PROBE

    def lacks(self):
        if not shutil.which('perf'):
            return 'not installed (apt-get install linux-perf)'
        try:
            if self.recorded(1, 10) != 10:
                return 'perf has not recorded 10 events of 10'
        except (OSError, subprocess.SubprocessError) as e:
            return 'this kernel, or container, does not let perf set a uprobe: %s' % e
        return super().lacks()

    @contextlib.contextmanager
    def recording(self, *more):
        """The words before the program's, and the file that they write."""
        # It keeps copies of programs at home.
        with tempfile.TemporaryDirectory(dir=self.tmp) as folder:
            env, data = dict(os.environ, HOME=folder), folder + '/data'
            run(['perf', 'probe', '-q', '-x', self.program, '--add', '%' + self.event], env)
            try:
                yield ['perf', 'record', '-q', '-N', '-m', '%dM' % (ROOM >> 20), '-e', self.event, '-o', data] + list(more), env, data
            finally:
                run(['perf', 'probe', '-q', '-d', self.event], env)

    def call(self, on, *args):
        if args[0] == 'steps':
            raise OSError('most of it is in the kernel')
        with self.recording() as (before, env, _):
            return run(before + [self.program] + [str(a) for a in args], env)

    def recorded(self, threads, events):
        with self.recording() as (before, env, data):
            run(before + [self.program, 'count', str(threads), str(events)], env)
            found = re.search(r'^ *SAMPLE events: +(\d+)', run(['perf', 'report', '--stats', '-i', data], env), re.M)
            return int(found.group(1)) if found else 0

    def enabling(self, threads):
        taken = []
        with subprocess.Popen([self.program, 'spin', str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as spins:
            spins.stdout.readline()
            try:
                with self.recording('-p', str(spins.pid)) as (before, env, _):
                    for _ in range(3):
                        begin = time.monotonic()
                        # And off again: it ends with the program that it starts.
                        run(before + ['true'], env)
                        taken.append((time.monotonic() - begin) * 1e3)
            finally:
                spins.stdin.close()
        return taken


class Uftrace(Contender):
    """Entry and return of a function, without arguments: two records for each."""
    events = 2000
    filters = []

    def lacks(self):
        return super().lacks() if shutil.which('uftrace') else 'not installed (apt-get install uftrace)'

    @contextlib.contextmanager
    def started(self, on):
        if not on:
            yield [], dict(os.environ)
            return
        with tempfile.TemporaryDirectory(dir=self.tmp) as folder:
            yield ['uftrace', 'record', '-d', folder + '/data', '-P', 'bench_two', '--no-libcall'] + self.filters, dict(os.environ)

    def recorded(self, threads, events):
        with tempfile.TemporaryDirectory(dir=self.tmp) as folder:
            run(['uftrace', 'record', '-d', folder + '/data', '-P', 'bench_two', '--no-libcall', self.program, 'count',
                 str(threads), str(events)])
            for line in run(['uftrace', 'report', '-d', folder + '/data', '-f', 'call']).splitlines():
                words = line.split()
                if len(words) == 2 and words[1] == 'bench_two':
                    return int(words[0])
        return 0


class UftraceShort(Uftrace):
    """The same, of which its filter by time lets none pass."""
    filters = ['-t', '1s']

    def recorded(self, threads, events):
        return None


def contenders(build, tmp):
    return [c(name, program, build, tmp) for c, name, program in (
        (Nothing, 'no tracepoint', 'none'),
        (Ours, 'JF_TRACE_EVENT()', 'ours'),
        (NoClock, 'JF_TRACE_EVENT() without time', 'ours'),
        (Agent, 'agent: USDT note (nop)', 'note1'),
        (Agent, 'agent: USDT note (nop5)', 'note5'),
        (AgentFunction, 'agent: function', 'function'),
        (AgentCall, 'agent: call', 'function'),
        (AgentShort, 'agent: call, dropped by --min', 'function'),
        (AgentUnwanted, 'agent: call, dropped by --if', 'function'),
        (Lttng, 'LTTng-UST', 'lttng'),
        (Uftrace, 'uftrace: function', 'uftrace'),
        (UftraceShort, 'uftrace: call, dropped by -t', 'uftrace'),
        (Bpftrace, 'bpftrace: USDT note (nop)', 'note1'),
        (Bpftrace, 'bpftrace: USDT note (nop5)', 'note5'),
        (Perf, 'perf: USDT note (nop)', 'note1'),
        (Perf, 'perf: USDT note (nop5)', 'note5'),
        (Text, 'fprintf()', 'fprintf'))]


def attempt(skipped, c, what, fn, *args):
    """What it returns, or None: then the reason is kept."""
    try:
        return fn(*args)
    except (OSError, subprocess.SubprocessError, ValueError) as e:
        skipped.append('%s: %s: %s' % (c.name, what, e))
        return None


def measure(all_of, o, skipped):
    """{(contender, on): {'min1': [of each round], ...}}"""
    rows = {}
    states = [(c, on) for c in all_of for on in (False, True) if on or c.off]
    for nr in range(o.rounds):
        print('# round %d of %d' % (nr + 1, o.rounds), file=sys.stderr)
        for c, on in states if nr % 2 == 0 else states[::-1]:
            row = rows.setdefault((c, on), {})
            for threads in (1, o.threads):
                said = attempt(skipped, c, 'a round', c.call, on, 'time', threads, o.runs, c.events)
                if said:
                    for word in ('min', 'median'):
                        row.setdefault('%s %d' % (word, threads), []).append(value(said, word))
    for c, on in states:
        row = rows[c, on]
        # The least of some times: a packet may end meanwhile.
        said = [attempt(skipped, c, 'instructions', c.call, on, 'steps') for _ in range(3)]
        row['instructions'] = min(value(s, 'instructions') for s in said) if all(said) else None
        memory = [value(s, 'memory') for s in (attempt(skipped, c, 'memory', c.call, on, 'time', t, 2, c.events)
                                               for t in (1, 9)) if s]
        row['memory'] = (memory[1] - memory[0]) / 8 if len(memory) == 2 else None
        if on:
            num = attempt(skipped, c, 'lost events', c.recorded, o.threads, o.count)
            row['lost'] = None if num is None else o.threads * o.count - num
            row['enabling'] = attempt(skipped, c, 'enabling', c.enabling, o.threads)
    return rows


def table(rows, o):
    """Lines for people, and rows for the CSV file."""
    head = ['contender', 'state', 'ns, 1 thread: min', 'median', 'ns, %d threads: min' % o.threads, 'median', 'instructions',
            'lost', 'KiB a thread', 'ms to enable']
    out = []
    none = next((r for (c, _), r in rows.items() if isinstance(c, Nothing)), {})
    for (c, on), r in rows.items():
        line = [c.name, 'on' if on else 'off']
        if isinstance(c, Nothing):
            line[1] = ''
        for threads in (1, o.threads):
            line.append('%.2f' % min(r['min %d' % threads]) if 'min %d' % threads in r else '')
            line.append('%.2f' % statistics.median(r['median %d' % threads]) if 'median %d' % threads in r else '')
        base = none.get('instructions') or 0
        line.append('' if r.get('instructions') is None else '%.0f' % max(0, r['instructions'] - base))
        line.append('' if r.get('lost') is None else '%d' % r['lost'])
        line.append('' if r.get('memory') is None else '%.0f' % max(0, r['memory'] - (none.get('memory') or 0)))
        line.append('%.1f' % statistics.median(r['enabling']) if r.get('enabling') else '')
        out.append(line)
    return head, out


def show(head, out, texts=2):
    """A table whose first columns are texts."""
    lines = ['| ' + ' | '.join(head) + ' |', '|' + '---|' * texts + '---:|' * (len(head) - texts)]
    lines += ['| ' + ' | '.join(line) + ' |' for line in out]
    return lines


def about(o):
    model = ''
    with contextlib.suppress(OSError), open('/proc/cpuinfo', encoding='utf-8') as f:
        model = next((line.split(':')[1].strip() for line in f if line.startswith('model name')), '')
    return '%s, %d CPUs, Linux %s; %d rounds; load %.1f at the start' % (model, os.cpu_count(), platform.release(), o.rounds,
                                                                       os.getloadavg()[0])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('build', help='where the programs are: build/user')
    p.add_argument('--out', help='folder for table, CSV and chart (default: results/bench-ust-<date> in the project)')
    p.add_argument('--rounds', type=int, default=10)
    p.add_argument('--runs', type=int, default=20, help='of a program in a round')
    p.add_argument('--threads', type=int, default=os.cpu_count(), help='beside one (default: the number of CPUs)')
    p.add_argument('--count', type=int, default=500000, help='events of a thread, while lost ones are counted')
    p.add_argument('--only', help='contenders whose name has this')
    o = p.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    top = os.path.abspath(os.path.join(here, '../../../..'))
    out = o.out or os.path.join(top, 'results', time.strftime('bench-ust-%Y%m%d-%H%M%S'))
    if o.rounds < 1 or o.runs < 1 or not 1 <= o.threads <= 64:
        p.error('--rounds and --runs are 1 or more, --threads 1 to 64')
    os.makedirs(out, exist_ok=True)
    skipped, lines = [], ['# ' + about(o)]
    shm = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shm, prefix='jf-ust.') as tmp:
        there = []
        candidates = contenders(os.path.abspath(o.build), tmp)
        try:
            for c in candidates:
                if o.only and o.only not in c.name:
                    continue
                why = c.lacks()
                if why:
                    lines.append('# skipped: %s: %s' % (c.name, why))
                else:
                    there.append(c)
            rows = measure(there, o, skipped)
        finally:
            for c in candidates:
                c.end()
    head, body = table(rows, o)
    lines += show(head, body) + ['# not measured: ' + s for s in dict.fromkeys(skipped)]
    print('\n'.join(lines))
    with open(os.path.join(out, 'bench-ust.txt'), 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n')
    with open(os.path.join(out, 'bench-ust.csv'), 'w', encoding='utf-8', newline='') as f:
        csv.writer(f).writerows([head] + body)
    if shutil.which('gnuplot'):
        run(['gnuplot', '-e', "csv='%s/bench-ust.csv'; svg='%s/bench-ust.svg'; threads=%d" % (out, out, o.threads),
             os.path.join(here, 'chart.gp')])
        print('# table, numbers, chart: %s/bench-ust.txt .csv .svg' % out)
    else:
        print('# no chart: gnuplot is missing (apt-get install gnuplot-nox); table, numbers: %s/bench-ust.txt .csv' % out)
    return 0


if __name__ == '__main__':
    sys.exit(main())
