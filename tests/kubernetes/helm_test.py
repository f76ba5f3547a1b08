# SPDX-License-Identifier: Apache-2.0
"""The Helm chart gives pods what the kustomize components give them."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

try:
    import yaml

    import manifests
except ImportError as error:
    raise unittest.SkipTest(f'{error.name} is missing; make deps installs it')

CHART = manifests.ROOT / 'deploy/helm/levee'
MISSING = manifests.missing('helm', ['helm', 'version'], (3, 14))
POLICY = 'policies: [{name: default}]  # "quoted"\n'


def helm(*words):
    return subprocess.run(['helm', *words], capture_output=True, text=True, timeout=120)


@unittest.skipIf(MISSING, f'{MISSING}; {manifests.HELP}')
class Chart(unittest.TestCase):
    """A chart that depends on Levee's, with the workloads of tests/kubernetes."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = pathlib.Path(cls.folder.name)
        shutil.copytree(CHART, root / 'charts/levee')
        (root / 'templates').mkdir()
        (root / 'Chart.yaml').write_text(json.dumps({
            'apiVersion': 'v2', 'name': 'shop', 'version': '1.0.0',
            'dependencies': [{'name': 'levee', 'version': '0.1.0'}]}))
        workloads = (manifests.HERE / 'workloads/workloads.yaml').read_text()
        for document in yaml.safe_load_all(workloads):
            kind = document['kind']
            pod = json.dumps(manifests.pod_of(document))
            (root / f'templates/{kind}.yaml').write_text(
                f'{{{{- define "{kind}.pod" }}}}\n{pod}\n{{{{- end }}}}\n'
                f'apiVersion: test/v1\nkind: Test{kind}\nmetadata: {{name: a}}\n'
                f'pod:\n  {{{{- include "levee.pod" (list . "{kind}.pod") | nindent 2 }}}}\n')

    def template(self, **values):
        words = [f'--set-json=levee.{name}={json.dumps(value)}' for name, value in values.items()]
        return helm('template', 'release', self.folder.name, *words)

    def documents(self, **values):
        done = self.template(**values)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [each for each in yaml.safe_load_all(done.stdout) if each]

    def pods(self, **values):
        return {each['kind'].removeprefix('Test'): each['pod']
                for each in self.documents(**values)}

    def assert_golden(self, name, pods, kinds):
        golden = dict(manifests.pods(name))
        for kind in kinds:
            self.assertEqual(pods[kind], golden[kind], f'{name} {kind}')

    def test_pods_are_those_of_the_components(self):
        kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob']
        self.assert_golden('sidecar', self.pods(), kinds)
        self.assert_golden('with-istio', self.pods(istio=True), kinds)
        self.assert_golden('capture', self.pods(capture='50051'), kinds[1:])
        self.assert_golden('capture', self.pods(capture='50051,9090-9099'), kinds[:1])
        names = ['cart.shop', 'cart.shop.svc.cluster.local', 'pay.shop']
        self.assert_golden('hosts', self.pods(hosts=names), kinds)
        # Nobody calls jobs, so the component gives them no port of the guard.
        self.assert_golden('guard', self.pods(guard=True), kinds[:3])

    def test_resources_are_those_of_the_values(self):
        resources = {'requests': {'cpu': '20m', 'memory': '32Mi'},
                     'limits': {'cpu': '2', 'memory': '256Mi'}}
        self.assert_golden('two-cpus', self.pods(resources=resources), ['Deployment'])

    def test_image_and_config_map_have_the_names_of_the_values(self):
        pod = self.pods(image='registry.example.com/levee:1', configMap='mine')['Job']
        self.assertEqual(manifests.levee_of(pod)['image'], 'registry.example.com/levee:1')
        self.assertEqual(pod['spec']['volumes'],
                         [{'name': 'levee', 'configMap': {'name': 'mine'}}])

    def test_ports_and_image_of_capture_are_those_of_the_values(self):
        image = 'registry.example.com/levee-capture:1'
        pod = self.pods(capture='50051,9090-9099', captureImage=image)['Job']
        self.assertEqual(manifests.capture_of(pod)['image'], image)
        self.assertEqual(manifests.capture_of(pod)['env'],
                         [{'name': 'LEVEE_CAPTURE_PORTS', 'value': '50051,9090-9099'}])

    def test_the_policy_is_in_the_config_map(self):
        found, = (each for each in self.documents(policy=POLICY) if each['kind'] == 'ConfigMap')
        self.assertEqual((found['metadata']['name'], found['data']), ('levee', {'levee.yaml': POLICY}))

    def test_monitoring_and_network_policy_are_those_of_the_components(self):
        kinds = ['PodMonitor', 'PrometheusRule', 'NetworkPolicy']
        made = {each['kind']: each
                for each in self.documents(monitoring=True, networkPolicy=True)}
        golden = {each['kind']: each for each in manifests.golden('example')}
        for kind in kinds:
            self.assertEqual(made[kind]['metadata']['name'], golden[kind]['metadata']['name'])
            self.assertEqual(made[kind]['spec'], golden[kind]['spec'], kind)
        self.assertFalse(set(kinds) & {each['kind'] for each in self.documents()})

    def test_values_that_nobody_knows_are_refused(self):
        for values in ({'imagee': 'x'}, {'guard': 'maybe'}, {'image': ''}, {'capture': '50051;'},
                       {'resources': {'limits': {'cpu': '1'}}}):
            done = self.template(**values)
            self.assertNotEqual(done.returncode, 0, values)
            self.assertIn("don't meet the specifications of the schema", done.stderr)

    def test_lint_finds_nothing(self):
        for chart in (CHART, self.folder.name):
            done = helm('lint', '--strict', str(chart))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Values(unittest.TestCase):

    def test_the_schema_has_each_value_and_its_type(self):
        schema = json.loads((CHART / 'values.schema.json').read_text())['properties']
        values = yaml.safe_load((CHART / 'values.yaml').read_text())
        self.assertEqual(sorted(values), sorted(set(schema) - {'global'}))
        types = {str: 'string', bool: 'boolean', dict: 'object', list: 'array'}
        for name, value in values.items():
            self.assertEqual(schema[name]['type'], types[type(value)], name)

    def test_the_files_are_those_of_the_components(self):
        for file in (CHART / 'files').iterdir():
            self.assertTrue(file.is_symlink(), file.name)
            self.assertEqual(file.resolve().parents[1], manifests.KUBERNETES, file.name)

    def test_the_version_is_the_one_of_the_project(self):
        chart = yaml.safe_load((CHART / 'Chart.yaml').read_text())
        project = (manifests.ROOT / 'CMakeLists.txt').read_text()
        self.assertIn(f'project(levee VERSION {chart["version"]} ', project)
        self.assertEqual(chart['appVersion'], chart['version'])


if __name__ == '__main__':
    unittest.main()
