#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the same calls on ordinary days directly, with gRPC's own retries, through Envoy and Levee.

Real gRPC at both ends; the ways take turns. For each cell a table goes to standard output as
Markdown, progress to standard error. Ends with 1 if Levee is surely worse than a direct connection:
if the whole 95% interval of the difference is below -0.1 points. Everything stays on 127.0.0.1 and is
bounded in count and time. The cells with streams (e14, w2, w2b), with a service that comes late (e7)
and with restarts (w10, w11) are directly and through Levee alone. In those with a guard (w1 to w9) Envoy
has its adaptive concurrency. Streams, guards, e1, e2, e3-twice, e4 and e7 to e16 have grpc-go at both
ends, where it could be had. A round of all cells takes about three hours.
"""

import argparse
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time

import cells
import guards
import newcomers
import restarts
import retrying
import streams

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / 'tests/bench'), str(ROOT / 'tests/interop'), str(ROOT / 'tests/storms')]
import contenders
import descriptors
import proxies
from processes import BenchError, Process, cpus, free_port, on_cpu

LEAD_SECONDS = 0.7
BAR = -0.001
STREAMS = streams.CELLS + guards.CELLS + retrying.CELLS + newcomers.CELLS
ROUND_ROBIN = {'loadBalancingConfig': [{'round_robin': {}}]}
RETRIES = {**contenders.RETRY_POLICY, 'maxAttempts': 4}


class Instance:
    """One storm_service."""

    def __init__(self, cell, bad, helpers):
        failing = cell.failing if bad and not cell.stops else 0
        self._child = subprocess.Popen(
            [f'{helpers}/storm_service', '--failing', str(failing), '--calm', str(cell.calm),
             '--fault', str(cell.fault), '--after', str(cell.after)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, preexec_fn=on_cpu(cpus()[1]))
        self.port = int(self._child.stdout.readline().rpartition(':')[2])

    def begin(self, start):
        self._child.stdin.write(f'{start}\n')
        self._child.stdin.close()

    def signal(self, number):
        os.kill(self._child.pid, number)

    def end(self):
        self._child.kill()
        self._child.wait()
        self._child.stdout.close()


def ways(levee):
    """Returns {name: (gRPC's retry policy or None, contender or None)}, and what is missing."""
    found = {'direct': (None, None), "gRPC's retries": (RETRIES, None)}
    missing = []
    program = proxies.find_envoy()
    if program:
        found['Envoy'] = (None, contenders.envoy('Envoy', program))
    else:
        missing.append(proxies.NO_ENVOY)
    found['Levee'] = (None, contenders.levee('Levee', levee)._replace(
        template=ROOT / 'tests/weather/levee.yaml.in'))
    return found, missing


def config_text(contender, listen, ports):
    """The contender's configuration, with an endpoint for each port."""
    text = contender.template.read_text(encoding='utf-8')
    # Envoy's template has a line for its one endpoint.
    one = next((line for line in text.splitlines(True) if '@ECHO@' in line), '')
    if one:
        text = text.replace(one, ''.join(one.replace('@ECHO@', str(port)) for port in ports))
    endpoints = ', '.join(f'"127.0.0.1:{port}"' for port in ports)
    return proxies.fill(text, {**contender.values, 'LISTEN': listen, 'ENDPOINTS': endpoints})


def client(cell, retries, ports, start, seed, helpers):
    method = {'name': [{}], **({'retryPolicy': retries} if retries else {})}
    config = json.dumps({**ROUND_ROBIN, 'methodConfig': [method]})
    address = 'ipv4:' + ','.join(f'127.0.0.1:{port}' for port in ports)
    return subprocess.Popen(
        [f'{helpers}/storm_client', '--address', address, '--seed', str(seed), '--start', str(start),
         '--per-second', str(cell.per_second), '--seconds', str(cell.seconds()),
         '--deadline-ms', str(cell.deadline_ms), '--service-config', config],
        stdout=subprocess.PIPE, text=True, preexec_fn=on_cpu(cpus()[1]))


def stand_still(instances, cell, start):
    """Stops the bad instances for the time of the fault."""
    for at, number in ((cell.calm, signal.SIGSTOP), (cell.calm + cell.fault, signal.SIGCONT)):
        time.sleep(max(0, start / 1e9 + at - time.monotonic()))
        for instance in instances[:cell.bad]:
            instance.signal(number)


def run(way, cell, seed, helpers):
    """Returns the calls, as cells.Ended."""
    retries, contender = way
    instances, proxy, caller = [], None, None
    with tempfile.TemporaryDirectory(prefix='levee-weather-') as scratch:
        try:
            for number in range(cell.instances):
                instances.append(Instance(cell, number < cell.bad, helpers))
            ports = [instance.port for instance in instances]
            if contender:
                listen, path = free_port(), pathlib.Path(scratch) / 'config.yaml'
                path.write_text(config_text(contender, listen, ports), encoding='utf-8')
                command = [word.replace('@CONFIG@', str(path)) for word in contender.command]
                proxy = Process(contender.name, command, cpus()[0], scratch)
                proxy.wait_until_ready(listen)
                ports = [listen]
            start = time.monotonic_ns() + int(LEAD_SECONDS * 1e9)
            for instance in instances:
                instance.begin(start)
            caller = client(cell, retries, ports, start, seed, helpers)
            if cell.stops:
                stand_still(instances, cell, start)
            return [cells.Ended(int(at) / 1000, good == '1', int(took) / 1000)
                    for at, good, took in map(str.split, caller.communicate()[0].splitlines())]
        finally:
            if caller:
                caller.kill()
                caller.wait()
            if proxy:
                proxy.stop()
            for instance in instances:
                instance.end()


def row(cell, name, calls, direct):
    end = cell.calm + cell.fault
    whole = cells.share(calls, cell.calm, end)
    later = cells.share(calls, cell.calm + cell.learnt, end)
    low, high = cells.difference(whole, cells.share(direct, cell.calm, end))
    took = [call for call in calls if cell.calm <= call.at < end]
    return (f'| {name} | {whole.calls} | {100 * whole.value():.2f}% | {100 * low:+.2f} to '
            f'{100 * high:+.2f} | {100 * later.value():.2f}% | {cells.percentile(took, 0.5):.1f} ms | '
            f'{cells.percentile(took, 0.99):.1f} ms |')


def table(cell, results):
    """Markdown of {way: calls}."""
    return '\n'.join([
        f'## {cell.name}', '', f'{cell.text}, for {cell.fault:g} s.', '',
        f'| | calls | good | points above direct | good after {cell.learnt:g} s | p50 | p99 |',
        '|---|---:|---:|---:|---:|---:|---:|',
        *(row(cell, name, calls, results['direct']) for name, calls in results.items())]) + '\n'


def is_worse(cell, results):
    end = cell.calm + cell.fault
    shares = [cells.share(results[name], cell.calm, end) for name in ('Levee', 'direct')]
    return cells.difference(*shares)[1] < BAR


ADAPTIVE = """\
          - name: envoy.filters.http.adaptive_concurrency
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency
              gradient_controller_config:
                sample_aggregate_percentile: {value: 90}
                concurrency_limit_params: {concurrency_update_interval: 0.1s}
                min_rtt_calc_params: {jitter: {value: 10}, interval: 60s, request_count: 50}
              enabled: {default_value: true, runtime_key: weather.adaptive}"""


def envoy_text(cell, part, listen, address):
    """Envoy's configuration for a part of a cell with streams, and the contender that it is for."""
    contender = contenders.envoy('Envoy', proxies.find_envoy(), ADAPTIVE if cell.limiters else '')
    if part.attempt_ms:
        contender = contender._replace(values=contender.timeouts)
    text = config_text(contender, listen, [address.rpartition(':')[2]])
    for before, after, wanted in (('num_retries: 2', f'num_retries: {part.attempts - 1}', part.attempts),
                                  ('0.25s', f'{part.attempt_ms / 1000}s', part.attempt_ms)):
        text = text.replace(before, after) if wanted else text
    return contender, text


def run_streams(cell, args):
    """Returns the calls as streams.run has them."""
    with tempfile.TemporaryDirectory(prefix='levee-weather-') as scratch:
        described = pathlib.Path(scratch) / 'interop.pb'
        descriptors.write(described)

        def start(name, command, text, listen):
            folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
            (folder / 'config.yaml').write_text(text, encoding='utf-8')
            words = [str(word).replace('@CONFIG@', str(folder / 'config.yaml')) for word in command]
            proxy = Process(name, words, cpus()[0], folder)
            proxy.wait_until_ready(listen)
            return proxy, f'127.0.0.1:{listen}'

        def levee(each_cell, part, address):
            listen = free_port()
            text = streams.config_text(each_cell, part, listen, address, described)
            return start('Levee', (args.levee, 'run', '--config', '@CONFIG@'), text, listen)

        def envoy(each_cell, part, address):
            listen = free_port()
            contender, text = envoy_text(each_cell, part, listen, address)
            return start('Envoy', contender.command, text, listen)

        found = {'direct': (None, '')}
        if cell.retries:
            found["gRPC's retries"] = None, json.dumps({'methodConfig': [{'name': [{}], 'retryPolicy': RETRIES}]})
        if (cell.limiters or cell.retries) and proxies.find_envoy():
            found['Envoy'] = envoy, ''
        return streams.run(cell, args.rounds, {**found, 'Levee': (levee, '')}, args.helpers,
                           on_cpu(cpus()[1]), tell)


def tell(line):
    print(f'weather: {line}', file=sys.stderr)


def parse_arguments(words):
    parser = argparse.ArgumentParser(prog='tests/weather/run', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [cell.name for cell in cells.CELLS + STREAMS + restarts.CELLS]
    parser.add_argument('--levee', type=pathlib.Path, default=ROOT / 'build/levee')
    parser.add_argument('--rounds', type=int, choices=range(1, 101), default=1,
                        help='of which the calls are added; default 1')
    parser.add_argument('--cells', nargs='+', choices=names, default=names, metavar='CELL',
                        help=f'of {", ".join(names)}; default all')
    parser.add_argument('--helpers', type=pathlib.Path, default=ROOT / 'build/tests',
                        help='where storm_service, storm_client and interop_server are')
    return parser.parse_args(words)


def main(words):
    args = parse_arguments(words)
    found, missing = ways(args.levee)
    without_streams = streams.missing(args.helpers)
    for line in missing + [without_streams] * bool(without_streams):
        tell(line)
    print(f'# Ordinary weather\n\n{time.strftime("%Y-%m-%d")}, {platform.platform()}, '
          f'{len(set(cpus()))} CPUs, {args.rounds} rounds.\n')
    worse = []
    for cell in (each for each in cells.CELLS if each.name in args.cells):
        results = {name: [] for name in found}
        for seed in range(args.rounds):
            for name, way in found.items():
                tell(f'{cell.name}: {name}')
                results[name] += run(way, cell, seed, args.helpers)
        print(table(cell, results), flush=True)
        if is_worse(cell, results):
            worse.append(cell.name)
    for cell in (each for each in STREAMS if each.name in args.cells and not without_streams):
        results = run_streams(cell, args)
        print(streams.table(cell, results), flush=True)
        if streams.is_worse(results, BAR):
            worse.append(cell.name)
    for cell in (each for each in restarts.CELLS if each.name in args.cells and not without_streams):
        with tempfile.TemporaryDirectory(prefix='levee-weather-') as scratch:
            results = restarts.run_all(cell, args.levee, pathlib.Path(scratch), tell)
        print(restarts.table(cell, results), flush=True)
        if restarts.is_worse(results):
            worse.append(cell.name)
    if worse:
        tell(f'worse than directly: {", ".join(worse)}')
    return 1 if worse else 0


if __name__ == '__main__':
    # Ends through the `finally` paths, so that nothing started here stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except BenchError as reason:
        sys.exit(f'weather: {reason}')
