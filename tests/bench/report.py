# SPDX-License-Identifier: Apache-2.0
"""Turns runs into tables and says which bars are met."""

import statistics
from typing import NamedTuple

from loads import LOADS

# The bars for Levee, as ratios of the medians over the rounds.
BASE = 'nghttpx'
CPU_BARS = {'4x32': 0.38, '1x100': 0.60, '50x10': 0.60, '64x1': 0.80, 'headers': 0.40,
            '1MiB': 0.75, '1x1': 0.80}
RELAY = 'relay'
RELAY_CPU_BARS = {'4x32': 2.0, '1x100': 3.0, '64x1': 1.0, '1x1': 1.3}
# The other side, which limits the calls of a service, beside the one that retries.
GUARD, GUARDED = 'guard', 'levee'
GUARD_CPU_BARS = {'4x32': 1.10, '64x1': 1.10, '1x1': 1.10}
ADDED_TIME_BAR = 1.3  # Ratio to what the relay adds to a call without proxy.
HIGHEST_BAR = 1.0  # Ratio to whichever proxy costs least.
IDLE_MIB_BAR = 6.0

TLS_LOADS = ('4x32', '64x1', '1MiB')
CLEAR = 'clear'  # Levee in clear text, beside itself with TLS.
TLS_ADDED_BARS = {'4x32': 1.5, '64x1': 4.0}  # Microseconds of CPU that TLS adds to a call.
TLS_MIB_BAR = 2 * 1.048576 * 1000  # Microseconds a call of 2 MiB of records, at 1 GB/s.

DIRECT = 'direct'  # Calls that go through no proxy.
TIMES = ('p50_us', 'p99_us')
RATE_TIMES = {'p50_us': 'p50', 'p99_us': 'p99', 'p999_us': 'p99.9'}
RATE_BAR = 20_000  # Calls a second at which no peer may add less to p99.


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
    """Returns the ratio of the medians over the rounds, or None. The proxies take turns within a
    round, so a disturbance that lasts longer moves both medians."""
    if not values or not base:
        return None
    return statistics.median(values.values()) / statistics.median(base.values())


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
            row += times(result, name, base)
        peak = max((run.memory_mib for run in result.runs if run.proxy == name), default=0)
        rows.append([*row, f'{idle:.1f}', f'{max(idle, peak):.1f}'])
    if with_times:
        rows.append([DIRECT, *times(result, DIRECT, base), '-', '-'])
    return markdown(header, rows)


def times(result, name, base):
    return [cell(figures(result.runs, name, '1x1', figure),
                 figures(result.runs, base, '1x1', figure)) for figure in TIMES]


def added_times(result, name, load, figure):
    """Returns {round: how much longer calls took than without a proxy, in microseconds}."""
    without = figures(result.runs, DIRECT, load, figure)
    return {number: value - without[number]
            for number, value in figures(result.runs, name, load, figure).items()
            if number in without}


def rate_table(result, loads, figure, base):
    rows = [[name] + [cell(added_times(result, name, load, figure),
                           added_times(result, base, load, figure)) for load in loads]
            for name in result.idle_mib]
    return markdown([f'{RATE_TIMES[figure]} added', *loads], rows)


def bars(result, names, loads):
    """Returns those bars of each of `names`, the builds of Levee, that `loads` decide."""
    found = []
    peers = peers_of(result, names)
    for name in names:
        if name == GUARD:
            found += cpu_bars(result, name, GUARDED, GUARD_CPU_BARS, loads)
            continue
        for base, limits in ((BASE, CPU_BARS), (RELAY, RELAY_CPU_BARS)):
            found += cpu_bars(result, name, base, limits, loads)
        found.append(highest_ratio(result, name, peers, closed_loops(loads)))
        found += rate_bars(result, name, peers, loads)
        if '1x1' in loads:
            found += [Bar(name, f'{figure.removesuffix("_us")} added to single calls, ratio to '
                          f'{RELAY}', ADDED_TIME_BAR, added_ratio(result, name, figure))
                      for figure in TIMES]
        found.append(Bar(name, 'RSS idle, MiB', IDLE_MIB_BAR, result.idle_mib.get(name)))
    return found


def cpu_bars(result, name, base, limits, loads):
    return [Bar(name, f'CPU at {load}, ratio to {base}', limit, cpu_ratio(result, name, base, load))
            for load, limit in limits.items() if load in loads]


def cpu_ratio(result, name, base, load):
    return ratio(figures(result.runs, name, load, 'cpu_us'),
                 figures(result.runs, base, load, 'cpu_us'))


def closed_loops(loads):
    return [load for load in loads if not LOADS[load].rate]


def open_loops(loads):
    return [load for load in loads if LOADS[load].rate]


def peers_of(result, levees):
    """The relay knows no calls: it is no peer."""
    return [peer for peer in result.idle_mib if peer != RELAY and peer not in levees]


def highest_ratio(result, name, peers, loads):
    """Judges the load and the peer that come nearest."""
    return highest(name, 'CPU, highest ratio to any peer at any load',
                   {(peer, load): cpu_ratio(result, name, peer, load)
                    for peer in peers for load in loads})


def rate_bars(result, name, peers, loads):
    loads = [load for load in open_loops(loads) if LOADS[load].rate == RATE_BAR]
    if not loads:
        return []
    def added(proxy, load):
        return added_times(result, proxy, load, 'p99_us')
    return [highest(name, f'p99 added at {RATE_BAR:,} calls/s, highest ratio to any peer',
                    {(peer, load): ratio(added(name, load), added(peer, load))
                     for peer in peers for load in loads})]


def highest(name, what, ratios):
    """Returns the bar for the highest of the ratios, whose keys are (peer, load)."""
    if not ratios or None in ratios.values():
        return Bar(name, what, HIGHEST_BAR, None)
    peer, load = max(ratios, key=lambda key: (ratios[key], key))
    return Bar(name, f'{what}: {peer} at {load}', HIGHEST_BAR, ratios[peer, load])


def added_ratio(result, name, figure):
    """Returns how many times as much time as the relay `name` adds to a call, or None."""
    def median(proxy):
        return statistics.median(figures(result.runs, proxy, '1x1', figure).values())
    try:
        without = median(DIRECT)
        return (median(name) - without) / (median(RELAY) - without)
    except (statistics.StatisticsError, ZeroDivisionError):
        return None


def tls_bars(result, name):
    """Returns the bars of TLS to the service."""
    def added(load):
        with_tls, clear = (figures(result.runs, proxy, load, 'cpu_us') for proxy in (name, CLEAR))
        if not with_tls or not clear:
            return None
        return statistics.median(with_tls.values()) - statistics.median(clear.values())
    found = [Bar(name, f'CPU that TLS adds at {load}, us', limit, added(load))
             for load, limit in TLS_ADDED_BARS.items()]
    whole = figures(result.runs, name, '1MiB', 'cpu_us')
    found.append(Bar(name, 'CPU at 1MiB with TLS, us (1 GB/s of records)', TLS_MIB_BAR,
                     statistics.median(whole.values()) if whole else None))
    peers = [peer for peer in result.idle_mib if peer not in (name, CLEAR)]
    ratios = {(peer, load): cpu_ratio(result, name, peer, load)
              for peer in peers for load in TLS_LOADS}
    return [*found, highest(name, 'CPU with TLS, highest ratio to any peer', ratios)]


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
