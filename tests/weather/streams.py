# SPDX-License-Identifier: Apache-2.0
"""Streams on ordinary days: cells in which they live longer than a unary call, or take its place."""

import concurrent.futures
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
from processes import free_port

PYTHON = ROOT / 'build/interop/python/venv/bin/python'
GO = ROOT / 'build/interop/go/bin/weather'
CALLS = pathlib.Path(__file__).resolve().parent / 'stream_calls.py'
HOUR_MS = 3_600_000
OK = ('OK', 0, 1e9)
LATE_SECONDS = 4


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
    # What follows has grpc-go alone.
    spread: str = ''  # exponential; or bimodal: one call of twenty takes the second of its delays
    tries: int = 0  # So many tries of a caller's first call fail, and of each `tries_every`th after it.
    tries_every: int = 0
    hang: bool = False  # They are not answered.
    faults: tuple = ()  # From one second to another all calls fail, of each of these pairs.
    apart: bool = False  # They do not fail, but have rows of their own all the same.
    head: int = 0  # Bytes of a header of the answer.
    trailer: int = 0
    pool: int = 0  # All lanes of a process have so many threads; a call waits until it has one.
    wait: bool = False  # gRPC waits for a connection.
    endpoints: int = 0  # There are so many, and each has a row.

    def rows(self):
        """Returns a name for each of the rows that its calls have in the table."""
        if self.tries:
            return [self.text, 'the calls between']
        if self.endpoints:
            return [f'{self.text}, at endpoint {number}' for number in range(self.endpoints)]
        if not self.faults:
            return [self.text]
        word = '' if self.apart else 'fault, '
        return [f'{self.text}: {word}second {begin:g} to {end:g}' for begin, end in self.faults] + [
            'the calls between']

    def is_plain(self):
        """Whether gRPC for Python makes such calls, too."""
        return self._replace(**{name: Lane._field_defaults[name] for name in GO_ONLY}) == self


GO_ONLY = ('spread', 'tries', 'tries_every', 'hang', 'faults', 'apart', 'head', 'trailer', 'pool', 'wait',
           'endpoints')


class Part(NamedTuple):
    """`held` are open while `calls` are made. Of the calls those count that begin `after` so many seconds."""
    calls: Lane
    held: Lane | None = None
    text: str = ''
    described: bool = False  # Levee has a descriptor set.
    after: float = 0
    slots: int = 0  # The service works on so many calls at a time; 0: on all.
    stop: tuple = ()  # The service stands still after so many seconds, for so many.
    less: float = 0.001  # The share of calls that Levee may lose more than directly.
    ends: tuple = OK  # The code through Levee, and how many milliseconds it takes at least and at most.
    alike: bool = False  # The others' calls are to end so, too.
    beside: Lane | None = None  # Measured, too; it has a service of its own, and a proxy.
    together: bool = False  # All lanes have the same channels.
    sidecars: int = 1  # The callers share them.
    attempts: int = 0  # of the proxies; 0: as they have it
    attempt_ms: int = 0  # after which they give up an attempt
    policy: str = ''  # more of Levee's
    upstream: str = ''  # more of Levee's
    refused: float = 0  # The share of the streams that the service refuses.
    service: str = ''  # none: nothing listens there; unknown: a name; late: after 4 s; gone: for 4 s

    def lanes(self):
        return [lane for lane in (self.held, self.calls, self.beside) if lane]

    def is_plain(self):
        return all(lane.is_plain() for lane in self.lanes()) and self == self._replace(
            together=False, sidecars=1, refused=0, service='')


class Cell(NamedTuple):
    name: str
    text: str
    values: dict  # of streams.yaml.in
    parts: tuple
    limiters: bool = False  # Others that limit how many calls a service works on take part.
    retries: bool = False  # Others that retry take part.
    quiet: bool = False  # So few calls that all parts and ways run at the same time.


def held(method, text, callers, *delays_ms, **more):
    return Lane(method, text, callers, delays_ms, None, 1000, 20, **more)


UNARY = Lane('unary', 'unary calls of 5 ms', 10, (5,), 10, 20, deadline_ms=2000)
TIMEOUT = {'DIRECTION': 'egress', 'POLICY': 'timeout: 1s'}
GUARD = {'DIRECTION': 'inbound', 'POLICY': 'guard: {}'}
EGRESS = {'DIRECTION': 'egress', 'POLICY': ''}
QUIET = Lane('output', 'quiet for 3 s', 10, (3000, 0))

ENDPOINTS = Lane('unary', 'calls of 1 ms', 50, (1,), 20, 1000, apart_ms=20, deadline_ms=2000, open=True,
                 endpoints=2)


def busy_endpoint(text, polls, seconds, **more):
    poll = held('poll', text, polls)._replace(every_ms=0, poll_seconds=seconds)
    return Part(ENDPOINTS._replace(**more), poll)


CELLS = (
    Cell('e5c', 'Calls that only take long, at one of two endpoints', EGRESS, (
        busy_endpoint('one poll of 30 s, beside 50 calls/s', 1, 30),
        busy_endpoint('one poll of 30 s, beside 1000 calls/s', 1, 30, callers=250, every_ms=250, apart_ms=1),
        busy_endpoint('10 polls of 5 s, beside 50 calls/s', 10, 5),
    ), retries=True),
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
        Part(UNARY, held('output', '1000 streams that wake at once each second', 1000, *(1000,) * 60,
                         wakes_ms=1000)._replace(apart_ms=2, known=True)),
    )),
)


def missing(helpers):
    """Returns what these cells want and is not there, or an empty text."""
    if not shutil.which('protoc'):
        return 'the cells with streams are left out: protoc is not installed'
    for each, source in ((PYTHON, 'make interop-deps fetches it'),
                         (pathlib.Path(helpers) / 'interop_server', 'its target of CMake builds it')):
        if not GO.is_file() and not each.is_file():
            return f'the cells with streams are left out: there is no {each}; {source}'
    return ''


def config_text(cell, part, listen, address, descriptors):
    more = f', descriptor_set: {descriptors}' if part.described else ''
    return proxies.fill((ROOT / 'tests/weather/streams.yaml.in').read_text(encoding='utf-8'), {
        'DIRECTION': cell.values['DIRECTION'], 'LISTEN': listen, 'ENDPOINT': address.replace('+', '", "'),
        'POLICY': cell.values['POLICY'] or policy(part), 'UPSTREAM': more + part.upstream})


def policy(part):
    retry = [f'max_attempts: {part.attempts}'] * bool(part.attempts)
    if part.attempt_ms:
        retry.append(f'attempt_timeout: {part.attempt_ms}ms, failures: [refused, connect, timeout]')
    return ', '.join([f'retry: {{{", ".join(retry)}}}'] * bool(retry) + [part.policy] * bool(part.policy))


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


def service(part, helpers, prepare, port='0', number=0):
    poll = part.held and part.held.method == 'poll'
    if part.refused:
        command = GO, 'refuse', part.refused
    elif GO.is_file():
        command = GO, 'serve', part.held.poll_seconds if poll else 0, part.slots, port, number
    elif part.slots:
        command = PYTHON, '-B', CALLS, 'work', part.slots
    elif poll:
        command = PYTHON, '-B', CALLS, 'serve', part.held.poll_seconds
    else:
        command = f'{helpers}/interop_server',
    return Peer(command, prepare)


def callers(address, lanes, config, prepare):
    text = json.dumps([lane._asdict() for lane in lanes])
    program, more = ((GO,), (config,)) if GO.is_file() else ((PYTHON, '-B', CALLS), ())
    return Peer((*program, 'call', address, text, *more), prepare)


def is_good(part, as_part, took, code):
    wanted, least, most = part.ends if as_part else OK
    return code == wanted and least <= took <= most


class Bed(contextlib.ExitStack):
    """What is started for one part and way; all of it ends with the block."""

    def __init__(self, helpers, prepare):
        super().__init__()
        self._helpers, self._prepare = helpers, prepare
        self.begins = []  # What is to be called when the callers have begun.

    def keep(self, peer):
        self.callback(peer.end)
        return peer

    def service(self, part, **more):
        return self.keep(service(part, self._helpers, self._prepare, **more))

    def later(self, seconds, act):
        """The thread lives as long as the block: what it starts would end with it."""
        over = threading.Event()

        def run():
            if not over.wait(seconds):
                act()
                over.wait()

        thread = threading.Thread(target=run)
        thread.start()
        self.callback(thread.join)
        self.callback(over.set)

    def address(self, part):
        """Returns where the part's service is or will be; of several endpoints with plus signs between."""
        if part.calls.endpoints:
            return '+'.join(self.service(part, number=number).line.rpartition(' ')[2]
                            for number in range(part.calls.endpoints))
        if part.service == 'unknown':
            return 'dns:nobody.invalid:50051'
        if part.service in ('none', 'late'):
            port = free_port()
            if part.service == 'late':
                self.later(LATE_SECONDS, lambda: self.service(part, port=port))
            return f'127.0.0.1:{port}'
        started = self.service(part)
        if part.service == 'gone':
            self.begins.append(lambda: self.later(LATE_SECONDS, started.end))
        if part.stop:
            self.begins.append(lambda: started.stand_still(*part.stop))
        return started.line.rpartition(' ')[2]

    def through(self, proxy, cell, part, address):
        """Returns the addresses of a proxy for each sidecar."""
        addresses = [address] * part.sidecars
        if proxy:
            started = [proxy(cell, part, address) for _ in addresses]
            for process, _ in started:
                self.callback(process.stop)
            addresses = [each for _, each in started]
        return ','.join(addresses)


def parts_of(cell):
    """Returns those for which there are peers."""
    return [part for part in cell.parts if GO.is_file() or part.is_plain()]


def run_part(cell, part, way, how, helpers, prepare):
    """Returns the calls of each row, as lists of cells.Ended. `how` is what starts a proxy before an
    address, and returns it with its own address, or None; and gRPC's service config."""
    proxy, config = how
    lanes = part.lanes()
    groups = [lanes] if part.together or part.beside else [[lane] for lane in lanes]
    with Bed(helpers, prepare) as bed:
        parts = [part] + [part._replace(service='')] * bool(part.beside)
        address = ';'.join(bed.through(proxy, cell, each, bed.address(each)) for each in parts)
        peers = [bed.keep(callers(address, group, config, prepare)) for group in groups]
        for begin in bed.begins:
            begin()
        # Those that are measured end by themselves, and the held ones after them.
        ended = [list(peer.ended()) for peer in reversed(peers)]
    return [judged(part, lane, row - first, way == 'Levee', [call for call in calls if call[0] == row])
            for group, calls in zip(groups, reversed(ended)) for lane, first in starts(group)
            for row in range(first, first + len(lane.rows()))]


def starts(lanes):
    """Yields each lane and the number of its first row."""
    first = 0
    for lane in lanes:
        yield lane, first
        first += len(lane.rows())


def judged(part, lane, row, through_levee, calls):
    if lane is part.held:
        # A call that the end met says nothing where all others end by themselves.
        good = ('OPEN',) if lane.method not in ('poll', 'unary') else ('OK',)
        return [cells.Ended(at, code in good, took) for _, at, took, code in calls
                if code != 'OPEN' or 'OPEN' in good]
    begin = min((at for _, at, _, _ in calls), default=0)
    as_part = (through_levee or part.alike) and lane is part.calls and row == 0
    return [cells.Ended(at, is_good(part, as_part, took, code), took)
            for _, at, took, code in calls if at >= begin + part.after]


def whole(calls):
    return cells.share(calls, float('-inf'), float('inf'))


def row(name, way, calls, direct):
    low, high = cells.difference(whole(calls), whole(direct))
    p50, p99 = (f'{cells.percentile(calls, part):.1f} ms' for part in (0.5, 0.99))
    bad = [call.took_ms for call in calls if not call.good]
    return (f'| {name} | {way} | {len(calls)} | {100 * whole(calls).value():.2f}% | {100 * low:+.2f} to '
            f'{100 * high:+.2f} | {p50} | {p99} | {f"{max(bad):.0f} ms" if bad else ""} |')


def rows_of(part):
    """Returns a name for each list of calls."""
    notes = f', {part.text}' if part.text else ''
    held = [part.held.text] if part.held else []
    calls = [f'{name} beside them' if held else name for name in part.calls.rows()]
    first, *others = held + calls + (part.beside.rows() if part.beside else [])
    return [first + notes, *others]


def table(cell, results):
    """Markdown of {part's number: {way: lists of calls}}."""
    lines = [f'## {cell.name}', '', f'{cell.text}. What is held is good if it lived until the end.', '',
             '| | | calls | good | points above direct | p50 | p99 | longest bad |',
             '|---|---|---:|---:|---:|---:|---:|---:|']
    for number, part in enumerate(parts_of(cell)):
        for at, name in enumerate(rows_of(part)):
            lines += [row(name, way, lists[at], results[number]['direct'][at])
                      for way, lists in results[number].items()]
    return '\n'.join(lines) + '\n'


def is_worse(cell, results):
    """Whether more calls of a part are surely lost through Levee than may be."""
    return any(cells.difference(whole(levee), whole(direct))[1] < -part.less
               for part, ways in zip(parts_of(cell), results.values())
               for levee, direct in zip(ways['Levee'], ways['direct']))


def run(cell, rounds, ways, helpers, prepare, tell):
    """Returns {part's number: {way: lists of calls}}; `ways` has what run_part takes. They take turns, or
    all run at the same time where there are few calls."""
    parts = parts_of(cell)
    if len(parts) < len(cell.parts):
        tell(f'{cell.name}: some calls are left out: there is no {GO}; make interop-deps builds it')
    results = {number: {way: [[] for _ in rows_of(part)] for way in ways} for number, part in enumerate(parts)}
    turns = [(number, way) for number in results for _ in range(rounds) for way in ways]

    def one(turn):
        number, way = turn
        tell(f'{cell.name}: {rows_of(parts[number])[0]}: {way}')
        return run_part(cell, parts[number], way, ways[way], helpers, prepare)

    with concurrent.futures.ThreadPoolExecutor(max(1, len(turns) * cell.quiet)) as pool:
        for (number, way), lists in zip(turns, pool.map(one, turns)):
            for calls, more in zip(results[number][way], lists):
                calls += more
    return results
