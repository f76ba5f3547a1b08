#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is computed from attacks, and that both lists of them agree; nobody is attacked."""

import pathlib
import re
import unittest

import attacks
import cases
import harm

HERE = pathlib.Path(__file__).resolve().parent


def run(victim, attack, number, p99, **more):
    calls = cases.Calls(800, more.pop('good', 1.0), p99 / 4, p99, 2 * p99)
    return cases.Run(victim, attack, number, calls, 0.5, 20.0, 3, 1.5, **more)


RUNS = [run('levee', 'none', 0, 2.0), run('levee', 'references', 0, 3.0),
        run('levee', 'none', 1, 8.0), run('levee', 'references', 1, 8.0, good=0.5),
        run('levee', 'none', 2, 1.0), run('levee', 'references', 2, 4.0)]


class Figures(unittest.TestCase):

    def test_calls_are_counted_whether_they_fail_or_not(self):
        calls = cases.parse_calls(['0 1 1000', '5 1 3000', '9 0 2000', '12 1 9000'])
        self.assertEqual(cases.Calls(4, 0.75, 2.5, 9.0, 9.0), calls)

    def test_no_call_at_all_is_not_a_good_one(self):
        self.assertEqual(0.0, cases.parse_calls([]).good)

    def test_a_ratio_compares_calls_of_the_same_round(self):
        self.assertEqual(1.5, cases.ratio(RUNS, 'levee', 'references', 'p99'))
        self.assertIsNone(cases.ratio(RUNS[1:2], 'levee', 'references', 'p99'))

    def test_a_bar_is_missed_above_its_limit_and_where_nothing_was_measured(self):
        found = {bar.what.split()[2].strip(","): bar.verdict() for bar in cases.bars(RUNS, 'levee')}
        self.assertEqual({'references': 'met', 'tiny-data': 'not measured',
                          'handshakes': 'not measured'}, found)


class Harm(unittest.TestCase):

    def result(self, lines, **more):
        return harm.Result('long-keys', *harm.parse(lines, 4), None, 20.0, 40.0, 21.0, 3,
                           1.0)._replace(**more)

    def test_calls_are_told_apart_by_when_they_began(self):
        result = self.result(['0 1 1000', '3999 0 1000', '4000 1 3000', 'replayed 2 of 2'])
        self.assertEqual((2, 0.5, 1, 1.0), (result.during.count, result.during.good,
                                            result.after.count, result.after.good))

    def test_what_is_not_as_promised_is_said(self):
        lines = ['0 1 1000', '4000 1 3000', 'replayed 2 of 2']
        self.assertEqual('', self.result(lines).missed())
        self.assertIn('100 calls ran twice', self.result([*lines[:2], 'replayed 5 of 105']).missed())
        self.assertIn('0.0% of the calls after', self.result(['0 1 1000']).missed())
        self.assertIn('21.0 MiB stay', self.result(lines, back_seconds=None).missed())
        self.assertIn('50.0% of the new', self.result(lines, newcomers=0.5).missed())


class Tables(unittest.TestCase):

    def test_a_row_has_the_worst_share_and_the_median_times(self):
        text = cases.tables(RUNS)
        self.assertIn('| levee | 50.0% | 1.00 (0.75-2.00) [1.50] | 4.00 (3.00-8.00) [1.50] |', text)

    def test_a_victim_that_ended_is_told(self):
        text = cases.tables([run('nghttpx', 'none', 0, 1.0, error='the program ended')])
        self.assertIn('| nghttpx (ended in 1 of 1 rounds) |', text)


class Lists(unittest.TestCase):

    def test_every_attack_is_described(self):
        names = re.findall(r'NamedAttack\{"([^"]+)"', (HERE / 'attacks.cc').read_text())
        self.assertEqual(list(cases.CASES), names)

    def test_every_attack_on_levee_alone_is_described(self):
        names = re.findall(r'NamedAttack\{"([^"]+)"', (HERE / 'harm.cc').read_text())
        self.assertEqual([case.name for case in harm.CASES], names)

    def test_the_others_are_always_compared_with_no_attack(self):
        self.assertEqual(['none', 'pings'],
                         attacks.parse_arguments(['--attacks', 'pings']).attacks)


if __name__ == '__main__':
    unittest.main()
