#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
"""What two builds of a program cost: with SystemTap's <sys/sdt.h>, and with jumpfunc's.
usage: measure.py PROGRAM FOLDER BUILDS SOURCES

FOLDER has systemtap/ and build/, which is ours. Prints a table; ends with 1 if a probe is missing in one of them, or
if jf-trace has recorded another number of events than uprobes counted."""
import collections
import ctypes
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

RUNS = 5

PYTHON_WORK = '''
import sys
for _ in range(%d):
    sys.audit('jumpfunc')
'''
TCL_WORK = '''
proc f {x} { return [expr {$x + 1}] }
proc g {n} { for {set i 0} {$i < $n} {incr i} { f $i } }
g %d
'''


class Program:
    """file: has the probes; glob: those that are enabled; callgrind: whether it runs there."""
    callgrind = True

    def __init__(self, file, provider, glob, calls):
        self.file, self.provider, self.glob, self.calls = file, provider, glob, calls

    def command(self, folder, calls, _sources):
        raise NotImplementedError

    def environment(self, _folder, _sources):
        return {}

    # Most programs end by themselves.
    def drive(self, process, calls, tmp):
        del calls, tmp
        return process.wait()


class Python(Program):
    def command(self, folder, calls, _sources):
        return [folder + '/python', '-S', '-E', '-c', PYTHON_WORK % calls]


class Tcl(Program):
    def command(self, folder, calls, _sources):
        with open(folder + '/work.tcl', 'w', encoding='ascii') as f:
            f.write(TCL_WORK % calls)
        return [folder + '/tclsh', folder + '/work.tcl']

    def environment(self, folder, sources):
        return {'LD_LIBRARY_PATH': folder, 'TCL_LIBRARY': sources + '/library'}


class Memcached(Program):
    # With either header it does not come to listen there (valgrind 3.19).
    callgrind = False

    def command(self, folder, calls, _sources):
        return [folder + '/memcached', '-u', 'root', '-t', '1', '-c', '100', '-s', folder + '/work.sock']

    def drive(self, process, calls, tmp):
        import socket
        for _ in range(600):
            with socket.socket(socket.AF_UNIX) as s:
                try:
                    s.connect(tmp + '/work.sock')
                except OSError:
                    time.sleep(0.05)
                    continue
                s.sendall(b'set key 0 0 5\r\nvalue\r\n')
                assert s.recv(100) == b'STORED\r\n'
                for _ in range(calls // 50):
                    # One packet, so that the server's work is more than its system calls.
                    s.sendall(b'get key\r\n' * 50)
                    want = len(b'VALUE key 0 5\r\nvalue\r\nEND\r\n') * 50
                    while want:
                        want -= len(s.recv(want))
                s.sendall(b'shutdown\r\n')
            process.terminate()
            return process.wait()
        raise TimeoutError('memcached does not listen')


PROGRAMS = {
    'memcached': Memcached('memcached', 'memcached', 'memcached:command__get', 50000),
    'tcl': Tcl('libtcl8.6.so', 'tcl', 'tcl:proc__entry', 300000),
    'python': Python('python', 'python', 'python:audit', 500000),
}


def notes(path):
    """Yields (provider, name, file offset of the nop, of the semaphore or 0)."""
    with open(path, 'rb') as f:
        data = f.read()
    phoff, = struct.unpack_from('<Q', data, 32)
    num, = struct.unpack_from('<H', data, 56)
    loads = [struct.unpack_from('<IIQQQQQQ', data, phoff + 56 * i) for i in range(num)]

    def offset(address):
        for kind, _, at, where, _, size, _, _ in loads:
            if kind == 1 and where <= address < where + size:
                return address - where + at
        return 0

    text = subprocess.run(['readelf', '-nW', path], check=True, capture_output=True, text=True).stdout
    for m in re.finditer(r'Provider: (\S+)\n\s+Name: (\S+)\n\s+Location: (\w+), Base: (\w+), Semaphore: (\w+)', text):
        semaphore = int(m[5], 16)
        yield m[1], m[2], offset(int(m[3], 16)), offset(semaphore) if semaphore else 0


def text_size(path):
    out = subprocess.run(['size', '-A', path], check=True, capture_output=True, text=True).stdout
    return sum(int(line.split()[1]) for line in out.splitlines() if re.match(r'\.text|\.init|\.fini|\.plt', line))


class Uprobes:
    """Counts hits on each CPU, by perf_event_open() of uprobes. In whatever process: a thread that a process with such
    an event of its own makes would inherit it, and fails with EFAULT, as the path is in the memory of ours."""
    def __init__(self, path, glob):
        libc = ctypes.CDLL(None, use_errno=True)
        with open('/sys/bus/event_source/devices/uprobe/type', encoding='ascii') as f:
            kind = int(f.read())
        name = ctypes.create_string_buffer(path.encode())
        self.fds = []
        for provider, probe, at, semaphore in notes(path):
            if provider + ':' + probe != glob:
                continue
            for cpu in os.sched_getaffinity(0):
                attr = bytearray(128)
                # config1: the path, config2: the offset
                struct.pack_into('<IIQ', attr, 0, kind, len(attr), semaphore << 32)
                struct.pack_into('<QQ', attr, 56, ctypes.addressof(name), at)
                fd = libc.syscall(298, bytes(attr), -1, cpu, -1, 8)
                if fd < 0:
                    error = ctypes.get_errno()
                    self.close()
                    raise OSError(error, 'perf_event_open of a uprobe: ' + os.strerror(error))
                self.fds.append(fd)

    def close(self):
        total = sum(struct.unpack('<Q', os.read(fd, 8))[0] for fd in self.fds)
        for fd in self.fds:
            os.close(fd)
        return total


def run(program, folder, sources, calls, front=()):
    """Returns user and system time in seconds, and what was written."""
    env = dict(os.environ, **program.environment(folder, sources))
    with tempfile.TemporaryFile() as out:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with subprocess.Popen(list(front) + program.command(folder, calls, sources), env=env, stdout=out,
                              stderr=subprocess.STDOUT) as process:
            status = program.drive(process, calls, folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        out.seek(0)
        said = out.read()
    if status not in (0, -15, 143):
        sys.exit('measure.py: %s ended with %d: %s' % (folder, status, said[-500:]))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def instructions(program, folder, sources, calls):
    if not program.callgrind:
        return float('nan')
    name = folder + '/callgrind.out'
    run(program, folder, sources, calls, ['valgrind', '-q', '--tool=callgrind', '--callgrind-out-file=' + name])
    with open(name, encoding='ascii', errors='replace') as f:
        total = sum(int(m[1]) for m in re.finditer(r'^totals: (\d+)', f.read(), re.M))
    return total


def recorded(said, name):
    return len(re.findall(rb'\b' + re.escape(name.encode()) + rb'\b', said))


def check_list(name, program, theirs, ours, builds):
    """Does jf-trace list each probe that the program has with SystemTap's header? Returns their names, or None."""
    want, have = ({n[1] for n in notes(path) if n[0] == program.provider} for path in (theirs, ours))
    listed = subprocess.run([builds + '/jf-trace', 'list', '-e', program.provider + ':*', ours],
                            capture_output=True, text=True, check=False).stdout
    missing = sorted(n for n in want if program.provider + ':' + n not in listed)
    if want != have or missing:
        print('not ok - %s: probes missing: %s' % (name, missing or want ^ have))
        return None
    print('ok - %s: jf-trace lists all %d probes' % (name, len(have)))
    return have


class Times:
    """The least time of each kind of run, in turns; what uprobes have counted, and what jf-trace was told."""

    def __init__(self, program, folder, builds, sources, paths):
        self.program, self.sources, self.paths = program, sources, paths
        self.least = collections.defaultdict(lambda: float('inf'))
        self.hits, self.no_uprobes = None, ''
        self.trace = folder + '/trace'
        self.record = [builds + '/jf-trace', 'run', '-e', program.glob, '-o', self.trace,
                       '--no-report', '--packets', '64', '--packet-size', '1048576', '--']

    def run(self, kind, build, *options):
        took, said = run(self.program, build, self.sources, self.program.calls, *options)
        self.least[kind] = min(self.least[kind], took)
        return said

    def turn(self, theirs, ours, reverse):
        for kind, d in (('off, SystemTap', theirs), ('off, jumpfunc', ours))[::1 if reverse else -1]:
            self.run(kind, d)
        shutil.rmtree(self.trace, ignore_errors=True)
        said = self.run('on, jumpfunc', ours, self.record)
        try:
            uprobes = Uprobes(self.paths[theirs], self.program.glob)
        except OSError as e:
            self.no_uprobes = str(e)
            return said
        self.run('on, uprobes', theirs)
        self.hits = uprobes.close()
        return said

    def check(self, name, said):
        """Was each event recorded? How many were, or None."""
        glob, expected = self.program.glob, self.program.calls
        report = subprocess.run(['babeltrace2', self.trace], capture_output=True, check=False).stdout
        told = recorded(report, glob)
        if self.hits is not None and self.hits != told:
            print('not ok - %s: %s recorded %s times, uprobes counted %s' % (name, glob, told, self.hits))
        elif told < expected:
            print('not ok - %s: %s recorded %s times, expected %s: %s' % (name, glob, told, expected, said[-300:]))
        else:
            print('ok - %s: %s recorded %d times%s' % (name, glob, told, ', as uprobes count' if self.hits
                                                     else '; no uprobes: ' + self.no_uprobes))
            return told
        return None

    def each(self, on, off, events):
        """Nanoseconds of an event. What probes cost is on top of the build's own time."""
        return (self.least[on] - self.least[off]) / events * 1e9 if on in self.least else float('nan')


def instructions_of(program, build, sources):
    """Until it is ready, and of a call."""
    few, start = 1000, instructions(program, build, sources, 50)
    return start, (instructions(program, build, sources, few + 50) - start) / few


def more(with_ours, with_theirs):
    return (with_ours / with_theirs - 1) * 100


def table(name, times, num, builds, told):
    """@builds: SystemTap's and ours."""
    theirs, ours = builds
    (start, each), (our_start, our_each) = (instructions_of(times.program, d, times.sources) for d in builds)
    text, our_text = (text_size(times.paths[d]) for d in builds)
    off, our_off = times.least['off, SystemTap'], times.least['off, jumpfunc']
    print('| program | probes | sites | text, SystemTap | jumpfunc | instructions a call, SystemTap | jumpfunc |'
          ' to start | jumpfunc | us a call, off | jumpfunc | ns an event, on | uprobes |')
    print('|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|')
    print('| %s | %d | %d | %d | %+.2f %% | %.1f | %.1f | %.0f | %+.1f %% | %.3f | %+.1f %% | %.0f | %.0f |' % (
        name, num, len(list(notes(times.paths[ours]))), text, more(our_text, text), each, our_each, start,
        more(our_start, start), off / times.program.calls * 1e6, more(our_off, off),
        times.each('on, jumpfunc', 'off, jumpfunc', told), times.each('on, uprobes', 'off, SystemTap', told)))


def main():
    name, folder, builds, sources = sys.argv[1:]
    program = PROGRAMS[name]
    theirs, ours = folder + '/systemtap', folder + '/build'
    paths = {d: os.path.realpath(d + '/' + program.file) for d in (theirs, ours)}
    names = check_list(name, program, paths[theirs], paths[ours], builds)
    times = Times(program, folder, builds, sources, paths)
    said = ''
    for turn in range(RUNS):
        said = times.turn(theirs, ours, turn % 2)
    told = times.check(name, said)
    if told:
        table(name, times, len(names or ()), (theirs, ours), told)
    return 0 if names and told else 1


sys.exit(main())
