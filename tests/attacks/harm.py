# SPDX-License-Identifier: Apache-2.0
"""Attacks on what a sidecar remembers of its callers, and on its other ports.

No peer has these tables, so Levee is attacked alone, with the limit of memory that a container of
128 MiB gives it. An honest caller, whose calls have idempotency keys, makes them during the attack and
after it, and repeats them all at the end, or has them retried without keys; beside attacks on TLS
another one connects anew each time.
"""

import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from typing import NamedTuple

import cases
import proxies
from processes import cpus, free_port, memory_mib
from report import markdown

HERE = pathlib.Path(__file__).resolve().parent
AFTER_SECONDS = 6  # for which the honest caller goes on
BACK_SECONDS = 60  # within which the memory is to be back
BACK_MIB = 24  # more than before the first call may stay: what full tables may take
LEAST_GOOD = 0.99
NEWCOMER_SECONDS = 1  # within which a new connection is to be there
# The preface of HTTP/2 and empty SETTINGS (RFC 9113, section 3.4).
GREETING = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0'


class Case(NamedTuple):
    name: str
    text: str
    port: str = 'bench'  # the listener, or `admin`
    newcomers: bool = False  # whether others connect anew meanwhile
    retried: bool = False  # whether the honest caller's calls are retried, and have no keys


CASES = (
    Case('long-authorities', '500 calls a second, each with another authority of 15 KB', 'open'),
    Case('many-authorities', '2000 calls a second, each with another authority of 60 bytes', 'open'),
    Case('small-keys', '20,000 calls a second with keys of 30 bytes'),
    Case('long-keys', '2000 calls a second with keys of 15 KB'),
    Case('lost-keys', '10,000 calls a second with keys and deadlines of 1 ms to a method that never '
         'answers'),
    Case('abandoned-calls', '500 calls a second with keys and without deadlines to a method that never '
         'answers, whose callers go at once'),
    Case('short-deadlines', '500 calls a second with deadlines of 1 ms to a method that never answers'),
    Case('key-updates', '20,000 changes of the keys of TLS a second', 'secured', True),
    Case('silent-handshakes', '500 connections a second, of which 400 stay, that send no ClientHello',
         'secured', True),
    Case('silent-admin', '500 connections a second to the admin port of gRPC, of which 400 stay',
         'admin'),
    Case('idle-connections', '3000 connections a second that stay, each with a full table of header '
         'fields', newcomers=True),
    Case('endless-uploads', '1000 requests of up to 64 KiB that do not end, of calls that may be retried; of '
         "the honest caller's attempts one of 25 fails", 'open', retried=True),
)


class Result(NamedTuple):
    name: str
    during: cases.Calls
    after: cases.Calls
    replayed: int
    repeated: int
    newcomers: float | None  # share of the new connections with TLS that were there in time
    before_mib: float
    most_mib: float
    after_mib: float
    back_seconds: int | None  # None: not within BACK_SECONDS
    sent_mib: float
    error: str = ''

    def missed(self):
        """Returns what is not as promised, in words."""
        told = []
        for when, calls in (('during', self.during), ('after', self.after)):
            if not calls.good >= LEAST_GOOD:
                told.append(f'{calls.good:.1%} of the calls {when} it are good')
        if self.replayed < self.repeated:
            told.append(f'{self.repeated - self.replayed} calls ran twice')
        if self.newcomers is not None and self.newcomers < LEAST_GOOD:
            told.append(f'{self.newcomers:.1%} of the new connections are there in time')
        if self.back_seconds is None:
            told.append(f'{self.after_mib:.1f} MiB stay')
        if self.error:
            told.append(self.error)
        return '; '.join(told)


class Newcomers(threading.Thread):
    """Connects anew with TLS again and again, until `stop`."""

    def __init__(self, port, certificates):
        super().__init__(daemon=True)
        self._port = port
        self._context = ssl.create_default_context(cafile=certificates / 'ca.pem')
        self._context.check_hostname = False
        self._context.set_alpn_protocols(['h2'])
        self._context.load_cert_chain(certificates / 'own.crt', certificates / 'own.key')
        self._stopped = threading.Event()
        self._tried = self._good = 0
        self.start()

    def run(self):
        while not self._stopped.wait(0.05):
            self._tried += 1
            try:
                with socket.create_connection(('127.0.0.1', self._port),
                                              timeout=NEWCOMER_SECONDS) as plain, \
                        self._context.wrap_socket(plain) as secured:
                    secured.sendall(GREETING)
                    self._good += secured.recv(1) != b''
            except OSError:
                pass

    def stop(self):
        """Returns the share of the connections that were there in time."""
        self._stopped.set()
        self.join()
        return self._good / max(self._tried, 1)


def parse(lines, seconds):
    """Returns the honest caller's calls during the attack and after it, how many of its repeated
    calls got the answer of the first, and how many it repeated."""
    replayed, repeated = 0, 0
    calls = []
    for line in lines:
        words = line.split()
        if words[0] == 'replayed':
            replayed, repeated = int(words[1]), int(words[3])
        else:
            calls.append(line)
    began = [int(line.split()[0]) < seconds * 1000 for line in calls]
    return (cases.parse_calls([line for line, early in zip(calls, began) if early]),
            cases.parse_calls([line for line, early in zip(calls, began) if not early]),
            replayed, repeated)


def await_memory(pids, most):
    """Returns the memory in MiB, and after how many seconds it was `most` at most."""
    for second in range(BACK_SECONDS + 1):
        held = memory_mib(pids, 'VmRSS')
        if held <= most:
            return held, second
        time.sleep(1)
    return held, None


def run(case, args, certificates, targets, attacks):
    """Returns the Result of one attack. `attacks`: the module that starts callers and attackers."""
    proxy_cpu, load_cpu = cpus()
    ports = {name: free_port() for name in ('open', 'secured', 'admin')}
    values = {'ANSWERING': targets.answering, 'OPEN': ports['open'], 'SECURED': ports['secured'],
              'ADMIN': ports['admin'], 'CERTIFICATES': certificates.proxy}
    proxy = proxies.levee('levee', args.levee, HERE / 'configs/harm.yaml.in')._replace(values=values)
    children = []
    with tempfile.TemporaryDirectory(prefix='levee-harm-') as scratch:
        victim = proxies.RunningProxy(proxy, targets.answering, proxy_cpu, scratch)
        try:
            ports['bench'] = victim.port
            pids = victim.process.tree()
            before = memory_mib(pids, 'VmRSS')
            start = time.monotonic_ns() + int(attacks.LEAD_SECONDS * 1e9)
            honest = (('open', '--method', '/test.Flaky/Unary') if case.retried else
                      ('bench', '--method', '/test.Echo/Unary', '--keyed'))
            caller = subprocess.Popen(
                [f'{args.helpers}/storm_client', '--address', f'127.0.0.1:{ports[honest[0]]}',
                 *honest[1:], '--per-second',
                 str(attacks.CALLS_PER_SECOND), '--seconds', str(args.seconds + AFTER_SECONDS),
                 '--start', str(start)],
                stdout=subprocess.PIPE, text=True, preexec_fn=attacks.on_cpu(load_cpu))
            children.append(caller)
            attacks.put_first(caller.pid)
            time.sleep(attacks.LEAD_SECONDS)
            newcomers = (Newcomers(ports['secured'], certificates.attacker)
                         if case.newcomers else None)
            attacker = attacks.start_attacker(case.name, ports[case.port], load_cpu, certificates,
                                              args)
            children.append(attacker)
            last = attacker.communicate(timeout=args.seconds + 10)[0].splitlines()
            share = newcomers.stop() if newcomers else None
            lines = caller.communicate(timeout=120)[0].splitlines()
            held, back = await_memory(pids, before + BACK_MIB)
            return Result(case.name, *parse(lines, args.seconds), share, before,
                          memory_mib(pids, 'VmHWM'), held, back,
                          int(last[-1].split()[1]) / attacks.MIB if last else 0.0,
                          victim.process.end())
        finally:
            for child in children:
                child.kill()
                child.wait()
            victim.process.stop()


def describe(result):
    return (f'{result.name:17} {result.during.good:6.1%} good during, {result.after.good:6.1%} after, '
            f'{result.replayed} of {result.repeated} replayed, RSS {result.before_mib:.1f}, '
            f'{result.most_mib:.1f}, {result.after_mib:.1f} MiB, {result.sent_mib:.1f} MiB sent '
            f'{result.missed() or "as promised"}')


HEADER = ['attack', 'good during', 'good after', 'p99 during, ms', 'repeated calls that got their '
          'first answer', 'new connections in time', 'RSS before, at most, after, MiB',
          'back after, s', 'sent, MiB']


def table(results):
    texts = {case.name: case.text for case in CASES}
    rows = []
    for result in results:
        rows.append([
            texts[result.name], f'{result.during.good:.1%}', f'{result.after.good:.1%}',
            f'{result.during.p99:.1f}', f'{result.replayed} of {result.repeated}',
            '' if result.newcomers is None else f'{result.newcomers:.1%}',
            f'{result.before_mib:.1f}, {result.most_mib:.1f}, {result.after_mib:.1f}',
            'not' if result.back_seconds is None else str(result.back_seconds),
            f'{result.sent_mib:.1f}'])
    told = [f'- {result.name}: {result.missed()}' for result in results if result.missed()]
    return markdown(HEADER, rows) + ('\n\nMissed:\n\n' + '\n'.join(told) if told else '')


__all__ = ['CASES', 'Result', 'describe', 'parse', 'run', 'table']
