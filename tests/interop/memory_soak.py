#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much the memory of the real Levee grows by a great many calls and channels."""

import unittest

from leftovers import Leftovers

CALLS = 200_000
CHANNELS = 20_000
# The second half may add this much to the memory of the first: the allocator's slack.
SLACK_FACTOR = 1.1
SLACK_KIB = 1024


class Memory(Leftovers):
    def rss_kib(self):
        with open(f'/proc/{self.levee.pid}/status', encoding='ascii') as status:
            return next(int(line.split()[1]) for line in status if line.startswith('VmRSS:'))

    def measure(self, kind, count, held):
        first, second = (self.rss_kib() for _ in self.make_calls(kind, count, held))
        print(f'{count:,} {kind}: {first:,} KiB after half of them, {second:,} KiB after all')
        self.assertLessEqual(second, SLACK_FACTOR * first + SLACK_KIB)

    def test_calls_over_one_channel_take_no_more_memory(self):
        self.measure('calls', CALLS, held=2)

    def test_channels_take_no_more_memory(self):
        self.measure('channels', CHANNELS, held=1)


if __name__ == '__main__':
    unittest.main(verbosity=2)
