#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Neither calls nor channels leave a descriptor, a call or a byte for retries behind; what they leave of
memory is measured by memory_soak.py."""

import unittest

from leftovers import Leftovers

CALLS = 20_000
CHANNELS = 2_000


class Counted(Leftovers):
    def check(self, *kind, **held):
        self.assertEqual(len(list(self.make_calls(*kind, **held))), 2)

    def test_calls_over_one_channel_leave_nothing_behind(self):
        self.check('calls', CALLS, held=2)  # The caller's connection and the one upstream.

    def test_channels_leave_nothing_behind(self):
        self.check('channels', CHANNELS, held=1)  # The connection upstream.


if __name__ == '__main__':
    unittest.main(verbosity=2)
