# SPDX-License-Identifier: Apache-2.0
"""Runs what the documents tell people to write, as they stand there, in a folder like a clone."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from documents import BINARY, ROOT

sys.path += [str(ROOT / 'tests/interop'), str(ROOT / 'tests/mixin')]
from programs import WATCHDOG_SECONDS, Program, until  # The last is for those that import this.
from prometheus import Prometheus


class Clone:
    """A folder with the project's configuration and deployment, and with build/levee; `levee` is
    in the path. Removed when the `with` block ends."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self._folder.name)
        for name in ('deploy', 'config'):
            shutil.copytree(ROOT / name, self.path / name)
        (self.path / 'build').mkdir()
        (self.path / 'bin').mkdir()
        for name in ('build/levee', 'bin/levee'):
            (self.path / name).symlink_to(BINARY)
        self.environment = {**os.environ, 'PATH': f'{self.path}/bin:{os.environ["PATH"]}'}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def write(self, name, text):
        """Puts a file in its place in one step."""
        new = self.path / f'{name}.new'
        new.write_text(text)
        new.rename(self.path / name)

    def run(self, line):
        """Runs a line to its end; it fails if any part of it does."""
        return subprocess.run(['bash', '-o', 'pipefail', '-c', line], cwd=self.path,
                              env=self.environment, capture_output=True, text=True,
                              timeout=WATCHDOG_SECONDS)

    def start(self, line):
        return Running(self, line)

    def start_prometheus(self, line):
        return RunningPrometheus(self, line)


def _in_clone(clone, line):
    return ['env', f'--chdir={clone.path}', f'PATH={clone.environment["PATH"]}', 'bash', '-c', line]


class Running(Program):
    """A line that runs until it is ended."""

    def __init__(self, clone, line):
        super().__init__(_in_clone(clone, line))

    def lines(self, count):
        """The first lines that it prints."""
        return [self._child.stdout.readline().rstrip('\n') for _ in range(count)]


class RunningPrometheus(Prometheus):
    """A Prometheus as a line starts it."""

    def __init__(self, clone, line):
        Program.__init__(self, _in_clone(clone, f'exec {line}'))
        self._address = self._listening()

    def health_of_targets(self):
        return [target['health'] for target in self._get('targets')['activeTargets']]

    def rules(self):
        """The names of all rules that it has."""
        return sorted(rule['name'] for group in self._get('rules')['groups']
                      for rule in group['rules'])
