#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of another gRPC library reads the message of an upstream that Levee has cut. Skipped where
its parts are not fetched; `make interop-deps` does it."""

import json
import unittest

import languages
from programs import Levee, Server, run_client


class LongMessages(unittest.TestCase):
    def test_are_cut_between_characters(self):
        languages.PYTHON.skip_if_missing()
        command = languages.PYTHON.prepare()
        with Server(command('server')) as server, Levee(
                upstreams=[{'name': 'server', 'endpoints': [server.address]}],
                routes=[{'upstream': 'server'}],
                policies=[{'name': 'default',
                           'retry': {'budget': {'ratio': 0, 'floor': {'per_second': 0}},
                                     'app_retries_loops': 'ignore'}}]) as levee:
            printed = run_client(command('long_message'), levee.address)
        start = 'overloaded, do not retry: budget used up after 1 attempt, last UNAVAILABLE: '
        self.assertEqual([json.loads(line) for line in printed],
                         [['RESOURCE_EXHAUSTED',
                           start + before * 'x' + (512 - before) // 3 * '\u2713' + ' ...']
                          for before in range(3)])


if __name__ == '__main__':
    unittest.main()
