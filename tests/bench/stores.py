#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what idempotency keys and shared limits add to a call, beside the same call without.

`keys`: CPU time of Levee, in user space and in the system, for a call that has a key, where nothing is
kept, where keys are kept in memory, and where Redis has them. `limits`: how long calls take with a
local limit, and with one that all sidecars share, both far above the load. All run at the same time
and are measured in turn, in many short rounds, so that what else the machine does falls upon all of
them. Of CPU time the median of the differences within a round counts. A percentile is that of the
calls of all rounds, since the 99th of one round rests on a few calls; its spread is that of rounds
drawn again and again from those that were measured (a bootstrap).
"""

import argparse
import json
import os
import pathlib
import random
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
LIMIT_FIRST = 200  # Calls of a turn that do not count: of a new connection, and of an idle bucket.
ROUNDS = {'keys': 30, 'limits': 100}
DRAWS = 500


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


class Pool:
    """How long the calls of all rounds took. In a percentile a round may count several times, or not."""

    def __init__(self, rounds):
        self._calls = [len(times) for times in rounds]
        self._longest_first = sorted(((time, number) for number, times in enumerate(rounds)
                                      for time in times), reverse=True)

    def percentile(self, share, counts=None):
        """Returns the smallest time that at least `share` of all calls do not exceed. `counts`: how often
        each round counts; None: once."""
        counts = counts or [1] * len(self._calls)
        above = (1 - share) * sum(count * calls for count, calls in zip(counts, self._calls))
        seen = 0
        for time, number in self._longest_first:
            seen += counts[number]
            if seen > above + 1e-6:  # What the share cannot say exactly is no call.
                return time
        raise BenchError('no calls were measured')


def spread(pool, base, share, rounds):
    """Returns between which differences of the percentiles nine in ten lie, if rounds are drawn anew."""
    generator = random.Random(1)
    differences = []
    for _ in range(DRAWS):
        counts = [0] * rounds
        for number in generator.choices(range(rounds), k=rounds):
            counts[number] += 1
        differences.append(pool.percentile(share, counts) - base.percentile(share, counts))
    return loads.percentile(differences, 0.05), loads.percentile(differences, 0.95)


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
          'added by a shared limit. In brackets where nine in ten p99 lie if rounds are drawn anew')
    calls = LIMIT_FIRST + int(LIMIT_CALLS * args.scale)
    with Running(LIMITS, limited, args.levee, args.helpers, scratch) as running:
        for load in LIMIT_LOADS:
            rounds = list(running.rounds(load, calls, args.rounds))
            pools = {name: Pool([measured[name][1][LIMIT_FIRST:] for measured in rounds])
                     for name in LIMITS}
            local = pools['local']
            p50, p99 = local.percentile(0.5), local.percentile(0.99)
            line = f'{load.name:6} {p50:6} {p99:6}'
            for name in ('alike', 'shared'):
                pool = pools[name]
                low, high = spread(pool, local, 0.99, args.rounds)
                line += (f'  {name} {pool.percentile(0.5) - p50:+5} '
                         f'{pool.percentile(0.99) - p99:+5} [{low:+} to {high:+}]')
            print(line, flush=True)


MEASURED = {'keys': measure_keys, 'limits': measure_limits}


def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=MEASURED)
    parser.add_argument('--levee', type=lambda path: pathlib.Path(path).absolute(),
                        default=ROOT / 'build' / 'levee')
    parser.add_argument('--helpers', type=lambda path: pathlib.Path(path).absolute(),
                        default=ROOT / 'build' / 'tests')
    parser.add_argument('--rounds', type=int, help='by default ' + ', '.join(
        f'{rounds} of {what}' for what, rounds in ROUNDS.items()))
    parser.add_argument('--scale', type=float, default=1, help='of the calls of a round')
    args = parser.parse_args(words)
    args.rounds = args.rounds or ROUNDS[args.what]
    with tempfile.TemporaryDirectory(prefix='levee-stores-') as scratch:
        MEASURED[args.what](args, scratch)
    print(f'{args.rounds} rounds; load of the machine {os.getloadavg()[0]:.1f}')


if __name__ == '__main__':
    try:
        main(sys.argv[1:])
    except BenchError as reason:
        sys.exit(f'stores: {reason}')
