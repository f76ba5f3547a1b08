#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of another gRPC library balances by the load that Levee reports for the service behind it
(`load_report`, gRFC A51). Skipped where gRPC for Python is not fetched; `make interop-deps` does."""

import unittest

import languages
from programs import Levee, Program, Service, until

SLOTS = 8
CALLS = 200  # At a time.


def guarded(service, load_report):
    """Returns the sidecar in front of the service."""
    return Levee(
        direction='inbound',
        upstreams=[{'name': 'app', 'endpoints': [service.address]}],
        routes=[{'match': {'listener': 'inbound'}, 'upstream': 'app', 'policy': 'protect'}],
        policies=[{'name': 'protect', 'guard': {'concurrency': {'limit': SLOTS, 'streams': 'count'},
                                                'load_report': load_report}}])


class Balance(Program):
    """balance.py between two sidecars, of which the first one's service is busy otherwise."""

    def __init__(self, command, sidecars):
        self._sidecars = sidecars
        self._before = [0, 0]
        super().__init__([*command.command, *(sidecar.address for sidecar in sidecars)],
                         command.environment)

    def make_calls(self, count):
        """Returns how many of that many calls the busy one had, and the other one."""
        self._child.stdin.write(f'{count}\n')
        self._child.stdin.flush()
        self._wait_for(rf'made ({count})')
        wanted = sum(self._before) + count
        # A call is counted a moment after the client has its answer.
        counts = until(lambda: self._counted(wanted))
        made = [now - before for now, before in zip(counts, self._before)]
        self._before = counts
        return made

    def _counted(self, wanted):
        # The streams are no calls to Unary.
        counts = [sidecar.sum('levee_calls_total', 'method="shop.Cart/Unary"')
                  for sidecar in self._sidecars]
        return counts if sum(counts) >= wanted else None


class LoadReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        languages.PYTHON.skip_if_missing()
        cls.command = languages.PYTHON.prepare()('balance')

    def start(self, load_report):
        services = [self.enterContext(Service()) for _ in range(2)]
        sidecars = [self.enterContext(guarded(service, load_report)) for service in services]
        balance = self.enterContext(Balance(self.command, sidecars))
        # Until it is connected to both, one gets all.
        self.assertTrue(until(lambda: all(balance.make_calls(CALLS))))
        return balance

    def test_g14_load_shifts_away_from_the_busy_instance(self):
        balance = self.start(True)

        def is_shifted():
            busy, other = balance.make_calls(CALLS)
            return other > 2 * busy > 0

        # Weights change every 100 ms, however many calls that are.
        self.assertTrue(until(is_shifted))

    def test_without_reports_both_have_the_same_load(self):
        self.assertEqual(self.start(False).make_calls(CALLS), [CALLS / 2, CALLS / 2])


if __name__ == '__main__':
    unittest.main()
