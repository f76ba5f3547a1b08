# SPDX-License-Identifier: Apache-2.0
"""The Helm chart gives pods what the kustomize components give them."""

import json
import tempfile
import unittest

try:
    import yaml

    import chart
    import manifests
except ImportError as error:
    raise unittest.SkipTest(f'{error.name} is missing; make deps installs it')

POLICY = 'policies: [{name: default}]  # "quoted"\n'


@unittest.skipIf(chart.MISSING, f'{chart.MISSING}; {manifests.HELP}')
class Chart(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        chart.write(cls.folder.name)

    def template(self, **values):
        return chart.helm('template', 'release', self.folder.name, *chart.options(values))

    def documents(self, **values):
        done = self.template(**values)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [each for each in yaml.safe_load_all(done.stdout) if each]

    def pods(self, **values):
        return {each['kind']: manifests.pod_of(each) for each in self.documents(**values)}

    def assert_golden(self, name, pods, kinds):
        golden = dict(manifests.pods(name))
        for kind in kinds:
            self.assertEqual(pods[kind], golden[kind], f'{name} {kind}')

    def test_pods_are_those_of_the_components(self):
        every = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob']
        # Nobody calls jobs, so the component gives them no port of the guard. A patch of the golden
        # file is for the Deployment alone.
        kinds = {'guard': every[:3], 'capture': every[1:], 'two-cpus': every[:1]}
        for name, values in chart.VALUES.items():
            self.assert_golden(name, self.pods(**values), kinds.get(name, every))
        self.assert_golden('capture', self.pods(capture='50051,9090-9099'), every[:1])

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
        for each in (chart.CHART, self.folder.name):
            done = chart.helm('lint', '--strict', str(each))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Values(unittest.TestCase):

    def test_the_schema_has_each_value_and_its_type(self):
        schema = json.loads((chart.CHART / 'values.schema.json').read_text())['properties']
        values = yaml.safe_load((chart.CHART / 'values.yaml').read_text())
        self.assertEqual(sorted(values), sorted(set(schema) - {'global'}))
        types = {str: 'string', bool: 'boolean', dict: 'object', list: 'array'}
        for name, value in values.items():
            self.assertEqual(schema[name]['type'], types[type(value)], name)

    def test_the_files_are_those_of_the_components(self):
        for file in (chart.CHART / 'files').iterdir():
            self.assertTrue(file.is_symlink(), file.name)
            self.assertEqual(file.resolve().parents[1], manifests.KUBERNETES, file.name)

    def test_the_version_is_the_one_of_the_project(self):
        written = yaml.safe_load((chart.CHART / 'Chart.yaml').read_text())
        project = (manifests.ROOT / 'CMakeLists.txt').read_text()
        self.assertIn(f'project(levee VERSION {written["version"]} ', project)
        self.assertEqual(written['appVersion'], written['version'])


if __name__ == '__main__':
    unittest.main()
