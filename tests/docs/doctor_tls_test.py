# SPDX-License-Identifier: Apache-2.0
"""`levee doctor` makes TLS handshakes with servers of openssl, each of which has another fault, and says
what docs/doctor.md says of it."""

import json
import re
import shutil
import unittest

import documents
import own_network

if not documents.BINARY:
    raise unittest.SkipTest('LEVEE_BINARY does not say where levee is')

import yaml
from running import Clone  # It brings the path to the next two.
from certificates import Authority
from programs import Program


def setUpModule():
    own_network.enter()


class TlsServer(Program):
    """openssl's server with the certificate in a folder. It answers nothing behind the handshake."""

    def __init__(self, folder, *options):
        super().__init__(['openssl', 's_server', '-accept', '127.0.0.1:0', '-cert',
                          f'{folder}/own.crt', '-key', f'{folder}/own.key', *options])
        line = self._child.stdout.readline()
        while 'ACCEPT' not in line and line:
            line = self._child.stdout.readline()
        self.port = int(line.rsplit(':', 1)[1])


@unittest.skipUnless(shutil.which('openssl'), 'openssl is not installed')
class Handshakes(unittest.TestCase):

    def setUp(self):
        self.authority = self.enterContext(Authority())
        self.clone = self.enterContext(Clone())
        self.good = self.authority.issue('good')
        self.upstreams = []

    def serve(self, name, folder, *options, tls=None):
        server = self.enterContext(TlsServer(folder, *options))
        self.upstreams.append({'name': name, 'endpoints': [f'dns:localhost:{server.port}'],
                               'tls': {'ca': f'{self.good}/ca.pem', **(tls or {})}})

    def examine(self):
        """Returns the checks of `levee doctor`, by code, and its exit code."""
        self.clone.write('levee.yaml', yaml.dump({
            'upstreams': self.upstreams,
            'routes': [{'upstream': each['name'], 'match': {'authority': each['name']}}
                       for each in self.upstreams]}))
        with self.clone.start('exec levee run --config levee.yaml') as sidecar:
            sidecar.lines(3)
            done = self.clone.run('levee doctor -o json')
        self.assertEqual(done.stderr, '')
        return ({each['code']: each for each in json.loads(done.stdout)['checks']},
                done.returncode)

    def test_tls_that_is_as_configured_passes(self):
        own = {'certificate': f'{self.good}/own.crt', 'key': f'{self.good}/own.key'}
        self.serve('plain', self.good, '-alpn', 'h2')
        self.serve('mutual', self.good, '-alpn', 'h2', '-Verify', '1', '-verify_return_error',
                   '-CAfile', f'{self.good}/ca.pem', tls=own)
        self.serve('older', self.good, '-alpn', 'h2', '-tls1_2', tls={'min_version': '1.2'})
        checks, code = self.examine()
        self.assertEqual(code, 0, checks)
        self.assertEqual((checks['LD116']['severity'], checks['LD116']['text']),
                         ('ok', 'TLS is as it is configured at 3 endpoints'))

    def test_each_fault_has_its_line_its_code_and_its_cure(self):
        stranger = self.enterContext(Authority()).issue('stranger')
        demand = ['-Verify', '1', '-verify_return_error', '-CAfile', f'{self.good}/ca.pem']
        self.serve('expired', self.authority.issue_expired('old'), '-alpn', 'h2')
        self.serve('misnamed', self.authority.issue('other', host='other.test'), '-alpn', 'h2')
        self.serve('unknown', stranger, '-alpn', 'h2')
        self.serve('deaf', self.good)
        self.serve('ancient', self.good, '-alpn', 'h2', '-tls1_2')
        self.serve('strict', self.good, '-alpn', 'h2', *demand)
        self.serve('choosy', self.good, '-alpn', 'h2', *demand,
                   tls={'certificate': f'{stranger}/own.crt', 'key': f'{stranger}/own.key'})
        checks, code = self.examine()
        self.assertEqual(code, 1)
        texts = {code: each['text'] for code, each in checks.items() if code > 'LD120'}
        for code, name, words in (
                ('LD121', 'expired', "the service's certificate has expired"),
                ('LD123', 'misnamed', 'other.test'),
                ('LD124', 'unknown', "the service's certificate is not signed by a trusted CA"),
                ('LD125', 'deaf', 'h2 (ALPN)'),
                ('LD126', 'ancient', 'the service speaks no version of TLS that is allowed here'),
                ('LD127', 'strict', 'the service wants a client certificate'),
                ('LD128', 'choosy', "the service does not trust the CA of Levee's certificate")):
            with self.subTest(code):
                self.assertRegex(texts[code], rf'^{name}: localhost:\d+: .*{re.escape(words)}')
                self.assertEqual(checks[code]['severity'], 'fault')
                self.assertNotEqual(checks[code]['cure'], '')
                self.assertIn(f'| {code} |', (documents.ROOT / 'docs/doctor.md').read_text())
        self.assertEqual(len(texts), 7)
        self.assertNotIn('LD116', checks)


if __name__ == '__main__':
    unittest.main(verbosity=2)
