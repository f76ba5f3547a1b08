# SPDX-License-Identifier: Apache-2.0
"""Every example in the documents has to be one that is tested.

A block of YAML follows a line that says where it is from, <!-- from FILE -->, and is there word for
word, or it is something that `levee check` or Prometheus takes; <!-- check --> says that `levee
check` has nothing to warn of either.
"""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest

import documents
import storm_picture
from documents import ALL_DOCUMENTS, BINARY, DOCUMENTS, ROOT, WATCHDOG_SECONDS

# Documents with tests of their own: the codes of levee check, the lines for clients, queries and
# rules.
OTHERS = {'docs/checks.md': 'config/checks_document_test.cc',
          'docs/clients.md': 'interop/interop_test.py'}


def anchors(document):
    """The names of the links to headings."""
    headings = re.findall(r'^#+ (.*)$', document.read_text(), re.MULTILINE)
    return {re.sub(r'[^\w -]', '', heading).lower().replace(' ', '-') for heading in headings}


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=WATCHDOG_SECONDS, **more)


class Blocks(unittest.TestCase):

    def test_blocks_of_a_file_are_in_it_word_for_word(self):
        quoted = [(each, remark) for each in documents.blocks('yaml') for remark in each.remarks
                  if remark.startswith('<!-- from ')]
        self.assertGreaterEqual(len(quoted), 6)
        for each, remark in quoted:
            origin = ROOT / remark.removeprefix('<!-- from ').removesuffix(' -->')
            whole = origin.read_text()
            self.assertTrue(each.text in whole or textwrap.dedent(each.text) in whole, each)

    @unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
    def test_every_other_block_of_yaml_is_a_policy(self):
        for each in self.policies():
            strict = ['--strict'] if '<!-- check -->' in each.remarks else []
            done = run(BINARY, 'check', *strict, '-', input=each.text)
            self.assertEqual(done.returncode, 0, f'{each.document}: {done.stdout}')

    def policies(self):
        found = [each for each in documents.blocks('yaml')
                 if each.document != 'docs/checks.md' and not self.is_of_prometheus(each)
                 and (not any('from' in remark for remark in each.remarks)
                      or '<!-- check -->' in each.remarks)]
        self.assertGreaterEqual(len(found), 5)
        return found

    def is_of_prometheus(self, block):
        return re.match(r'scrape_configs:|rule_files:', block.text)

    @unittest.skipUnless(shutil.which('promtool'), 'promtool is not installed')
    def test_prometheus_takes_what_is_meant_for_it(self):
        found = [each for each in documents.blocks('yaml') if self.is_of_prometheus(each)]
        self.assertEqual(len(found), 2)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / 'deploy/mixin', pathlib.Path(folder) / 'levee')
            file = pathlib.Path(folder) / 'prometheus.yml'
            for each in found:
                file.write_text(each.text)
                done = run('promtool', 'check', 'config', file)
                self.assertEqual(done.returncode, 0, f'{each.document}: {done.stderr}')

    def test_json_is_whole(self):
        for each in documents.blocks('json'):
            json.loads(each.text)

    def test_there_are_no_blocks_of_a_kind_that_nobody_checks(self):
        checked = {'console', 'yaml', 'json', 'promql', 'sh', ''}
        for each in documents.blocks():
            if each.document not in OTHERS:
                self.assertIn(each.language, checked, each.document)
        for test in OTHERS.values():
            self.assertTrue((ROOT / 'tests' / test).exists())

    def test_folders_and_files_that_commands_name_are_there(self):
        for command in documents.commands():
            for path in re.findall(r'\bdeploy/[\w./-]+', command.line):
                self.assertTrue((ROOT / path).exists(), command)

    def test_targets_of_make_are_there(self):
        makefile = (ROOT / 'Makefile').read_text()
        for document in ALL_DOCUMENTS:
            for target in re.findall(r'`make ([a-z-]+)`', document.read_text()):
                self.assertIn(f'\n{target}:', makefile, document.name)

    @unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
    def test_the_picture_of_the_storm_is_what_the_simulator_draws(self):
        self.assertEqual(storm_picture.PATH.read_text(), storm_picture.drawn())


class Length(unittest.TestCase):

    def test_the_readme_is_short(self):
        self.assertLessEqual(len((ROOT / 'README.md').read_text().splitlines()), 150)

    def test_the_glossary_has_few_words(self):
        rows = re.findall(r'^\| (?!word )', (ROOT / 'docs/glossary.md').read_text(), re.MULTILINE)
        self.assertLessEqual(len(rows), 15)


class Links(unittest.TestCase):

    def test_the_index_by_task_has_every_document(self):
        index = (ROOT / 'docs/README.md').read_text()
        for path in sorted((ROOT / 'docs').glob('*.md')):
            if path.name != 'README.md':
                self.assertIn(f'({path.name})', index)

    def test_links_lead_to_files_and_headings(self):
        for document in ALL_DOCUMENTS:
            links = re.findall(r'\]\((?!https?:)([^)\s]+)\)', document.read_text())
            for link in links:
                path, _, anchor = link.partition('#')
                target = (document.parent / path).resolve() if path else document
                self.assertTrue(target.exists(), f'{document.name}: {link}')
                if anchor:
                    self.assertIn(anchor, anchors(target), f'{document.name}: {link}')

    def test_files_and_folders_that_are_named_are_there(self):
        tops = '|'.join(['cmake', 'config', 'deploy', 'docs', 'protos', 'proxy', 'tests'])
        for document in ALL_DOCUMENTS:
            for name in re.findall(rf'`((?:{tops})/[\w./-]*)`', document.read_text()):
                self.assertTrue((ROOT / name).exists(), f'{document.name}: {name}')

    def test_alerts_and_metrics_are_those_that_exist(self):
        alerts = ''.join((ROOT / f'deploy/mixin/{file}.yaml').read_text()
                         for file in ('alerts', 'old-names'))
        names = set(re.findall('`[a-z_]+`', (ROOT / 'docs/metrics.md').read_text()))
        for document in DOCUMENTS:
            text = document.read_text()
            for alert in re.findall(r'\bLevee[A-Z]\w+', text):
                self.assertIn(f'alert: {alert}\n', alerts, document.name)
            # Between colons it is a recorded series, which tests/mixin knows.
            for metric in re.findall(r'(?<!:)\b(?:levee|process)_[a-z_]+[a-z]\b(?!:)', text):
                family = re.sub('_(bucket|sum|count)$', '', metric)
                self.assertTrue({f'`{metric}`', f'`{family}`'} & names,
                                f'{document.name}: {metric}')


if __name__ == '__main__':
    unittest.main()
