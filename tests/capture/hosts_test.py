# SPDX-License-Identifier: Apache-2.0
"""Capture without privileges: names of services lead to Levee, in a pod where nobody has NET_ADMIN."""

import json
import os
import pathlib
import shutil
import unittest

import unprivileged

HERE = pathlib.Path(__file__).resolve().parent
LEVEE = pathlib.Path(os.environ['LEVEE_BUILD']) / 'levee'
GRPC = HERE / 'grpc.mjs'
NAME = 'cart.shop'
CONFIG = '''
listeners:
  - {name: services, address: "127.0.0.1:50051", capture: [h2c]}
metrics: {address: none}
admin: {address: none}
upstreams:
  - {name: anywhere, endpoints: ["authority:"], resolve: %s}
routes:
  - {upstream: anywhere}
'''


class Hosts(unittest.TestCase):

    def setUp(self):
        if not (HERE.parent / 'page/node_modules').exists():
            self.skipTest('tests/page/node_modules is missing; make deps fetches it')
        if not shutil.which('node'):
            self.skipTest('node is not installed; make deps installs it')
        self.pod = unprivileged.Pod([NAME])
        self.addCleanup(self.pod.close)
        self.pod.privileged('python3', '-B', HERE / 'dns.py', unprivileged.SERVICE, NAME,
                            unprivileged.SERVICE)

    def sidecar(self, resolve):
        config = self.pod.file('levee.yaml', CONFIG % resolve)
        return self.pod.unprivileged(LEVEE, 'run', '--config', config, '--log-level', 'off')

    def call(self, target):
        done = self.pod.run('node', GRPC, 'call', target)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def serve(self, failures):
        self.pod.unprivileged('node', GRPC, 'serve', f'{unprivileged.SERVICE}:50051', failures)

    def test_p6_an_unchanged_client_is_captured_by_the_name_of_the_service_and_retried(self):
        self.serve(failures=1)
        levee = self.sidecar('dns')
        for line in unprivileged.capabilities(levee):
            self.assertEqual(int(line.split()[1], 16), 0, line)
        answer = self.call(f'{NAME}:50051')
        self.assertEqual((answer['text'], answer['calls']), ('hello', 2))
        self.assertEqual(answer['metadata']['grpc-previous-rpc-attempts'], '1')
        self.assertIn('levee', answer['metadata']['via'])

    def test_p6_without_levee_the_name_leads_nowhere_else(self):
        self.serve(failures=0)
        answer = self.call(f'{NAME}:50051')
        self.assertEqual(answer['code'], 14)
        self.assertIn('127.0.0.1:50051', answer['details'])

    def test_p6_a_name_that_leads_levee_to_itself_is_told_with_the_cure(self):
        self.serve(failures=0)
        self.sidecar('system')
        answer = self.call(f'{NAME}:50051')
        self.assertNotIn('text', answer)
        self.assertIn('is a listener of this sidecar', answer['details'])
        self.assertIn('`resolve: dns`', answer['details'])


if __name__ == '__main__':
    unittest.main()
