# SPDX-License-Identifier: Apache-2.0
"""TypeScript's complaints about documents as literals of a type, also about fields that the type
does not have."""

import json
import pathlib
import shutil
import subprocess
import tempfile

from manifests import WATCHDOG_SECONDS

HERE = pathlib.Path(__file__).resolve().parent
MISSING = '' if shutil.which('node') and (HERE / 'node_modules/.package-lock.json').exists() else (
    'node or tests/kubernetes/node_modules is missing; make deps fetches them')


def literal(name, type_of, value):
    return f'export const {name}: {type_of} = {json.dumps(value)};'


def faults(*lines):
    """What it says of a file of these lines."""
    with tempfile.TemporaryDirectory(dir=HERE / 'node_modules') as folder:
        source = pathlib.Path(folder) / 'documents.ts'
        source.write_text('\n'.join(lines))
        return subprocess.run(
            ['node', HERE / 'node_modules/typescript/bin/tsc', '--noEmit', '--strict',
             '--skipLibCheck', '--module', 'nodenext', source],
            capture_output=True, text=True, timeout=WATCHDOG_SECONDS).stdout
