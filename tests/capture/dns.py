# SPDX-License-Identifier: Apache-2.0
"""A DNS server that knows one name: dns.py ADDRESS NAME IP. Prints a line once it listens."""

import socket
import struct
import sys

A = 1
NO_SUCH_NAME = 3


def answer(query, name, ip):
    end = query.index(b'\0', 12) + 5
    question = query[12:end]
    kind, = struct.unpack('>H', question[-4:-2])
    wanted = b''.join(bytes([len(part)]) + part for part in name.encode().split(b'.')) + b'\0'
    known = question[:-4].lower() == wanted
    found = known and kind == A
    record = b'\xc0\x0c' + struct.pack('>HHIH', A, 1, 5, 4) + socket.inet_aton(ip)
    flags = 0x8180 | (0 if known else NO_SUCH_NAME)
    return query[:2] + struct.pack('>HHHHH', flags, 1, found, 0, 0) + question + record * found


def main(address, name, ip):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    print('listening', flush=True)
    while True:
        query, peer = server.recvfrom(512)
        server.sendto(answer(query, name, ip), peer)


if __name__ == '__main__':
    main(*sys.argv[1:])
