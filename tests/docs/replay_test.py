# SPDX-License-Identifier: Apache-2.0
"""The way of docs/replay.md from an access log to a better policy, by its own commands."""

import json
import re
import unittest

import documents

if not documents.BINARY:
    raise unittest.SkipTest('LEVEE_BINARY does not say where levee is')

from running import Clone

POLICY = '''
upstreams: [{name: callee, endpoints: ["10.0.0.7:9450", "10.0.0.8:9450"]}]
routes: [{upstream: callee, policy: default}]
policies:
  - name: default
    retry:
      codes: [UNAVAILABLE, INTERNAL]
      max_attempts: 4
      budget: {ratio: 0.5}
'''


def attempt(number, code, took):
    return {'n': number, 'endpoint': f'10.0.0.{7 + number % 2}:9450', 'start_ms': 8 * (number - 1),
            'duration_ms': took, 'code': code, 'trigger': None if number == 1 else 'status',
            'delay_ms': None if number == 1 else 3}


def call(number):
    """One of 50 in a second. A retry helps one in twenty, and is in vain for another one. One in a
    hundred takes long."""
    took = 700 if number % 100 == 1 else 5
    codes = {0: ['UNAVAILABLE', 'OK'], 10: ['INTERNAL'] * 4}.get(number % 20, ['OK'])
    return {'time': f'2026-01-01T00:{number // 3000:02}:{number // 50 % 60:02}.{number % 50 * 20:03}Z',
            'duration_ms': took + 8 * (len(codes) - 1), 'listener': 'egress', 'upstream': 'callee',
            'authority': 'callee:9450', 'method': 'shop.Cart/Add', 'code': codes[-1], 'sample': 1,
            'attempts': [attempt(i + 1, code, took) for i, code in enumerate(codes)]}


class FromALogToAPolicy(unittest.TestCase):
    def setUp(self):
        self.clone = Clone()
        self.addCleanup(self.clone.__exit__, None, None, None)
        self.clone.write('levee.yaml', POLICY)
        self.clone.write('calls.log', ''.join(json.dumps(call(i)) + '\n' for i in range(6000)))

    def run_command(self, line):
        done = self.clone.run(line)
        self.assertEqual((done.returncode, done.stderr), (0, ''), line)
        return done.stdout

    def follow(self, advice):
        """Changes the lines of the policy that the advice has, as its reader does."""
        policy = POLICY
        for field, value in re.findall(r'^ +(codes|max_attempts|attempt_timeout|ratio): (.*)$', advice,
                                       re.MULTILINE):
            changed = re.sub(rf'{field}: (\[.*?\]|[^,}}\n]+)', f'{field}: {value}', policy)
            policy = changed if changed != policy else policy.replace(
                'codes:', f'{field}: {value}\n      codes:')
        return policy

    def test_the_commands_of_the_page_lead_to_a_better_policy(self):
        lines = [command.line for command in documents.commands()
                 if command.document == 'docs/replay.md']
        advise, check, replay, *others = lines
        advice = self.run_command(advise)
        self.assertIn('# 6000 calls with the policy default', advice)
        self.assertIn('# of 900 retries after INTERNAL 0 succeeded\n      codes: [UNAVAILABLE]',
                      advice)
        self.assertIn('max_attempts: 2', advice)
        self.assertIn('attempt_timeout: 700ms', advice)
        self.clone.write('new.yaml', self.follow(advice))
        self.run_command(check)
        new, old = json.loads(self.run_command(f'{replay} -o json'))['replayed']
        self.assertGreater(old['amplification'], 1.15)
        self.assertLess(new['amplification'], 1.06)
        self.assertGreaterEqual(new['success'], old['success'])
        self.assertEqual(new['drawn_share'], 0)
        self.assertEqual(2, len(others))  # An incident, and what a call will see.
        for line in others:
            self.run_command(line)


if __name__ == '__main__':
    unittest.main()
