# SPDX-License-Identifier: Apache-2.0
"""Connections of an application that knows nothing of Levee, which the firewall redirects to it."""

import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

try:
    import h2.connection  # noqa: F401
except ImportError as error:
    raise unittest.SkipTest(f'{error.name} is missing; make deps installs it')

import network
import peers

LEVEE = pathlib.Path(os.environ['LEVEE_BUILD']) / 'levee'
USER = 65532
RULES = ['--ports', '50051,9090-9099', '--to', '9470', '--uid', str(USER)]
CONFIG = '''
listeners:
  - {name: captured, address: "127.0.0.1:9470", capture: [original_dst]}
  - {name: captured-v6, address: "[::1]:9470", capture: [original_dst]}
metrics: {address: "127.0.0.1:9461"}
admin: {address: none}
upstreams:
  - {name: original, endpoints: ["original:"]}
  - {name: cart, endpoints: ["10.77.0.2:50052"]}
routes:
  - {match: {authority: "cart.shop:*"}, upstream: cart}
  - {upstream: original}
access_log: {path: stdout, when: [all]}
'''


def backends():
    found = ['nft'] if shutil.which('nft') else []
    return found + (['iptables'] if shutil.which('iptables-restore') else [])


class Sidecars(unittest.TestCase):
    """Levee in a network with the application, and the service's beside it."""

    def setUp(self):
        self.network = network.Network()
        self.addCleanup(self.network.close)
        self.app, self.services = self.network.app, self.network.services
        if not backends():
            self.skipTest('neither nft nor iptables is installed; make deps installs them')

    def capture(self, *more, rules=RULES):
        return self.app.run(LEVEE, 'capture', *rules, *more)

    def captured(self, *more, rules=RULES):
        done = self.capture(*more, rules=rules)
        self.assertEqual(done.returncode, 0, done.stderr)

    def sidecar(self, config=CONFIG, user=USER):
        """Starts Levee as a user of its own in the application's network."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        file = pathlib.Path(folder.name) / 'levee.yaml'
        file.write_text(config)
        log = open(pathlib.Path(folder.name) / 'log', 'w+')
        self.addCleanup(log.close)
        self.log = log
        process = subprocess.Popen(
            ['setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups', LEVEE, 'run',
             '--config', file, '--log-level', 'error', '--log-format', 'json'],
            stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=self.app.enter)
        self.lines_of_log = process.stdout
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if line.startswith('listening metrics'):
                return
        self.fail('Levee has not started')

    def serve(self, address, port, serve):
        server = peers.Server(self.services, address, port, serve)
        self.addCleanup(server.close)
        return server

    def events(self):
        self.log.seek(0)
        return [json.loads(line) for line in self.log]

    def metric(self, name, label=''):
        with peers.connect(self.app, '127.0.0.1', 9461) as client:
            client.sendall(b'GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
            text = b''.join(iter(lambda: client.recv(65536), b'')).decode()
        lines = [line for line in text.splitlines()
                 if line.startswith((name + '{', name + ' ')) and label in line]
        return sum(float(line.rsplit(' ', 1)[1]) for line in lines)


class Capture(Sidecars):

    def test_p1_calls_of_both_families_are_captured_and_retried(self):
        self.sidecar()
        self.captured()
        for address in (network.SERVICE4, network.SERVICE6):
            with self.subTest(address=address):
                service = peers.Service(failures=1)
                self.serve(address, peers.PORT, service)
                self.assertEqual(peers.call(self.app, address), ('0', b'hello', ''))
                self.assertEqual(len(service.heads), 2)
                self.assertIn('via', service.heads[0])
                self.assertEqual(service.heads[1]['grpc-previous-rpc-attempts'], '1')
                shown = f'[{address}]' if ':' in address else address
                self.assertEqual(json.loads(self.lines_of_log.readline())['original_destination'],
                                 f'{shown}:{peers.PORT}')

    def test_p1_a_client_that_is_silent_for_long_is_captured_and_retried_too(self):
        self.sidecar()
        self.captured()
        service = peers.Service(failures=1)
        reached = threading.Event()

        def serve(connection):
            reached.set()  # Levee has waited long enough for the client.
            service(connection)  # It speaks first, as every server of HTTP/2.

        self.serve(network.SERVICE4, peers.PORT, serve)
        answer = peers.call(self.app, network.SERVICE4,
                            wait=lambda: reached.wait(network.WATCHDOG_SECONDS))
        self.assertEqual(answer, ('0', b'hello', ''))
        self.assertEqual([head.get('grpc-previous-rpc-attempts') for head in service.heads],
                         [None, '1'])
        self.assertEqual(self.metric('levee_tunnelled_bytes_total'), 0)

    def test_p1_the_authority_decides_before_the_original_destination(self):
        self.sidecar()
        self.captured()
        nobody, cart = peers.Service(), peers.Service()
        self.serve(network.SERVICE4, peers.PORT, nobody)
        self.serve(network.SERVICE4, 50052, cart)
        answer = peers.call(self.app, network.SERVICE4, authority='cart.shop:50051')
        self.assertEqual(answer, ('0', b'hello', ''))
        self.assertEqual((len(nobody.heads), len(cart.heads)), (0, 1))

    def test_p1_other_ports_networks_and_the_loopback_interface_are_left_alone(self):
        self.captured('--exclude', 'fd77::/64')
        for host, address, port in ((self.services, network.SERVICE4, 50052),
                                    (self.services, network.SERVICE6, peers.PORT),
                                    (self.app, '127.0.0.1', peers.PORT),
                                    (self.app, network.APP4, 9095)):
            with self.subTest(address=address, port=port):
                # Nobody listens at 9470, so what is redirected fails.
                server = peers.Server(host, address, port, peers.Service())
                self.addCleanup(server.close)
                self.assertEqual(peers.call(self.app, address, port), ('0', b'hello', ''))
        with self.assertRaises(ConnectionRefusedError):
            peers.connect(self.app, network.SERVICE4)

    def test_p2_rules_are_the_same_after_a_second_time_and_gone_after_removal(self):
        for backend in backends():
            with self.subTest(backend=backend):
                more = ['--backend', backend, '--gid', '7', '--exclude', '10.1.2.3/8',
                        '--exclude', 'fd00:1::7', '--exclude', '10.9.9.9']
                ruleset = {'nft': ['nft', 'list', 'ruleset'],
                           'iptables': ['iptables-save', '-t', 'nat']}[backend]
                rules = ['--ports', ','.join(str(port) for port in range(1, 61, 2)), *RULES[2:]]
                self.assertEqual(self.capture(*more, '--check', rules=rules).returncode, 1)
                once = self.capture(*more, rules=rules)
                self.assertEqual(once.returncode, 0, once.stderr)
                before = self.lines(*ruleset)
                self.assertEqual(self.capture(*more, rules=rules).returncode, 0)
                self.assertEqual(self.lines(*ruleset), before)
                self.assertEqual(self.capture(*more, '--check', rules=rules).returncode, 0)
                self.assertEqual(self.capture('--backend', backend, '--check').returncode, 1)
                for _ in range(2):
                    gone = self.app.run(LEVEE, 'capture', '--remove', '--backend', backend)
                    self.assertEqual(gone.returncode, 0, gone.stderr)
                self.assertNotIn('9470', '\n'.join(self.lines(*ruleset)))
                self.assertNotIn('LEVEE', '\n'.join(self.lines(*ruleset)))

    def lines(self, *command):
        return [line for line in self.app.must(*command).splitlines() if not line.startswith('#')]

    @unittest.skipUnless(shutil.which('iptables-restore'), 'iptables is not installed')
    def test_p2_one_family_that_fails_leaves_the_other_as_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            # As ip6tables of a system without NAT for IPv6.
            broken = pathlib.Path(folder) / 'ip6tables-restore'
            broken.write_text('#!/bin/sh\ncase "$*" in *--test*) exit 0;; esac\n'
                              'echo no table nat >&2; exit 3\n')
            broken.chmod(0o755)
            environment = dict(os.environ, PATH=f'{folder}:{os.environ["PATH"]}')
            done = self.app.run(LEVEE, 'capture', *RULES, '--backend', 'iptables', env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn('no table nat', done.stderr)
        self.assertNotIn('LEVEE', self.app.must('iptables-save', '-t', 'nat'))

    def test_p2_the_network_of_the_host_is_refused(self):
        if not os.path.exists('/proc/sys/net/core/netdev_max_backlog'):
            self.skipTest('this test runs in a network of its own')
        done = subprocess.run([LEVEE, 'capture', *RULES], capture_output=True, text=True,
                              timeout=network.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 1)
        self.assertIn("this is the host's network", done.stderr)

    def test_p3_whatever_is_no_http2_is_relayed_byte_for_byte_with_half_closes(self):
        self.sidecar()
        self.captured()

        def digest(connection):
            size, digest = 0, hashlib.sha256()
            while data := connection.recv(65536):
                size += len(data)
                digest.update(data)
            connection.sendall(f'{size} {digest.hexdigest()}'.encode())
            connection.shutdown(socket.SHUT_WR)

        self.serve(network.SERVICE4, 9090, digest)
        hello = b'\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03'
        for begin in (hello, b'GET / HTTP/1.1\r\nhost: a\r\n\r\n', b'CONNECT a:1 HTTP/1.1\r\n\r\n',
                      b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r!', b'\0\xff garbage', b'P', b''):
            with self.subTest(begin=begin), peers.connect(self.app, network.SERVICE4, 9090) as client:
                sent = begin if len(begin) < 2 else begin + os.urandom(3 << 20)
                client.sendall(sent)
                client.shutdown(socket.SHUT_WR)
                answer = b''.join(iter(lambda: client.recv(65536), b'')).decode()
                self.assertEqual(answer, f'{len(sent)} {hashlib.sha256(sent).hexdigest()}')
        self.assertGreater(self.metric('levee_tunnelled_bytes_total'), 12 << 20)

    def test_p3_a_server_that_speaks_first_is_heard(self):
        self.sidecar()
        self.captured()

        def greet(connection):
            connection.sendall(b'5.7.0 ready')
            connection.sendall(b'you said ' + connection.recv(100))
            connection.shutdown(socket.SHUT_WR)

        self.serve(network.SERVICE6, 9099, greet)
        with peers.connect(self.app, network.SERVICE6, 9099) as client:
            self.assertEqual(client.recv(11), b'5.7.0 ready')
            client.sendall(b'login')
            self.assertEqual(b''.join(iter(lambda: client.recv(100), b'')), b'you said login')

    def test_p4_a_call_to_the_listener_itself_is_told_so(self):
        self.sidecar()
        self.captured()
        status, _, text = peers.call(self.app, '127.0.0.1', 9470)
        self.assertEqual(status, '12')
        self.assertIn('was not redirected', text)
        with peers.connect(self.app, '127.0.0.1', 9470) as client:
            client.sendall(b'GET / HTTP/1.1\r\n\r\n')
            self.assertIn(b'this one was not', client.recv(4096))

    def test_p4_rules_for_another_user_than_levees_end_what_would_go_round_with_a_clear_error(self):
        self.sidecar()
        self.captured(rules=[*RULES[:4], '--uid', str(USER + 1)])
        for address in (network.SERVICE4, network.SERVICE6):
            with self.subTest(address=address):
                status, _, text = peers.call(self.app, address)
                self.assertEqual(status, '12')
                self.assertIn('--uid', text)
        # What the caller says first, and a caller who waits for the server to speak.
        for address, first in ((network.SERVICE4, b'\0garbage'), (network.SERVICE6, b'\0garbage'),
                               (network.SERVICE4, b'')):
            with self.subTest(address=address, first=first), \
                    peers.connect(self.app, address, 9090) as client:
                client.sendall(first)
                try:
                    self.assertEqual(client.recv(100), b'')
                except ConnectionResetError:
                    pass
        # One refusal each, and not one for each turn round.
        self.assertEqual(self.metric('levee_downstream_rejects_total', 'reason="loop"'), 5)
        self.assertEqual(self.metric('levee_limit_hits_total'), 0)
        loop, = (event for event in self.events() if event['event'] == 'capture_loop')
        self.assertEqual(loop['fields'], {'listener': 'captured', 'user': USER,
                                          'destination': f'{network.SERVICE4}:50051'})

    @unittest.skipUnless(shutil.which('nft'), 'nft is not installed')
    def test_p4_an_application_that_calls_its_own_service_reaches_itself_once(self):
        self.sidecar()
        self.captured()
        own = self.network.lead_back()
        service = peers.Service()
        for port, serve in ((peers.PORT, service), (9090, lambda c: c.sendall(c.recv(100)))):
            server = peers.Server(self.app, network.APP4, port, serve)
            self.addCleanup(server.close)
        self.assertEqual(peers.call(self.app, own), ('0', b'hello', ''))
        self.assertEqual([head['via'].count('levee') for head in service.heads], [1])
        with peers.connect(self.app, own, 9090) as client:
            client.sendall(b'plain')
            self.assertEqual(client.recv(100), b'plain')
        # By its own address it calls itself over loopback, without Levee.
        self.assertEqual(peers.call(self.app, network.APP4), ('0', b'hello', ''))
        self.assertNotIn('via', service.heads[1])

    def test_p4_connections_of_levees_own_user_are_not_captured(self):
        self.captured()  # Nobody listens at 9470.
        self.serve(network.SERVICE4, 9090, lambda connection: connection.sendall(b'here'))
        script = f"import socket; print(socket.create_connection(('{network.SERVICE4}', 9090)).recv(9))"
        for user, works in ((USER, True), (USER + 1, False)):
            done = self.app.run('setpriv', f'--reuid={user}', '--clear-groups', '/usr/bin/env',
                                'python3', '-c', script)
            self.assertEqual('here' in done.stdout, works, done.stderr)


if __name__ == '__main__':
    unittest.main()
