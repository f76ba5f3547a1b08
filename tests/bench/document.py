# SPDX-License-Identifier: Apache-2.0
"""Writes the results down, with what one has to know to judge them."""

import datetime
import os
import pathlib
import platform
import re

import report
import scaling
from loads import LOADS

INTRO = '''# What a call costs

Written by `tests/bench/run --write`. Every proxy ran with one worker on one CPU, in clear text on
127.0.0.1, in front of the same echo service; caller and service had another CPU. The proxies took
turns, load by load and round by round. A run counts only if every call was answered in full.

The figure to trust is the CPU time of the proxy's processes, user and system, per call: it does
not depend on what else the machine does as the calls per second would. Ratios hold on other
machines, absolute figures do not.'''

CPU_NOTE = '''## CPU per call, in microseconds

Median over the rounds (lowest-highest) [ratio of the medians to {base}].'''

MEMORY_NOTE = '''## Single calls and memory

Times as the caller sees them, the service's own work included. RSS is summed over the processes of
a proxy: idle before its first call, max at its highest over all loads. `direct` is the service
without any proxy.'''

RATE_NOTE = '''## Time added at a fixed rate, in microseconds

How much longer calls took than without a proxy, in the same round. They begin at random times,
whatever becomes of those before, and their times count from when they were due: a proxy that is late
makes later calls late, too. Median over the rounds (lowest-highest) [ratio of the medians to {base}].'''

TLS_NOTE = '''## CPU per call with TLS to the service, in microseconds

TLS 1.3 with AES-GCM and a certificate that each proxy verifies; callers speak clear text. `{clear}` is
Levee without TLS, in the same run. Median over the rounds (lowest-highest) [ratio of the medians to
`{clear}`].'''

SCALING_NOTE = '''## Scaling

Levee alone, by how many of something it has; of each kind, both counts were measured in turn. Median
over the rounds (lowest-highest) [ratio of the medians]. Both workers had the one CPU. Endpoints and
destinations have a connection each: calls at the same time to many of them cannot share writes as
those to one do (4x32). Single calls (1x1, everything on one CPU) never share any, but those to many
find less of the memory of their sockets in a cache, as those through the bare relay do.'''

BARS_NOTE = '''## Bars

What Levee has to reach; retries, their budget and the metrics are on.'''


def machine():
    """Returns {what: fact} about the computer."""
    release = _fields('/etc/os-release', '=')
    cpu = _fields('/proc/cpuinfo', ':')
    virtual = ', virtual machine' if 'hypervisor' in cpu.get('flags', '').split() else ''
    return {
        'CPU': f'{cpu.get("model name", platform.machine())}, {os.cpu_count()} CPUs{virtual}',
        'System': f'{release.get("PRETTY_NAME", "unknown")}, Linux {short(platform.release())}',
    }


def _fields(path, separator):
    """Reads lines of `name separator value`; of equal names the first counts."""
    try:
        text = pathlib.Path(path).read_text(encoding='utf-8')
    except OSError:
        return {}
    found = {}
    for line in text.splitlines():
        name, divider, value = line.partition(separator)
        if divider:
            found.setdefault(name.strip(), value.strip().strip('"'))
    return found


def short(release):
    """Cuts a kernel's release to its version: 6.1.0-13-amd64 -> 6.1.0."""
    return re.match(r'[\d.]*\d|', release)[0] or release


def facts(versions, rounds, scale, runs):
    """Returns {what: fact} about the measurement."""
    found = {'Date': datetime.date.today().isoformat(), **machine(),
             'Versions': '; '.join(f'{name}: {version}' for name, version in versions.items()),
             'Rounds': f'{rounds}, calls per run x {scale:g}'}
    spread = report.spread(runs)
    if spread is not None:
        found['Spread'] = (f'{spread:.1%} between the lowest and the highest round, '
                           'in the median cell')
    failed = sum(1 for run in runs if run.error)
    if failed:
        found['Failed'] = f'{failed} of {len(runs)} runs, left out'
    return found


def meaning(loads):
    return '\n'.join(f'- {name}: {LOADS[name].what}' for name in loads)


def render(result, about, loads, base, bars, growth, with_tls=None):
    """Returns the whole document. `about` is from facts(), ratios are to the proxy `base`; `growth`
    is a scaling.Scaling or None, `with_tls` the result with TLS to the service."""
    parts = [INTRO, '\n'.join(f'- {key}: {fact}' for key, fact in about.items())]
    closed, fixed = report.closed_loops(loads), report.open_loops(loads)
    if closed:
        parts += [CPU_NOTE.format(base=base), report.cpu_table(result, closed, base), meaning(closed)]
    if fixed:
        tables = [report.rate_table(result, fixed, figure, base) for figure in report.RATE_TIMES]
        parts += [RATE_NOTE.format(base=base), *tables, meaning(fixed)]
    if loads:
        parts += [MEMORY_NOTE, report.time_and_memory_table(result, '1x1' in loads, base)]
    if with_tls and with_tls.runs:
        parts += [TLS_NOTE.format(clear=report.CLEAR),
                  report.cpu_table(with_tls, report.TLS_LOADS, report.CLEAR)]
    if growth:
        parts += [SCALING_NOTE, scaling.tables(growth)]
    if bars:
        parts += [BARS_NOTE, report.bar_table(bars)]
    return '\n\n'.join(parts) + '\n'
