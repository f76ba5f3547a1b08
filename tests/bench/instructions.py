#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions in user space that Levee executes for a call, by callgrind. `simulate`
counts those of an attempt in `levee simulate`.

Unlike times, they hardly depend on the machine and on what else it does. So they are compared with
those of tests/bench/instructions.json: a load that takes more than 3% more is a failure, also of CI.
After a change that is worth its price, or that saves something, `--write` keeps the new counts.
What is shipped has counts of its own: a training run that no longer fits the code would show there.
"""

import argparse
import json
import pathlib
import platform
import sys
import tempfile

import callgrind
import loads
import proxies
import simulator
import stores
from processes import BenchError, Process, cpus, find_program, free_port, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANDED = pathlib.Path(__file__).resolve().parent / 'instructions.json'
MARGIN = 0.03
BINARIES = {'developed': ROOT / 'build' / 'levee', 'shipped': ROOT / 'build' / 'shipped' / 'levee'}
# What connections and the calls' first moments take is in both runs alike, and so not in their
# difference.
FEW, MANY = 2_000, 8_000
LOADS = ('4x32', '1x100', '64x1', 'headers')
SIMULATION = 'simulate'
# Of calls with a key; the first are what the others are compared with.
KEYED = {'keyed': 'without', 'dedupe': 'memory', 'dedupe-redis': 'redis'}


class Counted:
    """Levee under callgrind, until the `with` block ends."""

    def __init__(self, levee, echo_port, scratch):
        counts = pathlib.Path(scratch) / f'{levee.name}.callgrind'
        command = callgrind.command(counts, (*levee.command, '--keep-code-pages'))
        cpu, self._load_cpu = cpus()
        self._scratch = scratch
        self._running = proxies.RunningProxy(levee._replace(command=command), echo_port, cpu, scratch,
                                             settled=False)
        self._meter = callgrind.Meter(self._running.process, counts)

    def __enter__(self):
        try:
            self._connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._running.process.stop()

    def _connect(self):
        """Makes calls until one is answered: under callgrind, on a busy machine, the first connection to
        the service can take longer than Levee gives it."""
        reasons = []

        def is_answered():
            try:
                loads.check_trailers(self._running.port, self._load_cpu, self._scratch)
                return True
            except BenchError as reason:
                reasons[:] = [reason]
                return False

        if not until(is_answered):
            raise reasons[0]

    def _executed(self, load, calls):
        self._meter.read()
        answer = loads.run(load, self._running.port, calls, self._load_cpu, self._scratch)
        if answer.error:
            raise BenchError(f'{load.name}: {answer.error}\n{self._running.process.output()}')
        return self._meter.read()

    def _make_a_keyed_call(self, load):
        """Makes calls until one is answered: one that comes before the connection to Redis is refused."""
        one = load._replace(connections=1, streams=1)
        answers = []

        def is_answered():
            answers[:] = [loads.run(one, self._running.port, 1, self._load_cpu, self._scratch)]
            return not answers[0].error

        if not until(is_answered):
            raise BenchError(f'{load.name}: {answers[0].error}')

    def per_call(self, load):
        if load.keys:
            self._make_a_keyed_call(load)
        self._executed(load, FEW)  # What is learnt from the first calls.
        few, many = (self._executed(load, calls) for calls in (FEW, MANY))
        return round((many - few) / (MANY - FEW))


def measure(levee, helpers, names):
    with tempfile.TemporaryDirectory(prefix='levee-instructions-') as scratch:
        counts = measure_calls(levee, helpers, [name for name in names if name != SIMULATION], scratch)
        if SIMULATION in names:
            count = simulator.instructions_per_attempt(levee.command[0], scratch)
            print(f'{SIMULATION}: {count:,} instructions per attempt', flush=True)
            counts[SIMULATION] = count
    return counts


def measure_calls(levee, helpers, names, scratch):
    counts = {}
    if not names:
        return counts
    loads.write_payloads(scratch)
    echo_port = free_port()
    echo = Process('echo', [str(helpers / 'bench_echo'), str(echo_port)], cpus()[1], scratch)
    try:
        echo.wait_until_ready(echo_port)
        for name, count in counted_calls(levee, names, echo_port, scratch):
            counts[name] = count
            print(f'{name}: {count:,} instructions per call', flush=True)
    finally:
        echo.stop()
    return counts


def counted_calls(levee, names, echo_port, scratch):
    """Yields each name with the instructions of its call. One Levee makes all calls without a key."""
    plain = [name for name in names if name not in KEYED]
    if plain:
        with Counted(levee, echo_port, scratch) as counted:
            for name in plain:
                yield name, counted.per_call(loads.LOADS[name])
    for name in names:
        if name in KEYED:
            yield name, per_keyed_call(levee, name, echo_port, scratch)


def per_keyed_call(levee, name, echo_port, scratch):
    redis = stores.Redis(cpus()[1], scratch) if KEYED[name] == 'redis' else None
    try:
        keeping = stores.keyed(levee, KEYED[name], redis.port if redis else 0, scratch)
        with Counted(keeping, echo_port, scratch) as counted:
            load = loads.KEYED['4x32']
            if redis:
                # As many calls at a time as a slow machine answers before Redis is taken for away.
                load = load._replace(streams=8)
            return counted.per_call(load)
    finally:
        if redis:
            redis.process.stop()


def judged(counts, landed):
    """Returns a line for each load that costs more than it may."""
    return [f'{name}: {count:,} instructions, {count / landed[name] - 1:+.1%} beside '
            f'{landed[name]:,}; at most {MARGIN:+.0%} is allowed'
            for name, count in counts.items()
            if name in landed and count > landed[name] * (1 + MARGIN)]


def cannot_judge():
    """Returns why the counts that hold say nothing here; empty if they do."""
    if platform.machine() != 'x86_64':
        return f'the counts that hold are those of x86_64, and this is {platform.machine()}'
    try:
        for name in ('valgrind', 'vgdb', 'h2load'):
            find_program(name)
    except BenchError as reason:
        return str(reason)
    return ''


def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', choices=BINARIES, default='developed',
                        help='whose counts hold; default %(default)s')
    parser.add_argument('--levee', type=pathlib.Path, help='default: the one of that build')
    parser.add_argument('--helpers', type=pathlib.Path, default=ROOT / 'build' / 'tests')
    parser.add_argument('--loads', default=','.join((*LOADS, *KEYED, SIMULATION)), help='which; default %(default)s')
    parser.add_argument('--config', type=pathlib.Path, metavar='TEMPLATE',
                        help='another one than configs/levee.yaml.in; nothing is judged or kept')
    parser.add_argument('--write', action='store_true', help='keep the counts as those that hold')
    parser.add_argument('--as-test', action='store_true',
                        help='where nothing can be judged, say why and count nothing')
    args = parser.parse_args(words)
    if args.as_test and cannot_judge():
        print(f'skipped: {cannot_judge()}')
        return 0
    binary = args.levee or BINARIES[args.build]
    levee = proxies.levee('levee', binary.absolute(), args.config)
    counts = measure(levee, args.helpers.absolute(), args.loads.split(','))
    if args.config:
        return 0
    landed = json.loads(LANDED.read_text(encoding='utf-8'))
    if args.write:
        landed[args.build].update(counts)
        LANDED.write_text(json.dumps(landed, indent=1) + '\n', encoding='utf-8')
        return 0
    faults = judged(counts, landed[args.build])
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if faults else 0


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except BenchError as reason:
        sys.exit(f'instructions: {reason}')
