# SPDX-License-Identifier: Apache-2.0
"""Who retries in a storm: the caller's own gRPC, or a proxy beside it."""

import json
import pathlib
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / 'tests/bench'))
import proxies

RETRY_POLICY = {
    'maxAttempts': 3, 'initialBackoff': '0.025s', 'backoffMultiplier': 2, 'maxBackoff': '1s',
    'retryableStatusCodes': ['UNAVAILABLE'],
}
# As gRFC A6 has it in its example.
THROTTLING = {'retryThrottling': {'maxTokens': 10, 'tokenRatio': 0.1}}


def service_config(**more):
    return json.dumps({'methodConfig': [{'name': [{}], 'retryPolicy': RETRY_POLICY}], **more})


class Contender(NamedTuple):
    """`values` are those of its configuration template; with `timeouts`, those for cases in which an
    attempt that takes too long is given up and retried."""
    name: str
    service_config: str = ''
    command: tuple = ()  # of a proxy; @CONFIG@ is its filled template
    template: pathlib.Path | None = None
    values: dict = {}
    timeouts: dict = {}

    @property
    def is_proxy(self):
        return bool(self.command)

    def write_config(self, path, listen, service, timeouts):
        values = {**(self.timeouts if timeouts else self.values), 'LISTEN': listen,
                  'ECHO': service}
        text = self.template.read_text(encoding='utf-8')
        path.write_text(proxies.fill(text, values), encoding='utf-8')


def levee(name, binary, policy=''):
    timeouts = 'attempt_timeout: 250ms, failures: [refused, connect, timeout]'
    return Contender(name, command=(str(binary), 'run', '--workers', '1', '--config', '@CONFIG@'),
                     template=ROOT / 'tests/storms/levee.yaml.in', values={'RETRY': '', 'POLICY': policy},
                     timeouts={'RETRY': timeouts, 'POLICY': policy})


ADMISSION = """\
          - name: envoy.filters.http.admission_control
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.admission_control.v3.AdmissionControl
              enabled: {default_value: true, runtime_key: storm.admission}
              success_criteria: {grpc_criteria: {grpc_success_status: [0]}}"""


def envoy(name, binary, filters=''):
    proxy = proxies.envoy(binary)
    timeouts = 'retry_on: "unavailable,5xx"\n' + 20 * ' ' + 'per_try_timeout: 0.25s'
    return Contender(name, command=proxy.command, template=proxy.template,
                     values={**proxy.values, 'FILTERS': filters},
                     timeouts={'RETRY': timeouts, 'FILTERS': filters})


def contenders(binary):
    """Returns all that can take part, and a line for each that cannot."""
    found = [
        Contender('no retries'),
        Contender('gRPC retries', service_config()),
        Contender('gRPC retries, throttled', service_config(**THROTTLING)),
    ]
    missing = []
    program = proxies.find_envoy()
    if program:
        found += [envoy('Envoy', program), envoy('Envoy, admission', program, ADMISSION)]
    else:
        missing.append(proxies.NO_ENVOY)
    found += [levee('Levee', binary),
              levee('Levee, throttle', binary, ', throttle: {mode: enforce}')]
    return found, missing
