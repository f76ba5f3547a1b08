#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A name that has no address yet, and then has one (cell e19), for gRPC's own resolver and for Levee.

As a program, `names.py [LEVEE]`, it is to be started in a network and among mounts of its own. It is the
name server there, makes ten calls a second from a service's start to its end, and prints JSON.
"""

import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import streams

NAME, PORT = 'shop.test', 50051
ABSENT_SECONDS, SECONDS = 20, 60
LANE = streams.Lane('unary', 'calls', 1, (1,), SECONDS, 100, deadline_ms=2000, open=True)
LEVEE = '''
listeners: [{name: egress, address: "127.0.0.1:7000"}]
metrics: {address: none}
admin: {address: none}
upstreams: [{name: shop, endpoints: ["dns:shop.test:50051"]}]
routes: [{upstream: shop}]
'''


def answer(query, there):
    """Returns what a name server answers that knows the name's one IPv4 address, or not yet the name."""
    end = 12 + query[12:].index(b'\0') + 5
    question, kind = query[12:end], query[end - 4:end - 2]
    head = query[:2] + struct.pack('>HHHHH', 0x8180 if there else 0x8183, 1, there and kind == b'\0\1', 0, 0)
    if not there or kind != b'\0\1':
        return head + question
    return head + question + b'\xc0\x0c' + struct.pack('>HHIH', 1, 1, 5, 4) + socket.inet_aton('127.0.0.1')


def serve(there, asked):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(('127.0.0.1', 53))
        while True:
            query, caller = server.recvfrom(512)
            reply = answer(query, there.is_set())
            if reply[12 + len(NAME) + 2:][:2] == b'\0\1':
                asked.append(time.monotonic())
            server.sendto(reply, caller)


def inside(levee, scratch):
    """Returns what `run` returns, in a network of its own."""
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
    (scratch / 'resolv.conf').write_text('nameserver 127.0.0.1\n', encoding='utf-8')
    subprocess.run(['mount', '--bind', scratch / 'resolv.conf', '/etc/resolv.conf'], check=True)
    there, asked = threading.Event(), []
    threading.Thread(target=serve, args=(there, asked), daemon=True).start()
    address, peers = f'dns:{NAME}:{PORT}', []
    try:
        peers.append(streams.Peer((streams.GO, 'serve', 0, 0, PORT, 0), None))
        if levee:
            (scratch / 'levee.yaml').write_text(LEVEE, encoding='utf-8')
            peers.append(streams.Peer((levee, 'run', '--config', scratch / 'levee.yaml'), None))
            address = '127.0.0.1:7000'
        begun = time.monotonic()
        peers.append(streams.callers(address, [LANE], '', None))
        time.sleep(ABSENT_SECONDS)
        there.set()
        calls = sorted((at, code) for _, at, _, code in peers[-1].ended())
    finally:
        for peer in reversed(peers):
            peer.end()
    first = next((at for at, code in calls if code == 'OK' and at > ABSENT_SECONDS), float('inf'))
    return {'asked': sum(at < begun + ABSENT_SECONDS for at in asked), 'first': first - ABSENT_SECONDS,
            'lost': sum(code != 'OK' for at, code in calls if at > first)}


def missing():
    """Returns what the cell wants and is not there, or an empty text."""
    if os.geteuid() or not shutil.which('unshare') or not shutil.which('ip'):
        return 'e19 is left out: it needs root, unshare and ip'
    return '' if streams.GO.is_file() else f'e19 is left out: there is no {streams.GO}'


def run(levee):
    """Returns how often the name was asked for while it had no address, the seconds from its address to the
    first good call, and how many calls were lost after that. `levee`: through it, or None."""
    command = ['unshare', '--net', '--mount', sys.executable, '-B', __file__, *([str(levee)] if levee else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=600)
    return json.loads(done.stdout)


def table(results):
    """Markdown of {way: what `run` returns}."""
    lines = ['## e19', '', f'A name has no address for {ABSENT_SECONDS} s; 10 calls a second.', '',
             '| | good after the address came | look-ups before | lost after the first good call |',
             '|---|---:|---:|---:|']
    lines += [f'| {way} | {got["first"]:.1f} s | {got["asked"]} | {got["lost"]} |'
              for way, got in results.items()]
    return '\n'.join(lines) + '\n'


# The first good call through Levee comes so many seconds after the address, and there is at most one look-up
# a second.
def is_worse(results):
    return results['Levee']['first'] > 1.5 or results['Levee']['asked'] > ABSENT_SECONDS + 1


if __name__ == '__main__':
    with tempfile.TemporaryDirectory(prefix='levee-weather-') as own:
        print(json.dumps(inside(sys.argv[1] if len(sys.argv) > 1 else None, pathlib.Path(own))))
