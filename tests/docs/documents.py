# SPDX-License-Identifier: Apache-2.0
"""The documents, and what they tell people to write."""

import os
import pathlib
import re
import sys
from typing import NamedTuple

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'waiting'))
from waiting import WATCHDOG_SECONDS  # It is for those that import this.

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get('LEVEE_BINARY', '')
DOCUMENTS = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
# Also the documents for contributors, whose commands are not run.
ALL_DOCUMENTS = [*DOCUMENTS, *(path for path in sorted(ROOT.glob('*.md')) if path not in DOCUMENTS)]
_BLOCK = re.compile(r'((?:^<!-- [^\n]* -->\n)*)^```(\w*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    document: str  # Its path from the root of the project.
    remarks: tuple  # The lines above the block that say how it is checked.
    language: str
    text: str


class Command(NamedTuple):
    document: str
    line: str
    output: str  # The output that the document shows below it.


def blocks(*languages):
    return [Block(str(path.relative_to(ROOT)), tuple(remarks.splitlines()), language, text)
            for path in DOCUMENTS for remarks, language, text in _BLOCK.findall(path.read_text())
            if not languages or language in languages]


def block(document, language, containing=''):
    """The one block of a document that is meant."""
    found, = (each.text for each in blocks(language)
              if each.document == document and containing in each.text)
    return found


def commands():
    """Every command of the blocks of the language console; a backslash continues its line."""
    return [Command(each.document, line, output.strip())
            for each in blocks('console')
            for line, output in re.findall(r'^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)', each.text,
                                           re.MULTILINE)]
