#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spans arrive at a receiver that is made of the protos that OpenTelemetry publishes, and at a real
collector. Skipped where these are not fetched; `make interop-deps` does it."""

import base64
import json
import shutil
import subprocess
import tempfile
import unittest

import languages
from programs import WATCHDOG_SECONDS, Levee, Program, Service, run_client

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
        languages.PYTHON.skip_if_missing()
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


class RealCollector(Program):
    """A collector that receives OTLP over gRPC at `address`."""

    def __init__(self, command):
        self._config = tempfile.NamedTemporaryFile('w', suffix='.yaml')
        json.dump({  # JSON is YAML.
            'receivers': {'otlp': {'protocols': {'grpc': {'endpoint': '127.0.0.1:0'}}}},
            'exporters': {'lines': {}},
            'service': {'pipelines': {'traces': {'receivers': ['otlp'], 'exporters': ['lines']}}},
        }, self._config)
        self._config.flush()
        super().__init__([*command.command, '--config', self._config.name])
        # It takes a port of the system's choice, and logs it.
        self.address = self._next('endpoint')

    def __exit__(self, *details):
        super().__exit__(*details)
        self._config.close()

    def _next(self, name):
        """Returns the member of the next object with that member that it writes."""
        for line in self._child.stdout:
            if name in (found := json.loads(line)):
                return found[name]
        self._errors.seek(0)
        errors = self._errors.read()
        self.__exit__()
        raise AssertionError(f'the collector writes no {name}:\n{errors}')

    def spans(self, count):
        """Returns the next spans that it has got, `count` or more."""
        spans = []
        while len(spans) < count:
            spans += [span for resource in self._next('resourceSpans')
                      for scope in resource['scopeSpans'] for span in scope['spans']]
        return spans


@unittest.skipUnless(shutil.which('curl'), 'curl is not installed')
class Collector(unittest.TestCase):
    SERVER, CLIENT = 2, 3
    PLAIN, RETRIED = 2 * '0123456789abcdef', TRACE

    @classmethod
    def setUpClass(cls):
        languages.COLLECTOR.skip_if_missing()
        cls.command = staticmethod(languages.COLLECTOR.prepare())

    def call(self, levee, trace, *headers):
        """Returns what the caller gets."""
        return subprocess.run(
            ['curl', '--silent', '--show-error', '--http2-prior-knowledge', '--data-binary', '@-',
             '--dump-header', '-', '--output', '/dev/null', '--header', 'te: trailers',
             '--header', 'content-type: application/grpc',
             '--header', f'traceparent: 00-{trace}-{CALLER}-01',
             *(word for header in headers for word in ('--header', header)),
             f'http://{levee.address}/shop.Cart/Unary'],
            input='\0\0\0\0\0', capture_output=True, text=True, timeout=WATCHDOG_SECONDS, check=True).stdout

    def spans_of(self, spans, trace):
        """The span of the call, and those of its attempts in their order."""
        call, *attempts = sorted((each for each in spans if each['traceId'] == trace),
                                 key=lambda each: (each['kind'], int(each['startTimeUnixNano'])))
        return call, attempts

    def test_the_spans_of_calls_and_their_parents_are_what_it_writes(self):
        with (RealCollector(self.command('collector')) as collector, Service() as service,
              Levee(otlp={'address': collector.address},
                    upstreams=[{'name': 'cart', 'endpoints': [service.address]}],
                    routes=[{'upstream': 'cart'}]) as levee):
            self.assertIn('grpc-status: 0', self.call(levee, self.PLAIN))
            self.assertIn('grpc-status: 0', self.call(levee, self.RETRIED, 'x-fail-first: 1'))
            spans = collector.spans(5)
        self.assertEqual(len(spans), 5)
        for trace, codes in ((self.PLAIN, ['0']), (self.RETRIED, ['14', '0'])):
            with self.subTest(trace):
                call, attempts = self.spans_of(spans, trace)
                self.assertEqual((call['kind'], call['parentSpanId']), (self.SERVER, CALLER))
                self.assertEqual(call['name'], 'shop.Cart/Unary')
                self.assertEqual([each['kind'] for each in attempts], len(codes) * [self.CLIENT])
                self.assertEqual({each['parentSpanId'] for each in attempts}, {call['spanId']})
                self.assertEqual([values(each['attributes'])['rpc.grpc.status_code']
                                  for each in attempts], codes)
        _, (first, second) = self.spans_of(spans, self.RETRIED)
        self.assertEqual(first['status'], {'code': 2, 'message': 'UNAVAILABLE'})
        self.assertEqual(values(second['attributes'])['levee.trigger'], 'status')
        self.assertEqual(len({each['spanId'] for each in spans}), 5)


if __name__ == '__main__':
    unittest.main()
