# SPDX-License-Identifier: Apache-2.0
"""tests/kubernetes/fetch-tools before a Go that only writes down what it is asked for."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'waiting'))
from waiting import WATCHDOG_SECONDS

ROOT = pathlib.Path(__file__).resolve().parents[2]
FETCH = ROOT / 'tests/kubernetes/fetch-tools'

# Says of 20 packages that it compiles them.
GO = r'''#!/bin/bash
echo "$*" >>"$HERE/asked"
mkdir -p "$GOMODCACHE" "$GOCACHE"
case "$1" in
  mod) eval "$DOWNLOAD" ;;
  list) if [[ "$2" == -m ]]; then echo "$HERE/operator"; else seq 20; fi ;;
  build) seq 20 >&2; eval "$BUILD"; touch "$HERE/out/"{kubectl,helm,kube-apiserver}
         chmod +x "$HERE/out/"{kubectl,helm,kube-apiserver} ;;
esac
'''
UNREACHABLE = 'echo "go: k8s.io/api@v0.33.4: dial tcp: connection refused" >&2; exit 1'


class FetchTools(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        self.out = self.here / 'out'
        (self.here / 'bin').mkdir()
        definitions = self.here / 'operator/example/prometheus-operator-crd'
        definitions.mkdir(parents=True)
        for kind in ('podmonitors', 'prometheusrules', 'probes'):
            (definitions / f'monitoring.coreos.com_{kind}.yaml').touch()
        (self.here / 'bin/go').write_text(GO)
        (self.here / 'bin/go').chmod(0o755)

    def fetch(self, download='', build='', path=None):
        environment = {'PATH': path or f'{self.here}/bin:/usr/bin:/bin', 'HERE': str(self.here),
                       'DOWNLOAD': download, 'BUILD': build}
        done = subprocess.run([FETCH, self.out], capture_output=True, text=True, timeout=WATCHDOG_SECONDS,
                              env=environment)
        return done.returncode, done.stdout.splitlines(), done.stderr

    def asked(self):
        return (self.here / 'asked').read_text().splitlines()

    def test_it_builds_the_version_of_the_module_and_says_how_far_it_is(self):
        code, lines, err = self.fetch()
        self.assertEqual((code, err), (0, ''))
        all_of_it = r'kubectl and kube-apiserver (v1\.(\d+)\.\d+) and helm (v3\.\d+\.\d+)'
        first = re.fullmatch(f'kubernetes: fetching the modules of {all_of_it}', lines[0])
        self.assertIsNotNone(first, lines[0])
        kubernetes, minor, helm = first.groups()
        self.assertEqual(lines[2:-1], [f'kubernetes: compiled {n}0%' for n in range(1, 11)])
        self.assertEqual(lines[-1], f'kubernetes: kubectl and kube-apiserver {kubernetes} and helm '
                                    f'{helm} are built')
        for given in (f'.gitVersion={kubernetes} ', f'.gitMinor={minor} ', f'.version={helm} '):
            self.assertIn(given, self.asked()[-1])

    def test_what_only_the_build_needs_does_not_stay(self):
        self.fetch()
        self.assertEqual(sorted(file.name for file in self.out.iterdir()),
                         ['built-from', 'crds', 'helm', 'kube-apiserver', 'kubectl', 'log'])

    def test_only_the_definitions_that_are_used_are_kept(self):
        self.fetch()
        self.assertEqual(sorted(file.name for file in (self.out / 'crds').iterdir()),
                         ['monitoring.coreos.com_podmonitors.yaml',
                          'monitoring.coreos.com_prometheusrules.yaml'])

    def test_what_is_there_is_not_built_again(self):
        self.fetch()
        before = self.asked()
        code, lines, err = self.fetch()
        self.assertEqual((code, len(lines), err), (0, 1, ''))
        self.assertRegex(lines[0], ' are there$')
        self.assertEqual(self.asked(), before)

    def test_what_was_built_from_other_modules_is_built_anew(self):
        self.fetch()
        (self.out / 'built-from').write_text('older')
        self.assertRegex(self.fetch()[1][-1], ' are built$')

    def test_one_that_is_missing_is_built(self):
        self.fetch()
        (self.out / 'helm').unlink()
        self.assertRegex(self.fetch()[1][-1], ' are built$')

    def test_a_registry_that_cannot_be_reached_is_one_line(self):
        code, _, err = self.fetch(download=UNREACHABLE)
        self.assertEqual((code, err), (1, (
            'kubernetes: the Prometheus operator could not be fetched: '
            'go: k8s.io/api@v0.33.4: dial tcp: connection refused\n')))
        self.assertFalse((self.out / 'kubectl').exists())

    def test_a_build_that_fails_keeps_what_is_fetched_and_is_tried_again(self):
        code, _, err = self.fetch(build='echo main.go:3: wrong >&2; exit 1')
        self.assertEqual((code, err), (1, 'kubernetes: could not be compiled: main.go:3: wrong\n'))
        self.assertTrue((self.out / 'mod').exists())
        self.assertRegex(self.fetch()[1][-1], ' are built$')

    def test_without_go_it_says_where_the_version_stands(self):
        (self.here / 'bin/go').unlink()
        for name in ('bash', 'dirname', 'mkdir', 'sed', 'cat', 'cmp', 'cut'):
            (self.here / 'bin' / name).symlink_to(f'/usr/bin/{name}')
        code, _, err = self.fetch(path=str(self.here / 'bin'))
        self.assertEqual((code, err), (1, 'kubernetes: go is not installed; '
                                          'tests/kubernetes/tools/go.mod says which is needed\n'))


if __name__ == '__main__':
    unittest.main()
