# SPDX-License-Identifier: Apache-2.0
"""Calls Levee at constant rates with as little of gRPC as that takes: what comes back is thrown
away, for the sidecar's metrics tell of it."""

import socket
import struct
import threading
import time
from typing import NamedTuple

_PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
_ACK, _END_STREAM, _END_HEADERS = 1, 1, 4
_TICK_SECONDS = 0.02
_MESSAGE = b'\0' + struct.pack('>I', 5) + b'hello'


class Flow(NamedTuple):
    """Calls to one upstream. Of each ten calls the first `failing` fail at each attempt, the first
    `rescued` at their first one only, and the last `app_retries` say that they are retries."""

    authority: str
    per_second: float
    failing: int = 0
    rescued: int = 0
    app_retries: int = 0
    method: str = 'shop.Cart/Unary'
    fields: int = 0  # of metadata, in addition
    priority: int = 64  # 0 is the highest
    key: str = ''  # of idempotency, the same for all
    alone: bool = False  # A call begins when the one before has ended, or later.

    def headers(self, number):
        place = number % 10
        fail_first = 100 if place < self.failing else 1 if place < self.rescued else 0
        retry = place >= 10 - self.app_retries
        return [(':method', 'POST'), (':scheme', 'http'), (':path', f'/{self.method}'),
                (':authority', self.authority), ('content-type', 'application/grpc'),
                ('te', 'trailers'), ('grpc-timeout', '300S'), ('x-fail-first', str(fail_first)),
                ('levee-priority', str(self.priority)),
                *([('grpc-previous-rpc-attempts', '1')] if retry else []),
                *([('idempotency-key', self.key)] if self.key else []),
                *((f'x-field-{i}', 'x') for i in range(self.fields))]


def _frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + struct.pack('>BBI', kind, flags, stream) + payload


def _literal(text):
    encoded = text.encode()
    assert len(encoded) < 127  # Longer ones have another form.
    return bytes([len(encoded)]) + encoded


def _call(stream, headers):
    # HPACK without its tables: "literal header field without indexing, new name" each.
    block = b''.join(b'\0' + _literal(name) + _literal(value) for name, value in headers)
    return (_frame(_HEADERS, _END_HEADERS, stream, block)
            + _frame(_DATA, _END_STREAM, stream, _MESSAGE))


class Load:
    """One connection that makes the calls of `flows`, which may be replaced at any time, until its
    `with` block ends."""

    def __init__(self, address):
        host, port = address.rsplit(':', 1)
        self.flows = ()
        self._socket = socket.create_connection((host, int(port)))
        self._writing = threading.Lock()
        self._over = threading.Event()
        self._begun = {}  # The last stream of each flow that is `alone`.
        self._ended = {0}  # Streams, and what stands for the one before the first.
        self._threads = [threading.Thread(target=work, daemon=True)
                         for work in (self._make_calls, self._read)]

    def __enter__(self):
        self._send(_PREFACE + _frame(_SETTINGS, 0, 0)
                   + _frame(_WINDOW_UPDATE, 0, 0, struct.pack('>I', 1 << 30)))
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._socket.close()

    def _send(self, frames):
        with self._writing:
            self._socket.sendall(frames)

    def _make_calls(self):
        stream, made = 1, {}
        last = time.monotonic()
        due = {}
        while not self._over.wait(_TICK_SECONDS):
            now = time.monotonic()
            frames = b''
            for flow in self.flows:
                # What a busy machine has missed is not made up for at once: that would be another load.
                handful = max(1, flow.per_second * _TICK_SECONDS)
                due[flow] = min(due.get(flow, 0) + flow.per_second * (now - last), 1 + handful)
                count = int(due[flow])
                if flow.alone:
                    count = min(count, 1 if self._begun.get(flow, 0) in self._ended else 0)
                for _ in range(count):
                    made[flow] = made.get(flow, -1) + 1
                    self._begun[flow] = stream
                    frames += _call(stream, flow.headers(made[flow]))
                    stream += 2
                due[flow] %= 1
            last = now
            try:
                self._send(frames)
            except OSError:
                return  # The sidecar is gone, or the test is over.

    def _read(self):
        with self._socket.makefile('rb') as answers:
            while len(head := answers.read(9)) == 9:
                payload = answers.read(int.from_bytes(head[:3], 'big'))
                kind, flags = head[3:5]
                if kind == _RESET or kind in (_DATA, _HEADERS) and flags & _END_STREAM:
                    self._ended.add(int.from_bytes(head[5:9], 'big'))
                if kind in (_SETTINGS, _PING) and not flags & _ACK:
                    self._send(_frame(kind, _ACK, 0, payload if kind == _PING else b''))
