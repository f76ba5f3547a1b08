# SPDX-License-Identifier: Apache-2.0
"""A real Redis."""

import pathlib
import shutil
import socket
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'interop'))
from programs import Program

MISSING = '' if shutil.which('redis-server') else (
    'redis-server is not installed (Debian package redis-server)')


class Redis(Program):
    """Keeps nothing on disk. It listens on a port that was free a moment ago, for it cannot say which one
    the system chose."""

    def __init__(self):
        with socket.create_server(('127.0.0.1', 0)) as free:
            port = free.getsockname()[1]
        super().__init__(['redis-server', '--bind', '127.0.0.1', '--port', str(port), '--save', '',
                          '--appendonly', 'no'])
        self.address = f'127.0.0.1:{port}'

    def kill(self):
        self._child.kill()
        self._child.wait()
