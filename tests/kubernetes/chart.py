# SPDX-License-Identifier: Apache-2.0
"""A chart that depends on Levee's, with the workloads of tests/kubernetes."""

import json
import pathlib
import shutil
import subprocess

import yaml

import manifests

CHART = manifests.ROOT / 'deploy/helm/levee'
MISSING = manifests.missing('helm', ['helm', 'version'], (3, 14))
# The values that give pods what the components of a golden file give them.
HOSTS = ['cart.shop', 'cart.shop.svc.cluster.local', 'pay.shop']
RESOURCES = {'requests': {'cpu': '20m', 'memory': '32Mi'},
             'limits': {'cpu': '2', 'memory': '256Mi'}}
VALUES = {
    'sidecar': {},
    'with-istio': {'istio': True},
    'guard': {'guard': True},
    'capture': {'capture': '50051'},
    'hosts': {'hosts': HOSTS},
    'two-cpus': {'resources': RESOURCES},
}


def helm(*words, **more):
    return subprocess.run(['helm', *words], capture_output=True, text=True,
                          timeout=manifests.WATCHDOG_SECONDS, **more)


def options(values):
    """The words that give Levee's chart these values."""
    return [f'--set-json=levee.{name}={json.dumps(value)}' for name, value in values.items()]


def write(folder):
    """Writes the chart into an empty folder. Its pods are what `levee.pod` makes of the templates of
    the workloads."""
    root = pathlib.Path(folder)
    shutil.copytree(CHART, root / 'charts/levee')
    (root / 'templates').mkdir()
    (root / 'Chart.yaml').write_text(json.dumps({
        'apiVersion': 'v2', 'name': 'shop', 'version': '1.0.0',
        'dependencies': [{'name': 'levee', 'version': '0.1.0'}]}))
    for document in yaml.safe_load_all((manifests.HERE / 'workloads/workloads.yaml').read_text()):
        kind, pod = document['kind'], manifests.pod_of(document)
        whole = json.dumps(document).replace(
            json.dumps(pod), f'{{{{ include "levee.pod" (list . "{kind}.pod") | fromYaml | toJson }}}}')
        (root / f'templates/{kind}.yaml').write_text(
            f'{{{{- define "{kind}.pod" }}}}\n{json.dumps(pod)}\n{{{{- end }}}}\n{whole}\n')
