#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is computed from the weather, and the configurations of those in it; none is run."""

import unittest
from unittest import mock

import yaml

import cells
import names
import restarts
import streams
import weather

CELL = cells.Cell('some', 'Some fail', 3, 1, False, calm=10, fault=20, learnt=5)


def calls(good_share, count=1000):
    return [cells.Ended(10 + 20 * i / count, i % 100 < 100 * good_share, 5) for i in range(count)]


class Figures(unittest.TestCase):

    def test_a_share_is_of_the_calls_that_began_in_that_time(self):
        ended = [cells.Ended(1, True, 1), cells.Ended(2, False, 1), cells.Ended(3, True, 1)]
        self.assertEqual(cells.share(ended, 1, 3), cells.Share(1, 2))
        self.assertEqual(cells.share(ended, 4, 5).value(), 1)

    def test_the_interval_of_a_difference_narrows_with_more_calls(self):
        few = cells.difference(cells.Share(56, 70), cells.Share(48, 80))
        # Newcombe's example (a) of 1998, method 10.
        self.assertAlmostEqual(few[0], 0.0524, 4)
        self.assertAlmostEqual(few[1], 0.3339, 4)
        many = cells.difference(cells.Share(5600, 7000), cells.Share(4800, 8000))
        self.assertLess(many[1] - many[0], (few[1] - few[0]) / 5)

    def test_levee_is_worse_only_if_that_is_sure(self):
        self.assertTrue(weather.is_worse(CELL, {'direct': calls(0.9), 'Levee': calls(0.8)}))
        self.assertFalse(weather.is_worse(CELL, {'direct': calls(0.9), 'Levee': calls(0.89)}))
        self.assertFalse(weather.is_worse(CELL, {'direct': calls(0.8), 'Levee': calls(0.9)}))

    def test_the_table_has_a_row_for_each_way(self):
        text = weather.table(CELL, {'direct': calls(0.5), 'Levee': calls(1)}, {'direct': 0, 'Levee': 7_000_000})
        self.assertIn('| direct | 1000 | 50.00% | ', text)
        self.assertIn('| Levee | 1000 | 100.00% | ', text)
        self.assertIn('| 5.0 ms | 7 us |', text)


class Cells(unittest.TestCase):

    def test_a_share_of_calls_fails_only_where_no_instance_stops_or_loses_its_power(self):
        shares = {cell.name: cell.failing for cell in cells.CELLS if cell.failing < 1}
        self.assertEqual(shares, {'e11-10': 0.1, 'e11-30': 0.3, 'e15b': 0.3})
        self.assertEqual({cell.name[:3] for cell in cells.CELLS if cell.vanish}, {'e5-'})
        self.assertEqual({cell.name[:3] for cell in cells.CELLS if cell.stops}, {'e5b', 'e6', 'e6-'})


class Configurations(unittest.TestCase):

    def test_each_proxy_has_every_instance(self):
        for contender, ports in (
            (weather.ways('levee')[0]['Levee'][1], lambda config: [
                int(endpoint.rpartition(':')[2]) for endpoint in config['upstreams'][0]['endpoints']]),
            (weather.contenders.envoy('Envoy', 'envoy'), lambda config: [
                each['endpoint']['address']['socket_address']['port_value'] for each in
                config['static_resources']['clusters'][0]['load_assignment']['endpoints'][0][
                    'lb_endpoints']]),
        ):
            with self.subTest(contender.name):
                config = yaml.safe_load(weather.config_text(contender, 1, [2, 3, 4]))
                self.assertEqual(ports(config), [2, 3, 4])

    def test_every_part_of_a_cell_with_streams_has_one(self):
        for cell in weather.STREAMS:
            for part in cell.parts:
                with self.subTest(cell.name, part=part.text):
                    config = yaml.safe_load(streams.config_text(cell, part, 1, '127.0.0.1:2', '/interop.pb'))
                    self.assertEqual(config['upstreams'], [
                        {'name': 'app', 'endpoints': ['127.0.0.1:2'],
                         **({'descriptor_set': '/interop.pb'} if part.described else {}),
                         **({'connect_wait': '10s'} if part.upstream else {})}])
                    keys = config['policies'][0].keys() - {'name'}
                    self.assertLessEqual(keys, {'timeout', 'guard', 'retry'})

    def test_all_proxies_make_as_many_attempts_as_a_part_says_and_give_them_up_alike(self):
        cell = streams.Cell('some', 'Some', streams.EGRESS, ())
        part = streams.Part(streams.UNARY, attempts=4, attempt_ms=200)
        levee = yaml.safe_load(streams.config_text(cell, part, 1, '127.0.0.1:2', ''))['policies'][0]['retry']
        self.assertEqual((levee['max_attempts'], levee['attempt_timeout']), (4, '200ms'))
        with mock.patch.object(weather.proxies, 'find_envoy', return_value='envoy'):
            _, text = weather.envoy_text(cell, part, 1, '127.0.0.1:2')
        manager = yaml.safe_load(text)['static_resources']['listeners'][0]['filter_chains'][0]['filters'][0]
        route = manager['typed_config']['route_config']['virtual_hosts'][0]['routes'][0]['route']
        self.assertEqual((route['retry_policy']['num_retries'], route['retry_policy']['per_try_timeout']),
                         (3, '0.2s'))


HELD = streams.held('output', 'some streams', 10, 0, 1000)
TIMED_OUT = streams.Part(streams.UNARY, HELD, ends=('DEADLINE_EXCEEDED', 900, 1500))


def lanes(held_share, unary_share):
    return [calls(held_share), calls(unary_share)]


class Streams(unittest.TestCase):

    def test_a_call_is_good_directly_if_it_succeeds_and_through_levee_if_it_ends_as_its_part_says(self):
        self.assertTrue(streams.is_good(TIMED_OUT, False, 3000, 'OK'))
        self.assertFalse(streams.is_good(TIMED_OUT, True, 3000, 'OK'))
        self.assertTrue(streams.is_good(TIMED_OUT, True, 1004, 'DEADLINE_EXCEEDED'))
        self.assertFalse(streams.is_good(TIMED_OUT, True, 3000, 'DEADLINE_EXCEEDED'))

    def test_only_calls_that_begin_late_enough_count(self):
        part = TIMED_OUT._replace(after=3, ends=streams.OK)
        ended = [(0, at, 5, 'OK') for at in (100, 102.9, 103, 104)]
        self.assertEqual([each.at for each in streams.judged(part, part.calls, 0, False, ended)], [103, 104])

    def test_what_a_policy_asks_of_levee_is_asked_of_no_other_way(self):
        ended = [(0, 1, 1000, 'DEADLINE_EXCEEDED')]
        for way, good in (('Levee', True), ('Envoy', False), ('direct', False)):
            judged = streams.judged(TIMED_OUT, TIMED_OUT.calls, 0, way == 'Levee', ended)
            self.assertEqual([each.good for each in judged], [good], way)

    def test_what_a_part_asks_is_asked_of_the_calls_that_meet_its_fault_alone(self):
        part = TIMED_OUT._replace(calls=streams.UNARY._replace(tries=2, tries_every=31))
        ended = [(1, 1, 1000, 'DEADLINE_EXCEEDED'), (1, 1, 5, 'OK')]
        judged = streams.judged(part, part.calls, 1, True, ended)
        self.assertEqual([each.good for each in judged], [False, True])

    def test_where_a_failure_is_right_it_is_asked_of_all(self):
        part = streams.Part(streams.UNARY, ends=('UNAVAILABLE', 0, 100), alike=True)
        ended = [(0, 1, 5, 'UNAVAILABLE'), (0, 1, 200, 'UNAVAILABLE'), (0, 1, 5, 'OK')]
        self.assertEqual([each.good for each in streams.judged(part, part.calls, 0, False, ended)],
                         [True, False, False])

    def test_a_held_stream_is_good_if_it_lived_to_the_end_and_a_poll_that_the_end_met_says_nothing(self):
        def judged(held):
            part = TIMED_OUT._replace(held=held)
            ended = [(0, 1, 5, 'OPEN'), (0, 1, 5, 'OK'), (0, 1, 5, 'UNAVAILABLE')]
            return [each.good for each in streams.judged(part, held, 0, True, ended)]

        self.assertEqual(judged(HELD), [True, False, False])
        self.assertEqual(judged(streams.held('poll', 'polls', 10)), [True, False])

    def test_each_fault_of_a_lane_has_a_row_and_so_have_the_calls_between(self):
        lane = streams.UNARY._replace(text='calls', faults=((1, 2), (3, 4)))
        self.assertEqual(lane.rows(), ['calls: fault, second 1 to 2', 'calls: fault, second 3 to 4',
                                       'the calls between'])
        part = streams.Part(streams.UNARY, HELD, beside=lane, text='notes')
        self.assertEqual(streams.rows_of(part), [
            'some streams, notes', 'unary calls of 5 ms beside them', *lane.rows()])
        self.assertEqual(list(streams.starts(part.lanes())), [(HELD, 0), (streams.UNARY, 1), (lane, 2)])

    def test_what_only_one_library_does_is_left_out_without_it(self):
        cell = streams.Cell('some', 'Some', {}, tuple(streams.Part(lane) for lane in (
            streams.UNARY, streams.UNARY._replace(tries=1), streams.UNARY._replace(head=1000))))
        for there, count in ((True, 3), (False, 1)):
            with mock.patch.object(streams.pathlib.Path, 'is_file', return_value=there):
                self.assertEqual(len(streams.parts_of(cell)), count)

    def test_levee_is_worse_if_any_part_surely_loses_more_than_it_may(self):
        def is_worse(*levee, less=0.001):
            part = streams.Part(streams.UNARY, HELD)
            cell = streams.Cell('some', 'Some', {}, (part, part._replace(less=less)))
            return streams.is_worse(cell, {0: {'direct': lanes(1, 1), 'Levee': lanes(1, 1)},
                                           1: {'direct': lanes(1, 1), 'Levee': lanes(*levee)}})

        self.assertFalse(is_worse(1, 1))
        self.assertTrue(is_worse(0.9, 1))
        self.assertTrue(is_worse(1, 0.9))
        self.assertFalse(is_worse(1, 0.9, less=0.1))

    def test_the_table_has_rows_for_what_is_held_and_for_the_calls_beside(self):
        cell = streams.Cell('some', 'Some', {}, (streams.Part(streams.UNARY, HELD),))
        text = streams.table(cell, {0: {'direct': lanes(1, 0.5), 'Levee': lanes(1, 1)}})
        self.assertIn('| some streams | Levee | 1000 | 100.00% | ', text)
        self.assertIn('| unary calls of 5 ms beside them | direct | 1000 | 50.00% | ', text)


class Restarts(unittest.TestCase):

    @staticmethod
    def results(guarded, without):
        def calls(lost):
            return [cells.Ended(0.01 * n, n >= lost, 5) for n in range(1000)], 0.2
        return {(False, False): calls(without), (False, True): calls(0),
                (True, False): calls(guarded), (True, True): calls(0)}

    def test_a_guard_that_loses_what_is_not_lost_without_it_is_worse(self):
        self.assertTrue(restarts.is_worse(self.results(guarded=2, without=0)))
        self.assertFalse(restarts.is_worse(self.results(guarded=1, without=0)))
        self.assertFalse(restarts.is_worse(self.results(guarded=5, without=5)))

    def test_the_table_says_how_many_were_lost(self):
        text = restarts.table(restarts.CELLS[0], self.results(guarded=3, without=1))
        self.assertIn('| gRPC, round robin, no retries | nothing | 1000 | 1 | 5.0 ms |  |', text)
        self.assertIn('| gRPC, round robin, no retries | guard | 1000 | 3 | 5.0 ms | 0.20 s |', text)


class Names(unittest.TestCase):

    QUERY = b'\1\2\1\0\0\1\0\0\0\0\0\0\4shop\4test\0\0%c\0\1'

    def test_a_name_server_has_no_name_or_its_one_address(self):
        before = names.answer(self.QUERY % 1, False)
        self.assertEqual((before[:2], before[3] & 15, before[6:8]), (b'\1\2', 3, b'\0\0'))
        after = names.answer(self.QUERY % 1, True)
        self.assertEqual((after[3] & 15, after[6:8], after[-4:]), (0, b'\0\1', b'\x7f\0\0\1'))
        no_six = names.answer(self.QUERY % 28, True)
        self.assertEqual((no_six[3] & 15, no_six[6:8]), (0, b'\0\0'))

    def test_levee_is_worse_if_it_is_late_or_asks_too_often(self):
        def is_worse(first, asked):
            return names.is_worse({'Levee': {'first': first, 'asked': asked, 'lost': 0}})

        self.assertFalse(is_worse(1.4, 20))
        self.assertTrue(is_worse(1.6, 20))
        self.assertTrue(is_worse(0.1, 30))


if __name__ == '__main__':
    unittest.main()
