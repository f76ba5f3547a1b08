# SPDX-License-Identifier: Apache-2.0
"""Prints what gRPC for Python makes of long messages of a service.

long_message.py LEVEE    a service behind it fails calls with the messages of long_messages(), and a
                         line is printed for each call: its code and its message as JSON
"""

import json
import pathlib
import sys

import grpc

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
pb, services = grpc.protos_and_services('interop.proto')

SECONDS = 300


def long_messages():
    """Messages of over 512 bytes whose 512th is at each place of a character of three bytes."""
    return [before * 'x' + 400 * '\u2713' for before in range(3)]


def main():
    (levee,) = sys.argv[1:]
    with grpc.insecure_channel(levee) as channel:
        test = services.TestServiceStub(channel)
        for message in long_messages():
            try:
                test.UnaryCall(pb.Request(ending=pb.Ending(code=14, message=message)),
                               timeout=SECONDS)
            except grpc.RpcError as error:
                print(json.dumps([error.code().name, error.details()]))


main()
