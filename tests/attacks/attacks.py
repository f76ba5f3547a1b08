#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks Levee and its peers with the same bytes, and measures what an honest caller has of it.

The honest caller is a gRPC client that makes its calls at random times, whatever becomes of those
before. The results go to standard output as Markdown, progress to standard error. Everything stays
on 127.0.0.1 and is bounded in count and time. It takes about twenty minutes.
"""

import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / 'tests/bench'), str(ROOT / 'tests/interop')]
import cases
import document
import harm
import proxies
from certificates import Authority
from measure import Direct, Echo, rotated
from processes import BenchError, cpu_nanoseconds, cpus, free_port, memory_mib, on_cpu

RESULTS = HERE / 'RESULTS.md'
PEERS = ('nghttpx', 'haproxy')
SECONDS = 4
ROUNDS = 3
# From the moment at which the caller knows when it begins to its beginning.
LEAD_SECONDS = 0.7
CALLS_PER_SECOND = 200
# The attacker gives way to those whose times are measured.
ATTACKER_NICE = 5
MIB = 1 << 20

INTRO = '''# What an attack costs others

Written by `{command}`. An honest gRPC client makes
{rate} calls a second through a proxy, while an attacker sends it the same bytes at the same pace
whichever proxy that is. Each proxy has one worker on one CPU, in clear text on 127.0.0.1, and starts
anew for each attack; caller, attacker and services have another CPU, of which the caller and its service
take what they need before the attacker (real-time priority). Handshakes go to a second port of the
proxy, with mTLS. Proxies took turns, attack by attack and round by round.

`direct` is the honest caller's service itself in the place of the proxy, and for handshakes a second
service beside it. What is not of the proxy shows there, too, so a ratio says something of a proxy only
where it is far from the one of `direct`.

Figures are medians over the rounds (lowest-highest) [median of the ratios to the same round without
an attack]. Good calls are those of the worst round; a call is good if it is answered within 1 s. Times
are those of all honest calls, failed ones included. CPU is the proxy's share of its one. The last two
columns are the attacker's: how often it had to connect, and how much of its bytes was taken.'''

BARS_NOTE = '''## Bars

What Levee has to reach.'''


HARM_NOTE = f'''## What Levee remembers of its callers, and its other ports

Levee alone, since no peer has these tables, with the 96 MiB that it takes of a container of 128 MiB, a
guard and idempotency keys. The honest caller's calls have keys. It goes on for
{harm.AFTER_SECONDS} s after the attack, and then repeats all calls that were good. Of calls and new
connections {harm.LEAST_GOOD:.0%} have to be good, no repeated call may run again, and within
{harm.BACK_SECONDS} s at most {harm.BACK_MIB} MiB more may be held than before.'''


class Certificates:
    """The folders of those that mTLS shows on either side, until the `with` block ends."""

    def __init__(self):
        self._authority = Authority()
        self.proxy, self.attacker = (self._authority.issue(name) for name in ('proxy', 'attacker'))
        own = [(self.proxy / name).read_bytes() for name in ('own.crt', 'own.key')]
        (self.proxy / 'own.pem').write_bytes(b''.join(own))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._authority.__exit__()


class Targets:
    """The services that attackers call."""

    def __init__(self, helpers, cpu):
        self._child = subprocess.Popen([f'{helpers}/attack_targets'], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, preexec_fn=on_cpu(cpu))
        self.answering, self.stuck = self._child.stdout.readline().split()

    def stop(self):
        self._child.kill()
        self._child.wait()


def put_first(pid):
    """The caller and its service stand for machines of their own: the attacker, which shares their
    CPU, gets what they leave of it. Without the right to do so it gets more."""
    with contextlib.suppress(PermissionError):
        for thread in os.listdir(f'/proc/{pid}/task'):
            os.sched_setscheduler(int(thread), os.SCHED_RR, os.sched_param(1))


def victims(args):
    """Returns the proxies to attack; None stands for none."""
    peers = proxies.peers(args.helpers)
    found = [proxies.levee('levee', args.levee)] if args.levee else []
    found += [peers[name] for name in args.peers]
    for proxy in found:
        proxies.program(proxy)
    return [None, *(proxy._replace(template=HERE / 'configs' / proxy.template.name)
                    for proxy in found)]


class Arena:
    """The services and one victim of a run, until the `with` block ends. `secured` is the port with
    mTLS."""

    def __init__(self, proxy, helpers, scratch, certificates):
        self.proxy_cpu, self.load_cpu = cpus()
        self._stops = []
        try:
            self._start(proxy, helpers, scratch, certificates.proxy)
        except BaseException:
            self.__exit__()
            raise

    def _start(self, proxy, helpers, scratch, certificates):
        echo = Echo(helpers, self.load_cpu, scratch)
        self._stops.append(echo.process)
        if proxy is None:
            self.victim = Direct(echo)
            echo.process.move_to(self.proxy_cpu)
            secured = Echo(helpers, self.proxy_cpu, scratch,
                           (certificates / 'own.pem', certificates / 'ca.pem'))
            self._stops.append(secured.process)
            self.secured = secured.port
            return
        for pid in echo.process.tree():
            put_first(pid)
        targets = Targets(helpers, self.load_cpu)
        self._stops.append(targets)
        self.secured = free_port()
        values = {**proxy.values, 'ANSWERING': targets.answering, 'STUCK': targets.stuck,
                  'SECURED': self.secured, 'CERTIFICATES': certificates}
        self.victim = proxies.RunningProxy(proxy._replace(values=values), echo.port,
                                           self.proxy_cpu, scratch)
        self._stops.append(self.victim.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self._stops):
            process.stop()


def start_caller(port, start, seed, args, cpu):
    return subprocess.Popen(
        [f'{args.helpers}/storm_client', '--address', f'127.0.0.1:{port}', '--seed', str(seed),
         '--per-second', str(CALLS_PER_SECOND), '--seconds', str(args.seconds), '--start',
         str(start)], stdout=subprocess.PIPE, text=True, preexec_fn=on_cpu(cpu))


def start_attacker(name, port, cpu, certificates, args):
    stay = on_cpu(cpu)

    def prepare():
        stay()
        os.nice(ATTACKER_NICE)

    return subprocess.Popen([f'{args.helpers}/attack', name, str(port), str(args.seconds),
                             certificates.attacker],
                            stdout=subprocess.PIPE, text=True, preexec_fn=prepare)


def run(proxy, attack, number, certificates, args):
    """Returns the cases.Run of one attack on one victim."""
    with tempfile.TemporaryDirectory(prefix='levee-attacks-') as scratch, \
            Arena(proxy, args.helpers, scratch, certificates) as arena:
        victim, children = arena.victim, []
        try:
            pids = victim.process.tree()
            start = time.monotonic_ns() + int(LEAD_SECONDS * 1e9)
            caller = start_caller(victim.port, start, number + 1, args, arena.load_cpu)
            children.append(caller)
            put_first(caller.pid)
            time.sleep(LEAD_SECONDS)
            before = cpu_nanoseconds(pids)
            port = arena.secured if cases.CASES[attack].secured else victim.port
            attacker = start_attacker(attack, port, arena.load_cpu, certificates, args)
            children.append(attacker)
            lines = attacker.communicate(timeout=args.seconds + 10)[0].splitlines()
            after = cpu_nanoseconds(pids)
            calls = cases.parse_calls(caller.communicate(timeout=30)[0].splitlines())
        except subprocess.TimeoutExpired as error:
            raise BenchError(f'{attack} on {victim.proxy.name}: {error}') from error
        finally:
            for child in children:
                child.kill()
                child.wait()
        gone = before is None or after is None
        connections, taken = lines[-1].split() if lines else (0, 0)
        return cases.Run(victim.proxy.name, attack, number, calls,
                         0.0 if gone else (after - before) / (args.seconds * 1e9),
                         memory_mib(pids, 'VmHWM'), int(connections), int(taken) / MIB,
                         victim.process.end() or ('its processes changed' if gone else ''))


def describe(result):
    calls = result.calls
    return (f'{result.attack:13} {result.victim:8} {calls.good:6.1%} good, p50 {calls.p50:.2f} ms, '
            f'p99 {calls.p99:.2f} ms, max {calls.max:.1f} ms, {result.cpu:4.0%} CPU, '
            f'{result.memory_mib:.1f} MiB, {result.connections} connections, '
            f'{result.sent_mib:.1f} MiB sent {result.error}')


def parse_arguments(words):
    parser = argparse.ArgumentParser(prog='tests/attacks/run', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--levee', type=pathlib.Path, default=ROOT / 'build/levee')
    parser.add_argument('--peers', nargs='*', choices=PEERS, default=PEERS,
                        help='default all of them')
    parser.add_argument('--attacks', nargs='+', choices=cases.CASES, default=list(cases.CASES),
                        metavar='ATTACK', help=f'of {", ".join(cases.CASES)}; default all')
    parser.add_argument('--harm', nargs='*', choices=[case.name for case in harm.CASES],
                        default=[case.name for case in harm.CASES], metavar='ATTACK',
                        help='attacks on Levee alone, of '
                        f'{", ".join(case.name for case in harm.CASES)}; default all')
    parser.add_argument('--rounds', type=int, choices=range(1, 21), default=ROUNDS,
                        help=f'default {ROUNDS}')
    parser.add_argument('--seconds', type=int, choices=range(1, 61), default=SECONDS,
                        help=f'of each attack; default {SECONDS}')
    parser.add_argument('--write', action='store_true', help='write tests/attacks/RESULTS.md')
    parser.add_argument('--helpers', type=pathlib.Path, default=ROOT / 'build/tests',
                        help='where attack, attack_targets, storm_client and bench_echo are')
    args = parser.parse_args(words)
    if cases.NONE not in args.attacks:  # The others are compared with it.
        args.attacks.insert(0, cases.NONE)
    return args


def run_harm(args, certificates):
    """Returns the results of the attacks on Levee alone."""
    results = []
    for case in harm.CASES:
        if case.name not in args.harm or not args.levee:
            continue
        targets = Targets(args.helpers, cpus()[1])
        try:
            results.append(harm.run(case, args, certificates, targets, sys.modules[__name__]))
        finally:
            targets.stop()
        print(harm.describe(results[-1]), file=sys.stderr)
    return results


def render(runs, results, versions, args):
    command = f'tests/attacks/run --rounds {args.rounds} --seconds {args.seconds} --write'
    facts = document.facts(versions, args.rounds, 1, [])
    facts['Rounds'] = f'{args.rounds} of {args.seconds} s'
    bars = cases.bars(runs, 'levee')
    return '\n\n'.join([
        INTRO.format(command=command, rate=CALLS_PER_SECOND),
        '\n'.join(f'- {name}: {fact}' for name, fact in facts.items()),
        cases.tables(runs), BARS_NOTE, cases.bar_table(bars), HARM_NOTE,
        harm.table(results)]) + '\n'


def main(words):
    args = parse_arguments(words)
    found = victims(args)
    versions = {proxy.name: proxies.version(proxy) for proxy in found if proxy}
    runs = []
    with Certificates() as certificates:
        for number in range(args.rounds):
            for attack in args.attacks:
                for proxy in rotated(found, number):
                    runs.append(run(proxy, attack, number, certificates, args))
                    print(f'round {number + 1} of {args.rounds}: {describe(runs[-1])}',
                          file=sys.stderr)
        results = run_harm(args, certificates)
    text = render(runs, results, versions, args)
    print(text, end='')
    if args.write:
        RESULTS.write_text(text, encoding='utf-8')
    return 0


if __name__ == '__main__':
    # Ends through the `finally` paths, so that nothing started here stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except BenchError as reason:
        sys.exit(f'attacks: {reason}')
