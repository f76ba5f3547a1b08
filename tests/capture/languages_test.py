# SPDX-License-Identifier: Apache-2.0
"""Unchanged gRPC clients of five languages, whose calls are captured and retried: those of
tests/interop, which `make interop-deps` fetches. A language without its parts is skipped."""

import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'interop'))

import capture_test
import languages
import network
import unprivileged

PORT = 50051
NAME = 'cart.shop'
SERVICE = languages.PROGRAMS / 'interop_service'
SAID = ['unary hello', 'stream sssss sssss sssss', 'chat one two three']
POLICY = '''
listeners:
  - {name: services, address: "127.0.0.1:50051", capture: [h2c]}
metrics: {address: none}
admin: {address: none}
upstreams:
  - {name: anywhere, endpoints: ["authority:"], resolve: dns}
routes:
  - {upstream: anywhere}
'''


def client_of(language):
    """Returns how its client is started, or skips the test."""
    if not SERVICE.exists():
        raise unittest.SkipTest(f'{SERVICE} is not built')
    language.skip_if_missing()
    return language.prepare()('client')


def told_by(service):
    """Ends the service. Returns its calls: method, authority, attempts before it."""
    output, _ = service.communicate(timeout=network.WATCHDOG_SECONDS)
    return [tuple(line.split()) for line in output.splitlines()]


def retried(target):
    """What the service tells if each of the three calls failed once and was retried by Levee."""
    return [(f'/shop.Cart/{method}', target, before)
            for method in ('Unary', 'Stream', 'Chat') for before in ('0', '1')]


def environment(client):
    kept = {name: value for name, value in os.environ.items()
            if not name.lower().endswith('_proxy')}
    return {**kept, **client.environment}


class _Language:
    """The tests of a language; a class for each runs them."""

    language = None

    def run_client(self, client, words, target, **more):
        # The client dials the service itself, by what it has always called it.
        return subprocess.run([*words, 'calls', target, target], env=environment(client),
                              capture_output=True, text=True, timeout=network.WATCHDOG_SECONDS, **more)

    def check_said(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), SAID)


class _Captured(_Language):

    def check(self, address):
        client = client_of(self.language)
        self.sidecar()
        self.captured()
        service = subprocess.Popen([SERVICE, address, str(PORT)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True,
                                   preexec_fn=self.services.enter)
        self.addCleanup(service.communicate)
        self.addCleanup(service.kill)
        target = f'{address}:{PORT}'
        self.assertEqual(service.stdout.readline(), f'listening {target}\n')
        done = self.run_client(client, client.command, target, preexec_fn=self.app.enter)
        self.check_said(done)
        self.assertEqual(told_by(service), retried(target))
        self.assertEqual(self.metric('levee_retries_total'), 3)

    def test_p1_its_calls_over_ipv4_are_captured_and_retried(self):
        self.check(network.SERVICE4)

    def test_p1_its_calls_over_ipv6_are_captured_and_retried(self):
        self.check(f'[{network.SERVICE6}]')


class _ByName(_Language):

    def test_p6_its_calls_by_name_are_captured_and_retried_without_any_privilege(self):
        client = client_of(self.language)
        pod = unprivileged.Pod([NAME])
        self.addCleanup(pod.close)
        pod.privileged('python3', '-B', HERE / 'dns.py', unprivileged.SERVICE, NAME,
                       unprivileged.SERVICE)
        service = pod.unprivileged(SERVICE, unprivileged.SERVICE, PORT, stdin=subprocess.PIPE)
        levee = pod.unprivileged(capture_test.LEVEE, 'run', '--config',
                                 pod.file('levee.yaml', POLICY), '--log-level', 'off')
        for line in unprivileged.capabilities(levee):
            self.assertEqual(int(line.split()[1], 16), 0, line)
        target = f'{NAME}:{PORT}'
        self.check_said(self.run_client(client, pod.without_privileges(client.command), target))
        self.assertEqual(told_by(service), retried(target))


class CppCaptured(_Captured, capture_test.Sidecars):
    language = languages.CPP


class GoCaptured(_Captured, capture_test.Sidecars):
    language = languages.GO


class JavaCaptured(_Captured, capture_test.Sidecars):
    language = languages.JAVA


class PythonCaptured(_Captured, capture_test.Sidecars):
    language = languages.PYTHON


class NodeCaptured(_Captured, capture_test.Sidecars):
    language = languages.NODE


class CppByName(_ByName, unittest.TestCase):
    language = languages.CPP


class GoByName(_ByName, unittest.TestCase):
    language = languages.GO


class JavaByName(_ByName, unittest.TestCase):
    language = languages.JAVA


class PythonByName(_ByName, unittest.TestCase):
    language = languages.PYTHON


class NodeByName(_ByName, unittest.TestCase):
    language = languages.NODE


if __name__ == '__main__':
    unittest.main()
