# SPDX-License-Identifier: Apache-2.0
"""Serves, or calls, in the cells in which instances restart, with gRPC for Python.

restart_peers.py serve PORT           answers any call after 5 ms; ends gracefully with SIGTERM
restart_peers.py call ADDRESSES RATE  makes RATE calls a second, round robin over the addresses and without
                                      retries, until its standard input ends; prints a line for each call:
                                      when it began in microseconds, how long it took, and its code
"""

import asyncio
import signal
import sys
import time

import grpc

METHOD = '/test.Echo/Unary'


class Echo(grpc.GenericRpcHandler):
    def service(self, _):
        async def answer(request, _):
            await asyncio.sleep(0.005)
            return request

        return grpc.unary_unary_rpc_method_handler(answer)


async def serve(port):
    server = grpc.aio.server(options=[('grpc.so_reuseport', 0)])
    server.add_generic_rpc_handlers([Echo()])
    server.add_insecure_port(f'127.0.0.1:{port}')
    await server.start()
    print(f'listening 127.0.0.1:{port}', flush=True)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    await server.stop(5)


async def one(call, begun):
    at = time.monotonic()
    try:
        await call(b'x', timeout=2)
        code = 'OK'
    except grpc.aio.AioRpcError as error:
        code = error.code().name
    now = time.monotonic()
    print(int((at - begun) * 1e6), int((now - at) * 1e6), code)


async def call_all(addresses, rate):
    # Without a service config nothing is retried but what a server surely has not seen.
    options = [('grpc.lb_policy_name', 'round_robin'),
               ('grpc.initial_reconnect_backoff_ms', 100), ('grpc.max_reconnect_backoff_ms', 1000)]
    async with grpc.aio.insecure_channel(f'ipv4:{addresses}', options) as channel:
        call = channel.unary_unary(METHOD)
        await asyncio.gather(*(call(b'x', wait_for_ready=True) for _ in range(50)))
        ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        print('calls', flush=True)
        begun, calls = time.monotonic(), []
        while not ended.done():
            calls.append(asyncio.ensure_future(one(call, begun)))
            await asyncio.sleep(max(0, begun + len(calls) / rate - time.monotonic()))
        await asyncio.gather(*calls)


if __name__ == '__main__':
    if sys.argv[1] == 'serve':
        asyncio.run(serve(sys.argv[2]))
    else:
        asyncio.run(call_all(sys.argv[2], float(sys.argv[3])))
