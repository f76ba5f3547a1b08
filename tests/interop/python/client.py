# SPDX-License-Identifier: Apache-2.0
"""Calls the test's service through Levee with gRPC for Python.

client.py calls LEVEE TARGET                 one call of each kind, whose first attempt fails
client.py storm LEVEE TARGET SERVICE_CONFIG  300 calls of which every attempt fails
"""

import collections
import concurrent.futures
import queue
import sys

import grpc

SECONDS = 300
STORM_CALLS = 300
STORM_THREADS = 10


def dial(levee, target):
    # DOCUMENT:
    channel = grpc.insecure_channel(levee, options=[("grpc.default_authority", target)])
    # :DOCUMENT
    return channel


def dial_retrying(levee, target, service_config):
    return grpc.insecure_channel(levee, options=[('grpc.default_authority', target),
                                                 ('grpc.service_config', service_config)])


def one_of_each_kind(channel):
    options = {'timeout': SECONDS, 'metadata': [('x-fail-first', '1')]}
    unary = channel.unary_unary('/shop.Cart/Unary')
    print('unary', unary(b'hello', **options).decode())

    stream = channel.unary_stream('/shop.Cart/Stream')
    print('stream', *(message.decode() for message in stream(b'3 5', **options)))

    words = queue.SimpleQueue()
    chat = channel.stream_stream('/shop.Cart/Chat')(iter(words.get, None), **options)
    echoes = []
    for word in ('one', 'two', 'three'):  # Each is said once the answer to the one before is heard.
        words.put(word.encode())
        echoes.append(next(chat).decode())
    words.put(None)
    print('chat', *echoes, *chat)


def storm(channel):
    unary = channel.unary_unary('/shop.Cart/Unary')

    def code(_):
        try:
            unary(b'hello', timeout=SECONDS, metadata=[('x-fail-first', '1000')])
        except grpc.RpcError as error:
            return error.code().name
        return 'OK'

    with concurrent.futures.ThreadPoolExecutor(STORM_THREADS) as threads:
        for name, count in collections.Counter(threads.map(code, range(STORM_CALLS))).items():
            print(name, count)


def main(scenario, *where):
    if scenario == 'calls':
        one_of_each_kind(dial(*where))
    else:
        storm(dial_retrying(*where))


main(*sys.argv[1:])
