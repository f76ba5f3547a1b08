#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes gRPC calls to many authorities and methods in turn, or with keys, which h2load cannot.

usage: caller.py PORT CONNECTIONS STREAMS CALLS TARGETS [KEYS]

TARGETS is a file with `AUTHORITY PATH` in each line. With KEYS, a text of its own for each run, each
call has another idempotency key that begins so. Each connection has up to STREAMS calls at a
time. Prints nothing and exits with 0 when every call was answered in full. It sends each header as
a literal (RFC 7541, 6.2.2) and looks at no header that it receives, so it needs no HPACK state.
"""

import pathlib
import selectors
import socket
import sys

from processes import WATCHDOG_SECONDS, BenchError

MESSAGE_BYTES = 105
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
READ_BYTES = 256 * 1024
ANSWER_SECONDS = WATCHDOG_SECONDS
_WINDOW_INCREMENT = (1 << 31) - 1 - 65_535


class CallError(BenchError):
    """Not every call was answered in full."""


def frame(kind, flags, stream, payload=b''):
    return (len(payload).to_bytes(3, 'big') + bytes([kind, flags]) + stream.to_bytes(4, 'big')
            + payload)


def _text(value):
    data = value.encode()
    if len(data) >= 127:
        raise ValueError(f'{value!r} is too long')
    return bytes([len(data)]) + data


def head(authority, path, key=''):
    """Returns the header block of a call."""
    keyed = b'\x00' + _text('idempotency-key') + _text(key) if key else b''
    return (b'\x83\x86'  # :method POST, :scheme http
            + b'\x04' + _text(path) + b'\x01' + _text(authority)
            + b'\x00' + _text('te') + _text('trailers')
            + b'\x0f\x10' + _text('application/grpc') + keyed)


class Connection:
    """One connection to `port` that makes the calls it is asked for."""

    _message = b'\0' + (MESSAGE_BYTES - 5).to_bytes(4, 'big') + b'x' * (MESSAGE_BYTES - 5)

    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port), ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # No load ever fills this window, so there is nothing to give back.
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0)
                            + frame(WINDOW_UPDATE, 0, 0, _WINDOW_INCREMENT.to_bytes(4, 'big')))
        self.done = 0
        self._next_stream = 1
        self._read = b''
        self._body_bytes = 0

    def call(self, heads):
        """Begins one call for each header block."""
        out = []
        for block in heads:
            out.append(frame(HEADERS, END_HEADERS, self._next_stream, block))
            out.append(frame(DATA, END_STREAM, self._next_stream, self._message))
            self._next_stream += 2
        self.socket.sendall(b''.join(out))

    def call_and_wait(self, block):
        """Makes one call, on a connection that has no other."""
        self.call([block])
        while self.receive() == 0:
            pass
        self.insist_on_messages()

    def receive(self):
        """Waits for bytes and returns how many calls have ended."""
        data = self.socket.recv(READ_BYTES)
        if not data:
            raise CallError('the connection was closed')
        before = self.done
        self._read = self.take(self._read + data)
        return self.done - before

    def take(self, data):
        """Handles all whole frames and returns the rest."""
        at = 0
        while len(data) - at >= 9:
            end = at + 9 + int.from_bytes(data[at:at + 3], 'big')
            if end > len(data):
                break
            kind, flags = data[at + 3], data[at + 4]
            if kind == DATA:
                self._body_bytes += end - at - 9
            elif kind in (RST_STREAM, GOAWAY):
                raise CallError(f'received a frame of type {kind}: {data[at:end].hex()}')
            elif kind in (SETTINGS, PING) and not flags & ACK:
                self.socket.sendall(frame(kind, ACK, 0, data[at + 9:end] if kind == PING else b''))
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                self.done += 1
            at = end
        return data[at:]

    def insist_on_messages(self):
        """A call that failed ends without a message."""
        if self._body_bytes != self.done * MESSAGE_BYTES:
            raise CallError(f'{self._body_bytes} bytes of messages came back in {self.done} calls')


def run(port, connections, streams, calls, heads):
    """Makes the calls, some at a time on each connection; the header blocks are used in turn."""
    waiting = selectors.DefaultSelector()
    every = [Connection(port) for _ in range(connections)]
    begun = ended = 0

    def begin(connection, count):
        nonlocal begun
        count = min(count, calls - begun)
        if count:
            connection.call([heads[(begun + i) % len(heads)] for i in range(count)])
            begun += count

    for connection in every:
        waiting.register(connection.socket, selectors.EVENT_READ, connection)
        begin(connection, streams)
    while ended < calls:
        ready = waiting.select(ANSWER_SECONDS)
        if not ready:
            raise CallError(f'{calls - ended} calls were not answered in {ANSWER_SECONDS} s')
        for key, _ in ready:
            count = key.data.receive()
            ended += count
            begin(key.data, count)
    for connection in every:
        connection.insist_on_messages()


def main(words):
    port, connections, streams, calls = (int(word) for word in words[:4])
    targets = pathlib.Path(words[4]).read_text(encoding='utf-8').splitlines()
    heads = [head(*target.split()) for target in targets]
    if len(words) > 5:
        heads = [head(*targets[i % len(targets)].split(), f'{words[5]}-{i:07}') for i in range(calls)]
    run(port, connections, streams, calls, heads)


if __name__ == '__main__':
    try:
        main(sys.argv[1:])
    except (CallError, OSError) as reason:
        sys.exit(str(reason))
