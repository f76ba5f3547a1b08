# SPDX-License-Identifier: Apache-2.0
"""A great many calls and channels through the real Levee: none fails, and nothing is left of them."""

import os
import unittest

from languages import CPP
from programs import Levee, Server, Soak, until


class Leftovers(unittest.TestCase):
    def setUp(self):
        command = CPP.prepare()
        server = self.enterContext(Server(command('server')))
        self.levee = self.enterContext(Levee(
            upstreams=[{'name': 'server', 'endpoints': [server.address]}],
            routes=[{'upstream': 'server', 'policy': 'default'}]))
        self.target = server.address

    def descriptors(self):
        return len(os.listdir(f'/proc/{self.levee.pid}/fd'))

    def check_descriptors(self, at_most):
        """Levee closes its side of a connection a moment after the caller has."""
        until(lambda: self.descriptors() <= at_most)
        self.assertLessEqual(self.descriptors(), at_most)

    def make_calls(self, kind, count, held):
        """Yields after each half of the calls. `held`: descriptors that may stay open between them."""
        before = self.descriptors()
        soak = self.enterContext(Soak(kind, self.levee.address, self.target, count))
        for begin in (lambda: None, soak.begin_other_half):
            begin()
            self.assertEqual(soak.end_half(), 0, soak.errors())
            self.check_descriptors(before + held)
            yield
        self.assertEqual(self.levee.wait_for_sum('levee_calls_total', count), count)
        self.assertEqual(self.levee.sum('levee_calls_total', 'code="OK"'), count)
        for name in ('levee_active_calls', 'levee_replay_buffer_bytes'):
            self.assertEqual(self.levee.sum(name), 0, name)
