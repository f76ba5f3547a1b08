# SPDX-License-Identifier: Apache-2.0
"""Two hosts and a cable, as network namespaces that live as long as the test."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'waiting'))
from waiting import WATCHDOG_SECONDS

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000

# The application's host, and the one of the services that it calls.
APP4, APP6 = '10.77.0.1', 'fd77::1'
SERVICE4, SERVICE6 = '10.77.0.2', 'fd77::2'


def checked(result):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Host:
    """A network namespace. Sockets that are made inside stay there."""

    def __init__(self):
        own = os.open('/proc/thread-self/ns/net', os.O_RDONLY | os.O_CLOEXEC)
        try:
            checked(LIBC.unshare(CLONE_NEWNET))
            self.descriptor = os.open('/proc/thread-self/ns/net', os.O_RDONLY | os.O_CLOEXEC)
            checked(LIBC.setns(own, CLONE_NEWNET))
        finally:
            os.close(own)

    def close(self):
        os.close(self.descriptor)

    def enter(self):
        checked(LIBC.setns(self.descriptor, CLONE_NEWNET))

    @contextlib.contextmanager
    def inside(self):
        own = os.open('/proc/thread-self/ns/net', os.O_RDONLY | os.O_CLOEXEC)
        self.enter()
        try:
            yield
        finally:
            checked(LIBC.setns(own, CLONE_NEWNET))
            os.close(own)

    def run(self, *command, **more):
        return subprocess.run(command, preexec_fn=self.enter, capture_output=True, text=True,
                              timeout=WATCHDOG_SECONDS, **more)

    def must(self, *command):
        done = self.run(*command)
        if done.returncode != 0:
            raise AssertionError(f'{command}: {done.stderr}')
        return done.stdout

    def path(self):
        return f'/proc/{os.getpid()}/fd/{self.descriptor}'


class Network:
    """The two hosts, with addresses of both families."""

    def __init__(self):
        if os.geteuid() != 0:
            raise unittest.SkipTest('network namespaces and other users need root')
        if not shutil.which('ip') or not shutil.which('setpriv'):
            raise unittest.SkipTest('ip or setpriv is not installed; make deps installs them')
        try:
            self.app, self.services = Host(), Host()
        except OSError as error:
            raise unittest.SkipTest(f'network namespaces cannot be made here: {error}')
        made = subprocess.run(['ip', 'link', 'add', 'veth0', 'netns', self.app.path(), 'type', 'veth',
                               'peer', 'name', 'veth0', 'netns', self.services.path()],
                              capture_output=True, text=True, timeout=WATCHDOG_SECONDS)
        if made.returncode != 0:
            self.close()
            raise unittest.SkipTest(f'hosts cannot be joined here: {made.stderr.strip()}')
        for host, v4, v6 in ((self.app, APP4, APP6), (self.services, SERVICE4, SERVICE6)):
            host.must('ip', 'address', 'add', f'{v4}/24', 'dev', 'veth0')
            host.must('ip', '-6', 'address', 'add', f'{v6}/64', 'dev', 'veth0', 'nodad')
            host.must('ip', 'link', 'set', 'veth0', 'up')
            host.must('ip', 'link', 'set', 'lo', 'up')
        self.await_neighbours()

    def await_neighbours(self):
        """A new cable carries IPv6 only after a moment. Nobody listens, so reaching means refused."""
        with self.app.inside():
            probe = socket.socket(socket.AF_INET6)
        with probe, contextlib.suppress(ConnectionRefusedError):
            probe.settimeout(WATCHDOG_SECONDS)
            probe.connect((SERVICE6, 9))

    def lead_back(self):
        """Returns an address whose connections the other host leads back to the application's, as a
        node does with a Service of which the calling pod is a part."""
        service = '10.77.0.9'
        self.services.must('ip', 'address', 'add', f'{service}/24', 'dev', 'veth0')
        self.services.must('sh', '-c', 'echo 1 >/proc/sys/net/ipv4/ip_forward')
        self.services.must('nft', 'table ip back {'
                           ' chain to { type nat hook prerouting priority -100;'
                           f' ip daddr {service} dnat to {APP4}; }}; '
                           'chain from { type nat hook postrouting priority 100;'
                           f' ip daddr {APP4} masquerade; }}; }}')
        return service

    def close(self):
        self.app.close()
        self.services.close()
