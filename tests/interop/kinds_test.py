#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""To Levee each call of each interop case is a stream or unary as its descriptor says, and without descriptors
as its messages show.

A class per client; one whose parts are missing is skipped, with the reason, and so is a server. `make
interop-deps` fetches the parts."""

import json
import pathlib
import tempfile
import unittest
from typing import NamedTuple

import cases_test
import descriptors
from cases_test import CASES, prepared, run_cases
from languages import CPP
from programs import Levee, Server, until

SERVICE = 'levee.interop.v1.TestService/'


class Call(NamedTuple):
    method: str
    # What it is without descriptors; '': that depends on how long the caller takes between two steps.
    kind: str


def unary(method='UnaryCall', service=SERVICE):
    return Call(service + method, 'unary')


def stream(method):
    return Call(SERVICE + method, 'stream')


def either(method):
    return Call(SERVICE + method, '')


# The calls of each case, in the order in which they begin.
CALLS = {
    'empty_unary': [unary('EmptyCall')],
    'large_unary': [unary()],
    'client_compressed_unary': [unary(), unary()],
    'server_compressed_unary': [unary(), unary()],
    'client_compressed_streaming': [stream('StreamingInput')],
    'server_compressed_streaming': [stream('StreamingOutput')],
    'client_streaming': [stream('StreamingInput')],
    'server_streaming': [stream('StreamingOutput')],
    'ping_pong': [stream('FullDuplex')],
    # It has no message, but ping_pong was a stream.
    'empty_stream': [stream('FullDuplex')],
    # It has one message each way. So the next call of FullDuplex begins as unary, unless trailers came late.
    'custom_metadata': [unary('EmptyCall'), stream('FullDuplex')],
    'status_code_and_message': [unary(), either('FullDuplex')],
    'special_status_message': [unary()],
    'unimplemented_method': [unary('Missing')],
    'unimplemented_service': [unary('Missing', 'levee.interop.v1.MissingService/')],
    # Its one call may begin after that of the next case, or never leave the client, so it is looked at apart.
    'cancel_after_begin': [],
    'cancel_after_first_response': [either('FullDuplex')],
    'timeout_on_sleeping_server': [either('FullDuplex')],
}


def is_cancelled_at_its_begin(line):
    return line['method'] == SERVICE + 'StreamingInput' and line['code'] == 'CANCELLED'


class _Kinds:
    cases = None  # the tests of the client's cases
    more = {}  # what the client calls in a case beside CALLS, and after it
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        descriptors.skip_if_missing()
        cls.cases.language.skip_if_missing()
        cls._client = prepared(cls.cases.language)('cases')

    def setUp(self):
        self._folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self._descriptors = self._folder / 'interop.pb'
        descriptors.write(self._descriptors)
        self._kinds = descriptors.kinds(self._descriptors)

    def run_through_levee(self, language, **upstream):
        """Returns the lines of the access log, in the order in which their calls began."""
        log = self._folder / f'{language.folder}.json'
        with Server(prepared(language)('server')) as server, Levee(
                upstreams=[{'name': 'server', 'endpoints': [server.address], **upstream}],
                routes=[{'upstream': 'server'}], policies=[{'name': 'default'}],
                access_log={'path': str(log), 'when': ['all']}) as levee:
            printed = run_cases(self._client, levee, server, language)
            self.assertEqual(printed, cases_test.good_lines(self.cases.skipped))

            def has_every_line():
                return (levee.sum('levee_active_calls') == 0 and
                        len(log.read_text(encoding='utf-8').splitlines()) == levee.sum('levee_calls_total'))

            self.assertTrue(until(has_every_line))
            lines = [json.loads(line) for line in log.read_text(encoding='utf-8').splitlines()]
        return sorted(lines, key=lambda line: line['time'])

    def check_kinds(self, lines, kind_of):
        """`kind_of` returns what a call of CALLS should have been, or an empty text."""
        expected = [(case, call) for case in CASES if case not in self.cases.skipped
                    for call in CALLS[case] + self.more.get(case, [])]
        apart = [line for line in lines if is_cancelled_at_its_begin(line)]
        self.assertIn([line['kind'] for line in apart], ([], ['stream']))
        others = [line for line in lines if line not in apart]
        self.assertEqual([line['method'] for line in others], [call.method for _, call in expected])
        for line, (case, call) in zip(others, expected):
            with self.subTest(case, method=call.method):
                self.assertEqual(line['kind'], kind_of(call) or line['kind'])

    def check_described(self, server):
        server.skip_if_missing()
        called = {call.method for calls in CALLS.values() for call in calls}
        self.assertEqual(called, set(self._kinds))
        self.check_kinds(self.run_through_levee(server, descriptor_set=str(self._descriptors)),
                         lambda call: self._kinds[call.method])

    def test_without_descriptors_each_call_is_what_its_messages_and_earlier_calls_say(self):
        # Other servers may send the trailers of a unary call by themselves, and late.
        self.check_kinds(self.run_through_levee(CPP), lambda call: call.kind)


def of(cases):
    """Gives a class of tests the client of `cases`, and a test for each server that those meet."""
    def add(tests):
        tests.cases = cases
        for server in cases.servers:
            setattr(tests, f'test_with_a_server_in_{server.folder}_each_call_is_what_its_descriptor_says',
                    lambda self, server=server: self.check_described(server))
        return tests
    return add


@of(cases_test.Cpp)
class Cpp(_Kinds, unittest.TestCase):
    pass


@of(cases_test.Node)
class Node(_Kinds, unittest.TestCase):
    pass


@of(cases_test.Python)
class Python(_Kinds, unittest.TestCase):
    pass


@of(cases_test.Go)
class Go(_Kinds, unittest.TestCase):
    pass


@of(cases_test.Java)
class Java(_Kinds, unittest.TestCase):
    pass


@of(cases_test.Rust)
class Rust(_Kinds, unittest.TestCase):
    # It sees by another call that the connection has outlived the cancelled one.
    more = dict.fromkeys(('cancel_after_begin', 'cancel_after_first_response'), [unary('EmptyCall')])


if __name__ == '__main__':
    unittest.main(verbosity=2)
