"""How the client program of each language is started, and what it needs for that."""

import filecmp
import os
import pathlib
import shutil
import subprocess
from typing import Callable, NamedTuple

SOURCES = pathlib.Path(__file__).resolve().parent
# Where tests/interop/fetch has put the libraries.
PARTS = pathlib.Path(os.environ.get('INTEROP_PARTS', SOURCES.parents[1] / 'build/interop'))


class Client(NamedTuple):
    """A command that takes the scenario and the addresses, and what it adds to the environment."""
    command: tuple
    environment: dict = {}


class Language(NamedTuple):
    folder: str
    source: str  # the client program
    lock: str  # what names the versions of its libraries
    programs: tuple  # what has to be installed
    prepare: Callable  # returns the Client
    connect: Callable  # the proxy's address -> the variables that make a client use HTTP CONNECT

    def missing(self):
        """Returns why this language cannot be tested here, or an empty text."""
        for program in self.programs:
            if not shutil.which(program):
                return f'{program} is not installed'
        lock = SOURCES / self.folder / self.lock
        fetched = PARTS / self.folder / f'fetched-{self.lock}'
        if not fetched.is_file() or not filecmp.cmp(lock, fetched, shallow=False):
            return f'{self.folder}/{self.lock} is not fetched; make interop-deps does it'
        return ''

    def path(self):
        return SOURCES / self.folder / self.source


def _node():
    return Client(('node', NODE.path()), {'NODE_PATH': PARTS / 'node/node_modules'})


def _python():
    return Client((PARTS / 'python/venv/bin/python', '-B', PYTHON.path()))


def _go():
    """Builds the program again, which takes no time unless it has changed; nothing is fetched."""
    parts = PARTS / 'go'
    environment = {'GOMODCACHE': parts / 'mod', 'GOCACHE': parts / 'cache', 'GOPROXY': 'off',
                   'GOFLAGS': '-modcacherw -mod=readonly -buildvcs=false'}
    subprocess.run(['go', 'build', '-o', parts / 'client', '.'], cwd=SOURCES / 'go',
                   env={**os.environ, **environment}, check=True)
    return Client((parts / 'client',))


def _java():
    return Client(('java', '-XX:TieredStopAtLevel=1', '-cp', PARTS / 'java/lib/*', JAVA.path()))


def _java_proxy(proxy):
    host, port = proxy.split(':')
    return {'JAVA_TOOL_OPTIONS': f'-Dhttps.proxyHost={host} -Dhttps.proxyPort={port}'}


NODE = Language('node', 'client.js', 'package-lock.json', ('node',), _node,
                lambda proxy: {'grpc_proxy': f'http://{proxy}'})
PYTHON = Language('python', 'client.py', 'requirements.txt', (), _python,
                  lambda proxy: {'grpc_proxy': f'http://{proxy}'})
GO = Language('go', 'client.go', 'go.sum', ('go',), _go,
              lambda proxy: {'HTTPS_PROXY': f'http://{proxy}'})
JAVA = Language('java', 'Client.java', 'pom.xml', ('java', 'javac'), _java, _java_proxy)
ALL = (NODE, PYTHON, GO, JAVA)
