# SPDX-License-Identifier: Apache-2.0
"""A gRPC client and a service that know nothing of Levee, and plain connections beside them."""

import socket
import struct
import threading

import h2.config
import h2.connection
import h2.events

from network import WATCHDOG_SECONDS

PORT = 50051


def message(text):
    return struct.pack('>BI', 0, len(text)) + text


class Server:
    """Listens in a namespace; `serve` gets each connection in a thread of its own."""

    def __init__(self, host, address, port, serve):
        family = socket.AF_INET6 if ':' in address else socket.AF_INET
        with host.inside():
            self.listener = socket.socket(family)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, port))
        self.listener.listen()
        self.serve = serve
        self.peers = []
        self.open = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, peer = self.listener.accept()
            except OSError:
                return
            self.peers.append(peer)
            self.open.append(connection)
            connection.settimeout(WATCHDOG_SECONDS)
            threading.Thread(target=self.run, args=(connection,), daemon=True).start()

    def run(self, connection):
        try:
            self.serve(connection)
        except OSError:
            pass
        finally:
            connection.close()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.open:
            connection.close()


class Service:
    """Answers each call with what it got. The first `failures` calls fail as UNAVAILABLE."""

    def __init__(self, failures=0):
        self.failures = failures
        self.heads = []

    def __call__(self, connection):
        session = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        session.initiate_connection()
        bodies = {}
        while True:
            connection.sendall(session.data_to_send())
            data = connection.recv(65536)
            if not data:
                return
            for event in session.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self.heads.append({k.decode(): v.decode() for k, v in event.headers})
                    bodies[event.stream_id] = b''
                elif isinstance(event, h2.events.DataReceived):
                    bodies[event.stream_id] += event.data
                    session.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    self.answer(session, event.stream_id, bodies.pop(event.stream_id))

    def answer(self, session, stream, body):
        head = [(':status', '200'), ('content-type', 'application/grpc')]
        if self.failures > 0:
            self.failures -= 1
            session.send_headers(stream, [*head, ('grpc-status', '14')], end_stream=True)
            return
        session.send_headers(stream, head)
        session.send_data(stream, body)
        session.send_headers(stream, [('grpc-status', '0')], end_stream=True)


def connect(host, address, port=PORT):
    with host.inside():
        client = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET)
    client.settimeout(WATCHDOG_SECONDS)
    client.connect((address, port))
    return client


def call(host, address, port=PORT, authority=None, text=b'hello', wait=lambda: None):
    """Makes one call and returns its status, the answer's bytes and its grpc-message. `wait` returns
    when the connected client is to say its first word."""
    shown = f'[{address}]' if ':' in address else address
    client = connect(host, address, port)
    wait()
    session = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding='utf-8'))
    session.initiate_connection()
    session.send_headers(1, [(':method', 'POST'), (':scheme', 'http'), (':path', '/shop.Cart/Get'),
                             (':authority', authority or f'{shown}:{port}'), ('te', 'trailers'),
                             ('content-type', 'application/grpc')])
    session.send_data(1, message(text), end_stream=True)
    head, body = {}, b''
    with client:
        while True:
            client.sendall(session.data_to_send())
            data = client.recv(65536)
            if not data:
                raise AssertionError(f'the connection ended after {head} {body}')
            for event in session.receive_data(data):
                if isinstance(event, (h2.events.ResponseReceived, h2.events.TrailersReceived)):
                    head.update(event.headers)
                elif isinstance(event, h2.events.DataReceived):
                    body += event.data
                elif isinstance(event, h2.events.StreamEnded):
                    return head['grpc-status'], body[5:], head.get('grpc-message', '')
