#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The interop cases over mTLS, from the client to Levee and from Levee to the server, and what
happens when a certificate is missing or wrong.

A class per language, whose client and server meet those of C++; one whose parts are missing is
skipped, with the reason. `make interop-deps` fetches the parts."""

import unittest

import cases_test
from cases_test import good_lines, levee_before, prepared, run_cases
from certificates import Authority
from languages import CPP
from programs import Server, run_client

HANDSHAKES = 'levee_tls_handshakes_total'
UNAVAILABLE = r'(?i)\b(14|unavailable)\b'


def pair(folder):
    return {'certificate': str(folder / 'own.crt'), 'key': str(folder / 'own.key')}


def ca(folder):
    return str(folder / 'ca.pem')


def speaking_tls(folder):
    return {'INTEROP_TLS': str(folder)}


class _Tls:
    """The tests; one class per language runs them."""

    cases = None  # The class of the language's tests in plaintext.
    refused = UNAVAILABLE  # What its client says when Levee refuses it.
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.language = cls.cases.language
        cls.language.skip_if_missing()
        authority = cls.enterClassContext(Authority())
        cls.levee, cls.own = authority.issue('levee'), authority.issue('own')
        cls.stranger = authority.stranger()
        cls.other = cls.enterClassContext(Authority()).stranger()
        # Both demand a certificate.
        cls.its_server, cls.cpp_server = cls.serve(cls.language), cls.serve(CPP)

    @classmethod
    def serve(cls, language):
        return cls.enterClassContext(Server(prepared(language)('server'), speaking_tls(cls.own)))

    def place_levee(self, server, listener_tls, upstream_tls):
        """Returns a Levee that does not retry."""
        upstream = {'tls': {**upstream_tls, 'server_name': 'localhost'}}
        return self.enterContext(levee_before(server, 'single', listener_tls, upstream))

    def place_levee_with_mtls(self, server):
        own = pair(self.levee)
        return self.place_levee(server, {**own, 'client_ca': ca(self.levee)},
                                {**own, 'ca': ca(self.levee)})

    def test_t1_its_client_calls_with_mtls(self):
        levee = self.place_levee_with_mtls(self.cpp_server)
        printed = run_cases(prepared(self.language)('cases'), levee, self.cpp_server, CPP,
                            speaking_tls(self.own))
        self.assertEqual(printed, good_lines(self.cases.skipped))

    def test_t1_its_server_is_called_with_mtls(self):
        levee = self.place_levee_with_mtls(self.its_server)
        printed = run_cases(prepared(CPP)('cases'), levee, self.its_server, self.language,
                            speaking_tls(self.own))
        self.assertEqual(printed, good_lines(()))

    def failure(self, language, levee, server, environment=None):
        """Returns what that language's client says of its first call, which fails."""
        client = prepared(language)('cases')
        line = run_client(client, levee.address, server.address, environment=environment)[0]
        self.assertRegex(line, '^failed empty_unary: ')
        return line

    def check_not_called(self, language, levee, server, why):
        """The server gets no call of that language's client, which learns why."""
        failure = self.failure(language, levee, server)
        self.assertRegex(failure, UNAVAILABLE)
        self.assertIn(f'cannot connect to {server.address}: {why}', failure)

    def test_t1_its_client_without_a_certificate_is_refused(self):
        levee = self.place_levee_with_mtls(self.cpp_server)
        failure = self.failure(self.language, levee, self.cpp_server, speaking_tls(self.stranger))
        self.assertRegex(failure, self.refused)
        refused = levee.wait_for_sum(HANDSHAKES, 1, 'result="certificate_required"')
        self.assertGreaterEqual(refused, 1)
        self.assertEqual(levee.sum(HANDSHAKES, 'side="server",result="success"'), 0)

    def test_t1_its_client_learns_that_its_server_is_of_another_ca(self):
        levee = self.place_levee(self.its_server, None,
                                 {**pair(self.levee), 'ca': ca(self.other)})
        self.check_not_called(self.language, levee, self.its_server,
                              "the service's certificate is not signed by a trusted CA")

    def test_t1_its_server_refuses_a_levee_without_a_certificate(self):
        levee = self.place_levee(self.its_server, None, {'ca': ca(self.levee)})
        # Some servers say that they want one, and some only close the connection.
        self.check_not_called(CPP, levee, self.its_server, '')


class Cpp(_Tls, unittest.TestCase):
    cases = cases_test.Cpp


class Node(_Tls, unittest.TestCase):
    cases = cases_test.Node


class Python(_Tls, unittest.TestCase):
    cases = cases_test.Python


class Go(_Tls, unittest.TestCase):
    cases = cases_test.Go


class Java(_Tls, unittest.TestCase):
    cases = cases_test.Java


class Rust(_Tls, unittest.TestCase):
    cases = cases_test.Rust
    # tonic sends its call before it has read the alert, and has no code of its own for what follows.
    refused = 'Unavailable|Unknown "transport error"|Cancelled "operation was canceled"'


if __name__ == '__main__':
    unittest.main(verbosity=2)
