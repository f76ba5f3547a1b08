# SPDX-License-Identifier: Apache-2.0
"""Serves interop.proto with gRPC for Python: prints "listening HOST:PORT", and ends with its
standard input."""

import concurrent.futures
import pathlib
import sys
import threading

import grpc

import credentials

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
pb, services = grpc.protos_and_services('interop.proto')

CODES = {code.value[0]: code for code in grpc.StatusCode}


def echo_metadata(context):
    got = dict(context.invocation_metadata())
    if 'x-interop-head' in got:
        context.send_initial_metadata([('x-interop-head', got['x-interop-head'])])
    if 'x-interop-trailer-bin' in got:
        context.set_trailing_metadata([('x-interop-trailer-bin', got['x-interop-trailer-bin'])])


def end_as_asked(request, context):
    if request.ending.code:
        context.abort(CODES[request.ending.code], request.ending.message)


def response_to(answer, context):
    """The answer's delay ends early with its call."""
    over = threading.Event()
    if context.add_callback(over.set):
        over.wait(answer.delay_ms / 1000)
    return pb.Response(body=bytes(answer.size))


def responses_to(request, context):
    """Each in its form: the whole call is compressed, and a message may be left out."""
    for answer in request.answers:
        response = response_to(answer, context)
        if answer.form != pb.COMPRESSED:
            context.disable_next_message_compression()
        yield response
    end_as_asked(request, context)


class Service(services.TestServiceServicer):
    def EmptyCall(self, request, context):
        echo_metadata(context)
        return pb.Empty()

    def UnaryCall(self, request, context):
        echo_metadata(context)
        end_as_asked(request, context)
        if not request.answers:
            return pb.Response()
        if request.answers[0].form == pb.COMPRESSED:
            context.set_compression(grpc.Compression.Gzip)
        return response_to(request.answers[0], context)

    def StreamingInput(self, request_iterator, context):
        echo_metadata(context)
        return pb.Total(size=sum(len(request.body) for request in request_iterator))

    def StreamingOutput(self, request, context):
        context.set_compression(grpc.Compression.Gzip)
        echo_metadata(context)
        yield from responses_to(request, context)

    def FullDuplex(self, request_iterator, context):
        echo_metadata(context)
        for request in request_iterator:
            yield from responses_to(request, context)


def main():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
    services.add_TestServiceServicer_to_server(Service(), server)
    port = credentials.add_port(server, '127.0.0.1:0')
    server.start()
    print(f'listening 127.0.0.1:{port}', flush=True)
    sys.stdin.read()
    server.stop(0)


main()
