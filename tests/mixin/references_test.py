#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that the mixin refers to exists: metrics, runbooks, files."""

import re
import subprocess
import sys
import unittest

from mixin import (DASHBOARD, FOLDER, ROOT, RUNBOOKS, read_alerts, read_dashboard, read_rules,
                   runbook_queries)

HEADINGS = ['Meaning', 'Impact', 'Queries', 'Commands', 'Cure', 'When to silence']
RUNBOOK_FILES = sorted(RUNBOOKS.glob('*.md'))
BASE = 'https://example.com/levee/'  # The address that readers replace by their own.
# A family of metrics, or a recorded series; Prometheus' own `up` is not among them.
NAME = re.compile(r'\b(?:(?:levee|process)_\w+|\w+:levee_\w+:\w+)\b')


def documented_names():
    """Every name that docs/metrics.md has a row for, with what a histogram adds to it."""
    text = (ROOT / 'docs' / 'metrics.md').read_text()
    names = set()
    for row in re.findall(r'^\| `\w+`(?:, `\w+`)* \| (?:counter|gauge|histogram) .*$', text,
                          re.MULTILINE):
        _, name, kind, *_ = (cell.strip() for cell in row.split('|'))
        suffixes = ('_bucket', '_count', '_sum') if kind == 'histogram' else ('',)
        names |= {name.strip('`') + suffix for suffix in suffixes}
    return names


def queries():
    """(where it stands, query) of all there are."""
    for rule in read_rules():
        yield rule.get('alert', rule.get('record')), rule['expr']
    for panel in read_dashboard()['panels']:
        for target in panel['targets']:
            yield panel['title'], target['expr']
    for variable in read_dashboard()['templating']['list']:
        yield variable['name'], variable.get('definition', '')
    for path in RUNBOOK_FILES:
        for query in runbook_queries(path):
            yield path.name, query


class Names(unittest.TestCase):
    def test_every_metric_is_documented_or_recorded(self):
        known = documented_names() | {rule.get('record') for rule in read_rules()}
        self.assertIn('levee_calls_total', known)
        for place, query in queries():
            with self.subTest(place, query=query):
                self.assertLessEqual(set(NAME.findall(query)), known)

    def test_every_recorded_series_is_used(self):
        used = {name for _, query in queries() for name in NAME.findall(query)}
        recorded = {rule['record'] for rule in read_rules() if 'record' in rule}
        self.assertLessEqual(recorded, used)


class Alerts(unittest.TestCase):
    def test_every_alert_says_what_it_is_and_how_bad(self):
        self.assertEqual(len(read_alerts()), 19)
        for rule in read_alerts():
            with self.subTest(rule['alert']):
                self.assertIn(rule['labels']['severity'], ('critical', 'warning'))
                self.assertEqual(set(rule['annotations']),
                                 {'summary', 'description', 'runbook_url'})

    def test_every_alert_has_a_runbook_and_every_runbook_an_alert(self):
        urls = [rule['annotations']['runbook_url'] for rule in read_alerts()]
        self.assertEqual(sorted(urls),
                         [f'{BASE}{path.relative_to(ROOT)}' for path in RUNBOOK_FILES])

    def test_a_runbook_is_named_after_its_alert(self):
        for rule in read_alerts():
            words = re.findall('[A-Z][a-z]+', rule['alert'])[1:]
            self.assertTrue(rule['annotations']['runbook_url'].endswith(
                f'/{"-".join(words).lower()}.md'), rule['alert'])


class Runbooks(unittest.TestCase):
    def test_every_runbook_names_its_alert_and_has_the_six_parts(self):
        names = {rule['annotations']['runbook_url'].rsplit('/', 1)[1]: rule['alert']
                 for rule in read_alerts()}
        for path in RUNBOOK_FILES:
            with self.subTest(path.name):
                text = path.read_text()
                self.assertEqual(re.findall('^# (.*)$', text, re.MULTILINE)[0], names[path.name])
                self.assertEqual(re.findall('^## (.*)$', text, re.MULTILINE), HEADINGS)
                self.assertEqual(len(runbook_queries(path)), 3)


class Dashboard(unittest.TestCase):
    def test_file_is_what_the_program_prints(self):
        printed = subprocess.run([sys.executable, '-B', FOLDER / 'dashboard.py'],
                                 capture_output=True, text=True, check=True).stdout
        self.assertEqual(DASHBOARD.read_text(), printed,
                         'python3 deploy/mixin/dashboard.py > deploy/mixin/dashboard.json')

    def test_every_panel_says_what_it_shows_and_in_which_unit(self):
        for panel in read_dashboard()['panels']:
            with self.subTest(panel['title']):
                self.assertTrue(panel['title'])
                self.assertTrue(panel['description'])
                self.assertTrue(panel['fieldConfig']['defaults']['unit'])

    def test_panels_do_not_overlap(self):
        taken = [(panel['gridPos']['x'] + x, panel['gridPos']['y'] + y)
                 for panel in read_dashboard()['panels']
                 for x in range(panel['gridPos']['w']) for y in range(panel['gridPos']['h'])]
        self.assertEqual(len(taken), len(set(taken)))
        self.assertLess(max(x for x, _ in taken), 24)

    def test_panels_lead_to_every_runbook(self):
        linked = {link['url'] for panel in read_dashboard()['panels'] for link in panel['links']}
        self.assertEqual(linked, {rule['annotations']['runbook_url'] for rule in read_alerts()})


class Links(unittest.TestCase):
    def test_links_between_files_lead_to_a_file(self):
        pages = [*sorted(ROOT.glob('*.md')), *sorted((ROOT / 'docs').rglob('*.md'))]
        self.assertGreater(len(pages), 10)
        for page in pages:
            text = re.sub(r'^```.*?^```$', '', page.read_text(), flags=re.DOTALL | re.MULTILINE)
            for target in re.findall(r'\]\((?!https?:)([^)#\s]+)', text):
                with self.subTest(page.name, target=target):
                    self.assertTrue((page.parent / target).exists())


if __name__ == '__main__':
    unittest.main(verbosity=2)
