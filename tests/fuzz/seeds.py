#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs that the fuzz targets begin with: seeds.py FOLDER.

The sources of the targets say what the bytes of an input mean; these seeds are ordinary
calls in their terms, from which mutations lead to the others.
"""

import pathlib
import random
import sys

SHAPES = range(5)  # WorkerRun::kShapes

# A step of downstream_fuzz and upstream_fuzz: bytes 5 and up say "a frame", which follows.
SETTLE = bytes([0])
FRAME = 5
LATER = bytes([2, 4, 0, 0])  # about a quarter of a second


def headers(stream, end, shape=0, fields=b''):
    """A complete head and as many further fields as the low bits of `shape` say."""
    return bytes([FRAME, 0, end, stream, shape]) + fields


def data(stream, end, text=b'hello'):
    return bytes([FRAME, 4, end, stream, 0, len(text)]) + text


def reset(stream, code):
    return bytes([FRAME, 8, code, stream])


def continuation(flags):
    """Of the block that stream 0 has begun, without fields."""
    return bytes([FRAME, 13, flags, 0, 0xc0])


def raw(wire):
    """Bytes as they are, in the pieces that a step can hold."""
    pieces = [wire[i:i + 63] for i in range(0, len(wire), 63)]
    return [bytes([FRAME, 15, 0, 0, len(piece)]) + piece for piece in pieces]


def goaway(last):
    return bytes([FRAME, 11, 0, last])


def window(stream, size):
    return bytes([FRAME, 12, 0, stream]) + size.to_bytes(4, 'big')


def settings(number, value):
    return bytes([FRAME, 9, number, 0]) + value.to_bytes(4, 'big')


def downstream():
    """Shape, the upstream's script, whole writes, preface and SETTINGS; then steps."""
    yield b''
    for shape in SHAPES:
        for script in (b'\0\0\0\0', b'\1\1\1\0', b'\2\0\3\0', b'\4\5\6\7'):
            begin = bytes([shape]) + script + bytes([1, 1])
            call = headers(0, 0) + data(0, 1) + SETTLE
            yield begin + call
            yield begin + call + LATER + LATER + LATER
            yield begin + headers(0, 1) + headers(1, 1) + headers(2, 1) + SETTLE + reset(1, 8)
            yield begin + settings(4, 0) + headers(0, 1) + SETTLE + window(0, 100) + LATER
            yield begin + b''.join(headers(i, 0) + data(i, 0) for i in range(8)) + SETTLE
            yield begin + headers(0, 1, 2, bytes([0, 0, 6, 0])) + SETTLE + LATER
    yield bytes([0]) + b'\0\0\0\0' + bytes([0, 2, 0, 3, 5, 11]) + b'GET / HTTP/1.1\r\n\r\n'


def upstream():
    """Shape, whole writes, SETTINGS at once, the first call (whole, 100 bytes); then steps."""
    yield b''
    ok = headers(0, 0) + data(0, 0) + headers(0, 1, 0xc1, bytes([0, 0]))
    for shape in SHAPES:
        for whole in (1, 0):
            begin = bytes([shape, 1, 1, whole, 0, 100])
            yield begin + ok + SETTLE
            for status in range(8):
                yield begin + headers(0, 1, 1, bytes([status, 0])) + SETTLE + LATER
            for code in (7, 8, 2):
                yield begin + reset(0, code) + SETTLE + reset(1, code) + SETTLE + LATER
            yield begin + goaway(0) + SETTLE + LATER
            yield begin + headers(0, 0) + SETTLE + reset(0, 8) + LATER
            yield begin + settings(3, 0) + SETTLE + bytes([3, 0, 1, 0, 9]) + SETTLE + LATER
            yield begin + bytes([4, 1]) + SETTLE + LATER + LATER
            yield begin + headers(0, 0, 0xc2, bytes([15, 0, 1, 0])) + data(0, 1) + SETTLE + LATER


def frames(*steps):
    """The frames of such steps, without the bytes that say so."""
    return [step[1:] for step in steps]


def session():
    """Frames."""
    call = [headers(0, 0), data(0, 1)]
    yield b''
    yield b''.join(frames(*call, *(headers(i, 1) for i in range(8))))
    yield b''.join(frames(*call, headers(1, 0), reset(1, 8), data(1, 1), headers(0, 1)))
    yield b''.join(frames(settings(4, 0), headers(0, 0), window(0, 100), window(0, 0), goaway(0)))
    # A block of more frames, and SETTINGS with more entries, than the other library takes by default.
    block = [bytes([FRAME, 3, 0, 0, 0])] + 9 * [continuation(0)] + [continuation(4)]
    yield b''.join(frames(*block, data(0, 1)))
    entries = 33 * bytes([0, 3, 0, 0, 0, 9])
    many = len(entries).to_bytes(3, 'big') + bytes([4, 0, 0, 0, 0, 0]) + entries
    yield b''.join(frames(*raw(many), *call))
    for field in range(32):  # kFields
        yield b''.join(frames(headers(0, 0, 1, bytes([field, 1])), data(0, 1), headers(1, 1)))
    # Heads of four fields, one of which is odd.
    method, scheme, path, authority = range(28, 32)
    odd = [(0, range(20, 23)), (1, range(23, 25)), (2, range(14, 18)), (3, range(18, 20))]
    for place, fields in odd:
        for field in fields:
            head = [method, scheme, path, authority]
            head[place] = field
            yield b''.join(frames(headers(0, 1, 0xc4, bytes(byte for each in head
                                                             for byte in (each, 0)))))


def cost():
    """Shape, and what follows: frames, each with whether all are taken, or what a large field is:
    its name, and what its value repeats."""
    for shape in SHAPES:
        for taken in (0, 1):
            def one(*steps):
                return bytes([shape, 0]) + b''.join(frame + bytes([taken])
                                                    for frame in frames(*steps))
            yield one(*(headers(i, 1) for i in range(8)))
            yield one(*(step for i in range(8) for step in (headers(i, 0), reset(i, 8))))
            yield one(*(headers(i, 0) for i in range(4)), *(data(i, 1) for i in range(4)))
        for name in range(16):  # kNames
            for text in (b'', b'1;a;', b'a1=1, ', b'2 levee-', b'00-'):
                yield bytes([shape, 1, name, len(text)]) + text


def hpack():
    """Per block: no change of the table's size (1), the number of bytes, the bytes."""
    examples = (
        '400a637573746f6d2d6b65790d637573746f6d2d686561646572', '040c2f73616d706c652f70617468',
        '100870617373776f726406736563726574',
        '828684418cf1e3c2e5f23a6ba0ab90f4ff', '828684be5886a8eb10649cbf',
        '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
        '203fe11f488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff'
        '6e919d29ad171863c78f0b97c8e9ae82ae43d3', '4883640effc1c0bf')
    blocks = [bytes([1, len(example) // 2]) + bytes.fromhex(example) for example in examples]
    yield b''
    yield b''.join(blocks)
    yield b''.join(bytes([0, 0, size]) + block[1:] for size, block in enumerate(blocks))
    yield from blocks


def store():
    """What is fuzzed (the map of nodes, the search for a primary, a lease of a store, one of a service, keys),
    and what that takes; the steps that NextReply reads begin with the size of pieces and the kind of reply."""
    yield b''
    text = bytes([3, 7])
    slots = (b'*2\r\n*3\r\n:0\r\n:8191\r\n*2\r\n$7\r\nredis-0\r\n:6379\r\n'
             b'*3\r\n:8192\r\n:16383\r\n*2\r\n$7\r\nredis-1\r\n:6380\r\n')
    ready = bytes([2, 0, 2, 1])
    learn = bytes([1]) + text + bytes([len(slots)]) + slots + bytes([0])
    moved = bytes([0, 1]) + b'k' + bytes([0, 0, 3, 0, 1, 1, 0, 1])
    for count in range(3):
        yield bytes([0, count]) + ready + learn + ready + moved + bytes([3, 0, 5, 200, 1]) + learn
    yield bytes([0, 1]) + moved * 10 + ready + learn
    address = b'*2\r\n$8\r\n10.0.0.7\r\n$4\r\n6379\r\n'
    named = bytes([2, 2]) + text + bytes([len(address)]) + address
    yield bytes([1]) + named + bytes([1, 1, 0, 20, 0]) + named + bytes([1, 0]) + named
    grant = b'*2\r\n:1\r\n:0\r\n'
    some = b'*2\r\n:0\r\n:500000\r\n'
    for rate in range(5):
        for away in range(3):
            begin = bytes([2, rate, 0, 100, away])
            told = [bytes([1]) + text + bytes([len(reply)]) + reply for reply in (grant, some)]
            yield begin + bytes([3]) + told[0] + bytes([3, 3]) + told[1] + bytes([3, 0, 9, 0, 3])
            yield begin + bytes([3, 1, 3, 5, 4]) + bytes([3, 2, 3])
    ok = bytes([0x08, 1, 0x12, 10, 0x08, 1, 0x12, 2, 0x08, 100, 0x18, 90, 0x22, 0])
    over = bytes([0x08, 2, 0x12, 8, 0x08, 2, 0x12, 0, 0x22, 2, 0x08, 1])
    for admits in (0, 1):
        begin = bytes([3, 0, 99, admits])
        for message in (ok, over):
            told = bytes([1, len(message)]) + message + bytes([1])
            yield begin + bytes([3]) + told + bytes([3, 3, 2, 0, 50, 1, 3]) + told
    token = b'0123456789abcdef'
    for value in (b'o0' + token + b'0000086400000', b'o1' + token + b'0000086400000' + bytes(32),
                  b'e0' + token + b'0000086400000' + b'1' + bytes(14)):
        reply = b'*2\r\n$%d\r\n%s\r\n:86400000\r\n' % (len(value), value)
        yield bytes([4]) + text + bytes([len(reply)]) + reply


def retry():
    """Any bytes are a policy and events; long ones have many events."""
    draws = random.Random(1)
    for _ in range(40):
        yield draws.randbytes(600)
    yield b''


def main(folder):
    for name, seeds in (('downstream', downstream()), ('upstream', upstream()),
                        ('hpack', hpack()), ('retry', retry()), ('session', session()),
                        ('cost', cost()), ('store', store())):
        into = pathlib.Path(folder, name + '_fuzz')
        into.mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds):
            (into / f'seed-{i}').write_bytes(seed)


if __name__ == '__main__':
    main(sys.argv[1])
