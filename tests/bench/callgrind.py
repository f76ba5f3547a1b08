# SPDX-License-Identifier: Apache-2.0
"""Runs programs under callgrind, which counts the instructions in user space."""

import re

from processes import BenchError, find_program


def command(counts, program):
    """Returns what runs the program, with the words of its command, and leaves `counts`."""
    return (find_program('valgrind'), '--tool=callgrind', f'--callgrind-out-file={counts}', *program)


def total(counts, output):
    """Returns how many instructions were counted; `output`: what the program said."""
    found = re.search(r'^(?:totals|summary): (\d+)', counts.read_text(encoding='utf-8'),
                      re.MULTILINE) if counts.exists() else None
    if not found:
        raise BenchError(f'callgrind said nothing: {output}')
    return int(found[1])
