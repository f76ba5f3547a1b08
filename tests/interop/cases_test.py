#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The interop cases: clients and servers of several gRPC libraries with the real Levee between
them, which retries or does not.

A class per client; a client or a server whose parts are missing is skipped, with the reason. `make
interop-deps` fetches the parts."""

import functools
import re
import unittest

from languages import CPP, GO, JAVA, NODE, PYTHON, RUST
from programs import Levee, Server, run_client

CASES = (
    'empty_unary', 'large_unary', 'client_compressed_unary', 'server_compressed_unary',
    'client_compressed_streaming', 'server_compressed_streaming', 'client_streaming',
    'server_streaming', 'ping_pong', 'empty_stream', 'custom_metadata', 'status_code_and_message',
    'special_status_message', 'unimplemented_method', 'unimplemented_service',
    'cancel_after_begin', 'cancel_after_first_response', 'timeout_on_sleeping_server')

# grpc-go and grpc-java reset a call at its deadline with CANCEL, which may overtake the client's own
# timer, with a proxy or without.
CANCELLING = (GO, JAVA)


@functools.cache
def prepared(language):
    return language.prepare()


def levee_before(server, policy, tls=None, upstream=None):
    """`tls` is that of the listener, and `upstream` has more fields of the upstream."""
    upstream = {'name': 'server', 'endpoints': [server.address], **(upstream or {})}
    return Levee(upstreams=[upstream], routes=[{'upstream': 'server', 'policy': policy}],
                 policies=[{'name': 'single', 'retry': {'max_attempts': 1}}], tls=tls)


def run_cases(client, levee, server, server_language, environment=None):
    """Returns the line that the client printed for each case, without why it skips one."""
    printed = run_client(client, levee.address, server.address, environment=environment)
    if server_language in CANCELLING:
        printed[-1] = re.sub('failed (timeout_on_sleeping_server): .*'
                             '(cancell?ed|code: 1|with 1 ).*', r'ok \1', printed[-1],
                             flags=re.IGNORECASE)
    return [line.split(':')[0] if line.startswith('skipped') else line for line in printed]


def good_lines(skipped):
    return [('skipped ' if case in skipped else 'ok ') + case for case in CASES]


class _Client:
    """The tests of a client; `against` makes one for each server."""

    language = None
    servers = ()
    # Cases that its API cannot express; the program says why.
    skipped = ()
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.language.skip_if_missing()
        cls.client = prepared(cls.language)('cases')

    def check_cases(self, server_language):
        server_language.skip_if_missing()
        server = self.enterContext(Server(prepared(server_language)('server')))
        for policy in ('default', 'single'):
            with self.subTest(policy), levee_before(server, policy) as levee:
                printed = run_cases(self.client, levee, server, server_language)
                self.assertEqual(printed, good_lines(self.skipped))


def against(*servers):
    """Gives a class of tests a test for each server."""
    def add(tests):
        tests.servers = servers
        for server in servers:
            setattr(tests, f'test_all_cases_with_a_server_in_{server.folder}',
                    lambda self, server=server: self.check_cases(server))
        return tests
    return add


# The Go and Java servers refuse a message that does not come in the form that the client chose, and
# the Go and Java clients fail for one that does not in the form they asked for. So these two meet
# the servers that choose it per message.


@against(CPP, NODE, PYTHON, GO, JAVA, RUST)
class Cpp(_Client, unittest.TestCase):
    language = CPP


@against(CPP, GO, RUST)
class Node(_Client, unittest.TestCase):
    language = NODE


@against(CPP, JAVA)
class Python(_Client, unittest.TestCase):
    language = PYTHON
    skipped = ('client_compressed_streaming',)


@against(CPP, PYTHON, JAVA)
class Go(_Client, unittest.TestCase):
    language = GO
    skipped = ('client_compressed_streaming',)


@against(CPP, PYTHON, JAVA)
class Java(_Client, unittest.TestCase):
    language = JAVA


@against(CPP, GO, NODE)
class Rust(_Client, unittest.TestCase):
    language = RUST
    skipped = ('client_compressed_streaming',)


if __name__ == '__main__':
    unittest.main(verbosity=2)
