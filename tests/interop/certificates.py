# SPDX-License-Identifier: Apache-2.0
"""Certificates of a day for the programs and for Levee, made with the command openssl."""

import pathlib
import shutil
import subprocess
import tempfile


class Authority:
    """A CA, and the folders with what it has signed; removed when the `with` block ends.

    A folder is what the variable INTEROP_TLS of a program names: ca.pem, own.crt and own.key."""

    def __init__(self):
        self._root = tempfile.TemporaryDirectory()
        self._make('ca', 'basicConstraints=critical,CA:TRUE')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._root.cleanup()

    def stranger(self):
        """Returns a folder with the CA alone, for a client that has no certificate."""
        return self._folder('stranger')

    def issue(self, name, host='localhost'):
        """Returns a folder with a certificate for the local host, or another DNS name, and for a
        SPIFFE ID."""
        return self._issue(name, host, self._signer())

    def issue_expired(self, name):
        """Returns a folder with a certificate that has expired a day ago."""
        folder = self._issue(name, 'localhost', ())
        certificate = folder / 'own.crt'
        self._run('openssl', 'x509', '-in', certificate, '-out', certificate, '-days', '-1',
                  *self._signer())
        return folder

    def issue_for_later(self, name):
        """Returns a folder with a certificate that is valid only at the end of the century."""
        folder = self._issue(name, 'localhost', ())
        self._path('index').touch()
        # Only this command of openssl can say when a certificate begins.
        settings = ('[ca]\ndefault_ca=here\n[here]\nrand_serial=yes\ndefault_md=sha256\npolicy=any\n'
                    f'database={self._path("index")}\nnew_certs_dir={folder}\n'
                    'copy_extensions=copy\n[any]\ncommonName=supplied\n')
        request = self._run('openssl', 'x509', '-x509toreq', '-copy_extensions', 'copyall', '-in',
                            folder / 'own.crt', '-signkey', folder / 'own.key')
        self._path('request').write_text(request)
        self._run('openssl', 'ca', '-batch', '-notext', '-config', '/dev/stdin', '-in',
                  self._path('request'), '-cert', self._path('ca.crt'), '-keyfile',
                  self._path('ca.key'), '-startdate', '20991201000000Z', '-enddate',
                  '20991231000000Z', '-out', folder / 'own.crt', given=settings)
        return folder

    def _issue(self, name, host, signed_by):
        folder = self._folder(name)
        self._make(f'{name}/own', 'basicConstraints=critical,CA:FALSE',
                   f'subjectAltName=DNS:{host},IP:127.0.0.1,URI:spiffe://interop/{name}',
                   signed_by=signed_by)
        return folder

    def _signer(self):
        return '-CA', self._path('ca.crt'), '-CAkey', self._path('ca.key')

    def _folder(self, name):
        folder = self._path(name)
        folder.mkdir()
        shutil.copy(self._path('ca.crt'), folder / 'ca.pem')
        return folder

    def _path(self, name):
        return pathlib.Path(self._root.name, name)

    def _make(self, name, *extensions, signed_by=()):
        more = [part for extension in extensions for part in ('-addext', extension)]
        # Without a configuration of its own openssl would add extensions by that of the system.
        self._run('openssl', 'req', '-config', '/dev/stdin', '-x509', '-days', '1', '-nodes',
                  '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-subj', '/CN=interop',
                  '-keyout', self._path(f'{name}.key'), '-out', self._path(f'{name}.crt'),
                  *more, *signed_by, given='[req]\ndistinguished_name = name\n[name]\n')

    @staticmethod
    def _run(*command, given=''):
        return subprocess.run(command, input=given, text=True, check=True,
                              capture_output=True).stdout
