# SPDX-License-Identifier: Apache-2.0
"""A real API server of Kubernetes with an etcd, on loopback. Nothing runs the pods that it takes."""

import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

import manifests

sys.path.append(str(manifests.ROOT / 'tests/interop'))
from programs import WATCHDOG_SECONDS, Program, until

# tests/kubernetes/fetch-tools puts them beside the kubectl that it builds.
_PROGRAM = shutil.which('kube-apiserver')
_CRDS = pathlib.Path(_PROGRAM or '').parent / 'crds'
_BUILT = _PROGRAM and _CRDS.is_dir()
_ETCD = shutil.which('etcd')
MISSING = manifests.missing_kubectl() or (
    '' if _BUILT else f'no kube-apiserver is there; {manifests.HELP}') or (
    '' if _ETCD else 'etcd is not installed; make deps installs it')
# The labels by which a namespace demands a profile of the Pod Security Standards.
_POD_SECURITY = 'pod-security.kubernetes.io'
_PORTS_ASKED_FOR = 5


def _free_port():
    """A port that nothing has now."""
    with socket.socket() as any_socket:
        any_socket.bind(('127.0.0.1', 0))
        return any_socket.getsockname()[1]


class _Etcd(Program):

    def __init__(self, folder):
        self.url = f'http://127.0.0.1:{_free_port()}'
        super().__init__([_ETCD, f'--data-dir={folder}/etcd', '--unsafe-no-fsync',
                          f'--listen-client-urls={self.url}', f'--advertise-client-urls={self.url}',
                          # No other etcd joins it.
                          '--listen-peer-urls=http://127.0.0.1:0'],
                         {'ETCD_UNSUPPORTED_ARCH': os.uname().machine})

    def ended(self):
        return self._child.poll() is not None

    def serves(self):
        try:
            with urllib.request.urlopen(f'{self.url}/health', timeout=WATCHDOG_SECONDS) as answer:
                return json.load(answer)['health'] == 'true'
        except OSError:
            return False


def _start_etcd(folder):
    """Its port may be taken by another before it listens; then it ends at once."""
    for _ in range(_PORTS_ASKED_FOR):
        etcd = _Etcd(folder)
        until(lambda etcd=etcd: etcd.serves() or etcd.ended())
        if not etcd.ended():
            return etcd
        etcd.__exit__()
    raise AssertionError('etcd does not start')


class ApiServer(Program):
    """The server, with the definitions of the objects of the Prometheus operator. `with` starts it,
    and ends it with all that it has."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        self._etcd = _start_etcd(folder)
        token = secrets.token_hex(16)
        (folder / 'tokens').write_text(f'{token},admin,admin,system:masters\n')
        subprocess.run(['openssl', 'genrsa', '-out', folder / 'accounts', '2048'], check=True,
                       capture_output=True)
        # The port stays this process's, which does not listen there: the server shares it.
        self._port = socket.socket()
        self._port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._port.bind(('127.0.0.1', 0))
        port = self._port.getsockname()[1]
        super().__init__([
            _PROGRAM, f'--etcd-servers={self._etcd.url}', '--bind-address=127.0.0.1',
            f'--secure-port={port}', '--permit-port-sharing', f'--cert-dir={folder}',
            '--advertise-address=192.0.2.1', '--endpoint-reconciler-type=none',
            '--service-cluster-ip-range=10.96.0.0/16', f'--token-auth-file={folder}/tokens',
            '--authorization-mode=RBAC', '--service-account-issuer=https://kubernetes.test',
            f'--service-account-key-file={folder}/accounts',
            f'--service-account-signing-key-file={folder}/accounts',
            # A privileged container is then refused by nothing but Pod Security.
            '--allow-privileged'])
        # By these kubectl and helm find it, and keep what they know of it.
        self.variables = {'KUBECONFIG': str(folder / 'config'),
                          'KUBECACHEDIR': str(folder / 'cache')}
        self.environment = {**os.environ, **self.variables}
        (folder / 'config').touch(mode=0o600)  # helm warns of one that others may read.
        (folder / 'config').write_text(json.dumps({  # JSON is YAML.
            'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'test',
            'clusters': [{'name': 'test', 'cluster': {
                'server': f'https://127.0.0.1:{port}',
                'certificate-authority': str(folder / 'apiserver.crt')}}],
            'users': [{'name': 'admin', 'user': {'token': token}}],
            'contexts': [{'name': 'test', 'context': {'cluster': 'test', 'user': 'admin'}}]}))

    def __enter__(self):
        try:
            if not until(self._ready):
                self._errors.seek(0)
                raise AssertionError(f'the API server does not get ready:\n{self._errors.read()}')
            self.define(*(file.read_text() for file in sorted(_CRDS.iterdir())))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        super().__exit__()
        self._etcd.__exit__()
        self._port.close()
        self._folder.cleanup()

    def _ready(self):
        return self.kubectl('get', '--raw', '/readyz').returncode == 0

    def kubectl(self, *words, text=None):
        return subprocess.run(['kubectl', *words], input=text, env=self.environment,
                              capture_output=True, text=True, timeout=WATCHDOG_SECONDS)

    def _do(self, *words, text=None):
        done = self.kubectl(*words, text=text)
        if done.returncode != 0:
            raise AssertionError(f'kubectl {words}: {done.stderr}')
        return done.stdout

    def define(self, *texts):
        """Brings CustomResourceDefinitions, and returns when objects of them are taken."""
        for text in texts:
            # The annotation of the ordinary apply has no room for a definition of these sizes.
            self._do('apply', '--server-side', '-f', '-', text=text)
        self._do('wait', '--for=condition=Established', '--all', 'crd',
                 f'--timeout={WATCHDOG_SECONDS}s')

    def define_freely(self, kind, group, version):
        """Lets the server take any object of a kind, whatever fields it has."""
        singular = kind.lower()
        plural = f'{singular[:-1]}ies' if singular.endswith('y') else f'{singular}s'
        anything = {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}
        self.define(json.dumps({
            'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition',
            'metadata': {'name': f'{plural}.{group}', 'annotations': {
                # The server wants this of definitions in the groups of Kubernetes itself.
                'api-approved.kubernetes.io': 'unapproved, of a test'}},
            'spec': {'group': group, 'scope': 'Namespaced',
                     'names': {'kind': kind, 'plural': plural, 'singular': singular},
                     'versions': [{'name': version, 'served': True, 'storage': True,
                                   'schema': {'openAPIV3Schema': anything}}]}}))

    def make_namespace(self, name, profile):
        """Makes a namespace whose pods must meet a profile of the Pod Security Standards."""
        self._do('create', 'namespace', name)
        self.enforce(name, profile)
        self.make_account(name)

    def enforce(self, namespace, profile):
        """Lets a namespace demand the profile of its pods, and warn of what makes others."""
        self._do('label', 'namespace', namespace, f'{_POD_SECURITY}/enforce={profile}',
                 f'{_POD_SECURITY}/warn={profile}')

    def make_account(self, namespace):
        """Makes the account of a namespace's pods, as a controller of a whole cluster does."""
        self._do('create', 'serviceaccount', 'default', f'--namespace={namespace}')

    def apply(self, namespace, text):
        """Applies manifests. The result fails on a warning as on an error, also on fields that the
        server does not know."""
        return self.kubectl('apply', f'--namespace={namespace}', '--validate=strict',
                            '--warnings-as-errors', '-f', '-', text=text)

    def make_pods(self, namespace, documents):
        """Asks for a pod of each template in the documents, as their controllers would, and returns
        what became of each: (name of its workload, the refusal or nothing)."""
        results = []
        for document in documents:
            template = manifests.pod_of(document)
            if template is None:
                continue
            name = document['metadata']['name']
            claimed = [{'name': claim['metadata']['name'],
                        'persistentVolumeClaim': {'claimName': f'{claim["metadata"]["name"]}-{name}'}}
                       for claim in document['spec'].get('volumeClaimTemplates', [])]
            spec = {**template['spec'], 'volumes': template['spec'].get('volumes', []) + claimed}
            pod = {'apiVersion': 'v1', 'kind': 'Pod', 'spec': spec,
                   'metadata': {**template.get('metadata', {}), 'name': name}}
            done = self.kubectl('create', '--dry-run=server', f'--namespace={namespace}', '-f', '-',
                                text=json.dumps(pod))
            results.append((name, '' if done.returncode == 0 else done.stderr))
        return results
