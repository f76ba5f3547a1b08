#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is computed from a storm, and the configurations of those in it; none is run."""

import pathlib
import tempfile
import unittest

import yaml

import cases
import contenders
import storms

CASE = cases.Case('', '', '', (), calm=1, fault=2, after=6)


def record(attempts, good):
    """A second each: the attempts, and which share of its 100 calls succeeded."""
    arrived = [count for each in attempts for count in [each // 10] * 10]
    calls = [(1000 * second + 10 * call, call < 100 * share)
             for second, share in enumerate(good) for call in range(100)]
    return cases.Record(arrived, calls)


class Figures(unittest.TestCase):

    def test_attempts_are_compared_with_the_calls_of_the_same_time(self):
        storm = record([100, 200, 120, 100], [1, 0, 0, 1])
        self.assertEqual(cases.first_second(storm, CASE), 2)
        self.assertEqual(cases.worst_second(storm, CASE), 2)
        self.assertEqual(cases.whole_fault(storm, CASE), 1.6)

    def test_good_calls_are_those_of_the_fault(self):
        self.assertEqual(cases.good_in_fault(record([], [1, 0.25, 0.75, 1]), CASE), 0.5)

    def test_recovery_begins_with_three_good_seconds(self):
        good = [1, 0, 0, 0, 1, 0, 1, 1, 1]
        self.assertEqual(cases.recovery(record([], good), CASE._replace(after=7)), 3)
        self.assertEqual(cases.recovery(record([], 3 * [0]), CASE), cases.NEVER)
        self.assertEqual(cases.seconds(cases.NEVER), 'never')


class Table(unittest.TestCase):

    def test_it_shows_the_median_of_each_figure(self):
        case = CASE._replace(title='An outage', text='All fail.',
                             figures=(cases.GOOD, cases.WHOLE_FAULT))
        text = storms.table(case, {'Levee': [[0.5, 1.0], [0.7, 1.2], [0.6, 1.4]]})
        self.assertIn('| Levee | 60.0% | 1.20 |', text)


class Configurations(unittest.TestCase):

    def written(self, contender, timeouts):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'config.yaml'
            contender.write_config(path, 1234, 5678, timeouts)
            return yaml.safe_load(path.read_text())

    def test_levee_has_its_defaults_but_for_the_timeouts_of_attempts(self):
        levee = contenders.levee('Levee', 'levee')
        policy, = self.written(levee, timeouts=False)['policies']
        self.assertEqual(policy, {'name': 'storm', 'retry': {}})
        policy, = self.written(levee, timeouts=True)['policies']
        self.assertEqual(policy['retry'], {'attempt_timeout': '250ms',
                                           'failures': ['refused', 'connect', 'timeout']})

    def test_envoy_has_as_many_attempts(self):
        for timeouts in (False, True):
            written = self.written(contenders.envoy('Envoy', 'envoy', contenders.ADMISSION), timeouts)
            listener, = written['static_resources']['listeners']
            manager = listener['filter_chains'][0]['filters'][0]['typed_config']
            policy = manager['route_config']['virtual_hosts'][0]['routes'][0]['route'][
                'retry_policy']
            self.assertEqual(policy['num_retries'], 2)
            self.assertEqual(policy.get('per_try_timeout'), '0.25s' if timeouts else None)
            self.assertEqual([each['name'].rpartition('.')[2] for each in manager['http_filters']],
                             ['admission_control', 'router'])


if __name__ == '__main__':
    unittest.main()
