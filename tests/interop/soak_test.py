#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A great many calls and channels through the real Levee: none fails, and nothing is left of them."""

import os
import time
import unittest

from languages import CPP
from programs import PATIENCE_SECONDS, Levee, Server, Soak

CALLS = 100_000
CHANNELS = 10_000
# The second half may add this much to the memory of the first: the allocator's slack.
SLACK_FACTOR = 1.1
SLACK_KIB = 1024


class Soaked(unittest.TestCase):
    def setUp(self):
        command = CPP.prepare()
        server = self.enterContext(Server(command('server')))
        self.levee = self.enterContext(Levee(
            upstreams=[{'name': 'server', 'endpoints': [server.address]}],
            routes=[{'upstream': 'server', 'policy': 'default'}]))
        self.target = server.address

    def descriptors(self):
        return len(os.listdir(f'/proc/{self.levee.pid}/fd'))

    def rss_kib(self):
        with open(f'/proc/{self.levee.pid}/status', encoding='ascii') as status:
            return next(int(line.split()[1]) for line in status if line.startswith('VmRSS:'))

    def wait_for_descriptors(self, at_most):
        """Levee closes its side of a connection a moment after the caller has."""
        end = time.monotonic() + PATIENCE_SECONDS
        while self.descriptors() > at_most and time.monotonic() < end:
            time.sleep(0.01)
        self.assertLessEqual(self.descriptors(), at_most)

    def soak(self, kind, count, held):
        """`held`: descriptors that may stay open between the halves."""
        before = self.descriptors()
        soak = self.enterContext(Soak(kind, self.levee.address, self.target, count))
        self.assertEqual(soak.end_half(), 0, soak.errors())
        self.wait_for_descriptors(before + held)
        rss_kib = self.rss_kib()

        soak.begin_other_half()
        self.assertEqual(soak.end_half(), 0, soak.errors())
        self.wait_for_descriptors(before + held)
        self.assertLessEqual(self.rss_kib(), SLACK_FACTOR * rss_kib + SLACK_KIB)

        self.assertEqual(self.levee.wait_for_sum('levee_calls_total', count), count)
        self.assertEqual(self.levee.sum('levee_calls_total', 'code="OK"'), count)

    def test_calls_over_one_channel_leave_nothing_behind(self):
        self.soak('calls', CALLS, held=2)  # The caller's connection and the one upstream.

    def test_channels_leave_nothing_behind(self):
        self.soak('channels', CHANNELS, held=1)  # The connection upstream.


if __name__ == '__main__':
    unittest.main(verbosity=2)
