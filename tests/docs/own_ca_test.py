# SPDX-License-Identifier: Apache-2.0
"""Two sidecars speak mTLS with the files and commands of docs/tls.md, while its commands replace
certificates and the CA."""

import re
import shutil
import unittest

import documents
import own_network

if not documents.BINARY:
    raise unittest.SkipTest('LEVEE_BINARY does not say where levee is')

from running import Clone, until

MISSING = next((f'{program} is not installed; make deps installs it'
                for program in ('curl', 'openssl') if not shutil.which(program)), '')
DOCUMENT = 'docs/tls.md'
# One host has both sidecars here, so one of them has other addresses for its metrics and its page.
APART = 'metrics: {address: "127.0.0.13:9461"}\nadmin: {address: none}\n'
SERVICE = '''
listeners: [{name: unused, address: "127.0.0.1:0"}]
metrics: {address: none}
admin: {address: none, grpc_address: "127.0.0.1:50051"}
'''
CALL = ("printf '\\0\\0\\0\\0\\0' | curl -s --http2-prior-knowledge --data-binary @- -o /dev/null -D - "
        "-H 'content-type: application/grpc' -H 'te: trailers' "
        'http://127.0.0.1:9460/grpc.health.v1.Health/Check')


def setUpModule():
    own_network.enter()


def lines(*words):
    """The commands of the document that have all of these words, in their order."""
    return [each.line for each in documents.commands() if each.document == DOCUMENT
            and each.line.startswith(('openssl', 'cat')) and all(word in each.line for word in words)]


@unittest.skipIf(MISSING, MISSING)
class OwnCa(unittest.TestCase):

    def setUp(self):
        self.clone = self.enterContext(Clone())
        self.clone.write('service.yaml', SERVICE)
        self.enterContext(self.clone.start('exec levee run --config service.yaml')).lines(2)
        self.clone.write('apart.yaml', APART)
        for name, words in (('cart', 'client_ca: trusted.pem'), ('web', 'certificate: web.crt')):
            self.clone.write(f'{name}.yaml', documents.block(DOCUMENT, '', words))
        self.make_ca, self.make_new_ca = lines('-x509')
        self.trust, self.trust_both, self.trust_new = lines('trusted.pem')
        self.certify = lines('-copy_extensions')
        self.do(self.make_ca, self.trust, *self.certify)

    def do(self, *commands):
        for line in commands:
            done = self.clone.run(line)
            self.assertEqual(done.returncode, 0, f'{line}\n{done.stderr}')

    def start_cart(self):
        cart = self.enterContext(
            self.clone.start('exec levee run --config cart.yaml --config apart.yaml'))
        cart.lines(2)
        return cart

    def answer(self, policy='web.yaml'):
        """The end of a call through a caller's sidecar that has no connection yet."""
        with self.clone.start(f'exec levee run --config {policy}') as web:
            web.lines(3)
            return self.clone.run(CALL).stdout

    def assert_passes(self):
        self.assertTrue(until(lambda: 'grpc-status: 0\n' in self.answer().replace('\r', '')),
                        self.answer())

    def serial_of(self, certificate):
        return self.clone.run(f'openssl x509 -noout -serial -in {certificate}').stdout.strip()

    def served_serial(self):
        """Of the certificate that the sidecar in front of the service shows."""
        return self.clone.run('openssl s_client -connect cart.shop:9450 -alpn h2 -cert web.crt -key web.key'
                              ' < /dev/null | openssl x509 -noout -serial').stdout.strip()

    def test_a_call_passes_between_sidecars_that_check_each_other(self):
        self.start_cart()
        self.assert_passes()
        web = (self.clone.path / 'web.yaml').read_text()
        self.clone.write('nameless.yaml', web.replace(', certificate: web.crt, key: web.key', ''))
        self.assertIn('grpc-status: 14', self.answer('nameless.yaml'))

    def test_the_command_of_a_certificate_replaces_it_while_the_sidecar_runs(self):
        cart = self.start_cart()
        old = self.serial_of('cart.crt')
        self.assertTrue(until(lambda: self.served_serial() == old))
        self.do(*lines('-copy_extensions', '/CN=cart'))
        new = self.serial_of('cart.crt')
        self.assertNotEqual(new, old)
        self.assertTrue(until(lambda: self.served_serial() == new))
        self.assertIn('config_in_effect', cart.errors())
        self.assert_passes()

    def test_the_ca_is_replaced_and_no_call_fails_on_the_way(self):
        self.start_cart()
        web = (self.clone.path / 'web.yaml').read_text()
        self.clone.write('old.yaml', re.sub(r'web\.(crt|key)', r'old.\1', web))
        self.do('cp web.crt old.crt; cp web.key old.key')
        self.do(self.make_new_ca, self.trust_both)
        self.assert_passes()
        certify = [line.replace('ca.crt', 'ca2.crt').replace('ca.key', 'ca2.key')
                   for line in self.certify]
        for line in certify:
            self.do(line)
            self.assert_passes()
        self.do(self.trust_new)
        self.assertTrue(until(lambda: 'does not trust the CA' in self.answer('old.yaml')))
        self.assert_passes()


if __name__ == '__main__':
    unittest.main(verbosity=2)
