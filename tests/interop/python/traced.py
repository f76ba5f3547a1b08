# SPDX-License-Identifier: Apache-2.0
"""Makes one call that fails the first time: traced.py LEVEE TRACEPARENT"""

import sys

import grpc


def main():
    levee, traceparent = sys.argv[1:]
    with grpc.insecure_channel(levee, options=[('grpc.enable_retries', 0)]) as channel:
        call = channel.unary_unary('/shop.Cart/Unary')
        call(b'hello', timeout=300, metadata=[('traceparent', traceparent), ('x-fail-first', '1')])


main()
