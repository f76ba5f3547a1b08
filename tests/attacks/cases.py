# SPDX-License-Identifier: Apache-2.0
"""The attacks of attacks.cc, and the figures of an honest caller beside them."""

import math
import pathlib
import statistics
import sys
from typing import NamedTuple

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'bench'))
from loads import percentile
from report import Bar, bar_table, markdown, number

NONE = 'none'
# What the sidecar promises, and of which figure: the ratio to the same without the attack.
LIMIT = 2.0


class Case(NamedTuple):
    name: str
    text: str
    judged: str = ''  # the figure of Levee's that has a limit
    secured: bool = False  # it goes to the port with mTLS


CASES = {case.name: case for case in (
    Case(NONE, 'no attack'),
    Case('references', '500 connections a second, each with a header block of 12,000 bytes that '
         'refer to a field of 4 KiB (HPACK)', 'p99'),
    Case('uploads', 'uploads to a service that reads no bodies, 200 of 48 KB a second where flow '
         'control lets them'),
    Case('half-blocks', '200 connections a second, up to 1000, each with 32 KB of a header block '
         'that does not end'),
    Case('shut-windows', '500 calls a second, up to 1000, for 100 MB each, with windows of 0 bytes'),
    Case('unread', 'the same with windows of 2 GiB, and nothing is read'),
    Case('tiny-data', '100,000 DATA frames of one byte a second', 'p50'),
    Case('resets', '20,000 calls a second that are reset at once (rapid reset)'),
    Case('continuations', '1000 CONTINUATION frames of 8 KB a second, without an end'),
    Case('pings', '200,000 PINGs a second, whose answers are not read'),
    Case('settings', '200,000 SETTINGS a second'),
    Case('connections', '500 connections a second, up to 1500, that say nothing'),
    Case('handshakes', '1000 handshakes of mTLS a second', 'p99', secured=True),
)}


class Calls(NamedTuple):
    """What an honest caller had of its calls; times in milliseconds, whether they failed or not."""
    count: int
    good: float  # share
    p50: float
    p99: float
    max: float


class Run(NamedTuple):
    """One attack on one victim. `error` is empty unless the victim ended."""
    victim: str
    attack: str
    round: int
    calls: Calls
    cpu: float  # Share of one CPU.
    memory_mib: float  # At its highest.
    connections: int  # The attacker's.
    sent_mib: float  # Of the attacker's bytes: those that were taken.
    error: str = ''


def parse_calls(lines):
    """Reads what storm_client prints: when a call began, whether it was good, how long it took."""
    ended = [line.split() for line in lines]
    if not ended:
        return Calls(0, 0.0, math.nan, math.nan, math.nan)
    times = [int(took) / 1000 for _, _, took in ended]
    good = sum(good == '1' for _, good, _ in ended)
    return Calls(len(ended), good / len(ended), statistics.median(times), percentile(times, 0.99),
                 max(times))


def of(runs, victim, attack):
    """Returns {round: run}."""
    return {run.round: run for run in runs if (run.victim, run.attack) == (victim, attack)}


def ratio(runs, victim, attack, figure):
    """Returns the median over the rounds of the ratio to the same round without an attack; None
    without such rounds."""
    without = of(runs, victim, NONE)
    ratios = [getattr(run.calls, figure) / getattr(without[number].calls, figure)
              for number, run in of(runs, victim, attack).items() if number in without]
    return statistics.median(ratios) if ratios else None


def spread(values):
    """Formats as `median (lowest-highest)`."""
    return (f'{number(statistics.median(values))} '
            f'({number(min(values))}-{number(max(values))})')


def row(runs, victim, attack):
    found = list(of(runs, victim, attack).values())

    def figure(name):
        text = spread([getattr(run.calls, name) for run in found])
        times = ratio(runs, victim, attack, name)
        return text if attack == NONE or times is None else f'{text} [{times:.2f}]'

    cells = [victim, f'{min(run.calls.good for run in found):.1%}', figure('p50'), figure('p99'),
             number(max(run.calls.max for run in found)),
             f'{statistics.median(run.cpu for run in found):.0%}',
             f'{max(run.memory_mib for run in found):.1f}',
             str(round(statistics.median(run.connections for run in found))),
             number(statistics.median(run.sent_mib for run in found))]
    ends = [run for run in found if run.error]
    if ends:
        cells[0] += f' (ended in {len(ends)} of {len(found)} rounds)'
    return cells


HEADER = ['victim', 'good calls', 'p50, ms', 'p99, ms', 'max, ms', 'CPU', 'RSS max, MiB',
          'connections', 'sent, MiB']


def tables(runs):
    """Returns the section of each attack."""
    attacks = list(dict.fromkeys(run.attack for run in runs))
    victims = list(dict.fromkeys(run.victim for run in runs))
    parts = []
    for attack in attacks:
        rows = [row(runs, victim, attack) for victim in victims if of(runs, victim, attack)]
        text = CASES[attack].text
        parts.append(f'## {text[0].upper()}{text[1:]}\n\n' + markdown(HEADER, rows))
    return '\n\n'.join(parts)


def bars(runs, victim):
    return [Bar(victim, f'{case.judged} beside {case.name}, ratio to that without an attack', LIMIT,
                ratio(runs, victim, case.name, case.judged))
            for case in CASES.values() if case.judged]


__all__ = ['CASES', 'Calls', 'NONE', 'Run', 'bar_table', 'bars', 'parse_calls', 'tables']
