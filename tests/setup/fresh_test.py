# SPDX-License-Identifier: Apache-2.0
"""The fresh Debian that .ci/fresh runs commands in: nothing of the machine around it is there."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_ROOT = 125
CODE = 7  # of the command

# Prints `name: value` lines. The process that it leaves behind would live for long.
SCRIPT = fr'''
tell() {{ echo "$1: $(eval "$2" 2>&1 | tr '\n' ' ' | sed 's/ $//')"; }}
tell of_the_machine 'command -v only-here; echo "[$ONLY_HERE]"'
tell of_debian 'command -v git make'
tell missing 'command -v file node npm python3 cmake g++ curl'
tell folder pwd
tell head 'git rev-parse HEAD'
tell changed 'git status --porcelain'
tell host hostname
tell process 'echo $$'
tell processes 'ls -d /proc/[0-9]*'
tell mount 'stat -c %m /'
sleep 1000 &
exit {CODE}
'''


class Fresh(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not shutil.which('mmdebstrap'):
            raise unittest.SkipTest('needs root and mmdebstrap; deploy/install-packages fresh')
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        here = pathlib.Path(folder.name)
        cls.cache = here / 'cache'
        cls.cache.mkdir()
        # A program that only this machine has, and one that Debian has too.
        (here / 'bin').mkdir()
        for name in ('only-here', 'git'):
            program = here / 'bin' / name
            program.write_text(f'#!/bin/sh\nexec /usr/bin/{name} "$@"\n')
            program.chmod(0o755)
        environment = {**os.environ, 'PATH': f'{here}/bin:{os.environ["PATH"]}', 'ONLY_HERE': '1',
                       'LEVEE_FRESH_CACHE': str(cls.cache)}
        done = subprocess.run([ROOT / '.ci/fresh', 'bash', '-c', SCRIPT], capture_output=True,
                              text=True, timeout=1800, env=environment)
        if done.returncode == NO_ROOT:
            raise unittest.SkipTest(done.stderr.strip())
        cls.code = done.returncode
        cls.said = dict(line.split(': ', 1) for line in done.stdout.splitlines() if ': ' in line)
        cls.all = done.stdout + done.stderr

    def expect(self, **said):
        for name, value in said.items():
            self.assertEqual(self.said.get(name), value, f'{name} in {self.all}')

    def test_a_program_that_only_the_surrounding_machine_has_is_not_seen(self):
        self.expect(of_the_machine='[]', of_debian='/usr/bin/git /usr/bin/make')

    def test_it_has_no_program_that_the_readme_does_not_ask_for(self):
        self.expect(missing='')

    def test_the_command_runs_in_a_clone_of_head(self):
        head = subprocess.run(['git', 'rev-parse', 'HEAD'], cwd=ROOT, capture_output=True, text=True,
                              check=True).stdout.strip()
        self.expect(folder='/levee', head=head, changed='')

    def test_it_is_a_machine_of_its_own(self):
        self.expect(host='fresh', process='1', mount='/')
        self.assertLess(len(self.said['processes'].split()), 10, self.said)

    def test_the_exit_code_is_the_commands_and_nothing_is_left_behind(self):
        self.assertEqual(self.code, CODE, self.all)
        self.assertEqual(list(self.cache.glob('root.??????')), [])


if __name__ == '__main__':
    unittest.main()
