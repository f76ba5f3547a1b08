# SPDX-License-Identifier: Apache-2.0
"""deploy/mixin/dashboard.json has no field, and no value of one, that Grafana does not know."""

import json
import unittest

try:
    import manifests
except ImportError as error:
    raise unittest.SkipTest(f'{error.name} is missing; make deps installs it')
import typescript

TYPES = (typescript.HERE / 'dashboard_types.ts').read_text()


def faults(dashboard):
    panels = [typescript.literal(f'panel{panel["id"]}', f'Panel<"{panel["type"]}">', panel)
              for panel in dashboard['panels']]
    rest = typescript.literal('dashboard', 'Dashboard', {**dashboard, 'panels': []})
    return typescript.faults(TYPES, rest, *panels)


@unittest.skipIf(typescript.MISSING, typescript.MISSING)
class Dashboard(unittest.TestCase):

    def setUp(self):
        self.dashboard = json.loads((manifests.MIXIN / 'dashboard.json').read_text())

    def test_every_field_is_one_of_grafana(self):
        self.assertTrue(self.dashboard['panels'])
        self.assertEqual(faults(self.dashboard), '')

    def test_unknown_fields_and_values_are_found_wherever_they_are(self):
        self.dashboard['titel'] = 'Levee'
        of_kind = {panel['type']: panel for panel in self.dashboard['panels']}
        of_kind['timeseries']['fieldConfig']['defaults']['custom']['lineWidht'] = 1
        of_kind['timeseries']['options']['legend']['placement'] = 'below'
        of_kind['heatmap']['options']['colour'] = {}
        of_kind['table']['gridPos']['width'] = 12
        found = faults(self.dashboard)
        for word in ('titel', 'lineWidht', 'below', 'colour', 'width'):
            self.assertIn(f'"{word}"', found)


if __name__ == '__main__':
    unittest.main(verbosity=2)
