# SPDX-License-Identifier: Apache-2.0
"""Instances that restart, one after the other, or crash (cells w10 and w11), behind guards and without.

The peers of a pod are ended in the order of Kubernetes: the preStop hooks of all its containers at once, then
the application, and its native sidecar when the application has gone."""

import subprocess
import time
from typing import NamedTuple

import cells
import streams
from processes import free_port

PEERS = streams.CALLS.with_name('restart_peers.py')
INSTANCES = 3
PER_SECOND = 100


class Cell(NamedTuple):
    name: str
    text: str
    crash: bool = False
    pre_stop: float = 0  # seconds that the application goes on after the pod begins to stop


CELLS = (
    Cell('w10', 'Three instances restart one after the other'),
    Cell('w10-prestop', 'The same with a preStop hook of 2 s', pre_stop=2),
    Cell('w11', 'An application of three crashes, and is back after 1.5 s', crash=True),
)

GUARDED = '''
listeners: [{{name: ingress, address: "127.0.0.1:{public}", direction: inbound}},
  {{name: egress, address: "127.0.0.1:0"}}]
metrics: {{address: none}}
admin: {{address: "127.0.0.1:{admin}"}}
upstreams: [{{name: app, endpoints: ["127.0.0.1:{private}"]}}, {{name: any, endpoints: ["authority:"]}}]
routes: [{{match: {{listener: ingress}}, upstream: app, policy: protect}}, {{upstream: any}}]
policies: [{{name: default}}, {{name: protect, guard: {{}}}}]
'''
CALLER = '''
listeners: [{{name: egress, address: "127.0.0.1:{public}"}}]
metrics: {{address: none}}
admin: {{address: none}}
upstreams: [{{name: app, endpoints: [{endpoints}]}}]
routes: [{{upstream: app}}]
'''


def python(*words):
    return subprocess.Popen([str(streams.PYTHON), '-B', str(PEERS), *map(str, words)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class Sidecar:
    def __init__(self, levee, scratch, name, text):
        path = scratch / f'{name}.yaml'
        path.write_text(text, encoding='utf-8')
        self._log = (scratch / f'{name}.log').open('w')
        self.child = subprocess.Popen([str(levee), 'run', '--config', str(path)], stdout=subprocess.PIPE,
                                      stderr=self._log, text=True)
        while not self.child.stdout.readline().startswith('listening egress'):
            pass

    def stop(self):
        self.child.terminate()
        self.child.wait()
        self._log.close()


class Instance:
    """An application, perhaps with a guard before it, at one public port."""

    def __init__(self, levee, scratch, number, guarded):
        self._levee, self._scratch, self._number = levee, scratch, number
        self.public, self._private, self._admin = free_port(), free_port(), free_port()
        self._guarded = guarded
        self._guard = self._app = None
        self.lingered = 0  # the longest time for which a guard outlived its application
        self.start()

    def start(self):
        if self._guarded and not self._guard:
            self._guard = Sidecar(self._levee, self._scratch, f'guard{self._number}', GUARDED.format(
                public=self.public, private=self._private, admin=self._admin))
        self._app = python('serve', self._private if self._guarded else self.public)
        self._app.stdout.readline()

    def end(self, pre_stop):
        if self._guarded:
            subprocess.run([str(self._levee), 'drain', '--address', f'127.0.0.1:{self._admin}'],
                           check=True, stdout=subprocess.DEVNULL)
        time.sleep(pre_stop)
        self._app.terminate()
        self._app.wait()
        if self._guard:
            gone = time.monotonic()
            self._guard.stop()
            self._guard = None
            self.lingered = max(self.lingered, time.monotonic() - gone)

    def crash(self):
        self._app.kill()
        self._app.wait()

    def stop(self):
        self._app.kill()
        self._app.wait()
        if self._guard:
            self._guard.stop()


def happen(cell, instances):
    time.sleep(2)
    if cell.crash:
        instances[0].crash()
        time.sleep(1.5)
        instances[0].start()
    else:
        for instance in instances:
            instance.end(cell.pre_stop)
            instance.start()
            time.sleep(2)
    time.sleep(3)


def run(cell, levee, scratch, guarded, by_levee):
    """Returns the calls, and the longest time for which a guard outlived its application."""
    instances, peers = [], []
    try:
        for number in range(INSTANCES):
            instances.append(Instance(levee, scratch, number, guarded))
        addresses = [f'127.0.0.1:{instance.public}' for instance in instances]
        if by_levee:
            public = free_port()
            peers.append(Sidecar(levee, scratch, 'caller', CALLER.format(
                public=public, endpoints=', '.join(f'"{each}"' for each in addresses))))
            addresses = [f'127.0.0.1:{public}']
        callers = python('call', ','.join(addresses), PER_SECOND)
        callers.stdout.readline()
        happen(cell, instances)
        lines = callers.communicate()[0].splitlines()
        ended = [cells.Ended(int(at) / 1e6, code == 'OK', int(took) / 1000)
                 for at, took, code in map(str.split, lines)]
        return ended, max(instance.lingered for instance in instances)
    finally:
        for each in peers + instances:
            each.stop()


def run_all(cell, levee, scratch, tell):
    """Returns {(guarded, by_levee): what `run` returns}."""
    results = {}
    for ways in ((False, False), (False, True), (True, False), (True, True)):
        tell(f'{cell.name}: {len(results) + 1} of 4')
        results[ways] = run(cell, levee, scratch, *ways)
    return results


def lost(calls):
    return sum(not call.good for call in calls)


def is_worse(results):
    """Whether a guard makes callers lose calls. One may be lost by chance, on either side."""
    return any(lost(results[True, by_levee][0]) > lost(results[False, by_levee][0]) + 1
               for by_levee in (False, True))


def table(cell, results):
    """Markdown of {(guarded, by_levee): (calls, lingered)}."""
    lines = [f'## {cell.name}', '', f'{cell.text}. {PER_SECOND} calls a second.', '',
             '| callers | before the application | calls | lost | p99 | the guard ends after it |',
             '|---|---|---:|---:|---:|---:|']
    for (guarded, by_levee), (calls, lingered) in results.items():
        lines.append(f'| {"Levee" if by_levee else "gRPC, round robin, no retries"} | '
                     f'{"guard" if guarded else "nothing"} | {len(calls)} | {lost(calls)} | '
                     f'{cells.percentile(calls, 0.99):.1f} ms | '
                     f'{f"{lingered:.2f} s" if guarded and not cell.crash else ""} |')
    return '\n'.join(lines) + '\n'
