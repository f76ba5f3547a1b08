# SPDX-License-Identifier: Apache-2.0
"""A certificate that should have been replaced, made with the command openssl."""

import pathlib
import subprocess
import time

_CONFIGURATION = '''[req]
distinguished_name = name
[name]
[ca]
default_ca = own
[own]
database = {folder}/index
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = names
[names]
commonName = supplied
'''


def make(folder, age, left):
    """Writes a certificate that signs itself and its key into a folder that is there. It is valid since
    `age` seconds and for `left` more. Returns the paths of both."""
    folder = pathlib.Path(folder)
    key, certificate, request, configuration = (
        folder / name for name in ('tls.key', 'tls.crt', 'request', 'openssl.cnf'))
    configuration.write_text(_CONFIGURATION.format(folder=folder))
    (folder / 'index').touch()
    _openssl('req', '-config', configuration, '-new', '-nodes', '-newkey', 'ec', '-pkeyopt',
             'ec_paramgen_curve:P-256', '-subj', '/CN=old', '-keyout', key, '-out', request)
    _openssl('ca', '-config', configuration, '-batch', '-notext', '-selfsign', '-keyfile', key,
             '-in', request, '-out', certificate, '-startdate', _utc(-age), '-enddate', _utc(left))
    return certificate, key


def _openssl(*words):
    subprocess.run(['openssl', *words], check=True, capture_output=True)


def _utc(seconds):
    return time.strftime('%Y%m%d%H%M%SZ', time.gmtime(time.time() + seconds))
