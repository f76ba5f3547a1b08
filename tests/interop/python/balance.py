# SPDX-License-Identifier: Apache-2.0
"""Balances calls by the load that servers report, with gRPC for Python.

balance.py BUSY OTHER   keeps 6 streams open at the server BUSY. For each line COUNT of its standard
                        input it makes so many calls to both servers, with weighted_round_robin, and
                        then prints "made COUNT"
"""

import json
import queue
import sys

import grpc

SECONDS = 300
STREAMS = 6
SERVICE_CONFIG = json.dumps({'loadBalancingConfig': [{'weighted_round_robin': {
    'blackoutPeriod': '0s', 'weightUpdatePeriod': '0.1s'}}]})


def open_stream(channel):
    """Returns the stream, which has begun to answer, and what ends it. One that is dropped ends."""
    words = queue.SimpleQueue()
    chat = channel.stream_stream('/shop.Cart/Chat')(iter(words.get, None), timeout=2 * SECONDS)
    words.put(b'one')
    next(chat)
    return chat, words


def main():
    busy, other = sys.argv[1:]
    with grpc.insecure_channel(busy) as channel:
        streams = [open_stream(channel) for _ in range(STREAMS)]
        with grpc.insecure_channel(f'ipv4:{busy},{other}',
                                   options=[('grpc.service_config', SERVICE_CONFIG)]) as both:
            unary = both.unary_unary('/shop.Cart/Unary')
            for line in sys.stdin:
                for _ in range(int(line)):
                    unary(b'hello', timeout=SECONDS, wait_for_ready=True)
                print('made', line.strip(), flush=True)
        for _, words in streams:
            words.put(None)


main()
