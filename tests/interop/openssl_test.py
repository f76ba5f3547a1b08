#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each way in which a handshake fails, with the command openssl at the other end: the words that the
caller reads, and the result that is counted."""

import contextlib
import shutil
import socket
import subprocess
import threading
import unittest

from cases_test import levee_before, prepared
from certificates import Authority
from languages import CPP
from programs import WATCHDOG_SECONDS, Program, run_client
from tls_test import HANDSHAKES, ca, pair

H2 = ('-alpn', 'h2')


class OpensslServer(Program):
    """openssl's server with the certificate of a folder, and what it demands."""

    def __init__(self, folder, *options):
        super().__init__(['openssl', 's_server', '-accept', '127.0.0.1:0', '-cert',
                          folder / 'own.crt', '-key', folder / 'own.key', *options])
        line = self._child.stdout.readline()
        while line and not line.startswith('ACCEPT '):
            line = self._child.stdout.readline()
        self.address = line.split()[-1]


class PlainServer:
    """Does with each connection, of which it has read the first bytes, what it is told to."""

    def __init__(self, then):
        self.then = then
        self.connections = []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.address = '127.0.0.1:%d' % self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        for connection in self.connections:
            connection.close()

    def run(self):
        with contextlib.suppress(OSError):  # It has been told to end.
            while True:
                connection, _ = self.listener.accept()
                self.connections.append(connection)
                connection.recv(1)
                self.then(connection)


class _Handshakes(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not shutil.which('openssl'):
            raise unittest.SkipTest('openssl is not installed')
        cls.authority = cls.enterClassContext(Authority())
        cls.good = cls.authority.issue('good')
        cls.expired = cls.authority.issue_expired('expired')
        cls.later = cls.authority.issue_for_later('later')
        cls.other = cls.enterClassContext(Authority()).issue('other')

    def check_counted(self, levee, side, result):
        labels = f'side="{side}",result="{result}"'
        self.assertGreaterEqual(levee.wait_for_sum(HANDSHAKES, 1, labels), 1)
        # No handshake ends in another way. More may have ended between the two looks.
        every = levee.sum(HANDSHAKES)
        self.assertGreaterEqual(levee.sum(HANDSHAKES, labels), every)


class OfServices(_Handshakes):

    def check(self, server, result, why, tls=None, **upstream):
        """A call to the server fails, and says why."""
        with server:
            tls = {'ca': ca(self.good), 'server_name': 'localhost', **(tls or {})}
            with levee_before(server, 'single', None, {'tls': tls, **upstream}) as levee:
                said = run_client(prepared(CPP)('cases'), levee.address, server.address)[0]
                self.assertIn(f'cannot connect to {server.address}: {why}', said)
                self.check_counted(levee, 'client', result)

    def test_t1_a_certificate_that_has_expired(self):
        self.check(OpensslServer(self.expired, *H2), 'expired',
                   "the service's certificate has expired")

    def test_t1_a_certificate_that_is_not_yet_valid(self):
        self.check(OpensslServer(self.later, *H2), 'not_yet_valid',
                   "the service's certificate is not yet valid")

    def test_t1_a_certificate_for_another_name(self):
        self.check(OpensslServer(self.good, *H2), 'wrong_name',
                   "the service's certificate is for localhost, spiffe://interop/good and not for "
                   'cart.shop', {'server_name': 'cart.shop'})

    def test_t1_a_certificate_of_another_ca(self):
        self.check(OpensslServer(self.other, *H2), 'unknown_ca',
                   "the service's certificate is not signed by a trusted CA")

    def test_t1_a_service_that_does_not_choose_h2(self):
        self.check(OpensslServer(self.good), 'no_alpn',
                   'the service did not choose h2 (ALPN)')

    def test_t1_a_service_of_an_old_version(self):
        self.check(OpensslServer(self.good, *H2, '-tls1_2'), 'version',
                   'the service speaks no version of TLS that is allowed here')

    def test_t1_a_service_that_wants_a_certificate(self):
        self.check(OpensslServer(self.good, *H2, '-Verify', '1', '-CAfile', ca(self.good)),
                   'certificate_required', 'the service wants a client certificate')

    def test_t1_a_service_that_trusts_another_ca(self):
        self.check(OpensslServer(self.good, *H2, '-Verify', '1', '-verify_return_error', '-CAfile',
                                 ca(self.other)),
                   'certificate_refused', "the service does not trust the CA of Levee's certificate",
                   pair(self.good))

    def test_t1_a_service_without_tls(self):
        self.check(PlainServer(lambda connection: connection.sendall(b'HTTP/1.1 400 What?\r\n\r\n')),
                   'other', 'the service does not speak TLS')

    def test_t1_a_service_that_says_nothing(self):
        self.check(PlainServer(lambda connection: None), 'timeout',
                   'the TLS handshake took too long', connect_timeout='200ms')

    def test_t1_a_service_that_closes(self):
        self.check(PlainServer(lambda connection: connection.shutdown(socket.SHUT_RDWR)), 'reset',
                   'the connection was closed in the TLS handshake')


class OfCallers(_Handshakes):

    def check(self, result, alert, *options, tls=None):
        """openssl's client fails at a listener that demands a certificate, and reads the alert."""
        tls = {**pair(self.good), 'client_ca': ca(self.good), **(tls or {})}
        with PlainServer(lambda connection: None) as nobody:
            with levee_before(nobody, 'single', tls) as levee:
                # It reads until Levee closes.
                done = subprocess.run(
                    ['openssl', 's_client', '-connect', levee.address, '-CAfile', ca(self.good),
                     '-ign_eof', *options], stdin=subprocess.DEVNULL, capture_output=True,
                    text=True, timeout=WATCHDOG_SECONDS)
                self.assertIn(alert, done.stderr)
                self.check_counted(levee, 'server', result)

    @staticmethod
    def showing(folder):
        return '-cert', folder / 'own.crt', '-key', folder / 'own.key'

    def test_t1_a_caller_without_a_certificate(self):
        self.check('certificate_required', 'alert certificate required', *H2)

    def test_t1_a_certificate_that_has_expired(self):
        self.check('expired', 'alert certificate expired', *H2, *self.showing(self.expired))

    def test_t1_a_certificate_that_is_not_yet_valid(self):
        self.check('not_yet_valid', 'alert bad certificate', *H2, *self.showing(self.later))

    def test_t1_a_certificate_of_another_ca(self):
        self.check('unknown_ca', 'alert unknown ca', *H2, *self.showing(self.other))

    def test_t1_a_caller_that_does_not_offer_h2(self):
        self.check('no_alpn', 'alert no application protocol', '-alpn', 'http/1.1',
                   *self.showing(self.good))

    def test_t1_a_caller_that_offers_no_protocol(self):
        self.check('no_alpn', 'alert no application protocol', *self.showing(self.good))

    def test_t1_a_caller_of_an_old_version(self):
        self.check('version', 'alert protocol version', *H2, '-tls1_2', *self.showing(self.good))

    def test_t1_a_caller_that_trusts_another_ca(self):
        self.check('certificate_refused', 'certificate verify failed', *H2,
                   '-verify_return_error', tls=pair(self.other))


if __name__ == '__main__':
    unittest.main(verbosity=2)
