# SPDX-License-Identifier: Apache-2.0
"""The loads: how many calls of which kind are made, and what became of them.

h2load makes those of closed loops, in which a call begins when another one ends, or caller.py where
each call has a key of its own; bench_open_loop those that begin at a rate, whatever becomes of the
others.
"""

import math
import os
import pathlib
import re
import subprocess
import sys
import time
import uuid
from typing import NamedTuple

from processes import WATCHDOG_SECONDS, BenchError, find_program, on_cpu

PATH = '/bench.Echo/Unary'
CALLER = pathlib.Path(__file__).resolve().parent / 'caller.py'
RUN_SECONDS = 2 * WATCHDOG_SECONDS
MIN_CALLS = 100


class Load(NamedTuple):
    name: str
    connections: int
    streams: int  # On each connection at the same time.
    calls: int  # At scale 1, for a proxy whose share is 1.
    what: str
    payload: int = 100
    metadata: int = 0
    # The proxy, the service and the caller share one CPU: then a call's time does not depend on how
    # fast an idle CPU wakes up.
    one_cpu: bool = False
    # Calls a second over all connections, in an open loop; 0: a closed one.
    rate: int = 0
    keys: bool = False  # Each call has an idempotency key of its own.

    @property
    def timed(self):
        """Whether the time of each call counts."""
        return self.one_cpu or self.rate > 0


def open_loop(rate, connections):
    """About two seconds of calls at the lowest rate, one at the others."""
    plural = '' if connections == 1 else 's'
    return Load(f'{rate // 1000}k-{connections}', connections, 0, max(rate, 10_000),
                f'{rate:,} calls a second, at random times, over {connections} connection{plural}',
                rate=rate)


OPEN_LOOP = 'bench_open_loop'  # Among the helper programs.
RATES = (5_000, 20_000, 40_000)
LOADS = {load.name: load for load in (
    Load('4x32', 4, 32, 300_000, '4 connections with 32 calls at a time each'),
    Load('1x100', 1, 100, 300_000, 'one busy client'),
    Load('50x10', 50, 10, 300_000, 'many clients'),
    Load('64x1', 64, 1, 100_000, '64 clients, one call at a time each'),
    Load('headers', 4, 32, 150_000, '4x32 with 8 metadata headers a call', metadata=8),
    Load('1MiB', 1, 4, 400, 'requests and responses of 1 MiB', payload=1 << 20),
    Load('1x1', 1, 1, 20_000, 'single calls, one after the other, everything on one CPU',
         one_cpu=True),
    *(open_loop(rate, connections) for rate in RATES for connections in (1, 4, 50)),
)}


# Those of calls with keys, which only Levee knows.
KEYED = {load.name: load for load in (
    Load('4x32', 4, 32, 60_000, '4 connections with 32 calls at a time each', keys=True),
    Load('64x1', 64, 1, 30_000, '64 clients, one call at a time each', keys=True),
    Load('1x1', 1, 1, 5_000, 'single calls, one after the other', keys=True),
)}


class Answer(NamedTuple):
    """The measurements of h2load. `error` is empty when every call was answered in full."""
    error: str
    rate: float = 0.0
    times_us: tuple = ()


def write_payloads(scratch):
    """Writes each load's request: one gRPC message of bytes that do not compress."""
    for size in {load.payload for load in LOADS.values()}:
        message = b'\0' + size.to_bytes(4, 'big') + os.urandom(size)
        _payload(scratch, size).write_bytes(message)


def _payload(scratch, size):
    return pathlib.Path(scratch) / f'payload-{size}'


def call_count(load, scale, share):
    return max(MIN_CALLS, int(load.calls * scale * share))


def headers(load):
    fields = ['te: trailers', 'content-type: application/grpc']
    # Values as unlike as trace ids are, so that neither side finds them in its header table twice.
    fields += [f'x-metadata-{i}: 7f3a9c51-{i}b2e-4d77-9a10-c0ffee12345{i}'
               for i in range(load.metadata)]
    return [word for field in fields for word in ('-H', field)]


def run(load, port, calls, cpu, scratch, helpers=None):
    """Makes `calls` calls through `port` and returns an Answer. `helpers` is the folder with the
    program for open loops."""
    if load.rate:
        return run_open_loop(load, port, calls, cpu, scratch, helpers)
    if load.keys:
        return run_keyed(load, port, calls, cpu, scratch)
    log = pathlib.Path(scratch) / 'calls.log'
    log.unlink(missing_ok=True)  # h2load appends.
    command = [find_program('h2load'), '-n', str(calls), '-c', str(load.connections),
               '-m', str(load.streams), '-d', str(_payload(scratch, load.payload)), *headers(load)]
    if load.one_cpu:
        command += ['--log-file', str(log)]
    command.append(f'http://127.0.0.1:{port}{PATH}')
    done = finished(command, cpu)
    if done is None:
        return Answer(f'did not end in {RUN_SECONDS} s')
    answer = parse(done.stdout, calls, load.payload + 5)
    if not load.one_cpu or answer.error:
        return answer
    return answer._replace(times_us=parse_times(log.read_text(encoding='utf-8')))


def finished(command, cpu):
    """Returns the ended program, or None when it had to be killed."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS,
                              preexec_fn=on_cpu(cpu), check=False)
    except subprocess.TimeoutExpired:
        return None


def run_keyed(load, port, calls, cpu, scratch):
    targets = pathlib.Path(scratch) / 'targets'
    targets.write_text(f'127.0.0.1 {PATH}\n', encoding='utf-8')
    command = [sys.executable, '-B', CALLER, str(port), str(load.connections), str(load.streams),
               str(calls), str(targets), str(uuid.uuid4())]
    begin = time.monotonic()
    done = finished(command, cpu)
    if done is None:
        return Answer(f'did not end in {RUN_SECONDS} s')
    if done.returncode != 0:
        return Answer(done.stderr.strip() or f'{CALLER.name} ended with {done.returncode}')
    return Answer('', calls / (time.monotonic() - begin))


def run_open_loop(load, port, calls, cpu, scratch, helpers):
    error, times = times_by_port(load, [port], calls, cpu, scratch, helpers)
    return Answer(error) if error else Answer('', float(load.rate), times[0])


def times_by_port(load, ports, calls, cpu, scratch, helpers):
    """Makes `calls` calls through each port, in turn. Returns an error, which is empty when every call
    was answered in full, and the microseconds of each port's calls."""
    command = [f'{helpers}/{OPEN_LOOP}', ','.join(map(str, ports)), str(load.connections), str(calls),
               str(load.rate), str(_payload(scratch, load.payload))]
    done = finished(command, cpu)
    if done is None:
        return f'did not end in {RUN_SECONDS} s', []
    if done.returncode != 0:
        return done.stderr.strip() or f'{OPEN_LOOP} ended with {done.returncode}', []
    return '', list(zip(*(map(int, line.split()) for line in done.stdout.splitlines())))


def parse(output, calls, message_bytes):
    """Reads h2load's summary.

    h2load counts a call as a success by its HTTP status alone, which is 200 for failed gRPC calls
    too. But those carry no message: so the number of body bytes tells whether the service answered
    every call.
    """
    done = re.search(r'(\d+) succeeded', output)
    data = re.search(r'\((\d+)\) data', output)
    rate = re.search(r'([\d.]+) req/s', output)
    if not (done and data and rate):
        return Answer(f'h2load said: {output[-300:].strip() or "nothing"}')
    if int(done[1]) != calls:
        return Answer(f'only {done[1]} of {calls} calls succeeded')
    if int(data[1]) != calls * message_bytes:
        return Answer(f'{data[1]} bytes of messages came back instead of {calls * message_bytes}')
    return Answer('', float(rate[1]))


def parse_times(log):
    """Reads the time of each call from h2load's log: when it began, its status, how long it took,
    separated by tabs, in microseconds."""
    return tuple(int(line.split('\t')[2]) for line in log.splitlines())


def percentile(values, share):
    """Returns the smallest value that at least `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def check_trailers(port, cpu, scratch):
    """Makes one call and insists on the service's grpc-status, which h2load does not look at."""
    command = [find_program('nghttp'), '--verbose', '--no-dep', '--null-out',
               f'--timeout={WATCHDOG_SECONDS}',
               '-d', str(_payload(scratch, 100)), *headers(LOADS['4x32']),
               f'http://127.0.0.1:{port}{PATH}']
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS,
                              preexec_fn=on_cpu(cpu), check=False)
    except subprocess.TimeoutExpired as error:
        raise BenchError(f'port {port} did not answer a call in {RUN_SECONDS} s') from error
    if not re.search(r'grpc-status: 0\b', done.stdout):
        raise BenchError(f'a call to port {port} did not end with grpc-status 0:\n'
                         f'{done.stdout[-2000:]}{done.stderr[-500:]}')
