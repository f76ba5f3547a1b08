# SPDX-License-Identifier: Apache-2.0
"""Runs programs under callgrind, which counts the instructions in user space."""

import pathlib
import re
import subprocess

from processes import WATCHDOG_SECONDS, BenchError, find_program

# What Levee does by the clock, whatever it is called for. On a slow machine more of it falls into a
# measurement. Collection is on from the start, and such a function turns it off until it returns.
_NOT_COUNTED = ('--toggle-collect=levee::MemoryWatch::OnTimer*', '--collect-atstart=yes')


def command(counts, program):
    """Returns what runs the program, with the words of its command, and leaves `counts`. It may be asked
    from the folder of `counts` what it has counted so far."""
    return (find_program('valgrind'), '--tool=callgrind', f'--callgrind-out-file={counts}',
            f'--vgdb-prefix={_prefix(counts)}', *_NOT_COUNTED, *program)


def _prefix(counts):
    return pathlib.Path(counts).parent / 'vgdb'


def total(counts, output):
    """Returns how many instructions were counted; `output`: what the program said."""
    found = re.search(r'^(?:totals|summary): (\d+)', counts.read_text(encoding='utf-8'),
                      re.MULTILINE) if counts.exists() else None
    if not found:
        raise BenchError(f'callgrind said nothing: {output}')
    return int(found[1])


class Meter:
    """What a running program executes from one moment to another. A start under callgrind costs as much
    as thousands of calls, so one program serves many measurements. `process` runs a `command` with
    these `counts`, and nothing else asks it. `before`: words that make the asking one's user the
    program's."""

    def __init__(self, process, counts, before=()):
        self._process = process
        self._before = before
        self._counts = pathlib.Path(counts)
        self._read = 0

    def read(self):
        """Returns how many instructions were executed since the last time, or since the start."""
        self._read += 1
        asked = [*self._before, find_program('vgdb'), '--max-invoke-ms=1',
                 f'--vgdb-prefix={_prefix(self._counts)}',
                 f'--pid={self._process.pid}', 'dump']
        try:
            done = subprocess.run(asked, capture_output=True, text=True, timeout=WATCHDOG_SECONDS,
                                  check=False)
        except subprocess.TimeoutExpired as error:
            raise BenchError(f'callgrind did not answer: {self._process.output()}') from error
        return total(self._counts.with_name(f'{self._counts.name}.{self._read}'),
                     f'{done.stderr}{self._process.output()}')
