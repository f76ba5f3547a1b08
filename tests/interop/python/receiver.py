# SPDX-License-Identifier: Apache-2.0
"""Receives spans with the protos that OpenTelemetry publishes, and gRPC for Python: prints "listening
HOST:PORT", then each export as a line of JSON, and ends with its standard input."""

import concurrent.futures
import sys

import grpc
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import (trace_service_pb2, trace_service_pb2_grpc)


def unknown_fields(message):
    """Returns how many bytes of the message the published protos have no field for."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return message.ByteSize() - known.ByteSize()


class Receiver(trace_service_pb2_grpc.TraceServiceServicer):
    def Export(self, request, context):  # pylint: disable=invalid-name
        text = json_format.MessageToJson(request, indent=None)
        print(unknown_fields(request), text, flush=True)
        return trace_service_pb2.ExportTraceServiceResponse()


def main():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Receiver(), server)
    port = server.add_insecure_port('127.0.0.1:0')
    server.start()
    print(f'listening 127.0.0.1:{port}', flush=True)
    sys.stdin.read()
    server.stop(0)


main()
