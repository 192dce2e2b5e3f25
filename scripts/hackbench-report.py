#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""From meta.txt and runs.csv of a hackbench run (hackbench-run.sh): table.txt, summary.csv and chart.svg.

All are in the folder that is named.  If there is a native.csv, of user/bench, it says what one event costs to
dispatch on a real CPU.  Exit status: 1 when a run shows that the numbers are not to be believed, 2 when meta.txt
or runs.csv cannot be used.
"""
import csv
import math
import os
import statistics
import sys
import textwrap
from xml.sax.saxutils import escape

# What the notes and the legend say of a mode, and colours that colour-blind readers can tell apart.
MODES = {
    'off': ('no probe on any tracepoint.', 'off', '#cc79a7'),
    'kernel': ("each subscriber on the kernel's own tracepoint.", "the kernel's own tracepoint", '#0072b2'),
    'indirect': ('through function pointers, retpolined where the kernel has that in force.',
                 'an array of pointers', '#d55e00'),
    'dynfunc': ('one subscriber, by a patched direct call.', 'a patched call (dynfunc)', '#009e73'),
    'chain': ('N subscribers, by an unrolled chain of direct calls.', 'a chain of direct calls', '#56b4e9'),
    'trace-all': ("off, and all events of the kernel's own tracer (trace-cmd start -e all).", 'trace-all', '#999999'),
}


def fail(text):
    print(f'{os.path.basename(sys.argv[0])}: {text}', file=sys.stderr)
    sys.exit(2)


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def plain(x, digits):
    return 'n/a' if x is None else f'{x:.{digits}f}'


def short(x):
    """859904212284 -> 860G, 6399594 -> 6.40M"""
    if x is None:
        return 'n/a'
    for unit in ('', 'k', 'M', 'G', 'T', 'P'):
        if x < 999.5 or unit == 'P':
            return f'{x:.{0 if not unit or x >= 99.95 else 1 if x >= 9.995 else 2}f}{unit}'
        x /= 1000


def signed(x):
    return '0.0' if abs(x) < 0.05 else f'{x:+.1f}'


def counted(n, what):
    return f'{n} {what}' + ('' if int(n or 0) == 1 else 's')


class Row:
    """A row of the table: what was measured of one mode with one number of subscribers."""
    over = over_low = over_high = fired = per_event = native = dispatch_ms = None
    error = ''

    def __init__(self, mode, n):
        self.mode, self.n, self.rounds = mode, n, {}
        self.calls = 1 if n == '-' else int(n)

    def add(self, nr, run):
        self.rounds[nr] = run
        # The seconds of "perf stat -r" are a mean, the events those of all its runs.
        events = number(run['events'])
        run['events of a run'] = events if events is None else events / int(run['inner'])
        if self.error:
            return
        if events is None:
            self.error = 'events has no column for it'
        elif self.mode == 'off' and events:
            self.error = f'it dispatched {events:.0f} events in round {nr}, so it is no baseline'
        elif self.mode != 'off' and events <= 0:
            self.error = f'it dispatched no event in round {nr}: attached, but never fires'

    def values(self, column):
        return [number(run[column]) for run in self.rounds.values()]

    def median(self, column):
        """Over the measured rounds; a run in which perf did not count says nothing: then there is none."""
        values = self.values(column)
        return None if None in values else statistics.median(values)


class Results:
    def __init__(self, folder):
        self.folder, self.rows, self.warmups, self.clocks = folder, {}, 0, set()
        self.meta = dict(line.partition('=')[::2] for line in self.lines('meta.txt'))
        self.read_native()
        self.read_runs()
        planned = self.meta.get('rows', '').split()
        self.rows = {key: self.rows[key] for key in [*(k for k in planned if k in self.rows), *self.rows]}
        self.rounds = max(max(row.rounds) for row in self.rows.values())
        self.retpolines = self.meta.get('retpolines')
        # Where they cannot be had, all is as where they are off.
        self.has_retpolines = self.retpolines != 'none'
        if not self.has_retpolines:
            self.retpolines = 'no'
        self.by_instructions = 'counts instructions' in self.about('emulated_why')
        self.base = self.rows.get('off:-')
        for row in self.rows.values():
            self.compare(row)
            self.cost_event(row)
        self.have_native = any(row.native is not None for row in self.rows.values())
        self.counters = any(row.median(name) is not None for row in self.rows.values()
                            for name in ('cycles', 'instructions', 'branch_misses'))

    def about(self, name):
        return self.meta.get(name, '')

    def lines(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding='utf-8', errors='replace') as f:
                return f.read().splitlines()
        except OSError as e:
            return fail(f'cannot read {name}: {e.strerror}')

    def read_runs(self):
        names, *lines = [line.split(',') for line in self.lines('runs.csv')] or [[]]
        if 'events' not in names or 'seconds' not in names:
            fail('runs.csv does not begin with the names of its columns')
        for i, fields in enumerate(lines, 2):
            if len(fields) != len(names):
                fail(f'runs.csv: line {i} does not have {len(names)} fields')
            run = dict(zip(names, fields))
            if run['round'] == '0':
                self.warmups += 1
                continue
            self.clocks.add(run['clock'])
            row = self.rows.setdefault(f'{run["mode"]}:{run["subscribers"]}', Row(run['mode'], run['subscribers']))
            row.add(int(run['round']), run)
        if not self.rows:
            fail('runs.csv has no measured run')

    def read_native(self):
        """The CSV of user/bench: lines "# CPU: ...", the columns' names, and rows."""
        self.native_meta, self.native = {}, {}
        if not os.path.exists(os.path.join(self.folder, 'native.csv')):
            return
        lines = self.lines('native.csv')
        self.native_meta = dict(line[2:].partition(': ')[::2] for line in lines if line.startswith('# '))
        for row in csv.DictReader(line for line in lines if not line.startswith('#')):
            if 'ns_min' not in row or 'shape' not in row:
                fail('native.csv does not begin with the names of its columns')
            if row['group'] == 'subscribers' and row['layout'] == '64':
                self.native[row['shape'], int(row['n'])] = float(row['ns_min'])

    def compare(self, row):
        """The medians of a row, and its overhead against off."""
        row.seconds = row.median('seconds')
        if self.base is None or row is self.base:
            return
        row.over = 100 * (row.seconds / self.base.median('seconds') - 1)
        over = [100 * (float(run['seconds']) / float(self.base.rounds[nr]['seconds']) - 1)
                for nr, run in row.rounds.items() if nr in self.base.rounds]
        if over:
            row.over_low, row.over_high = min(over), max(over)

    def native_shape(self, row):
        """The row of user/bench that calls its subscribers as this one does."""
        if row.mode == 'chain':
            return 'chain'
        if row.mode == 'dynfunc' or (row.mode == 'kernel' and row.calls == 1):
            return 'direct'
        if row.mode in ('indirect', 'kernel'):
            return {'yes': 'array-retpoline', 'no': 'array-plain'}.get(self.retpolines)
        return None

    def cost_event(self, row):
        """What one event costs, in the unit of the clock and natively."""
        events = row.median('events of a run')
        row.fired = events if events is None or not row.calls else events / row.calls
        if self.base is None or row is self.base or not row.fired or row.fired < 0:
            return
        if self.by_instructions:
            row.per_event = 1e9 * (row.seconds - self.base.median('seconds')) / row.fired
        elif self.meta.get('emulated') == 'no':
            # Of all CPUs together; seconds are not.
            cpu, cpu_base = row.median('task_clock_ms'), self.base.median('task_clock_ms')
            if cpu is not None and cpu_base is not None:
                row.per_event = 1e6 * (cpu - cpu_base) / row.fired
        row.native = self.native.get((self.native_shape(row), row.calls))
        if row.native is not None:
            row.dispatch_ms = row.fired * row.native / 1e6

    # ---- summary.csv ----

    def write_summary(self):
        with open(os.path.join(self.folder, 'summary.csv'), 'w', encoding='utf-8') as f:
            out = csv.writer(f, lineterminator='\n')
            counts = ('context_switches', 'cycles', 'instructions', 'branches', 'branch_misses')
            about = ('emulated', 'retpolines', 'kernel', 'backend', 'cpu', 'load')
            out.writerow(('mode,subscribers,rounds,median_s,min_s,max_s,overhead_pct,overhead_min_pct,overhead_max_pct,'
                          'events_per_run,calls_per_run,calls_total,per_event,per_event_unit,native_ns_per_event,'
                          'native_dispatch_ms,task_clock_ms').split(',') + [*counts, 'error', *about])
            for row in self.rows.values():
                seconds = row.values('seconds')
                out.writerow([
                    row.mode, row.n, len(row.rounds), *(plain(x, 6) for x in (row.seconds, min(seconds), max(seconds))),
                    plain(row.over, 2), plain(row.over_low, 2), plain(row.over_high, 2),
                    plain(row.fired, 0), plain(row.median('events of a run'), 0),
                    plain(sum(x or 0 for x in row.values('events')), 0),
                    plain(row.per_event, 2), 'instructions' if self.by_instructions else 'cpu-ns', plain(row.native, 4),
                    plain(row.dispatch_ms, 4), plain(row.median('task_clock_ms'), 3),
                    *(plain(row.median(name), 0) for name in counts), row.error, *(self.about(name) for name in about)])

    def without_text(self):
        return 'This kernel runs without retpolines' if self.has_retpolines else 'There are no retpolines on this machine'

    # ---- table.txt ----

    def table(self):
        self.text = [f'What each kind of dispatch costs: {self.about("load")}', '']
        self.tell_machine()
        self.tell_rows()
        self.tell_columns()
        if self.retpolines == 'no':
            how = ' To see what retpolines cost: boot with spectre_v2=retpoline.'
            self.tell('NOTE', f"""{self.without_text()}: an indirect call is then nearly as cheap as a
                direct one. Expect indirect close to dynfunc, and a trampoline perhaps a little slower than a pointer;
                chain gains mainly with many subscribers.{how if self.has_retpolines else ''}""")
        elif self.retpolines == 'lfence':
            self.tell('NOTE', 'Indirect branches go through lfence here, about half as dear as a retpoline.')
        elif self.retpolines == 'unknown':
            self.tell('NOTE', """It is not known whether this kernel runs with retpolines; without them expect
                indirect close to dynfunc.""")
        self.tell('2018', """The proof of concept (its author's mail; all events of trace-cmd, hackbench 50, real
            hardware): 31.20 s without retpolines, 33.97 s with (+8.9%), 32.15 s with jump functions (+3.0%).""")
        return '\n'.join(self.text) + '\n'

    def tell(self, label, text):
        """A paragraph, its label on the left."""
        self.text += textwrap.wrap(' '.join(text.split()), 99, initial_indent=f'{label:<12}',
                                   subsequent_indent=' ' * 12, break_long_words=False, break_on_hyphens=False)

    def emulated_text(self):
        return 'all overheads are instructions, counted, not time on a real CPU' if self.by_instructions else \
            'shows that it works, not what it costs on a real CPU'

    def tell_machine(self):
        about = self.about
        self.tell('kernel', f'{about("kernel")}, {about("build")}; measured {about("date")}')
        self.tell('cpu', f'{about("cpu")}, {counted(about("cores"), "core")}, frequency governor: {about("governor")}')
        self.tell('emulated', f'{about("emulated")} ({about("emulated_why")})')
        self.tell('spectre_v2', about('spectre_v2'))
        asked = '' if about('backend_asked') == about('backend') else f' (asked for: {about("backend_asked")})'
        self.tell('jumpfunc', (f'{about("module")}, ' if about('module') else '') +
                  f'back end {about("backend")}{asked}; {about("tracepoints")}')
        clock = 'instructions by a clock that counts one of them as a nanosecond' if self.by_instructions else \
            'seconds elapsed as perf stat saw them' if 'elapsed' in self.clocks else 'seconds as hackbench told them'
        self.tell('method', f'{counted(self.rounds, "round")}, rows interleaved, {counted(about("inner"), "run")} '
                  f'per round and row; {clock}' + (f'; {about("policy")}' if about('policy') else '') +
                  f'; {counted(self.warmups, "warm-up run")} discarded')
        if {'elapsed', 'hackbench'} <= self.clocks:
            self.tell('', '(some by perf, some by hackbench: do not compare)')
        if self.have_native:
            self.tell('native', 'user/bench on {}, kernel {}, spectre_v2: {}'.format(
                *(self.native_meta.get(name, '') for name in ('CPU', 'kernel', 'spectre_v2'))))
        self.text.append('')
        if about('emulated') == 'yes':
            self.text += [f'*** EMULATED CPU: {self.emulated_text()} ***', '']

    def tell_rows(self):
        instructions = self.by_instructions
        shape = '{:<9} {:>2} {:>9} {:>9} {:>15} {:>8} {:>11}' + \
            (' {:>10} {:>12}' if self.have_native else ' {:>8} {:>8} {:>8}' if self.counters else '')
        more = ['native ns', '= dispatch'] if self.have_native else ['cycles', 'instr.', 'br.miss'][:3 * self.counters]
        unit, per_event = ('instr.', 'instr/event') if instructions else ('seconds', 'ns/event')
        self.text.append(shape.format('mode', 'N', unit, 'overhead', 'range', 'events', per_event, *more))
        for row in self.rows.values():
            off = row is self.base
            over = 'baseline' if off else 'n/a' if row.over is None else \
                ('~' if self.unsure(row) else '') + signed(row.over) + '%'
            if self.have_native:
                ms = plain(row.dispatch_ms, 3) + ('' if row.dispatch_ms is None else ' ms')
                more = ['', ''] if off else [plain(row.native, 2), ms]
            elif self.counters:
                more = [short(row.median(name)) for name in ('cycles', 'instructions', 'branch_misses')]
            self.text.append(shape.format(
                row.mode, row.n, short(1e9 * row.seconds) if instructions else plain(row.seconds, 3), over,
                '' if row.over_low is None else f'{signed(row.over_low)}..{signed(row.over_high)}',
                'ERROR' if row.error else short(row.fired), '' if off else plain(row.per_event, 0), *more).rstrip())
        self.text.append('')
        for row in self.rows.values():
            if row.error:
                self.tell('ERROR', row.mode + ('' if row.n == '-' else f' N={row.n}') + ': ' + row.error)
        modes = dict.fromkeys(row.mode for row in self.rows.values())
        self.tell('modes', ' '.join(f'{mode}: {MODES[mode][0]}' for mode in modes if mode in MODES))

    @staticmethod
    def unsure(row):
        """Whether the rounds disagree on the sign."""
        return row.over_low is not None and row.over_low < 0 < row.over_high

    def tell_columns(self):
        text = """N: subscribers per tracepoint. All figures are medians over the rounds, per run. overhead: median
            against the median of off; range: lowest and highest of the rounds, each against off of the same round.
            events: how often a tracepoint fired (trace-all: events recorded); each calls N subscribers. """
        if self.by_instructions:
            text += """instr/event: instructions that the run takes more than off, for each event, with what the
                subscribers themselves do. """
        else:
            text += """ns/event: CPU time that the run takes more than off, for each event, with what the subscribers
                do."""
        if any(map(self.unsure, self.rows.values())):
            text += ' ~: the rounds do not agree on the sign, take it as noise.'
        self.tell('columns', text)
        if not self.have_native:
            self.tell('', 'n/a: perf cannot count it here.' if self.counters else 'perf cannot count cycles here.')
            return
        retpolined = self.retpolines == 'yes'
        self.tell('', f"""native ns: to dispatch one event to N subscribers that do nothing, measured natively on the
            CPU named above (user/bench, 64 sites, shortest): chain: direct calls; dynfunc, and kernel with one
            subscriber: a direct call; the others: an array of pointers{' through retpolines' if retpolined else ''}.
            = dispatch: computed, events x native ns: what the dispatch alone costs this run.""")
        if self.by_instructions:
            self.tell('why both', """A clock that counts instructions sees that a retpoline takes a few more of them,
                but not that its return is always mispredicted, which
                costs a real CPU more than all of them together.""")
        if retpolined and 'etpoline' not in self.native_meta.get('spectre_v2', ''):
            one, eight = (plain(self.native.get(('array-plain', n)), 2) for n in (1, 8))
            self.tell('NOTE', f"""The kernel of this machine itself runs without retpolines; there an array of
                pointers costs {one} to {eight} ns for 1 to 8 subscribers.""")

    # ---- chart.svg ----

    def chart(self):
        """The picture: what an event costs or, without native figures, what the runs cost; None of off alone."""
        events = [row for row in self.rows.values() if row.per_event is not None and row.native is not None]
        bars = events or [row for row in self.rows.values() if row is not self.base]
        if not bars:
            return None
        picture = Picture()
        (self.draw_events if events else self.draw_runs)(picture, bars)
        return picture.svg()

    def draw_events(self, picture, rows):
        """Two panels: what an event costs by this machine's clock, and on a real CPU."""
        picture.title(*self.finding(rows))
        emulated = f' (EMULATED CPU: {self.emulated_text()})' if self.about('emulated') == 'yes' else ''
        picture.small(f'left: kernel {self.about("kernel")}, {self.about("cpu")}{emulated}')
        picture.small(f'right: {self.native_meta.get("CPU", "")}, as a kernel does it whose spectre_v2 says: '
                      f'{self.about("spectre_v2").partition(";")[0]}')
        at, tics, end = place(rows, lambda row: str(row.calls))
        left = [Bar(at[row], row.per_event, row.mode, plain(row.per_event, 0)) for row in rows]
        right = [Bar(at[row], row.native, row.mode, plain(row.native, 1 if row.native < 9.95 else 0)) for row in rows]
        unit = 'instructions per event' if self.by_instructions else 'CPU time per event, ns'
        below = 'subscribers of the event'
        picture.panel(60, 485, left, tics, end, f"{unit}, with the subscribers' work", below)
        picture.panel(545, 980, right, tics, end, 'nanoseconds per event, dispatch alone, real CPU', below)
        picture.legend([(MODES[mode][1], mode) for mode in dict.fromkeys(row.mode for row in rows)])

    def finding(self, rows):
        """In one line, and what follows for the run: the longest chain, and the dearest other way to call as many."""
        chain = max((row for row in rows if row.mode == 'chain'), key=lambda row: row.calls, default=None)
        others = [row for row in rows if chain and row.mode != 'chain' and row.calls == chain.calls]
        if not others:
            return 'What it costs to call the subscribers of an event', self.about('load')
        other = max(others, key=lambda row: row.native)
        way = f'by {other.mode}' if self.native_shape(other) == 'direct' else 'by pointers'
        return (f'An event with {counted(chain.calls, "subscriber")}: {plain(chain.native, 1)} ns by direct calls, '
                f'{plain(other.native, 1)} ns {way}',
                f'For the {short(chain.fired)} such events of {self.about("load")}: {plain(chain.dispatch_ms, 2)} ms '
                f'against {plain(other.dispatch_ms, 2)} ms (computed)')

    def draw_runs(self, picture, rows):
        """What each row costs a run, and the range of off: what lies in it is noise."""
        base, noise = self.base, None
        if base:
            middle, seconds = base.seconds, base.values('seconds')
            noise = [100 * (x / middle - 1) for x in (min(seconds), max(seconds))]
        what = f'overhead of dispatch against off ({base.seconds:.3f} s)' if base else 'seconds'
        picture.title(f'{self.about("load")}: {what}')
        picture.small(f'{self.about("kernel")}, {self.about("cpu")}, {counted(self.about("cores"), "core")}, back end '
                      f'{self.about("backend")}, {counted(self.rounds, "round")}')
        picture.small(f'spectre_v2: {self.about("spectre_v2")}')
        emulated = self.about('emulated')
        picture.small(f'EMULATED CPU: {self.emulated_text()}' if emulated == 'yes' else
                      'It is not known whether this CPU is emulated' if emulated == 'unknown' else
                      self.without_text() if self.retpolines == 'no' else '', bold=True)

        def group(row):
            if row.mode == 'trace-all':
                return 'trace-cmd -e all'
            return '' if row.n == '-' else counted(row.n, 'subscriber')
        at, tics, end = place(rows, group)
        bars = []
        for row in rows:
            seconds = row.values('seconds')
            value, low, high = row.seconds, min(seconds), max(seconds)
            if base:
                value, low, high = (row.over if x is None else x for x in (row.over, row.over_low, row.over_high))
            bars.append(Bar(at[row], value, row.mode, signed(value) + '%' if base else f'{value:.3f}', low, high))
        # The kernel's own tracer with all events on would dwarf the rest.
        seen = [bar for bar in bars if bar.mode != 'trace-all' or len(bars) == 1]
        top = max([0, *(bar.high for bar in seen), *(noise or [])])
        bottom = min([0, *(bar.low for bar in seen), *(noise or [])])
        for bar in bars:
            bar.cut(top + (top - bottom) * 0.06)
        y_text = 'overhead, % (bar: medians; line: range of the rounds)' if base else \
            'seconds (bar: median; line: min to max)'
        picture.panel(70, 980, bars, tics, end, '', y_text=y_text, noise=noise)
        picture.legend([(mode, mode) for mode in dict.fromkeys(row.mode for row in rows)],
                       'range of off' if noise else '')


def colour(mode):
    return MODES.get(mode, MODES['off'])[2]


def place(rows, group):
    """Where each row's bar stands, what is written below the bars, and where the last one stands."""
    groups, at, tics, x = {}, {}, [], 0
    for row in rows:
        groups.setdefault(group(row), []).append(row)
    for name, members in groups.items():
        for row in members:
            x += 1
            at[row] = x
        tics += [(name, x - (len(members) - 1) / 2)] if name else [(row.mode, at[row]) for row in members]
        x += 0.8
    return at, tics, x - 0.8


class Bar:
    def __init__(self, x, value, mode, label, low=None, high=None):
        self.x, self.value, self.mode, self.label, self.low, self.high = x, value, mode, label, low, high

    def cut(self, limit):
        if self.value > limit:
            self.label += ' (cut)'
        self.value, self.high = min(self.value, limit), min(self.high, limit)
        self.low = min(self.low, self.high)


class Picture:
    """An SVG, 1000 pixels wide: title lines, one or two panels of bars, and a legend below."""
    height, top, bottom = 560, 150, 475

    def __init__(self):
        self.parts, self.y = [], 10

    def text(self, x, y, text, size=13, anchor='middle', more=''):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{more}>'
                          f'{escape(text)}</text>')

    def rect(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def line(self, x1, y1, x2, y2, colour):
        self.parts.append(f'<path d="M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}" stroke="{colour}"/>')

    def title(self, title, below=''):
        self.y += 20
        self.text(500, self.y, title, 17, more=' font-weight="bold"')
        self.small(below, 13)

    def small(self, text, size=11, bold=False):
        if text:
            self.y += size + 7
            self.text(500, self.y, text, size, more=' font-weight="bold"' if bold else '')

    def panel(self, left, right, bars, tics, end, title, x_text='', y_text='', noise=None):
        values = [0, *(noise or []), *(x for bar in bars for x in (bar.value, bar.low, bar.high) if x is not None)]
        low, high = min(values), max(values)
        low, high = low - (high - low) * (0.06 if low < 0 else 0), high + ((high - low) or 1) * 0.12
        pad = max(0, (6 - end) / 2)
        unit = (right - left) / (end + 0.6 + 2 * pad)

        def at_x(x):
            return left + (x - 0.2 + pad) * unit

        def at_y(value):
            return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)
        self.text((left + right) / 2, self.top - 12, title)
        self.text((left + right) / 2, self.bottom + 40, x_text)
        middle = (self.top + self.bottom) / 2
        self.text(20, middle, y_text, more=f' transform="rotate(-90 20 {middle})"')
        if noise:
            self.rect(left, at_y(noise[1]), right - left, at_y(noise[0]) - at_y(noise[1]), '#e8e8e8')
        step = 10 ** math.floor(math.log10((high - low) / 2))
        step *= next(k for k in (0.2, 0.5, 1, 2, 5) if (high - low) / (step * k) <= 8)
        for i in range(math.ceil(low / step), math.floor(high / step) + 1):
            self.line(left, at_y(i * step), right, at_y(i * step), '#dddddd' if i else '#000000')
            self.text(left - 6, at_y(i * step) + 4, f'{i * step:.6g}', 11, 'end')
        for bar in bars:
            x, y = at_x(bar.x), at_y(max(bar.value, 0))
            self.rect(x - 0.44 * unit, y, 0.88 * unit, at_y(min(bar.value, 0)) - y, colour(bar.mode))
            if bar.low is not None:
                self.line(x, at_y(bar.low), x, at_y(bar.high), '#333333')
                for edge in (bar.low, bar.high):
                    self.line(x - 5, at_y(edge), x + 5, at_y(edge), '#333333')
            self.text(x, at_y(max(bar.value, 0 if bar.high is None else bar.high)) - 6, bar.label, 11)
        for name, x in tics:
            self.text(at_x(x), self.bottom + 20, name)

    def legend(self, modes, noise=''):
        items = [(text, colour(mode)) for text, mode in modes] + ([(noise, '#e8e8e8')] if noise else [])
        widths = [50 + 7 * len(text) for text, _ in items]
        x = 500 - sum(widths) / 2
        for (text, fill), width in zip(items, widths):
            self.rect(x, self.height - 25, 22, 15, fill)
            self.text(x + 30, self.height - 13, text, 12, 'start')
            x += width

    def svg(self):
        return '\n'.join(['<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" '
                          f'viewBox="0 0 1000 {self.height}">',
                          f'<rect width="1000" height="{self.height}" fill="white"/>', *self.parts, '</svg>\n'])


def main():
    if len(sys.argv) != 2:
        fail('usage: hackbench-report.py FOLDER')
    results = Results(sys.argv[1])
    results.write_summary()
    for name, text in (('table.txt', results.table()), ('chart.svg', results.chart())):
        path = os.path.join(sys.argv[1], name)
        if text is None:
            if os.path.exists(path):
                os.remove(path)
            continue
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
    sys.stdout.write(results.table())
    return any(row.error for row in results.rows.values())


sys.exit(main())
