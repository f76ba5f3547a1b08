#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients in other languages reach a service through the real Levee, each with the lines that the
document for clients shows for it.

A class per language; one whose parts are missing is skipped, with the reason. `make interop-deps`
fetches the parts."""

import json
import pathlib
import re
import tempfile
import textwrap
import unittest

import languages
from programs import Levee, Service, run_client

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / 'docs/clients.md'

CALLS = 300
ATTEMPTS = 4
# gRPC's own retries, with the same delays in every language.
SERVICE_CONFIG = json.dumps({'methodConfig': [{
    'name': [{}],
    'retryPolicy': {
        'maxAttempts': ATTEMPTS,
        'initialBackoff': '0.01s',
        'maxBackoff': '0.01s',
        'backoffMultiplier': 1,
        'retryableStatusCodes': ['UNAVAILABLE'],
    },
}]})
ANYWHERE = {'upstreams': [{'name': 'anywhere', 'endpoints': ['authority:']}],
            'routes': [{'upstream': 'anywhere', 'policy': 'default'}]}


def shown(path):
    """Returns the lines between the marks of a client program."""
    found = re.search(r'\n *\t*(?:#|//) DOCUMENT:\n(.*?)\n\s*(?:#|//) :DOCUMENT\n',
                      path.read_text(encoding='utf-8'), re.DOTALL)
    return textwrap.dedent(found[1])


class Document(unittest.TestCase):
    def test_lines_of_every_client_stand_in_a_block_of_their_own(self):
        document = DOCUMENT.read_text(encoding='utf-8')
        blocks = re.findall(r'^```\w+\n(.*?)\n```$', document, re.DOTALL | re.MULTILINE)
        for language in languages.SHOWN:
            with self.subTest(language.folder):
                self.assertIn(shown(language.path()), blocks)

    def test_variables_that_make_every_client_use_connect_are_told(self):
        document = DOCUMENT.read_text(encoding='utf-8')
        for language in languages.SHOWN:
            for name, value in language.connect('127.0.0.1:9460').items():
                with self.subTest(language.folder):
                    self.assertIn(f'`{name}={value}`', document)


class _Clients:
    """The cases; one class per language runs them."""

    language = None

    @classmethod
    def setUpClass(cls):
        cls.language.skip_if_missing()
        cls.client = cls.language.prepare()('client')

    def start(self, program, *arguments, **parts):
        return self.enterContext(program(*arguments, **parts))

    def check_calls(self, service, levee, dialled, target, environment=None):
        """Each kind of call succeeds though its first attempt fails: Levee has retried it."""
        printed = run_client(self.client, 'calls', dialled, target, environment=environment)
        self.assertEqual(printed, ['unary hello', 'stream sssss sssss sssss', 'chat one two three'])
        self.assertEqual(levee.wait_for_sum('levee_retries_total', 3), 3)
        self.assertEqual(service.end(), [('/shop.Cart/' + method, target, attempts_before)
                                         for method in ('Unary', 'Stream', 'Chat')
                                         for attempts_before in (0, 1)])

    def test_calls_go_where_the_authority_says(self):
        service = self.start(Service)
        levee = self.start(Levee, **ANYWHERE)
        self.check_calls(service, levee, levee.address, service.address)

    def test_calls_go_through_a_unix_socket(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        address = f'unix:{folder}/egress.sock'
        service = self.start(Service)
        levee = self.start(Levee, address, **ANYWHERE)
        self.check_calls(service, levee, address, service.address)

    def test_calls_go_through_http_connect(self):
        # A name that only Levee knows. Go would never use a proxy for a loopback address.
        target = 'cart.shop:50051'
        service = self.start(Service)
        levee = self.start(Levee, **self.all_to(service, 'default'))
        self.check_calls(service, levee, target, target, self.language.connect(levee.address))

    def all_to(self, service, policy):
        return {'upstreams': [{'name': 'cart', 'endpoints': [service.address]}],
                'routes': [{'upstream': 'cart', 'policy': policy}]}

    def run_storm(self, app_retries):
        """A client that retries by itself calls a service that always fails, through a Levee that
        retries nothing. Returns how many calls the service got and how many application retries
        Levee refused."""
        service = self.start(Service)
        retry = {'max_attempts': 1, 'exhausted': 'keep', 'app_retries': app_retries}
        levee = self.start(Levee, **self.all_to(service, 'single'),
                           policies=[{'name': 'single', 'retry': retry}])
        printed = run_client(self.client, 'storm', levee.address, service.address, SERVICE_CONFIG)
        codes = dict(line.split() for line in printed)
        self.assertNotIn('OK', codes)
        self.assertEqual(sum(int(count) for count in codes.values()), CALLS)
        refused = levee.sum('levee_app_retries_total', 'action="refused"')
        return len(service.end()), refused

    def test_A66_application_retries_are_held_to_the_budget(self):
        arrived, refused = self.run_storm('limit')
        self.assertLessEqual(arrived, 1.11 * CALLS + 10)  # 10: the floor, until it is withheld.
        self.assertGreater(refused, 0)

    def test_A66_ignored_application_retries_all_reach_the_service(self):
        arrived, refused = self.run_storm('ignore')
        self.assertEqual(arrived, ATTEMPTS * CALLS)
        self.assertEqual(refused, 0)


class Node(_Clients, unittest.TestCase):
    language = languages.NODE


class Python(_Clients, unittest.TestCase):
    language = languages.PYTHON


class Go(_Clients, unittest.TestCase):
    language = languages.GO


class Java(_Clients, unittest.TestCase):
    language = languages.JAVA
    # grpc-java dials Unix sockets only through a transport built for the operating system at hand.
    test_calls_go_through_a_unix_socket = None


if __name__ == '__main__':
    unittest.main(verbosity=2)
