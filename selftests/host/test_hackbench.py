#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of scripts/hackbench-run.sh and hackbench-report.py without a kernel: a made-up debugfs, and a perf, a
hackbench and others of our own on PATH, whose numbers are known.  Prints TAP.

usage: test_hackbench.py [SHELL ...]      default: dash, bash and busybox
"""
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
SCRIPT, REPORT = (os.path.join(TOP, 'scripts', name) for name in ('hackbench-run.sh', 'hackbench-report.py'))
RELEASE = os.uname().release

# $FAKE has words that say what goes wrong.
TOOLS = {
    # Writes what real perf writes: seconds are the words of the line of this mode in $TIMES, run after run.
    'perf': r'''
out=/dev/stderr n=1 events=
case "$* $FAKE" in *duration_time*old-perf*) echo "event syntax error: 'duration_time'" >&2; exit 129 ;;
*broken-perf*) echo "WARNING: perf not found for kernel 9.9" >&2; exit 2 ;; esac
shift
while [ $# -gt 0 ]; do
	case $1 in
	-r) n=$2; shift 2 ;;
	-e) events=$2; shift 2 ;;
	-o) out=$2; shift 2 ;;
	-x,) shift ;;
	--) shift; break ;;
	*) echo "fake perf: $1?" >&2; exit 2 ;;
	esac
done
while [ $n -gt 0 ]; do "$@" || exit; n=$((n - 1)); done
[ "$1" != true ] || exit 0
mode=$(cat "$JF_DEBUGFS/jumpfunc/dispatch")
[ ! -d "$JF_TRACEFS/instances/jumpfunc-hackbench" ] || mode=trace-all
s=$(echo "$TIMES" | awk -v m="$mode" -v n="$(grep -c "^$mode:" "$W/log")" '$1 == m { print $(n + 1 > NF ? NF : n + 1) }')
{
	printf '# started on some day\n\n'
	case $events in *duration_time*) awk -v s="${s:-1}" 'BEGIN { printf "%.0f,ns,duration_time,1,100.00,,\n", s * 1e9 }' ;; esac
	cat "$W/counters"
} >"$out"''',
    # The mode in force gets 100 hits per run and event in the events file, as the module would count them.
    'hackbench': r'''
J=$JF_DEBUGFS/jumpfunc T=$JF_TRACEFS/instances/jumpfunc-hackbench
mode=$(cat "$J/dispatch")
if [ -d "$T" ]; then
	mode=trace-all
	mkdir -p "$T/per_cpu/cpu0"
	printf 'entries: 70\noverrun: 30\ncommit overrun: 0\nbytes: 999\ndropped events: 5\nread events: 3\n' >"$T/per_cpu/cpu0/stats"
fi
echo "$mode:$(cat "$J/subscribers" 2>/dev/null || echo x)" >>"$W/log"
echo "$*" >>"$W/args"
echo $$ >"$W/pid"
awk -v m="$mode" -v fake="$FAKE" '
	NR == 1 { for (i = 4; i <= NF; i++) if ($i == m || (m == "off" && fake == "loud " $i)) c = i - 1; print; next }
	{ if (c && fake != "silent " m && $2 == "attached") $c = sprintf("%.0f", $c + 100); print }' "$J/events" >"$W/events.new"
cat "$W/events.new" >"$J/events"
echo "Running in process mode"
case $FAKE in
hang)	# with a child that a polite signal does not move
	(trap '' TERM; exec sleep 60) &
	trap 'echo TERM >"$W/got"; exit 143' TERM
	echo $! >"$W/grandchild"
	echo started >"$W/fifo"
	wait
	;;
"fail in $mode") echo "fork() (error: Resource temporarily unavailable)"; exit 1 ;;
esac
echo "Time: 0.250"
case $FAKE in
dispatch-dies) rm -f "$J/dispatch"; mkdir "$J/dispatch" ;;
meddle) echo indirect >"$J/dispatch" ;;
esac''',
    'chrt': 'echo "$1 $2 $3" >>"$W/chrt"; shift 2; exec "$@"',
    'id': 'case $FAKE in user) echo 1000 ;; *) echo 0 ;; esac',
    'dmesg': '''echo "module: the kernel's own word"''',
    'date': 'case $FAKE$* in named+%Y*) echo 20260102-030405 ;; *) exec /bin/date "$@" ;; esac',
    'insmod': r'''
echo "insmod $*" >>"$W/modules"
[ "$FAKE" != bad-module ] || { echo "insmod: ERROR: could not insert module $1: Key was rejected by service" >&2; exit 1; }
mkdir -p "$JF_SYSFS/module/jumpfunc"
mv "$W/unloaded" "$JF_DEBUGFS/jumpfunc"''',
    'rmmod': 'echo "rmmod $*; mode $(cat "$JF_DEBUGFS/jumpfunc/dispatch")" >>"$W/modules"',
    'trace-cmd': r'''
echo "trace-cmd $*; mode $(cat "$JF_DEBUGFS/jumpfunc/dispatch")" >>"$W/tracing"
mkdir -p "$JF_TRACEFS/instances/jumpfunc-hackbench"''',
    # The instance is a made-up folder with files in it, which the real rmdir would refuse.
    'rmdir': 'echo "rmdir $1" >>"$W/tracing"; exec rm -r "$1"',
}
COUNTERS = '''1234.50,msec,task-clock,1234500000,100.00,1.9,CPUs utilized
1551,,context-switches,123,100.00,18.6,K/sec
<not supported>,,cycles,0,100.00,,
<not counted>,,instructions,0,0.00,,
400,,cpu_core/branches/,1,50.00,,
40,,cpu_atom/branches/,1,50.00,,
<not counted>,,cpu_atom/branch-misses/,0,0.00,,
7,,cpu_core/branch-misses/,1,50.00,,
'''
label, results = '', []


def check(what, got, wanted=True, detail=''):
    results.append(got == wanted)
    print(f'{"" if got == wanted else "not "}ok {len(results)} - {label}{what}')
    if got != wanted:
        print(*(f'#   {line}' for line in f'got:    {got}\nwanted: {wanted}\n{detail}'.splitlines()), sep='\n')


def has(what, text, *patterns):
    """Every regular expression is found."""
    check(what, [p for p in patterns if not re.search(p, text, re.M)], [], text)


def skip(what, why):
    results.append(True)
    print(f'ok {len(results)} - {label}{what} # SKIP {why}')


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def read(path):
    try:
        with open(path, encoding='utf-8') as f:
            return f.read()
    except FileNotFoundError:
        return ''


def summary(folder):
    """Row "mode,subscribers" -> its columns."""
    return {f'{row["mode"]},{row["subscribers"]}': row for row in csv.DictReader(read(f'{folder}/summary.csv').splitlines())}


class Machine:
    """A new machine with a loaded jumpfunc in mode indirect."""

    def __init__(self, work, shell):
        self.work, self.shell, self.busybox = work, shell.split(), shell.startswith('busybox')
        for name in os.listdir(work):
            if name not in ('bin', 'sparse'):
                (shutil.rmtree if os.path.isdir(f'{work}/{name}') else os.remove)(f'{work}/{name}')
        self.out, self.sys, self.proc, self.dev = (f'{work}/{name}' for name in ('out', 'm/sys', 'm/proc', 'm/dev'))
        self.jf = f'{self.sys}/kernel/debug/jumpfunc'
        self.tracefs = f'{self.sys}/kernel/tracing'
        for path, text in {
                f'{self.jf}/events': '# event state off indirect dynfunc\nsched_switch attached 0 7 3000000000\n'
                                     'sys_enter attached 0 5 2\nsched_gone missing 0 0 0\n',
                f'{self.jf}/stats': 'updates 3\n',
                f'{self.sys}/module/jumpfunc/parameters/backend': 'auto\n',
                f'{self.sys}/module/jumpfunc/version': '0.9\n',
                f'{self.sys}/devices/system/cpu/vulnerabilities/spectre_v2': 'Mitigation: Retpolines; BHI: Retpoline\n',
                f'{self.sys}/kernel/security/none': '',
                f'{self.tracefs}/instances/none': '',
                f'{self.proc}/cpuinfo': 'processor\t: 0\nmodel name\t: Test CPU, 9 GHz\nflags\t\t: fpu\nprocessor\t: 1\n',
                f'{self.proc}/filesystems': 'nodev\tdebugfs\n',
                f'{self.proc}/mounts': f'debugfs {self.sys}/kernel/debug debugfs rw 0 0\n',
                f'{work}/counters': COUNTERS, f'{work}/log': ''}.items():
            write(path, text)
        self.offer()

    def offer(self, modes='off [indirect] dynfunc'):
        """A plain file keeps only the word written last: show all modes again."""
        write(f'{self.jf}/dispatch', modes + '\n')

    def with_subscribers(self, now):
        self.offer('[off] kernel indirect dynfunc chain')
        write(f'{self.jf}/subscribers', f'{now}\n')
        first, *rest = read(f'{self.jf}/events').splitlines()
        write(f'{self.jf}/events', ''.join([f'{first} kernel chain\n', *(f'{line} 0 0\n' for line in rest)]))

    def env(self, fake='', times='', emulated='', sparse=False):
        path = f'{self.work}/sparse' if sparse else f'{self.work}/bin:{os.environ["PATH"]}'
        return {'LC_ALL': 'C', 'W': self.work, 'FAKE': fake, 'TIMES': times, 'JF_EMULATED': emulated, 'PATH': path,
                'JF_SYSFS': self.sys, 'JF_PROCFS': self.proc, 'JF_DEVFS': self.dev,
                'JF_DEBUGFS': f'{self.sys}/kernel/debug', 'JF_TRACEFS': self.tracefs}

    def run(self, args='', out='out', cwd=None, more=(), **env):
        """The script; its folder is out, unless that is None."""
        words = [*args.split(), *(['-o', f'{self.work}/{out}'] if out else []), *more]
        done = subprocess.run([*self.shell, SCRIPT, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=self.env(**env), cwd=cwd, check=False)
        self.rc, self.std, self.err = done.returncode, done.stdout, done.stderr
        return self.rc

    def runs(self, folder='out'):
        return list(csv.DictReader(read(f'{self.work}/{folder}/runs.csv').splitlines()))

    def log(self):
        return read(f'{self.work}/log').replace(':x', '').split()

    def mode(self):
        return read(f'{self.jf}/dispatch').strip()


# ---- the script ----

def test_usage(m):
    for bad in ('-r 0', '-r ten', '-r', '-g -1', '-s 17', '-s 1,,2', '-m off,OFF', '--modes=', '-m off,off', '-rf', '--what',
                'stray', '--dry-run=yes', '-l 99999999', '-m off,nosuch', '-s 1,2', '--native ' + SCRIPT):
        if (m.run(bad, out=None if bad == '-r' else 'out') != 2 or not m.err or m.std or os.path.exists(m.out) or m.log()):
            check(f'usage error for {bad}', False, detail=m.err)
            return
    check('bad options are usage errors, and run nothing', True)
    m.run('--help', out=None)
    check('--help succeeds', m.rc, 0)
    options = re.findall(r'--[a-z][a-z-]*(?=[|)])', read(SCRIPT).partition('\nparse_options')[2].partition('\n}')[0])
    check('--help tells every option', len(options) > 10 and [o for o in options if o not in m.std], [])


def test_full_run(m):
    m.run('-r 5 -g 3 -l 44', more=['--', '-T', '-p'],
          times='off 99 10 9 11 10 10.5\nindirect 99 12 13 11.5 12 12.5\ndynfunc 99 11 9.9 11.2 10.4 12')
    check('a full run succeeds', m.rc, 0, m.err)
    check('hackbench gets its options', set(read(f'{m.work}/args').splitlines()), {'-g 3 -l 44 -T -p'})
    check('one line per run in runs.csv', len(m.runs()), 18)
    check('raw output of every run', sorted(name.rpartition('.')[2] for name in os.listdir(f'{m.out}/raw')), ['out'] * 18 + ['perf'] * 18)
    check('the mode is put back', m.mode(), 'indirect')
    check('the table is what is printed', m.std, read(f'{m.out}/table.txt'))
    rows = summary(m.out)
    check('medians', [rows[f'{mode},-']['median_s'] for mode in ('off', 'indirect', 'dynfunc')], ['10.000000', '12.000000', '11.000000'])
    check("events: only the mode's own column, only what this run added", [
        rows['off,-']['calls_total'], rows['indirect,-']['calls_total'], rows['dynfunc,-']['events_per_run']], ['0', '1000', '200'])
    check('not supported and not counted are n/a', [rows['off,-']['cycles'], rows['off,-']['instructions']], ['n/a', 'n/a'])
    check('both kinds of core are counted', [rows['off,-']['branches'], rows['off,-']['branch_misses']], ['440', '7'])
    has('the machine', read(f'{m.out}/table.txt'), f'^kernel .*{RELEASE}', 'Test CPU, 9 GHz', '2 cores', 'Retpolines',
        'emulated *no', 'back end auto', '2 of 3 tracepoints found; missing: sched_gone')


def test_order(m):
    m.run('-r 4 -w 0')
    m.offer()
    check('the order turns and mirrors', m.log(),
          'off indirect dynfunc dynfunc indirect off indirect dynfunc off off dynfunc indirect'.split())
    m.run('-r 1 -w 2 -k 3 -m off,dynfunc', out='out2')
    check('-k repeats within a round, warm-up rounds run', [run['round'] + run['mode'] for run in m.runs('out2')],
          '0off 0dynfunc 0dynfunc 0off 1off 1dynfunc'.split())
    row = summary(f'{m.work}/out2')['dynfunc,-']
    check('warm-up does not count', [row['rounds'], row['calls_total']], ['1', '600'])
    # 200 calls in each of the three runs
    check('with -k events are those of one run, too', [row['events_per_run'], row['calls_per_run']], ['200', '200'])


def test_subscribers(m):
    m.with_subscribers(3)
    # busybox has its own rmdir, and this instance is a plain folder
    trace = [] if m.busybox else ['trace-all,-']
    m.run('-r 1 -w 0' + (' -t' if trace else ''))
    check('kernel, chain, subscribers: succeeds', m.rc, 0, m.err)
    rows = [f'{mode},{n}' for n in '1248' for mode in ('kernel', 'indirect', 'dynfunc', 'chain') if mode != 'dynfunc' or n == '1']
    check('rows for N = 1, 2, 4, 8, dynfunc once', list(summary(m.out)), ['off,-', *trace, *rows])
    check('the knob is set for each row', [x.replace(':', ',') for x in m.log() if x[0] not in 'ot'], rows)
    check('mode and subscribers are put back', [m.mode(), read(f'{m.jf}/subscribers')], ['off', '3\n'])
    if trace:
        check('trace-all: in mode off, and cleaned up', read(f'{m.work}/tracing'),
              'trace-cmd start -B jumpfunc-hackbench -e all; mode off\n'
              f'rmdir {m.tracefs}/instances/jumpfunc-hackbench\n')
        check('trace-all: overwritten and dropped events count', summary(m.out)['trace-all,-']['calls_total'], '105')
    m.offer('[off] kernel indirect dynfunc chain')
    m.run('-r 1 -w 0 -s 2,16 -m off,dynfunc,chain', out='out2')
    check('--subscribers chooses', list(summary(f'{m.work}/out2')), ['off,-', 'dynfunc,1', 'chain,2', 'chain,16'])


def test_fifo(m):
    m.run('-r 1 -w 0 -m off --fifo')
    check('--fifo: by chrt, and said', [m.rc, set(read(f'{m.work}/chrt').splitlines()), 'SCHED_FIFO' in read(f'{m.out}/table.txt')],
          [0, {'-f 1 perf'}, True])


def test_native(m):
    write(f'{m.work}/bench.csv', NATIVE)
    m.run(f'-r 1 -w 0 --native {m.work}/bench.csv', emulated='icount', times='off 10\ndynfunc 12')
    check('--native: its figures, and what an event costs by the clock', [
        m.rc, *(summary(m.out)['dynfunc,-'][name] for name in ('native_ns_per_event', 'per_event', 'per_event_unit'))],
        [0, '1.5000', '10000000.00', 'instructions'])


def test_never_fires(m):
    m.run('-r 2', fake='silent dynfunc')
    check('a mode without events fails', m.rc, 1)
    has('... and is named', m.err, 'ERROR: mode dynfunc dispatched no event')
    check('... and the others are measured', summary(m.out)['indirect,-']['rounds'], '2')
    check('... and the mode is put back', m.mode(), 'indirect')
    m.run(f'--render {m.out}', out=None)
    check('... and --render says it again', m.rc, 1)
    m.offer()
    m.run('-r 1', out='out2', fake='loud indirect')
    check('an off that dispatches fails', m.rc, 1)
    m.offer()
    write(f'{m.jf}/events', read(f'{m.jf}/events').replace('dynfunc', 'other'))
    m.run('-r 1', out='out3')
    check('a mode without a column in events fails', m.rc, 1)
    has('... and is named', m.err, 'no column for mode dynfunc')


def test_no_python(m):
    for what, fake, rc in ('without python3: measured, status 0', '', 0), ('... and 1 for a mode without events', 'silent dynfunc', 1):
        m.offer()
        shutil.rmtree(m.out, ignore_errors=True)
        m.run('-r 1 -w 0 --no-perf', fake=fake, sparse=True)
        check(what, [m.rc, len(m.runs()), os.path.exists(f'{m.out}/table.txt')], [rc, 3, False], m.err)
    has('... and it says where the table comes from', m.err, f'no python3 .*--render {m.out}')
    m.run(f'--render {m.out}', out=None, sparse=True)
    check('... and --render fails', m.rc, 1)


def test_named_before(m):
    """The script's own name for the results can be guessed: where it is taken already, nothing is written."""
    if m.busybox:
        return skip('the default name', 'busybox asks its own date')
    name = f'hackbench-{RELEASE}-20260102-030405'
    here = f'{m.work}/here'
    write(f'{m.work}/victim', 'mine')
    os.makedirs(f'{here}/{name}')
    os.symlink(f'{m.work}/victim', f'{here}/{name}/meta.txt')
    m.run('-r 1 -w 0 -m off', out=None, cwd=here, fake='named')
    check('a folder of the default name that is there already is refused', m.rc, 1)
    has('... and named', m.err, name)
    check('... and nothing is written by way of it', read(f'{m.work}/victim'), 'mine')
    shutil.rmtree(f'{here}/{name}')
    m.run('-r 1 -w 0 -m off', out=None, cwd=here, fake='named')
    check('a new one is made', [m.rc, os.listdir(here)], [0, [name]])


def test_failures(m):
    for what, setup, fake, patterns, mode in (
            ('hackbench fails', None, 'fail in dynfunc', ['hackbench failed in mode dynfunc', 'Resource temporarily unavailable'], 'indirect'),
            ('a knob that cannot be set', 'subscribers', '', ['cannot write 1 to .*/subscribers: Is a directory'], 'indirect'),
            ('a dispatch file that dies under us', None, 'dispatch-dies', ['cannot write indirect to .*: Is a directory',
                                                                           'could not put back the mode indirect'], None),
            ('another process switches the mode', None, 'meddle', ['says "indirect" where "off" was written'], 'indirect')):
        m = Machine(m.work, ' '.join(m.shell))
        if setup:
            os.mkdir(f'{m.jf}/{setup}')
        m.run('-r 1 -w 0', fake=fake)
        check(f'{what}: fails', m.rc, 1)
        has('... and says why', m.err, *patterns)
        if mode:
            check('... and the mode is put back', m.mode(), mode)
    write(f'{m.work}/kept/runs.csv', '')
    write(f'{m.work}/log', '')
    m.run(out='kept')
    check('results are not overwritten, and nothing runs', [m.rc, read(f'{m.work}/kept/runs.csv'), m.log()], [1, '', []])


def ended(pid):
    """It may take a moment until init has reaped it."""
    for _ in range(50):
        state = read(f'/proc/{pid}/stat').rpartition(') ')[2][:1]
        if state in ('Z', ''):
            return True
        time.sleep(0.1)
    return False


def test_signals(m):
    for name, status in ('INT', 130), ('TERM', 143), ('HUP', 129):
        m = Machine(m.work, ' '.join(m.shell))
        write(f'{m.jf}/subscribers', '5\n')
        os.mkfifo(f'{m.work}/fifo')
        # What nohup started ignores the hangup.
        with open(f'{m.work}/err', 'w', encoding='utf-8') as err, subprocess.Popen(
                ['env', '--default-signal=INT,QUIT,HUP', *m.shell, SCRIPT, *f'-r 1 -o {m.out} -m dynfunc -s 2'.split()],
                stdin=subprocess.DEVNULL, stdout=err, stderr=err, env=m.env(fake='hang')) as script:
            # Opening the pipe waits for hackbench; not for ever when it never starts.
            if subprocess.run(['timeout', '30', 'cat', f'{m.work}/fifo'], stdout=subprocess.DEVNULL, check=False).returncode:
                script.kill()
                check(f'{name}: hackbench starts', False, detail=read(f'{m.work}/err'))
                continue
            was = [m.mode(), read(f'{m.jf}/subscribers')]
            script.send_signal(getattr(signal, f'SIG{name}'))
            script.wait()
        check(f'{name} ends the run with its status', script.returncode, status)
        check(f'{name}: mode and subscribers are put back', [was, m.mode(), read(f'{m.jf}/subscribers')],
              [['dynfunc', '1\n'], 'indirect', '5\n'])
        check(f'{name}: hackbench is told politely first', read(f'{m.work}/got'), 'TERM\n')
        check(f'{name}: hackbench and its children have ended', [ended(read(f'{m.work}/{f}').strip()) for f in ('pid', 'grandchild')],
              [True, True])


def test_missing(m):
    m.run('-n')
    check('--dry-run succeeds when all is there', m.rc, 0)
    has('--dry-run tells the plan', m.std, '21 of hackbench', 'off:- indirect:- dynfunc:-', '^warm-up: ', '^round 6: ')
    check('--dry-run runs and leaves nothing', [m.log(), os.path.exists(m.out), m.mode()], [[], False, 'off [indirect] dynfunc'])
    locked = ('none [integrity] confidentiality', f'{m.sys}/kernel/security/lockdown')

    def lose(*paths):
        for path in paths:
            (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
    # what, what is not there, which files say something else, the rest, what has to be said
    for what, lost, files, env, patterns in (
            ('perf that does not work', [], [], {'fake': 'broken-perf'}, ['perf not found for kernel 9.9']),
            ('no module', [m.jf, f'{m.sys}/module'], [], {}, ['missing: the module jumpfunc', 'modprobe jumpfunc', 'insmod', '--module']),
            ('debugfs not mounted', [m.jf], [('', f'{m.proc}/mounts')], {}, [f'mount -t debugfs debugfs {m.sys}/kernel/debug']),
            ('a kernel without debugfs', [m.jf], [('', f'{m.proc}/mounts'), ('', f'{m.proc}/filesystems')], {}, ['CONFIG_DEBUG_FS']),
            ('a jumpfunc without the event set', [f'{m.jf}/dispatch'], [], {}, ['no event set']),
            ('lockdown', [f'{m.jf}/dispatch'], [locked], {}, [r'locked down \(.*\[integrity\]', 'Secure Boot']),
            ('lockdown, and no counts', [f'{m.jf}/events'], [locked, ('[off]', f'{m.sys}/kernel/jumpfunc/dispatch')], {}, ['a readable .*events']),
            ('no root', [], [], {'fake': 'user'}, ['missing: root'])):
        if m.busybox and what == 'no root':
            skip(what, 'busybox asks its own id')
            continue
        m = Machine(m.work, ' '.join(m.shell))
        lose(*lost)
        for text, path in files:
            write(path, text + '\n')
        m.run(**env)
        check(f'{what}: status 3', m.rc, 3)
        has('... and says so', m.err, *patterns)
    m = Machine(m.work, ' '.join(m.shell))
    os.remove(f'{m.work}/sparse/hackbench')
    m.run(sparse=True)
    os.symlink(f'{m.work}/bin/hackbench', f'{m.work}/sparse/hackbench')
    check('no perf, no hackbench: status 3', m.rc, 3)
    has('... and the packages', m.err, 'missing: hackbench', 'rt-tests', 'missing: perf', 'linux-perf', 'no-perf')
    write(locked[1], locked[0])
    write(f'{m.sys}/kernel/jumpfunc/dispatch', 'off kernel [chain]\n')
    m.run('-n')
    check('lockdown, and knobs in sysfs: status 0', m.rc, 0)
    has('... which are used', m.err, f'using those in {m.sys}/kernel/jumpfunc')
    has('... and their modes planned', m.std, 'kernel:', 'chain:')


def test_module(m):
    if m.busybox:
        return skip('--module', 'busybox has its own insmod')
    ko = f'{m.work}/jumpfunc.ko'
    for what, fake, rc, modules in (('--module loads, measures, puts back, unloads', '', 0, f'insmod {ko}\nrmmod jumpfunc; mode indirect\n'),
                                    ('a module that the kernel refuses: status 3', 'bad-module', 3, f'insmod {ko}\n')):
        m = Machine(m.work, ' '.join(m.shell))
        write(ko, '')
        os.rename(m.jf, f'{m.work}/unloaded')
        shutil.rmtree(f'{m.sys}/module')
        m.run(f'--module {ko} -r 1 -w 0 -m off,dynfunc', fake=fake)
        check(what, [m.rc, read(f'{m.work}/modules')], [rc, modules], m.err)
    has('... and why', m.err, 'Key was rejected', "the kernel's own word", 'signed')
    m.run(f'--module {m.work}/nosuch.ko')
    has('a module file that is not there', m.err, f'missing: the module file {m.work}/nosuch.ko')
    m = Machine(m.work, ' '.join(m.shell))
    m.run(f'--module {ko} -r 1 -w 0 -m off,dynfunc')
    check('--module leaves a module alone that was loaded before', [m.rc, read(f'{m.work}/modules')], [0, ''])
    return None


def test_no_perf(m):
    m.run('--no-perf -r 1 -w 0 -k 2')
    row = summary(m.out)['dynfunc,-']
    check("--no-perf measures with hackbench's clock, without counters",
          [m.rc, *(row[name] for name in ('median_s', 'task_clock_ms', 'branch_misses'))], [0, '0.250000', 'n/a', 'n/a'])
    has('... and says so', read(f'{m.out}/table.txt'), 'seconds as hackbench told them', 'perf cannot count')
    m.offer()
    m.run('-r 1 -w 0', out='out2', fake='old-perf')
    row = summary(f'{m.work}/out2')['dynfunc,-']
    check("a perf without duration_time: hackbench's clock, perf's counters", [m.rc, row['median_s'], row['branches']], [0, '0.250000', '440'])


def test_emulation(m):
    # said by the environment, model, flag, signature, clock sources, vendor
    for emulated, env, model, flag, signature, clocks, vendor in (
            ('no', '', 'Test', '', '', 'tsc', ''),
            ('yes', '', 'Test', 'hypervisor', 'TCGTCGTCGTCG', 'tsc', ''),
            ('no', '', 'Test', 'hypervisor', 'KVMKVMKVM', 'tsc', 'QEMU'),
            ('no', '', 'Test', 'hypervisor', '', 'kvm-clock tsc', 'QEMU'),
            ('yes', '', 'Test', 'hypervisor', '', 'tsc hpet', 'QEMU'),
            ('unknown', '', 'Test', 'hypervisor', '', 'tsc', 'Acme'),
            ('yes', '', 'QEMU TCG CPU version 2.5+', '', '', '', ''),
            ('no', '0', 'QEMU TCG CPU version 2.5+', '', '', '', ''),
            ('yes', '1', 'Test', '', '', '', ''),
            ('yes', 'icount', 'Test', '', '', '', '')):
        m = Machine(m.work, ' '.join(m.shell))
        write(f'{m.proc}/cpuinfo', f'model name\t: {model}\nflags\t\t: fpu {flag}\n')
        if signature:
            # The cpuid driver gives 16 bytes for the leaf that the offset names.
            write(f'{m.dev}/cpu/0/cpuid', '')
            with open(f'{m.dev}/cpu/0/cpuid', 'wb') as f:
                f.seek(1 << 30)
                f.write(b'\1\0\0@' + signature.encode())
        write(f'{m.sys}/devices/system/clocksource/clocksource0/available_clocksource', clocks + '\n')
        write(f'{m.sys}/class/dmi/id/sys_vendor', vendor + '\n')
        m.run('-r 1 -w 0 -m off --no-perf', emulated=env)
        check(f'emulated: {emulated} for {[env, model, flag, signature, clocks, vendor]}', m.runs()[0]['emulated'], emulated)
    for text, retpolines in ('Mitigation: Enhanced / Automatic IBRS; BHI: Retpoline', 'no'), ('Mitigation: Retpolines; x', 'yes'), \
            ('Mitigation: LFENCE', 'lfence'), ('', 'unknown'):
        m = Machine(m.work, ' '.join(m.shell))
        write(f'{m.sys}/devices/system/cpu/vulnerabilities/spectre_v2', text)
        m.run('-r 1 -w 0 -m off --no-perf')
        has(f'retpolines: {retpolines} for "{text}"', read(f'{m.out}/meta.txt'), f'^retpolines={retpolines}$')
    m = Machine(m.work, ' '.join(m.shell))
    write(f'{m.proc}/cpuinfo', 'processor\t: 0\nFeatures\t: fp\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\nprocessor\t: 1\n')
    write(f'{m.sys}/devices/system/cpu/vulnerabilities/spectre_v2', 'Mitigation: CSV2, but not BHB')
    m.run('-r 1 -w 0 -m off --no-perf')
    has('arm64: what the CPU is, and that it has no retpolines', read(f'{m.out}/meta.txt'),
        '^cpu=Arm, implementer 0x41, part 0xd0b$', '^retpolines=none$')


# ---- the report ----

NATIVE = '''# CPU: Real CPU
# kernel: 9.9
# spectre_v2: Mitigation: Retpolines
group,layout,shape,n,ns_min,ns_median,cycles_min,cycles_median,ratio_or_broadcasts
call,64,direct,0,7.7,7.7,7,7,1
''' + ''.join(f'subscribers,64,{shape},{n},{ns},50,7,7,1\n' for shape, n, ns in (
    ('direct', 1, 1.5), ('chain', 1, 2.5), ('chain', 2, 5.0), ('array-plain', 1, 3.0), ('array-plain', 2, 6.0),
    ('array-retpoline', 1, 10.0), ('array-retpoline', 2, 40.0))) + 'subscribers,hot,chain,2,8.8,8.8,8,8,1\n'
META = {'kernel': '6.1', 'cpu': 'Test CPU', 'cores': '2', 'emulated': 'no', 'retpolines': 'yes', 'backend': 'auto',
        'spectre_v2': 'Mitigation: Retpolines', 'load': 'hackbench -g 10', 'inner': '1'}


def report(folder, rows, native='', events=200, task_clock='1000', **meta):
    """rows: (mode, subscribers): seconds of the rounds. Returns status, table, summary, picture."""
    shutil.rmtree(folder, ignore_errors=True)
    write(f'{folder}/meta.txt', ''.join(f'{key}={value}\n' for key, value in {**META, **meta}.items()))
    lines = [f'{nr},{mode},{n},{s},0.25,{task_clock if mode == "off" else 1500},5,n/a,n/a,440,{miss},{0 if mode == "off" else events},elapsed,1,no\n'
             for (mode, n), seconds in rows.items() for nr, (s, miss) in enumerate(((99, 7), *((*x, 7)[:2] if isinstance(x, tuple)
                                                                                              else (x, 7) for x in seconds)))]
    write(f'{folder}/runs.csv', 'round,mode,subscribers,seconds,hackbench_s,task_clock_ms,context_switches,cycles,instructions,'
          'branches,branch_misses,events,clock,inner,emulated\n' + ''.join(lines))
    if native:
        write(f'{folder}/native.csv', native)
    return render(folder)


def render(folder):
    done = subprocess.run([REPORT, folder], capture_output=True, text=True, check=False, env={**os.environ, 'LC_ALL': 'C'})
    return done.returncode, done.stdout + done.stderr, summary(folder), read(f'{folder}/chart.svg')


def test_report(folder):
    rows = {('off', '-'): (10, 9, 11, 10, 10.5), ('indirect', '-'): (12, 13, 11.5, 12, 12.5), ('dynfunc', '-'): (11, 9.9, 11.2, 10.4, 12)}
    rc, table, row, _ = report(folder, rows)
    check('the report succeeds', rc, 0, table)
    check('lowest, highest, overhead', [row['indirect,-'][name] for name in ('min_s', 'max_s', 'overhead_pct')], ['11.500000', '13.000000', '20.00'])
    # 11/10 9.9/9 11.2/11 10.4/10 12/10.5
    check('the range is taken round by round', [row['dynfunc,-'][f'overhead_{x}pct'] for x in ('', 'min_', 'max_')], ['10.00', '1.82', '14.29'])
    has('warm-ups are told', table, 'method +5 rounds, ', r'; 3\s+warm-up\s+runs\s+discarded')
    has('table: off', table, r'^off +- +10\.000 +baseline +0 +n/a +n/a +7$')
    has('table: indirect', table, r'^indirect +- +12\.000 +\+20\.0% +\+4\.5\.\.\+44\.4 +200 +2500000 +n/a +n/a +7$')
    row = report(folder, {key: values[:4] for key, values in rows.items()})[2]
    check('even number of rounds: the median is the mean of the middle two', [row[x]['median_s'] for x in ('indirect,-', 'dynfunc,-')],
          ['12.000000', '10.700000'])
    check('one round that was not counted makes the median n/a',
          report(folder, {('off', '-'): (1, (1, 'n/a'), 1)})[2]['off,-']['branch_misses'], 'n/a')
    rc, table, row, picture = report(folder, rows, events=0)
    check('a row without events: status 1, and the summary says it', [rc, row['off,-']['error']], [1, ''])
    has('... as does the table', table, '^dynfunc .*ERROR', '^ERROR *dynfunc: it dispatched no event in round 1')
    has('an off that dispatches is named', report(folder, {('off', '-'): (10,), ('chain', '1'): (9,)}, events='none')[1],
        '^ERROR *chain N=1: events has no column')
    write(f'{folder}/runs.csv', read(f'{folder}/runs.csv').replace(',0,elapsed', ',200,elapsed'))
    has('... also off', render(folder)[1], '^ERROR *off: it dispatched 200 events in round 1')
    rc, table, row, picture = report(folder, {('off', '-'): (10,)})
    check('there is nothing to draw of off alone', [rc, picture], [0, ''])
    check('no measured run: status 2', report(folder, {('off', '-'): ()})[0], 2)


def test_per_event(folder):
    """By the instruction clock, by CPU time, and natively."""
    rows = {('off', '-'): (10,), ('kernel', '1'): (12,), ('indirect', '1'): (13,), ('dynfunc', '1'): (11,), ('chain', '1'): (11.5,),
            ('kernel', '2'): (12,), ('indirect', '2'): (13,), ('chain', '2'): (11.5,), ('chain', '3'): (11.5,)}
    icount = {'emulated': 'yes', 'emulated_why': 'its clock counts instructions'}
    rc, table, row, picture = report(folder, rows, NATIVE, **icount)
    # 200 calls in each run: 200 events with one subscriber, 100 with two
    check("the clock's nanoseconds are instructions, for each event", [rc, *(row[x]['per_event'] for x in ('kernel,1', 'kernel,2', 'chain,2', 'dynfunc,1'))],
          [0, '10000000.00', '20000000.00', '15000000.00', '5000000.00'])
    check('events are calls by subscribers', [row['chain,2']['events_per_run'], row['chain,2']['calls_per_run']], ['100', '200'])
    check('each mode has the native figure of its way to call', [
        row[x]['native_ns_per_event'] for x in 'kernel,1 indirect,1 dynfunc,1 chain,1 kernel,2 indirect,2 chain,2 chain,3'.split()],
        '1.5000 10.0000 1.5000 2.5000 40.0000 40.0000 5.0000 n/a'.split())
    check('what dispatch costs the run', [row[x]['native_dispatch_ms'] for x in ('kernel,2', 'off,-')], ['0.0040', 'n/a'])
    has('table: kernel N=2', table, r'^kernel +2 +12\.0G +\+20\.0% +\+20\.0\.\.\+20\.0 +100 +20000000 +40\.00 +0\.004 ms$')
    has('the table says what it is', table, 'EMULATED CPU: all overheads are instructions', 'instr/event', 'computed', 'Real CPU', 'always mispredicted')
    check('the table fits into 100 columns', [line for line in table.splitlines() if len(line) > 100], [])
    has('the picture', picture, '2 subscribers: 5.0 ns by direct calls, 40.0 ns by pointers', 'EMULATED CPU', '</svg>', 'chain of direct calls',
        '>20000000<', '>40<')
    for retpolines, ns in ('no', '6.0000'), ('lfence', 'n/a'):
        check(f'retpolines {retpolines}: an array that has as many', report(folder, rows, NATIVE, retpolines=retpolines)[2]['kernel,2']['native_ns_per_event'], ns)
    row = report(folder, rows)[2]['dynfunc,1']
    # 0.5 s of CPU time more for 200 events
    check('without that clock: CPU time', [row['per_event'], row['per_event_unit']], ['2500000.00', 'cpu-ns'])


def test_labels(folder):
    rows = {('off', '-'): (10, 10.1), ('indirect', '-'): (12, 12), ('dynfunc', '-'): (11, 9), ('trace-all', '-'): (90, 91)}
    _, table, row, picture = report(folder, rows, emulated='yes', emulated_why='CPU model')
    check('an emulated CPU is labelled', [row['off,-']['emulated'], 'EMULATED CPU' in table, 'EMULATED CPU' in picture], ['yes', True, True])
    has('the picture: bars, what is cut, the range of off', picture, r'>\+19\.4%<', r'>-0\.5%<', r'\+800\.5% \(cut\)<', '>range of off<', '>dynfunc<', '</svg>')
    has('noise is marked', table, '^dynfunc .* ~-0.5%', '~: the rounds do not agree')
    check('... and is not found in the rest', re.findall(r'^\w+ .* ~', table, re.M)[1:], [])
    has('without retpolines the table says so', report(folder, rows, retpolines='no')[1], 'runs without retpolines', 'spectre_v2=retpoline')
    text = report(folder, rows, retpolines='none')[1]
    has('on a machine that never has them it says that', text, 'no retpolines on this machine')
    check('... and not how to get them', 'spectre_v2=' in text, False)
    check('with retpolines nothing is said of their absence', 'without retpolines:' in report(folder, rows)[1], False)
    rc, _, row, picture = report(folder, rows, cpu='A, "B" <script>&')
    check('a comma or a quote in the CPU model does not shift the CSV', [row['off,-']['cpu'], row['off,-']['load']], ['A, "B" <script>&', 'hackbench -g 10'])
    has('markup in it is text in the picture', picture, 'A, "B" &lt;script&gt;&amp;')
    os.makedirs(f'{folder}/a=b\\n')
    for name in 'meta.txt', 'runs.csv':
        shutil.copy(f'{folder}/{name}', f'{folder}/a=b\\n')
    check('a folder of an odd name', len(render(f'{folder}/a=b\\n')[2]), 4)
    check('a folder without results: status 2', render(TOP)[0], 2)
    write(f'{folder}/runs.csv', read(f'{folder}/runs.csv') + '1,off\n')
    check('a line that is cut: status 2', render(folder)[0], 2)


def main(shells):
    global label
    print('TAP version 13')
    work = tempfile.mkdtemp()
    try:
        for name, text in TOOLS.items():
            write(f'{work}/bin/{name}', f'#!/bin/sh\n{text.strip()}\n')
            os.chmod(f'{work}/bin/{name}', 0o755)
        # A PATH without perf, python3, trace-cmd: links to all else that is needed.
        os.makedirs(f'{work}/sparse')
        for tool in ('sh awk cat head tail tr grep sed date uname dd mkdir mktemp rm wc cp cmp id setsid sleep dirname basename readlink '
                     'hackbench dash bash busybox').split():
            path = f'{work}/bin/{tool}' if tool in ('id', 'hackbench') else shutil.which(tool)
            if path:
                os.symlink(path, f'{work}/sparse/{tool}')
        label = 'report: '
        for test in test_report, test_per_event, test_labels:
            test(f'{work}/report')
        for shell in shells:
            label = f'{shell}: '
            if not shutil.which(shell.split()[0]):
                skip('all tests', f'no {shell} here')
            elif shell == 'busybox sh' and os.getuid():
                skip('all tests', 'busybox asks its own id, so it takes root')
            else:
                for name, test in list(globals().items()):
                    if name.startswith('test_') and test not in (test_report, test_per_event, test_labels):
                        test(Machine(work, shell))
    finally:
        shutil.rmtree(work)
    print(f'1..{len(results)}')
    return not all(results)


sys.exit(main(['busybox sh' if shell == 'busybox' else shell for shell in sys.argv[1:] or ['dash', 'bash', 'busybox']]))
