# SPDX-License-Identifier: Apache-2.0
"""Every command of the documents works as it stands there, with the output that is shown, or is of
a kind that cannot be run here; of those is checked what can be without a cluster or Docker."""

import functools
import http.server
import json
import operator
import re
import shlex
import shutil
import subprocess
import sys
import threading
import unittest

import documents
import own_network

if not documents.BINARY:
    raise unittest.SkipTest('LEVEE_BINARY does not say where levee is')

from running import Clone, until

ROOT = documents.ROOT
MISSING = next((f'{program} is not installed; make deps installs it'
                for program in ('curl', 'jq', 'promtool') if not shutil.which(program)), '')
sys.path.append(str(ROOT / 'tests/kubernetes'))
import manifests
KUBECTL = manifests.missing_kubectl()

# By their first word: what runs to its end, what stays up and so has a test of its own, and what
# needs more than there is here.
RUN = ('curl', 'levee', 'build/levee', 'promtool', 'sed')
STAYS = ('prometheus', 'while')  # prometheus_test runs them, and what asks that Prometheus.
IN_ORDER = ('openssl', 'cat')  # own_ca_test runs them.
ELSEWHERE = ('kubectl', 'make', 'apt', 'systemctl', 'docker', 'grpcurl', 'redis-cli')

SERVICE_CONFIG = {'methodConfig': [{'name': [{'service': 'shop.Cart'}], 'timeout': '5s',
                                    'retryPolicy': {
                                        'maxAttempts': 3, 'initialBackoff': '0.1s',
                                        'maxBackoff': '1s', 'backoffMultiplier': 2,
                                        'retryableStatusCodes': ['UNAVAILABLE']}}]}
ROUTES = '''apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{group: "", kind: Service, name: cart, port: 50051}]
  rules: [{backendRefs: [{name: cart, port: 50051}]}]
'''
SERVICES = '''apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop, annotations: {retry.linkerd.io/grpc: unavailable}}
spec: {ports: [{port: 50051}]}
'''
VIRTUAL_SERVICES = '''apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: cart, namespace: shop}
spec:
  hosts: [cart]
  http: [{route: [{destination: {host: cart, port: {number: 50051}}}], timeout: 5s}]
'''
ENVOY = '''
route_config:
  virtual_hosts:
    - name: cart
      domains: ["cart.shop"]
      routes:
        - match: {prefix: /shop.Cart/}
          route: {cluster: cart, timeout: 5s, retry_policy: {retry_on: unavailable}}
'''
# A line of an access log.
LOGGED = {'time': '2026-01-01T00:00:00.000Z', 'duration_ms': 5.1, 'listener': 'egress',
          'upstream': 'callee', 'authority': 'callee:9450', 'method': 'shop.Cart/Add',
          'code': 'OK', 'sample': 0.1,
          'attempts': [{'n': 1, 'endpoint': '10.0.0.7:9450', 'start_ms': 0.1, 'duration_ms': 5,
                        'code': 'OK', 'trigger': None, 'delay_ms': None}]}
# A sidecar that has everything that a runbook looks for: an upstream that is down, policies with
# each of the fields, a log; and calls of shop.Slow, which wait for a minute.
TROUBLE = '''
access_log: {path: calls.json, when: [all]}
upstreams:
  - {name: cart, endpoints: ["127.0.0.1:50051", "127.0.0.1:50061"]}
  - {name: gone, endpoints: ["127.0.0.1:50052"]}
routes:
  - match: {method: "/shop.Gone/*"}
    upstream: gone
  - match: {method: "/shop.Slow/*"}
    upstream: cart
    policy: slow
  - upstream: cart
    policy: patient
policies:
  - name: slow
    timeout: 5m
    rate_limit: [{name: one, rate: 1/m, burst: 1, max_wait: 2m}]
  - name: patient
    retry: {app_retries: limit}
    rate_limit: [{name: all, rate: 1000/s, burst: 1000}]
'''
# A service that answers every call with UNAVAILABLE.
FULL = '''
listeners: [{name: full, address: "127.0.0.1:50061"}]
metrics: {address: none}
admin: {address: none}
upstreams: [{name: nowhere, endpoints: ["127.0.0.1:50062"]}]
routes: [{upstream: nowhere, policy: default}]
policies: [{name: default, retry: {max_attempts: 1, exhausted: keep}}]
'''
CALL = ("printf '\\0\\0\\0\\0\\0' | curl -s --http2-prior-knowledge --data-binary @- "
        "-H 'content-type: application/grpc' -H 'te: trailers' http://127.0.0.1:9460/shop.Cart/Add")


def setUpModule():
    own_network.enter()


def of_kind(*first):
    return [each for each in documents.commands() if each.line.split()[0] in first]


def stays_up(line):
    return re.match(r'(build/)?levee (run|page) ', line)


def tells_of_a_sidecar(line):
    return line.startswith(('levee top', 'levee snapshot'))


def asks_a_server(line):
    return (stays_up(line) or tells_of_a_sidecar(line)
            or line.startswith(('levee probe', 'levee doctor', 'levee fleet', 'promtool query')))


def state(clone):
    return json.loads(clone.run('curl -s http://127.0.0.1:9462/api/v1/state').stdout)


class Kinds(unittest.TestCase):

    def test_every_command_is_run_or_known_to_be_for_elsewhere(self):
        known = {*RUN, *STAYS, *IN_ORDER, *ELSEWHERE}
        self.assertGreater(len(documents.commands()), 50)
        for command in documents.commands():
            self.assertIn(command.line.split()[0], known, command)

    def test_what_is_to_be_typed_is_in_blocks_that_these_tests_read(self):
        for path in documents.DOCUMENTS:
            text = re.sub(r'^```.*?^```$', '', path.read_text(), flags=re.DOTALL | re.MULTILINE)
            self.assertEqual(re.findall(r'\n\n((?: {4}|\t)\S.*)', text), [], path.name)


@unittest.skipIf(MISSING, MISSING)
class InTrouble(unittest.TestCase):
    """Before a sidecar of whose upstreams one fails and one is down, and whose newest configuration
    has a fault."""

    @classmethod
    def setUpClass(cls):
        cls.clone = cls.enterClassContext(Clone())
        cls.clone.write('full.yaml', FULL)
        cls.enterClassContext(cls.clone.start('exec levee run --config full.yaml')).lines(1)
        cls.clone.write('levee.yaml', TROUBLE)
        cls.sidecar = cls.enterClassContext(
            cls.clone.start('exec levee run --config levee.yaml'))
        cls.sidecar.lines(3)
        for _ in range(40):
            cls.clone.run(CALL)
        cls.clone.run(CALL.replace('shop.Cart', 'shop.Gone'))
        cls.clone.write('levee.yaml', 'limit: {}')
        until(lambda: state(cls.clone)['configuration']['faults'] and state(cls.clone)['calls'])

    def test_every_question_of_the_documents_has_an_answer(self):
        asked = [each for each in of_kind('curl') if '/drain' not in each.line]
        self.assertGreater(len(asked), 20)
        for command in asked:
            with self.subTest(command.document, line=command.line):
                done = self.clone.run(command.line)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotEqual(done.stdout.strip(), '')
                if 'jq' in command.line:
                    self.assertNotIn('null', done.stdout)

    def test_the_state_has_the_fields_that_are_shown(self):
        shown = json.loads(documents.block('docs/admin.md', 'json'))
        written = state(self.clone)
        for where in ([], ['sidecar'], ['configuration'], ['upstreams', 0],
                      ['upstreams', 0, 'endpoints', 0], ['upstreams', 0, 'samples', 0],
                      ['calls', 0], ['calls', 0, 'attempts', 0]):
            with self.subTest(where=where):
                self.assertEqual(*(sorted(functools.reduce(operator.getitem, where, each))
                                   for each in (written, shown)))

    def test_the_probe_answers(self):
        done = self.clone.run('levee probe --ready')
        self.assertEqual((done.stdout, done.returncode), ('ready\n', 0))

    def test_the_doctor_finds_the_trouble(self):
        asked = [each for each in of_kind('levee') if each.line.startswith('levee doctor')]
        self.assertTrue(asked)
        for command in asked:
            with self.subTest(command.document, line=command.line):
                done = self.clone.run(command.line)
                self.assertEqual((done.returncode, done.stderr), (1, ''), done.stdout)
                for trouble in ('LD102', 'LD107'):  # The refused file, the upstream that is down.
                    self.assertRegex(done.stdout, f'fault.*{trouble}')

    def test_the_commands_that_tell_of_a_sidecar_do(self):
        asked = [each for each in of_kind('levee') if tells_of_a_sidecar(each.line)]
        self.assertTrue(asked)
        for command in asked:
            with self.subTest(command.document, line=command.line):
                done = self.clone.run(command.line)
                self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_the_access_log_has_the_fields_that_are_shown_of_it(self):
        shown = json.loads(documents.block('docs/access-log.md', 'json'))
        refused = until(lambda: re.findall(
            r'^.*"refused": ?"budget".*\n', (self.clone.path / 'calls.json').read_text(),
            re.MULTILINE))
        retried = json.loads(refused[0])
        self.assertEqual(list(retried), list(shown))
        self.assertEqual(list(retried['attempts'][0]), list(shown['attempts'][0]))

    def test_what_callers_see_is_what_is_shown(self):
        refused = until(lambda: re.search(
            r'(?s)grpc-status: 8.*', self.clone.run(f'{CALL} -o /dev/null -D -').stdout))[0]
        shown = documents.block('docs/policy.md', '', 'grpc-status: 8')
        for line in shown.splitlines():
            self.assertIn(line.split(':')[0] + ':', refused)
        self.assertIn('grpc-message: overloaded, do not retry: budget used up after', refused)
        self.assertIn('grpc-retry-pushback-ms: -1\n', refused)

    def test_z_the_drain_that_is_asked_for_begins(self):  # The last, since it ends the sidecar.
        slow = CALL.replace('shop.Cart', 'shop.Slow')
        self.clone.run(slow)
        self.enterContext(self.clone.start(slow))  # The drain does not end before it.
        until(lambda: state(self.clone)['sidecar']['active_calls'] == 1)
        drain, = (each.line for each in of_kind('curl') if '/drain' in each.line)
        self.assertEqual(json.loads(self.clone.run(drain).stdout), {'began': True})
        probe, = (each for each in of_kind('levee') if 'not ready' in each.output)
        done = self.clone.run(probe.line)
        self.assertEqual((done.stderr.strip(), done.returncode), (probe.output, 1))


class Fleet(unittest.TestCase):
    """Before what sidecars of the applications in docs/fleet.md would say."""

    METRICS = {
        'web': """levee_call_attempts_count{upstream="orders"} 40
levee_attempts_total{upstream="orders"} 40
""",
        'orders': """levee_call_attempts_count{upstream="cart"} 120
levee_attempts_total{upstream="cart"} 120
levee_app_retries_total{upstream="cart",action="admitted",seen_by="loop"} 80
levee_guard_arrivals_total{upstream="app",attempt="0"} 40
""",
        'cart': 'levee_guard_arrivals_total{upstream="app",attempt="0"} 120\n'}

    def setUp(self):
        for host, metrics in self.METRICS.items():
            text = f'levee_build_info 1\nprocess_start_time_seconds 1\n{metrics}'
            server = http.server.HTTPServer((host, 9461), functools.partial(Answers, text))
            self.addCleanup(server.server_close)
            self.addCleanup(server.shutdown)
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def test_its_output_is_as_shown(self):
        asked = [each for each in of_kind('levee')
                 if each.line.startswith('levee fleet') and '--prometheus' not in each.line]
        self.assertEqual(len(asked), 2)
        with Clone() as clone:
            for command in asked:
                with self.subTest(line=command.line):
                    done = clone.run(command.line)
                    self.assertEqual(done.stderr, '')
                    self.assertNotIn('was not read', done.stdout)
                    if command.output:
                        self.assertEqual((done.stdout.strip(), done.returncode),
                                         (command.output, 1))


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers every request with `text`."""

    def __init__(self, text, *more):
        self._text = text
        super().__init__(*more)

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self._text.encode())

    def log_message(self, *_):
        pass


@unittest.skipIf(MISSING, MISSING)
class Files(unittest.TestCase):
    """Commands that work on files."""

    def setUp(self):
        self.clone = self.enterContext(Clone())
        self.clone.write('policy.yaml', documents.block('docs/policy.md', 'yaml', 'upstreams:'))
        self.clone.write('levee.yaml', documents.block('docs/kubernetes.md', 'yaml', 'dns:callee'))
        self.clone.write('service_config.json', json.dumps(SERVICE_CONFIG))
        self.clone.write('envoy.yaml', ENVOY)
        self.clone.write('routes.yaml', ROUTES)
        self.clone.write('services.yaml', SERVICES)
        self.clone.write('virtual-services.yaml', VIRTUAL_SERVICES)
        for file in (ROOT / 'tests/docs/migrate').iterdir():
            self.clone.write(file.name, file.read_text())
        self.clone.write('new.yaml', documents.block('docs/kubernetes.md', 'yaml', 'dns:callee'))
        self.clone.write('calls.log', json.dumps(LOGGED) + '\n')
        self.clone.write('levee-snapshot.json', '{"state": {"next": 1}}')

    def test_files_are_checked_and_imported_as_shown(self):
        for command in of_kind('levee', 'build/levee', 'promtool', 'sed'):
            if asks_a_server(command.line) or command.document == 'docs/checks.md':
                continue
            with self.subTest(command.document, line=command.line):
                done = self.clone.run(command.line)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                if command.output:
                    self.assertEqual(done.stdout.strip(), command.output)

    def test_a_sidecar_starts_as_shown(self):
        for command in of_kind('levee', 'build/levee'):
            if stays_up(command.line):
                with (self.subTest(command.line),
                      self.clone.start(f'exec {command.line}') as sidecar):
                    shown = command.output.splitlines() or ['listening egress 127.0.0.1:9460']
                    self.assertEqual(sidecar.lines(len(shown)), shown)

    def test_a_misspelt_field_is_reported_as_shown(self):
        policy = (self.clone.path / 'policy.yaml').read_text()
        self.clone.write('policy.yaml', policy.replace('max_attempts', 'max_atempts'))
        done = self.clone.run('levee check policy.yaml')
        shown = documents.block('docs/policy.md', '', 'LV105').strip()
        self.assertEqual((done.stdout.splitlines()[0], done.returncode), (shown, 1))

    def test_links_to_runbooks_are_all_changed(self):
        command, = of_kind('sed')
        self.clone.run(command.line)
        for name in ('alerts.yaml', 'old-names.yaml', 'dashboard.json'):
            text = (self.clone.path / 'deploy/mixin' / name).read_text()
            self.assertNotIn('example.com/levee/', text)
            self.assertIn('https://git.example.org/levee/-/blob/main/docs/runbooks/', text)


class Elsewhere(unittest.TestCase):
    """Commands that cannot be run here."""

    def kubectl_lines(self):
        """The words of each call of kubectl, also within pipes and scripts."""
        lines = [each.line for each in of_kind('kubectl')]
        lines += [line for each in documents.blocks('sh') for line in each.text.splitlines()]
        for line in lines:
            found = re.search(r'\bkubectl .*?(?= \||$)', line)
            if found:
                yield shlex.split(found[0], comments=True)

    @unittest.skipIf(KUBECTL, KUBECTL)
    def test_kubectl_has_these_commands_and_options(self):
        found = list(self.kubectl_lines())
        self.assertGreater(len(found), 20)
        for words in found:
            with self.subTest(words=words):
                own = words[:words.index('--')] if '--' in words else words
                done = subprocess.run([*own, '--help'], capture_output=True, text=True,
                                      timeout=documents.WATCHDOG_SECONDS)
                self.assertEqual(done.returncode, 0, done.stderr)
                # Where it does not know the command, it explains itself instead.
                verb = next(word for word in words[1:]
                            if word not in ('-n', 'shop', 'monitoring', 'levee-example'))
                self.assertRegex(done.stdout, rf'Usage:\n  kubectl {verb} ')

    def test_kubectl_is_asked_for_what_the_manifests_have(self):
        manifests = (ROOT / 'tests/kubernetes/golden/example.yaml').read_text()
        for words in self.kubectl_lines():
            if '-c' in words:
                self.assertIn(f'name: {words[words.index("-c") + 1]}\n', manifests)
            if 'configmap' in words and 'get' in words:
                self.assertIn('kind: ConfigMap\nmetadata:\n  name: levee\n', manifests)
            if words[1] == 'port-forward':
                self.assertIn('POD', words)

    @unittest.skipIf(KUBECTL, KUBECTL)
    def test_the_policy_is_read_out_of_its_configmap(self):
        line, = (each.line for each in of_kind('kubectl') if 'jsonpath' in each.line)
        made = ('kubectl create configmap levee --dry-run=client '
                '--from-file=deploy/kubernetes/example/caller/levee.yaml')
        with Clone() as clone:
            done = clone.run(re.sub(r'^kubectl .*(?= -o)', made, line))
        self.assertEqual((done.stdout, done.returncode), ('-: ok\n', 0), done.stderr)

    @unittest.skipIf(KUBECTL, KUBECTL)
    def test_kustomizations_are_whole(self):
        line, = (each.line for each in of_kind('kubectl') if 'kustomize' in each.line)
        with Clone() as clone:
            (clone.path / 'tests').symlink_to(ROOT / 'tests')
            self.assertIn('name: caller', clone.run(line).stdout)

    def test_targets_of_make_are_there(self):
        makefile = (ROOT / 'Makefile').read_text()
        for command in of_kind('make'):
            self.assertIn(f'\n{command.line.split()[1]}:', makefile)

    def test_the_package_and_its_service_have_these_names(self):
        version = re.search(r'levee VERSION (\S+)', (ROOT / 'CMakeLists.txt').read_text())[1]
        lines = [each.line for each in of_kind('apt', 'systemctl')]
        self.assertIn(f'apt install ./build/levee_{version}_amd64.deb', lines)
        for line in lines:
            if line.startswith('systemctl'):
                unit = line.split()[-1]
                self.assertTrue((ROOT / f'deploy/systemd/{unit}.service').exists(), line)

    def test_grpcurl_asks_for_methods_that_exist(self):
        proto = (ROOT / 'protos/levee/admin/v1/admin.proto').read_text()
        for command in of_kind('grpcurl'):
            method = re.search(r'levee\.admin\.v1\.Admin/(\w+)', command.line)
            if method:
                self.assertIn(f'rpc {method[1]}(', proto)


if __name__ == '__main__':
    unittest.main(verbosity=2)
