# SPDX-License-Identifier: Apache-2.0
"""Runs a program as a container runtime does that gives a user who is not root a capability."""

import ctypes
import os
import pathlib

LIBC = ctypes.CDLL(None, use_errno=True)
NET_ADMIN = 12
LAST = int(pathlib.Path('/proc/sys/kernel/cap_last_cap').read_text())
PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 8, 24, 38


class Header(ctypes.Structure):
    _fields_ = [('version', ctypes.c_uint32), ('pid', ctypes.c_int)]


class Sets(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ('effective', 'permitted', 'inheritable')]


def checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), 'the capabilities cannot be set')


def contain(root, user, capabilities):
    """Makes this process one in a container: `allowPrivilegeEscalation: false`, no capability in its
    bounding set but these, none inherited and none ambient."""
    os.chroot(root)
    os.chdir('/')
    for number in range(LAST + 1):
        if number not in capabilities:
            checked(LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0))
    checked(LIBC.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    mask = sum(1 << number for number in capabilities)
    sets = (Sets * 2)(Sets(mask, mask, 0), Sets(0, 0, 0))
    checked(LIBC.capset(ctypes.byref(Header(0x20080522, 0)), ctypes.byref(sets)))
    checked(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
