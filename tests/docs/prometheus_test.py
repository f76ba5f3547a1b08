# SPDX-License-Identifier: Apache-2.0
"""From nothing to panels with data, as docs/mixin.md leads there, and the same by deploy/compose.yaml:
the very files and commands, in a network in which every port is free."""

import re
import shutil
import unittest

import documents
import own_network

if not documents.BINARY:
    raise unittest.SkipTest('LEVEE_BINARY does not say where levee is')

import yaml
from running import Clone, until

ROOT = documents.ROOT
MISSING = next((f'{program} is not installed; make deps installs it'
                for program in ('prometheus', 'promtool', 'curl') if not shutil.which(program)), '')
CALL = ("printf '\\0\\0\\0\\0\\0' | curl -s --http2-prior-knowledge --data-binary @- "
        "-D - -o /dev/null -H 'content-type: application/grpc' -H 'te: trailers' "
        "http://127.0.0.1:9460/")


def setUpModule():
    own_network.enter()


def names_of_rules():
    return sorted(rule.get('alert', rule.get('record')) for file in ('rules', 'alerts')
                  for group in yaml.safe_load((ROOT / f'deploy/mixin/{file}.yaml').read_text())[
                      'groups'] for rule in group['rules'])


def shown(beginning):
    """The first command of docs/mixin.md that begins so."""
    return next(each for each in documents.commands()
                if each.document == 'docs/mixin.md' and each.line.startswith(beginning))


@unittest.skipIf(MISSING, MISSING)
class PanelsWithData(unittest.TestCase):

    def test_its_commands_lead_to_panels_with_data(self):
        levee_line = shown('levee run --to')
        with (Clone() as clone, clone.start(f'exec {levee_line.line}') as levee):
            ports = levee_line.output.splitlines()
            self.assertEqual(levee.lines(len(ports)), ports)
            with (clone.start_prometheus(shown('prometheus ').line) as prometheus,
                  clone.start(shown('while ').line)):
                self.assertEqual(prometheus.rules(), names_of_rules())
                ask = shown('promtool query ').line
                # The first call's retries count before the call does: they wait, and it ends later.
                # Each retry of the beginning takes five calls until it weighs less than that, and on
                # a busy machine curl makes few in a second.
                about_one = re.compile(r'\{upstream="to"\} => 1(\.[01][0-9]*)? @')
                self.assertTrue(until(lambda: about_one.search(clone.run(ask).stdout)))
                self.assert_is_the_fleet(clone)
                # Nothing succeeds, so the last retry was made before the panels' span began.
                for title in ('How much is the load amplified?', 'How many calls and retries',
                              'What do callers see', 'How much of the retry budget',
                              'Why was it not retried?', 'How many attempts do calls take?',
                              'Is it one endpoint or all?'):
                    self.assert_has_data(prometheus, title)
                alerts = until(lambda: prometheus.alerts('pending'))
                self.assertIn('LeveeRetryBudgetExhausted',
                              [each['labels']['alertname'] for each in alerts])
                for each in alerts:  # There is no Kubernetes that would name one.
                    self.assertIn('namespace none', each['annotations']['description'])

    def assert_is_the_fleet(self, clone):
        line, = (each.line for each in documents.commands()
                 if each.line.startswith('levee fleet --prometheus'))
        done = clone.run(line)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done.stdout)
        self.assertRegex(done.stdout, r'^1 sidecar, 5m0?s?\n  - No layer multiplies the load: ')
        self.assertRegex(done.stdout, r'\n  levee\n    -> to +1\.[01]')

    def assert_has_data(self, prometheus, title):
        from mixin import expressions, read_dashboard
        panel, = (each for each in read_dashboard()['panels'] if each['title'].startswith(title))
        for query in expressions(panel):
            if not until(lambda query=query: prometheus.ask(query)):
                self.fail(f'{title}: nothing for {query}')


@unittest.skipIf(MISSING, MISSING)
class Compose(unittest.TestCase):
    """Its services without containers: the files are where its volumes put them, and the names of
    services are names of this machine."""

    def setUp(self):
        self.services = yaml.safe_load((ROOT / 'deploy/compose.yaml').read_text())['services']
        self.clone = self.enterContext(Clone())

    def place_volumes(self, service):
        """Returns the folder in which they are."""
        root = self.clone.path / service
        for volume in self.services[service]['volumes']:
            source, target, mode = volume.split(':')
            self.assertEqual(mode, 'ro')
            path = root / target.lstrip('/')
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(self.clone.path / 'deploy' / source)
        return root

    def start_callee(self):
        """What answers grpc.health.v1.Health on the port of compose.yaml's callee is here another
        Levee."""
        command = self.services['callee']['command']
        port, = (word.removeprefix('--port=') for word in command if word.startswith('--port='))
        self.clone.write('callee.yaml', f'''
listeners: [{{name: unused, address: 127.0.0.1:0}}]
metrics: {{address: 127.0.0.1:0}}
admin: {{address: none, grpc_address: "127.0.0.1:{port}"}}
''')
        callee = self.enterContext(self.clone.start('exec levee run --config callee.yaml'))
        callee.lines(3)

    def start_levee(self):
        root = self.place_volumes('levee')
        command = ' '.join(self.services['levee']['command']).replace('/etc/', f'{root}/etc/')
        levee = self.enterContext(self.clone.start(f'exec levee {command}'))
        policy = yaml.safe_load((root / 'etc/levee/levee.yaml').read_text())
        # Those of metrics and of the page too.
        ports = {line.rsplit(':', 1)[1] for line in levee.lines(len(policy['listeners']) + 2)}
        published = {port.rsplit(':', 1)[1] for port in self.services['levee']['ports']}
        self.assertLessEqual(published, ports)

    def check_callee_answers(self):
        """A call that comes before all is connected is refused, and the next one may not be."""
        self.assertTrue(until(lambda: re.search(
            r'(?s)^HTTP/2 200.*\ngrpc-status: 0\s',
            self.clone.run(f'{CALL}grpc.health.v1.Health/Check').stdout)))

    def test_its_callee_is_reached_and_its_prometheus_has_levee_and_the_rules(self):
        self.start_callee()
        self.start_levee()
        self.check_callee_answers()
        root = self.place_volumes('prometheus')
        with self.clone.start_prometheus(
                f'prometheus --config.file={root}/etc/prometheus/prometheus.yml '
                f'--storage.tsdb.path={root}/data --web.listen-address=127.0.0.1:9090'
                ) as prometheus:
            self.assertEqual(prometheus.rules(), names_of_rules())
            self.assertTrue(until(lambda: prometheus.health_of_targets() == ['up']))
            counted = until(lambda: prometheus.ask('levee_calls_total{upstream="callee"} > 0'))
            self.assertEqual([(labels['code'], labels['instance']) for labels, _ in counted],
                             [('OK', 'levee:9461')])

    @unittest.skipUnless(shutil.which('redis-server'), 'redis-server is not installed')
    def test_with_redis_it_leases_its_limit_and_calls_with_a_key_run_once(self):
        more = yaml.safe_load((ROOT / 'deploy/compose-redis.yaml').read_text())['services']
        for part in ('volumes', 'ports'):
            self.services['levee'][part] = more['levee'][part]
        redis_line = ' '.join(more['redis']['command'])
        with self.clone.start(f'exec {redis_line} --dir {self.clone.path}'):
            self.start_callee()
            self.start_levee()
            self.check_callee_answers()
            self.assertTrue(until(lambda: 'levee:sidecars:default/together' in self.clone.run(
                "redis-cli --scan --pattern 'levee:*'").stdout))
            keyed = CALL.replace(':9460/', ':9450/').replace(
                'http:', "-H 'idempotency-key: 7' http:") + 'grpc.health.v1.Health/Check'
            # A call that came before the connection to Redis was refused, and has not run.
            self.assertTrue(until(lambda: 'grpc-status: 0' in self.clone.run(keyed).stdout))
            self.assertIn('levee-replayed: true', self.clone.run(keyed).stdout)
            self.assertIn('levee:key:', self.clone.run(
                "redis-cli --scan --pattern 'levee:key:*'").stdout)


if __name__ == '__main__':
    unittest.main(verbosity=2)
