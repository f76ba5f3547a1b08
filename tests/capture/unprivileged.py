# SPDX-License-Identifier: Apache-2.0
"""A pod without any privilege: a user namespace with a network and /etc of its own."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'waiting'))
from waiting import WATCHDOG_SECONDS

SERVICE = '10.77.0.2'

# In the order of the files' names in Pod.
SETUP = f'''
set -e
ip link set lo up
ip address add {SERVICE}/32 dev lo
mount --bind "$1" /etc/hosts
mount --bind "$2" /etc/resolv.conf
echo ready
exec cat
'''


class Pod:
    """Its processes have no capability, but for those that `privileged` starts. The names lead to
    127.0.0.1, as by hostAliases, and DNS is asked at SERVICE."""

    def __init__(self, names):
        for program in ('unshare', 'nsenter', 'setpriv', 'ip'):
            if not shutil.which(program):
                raise unittest.SkipTest(f'{program} is not installed; make deps installs it')
        self.folder = tempfile.TemporaryDirectory()
        hosts = self.file('hosts', f'127.0.0.1 localhost\n127.0.0.1 {" ".join(names)}\n')
        resolv = self.file('resolv.conf', f'nameserver {SERVICE}\n')
        self.holder = subprocess.Popen(
            ['unshare', '--user', '--map-root-user', '--net', '--mount', 'sh', '-c', SETUP, 'sh',
             hosts, resolv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.started = []
        if self.holder.stdout.readline() != 'ready\n':
            reason = self.holder.stderr.read().strip()
            self.close()
            raise unittest.SkipTest(f'a user namespace cannot be made here: {reason}')

    def file(self, name, text):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(text)
        return path

    def words(self, command):
        inside = ['nsenter', f'--target={self.holder.pid}', '--user', '--net', '--mount',
                  '--preserve-credentials']
        return [*inside, *command]

    def privileged(self, *command):
        return self.start(self.words(command))

    def unprivileged(self, *command, **more):
        return self.start(self.without_privileges(command), **more)

    def without_privileges(self, command):
        return self.words(['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs',
                           *map(str, command)])

    def start(self, words, **more):
        """Starts a process and waits for the first line of its output."""
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **more)
        self.started.append(process)
        process.first_line = process.stdout.readline()
        if not process.first_line:
            raise AssertionError(f'{words[-3:]} has not started')
        return process

    def run(self, *command):
        return subprocess.run(self.without_privileges(command), capture_output=True, text=True,
                              timeout=WATCHDOG_SECONDS)

    def close(self):
        for process in self.started:
            process.kill()
            process.wait()
            process.stdout.close()
        self.holder.communicate()
        self.folder.cleanup()


def capabilities(process):
    """What the process may, as /proc has it; nsenter and setpriv have become the program itself."""
    status = pathlib.Path(f'/proc/{process.pid}/status').read_text()
    return [line for line in status.splitlines() if line.startswith('Cap')]
