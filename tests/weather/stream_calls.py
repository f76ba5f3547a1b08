# SPDX-License-Identifier: Apache-2.0
"""Makes the calls of the cells with streams and guards, with gRPC for Python; or serves them.

stream_calls.py call ADDRESS LANES    LANES is JSON, a list of streams.Lane as objects. Prints "open" when
                                      all that stay open have begun, and at the end a line for each call:
                                      its lane, when it began and how long it took in microseconds, and its
                                      code, OPEN if it lived until the end. Ends when the lanes that have an
                                      end are over, or with its standard input where there are none.
stream_calls.py serve SECONDS         serves long polls that take so long, and unary calls. Prints "listening
                                      HOST:PORT", and ends with its standard input
stream_calls.py work SLOTS            serves unary calls, so many at a time; others wait inside
"""

import asyncio
import concurrent.futures
import json
import pathlib
import sys
import time

import grpc

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'interop'))
pb, services = grpc.protos_and_services('interop.proto')


def asking(*delays_ms):
    return pb.Request(answers=[pb.Answer(size=9, delay_ms=delay) for delay in delays_ms])


async def unary(stub, delays, **options):
    await stub.UnaryCall(asking(*delays), **options)


async def poll(stub, _, **options):
    await stub.EmptyCall(pb.Empty(), **options)


async def output(stub, delays, **options):
    async for _ in stub.StreamingOutput(asking(*delays), **options):
        pass


async def upload(stub, delays, **options):
    async def requests():
        for delay in delays:
            yield pb.Request()
            await asyncio.sleep(delay / 1000)

    await stub.StreamingInput(requests(), **options)


async def chat(stub, delays, **options):
    call = stub.FullDuplex(**options)
    for delay in delays:
        await call.write(asking(0))
        await call.read()
        await asyncio.sleep(delay / 1000)
    await call.done_writing()
    await call.read()
    if await call.code() != grpc.StatusCode.OK:
        raise grpc.aio.AioRpcError(await call.code(), grpc.aio.Metadata(), grpc.aio.Metadata())


METHODS = {each.__name__: each for each in (unary, poll, output, upload, chat)}


class Lane:
    """Callers that make the same calls, each one call after the other."""

    def __init__(self, number, fields, stub, ended):
        self.__dict__.update(fields)
        self._number, self._stub, self._ended = number, stub, ended

    async def run(self):
        if self.known:
            await METHODS[self.method](self._stub, [0, 0, 0])
        begin = time.monotonic()
        await asyncio.gather(*(self._caller(begin, number) for number in range(self.callers)))

    def _delays(self, begin):
        """With `wakes_ms` the first message comes at once, and the others at the same time on all streams."""
        passed = (time.monotonic() - begin) * 1000
        if self.slower and self.slower[0] <= passed / 1000 < self.slower[1]:
            return [round(delay * self.slower[2]) for delay in self.delays_ms]
        if not self.wakes_ms:
            return self.delays_ms
        after_all = self.callers * self.apart_ms + self.wakes_ms
        return [0, round(after_all - passed), *self.delays_ms]

    async def _caller(self, begin, number):
        await asyncio.sleep(number * self.apart_ms / 1000)
        at = time.monotonic()
        calls = []
        while True:
            calls.append(asyncio.create_task(self._call(at, self._delays(begin))))
            at += self.every_ms / 1000
            if not self.open:
                await calls.pop()
                at = max(at, time.monotonic())
            if self.seconds is not None and at >= begin + self.seconds:
                await asyncio.gather(*calls)
                return
            await asyncio.sleep(max(0, at - time.monotonic()))

    async def _call(self, at, delays):
        timeout = self.deadline_ms / 1000 if self.deadline_ms else None
        code = 'OK'
        try:
            await METHODS[self.method](self._stub, delays, timeout=timeout)
        except grpc.aio.AioRpcError as error:
            code = error.code().name
        except asyncio.CancelledError:
            code = 'OPEN'
            raise
        finally:
            self._ended.append((self._number, round(at * 1e6), round((time.monotonic() - at) * 1e6), code))


async def call(address, lanes):
    ended = []
    async with grpc.aio.insecure_channel(address, [('grpc.enable_http_proxy', 0)]) as channel:
        stub = services.TestServiceStub(channel)
        made = [Lane(number, fields, stub, ended) for number, fields in enumerate(json.loads(lanes))]
        endless = [asyncio.create_task(lane.run()) for lane in made if lane.seconds is None]
        if endless:
            await asyncio.sleep(0.5 + max(lane.callers * lane.apart_ms for lane in made) / 1000)
        print('open', flush=True)
        bounded = [lane.run() for lane in made if lane.seconds is not None]
        if bounded:
            await asyncio.gather(*bounded)
        else:
            await asyncio.to_thread(sys.stdin.read)
        for task in endless:
            task.cancel()
        await asyncio.gather(*endless, return_exceptions=True)
    for each in ended:
        print(*each)


class Polls(services.TestServiceServicer):
    """A poll is a call of EmptyCall."""

    def __init__(self, seconds):
        self._seconds = seconds

    async def EmptyCall(self, _, context):
        await asyncio.sleep(self._seconds)
        return pb.Empty()

    async def UnaryCall(self, request, context):
        await asyncio.sleep(request.answers[0].delay_ms / 1000)
        return pb.Response()


class Work(services.TestServiceServicer):
    """Each call has one of the server's threads for its time."""

    def UnaryCall(self, request, context):
        time.sleep(request.answers[0].delay_ms / 1000)
        return pb.Response()


async def serve(seconds):
    server = grpc.aio.server()
    services.add_TestServiceServicer_to_server(Polls(float(seconds)), server)
    port = server.add_insecure_port('127.0.0.1:0')
    await server.start()
    print(f'listening 127.0.0.1:{port}', flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(0)


async def work(slots):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(int(slots)))
    services.add_TestServiceServicer_to_server(Work(), server)
    port = server.add_insecure_port('127.0.0.1:0')
    server.start()
    print(f'listening 127.0.0.1:{port}', flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.stop(0)


asyncio.run({'call': call, 'serve': serve, 'work': work}[sys.argv[1]](*sys.argv[2:]))
