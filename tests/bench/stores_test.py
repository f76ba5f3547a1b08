# SPDX-License-Identifier: Apache-2.0
"""Tests of what is made of the measurements of stores; they need no Levee."""

import json
import pathlib
import tempfile
import unittest

import loads
import stores
from proxies import Proxy


class Template(unittest.TestCase):
    def test_only_who_shares_something_has_a_store(self):
        levee = Proxy('levee', ('levee',))
        with tempfile.TemporaryDirectory() as scratch:
            for name in stores.KEYS:
                made = stores.keyed(levee, name, 6379, scratch).template
                text = json.loads(pathlib.Path(made).read_text(encoding='utf-8'))
                self.assertEqual(name == 'redis', 'stores' in text)
                self.assertEqual('inbound', text['listeners'][0]['direction'])
            made = stores.limited(levee, [1002, 1003], 6379, scratch)
            text = json.loads(made.template.read_text(encoding='utf-8'))
            self.assertEqual(['127.0.0.1:6379'], text['stores'][0]['redis'])
            shared = [policy['name'] for policy in text['policies']
                      if policy['rate_limit'][0].get('store')]
            self.assertEqual(['shared'], shared)
            self.assertIn('listening shared 127.0.0.1:1003', made.ready_lines)


class Rounds(unittest.TestCase):
    def test_who_comes_first_changes_and_the_first_round_is_none(self):
        came = []
        self.assertEqual([1, 2, 3, 4], list(stores.rounds(
            ('a', 'b'), 4, lambda names: came.append(''.join(names)) or len(came) - 1)))
        self.assertEqual(['ba', 'ab', 'ba', 'ab', 'ba'], came)


class Added(unittest.TestCase):
    def test_what_disturbs_a_round_disturbs_both(self):
        rounds = [{'without': 10, 'memory': 12}, {'without': 30, 'memory': 33},
                  {'without': 11, 'memory': 12}]
        self.assertEqual(2, stores.median_added(rounds, 'memory', 'without'))


class Percentiles(unittest.TestCase):
    def test_they_are_those_of_the_calls_of_all_rounds(self):
        rounds = [[3, 1, 2], [9, 8, 7, 6, 5, 4, 10]]
        pool = stores.Pool(rounds)
        every = [time for times in rounds for time in times]
        for share in (0.01, 0.3, 0.5, 0.89, 0.9, 0.99, 1):
            self.assertEqual(loads.percentile(every, share), pool.percentile(share))

    def test_a_round_counts_as_often_as_it_is_drawn(self):
        pool = stores.Pool([[1, 2], [3, 4], [100, 100]])
        self.assertEqual(4, pool.percentile(1, [1, 1, 0]))
        self.assertEqual(2, pool.percentile(0.5, [2, 1, 0]))
        self.assertEqual(3, pool.percentile(0.5, [0, 1, 0]))

    def test_the_spread_has_what_rounds_differ_by(self):
        base = stores.Pool([[10] * 100] * 20)
        same = stores.Pool([[15] * 100] * 20)
        self.assertEqual((5, 5), stores.spread(same, base, 0.99, 20))
        # In half of the rounds something else took the machine.
        other = stores.Pool([[10] * 100, [10] * 98 + [70] * 2] * 10)
        self.assertEqual((0, 60), stores.spread(other, base, 0.99, 20))


if __name__ == '__main__':
    unittest.main()
