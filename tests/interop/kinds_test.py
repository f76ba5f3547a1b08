#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""To Levee the calls of the interop cases are streams or unary as their descriptors say, and without these as
their messages show.

A class per client; one whose parts are missing is skipped, with the reason. `make interop-deps` fetches the
parts."""

import collections
import json
import pathlib
import tempfile
import unittest

import descriptors
from cases_test import prepared, run_cases
from languages import CPP, GO, JAVA, NODE, PYTHON, RUST
from programs import Levee, Server, until

SERVICE = 'levee.interop.v1.TestService/'
# The cases that call a method with several messages; all come before the other cases that call it.
STREAMING = {
    SERVICE + 'StreamingInput': ('client_compressed_streaming', 'client_streaming'),
    SERVICE + 'StreamingOutput': ('server_compressed_streaming', 'server_streaming'),
    SERVICE + 'FullDuplex': ('ping_pong',),
}


class _Kinds:
    language = None
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        descriptors.skip_if_missing()
        cls.language.skip_if_missing()
        cls._client = prepared(cls.language)('cases')

    def setUp(self):
        self._folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self._descriptors = self._folder / 'interop.pb'
        descriptors.write(self._descriptors)
        self._kinds = descriptors.kinds(self._descriptors)

    def run_through_levee(self, **upstream):
        """Returns the method and the kind of each line of the access log, and the cases that succeeded."""
        log = self._folder / 'calls.json'
        with Server(prepared(CPP)('server')) as server, Levee(
                upstreams=[{'name': 'server', 'endpoints': [server.address], **upstream}],
                routes=[{'upstream': 'server'}], policies=[{'name': 'default'}],
                access_log={'path': str(log), 'when': ['all']}) as levee:
            printed = run_cases(self._client, levee, server, CPP)
            self.assertEqual([line for line in printed if line.startswith('failed')], [])

            def has_every_line():
                return (levee.sum('levee_active_calls') == 0 and
                        len(log.read_text(encoding='utf-8').splitlines()) == levee.sum('levee_calls_total'))

            self.assertTrue(until(has_every_line))
            lines = [json.loads(line) for line in log.read_text(encoding='utf-8').splitlines()]
        return ([(line['method'], line['kind']) for line in lines],
                [line.removeprefix('ok ') for line in printed if line.startswith('ok ')])

    def test_every_call_of_the_cases_is_what_its_descriptor_says(self):
        calls, _ = self.run_through_levee(descriptor_set=str(self._descriptors))
        # So every method has been called, too.
        self.assertEqual(sorted(set(calls)), sorted(self._kinds.items()))

    def test_without_descriptors_calls_of_several_messages_are_streams_and_unary_ones_are_not(self):
        calls, succeeded = self.run_through_levee()
        kinds = collections.defaultdict(list)
        for method, kind in calls:
            kinds[method].append(kind)
        for method, kind in self._kinds.items():
            first = len(kinds[method])
            if method in STREAMING:
                first = len(set(STREAMING[method]) & set(succeeded))
                self.assertGreater(first, 0, method)
            with self.subTest(method):
                self.assertEqual(kinds[method][:first], [kind] * first)


class Cpp(_Kinds, unittest.TestCase):
    language = CPP


class Node(_Kinds, unittest.TestCase):
    language = NODE


class Python(_Kinds, unittest.TestCase):
    language = PYTHON


class Go(_Kinds, unittest.TestCase):
    language = GO


class Java(_Kinds, unittest.TestCase):
    language = JAVA


class Rust(_Kinds, unittest.TestCase):
    language = RUST


if __name__ == '__main__':
    unittest.main(verbosity=2)
