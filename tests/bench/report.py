"""Turns runs into tables and says which bars are met."""

import statistics
from typing import NamedTuple

# What Levee has to reach, as a ratio to the peer that costs least.
BASE = 'nghttpx'
CPU_BARS = {'4x32': 0.80, '1x100': 0.80, '50x10': 0.80, '64x1': 1.0, '1x1': 1.0}
TIME_BARS = {'p50_us': 1.0, 'p99_us': 1.0}
IDLE_MIB_BAR = 15.0


class Bar(NamedTuple):
    proxy: str
    what: str
    limit: float
    value: float | None  # None: not measured.

    def verdict(self):
        if self.value is None:
            return 'not measured'
        return 'met' if self.value <= self.limit else 'missed'


def figures(runs, proxy, load, figure):
    """Returns {round: value} of the runs that count."""
    return {run.round: getattr(run, figure) for run in runs
            if (run.proxy, run.load) == (proxy, load) and not run.error
            and getattr(run, figure) is not None}


def ratio(values, base):
    """Returns the median over the rounds of value / base, or None. Within a round the two were
    measured seconds apart, so a disturbance that lasts longer cancels out."""
    ratios = [value / base[number] for number, value in values.items() if base.get(number)]
    return statistics.median(ratios) if ratios else None


def number(value):
    """Formats with about three significant digits."""
    if abs(value) >= 100:
        return f'{value:.0f}'
    return f'{value:.1f}' if abs(value) >= 10 else f'{value:.2f}'


def cell(values, base):
    """Formats {round: value} as `median (min-max) [ratio]`."""
    if not values:
        return 'failed'
    every = list(values.values())
    text = f'{number(statistics.median(every))} ({number(min(every))}-{number(max(every))})'
    of_base = ratio(values, base)
    return text if of_base is None else f'{text} [{of_base:.2f}]'


def markdown(header, rows, text_columns=1):
    """Formats a table; its first columns are text, the others figures."""
    rule = ['---' if column < text_columns else '---:' for column in range(len(header))]
    lines = [header, rule, *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


def cpu_table(result, loads, base):
    names = list(result.idle_mib)
    rows = [[name] + [cell(figures(result.runs, name, load, 'cpu_us'),
                           figures(result.runs, base, load, 'cpu_us')) for load in loads]
            for name in names]
    return markdown(['proxy', *loads], rows)


def time_and_memory_table(result, with_times, base):
    header = ['proxy', 'RSS idle, MiB', 'RSS max, MiB']
    if with_times:
        header[1:1] = ['single call p50, us', 'p99, us']
    rows = []
    for name, idle in result.idle_mib.items():
        row = [name]
        if with_times:
            row += [cell(figures(result.runs, name, '1x1', figure),
                         figures(result.runs, base, '1x1', figure)) for figure in TIME_BARS]
        peak = max((run.memory_mib for run in result.runs if run.proxy == name), default=0)
        rows.append([*row, f'{idle:.1f}', f'{max(idle, peak):.1f}'])
    return markdown(header, rows)


def bars(result, names, loads):
    """Returns those bars of each of `names`, the builds of Levee, that `loads` decide."""
    found = []

    def add(name, what, limit, load, figure):
        if load in loads:
            value = ratio(figures(result.runs, name, load, figure),
                          figures(result.runs, BASE, load, figure))
            found.append(Bar(name, f'{what}, ratio to {BASE}', limit, value))

    for name in names:
        for load, limit in CPU_BARS.items():
            add(name, f'CPU at {load}', limit, load, 'cpu_us')
        for figure, limit in TIME_BARS.items():
            what = f'{figure.removesuffix("_us")} of single calls'
            add(name, what, limit, '1x1', figure)
        found.append(Bar(name, 'RSS idle, MiB', IDLE_MIB_BAR, result.idle_mib.get(name)))
    return found


def bar_table(found):
    rows = [[bar.proxy, bar.what, f'{bar.limit:.2f}',
             '-' if bar.value is None else f'{bar.value:.2f}', bar.verdict()] for bar in found]
    return markdown(['build', 'bar', 'at most', 'measured', 'verdict'], rows, text_columns=2)


def spread(runs):
    """Returns the median over all cells of (max - min) / median of the CPU figures, or None: how
    much a figure moves from round to round."""
    spreads = []
    for proxy, load in {(run.proxy, run.load) for run in runs}:
        values = list(figures(runs, proxy, load, 'cpu_us').values())
        if len(values) > 1:
            spreads.append((max(values) - min(values)) / statistics.median(values))
    return statistics.median(spreads) if spreads else None
