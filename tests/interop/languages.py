# SPDX-License-Identifier: Apache-2.0
"""How the programs of each language are started, and what they need for that."""

import filecmp
import os
import pathlib
import shutil
import subprocess
import unittest
from typing import Callable, NamedTuple

SOURCES = pathlib.Path(__file__).resolve().parent
# Where tests/interop/fetch has put the libraries.
PARTS = pathlib.Path(os.environ.get('INTEROP_PARTS', SOURCES.parents[1] / 'build/interop'))
# Where CMake has put the C++ programs.
PROGRAMS = pathlib.Path(os.environ.get('INTEROP_PROGRAMS', SOURCES.parents[1] / 'build/tests'))


class Command(NamedTuple):
    """A program and its first arguments, and what it adds to the environment."""
    command: tuple
    environment: dict = {}


class Language(NamedTuple):
    folder: str
    lock: str  # what names the versions of its libraries; none are fetched if it is empty
    programs: tuple  # what has to be installed
    prepare: Callable  # builds what has to be built; returns: name of a program -> its Command
    client: str = ''  # the file of the program that shows the lines of docs/clients.md
    connect: Callable = None  # the proxy's address -> what makes a client use HTTP CONNECT
    target: str = 'interop-deps'  # what fetches it

    def skip_if_missing(self):
        """Skips the test, or the class that is set up, where this language cannot be tested here."""
        missing = self._missing()
        if missing:
            raise unittest.SkipTest(missing)

    def _missing(self):
        """Returns what is missing, or an empty text."""
        for program in self.programs:
            if not shutil.which(program):
                return f'{program} is not installed'
        if not self.lock:
            return ''
        lock = SOURCES / self.folder / self.lock
        fetched = PARTS / self.folder / f'fetched-{self.lock}'
        if not fetched.is_file() or not filecmp.cmp(lock, fetched, shallow=False):
            return f'{self.folder}/{self.lock} is not fetched; make {self.target} does it'
        return ''

    def path(self):
        return SOURCES / self.folder / self.client


# The programs are called client (calls with the lines of docs/clients.md), cases and server.


def _cpp():
    return lambda name: Command((PROGRAMS / f'interop_{name}',))


def _node():
    environment = {'NODE_PATH': PARTS / 'node/node_modules'}
    return lambda name: Command(('node', SOURCES / f'node/{name}.js'), environment)


def _python():
    python = PARTS / 'python/venv/bin/python'
    return lambda name: Command((python, '-B', SOURCES / f'python/{name}.py'))


def _build(folder, **environment):
    """Building again takes no time unless something has changed; nothing is fetched."""
    subprocess.run((SOURCES / folder / 'build', PARTS / folder), env={**os.environ, **environment},
                   check=True)


def _go():
    _build('go', GOPROXY='off')
    return lambda name: Command((PARTS / f'go/bin/{name}',))


def _java():
    _build('java')
    return lambda name: Command(('java', '-XX:TieredStopAtLevel=1', '-cp',
                                 f"{PARTS / 'java/classes'}:{PARTS / 'java/lib/*'}",
                                 name.capitalize()))


def _java_proxy(proxy):
    host, port = proxy.split(':')
    return {'JAVA_TOOL_OPTIONS': f'-Dhttps.proxyHost={host} -Dhttps.proxyPort={port}'}


def _rust():
    _build('rust', CARGO_NET_OFFLINE='true')
    return lambda name: Command((PARTS / f'rust/target/release/{name}',))


def _grpc_proxy(proxy):
    return {'grpc_proxy': f'http://{proxy}'}


def _fetched(folder):
    return lambda: lambda name: Command((PARTS / folder / name,))


CPP = Language('cpp', '', (), _cpp)
NODE = Language('node', 'package-lock.json', ('node',), _node, 'client.js', _grpc_proxy)
PYTHON = Language('python', 'requirements.txt', (), _python, 'client.py', _grpc_proxy)
GO = Language('go', 'go.sum', ('go', 'protoc'), _go, 'client/client.go',
              lambda proxy: {'HTTPS_PROXY': f'http://{proxy}'})
JAVA = Language('java', 'pom.xml', ('java', 'javac', 'protoc'), _java, 'Client.java', _java_proxy)
RUST = Language('rust', 'Cargo.lock', ('cargo', 'protoc'), _rust)
# No languages, but what is fetched and built as one is: a collector of OpenTelemetry, and SPIRE.
COLLECTOR = Language('collector', 'go.sum', (), _fetched('collector'))
SPIRE = Language('spire', 'go.sum', (), _fetched('spire'), target='spire-deps')
# The languages whose lines docs/clients.md shows.
SHOWN = (NODE, PYTHON, GO, JAVA)
