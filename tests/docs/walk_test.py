# SPDX-License-Identifier: Apache-2.0
"""The walks of a new user, with the very commands of the documents, before a real API server: from the
README to injected pods, and from a mesh's objects to calls that Levee retries. The third, from the
documents to panels with data, needs none: demo_test and prometheus_test take it."""

import json
import re
import sys
import unittest

import documents
import own_network

if not documents.BINARY:
    raise unittest.SkipTest('LEVEE_BINARY does not say where levee is')

import yaml
from running import Clone, until

ROOT = documents.ROOT
sys.path.append(str(ROOT / 'tests/kubernetes'))
import api_server
import manifests
from programs import Service

# The kinds that docs/migrate.md asks for, which meshes and the Gateway API bring.
MESH_KINDS = [
    ('VirtualService', 'networking.istio.io', 'v1'),
    ('DestinationRule', 'networking.istio.io', 'v1'),
    ('ServiceProfile', 'linkerd.io', 'v1alpha2'),
    ('HTTPRoute', 'gateway.networking.k8s.io', 'v1'),
    ('GRPCRoute', 'gateway.networking.k8s.io', 'v1'),
    ('BackendTLSPolicy', 'gateway.networking.k8s.io', 'v1'),
    ('XBackendTrafficPolicy', 'gateway.networking.x-k8s.io', 'v1alpha1'),
    ('BackendTrafficPolicy', 'gateway.envoyproxy.io', 'v1alpha1'),
]
# The sources of docs/migrate.md, in its order: what its commands call a file, and the command that reads it.
SOURCES = [('istio', 'istio'), ('linkerd', 'linkerd'), ('gateway-api', 'gateway-api'),
           ('envoy-gateway', 'gateway-api')]


def setUpModule():
    if api_server.MISSING:
        raise unittest.SkipTest(api_server.MISSING)
    own_network.enter()
    global server
    server = unittest.enterModuleContext(api_server.ApiServer())
    server.enforce('default', 'restricted')
    server.make_account('default')


def commands(document, *words):
    """The commands of a document in their order, or those of them that have one of the words."""
    return [each for each in documents.commands()
            if each.document == document and (not words or any(word in each.line for word in words))]


class Walk(unittest.TestCase):

    def setUp(self):
        self.clone = self.enterContext(Clone())
        self.clone.environment.update(server.variables)

    def do(self, command):
        done = self.clone.run(command.line)
        self.assertEqual(done.returncode, 0, f'{command.line}\n{done.stdout}{done.stderr}')
        self.assertNotIn('Warning', done.stderr, command.line)
        return done.stdout

    def assert_linked(self, document):
        self.assertIn(f'({document})', (ROOT / 'README.md').read_text())

    def objects(self, *words):
        done = server.kubectl('get', *words, '-o', 'json')
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        return found.get('items', [found])


class ToPods(Walk):

    def has_levee(self, deployment):
        return manifests.levee_of(deployment['spec']['template']) is not None

    def test_a_deployment_gets_levee_and_loses_it_again(self):
        self.assert_linked('docs/inject.md')
        self.clone.write('levee.yaml', documents.block('docs/kubernetes.md', 'yaml', 'dns:callee'))
        seen = []
        for command in commands('docs/inject.md'):
            self.do(command)
            if 'kubectl apply' in command.line:
                deployment, = self.objects('deployment', 'caller')
                seen.append(self.has_levee(deployment))
                self.assertEqual(server.make_pods('default', [deployment]), [('caller', '')])
        # With a new file; what runs is left as it is, since it has Levee; and taken out.
        self.assertEqual(seen, [True, True, False])
        inject, = (each for each in commands('docs/inject.md', 'kubectl get')
                   if '--remove' not in each.line)
        self.do(inject)
        deployment, = self.objects('deployment', 'caller')
        self.assertTrue(self.has_levee(deployment))
        policy, = self.objects('configmap', 'levee')
        self.assertIn('dns:callee', policy['data']['levee.yaml'])
        guarded = list(yaml.safe_load_all((self.clone.path / 'guarded.yaml').read_text()))
        self.assertEqual(server.make_pods('default', guarded), [('caller', '')])

    def test_the_examples_are_applied_and_scaled(self):
        self.assert_linked('docs/kubernetes.md')
        (self.clone.path / 'tests').symlink_to(ROOT / 'tests')
        for command in commands('docs/kubernetes.md', 'kubectl'):
            if 'POD' not in command.line:  # Nothing runs here that could be asked.
                self.do(command)
        callee, = self.objects('deployment', 'callee', '-n', 'levee-example')
        self.assertEqual(callee['spec']['replicas'], 2)
        self.assertTrue(self.objects('podmonitors', '-n', 'levee-example'))
        self.assertTrue(self.objects('statefulset', 'redis', '-n', 'levee-example'))

    def test_the_operator_gets_rules_and_grafana_its_dashboard(self):
        server.make_namespace('monitoring', 'restricted')
        script, = documents.blocks('sh')
        done = self.clone.run(script.text)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual([each['metadata']['name']
                          for each in self.objects('prometheusrules', '-n', 'monitoring')],
                         ['levee-alerts', 'levee-rules'])
        self.assertEqual(len(self.objects('configmaps', '-n', 'monitoring', '-l',
                                          'grafana_dashboard=1')), 1)


class FromMesh(Walk):
    """docs/migrate.md, from what is in a cluster to retried calls."""

    @classmethod
    def setUpClass(cls):
        for kind in MESH_KINDS:
            server.define_freely(*kind)
        server.make_namespace('shop', 'restricted')

    def import_all(self):
        """Has the objects of each mesh in turn, and takes the steps 1 and 2."""
        for name, command in SOURCES:
            text = (ROOT / f'tests/docs/migrate/{name}.yaml').read_text()
            self.assertEqual(server.kubectl('apply', '-f', '-', text=text).returncode, 0)
            get, = commands('docs/migrate.md', f'> {name}.yaml')
            self.do(get)
            self.assertEqual(server.kubectl('delete', '-f', '-', text=text).returncode, 0)
            for each in commands('docs/migrate.md', f'import {command} {name}.yaml'):
                self.do(each)
        check, = commands('docs/migrate.md', 'check')
        self.assertEqual(self.do(check).strip(), check.output)

    def call(self, method):
        """Calls what fails the first time, and returns the call's status."""
        done = self.clone.run(
            "printf '\\0\\0\\0\\0\\0' | curl -s --http2-prior-knowledge --data-binary @- -o /dev/null "
            "-D - -H 'content-type: application/grpc' -H 'te: trailers' -H 'x-fail-first: 1' "
            "-H 'x-read-first: 1' "  # curl 7.88 gives up what comes before it has sent all.
            f"-H 'host: cart.shop:50051' http://127.0.0.1:9460/shop.Cart/{method}")
        return re.search(r'grpc-status: (\d+)', done.stdout)[1]

    def test_calls_follow_the_policy_of_istio(self):
        self.assert_linked('docs/migrate.md')
        self.import_all()
        for command in commands('docs/migrate.md', 'explain'):
            self.do(command)
        service = self.enterContext(Service('127.0.0.13', 50051))
        with self.clone.start('exec levee run --config istio-policy.yaml') as levee:
            self.assertEqual(levee.lines(1), ['listening egress 127.0.0.1:9460'])
            self.assertEqual(self.call('Unary'), '0')
            self.assertEqual(self.call('Charge'), '14')
            counted = until(lambda: re.search(
                r'levee_retries_total\{[^}]*\} 1\n',
                self.clone.run('curl -s http://127.0.0.1:9461/metrics').stdout))
            self.assertTrue(counted)
        self.assertEqual(service.end(), [
            ('/shop.Cart/Unary', 'cart.shop:50051', 0), ('/shop.Cart/Unary', 'cart.shop:50051', 1),
            ('/shop.Cart/Charge', 'cart.shop:50051', 0)])


if __name__ == '__main__':
    unittest.main(verbosity=2)
