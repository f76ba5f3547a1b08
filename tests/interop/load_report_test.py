#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of another gRPC library balances by the load that Levee reports for the service behind it
(`load_report`, gRFC A51). Skipped where gRPC for Python is not fetched; `make interop-deps` does."""

import contextlib
import unittest

import languages
from programs import Levee, Service, run_client

SLOTS = 8


def guarded(service, load_report):
    """Returns the sidecar in front of the service."""
    return Levee(
        direction='inbound',
        upstreams=[{'name': 'app', 'endpoints': [service.address]}],
        routes=[{'match': {'listener': 'inbound'}, 'upstream': 'app', 'policy': 'protect'}],
        policies=[{'name': 'protect', 'guard': {'concurrency': {'limit': SLOTS},
                                                'load_report': load_report}}])


class LoadReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        languages.PYTHON.skip_if_missing()
        cls.client = languages.PYTHON.prepare()('balance')

    def calls_of_both(self, load_report):
        """Returns how many calls the instance had that is busy otherwise, and the other one."""
        with contextlib.ExitStack() as stack:
            services = [stack.enter_context(Service()) for _ in range(2)]
            sidecars = [stack.enter_context(guarded(service, load_report))
                        for service in services]
            run_client(self.client, *(sidecar.address for sidecar in sidecars))
            counts = [sidecar.sum('levee_calls_total', 'code="OK"') for sidecar in sidecars]
        print('calls of the busy instance and of the other one:', *counts)
        return counts

    def test_g14_load_shifts_away_from_the_busy_instance(self):
        busy, other = self.calls_of_both(True)
        self.assertGreater(other, 2 * busy)

    def test_without_reports_both_have_the_same_load(self):
        busy, other = self.calls_of_both(False)
        self.assertLess(other, 1.2 * busy)


if __name__ == '__main__':
    unittest.main()
