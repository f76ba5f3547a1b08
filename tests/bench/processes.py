# SPDX-License-Identifier: Apache-2.0
"""Starts programs on a chosen CPU, reads what they used, and ends them."""

import ctypes
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'waiting'))
from waiting import WATCHDOG_SECONDS, until

# The Debian package of every program that is not built here.
PACKAGES = {
    'h2load': 'nghttp2-client',
    'nghttp': 'nghttp2-client',
    'nghttpx': 'nghttp2-proxy',
    'haproxy': 'haproxy',
    'nginx': 'nginx-light',
    'openssl': 'openssl',
    'redis-server': 'redis-server',
    'valgrind': 'valgrind',
    'vgdb': 'valgrind',
}
# A program that counts or is counted writes what it knows when it is told to end, and may take its time.
STOP_SECONDS = WATCHDOG_SECONDS
_PR_SET_PDEATHSIG = 1


class BenchError(Exception):
    """Something to be told without a stack trace."""


def find_program(name):
    """Returns the path of a program of PACKAGES, or says which package has it."""
    # Debian keeps servers where the PATH of an ordinary user does not look.
    path = os.pathsep.join([os.environ.get('PATH', ''), '/usr/sbin', '/sbin'])
    found = shutil.which(name, path=path)
    if not found:
        raise BenchError(f'{name} is missing; it comes with the Debian package {PACKAGES[name]} '
                         '(deploy/install-packages bench installs all that is needed)')
    return found


def cpus():
    """Returns the CPU of the proxies and the CPU of the load; one and the same where there is
    only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[1 % len(allowed)]


def on_cpu(cpu):
    """Returns what a child runs before its program: it stays on `cpu` and dies with the harness,
    even when that is killed."""
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare():
        os.sched_setaffinity(0, {cpu})
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    return prepare


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def _accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(('127.0.0.1', port)) == 0


class Process:
    """A running program with all its children: some peers work in a child of the one started."""

    def __init__(self, name, command, cpu, scratch):
        self.name = name
        self.log = pathlib.Path(scratch) / f'{name}.log'
        try:
            with self.log.open('wb') as log:
                self._child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                               stderr=log, preexec_fn=on_cpu(cpu))
        except OSError as error:
            raise BenchError(f'{name} does not start: {error}') from error

    def wait_until_ready(self, port, lines=()):
        """Returns when `port` accepts connections and every text of `lines` has been printed."""
        def missing():
            output = self.output()
            return [line for line in lines if line not in output]

        def is_ready():
            self.insist_it_runs()
            return not missing() and _accepts(port)

        if not until(is_ready):
            wanted = [f'print "{line}"' for line in missing()] or [f'listen on port {port}']
            raise BenchError(f'{self.name} did not {" and ".join(wanted)} in minutes:\n'
                             f'{self.output()}')

    @property
    def pid(self):
        return self._child.pid

    def end(self):
        """Returns how the program ended and its last words, or nothing while it runs."""
        if self._child.poll() is None:
            return ''
        words = self.output().strip().splitlines() or ['nothing']
        return f'the program ended with {self._child.returncode}, and said last: {words[-1]}'

    def insist_it_runs(self):
        if self._child.poll() is not None:
            raise BenchError(f'{self.name} ended with {self._child.returncode}:\n{self.output()}')

    def output(self):
        """Returns the end of what the program printed."""
        return self.log.read_text(encoding='utf-8', errors='replace')[-2000:]

    def tree(self):
        """Lists the process ids of the program and all its descendants."""
        pids = [self._child.pid]
        for pid in pids:
            for task in _tasks(pid):
                children = _read(f'/proc/{pid}/task/{task}/children')
                pids += [int(child) for child in children.split()]
        return pids

    def move_to(self, cpu):
        self.insist_it_runs()
        for pid in self.tree():
            for task in _tasks(pid):
                os.sched_setaffinity(task, {cpu})

    def stop(self):
        """Ends the whole tree, by process id."""
        pids = self.tree()
        self._child.terminate()
        try:
            self._child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            # A parent that does not end its children in time would leave them behind.
            for pid in pids[1:]:
                _kill(pid)
            self._child.kill()
            self._child.wait(STOP_SECONDS)


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _read(path):
    """A process may end while it is being read."""
    try:
        return pathlib.Path(path).read_text(encoding='utf-8')
    except (FileNotFoundError, ProcessLookupError):
        return ''


def _tasks(pid):
    try:
        return [int(task) for task in os.listdir(f'/proc/{pid}/task')]
    except FileNotFoundError:
        return []


def cpu_nanoseconds(pids):
    """Returns the CPU time, user and system, that the processes have used, or None when one of
    them is gone.

    /proc/PID/stat has the same time in units of 10 ms, too coarse for runs of half a second; the
    clock of a process (clock_getcpuclockid(3), which Python lacks) has it exactly.
    """
    clock_sched = 2
    try:
        return sum(time.clock_gettime_ns((~pid << 3) | clock_sched) for pid in pids)
    except OSError:
        return None


def memory_mib(pids, field):
    """Sums VmRSS (now) or VmHWM (the highest so far) over the processes."""
    kib = 0
    for pid in pids:
        found = re.search(rf'^{field}:\s+(\d+) kB$', _read(f'/proc/{pid}/status'), re.MULTILINE)
        kib += int(found[1]) if found else 0
    return kib / 1024
