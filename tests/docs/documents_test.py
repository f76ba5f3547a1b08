"""What docs/ tells people to write has to be what is tested.

A block of YAML follows a line that says where it is from, <!-- from FILE -->, and is there word for
word; <!-- check --> says that it is a policy, which `levee check` has to take.
"""

import os
import pathlib
import re
import shlex
import subprocess
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get('LEVEE_BINARY', '')
DOCUMENTS = [ROOT / 'docs' / name for name in ('kubernetes.md', 'operations.md', 'compare.md')]
BLOCK = re.compile(r'((?:^<!-- [^\n]* -->\n)*)^```(\w*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def blocks(language):
    """(document, lines of remark above it, text) of every block of a language."""
    return [(document.name, remarks.splitlines(), text) for document in DOCUMENTS
            for remarks, found, text in BLOCK.findall(document.read_text()) if found == language]


def commands():
    """(document, words) of every command line."""
    return [(document, shlex.split(line[2:])) for document, _, text in blocks('console')
            for line in text.splitlines() if line.startswith('$ ')]


def anchors(document):
    """What a heading's link is called."""
    headings = re.findall(r'^#+ (.*)$', document.read_text(), re.MULTILINE)
    return {re.sub(r'[^\w -]', '', heading).lower().replace(' ', '-') for heading in headings}


class Blocks(unittest.TestCase):

    def test_every_block_of_yaml_is_part_of_a_file(self):
        self.assertEqual(len(blocks('yaml')), 4)
        for document, remarks, text in blocks('yaml'):
            origin = next((re.fullmatch(r'<!-- from (\S+) -->', each) for each in remarks), None)
            self.assertTrue(origin, f'{document}: no origin above\n{text}')
            whole = (ROOT / origin.group(1)).read_text()
            self.assertIn(textwrap.dedent(text), whole, f'{document}: {origin.group(1)}')

    @unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
    def test_every_policy_is_without_fault_or_warning(self):
        policies = [text for _, remarks, text in blocks('yaml') if '<!-- check -->' in remarks]
        self.assertEqual(len(policies), 1)
        for text in policies:
            done = subprocess.run([BINARY, 'check', '--strict', '-'], input=text,
                                  capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_there_are_no_blocks_of_another_kind(self):
        for document in DOCUMENTS:
            languages = {language for _, language, _ in BLOCK.findall(document.read_text())}
            self.assertLessEqual(languages, {'yaml', 'console'}, document.name)


class Commands(unittest.TestCase):

    @unittest.skipUnless(BINARY, 'LEVEE_BINARY does not say where levee is')
    def test_levee_knows_its_commands_and_options(self):
        found = [words for _, words in commands() if words[0] == 'levee']
        self.assertEqual(len(found), 2)
        for words in found:
            text = subprocess.run([BINARY, words[1], '--help'], capture_output=True, text=True,
                                  check=True, timeout=30).stdout
            for option in (word for word in words if word.startswith('--')):
                self.assertIn(f'{option} ', text, words)

    def test_folders_and_files_that_commands_name_are_there(self):
        for document, words in commands():
            for word in words:
                if word.startswith('deploy/'):
                    self.assertTrue((ROOT / word).exists(), f'{document}: {word}')

    def test_targets_of_make_are_there(self):
        makefile = (ROOT / 'Makefile').read_text()
        for document in DOCUMENTS:
            for target in re.findall(r'`make ([a-z-]+)`', document.read_text()):
                self.assertIn(f'\n{target}:', makefile, document.name)


class Links(unittest.TestCase):

    def test_links_lead_to_files_and_headings(self):
        for document in DOCUMENTS:
            links = re.findall(r'\]\(([^)\s]+)\)', document.read_text())
            self.assertTrue(links, document.name)
            for link in links:
                path, _, anchor = link.partition('#')
                target = (document.parent / path).resolve() if path else document
                self.assertTrue(target.exists(), f'{document.name}: {link}')
                if anchor:
                    self.assertIn(anchor, anchors(target), f'{document.name}: {link}')

    def test_alerts_and_metrics_are_those_that_exist(self):
        alerts = (ROOT / 'deploy/mixin/alerts.yaml').read_text()
        metrics = (ROOT / 'docs/metrics.md').read_text()
        for document in DOCUMENTS:
            text = document.read_text()
            for alert in re.findall(r'\bLevee[A-Z]\w+', text):
                self.assertIn(f'alert: {alert}\n', alerts, document.name)
            for metric in re.findall(r'\b(?:levee|process)_[a-z_]+[a-z]', text):
                self.assertIn(f'`{metric}`', metrics, document.name)


if __name__ == '__main__':
    unittest.main()
