# SPDX-License-Identifier: Apache-2.0
"""A network of one's own, in which every port is free, as the documents suppose."""

import ctypes
import fcntl
import functools
import os
import socket
import struct
import tempfile
import unittest

_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def _call(function, *parameters):
    if function(*parameters) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _raise_loopback():
    with socket.socket() as any_socket:
        request = struct.pack('16sH14x', b'lo', 0)
        flags = struct.unpack('16sH14x', fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack('16sH14x', b'lo', flags | _IFF_UP))


@functools.cache
def enter():
    """Moves this process, which has one thread, and its children to come into a network that has
    nothing but a loopback, where the services of the compose files in deploy/ are names of it, and the
    applications of docs/fleet.md and docs/migrate.md each have an address of it. Skips the test where that is not allowed."""
    try:
        _call(_LIBC.unshare, _CLONE_NEWNET | _CLONE_NEWNS | (_CLONE_NEWUSER if os.geteuid() else 0))
    except OSError as error:
        raise unittest.SkipTest(f'no network of its own can be had here: {error}') from error
    _raise_loopback()
    _call(_LIBC.mount, None, b'/', None, _MS_REC | _MS_PRIVATE, None)
    with tempfile.NamedTemporaryFile('w') as file:
        file.write('127.0.0.1 localhost levee callee redis\n'
                   '127.0.0.11 web\n127.0.0.12 orders\n127.0.0.13 cart cart.shop\n')
        file.flush()
        os.chmod(file.name, 0o644)
        # The mount keeps the file when its name is gone.
        _call(_LIBC.mount, file.name.encode(), b'/etc/hosts', None, _MS_BIND, None)
