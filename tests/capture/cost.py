#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a captured connection costs, beside one that comes to Levee by itself: CPU time, user and
system, per connection with one call, and per call of a connection that stays. The kernel's share of a
redirection falls to the caller. Both kinds take turns, round by round, in a network namespace that
this makes; so it needs root, and either nft or iptables.
"""

import argparse
import os
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'bench'))
import hpack

import network
from processes import BenchError, Process, cpu_nanoseconds, cpus, free_port

BUILD = pathlib.Path(os.environ.get('LEVEE_BUILD', HERE.parents[1] / 'build'))
HELPERS = pathlib.Path(os.environ.get('INTEROP_PROGRAMS', BUILD / 'tests'))
USER = 65532
AS_USER = ('setpriv', f'--reuid={USER}', f'--regid={USER}', '--clear-groups')
CONFIG = '''
listeners:
  - {name: captured, address: "127.0.0.1:9470", capture: [original_dst]}
  - {name: direct, address: "127.0.0.1:9460", capture: [h2c]}
metrics: {address: none}
admin: {address: none}
upstreams: [{name: echo, endpoints: ["127.0.0.1:@ECHO@"]}]
routes: [{upstream: echo}]
'''
# Nobody listens there: the firewall leads to Levee before.
PATHS = {'captured': (network.SERVICE4, 50051), 'direct': ('127.0.0.1', 9460)}
LISTENING = [f'listening {name}' for name in PATHS]
AT_ONCE = 100
DATA, HEADERS, RESET, SETTINGS, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 7, 8
END_STREAM, END_HEADERS = 1, 4
MOST = 0x7fffffff


def frame(kind, flags, stream, payload):
    return struct.pack('>I', len(payload))[1:] + struct.pack('>BBI', kind, flags, stream) + payload


GREETING = (b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + frame(SETTINGS, 0, 0, b'') +
            frame(WINDOW_UPDATE, 0, 0, struct.pack('>I', MOST - 65535)))


class Caller:
    """One connection with calls whose bytes are made beforehand."""

    def __init__(self, address, port):
        self._socket = socket.create_connection((address, port), timeout=network.WATCHDOG_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._encoder = hpack.Encoder()
        self._sent = 0
        self._received = b''
        self._greeting = GREETING

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def call(self, count):
        """Makes that many calls at a time and returns when all have been answered."""
        fields = [(':method', 'POST'), (':scheme', 'http'), (':path', '/shop.Cart/Get'),
                  (':authority', 'cart.shop:50051'), ('te', 'trailers'),
                  ('content-type', 'application/grpc')]
        text, self._greeting = self._greeting, b''
        for _ in range(count):
            stream = 2 * self._sent + 1
            self._sent += 1
            text += frame(HEADERS, END_HEADERS, stream, self._encoder.encode(fields))
            text += frame(DATA, END_STREAM, stream, b'\0\0\0\0\5hello')
        self._socket.sendall(text)
        while count > 0:
            count -= self._ended()

    def _ended(self):
        """Reads once and returns how many calls ended with that."""
        more = self._socket.recv(1 << 20)
        if not more:
            raise BenchError('the connection ended')
        self._received += more
        at = ended = 0
        while len(self._received) - at >= 9:
            size = int.from_bytes(self._received[at:at + 3], 'big')
            kind, flags = self._received[at + 3:at + 5]
            if len(self._received) - at < 9 + size:
                break
            if kind in (RESET, GOAWAY):
                raise BenchError('a call was reset')
            ended += kind in (DATA, HEADERS) and flags & END_STREAM
            at += 9 + size
        self._received = self._received[at:]
        return ended


class Arena:
    """Levee between its caller and a service, with rules of the firewall, until the `with` block
    ends. `before`: words in front of Levee's command."""

    def __init__(self, scratch, before=(), more=()):
        self._network = network.Network()
        self._processes = []
        os.chmod(scratch, 0o777)  # Levee is another user.
        try:
            self._start(pathlib.Path(scratch), before, more)
        except BaseException:
            self.__exit__()
            raise

    def _start(self, scratch, before, more):
        cpu, self.load_cpu = cpus()
        app = self._network.app
        with app.inside():  # Children stay there.
            rules = subprocess.run([BUILD / 'levee', 'capture', '--ports', '50051', '--to', '9470',
                                    '--uid', str(USER)], capture_output=True, text=True, check=False)
            if rules.returncode != 0:
                raise BenchError(rules.stderr)
            echo_port = free_port()
            self._run('echo', [HELPERS / 'bench_echo', str(echo_port)], self.load_cpu,
                      scratch).wait_until_ready(echo_port)
            config = scratch / 'levee.yaml'
            config.write_text(CONFIG.replace('@ECHO@', str(echo_port)))
            self.levee = self._run('levee', [
                *AS_USER, *before,
                BUILD / 'levee', 'run', '--workers', '1', '--config', config, *more], cpu, scratch)
            self.levee.wait_until_ready(9460, LISTENING)

    def _run(self, *words):
        process = Process(*words)
        self._processes.append(process)
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self._processes):
            process.stop()
        self._network.close()

    def connect(self, path, count):
        """Makes connections one after the other, with a call each."""
        with self._network.app.inside():
            for _ in range(count):
                with Caller(*PATHS[path]) as caller:
                    caller.call(1)

    def call(self, path, count):
        """Makes calls on one connection."""
        with self._network.app.inside(), Caller(*PATHS[path]) as caller:
            for _ in range(count // AT_ONCE):
                caller.call(AT_ONCE)

    def cpu_us(self, work, path, count):
        """Returns for each of them Levee's CPU, and the sum of that and the caller's."""
        pids = self.levee.tree()
        levee, caller = cpu_nanoseconds(pids), time.process_time_ns()
        work(path, count)
        levee, caller = cpu_nanoseconds(pids) - levee, time.process_time_ns() - caller
        return levee / 1000 / count, (levee + caller) / 1000 / count


def spread(values):
    return f'{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})'


def measure(args):
    """Returns, for connections and calls, {path: what cpu_us said in each round}."""
    with tempfile.TemporaryDirectory(prefix='levee-capture-') as scratch, Arena(scratch) as arena:
        os.sched_setaffinity(0, {arena.load_cpu})
        loads = {'connection': (arena.connect, args.connections), 'call': (arena.call, args.calls)}
        found = {what: {path: [] for path in PATHS} for what in loads}
        for work, count in loads.values():
            for path in PATHS:
                work(path, count // 10 // AT_ONCE * AT_ONCE + AT_ONCE)
        for number in range(args.rounds):
            for what, (work, count) in loads.items():
                for path in sorted(PATHS, reverse=number % 2 == 1):
                    found[what][path].append(arena.cpu_us(work, path, count))
    return found


def table(found):
    lines = ['| CPU, us | captured | direct | difference |', '| --- | ---: | ---: | ---: |']
    for what, times in found.items():
        for of, who in enumerate(('of Levee', 'of Levee and its caller')):
            captured, direct = ([each[of] for each in times[path]] for path in PATHS)
            more = [one - other for one, other in zip(captured, direct)]
            lines.append(f'| per {what}, {who} | {spread(captured)} | {spread(direct)} | '
                         f'{spread(more)} |')
    return '\n'.join(lines)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=9, help='default %(default)s')
    parser.add_argument('--connections', type=int, default=2000,
                        help='in each round; default %(default)s')
    parser.add_argument('--calls', type=int, default=50_000, help='likewise; default %(default)s')
    print(table(measure(parser.parse_args(words))))
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except BenchError as reason:
        sys.exit(f'cost: {reason}')
