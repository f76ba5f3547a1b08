# SPDX-License-Identifier: Apache-2.0
"""Runs every load through every proxy, in turn, round after round."""

import pathlib
import statistics
import subprocess
import sys
from typing import NamedTuple

import loads
import report
from processes import (BenchError, Process, cpu_nanoseconds, cpus, find_program, free_port,
                       memory_mib)
from proxies import Proxy, RunningProxy, program

WARM_UP_CALLS = 3000


class Run(NamedTuple):
    """One load through one proxy. `error` is empty when every call succeeded; no other run counts.
    """
    proxy: str
    load: str
    round: int
    calls: int
    error: str
    cpu_us: float = 0.0  # Per call.
    rate: float = 0.0  # Calls per second; depends on the machine's mood far more than cpu_us.
    memory_mib: float = 0.0  # The highest so far.
    p50_us: float | None = None
    p99_us: float | None = None
    p999_us: float | None = None


class Result(NamedTuple):
    runs: list
    idle_mib: dict  # By proxy.


class Direct:
    """The echo service in a proxy's place: what a call takes without any."""

    proxy = Proxy(report.DIRECT, ())

    def __init__(self, echo):
        self.port = echo.port
        self.process = echo.process


class Echo:
    """The running service, in clear text or with TLS, for which `certificates` are the files.
    `process` is to be stopped by the owner."""

    def __init__(self, helpers, cpu, scratch, certificates=()):
        self.port = free_port()
        command = (f'{helpers}/bench_echo', str(self.port), *certificates)
        program(Proxy('echo', command))
        self.process = Process('echo', command, cpu, scratch)
        try:
            self.process.wait_until_ready(self.port)
        except BaseException:
            self.process.stop()
            raise


class Bench:
    """The echo services and the proxies, all running until the `with` block ends."""

    def __init__(self, proxies, helpers, scratch):
        self._scratch = scratch
        self._helpers = helpers
        self._proxy_cpu, self._load_cpu = cpus()
        self._running = []
        self._echoes = {}  # By whether they speak TLS.
        self._start(proxies, helpers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def _start(self, proxies, helpers):
        loads.write_payloads(self._scratch)
        try:
            for tls in sorted({False, *(proxy.tls for proxy in proxies)}):
                certificates = (make_certificate(self._scratch),) if tls else ()
                self._echoes[tls] = Echo(helpers, self._load_cpu, self._scratch, certificates)
            for proxy in proxies:
                running = RunningProxy(proxy, self._echoes[proxy.tls].port, self._proxy_cpu,
                                       self._scratch)
                self._running.append(running)
                print(f'{proxy.name} runs, {running.idle_mib:.1f} MiB', file=sys.stderr)
                warm_up(running, self._load_cpu, self._scratch)
        except BaseException:
            self._stop()
            raise

    def _stop(self):
        for running in self._running:
            running.process.stop()
        for echo in self._echoes.values():
            echo.process.stop()

    def measure(self, chosen_loads, rounds, scale):
        """Returns a Result. Who comes first changes from round to round, and no proxy waits long
        for its turn: a disturbance of the machine disturbs all of them."""
        runs = []
        for number in range(rounds):
            for load in chosen_loads:
                direct = [Direct(self._echoes[False])] if load.timed else []
                for running in rotated(self._running + direct, number):
                    run = self._measure_one(running, load, number, scale)
                    print(f'round {number + 1} of {rounds}: {describe(run)}', file=sys.stderr)
                    runs.append(run)
        return Result(runs, {r.proxy.name: r.idle_mib for r in self._running})

    def _measure_one(self, running, load, number, scale):
        calls = loads.call_count(load, scale, running.proxy.share)
        run = Run(running.proxy.name, load.name, number, calls, '')
        load_cpu = self._proxy_cpu if load.one_cpu else self._load_cpu
        for echo in self._echoes.values():
            echo.process.move_to(load_cpu)
        pids = running.process.tree()
        before = cpu_nanoseconds(pids)
        answer = loads.run(load, running.port, calls, load_cpu, self._scratch, self._helpers)
        after = cpu_nanoseconds(pids)
        if answer.error:
            # The end of a proxy explains more than the errors of its caller.
            return run._replace(error=running.process.end() or answer.error)
        if before is None or after is None or running.process.tree() != pids:
            return run._replace(error='its processes changed during the run')
        run = run._replace(cpu_us=(after - before) / calls / 1000, rate=answer.rate,
                           memory_mib=memory_mib(pids, 'VmHWM'))
        if answer.times_us:
            run = run._replace(p50_us=statistics.median(answer.times_us),
                               p99_us=loads.percentile(answer.times_us, 0.99),
                               p999_us=loads.percentile(answer.times_us, 0.999))
        return run


def make_certificate(scratch):
    """Makes service.crt, and service.pem with its key as well. Returns the latter's path."""
    folder = pathlib.Path(scratch)
    certificate, key = folder / 'service.crt', folder / 'service.key'
    subprocess.run([find_program('openssl'), 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=localhost',
                    '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
                   check=True, capture_output=True)
    both = folder / 'service.pem'
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    certificate.chmod(0o644)
    return str(both)


def warm_up(running, cpu, scratch):
    """One call that is looked at, then enough for caches, pools and connections."""
    try:
        loads.check_trailers(running.port, cpu, scratch)
        answer = loads.run(loads.LOADS['4x32'], running.port, WARM_UP_CALLS, cpu, scratch)
    except BenchError as error:
        raise BenchError(f'{running.proxy.name}: {error}') from error
    if answer.error:
        raise BenchError(f'{running.proxy.name}: {answer.error}\n{running.process.output()}')


def rotated(items, by):
    by %= len(items)
    return items[by:] + items[:by]


def describe(run):
    start = f'{run.load:8} {run.proxy:10}'
    if run.error:
        return f'{start} FAILED: {run.error}'
    times = '' if run.p50_us is None else f', p50 {run.p50_us:.0f} us, p99 {run.p99_us:.0f} us'
    return (f'{start} {run.cpu_us:8.2f} us of CPU a call, {run.rate:8.0f} calls/s, '
            f'{run.memory_mib:5.1f} MiB{times}')
