#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is computed from the weather, and the configurations of those in it; none is run."""

import unittest

import yaml

import cells
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
        text = weather.table(CELL, {'direct': calls(0.5), 'Levee': calls(1)})
        self.assertIn('| direct | 1000 | 50.00% | ', text)
        self.assertIn('| Levee | 1000 | 100.00% | ', text)


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


if __name__ == '__main__':
    unittest.main()
