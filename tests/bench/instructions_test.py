# SPDX-License-Identifier: Apache-2.0
"""Tests of what is made of the counts of instructions; the counting itself needs callgrind."""

import tempfile
import unittest
from unittest import mock

import callgrind
import instructions
import simulator


class Judged(unittest.TestCase):
    def test_three_percent_more_is_allowed(self):
        self.assertEqual([], instructions.judged({'4x32': 1030, '1x100': 900},
                                                 {'4x32': 1000, '1x100': 1000}))

    def test_a_load_that_costs_more_is_named_with_both_counts(self):
        self.assertEqual(['4x32: 1,031 instructions, +3.1% beside 1,000; at most +3% is '
                          'allowed'],
                         instructions.judged({'4x32': 1031, '1x100': 900},
                                             {'4x32': 1000, '1x100': 1000}))

    def test_a_load_that_was_never_counted_is_not_judged(self):
        self.assertEqual([], instructions.judged({'64x1': 5000}, {'4x32': 1000}))


class Simulated(unittest.TestCase):
    def test_the_attempts_of_all_rules_are_added_up(self):
        self.assertEqual(12, simulator.attempts_in('policy,second,requests,attempts,answers,queue\n'
                                                   'no-retries,0,4,4,4,0\nthis,0,4,5,4,0\n'
                                                   'this,1,3,3,3,0\n'))

    def test_the_start_is_in_no_attempt(self):
        runs = iter([simulator.Run(100, 1, 1), simulator.Run(400, 1, 1)])
        totals = iter([1_000_000 + 100 * 70, 1_000_000 + 400 * 70])
        with mock.patch.object(simulator, 'simulate', lambda command, cpu: next(runs)), \
             mock.patch.object(callgrind, 'command', lambda counts, program: program), \
             mock.patch.object(callgrind, 'total', lambda counts, output: next(totals)), \
             tempfile.TemporaryDirectory() as scratch:
            self.assertEqual(70, simulator.instructions_per_attempt('levee', scratch))


class AsTest(unittest.TestCase):
    def test_where_nothing_can_be_judged_the_reason_is_told(self):
        with mock.patch('platform.machine', return_value='aarch64'):
            self.assertEqual('the counts that hold are those of x86_64, and this is aarch64',
                             instructions.cannot_judge())
        with mock.patch('platform.machine', return_value='x86_64'), \
             mock.patch('shutil.which', return_value=None):
            self.assertTrue(instructions.cannot_judge().startswith('valgrind is missing'))


if __name__ == '__main__':
    unittest.main()
