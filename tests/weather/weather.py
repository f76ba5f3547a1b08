#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the same calls on ordinary days directly, with gRPC's own retries, through Envoy and Levee.

Real gRPC at both ends; the ways take turns. For each cell a table goes to standard output as
Markdown, progress to standard error. Ends with 1 if Levee is surely worse than a direct connection:
if the whole 95% interval of the difference is below -0.1 points, or below what the cell has in its
place. Everything stays on 127.0.0.1 and is bounded in count and time. The cells with streams (e14,
w2, w2b), with a service that comes late (e7) and with restarts (w10, w11) are directly and through
Levee alone. In those with a guard (w1 to w9) Envoy has its adaptive concurrency. Streams, guards,
e1, e2, e3-twice, e4, e5c and e7 to e16 have grpc-go at both ends, where it could be had. A round of
all cells takes about three hours.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cells
import guards
import names
import newcomers
import restarts
import retrying
import streams

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / 'tests' / each) for each in ('bench', 'capture', 'interop', 'storms')]
import contenders
import descriptors
import network
import proxies
from processes import BenchError, Process, cpu_nanoseconds, cpus, free_port, on_cpu

LEAD_SECONDS = 0.7
BAR = -0.001
STREAMS = streams.CELLS + guards.CELLS + retrying.CELLS + newcomers.CELLS
ROUND_ROBIN = {'loadBalancingConfig': [{'round_robin': {}}]}
RETRIES = {**contenders.RETRY_POLICY, 'maxAttempts': 4}


class Instance:
    """One storm_service."""

    def __init__(self, cell, bad, helpers):
        failing = cell.failing if bad and not cell.stops and not cell.vanish else 0
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


def nghttpx(helpers):
    """A proxy that does nothing to calls, to compare the cost with."""
    peer = proxies.peers(helpers)['nghttpx']
    return contenders.Contender('nghttpx', command=(proxies.program(peer), *peer.command[1:]),
                                template=peer.template)


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
         '--per-second', str(cell.per_second / cell.sidecars), '--seconds', str(cell.seconds()),
         '--deadline-ms', str(cell.deadline_ms), '--service-config', config],
        stdout=subprocess.PIPE, text=True, preexec_fn=on_cpu(cpus()[1]))


def start_proxy(contender, ports, scratch):
    """Returns it with its port."""
    listen, folder = free_port(), pathlib.Path(tempfile.mkdtemp(dir=scratch))
    text = proxies.fill(config_text(contender, listen, ports), {'SCRATCH': folder})
    (folder / 'config.yaml').write_text(text, encoding='utf-8')
    command = [word.replace('@CONFIG@', str(folder / 'config.yaml')) for word in contender.command]
    proxy = Process(contender.name, command, cpus()[0], folder)
    proxy.wait_until_ready(listen)
    return proxy, listen


def wait_until(start, seconds):
    time.sleep(max(0, start / 1e9 + seconds - time.monotonic()))


def break_down(cell, instances, start, host):
    """Stops the bad instances, or their packets, for the time of the fault."""
    bad = instances[:cell.bad]
    wait_until(start, cell.calm)
    for instance in bad:
        if cell.vanish:
            host.must('nft', f'add rule inet dark packets tcp sport {instance.port} drop; '
                             f'add rule inet dark packets tcp dport {instance.port} drop')
        else:
            instance.signal(signal.SIGSTOP)
    wait_until(start, cell.calm + cell.fault)
    if cell.vanish:
        host.must('nft', 'flush chain inet dark packets')
    for instance in bad:
        instance.signal(signal.SIGCONT)


@contextlib.contextmanager
def place(cell):
    """Where packets are to be lost, all is in a network of its own, which has nothing but a loopback."""
    if not cell.vanish:
        yield None
        return
    host = network.Host()
    try:
        host.must('ip', 'link', 'set', 'lo', 'up')
        host.must('nft', 'add table inet dark; '
                         'add chain inet dark packets { type filter hook input priority 0; }')
        with host.inside():
            yield host
    finally:
        host.close()


def run(way, cell, seed, helpers):
    """Returns the calls, as cells.Ended, and the nanoseconds of CPU that the proxies used for them."""
    retries, contender = way
    pids = []
    with contextlib.ExitStack() as kept:
        host = kept.enter_context(place(cell))
        scratch = kept.enter_context(tempfile.TemporaryDirectory(prefix='levee-weather-'))
        instances, callers = [], []
        for number in range(cell.instances):
            instances.append(Instance(cell, number < cell.bad, helpers))
            kept.callback(instances[-1].end)
        targets = [[instance.port for instance in instances]] * cell.sidecars
        if contender:
            for number, ports in enumerate(targets):
                proxy, listen = start_proxy(contender, ports, scratch)
                kept.callback(proxy.stop)
                targets[number] = [listen]
                pids += proxy.tree()
        used = cpu_nanoseconds(pids)
        start = time.monotonic_ns() + int(LEAD_SECONDS * 1e9)
        for instance in instances:
            instance.begin(start)
        for number, ports in enumerate(targets):
            callers.append(client(cell, retries, ports, start, 100 * seed + number, helpers))
            kept.callback(lambda child=callers[-1]: (child.kill(), child.wait()))
        if cell.stops or cell.vanish:
            break_down(cell, instances, start, host)
        ended = [cells.Ended(int(at) / 1000, good == '1', int(took) / 1000) for caller in callers
                 for at, good, took in map(str.split, caller.communicate()[0].splitlines())]
        return ended, cpu_nanoseconds(pids) - used


def row(cell, name, calls, direct, cpu):
    end = cell.calm + cell.fault
    whole = cells.share(calls, cell.calm, end)
    later = cells.share(calls, cell.calm + cell.learnt, end)
    low, high = cells.difference(whole, cells.share(direct, cell.calm, end))
    took = [call for call in calls if cell.calm <= call.at < end]
    per_call = f'{cpu / 1000 / len(calls):.0f} us' if cpu else ''
    return (f'| {name} | {whole.calls} | {100 * whole.value():.2f}% | {100 * low:+.2f} to '
            f'{100 * high:+.2f} | {100 * later.value():.2f}% | {cells.percentile(took, 0.5):.1f} ms | '
            f'{cells.percentile(took, 0.99):.1f} ms | {per_call} |')


def table(cell, results, cpu):
    """Markdown of {way: calls}; `cpu` has the nanoseconds that the proxies used."""
    return '\n'.join([
        f'## {cell.name}', '', f'{cell.text}, for {cell.fault:g} s.', '',
        f'| | calls | good | points above direct | good after {cell.learnt:g} s | p50 | p99 | CPU a call |',
        '|---|---:|---:|---:|---:|---:|---:|---:|',
        *(row(cell, name, calls, results['direct'], cpu[name]) for name, calls in results.items())]) + '\n'


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
    text = config_text(contender, listen, [each.rpartition(':')[2] for each in address.split('+')])
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

        found = {'direct': (None, json.dumps(ROUND_ROBIN))}
        if cell.retries:
            method = {'name': [{}], 'retryPolicy': RETRIES}
            found["gRPC's retries"] = None, json.dumps({**ROUND_ROBIN, 'methodConfig': [method]})
        if (cell.limiters or cell.retries) and proxies.find_envoy():
            found['Envoy'] = envoy, ''
        return streams.run(cell, args.rounds, {**found, 'Levee': (levee, '')}, args.helpers,
                           on_cpu(cpus()[1]), tell)


def tell(line):
    print(f'weather: {line}', file=sys.stderr)


def parse_arguments(words):
    parser = argparse.ArgumentParser(prog='tests/weather/run', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [cell.name for cell in cells.CELLS + STREAMS + restarts.CELLS] + ['e19']
    parser.add_argument('--levee', type=pathlib.Path, default=ROOT / 'build/levee')
    parser.add_argument('--rounds', type=int, choices=range(1, 101), default=1,
                        help='of which the calls are added; default 1')
    parser.add_argument('--cells', nargs='+', choices=every, default=every, metavar='CELL',
                        help=f'of {", ".join(every)}; default all')
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
        if cell.vanish and (os.geteuid() or not shutil.which('nft') or not shutil.which('ip')):
            tell(f'{cell.name} is left out: it needs root, nft and ip')
            continue
        ways_here = {name: way for name, way in found.items() if cell.bad or name != 'gRPC\'s retries'}
        if not cell.bad:
            ways_here['nghttpx'] = None, nghttpx(args.helpers)
        results, cpu = {name: [] for name in ways_here}, collections.Counter()
        for seed in range(args.rounds):
            for name, way in ways_here.items():
                tell(f'{cell.name}: {name}')
                calls, used = run(way, cell, seed, args.helpers)
                results[name] += calls
                cpu[name] += used
        print(table(cell, results, cpu), flush=True)
        if is_worse(cell, results):
            worse.append(cell.name)
    for cell in (each for each in STREAMS if each.name in args.cells and not without_streams):
        results = run_streams(cell, args)
        print(streams.table(cell, results), flush=True)
        if streams.is_worse(cell, results):
            worse.append(cell.name)
    for cell in (each for each in restarts.CELLS if each.name in args.cells and not without_streams):
        with tempfile.TemporaryDirectory(prefix='levee-weather-') as scratch:
            results = restarts.run_all(cell, args.levee, pathlib.Path(scratch), tell)
        print(restarts.table(cell, results), flush=True)
        if restarts.is_worse(results):
            worse.append(cell.name)
    if 'e19' in args.cells and names.missing():
        tell(names.missing())
    elif 'e19' in args.cells:
        tell('e19')
        results = {'direct': names.run(None), 'Levee': names.run(args.levee.resolve())}
        print(names.table(results), flush=True)
        if names.is_worse(results):
            worse.append('e19')
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
