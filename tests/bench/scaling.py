# SPDX-License-Identifier: Apache-2.0
"""Measures what one build of Levee costs as its configuration, its connections and its calls grow.

Of each case two variants run at the same time and are measured in turn, round after round.
"""

import contextlib
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import caller
import loads
import measure
import proxies
import variants
from processes import BenchError, cpu_nanoseconds, cpus, memory_mib, on_cpu
from report import Bar, cell, markdown, number

CALLER = pathlib.Path(caller.__file__).resolve()
IDLE_CONNECTIONS = 10_000
SPARE_FILES = 200  # Descriptors that caller and proxy have open besides those connections.
MEMORY_CALLS = 1_000_000
MEMORY_SHARES = (0.1, 0.5, 1.0)
CALLS_PER_RUN = 1_000_000
RUN_SECONDS = 120
RELAY_CALLS = 20_000
WORKER_LOADS = ('4x32', '50x10')

FLAT_BAR = 1.10
WORKERS_BAR = 1.10
IDLE_KIB_BAR = 32.0
# A leak of one byte a call is more than this in a million calls.
MEMORY_BAR = 1.05


class Growth(NamedTuple):
    """CPU per call in microseconds: `values` has {round: figure} by count."""
    what: str
    load: str
    limit: float | None  # Of the ratio; None: not judged.
    values: dict


class Scaling(NamedTuple):
    growths: list
    idle_kib: float
    memory: list  # (calls, MiB)


def raise_file_limit(wanted):
    """For this process and those it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise BenchError(f'{wanted} open files are needed, and the limit (ulimit -Hn) is {hard}')
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextlib.contextmanager
def this_process_on(cpu):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Measurement:
    """The echo service and one build of Levee, running as often as a case needs it."""

    def __init__(self, binary, helpers, scratch, rounds, scale):
        raise_file_limit(IDLE_CONNECTIONS + SPARE_FILES)
        self._binary = binary
        self._helpers = helpers
        self._scratch = pathlib.Path(scratch)
        self._rounds = rounds
        self._scale = scale
        self._proxy_cpu, self._load_cpu = cpus()
        loads.write_payloads(scratch)
        self._echo = measure.Echo(helpers, self._load_cpu, scratch)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._echo.process.stop()

    def all(self, memory_calls):
        """Returns a Scaling."""
        growths = [self._case(case) for case in variants.cases()]
        growths += [self._workers(loads.LOADS[load]) for load in WORKER_LOADS]
        try:
            return Scaling([*growths, self._relay()], self._idle(), self._memory(memory_calls))
        except OSError as error:  # Of the calls that this process makes itself.
            raise BenchError(f'a connection failed: {error}') from error

    def _start(self, made, name, workers=1):
        template = self._scratch / f'{name}.yaml.in'
        template.write_text(json.dumps(made), encoding='utf-8')
        proxy = proxies.levee(f'levee-{name}', self._binary, template, workers)
        return proxies.RunningProxy(proxy, self._echo.port, self._proxy_cpu, self._scratch)

    def _in_turn(self, what, load, limit, running, run):
        """Returns a Growth: run(count, proxy) makes calls and returns how many."""
        values = {count: {} for count in running}
        try:
            for count, proxy in running.items():
                run(count, proxy)  # Fills caches, pools and connections.
            for turn in range(self._rounds):
                for count in measure.rotated(list(running), turn):
                    pids = running[count].process.tree()
                    before = cpu_nanoseconds(pids)
                    calls = run(count, running[count])
                    running[count].process.insist_it_runs()
                    cpu_us = (cpu_nanoseconds(pids) - before) / calls / 1000
                    values[count][turn] = cpu_us
                    tell(f'round {turn + 1} of {self._rounds}: {load:6} {count} {what}: '
                         f'{cpu_us:.2f} us of CPU a call')
        finally:
            for proxy in running.values():
                proxy.process.stop()
        return Growth(what, load, limit, values)

    def _case(self, case):
        """Returns the Growth of one Case."""
        running = {}
        cpu = self._proxy_cpu if case.load == variants.SINGLE else self._load_cpu
        self._echo.process.move_to(cpu)
        # Each target is called at least once.
        calls = max(int(case.calls * self._scale), variants.MANY)
        for variant in case.variants:
            running[variant.count] = self._start(variant.config, f'variant-{variant.count}')
        targets = {variant.count: variant.targets for variant in case.variants}
        for variant in case.variants:
            if variant.before:
                self._call(running[variant.count], 1, 1, len(variant.before), variant.before, cpu)
        return self._in_turn(
            case.what, '{}x{}'.format(*case.load), FLAT_BAR if case.judged else None, running,
            lambda count, proxy: self._call(proxy, *case.load, calls, targets[count], cpu))

    def _relay(self):
        """Returns the Growth of a relay, which knows nothing of its connections: what the system
        alone takes for using many sockets in turn."""
        self._echo.process.move_to(self._proxy_cpu)
        calls = max(int(RELAY_CALLS * self._scale), variants.MANY)
        block = caller.head(variants.authority(0), loads.PATH)
        running, connections = {}, {}
        for count in (1, variants.MANY):
            relay = proxies.peers(self._helpers)['relay']._replace(name=f'relay-{count}')
            running[count] = proxies.RunningProxy(relay, self._echo.port, self._proxy_cpu,
                                                  self._scratch)
            connections[count] = [caller.Connection(running[count].port) for _ in range(count)]

        def run(count, _):
            for i in range(calls):
                connections[count][i % count].call_and_wait(block)
            return calls

        try:
            with this_process_on(self._proxy_cpu):
                return self._in_turn('connections of the bare relay, each in turn', '1x1', None,
                                     running, run)
        finally:
            close(connections[1] + connections[variants.MANY])

    def _call(self, proxy, connections, streams, calls, targets, cpu):
        """Lets caller.py make the calls and returns their number."""
        listed = self._scratch / 'targets'
        lines = '\n'.join(f'{authority} {path}' for authority, path in targets)
        listed.write_text(proxies.fill(lines, {'ECHO': self._echo.port}), encoding='utf-8')
        numbers = [str(word) for word in (proxy.port, connections, streams, calls)]
        command = [sys.executable, '-B', str(CALLER), *numbers, str(listed)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS,
                              preexec_fn=on_cpu(cpu), check=False)
        if done.returncode != 0:
            raise BenchError(f'{proxy.proxy.name}: {done.stderr[-500:].strip()}')
        return calls

    def _h2load(self, load, proxy, calls):
        answer = loads.run(load, proxy.port, calls, self._load_cpu, self._scratch)
        if answer.error:
            raise BenchError(f'{proxy.proxy.name}, {load.name}: {answer.error}')
        return calls

    def _workers(self, load):
        self._echo.process.move_to(self._load_cpu)
        calls = loads.call_count(load, self._scale, 1)
        running = {count: self._start(variants.config(), f'workers-{count}', count)
                   for count in (1, 2)}
        return self._in_turn('workers', load.name, WORKERS_BAR, running,
                             lambda _, proxy: self._h2load(load, proxy, calls))

    def _idle(self):
        """Returns the KiB of memory that an idle connection takes after its first call."""
        proxy = self._start(variants.config(), 'idle')
        connections = []
        try:
            measure.warm_up(proxy, self._load_cpu, self._scratch)
            time.sleep(proxies.SETTLE_SECONDS)
            before = memory_mib(proxy.process.tree(), 'VmRSS')
            block = caller.head(variants.authority(0), loads.PATH)
            for _ in range(IDLE_CONNECTIONS):
                connections.append(caller.Connection(proxy.port))
                connections[-1].call_and_wait(block)
            time.sleep(proxies.SETTLE_SECONDS)
            after = memory_mib(proxy.process.tree(), 'VmRSS')
        finally:
            close(connections)
            proxy.process.stop()
        kib = (after - before) * 1024 / IDLE_CONNECTIONS
        tell(f'{kib:.1f} KiB for each of {IDLE_CONNECTIONS} idle connections')
        return kib

    def _memory(self, total):
        """Returns [(calls so far, RSS in MiB)]."""
        proxy = self._start(variants.config(), 'memory')
        found, made = [], 0
        try:
            for share in MEMORY_SHARES:
                while made < int(share * total):
                    made += self._h2load(loads.LOADS['4x32'], proxy,
                                         min(CALLS_PER_RUN, int(share * total) - made))
                time.sleep(proxies.SETTLE_SECONDS)
                found.append((made, memory_mib(proxy.process.tree(), 'VmRSS')))
                tell(f'{found[-1][1]:.1f} MiB after {made} calls')
        finally:
            proxy.process.stop()
        return found


def close(connections):
    for connection in connections:
        connection.socket.close()


def tell(text):
    print(text, file=sys.stderr)


def growth_ratio(growth):
    """Returns the ratio of the last variant's median to the first one's."""
    first, *_, last = [statistics.median(values.values()) for values in growth.values.values()]
    return last / first


def growth_bar(levee, growth):
    first, *_, last = growth.values
    return Bar(levee, f'CPU at {growth.load}, {last} to {first} {growth.what}', growth.limit,
               growth_ratio(growth))


def bars(scaling, levee):
    """Returns the bars of the build `levee`."""
    (fewest, first), *_, (most, last) = scaling.memory
    return [*(growth_bar(levee, growth) for growth in scaling.growths if growth.limit),
            Bar(levee, f'RSS per idle connection of {IDLE_CONNECTIONS:,}, KiB', IDLE_KIB_BAR,
                scaling.idle_kib),
            Bar(levee, f'RSS after {most:,} calls, ratio to {fewest:,}', MEMORY_BAR, last / first)]


def tables(scaling):
    rows = []
    for growth in scaling.growths:
        base = next(iter(growth.values.values()))
        rows += [[growth.what, growth.load, f'{count:,}', cell(values, base)]
                 for count, values in growth.values.items()]
    memory = ', '.join(f'{mib:.1f} MiB after {calls:,}' for calls, mib in scaling.memory)
    return '\n\n'.join([
        markdown(['what', 'load', 'count', 'CPU per call, us'], rows, text_columns=2),
        f'- {IDLE_CONNECTIONS:,} idle connections, one finished call each: '
        f'{number(scaling.idle_kib)} KiB of RSS each\n- RSS of the calls 4x32: {memory}'])
