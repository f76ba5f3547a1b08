#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules are valid, and each alert fires when it should and is silent when it should."""

import pathlib
import subprocess
import unittest

import yaml
from mixin import OLD_NAMES, RULE_FILES, read_alerts
from prometheus import MISSING

CASES = sorted((pathlib.Path(__file__).resolve().parent / 'rules').glob('*.yaml'))


@unittest.skipIf(MISSING, MISSING)
class Rules(unittest.TestCase):
    def promtool(self, *arguments):
        ended = subprocess.run(['promtool', *arguments], capture_output=True, text=True,
                               check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def test_rules_are_valid(self):
        self.assertEqual(
            self.promtool('check', 'rules', *RULE_FILES, OLD_NAMES).count('SUCCESS'), 3)

    def test_alerts_fire_and_are_silent_as_the_cases_say(self):
        self.assertEqual(self.promtool('test', 'rules', *CASES).count('SUCCESS'), len(CASES))


class Cases(unittest.TestCase):
    def test_there_are_both_for_every_alert(self):
        checks = [check for path in CASES for case in yaml.safe_load(path.read_text())['tests']
                  for check in case['alert_rule_test']]
        alerts = {rule['alert'] for rule in read_alerts((*RULE_FILES, OLD_NAMES))}
        for fires in (True, False):
            self.assertEqual({check['alertname'] for check in checks
                              if bool(check['exp_alerts']) == fires}, alerts)


if __name__ == '__main__':
    unittest.main(verbosity=2)
