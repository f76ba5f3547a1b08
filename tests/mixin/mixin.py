# SPDX-License-Identifier: Apache-2.0
"""The files of the mixin, and what is to be asked of Prometheus in each of them."""

import json
import pathlib
import re
import unittest

try:
    import yaml
except ImportError as error:
    raise unittest.SkipTest('yaml is missing; make deps installs it') from error

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'deploy' / 'mixin'
DASHBOARD = FOLDER / 'dashboard.json'
RULE_FILES = (FOLDER / 'rules.yaml', FOLDER / 'alerts.yaml')
OLD_NAMES = FOLDER / 'old-names.yaml'  # Loaded by those who still need one.
RUNBOOKS = ROOT / 'docs' / 'runbooks'

# So that minutes and hours pass in seconds, the windows and patiences of the rules shrink, and
# nothing else in them changes. A window must hold several scrapes, of which there is one a second.
_WINDOWS = {'5m': '10s', '10m': '10s', '30m': '10s', '1h': '15s', '6h': '15s'}
_PATIENCE = '2s'


def read_rules(files=RULE_FILES):
    """Returns all rules of the files, recording and alerting ones."""
    return [rule for path in files for group in yaml.safe_load(path.read_text())['groups']
            for rule in group['rules']]


def read_alerts(files=RULE_FILES):
    return [rule for rule in read_rules(files) if 'alert' in rule]


def hurried(text):
    """Returns a file with rules, or a query, in which time passes faster."""
    text = re.sub(r'\[(\w+)\]', lambda window: f'[{_WINDOWS[window[1]]}]', text)
    return re.sub(r'^( *for:) \w+$', rf'\1 {_PATIENCE}', text, flags=re.MULTILINE)


def read_dashboard():
    return json.loads(DASHBOARD.read_text())


def expressions(panel):
    """The queries of a panel as Grafana sends them if All is chosen for each variable."""
    values = {'$__rate_interval': '10s', '$__range': '30s', '$namespace': '.*', '$upstream': '.*'}
    for target in panel['targets']:
        expression = target['expr']
        for name, value in values.items():
            expression = expression.replace(name, value)
        yield expression


def runbook_queries(path):
    """The queries of a runbook: its blocks of the language promql, one each."""
    return re.findall(r'^```promql\n(.*?)\n```$', path.read_text(), re.DOTALL | re.MULTILINE)
