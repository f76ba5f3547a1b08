# SPDX-License-Identifier: Apache-2.0
"""The script of docs/mixin.md that brings the mixin into a cluster, before a kubectl that only
writes down what it is given."""

import json
import unittest

import documents
import yaml

if not documents.BINARY:
    raise unittest.SkipTest('LEVEE_BINARY does not say where levee is')

from running import Clone

KUBECTL = '''#!/bin/bash
echo "$*" >>calls
[[ "$*" != *" -f -" ]] || { echo ---; cat; } >>applied
'''


class Operator(unittest.TestCase):

    def setUp(self):
        self.clone = self.enterContext(Clone())
        kubectl = self.clone.path / 'bin/kubectl'
        kubectl.write_text(KUBECTL)
        kubectl.chmod(0o755)
        script, = documents.blocks('sh')
        done = self.clone.run(script.text)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))

    def test_the_operator_gets_the_rules_of_both_files(self):
        applied = list(yaml.safe_load_all((self.clone.path / 'applied').read_text()))
        self.assertEqual([each['metadata'] for each in applied],
                         [{'name': f'levee-{file}', 'labels': {'release': 'monitoring'}}
                          for file in ('rules', 'alerts')])
        for document, file in zip(applied, ('rules', 'alerts')):
            rules = (documents.ROOT / f'deploy/mixin/{file}.yaml').read_text()
            self.assertEqual((document['apiVersion'], document['kind']),
                             ('monitoring.coreos.com/v1', 'PrometheusRule'))
            self.assertEqual(document['spec'], yaml.safe_load(rules))

    def test_grafana_gets_the_dashboard(self):
        calls = (self.clone.path / 'calls').read_text().splitlines()
        created, labelled = (each for each in calls if 'configmap' in each)
        path = created.split('--from-file=')[1]
        self.assertEqual(json.loads((self.clone.path / path).read_text())['uid'], 'levee')
        self.assertIn('label configmap levee-dashboard grafana_dashboard=1', labelled)


if __name__ == '__main__':
    unittest.main(verbosity=2)
