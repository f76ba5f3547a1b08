# SPDX-License-Identifier: Apache-2.0
"""Streams on ordinary days: cells in which they live longer than a unary call, or take its place."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import cells

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / 'tests/bench'))
import proxies

PYTHON = ROOT / 'build/interop/python/venv/bin/python'
CALLS = pathlib.Path(__file__).resolve().parent / 'stream_calls.py'
HOUR_MS = 3_600_000
OK = ('OK', 0, 1e9)


class Lane(NamedTuple):
    """Callers that make the same calls. With `seconds` of None each call stays open until all else is
    over, and is made again if it ends; with 0 each caller makes one."""
    method: str  # of stream_calls.py
    text: str
    callers: int
    delays_ms: tuple = ()
    seconds: float | None = 0
    every_ms: int = 0
    apart_ms: int = 0  # from the first call of one caller to that of the next
    wakes_ms: int = 0  # after this all callers' streams have a message at the same time
    known: bool = False  # a short call of the method is made before
    deadline_ms: int = 0
    open: bool = False  # A caller does not wait for the end of a call before it makes the next.
    slower: tuple = ()  # from one second to another its calls take so many times as long
    poll_seconds: float = 2


class Part(NamedTuple):
    """`held` are open while `calls` are made. Of the calls those count that begin `after` so many seconds."""
    calls: Lane
    held: Lane | None = None
    text: str = ''
    described: bool = False  # Levee has a descriptor set.
    after: float = 0
    slots: int = 0  # The service works on so many calls at a time; 0: on all.
    stop: tuple = ()  # The service stands still after so many seconds, for so many.
    ends: tuple = OK  # The code through Levee, and how many milliseconds it takes at least and at most.


class Cell(NamedTuple):
    name: str
    text: str
    values: dict  # of streams.yaml.in
    parts: tuple
    limiters: bool = False  # Others that limit how many calls a service works on take part.


def held(method, text, callers, *delays_ms, **more):
    return Lane(method, text, callers, delays_ms, None, 1000, 20, **more)


UNARY = Lane('unary', 'unary calls of 5 ms', 10, (5,), 10, 20, deadline_ms=2000)
TIMEOUT = {'DIRECTION': 'egress', 'POLICY': 'timeout: 1s'}
GUARD = {'DIRECTION': 'inbound', 'POLICY': 'guard: {}'}
QUIET = Lane('output', 'quiet for 3 s', 10, (3000, 0))

CELLS = (
    Cell('e14', 'Streams and a policy with a timeout of 1 s', TIMEOUT, (
        Part(Lane('output', 'a message every 200 ms for 5 s', 10, (200,) * 25)),
        Part(Lane('output', 'quiet for 4 s after the first message', 10, (0, 4000))),
        Part(Lane('chat', 'both sides, for 4.1 s', 10, (100, 2000, 2000))),
        Part(Lane('upload', 'an upload of 4 s', 10, (200,) * 20)),
        Part(QUIET._replace(known=True), text='of a method that is known'),
        Part(QUIET, text='with descriptors', described=True),
        Part(Lane('unary', 'a unary call of 3 s, which ends after 1 s', 10, (3000,)),
             ends=('DEADLINE_EXCEEDED', 900, 1500)),
        Part(Lane('unary', 'a unary call of 3 s, which ends after 1 s', 10, (3000,)),
             text='with descriptors', described=True, ends=('DEADLINE_EXCEEDED', 900, 1500)),
    )),
    Cell('w2', 'Quiet calls behind a guard, and unary calls beside them', GUARD, (
        Part(UNARY, held('output', '60 streams, quiet after a message', 60, 0, HOUR_MS)),
        Part(UNARY, held('output', '60 streams without a message', 60, HOUR_MS),
             text='with descriptors', described=True),
        Part(UNARY, held('poll', '10 polls of 2 s', 10)._replace(every_ms=100)),
    )),
    Cell('w2b', 'Busy streams behind a guard, and unary calls beside them', GUARD, (
        Part(UNARY, held('output', '60 streams of 20 messages/s', 60, *(50,) * 2000)),
        Part(UNARY, held('output', '300 streams that wake at once each second', 300, *(1000,) * 60,
                         wakes_ms=1000)._replace(apart_ms=5)),
    )),
)


def missing(helpers):
    """Returns what these cells want and is not there, or an empty text."""
    if not shutil.which('protoc'):
        return 'the cells with streams are left out: protoc is not installed'
    for each, source in ((PYTHON, 'make interop-deps fetches it'),
                         (pathlib.Path(helpers) / 'interop_server', 'its target of CMake builds it')):
        if not each.is_file():
            return f'the cells with streams are left out: there is no {each}; {source}'
    return ''


def config_text(cell, part, listen, address, descriptors):
    values = {**cell.values, 'LISTEN': listen, 'ENDPOINT': address,
              'DESCRIPTORS': f', descriptor_set: {descriptors}' if part.described else ''}
    return proxies.fill((ROOT / 'tests/weather/streams.yaml.in').read_text(encoding='utf-8'), values)


class Peer:
    """A service, or callers."""

    def __init__(self, command, prepare):
        self._child = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, preexec_fn=prepare)
        self.line = self._child.stdout.readline().strip()

    def ended(self):
        """Ends the callers, and returns their calls: (lane, when, milliseconds, code)."""
        for line in self._child.communicate()[0].splitlines():
            lane, at, took, code = line.split()
            yield int(lane), int(at) / 1e6, int(took) / 1000, code

    def stand_still(self, after, seconds):
        """Returns at once."""
        def run():
            time.sleep(after)
            for number in (signal.SIGSTOP, signal.SIGCONT):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._child.pid, number)
                time.sleep(seconds)

        threading.Thread(target=run, daemon=True).start()

    def end(self):
        self._child.kill()
        self._child.communicate()


def service(part, helpers, prepare):
    if part.slots:
        return Peer((PYTHON, '-B', CALLS, 'work', part.slots), prepare)
    if part.held and part.held.method == 'poll':
        return Peer((PYTHON, '-B', CALLS, 'serve', part.held.poll_seconds), prepare)
    return Peer((f'{helpers}/interop_server',), prepare)


def callers(address, lane, prepare):
    return Peer((PYTHON, '-B', CALLS, 'call', address, json.dumps([lane._asdict()])), prepare)


def is_good(part, through_levee, took, code):
    wanted, least, most = part.ends if through_levee else OK
    return code == wanted and least <= took <= most


def run_part(cell, part, way, proxy, helpers, prepare):
    """Returns the calls of the lanes, held ones first, as lists of cells.Ended. `proxy` starts one before an
    address, and returns it with its own address, or is None."""
    peers, before = [], None
    try:
        peers.append(service(part, helpers, prepare))
        address = peers[0].line.rpartition(' ')[2]
        if proxy:
            before, address = proxy(cell, part, address)
        if part.stop:
            peers[0].stand_still(*part.stop)
        lanes = [lane for lane in (part.held, part.calls) if lane]
        for lane in lanes:
            peers.append(callers(address, lane, prepare))
        # Those that are measured end by themselves, and the held ones after them.
        results = [list(peer.ended()) for peer in reversed(peers[1:])]
        return [judged(part, lane, way == 'Levee', calls)
                for lane, calls in zip(lanes, reversed(results))]
    finally:
        for peer in reversed(peers):
            peer.end()
        if before:
            before.stop()


def judged(part, lane, through_levee, calls):
    if lane is part.calls:
        begin = min((at for _, at, _, _ in calls), default=0)
        return [cells.Ended(at, is_good(part, through_levee, took, code), took)
                for _, at, took, code in calls if at >= begin + part.after]
    # A poll that the end met says nothing.
    good = ('OK',) if lane.method == 'poll' else ('OPEN',)
    return [cells.Ended(at, code in good, took) for _, at, took, code in calls
            if code != 'OPEN' or 'OPEN' in good]


def whole(calls):
    return cells.share(calls, float('-inf'), float('inf'))


def row(name, way, calls, direct):
    low, high = cells.difference(whole(calls), whole(direct))
    return (f'| {name} | {way} | {len(calls)} | {100 * whole(calls).value():.2f}% | {100 * low:+.2f} to '
            f'{100 * high:+.2f} | {cells.percentile(calls, 0.5):.1f} ms | '
            f'{cells.percentile(calls, 0.99):.1f} ms |')


def rows_of(part):
    """Returns a name for each list of calls."""
    notes = f', {part.text}' if part.text else ''
    if not part.held:
        return [part.calls.text + notes]
    return [part.held.text + notes, f'{part.calls.text} beside them']


def table(cell, results):
    """Markdown of {part's number: {way: lists of calls}}."""
    lines = [f'## {cell.name}', '', f'{cell.text}. What is held is good if it lived until the end.', '',
             '| | | calls | good | points above direct | p50 | p99 |', '|---|---|---:|---:|---:|---:|---:|']
    for number, part in enumerate(cell.parts):
        for at, name in enumerate(rows_of(part)):
            lines += [row(name, way, lists[at], results[number]['direct'][at])
                      for way, lists in results[number].items()]
    return '\n'.join(lines) + '\n'


def is_worse(results, bar):
    return any(cells.difference(whole(levee), whole(direct))[1] < bar
               for ways in results.values() for levee, direct in zip(ways['Levee'], ways['direct']))


def run(cell, rounds, proxies_of, helpers, prepare, tell):
    """Returns {part's number: {way: lists of calls}}; the ways, which have a proxy or None, take turns."""
    results = {}
    for number, part in enumerate(cell.parts):
        ways = results[number] = {way: [[] for _ in rows_of(part)] for way in proxies_of}
        for _ in range(rounds):
            for way, lists in ways.items():
                tell(f'{cell.name}: {rows_of(part)[0]}: {way}')
                for calls, more in zip(lists, run_part(cell, part, way, proxies_of[way], helpers, prepare)):
                    calls += more
    return results
