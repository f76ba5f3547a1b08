# SPDX-License-Identifier: Apache-2.0
"""Runs the interop cases with gRPC for Python.

cases.py LEVEE TARGET    prints a line per case: "ok NAME", "failed NAME: WHY" or
                         "skipped NAME: WHY"
"""

import pathlib
import queue
import sys

import grpc

import credentials

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
pb, services = grpc.protos_and_services('interop.proto')

PATIENCE = {'timeout': 300}
LARGE = 300_000
SIZES = (31_000, 9, 2_500, 60_000)
SPECIAL = '\t\ndykes hold 100% \r\n\u2713 and \U0001F30A\t\n'
METADATA = (('x-interop-head', 'at the head'), ('x-interop-trailer-bin', b'\x00\xff\x0a\x2c'))


def expect(got, wanted):
    if got != wanted:
        raise AssertionError(f'{str(got)[:200]!r} is not {str(wanted)[:200]!r}')


def expect_end(call, code, message=None):
    """`call` fails with that code, and that message unless it does not matter."""
    try:
        call()
    except grpc.RpcError as error:
        expect(error.code(), code)
        if message is not None:
            expect(error.details(), message)
        return
    raise AssertionError('succeeded')


def asking(*sizes, form=pb.ANY, **fields):
    answers = [pb.Answer(size=size, form=form) for size in sizes]
    return pb.Request(answers=answers, **fields)


class Duplex:
    """A FullDuplex call whose requests are sent one by one."""

    def __init__(self, test, **options):
        self._requests = queue.SimpleQueue()
        self.call = test.FullDuplex(iter(self._requests.get, None), **{**PATIENCE, **options})

    def exchange(self, request):
        self._requests.put(request)
        return next(self.call)

    def half_close(self):
        self._requests.put(None)

    def end(self):
        self.half_close()
        expect(list(self.call), [])


class Cases:
    def __init__(self, channel):
        self._test = services.TestServiceStub(channel)
        self._missing = services.MissingServiceStub(channel)

    def empty_unary(self):
        expect(self._test.EmptyCall(pb.Empty(), **PATIENCE), pb.Empty())

    def _unary(self, request, **options):
        response = self._test.UnaryCall(request, **PATIENCE, **options)
        expect(response.body, bytes(sum(answer.size for answer in request.answers)))

    def large_unary(self):
        self._unary(asking(LARGE, body=bytes(LARGE)))

    def client_compressed_unary(self):
        self._unary(pb.Request(body=bytes(LARGE), form=pb.COMPRESSED),
                    compression=grpc.Compression.Gzip)
        self._unary(pb.Request(body=bytes(LARGE), form=pb.PLAIN))

    def server_compressed_unary(self):
        self._unary(asking(LARGE, form=pb.COMPRESSED))
        self._unary(asking(LARGE, form=pb.PLAIN))

    client_compressed_streaming = 'grpcio compresses all messages of a caller or none'

    def _output(self, request):
        sizes = [len(response.body) for response in self._test.StreamingOutput(request, **PATIENCE)]
        expect(sizes, [answer.size for answer in request.answers])

    def server_compressed_streaming(self):
        answers = [pb.Answer(size=LARGE, form=form) for form in (pb.COMPRESSED, pb.PLAIN)]
        self._output(pb.Request(answers=answers))

    def client_streaming(self):
        requests = (pb.Request(body=bytes(size)) for size in SIZES)
        expect(self._test.StreamingInput(requests, **PATIENCE).size, 93_509)

    def server_streaming(self):
        self._output(asking(*SIZES))

    def ping_pong(self):
        duplex = Duplex(self._test)
        for size in SIZES:
            expect(duplex.exchange(asking(size, body=bytes(size))).body, bytes(size))
        duplex.end()

    def empty_stream(self):
        Duplex(self._test).end()

    def custom_metadata(self):
        _, call = self._test.EmptyCall.with_call(pb.Empty(), metadata=METADATA, **PATIENCE)
        self._expect_metadata(call)
        duplex = Duplex(self._test, metadata=METADATA)
        duplex.exchange(asking(1))
        duplex.end()
        self._expect_metadata(duplex.call)

    @staticmethod
    def _expect_metadata(call):
        got = ([field for field in call.initial_metadata() if field[0] == METADATA[0][0]],
               [field for field in call.trailing_metadata() if field[0] == METADATA[1][0]])
        expect([tuple(field) for fields in got for field in fields], list(METADATA))

    def status_code_and_message(self):
        request = pb.Request(ending=pb.Ending(code=2, message='as asked for'))
        expect_end(lambda: self._test.UnaryCall(request, **PATIENCE),
                   grpc.StatusCode.UNKNOWN, 'as asked for')
        duplex = Duplex(self._test)
        expect_end(lambda: duplex.exchange(request), grpc.StatusCode.UNKNOWN, 'as asked for')
        duplex.half_close()

    def special_status_message(self):
        request = pb.Request(ending=pb.Ending(code=2, message=SPECIAL))
        expect_end(lambda: self._test.UnaryCall(request, **PATIENCE),
                   grpc.StatusCode.UNKNOWN, SPECIAL)

    def unimplemented_method(self):
        expect_end(lambda: self._test.Missing(pb.Empty(), **PATIENCE),
                   grpc.StatusCode.UNIMPLEMENTED)

    def unimplemented_service(self):
        expect_end(lambda: self._missing.Missing(pb.Empty(), **PATIENCE),
                   grpc.StatusCode.UNIMPLEMENTED)

    def cancel_after_begin(self):
        requests = queue.SimpleQueue()
        call = self._test.StreamingInput.future(iter(requests.get, None), **PATIENCE)
        call.cancel()
        requests.put(None)
        expect(call.code(), grpc.StatusCode.CANCELLED)

    def cancel_after_first_response(self):
        duplex = Duplex(self._test)
        duplex.exchange(asking(9))
        duplex.call.cancel()
        expect_end(lambda: next(duplex.call), grpc.StatusCode.CANCELLED)
        duplex.half_close()

    def timeout_on_sleeping_server(self):
        duplex = Duplex(self._test, timeout=0.05)
        request = pb.Request(answers=[pb.Answer(size=9, delay_ms=5_000)])
        expect_end(lambda: duplex.exchange(request), grpc.StatusCode.DEADLINE_EXCEEDED)
        duplex.half_close()


def main(levee, target):
    with credentials.dial(levee, [('grpc.default_authority', target)]) as channel:
        cases = Cases(channel)
        for name in vars(Cases):  # In the order of the class.
            case = getattr(cases, name)
            if name.startswith('_'):
                continue
            if isinstance(case, str):
                print(f'skipped {name}: {case}')
                continue
            try:
                case()
                print('ok', name)
            except (AssertionError, grpc.RpcError, StopIteration) as error:
                print(f'failed {name}: {error!r}'.replace('\n', ' '))


main(*sys.argv[1:])
