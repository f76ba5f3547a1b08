#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the same storms before Levee and before others that retry, and compares what comes of them.

Real gRPC at both ends. The results go to standard output as Markdown, progress to standard error.
Everything stays on 127.0.0.1 and is bounded in count and time. It takes about fifteen minutes.
"""

import argparse
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import cases
from contenders import ROOT, contenders

sys.path.append(str(ROOT / 'tests/bench'))
from processes import BenchError, Process, cpus, free_port, on_cpu

# From the moment at which all know when the storm's time begins to its beginning.
LEAD_SECONDS = 0.7


class Service:
    def __init__(self, case, helpers):
        _, cpu = cpus()
        self._child = subprocess.Popen(
            [f'{helpers}/storm_service', *case.service()], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, preexec_fn=on_cpu(cpu))
        self.port = int(self._child.stdout.readline().rpartition(':')[2])

    def begin(self, start):
        self._child.stdin.write(f'{start}\n')
        self._child.stdin.close()

    def arrived(self):
        """The number of calls that arrived in each tenth of a second."""
        return [int(line) for line in self._child.stdout]

    def stop(self):
        self._child.kill()
        self._child.wait()


def start_proxies(contender, case, service, scratch):
    started = []
    cpu, _ = cpus()
    try:
        for number in range(case.sidecars):
            port = free_port()
            config = pathlib.Path(scratch) / f'{number}.yaml'
            contender.write_config(config, port, service.port, case.timeouts)
            command = [word.replace('@CONFIG@', str(config)) for word in contender.command]
            proxy = Process(f'{contender.name}-{number}', command, cpu, scratch)
            started.append((proxy, port))
        for proxy, port in started:
            proxy.wait_until_ready(port)
    except BaseException:
        stop(started)
        raise
    return started


def stop(started):
    for proxy, _ in started:
        proxy.stop()


def start_clients(contender, case, ports, start, seed, helpers):
    """Returns a process for each port."""
    _, cpu = cpus()
    # Without a proxy there is nobody who could give up an attempt and make another one.
    deadline = case.deadline_ms if contender.is_proxy or not case.timeouts else case.attempt_ms
    options = ['--per-second', str(case.per_second / len(ports)), '--deadline-ms', str(deadline),
               '--seconds', str(case.seconds()), '--start', str(start)]
    if contender.service_config:
        options += ['--service-config', contender.service_config]
    return [subprocess.Popen([f'{helpers}/storm_client', '--address', f'127.0.0.1:{port}',
                              '--seed', str(100 * seed + number), *options],
                             stdout=subprocess.PIPE, text=True, preexec_fn=on_cpu(cpu))
            for number, port in enumerate(ports)]


def run(contender, case, seed, helpers):
    """Returns the cases.Record of one storm."""
    service, proxies, clients = Service(case, helpers), [], []
    with tempfile.TemporaryDirectory(prefix='levee-storms-') as scratch:
        try:
            ports = case.sidecars * [service.port]
            if contender.is_proxy:
                proxies = start_proxies(contender, case, service, scratch)
                ports = [port for _, port in proxies]
            start = time.monotonic_ns() + int(LEAD_SECONDS * 1e9)
            service.begin(start)
            clients = start_clients(contender, case, ports, start, seed, helpers)
            record = cases.Record(service.arrived(), [])
            for client in clients:
                for line in client.communicate()[0].splitlines():
                    begun, good, _ = line.split()
                    record.calls.append((int(begun), good == '1'))
            return record
        finally:
            for client in clients:
                client.kill()
                client.wait()
            stop(proxies)
            service.stop()


def parse_arguments(words):
    parser = argparse.ArgumentParser(prog='tests/storms/run', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [case.name for case in cases.CASES]
    parser.add_argument('--levee', type=pathlib.Path, default=ROOT / 'build/levee')
    parser.add_argument('--rounds', type=int, choices=range(1, 11), default=1,
                        help='the tables show the median; default 1')
    parser.add_argument('--cases', nargs='+', choices=names, default=names, metavar='CASE',
                        help=f'of {", ".join(names)}; default all')
    parser.add_argument('--helpers', type=pathlib.Path, default=ROOT / 'build/tests',
                        help='where storm_service and storm_client are')
    return parser.parse_args(words)


def table(case, results):
    """Markdown of {contender: [figures of each round]}."""
    rows = [f'## {case.title}', '', case.text, '',
            '| | ' + ' | '.join(figure.title for figure in case.figures) + ' |',
            '|---|' + '---:|' * len(case.figures)]
    for name, rounds in results.items():
        cells = [figure.show(statistics.median(values))
                 for figure, values in zip(case.figures, zip(*rounds))]
        rows.append(f'| {name} | ' + ' | '.join(cells) + ' |')
    return '\n'.join(rows) + '\n'


def main(words):
    args = parse_arguments(words)
    found, missing = contenders(args.levee)
    for line in missing:
        print(f'storms: {line}', file=sys.stderr)
    print(f'# Storms\n\n{time.strftime("%Y-%m-%d")}, {platform.platform()}, {len(set(cpus()))} '
          f'CPUs, {args.rounds} rounds, the median.\n')
    for case in (each for each in cases.CASES if each.name in args.cases):
        results = {}
        for number in range(args.rounds):
            for contender in found:
                record = run(contender, case, number, args.helpers)
                figures = [figure.of(record, case) for figure in case.figures]
                results.setdefault(contender.name, []).append(figures)
                shown = ', '.join(figure.show(value)
                                  for figure, value in zip(case.figures, figures))
                print(f'storms: {case.name}: {contender.name}: {shown}', file=sys.stderr)
        print(table(case, results), flush=True)
    return 0


if __name__ == '__main__':
    # Ends through the `finally` paths, so that nothing started here stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except BenchError as reason:
        sys.exit(f'storms: {reason}')
