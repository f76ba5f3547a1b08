#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the repository to its rules on structure: imports, sizes, clocks, sleeps, comments."""

import os
import pathlib
import subprocess
import unittest

import rules
import spdx

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read_sources():
    paths = [path for top in ('proxy', 'tests') for suffix in ('cc', 'h')
             for path in sorted((ROOT / top).rglob(f'*.{suffix}'))]
    return {str(path.relative_to(ROOT)): path.read_text(encoding='utf-8') for path in paths}


def read_scripts():
    """Tests in Python and JavaScript, without the libraries of others."""
    paths = [path for suffix in ('py', 'js', 'mjs')
             for path in sorted((ROOT / 'tests').rglob(f'*.{suffix}'))
             if 'node_modules' not in path.parts]
    return {str(path.relative_to(ROOT)): path.read_text(encoding='utf-8') for path in paths}


class Structure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = read_sources()
        cls.layers = rules.parse_layers((ROOT / 'CMakeLists.txt').read_text(encoding='utf-8'))

    def check(self, violations):
        found = '\n'.join(str(violation) for violation in violations)
        if found:
            self.fail('\n' + found)

    def under(self, top):
        return {path: text for path, text in self.sources.items() if path.startswith(top)}

    def test_layers_include_only_what_their_line_allows(self):
        self.assertIn('base', self.layers)
        self.check(rules.imports(self.sources, self.layers))

    def test_the_data_plane_uses_no_protobuf(self):
        self.assertIn('h2', rules.data_plane(self.layers))
        self.check(rules.protobuf_in_data_plane(self.sources, self.layers))

    @unittest.skipUnless('LEVEE_BUILD' in os.environ, 'LEVEE_BUILD does not say what was built')
    def test_the_compiler_saw_no_protobuf_in_the_data_plane(self):
        deps = subprocess.run(['ninja', '-C', os.environ['LEVEE_BUILD'], '-t', 'deps'],
                              capture_output=True, text=True, check=True).stdout
        compiled = rules.compiled(deps)
        if 'proxy/server/worker.cc' not in compiled:
            self.skipTest('the data plane is not built')
        self.check(rules.protobuf_compiled_into_data_plane(compiled, self.layers))

    def test_layers_declare_only_what_they_include(self):
        self.check(rules.unused_declarations(self.sources, self.layers))

    def test_files_are_short(self):
        self.check(rules.file_lengths(self.under('proxy/')))
        self.check(rules.file_lengths(self.under('tests/')))

    def test_functions_are_short(self):
        self.check(rules.function_lengths(self.under('proxy/')))
        self.check(rules.function_lengths(self.under('tests/')))

    def test_classes_are_small(self):
        self.check(rules.class_sizes(self.under('proxy/')))

    def test_functions_have_few_parameters(self):
        self.check(rules.parameter_lists(self.under('proxy/')))

    def test_time_and_randomness_are_parameters(self):
        self.check(rules.ambient_facts(self.sources))

    def test_tests_do_not_sleep(self):
        self.check(rules.sleeps(self.sources))
        scripts = read_scripts()
        self.assertIn('tests/waiting/waiting.py', scripts)
        self.check(rules.sleeps(scripts))

    def test_sentences_of_comments_have_a_subject(self):
        self.check(rules.unattached_sentences(self.sources))

    def test_types_and_constants_of_a_file_have_names_of_their_own_in_its_folder(self):
        self.check(rules.names_shared_in_a_folder(self.sources))

    def test_interfaces_have_a_reason(self):
        self.check(rules.interfaces(self.sources))

    def test_headers_say_what_they_hold(self):
        self.check(rules.header_comments(self.sources))

    @unittest.skipUnless((ROOT / '.git').exists(), 'only git knows which files are sources')
    def test_sources_name_their_licence(self):
        self.check(rules.licences(spdx.sources()))


if __name__ == '__main__':
    unittest.main()
