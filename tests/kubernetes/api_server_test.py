# SPDX-License-Identifier: Apache-2.0
"""A real API server takes everything that puts Levee into pods, in namespaces that enforce the
`restricted` profile of the Pod Security Standards. Of workloads the profile only warns, so the pods that
their controllers would make are asked for, too."""

import os
import subprocess
import tempfile
import unittest

try:
    import yaml

    import api_server
    import chart
    import manifests
except ImportError as error:
    raise unittest.SkipTest(f'{error.name} is missing; make deps installs it')

BINARY = os.environ.get('LEVEE_BINARY', '')
WORKLOADS = 5


def setUpModule():
    if api_server.MISSING:
        raise unittest.SkipTest(api_server.MISSING)
    global server
    server = unittest.enterModuleContext(api_server.ApiServer())


def documents_of(text):
    return [each for each in yaml.safe_load_all(text) if each]


class Cluster(unittest.TestCase):
    """The namespaces are named after the manifests that they take."""

    def assert_applied(self, namespace, text):
        done = server.apply(namespace, text)
        self.assertEqual((done.returncode, done.stderr), (0, ''), namespace)

    def assert_pods_taken(self, namespace, documents, count=WORKLOADS):
        results = server.make_pods(namespace, documents)
        self.assertEqual([refusal for _, refusal in results], count * [''], namespace)

    def assert_taken(self, namespace, text, profile='restricted'):
        server.make_namespace(namespace, profile)
        self.assert_applied(namespace, text)
        self.assert_pods_taken(namespace, documents_of(text))

    def assert_pods_need_privileges(self, name, documents):
        """Pods that redirect connections: both profiles above `privileged` refuse them, for the
        capability that is documented and for nothing else."""
        for profile in ('restricted', 'baseline'):
            namespace = f'{name}-{profile}'
            server.make_namespace(namespace, profile)
            results = server.make_pods(namespace, documents)
            self.assertEqual(len(results), WORKLOADS)
            for workload, refusal in results:
                self.assertRegex(refusal, rf'is forbidden: violates PodSecurity "{profile}:latest": '
                                          r'.*levee-capture.*"NET_ADMIN"', workload)
                for other in ('runAsNonRoot', 'allowPrivilegeEscalation', 'seccompProfile',
                              'runAsUser'):
                    self.assertNotIn(other, refusal, workload)


class Manifests(Cluster):

    def test_every_one_is_taken_under_restricted(self):
        for name in sorted(set(manifests.FOLDERS) - {'example', 'example-redis', 'capture'}):
            with self.subTest(name):
                self.assert_taken(f'kustomize-{name}', manifests.golden_file(name).read_text())

    def test_the_examples_are_taken_by_the_namespace_that_they_bring(self):
        for name, pods in (('example', 2), ('example-redis', 3)):
            with self.subTest(name):
                self.assert_applied('levee-example', manifests.golden_file(name).read_text())
                if name == 'example':
                    server.make_account('levee-example')
                self.assert_pods_taken('levee-example', manifests.golden(name), pods)

    def test_capture_needs_privileges_and_no_more_than_is_documented(self):
        text = manifests.golden_file('capture').read_text()
        self.assert_pods_need_privileges('kustomize-capture', documents_of(text))
        self.assert_taken('kustomize-capture', text, 'privileged')

    def test_what_is_wrong_is_refused(self):
        server.make_namespace('wrong', 'restricted')
        document = manifests.golden('sidecar')[0]
        levee = manifests.levee_of(manifests.pod_of(document))
        levee['securityContext']['privileged'] = True
        levee['securityContext']['allowPrivilegeEscalation'] = True
        (_, refusal), = server.make_pods('wrong', [document])
        self.assertIn('privileged (container "levee" must not set '
                      'securityContext.privileged=true)', refusal)
        self.assertIn('would violate PodSecurity', server.apply('wrong', yaml.dump(document)).stderr)
        document = manifests.golden('sidecar')[0]
        manifests.levee_of(manifests.pod_of(document))['readOnly'] = True
        self.assertIn('unknown field "spec.template.spec.initContainers[0].readOnly"',
                      server.apply('wrong', yaml.dump(document)).stderr)
        for kind, field in (('PodMonitor', 'podMetricsEndpoints'), ('PrometheusRule', 'groups')):
            document, = (each for each in manifests.golden('example') if each['kind'] == kind)
            del document['metadata']['namespace']
            document['spec'][field] = 'none'
            self.assertIn(f'spec.{field}: Invalid value: "string"',
                          server.apply('wrong', yaml.dump(document)).stderr)


@unittest.skipIf(chart.MISSING, chart.MISSING)
class Chart(Cluster):
    """The chart is installed by helm itself."""

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        chart.write(cls.folder)

    def install(self, namespace, values):
        """Returns the documents of the release."""
        done = chart.helm('install', 'release', self.folder, f'--namespace={namespace}',
                          *chart.options(values), env=server.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ''), values)
        done = chart.helm('get', 'manifest', 'release', f'--namespace={namespace}',
                          env=server.environment)
        return documents_of(done.stdout)

    def test_it_is_taken_under_restricted_with_the_values_of_every_component(self):
        everything = {'monitoring': True, 'networkPolicy': True, 'policy': 'policies: []\n',
                      'guard': True}
        for name, values in {**chart.VALUES, 'everything': everything}.items():
            if name == 'capture':
                continue
            with self.subTest(name):
                namespace = f'helm-{name}'
                server.make_namespace(namespace, 'restricted')
                self.assert_pods_taken(namespace, self.install(namespace, values))
        found = server.kubectl('get', 'podmonitors,prometheusrules,networkpolicies,configmaps',
                               '--namespace=helm-everything', '-o', 'name').stdout
        for kind in ('podmonitor', 'prometheusrule', 'networkpolicy', 'configmap'):
            self.assertRegex(found, rf'(?m)^{kind}\S*/levee$')

    def test_capture_needs_privileges_and_no_more_than_is_documented(self):
        server.make_namespace('helm-capture', 'privileged')
        documents = self.install('helm-capture', chart.VALUES['capture'])
        self.assert_pods_taken('helm-capture', documents)
        self.assert_pods_need_privileges('helm-capture', documents)


@unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
class Inject(Cluster):

    def inject(self, *options, text=None):
        text = text or (manifests.HERE / 'workloads/workloads.yaml').read_text()
        return subprocess.run([BINARY, 'inject', '-f', '-', *options], input=text, check=True,
                              capture_output=True, text=True, timeout=manifests.WATCHDOG_SECONDS).stdout

    def test_its_workloads_are_taken_under_restricted(self):
        for name, options in (('plain', []), ('guard', ['--guard']),
                              ('named', ['--image', 'example.com/levee:1', '--config-map', 'own'])):
            with self.subTest(name):
                self.assert_taken(f'inject-{name}', self.inject(*options))

    def test_capture_needs_privileges_and_no_more_than_is_documented(self):
        text = self.inject('--capture', '50051,9090-9099')
        self.assert_pods_need_privileges('inject-capture', documents_of(text))
        self.assert_taken('inject-capture', text, 'privileged')

    def test_what_the_server_prints_can_be_injected_and_is_taken_back(self):
        server.make_namespace('running', 'restricted')
        self.assert_applied('running', (manifests.HERE / 'workloads/workloads.yaml').read_text())
        running = server.kubectl('get', 'deployment', 'deployment', '--namespace=running', '-o',
                                 'yaml').stdout
        injected = self.inject(text=running)
        self.assert_pods_taken('running', documents_of(injected), 1)
        self.assertEqual(self.inject('--remove', text=injected), running)


if __name__ == '__main__':
    unittest.main()
