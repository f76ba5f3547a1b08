# SPDX-License-Identifier: Apache-2.0
"""The golden files that tests/kubernetes checks, and how they are made."""

import pathlib
import re
import shutil
import subprocess
import sys

import yaml

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'waiting'))
from waiting import WATCHDOG_SECONDS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KUBERNETES = ROOT / 'deploy' / 'kubernetes'
MIXIN = ROOT / 'deploy' / 'mixin'
PROMETHEUS_RULE = KUBERNETES / 'monitoring' / 'prometheus-rule.yaml'

# The folder that each golden file is made from.
FOLDERS = {
    'sidecar': HERE / 'sidecar',
    'container': HERE / 'container',
    'with-istio': HERE / 'with-istio',
    'two-cpus': HERE / 'two-cpus',
    'guard': HERE / 'guard',
    'capture': HERE / 'capture',
    'hosts': HERE / 'hosts',
    'example': KUBERNETES / 'example',
    'example-redis': KUBERNETES / 'example-redis',
}


# Programs that print a kustomization: how, how to ask for their version, and the least version that
# prints it as the golden files have it. kubectl 1.27 brings kustomize 5.0. Debian 12 has 1.20.
PROGRAMS = [
    (['kubectl', 'kustomize'], ['kubectl', 'version', '--client', '--output=json'], (1, 27)),
    (['kustomize', 'build'], ['kustomize', 'version'], (5, 0)),
]
HELP = 'make kubernetes-deps builds it'


def version_in(text):
    """The first version in what a program says, such as (1, 27)."""
    found = re.search(r'v(\d+)\.(\d+)', text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def missing(name, ask, least):
    """Why there is no program `name` of the version `least`; empty if there is."""
    wanted = f'at least {".".join(map(str, least))} is needed'
    if not shutil.which(name):
        return f'no {name} is installed, {wanted}'
    version = version_in(subprocess.run(ask, capture_output=True, text=True,
                                        timeout=WATCHDOG_SECONDS).stdout)
    return '' if version >= least else f'{name} is {".".join(map(str, version))}, {wanted}'


def missing_kubectl():
    """Why there is no kubectl that is new enough, and what helps; empty if there is."""
    reason = missing('kubectl', *PROGRAMS[0][1:])
    return reason and f'{reason}; {HELP}'


def kustomize():
    """The command that prints a kustomization, and why there is none and what helps."""
    reasons = []
    for command, ask, least in PROGRAMS:
        reasons.append(missing(command[0], ask, least))
        if not reasons[-1]:
            return command, ''
    return None, f'{"; ".join(reasons)}; {HELP}'


def rendered(name):
    command, _ = kustomize()
    return subprocess.run([*command, FOLDERS[name]], capture_output=True, text=True, check=True,
                          timeout=WATCHDOG_SECONDS).stdout


def golden_file(name):
    return HERE / 'golden' / f'{name}.yaml'


def golden(name):
    """The documents of a golden file."""
    return list(yaml.safe_load_all(golden_file(name).read_text()))


def pod_of(document):
    """The pod template of a workload, or None of anything else."""
    spec = document.get('spec', {})
    return spec.get('jobTemplate', {}).get('spec', spec).get('template')


def pods(name):
    """(kind, pod template) of every workload of a golden file."""
    return [(document['kind'], pod_of(document)) for document in golden(name) if pod_of(document)]


def container_of(pod, name):
    containers = pod['spec'].get('initContainers', []) + pod['spec']['containers']
    return next((each for each in containers if each['name'] == name), None)


def levee_of(pod):
    """Levee's container of a pod template, or None."""
    return container_of(pod, 'levee')


def capture_of(pod):
    """The container of a pod template that redirects connections to Levee, or None."""
    return container_of(pod, 'levee-capture')


def rule_groups():
    """The groups of all rule files of the mixin, without the old names, which few need."""
    documents = [yaml.safe_load(file.read_text()) for file in sorted(MIXIN.glob('*.yaml'))
                 if file.name != 'old-names.yaml']
    return [group for document in documents if isinstance(document, dict)
            for group in document.get('groups', [])]


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, as people do."""


def _text(dumper, text):
    style = '|' if '\n' in text else None
    return dumper.represent_scalar('tag:yaml.org,2002:str', text, style=style)


_Dumper.add_representer(str, _text)


def prometheus_rule():
    """The right content of deploy/kubernetes/monitoring/prometheus-rule.yaml."""
    head = ('# SPDX-License-Identifier: Apache-2.0\n'
            '# Written by tests/kubernetes/update from the rule files of deploy/mixin.\n')
    return head + yaml.dump({
        'apiVersion': 'monitoring.coreos.com/v1',
        'kind': 'PrometheusRule',
        'metadata': {'name': 'levee'},
        'spec': {'groups': rule_groups()},
    }, Dumper=_Dumper, sort_keys=False, width=100)
