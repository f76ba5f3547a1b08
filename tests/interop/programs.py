# SPDX-License-Identifier: Apache-2.0
"""Starts the service, Levee and the clients, and ends what it started."""

import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

from languages import PROGRAMS

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'waiting'))
from waiting import WATCHDOG_SECONDS, until

BUILD = pathlib.Path(__file__).resolve().parents[2] / 'build'
LEVEE = os.environ.get('LEVEE_BINARY', BUILD / 'levee')
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def _die_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Program:
    """A running program. Killed when the `with` block ends and when the tests themselves die."""

    def __init__(self, command, environment=None):
        self._errors = tempfile.TemporaryFile('w+')
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=self._errors, text=True,
                                       env={**os.environ, **(environment or {})},
                                       preexec_fn=_die_with_parent)
        self.pid = self._child.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout, self._errors):
            pipe.close()

    def errors(self):
        """Returns what it has written to standard error."""
        # The program writes where the file's position is, so this must not move it.
        descriptor = self._errors.fileno()
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode()

    def wait_for_error(self, text):
        """Returns errors() once it has the text, or what it is when the watchdog's time is over."""
        until(lambda: text in self.errors())
        return self.errors()

    def _wait_for(self, pattern):
        """Returns what the group of `pattern` matched in the next line that it prints."""
        line = self._child.stdout.readline()
        found = re.fullmatch(pattern, line.strip())
        if not found:
            errors = self.errors()
            self.__exit__()
            raise AssertionError(f'{self._child.args} printed {line!r}, not {pattern}\n{errors}')
        return found[1]


class Service(Program):
    """interop_service, at the IP address and port given, or on a port of the system's choice."""

    def __init__(self, *where):
        super().__init__([PROGRAMS / 'interop_service', *map(str, where)])
        self.address = self._wait_for(r'listening (\S+)')

    def end(self):
        """Returns the calls that arrived: method, authority, and the number of attempts before it
        that it told of."""
        output, _ = self._child.communicate()
        lines = [line.split() for line in output.splitlines()]
        return [(method, authority, int(before)) for method, authority, before in lines]


class Server(Program):
    """A language's server of interop.proto, on a port of the system's choice."""

    def __init__(self, command, environment=None):
        super().__init__(command.command, {**command.environment, **(environment or {})})
        self.address = self._wait_for(r'listening (\S+)')


class Soak(Program):
    """interop_soak, which waits in the middle of its work."""

    def __init__(self, kind, levee, target, count):
        super().__init__([PROGRAMS / 'interop_soak', kind, levee, target, str(count)])

    def end_half(self):
        """Returns how many calls have failed so far, at the end of the half that is running."""
        return int(self._wait_for(r'ended \d+ failed (\d+)'))

    def begin_other_half(self):
        self._child.stdin.write('\n')
        self._child.stdin.flush()


class Levee(Program):
    """The real binary, or a copy of it, with one listener at `address`, named after its direction,
    perhaps with TLS and other fields, and the parts of a configuration given."""

    def __init__(self, address='127.0.0.1:0', direction='egress', tls=None, program=LEVEE,
                 listener=None, **parts):
        listener = {'name': direction, 'address': address, 'direction': direction,
                    **(listener or {})}
        config = {'listeners': [{**listener, 'tls': tls} if tls else listener],
                  'metrics': {'address': '127.0.0.1:0'}, 'admin': {'address': 'none'}, **parts}
        for upstream in parts.get('upstreams', ()):
            # The first connection takes a new JVM on a busy machine a long time.
            upstream.setdefault('connect_timeout', f'{WATCHDOG_SECONDS}s')
        self._config = tempfile.NamedTemporaryFile('w', suffix='.yaml')
        json.dump(config, self._config)  # JSON is YAML.
        self._config.flush()
        super().__init__([program, 'run', '--config', self._config.name])
        self.address = self._wait_for(rf'listening {direction} (\S+)')
        self.metrics = self._wait_for(r'listening metrics (\S+)')

    def __exit__(self, *details):
        super().__exit__(*details)
        self._config.close()

    def configure(self, text):
        """Puts `text` in the place of the configuration; Levee reads it within moments."""
        # Whole, so that it is not read half written.
        with tempfile.NamedTemporaryFile('w', suffix='.yaml', delete=False) as new:
            new.write(text)
        os.replace(new.name, self._config.name)

    def sum(self, name, label=''):
        """Returns the sum over all series of that name whose labels contain `label`."""
        with urllib.request.urlopen(f'http://{self.metrics}/metrics',
                                    timeout=WATCHDOG_SECONDS) as answer:
            text = answer.read().decode()
        series = re.findall(rf'^{name}(?:\{{([^}}]*)\}})? (\S+)$', text, re.MULTILINE)
        return sum(float(value) for labels, value in series if label in labels)

    def wait_for_sum(self, name, value, label=''):
        """Returns the sum once it is `value` or more, or what it is when the watchdog's time is over: a
        call is counted a moment after the caller has its answer."""
        until(lambda: self.sum(name, label) >= value)
        return self.sum(name, label)


def run_client(client, *arguments, environment=None):
    """Runs a client to its end and returns the lines it printed. Of the variables that name
    proxies it sees only those of `environment`."""
    inherited = {name: value for name, value in os.environ.items()
                 if not name.lower().endswith('_proxy')}
    ended = subprocess.run(
        [*client.command, *arguments], env={**inherited, **client.environment,
                                            **(environment or {})},
        capture_output=True, text=True, timeout=WATCHDOG_SECONDS, check=False)
    if ended.returncode != 0:
        raise AssertionError(f'{client.command} {arguments} exited with {ended.returncode}\n'
                             f'{ended.stdout}{ended.stderr}')
    return ended.stdout.splitlines()
