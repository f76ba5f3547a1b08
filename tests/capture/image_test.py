# SPDX-License-Identifier: Apache-2.0
"""The image levee-capture, run as the component `capture` runs it: not as root, with NET_ADMIN."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import container
import network

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ['LEVEE_BUILD']
COMMAND = ['/usr/bin/levee', 'capture', '--backend=nft', '--ports=50051,9090-9099', '--to=9470',
           '--uid=9470']


class Image(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.network = network.Network()
        cls.addClassCleanup(cls.network.close)
        if not shutil.which('nft') or not shutil.which('setcap'):
            raise unittest.SkipTest('nft or setcap is not installed; make deps installs them')
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        cls.root = f'{folder.name}/root'
        made = subprocess.run([ROOT / 'deploy/image/assemble', BUILD, cls.root, shutil.which('nft')],
                              capture_output=True, text=True, timeout=network.WATCHDOG_SECONDS)
        if made.returncode != 0:
            raise AssertionError(made.stderr)

    def run_contained(self, *command, capabilities=(container.NET_ADMIN,)):
        def begin():
            self.network.app.enter()
            container.contain(self.root, 65532, capabilities)

        return subprocess.run(command, preexec_fn=begin, capture_output=True, text=True,
                              timeout=network.WATCHDOG_SECONDS, env={'PATH': '/usr/sbin:/usr/bin'})

    def test_rules_are_written_by_a_user_who_is_not_root(self):
        done = self.run_contained(*COMMAND)
        self.assertEqual(done.returncode, 0, done.stderr)
        rules = self.network.app.must('nft', 'list', 'ruleset')
        self.assertIn('meta skuid 9470 return', rules)
        self.assertIn('tcp dport 9090-9099 redirect to :9470', rules)
        self.assertEqual(self.run_contained(*COMMAND, '--check').returncode, 0)
        self.assertEqual(self.run_contained(*COMMAND[:3], '--remove').returncode, 0)

    def test_without_the_capability_it_says_what_it_may_not(self):
        done = self.run_contained(*COMMAND, capabilities=())
        self.assertEqual(done.returncode, 1)
        self.assertIn('Operation not permitted', done.stderr)
        self.assertEqual(self.run_contained(*COMMAND, '--print', capabilities=()).returncode, 0)

    def test_it_has_two_programs_and_no_shell(self):
        programs = {path.name for path in pathlib.Path(self.root).glob('usr/*bin/*')}
        self.assertEqual(programs, {'levee', 'nft'})

    def test_its_list_of_contents_names_nft(self):
        text = (pathlib.Path(self.root) / 'usr/share/doc/levee/levee.spdx.json').read_text()
        for name in ('nftables', 'libnftables1', 'libc6'):
            self.assertIn(f'"name": "{name}"', text)
            self.assertTrue((pathlib.Path(self.root) / f'usr/share/doc/{name}/copyright').exists())


if __name__ == '__main__':
    unittest.main()
