#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spans arrive at a receiver that is made of the protos that OpenTelemetry publishes. Skipped where
these are not fetched; `make interop-deps` does it."""

import base64
import json
import unittest

import languages
from programs import Levee, Program, Service, run_client

TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
CALLER = '00f067aa0ba902b7'


class Receiver(Program):
    def __init__(self, command):
        super().__init__(command.command)
        self.address = self._wait_for(r'listening (\S+)')

    def next_export(self):
        """Returns the bytes of the next export that the published protos do not know, and the
        export."""
        line = self._child.stdout.readline()
        unknown, text = line.split(' ', 1)
        return int(unknown), json.loads(text)


def digits(text):
    """Returns an id as hexadecimal digits. In the JSON of Protobuf it is base64."""
    return base64.b64decode(text).hex()


def values(attributes):
    return {each['key']: next(iter(each['value'].values())) for each in attributes}


class PublishedProtos(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = languages.PYTHON.missing()
        if missing:
            raise unittest.SkipTest(missing)
        cls.command = staticmethod(languages.PYTHON.prepare())

    def test_a_retried_call_arrives_whole(self):
        with Receiver(self.command('receiver')) as receiver, Service() as service, Levee(
                otlp={'address': receiver.address},
                upstreams=[{'name': 'cart', 'endpoints': [service.address]}],
                routes=[{'upstream': 'cart'}]) as levee:
            run_client(self.command('traced'), levee.address, f'00-{TRACE}-{CALLER}-01')
            unknown, export = receiver.next_export()
        self.assertEqual(unknown, 0)
        (resource,) = export['resourceSpans']
        self.assertEqual(values(resource['resource']['attributes'])['service.name'], 'levee')
        (scope,) = resource['scopeSpans']
        self.assertEqual(scope['scope']['name'], 'levee')
        call, first, second = scope['spans']
        self.assertEqual({digits(each['traceId']) for each in scope['spans']}, {TRACE})
        self.assertEqual(digits(call['parentSpanId']), CALLER)
        self.assertEqual([digits(each['parentSpanId']) for each in (first, second)],
                         2 * [digits(call['spanId'])])
        self.assertEqual([each['kind'] for each in scope['spans']],
                         ['SPAN_KIND_SERVER', 'SPAN_KIND_CLIENT', 'SPAN_KIND_CLIENT'])
        self.assertEqual(first['status'], {'code': 'STATUS_CODE_ERROR', 'message': 'UNAVAILABLE'})
        self.assertNotIn('status', second)
        self.assertLessEqual(int(call['startTimeUnixNano']), int(first['startTimeUnixNano']))
        self.assertLessEqual(int(second['endTimeUnixNano']), int(call['endTimeUnixNano']))
        attributes = values(second['attributes'])
        self.assertEqual(attributes['rpc.system'], 'grpc')
        self.assertEqual(attributes['rpc.grpc.status_code'], '0')
        self.assertEqual(attributes['levee.trigger'], 'status')


if __name__ == '__main__':
    unittest.main()
