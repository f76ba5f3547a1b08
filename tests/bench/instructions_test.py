# SPDX-License-Identifier: Apache-2.0
"""Tests of what is made of the counts of instructions; the counting itself needs callgrind."""

import unittest
from unittest import mock

import instructions


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
