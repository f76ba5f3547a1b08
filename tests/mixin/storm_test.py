#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A storm through three real sidecars while a real Prometheus scrapes them: every panel of the
dashboard and every query of the runbooks has data, and exactly the right alerts fire.

With MIXIN_PICTURES=FOLDER the panels' data is also drawn, for docs/mixin.md; that needs
python3-matplotlib, and more than a minute.
"""

import json
import math
import os
import re
import subprocess
import tempfile
import time
import unittest

import old_certificate
from load import Flow, Load
from mixin import (RULE_FILES, RUNBOOKS, expressions, hurried, read_alerts, read_dashboard,
                   runbook_queries)
import redis_server
from prometheus import MISSING, Prometheus
from programs import LEVEE, WATCHDOG_SECONDS, Levee, Service, until

PICTURES = os.environ.get('MIXIN_PICTURES')
CALM_SECONDS, STORM_SECONDS = (30, 35) if PICTURES else (3, 3)

# All calls of the checkout service, by the upstream that they go to.
CALM = tuple(Flow(upstream, 20)
             for upstream in ('cart', 'eager', 'masked', 'stock', 'throttled', 'users')) + (Flow('limited', 1), Flow('shared', 20))
STORM = (
    Flow('users', 20),  # Nothing happens to it.
    # The default policy before a service of which half fails, and an application that retries.
    Flow('cart', 40, failing=5, app_retries=2),
    Flow('eager', 20, failing=10),  # Its policy lets every call be retried twice.
    Flow('masked', 40, rescued=1),  # Levee retries all that fails.
    Flow('stock', 20, failing=10),  # Its service has a sidecar of its own, which says so.
    Flow('limited', 20),  # Its rate limit lets 5 calls per second pass.
    Flow('throttled', 40, failing=10),  # Its policy takes UNAVAILABLE for overload, and rejects.
    Flow('shared', 20),  # Its rate limit is kept in a Redis that is killed, and then rejects all.
    Flow('users', 2, method='shop.Users/Fields', fields=40),
)
# What comes to the guarded application: it may work on one call at a time, and one may wait. The load
# comes in handfuls.
GUARDED_CALM = (Flow('app', 10, alone=True),)
GUARDED_STORM = (
    Flow('app', 250, priority=0), Flow('app', 50),
    Flow('payments', 20, failing=10),
    # The service never answers the first call with the key, so that it is lost.
    Flow('payments', 20, method='shop.Cart/Sleep', key='lost'),
)
# What comes to the service's own sidecar: its calls to a service whose handshakes fail.
PRIVATE_STORM = (Flow('private', 5),)
# The alerts that must fire in the storm, each with its upstream, limit or store.
FIRING = {
    ('LeveeRetryStorm', 'eager'),
    ('LeveeRetryBudgetExhausted', 'cart'), ('LeveeRetryBudgetExhausted', 'warehouse'),
    *((f'LeveeErrorBudgetBurn{speed}', upstream) for speed in ('Fast', 'Slow')
      for upstream in ('app', 'cart', 'eager', 'limited', 'none', 'payments', 'private', 'shared',
                       'stock', 'throttled', 'warehouse')),
    ('LeveeRetriesMaskFailures', 'masked'),
    ('LeveeApplicationRetries', 'cart'),
    ('LeveeUpstreamOverloaded', 'stock'),
    ('LeveeRateLimitRejecting', 'five'), ('LeveeRateLimitRejecting', 'all'),
    ('LeveeStoreAway', 'redis'), ('LeveeLimitStarved', 'all'), ('LeveeClaimsLost', 'payments'),
    ('LeveeThrottleRejects', 'throttled'),
    ('LeveeGuardRefusing', 'app'), ('LeveeGuardLimitAtMin', 'app'), ('LeveeGuardRefusesHighPriority', 'app'),
    ('LeveeConfigReloadFailed', ''),
    ('LeveeLimitHit', 'metadata_bytes'),
    ('LeveeCertificateEndsSoon', 'private'),
}


def configuration(service, warehouse, redis):
    """Of checkout's sidecar."""
    endpoints = {'cart': service, 'eager': service, 'masked': service, 'users': service,
                 'limited': service, 'shared': service, 'throttled': service, 'stock': warehouse}
    policies = [
        {'name': 'eager',
         'retry': {'budget': {'ratio': 10, 'burst': {'least': 1000000}, 'wait': 'none'}}},
        # A little more than what the load needs: an uneven moment is not to empty it.
        {'name': 'masked', 'retry': {'budget': {'ratio': 0.2}}},
        {'name': 'limited', 'rate_limit': [{'name': 'five', 'rate': '5/s', 'burst': 5}]},
        {'name': 'shared', 'rate_limit': [{'name': 'all', 'rate': '1000/s', 'burst': 500,
                                           'scope': 'global', 'store': 'redis',
                                           'on_failure': 'deny'}]},
        {'name': 'throttled', 'retry': {'max_attempts': 1},
         'throttle': {'on': ['unavailable'], 'mode': 'enforce'}},
    ]
    named = [policy['name'] for policy in policies]
    return {
        'upstreams': [{'name': name, 'endpoints': [address]}
                      for name, address in endpoints.items()],
        'routes': [{'match': {'authority': name}, 'upstream': name,
                    'policy': name if name in named else 'default'} for name in endpoints],
        'policies': policies,
        'limits': {'metadata_bytes': '1KiB'},
        'stores': [{'name': 'redis', 'redis': [redis], 'timeout': '10s'}],
    }


def guarded(service):
    """Of the sidecar in front of an application that is protected."""
    return {
        'direction': 'inbound',
        'upstreams': [{'name': 'app', 'endpoints': [service]},
                      {'name': 'payments', 'endpoints': [service]}],
        'routes': [{'match': {'listener': 'inbound', 'authority': 'payments'}, 'upstream': 'payments',
                    'policy': 'once'},
                   {'match': {'listener': 'inbound'}, 'upstream': 'app', 'policy': 'protect'}],
        'policies': [{'name': 'protect', 'guard': {
                         'concurrency': {'initial': 1, 'min': 1, 'max': 1}, 'queue': {'max': 1}}},
                     {'name': 'once', 'timeout': '500ms', 'guard': {
                         'concurrency': {'limit': 'none'}, 'dedupe': {'claim': '1s'}}}],
    }


def stocked(service, certificates):
    """Of the sidecar of the stock service, which shows the pair of `certificates` to a service without
    TLS."""
    certificate, key = map(str, certificates)
    return {
        'upstreams': [{'name': 'warehouse', 'endpoints': [service]},
                      {'name': 'private', 'endpoints': [service],
                       'tls': {'server_name': 'private', 'ca': certificate,
                               'certificate': certificate, 'key': key}}],
        'routes': [{'match': {'authority': 'private'}, 'upstream': 'private', 'policy': 'once'},
                   {'upstream': 'warehouse', 'policy': 'default'}],
        'policies': [{'name': 'once', 'retry': {'max_attempts': 1}}],
    }


def told(alert):
    labels = alert['labels']
    return labels['alertname'], next(
        (labels[name] for name in ('upstream', 'limit', 'store') if name in labels), '')


def finite(series):
    return [value for _, value in series if math.isfinite(value)]


@unittest.skipIf(MISSING or redis_server.MISSING, MISSING or redis_server.MISSING)
class Storm(unittest.TestCase):
    """All in one storm, because it takes its time."""

    @classmethod
    def setUpClass(cls):
        service = cls.enterClassContext(Service())
        shown, old = (cls.enterClassContext(tempfile.TemporaryDirectory()) for _ in range(2))
        certificates = old_certificate.make(shown, age=0, left=3600)
        warehouse = cls.enterClassContext(Levee(**stocked(service.address, certificates)))
        redis = cls.enterClassContext(redis_server.Redis())
        checkout = cls.enterClassContext(
            Levee(**configuration(service.address, warehouse.address, redis.address)))
        protected = cls.enterClassContext(Levee(**guarded(service.address)))
        labels = {checkout.metrics: {'namespace': 'shop', 'pod': 'checkout'},
                  warehouse.metrics: {'namespace': 'shop', 'pod': 'stock'},
                  protected.metrics: {'namespace': 'shop', 'pod': 'app'}}
        cls.prometheus = cls.enterClassContext(Prometheus(
            labels, [hurried(path.read_text()) for path in RULE_FILES],
            cls.enterClassContext(tempfile.TemporaryDirectory())))
        load = cls.enterClassContext(Load(checkout.address))
        inbound = cls.enterClassContext(Load(protected.address))
        stock = cls.enterClassContext(Load(warehouse.address))

        load.flows, inbound.flows = CALM, GUARDED_CALM
        # One more than those of the guarded application's sidecar are called.
        until(lambda: len(cls.prometheus.ask('sum by (upstream) (rate(levee_calls_total[3s])) > 0'))
              > len(CALM))
        # What failed while programs were starting is forgotten.
        until(lambda: not cls.alerts_of_any_state())
        cls.start = time.time()
        cls.let_pass(CALM_SECONDS)
        cls.alerts_in_the_calm = cls.alerts_of_any_state()

        load.flows, inbound.flows, stock.flows = STORM, GUARDED_STORM, PRIVATE_STORM
        for path, aged in zip(certificates, old_certificate.make(old, age=5400, left=600)):
            os.replace(aged, path)
        redis.kill()
        checkout.configure('policies: [{name: hasty, retry: {max_atempts: 9}}]')
        cls.alerts_in_the_storm = {}
        until(cls.all_have_fired)
        cls.let_pass(STORM_SECONDS)
        cls.all_have_fired()

    @classmethod
    def alerts_of_any_state(cls):
        return cls.prometheus.alerts('firing') + cls.prometheus.alerts('pending')

    @classmethod
    def all_have_fired(cls):
        """Keeps those that fire now. One whose rate is near its bound may fire at another moment than the
        others."""
        cls.alerts_in_the_storm.update((told(alert), alert) for alert in cls.prometheus.alerts())
        return FIRING <= cls.alerts_in_the_storm.keys()

    @classmethod
    def let_pass(cls, seconds):
        wanted = time.time() + seconds
        until(lambda: cls.prometheus.ask(f'max(timestamp(up)) >= {wanted}'))

    def values(self, query):
        """Those that the query has, once it has some: of a scrape that was late there are none for a
        moment."""
        return until(lambda: finite(self.prometheus.ask(query)))

    def test_no_alert_fires_in_the_calm(self):
        self.assertEqual(self.alerts_in_the_calm, [])

    def test_every_alert_fires_in_the_storm_and_only_where_it_should(self):
        firing = self.alerts_in_the_storm
        self.assertEqual(sorted(firing), sorted(FIRING))
        # No storm makes the sidecar break a rule of its own.
        self.assertEqual({name for name, _ in firing} | {'LeveeCallBroken'},
                         {rule['alert'] for rule in read_alerts()})

    def test_every_alert_tells_numbers_and_names(self):
        for alert in self.alerts_in_the_storm.values():
            for text in alert['annotations'].values():
                self.assertNotIn('<no value>', text)
                self.assertNotIn('<error', text)

    def test_every_panel_has_data_of_each_of_its_queries(self):
        for panel in read_dashboard()['panels']:
            for query in expressions(panel):
                with self.subTest(panel['title'], query=query):
                    self.assertNotEqual(self.values(query), [])

    def test_every_panel_shows_something_of_the_storm(self):
        for panel in read_dashboard()['panels']:
            with self.subTest(panel['title']):
                self.assertTrue(until(lambda panel=panel: any(
                    value for query in expressions(panel)
                    for value in finite(self.prometheus.ask(query)))))

    def test_every_label_of_a_legend_is_there(self):
        for panel in read_dashboard()['panels']:
            for target, query in zip(panel['targets'], expressions(panel)):
                wanted = set(re.findall(r'\{\{(\w+)\}\}', target['legendFormat']))
                with self.subTest(panel['title'], query=query):
                    for labels, _ in self.prometheus.ask(query):
                        self.assertLessEqual(wanted, labels.keys())

    def test_every_query_of_the_runbooks_has_data(self):
        for path in sorted(RUNBOOKS.glob('*.md')):
            for query in runbook_queries(path):
                with self.subTest(path.name, query=query):
                    self.assertNotEqual(self.values(hurried(query)), [])

    def test_the_fleet_has_its_layers_and_what_multiplies_the_load(self):
        fleet = until(self.whole_fleet)
        self.assertIsNotNone(fleet)
        self.assertRegex(fleet['sentences'][0],
                         r'^checkout multiplies the load: eager gets [23]\.\d\d attempts for each '
                         "call, and all of the retries are Levee's own, by the policy for eager")
        # One layer calls the next.
        self.assertLess({('checkout', 'stock'), ('stock', 'warehouse'), ('', 'app')},
                        {(edge['from'], edge['to']) for edge in fleet['edges']})

    def whole_fleet(self):
        """What `levee fleet` says, or None where a scrape was late and a sidecar is missing."""
        done = subprocess.run([LEVEE, 'fleet', '--prometheus', self.prometheus.url,
                               '--range', '15s', '-o', 'json'], capture_output=True, text=True,
                              timeout=WATCHDOG_SECONDS)
        self.assertEqual(done.stderr, '', done.stdout)
        fleet = json.loads(done.stdout)
        sidecars = {node['name'] for node in fleet['nodes'] if node['sidecars']}
        whole = not fleet['unread'] and sidecars == {'app', 'checkout', 'stock'}
        return fleet if whole and done.returncode == 1 else None

    if PICTURES:
        def test_pictures_are_drawn(self):
            from pictures import draw  # Needs what no other test does.
            draw(self.prometheus, self.start, time.time(), PICTURES)


if __name__ == '__main__':
    unittest.main(verbosity=2)
