#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what idempotency keys and shared limits add to a call, beside the same call without.

`keys`: CPU time of Levee, in user space and in the system, for a call that has a key, where nothing is
kept, where keys are kept in memory, and where Redis has them. Each has a Levee of its own; they are
measured in turn, in many short rounds, so that what else the machine does falls upon all of them. The
median of the differences within a round counts.

`limits`: how long calls take with a local limit, and with one that all sidecars share, both far above
the load. They belong to listeners of one Levee, which one caller calls in turn. A percentile is that
of the calls of all rounds, since the 99th of one round rests on a few calls; its spread is that of
rounds drawn again and again from those that were measured (a bootstrap).
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
# The second one shows what two limits that are alike differ by on this machine.
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


def template(scratch, name, direction, listeners, redis_port):
    """Writes a configuration. `listeners`: {name: (port, policy)}. YAML contains JSON."""
    made = {'listeners': [], 'routes': [], 'policies': [],
            'metrics': {'address': '127.0.0.1:@METRICS@'}, 'admin': {'address': 'none'},
            'upstreams': [{'name': 'echo', 'endpoints': ['127.0.0.1:@ECHO@']}], 'tie': {'by': 'none'}}
    for listener, (port, policy) in listeners.items():
        made['listeners'].append({'name': listener, 'address': f'127.0.0.1:{port}',
                                  'direction': direction})
        made['routes'].append({'match': {'listener': listener}, 'upstream': 'echo',
                               'policy': listener})
        made['policies'].append({'name': listener, **policy})
    if '"store"' in json.dumps(made):
        made['stores'] = [{'name': 'shared', 'redis': [f'127.0.0.1:{redis_port}'], 'timeout': '10s'}]
    path = pathlib.Path(scratch) / f'{name}.yaml.in'
    path.write_text(json.dumps(made), encoding='utf-8')
    return path


def keyed(levee, name, redis_port, scratch):
    """Returns Levee in front of a service, where it keeps keys as KEYS says."""
    policy = {'guard': {'concurrency': {'limit': 'none'}, **KEYS[name]}}
    return levee._replace(name=f'keys-{name}', template=template(
        scratch, f'keys-{name}', 'inbound', {'bench': ('@LISTEN@', policy)}, redis_port))


def limited(levee, ports, redis_port, scratch):
    """Returns Levee with a listener for each of LIMITS. `ports`: of all but the first one."""
    listeners = {name: (port, {'rate_limit': [limit]})
                 for (name, limit), port in zip(LIMITS.items(), ('@LISTEN@', *ports))}
    ready = tuple(f'listening {name} 127.0.0.1:{port}' for name, (port, _) in listeners.items())
    return levee._replace(name='limits', ready_lines=ready, template=template(
        scratch, 'limits', 'egress', listeners, redis_port))


class Running:
    """The echo service, Redis, and the proxies of `make`, until the `with` block ends."""

    def __init__(self, make, binary, helpers, scratch):
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
            for name, proxy in make(proxies.levee('levee', binary), redis.port).items():
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

    def cpu(self, name, load, calls):
        """Returns the microseconds of CPU for a call."""
        proxy = self.proxies[name]
        pids = proxy.process.tree()
        before = cpu_nanoseconds(pids)
        answer = loads.run(load, proxy.port, calls, self._load_cpu, self._scratch)
        self._check(name, answer.error)
        return (cpu_nanoseconds(pids) - before) / calls / 1000

    def times(self, name, load, ports, calls):
        """Returns how long the calls through each port of a proxy took, in microseconds."""
        error, times = loads.times_by_port(load, ports, calls, self._load_cpu, self._scratch,
                                           self._helpers)
        self._check(name, error)
        return times

    def _check(self, name, error):
        if error:
            raise BenchError(f'{name}: {error}\n{self.proxies[name].process.output()}')


def rounds(names, count, measure):
    """Yields measure(names) `count` times; who comes first changes."""
    names = list(names)
    for number in range(-1, count):  # What is learnt from the first calls is in no round.
        at = number % len(names)
        measured = measure(names[at:] + names[:at])
        if number >= 0:
            yield measured


def median_added(measured, name, base):
    return statistics.median(values[name] - values[base] for values in measured)


class Pool:
    """How long the calls of all rounds took. In a percentile a round may count several times, or not."""

    def __init__(self, by_round):
        self._calls = [len(times) for times in by_round]
        self._longest_first = sorted(((time, number) for number, times in enumerate(by_round)
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


def spread(pool, base, share, count):
    """Returns between which differences of the percentiles nine in ten lie, if `count` rounds are drawn
    anew."""
    generator = random.Random(1)
    differences = []
    for _ in range(DRAWS):
        counts = [0] * count
        for number in generator.choices(range(count), k=count):
            counts[number] += 1
        differences.append(pool.percentile(share, counts) - base.percentile(share, counts))
    return loads.percentile(differences, 0.05), loads.percentile(differences, 0.95)


def measure_keys(args, scratch):
    def make(levee, redis_port):
        return {name: keyed(levee, name, redis_port, scratch) for name in KEYS}

    print('CPU us for a call with a key: nothing kept; added in memory; added with Redis')
    with Running(make, args.levee, args.helpers, scratch) as running:
        for load in loads.KEYED.values():
            calls = int(load.calls * args.scale)
            measured = list(rounds(KEYS, args.rounds, lambda names: {
                name: running.cpu(name, load, calls) for name in names}))
            without = statistics.median(values['without'] for values in measured)
            added = [median_added(measured, name, 'without') for name in ('memory', 'redis')]
            print(f'{load.name:6} {without:6.1f} {added[0]:+6.1f} {added[1]:+6.1f}', flush=True)


def measure_limits(args, scratch):
    others = [free_port() for _ in range(len(LIMITS) - 1)]

    def make(levee, redis_port):
        return {'limits': limited(levee, others, redis_port, scratch)}

    print('us that a call takes: p50 and p99 with a local limit; added by another limit that is like it;\n'
          'added by a shared limit. In brackets where nine in ten p99 lie if rounds are drawn anew')
    calls = LIMIT_FIRST + int(LIMIT_CALLS * args.scale)
    with Running(make, args.levee, args.helpers, scratch) as running:
        ports = dict(zip(LIMITS, (running.proxies['limits'].port, *others)))

        def together(names):
            times = running.times('limits', load, [ports[name] for name in names], calls)
            return dict(zip(names, times))

        for load in LIMIT_LOADS:
            print(limits_line(load, list(rounds(LIMITS, args.rounds, together))), flush=True)


def limits_line(load, measured):
    pools = {name: Pool([times[name][LIMIT_FIRST:] for times in measured]) for name in LIMITS}
    local = pools['local']
    p50, p99 = local.percentile(0.5), local.percentile(0.99)
    line = f'{load.name:6} {p50:6} {p99:6}'
    for name in ('alike', 'shared'):
        pool = pools[name]
        low, high = spread(pool, local, 0.99, len(measured))
        line += (f'  {name} {pool.percentile(0.5) - p50:+5} '
                 f'{pool.percentile(0.99) - p99:+5} [{low:+} to {high:+}]')
    return line


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
