# SPDX-License-Identifier: Apache-2.0
"""What the programs speak: plaintext, or mTLS with the files of the folder INTEROP_TLS."""

import os
import pathlib

import grpc

FOLDER = os.environ.get('INTEROP_TLS')


def _read(name):
    """None if it is not there: a client may have no certificate."""
    path = pathlib.Path(FOLDER, name)
    return path.read_bytes() if path.exists() else None


def dial(address, options):
    if not FOLDER:
        return grpc.insecure_channel(address, options)
    credentials = grpc.ssl_channel_credentials(_read('ca.pem'), _read('own.key'), _read('own.crt'))
    return grpc.secure_channel(address, credentials, options)


def add_port(server, address):
    """Returns the port that `server` then listens at."""
    if not FOLDER:
        return server.add_insecure_port(address)
    own = (_read('own.key'), _read('own.crt'))
    return server.add_secure_port(
        address, grpc.ssl_server_credentials([own], _read('ca.pem'), require_client_auth=True))
