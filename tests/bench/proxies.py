# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured: Levee and its peers, with one worker each."""

import pathlib
import re
import shutil
import subprocess
import time
from typing import NamedTuple

from processes import BenchError, Process, find_program, free_port, memory_mib

CONFIGS = pathlib.Path(__file__).resolve().parent / 'configs'
ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_ENVOY = 'Envoy is left out: there is none; tests/bench/fetch-envoy fetches it where PyPI is'
# What of each template to replace so that the proxy uses TLS to the service, and verifies who it is.
TLS = {
    'levee': ('endpoints: ["127.0.0.1:@ECHO@"]',
              'endpoints: ["127.0.0.1:@ECHO@"], tls: {ca: "@SCRATCH@/service.crt", '
              'server_name: localhost}'),
    'nghttpx': ('backend=127.0.0.1,@ECHO@;;proto=h2',
                'backend=127.0.0.1,@ECHO@;;proto=h2;tls;sni=localhost\n'
                'cacert=@SCRATCH@/service.crt'),
    'haproxy': ('server echo 127.0.0.1:@ECHO@ proto h2',
                'server echo 127.0.0.1:@ECHO@ alpn h2 ssl verify required sni str(localhost) '
                'verifyhost localhost ca-file @SCRATCH@/service.crt'),
    'nginx': ('grpc_pass grpc://echo;',
              'grpc_pass grpcs://echo; grpc_ssl_verify on; grpc_ssl_name localhost; '
              'grpc_ssl_server_name on; grpc_ssl_protocols TLSv1.3; '
              'grpc_ssl_trusted_certificate @SCRATCH@/service.crt;'),
    'envoy': ('    type: STATIC\n', '''    type: STATIC
    transport_socket:
      name: envoy.transport_sockets.tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        sni: localhost
        common_tls_context:
          alpn_protocols: [h2]
          tls_params:
            tls_minimum_protocol_version: TLSv1_3
            tls_maximum_protocol_version: TLSv1_3
          validation_context:
            trusted_ca: {filename: "@SCRATCH@/service.crt"}
            match_typed_subject_alt_names:
            - {san_type: DNS, matcher: {exact: localhost}}
'''),
}
# After this long, what a proxy allocates at start and gives back again has left its memory.
SETTLE_SECONDS = 1


class Proxy(NamedTuple):
    """How to start a proxy.

    `command` and the configuration template hold @LISTEN@ (the port to listen on), @ECHO@ (the
    service's port), @METRICS@ (one more port), @SCRATCH@ (a folder) and @CONFIG@ (the filled
    template). `share` is the part of a load's calls that it gets: slow proxies get fewer, so that
    all runs take about equally long. `values` are more of what the template holds. With `tls` the
    proxy uses TLS to the service; `kind` says which of TLS is for it.
    """
    name: str
    command: tuple
    template: pathlib.Path | None = None
    ready_lines: tuple = ()
    share: float = 1
    values: dict = {}
    kind: str = ''
    tls: bool = False


def levee(name, binary, template=None, workers=1):
    return Proxy(
        name, (str(binary), 'run', '--workers', str(workers), '--config', '@CONFIG@'),
        template or CONFIGS / 'levee.yaml.in',
        ('listening bench 127.0.0.1:@LISTEN@', 'listening metrics 127.0.0.1:@METRICS@'),
        kind='levee')


def find_envoy():
    """Returns the path of Envoy: what fetch-envoy has fetched, or one in the PATH; None without."""
    fetched = ROOT / 'build/envoy/bin/envoy'
    return str(fetched) if fetched.exists() else shutil.which('envoy')


def envoy(binary):
    return Proxy('envoy', (str(binary), '--concurrency', '1', '--disable-hot-restart', '-l', 'error',
                           '-c', '@CONFIG@'),
                 CONFIGS / 'envoy.yaml.in', share=0.2,
                 values={'RETRY': 'retry_on: "unavailable,connect-failure,refused-stream"',
                         'FILTERS': ''})


def peers(helpers):
    """Returns the peers by name; `helpers` is the folder with the relay."""
    nginx_log = '@SCRATCH@/nginx-start.log'  # Else it writes to /var/log until it has its file.
    every = [
        Proxy('relay', (f'{helpers}/bench_relay', '@LISTEN@', '@ECHO@')),
        Proxy('nghttpx', ('nghttpx', '--conf=@CONFIG@'), CONFIGS / 'nghttpx.conf.in'),
        Proxy('haproxy', ('haproxy', '-db', '-f', '@CONFIG@'), CONFIGS / 'haproxy.cfg.in',
              share=0.5),
        Proxy('nginx', ('nginx', '-e', nginx_log, '-c', '@CONFIG@'), CONFIGS / 'nginx.conf.in',
              share=0.3),
        envoy(find_envoy() or 'envoy'),
    ]
    return {proxy.name: proxy._replace(kind=proxy.name) for proxy in every}


def program(proxy):
    """Returns the path of the proxy's program; a missing one is reported."""
    path = proxy.command[0]
    if '/' not in path:
        return find_program(path)
    if not pathlib.Path(path).is_file():
        raise BenchError(f'{proxy.name}: there is no {path}; `make bench` builds build/shipped/levee, and '
                         'tests/bench/run the helpers')
    return path


def fill(text, values):
    for key, value in values.items():
        text = text.replace(f'@{key}@', str(value))
    return text


def configuration(proxy, values):
    """Returns the filled template."""
    text = proxy.template.read_text(encoding='utf-8')
    if proxy.tls:
        clear, tls = TLS[proxy.kind]
        if clear not in text:
            raise BenchError(f'{proxy.template}: there is no {clear.strip()!r} to add TLS to')
        text = text.replace(clear, tls)
    return fill(text, values)


class RunningProxy:
    """`settled`: its memory is to be read, which is done once it has settled."""

    def __init__(self, proxy, echo_port, cpu, scratch, settled=True):
        self.proxy = proxy
        self.port = free_port()
        values = {**proxy.values, 'LISTEN': self.port, 'ECHO': echo_port,
                  'METRICS': free_port(), 'SCRATCH': scratch}
        if proxy.template:
            config = pathlib.Path(scratch) / f'{proxy.name}-{proxy.template.stem}'
            config.write_text(configuration(proxy, values), encoding='utf-8')
            values['CONFIG'] = config
        command = [program(proxy), *(fill(word, values) for word in proxy.command[1:])]
        self.process = Process(proxy.name, command, cpu, scratch)
        try:
            self.process.wait_until_ready(self.port,
                                          [fill(line, values) for line in proxy.ready_lines])
            if settled:
                time.sleep(SETTLE_SECONDS)
                self.idle_mib = memory_mib(self.process.tree(), 'VmRSS')
        except BaseException:
            self.process.stop()
            raise


def version(proxy):
    """Returns what the program says of its own version, in one line."""
    if proxy.name == 'relay':
        return 'this repository'
    flag = {'nghttpx': '--version', 'haproxy': '-v', 'nginx': '-v',
            'envoy': '--version'}.get(proxy.name, 'version')
    try:
        done = subprocess.run([program(proxy), flag], capture_output=True, text=True, timeout=10,
                              check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 'unknown'
    return short_version(done.stdout + done.stderr)


def short_version(text):
    """Takes the first line that says something, without the address of a home page; of Envoy, which
    says its path and its commit too, the version alone."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = re.sub(r'^\S+ +version: [0-9a-f]+/([^/]+)/.*$', r'Envoy \1', lines[0]) if lines else ''
    return line.split(' - http')[0].removeprefix('nginx version: ') or 'unknown'
