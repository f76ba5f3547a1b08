# SPDX-License-Identifier: Apache-2.0
"""Tests of what is made of the measurements of stores; they need no Levee."""

import json
import pathlib
import tempfile
import unittest

import stores
from proxies import Proxy


class Template(unittest.TestCase):
    def test_only_who_shares_something_has_a_store(self):
        levee = Proxy('levee', ('levee',))
        with tempfile.TemporaryDirectory() as scratch:
            for name in stores.KEYS:
                made = stores.keyed(levee, name, 6379, scratch).template
                text = json.loads(pathlib.Path(made).read_text(encoding='utf-8'))
                self.assertEqual(name == 'redis', 'stores' in text)
                self.assertEqual('inbound', text['listeners'][0]['direction'])
            made = [stores.limited(levee, name, 6379, scratch) for name in stores.LIMITS]
            self.assertEqual(len(made), len({proxy.name for proxy in made}))
            shared = made[-1]
            self.assertIn('"127.0.0.1:6379"', shared.template.read_text(encoding='utf-8'))


class Added(unittest.TestCase):
    def test_what_disturbs_a_round_disturbs_both(self):
        rounds = [{'without': 10, 'memory': 12}, {'without': 30, 'memory': 33},
                  {'without': 11, 'memory': 12}]
        self.assertEqual(2, stores.median_added(rounds, 'memory', 'without'))


if __name__ == '__main__':
    unittest.main()
