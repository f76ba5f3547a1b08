#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what idempotency keys and shared limits add to a call, beside the same call without.

`keys`: CPU time of Levee, in user space and in the system, for a call that has a key, where nothing is
kept, where keys are kept in memory, and where Redis has them. `limits`: how long calls take with a
local limit, and with one that all sidecars share, both far above the load. All run at the same time
and are measured in turn, in many short rounds, and what counts is the median of the differences
within a round: what else the machine does falls upon all of them.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

import loads
import proxies
from processes import BenchError, Process, cpu_nanoseconds, cpus, find_program, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
# So much that outcomes make room for others all the time, as where Levee has run for a while.
KEPT = {'max_bytes': '512KiB'}
KEYS = {'without': {}, 'memory': {'dedupe': KEPT}, 'redis': {'dedupe': {**KEPT, 'store': 'shared'}}}
LIMIT = {'name': 'all', 'rate': '100000/s', 'burst': 20000}  # A lease is 200 ms.
# The second one shows what two processes that are alike differ by on this machine.
LIMITS = {'local': LIMIT, 'alike': LIMIT,
          'shared': {**LIMIT, 'scope': 'global', 'store': 'shared'}}
LIMIT_LOADS = (loads.open_loop(2_000, 1), loads.open_loop(5_000, 4))
LIMIT_CALLS = 2_000


class Redis:
    """A server that writes nothing to disk, until it is stopped."""

    def __init__(self, cpu, scratch):
        self.port = free_port()
        command = [find_program('redis-server'), '--port', str(self.port), '--save', '',
                   '--appendonly', 'no', '--bind', '127.0.0.1', '--dir', str(scratch)]
        self.process = Process('redis', command, cpu, scratch)
        try:
            self.process.wait_until_ready(self.port)
        except BaseException:
            self.process.stop()
            raise


def template(scratch, name, policy, redis_port, direction):
    """Writes a configuration, whose only policy has these fields. YAML contains JSON."""
    made = {'listeners': [{'name': 'bench', 'address': '127.0.0.1:@LISTEN@', 'direction': direction}],
            'metrics': {'address': '127.0.0.1:@METRICS@'}, 'admin': {'address': 'none'},
            'upstreams': [{'name': 'echo', 'endpoints': ['127.0.0.1:@ECHO@']}],
            'routes': [{'match': {'listener': 'bench'}, 'upstream': 'echo', 'policy': 'measured'}],
            'policies': [{'name': 'measured', **policy}], 'tie': {'by': 'none'}}
    if '"shared"' in json.dumps(policy):
        made['stores'] = [{'name': 'shared', 'redis': [f'127.0.0.1:{redis_port}'], 'timeout': '5s'}]
    path = pathlib.Path(scratch) / f'{name}.yaml.in'
    path.write_text(json.dumps(made), encoding='utf-8')
    return path


def keyed(levee, name, redis_port, scratch):
    """Returns Levee in front of a service, where it keeps keys as KEYS says."""
    policy = {'guard': {'concurrency': {'limit': 'none'}, **KEYS[name]}}
    return levee._replace(name=f'keys-{name}', template=template(
        scratch, f'keys-{name}', policy, redis_port, 'inbound'))


def limited(levee, name, redis_port, scratch):
    policy = {'rate_limit': [LIMITS[name]]}
    return levee._replace(name=f'limit-{name}', template=template(
        scratch, f'limit-{name}', policy, redis_port, 'egress'))


class Running:
    """The echo service, Redis, and one Levee for each variant, until the `with` block ends."""

    def __init__(self, variants, make, binary, helpers, scratch):
        self._scratch, self._helpers = scratch, helpers
        self._proxy_cpu, self._load_cpu = cpus()
        self._stopped = []
        loads.write_payloads(scratch)
        try:
            echo_port = free_port()
            echo = Process('echo', [f'{helpers}/bench_echo', str(echo_port)], self._load_cpu, scratch)
            self._stopped.append(echo)
            echo.wait_until_ready(echo_port)
            redis = Redis(self._load_cpu, scratch)
            self._stopped.append(redis.process)
            self.proxies = {}
            for name in variants:
                proxy = make(proxies.levee('levee', binary), name, redis.port, scratch)
                self.proxies[name] = proxies.RunningProxy(proxy, echo_port, self._proxy_cpu, scratch)
                self._stopped.append(self.proxies[name].process)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self._stopped):
            process.stop()

    def run(self, name, load, calls):
        """Returns microseconds of CPU for a call, and how long each took where that is measured."""
        proxy = self.proxies[name]
        pids = proxy.process.tree()
        before = cpu_nanoseconds(pids)
        answer = loads.run(load, proxy.port, calls, self._load_cpu, self._scratch, self._helpers)
        after = cpu_nanoseconds(pids)
        if answer.error:
            raise BenchError(f'{name}: {answer.error}\n{proxy.process.output()}')
        return (after - before) / calls / 1000, answer.times_us

    def rounds(self, load, calls, count):
        """Yields {name: measured}; who comes first changes."""
        names = list(self.proxies)
        for number in range(-1, count):  # What is learnt from the first calls is in no round.
            at = number % len(names)
            measured = {name: self.run(name, load, calls) for name in names[at:] + names[:at]}
            if number >= 0:
                yield measured


def median_added(rounds, name, base):
    return statistics.median(values[name] - values[base] for values in rounds)


def measure_keys(args, scratch):
    print('CPU us for a call with a key: nothing kept; added in memory; added with Redis')
    with Running(KEYS, keyed, args.levee, args.helpers, scratch) as running:
        for load in loads.KEYED.values():
            calls = int(load.calls * args.scale)
            rounds = [{name: cpu for name, (cpu, _) in measured.items()}
                      for measured in running.rounds(load, calls, args.rounds)]
            without = statistics.median(values['without'] for values in rounds)
            added = [median_added(rounds, name, 'without') for name in ('memory', 'redis')]
            print(f'{load.name:6} {without:6.1f} {added[0]:+6.1f} {added[1]:+6.1f}', flush=True)


def measure_limits(args, scratch):
    print('us that a call takes: p50 and p99 with a local limit; added by another sidecar with the same;\n'
          'added by a shared limit')
    with Running(LIMITS, limited, args.levee, args.helpers, scratch) as running:
        for load in LIMIT_LOADS:
            p50, p99 = [], []
            for measured in running.rounds(load, int(LIMIT_CALLS * args.scale), args.rounds):
                times = {name: times for name, (_, times) in measured.items()}
                p50.append({name: statistics.median(each) for name, each in times.items()})
                p99.append({name: loads.percentile(each, 0.99) for name, each in times.items()})
            local = [statistics.median(values['local'] for values in rounds) for rounds in (p50, p99)]
            added = [median_added(rounds, name, 'local')
                     for name in ('alike', 'shared') for rounds in (p50, p99)]
            print(f'{load.name:6} {local[0]:6.0f} {local[1]:6.0f}',
                  *(f'{value:+6.1f}' for value in added), flush=True)


MEASURED = {'keys': measure_keys, 'limits': measure_limits}


def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=MEASURED)
    parser.add_argument('--levee', type=lambda path: pathlib.Path(path).absolute(),
                        default=ROOT / 'build' / 'levee')
    parser.add_argument('--helpers', type=lambda path: pathlib.Path(path).absolute(),
                        default=ROOT / 'build' / 'tests')
    parser.add_argument('--rounds', type=int, default=30)
    parser.add_argument('--scale', type=float, default=1, help='of the calls of a round')
    args = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix='levee-stores-') as scratch:
        MEASURED[args.what](args, scratch)
    print(f'median of {args.rounds} rounds; load of the machine {os.getloadavg()[0]:.1f}')


if __name__ == '__main__':
    try:
        main(sys.argv[1:])
    except BenchError as reason:
        sys.exit(f'stores: {reason}')
