# SPDX-License-Identifier: Apache-2.0
"""Writes the descriptor set of interop.proto, and reads what it says of its methods."""

import pathlib
import re
import shutil
import subprocess
import unittest

SOURCES = pathlib.Path(__file__).resolve().parent


def skip_if_missing():
    if not shutil.which('protoc'):
        raise unittest.SkipTest('protoc is not installed')


def write(path):
    """Writes the descriptor set of interop.proto to a file."""
    subprocess.run(('protoc', '-I', SOURCES, '--include_imports', f'--descriptor_set_out={path}',
                    'interop.proto'), check=True)


def kinds(path):
    """Returns {method: 'unary' or 'stream'}, as the descriptors of the file say."""
    text = subprocess.run(
        ('protoc', '--decode=google.protobuf.FileDescriptorSet', 'google/protobuf/descriptor.proto'),
        input=pathlib.Path(path).read_bytes(), stdout=subprocess.PIPE, check=True).stdout.decode()
    package = re.search(r'^  package: "(.*)"$', text, re.MULTILINE)[1]
    found = {}
    for service in re.findall(r'^  service \{\n(.*?)^  \}$', text, re.DOTALL | re.MULTILINE):
        name = re.search(r'^    name: "(.*)"$', service, re.MULTILINE)[1]
        for method in re.findall(r'^    method \{\n(.*?)^    \}$', service, re.DOTALL | re.MULTILINE):
            called = re.search(r'^      name: "(.*)"$', method, re.MULTILINE)[1]
            streams = re.search(r'^      (client|server)_streaming: true$', method, re.MULTILINE)
            found[f'{package}.{name}/{called}'] = 'stream' if streams else 'unary'
    return found
