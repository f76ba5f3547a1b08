# SPDX-License-Identifier: Apache-2.0
"""The manifests of deploy/kubernetes: what they become, that a cluster knows every field, and what
they promise about security, ports and order."""

import os
import subprocess
import unittest

try:
    import yaml

    import manifests
except ImportError as error:
    raise unittest.SkipTest(f'{error.name} is missing; make deps installs it')
import typescript

_, NO_KUSTOMIZE = manifests.kustomize()
BINARY = os.environ.get('LEVEE_BINARY', '')

MODELS = {
    'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
}
WORKLOADS = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob']
RESTRICTED = {
    'runAsNonRoot': True,
    'runAsUser': 65532,
    'readOnlyRootFilesystem': True,
    'allowPrivilegeEscalation': False,
    'capabilities': {'drop': ['ALL']},
    'seccompProfile': {'type': 'RuntimeDefault'},
}


def levees():
    """(golden file, kind, pod template, Levee's container) wherever Levee is."""
    return [(name, kind, pod, manifests.levee_of(pod)) for name in manifests.FOLDERS
            for kind, pod in manifests.pods(name) if manifests.levee_of(pod)]


def type_faults(documents):
    """Returns TypeScript's complaints about the documents as literals of their Kubernetes types,
    also about every field that the types do not have."""
    lines = []
    for number, document in enumerate(documents):
        version, kind = document['apiVersion'], document['kind']
        module = MODELS.get(version, f'kubernetes-models/{version}')
        lines.append(f'import type {{I{kind} as T{number}}} from "{module}/{kind}";')
        lines.append(typescript.literal(f'd{number}', f'T{number}', document))
    return typescript.faults(*lines)


class Rendering(unittest.TestCase):

    def test_a_version_is_found_in_what_the_programs_say(self):
        for text, version in [('{"clientVersion": {"gitVersion": "v1.27.3"}}', (1, 27)),
                              ('Client Version: version.Info{GitVersion:"v1.20.2"}', (1, 20)),
                              ('v5.4.1', (5, 4)), ('', (0, 0))]:
            self.assertEqual(manifests.version_in(text), version)

    @unittest.skipIf(NO_KUSTOMIZE, NO_KUSTOMIZE)
    def test_golden_files_are_what_kustomize_makes(self):
        for name in manifests.FOLDERS:
            self.assertEqual(manifests.golden_file(name).read_text(), manifests.rendered(name),
                             f'{name}: run tests/kubernetes/update')

    def test_prometheus_rule_has_the_rules_of_the_mixin(self):
        self.assertEqual(manifests.PROMETHEUS_RULE.read_text(), manifests.prometheus_rule(),
                         'run tests/kubernetes/update')

    def test_nothing_of_the_template_is_applied(self):
        for name in manifests.FOLDERS:
            kinds = [document['kind'] for document in manifests.golden(name)]
            self.assertNotIn('PodTemplate', kinds, name)


@unittest.skipIf(typescript.MISSING, typescript.MISSING)
class Types(unittest.TestCase):

    def test_every_field_is_one_of_kubernetes(self):
        documents = [document for name in manifests.FOLDERS for document in manifests.golden(name)]
        self.assertGreaterEqual(len(documents), 20)
        self.assertEqual(type_faults(documents), '')

    def test_unknown_fields_and_wrong_types_are_found(self):
        document = manifests.golden('sidecar')[0]
        levee = manifests.levee_of(manifests.pod_of(document))
        levee['securityContext']['readOnlyRoot'] = True
        levee['startupProbe']['periodSeconds'] = '1s'
        faults = type_faults([document])
        self.assertIn('\'"readOnlyRoot"\' does not exist', faults)
        self.assertIn("'string' is not assignable to type 'number'", faults)


class Placement(unittest.TestCase):

    def test_levee_is_in_every_kind_of_workload(self):
        for name in ('sidecar', 'with-istio'):
            found = [kind for each, kind, _, _ in levees() if each == name]
            self.assertEqual(sorted(found), sorted(WORKLOADS), name)

    def test_the_older_variant_leaves_jobs_alone(self):
        found = [kind for each, kind, _, _ in levees() if each == 'container']
        self.assertEqual(sorted(found), ['DaemonSet', 'Deployment', 'StatefulSet'])

    def test_a_native_sidecar_is_the_first_init_container_and_always_restarted(self):
        for name, kind, pod, levee in levees():
            if name != 'container':
                self.assertIs(pod['spec']['initContainers'][0], levee, f'{name} {kind}')
                self.assertEqual(levee['restartPolicy'], 'Always', f'{name} {kind}')
                self.assertNotIn('lifecycle', levee, f'{name} {kind}')

    def test_an_ordinary_container_is_the_first_and_waits_before_it_stops(self):
        for name, kind, pod, levee in levees():
            if name == 'container':
                self.assertIs(pod['spec']['containers'][0], levee, kind)
                self.assertNotIn('restartPolicy', levee, kind)
                self.assertEqual(levee['lifecycle']['preStop'],
                                 {'exec': {'command': ['/usr/bin/levee', 'sleep', '5s']}}, kind)

    @unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
    def test_what_it_waits_with_takes_durations_with_a_unit(self):
        def run(duration):
            return subprocess.run([BINARY, 'sleep', duration], capture_output=True, timeout=30)

        self.assertEqual([run(each).returncode for each in ('0s', '1ms', '5', '-1s', '2h')],
                         [0, 0, 2, 2, 2])

    def test_what_the_workload_had_is_still_there(self):
        for name in ('sidecar', 'container', 'with-istio'):
            pod = dict(manifests.pods(name))['Deployment']
            self.assertIn('migrate', [each['name'] for each in pod['spec']['initContainers']])
            self.assertIn('app', [each['name'] for each in pod['spec']['containers']])
            self.assertIn('scratch', [each['name'] for each in pod['spec']['volumes']])
            self.assertEqual(pod['metadata']['labels'], {'app': 'deployment', 'levee': 'sidecar'})


class Container(unittest.TestCase):

    def test_levee_is_restricted(self):
        for name, kind, _, levee in levees():
            for field, value in RESTRICTED.items():
                self.assertEqual(levee['securityContext'][field], value, f'{name} {kind} {field}')
            self.assertEqual(levee['securityContext']['runAsGroup'], 65532, f'{name} {kind}')
            self.assertIs(levee['securityContext']['privileged'], False, f'{name} {kind}')

    def test_so_is_every_container_of_the_example(self):
        for kind, pod in manifests.pods('example'):
            spec = pod['spec']
            self.assertFalse({'hostNetwork', 'hostPID', 'hostIPC'} & set(spec), kind)
            for container in spec.get('initContainers', []) + spec['containers']:
                for field, value in RESTRICTED.items():
                    self.assertEqual(container['securityContext'][field], value,
                                     f'{container["name"]} {field}')

    def test_the_caller_of_the_example_stays_to_be_scraped(self):
        caller = next(pod for kind, pod in manifests.pods('example')
                      if kind == 'Deployment' and pod['metadata']['labels']['app'] == 'caller')
        self.assertIn('while sleep 0.2', caller['spec']['containers'][0]['args'][0])
        self.assertIn('http://127.0.0.1:9460/', caller['spec']['containers'][0]['args'][0])
        self.assertIsNotNone(manifests.levee_of(caller))

    def test_resources_are_bounded(self):
        for name, kind, _, levee in levees():
            patched = (name, kind) == ('two-cpus', 'Deployment')
            self.assertEqual(levee['resources'], {
                'requests': {'cpu': '20m', 'memory': '32Mi'},
                'limits': {'cpu': '2', 'memory': '256Mi'} if patched
                else {'cpu': '1', 'memory': '128Mi'},
            }, f'{name} {kind}')

    def test_there_are_as_many_workers_as_the_limit_has_cpus(self):
        for name, kind, _, levee in levees():
            self.assertIn('--workers=$(LEVEE_WORKERS)', levee['args'], f'{name} {kind}')
            self.assertEqual(levee['env'], [{
                'name': 'LEVEE_WORKERS',
                'valueFrom': {'resourceFieldRef': {
                    'containerName': 'levee', 'resource': 'limits.cpu', 'divisor': '1'}},
            }], f'{name} {kind}')

    def test_the_policy_is_mounted_as_a_directory(self):
        for name, kind, pod, levee in levees():
            self.assertEqual(levee['volumeMounts'], [
                {'name': 'levee', 'mountPath': '/etc/levee', 'readOnly': True}], f'{name} {kind}')
            volume = next(each for each in pod['spec']['volumes'] if each['name'] == 'levee')
            self.assertEqual(volume, {'name': 'levee', 'configMap': {'name': 'levee'}},
                             f'{name} {kind}')
            self.assertIn('--config=/etc/levee/levee.yaml', levee['args'], f'{name} {kind}')

    def test_probes_ask_whether_levee_is_ready(self):
        over_http = {'httpGet': {'path': '/readyz', 'port': 'levee-metrics'}}
        inside = {'exec': {'command': ['/usr/bin/levee', 'probe', '--ready']}}
        for name, kind, _, levee in levees():
            ask = inside if name == 'with-istio' else over_http
            for probe in ('startupProbe', 'readinessProbe'):
                self.assertEqual({**levee[probe], **ask}, levee[probe], f'{name} {kind} {probe}')
                self.assertEqual(len({'exec', 'httpGet'} & set(levee[probe])), 1, f'{name} {kind}')
                # `levee probe` itself waits for 2 s.
                self.assertEqual(levee[probe]['timeoutSeconds'], 3, f'{name} {kind} {probe}')


class Ports(unittest.TestCase):

    def setUp(self):
        documents = {document['kind']: document for document in manifests.golden('example')}
        self.policy = documents['ConfigMap']['data']['levee.yaml']
        self.monitor = documents['PodMonitor']['spec']
        self.network = documents['NetworkPolicy']['spec']

    def test_metrics_are_where_the_kubelet_and_prometheus_look(self):
        self.assertEqual(yaml.safe_load(self.policy)['metrics'], {'address': '0.0.0.0:9461'})
        for name, kind, _, levee in levees():
            self.assertEqual(levee['ports'], [
                {'name': 'levee-metrics', 'containerPort': 9461, 'protocol': 'TCP'}],
                f'{name} {kind}')
        self.assertEqual(self.monitor['podMetricsEndpoints'][0]['port'], 'levee-metrics')
        self.assertEqual(self.monitor['selector'], {'matchLabels': {'levee': 'sidecar'}})

    def test_port_names_are_legal(self):
        self.assertLessEqual(len('levee-metrics'), 15)

    def test_only_monitoring_reaches_the_metrics_and_nobody_the_other_ports(self):
        monitoring, rest = self.network['ingress']
        self.assertEqual(monitoring['ports'], [{'port': 9461, 'protocol': 'TCP'}])
        self.assertEqual(monitoring['from'], [{'namespaceSelector': {
            'matchLabels': {'kubernetes.io/metadata.name': 'monitoring'}}}])
        ranges = [(each['port'], each['endPort']) for each in rest['ports']
                  if each['protocol'] == 'TCP']
        self.assertEqual(ranges, [(1, 9459), (9464, 65535)])
        self.assertEqual(self.network['podSelector'], {'matchLabels': {'levee': 'sidecar'}})

    def test_istio_leaves_the_metrics_alone_and_has_other_ports_and_another_user(self):
        for kind, pod in manifests.pods('with-istio'):
            self.assertEqual(
                pod['metadata']['annotations']['traffic.sidecar.istio.io/excludeInboundPorts'],
                '9461', kind)
            levee = manifests.levee_of(pod)
            self.assertNotEqual(levee['securityContext']['runAsUser'], 1337, kind)
            for port in levee['ports']:
                self.assertNotIn(port['containerPort'], [*range(15000, 15022), 15090], kind)

    def test_mesh_configuration_turns_retries_off(self):
        values = yaml.safe_load((manifests.KUBERNETES / 'with-istio/mesh-config.yaml').read_text())
        self.assertEqual(values['meshConfig']['defaultHttpRetryPolicy'], {'attempts': 0})

    @unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
    def test_the_policy_of_the_example_is_without_fault_or_warning(self):
        done = subprocess.run([BINARY, 'check', '--strict', '-'], input=self.policy,
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == '__main__':
    unittest.main()
