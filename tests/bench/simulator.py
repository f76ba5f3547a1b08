#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says how many attempts `levee simulate` makes in a second on one core; 500,000 is the bar.

The time is that of the processor in user space, the start included. An attempt is one that arrives
at a service; scenarios of several services have more than are counted, so only those of one are run.
The fleet of ten thousand sidecars has bars of its own for one rule: two minutes, and 2 GiB.
"""

import argparse
import collections
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile

import callgrind
from processes import BenchError, cpus, on_cpu

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATE = pathlib.Path(__file__).resolve().with_name('simulator.yaml.in')
READY = ('hotos21-metastable', 'brooker-collapse', 'osdi22-trigger', 'one-bad-endpoint')
FLEET = ('fleet-10000', '--compare', 'this')
BAR = 500_000
# So long that the start is nothing beside it.
SECONDS = 600
# What the start takes is in both runs alike, and so not in their difference.
FEW_SECONDS, MANY_SECONDS = 4, 16


# `seconds` of the processor in user space, and the memory that was held at most.
Run = collections.namedtuple('Run', 'attempts seconds mib')


def scenario(seconds, scratch):
    """Writes the scenario of the benchmark, so long, and returns its file."""
    file = pathlib.Path(scratch) / f'simulator-{seconds}.yaml'
    file.write_text(TEMPLATE.read_text(encoding='utf-8').replace('@SECONDS@', str(seconds)),
                    encoding='utf-8')
    return file


def attempts_in(table):
    """Returns the sum of the attempts under all rules in what `levee simulate -o csv` prints."""
    return sum(int(row['attempts']) for row in csv.DictReader(io.StringIO(table)))


def simulate(command, cpu):
    """Runs a command that simulates."""
    with tempfile.TemporaryFile('w+', encoding='utf-8') as table, \
         tempfile.TemporaryFile('w+', encoding='utf-8') as faults:
        with subprocess.Popen(command, stdout=table, stderr=faults, preexec_fn=on_cpu(cpu)) as child:
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        table.seek(0)
        faults.seek(0)
        attempts = attempts_in(table.read())
        if attempts == 0:
            raise BenchError(f'{" ".join(map(str, command))}: {faults.read()}')
        return Run(attempts, used.ru_utime, used.ru_maxrss / 1024)


def instructions_per_attempt(levee, scratch):
    """Counts by callgrind."""
    counts = pathlib.Path(scratch) / 'simulator.callgrind'
    runs = []
    for seconds in (FEW_SECONDS, MANY_SECONDS):
        command = (levee, 'simulate', scenario(seconds, scratch), '-o', 'csv')
        run = simulate(callgrind.command(counts, command), cpus()[0])
        runs.append((run.attempts, callgrind.total(counts, command)))
    (few, before), (many, after) = runs
    return round((after - before) / (many - few))


def row(name, run):
    rate = run.attempts / run.seconds
    return (f'{name:<20} {run.attempts:>10,} {run.seconds:>8.2f} s {run.mib:>6.0f} MiB '
            f'{rate:>11,.0f}/s')


def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--levee', type=pathlib.Path, default=ROOT / 'build' / 'shipped' / 'levee',
                        help='default: the shipped one')
    args = parser.parse_args(words)
    levee = args.levee.absolute()
    print(f'{"scenario":<20} {"attempts":>10} {"CPU":>10} {"memory":>10} {"attempts":>13}')
    with tempfile.TemporaryDirectory(prefix='levee-simulator-') as scratch:
        files = {('benchmark',): scenario(SECONDS, scratch)}
        for words in (*((name,) for name in READY), FLEET):
            files[words] = ROOT / 'config' / 'scenarios' / f'{words[0]}.yaml'
        for (name, *options), file in files.items():
            run = simulate((levee, 'simulate', file, '-o', 'csv', *options), cpus()[0])
            print(row(name, run), flush=True)


if __name__ == '__main__':
    try:
        main(sys.argv[1:])
    except BenchError as reason:
        sys.exit(f'simulator: {reason}')
