# SPDX-License-Identifier: Apache-2.0
"""What is written from config.proto and scenario.proto is what they say now, and the schemas tell
right files from wrong ones."""

import json
import os
import pathlib
import re
import subprocess
import unittest

try:
    import jsonschema
    import yaml
except ImportError as error:
    MISSING = f'{error.name} is missing; make deps installs it'
else:
    MISSING = ''

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / 'config' / 'levee.schema.json'
SCENARIO_SCHEMA = ROOT / 'config' / 'levee.scenario.schema.json'
SCENARIOS = sorted((ROOT / 'config' / 'scenarios').glob('*.yaml'))
FILES = [*sorted(set((ROOT / 'config').rglob('*.yaml')) - set(SCENARIOS)),
         ROOT / 'tests' / 'config' / 'checkout.yaml']


class Generated(unittest.TestCase):

    @staticmethod
    def generated(*file):
        return subprocess.run(
            [os.environ['LEVEE_SCHEMA'], os.environ['LEVEE_COMMENTED_CONFIG'], *file],
            capture_output=True, text=True, check=True).stdout

    def test_file_is_what_would_be_generated(self):
        self.assertEqual(SCHEMA.read_text(), self.generated(), 'run `make schema`')
        self.assertEqual(SCENARIO_SCHEMA.read_text(), self.generated('scenario'),
                         'run `make schema`')

    def test_limits_are_what_would_be_generated(self):
        for file in ('config/levee.yaml', 'docs/limits.md'):
            text = (ROOT / file).read_text()
            self.assertEqual(text, self.generated(str(ROOT / file)), 'run `make schema`')

    def test_every_file_names_the_schema_for_editors(self):
        for file in [*FILES, *SCENARIOS]:
            schema = SCENARIO_SCHEMA if file in SCENARIOS else SCHEMA
            line = file.read_text().split('\n', 1)[0]
            match = re.fullmatch(r'# yaml-language-server: \$schema=(\S+)', line)
            self.assertTrue(match, f'{file}: {line}')
            self.assertEqual((file.parent / match.group(1)).resolve(), schema, file)


@unittest.skipIf(MISSING, MISSING)
class Validation(unittest.TestCase):

    def setUp(self):
        schema = json.loads(SCHEMA.read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        self.validator = jsonschema.Draft7Validator(schema)

    def errors(self, text):
        return [error.message for error in self.validator.iter_errors(yaml.safe_load(text))]

    def assert_refused(self, *texts):
        for text in texts:
            self.assertTrue(self.errors(text), text)

    def assert_accepted(self, *texts):
        for text in texts:
            self.assertEqual(self.errors(text), [], text)

    @staticmethod
    def retry(fields):
        return f'policies: [{{name: default, retry: {{{fields}}}}}]'

    def test_accepts_every_file_of_the_repository(self):
        self.assertGreaterEqual(len(FILES), 7)
        for file in FILES:
            self.assertEqual(self.errors(file.read_text()), [], file)

    def test_refuses_unknown_fields(self):
        self.assert_refused('limit: {}', self.retry('max_atempts: 3'), 'admin: {tls: x}')

    def test_refuses_wrong_types(self):
        self.assert_refused('listeners: 7', self.retry('codes: UNAVAILABLE'),
                            self.retry('max_attempts: three'), self.retry('max_attempts: 2.5'),
                            'metrics: {otel_names: 1}', 'drain: [20s]')

    def test_refuses_values_without_a_unit(self):
        self.assert_refused('drain: {timeout: 20}', 'drain: {timeout: "20"}',
                            'limits: {replay_bytes: 1048576}', 'limits: {replay_bytes: 16MB}')

    def test_refuses_what_is_out_of_range(self):
        self.assert_refused(self.retry('max_attempts: 0'), self.retry('max_attempts: 101'),
                            self.retry('backoff: {jitter: {factor: 0}}'),
                            'access_log: {sample: 1.5}', 'listeners: []')

    def test_refuses_unknown_words(self):
        self.assert_refused(self.retry('commit: headrs'), self.retry('failures: [refusd]'),
                            self.retry('codes: [UNAVAILBLE]'), self.retry('codes: [0, 17]'),
                            self.retry('backoff: {preset: gprc}'),
                            self.retry('backoff: {jitter: sometimes}'))

    def test_refuses_none_where_nothing_is_switched_off(self):
        self.assert_refused('limits: {replay_bytes: none}', self.retry('hold: none'))
        self.assert_accepted(self.retry('attempt_timeout: none'), 'metrics: {address: none}',
                             'policies: [{name: default, hedge: none, idempotency: {key: none}}]')

    def test_refuses_entries_without_their_required_fields(self):
        self.assert_refused('upstreams: [{name: cart}]', 'routes: [{policy: default}]',
                            'policies: [{timeout: 1s}]')

    def test_refuses_fields_that_exclude_each_other(self):
        self.assert_refused(self.retry('backoff: {constant: 1s, initial: 1s}'),
                            self.retry('backoff: {jitter: {factor: 0.2, add: 1s}}'),
                            self.retry('backoff: {truncate: 3}'))
        self.assert_accepted(self.retry('backoff: {preset: ethernet, truncate: 3}'),
                             self.retry('backoff: {slot: 51.2us, truncate: 3}'))

    def test_takes_one_place_where_a_route_leads(self):
        self.assert_refused('routes: [{deny: true, upstream: anywhere}]',
                            'routes: [{split: [{upstream: anywhere}], upstream: anywhere}]',
                            'routes: [{upstream: anywhere, split_key: ["header:x-user"]}]',
                            'routes: [{match: {headers: [{exact: a}]}, upstream: anywhere}]',
                            'listeners: [{name: a, address: "127.0.0.1:1", tls: {}}]')
        self.assert_accepted('routes: [{deny: true}]', 'routes: [{deny: false, upstream: anywhere}]',
                             'routes: [{split: [{upstream: anywhere, weight: 1}], '
                             'split_key: ["header:x-user"], timeout: 1s}]')

    def test_accepts_every_spelling_of_a_code(self):
        self.assert_accepted(self.retry('codes: [UNAVAILABLE, unavailable, Aborted, 14, "8"]'),
                             self.retry('http: [429, 5xx, "408"]'))

    def test_accepts_plain_values_in_place_of_objects(self):
        self.assert_accepted(self.retry('backoff: {jitter: full}'),
                             self.retry('backoff: {jitter: {add: 1m30s}}'))


@unittest.skipIf(MISSING, MISSING)
class Scenarios(unittest.TestCase):

    BASE = """
        duration: 60s
        clients: [{name: web, calls: cart/Add, load: {poisson: 40/s}}]
        services: [{name: cart, slots: 8, time: 5ms}]
        """

    def setUp(self):
        schema = json.loads(SCENARIO_SCHEMA.read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        self.validator = jsonschema.Draft7Validator(schema)

    def errors(self, **changed):
        scenario = yaml.safe_load(self.BASE) | {
            key: yaml.safe_load(text) for key, text in changed.items()}
        return [error.message for error in self.validator.iter_errors(scenario)]

    def test_l7_accepts_every_scenario_of_the_repository(self):
        self.assertTrue(SCENARIOS)
        for file in SCENARIOS:
            errors = list(self.validator.iter_errors(yaml.safe_load(file.read_text())))
            self.assertEqual(errors, [], file)

    def test_l7_accepts_what_levee_accepts(self):
        self.assertEqual(self.errors(), [])
        self.assertEqual(self.errors(compare='[no-retries, this]'), [])
        self.assertEqual(self.errors(services='[{name: a, slots: 1, time: {exponential: 1s}, '
                                              'queue: none, abandoned: drop}]'), [])
        self.assertEqual(self.errors(faults='[{at: 1s, for: 1s, service: a, '
                                            'fail: {code: 14, share: 0.3}}]'), [])

    def test_l7_refuses_what_levee_refuses(self):
        for wrong in ({'duration': '60'}, {'clients': '[]'}, {'compare': '[no-retrys]'},
                      {'services': '[{name: a, slots: 0, time: 1s}]'},
                      {'services': '[{name: a, time: 1s}]'},
                      {'faults': '[{at: 1s, for: 1s, service: a, capacity: 2}]'},
                      {'faults': '[{at: 1s, for: 1s, servce: a, capacity: 0}]'},
                      {'expect': '[{recovry: "<= 5s"}]'}):
            self.assertTrue(self.errors(**wrong), wrong)


if __name__ == '__main__':
    unittest.main()
