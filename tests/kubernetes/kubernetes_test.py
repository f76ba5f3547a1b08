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
# Where connections are redirected, Levee has a user of its own, whose connections are not.
USERS = {'capture': 9470}
# The names of the component `hosts`.
HOSTS = ('cart.shop', 'cart.shop.svc.cluster.local', 'pay.shop')
RESTRICTED = {
    'runAsNonRoot': True,
    'runAsUser': 65532,
    'readOnlyRootFilesystem': True,
    'allowPrivilegeEscalation': False,
    'capabilities': {'drop': ['ALL']},
    'seccompProfile': {'type': 'RuntimeDefault'},
}


METRICS_PORT = {'name': 'levee-metrics', 'containerPort': 9461, 'protocol': 'TCP'}
GUARD_PORT = {'name': 'levee-ingress', 'containerPort': 9450, 'protocol': 'TCP'}


EXAMPLES = ('example', 'example-redis')


def guarded(name, kind, pod):
    """Whether the guard takes the calls to a workload of a golden file."""
    if name in EXAMPLES:
        return pod['metadata']['labels']['app'] == 'callee'
    return name == 'guard' and kind in ('Deployment', 'StatefulSet', 'DaemonSet')


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
        for name in ('sidecar', 'with-istio', 'guard', 'capture', 'hosts'):
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

    def test_w10_callers_of_the_guard_are_sent_elsewhere_as_the_pod_begins_to_stop(self):
        drain = {'preStop': {'exec': {'command': ['/usr/bin/levee', 'drain']}}}
        for name, kind, _, levee in levees():
            if name == 'container':
                continue
            takes_calls = any(port['containerPort'] == 9450 for port in levee['ports'])
            self.assertEqual(levee.get('lifecycle'), drain if takes_calls else None,
                             f'{name} {kind}')

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
            return subprocess.run([BINARY, 'sleep', duration], capture_output=True,
                                  timeout=manifests.WATCHDOG_SECONDS)

        self.assertEqual([run(each).returncode for each in ('0s', '1ms', '5', '-1s', '2h')],
                         [0, 0, 2, 2, 2])

    def test_what_the_workload_had_is_still_there(self):
        for name in ('sidecar', 'container', 'with-istio', 'guard', 'capture'):
            pod = dict(manifests.pods(name))['Deployment']
            self.assertIn('migrate', [each['name'] for each in pod['spec']['initContainers']])
            self.assertIn('app', [each['name'] for each in pod['spec']['containers']])
            self.assertIn('scratch', [each['name'] for each in pod['spec']['volumes']])
            self.assertEqual(pod['metadata']['labels'], {'app': 'deployment', 'levee': 'sidecar'})


class Container(unittest.TestCase):

    def test_levee_is_restricted(self):
        for name, kind, _, levee in levees():
            user = USERS.get(name, 65532)
            for field, value in {**RESTRICTED, 'runAsUser': user}.items():
                self.assertEqual(levee['securityContext'][field], value, f'{name} {kind} {field}')
            self.assertEqual(levee['securityContext']['runAsGroup'], user, f'{name} {kind}')
            self.assertIs(levee['securityContext']['privileged'], False, f'{name} {kind}')

    def test_so_is_every_container_of_the_example(self):
        for kind, pod in [each for name in EXAMPLES for each in manifests.pods(name)]:
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
            self.assertEqual(volume, {'name': 'levee', 'configMap': {
                'name': 'levee-callee' if name in EXAMPLES and guarded(name, kind, pod)
                else 'levee'}}, f'{name} {kind}')
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


class Capture(unittest.TestCase):

    def test_connections_are_redirected_once_levee_is_ready_and_before_anything_else_runs(self):
        found = [(kind, pod) for kind, pod in manifests.pods('capture')]
        self.assertEqual(sorted(kind for kind, _ in found), sorted(WORKLOADS))
        for kind, pod in found:
            names = [each['name'] for each in pod['spec']['initContainers']]
            self.assertEqual(names[:2], ['levee', 'levee-capture'], kind)
            self.assertNotIn('restartPolicy', pod['spec']['initContainers'][1], kind)

    def test_it_has_no_privilege_but_the_one_that_it_needs(self):
        wanted = {**RESTRICTED, 'runAsGroup': 65532, 'privileged': False,
                  'capabilities': {'drop': ['ALL'], 'add': ['NET_ADMIN']}}
        for kind, pod in manifests.pods('capture'):
            self.assertEqual(manifests.capture_of(pod)['securityContext'], wanted, kind)

    def test_the_user_whose_connections_are_left_alone_is_levee_and_nobody_else(self):
        for kind, pod in manifests.pods('capture'):
            levee, capture = manifests.levee_of(pod), manifests.capture_of(pod)
            user = levee['securityContext']['runAsUser']
            self.assertIn(f'--uid={user}', capture['args'], kind)
            # Images without root have these users; the last is Istio's.
            self.assertNotIn(user, (0, 1000, 1001, 65532, 65534, 1337), kind)

    @unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
    def test_its_command_is_one_that_levee_understands(self):
        for kind, pod in manifests.pods('capture'):
            capture = manifests.capture_of(pod)
            (ports,) = capture['env']
            words = [word.replace('$(LEVEE_CAPTURE_PORTS)', ports['value'])
                     for word in capture['args']]
            done = subprocess.run([BINARY, *words, '--print'], capture_output=True, text=True,
                                  timeout=manifests.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('meta skuid 9470 return', done.stdout, kind)
            self.assertIn('tcp dport 50051 redirect to :9470', done.stdout, kind)
            self.assertEqual('tcp dport 9090-9099' in done.stdout, kind == 'Deployment', kind)


class Hosts(unittest.TestCase):

    def test_the_names_lead_to_levee_in_every_kind_of_workload(self):
        for kind, pod in manifests.pods('hosts'):
            self.assertEqual(pod['spec']['hostAliases'], [{
                'ip': '127.0.0.1',
                'hostnames': list(HOSTS)}], kind)

    def test_nobody_has_a_privilege_for_it(self):
        for kind, pod in manifests.pods('hosts'):
            self.assertIsNone(manifests.capture_of(pod), kind)
            self.assertNotIn("'add'", str(pod), kind)

    @unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
    def test_the_policy_of_the_example_is_without_fault_or_warning(self):
        done = subprocess.run(
            [BINARY, 'check', '--strict', manifests.ROOT / 'config/examples/hosts.yaml'],
            capture_output=True, text=True, timeout=manifests.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Ports(unittest.TestCase):

    def setUp(self):
        golden = manifests.golden('example')
        documents = {document['kind']: document for document in golden}
        self.policies = {document['metadata']['name']: document['data']['levee.yaml']
                         for document in golden if document['kind'] == 'ConfigMap'}
        self.monitor = documents['PodMonitor']['spec']
        self.network = documents['NetworkPolicy']['spec']

    def test_metrics_are_where_the_kubelet_and_prometheus_look(self):
        self.assertEqual(sorted(self.policies), ['levee', 'levee-callee'])
        for policy in self.policies.values():
            self.assertEqual(yaml.safe_load(policy)['metrics'], {'address': '0.0.0.0:9461'})
        for name, kind, pod, levee in levees():
            ports = [METRICS_PORT]
            if guarded(name, kind, pod):
                ports = [GUARD_PORT, METRICS_PORT]
            self.assertEqual(levee['ports'], ports, f'{name} {kind}')
        self.assertEqual(self.monitor['podMetricsEndpoints'][0]['port'], 'levee-metrics')
        self.assertEqual(self.monitor['selector'], {'matchLabels': {'levee': 'sidecar'}})

    def test_port_names_are_legal(self):
        for port in (METRICS_PORT, GUARD_PORT):
            self.assertLessEqual(len(port['name']), 15)

    def test_only_monitoring_reaches_the_metrics_and_nobody_the_ports_beside_the_guard(self):
        monitoring, rest = self.network['ingress']
        self.assertEqual(monitoring['ports'], [{'port': 9461, 'protocol': 'TCP'}])
        self.assertEqual(monitoring['from'], [{'namespaceSelector': {
            'matchLabels': {'kubernetes.io/metadata.name': 'monitoring'}}}])
        ranges = [(each['port'], each['endPort']) for each in rest['ports']
                  if each['protocol'] == 'TCP']
        self.assertEqual(ranges, [(1, 9459), (9464, 65535)])
        self.assertTrue(any(first <= GUARD_PORT['containerPort'] <= last for first, last in ranges))
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
    def test_the_policies_of_the_example_are_without_fault_or_warning(self):
        for policy in self.policies.values():
            done = subprocess.run([BINARY, 'check', '--strict', '-'], input=policy,
                                  capture_output=True, text=True, timeout=manifests.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Guard(unittest.TestCase):

    def setUp(self):
        golden = manifests.golden('example')
        self.callee = next(document for document in golden if document['kind'] == 'Deployment'
                           and document['metadata']['name'] == 'callee')
        self.service = next(document for document in golden if document['kind'] == 'Service')
        self.policies = {document['metadata']['name']: yaml.safe_load(document['data']['levee.yaml'])
                         for document in golden if document['kind'] == 'ConfigMap'}
        self.policy = self.policies['levee-callee']

    def test_the_first_port_of_each_service_goes_to_levee_and_no_other_does(self):
        ports = {document['metadata']['name']: document['spec']['ports']
                 for document in manifests.golden('guard') if document['kind'] == 'Service'}
        self.assertEqual(ports, {
            'deployment': [{'name': 'grpc', 'port': 50051, 'targetPort': 9450},
                           {'name': 'metrics', 'port': 8080}],
            'stateful-set': [{'name': 'grpc', 'port': 50051, 'targetPort': 9450}],
        })

    def test_the_port_is_that_of_the_inbound_listener(self):
        (listener,) = self.policy['listeners']
        self.assertEqual(listener, {'name': 'ingress', 'address': '0.0.0.0:9450',
                                    'direction': 'inbound'})
        self.assertEqual(GUARD_PORT['containerPort'], 9450)

    def test_callers_of_the_headless_service_say_the_port_of_the_pods(self):
        self.assertEqual(self.service['spec']['clusterIP'], 'None')
        (port,) = self.service['spec']['ports']
        self.assertEqual((port['port'], port['targetPort']), (9450, 9450))
        (upstream,) = self.policies['levee']['upstreams']
        self.assertEqual(upstream['endpoints'], ['dns:callee:9450'])

    def test_the_application_listens_on_loopback_only(self):
        (app,) = self.callee['spec']['template']['spec']['containers']
        listening = [word.split('=')[1] for word in app['command'] if '--listen' in word]
        self.assertEqual(listening, ['http://127.0.0.1:2379', 'http://127.0.0.1:2380'])
        (upstream,) = self.policy['upstreams']
        self.assertEqual(upstream['endpoints'], ['127.0.0.1:2379'])

    def test_dns_has_a_pod_within_a_second_of_its_being_ready(self):
        (app,) = self.callee['spec']['template']['spec']['containers']
        self.assertEqual(app['readinessProbe'].get('periodSeconds', 10), 1)

    def test_its_readiness_is_asked_for_through_levee_and_past_the_guard(self):
        (app,) = self.callee['spec']['template']['spec']['containers']
        self.assertEqual(app['readinessProbe']['grpc'], {'port': 9450})
        first, second = self.policy['routes']
        self.assertEqual(first['match']['method'], '/grpc.health.v1.Health/*')
        policies = {policy['name']: policy for policy in self.policy['policies']}
        self.assertNotIn('guard', policies[first['policy']])
        self.assertIn('guard', policies[second['policy']])


class Redis(unittest.TestCase):

    def setUp(self):
        self.golden = manifests.golden('example-redis')
        self.policies = {document['metadata']['name']: document['data']['levee.yaml']
                         for document in self.golden if document['kind'] == 'ConfigMap'}

    def named(self, kind, name):
        document, = (each for each in self.golden
                     if (each['kind'], each['metadata']['name']) == (kind, name))
        return document

    def test_the_example_with_it_has_all_that_the_other_has(self):
        def names(documents):
            return {(each['kind'], each['metadata']['name']) for each in documents}

        self.assertEqual(names(self.golden) - names(manifests.golden('example')),
                         {(kind, 'redis') for kind in ('Service', 'StatefulSet', 'NetworkPolicy')})
        self.assertLessEqual(names(manifests.golden('example')), names(self.golden))

    def test_both_policies_name_its_service(self):
        (port,) = self.named('Service', 'redis')['spec']['ports']
        for name, policy in self.policies.items():
            (store,) = yaml.safe_load(policy)['stores']
            self.assertEqual(store['redis'], [f'redis:{port["port"]}'], name)

    def test_the_key_of_the_caller_is_the_one_that_the_callee_knows(self):
        caller, = yaml.safe_load(self.policies['levee'])['policies']
        self.assertEqual(caller['idempotency']['key']['header'], 'idempotency-key')
        once = yaml.safe_load(self.policies['levee-callee'])['policies'][-1]
        self.assertNotIn('header', once['guard']['dedupe'])  # It is the default.
        self.assertIn('reset', caller['retry']['failures'])

    def test_it_keeps_what_it_was_told_and_only_sidecars_reach_it(self):
        pod = self.named('StatefulSet', 'redis')['spec']['template']
        (container,) = pod['spec']['containers']
        command = ' '.join(container['command'])
        for option in ('--appendonly yes', '--maxmemory-policy noeviction'):
            self.assertIn(option, command)
        network = self.named('NetworkPolicy', 'redis')['spec']
        self.assertEqual(network['podSelector'], {'matchLabels': pod['metadata']['labels']})
        (rule,) = network['ingress']
        self.assertEqual(rule['from'], [{'podSelector': {'matchLabels': {'levee': 'sidecar'}}}])

    @unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
    def test_its_policies_are_without_fault_or_warning(self):
        for policy in self.policies.values():
            done = subprocess.run([BINARY, 'check', '--strict', '-'], input=policy,
                                  capture_output=True, text=True, timeout=manifests.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


@unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
class Inject(unittest.TestCase):
    """`levee inject` and the kustomize components give the same."""

    def inject(self, *options, text=None, code=0):
        text = text or (manifests.HERE / 'workloads/workloads.yaml').read_text()
        done = subprocess.run([BINARY, 'inject', '-f', '-', *options], input=text,
                              capture_output=True, text=True, timeout=manifests.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_workloads_are_those_of_the_components(self):
        # Nobody calls jobs, so the component gives them no port of the guard.
        called = ('Deployment', 'StatefulSet', 'DaemonSet')
        for name, options, kinds in (('sidecar', [], WORKLOADS), ('guard', ['--guard'], called),
                                     ('hosts', ['--hosts', ','.join(HOSTS)], WORKLOADS),
                                     ('capture', ['--capture', '50051'], WORKLOADS[1:]),
                                     ('capture', ['--capture', '50051,9090-9099'], WORKLOADS[:1])):
            golden = dict(manifests.pods(name))
            made = {document['kind']: manifests.pod_of(document)
                    for document in yaml.safe_load_all(self.inject(*options).stdout)}
            for kind in kinds:
                self.assertEqual(made[kind], golden[kind], f'{name} {kind}')

    def test_what_was_there_comes_back(self):
        text = (manifests.HERE / 'workloads/workloads.yaml').read_text()
        injected = self.inject('--image', 'registry.example.com/levee:1').stdout
        self.assertEqual(injected.count('"registry.example.com/levee:1"'), 5)
        self.assertEqual(self.inject('--remove', text=injected).stdout, text)

    def test_the_components_are_taken_out_as_well(self):
        for name in ('sidecar', 'capture', 'hosts'):
            text = manifests.golden_file(name).read_text()
            for document in yaml.safe_load_all(self.inject('--remove', text=text).stdout):
                self.assertIsNone(manifests.levee_of(manifests.pod_of(document)), document['kind'])
                self.assertNotIn('levee', str(document), document['kind'])

    def test_ports_and_image_of_capture_are_those_of_the_options(self):
        made = self.inject('--capture', '50051,9090-9099', '--capture-image', 'a/b:1').stdout
        for document in yaml.safe_load_all(made):
            capture = manifests.capture_of(manifests.pod_of(document))
            self.assertEqual(capture['image'], 'a/b:1')
            self.assertEqual(capture['env'][0]['value'], '50051,9090-9099')
        self.assertIn('"50051;" is neither a port nor a range of ports', self.inject('--capture', '50051;', code=2).stderr)

    def test_what_is_no_name_of_a_service_is_refused(self):
        for name in ('localhost', 'Cart', 'cart_shop', 'cart..shop', '-cart', 'cart.'):
            self.assertIn(f'"{name}" is not the name of a service',
                          self.inject(f'--hosts=cart.shop,{name}', code=2).stderr)
        self.inject('--hosts', 'cart.shop', '--capture', '50051', code=2)

    def test_nothing_is_printed_of_a_file_with_one_refused_workload(self):
        text = (manifests.HERE / 'workloads/workloads.yaml').read_text()
        done = self.inject(text=text.replace('containerPort: 8080', 'containerPort: 9461'), code=1)
        self.assertEqual(done.stdout, '')
        self.assertRegex(done.stderr, r'^-:22:\d+: document 1, Deployment deployment: container app '
                                      r'has port 9461, which Levee needs for metrics\n$')


if __name__ == '__main__':
    unittest.main()
