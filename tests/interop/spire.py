# SPDX-License-Identifier: Apache-2.0
"""A SPIRE of its own for a test: a server, and an agent that attests workloads by the path of their
program."""

import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

from languages import SPIRE
from programs import LEVEE, WATCHDOG_SECONDS, Program, until

# The agent gets another SVID when half of the life of one is over, which begins 10 s before it is
# issued. So it comes after 5 s.
SVID_SECONDS = 20
TRUST_DOMAIN = 'shop'

SERVER = '''
server {{
  bind_address = "127.0.0.1"
  bind_port = {port}
  socket_path = "{folder}/server.sock"
  trust_domain = "{domain}"
  data_dir = "{folder}"
  log_file = "{folder}/server.log"
}}
plugins {{
  DataStore "sql" {{
    plugin_data {{
      database_type = "sqlite3"
      connection_string = "{folder}/server.sqlite3"
    }}
  }}
  KeyManager "memory" {{ plugin_data {{}} }}
  NodeAttestor "join_token" {{ plugin_data {{}} }}
}}
'''

AGENT = '''
agent {{
  server_address = "127.0.0.1"
  server_port = {port}
  socket_path = "{folder}/agent.sock"
  trust_domain = "{domain}"
  trust_bundle_path = "{folder}/bundle.pem"
  join_token = "{token}"
  data_dir = "{folder}"
  log_file = "{folder}/agent.log"
  experimental {{ sync_interval = "1s" }}
}}
plugins {{
  KeyManager "disk" {{ plugin_data {{ directory = "{folder}" }} }}
  NodeAttestor "join_token" {{ plugin_data {{}} }}
  WorkloadAttestor "unix" {{
    plugin_data {{
      discover_workload_path = true
      workload_size_limit = -1
    }}
  }}
}}
'''


def _free_port():
    """SPIRE's server needs a number, and does not say which port the system has chosen."""
    with socket.socket() as listening:
        listening.bind(('127.0.0.1', 0))
        return listening.getsockname()[1]


class Spire:
    """Server and agent, running. What they have is removed when the `with` block ends."""

    def __init__(self):
        self._programs = SPIRE.prepare()
        # The path of a socket must be short.
        self._root = tempfile.TemporaryDirectory(prefix='spire-')
        self._folder = pathlib.Path(self._root.name)
        self._server = self._agent = None
        self.api = f'unix://{self._folder}/agent.sock'

    def __enter__(self):
        try:
            port = _free_port()
            self._write('server.conf', SERVER.format(port=port, folder=self._folder,
                                                     domain=TRUST_DOMAIN))
            self._server = self._run('spire-server')
            self._await('spire-server', 'server.sock')
            self._write('bundle.pem', self._ask('bundle', 'show'))
            self._token = re.search(r'Token: (\S+)', self._ask('token', 'generate'))[1]
            self._write('agent.conf', AGENT.format(port=port, folder=self._folder,
                                                   domain=TRUST_DOMAIN, token=self._token))
            self.start_agent()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for program in (self._agent, self._server):
            if program:
                program.__exit__()
        self._root.cleanup()

    def start_agent(self):
        self._agent = self._run('spire-agent')
        self._await('spire-agent', 'agent.sock')

    def kill_agent(self):
        self._agent.__exit__()
        self._agent = None

    def workload(self, name):
        """Returns a levee that the agent tells from others, by its path."""
        program = self._folder / name / 'levee'
        if not program.exists():
            program.parent.mkdir()
            shutil.copy(LEVEE, program)
        return program

    def register(self, name):
        """Gives the workload an identity; the agent learns of it in a second."""
        self._ask('entry', 'create',
                  '-parentID', f'spiffe://{TRUST_DOMAIN}/spire/agent/join_token/{self._token}',
                  '-spiffeID', f'spiffe://{TRUST_DOMAIN}/{name}', '-x509SVIDTTL', str(SVID_SECONDS),
                  '-selector', f'unix:path:{self.workload(name)}')

    def replace_ca(self):
        """SVIDs are signed by another key from now on."""
        prepared = self._ask('localauthority', 'x509', 'prepare')
        authority = re.search(r'Authority ID: (\S+)', prepared)[1]
        self._ask('localauthority', 'x509', 'activate', '-authorityID', authority)

    def _write(self, name, text):
        (self._folder / name).write_text(text, encoding='ascii')

    def _command(self, program):
        return self._programs(program).command[0]

    def _run(self, program):
        config = self._folder / f'{program.removeprefix("spire-")}.conf'
        return Program([self._command(program), 'run', '-config', config])

    def _ask(self, *words):
        """Has the server's command line tool do something, and returns what it printed."""
        ended = subprocess.run([self._command('spire-server'), *words,
                                '-socketPath', self._folder / 'server.sock'],
                               capture_output=True, text=True, timeout=WATCHDOG_SECONDS, check=False)
        if ended.returncode != 0:
            raise AssertionError(f'spire-server {words}: {ended.stdout}{ended.stderr}')
        return ended.stdout

    def _await(self, program, name):
        check = [self._command(program), 'healthcheck', '-socketPath', self._folder / name]
        if not until(lambda: subprocess.run(check, capture_output=True, check=False).returncode == 0):
            raise AssertionError(f'{program} does not start: {self._log(program)}')

    def _log(self, program):
        log = self._folder / f'{program.removeprefix("spire-")}.log'
        return log.read_text(encoding='utf-8') if log.exists() else 'it has no log'
