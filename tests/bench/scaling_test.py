#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The configurations, calls and results of the benchmark's scaling part; no proxy is needed."""

import contextlib
import os
import resource
import socket
import threading
import unittest
from unittest import mock

import caller
import document
import scaling
import variants
from measure import Result
from processes import WATCHDOG_SECONDS, BenchError
from scaling import Growth, Scaling

MESSAGE = b'\0' * caller.MESSAGE_BYTES


class Caller(unittest.TestCase):
    @contextlib.contextmanager
    def connection(self, *sent):
        """A connection whose peer sends `sent` to each that comes."""
        with socket.create_server(('127.0.0.1', 0)) as server:
            server.settimeout(WATCHDOG_SECONDS)

            def serve():
                with contextlib.suppress(OSError):
                    peer, _ = server.accept()
                    with peer:
                        peer.settimeout(WATCHDOG_SECONDS)
                        peer.sendall(b''.join(sent))
                        while peer.recv(4096):
                            pass

            thread = threading.Thread(target=serve)
            thread.start()
            try:
                connection = caller.Connection(server.getsockname()[1])
                with connection.socket:
                    yield connection
            finally:
                thread.join()

    def answer(self, message, end=caller.END_STREAM):
        return (caller.frame(caller.HEADERS, caller.END_HEADERS, 1, b'\x88')
                + caller.frame(caller.DATA, 0, 1, message)
                + caller.frame(caller.HEADERS, end, 1, b'\x88'))

    def test_the_head_of_a_call_is_made_of_literals(self):
        self.assertEqual(b'\x83\x86\x04\x05/s/M0\x01\x04a:80\x00\x02te\x08trailers'
                         b'\x0f\x10\x10application/grpc', caller.head('a:80', '/s/M0'))

    def test_a_call_ends_with_the_end_of_its_stream(self):
        with self.connection(self.answer(MESSAGE)) as connection:
            connection.call_and_wait(caller.head('a:80', '/s/M0'))
            self.assertEqual(1, connection.done)

    def test_frames_may_come_in_pieces(self):
        with self.connection() as connection:
            data = self.answer(MESSAGE) + self.answer(MESSAGE)
            rest = connection.take(data[:200])
            self.assertEqual(1, connection.done)
            self.assertEqual(b'', connection.take(rest + data[200:]))
            self.assertEqual(2, connection.done)

    def test_a_call_without_its_message_is_reported(self):
        with self.connection(self.answer(b'')) as connection:
            with self.assertRaisesRegex(caller.CallError, '0 bytes of messages came back in 1'):
                connection.call_and_wait(caller.head('a:80', '/s/M0'))

    def test_a_reset_is_reported(self):
        reset = caller.frame(caller.RST_STREAM, 0, 1, b'\0\0\0\7')
        with self.connection(reset) as connection:
            with self.assertRaisesRegex(caller.CallError, 'a frame of type 3'):
                connection.call_and_wait(caller.head('a:80', '/s/M0'))


class Variants(unittest.TestCase):
    def sizes(self, what, size):
        return [(case.load, size(case.variants[0]), size(case.variants[1]))
                for case in variants.cases() if case.what == what]

    def test_one_route_becomes_a_thousand(self):
        self.assertEqual([((4, 32), 1, 1000)], self.sizes(
            'routes, calls to the last', lambda variant: len(variant.config['routes'])))

    def test_the_call_to_the_last_route_matches_no_other(self):
        many = variants.route_cases()[0].variants[1]
        (authority, path), = many.targets
        matching = [i for i, route in enumerate(many.config['routes'])
                    if route['match']['authority'] == authority
                    or route['match']['method'] == path]
        self.assertEqual([999], matching)

    def test_one_policy_becomes_a_hundred_that_are_all_used(self):
        self.assertEqual([((4, 32), 1, 100)], self.sizes(
            'policies', lambda variant: len({r['policy'] for r in variant.config['routes']})))

    def test_one_endpoint_becomes_a_thousand(self):
        self.assertEqual([((1, 1), 1, 1000), ((4, 32), 1, 1000)], self.sizes(
            'endpoints', lambda variant: len(set(variant.config['upstreams'][0]['endpoints']))))

    def test_one_destination_becomes_a_thousand(self):
        self.assertEqual([((1, 1), 1, 1000), ((4, 32), 1, 1000)], self.sizes(
            'destinations, calls to each in turn', lambda variant: len(set(variant.targets))))
        self.assertEqual([((4, 32), 0, 1000)], self.sizes(
            'destinations, calls to the last', lambda variant: len(set(variant.before))))

    def test_both_variants_make_calls_of_the_same_size(self):
        for case in variants.cases():
            lengths = {len(caller.head(*target)) for v in case.variants for target in v.targets}
            self.assertLessEqual(max(lengths) - min(lengths), 4, case.what)


SCALING = Scaling([Growth('routes', '4x32', 1.10, {1: {0: 4.0, 1: 5.0, 2: 9.0},
                                                   1000: {0: 5.5, 1: 5.0, 2: 6.0}}),
                   Growth('sockets', '1x1', None, {1: {0: 1.0}, 1000: {0: 9.0}}),
                   Growth('workers', '4x32', 1.10, {1: {0: 3.0}, 2: {0: 3.6}})],
                  32.0, [(100_000, 8.0), (500_000, 8.2), (1_000_000, 8.4)])


class Judging(unittest.TestCase):
    def test_the_limits_are_those_that_were_promised(self):
        self.assertEqual((1.10, 1.10, 32.0, 1.05, 10_000),
                         (scaling.FLAT_BAR, scaling.WORKERS_BAR, scaling.IDLE_KIB_BAR,
                          scaling.MEMORY_BAR, scaling.IDLE_CONNECTIONS))

    def test_medians_are_compared_and_only_what_has_a_limit(self):
        self.assertEqual([('CPU at 4x32, 1000 to 1 routes', 1.10, 'met'),
                          ('CPU at 4x32, 2 to 1 workers', 1.2, 'missed'),
                          ('RSS per idle connection of 10,000, KiB', 32.0, 'met'),
                          ('RSS after 1,000,000 calls, ratio to 100,000', 1.05, 'met')],
                         [(bar.what, round(bar.value, 6), bar.verdict())
                          for bar in scaling.bars(SCALING, 'levee')])

    def test_the_document_has_every_figure(self):
        text = document.render(Result([], {}), {}, [], 'nghttpx', scaling.bars(SCALING, 'levee'),
                               SCALING)
        for line in ('| routes | 4x32 | 1,000 | 5.50 (5.00-6.00) [1.10] |',
                     '| sockets | 1x1 | 1,000 | 9.00 (9.00-9.00) [9.00] |',
                     '- 10,000 idle connections, one finished call each: 32.0 KiB of RSS each',
                     '- RSS of the calls 4x32: 8.0 MiB after 100,000, 8.2 MiB after 500,000, '
                     '8.4 MiB after 1,000,000'):
            self.assertEqual(1, text.splitlines().count(line), f'{line}\n\n{text}')


class Limits(unittest.TestCase):
    def test_too_low_a_limit_of_files_is_reported(self):
        with mock.patch.object(resource, 'getrlimit', return_value=(1024, 4096)):
            with self.assertRaisesRegex(BenchError, r'10200 open files .* \(ulimit -Hn\) is 4096'):
                scaling.raise_file_limit(10_200)

    def test_the_limit_of_files_is_raised_for_programs_started_later(self):
        with mock.patch.object(resource, 'getrlimit', return_value=(1024, 20_000)), \
                mock.patch.object(resource, 'setrlimit') as changed:
            scaling.raise_file_limit(10_200)
        changed.assert_called_once_with(resource.RLIMIT_NOFILE, (10_200, 20_000))

    def test_this_process_returns_to_its_cpus(self):
        before = os.sched_getaffinity(0)
        with scaling.this_process_on(min(before)):
            self.assertEqual({min(before)}, os.sched_getaffinity(0))
        self.assertEqual(before, os.sched_getaffinity(0))


if __name__ == '__main__':
    unittest.main()
