#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two Levees whose certificates come from a real SPIRE, other ones every few seconds. Skipped where
SPIRE is not fetched; `make spire-deps` does."""

import json
import pathlib
import tempfile
import time
import unittest

import languages
from programs import WATCHDOG_SECONDS, Levee, Server, Soak, run_client
from spire import Spire

ROTATIONS = 'levee_tls_certificate_rotations_total'
HANDSHAKES = 'levee_tls_handshakes_total'
TARGET = 'cart.shop:9450'
ONCE = {'name': 'once', 'retry': {'max_attempts': 1, 'exhausted': 'keep'}}


class RealSpire(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        languages.SPIRE.skip_if_missing()
        cls.programs = staticmethod(languages.CPP.prepare())
        cls.server = cls.enterClassContext(Server(cls.programs('server')))
        cls.spire = cls.enterClassContext(Spire())
        for workload in ('cart', 'web', 'till'):
            cls.spire.register(workload)

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.log = pathlib.Path(folder, 'access.log')

    def place_ingress(self):
        """Returns cart's Levee, which serves the workload web alone, over short connections."""
        levee = self.enterContext(Levee(
            direction='inbound', tls={'spiffe': self.spire.api},
            program=self.spire.workload('cart'), listener={'max_connection_age': '500ms'},
            upstreams=[{'name': 'app', 'endpoints': [self.server.address]}],
            routes=[{'match': {'listener': 'inbound', 'peer': 'spiffe://shop/web'},
                     'upstream': 'app', 'policy': 'once'}],
            policies=[ONCE], access_log={'path': str(self.log), 'when': ['all']}))
        self.wait_for_svid(levee, 'cart')
        return levee

    def place_egress(self, ingress, workload='web', service='cart'):
        """Returns the Levee of the workload, which calls cart and expects the service there."""
        return self.enterContext(Levee(
            program=self.spire.workload(workload),
            upstreams=[{'name': 'cart', 'endpoints': [ingress.address],
                        'tls': {'spiffe': self.spire.api,
                                'subject_alt_names': [f'uri:spiffe://shop/{service}']}}],
            routes=[{'upstream': 'cart', 'policy': 'once'}], policies=[ONCE]))

    def wait_for_svid(self, levee, workload):
        self.assertIn(f'spiffe://shop/{workload}', levee.wait_for_error('svid_received'))
        levee.wait_for_sum('levee_tls_certificate_expiry_timestamp_seconds', 1)

    def place_both(self):
        ingress = self.place_ingress()
        egress = self.place_egress(ingress)
        self.wait_for_svid(egress, 'web')
        return ingress, egress

    def failed_calls(self, egress):
        """Makes two hundred calls over one channel, and returns how many failed."""
        with Soak('calls', egress.address, TARGET, 200) as soak:
            soak.end_half()
            soak.begin_other_half()
            return soak.end_half()

    def first_failure(self, egress):
        return run_client(self.programs('cases'), egress.address, TARGET)[0]

    def call_until_rotated(self, ingress, egress, count):
        """Calls go on until both have taken so many other certificates; none fails."""
        wanted = [(levee, levee.sum(ROTATIONS) + count) for levee in (ingress, egress)]
        end = time.monotonic() + WATCHDOG_SECONDS
        while any(levee.sum(ROTATIONS) < value for levee, value in wanted):
            self.assertLess(time.monotonic(), end, egress.errors())
            self.assertEqual(self.failed_calls(egress), 0, egress.errors())

    def test_no_call_fails_while_spire_replaces_the_svids_of_both_sides(self):
        ingress, egress = self.place_both()
        self.call_until_rotated(ingress, egress, 3)
        # New connections were made meanwhile, by the new certificates.
        self.assertGreater(egress.sum(HANDSHAKES, 'side="client",result="success"'), 3)
        self.assertEqual(ingress.sum('levee_config_reloads_total', 'result="failure"'), 0)
        peers = {json.loads(line)['peer'] for line in self.log.read_text('utf-8').splitlines()}
        self.assertEqual(peers, {'spiffe://shop/web'})

    def test_no_call_fails_while_spire_replaces_its_ca(self):
        ingress, egress = self.place_both()
        self.assertEqual(self.failed_calls(egress), 0)
        self.spire.replace_ca()
        self.call_until_rotated(ingress, egress, 3)

    def test_an_agent_that_is_killed_and_comes_back_goes_on(self):
        ingress, egress = self.place_both()
        self.assertEqual(self.failed_calls(egress), 0)
        self.spire.kill_agent()
        self.assertIn('workload_api_away', egress.wait_for_error('workload_api_away'))
        self.assertEqual(self.failed_calls(egress), 0)
        self.spire.start_agent()
        self.call_until_rotated(ingress, egress, 2)
        self.assertIn('gives certificates again', egress.errors())

    def test_a_workload_that_spire_does_not_know_waits_and_says_why(self):
        egress = self.place_egress(self.place_ingress(), workload='stranger')
        self.assertIn('PERMISSION_DENIED: no identity issued',
                      egress.wait_for_error('PERMISSION_DENIED'))
        self.assertRegex(self.first_failure(egress), f'14 .*Workload API at {self.spire.api} has '
                                                     'given no certificate')
        self.spire.register('stranger')
        self.wait_for_svid(egress, 'stranger')

    def test_a_workload_that_no_route_takes_is_told_so(self):
        ingress = self.place_ingress()
        egress = self.place_egress(ingress, workload='till')
        self.wait_for_svid(egress, 'till')
        self.assertRegex(self.first_failure(egress), '12 ')

    def test_a_service_of_another_identity_gets_no_call(self):
        ingress = self.place_ingress()
        egress = self.place_egress(ingress, service='payments')
        self.wait_for_svid(egress, 'web')
        self.assertIn("the service's certificate is for spiffe://shop/cart and not for "
                      'spiffe://shop/payments', self.first_failure(egress))


if __name__ == '__main__':
    unittest.main(verbosity=2)
